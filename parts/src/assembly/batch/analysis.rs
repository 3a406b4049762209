//! What is asked of a batch now and then: round-off, time derivatives of constraints, second derivatives, dense blocks.

use super::BatchEvaluator;
use super::local::{clear, gather, gather_head, gather_state, scatter, scatter_state};
use costate::Matrix;
use costate::linearise::{Sizes, element_blocks};
use costate::system::{Blocks, Equations, Level, Point, StateVector};

impl BatchEvaluator<'_> {
    pub fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        let batch = self.batch;
        let Sizes { m, p, .. } = batch.sizes;
        if !batch.moves() && batch.own_rows == 0 {
            return;
        }
        for (e, model) in batch.models.iter().enumerate() {
            self.x.take(batch, e, x);
            let own = &self.u[e * p..(e + 1) * p];
            let at = (&self.x.point(x.t), own);
            self.round_off.bound(model, at, equations, &mut self.force, &mut self.rows[..m]);
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
            let own = &self.u[e * p..(e + 1) * p];
            self.time_derivatives.value(model, which, &self.x.point(x.t), own, &mut self.rows[..m]);
            scatter(&self.rows, value, batch.own_rows_of(e));
        }
    }

    pub fn curvature(
        &mut self,
        x: &Point<'_>,
        Equations { forces, level }: Equations,
        scale: f64,
        [dynamics, constraint]: [&[f64]; 2],
        (tangent, cotangent): (&StateVector, &mut StateVector),
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
            rows.fill(0.0);
            if level == Level::Position {
                gather_head(rows, constraint, batch.own_rows_of(e));
            }
            clear(&mut self.cotangent);
            let own = &self.u[e * p..(e + 1) * p];
            let (point, tangent, cotangent_of) = (self.x.point(x.t), &self.tangent, &mut self.cotangent);
            let weights = [&self.force[..], &*rows];
            self.curvature.equations(model, (&point, own), forces, scale, weights, tangent, cotangent_of);
            if level != Level::Position && batch.own_rows > 0 {
                gather_head(rows, constraint, batch.own_rows_of(e));
                self.time_derivatives.curvature(
                    model,
                    level,
                    (&point, own),
                    (scale, rows),
                    tangent,
                    &mut self.cotangent,
                );
            }
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
            element_blocks(model, &self.x.point(x.t), self.parameters_of(e), &mut own);
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
