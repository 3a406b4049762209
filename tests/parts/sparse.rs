//! Sparse against dense matrices, on one mechanism.

use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::system::Point;
use costate::value::Value;
use costate::{InitialState, Number, Parameter, Result, Signal, Simulation, State, TimeGrid, Trajectory};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::planar::{Body, Mechanism};
use std::sync::Arc;

/// A beam on three parallel cranks, one more than it needs, with a spring, a motor and a load: 12 coordinates, 12 rows, one of
/// which repeats others. It starts a little open: the third crank is off by an angle, the beam by a distance.
fn cranks(dense_up_to: usize) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("cranks");
    mechanism.redundant_rows(RedundantRows::LeaveOut);
    mechanism.assembler().dense_up_to(dense_up_to);
    let mut parameter = |name: &str, unit: &str, nominal| mechanism.parameter(Parameter::new(name, unit, nominal));
    let (mass, stiffness) = (parameter("m", "kg", 3.0), parameter("k", "N/m", 40.0));
    let (gap, turn, rate) =
        (parameter("gap", "m", 0.01), parameter("turn", "rad", 0.02), parameter("rate", "rad/s", 1.5));
    let (sin, cos) = 0.4f64.sin_cos();
    let beam = Body::new(mass, 0.7).at([gap + (cos + 1.0), Value::from(sin)], 0.0);
    let beam = mechanism.body("beam", beam);
    let motor = mechanism.input("motor", "N m");
    for i in 0..3 {
        let x = f64::from(i);
        let name = format!("crank{}", i + 1);
        let angle = if i == 2 { turn + 0.4 } else { Value::from(0.4) };
        let crank = Body::new(1.0 + x, 0.1).at([x + cos / 2.0, sin / 2.0], angle);
        let crank = mechanism.body(&name, crank.moving([0.0, 0.0], rate));
        let foot = mechanism.ground().at([x, 0.0]);
        mechanism.revolute(&format!("foot{}", i + 1), foot, crank.at([-0.5, 0.0]));
        mechanism.revolute(&format!("head{}", i + 1), crank.at([0.5, 0.0]), beam.at([x - 1.0, 0.0]));
        if i == 0 {
            mechanism.torque("motor", &mechanism.ground(), &crank, motor);
        }
    }
    mechanism.spring("spring", mechanism.ground().at([0.0, 2.0]), beam.at([-0.4, 0.1]), 0.3, stiffness, 0.5);
    mechanism.energy("energy");
    mechanism.build()
}

struct Everything;

impl CostFunction for Everything {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let parts = [(x.q, 1.0), (x.v, 0.5), (x.a, 0.1), (x.lambda, 0.01), (y, 0.1), (u, 0.1)];
        let terms = parts.into_iter().flat_map(|(values, size)| values.iter().map(move |x| *x * size));
        terms.enumerate().map(|(i, x)| x * x * (1.0 + 0.3 * (1.7 * i as f64 + t).sin())).sum()
    }
}

/// Largest difference, beside the largest value.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    assert_eq!(a.len(), b.len());
    let size = b.iter().fold(0.0f64, |size, x| size.max(x.abs()));
    assert!(size > 0.0 && size.is_finite(), "{b:?}");
    a.iter().zip(b).fold(0.0, |off: f64, (a, b)| off.max((a - b).abs())) / size
}

/// Protects the sparse path as a whole, redundant rows, projected starts and equilibria included: trajectories, gradients and
/// Hessians are those of dense factors.
#[test]
fn sparse_and_dense_matrices_give_the_same() -> Result<()> {
    let systems = [cranks(12)?, cranks(usize::MAX)?];
    for system in &systems {
        assert_eq!((system.left_out().len(), system.degrees_of_freedom()), (1, 1), "{:?}", system.left_out());
    }
    let systems = systems.map(Arc::new);
    for start in [InitialState::Projected, InitialState::Equilibrium] {
        let simulations = systems.clone().map(|system| {
            let grid = TimeGrid::uniform(0.0, 0.3, 2e-3)?;
            let motor = Signal::function(|t| 40.0 * (1.0 - (20.0 * t).cos()));
            Ok(Simulation::new(system, Hht::new(-0.1)?, grid, vec![motor])?.initial_state(start))
        });
        let [sparse, dense] = simulations.map(|simulation: Result<Simulation>| simulation.map(Box::new));
        let (sparse, dense) = (sparse?, dense?);
        let u = sparse.signature().nominal();
        let (one, other) = (sparse.run(&u)?, dense.run(&u)?);
        let whole = |run: &Trajectory, part: fn(Point<'_>) -> Vec<f64>| -> Vec<f64> {
            (0..run.times().len()).flat_map(|i| part(run.state(i))).collect()
        };
        // Newton's iteration leaves 1e-15 of the positions a step. That is divided by a step (2e-3 s) in velocities, where 150 steps
        // add up to 1e-10 and the mechanism makes a few times that of it; beyond, velocities are divided by a step again
        type Part = (&'static str, fn(Point<'_>) -> Vec<f64>, f64);
        let parts: [Part; 4] = [
            ("q", |x| x.q.to_vec(), 1e-13),
            ("v", |x| x.v.to_vec(), 1e-9),
            ("a", |x| x.a.to_vec(), 1e-6),
            ("multipliers", |x| x.lambda.to_vec(), 1e-6),
        ];
        for (name, part, limit) in parts {
            let off = distance(&whole(&one, part), &whole(&other, part));
            // to the last bit the same would be the same factors
            assert!(off < limit && (off > 0.0 || name == "q"), "{start:?}, {name}: {off:e}");
        }
        let cost = Differentiated::new(Everything, Quadrature::Trapezoid);
        let p = u.len();
        let direction: Vec<f64> = u.iter().enumerate().map(|(k, u)| u * (1.0 + k as f64).sin()).collect();
        let derivatives = |simulation: &Simulation| -> Result<[Vec<f64>; 3]> {
            let mut engine = Gradient::new(simulation, &cost)?;
            let mut all = [vec![0.0; p], vec![0.0; p], vec![0.0; p]];
            let [adjoint, tangent, product] = &mut all;
            engine.cost_and_gradient(&u, Method::Tangent, tangent)?;
            engine.hessian_vector(&u, &direction, adjoint, product)?;
            for list in &mut all {
                list.iter_mut().zip(&u).for_each(|(slope, u)| *slope *= u);
            }
            Ok(all)
        };
        let (one, other) = (derivatives(&sparse)?, derivatives(&dense)?);
        // each at its own trajectory: as near as accelerations are
        for (k, (a, b)) in one.iter().zip(&other).enumerate() {
            assert!(distance(a, b) < 1e-6, "{start:?}, {k}: {a:?} {b:?}");
        }
        assert!(distance(&one[0], &one[1]) < 1e-10, "{start:?}: adjoint {:?}, tangents {:?}", one[0], one[1]);
    }
    Ok(())
}
