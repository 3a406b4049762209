//! The states of a run.

use super::{Between, Driven, Room};
use crate::memory::FEWER_STEPS;
use crate::scheme::{Block, Description, Layout, Step, Stepper};
use crate::system::{OutputPoint, Point};
use crate::{Result, memory};

/// The states of a run, one after another: q, v, a, λ and what the scheme carries of each; all of them, or those of a segment. The scheme's
/// own acceleration is kept where it does not follow from the accelerations of two states.
#[derive(Debug, Clone)]
pub(crate) struct States {
    pub(super) layout: Layout,
    pub(super) recovered: Option<[f64; 2]>,
    /// Numbers a state that the scheme carries besides.
    pub(super) carried: usize,
    pub(super) rows: Vec<f64>,
    /// The time of the first row.
    first: usize,
    /// The times that can be asked for: those after the first of these up to the second; and the start, if the first is 0.
    there: Option<(usize, usize)>,
    /// The start.
    origin: Vec<f64>,
    /// State that the scheme made of the start: where its first step began.
    pub(super) begun: Vec<f64>,
}

impl States {
    pub(super) fn new(layout: &Layout, scheme: &Description) -> Self {
        States {
            layout: *layout,
            recovered: scheme.recovered_acceleration,
            carried: layout.n * usize::from(scheme.carried_blocks),
            rows: Vec::new(),
            first: 0,
            there: None,
            origin: Vec::new(),
            begun: vec![0.0; layout.size()],
        }
    }

    /// Numbers a state.
    pub(super) fn size(&self) -> usize {
        let own = if self.recovered.is_some() { 0 } else { self.layout.n };
        3 * self.layout.n + self.layout.m + own + self.carried
    }

    /// True if the state of time `i`, and what it takes to differentiate the step to it, is there.
    #[inline]
    pub fn holds(&self, i: usize) -> bool {
        self.there.is_some_and(|(from, to)| i <= to && (i > from || from == 0))
    }

    /// Says which times are there.
    pub(super) fn hold(&mut self, there: Option<(usize, usize)>) {
        self.there = there;
    }

    /// Makes room for so many rows, the first of which is that of the start, and forgets what was there.
    pub(super) fn make_room(&mut self, rows: usize, what: impl Fn() -> String) -> Result<()> {
        let numbers = rows.saturating_mul(self.size());
        if memory::bytes_of(self.rows.capacity().saturating_sub(numbers)) > memory::LARGE {
            self.rows = Vec::new();
        }
        memory::reserve(&mut self.rows, numbers, what, FEWER_STEPS)?;
        self.rows.resize(numbers, 0.0);
        (self.first, self.there) = (0, None);
        Ok(())
    }

    /// Keeps the start.
    pub(super) fn keep_start(&mut self, x: &[f64]) {
        self.first = 0;
        self.keep(0, x);
        let size = self.size();
        self.origin.clear();
        self.origin.extend_from_slice(&self.rows[..size]);
    }

    /// Goes back to the start, to keep what follows it.
    pub(super) fn go_to_start(&mut self) {
        (self.first, self.there) = (0, None);
        self.rows[..self.origin.len()].copy_from_slice(&self.origin);
    }

    /// Moves time `from`, the last one that was kept, to the front, with the one before it, to keep what follows.
    pub(super) fn move_on(&mut self, from: usize) {
        let size = self.size();
        let place = (from - 1 - self.first) * size;
        self.rows.copy_within(place..place + 2 * size, 0);
        (self.first, self.there) = (from - 1, None);
    }

    /// Puts the states of time `from` and of the one before it behind other numbers.
    pub(super) fn last_two(&self, from: usize, numbers: &mut Vec<f64>) {
        numbers.extend_from_slice(self.row(from - 1));
        numbers.extend_from_slice(self.row(from));
    }

    /// Takes them back, to keep what follows.
    pub(super) fn take_two(&mut self, from: usize, numbers: &[f64]) {
        (self.first, self.there) = (from - 1, None);
        self.rows[..numbers.len()].copy_from_slice(numbers);
    }

    pub(super) fn keep(&mut self, i: usize, x: &[f64]) {
        let (size, layout) = (self.size(), self.layout);
        let place = (i - self.first) * size;
        let (row, rest) = self.rows[place..place + size].split_at_mut(3 * layout.n);
        row.copy_from_slice(&x[..3 * layout.n]);
        let (row, rest) = rest.split_at_mut(layout.m);
        row.copy_from_slice(&x[layout.multipliers()]);
        let (carried, own) = rest.split_at_mut(self.carried);
        if !carried.is_empty() {
            carried.copy_from_slice(&x[layout.memory_range()][..carried.len()]);
        }
        if !own.is_empty() {
            own.copy_from_slice(&x[layout.range(Block::S)]);
        }
    }

    #[inline]
    pub(super) fn row(&self, i: usize) -> &[f64] {
        let size = self.size();
        let place = (i - self.first) * size;
        &self.rows[place..place + size]
    }

    /// The start, which is always there.
    pub fn start<'a>(&'a self, t: f64, w: &'a [f64]) -> Point<'a> {
        self.point_in(&self.origin, t, w)
    }

