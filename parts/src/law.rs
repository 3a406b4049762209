//! What parts of the plane and of space share: laws of forces, strengths, functions of time, axes.

use crate::assembly::{Connection, Element, Input};
use costate::Number;
use costate::number::Jet;
use costate::sketch::Seen;
use costate::value::Value;
use std::sync::Arc;

/// The law of a spring or damper: its tension as a function of elongation, rate and states.
pub trait Law: Send + Sync + 'static {
    /// Tension (N, or N m for rotations) at an elongation (m, or rad) and its rate, with the parameters `u`. It must be
    /// differentiable; positive tension draws the sides together.
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D;

    /// True if the tension depends on the rate and on parameters alone: the elongation is not worked out then.
    const OF_RATE_ALONE: bool = false;

    /// First-order states of the law, as (name, unit), such as the hysteretic part of a force: each part that pulls by it has its own,
    /// called `PART.NAME`, which are zero at the start by default (see [`Assembler::start_state`](crate::assembly::Assembler::start_state)).
    /// `about`: true where the part turns about an axis, so that forces are torques, and displacements angles.
    fn states(&self, about: bool) -> Vec<(String, String)> {
        let _ = about;
        Vec::new()
    }

    /// The tension of a law with states; [`Law::tension`] is then that at states of zero. Default: states do not pull.
    fn tension_with<D: Number>(&self, elongation: D, rate: D, states: &[D], u: &[D]) -> D {
        let _ = states;
        self.tension(elongation, rate, u)
    }

    /// The rates of the states, in their units a second, one entry a state. Default: zero.
    fn state_rates<D: Number>(&self, elongation: D, rate: D, states: &[D], u: &[D], rates: &mut [D]) {
        let _ = (elongation, rate, states, u, rates);
    }

    /// Energy stored at an elongation, J: the integral of the tension at rest. `None` if the law does not say; `energy` sensors
    /// remark it then, and leave it out.
    fn energy<D: Number>(&self, elongation: D, u: &[D]) -> Option<D> {
        let _ = (elongation, u);
        None
    }

    /// Power lost, W: what the tension has beyond that at rest, times the rate.
    fn dissipation<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        (self.tension(elongation, rate, u) - self.tension(elongation, D::from(0.0), u)) * rate
    }
}

/// An elongation where a law's energy does not grow by its tension at rest, with these parameters; with the slope of its energy
/// there and the tension. `None` if energy and tension agree.
pub(crate) fn contradiction<L: Law>(law: &L, u: &[f64]) -> Option<[f64; 3]> {
    let constants: Vec<Jet<f64, 1>> = u.iter().map(|&u| Jet::constant(u)).collect();
    [-0.3, -0.01, 0.01, 0.3].into_iter().find_map(|elongation| {
        let slope = law.energy(Jet { re: elongation, eps: [1.0] }, &constants)?.eps[0];
        let tension = law.tension(elongation, 0.0, u);
        let differs = (slope - tension).abs() > 1e-6 * (slope.abs() + tension.abs());
        differs.then_some([elongation, slope, tension])
    })
}

/// Stiffness times elongation plus damping times rate. Parameters: stiffness, damping.
#[derive(Debug, Clone, Copy)]
pub struct Linear;

impl Law for Linear {
    #[inline]
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        u[0] * elongation + u[1] * rate
    }

    fn energy<D: Number>(&self, elongation: D, u: &[D]) -> Option<D> {
        Some(u[0] * elongation * elongation * 0.5)
    }

    fn dissipation<D: Number>(&self, _elongation: D, rate: D, u: &[D]) -> D {
        u[1] * rate * rate
    }
}

/// The hysteresis of Bouc (1967) and Wen (1976) beside a spring and a damper, with a state z, N (or N m), the hysteretic force:
///
/// ```text
/// T = k e + c e' + z,      z' = A e' - β |e'| z - γ e' |z|
/// ```
///
/// Parameters: stiffness k, damping c, stiffness A of the hysteretic part at its beginning, β and γ (1/m, or 1/rad). Where β + γ > 0, z ends at
/// A / (β + γ).
#[derive(Debug, Clone, Copy)]
pub struct BoucWen;

