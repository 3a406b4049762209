//! Random linear mechanisms: adjoint, tangents and textbook must agree whatever the matrices are.

// matrices are written with indices, as on paper
#![allow(clippy::needless_range_loop)]

use crate::common;

use common::compare::{Limits, compare_within, taylor};
use common::{ALL, Case};
use costate::cost::Quadrature;
use costate::scheme::Form;
use costate::{Matrix, Model, Number, Parameter, Quantity, Signature, State};
use proptest::prelude::*;

/// M(u) q'' + D(u) q' + K(u) q + C_q(u)ᵀ λ = f(t, u), C_q(u) q = c(t, u), with entries that are products of parameters and
/// random numbers.
#[derive(Debug, Clone)]
struct Linear {
    n: usize,
    m: usize,
    /// Whether M has a zero eigenvalue, which a constraint makes up for.
    semidefinite: bool,
    /// Random numbers in [-1, 1].
    numbers: Vec<f64>,
}

const PARAMETERS: [&str; 6] = ["mass", "damping", "stiffness", "geometry", "drive", "start"];

impl Linear {
    fn number(&self, list: usize, i: usize, j: usize) -> f64 {
        self.numbers[(list * 31 + i * 7 + j * 3) % self.numbers.len()]
    }

    /// Unit matrix plus something smaller: never singular.
    fn near_identity(&self, list: usize, i: usize, j: usize) -> f64 {
        let off = 0.6 / self.n as f64 * self.number(list, i, j);
        if i == j { 1.0 + off } else { off }
    }

    fn matrix<D: Number>(&self, t: D, u: &[D], row: usize, j: usize) -> D {
        let wobble = t * 0.05 * self.number(5, j, row);
        u[3] * self.near_identity(4, row, j) + wobble + 0.1 * self.number(6, row, j)
    }
}

impl Model for Linear {
    fn signature(&self) -> Signature {
        let names = |letter: &str, count: usize| {
            (0..count).map(|k| Quantity::new(format!("{letter}{k}"), "1")).collect::<Vec<_>>()
        };
        Signature {
            coordinates: names("q", self.n),
            constraints: names("c", self.m),
            outputs: names("y", 2),
            parameters: PARAMETERS.map(|name| Parameter::new(name, "1", 1.0)).to_vec(),
            ..Signature::new("linear")
        }
    }

    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        for j in 0..self.n {
            q[j] = u[5] * self.number(7, j, 0);
            v[j] = u[5] * u[3] * self.number(8, 0, j);
        }
    }

    /// Bᵀ diag B with B near the identity; the constraints' rows are near it, too, so that the first ones meet the zero.
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        for i in 0..self.n {
            for j in 0..self.n {
                for k in 0..self.n {
                    let eigenvalue = if k == 0 && self.semidefinite { D::from(0.0) } else { u[0] * (1.0 + k as f64) };
                    m[(i, j)] += eigenvalue * (self.near_identity(0, k, i) * self.near_identity(0, k, j));
                }
            }
        }
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        for i in 0..self.n {
            force[i] = u[4] * (t * 5.0 + self.number(1, i, 0)).sin();
            for j in 0..self.n {
                // symmetric stiffness, any damping
                let stiffness = self.near_identity(2, i.min(j), i.max(j)) * 30.0;
                force[i] -= u[2] * q[j] * stiffness + u[1] * v[j] * self.near_identity(3, i, j);
            }
        }
    }

    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        for row in 0..self.m {
            c[row] = -u[4] * (t * 2.0 + self.number(9, row, 1)).sin() * 0.2;
            for j in 0..self.n {
                c[row] += self.matrix(t, u, row, j) * q[j];
            }
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        y[0] = x.a[0] * u[0] + x.q[self.n - 1];
        y[1] = if self.m > 0 { x.lambda[0] } else { x.v[0] };
    }
}

fn mechanism() -> impl Strategy<Value = Linear> {
    (1usize..=5, 0usize..5, any::<bool>(), prop::collection::vec(-1.0f64..1.0, 101)).prop_map(
        |(n, m, flat, numbers)| {
            let m = m.min(n - 1);
            Linear { n, m, semidefinite: flat && m > 0, numbers }
        },
    )
}

fn values() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(0.5f64..1.5, PARAMETERS.len())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    /// Protects every combination of sizes, full and singular mass matrices, and parameters in every matrix; starts are
    /// projected, steps are even or not.
    #[test]
    fn gradients_of_random_linear_mechanisms_agree(
        model in mechanism(),
        u in values(),
        alpha in prop::sample::select(vec![-0.05, -0.1, -0.3]),
        form in prop::sample::select(vec![Form::Consistent, Form::Literal]),
        uneven in any::<bool>(),
    ) {
        let what = format!("n = {}, m = {}, semidefinite {}", model.n, model.m, model.semidefinite);
        let case = Case::new(model, &u, Vec::new(), 0.03, 25).alpha(alpha).form(form).project();
        let case = if uneven { case.uneven() } else { case };
        // the matrices' condition numbers, up to a hundred, multiply the round-off
        let limits = if case.model.m == 0 {
            Limits { textbook: 2e-12, tangent: 2e-12, value: 2e-12 }
        } else {
            Limits { textbook: 5e-10, tangent: 2e-10, value: 2e-10 }
        };
        let cost = case.cost_of(ALL);
        compare_within(limits, &what, &case, &cost, Quadrature::Trapezoid);
    }
}

/// Protects the gradient as the derivative of the cost where everything is switched on.
#[test]
fn a_large_random_mechanism_has_a_quadratic_remainder() {
    let numbers = (0..101).map(|i| (i as f64 * 12.9898).sin()).collect();
    let model = Linear { n: 5, m: 3, semidefinite: true, numbers };
    let case = Case::new(model, &[0.9, 1.1, 0.8, 1.2, 0.7, 1.3], Vec::new(), 0.03, 40).alpha(-0.1).project();
    taylor("linear", &case, &case.cost_of(ALL));
}
