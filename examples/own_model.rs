//! A mechanism of one's own: a mass between a spring that stiffens and a damper. Simulates a "measurement", forgets the
//! parameters, and finds them again from the acceleration.
//!
//! `cargo run --release --example own_model`

use costate::cost::Quadrature;
use costate::scheme::Hht;
use costate::{Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid, unpack};
use costate_identify::optimise::Flow;
use costate_identify::problem::Problem;
use costate_identify::{Settings, identify};
use std::sync::Arc;

// [model]
struct Duffing;

impl Model for Duffing {
    fn signature(&self) -> Signature {
        Signature::new("duffing").coordinates([("x", "m")]).inputs([("F", "N")]).outputs([("a", "m/s^2")]).parameters([
            Parameter::new("k", "N/m", 40.0).non_negative(),
            Parameter::new("k3", "N/m^3", 300.0),
            Parameter::new("d", "N s/m", 0.8).non_negative(),
        ])
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.5);
    }
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [k, k3, d] = unpack(u);
        force[0] = w[0] - (k + k3 * q[0] * q[0]) * q[0] - d * v[0];
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
    }
}
// [model]

fn main() -> costate_identify::Result<()> {
    let force = Signal::function(|t| 5.0 * (4.0 * t).sin() + 3.0 * (7.3 * t).cos());
    let grid = TimeGrid::uniform(0.0, 5.0, 5e-3)?;
    let simulation = Simulation::new(Arc::new(Plain::new(Duffing)?), Hht::new(-0.05)?, grid, vec![force])?;
    let (truth, start) = ([40.0, 300.0, 0.8], [25.0, 100.0, 0.3]);
    let problem = Problem::synthetic("duffing", simulation, &truth, &start, &["a"], Quadrature::Trapezoid)?;
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
    println!("{}", costate_report::parameter_table(&found));
    println!("{} after {} simulations", found.outcome.reason, found.outcome.evaluations);
    Ok(())
}
