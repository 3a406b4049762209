//! Gauss-Newton steps of a control problem, by orthogonal elimination backwards in time: O(steps) in memory and time.
//!
//! The residuals are linear in the changes δx_i of the states and δc of the unknowns, with δx_i = A_i δx_{i-1} + B_i δw_i + U_i δu and
//! δw_i = Σ_k φ_k(t_i) δc_k. At each time, from the last to the first, the rows at hand are a triangle over (δx_i, the unknowns that act
//! here or before). The step's map takes them to δx_{i-1}; residuals of this time are added; the unknowns that act at no earlier time are
//! eliminated by an orthogonal transformation. What is eliminated is found forwards. This is the square root of Riccati's recursion:
//! condition numbers are not squared.

use super::shape::Mixing;
use crate::sensitivity::StepMap;
use nalgebra::DMatrix;

/// What is left of a column below this part of it is round-off.
const ROUND_OFF: f64 = 1e-15;

/// Residual = value + now w_i + before w_{i-1}, for regularisation.
#[derive(Debug, Clone, Copy)]
pub(super) struct InputRow {
    pub input: usize,
    pub value: f64,
    pub now: f64,
    pub before: f64,
}

/// The linearised problem at a point.
pub(super) struct Band {
    /// The start's, then one a step.
    maps: Vec<StepMap>,
    /// Residuals of the inputs themselves at each time.
    rows: Vec<Vec<InputRow>>,
    parameters: usize,
    inputs: usize,
}

