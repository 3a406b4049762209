//! What runs are compared with: a run of a trusted scheme with much smaller steps.

use super::watch::{State, Watch};
use super::with_steps;
use costate::scheme::Scheme;
use costate::{Error, Keep, Quantity, Result, Signature, Simulation, Workspace, scheme};
use std::sync::Arc;

/// Relative errors, or their orders, of positions, velocities, accelerations and multipliers; `None` where there is none.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Gaps {
    /// Error or order of positions q.
    pub position: Option<f64>,
    /// Error or order of velocities q'.
    pub velocity: Option<f64>,
    /// Error or order of accelerations q''.
    pub acceleration: Option<f64>,
    /// Error or order of multipliers λ.
    pub multiplier: Option<f64>,
}

impl Gaps {
    /// All four, in this order.
    pub fn list(&self) -> [Option<f64>; 4] {
        [self.position, self.velocity, self.acceleration, self.multiplier]
    }

    pub(super) fn from_list([position, velocity, acceleration, multiplier]: [Option<f64>; 4]) -> Self {
        Gaps { position, velocity, acceleration, multiplier }
    }
}

/// Conservation of the energy: whether it should stay as it is.
#[derive(Debug, Clone, PartialEq)]
pub enum Energy {
    /// The energy should stay as it is: its place among the outputs, and the largest kinetic energy of the reference, J.
    Kept {
        /// Place of the energy among the outputs.
        output: usize,
        /// Largest kinetic energy of the reference, J.
        kinetic: f64,
    },
    /// No number is known for the energy, for this reason.
    Unknown(String),
}

impl Energy {
    pub(super) fn place(&self) -> Option<usize> {
        match self {
            Energy::Kept { output, .. } => Some(*output),
            Energy::Unknown(_) => None,
        }
    }

    pub(super) fn relative(&self, change: Option<f64>) -> Option<f64> {
        match self {
            Energy::Kept { kinetic, .. } => change.map(|change| change / kinetic),
            Energy::Unknown(_) => None,
        }
    }
}

/// The run that all others are compared with.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The scheme, with its settings, for people.
    pub scheme: String,
    /// Time step, s.
    pub step: f64,
    /// Estimated error of the reference itself: its distance from a run with twice its step, relative as errors are.
    pub uncertainty: Gaps,
    /// Conservation of the energy.
    pub energy: Energy,
    /// The size of each output.
    pub(super) outputs: Vec<f64>,
    states: Vec<State>,
    /// Sizes by which errors of each coordinate and multiplier are divided; zero where there is nothing to divide by.
    sizes: State,
}

/// Part of the largest value of a unit below which none counts as a size.
const SMALL: f64 = 1e-3;

/// The name of the output that drift is measured by.
const ENERGY: &str = "energy";

/// A change of energy that falls by this with half the step is an error, and not a loss.
const FALLS: f64 = 0.6;

impl Reference {
    /// Runs the reference with `count` steps, of which `kept` states are kept, and the start.
    pub(super) fn new(
        simulation: &Simulation,
        u: &[f64],
        scheme: Arc<dyn Scheme>,
        (count, kept): (usize, usize),
    ) -> Result<Self> {
        let signature = simulation.signature();
        let place = signature.outputs.iter().position(|output| output.name == ENERGY && output.unit == "J");
        let run = |count: usize| {
            let simulation = with_steps(simulation, &scheme, count)?;
            let mut watch = Watch::new(&simulation, u, count / kept, place);
            let mut workspace = Workspace::new(&simulation);
            workspace.forward(u, Keep::Nothing, &mut |i, evaluator, x| watch.see(i, evaluator, x))?;
            let change = watch.energy_change();
            Ok::<_, Error>((watch.states, watch.output_sizes, change, watch.kinetic))
        };
        let (coarse, _, coarse_change, _) = run(count / 2)?;
        let (states, outputs, change, kinetic) = run(count)?;
        let energy = energy(place, coarse_change, change, kinetic);
        let (sizes, outputs) = (sizes(signature, &states), raised(&outputs, signature.outputs.iter()));
        if sizes[0].iter().all(|size| *size == 0.0) {
            let problem = "all coordinates stay at zero, and errors have no size to be relative to";
            return Err(Error::invalid(signature.place(), problem, "start it elsewhere, or let forces act on it"));
        }
        let times = simulation.grid().times();
        let step = (times[times.len() - 1] - times[0]) / count as f64;
        let scheme = scheme::in_words(&*scheme);
        let uncertainty = Gaps::default();
        let mut reference = Reference { scheme, step, uncertainty, energy, outputs, states, sizes };
        reference.uncertainty = reference.errors(&coarse);
        Ok(reference)
    }

    /// Intervals between the times at which states are kept.
    pub(super) fn kept(&self) -> usize {
        self.states.len().saturating_sub(1).max(1)
    }

    /// Largest relative errors of states at evenly spaced ones of the kept times.
    pub(super) fn errors(&self, states: &[State]) -> Gaps {
        let stride = self.kept() / states.len().saturating_sub(1).max(1);
        let worst = |kind: usize| {
            let sizes = &self.sizes[kind];
            if sizes.iter().all(|size| *size == 0.0) {
                return None;
            }
            let mut worst = 0.0f64;
            for (own, exact) in states.iter().zip(self.states.iter().step_by(stride.max(1))) {
                for ((x, exact), size) in own[kind].iter().zip(&exact[kind]).zip(sizes) {
                    if *size > 0.0 {
                        worst = worst.max((x - exact).abs() / size);
                    }
                }
            }
            Some(worst)
        };
        Gaps::from_list(std::array::from_fn(worst))
    }
}

fn energy(place: Option<usize>, coarse: Option<f64>, change: Option<f64>, kinetic: f64) -> Energy {
    let (Some(output), Some(coarse), Some(change)) = (place, coarse, change) else {
        let reason = "the model has no output `energy` in J (mechanisms from parts: `mechanism.energy(\"energy\")`)";
        return Energy::Unknown(reason.to_string());
    };
    if kinetic == 0.0 {
        return Energy::Unknown("nothing moves".to_string());
    }
    let round_off = 1e-9 * kinetic;
    if change > round_off && change > FALLS * coarse {
        let part = costate::shown::rounded(change / kinetic, 2);
        return Energy::Unknown(format!(
            "it changes by {part} of the largest kinetic energy with any step: something takes it out or brings it in"
        ));
    }
    Energy::Kept { output, kinetic }
}

fn sizes(signature: &Signature, states: &[State]) -> State {
    std::array::from_fn(|kind| {
        let count = states.first().map_or(0, |state| state[kind].len());
        let own: Vec<f64> =
            (0..count).map(|j| states.iter().fold(0.0f64, |size, state| size.max(state[kind][j].abs()))).collect();
        match kind {
            3 => raised(&own, signature.constraints.iter()),
            // states and their rates stand behind positions and velocities, and no third derivative behind accelerations
            _ => raised(&own, signature.unknowns()),
        }
    })
}

/// Sizes that are no smaller than [`SMALL`] parts of the largest of the same unit: what is smaller may be round-off.
fn raised<'q>(own: &[f64], quantities: impl Iterator<Item = &'q Quantity> + Clone) -> Vec<f64> {
    let of_unit = |unit: &str| {
        let same = own.iter().zip(quantities.clone()).filter(|(_, other)| other.unit == unit);
        same.fold(0.0f64, |largest, (size, _)| largest.max(*size))
    };
    own.iter().zip(quantities.clone()).map(|(size, quantity)| size.max(SMALL * of_unit(&quantity.unit))).collect()
}
