//! Vectors over everything that a state, parameters and inputs hold.

use crate::signature::Signature;

/// A part of a state vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StatePart {
    /// Positions q.
    Position,
    /// Velocities v.
    Velocity,
    /// Consistent accelerations a.
    Acceleration,
    /// The scheme's own accelerations a.
    SchemeAcceleration,
    /// Multipliers λ.
    Multiplier,
    /// Parameters u.
    Parameter,
    /// Inputs w.
    Input,
}

impl StatePart {
    /// The parts of n entries.
    pub(crate) const STATE: [StatePart; 4] =
        [StatePart::Position, StatePart::Velocity, StatePart::Acceleration, StatePart::SchemeAcceleration];
}

/// Cotangents (or tangents) of one state and of the parameters; the fields are as those of [`OutputPoint`](super::OutputPoint).
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StateVector {
    /// Positions, n.
    pub q: Vec<f64>,
    /// Velocities, n.
    pub v: Vec<f64>,
    /// Consistent accelerations, n.
    pub a: Vec<f64>,
    /// The scheme's own accelerations, n.
    pub a_scheme: Vec<f64>,
    /// Multipliers, m.
    pub lambda: Vec<f64>,
    /// Parameters, p.
    pub u: Vec<f64>,
    /// Inputs, where they are differentiated by ([`System::evaluator_by`](super::System::evaluator_by)).
    pub w: Vec<f64>,
    /// The other inputs that a step sees: those one step later, with which schemes begin, or those from its beginning on, where it
    /// restarts.
    pub w_other: Vec<f64>,
    /// Numbers that a scheme carries from step to step besides; evaluators leave them alone.
    pub memory: Vec<f64>,
}

impl StateVector {
    /// A vector that is all zero, in the sizes of `signature`.
    pub fn zeros(signature: &Signature) -> Self {
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        let p = signature.parameters.len();
        let zeros = |k| vec![0.0; k];
        StateVector {
            q: zeros(n),
            v: zeros(n),
            a: zeros(n),
            a_scheme: zeros(n),
            lambda: zeros(m),
            u: zeros(p),
            w: zeros(signature.inputs.len()),
            w_other: zeros(signature.inputs.len()),
            memory: Vec::new(),
        }
    }

    /// A vector that is all zero, with room for what a scheme carries.
    pub fn with_memory(signature: &Signature, memory: usize) -> Self {
        StateVector { memory: vec![0.0; memory], ..StateVector::zeros(signature) }
    }

    /// A part of the vector.
    #[inline]
    pub fn part(&self, part: StatePart) -> &[f64] {
        match part {
            StatePart::Position => &self.q,
            StatePart::Velocity => &self.v,
            StatePart::Acceleration => &self.a,
            StatePart::SchemeAcceleration => &self.a_scheme,
            StatePart::Multiplier => &self.lambda,
            StatePart::Parameter => &self.u,
            StatePart::Input => &self.w,
        }
    }

    /// A part of the vector, to be changed.
    #[inline]
    pub fn part_mut(&mut self, part: StatePart) -> &mut [f64] {
        match part {
            StatePart::Position => &mut self.q,
            StatePart::Velocity => &mut self.v,
            StatePart::Acceleration => &mut self.a,
            StatePart::SchemeAcceleration => &mut self.a_scheme,
            StatePart::Multiplier => &mut self.lambda,
            StatePart::Parameter => &mut self.u,
            StatePart::Input => &mut self.w,
        }
    }

    /// Exchanges the inputs for those one step later.
    pub(crate) fn exchange_inputs(&mut self) {
        std::mem::swap(&mut self.w, &mut self.w_other);
    }

    /// Block `k` of a scheme's state: q, v, a, a_scheme, then those in memory, which are as long.
    pub(crate) fn block(&self, k: usize) -> &[f64] {
        let n = self.q.len();
        match k {
            0 => &self.q,
            1 => &self.v,
            2 => &self.a,
            3 => &self.a_scheme,
            _ => &self.memory[(k - 4) * n..(k - 3) * n],
        }
    }

    pub(crate) fn block_mut(&mut self, k: usize) -> &mut [f64] {
        let n = self.q.len();
        match k {
            0 => &mut self.q,
            1 => &mut self.v,
            2 => &mut self.a,
            3 => &mut self.a_scheme,
            _ => &mut self.memory[(k - 4) * n..(k - 3) * n],
        }
    }

    /// Sets every entry to zero except those of the parameters and inputs.
    pub fn clear_state(&mut self) {
        let Self { q, v, a, a_scheme, lambda, memory, .. } = self;
        for part in [q, v, a, a_scheme, lambda, memory] {
            part.fill(0.0);
        }
    }
}
