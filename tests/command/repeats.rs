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
        for (column, noise) in [(1, 1e-2), (2, 1e-3), (3, 3e-4)] {
            if let Ok(value) = cells[column].parse::<f64>() {
                cells[column] = (value + noise * ((column * i * i) as f64).sin()).to_string();
            }
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
    place.good("identify oscillator.toml --from first0 --max-iterations 12 --out next");
    assert!(place.good("identify --from next").out.contains("to the last bit"));
    assert!(place.path("out/oscillator_repeated/result.json").is_file());
}

/// A record sampled so coarsely that one step between two samples is wrong by more than its noise.
fn coarse(place: &Place) {
    place.good("simulate oscillator --set c=33,d=0.5 --step 1e-3 --end 3 --out fine");
    let text = place.read("fine/outputs.csv");
    let mut rows = text.lines();
    let header = rows.next().unwrap().to_string() + "\n";
    let thinned = rows.enumerate().filter(|(i, _)| i % 50 == 0).map(|(i, line)| {
        let mut cells: Vec<String> = line.split(',').map(str::to_string).collect();
        for cell in &mut cells[1..] {
            let value: f64 = cell.parse().unwrap();
            *cell = (value + 1e-3 * ((i * i + 7 * i) as f64).sin()).to_string();
        }
        cells.join(",") + "\n"
    });
    place.write("coarse.csv", header + &thinned.collect::<String>());
}

// Protects the steps that are chosen: they are reported, kept in the result, taken by a comparison, and repeated as they were then; steps that
// somebody has set stay as they are.
#[test]
fn chosen_steps_are_repeated_and_set_ones_stay() {
    let place = Place::new();
    coarse(&place);
    place.write("p.toml", "model = \"oscillator\"\n[data]\nfile = \"coarse.csv\"\noutputs.x = { deviation = 1e-3 }\n");
    let run = place.good("identify p.toml --out chosen");
    assert!(run.err.contains("time step: 1 step a sample is too coarse: `"), "{}", run.err);
    let first = read(&place, "chosen/result.json");
    let fits = first["time_step"]["chosen"]["fits"].as_array().unwrap();
    let substeps = first["experiments"][0]["substeps"].as_u64().unwrap();
    assert!(fits.len() > 1 && substeps > 1 && fits.last().unwrap()["substeps"] == substeps, "{fits:?}");
    for part in ["time step: with 1 step a sample, `", " chosen, and fitted again", "time step: no parameter shifts"] {
        assert!(run.out.contains(part), "`{part}` is missing in {}", run.out);
    }
    assert!(place.good("identify --from chosen --out again").out.contains("to the last bit as in chosen"));
    assert_eq!(read(&place, "again/result.json")["time_step"], first["time_step"]);
    let begun = place.json("identify p.toml --from chosen --json", 0);
    assert_eq!(begun["experiments"][0]["substeps"], substeps);
    place.good("validate chosen --data coarse.csv --out compared");
    // one that had taken no finer steps is repeated without them
    let given = place.json("identify p.toml --substeps 1 --json", 0);
    assert_eq!((&given["experiments"][0]["substeps"], &given["time_step"]["chosen"]), (&1.into(), &Value::Null));
    let message = given["statistics_warnings"].to_string();
    assert!(message.contains("time step: ") && message.contains("use substeps = "), "{message}");
    let mut coarse = given.clone();
    coarse["command"] = first["command"].clone();
    coarse["time_step"]["chosen"] = serde_json::json!({"fits": [fits[0]], "refused": "no memory"});
    place.write("coarse.json", coarse.to_string());
    let again = place.json("identify --from coarse.json --json", 0);
    assert_eq!((&again["experiments"][0]["substeps"], found(&again)), (&1.into(), found(&given)));
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
    let arguments =
        ["identify oscillator --start d=0.8 --fix d --out results", "identify oscillator --png --out results"];
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
    for round in 0..5 {
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
