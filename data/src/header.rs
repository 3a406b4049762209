//! Headers of columns as people write them: a name, and perhaps the unit of what stands below.

use crate::unit::{Conversion, conversion, is_known};
use std::borrow::Cow;

/// Form of a unit behind a name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// `a [m/s^2]`, `a (m/s^2)`.
    Brackets,
    /// `a/(m/s^2)`, as ISO 80000 writes it; `a in m/s^2`; `a, m/s^2`.
    Stroke,
    /// `a_mm`, `a mm`, `a.mm`, `a-mm`, `a_mm_filtered`, `mm`, where a word of the name is a unit of the dimension that is asked for; it may as
    /// well be part of the name.
    Word,
}

/// A header as a name with a unit.
#[derive(Debug, Clone, PartialEq)]
pub struct Named<'h> {
    /// The name, without the unit.
    pub name: &'h str,
    /// The unit as the header has it.
    pub unit: Cow<'h, str>,
    /// How the unit stands there.
    pub form: Form,
    /// Conversion into the unit that is asked for.
    pub conversion: Conversion,
}

/// Brackets around a unit; anything may be in the first ones.
const PAIRS: [(char, char); 7] =
    [('[', ']'), ('(', ')'), ('{', '}'), ('<', '>'), ('［', '］'), ('（', '）'), ('【', '】')];

/// Signs between a name and its unit, but for brackets.
const SIGNS: [&str; 6] = ["/", " in ", ", ", "=", ":", "|"];

/// Symbols of a turn that end a name for other reasons: right, voltage, translation.
const TURNS: [&str; 3] = ["r", "U", "tr"];

/// Characters between words of a name.
const SPACES: [char; 4] = ['_', ' ', '-', '.'];

/// `a [m/s^2]`, `a (m/s^2)` and `a/(m/s^2)` are `a` in `m/s^2`.
pub fn split(header: &str) -> Option<(&str, &str)> {
    let brackets = brackets(header).filter(|(_, unit)| header.ends_with(']') || is_written(unit));
    brackets.or_else(|| strokes(header).find(|(_, unit)| is_written(unit)))
}

/// `a [m/s^2]` is `a`, and so is `a`.
pub fn stem(header: &str) -> &str {
    split(header).map_or(header, |(name, _)| name)
}

/// Readings of a header as a name with a unit, beside the unit that is asked for, the most likely first; none if it is a name alone.
pub fn read<'h>(header: &'h str, unit: &str) -> Vec<Named<'h>> {
    let named = |form: Form| {
        move |(name, own): (&'h str, &'h str)| Named { name, unit: own.into(), form, conversion: conversion(own, unit) }
    };
    let is_unit = |own: &Named<'_>| own.conversion == Conversion::Same || is_written(&own.unit);
    let fits = |own: &Named<'_>| !matches!(own.conversion, Conversion::Refused(_));
    if let Some(found) = brackets(header).map(named(Form::Brackets)) {
        // `a (left)` and `a(2)` are names, and x(t) is x as a function of time, unless it is a mass
        let is_meant = header.ends_with([']', '］']) || is_unit(&found) && !is_index(&found.unit);
        let is_function = header.ends_with("(t)") && !fits(&found);
        return Vec::from_iter(Some(found).filter(|_| is_meant && !is_function));
    }
    if let Some(own) = inside(header) {
        return vec![named(Form::Brackets)((header, own))];
    }
    let (mut found, others): (Vec<_>, Vec<_>) =
        strokes(header).map(named(Form::Stroke)).filter(is_unit).filter(|own| !is_index(&own.unit)).partition(fits);
    found.extend(endings(header, unit));
    found.extend(others);
    if found.is_empty() {
        found.extend(word(header, unit));
    }
    found
}

/// The name before brackets at the end, and what is in them.
fn brackets(header: &str) -> Option<(&str, &str)> {
    let (open, close) = PAIRS.into_iter().find(|(_, close)| header.ends_with(*close))?;
    let mut depth = 0;
    let place = header.char_indices().rev().find_map(|(place, c)| {
        depth += i32::from(c == close) - i32::from(c == open);
        (depth == 0).then_some(place)
    })?;
    // `v/(m/s)` is v
    let name = header[..place].trim_end().trim_end_matches('/').trim_end();
    Some((name, header[place + open.len_utf8()..header.len() - close.len_utf8()].trim()))
}

