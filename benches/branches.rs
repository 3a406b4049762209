//! What a branch costs: a row of masses with springs and one-sided stops, whose force is chosen by `select`, or by an `if` that looks at a value.
//!
//! `cargo bench -p costate-benches --bench sizes`

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::{Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
use costate_benches::{Contestant, measuring, medians};
use costate_identify::Result;
use std::sync::Arc;

const NAMES: [&str; 12] = ["x1", "x2", "x3", "x4", "x5", "x6", "x7", "x8", "x9", "x10", "x11", "x12"];
const STEPS: usize = 2000;

/// N masses; `LOOKS`: by an `if`.
struct Stops<const N: usize, const LOOKS: bool>;

impl<const N: usize, const LOOKS: bool> Model for Stops<N, LOOKS> {
    fn signature(&self) -> Signature {
        let mut signature = Signature::new("stops").outputs([("a", "m/s^2")]);
        for name in &NAMES[..N] {
            signature = signature.coordinates([(name, "m")]);
        }
        signature.parameters([Parameter::new("k", "N/m", 50.0), Parameter::new("stop", "N/m", 400.0)])
    }

    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(0.1);
    }

    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        (0..N).for_each(|i| m[(i, i)] = D::from(1.0));
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        for i in 0..N {
            let before = if i == 0 { D::from(0.0) } else { q[i - 1] };
            let stop = q[i] * u[1];
            let held = if LOOKS {
                if q[i].re() < 0.0 { stop } else { D::from(0.0) }
            } else {
                D::select(q[i].less(0.0), stop, D::from(0.0))
            };
            force[i] = (before - q[i]) * u[0] - held - v[i] * 0.1;
            if i > 0 {
                force[i - 1] -= (before - q[i]) * u[0];
            }
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y[0] = x.a[0];
    }
}

/// Seconds of the cost and of the cost with its gradient: by `select`, then by `if`.
fn times<const N: usize>() -> Result<[f64; 4]> {
    let simulation = |plain: Arc<dyn costate::system::System>| {
        Simulation::new(plain, Hht::new(-0.05)?, TimeGrid::steps(0.0, 1e-3, STEPS)?, Vec::new())
    };
    let both =
        [simulation(Arc::new(Plain::new(Stops::<N, false>)?))?, simulation(Arc::new(Plain::new(Stops::<N, true>)?))?];
    let reference = Reference { output: 0, values: vec![0.0; STEPS + 1], deviation: 1.0 };
    let cost = LeastSquares::new(both[0].grid().times(), vec![reference], 1, Quadrature::Rectangle)?;
    let u = both[0].signature().nominal();
    let mut contestants: Vec<Contestant<'_>> = Vec::new();
    for simulation in &both {
        let (mut plain, mut adjoint) = (Gradient::new(simulation, &cost)?, Gradient::new(simulation, &cost)?);
        let (u, mut slope) = (&u, vec![0.0; u.len()]);
        contestants.push(("cost", Box::new(move || drop(plain.cost(u)))));
        let gradient = move || drop(adjoint.cost_and_gradient(u, Method::Adjoint, &mut slope));
        contestants.push(("cost_and_gradient", Box::new(gradient)));
    }
    let found = medians(&mut contestants, 101);
    Ok([found[0], found[1], found[2], found[3]])
}

/// Prints the table.
pub fn table() -> Result<()> {
    if !measuring() {
        return Ok(());
    }
    println!("\nan `if` that looks at a value, beside `select`: time of the cost, and with its gradient");
    for (count, [cost, both, looked, looked_both]) in
        [(2, times::<2>()?), (4, times::<4>()?), (8, times::<8>()?), (12, times::<12>()?)]
    {
        println!("{count:2} coordinates   {:5.2}   {:5.2}", looked / cost, looked_both / both);
    }
    Ok(())
}
