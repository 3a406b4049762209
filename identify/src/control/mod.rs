//! Optimal control: in come a simulation, goals, and inputs or motions to be found; out go their values over time.
//!
//! An unknown input is a combination of few or many local functions of time, w(t_i) = Σ_k φ_k(t_i) c_k (Nachbagauer 2015, section 4.2.2, with
//! a shape of its own). The adjoint gives the derivatives by the inputs at all times, and so those by all c at once: the price of a
//! gradient does not grow with their number. An unknown motion is one whose coefficients are parameters of the model
//! ([`Motion`](costate::Motion)). Sums of squares have Gauss-Newton steps that cost O(steps).

mod band;
mod continuation;
mod minimise;
mod objective;
mod refinement;
mod replay;
mod rounds;
mod scenario;
mod shape;
mod unknown;

pub use continuation::continuation;
pub use minimise::{Solution, Violation};
pub use objective::ControlObjective;
pub use refinement::{Refined, RefinementEvent, Stage, refine};
pub use replay::{Replay, Shift};
pub use scenario::{AimSetting, ControlScenario, ControlSetting, GoalSetting, GoalsAt, InformationSetting};
pub use shape::Shape;
pub use unknown::{Nodes, UnknownSignal};

use crate::design::Sought;
use crate::optimise::{Scale, Variable};
use crate::variable_of;
use crate::{Error, Result};
use costate::cost::Sum;
use costate::{InitialState, Interpolation, Parameter, Quantity, Signal, Signature, Simulation};
use shape::{Mixing, place};

/// Place of an unknown signal: an input or a motion.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Source {
    /// An input, by its place.
    Input(usize),
    /// A motion, by its place among the motions and that of its first parameter.
    Motion(usize, usize),
}

impl Source {
    fn of(signature: &Signature, name: &str) -> Result<Self> {
        if let Some(k) = signature.motions.iter().position(|motion| motion.quantity.name == name) {
            return Ok(Source::Motion(k, signature.motions[k].first));
        }
        let found = signature.inputs.iter().position(|input| input.name == name);
        let names = signature.inputs.iter().chain(signature.motions.iter().map(|motion| &motion.quantity));
        let kind = if signature.motions.is_empty() { "input" } else { "input or motion" };
        let unknown = || Error::unknown(kind, name, signature.place(), names.map(|quantity| &quantity.name));
        found.map(Source::Input).ok_or_else(unknown)
    }

    fn quantity(self, signature: &Signature) -> &Quantity {
        match self {
            Source::Input(k) => &signature.inputs[k],
            Source::Motion(k, _) => &signature.motions[k].quantity,
        }
    }
}

/// An unknown signal on a time grid.
struct Placed {
    signal: UnknownSignal,
    source: Source,
    /// Nodes of an input.
    nodes: Vec<f64>,
    mixing: Mixing,
    /// Multipliers of the limit on its rate over the penalty, one a step; and the penalty.
    shifts: Vec<f64>,
    penalty: f64,
}

impl Placed {
    fn new(signal: UnknownSignal, simulation: &Simulation) -> Result<Self> {
        signal.validate()?;
        let (signature, times) = (simulation.signature(), simulation.grid().times());
        let source = Source::of(signature, &signal.input)?;
        let (nodes, mixing) = match source {
            Source::Input(_) => {
                let nodes = signal.times(times)?;
                let mixing = Mixing::new(signal.shape, &nodes, simulation.input_rows());
                (nodes, mixing)
            }
            Source::Motion(k, _) => {
                signal.fits_motion(&signature.motions[k])?;
                (Vec::new(), Mixing::of_motion(&signature.motions[k].spline, simulation.input_rows()))
            }
        };
        let (count, shifts) = (mixing.coefficients, vec![0.0; times.len()]);
        if nodes.len() > times.len() || count > times.len() + 2 {
            let problem = format!(
                "it has {count} coefficients, but the run has {} times: some of them would act at none",
                times.len()
            );
            return Err(Error::invalid(signal.what(), problem, "give fewer intervals, or take smaller steps"));
        }
        Ok(Placed { signal, source, nodes, mixing, shifts, penalty: FIRST_PENALTY })
    }

