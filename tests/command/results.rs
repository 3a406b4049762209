//! What programs read from the command: JSON, files, and how a search ends.

use crate::run;
use run::{Place, csv, times, value};
use serde_json::Value;
use std::process::Command;

#[track_caller]
fn has_keys(document: &Value, keys: &[&str]) {
    for key in keys {
        assert!(document.get(key).is_some_and(|value| !value.is_null()), "`{key}` is missing in {document:#}");
    }
}

// Protects programs that read the result: one document on standard output with these keys, whatever the method.
#[test]
fn every_method_gives_one_document() {
    let place = Place::new();
    for method in ["bfgs", "l-bfgs", "dfp", "steepest-descent", "steepest-descent-fixed"] {
        // steepest descent is slow, so that it may end at its limit
        let run =
            place.run(&format!("identify oscillator --method {method} --start c=38,d=0.7 --max-evaluations 60 --json"));
        assert!(run.code == 0 || run.code == 1, "{method}: {}", run.err);
        let found: Value = serde_json::from_str(&run.out).unwrap();
        let keys = ["model", "method", "converged", "reason", "cost", "iterations", "evaluations", "seconds"];
        has_keys(&found, &keys);
        has_keys(&found, &["parameters", "gradient_norm", "failed_evaluations"]);
        assert_eq!((&found["model"], &found["method"]), (&"oscillator".into(), &method.into()));
        assert_eq!(found["converged"], run.code == 0, "{found:#}");
        let parameters = found["parameters"].as_array().unwrap();
        assert_eq!(parameters.len(), 5);
        parameters.iter().for_each(|p| has_keys(p, &["name", "unit", "start", "value", "status"]));
        if method.contains("bfgs") || method == "dfp" {
            assert_eq!(run.code, 0, "{found:#}");
            assert!((value(&found, "c") - 40.0).abs() < 1e-6 && (value(&found, "d") - 0.8).abs() < 1e-6, "{found:#}");
        }
    }
    assert!(place.files().is_empty(), "--json alone writes no files, but there are {:?}", place.files());
}

// Protects readers from figures of round-off: a fit of a simulation by itself has no ellipses and no residuals to show, one of noise has.
#[test]
fn noise_free_fits_have_no_figures_of_noise() {
    let place = Place::new();
    place.good("identify oscillator --out exact");
    place.good("identify oscillator --noise-level 0.02 --noise-seed 1 --out noisy");
    for name in ["ellipses.svg", "residuals_a.svg"] {
        assert!(!place.path(&format!("exact/{name}")).exists(), "{name}");
        assert!(place.path(&format!("noisy/{name}")).exists(), "{name}");
    }
    assert!(place.path("exact/correlation.svg").exists());
}

// Protects programs that read gradients: the keys, times only when asked for, and the three methods beside each other.
#[test]
fn gradients_are_one_document() {
    let place = Place::new();
    let keys = ["model", "step", "scheme_settings", "steps", "method", "cost", "gradient"];
    let plain = place.json("gradient oscillator --json", 0);
    has_keys(&plain, &keys);
    assert!(plain["seconds_cost"].is_null() && plain["seconds_cost_and_gradient"].is_null());
    let timed = place.json("gradient oscillator --json --repeat 3 --method all --at c=30,d=0.5", 0);
    has_keys(&timed, &keys);
    has_keys(&timed, &["seconds_cost", "seconds_cost_and_gradient"]);
    assert!(timed["seconds_cost"].as_f64().unwrap() > 0.0);
    timed["gradient"].as_array().unwrap().iter().for_each(|entry| has_keys(entry, &["name", "unit", "value"]));
    let slope = |method: usize| timed["methods"][method]["gradient"][1]["value"].as_f64().unwrap();
    assert!((slope(1) / slope(0) - 1.0).abs() < 1e-10 && (slope(2) / slope(0) - 1.0).abs() < 1e-5, "{timed:#}");
    let nominal = place.json("gradient oscillator --json --at nominal", 0);
    assert_eq!(nominal["cost"], 0.0);
}

