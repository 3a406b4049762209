//! Torques that lead a point of a five-bar linkage along a closed curve (after Lopez Varela 2021): gradients by four ways, the search, and
//! the point's path before, after, and as it is wanted.
//!
//! `cargo run --release --example five_bar` writes `plots/five_bar.svg`.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::{Plain, Simulation, TimeGrid, scheme};
use costate_identify::Result;
use costate_identify::optimise::Flow;
use costate_identify::problem::Problem;
use costate_identify::table::table;
use costate_identify::{Settings, identify};
use costate_models::five_bar::{FiveBar, PERIOD, wanted};
use costate_report::plot::{Axis, Figure, Panel, Series};
use std::sync::Arc;

const STEP: f64 = 2.5e-3;

fn simulation(name: &str, end: f64) -> costate::Result<Simulation> {
    let grid = TimeGrid::uniform(0.0, end, STEP)?;
    Simulation::new(Arc::new(Plain::new(FiveBar)?), scheme::by_name(name, &[])?, grid, vec![])
}

/// Squares of the distance of point 2 from where it is to be.
fn cost(simulation: &Simulation) -> costate::Result<LeastSquares> {
    let times = simulation.grid().times();
    let reference = |k: usize| {
        let values = times.iter().map(|t| wanted(*t)[k]).collect();
        Reference { output: k, values, deviation: 1e-3 }
    };
    LeastSquares::new(times, vec![reference(0), reference(1)], 1, Quadrature::Trapezoid)
}

fn path(u: &[f64]) -> Result<[Vec<f64>; 2]> {
    let run = simulation("ali3p", PERIOD)?.run(u)?;
    Ok([run.output(0), run.output(1)])
}

fn main() -> Result<()> {
    let names = Plain::new(FiveBar)?.signature().parameters.clone();
    // torques that nearly hold the linkage where it begins
    let start: Vec<f64> = names
        .iter()
        .map(|p| match p.name.as_str() {
            "A_c0" => 1.0,
            "B_c0" => -1.0,
            _ => 0.0,
        })
        .collect();
    // little by little, from the first quarter of the curve on: longer motions have other minima
    let mut u = start.clone();
    for part in [0.125, 0.25, 0.375, 0.5, 0.75, 1.0] {
        let simulation = simulation("ali3p", part * PERIOD)?;
        let cost = Box::new(cost(&simulation)?);
        let problem =
            Problem { parameters: names.clone(), start: u.clone(), ..Problem::new("five_bar", simulation, cost) };
        let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
        u = found.outcome.u.clone();
        println!(
            "up to {:.2} s: {}, cost {:.6e}, {} iterations",
            part * PERIOD,
            found.reason(),
            found.outcome.cost,
            found.outcome.iterations
        );
    }
    for (parameter, value) in names.iter().zip(&u) {
        println!("{:6} {value}", parameter.name);
    }
    let [x, y] = path(&u)?;
    let times = simulation("ali3p", PERIOD)?;
    let off = times.grid().times().iter().enumerate().map(|(i, t)| (x[i] - wanted(*t)[0]).hypot(y[i] - wanted(*t)[1]));
    println!("point 2 is {:.2e} m off the curve at most", off.fold(0.0, f64::max));

    let near: Vec<f64> = u.iter().enumerate().map(|(k, u)| if k % 7 == 0 { 0.9 * u } else { *u }).collect();
    let mut columns = Vec::new();
    for (name, method) in [
        ("ali3p", Method::Adjoint),
        ("ali3p", Method::Tangent),
        ("ali3p", Method::Difference),
        ("hht", Method::Adjoint),
        ("i2p", Method::Adjoint),
    ] {
        let simulation = simulation(name, PERIOD)?;
        let (cost, mut gradient) = (cost(&simulation)?, vec![0.0; near.len()]);
        Gradient::new(&simulation, &cost)?.cost_and_gradient(&near, method, &mut gradient)?;
        columns.push(gradient);
    }
    let rows: Vec<Vec<String>> = (names.iter().enumerate())
        .map(|(k, p)| [p.name.clone()].into_iter().chain(columns.iter().map(|g| format!("{:.12e}", g[k]))).collect())
        .collect();
    println!("gradient of the cost, 1/(N m), where the constant torques are 10 % off");
    println!(
        "{}",
        table(&["torque", "ali3p adjoint", "ali3p tangent", "ali3p difference", "hht adjoint", "i2p adjoint"], &rows)
    );

    let curve: Vec<[f64; 2]> = times.grid().times().iter().map(|t| wanted(*t)).collect();
    let of = |k: usize| curve.iter().map(|p| p[k]).collect::<Vec<f64>>();
    let [x_before, y_before] = path(&start)?;
    let panel = Panel::new(Axis::linear("x of point 2 [m]"), Axis::linear("y of point 2 [m]"))
        .series(Series::line(&x_before, &y_before).label("before"))
        .series(Series::line(&x, &y).label("after"))
        .series(Series::line(&of(0), &of(1)).label("wanted"));
    Figure::column().panel(panel).write_svg("plots/five_bar.svg")?;
    println!("written to plots/five_bar.svg");
    Ok(())
}
