//! A function of the parameters written generically, with its derivatives in reverse.

use crate::number::{Jet, Number, Sweep, Taped, Var};

/// A smooth function of the parameters, in plain `f64`.
pub trait Function: Send + Sync {
    /// Value of the function.
    fn value(&self, u: &[f64]) -> f64;

    /// Adds `scale` times its gradient.
    fn add_gradient(&self, u: &[f64], scale: f64, gradient: &mut [f64]);

    /// Adds `scale` times the product of its Hessian and `direction`.
    fn add_curvature(&self, u: &[f64], scale: f64, direction: &[f64], product: &mut [f64]);
}

/// A smooth function of the parameters, for a constraint.
pub trait ParameterFunction: Send + Sync {
    /// Value of the function at the parameters u, in the model's order.
    fn value<D: Number>(&self, u: &[D]) -> D;
}

/// A weighted sum of parameters, each by its place.
impl Function for Vec<(usize, f64)> {
    fn value(&self, u: &[f64]) -> f64 {
        self.iter().map(|(k, weight)| weight * u[*k]).sum()
    }

    fn add_gradient(&self, _u: &[f64], scale: f64, gradient: &mut [f64]) {
        self.iter().for_each(|(k, weight)| gradient[*k] += scale * weight);
    }

    fn add_curvature(&self, _u: &[f64], _scale: f64, _direction: &[f64], _product: &mut [f64]) {}
}

/// A [`ParameterFunction`] as a [`Function`].
#[derive(Debug, Clone)]
pub struct DifferentiatedFunction<F>(pub F);

/// The derivatives of `function` by all of the variables.
fn slopes<F: ParameterFunction, T: Taped>(function: &F, x: impl ExactSizeIterator<Item = T>) -> Vec<T> {
    let mut sweep = Sweep::new(x.len());
    sweep.begin();
    let x: Vec<Var<T>> = x.enumerate().map(|(k, value)| Sweep::variable(k, value)).collect();
    let value = function.value(&x);
    sweep.end();
    sweep.add(T::one(), &value);
    sweep.derivatives().to_vec()
}

impl<F: ParameterFunction> Function for DifferentiatedFunction<F> {
    fn value(&self, u: &[f64]) -> f64 {
        self.0.value(u)
    }

    fn add_gradient(&self, u: &[f64], scale: f64, gradient: &mut [f64]) {
        let slopes = slopes(&self.0, u.iter().copied());
        for (k, (slope, own)) in slopes.into_iter().zip(gradient).enumerate() {
            let is_finite = slope.is_finite();
            // zero times infinity is zero forwards
            let along = |j: usize| Jet { re: u[j], eps: [if j == k { 1.0 } else { 0.0 }] };
            let forwards = || self.0.value(&(0..u.len()).map(along).collect::<Vec<Jet<f64, 1>>>()).eps[0];
            *own += scale * if is_finite { slope } else { forwards() };
        }
    }

    fn add_curvature(&self, u: &[f64], scale: f64, direction: &[f64], product: &mut [f64]) {
        let along = u.iter().zip(direction).map(|(u, d)| Jet { re: *u, eps: [*d] });
        let slopes = slopes(&self.0, along);
        product.iter_mut().zip(slopes).for_each(|(own, slope)| *own += scale * slope.eps[0]);
    }
}
