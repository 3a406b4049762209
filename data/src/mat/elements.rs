//! The bytes of MATLAB files of version 5, which `save` writes with `-v6` and, compressed, with `-v7`, as variables ("MAT-File Format", The
//! MathWorks, chapter 1). Nothing in them is taken for granted: what does not add up is an error.

use costate::memory;
use flate2::read::ZlibDecoder;
use std::io::Read;

/// A variable of the workspace that was saved.
#[derive(Debug)]
pub(crate) struct Variable {
    pub name: String,
    /// Rows, columns, and perhaps more.
    pub dims: Vec<usize>,
    pub content: Content,
}

#[derive(Debug)]
pub(crate) enum Content {
    /// Real numbers, column by column.
    Numbers(Vec<f64>),
    /// Content that is no array of real numbers, in words.
    Other(&'static str),
}

/// Fault of the bytes; or memory does not suffice.
pub(super) enum Fault {
    Bytes(String),
    Memory(crate::Error),
}

type Found<T> = std::result::Result<T, Fault>;

fn damaged<T>(what: impl Into<String>) -> Found<T> {
    Err(Fault::Bytes(what.into()))
}

/// Kinds of elements.
const INT8: u32 = 1;
const UINT8: u32 = 2;
const INT16: u32 = 3;
const UINT16: u32 = 4;
const INT32: u32 = 5;
const UINT32: u32 = 6;
const SINGLE: u32 = 7;
const DOUBLE: u32 = 9;
const INT64: u32 = 12;
const UINT64: u32 = 13;
const MATRIX: u32 = 14;
const COMPRESSED: u32 = 15;

/// The class of objects that have no dimensions of their own.
const OPAQUE: u32 = 17;

/// A flag of complex numbers.
const COMPLEX: u32 = 0x0800;

/// Bytes that are left to be read.
struct Bytes<'a> {
    rest: &'a [u8],
    big_endian: bool,
}

impl<'a> Bytes<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        Some(taken)
    }

    fn word(&mut self) -> Option<u32> {
        let bytes = self.take(4)?.try_into().ok()?;
        Some(if self.big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) })
    }

    /// Kind and bytes of an element within a variable, which ends at a multiple of 8.
    fn element(&mut self) -> Option<(u32, &'a [u8])> {
        let first = self.word()?;
        // up to four bytes stand in the place of their number
        if first >> 16 != 0 {
            let four = self.take(4)?;
            return Some((first & 0xffff, four.get(..(first >> 16) as usize)?));
        }
        let count = self.word()? as usize;
        let bytes = self.take(count)?;
        // some programs leave out what fills up the last one
        self.take((count.wrapping_neg() % 8).min(self.rest.len()));
        Some((first, bytes))
    }
}

/// The variables behind the header of 128 bytes, in their order.
pub(super) fn variables(bytes: &[u8], big_endian: bool) -> Found<Vec<Variable>> {
    let mut bytes = Bytes { rest: bytes, big_endian };
    let mut found = Vec::new();
    while bytes.rest.iter().any(|byte| *byte != 0) {
        let number = found.len() + 1;
        let ends = || Fault::Bytes(format!("the file ends in the middle of its variable {number}"));
        let kind = bytes.word().ok_or_else(ends)?;
        let count = bytes.word().ok_or_else(ends)? as usize;
        let own = bytes.take(count).ok_or_else(ends)?;
        let variable = match kind {
            MATRIX => variable(own, big_endian),
            COMPRESSED => variable(&inflated(own, big_endian)?, big_endian),
            _ => return damaged(format!("variable {number} is an element of kind {kind}, which is none")),
        };
        found.push(variable?);
    }
    Ok(found)
}