    /// The value at time `i`, from all parameters and the inputs at all times.
    #[inline]
    fn value(&self, i: usize, u: &[f64], w: &[f64], inputs: usize) -> f64 {
        match self.source {
            Source::Input(k) => w[i * inputs + k],
            Source::Motion(_, first) => self.mixing.rows.dot(i, &u[first..]),
        }
    }

    /// Number of its coefficients that are unknowns besides the parameters.
    fn own(&self) -> usize {
        match self.source {
            Source::Input(_) => self.mixing.coefficients,
            Source::Motion(..) => 0,
        }
    }
}

/// A simulation with goals, and the inputs and motions (and parameters) that are to be found.
pub struct Control {
    /// Name for reports.
    pub name: String,
    /// The simulation; its signals are where unknown inputs start.
    pub simulation: Simulation,
    /// The cost that is minimised.
    pub cost: Sum,
    /// All parameters of the model, in its order; those that are free are found, too.
    pub parameters: Vec<Parameter>,
    /// Values of the parameters at the start.
    pub start: Vec<f64>,
    /// Information of the run about parameters, that is to be large, besides goals.
    pub information: Option<Sought>,
    signals: Vec<Placed>,
}

/// The simulation that restarts wherever unknown inputs may jump, or do so at their start: what is found is then the same in a replay.
fn restarted_at_jumps(simulation: &Simulation, unknown: &[UnknownSignal]) -> Result<Simulation> {
    let signature = simulation.signature();
    let mut times = Vec::new();
    for signal in unknown {
        let Some(k) = signature.inputs.iter().position(|input| input.name == signal.input) else { continue };
        times.extend(simulation.signals()[k].jumps().iter());
        if signal.shape == Shape::Constant && signal.validate().is_ok() {
            times.extend(signal.times(simulation.grid().times())?);
        }
    }
    Ok(simulation.restarting_at(&times)?)
}

/// The penalty that a limit on rates is begun with, beside costs of about one.
const FIRST_PENALTY: f64 = 1e-2;

impl Control {
    /// Finds these signals for these goals, with parameters that are fixed but for those of unknown motions.
    ///
    /// # Errors
    /// An unknown input or motion, or one that is named twice; nodes that do not cover the run; bounds that cross; a cost that does not fit.
    pub fn new(name: &str, simulation: Simulation, cost: Sum, signals: Vec<UnknownSignal>) -> Result<Self> {
        let signature = simulation.signature();
        costate::cost::Cost::check(&cost, signature, simulation.grid())?;
        if signals.is_empty() {
            let all = signature.inputs.iter().chain(signature.motions.iter().map(|motion| &motion.quantity));
            let names = all.map(|signal| signal.name.as_str()).collect::<Vec<_>>().join(", ");
            let remedy = format!("name at least one of its inputs and motions ({names})");
            return Err(Error::invalid(format!("the control of `{name}`"), "no signal is to be found", remedy));
        }
        if simulation.start_state() == InitialState::Equilibrium {
            let problem = "it would follow what is to be found: the inputs at the first time";
            let remedy = "begin with the model's own state, or with that projected";
            return Err(Error::invalid("the equilibrium at the start", problem, remedy));
        }
        let mut parameters = signature.parameters.clone();
        parameters.iter_mut().for_each(|parameter| parameter.free = false);
        let simulation = restarted_at_jumps(&simulation, &signals)?;
        let signature = simulation.signature();
        let mut placed: Vec<Placed> = Vec::new();
        for (k, signal) in signals.into_iter().enumerate() {
            let stated = |error: Error| error.under(&["control", "signal", &(k + 1).to_string()]);
            let signal = Placed::new(signal, &simulation).map_err(stated)?;
            if placed.iter().any(|other| other.source == signal.source) {
                return Err(stated(Error::invalid(signal.signal.what(), "it is named twice", "name it once")));
            }
            if let Source::Motion(k, _) = signal.source {
                let motion = &signature.motions[k];
                for own in motion.spline.free() {
                    let parameter = &mut parameters[motion.first + own];
                    parameter.free = true;
                    parameter.size = Some(signal.signal.size);
                    parameter.lower = parameter.lower.max(signal.signal.lower);
                    parameter.upper = parameter.upper.min(signal.signal.upper);
                    parameter.validate().map_err(|error| stated(error.into()))?;
                }
            }
            placed.push(signal);
        }
        let (name, start) = (name.to_string(), signature.nominal());
        Ok(Control { name, simulation, cost, parameters, start, information: None, signals: placed })
    }

