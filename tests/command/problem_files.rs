//! Problem files through the command: what they can say, and what is said of wrong ones.

use crate::run;
use run::{Place, csv, times, value};

/// The record that problem files here refer to: the oscillator with c = 33, d = 0.5, and its force as a column.
fn measured(place: &Place, folder: &str) {
    place.good(&format!("simulate oscillator --set c=33,d=0.5 --out {folder}"));
    let outputs = place.read(&format!("{folder}/outputs.csv"));
    let rows = outputs.lines().enumerate().map(|(i, line)| match i {
        0 => format!("{line},force"),
        _ => format!("{line},{}", (3.0 * 0.01 * (i - 1) as f64).sin()),
    });
    place.write(&format!("{folder}/record.csv"), rows.collect::<Vec<_>>().join("\n"));
}

const COMPLETE: &str = r#"
model = "oscillator"

[data]
file = "record.csv"
time = "time"
interpolation = "linear"
from = 0.0
until = 5.0
inputs.F = { column = "force", interpolation = "cubic" }
outputs.a = { deviation = 0.1 }
outputs.x = { column = "x [m]", deviation = 1e-3 }

[integrator]
scheme = "hht"
alpha = -0.05
substeps = 1
end = 5.0
initial_state = "as-given"

[cost]
weights = "unit"

[parameters]
m = { fixed = true }
c = { start = 25.0, lower = 1.0, upper = 1e3, scale = "log" }
d = { start = 0.3, size = 0.1, free = true }

[optimiser]
method = "l-bfgs"
max_evaluations = 200
max_iterations = 100
cost_target = -1.0
gradient_tolerance = 1e-10
step_tolerance = 1e-15
"#;

// Protects the format as documented: every key in one file, the record beside it wherever the command runs.
#[test]
fn a_complete_file_recovers_the_parameters() {
    let place = Place::new();
    measured(&place, "case");
    place.write("case/problem.toml", COMPLETE);
    let found = place.json("identify case/problem.toml --json", 0);
    assert!((value(&found, "c") - 33.0).abs() < 1e-5, "{found}");
    assert!((value(&found, "d") - 0.5).abs() < 1e-5, "{found}");
    assert_eq!((&found["method"], &found["steps"]), (&"l-bfgs".into(), &500.into()));
    // statements of the command line go over those of the file
    let found = place.json("identify case/problem.toml --json --method dfp --fix c --start c=33", 0);
    assert_eq!(found["method"], "dfp");
    assert_eq!(value(&found, "c"), 33.0);
    assert_eq!(found["parameters"][1]["status"], "fixed");
    // the other commands read the file, too
    assert_eq!(place.json("gradient case/problem.toml --json", 0)["steps"], 500);
    place.good("simulate case/problem.toml --out simulated");
}

// Protects inputs from columns: each interpolation is used, and they differ.
#[test]
fn inputs_come_from_columns_with_each_interpolation() {
    let place = Place::new();
    place.write("record.csv", csv("t,F,x", times(51, 0.1), |t| vec![(3.0 * t).sin(), 0.1 * t.cos()]));
    let mut costs = Vec::new();
    for name in ["zero-order", "zoh", "linear", "cubic"] {
        let text = format!(
            "model = \"oscillator\"\n[data]\nfile = \"record.csv\"\ninputs.F = {{ interpolation = \"{name}\" }}\n\
             [integrator]\nsubsteps = 4\n"
        );
        let found = place.write("problem.toml", text).json("gradient problem.toml --json", 0);
        assert_eq!(found["steps"], 200);
        costs.push(found["cost"].as_f64().unwrap());
    }
    assert_eq!(costs[0], costs[1]);
    assert!(costs[1] != costs[2] && costs[2] != costs[3], "{costs:?}");
    let cubic = place.write("problem.toml", "model = \"oscillator\"\ndata = { file = \"record.csv\" }\n");
    let run = cubic.json("identify problem.toml --substeps 4 --interpolation cubic --max-iterations 0 --json", 1);
    // least-squares methods add up squares in the factor's order
    assert!((run["cost"].as_f64().unwrap() / costs[3] - 1.0).abs() < 1e-14, "{} {}", run["cost"], costs[3]);
}

