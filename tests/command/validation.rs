//! Results of fits on other records: `validate`, `validation = true`, and `--from`.

use crate::run::{Place, csv, times};
use serde_json::Value;

/// Times of a free oscillation that begins at `x0` m, 1 ms apart, and where it is then.
fn swing(place: &Place, x0: f64) -> Vec<[f64; 2]> {
    place.write("still.csv", csv("t,F", times(4001, 1e-3), |_| vec![0.0]));
    place.good(&format!("simulate oscillator --data still.csv --set x0={x0},c=33,d=0.5 --out swing"));
    let cells = |line: &str| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>();
    place.read("swing/outputs.csv").lines().skip(1).map(cells).map(|row| [row[0], row[2]]).collect()
}

/// A record of every so many of these times, with an error of 1 mm.
fn record(place: &Place, name: &str, swing: &[[f64; 2]], every: usize) {
    let (rows, step) = (swing.len().div_ceil(every), 1e-3 * every as f64);
    let row = |t: f64| vec![0.0, swing[(t / 1e-3).round() as usize][1] + 1e-3 * (12345.0 * t * t).sin()];
    place.write(name, csv("t,F,x", times(rows, step), row));
}

const PROBLEM: &str = "model = \"oscillator\"
[data]
file = \"fine.csv\"
[parameters]
c = { start = 30.0 }
d = { start = 0.4 }
x0 = { local = true, start_column = \"x\" }
";

/// The start of the file of states that `simulate` has written to a folder: time, and the coordinate.
fn begun(place: &Place, folder: &str) -> f64 {
    let states = place.read(&format!("{folder}/states.csv"));
    states.lines().nth(1).unwrap().split(',').nth(1).unwrap().parse().unwrap()
}

fn rmse(validation: &Value) -> f64 {
    validation["validation"][0]["rmse"].as_f64().unwrap()
}

// Protects whoever validates with a record whose samples are further apart: steps stay as long as those of the fit, or it is said that they are too long; and a
// local start is that of the new record.
#[test]
fn records_of_fewer_samples_take_no_longer_steps() {
    let place = Place::new();
    record(&place, "fine.csv", &swing(&place, 0.1), 10);
    record(&place, "coarse.csv", &swing(&place, 0.05), 200);
    place.write("problem.toml", PROBLEM);
    place.good("identify problem.toml --out found");
    let run = place.good("validate found --data coarse.csv --out validated");
    assert!(
        run.err.contains("longer than those of the fit") && run.err.contains("each is divided by 20"),
        "{}",
        run.err
    );
    assert!(!run.err.contains("too coarse"), "{}", run.err);
    let validated: Value = serde_json::from_str(&place.read("validated/validation.json")).unwrap();
    assert!(rmse(&validated) < 1.5e-3, "{validated:#}");
    let asked = place.good("validate found --data coarse.csv --substeps 1 --out validated");
    let said = "warning: validation: time steps are too coarse: the RMSE of `x` is ";
    assert!(asked.err.contains(said) && asked.err.contains("with steps half as long"), "{}", asked.err);
    // beside a fit whose own steps are fine
    let two = PROBLEM.replace("[data]\nfile = \"fine.csv\"\n", "");
    let experiments = "[[experiment]]\nfile = \"fine.csv\"\n[[experiment]]\nfile = \"coarse.csv\"\nvalidation = true\n";
    place.write("two.toml", format!("{two}{experiments}[integrator]\nsubsteps = 2\n"));
    let run = place.run("identify two.toml --out both");
    assert!(run.err.contains("validation: time steps are too coarse: the RMSE of `x@coarse` is "), "{}", run.err);
}

// Protects the meaning of values that are taken from a result: what the files of the fit said, in the units of then, or a sentence.
#[test]
fn what_has_changed_since_the_fit_is_told() {
    let place = Place::new();
    record(&place, "fine.csv", &swing(&place, 0.1), 10);
    record(&place, "other.csv", &swing(&place, 0.05), 10);
    place.write("problem.toml", PROBLEM);
    place.good("identify problem.toml --out found");
    place.write("problem.toml", format!("# a word\n{PROBLEM}"));
    let parts = ["problem file problem.toml, which has changed since", "--problem FILE.toml"];
    place.refused("validate found --data other.csv", &parts);
    place.good("validate found --data other.csv --problem problem.toml --out validated");

    place.good("new plain slide");
    let model = place.read("slide.toml");
    place.good("simulate slide.toml --out run");
    let rows = place.read("run/outputs.csv");
    place.write("slide.csv", &rows);
    place.run("identify slide.toml --data slide.csv --out fitted");
    let result: Value = serde_json::from_str(&place.read("fitted/result.json")).unwrap();
    let parameter = result["parameters"][0].clone();
    place.write("slide.toml", format!("{model}\n# changed\n"));
    for arguments in ["validate fitted --data slide.csv --out v", "gradient slide.toml --from fitted --data slide.csv"]
    {
        let run = place.run(arguments);
        let said = "warning: slide.toml has changed since fitted/result.json was found";
        assert!(run.err.contains(said), "{arguments}: {}", run.err);
    }
    let mut other = result.clone();
    other["parameters"][0]["unit"] = "furlong".into();
    place.write("fitted/result.json", other.to_string());
    let (name, unit) = (parameter["name"].as_str().unwrap(), parameter["unit"].as_str().unwrap());
    let parts =
        [&*format!("the value of `{name}` in the result: it is in furlong, and the model has `{name}` in {unit}")];
    place.refused("simulate slide.toml --from fitted --json", &parts);
    place.refused("validate fitted --data slide.csv --out w", &parts);
}

// Protects values of several experiments: a run takes those of its own experiment, and what the command line sets goes over all.
#[test]
fn local_values_belong_to_their_experiments() {
    let place = Place::new();
    record(&place, "fine.csv", &swing(&place, 0.1), 10);
    record(&place, "other.csv", &swing(&place, 0.05), 10);
    let two = PROBLEM.replace("[data]\nfile = \"fine.csv\"\n", "");
    let [first, second] = ["[[experiment]]\nfile = \"fine.csv\"\n", "[[experiment]]\nfile = \"other.csv\"\n"];
    place.write("two.toml", format!("{two}{first}{second}")).write("turned.toml", format!("{two}{second}{first}"));
    place.good("identify two.toml --out found");
    let from = |arguments: &str| {
        let run = place.good(&format!("simulate {arguments} --from found --out run"));
        (begun(&place, "run"), run.err)
    };
    assert!((from("two.toml").0 - 0.1).abs() < 1e-3 && (from("turned.toml").0 - 0.05).abs() < 1e-3);
    assert_eq!(from("two.toml --set x0=0.3").0, 0.3);
    // pieces of one record have names of their own, and sensors may be local, too
    let first = place.read("fine.csv");
    let later = place.read("other.csv");
    let moved = later.lines().skip(1).map(|line| {
        let (t, rest) = line.split_once(',').unwrap();
        format!("{},{rest}\n", t.parse::<f64>().unwrap() + 100.0)
    });
    place.write("seg.csv", first + &moved.collect::<String>());
    let pieces = PROBLEM.replace("fine.csv\"", "seg.csv\"\nsplit = \"at-gaps\"");
    place.write("pieces.toml", pieces);
    place.good("identify pieces.toml --out cut");
    let run = place.good("simulate pieces.toml --from cut --out run");
    assert!((begun(&place, "run") - 0.1).abs() < 1e-3, "{}", run.err);
    assert!(run.err.contains("`x0@seg_2` is a value of an experiment that is not here"), "{}", run.err);
    let biased = format!("[[experiment]]\nfile = \"fine.csv\"\nparameters.bias_x = {{ start = 0.25 }}\n{second}");
    let two = two.replace(
        "[parameters]",
        "[data]\noutputs.x = { sensor = [\"bias\"] }\n[parameters]\nbias_x = { local = true }",
    );
    place.write("biased.toml", format!("{two}{biased}"));
    let seen = |arguments: &str| {
        let document = place.json(&format!("simulate biased.toml --json {arguments}"), 0);
        document["rmse"]["x"].as_f64().unwrap()
    };
    let [none, own, other] = ["--set bias_x@fine=0", "", "--set bias_x@fine=0.5"].map(seen);
    assert!((own - 0.25).abs() < 0.2 * none + 0.1 && other > own && own > none, "{none} {own} {other}");
    let (own, said) = from("oscillator");
    assert!(
        own == 0.1 && said.contains("values of experiments that are not here are left out, such as `x0@fine`"),
        "{said}"
    );
}
