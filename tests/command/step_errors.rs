//! What the size of time steps makes wrong: warnings of steps that are too large, and `--tolerance`.

use crate::run::{Place, csv, times};
use serde_json::Value;

/// The largest error of the coordinates beside their sizes in `simulation.json`.
fn worst(document: &Value) -> f64 {
    let coordinates = document["time_step_error"]["coordinates"].as_array().unwrap();
    coordinates.iter().map(|error| error["relative"].as_f64().unwrap()).fold(0.0, f64::max)
}

// Protects whoever takes a step that is too large: the exit code is calm, so a sentence must not be.
#[test]
fn steps_that_are_too_large_are_told() {
    let place = Place::new();
    for (arguments, said) in [
        (
            "simulate double_pendulum --step 0.1",
            "steps are too large: estimated error of `theta2` 456 rad from 0.9 s on",
        ),
        ("simulate rigid_body --step 0.3", "steps are too large: estimated error of `body.e2` 1.6 from "),
        (
            "simulate pendulum --step 0.1",
            "steps are too large: estimated error of `y` 2 m from 2.7 s on, beside values up to 0.8 m",
        ),
        ("simulate cart_pole --set m_cart=1e-6", "steps are too large: estimated error of `theta` "),
        (
            "simulate top --step 0.05",
            "steps are too large, or the run can hardly be solved: with steps half as long, it fails",
        ),
        ("gradient double_pendulum --step 0.1", "steps are too large"),
        ("draw pendulum --step 0.1 --at 2", "steps are too large"),
        // coordinates are right, and what is compared is not
        ("gradient quarter_car --step 0.02", "steps are too large: at half the step the cost is "),
    ] {
        let run = place.run(arguments);
        assert_eq!(run.code, 0, "{arguments}: {}", run.err);
        assert!(run.err.contains(&format!("warning: {said}")), "{arguments}: {}", run.err);
    }
    place.refused("simulate slider_crank --set k=2e10", &["did not converge", "take a smaller step"]);
}

// Protects the trust in that warning: it is silent on every model's own settings.
#[test]
fn own_settings_are_not_warned_of() {
    let place = Place::new();
    let registry = costate_models::registry().unwrap();
    for entry in registry.entries() {
        let run = place.run(&format!("simulate {} --json", entry.name()));
        assert!(run.code == 0 && !run.err.contains("steps"), "{}: {}", entry.name(), run.err);
        let document: Value = serde_json::from_str(&run.out).unwrap();
        assert_eq!(document["time_step_error"]["too_large"], false, "{}", entry.name());
        assert!(worst(&document) < 0.05, "{}: {}", entry.name(), worst(&document));
    }
}

// Protects `--tolerance`: the error is below it, steps are told with their sizes, derivatives are those of the steps that were taken, and the
// same is had from a problem file.
#[test]
fn tolerances_are_kept() {
    let place = Place::new();
    for (model, tolerance) in [("pendulum", 1e-4), ("robot_arm", 1e-3), ("emps", 1e-5), ("triple_pendulum", 1e-4)] {
        let run = place.good(&format!("simulate {model} --tolerance {tolerance:e} --json"));
        assert!(
            run.err.contains(" were chosen; estimated error ")
                && run.err.contains("derivatives are exact for these steps"),
            "{}",
            run.err
        );
        let worst = worst(&serde_json::from_str(&run.out).unwrap());
        assert!(worst <= tolerance && worst > 0.05 * tolerance, "{model}: {worst} for {tolerance}");
    }
    let gradients = |arguments: &str| {
        let document = place.json(&format!("gradient {arguments} --json"), 0);
        let list = |entries: &Value| {
            entries.as_array().unwrap().iter().map(|x| x["value"].as_f64().unwrap()).collect::<Vec<_>>()
        };
        document["methods"].as_array().unwrap().iter().map(|method| list(&method["gradient"])).collect::<Vec<_>>()
    };
    let of_options = gradients("emps --tolerance 1e-4 --method all");
    let largest = of_options[0].iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
    for (adjoint, tangent) in of_options[0].iter().zip(&of_options[1]) {
        assert!((adjoint - tangent).abs() < 1e-11 * largest, "{adjoint} {tangent}");
    }
    // steps are those of the point that is asked for
    let at = |tolerance: &str| {
        let document = place.json(&format!("gradient oscillator --set c=1000 --tolerance {tolerance} --json"), 0);
        document["gradient"].as_array().unwrap().iter().map(|x| x["value"].as_f64().unwrap()).collect::<Vec<_>>()
    };
    let (rough, fine) = (at("1e-3"), at("1e-5"));
    for (rough, fine) in rough.iter().zip(&fine) {
        assert!((rough - fine).abs() < 0.1 * fine.abs(), "{rough} {fine}");
    }
    // and need not divide anything
    place.good("simulate pendulum --tolerance 1e-3 --end 3.9995 --json");
    place.write("axis.toml", "model = \"emps\"\n[integrator]\ntolerance = 1e-4\n");
    assert_eq!(gradients("axis.toml --method all"), of_options);
}

