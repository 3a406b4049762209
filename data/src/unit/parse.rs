//! The grammar of units: `N m s/rad`, `kg·m²`, `m s^-2`, `1/min`, `(km/h)`, `10^3 N`.

use super::symbols::{joined, of_name};
use super::{PART, Unit};
use std::iter::Peekable;
use std::str::Chars;

/// Longer texts are no units.
const LONGEST: usize = 60;

/// Units that are read in one go as several at most, where symbols have several meanings.
const MOST: usize = 64;

/// Meanings of a text as a unit, the most usual first; none if it is no unit.
pub(super) fn readings(text: &str) -> Vec<Unit> {
    let text = usual(text);
    if ["", "-", "–", "—", "1", "none", "unitless", "dimensionless"].contains(&text.as_str()) {
        return vec![Unit::NUMBER];
    }
    if text.chars().count() > LONGEST {
        return Vec::new();
    }
    let mut parser = Parser { rest: text.chars().peekable(), depth: 0 };
    let mut found = match parser.product() {
        Some(found) if parser.rest.peek().is_none() => found,
        _ => Vec::new(),
    };
    found.extend(scale_of_temperature(&text));
    // degrees alone are a scale, and differences only in a product
    if found.len() > 1 && matches!(text.as_str(), "°C" | "degC" | "°F" | "degF") {
        found.remove(0);
    }
    found
}

/// The scales of temperature whose zero is not that of kelvin.
fn scale_of_temperature(text: &str) -> Option<Unit> {
    let kelvin = |factor: f64, offset: f64| Unit { powers: [0, 0, 0, 0, PART, 0, 0], factor, offset, is_turned: false };
    match text {
        "°C" | "degC" | "C" => Some(kelvin(1.0, 273.15)),
        "°F" | "degF" | "F" => Some(kelvin(5.0 / 9.0, 459.67 * 5.0 / 9.0)),
        _ => None,
    }
}

/// One spelling for signs and degrees.
fn usual(text: &str) -> String {
    let mut plain = String::new();
    let mut is_raised = false;
    for c in text.trim().chars() {
        let digit = "⁰¹²³⁴⁵⁶⁷⁸⁹⁻".chars().position(|raised| raised == c);
        if digit.is_some() && !is_raised {
            plain.push('^');
        }
        is_raised = digit.is_some();
        match (digit, c) {
            (Some(10), _) | (None, '−' | '‐' | '‑') => plain.push('-'),
            (Some(digit), _) => plain.push(char::from(b'0' + digit as u8)), // at most 9
            (None, '·' | '⋅' | '∙' | '•' | '×' | '*') => plain.push('*'),
            (None, 'µ' | 'μ') => plain.push('u'),
            (None, 'Ω') => plain.push('Ω'),
            (None, 'º' | '˚') => plain.push('°'),
            (None, '\u{a0}' | '\u{2009}' | '\u{202f}') => plain.push(' '),
            (None, c) => plain.push(c),
        }
    }
    let plain = plain.replace("**", "^").replace(" per ", "/");
    // abbreviations: `deg.`, `r.p.m.`
    let plain = plain.trim_end_matches('.').to_string();
    match plain.to_lowercase().replace([' ', '.'], "").as_str() {
        "rpm" => "rpm".to_string(),
        "°c" | "degc" | "degreec" | "degreesc" | "celsius" | "degcelsius" => "degC".to_string(),
        "°f" | "degf" | "degreef" | "degreesf" | "fahrenheit" | "degfahrenheit" => "degF".to_string(),
        _ => plain,
    }
}

struct Parser<'t> {
    rest: Peekable<Chars<'t>>,
    depth: usize,
}