// Protects the files of a run: all are there, whole, and result.json holds what --json prints.
#[test]
fn results_are_written() {
    let place = Place::new();
    let printed = place.json("identify oscillator --out results --json", 0);
    let written: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
    for key in ["cost", "parameters", "reason", "evaluations"] {
        assert_eq!(printed[key], written[key], "{key}");
    }
    let files = place.files();
    for name in ["history.csv", "outputs.csv", "cost.svg", "output_a.svg", "error_a.svg", "parameters.svg"] {
        assert!(files.contains(&format!("results/{name}")), "{name} is not among {files:?}");
    }
    // bitmaps on request; the pendulum has one figure only
    place.good("simulate pendulum --step 0.1 --out swing --png");
    let files = place.files();
    for name in ["states.csv", "outputs.csv", "simulation.json", "outputs.svg", "outputs.png"] {
        assert!(files.contains(&format!("swing/{name}")), "{name} is not among {files:?}");
    }
    assert!(!files.iter().any(|name| name.contains(".costate")), "debris: {files:?}");
    assert!(place.read("results/history.csv").starts_with("iteration,evaluations,cost,gradient_norm,m [kg],c [N/m]"));
}

// Protects synthetic noise: the same seed gives the same result, another seed another; seed and deviations stand in the result,
// the command line goes over the problem file, and residuals are what was added.
#[test]
fn synthetic_noise_is_stated_and_reproducible() {
    let place = Place::new();
    assert!(place.json("identify oscillator --json", 0)["synthetic_noise"].is_null());
    let once = place.json("identify oscillator --noise-level a=0.02 --noise-seed 7 --json", 0);
    let noise = serde_json::json!([{"output": "a", "unit": "m/s^2", "deviation": 0.02, "seed": 7}]);
    assert_eq!(once["synthetic_noise"], noise);
    let residual = once["rmse"]["a"].as_f64().unwrap();
    // of 501 samples
    assert!((residual / 0.02 - 1.0).abs() < 0.15, "{residual}");
    let text = "model = \"oscillator\"\n[cost]\nsynthetic_noise = { seed = 7, level = { a = 0.02 } }\n";
    place.write("problem.toml", text);
    let same = place.json("identify problem.toml --json", 0);
    assert_eq!((value(&once, "c"), &once["chi_square"]), (value(&same, "c"), &same["chi_square"]));
    let other = place.json("identify problem.toml --noise-seed 8 --json", 0);
    assert_eq!(
        (&other["synthetic_noise"][0]["seed"], other["synthetic_noise"][0]["deviation"].as_f64()),
        (&8.into(), Some(0.02))
    );
    assert!((value(&other, "c") - value(&same, "c")).abs() > 1e-6);
    let part = place.good("identify oscillator --noise-level 0.1 --out results");
    assert!(part.err.contains("(seed 1) is added to `a`"), "{}", part.err);
    let error =
        place.json("identify problem.toml --noise-level 0.1 --json", 0)["synthetic_noise"][0]["deviation"].clone();
    assert!(error.as_f64().unwrap() > 0.02, "{error}");
}

// Protects the search from parameters whose simulation fails: those are counted and reported, and the search goes on.
#[test]
fn failing_evaluations_are_counted() {
    let place = Place::new();
    place
        .write("record.csv", csv("t,u,y", times(201, 1e-3), |t| vec![0.1 * (400.0 * t).sin(), 2.0 * (40.0 * t).sin()]));
    // a spring that softens with the displacement drives the mass away
    let arguments = "identify silverbox --data record.csv --start k3=-3 --max-evaluations 40 --json";
    let run = place.run(arguments);
    assert!(run.code == 0 || run.code == 1, "{}", run.err);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    assert!(found["failed_evaluations"].as_u64().unwrap() > 0, "{found:#}");
    let failure = found["first_failure"].as_str().unwrap();
    assert!(failure.contains(" s (step ") && failure.contains("`y`"), "{failure}");
    let start = place.json(&format!("{arguments} --max-evaluations 1").replace("--max-evaluations 40 ", ""), 1);
    assert!(found["cost"].as_f64() < start["cost"].as_f64(), "{found:#}");
}

/// A pipe that nobody reads.
fn closed_pipe() -> std::io::PipeWriter {
    std::io::pipe().unwrap().1
}

const FILES: [&str; 6] = ["result.json", "history.csv", "outputs.csv", "cost.svg", "output_a.svg", "parameters.svg"];

