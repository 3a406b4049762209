//! A run whose states are kept in part: which are there, and how others come back.

use super::checkpoints::{Checkpoints, Plan, Sizes, next_checkpoint};
use super::workspace::{Visitor, Workspace};
use crate::memory::{self, bytes_of};
use crate::shown::size;
use crate::system::Orders;
use crate::{Error, Result};

/// Tangents that are propagated along with the states of a run, and kept for a segment at a time as these are.
pub(crate) trait TangentPropagation {
    /// Puts what it takes to go on from where it is behind other numbers.
    fn save(&self, numbers: &mut Vec<f64>);

    /// Goes back there.
    fn load(&mut self, numbers: &[f64]);

    /// Goes along from the first of two times, where it is, to the second one: the states between them are there.
    ///
    /// # Errors
    /// What it does may fail.
    fn follow(&mut self, run: &mut Workspace<'_>, times: (usize, usize)) -> Result<()>;
}

/// All that is needed to go on from the beginning of a segment as the run itself did, to the last bit.
#[derive(Clone)]
struct Checkpoint {
    segment: usize,
    /// Memory of the steps; and the states of two times, but for the start.
    numbers: Vec<f64>,
    orders: Option<Orders>,
    tangents: Vec<f64>,
    tangent_orders: Option<Orders>,
}

/// The kept part of a run's states: a segment, and checkpoints.
pub(super) struct Kept {
    pub plan: Plan,
    /// Checkpoints from which the run can go on, in the order of time.
    placed: Vec<Checkpoint>,
    /// Checkpoint at which the run was last, unless that is its end.
    last: Option<Checkpoint>,
    /// The segment whose states are there, and the one whose tangents are.
    segment: Option<usize>,
    tangent_segment: Option<usize>,
}

impl Kept {
    pub fn new() -> Self {
        Kept { plan: Plan::whole(1), placed: Vec::new(), last: None, segment: None, tangent_segment: None }
    }

    /// Forgets everything but how to begin.
    fn restart(&mut self) {
        self.placed.truncate(1);
        (self.last, self.segment, self.tangent_segment) = (None, None, None);
    }
}

/// Numbers of a checkpoint besides those of states and steps: its own fields.
const FIELDS: usize = 20;

impl Workspace<'_> {
    /// Plan by which states are kept if tangents add so many numbers to each.
    fn plan_with(&mut self, tangent_numbers: usize) -> Result<(Plan, f64)> {
        let steps = self.simulation.steps();
        let state = self.states.size();
        let orders = self.layout.n + self.layout.m;
        let checkpoint = self.stepper.remembered() + 2 * state + orders + tangent_numbers + FIELDS;
        let sizes = Sizes { row: state + tangent_numbers, checkpoint };
        let whole = bytes_of(Plan::whole(steps).numbers(sizes));
        let taken = bytes_of(self.states.rows.capacity());
        let limit = match self.simulation.memory_limit() {
            Some(limit) => limit,
            None if whole - taken <= memory::LARGE => return Ok((Plan::whole(steps), f64::INFINITY)),
            None => memory::usual() + taken,
        };
        let left = ((limit - self.simulation.bytes_of_inputs()) / bytes_of(1)).max(0.0) as usize;
        let plan = Plan::within(left, sizes, steps).ok_or_else(|| {
            let least = bytes_of(Plan::least(sizes)) + self.simulation.bytes_of_inputs();
            let place = self.simulation.signature().place();
            let problem = format!("{} is less than one step of {place} needs, {}", size(limit), size(least));
            let remedy =
                if tangent_numbers > 0 { "allow more, or take fewer directions at once" } else { "allow more" };
            Error::invalid("the memory for states", problem, remedy)
        })?;
        Ok((plan, limit))
    }

    /// The checkpoints of a run, if tangents add so many numbers to each state.
    pub(crate) fn plan(&mut self, tangent_numbers: usize) -> Result<Option<Checkpoints>> {
        let (plan, limit) = self.plan_with(tangent_numbers)?;
        Ok((!plan.is_whole()).then(|| Checkpoints {
            steps: plan.steps,
            limit,
            count: plan.checkpoints,
            runs: plan.runs(),
        }))
    }

