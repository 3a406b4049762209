//! Intervals without samples: inputs are interpolated over long ones only where that is asked for, and time steps go on through them.

use super::recording::Recording;
use super::{DataSource, InputColumn, Specification};
use crate::columns::Column;
use crate::{Error, Result};
use costate::shown::rounded;
use costate::shown::shown;
use costate::signal::{Interpolation, Signal};
use costate::time_axis::TimeAxis;
use costate::time_axis::{largest_interval, usual_step};

/// An input is interpolated over so many of its usual intervals where nobody says how long a gap may be.
///
/// What is sampled well has ten samples or more in a period of the fastest motion that matters (below that, lines between samples are off by
/// several per cent of the amplitude in any case). Five of them are half a period: a line over more of it may miss a whole swing.
const MOST: f64 = 5.0;

/// Part of an interval that may be round-off of printed times.
const ROUND_OFF: f64 = 1e-6;

/// A channel that has no more than this part of the rows of its file is one of another rate, rather than one with holes.
const SLOWER: f64 = 2.0 / 3.0;

/// So is one whose largest interval is no longer than so many of its usual ones: none of its samples is missing, whatever rows are between.
const REGULAR: f64 = 1.5;

/// Fewer values than that tell no rate of their own: they are taken for what is left of the rows of their file.
const FEW: usize = 5;

/// Gaps that are told one by one.
const TOLD: usize = 3;

/// The longest interval that is no gap, s.
pub(super) fn limit(max_gap: Option<f64>, usual: f64) -> f64 {
    max_gap.unwrap_or(MOST * usual) * (1.0 + ROUND_OFF)
}

/// What drives an input.
pub(super) struct Driver {
    /// The place of its file.
    pub part: usize,
    input: InputColumn,
    /// Its column, as the header has it.
    name: String,
    /// Times of its own samples, s.
    times: Vec<f64>,
    values: Vec<f64>,
    /// Rows of its file.
    rows: usize,
    /// Between two of its samples, s.
    usual: f64,
    /// Whether rows lack a value though it is as fast as its file.
    pub has_holes: bool,
}

impl Driver {
    /// Of a column whose values are NaN where there is none.
    pub fn new(part: usize, input: &InputColumn, Column { name, values, .. }: &Column<'_>, axis: &TimeAxis) -> Self {
        let there = axis.times().iter().zip(values.iter()).filter(|(_, value)| !value.is_nan());
        let (times, values): (Vec<f64>, Vec<f64>) = there.unzip();
        let has_rate = times.len() < axis.len() && times.len() >= FEW;
        let usual = if has_rate { usual_step(&times) } else { axis.usual_step() };
        let between = |t: &&f64| times.first() <= Some(*t) && Some(*t) <= times.last();
        let rows = axis.times().iter().filter(between).count();
        let is_slower = times.len() as f64 <= SLOWER * rows as f64;
        let is_regular = largest_interval(&times).is_some_and(|(from, to)| to - from <= REGULAR * usual);
        let has_holes = times.is_empty() || rows > times.len() && !is_slower && !is_regular;
        let (input, name) = (input.clone(), name.to_string());
        Driver { part, input, name, times, values, rows: axis.len(), usual, has_holes }
    }

    /// The input: what is held is known for one more of its intervals behind its last sample.
    pub fn signal(&self, axis: &TimeAxis) -> Result<Signal> {
        let (mut times, mut values) = (self.times.clone(), self.values.clone());
        let (_, last) = self.known(axis);
        if let (Some(end), Some(value)) = (self.times.last(), self.values.last())
            && last > *end
        {
            times.push(last);
            values.push(*value);
        }
        Signal::sampled(&times, &values, self.input.interpolation)
    }

    /// The first and the last time at which it is known, s.
    pub fn known(&self, axis: &TimeAxis) -> (f64, f64) {
        let first = self.times.first().copied().unwrap_or(axis.start());
        let last = self.times.last().copied().unwrap_or(axis.end());
        let held = if self.input.interpolation == Interpolation::ZeroOrder { self.usual } else { 0.0 };
        (first, (last + held).min(axis.end()))
    }

    fn place(&self) -> String {
        format!("column `{}`, which drives input `{}`,", self.name, self.input.input)
    }

    /// That nothing is made up of it between the first and the last time of the run; what is assumed, in sentences.
    pub fn check(&self, source: &DataSource, recording: &Recording<'_>, notes: &mut Vec<String>) -> Result<()> {
        let (part, all) = (&recording.parts[self.part], recording.times());
        let (begin, end, slack) = (all[0], all[all.len() - 1], ROUND_OFF * self.usual);
        let (first, last) = self.known(&part.axis);
        let is_late = self.times.len() < self.rows && begin < first - slack;
        if is_late || self.times.len() < self.rows && end > last + slack {
            let (what, time, run, key) = match is_late {
                true => ("first", first, format!("begins at {} s", shown(begin)), "from"),
                false => ("last", last, format!("ends at {} s", shown(end)), "until"),
            };
            let problem = format!("{} has its {what} value at {} s, and the run {run}", self.place(), shown(time));
            return Err(Error::file(part.file, None, problem, format!("choose `{key}` = {}", shown(time))));
        }
        if self.times.len() < self.rows {
            let (mut said, axis) = (String::new(), &part.axis);
            if source.from.is_none() && first > axis.start() {
                said += &format!(
                    "; the run begins with its first value, at {} s, and values at the start are values at that time",
                    shown(first)
                );
            }
            if source.until.is_none() && last < axis.end() {
                said += &format!("; the run ends where it is known, at {} s", shown(last));
            }
            let spacing = TimeAxis::new(&self.times)?.spacing();
            notes.push(format!(
                "`{}` has {} of {} samples, {spacing}: {} between them{said}",
                self.name,
                self.times.len(),
                self.rows,
                self.input.interpolation
            ));
        }
        let is_within = |pair: &&[f64]| pair[1] > begin + slack && pair[0] < end - slack;
        let longer = |limit: f64| {
            let pairs = self.times.windows(2).filter(is_within).filter(move |pair| pair[1] - pair[0] > limit);
            pairs.map(|pair| (pair[0], pair[1])).collect::<Vec<(f64, f64)>>()
        };
        let gaps = longer(limit(source.max_gap, self.usual));
        if !gaps.is_empty() {
            return Err(self.refused(&gaps, source, recording));
        }
        let asked: Vec<String> = longer(limit(None, self.usual)).into_iter().map(in_words).collect();
        if let Some(max_gap) = source.max_gap.filter(|_| !asked.is_empty()) {
            let (kind, max_gap, gaps) = (self.input.interpolation, shown(max_gap), listed(&asked));
            notes.push(format!("`{}` has no sample {gaps}: {kind} there, as max_gap = {max_gap} s allows", self.name));
        }
        Ok(())
    }

