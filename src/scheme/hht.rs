//! Hilber, Hughes and Taylor's scheme as a step equation, in two forms.
//!
//! With β = (1-α)²/4, γ = (1-2α)/2, h the step, and g = C_qᵀ λ - Q (Lauss 2018, eqs. (12)-(15)):
//!
//! ```text
//! q_i = q_{i-1} + h v_{i-1} + h²/2 [(1-2β) a_{i-1} + 2β a_i]
//! v_i = v_{i-1} + h [(1-γ) a_{i-1} + γ a_i]
//! consistent:  M_i q''_i + g_i = 0,  q''_i = (a_i + α q''_{i-1}) / (1+α)
//! literal:     (M a)_i / (1+α) + g_i - α/(1+α) g_{i-1} = 0
//! both:        C(q_i, t_i, u) / (β h²) = 0
//! ```
//!
//! For a constant M the two are the same equation. With M(q) and α ≠ 0 the literal form is of first order, because it takes
//! M at t_i and a_i at t_i + α h; the consistent form (Arnold & Brüls 2007 with α_m = 0, α_f = -α) keeps second order.

mod products;

use super::newton::{Convergence, NewtonOptions, Verdict};
use super::round_off::{BOUND_LIFE, Excess, STALLED, larger, largest, worst_row};
use super::{Counters, Direction, Layout, Scheme, Step, Stepper};
use crate::error::{Error, Result};
use crate::signature::Signature;
use crate::system::{Equations, Evaluator, OutputPoint, Point, StateVector, Weights};

/// Which form of the step equation is solved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Form {
    /// Equations of motion at t_i with the consistent acceleration: second order for every M.
    #[default]
    Consistent,
    /// As printed in Lauss 2018, eq. (13): first order where M depends on q.
    Literal,
}

/// The scheme with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Hht {
    alpha: f64,
    form: Form,
    newton: NewtonOptions,
}

impl Hht {
    /// `alpha` in [-1/3, 0]; 0 is the trapezoidal rule, smaller values damp high frequencies.
    ///
    /// # Errors
    /// [`Error::Invalid`] outside that interval.
    pub fn new(alpha: f64) -> Result<Self> {
        // -1/3 has no exact double: accept what rounds to it
        if !(-1.0 / 3.0 - 1e-12..=0.0).contains(&alpha) {
            let problem = format!("{alpha} lies outside [-1/3, 0], where the scheme is stable and of second order");
            return Err(Error::invalid("alpha of the HHT scheme", problem, "use -0.1, for example"));
        }
        Ok(Hht { alpha, form: Form::Consistent, newton: NewtonOptions::default() })
    }

    /// Chooses the form of the equation.
    pub fn form(mut self, form: Form) -> Self {
        self.form = form;
        self
    }

    /// Changes Newton's limits.
    pub fn newton(mut self, options: NewtonOptions) -> Self {
        self.newton = options;
        self
    }

    /// α.
    pub fn alpha(&self) -> f64 {
        self.alpha
    }

    /// Which form is solved.
    pub fn which_form(&self) -> Form {
        self.form
    }
}

impl Scheme for Hht {
    fn name(&self) -> String {
        match self.form {
            Form::Consistent => "hht".into(),
            Form::Literal => "hht-literal".into(),
        }
    }

    fn parameter(&self) -> f64 {
        self.alpha
    }

    fn layout(&self, signature: &Signature) -> Layout {
        let n = signature.coordinates.len();
        let memory = if self.form == Form::Literal { n } else { 0 };
        Layout { n, m: signature.constraints.len(), memory }
    }

    fn own_acceleration(&self, before: &[f64], after: &[f64], own: &mut [f64]) {
        own_acceleration(self.alpha, before, after, own);
    }