// Protects fits with a tolerance: steps meet the samples of a record, and are shorter where the motion asks for it; sensors that filter and
// are late see what they see on even steps; derivatives are exact.
#[test]
fn records_are_met_by_uneven_steps() {
    let place = Place::new();
    place.good("simulate oscillator --set c=33,d=0.5 --step 1e-4 --end 2 --out truth");
    let table = place.read("truth/outputs.csv");
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let x = head.iter().position(|head| head.starts_with("x [")).unwrap();
    let row = |(i, line): (usize, &str)| format!("{},{}\n", i as f64 / 100.0, line.split(',').nth(x).unwrap());
    let rows: String = table.lines().skip(1).step_by(100).enumerate().map(row).collect();
    place.write("x.csv", format!("t,x\n{rows}"));
    place.write(
        "problem.toml",
        "model = \"oscillator\"\n[data]\nfile = \"x.csv\"\ninputs = {}\noutputs.x = { deviation = 1e-3, sensor = [\"delay\"], low_pass = 20.0 }\n\
         [integrator]\ntolerance = 1e-6\n[parameters]\nc = { start = 30.0 }\nd = { start = 0.4 }\n",
    );
    let checked = place.json("check problem.toml --json", 0);
    let experiment = &checked["experiments"][0];
    assert_eq!((experiment["samples"].as_u64(), experiment["substeps"].as_u64()), (Some(201), None));
    assert!(checked["steps"].as_u64().unwrap() > 1000, "{checked}");
    assert!(place.good("check problem.toml --derivatives").out.contains("all agree"));
    let found = place.json("identify problem.toml --json", 0);
    for (name, truth, allowed) in [("c", 33.0, 1e-4), ("d", 0.5, 1e-4), ("delay_x", 0.0, 1e-6)] {
        let value = crate::run::value(&found, name);
        assert!((value - truth).abs() < allowed, "{name}: {value}");
    }
}

// Protects whoever asks for what cannot be.
#[test]
fn wrong_tolerances_get_a_sentence() {
    let place = Place::new();
    place.write("record.csv", "t,F,x\n0,0,0\n0.1,0,0\n0.2,0,0\n");
    place.write("both.toml", "model = \"oscillator\"\n[integrator]\nstep = 1e-3\ntolerance = 1e-3\n");
    for (arguments, parts) in [
        ("simulate top --tolerance 0", ["the tolerance", "0 is not positive", "1e-4"]),
        ("simulate top --tolerance -1e-3", ["the tolerance", "-0.001 is not positive", "1e-4"]),
        ("simulate top --tolerance 1e-15", ["the tolerance", "1e-15 is no error above round-off", "1e-4"]),
        ("simulate top --tolerance 1", ["the tolerance", "as large as the motion", "1e-4"]),
        (
            "simulate pendulum --tolerance 1e-4 --scheme newmark",
            ["the tolerance", "0000 steps have been taken, and about ", "another scheme"],
        ),
        ("simulate top --tolerance 1e-11", ["the tolerance", "steps would be taken", "larger error"]),
        (
            "simulate top --tolerance 1e-3 --step 0.1",
            ["a tolerance of 0.001", "a step of 0.1 s is given, too", "one of them"],
        ),
        ("gradient both.toml", ["both.toml, line 4", "a step of 0.001 s is given, too", "one of them"]),
        (
            "simulate cart_pole --set m_cart=1e-6 --tolerance 1e-3",
            ["steps would have to be shorter", "local error of `x`", "larger error"],
        ),
        (
            "identify oscillator --data record.csv --tolerance 1e-3 --substeps 2",
            ["a tolerance of 0.001", "substeps = 2 is given, too", "one of them"],
        ),
        ("steps top --tolerance 1e-3", ["a tolerance of 0.001", "even steps", "leave it out"]),
        ("schemes top --tolerance 1e-3", ["a tolerance of 0.001", "even steps", "leave it out"]),
        ("control overhead_crane --tolerance 1e-3", ["a tolerance of 0.001", "signals", "leave it out"]),
    ] {
        place.refused(arguments, &parts);
    }
}