impl Law for BoucWen {
    fn states(&self, about: bool) -> Vec<(String, String)> {
        vec![("z".into(), if about { "N m" } else { "N" }.into())]
    }

    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        u[0] * elongation + u[1] * rate
    }

    fn tension_with<D: Number>(&self, elongation: D, rate: D, states: &[D], u: &[D]) -> D {
        self.tension(elongation, rate, u) + states[0]
    }

    fn state_rates<D: Number>(&self, _elongation: D, rate: D, states: &[D], u: &[D], rates: &mut [D]) {
        rates[0] = u[2] * rate - u[3] * rate.abs() * states[0] - u[4] * rate * states[0].abs();
    }
}

/// Damping times rate. Parameter: damping.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Damper;

impl Law for Damper {
    const OF_RATE_ALONE: bool = true;

    #[inline]
    fn tension<D: Number>(&self, _elongation: D, rate: D, u: &[D]) -> D {
        u[0] * rate
    }

    fn energy<D: Number>(&self, _elongation: D, _u: &[D]) -> Option<D> {
        Some(D::from(0.0))
    }
}

/// Friction that is smooth through zero (Brown & McPhee 2016, with a constant load): a Stribeck peak at the transition rate
/// and viscous growth beyond it.
///
/// ```text
/// T = T_C tanh(4 s) + (T_S - T_C) s / (s²/4 + 3/4)² + d rate,    s = rate / transition rate
/// ```
///
/// Parameters: Coulomb torque T_C, static torque T_S (N m, or N), transition rate (rad/s, or m/s), viscous coefficient d.
#[derive(Debug, Clone, Copy)]
pub struct BrownMcPhee;

impl Law for BrownMcPhee {
    const OF_RATE_ALONE: bool = true;

    fn tension<D: Number>(&self, _elongation: D, rate: D, u: &[D]) -> D {
        let s = rate / u[2];
        let hump = s * s * 0.25 + 0.75;
        u[0] * (s * 4.0).tanh() + (u[1] - u[0]) * s / (hump * hump) + u[3] * rate
    }

    fn energy<D: Number>(&self, _elongation: D, _u: &[D]) -> Option<D> {
        Some(D::from(0.0))
    }
}

/// The axes in which a vector is given or seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axes {
    /// The world's axes.
    #[default]
    World,
    /// The body's axes.
    Body,
}

/// A motion, force or torque that is given as a function of time.
pub trait FunctionOfTime: Send + Sync + 'static {
    /// Value of the function at time `t`, in the unit of what follows it; `u` are the parameters that were given with it.
    fn at<D: Number>(&self, t: D, u: &[D]) -> D;

    /// First and last time at which it is known, s; `None` if it is at all times. Simulations keep to that.
    fn known_times(&self) -> Option<(f64, f64)> {
        None
    }
}

/// A coordinate follows a function of time.
pub(crate) struct Driven<M>(pub M);

impl<M: FunctionOfTime> Element for Driven<M> {
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = q[0] - self.0.at(t, u);
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        self.0.known_times()
    }
}

/// The strength of a force, a torque or a motor: a number or a parameter (N, N m), or an [`Input`], or an input times a factor
/// ([`Input::times`]), such as a current times a torque constant.
#[derive(Debug, Clone, Copy)]
pub struct Amount {
    factor: Value,
    input: Option<Input>,
}

impl Input {
    /// The input times a number or a parameter.
    pub fn times(self, factor: impl Into<Value>) -> Amount {
        Amount { factor: factor.into(), input: Some(self) }
    }
}

impl From<Input> for Amount {
    fn from(input: Input) -> Self {
        input.times(1.0)
    }
}

impl From<f64> for Amount {
    fn from(number: f64) -> Self {
        Value::from(number).into()
    }
}

impl From<Value> for Amount {
    fn from(factor: Value) -> Self {
        Amount { factor, input: None }
    }
}

