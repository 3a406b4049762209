//! What simulations cost, as numbers that a change of the integrator must change on purpose; small steps and jumps.

use crate::common;

use common::compare::{Limits, compare, compare_within};
use common::mechanisms::branching;
use common::{ALL, Case, FORMS};
use costate::cost::Quadrature;
use costate::sensitivity::Method;
use costate::{Matrix, Model, Number, Parameter, Signature};

/// Steps, Newton iterations and factorisations of one forward run at the start of each built-in problem.
///
/// Iterations may differ by a few between platforms: a stopping rule compares increments that end in round-off with a
/// tolerance, and sines and powers differ in their last digit from one mathematical library to the next. Hence the
/// `SLACK`. To update: run this test and copy the numbers that it reports.
const SNAPSHOTS: [(&str, usize, usize, usize); 7] = [
    ("engine_mount", 1000, 3075, 1000),
    ("oscillator", 500, 1000, 500),
    ("silverbox", 5000, 10000, 5000),
    ("pendulum", 2000, 4000, 2000),
    ("cart_pole", 2000, 4000, 2000),
    ("slider_crank", 350, 732, 350),
    ("emps", 5000, 10097, 5000),
];
/// In iterations and factorisations, relative.
const SLACK: f64 = 0.02;

/// Protects the cost of simulations: exact steps, iterations and factorisations within the slack; a gradient takes one more
/// factorisation a step, and one at the start.
#[test]
fn built_in_problems_cost_what_they_did() {
    let registry = costate_models::registry().unwrap();
    let names: Vec<&str> = registry.entries().iter().map(|entry| entry.name()).collect();
    let mut known: Vec<&str> = SNAPSHOTS.iter().map(|(name, ..)| *name).collect();
    known.retain(|name| names.contains(name));
    assert_eq!(known.len(), SNAPSHOTS.len(), "a model has gone: {names:?}");
    let mut report = String::new();
    let mut changed = false;
    for (name, steps, iterations, factorisations) in SNAPSHOTS {
        let entry = registry.get(name).unwrap();
        let problem = entry.problem(&entry.scenario).unwrap();
        let mut workspace = problem.gradient().unwrap();
        let mut gradient = vec![0.0; problem.start.len()];
        workspace.cost(&problem.start).unwrap();
        let forward = workspace.counters();
        report += &format!("(\"{name}\", {}, {}, {}),\n", forward.steps, forward.iterations, forward.factorisations);
        let differs = |seen: usize, known: usize| (seen as f64 / known as f64 - 1.0).abs() > SLACK;
        changed |= forward.steps != steps;
        changed |= differs(forward.iterations, iterations) || differs(forward.factorisations, factorisations);
        for method in [Method::Adjoint, Method::Tangent] {
            workspace.cost_and_gradient(&problem.start, method, &mut gradient).unwrap();
            let both = workspace.counters();
            assert_eq!((both.steps, both.iterations), (forward.steps, forward.iterations), "{name}, {method:?}");
            assert_eq!(both.factorisations, forward.factorisations + steps + 1, "{name}, {method:?}");
        }
    }
    assert!(!changed, "counters have changed; if that was the aim, these are the new ones:\n{report}");
}

fn iterations_a_step(case: &Case) -> f64 {
    let counters = case.simulation().run(&case.u).unwrap().counters;
    assert_eq!(counters.steps, case.grid.count());
    counters.iterations as f64 / counters.steps as f64
}

/// Protects small steps, where round-off of the positions is large in the accelerations: the iteration must neither stall
/// nor stop early.
#[test]
fn small_steps_do_not_stall() {
    for form in FORMS {
        for alpha in [0.0, -0.1, -0.3] {
            for h in [1e-4, 1e-5, 1e-6] {
                let mount = common::engine_mount().alpha(alpha).form(form).step(h, 300);
                let pendulum = common::pendulum().alpha(alpha).form(form).step(h, 300);
                for (name, count) in [("mount", iterations_a_step(&mount)), ("pendulum", iterations_a_step(&pendulum))]
                {
                    assert!(count <= 4.0, "{name}, h {h}, alpha {alpha}, {form:?}: {count} iterations a step");
                }
            }
        }
    }
}

