//! A model's functions on num-dual's own types: its derivatives, first and second, beside what the engine has of them.
//!
//! `cargo run --release --example num_dual`

use costate::system::{Point, System};
use costate::{Model, Plain, Result};
use costate_check::Jacobians;
use costate_models::cart_pole::CartPole;
use num_dual::{DualSVec64, HyperDual64};

fn main() -> Result<()> {
    let system = Plain::new(CartPole)?;
    let u = system.signature().nominal();
    let (q, v) = ([0.3, 0.4], [1.0, -2.0]);
    let (a, w) = ([0.0, 0.0], vec![0.0; system.signature().inputs.len()]);

    // dQ/dq: one derivative direction for each coordinate
    type Dual = DualSVec64<2>;
    let positions = [Dual::from_re(q[0]).derivative(0), Dual::from_re(q[1]).derivative(1)];
    let constants = |values: &[f64]| values.iter().map(|x| Dual::from_re(*x)).collect::<Vec<Dual>>();
    let mut force = [Dual::from_re(0.0); 2];
    CartPole.force(Dual::from_re(0.0), &positions, &constants(&v), &constants(&w), &constants(&u), &mut force);

    let jacobians = Jacobians::at(&system, &Point { t: 0.0, q: &q, v: &v, a: &a, lambda: &[], w: &w }, &u)?;
    let by_engine = &jacobians.get("J_Q")?.matrix;
    println!("J_Q, force by position          num-dual's DualSVec            engine");
    for (i, force) in force.iter().enumerate() {
        let slopes = force.eps.unwrap_generic(nalgebra::Const::<2>, nalgebra::U1);
        for j in 0..2 {
            let (row, column) = (&system.signature().coordinates[i].name, &system.signature().coordinates[j].name);
            println!("{row:>10} by {column:<10} {:27.16} {:27.16}", slopes[j], by_engine[(i, j)]);
            assert!((slopes[j] - by_engine[(i, j)]).abs() <= 1e-14 * slopes[j].abs().max(1.0));
        }
    }

    // d²Q/(dq1 dv1): one number of a mixed second derivative
    let hyper = HyperDual64::from_re;
    let mut at = [hyper(q[0]), hyper(q[1])];
    let mut speeds = [hyper(v[0]), hyper(v[1])];
    (at[1].eps1, speeds[1].eps2) = (1.0, 1.0);
    let constants = |values: &[f64]| values.iter().map(|x| hyper(*x)).collect::<Vec<HyperDual64>>();
    let mut force = [hyper(0.0); 2];
    CartPole.force(hyper(0.0), &at, &speeds, &constants(&w), &constants(&u), &mut force);

    // beside it, differences of the engine's exact J_V
    let damping = |angle: f64| -> Result<f64> {
        let q = [q[0], angle];
        let jacobians = Jacobians::at(&system, &Point { t: 0.0, q: &q, v: &v, a: &a, lambda: &[], w: &w }, &u)?;
        Ok(jacobians.get("J_V")?.matrix[(0, 1)])
    };
    let step = 6e-6;
    let difference = (damping(q[1] + step)? - damping(q[1] - step)?) / (2.0 * step);
    let mixed = force[0].eps1eps2;
    println!(
        "second derivative of the first force by angle and angular velocity: HyperDual {mixed:.12}, differences of J_V {difference:.12}"
    );
    assert!((mixed - difference).abs() < 1e-8 * mixed.abs().max(1.0));
    Ok(())
}
