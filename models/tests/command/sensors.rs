//! Sensors with gain, bias and delay: problem files, results, figures' data, and what is refused.

use crate::run::{Place, value};
use serde_json::Value;

/// A swing seen by two accelerometers, the first one 3 ms late and with a gain of 1.02, the second one with a bias, every 10 ms.
fn record(place: &Place, name: &str, angle: f64) {
    let set = format!("L=0.83,d=0.06,angle0={angle},omega0=0.2");
    place.good(&format!("simulate pendulum --end 3 --step 1e-3 --set {set} --out {name}"));
    let table = place.read(&format!("{name}/outputs.csv"));
    let rows: Vec<Vec<f64>> =
        table.lines().skip(1).map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|head| head.starts_with(name)).unwrap();
    let (x, y) = (column("a_x"), column("a_y"));
    let mut shown = String::from("t,a_x,a_y\n");
    for i in (10..rows.len()).step_by(10) {
        let time = 0.01 * (i / 10) as f64;
        shown += &format!("{time:.2},{},{}\n", 1.02 * rows[i - 3][x], rows[i][y] + 0.25);
    }
    place.write(&format!("{name}.csv"), shown);
}

const PROBLEM: &str = "model = \"pendulum\"\n[integrator]\nsubsteps = 5\n[data]\nfile = \"swing.csv\"\n\
                       outputs.a_x = { sensor = [\"gain\", \"delay\"] }\noutputs.a_y = { sensor = [\"bias\"] }\n\
                       [parameters]\nL = { start = 0.7 }\nd = { start = 0.02 }\nangle0 = { free = true }\n\
                       omega0 = { free = true }\n";

// Protects the way from a file to what sensors do, and back: found values, what is said of samples that are left out, results that can be
// started from and validated, and gradients.
#[test]
fn what_sensors_do_is_found_from_a_problem_file() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    record(&place, "other", 0.8);
    place.write("problem.toml", PROBLEM);
    let run = place.good("identify problem.toml --out found");
    assert!(run.err.contains("`a_x` is compared without its first 5 and last 5 samples"), "{}", run.err);
    let result: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    // the record begins after 10 ms: its angle there is another one than at rest, and is found
    for (name, truth, allowed) in
        [("gain_a_x", 1.02, 2e-4), ("delay_a_x", 3e-3, 2e-5), ("bias_a_y", 0.25, 2e-3), ("L", 0.83, 2e-4)]
    {
        assert!((value(&result, name) - truth).abs() < allowed, "{name}: {}", value(&result, name));
    }
    assert_eq!(result["experiments"][0]["outputs"][0]["sensor"][1], "delay_a_x");
    // the same sensors on another record, and their values as a start
    place.write("again.toml", PROBLEM.replace("swing.csv", "other.csv"));
    let run = place.good("identify again.toml --from found/result.json --json");
    let again: Value = serde_json::from_str(&run.out).unwrap();
    assert!((value(&again, "delay_a_x") - 3e-3).abs() < 2e-5, "{run:?}", run = run.out);
    place.good("gradient problem.toml --method all");
    place.good("identifiability problem.toml");
    place.good("simulate problem.toml --set delay_a_x=0.003,gain_a_x=1.02 --out simulated");
    place.good("simulate pendulum --from found/result.json --out plain");
    let run = place.run("validate found/result.json --data other.csv");
    assert!(run.code == 2 && run.err.contains("--problem FILE.toml"), "{}", run.err);
    let local = PROBLEM.replace("free = true", "local = true");
    place.write("local.toml", local);
    place.good("validate found/result.json --problem local.toml --data other.csv --fit-local --out validated");
    let validation: Value = serde_json::from_str(&place.read("validated/validation.json")).unwrap();
    assert!(
        validation["validation"].as_array().unwrap().iter().all(|fit| fit["fit_percent"].as_f64().unwrap() > 99.0),
        "{validation}"
    );
    let shared = "[[experiment]]\nfile = \"swing.csv\"\n[[experiment]]\nfile = \"other.csv\"\n";
    let two =
        PROBLEM.replace("file = \"swing.csv\"\n", "").replace("= { free = true }", "= { free = true, local = true }");
    place.write("two.toml", format!("{two}gain_a_x = {{ local = true }}\n{shared}"));
    let run = place.good("identify two.toml --json");
    let both: Value = serde_json::from_str(&run.out).unwrap();
    for (name, truth, allowed) in
        [("gain_a_x@swing", 1.02, 2e-4), ("gain_a_x@other", 1.02, 2e-4), ("delay_a_x", 3e-3, 2e-5)]
    {
        assert!((value(&both, name) - truth).abs() < allowed, "{name}: {}", value(&both, name));
    }
}

// Protects filters: record and model are filtered alike, so that what is found stays what it is; samples that depend on each other are told.
#[test]
fn records_are_filtered_and_thinned_like_the_model() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    for (keys, note) in
        [("low_pass = 5.0", "compare every 13th sample"), ("low_pass = 5.0, every = 13", "compared without")]
    {
        place.write("problem.toml", PROBLEM.replace("\"delay\"]", &format!("\"delay\"], {keys}")));
        let run = place.good("identify problem.toml --json");
        assert!(run.err.contains(note), "{}", run.err);
        let result: Value = serde_json::from_str(&run.out).unwrap();
        for (name, truth, allowed) in [("gain_a_x", 1.02, 5e-4), ("delay_a_x", 3e-3, 5e-5), ("L", 0.83, 5e-4)] {
            assert!((value(&result, name) - truth).abs() < allowed, "{keys}: {name}: {}", value(&result, name));
        }
    }
    place.write("problem.toml", PROBLEM.replace("\"delay\"]", "\"delay\"], low_pass = 50.0"));
    place.refused("identify problem.toml", &["50 Hz", "half the frequency of the samples"]);
    place.write("problem.toml", PROBLEM.replace("\"delay\"]", "\"delay\"], every = 0"));
    place.refused("identify problem.toml", &["every", "a_x"]);
}

// Protects sentences: effects that do not exist, parameters of sensors that are not there, bounds that leave nothing, constraints on what a
// sensor shows.
#[test]
fn wrong_sensors_get_a_sentence() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    for (from, to, expected) in [
        ("\"delay\"", "\"dealy\"", "delay"),
        ("[\"gain\", \"delay\"]", "\"gain\"", "[\"a\", \"b\"]"),
        ("[\"gain\", \"delay\"]", "[\"gain\", \"gain\"]", "twice"),
        ("L = { start = 0.7 }", "L = { start = 0.7 }\ndelay_a_y = { start = 0.1 }", "delay_a_x"),
        (
            "L = { start = 0.7 }",
            "delay_a_x = { lower = -2.0, upper = 2.0 }",
            "the sensor with `delay_a_x`: of a record of",
        ),
        ("L = { start = 0.7 }", "delay_a_x = { upper = inf }", "its bounds are"),
        ("L = { start = 0.7 }", "delay_a_x = { start = 1.0 }", "delay_a_x"),
    ] {
        assert!(PROBLEM.contains(from), "{from}");
        place.write("problem.toml", PROBLEM.replace(from, to));
        let run = place.run("identify problem.toml");
        assert_eq!(run.code, 2, "{to}: {}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{to}: {}", run.err);
    }
    place.write("problem.toml", PROBLEM);
    let limit = "[[constraint]]\nrule = \"peak a_x <= 3\"\n";
    place.write("problem.toml", format!("{PROBLEM}{limit}"));
    let run = place.run("identify problem.toml");
    assert!(run.code == 2 && run.err.contains("sensor"), "{}", run.err);
}
