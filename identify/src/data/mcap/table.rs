//! Messages of all topics as one table: a row for each time at which a topic has a message.

use super::super::mat::{Content, Variable};
use super::message::{Layout, Numbers};
use super::{Fault, Found, REMEDY};
use crate::{Error, Result};
use costate::memory;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// Stamps that are further from the times of recording, ns, are of another clock.
const ANOTHER_CLOCK: i64 = 60_000_000_000;

/// Columns of a topic.
#[derive(Default)]
struct Topic {
    name: String,
    /// Why there are none, if so.
    fault: Option<&'static str>,
    labels: Vec<String>,
    places: HashMap<String, usize>,
    columns: Vec<Vec<f64>>,
    /// Times of recording, and stamps in messages, ns; all have one, or it is dropped.
    logged: Vec<i64>,
    stamps: Option<Vec<i64>>,
    /// Places of the columns of messages like the last one, and what makes a message such.
    signature: Vec<u8>,
    order: Vec<usize>,
}

#[derive(Default)]
pub(super) struct Table {
    topics: Vec<Topic>,
    numbers: Numbers,
}

impl Table {
    /// The place of a topic; several channels may be of one.
    pub fn topic(&mut self, name: String, fault: Option<&'static str>) -> usize {
        if let Some(place) = self.topics.iter().position(|topic| topic.name == name) {
            return place;
        }
        self.topics.push(Topic { name, fault, stamps: Some(Vec::new()), ..Topic::default() });
        self.topics.len() - 1
    }

    pub fn add(&mut self, place: usize, layout: &Layout, data: &[u8], logged: i64) -> Found<()> {
        let Self { topics, numbers } = self;
        let topic = &mut topics[place];
        let read = |numbers: &mut Numbers, labels: Option<Vec<String>>| {
            numbers.values.clear();
            numbers.signature.clear();
            (numbers.labels, numbers.stamp) = (labels, None);
            layout.read(data, numbers)
        };
        let wrong = || Fault::Bytes(format!("a message of `{}` is not what its definition says", topic.name));
        read(numbers, None).ok_or_else(wrong)?;
        if topic.logged.is_empty() || numbers.signature != topic.signature {
            read(numbers, Some(Vec::new())).ok_or_else(wrong)?;
            topic.order.clear();
            for label in numbers.labels.take().unwrap_or_default() {
                let next = topic.columns.len();
                let at = *topic.places.entry(label.clone()).or_insert(next);
                if at == next {
                    topic.labels.push(label);
                    topic.columns.push(vec![f64::NAN; topic.logged.len()]);
                }
                topic.order.push(at);
            }
            topic.signature.clone_from(&numbers.signature);
        }
        let row = topic.logged.len();
        let size = 8.0 * (topic.columns.len() * (row + 1)) as f64;
        if row.is_power_of_two() {
            memory::check(|| format!("the columns of `{}`", topic.name), 4.0 * size, "record fewer topics, or a part")
                .map_err(Fault::Memory)?;
        }
        topic.columns.iter_mut().for_each(|column| column.push(f64::NAN));
        for (at, value) in topic.order.iter().zip(&numbers.values) {
            topic.columns[*at][row] = *value;
        }
        topic.logged.push(logged);
        match (numbers.stamp.filter(|stamp| *stamp != 0), &mut topic.stamps) {
            (Some(stamp), Some(stamps)) => stamps.push(stamp),
            (_, stamps) => *stamps = None,
        }
        Ok(())
    }

