//! Jumps that a motion goes through: forces, outputs and costs that change at a moment without going through the values between.
//!
//! Where the motion passes a threshold (`if(x > s, P, 0)`, a sign), the moment moves with the parameters. What that does to the motion is the jump
//! times the change of the moment (the saltation matrix; Leine & Nijmeijer, Dynamics and Bifurcations of Non-Smooth Mechanical Systems, 2004,
//! chapter 7). Derivatives of time steps are those of the pieces between jumps: adjoint, tangents and differences in small steps agree, and all leave
//! it out. So it is said.

use super::cost::{Cost, CostEvaluator, Sample};
use super::kinks::row_name;
use crate::random::SplitMix64;
use crate::shown::{rounded, shown};
use crate::signature::Signature;
use crate::signature::difference;
use crate::simulate::Simulation;
use crate::system::{Equations, Evaluator, OutputPoint, Point};
use crate::{Error, Result};

/// Smaller jumps, beside the largest force of their row or the range of their output or cost, are not worth a word.
const SLIGHT: f64 = 1e-3;
/// Halves of a step of which neither makes more than this part of the whole change have no jump between them that matters beside it.
const EVEN: f64 = 0.6;
/// What is left of a change each time that a jump is enclosed further, at least, from so many times on.
const LEFT: f64 = 0.6;
const KINKS: i32 = 5;
/// Halvings by which a jump is enclosed: to a billionth of a step; a kink, to a part of it that is longer than that over which slopes are taken.
const HALVINGS: i32 = 30;
const HALVINGS_OF_KINKS: i32 = 9;
/// The part of a step on both sides over which slopes are taken.
const BESIDE: f64 = 1e-4;
/// Relative change of a point by which the sizes of terms are found, and the part of these that is round-off.
const LITTLE: f64 = 1e-11;
const ROUND_OFF: f64 = 1e-12;
/// Round-off of a row of the equations of motion beside the largest force of all rows.
const ROUND_OFF_OF_OTHERS: f64 = 1e-13;
/// Changes of slopes beside those of a little change that are no round-off.
const ROUND_OFF_OF_SLOPES: f64 = 10.0;
/// Jumps that are told at most: a sign that chatters at every step is told as well by some.
const MOST: usize = 200;
/// Jumps that are enclosed at most, those at given times among them: a switch that goes on and off all the time is none that is told.
const MOST_ENCLOSED: usize = 5000;
/// Change of all parameters by which it is asked whether they move a jump, beside their values, and how often that is asked.
const NUDGE: f64 = 1e-6;
const ASKED: usize = 3;

/// What to do where a motion goes through jumps, for sentences that go on.
pub const REMEDY: &str = "make the passage smooth over several time steps, with 0.5*(1 + tanh(x/w)) where a formula has step(x); angles of joints in space jump behind half a turn";

/// A row that jumps during a run.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Jump {
    /// What jumps, in words: ``the forces on `x` ``, ``the output `a` ``, `the running cost`.
    pub what: String,
    /// When it does so first, s.
    pub time: f64,
    /// By how much it does then, in its own unit.
    pub size: f64,
    /// How often it does, as far as was looked.
    pub count: usize,
    /// True if there were so many jumps that the rest of the run was not looked at.
    pub is_at_least: bool,
}

impl std::fmt::Display for Jump {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Jump { what, time, size, count, is_at_least } = self;
        let at_least = if *is_at_least { "at least " } else { "" };
        let again = match count {
            0 | 1 => String::new(),
            2 => ", and once more".to_string(),
            more => format!(", and {at_least}{} more times", more - 1),
        };
        write!(f, "{what} by {} at t = {} s{again}", rounded(*size, 3), shown((time * 1e6).round() / 1e6))
    }
}

/// The first of them, in words; none where there are none.
fn in_words(jumps: &[Jump]) -> Option<String> {
    const TOLD: usize = 2;
    let told: Vec<String> = jumps.iter().take(TOLD).map(Jump::to_string).collect();
    let more = if jumps.len() > TOLD { format!(" (and {} more)", jumps.len() - TOLD) } else { String::new() };
    (!jumps.is_empty()).then(|| format!("the motion goes through jumps: {}{more}", told.join("; ")))
}