impl From<&Value> for Amount {
    fn from(factor: &Value) -> Self {
        (*factor).into()
    }
}

/// The strength of an element, as a function of time and inputs.
pub(crate) trait Strength: Send + Sync + 'static {
    /// Value at a time, with the element's inputs and the parameters that belong to it.
    fn at<D: Number>(&self, t: D, w: &[D], u: &[D]) -> D;

    fn known_times(&self) -> Option<(f64, f64)> {
        None
    }
}

/// The strength of an [`Amount`]. Parameter: factor.
pub(crate) struct Given;

impl Strength for Given {
    #[inline]
    fn at<D: Number>(&self, _t: D, w: &[D], u: &[D]) -> D {
        w.first().map_or(u[0], |w| u[0] * *w)
    }
}

/// The strength by a function of time. Parameters: its own.
pub(crate) struct Timed<F>(pub Arc<F>);

impl<F: FunctionOfTime> Strength for Timed<F> {
    #[inline]
    fn at<D: Number>(&self, t: D, _w: &[D], u: &[D]) -> D {
        self.0.at(t, u)
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        self.0.known_times()
    }
}

/// No function of time: of commands that have none.
#[derive(Debug, Clone, Copy)]
pub enum NoFunction {}

impl FunctionOfTime for NoFunction {
    fn at<D: Number>(&self, _t: D, _u: &[D]) -> D {
        match *self {}
    }
}

/// Either of the two strengths, where one element has several.
pub(crate) enum Either<F> {
    Given,
    Timed(Timed<F>),
}

impl<F> Clone for Either<F> {
    fn clone(&self) -> Self {
        match self {
            Either::Given => Either::Given,
            Either::Timed(Timed(function)) => Either::Timed(Timed(function.clone())),
        }
    }
}

impl<F: FunctionOfTime> Strength for Either<F> {
    #[inline]
    fn at<D: Number>(&self, t: D, w: &[D], u: &[D]) -> D {
        match self {
            Either::Given => Given.at(t, w, u),
            Either::Timed(timed) => timed.at(t, w, u),
        }
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        match self {
            Either::Given => None,
            Either::Timed(timed) => timed.known_times(),
        }
    }
}

/// A strength with the parameters and the input that an element is connected to for it, and as it is drawn.
pub(crate) struct Source<S> {
    pub strength: S,
    parameters: Vec<Value>,
    input: Option<Input>,
    pub seen: Seen,
}

impl<S> Source<S> {
    /// Adds its parameters, behind those that are there, and its input.
    pub fn connect(&self, connection: Connection) -> Connection {
        connection.inputs(self.input).parameters(self.parameters.iter().copied())
    }
}

impl From<Amount> for Source<Given> {
    fn from(Amount { factor, input }: Amount) -> Self {
        let seen = Seen::of(move |_, w, u| {
            let input = input.map_or(1.0, |input| w.get(input.index()).copied().unwrap_or(f64::NAN));
            factor.evaluate(u) * input
        });
        Source { strength: Given, parameters: vec![factor], input, seen }
    }
}

impl<F: FunctionOfTime> Source<Either<F>> {
    pub fn either(amount: Amount) -> Self {
        let Source { strength: Given, parameters, input, seen } = amount.into();
        Source { strength: Either::Given, parameters, input, seen }
    }

    pub fn either_timed(function: F, parameters: Vec<Value>) -> Self {
        let Source { strength, parameters, input, seen } = Source::timed(function, parameters);
        Source { strength: Either::Timed(strength), parameters, input, seen }
    }
}

impl<F: FunctionOfTime> Source<Timed<F>> {
    /// A function of time with parameters.
    pub fn timed(function: F, parameters: Vec<Value>) -> Self {
        let function = Arc::new(function);
        let (drawn, values) = (function.clone(), parameters.clone());
        let seen = Seen::of(move |t, _, u| {
            let own: Vec<f64> = values.iter().map(|value| value.evaluate(u)).collect();
            drawn.at(t, &own)
        });
        Source { strength: Timed(function), parameters, input: None, seen }
    }
}
