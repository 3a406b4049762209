//! `costate control` as people and programs use it.

use crate::run;
use run::Place;
use serde_json::Value;

const SWING: &str = r#"
model = "cart_pole"

[integrator]
step = 0.01
end = 1.5

[parameters]
theta0 = { start = 0.0 }

[[control.signal]]
input = "F"
size = 5.0
start = 0.0
intervals = 30
lower = -20.0
upper = 20.0
effort = 1e-3

[[control.goal]]
output = "theta"
reach = 3.141592653589793
must = true

[[control.goal]]
output = "x"
reach = 0.0
weight = 10.0
must = true
"#;

// Protects a good problem of control from being called wrong because it identifies nothing.
#[test]
fn a_problem_of_control_is_no_wrong_identification() {
    let place = Place::new();
    place.write("swing.toml", SWING);
    place.refused("identify swing.toml", &["[control]", "optimal control", "costate control"]);
    let run = place.good("check swing.toml");
    assert!(run.out.contains("nothing is wrong; 1 warning"), "{}", run.out);
    let reason = &place.json("check swing.toml --json", 0)["identifiability"]["missing_because"];
    assert!(reason.as_str().is_some_and(|reason| reason.contains("are signals")), "{reason}");
}

// Protects the whole way: a stated problem is solved, its files are there, its signals are a record that gives the same outputs, the swing
// begins where the file says, bounds and constraints are kept, and JSON says what the table says.
#[test]
fn a_stated_problem_is_solved_and_read_back() {
    let place = Place::new();
    place.write("swing.toml", SWING);
    let found = place.json("control swing.toml --out found --json", 0);
    assert!(found["converged"] == true && found["constraints_met"] == true, "{found:#}");
    assert_eq!(found["replay"]["survives"], true);
    let force: Vec<f64> =
        found["signals"][0]["values"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
    assert!(force.len() == 151 && force.iter().all(|w| w.abs() <= 20.0));
    let shares: f64 = found["shares"].as_array().unwrap().iter().map(|share| share["cost"].as_f64().unwrap()).sum();
    assert!((shares - found["cost"].as_f64().unwrap()).abs() < 1e-12);
    for name in ["result.json", "signals.csv", "outputs.csv", "history.csv", "cost.svg", "signals.svg", "outputs.svg"] {
        assert!(place.path(&format!("found/{name}")).exists(), "{name}");
    }
    let written: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    assert_eq!(written["cost"], found["cost"]);
    let (again, outputs) = (place.path("again"), place.read("found/outputs.csv"));
    place.good(&format!("simulate cart_pole --set theta0=0 --data found/signals.csv --out {}", again.display()));
    let numbers = |text: &str| -> Vec<f64> {
        text.lines()
            .skip(1)
            .flat_map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect::<Vec<f64>>())
            .collect()
    };
    let (found, again) = (numbers(&outputs), numbers(&place.read("again/outputs.csv")));
    assert_eq!(found.len(), again.len());
    // between nodes the record has the last digits of its own samples
    found.iter().zip(&again).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} and {b}"));
    assert_eq!(found[2], 0.0, "theta begins at 0");
}

// Protects what is found of every shape, signals that jump too: the command that is printed gives the same outputs.
#[test]
fn every_shape_is_read_back() {
    let place = Place::new();
    for shape in ["constant", "linear", "cubic", "fourier"] {
        let swing = SWING.replace("intervals = 30", &format!("intervals = 12\nshape = \"{shape}\""));
        // a series cannot be bounded
        let swing = if shape == "fourier" { swing.replace("lower = -20.0\nupper = 20.0\n", "") } else { swing };
        place.write("swing.toml", swing);
        let run = place.run("control swing.toml --max-iterations 4 --out found");
        let back = run.out.lines().find_map(|line| line.strip_prefix("read back by: costate "));
        let back = back.unwrap_or_else(|| panic!("{shape}: {}{}", run.out, run.err));
        assert_eq!(back.contains("--interpolation zero-order"), shape == "constant", "{back}");
        place.good(&format!("{back} --out again"));
        let outputs = |folder: &str| -> Vec<f64> {
            let text = place.read(&format!("{folder}/outputs.csv"));
            text.lines()
                .skip(1)
                .flat_map(|line| line.split(',').map(|cell| cell.parse::<f64>().unwrap()).collect::<Vec<_>>())
                .collect()
        };
        let (found, again) = (outputs("found"), outputs("again"));
        assert_eq!(found.len(), again.len(), "{shape}");
        let off = found.iter().zip(&again).fold(0.0, |most: f64, (a, b)| most.max((a - b).abs() / (1.0 + a.abs())));
        // between nodes the record has the last digits of its own samples
        assert!(off < 1e-9, "{shape}: {off:e}");
    }
}

