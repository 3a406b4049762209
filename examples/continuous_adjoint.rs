//! The continuous adjoint (Nachbagauer 2015) beside the discrete one: the gap between both gradients by step and order, what each costs, and the
//! discrete one against tangents.
//!
//! `cargo run --release --example continuous_adjoint` writes `plots/continuous_adjoint.svg`.

use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::sensitivity::{Gradient, Method};
use costate::{Number, Plain, Signal, Simulation, State, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::table::table;
use costate_models::overhead_crane;
use costate_models::overhead_crane::OverheadCrane;
use costate_report::plot::{Axis, Color, Figure, Marker, Panel, Series};
use std::sync::Arc;
use std::time::Instant;

/// How far the load of a crane is from its path, with its speed at the end.
struct OffThePath;

impl CostFunction for OffThePath {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        let [wanted_x, wanted_y] = overhead_crane::wanted(t);
        let (off_x, off_y) = (x.q[2] - wanted_x, x.q[3] - wanted_y);
        (off_x * off_x + off_y * off_y) * 0.5
    }

    fn terminal<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        x.q[2] * x.q[2] * 0.1 + x.v[2] * x.v[2] + x.v[3] * x.v[3]
    }
}

fn main() -> Result<()> {
    let system = Arc::new(Plain::new(OverheadCrane)?);
    let step_sizes: Vec<usize> = vec![75, 150, 300, 600, 1200, 2400];
    let mut gaps: Vec<Vec<f64>> = vec![Vec::new(); 4];
    let mut rows = Vec::new();
    for &steps in &step_sizes {
        let grid = TimeGrid::steps(0.0, overhead_crane::DURATION / steps as f64, steps)?;
        // a fifth of the force is missing
        let signals: Vec<Signal> = (0..2)
            .map(|k| Signal::function(move |t| overhead_crane::flat(t)[k] * if k == 0 { 0.8 } else { 1.0 }))
            .collect();
        let simulation = Simulation::new(system.clone(), scheme::by_name("generalized-alpha", &[])?, grid, signals)?;
        let cost = Differentiated::new(OffThePath, Quadrature::Trapezoid);
        let mut engine = Gradient::new(&simulation, &cost)?;
        let u = simulation.signature().nominal();
        let sizes: Vec<f64> = u.iter().map(|u| u.abs()).collect();
        let apart = |a: &[f64], b: &[f64]| {
            let largest = |x: &dyn Fn(usize) -> f64| (0..u.len()).map(|k| (x(k) * sizes[k]).abs()).fold(0.0, f64::max);
            largest(&|k| a[k] - b[k]) / largest(&|k| b[k])
        };
        let [mut discrete, mut tangent, mut continuous] = [(); 3].map(|()| vec![0.0; u.len()]);
        engine.cost_and_gradient(&u, Method::Tangent, &mut tangent)?;
        let mut fastest = |work: &mut dyn FnMut(&mut Gradient<'_>) -> costate::Result<()>| -> Result<f64> {
            let mut best = f64::INFINITY;
            for _ in 0..15 {
                let began = Instant::now();
                work(&mut engine)?;
                best = best.min(began.elapsed().as_secs_f64());
            }
            Ok(1e6 * best / steps as f64)
        };
        let alone = fastest(&mut |engine| engine.cost(&u).map(|_| ()))?;
        let by_discrete =
            fastest(&mut |engine| engine.cost_and_gradient(&u, Method::Adjoint, &mut discrete).map(|_| ()))?;
        let mut row = vec![
            steps.to_string(),
            format!("{:.1e}", apart(&tangent, &discrete)),
            format!("{:.2}", by_discrete / alone),
        ];
        for (order, gaps) in (1..).zip(&mut gaps) {
            let took = fastest(&mut |engine| engine.continuous_adjoint(&u, order, &mut continuous).map(|_| ()))?;
            gaps.push(apart(&continuous, &discrete));
            row.push(format!("{:.1e}", gaps[gaps.len() - 1]));
            if order == 2 {
                row.push(format!("{:.2}", took / alone));
            }
        }
        rows.push(row);
    }
    println!("relative gaps to the discrete gradient, and times with gradient beside that of the cost alone");
    let header = ["steps", "tangents", "time", "BDF1", "BDF2", "time", "BDF3", "BDF4"];
    println!("{}", table(&header, &rows));
    let h: Vec<f64> = step_sizes.iter().map(|steps| overhead_crane::DURATION / *steps as f64).collect();
    let mut panel = Panel::new(Axis::log("time step [s]"), Axis::log("gap to the discrete gradient"));
    for (k, (gaps, color)) in gaps.iter().zip(Color::PALETTE).enumerate() {
        let series = Series::line(&h, gaps).label(format!("BDF{}", k + 1)).color(color).marker(Marker::Circle);
        panel = panel.series(series);
    }
    Figure::column().panel(panel).write_svg("plots/continuous_adjoint.svg")?;
    println!("written to plots/continuous_adjoint.svg");
    Ok(())
}