    /// The problem of signals that are to say the most of parameters: an optimal experiment. No sum of squares, so that methods by gradients find it.
    ///
    /// # Errors
    /// If what is measured does not fit the simulation, or a parameter is to be identified and chosen at once.
    pub fn informed_by(mut self, sought: Sought) -> Result<Self> {
        sought.check(&self.simulation, &self.free())?;
        self.information = Some(sought);
        Ok(self)
    }

    /// Begins with the multipliers and the parameters that another search for the same goals has ended with, on another grid.
    pub fn begin_with(&mut self, other: &Control, unknowns: &[f64]) {
        if let (Some(goals), Some(others)) = (&mut self.cost.goals, &other.cost.goals) {
            goals.begin_with(others);
        }
        self.begin_at(other, unknowns);
    }

    /// Begins with the free parameters that another search has found.
    fn begin_at(&mut self, other: &Control, unknowns: &[f64]) {
        if self.start.len() == other.start.len() {
            other.free().iter().zip(unknowns).for_each(|(&k, value)| self.start[k] = *value);
        }
    }

    /// The unknown signals.
    pub fn signals(&self) -> impl Iterator<Item = &UnknownSignal> {
        self.signals.iter().map(|placed| &placed.signal)
    }

    /// The unknown signals with what they are, and their values at all times for these unknowns.
    pub fn found(&self, unknowns: &[f64]) -> Vec<(&UnknownSignal, &Quantity, Vec<f64>)> {
        let (u, w) = self.expand(unknowns);
        let (signature, times) = (self.simulation.signature(), self.simulation.grid().times().len());
        let values = |placed: &Placed| {
            let rows = (0..times).map(|i| self.simulation.row_from(i));
            rows.map(|row| placed.value(row, &u, &w, signature.inputs.len())).collect()
        };
        self.signals.iter().map(|placed| (&placed.signal, placed.source.quantity(signature), values(placed))).collect()
    }

    /// True for an input, by its place, that holds its values and jumps between them.
    pub fn jumps(&self, input: usize) -> bool {
        let mut own = self.signals.iter().filter(|placed| matches!(placed.source, Source::Input(k) if k == input));
        let known = || self.simulation.signals().get(input).and_then(|signal| signal.interpolation());
        own.next()
            .map_or_else(|| known() == Some(Interpolation::ZeroOrder), |placed| placed.signal.shape == Shape::Constant)
    }

    /// Places of the free parameters.
    fn free(&self) -> Vec<usize> {
        (0..self.parameters.len()).filter(|&k| self.parameters[k].free).collect()
    }

    /// Unknowns, and how many of them are values of inputs.
    pub fn unknowns(&self) -> (usize, usize) {
        let values = self.signals.iter().map(Placed::own).sum::<usize>();
        (self.free().len() + values, values)
    }

    /// Places of each signal's coefficients among the unknowns; `None` for those that are held.
    fn layout(&self) -> Vec<Vec<Option<usize>>> {
        let free = self.free();
        let mut offset = free.len();
        let layout = |placed: &Placed| {
            let first = offset;
            offset += placed.own();
            let of = |k: usize| match placed.source {
                Source::Input(_) => Some(first + k),
                Source::Motion(_, parameter) => free.binary_search(&(parameter + k)).ok(),
            };
            (0..placed.mixing.coefficients).map(of).collect()
        };
        self.signals.iter().map(layout).collect()
    }

