//! Local identifiability: which combinations of parameters the outputs see at all.

use super::direction::{Analysed, Direction};
use super::residuals;
use crate::constraint;
use crate::influence::Influence;
use crate::problem::Problem;
use crate::{Error, Result};
use costate::Scale;
use costate::dense::svd;
use costate::least_squares::{Linearised, UNDETERMINED};
use nalgebra::{DMatrix, DVector};

/// Directions whose singular value is below this part of the largest one are named in a warning: parameters that replace each
/// other so well that their common part must be measured a thousand times better than any of them is to be told. Statistics
/// calls collinearity severe from a condition number of 100 on (Belsley, Kuh & Welsch 1980; as here, of columns of unit
/// length); simulated references without noise stand ten times that.
pub const WEAK: f64 = 1e-3;

/// A parameter whose whole value (its size, where it is next to nothing) changes the residuals by less than this part of what the most
/// influential one does has no influence.
pub const NO_INFLUENCE: f64 = 1e-10;

/// Undetermined directions that are named one by one, at most, where combinations can be named.
const FEW: usize = 3;

/// Constraints of unit length that differ by less are one.
const SAME_CONSTRAINT: f64 = 1e-8;

/// Identifiability of the parameters, by the residuals' Jacobian at one point.
///
/// Singular values are those of the Jacobian with every column divided by its length. So they do not depend on units and
/// sizes, and their ratio is, within a factor of √p, the smallest condition number that any scaling of the parameters
/// reaches (van der Sluis 1969): a large one means parameters that can replace each other, not badly chosen sizes.
#[derive(Debug, Clone, PartialEq)]
pub struct Identifiability {
    /// The parameters, in the model's order.
    pub parameters: Vec<Analysed>,
    /// Number of residuals.
    pub residuals: usize,
    /// Influence of each parameter: root mean square change of the residuals (outputs over their deviations), to first order, if it
    /// changes by its size. These, sorted, rank the parameters (Serban & Freeman 2001).
    pub influences: Vec<f64>,
    /// Influences of the parameters' values, by which it is judged whether they have any.
    pub(crate) changes: Vec<Influence>,
    /// Places of the parameters without influence.
    pub without_influence: Vec<usize>,
    /// Singular values of the Jacobian with columns of unit length, the largest first; parameters without influence have none.
    pub singular_values: Vec<f64>,
    /// Directions that the data do not determine.
    pub undetermined: Vec<Direction>,
    /// Directions that they hardly determine.
    pub weak: Vec<Direction>,
    /// Places of the parameters that take part in an undetermined direction.
    pub(super) involved: Vec<usize>,
    /// Places of the parameters with influence: what the columns of the decomposition belong to.
    pub(super) active: Vec<usize>,
    /// Lengths of the scaled columns of active parameters.
    pub(super) lengths: Vec<f64>,
    /// Right singular vectors, a column each.
    pub(super) vectors: DMatrix<f64>,
    /// Number of determined directions.
    pub(super) rank: usize,
    /// True of given motions, whose residuals are linear in moments and friction.
    is_linear: bool,
}

/// Directions with larger singular values beside the largest are not due to the error of time steps.
const SUSPECT: f64 = 0.05;

/// Divisors of the steps to see whether a direction fades: a combination that the data tell a thirtieth as well as coarse steps do is not taken for one.
const HALVED: [usize; 3] = [2, 4, 8];

/// Sentences on directions that are told apart by the error of time steps alone.
pub fn said_of_steps_alone(problem: &Problem, directions: &[Direction]) -> Vec<String> {
    let is_driven = problem.experiments.iter().any(|experiment| {
        let (simulation, times) = (&experiment.simulation, experiment.simulation.grid().count());
        (0..=times).any(|i| simulation.inputs_at(i) != simulation.inputs_at(0))
    });
    let sentence = |direction: &Direction| {
        let names: Vec<String> = direction.names().into_iter().map(|name| format!("`{name}`")).collect();
        let is_delayed = direction.names().iter().any(|name| name.starts_with("delay_"));
        let shift = match is_delayed && !is_driven {
            true => ": nothing drives the motion, and a delay and a later start are the same",
            false => "",
        };
        format!(
            "the data do not determine {direction}{shift}; only the error of the time steps tells {} apart, since each time the step is halved \
             the combination has less than half its influence: fix one of them",
            names.join(", ")
        )
    };
    directions.iter().map(sentence).collect()
}