// Protects `from` and `until`, and samples at uneven times with steps between them.
#[test]
fn windows_and_uneven_samples_work() {
    let place = Place::new();
    let uneven: Vec<f64> = (0..60).map(|i| 0.05 * f64::from(i) + 0.01 * f64::from(i % 3)).collect();
    place.write("record.csv", csv("t,F,x", uneven, |t| vec![t.sin(), 0.1 * t.cos()]));
    let problem = |window: &str| {
        format!("model = \"oscillator\"\n[data]\nfile = \"record.csv\"\n{window}\n[integrator]\nsubsteps = 3\n")
    };
    for (window, steps) in [("", 177), ("from = 1.0", 117), ("until = 1.0", 57), ("from = 0.5\nuntil = 1.0", 27)] {
        place.write("problem.toml", problem(window));
        let found = place.json("gradient problem.toml --json", 0);
        assert_eq!((&found["steps"], &found["step"]), (&steps.into(), &serde_json::Value::Null), "{window}");
    }
    place.write("problem.toml", problem("from = 2.0\nuntil = 1.0"));
    let parts = ["line 4", "`until` = 1 s is not behind `from` = 2 s", "an `until` that is larger than `from`"];
    place.refused("identify problem.toml --json", &parts);
    place.write("problem.toml", problem("from = 4.0\nuntil = 9.0"));
    let parts =
        ["record.csv: fewer than two samples lie between 4 s and 9 s", "covers 0 s to", "widen `from` and `until`"];
    place.refused("identify problem.toml --json", &parts);
    place.write("problem.toml", problem("until = 9.0"));
    assert!(place.good("gradient problem.toml --json").err.contains("until = 9 s: the record ends at 2.97 s"));
}