/// All of them in a sentence with what to do; none where there are none.
pub fn in_a_sentence(jumps: &[Jump]) -> Option<String> {
    in_words(jumps).map(|jumps| {
        format!(
            "{jumps}; that their moments move with the parameters is in no derivative, so gradients, standard errors and influences can be wrong by any \
             amount, zero among them: {REMEDY}"
        )
    })
}

/// All of them in a sentence on the motion alone.
pub fn of_motion(jumps: &[Jump]) -> Option<String> {
    in_words(jumps).map(|jumps| {
        format!(
            "{jumps}; steps across them are of first order, and forces that see the angle of a joint in space jump behind half a turn, where those of a \
             spring would go on"
        )
    })
}

/// Jumps of forces, outputs and the running part of a cost whose moment depends on the motion or on parameters, along one run at `u`. Jumps of
/// inputs, and those at given times, are not among them: derivatives are right there. Sums of squares do not jump.
///
/// # Errors
/// As [`Simulation::run`].
pub fn jumps(simulation: &Simulation, cost: Option<&dyn Cost>, u: &[f64]) -> Result<Vec<Jump>> {
    jumps_with((simulation, cost), u, false)
}

/// Jumps as by [`jumps`]; `inputs_move`: those whose moment depends on inputs are among them, as inputs are what is sought.
///
/// # Errors
/// As [`Simulation::run`].
pub fn jumps_with(of: (&Simulation, Option<&dyn Cost>), u: &[f64], inputs_move: bool) -> Result<Vec<Jump>> {
    looked_for(of, u, inputs_move, false)
}

/// Kinks of forces, outputs and the running part of a cost that the motion passes: jumps of their slopes, along one run at `u`. Second derivatives leave
/// out what first ones leave out of jumps. Sizes are slopes, in the unit of the row in a time step.
///
/// # Errors
/// As [`Simulation::run`].
pub fn kinks_passed(simulation: &Simulation, cost: Option<&dyn Cost>, u: &[f64]) -> Result<Vec<Jump>> {
    looked_for((simulation, cost), u, false, true)
}

fn looked_for(
    (simulation, cost): (&Simulation, Option<&dyn Cost>),
    u: &[f64],
    inputs_move: bool,
    slopes: bool,
) -> Result<Vec<Jump>> {
    let (system, grid) = (simulation.system(), simulation.grid());
    let cost = cost.filter(|cost| cost.as_least_squares().is_none() && grid.count() > 1);
    if !system.may_jump() && cost.is_none() {
        return Ok(Vec::new());
    }
    let cost = cost.map(|cost| OfCost { evaluator: cost.evaluator(system.signature()), last: grid.count() });
    let mut search = Search::new(system.signature(), system.evaluator(), cost, u);
    search.first = if system.may_jump() { 0 } else { search.sizes.len() - 1 };
    (search.start, search.inputs_move, search.slopes) = (grid.time(0), inputs_move, slopes);
    simulation.watch::<Error>(u, &mut |i, x, _| {
        // of a run of one step no cost is looked at
        search.at = i.clamp(1, grid.count().max(2) - 1);
        search.follow(x);
        Ok(())
    })?;
    let is_at_least = !search.goes_on();
    let found = search.found.into_iter().zip(search.sizes).filter_map(|(jump, size)| Some((jump?, size)));
    let matter = found.filter(|(jump, size)| jump.size > SLIGHT * size);
    Ok(matter.map(|(jump, _)| Jump { is_at_least, ..jump }).collect())
}

/// A cost that is looked at.
struct OfCost<'s> {
    evaluator: Box<dyn CostEvaluator + 's>,
    last: usize,
}

/// A point of a run on its own.
#[derive(Debug, Clone, Default)]
struct Snapshot {
    t: f64,
    parts: [Vec<f64>; 6],
}

impl Snapshot {
    fn take(&mut self, x: &OutputPoint<'_>) {
        self.t = x.t;
        for (own, part) in self.parts.iter_mut().zip([x.q, x.v, x.a, x.a_scheme, x.lambda, x.w]) {
            own.clear();
            own.extend_from_slice(part);
        }
    }

    /// The point by a part of a step farther.
    fn moved(&self, part: f64, [from, to]: &[Snapshot; 2]) -> Self {
        let on = |x: f64, from: f64, to: f64| x + part * (to - from);
        let parts = std::array::from_fn(|k| {
            let ends = from.parts[k].iter().zip(&to.parts[k]);
            self.parts[k].iter().zip(ends).map(|(x, (from, to))| on(*x, *from, *to)).collect()
        });
        Snapshot { t: on(self.t, from.t, to.t), parts }
    }

