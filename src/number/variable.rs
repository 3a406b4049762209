//! Numbers that remember how they were made: reverse mode.
//!
//! A [`Var`] is a value and a place on the tape of its thread. Each operation on variables writes down which two numbers it was made
//! from and its derivatives by them; one sweep back over the tape gives the derivatives of a result by all variables at once, whatever
//! their number. Place 0 is that of all constants: nothing is written down for what depends on no variable.

// derivatives of products and quotients are sums
#![allow(clippy::suspicious_arithmetic_impl)]

use super::{Jet, Number, boilerplate::number_boilerplate, functions::chain_rule_functions};
use num_dual::DualNum;
use num_traits::{FromPrimitive, Inv, Num, One, Signed, Zero};
use std::cell::{Cell, OnceCell, RefCell};
use std::cmp::Ordering;
use std::fmt;
use std::iter::{Product, Sum};
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Rem, RemAssign, Sub, SubAssign};

/// One operation: the places of what it was made from, and its derivatives by them. Each is written on its own: one made elsewhere and
/// copied here would wait for its own parts.
struct Node<T> {
    from: [Cell<u32>; 2],
    slopes: [Cell<T>; 2],
}

impl<T: Number> Node<T> {
    fn new() -> Self {
        Node { from: [Cell::new(0), Cell::new(0)], slopes: [Cell::new(T::zero()), Cell::new(T::zero())] }
    }

    #[inline]
    fn set(&self, from: [u32; 2], slopes: [T; 2]) {
        self.from[0].set(from[0]);
        self.from[1].set(from[1]);
        self.slopes[0].set(slopes[0]);
        self.slopes[1].set(slopes[1]);
    }

    /// Takes the derivative by this operation to those by what it was made from.
    #[inline]
    fn pull(&self, place: usize, bars: &mut [T])
    where
        T: Taped,
    {
        let bar = bars[place];
        if bar.is_nothing() {
            return;
        }
        for (from, slope) in self.from.iter().zip(&self.slopes) {
            // a number kept from an earlier evaluation may lie beyond the end
            if let Some(own) = bars.get_mut(from.get() as usize) {
                *own += bar * slope.get();
            }
        }
    }
}

/// Operations with a place of their own.
const ROOM: usize = 1 << 13;

/// Operations of one evaluation on one thread.
pub(crate) struct Tape<T> {
    /// Places that are taken.
    length: Cell<u32>,
    /// The first ones have a place of their own: looking whether a list has to grow takes time at every operation.
    nodes: OnceCell<Box<[Node<T>]>>,
    /// Those behind them.
    more: RefCell<Vec<Node<T>>>,
}

impl<T: Taped> Tape<T> {
    const fn new() -> Self {
        Tape { length: Cell::new(1), nodes: OnceCell::new(), more: RefCell::new(Vec::new()) }
    }

    /// Begins an evaluation; variables have the first places.
    fn begin(&self, variables: usize) {
        self.nodes.get_or_init(|| (0..ROOM).map(|_| Node::new()).collect());
        self.more.borrow_mut().clear();
        self.length.set(1 + variables as u32);
    }

    #[inline]
    fn record(&self, from: [u32; 2], slopes: [T; 2]) -> u32 {
        let place = self.length.get();
        self.length.set(place + 1);
        match self.nodes.get().and_then(|nodes| nodes.get(place as usize)) {
            Some(node) => node.set(from, slopes),
            None => self.record_behind(place, from, slopes),
        }
        place
    }

    #[cold]
    fn record_behind(&self, place: u32, from: [u32; 2], slopes: [T; 2]) {
        let mut more = self.more.borrow_mut();
        // variables alone may fill what comes before
        more.resize_with((place as usize).saturating_sub(ROOM), Node::new);
        let node = Node::new();
        node.set(from, slopes);
        more.push(node);
    }

    /// From the derivatives of a sum by the results to those by the variables.
    fn sweep(&self, variables: usize, bars: &mut [T]) {
        for (k, node) in self.more.borrow().iter().enumerate().rev() {
            node.pull(ROOM + k, bars);
        }
        let nodes = self.nodes.get().map_or(&[][..], |nodes| nodes);
        let end = (self.length.get() as usize).min(nodes.len());
        for (k, node) in nodes[..end].iter().enumerate().skip(1 + variables).rev() {
            node.pull(k, bars);
        }
    }
}

