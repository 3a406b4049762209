//! Work and precision of time integrators: one simulation under several schemes and with several steps, beside a reference.
//!
//! Errors are the largest over the times of a run (where steps are not multiples of the smallest, over the times that all have in common),
//! each coordinate's (and multiplier's) divided by its own largest value in the reference, or by a thousandth of the largest of the same
//! unit, if that is more: what stays at zero has no digits. Times are measured in rounds over all runs, so that what else the machine does
//! slows all of them.

mod reference;
mod watch;

pub use reference::{Energy, Gaps, Reference};

use super::in_short;
use costate::cost::{Aim, Goal, Goals, Quadrature};
use costate::scheme::Scheme;
use costate::sensitivity::{Gradient, Method};
use costate::{Error, Keep, Quantity, Result, Simulation, TimeGrid, Workspace};
use std::sync::Arc;
use std::time::Instant;
use watch::Watch;

/// A comparison of time integration schemes: work and precision with several steps, against a reference.
pub struct WorkPrecision {
    simulation: Simulation,
    u: Vec<f64>,
    /// Steps, s, the largest first, and how many of each there are.
    steps: Vec<(f64, usize)>,
    /// The run that all others are compared with.
    pub reference: Reference,
    /// Times are medians of so many runs.
    pub repeat: usize,
    /// True if gradients are compared, too.
    pub gradients: bool,
}

/// Result of one scheme with one step.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the scheme, as given.
    pub scheme: String,
    /// Time step, s.
    pub step: f64,
    /// Measured errors and times; or why the run failed, in a few words.
    pub outcome: std::result::Result<Measured, String>,
}

/// Errors, orders and cost of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Measured {
    /// Time steps.
    pub steps: usize,
    /// Relative errors.
    pub errors: Gaps,
    /// Observed orders, from the run with the next larger step; `None` where an error is not well above that of the reference.
    pub orders: Gaps,
    /// The largest violation of constraints, and of their first and second time derivatives, at any time, in their units;
    /// `None` without constraints.
    pub drift: Option<[f64; 3]>,
    /// The largest change of the energy beside the largest kinetic energy, where it is kept.
    pub energy: Option<f64>,
    /// Measured time of a step, s: the median of [`WorkPrecision::repeat`] runs.
    pub seconds_per_step: f64,
    /// Newton iterations a step.
    pub iterations: f64,
    /// Difference of adjoint and tangents, relative to the largest entry of the gradient.
    pub gradient: Option<f64>,
    /// The reason why there is none, though it was asked for.
    pub gradient_failure: Option<String>,
}

/// Ratio of the finest run's step to the reference's.
const FINER: usize = 16;

/// An error tells an order while it is so many times that of the reference.
const ABOVE: f64 = 10.0;

impl WorkPrecision {
    /// A comparison of a simulation at `u`, over its time, with these steps (s, two at least, each of which divides the time); the reference
    /// is by `scheme` with a sixteenth of the smallest.
    ///
    /// # Errors
    /// Steps that cannot be compared, a reference that fails, or nothing that moves.
    pub fn new(simulation: &Simulation, u: &[f64], steps: &[f64], scheme: Arc<dyn Scheme>) -> Result<Self> {
        let steps = ladder(simulation, steps)?;
        let finest = steps.last().map_or(1, |(_, count)| *count);
        let kept = match steps.iter().all(|(_, count)| finest.is_multiple_of(*count)) {
            true => finest,
            false => steps.iter().fold(0, |common, (_, count)| divisor(common, *count)),
        };
        let reference = Reference::new(simulation, u, scheme, (FINER * finest, kept))?;
        let (simulation, u) = (simulation.clone(), u.to_vec());
        Ok(WorkPrecision { simulation, u, steps, reference, repeat: 3, gradients: true })
    }

    /// Runs all steps under all of these schemes, by their names; `done` after each run, before its time is measured.
    pub fn run(&self, schemes: &[(String, Arc<dyn Scheme>)], done: &mut dyn FnMut(&Row)) -> Vec<Row> {
        let (mut rows, mut simulations) = (Vec::new(), Vec::new());
        for (name, scheme) in schemes {
            let mut before: Option<(f64, Gaps)> = None;
            for &(step, count) in &self.steps {
                let outcome = with_steps(&self.simulation, scheme, count);
                let outcome = outcome.and_then(|simulation| Ok((self.measure(&simulation)?, simulation)));
                let outcome = match outcome {
                    Ok((mut measured, simulation)) => {
                        if let Some((larger, errors)) = &before {
                            measured.orders = self.orders(larger / step, errors, &measured.errors);
                        }
                        before = Some((step, measured.errors));
                        simulations.push((rows.len(), simulation));
                        Ok(measured)
                    }
                    Err(error) => Err(in_short(&error)),
                };
                let row = Row { scheme: name.clone(), step, outcome };
                done(&row);
                rows.push(row);
            }
        }
        self.time(&simulations, &mut rows);
        rows
    }

