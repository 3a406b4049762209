//! Logs of robots in MCAP files (mcap.dev, version 0) as records: numbers in messages of ROS 2, ROS 1 and JSON are columns.
//!
//! The crate `mcap` 0.26 brings some thirty crates, and C code for what is compressed; a container of records takes fewer lines than its glue. Decompression is
//! left to `ruzstd` and `lz4_flex`.

mod definition;
mod message;
mod table;

use super::Record;
use super::mat::columns;
use crate::{Error, Result};
use costate::memory;
use definition::Definitions;
use flate2::Crc;
use message::{Encoding, Layout};
use std::collections::HashMap;
use std::io::Read;
use std::path::Path;
use table::Table;

const MAGIC: &[u8] = b"\x89MCAP0\r\n";

/// Kinds of records that are read.
const SCHEMA: u8 = 3;
const CHANNEL: u8 = 4;
const MESSAGE: u8 = 5;
const CHUNK: u8 = 6;
const DATA_END: u8 = 15;

const REMEDY: &str = "record topics of joint states, or of other messages with numbers, from ROS or as JSON; or write columns to a CSV file";

/// True if a file is meant as one of MCAP: by its name, or by how it begins.
pub(super) fn is_meant(bytes: &[u8], path: &Path) -> bool {
    let named = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("mcap"));
    named || topic_of(path).is_some() || bytes.starts_with(b"\x89MCAP")
}

/// What separates a log from the topic that is meant, `run.mcap#/joint_states`.
const BEHIND: &str = ".mcap#";

/// The topic behind a log's name.
fn topic_of(path: &Path) -> Option<&str> {
    path.to_str()?.split_once(BEHIND).map(|(_, topic)| topic)
}

/// The file, without the topic in it.
pub(super) fn file_of(path: &Path) -> &Path {
    match path.to_str().and_then(|text| text.split_once(BEHIND).map(|(file, _)| &text[..file.len() + BEHIND.len() - 1]))
    {
        Some(file) if !path.is_file() => Path::new(file),
        _ => path,
    }
}

/// The record in a log; NaN where a topic has no message at a time of another one.
///
/// # Errors
/// [`Error::File`] for what is no such file, is damaged, or holds no messages with numbers; [`costate::Error::Memory`].
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Record> {
    let refuse = |problem: String| Err(Error::file(path, None, problem, REMEDY));
    let Some(records) = bytes.strip_prefix(MAGIC) else {
        return match bytes.starts_with(b"\x89MCAP") {
            true => refuse("it is an MCAP file of a version that is not known; version 0 is".to_string()),
            false => refuse("it is no MCAP file".to_string()),
        };
    };
    let mut log = Log::default();
    let end = log.records(records, false).map_err(|fault| match fault {
        Fault::Bytes(problem) => {
            let remedy = "copy the file again, or repair it: `mcap recover FILE`";
            Error::file(path, None, format!("the file is damaged: {problem}"), remedy)
        }
        Fault::Memory(error) => error.into(),
    })?;
    let named = topic_of(path);
    let mut remarks = Vec::new();
    if let End::CutShort = end {
        remarks.push(format!("{}: the file was cut short; what stands before is read", path.display()));
    }
    let (found, said) = log.table.variables(path, named)?;
    remarks.extend(said);
    let mut record = columns(found, path, REMEDY.to_string())?;
    record.remarks.splice(0..0, remarks);
    Ok(record)
}

/// Fault of the bytes; or memory does not suffice.
enum Fault {
    Bytes(String),
    Memory(costate::Error),
}

type Found<T> = std::result::Result<T, Fault>;

fn damaged<T>(problem: impl Into<String>) -> Found<T> {
    Err(Fault::Bytes(problem.into()))
}

/// Bytes that are read from front to back, numbers with the lowest byte first.
#[derive(Clone, Copy)]
struct Bytes<'b>(&'b [u8]);

impl<'b> Bytes<'b> {
    fn take(&mut self, count: u64) -> Option<&'b [u8]> {
        let (own, rest) = self.0.split_at_checked(usize::try_from(count).ok()?)?;
        self.0 = rest;
        Some(own)
    }

    fn number(&mut self, width: u64) -> Option<u64> {
        Some(self.take(width)?.iter().rev().fold(0, |sum, byte| (sum << 8) | u64::from(*byte)))
    }

    fn text(&mut self) -> Option<String> {
        let length = self.number(4)?;
        Some(String::from_utf8_lossy(self.take(length)?).into_owned())
    }
}

/// How a sequence of records ends.
enum End {
    Complete,
    CutShort,
}

/// What is known of a log while it is read.
#[derive(Default)]
struct Log {
    /// Names, encodings and texts.
    schemas: HashMap<u16, (String, String, Vec<u8>)>,
    /// Places of channels in the table, and layouts of their messages.
    channels: HashMap<u16, (usize, Option<Layout>)>,
    table: Table,
}

impl Log {
    /// Reads records one after the other: those of a file, or those in a chunk.
    fn records(&mut self, bytes: &[u8], in_chunk: bool) -> Found<End> {
        let mut rest = Bytes(bytes);
        while !rest.0.is_empty() {
            let head = rest.number(1).zip(rest.number(8));
            let Some((kind, content)) = head.and_then(|(kind, length)| Some((kind as u8, rest.take(length)?))) else {
                return Ok(End::CutShort);
            };
            let mut content = Bytes(content);
            let short = || Fault::Bytes(format!("a record of kind {kind} is too short for what it must hold"));
            match kind {
                SCHEMA => self.schema(&mut content).ok_or_else(short)?,
                CHANNEL => self.channel(&mut content).ok_or_else(short)?,
                MESSAGE => self.message(&mut content).ok_or_else(short)??,
                CHUNK if in_chunk => return damaged("a chunk lies in another one"),
                CHUNK => self.chunk(&mut content).ok_or_else(short)??,
                // what follows is summary
                DATA_END => return Ok(End::Complete),
                _ => {}
            }
        }
        // of a file, the data's end was not there
        Ok(if in_chunk { End::Complete } else { End::CutShort })
    }

