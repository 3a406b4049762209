//! Several costs that add up.

use super::{Cost, CostEvaluator, Goals, Sample, SquaredRow};
use crate::Result;
use crate::grid::TimeGrid;
use crate::signature::Signature;
use crate::system::StateVector;
use std::sync::Arc;

/// Goals for outputs, and any other costs besides, by name.
#[derive(Default)]
pub struct Sum {
    /// Goals, if there are any.
    pub goals: Option<Goals>,
    /// Other costs.
    pub others: Vec<(String, Arc<dyn Cost>)>,
}

impl Sum {
    /// A sum of goals alone.
    pub fn of_goals(goals: Goals) -> Self {
        Sum { goals: Some(goals), others: Vec::new() }
    }

    fn terms(&self) -> impl Iterator<Item = &dyn Cost> {
        let goals = self.goals.iter().map(|goals| goals as &dyn Cost);
        goals.chain(self.others.iter().map(|(_, cost)| &**cost))
    }
}

impl Cost for Sum {
    fn check(&self, signature: &Signature, grid: &TimeGrid) -> Result<()> {
        self.terms().try_for_each(|cost| cost.check(signature, grid))
    }

    fn evaluator(&self, signature: &Signature) -> Box<dyn CostEvaluator + '_> {
        Box::new(SumEvaluator(self.terms().map(|cost| cost.evaluator(signature)).collect()))
    }

    fn squared_rows(&self, sample: &Sample<'_>, rows: &mut Vec<SquaredRow>) -> bool {
        self.terms().all(|cost| cost.squared_rows(sample, rows))
    }
}

struct SumEvaluator<'c>(Vec<Box<dyn CostEvaluator + 'c>>);

impl CostEvaluator for SumEvaluator<'_> {
    fn concerns(&self, index: usize, last: usize) -> bool {
        self.0.iter().any(|cost| cost.concerns(index, last))
    }

    fn own_weight(&self, index: usize) -> Option<f64> {
        // sums with different weights are no integral
        self.0.iter().find_map(|cost| cost.own_weight(index)).map(|_| 0.0)
    }

    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let concerned = self.0.iter_mut().filter(|cost| cost.concerns(sample.index, sample.last));
        concerned.map(|cost| cost.value(sample)).sum()
    }

    fn gradient(&mut self, sample: &Sample<'_>, state: &mut StateVector, y: &mut [f64]) {
        let concerned = self.0.iter_mut().filter(|cost| cost.concerns(sample.index, sample.last));
        concerned.for_each(|cost| cost.gradient(sample, state, y));
    }

    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        tangent: &StateVector,
        y_tangent: &[f64],
        state: &mut StateVector,
        y: &mut [f64],
    ) {
        let concerned = self.0.iter_mut().filter(|cost| cost.concerns(sample.index, sample.last));
        concerned.for_each(|cost| cost.curvature(sample, tangent, y_tangent, state, y));
    }
}
