//! Messages of topics as columns: a row for each message of one topic.

use super::super::mat::{Content, Variable};
use super::message::{Layout, Numbers};
use super::{Fault, Found, REMEDY};
use crate::{Error, Result};
use costate::memory;
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// How much farther than messages two stamps may be apart, ns.
const JUMP: u64 = 60_000_000_000;
/// Stamps that are off by more from the recorder's clock, ns, are worth a word.
const OFF: u64 = 1_000_000_000;

/// Columns of the messages of one topic and one type.
#[derive(Default)]
struct Topic {
    name: String,
    /// What its messages are.
    kind: String,
    /// Why there are no columns, if so.
    fault: Option<&'static str>,
    labels: Vec<String>,
    places: HashMap<String, usize>,
    columns: Vec<Vec<f64>>,
    /// Times of recording, and stamps in messages, ns; all have one, or none counts.
    logged: Vec<i64>,
    stamps: Option<Vec<i64>>,
    /// Places of the columns of messages like the last one, and what makes a message such.
    signature: Vec<u8>,
    channel: u16,
    order: Vec<usize>,
    /// Messages that are not what their definition says.
    unread: usize,
    has_long: bool,
}

#[derive(Default)]
pub(super) struct Table {
    topics: Vec<Topic>,
    numbers: Numbers,
    /// When the first message was recorded, ns.
    first: Option<i64>,
}

impl Table {
    /// The place of a topic with messages of a type; several channels may be of one.
    pub fn topic(&mut self, name: String, kind: String, fault: Option<&'static str>) -> usize {
        let is_it = |topic: &Topic| topic.name == name && topic.kind == kind && topic.fault == fault;
        if let Some(place) = self.topics.iter().position(is_it) {
            return place;
        }
        self.topics.push(Topic { name, kind, fault, stamps: Some(Vec::new()), ..Topic::default() });
        self.topics.len() - 1
    }

    /// Takes the time of a message for the first one.
    pub fn begin(&mut self, logged: i64) {
        self.first = Some(self.first.map_or(logged, |first| first.min(logged)));
    }

    pub fn add(&mut self, place: usize, (channel, layout): (u16, &Layout), data: &[u8], logged: i64) -> Found<()> {
        let Self { topics, numbers, .. } = self;
        let topic = &mut topics[place];
        let read = |numbers: &mut Numbers, labels: Option<Vec<String>>| {
            *numbers = Numbers {
                values: std::mem::take(&mut numbers.values),
                signature: std::mem::take(&mut numbers.signature),
                labels,
                ..Numbers::default()
            };
            numbers.values.clear();
            numbers.signature.clear();
            layout.read(data, numbers)
        };
        if read(numbers, None).is_none() {
            topic.unread += 1;
            return Ok(());
        }
        let row = topic.logged.len();
        // channels of one topic may have definitions of their own
        if row == 0 || channel != topic.channel || numbers.signature != topic.signature {
            // as before, with names
            let _ = read(numbers, Some(Vec::new()));
            topic.order.clear();
            let mut own = HashSet::new();
            for mut label in numbers.labels.take().unwrap_or_default() {
                // two numbers of a message never are one column
                while !own.insert(label.clone()) {
                    label.push_str("_2");
                }
                let next = topic.columns.len();
                let at = *topic.places.entry(label.clone()).or_insert(next);
                if at == next {
                    let size = 16.0 * ((next + 1) * (row + 1)) as f64;
                    enough(&topic.name, size)?;
                    topic.labels.push(label);
                    topic.columns.push(vec![f64::NAN; row]);
                }
                topic.order.push(at);
            }
            topic.channel = channel;
            topic.signature.clone_from(&numbers.signature);
        }
        if row.is_power_of_two() {
            enough(&topic.name, 32.0 * (topic.columns.len() * row) as f64)?;
        }
        topic.columns.iter_mut().for_each(|column| column.push(f64::NAN));
        for (at, value) in topic.order.iter().zip(&numbers.values) {
            topic.columns[*at][row] = *value;
        }
        topic.has_long |= numbers.has_long;
        topic.logged.push(logged);
        match (numbers.stamp.filter(|stamp| *stamp != 0), &mut topic.stamps) {
            (Some(stamp), Some(stamps)) => stamps.push(stamp),
            (_, stamps) => *stamps = None,
        }
        Ok(())
    }

