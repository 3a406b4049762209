//! Intervals without samples: inputs are interpolated over long ones only where that is asked for, and time steps go on through them.

use super::recording::Recording;
use super::{DataSource, InputColumn, Specification};
use crate::{Error, Result};
use costate::shown::{rounded, shown};
use costate::time_axis::{largest_interval, usual_step};
use costate::{Interpolation, Signal};
use costate_data::TimeAxis;
use costate_data::columns::Column;

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

/// Most gaps that are named one by one.
const MOST_NAMED: usize = 3;

/// The longest interval that is no gap, s.
pub(super) fn limit(max_gap: Option<f64>, usual: f64) -> f64 {
    max_gap.unwrap_or(MOST * usual) * (1.0 + ROUND_OFF)
}

/// Samples of a column that is interpolated.
pub(crate) struct Samples {
    /// Name of the column, as the header has it.
    pub name: String,
    /// Times of its own samples, s.
    pub times: Vec<f64>,
    pub values: Vec<f64>,
    /// Rows of its file.
    rows: usize,
    /// Usual time between two of its samples, s.
    pub usual: f64,
    /// True if rows lack a value though the column is as fast as its file.
    pub has_holes: bool,
}

impl Samples {
    /// Samples of a column whose values are NaN where there is none.
    pub fn of(Column { name, values, .. }: &Column<'_>, axis: &TimeAxis) -> Self {
        let there = axis.times().iter().zip(values.iter()).filter(|(_, value)| !value.is_nan());
        let (times, values): (Vec<f64>, Vec<f64>) = there.unzip();
        let has_rate = times.len() < axis.len() && times.len() >= FEW;
        let usual = if has_rate { usual_step(&times) } else { axis.usual_step() };
        let between = |t: &&f64| times.first() <= Some(*t) && Some(*t) <= times.last();
        let rows = axis.times().iter().filter(between).count();
        let is_slower = times.len() as f64 <= SLOWER * rows as f64;
        let is_regular = largest_interval(&times).is_some_and(|(from, to)| to - from <= REGULAR * usual);
        let has_holes = times.is_empty() || rows > times.len() && !is_slower && !is_regular;
        Samples { name: name.to_string(), times, values, rows: axis.len(), usual, has_holes }
    }

    /// Intervals without samples that are longer than `limit`, between two times, s.
    fn longer(&self, limit: f64, (begin, end): (f64, f64)) -> Vec<(f64, f64)> {
        let slack = ROUND_OFF * self.usual;
        let is_within = |pair: &&[f64]| pair[1] > begin + slack && pair[0] < end - slack;
        let pairs = self.times.windows(2).filter(is_within).filter(|pair| pair[1] - pair[0] > limit);
        pairs.map(|pair| (pair[0], pair[1])).collect()
    }

    /// Gaps that nobody has allowed; and a sentence on those that `max_gap` allows.
    pub fn gaps(
        &self,
        max_gap: Option<f64>,
        run: (f64, f64),
        kind: Interpolation,
    ) -> (Vec<(f64, f64)>, Option<String>) {
        let gaps = self.longer(limit(max_gap, self.usual), run);
        let asked: Vec<String> = self.longer(limit(None, self.usual), run).into_iter().map(in_words).collect();
        let note = max_gap.filter(|_| gaps.is_empty() && !asked.is_empty()).map(|max_gap| {
            let (max_gap, gaps) = (shown(max_gap), listed(&asked));
            format!("`{}` has no sample {gaps}: {kind} there, as max_gap = {max_gap} s allows", self.name)
        });
        (gaps, note)
    }

    /// Sentence on gaps, of which there is one at least.
    pub fn without(&self, place: &str, gaps: &[(f64, f64)]) -> String {
        let named: Vec<String> = gaps.iter().copied().map(in_words).collect();
        format!(
            "{place} has no sample {}, where {} s is usual: nobody knows what it did there",
            listed(&named),
            rounded(self.usual, 4)
        )
    }

    /// Sentence on a column that has fewer samples than its file has rows.
    pub fn sparse(&self, kind: Interpolation, said: &str) -> Result<Option<String>> {
        if self.times.len() == self.rows {
            return Ok(None);
        }
        let spacing = TimeAxis::new(&self.times)?.spacing();
        let (name, count, rows) = (&self.name, self.times.len(), self.rows);
        Ok(Some(format!("`{name}` has {count} of {rows} samples, {spacing}: {kind} between them{said}")))
    }
}

