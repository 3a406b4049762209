//! Ends that look like a minimum, and are none.

use crate::run::{Place, csv, times, value};

/// Protects exit codes from starts where the cost is flat: a damping so large that nothing moves has no influence, the search stays there, and
/// neither the exit code nor the headline, the result or the report call that a success; each names the parameter and the remedy.
#[test]
fn a_flat_start_is_no_success() {
    for start in ["d=1e12", "d=1e9,c=30"] {
        let place = Place::new();
        let run = place.run(&format!("identify oscillator --start {start} --out found --report"));
        assert_eq!(run.code, 1, "{start}\n{}", run.out);
        for part in ["NOT converged", "--starts"] {
            assert!(run.out.contains(part), "{start}: `{part}` is missing in\n{}", run.out);
        }
        let result: serde_json::Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
        assert_eq!(result["converged"], false, "{start}");
        assert!(result["reason"].as_str().unwrap().contains("--starts"), "{}", result["reason"]);
        assert!(place.read("found/report.html").contains("the search has not converged"), "{start}");
    }
    let place = Place::new();
    let message = place.run("identify oscillator --start d=1e12 --out found").out;
    assert!(message.contains("`d` has no influence at its start, 1e12 N s/m, but it has at 0.8 N s/m"), "{message}");
    place.write("flat.toml", "model = \"oscillator\"\n[parameters]\nd = { start = 1e12 }\n");
    let check = place.run("check flat.toml");
    assert!((check.out + &check.err).contains("`d` has no influence at its start"), "check says nothing of the start");
}

/// Protects fits of noise from being called failures: a record that holds nothing but noise is explained by nothing, as it should be; and
/// so are parameters without influence anywhere, which are only named.
#[test]
fn what_cannot_be_explained_is_no_failure() {
    let place = Place::new();
    let noise = |t: f64| ((t * 1e4).sin() * 43758.5453).fract() - 0.5 * ((t * 1e4).sin() * 43758.5453).signum();
    place.write("noise.csv", csv("t,F,x", times(400, 0.01), |t| vec![0.0, 1e-3 * noise(t)]));
    let problem = "model = \"oscillator\"\n[data]\nfile = \"noise.csv\"\n[data.inputs]\nF = { column = \"F\" }\n[data.outputs]\n\
                   x = { column = \"x\" }\n[parameters]\nc = { free = false }\nd = { free = false }\nx0 = { start = 0.05, free = true }\n\
                   v0 = { start = 0.1, free = true }\n";
    place.write("noise.toml", problem);
    let run = place.run("identify noise.toml --out found");
    assert!(run.code == 0 && run.out.contains("\nconverged"), "{}{}", run.out, run.err);
    assert!(run.out.contains("nothing of what the record of `x` (R^2 = 0.0"), "{}", run.out);
    assert!(!run.out.contains("the model explains what the data hold"), "{}", run.out);
}

/// Protects the person whose record holds one wrong sample, or nothing: a fit to the sample alone is no success, and the sample is named with what it is and
/// what to do about it; a record that does not vary is reported.
#[test]
fn wrong_samples_and_empty_records_are_told() {
    let place = Place::new();
    let noise = |t: f64| ((t * 1e4).sin() * 43758.5453).fract() - 0.5 * ((t * 1e4).sin() * 43758.5453).signum();
    let spike = |t: f64| if (t - 1.23).abs() < 1e-9 { 1e9 } else { 1e-3 * noise(t) };
    for (name, record) in [("spike", &spike as &dyn Fn(f64) -> f64), ("zero", &|_| 0.0), ("rest", &|_| 2.5)] {
        place.write(&format!("{name}.csv"), csv("t,F,x", times(400, 0.01), |t| vec![0.0, record(t)]));
        let problem = format!(
            "model = \"oscillator\"\n[data]\nfile = \"{name}.csv\"\n[data.outputs]\nx = {{ column = \"x\" }}\n[parameters]\n\
             x0 = {{ start = 0.05, free = true }}\nv0 = {{ start = 0.1, free = true }}\n"
        );
        place.write(&format!("{name}.toml"), problem);
    }
    let run = place.run("identify spike.toml --out found");
    assert_eq!(run.code, 1, "{}", run.out);
    let parts =
        ["NOT converged", "x = 1e9 m at t = 1.23 s", "standard deviations off", "loss = \"huber\"", "leave it out"];
    parts.iter().for_each(|part| assert!(run.out.contains(part), "`{part}` is missing in\n{}", run.out));
    let result: serde_json::Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    assert_eq!(result["residual_tests"][0]["largest"]["value"], 1e9);
    for (name, message) in [("zero", "zero at all 400 samples"), ("rest", "2.5 m in magnitude at all 400 samples")] {
        let run = place.run(&format!("identify {name}.toml --out found"));
        assert!(run.out.contains(message) && run.out.contains("does not vary"), "{name}: {}", run.out);
    }
}