/// Of the unknown signals: input, mixing, and the place of the first coefficient among all unknowns.
pub(super) type Unknowns<'a> = &'a [(usize, &'a Mixing, usize)];

/// What has been eliminated at a time.
struct Stage {
    eliminated: Vec<usize>,
    rest: Vec<usize>,
    /// Rows over (eliminated, δx before, rest, value), and the eliminated unknown that each gives.
    rows: DMatrix<f64>,
    pivots: Vec<usize>,
}

impl Band {
    pub fn new(maps: Vec<StepMap>, rows: Vec<Vec<InputRow>>, parameters: usize, inputs: usize) -> Self {
        Band { maps, rows, parameters, inputs }
    }

    /// The first time at which each unknown acts. Inputs at the first two times enter the start.
    fn first_times(&self, unknowns: Unknowns<'_>, count: usize) -> Vec<usize> {
        let mut first = vec![usize::MAX; count];
        first[..self.parameters].fill(0);
        for (_, mixing, offset) in unknowns {
            for i in (0..self.maps.len()).rev() {
                mixing.at(i).for_each(|(k, _)| first[offset + k] = if i == 1 { 0 } else { i });
            }
        }
        first
    }

    /// The step that minimises ½|r + J δ|² + ½|damping δ|². Unknowns that are `held` stay.
    pub fn step(&self, unknowns: Unknowns<'_>, damping: &[f64], held: &[bool]) -> Vec<f64> {
        let count = damping.len();
        let first = self.first_times(unknowns, count);
        let mut stages = Vec::with_capacity(self.maps.len());
        // rows over (δx_i, active, value)
        let (mut rows, mut active) = (DMatrix::zeros(0, 1), Vec::<usize>::new());
        let size = self.maps.last().map_or(0, |map| map.state.nrows());
        let mut column_of = vec![usize::MAX; count];
        for i in (0..self.maps.len()).rev() {
            let map = &self.maps[i];
            let before = if i == 0 { 0 } else { size };
            // whatever acts here: parameters, inputs now, before (for differences) and later (for the start)
            let mut acting = active.clone();
            acting.extend(0..self.parameters);
            for (_, mixing, offset) in unknowns {
                for time in [i.saturating_sub(1), i, i + usize::from(i == 0 && self.maps.len() > 1)] {
                    acting.extend(mixing.at(time).map(|(k, _)| offset + k));
                }
            }
            acting.retain(|&k| !held[k]);
            acting.sort_unstable();
            acting.dedup();
            let (eliminated, rest): (Vec<usize>, Vec<usize>) = acting.into_iter().partition(|&k| first[k] >= i);
            let e = eliminated.len();
            eliminated.iter().enumerate().for_each(|(column, &k)| column_of[k] = column);
            rest.iter().enumerate().for_each(|(column, &k)| column_of[k] = e + before + column);
            let columns = e + before + rest.len() + 1;
            let old = rows.nrows();
            let total = old + map.values.len() + self.rows[i].len() + e;
            let mut all = DMatrix::<f64>::zeros(total, columns);
            // rows of later times, through the step's map
            if old > 0 {
                let carried = rows.columns(0, size) * &map.state;
                self.spread(i, &carried, unknowns, &column_of, (e, before, 0), &mut all);
                for (column, &k) in active.iter().enumerate().filter(|(_, k)| !held[**k]) {
                    for row in 0..old {
                        all[(row, column_of[k])] += rows[(row, size + column)];
                    }
                }
                (0..old).for_each(|row| all[(row, columns - 1)] = rows[(row, rows.ncols() - 1)]);
            }
            self.spread(i, &map.residuals, unknowns, &column_of, (e, before, old), &mut all);
            for (row, value) in map.values.iter().enumerate() {
                all[(old + row, columns - 1)] = *value;
            }
            let mut row = old + map.values.len();
            for own in &self.rows[i] {
                for (_, mixing, offset) in unknowns.iter().filter(|unknown| unknown.0 == own.input) {
                    let acting = mixing.at(i).map(|(k, f)| (k, own.now * f));
                    let before = mixing.at(i.saturating_sub(1)).map(|(k, f)| (k, own.before * f));
                    for (k, factor) in acting.chain(before.filter(|_| i > 0)) {
                        if !held[offset + k] {
                            all[(row, column_of[offset + k])] += factor;
                        }
                    }
                }
                all[(row, columns - 1)] = own.value;
                row += 1;
            }
            for (column, &k) in eliminated.iter().enumerate() {
                all[(row + column, column)] = damping[k];
            }
            let pivots = echelon(&mut all);
            let top = pivots.partition_point(|pivot| *pivot < e);
            let stage = all.rows(0, top).into_owned();
            rows = all.view((top, e), (pivots.len() - top, columns - e)).into_owned();
            stages.push(Stage { eliminated, rest: rest.clone(), rows: stage, pivots: pivots[..top].to_vec() });
            active = rest;
        }
        stages.reverse();
        self.substitute(unknowns, &stages, count)
    }

    /// Adds rows over the map's columns to those over the unknowns.
    fn spread(
        &self,
        i: usize,
        from: &DMatrix<f64>,
        unknowns: Unknowns<'_>,
        column_of: &[usize],
        (e, before, first_row): (usize, usize, usize),
        all: &mut DMatrix<f64>,
    ) {
        for row in 0..from.nrows() {
            for column in 0..before {
                all[(first_row + row, e + column)] += from[(row, column)];
            }
        }
        let mut add = |column: usize, k: usize, factor: f64| {
            if column_of[k] != usize::MAX {
                for row in 0..from.nrows() {
                    all[(first_row + row, column_of[k])] += factor * from[(row, column)];
                }
            }
        };
        for (input, mixing, offset) in unknowns {
            mixing.at(i).for_each(|(k, factor)| add(before + input, offset + k, factor));
            if i == 0 {
                mixing.at(1).for_each(|(k, factor)| add(before + self.inputs + input, offset + k, factor));
            }
        }
        let parameters = before + self.inputs * if i == 0 { 2 } else { 1 };
        (0..self.parameters).for_each(|k| add(parameters + k, k, 1.0));
    }

    /// Forwards: the eliminated unknowns, and the changes of the states.
    fn substitute(&self, unknowns: Unknowns<'_>, stages: &[Stage], count: usize) -> Vec<f64> {
        let mut step = vec![0.0; count];
        let mut x: Vec<f64> = Vec::new();
        for (i, (stage, map)) in stages.iter().zip(&self.maps).enumerate() {
            let (e, columns) = (stage.eliminated.len(), stage.rows.ncols());
            for (row, &k) in stage.pivots.iter().enumerate().rev() {
                let row = stage.rows.row(row);
                let mut value = row[columns - 1];
                value += (k + 1..e).map(|l| row[l] * step[stage.eliminated[l]]).sum::<f64>();
                value += x.iter().enumerate().map(|(j, x)| row[e + j] * x).sum::<f64>();
                value += stage.rest.iter().enumerate().map(|(j, &l)| row[e + x.len() + j] * step[l]).sum::<f64>();
                step[stage.eliminated[k]] = -value / row[k];
            }
            // what enters the map
            let before = x.len();
            let mut entering = std::mem::take(&mut x);
            entering.resize(map.state.ncols(), 0.0);
            for (input, mixing, offset) in unknowns {
                entering[before + input] = mixing.at(i).map(|(k, factor)| factor * step[offset + k]).sum();
                if i == 0 && stages.len() > 1 {
                    entering[self.inputs + input] = mixing.at(1).map(|(k, factor)| factor * step[offset + k]).sum();
                }
            }
            let parameters = map.state.ncols() - self.parameters;
            entering[parameters..].copy_from_slice(&step[..self.parameters]);
            x = (&map.state * nalgebra::DVector::from_vec(entering)).as_slice().to_vec();
        }
        step
    }
}

/// An orthogonal transformation to echelon form by Householder's reflections, in place, up to the last column. Returns the pivot's column of
/// each row that is left; what is below these is zero, or in the last column alone.
fn echelon(matrix: &mut DMatrix<f64>) -> Vec<usize> {
    let (rows, columns) = matrix.shape();
    let mut pivots = Vec::new();
    for k in 0..columns - 1 {
        let first = pivots.len();
        if first == rows {
            break;
        }
        let (mut left, mut right) = matrix.columns_range_pair_mut(k, k + 1..);
        let column = left.as_mut_slice();
        let size = column.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        let (_, reflector) = column.split_at_mut(first);
        let norm = reflector.iter().map(|x| x * x).sum::<f64>().sqrt();
        if norm <= ROUND_OFF * size {
            reflector.fill(0.0);
            continue;
        }
        let alpha = if reflector[0] > 0.0 { -norm } else { norm };
        reflector[0] -= alpha;
        let square = reflector.iter().map(|v| v * v).sum::<f64>();
        for mut column in right.column_iter_mut() {
            let column = &mut column.as_mut_slice()[first..];
            let product: f64 = reflector.iter().zip(column.iter()).map(|(v, x)| v * x).sum();
            let factor = 2.0 * product / square;
            column.iter_mut().zip(reflector.iter()).for_each(|(x, v)| *x -= factor * v);
        }
        reflector.fill(0.0);
        reflector[0] = alpha;
        pivots.push(k);
    }
    pivots
}
