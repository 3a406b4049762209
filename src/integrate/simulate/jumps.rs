//! Jumps of inputs that lie on times of a grid: runs restart behind them.

use crate::grid::TimeGrid;
use crate::signal::Signal;

/// Part of a step by which a jump may miss a time of the grid.
const MISSED: f64 = 1e-4;

/// The jumps inside a grid, in the order of time.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Jumps {
    /// Numbers of their times, from 1 on.
    places: Vec<usize>,
    /// The inputs just before each, and from each on; one jump after another.
    before: Vec<f64>,
    after: Vec<f64>,
}

impl Jumps {
    /// Jumps of signals at times of a grid behind its first one at which steps end; and all times in `restarts`, whatever the signals do
    /// there.
    pub fn of(grid: &TimeGrid, is_end: &dyn Fn(usize) -> bool, signals: &[Signal], restarts: &[f64]) -> Self {
        let values = |t: f64| signals.iter().map(move |signal| [signal.before(t), signal.value(t)]);
        let mut jumps = Jumps::default();
        let place = |t: f64| place(grid, t).filter(|place| is_end(*place));
        let mut found: Vec<(usize, f64)> = restarts.iter().filter_map(|t| Some((place(*t)?, *t))).collect();
        for signal in signals {
            let changes = |t: &&f64| signal.before(**t).to_bits() != signal.value(**t).to_bits();
            found.extend(signal.jumps().iter().filter(changes).filter_map(|t| Some((place(*t)?, *t))));
        }
        found.sort_unstable_by(|a, b| a.0.cmp(&b.0).then(a.1.total_cmp(&b.1)));
        for (place, t) in found {
            let first = jumps.after.len() - if jumps.places.last() == Some(&place) { signals.len() } else { 0 };
            if first == jumps.after.len() {
                jumps.places.push(place);
                jumps.before.extend(values(t).map(|[before, _]| before));
                jumps.after.extend(values(t).map(|[_, after]| after));
            } else {
                // several inputs jump at times that differ by round-off
                jumps.after.truncate(first);
                jumps.after.extend(values(t).map(|[_, after]| after));
            }
        }
        jumps
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Numbers of their times.
    pub fn places(&self) -> &[usize] {
        &self.places
    }

    /// The number of the jump at time `i`, if there is one.
    #[inline]
    pub fn at(&self, i: usize) -> Option<usize> {
        if self.places.is_empty() { None } else { self.places.binary_search(&i).ok() }
    }

    /// The inputs from each jump on, one jump after another.
    pub fn after(&self) -> &[f64] {
        &self.after
    }

    /// Puts what is before jumps into inputs from time `first` on, one time after another.
    pub fn put_before(&self, first: usize, inputs: &mut [f64]) {
        let Some(count) = self.before.len().checked_div(self.places.len()).filter(|count| *count > 0) else { return };
        let from = self.places.partition_point(|place| *place < first);
        let times = inputs.len() / count;
        let rows = self.places[from..].iter().zip(self.before[from * count..].chunks_exact(count));
        for (place, row) in rows.take_while(|(place, _)| **place - first < times) {
            inputs[(place - first) * count..][..count].copy_from_slice(row);
        }
    }
}

/// The number of the time of a grid that this is, but for a small part of a step; none for the first one.
fn place(grid: &TimeGrid, t: f64) -> Option<usize> {
    let last = grid.count();
    let (start, end) = (grid.time(0), grid.end());
    let near = match grid.uniform_step() {
        Some(step) => ((t - start) / step).round().clamp(0.0, last as f64) as usize,
        None => {
            let later = grid.times().partition_point(|time| *time < t).clamp(1, last);
            if t - grid.time(later - 1) < grid.time(later) - t { later - 1 } else { later }
        }
    };
    let step = grid.step(near.max(1));
    let is_there = (t - grid.time(near)).abs() <= MISSED * step + 4.0 * f64::EPSILON * start.abs().max(end.abs());
    (is_there && near > 0).then_some(near)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::signal::Interpolation;

    /// Protects what a run sees at a jump: of every input, also of one that does not jump there, the limits from both sides; jumps that no
    /// step meets, that of the start and samples that change nothing are none.
    #[test]
    fn both_sides_of_jumps_are_known() {
        let held = Signal::sampled(&[0.0, 0.2, 0.4, 0.55], &[1.0, 1.0, 3.0, 5.0], Interpolation::ZeroOrder).unwrap();
        let switched = Signal::switched(Signal::constant(7.0), vec![(0.4 + 1e-12, Signal::constant(8.0))]).unwrap();
        let signals = [held, Signal::function(|t| t), switched];
        for grid in [TimeGrid::uniform(0.0, 0.5, 0.1), TimeGrid::through(&[0.0, 0.1, 0.2, 0.3, 0.4, 0.5], 1)] {
            let grid = grid.unwrap();
            let jumps = Jumps::of(&grid, &|_| true, &signals, &[]);
            assert_eq!((jumps.places(), jumps.at(4), jumps.at(3)), (&[4][..], Some(0), None));
            assert_eq!(jumps.before[..2], [1.0, 0.4]);
            assert_eq!((jumps.after()[0], jumps.after()[2]), (3.0, 8.0));
            let mut inputs = vec![0.0; 6];
            jumps.put_before(3, &mut inputs);
            assert_eq!(inputs[3..], [1.0, 0.4, 7.0]);
            assert_eq!(Jumps::of(&grid, &|_| true, &signals, &[0.0, 0.3, 0.35]).places(), [3, 4]);
        }
        assert_eq!(
            Jumps::of(&TimeGrid::uniform(0.0, 0.5, 0.125).unwrap(), &|_| true, &signals, &[]).places(),
            [] as [usize; 0]
        );
    }
}
