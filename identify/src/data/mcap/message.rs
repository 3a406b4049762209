//! Numbers in messages: what is called how.

use super::definition::{Count, Definition, Definitions, Kind, Plain};
use serde_json::Value;

/// Arrays of more numbers are pictures, points or scans, not sensors.
const LONGEST: u64 = 64;
/// Messages within messages that are followed.
const DEEPEST: usize = 16;

/// How bytes follow each other.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Encoding {
    /// ROS 2: aligned, text ends with zero.
    Cdr,
    /// ROS 1: packed.
    Ros1,
}

/// How messages of a topic are read.
#[derive(Debug)]
pub(super) enum Layout {
    Defined(Definitions, Encoding),
    Json,
}

/// What a message holds.
#[derive(Debug, Default)]
pub(super) struct Numbers {
    pub values: Vec<f64>,
    /// What the values are called depends on this alone: lengths of arrays, and names in the message.
    pub signature: Vec<u8>,
    /// Names of the values, if they were asked for.
    pub labels: Option<Vec<String>>,
    /// The stamp in the message's header, ns.
    pub stamp: Option<i64>,
}

/// Where in a message something lies: fields on the way, and names that stand for numbers in arrays.
struct Place<'p> {
    outer: Option<&'p Place<'p>>,
    field: &'p str,
    element: Option<String>,
}

impl Place<'_> {
    /// `shoulder_position` of `position` of the element that is called `shoulder`.
    fn label(&self) -> String {
        let (mut elements, mut fields) = (Vec::new(), Vec::new());
        let mut at = Some(self);
        while let Some(place) = at {
            elements.extend(place.element.as_deref());
            fields.extend((!place.field.is_empty()).then_some(place.field));
            at = place.outer;
        }
        // numbers of elements stand behind, names before
        let (behind, before): (Vec<&str>, Vec<&str>) =
            elements.into_iter().rev().partition(|element| element.bytes().all(|byte| byte.is_ascii_digit()));
        let all = before.into_iter().chain(fields.into_iter().rev()).chain(behind);
        all.collect::<Vec<_>>().join("_")
    }
}

/// Fields that name the elements of the arrays beside them.
fn names_elements(field: &str) -> bool {
    ["name", "names", "joint_names", "interface_names"].contains(&field)
}

impl Numbers {
    fn push(&mut self, value: f64, place: &Place) {
        self.values.push(value);
        if let Some(labels) = &mut self.labels {
            labels.push(place.label());
        }
    }
}

impl Layout {
    /// Reads a message into `numbers`; `None` where its bytes are not what its definition says.
    pub fn read(&self, data: &[u8], numbers: &mut Numbers) -> Option<()> {
        match self {
            Self::Json => {
                let value: Value = serde_json::from_slice(data).ok()?;
                json(&value, &Place { outer: None, field: "", element: None }, &[], 0, numbers);
                Some(())
            }
            Self::Defined(definitions, encoding) => {
                let mut reader = Reader::new(data, *encoding)?;
                let own = definitions.0.first()?;
                let outer = Place { outer: None, field: "", element: None };
                definitions.message(own, &mut reader, &outer, &[], 0, Some(numbers))
            }
        }
    }
}

/// Bytes of a message.
struct Reader<'b> {
    bytes: &'b [u8],
    at: usize,
    /// The widest alignment, bytes.
    alignment: usize,
    is_big: bool,
    /// True where text ends with zero.
    has_zero: bool,
    /// Fields that may still be read: definitions may hold nothing a million times.
    left: usize,
}

impl<'b> Reader<'b> {
    fn new(data: &'b [u8], encoding: Encoding) -> Option<Self> {
        let left = 8 * data.len() + 10_000;
        match encoding {
            Encoding::Ros1 => Some(Self { bytes: data, at: 0, alignment: 1, is_big: false, has_zero: false, left }),
            Encoding::Cdr => {
                let (head, bytes) = data.split_at_checked(4)?;
                // plain CDR of versions 1 and 2, the highest byte first or last
                let (is_big, alignment) = match head[1] {
                    0 => (true, 8),
                    1 => (false, 8),
                    6 => (true, 4),
                    7 => (false, 4),
                    _ => return None,
                };
                Some(Self { bytes, at: 0, alignment, is_big, has_zero: true, left })
            }
        }
    }

    fn take(&mut self, count: u64) -> Option<&'b [u8]> {
        let own = self.bytes.get(self.at..)?.get(..usize::try_from(count).ok()?)?;
        self.at += own.len();
        Some(own)
    }

    fn number(&mut self, width: u64) -> Option<[u8; 8]> {
        let alignment = (width as usize).clamp(1, self.alignment);
        self.at = self.at.next_multiple_of(alignment);
        let mut own = [0; 8];
        let bytes = self.take(width)?;
        own[..bytes.len()].copy_from_slice(bytes);
        if self.is_big {
            own[..bytes.len()].reverse();
        }
        Some(own)
    }

    fn integer(&mut self, width: u64) -> Option<u64> {
        self.number(width).map(u64::from_le_bytes)
    }

    fn text(&mut self) -> Option<&'b [u8]> {
        let length = self.integer(4)?;
        let own = self.take(length)?;
        Some(if self.has_zero { own.strip_suffix(&[0]).unwrap_or(own) } else { own })
    }

    /// A point in time, ns.
    fn time(&mut self) -> Option<i64> {
        let seconds = i64::from(self.integer(4)? as u32 as i32);
        Some(seconds * 1_000_000_000 + self.integer(4)? as i64)
    }

    fn value(&mut self, plain: Plain) -> Option<f64> {
        Some(match plain {
            Plain::Bool => f64::from(u8::from(self.take(1)?[0] != 0)),
            Plain::Integer(width, false) => self.integer(width)? as f64,
            Plain::Integer(width, true) => {
                let unused = 64 - 8 * width as u32; // the sign goes on
                (((self.integer(width)? << unused) as i64) >> unused) as f64
            }
            Plain::Float(4) => f64::from(f32::from_bits(self.integer(4)? as u32)),
            Plain::Float(_) => f64::from_bits(self.integer(8)?),
            Plain::Text => {
                self.text()?;
                f64::NAN
            }
            Plain::Time => {
                self.time()?;
                f64::NAN
            }
        })
    }
}

