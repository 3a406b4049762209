//! The augmented Lagrangian of a simulation, as a cost: adjoint, tangents and Hessians see nothing new.

use super::{Constraint, Value};
use crate::Result;
use crate::optimise::{Limit, Multipliers};
use costate::cost::{Cost, CostEvaluator, LeastSquares, Sample, Sensors};
use costate::least_squares::{Linearised, Reduction};
use costate::sensitivity::{Gradient, Seen};
use costate::system::StateVector;
use costate::{Signature, TimeGrid};
use std::ops::RangeInclusive;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The values of one constraint among those of all.
#[derive(Debug, Clone)]
pub(crate) struct Rows {
    /// The first.
    pub first: usize,
    /// Place of the output, and the times, one value each; for a constraint on an output.
    pub output: Option<(usize, RangeInclusive<usize>)>,
}

impl Rows {
    /// Rows of each constraint; and how many values there are. Windows without times (which validation refuses) have none.
    pub fn of(constraints: &[Constraint], grid: &TimeGrid) -> (Vec<Rows>, usize) {
        let mut count = 0;
        let rows = constraints.iter().map(|constraint| {
            let output = match &constraint.value {
                Value::Output { output, window } => window.indices(grid).map(|times| (*output, times)),
                _ => None,
            };
            let rows = Rows { first: count, output };
            count += rows.count();
            rows
        });
        (rows.collect(), count)
    }

    pub fn count(&self) -> usize {
        self.output.as_ref().map_or(1, |(_, times)| times.end() - times.start() + 1)
    }

    /// The output and the place of its value at time `index`, if it has one there.
    pub fn at(&self, index: usize) -> Option<(usize, usize)> {
        let (output, times) = self.output.as_ref()?;
        times.contains(&index).then(|| (*output, self.first + index - times.start()))
    }
}

/// A cost with the terms of its constraints: those of outputs at their times, those of parameters at the last time.
pub struct AugmentedCost<'p> {
    cost: &'p dyn Cost,
    constraints: &'p [Constraint],
    pub(crate) rows: Vec<Rows>,
    /// Multipliers come from outside, values go there; evaluators borrow the cost in between.
    shared: Mutex<Shared>,
}

struct Shared {
    multipliers: Multipliers,
    /// The constraints' values.
    c: Vec<f64>,
    /// Share of the cost itself at each time.
    costs: Vec<f64>,
}

impl<'p> AugmentedCost<'p> {
    /// `cost` with the terms of `constraints` on the time grid of the simulation; without multipliers, they are zero.
    pub fn new(cost: &'p dyn Cost, constraints: &'p [Constraint], grid: &TimeGrid) -> Self {
        let (rows, count) = Rows::of(constraints, grid);
        let costs = vec![0.0; grid.count() + 1];
        let limits = constraints.iter().zip(&rows);
        let limits = limits.flat_map(|(x, rows)| std::iter::repeat_n(Limit::between(x.lower, x.upper), rows.count()));
        let shared = Shared { multipliers: Multipliers::new(limits.collect(), 0.0), c: vec![0.0; count], costs };
        AugmentedCost { cost, constraints, rows, shared: Mutex::new(shared) }
    }

    fn shared(&self) -> MutexGuard<'_, Shared> {
        // plain numbers: what a panicking thread left can be read
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Number of values of the constraints: one each, and one a time for outputs.
    pub fn count(&self) -> usize {
        self.shared().c.len()
    }

    /// Takes other multipliers, one for each value.
    pub fn set(&self, multipliers: &Multipliers) {
        let shared = &mut *self.shared();
        if shared.multipliers != *multipliers {
            shared.multipliers.clone_from(multipliers);
        }
    }

    /// The cost itself of the last run, and the constraints' values in it.
    pub fn last_run(&self, c: &mut [f64]) -> f64 {
        let shared = self.shared();
        c.copy_from_slice(&shared.c);
        shared.costs.iter().sum()
    }

    /// The cost itself at `u`, its residuals and those of the constraints, linearised, and the constraints' values.
    pub fn residuals(
        &self,
        gradient: &mut Gradient<'_>,
        cost: &LeastSquares,
        u: &[f64],
        multipliers: &Multipliers,
    ) -> Result<(f64, Linearised, Vec<f64>)> {
        let wanted = |i: usize| self.rows.iter().any(|rows| rows.at(i).is_some());
        let mut reduction = Reduction::new(u.len());
        let (mut c, mut squares) = (vec![0.0; self.count()], 0.0);
        gradient.residuals_and_outputs(u, cost, &wanted, &mut |seen| match seen {
            Seen::Residual(row) => {
                squares += (row.weight.sqrt() * row.rooted.0).powi(2);
                row.add_to(&mut reduction);
            }
            Seen::Outputs(x) => {
                for (output, row) in self.rows.iter().filter_map(|rows| rows.at(x.index)) {
                    c[row] = x.y[output];
                    if let Some((residual, factor)) = multipliers.residual(row, c[row]) {
                        reduction.add_scaled(factor, x.slopes(output), residual);
                    }
                }
            }
        })?;
        for (function, row) in self.functions() {
            c[row] = function.value(u);
            if let Some((residual, factor)) = multipliers.residual(row, c[row]) {
                let mut slopes = vec![0.0; u.len()];
                function.add_gradient(u, factor, &mut slopes);
                reduction.add(&slopes, residual);
            }
        }
        Ok((0.5 * squares, reduction.finish(), c))
    }

