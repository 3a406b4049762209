//! Directions in the space of parameters, and what they mean in words.

use crate::influence::Influence;
use costate::shown::rounded;

/// A parameter that an analysis is about.
#[derive(Debug, Clone, PartialEq)]
pub struct Analysed {
    /// Place of the parameter among all of the model.
    pub index: usize,
    /// Name of the parameter.
    pub name: String,
    /// Unit of the parameter.
    pub unit: String,
    /// Value at which the analysis is made.
    pub value: f64,
    /// The change that counts as 1: its size, or itself where it is scaled by the logarithm.
    pub size: f64,
    /// True if the parameter is scaled by its logarithm.
    pub log: bool,
}

impl Analysed {
    /// Influence of the parameter on residuals that change by `norm` where it changes by its size.
    pub(super) fn influence(&self, norm: f64) -> Influence {
        Influence::of(self.value / self.size, 1.0, norm)
    }
}

/// A parameter's part in a direction.
#[derive(Debug, Clone, PartialEq)]
pub struct Term {
    /// The parameter.
    pub parameter: Analysed,
    /// Change of the parameter along the direction, in sizes.
    pub weight: f64,
}

impl Term {
    /// Change in the parameter's unit.
    fn absolute(&self) -> f64 {
        self.weight * self.parameter.size
    }

    /// Change relative to the value; infinite or NaN at zero.
    fn relative(&self) -> f64 {
        self.absolute() / self.parameter.value
    }
}

/// A combination of parameters along which the data say little or nothing. Weights have the Euclidean length 1.
#[derive(Debug, Clone, PartialEq)]
pub struct Direction {
    /// The parameters that take part.
    pub terms: Vec<Term>,
    /// The singular value, relative to the largest; 0 where the data say nothing.
    pub strength: f64,
    /// True of given motions, whose residuals are linear in moments and friction: products and powers are none of theirs.
    pub(crate) is_linear: bool,
}

impl Direction {
    /// Direction with weights of length 1 and a positive leading one; parameters of weight zero are left out.
    pub(super) fn new(parameters: &[Analysed], weights: &[f64], strength: f64) -> Self {
        let lead = weights.iter().find(|w| **w != 0.0).copied().unwrap_or(1.0);
        let length = weights.iter().map(|w| w * w).sum::<f64>().sqrt().copysign(lead);
        let terms = parameters.iter().zip(weights).filter(|(_, w)| **w != 0.0);
        let terms = terms.map(|(p, w)| Term { parameter: p.clone(), weight: w / length }).collect();
        Direction { terms, strength, is_linear: false }
    }

    /// The direction, of residuals that are linear in the parameters or not.
    pub(super) fn of_linear(self, is_linear: bool) -> Self {
        Direction { is_linear, ..self }
    }

    /// Names of the parameters that take part.
    pub fn names(&self) -> Vec<&str> {
        self.terms.iter().map(|term| term.parameter.name.as_str()).collect()
    }

    /// Explanation of what the direction leaves undecided, where that can be said simply: a sum, a product, a common factor.
    pub fn explanation(&self) -> Option<String> {
        // weak directions are seen less sharply than undetermined ones
        let (tolerance, only) = if self.strength == 0.0 { (1e-3, "only") } else { (0.02, "above all") };
        if let [a, b] = self.terms.as_slice() {
            let forms = pair([a, b], tolerance, self.is_linear);
            let verb = if self.strength == 0.0 { "is determined" } else { "is known well" };
            return Some(format!(
                "{only} {} {verb}",
                forms.join(" (or, locally the same, ") + if forms.len() > 1 { ")" } else { "" }
            ));
        }
        if self.terms.len() < 2 {
            return None;
        }
        let changes = if self.strength == 0.0 { "changes nothing" } else { "changes next to nothing" };
        if let Some(powers) = whole(self.terms.iter().map(Term::relative), tolerance, 4).filter(|_| !self.is_linear) {
            let side = |sign: i32| {
                let those = self.terms.iter().zip(&powers).filter(|(_, power)| power.signum() == sign);
                let named = those.map(|(term, power)| match power.abs() {
                    1 => format!("{} by f", term.parameter.name),
                    power => format!("{} by f^{power}", term.parameter.name),
                });
                named.collect::<Vec<_>>().join(", ")
            };
            let (up, down) = (side(1), side(-1));
            let down = if down.is_empty() { down } else { format!(" and dividing {down}") };
            // one point says no more
            return Some(format!("multiplying {up}{down} {changes}, to first order at least"));
        }
        let unit = &self.terms[0].parameter.unit;
        if self.terms.iter().all(|term| &term.parameter.unit == unit)
            && let Some(signs) = whole(self.terms.iter().map(Term::absolute), tolerance, 1)
        {
            let side = |sign: i32| {
                let those = self.terms.iter().zip(&signs).filter(|(_, s)| **s == sign);
                those.map(|(term, _)| term.parameter.name.as_str()).collect::<Vec<_>>().join(", ")
            };
            let (up, down) = (side(1), side(-1));
            let down = if down.is_empty() { down } else { format!(" and taking it from {down}") };
            return Some(format!("adding the same to {up}{down} {changes}"));
        }
        None
    }
}

