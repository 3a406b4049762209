//! How well energy and constraints are kept, by time step: three problems of the IFToMM benchmark library, the second through
//! singular positions, the third with a redundant constraint.
//!
//! `cargo run --release --example drift`

use costate::report::table;
use costate::system::Level;
use costate::{Hht, Simulation, System, TimeGrid, Trajectory};
use costate_models::{bricard, four_bar_chain, simple_pendulum};
use std::sync::Arc;

/// Largest magnitude of a time derivative of the constraints along a run.
fn drift(system: &dyn System, trajectory: &Trajectory, level: Level) -> f64 {
    let mut evaluator = system.evaluator();
    evaluator.set_parameters(&system.signature().nominal());
    let mut c = vec![0.0; system.signature().constraints.len()];
    let mut largest = 0.0f64;
    for i in 0..trajectory.times().len() {
        let x = trajectory.state(i);
        evaluator.constraint(level, &x, &mut c);
        largest = c.iter().fold(largest, |largest, c| largest.max(c.abs()));
    }
    largest
}

fn main() -> costate::Result<()> {
    let mut rows = Vec::new();
    let systems: [(&str, Arc<dyn System>); 4] = [
        ("A01", Arc::new(simple_pendulum()?)),
        ("A02, N = 2", Arc::new(four_bar_chain(2)?)),
        ("A02, N = 40", Arc::new(four_bar_chain(40)?)),
        ("A04", Arc::new(bricard()?)),
    ];
    for (name, system) in systems {
        let energy = system.signature().output_index("energy")?;
        for alpha in [-0.05, -0.1, -0.3] {
            for step in [4e-3, 2e-3, 1e-3, 5e-4] {
                let grid = TimeGrid::uniform(0.0, 10.0, step)?;
                let simulation = Simulation::new(system.clone(), Hht::new(alpha)?, grid, vec![])?;
                let mut row = vec![name.to_string(), alpha.to_string(), step.to_string()];
                match simulation.run(&system.signature().nominal()) {
                    Ok(trajectory) => {
                        let energies = trajectory.output(energy);
                        let lost = energies.iter().fold(0.0f64, |lost, e| lost.max((e - energies[0]).abs()));
                        let iterations = trajectory.counters.iterations as f64 / trajectory.counters.steps as f64;
                        row.push(format!("{lost:.2e}"));
                        for level in [Level::Position, Level::Velocity] {
                            row.push(format!("{:.1e}", drift(&*system, &trajectory, level)));
                        }
                        row.push(format!("{iterations:.1}"));
                    }
                    Err(error) => {
                        println!("{name}, alpha = {alpha}, step = {step} s: {error}");
                        row.resize(7, "-".into());
                    }
                }
                rows.push(row);
            }
        }
    }
    let header = ["problem", "alpha", "step [s]", "energy [J]", "position [m]", "velocity [m/s]", "iterations a step"];
    println!("{}", table(&header, &rows));
    Ok(())
}
