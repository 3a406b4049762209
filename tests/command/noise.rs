//! Noise of sensors, and priors of parameters, through the command.

use crate::run;
use run::{Place, value};
use serde_json::Value;

/// Numbers that look random, the same on every machine: their standard deviation is 1.
fn noise(i: u32) -> f64 {
    let uniform = |k: u32| (f64::from(12 * i + k) * 12.9898).sin() * 43758.5453;
    (0..12).map(|k| uniform(k) - uniform(k).floor()).sum::<f64>() - 6.0
}

/// A record of the oscillator with c = 33, d = 0.5, whose sensors have these deviations.
fn record(place: &Place, name: &str, x: f64, a: f64, seed: u32) {
    place.good(&format!("simulate oscillator --set c=33,d=0.5 --end 10 --out {name}"));
    let outputs = place.read(&format!("{name}/outputs.csv"));
    let mut lines = outputs.lines();
    let header: Vec<&str> = lines.next().unwrap().split(',').collect();
    let row = |(i, line): (usize, &str)| {
        let noisy = |(cell, head): (&str, &&str)| {
            let value: f64 = cell.parse().unwrap();
            let i = i as u32 + seed;
            match head.split(' ').next() {
                Some("x") => (value + x * noise(2 * i)).to_string(),
                Some("a") => (value + a * noise(2 * i + 1)).to_string(),
                _ => value.to_string(),
            }
        };
        line.split(',').zip(&header).map(noisy).collect::<Vec<_>>().join(",")
    };
    let rows: Vec<String> = lines.enumerate().map(row).collect();
    place.write(&format!("{name}.csv"), format!("{}\n{}\n", header.join(","), rows.join("\n")));
}

fn sensor<'v>(result: &'v Value, name: &str) -> &'v Value {
    let sensors = result["estimated_deviations"]["sensors"].as_array().unwrap();
    sensors.iter().find(|sensor| sensor["name"] == name).unwrap_or_else(|| panic!("no sensor {name} in {sensors:?}"))
}

#[track_caller]
fn near(found: &Value, expected: f64, part: f64) {
    let found = found.as_f64().unwrap();
    assert!((found / expected - 1.0).abs() < part, "{found} against {expected}");
}

/// A simulation has written the records: its steps have no error here.
const PROBLEM: &str = "model = \"oscillator\"\n[integrator]\nscheme = \"hht\"\nsubsteps = 1\n[data]\noutputs.a = { deviation = \"estimated\" }\n\
                       outputs.x = { deviation = \"estimated\" }\n";

// Protects the way from a problem file to the result: deviations shared by experiments and one of an experiment's own, in the table, in
// the result and in the report.
#[test]
fn deviations_are_estimated_with_the_parameters() {
    let place = Place::new();
    record(&place, "good", 1e-3, 0.05, 0);
    record(&place, "poor", 1e-2, 0.05, 5000);
    let own = "outputs.a = { deviation = \"estimated\" }\noutputs.x = { deviation = \"estimated-alone\" }\n";
    let text = format!("{PROBLEM}[[experiment]]\nfile = \"good.csv\"\n[[experiment]]\nfile = \"poor.csv\"\n{own}");
    place.write("problem.toml", text);
    let run = place.good("identify problem.toml --out result --report");
    let result: Value = serde_json::from_str(&place.read("result/result.json")).unwrap();
    assert_eq!(result["estimated_deviations"]["end"], "settled", "{}", run.out);
    assert_eq!(result["noise"], "per-sensor");
    near(&sensor(&result, "a")["deviation"], 0.05, 0.05);
    near(&sensor(&result, "x")["deviation"], 1e-3, 0.05);
    near(&sensor(&result, "x@poor")["deviation"], 1e-2, 0.05);
    assert_eq!(sensor(&result, "a")["samples"], 2002);
    assert_eq!(result["experiments"][1]["outputs"][1]["deviation"], sensor(&result, "x@poor")["deviation"]);
    assert!((value(&result, "c") - 33.0).abs() < 0.01);
    assert!(
        run.out.contains("samples  parameters") && run.out.contains("the noise of each sensor is estimated"),
        "{}",
        run.out
    );
    assert!(run.err.contains("the standard deviation of `a` is estimated together with the parameters"), "{}", run.err);
    let page = place.read("result/report.html");
    assert!(page.contains("Noise of the sensors") && page.contains("Noise estimated"));
    // known noise gives the same standard errors
    let known = "outputs.a = { deviation = 0.05 }\noutputs.x = { deviation = 1e-3 }\n";
    let poor = "outputs.a = { deviation = 0.05 }\noutputs.x = { deviation = 1e-2 }\n";
    let known = format!(
        "model = \"oscillator\"\n[integrator]\nscheme = \"hht\"\nsubsteps = 1\n[cost]\nnoise = \"given\"\n[data]\n{known}[[experiment]]\nfile = \
         \"good.csv\"\n[[experiment]]\nfile = \"poor.csv\"\n{poor}"
    );
    let known = place.write("known.toml", known).json("identify known.toml --json", 0);
    for k in 1..3 {
        let error = |result: &Value| result["parameters"][k]["standard_error"].clone();
        near(&error(&result), error(&known).as_f64().unwrap(), 0.05);
    }
}

