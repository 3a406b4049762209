//! Parameters that follow from others, for any mechanism.

use costate::derived::{Dependence, Derived};
use costate::sensitivity::Method;
use costate::system::System;
use costate::{Number, Parameter, scheme};
use costate_identify::problem::{Integrator, Problem};
use costate_identify::registry::{Entry, Scenario};
use std::sync::Arc;

/// Mass, length and start of the Cartesian pendulum by others, not one of them linear.
struct Rod;

impl Dependence for Rod {
    fn values<D: Number>(&self, p: &[D], dependent: &mut [D]) {
        // d, g, omega0 stay
        let [omega0, density, width, share] = [p[2], p[3], p[4], p[5]];
        dependent[0] = density * width * width * share.exp();
        dependent[1] = width * 4.0 + (share * omega0).sin() * 0.1;
        dependent[2] = share * omega0 + 0.8;
    }
}

const DEPENDENT: [&str; 3] = ["m", "L", "angle0"];
const P: [f64; 6] = [0.07, 9.7, 0.4, 11.0, 0.21, 0.3];

fn added() -> Vec<Parameter> {
    [("density", 10.0), ("width", 0.2), ("share", 0.2)].map(|(name, value)| Parameter::new(name, "1", value)).to_vec()
}

fn pair() -> (Entry, Arc<Derived>) {
    let entry = costate_models::registry().unwrap().get("pendulum").unwrap().clone();
    let derived = Derived::new(entry.system.clone(), &DEPENDENT, added(), Rod).unwrap();
    (entry, Arc::new(derived))
}

fn problem(entry: &Entry, system: Arc<dyn System>, scheme: &str, start: &[f64]) -> Problem {
    let integrator = Integrator { scheme: scheme.into(), settings: Vec::new(), ..entry.scenario.integrator.clone() };
    let outputs = ["a_x".to_string(), "rod_force".to_string()];
    let scenario = Scenario {
        end: 0.4,
        step: 0.01,
        integrator,
        start: Vec::new(),
        outputs: outputs.to_vec(),
        ..entry.scenario.clone()
    };
    let entry = Entry::new("", system, scenario);
    let mut problem = entry.problem(&entry.scenario).unwrap();
    problem.start = start.to_vec();
    problem.parameters.iter_mut().for_each(|own| own.free = true);
    problem
}

/// Derivatives of each dependent parameter, by hand.
fn first() -> [[f64; 6]; 3] {
    let [_, _, omega0, density, width, share] = P;
    let m = density * width * width * share.exp();
    let turn = 0.1 * (share * omega0).cos();
    [
        [0.0, 0.0, 0.0, m / density, 2.0 * m / width, m],
        [0.0, 0.0, turn * share, 0.0, 4.0, turn * omega0],
        [0.0, 0.0, share, 0.0, 0.0, omega0],
    ]
}

/// Second derivatives, by hand.
fn second() -> [[[f64; 6]; 6]; 3] {
    let [_, _, omega0, density, width, share] = P;
    let m = density * width * width * share.exp();
    let (sin, cos) = (share * omega0).sin_cos();
    let mut all = [[[0.0; 6]; 6]; 3];
    let mut put = |i: usize, k: usize, l: usize, value: f64| (all[i][k][l], all[i][l][k]) = (value, value);
    put(0, 3, 4, 2.0 * m / (density * width));
    put(0, 3, 5, m / density);
    put(0, 4, 4, 2.0 * m / width.powi(2));
    put(0, 4, 5, 2.0 * m / width);
    put(0, 5, 5, m);
    put(1, 2, 2, -0.1 * sin * share * share);
    put(1, 5, 5, -0.1 * sin * omega0 * omega0);
    put(1, 2, 5, 0.1 * (cos - sin * share * omega0));
    put(2, 2, 5, 1.0);
    all
}