/// The analysis of a problem's least-squares residuals at `u`: what a fit that starts there can find out. It takes one run
/// with tangents. All free parameters take part.
///
/// # Errors
/// If the cost is no sum of squares, no parameter is free, or the simulation fails.
pub fn identifiability(problem: &Problem, u: &[f64]) -> Result<Identifiability> {
    problem.validate()?;
    let free = problem.free();
    let held = constraint::equalities(problem, u);
    let found = Identifiability::within(&residuals::collect(problem, u)?.fitted, analysed(problem, u, &free), &held)?;
    Ok(found.of_linear(problem.is_of_given_motions()))
}

/// The parameters at `places`, with their sizes.
pub(crate) fn analysed(problem: &Problem, u: &[f64], places: &[usize]) -> Vec<Analysed> {
    let parameter = |&index: &usize| {
        let parameter = &problem.parameters[index];
        let log = parameter.scale == Scale::Log;
        // far from the start, the value itself says better what matters
        let size = match parameter.size {
            _ if log => u[index],
            Some(size) => size,
            None => problem.size(index).max(u[index].abs()),
        };
        let (name, unit) = (parameter.name.clone(), parameter.unit.clone());
        Analysed { index, name, unit, value: u[index], size, log }
    };
    places.iter().map(parameter).collect()
}

impl Identifiability {
    /// The analysis of a linearisation in all parameters of a model, for some of them.
    ///
    /// # Errors
    /// If there is no parameter, or the Jacobian is not finite.
    pub fn of(linearised: &Linearised, parameters: Vec<Analysed>) -> Result<Self> {
        Identifiability::within(linearised, parameters, &[])
    }

    /// The analysis for changes along which constraints do not move: orthogonal to the rows `held`, by all parameters of a model.
    /// Singular values are those on that subspace.
    ///
    /// # Errors
    /// As [`Identifiability::of`]; and if the constraints leave no direction.
    pub fn within(linearised: &Linearised, parameters: Vec<Analysed>, held: &[Vec<f64>]) -> Result<Self> {
        let what = "the analysis of identifiability";
        if parameters.is_empty() {
            return Err(Error::invalid(what, "no parameter is free", "free at least one"));
        }
        let scaled = scaled(linearised, &parameters);
        let norms: Vec<f64> = scaled.column_iter().map(|column| column.norm()).collect();
        if let Some(k) = norms.iter().position(|norm| !norm.is_finite()) {
            let problem = format!("the derivatives with respect to `{}` are not finite", parameters[k].name);
            return Err(Error::invalid(what, problem, "check its value and its size"));
        }
        let largest = norms.iter().copied().fold(0.0, f64::max);
        // sizes may be those of another motion: values are those of this one
        let changes: Vec<Influence> = parameters.iter().zip(&norms).map(|(own, norm)| own.influence(*norm)).collect();
        let most = Influence::largest(&changes);
        let has_influence = |k: usize| !changes[k].is_none_beside(most);
        // what has no influence itself may be tied to something that has
        let is_tied = |k: usize| held.iter().any(|row| row[parameters[k].index] != 0.0);
        let (active, without_influence): (Vec<usize>, Vec<usize>) =
            (0..norms.len()).partition(|&k| has_influence(k) || is_tied(k));
        let length = |k: usize| if has_influence(k) { norms[k] } else { largest.max(f64::MIN_POSITIVE) };
        let lengths: Vec<f64> = active.iter().map(|&k| length(k)).collect();
        let columns: Vec<DVector<f64>> = active.iter().map(|&k| scaled.column(k) / length(k)).collect();
        let free = null_space(held, &parameters, &active, &lengths);
        if free.ncols() == 0 && !active.is_empty() {
            let problem = "the constraints fix all parameters";
            return Err(Error::invalid(what, problem, "there is nothing left to determine"));
        }
        let columns: Vec<DVector<f64>> = match (held, columns.as_slice()) {
            ([], _) | (_, []) => columns,
            _ => (DMatrix::from_columns(&columns) * &free).column_iter().map(|column| column.into_owned()).collect(),
        };
        let (singular_values, vectors) = decomposed(&columns);
        let vectors = if held.is_empty() { vectors } else { free * vectors };
        let top = singular_values.first().copied().unwrap_or(0.0);
        let rank = singular_values.iter().filter(|value| **value > UNDETERMINED * top).count();
        let mut found = Identifiability {
            residuals: linearised.rows,
            influences: norms.iter().map(|norm| norm / (linearised.rows.max(1) as f64).sqrt()).collect(),
            undetermined: Vec::new(),
            weak: Vec::new(),
            involved: Vec::new(),
            changes,
            parameters,
            without_influence,
            singular_values,
            active,
            lengths,
            vectors,
            rank,
            is_linear: false,
        };
        found.find_undetermined();
        let weak = (0..found.rank).rev().filter(|&j| found.singular_values[j] < WEAK * top);
        found.weak = weak.map(|j| found.along(j)).collect();
        Ok(found)
    }

