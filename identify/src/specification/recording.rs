//! The files of one experiment, each with times of its own, on the times of all of them.

use super::DataSource;
use crate::error::Locate;
use crate::{Error, Result};
use costate::shown::rounded;
use costate::shown::shown;
use costate_data::Record;
use costate_data::TimeAxis;
use costate_data::clock::{Clock, clock};
use costate_data::columns::{self, Column, Sought};
use std::ops::Range;
use std::path::Path;

/// Times of different files that are nearer to each other than this part of the shortest interval of a file are one.
const SAME: f64 = 1e-3;

/// Steps below this part of the mean one are reported.
const SHORT: f64 = 0.05;

/// A file of an experiment.
pub(super) struct RecordingFile<'a> {
    pub file: &'a Path,
    pub record: &'a Record,
    /// Name of the column of times.
    pub time: &'a str,
    pub axis: TimeAxis,
    /// Range of the samples that are meant.
    pub window: Range<usize>,
    /// Places of these samples among the times of all files.
    pub places: Vec<usize>,
}

impl RecordingFile<'_> {
    /// Values of its samples that are meant.
    pub fn times(&self) -> &[f64] {
        &self.axis.times()[self.window.clone()]
    }

    fn mean_step(&self) -> f64 {
        self.axis.mean_step()
    }

    fn shortest_step(&self) -> f64 {
        self.axis.times().windows(2).map(|pair| pair[1] - pair[0]).fold(f64::INFINITY, f64::min)
    }
}

/// All files of an experiment.
pub(super) struct Recording<'a> {
    pub parts: Vec<RecordingFile<'a>>,
    /// Conversions of times, in sentences.
    pub notes: Vec<String>,
    /// The times of all of them; once they are chosen, those that are meant.
    pub axis: TimeAxis,
}

impl<'a> Recording<'a> {
    /// Reads times; `records` are those of the files of `source`, in their order.
    pub fn begin(source: &'a DataSource, records: &'a [Record]) -> Result<Self> {
        let mut notes = Vec::new();
        let part = |(file, record): (&'a Path, &'a Record)| {
            let unit = source.time_unit.as_deref();
            let of = |asked: Option<&str>| clock(record, file, asked, unit).map_err(|error| error.under(&["time"]));
            let Clock { name: time, axis, note } = match (source.time.as_deref(), of(source.time.as_deref())) {
                // of several files, some may call it so
                (Some(name), Err(error))
                    if matches!(error.engine(), Some(costate::Error::UnknownName { .. }))
                        && !source.more_files.is_empty() =>
                {
                    of(None).map_err(|_| columns::missing(record, file, name).under(&["time"]))?
                }
                (_, found) => found?,
            };
            notes.extend(note);
            if axis.len() < 2 {
                return Err(Error::file(file, None, "there is one sample only", "give at least two"));
            }
            Ok(RecordingFile { file, record, time, window: 0..axis.len(), axis, places: Vec::new() })
        };
        let parts = source.files().zip(records).map(part).collect::<Result<Vec<_>>>()?;
        let axis = parts[0].axis.clone(); // a source has a file
        Ok(Recording { parts, notes, axis })
    }

