//! Gauss-Newton steps of a control problem, by orthogonal elimination backwards in time: O(steps) in memory and time.
//!
//! The residuals are linear in the changes δx_i of the states and δc of the unknowns, with δx_i = A_i δx_{i-1} + B_i δw_i + U_i δu and
//! δw_i = Σ_k φ_k(t_i) δc_k. At each time, from the last to the first, the rows at hand are a triangle over (δx_i, the unknowns that act
//! here or before). The step's map takes them to δx_{i-1}; residuals of this time are added; the unknowns that act at no earlier time are
//! eliminated by an orthogonal transformation. What is eliminated is found forwards. This is the square root of Riccati's recursion:
//! condition numbers are not squared.

use costate::dense::echelon;
use costate::rows::SparseRows;
use costate::sensitivity::StepMap;
use nalgebra::{DMatrix, DVector};

/// Column of an unknown that does not act, or is held.
const NONE: usize = usize::MAX;

/// A residual of the unknowns alone: its value, and its slopes by some of them.
#[derive(Debug, Clone, Copy)]
pub(super) struct Row<'r> {
    pub value: f64,
    pub slopes: &'r [(usize, f64)],
}

impl Row<'_> {
    /// Change of the row's value along a change of the unknowns.
    pub fn along(&self, unknowns: &[f64]) -> f64 {
        self.slopes.iter().map(|&(k, slope)| slope * unknowns[k]).sum()
    }

    /// Adds its slopes times `factor`.
    pub fn add(&self, factor: f64, to: &mut [f64]) {
        self.slopes.iter().for_each(|&(k, slope)| to[k] += factor * slope);
    }
}

/// The linearised problem at a point.
pub(super) struct Band<'p> {
    /// The start's, then one a step.
    maps: Vec<StepMap>,
    /// Residuals of the unknowns alone at each time: values, and where their slopes are.
    rows: Vec<Vec<(f64, std::ops::Range<usize>)>>,
    slopes: Vec<(usize, f64)>,
    parameters: usize,
    inputs: usize,
    /// Unknown inputs: input, mixing, and the place of the first coefficient among all unknowns.
    signals: Vec<(usize, &'p SparseRows, usize)>,
    /// The rows of the inputs that each map sees: that of its time, and another one if it sees that, too.
    seen: Vec<(usize, Option<usize>)>,
    /// The unknowns that act at each time: those of the inputs at the first two times enter the start.
    acting: Vec<Vec<usize>>,
    /// The first time at which each acts.
    first: Vec<usize>,
}

/// Unknowns that were eliminated at a time, with the rows that give them.
struct Stage {
    eliminated: Vec<usize>,
    rest: Vec<usize>,
    /// Rows over (eliminated, δx before, rest, value), and the eliminated unknown that each gives.
    rows: DMatrix<f64>,
    pivots: Vec<usize>,
}

/// Rows over (δx, active unknowns, value).
struct Rows {
    rows: DMatrix<f64>,
    active: Vec<usize>,
}

