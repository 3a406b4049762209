//! The engine mount of Lauss 2018, section 5: its gradient by the adjoint and by tangents, then the identification from the
//! acceleration of the load, with the figures of the paper.
//!
//! `cargo run --release --example engine_mount`

use costate::sensitivity::Method;
use costate_identify::optimise::Flow;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Settings, identify};
use costate_report::{Folder, parameter_table, result_json};
use std::path::Path;

fn main() -> costate_identify::Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get("engine-mount")?;
    let problem = entry.problem(&entry.scenario)?;

    let mut gradient = problem.gradient()?;
    let (mut adjoint, mut tangent) = (vec![0.0; 4], vec![0.0; 4]);
    let cost = gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut adjoint)?;
    gradient.cost_and_gradient(&problem.start, Method::Tangent, &mut tangent)?;
    println!("cost at the start {cost:.15}");
    for ((parameter, adjoint), tangent) in problem.parameters.iter().zip(&adjoint).zip(&tangent) {
        println!("  dJ/d{:5} {adjoint:22.15e}  tangent/adjoint - 1 = {:8.1e}", parameter.name, tangent / adjoint - 1.0);
    }

    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
    println!("\n{}\n{}, cost {:.2e}", parameter_table(&found), found.outcome.reason, found.outcome.cost);
    let folder = Folder::create(Path::new("out/engine_mount"), false)?;
    let statistics = Statistics::of(&problem, &found, Noise::Estimated);
    let document = result_json(&problem, found.method.name(), &found, &statistics);
    folder.identification(&problem, &found, &statistics, document)?;
    println!("figures in {}", folder.path().display());
    Ok(())
}
