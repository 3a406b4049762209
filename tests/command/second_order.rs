//! Hessians and identifiability through the command: all methods, forms of output, and what is refused.

use crate::run;
use run::{Place, csv, times};
use serde_json::Value;

fn matrix(value: &Value) -> Vec<Vec<f64>> {
    let rows = value.as_array().unwrap().iter();
    rows.map(|row| row.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect()).collect()
}

// Protects programs that read Hessians: one document with these keys; the three methods agree, each to what it can.
#[test]
fn hessians_are_one_document() {
    let place = Place::new();
    let all = place.json("hessian oscillator --method all --json", 0);
    for key in ["model", "parameters", "gradient", "hessian", "curvature", "methods"] {
        assert!(!all[key].is_null(), "`{key}` is missing in {all:#}");
    }
    assert_eq!(all["parameters"], serde_json::json!(["m", "c", "d", "x0", "v0"]));
    let exact = matrix(&all["hessian"]);
    let largest = |m: &[Vec<f64>]| m.iter().flatten().fold(0.0f64, |s, x| s.max(x.abs()));
    for (method, limit) in [("hybrid", 0.0), ("hvp", 1e-13), ("difference", 1e-5)] {
        let alone = matrix(&place.json(&format!("hessian oscillator --method {method} --json"), 0)["hessian"]);
        let beside = all["methods"].as_array().unwrap().iter().find(|m| m["method"] == method).unwrap();
        assert_eq!(alone, matrix(&beside["hessian"]), "{method}");
        let apart = alone.iter().flatten().zip(exact.iter().flatten()).map(|(a, b)| (a - b).abs());
        let apart = apart.fold(0.0, f64::max) / largest(&exact);
        assert!(apart <= limit, "{method}: {apart:e}");
    }
    // the gradient of `gradient`, elsewhere than at the start
    let at = "--at c=30,d=0.5 --json";
    let (hessian, gradient) =
        (place.json(&format!("hessian oscillator {at}"), 0), place.json(&format!("gradient oscillator {at}"), 0));
    for k in 0..5 {
        let (a, b) = (hessian["gradient"][k].as_f64().unwrap(), gradient["gradient"][k]["value"].as_f64().unwrap());
        assert!((a - b).abs() <= 1e-12 * b.abs(), "{k}: {a} {b}");
    }
    let text = place.good("hessian oscillator --method all").out;
    for part in ["by hybrid", "by hvp", "by difference", "asymmetry", "each in its size"] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
}

// Protects the verdict on a Hessian: at a minimum it is positive definite, far away indefinite, and with mass, spring and
// damper of a free oscillation singular, along the combination that is named. None of it is an error.
#[test]
fn definiteness_is_told_with_directions() {
    let place = Place::new();
    let curvature = |arguments: &str| place.json(&format!("hessian {arguments} --json"), 0)["curvature"].clone();
    let minimum = curvature("oscillator --at nominal");
    assert_eq!((&minimum["verdict"], &minimum["positive"]), (&"positive-definite".into(), &2.into()), "{minimum:#}");
    assert_eq!(minimum["directions"], serde_json::json!([]));
    let away = curvature("pendulum --at L=0.5");
    assert_eq!(away["verdict"], "indefinite", "{away:#}");
    let down = &away["directions"][0];
    assert!(down["eigenvalue"].as_f64().unwrap() < 0.0 && !down["parameters"].as_array().unwrap().is_empty());
    place.write(
        "free.toml",
        "model = \"pendulum\"\n[parameters]\nm = { free = true }\nL = { free = false }\nangle0 = { free = false }\n\
         omega0 = { free = false }\nd = { free = true, start = 0.05 }\n",
    );
    let flat = curvature("free.toml --at nominal");
    assert_eq!((&flat["verdict"], &flat["zero"]), (&"singular".into(), &1.into()), "{flat:#}");
    assert_eq!(flat["directions"][0]["parameters"], serde_json::json!(["m", "d"]));
    let text = place.good("hessian free.toml --at nominal").out;
    assert!(text.contains("singular, 1 positive, 1 zero, 0 negative"), "{text}");
    assert!(text.contains("the cost does not bend along") && text.contains("only m / d is determined"), "{text}");
    let down = place.good("hessian pendulum --at L=0.5").out;
    assert!(down.contains("indefinite") && down.contains("the cost bends down (-"), "{down}");
    // without free parameters there is a matrix, but nothing to judge
    let fixed = "model = \"oscillator\"\n[parameters]\nc = { free = false }\nd = { free = false }\n";
    place.write("fixed.toml", fixed);
    assert!(place.json("hessian fixed.toml --json", 0)["curvature"].is_null());
}

