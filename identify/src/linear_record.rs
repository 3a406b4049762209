//! Residuals that are linear in what a mechanism is made of, such as efforts of a given motion in its moments of inertia: one run with derivatives says
//! all of a record, whatever parameters these follow from. Fits then take no further runs.

use crate::beside::{cost_of, with_rows};
use crate::ensemble::join;
use crate::problem::{Experiment, Problem};
use crate::{Error, Result};
use costate::cost::{LeastSquares, Loss};
use costate::least_squares::{Linearised, Reduction};
use costate::parallel::{in_parallel, threads};
use costate::sensitivity::Gradient;
use costate::system::System;
use costate::{Interrupt, Simulation};
use nalgebra::{DMatrix, DVector};
use std::sync::Arc;

/// Costs of a run and of the record agree to this part, or residuals are not linear.
const LINEAR: f64 = 1e-8;

/// True if these are one cost, by a run and by a record.
pub(crate) fn is_same(cost: f64, told: f64) -> bool {
    (cost - told).abs() <= LINEAR * cost.abs().max(told.abs())
}

/// Where linearity is tried: so many sizes of each parameter away.
const AWAY: f64 = 0.3;

/// Numbers of residuals and derivatives of an experiment that are kept at most.
const MOST_KEPT: usize = 16_000_000;

/// The residuals of all experiments.
pub struct LinearRecord {
    parts: Vec<Part>,
}

/// The residuals of an experiment.
struct Part {
    system: Arc<dyn System>,
    /// Innermost parameters where the residuals were linearised.
    base: Vec<f64>,
    /// Those of them in which they are linear.
    columns: Vec<usize>,
    /// Residuals of each reference, and the deviation that they are divided by.
    references: Vec<(Linearised, f64)>,
    /// Every residual of each reference with its derivatives by the columns, one behind the other, where samples are to be seen one by one; else none.
    rows: Vec<Vec<f64>>,
    /// True if what the mechanism is made of is linear in the parameters, too.
    is_linear: bool,
}

/// The mechanism that follows from no other.
fn innermost(system: &Arc<dyn System>) -> Arc<dyn System> {
    match system.derived() {
        Some(derived) => innermost(derived.inner()),
        None => system.clone(),
    }
}

/// Its parameters.
fn values(system: &dyn System, u: &[f64]) -> Vec<f64> {
    match system.derived() {
        Some(derived) => values(&**derived.inner(), &derived.all(u)),
        None => u.to_vec(),
    }
}

/// Derivatives of these, a row each, by the parameters of `system`.
fn slopes(system: &dyn System, u: &[f64]) -> DMatrix<f64> {
    let Some(derived) = system.derived() else { return DMatrix::identity(u.len(), u.len()) };
    let own = derived.slopes(u);
    let own = DMatrix::from_fn(derived.inner().signature().parameters.len(), u.len(), |i, k| own[(i, k)]);
    match derived.inner().derived() {
        Some(_) => slopes(&**derived.inner(), &derived.all(u)) * own,
        None => own,
    }
}

/// What was reduced, as that of so many residuals.
fn with_count(reduction: Reduction, rows: usize) -> Linearised {
    let mut all = reduction.finish();
    all.rows = rows;
    all
}

impl LinearRecord {
    /// The record of a problem's residuals, if they are linear: one run with derivatives and one without.
    ///
    /// # Errors
    /// As those runs.
    pub fn of(problem: &Problem, start: &[f64], free: &[usize], interrupt: &Interrupt) -> Result<Option<Self>> {
        let Some(costs) = problem.least_squares() else { return Ok(None) };
        let is_plain =
            |cost: &&LeastSquares| cost.sensors().is_empty() && cost.losses().iter().all(|loss| *loss == Loss::Squares);
        if !(problem.is_of_given_motions() && problem.constraints.is_empty() && costs.iter().all(is_plain)) {
            return Ok(None);
        }
        // somewhere else within the bounds
        let mut away = start.to_vec();
        for &k in free {
            let (parameter, step) = (&problem.parameters[k], AWAY * problem.size(k));
            let there = start[k] + step;
            away[k] = if there <= parameter.upper { there } else { (start[k] - step).max(parameter.lower) };
        }
        let mut work: Vec<(&Experiment, &LeastSquares)> = problem.experiments.iter().zip(costs).collect();
        let is_kept = problem.unknown_deviations.iter().any(|own| own.is_correlated);
        let threads = threads()?.min(work.len()).max(1);
        let parts = in_parallel(&mut work, threads, |_, (experiment, cost)| {
            Part::of(experiment, cost, (start, &away, free), is_kept, interrupt)
        });
        let parts: Option<Vec<Part>> = match parts {
            // where there is no run, the search says so
            Err(error) if error.is_simulation_failure() => None,
            parts => parts?.into_iter().collect(),
        };
        Ok(parts.map(|parts| LinearRecord { parts }))
    }

    /// True if the residuals are linear in the parameters themselves.
    pub(crate) fn is_linear(&self) -> bool {
        self.parts.iter().all(|part| part.is_linear)
    }