impl<'p> Band<'p> {
    /// Unknowns: those of the parameters, then the coefficients of the signals.
    pub fn new(
        maps: Vec<StepMap>,
        seen: Vec<(usize, Option<usize>)>,
        (parameters, inputs, count): (usize, usize, usize),
        signals: Vec<(usize, &'p SparseRows, usize)>,
    ) -> Self {
        let (rows, acting) = (vec![Vec::new(); maps.len()], vec![Vec::new(); maps.len()]);
        let first = vec![usize::MAX; count];
        let mut band = Band { maps, rows, slopes: Vec::new(), parameters, inputs, signals, seen, acting, first };
        for i in 0..band.maps.len() {
            let map = &band.maps[i];
            let own = map.state.ncols() - parameters;
            // a coefficient of a motion acts for a while
            let acts = |k: &usize| {
                [&map.state, &map.residuals].into_iter().any(|m| m.column(own + k).iter().any(|x| *x != 0.0))
            };
            let mut acting: Vec<usize> = (0..parameters).filter(acts).collect();
            for (_, mixing, offset) in &band.signals {
                acting.extend(band.rows_of(i).flat_map(|row| mixing.row(row)).map(|(k, _)| offset + *k as usize));
            }
            band.acts(i, acting);
        }
        band
    }

    /// The rows of the inputs that enter a map.
    fn rows_of(&self, i: usize) -> impl Iterator<Item = usize> + use<> {
        let (row, other) = self.seen[i];
        std::iter::once(row).chain(other)
    }

    fn acts(&mut self, i: usize, unknowns: Vec<usize>) {
        for k in unknowns {
            self.first[k] = self.first[k].min(i);
            self.acting[i].push(k);
        }
    }

    /// Adds a residual at time `i`.
    pub fn push(&mut self, i: usize, row: Row<'_>) {
        let before = self.slopes.len();
        self.slopes.extend_from_slice(row.slopes);
        self.rows[i].push((row.value, before..self.slopes.len()));
        self.acts(i, row.slopes.iter().map(|slope| slope.0).collect());
    }

    /// The step that minimises ½|r + J δ|² + ½|damping δ|² over the unknowns that are not `given`.
    pub fn step(&self, damping: &[f64], given: &[Option<f64>]) -> Vec<f64> {
        let steps = given.iter().map(|step| step.unwrap_or(0.0)).collect();
        let mut places = Places { column_of: vec![NONE; damping.len()], given: steps };
        let mut stages = Vec::with_capacity(self.maps.len());
        let mut later = Rows { rows: DMatrix::zeros(0, 1), active: Vec::new() };
        for i in (0..self.maps.len()).rev() {
            let mut acting = later.active.clone();
            acting.extend(&self.acting[i]);
            acting.retain(|&k| given[k].is_none());
            acting.sort_unstable();
            acting.dedup();
            let (eliminated, rest): (Vec<usize>, Vec<usize>) = acting.into_iter().partition(|&k| self.first[k] >= i);
            let before = if i == 0 { 0 } else { self.size() };
            let e = eliminated.len();
            eliminated.iter().enumerate().for_each(|(column, &k)| places.column_of[k] = column);
            rest.iter().enumerate().for_each(|(column, &k)| places.column_of[k] = e + before + column);
            let columns = [e, before, rest.len()];
            let mut all = self.rows_at(i, &later, columns, &places);
            eliminated.iter().chain(&rest).for_each(|&k| places.column_of[k] = NONE);
            let first_damped = all.nrows() - e;
            for (column, &k) in eliminated.iter().enumerate() {
                all[(first_damped + column, column)] = damping[k];
            }
            let pivots = echelon(&mut all);
            let top = pivots.partition_point(|pivot| *pivot < e);
            let stage = all.rows(0, top).into_owned();
            let rows = all.view((top, e), (pivots.len() - top, all.ncols() - e)).into_owned();
            later = Rows { rows, active: rest.clone() };
            stages.push(Stage { eliminated, rest, rows: stage, pivots: pivots[..top].to_vec() });
        }
        stages.reverse();
        self.substitute(&stages, places.given)
    }

    /// Numbers of a state.
    fn size(&self) -> usize {
        self.maps.last().map_or(0, |map| map.state.nrows())
    }

    /// Rows of later times through the step's map, residuals of this time, and room for damping; over (eliminated, δx before, rest, value).
    fn rows_at(
        &self,
        i: usize,
        Rows { rows, active }: &Rows,
        [e, before, rest]: [usize; 3],
        places: &Places,
    ) -> DMatrix<f64> {
        let (map, old, size) = (&self.maps[i], rows.nrows(), self.size());
        let last = e + before + rest;
        let mut row = old + map.values.len();
        let mut all = DMatrix::<f64>::zeros(row + self.rows[i].len() + e, last + 1);
        if old > 0 {
            let carried = rows.columns(0, size) * &map.state;
            self.spread(i, &carried, places, (e, before, 0), &mut all);
            for (column, &k) in active.iter().enumerate() {
                for row in 0..old {
                    all[(row, places.column_of[k])] += rows[(row, size + column)];
                }
            }
            (0..old).for_each(|row| all[(row, last)] += rows[(row, rows.ncols() - 1)]);
        }
        self.spread(i, &map.residuals, places, (e, before, old), &mut all);
        for (row, value) in map.values.iter().enumerate() {
            all[(old + row, last)] += *value;
        }
        for (value, slopes) in &self.rows[i] {
            for &(k, slope) in &self.slopes[slopes.clone()] {
                let (column, factor) = places.of(k, last);
                all[(row, column)] += factor * slope;
            }
            all[(row, last)] += *value;
            row += 1;
        }
        all
    }

    /// Adds rows over the map's columns to those over the unknowns.
    fn spread(
        &self,
        i: usize,
        from: &DMatrix<f64>,
        places: &Places,
        (e, before, first_row): (usize, usize, usize),
        all: &mut DMatrix<f64>,
    ) {
        let last = all.ncols() - 1;
        let mut add = |from_column: usize, column: usize, factor: f64| {
            for row in 0..if factor == 0.0 { 0 } else { from.nrows() } {
                all[(first_row + row, column)] += factor * from[(row, from_column)];
            }
        };
        (0..before).for_each(|column| add(column, e + column, 1.0));
        self.enter(i, &mut |from_column, k, factor| {
            let (column, given) = places.of(k, last);
            add(from_column, column, given * factor);
        });
    }

    /// Shows which unknowns enter a map: column, unknown, factor.
    fn enter(&self, i: usize, show: &mut dyn FnMut(usize, usize, f64)) {
        let before = if i == 0 { 0 } else { self.size() };
        for (place, row) in self.rows_of(i).enumerate() {
            for (input, mixing, offset) in &self.signals {
                let column = before + place * self.inputs + input;
                for &(k, factor) in mixing.row(row) {
                    show(column, offset + k as usize, factor);
                }
            }
        }
        let parameters = self.maps[i].state.ncols() - self.parameters;
        (0..self.parameters).for_each(|k| show(parameters + k, k, 1.0));
    }

    /// Argument of a map along a change of the unknowns: the change of the state before, then those of the inputs and parameters.
    fn entering(&self, i: usize, mut x: Vec<f64>, step: &[f64]) -> DVector<f64> {
        x.resize(self.maps[i].state.ncols(), 0.0);
        self.enter(i, &mut |column, k, factor| x[column] += factor * step[k]);
        DVector::from_vec(x)
    }

    /// Forwards: the eliminated unknowns, and the changes of the states.
    fn substitute(&self, stages: &[Stage], mut step: Vec<f64>) -> Vec<f64> {
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
            x = (&map.state * self.entering(i, x, &step)).as_slice().to_vec();
        }
        step
    }

