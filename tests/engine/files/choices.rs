//! Choices by formulas: what is compared counts, too, where both branches are constants.

use costate::adapt::StepControl;
use costate::cost::Quadrature;
use costate::jumps::{in_a_sentence, jumps, kinks_passed};
use costate::linearise::{CostFunction, Differentiated};
use costate::sensitivity::{Gradient, Method};
use costate::{Number, Simulation, State, TimeGrid};
use costate_file::parse;
use costate_identify::problem::Problem;
use costate_identify::statistics::identifiability;
use std::f64::consts::TAU;
use std::path::Path;

fn problem(text: &str) -> Problem {
    let entry = parse(text, Path::new("choice.toml")).unwrap_or_else(|error| panic!("{error}: {text}"));
    entry.problem(&entry.scenario).unwrap()
}

/// A mass that is 1 kg and 10 kg, or a force, of one coordinate that moves through 0.5 m.
fn file(mass: &str, force: &str) -> String {
    format!(
        "name = \"choice\"\nunits = false\ncoordinates = {{ x = \"m\", y = \"m\" }}\nmass = {{ x = \"{mass}\", y = 1 }}\n\
         force = {{ x = \"{force}\", y = \"k\" }}\nstart = {{ x = 0.7 }}\noutputs = {{ a = {{ unit = \"m\", is = \"x\" }} }}\n\
         [parameters]\nk = {{ nominal = 2.0, size = 1.0 }}\n[scenario]\nend = 1.5\nstep = 1e-3\n"
    )
}

/// Protects factors of continuous forces that are constants on both sides: they make derivatives that are others on both sides. Adjoint and tangents agree
/// to round-off, and with differences; a choice of the very same force says the same.
#[test]
fn constants_on_both_sides_depend_on_what_is_compared() {
    let mut known: Vec<(&str, f64)> = Vec::new();
    for (group, force) in [
        ("ten", "-k*if(x > 0.5, 10, 1)*(x - 0.5)"),
        ("ten", "if(x > 0.5, -10*k*(x - 0.5), -k*(x - 0.5))"),
        ("sign", "-k*sign(x - 0.5)*(x - 0.5)"),
        ("sign", "-k*abs(x - 0.5)"),
        ("stop", "-k*x - 100*step(x - 0.5)*(x - 0.5)"),
        ("stop", "-k*x - 100*max(0, x - 0.5)"),
        ("rate", "-k*x - sign(x')*x'"),
        ("rate", "-k*x - abs(x')"),
    ] {
        let problem = problem(&file("1", force));
        let gradient = |method: Method| {
            let mut own = vec![0.0; problem.start.len()];
            let mut engine = Gradient::new(&problem.first().simulation, &*problem.first().cost).unwrap();
            engine.cost_and_gradient(&[2.3], method, &mut own).unwrap();
            own[0]
        };
        let [adjoint, tangent, difference] = [Method::Adjoint, Method::Tangent, Method::Difference].map(gradient);
        assert!((adjoint - tangent).abs() <= 1e-9 * tangent.abs(), "{force}: {adjoint} {tangent}");
        assert!((adjoint - difference).abs() <= 1e-5 * tangent.abs(), "{force}: {adjoint} {difference}");
        match known.iter().find(|(name, _)| *name == group) {
            Some((_, own)) => assert!((own - adjoint).abs() <= 1e-8 * own.abs(), "{force}: {own} {adjoint}"),
            None => known.push((group, adjoint)),
        }
    }
}

/// Protects masses that are constants on both sides: the run is that of the force divided by the same.
#[test]
fn a_mass_may_change_from_one_constant_to_another() {
    let end = |text: &str| {
        let problem = problem(text);
        let run = problem.first().simulation.run(&[3.0]).unwrap();
        *run.output(0).last().unwrap()
    };
    let own = end(&file("if(y > 0.5, 10, 1)", "k"));
    let divided = end(&file("1", "k*if(y > 0.5, 0.1, 1)"));
    // they pass the jump in one step each
    assert!((own - divided).abs() < 2e-3, "{own} {divided}");
    assert!((own - 3.375 - 0.7).abs() > 0.5, "{own}");
}

