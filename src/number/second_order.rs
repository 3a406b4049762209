//! Numbers with second derivatives that know which half of the variables they depend on.
//!
//! A joint is a function of two bodies, but most of its intermediate results are one body's alone, or constants. Nested dual
//! numbers carry the derivatives by all variables through all of them; these carry what is there. Derivatives are kept aside, in
//! a store of the thread: a number that holds all of its own is half a kilobyte, and time goes into copies of it.

// row and column of several arrays at once
#![allow(clippy::needless_range_loop)]

mod operators;

use super::Jet;
use std::cell::RefCell;

/// Variables of one group.
pub const LANES: usize = 4;
const SQUARE: usize = LANES * LANES;
/// First and second derivatives by the variables of one group.
const OWN: usize = LANES + SQUARE;
const BOTH: u8 = 0b11;
const NONE: [f64; OWN] = [0.0; OWN];

/// A value with its first and second derivatives by two groups of [`LANES`] variables.
///
/// It lives as long as the evaluation that it is part of, on one thread: see [`Derivatives::evaluate`].
#[derive(Clone, Copy, Debug)]
pub struct SecondOrder {
    /// The value.
    pub re: f64,
    /// Place of the derivatives: those by the first group, if it depends on that, those by the second, those by both.
    place: u32,
    /// Groups on which it depends, bit by bit.
    groups: u8,
}

thread_local! {
    static STORE: RefCell<Derivatives> = const { RefCell::new(Derivatives { values: Vec::new(), used: 0 }) };
}

/// Derivatives of all numbers of one evaluation, one after the other.
#[derive(Debug, Default)]
pub struct Derivatives {
    values: Vec<f64>,
    used: usize,
}

impl Derivatives {
    /// Numbers within `work` keep their derivatives here; those of earlier evaluations are gone. Takes memory until it is as large
    /// as the largest evaluation.
    pub fn evaluate(&mut self, work: impl FnOnce()) {
        self.used = 0;
        STORE.with_borrow_mut(|store| std::mem::swap(store, self));
        work();
        STORE.with_borrow_mut(|store| std::mem::swap(store, self));
    }

    #[inline]
    fn array<const N: usize>(values: &[f64], place: usize) -> &[f64; N] {
        // places are those of numbers of this evaluation
        values[place..].first_chunk().unwrap_or_else(|| unreachable!("a number outlived its evaluation"))
    }

    /// First derivatives of `x` by a group of variables, and second ones by two of them, row by row.
    pub fn of(&self, x: &SecondOrder, group: usize) -> (&[f64], &[f64]) {
        x.own(&self.values, group).split_at(LANES)
    }

    /// Second derivatives by a variable of the first and one of the second group, row by row.
    pub fn between(&self, x: &SecondOrder) -> &[f64; SQUARE] {
        x.between(&self.values)
    }
}

/// A product in which zero times infinity is zero: what does not depend on a variable has no slope, however steep it is along others.
#[inline]
fn times(steep: f64, factor: f64) -> f64 {
    if factor == 0.0 { 0.0 } else { steep * factor }
}

impl SecondOrder {
    #[inline]
    fn constant(re: f64) -> Self {
        SecondOrder { re, place: 0, groups: 0 }
    }

    /// Variable `lane` of a group; within [`Derivatives::evaluate`].
    pub fn variable(re: f64, group: usize, lane: usize) -> Self {
        let slope = |own: &mut [f64; OWN]| {
            *own = NONE;
            own[lane] = 1.0;
        };
        Self::record(1 << group, re, |_, _, own| slope(own), |_, _| ())
    }

