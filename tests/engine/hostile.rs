//! Mechanisms that are hard on an integrator: stiff friction far from the origin, hidden cancellation at rest, functions with
//! infinite slopes, branches, unrelated scales.

use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::{Error, InitialState, Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
use std::sync::Arc;

fn simulation<M: Model + 'static>(model: M, alpha: f64, step: f64, count: usize) -> Simulation {
    let system = Arc::new(Plain::new(model).unwrap());
    Simulation::new(system, Hht::new(alpha).unwrap(), TimeGrid::steps(0.0, step, count).unwrap(), vec![]).unwrap()
}

/// 6 sin(300 t) - u0 tanh(v / eps) on one mass at q(0) = offset: nothing depends on q.
struct Friction {
    eps: f64,
    offset: f64,
}

impl Model for Friction {
    fn signature(&self) -> Signature {
        Signature::new("friction").coordinates([("q", "m")]).parameters([Parameter::new("u0", "N", 3.0)])
    }
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(self.offset);
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = (t * 300.0).sin() * 6.0 - u[0] * (v[0] / self.eps).tanh();
    }
}

/// Protects honesty: however far from the origin, a step is solved to its round-off or refused; a large position is no excuse
/// for an unbalanced force.
#[test]
fn a_large_position_does_not_excuse_an_unsolved_step() {
    let mut solved = 0;
    for (eps, step) in [(1e-6, 1e-4), (1e-8, 1e-5), (1e-3, 1e-4)] {
        for offset in [0.0, 1.0, 1e3, 1e5, 1e7] {
            let result = simulation(Friction { eps, offset }, -0.1, step, 600).run(&[3.0]);
            let Ok(run) = result else { continue };
            solved += 1;
            for i in 1..=600 {
                let x = run.state(i);
                let force = (run.times()[i] * 300.0).sin() * 6.0 - 3.0 * (x.v[0] / eps).tanh();
                // v carries round-off of its own sums, which friction magnifies by u0 / eps
                let slack = 1e-12 + 3.0 / eps * 1e-16 * x.v[0].abs().max(1e-3);
                assert!((x.a[0] - force).abs() < slack, "eps {eps}, offset {offset}, step {i}: {} {force}", x.a[0]);
            }
        }
    }
    assert!(solved >= 5, "only {solved} of 15 runs were solved");
}

/// A coordinate from the loaded rest position of a spring, so that large terms cancel at q = 0.
struct Preloaded {
    k: f64,
    m: f64,
    q0: f64,
}

impl Model for Preloaded {
    fn signature(&self) -> Signature {
        Signature::new("preloaded").coordinates([("q", "m")]).parameters([Parameter::new("g", "m/s^2", 9.81)])
    }
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(self.q0);
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(self.m);
    }
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let sag = u[0] * self.m / self.k;
        force[0] = u[0] * self.m - (q[0] + sag) * self.k - v[0] * (0.5 * (self.k * self.m).sqrt());
    }
}

/// Protects mechanisms at rest: round-off of terms that cancel is no failure of Newton's iteration.
#[test]
fn hidden_cancellation_at_rest_is_not_a_failure() {
    for k in [1e4, 1e5, 1e6] {
        for m in [0.07, 0.7, 7.0, 70.0, 700.0] {
            for step in [1e-2, 1e-3, 1e-4] {
                for q0 in [0.0, 1e-3] {
                    let run = simulation(Preloaded { k, m, q0 }, -0.1, step, 1000).run(&[9.81]);
                    let run = run.unwrap_or_else(|error| panic!("k {k}, m {m}, h {step}, q0 {q0}: {error}"));
                    let counters = run.counters;
                    assert!(counters.iterations <= 8 * counters.steps, "k {k}, m {m}, h {step}, q0 {q0}: {counters:?}");
                }
            }
        }
    }
}

/// A bead on a circle given by its distance from a point, at the origin to round-off only, plus a far-away coordinate.
struct Distance {
    length: f64,
    off: f64,
    far: f64,
}

impl Model for Distance {
    fn signature(&self) -> Signature {
        Signature::new("distance")
            .coordinates([("x", "m"), ("y", "m"), ("far", "m")])
            .constraints([("rod", "m")])
            .parameters([Parameter::new("m", "kg", 1.0)])
    }
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[0] = D::from(self.off);
        q[2] = D::from(self.far);
    }
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        (0..3).for_each(|j| m[(j, j)] = u[0]);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[1] = u[0] * -9.81;
    }
    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        let (x, y) = (q[0] + 0.6 * self.length, q[1] - 0.8 * self.length);
        c[0] = (x * x + y * y).sqrt() - self.length;
    }
}

