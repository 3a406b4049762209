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

// Protects numbers in pages: a page that says what its command prints passes, a mutated one is found by page and line.
#[test]
fn stale_numbers_in_pages_are_found() {
    let place = Place::new();
    let page = "<!-- from `costate models oscillator`: 5 -->\n\nk is 1 of 5 parameters.\n";
    place.write("page.md", page.replace('5', "77"));
    let run = place.run("bench --docs page.md");
    assert!(run.code == 1 && run.out.contains("page.md:1: 77 is not what the command prints"), "{}", run.out);
    for (command, answer) in [("costate no-such", "exit status: 2"), ("costate bench --docs page.md", "without end")] {
        place.write("page.md", format!("<!-- from `{command}`: 1 -->\n1\n"));
        let run = place.run("bench --docs page.md");
        assert!(run.code == 1 && run.out.contains(answer), "{command}: {}", run.out);
    }
    place.write("page.md", "No numbers.\n");
    let run = place.run("bench --docs page.md");
    assert!(run.code == 2 && run.err.contains("no page names a command"), "{}", run.err);
    place.write("page.md", "<!-- from `costate modes half_car` -->\n```text\nhalf_car: small motions ...\n```\n");
    assert!(place.good("bench --docs page.md").out.contains("none is stale"));
}