    /// Times and columns, and what is to be said of them.
    ///
    /// # Errors
    /// [`Error::File`] without any column.
    pub fn variables(self, path: &Path) -> Result<(Vec<Variable>, Vec<String>)> {
        let (topics, others): (Vec<Topic>, Vec<Topic>) =
            self.topics.into_iter().partition(|topic| topic.fault.is_none() && !topic.columns.is_empty());
        let why = |topic: &Topic| match (topic.fault, topic.logged.is_empty()) {
            (Some(fault), _) => fault,
            (None, true) => "without messages",
            (None, false) => "without numbers",
        };
        if topics.is_empty() {
            let all: Vec<String> = others.iter().map(|topic| format!("`{}` is {}", topic.name, why(topic))).collect();
            let there = if all.is_empty() { "there is no topic".to_string() } else { all.join(", ") };
            return Err(Error::file(path, None, format!("it holds no messages with numbers: {there}"), REMEDY));
        }
        let mut remarks = Vec::new();
        let by_stamps = clock(&topics, path, &mut remarks);
        // a row for each time, and the rows of each topic
        let times_of = |topic: &Topic| match &topic.stamps {
            Some(stamps) if by_stamps => stamps.clone(),
            _ => topic.logged.clone(),
        };
        let of_topics: Vec<Vec<i64>> = topics.iter().map(times_of).collect();
        let mut times: Vec<i64> = of_topics.iter().flatten().copied().collect();
        times.sort_unstable();
        times.dedup();
        let width: usize = topics.iter().map(|topic| topic.columns.len()).sum();
        let size = 16.0 * ((width + 1) * times.len()) as f64;
        memory::check(|| "the columns of the log".to_string(), size, "record fewer topics, or a part")?;
        let first = times[0]; // topics with columns have messages
        let number = |name: String, values: Vec<f64>| Variable {
            name,
            dims: vec![values.len(), 1],
            content: Content::Numbers(values),
        };
        let mut found = vec![number("t".into(), times.iter().map(|time| (time - first) as f64 * 1e-9).collect())];
        let mut seen = HashSet::from(["t"]);
        let twice: HashSet<&str> = topics
            .iter()
            .flat_map(|topic| &topic.labels)
            .map(String::as_str)
            .filter(|label| !seen.insert(*label))
            .collect();
        for (topic, own) in topics.iter().zip(&of_topics) {
            let rows: Vec<usize> = own.iter().map(|time| times.partition_point(|known| known < time)).collect();
            let repeated = rows.len() - rows.iter().collect::<HashSet<_>>().len();
            if repeated > 0 {
                let all = format!("{repeated} messages of `{}` have the time of another one", topic.name);
                remarks.push(format!("{}: {all}; the last one of each counts", path.display()));
            }
            for (label, column) in topic.labels.iter().zip(&topic.columns) {
                let mut values = vec![f64::NAN; times.len()];
                rows.iter().zip(column).for_each(|(row, value)| values[*row] = *value);
                let name = match twice.contains(label.as_str()) || label.is_empty() {
                    true => format!("{}_{label}", topic.name.trim_matches('/').replace('/', "_")),
                    false => label.clone(),
                };
                found.push(number(name.trim_end_matches('_').to_string(), values));
            }
        }
        let left = |topic: &Topic| format!("`{}` ({})", topic.name, why(topic));
        if !others.is_empty() {
            let all = others.iter().map(left).collect::<Vec<_>>().join(", ");
            remarks.push(format!("{}: no columns are made of the topics {all}", path.display()));
        }
        Ok((found, remarks))
    }
}

/// True if times are the stamps in messages, where these have any.
fn clock(topics: &[Topic], path: &Path, remarks: &mut Vec<String>) -> bool {
    let shown = path.display();
    let stamped: Vec<&Topic> = topics.iter().filter(|topic| topic.stamps.is_some()).collect();
    let names =
        |topics: &[&Topic]| topics.iter().map(|topic| format!("`{}`", topic.name)).collect::<Vec<_>>().join(", ");
    let is_far = |topic: &&Topic| {
        let stamps = topic.stamps.as_deref().unwrap_or_default();
        stamps.iter().zip(&topic.logged).any(|(stamp, logged)| stamp.abs_diff(*logged) > ANOTHER_CLOCK as u64)
    };
    if stamped.len() < topics.len() && stamped.iter().any(is_far) {
        let far: Vec<&Topic> = stamped.into_iter().filter(|topic| is_far(topic)).collect();
        let reason = format!("stamps of {} are of another clock, and other topics have none", names(&far));
        remarks.push(format!("{shown}: `t` are the times of recording, as {reason}"));
        return false;
    }
    let what = match stamped.len() {
        0 => "the times of recording; messages have no stamps".to_string(),
        count if count == topics.len() => "the stamps in the messages".to_string(),
        _ => format!("the stamps in the messages of {}, and the times of recording of other topics", names(&stamped)),
    };
    remarks.push(format!("{shown}: `t` are {what}, from the first one on"));
    true
}