// Protects the author of a problem file: each slip names file, place and remedy.
#[test]
fn wrong_files_are_answered_by_place() {
    let place = Place::new();
    place.write("record.csv", csv("t,F,x", times(11, 0.1), |t| vec![1.0, t]));
    let data = "[data]\nfile = \"record.csv\"\n";
    let cases: &[(&str, &[&str])] = &[
        ("", &["problem.toml: it names no model", "begin it with: model = "]),
        ("model = 3", &["`model`: it is an integer `3`, not a text", "put it in quotes"]),
        ("model = \"osc\"", &["no model `osc`"]),
        ("model = \"oscillator\"\n\n[data\nfile = 3", &["line 3", "this is not TOML", "correct the line"]),
        ("model = \"oscillator\"\nmodel = \"pendulum\"", &["line 2", "duplicate key"]),
        ("modell = \"oscillator\"", &["no key `modell`", "did you mean `model`?"]),
        ("[integrator]\nalhpa = 0", &["no key `alhpa` in [integrator];", "did you mean `alpha`?"]),
        ("[integrator]\nalpha = \"small\"", &["`alpha` in [integrator]", "a string `\"small\"`", "without quotes"]),
        ("[integrator]\nalpha = 0.2", &["0.2 lies outside [-1/3, 0]", "use -0.1"]),
        ("[integrator]\nstep = nan", &["`step` in [integrator]", "it is NaN", "give a number"]),
        ("[integrator]\nstep = -1", &["-1 s is not positive"]),
        ("[integrator]\nsubsteps = -1", &["`substeps` in [integrator]", "it is -1", "whole number"]),
        ("[integrator]\nsubsteps = 1.5", &["`substeps` in [integrator]", "not a whole number"]),
        ("[integrator]\ninitial_state = 1", &["`initial_state`", "not a text", "put it in quotes"]),
        ("[integrator]\ninitial_state = \"equilibirum\"", &["no initial state `equilibirum`", "mean `equilibrium`?"]),
        (
            "[integrator]\nscheme = \"i2p:spectral_radius=0.9\"",
            &["scheme `i2p`", "on a line of its own: spectral_radius = 0.9"],
        ),
        ("[integrator]\nscheme = \"hth\"", &["no scheme `hth` in [integrator];", "did you mean `hht`?"]),
        ("integrator = 3", &["`integrator`: it is an integer", "not a table", "{ key = value, .. }"]),
        ("[data]", &["line 2: [data]: it names no file", "add: file = "]),
        ("[data]\nfile = \"absent.csv\"", &["cannot read", "absent.csv", "check the path"]),
        ("[data]\nfile = \"record.csv\"\ntime = \"T\"", &["no column `T` in record.csv", "did you mean `t`?"]),
        ("[data]\nfile = \"record.csv\"\ninterpolation = \"quadratic\"", &["`quadratic` in [data];", "known:"]),
        ("[data]\nfile = \"record.csv\"\ninputs.G = {}", &["no input `G` in model `oscillator`"]),
        ("[data]\nfile = \"record.csv\"\ninputs.F = { column = \"FF\" }", &["no column `FF` in record.csv", "`F`?"]),
        ("[data]\nfile = \"record.csv\"\noutputs.xx = { column = \"x\" }", &["no output `xx`", "did you mean `x`?"]),
        ("[data]\nfile = \"record.csv\"\noutputs.a = {}", &["no column `a` in record.csv"]),
        ("[data]\nfile = \"record.csv\"\noutputs.x = { deviation = 0 }", &["deviation of output `x`", "give one > 0"]),
        ("[data]\nfile = \"record.csv\"\noutputs.x = { columm = \"x\" }", &["no key `columm` in [data.outputs.x]"]),
        ("[cost]\nweights = \"trapez\"", &["`trapez` in [cost];", "did you mean `trapezoid`?"]),
        ("[cost]\noutputs = \"x\"", &["`outputs` in [cost]", "[\"a\", \"b\"]"]),
        ("[cost]\noutputs = [\"xx\"]", &["no output `xx` in model `oscillator`", "did you mean `x`?"]),
        ("[cost]\noutputs = [\"x\", \"x\"]", &["the outputs to compare: `x` is named twice"]),
        ("[cost]\noutputs = []", &["there is no output to compare", "name at least one"]),
        ("[cost]\nsynthetic_noise = { seed = 1 }", &["`level` in [cost.synthetic_noise]", "it is missing"]),
        ("[cost]\nsynthetic_noise = { level = { a = \"x\" } }", &["`a` in [cost.synthetic_noise.level]", "a number"]),
        ("[cost]\nsynthetic_noise = { level = { x = 1 } }", &["no compared output `x` in the noise", "known: a"]),
        (
            "[cost]\nsynthetic_noise = { level = 0.1 }\n[data]\nfile = \"record.csv\"",
            &["synthetic noise: the reference is a record", "line 3: ", "leave out the record or the noise"],
        ),
        ("[parameters]\ncc = { start = 1 }", &["no parameter `cc` in model `oscillator`", "did you mean `c`?"]),
        ("[parameters]\nc = 3", &["`c` in [parameters]", "not a table"]),
        ("[parameters]\nc = { begin = 3 }", &["no key `begin` in [parameters.c]"]),
        (
            "[parameters]\nc = { upper = 10 }",
            &["`c`: its start 25 N/m lies outside its bounds [0, 10]", "move the start"],
        ),
        (
            "[parameters]\nc = { lower = 9, upper = 8 }",
            &["`c`: its bounds [9, 8] exclude every value", "lower <= upper"],
        ),
        ("[parameters]\nc = { scale = \"logarithm\" }", &["no scale `logarithm` in [parameters.c]", "linear, log"]),
        (
            "[parameters]\nv0 = { free = true, scale = \"log\" }",
            &["`v0`: its start 0 m/s has no logarithm", "give a positive start, or use the linear scale"],
        ),
        ("[parameters]\nc = { size = 0 }", &["`c`: its size 0 is not positive", "give a positive number"]),
        ("[parameters]\nc = { free = true, fixed = true }", &["`fixed` in [parameters.c]", "contradicts `free`"]),
        ("[optimiser]\nmethod = \"xyzzy\"", &["no method `xyzzy` in [optimiser];", "known: "]),
        ("[optimiser]\nmax_evaluations = 0", &["`max_evaluations`: it is 0"]),
        ("[optimiser]\ngradient_tolerance = 2", &["`gradient_tolerance`: it is 2", "0 <= value < 1"]),
    ];
    for (text, parts) in cases {
        let whole = if text.is_empty() || text.starts_with("model") { "" } else { "model = \"oscillator\"\n" };
        place.write("problem.toml", format!("{whole}{text}\n"));
        // what is wrong is in the last line, unless it is said to be elsewhere
        let line = format!("problem.toml, line {}: ", format!("{whole}{text}").lines().count());
        let is_elsewhere = parts.iter().any(|part| part.contains("line ")) || text.is_empty();
        let parts: Vec<&str> = parts.iter().copied().chain((!is_elsewhere).then_some(&*line)).collect();
        place.refused("identify problem.toml --json", &parts);
    }
    more_are_answered(&place);
    place.write("problem.toml", format!("model = \"oscillator\"\n{data}[cost]\noutputs = [\"x\"]\n"));
    place.refused(
        "identify problem.toml --json",
        &["problem.toml, line 5: `outputs` in [cost]", "[data.outputs] instead"],
    );
    place.write("problem.toml", format!("model = \"oscillator\"\n{data}[integrator]\nstep = 0.1\nsubsteps = 4\n"));
    place.refused(
        "identify problem.toml --json",
        &["problem.toml, line 5: `step` and `substeps`", "give only one of them"],
    );
}

