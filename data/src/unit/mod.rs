//! Units of columns and quantities as people write them: read as a factor on powers of SI's base units, compared, and converted.
//!
//! Of the crates that could do it, `uom` and `dimensioned` know units when they are compiled only; `ucum-units` 0.1 and `ucum` read the codes of
//! UCUM (`[lbf_av]`, `[ft_i]`, a dot for products), which no header is written in, and take a radian for the number 1; `rink-core` is MPL,
//! reads a file of some thousand definitions, and is a calculator. What a header needs is a table and a small grammar.

mod parse;
mod symbols;

use std::f64::consts::TAU;
use std::fmt;
use symbols::Symbol;

/// A unit in SI: `factor` times a product of powers of metre, kilogram, second, ampere, kelvin, radian and cycle.
///
/// An angle is a dimension of its own, so that a plain number is not taken for one. A cycle (of Hz) is 2π rad to an angle, and 1 to anything else.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Unit {
    /// Powers, in twelfths.
    powers: [i32; 7],
    factor: f64,
    /// Offset that is added to a value in kelvin, behind the factor; 0 but for degrees of temperature.
    offset: f64,
    /// True if angles in it are in another unit than radians.
    is_turned: bool,
}

/// Parts of a whole power, with room for halves, thirds and quarters.
const PART: i32 = 12;

/// Meanings of a text as a unit, the most usual first; none if it is no unit that is known.
pub fn meanings(text: &str) -> Vec<Unit> {
    parse::readings(text)
}

const BASE: [&str; 7] = ["m", "kg", "s", "A", "K", "rad", "cycle"];

impl Unit {
    /// Powers of metre, kilogram, second, ampere, kelvin, radian and cycle, in twelfths.
    pub fn twelfths(&self) -> [i32; 7] {
        self.powers
    }

    /// The unit in SI's base units, radians and cycles.
    pub fn factor(&self) -> f64 {
        self.factor
    }

    /// True for a scale whose zero is not that of its dimension, such as degrees Celsius.
    pub fn has_offset(&self) -> bool {
        self.offset != 0.0
    }

    const NUMBER: Unit = Unit { powers: [0; 7], factor: 1.0, offset: 0.0, is_turned: false };

    fn of(symbol: &Symbol, prefix: f64) -> Self {
        let powers = symbol.exponents.map(|power| i32::from(power) * PART);
        let is_turned = symbol.exponents[5] != 0 && symbol.factor != 1.0;
        Unit { powers, factor: symbol.factor * prefix, offset: 0.0, is_turned }
    }

    /// Times a power of another one; `None` where powers or factors leave all reason.
    fn times(self, other: Unit, power: i32) -> Option<Self> {
        let mut powers = self.powers;
        for (own, more) in powers.iter_mut().zip(other.powers) {
            // powers of known units are whole
            *own = more.checked_mul(power)?.checked_div(PART).and_then(|more| own.checked_add(more))?;
            (own.abs() <= 100 * PART).then_some(())?;
        }
        let factor = match power % PART {
            0 => other.factor.powi(power / PART),
            _ => other.factor.powf(f64::from(power) / f64::from(PART)),
        } * self.factor;
        let is_usable = factor.is_finite() && factor > 1e-100 && factor < 1e100;
        is_usable.then_some(Unit { powers, factor, offset: 0.0, is_turned: self.is_turned || other.is_turned })
    }

    /// Factor from values in this unit to values in another; `None` if they are of different dimensions.
    fn to(self, other: Unit) -> Option<f64> {
        let difference: [i32; 7] = std::array::from_fn(|k| self.powers[k] - other.powers[k]);
        let ([physical @ .., _, _], [.., angle, cycle]) = (difference, difference);
        if physical != [0; 5] {
            return None;
        }
        let factor = self.factor / other.factor;
        match (angle, cycle) {
            (0, 0) => Some(factor),
            (angle, cycle) if angle == -cycle => Some(factor * TAU.powf(f64::from(cycle) / f64::from(PART))),
            // SI: 1 Hz = 1/s
            (0, _) => Some(factor),
            // SI: 1 rad = 1, where that can only be meant
            (_, 0) if other.powers[5] == 0 && !self.is_turned => Some(factor),
            (_, 0) if self.powers[5] == 0 && other.powers[5] < 0 && !other.is_turned => Some(factor),
            _ => None,
        }
    }
}