    /// JᵀJ `direction`: forwards the changes of the residuals, backwards what they pull at.
    pub fn normal_product(&self, direction: &[f64], product: &mut [f64]) {
        product.fill(0.0);
        let (mut x, mut changes) = (Vec::new(), Vec::with_capacity(self.maps.len()));
        for (i, map) in self.maps.iter().enumerate() {
            let entering = self.entering(i, x, direction);
            changes.push(&map.residuals * &entering);
            x = (&map.state * entering).as_slice().to_vec();
        }
        let mut pull = DVector::zeros(self.size());
        for (i, map) in self.maps.iter().enumerate().rev() {
            let by_column = map.state.tr_mul(&pull) + map.residuals.tr_mul(&changes[i]);
            self.enter(i, &mut |column, k, factor| product[k] += factor * by_column[column]);
            for (_, slopes) in &self.rows[i] {
                let row = Row { value: 0.0, slopes: &self.slopes[slopes.clone()] };
                row.add(row.along(direction), product);
            }
            pull = by_column.rows(0, if i == 0 { 0 } else { self.size() }).into_owned();
        }
    }
}

/// Columns of the unknowns.
struct Places {
    column_of: Vec<usize>,
    /// The steps of those that are not there.
    given: Vec<f64>,
}

impl Places {
    /// Column and factor; of what is given it is the value's column.
    fn of(&self, k: usize, last: usize) -> (usize, f64) {
        match self.column_of[k] {
            NONE => (last, self.given[k]),
            column => (column, 1.0),
        }
    }
}