    fn stepper(&self, signature: &Signature) -> Box<dyn Stepper> {
        let layout = self.layout(signature);
        let Layout { n, m, .. } = layout;
        let zeros = |k| vec![0.0; k];
        Box::new(HhtStepper {
            alpha: self.alpha,
            literal: self.form == Form::Literal,
            layout,
            convergence: Convergence::new(self.newton),
            history: History { change: zeros(n + m), step: 0.0, known: false },
            z: zeros(n + m),
            z_start: zeros(n + m),
            r: zeros(n + m),
            residual: zeros(n + m),
            bound: zeros(n + m),
            inertial: zeros(n),
            bound_age: None,
            noise: 0.0,
            base: [zeros(n), zeros(n), zeros(n)],
            zeros: zeros(n + m),
            saved: zeros(n),
            spare: zeros(n),
        })
    }
}

/// How the unknowns changed in the last step, for extrapolation.
#[derive(Debug, Clone)]
struct History {
    change: Vec<f64>,
    step: f64,
    known: bool,
}

/// Newton steps of shortened length before a step counts as failed.
const DAMPED_ITERATIONS: usize = 60;
/// The shortest part of an increment that is tried.
const SHORTEST: f64 = 1e-4;
/// Full steps converge where the next increment is less than this part of the last.
const CONTRACTS: f64 = 0.1;

struct HhtStepper {
    alpha: f64,
    literal: bool,
    layout: Layout,
    convergence: Convergence,
    history: History,
    /// The unknowns (a_i, λ_i).
    z: Vec<f64>,
    z_start: Vec<f64>,
    r: Vec<f64>,
    /// The residual before it is solved for, and the bound of its round-off.
    residual: Vec<f64>,
    bound: Vec<f64>,
    /// The acceleration that M multiplies.
    inertial: Vec<f64>,
    /// Steps since the bound was worked out.
    bound_age: Option<usize>,
    /// What the constraints' round-off made of the equations of motion since then, N.
    noise: f64,
    /// q, v and the consistent acceleration for an unknown acceleration of zero.
    base: [Vec<f64>; 3],
    zeros: Vec<f64>,
    saved: Vec<f64>,
    spare: Vec<f64>,
}

/// The coefficients of one step.
#[derive(Clone, Copy)]
struct Coefficients {
    c1: f64,
    c2: f64,
    /// β h²
    beta_hh: f64,
    /// γ h
    gamma_h: f64,
    /// h² (1/2 - β)
    q_by_a: f64,
    /// h (1-γ)
    v_by_a: f64,
}

impl Coefficients {
    fn new(alpha: f64, h: f64) -> Self {
        let beta = (1.0 - alpha) * (1.0 - alpha) / 4.0;
        let gamma = (1.0 - 2.0 * alpha) / 2.0;
        Coefficients {
            c1: 1.0 / (1.0 + alpha),
            c2: alpha / (1.0 + alpha),
            beta_hh: beta * h * h,
            gamma_h: gamma * h,
            q_by_a: h * h * (0.5 - beta),
            v_by_a: h * (1.0 - gamma),
        }
    }

    fn weights(&self) -> Weights {
        Weights { acceleration: self.c1, position: self.beta_hh, velocity: self.gamma_h, equations: Equations::MOTION }
    }
}

/// Where only products are asked for.
const ALONE: Weights = Weights { acceleration: 1.0, position: 0.0, velocity: 0.0, equations: Equations::MOTION };

enum Failure {
    Singular,
    NotFinite,
    NotConverged { residual: f64, row: usize },
}

