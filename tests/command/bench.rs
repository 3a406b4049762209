//! `costate bench`: problems whose answers are known.

use crate::run;
use run::Place;

// Protects known answers, those that take no long: closed forms, Andrews' squeezer, the engine mount in quadruple precision, the crane. And that a row may be off: with a
// billionth of what is allowed they are, the command fails, and page and result say so.
#[test]
fn known_answers_are_found() {
    let place = Place::new();
    let problems = "a01 a03 a04 mount crane rigid-body";
    let found = place.json(&format!("bench {problems} --json"), 0);
    assert!(found["agrees"] == true && found["problems"].as_array().unwrap().len() == 6, "{found}");
    let text = place.good("bench mount").out;
    assert!(text.contains("cost by BFGS [m^2/s^3]") && text.contains("all agree") && !text.contains("OFF"), "{text}");
    let run = place.run("bench a01 mount --allowed 1e-9 --out strict");
    assert!(run.code == 1 && run.out.contains("OFF: 2"), "{}", run.out);
    let page = place.read("strict/bench.md");
    assert!(page.contains("| OFF |") && page.contains("problems: 2, OFF: 2"), "{page}");
    assert!(place.read("strict/bench.json").contains("\"agrees\": false"));
    let run = place.run("bench a06");
    assert!(run.code == 2 && run.err.contains("there is no problem `a06`; did you mean `a0"), "{}", run.err);
    let run = place.run("bench a01 --allowed -1");
    assert!(run.code == 2, "{}", run.err);
}

// Protects figures of the papers: by their names, from the problems that are run.
#[test]
fn figures_of_the_papers_are_drawn() {
    let place = Place::new();
    place.good("bench mount crane rigid-body --figures figures");
    let papers =
        [("lauss2018", &["01_02", "03", "04", "05", "06", "07"][..]), ("nachbagauer2015", &["03", "04", "06", "07"])];
    for (paper, numbers) in papers {
        for number in numbers {
            let figure = place.read(&format!("figures/{paper}_fig{number}.svg"));
            assert!(figure.contains("<svg") && figure.matches("<poly").count() > 3, "{paper} {number}");
        }
    }
}

// Protects records of others: without a file a problem is not run and says how, asked for it is an error; what is known of EMPS is met where its record is at hand.
#[test]
fn measured_records_are_run_where_they_are_given() {
    let place = Place::new();
    let run = place.run("bench emps");
    assert!(run.code == 2 && run.err.contains("its record is not given; give one: --emps FILE"), "{}", run.err);
    let root = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let data = std::env::var_os("COSTATE_DATA").map_or_else(|| root.join("../shared/data"), Into::into);
    let file = data.join("emps/train.csv");
    if !file.is_file() {
        println!("skipped: {} is absent (set COSTATE_DATA to the folder of measured records)", file.display());
        return;
    }
    let text = place.good(&format!("bench emps --emps {}", file.display())).out;
    assert!(text.contains("M [kg]") && text.contains("all agree"), "{text}");
}

// Protects the comparison with other tools: a Python that is not there is said, and nothing else fails; neither does a tool that nobody knows pass.
#[test]
fn tools_that_are_absent_are_told() {
    let place = Place::new();
    let run = place.run("bench a01 --against scipy --python no-such-python");
    assert!(run.code == 0 && run.out.contains("not run: Beside scipy") && run.out.contains("--python"), "{}", run.out);
    let run = place.run("bench a01 --against scypi");
    assert!(run.code == 2 && run.err.contains("there is no tool `scypi`; known: scipy"), "{}", run.err);
}

const PAGE: &str = "\
<!-- from `costate models slider_crank`: 0.35, 1.6 -->

Over 0.35 s, from 1.6 kg.
And more.

Not 7777, which no command names.

<!-- from `costate models slider_crank`: all -->
| x77 | nominal | start |
|---|---|---|
| m_slider | 0.80 | 1.6 |
| k | 200 | 1e2 |

<!-- from `costate models slider_crank` -->
```text
    m_slider kg 0.8004 1.6 1e-6 linear free
..
  coordinates: x1 ...
```

<!-- from `costate identify emps --data {emps}`: 5 -->
Of 5 parameters.
";

// Protects stale numbers from standing in pages: those that a page changes, those that a command no longer prints to the digits that are written, and quoted
// lines. Names and what no command names are no numbers; a record that nobody has given is said, and one whose path has a space is taken.
#[test]
fn numbers_in_pages_are_held() {
    let place = Place::new();
    let check = |page: &str| {
        place.write("page.md", page);
        place.run("bench --docs page.md")
    };
    let good = check(PAGE);
    assert!(
        good.code == 0
            && good.out.contains("numbers and quotations: 7, none is stale; 1 for want of a record, --emps FILE"),
        "{}{}",
        good.out,
        good.err
    );
    for (written, mutated, said) in [
        ("Over 0.35 s", "Over 0.36 s", "page.md:1: 0.35 does not stand below"),
        ("0.35", "0.36", "page.md:1: 0.36 is not what the command prints"),
        ("| 0.80 |", "| 0.81 |", "page.md:8: 0.81 is not what the command prints"),
        ("1e2 |", "1.3e2 |", "page.md:8: 1.3e2 is not what the command prints"),
        ("| k | 200 |", "| k | -200 |", "page.md:8: -200 is not what the command prints"),
        ("0.8004", "0.81", "page.md:14: not printed:     m_slider kg 0.81 1.6 1e-6 linear free"),
        ("coordinates: x1 ...", "states: x1 ...", "page.md:14: not printed:   states: x1 ..."),
        ("models slider_crank", "models slider_crunk", "the command does not answer"),
    ] {
        let run = check(&PAGE.replace(written, mutated));
        assert!(run.code == 1 && run.out.contains("STALE") && run.out.contains(said), "{mutated}: {}", run.out);
    }
    for wrong in [
        "<!-- from `costate models`: -->\n1\n",
        "<!-- from `costate models`: all -->\nnone\n",
        "<!-- from `costate models` -->\n1\n",
        "<!-- from `costate models: 1 -->\n",
        "<!-- from costate models: 1 -->\n1\n",
        "<!--from `costate models`: 1 -->\n1\n",
        "<!-- from `costate models` -->\n```text\n\n```\n",
        "no command\n",
    ] {
        let run = check(wrong);
        assert!(
            run.code == 2 && run.err.contains("write") | run.err.contains("name a command"),
            "{wrong}: {}",
            run.err
        );
    }
    for (command, answer) in [("costate no-such", "exit status: 2"), ("costate bench --docs page.md", "without end")] {
        let run = check(&format!("<!-- from `{command}`: 1 -->\n1\n"));
        assert!(run.code == 1 && run.out.contains(answer), "{command}: {}", run.out);
    }
    // the command has got the whole path
    place.write("page.md", PAGE);
    place.write("my record.txt", "no record\n");
    let run = Place::end(place.command("bench --docs page.md --emps").arg("my record.txt"));
    assert!(run.code == 1 && !run.out.contains("for want of a record"), "{}", run.out);
    assert!(run.out.contains("error: my record.txt, line 1: the file ends after its header"), "{}", run.out);
}
