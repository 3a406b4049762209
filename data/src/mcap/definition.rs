//! Definitions of messages of ROS, as they stand in a log: the message's own fields, then those of the messages in it.

use super::message::Encoding;

/// A type that has no fields.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Plain {
    Bool,
    /// Integers, by width in bytes and sign.
    Integer(u64, bool),
    Float(u64),
    Text,
    /// Times and durations of ROS 1: two integers.
    Time,
}

/// What a field holds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Kind {
    Plain(Plain),
    /// The place of a definition.
    Message(usize),
}

/// How many of it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Count {
    One,
    /// As many in each message.
    Fixed(u64),
    /// The number stands before them.
    Counted,
}

#[derive(Debug)]
pub(super) struct Field {
    pub name: String,
    pub kind: Kind,
    pub count: Count,
}

/// A message, and those that it holds. The first one is the message's own.
#[derive(Debug)]
pub(super) struct Definitions(pub Vec<Definition>);

#[derive(Debug)]
pub(super) struct Definition {
    /// `PACKAGE/NAME`, without `msg` between.
    name: String,
    pub fields: Vec<Field>,
}

impl Definition {
    /// True for points in time and durations, whose numbers are no measurements.
    pub fn is_time(&self) -> bool {
        ["builtin_interfaces/Time", "builtin_interfaces/Duration"].contains(&self.name.as_str())
    }

    /// True for the stamp that messages begin with.
    pub fn is_header(&self) -> bool {
        self.name == "std_msgs/Header"
    }
}

impl Definitions {
    /// Reads the text of a schema.
    ///
    /// # Errors
    /// What the messages are, in words, where their definition is not understood.
    pub fn parse(name: &str, text: &str, encoding: Encoding) -> Result<Self, &'static str> {
        let mut texts = vec![(short(name), Vec::new())];
        let mut is_next = false;
        for line in text.lines() {
            let line = line.trim_end();
            if line.len() >= 80 && line.bytes().all(|byte| byte == b'=') {
                is_next = true;
            } else if is_next {
                let name = line.strip_prefix("MSG:").ok_or(UNCLEAR)?;
                texts.push((short(name.trim()), Vec::new()));
                is_next = false;
            } else if let Some((_, lines)) = texts.last_mut() {
                lines.push(line);
            }
        }
        let names: Vec<String> = texts.iter().map(|(name, _)| name.clone()).collect();
        let one = |(name, lines): (String, Vec<&str>)| {
            let package = name.split('/').next().unwrap_or_default().to_string();
            let fields = lines.iter().filter_map(|line| field(line, &package, &names, encoding).transpose());
            Ok(Definition { fields: fields.collect::<Result<_, _>>()?, name })
        };
        texts.into_iter().map(one).collect::<Result<_, _>>().map(Self)
    }
}

const UNCLEAR: &str = "messages whose definition is not understood";

/// `PACKAGE/NAME` of `PACKAGE/msg/NAME`.
fn short(name: &str) -> String {
    name.replace("/msg/", "/")
}

/// A line of a definition: a field, or nothing (a constant, a comment).
fn field(line: &str, package: &str, names: &[String], encoding: Encoding) -> Result<Option<Field>, &'static str> {
    let line = line.split('#').next().unwrap_or_default().trim();
    let Some((kind, rest)) = line.split_once(char::is_whitespace) else {
        return if line.is_empty() { Ok(None) } else { Err(UNCLEAR) };
    };
    let rest = rest.trim_start();
    let end = rest.find(|letter: char| !(letter.is_alphanumeric() || letter == '_')).unwrap_or(rest.len());
    let (name, behind) = rest.split_at(end);
    if behind.trim_start().starts_with('=') {
        return Ok(None); // a constant
    }
    if name.is_empty() {
        return Err(UNCLEAR);
    }
    let (base, count) = match kind.split_once('[') {
        None => (kind, Count::One),
        Some((base, size)) => match size.strip_suffix(']').ok_or(UNCLEAR)? {
            size if size.is_empty() || size.starts_with("<=") => (base, Count::Counted),
            size => (base, Count::Fixed(size.parse().map_err(|_| UNCLEAR)?)),
        },
    };
    let base = base.split("<=").next().unwrap_or_default();
    let kind = match base {
        "bool" => Kind::Plain(Plain::Bool),
        "int8" => Kind::Plain(Plain::Integer(1, true)),
        // of ROS 1, another word for int8
        "byte" if encoding == Encoding::Ros1 => Kind::Plain(Plain::Integer(1, true)),
        "uint8" | "char" | "byte" => Kind::Plain(Plain::Integer(1, false)),
        "int16" => Kind::Plain(Plain::Integer(2, true)),
        "uint16" => Kind::Plain(Plain::Integer(2, false)),
        "int32" => Kind::Plain(Plain::Integer(4, true)),
        "uint32" => Kind::Plain(Plain::Integer(4, false)),
        "int64" => Kind::Plain(Plain::Integer(8, true)),
        "uint64" => Kind::Plain(Plain::Integer(8, false)),
        "float32" => Kind::Plain(Plain::Float(4)),
        "float64" => Kind::Plain(Plain::Float(8)),
        "string" => Kind::Plain(Plain::Text),
        "time" | "duration" if encoding == Encoding::Ros1 => Kind::Plain(Plain::Time),
        "wstring" => return Err("messages with wide characters, which are not read"),
        other => {
            let own = short(other);
            let mut all = [own.clone(), format!("{package}/{own}"), format!("std_msgs/{own}")];
            if encoding == Encoding::Ros1 && own == "Header" {
                all.swap(1, 2); // always that of std_msgs
            }
            let place = all.iter().find_map(|name| names.iter().position(|known| known == name));
            Kind::Message(place.ok_or(UNCLEAR)?)
        }
    };
    Ok(Some(Field { name: name.to_string(), kind, count }))
}
