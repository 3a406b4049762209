//! The tape that operations on [`Var`]s write, and the sweep back over it.

use super::{Jet, Number, Var};
use std::cell::{Cell, OnceCell, RefCell};

/// One operation: the places of what it was made from, and its derivatives by them. Each is written on its own: one made elsewhere and
/// copied here would wait for its own parts.
struct Node<T> {
    from: [Cell<u32>; 2],
    slopes: [Cell<T>; 2],
}

impl<T: Taped> Node<T> {
    fn new() -> Self {
        Node { from: [Cell::new(CONSTANT), Cell::new(CONSTANT)], slopes: [Cell::new(T::zero()), Cell::new(T::zero())] }
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
    fn pull(&self, bar: T, bars: &mut [T], factors: &[[Var<T>; 2]]) {
        if bar.is_nothing() {
            return;
        }
        let from = [self.from[0].get(), self.from[1].get()];
        if from[0] & PRODUCTS != 0 {
            return pull_products(bar, bars, &factors[(from[0] ^ PRODUCTS) as usize..from[1] as usize]);
        }
        for (from, slope) in from.into_iter().zip(&self.slopes) {
            add(bars, from, bar * slope.get());
        }
    }
}

/// Adds to the derivative by the number at a place. Beyond the end are constants, and numbers kept from an earlier evaluation.
#[inline]
fn add<T: Taped>(bars: &mut [T], place: u32, slope: T) {
    if let Some(own) = bars.get_mut(place as usize) {
        *own += slope;
    }
}

/// Pulls a derivative back to the factors of a sum of products, as [`Node::pull`] does to the numbers of an operation.
fn pull_products<T: Taped>(bar: T, bars: &mut [T], factors: &[[Var<T>; 2]]) {
    for [x, y] in factors {
        add(bars, x.place, bar * y.re);
        add(bars, y.place, bar * x.re);
    }
}

/// The place of all constants, beyond any other.
pub(super) const CONSTANT: u32 = u32::MAX >> 1;
/// Operations with a place of their own.
const ROOM: usize = 1 << 13;
/// Mark in the place of the first number that an operation was made from: it is a sum of products, and what follows, and what is in the
/// place of the second number, is where its factors begin and end.
const PRODUCTS: u32 = CONSTANT + 1;

/// Operations of one evaluation on one thread.
pub struct Tape<T> {
    /// Places that are taken.
    length: Cell<u32>,
    /// The first ones have a place of their own: looking whether a list has to grow takes time at every operation.
    nodes: OnceCell<Box<[Node<T>; ROOM]>>,
    /// The nodes behind the first ones.
    more: RefCell<Vec<Node<T>>>,
    /// Pairs of factors of which sums of products are made.
    factors: RefCell<Vec<[Var<T>; 2]>>,
}

impl<T: Taped> Tape<T> {
    const fn new() -> Self {
        Tape {
            length: Cell::new(0),
            nodes: OnceCell::new(),
            more: RefCell::new(Vec::new()),
            factors: RefCell::new(Vec::new()),
        }
    }

    /// Begins an evaluation; variables have the first places.
    fn begin(&self, variables: usize) {
        self.nodes.get_or_init(|| {
            let nodes: Box<[Node<T>]> = (0..ROOM).map(|_| Node::new()).collect();
            // they are as many
            nodes.try_into().unwrap_or_else(|_| unreachable!())
        });
        self.more.borrow_mut().clear();
        self.factors.borrow_mut().clear();
        self.length.set(variables as u32);
    }

    #[inline]
    pub(super) fn record(&self, from: [u32; 2], slopes: [T; 2]) -> u32 {
        let place = self.length.get();
        self.length.set(place + 1);
        match self.nodes.get().and_then(|nodes| nodes.get(place as usize)) {
            Some(node) => node.set(from, slopes),
            None => self.record_behind(place, from, slopes[0], slopes[1]),
        }
        place
    }

    #[cold]
    fn record_behind(&self, place: u32, from: [u32; 2], first: T, second: T) {
        let mut more = self.more.borrow_mut();
        // variables alone may fill what comes before
        more.resize_with((place as usize).saturating_sub(ROOM), Node::new);
        let node = Node::new();
        node.set(from, [first, second]);
        more.push(node);
    }

    /// Writes down a sum of products of pairs as one operation.
    #[inline]
    pub(super) fn record_products(&self, pairs: impl Iterator<Item = [Var<T>; 2]>) -> Var<T> {
        let mut factors = self.factors.borrow_mut();
        let first = factors.len();
        let mut re = T::zero();
        factors.extend(pairs.map(|[x, y]| {
            re += x.re * y.re;
            [x, y]
        }));
        let from = [PRODUCTS | first as u32, factors.len() as u32];
        Var { re, place: self.record(from, [T::zero(), T::zero()]) }
    }

    /// Sweeps back from the derivatives of a sum by the results to those by the variables.
    fn sweep(&self, variables: usize, bars: &mut [T]) {
        let factors = self.factors.borrow();
        for (k, node) in self.more.borrow().iter().enumerate().rev() {
            node.pull(bars[ROOM + k], bars, &factors);
        }
        let nodes = self.nodes.get().map_or(&[][..], |nodes| &nodes[..]);
        let end = bars.len().min(nodes.len());
        let own = variables.min(end)..end;
        for (node, place) in nodes[own.clone()].iter().zip(own).rev() {
            node.pull(bars[place], bars, &factors);
        }
    }
}

/// A number of which tapes are made.
pub trait Taped: Number {
    /// Works with the tape of the thread.
    fn with<R>(work: impl FnOnce(&Tape<Self>) -> R) -> R;

    /// True if the number is zero with all its derivatives.
    fn is_nothing(&self) -> bool;
}

macro_rules! taped {
    ($number:ty, $is_nothing:expr) => {
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
                $is_nothing(self)
            }
        }
    };
}
taped!(f64, |x: &f64| *x == 0.0);
taped!(Jet<f64, 1>, |x: &Self| x.re.is_nothing() && x.eps[0].is_nothing());
taped!(Jet<Jet<f64, 1>, 1>, |x: &Self| x.re.is_nothing() && x.eps[0].is_nothing());

/// Derivatives of a sum of results by the variables of an evaluation, with the room that it takes to find them.
#[derive(Debug)]
pub struct Sweep<T> {
    variables: usize,
    bars: Vec<T>,
}

impl<T: Taped> Sweep<T> {
    /// Room for so many variables.
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
        Var { re, place: k as u32 }
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
        if let Some(bar) = self.bars.get_mut(result.place as usize) {
            *bar += factor;
        }
    }

    /// The derivatives of the sum by all variables. One that is not finite may be a zero times infinity, which forward mode knows to be
    /// zero.
    pub fn derivatives(&mut self) -> &[T] {
        let Sweep { variables, bars } = self;
        T::with(|tape| tape.sweep(*variables, bars));
        self.last()
    }

    /// Derivatives of the last sweep.
    pub fn last(&self) -> &[T] {
        &self.bars[..self.variables]
    }
}

/// True if all derivatives are finite; several at a time.
pub fn all_finite(slopes: &[f64]) -> bool {
    let (lanes, rest) = slopes.as_chunks::<8>();
    // zeros, or no numbers
    let mut sums = [0.0; 8];
    for lane in lanes {
        sums.iter_mut().zip(lane).for_each(|(sum, slope)| *sum += slope * 0.0);
    }
    sums.iter().chain(rest).all(|slope| slope.is_finite())
}
