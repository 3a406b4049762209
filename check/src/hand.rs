//! Blocks of derivatives that a person derived, and what they are called.

use super::report::BlockName;
use costate::system::{Blocks, Point};
use costate::{Matrix, Signature};

/// Answer of a method of [`HandDerived`]: whether it has filled its matrix.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Supplied {
    /// The matrix holds the block (possibly zero everywhere).
    Yes,
    /// Nobody derived this block; dual numbers supply it.
    No,
}

/// Derivatives of a mechanism by hand, one method a block; all are optional.
///
/// Rows and columns are in the order of the system's signature, with n coordinates, m constraints and p parameters. The
/// matrix is zero on entry: a method writes what is not zero and returns [`Supplied::Yes`]. `u` are the parameter values.
/// Entries have the unit of their row's equation over that of their column's variable.
pub trait HandDerived: Send + Sync {
    /// M, n x n.
    fn mass(&self, x: &Point<'_>, u: &[f64], mass: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, mass);
        Supplied::No
    }

    /// J_M = d(M a)/dq, n x n.
    fn inertia_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// J_C = d(C_qᵀ λ)/dq, n x n.
    fn constraint_force_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// J_Q = dQ/dq, n x n.
    fn force_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// J_V = dQ/dv, n x n.
    fn force_by_velocity(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// C_q = dC/dq, m x n.
    fn constraint_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// dQ/du, n x p.
    fn force_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// d(M a)/du, n x p.
    fn inertia_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// d(C_qᵀ λ)/du, n x p.
    fn constraint_force_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }

    /// dC/du, m x p.
    fn constraint_by_parameter(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
        let _ = (x, u, jacobian);
        Supplied::No
    }
}

/// The blocks by name, to go through all of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Block {
    Mass,
    InertiaByPosition,
    ConstraintForceByPosition,
    ForceByPosition,
    ForceByVelocity,
    ConstraintByPosition,
    ForceByParameter,
    InertiaByParameter,
    ConstraintForceByParameter,
    ConstraintByParameter,
}

/// The kind of variable that a derivative's columns belong to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Variable {
    Position,
    Velocity,
    Acceleration,
    Multiplier,
    Parameter,
}

impl Variable {
    /// Names of all variables of this kind, with the paper's letter, e.g. ``q `x1` ``.
    pub(super) fn names(self, signature: &Signature) -> Vec<String> {
        let letter = match self {
            Variable::Position => "q",
            Variable::Velocity => "v",
            Variable::Acceleration => "a",
            Variable::Multiplier => "lambda",
            Variable::Parameter => "u",
        };
        let name = |name: &str| format!("{letter} `{name}`");
        // a state is handled as a velocity, whose position nobody sees
        let of_state = |name: &str| match self {
            Variable::Position => format!("position behind `{name}`"),
            Variable::Velocity => format!("state `{name}`"),
            _ => format!("rate `{name}`"),
        };
        match self {
            Variable::Parameter => signature.parameters.iter().map(|p| name(&p.name)).collect(),
            Variable::Multiplier => signature.constraints.iter().map(|c| name(&c.name)).collect(),
            _ => {
                let states = signature.states.iter().map(|state| of_state(&state.name));
                signature.coordinates.iter().map(|q| name(&q.name)).chain(states).collect()
            }
        }
    }
}

impl Block {
    /// M and the blocks of Newton's matrix come first.
    pub(super) const ALL: [Block; 10] = [
        Block::Mass,
        Block::InertiaByPosition,
        Block::ConstraintForceByPosition,
        Block::ForceByPosition,
        Block::ForceByVelocity,
        Block::ConstraintByPosition,
        Block::ForceByParameter,
        Block::InertiaByParameter,
        Block::ConstraintForceByParameter,
        Block::ConstraintByParameter,
    ];

    pub(super) fn name(self) -> BlockName {
        let (symbol, words) = match self {
            Block::Mass => ("M", "mass matrix"),
            Block::InertiaByPosition => ("J_M", "inertia by position"),
            Block::ConstraintForceByPosition => ("J_C", "constraint force by position"),
            Block::ForceByPosition => ("J_Q", "force by position"),
            Block::ForceByVelocity => ("J_V", "force by velocity"),
            Block::ConstraintByPosition => ("C_q", "constraint by position"),
            Block::ForceByParameter => ("dQ/du", "force by parameter"),
            Block::InertiaByParameter => ("d(M a)/du", "inertia by parameter"),
            Block::ConstraintForceByParameter => ("d(C_qᵀ λ)/du", "constraint force by parameter"),
            Block::ConstraintByParameter => ("dC/du", "constraint by parameter"),
        };
        BlockName { symbol, words }
    }