    /// Functions of the parameters, with the places of their values.
    fn functions(&self) -> impl Iterator<Item = (&'p dyn super::Function, usize)> {
        let constraints: &'p [Constraint] = self.constraints;
        let functions = constraints.iter().zip(&self.rows);
        functions.filter_map(|(constraint, rows)| Some((constraint.value.of_parameters()?, rows.first)))
    }
}

impl Cost for AugmentedCost<'_> {
    fn sensors(&self) -> Option<&Sensors> {
        self.cost.sensors()
    }

    fn check(&self, signature: &Signature, grid: &TimeGrid) -> costate::Result<()> {
        self.cost.check(signature, grid)
    }

    fn evaluator(&self, signature: &Signature) -> Box<dyn CostEvaluator + '_> {
        let slopes = vec![0.0; signature.parameters.len()];
        Box::new(AugmentedEvaluator { cost: self, inner: self.cost.evaluator(signature), slopes })
    }
}

struct AugmentedEvaluator<'c> {
    cost: &'c AugmentedCost<'c>,
    inner: Box<dyn CostEvaluator + 'c>,
    /// ∇c of one function.
    slopes: Vec<f64>,
}

impl CostEvaluator for AugmentedEvaluator<'_> {
    fn concerns(&self, index: usize, last: usize) -> bool {
        let inner = self.inner.concerns(index, last);
        inner || index == last || self.cost.rows.iter().any(|rows| rows.at(index).is_some())
    }

    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let own = if self.inner.concerns(sample.index, sample.last) { self.inner.value(sample) } else { 0.0 };
        let Shared { multipliers, c, costs } = &mut *self.cost.shared();
        costs[sample.index] = own;
        let mut total = own;
        for (output, row) in self.cost.rows.iter().filter_map(|rows| rows.at(sample.index)) {
            c[row] = sample.y[output];
            total += multipliers.term(row, c[row]);
        }
        if sample.index == sample.last {
            for (function, row) in self.cost.functions() {
                c[row] = function.value(sample.u);
                total += multipliers.term(row, c[row]);
            }
        }
        total
    }

    fn gradient(&mut self, sample: &Sample<'_>, state: &mut StateVector, y: &mut [f64]) {
        if self.inner.concerns(sample.index, sample.last) {
            self.inner.gradient(sample, state, y);
        }
        let Shared { multipliers, .. } = &*self.cost.shared();
        for (output, row) in self.cost.rows.iter().filter_map(|rows| rows.at(sample.index)) {
            y[output] += multipliers.weight(row, sample.y[output]);
        }
        if sample.index == sample.last {
            for (function, row) in self.cost.functions() {
                let weight = multipliers.weight(row, function.value(sample.u));
                function.add_gradient(sample.u, weight, &mut state.u);
            }
        }
    }

    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        tangent: &StateVector,
        y_tangent: &[f64],
        state: &mut StateVector,
        y: &mut [f64],
    ) {
        if self.inner.concerns(sample.index, sample.last) {
            self.inner.curvature(sample, tangent, y_tangent, state, y);
        }
        let Shared { multipliers, .. } = &*self.cost.shared();
        for (output, row) in self.cost.rows.iter().filter_map(|rows| rows.at(sample.index)) {
            y[output] += multipliers.curvature(row, sample.y[output]) * y_tangent[output];
        }
        if sample.index == sample.last {
            for (function, row) in self.cost.functions() {
                let value = function.value(sample.u);
                self.slopes.fill(0.0);
                function.add_gradient(sample.u, 1.0, &mut self.slopes);
                let along: f64 = self.slopes.iter().zip(&tangent.u).map(|(slope, d)| slope * d).sum();
                let scale = multipliers.curvature(row, value) * along;
                state.u.iter_mut().zip(&self.slopes).for_each(|(entry, slope)| *entry += scale * slope);
                function.add_curvature(sample.u, multipliers.weight(row, value), &tangent.u, &mut state.u);
            }
        }
    }
}