/// Slips that show only once the record has been read, or the experiments are there.
fn more_are_answered(place: &Place) {
    let two = "[[experiment]]\nname = \"a\"\nfile = \"record.csv\"\nuntil = 0.4\n\n[[experiment]]\nname = \"b\"\nfile = \"record.csv\"\nfrom = 0.5\n";
    let cases: &[(&str, &str, &[&str])] = &[
        (
            "[data]\nfile = \"record.csv\"\n",
            "outputs.x = { sensor = [\"bias\", \"dealy\"] }",
            &["line 4: ", "`delay`?"],
        ),
        ("[data]\nfile = \"record.csv\"\n", "outputs.x = { low_pass = 1e3 }", &["line 4: "]),
        (
            "[data]\nfile = \"record.csv\"\n",
            "outputs.x = { sensor = [\"delay\"] }\n[parameters.delay_x]\nlower = -9\nupper = 9",
            &["line 4: ", "longer record"],
        ),
        ("[data]\nfile = \"record.csv\"\n", "from = 5.0", &["line 4: ", "fewer than two samples"]),
        ("[data]\nfile = \"record.csv\"\n\n[integrator]\n", "substeps = 0", &["line 6: ", "at least 1"]),
        (two, "outputs.y = {}", &["line 11: ", "no output `y`"]),
        (two, "weight = -1", &["line 11: ", "not positive"]),
        (two, "parameters.c = { lower = 3 }", &["line 11: ", "shared by all experiments"]),
        (two, "parameters.v0 = { upper = -3 }\n[parameters]\nv0.local = true", &["line 11: ", "`v0@b`", "outside"]),
        ("", "[[experiment]]\nname = \"a\"", &["line 2: ", "no data"]),
        (
            "",
            "[[constraint]]\nrule = \"c = 3\"\n\n[[constraint]]\nrule = \"cc = 3\"",
            &["line 6: ", "no parameter or output `cc`"],
        ),
        ("", "\n[parameters.c]\nfree = true\nstart = -3", &["line 5: ", "outside its bounds"]),
        ("", "[parameters]\nc.prior = { normal = [40, 0] }", &["line 3: ", "[parameters.c.prior]", "not positive"]),
        ("", "[parameters]\nc.prior = { normal = [-40, 1] }", &["line 3: ", "centre -40 N/m lies outside"]),
        ("", "[parameters]\nc.prior = { log-normal = [40, 1.1] }\nc.lower = -1", &["prior", "line "]),
    ];
    for (head, text, parts) in cases {
        place.write("problem.toml", format!("model = \"oscillator\"\n{head}{text}\n"));
        place.refused("identify problem.toml --json", parts);
    }
    // what the command line says is no fault of the file
    place.write("problem.toml", "model = \"oscillator\"\n[integrator]\nstep = 0.01\n[parameters]\nc.start = 30\n");
    for (option, part) in [("--step -1", "error: the time step"), ("--set c=-1", "error: parameter `c`")] {
        place.refused(&format!("identify problem.toml --json {option}"), &[part]);
    }
    let control = "model = \"cart_pole\"\n[[control.signal]]\ninput = \"F\"\nsize = 10\n[[control.goal]]\noutput = \"theta\"\nreach = 0\n";
    for (more, parts) in [
        ("[[control.goal]]\noutput = \"thetaa\"\nreach = 0", ["line 9: ", "no output `thetaa`"]),
        ("[[control.signal]]\ninput = \"F\"\nsize = 0", ["line 10: ", "its size is 0"]),
        ("[[control.signal]]\ninput = \"G\"\nsize = 1", ["line 9: ", "`G`"]),
    ] {
        place.write("problem.toml", format!("{control}{more}\n"));
        place.refused("control problem.toml --json", &parts);
    }
}

// Protects against files that are none: missing, a folder, or not text.
#[test]
fn unreadable_files_say_why() {
    let place = Place::new();
    place.write("folder.toml/file", "").write("binary.toml", [0xff, 0x00, 0x80]);
    for (name, parts) in [
        ("absent.toml", ["cannot read absent.toml", "check the path (looked for `"]),
        ("folder.toml", ["cannot read folder.toml: it is a folder", "a file in it"]),
        ("binary.toml", ["cannot read binary.toml: it is not UTF-8 text", "save the file as UTF-8"]),
    ] {
        for command in ["identify", "gradient", "simulate"] {
            place.refused(&format!("{command} {name}"), &parts);
        }
    }
    place.write("mark.toml", "\u{feff}model = \"oscillator\"\r\n");
    assert_eq!(place.json("gradient mark.toml --json", 0)["model"], "oscillator");
}