    /// The analysis of given motions, whose residuals are linear in moments and friction: combinations are sums.
    pub(super) fn of_linear(mut self, is_linear: bool) -> Self {
        self.is_linear = is_linear;
        self.undetermined.iter_mut().chain(&mut self.weak).for_each(|direction| direction.is_linear = is_linear);
        self
    }

    /// Directions that only the error of time steps tells apart: weak ones which linearisations at steps that are halved again and again,
    /// `finer`, tell less than half as well each time, as they do what vanishes with the step. What data determine keeps its singular value,
    /// sooner or later.
    fn fading(&self, finer: &[Identifiability]) -> Vec<Direction> {
        let relative = |found: &Identifiability, j: usize| found.singular_values[j] / found.singular_values[0];
        let halves = |coarse: &Identifiability, finer: &Identifiability, j: usize| {
            coarse.singular_values.len() == finer.singular_values.len()
                // what has become round-off falls no more
                && relative(finer, j) < (0.5 * relative(coarse, j)).max(UNDETERMINED)
        };
        let all = || std::iter::once(self).chain(finer);
        let fades = |j: &usize| {
            relative(self, *j) < SUSPECT && all().zip(finer).all(|(coarse, finer)| halves(coarse, finer, *j))
        };
        (0..self.rank).rev().take_while(fades).map(|j| self.along(j)).collect()
    }

    /// The fading directions of a problem at `u`: where a direction is weak at all, by one more run with tangents at half the step, and by
    /// more at smaller steps as long as there are any.
    ///
    /// # Errors
    /// As [`identifiability`], at smaller steps.
    pub fn by_steps_alone(&self, problem: &Problem, u: &[f64]) -> Result<Vec<Direction>> {
        let is_weak = |j: usize| self.singular_values[j] < SUSPECT * self.singular_values[0];
        // a reference that is a run itself has the same steps; what constraints hold is another space
        let has_no_steps = problem.optimum.is_some() || problem.is_of_given_motions();
        if has_no_steps || !problem.constraints.is_empty() || !(0..self.rank).any(is_weak) {
            return Ok(Vec::new());
        }
        let places: Vec<usize> = self.parameters.iter().map(|parameter| parameter.index).collect();
        let mut finer = Vec::new();
        for parts in HALVED {
            let fitted = residuals::collect(&problem.divided(parts)?, u)?.fitted;
            finer.push(Identifiability::of(&fitted, analysed(problem, u, &places))?);
            if self.fading(&finer).is_empty() {
                break;
            }
        }
        Ok(self.fading(&finer))
    }

    /// Ratio of the largest to the smallest singular value; infinite with undetermined directions.
    pub fn condition(&self) -> f64 {
        match (self.singular_values.first(), self.singular_values.get(self.rank.wrapping_sub(1))) {
            (Some(top), Some(last)) if self.rank == self.singular_values.len() => top / last,
            _ => f64::INFINITY,
        }
    }

    /// W of the covariance W Wᵀ of the parameters, in sizes (of logarithms where these are the scale), for residuals of unit variance: a row for each.
    /// NaN for those that are not determined.
    pub(crate) fn covariance_root(&self) -> DMatrix<f64> {
        let mut root = DMatrix::from_element(self.parameters.len(), self.rank, f64::NAN);
        for (i, &k) in self.active.iter().enumerate().filter(|(_, k)| !self.involved.contains(k)) {
            for j in 0..self.rank {
                root[(k, j)] = self.vectors[(i, j)] / self.singular_values[j] / self.lengths[i];
            }
        }
        root
    }

    /// Number of directions of the parameters that the data determine.
    pub fn rank(&self) -> usize {
        self.rank
    }

