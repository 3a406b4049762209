//! Times at which a run is read without a step that ends there: between the steps, by the scheme's own order.
//!
//! With x from 0 to 1 over a step of size h, positions follow the cubic polynomial through q and v at both ends, velocities that through v and
//! a; accelerations and multipliers are linear in x. Errors are of order 4 in positions and velocities, and of order 2 in the others: those of
//! the schemes are not beaten, and where a step ends its own values are read.

use super::Simulation;
use crate::grid::TimeGrid;
use crate::scheme::Layout;
use crate::shown::shown;
use crate::signal::Signal;
use crate::system::{OutputPoint, StateVector};
use crate::{Error, Result};
use std::sync::Arc;

/// Times that differ by less than this part of a step are one.
const SAME: f64 = 1e-9;

impl Simulation {
    /// Number of steps.
    #[inline]
    pub fn steps(&self) -> usize {
        self.ends.as_ref().map_or(self.grid.count(), |ends| ends.len() - 1)
    }

    /// The number, among the times, of the one at which step `k` ends; that of the start for 0.
    #[inline]
    pub(crate) fn end_of(&self, k: usize) -> usize {
        self.ends.as_ref().map_or(k, |ends| ends[k])
    }

    /// The step in which time `i` is, or at whose end; 0 for the start.
    #[inline]
    pub(crate) fn step_of(&self, i: usize) -> usize {
        self.ends.as_ref().map_or(i, |ends| ends.partition_point(|end| *end < i))
    }

    /// Size of step `k`, from 1, s.
    #[inline]
    pub fn step_size(&self, k: usize) -> f64 {
        match &self.ends {
            None => self.grid.step(k),
            Some(ends) => self.grid.time(ends[k]) - self.grid.time(ends[k - 1]),
        }
    }

    /// The size of all steps, s, if it is the same but for round-off.
    pub fn even_step(&self) -> Option<f64> {
        let first = self.grid.uniform_step().unwrap_or_else(|| self.step_size(1));
        let same = |k: usize| (self.step_size(k) - first).abs() <= SAME * first;
        match self.ends {
            None => self.grid.uniform_step(),
            Some(_) => (1..=self.steps()).all(same).then_some(first),
        }
    }

    /// True if all times are those of steps.
    pub fn reads_steps_alone(&self) -> bool {
        self.ends.is_none()
    }

    /// The simulation, also read at these times (s), which no step has to meet: those within the run. Outputs there are exact to the
    /// scheme's order.
    ///
    /// # Errors
    /// As [`Simulation::new`]; and [`Error::Invalid`] for a time within a step that restarts behind a jump of an input: the accelerations at
    /// its beginning are not known.
    pub fn reading(&self, times: &[f64]) -> Result<Self> {
        let old = |k: usize| self.grid.time(self.end_of(k));
        let (mut all, mut ends) = (vec![old(0)], vec![0]);
        let mut wanted: Vec<f64> = times.to_vec();
        wanted.sort_unstable_by(f64::total_cmp);
        let mut next = wanted.into_iter().peekable();
        for k in 1..=self.steps() {
            let (to, same) = (old(k), SAME * self.step_size(k));
            while let Some(t) = next.next_if(|t| *t < to - same) {
                if t > all[all.len() - 1] + same {
                    all.push(t);
                }
            }
            let first = ends[ends.len() - 1] + 1;
            if first < all.len() && self.other_row(k).is_some() {
                let problem = format!(
                    "its step of {} s from {} s on passes over {} s, behind a jump of an input",
                    shown(self.step_size(k)),
                    shown(old(k - 1)),
                    shown(all[first])
                );
                return Err(Error::invalid(
                    "the simulation",
                    problem,
                    "let steps meet the times behind jumps: give a tolerance, or `substeps`",
                ));
            }
            while next.next_if(|t| *t <= to + same).is_some() {}
            all.push(to);
            ends.push(all.len() - 1);
        }
        if all.len() == ends.len() {
            return Ok(self.clone());
        }
        self.read_on(TimeGrid::through(&all, 1)?, ends, self.signals.clone())
    }

    /// The simulation with every step divided into `parts`, and other signals. Time `i` becomes time `parts · i`.
    ///
    /// # Errors
    /// As [`Simulation::new`].
    pub fn divided(&self, parts: usize, signals: Vec<Signal>) -> Result<Self> {
        let Some(own) = &self.ends else { return self.on(self.grid.divided(parts)?, signals) };
        let (mut all, mut ends) = (vec![self.grid.time(0)], vec![0]);
        for pair in own.windows(2) {
            let (from, to) = (self.grid.time(pair[0]), self.grid.time(pair[1]));
            let same = SAME * (to - from);
            let mut inner = (1..parts).map(|part| from + (to - from) * part as f64 / parts as f64).peekable();
            for i in pair[0] + 1..=pair[1] {
                let (before, here) = (self.grid.time(i - 1), self.grid.time(i));
                let mut added = 0;
                while let Some(t) = inner.next_if(|t| *t < here - same) {
                    all.push(t);
                    ends.push(all.len() - 1);
                    added += 1;
                }
                // as many times in each interval: what is left of them is read between the last step's end and its own end
                let begin = all[all.len() - 1].max(before);
                let left = parts - 1 - added;
                all.extend((1..=left).map(|k| begin + (here - begin) * k as f64 / (left + 1) as f64));
                all.push(here);
                if i == pair[1] || inner.next_if(|t| *t <= here + same).is_some() {
                    ends.push(all.len() - 1);
                }
            }
        }
        self.read_on(TimeGrid::through(&all, 1)?, ends, signals)
    }