// Protects names and points of both commands: slips are answered with what there is.
#[test]
fn wrong_methods_and_points_are_refused() {
    let place = Place::new();
    place.write("fixed.toml", "model = \"oscillator\"\n[parameters]\nc = { free = false }\nd = { free = false }\n");
    place.write("file.csv", csv("t,F,x", times(11, 0.01), |_| vec![1.0, 0.1]));
    for (arguments, parts) in [
        ("hessian oscillator --method hybird", &["no method `hybird` in `hessian`", "did you mean `hybrid`?"][..]),
        ("hessian oscilator", &["no model `oscilator`", "did you mean `oscillator`?"]),
        ("hessian oscillator --at strat", &["--at strat: it names no point", "`start`, `nominal` or name=value"]),
        ("hessian oscillator --at cc=1", &["no parameter `cc`", "did you mean `c`?"]),
        ("hessian oscillator --at c=stiff", &["`stiff` is not a number"]),
        ("hessian oscillator --at m=0", &["singular at t = 0 s", "acceleration of `x`"]),
        ("identifiability oscillator --at nowhere", &["--at nowhere: it names no point"]),
        ("identifiability fixed.toml", &["no parameter is free", "free at least one"]),
        ("identifiability pendulu", &["no model `pendulu`", "did you mean `pendulum`?"]),
    ] {
        place.refused(arguments, parts);
    }
}

// Protects the analysis before a fit: exit code 0 and a ranking where all is determined; exit code 1, the combination by
// name and the parameters that take part where it is not; and the same from a problem file and from a record.
#[test]
fn identifiability_names_what_cannot_be_found() {
    let place = Place::new();
    let good = place.good("identifiability pendulum").out;
    for part in ["rank  parameter", "1  L", "singular values", "condition number", "determined"] {
        assert!(good.contains(part), "`{part}` is missing in\n{good}");
    }
    let found = place.json("identifiability pendulum --json", 0);
    assert_eq!(found["ranking"][0], "L");
    assert_eq!((found["undetermined"].as_array().unwrap().len(), &found["warnings"]), (0, &serde_json::json!([])));
    assert_eq!(found["singular_values"].as_array().unwrap().len(), 4);
    assert!(found["condition_number"].as_f64().unwrap() > 1.0);
    place.write(
        "unclear.toml",
        "model = \"pendulum\"\n[parameters]\nm = { free = true }\ng = { free = true }\nangle0 = { free = false }\n",
    );
    let run = place.run("identifiability unclear.toml");
    assert_eq!(run.code, 1, "{}", run.err);
    for part in
        ["the data do not tell `m` and `d` apart", "only m / d is determined", "fix one of them", "undetermined"]
    {
        assert!(run.out.contains(part), "`{part}` is missing in\n{}", run.out);
    }
    let found = place.json("identifiability unclear.toml --json", 1);
    assert_eq!(found["undetermined"][0]["parameters"], serde_json::json!(["m", "d"]));
    assert!(found["condition_number"].is_null(), "an infinite one");
    // a search says the same before it begins, and in the end
    let run = place.run("identify unclear.toml --max-iterations 3 --out results");
    assert!(run.err.contains("warning, at the start: the data do not tell `m` and `d` apart"), "{}", run.err);
    assert!(run.out.contains("+/- infinite") && run.out.contains("undetermined"), "{}", run.out);
    // a mass matters without damping as little as it should
    let run = place.run("identifiability unclear.toml --at d=0");
    assert_eq!(run.code, 1);
    assert!(run.out.contains("`m` has no influence on the compared outputs; fix it"), "{}", run.out);
    // a record instead of the built-in reference
    place.write("record.csv", csv("t,F,x", times(201, 0.01), |t| vec![(3.0 * t).sin(), 0.1 * (6.0 * t).cos()]));
    let found = place.json("identifiability oscillator --data record.csv --json", 0);
    assert_eq!(found["residuals"], 201);
}