    /// The part with the column that is sought; of several files the `asked` one, if one is, numbered from 1.
    pub fn find(&self, sought: &Sought<'_>, asked: Option<usize>) -> Result<Option<(usize, Column<'a>)>> {
        let mut found: Option<(usize, Column<'a>)> = None;
        for (k, part) in self.parts.iter().enumerate().filter(|(k, _)| asked.is_none_or(|asked| asked == k + 1)) {
            let Some(column) = columns::find(part.record, part.file, sought)? else { continue };
            if let Some((first, _)) = found {
                let (first, second) = (self.parts[first].file.display(), part.file.display());
                let problem = format!("both {first} and {second} have it");
                let remedy = format!(
                    "say in a problem file which of the files it is, from 1: column = \"{name}\", file = {}",
                    k + 1,
                    name = sought.column
                );
                return Err(Error::invalid(format!("column `{}`", sought.column), problem, remedy));
            }
            found = Some((k, column));
        }
        Ok(found)
    }

    /// Column that must be there, else as [`Recording::find`].
    pub fn get(&self, sought: &Sought<'_>, asked: Option<usize>) -> Result<(usize, Column<'a>)> {
        let name = sought.column;
        if let Some(number) = asked.filter(|number| !(1..=self.parts.len()).contains(number)) {
            let problem = format!("there is no file {number} among {}", self.parts.len());
            return Err(Error::invalid(
                format!("column `{name}`"),
                problem,
                "number the files of the experiment from 1",
            ));
        }
        if let Some(found) = self.find(sought, asked)? {
            return Ok(found);
        }
        let own = |k: &usize| asked.is_none_or(|asked| asked == k + 1);
        let parts: Vec<&RecordingFile<'a>> = (0..self.parts.len()).filter(own).map(|k| &self.parts[k]).collect();
        if let [part] = parts[..] {
            return Err(columns::missing(part.record, part.file, name).into());
        }
        if let Some(part) = parts.iter().find(|part| part.record.left_out(name).is_some()) {
            return Err(columns::missing(part.record, part.file, name).into());
        }
        let files = parts.iter().map(|part| part.file.display().to_string()).collect::<Vec<_>>().join(", ");
        Err(Error::unknown("column", name, files, parts.iter().flat_map(|part| part.record.names())))
    }

    /// Column with all its values, else as [`Recording::get`].
    pub fn complete(&self, sought: &Sought<'_>, asked: Option<usize>) -> Result<(usize, Column<'a>)> {
        let (part, found) = self.get(sought, asked)?;
        self.parts[part].record.column(found.name)?;
        Ok((part, found))
    }

    /// The times that are meant: from `from` to `until`; where nothing is said, those at which all inputs are known: `known` are the first
    /// and the last time of each.
    pub fn choose(&mut self, source: &DataSource, known: &[(f64, f64)]) -> Result<()> {
        let (mut from, mut until) = (source.from, source.until);
        for (first, last) in known {
            from = source.from.or(Some(from.map_or(*first, |from| from.max(*first))));
            until = source.until.or(Some(until.map_or(*last, |until| until.min(*last))));
        }
        if let (Some(from), Some(until)) = (source.from, source.until)
            && from >= until
        {
            return Err(reversed(from, until, "s"));
        }
        let fewest = if self.parts.len() > 1 { 1 } else { 2 };
        for part in &mut self.parts {
            part.window = window(&part.axis, from, until);
            if part.window.len() < fewest {
                let times = part.axis.times();
                let (start, end) = (times[0], times[times.len() - 1]);
                let problem = format!(
                    "{} between {} s and {} s (the record covers {start} s to {end} s)",
                    if fewest == 1 { "no sample lies" } else { "fewer than two samples lie" },
                    from.unwrap_or(start),
                    until.unwrap_or(end),
                );
                return Err(Error::file(part.file, None, problem, widened(source, fewest == 1)));
            }
        }
        self.join(source)
    }

    /// Sentences on times that are asked for beyond the ends of all files.
    pub fn beyond(&self, source: &DataSource) -> Vec<String> {
        let start = self.parts.iter().map(|part| part.axis.start()).fold(f64::INFINITY, f64::min);
        let end = self.parts.iter().map(|part| part.axis.end()).fold(f64::NEG_INFINITY, f64::max);
        let slack = SAME * (end - start);
        let early = source.from.filter(|from| *from < start - slack);
        let late = source.until.filter(|until| *until > end + slack);
        let early = early.map(|from| format!("from = {from} s: the record begins at {} s", shown(start)));
        let late = late.map(|until| format!("until = {until} s: the record ends at {} s", shown(end)));
        early.into_iter().chain(late).collect()
    }

    /// The times of all parts, and their places among them.
    fn join(&mut self, source: &DataSource) -> Result<()> {
        if let [part] = &mut self.parts[..] {
            part.places = (0..part.window.len()).collect();
            self.axis = part.axis.part(part.window.clone());
            return Ok(());
        }
        // times of one file are farther apart than this by far
        let slack = SAME * self.parts.iter().map(RecordingFile::shortest_step).fold(f64::INFINITY, f64::min);
        // of times that count as one, those of the fastest file stay
        let mut order: Vec<usize> = (0..self.parts.len()).collect();
        order.sort_by(|&a, &b| self.parts[a].mean_step().total_cmp(&self.parts[b].mean_step()));
        let mut all: Vec<f64> = Vec::new();
        for k in order {
            all = merged(&all, self.parts[k].times(), slack);
        }
        if all.len() < 2 {
            let file = self.parts[0].file;
            return Err(Error::file(file, None, "there is one sample only", widened(source, true)));
        }
        for part in &mut self.parts {
            let mut next = 0;
            let place = |t: &f64| {
                let near = next + all[next..].partition_point(|time| *time < t - slack);
                // of two within reach, the nearer one
                let is_nearer = |a: usize, b: usize| b < all.len() && (all[b] - t).abs() < (all[a] - t).abs();
                let place = if is_nearer(near, near + 1) { near + 1 } else { near };
                next = place + 1;
                place
            };
            part.places = part.axis.times()[part.window.clone()].iter().map(place).collect();
        }
        self.axis = TimeAxis::new(&all)?;
        Ok(())
    }

    /// The times that are meant.
    pub fn times(&self) -> &[f64] {
        self.axis.times()
    }

    /// Values of a part's samples that are meant, at the times of all; NaN elsewhere.
    pub fn spread(&self, part: usize, values: Vec<f64>) -> Vec<f64> {
        if self.parts.len() == 1 {
            return values;
        }
        let mut all = vec![f64::NAN; self.axis.len()];
        self.parts[part].places.iter().zip(values).for_each(|(place, value)| all[*place] = value);
        all
    }

    /// Sentences on the times that several files make together.
    pub fn described(&self) -> Vec<String> {
        let (count, times) = (self.parts.len(), self.times());
        if count < 2 {
            return Vec::new();
        }
        let cut = |part: &RecordingFile<'_>| {
            let beyond = part.axis.len() - part.window.len();
            let file = part.file.display();
            (beyond > 0).then(|| format!("{file}: {beyond} samples before or after those times take part nowhere"))
        };
        let steps = times.windows(2).map(|pair| pair[1] - pair[0]);
        let (least, most) = steps.fold((f64::INFINITY, 0.0f64), |(least, most), h| (least.min(h), most.max(h)));
        let spacing = match self.axis.largest_interval().filter(|_| !self.axis.is_even()) {
            None => self.axis.spacing(),
            Some((from, until)) => format!(
                "{} s to {} s apart (most from {} s to {} s)",
                rounded(least, 3),
                rounded(most, 3),
                shown(from),
                shown(until)
            ),
        };
        let mut sentence = format!(
            "{count} files: together {} times from {} s to {} s, {spacing}",
            times.len(),
            shown(times[0]),
            shown(times[times.len() - 1]),
        );
        if least < SHORT * self.axis.mean_step() {
            sentence += "; where clocks nearly meet, the shortest time steps are small parts of the others, and every time step ends at a sample: if \
                         the clocks are one, round their times alike; if one is only late, resample its file and fit a `delay` of its sensor";
        }
        std::iter::once(sentence).chain(self.parts.iter().filter_map(cut)).collect()
    }
}

