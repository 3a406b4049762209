//! A plain model at the waist.

use super::{ConstraintPoint, Pattern, PlainEvaluator, Sizes, blocks, jacobian_kernel, probe, reverse, separate};
use crate::State;
use crate::linear::clear;
use crate::number::Jet;
use crate::system::{
    Blocks, Equations, Evaluator, Level, Orders, OutputPoint, Point, SingularMatrix, StateVector, Weights,
};

impl Evaluator for PlainEvaluator<'_> {
    fn set_parameters(&mut self, u: &[f64]) {
        let Sizes { n, m, .. } = self.sizes;
        let structure = self.structure;
        self.u.copy_from_slice(u);
        if let Some(forward) = &mut self.forward {
            forward.set_parameters(u);
        }
        if let Some(reverse) = &mut self.reverse {
            reverse.set_parameters(u);
        }
        self.newton.set_parameters(u);
        self.full.set_parameters(u);
        self.outputs.set_parameters(u);
        self.template_weights = None;
        self.steady.set_parameters(u);
        self.matrix.forget_order();
        self.output_is_current = false;
        (self.is_forward, self.output_is_forward) = (false, false);
        // where it does not matter: no coordinate at a value that a function might divide by
        let anywhere = probe(n, 0.3);
        if !structure.mass_by_position {
            self.update_mass(&anywhere);
        }
        if m > 0 {
            // columns of C_q that neither q nor t changes
            let fixed: Vec<usize> = (0..n).filter(|j| !structure.curved_coordinates.contains(j)).collect();
            if !fixed.is_empty() {
                let mut kernel = jacobian_kernel(self.sizes, fixed.clone());
                let mut value = vec![0.0; m];
                let slopes = &mut self.slopes[..m * fixed.len()];
                let (mut start, mut speed) = (vec![0.0; n], vec![0.0; n]);
                self.model.initial(u, &mut start, &mut speed);
                // a constraint may be defined near the start only (a root, a logarithm)
                for point in [&anywhere, &start] {
                    let at = ConstraintPoint { t: 0.37, q: point, u };
                    kernel.evaluate(self.model, at, &mut value, slopes);
                    if slopes.iter().all(|slope| slope.is_finite()) {
                        break;
                    }
                }
                for (row, slopes) in slopes.chunks_exact(fixed.len()).enumerate() {
                    fixed.iter().zip(slopes).for_each(|(j, slope)| self.constraint_jacobian[row * n + j] = *slope);
                }
            }
        }
    }

    fn orders(&mut self) -> Option<Orders> {
        Some(self.matrix.orders())
    }

    fn take_orders(&mut self, orders: &Orders) {
        self.matrix.take_orders(orders);
    }

    fn initial(&mut self, q: &mut [f64], v: &mut [f64]) {
        q.fill(0.0);
        v.fill(0.0);
        self.model.initial(&self.u, q, v);
    }

    fn initial_pull_back(&mut self, q: &[f64], v: &[f64], u: &mut [f64]) {
        if self.initial_in_reverse {
            let (values, parameters) = (&self.u, &self.initial_parameters);
            let mut slopes = vec![0.0; parameters.len()];
            let take = |k: usize, slope: f64| slopes[k] = slope;
            reverse::initial(self.model, (parameters, values.len()), |k| values[k], (q, v), take);
            if slopes.iter().all(|slope| slope.is_finite()) {
                parameters.iter().zip(slopes).for_each(|(&k, slope)| u[k] += slope);
                return;
            }
            // zero times infinity is zero forwards
        }
        let n = self.sizes.n;
        let mut direction = vec![0.0; self.u.len()];
        for k in self.initial_parameters.clone() {
            direction[k] = 1.0;
            let (mut dq, mut dv) = (vec![0.0; n], vec![0.0; n]);
            self.initial_push_forward(&direction, &mut dq, &mut dv);
            direction[k] = 0.0;
            u[k] += dq.iter().zip(q).chain(dv.iter().zip(v)).map(|(d, bar)| d * bar).sum::<f64>();
        }
    }

    fn initial_push_forward(&mut self, u: &[f64], q: &mut [f64], v: &mut [f64]) {
        let zero = Jet { re: 0.0, eps: [0.0] };
        let parameters: Vec<Jet<f64, 1>> = self.u.iter().zip(u).map(|(&re, &du)| Jet { re, eps: [du] }).collect();
        let (mut dq, mut dv) = (vec![zero; q.len()], vec![zero; v.len()]);
        self.model.initial(&parameters, &mut dq, &mut dv);
        q.iter_mut().zip(&dq).chain(v.iter_mut().zip(&dv)).for_each(|(value, jet)| *value += jet.eps[0]);
    }

    fn residual(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        clear(dynamics);
        if equations.forces {
            self.model.force(x.t, x.q, x.v, x.w, &self.u, dynamics);
        }
        dynamics.iter_mut().for_each(|value| *value = -*value);
        if self.structure.mass_by_position {
            self.update_mass(x.q);
        }
        self.add_inertia(1.0, x.a, dynamics);
        self.curve(x, None, constraint);
        self.add_constraint_force(x.lambda, dynamics);
        self.take_level(x, equations, None, constraint);
    }

    fn round_off(&mut self, x: &Point<'_>, equations: Equations, dynamics: &mut [f64], constraint: &mut [f64]) {
        self.round_off.bound(self.model, (x, &self.u), equations, dynamics, constraint);
    }

    fn factorise(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        dynamics: &mut [f64],
        constraint: &mut [f64],
    ) -> std::result::Result<(), SingularMatrix> {
        self.prepare_template(x, weights);
        self.matrix.values_mut().copy_from_slice(&self.template);
        self.newton.evaluate(self.model, x, weights, dynamics, self.matrix.values_mut(), &mut self.mass);
        if !self.structure.mass_by_position {
            self.add_inertia(1.0, x.a, dynamics);
        }
        self.curve(x, Some(weights.position), constraint);
        self.add_constraint_force(x.lambda, dynamics);
        self.take_level(x, weights.equations, Some(weights), constraint);
        if self.matrix.factorise() { Ok(()) } else { Err(SingularMatrix) }
    }

    fn linearise_for_tangents(
        &mut self,
        x: &Point<'_>,
        weights: Weights,
        tangents: usize,
    ) -> std::result::Result<(), SingularMatrix> {
        if !self.reverse.as_ref().is_some_and(|reverse| reverse.prefers_columns(tangents)) {
            return self.linearise(x, weights);
        }
        self.linearise_forwards(x, weights)
    }

    fn linearise(&mut self, x: &Point<'_>, weights: Weights) -> std::result::Result<(), SingularMatrix> {
        let Sizes { n, m, p, .. } = self.sizes;
        let size = n + m;
        let structure = self.structure;
        self.is_forward = false;
        self.prepare_template(x, weights);
        let (model, entries, values) = (self.model, &self.parameter_entries[..], &mut self.full_values[..]);
        let reverse = self.reverse.as_mut();
        if !reverse.is_some_and(|reverse| reverse.linearise(model, (x, weights), entries, values)) {
            self.steady.put_into(values, weights.equations.forces);
            // the residual itself is not needed here
            self.full.evaluate(model, x, separate(weights.equations), &mut [], values, &mut self.mass);
        }
        if let Some(kernel) = &mut self.curved_full {
            let variables = &self.full_variables;
            let count = variables.len();
            let at = ConstraintPoint { t: x.t, q: x.q, u: &self.u };
            let slopes = &mut self.slopes[..m * count];
            kernel.evaluate(self.model, at, x.lambda, &mut self.constraint_scratch, slopes, &mut self.second_slopes);
            for (row, slopes) in slopes.chunks_exact(count).enumerate() {
                for (&variable, &slope) in variables.iter().zip(slopes) {
                    match variable.checked_sub(n) {
                        None => self.constraint_jacobian[row * n + variable] = slope,
                        Some(k) => self.constraint_by_parameter[row * p + k] = slope,
                    }
                }
            }
            for (&j, slopes) in self.curved_or_parametric.iter().zip(self.second_slopes.chunks_exact(count)) {
                for (variable, slope) in variables.iter().zip(slopes) {
                    self.constraint_force_slope[j * (n + p) + variable] = *slope;
                }
            }
        }
        let matrix = self.matrix.values_mut();
        matrix.copy_from_slice(&self.template);
        if structure.mass_by_position {
            for (&(row, column), value) in structure.mass.iter().zip(&self.mass) {
                matrix[row * size + column] += weights.acceleration * value;
            }
        }
        for (places, weight) in self.changing.iter().zip([weights.position, weights.velocity]) {
            for &(from, to) in places {
                matrix[to as usize] += weight * self.full_values[from as usize];
            }
        }
        let of_states = weights.state - weights.velocity;
        if of_states != 0.0 && self.sizes.states > 0 {
            let is_state = |to: u32| (n - self.sizes.states..n).contains(&(to as usize % size));
            for &(from, to) in self.changing[1].iter().filter(|(_, to)| is_state(*to)) {
                matrix[to as usize] += of_states * self.full_values[from as usize];
            }
        }
        for &j in &structure.curved_coordinates {
            for &k in &structure.curved_coordinates {
                matrix[j * size + k] += weights.position * self.constraint_force_slope[j * (n + p) + k];
            }
            for row in 0..m {
                let value = self.constraint_jacobian[row * n + j];
                matrix[j * size + n + row] = value;
                matrix[(n + row) * size + j] = value;
            }
        }
        self.linearise_level(x, weights);
        if self.matrix.factorise() { Ok(()) } else { Err(SingularMatrix) }
    }

    fn divide_tangents(&mut self, all: usize) {
        self.reverse.iter_mut().for_each(|reverse| reverse.divided = all);
    }

    fn solve(&mut self, b: &mut [f64]) {
        self.matrix.solve(b);
    }

    fn solve_all(&mut self, sides: &mut [f64], size: usize) {
        self.matrix.solve_all(sides, size);
    }

    fn solve_transposed(&mut self, b: &mut [f64]) {
        self.matrix.solve_transposed(b);
    }

    fn pull_back(&mut self, scale: f64, dynamics: &[f64], constraint: &[f64], cotangent: &mut StateVector) {
        if let Some(reverse) = self.reverse.as_mut().filter(|_| !self.is_forward)
            && !reverse.pull_back(self.model, &self.u, scale, [dynamics, constraint], &mut cotangent.u)
        {
            self.go_forward();
        }
        if let Some(forward) = self.forward.as_mut().filter(|_| self.is_forward) {
            return forward.pull_back(scale, dynamics, constraint, cotangent);
        }
        let Sizes { n, p, .. } = self.sizes;
        let (by_position, rest) = self.full_values.split_at(n * n);
        let (by_velocity, by_parameter) = rest.split_at(n * n);
        let (pair, values) = ([&self.by_position, &self.by_velocity], [by_position, by_velocity]);
        Pattern::add_pair_transposed(pair, values, scale, dynamics, [&mut cotangent.q, &mut cotangent.v]);
        for (&(row, k), value) in self.parameter_entries.iter().zip(by_parameter) {
            let slope = scale * value * dynamics[row];
            match k.checked_sub(p) {
                None => cotangent.u[k] += slope,
                Some(input) => cotangent.w[input] += slope,
            }
        }
        for (&(row, column), value) in self.structure.mass.iter().zip(&self.mass) {
            cotangent.a[column] += scale * value * dynamics[row];
        }
        if constraint.is_empty() {
            return;
        }
        let StateVector { q, v, a, lambda, .. } = cotangent;
        self.constraint_pattern.add_product(&self.constraint_jacobian, scale, dynamics, lambda);
        for k in 0..=self.level as usize {
            let part = match k {
                0 => &mut *q,
                1 => &mut *v,
                _ => &mut *a,
            };
            let (factor, slopes) = self.constraint_by(k);
            self.constraint_pattern.add_transposed(slopes, scale * factor, constraint, part);
        }
        let by_parameter = self.constraint_by_parameter();
        for &j in &self.curved_or_parametric {
            let slopes = &self.constraint_force_slope[j * (n + p)..(j + 1) * (n + p)];
            let factor = scale * dynamics[j];
            self.curved_or_parametric.iter().for_each(|&k| cotangent.q[k] += factor * slopes[k]);
            self.constraint_parameters.iter().for_each(|&k| cotangent.u[k] += factor * slopes[n + k]);
        }
        for &k in &self.constraint_parameters {
            for (row, c) in constraint.iter().enumerate() {
                cotangent.u[k] += scale * by_parameter[row * p + k] * c;
            }
        }
    }

    fn push_forward(&mut self, tangent: &StateVector, dynamics: &mut [f64], constraint: &mut [f64]) {
        if let Some(forward) = self.forward.as_mut().filter(|_| self.is_forward) {
            return forward.push_forward(tangent, dynamics, constraint);
        }
        if let Some(reverse) = &mut self.reverse {
            let into = [&mut *dynamics, &mut *constraint];
            reverse.push_forward(self.model, &self.u, &tangent.u, &mut self.time_derivatives, into);
        }
        let Sizes { n, p, .. } = self.sizes;
        let (by_position, rest) = self.full_values.split_at(n * n);
        let (by_velocity, by_parameter) = rest.split_at(n * n);
        self.by_position.add_product(by_position, 1.0, &tangent.q, dynamics);
        self.by_velocity.add_product(by_velocity, 1.0, &tangent.v, dynamics);
        for (&(row, k), value) in self.parameter_entries.iter().zip(by_parameter) {
            dynamics[row] += value * k.checked_sub(p).map_or_else(|| tangent.u[k], |input| tangent.w[input]);
        }
        self.add_inertia(1.0, &tangent.a, dynamics);
        if constraint.is_empty() {
            return;
        }
        self.add_constraint_force(&tangent.lambda, dynamics);
        let parts = [&tangent.q, &tangent.v, &tangent.a];
        for (k, part) in parts.into_iter().enumerate().take(self.level as usize + 1) {
            let (factor, slopes) = self.constraint_by(k);
            self.constraint_pattern.add_product(slopes, factor, part, constraint);
        }
        let by_parameter = self.constraint_by_parameter();
        for &j in &self.curved_or_parametric {
            let slopes = &self.constraint_force_slope[j * (n + p)..(j + 1) * (n + p)];
            for &k in &self.curved_or_parametric {
                dynamics[j] += slopes[k] * tangent.q[k];
            }
            for &k in &self.constraint_parameters {
                dynamics[j] += slopes[n + k] * tangent.u[k];
            }
        }
        for &k in &self.constraint_parameters {
            for (row, c) in constraint.iter_mut().enumerate() {
                *c += by_parameter[row * p + k] * tangent.u[k];
            }
        }
    }

    fn mass_entries(&mut self, x: &Point<'_>) -> Vec<(u32, u32, f64)> {
        self.update_mass(x.q);
        let places = self.structure.mass.iter().zip(&self.mass);
        places.map(|(&(row, column), &value)| (row as u32, column as u32, value)).collect()
    }

    fn constraint_rows(&mut self, x: &Point<'_>) -> Vec<Vec<(u32, f64)>> {
        let Sizes { n, m, .. } = self.sizes;
        self.curve(x, None, &mut vec![0.0; m]);
        let row = |row: usize| (0..n).map(|j| (j as u32, self.constraint_jacobian[row * n + j])).collect();
        (0..m).map(row).collect()
    }

    fn constraint(&mut self, level: Level, x: &Point<'_>, value: &mut [f64]) {
        self.time_derivatives.value(self.model, level, x, &self.u, value);
    }

    fn curvature(
        &mut self,
        x: &Point<'_>,
        Equations { forces, level }: Equations,
        scale: f64,
        [d, c]: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let at = (x, &self.u[..]);
        self.constraint_scratch.fill(0.0);
        let of_rows = if level == Level::Position { c } else { &self.constraint_scratch[..] };
        if let Some(reverse) = &mut self.reverse {
            reverse.curvature(self.model, at, forces, (scale, [d, of_rows]), tangent, cotangent);
        }
        self.curvature.equations(self.model, at, forces, scale, [d, of_rows], tangent, cotangent);
        if level == Level::Position {
            return;
        }
        self.time_derivatives.curvature(self.model, level, at, (scale, c), tangent, cotangent);
    }

    fn initial_curvature(&mut self, q: &[f64], v: &[f64], tangent: &[f64], u: &mut [f64]) {
        let (values, parameters) = (&self.u, &self.initial_parameters);
        let along = |k: usize| Jet { re: values[k], eps: [tangent[k]] };
        let give = |k: usize, slope: Jet<f64, 1>| u[parameters[k]] += slope.eps[0];
        reverse::initial(self.model, (parameters, values.len()), along, (q, v), give);
    }

    fn output_curvature(&mut self, x: &OutputPoint<'_>, y: &[f64], tangent: &StateVector, cotangent: &mut StateVector) {
        if let Some(reverse) = &mut self.reverse {
            reverse.output_curvature(self.model, (x, &self.u), y, tangent, &mut cotangent.u);
        }
        self.curvature.output(self.model, x, &self.u, y, tangent, cotangent);
    }

    fn output(&mut self, x: &OutputPoint<'_>, y: &mut [f64]) {
        clear(y);
        let OutputPoint { t, q, v, a, a_scheme, lambda, w } = *x;
        self.model.output(t, &State { q, v, a, a_scheme, lambda, w }, &self.u, y);
    }

    fn linearise_output_for_tangents(&mut self, x: &OutputPoint<'_>, tangents: usize) {
        if !self.reverse.as_ref().is_some_and(|reverse| reverse.prefers_output_columns(tangents)) {
            return self.linearise_output(x);
        }
        self.forward().linearise_output(x);
        self.output_is_forward = true;
    }

    fn linearise_output(&mut self, x: &OutputPoint<'_>) {
        if let Some(reverse) = &mut self.reverse {
            reverse.take_output(x);
            self.output_is_forward = false;
        }
        if !self.output_is_current {
            self.outputs.evaluate(self.model, x, &mut self.output_values);
            self.output_is_current = self.structure.output_is_linear;
        }
    }

    fn output_pull_back(&mut self, y: &[f64], cotangent: &mut StateVector) {
        if let Some(reverse) = self.reverse.as_mut().filter(|_| !self.output_is_forward)
            && !reverse.output_pull_back(self.model, &self.u, y, &mut cotangent.u)
        {
            self.go_output_forward();
        }
        if let Some(forward) = self.forward.as_mut().filter(|_| self.output_is_forward) {
            return forward.output_pull_back(y, cotangent);
        }
        for (&(row, (part, i)), value) in self.output_entries.iter().zip(&self.output_values) {
            cotangent.part_mut(part)[i] += value * y[row];
        }
    }

    fn output_push_forward(&mut self, tangent: &StateVector, y: &mut [f64]) {
        if let Some(forward) = self.forward.as_mut().filter(|_| self.output_is_forward) {
            return forward.output_push_forward(tangent, y);
        }
        if let Some(reverse) = &mut self.reverse {
            reverse.output_push_forward(self.model, &self.u, &tangent.u, y);
        }
        for (&(row, (part, i)), value) in self.output_entries.iter().zip(&self.output_values) {
            y[row] += value * tangent.part(part)[i];
        }
    }

    fn blocks(&mut self, x: &Point<'_>, blocks: &mut Blocks) {
        blocks::evaluate(self.model, x, &self.u, blocks);
    }
}
