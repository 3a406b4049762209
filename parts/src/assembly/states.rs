//! First-order states of an assembly.

use super::element::{Connection, Element, Local, StateVariable};
use super::{Assembler, Value};
use crate::law::Law;
use costate::{Matrix, Number, Quantity, State};

/// The inertia of a state of its own: a mass of one.
struct Own;

impl Element for Own {
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
}

/// Sees a state and its rate.
struct StateSensor;

impl Element for StateSensor {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        y.copy_from_slice(&[x.v[0], x.a[0]]);
    }
}

impl Assembler {
    /// Adds a first-order state with its value at the start: a quantity that has a rate ([`Element::rates`]), but neither a position nor
    /// mass, such as a current, a temperature, or the hysteretic part of a force. Elements are connected to it by [`Connection::states`].
    pub fn state(
        &mut self,
        name: impl Into<String>,
        unit: impl Into<String>,
        initial: impl Into<Value>,
    ) -> StateVariable {
        let (name, initial) = (name.into(), initial.into());
        self.claim(&name, &[initial]);
        self.used_parameters.extend(initial.terms().iter().map(|term| term.0));
        let number = self.initial_states.len();
        let state = StateVariable(number, self.owner);
        self.initial_states.push(initial);
        // its own part of the equations: 1 z' = what elements give
        let element = Box::new(Local { element: Own, states: 1 });
        self.add(&format!("state {number}"), element, None, Connection::default().states([state]));
        self.signature.states.push(Quantity::new(name, unit));
        state
    }

    /// Gives a state another value at the start.
    pub fn start_state(&mut self, state: StateVariable, value: impl Into<Value>) {
        let value = value.into();
        match self.initial_states.get_mut(state.0).filter(|_| state.1 == self.owner) {
            Some(own) => *own = value,
            None => return self.note_foreign("the start of a state", "a state"),
        }
        let name = self.signature.states[state.0].name.clone();
        self.claim(&name, &[value]);
        self.used_parameters.extend(value.terms().iter().map(|term| term.0));
    }

    /// A state as outputs `name.value`, in its unit, and `name.rate`, a second.
    pub fn state_sensor(&mut self, name: &str, state: StateVariable) {
        let unit = self.signature.states.get(state.0).map_or(String::new(), |own| own.unit.clone());
        let connection = Connection::default().states([state]);
        self.element(name, StateSensor, connection.outputs([("value", &unit), ("rate", &format!("{unit}/s"))]));
    }

    /// The states of a law, which belong to one part; `about`: it turns about an axis.
    pub(crate) fn states_of(&mut self, part: &str, law: &impl Law, about: bool) -> Vec<StateVariable> {
        law.states(about).into_iter().map(|(name, unit)| self.state(format!("{part}.{name}"), unit, 0.0)).collect()
    }
}
