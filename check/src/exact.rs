//! The Jacobians of a mechanism at one point, by the papers' letters, as matrices of nalgebra.

use super::hand::Block;
use super::report::BlockName;
use costate::shown::shown;
use costate::system::{Blocks, Point, System};
use costate::{Error, Result};
use nalgebra::DMatrix;

/// One of the Jacobians, with the names of its rows and columns.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Jacobian {
    /// The paper's letters and what they mean, e.g. `J_Q`, force by position.
    pub name: BlockName,
    /// The equation of each row.
    pub rows: Vec<String>,
    /// The variable of each column, e.g. ``q `x1` ``.
    pub columns: Vec<String>,
    /// The values, in the unit of a row's equation over that of a column's variable.
    pub matrix: DMatrix<f64>,
}

/// All Jacobians of the equations of motion M a + C_qᵀ λ = Q, C = 0 of a mechanism with n unknowns, m constraints and p parameters at one point,
/// exact to round-off.
///
/// They are M, J_M = d(M a)/dq, J_C = d(C_qᵀ λ)/dq, J_Q = dQ/dq, J_V = dQ/dv (n x n), C_q (m x n), dQ/du, d(M a)/du, d(C_qᵀ λ)/du (n x p), dC/du
/// (m x p), and df/du = d(M a + C_qᵀ λ - Q)/du (n x p), which the adjoint's integrand has (Lauss 2018). Those of constraints are there
/// where there are constraints, those of parameters where there are parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct Jacobians(Vec<Jacobian>);

impl Jacobians {
    /// Jacobians of `system` with parameters `u`, at time t, positions q, velocities v, accelerations a, multipliers λ and inputs w.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a vector of another length than the system has names; [`Error::NotFinite`] for an entry that is not finite.
    pub fn at(system: &dyn System, x: &Point<'_>, u: &[f64]) -> Result<Self> {
        let signature = system.signature();
        let (n, m) = (signature.unknown_count(), signature.constraints.len());
        for (what, given, expected) in [
            ("positions", x.q.len(), n),
            ("velocities", x.v.len(), n),
            ("accelerations", x.a.len(), n),
            ("multipliers", x.lambda.len(), m),
            ("inputs", x.w.len(), signature.inputs.len()),
            ("parameters", u.len(), signature.parameters.len()),
        ] {
            if given != expected {
                let problem = format!("{given} values are given, and `{}` has {expected}", signature.name);
                return Err(Error::invalid(what, problem, "give one value for each, in the model's order"));
            }
        }
        let mut evaluator = system.evaluator();
        evaluator.set_parameters(u);
        let mut blocks = Blocks::zeros(signature);
        evaluator.blocks(x, &mut blocks);
        let existing = Block::ALL.into_iter().filter(|block| block.exists(signature));
        let mut all: Vec<Jacobian> = existing
            .map(|block| {
                let matrix = block.of(&blocks);
                Jacobian {
                    name: block.name(),
                    rows: block.rows(signature),
                    columns: block.variable().names(signature),
                    matrix: DMatrix::from_row_slice(matrix.rows(), matrix.columns(), matrix.as_slice()),
                }
            })
            .collect();
        let by_parameters = |block: Block| {
            let matrix = block.of(&blocks);
            DMatrix::from_row_slice(matrix.rows(), matrix.columns(), matrix.as_slice())
        };
        if Block::ForceByParameter.exists(signature) {
            let matrix = by_parameters(Block::InertiaByParameter) + by_parameters(Block::ConstraintForceByParameter)
                - by_parameters(Block::ForceByParameter);
            all.push(Jacobian {
                name: BlockName { symbol: "df/du", words: "equations of motion by parameter" },
                rows: Block::ForceByParameter.rows(signature),
                columns: Block::ForceByParameter.variable().names(signature),
                matrix,
            });
        }
        for Jacobian { name, rows, columns, matrix } in &all {
            for (j, column) in matrix.column_iter().enumerate() {
                if let Some(i) = column.iter().position(|entry| !entry.is_finite()) {
                    let quantity = format!("{} in the row of {}, by {},", name.symbol, rows[i], columns[j]);
                    let remedy =
                        "the model divides by zero or overflows there, or takes a root of zero: choose another state";
                    let problem = format!("it is {} at t = {} s", matrix[(i, j)], shown(x.t));
                    return Err(Error::invalid(quantity, problem, remedy));
                }
            }
        }
        Ok(Jacobians(all))
    }

    /// All Jacobians: M, those of Newton's matrix, those by parameters.
    pub fn all(&self) -> &[Jacobian] {
        &self.0
    }

    /// The one that is called so: `M`, `J_M`, `J_C`, `J_Q`, `J_V`, `C_q`, `dQ/du`, `d(M a)/du`, `d(C_qᵀ λ)/du`, `dC/du`, `df/du`.
    ///
    /// # Errors
    /// [`Error::UnknownName`] where there is none, as of constraints in a mechanism without any.
    pub fn get(&self, symbol: &str) -> Result<&Jacobian> {
        let found = self.0.iter().find(|jacobian| jacobian.name.symbol == symbol);
        found.ok_or_else(|| Error::unknown("Jacobian", symbol, "", self.0.iter().map(|jacobian| jacobian.name.symbol)))
    }
}
