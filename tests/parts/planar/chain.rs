//! Chains of rods, against plain functions and at length.

use costate::scheme::Hht;
use costate::system::System;
use costate::{Matrix, Model, Number, Parameter, Plain, Quantity, Result, Signature, Simulation, TimeGrid};
use costate_models::pendulum_chain::pendulum_chain;
use std::sync::Arc;

/// The chain of rods as plain functions, in the coordinates and with the parameters of that from parts.
struct PlainChain(usize);

impl Model for PlainChain {
    fn signature(&self) -> Signature {
        let quantity = |name: String, unit: &str| Quantity::new(name, unit);
        let mut signature = Signature::new("plain_chain");
        for i in 0..self.0 {
            signature.coordinates.extend(["x", "y", "angle"].map(|name| quantity(format!("{name}{i}"), "")));
            signature.constraints.extend(["x", "y"].map(|name| quantity(format!("{name}{i}"), "m")));
        }
        let parameter = |kind: &str, nominal| {
            (0..self.0).map(move |i| Parameter::new(format!("{kind}{i}"), "", nominal)).collect::<Vec<_>>()
        };
        signature.parameters(parameter("m", 1.0)).parameters(parameter("d", 0.0))
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        (0..self.0).for_each(|i| q[3 * i] = D::from(i as f64 + 0.5));
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        for i in 0..self.0 {
            m[(3 * i, 3 * i)] = u[i];
            m[(3 * i + 1, 3 * i + 1)] = u[i];
            m[(3 * i + 2, 3 * i + 2)] = D::from(1.0 / 12.0);
        }
    }

    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        for i in 0..self.0 {
            force[3 * i + 1] = u[i] * -9.81;
            let before = if i > 0 { v[3 * i - 1] } else { D::from(0.0) };
            let torque = u[self.0 + i] * (v[3 * i + 2] - before);
            force[3 * i + 2] -= torque;
            if i > 0 {
                force[3 * i - 1] += torque;
            }
        }
    }

    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        for i in 0..self.0 {
            let (sin, cos) = q[3 * i + 2].sin_cos();
            c[2 * i] = q[3 * i] - cos * 0.5;
            c[2 * i + 1] = q[3 * i + 1] - sin * 0.5;
            if i > 0 {
                let (sin, cos) = q[3 * i - 1].sin_cos();
                c[2 * i] -= q[3 * i - 3] + cos * 0.5;
                c[2 * i + 1] -= q[3 * i - 2] + sin * 0.5;
            }
        }
    }
}

/// Protects the assembled equations: three pendulums from parts move as those written as plain functions, to 1e-12.
#[test]
fn a_chain_from_parts_is_the_chain_of_plain_functions() -> Result<()> {
    let grid = TimeGrid::uniform(0.0, 1.0, 1e-3)?;
    for count in [1, 3, 6] {
        let mut u = vec![1.0; count];
        u.extend((0..count).map(|i| 0.01 * (1.0 + i as f64)));
        let of = |system: Arc<dyn System>| Simulation::new(system, Hht::new(-0.05)?, grid.clone(), vec![])?.run(&u);
        let (parts, plain) = (of(Arc::new(pendulum_chain(count)?))?, of(Arc::new(Plain::new(PlainChain(count))?))?);
        for i in 0..=grid.count() {
            let (a, b) = (parts.state(i), plain.state(i));
            // positions to 1e-12 (a chain amplifies round-off as it whips); what Newton leaves of them is in the velocities
            // divided by a step
            for (values, others, limit) in [(a.q, b.q, 1e-12), (a.v, b.v, 1e-10)] {
                for (one, other) in values.iter().zip(others) {
                    let close = (one - other).abs() <= limit * (1.0 + other.abs()) * count as f64;
                    assert!(close, "{count}: {one} {other}");
                }
            }
        }
    }
    Ok(())
}

/// Protects large systems and the sparse path: a chain of 300 rods takes a bounded number of iterations a step and keeps its
/// energy.
#[test]
fn a_long_chain_keeps_its_energy() -> Result<()> {
    let count = 300;
    let grid = TimeGrid::uniform(0.0, 1.0, 1e-3)?;
    let chain = pendulum_chain(count)?;
    let mut u = vec![1.0; count];
    u.extend(vec![0.0; count]);
    let simulation = Simulation::new(Arc::new(chain), Hht::new(-0.05)?, grid, vec![])?;
    let trajectory = simulation.run(&u)?;
    let x = trajectory.state(1000).q;
    assert!(trajectory.counters.iterations < 4500, "{:?}", trajectory.counters);
    let energy = |i: usize| {
        let x = trajectory.state(i);
        (0..count)
            .map(|b| {
                let (v, w) = (&x.v[3 * b..3 * b + 3], x.q[3 * b + 1]);
                0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2] / 12.0) + 9.81 * w
            })
            .sum::<f64>()
    };
    let potential: f64 = (0..count).map(|b| 9.81 * x[3 * b + 1]).sum();
    assert!((energy(1000) - energy(0)).abs() < 1e-4 * potential.abs(), "{} {potential}", energy(1000));
    Ok(())
}
