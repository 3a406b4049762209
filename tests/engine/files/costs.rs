//! Costs by formulas beside the same in Rust, and slips that are refused.

use super::distance;
use costate::cost::{Cost, Quadrature};
use costate::linearise::{CostFunction, Differentiated};
use costate::sensitivity::{Gradient, Method};
use costate::{Number, Signature, State};
use costate_identify::problem::Problem;
use costate_identify::registry::CostFormulas;

/// Of everything that the slider-crank has: an output, coordinates, rates, accelerations, a multiplier, an input, a parameter, the time, and a branch.
struct OfSlider([usize; 2]);

impl CostFunction for OfSlider {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let faster = D::select(x.v[0].less(D::from(0.1)), x.v[0] * x.v[0], x.v[0] * 0.2 - 0.01);
        y[self.0[0]] * y[self.0[0]] * 0.1 + x.lambda[0] * x.lambda[0] * 1e-3 + x.a[1].sin() * t + faster
            - u[self.0[1]] * x.w.first().copied().unwrap_or(D::from(0.0))
    }

    fn terminal<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], u: &[D]) -> D {
        (x.q[0] - 1.0).exp() * u[self.0[1]] + x.q[1] * x.v[1]
    }
}

fn evaluated(problem: &Problem, cost: &dyn Cost) -> (f64, Vec<f64>, Vec<f64>) {
    let mut gradient = Gradient::new(&problem.first().simulation, cost).unwrap();
    let count = problem.start.len();
    let (mut slope, mut hessian) = (vec![0.0; count], vec![vec![0.0; count]; count]);
    let cost = gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope).unwrap();
    gradient.hessian(&problem.start, &mut vec![0.0; count], &mut hessian).unwrap();
    (cost, slope, hessian.concat())
}

fn quoted(name: &str) -> String {
    format!("`{name}`")
}

/// Protects what a formula of a cost means: cost, gradient and Hessian of a mechanism with constraints and states of every kind are those of the same cost in
/// Rust, to round-off of another order of operations; a weight multiplies all of it.
#[test]
fn formulas_are_the_cost_in_rust() {
    let registry = costate_models::registry().unwrap();
    for name in ["slider_crank", "pendulum"] {
        let entry = registry.get(name).unwrap();
        let mut scenario = entry.scenario.clone();
        scenario.end = 40.0 * scenario.step;
        let problem = entry.problem(&scenario).unwrap();
        let signature = entry.system.signature();
        let (output, parameter) = (signature.outputs.len() - 1, 1);
        let (first, second) = (&signature.coordinates[0].name, &signature.coordinates[1].name);
        let input = signature.inputs.first().map_or("0".to_string(), |own| quoted(&own.name));
        let [y, u, row] =
            [&signature.outputs[output].name, &signature.parameters[parameter].name, &signature.constraints[0].name]
                .map(|name| quoted(name));
        let formulas = CostFormulas {
            integral: Some(format!(
                "0.1*{y}^2 + 1e-3*lambda({row})^2 + sin({second}'')*t + if({first}' < 0.1, {first}'^2, 0.2*{first}' - 0.01) - {u}*{input}"
            )),
            terminal: Some(format!("exp({first} - 1)*{u} + {second}*{second}'")),
        };
        let by_formula = (costate_file::FORMULAS.cost)(signature, &formulas, 2.0).unwrap_or_else(|e| panic!("{e}"));
        let own = Differentiated::new(OfSlider([output, parameter]), Quadrature::Trapezoid);
        let (expected, found) = (evaluated(&problem, &own), evaluated(&problem, &*by_formula));
        assert!((found.0 - 2.0 * expected.0).abs() <= 1e-13 * expected.0.abs(), "{name}: {} {}", found.0, expected.0);
        let twice = |all: &[f64]| all.iter().map(|x| 2.0 * x).collect::<Vec<_>>();
        assert!(distance(&found.1, &twice(&expected.1)) <= 1e-12, "{name}");
        // second derivatives of a constrained run lose a digit more
        assert!(
            distance(&found.2, &twice(&expected.2)) <= 1e-10,
            "{name}: {:e}",
            distance(&found.2, &twice(&expected.2))
        );
    }
}

/// Protects states and rates in formulas: of a motor with a current as its state, `i` is its value and `i'` its rate.
#[test]
fn states_are_values_and_rates() {
    struct OfMotor(usize);
    impl CostFunction for OfMotor {
        fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
            x.v[self.0] * x.v[self.0] + x.a[self.0] * 0.01
        }
    }
    let registry = costate_models::registry().unwrap();
    let entry = registry.get("dc_motor").unwrap();
    let problem = entry.problem(&entry.scenario).unwrap();
    let signature = entry.system.signature();
    let (place, state) = (signature.coordinates.len(), &signature.states[0].name);
    assert!(signature.outputs.iter().all(|own| own.name != *state) || signature.states.len() == 1);
    let integral = Some(format!("`{state}`^2 + 0.01*{state}'"));
    let cost = (costate_file::FORMULAS.cost)(signature, &CostFormulas { integral, terminal: None }, 1.0).unwrap();
    let own = Differentiated::new(OfMotor(place), Quadrature::Trapezoid);
    let (expected, found) = (evaluated(&problem, &own), evaluated(&problem, &*cost));
    assert!((found.0 - expected.0).abs() <= 1e-13 * expected.0.abs());
    assert!(distance(&found.1, &expected.1) <= 1e-12);
}

/// Protects sentences on slips, each with its place; a name that means two things is refused, not guessed.
#[test]
fn slips_are_refused() {
    let signature = Signature::new("cart").coordinates([("x", "m")]).inputs([("F", "N")]);
    let signature = signature.outputs([("x", "m"), ("F", "N"), ("a", "m/s^2")]);
    let refused = |integral: &str| {
        let formulas = CostFormulas { integral: Some(integral.to_string()), terminal: None };
        (costate_file::FORMULAS.cost)(&signature, &formulas, 1.0).err().map(|e| e.to_string()).unwrap_or_default()
    };
    assert_eq!(refused("x^2 + x'*a"), "");
    for (formula, part) in [
        ("F^2", "`F` is an output and an input; give one of them another name"),
        ("a +", "the formula of `integral`: "),
        ("y^2", "there is no name `y`"),
        ("a'", "`a` is an output, and `a'` is not known"),
        ("lambda(hinge)", "hinge"),
        ("scheme(x)", "x"),
    ] {
        let sentence = refused(formula);
        assert!(sentence.contains(part), "{formula}: {sentence}");
    }
}
