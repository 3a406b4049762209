//! Column of times in a record, and its unit: one reader for all commands.

use crate::Record;
use crate::TimeAxis;
use crate::columns::{self, Calibration, Keys, Sought};
use crate::header;
use crate::unit::{Conversion, conversion};
use crate::{Error, Result};
use std::path::Path;

/// Times of a record.
pub struct Clock<'r> {
    /// The header of their column.
    pub name: &'r str,
    /// Time axis, s.
    pub axis: TimeAxis,
    /// Sentence on assumptions and conversions.
    pub note: Option<String>,
}

/// Names of times, in any capitals, the usual ones first.
const USUAL: [&str; 2] = ["t", "time"];
const OTHERS: [&str; 9] = ["timestamp", "zeit", "temps", "tiempo", "tempo", "tijd", "tow", "clock", "elapsed"];

/// True if a column of this name holds times.
pub fn is_time(name: &str) -> bool {
    let (stem, _) = named(name);
    USUAL.iter().any(|usual| stem.eq_ignore_ascii_case(usual))
}

/// A header as a name, and whether a unit of time is behind it; `None` in the place of it where none is.
fn named(header: &str) -> (&str, Option<bool>) {
    match header::read(header, "s").into_iter().next() {
        Some(way) => (way.name, Some(!matches!(way.conversion, Conversion::Refused(_)))),
        None => (header, None),
    }
}

/// The times of a record: of the column that is `asked` for, in `unit` if that is said; or else called `t` or `time`, in any capitals and with any
/// unit of time behind it; or else what alone is called like a time, or alone has a unit of time, and increases.
///
/// # Errors
/// [`Error::File`] if no column or none alone is such, if it is in a unit that is none of time, or if times do not increase;
/// [`costate::Error::UnknownName`] for a name that no column has.
pub fn clock<'r>(record: &'r Record, file: &Path, asked: Option<&str>, unit: Option<&str>) -> Result<Clock<'r>> {
    let calibration = unit.map(|unit| Calibration { unit: Some(unit.to_string()), ..Calibration::default() });
    let of = |name: &str| read(record, file, name, calibration.as_ref());
    if let Some(name) = asked {
        return of(name)?.ok_or_else(|| columns::missing(record, file, name));
    }
    for name in USUAL {
        if let Some(found) = of(name)? {
            return Ok(found);
        }
    }
    let names = || record.names().iter();
    let is_called = |header: &&String, known: &[&str]| {
        let (stem, has_time) = named(header);
        has_time != Some(false)
            && header::unknown_in_brackets(header).is_none()
            && known.iter().any(|known| stem.eq_ignore_ascii_case(known))
    };
    // `seconds`, `ms`; a letter alone is a quantity
    let is_unit =
        |header: &&String| header.chars().count() > 1 && !matches!(conversion(header, "s"), Conversion::Refused(_));
    let mut usual = names().filter(|header| is_called(header, &USUAL));
    if let (Some(one), None) = (usual.next(), usual.next())
        && let Some(found) = of(one)?
    {
        return Ok(found);
    }
    let increasing = |header: &&String| of(header).is_ok_and(|found| found.is_some());
    let in_time = |header: &&String| {
        header::split(header).is_some_and(|(_, own)| !matches!(conversion(own, "s"), Conversion::Refused(_)))
    };
    let is_other = |header: &&String| is_called(header, &OTHERS) || is_unit(header);
    let called: Vec<&String> = names().filter(is_other).filter(increasing).collect();
    let measured: Vec<&String> = names().filter(in_time).filter(increasing).collect();
    for (found, why) in [(called, "by its name"), (measured, "by its unit")] {
        if let [one] = found[..]
            && let Some(clock) = of(one)?
        {
            let note = format!("{}: times are taken from column `{one}`, {why}", file.display());
            let note = clock.note.map_or(note.clone(), |own| format!("{note}; {own}"));
            return Ok(Clock { note: Some(note), ..clock });
        }
    }
    if let Some(name) = USUAL.iter().find(|name| record.left_out(name).is_some()) {
        return Err(columns::missing(record, file, name));
    }
    let problem = format!("no column is called `t` or `time` (there are: {})", record.names().join(", "));
    let remedy = match record.is_binary() {
        false => "rename the time column to `t`, or name it in a problem file: time = \"COLUMN\"",
        true => {
            "save the times, s, as a vector `t`, or the sampling step, s, as a number `Ts`; or name the vector in a problem file"
        }
    };
    Err(Error::file(file, None, problem, remedy))
}

/// The times in a column, if there is one of this name.
fn read<'r>(
    record: &'r Record,
    file: &Path,
    name: &str,
    calibration: Option<&Calibration>,
) -> Result<Option<Clock<'r>>> {
    let sought = Sought { calibration, quantity: "time", keys: Keys::Unit("time_unit"), ..Sought::named(name, "s") };
    let Some(found) = columns::locate(record, file, &sought)? else { return Ok(None) };
    let axis = record.times_by(found.name, &|number| found.law.of(number))?;
    Ok(Some(Clock { name: found.name, axis, note: found.note }))
}
