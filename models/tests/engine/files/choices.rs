//! Choices by formulas: what is compared counts, too, where both branches are constants.

use costate::{Gradient, Method};
use costate_file::parse;
use costate_identify::problem::Problem;
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