/// Content of a compressed variable behind its kind and its number of bytes.
fn inflated(bytes: &[u8], big_endian: bool) -> Found<Vec<u8>> {
    let wrong = |_| Fault::Bytes("a compressed variable cannot be read".to_string());
    let mut stream = ZlibDecoder::new(bytes);
    let mut head = [0; 8];
    stream.read_exact(&mut head).map_err(wrong)?;
    let mut tag = Bytes { rest: &head, big_endian };
    let (Some(MATRIX), Some(count)) = (tag.word(), tag.word()) else {
        return damaged("what was compressed is no variable");
    };
    check_memory(f64::from(count))?;
    let mut all = Vec::new();
    stream.by_ref().take(u64::from(count)).read_to_end(&mut all).map_err(wrong)?;
    // at the end of the stream, its checksum is compared
    if all.len() != count as usize || stream.read(&mut [0]).map_err(wrong)? != 0 {
        return damaged(format!("a compressed variable has {} bytes in the place of {count}", all.len()));
    }
    Ok(all)
}

fn check_memory(bytes: f64) -> Found<()> {
    let checked = memory::check(|| "a variable of a MATLAB file".to_string(), bytes, "save a part of it");
    checked.map_err(|error| Fault::Memory(error.into()))
}

fn variable(bytes: &[u8], big_endian: bool) -> Found<Variable> {
    let mut bytes = Bytes { rest: bytes, big_endian };
    let no_head = || Fault::Bytes("a variable has no class, size and name".to_string());
    let (_, flags) = bytes.element().ok_or_else(no_head)?;
    let flags = Bytes { rest: flags, big_endian }.word().ok_or_else(no_head)?;
    let class = flags & 0xff;
    let dims = match class {
        OPAQUE => Vec::new(),
        _ => dims(bytes.element().ok_or_else(no_head)?, big_endian).ok_or_else(no_head)?,
    };
    let (_, name) = bytes.element().ok_or_else(no_head)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let content = match class {
        1 => Content::Other("a cell array"),
        2 => Content::Other("a struct"),
        4 => Content::Other("text"),
        5 => Content::Other("a sparse matrix"),
        6..=15 if flags & COMPLEX != 0 => Content::Other("complex"),
        6..=15 => Content::Numbers(real_part(&mut bytes, &dims, &name)?),
        16 => Content::Other("a function"),
        _ => Content::Other("an object (a table, a timeseries or the like)"),
    };
    Ok(Variable { name, dims, content })
}

fn dims((kind, bytes): (u32, &[u8]), big_endian: bool) -> Option<Vec<usize>> {
    let mut rest = Bytes { rest: bytes, big_endian };
    let count = bytes.len() / 4;
    let dims: Option<Vec<usize>> = (0..count).map(|_| i32::try_from(rest.word()?).ok()?.try_into().ok()).collect();
    dims.filter(|dims| dims.len() >= 2 && (kind == INT32 || kind == UINT32))
}

fn real_part(bytes: &mut Bytes<'_>, dims: &[usize], name: &str) -> Found<Vec<f64>> {
    let count = dims.iter().try_fold(1usize, |product, n| product.checked_mul(*n));
    let values = match bytes.element() {
        Some((kind, own)) => {
            check_memory(8.0 * own.len() as f64)?;
            numbers(kind, own, bytes.big_endian)
        }
        // nothing need be written of what is empty
        None if count == Some(0) => Some(Vec::new()),
        None => None,
    };
    match (values, count) {
        (Some(values), Some(count)) if values.len() == count => Ok(values),
        _ => damaged(format!("the numbers of variable `{name}` are not all there")),
    }
}

/// Numbers as they are stored, which may take fewer bytes than their class.
fn numbers(kind: u32, bytes: &[u8], big_endian: bool) -> Option<Vec<f64>> {
    macro_rules! read {
        ($number:ty) => {{
            let (pieces, []) = bytes.as_chunks::<{ size_of::<$number>() }>() else { return None };
            let number = |bytes: &[u8; size_of::<$number>()]| match big_endian {
                true => <$number>::from_be_bytes(*bytes) as f64,
                false => <$number>::from_le_bytes(*bytes) as f64,
            };
            Some(pieces.iter().map(number).collect())
        }};
    }
    match kind {
        INT8 => read!(i8),
        UINT8 => read!(u8),
        INT16 => read!(i16),
        UINT16 => read!(u16),
        INT32 => read!(i32),
        UINT32 => read!(u32),
        INT64 => read!(i64),
        UINT64 => read!(u64),
        SINGLE => read!(f32),
        DOUBLE => read!(f64),
        _ => None,
    }
}
