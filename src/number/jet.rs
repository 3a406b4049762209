//! Dual numbers with a fixed number of derivative directions.
//!
//! num-dual's vector duals keep their derivative part in an `Option`, whose tag is looked at in every operation; here the
//! directions are a plain array, which the compiler unrolls. Values and derivatives stay finite wherever the mathematical ones
//! are (`atan2` on the axes, and what [`chain_rule_functions`] says).

// derivatives of products and quotients are sums
#![allow(clippy::suspicious_arithmetic_impl)]

use super::{Number, boilerplate::number_boilerplate, functions::chain_rule_functions};
use num_dual::DualNum;
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

/// A value and its derivatives along `W` directions: `re + Σ eps[k] ε_k` with `ε_j ε_k = 0`.
///
/// `T` is `f64`, or another number for higher derivatives.
#[derive(Clone, Copy, Debug)]
pub struct Jet<T, const W: usize> {
    /// The value.
    pub re: T,
    /// The derivatives along the directions.
    pub eps: [T; W],
}

/// `$eps[$k] = $value` for every direction. A plain loop: iterators over arrays are hundreds of lines for the compiler, at every
/// operation of every kind of jet.
macro_rules! directions {
    ($eps:expr, $k:ident => $value:expr) => {
        let mut $k = 0;
        while $k < W {
            $eps[$k] = $value;
            $k += 1;
        }
    };
}

impl<T: Number, const W: usize> Jet<T, W> {
    /// A constant, with derivatives of zero.
    #[inline]
    pub fn constant(re: T) -> Self {
        Jet { re, eps: [T::zero(); W] }
    }

    /// f(self), given f and f' at `self.re`.
    #[inline]
    fn chain(&self, value: T, slope: T) -> Self {
        if T::NDERIV == 0 && !slope.re().is_finite() {
            // √x at 0: infinitely steep, but flat along every direction that leaves x alone
            let mut eps = self.eps;
            directions!(eps, k => if eps[k] == 0.0 { T::zero() } else { eps[k] * slope });
            return Jet { re: value, eps };
        }
        self.scaled(value, slope)
    }

    /// `re`, with the derivatives times `factor`.
    #[inline]
    fn scaled(&self, re: T, factor: T) -> Self {
        let mut eps = self.eps;
        directions!(eps, k => eps[k] * factor);
        Jet { re, eps }
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

#[inline]
fn value_of<T: Number, const W: usize>(x: &Jet<T, W>) -> f64 {
    x.re.re()
}

impl<T: Number, const W: usize> From<f64> for Jet<T, W> {
    #[inline]
    fn from(value: f64) -> Self {
        Jet::constant(T::from(value))
    }
}

impl<T: Number, const W: usize> Add for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn add(mut self, other: Self) -> Self {
        self.re += other.re;
        directions!(self.eps, k => self.eps[k] + other.eps[k]);
        self
    }
}

impl<T: Number, const W: usize> Sub for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn sub(mut self, other: Self) -> Self {
        self.re -= other.re;
        directions!(self.eps, k => self.eps[k] - other.eps[k]);
        self
    }
}

impl<T: Number, const W: usize> Mul for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        let mut eps = self.eps;
        directions!(eps, k => self.eps[k] * other.re + other.eps[k] * self.re);
        Jet { re: self.re * other.re, eps }
    }
}

impl<T: Number, const W: usize> Div for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        let inverse = other.re.recip();
        let re = self.re / other.re;
        let mut eps = self.eps;
        directions!(eps, k => (self.eps[k] - re * other.eps[k]) * inverse);
        Jet { re, eps }
    }
}

impl<T: Number, const W: usize> Neg for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        let mut eps = self.eps;
        directions!(eps, k => -eps[k]);
        Jet { re: -self.re, eps }
    }
}

impl<T: Number, const W: usize> Add<f64> for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn add(self, other: f64) -> Self {
        Jet { re: self.re + other, eps: self.eps }
    }
}

impl<T: Number, const W: usize> Sub<f64> for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn sub(self, other: f64) -> Self {
        Jet { re: self.re - other, eps: self.eps }
    }
}

impl<T: Number, const W: usize> Mul<f64> for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        let mut eps = self.eps;
        directions!(eps, k => eps[k] * other);
        Jet { re: self.re * other, eps }
    }
}

impl<T: Number, const W: usize> Div<f64> for Jet<T, W> {
    type Output = Self;
    #[inline]
    fn div(self, other: f64) -> Self {
        let mut eps = self.eps;
        directions!(eps, k => eps[k] / other);
        Jet { re: self.re / other, eps }
    }
}

/// Comparisons look at the value only, so that generic code takes the branch that `f64` would take.
impl<T: Number, const W: usize> PartialEq for Jet<T, W> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl<T: Number, const W: usize> PartialEq<f64> for Jet<T, W> {
    #[inline]
    fn eq(&self, other: &f64) -> bool {
        self.re.re() == *other
    }
}

impl<T: Number, const W: usize> PartialOrd for Jet<T, W> {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl<T: Number, const W: usize> PartialOrd<f64> for Jet<T, W> {
    #[inline]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.re.re().partial_cmp(other)
    }
}

impl<T: Number, const W: usize> fmt::Display for Jet<T, W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.re)?;
        self.eps.iter().enumerate().try_for_each(|(k, e)| write!(f, " + ({e})ε{k}"))
    }
}

number_boilerplate!([T: Number, const W: usize] Jet<T, W>, inner T);

impl<T: Number, const W: usize> DualNum for Jet<T, W> {
    type Primitive = f64;
    const NDERIV: usize = T::NDERIV + 1;
    type InnerDual = T;

    #[inline]
    fn from_re(re: T) -> Self {
        Jet::constant(re)
    }
    #[inline]
    fn scale(self, factor: &T) -> Self {
        self.scaled(self.re * *factor, *factor)
    }
    #[inline]
    fn atan2(&self, other: Self) -> Self {
        let (y, x) = (self.re, other.re);
        let inverse = (x * x + y * y).recip();
        let (by_y, by_x) = (x * inverse, -y * inverse);
        let mut eps = self.eps;
        directions!(eps, k => by_y * self.eps[k] + by_x * other.eps[k]);
        Jet { re: y.atan2(x), eps }
    }
    /// Power with a number as exponent, as `f64::powf`; for negative bases with whole exponents, too.
    #[inline]
    fn powd(&self, exponent: Self) -> Self {
        let value = self.re.powd(exponent.re);
        let by_base = exponent.re * self.re.powd(exponent.re - 1.0);
        let constant_exponent = exponent.eps.iter().all(|e| *e == 0.0) && T::NDERIV == 0;
        let by_exponent = if constant_exponent { T::zero() } else { value * self.re.ln() };
        let mut eps = self.eps;
        directions!(eps, k => {
            let base_part = if T::NDERIV == 0 && self.eps[k] == 0.0 { T::zero() } else { self.eps[k] * by_base };
            base_part + exponent.eps[k] * by_exponent
        });
        Jet { re: value, eps }
    }
    chain_rule_functions!();
}
