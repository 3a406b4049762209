//! `costate identify --from RESULT` alone: a run is repeated bit for bit, or it is said why not.

use crate::run;
use run::Place;
use serde_json::Value;

fn read(place: &Place, name: &str) -> Value {
    serde_json::from_str(&place.read(name)).unwrap()
}

/// Parameters with all their digits, and the cost.
fn found(result: &Value) -> (Vec<(String, u64)>, u64) {
    let parameters = result["parameters"].as_array().unwrap().iter();
    let bits =
        |entry: &Value| (entry["name"].as_str().unwrap().to_string(), entry["value"].as_f64().unwrap().to_bits());
    (parameters.map(bits).collect(), result["cost"].as_f64().unwrap().to_bits())
}

/// A noisy record, and a problem file of it.
fn problem(place: &Place) {
    place.good("simulate oscillator --set c=33,d=0.5 --end 2 --out r");
    let text = place.read("r/outputs.csv");
    let rows = text.lines().enumerate().map(|(i, line)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_string).collect();
        if let Ok(a) = cells[1].parse::<f64>() {
            cells[1] = (a + 0.01 * ((i * i) as f64).sin()).to_string();
        }
        cells.join(",") + "\n"
    });
    place.write("record.csv", rows.collect::<String>());
    place.good("init oscillator --data record.csv");
}

// Protects results that somebody doubts: the run is repeated from what result.json says alone, with all that was on the command line, to the
// last bit; a repetition can be repeated.
#[test]
fn a_run_is_repeated_bit_for_bit() {
    let place = Place::new();
    problem(&place);
    for (k, arguments) in [
        "oscillator.toml",
        "oscillator.toml --method bfgs --fix d --set c=31",
        "oscillator --noise-level 0.03 --noise-seed 5 --start c=30",
        "oscillator --data record.csv --substeps 2 --scheme i2p --constraint c<=32.5",
    ]
    .into_iter()
    .enumerate()
    {
        place.good(&format!("identify {arguments} --out first{k}"));
        let run = place.good(&format!("identify --from first{k} --out again{k}"));
        assert!(run.out.contains("the same parameters and cost to the last bit as in first"), "{}", run.out);
        let (first, again) =
            (read(&place, &format!("first{k}/result.json")), read(&place, &format!("again{k}/result.json")));
        assert_eq!(found(&first), found(&again), "{arguments}");
        for key in ["command", "input_files", "evaluations", "tolerances", "experiments"] {
            assert_eq!(first[key], again[key], "{arguments}: {key}");
        }
        assert_eq!(again["repeats"]["identical"], true);
        let third = place.json(&format!("identify --from again{k}/result.json --json"), 0);
        assert_eq!(found(&first), found(&third), "{arguments}");
    }
    // one that began with the values of another
    place.good("identify oscillator.toml --from first0 --max-iterations 2 --out next");
    assert!(place.good("identify --from next").out.contains("to the last bit"));
    assert!(place.path("out/oscillator_repeated/result.json").is_file());
}

// Protects from a repetition that is none: changed files are named and refused, other data must be asked for, and what the model or the version
// has otherwise is said.
#[test]
fn what_differs_is_said() {
    let place = Place::new();
    problem(&place);
    place.good("identify oscillator.toml --out first");
    place.write("record.csv", place.read("record.csv") + "2.01,0,0,0,0\n");
    place.refused("identify --from first", &["data record.csv has changed since", "--data FILE.csv"]);
    let run = place.good("identify --from first --data record.csv --out other");
    assert!(run.out.contains("of other data than first/result.json: `"), "{}", run.out);
    std::fs::remove_file(place.path("record.csv")).unwrap();
    place.refused("identify --from first", &["data record.csv is not here"]);
    problem_again(&place);
    place.good("identify --from first");
    place.write("oscillator.toml", place.read("oscillator.toml") + "# more\n");
    place.refused("identify --from first", &["problem oscillator.toml has changed since", "name the problem file"]);
    place.refused("identify --from first --method bfgs", &["nothing can be changed but --data", "name the model"]);
    place.refused("simulate --from first", &["the model: it is not named"]);
    // a result as another version, with another model, would have written it
    place.good("identify oscillator --noise-level 0.01 --out plain");
    let mut result = read(&place, "plain/result.json");
    result["costate_version"] = "0.0.1".into();
    result["parameters"][1]["start"] = 24.0.into();
    result["parameters"][1]["value"] = 41.0.into();
    place.write("strange.json", result.to_string());
    let run = place.run("identify --from strange.json --out strange");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for part in ["is of costate 0.0.1, this is", "`c` started at 24, and starts at 25 now"] {
        assert!(run.err.contains(part), "`{part}` is missing in {}", run.err);
    }
    assert!(run.out.contains("NOT the same as in strange.json: `c` is"), "{}", run.out);
    result["model"] = "pendulum".into();
    place.write("strange.json", result.to_string());
    place.refused("identify --from strange.json", &["it is a result of model `pendulum`, and this is `oscillator`"]);
    result["command"] = Value::Null;
    place.write("strange.json", result.to_string());
    place.refused("identify --from strange.json", &["does not say by which command"]);
    result["command"] = "costate control overhead_crane".into();
    place.write("strange.json", result.to_string());
    place.refused("identify --from strange.json", &["was not found by `identify`"]);
}

/// The record as it was, beside the problem file as it is.
fn problem_again(place: &Place) {
    let other = Place::new();
    problem(&other);
    place.write("record.csv", other.read("record.csv"));
}

// Protects results from power cuts: a search that is killed at any moment leaves the result of the run before or its own, whole; the next run
// clears up and finds the very same.
#[cfg(unix)]
#[test]
fn killed_searches_leave_whole_results() {
    let place = Place::new();
    let arguments = ["identify oscillator --fix d --out results", "identify oscillator --png --out results"];
    let run = |arguments: &str| Place::end(place.command(arguments).env("SOURCE_DATE_EPOCH", "0")).code;
    let content = || -> Vec<(String, Vec<u8>)> {
        let names = place.files().into_iter().filter(|name| name.starts_with("results/") && !name.contains("/."));
        let read = |name: String| match name.ends_with("result.json") {
            false => (name.clone(), std::fs::read(place.path(&name)).unwrap()),
            true => {
                let mut result = read(&place, &name);
                result["seconds"] = Value::Null;
                (name, result.to_string().into_bytes())
            }
        };
        names.map(read).collect()
    };
    let [(other, _), (own, duration)] = arguments.map(|arguments| {
        let began = std::time::Instant::now();
        assert_eq!(run(arguments), 0);
        (content(), began.elapsed())
    });
    let mut random = 12345u64;
    for round in 0..10 {
        assert_eq!(run(arguments[0]), 0);
        assert!(content() == other, "round {round}: {:?}", place.files());
        assert!(!place.files().iter().any(|name| name.contains("/.")), "debris: {:?}", place.files());
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let moment = duration.mul_f64((random >> 33) as f64 / (1u64 << 31) as f64);
        let mut child = place.command(arguments[1]).env("SOURCE_DATE_EPOCH", "0").spawn().unwrap();
        std::thread::sleep(moment);
        // it may have ended
        let _ = child.kill();
        child.wait().unwrap();
        let left = content();
        let is_headless = !left.iter().any(|(name, _)| name == "results/result.json");
        assert!(left == other || left == own || is_headless, "killed after {moment:?}: {:?}", place.files());
    }
    assert_eq!(run(arguments[1]), 0);
    assert!(content() == own, "{:?}", place.files());
}
