//! The dense blocks of the linearised equations, one direction at a time.
//!
//! This knows nothing of structure and shared seeds: it is the slow, plain way, for reports, and what the fast one is
//! checked against.

use super::functions::{Dual, Functions, Square};
use crate::Matrix;
use crate::system::{Blocks, Point};

type Nested = Square<1>;

/// The values and first derivatives of all equations of a model at a point.
pub fn evaluate(model: &dyn Functions, x: &Point<'_>, u: &[f64], blocks: &mut Blocks) {
    blocks.mass.fill(0.0);
    model.mass(x.q, u, &mut blocks.mass);
    evaluate_motion(model, x, u, blocks);
    if !x.lambda.is_empty() {
        evaluate_constraints(model, x, u, blocks);
    }
}

/// The derivatives of M a and of Q.
fn evaluate_motion(model: &dyn Functions, x: &Point<'_>, u: &[f64], blocks: &mut Blocks) {
    let n = x.q.len();
    let constants = |values: &[f64]| values.iter().map(|&value| Dual::from(value)).collect::<Vec<_>>();
    let (mut q, mut v, mut u) = (constants(x.q), constants(x.v), constants(u));
    let (w, t) = (constants(x.w), Dual::from(x.t));
    let inertia = |q: &[Dual], u: &[Dual]| {
        let mut mass = Matrix::filled(n, n, Dual::from(0.0));
        model.mass(q, u, &mut mass);
        (0..n).map(|i| (0..n).map(|j| mass[(i, j)] * x.a[j]).sum::<Dual>().eps[0]).collect::<Vec<_>>()
    };
    let force = |q: &[Dual], v: &[Dual], u: &[Dual]| {
        let mut force = vec![Dual::from(0.0); n];
        model.force(t, q, v, &w, u, &mut force);
        force.into_iter().map(|jet| jet.eps[0]).collect::<Vec<_>>()
    };
    let column = |matrix: &mut Matrix<f64>, j: usize, values: &[f64]| {
        values.iter().enumerate().for_each(|(i, value)| matrix[(i, j)] = *value);
    };
    for j in 0..n {
        q[j].eps[0] = 1.0;
        column(&mut blocks.inertia_by_position, j, &inertia(&q, &u));
        column(&mut blocks.force_by_position, j, &force(&q, &v, &u));
        q[j].eps[0] = 0.0;
        v[j].eps[0] = 1.0;
        column(&mut blocks.force_by_velocity, j, &force(&q, &v, &u));
        v[j].eps[0] = 0.0;
    }
    for k in 0..u.len() {
        u[k].eps[0] = 1.0;
        column(&mut blocks.inertia_by_parameter, k, &inertia(&q, &u));
        column(&mut blocks.force_by_parameter, k, &force(&q, &v, &u));
        u[k].eps[0] = 0.0;
    }
}

/// The derivatives of C and of C_qᵀ λ.
fn evaluate_constraints(model: &dyn Functions, x: &Point<'_>, u: &[f64], blocks: &mut Blocks) {
    let n = x.q.len();
    let nested = |values: &[f64]| values.iter().map(|&value| Nested::from(value)).collect::<Vec<_>>();
    let (mut q, mut u) = (nested(x.q), nested(u));
    let mut c = vec![Nested::from(0.0); x.lambda.len()];
    for j in 0..n {
        for inner in 0..n + u.len() {
            q[j].eps[0].re = 1.0;
            let jet = if inner < n { &mut q[inner] } else { &mut u[inner - n] };
            jet.re.eps[0] = 1.0;
            c.fill(Nested::from(0.0));
            model.constraint(Nested::from(x.t), &q, &u, &mut c);
            let jet = if inner < n { &mut q[inner] } else { &mut u[inner - n] };
            jet.re.eps[0] = 0.0;
            q[j].eps[0].re = 0.0;
            let slope = c.iter().zip(x.lambda).map(|(c, lambda)| lambda * c.eps[0].eps[0]).sum();
            if inner < n {
                blocks.constraint_force_by_position[(j, inner)] = slope;
            } else {
                blocks.constraint_force_by_parameter[(j, inner - n)] = slope;
            }
            for (row, c) in c.iter().enumerate() {
                blocks.constraint_by_position[(row, j)] = c.eps[0].re;
                if inner >= n {
                    blocks.constraint_by_parameter[(row, inner - n)] = c.re.eps[0];
                }
            }
        }
    }
}