// Protects results from readers that went away, as in `costate .. 2>&1 | head -2`: everything is written, and nothing is said of it.
#[test]
fn closed_pipes_are_quiet_and_cost_nothing() {
    let place = Place::new();
    for (k, (out, err)) in [(true, true), (false, true), (true, false)].into_iter().enumerate() {
        let mut command = place.command(&format!("identify oscillator --out results{k}"));
        if out {
            command.stdout(closed_pipe());
        }
        if err {
            command.stderr(closed_pipe());
        }
        let run = Place::end(&mut command);
        assert_eq!(run.code, 0, "{}{}", run.out, run.err);
        assert!(!run.out.contains("error:") && !run.err.contains("error:"), "{}{}", run.out, run.err);
        FILES.iter().for_each(|name| assert!(place.path(&format!("results{k}/{name}")).is_file(), "{name}"));
    }
    for arguments in ["--help", "models", "simulate nothing", "gradient oscillator", "identify oscillator --json"] {
        let run = Place::end(place.command(arguments).stdout(closed_pipe()).stderr(closed_pipe()));
        assert_eq!(run.code, if arguments.contains("nothing") { 2 } else { 0 }, "{arguments}");
    }
}

#[cfg(target_os = "linux")]
fn full() -> std::fs::File {
    std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap()
}

// Protects against empty files that look like success: every command whose output is lost ends with 1 and says so where it can.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_said() {
    let place = Place::new();
    for arguments in [
        "--help",
        "--version",
        "simulate --help",
        "models",
        "models --names",
        "simulate oscillator",
        "draw pendulum_chain",
        "animate pendulum_chain --fps 2 --step 0.01",
        "gradient oscillator",
        "gradient oscillator --json",
        "hessian oscillator --json",
        "check oscillator",
        "identifiability oscillator",
        "identify oscillator --json",
        "identify oscillator --out results",
    ] {
        let run = Place::end(place.command(arguments).stdout(full()));
        assert_eq!(run.code, 1, "{arguments}: {}", run.err);
        let said = "error: cannot write to standard output: No space left on device";
        assert!(run.err.contains(said) && run.err.contains("free some space"), "{arguments}: {}", run.err);
        // and both: there is no place left to say it
        let run = Place::end(place.command(arguments).stdout(full()).stderr(full()));
        assert_eq!(run.code, 1, "{arguments}");
    }
    FILES.iter().for_each(|name| assert!(place.path(&format!("results/{name}")).is_file(), "{name}"));
    // remarks that are lost are no success either; a document for programs stays one
    let run = Place::end(place.command("identify oscillator --out other").stderr(full()));
    assert_eq!(run.code, 1);
    assert!(run.out.contains("converged: ") && run.out.contains("cannot write to standard error"), "{}", run.out);
    let run = Place::end(place.command("identify oscillator --json").stderr(full()));
    assert_eq!(run.code, 1);
    assert!(serde_json::from_str::<Value>(&run.out).is_ok(), "{}", run.out);
    assert_eq!(Place::end(place.command("simulate nothing").stderr(full())).code, 2);
}

/// A run with so much address space, kB.
#[cfg(target_os = "linux")]
fn limited(place: &Place, kilobytes: usize, arguments: &str) -> run::Run {
    let mut command = Command::new("sh");
    command.args([
        "-c",
        &format!("ulimit -v {kilobytes}; exec \"$0\" {arguments}"),
        env!("CARGO_BIN_EXE_costate-tested"),
    ]);
    Place::end(command.current_dir(place.path("")))
}

// Protects hours of work from an end by the system: what cannot fit is refused before it runs, with bytes needed, bytes there, and what
// to do; by every command.
#[cfg(target_os = "linux")]
#[test]
fn what_does_not_fit_into_memory_is_refused_before_it_runs() {
    let place = Place::new();
    for arguments in [
        "simulate oscillator",
        "gradient oscillator",
        "check oscillator",
        "hessian oscillator",
        "identify oscillator",
        "identify oscillator --json",
        "identifiability oscillator",
        "draw pendulum_chain --at 1",
        "animate pendulum_chain",
    ] {
        for (settings, step) in
            [("--step 1e-12 --end 1e6", "1e-12 s: times of 1.00e18 steps: 8 EB"), ("--step 1e-200 --end 1", "1e-200 s")]
        {
            place.refused(
                &format!("{arguments} {settings}"),
                &[step, " of memory are needed, and ", " are there; use a larger step"],
            );
        }
        // others go on with checkpoints, or write rows as they come
        if !["identify oscillator", "draw pendulum_chain --at 1", "animate pendulum_chain"].contains(&arguments) {
            continue;
        }
        // times and inputs fit, trajectories do not
        let began = std::time::Instant::now();
        let run = limited(&place, 400_000, &format!("{arguments} --step 1e-6 --end 10"));
        assert_eq!(run.code, 2, "{arguments}: {}{}", run.out, run.err);
        let parts = [
            "over 10000000 steps: ",
            " of memory are needed, and ",
            " MB are there; take larger steps, or end earlier",
        ];
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{arguments}: {}", run.err));
        assert!(began.elapsed().as_secs() < 20, "{arguments} ran for {:?}", began.elapsed());
    }
}

