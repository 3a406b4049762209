//! Numbers that remember how they were made: reverse mode.
//!
//! A [`Var`] is a value and a place on the tape of its thread. Each operation on variables writes down which two numbers it was made
//! from and its derivatives by them; one sweep back over the tape gives the derivatives of a result by all variables at once, whatever
//! their number. Constants share a place: nothing is written down for what depends on no variable.

// derivatives of products and quotients are sums
#![allow(clippy::suspicious_arithmetic_impl)]

use super::{Jet, Number, Taped, boilerplate::number_boilerplate, functions::chain_rule_functions, tape::CONSTANT};
use num_dual::DualNum;
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};
use std::any::Any;
use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

/// A number on the tape of its thread.
#[derive(Clone, Copy, Debug)]
pub struct Var<T> {
    /// The value.
    pub re: T,
    pub(super) place: u32,
}

impl<T: Taped> Var<T> {
    /// A constant, which is no variable of the tape.
    #[inline]
    pub fn constant(re: T) -> Self {
        Var { re, place: CONSTANT }
    }

    /// f(self), given f and f' at its value.
    #[inline]
    fn chain(&self, value: T, slope: T) -> Self {
        self.chain_of_two(&Var::constant(value), value, slope, T::zero())
    }

    /// f(self, other), given f and its derivatives by both.
    #[inline]
    fn chain_of_two(&self, other: &Self, re: T, by_self: T, by_other: T) -> Self {
        if self.place & other.place == CONSTANT {
            return Var::constant(re);
        }
        let from = [self.place, other.place];
        Var { re, place: T::with(|tape| tape.record(from, [by_self, by_other])) }
    }

    #[inline]
    fn real_part(&self) -> f64 {
        self.re.re()
    }

    #[inline]
    fn absolute(&self) -> Self {
        if *self < 0.0 { -*self } else { *self }
    }
}

/// Σ x_k y_k as one operation, if the numbers are on a tape.
#[inline]
pub(super) fn products<D: Number>(x: &[D], y: &[D]) -> Option<D> {
    products_of::<f64, D>(x, y)
        .or_else(|| products_of::<Jet<f64, 1>, D>(x, y))
        .or_else(|| products_of::<Jet<Jet<f64, 1>, 1>, D>(x, y))
}

#[inline]
fn products_of<T: Taped, D: Number>(x: &[D], y: &[D]) -> Option<D> {
    let zero = D::from(0.0);
    // the same type or not: known when it is compiled
    same::<_, Var<T>>(&zero)?;
    let own = |number: &D| same(number).unwrap_or(Var::<T>::constant(T::zero()));
    let count = x.len().min(y.len());
    let (x, y) = (x[..count].iter().map(own), y[..count].iter().map(own));
    let pairs = x.zip(y).map(|(x, y)| [x, y]);
    if pairs.clone().all(|[x, y]| x.place & y.place == CONSTANT) {
        return same(&Var::constant(pairs.fold(T::zero(), |sum, [x, y]| sum + x.re * y.re)));
    }
    same(&T::with(|tape| tape.record_products(pairs)))
}

/// A number as one of another type, if that is its type.
#[inline]
pub(super) fn same<A: 'static, B: Copy + 'static>(number: &A) -> Option<B> {
    (number as &dyn Any).downcast_ref().copied()
}

#[inline]
fn value_of<T: Taped>(x: &Var<T>) -> f64 {
    x.re.re()
}

impl<T: Taped> From<f64> for Var<T> {
    #[inline]
    fn from(value: f64) -> Self {
        Var::constant(T::from(value))
    }
}

impl<T: Taped> Add for Var<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let re = self.re + other.re;
        match (self.place, other.place) {
            (place, CONSTANT) | (CONSTANT, place) => Var { re, place },
            _ => self.chain_of_two(&other, re, T::one(), T::one()),
        }
    }
}

impl<T: Taped> Sub for Var<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        let re = self.re - other.re;
        match other.place {
            CONSTANT => Var { re, place: self.place },
            _ => self.chain_of_two(&other, re, T::one(), -T::one()),
        }
    }
}

impl<T: Taped> Mul for Var<T> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        self.chain_of_two(&other, self.re * other.re, other.re, self.re)
    }
}

impl<T: Taped> Div for Var<T> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let (re, inverse) = (self.re / other.re, other.re.recip());
        self.chain_of_two(&other, re, inverse, -re * inverse)
    }
}

impl<T: Taped> Neg for Var<T> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.chain(-self.re, -T::one())
    }
}

impl<T: Taped> Add<f64> for Var<T> {
    type Output = Self;
    #[inline]
    fn add(self, other: f64) -> Self {
        Var { re: self.re + other, ..self }
    }
}

impl<T: Taped> Sub<f64> for Var<T> {
    type Output = Self;
    #[inline]
    fn sub(self, other: f64) -> Self {
        Var { re: self.re - other, ..self }
    }
}

impl<T: Taped> Mul<f64> for Var<T> {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        self.chain(self.re * other, T::from(other))
    }
}

impl<T: Taped> Div<f64> for Var<T> {
    type Output = Self;
    #[inline]
    fn div(self, other: f64) -> Self {
        self.chain(self.re / other, T::from(other.recip()))
    }
}

/// Comparisons look at the value only, so that generic code takes the branch that `f64` would take.
impl<T: Taped> PartialEq for Var<T> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl<T: Taped> PartialEq<f64> for Var<T> {
    #[inline]
    fn eq(&self, other: &f64) -> bool {
        self.re.re() == *other
    }
}

impl<T: Taped> PartialOrd for Var<T> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<T: Taped> PartialOrd<f64> for Var<T> {
    #[inline]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.re.re().partial_cmp(other)
    }
}

impl<T: Taped> fmt::Display for Var<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.re)
    }
}

number_boilerplate!([T: Taped] Var<T>, inner T);

impl<T: Taped> DualNum for Var<T> {
    type Primitive = f64;
    const NDERIV: usize = T::NDERIV + 1;
    type InnerDual = T;

    #[inline]
    fn from_re(re: T) -> Self {
        Var::constant(re)
    }
    #[inline]
    fn scale(self, factor: &T) -> Self {
        self.chain(self.re * *factor, *factor)
    }
    #[inline]
    fn atan2(&self, other: Self) -> Self {
        let (y, x) = (self.re, other.re);
        let inverse = (x * x + y * y).recip();
        self.chain_of_two(&other, y.atan2(x), x * inverse, -y * inverse)
    }
    /// Power with a number as exponent, as `f64::powf`; for negative bases with whole exponents, too.
    #[inline]
    fn powd(&self, exponent: Self) -> Self {
        let value = self.re.powd(exponent.re);
        let by_base = exponent.re * self.re.powd(exponent.re - 1.0);
        let by_exponent = if exponent.place == CONSTANT { T::zero() } else { value * self.re.ln() };
        self.chain_of_two(&exponent, value, by_base, by_exponent)
    }
    chain_rule_functions!();
}
