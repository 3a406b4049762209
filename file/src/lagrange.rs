//! Mass matrices and forces from energies.

use crate::formula::graph::{Bank, Graph, Pair, Place, TooLarge};

/// Kinetic and potential energy, and Rayleigh's dissipation; those that are given.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Energies {
    pub kinetic: Option<Place>,
    pub potential: Option<Place>,
    pub dissipation: Option<Place>,
}

/// The mass matrix, row by row, and the forces, zero where they are `None`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Derived {
    pub mass: Vec<(usize, usize, Place)>,
    pub forces: Vec<Option<Place>>,
}

impl Energies {
    /// M = ∂²T/∂v∂v and Q = ∂T/∂q - (∂²T/∂v∂q) v - ∂V/∂q - ∂D/∂v, for this number of coordinates. Of a kinetic energy that is quadratic in the velocities
    /// and does not know the time, that is Lagrange's equation.
    pub fn derive(&self, graph: &mut Graph, count: usize) -> Result<Derived, TooLarge> {
        let mut derived = Derived { forces: vec![None; count], ..Derived::default() };
        let zero = graph.constant(0.0)?;
        let velocities: Vec<Place> = (0..count).map(|j| graph.variable(Bank::Velocity, j)).collect::<Result<_, _>>()?;
        for i in 0..count {
            let mut force = zero;
            if let Some(kinetic) = self.kinetic {
                let momentum = graph.derivative(kinetic, Bank::Velocity, i)?;
                for (j, velocity) in velocities.iter().enumerate() {
                    if j <= i {
                        let mass = graph.derivative(momentum, Bank::Velocity, j)?;
                        if mass != zero {
                            derived.mass.push((i, j, mass));
                        }
                    }
                    let turning = graph.derivative(momentum, Bank::Position, j)?;
                    let part = graph.product(turning, *velocity)?;
                    force = graph.difference(force, part)?;
                }
                let own = graph.derivative(kinetic, Bank::Position, i)?;
                force = graph.sum(force, own)?;
            }
            let others = [(self.potential, Bank::Position), (self.dissipation, Bank::Velocity)];
            for (energy, bank) in others.into_iter().filter_map(|(energy, bank)| Some((energy?, bank))) {
                let slope = graph.derivative(energy, bank, i)?;
                force = graph.difference(force, slope)?;
            }
            derived.forces[i] = (force != zero).then_some(force);
        }
        Ok(derived)
    }
}

/// The sum of two nodes, one of which may not be there.
pub(crate) fn sum(graph: &mut Graph, a: Option<Place>, b: Option<Place>) -> Result<Option<Place>, TooLarge> {
    match (a, b) {
        (Some(a), Some(b)) => graph.pair(Pair::Add, a, b).map(Some),
        (one, other) => Ok(one.or(other)),
    }
}
