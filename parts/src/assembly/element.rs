//! What contributes to an assembly: a small generic function of a few coordinates.

use super::closed::{ClosedConstraint, ClosedMotion};
use costate::value::{Owner, Value};
use costate::{Matrix, Model, Number, Quantity, Signature, State};

/// A part of a mechanism: whatever adds mass, force, constraints or outputs as functions of a few coordinates.
///
/// The functions are those of a [`Model`], on the element's own coordinates, inputs and parameters, in the order in which
/// its [`Connection`] names them; every slice that is filled is zero on entry. An element implements what it needs:
///
/// ```
/// use costate::Number;
/// use costate_parts::assembly::Element;
///
/// /// A spring between two coordinates, hardening with the cube of its elongation. Parameters: stiffness, hardening.
/// struct HardeningSpring;
///
/// impl Element for HardeningSpring {
///     fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
///         let elongation = q[1] - q[0];
///         let tension = u[0] * elongation + u[1] * elongation * elongation * elongation;
///         force[0] = tension;
///         force[1] = -tension;
///     }
/// }
/// ```
pub trait Element: Send + Sync + 'static {
    /// Mass matrix M(q, u) of the element's coordinates.
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        let _ = (q, u, m);
    }

    /// Generalised force Q(t, q, v, w, u) on the element's coordinates; its states follow the velocities in `v`.
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let _ = (t, q, v, w, u, force);
    }

    /// Rates z' of the element's states (Connection::states), which follow the velocities in `v`, as in [`Model::rates`]. What several
    /// elements give to one state is added up.
    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        let _ = (t, q, v, w, u, rates);
    }

    /// Constraints C(t, q, u) = 0, one entry a row.
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        let _ = (t, q, u, c);
    }

    /// Outputs y. The multipliers in `x` are those of the element's own rows, then those that it asked for.
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let _ = (t, x, u, y);
    }

    /// The element itself, if it knows derivatives of its constraints in closed form: they are faster than dual numbers, which are taken otherwise.
    fn closed_constraint(&self) -> Option<&dyn ClosedConstraint> {
        None
    }

    /// The element itself, if it knows derivatives of its equations of motion in closed form.
    fn closed_motion(&self) -> Option<&dyn ClosedMotion> {
        None
    }

    /// First and last time at which its functions are known, s; `None` if they are at all times. Simulations keep to that.
    fn known_times(&self) -> Option<(f64, f64)> {
        None
    }
}

/// A coordinate of an assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Coordinate(pub(super) usize, pub(super) Owner);

/// A first-order state of an assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StateVariable(pub(super) usize, pub(super) Owner);

/// An input of an assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Input(pub(super) usize, pub(super) Owner);

/// A constraint row of an assembly.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Row(pub(super) usize, pub(super) Owner);

/// An output of an assembly that elements add to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sum(pub(super) usize, pub(super) Owner);

impl Coordinate {
    /// Place of the coordinate in the signature.
    pub fn index(self) -> usize {
        self.0
    }
}

impl StateVariable {
    /// Place of the state among those of the signature.
    pub fn index(self) -> usize {
        self.0
    }
}

impl Input {
    /// Place of the input in the signature.
    pub fn index(self) -> usize {
        self.0
    }
}

impl Row {
    /// Place of the constraint row in the signature.
    pub fn index(self) -> usize {
        self.0
    }
}

/// Coordinates, rows, inputs, outputs and parameters that an element is connected to.
#[derive(Debug, Clone, Default)]
pub struct Connection {
    pub(crate) coordinates: Vec<Coordinate>,
    pub(crate) states: Vec<StateVariable>,
    pub(crate) parameters: Vec<Value>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) multipliers: Vec<Row>,
    pub(crate) constraints: Vec<Quantity>,
    pub(crate) outputs: Vec<Quantity>,
    pub(crate) sums: Vec<Sum>,
}

impl Connection {
    /// A connection to these coordinates, in the order in which the element's functions see them.
    pub fn to(coordinates: impl IntoIterator<Item = Coordinate>) -> Self {
        Connection { coordinates: coordinates.into_iter().collect(), ..Connection::default() }
    }

    /// Adds first-order states, which the element sees behind the velocities, and whose rates it may give ([`Element::rates`]).
    pub fn states(mut self, states: impl IntoIterator<Item = StateVariable>) -> Self {
        self.states.extend(states);
        self
    }

