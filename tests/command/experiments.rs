//! Several experiments: problem files, local parameters, validation, results of earlier runs.

use crate::run::Place;
use serde_json::Value;

/// Swings of one pendulum from several angles, each a record of accelerations.
fn records(place: &Place, end: f64) {
    for (name, angle, rate) in [("small", 0.4, 0.0), ("large", 1.3, 0.5), ("other", 0.9, -0.4)] {
        let set = format!("L=0.83,d=0.06,angle0={angle},omega0={rate}");
        place.good(&format!("simulate pendulum --end {end} --set {set} --out {name}"));
    }
}

const LOCAL: &str = "angle0 = { local = true, start = 0.7 }\nomega0 = { local = true, start = 0.0 }\n";

fn problem(more: &str) -> String {
    let outputs = "outputs.a_x = { column = \"a_x\" }\noutputs.a_y = { column = \"a_y\" }\n";
    format!(
        "model = \"pendulum\"\n[data]\n{outputs}[parameters]\nL = {{ start = 0.7 }}\nd = {{ start = 0.02 }}\n{LOCAL}\n{more}"
    )
}

const TWO: &str = "[[experiment]]\nname = \"small\"\nfile = \"small/outputs.csv\"\nparameters.angle0 = { start = 0.3 }\n\
                   [[experiment]]\nname = \"large\"\nfile = \"large/outputs.csv\"\nparameters.angle0 = { start = 1.1 }\n";

fn value(result: &Value, name: &str) -> f64 {
    let parameters = result["parameters"].as_array().unwrap();
    let found = parameters.iter().find(|parameter| parameter["name"] == name);
    found.unwrap_or_else(|| panic!("{name} is missing in {result}"))["value"].as_f64().unwrap()
}

// Protects the week of whoever has several records: shared parameters and own starts are found together, a third record is compared,
// and the numbers do not depend on the number of threads.
#[test]
fn records_are_fitted_together_and_validated() {
    let place = Place::new();
    // long enough for threads to be worth it
    records(&place, 12.0);
    let third = "[[experiment]]\nname = \"other\"\nfile = \"other/outputs.csv\"\nvalidation = true\n\
                 parameters.angle0 = { start = 0.9, free = true }\nparameters.omega0 = { start = -0.4 }\n";
    place.write("problem.toml", problem(&format!("{TWO}{third}")));
    let mut results = Vec::new();
    for threads in ["1", "2", "8"] {
        let mut command = place.command("identify problem.toml --json --out found");
        let run = Place::end(command.env("COSTATE_THREADS", threads));
        assert_eq!(run.code, 0, "{}{}", run.out, run.err);
        let mut result: Value = serde_json::from_str(&run.out).unwrap();
        // when it was, and how long it took
        (result["seconds"], result["date"]) = (Value::Null, Value::Null);
        results.push(result);
    }
    assert!(results.iter().all(|result| *result == results[0]), "threads change the result");
    let mut command = place.command("identify problem.toml --json");
    let run = Place::end(command.env("COSTATE_THREADS", "many"));
    assert!(run.code == 2 && run.err.contains("COSTATE_THREADS: it is `many`; give a whole number"), "{}", run.err);
    let found = &results[0];
    let expected = [
        ("L", 0.83),
        ("d", 0.06),
        ("angle0@small", 0.4),
        ("omega0@small", 0.0),
        ("angle0@large", 1.3),
        ("omega0@large", 0.5),
        ("angle0@other", 0.9),
    ];
    for (name, expected) in expected {
        assert!((value(found, name) - expected).abs() < 1e-7, "{name}: {}", value(found, name));
    }
    // what no fitted experiment depends on is not searched, whatever is said of it
    let other = found["parameters"].as_array().unwrap().iter().find(|p| p["name"] == "angle0@other").unwrap();
    assert_eq!(other["status"], "fixed");
    let validated = found["validation"].as_array().unwrap();
    let names: Vec<&str> = validated.iter().map(|output| output["output"].as_str().unwrap()).collect();
    assert_eq!(names, ["a_x@other", "a_y@other"]);
    assert!(validated.iter().all(|output| output["fit_percent"].as_f64().unwrap() > 99.9), "{validated:?}");
    for file in ["outputs@small.csv", "outputs@other.csv", "output_a_x@large.svg"] {
        assert!(place.path("found").join(file).is_file(), "{file} is missing");
    }
    // the command line goes over the file, and a result over neither
    let started = place.json("identify problem.toml --start angle0=0.5,angle0@large=1.2 --max-iterations 0 --json", 1);
    let starts = ["angle0@small", "angle0@large"].map(|name| value(&started, name));
    assert_eq!(starts, [0.5, 1.2]);
    // what has been fitted is no validation
    let again = place.good("validate found --data small/outputs.csv --problem problem.toml --json");
    assert!(again.err.contains("among the data that were fitted"), "{}", again.err);
    let again = place.good("validate found --data small/outputs.csv --problem problem.toml --out again");
    assert!(again.out.contains("nothing is validated: the records are those that were fitted"), "{}", again.out);
    let unseen = place.good("validate found --data other/outputs.csv --problem problem.toml --json");
    assert!(!unseen.err.contains("among the data that were fitted"), "{}", unseen.err);
    place.refused("report found --out found/result.json", &["would take the place", "ends in .html"]);
    // from there, nothing is left to be done
    let again = place.json("identify problem.toml --from found --json", 0);
    assert!(again["iterations"].as_u64().unwrap() <= 2, "{again}");
    assert!((value(&again, "L") - value(found, "L")).abs() < 1e-9);
    // one model run takes the values, too
    place.good("simulate pendulum --from found/result.json --end 0.1 --out once");
    // several files by the command line are experiments as well
    let both = place.json("identify problem.toml --data small/outputs.csv --data large/outputs.csv --json", 0);
    assert!((value(&both, "angle0@large_outputs") - 1.3).abs() < 1e-7, "{both}");
    place
        .refused("identify problem.toml --data small/outputs.csv --data ./small/outputs.csv", &["named twice", "once"]);
    place.write("a.csv", place.read("small/outputs.csv")).write("b.csv", place.read("large/outputs.csv"));
    let both = place.json("identify problem.toml --data a.csv --data b.csv --json", 0);
    assert!((value(&both, "angle0@b") - 1.3).abs() < 1e-7);
}