// Protects exit codes: what cannot be met, and what does not survive, is no success, and is reported.
#[test]
fn failures_are_told() {
    let place = Place::new();
    place.write("far.toml", SWING.replace("reach = 0.0", "reach = 40.0"));
    let run = place.run("control far.toml --max-iterations 20 --out far");
    assert_eq!(run.code, 1, "{}", run.out);
    assert!(run.out.contains("NOT met: x reaches 40") && run.out.contains("NOT converged"), "{}", run.out);
    place.write("coarse.toml", SWING.replace("step = 0.01", "step = 0.15").replace("intervals = 30", "intervals = 10"));
    let run = place.run("control coarse.toml --out coarse");
    assert!(run.code == 1 && run.out.contains("does NOT survive") && run.out.contains("--refine"), "{}", run.out);
}

// Protects the bound of the whole: rounds of multipliers and refinements share the iterations that are allowed, and what was cut short is no success.
#[test]
fn iterations_are_those_of_all_rounds_and_refinements() {
    let place = Place::new();
    place.write("swing.toml", SWING);
    for refine in ["", "--refine 2"] {
        let found = place.json(&format!("control swing.toml --max-iterations 2 {refine} --json"), 1);
        assert_eq!((&found["iterations"], &found["converged"]), (&2.into(), &false.into()), "{refine}");
        assert!(
            found["stages"].as_array().unwrap().len() == 1 && found["reason"].as_str().unwrap().contains("used up")
        );
    }
}

// Protects sentences: each names what is wrong and where; nothing that control would overlook is accepted.
#[test]
fn wrong_problems_are_told() {
    let place = Place::new();
    for (change, to, parts) in [
        ("input = \"F\"", "input = \"G\"", ["`G`", "known: F"]),
        ("output = \"theta\"", "output = \"phi\"", ["`phi`", "theta"]),
        ("size = 5.0", "", ["`size`", "[control.signal.1]"]),
        ("reach = 0.0", "", ["`output`", "[control.goal.2]"]),
        ("reach = 0.0", "reach = 0.0\nlower = -1.0", ["more than one thing", "[control.goal.2]"]),
        ("lower = -20.0", "lower = 30.0", ["cross", "`F`"]),
        ("intervals = 30", "intervals = 400", ["act at none", "fewer intervals"]),
        ("intervals = 30", "shape = \"square\"", ["square", "linear"]),
        (
            "[[control.signal]]",
            "[[constraint]]\nrule = \"peak x <= 1\"\n\n[[control.signal]]",
            ["overlook", "must = true"],
        ),
        ("reach = 0.0", "follow = \"none.csv\"", ["none.csv", "read"]),
        ("end = 1.5", "end = 1.5\ninitial_state = \"equilibrium\"", ["equilibrium", "follow"]),
    ] {
        assert!(SWING.contains(change), "{change}");
        place.write("wrong.toml", SWING.replacen(change, to, 1));
        let run = place.run("control wrong.toml --out wrong");
        assert!(!place.path("wrong").exists(), "{change}: a folder is left");
        assert!(run.code == 2 && parts.iter().all(|part| run.err.contains(part)), "{change}: {}", run.err);
    }
    let run = place.run("control pendulum");
    assert!(run.code == 2 && run.err.contains("overhead_crane"), "{}", run.err);
}

