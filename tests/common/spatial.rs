//! What tests of mechanisms of space share: runs with outputs by name, and where bodies start.

use costate::scheme::Hht;
use costate::vector::{Rotation, Vector, euler_parameters_of};
use costate::{InitialState, Result, Signal, Simulation, TimeGrid, Trajectory};
use costate_parts::assembly::Assembly;
use std::sync::Arc;

/// A trajectory with the names of its outputs.
pub struct Run {
    pub names: Vec<String>,
    pub trajectory: Trajectory,
}

impl Run {
    pub fn of(simulation: &Simulation) -> Result<Run> {
        let signature = simulation.signature();
        let trajectory = simulation.run(&signature.nominal())?;
        Ok(Run { names: signature.outputs.iter().map(|output| output.name.clone()).collect(), trajectory })
    }

    pub fn output(&self, name: &str) -> Vec<f64> {
        let place = self.names.iter().position(|output| output == name);
        self.trajectory.output(place.unwrap_or_else(|| panic!("no output {name}")))
    }

    /// Outputs `name.x`, `name.y`, `name.z` at time `i`.
    pub fn vector(&self, name: &str, i: usize) -> Vector<f64> {
        Vector(["x", "y", "z"].map(|axis| self.output(&format!("{name}.{axis}"))[i]))
    }

    /// Outputs `name.torque_x` and so on.
    pub fn torque(&self, name: &str, i: usize) -> Vector<f64> {
        Vector(["x", "y", "z"].map(|axis| self.output(&format!("{name}.torque_{axis}"))[i]))
    }
}

pub fn simulation_with(
    system: Assembly,
    alpha: f64,
    end: f64,
    step: f64,
    signals: Vec<Signal>,
    start: InitialState,
) -> Result<Simulation> {
    let grid = TimeGrid::uniform(0.0, end, step)?;
    Ok(Simulation::new(Arc::new(system), Hht::new(alpha)?, grid, signals)?.initial_state(start))
}

pub fn run_with(system: Assembly, alpha: f64, end: f64, step: f64, signals: Vec<Signal>) -> Result<Run> {
    Run::of(&simulation_with(system, alpha, end, step, signals, InitialState::AsGiven)?)
}

pub fn run(system: Assembly, end: f64, step: f64) -> Result<Run> {
    run_with(system, -0.05, end, step, vec![])
}

/// Where a body starts: position of its reference point and rotation vector.
#[derive(Debug, Clone, Copy)]
pub struct Start(pub [f64; 3], pub [f64; 3]);

impl Start {
    pub fn rotation(self) -> Rotation<f64> {
        Rotation::from_rotation_vector(Vector(self.1))
    }

    pub fn euler_parameters(self) -> [f64; 4] {
        euler_parameters_of(Vector(self.1))
    }

    /// A point of the world in the body's axes.
    pub fn location(self, point: [f64; 3]) -> [f64; 3] {
        self.direction((Vector(point) - Vector(self.0)).0)
    }

    /// A direction of the world in the body's axes.
    pub fn direction(self, direction: [f64; 3]) -> [f64; 3] {
        self.rotation().turn_back(Vector(direction)).0
    }
}

pub const FIRST: Start = Start([0.31, -0.12, -0.4], [0.4, -0.7, 0.2]);
pub const SECOND: Start = Start([0.6, 0.25, -0.75], [-0.3, 0.5, 0.9]);
/// Where the bodies meet.
pub const MEETING: [f64; 3] = [0.47, 0.1, -0.55];
/// Perpendicular directions there, of unit length.
pub const AXIS: [f64; 3] = [2.0 / 7.0, 3.0 / 7.0, 6.0 / 7.0];
pub const ACROSS: [f64; 3] = [6.0 / 7.0, 2.0 / 7.0, -3.0 / 7.0];

/// a + factor b
pub fn sum(a: [f64; 3], b: [f64; 3], factor: f64) -> [f64; 3] {
    (Vector(a) + Vector(b) * factor).0
}