    /// Makes room for the states of a run: all of them, or those that fit.
    pub(super) fn begin_keeping(&mut self, all: bool) -> Result<()> {
        let steps = self.simulation.steps();
        self.kept.plan = if all { Plan::whole(steps) } else { self.plan_with(0)?.0 };
        self.kept.placed.clear();
        self.kept.restart();
        let simulation = &self.simulation;
        self.states.make_room(self.kept.plan.rows(), || simulation.kept("states"))
    }

    /// Keeps how to begin, after the start.
    pub(super) fn keep_beginning(&mut self) {
        let beginning = self.checkpoint(0);
        self.kept.placed.push(beginning);
    }

    /// Checkpoint of this place, the beginning of a segment.
    fn checkpoint(&mut self, segment: usize) -> Checkpoint {
        let mut numbers = Vec::new();
        self.stepper.remember(&mut numbers);
        if segment > 0 {
            self.states.last_two(self.kept.plan.times_of(segment).0, &mut numbers);
        }
        let orders = self.evaluator.orders();
        Checkpoint { segment, numbers, orders, tangents: Vec::new(), tangent_orders: None }
    }

    /// Goes back to a checkpoint.
    fn go_back(&mut self, to: &Checkpoint) -> Result<()> {
        let (from, _) = self.kept.plan.times_of(to.segment);
        let remembered = self.stepper.remembered();
        let x = &mut self.current[0];
        let (steps, states) = to.numbers.split_at(remembered);
        if to.segment == 0 {
            self.states.go_to_start();
            x.copy_from_slice(&self.states.begun);
        } else {
            self.states.take_two(from, states);
            self.states.restore(from, x);
        }
        self.simulation.go_to(from + 1)?;
        self.stepper.recall(&self.simulation.step(from + 1), steps);
        to.orders.iter().for_each(|orders| self.evaluator.take_orders(orders));
        Ok(())
    }

    /// Runs segments from where the run is, up to the second of these; `end` is the last one that is asked for.
    pub(super) fn run_segments(
        &mut self,
        (from, to): (usize, usize),
        end: usize,
        mut visit: Option<&mut Visitor<'_>>,
        mut tangents: Option<&mut dyn TangentPropagation>,
    ) -> Result<()> {
        for segment in from..=to {
            self.place_checkpoint(segment, end);
            let times = self.kept.plan.times_of(segment);
            if segment > from {
                self.states.move_on(times.0);
            }
            (self.kept.segment, self.kept.tangent_segment) = (None, None);
            let before = self.kept.last.take();
            self.advance(times, true, visit.as_deref_mut())?;
            self.states.hold(Some(times));
            self.kept.segment = Some(segment);
            let mut here = (segment + 1 < self.kept.plan.segments()).then(|| self.checkpoint(segment + 1));
            if let Some(tangents) = tangents.as_deref_mut() {
                let orders = before.and_then(|begin| begin.tangent_orders);
                self.follow(segment, tangents, orders, here.as_mut())?;
            }
            self.kept.last = here;
        }
        Ok(())
    }

    /// Propagates tangents along a segment that is there.
    fn follow(
        &mut self,
        segment: usize,
        tangents: &mut dyn TangentPropagation,
        orders: Option<Orders>,
        here: Option<&mut Checkpoint>,
    ) -> Result<()> {
        orders.iter().for_each(|orders| self.evaluator.take_orders(orders));
        tangents.follow(self, self.kept.plan.times_of(segment))?;
        self.kept.tangent_segment = Some(segment);
        if let Some(here) = here {
            here.tangent_orders = self.evaluator.orders();
            tangents.save(&mut here.tangents);
            // the run goes on where it was
            let remembered = self.stepper.remembered();
            let (next, _) = self.kept.plan.times_of(segment + 1);
            self.simulation.go_to(next + 1)?;
            self.stepper.recall(&self.simulation.step(next + 1), &here.numbers[..remembered]);
            here.orders.iter().for_each(|orders| self.evaluator.take_orders(orders));
        }
        Ok(())
    }

