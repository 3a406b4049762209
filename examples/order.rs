//! Which acceleration has which order: errors of HHT on the cart-pole against the step size, with a figure.
//!
//! `cargo run --release --example order` writes `plots/order.svg`.

use costate::Trajectory;
use costate_identify::Result;
use costate_identify::problem::Integrator;
use costate_report::plot;

const ALPHA: f64 = -0.1;
const END: f64 = 1.0;
/// Steps in the coarsest run.
const COARSEST: usize = 50;

fn main() -> Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get("cart_pole")?;
    let run = |scheme: &str, steps: usize| -> Result<Trajectory> {
        let mut scenario = entry.scenario.clone();
        scenario.integrator = Integrator { scheme: scheme.into(), ..Integrator::hht(ALPHA) };
        scenario.end = END;
        scenario.step = END / steps as f64;
        Ok(entry.simulation(&scenario)?.run(&entry.system.signature().nominal())?)
    };
    let reference = run("hht", COARSEST * 1024)?;
    // largest error over the times of the coarsest run
    let error = |run: &Trajectory, steps: usize, scheme_variable: bool| {
        (0..=COARSEST)
            .map(|i| {
                let (i, exact) = (i * steps / COARSEST, reference.state(i * 1024));
                let a = if scheme_variable { run.scheme_acceleration(i) } else { run.state(i).a.to_vec() };
                a.iter().zip(exact.a).map(|(a, exact)| (a - exact).abs()).fold(0.0, f64::max)
            })
            .fold(0.0, f64::max)
    };
    let all: Vec<usize> = (0..7).map(|k| COARSEST << k).collect();
    let sizes: Vec<f64> = all.iter().map(|&steps| END / steps as f64).collect();
    let mut curves: [Vec<f64>; 3] = Default::default();
    for &steps in &all {
        let (consistent, literal) = (run("hht", steps)?, run("hht-literal", steps)?);
        curves[0].push(error(&consistent, steps, false));
        curves[1].push(error(&consistent, steps, true));
        curves[2].push(error(&literal, steps, false));
    }
    let labels = ["consistent acceleration", "the scheme's variable", "literal form"];
    println!("cart-pole, alpha = {ALPHA}: largest error of the accelerations, and observed order");
    for (label, errors) in labels.iter().zip(&curves) {
        let orders: Vec<String> = errors.windows(2).map(|e| format!("{:.2}", (e[0] / e[1]).log2())).collect();
        println!("{label:24} {:.2e} ... {:.2e}   orders {}", errors[0], errors[errors.len() - 1], orders.join(" "));
    }
    let named: Vec<_> = labels.iter().zip(&curves).map(|(l, e)| (*l, sizes.as_slice(), e.as_slice())).collect();
    let mut figure = plot::convergence(&named, &[1.0, 2.0])?;
    *figure.panels_mut()[0].y_axis_mut() = plot::Axis::log("largest error of accelerations");
    figure.write_svg("plots/order.svg")?;
    println!("written to plots/order.svg");
    Ok(())
}