/// Protects measured modes in a file: alone, without a record, and beside one; what is printed and written of them; what is refused.
#[test]
fn measured_modes_are_fitted() {
    let place = Place::new();
    let (frequency, ratio) = ((33.0f64).sqrt() / std::f64::consts::TAU, 0.5 / (2.0 * 33.0f64.sqrt()));
    let modes =
        format!("[[mode]]\nnumber = 1\nnatural_frequency = [{frequency}, 1e-3]\ndamping_ratio = [{ratio}, 1e-3]\n");
    // of c = 40, d = 0.8
    let nominal = "[[mode]]\nnumber = 1\nnatural_frequency = [1.00658424, 1e-3]\ndamping_ratio = [0.0632456, 1e-3]\n";
    let known = "[parameters]\nm = { start = 1.0, fixed = true }\nx0 = { fixed = true }\nv0 = { fixed = true }\n";
    place.write("modes.toml", format!("model = \"oscillator\"\n{modes}{known}"));
    let run = place.good("identify modes.toml --report --out alone");
    assert!(run.out.contains("natural frequency") && run.out.contains("there are no samples"), "{}", run.out);
    measured(&place, "record");
    let record =
        "[data]\nfile = \"record/record.csv\"\ninputs.F = { column = \"force\" }\noutputs.x = { deviation = 1e-3 }\n";
    place.write("both.toml", format!("model = \"oscillator\"\n{record}{modes}{known}"));
    place.good("identify both.toml --report --out both");
    for folder in ["alone", "both"] {
        let result: serde_json::Value = serde_json::from_str(&place.read(&format!("{folder}/result.json"))).unwrap();
        assert!((value(&result, "c") - 33.0).abs() < 0.1, "{folder}: {}", value(&result, "c"));
        assert!((value(&result, "d") - 0.5).abs() < 0.02, "{folder}: {}", value(&result, "d"));
        assert_eq!(result["modes"][1]["quantity"], "damping_ratio");
        assert!(place.read(&format!("{folder}/report.html")).contains("Measured modes"));
    }
    // modes are drawn with their deviations: of c, 40 * 2 * 1e-3 by the frequency alone
    place.write(
        "noisy.toml",
        format!(
            "model = \"oscillator\"\n[cost]\noutputs = [\"x\"]\nsynthetic_noise = {{ level = 0.05 }}\n{nominal}{known}"
        ),
    );
    place.good("identify noisy.toml --bootstrap 60 --out drawn");
    let drawn: serde_json::Value = serde_json::from_str(&place.read("drawn/result.json")).unwrap();
    let c = drawn["bootstrap"]["parameters"].as_array().unwrap().iter().find(|entry| entry["name"] == "c").unwrap();
    let [by_covariance, by_bootstrap] = ["standard_error", "bootstrap_error"].map(|key| c[key].as_f64().unwrap());
    assert!((by_bootstrap / by_covariance).ln().abs() < 0.5, "{by_bootstrap} {by_covariance}");
    place.good("check modes.toml --out checked");
    place.good("gradient both.toml --method all");
    let wrong = |mode: &str, words: &[&str]| {
        place.write("wrong.toml", format!("model = \"oscillator\"\n[[mode]]\n{mode}\n{known}"));
        place.refused("identify wrong.toml", words);
    };
    wrong("number = 1", &["line 2", "nothing was measured of it"]);
    wrong("natural_frequency = [1.0, 0.1]", &["number", "it is missing"]);
    wrong("number = 1\nnatural_frequency = 1.0", &["line 4", "[2.31, 0.01]"]);
    wrong("number = 1\ndamping_ratio = [2.0, 0.1]", &["line 4", "0.02 for 2 % of critical damping"]);
    wrong("number = 3\nnatural_frequency = [1.0, 0.1]", &["mode 3", "the model has 1 mode;"]);
    wrong("number = 1\nfrequency = [1.0, 0.1]", &["line 4", "`frequency`", "damped_frequency"]);
    place.refused("identify modes.toml --method ding", &["second derivatives of modes", "lm or bfgs"]);
}

