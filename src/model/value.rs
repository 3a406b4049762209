//! Properties of parts: numbers, parameters, or sums of multiples of both.

use std::collections::HashMap;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, Mutex, PoisonError};

/// The assembler that made a parameter, coordinate, input or row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Owner(u32);

impl Owner {
    /// Owner of numbers: they serve everywhere.
    const NOBODY: Owner = Owner(0);
    /// Owner of what combines parameters of several assemblers: it serves nowhere.
    const SEVERAL: Owner = Owner(1);

    /// An owner that there has not been yet.
    pub fn another() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(2);
        Owner(NEXT.fetch_add(1, Ordering::Relaxed))
    }

    fn and(self, other: Owner) -> Owner {
        match (self, other) {
            (Owner::NOBODY, owner) | (owner, Owner::NOBODY) => owner,
            (a, b) if a == b => a,
            _ => Owner::SEVERAL,
        }
    }
}

/// A number, or a parameter of the assembly, or a linear combination: `length * 0.5`, `-length`, `a + b`, `a - 0.1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Value {
    constant: f64,
    /// (place of the parameter, factor), each parameter once.
    terms: Terms,
    owner: Owner,
}

type Terms = &'static [(usize, f64)];

/// Terms that live as long as the program, so that values can be copied. Equal ones are kept once: they are few, and the same ones
/// for every mechanism that is put together in the same way.
fn kept(terms: Vec<(usize, f64)>) -> Terms {
    /// Terms by their places and the bits of factors.
    type Kept = HashMap<Vec<(usize, u64)>, Terms>;
    static KEPT: LazyLock<Mutex<Kept>> = LazyLock::new(Mutex::default);
    if terms.is_empty() {
        return &[];
    }
    let key = terms.iter().map(|&(place, factor)| (place, factor.to_bits())).collect();
    KEPT.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_insert_with(|| terms.leak())
}

impl Value {
    /// A parameter by its place among those of its assembler.
    pub fn parameter(place: usize, owner: Owner) -> Self {
        Value { constant: 0.0, terms: kept(vec![(place, 1.0)]), owner }
    }

    /// The value for these parameters; NaN if there are too few of them.
    #[inline]
    pub fn evaluate(&self, u: &[f64]) -> f64 {
        let parameter = |k: usize| u.get(k).copied().unwrap_or(f64::NAN);
        self.terms.iter().fold(self.constant, |sum, &(k, factor)| sum + factor * parameter(k))
    }

    /// True if the value is a number or all its parameters are of this assembler.
    pub fn serves(&self, owner: Owner) -> bool {
        self.owner == Owner::NOBODY || self.owner == owner
    }

    /// True if there are no parameters in the value.
    pub fn is_constant(&self) -> bool {
        self.terms.is_empty()
    }

    /// True if the value is zero, whatever the parameters are.
    pub fn is_zero(&self) -> bool {
        self.is_constant() && self.evaluate(&[]) == 0.0
    }

    /// The parameters in it, by their places, with their factors.
    pub fn terms(&self) -> &'static [(usize, f64)] {
        self.terms
    }
}

impl From<f64> for Value {
    fn from(constant: f64) -> Self {
        Value { constant, terms: &[], owner: Owner::NOBODY }
    }
}

impl From<&Value> for Value {
    fn from(value: &Value) -> Self {
        *value
    }
}

impl Mul<f64> for Value {
    type Output = Value;
    fn mul(self, factor: f64) -> Value {
        let terms = kept(self.terms.iter().map(|&(place, f)| (place, f * factor)).collect());
        Value { constant: self.constant * factor, terms, ..self }
    }
}

impl Mul<f64> for &Value {
    type Output = Value;
    fn mul(self, factor: f64) -> Value {
        *self * factor
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
        *self * -1.0
    }
}

impl<V: Into<Value>> Add<V> for Value {
    type Output = Value;
    fn add(self, other: V) -> Value {
        let other = other.into();
        let mut terms = self.terms.to_vec();
        for &(place, factor) in other.terms {
            match terms.iter_mut().find(|(k, _)| *k == place) {
                Some((_, f)) => *f += factor,
                None => terms.push((place, factor)),
            }
        }
        Value { constant: self.constant + other.constant, terms: kept(terms), owner: self.owner.and(other.owner) }
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
        let owner = Owner::another();
        let (a, b) = (Value::parameter(0, owner), Value::parameter(1, owner));
        let value = (a * 2.0 - b) / 4.0 + a + 0.5;
        assert_eq!(value.evaluate(&[3.0, 8.0]), 1.5 - 2.0 + 3.0 + 0.5);
        assert_eq!(value.terms(), [(0, 1.5), (1, -0.25)]);
        assert!(Value::from(2.0).is_constant() && !value.is_constant());
        assert!(value.serves(owner) && !value.serves(Owner::another()) && Value::from(2.0).serves(owner));
        let foreign = value + Value::parameter(0, Owner::another());
        assert!(!foreign.serves(owner) && !(foreign + 1.0).serves(owner));
    }
}
