//! Bounds on the round-off of a model's residuals.

use super::functions::{Directed, Functions};
use super::kernel::Sizes;
use crate::Matrix;
use crate::number::{Jet, Rounded};
use crate::system::{Equations, Level, Point};

const ZERO: Rounded = Rounded { re: 0.0, error: 0.0 };

fn constant(re: Rounded) -> Directed {
    Jet { re, eps: [ZERO] }
}

/// Scratch memory for the bounds of one model.
pub struct RoundOff {
    q: Vec<Rounded>,
    v: Vec<Rounded>,
    w: Vec<Rounded>,
    u: Vec<Rounded>,
    force: Vec<Rounded>,
    mass: Matrix<Rounded>,
    q_directed: Vec<Directed>,
    u_directed: Vec<Directed>,
    c: Vec<Directed>,
}

fn set(numbers: &mut [Rounded], values: &[f64]) {
    numbers.iter_mut().zip(values).for_each(|(number, value)| *number = Rounded::measured(*value));
}

impl RoundOff {
    /// Room for models of these sizes.
    pub fn new(sizes: Sizes) -> Self {
        let Sizes { n, m, p, inputs, .. } = sizes;
        let zeros = |count| vec![ZERO; count];
        let directed = |count| vec![constant(ZERO); count];
        RoundOff {
            q: zeros(n),
            v: zeros(n),
            w: zeros(inputs),
            u: zeros(p),
            force: zeros(n),
            mass: Matrix::filled(n, n, ZERO),
            q_directed: directed(n),
            u_directed: directed(p),
            c: directed(m),
        }
    }

    /// Bounds for D = M a + C_qᵀ λ - Q and for C or dC/dt, with every argument and constant taken as rounded once.
    pub fn bound(
        &mut self,
        model: &dyn Functions,
        (x, u): (&Point<'_>, &[f64]),
        equations: Equations,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) {
        set(&mut self.q, x.q);
        set(&mut self.v, x.v);
        set(&mut self.w, x.w);
        set(&mut self.u, u);
        let t = Rounded::measured(x.t);
        self.force.fill(ZERO);
        if equations.forces {
            model.force(t, &self.q, &self.v, &self.w, &self.u, &mut self.force);
        }
        self.mass.fill(ZERO);
        model.mass(&self.q, &self.u, &mut self.mass);
        for (row, d) in self.force.iter_mut().enumerate() {
            *d = -*d;
            for (column, a) in x.a.iter().enumerate() {
                *d += self.mass[(row, column)] * Rounded::measured(*a);
            }
        }
        if !self.c.is_empty() {
            self.q_directed.iter_mut().zip(&self.q).for_each(|(jet, re)| *jet = constant(*re));
            self.u_directed.iter_mut().zip(&self.u).for_each(|(jet, re)| *jet = constant(*re));
            for j in 0..self.q.len() {
                self.q_directed[j].eps[0] = Rounded { re: 1.0, error: 0.0 };
                self.c.fill(constant(ZERO));
                model.constraint(constant(t), &self.q_directed, &self.u_directed, &mut self.c);
                self.q_directed[j].eps[0] = ZERO;
                for (c, lambda) in self.c.iter().zip(x.lambda) {
                    self.force[j] += c.eps[0] * Rounded::measured(*lambda);
                }
            }
            constraint.iter_mut().zip(&self.c).for_each(|(bound, c)| *bound = c.re.error);
            if equations.level != Level::Position {
                self.q_directed.iter_mut().zip(&self.v).for_each(|(jet, v)| jet.eps[0] = *v);
                self.c.fill(constant(ZERO));
                let t = Jet { re: t, eps: [Rounded { re: 1.0, error: 0.0 }] };
                model.constraint(t, &self.q_directed, &self.u_directed, &mut self.c);
                constraint.iter_mut().zip(&self.c).for_each(|(bound, c)| *bound = c.eps[0].error);
            }
        }
        dynamics.iter_mut().zip(&self.force).for_each(|(bound, d)| *bound = d.error);
    }
}
