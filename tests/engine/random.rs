//! Random mechanisms: linear ones, where adjoint, tangents and textbook must agree whatever the matrices are; and trees and loops from
//! parts, whose derivatives must exist wherever they can be simulated.

// matrices are written with indices, as on paper
#![allow(clippy::needless_range_loop)]

use crate::common;

use common::compare::{Limits, compare_within, taylor};
use common::tangles::Tangle;
use common::{ALL, Case};
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::{Form, Hht};
use costate::sensitivity::{Gradient, Method};
use costate::{
    Error, InitialState, Matrix, Model, Number, Parameter, Quantity, Result, Signature, Simulation, State, TimeGrid,
};
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::sync::Arc;

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
        let m = model.m;
        let case = Case::new(model, &u, Vec::new(), 0.03, 25).alpha(alpha).form(form).project();
        let case = if uneven { case.uneven() } else { case };
        // the matrices' condition numbers, up to a hundred, multiply the round-off
        let limits = if m == 0 {
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

/// Positions, accelerations and outputs.
struct Looks;

impl CostFunction for Looks {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        let parts = [(x.q, 1.0), (x.v, 0.3), (x.a, 0.01), (y, 0.01)];
        let terms = parts.into_iter().flat_map(|(values, size)| values.iter().map(move |x| *x * size));
        terms.enumerate().map(|(i, x)| x * x * (1.0 + 0.3 * (1.7 * i as f64).sin())).sum()
    }
}

/// What became of a random mechanism.
enum Fate {
    /// It cannot be built or simulated.
    Fails(Error),
    /// The largest difference of adjoint and tangents, beside the largest entry of the gradient or the cost, for changes of
    /// parameters by themselves.
    Agrees(f64),
}

fn try_tangle(tangle: Tangle, steps: usize, step: f64) -> Result<Fate> {
    let fails = |error| Ok(Fate::Fails(error));
    let system = match tangle.build() {
        Ok(system) => Arc::new(system),
        Err(error) => return fails(error),
    };
    let state = if tangle.loops { InitialState::AsGiven } else { InitialState::Projected };
    let grid = TimeGrid::steps(0.0, step, steps)?;
    let simulation = Simulation::new(system, Hht::new(-0.1)?, grid, vec![])?.initial_state(state);
    let u = simulation.signature().nominal();
    if let Err(error) = simulation.run(&u) {
        return fails(error);
    }
    let cost = Differentiated::new(Looks, Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &cost)?;
    let [mut adjoint, mut tangent] = [vec![0.0; u.len()], vec![0.0; u.len()]];
    let value = engine.cost_and_gradient(&u, Method::Tangent, &mut tangent)?;
    engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint)?;
    // a point that is pinned to the ground has nothing to show but round-off
    let size = adjoint.iter().zip(&u).fold(value.abs().max(1e-9), |size, (g, u)| size.max((g * u).abs()));
    let off = adjoint.iter().zip(&tangent).zip(&u).fold(0.0f64, |off, ((a, b), u)| off.max(((a - b) * u).abs()));
    Ok(Fate::Agrees(off / size))
}

/// Protects gradients from judging other than the forward run whether the equations are singular: every random tree and loop, of
/// the plane and of space, with masses of one size and over seven decades, that can be simulated has tangents and an adjoint, and
/// they agree. `COSTATE_TANGLES=FIRST..LAST` chooses others, any number of them.
#[test]
fn what_can_be_simulated_can_be_differentiated() {
    let chosen = std::env::var("COSTATE_TANGLES").ok();
    let chosen = chosen.as_deref().and_then(|text| text.split_once(".."));
    let seeds = match chosen {
        Some((first, last)) => first.parse().unwrap()..last.parse().unwrap(),
        None => 0u64..160,
    };
    let (mut agreed, mut worst, mut failed) = (0, [0.0f64; 2], BTreeMap::<String, usize>::new());
    let mut wrong = Vec::new();
    for seed in seeds.clone() {
        let tangle = Tangle::numbered(seed);
        let (steps, step) = [(40, 2e-3), (25, 1e-2), (60, 5e-4)][(seed / 8 % 3) as usize];
        match try_tangle(tangle, steps, step) {
            Err(error) => wrong.push(format!("{tangle:?}: {error}")),
            Ok(Fate::Fails(error)) => {
                let kind = format!("{error:?}");
                *failed.entry(kind.split([' ', '{', '(']).next().unwrap_or_default().to_string()).or_default() += 1;
            }
            Ok(Fate::Agrees(off)) => {
                agreed += 1;
                let worst = &mut worst[usize::from(tangle.wild)];
                *worst = worst.max(off);
                // masses over seven decades take up to so many digits
                let limit = if tangle.wild { 1e-5 } else { 1e-9 };
                if off.is_nan() || off > limit {
                    wrong.push(format!("{tangle:?}: adjoint and tangents differ by {off:.1e}"));
                }
            }
        }
    }
    println!(
        "{agreed} of {} agree, to {:.1e}, and {:.1e} where wild; not simulated: {failed:?}",
        seeds.end - seeds.start,
        worst[0],
        worst[1]
    );
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), seeds.end - seeds.start, wrong.join("\n"));
    assert!(2 * agreed > seeds.end - seeds.start, "only {agreed} can be simulated: {failed:?}");
}

/// Protects costs that do not depend on how derivatives are found, to the last bit: the stored run that tangents are carried along is the
/// run that the cost was added up in. What the scheme makes of the start differs from the start by round-off in some of these.
#[test]
fn stored_runs_are_the_runs_that_were_seen() {
    let u = [1.1, 1.4, 1.2, 1.0, 0.6, 1.5];
    for seed in 0..200 {
        let numbers = (0..101).map(|k| (f64::from(seed) + 7.3 * f64::from(k * k)).sin()).collect();
        let model = Linear { n: 5, m: 4, semidefinite: false, numbers };
        let _m = model.m;
        let case = Case::new(model, &u, Vec::new(), 0.03, 2).alpha(-0.3).form(Form::Literal).project();
        let simulation = case.simulation();
        let cost = case.cost_of(ALL).differentiated(Quadrature::Trapezoid);
        let mut gradient = Gradient::new(&simulation, &*cost).unwrap();
        let value = gradient.cost(&u).unwrap();
        let again = gradient.cost_and_gradient(&u, Method::Tangent, &mut [0.0; 6]).unwrap();
        assert_eq!(value, again, "mechanism {seed}");
    }
}
