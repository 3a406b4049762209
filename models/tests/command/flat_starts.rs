//! Ends that look like a minimum, and are none.

use crate::run::{Place, csv, times};

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
