//! What is seen of a run while it goes on: states at the times that are compared, constraints and energy at all times.

use costate::Simulation;
use costate::system::{Equations, Evaluator, Level, OutputPoint, Point};

/// Positions and states, velocities and rates of states, accelerations, and multipliers.
pub(super) type State = [Vec<f64>; 4];

/// An observer of one run.
pub(super) struct Watch<'s> {
    /// An evaluator of its own: that of the run keeps what the run needs.
    evaluator: Box<dyn Evaluator + 's>,
    stride: usize,
    constraint: Vec<f64>,
    momentum: Vec<f64>,
    /// Number of coordinates, which come before states.
    coordinates: usize,
    outputs: Vec<f64>,
    /// The output that is the energy.
    energy_place: Option<usize>,
    first_energy: f64,
    largest_change: f64,
    /// States at the times that are compared.
    pub states: Vec<State>,
    /// The largest magnitude of each output.
    pub output_sizes: Vec<f64>,
    /// The largest violation of constraints at each level.
    pub drift: [f64; 3],
    /// The largest kinetic energy, J.
    pub kinetic: f64,
}

const LEVELS: [Level; 3] = [Level::Position, Level::Velocity, Level::Acceleration];

impl<'s> Watch<'s> {
    /// Observer of a run at `u`, of whose times every `stride`-th is compared.
    pub fn new(simulation: &'s Simulation, u: &[f64], stride: usize, energy_place: Option<usize>) -> Self {
        let signature = simulation.signature();
        let mut evaluator = simulation.system().evaluator();
        evaluator.set_parameters(u);
        Watch {
            evaluator,
            stride,
            constraint: vec![0.0; signature.constraints.len()],
            momentum: vec![0.0; signature.unknown_count()],
            coordinates: signature.coordinates.len(),
            outputs: vec![0.0; signature.outputs.len()],
            energy_place,
            first_energy: 0.0,
            largest_change: 0.0,
            states: Vec::new(),
            output_sizes: vec![0.0; signature.outputs.len()],
            drift: [0.0; 3],
            kinetic: 0.0,
        }
    }

    /// The state at time `i`.
    pub fn see(&mut self, i: usize, evaluator: &mut dyn Evaluator, x: &OutputPoint<'_>) {
        evaluator.output(x, &mut self.outputs);
        for (size, y) in self.output_sizes.iter_mut().zip(&self.outputs) {
            *size = size.max(y.abs());
        }
        let point = Point { t: x.t, q: x.q, v: x.v, a: x.a, lambda: x.lambda, w: x.w };
        if !self.constraint.is_empty() {
            for (level, worst) in LEVELS.into_iter().zip(&mut self.drift) {
                self.evaluator.constraint(level, &point, &mut self.constraint);
                *worst = self.constraint.iter().fold(*worst, |worst, c| worst.max(c.abs()));
            }
        }
        if let Some(place) = self.energy_place {
            let energy = self.outputs[place];
            if i == 0 {
                self.first_energy = energy;
            }
            self.largest_change = self.largest_change.max((energy - self.first_energy).abs());
            // M v is the residual of motion at q'' = v, without forces
            let zeros = vec![0.0; x.lambda.len()];
            let at = Point { a: x.v, lambda: &zeros, ..point };
            let equations = Equations { forces: false, level: Level::Position };
            self.evaluator.residual(&at, equations, &mut self.momentum, &mut self.constraint);
            let twice: f64 = self.momentum.iter().zip(x.v).take(self.coordinates).map(|(p, v)| p * v).sum();
            self.kinetic = self.kinetic.max(0.5 * twice);
        }
        if i.is_multiple_of(self.stride) {
            let [(q, _), (v, z), (a, rates)] = [x.q, x.v, x.a].map(|x| x.split_at(self.coordinates));
            self.states.push([[q, z].concat(), [v, rates].concat(), a.to_vec(), x.lambda.to_vec()]);
        }
    }

    /// The largest change of the energy, J; `None` if there is no such output.
    pub fn energy_change(&self) -> Option<f64> {
        self.energy_place.map(|_| self.largest_change)
    }
}
