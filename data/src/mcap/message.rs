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
    /// True if an array was too long for columns.
    pub has_long: bool,
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

/// Fields that name the element of an array that they are in.
fn names_its_element(field: &str) -> bool {
    ["name", "joint_name", "child_frame_id"].contains(&field)
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
                let value: Value = match serde_json::from_slice(data) {
                    Ok(value) => value,
                    Err(_) => serde_json::from_str(&without_nan(std::str::from_utf8(data).ok()?)).ok()?,
                };
                json(&value, &Place { outer: None, field: "", element: None }, &[], 0, numbers);
                Some(())
            }
            Self::Defined(definitions, encoding) => {
                let mut reader = Reader::new(data, *encoding)?;
                let own = definitions.0.first()?;
                let outer = Place { outer: None, field: "", element: None };
                definitions.message(own, &mut reader, &outer, &[], 0, Some(numbers))?;
                // padding may follow
                let rest = reader.bytes.len().saturating_sub(reader.at);
                (rest <= if reader.has_zero { 7 } else { 0 }).then_some(())
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
                // plain CDR, the highest byte first or last; others have heads within
                let is_big = match head[1] {
                    0 => true,
                    1 => false,
                    _ => return None,
                };
                Some(Self { bytes, at: 0, alignment: 8, is_big, has_zero: true, left })
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
        let mut renamed: Option<String> = None;
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
            if let (true, Some(numbers)) = (is_array, numbers.as_deref_mut()) {
                numbers.signature.push(count.min(255) as u8);
                numbers.has_long |= !is_taken && field.kind != Kind::Plain(Plain::Text);
            }
            let named = renamed.as_ref().map(|name| Place {
                outer: place.outer,
                field: place.field,
                element: Some(name.clone()),
            });
            let place = named.as_ref().unwrap_or(place);
            // arrays of a number that is known beforehand stand beside no names, nor do points of a trajectory
            let has_names = field.count == Count::Counted && names.len() as u64 == count && field.name != "points";
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
            let is_text = field.kind == Kind::Plain(Plain::Text);
            if is_text && !is_array && place.element.is_some() && names_its_element(&field.name) {
                let name = reader.text()?;
                if let Some(numbers) = numbers.as_deref_mut() {
                    numbers.signature.extend(name);
                    numbers.signature.push(0);
                }
                renamed = Some(String::from_utf8_lossy(name).into_owned());
                continue;
            }
            for k in 0..count {
                let element = match is_array {
                    false => None,
                    true if has_names => Some(names[k as usize].clone()),
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
                            numbers.stamp.get_or_insert(stamp);
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
                let has_names = names.len() == all.len() && place.field != "points";
                let name = if has_names { names[k].clone() } else { (k + 1).to_string() };
                let inner = Place { outer: Some(place), field: "", element: Some(name) };
                json(own, &inner, names, depth + 1, numbers);
            }
        }
        Value::Object(fields) => {
            let part = |key: &str| fields.get(key).and_then(Value::as_i64);
            if let (2, Some(seconds), Some(rest)) = (fields.len(), part("sec"), part("nsec").or(part("nanosec"))) {
                let outer = place.outer.map_or("", |outer| outer.field);
                let is_stamp = (depth == 1 && place.field == "timestamp")
                    || (depth == 2 && (outer, place.field) == ("header", "stamp"));
                if is_stamp {
                    numbers.stamp.get_or_insert(seconds.saturating_mul(1_000_000_000).saturating_add(rest));
                }
                return;
            }
            let list =
                |own: &Value| Some(own.as_array()?.iter().filter_map(Value::as_str).map(str::to_string).collect());
            let own = fields.iter().filter(|(name, _)| names_elements(name)).find_map(|(_, own)| list(own));
            let names: Vec<String> = own.filter(|own: &Vec<String>| !own.is_empty()).unwrap_or_else(|| names.to_vec());
            let own = fields.iter().filter(|(name, _)| names_its_element(name)).find_map(|(_, own)| own.as_str());
            let own = own.filter(|_| place.element.is_some());
            for name in names.iter().map(String::as_str).chain(own) {
                sign(b's', name.as_bytes());
                sign(0, &[]);
            }
            let renamed = own.map(|name| Place { outer: place.outer, field: place.field, element: Some(name.into()) });
            let place = renamed.as_ref().unwrap_or(place);
            for (name, own) in fields {
                numbers.signature.push(b'f');
                numbers.signature.extend(name.as_bytes());
                numbers.signature.push(0);
                let inner = Place { outer: Some(place), field: name, element: None };
                json(own, &inner, &names, depth + 1, numbers);
            }
        }
        Value::Array(_) => {
            sign(b'l', &[]);
            numbers.has_long = true;
        }
        _ => sign(b'x', &[]),
    }
}

/// JSON whose numbers may be NaN or infinite, as Python writes them: nothing there.
fn without_nan(text: &str) -> String {
    let (mut out, mut rest, mut is_quoted) = (String::with_capacity(text.len()), text, false);
    while let Some(letter) = rest.chars().next() {
        let word = ["NaN", "-Infinity", "Infinity"].into_iter().find(|word| !is_quoted && rest.starts_with(word));
        if let Some(word) = word {
            out.push_str("null");
            rest = &rest[word.len()..];
            continue;
        }
        out.push(letter);
        rest = &rest[letter.len_utf8()..];
        match letter {
            '"' => is_quoted = !is_quoted,
            '\\' if is_quoted => {
                let Some(next) = rest.chars().next() else { break };
                out.push(next);
                rest = &rest[next.len_utf8()..];
            }
            _ => {}
        }
    }
    out
}
