//! Files of NumPy as records: the arrays of `np.savez` and `np.savez_compressed` are columns.
//!
//! `npyz` 0.8, which reads them, brings a parser generator for the literal in each array's head, and big integers; `zip` a dozen crates for methods that NumPy
//! never writes. What NumPy writes is a directory, stored or deflated bytes, and a dictionary of three keys.

use super::Record;
use super::mat::{Content, Variable, columns};
use crate::{Error, Result};
use costate::memory;
use flate2::Crc;
use flate2::read::DeflateDecoder;
use std::io::Read;
use std::path::Path;

/// First bytes of an archive, also of an empty one.
const ARCHIVE: [&[u8]; 2] = [b"PK\x03\x04", b"PK\x05\x06"];
/// First bytes of an array.
const ARRAY: &[u8] = b"\x93NUMPY";
/// The end of an archive's directory, and how long that is without a comment.
const END: (&[u8], usize) = (b"PK\x05\x06", 22);
/// The longest comment behind it.
const COMMENT: usize = 0xffff;
/// An entry of the directory, and how long that is without its name.
const ENTRY: (&[u8], usize) = (b"PK\x01\x02", 46);
/// The head of an entry's bytes, and how long that is without its name.
const HEAD: (&[u8], usize) = (b"PK\x03\x04", 30);

/// True if a file is meant as one of NumPy: by its name, or by how it begins.
pub(super) fn is_meant(bytes: &[u8], path: &Path) -> bool {
    let named = |end: &str| path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(end));
    named("npz") || named("npy") || bytes.starts_with(ARRAY) || ARCHIVE.iter().any(|own| bytes.starts_with(own))
}

fn remedy(path: &Path) -> String {
    let name = path.file_name().map_or("run.npz".into(), |name| name.to_string_lossy().into_owned());
    format!("save vectors of equal length from NumPy: np.savez('{name}', t=t, q1=q1)")
}