// Protects the comparison of gradients: the continuous adjoint is a column where it can be, and a sentence where it cannot.
#[test]
fn the_continuous_adjoint_is_shown() {
    let place = Place::new();
    let run = place.run("gradient five_bar --method all");
    assert!(run.code == 0 && run.out.contains("continuous (BDF2)"), "{}", run.out);
    assert!(run.out.contains("gradient of the same cost") && run.out.contains("at half the step"), "{}", run.out);
    let gap = &place.json("gradient five_bar --method all --json", 0)["continuous_gap"];
    let [whole, half] = ["largest_difference", "at_half_step"].map(|key| gap[key].as_f64().unwrap());
    assert!((3.4..4.6).contains(&(whole / half)), "{whole}, {half}");
    let run = place.run("gradient oscillator --method all");
    assert!(
        run.code == 0 && run.err.contains("the continuous adjoint") && run.err.contains("no column"),
        "{}",
        run.err
    );
}

const LOAD: &str = r#"
model = "hanging_load"

[integrator]
step = 0.02
end = 2.5

[control]
refinements = 1

[[control.signal]]
input = "slide"
size = 1.0
smoothness = 1e-3
lower = 0.0
rate = 0.85

[[control.goal]]
output = "load.x"
reach = 1.5
must = true

[[control.goal]]
output = "speed.x"
reach = 0.0
must = true
"#;