    /// Adds parameters: numbers, or parameters of the assembly.
    pub fn parameters<V: Into<Value>>(mut self, values: impl IntoIterator<Item = V>) -> Self {
        self.parameters.extend(values.into_iter().map(Into::into));
        self
    }

    /// Adds inputs.
    pub fn inputs(mut self, inputs: impl IntoIterator<Item = Input>) -> Self {
        self.inputs.extend(inputs);
        self
    }

    /// Adds constraint rows as (name, unit); the element's name is put before the name with a dot.
    pub fn constraints<const N: usize>(mut self, rows: [(&str, &str); N]) -> Self {
        self.constraints.extend(rows.map(|(name, unit)| Quantity::new(name, unit)));
        self
    }

    /// Adds outputs as (name, unit).
    pub fn outputs<const N: usize>(mut self, outputs: [(&str, &str); N]) -> Self {
        self.outputs.extend(outputs.map(|(name, unit)| Quantity::new(name, unit)));
        self
    }

    /// Adds outputs that are angles in rad, known up to whole turns (see [`Quantity::period`]).
    pub fn angles<const N: usize>(mut self, names: [&str; N]) -> Self {
        self.outputs.extend(names.map(Quantity::angle));
        self
    }

    /// Lets the element's outputs, behind those of its own, add to sums.
    pub fn adds_to(mut self, sums: impl IntoIterator<Item = Sum>) -> Self {
        self.sums.extend(sums);
        self
    }

    /// Lets outputs see the multipliers of other elements' rows.
    pub fn multipliers(mut self, rows: impl IntoIterator<Item = Row>) -> Self {
        self.multipliers.extend(rows);
        self
    }

    /// The kind of thing in the connection, if any, that another assembler made.
    pub(super) fn foreign(&self, owner: Owner) -> Option<&'static str> {
        let finds = [
            ("a coordinate", self.coordinates.iter().any(|c| c.1 != owner)),
            ("a state", self.states.iter().any(|state| state.1 != owner)),
            ("a parameter", self.parameters.iter().any(|value| !value.serves(owner))),
            ("an input", self.inputs.iter().any(|input| input.1 != owner)),
            ("a sum", self.sums.iter().any(|sum| sum.1 != owner)),
            ("a constraint row", self.multipliers.iter().any(|row| row.1 != owner)),
        ];
        finds.into_iter().find(|(_, found)| *found).map(|(kind, _)| kind)
    }

    /// Numbers of everything, as a signature without meaning: what finds the structure of the element's functions.
    pub(super) fn local_signature(&self, parameters: &[f64]) -> Signature {
        let count = |kind: &str, count: usize| -> Vec<Quantity> {
            (0..count).map(|i| Quantity::new(format!("{kind}{i}"), "")).collect()
        };
        let parameter = |(i, value): (usize, &f64)| costate::Parameter::new(format!("u{i}"), "", *value);
        Signature {
            name: "element".into(),
            coordinates: count("q", self.coordinates.len()),
            states: count("z", self.states.len()),
            constraints: count("c", self.constraints.len() + self.multipliers.len()),
            inputs: count("w", self.inputs.len()),
            outputs: self.outputs.iter().cloned().chain(count("s", self.sums.len())).collect(),
            parameters: parameters.iter().enumerate().map(parameter).collect(),
            motions: Vec::new(),
        }
    }
}

/// An element as a model of its own coordinates: what the derivative kernels work on.
pub(super) struct Local<E> {
    pub element: E,
    /// Number of states it is connected to: they follow its coordinates, and it does not see what would be their positions.
    pub states: usize,
}

impl<E> Local<E> {
    #[inline(always)]
    fn own<'q, D>(&self, q: &'q [D]) -> &'q [D] {
        &q[..q.len() - self.states]
    }
}

impl<E: Element> Model for Local<E> {
    fn signature(&self) -> Signature {
        // an element is described by its connection
        Signature::default()
    }

    #[inline]
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        self.element.mass(self.own(q), u, m);
    }

    #[inline]
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let own = self.own(q);
        let (force, rates) = force.split_at_mut(own.len());
        self.element.force(t, own, v, w, u, force);
        if !rates.is_empty() {
            self.element.rates(t, own, v, w, u, rates);
        }
    }

    #[inline]
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        self.element.constraint(t, self.own(q), u, c);
    }

    #[inline]
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        self.element.output(t, &State { q: self.own(x.q), ..*x }, u, y);
    }
}
