//! Trial
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::{Gradient, Hht, Method, Simulation, System, TimeGrid};
use std::sync::Arc;
use std::time::Instant;

/// Trial
#[test]
fn chain() {
    let n: usize = std::env::var("N").ok().and_then(|n| n.parse().ok()).unwrap_or(3);
    let t0 = Instant::now();
    let chain = costate_models::pendulum_chain::pendulum_chain(n).unwrap();
    println!("build {:?}", t0.elapsed());
    let u: Vec<f64> = chain.signature().nominal();
    let steps = 1000;
    let simulation =
        Simulation::new(Arc::new(chain), Hht::new(-0.05).unwrap(), TimeGrid::uniform(0.0, 1.0, 1.0 / steps as f64).unwrap(), vec![]).unwrap();
    let trajectory = simulation.run(&u).unwrap();
    println!("{:?}", trajectory.counters);
    let x = trajectory.state(steps);
    let joint = |i: usize| (x.q[3 * i] + 0.5 * x.q[3 * i + 2].cos(), x.q[3 * i + 1] + 0.5 * x.q[3 * i + 2].sin());
    println!("joint 1 {:?}", joint(0));
    println!("joint 5 {:?}", joint(4.min(n - 1)));
    drop(trajectory);
    let reference = Reference { output: 0, values: vec![1.0; steps + 1], deviation: 1.0 };
    let cost = LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Trapezoid).unwrap();
    let mut gradient = Gradient::new(&simulation, &cost).unwrap();
    let mut slope = vec![0.0; u.len()];
    let scale = 1e9 / (steps * n) as f64;
    for _ in 0..3 {
        let t0 = Instant::now();
        gradient.cost(&u).unwrap();
        let forward = t0.elapsed().as_secs_f64();
        let t0 = Instant::now();
        gradient.cost_and_gradient(&u, Method::Adjoint, &mut slope).unwrap();
        let both = t0.elapsed().as_secs_f64();
        println!("N {n}: cost {:.0} ns/step/body, with gradient {:.0}; {:?}", forward * scale, both * scale, gradient.counters());
    }
    if n <= 5 {
        let mut other = slope.clone();
        gradient.cost_and_gradient(&u, Method::Tangent, &mut other).unwrap();
        println!("{slope:?}\n{other:?}");
        gradient.cost_and_gradient(&u, Method::Difference, &mut other).unwrap();
        println!("{other:?}");
    }
}