// Protects parameters that follow from others: the same fit in other parameters has the same optimum, and what follows has the errors that it has where
// it is searched for; combinations are determined whose parts are not.
#[test]
fn parameters_follow_from_others() {
    let place = Place::new();
    let noise = "[cost]\nsynthetic_noise = { seed = 3, level = 0.02 }\n";
    place.write("direct.toml", format!("model = \"oscillator\"\n{noise}"));
    let frequency = "c = { expr = \"w0^2*m\" }\nd = { expr = \"2*zeta*w0*m\" }\n\
                     w0 = { unit = \"rad/s\", start = 5.0, nominal = 6.324555320336759 }\n\
                     zeta = { unit = \"1\", start = 0.03, nominal = 0.06324555320336759 }\n";
    place.write("derived.toml", format!("model = \"oscillator\"\n{noise}[parameters]\n{frequency}"));
    let (direct, derived) =
        (place.json("identify direct.toml --json", 0), place.json("identify derived.toml --json", 0));
    let found = |result: &serde_json::Value, table: &str, name: &str| -> [f64; 2] {
        let all = result[table].as_array().unwrap();
        let own = all.iter().find(|own| own["name"] == name).unwrap();
        ["value", "standard_error"].map(|key| own[key].as_f64().unwrap())
    };
    for name in ["c", "d"] {
        let [value, error] = found(&direct, "parameters", name);
        let [other, its_error] = found(&derived, "dependent_parameters", name);
        assert!(
            (value - other).abs() < 1e-6 * value && (error - its_error).abs() < 1e-5 * error,
            "{name}: {error} {its_error}"
        );
    }
    assert!(place.good("identify derived.toml").out.contains("follow from these: c = "));
    let sum =
        "c = { expr = \"k1 + k2\" }\nk1 = { unit = \"N/m\", start = 10.0 }\nk2 = { unit = \"N/m\", start = 30.0 }\n";
    place.write("sum.toml", format!("model = \"oscillator\"\n{noise}[parameters]\n{sum}"));
    let result = place.json("identify sum.toml --json", 0);
    let own = &result["dependent_parameters"][0];
    assert!(own["name"] == "c" && own["determined"] == true && own["standard_error"].as_f64().unwrap() < 1.0, "{own}");
    assert!(
        result["parameters"]
            .as_array()
            .unwrap()
            .iter()
            .any(|own| own["name"] == "k1" && own["determined"] == "undetermined")
    );
    place.good("check derived.toml");
    place.good("hessian derived.toml");
    place.good("simulate derived.toml --set w0=7");
    for (from, to, words) in [
        ("w0^2*m", "w0*m", "derived.toml, line 5: parameter `c`: this is in [N s/m], where [N/m] is wanted"),
        ("w0^2*m", "w1^2*m", "there is no name `w1`; known are: m, pi, t, v0, w0"),
        ("w0^2*m", "w0^2*m + t*1[N/m/s]", "cannot depend on the time"),
        ("w0^2*m", "c*w0/w0", "leads to itself"),
        ("c = { expr", "cc = { expr", "there is no parameter `cc`"),
        ("\" }\nd", "\", lower = 0 }\nd", "`lower`"),
        ("zeta = { unit = \"1\", ", "zeta = { ", "a new parameter has a `unit`"),
        ("zeta = { unit = \"1\", start = 0.03, ", "zeta = { unit = \"1\", ", "nobody knows its value"),
        ("zeta*w0", "w0", "no formula names it"),
        ("w0 = {", "m = { unit = \"kg\", start = 1 }\nw0 = {", "knows its unit"),
        ("zeta = { unit", "pi = { unit", "cannot be named in formulas"),
    ] {
        let text = place.read("derived.toml");
        let slip = text.replacen(from, to, 1);
        assert_ne!(slip, text, "{from}");
        place.write("slip.toml", slip);
        let words = words.replace("derived.toml", "slip.toml");
        place.refused("identify slip.toml", &["slip.toml", &words]);
    }
    place.refused("identify derived.toml --set c=3", &["parameter `c`: it follows from others"]);
    place.refused("identify derived.toml --fix d", &["parameter `d`: it follows from others"]);
}