    fn schema(&mut self, content: &mut Bytes) -> Option<()> {
        let id = content.number(2)? as u16;
        let (name, encoding) = (content.text()?, content.text()?);
        let length = content.number(4)?;
        self.schemas.insert(id, (name, encoding, content.take(length)?.to_vec()));
        Some(())
    }

    fn channel(&mut self, content: &mut Bytes) -> Option<()> {
        let (id, schema) = (content.number(2)? as u16, content.number(2)? as u16);
        let (topic, encoding) = (content.text()?, content.text()?);
        if self.channels.contains_key(&id) {
            return Some(()); // chunks repeat what they need
        }
        let (name, kind, text) = self.schemas.get(&schema).cloned().unwrap_or_default();
        let by_definitions = |encoding| {
            let definitions = Definitions::parse(&name, &String::from_utf8_lossy(&text), encoding)?;
            Ok(Layout::Defined(definitions, encoding))
        };
        let layout = match (encoding.as_str(), kind.as_str()) {
            // lines of programs' own logs: their numbers are no measurements
            _ if ["rcl_interfaces/msg/Log", "rosgraph_msgs/Log", "foxglove.Log"].contains(&name.as_str()) => {
                Err("lines of text")
            }
            ("cdr", "ros2msg") => by_definitions(Encoding::Cdr),
            ("ros1", "ros1msg") => by_definitions(Encoding::Ros1),
            ("json", _) => Ok(Layout::Json),
            ("cdr", "ros2idl") => Err("described by IDL, which is not read"),
            ("cdr" | "ros1", _) => Err("messages without a definition"),
            ("protobuf", _) => Err("messages of protobuf, which are not read"),
            ("flatbuffer", _) => Err("messages of flatbuffers, which are not read"),
            ("cbor", _) => Err("messages of CBOR, which are not read"),
            _ => Err("messages of an encoding that is not read"),
        };
        let place = self.table.topic(topic, name, layout.as_ref().err().copied());
        self.channels.insert(id, (place, layout.ok()));
        Some(())
    }

    fn message(&mut self, content: &mut Bytes) -> Option<Found<()>> {
        let id = content.number(2)? as u16;
        let _sequence = content.number(4)?;
        let (logged, _published) = (content.number(8)?, content.number(8)?);
        let Some((place, layout)) = self.channels.get(&id) else {
            return Some(damaged(format!("there is a message of channel {id}, but no such channel before it")));
        };
        self.table.begin(logged as i64);
        let Some(layout) = layout else { return Some(Ok(())) };
        Some(self.table.add(*place, (id, layout), content.0, logged as i64))
    }

    fn chunk(&mut self, content: &mut Bytes) -> Option<Found<()>> {
        let _times = (content.number(8)?, content.number(8)?);
        let (size, sum) = (content.number(8)?, content.number(4)? as u32);
        let compression = content.text()?;
        let length = content.number(8)?;
        let packed = content.take(length)?;
        Some(self.packed(packed, &compression, size, sum))
    }

    fn packed(&mut self, packed: &[u8], compression: &str, size: u64, sum: u32) -> Found<()> {
        memory::check(|| "a chunk of the log".to_string(), size as f64, "record with smaller chunks")
            .map_err(Fault::Memory)?;
        let is_read = match compression {
            "" => Some(packed.to_vec()),
            "lz4" | "zstd" => unpack(packed, compression == "zstd", size),
            other => {
                return damaged(format!("a chunk is compressed by `{}`, which is not known", super::shorten(other)));
            }
        };
        let Some(all) = is_read else { return damaged("a chunk cannot be decompressed") };
        let mut own = Crc::new();
        own.update(&all);
        if all.len() as u64 != size || (sum != 0 && own.sum() != sum) {
            return damaged("a chunk is not what was recorded");
        }
        match self.records(&all, true)? {
            End::Complete => Ok(()),
            End::CutShort => damaged("a chunk ends within a record"),
        }
    }
}

/// Frames of zstd or lz4, one after the other, up to one byte more than there may be.
fn unpack(packed: &[u8], is_zstd: bool, size: u64) -> Option<Vec<u8>> {
    let (mut rest, mut all) = (packed, Vec::new());
    while !rest.is_empty() && all.len() as u64 <= size {
        let magic = u32::from_le_bytes(*rest.first_chunk()?);
        if magic & 0xffff_fff0 == 0x184d_2a50 {
            // a frame that says nothing
            let length = u32::from_le_bytes(*rest[4..].first_chunk()?);
            rest = rest[8..].get(length as usize..)?;
            continue;
        }
        let (before, most) = (rest.len(), size + 1 - all.len() as u64);
        match is_zstd {
            true => ruzstd::decoding::StreamingDecoder::new(&mut rest).ok()?.take(most).read_to_end(&mut all).ok()?,
            false => lz4_flex::frame::FrameDecoder::new(&mut rest).take(most).read_to_end(&mut all).ok()?,
        };
        if rest.len() == before {
            return None;
        }
    }
    Some(all)
}