    /// Measures the times of runs that went through.
    fn time(&self, simulations: &[(usize, Simulation)], rows: &mut [Row]) {
        let mut workspaces: Vec<(usize, Workspace<'_>, Vec<f64>)> =
            simulations.iter().map(|(row, simulation)| (*row, Workspace::new(simulation), Vec::new())).collect();
        for _ in 0..self.repeat.max(1) {
            for (_, workspace, seconds) in &mut workspaces {
                let began = Instant::now();
                // it went through before
                if workspace.forward(&self.u, Keep::Nothing, &mut |_, _, _| {}).is_ok() {
                    seconds.push(began.elapsed().as_secs_f64());
                }
            }
        }
        for (row, _, mut seconds) in workspaces {
            seconds.sort_by(f64::total_cmp);
            if let (Ok(measured), Some(median)) = (&mut rows[row].outcome, seconds.get(seconds.len() / 2)) {
                measured.seconds_per_step = median / measured.steps as f64;
            }
        }
    }

    fn orders(&self, ratio: f64, coarse: &Gaps, fine: &Gaps) -> Gaps {
        let order = |coarse: Option<f64>, fine: Option<f64>, own: Option<f64>| {
            let floor = ABOVE * own?;
            let (coarse, fine) = (coarse?, fine?);
            (coarse > floor && fine > floor).then(|| (coarse / fine).ln() / ratio.ln())
        };
        Gaps::from_list(std::array::from_fn(|k| {
            order(coarse.list()[k], fine.list()[k], self.reference.uncertainty.list()[k])
        }))
    }

    fn measure(&self, simulation: &Simulation) -> Result<Measured> {
        let count = simulation.grid().count();
        let mut workspace = Workspace::new(simulation);
        let stride = (count / self.reference.kept()).max(1);
        let mut watch = Watch::new(simulation, &self.u, stride, self.reference.energy.place());
        workspace.forward(&self.u, Keep::Nothing, &mut |i, evaluator, x| watch.see(i, evaluator, x))?;
        let counters = workspace.counters();
        let (gradient, gradient_failure) = match self.gradients.then(|| self.gradient_gap(simulation)) {
            None => (None, None),
            Some(Ok(gap)) => (gap, None),
            Some(Err(error)) => (None, Some(in_short(&error))),
        };
        let constrained = !simulation.signature().constraints.is_empty();
        Ok(Measured {
            steps: count,
            errors: self.reference.errors(&watch.states),
            orders: Gaps::default(),
            drift: constrained.then_some(watch.drift),
            energy: self.reference.energy.relative(watch.energy_change()),
            seconds_per_step: 0.0,
            iterations: counters.iterations as f64 / counters.steps as f64,
            gradient,
            gradient_failure,
        })
    }

    /// Adjoint against tangents: the gradient of half the sum of squares of what outputs lack at the end from values that they never
    /// reach, each divided by its size (squares of outputs alone may be constant: on a circle, for example). `None` where there is no
    /// output, no free parameter, or no slope.
    fn gradient_gap(&self, simulation: &Simulation) -> Result<Option<f64>> {
        let signature = simulation.signature();
        let free: Vec<usize> = (0..self.u.len()).filter(|&k| signature.parameters[k].free).collect();
        let outputs = signature.outputs.iter().zip(&self.reference.outputs).enumerate();
        let goal = |(k, (output, size)): (usize, (&Quantity, &f64))| {
            let beyond = size * (2.0 + k as f64 / signature.outputs.len() as f64);
            (*size > 0.0).then(|| Goal::new(&output.name, Aim::Reach(beyond)).weighted(1.0 / (size * size)))
        };
        let goals: Vec<Goal> = outputs.filter_map(goal).collect();
        if goals.is_empty() || free.is_empty() {
            return Ok(None);
        }
        let cost = Goals::new(signature, goals, Quadrature::Unit)?;
        let mut gradient =
            Gradient::new(simulation, &cost)?.with_respect_to(&free).leaving_out_inconsistent(|k| free.contains(&k));
        let mut slope = |method| {
            let mut slope = vec![0.0; self.u.len()];
            gradient.cost_and_gradient(&self.u, method, &mut slope).map(|_| slope)
        };
        let (adjoint, tangent) = (slope(Method::Adjoint)?, slope(Method::Tangent)?);
        let largest = |value: &dyn Fn(usize) -> f64| {
            let sizes = free.iter().map(|&k| (value(k) * signature.parameters[k].size_from(self.u[k])).abs());
            sizes.fold(0.0, f64::max)
        };
        let size = largest(&|k| adjoint[k]);
        Ok((size > 0.0).then(|| largest(&|k| adjoint[k] - tangent[k]) / size))
    }
}

/// The simulation with so many even steps of a scheme.
fn with_steps(simulation: &Simulation, scheme: &Arc<dyn Scheme>, count: usize) -> Result<Simulation> {
    let times = simulation.grid().times();
    let (start, end) = (times[0], times[times.len() - 1]);
    let grid = TimeGrid::steps(start, (end - start) / count as f64, count)?;
    simulation.under(scheme.clone(), grid)
}

/// Steps with their counts, the largest step first.
fn ladder(simulation: &Simulation, steps: &[f64]) -> Result<Vec<(f64, usize)>> {
    let times = simulation.grid().times();
    let (start, end) = (times[0], times[times.len() - 1]);
    let counted = |step: &f64| Ok((*step, TimeGrid::uniform(start, end, *step)?.count()));
    let mut counted: Vec<(f64, usize)> = steps.iter().map(counted).collect::<Result<_>>()?;
    counted.sort_by_key(|(_, count)| *count);
    if let Some(pair) = counted.windows(2).find(|pair| pair[0].1 == pair[1].1) {
        let problem = format!("{} s is given twice", pair[0].0);
        return Err(Error::invalid("the time steps", problem, "give each once"));
    }
    if counted.len() < 2 {
        let problem = "one alone shows no order";
        return Err(Error::invalid("the time steps", problem, "give two or more, such as 0.01,0.005,0.0025"));
    }
    Ok(counted)
}

/// The greatest common divisor.
fn divisor(a: usize, b: usize) -> usize {
    if b == 0 { a } else { divisor(b, a % b) }
}