/// The record in an archive; NaN where an array has it.
///
/// # Errors
/// [`Error::File`] for what is no such file, is damaged, or holds no vector; [`costate::Error::Memory`].
pub(super) fn parse(bytes: &[u8], path: &Path) -> Result<Record> {
    let refuse = |problem: &str| Err(Error::file(path, None, problem, remedy(path)));
    if bytes.is_empty() {
        return refuse("the file is empty");
    }
    if bytes.starts_with(ARRAY) {
        return refuse("it is a single array of NumPy (.npy), whose columns have no names");
    }
    if !ARCHIVE.iter().any(|own| bytes.starts_with(own)) {
        return refuse("it is no archive of NumPy, as np.savez writes it");
    }
    let found = variables(bytes).map_err(|fault| match fault {
        Fault::Bytes(problem) => {
            let remedy = format!("copy the file again if it was cut short, or {}", remedy(path));
            Error::file(path, None, format!("the file is damaged: {problem}"), remedy)
        }
        Fault::Memory(error) => error.into(),
    })?;
    columns(found, path, remedy(path))
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

/// The number in `count` bytes, the lowest first.
fn number(bytes: &[u8], at: usize, count: usize) -> Option<usize> {
    let own = bytes.get(at..at.checked_add(count)?)?;
    usize::try_from(own.iter().rev().fold(0u64, |sum, byte| (sum << 8) | u64::from(*byte))).ok()
}

/// All arrays, in the order of the directory.
fn variables(bytes: &[u8]) -> Found<Vec<Variable>> {
    let no_directory = || Fault::Bytes("its directory is missing".to_string());
    let from = bytes.len().saturating_sub(END.1 + COMMENT);
    let ends = (from..bytes.len().saturating_sub(END.1 - 1)).rev();
    let end = ends.into_iter().find(|&at| bytes[at..].starts_with(END.0)).ok_or_else(no_directory)?;
    let at = |place: usize, count: usize| number(bytes, end + place, count).ok_or_else(no_directory);
    let (count, mut place) = (at(10, 2)?, at(16, 4)?);
    if count == 0xffff || place == 0xffff_ffff {
        return damaged("it has more than 65534 arrays, or 4 GB");
    }
    let mut found = Vec::new();
    for _ in 0..count {
        let entry = bytes.get(place..end).filter(|rest| rest.starts_with(ENTRY.0)).ok_or_else(no_directory)?;
        let at = |place: usize, count: usize| number(entry, place, count).ok_or_else(no_directory);
        let (flags, method, crc) = (at(8, 2)?, at(10, 2)?, at(16, 4)?);
        let (packed, size, head) = (at(20, 4)?, at(24, 4)?, at(42, 4)?);
        let lengths = [at(28, 2)?, at(30, 2)?, at(32, 2)?];
        let name = entry.get(ENTRY.1..ENTRY.1 + lengths[0]).ok_or_else(no_directory)?;
        let name = String::from_utf8_lossy(name).into_owned();
        place += ENTRY.1 + lengths.iter().sum::<usize>();
        let Some(name) = name.strip_suffix(".npy") else {
            found.push(Variable { name, dims: vec![0, 0], content: Content::Other("no array") });
            continue;
        };
        let lost = || Fault::Bytes(format!("the bytes of `{name}` are missing"));
        let own = bytes.get(head..).filter(|rest| rest.starts_with(HEAD.0)).ok_or_else(lost)?;
        let skipped = |place: usize| number(own, place, 2).ok_or_else(lost);
        let begin = HEAD.1 + skipped(26)? + skipped(28)?;
        let own = own.get(begin..begin.saturating_add(packed)).ok_or_else(lost)?;
        memory::check(|| format!("the array `{name}`"), size as f64, "save a part of it").map_err(Fault::Memory)?;
        let mut all = Vec::new();
        match method {
            0 => all.extend_from_slice(own),
            8 => {
                // one byte more would be too many
                let mut stream = DeflateDecoder::new(own).take(size as u64 + 1);
                if stream.read_to_end(&mut all).is_err() {
                    return damaged(format!("`{name}` cannot be decompressed"));
                }
            }
            _ => return damaged(format!("`{name}` is compressed in a way that NumPy does not use")),
        }
        let mut sum = Crc::new();
        sum.update(&all);
        if flags & 1 != 0 || all.len() != size || sum.sum() as usize != crc {
            return damaged(format!("`{name}` is not what was saved"));
        }
        found.push(array(name, &all)?);
    }
    Ok(found)
}

/// An array with its head.
fn array(name: &str, bytes: &[u8]) -> Found<Variable> {
    let no_head = || Fault::Bytes(format!("`{name}` has no head of an array"));
    let rest = bytes.strip_prefix(ARRAY).ok_or_else(no_head)?;
    let width = if rest.first() == Some(&1) { 2 } else { 4 };
    let length = number(rest, 2, width).ok_or_else(no_head)?;
    let head = rest.get(2 + width..(2 + width).saturating_add(length)).ok_or_else(no_head)?;
    let head = std::str::from_utf8(head).map_err(|_| no_head())?;
    let values = &rest[2 + width + length..];
    let (kind, by_columns, dims) = head_of(head).ok_or_else(no_head)?;
    let other =
        |what: &'static str| Variable { name: name.to_string(), dims: vec![0, 0], content: Content::Other(what) };
    let Some((width, decode)) = kind.as_deref().and_then(decoder) else {
        return Ok(other(match kind.as_deref().map(|kind| kind.trim_start_matches(['<', '>', '|', '='])) {
            None => "an array of structures",
            Some(kind) if kind.starts_with('c') => "complex",
            Some(kind) if kind.starts_with(['U', 'S']) => "text",
            Some(kind) if kind.starts_with(['M', 'm']) => "dates, which are no seconds",
            Some(kind) if kind.starts_with('f') => "of a precision that is not read (float32 and float64 are)",
            Some(_) => "an array of objects",
        }));
    };
    let count = dims.iter().try_fold(1usize, |all, own| all.checked_mul(*own));
    if count.and_then(|count| count.checked_mul(width)) != Some(values.len()) {
        return damaged(format!("`{name}` has {} bytes, which its shape does not say", values.len()));
    }
    let all: Vec<f64> = values.chunks_exact(width).map(decode).collect();
    let variable =
        |dims: Vec<usize>, all: Vec<f64>| Ok(Variable { name: name.to_string(), dims, content: Content::Numbers(all) });
    match dims[..] {
        [] => variable(vec![1, 1], all),
        [count] => variable(vec![count, 1], all),
        [rows, count] if !by_columns => {
            let by_columns = (0..count).flat_map(|column| (0..rows).map(move |row| row * count + column));
            let turned = by_columns.map(|place| all[place]).collect();
            variable(dims, turned)
        }
        _ => variable(dims, all),
    }
}

/// Type (`None`: structures), whether columns follow each other, and shape, of a head such as `{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }`.
fn head_of(head: &str) -> Option<(Option<String>, bool, Vec<usize>)> {
    let after = |key: &str| head.split_once(&format!("'{key}':")).map(|(_, rest)| rest.trim_start());
    let kind = after("descr")?;
    let kind = match kind.strip_prefix('\'') {
        Some(rest) => Some(rest.split_once('\'')?.0.to_string()),
        None => None,
    };
    let by_columns = after("fortran_order")?.starts_with("True");
    let shape = after("shape")?.strip_prefix('(')?.split_once(')')?.0;
    let dims = shape.split(',').map(str::trim).filter(|own| !own.is_empty());
    let dims = dims.map(|own| own.parse().ok()).collect::<Option<Vec<usize>>>()?;
    Some((kind, by_columns, dims))
}

/// Width and meaning of numbers of a type.
fn decoder(kind: &str) -> Option<(usize, impl Fn(&[u8]) -> f64 + use<>)> {
    let is_big = kind.starts_with('>');
    let plain = kind.trim_start_matches(['<', '>', '|', '=']);
    let (letter, width) = plain.split_at_checked(1)?;
    let letter = letter.chars().next()?;
    let width: usize = width.parse().ok()?;
    let is_known = match letter {
        'f' => [4, 8].contains(&width),
        'i' | 'u' => [1, 2, 4, 8].contains(&width),
        'b' => width == 1,
        _ => false,
    };
    let decode = move |bytes: &[u8]| {
        let mut own = [0u8; 8];
        // the lowest byte first; of integers, the sign goes on
        let is_negative = letter == 'i' && bytes[if is_big { 0 } else { width - 1 }] >= 0x80;
        own.fill(if is_negative { 0xff } else { 0 });
        own[..width].copy_from_slice(bytes);
        if is_big {
            own[..width].reverse();
        }
        match (letter, width) {
            ('f', 8) => f64::from_le_bytes(own),
            ('f', _) => f64::from(f32::from_le_bytes([own[0], own[1], own[2], own[3]])),
            ('i', _) => i64::from_le_bytes(own) as f64,
            _ => u64::from_le_bytes(own) as f64,
        }
    };
    is_known.then_some((width, decode))
}