    /// The state at time `i`.
    #[inline]
    pub fn point<'a>(&'a self, i: usize, t: f64, w: &'a [f64]) -> Point<'a> {
        self.point_in(self.row(i), t, w)
    }

    #[inline]
    fn point_in<'a>(&'a self, row: &'a [f64], t: f64, w: &'a [f64]) -> Point<'a> {
        let n = self.layout.n;
        let (q, rest) = row.split_at(n);
        let (v, rest) = rest.split_at(n);
        let (a, rest) = rest.split_at(n);
        Point { t, q, v, a, lambda: &rest[..self.layout.m], w }
    }

    /// The scheme's own acceleration at time `i`.
    #[inline]
    pub(super) fn scheme_acceleration(&self, i: usize, a_scheme: &mut [f64]) {
        let a = |i: usize| self.point(i, 0.0, &[]).a;
        match (i.checked_sub(1), self.recovered) {
            (None, _) => a_scheme.copy_from_slice(a(0)),
            (Some(before), Some([by_after, by_before])) => {
                // the first step begins with what the scheme made of the start: another number by round-off
                let before = if before == 0 { &self.begun[self.layout.range(Block::A)] } else { a(before) };
                for ((own, after), before) in a_scheme.iter_mut().zip(a(i)).zip(before) {
                    *own = by_after * after + by_before * before;
                }
            }
            (Some(_), None) => a_scheme.copy_from_slice(&self.row(i)[self.size() - self.layout.n..]),
        }
    }

    /// The state at time `i` of `simulation` as outputs see it; `room` is for what is not stored.
    #[inline]
    pub fn view<'a>(&'a self, i: usize, simulation: &'a Driven<'_>, room: &'a mut Room) -> OutputPoint<'a> {
        self.view_in(simulation.step_of(i), i, simulation, room)
    }

    /// The state at a time in step `k`, or at its end, as outputs see it.
    #[inline]
    pub fn view_in<'a>(
        &'a self,
        k: usize,
        i: usize,
        simulation: &'a Driven<'_>,
        room: &'a mut Room,
    ) -> OutputPoint<'a> {
        let at = (simulation.grid.time(i), simulation.inputs_at(i));
        match Between::of(simulation, i, k) {
            None => self.seen(k, at, &mut room.own[0]),
            Some(between) => self.between(between, k, at, room),
        }
    }

    /// The state at the end of step `k`.
    #[inline]
    fn seen<'a>(&'a self, k: usize, (t, w): (f64, &'a [f64]), a_scheme: &'a mut [f64]) -> OutputPoint<'a> {
        self.scheme_acceleration(k, a_scheme);
        let Point { t, q, v, a, lambda, w } = self.point(k, t, w);
        OutputPoint { t, q, v, a, a_scheme, lambda, w }
    }

    /// A state in step `k`.
    fn between<'a>(&'a self, between: Between, k: usize, at: (f64, &'a [f64]), room: &'a mut Room) -> OutputPoint<'a> {
        let [mut before, mut after] = std::mem::take(&mut room.own);
        let ends = [&self.seen(k - 1, at, &mut before), &self.seen(k, at, &mut after)];
        room.fill(between, ends);
        room.own = [before, after];
        room.seen(at)
    }

    /// Keeps a state as outputs see it.
    pub(super) fn keep_seen(&mut self, i: usize, x: &OutputPoint<'_>) {
        let size = self.size();
        let parts = [x.q, x.v, x.a, x.lambda, x.a_scheme];
        let mut row = &mut self.rows[i * size..(i + 1) * size];
        // what the scheme carries besides is not asked of a trajectory
        for (number, part) in parts.into_iter().enumerate() {
            let skipped = if number == 4 { self.carried } else { 0 };
            let (own, rest) = row[skipped..].split_at_mut(part.len());
            own.copy_from_slice(part);
            row = rest;
        }
    }

    /// The whole state at time `i`, in the scheme's layout.
    pub(super) fn restore(&self, i: usize, x: &mut [f64]) {
        let (layout, row) = (self.layout, self.row(i));
        x[..3 * layout.n].copy_from_slice(&row[..3 * layout.n]);
        x[layout.multipliers()].copy_from_slice(&row[3 * layout.n..][..layout.m]);
        self.scheme_acceleration(i, &mut x[layout.range(Block::S)]);
        let memory = &mut x[layout.memory_range()];
        memory.fill(0.0);
        memory[..self.carried].copy_from_slice(&row[3 * layout.n + layout.m..][..self.carried]);
    }

    /// Gives a stepper the states that it wants for products of a step; 0 is what the scheme made of the start.
    pub fn give(&self, step: &Step<'_>, stepper: &mut Stepper) {
        let (end, before) = stepper.room(step);
        self.restore(step.index, end);
        match (step.index, before) {
            (_, None) => {}
            (0, Some(before)) => self.restore(0, before),
            (1, Some(before)) => before.copy_from_slice(&self.begun),
            (i, Some(before)) => self.restore(i - 1, before),
        }
    }
}
