//! Golden numbers: quadruple precision for the engine mount, fifty digits for the slider-crank and the EMPS, and a recursion by
//! hand for the oscillator.

// the digits are those of the computations in higher precision
#![allow(clippy::excessive_precision)]

use crate::common;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::{Model, Plain, Signal, Simulation, TimeGrid};
use costate_models::emps::Emps;
use costate_models::engine_mount::{START, sweep};
use costate_models::slider_crank::SliderCrank;
use costate_models::{emps, slider_crank};
use std::sync::Arc;

fn mount(alpha: f64, steps: usize) -> Simulation {
    let system = common::ready("engine_mount");
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
    let system = common::ready("oscillator");
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

/// Cost and slopes of `outputs` against themselves at the nominal parameters, after `changes` of these.
struct Golden<'g> {
    steps: usize,
    changes: &'g [(&'g str, f64)],
    outputs: &'g [usize],
    cost: f64,
    /// Places and slopes.
    slopes: &'g [(usize, f64)],
    tolerance: f64,
}

impl Golden<'_> {
    /// By both methods, at α = -0.1 and steps of 5 ms.
    fn check<M: Model + 'static>(&self, model: M, signal: fn(f64) -> f64) {
        let grid = TimeGrid::steps(0.0, 5e-3, self.steps).unwrap();
        let system = Arc::new(Plain::new(model).unwrap());
        let signals = vec![Signal::function(signal)];
        let simulation = Simulation::new(system, Hht::new(-0.1).unwrap(), grid, signals).unwrap();
        let signature = simulation.signature();
        let optimum = simulation.run(&signature.nominal()).unwrap();
        let mut start = signature.nominal();
        for (name, value) in self.changes {
            start[signature.parameter_index(name).unwrap()] = *value;
        }
        let reference = |&output: &usize| Reference { output, values: optimum.output(output), deviation: 1.0 };
        let references = self.outputs.iter().map(reference).collect();
        let cost = LeastSquares::new(simulation.grid().times(), references, 1, Quadrature::Rectangle).unwrap();
        let mut workspace = Gradient::new(&simulation, &cost).unwrap();
        let mut gradient = vec![0.0; start.len()];
        for method in [Method::Adjoint, Method::Tangent] {
            let value = workspace.cost_and_gradient(&start, method, &mut gradient).unwrap();
            assert_close(&format!("cost of {:?}", self.outputs), value, self.cost, self.tolerance);
            for &(k, expected) in self.slopes {
                let what = format!("entry {k} of {:?}, {method:?}", self.outputs);
                assert_close(&what, gradient[k], expected, self.tolerance);
            }
        }
    }
}

/// Protects the redundant mechanism, friction, and the scheme with both: HHT written anew in Python with mpmath, fifty digits,
/// constraint Jacobians and start by hand; slopes by central differences of 1e-12 of each parameter. Accelerations and
/// multipliers carry the round-off of positions over β h², 1e-16 / 8e-6, which the slopes of forces of 10 N add up.
#[test]
fn slider_crank_and_emps_agree_with_fifty_digits() {
    let crank = [("m_slider", 1.6), ("I_crank", 0.005), ("L_crank", 0.11), ("k", 100.0), ("d", 10.0)];
    let motion = Golden {
        steps: 60,
        changes: &crank,
        outputs: &[0, 3],
        cost: 76.382954360081305,
        slopes: &[
            (2, 24.30196982326995),
            (3, -1170.5229309212029),
            (5, 2526.957881025223),
            (9, -0.39198023406097968),
            (11, 9.5235708863378419),
        ],
        tolerance: 1e-11,
    };
    motion.check(SliderCrank, slider_crank::torque);
    let bearing = Golden {
        outputs: &[7],
        cost: 177.47983778569358,
        slopes: &[
            (0, 85.12307645277612),
            (1, 180.43170697058295),
            (5, 3257.0462658237649),
            (8, 14.451012229903213),
            (13, -360.60081792082083),
        ],
        tolerance: 1e-10,
        ..motion
    };
    bearing.check(SliderCrank, slider_crank::torque);
    let carriage = Golden {
        steps: 300,
        changes: &[
            ("M", 80.0),
            ("Fv", 150.0),
            ("dFv", 10.0),
            ("Fc", 15.0),
            ("dFc", 1.0),
            ("offset", 0.0),
            ("v_s", 0.002),
            ("q0", 0.001),
            ("v0", 0.01),
        ],
        outputs: &[0],
        cost: 0.00026209308100388068,
        slopes: &[
            (0, -1.1083661745479414e-5),
            (1, -6.9959895808561589e-6),
            (2, -6.9899041518783737e-6),
            (3, -8.6345927507571892e-5),
            (4, -8.5649886461507452e-5),
            (5, -8.7088938838832345e-5),
            (6, 9.6351818137622731e-5),
            (7, 0.011438707620089673),
            (8, 0.022736485096550989),
            (9, 0.0060818553617340741),
        ],
        tolerance: 1e-11,
    };
    carriage.check(Emps, emps::voltage);
}
