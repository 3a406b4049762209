//! Properties of parts: numbers, parameters, or sums of multiples of both.

use std::ops::{Add, Div, Mul, Neg, Sub};

/// A number, or a parameter of the assembly, or a linear combination: `length * 0.5`, `-length`, `a + b`, `a - 0.1`.
#[derive(Debug, Clone, PartialEq)]
pub struct Value {
    constant: f64,
    /// (place of the parameter, factor), each parameter once.
    terms: Vec<(usize, f64)>,
}

impl Value {
    pub(super) fn parameter(place: usize) -> Self {
        Value { constant: 0.0, terms: vec![(place, 1.0)] }
    }

    /// The value for these parameters.
    #[inline]
    pub fn evaluate(&self, u: &[f64]) -> f64 {
        self.terms.iter().fold(self.constant, |sum, &(k, factor)| sum + factor * u[k])
    }

    /// Without parameters.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// The parameters in it, by their places, with their factors.
    pub fn terms(&self) -> &[(usize, f64)] {
        &self.terms
    }
}

impl From<f64> for Value {
    fn from(constant: f64) -> Self {
        Value { constant, terms: Vec::new() }
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        value.clone()
    }
}

impl Mul<f64> for Value {
    type Output = Value;
    fn mul(mut self, factor: f64) -> Value {
        self.constant *= factor;
        self.terms.iter_mut().for_each(|(_, f)| *f *= factor);
        self
    }
}

impl Mul<f64> for &Value {
    type Output = Value;
    fn mul(self, factor: f64) -> Value {
        self.clone() * factor
    }
}

impl Div<f64> for Value {
    type Output = Value;
    fn div(self, divisor: f64) -> Value {
        self * (1.0 / divisor)
    }
}

impl Neg for Value {
    type Output = Value;
    fn neg(self) -> Value {
        self * -1.0
    }
}

impl Neg for &Value {
    type Output = Value;
    fn neg(self) -> Value {
        self.clone() * -1.0
    }
}

impl<V: Into<Value>> Add<V> for Value {
    type Output = Value;
    fn add(mut self, other: V) -> Value {
        let other = other.into();
        self.constant += other.constant;
        for (place, factor) in other.terms {
            match self.terms.iter_mut().find(|(k, _)| *k == place) {
                Some((_, f)) => *f += factor,
                None => self.terms.push((place, factor)),
            }
        }
        self
    }
}

impl<V: Into<Value>> Sub<V> for Value {
    type Output = Value;
    fn sub(self, other: V) -> Value {
        self + -other.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the arithmetic that chain rules rely on: combinations evaluate to what they say, each parameter once.
    #[test]
    fn combinations_are_linear() {
        let (a, b) = (Value::parameter(0), Value::parameter(1));
        let value = (a.clone() * 2.0 - &b) / 4.0 + a + 0.5;
        assert_eq!(value.evaluate(&[3.0, 8.0]), 1.5 - 2.0 + 3.0 + 0.5);
        assert_eq!(value.terms(), [(0, 1.5), (1, -0.25)]);
        assert!(Value::from(2.0).is_constant() && !value.is_constant());
    }
}
