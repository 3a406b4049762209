//! Numbers in sentences: as short as they can be read back, never with hundreds of zeros.

use std::borrow::Cow;

/// A number as a sentence holds it: as few digits as read back to the same value, in powers of ten where it is very large or very small,
/// and without the last digits where they are the round-off of a short number (0.009999999999999998 is 0.01).
pub fn shown(x: f64) -> String {
    /// Digits that round-off leaves alone, and how much shorter a number must get by it.
    const SOUND: usize = 14;
    const SHORTER: usize = 4;
    let exact = shortest(x);
    let rounded = format!("{x:.*e}", SOUND - 1).parse().map_or_else(|_| exact.clone(), shortest);
    if rounded.len() + SHORTER <= exact.len() { rounded } else { exact }
}

/// A number in as few digits as read back to the same bits; in powers of ten outside of 1e-5 to 1e16.
pub fn shortest(x: f64) -> String {
    if is_plain(x) { format!("{x}") } else { format!("{x:e}") }
}

/// True if digits without a power of ten are the shorter way.
pub fn is_plain(x: f64) -> bool {
    x == 0.0 || !x.is_finite() || (1e-5..1e16).contains(&x.abs())
}

/// A sentence with every number in it [`shown`] that has more digits than any number needs.
pub fn tidy(text: &str) -> Cow<'_, str> {
    /// 17 digits tell all numbers apart; a sign, a zero and a point may come with them.
    const LONGEST: usize = 17;
    if text.len() <= LONGEST {
        return Cow::Borrowed(text);
    }
    let mut tidied = String::new();
    let mut rest = text;
    // parts of names and paths are no numbers
    let of_a_name = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || "_/\\.".contains(c));
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let (before, from) = rest.split_at(start);
        let mut end = from.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(from.len());
        // the full stop of a sentence
        end = from[..end].trim_end_matches('.').len();
        let (number, after) = from.split_at(end);
        tidied.push_str(before);
        let of_a_name = of_a_name(tidied.chars().next_back()) || of_a_name(after.chars().next());
        match number.parse() {
            Ok(x) if number.len() > LONGEST && !of_a_name => tidied.push_str(&shown(x)),
            _ => tidied.push_str(number),
        }
        rest = after;
    }
    if tidied.len() + rest.len() == text.len() {
        return Cow::Borrowed(text);
    }
    Cow::Owned(tidied + rest)
}

/// A number for tables: seven significant digits, plainly where that is short.
pub fn number(x: f64) -> String {
    rounded(x, 7)
}

/// A number for tables: so many significant digits, plainly where that is short.
pub fn rounded(x: f64, digits: usize) -> String {
    let last = digits.saturating_sub(1);
    if x == 0.0 {
        // -0 is nothing that anybody wants to read
        return "0".into();
    }
    if !x.is_finite() {
        return format!("{x}");
    }
    let zeros = |text: &str| match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text.to_string(),
    };
    // the power after rounding: 9.9996e-4 is 0.001
    let text = format!("{x:.last$e}");
    let (mantissa, power) = text.split_once('e').unwrap_or((&text, "0"));
    match power.parse::<i32>() {
        Ok(power @ -3..7) => zeros(&format!("{x:.0$}", (last as i32 - power).clamp(0, 9) as usize)),
        _ => format!("{}e{power}", zeros(mantissa)),
    }
}

/// A value to two digits with its unit, if it has one.
pub fn with_unit(value: f64, unit: &str) -> String {
    match unit {
        "" | "1" => rounded(value, 2),
        _ => format!("{} {unit}", rounded(value, 2)),
    }
}

/// Bytes for a person.
pub fn size(bytes: f64) -> String {
    let units = ["kB", "MB", "GB", "TB", "PB", "EB"];
    let power = ((bytes.max(1.0).log10() / 3.0).floor() as usize).clamp(1, units.len());
    format!("{} {}", rounded(bytes / 1e3f64.powi(power as i32), 3), units[power - 1])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects sentences from hundreds of zeros and from round-off, and numbers from losing digits that they have.
    #[test]
    fn numbers_are_short_and_read_back() {
        for (x, expected) in [
            (1e300, "1e300"),
            (-1e-300, "-1e-300"),
            (9.999999999999999e-6, "0.00001"),
            (0.1 + 0.2, "0.3"),
            (0.0, "0"),
            (1e15, "1000000000000000"),
            (f64::INFINITY, "inf"),
            (1.0 / 3.0, "0.3333333333333333"),
            (1_700_000_000.123456, "1700000000.123456"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(shown(x), expected);
        }
    }

    /// Protects tables from digits that nobody reads, from powers of short numbers, and from a zero with a sign.
    #[test]
    fn numbers_of_tables_are_rounded() {
        for (x, digits, expected) in [
            (-0.0, 3, "0"),
            (9.9996e-4, 3, "0.001"),
            (1234.5678, 3, "1235"),
            (-0.000123456, 3, "-1.23e-4"),
            (f64::NEG_INFINITY, 3, "-inf"),
        ] {
            assert_eq!(rounded(x, digits), expected);
        }
    }

    /// Protects what stands in sentences beside numbers: words, names, files, short numbers and full stops.
    #[test]
    fn only_long_numbers_are_changed() {
        let long = "1".to_string() + &"0".repeat(300);
        assert_eq!(
            tidy(&format!("`c` = -{long} N/m lies outside 0 to 1.5.")),
            "`c` = -1e300 N/m lies outside 0 to 1.5."
        );
        assert_eq!(tidy("steps of 0.009999999999999998 s. End."), "steps of 0.01 s. End.");
        for kept in [
            "it is 0.3333333333333333 of 3.14 in 12 steps",
            "records/00000000000000000000000.csv, line 3: no",
            "`a00000000000000000000000` is unknown",
            "version 1.2.3.4.5.6.7.8.9.10.11.12 is",
        ] {
            assert_eq!(tidy(kept), kept);
        }
    }
}