impl HhtStepper {
    /// Newton's iteration from the unknowns in `z`; on return `next` holds the state.
    fn iterate(
        &mut self,
        system: &mut dyn Evaluator,
        step: &Step<'_>,
        previous: &[f64],
        next: &mut [f64],
        counters: &mut Counters,
    ) -> std::result::Result<(), Failure> {
        let n = self.layout.n;
        let k = Coefficients::new(self.alpha, step.h);
        let before = self.layout.view(previous, 0.0, &[]);
        let memory_before = self.layout.memory(previous);
        self.convergence.begin();
        let [base_q, base_v, base_a] = &mut self.base;
        for j in 0..n {
            let a = before.a_scheme[j];
            base_q[j] = before.q[j] + step.h * before.v[j] + k.q_by_a * a;
            base_v[j] = before.v[j] + k.v_by_a * a;
            base_a[j] = k.c2 * before.a[j];
        }
        let limit = self.convergence.max_iterations();
        let mut renew = true;
        let mut worst = (f64::INFINITY, 0);
        let mut sizes = [0.0; 2];
        for iteration in 1..=limit {
            if !self.equations(system, step, &k, previous, next, renew, counters) {
                let finite = self.r.iter().all(|r| r.is_finite());
                return Err(if finite { Failure::Singular } else { Failure::NotFinite });
            }
            if iteration == limit {
                worst = worst_row(&self.r);
            }
            // where steps end at round-off, the bound of a while ago tells it
            let last_sizes = std::mem::replace(&mut sizes, [&self.r[..n], &self.r[n..]].map(largest));
            let known = iteration > 1
                && self.bound_age.is_some()
                && Excess::of([&self.r, &self.bound], n).is_gone_after_increment(last_sizes, self.noise);
            self.residual.copy_from_slice(&self.r);
            system.solve(&mut self.r);
            let Some(increment) = self.apply_increment() else { return Err(Failure::NotFinite) };
            let verdict = self.convergence.judge(increment);
            renew = verdict == Verdict::Doubtful;
            let doubted = renew && !known;
            if doubted {
                // at the point where the residual was evaluated: its multipliers are back there
                self.z.iter_mut().zip(&self.r).for_each(|(z, r)| *z += r);
                self.measure_round_off(system, &k, step, memory_before, next);
                self.z.iter_mut().zip(&self.r).for_each(|(z, r)| *z -= r);
            }
            let round_off = known
                || doubted && {
                    let excess = Excess::of([&self.residual, &self.bound], n);
                    // increments of multipliers times those of positions
                    let change = largest(&self.r[n..]);
                    let products = k.beta_hh * largest(&self.r[..n]) * change;
                    let drowned = excess.is_drowned(change);
                    if drowned {
                        self.noise = excess.noise(products);
                    }
                    excess.is_none() || drowned || iteration > STALLED && excess.is_noise(products)
                };
            if verdict == Verdict::Converged || round_off {
                self.update(&k, next);
                self.keep(before.a, next);
                return Ok(());
            }
        }
        Err(Failure::NotConverged { residual: worst.0, row: worst.1 })
    }

    /// Comes near to the solution from the unknowns in `z` by Newton's method with steps that are shortened until they lead
    /// nearer, where full ones go in circles: stiff friction, contact. What counts is the next increment with the same factors
    /// (the natural monotonicity test of Deuflhard, Newton Methods for Nonlinear Problems, 2004, section 3.3), which does not
    /// mind the units of equations. True where full steps converge; no such path need exist where friction falls with the rate.
    fn approach(
        &mut self,
        system: &mut dyn Evaluator,
        step: &Step<'_>,
        previous: &[f64],
        next: &mut [f64],
        counters: &mut Counters,
    ) -> bool {
        let n = self.layout.n;
        // room for an increment and for the point that it leaves
        self.bound_age = None;
        let mut increment = std::mem::take(&mut self.residual);
        let mut from = std::mem::take(&mut self.bound);
        let mut near = false;
        for _ in 0..DAMPED_ITERATIONS {
            from.copy_from_slice(&self.z);
            if !self.newton_increment(system, step, previous, next, true, counters) {
                break;
            }
            increment.copy_from_slice(&self.r);
            let scales = [&from[..n], &from[n..]].map(|part| largest(part) + f64::MIN_POSITIVE);
            let size = |change: &[f64]| largest(&change[..n]) / scales[0] + largest(&change[n..]) / scales[1];
            let whole = size(&increment);
            let mut part = 1.0;
            let found = loop {
                for ((z, from), change) in self.z.iter_mut().zip(&from).zip(&increment) {
                    *z = from - part * change;
                }
                let finite = self.newton_increment(system, step, previous, next, false, counters);
                let left = size(&self.r);
                if finite && left <= (1.0 - 0.25 * part) * whole {
                    break Some(left / whole);
                }
                part *= 0.5;
                if part < SHORTEST {
                    break None;
                }
            };
            match found {
                Some(ratio) if part == 1.0 && ratio < CONTRACTS => near = true,
                Some(_) => continue,
                None => {}
            }
            break;
        }
        (self.residual, self.bound) = (increment, from);
        near
    }