/// Protects the person whose record is a column of zeros, or of one number: whatever lets the model rest fits it, so that no fit to it is a success,
/// under a force or without one, and `check` says so before; rests under different loads are a measurement of stiffness.
#[test]
fn records_that_do_not_vary_are_no_success() {
    let place = Place::new();
    let forced = |t: f64| 5.0 * (4.1 * t).sin();
    for (force, value) in [(&forced as &dyn Fn(f64) -> f64, 0.0), (&|_| 0.0, 0.0), (&forced, -0.3)] {
        place.write("still.csv", csv("t,F,x", times(200, 0.01), |t| vec![force(t), value]));
        place.write(
            "still.toml",
            "model = \"oscillator\"\n[data]\nfile = \"still.csv\"\n[parameters]\nc = { start = 20.0 }\n",
        );
        let run = place.run("identify still.toml --out found");
        assert_eq!(run.code, 1, "{}{}", run.out, run.err);
        for part in [
            "NOT converged",
            "a fit to this record says nothing",
            "nothing that is compared varies",
            "is it the right column?",
        ] {
            assert!(run.out.contains(part), "`{part}` is missing in\n{}", run.out);
        }
        let result: serde_json::Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
        assert_eq!(result["converged"], false);
        let check = place.run("check still.toml");
        assert!(check.code == 1 && check.out.contains("WRONG: nothing that is compared varies"), "{}", check.out);
    }
    let mut experiments = String::new();
    for (name, force) in [("light", 2.0), ("heavy", 6.6)] {
        place.write(&format!("{name}.csv"), csv("t,F,x", times(50, 0.01), |_| vec![force, force / 33.0]));
        experiments += &format!("[[experiment]]\nfile = \"{name}.csv\"\ninitial_state = \"equilibrium\"\n");
    }
    let parameters =
        "[parameters]\nc = { start = 20.0 }\nd = { free = false }\nx0 = { free = false }\nv0 = { free = false }\n";
    place.write("loads.toml", format!("model = \"oscillator\"\n{experiments}{parameters}"));
    let found = place.json("identify loads.toml --json", 0);
    assert!((value(&found, "c") - 33.0).abs() < 1e-6, "{found}");
}

/// Protects the person whose logger writes a number where it has none: repeated far outside all others it is told with its value, its count and its first
/// time, and a fit that it outweighs is no success; without these samples, or with a robust loss, the fit is one. An input with such numbers is told, too.
#[test]
fn numbers_for_missing_samples_are_told() {
    let place = Place::new();
    let force = |t: f64| 5.0 * ((4.1 * t).sin() + (6.7 * t).sin());
    place.write("force.csv", csv("t,F", times(400, 0.01), |t| vec![force(t)]));
    place.good("simulate oscillator --data force.csv --set c=33,d=0.8 --out truth");
    let text = place.read("truth/outputs.csv");
    let column = text.lines().next().unwrap().split(',').position(|name| name.contains("x [")).unwrap();
    let x: Vec<f64> = text.lines().skip(1).map(|line| line.split(',').nth(column).unwrap().parse().unwrap()).collect();
    let record = |cell: &str| {
        let row = |(i, x): (usize, &f64)| {
            let (t, is_lost) = (0.01 * i as f64, (120..120 + 13 * 7).contains(&i) && (i - 120) % 7 == 0);
            let own = if is_lost { cell.to_string() } else { format!("{:.6}", x + 1e-4 * (t * 1e4).sin()) };
            format!("{t},{},{own}\n", force(t))
        };
        "t,F,x\n".to_string() + &x.iter().enumerate().map(row).collect::<String>()
    };
    let problem = |more: &str| {
        format!(
            "model = \"oscillator\"\n[data]\nfile = \"record.csv\"\noutputs.x = {{ {more} }}\n[parameters]\nc = {{ start = 30.0 }}\nd = {{ start = 0.5 }}\n"
        )
    };
    for cell in ["9999", "-999.9", "32767", "1e6"] {
        place.write("record.csv", record(cell));
        place.write("problem.toml", problem("deviation = 1e-4"));
        let run = place.run("identify problem.toml --out found");
        assert_eq!(run.code, 1, "{cell}: {}", run.out);
        for part in
            ["NOT converged", "13 samples of `x` are ", "the first at t = 1.2 s", "empty cells", "loss = \"huber\""]
        {
            assert!(run.out.contains(part), "{cell}: `{part}` is missing in\n{}", run.out);
        }
        let check = place.run("check problem.toml").out;
        assert!(check.contains("13 samples of `x` are "), "{check}");
        place.write("problem.toml", problem("deviation = 1e-4, loss = \"huber\""));
        let robust = place.json("identify problem.toml --json", 0);
        assert!((value(&robust, "c") - 33.0).abs() < 0.3, "{cell}: {robust}");
    }
    place.write("record.csv", record(""));
    place.write("problem.toml", problem("deviation = 1e-4"));
    let run = place.good("identify problem.toml --json");
    assert!(!run.err.contains("missing values"), "{}", run.err);
    // an input drives the model with whatever it has
    let lost = |t: f64| if t > 1.0 && t < 1.05 { -9999.0 } else { force(t) };
    place.write("force.csv", csv("t,F", times(400, 0.01), |t| vec![lost(t)]));
    let run = place.good("simulate oscillator --data force.csv --out truth");
    assert!(run.err.contains("samples of `F` are -9999 N") && run.err.contains("drives the model"), "{}", run.err);
}