impl Parser<'_> {
    fn spaces(&mut self) {
        while self.rest.next_if(|c| *c == ' ').is_some() {}
    }

    /// Factors with signs between them. Whoever multiplies behind a stroke may mean either, `J/kg K`, and is not understood.
    fn product(&mut self) -> Option<Vec<Unit>> {
        self.spaces();
        let mut all = self.power(1, true)?;
        let mut is_divided = false;
        loop {
            self.spaces();
            let sign = match self.rest.peek().copied() {
                None | Some(')') => return Some(all),
                Some('/') => {
                    is_divided = true;
                    -1
                }
                _ if is_divided => return None,
                Some(_) => 1,
            };
            // a point, a cross or a hyphen, or nothing but a space
            self.rest.next_if(|c| "/*.-".contains(*c));
            self.spaces();
            all = times(&all, &self.power(sign, false)?)?;
        }
    }

    /// A unit, or at the beginning a number, with its exponent, to the power of 1 or -1.
    fn power(&mut self, sign: i32, is_first: bool) -> Option<Vec<Unit>> {
        let factors = match self.rest.peek().copied()? {
            '(' => {
                self.rest.next();
                self.depth += 1;
                let inner = (self.depth < 8).then(|| self.product())??;
                self.depth -= 1;
                self.rest.next_if_eq(&')')?;
                vec![inner]
            }
            c if c.is_ascii_digit() && is_first => vec![vec![self.number()?]],
            _ => self.symbols()?,
        };
        let exponent = self.exponent()?;
        let (last, others) = factors.split_last()?;
        let mut all = vec![Unit::NUMBER];
        for other in others {
            all = times(&all, &raised(other, sign * PART)?)?;
        }
        times(&all, &raised(last, sign * exponent)?)
    }

    fn number(&mut self) -> Option<Unit> {
        let mut text = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_ascii_digit() || *c == '.') {
            text.push(c);
        }
        // `1e-3 m`; a unit does not begin with e and a digit
        let mut ahead = self.rest.clone();
        if ahead.next_if_eq(&'e').is_some() && ahead.peek().is_some_and(|c| c.is_ascii_digit() || *c == '-') {
            self.rest.next();
            text.push('e');
            text.extend(self.rest.next_if_eq(&'-'));
            while let Some(c) = self.rest.next_if(char::is_ascii_digit) {
                text.push(c);
            }
        }
        let factor: f64 = text.parse().ok()?;
        (factor > 0.0 && factor.is_finite()).then_some(Unit { factor, ..Unit::NUMBER })
    }

    /// Meanings of a run of letters: one unit or several that are written together, each with all of its meanings.
    fn symbols(&mut self) -> Option<Vec<Vec<Unit>>> {
        let mut name = String::new();
        while let Some(c) = self.rest.next_if(|c| c.is_alphabetic() || "°%‰'\"".contains(*c)) {
            name.push(c);
        }
        if name == "g" && self.rest.next_if_eq(&'0').is_some() {
            name.push('0');
        }
        let meanings = |name: &str| -> Vec<Unit> {
            of_name(name).into_iter().map(|(symbol, prefix)| Unit::of(symbol, prefix)).collect()
        };
        match meanings(&name) {
            found if !found.is_empty() => Some(vec![found]),
            _ => Some(joined(&name)?.into_iter().map(meanings).collect()),
        }
    }

    /// Exponent in parts: `^2`, `^-2`, `^(1/2)`, `^0.5`, `2`, `-2`; 1 if there is none.
    fn exponent(&mut self) -> Option<i32> {
        self.spaces_before('^');
        let is_marked = self.rest.next_if_eq(&'^').is_some();
        let is_bracketed = is_marked && self.rest.next_if_eq(&'(').is_some();
        let mut ahead = self.rest.clone();
        let is_negative = ahead.next_if_eq(&'-').is_some();
        if !ahead.peek().is_some_and(char::is_ascii_digit) {
            return (!is_marked).then_some(PART);
        }
        self.rest = ahead;
        let top = self.whole()?;
        let power = match self.rest.peek() {
            Some('/') if is_bracketed => {
                self.rest.next();
                let below = self.whole()?;
                let parts = top.checked_mul(PART)?;
                (below != 0 && parts % below == 0).then(|| parts / below)?
            }
            Some('.') if is_marked => {
                self.rest.next();
                let decimals: String = std::iter::from_fn(|| self.rest.next_if(char::is_ascii_digit)).collect();
                let fraction: f64 = format!("0.{decimals}").parse().ok()?;
                let parts = (f64::from(top) + fraction) * f64::from(PART);
                ((parts - parts.round()).abs() < 1e-9).then_some(parts.round() as i32)?
            }
            _ => top.checked_mul(PART)?,
        };
        if is_bracketed {
            self.rest.next_if_eq(&')')?;
        }
        Some(if is_negative { -power } else { power })
    }

    fn spaces_before(&mut self, sign: char) {
        let mut ahead = self.rest.clone();
        while ahead.next_if(|c| *c == ' ').is_some() {}
        if ahead.peek() == Some(&sign) {
            self.rest = ahead;
        }
    }

    fn whole(&mut self) -> Option<i32> {
        let digits: String = std::iter::from_fn(|| self.rest.next_if(char::is_ascii_digit)).collect();
        (digits.len() < 4).then(|| digits.parse().ok())?
    }
}

/// Products of every meaning of one with every meaning of the other.
fn times(one: &[Unit], other: &[Unit]) -> Option<Vec<Unit>> {
    let all = one.iter().flat_map(|a| other.iter().map(move |b| a.times(*b, PART)));
    all.take(MOST).collect()
}

fn raised(units: &[Unit], power: i32) -> Option<Vec<Unit>> {
    units.iter().map(|unit| Unit::NUMBER.times(*unit, power)).collect()
}