// Protects results from figures of an earlier run, and users' own files from every run.
#[test]
fn a_rerun_leaves_no_file_of_the_run_before() {
    let place = Place::new();
    place.write("results/notes.txt", "mine").write("results/old.svg", "mine");
    place.good("identify oscillator --out results --png");
    assert!(place.files().contains(&"results/correlation.png".to_string()));
    place.good("identify oscillator --start d=0.8 --fix d --out results");
    let listed = |name: &str| -> Vec<String> {
        let head: Value = serde_json::from_str(&place.read(&format!("results/{name}"))).unwrap();
        head["files"].as_array().unwrap().iter().map(|name| format!("results/{}", name.as_str().unwrap())).collect()
    };
    let mut own = listed("result.json");
    own.extend(["results", "results/notes.txt", "results/old.svg"].map(String::from));
    own.sort();
    assert_eq!(place.files(), own);
    assert!(!own.iter().any(|name| name.contains("correlation") || name.ends_with("png")), "{own:?}");
    // another command in the same folder adds its own and takes nothing; a picture leaves no old bitmap beside the new figure
    place.good("simulate pendulum --out results");
    place.good("draw pendulum_chain --png --out results");
    let bitmap = std::fs::read(place.path("results/mechanism.png")).unwrap();
    place.good("identify oscillator --start d=0.8 --fix d --out results");
    place.good("draw pendulum_chain --at 0.5 --step 0.01 --out results");
    assert_ne!(std::fs::read(place.path("results/mechanism.png")).unwrap(), bitmap);
    for name in listed("simulation.json").iter().chain(&listed("result.json")) {
        assert!(place.files().contains(name), "{name} is not among {:?}", place.files());
    }
    assert_eq!(place.read("results/old.svg"), "mine");
}

// Protects from half a result: a run that is killed at any time leaves the files of the run before or its own, and the next one clears up.
#[cfg(unix)]
#[test]
fn a_killed_rerun_leaves_one_set() {
    let place = Place::new();
    let content = || -> Vec<(String, Vec<u8>)> {
        let files = place.files().into_iter().filter(|name| name.starts_with("results/") && !name.contains("/."));
        files.map(|name| (name.clone(), std::fs::read(place.path(&name)).unwrap())).collect()
    };
    let (first, second) = ("simulate oscillator --out results", "simulate oscillator --set c=20 --png --out results");
    let began = std::time::Instant::now();
    place.good(second);
    let duration = began.elapsed();
    let new = content();
    place.good(first);
    let old = content();
    assert!(old.len() < new.len());
    for k in 0..7 {
        let mut child = place.command(second).spawn().unwrap();
        std::thread::sleep(duration * k / 5);
        // it may have ended
        let _ = child.kill();
        child.wait().unwrap();
        let left = content();
        let headless = !left.iter().any(|(name, _)| name == "results/simulation.json");
        assert!(left == old || left == new || headless, "killed after {:?}: {:?}", duration * k / 5, place.files());
        place.good(first);
        assert!(content() == old, "after {k}: {:?}", place.files());
        assert!(!place.files().iter().any(|name| name.contains("/.")), "debris: {:?}", place.files());
    }
}

// Protects results that cannot be written: the sentence names file and remedy, what is printed is still there, and the exit code is 1.
#[test]
fn a_result_that_cannot_be_written_is_still_printed() {
    let place = Place::new();
    std::fs::create_dir_all(place.path("results/cost.svg")).unwrap();
    let run = place.run("identify oscillator --out results");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    assert!(run.out.contains("converged: ") && !run.out.contains("written to"), "{}", run.out);
    let parts =
        ["error: cannot write results/cost.svg: it is a folder; move it away, or choose another folder with --out"];
    parts.iter().for_each(|part| assert!(run.err.contains(part), "{}", run.err));
}