    /// Places of the parameters, the most influential first.
    pub fn ranking(&self) -> Vec<usize> {
        let mut places: Vec<usize> = (0..self.parameters.len()).collect();
        places.sort_by(|&a, &b| self.influences[b].total_cmp(&self.influences[a]));
        places
    }

    /// Warnings before a fit is trusted, a sentence each.
    pub fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        let names = |places: &[usize]| {
            places.iter().map(|&k| format!("`{}`", self.parameters[k].name)).collect::<Vec<_>>().join(", ")
        };
        match self.without_influence.as_slice() {
            [] => {}
            [one] => warnings.push(format!("{} has no influence on the compared outputs; fix it", names(&[*one]))),
            several => warnings.push(format!("{} have no influence on the compared outputs; fix them", names(several))),
        }
        if self.residuals < self.singular_values.len() {
            let (n, p) = (self.residuals, self.singular_values.len());
            warnings.push(format!("{n} residuals cannot determine {p} parameters; fix some, or take more data"));
        }
        // of many directions, combinations say more than what they leave
        let combinations = if self.undetermined.len() > FEW { self.combinations().len() } else { 0 };
        if combinations > 0 {
            warnings.push(format!(
                "{} parameters are not determined alone, but {combinations} combinations of them: their single values say \
                 little; fix some of them, or give priors",
                self.involved.len()
            ));
        }
        for direction in self.undetermined.iter().filter(|_| combinations == 0) {
            let meaning = direction.explanation().map_or(String::new(), |meaning| format!(": {meaning}"));
            let quoted: Vec<String> = direction.names().into_iter().map(|name| format!("`{name}`")).collect();
            warnings.push(match quoted.as_slice() {
                [one] => format!("the data do not determine {one}; fix it, or take data that depend on it"),
                [others @ .., last] => format!(
                    "the data do not tell {} and {last} apart{meaning}; fix one of them (residuals do not change along \
                     {direction})",
                    others.join(", ")
                ),
                [] => continue,
            });
        }
        for direction in &self.weak {
            let meaning = direction.explanation().map_or(String::new(), |meaning| format!(": {meaning}"));
            let factor = 1.0 / direction.strength;
            warnings.push(format!(
                "the data hardly determine {direction} ({factor:.1e} times less well than the best-known combination){meaning}; fix \
                 one of them, give a prior, or take data that tell more"
            ));
        }
        warnings
    }

    /// sᵀ (SᵀS)⁻¹ s of a row s of derivatives by all parameters of a model, over the directions that are determined.
    pub(super) fn leverage(&self, row: &[f64]) -> f64 {
        let parameter = |i: usize| &self.parameters[self.active[i]];
        let scaled = |i: usize| row[parameter(i).index] * parameter(i).size / self.lengths[i];
        let scaled: Vec<f64> = (0..self.active.len()).map(scaled).collect();
        let along = |j: usize| scaled.iter().enumerate().map(|(i, entry)| entry * self.vectors[(i, j)]).sum::<f64>();
        (0..self.rank).map(|j| (along(j) / self.singular_values[j]).powi(2)).sum()
    }

    /// The change of each of the parameters, in its unit, that minimises the residuals of the same linearisation, along the directions
    /// that are determined.
    pub(super) fn newton_step(&self, linearised: &Linearised) -> Vec<f64> {
        let mut columns = scaled(linearised, &self.parameters).select_columns(&self.active);
        columns.column_iter_mut().zip(&self.lengths).for_each(|(mut column, length)| column /= *length);
        let mut step = vec![0.0; self.parameters.len()];
        for j in 0..self.rank {
            // the left singular vector times its value
            let left = &columns * self.vectors.column(j);
            let along = -left.dot(linearised.projected()) / self.singular_values[j].powi(2);
            for (i, &k) in self.active.iter().enumerate() {
                step[k] += along * self.vectors[(i, j)] * self.parameters[k].size / self.lengths[i];
            }
        }
        step
    }

    /// Change of the parameters, in sizes, along singular vector `j`; those that matter.
    pub(super) fn along(&self, j: usize) -> Direction {
        let column = self.vectors.column(j);
        let most = column.amax();
        let mut weights = vec![0.0; self.parameters.len()];
        for (i, &k) in self.active.iter().enumerate() {
            if column[i].abs() > 0.1 * most {
                weights[k] = column[i] / self.lengths[i];
            }
        }
        let strength = self.singular_values[j] / self.singular_values[0];
        Direction::new(&self.parameters, &weights, strength).of_linear(self.is_linear)
    }

    /// Directions without information, each with as few parameters as elimination leaves.
    fn find_undetermined(&mut self) {
        let silent = self.rank..self.singular_values.len();
        for row in sparse_basis(silent.map(|j| self.vectors.column(j).iter().copied().collect()).collect()) {
            let most = row.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
            let mut weights = vec![0.0; self.parameters.len()];
            for (i, &k) in self.active.iter().enumerate() {
                // smaller parts are round-off of the decomposition
                if row[i].abs() > 1e-4 * most {
                    weights[k] = row[i] / self.lengths[i];
                    if !self.involved.contains(&k) {
                        self.involved.push(k);
                    }
                }
            }
            self.undetermined.push(Direction::new(&self.parameters, &weights, 0.0));
        }
        self.involved.sort_unstable();
    }
}