/// Protects mechanisms with a coordinate that a constraint keeps at zero, such as the slider's y: the round-off of the others
/// comes back in it through the solution of the step, far above its own.
#[test]
fn a_coordinate_that_stays_at_zero_does_not_stall() {
    for form in FORMS {
        for h in [1e-3, 1e-4, 1e-5] {
            for length in [0.1, 0.107, 0.113, 0.12, 0.127] {
                let mut case = common::slider_crank().alpha(-0.1).form(form).step(h, 100);
                case.u[5] = length;
                let count = iterations_a_step(&case);
                assert!(count <= 4.0, "h {h}, length {length}, {form:?}: {count} iterations a step");
            }
        }
    }
}

/// Protects gradients at small steps: adjoint and tangents go through the same noisy trajectory and must not differ by more
/// than a few times the round-off of positions, 1e-16, over β h².
#[test]
fn small_steps_keep_adjoint_and_tangent_together() {
    for h in [1e-3, 1e-4, 1e-5] {
        let limit = 10.0 * 1e-16 / (0.3 * h * h);
        let case = common::pendulum().alpha(-0.1).step(h, 300);
        let cost = case.cost_of(ALL);
        let (_, adjoint) = case.engine(&cost, Quadrature::Trapezoid, Method::Adjoint);
        let (_, tangent) = case.engine(&cost, Quadrature::Trapezoid, Method::Tangent);
        let distance = case.distance(&adjoint, &tangent);
        assert!(distance <= limit, "h {h}: {distance:e}");
    }
}

/// A hardening spring at rest until a force sets in.
#[derive(Debug, Clone, Copy)]
struct Duffing;

impl Model for Duffing {
    fn signature(&self) -> Signature {
        Signature::new("duffing")
            .coordinates([("x", "m"), ("y", "m")])
            .inputs([("F", "N")])
            .outputs([("x", "m")])
            .parameters([
                Parameter::new("k", "N/m", 30.0),
                Parameter::new("k3", "N/m^3", 5e3),
                Parameter::new("d", "1", 0.3),
            ])
    }
    fn mass<D: Number>(&self, q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
        m[(1, 1)] = q[0] * q[0] + 2.0;
    }
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [k, k3, d] = *u else { return };
        force[0] = w[0] - (k + k3 * q[0] * q[0]) * q[0] - d * v[0];
        force[1] = -(q[1] - q[0]) * k - d * v[1] * v[1] * v[1];
    }
}

/// Protects steps after a jump of the input. What was learnt about convergence before (at rest: that there is nothing to
/// do; in a linear range: that one iteration is enough) does not hold after it.
#[test]
fn jumps_of_the_input_are_followed_exactly() {
    let inputs: [fn(f64) -> f64; 4] = [
        |t| if t < 0.405 { 0.0 } else { 40.0 },
        |t| if t < 0.405 { 1e-3 * (5.0 * t).sin() } else { 40.0 },
        |t| if t < 0.405 { 1e-3 } else { 60.0 * (9.0 * t).sin() },
        |t| if t < 0.05 { 5.0 } else { -5.0 * (2.0 + (40.0 * t).sin().signum()) },
    ];
    for (k, input) in inputs.into_iter().enumerate() {
        for form in FORMS {
            for alpha in [0.0, -0.1] {
                let case = Case::new(Duffing, &[30.0, 5e3, 0.3], vec![input], 0.01, 120).alpha(alpha).form(form);
                compare(&format!("input {k}"), &case, &case.cost_of(ALL), Quadrature::Rectangle);
            }
        }
    }
    let mut mount = common::engine_mount().alpha(-0.1);
    mount.signals = vec![|t| if t < 0.0301 { 0.0 } else { 400.0 }];
    // 400 N on the stiff chamber ring in the multiplier long after the jump
    let limits = Limits { textbook: 1e-10, tangent: 5e-11, value: 1e-11 };
    compare_within(limits, "mount", &mount, &mount.cost_of(ALL), Quadrature::Rectangle);
    let mut branching = branching().alpha(-0.1);
    branching.signals = vec![|t| if t < 0.505 { 0.1 } else { 1.0 }];
    compare("branching", &branching, &branching.cost_of(ALL), Quadrature::Rectangle);
}