    fn refused(&self, gaps: &[(f64, f64)], source: &DataSource, recording: &Recording<'_>) -> Error {
        let part = &recording.parts[self.part];
        let longest = gaps.iter().fold(0.0f64, |longest, (from, to)| longest.max(to - from));
        let told: Vec<String> = gaps.iter().copied().map(in_words).collect();
        let problem = format!(
            "{} has no sample {}, where {} s is usual: nobody knows what it did there",
            self.place(),
            listed(&told),
            rounded(self.usual, 4)
        );
        let (from, to) = (shown(gaps[0].0), shown(gaps[0].1)); // there is a gap
        let asked = format!("max_gap = {} in [data], if it is {} there", shown(longest), self.input.interpolation);
        // what a run without comparison has, such as a candidate's, is not cut
        let remedy = match (&source.outputs, &recording.parts[..]) {
            (Some(outputs), _) if outputs.is_empty() => {
                format!("end before it (until = {from}, or end = {from} of a candidate), or say {asked}")
            }
            (_, [_])
                if part
                    .axis
                    .times()
                    .binary_search_by(|t| t.total_cmp(&gaps[0].0))
                    .is_ok_and(|k| part.axis.times().get(k + 1).is_some_and(|next| *next >= gaps[0].1)) =>
            {
                format!(
                    "fit the pieces as experiments, each with its own start: split = \"{}\" in [data]; or one of them: until = {from}, \
                     or from = {to} with the state at that time as its start; or say {asked}",
                    super::split::AT_GAPS
                )
            }
            _ => format!(
                "fit a piece: until = {from}, or from = {to} with the state at that time as its start; or both as experiments, each with its own start: [[experiment]] with name = \
                 \"before\", until = {from} and [[experiment]] with name = \"behind\", from = {to} (`split` cuts one file at gaps of all \
                 its columns only); or say {asked}"
            ),
        };
        Error::file(part.file, None, problem, remedy)
    }
}

/// `from 6 s to 11 s (5 s)`
pub(super) fn in_words((from, to): (f64, f64)) -> String {
    format!("from {} s to {} s ({} s)", shown(from), shown(to), rounded(to - from, 4))
}

/// Some of them, and how many more there are.
pub(super) fn listed(all: &[String]) -> String {
    let shown = all[..all.len().min(TOLD)].join(", ");
    if all.len() > TOLD { format!("{shown} and {} more times", all.len() - TOLD) } else { shown }
}

/// Times of steps where those of samples have gaps: steps of the usual size go on through them. `None` where there are none.
///
/// # Errors
/// If that makes more steps than can be kept.
pub(super) fn through(recording: &Recording<'_>) -> Result<Option<Vec<f64>>> {
    let times = recording.times();
    let Some((from, to)) = largest_interval(times).filter(|_| !recording.axis.is_even()) else { return Ok(None) };
    let longest = limit(None, slowest(recording));
    if to - from <= longest {
        return Ok(None);
    }
    let usual = recording.axis.usual_step();
    let parts = |pair: &[f64]| match pair[1] - pair[0] {
        length if length > longest => (length / usual).round(),
        _ => 1.0,
    };
    let count = times.windows(2).map(parts).sum::<f64>();
    let what = format!("steps of {} s, as samples have, through intervals without samples", rounded(usual, 4));
    costate::grid::check_count(count, &what, "give a larger step, or choose samples with `from` and `until`")?;
    let mut all = Vec::with_capacity(count as usize + 1);
    for pair in times.windows(2) {
        let parts = parts(pair);
        let step = (pair[1] - pair[0]) / parts;
        all.extend((0..parts as usize).map(|k| pair[0] + k as f64 * step));
    }
    all.push(times[times.len() - 1]);
    Ok(Some(all))
}

impl Specification {
    /// What is said of steps beside those between samples, through intervals without any; `None` where there are none.
    pub(super) fn through_gaps(&self, recording: &Recording<'_>) -> Result<Option<String>> {
        if self.tolerance.is_some() || self.step.is_some() || through(recording)?.is_none() {
            return Ok(None);
        }
        let longest = limit(None, slowest(recording));
        let gaps = recording.times().windows(2).filter(|pair| pair[1] - pair[0] > longest);
        let gaps: Vec<String> = gaps.map(|pair| in_words((pair[0], pair[1]))).collect();
        let gaps = listed(&gaps);
        Ok(Some(format!("there are no samples {gaps}: time steps as between the others go on through it")))
    }
}

/// The usual interval of the slowest file, s: where that goes on alone, there is no gap.
fn slowest(recording: &Recording<'_>) -> f64 {
    recording.parts.iter().map(|part| part.axis.usual_step()).fold(0.0, f64::max)
}