/// A unit in brackets with something behind them: `F (mN) cmd`, `F [mN].1`. The name is all of it.
fn inside(header: &str) -> Option<&str> {
    let pairs = PAIRS.into_iter().flat_map(|(open, close)| {
        header.match_indices(open).filter_map(move |(place, sign)| {
            let (text, _) = header[place + sign.len()..].split_once(close)?;
            Some(text.trim())
        })
    });
    // `x(t)` is x as a function of time
    pairs.into_iter().find(|text| *text != "t" && is_written(text))
}

/// Text in brackets at the end of a header that is no unit, but may be meant as one.
pub fn unknown_in_brackets(header: &str) -> Option<&str> {
    let (_, text) = brackets(header)?;
    (!is_written(text) && text.chars().any(char::is_alphabetic)).then_some(text)
}

/// Texts on both sides of a sign, the longest end first.
fn strokes(header: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = SIGNS.into_iter().flat_map(|sign| header.match_indices(sign));
    let parts = parts.map(|(place, sign)| (header[..place].trim_end(), header[place + sign.len()..].trim()));
    parts.filter(|(name, unit)| !name.is_empty() && !unit.is_empty())
}

/// True if a text is a number, as that of an element.
fn is_index(text: &str) -> bool {
    !text.chars().any(|c| c.is_alphabetic() || "°%‰'\"".contains(c))
}

/// True if a text is a known unit that has a letter or a sign of its own.
fn is_written(text: &str) -> bool {
    !is_index(text) && is_known(text) && !["none", "unitless", "dimensionless"].contains(&text)
}

/// Names and the units that they end in, where these are of the dimension of `unit`: `x_mm`, `omega_deg_s`, `v_m_per_s`, `Speed rpm`.
fn endings<'h>(header: &'h str, unit: &str) -> impl Iterator<Item = Named<'h>> {
    let parts = header.match_indices(SPACES).map(|(place, _)| (&header[..place], &header[place + 1..]));
    parts.filter_map(move |(name, rest)| {
        let (name, rest) = (name.trim_end_matches(SPACES), rest.trim_end_matches(SPACES));
        let divided = rest.replace("_per_", "/").replacen('_', "/", 1).replace('_', " ");
        let texts = match rest.contains('_') {
            false => vec![Cow::Borrowed(rest)],
            true => vec![Cow::Owned(divided), Cow::Owned(rest.replace('_', " "))],
        };
        let mut texts = texts.into_iter().filter(|text| is_written(text) && !name.is_empty() && !TURNS.contains(&rest));
        texts.find_map(|own| match conversion(&own, unit) {
            Conversion::Refused(_) => None,
            conversion => Some(Named { name, unit: own, form: Form::Word, conversion }),
        })
    })
}

/// A header with a word, not the last of several, that is another unit of the dimension of `unit`: `x_mm_filtered`, `rpm`. The name is all of it.
fn word<'h>(header: &'h str, unit: &str) -> Option<Named<'h>> {
    let words = header.split(SPACES).filter(|word| word.chars().count() > 1 || *word == "°");
    let mut words = words.filter(|word| is_written(word) && *word != "tr" && *word != "in");
    words.find_map(|own| match conversion(own, unit) {
        Conversion::Factor(factor) => {
            Some(Named { name: header, unit: own.into(), form: Form::Word, conversion: Conversion::Factor(factor) })
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects units that are not the last thing of a header: they are converted or refused as others are, never passed over.
    #[test]
    fn units_may_stand_before_the_end() {
        for header in ["F (mN) cmd", "F [mN].1", "F [mN]_filtered", "(mN) F", "F (mN)*"] {
            let found = read(header, "N");
            assert_eq!(found.len(), 1, "{header}: {found:?}");
            assert_eq!(found[0].conversion, Conversion::Factor(1e-3), "{header}");
        }
        for header in ["F_mN_cmd", "F mN filtered", "mN", "F=mN", "F:mN", "F（mN）", "F［mN］"] {
            assert_eq!(read(header, "N")[0].conversion, Conversion::Factor(1e-3), "{header}");
        }
        assert!(matches!(read("F (mm) cmd", "N")[0].conversion, Conversion::Refused(_)));
        for (header, unit) in
            [("phi_r", "rad"), ("theta_U", "rad"), ("phi_tr", "rad"), ("in", "m"), ("F_in_x", "m"), ("m_x", "m")]
        {
            assert!(read(header, unit).is_empty(), "{header}");
        }
        assert!(read("x(t) left", "m").is_empty() && read("F (left) 2", "N").is_empty());
    }
}