    /// Keeps the beginning of a segment if that is due.
    fn place_checkpoint(&mut self, segment: usize, end: usize) {
        let Kept { plan, placed, last, .. } = &mut self.kept;
        let (Some(before), Some(here)) = (placed.last().map(|before| before.segment), last.as_ref()) else { return };
        let free = plan.checkpoints.saturating_sub(placed.len());
        let next = next_checkpoint(end + 1 - before, free + 1);
        if segment > before && next.is_some_and(|next| segment >= before + next) {
            placed.push(here.clone());
        }
    }

    /// Makes sure that the state of time `i` is there, with what it takes to differentiate the step to it.
    ///
    /// # Errors
    /// [`Error::Interrupted`]; other errors have come up in the run itself.
    #[inline]
    pub(crate) fn reach(&mut self, i: usize) -> Result<()> {
        self.simulation.go_to(i)?;
        if self.states.holds(i) { Ok(()) } else { self.bring_back(i, None) }
    }

    /// Brings back the state of time `i` as [`Workspace::reach`] does, and the tangents there. They began with [`Workspace::accompany`].
    ///
    /// # Errors
    /// As [`Workspace::reach`], and those of the tangents.
    pub(crate) fn reach_with(&mut self, i: usize, tangents: &mut dyn TangentPropagation) -> Result<()> {
        self.simulation.go_to(i)?;
        let is_there = self.states.holds(i) && self.kept.tangent_segment == self.kept.segment;
        if is_there { Ok(()) } else { self.bring_back(i, Some(tangents)) }
    }

    /// Lets tangents begin at the start, where they are, which add so many numbers to each state. Returns the plan that is followed.
    ///
    /// # Errors
    /// As [`Simulation::memory`](super::Simulation::memory), and [`Error::Memory`].
    pub(crate) fn accompany(&mut self, tangents: &dyn TangentPropagation, numbers: usize) -> Result<Plan> {
        let (plan, _) = self.plan_with(numbers)?;
        let was_whole = self.kept.plan.is_whole() && self.kept.segment.is_some();
        self.kept.plan = plan;
        let segment = self.kept.segment.filter(|_| was_whole && plan.is_whole());
        self.kept.restart();
        self.kept.segment = segment;
        if segment.is_none() {
            let simulation = &self.simulation;
            self.states.make_room(plan.rows(), || simulation.kept("states"))?;
        }
        if let Some(beginning) = self.kept.placed.first_mut() {
            beginning.tangents.clear();
            tangents.save(&mut beginning.tangents);
            beginning.tangent_orders = self.evaluator.orders();
        }
        Ok(plan)
    }

    /// Runs the segment of time `i` once more, and what comes before it as far as it takes.
    #[cold]
    fn bring_back(&mut self, i: usize, mut tangents: Option<&mut dyn TangentPropagation>) -> Result<()> {
        // what is done with the states does not depend on how they came back
        let orders = self.evaluator.orders();
        let to = self.kept.plan.segment_of(i);
        if self.kept.plan.is_whole() && self.states.holds(i) {
            let begin = self.kept.placed.first().cloned();
            if let (Some(begin), Some(tangents)) = (begin, tangents.as_deref_mut()) {
                tangents.load(&begin.tangents);
                self.follow(to, tangents, begin.tangent_orders, None)?;
            }
        } else {
            // backwards it is the end of what is asked for, forwards all that follows will be
            let is_backwards = self.kept.segment.is_some_and(|segment| to < segment);
            let end = if is_backwards { to } else { self.kept.plan.segments() - 1 };
            if is_backwards {
                self.kept.placed.retain(|kept| kept.segment <= to);
            }
            let last = self.kept.last.take().filter(|last| last.segment <= to);
            let placed = self.kept.placed.iter().rev().find(|kept| kept.segment <= to);
            let nearest = last.into_iter().chain(placed.cloned()).max_by_key(|kept| kept.segment);
            let Some(begin) = nearest else { return Ok(()) };
            self.go_back(&begin)?;
            if let Some(tangents) = tangents.as_deref_mut() {
                tangents.load(&begin.tangents);
            }
            let from = begin.segment;
            self.kept.last = Some(begin);
            self.run_segments((from, to), end, None, tangents)?;
        }
        orders.iter().for_each(|orders| self.evaluator.take_orders(orders));
        self.simulation.go_to(i)
    }
}