/// A number of which tapes are made.
pub(crate) trait Taped: Number {
    /// Works with the tape of the thread.
    fn with<R>(work: impl FnOnce(&Tape<Self>) -> R) -> R;

    /// Zero with all its derivatives.
    fn is_nothing(&self) -> bool;
}

impl Taped for f64 {
    #[inline]
    fn with<R>(work: impl FnOnce(&Tape<Self>) -> R) -> R {
        thread_local! {
            static TAPE: Tape<f64> = const { Tape::new() };
        }
        TAPE.with(work)
    }
    #[inline]
    fn is_nothing(&self) -> bool {
        *self == 0.0
    }
}

macro_rules! taped {
    ($number:ty) => {
        impl Taped for $number {
            #[inline]
            fn with<R>(work: impl FnOnce(&Tape<Self>) -> R) -> R {
                thread_local! {
                    static TAPE: Tape<$number> = const { Tape::new() };
                }
                TAPE.with(work)
            }
            #[inline]
            fn is_nothing(&self) -> bool {
                self.re.is_nothing() && self.eps[0].is_nothing()
            }
        }
    };
}
taped!(Jet<f64, 1>);
taped!(Jet<Jet<f64, 1>, 1>);

/// Derivatives of a sum of results by the variables of an evaluation, with the room that it takes to find them.
#[derive(Debug)]
pub(crate) struct Sweep<T> {
    variables: usize,
    bars: Vec<T>,
}

impl<T: Taped> Sweep<T> {
    /// For so many variables.
    pub fn new(variables: usize) -> Self {
        Sweep { variables, bars: Vec::new() }
    }

    /// Begins an evaluation on this thread, whose numbers live until the next one begins.
    pub fn begin(&mut self) {
        T::with(|tape| tape.begin(self.variables));
    }

    /// Variable `k` at a value.
    #[inline]
    pub fn variable(k: usize, re: T) -> Var<T> {
        Var { re, place: 1 + k as u32 }
    }

    /// Ends the evaluation, to be given the results of which the sum is made, each with its factor.
    pub fn end(&mut self) {
        let length = T::with(|tape| tape.length.get()) as usize;
        self.bars.clear();
        self.bars.resize(length, T::zero());
    }

    /// Adds `factor` times a result of the evaluation to the sum.
    #[inline]
    pub fn add(&mut self, factor: T, result: &Var<T>) {
        if let Some(bar) = self.bars.get_mut(result.place as usize).filter(|_| result.place > 0) {
            *bar += factor;
        }
    }

    /// The derivatives of the sum by all variables. One that is not finite may be a zero times infinity, which forward mode knows to be
    /// zero.
    pub fn derivatives(&mut self) -> &[T] {
        let Sweep { variables, bars } = self;
        T::with(|tape| tape.sweep(*variables, bars));
        &bars[1..1 + *variables]
    }
}

/// A number on the tape of its thread.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Var<T> {
    /// The value.
    pub re: T,
    place: u32,
}

impl<T: Taped> Var<T> {
    /// A constant.
    #[inline]
    pub fn constant(re: T) -> Self {
        Var { re, place: 0 }
    }

    /// f(self), given f and f' at its value.
    #[inline]
    fn chain(&self, value: T, slope: T) -> Self {
        self.chain_of_two(&Var::constant(value), value, slope, T::zero())
    }

    /// f(self, other), given f and its derivatives by both.
    #[inline]
    fn chain_of_two(&self, other: &Self, re: T, by_self: T, by_other: T) -> Self {
        if self.place | other.place == 0 {
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
            (place, 0) | (0, place) => Var { re, place },
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
            0 => Var { re, place: self.place },
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
    /// As `f64::powf`, for negative bases with whole exponents, too.
    #[inline]
    fn powd(&self, exponent: Self) -> Self {
        let value = self.re.powd(exponent.re);
        let by_base = exponent.re * self.re.powd(exponent.re - 1.0);
        let by_exponent = if exponent.place == 0 { T::zero() } else { value * self.re.ln() };
        self.chain_of_two(&exponent, value, by_base, by_exponent)
    }
    chain_rule_functions!();
}
