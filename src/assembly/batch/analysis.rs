//! What is asked of a batch now and then: round-off, time derivatives of constraints, second derivatives, dense blocks.

use super::BatchEvaluator;
use super::local::{clear, gather, gather_head, gather_state, scatter, scatter_state};
use crate::linearise::{Sizes, element_blocks, level, level_curvature, level_pull_back, level_push_forward};
use crate::model::Matrix;
use crate::system::{Blocks, Level, Point, StateVector};

impl BatchEvaluator<'_> {
    pub fn round_off(&mut self, x: &Point<'_>, dynamics: &mut [f64], constraint: &mut [f64]) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        if !batch.moves() && batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            let own = &self.u[e * p..(e + 1) * p];
            self.round_off.bound(&**model, &self.x.point(x.t), own, &mut self.force, &mut self.rows[..m]);
            // adding up the elements rounds once more
            self.force.iter_mut().for_each(|bound| *bound *= 2.0);
            scatter(&self.force, dynamics, batch.coordinates_of(e));
            scatter(&self.rows, constraint, batch.own_rows_of(e));
        }
    }

    pub fn level(&mut self, which: Level, x: &Point<'_>, value: &mut [f64]) {
        let batch = self.batch;
        let m = batch.sizes.m;
        if batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            let p = batch.sizes.p;
            level(&**model, which, &self.x.point(x.t), &self.u[e * p..(e + 1) * p], &mut self.rows[..m]);
            scatter(&self.rows, value, batch.own_rows_of(e));
        }
    }

    pub fn level_pull_back(&mut self, which: Level, x: &Point<'_>, scale: f64, c: &[f64], cotangent: &mut StateVector) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        if batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            let rows = &mut self.rows[..m];
            gather_head(rows, c, batch.own_rows_of(e));
            clear(&mut self.cotangent);
            let own = &self.u[e * p..(e + 1) * p];
            level_pull_back(&**model, which, &self.x.point(x.t), own, scale, rows, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    pub fn level_push_forward(&mut self, which: Level, x: &Point<'_>, tangent: &StateVector, c: &mut [f64]) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        if batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            let rows = &mut self.rows[..m];
            rows.fill(0.0);
            let own = &self.u[e * p..(e + 1) * p];
            level_push_forward(&**model, which, &self.x.point(x.t), own, &self.tangent, rows);
            scatter(rows, c, batch.own_rows_of(e));
        }
    }

    pub fn level_curvature(
        &mut self,
        which: Level,
        x: &Point<'_>,
        scale: f64,
        c: &[f64],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        if batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            let rows = &mut self.rows[..m];
            gather_head(rows, c, batch.own_rows_of(e));
            clear(&mut self.cotangent);
            let own = &self.u[e * p..(e + 1) * p];
            let point = self.x.point(x.t);
            level_curvature(&**model, which, &point, own, scale, rows, &self.tangent, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    pub fn curvature(
        &mut self,
        x: &Point<'_>,
        scale: f64,
        (dynamics, constraint): (&[f64], &[f64]),
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        if !batch.moves() && batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            gather_state(batch, e, tangent, &mut self.tangent);
            gather(&mut self.force, dynamics, batch.coordinates_of(e));
            let rows = &mut self.rows[..m];
            gather_head(rows, constraint, batch.own_rows_of(e));
            clear(&mut self.cotangent);
            let own = &self.u[e * p..(e + 1) * p];
            let (point, tangent) = (self.x.point(x.t), &self.tangent);
            self.curvature.equations(&**model, &point, own, scale, &self.force, rows, tangent, &mut self.cotangent);
            scatter_state(batch, e, &self.cotangent, cotangent);
        }
    }

    pub fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        let batch = self.batch;
        let Sizes { n, m, p, .. } = batch.sizes;
        let mut own = Blocks::of_sizes(n, m, p);
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            own.constraint_by_position.fill(0.0);
            element_blocks(&**model, &self.x.point(x.t), self.parameters_of(e), &mut own);
            let (c, rows, slots) = (batch.coordinates_of(e), batch.own_rows_of(e), batch.parameters_of(e));
            let add = |to: &mut Matrix<f64>, from: &Matrix<f64>, rows: &[u32]| {
                for (i, &row) in rows.iter().enumerate() {
                    for (j, &column) in c.iter().enumerate() {
                        to[(row as usize, column as usize)] += from[(i, j)];
                    }
                }
            };
            add(&mut blocks.mass, &own.mass, c);
            add(&mut blocks.inertia_by_position, &own.inertia_by_position, c);
            add(&mut blocks.constraint_force_by_position, &own.constraint_force_by_position, c);
            add(&mut blocks.force_by_position, &own.force_by_position, c);
            add(&mut blocks.force_by_velocity, &own.force_by_velocity, c);
            add(&mut blocks.constraint_by_position, &own.constraint_by_position, rows);
            let add = |to: &mut Matrix<f64>, from: &Matrix<f64>, rows: &[u32]| {
                for (i, &row) in rows.iter().enumerate() {
                    for (slot, value) in slots.iter().enumerate() {
                        for &(k, factor) in value.terms() {
                            to[(row as usize, k)] += factor * from[(i, slot)];
                        }
                    }
                }
            };
            add(&mut blocks.force_by_parameter, &own.force_by_parameter, c);
            add(&mut blocks.inertia_by_parameter, &own.inertia_by_parameter, c);
            add(&mut blocks.constraint_force_by_parameter, &own.constraint_force_by_parameter, c);
            add(&mut blocks.constraint_by_parameter, &own.constraint_by_parameter, rows);
        }
    }
}