/// Error: what is meant ends before it begins.
pub(super) fn reversed(from: f64, until: f64, unit: &str) -> Error {
    let problem = format!("`until` = {until} {unit} is not behind `from` = {from} {unit}");
    Error::invalid("what is meant of the record", problem, "give an `until` that is larger than `from`")
}

/// Remedy where too few samples are meant, by what is said of them.
fn widened(source: &DataSource, several: bool) -> &'static str {
    match (source.from, source.until) {
        (Some(_), Some(_)) => "widen `from` and `until`",
        (Some(_), None) => "give an earlier `from`",
        (None, Some(_)) => "give a later `until`",
        (None, None) if several => "give files of the same time: all clocks count from one moment, in s",
        (None, None) => "give a record in which all inputs are there at two samples or more",
    }
}

/// Samples between `from` and `until`, with a little slack.
pub(super) fn window(axis: &TimeAxis, from: Option<f64>, until: Option<f64>) -> Range<usize> {
    let (times, slack) = (axis.times(), 1e-6 * axis.mean_step());
    let first = from.map_or(0, |from| times.partition_point(|t| *t < from - slack));
    let last = until.map_or(times.len(), |until| times.partition_point(|t| *t <= until + slack));
    first..last.max(first)
}

/// Union of two sorted lists, without those of `more` that are within `slack` of one of `all`.
fn merged(all: &[f64], more: &[f64], slack: f64) -> Vec<f64> {
    let mut joined = Vec::with_capacity(all.len() + more.len());
    let mut taken = 0;
    for t in more {
        let far = taken + all[taken..].partition_point(|time| *time < t - slack);
        joined.extend_from_slice(&all[taken..far]);
        taken = far;
        match all.get(far) {
            Some(time) if (time - t).abs() <= slack => {
                joined.push(*time);
                taken = far + 1;
            }
            _ => joined.push(*t),
        }
    }
    joined.extend_from_slice(&all[taken..]);
    joined
}