    /// The point half of the way from one to another.
    fn between([from, to]: [&Snapshot; 2]) -> Self {
        let mix = |(a, b): (&f64, &f64)| a + 0.5 * (b - a);
        let parts = std::array::from_fn(|k| from.parts[k].iter().zip(&to.parts[k]).map(mix).collect());
        Snapshot { t: mix((&from.t, &to.t)), parts }
    }
}

struct Search<'s> {
    signature: &'s Signature,
    evaluator: Box<dyn Evaluator + 's>,
    cost: Option<OfCost<'s>>,
    /// Number of the time as which the cost sees all points of a step: neither the first nor the last one.
    at: usize,
    /// The first row that may jump.
    first: usize,
    /// When the run starts, s.
    start: f64,
    inputs_move: bool,
    /// True if slopes of rows along the step are looked at, in the place of their values; and that step.
    slopes: bool,
    step: [Snapshot; 2],
    /// Least and largest value of each row so far.
    ranges: Vec<[f64; 2]>,
    u: &'s [f64],
    /// The two ends of a step; none before the first one.
    ends: Option<[Snapshot; 2]>,
    /// Half of the accelerations and multipliers at the end of the step, with which equations are looked at all along: balanced ones would tell
    /// nothing of the sizes of forces.
    half: [Vec<f64>; 2],
    /// Largest value so far of equations of motion and constraints, and range of outputs and of the cost.
    sizes: Vec<f64>,
    found: Vec<Option<Jump>>,
    enclosed: usize,
    told: usize,
}

/// A point with the values of all rows.
#[derive(Debug, Clone)]
struct Seen {
    x: Snapshot,
    rows: Vec<f64>,
}

impl<'s> Search<'s> {
    fn new(
        signature: &'s Signature,
        mut evaluator: Box<dyn Evaluator + 's>,
        cost: Option<OfCost<'s>>,
        u: &'s [f64],
    ) -> Self {
        evaluator.set_parameters(u);
        let of_model = signature.unknown_count() + signature.constraints.len() + signature.outputs.len();
        let rows = of_model + usize::from(cost.is_some());
        Search {
            signature,
            evaluator,
            cost,
            at: 0,
            first: 0,
            start: f64::NEG_INFINITY,
            inputs_move: false,
            slopes: false,
            step: Default::default(),
            ranges: vec![[f64::INFINITY, f64::NEG_INFINITY]; rows],
            u,
            ends: None,
            half: Default::default(),
            sizes: vec![0.0; rows],
            found: vec![None; rows],
            enclosed: 0,
            told: 0,
        }
    }

    /// False once there are so many jumps that more say nothing new.
    fn goes_on(&self) -> bool {
        self.told < MOST && self.enclosed < MOST_ENCLOSED
    }

    /// Looks at the step that ends at `x`.
    fn follow(&mut self, x: &OutputPoint<'_>) {
        let Some([mut begin, mut end]) = self.ends.take() else {
            let mut first = Snapshot::default();
            first.take(x);
            self.ends = Some([Snapshot::default(), first]);
            return;
        };
        std::mem::swap(&mut begin, &mut end);
        end.take(x);
        if self.goes_on() {
            self.half = [x.a, x.lambda].map(|part| part.iter().map(|value| 0.5 * value).collect());
            if self.slopes {
                self.step = [begin.clone(), end.clone()];
            }
            let [from, to] = [&begin, &end].map(|end| self.see(end.clone()));
            let equations = self.equations();
            for (row, (size, range)) in self.sizes.iter_mut().zip(&mut self.ranges).enumerate() {
                for value in [from.rows[row], to.rows[row]] {
                    *range = [range[0].min(value), range[1].max(value)];
                }
                // half of the forces are left where half of the accelerations are; outputs and costs may stand on a large constant
                *size = if row < equations && !self.slopes {
                    size.max(2.0 * to.rows[row].abs())
                } else {
                    range[1] - range[0]
                };
            }
            self.look(&from, &to);
        }
        self.ends = Some([begin, end]);
    }

    fn equations(&self) -> usize {
        self.signature.unknown_count() + self.signature.constraints.len()
    }

