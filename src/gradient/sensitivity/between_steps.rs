//! Times between steps in a sweep backwards: what the cost makes of them falls to both ends of the step.

use super::adjoint::take_inputs;
use super::hessian::SweepDirections;
use crate::scheme::Direction;
use crate::simulate::{Between, Simulation};
use crate::system::StateVector;

/// Cotangents of a time between steps, and what waits for the beginning of the step that is gone through.
#[derive(Default)]
pub(super) struct BetweenSteps {
    bar: StateVector,
    directions: Vec<Direction>,
    /// Room for two lists of outputs.
    pub outputs: [Vec<f64>; 2],
    pending: StateVector,
    pending_along: Vec<StateVector>,
    is_used: bool,
}

impl BetweenSteps {
    /// Room for a run that is read between its steps, along so many directions.
    pub fn of(simulation: &Simulation, like: &StateVector, directions: usize) -> Self {
        if simulation.reads_steps_alone() {
            return BetweenSteps::default();
        }
        let mut zero = like.clone();
        super::clear(&mut zero);
        let direction = Direction { tangent: zero.clone(), before: zero.clone(), cotangent: zero.clone() };
        BetweenSteps {
            bar: zero.clone(),
            directions: vec![direction; directions],
            outputs: Default::default(),
            pending: zero.clone(),
            pending_along: vec![zero; directions],
            is_used: true,
        }
    }

    /// Adds to cotangents of a state, those before the step that was gone through, what fell to it.
    pub fn add_pending(&mut self, bar: &mut StateVector, directions: &mut [Direction]) {
        if !self.is_used {
            return;
        }
        add(&mut self.pending, bar);
        let along = self.pending_along.iter_mut().zip(directions);
        along.for_each(|(pending, direction)| add(pending, &mut direction.cotangent));
    }

    /// Cotangents for time `i` in step `k`, and the tangents there; and room for outputs.
    pub fn enter(
        &mut self,
        between: Between,
        (i, k): (usize, usize),
        along: &SweepDirections<'_>,
    ) -> (&mut StateVector, &mut Vec<Direction>, &mut [Vec<f64>; 2]) {
        along.between(between, (i, k), &mut self.directions);
        (&mut self.bar, &mut self.directions, &mut self.outputs)
    }

    /// Lets both ends of the step have the cotangents of time `i`.
    pub fn leave(
        &mut self,
        between: Between,
        i: usize,
        (bar, by_inputs): (&mut StateVector, &mut [f64]),
        along: &mut SweepDirections<'_>,
    ) {
        take_inputs((i, None), &mut self.bar, by_inputs);
        between.pull_back(&mut self.bar, &mut self.pending, bar);
        for (d, own) in self.directions.iter_mut().enumerate() {
            along.take_inputs_of(d, (i, None), &mut own.cotangent);
            between.pull_back(&mut own.cotangent, &mut self.pending_along[d], &mut along.directions[d].cotangent);
        }
    }
}

/// Moves the state's part of a cotangent.
fn add(from: &mut StateVector, to: &mut StateVector) {
    for (from, to) in [
        (&from.q, &mut to.q),
        (&from.v, &mut to.v),
        (&from.a, &mut to.a),
        (&from.a_scheme, &mut to.a_scheme),
        (&from.lambda, &mut to.lambda),
    ] {
        to.iter_mut().zip(from).for_each(|(to, from)| *to += from);
    }
    from.clear_state();
}
