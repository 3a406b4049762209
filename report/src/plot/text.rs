//! The shipped font: widths of texts, line breaks, superscripts.

use std::sync::LazyLock;

use ab_glyph::{Font as _, FontRef};

/// The font list that SVG files name.
pub(super) const FAMILY: &str = "DejaVu Sans, Verdana, Helvetica, sans-serif";

/// DejaVu Sans: (ascent - descent) / em, the height by which ab_glyph scales.
pub(super) const HEIGHT_PER_EM: f64 = 2384.0 / 2048.0;

/// Size of a superscript relative to its text: of the smallest text, 7.4 points, still more than 6 points.
pub(super) const RAISED_SIZE: f64 = 0.82;

/// Height of a superscript's baseline above that of its text, in em of the text.
pub(super) const RAISED_BY: f64 = 0.36;

/// The shipped font; a test makes sure that it can be read.
pub(super) fn font() -> Option<&'static FontRef<'static>> {
    static FONT: LazyLock<Option<FontRef<'static>>> =
        LazyLock::new(|| FontRef::try_from_slice(include_bytes!("../../assets/DejaVuSans-subset.ttf")).ok());
    FONT.as_ref()
}

/// Advance width of a letter, in em.
pub(super) fn advance(letter: char) -> f64 {
    const GUESS: f64 = 0.65; // without a font
    font().map_or(GUESS, |font| {
        f64::from(font.h_advance_unscaled(font.glyph_id(letter)) / font.units_per_em().unwrap_or(2048.0))
    })
}

/// Splits a text into runs that are raised (superscript digits and signs, as plain characters) or not.
pub(super) fn runs(text: &str) -> Vec<(String, bool)> {
    let mut runs: Vec<(String, bool)> = Vec::new();
    for c in text.chars() {
        let (c, raised) = match c {
            '⁰' => ('0', true),
            '¹' => ('1', true),
            '²' => ('2', true),
            '³' => ('3', true),
            '⁴'..='⁹' => (char::from_digit(c as u32 - '⁰' as u32, 10).unwrap_or(c), true),
            '⁺' => ('+', true),
            '⁻' => ('−', true),
            other => (other, false),
        };
        match runs.last_mut() {
            Some((run, last)) if *last == raised => run.push(c),
            _ => runs.push((c.to_string(), raised)),
        }
    }
    runs
}

/// Width of a text, in the unit of `size` (one em).
pub(super) fn width(text: &str, size: f64) -> f64 {
    let relative = |raised: bool| if raised { RAISED_SIZE } else { 1.0 };
    size * runs(text).iter().map(|(run, raised)| relative(*raised) * run.chars().map(advance).sum::<f64>()).sum::<f64>()
}

/// Replaces what no text line (and no XML file) may contain.
pub(super) fn clean(text: &str) -> String {
    text.chars().map(|c| if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') { ' ' } else { c }).collect()
}

/// A text as it stands in SVG and HTML, between tags and in attributes.
pub(crate) fn escaped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            other => safe.push(other),
        }
    }
    safe
}

/// Breaks a text into lines of at most `limit`, at spaces where possible, inside of words where not.
pub(super) fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split_whitespace() {
        if let Some(line) = lines.last_mut() {
            let longer = format!("{line} {word}");
            if width(&longer, size) <= limit {
                *line = longer;
                continue;
            }
        }
        let mut line = String::new();
        for c in word.chars() {
            line.push(c);
            if width(&line, size) > limit && line.chars().count() > 1 {
                line.pop();
                lines.push(std::mem::replace(&mut line, c.to_string()));
            }
        }
        lines.push(line);
    }
    lines
}

/// A whole number as superscript.
pub(super) fn superscript(number: i32) -> String {
    const DIGITS: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let digits = number.unsigned_abs().to_string();
    let sign = if number < 0 { "⁻" } else { "" };
    // The bytes are ASCII digits, so the index is below ten.
    sign.to_string() + &digits.bytes().map(|b| DIGITS[usize::from(b - b'0')]).collect::<String>()
}

/// A number with two significant digits for a label: `0.25`, `12`, `3.1×10⁻⁹`.
pub(super) fn short_number(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let rounded = format!("{value:.1e}");
    // `{:e}` always writes an `e`, with a whole exponent behind it.
    let (mantissa, exponent) = rounded.split_once('e').unwrap_or((&rounded, "0"));
    let exponent: i32 = exponent.parse().unwrap_or(0);
    let text = if (-2..4).contains(&exponent) {
        format!("{:.*}", usize::try_from(1 - exponent).unwrap_or(0), value)
    } else {
        format!("{mantissa}×10{}", superscript(exponent))
    };
    text.replace('-', "−")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the constants tied to the shipped font: it is readable, and has the widths that SVG viewers use.
    #[test]
    fn the_shipped_font_has_the_known_widths() {
        assert!(font().is_some());
        assert!((width("0", 10.0) - 6.36).abs() < 0.01);
        assert!((width("10⁻⁶", 10.0) - (12.72 + RAISED_SIZE * (8.38 + 6.36))).abs() < 0.03);
    }

    /// Protects labels from being cut off: every line fits, and nothing is lost.
    #[test]
    fn wrapped_lines_fit_and_keep_all_words() {
        let text = "angular velocity of the crank relative to the very_long_name_of_a_part [rad/s]";
        let lines = wrap(text, 2.5, 20.0);
        assert!(lines.iter().all(|line| width(line, 2.5) <= 20.0));
        assert_eq!(lines.concat().replace(' ', ""), text.replace(' ', ""));
    }

    /// Protects the readability of numbers in legends.
    #[test]
    fn short_numbers_are_short() {
        assert_eq!(short_number(1.234e-20), "1.2×10⁻²⁰");
        assert_eq!(short_number(0.25), "0.25");
        assert_eq!(short_number(-12.0), "−12");
        assert_eq!(short_number(0.0), "0");
    }
}