    /// The increment of Newton's method at the unknowns in `z` into `r`, with new factors or those that are there; false if it is
    /// not finite.
    fn newton_increment(
        &mut self,
        system: &mut dyn Evaluator,
        step: &Step<'_>,
        previous: &[f64],
        next: &mut [f64],
        renew: bool,
        counters: &mut Counters,
    ) -> bool {
        let k = Coefficients::new(self.alpha, step.h);
        let regular = self.equations(system, step, &k, previous, next, renew, counters);
        if regular {
            system.solve(&mut self.r);
        }
        regular && self.r.iter().all(|r| r.is_finite())
    }

    /// The residual at the unknowns in `z`, with new factors if asked for; false if there are none.
    #[allow(clippy::too_many_arguments)]
    #[inline]
    fn equations(
        &mut self,
        system: &mut dyn Evaluator,
        step: &Step<'_>,
        k: &Coefficients,
        previous: &[f64],
        next: &mut [f64],
        renew: bool,
        counters: &mut Counters,
    ) -> bool {
        let n = self.layout.n;
        self.update(k, next);
        let x = self.layout.view(next, step.t, step.w);
        let inertial = if self.literal { &self.inertial } else { x.a };
        let point = Point { t: step.t, q: x.q, v: x.v, a: inertial, lambda: &self.z[n..], w: step.w };
        let (dynamics, constraint) = self.r.split_at_mut(n);
        counters.iterations += 1;
        let regular = if renew {
            counters.factorisations += 1;
            system.factorise(&point, k.weights(), dynamics, constraint).is_ok()
        } else {
            system.residual(&point, Equations::MOTION, dynamics, constraint);
            true
        };
        if self.literal {
            let memory_before = self.layout.memory(previous);
            dynamics.iter_mut().zip(memory_before).for_each(|(r, g)| *r -= k.c2 * g);
        }
        let inverse_beta_hh = 1.0 / k.beta_hh;
        constraint.iter_mut().for_each(|c| *c *= inverse_beta_hh);
        regular
    }

    /// Works out the bound of the residuals' round-off at `next`, with the multipliers in `z`.
    fn measure_round_off(
        &mut self,
        system: &mut dyn Evaluator,
        k: &Coefficients,
        step: &Step<'_>,
        memory_before: &[f64],
        next: &[f64],
    ) {
        let n = self.layout.n;
        let x = self.layout.view(next, step.t, step.w);
        let inertial = if self.literal { &self.inertial } else { x.a };
        let point = Point { t: step.t, q: x.q, v: x.v, a: inertial, lambda: &self.z[n..], w: step.w };
        let (dynamics, constraint) = self.bound.split_at_mut(n);
        system.round_off(&point, Equations::MOTION, dynamics, constraint);
        if self.literal {
            let unit = f64::EPSILON * k.c2.abs();
            dynamics.iter_mut().zip(memory_before).for_each(|(bound, g)| *bound += unit * g.abs());
        }
        constraint.iter_mut().for_each(|c| *c /= k.beta_hh);
        self.bound_age = Some(0);
        self.noise = 0.0;
    }

    /// Puts the unknowns into the state. The scheme's acceleration is the one that a stored run gives back, to the last bit.
    fn keep(&self, a_before: &[f64], next: &mut [f64]) {
        let n = self.layout.n;
        let x = self.layout.parts(next);
        own_acceleration(self.alpha, a_before, x.a, x.a_scheme);
        x.lambda.copy_from_slice(&self.z[n..]);
    }

