//! The augmented Lagrangian as a function that the methods minimise.

use super::super::Objective;
use super::super::multipliers::Multipliers;
use super::ConstrainedObjective;
use crate::Result;
use costate::least_squares::Linearised;

/// The augmented Lagrangian for given multipliers, as the methods take it.
pub(super) struct Augmented<'a> {
    pub(super) objective: &'a mut dyn ConstrainedObjective,
    pub(super) multipliers: Multipliers,
    /// Point where the objective was evaluated last, and c there.
    pub(super) at: Vec<f64>,
    pub(super) c: Vec<f64>,
    /// Point u, cost J and violation of all evaluations of this outer iteration.
    pub(super) seen: Vec<(Vec<f64>, f64, f64)>,
    pub(super) evaluations: usize,
}

impl Augmented<'_> {
    pub(super) fn note(&mut self, u: &[f64], cost: f64) {
        self.at = u.to_vec();
        self.seen.push((u.to_vec(), cost, self.multipliers.violation(&self.c)));
    }

    pub(super) fn terms(&self) -> f64 {
        self.c.iter().enumerate().map(|(i, c)| self.multipliers.term(i, *c)).sum()
    }

    /// J and violation at a point of this outer iteration.
    pub(super) fn seen_at(&self, u: &[f64]) -> Option<(f64, f64)> {
        self.seen.iter().rev().find(|(seen, ..)| seen == u).map(|(_, cost, violation)| (*cost, *violation))
    }

    /// Makes sure that c belongs to u.
    pub(super) fn ensure_at(&mut self, u: &[f64], least_squares: bool) -> Result<()> {
        if self.at == u {
            return Ok(());
        }
        self.cost_and_gradient(u, least_squares).map(|_| ())
    }

    /// J and the gradient of the augmented Lagrangian, by residuals if the method is one of theirs.
    pub(super) fn cost_and_gradient(&mut self, u: &[f64], least_squares: bool) -> Result<(f64, Vec<f64>)> {
        if least_squares {
            let gradient = self.linearise(u)?.gradient();
            return Ok((self.seen.last().map_or(f64::NAN, |seen| seen.1), gradient));
        }
        let mut gradient = vec![0.0; u.len()];
        self.value_and_gradient(u, &mut gradient)?;
        Ok((self.seen.last().map_or(f64::NAN, |seen| seen.1), gradient))
    }
}

impl Objective for Augmented<'_> {
    fn dimension(&self) -> usize {
        self.objective.dimension()
    }

    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.at.clear();
        self.evaluations += 1;
        let cost = self.objective.augmented_gradient(u, &self.multipliers, gradient, &mut self.c)?;
        self.note(u, cost);
        Ok(cost + self.terms())
    }

    fn cost_scale(&self) -> Option<f64> {
        self.objective.cost_scale()
    }

    fn linearise(&mut self, u: &[f64]) -> Result<Linearised> {
        self.at.clear();
        self.evaluations += 1;
        let (cost, linearised) = self.objective.augmented_residuals(u, &self.multipliers, &mut self.c)?;
        self.note(u, cost);
        Ok(linearised)
    }
}

/// Lets the observer look into the objective between evaluations.
pub(super) struct Shared<'s, 'a>(pub(super) &'s std::cell::RefCell<&'s mut Augmented<'a>>);

impl Objective for Shared<'_, '_> {
    fn dimension(&self) -> usize {
        self.0.borrow().objective.dimension()
    }

    fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
        self.0.borrow_mut().value_and_gradient(u, gradient)
    }

    fn cost_scale(&self) -> Option<f64> {
        self.0.borrow().objective.cost_scale()
    }

    fn linearise(&mut self, u: &[f64]) -> Result<Linearised> {
        self.0.borrow_mut().linearise(u)
    }

    fn hessian(&mut self, u: &[f64], hessian: &mut [Vec<f64>]) -> Result<()> {
        let Augmented { objective, multipliers, .. } = &mut **self.0.borrow_mut();
        objective.augmented_hessian(u, multipliers, hessian)
    }

    fn hessian_vector(&mut self, u: &[f64], direction: &[f64], product: &mut [f64]) -> Result<()> {
        let Augmented { objective, multipliers, .. } = &mut **self.0.borrow_mut();
        objective.augmented_hessian_vector(u, multipliers, direction, product)
    }
}