    #[inline]
    fn own<'v>(&self, values: &'v [f64], group: usize) -> &'v [f64; OWN] {
        match self.groups {
            BOTH => Derivatives::array(values, self.place as usize + group * OWN),
            groups if groups >> group & 1 == 1 => Derivatives::array(values, self.place as usize),
            _ => &NONE,
        }
    }

    #[inline]
    fn between<'v>(&self, values: &'v [f64]) -> &'v [f64; SQUARE] {
        if self.groups == BOTH {
            Derivatives::array(values, self.place as usize + 2 * OWN)
        } else {
            Derivatives::array(&NONE, 0)
        }
    }

    /// A number with these derivatives. `own(earlier, group, result)` and `between(earlier, result)` fill all of what they are
    /// given, and are asked for no more than there is.
    #[inline(always)]
    fn record(
        groups: u8,
        re: f64,
        own: impl Fn(&[f64], usize, &mut [f64; OWN]),
        between: impl Fn(&[f64], &mut [f64; SQUARE]),
    ) -> Self {
        if groups == 0 {
            return Self::constant(re);
        }
        STORE.with_borrow_mut(|store| {
            let place = store.used;
            let end = place + 2 * OWN + SQUARE;
            if store.values.len() < end {
                store.values.resize(2 * end, 0.0);
            }
            let (earlier, rest) = store.values.split_at_mut(place);
            let (first, rest) = rest.split_at_mut(OWN);
            let (second, rest) = rest.split_at_mut(OWN);
            store.used = place + OWN;
            // all of them are as long as that
            let (Some(first), Some(second), Some(both)) =
                (first.first_chunk_mut(), second.first_chunk_mut(), rest.first_chunk_mut())
            else {
                unreachable!("the store has room for all parts of a number")
            };
            if groups == BOTH {
                own(earlier, 0, first);
                own(earlier, 1, second);
                between(earlier, both);
                store.used = end;
            } else {
                own(earlier, usize::from(groups >> 1), first);
            }
            SecondOrder { re, place: place as u32, groups }
        })
    }

    #[inline]
    fn linear(&self, re: f64, factor: f64) -> Self {
        let scale = |from: &[f64], to: &mut [f64]| to.iter_mut().zip(from).for_each(|(to, x)| *to = x * factor);
        Self::record(
            self.groups,
            re,
            |earlier, group, own| scale(self.own(earlier, group), own),
            |earlier, result| scale(self.between(earlier), result),
        )
    }

    /// Sum or difference.
    #[inline]
    fn combined(&self, other: &Self, re: f64, combine: impl Fn(f64, f64) -> f64) -> Self {
        Self::record(
            self.groups | other.groups,
            re,
            |earlier, group, own| {
                let (x, y) = (self.own(earlier, group), other.own(earlier, group));
                own.iter_mut().zip(x.iter().zip(y)).for_each(|(own, (x, y))| *own = combine(*x, *y));
            },
            |earlier, result| {
                let (x, y) = (self.between(earlier), other.between(earlier));
                result.iter_mut().zip(x.iter().zip(y)).for_each(|(result, (x, y))| *result = combine(*x, *y));
            },
        )
    }

    /// f(self) given f, f' and f'' at the value.
    #[inline]
    fn chain(&self, [value, first, second]: [f64; 3]) -> Self {
        let smooth = first.is_finite() && second.is_finite();
        let slope = |x: f64| if smooth { first * x } else { times(first, x) };
        let product = |x: f64, y: f64| if smooth || x != 0.0 && y != 0.0 { second * x * y } else { 0.0 };
        Self::record(
            self.groups,
            value,
            |earlier, group, own| {
                let x = self.own(earlier, group);
                for i in 0..LANES {
                    own[i] = slope(x[i]);
                    for j in 0..LANES {
                        let place = LANES + i * LANES + j;
                        own[place] = slope(x[place]) + product(x[i], x[j]);
                    }
                }
            },
            |earlier, result| {
                let (x, a, b) = (self.between(earlier), self.own(earlier, 0), self.own(earlier, 1));
                for i in 0..LANES {
                    for j in 0..LANES {
                        let place = i * LANES + j;
                        result[place] = slope(x[place]) + product(a[i], b[j]);
                    }
                }
            },
        )
    }

    #[inline]
    fn product(&self, other: &Self) -> Self {
        let (x, y) = (self, other);
        Self::record(
            x.groups | y.groups,
            x.re * y.re,
            |earlier, group, own| {
                let (a, b) = (x.own(earlier, group), y.own(earlier, group));
                for i in 0..LANES {
                    own[i] = a[i] * y.re + b[i] * x.re;
                    for j in 0..LANES {
                        let place = LANES + i * LANES + j;
                        own[place] = a[place] * y.re + b[place] * x.re + (a[i] * b[j] + a[j] * b[i]);
                    }
                }
            },
            |earlier, result| {
                let (a, b) = (x.between(earlier), y.between(earlier));
                let [x0, x1, y0, y1] =
                    [(x, 0), (x, 1), (y, 0), (y, 1)].map(|(number, group)| number.own(earlier, group));
                for i in 0..LANES {
                    for j in 0..LANES {
                        let place = i * LANES + j;
                        result[place] = a[place] * y.re + b[place] * x.re + (x0[i] * y1[j] + y0[i] * x1[j]);
                    }
                }
            },
        )
    }

    /// f(self) for a function that is known over dual numbers.
    #[inline]
    fn function(&self, f: impl Fn(Jet<Jet<f64, 1>, 1>) -> Jet<Jet<f64, 1>, 1>) -> Self {
        let one = Jet { re: 1.0, eps: [0.0] };
        let value = f(Jet { re: Jet { re: self.re, eps: [1.0] }, eps: [one] });
        self.chain([value.re.re, value.re.eps[0], value.eps[0].eps[0]])
    }

    #[inline]
    fn real_part(&self) -> f64 {
        self.re
    }

    #[inline]
    fn absolute(&self) -> Self {
        if self.re < 0.0 { -*self } else { *self }
    }
}