// Protects motions in problem files: found within their limits, begun again on halved steps with what was found, written as a column like an
// input's, and read back by their parameters; and what a motion says itself cannot be said again.
#[test]
fn a_motion_is_found() {
    let place = Place::new();
    place.write("load.toml", LOAD);
    let run = place.good("control load.toml --out found").out;
    assert!(run.contains("largest slide: 1.5"), "{run}");
    let found: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    assert!(found["constraints_met"] == true && found["steps"] == 250 && found["signals"][0]["shape"] == "motion");
    let slide: Vec<f64> =
        found["signals"][0]["values"].as_array().unwrap().iter().map(|s| s.as_f64().unwrap()).collect();
    assert!(slide.iter().all(|s| *s >= 0.0) && slide[0] == 0.0 && (slide[250] - 1.5).abs() < 1e-12);
    // the second search begins where the first one has ended
    let before = place.json("control load.toml --refine 0 --json", 0);
    let stages = found["stages"].as_array().unwrap();
    assert!(stages.len() == 2 && found["kept_stage"] == 2 && stages.iter().all(|stage| stage["lost"] == false));
    let begins = stages[1]["start_cost"].as_f64().unwrap();
    assert!(begins < 1.01 * before["cost"].as_f64().unwrap(), "{begins}");
    assert_eq!((&found["start_cost"], &stages[0]["cost"]), (&before["start_cost"], &before["cost"]));
    // the history is that of both, in running numbers, and each stage begins where the result says
    let history = place.read("found/history.csv");
    let rows: Vec<Vec<f64>> =
        history.lines().skip(1).map(|line| line.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    assert!(history.starts_with("stage,iteration,evaluations,cost,gradient_norm\n"), "{history}");
    let second = stages[1]["first_iteration"].as_f64().unwrap();
    for (i, row) in rows.iter().enumerate() {
        assert_eq!(row[..2], [if i as f64 >= second { 2.0 } else { 1.0 }, i as f64], "{history}");
    }
    assert!(second > 3.0 && rows.windows(2).all(|pair| pair[0][2] <= pair[1][2]), "{history}");
    assert!(place.read("found/cost.svg").contains("stage 2"));
    assert!(place.read("found/signals.csv").starts_with("time [s],slide [m]\n"));
    let back = run.lines().find_map(|line| line.strip_prefix("read back by: costate ")).unwrap();
    place.good(&format!("{back} --end 2.5 --out again"));
    for (change, to, parts) in [
        ("input = \"slide\"", "input = \"glide\"", ["`glide`", "did you mean `slide`"]),
        ("size = 1.0", "size = 1.0\nstart = 0.0", ["`slide`", "[parameters]"]),
        ("size = 1.0", "size = 1.0\nintervals = 5", ["`slide`", "leave out"]),
    ] {
        place.write("wrong.toml", LOAD.replacen(change, to, 1));
        let run = place.run("control wrong.toml --out wrong");
        assert!(run.code == 2 && parts.iter().all(|part| run.err.contains(part)), "{change}: {}", run.err);
    }
}

const STRETCH: &str = r#"
model = "oscillator"

[integrator]
step = 0.01
end = 1.0

[parameters]
c = { start = 0.0 }
d = { start = 0.0 }
x0 = { start = 0.0 }

[control]
integral = "F^2"

[[control.signal]]
input = "F"
size = 6.0
start = 0.0
intervals = 10

[[control.goal]]
output = "x"
reach = 1.0
must = true

[[control.goal]]
output = "v"
reach = 0.0
must = true
"#;

// Protects costs by formulas in control: a mass is moved by 1 m in 1 s from rest to rest with the least integral of F^2, which is 12 N^2 s with F = 6 N - 12 N/s t; the
// steps' own error is told by half of them; slips are told with their lines, and what belongs elsewhere is not overlooked.
#[test]
fn a_formula_is_a_cost_of_control() {
    let place = Place::new();
    place.write("stretch.toml", STRETCH);
    let found = place.json("control stretch.toml --json", 0);
    // the mass's own formula holds to the order of the step
    assert!((found["cost"].as_f64().unwrap() - 12.0).abs() < 0.02, "{}", found["cost"]);
    let force: Vec<f64> =
        found["signals"][0]["values"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
    assert!((force[0] - 6.0).abs() < 0.05 && (force[force.len() - 1] + 6.0).abs() < 0.05, "{force:?}");
    assert!(found.to_string().contains("the integral of F^2 over time"), "{found}");
    // alone, it needs no goals
    let goals = STRETCH.find("[[control.goal]]").unwrap();
    place.write("alone.toml", STRETCH[..goals].replace("F^2", "(F - 3*t)^2"));
    let found = place.json("control alone.toml --json", 0);
    assert!(found["cost"].as_f64().unwrap() < 1e-10, "{found}");
    // a parameter that would go on is told to be at its bound
    let bound = STRETCH[..goals]
        .replace("F^2", "(c - 30)^2 + F^2")
        .replace("c = { start = 0.0 }", "c = { start = 0.0, free = true, upper = 20.0 }");
    place.write("bound.toml", bound);
    let found = place.run("control bound.toml --out bound").out;
    assert!(found.contains("found: c = 20.000000000 N/m (from 0, at its upper bound)"), "{found}");
    for (from, to, parts) in [
        ("\"F^2\"", "\"F^2 + nothing\"", ["line 14", "there is no name `nothing`"]),
        ("[control]\nintegral", "[cost]\nintegral", ["[cost]", "[control]"]),
        ("integral", "integrand", ["integrand", "integral"]),
    ] {
        place.write("wrong.toml", STRETCH.replacen(from, to, 1));
        let run = place.run("control wrong.toml");
        assert!(run.code != 0 && parts.iter().all(|part| run.err.contains(part)), "{}", run.err);
    }
}

/// A mass on a spring, and a stop that it is thrown against.
const STOP: &str = "\
name = \"stop\"
units = false
coordinates = { x = \"m\" }
inputs = { F = \"N\" }
mass = { x = 1.0 }
force = { x = \"F - k*x - if(x > 0.2, 0.6, 0)\" }
start = { x = 0.5 }
outputs = { x = { unit = \"m\", is = \"x\" } }
[parameters]
k = { nominal = 10.0 }
[scenario]
end = 2.0
step = 1e-2
inputs = { F = \"0\" }
";

// Protects signals and designs from derivatives that leave jumps out: both commands say so.
#[test]
fn jumps_are_told() {
    let place = Place::new();
    place.write("stop.toml", STOP);
    let control = "model = \"stop.toml\"\n[control]\n[[control.signal]]\ninput = \"F\"\nsize = 1.0\nintervals = 4\n\
                   [[control.goal]]\noutput = \"x\"\nreach = 0.1\n";
    let design = "model = \"stop.toml\"\n[parameters]\nk = { start = 10.0 }\n\
                  [[candidate]]\nname = \"long\"\nend = 2.0\nsampling = 0.1\noutputs = { x = 1e-3 }\n";
    let cost = "model = \"stop.toml\"\n[parameters]\nk = { start = 10.0 }\n[cost]\nintegral = \"if(x > 0.3, 1, 0)\"\n";
    place.write("control.toml", control).write("design.toml", design).write("cost.toml", cost);
    let input = "model = \"stop.toml\"\n[control]\nintegral = \"if(F > 0.2, 1, 0)\"\n[[control.signal]]\ninput = \"F\"\nsize = 1.0\nintervals = 4\n\
                 [[control.goal]]\noutput = \"x\"\nreach = 0.1\nweight = 100\n";
    place.write("input.toml", input.replace("stop.toml", "plain.toml"));
    place.write("plain.toml", STOP.replace(" - if(x > 0.2, 0.6, 0)", ""));
    for (arguments, what) in [
        ("control control.toml --max-iterations 3", "the forces on `x` by 0.6"),
        ("design design.toml", "the forces on `x` by 0.6"),
        ("gradient cost.toml", "the running cost by 1 at"),
        ("identify cost.toml", "the running cost by 1 at"),
        // its moment moves with what is sought
        ("control input.toml --max-iterations 20", "the running cost by 1 at"),
    ] {
        let run = place.run(arguments);
        let said = "warning: the motion goes through jumps: ";
        assert!(run.err.contains(said) && run.err.contains(what), "{arguments}: {}", run.err);
    }
    // where nothing else changes the cost, there is no success
    place.write("flat.toml", cost.replace("stop.toml", "plain.toml"));
    let flat = place.run("identify flat.toml");
    assert!(flat.code != 0 && flat.out.contains("no free parameter changes the cost"), "{}", flat.out);
    assert!(flat.out.contains("goes through jumps"), "{}", flat.out);
}

// Protects costs of one's own from steps that are too large for them, and Hessians from kinks, whose moments no second derivative knows; smooth ones
// raise no alarm.
#[test]
fn steps_and_kinks_of_own_costs_are_told() {
    let place = Place::new();
    place.write("plain.toml", STOP.replace(" - if(x > 0.2, 0.6, 0)", ""));
    let costs = ["x^2", "tanh((x - 0.3)/1e-3)", "abs(x)", "sqrt(x^2 + 0.05^2)", "x/abs(x - 0.5)"];
    for (k, cost) in costs.into_iter().enumerate() {
        let head = "model = \"plain.toml\"\n[parameters]\nk = { start = 10.0 }\n[cost]\nintegral";
        place.write(&format!("{k}.toml"), format!("{head} = \"{cost}\"\n"));
    }
    let coarse = place.good("gradient 1.toml");
    assert!(coarse.err.contains("steps are too large: at half the step the cost is"), "{}", coarse.err);
    let fine = place.good("gradient 0.toml");
    assert!(!fine.err.contains("warning") && fine.out.contains("at half the step the cost is"), "{}", fine.err);
    let kinked = place.good("hessian 2.toml");
    assert!(kinked.err.contains("otherwise than the Hessian says") && kinked.err.contains("kinks"), "{}", kinked.err);
    for smooth in ["hessian 0.toml", "hessian 3.toml", "hessian oscillator"] {
        let run = place.good(smooth);
        assert!(!run.err.contains("kinks"), "{smooth}: {}", run.err);
    }
    // where the cost is none is said: at the start, which no step mends
    place.refused("gradient 4.toml", &["the cost is inf at t = 0 s (step 0)", "check its formulas at the start"]);
}