// Protects whoever asks for too much: what is given and estimated at once, what nothing can be estimated from.
#[test]
fn contradictions_are_refused() {
    let place = Place::new();
    record(&place, "good", 1e-3, 0.05, 0);
    let refuse = |text: &str, parts: &[&str]| {
        place.write("problem.toml", text);
        place.refused("identify problem.toml --json", parts);
    };
    let one = format!("{PROBLEM}file = \"good.csv\"\n");
    refuse(
        &format!("{one}[cost]\nnoise = \"estimated\"\n"),
        &["the deviation of `a`", "once more", "leave out `noise`"],
    );
    refuse(
        &format!("{one}[cost]\nweights = \"trapezoid\"\n"),
        &["the deviation of `a`", "weighted", "weights = \"unit\""],
    );
    let weighted = format!("{PROBLEM}[[experiment]]\nfile = \"good.csv\"\nweight = 2.0\n");
    refuse(&weighted, &["the deviation of `a`", "experiment `good`", "leave out `weight`"]);
    let half = one.replace("outputs.x = { deviation = \"estimated\" }", "outputs.x = {}");
    refuse(
        &half,
        &["the deviation of `a` is estimated", "nothing is said of that of `x`", "[data.outputs.x] deviation"],
    );
    let slip = one.replacen("\"estimated\"", "\"estimate\"", 1);
    refuse(&slip, &["no kind of deviation `estimate` in [data.outputs.a];", "did you mean `estimated`?"]);
    let only = "[[experiment]]\nfile = \"good.csv\"\noutputs.a = { deviation = 0.05 }\n[[experiment]]\nname = \"other\"\nfile = \
                \"good.csv\"\nfrom = 0.0\nuntil = 0.0\n";
    let text =
        format!("model = \"oscillator\"\n{only}validation = true\noutputs.a = {{ deviation = \"estimated-alone\" }}\n");
    place.write("other.csv", place.read("good.csv"));
    let text = text
        .replace("from = 0.0\nuntil = 0.0\n", "")
        .replace("name = \"other\"\nfile = \"good.csv\"", "file = \"other.csv\"");
    refuse(&text, &["the deviation of `a@other`", "no experiment that is fitted"]);
    // a perfect fit is a result without noise
    place.good("simulate oscillator --out perfect");
    let text = one.replace("good.csv", "perfect/outputs.csv").replace("[data]", "[data]\ninterpolation = \"cubic\"");
    place.write("problem.toml", text);
    let result = place.json("identify problem.toml --json --start c=30 --max-evaluations 40", 0);
    assert_eq!(result["estimated_deviations"]["end"], "perfect-fit", "{result}");
    assert_eq!((&result["noise_free"], &result["parameters"][1]["standard_error"]), (&true.into(), &Value::Null));
}

