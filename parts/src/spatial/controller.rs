//! Controllers in joints: what a robot's own drive does with a command, as one more force with a state.

use super::Mechanism;
use super::force::{act, joint_place, joint_rate};
use super::joint::{FRAMES, Freedom, JointPoses};
use super::joints::Joint;
use super::pose::Sides;
use crate::assembly::{Connection, Element, StateVariable};
use crate::law::{Amount, Either, FunctionOfTime, NoFunction, Source, Strength};
use costate::value::Value;
use costate::{Error, Number, State};
use std::f64::consts::TAU;
use std::ops::Range;

/// A signal that a controller is given: a number, a parameter, an input (times a factor), or a function of time.
pub struct Command<F = NoFunction>(Source<Either<F>>);

impl<F: FunctionOfTime> Command<F> {
    /// A number, a parameter, or an input.
    pub fn given(amount: impl Into<Amount>) -> Self {
        Command(Source::either(amount.into()))
    }

    /// A function of time with parameters.
    pub fn of_time<V: Into<Value>>(function: F, parameters: impl IntoIterator<Item = V>) -> Self {
        Command(Source::either_timed(function, parameters.into_iter().map(Into::into).collect()))
    }
}

/// A controller with a proportional, an integral and a derivative part, and a feed-forward, for the angle x (rad) about, or the way x (m) along a joint's axis:
///
/// ```text
/// effort = P (r - x) + I z + D (r' - x') + f,      z' = r - x,  z = 0 at the start
/// ```
///
/// Errors of angles are taken within half a turn. It has no limits: what a drive cannot give is not known to it.
pub struct Controller<F = NoFunction> {
    /// P, I and D; parts that are left out are not there.
    gains: [Option<Value>; 3],
    /// r, r' and f.
    signals: [Command<F>; 3],
}

impl<F: FunctionOfTime> Controller<F> {
    /// A controller of the reference r (rad, or m), whose parts are all zero.
    pub fn of(reference: Command<F>) -> Self {
        Controller { gains: [None; 3], signals: [reference, Command::given(0.0), Command::given(0.0)] }
    }

    /// The reference's rate r' (rad/s, or m/s); zero unless it is given: then D damps the joint.
    pub fn reference_rate(mut self, rate: Command<F>) -> Self {
        self.signals[1] = rate;
        self
    }

    /// An effort beside (N m, or N).
    pub fn feed_forward(mut self, effort: Command<F>) -> Self {
        self.signals[2] = effort;
        self
    }

    /// P, N m/rad or N/m.
    pub fn proportional(mut self, gain: impl Into<Value>) -> Self {
        self.gains[0] = Some(gain.into());
        self
    }

    /// I, N m/(rad s) or N/(m s).
    pub fn integral(mut self, gain: impl Into<Value>) -> Self {
        self.gains[1] = Some(gain.into());
        self
    }

    /// D, N m s/rad or N s/m.
    pub fn derivative(mut self, gain: impl Into<Value>) -> Self {
        self.gains[2] = Some(gain.into());
        self
    }
}

/// A controller that has been added: what a sensor of it is given.
pub struct Controlled<F> {
    element: JointController<F>,
    connection: Connection,
    /// The integral of the error (rad s, or m s), where there is one.
    pub integral: Option<StateVariable>,
}

/// A controller at work, or its sensor. Parameters: those of the joint's frames, P, I and D as far as they are there, then those of the signals.
struct JointController<F> {
    sides: Sides,
    freedom: Freedom,
    has: [bool; 3],
    /// Each with the place of its input, if it has one, and that of its parameters.
    signals: [(Either<F>, Range<usize>, usize); 3],
    is_sensor: bool,
}

impl<F> Clone for JointController<F> {
    fn clone(&self) -> Self {
        JointController { signals: self.signals.each_ref().map(|(own, w, u)| (own.clone(), w.clone(), *u)), ..*self }
    }
}

impl<F: FunctionOfTime> JointController<F> {
    fn signal<D: Number>(&self, k: usize, t: D, w: &[D], u: &[D]) -> D {
        let (signal, input, parameter) = &self.signals[k];
        signal.at(t, &w[input.clone()], &u[*parameter..])
    }