// Protects the sum: derivatives of several experiments are those of each, by adjoint, tangents and differences, and second ones.
#[test]
fn derivatives_add_up() {
    let place = Place::new();
    records(&place, 2.0);
    place.write("problem.toml", problem(TWO));
    let text = place.good("gradient problem.toml --method all").out;
    assert!(text.contains("angle0@small") && text.contains("omega0@large"), "{text}");
    let of = |result: &Value, name: &str| -> f64 {
        let gradient = result["gradient"].as_array().unwrap();
        gradient.iter().find(|entry| entry["name"] == name).unwrap()["value"].as_f64().unwrap()
    };
    let both = place.json("gradient problem.toml --json", 0);
    let mut alone = Vec::new();
    for (file, angle) in [("small", 0.3), ("large", 1.1)] {
        place.write("one.toml", problem("").replace("[data]\n", &format!("[data]\nfile = \"{file}/outputs.csv\"\n")));
        let one = place.json(&format!("gradient one.toml --at angle0={angle} --json"), 0);
        let (own, name) = (of(&one, "angle0"), format!("angle0@{file}"));
        assert!((of(&both, &name) - own).abs() <= 1e-12 * own.abs(), "{name}");
        alone.push(one);
    }
    for name in ["L", "d", "m", "g"] {
        let sum = of(&alone[0], name) + of(&alone[1], name);
        assert!((of(&both, name) - sum).abs() <= 1e-12 * sum.abs(), "{name}");
    }
    let methods = place.json("gradient problem.toml --method all --json", 0)["methods"].clone();
    let entries = |k: usize| methods[k]["gradient"].as_array().unwrap().clone();
    for (adjoint, tangent) in entries(0).iter().zip(entries(1)) {
        let [a, t] = [adjoint, &tangent].map(|entry| entry["value"].as_f64().unwrap());
        assert!((a - t).abs() <= 1e-9 * a.abs().max(1e-3), "{adjoint} {tangent}");
    }
    // starts of different experiments have nothing to do with each other
    let hessian = place.json("hessian problem.toml --method all --json", 0);
    let names: Vec<&str> =
        hessian["parameters"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    let place_of = |name: &str| names.iter().position(|own| *own == name).unwrap();
    let entry =
        |k: usize, a: &str, b: &str| hessian["methods"][k]["hessian"][place_of(a)][place_of(b)].as_f64().unwrap();
    assert_eq!(entry(0, "angle0@small", "angle0@large"), 0.0);
    let [exact, difference] = [0, 2].map(|k| entry(k, "L", "angle0@large"));
    assert!((exact - difference).abs() < 1e-5 * exact.abs(), "{exact} {difference}");
    assert!(place.good("check pendulum").out.contains("all agree"));
}

// Protects records in pieces: rows of one number are an experiment, which starts from a column's first sample; and `validate` against
// records that have not been seen, with their own starts fitted if asked.
#[test]
fn pieces_of_a_record_are_experiments() {
    let place = Place::new();
    records(&place, 2.0);
    let mut rows = String::from("piece,t,a_x,a_y,rough\n");
    for (piece, (name, rough)) in [("small", 0.45), ("large", 1.2)].into_iter().enumerate() {
        let text = place.read(&format!("{name}/outputs.csv"));
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let find = |name: &str| header.iter().position(|cell| cell.trim_matches('"').starts_with(name)).unwrap();
        let [t, x, y] = ["time", "a_x", "a_y"].map(find);
        for line in text.lines().skip(1) {
            let cells: Vec<&str> = line.split(',').collect();
            rows += &format!("{piece},{},{},{},{rough}\n", cells[t], cells[x], cells[y]);
        }
    }
    let local = LOCAL.replace("start = 0.7", "start_column = \"rough\"");
    let text =
        problem("").replace(LOCAL, &local).replace("[data]\n", "[data]\nfile = \"all.csv\"\nsplit = \"piece\"\n");
    place.write("all.csv", &rows).write("problem.toml", &text);
    let found = place.json("identify problem.toml --json --out found", 0);
    assert!((value(&found, "L") - 0.83).abs() < 1e-7 && (value(&found, "angle0@piece1") - 1.3).abs() < 1e-7, "{found}");
    // another day, from an unknown start
    place.write("validation.toml", problem("").replace("[data]\n", "[data]\nfile = \"other/outputs.csv\"\n"));
    let strange = place.json("validate found --data other/outputs.csv --problem validation.toml --json", 0);
    assert!(strange["validation"][0]["fit_percent"].as_f64().unwrap() < 90.0, "{strange}");
    let run = place.good("validate found --data other/outputs.csv --problem validation.toml --fit-local");
    assert!(run.out.contains("100.00 %") && run.out.contains("validation.json"), "{}", run.out);
    assert!(place.path("out/found_validation/output_a_x.svg").is_file());
    place.write("all.csv", rows + "0,9.0,1.0,1.0,0.4\n");
    place.refused("identify problem.toml", &["all.csv", "`piece` is 0 in two parts", "one after another"]);
}

// Protects the author of a file with experiments: each slip names its place and the remedy.
#[test]
fn wrong_experiments_get_a_sentence() {
    let place = Place::new();
    records(&place, 2.0);
    let one = "[[experiment]]\nfile = \"small/outputs.csv\"\n";
    let cases: &[(String, &[&str])] = &[
        ("[[experiment]]\nname = \"a\"\n".into(), &["`file` in [experiment.1]", "no data", "add: file ="]),
        (format!("{one}weight = 0.0\n"), &["`weight` in [experiment.1]", "not positive"]),
        (format!("{one}validaton = true\n"), &["no key `validaton`", "did you mean `validation`?"]),
        (format!("{one}validation = true\n"), &["none is left to be fitted"]),
        (format!("{one}name = \"a@b\"\n"), &["experiment `a@b`", "letters, digits"]),
        (format!("{one}parameters.L = {{ start = 1.0 }}\n"), &["`L` of an experiment", "shared", "local = true"]),
        (format!("{one}parameters.LL = {{ start = 1.0 }}\n"), &["`LL`"]),
        (format!("{one}{one}"), &["experiment `outputs`", "there are two of this name"]),
        (
            format!("{one}name = \"a\"\n{one}name = \"b\"\nvalidation = true\n"),
            &["validation by `b`", "`a` is fitted to the same samples", "another window"],
        ),
        (format!("{one}name = \"{}\"\n", "a".repeat(300)), &["its name has 300 characters", "up to 60"]),
        (format!("{one}name = \"A\"\n{one}name = \"a\"\n"), &["experiment `a`", "there are two of this name"]),
        (format!("{one}initial_state = \"equilibrum\"\n"), &["no initial state `equilibrum`", "equilibrium"]),
        ("[[experiment]]\nfile = \"absent.csv\"\n".into(), &["absent.csv"]),
        (format!("{TWO}[[constraint]]\nrule = \"peak a_x <= 3\"\n"), &["several experiments at once"]),
        (format!("{TWO}[[constraint]]\nrule = \"angle0 <= 1\"\n"), &["`angle0@small` is local"]),
    ];
    for (text, parts) in cases {
        place.write("problem.toml", problem(text));
        place.refused("identify problem.toml", parts);
    }
    // starts from a column
    let start = |text: &str| problem(one).replace(LOCAL, text);
    place.write("problem.toml", start("angle0 = { start_column = \"a_x\" }\n"));
    place.refused("identify problem.toml", &["parameter `angle0`", "another value in each experiment", "local = true"]);
    place.write("problem.toml", start("angle0 = { local = true, start_column = \"a_x\" }\n"));
    place.refused("identify problem.toml", &["`a_x [m/s^2]` is in `m/s^2`, where `angle0` is in `rad`"]);
    place.write("problem.toml", start("angle0 = { local = true, start = 1.0, start_column = \"a_x\" }\n"));
    place.refused("identify problem.toml", &["`start` in [parameters.angle0]", "contradicts `start_column`"]);
    // results of something else
    place.write("problem.toml", problem(TWO)).write("no.json", "{").write("empty.json", "{\"model\": \"pendulum\"}");
    place.write("oscillator.json", "{\"model\": \"oscillator\", \"parameters\": [{\"name\": \"c\", \"value\": 1.0}]}");
    place.refused("identify problem.toml --from no.json", &["no.json: this is not JSON", "result.json"]);
    place.refused("identify problem.toml --from empty.json", &["it holds no parameters"]);
    let parts = ["it is a result of model `oscillator`", "this is `pendulum`"];
    place.refused("simulate pendulum --from oscillator.json", &parts);
    place.refused("validate oscillator.json --data small/outputs.csv --problem problem.toml", &parts);
}

// Protects judgements of records that were not fitted: the same machine on another day, and another machine.
#[test]
fn validation_says_whether_the_model_holds() {
    let place = Place::new();
    let record = |name: &str, values: &str| {
        let run = format!("simulate oscillator --set {values} --step 0.01 --out {name}");
        place.good(&run);
        // noise whose neighbours are not alike
        let table = place.read(&format!("{name}/outputs.csv"));
        let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
        let x = head.iter().position(|head| head.starts_with("x [")).unwrap();
        let mut random = 12345u64;
        let mut noise = || {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            1e-3 * ((random >> 40) as f64 / (1u64 << 23) as f64 - 1.0)
        };
        let row = |(i, line): (usize, &str)| {
            format!("{},{}\n", i as f64 / 100.0, line.split(',').nth(x).unwrap().parse::<f64>().unwrap() + noise())
        };
        let rows: String = table.lines().skip(1).enumerate().map(row).collect();
        place.write(&format!("{name}.csv"), format!("t,x\n{rows}"));
    };
    record("monday", "c=33,d=0.5 --end 4");
    record("tuesday", "c=33,d=0.5 --end 7");
    record("another", "c=40,d=0.5 --end 4");
    let problem = |file: &str| format!("model = \"oscillator\"\n[data]\nfile = \"{file}\"\ninputs = {{}}\n");
    place.write("problem.toml", problem("monday.csv") + "[integrator]\nsubsteps = 1\n");
    place.good("identify problem.toml --out found");
    place.write("tuesday.toml", problem("tuesday.csv"));
    let good = place.good("validate found --data tuesday.csv --problem tuesday.toml --out good").out;
    assert!(good.contains("residuals of `x` are white") && good.contains("the model holds on these records"), "{good}");
    assert!(place.path("good/residual_tests_x.svg").is_file());
    let bad = place.good("validate found --data another.csv --problem tuesday.toml").out;
    assert!(bad.contains("residuals of `x` are correlated") && bad.contains("does not hold on these records"), "{bad}");
    let document = place.json("validate found --data another.csv --problem tuesday.toml --json", 0);
    assert_eq!(document["residual_tests"][0]["finding"], "correlated");
    // the window of what was fitted is none of another record's, unless somebody says so
    place.write("window.toml", problem("monday.csv") + "until = 2.0\n[integrator]\nsubsteps = 1\n");
    place.good("identify window.toml --out window");
    let all = place.good("validate window --data tuesday.csv");
    assert!(all.err.contains("from its first to its last sample") && all.err.contains("701 samples"), "{}", all.err);
    let own = place.good("validate window --data tuesday.csv --problem window.toml");
    assert!(!own.err.contains("from its first to its last") && own.err.contains("201 samples"), "{}", own.err);
}