// Protects exit codes: a search that gets nowhere has not converged, whatever has become small; a start that is absurd, or next to
// nothing, is no scale, and the parameters are found all the same.
#[test]
fn only_a_minimum_is_success() {
    let place = Place::new();
    let unstable = place.json("identify engine_mount --end 100 --json", 1);
    assert_eq!(unstable["converged"], false);
    assert!(unstable["reason"].as_str().unwrap().contains("no progress"), "{unstable:#}");
    for start in ["c=1e12", "c=1e-12", "c=1e6,d=1e6"] {
        for method in ["lm", "gauss-newton", "bfgs", "newton-tr"] {
            let run = place.run(&format!("identify oscillator --method {method} --start {start} --json"));
            let found: Value = serde_json::from_str(&run.out).unwrap();
            let is_found = (value(&found, "c") - 40.0).abs() < 1e-6;
            println!("{start} {method}: exit {}, {}, c = {}", run.code, found["reason"], value(&found, "c"));
            // far away the oscillator is overdamped, where a gradient may truly vanish
            let [cost, slope] = ["cost", "gradient_norm"].map(|key| found[key].as_f64().unwrap());
            assert_eq!(run.code == 0, found["converged"] == true, "{start} {method}: {found:#}");
            assert!(run.code == 1 || is_found || slope < 1e-9 * cost, "{start} {method}: {found:#}");
            assert!(is_found || method == "bfgs", "{start} {method}: {found:#}");
            assert!(is_found || start != "c=1e-12", "{method}: {found:#}");
        }
    }
}

// Protects figures: the error of a fit is one number wherever it is reported, and samples without a weight take no part in it. The
// last sample of a sum of rectangles has none.
#[test]
fn one_error_is_told() {
    let place = Place::new();
    let noisy = "identify oscillator --noise-level 0.1 --out results";
    let printed = place.good(noisy).out;
    let written: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
    let rmse = written["rmse"]["a"].as_f64().unwrap();
    let line = printed.lines().find(|line| line.starts_with("RMSE of a: ")).unwrap();
    let reported: f64 = line["RMSE of a: ".len()..].split(' ').next().unwrap().parse().unwrap();
    assert!((reported / rmse - 1.0).abs() < 1e-6, "{line}, but {rmse} in the file");
    let rest = ["c", "d"].map(|name| format!("{name}={}", value(&written, name))).join(",");
    let other = place.json(&format!("gradient oscillator --at {rest} --json"), 0);
    assert!(other["rmse"]["a"].as_f64().unwrap() < rmse, "without noise, there is less: {other:#}");
}

// Protects against statistics of nothing: where the reference is reproduced to round-off, there are no standard errors, no
// chi-square, no figures of residuals, but a sentence; with noise, all of them.
#[test]
fn round_off_has_no_statistics() {
    let place = Place::new();
    let exact = place.good("identify oscillator --out exact").out;
    assert!(exact.contains("reproduced to round-off") && exact.contains("RMSE of a"), "{exact}");
    for part in ["+/-", "R^2", "chi-square", "fit 100"] {
        assert!(!exact.contains(part), "`{part}` in {exact}");
    }
    let written: Value = serde_json::from_str(&place.read("exact/result.json")).unwrap();
    assert_eq!(written["noise_free"], true);
    for key in ["chi_square", "reduced_chi_square", "aic", "bic"] {
        assert!(written[key].is_null(), "{key}");
    }
    assert!(written["parameters"][1]["standard_error"].is_null() && written["confidence"] == Value::Array(vec![]));
    let noisy = place.good("identify oscillator --noise-level 0.01 --out noisy").out;
    assert!(noisy.contains("+/-") && noisy.contains("chi-square"), "{noisy}");
    let files = place.files();
    for (folder, is_there) in [("exact", false), ("noisy", true)] {
        for figure in ["ellipses.svg", "residuals_a.svg"] {
            assert_eq!(files.contains(&format!("{folder}/{figure}")), is_there, "{folder}/{figure}");
        }
    }
    for level in ["1e-300", "a=1e-300"] {
        place.refused(&format!("identify oscillator --noise-level {level}"), &["output `a`", "round-off"]);
    }
}