    fn see(&mut self, x: Snapshot) -> Seen {
        if !self.slopes {
            let rows = self.rows_at(&x);
            return Seen { x, rows };
        }
        let [before, after] = [-BESIDE, BESIDE].map(|part| self.rows_at(&x.moved(part, &self.step)));
        let slope = |row: usize| difference(after[row], before[row], self.period(row)) / (2.0 * BESIDE);
        let rows = (0..self.sizes.len()).map(slope).collect();
        Seen { x, rows }
    }

    /// Values of all rows at a point.
    fn rows_at(&mut self, x: &Snapshot) -> Vec<f64> {
        let mut rows = vec![0.0; self.sizes.len()];
        let Snapshot { t, parts: [q, v, a, a_scheme, lambda, w] } = x;
        let (dynamics, rest) = rows.split_at_mut(q.len());
        let (constraint, rest) = rest.split_at_mut(lambda.len());
        let (outputs, of_cost) = rest.split_at_mut(self.signature.outputs.len());
        let [half_a, half_lambda] = &self.half;
        let point = Point { t: *t, q, v, a: half_a, lambda: half_lambda, w };
        self.evaluator.residual(&point, Equations::MOTION, dynamics, constraint);
        let shown = OutputPoint { t: *t, q, v, a, a_scheme, lambda, w };
        self.evaluator.output(&shown, outputs);
        if let Some(OfCost { evaluator, last }) = &mut self.cost {
            let (index, last) = (self.at, *last);
            if evaluator.concerns(index, last) {
                // beside steps of one, what is summed up has the weight 1
                let sample = Sample { index, last, before: 1.0, after: 1.0, x: shown, y: outputs, u: self.u };
                of_cost[0] = evaluator.value(&sample);
            }
        }
        rows
    }

    /// The period of a row that is an angle.
    fn period(&self, row: usize) -> Option<f64> {
        let output = row.checked_sub(self.equations()).and_then(|output| self.signature.outputs.get(output));
        output.and_then(|output| output.period)
    }

    /// Change of a row from one point to another.
    fn change(&self, row: usize, from: &Seen, to: &Seen) -> f64 {
        let period = if self.slopes { None } else { self.period(row) };
        difference(to.rows[row], from.rows[row], period).abs()
    }

    /// Rows that change by what matters; NaN does not, and positions do not jump, so constraints do not.
    fn changed(&self, from: &Seen, to: &Seen) -> Vec<usize> {
        let constraints = self.signature.unknown_count()..self.equations();
        let matters = |row: &usize| {
            let change = self.change(*row, from, to);
            change > SLIGHT * self.sizes[*row] && change.is_finite()
        };
        (self.first..self.sizes.len()).filter(|row| !constraints.contains(row)).filter(matters).collect()
    }

    /// Looks for a jump in a step.
    fn look(&mut self, from: &Seen, to: &Seen) {
        let changed = self.changed(from, to);
        if changed.is_empty() {
            return;
        }
        let middle = self.see(Snapshot::between([&from.x, &to.x]));
        let half = |all: &Self, row: usize| all.change(row, from, &middle).max(all.change(row, &middle, to));
        let is_uneven = |row: &usize| half(self, *row) > EVEN * self.change(*row, from, to);
        let uneven: Vec<usize> = changed.into_iter().filter(is_uneven).collect();
        if uneven.is_empty() {
            return;
        }
        // on one side, nothing may depend on anything
        let [mut round_off, other] = [from, to].map(|end| self.round_off(end));
        round_off.iter_mut().zip(other).for_each(|(bound, other)| *bound = bound.max(other));
        let is_sure = |row: &usize| self.change(*row, from, to) > round_off[*row];
        let share = |row: &usize| self.change(*row, from, to) / self.sizes[*row];
        let worst = uneven.into_iter().filter(is_sure).max_by(|a, b| share(a).total_cmp(&share(b)));
        let Some((row, first)) = worst.map(|row| (row, half(self, row))) else { return };
        let Some([before, after]) = self.enclose(row, first, [from, to]) else { return };
        if before.x.t == self.start {
            // a start that stands on a threshold is where it is
            return;
        }
        self.enclosed += 1;
        let mut jumped = self.changed(&before, &after);
        jumped.retain(|row| self.change(*row, &before, &after) > round_off[*row]);
        if jumped.first().is_some_and(|row| self.moves(*row, &before, &after)) {
            self.told += 1;
            for row in jumped {
                let size = self.change(row, &before, &after);
                let of_model = self.equations() + self.signature.outputs.len();
                let what = if row < of_model { row_name(self.signature, row) } else { "the running cost".into() };
                let first = Jump { what, time: after.x.t, size, count: 0, is_at_least: false };
                let own = self.found[row].get_or_insert_with(|| first.clone());
                if own.size < SLIGHT * size {
                    // nothing beside this one
                    *own = first;
                }
                own.count += 1;
            }
        }
    }

