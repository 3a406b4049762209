//! The rigid body of Nachbagauer 2015, section 5.2: its inertia tensor from the velocity of one point, with a table and figures like
//! the paper's Table 1 and Figs. 6 and 7; where the paper's own result is off; what another excitation would determine.
//!
//! `cargo run --release --example rigid_body [-- --png]`

use costate::TimeGrid;
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::system::System;
use costate_identify::optimise::{Flow, Method};
use costate_identify::problem::{Integrator, Problem};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::table::table;
use costate_identify::{Identification, Settings, identify};
use costate_models::rigid_body::{self, ENTRIES, Excitation, INERTIA, START};
use costate_parts::spatial::entries_of_factors;
use costate_report::Folder;
use costate_report::plot::{self, Axis, Figure, Marker, Panel, Series};
use nalgebra::SymmetricEigen;
use std::path::Path;
use std::sync::Arc;

/// What the paper ends with after 126 iterations, kg m².
const PAPER: [f64; 6] = [133.441, 162.073, 96.815, 22.198, -44.593, 3.011];
/// Noise of the sensor, m/s.
const NOISE: f64 = 1e-3;

fn fit(problem: &Problem, method: Method) -> costate_identify::Result<Identification> {
    identify(problem, &Settings { method: Some(method), ..Settings::default() }, &mut |_| Flow::Continue)
}

/// Statistics of the entries from noisy velocities of P, at the true ones.
fn statistics(excitation: Excitation) -> costate_identify::Result<Statistics> {
    let system = Arc::new(rigid_body::rigid_body(excitation)?);
    let u = system.signature().nominal();
    let integrator = Integrator::hht(-0.05);
    let simulation = integrator.simulation(system, TimeGrid::uniform(0.0, 3.0, 1e-2)?, vec![])?;
    let outputs = ["P.x", "P.y", "P.z"];
    let problem = Problem::synthetic("rigid body", simulation, &u, &u, &outputs, Default::default())?;
    let levels = outputs.map(|name| (name.to_string(), NOISE)).to_vec();
    let problem = problem.with_noise(&SyntheticNoise { seed: 1, level: NoiseLevel::Absolute(levels) })?;
    Statistics::at(&problem, &u, &[], Noise::Given)
}

fn main() -> costate_identify::Result<()> {
    let registry = costate_models::registry()?;
    let (by_entries, by_factors) = (registry.get("rigid_body")?, registry.get("rigid_body_factors")?);
    let entries = by_entries.problem(&by_entries.scenario)?;
    let factors = by_factors.problem(&by_factors.scenario)?;
    let bfgs = fit(&entries, Method::Bfgs)?;
    let lm = fit(&factors, Method::LevenbergMarquardt)?;
    let in_entries = |u: &[f64]| entries_of_factors(costate::unpack(u));

    let columns = [bfgs.values(), in_entries(&lm.values()).to_vec()];
    let rows: Vec<Vec<String>> = (0..6)
        .map(|k| {
            let off = |value: f64| format!("{:.1e}", (value / INERTIA[k] - 1.0).abs());
            let [mut row, start] = [vec![ENTRIES[k].to_string(), INERTIA[k].to_string()], vec![START[k].to_string()]];
            row.extend(start);
            row.extend([PAPER[k].to_string(), off(PAPER[k])]);
            row.extend(columns.iter().map(|found| off(found[k])));
            row
        })
        .collect();
    let header = ["entry", "correct [kg m^2]", "start", "paper", "off by", "BFGS, entries", "LM, log-Cholesky"];
    println!("{}", table(&header, &rows));
    for (name, found) in [("BFGS on the entries", &bfgs), ("LM on log-Cholesky factors", &lm)] {
        let iterations = found.outcome.history.len() - 1;
        println!("{name}: {iterations} iterations, cost {:.1e}, {}", found.outcome.cost, found.outcome.reason);
    }

    let [paper_like, richer] = [statistics(Excitation::OneAxisAfterAnother)?, statistics(Excitation::AllAxes)?];
    println!("\nThe paper's error along the directions that the velocities determine, best first:");
    let eigen = SymmetricEigen::new(paper_like.covariance.clone());
    let mut order: Vec<usize> = (0..6).collect();
    order.sort_by(|a, b| eigen.eigenvalues[*a].total_cmp(&eigen.eigenvalues[*b]));
    let best = eigen.eigenvalues[order[0]].sqrt();
    let rows: Vec<Vec<String>> = order
        .iter()
        .map(|&k| {
            let direction = eigen.eigenvectors.column(k);
            let sign = if direction[direction.iamax()] < 0.0 { -1.0 } else { 1.0 };
            let along: f64 = (0..6).map(|i| sign * direction[i] * (PAPER[i] - INERTIA[i])).sum();
            let mut row = vec![format!("{:.0}", eigen.eigenvalues[k].sqrt() / best), format!("{along:.3}")];
            row.extend(direction.iter().map(|x| format!("{:.2}", sign * x)));
            row
        })
        .collect();
    println!("{}", table(&[&["weaker by", "error [kg m^2]"], &ENTRIES[..]].concat(), &rows));

    println!("Standard errors at {NOISE} m/s of noise and 100 samples a second, kg m^2:");
    let errors = |name: &str, statistics: &Statistics| {
        let mut row = vec![name.to_string()];
        row.extend(statistics.parameters.iter().map(|parameter| format!("{:.3}", parameter.standard_error)));
        row
    };
    let rows = [errors("one axis after another", &paper_like), errors("all axes at once", &richer)];
    println!("{}", table(&[&["excitation"], &ENTRIES[..]].concat(), &rows));

    let folder = Folder::create(Path::new("out/rigid_body"), std::env::args().any(|argument| argument == "--png"))?;
    let numbers = |count: usize| (0..count).map(|i| i as f64).collect::<Vec<_>>();
    let costs = |found: &Identification| found.outcome.history.iter().map(|i| i.cost).collect::<Vec<_>>();
    let mut panel = Panel::new(Axis::linear("iteration").whole_numbers(), Axis::log("cost [m²/s²]"));
    for (name, found) in [("BFGS, entries", &bfgs), ("LM, log-Cholesky", &lm)] {
        let costs = costs(found);
        panel = panel.series(Series::line(&numbers(costs.len()), &costs).marker(Marker::Circle).label(name));
    }
    folder.figure("cost", &Figure::column().panel(panel))?;
    let histories: Vec<Vec<f64>> = (0..6).map(|k| bfgs.outcome.history.iter().map(|i| i.u[k]).collect()).collect();
    let named: Vec<(&str, &[f64])> = ENTRIES.iter().copied().zip(histories.iter().map(Vec::as_slice)).collect();
    folder.figure("entries", &plot::parameters(&named, Some(&INERTIA))?)?;
    println!("figures in {}", folder.path().display());
    Ok(())
}
