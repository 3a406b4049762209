//! A number that knows which variables it depends on.
//!
//! Sent once through a model, it finds which parameter and which coordinate enters which equation, so that those that
//! touch different equations can share a derivative direction. It also sees whether the model looked at a value (a
//! comparison): then another branch might depend on other variables, and nothing may be concluded from this run.

use super::boilerplate::number_boilerplate;
use num_dual::DualNum;
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};
use std::cell::Cell;
use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

thread_local! {
    static BRANCHED: Cell<bool> = const { Cell::new(false) };
    static CHOSEN: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work` and tells whether it looked at the value of any [`Tracer`].
pub fn with_branch_detection<R>(work: impl FnOnce() -> R) -> (R, bool) {
    BRANCHED.set(false);
    CHOSEN.set(false);
    let result = work();
    (result, BRANCHED.get())
}

/// True if there was a choice between [`Tracer`]s in the last work that was watched so.
pub(crate) fn has_chosen() -> bool {
    CHOSEN.get()
}

/// A value with the set of variables (bits) that it depends on, and of those that enter it nonlinearly.
#[derive(Clone, Copy, Debug)]
pub struct Tracer {
    re: f64,
    /// Variables that the value depends on.
    pub depends: u128,
    /// Variables with a derivative of the value that is not constant.
    pub nonlinear: u128,
}

impl Tracer {
    pub(crate) fn variable(re: f64, bit: u32) -> Self {
        Tracer { re, depends: 1 << bit, nonlinear: 0 }
    }

    /// True for a number that is zero and depends on nothing.
    pub(crate) fn is_constant_zero(&self) -> bool {
        self.re == 0.0 && self.depends == 0
    }

    fn function(&self, re: f64) -> Self {
        Tracer { re, depends: self.depends, nonlinear: self.depends }
    }

    fn sum(&self, other: &Self, re: f64) -> Self {
        Tracer { re, depends: self.depends | other.depends, nonlinear: self.nonlinear | other.nonlinear }
    }

    fn product(&self, other: &Self, re: f64) -> Self {
        let mut result = self.sum(other, re);
        if self.depends != 0 && other.depends != 0 {
            result.nonlinear = result.depends;
        }
        result
    }

    /// The value, for who shows all that could come of it.
    pub(super) fn unseen(&self) -> f64 {
        self.re
    }

    /// This number or another, by a choice that depends `on` variables, and of which nothing else is known.
    pub(super) fn or(&self, other: &Self, on: u128) -> Self {
        CHOSEN.set(true);
        // one that is not zero, whatever is taken from it
        let re = if self.re == other.re { self.re } else { f64::NAN };
        let depends = self.depends | other.depends;
        let is_one_constant = depends == 0 && self.re.to_bits() == other.re.to_bits();
        let depends = if is_one_constant { 0 } else { depends | on };
        Tracer { re, depends, nonlinear: depends }
    }

    fn real_part(&self) -> f64 {
        look();
        self.re
    }

    fn absolute(&self) -> Self {
        // x/|x| jumps
        CHOSEN.set(true);
        self.function(self.re.abs())
    }
}

fn look() {
    BRANCHED.set(true);
}

fn value_of(x: &Tracer) -> f64 {
    x.real_part()
}

impl From<f64> for Tracer {
    fn from(re: f64) -> Self {
        Tracer { re, depends: 0, nonlinear: 0 }
    }
}

impl Add for Tracer {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        self.sum(&other, self.re + other.re)
    }
}
impl Sub for Tracer {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        self.sum(&other, self.re - other.re)
    }
}
impl Mul for Tracer {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        self.product(&other, self.re * other.re)
    }
}
impl Div for Tracer {
    type Output = Self;
    fn div(self, other: Self) -> Self {
        let re = self.re / other.re;
        if other.depends == 0 { self.product(&other, re) } else { self.sum(&other, re).function(re) }
    }
}
impl Neg for Tracer {
    type Output = Self;
    fn neg(self) -> Self {
        Tracer { re: -self.re, ..self }
    }
}
impl Add<f64> for Tracer {
    type Output = Self;
    fn add(self, other: f64) -> Self {
        Tracer { re: self.re + other, ..self }
    }
}
impl Sub<f64> for Tracer {
    type Output = Self;
    fn sub(self, other: f64) -> Self {
        Tracer { re: self.re - other, ..self }
    }
}
impl Mul<f64> for Tracer {
    type Output = Self;
    fn mul(self, other: f64) -> Self {
        Tracer { re: self.re * other, ..self }
    }
}
impl Div<f64> for Tracer {
    type Output = Self;
    fn div(self, other: f64) -> Self {
        Tracer { re: self.re / other, ..self }
    }
}
impl PartialEq for Tracer {
    fn eq(&self, other: &Self) -> bool {
        look();
        self.re == other.re
    }
}
impl PartialEq<f64> for Tracer {
    fn eq(&self, other: &f64) -> bool {
        look();
        self.re == *other
    }
}
impl PartialOrd for Tracer {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        look();
        self.re.partial_cmp(&other.re)
    }
}
impl PartialOrd<f64> for Tracer {
    fn partial_cmp(&self, other: &f64) -> Option<Ordering> {
        look();
        self.re.partial_cmp(other)
    }
}
impl fmt::Display for Tracer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        look();
        write!(f, "{}", self.re)
    }
}

number_boilerplate!([] Tracer, inner f64);

macro_rules! functions {
    ($($name:ident),*) => {
        $(fn $name(&self) -> Self {
            self.function(DualNum::$name(&self.re))
        })*
    };
}

impl DualNum for Tracer {
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
        match n {
            0 => Self::one(),
            1 => *self,
            _ => self.function(self.re.powi(n)),
        }
    }
    fn powf(&self, n: f64) -> Self {
        if n == 0.0 {
            Self::one()
        } else if n == 1.0 {
            *self
        } else {
            self.function(self.re.powf(n))
        }
    }
    fn log(&self, base: f64) -> Self {
        self.function(self.re.log(base))
    }
    fn sin_cos(&self) -> (Self, Self) {
        (self.function(self.re.sin()), self.function(self.re.cos()))
    }
    fn atan2(&self, other: Self) -> Self {
        // it goes on at another angle where it has come around
        CHOSEN.set(true);
        let re = self.re.atan2(other.re);
        self.sum(&other, re).function(re)
    }
    fn powd(&self, exponent: Self) -> Self {
        let re = self.re.powf(exponent.re);
        self.sum(&exponent, re).function(re)
    }
    functions!(
        recip, sqrt, cbrt, exp, exp2, exp_m1, ln, log2, log10, ln_1p, sin, cos, tan, asin, acos, atan, sinh, cosh,
        tanh, asinh, acosh, atanh, sph_j0, sph_j1, sph_j2
    );
}