impl fmt::Display for Unit {
    /// Writes the unit in base units: `1e-3 m^2 s^-1`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.offset != 0.0 {
            return f.write_str(if self.factor == 1.0 { "degC" } else { "degF" });
        }
        let mut parts = Vec::new();
        for (name, power) in BASE.iter().zip(self.powers).filter(|(_, power)| *power != 0) {
            parts.push(match (power, power % PART) {
                (PART, _) => name.to_string(),
                (_, 0) => format!("{name}^{}", power / PART),
                _ => format!("{name}^({power}/{PART})"),
            });
        }
        if self.factor != 1.0 || parts.is_empty() {
            parts.insert(0, format!("{:e}", self.factor));
        }
        f.write_str(&parts.join(" "))
    }
}

/// Conversion of values from one unit to another.
#[derive(Debug, Clone, PartialEq)]
pub enum Conversion {
    /// Equal numbers in both units.
    Same,
    /// Multiplication by a factor.
    Factor(f64),
    /// Refusal: no factor makes one of the other, with the reason.
    Refused(String),
}

/// Conversion of values in unit `from` to values in unit `to`. Text that is no known unit is only the same as the same text.
pub fn conversion(from: &str, to: &str) -> Conversion {
    let (own, asked) = (parse::readings(from), parse::readings(to));
    if plain(from) == plain(to) {
        return Conversion::Same;
    }
    let unknown = |text: &str| Conversion::Refused(format!("`{text}` is no unit that is known"));
    if own.is_empty() {
        return unknown(from);
    }
    if asked.is_empty() {
        return unknown(to);
    }
    // what one text may mean is told by the dimension of the other
    let pairs = own.iter().flat_map(|own| asked.iter().map(move |asked| (*own, *asked)));
    for (own, asked) in pairs {
        let Some(factor) = own.to(asked) else { continue };
        if own.offset != asked.offset {
            let problem = "zero is not the same temperature in both, so that no factor leads from one to the other";
            return Conversion::Refused(problem.to_string());
        }
        return match (factor - 1.0).abs() < 1e-12 {
            true => Conversion::Same,
            false => Conversion::Factor(factor),
        };
    }
    let (own, asked) = (own[0], asked[0]);
    let without = |unit: Unit| Unit { powers: std::array::from_fn(|k| if k < 5 { unit.powers[k] } else { 0 }), ..unit };
    let problem = match without(own).to(without(asked)) {
        Some(_) => {
            "one of them is about an angle, and the other is not (turns a minute are `rpm`, turns `rev`)".to_string()
        }
        None => format!("these are different quantities: {} and {}", dimension(own), dimension(asked)),
    };
    Conversion::Refused(problem)
}

/// True if a text is a known unit.
pub fn is_known(text: &str) -> bool {
    !parse::readings(text).is_empty()
}

/// Dimension of a unit, without the factor.
fn dimension(unit: Unit) -> String {
    match (Unit { factor: 1.0, offset: 0.0, ..unit }).to_string().as_str() {
        "1e0" => "a plain number".to_string(),
        powers => powers.to_string(),
    }
}

/// One spelling for the usual ones of a unit that may not be known.
fn plain(unit: &str) -> String {
    let unit = unit.replace('²', "^2").replace('³', "^3").replace(['·', '*'], " ");
    match unit.trim() {
        "" | "-" => "1".to_string(),
        unit => unit.split_whitespace().collect::<Vec<_>>().join(" "),
    }
}

impl Conversion {
    /// The values in the other unit; themselves where nothing is to be done.
    pub fn apply(&self, value: f64) -> f64 {
        let Conversion::Factor(factor) = self else { return value };
        // 3 ms are 0.003 s to the last bit
        let inverse = (1.0 / factor).round();
        match inverse > 1.0 && (inverse * factor - 1.0).abs() < 4.0 * f64::EPSILON {
            true => value / inverse,
            false => value * factor,
        }
    }
}

#[cfg(test)]
mod tests;
