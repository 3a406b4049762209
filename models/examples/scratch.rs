#![allow(missing_docs)]
use costate::cost::*;
use costate::*;
use costate_models::engine_mount::*;
use std::sync::Arc;
use std::time::Instant;
fn main() {
    for (n, q) in [
        (
            1000usize,
            [
                51.398189600245984,
                -3.3189876626113895e-3,
                -5.7662907051977102e-8,
                -1.1691321610143946,
                -1.0820062935117426e-1,
            ],
        ),
        (
            10000,
            [
                50.802098772184085,
                -3.0527030015149606e-3,
                -5.0563997429065330e-8,
                -8.6169007730616673e-1,
                -8.0027148499813362e-2,
            ],
        ),
    ] {
        let h = 1.0 / n as f64;
        let sim = Simulation::new(
            Arc::new(Plain::new(EngineMount).unwrap()),
            Hht::new(-0.1).unwrap(),
            TimeGrid::uniform(0.0, 1.0, h).unwrap(),
            vec![Signal::function(sweep)],
        )
        .unwrap();
        let opt = sim.run(&sim.signature().nominal()).unwrap();
        println!("{:?}", opt.counters);
        let cost = LeastSquares::new(
            sim.grid().times(),
            vec![Reference { output: 0, values: opt.output(0), deviation: 1.0 }],
            1,
            Quadrature::Rectangle,
        )
        .unwrap();
        let mut g = Gradient::new(&sim, &cost).unwrap();
        let mut grad = [0.0; 4];
        let j = g.cost_and_gradient(&START, Method::Adjoint, &mut grad).unwrap();
        println!(
            "J err {:.2e}; grad err {:?} {:?}",
            j / q[0] - 1.0,
            (0..4).map(|k| format!("{:.1e}", grad[k] / q[k + 1] - 1.0)).collect::<Vec<_>>(),
            g.counters()
        );
        let mut tan = [0.0; 4];
        g.cost_and_gradient(&START, Method::Tangent, &mut tan).unwrap();
        println!("tangent/adjoint {:?}", (0..4).map(|k| format!("{:.1e}", grad[k] / tan[k] - 1.0)).collect::<Vec<_>>());
        let med = |f: &mut dyn FnMut()| {
            let mut t: Vec<f64> = (0..51)
                .map(|_| {
                    let s = Instant::now();
                    f();
                    s.elapsed().as_secs_f64()
                })
                .collect();
            t.sort_by(f64::total_cmp);
            t[25]
        };
        let a = med(&mut || {
            g.cost(&START).unwrap();
        });
        let b = med(&mut || {
            g.cost_and_gradient(&START, Method::Adjoint, &mut grad).unwrap();
        });
        println!("{:.1} ns/step, {:.1} ns/step, ratio {:.2}", a / n as f64 * 1e9, b / n as f64 * 1e9, b / a);
    }
}