    pub(super) fn variable(self) -> Variable {
        match self {
            Block::Mass => Variable::Acceleration,
            Block::InertiaByPosition
            | Block::ConstraintForceByPosition
            | Block::ForceByPosition
            | Block::ConstraintByPosition => Variable::Position,
            Block::ForceByVelocity => Variable::Velocity,
            _ => Variable::Parameter,
        }
    }

    /// True if its rows are constraints (else equations of motion).
    pub(super) fn is_of_constraint(self) -> bool {
        matches!(self, Block::ConstraintByPosition | Block::ConstraintByParameter)
    }

    /// Names of its rows.
    pub(super) fn rows(self, signature: &Signature) -> Vec<String> {
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        let rows = if self.is_of_constraint() { n..n + m } else { 0..n };
        rows.map(|row| signature.equation_name(row)).collect()
    }

    /// False for blocks of constraints in a system without any, and those of parameters likewise.
    pub(super) fn exists(self, signature: &Signature) -> bool {
        let constrained = match self {
            Block::ConstraintForceByPosition | Block::ConstraintForceByParameter => true,
            other => other.is_of_constraint(),
        };
        (!constrained || !signature.constraints.is_empty())
            && (self.variable() != Variable::Parameter || !signature.parameters.is_empty())
    }

    pub(super) fn of(self, blocks: &Blocks) -> &Matrix<f64> {
        match self {
            Block::Mass => &blocks.mass,
            Block::InertiaByPosition => &blocks.inertia_by_position,
            Block::ConstraintForceByPosition => &blocks.constraint_force_by_position,
            Block::ForceByPosition => &blocks.force_by_position,
            Block::ForceByVelocity => &blocks.force_by_velocity,
            Block::ConstraintByPosition => &blocks.constraint_by_position,
            Block::ForceByParameter => &blocks.force_by_parameter,
            Block::InertiaByParameter => &blocks.inertia_by_parameter,
            Block::ConstraintForceByParameter => &blocks.constraint_force_by_parameter,
            Block::ConstraintByParameter => &blocks.constraint_by_parameter,
        }
    }

    pub(super) fn of_mut(self, blocks: &mut Blocks) -> &mut Matrix<f64> {
        match self {
            Block::Mass => &mut blocks.mass,
            Block::InertiaByPosition => &mut blocks.inertia_by_position,
            Block::ConstraintForceByPosition => &mut blocks.constraint_force_by_position,
            Block::ForceByPosition => &mut blocks.force_by_position,
            Block::ForceByVelocity => &mut blocks.force_by_velocity,
            Block::ConstraintByPosition => &mut blocks.constraint_by_position,
            Block::ForceByParameter => &mut blocks.force_by_parameter,
            Block::InertiaByParameter => &mut blocks.inertia_by_parameter,
            Block::ConstraintForceByParameter => &mut blocks.constraint_force_by_parameter,
            Block::ConstraintByParameter => &mut blocks.constraint_by_parameter,
        }
    }

    /// Clears the block and has it filled by hand.
    pub(super) fn fill(self, hand: &dyn HandDerived, x: &Point<'_>, u: &[f64], blocks: &mut Blocks) -> Supplied {
        let matrix = self.of_mut(blocks);
        matrix.fill(0.0);
        match self {
            Block::Mass => hand.mass(x, u, matrix),
            Block::InertiaByPosition => hand.inertia_by_position(x, u, matrix),
            Block::ConstraintForceByPosition => hand.constraint_force_by_position(x, u, matrix),
            Block::ForceByPosition => hand.force_by_position(x, u, matrix),
            Block::ForceByVelocity => hand.force_by_velocity(x, u, matrix),
            Block::ConstraintByPosition => hand.constraint_by_position(x, u, matrix),
            Block::ForceByParameter => hand.force_by_parameter(x, u, matrix),
            Block::InertiaByParameter => hand.inertia_by_parameter(x, u, matrix),
            Block::ConstraintForceByParameter => hand.constraint_force_by_parameter(x, u, matrix),
            Block::ConstraintByParameter => hand.constraint_by_parameter(x, u, matrix),
        }
    }
}