impl Definitions {
    /// Reads a message; without `numbers`, it is passed over.
    fn message(
        &self,
        own: &Definition,
        reader: &mut Reader,
        place: &Place,
        names: &[String],
        depth: usize,
        mut numbers: Option<&mut Numbers>,
    ) -> Option<()> {
        if depth > DEEPEST {
            return None;
        }
        if own.fields.is_empty() && reader.has_zero {
            reader.take(1)?; // nothing takes a byte
        }
        let mut names = names.to_vec();
        for field in &own.fields {
            let count = match field.count {
                Count::One => 1,
                Count::Fixed(count) => count,
                Count::Counted => reader.integer(4)?,
            };
            let is_array = field.count != Count::One;
            if count > (reader.bytes.len() - reader.at.min(reader.bytes.len())) as u64 + 1 {
                return None;
            }
            reader.left = reader.left.checked_sub(1 + count as usize)?;
            let is_taken = !is_array || count <= LONGEST;
            if let (true, Count::Counted, Some(numbers)) = (is_taken, field.count, numbers.as_deref_mut()) {
                numbers.signature.push(count as u8);
            }
            if field.kind == Kind::Plain(Plain::Text) && is_array && names_elements(&field.name) && is_taken {
                names.clear();
                for _ in 0..count {
                    let name = reader.text()?;
                    names.push(String::from_utf8_lossy(name).into_owned());
                    if let Some(numbers) = numbers.as_deref_mut() {
                        numbers.signature.extend(name);
                        numbers.signature.push(0);
                    }
                }
                continue;
            }
            for k in 0..count {
                let element = match is_array {
                    false => None,
                    true if names.len() as u64 == count => Some(names[k as usize].clone()),
                    true => Some((k + 1).to_string()),
                };
                let inner = Place { outer: Some(place), field: &field.name, element };
                let into = numbers.as_deref_mut().filter(|_| is_taken);
                let is_time = match field.kind {
                    Kind::Plain(plain) => plain == Plain::Time,
                    Kind::Message(at) => self.0.get(at)?.is_time(),
                };
                match (field.kind, into) {
                    _ if is_time => {
                        let stamp = reader.time()?;
                        if let (Some(numbers), true) = (numbers.as_deref_mut(), own.is_header() && depth == 1) {
                            numbers.stamp = Some(stamp);
                        }
                    }
                    (Kind::Plain(plain), into) => {
                        let value = reader.value(plain)?;
                        let counts = plain != Plain::Text && !own.is_header();
                        if let (Some(numbers), true) = (into, counts) {
                            numbers.push(value, &inner);
                        }
                    }
                    (Kind::Message(at), into) => {
                        self.message(self.0.get(at)?, reader, &inner, &names, depth + 1, into)?;
                    }
                }
            }
        }
        Some(())
    }
}

/// Numbers in a message of JSON; text, and what is missing, are none.
fn json(value: &Value, place: &Place, names: &[String], depth: usize, numbers: &mut Numbers) {
    if depth > DEEPEST {
        return;
    }
    // the shape decides what numbers are called
    let mut sign = |letter: u8, bytes: &[u8]| {
        numbers.signature.push(letter);
        numbers.signature.extend(bytes);
    };
    match value {
        Value::Number(number) => {
            sign(b'n', &[]);
            numbers.push(number.as_f64().unwrap_or(f64::NAN), place);
        }
        Value::Bool(on) => {
            sign(b'n', &[]);
            numbers.push(f64::from(u8::from(*on)), place);
        }
        Value::Array(all) if all.len() as u64 <= LONGEST => {
            sign(b'a', &[all.len() as u8]);
            for (k, own) in all.iter().enumerate() {
                let name = if names.len() == all.len() { names[k].clone() } else { (k + 1).to_string() };
                let inner = Place { outer: Some(place), field: "", element: Some(name) };
                json(own, &inner, names, depth + 1, numbers);
            }
        }
        Value::Object(fields) => {
            let is_time = fields.contains_key("sec") && (fields.contains_key("nsec") || fields.contains_key("nanosec"));
            if is_time {
                return;
            }
            let list =
                |own: &Value| Some(own.as_array()?.iter().filter_map(Value::as_str).map(str::to_string).collect());
            let own = fields.iter().filter(|(name, _)| names_elements(name)).find_map(|(_, own)| list(own));
            let names: Vec<String> = own.filter(|own: &Vec<String>| !own.is_empty()).unwrap_or_else(|| names.to_vec());
            names.iter().for_each(|name| sign(b's', name.as_bytes()));
            for (name, own) in fields {
                numbers.signature.push(b'f');
                numbers.signature.extend(name.as_bytes());
                let inner = Place { outer: Some(place), field: name, element: None };
                json(own, &inner, &names, depth + 1, numbers);
            }
        }
        _ => sign(b'x', &[]),
    }
}