/// Protects starts whose constraint is satisfied up to the round-off of its own terms, with and without projection.
#[test]
fn a_start_within_the_round_off_of_its_constraint_is_consistent() {
    for i in 0..50 {
        let length = 0.1 * 1.17f64.powi(i);
        let model = || Distance { length, off: 0.0, far: 0.0 };
        simulation(model(), -0.1, 1e-3, 50).run(&[1.0]).unwrap_or_else(|error| panic!("{length}: {error}"));
        let projected = simulation(model(), -0.1, 1e-3, 50).initial_state(InitialState::Projected);
        projected.run(&[1.0]).unwrap_or_else(|error| panic!("projected, {length}: {error}"));
    }
}

/// Protects the check of the start: an unrelated coordinate, however large, does not hide a violation.
#[test]
fn an_unrelated_coordinate_does_not_hide_a_violation() {
    let result = simulation(Distance { length: 1.0, off: 1e-4, far: 1e6 }, -0.1, 1e-3, 5).run(&[1.0]);
    assert!(matches!(result, Err(Error::InconsistentStart { .. })), "{result:?}");
}

/// Friction by the sign of the velocity, drag by |v| v written with a root, a constraint defined near the start only.
struct Steep;

impl Model for Steep {
    fn signature(&self) -> Signature {
        Signature::new("steep")
            .coordinates([("x", "m"), ("y", "m")])
            .constraints([("bowl", "m")])
            .parameters([Parameter::new("drag", "kg/m", 0.3), Parameter::new("push", "N", 0.7)])
    }
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], _v: &mut [D]) {
        q[1] = D::from(0.05);
        q[0] = D::from((0.01f64 - 0.0025).sqrt());
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
        m[(1, 1)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[1] = u[1] - u[0] * v[1] * (v[1] * v[1]).sqrt();
    }
    fn constraint<D: Number>(&self, _t: D, q: &[D], _u: &[D], c: &mut [D]) {
        c[0] = q[0] - (-q[1] * q[1] + 0.01).sqrt();
    }
}

struct FinalHeight;

impl CostFunction for FinalHeight {
    fn terminal<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        x.q[1] + x.v[1] * x.a[1]
    }
}

/// Protects functions with infinite slopes or of limited domain where the motion starts at such a point: derivatives along
/// directions that do not move them are zero, and columns of C_q are evaluated where the constraint exists.
#[test]
fn infinite_slopes_at_the_start_do_no_harm() {
    let simulation = simulation(Steep, -0.1, 1e-3, 120);
    let cost = Differentiated::new(FinalHeight, Quadrature::Rectangle);
    let mut gradient = Gradient::new(&simulation, &cost).unwrap();
    let u = [0.3, 0.7];
    let (mut adjoint, mut tangent) = ([0.0; 2], [0.0; 2]);
    gradient.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
    gradient.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
    for k in 0..2 {
        assert!((adjoint[k] - tangent[k]).abs() < 1e-10 * (1.0 + tangent[k].abs()), "{adjoint:?} {tangent:?}");
        // the cost is known to 1e-12 (multipliers at h = 1e-3) and nearly linear: wide differences are good to 1e-3
        let mut moved = |step: f64| {
            let mut u = u;
            u[k] += step;
            gradient.cost(&u).unwrap()
        };
        let difference = (moved(0.05) - moved(-0.05)) / 0.1;
        assert!((adjoint[k] - difference).abs() < 1e-3 * adjoint[k].abs(), "{k}: {adjoint:?} {difference}");
    }
}

/// Protects the one function that a model is: every number type sees the same values as f64, at zeros, signs and remainders.
#[test]
fn all_numbers_compute_the_same_values() {
    use costate::number::Jet;
    type Dual = Jet<f64, 1>;
    for x in [0.0, -0.0, 2.5, -2.5, 6.0, 1e17] {
        let dual = Dual { re: x, eps: [1.0] };
        assert_eq!(num_traits_signum(dual).re, num_traits_signum(x), "signum of {x}");
        for y in [0.1, 0.3, 1.7, -0.4] {
            assert_eq!((dual % y).re, x % y, "{x} % {y}");
            assert_eq!((dual % Dual::from(y)).re, x % y, "{x} % {y}");
        }
    }
    let cube = Dual { re: -2.0, eps: [1.0] };
    let power = power(cube, Dual::from(3.0));
    assert_eq!((power.re, power.eps[0]), (-8.0, 12.0));
}

fn num_traits_signum<D: Number>(x: D) -> D {
    x.signum()
}

fn power<D: Number>(base: D, exponent: D) -> D {
    base.powd(exponent)
}