// Protects records that are sampled more often than steps are needed: steps pass over the samples, the fit is as good as the tolerance, its gradients
// are exact, and its result can be repeated to the last bit.
#[test]
fn dense_records_need_no_dense_steps() {
    let place = Place::new();
    place.good("simulate double_pendulum --step 5e-4 --out dense");
    let document = |out: &str| -> Value { serde_json::from_str(out).unwrap() };
    for (how, least, most) in [("--tolerance 1e-4", 300, 700), ("--step 0.0017", 589, 589)] {
        let arguments = format!("identify double_pendulum --data dense/outputs.csv {how} --out fit --json");
        let found = place.run(&arguments);
        let result = document(&found.out);
        let steps = result["experiments"][0]["steps"].as_u64().unwrap();
        assert!((least..=most).contains(&steps), "{how}: {steps} steps");
        assert_eq!(result["experiments"][0]["outputs"][0]["samples"], 2001, "{how}");
        for parameter in result["parameters"].as_array().unwrap() {
            let (value, truth) = (parameter["value"].as_f64().unwrap(), parameter["nominal"].as_f64().unwrap());
            assert!((value - truth).abs() < 3e-3 * truth.abs().max(1.0), "{how}: {parameter}");
        }
        let again = place.run("identify --from fit --out again --json");
        assert_eq!(document(&again.out)["parameters"], result["parameters"], "{how}: {}", again.err);
        let gradient =
            place.good(&format!("gradient double_pendulum --data dense/outputs.csv {how} --from fit --method all"));
        // a tolerance chooses steps anew at the values found
        let message = if how.starts_with("--step") { "589 steps of 0.00169" } else { " steps, hht" };
        assert!(gradient.out.contains(message), "{how}: {}", gradient.out);
    }
    // what half the steps make is reported for them, too
    let table = place.good("steps double_pendulum --data dense/outputs.csv --step 0.005");
    assert!(table.out.contains("200"), "{}", table.out);
}

// Protects the first sentence that is read: what only the error of coarse steps tells apart is looked at with the steps that the fit begins with, which are
// finer here, and tell all parameters.
#[test]
fn nothing_is_said_of_steps_that_a_fit_does_not_take() {
    let place = Place::new();
    place.good("simulate pendulum --step 0.001 --json --out sim");
    let outputs = place.read("sim/outputs.csv");
    // a_x and a_y every 0.25 s, of periods of 1.9 s
    let columns = outputs.lines().skip(1).step_by(250).map(|line| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{},{},{}\n", cells[0], cells[2], cells[3])
    });
    place.write("coarse.csv", format!("t,a_x,a_y\n{}", columns.collect::<String>()));
    place.write(
        "coarse.toml",
        "model = \"pendulum\"\n[data]\nfile = \"coarse.csv\"\n[parameters]\nL = { start = 0.75 }\n",
    );
    let run = place.run("identify coarse.toml --out found");
    assert!(run.err.contains("chosen for the first fit"), "the test misses its point: {}", run.err);
    assert!(!run.err.contains("error of the time steps tells"), "{}", run.err);
    assert!(!run.out.contains("error of the time steps tells"), "{}", run.out);
}

// Protects `gradient` at an optimum: what is left of the gradient there is no measure of its error; the residuals are one, in the sentence and in the document.
#[test]
fn a_gradient_that_vanishes_is_no_measure() {
    let place = Place::new();
    place.good("simulate oscillator --step 5e-3 --out run");
    let run = place.read("run/outputs.csv");
    let cells = |line: &str| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>();
    let rows: Vec<Vec<f64>> = run.lines().skip(1).map(cells).collect();
    // a, x, v and F, of which x is measured with an error
    let row = |t: f64| {
        let row = &rows[(t / 5e-3).round() as usize];
        vec![row[4], row[2] + 0.02 * (211.0 * t).sin()]
    };
    place.write("record.csv", csv("t,F,x", times(rows.len(), 5e-3), row));
    place.write("problem.toml", "model = \"oscillator\"\n[data]\nfile = \"record.csv\"\n[integrator]\nsubsteps = 1\n");
    place.good("identify problem.toml --out found");
    let at_optimum = place.good("gradient problem.toml --from found");
    assert!(!at_optimum.err.contains("too large"), "{}", at_optimum.err);
    assert!(at_optimum.out.contains("% of the largest that residuals of this size allow"), "{}", at_optimum.out);
    let beside = |arguments: &str| {
        place.json(&format!("gradient problem.toml {arguments} --json"), 0)["half_step"]["beside"].clone()
    };
    assert_eq!([beside("--from found"), beside("--set c=20")], ["largest-of-residuals", "largest-entry"]);
}