// Protects against too little data and too many wishes: a sentence that names both numbers, before any search.
#[test]
fn fewer_data_than_parameters_are_refused() {
    let place = Place::new();
    place.write("short.csv", csv("t,F,x", times(3, 0.01), |t| vec![t, 0.1]));
    let run = place.run("identify oscillator --data short.csv --free m,x0,v0 --json");
    assert_eq!(run.code, 2, "{}", run.out);
    assert!(run.err.contains("3 for 5 free variables"), "{}", run.err);
    let run = place.run("identifiability oscillator --data short.csv");
    assert!(run.out.contains("3 residuals"), "{}", run.out);
    let run = place.run("identify pendulum --free m --fix d --start d=0 --max-iterations 2 --json");
    assert!(run.err.contains("warning, at the start: `m` has no influence"), "{}", run.err);
    let found: Value = serde_json::from_str(&run.out).unwrap();
    let m = &found["parameters"][0];
    assert_eq!(m["determined"], "without-influence", "{m:#}");
    assert!(m["standard_error"].is_null());
    assert_eq!(found["confidence"][0]["unbounded"], true);
}

// Protects runs on a record: its inputs drive the simulation, its outputs are compared, with or without a cost.
#[test]
fn simulations_and_gradients_take_records() {
    let place = Place::new();
    let force = |t: f64| (3.0 * t).sin();
    place.write("full.csv", csv("t,F,x", times(301, 0.01), |t| vec![force(t), 0.0]));
    place.write("inputs.csv", csv("t,F", times(301, 0.01), |t| vec![force(t)]));
    place.good("simulate oscillator --end 3 --out plain");
    let run = place.good("simulate oscillator --data inputs.csv --out driven");
    assert!(run.err.contains("inputs: F from `F` (linear); compared: none"), "{}", run.err);
    assert!(!run.out.contains("RMSE"), "{}", run.out);
    // samples of the model's own signal, at the steps' times
    assert_eq!(place.read("driven/states.csv"), place.read("plain/states.csv"));
    let run = place.good("simulate oscillator --data full.csv --substeps 2 --set x0=0.2 --out compared --png");
    let printed = run.out.lines().find_map(|line| line.strip_prefix("RMSE of x: ")).unwrap();
    let summary: Value = serde_json::from_str(&place.read("compared/simulation.json")).unwrap();
    let rmse = summary["rmse"]["x"].as_f64().unwrap();
    assert_eq!(printed, format!("{rmse:.6e} m"));
    assert_eq!(summary["steps"], 600);
    // against zero, the error is the motion itself
    let motion = place.read("compared/states.csv");
    let x: Vec<f64> =
        motion.lines().skip(1).step_by(2).map(|l| l.split(',').nth(1).unwrap().parse().unwrap()).collect();
    let expected = (x.iter().map(|x| x * x).sum::<f64>() / x.len() as f64).sqrt();
    assert!((rmse / expected - 1.0).abs() < 1e-12, "{rmse} {expected}");
    let figure = place.read("compared/output_x.svg");
    assert!(figure.contains("measured") && figure.contains("simulated"), "a legend is missing");
    let at = "--data full.csv --at x0=0.2";
    let gradient = place.json(&format!("gradient oscillator {at} --json"), 0);
    let cost = gradient["cost"].as_f64().unwrap();
    let rmse = gradient["rmse"]["x"].as_f64().unwrap();
    assert!((cost / (0.5 * 301.0 * rmse * rmse) - 1.0).abs() < 1e-12, "{cost} {rmse}");
    assert!(place.good(&format!("gradient oscillator {at}")).out.contains("RMSE of x: "));
    place.refused("gradient oscillator --data inputs.csv", &["no column is named like an output", "`t`, `F`"]);
    // what was made by a simulation is a reference, what was read is measured
    place.good("identify oscillator --out made --max-iterations 30");
    place.run("identify oscillator --data full.csv --max-iterations 2 --out read");
    assert!(place.read("made/output_a.svg").contains("reference"), "made");
    let read = place.read("read/output_x.svg");
    assert!(read.contains("measured") && !read.contains("reference"), "read");
}