    /// q, v and accelerations from the unknowns.
    #[inline]
    fn update(&mut self, k: &Coefficients, next: &mut [f64]) {
        let n = self.layout.n;
        let z = &self.z[..n];
        let [base_q, base_v, base_a] = &self.base;
        let (q, rest) = next.split_at_mut(n);
        let (v, rest) = rest.split_at_mut(n);
        let a = &mut rest[..n];
        for ((q, base), z) in q.iter_mut().zip(base_q).zip(z) {
            *q = base + k.beta_hh * z;
        }
        for ((v, base), z) in v.iter_mut().zip(base_v).zip(z) {
            *v = base + k.gamma_h * z;
        }
        for ((a, base), z) in a.iter_mut().zip(base_a).zip(z) {
            *a = base + k.c1 * z;
        }
        if self.literal {
            self.inertial.iter_mut().zip(z).for_each(|(s, z)| *s = k.c1 * z);
        }
    }

    /// z -= r, and the size of r relative to z; `None` if it is not finite.
    #[inline]
    fn apply_increment(&mut self) -> Option<f64> {
        let n = self.layout.n;
        for (z, r) in self.z.iter_mut().zip(&self.r) {
            *z -= r;
        }
        let (a, lambda) = self.z.split_at(n);
        let (a_change, lambda_change) = self.r.split_at(n);
        // nothing moves where nothing is: the floor only keeps 0/0 away
        let floor = 1e-3 * largest(a) + f64::MIN_POSITIVE;
        let (mut relative, mut total) = (0.0f64, 0.0f64);
        for (change, a) in a_change.iter().zip(a) {
            total += change.abs();
            relative = larger(relative, change.abs() / (a.abs() + floor));
        }
        if !lambda.is_empty() {
            total += lambda_change.iter().sum::<f64>();
            relative = larger(relative, largest(lambda_change) / (largest(lambda) + f64::MIN_POSITIVE));
        }
        total.is_finite().then_some(relative)
    }

    /// (dynamics, constraint) of `(w, mu)` with mu scaled back from the division of C by β h².
    fn solve_transposed(&mut self, system: &mut dyn Evaluator, k: &Coefficients, bar: &StateVector) {
        let n = self.layout.n;
        for j in 0..n {
            self.r[j] = bar.a_scheme[j] + k.beta_hh * bar.q[j] + k.gamma_h * bar.v[j] + k.c1 * bar.a[j];
        }
        self.r[n..].copy_from_slice(&bar.lambda);
        system.solve_transposed(&mut self.r);
        self.r[n..].iter_mut().for_each(|mu| *mu /= k.beta_hh);
    }

    /// Derivatives at the converged state, and the factors of Newton's matrix there.
    fn linearise(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &OutputPoint<'_>,
    ) -> Result<()> {
        let k = Coefficients::new(self.alpha, step.h);
        if self.literal {
            self.inertial.iter_mut().zip(x.a_scheme).for_each(|(s, a)| *s = k.c1 * a);
        } else {
            self.inertial.copy_from_slice(x.a);
        }
        let point = Point { t: step.t, q: x.q, v: x.v, a: &self.inertial, lambda: x.lambda, w: step.w };
        let regular = system.linearise(&point, k.weights());
        regular.map_err(|_| crate::start::singular(system, signature, &point, crate::start::Purpose::Step))
    }

    /// Derivatives of g = C_qᵀ λ - Q: those of the dynamics with no acceleration.
    fn linearise_force(&mut self, system: &mut dyn Evaluator, step: &Step<'_>, x: &OutputPoint<'_>) {
        let n = self.layout.n;
        let point = Point { t: step.t, q: x.q, v: x.v, a: &self.zeros[..n], lambda: x.lambda, w: step.w };
        // only products are asked for: a singular matrix does not matter here
        let _ = system.linearise(&point, Coefficients::new(self.alpha, step.h).weights());
    }
}

