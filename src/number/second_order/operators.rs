//! Arithmetic and functions of second-order numbers.

// derivatives of products and quotients are sums
#![allow(clippy::suspicious_arithmetic_impl)]

use super::super::{Jet, boilerplate::number_boilerplate};
use super::{SecondOrder, value_of};
use num_dual::DualNum;
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

impl From<f64> for SecondOrder {
    #[inline]
    fn from(value: f64) -> Self {
        SecondOrder::constant(value)
    }
}

impl Add for SecondOrder {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        self.combined(&other, self.re + other.re, |x, y| x + y)
    }
}

impl Sub for SecondOrder {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        self.combined(&other, self.re - other.re, |x, y| x - y)
    }
}

impl Mul for SecondOrder {
    type Output = Self;
    #[inline]
    fn mul(self, other: Self) -> Self {
        match (self.groups, other.groups) {
            (_, 0) => self.linear(self.re * other.re, other.re),
            (0, _) => other.linear(self.re * other.re, self.re),
            _ => self.product(&other),
        }
    }
}

impl Div for SecondOrder {
    type Output = Self;
    #[inline]
    fn div(self, other: Self) -> Self {
        if other.groups == 0 {
            return self / other.re;
        }
        // the value to the last digit, as f64 has it
        SecondOrder { re: self.re / other.re, ..self * other.recip() }
    }
}

impl Neg for SecondOrder {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        self.linear(-self.re, -1.0)
    }
}

impl Add<f64> for SecondOrder {
    type Output = Self;
    #[inline]
    fn add(self, other: f64) -> Self {
        SecondOrder { re: self.re + other, ..self }
    }
}

impl Sub<f64> for SecondOrder {
    type Output = Self;
    #[inline]
    fn sub(self, other: f64) -> Self {
        SecondOrder { re: self.re - other, ..self }
    }
}

impl Mul<f64> for SecondOrder {
    type Output = Self;
    #[inline]
    fn mul(self, other: f64) -> Self {
        self.linear(self.re * other, other)
    }
}

impl Div<f64> for SecondOrder {
    type Output = Self;
    #[inline]
    fn div(self, other: f64) -> Self {
        self.linear(self.re / other, 1.0 / other)
    }
}

/// Comparisons look at the value only, so that generic code takes the branch that `f64` would take.
impl PartialEq for SecondOrder {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}

impl PartialEq<f64> for SecondOrder {
    #[inline]
    fn eq(&self, other: &f64) -> bool {
        self.re == *other
    }
}

impl PartialOrd for SecondOrder {
    #[inline]
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}

impl PartialOrd<f64> for SecondOrder {
    #[inline]
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.re.partial_cmp(other)
    }
}

impl fmt::Display for SecondOrder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} with derivatives", self.re)
    }
}

number_boilerplate!([] SecondOrder, inner f64);

macro_rules! functions {
    ($($name:ident),*) => {
        $(#[inline]
        fn $name(&self) -> Self {
            self.function(|x| DualNum::$name(&x))
        })*
    };
}

impl DualNum for SecondOrder {
    type Primitive = f64;
    const NDERIV: usize = 2;
    type InnerDual = f64;

    #[inline]
    fn from_re(re: f64) -> Self {
        Self::constant(re)
    }
    #[inline]
    fn scale(self, factor: &f64) -> Self {
        self * *factor
    }
    #[inline]
    fn recip(&self) -> Self {
        let inverse = self.re.recip();
        let square = inverse * inverse;
        self.chain([inverse, -square, 2.0 * square * inverse])
    }
    #[inline]
    fn sqrt(&self) -> Self {
        let root = self.re.sqrt();
        self.chain([root, 0.5 / root, -0.25 / (root * self.re)])
    }
    #[inline]
    fn powi(&self, n: i32) -> Self {
        match n {
            0 => Self::one(),
            1 => *self,
            2 => *self * *self,
            _ => self.function(|x| x.powi(n)),
        }
    }
    #[inline]
    fn powf(&self, n: f64) -> Self {
        self.function(|x| x.powf(n))
    }
    #[inline]
    fn log(&self, base: f64) -> Self {
        self.function(|x| x.log(base))
    }
    #[inline]
    fn sin_cos(&self) -> (Self, Self) {
        let (sin, cos) = self.re.sin_cos();
        (self.chain([sin, cos, -sin]), self.chain([cos, -sin, -cos]))
    }
    #[inline]
    fn sin(&self) -> Self {
        self.sin_cos().0
    }
    #[inline]
    fn cos(&self) -> Self {
        self.sin_cos().1
    }
    /// Angle of a point, by the slope of the arc tangent of whichever ratio is at most one.
    #[inline]
    fn atan2(&self, other: Self) -> Self {
        let (y, x) = (*self, other);
        let angle = if x.re.abs() >= y.re.abs() { (y / x).atan() } else { -(x / y).atan() };
        SecondOrder { re: y.re.atan2(x.re), ..angle }
    }
    #[inline]
    fn powd(&self, exponent: Self) -> Self {
        if exponent.groups == 0 {
            return self.function(|x| x.powd(Jet::from(exponent.re)));
        }
        SecondOrder { re: self.re.powd(exponent.re), ..(exponent * self.ln()).exp() }
    }
    functions!(
        cbrt, exp, exp2, exp_m1, ln, log2, log10, ln_1p, tan, asin, acos, atan, sinh, cosh, tanh, asinh, acosh, atanh,
        sph_j0, sph_j1, sph_j2
    );
}