/// Column that drives an input.
pub(super) struct Driver {
    /// The place of its file.
    pub part: usize,
    input: InputColumn,
    pub samples: Samples,
}

impl Driver {
    /// Driver by a column whose values are NaN where there is none.
    pub fn new(part: usize, input: &InputColumn, column: &Column<'_>, axis: &TimeAxis) -> Self {
        Driver { part, input: input.clone(), samples: Samples::of(column, axis) }
    }

    /// The input: what is held is known for one more of its intervals behind its last sample.
    pub fn signal(&self, axis: &TimeAxis) -> Result<Signal> {
        let (mut times, mut values) = (self.samples.times.clone(), self.samples.values.clone());
        let (_, last) = self.known(axis);
        if let (Some(end), Some(value)) = (self.samples.times.last(), self.samples.values.last())
            && last > *end
        {
            times.push(last);
            values.push(*value);
        }
        Ok(Signal::sampled(&times, &values, self.input.interpolation)?)
    }

    /// The first and the last time at which it is known, s.
    pub fn known(&self, axis: &TimeAxis) -> (f64, f64) {
        let Samples { times, usual, .. } = &self.samples;
        let first = times.first().copied().unwrap_or(axis.start());
        let last = times.last().copied().unwrap_or(axis.end());
        let held = if self.input.interpolation == Interpolation::ZeroOrder { *usual } else { 0.0 };
        (first, (last + held).min(axis.end()))
    }

    fn place(&self) -> String {
        format!("column `{}`, which drives input `{}`,", self.samples.name, self.input.input)
    }

    /// Checks that no value of the input is made up between the first and the last time of the run; notes what is assumed, in sentences.
    pub fn check(&self, source: &DataSource, recording: &Recording<'_>, notes: &mut Vec<String>) -> Result<()> {
        let (part, all) = (&recording.parts[self.part], recording.times());
        let (begin, end, slack) = (all[0], all[all.len() - 1], ROUND_OFF * self.samples.usual);
        let (first, last) = self.known(&part.axis);
        let is_sparse = self.samples.times.len() < self.samples.rows;
        let is_late = is_sparse && begin < first - slack;
        if is_late || is_sparse && end > last + slack {
            let (what, time, run, key) = match is_late {
                true => ("first", first, format!("begins at {} s", shown(begin)), "from"),
                false => ("last", last, format!("ends at {} s", shown(end)), "until"),
            };
            let problem = format!("{} has its {what} value at {} s, and the run {run}", self.place(), shown(time));
            let error = Error::file(part.file, None, problem, format!("choose `{key}` = {}", shown(time)));
            return Err(error.under(&[if source.from.is_some() && is_late || source.until.is_some() && !is_late {
                key
            } else {
                "file"
            }]));
        }
        if is_sparse {
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
            notes.extend(self.samples.sparse(self.input.interpolation, &said)?);
        }
        if let Some(max_gap) = source.max_gap.filter(|max_gap| *max_gap < self.samples.usual * (1.0 - ROUND_OFF)) {
            let (max_gap, usual) = (shown(max_gap), rounded(self.samples.usual, 4));
            let problem = format!("samples of column `{}` are {usual} s apart as a rule", self.samples.name);
            let remedy = "give the longest interval over which the input is known, which is longer than that";
            return Err(Error::invalid(format!("max_gap = {max_gap}"), problem, remedy).under(&["data", "max_gap"]));
        }
        let (gaps, note) = self.samples.gaps(source.max_gap, (begin, end), self.input.interpolation);
        if !gaps.is_empty() {
            let key = if source.max_gap.is_some() { "max_gap" } else { "file" };
            return Err(self.refused(&gaps, source, recording).under(&[key]));
        }
        notes.extend(note);
        Ok(())
    }

    fn refused(&self, gaps: &[(f64, f64)], source: &DataSource, recording: &Recording<'_>) -> Error {
        let part = &recording.parts[self.part];
        let longest = gaps.iter().fold(0.0f64, |longest, (from, to)| longest.max(to - from));
        let problem = self.samples.without(&self.place(), gaps);
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
    let shown = all[..all.len().min(MOST_NAMED)].join(", ");
    if all.len() > MOST_NAMED { format!("{shown} and {} more times", all.len() - MOST_NAMED) } else { shown }
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
    costate::time_axis::check_count(count, &what, "give a larger step, or choose samples with `from` and `until`")?;
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
    /// Sentence on steps through intervals without samples, beside those between samples; `None` where there are none.
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