/// Protects files with first-order states and more coordinates than one: rows of the mass matrix go on to states.
#[test]
fn masses_stand_beside_states() {
    let text = |states: &str, force: &str, extra: &str| {
        format!(
            "name = \"both\"\ncoordinates = {{ x = \"m\", y = \"m\" }}\n{states}mass = {{ x = \"1[kg]\", y = \"2[kg]\", \"x, y\" = \"0.3[kg]\" }}\n\
             force = {{ x = \"-k*x\", y = \"-k*y{force}\" }}\n{extra}start = {{ x = 0.1, y = 0.1 }}\n\
             outputs = {{ y = {{ unit = \"m\", is = \"y\" }} }}\n[parameters]\nk = {{ unit = \"N/m\", nominal = 3.0 }}\n[scenario]\nend = 1.0\nstep = 1e-3\n"
        )
    };
    let run = |text: String| {
        let problem = problem(&text);
        problem.first().simulation.run(&[3.0]).unwrap().output(0)
    };
    let without = run(text("", "", ""));
    let beside = run(text("states = { z = \"m\" }\n", " + 0*k*z", "rates = { z = \"(x - z)*5[1/s]\" }\n"));
    without.iter().zip(&beside).for_each(|(a, b)| assert!((a - b).abs() < 1e-9, "{a} {b}"));
    let with = run(text("states = { z = \"m\" }\n", " + k*z", "rates = { z = \"(x - z)*5[1/s]\" }\n"));
    assert!(without.iter().zip(&with).any(|(a, b)| (a - b).abs() > 1e-3));
}

/// Protects derivatives from being believed where a motion goes through jumps: those whose moment moves with the motion or with a parameter are found,
/// each once and where it is; kinks, sides that meet, given times and inputs that jump are none.
#[test]
fn jumps_on_the_way_are_found() {
    let text = |force: &str, mass: &str, output: &str| {
        format!(
            "name = \"jump\"\nunits = false\ncoordinates = {{ x = \"m\" }}\ninputs = {{ F = \"N\" }}\nmass = {{ x = \"{mass}\" }}\n\
             force = {{ x = \"{force}\" }}\nstart = {{ \"x'\" = \"v\" }}\noutputs = {{ y = {{ unit = \"m\", is = \"{output}\" }} }}\n\
             [parameters]\nv = {{ nominal = 1.0 }}\ns = {{ nominal = 0.5 }}\nP = {{ nominal = 0.5 }}\nzero = {{ nominal = 0.0 }}\n[scenario]\nend = 1.0\n\
             step = 1e-3\ninputs = {{ F = \"0.1*step(t - 0.3)\" }}\n"
        )
    };
    let found = |force: &str, mass: &str, output: &str| {
        let problem = problem(&text(force, mass, output));
        jumps(&problem.first().simulation, None, &problem.start).unwrap()
    };
    // without the force until then, x = v t
    for (force, mass, output, what, time, size, count) in [
        ("-if(x > s, P, 0)", "1", "x", "the forces on `x`", 0.5, 0.5, 1),
        ("P*step(t - s)", "1", "x", "the forces on `x`", 0.5, 0.5, 1),
        ("P*step(t - 0.2 - zero)", "1", "x", "the forces on `x`", 0.2, 0.5, 1),
        // a stop, which it leaves again
        ("-step(x - s)*(1e3*(x - s) + 0.5*x')", "1", "x", "the forces on `x`", 0.5, 0.5, 2),
        ("0", "1", "if(x > s, 2, 1)", "the output `y`", 0.5, 1.0, 1),
        // a sign that is none, and what stands on a large constant
        ("-P*(x - s)/abs(x - s)", "1", "x", "the forces on `x`", 2.0 * (1.5f64.sqrt() - 1.0), 1.0, 1),
        ("0", "1", "1e6 + if(x > s, 2, 1)", "the output `y`", 0.5, 1.0, 1),
        // an angle that goes on from -π
        ("0", "1", "atan2(x - s, -1)", "the output `y`", 0.5, TAU, 1),
        // behind many that are given
        ("if(mod(t, 0.005) < 0.0025, 1e-3, 0) + P*step(t - s - 0.2)", "1", "x", "the forces on `x`", 0.7, 0.501, 1),
        // a force of 1 N moves it by t²/2 more
        ("1", "if(x > s, 3, 1)", "x", "the forces on `x`", 2f64.sqrt() - 1.0, f64::NAN, 1),
    ] {
        let all = found(force, mass, output);
        let [own] = &all[..] else { panic!("{force}, {mass}, {output}: {all:?}") };
        assert!(own.what == what && own.count == count, "{force}: {own:?}");
        assert!(
            (own.time - time).abs() < 1e-3 && (size.is_nan() || (own.size - size).abs() < 1e-3),
            "{force}: {own:?}"
        );
        assert!(in_a_sentence(&all).is_some_and(|said| said.contains(what) && said.contains("no derivative")));
    }
    for (force, output) in [
        ("-10*abs(x - s)", "x"),
        ("-100*max(0, x - s)", "abs(x - s)"),
        ("-100*step(x - s)*(x - s)", "x"),
        ("F - 10*if(x > s, 10, 1)*(x - s)", "x"),
        ("P*step(t - 0.5)", "x"),
        ("F*P", "x"),
        ("-tanh((x - s)/1e-5)", "x"),
        // the start stands on the threshold
        ("0", "if(x > 0, 1, 0)"),
    ] {
        let all = found(force, "1", output);
        assert!(all.is_empty() && in_a_sentence(&all).is_none(), "{force}: {all:?}");
    }
}