// Protects costs by formulas: the damping of least integral of x^2 after a release is sqrt(c m), found without a record and with one, whose outputs are then not compared; what
// belongs to sums of squares is refused beside them.
#[test]
fn a_cost_may_be_a_formula() {
    let place = Place::new();
    let file = "model = \"oscillator\"\n[integrator]\nend = 12.0\n[cost]\nintegral = \"x^2\"\n[parameters]\nc = { start = 40.0, free = false }\nd = { start = 2.0 }\n";
    let still = format!("{file}[data]\nfile = \"still.csv\"\n");
    let rows: String = (0..1201).map(|i| format!("{},0,7\n", 0.01 * f64::from(i))).collect();
    place.write("still.csv", format!("t,F,x\n{rows}"));
    place.write("still.toml", still.replace("end = 12.0", "step = 0.01"));
    let found = place.json("identify still.toml --json", 0);
    let d = |found: &serde_json::Value| value(found, "d");
    // a step of 0.01 s
    assert!((d(&found) - 40f64.sqrt()).abs() < 0.02, "{found}");
    assert!(found["parameters"][2]["name"] == "d" && found["converged"] == true);
    place.write("own.toml", file);
    let run = place.good("gradient own.toml");
    assert!(run.err.contains("the cost is the integral of x^2 over time"), "{}", run.err);
    // a search that drives the mechanism to where steps cannot follow it finds a minimum of the steps
    place.write("coarse.toml", "model = \"oscillator\"\n[cost]\nintegral = \"x^2\"\n");
    let run = place.run("identify coarse.toml --out coarse");
    assert!(
        run.code == 1 && run.out.contains("that of the steps") && run.out.contains("at half the step it is"),
        "{}",
        run.out
    );
    // neither is one that is always further away, nor one that nothing changes
    place.write("far.toml", file.replace("x^2", "v^2"));
    let run = place.run("identify far.toml --out far");
    assert!(run.code == 1 && run.out.contains("`d` has run off") && run.out.contains("upper = VALUE"), "{}", run.out);
    place.write("level.toml", file.replace("x^2", "c"));
    let run = place.run("identify level.toml --out level");
    assert!(run.code == 1 && run.out.contains("no free parameter changes the cost"), "{}", run.out);
    // a start at the very minimum has no slopes either, and is one
    place.write("there.toml", file.replace("x^2", "(d - 2)^2"));
    assert!(place.good("identify there.toml --out there").out.contains("converged: "));
    // along a constraint the cost need not be level
    place.write("bound.toml", format!("{file}[[constraint]]\nrule = \"d <= 3\"\n"));
    let run = place.good("identify bound.toml --out bound").out;
    assert!(!run.contains("that of the steps"), "{run}");
    // a record is judged by what it costs, which no comparison stands for
    let run = place.good("identify still.toml --out still");
    assert!(!run.err.contains("the same samples"), "{}", run.err);
    place.write("longer.csv", format!("t,F,x\n{rows}12.01,0,7\n12.02,0,7\n"));
    let run = place.good("validate still --data longer.csv --out validated");
    assert!(run.out.contains("longer  ") && run.out.contains("the cost that was found: "), "{}", run.out);
    let validated: serde_json::Value = serde_json::from_str(&place.read("validated/validation.json")).unwrap();
    let [cost, own] = [&validated["costs"][0]["cost"], &found["cost"]].map(|cost| cost.as_f64().unwrap());
    assert!((cost / own - 1.0).abs() < 1e-3, "{cost} {own}");
    let file_twice = still.replace(
        "[data]\nfile = \"still.csv\"\n",
        "[[experiment]]\nfile = \"still.csv\"\n[[experiment]]\nname = \"other\"\nfile = \"still.csv\"\nuntil = 6.0\n",
    );
    place.write("twice.toml", file_twice.replace("end = 12.0", "step = 0.01"));
    let run = place.run("check twice.toml --out check");
    assert!(run.err.contains("still.csv") && !run.err.contains("the same samples"), "{}", run.err);
    let check = place.good("check still.toml --out check").out;
    assert!(check.contains("no sum of squared residuals") && !check.contains("WRONG"), "{check}");
    for (text, parts) in [
        (file.replace("x^2", "x^2 +"), ["line 5", "integral"]),
        (file.replace("integral", "noise = \"given\"\nintegral"), ["line 5", "it is of a sum of squares"]),
        (format!("{still}outputs.x = {{ deviation = 1e-3 }}\n"), ["output `x`", "the cost is a formula"]),
        (format!("{file}[optimiser]\nmethod = \"lm\"\n"), ["method `lm`", "no sum of squares"]),
    ] {
        place.write("wrong.toml", text);
        let run = place.run("identify wrong.toml");
        assert!(run.code != 0 && parts.iter().all(|part| run.err.contains(part)), "{}", run.err);
    }
}