    /// The unknown inputs, each with the place of its first coefficient among the unknowns.
    fn inputs(&self) -> impl Iterator<Item = (&Placed, usize, usize)> {
        let mut offset = self.free().len();
        self.signals.iter().filter_map(move |placed| {
            let Source::Input(input) = placed.source else { return None };
            let first = offset;
            offset += placed.own();
            Some((placed, input, first))
        })
    }

    /// The unknowns with their starts: free parameters (those of motions among them), then the coefficients of each input.
    ///
    /// # Errors
    /// A start outside the bounds.
    pub fn variables(&self) -> Result<Vec<Variable>> {
        let mut variables = Vec::new();
        for k in self.free() {
            variables.push(variable_of(&self.parameters[k], self.start[k]));
        }
        for (placed, k, _) in self.inputs() {
            let (signal, times) = (&self.simulation.signals()[k], self.simulation.grid().times());
            let shape = placed.signal.shape;
            let coefficients = match shape {
                Shape::Fourier => {
                    let values: Vec<f64> = times.iter().map(|t| signal.value(*t)).collect();
                    placed.mixing.fit(&values)
                }
                _ => (0..placed.mixing.coefficients).map(|k| signal.value(place(shape, &placed.nodes, k))).collect(),
            };
            let UnknownSignal { input, lower, upper, size, .. } = &placed.signal;
            for (k, start) in coefficients.into_iter().enumerate() {
                let name = match shape {
                    Shape::Fourier => format!("{input}, coefficient {k}"),
                    _ => format!("{input} at {:.6} s", place(shape, &placed.nodes, k)),
                };
                let variable =
                    Variable { name, start, nominal: *size, lower: *lower, upper: *upper, scale: Scale::Linear };
                if start < *lower || start > *upper {
                    let problem = format!("it starts at {start} there, outside its bounds {lower} and {upper}");
                    let remedy = "give another start (start = VALUE in a problem file), or widen the bounds";
                    return Err(Error::invalid(format!("the signal of `{}`", variable.name), problem, remedy));
                }
                variable.validate()?;
                variables.push(variable);
            }
        }
        Ok(variables)
    }

    /// The values of all parameters, and of all inputs at all times, one time after another, for these unknowns: where inputs jump, those just
    /// before it, and behind all these for each jump those from then on.
    pub fn expand(&self, unknowns: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let inputs = self.simulation.signature().inputs.len();
        let mut w = self.simulation.all_inputs().to_vec();
        let mut u = self.start.clone();
        self.put(unknowns, &mut u, &mut w, inputs);
        (u, w)
    }

    fn put(&self, unknowns: &[f64], u: &mut [f64], w: &mut [f64], inputs: usize) {
        self.free().iter().zip(unknowns).for_each(|(&k, value)| u[k] = *value);
        for (placed, input, first) in self.inputs() {
            placed.mixing.rows.times(&unknowns[first..], &mut w[input..], inputs);
        }
    }

    /// The inputs of a solution as functions of time.
    ///
    /// # Errors
    /// Unknowns that are not finite.
    pub fn signals_of(&self, unknowns: &[f64]) -> Result<Vec<Signal>> {
        let mut signals = self.simulation.signals().to_vec();
        let times = self.simulation.grid().times();
        let (first, last) = (times[0], times[times.len() - 1]);
        for (placed, input, offset) in self.inputs() {
            let own = unknowns[offset..offset + placed.mixing.coefficients].to_vec();
            let (shape, nodes) = (placed.signal.shape, placed.nodes.clone());
            signals[input] = match shape {
                Shape::Constant => {
                    let held = [&own[..], &own[own.len() - 1..]].concat();
                    Signal::sampled(&nodes, &held, Interpolation::ZeroOrder)?
                }
                Shape::Linear => Signal::sampled(&nodes, &own, Interpolation::Linear)?,
                _ => Signal::function(move |t| {
                    Mixing::new(shape, &nodes, [(t.clamp(first, last), false)].into_iter()).rows.dot(0, &own)
                }),
            };
        }
        Ok(signals)
    }
}