impl std::fmt::Display for Direction {
    /// `+0.71 k1/30 N/m - 0.71 k2/10 N/m`
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        for (i, term) in self.terms.iter().enumerate() {
            let sign = match (i, term.weight < 0.0) {
                (0, false) => "+",
                (0, true) => "-",
                (_, false) => " + ",
                (_, true) => " - ",
            };
            let Analysed { name, unit, size, log, .. } = &term.parameter;
            let part = term.weight.abs();
            let weight = if part >= 0.01 { format!("{part:.2}") } else { rounded(part, 2) };
            write!(f, "{sign}{weight} ")?;
            match (log, *size == 1.0, unit == "1") {
                (true, ..) => write!(f, "ln {name}")?,
                (_, true, true) => write!(f, "{name}")?,
                (_, _, true) => write!(f, "{name}/{}", rounded(*size, 3))?,
                _ => write!(f, "{name}/({} {unit})", rounded(*size, 3))?,
            }
        }
        Ok(())
    }
}

/// Combinations of two parameters that stay determined.
fn pair([a, b]: [&Term; 2], tolerance: f64, is_linear: bool) -> Vec<String> {
    let (first, second) = (&a.parameter.name, &b.parameter.name);
    let mut forms = Vec::new();
    if a.parameter.unit == b.parameter.unit
        && let Some(signs) = whole([a, b].into_iter().map(Term::absolute), tolerance, 1)
    {
        let sign = if signs[0] == signs[1] { '-' } else { '+' };
        forms.push(format!("{first} {sign} {second}"));
    }
    // a sum may look like a product of powers by chance, but one without powers is worth a word
    let most = if forms.is_empty() { 4 } else { 1 };
    if let Some(powers) = whole([a, b].into_iter().map(Term::relative), tolerance, most).filter(|_| !is_linear) {
        let power = |name: &str, power: i32| if power == 1 { name.to_string() } else { format!("{name}^{power}") };
        let sign = if powers[0] == powers[1] || powers[0].signum() == powers[1].signum() { '/' } else { '*' };
        forms.push(format!("{} {sign} {}", power(first, powers[1].abs()), power(second, powers[0].abs())));
    }
    if forms.is_empty() {
        let factor = -a.absolute() / b.absolute();
        let sign = if factor < 0.0 { '-' } else { '+' };
        forms.push(format!("{first} {sign} {} {second}, to first order,", rounded(factor.abs(), 3)));
    }
    forms
}

/// Whole numbers up to `most` in the ratios of `values`, if there are such; the first is positive.
fn whole(values: impl Iterator<Item = f64>, tolerance: f64, most: i32) -> Option<Vec<i32>> {
    let values: Vec<f64> = values.collect();
    let least = values.iter().map(|v| v.abs()).fold(f64::INFINITY, f64::min).copysign(*values.first()?);
    values
        .iter()
        .map(|value| {
            let ratio = value / least;
            let near = ratio.round();
            let fits = (ratio - near).abs() <= tolerance * near.abs() && near != 0.0 && near.abs() <= f64::from(most);
            fits.then_some(near as i32)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameter(name: &str, value: f64, unit: &str) -> Analysed {
        let (name, unit) = (name.to_string(), unit.to_string());
        Analysed { index: 0, name, unit, value, size: value, log: false }
    }

    fn explained(parameters: &[Analysed], weights: &[f64]) -> String {
        Direction::new(parameters, weights, 0.0).explanation().unwrap_or_default()
    }

    /// Protects the words: sums, differences, products, ratios, powers, common factors, and what has no simple name.
    #[test]
    fn simple_combinations_are_named() {
        let k1 = parameter("k1", 30.0, "N/m");
        let k2 = parameter("k2", 10.0, "N/m");
        let m = parameter("m", 2.0, "kg");
        let two = [k1.clone(), k2.clone()];
        // 1 N/m from one to the other
        assert_eq!(explained(&two, &[1.0 / 30.0, -0.1]), "only k1 + k2 is determined");
        assert_eq!(explained(&two, &[1.0 / 30.0, 0.1]), "only k1 - k2 is determined");
        assert_eq!(explained(&two, &[1.0, -1.0]), "only k1 * k2 is determined");
        assert_eq!(explained(&two, &[1.0, 1.0]), "only k1 / k2 is determined");
        assert_eq!(explained(&[k1.clone(), m.clone()], &[2.0, 1.0]), "only k1 / m^2 is determined");
        assert_eq!(explained(&two, &[0.1, -0.37]), "only k1 + 0.811 k2, to first order, is determined");
        let equal = [parameter("a", 3.0, "N"), parameter("b", 3.0, "N")];
        assert_eq!(explained(&equal, &[1.0, -1.0]), "only a + b (or, locally the same, a * b) is determined");
        let three = [k1, k2, m];
        assert_eq!(
            explained(&three, &[-1.0, -1.0, -1.0]),
            "multiplying k1 by f, k2 by f, m by f changes nothing, to first order at least"
        );
        assert_eq!(
            explained(&three, &[1.0, 1.0, -2.0]),
            "multiplying k1 by f, k2 by f and dividing m by f^2 changes nothing, to first order at least"
        );
        // sums are sums, whatever the values are: h + 0.4 m, I + 0.16 m look like powers at h = 0.2, I = 0.08, m = 0.5
        let linear = |weights: &[f64]| Direction::new(&three, weights, 0.0).of_linear(true).explanation();
        assert_eq!(linear(&[1.0, 1.0, -2.0]), None);
        let two = Direction::new(&two, &[1.0, -1.0], 0.0).of_linear(true).explanation();
        assert_eq!(two.as_deref(), Some("only k1 + 3 k2, to first order, is determined"));
        assert_eq!(explained(&three, &[1.0, 0.123, -0.777]), "");
        let text = Direction::new(&three, &[-1.0, 1.0, 0.0], 0.0).to_string();
        assert_eq!(text, "+0.71 k1/(30 N/m) - 0.71 k2/(10 N/m)");
    }
}