    /// Bounds of the round-off of all rows at a point: by how much they change if everything there does by a little.
    fn round_off(&mut self, at: &Seen) -> Vec<f64> {
        let mut bounds = vec![0.0f64; at.rows.len()];
        let mut random = SplitMix64::new(1);
        for _ in 0..2 {
            let mut near = at.x.clone();
            for part in &mut near.parts {
                // zeros, too
                let size = part.iter().fold(0.0f64, |size, value| size.max(value.abs()));
                part.iter_mut().for_each(|value| *value += LITTLE * size * (2.0 * random.unit() - 1.0));
            }
            let near = self.see(near);
            for (row, bound) in bounds.iter_mut().enumerate() {
                // slopes are differences: what a little change makes of them is their round-off itself
                let factor = if self.slopes { ROUND_OFF_OF_SLOPES } else { ROUND_OFF / LITTLE };
                *bound = bound.max(factor * self.change(row, at, &near));
            }
        }
        // what cancels leaves the round-off of its terms, which may be the forces of other rows
        let unknowns = self.signature.unknown_count();
        let largest = self.sizes[..unknowns].iter().fold(0.0f64, |largest, size| largest.max(*size));
        bounds[..unknowns].iter_mut().for_each(|bound| *bound = bound.max(ROUND_OFF_OF_OTHERS * largest));
        bounds
    }

    /// Points next to each other between which a row jumps that changes so much in half of the step; none if it is continuous.
    fn enclose(&mut self, row: usize, first: f64, [from, to]: [&Seen; 2]) -> Option<[Seen; 2]> {
        let [mut before, mut after] = [from.clone(), to.clone()];
        for halving in 1..=if self.slopes { HALVINGS_OF_KINKS } else { HALVINGS } {
            let middle = self.see(Snapshot::between([&before.x, &after.x]));
            let is_in_first = self.change(row, &before, &middle) > self.change(row, &middle, &after);
            *(if is_in_first { &mut after } else { &mut before }) = middle;
            // what is continuous there falls to a half each time, behind a kink or two
            if halving >= KINKS && self.change(row, &before, &after) <= LEFT.powi(halving) * first {
                return None;
            }
        }
        Some([before, after])
    }

    /// True unless the moment of a jump is given: it comes with time or inputs alone (if these are given), and no parameter moves it.
    fn moves(&mut self, row: usize, before: &Seen, after: &Seen) -> bool {
        const INPUTS: usize = 5;
        let jump = self.change(row, before, after);
        let mut later = before.x.clone();
        later.t = after.x.t;
        if !self.inputs_move {
            later.parts[INPUTS].clone_from(&after.x.parts[INPUTS]);
        }
        let later = self.see(later);
        if self.change(row, before, &later) < 0.5 * jump {
            // the motion has passed something
            return true;
        }
        // all parameters at once, in random directions, in which they do not make up for each other
        let mut moved = false;
        let mut random = SplitMix64::new(2);
        for _ in 0..ASKED {
            let nudges: Vec<f64> = self.u.iter().map(|_| NUDGE * (2.0 * random.unit() - 1.0)).collect();
            for sign in [1.0, -1.0] {
                let nudged = self.u.iter().zip(&nudges).map(|(own, nudge)| {
                    let size = if *own == 0.0 { 1.0 } else { own.abs() };
                    own + sign * nudge * size
                });
                let nudged: Vec<f64> = nudged.collect();
                self.evaluator.set_parameters(&nudged);
                for known in [before, after] {
                    let nudged = self.see(known.x.clone());
                    moved |= self.change(row, known, &nudged) > 0.5 * jump;
                }
            }
        }
        self.evaluator.set_parameters(self.u);
        moved
    }
}