    /// Residuals of an experiment's reference at `u`, sample by sample, over the deviation of when the record was made; `None` if they are not kept, or something
    /// else than what was varied has changed. They are kept where residuals of some sensor are correlated.
    pub fn residuals(&self, experiment: (usize, &Experiment), reference: usize, u: &[f64]) -> Option<Vec<f64>> {
        let part = self.parts.get(experiment.0)?;
        let rows = part.rows.get(reference)?;
        let at = part.innermost(&experiment.1.own(u))?;
        let moved = part.moved(&at);
        let told =
            |row: &[f64]| row[0] + row[1..].iter().zip(moved.iter()).map(|(slope, moved)| slope * moved).sum::<f64>();
        Some(rows.chunks_exact(moved.len() + 1).map(told).collect())
    }

    /// Residuals of each experiment's references at `u`, with derivatives by the parameters of its model, as they are divided by the deviations of now.
    /// `None` if something else than what was varied has changed.
    pub(crate) fn references(&self, problem: &Problem, u: &[f64]) -> Option<Vec<Vec<Linearised>>> {
        let costs = problem.least_squares()?;
        let of = |((part, experiment), cost): ((&Part, &Experiment), &LeastSquares)| {
            let own = experiment.own(u);
            let at = part.innermost(&own)?;
            let by = slopes(&*part.system, &own).select_rows(&part.columns);
            let moved = part.moved(&at);
            let references = part.references.iter().zip(cost.references()).map(|((found, deviation), reference)| {
                let scale = deviation / reference.deviation;
                let (residual, rows) = (found.factor() * &moved + found.projected(), found.factor() * &by);
                let mut reduction = Reduction::new(own.len());
                for i in 0..rows.nrows() {
                    let row: Vec<f64> = rows.row(i).iter().map(|entry| scale * entry).collect();
                    reduction.add(&row, scale * residual[i]);
                }
                reduction.add(&vec![0.0; own.len()], scale * found.remainder());
                with_count(reduction, found.rows)
            });
            Some(references.collect::<Vec<Linearised>>())
        };
        self.parts.iter().zip(&problem.experiments).zip(costs).map(of).collect()
    }

    /// Residuals and derivatives at `u`, reduced, as [`Ensemble::linearise`](crate::ensemble::Ensemble::linearise) has them; `None` if something else
    /// than what was varied has changed.
    ///
    /// # Errors
    /// Priors without a value there; a cost that is not finite.
    pub fn linearise(&self, problem: &Problem, u: &[f64]) -> Result<Option<Linearised>> {
        let Some(found) = self.references(problem, u) else { return Ok(None) };
        let one = |own: Vec<Linearised>| {
            let count = own.first().map_or(0, Linearised::dimension);
            let mut reduction = Reduction::new(count);
            for own in &own {
                for i in 0..count {
                    let row: Vec<f64> = own.factor().row(i).iter().copied().collect();
                    reduction.add(&row, own.projected()[i]);
                }
                reduction.add(&vec![0.0; count], own.remainder());
            }
            with_count(reduction, own.iter().map(|own| own.rows).sum())
        };
        let beside = problem.rows_beside(u)?;
        let all = join(problem, found.into_iter().map(one).collect());
        let all = with_rows(all, &beside, 1.0);
        if !(all.cost().is_finite() && cost_of(&beside).is_finite()) {
            let (quantity, value) = ("the cost".into(), all.cost());
            return Err(Error::Engine(costate::Error::NotFinite { quantity, value, time: 0.0, step: 0 }));
        }
        Ok(Some(all))
    }
}

/// Second derivatives of the innermost parameters by those of `system`, each times its weight, added up.
fn curvature(system: &dyn System, u: &[f64], weights: &DVector<f64>) -> DMatrix<f64> {
    let Some(derived) = system.derived() else { return DMatrix::zeros(u.len(), u.len()) };
    let (inner, at) = (&**derived.inner(), derived.all(u));
    let (own, weights) = match inner.derived() {
        None => (DMatrix::zeros(u.len(), u.len()), weights.clone()),
        Some(_) => {
            let by = derived.slopes(u);
            let by = DMatrix::from_fn(at.len(), u.len(), |i, k| by[(i, k)]);
            (by.tr_mul(&(curvature(inner, &at, weights) * &by)), slopes(inner, &at).tr_mul(weights))
        }
    };
    let of_dependent: Vec<f64> = derived.dependent_places().iter().map(|&k| weights[k]).collect();
    let bends = derived.curvature(u, &of_dependent);
    own + DMatrix::from_fn(u.len(), u.len(), |i, k| bends[(i, k)])
}