// Protects priors on their way from a problem file to the result: in the table, in the split of the cost, and in the report.
#[test]
fn priors_are_read_told_and_reported() {
    let place = Place::new();
    record(&place, "good", 1e-3, 0.05, 0);
    let data = "model = \"oscillator\"\n[integrator]\nscheme = \"hht\"\n[cost]\nnoise = \"given\"\n[data]\nfile = \"good.csv\"\n\
                outputs.x = { deviation = 1e-3 }\n[parameters]\n";
    // mass, stiffness and force have no common factor: the force is known; with x0 free, too, all are determined
    let priors = "m = { free = true, prior = { log-normal = [1.0, 1.0001] } }\nd = { prior = { normal = [0.6, 0.2] } }\n\
                  c = { prior = { uniform = [20, 50] } }\n";
    place.write("problem.toml", format!("{data}{priors}"));
    let run = place.good("identify problem.toml --out result --report");
    assert!(
        run.out.contains("narrowed to")
            && run.out.contains("decides")
            && run.out.contains("known from its prior, not from the data"),
        "{}",
        run.out
    );
    assert!(run.err.contains("the uniform prior of `c` is bounds, 20 to 50"), "{}", run.err);
    let result: Value = serde_json::from_str(&place.read("result/result.json")).unwrap();
    let priors = result["priors"].as_array().unwrap();
    assert_eq!((&priors[0]["name"], &priors[1]["name"], priors.len()), (&"d".into(), &"m".into(), 2));
    assert_eq!(priors[1]["prior"], serde_json::json!({"log-normal": [1.0, 1.0001]}));
    let verdict = |k: usize| result["parameters"][k]["determined"].clone();
    assert_eq!((verdict(0), verdict(2)), ("from-prior".into(), "determined".into()));
    let number = |key: &str| result[key].as_f64().unwrap();
    assert!((number("cost_of_data") + number("cost_of_priors") - number("cost")).abs() < 1e-9);
    assert_eq!((&result["parameters"][1]["lower"], &result["parameters"][1]["upper"]), (&20.0.into(), &50.0.into()));
    let page = place.read("result/report.html");
    assert!(page.contains("<h2") && page.contains("Priors") && page.contains("known from a prior"), "no priors");
    // all other commands count them, too
    let slopes = place.json("gradient problem.toml --method all --json", 0);
    assert!(slopes["cost"].as_f64().unwrap() > 0.0);
    place.good("hessian problem.toml");
    place.good("identifiability problem.toml");
}

// Protects whoever writes a prior that makes no sense: file, section and remedy.
#[test]
fn wrong_priors_are_answered_by_place() {
    let place = Place::new();
    record(&place, "good", 1e-3, 0.05, 0);
    let data = "model = \"oscillator\"\n[data]\nfile = \"good.csv\"\noutputs.x = {}\n[parameters]\n";
    let refuse = |parameters: &str, parts: &[&str]| {
        place.write("problem.toml", format!("{data}{parameters}\n"));
        place.refused("identify problem.toml --json", parts);
    };
    let at = "[parameters.c.prior]";
    refuse(
        "c = { prior = { normal = [40, 0] } }",
        &["the normal prior in", at, "its deviation 0 is not positive", "give a"],
    );
    refuse("c = { prior = { normal = [40] } }", &["`normal` in", at, "no pair of finite numbers", "[mean, deviation]"]);
    refuse(
        "c = { prior = { log-normal = [40, 0.9] } }",
        &["the log-normal prior in", at, "not above 1", "such as 1.1"],
    );
    refuse("c = { prior = { gauss = [40, 1] } }", &["no key `gauss` in", at]);
    refuse("c = { prior = {} }", &["`prior` in [parameters.c]: ", "one distribution"]);
    refuse("c = { prior = { uniform = [5, 4] } }", &["`uniform` in", at, "nothing lies between 5 and 4"]);
    refuse(
        "c = { lower = 1, prior = { uniform = [3, 40] } }",
        &["`lower` in [parameters.c]", "a uniform prior is bounds"],
    );
    refuse(
        "c = { upper = 30, prior = { normal = [40, 1] } }",
        &["the prior of `c`", "outside the bounds", "move the bounds"],
    );
    refuse("x0 = { prior = { normal = [0.1, 0.01] } }", &["the prior of `x0`", "fixed", "free the parameter"]);
    refuse("cc = { prior = { normal = [0.1, 0.01] } }", &["no parameter `cc`", "did you mean `c`?"]);
    refuse(
        "v0 = { free = true, prior = { log-normal = [1, 2] } }",
        &["the prior of `v0`", "the start 0 m/s has no logarithm"],
    );
}