// Protects fits from each other, and what a fit has said of its record: two problem files of one model have folders of their own, a result of another
// command is replaced with a word, and inputs are interpolated in `validate` and behind `--from` as they were in the fit, whoever said so.
#[test]
fn results_stay_apart_and_keep_their_interpolation() {
    let place = Place::new();
    measured(&place, "case");
    let record = place.read("case/record.csv").replacen(",force", ",F", 1);
    place.write("record.csv", record);
    for name in ["one", "two"] {
        place.write(&format!("{name}.toml"), "model = \"oscillator\"\n[data]\nfile = \"record.csv\"\n");
        place.good(&format!("identify {name}.toml --interpolation cubic"));
    }
    let [one, two] = ["one", "two"].map(|name| place.read(&format!("out/{name}/result.json")));
    assert!(one.contains("identify one.toml") && two.contains("identify two.toml"));
    let result: serde_json::Value = serde_json::from_str(&one).unwrap();
    assert_eq!(result["experiments"][0]["inputs"][0]["interpolation"], "cubic");
    let again = place.good("identify one.toml");
    assert!(
        again.err.contains("the result in out/one") && again.err.contains("is going to be replaced"),
        "{}",
        again.err
    );
    for command in ["validate out/two --data record.csv", "simulate oscillator --from out/two --data record.csv"] {
        let run = place.good(command);
        assert!(run.err.contains("(cubic)"), "{command}: {}", run.err);
    }
    let other = place.good("simulate oscillator --from out/two --data record.csv --interpolation linear");
    assert!(other.err.contains("(linear)"), "{}", other.err);
}

/// Protects a sum of outputs from weights as long as the rows of a file, where one of the outputs is in few of them.
#[test]
fn weights_of_sparse_outputs_are_told() {
    let place = Place::new();
    let row = |i: i32| {
        let t = 0.01 * f64::from(i);
        let rate = if i % 10 == 0 { "0.2" } else { "" };
        format!("{t},{},{},{rate}\n", (9.0 * t).sin(), 0.1 * (7.0 * t).cos())
    };
    place.write("sparse.csv", format!("t,F,x,v\n{}", (0..200).map(row).collect::<String>()));
    for (weights, is_told) in [("trapezoid", true), ("rectangle", true), ("unit", false)] {
        place.write(
            "sparse.toml",
            format!(
                "model = \"oscillator\"\n[cost]\nweights = \"{weights}\"\n[data]\nfile = \"sparse.csv\"\n\
                 outputs.x = {{ deviation = 1e-2 }}\noutputs.v = {{ deviation = 1e-2 }}\n"
            ),
        );
        let run = place.run("check sparse.toml --out check");
        assert_eq!(run.err.contains("the weights of `v` are those of all rows"), is_told, "{weights}: {}", run.err);
        assert!(!run.err.contains("the weights of `x`"), "{}", run.err);
    }
}

/// Protects who fits measured modes from a start where two of them are one, as of two like springs: derivatives are those of their mean there, so that nothing
/// leads them apart; that is no optimum, and what is said helps.
#[test]
fn modes_that_meet_are_told() {
    let place = Place::new();
    place.write(
        "two.toml",
        "name = \"two\"\ncoordinates = { p = \"m\", q = \"m\" }\nmass = { p = \"m\", q = \"m\" }\nforce = { p = \"-k1*p\", q = \"-k2*q\" }\n\
         outputs = { p = { unit = \"m\", is = \"p\" } }\n[parameters]\nm = { unit = \"kg\", nominal = 1.0, fixed = true }\n\
         k1 = { unit = \"N/m\", nominal = 40.0, lower = 1.0 }\nk2 = { unit = \"N/m\", nominal = 40.0, lower = 1.0 }\n",
    );
    let problem = |k2: f64| {
        format!(
            "model = \"two.toml\"\n[[mode]]\nnumber = 1\nnatural_frequency = [1.0, 0.01]\n[[mode]]\nnumber = 2\nnatural_frequency = [1.2, 0.01]\n\
             [parameters]\nk1 = {{ start = 45.0 }}\nk2 = {{ start = {k2:?} }}\n"
        )
    };
    place.write("alike.toml", problem(45.0));
    let met = place.run("identify alike.toml --out met");
    assert_eq!(met.code, 1, "{}{}", met.out, met.err);
    for said in ["NOT converged", "modes 1 and 2 have one frequency here", "measured at 1 and 1.2 Hz", "--starts"] {
        assert!(met.out.contains(said), "{said}: {}", met.out);
    }
    // what would follow from derivatives of a mean
    assert!(met.out.contains("no statistics: measured modes") && !met.out.contains("fix one of them"), "{}", met.out);
    assert!(place.run("check alike.toml").out.contains("have one frequency here"));
    place.write("apart.toml", problem(46.0));
    let found = place.good("identify apart.toml --out apart").out;
    assert!(found.contains("39.478"), "{found}");
}
