use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::{Gradient, Hht, Method, Simulation, System, TimeGrid};
use std::sync::Arc;

#[test]
fn chain() {
    let n: usize = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let t0 = std::time::Instant::now();
    let chain = costate_models::pendulum_chain::pendulum_chain(n).unwrap();
    println!("build {:?}", t0.elapsed());
    let u: Vec<f64> = chain.signature().nominal();
    let steps = 1000;
    let t0 = std::time::Instant::now();
    let simulation = Simulation::new(
        Arc::new(chain),
        Hht::new(-0.05).unwrap(),
        TimeGrid::uniform(0.0, 1.0, 1.0 / steps as f64).unwrap(),
        vec![],
    )
    .unwrap();
    let trajectory = simulation.run(&u).unwrap();
    println!("run {:?} {:?}", t0.elapsed(), trajectory.counters);
    let x = trajectory.state(steps);
    let joint = |i: usize| (x.q[3 * i] + 0.5 * x.q[3 * i + 2].cos(), x.q[3 * i + 1] + 0.5 * x.q[3 * i + 2].sin());
    println!("joint 1 {:?}", joint(0));
    println!("joint 5 {:?}", joint(4.min(n - 1)));
}