// Protects losses on their way from a problem file to the result, of all outputs and of one.
#[test]
fn robust_losses_are_read_and_told() {
    let place = Place::new();
    record(&place, "good", 1e-3, 0.05, 0);
    let lines: Vec<String> = place.read("good.csv").lines().map(str::to_string).collect();
    let spike = |(i, line): (usize, &String)| {
        let cells: Vec<&str> = line.split(',').collect();
        if i == 0 || i % 20 != 0 { line.clone() } else { format!("{},9,9,{}", cells[0], cells[3..].join(",")) }
    };
    let spiked: Vec<String> = lines.iter().enumerate().map(spike).collect();
    place.write("spiked.csv", format!("{}\n", spiked.join("\n")));
    let problem = |cost: &str, x: &str| {
        format!(
            "model = \"oscillator\"\n[integrator]\nscheme = \"hht\"\n[cost]\nnoise = \"given\"\n{cost}\n[data]\nfile = \"spiked.csv\"\n\
             outputs.x = {{ deviation = 1e-3{x} }}\n"
        )
    };
    place.write("problem.toml", problem("", ""));
    // the spikes have it all: that is no success
    let plain = place.json("identify problem.toml --json", 1);
    assert_eq!(plain["down_weighted"], Value::Null);
    for text in
        [problem("loss = \"huber\"", ""), problem("loss = \"soft-l1\"", ", loss = \"huber\", loss_scale = 1.345")]
    {
        place.write("problem.toml", text);
        let found = place.json("identify problem.toml --json", 0);
        let off = |result: &Value| (value(result, "c") - 33.0).abs();
        assert!(off(&found) < 0.05 && off(&found) < 0.1 * off(&plain), "{} against {}", off(&found), off(&plain));
        assert!(found["down_weighted"].as_u64().unwrap() >= 50);
    }
    let run = place.good("identify problem.toml");
    assert!(run.out.contains("a robust loss was used: it weighs down"), "{}", run.out);
    // what it weighs down is known, and no reason to take one
    assert!(
        !run.out.contains("which pulls the parameters") && !run.out.contains("an offset is missing"),
        "{}",
        run.out
    );
    // deviations that cannot be right are told, whatever the loss
    place.write("problem.toml", problem("loss = \"huber\"", "").replace("1e-3", "1e-5"));
    let run = place.run("identify problem.toml");
    let told = |run: &run::Run| [&run.out, &run.err].iter().any(|text| text.contains("the robust loss weighs down "));
    assert!(told(&run), "{}", run.err);
    // a loss that weighs most of any noise down says nothing of deviations
    place.write("problem.toml", problem("loss = \"huber\"\nloss_scale = 0.2", ""));
    let run = place.run("identify problem.toml");
    assert!(!told(&run), "{} {}", run.out, run.err);
    for (cost, x, parts) in [
        ("loss = \"hubber\"", "", ["no loss `hubber` in [cost];", "did you mean `huber`?"]),
        ("loss = \"huber\"\nloss_scale = 0", "", ["loss_scale in [cost]: 0 is not positive", "give a scale"]),
        ("", ", loss_scale = 2", ["`loss_scale` in [data.outputs.x]", "add: loss = \"huber\""]),
        ("loss = \"squares\"\nloss_scale = 1", "", ["plain squares have no scale", "leave it out"]),
    ] {
        place.write("problem.toml", problem(cost, x));
        place.refused("identify problem.toml --json", &parts);
    }
}