    /// The error r - x.
    fn error<D: Number>(&self, at: &JointPoses<'_, D>, t: D, w: &[D], u: &[D]) -> D {
        let error = self.signal(0, t, w, u) - joint_place(at, self.freedom);
        match self.freedom {
            Freedom::Turn => error.of_pieces(|error| (TAU * (error / TAU).round(), [0.0, 1.0, 0.0, 0.0])),
            Freedom::Slide => error,
        }
    }

    /// Error and effort.
    fn effort<D: Number>(&self, at: &JointPoses<'_, D>, t: D, [q, v, w, u]: [&[D]; 4]) -> [D; 2] {
        let error = self.error(at, t, w, u);
        let mut gains = u[FRAMES..].iter();
        let mut gain = |k: usize| if self.has[k] { gains.next().copied() } else { None };
        let mut effort = self.signal(2, t, w, u);
        if let Some(gain) = gain(0) {
            effort += gain * error;
        }
        if let Some(gain) = gain(1) {
            effort += gain * v[q.len()];
        }
        if let Some(gain) = gain(2) {
            effort += gain * (self.signal(1, t, w, u) - joint_rate(at, self.freedom, (self.sides, q, v)));
        }
        [error, effort]
    }
}

impl<F: FunctionOfTime> Element for JointController<F> {
    fn known_times(&self) -> Option<(f64, f64)> {
        let all = self.signals.iter().filter_map(|(signal, ..)| signal.known_times());
        all.reduce(|a, b| (a.0.max(b.0), a.1.min(b.1)))
    }

    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        if !self.is_sensor {
            let at = JointPoses::of(self.sides, q, u);
            let [_, effort] = self.effort(&at, t, [q, v, w, u]);
            act(self.sides, self.freedom, &at, q, effort, force);
        }
    }

    fn rates<D: Number>(&self, t: D, q: &[D], _v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        if !self.is_sensor && self.has[1] {
            rates[0] = self.error(&JointPoses::of(self.sides, q, u), t, w, u);
        }
    }

    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if self.is_sensor {
            let [error, effort] = self.effort(&JointPoses::of(self.sides, x.q, u), t, [x.q, x.v, x.w, u]);
            [y[0], y[1]] = [effort, error];
        }
    }
}

impl Mechanism {
    /// A [`Controller`] in a joint: its effort is a torque (N m) about, or a force (N) along the joint's axis, on the second member, and the opposite one on the
    /// first. None where the joint does not have this freedom, which the build tells.
    pub fn controller<F: FunctionOfTime>(
        &mut self,
        name: &str,
        joint: &Joint,
        freedom: Freedom,
        controller: Controller<F>,
    ) -> Option<Controlled<F>> {
        if !self.wants_freedom(name, joint, freedom) {
            return None;
        }
        let Controller { gains, signals } = controller;
        if gains.iter().all(Option::is_none) {
            let remedy = "give it a gain, or take a motor for what acts without one";
            self.assembler.note(Error::invalid(format!("controller `{name}`"), "it has no gain", remedy));
            return None;
        }
        self.note_motor(joint, freedom, signals[2].0.seen.clone());
        let unit = if freedom == Freedom::Turn { "rad s" } else { "m s" };
        let integral = gains[1].map(|_| self.assembler.state(format!("{name}.integral"), unit, 0.0));
        let mut connection = joint.connection().states(integral).parameters(gains.into_iter().flatten());
        let signals = signals.map(|Command(source)| {
            let places = (connection.inputs.len(), connection.parameters.len());
            connection = source.connect(std::mem::take(&mut connection));
            (source.strength, places.0..connection.inputs.len(), places.1)
        });
        let sides = joint.constraint.sides;
        let element =
            JointController { sides, freedom, has: gains.map(|gain| gain.is_some()), signals, is_sensor: false };
        self.assembler.element(name, element.clone(), connection.clone());
        Some(Controlled { element, connection, integral })
    }

    /// The effort of a controller, `name.effort` (N m, or N), and the error that it sees, `name.error` (rad, or m).
    pub fn controller_sensor<F: FunctionOfTime>(&mut self, name: &str, of: &Controlled<F>) {
        let element = JointController { is_sensor: true, ..of.element.clone() };
        let [effort, error] = if element.freedom == Freedom::Turn { ["N m", "rad"] } else { ["N", "m"] };
        self.assembler.element(name, element, of.connection.clone().outputs([("effort", effort), ("error", error)]));
    }
}
