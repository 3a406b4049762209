//! A function of the parameters written generically, with its derivatives by dual numbers.

use crate::constraint::Function;
use crate::number::{Jet, Number};

/// A smooth function of the parameters, for a constraint.
pub trait ParameterFunction: Send + Sync {
    /// Its value at the parameters u, in the model's order.
    fn value<D: Number>(&self, u: &[D]) -> D;
}

/// A [`ParameterFunction`] as a [`Function`].
#[derive(Debug, Clone)]
pub struct DifferentiatedFunction<F>(pub F);

const WIDTH: usize = 4;

/// Evaluates `function` on jets along `WIDTH` of the variables `x` at a time, and hands place and slope to `take`.
fn sweep<F: ParameterFunction, T: Number>(
    function: &F,
    x: impl Iterator<Item = T>,
    one: T,
    mut take: impl FnMut(usize, T),
) {
    let mut x: Vec<Jet<T, WIDTH>> = x.map(Jet::constant).collect();
    for first in (0..x.len()).step_by(WIDTH) {
        let last = x.len().min(first + WIDTH);
        (first..last).for_each(|i| x[i].eps[i - first] = one);
        let value = function.value(&x);
        for (k, slope) in value.eps.into_iter().enumerate().take(last - first) {
            x[first + k].eps[k] = T::zero();
            take(first + k, slope);
        }
    }
}

impl<F: ParameterFunction> Function for DifferentiatedFunction<F> {
    fn value(&self, u: &[f64]) -> f64 {
        self.0.value(u)
    }

    fn add_gradient(&self, u: &[f64], scale: f64, gradient: &mut [f64]) {
        sweep(&self.0, u.iter().copied(), 1.0, |k, slope| gradient[k] += scale * slope);
    }

    fn add_curvature(&self, u: &[f64], scale: f64, direction: &[f64], product: &mut [f64]) {
        let along = u.iter().zip(direction).map(|(u, d)| Jet { re: *u, eps: [*d] });
        sweep(&self.0, along, Jet::<f64, 1>::constant(1.0), |k, slope| product[k] += scale * slope.eps[0]);
    }
}