impl LinearRecord {
    /// What Gauss-Newton leaves out of the cost's Hessian at `u`, Σ r_i ∇²r_i, by all parameters of the problem; `None` beside measured modes and
    /// responses, which have another curvature.
    pub fn curvature(&self, problem: &Problem, u: &[f64]) -> Option<DMatrix<f64>> {
        let mut all = DMatrix::zeros(u.len(), u.len());
        for ((part, experiment), cost) in self.parts.iter().zip(&problem.experiments).zip(problem.least_squares()?) {
            let own = experiment.own(u);
            let at = values(&*part.system, &own);
            let moved = part.moved(&at);
            let mut gradient = DVector::zeros(at.len());
            for ((found, deviation), reference) in part.references.iter().zip(cost.references()) {
                let slope = found.factor().tr_mul(&(found.factor() * &moved + found.projected()));
                let scale = (deviation / reference.deviation).powi(2);
                part.columns.iter().zip(slope.iter()).for_each(|(&k, slope)| gradient[k] += scale * slope);
            }
            let bends = curvature(&*part.system, &own, &gradient);
            for (i, &row) in experiment.places.iter().enumerate() {
                experiment.places.iter().enumerate().for_each(|(k, &column)| all[(row, column)] += bends[(i, k)]);
            }
        }
        for prior in &problem.priors {
            let [residual, _, bend] = prior.distribution.residual(u[prior.parameter]);
            all[(prior.parameter, prior.parameter)] += residual * bend;
        }
        // measured modes and responses have another curvature, which nobody has worked out
        (problem.modes.is_empty() && problem.responses.is_empty()).then_some(all)
    }
}

impl Part {
    /// The record of an experiment at a start, if what it tells of another place is so.
    fn of(
        experiment: &Experiment,
        cost: &LeastSquares,
        (start, away, free): (&[f64], &[f64], &[usize]),
        is_kept: bool,
        interrupt: &Interrupt,
    ) -> Result<Option<Self>> {
        let system = experiment.simulation.shared_system();
        let (at, other) = (experiment.own(start), experiment.own(away));
        let own: Vec<usize> = (0..at.len()).filter(|&k| free.contains(&experiment.places[k])).collect();
        let by = [slopes(&*system, &at), slopes(&*system, &other)];
        let follows = |&i: &usize| own.iter().any(|&k| by.iter().any(|by| by[(i, k)] != 0.0));
        let columns: Vec<usize> = (0..by[0].nrows()).filter(follows).collect();
        let (base, away) = (values(&*system, &at), values(&*system, &other));
        let inner: Simulation = experiment.simulation.with_system(innermost(&system));
        let mut gradient = Gradient::by_parameters(&inner, cost, &columns)?.interrupted_by(interrupt);
        let mut reductions = vec![Reduction::new(columns.len()); cost.references().len()];
        let mut derivatives = vec![0.0; columns.len()];
        let samples: usize = cost.references().iter().map(|reference| reference.values.len()).sum();
        let is_kept = is_kept && samples * (columns.len() + 1) <= MOST_KEPT;
        let mut rows = vec![Vec::new(); if is_kept { cost.references().len() } else { 0 }];
        gradient.residual_rows(&base, cost, &mut |row| {
            let root = row.weight.sqrt();
            if let Some(rows) = rows.get_mut(row.reference) {
                rows.push(row.residual);
                rows.extend(columns.iter().map(|&k| row.derivatives[k]));
            }
            derivatives.iter_mut().zip(&columns).for_each(|(own, &k)| *own = root * row.derivatives[k]);
            reductions[row.reference].add(&derivatives, root * row.residual);
        })?;
        let references = reductions.into_iter().zip(cost.references());
        let references = references.map(|(own, reference)| (own.finish(), reference.deviation)).collect();
        let part = Part { system, base, columns, references, rows, is_linear: by[0] == by[1] };
        // what was left out as inconsistent, or is no number, is no record
        if !gradient.left_out().is_empty() || part.references.iter().any(|(own, _)| !own.cost().is_finite()) {
            return Ok(None);
        }
        let told = gradient.cost(&away)?;
        let predicted: f64 = part.at(&away).iter().map(|own| own.0 + own.1).sum();
        let most = told.max(part.references.iter().map(|(own, _)| own.cost()).sum());
        let off = (told - predicted).abs() / most;
        Ok((off <= LINEAR).then_some(part))
    }

    /// Innermost parameters for those of the experiment's model; `None` if something else than what was varied has changed.
    fn innermost(&self, own: &[f64]) -> Option<Vec<f64>> {
        let at = values(&*self.system, own);
        let is_same = |k: usize| self.columns.binary_search(&k).is_ok() || at[k] == self.base[k];
        (0..at.len()).all(is_same).then_some(at)
    }

    fn moved(&self, u: &[f64]) -> DVector<f64> {
        DVector::from_iterator(self.columns.len(), self.columns.iter().map(|&k| u[k] - self.base[k]))
    }

    /// Costs of each reference at innermost parameters: what can change, and what cannot.
    fn at(&self, u: &[f64]) -> Vec<(f64, f64)> {
        let moved = self.moved(u);
        let of = |(own, _): &(Linearised, f64)| {
            let residual = own.factor() * &moved + own.projected();
            (0.5 * residual.norm_squared(), 0.5 * own.remainder().powi(2))
        };
        self.references.iter().map(of).collect()
    }
}