/// Protects derivatives of costs of one's own: one that jumps where the motion passes something is found beside a model that does not; one that bends,
/// one of time alone and a sum of squares are not.
#[test]
fn jumps_of_costs_are_found() {
    let text = "name = \"free\"\nunits = false\ncoordinates = { x = \"m\" }\nmass = { x = 1.0 }\nforce = { x = \"F*0\" }\nstart = { \"x'\" = \"v\" }\n\
                outputs = { x = { unit = \"m\", is = \"x\" } }\n[parameters]\nv = { nominal = 1.0 }\nF = { nominal = 1.0 }\n[scenario]\nend = 1.0\nstep = 1e-2\n";
    let problem = problem(text);
    let simulation = &problem.first().simulation;
    let found = |running: fn(f64, f64) -> f64| {
        let cost = Differentiated::new(Choosing(running), Quadrature::Trapezoid);
        jumps(simulation, Some(&cost), &problem.start).unwrap()
    };
    let [own] = &found(|_, x| if x > 0.505 { 3.0 } else { 1.0 })[..] else { panic!() };
    assert!(own.what == "the running cost" && own.count == 1 && !own.is_at_least, "{own:?}");
    assert!((own.time - 0.505).abs() < 1e-6 && (own.size - 2.0).abs() < 1e-6, "{own:?}");
    // kinks are found where they are asked for, those at given times and what is smooth are not
    let kinks = |running: fn(f64, f64) -> f64| {
        let cost = Differentiated::new(Choosing(running), Quadrature::Trapezoid);
        kinks_passed(simulation, Some(&cost), &problem.start).unwrap()
    };
    let all = kinks(|_, x| 2.0 * (x - 0.5033).abs());
    let [own] = &all[..] else { panic!("{all:?}") };
    assert!(own.what == "the running cost" && own.count == 1 && (own.time - 0.5033).abs() < 1e-4, "{own:?}");
    let plain: [fn(f64, f64) -> f64; 3] = [|t, _| (t - 0.5033).abs(), |_, x| (20.0 * x).sin(), |_, x| x * x];
    for running in plain {
        let all = kinks(running);
        assert!(all.is_empty(), "{all:?}");
    }
    for smooth in
        [|_, x: f64| (x - 0.505).abs(), |t, _| if t > 0.505 { 3.0 } else { 1.0 }, |_, x: f64| (20.0 * x).sin()]
    {
        let all = found(smooth);
        assert!(all.is_empty(), "{all:?}");
    }
    assert!(jumps(simulation, Some(&*problem.first().cost), &problem.start).unwrap().is_empty());
    // a run of one step has no times between its ends
    let one = simulation.on(TimeGrid::steps(0.0, 1.0, 1).unwrap(), vec![]).unwrap();
    let cost = Differentiated::new(Choosing(|_, x| if x > 0.505 { 3.0 } else { 1.0 }), Quadrature::Trapezoid);
    assert!(jumps(&one, Some(&cost), &problem.start).unwrap().is_empty());
}

/// A running cost of time and the first output, which only its value knows.
#[derive(Clone)]
struct Choosing(fn(f64, f64) -> f64);

impl CostFunction for Choosing {
    fn running<D: Number>(&self, t: f64, _x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        D::from((self.0)(t, y[0].re()))
    }
}