/// a_i from q''_i = (a_i + α q''_{i-1}) / (1+α), which holds in both forms.
#[inline]
fn own_acceleration(alpha: f64, before: &[f64], after: &[f64], own: &mut [f64]) {
    for ((own, before), after) in own.iter_mut().zip(before).zip(after) {
        *own = (1.0 + alpha) * after - alpha * before;
    }
}

impl Stepper for HhtStepper {
    fn start(&mut self, system: &mut dyn Evaluator, t: f64, w: &[f64], x0: &mut [f64]) {
        self.history.known = false;
        self.history.step = 0.0;
        self.bound_age = None;
        self.noise = 0.0;
        let n = self.layout.n;
        let x = self.layout.parts(x0);
        x.a_scheme.copy_from_slice(x.a);
        if self.literal {
            let point = Point { t, q: x.q, v: x.v, a: &self.zeros[..n], lambda: x.lambda, w };
            let (dynamics, constraint) = self.r.split_at_mut(n);
            system.residual(&point, Equations::MOTION, dynamics, constraint);
            x.memory.copy_from_slice(dynamics);
        }
    }

    fn start_pull_back(
        &mut self,
        system: &mut dyn Evaluator,
        start: &Point<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) {
        for bar in std::iter::once(&mut *bar).chain(directions.iter_mut().map(|d| &mut d.cotangent)) {
            bar.a.iter_mut().zip(&mut bar.a_scheme).for_each(|(a, scheme)| *a += std::mem::take(scheme));
        }
        if self.literal {
            let n = self.layout.n;
            let zeros = std::mem::take(&mut self.zeros);
            let point = Point { a: &zeros[..n], ..*start };
            let _ = system.linearise(&point, ALONE);
            self.pull_force(system, &point, &zeros[n..], bar, directions);
            self.zeros = zeros;
        }
    }

    fn start_push_forward(&mut self, system: &mut dyn Evaluator, start: &Point<'_>, tangents: &mut [StateVector]) {
        let n = self.layout.n;
        if self.literal {
            let point = Point { a: &self.zeros[..n], ..*start };
            let _ = system.linearise(&point, ALONE);
        }
        for tangent in tangents {
            tangent.a_scheme.copy_from_slice(&tangent.a);
            if self.literal {
                self.push_force(system, tangent);
            }
        }
    }

    fn step(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        previous: &[f64],
        next: &mut [f64],
        counters: &mut Counters,
    ) -> Result<()> {
        let Layout { n, m, .. } = self.layout;
        let before = self.layout.view(previous, 0.0, &[]);
        self.z_start[..n].copy_from_slice(before.a_scheme);
        self.z_start[n..].copy_from_slice(before.lambda);
        let ratio = if self.history.known { step.h / self.history.step } else { 0.0 };
        for i in 0..n + m {
            self.z[i] = self.z_start[i] + ratio * self.history.change[i];
        }
        self.bound_age = self.bound_age.map(|age| age + 1).filter(|age| *age < BOUND_LIFE);
        let first = counters.iterations;
        let mut outcome = self.iterate(system, step, previous, next, counters);
        if outcome.is_err() && self.history.known {
            // the extrapolation may have been what led astray (an impact, a switch of the input)
            self.z.copy_from_slice(&self.z_start);
            outcome = self.iterate(system, step, previous, next, counters);
        }
        if matches!(outcome, Err(Failure::NotConverged { .. } | Failure::NotFinite)) {
            self.z.copy_from_slice(&self.z_start);
            if !self.approach(system, step, previous, next, counters) {
                self.z.copy_from_slice(&self.z_start);
            }
            outcome = self.iterate(system, step, previous, next, counters);
        }
        if let Err(failure) = outcome {
            let x = self.layout.view(next, step.t, step.w);
            let point = Point { t: step.t, q: x.q, v: x.v, a: &self.inertial, lambda: &self.z[n..], w: step.w };
            return Err(match failure {
                Failure::Singular => crate::start::singular(system, signature, &point, crate::start::Purpose::Step),
                Failure::NotFinite => {
                    let (dynamics, constraint) = self.r.split_at_mut(n);
                    let inertial = if self.literal { &self.inertial } else { x.a };
                    system.residual(&Point { a: inertial, ..point }, Equations::MOTION, dynamics, constraint);
                    let point = Point { a: &self.z[..n], ..point };
                    crate::start::not_finite(signature, &point, &self.r, step.index)
                }
                Failure::NotConverged { residual, row } => Error::NewtonFailed {
                    time: step.t,
                    step: step.index,
                    step_size: step.h,
                    iterations: counters.iterations - first,
                    residual,
                    equation: signature.equation_name(row),
                },
            });
        }
        if self.literal {
            let x = self.layout.parts(next);
            let point = Point { t: step.t, q: x.q, v: x.v, a: &self.zeros[..n], lambda: x.lambda, w: step.w };
            let (dynamics, constraint) = self.r.split_at_mut(n);
            system.residual(&point, Equations::MOTION, dynamics, constraint);
            x.memory.copy_from_slice(dynamics);
        }
        for i in 0..n + m {
            self.history.change[i] = self.z[i] - self.z_start[i];
        }
        self.history.step = step.h;
        self.history.known = true;
        counters.steps += 1;
        Ok(())
    }

