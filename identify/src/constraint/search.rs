//! The search within constraints: a problem as [`minimise_constrained`](crate::optimise::minimise_constrained) takes it.

use super::augmented::{AugmentedCost, Rows};
use super::result::ConstraintResult;
use crate::Reduced;
use crate::beside::{cost_of, with_rows};
use crate::ensemble::{Member, join};
use crate::optimise::{ConstrainedObjective, ConstrainedOutcome, Limit, Multipliers, Objective};
use crate::problem::Problem;
use crate::{Error, Result};
use costate::least_squares::Linearised;
use costate::sensitivity::Method;

/// Cost and constraints in the free parameters.
pub(crate) struct Constrained<'r, 'p> {
    problem: &'p Problem,
    /// The problem in its free parameters, whose gradient is that of `cost`.
    reduced: &'r mut Reduced<'p>,
    cost: &'p AugmentedCost<'p>,
    limits: Vec<Limit>,
}

impl<'r, 'p> Constrained<'r, 'p> {
    pub fn new(problem: &'p Problem, reduced: &'r mut Reduced<'p>, cost: &'p AugmentedCost<'p>) -> Self {
        let limits = limits(problem, &cost.rows);
        Constrained { problem, reduced, cost, limits }
    }
}

/// The limit of every value; an output's size comes from a simulation at the start.
fn limits(problem: &Problem, rows: &[Rows]) -> Vec<Limit> {
    let needs_run = rows.iter().any(|rows| rows.output.is_some());
    // should it fail, the search says so
    let run = if needs_run {
        {
            let first = problem.first();
            first.simulation.run(&first.own(&problem.start)).ok()
        }
    } else {
        None
    };
    let mut limits = Vec::new();
    for (constraint, rows) in problem.constraints.iter().zip(rows) {
        let peak = match (&rows.output, &run) {
            (Some((output, times)), Some(run)) => {
                run.output(*output)[times.clone()].iter().fold(0.0, |most: f64, y| most.max(y.abs()))
            }
            _ => 0.0,
        };
        limits.extend(std::iter::repeat_n(constraint.limit(problem, peak), rows.count()));
    }
    limits
}

impl ConstrainedObjective for Constrained<'_, '_> {
    fn dimension(&self) -> usize {
        self.reduced.free.len()
    }

    fn limits(&self) -> &[Limit] {
        &self.limits
    }

    fn cost_scale(&self) -> Option<f64> {
        Objective::cost_scale(self.reduced)
    }

    fn augmented_gradient(
        &mut self,
        u: &[f64],
        multipliers: &Multipliers,
        gradient: &mut [f64],
        c: &mut [f64],
    ) -> Result<f64> {
        self.cost.set(multipliers);
        self.reduced.value_and_gradient(u, gradient)?;
        if self.reduced.method == Method::Difference {
            // the last runs were elsewhere
            self.reduced.gradient.cost(&self.reduced.u)?;
        }
        // the first experiment's, whose constraints these are, and all else
        Ok(self.cost.last_run(c) + self.reduced.gradient.beside_first())
    }

    fn augmented_hessian(&mut self, u: &[f64], multipliers: &Multipliers, hessian: &mut [Vec<f64>]) -> Result<()> {
        self.cost.set(multipliers);
        self.reduced.hessian(u, hessian)
    }

    fn augmented_hessian_vector(
        &mut self,
        u: &[f64],
        multipliers: &Multipliers,
        direction: &[f64],
        product: &mut [f64],
    ) -> Result<()> {
        self.cost.set(multipliers);
        self.reduced.hessian_vector(u, direction, product)
    }

    fn augmented_residuals(
        &mut self,
        u: &[f64],
        multipliers: &Multipliers,
        c: &mut [f64],
    ) -> Result<(f64, Linearised)> {
        self.reduced.set(u);
        let u = self.reduced.u.clone();
        let Some(costs) = self.reduced.residuals.clone() else {
            return Err(Error::invalid("the cost", "it is no sum of squares", "take another method, such as bfgs"));
        };
        // constraints are those of the first experiment
        let found = self.reduced.gradient.each(&u, |k, Member { gradient, u, .. }| match k {
            0 => self.cost.residuals(gradient, costs[0], u, multipliers),
            _ => Ok(gradient.linearise(u, costs[k]).map(|own| (own.cost(), own, Vec::new()))?),
        });
        let found = self.reduced.noting(found)?;
        let beside = self.problem.rows_beside(&u)?;
        let cost = found.iter().map(|(cost, ..)| cost).sum::<f64>() + cost_of(&beside);
        found.iter().for_each(|(_, _, values)| c[..values.len()].copy_from_slice(values));
        let all = join(self.problem, found.into_iter().map(|(_, own, _)| own).collect());
        let all = with_rows(all, &beside, 1.0);
        let free = self.reduced.free;
        Ok((cost, all.scaled(free, &vec![1.0; free.len()])))
    }
}

/// Results of all constraints, in the problem's order.
pub(crate) fn results(problem: &Problem, found: &ConstrainedOutcome, tolerance: f64) -> Vec<ConstraintResult> {
    let (rows, _) = Rows::of(&problem.constraints, problem.first().simulation.grid());
    let limits = limits(problem, &rows);
    let all = problem.constraints.iter().zip(&rows);
    all.map(|(constraint, rows)| {
        let range = rows.first..rows.first + rows.count();
        let (c, multipliers) = (&found.c[range.clone()], &found.multipliers[range]);
        let size = limits[rows.first].size;
        ConstraintResult::of(constraint, rows, problem, c, multipliers, tolerance * size)
    })
    .collect()
}