/// Protects from a search for a reason: an angle at the origin has no derivative, and the output and the time are named.
#[test]
fn derivatives_that_are_none_are_named() {
    let text = "name = \"rest\"\nunits = false\ncoordinates = { x = \"m\" }\nmass = { x = 1.0 }\nforce = { x = \"sin(t) - k*x\" }\n\
                outputs = { phi = { unit = \"rad\", is = \"atan2(x', x)\" } }\n[parameters]\nk = { nominal = 10.0 }\n[scenario]\nend = 1.0\nstep = 1e-2\n";
    let problem = problem(text);
    let error = identifiability(&problem, &problem.start).unwrap_err().to_string();
    assert!(
        error.contains("the derivative of the output `phi` with respect to `k`") && error.contains("t = 0 s"),
        "{error}"
    );
}

/// Protects counts: where looking ends before the run, they are told as what they are.
#[test]
fn countless_jumps_are_told_as_such() {
    let text = "name = \"chatter\"\nunits = false\ncoordinates = { x = \"m\" }\nmass = { x = 1.0 }\nforce = { x = \"-P*if(x > 0, 1, 0) + P*if(x < 0, 1, 0)\" }\n\
                start = { x = 1e-3 }\noutputs = { x = { unit = \"m\", is = \"x\" } }\n[parameters]\nP = { nominal = 1.0 }\n[scenario]\nend = 40.0\nstep = 1e-3\n";
    let problem = problem(text);
    let found = jumps(&problem.first().simulation, None, &problem.start).unwrap();
    assert!(found[0].is_at_least && found[0].count == 200, "{found:?}");
    assert!(in_a_sentence(&found).unwrap().contains("and at least 199 more times"));
}

/// Protects from false alarms: no ready model goes through a jump.
#[test]
fn ready_models_do_not_jump() {
    let registry = costate_models::registry().unwrap();
    for entry in registry.entries() {
        let problem = entry.problem(&entry.scenario).unwrap();
        let found = jumps(&problem.first().simulation, None, &problem.start).unwrap();
        assert!(found.is_empty(), "{}: {found:?}", entry.name());
    }
}

/// Protects runs by a tolerance from steps that have grown over a time of rest: an input that is a function, and a force by a formula of time, are met where they bend.
#[test]
fn steps_by_a_tolerance_meet_pulses() {
    let pulses = [
        "100*step(t - 2.5)*step(2.52 - t)",
        "100*exp(-((t - 2.513)/0.005)^2)",
        "100*exp(-((t - 2.513)/0.05)^2)",
        "100*max(0, 1 - abs(t - 2.5)/0.1)",
        // between two of the scenario's own times
        "1000*step(t - 2.503)*step(2.505 - t)",
        "1000*exp(-((t - 2.5043)/0.001)^2)",
    ];
    // as an input, and as a part of the force
    for (pulse, own) in pulses.iter().flat_map(|pulse| [(*pulse, "0"), ("0", *pulse)]) {
        let text = format!(
            "name = \"rest\"\nunits = false\ncoordinates = {{ x = \"m\" }}\ninputs = {{ F = \"N\" }}\nmass = {{ x = 1.0 }}\n\
             force = {{ x = \"F - k*x - 0.8*x' + {own}\" }}\noutputs = {{ x = {{ unit = \"m\", is = \"x\" }} }}\n[parameters]\nk = {{ nominal = 100.0 }}\n\
             [scenario]\nend = 5.0\nstep = 1e-2\ninputs = {{ F = \"{pulse}\" }}\n"
        );
        let problem = problem(&text);
        let simulation = &problem.first().simulation;
        let end = |simulation: &Simulation| *simulation.run(&[100.0]).unwrap().output(0).last().unwrap();
        let fine = simulation.on(simulation.grid().divided(200).unwrap(), simulation.signals().to_vec()).unwrap();
        let (fine, control) = (end(&fine), StepControl { tolerance: 1e-4, smallest: None });
        let controlled = simulation.controlled(&[100.0], control, &[]).unwrap();
        let found = end(&controlled.simulation);
        assert!(fine.abs() > 1e-3 && (found - fine).abs() < 0.03 * fine.abs(), "{pulse}, {own}: {found} {fine}");
        assert!(controlled.simulation.steps() < 100_000, "{pulse}, {own}: {} steps", controlled.simulation.steps());
    }
}