    fn pull_back(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &OutputPoint<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()> {
        let n = self.layout.n;
        let k = Coefficients::new(self.alpha, step.h);
        if self.literal {
            self.linearise_force(system, step, x);
            let zeros = std::mem::take(&mut self.zeros);
            let point = Point { t: step.t, q: x.q, v: x.v, a: &zeros[..n], lambda: x.lambda, w: step.w };
            self.pull_force(system, &point, &zeros[n..], bar, directions);
            self.zeros = zeros;
        }
        self.linearise(system, signature, step, x)?;
        self.solve_transposed(system, &k, bar);
        if !directions.is_empty() {
            self.curve(system, &k, x, directions);
        }
        self.pull_equations(system, &k, step.h, bar);
        for direction in directions {
            self.solve_transposed(system, &k, &direction.cotangent);
            self.pull_equations(system, &k, step.h, &mut direction.cotangent);
        }
        Ok(())
    }

    fn push_forward(
        &mut self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        step: &Step<'_>,
        x: &OutputPoint<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()> {
        let n = self.layout.n;
        let k = Coefficients::new(self.alpha, step.h);
        self.linearise(system, signature, step, x)?;
        for tangent in tangents.iter_mut() {
            for j in 0..n {
                tangent.q[j] += step.h * tangent.v[j] + k.q_by_a * tangent.a_scheme[j];
                tangent.v[j] += k.v_by_a * tangent.a_scheme[j];
                tangent.a[j] *= k.c2;
            }
            tangent.lambda.fill(0.0);
            self.r.fill(0.0);
            let (dynamics, constraint) = self.r.split_at_mut(n);
            if self.literal {
                // M multiplies a_i alone
                self.saved.copy_from_slice(&tangent.a);
                tangent.a.fill(0.0);
                system.push_forward(tangent, dynamics, constraint);
                tangent.a.copy_from_slice(&self.saved);
                dynamics.iter_mut().zip(&tangent.memory).for_each(|(r, g)| *r -= k.c2 * g);
            } else {
                system.push_forward(tangent, dynamics, constraint);
            }
            constraint.iter_mut().for_each(|c| *c /= k.beta_hh);
            system.solve(&mut self.r);
            for j in 0..n {
                let a = -self.r[j];
                tangent.q[j] += k.beta_hh * a;
                tangent.v[j] += k.gamma_h * a;
                tangent.a[j] += k.c1 * a;
                tangent.a_scheme[j] = a;
            }
            tangent.lambda.iter_mut().zip(&self.r[n..]).for_each(|(lambda, r)| *lambda = -r);
        }
        if self.literal {
            self.linearise_force(system, step, x);
            tangents.iter_mut().for_each(|tangent| self.push_force(system, tangent));
        }
        Ok(())
    }
}