// Protects derivatives by parameters that others follow from, of mass, constraints, start, outputs and multipliers: gradients are Jᵀ g, Hessians
// Jᵀ H J + Σ g ∇²f with J and ∇²f by hand, in every scheme. Sums of 40 steps are made in another order, no more; accelerations of
// a constrained mechanism oscillate without damping under Newmark's scheme, so that these sums cancel.
#[test]
fn derivatives_follow_the_chain_rule() {
    let (entry, derived) = pair();
    let system = entry.system.clone();
    let u = derived.all(&P);
    // places in the pendulum's parameters of the own ones, and of the dependent ones
    let place = |name: &str| system.signature().parameter_index(name).unwrap();
    let dependent = DEPENDENT.map(place);
    let mut slopes = vec![[0.0; 6]; u.len()];
    ["d", "g", "omega0"].map(place).iter().enumerate().for_each(|(k, i)| slopes[*i][k] = 1.0);
    dependent.iter().zip(first()).for_each(|(i, row)| slopes[*i] = row);
    for scheme in scheme::names() {
        let (inner, mut outer) =
            (problem(&entry, system.clone(), scheme, &u), problem(&entry, derived.clone(), scheme, &P));
        // references are runs with nominal values, which are others here
        outer.experiments[0].cost = Box::new(inner.experiments[0].cost.as_least_squares().unwrap().clone());
        let (mut g, mut own) = (vec![0.0; u.len()], vec![0.0; 6]);
        let (mut h, mut own_h) = (vec![vec![0.0; u.len()]; u.len()], vec![vec![0.0; 6]; 6]);
        let of_inner = inner.gradient().unwrap().hessian(&u, &mut g, &mut h).unwrap();
        let cost = outer.gradient().unwrap().hessian(&P, &mut own, &mut own_h).unwrap();
        assert!(cost == of_inner && cost > 1e-3, "{scheme}: {cost} {of_inner}");
        let expected: Vec<f64> = (0..6).map(|k| (0..u.len()).map(|i| slopes[i][k] * g[i]).sum()).collect();
        let tolerance = if ["newmark", "trapezoidal"].contains(&scheme) { 1e-10 } else { 1e-12 };
        near(&own, &expected, tolerance, scheme);
        for method in [Method::Adjoint, Method::Tangent] {
            let mut other = vec![0.0; 6];
            outer.gradient().unwrap().cost_and_gradient(&P, method, &mut other).unwrap();
            near(&other, &expected, tolerance, scheme);
        }
        let squares = |k: usize, l: usize| {
            let pairs = (0..u.len()).flat_map(|i| (0..u.len()).map(move |j| (i, j)));
            pairs.map(|(i, j)| slopes[i][k] * h[i][j] * slopes[j][l]).sum::<f64>()
        };
        let expected: Vec<f64> = (0..36)
            .map(|kl| {
                squares(kl / 6, kl % 6) + (0..3).map(|i| g[dependent[i]] * second()[i][kl / 6][kl % 6]).sum::<f64>()
            })
            .collect();
        near(&own_h.concat(), &expected, tolerance, scheme);
    }
}

fn near(found: &[f64], expected: &[f64], tolerance: f64, scheme: &str) {
    let most = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    for (k, (found, expected)) in found.iter().zip(expected).enumerate() {
        let off = (found - expected).abs() / most;
        assert!(off <= tolerance, "{scheme}, {k}: {found} and {expected}, {off:e}");
    }
}

// Protects blocks and products through the waist, and whoever names parameters that are not there.
#[test]
fn all_else_passes_through() {
    let (entry, derived) = pair();
    let report = costate_check::check_products(&*derived, &costate_check::CheckOptions::default()).unwrap();
    assert!(report.passed());
    assert!(derived.degrees_of_freedom() == 1);
    assert!(derived.sketch_at(0.0, &[0.3, -0.7], &[], &P).unwrap().is_some());
    let refused =
        |names: &[&str], added| Derived::new(entry.system.clone(), names, added, Rod).err().unwrap().to_string();
    assert!(refused(&["m", "Lb", "angle0"], added()).contains("did you mean `L`?"));
    assert!(refused(&["m", "m", "L"], added()).contains("follows from others twice"));
    let mut infinite = added();
    infinite[2].nominal = 1e4;
    assert!(refused(&DEPENDENT, infinite).contains("its formula gives"));
}