/// Sparse basis of the space that independent rows span, each with as few entries as elimination leaves.
pub(super) fn sparse_basis(mut rows: Vec<Vec<f64>>) -> Vec<Vec<f64>> {
    let mut pivots: Vec<usize> = Vec::new();
    for r in 0..rows.len() {
        let mut order: Vec<usize> = (0..rows[r].len()).filter(|k| !pivots.contains(k)).collect();
        order.sort_by(|&a, &b| rows[r][b].abs().total_cmp(&rows[r][a].abs()));
        let pivot = order[0]; // independent rows are at most as many as their entries
        pivots.push(pivot);
        let scale = rows[r][pivot];
        rows[r].iter_mut().for_each(|entry| *entry /= scale);
        for other in (0..rows.len()).filter(|&other| other != r) {
            let (factor, row) = (rows[other][pivot], rows[r].clone());
            rows[other].iter_mut().zip(row).for_each(|(entry, x)| *entry -= factor * x);
        }
    }
    rows
}

/// The triangular factor's columns of the parameters, for changes in sizes.
pub(super) fn scaled(linearised: &Linearised, parameters: &[Analysed]) -> DMatrix<f64> {
    let factor = linearised.factor();
    DMatrix::from_fn(factor.nrows(), parameters.len(), |i, k| factor[(i, parameters[k].index)] * parameters[k].size)
}

/// An orthonormal basis of the changes orthogonal to the rows `held`, in columns of unit length.
fn null_space(held: &[Vec<f64>], parameters: &[Analysed], active: &[usize], lengths: &[f64]) -> DMatrix<f64> {
    let p = active.len();
    let mut rows = DMatrix::from_fn(p.max(held.len()), p, |i, j| {
        let parameter = &parameters[active[j]];
        held.get(i).map_or(0.0, |row| row[parameter.index] * parameter.size / lengths[j])
    });
    for mut row in rows.row_iter_mut() {
        let length = row.norm();
        if length > 0.0 {
            row /= length;
        }
    }
    if p == 0 || held.is_empty() {
        return DMatrix::identity(p, p);
    }
    let columns: Vec<DVector<f64>> = rows.column_iter().map(|column| column.into_owned()).collect();
    let (values, vectors) = decomposed(&columns);
    let rank = values.iter().filter(|value| **value > SAME_CONSTRAINT).count();
    vectors.columns(rank, p - rank).into_owned()
}

/// Singular values, the largest first, and right singular vectors.
fn decomposed(columns: &[DVector<f64>]) -> (Vec<f64>, DMatrix<f64>) {
    if columns.is_empty() {
        return (Vec::new(), DMatrix::zeros(0, 0));
    }
    let p = columns.len();
    // as many rows as columns at least, so that every direction has a singular vector
    let mut matrix = DMatrix::zeros(p.max(columns[0].len()), p);
    for (k, column) in columns.iter().enumerate() {
        matrix.view_mut((0, k), (column.len(), 1)).copy_from(column);
    }
    let svd = svd(matrix, false, true);
    let Some(v_t) = svd.v_t else { return (vec![0.0; p], DMatrix::identity(p, p)) };
    let mut order: Vec<usize> = (0..p).collect();
    order.sort_by(|&a, &b| svd.singular_values[b].total_cmp(&svd.singular_values[a]));
    let values = order.iter().map(|&j| svd.singular_values[j]).collect();
    let vectors = DMatrix::from_fn(p, p, |i, j| v_t[(order[j], i)]);
    (values, vectors)
}