#[inline]
fn value_of(x: &SecondOrder) -> f64 {
    x.re
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Number;
    use num_dual::DualNum;

    const W: usize = 2;
    type Nested = Jet<Jet<f64, 4>, 4>;

    /// Everything that a model may call, of values that depend on the first group, the second, both and none.
    fn functions<D: Number>(q: [D; 4]) -> Vec<D> {
        let (first, second) = (q[0] * q[1] + 0.3, q[2] / q[3] - q[2] * 0.1);
        let (both, none) = (first * second + q[0] - q[3], D::from(0.7));
        let mut values = vec![none * none, none - first, -both / none, both.powd(none) + none.powd(both)];
        for x in [first, second, both] {
            let y = x * 0.2;
            values.extend([x.recip(), x.sqrt(), x.cbrt(), x.exp(), x.exp2(), x.exp_m1(), x.ln(), x.log(3.0)]);
            values.extend([x.log2(), x.log10(), x.ln_1p(), x.sin(), x.cos(), x.tan(), y.asin(), y.acos(), x.atan()]);
            values.extend([x.sinh(), x.cosh(), x.tanh(), x.asinh(), (x + 1.0).acosh(), y.atanh()]);
            values.extend([
                x.sph_j0(),
                x.sph_j1(),
                x.sph_j2(),
                x.powi(0),
                x.powi(1),
                x.powi(2),
                x.powi(-3),
                x.powf(1.7),
            ]);
            values.extend([x.powd(second), first.powd(x), x.abs(), (-x).abs(), x % second, x.signum()]);
            values.extend([
                x.atan2(none),
                none.atan2(x),
                x.atan2(-both),
                (-both).atan2(first),
                x / second,
                x - both * 2.0,
            ]);
        }
        values
    }

    /// Protects second derivatives of constraints: for every function, those of nested dual numbers, whichever groups its arguments
    /// depend on.
    #[test]
    fn all_functions_agree_with_nested_dual_numbers() {
        let at = [0.9, 1.1, 1.3, 0.8];
        let mut derivatives = Derivatives::default();
        let mut here = Vec::new();
        // over what earlier evaluations left, in stores that end anywhere
        for length in (0..600).chain((600..30_000).step_by(37)) {
            derivatives.values = vec![f64::NAN; length];
            derivatives.evaluate(|| {
                here = functions(std::array::from_fn(|i| SecondOrder::variable(at[i], i / W, i % W)));
            });
            for number in &here {
                let own = [0, 1].map(|group| derivatives.of(number, group)).map(|(a, b)| a.iter().chain(b));
                assert!(
                    own.into_iter().flatten().chain(derivatives.between(number)).all(|x| x.is_finite()),
                    "{length}"
                );
            }
        }
        let nested = functions(std::array::from_fn(|i| {
            let mut x = Nested::from(at[i]);
            x.re.eps[i] = 1.0;
            x.eps[i].re = 1.0;
            x
        }));
        for (k, (here, nested)) in here.iter().zip(&nested).enumerate() {
            let scale = 1.0 + nested.eps.iter().flat_map(|row| row.eps).fold(0.0, |size: f64, x| size.max(x.abs()));
            let close = |a: f64, b: f64| (a - b).abs() <= 1e-13 * scale;
            assert_eq!(here.re, nested.re.re, "{k}");
            let own = [derivatives.of(here, 0), derivatives.of(here, 1)];
            let between = derivatives.between(here);
            for i in 0..4 {
                assert!(close(own[i / W].0[i % W], nested.re.eps[i]), "{k}: {own:?} {nested:?}");
                for j in 0..4 {
                    let second = match (i / W, j / W) {
                        (0, 1) => between[i * LANES + j % W],
                        (1, 0) => between[j * LANES + i % W],
                        (group, _) => own[group].1[i % W * LANES + j % W],
                    };
                    assert!(close(second, nested.eps[i].eps[j]), "{k}, ({i}, {j}): {second} {}", nested.eps[i].eps[j]);
                }
            }
        }
    }

    /// Protects ends of domains: a root at zero is infinitely steep along its own variable alone.
    #[test]
    fn a_root_at_zero_is_flat_along_others() {
        let (mut derivatives, mut root) = (Derivatives::default(), SecondOrder::from(0.0));
        derivatives.evaluate(|| {
            root = (SecondOrder::variable(0.0, 0, 0) + SecondOrder::variable(3.0, 1, 0) * 0.0).sqrt();
        });
        let [(steep, _), (flat, curved)] = [derivatives.of(&root, 0), derivatives.of(&root, 1)];
        assert!(root.re == 0.0 && steep[0].is_infinite() && flat[0] == 0.0);
        assert!(curved[0] == 0.0 && derivatives.between(&root)[0] == 0.0);
    }
}
