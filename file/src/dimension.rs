//! Units of formulas: powers of SI's base units, and the factor that a unit has beside them.

use costate_data::unit;
use std::fmt;

/// Parts of a whole power.
const PART: i32 = 12;

/// A dimension with the scale of its unit. Radians and cycles are numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Dimension {
    /// Powers of metre, kilogram, second, ampere and kelvin, in twelfths.
    powers: [i32; 5],
    /// The unit beside that of SI.
    factor: f64,
}

/// Units that are shown by their names.
const NAMED: [(&str, [i32; 5]); 17] = [
    ("N", [1, 1, -2, 0, 0]),
    ("N/m", [0, 1, -2, 0, 0]),
    ("N s/m", [0, 1, -1, 0, 0]),
    ("N m", [2, 1, -2, 0, 0]),
    ("N m s", [2, 1, -1, 0, 0]),
    ("N/m^2", [-1, 1, -2, 0, 0]),
    ("N/m^3", [-2, 1, -2, 0, 0]),
    ("W", [2, 1, -3, 0, 0]),
    ("C", [0, 0, 1, 1, 0]),
    ("V", [2, 1, -3, -1, 0]),
    ("V/A", [2, 1, -3, -2, 0]),
    ("N/A", [1, 1, -2, -1, 0]),
    ("N m/A", [2, 1, -2, -1, 0]),
    ("H", [2, 1, -2, -2, 0]),
    ("T", [0, 1, -2, -1, 0]),
    ("F", [-2, -1, 4, 2, 0]),
    ("W/K", [2, 1, -3, 0, -1]),
];

impl Dimension {
    pub const NUMBER: Dimension = Dimension { powers: [0; 5], factor: 1.0 };
    pub const SECOND: Dimension = Dimension { powers: [0, 0, PART, 0, 0], factor: 1.0 };
    pub const JOULE: Dimension = Dimension { powers: [2 * PART, PART, -2 * PART, 0, 0], factor: 1.0 };

    /// The dimension of a unit as people write it, or the reason why it is none.
    pub fn of(text: &str) -> Result<Self, String> {
        let meanings = unit::meanings(text);
        let Some(meaning) = meanings.iter().find(|meaning| !meaning.has_offset()) else {
            return Err(match meanings.is_empty() {
                true => format!("`{text}` is no unit that is known"),
                false => format!("`{text}` is a scale whose zero is elsewhere; take K"),
            });
        };
        let [powers @ .., _, _] = meaning.twelfths();
        Ok(Dimension { powers, factor: meaning.factor() })
    }

    /// Times a whole power of another.
    pub fn times(self, other: Dimension, power: i32) -> Self {
        let powers = std::array::from_fn(|k| self.powers[k].saturating_add(other.powers[k].saturating_mul(power)));
        Dimension { powers, factor: self.factor * other.factor.powi(power) }
    }

    /// A power that need not be whole; `None` where it is none of halves, thirds or quarters.
    pub fn power(self, exponent: f64) -> Option<Self> {
        let raised = self.powers.map(|power| f64::from(power) * exponent);
        let are_parts = raised.iter().all(|power| (power - power.round()).abs() < 1e-9 && power.abs() < 1e6);
        are_parts
            .then(|| Dimension { powers: raised.map(|power| power.round() as i32), factor: self.factor.powf(exponent) })
    }

    /// True for a plain number, up to its scale.
    pub fn is_number(&self) -> bool {
        self.powers == [0; 5]
    }

    pub fn is_same(&self, other: &Dimension) -> bool {
        self.is_alike(other) && (self.factor / other.factor - 1.0).abs() < 1e-9
    }

    /// The same but for its scale.
    pub fn is_alike(&self, other: &Dimension) -> bool {
        self.powers == other.powers
    }

    /// The factor from values in this unit to values in another.
    pub fn factor_to(&self, other: &Dimension) -> f64 {
        self.factor / other.factor
    }
}

impl fmt::Display for Dimension {
    /// `N/m`, `kg/(m s^2)`, `1e3 N`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_scaled = (self.factor - 1.0).abs() >= 1e-9;
        if is_scaled {
            write!(f, "{} ", costate::shown::rounded(self.factor, 6))?;
        }
        let whole = self.powers.map(|power| power / PART);
        let is_whole = self.powers.iter().all(|power| power % PART == 0);
        if let Some((name, _)) = NAMED.iter().find(|(_, powers)| is_whole && *powers == whole) {
            return f.write_str(name);
        }
        let forces = std::array::from_fn(|k| self.powers[k] - PART * [1, 1, -2, 0, 0][k]);
        let [plain, by_force] = [written("", self.powers), written("N", forces)];
        // the shorter one: `N/s`, and `kg m^2`
        f.write_str(if by_force.len() < plain.len() { &by_force } else { &plain })
    }
}

/// Powers of base units as a product, behind a unit that they are factors of.
fn written(first: &str, powers: [i32; 5]) -> String {
    let part = |(name, power): (&&str, i32)| match (power, power % PART) {
        (PART, _) => name.to_string(),
        (_, 0) => format!("{name}^{}", power / PART),
        _ => format!("{name}^{}", f64::from(power) / f64::from(PART)),
    };
    let names = ["m", "kg", "s", "A", "K"];
    // masses first, as people write them
    let order = [1, 0, 2, 3, 4];
    let powers = || order.into_iter().map(|k| (&names[k], powers[k]));
    let own = (!first.is_empty()).then(|| first.to_string());
    let above: Vec<String> = own.into_iter().chain(powers().filter(|(_, power)| *power > 0).map(part)).collect();
    let below: Vec<String> =
        powers().filter(|(_, power)| *power < 0).map(|(name, power)| part((name, -power))).collect();
    let above = if above.is_empty() { "1".to_string() } else { above.join(" ") };
    match below.as_slice() {
        [] => above,
        [one] => format!("{above}/{one}"),
        several => format!("{above}/({})", several.join(" ")),
    }
}

/// Units of a part of a formula.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Units {
    /// Whatever is wanted: a number without a unit.
    Any,
    Is(Dimension),
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects what messages say: units in the field's words, and scales.
    #[test]
    fn dimensions_are_shown_as_people_write_them() {
        for (unit, shown) in [
            ("N s/m", "N s/m"),
            ("kg/(m s^2)", "N/m^2"),
            ("kg m^2", "kg m^2"),
            ("N/mm", "1000 N/m"),
            ("rad/s^2", "1/s^2"),
            ("N s^3/m^3", "kg s/m^2"),
            ("N/s", "N/s"),
            ("N s^2/m^2", "kg/m"),
            ("m^1.5", "m^1.5"),
            ("V", "V"),
            ("Ohm", "V/A"),
            ("kg/s^2/m", "N/m^2"),
        ] {
            assert_eq!(Dimension::of(unit).unwrap().to_string(), shown, "{unit}");
        }
        assert!(Dimension::of("parsnip").unwrap_err().contains("no unit"));
        assert!(Dimension::of("degC").unwrap_err().contains("take K"));
    }
}
