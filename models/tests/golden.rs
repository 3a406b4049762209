//! Golden numbers: quadruple precision for the engine mount, and a recursion by hand for the oscillator.

// the digits are those of the computation in quadruple precision
#![allow(clippy::excessive_precision)]

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::{Gradient, Hht, Method, Plain, Signal, Simulation, TimeGrid};
use costate_models::engine_mount::{START, sweep};
use costate_models::{EngineMount, Oscillator};
use std::sync::Arc;

fn mount(alpha: f64, steps: usize) -> Simulation {
    let system = Arc::new(Plain::new(EngineMount).unwrap());
    let grid = TimeGrid::uniform(0.0, 1.0, 1.0 / steps as f64).unwrap();
    Simulation::new(system, Hht::new(alpha).unwrap(), grid, vec![Signal::function(sweep)]).unwrap()
}

/// The paper's cost: the first output against itself at the nominal parameters.
fn against_nominal(simulation: &Simulation) -> LeastSquares {
    let optimum = simulation.run(&simulation.signature().nominal()).unwrap();
    let reference = Reference { output: 0, values: optimum.output(0), deviation: 1.0 };
    LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Rectangle).unwrap()
}

fn assert_close(what: &str, value: f64, expected: f64, tolerance: f64) {
    let error = (value / expected - 1.0).abs();
    assert!(error <= tolerance, "{what}: {value:e} instead of {expected:e}, {error:.1e} off, {tolerance:.0e} allowed");
}

/// Protects exactness on the paper's example, where nothing is as small or as stiff by accident: cost and gradient at the
/// start parameters against a computation in quadruple precision. Ten times the steps leave ten times the round-off.
#[test]
fn the_engine_mount_agrees_with_quadruple_precision() {
    let tables = [
        (
            1000,
            [1e-12, 1e-11],
            51.398189600245984,
            [-3.3189876626113895e-3, -5.7662907051977102e-8, -1.1691321610143946, -1.0820062935117426e-1],
        ),
        (
            10000,
            [1e-11, 1e-10],
            50.802098772184085,
            [-3.0527030015149606e-3, -5.0563997429065330e-8, -8.6169007730616673e-1, -8.0027148499813362e-2],
        ),
    ];
    for (steps, [cost_tolerance, tolerance], expected_cost, expected) in tables {
        let simulation = mount(-0.1, steps);
        let cost = against_nominal(&simulation);
        let mut workspace = Gradient::new(&simulation, &cost).unwrap();
        let (mut adjoint, mut tangent) = ([0.0; 4], [0.0; 4]);
        let value = workspace.cost_and_gradient(&START, Method::Adjoint, &mut adjoint).unwrap();
        assert_close(&format!("cost, {steps} steps"), value, expected_cost, cost_tolerance);
        let again = workspace.cost_and_gradient(&START, Method::Tangent, &mut tangent).unwrap();
        assert_eq!(value, again);
        for k in 0..4 {
            assert_close(&format!("entry {k}, {steps} steps"), adjoint[k], expected[k], tolerance);
            assert_close(&format!("entry {k} by tangents, {steps} steps"), tangent[k], adjoint[k], 1e-12);
        }
    }
}

/// Protects the coefficients of the scheme at other values of α.
#[test]
fn the_engine_mount_has_the_right_cost_at_other_dampings() {
    for (alpha, steps, expected, tolerance) in [
        (-0.05, 1000, 51.3736261235173, 1e-12),
        (-0.3, 1000, 51.422882306201933, 1e-12),
        (-0.05, 10000, 50.802192953398959, 1e-11),
        (-0.3, 10000, 50.800947531452776, 1e-11),
    ] {
        let simulation = mount(alpha, steps);
        let cost = against_nominal(&simulation);
        let value = Gradient::new(&simulation, &cost).unwrap().cost(&START).unwrap();
        assert_close(&format!("alpha {alpha}, {steps} steps"), value, expected, tolerance);
    }
}

/// Protects the sweep against the recursion that Lauss 2018, section 4, writes out for the oscillator (α = 0, the cost is
/// that of the accelerations), completed by the term of the start: a_0 depends on stiffness and damping.
#[test]
fn the_oscillator_follows_the_recursion_by_hand() {
    let (h, count) = (0.01, 300);
    let grid = TimeGrid::steps(0.0, h, count).unwrap();
    let force = Signal::function(|t| (3.0 * t).sin() + 0.4);
    let system = Arc::new(Plain::new(Oscillator).unwrap());
    let simulation = Simulation::new(system, Hht::new(0.0).unwrap(), grid, vec![force]).unwrap();
    let cost = against_nominal(&simulation);
    let target = &cost.references()[0].values;
    let u @ [m, c, d, ..] = [1.0, 25.0, 0.3, 0.2, -0.4];
    let mut gradient = [0.0; 5];
    Gradient::new(&simulation, &cost).unwrap().cost_and_gradient(&u, Method::Adjoint, &mut gradient).unwrap();

    let run = simulation.run(&u).unwrap();
    let total_mass = m + c * h * h / 4.0 + d * h / 2.0;
    let mut p = [0.0; 3]; // p_N: the paper's sum ends at N - 1
    let mut by_hand = [0.0; 2];
    for i in (1..count).rev() {
        let x = run.state(i);
        let [p1, p2, p3] = p;
        p = [
            p1 - c * p3,
            h * p1 + p2 - (d + c * h) * p3,
            (-h * (x.a[0] - target[i]) + h * h * p1 + h * p2 - h * (d + c * h) * p3) / total_mass,
        ];
        by_hand[0] += x.q[0] * p[2];
        by_hand[1] += x.v[0] * p[2];
    }
    // f_0: m a_0 + c q_0 + d v_0 - F = 0; a_0 enters the first step through q_1 and v_1
    let x = run.state(0);
    let of_step = -h * h / 4.0 * p[0] - h / 2.0 * p[1] + (c * h * h / 4.0 + d * h / 2.0) * p[2];
    let p_0 = (-h * (x.a[0] - target[0]) - of_step) / m;
    by_hand[0] += x.q[0] * p_0;
    by_hand[1] += x.v[0] * p_0;
    for k in 0..2 {
        assert_close(&format!("entry {k}"), gradient[k + 1], by_hand[k], 1e-12);
    }
}
