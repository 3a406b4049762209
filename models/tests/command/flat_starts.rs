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
    let told = place.run("identify oscillator --start d=1e12 --out found").out;
    assert!(told.contains("`d` has no influence at its start, 1e12 N s/m, but it has at 0.8 N s/m"), "{told}");
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
}
