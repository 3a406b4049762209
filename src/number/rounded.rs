//! A number with a bound on its round-off.
//!
//! Sent through a model, it tells how exactly a residual can be known at all, hidden cancellation included: that is the floor
//! below which no iteration can push it.

use super::Jet;
use super::boilerplate::number_boilerplate;
use num_dual::DualNum;
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};
use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

/// A value and a first-order bound on its error (running error analysis: Higham, *Accuracy and Stability of Numerical
/// Algorithms*, section 3.3).
#[derive(Clone, Copy, Debug)]
pub struct Rounded {
    /// The value.
    pub re: f64,
    /// The bound on its error.
    pub error: f64,
}

/// Error of one operation relative to its result.
const UNIT: f64 = f64::EPSILON;

impl Rounded {
    /// A value that has been rounded once.
    pub(crate) fn measured(re: f64) -> Self {
        Rounded { re, error: UNIT * re.abs() }
    }

    fn operation(re: f64, inherited: f64) -> Self {
        Rounded { re, error: inherited + UNIT * re.abs() }
    }

    /// A function of one argument, given its value and slope.
    fn function(&self, value: Jet<f64, 1>) -> Self {
        Rounded { re: value.re, error: (value.eps[0] * self.error).abs() + 2.0 * UNIT * value.re.abs() }
    }

    fn jet(&self) -> Jet<f64, 1> {
        Jet { re: self.re, eps: [1.0] }
    }

    /// A function of two arguments.
    fn function_of_two(&self, other: &Self, function: impl Fn(Jet<f64, 2>, Jet<f64, 2>) -> Jet<f64, 2>) -> Self {
        let value = function(Jet { re: self.re, eps: [1.0, 0.0] }, Jet { re: other.re, eps: [0.0, 1.0] });
        let inherited = (value.eps[0] * self.error).abs() + (value.eps[1] * other.error).abs();
        Rounded { re: value.re, error: inherited + 2.0 * UNIT * value.re.abs() }
    }

    fn real_part(&self) -> f64 {
        self.re
    }

    fn absolute(&self) -> Self {
        Rounded { re: self.re.abs(), error: self.error }
    }
}

fn value_of(x: &Rounded) -> f64 {
    x.re
}

impl From<f64> for Rounded {
    /// A constant of the model: as exact as its decimal digits, that is, rounded once.
    fn from(re: f64) -> Self {
        Rounded::measured(re)
    }
}

impl Add for Rounded {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Rounded::operation(self.re + other.re, self.error + other.error)
    }
}
impl Sub for Rounded {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Rounded::operation(self.re - other.re, self.error + other.error)
    }
}
impl Mul for Rounded {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Rounded::operation(self.re * other.re, self.re.abs() * other.error + other.re.abs() * self.error)
    }
}
impl Div for Rounded {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let re = self.re / other.re;
        Rounded::operation(re, (self.error + re.abs() * other.error) / other.re.abs())
    }
}
impl Neg for Rounded {
    type Output = Self;
    fn neg(self) -> Self {
        Rounded { re: -self.re, ..self }
    }
}
impl Add<f64> for Rounded {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        self + Rounded::measured(other)
    }
}
impl Sub<f64> for Rounded {
    type Output = Self;
    fn sub(self, other: f64) -> Self {
        self - Rounded::measured(other)
    }
}
impl Mul<f64> for Rounded {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        self * Rounded::measured(other)
    }
}
impl Div<f64> for Rounded {
    type Output = Self;
    fn div(self, other: f64) -> Self {
        self / Rounded::measured(other)
    }
}
impl PartialEq for Rounded {
    fn eq(&self, other: &Self) -> bool {
        self.re == other.re
    }
}
impl PartialEq<f64> for Rounded {
    fn eq(&self, other: &f64) -> bool {
        self.re == *other
    }
}
impl PartialOrd for Rounded {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.re.partial_cmp(&other.re)
    }
}
impl PartialOrd<f64> for Rounded {
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        self.re.partial_cmp(other)
    }
}
impl fmt::Display for Rounded {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ± {}", self.re, self.error)
    }
}

number_boilerplate!([] Rounded, inner f64);

macro_rules! functions {
    ($($name:ident),*) => {
        $(fn $name(&self) -> Self {
            self.function(DualNum::$name(&self.jet()))
        })*
    };
}

impl DualNum for Rounded {
    type Primitive = f64;
    const NDERIV: usize = 0;
    type InnerDual = f64;

    fn from_re(re: f64) -> Self {
        Self::from(re)
    }
    fn scale(self, factor: &f64) -> Self {
        self * *factor
    }
    fn powi(&self, n: i32) -> Self {
        self.function(self.jet().powi(n))
    }
    fn powf(&self, n: f64) -> Self {
        self.function(self.jet().powf(n))
    }
    fn log(&self, base: f64) -> Self {
        self.function(self.jet().log(base))
    }
    fn sin_cos(&self) -> (Self, Self) {
        (DualNum::sin(self), DualNum::cos(self))
    }
    fn atan2(&self, other: Self) -> Self {
        self.function_of_two(&other, |y, x| y.atan2(x))
    }
    fn powd(&self, exponent: Self) -> Self {
        self.function_of_two(&exponent, |base, exponent| base.powd(exponent))
    }
    functions!(
        recip, sqrt, cbrt, exp, exp2, exp_m1, ln, log2, log10, ln_1p, sin, cos, tan, asin, acos, atan, sinh, cosh,
        tanh, asinh, acosh, atanh, sph_j0, sph_j1, sph_j2
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;

    fn cancelling<D: Number>(x: D) -> D {
        ((x + 1e6).powi(2) - (x * x + x * 2e6 + 1e12)).sin()
    }

    /// Protects the floor of Newton's iteration: a result that is nothing but round-off (its true value is 0) lies within its
    /// bound, and the bound is not wildly larger.
    #[test]
    fn the_bound_covers_hidden_cancellation() {
        for x in [0.1, 0.7, 12.3, 1e-9] {
            let bounded = cancelling(Rounded::measured(x));
            assert!(bounded.re.abs() <= bounded.error, "{bounded}");
            assert!(bounded.error < 1e-2, "{bounded}");
        }
    }
}