    /// Times and columns of a topic, and what is to be said of them: the one that is named, or else that of joint states, or the only one.
    ///
    /// # Errors
    /// [`Error::File`] without any column, without such a topic, and where none is named and several may be meant.
    pub fn variables(self, path: &Path, named: Option<&str>) -> Result<(Vec<Variable>, Vec<String>)> {
        let has_numbers = |topic: &Topic| topic.fault.is_none() && !topic.columns.is_empty();
        let refuse = |problem: String, remedy: &str| Err(Error::file(path, None, problem, remedy));
        let listed = |topics: &[&Topic]| -> String {
            let shown = topics.iter().take(12).map(|topic| topic.described()).collect::<Vec<_>>().join(", ");
            if topics.len() > 12 { format!("{shown}, and {} more", topics.len() - 12) } else { shown }
        };
        let all: Vec<&Topic> = self.topics.iter().collect();
        let (with, without): (Vec<&Topic>, Vec<&Topic>) = all.iter().partition(|topic| has_numbers(topic));
        if with.is_empty() {
            let there = if all.is_empty() { "there is no topic".to_string() } else { listed(&all) };
            return refuse(format!("it holds no messages with numbers: {there}"), REMEDY);
        }
        let is_state = |topic: &&&Topic| topic.kind.ends_with("/JointState");
        let mut meant: Vec<&Topic> = match named {
            Some(name) => with.iter().filter(|topic| topic.name == name).copied().collect(),
            None if with.len() > 1 => with.iter().filter(is_state).copied().collect(),
            None => with.clone(),
        };
        meant.sort_by_key(|topic| std::cmp::Reverse(topic.logged.len()));
        let own = match (&meant[..], named) {
            ([own], _) | ([own, ..], Some(_)) => *own,
            ([], Some(name)) => {
                let problem = format!("it holds no numbers of the topic `{name}`, but of {}", listed(&with));
                return refuse(problem, "name one of these behind the file's name: run.mcap#/joint_states");
            }
            _ => {
                let remedy = format!("name one behind the file's name: {}#{}", path.display(), with[0].name);
                return refuse(format!("several topics have numbers: {}", listed(&with)), &remedy);
            }
        };
        let (found, mut remarks) = own.variables(path, named.and(self.first));
        let left: Vec<&Topic> =
            with.iter().chain(&without).copied().filter(|topic| !std::ptr::eq(*topic, own)).collect();
        if !left.is_empty() {
            let (shown, left) = (path.display(), listed(&left));
            remarks.push(format!("{shown}: no columns are made of the topics {left}; others are named as FILE#TOPIC"));
        }
        Ok((found, remarks))
    }
}

fn enough(topic: &str, size: f64) -> Found<()> {
    memory::check(|| format!("the columns of `{topic}`"), size, "record a part of it").map_err(Fault::Memory)
}

impl Topic {
    fn described(&self) -> String {
        let why = match (self.fault, self.logged.len()) {
            (Some(fault), _) => fault.to_string(),
            (None, 0) if self.unread > 0 => "messages that are not what their definition says".to_string(),
            (None, 0) => "without messages".to_string(),
            (None, _) if self.columns.is_empty() => "without numbers".to_string(),
            (None, count) => format!("{count} messages of {}", if self.kind.is_empty() { "JSON" } else { &self.kind }),
        };
        format!("`{}` ({why})", self.name)
    }

    /// Rows in the order of their times, from the first one, or from `origin`, on.
    fn variables(&self, path: &Path, origin: Option<i64>) -> (Vec<Variable>, Vec<String>) {
        let (shown, name) = (path.display(), &self.name);
        let mut remarks = Vec::new();
        let own = self.times(path, &mut remarks);
        let mut times = own.to_vec();
        times.sort_unstable();
        times.dedup();
        let first = origin.unwrap_or(times[0]); // topics with columns have messages
        let number = |name: String, values: Vec<f64>| Variable {
            name,
            dims: vec![values.len(), 1],
            content: Content::Numbers(values),
        };
        let mut found = vec![number(
            "t".into(),
            times.iter().map(|time| (i128::from(*time) - i128::from(first)) as f64 * 1e-9).collect(),
        )];
        let rows: Vec<usize> = own.iter().map(|time| times.partition_point(|known| known < time)).collect();
        let mut twice = 0;
        let mut taken = HashSet::from(["t".to_string()]);
        for (label, column) in self.labels.iter().zip(&self.columns) {
            let mut values = vec![f64::NAN; times.len()];
            let mut changed = 0;
            for (row, value) in rows.iter().zip(column).filter(|(_, value)| !value.is_nan()) {
                changed += usize::from(!values[*row].is_nan() && values[*row] != *value);
                values[*row] = *value;
            }
            twice = twice.max(changed);
            let plain = if label.is_empty() { name.trim_matches('/').replace('/', "_") } else { label.clone() };
            let mut plain = plain.trim().replace(char::is_control, " ");
            while !taken.insert(plain.clone()) {
                plain.push_str("_2");
            }
            found.push(number(plain, values));
        }
        if twice > 0 {
            remarks.push(format!("{shown}: {twice} messages of `{name}` have the time of another one with other numbers; the last one of each counts"));
        }
        if self.unread > 0 {
            remarks.push(format!(
                "{shown}: {} messages of `{name}` are not what their definition says, and are left out",
                self.unread
            ));
        }
        if self.has_long {
            remarks.push(format!("{shown}: of `{name}`, arrays of more than 64 numbers make no columns"));
        }
        (found, remarks)
    }

    /// The stamps in messages where all have one and these go on as the messages do; or else the times of recording.
    fn times(&self, path: &Path, remarks: &mut Vec<String>) -> &[i64] {
        let (shown, name) = (path.display(), &self.name);
        let Some(stamps) = &self.stamps else {
            remarks.push(format!(
                "{shown}: `t` are the times at which messages of `{name}` were recorded: they have no stamps"
            ));
            return &self.logged;
        };
        let gaps = |times: &[i64]| times.windows(2).map(|pair| pair[1].abs_diff(pair[0])).max().unwrap_or(0);
        if gaps(stamps) > gaps(&self.logged).saturating_mul(10).saturating_add(JUMP) {
            remarks.push(format!(
                "{shown}: `t` are the times at which messages of `{name}` were recorded: their stamps jump"
            ));
            return &self.logged;
        }
        let mut apart: Vec<i64> =
            stamps.iter().zip(&self.logged).map(|(own, logged)| own.saturating_sub(*logged)).collect();
        apart.sort_unstable();
        let apart = apart[apart.len() / 2];
        let off = match apart.unsigned_abs() > OFF {
            true => format!(", which are {:.3} s from the recorder's clock", apart as f64 * 1e-9),
            false => String::new(),
        };
        remarks.push(format!("{shown}: `t` are the stamps in messages of `{name}`{off}"));
        stamps
    }
}