    fn read_on(&self, grid: TimeGrid, ends: Vec<usize>, signals: Vec<Signal>) -> Result<Self> {
        self.like(self.restarts.clone(), Some(Arc::new(ends)), self.scheme.clone(), grid, signals)
    }
}

/// Factors of what is known at both ends of a step for a time between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Between {
    /// Coefficients of the value at the beginning, of its rate, and of both at the end.
    cubic: [f64; 4],
    linear: [f64; 2],
}

impl Between {
    /// Interpolation at a time of a run that lies in step `k`; none where the step ends.
    #[inline]
    pub fn of(simulation: &Simulation, i: usize, k: usize) -> Option<Self> {
        if simulation.end_of(k) == i { None } else { Some(Between::within(simulation, i, k)) }
    }

    fn within(simulation: &Simulation, i: usize, k: usize) -> Self {
        let (h, from) = (simulation.step_size(k), simulation.grid.time(simulation.end_of(k - 1)));
        let x = (simulation.grid.time(i) - from) / h;
        let y = 1.0 - x;
        let cubic = [y * y * (1.0 + 2.0 * x), h * x * y * y, x * x * (3.0 - 2.0 * x), -h * x * x * y];
        Between { cubic, linear: [y, x] }
    }

    /// The cubic polynomial through values and rates at both ends.
    fn hermite(&self, [a, b, c, d]: [&[f64]; 4], sum: &mut [f64]) {
        let [f0, g0, f1, g1] = self.cubic;
        for (j, sum) in sum.iter_mut().enumerate() {
            *sum = f0 * a[j] + g0 * b[j] + f1 * c[j] + g1 * d[j];
        }
    }

    /// The straight line between both ends.
    fn line(&self, a: &[f64], b: &[f64], sum: &mut [f64]) {
        let [y, z] = self.linear;
        sum.iter_mut().zip(a).zip(b).for_each(|((sum, a), b)| *sum = y * a + z * b);
    }

    /// The tangent between one at the beginning and one at the end.
    pub fn tangent(&self, before: &StateVector, after: &StateVector, x: &mut StateVector) {
        self.hermite([&before.q, &before.v, &after.q, &after.v], &mut x.q);
        self.hermite([&before.v, &before.a, &after.v, &after.a], &mut x.v);
        self.line(&before.a, &after.a, &mut x.a);
        self.line(&before.a_scheme, &after.a_scheme, &mut x.a_scheme);
        self.line(&before.lambda, &after.lambda, &mut x.lambda);
        x.u.copy_from_slice(&after.u);
    }

    /// Adds a cotangent to those of the beginning and the end; clears it.
    pub fn pull_back(&self, x: &mut StateVector, before: &mut StateVector, after: &mut StateVector) {
        let [f0, g0, f1, g1] = self.cubic;
        let add = |bar: &[f64], factor: f64, sum: &mut [f64]| {
            sum.iter_mut().zip(bar).for_each(|(sum, bar)| *sum += factor * bar);
        };
        let hermite = |bar: &[f64], [a, b, c, d]: [&mut [f64]; 4]| {
            [(a, f0), (b, g0), (c, f1), (d, g1)].into_iter().for_each(|(sum, factor)| add(bar, factor, sum));
        };
        hermite(&x.q, [&mut before.q, &mut before.v, &mut after.q, &mut after.v]);
        hermite(&x.v, [&mut before.v, &mut before.a, &mut after.v, &mut after.a]);
        let [y, z] = self.linear;
        for (bar, first, last) in [
            (&x.a, &mut before.a, &mut after.a),
            (&x.a_scheme, &mut before.a_scheme, &mut after.a_scheme),
            (&x.lambda, &mut before.lambda, &mut after.lambda),
        ] {
            add(bar, y, first);
            add(bar, z, last);
        }
        add(&x.u, 1.0, &mut after.u);
        x.clear_state();
        x.u.fill(0.0);
    }
}

/// Room for the state of one time.
#[derive(Debug, Clone)]
pub(crate) struct Room {
    /// The scheme's own acceleration, which is not always stored; and that at the beginning of the step.
    pub own: [Vec<f64>; 2],
    q: Vec<f64>,
    v: Vec<f64>,
    a: Vec<f64>,
    a_scheme: Vec<f64>,
    lambda: Vec<f64>,
}

impl Room {
    pub fn new(Layout { n, m, .. }: Layout) -> Self {
        let zeros = |count| vec![0.0; count];
        Room {
            own: [(); 2].map(|()| zeros(n)),
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            a_scheme: zeros(n),
            lambda: zeros(m),
        }
    }

    /// Takes the state between two others.
    pub fn fill(&mut self, at: Between, [before, after]: [&OutputPoint<'_>; 2]) {
        at.hermite([before.q, before.v, after.q, after.v], &mut self.q);
        at.hermite([before.v, before.a, after.v, after.a], &mut self.v);
        at.line(before.a, after.a, &mut self.a);
        at.line(before.a_scheme, after.a_scheme, &mut self.a_scheme);
        at.line(before.lambda, after.lambda, &mut self.lambda);
    }

    /// The state that it has taken.
    pub fn seen<'a>(&'a self, (t, w): (f64, &'a [f64])) -> OutputPoint<'a> {
        OutputPoint { t, q: &self.q, v: &self.v, a: &self.a, a_scheme: &self.a_scheme, lambda: &self.lambda, w }
    }
}
