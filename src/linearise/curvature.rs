//! Second derivatives: the gradient of a directional derivative, by nested dual numbers.
//!
//! For the scalar φ = dᵀ D + cᵀ C with fixed d and c, and a tangent X of all variables, these are the entries of
//! ∇(∂_X φ): what a Hessian needs of a mechanism. Only variables that enter nonlinearly are looked at; of those in the equations
//! of motion, the ones that touch different equations share a lane.

use super::functions::{Functions, LANES, Second, Third};
use super::kernel::Sizes;
use super::structure::{Structure, groups, state_of};
use crate::number::Jet;
use crate::system::{OutputPoint, Point, StateVector};
use crate::{Matrix, State};

fn along(value: f64, tangent: f64) -> Second {
    Jet { re: Jet::constant(value), eps: [Jet::constant(tangent)] }
}

fn set(jets: &mut [Second], values: &[f64], tangents: &[f64]) {
    for ((jet, value), tangent) in jets.iter_mut().zip(values).zip(tangents) {
        *jet = along(*value, *tangent);
    }
}

/// Sets jets of several vectors, one behind the other.
fn set_all<'a>(jets: &mut [Second], parts: impl IntoIterator<Item = (&'a [f64], &'a Vec<f64>)>) {
    let mut rest = jets;
    for (values, tangents) in parts {
        let (head, tail) = rest.split_at_mut(values.len());
        set(head, values, tangents);
        rest = tail;
    }
}

/// Variables of the equations of motion that one evaluation differentiates by, numbered as (q, v, u, w).
#[derive(Debug, Default)]
struct Pass {
    /// Variable and lane.
    seeds: Vec<(usize, usize)>,
    /// Equation, variable and lane.
    entries: Vec<(usize, usize, usize)>,
}

/// The passes over all variables that enter the equations of motion nonlinearly.
fn passes(structure: &Structure, Sizes { n, p, inputs, .. }: Sizes) -> Vec<Pass> {
    let curved = |variable: &usize| structure.curved_motion.binary_search(variable).is_ok();
    let rows: Vec<Vec<usize>> = (0..n)
        .map(|row| {
            let all = structure.force[row].iter().chain(&structure.inertia[row]);
            let mut variables: Vec<usize> = all.copied().filter(curved).collect();
            variables.sort_unstable();
            variables.dedup();
            variables
        })
        .collect();
    let (group_of, count) = groups(&rows, 2 * n + p + inputs);
    let mut passes: Vec<Pass> = (0..count.div_ceil(LANES)).map(|_| Pass::default()).collect();
    for (variable, group) in group_of.iter().enumerate() {
        let Some(group) = group else { continue };
        passes[group / LANES].seeds.push((variable, group % LANES));
        let touched = (0..n).filter(|&row| rows[row].binary_search(&variable).is_ok());
        passes[group / LANES].entries.extend(touched.map(|row| (row, variable, group % LANES)));
    }
    passes
}

/// All variables that occur in rows.
fn union(rows: &[Vec<usize>]) -> Vec<usize> {
    let mut all: Vec<usize> = rows.iter().flatten().copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// Scratch memory for the second derivatives of one model.
pub struct Curvature<'m> {
    structure: &'m Structure,
    sizes: Sizes,
    with_mass: bool,
    /// Variables of C: coordinates, then `n +` parameters.
    variables: Vec<usize>,
    /// Variables of the outputs by which is differentiated.
    output_variables: Vec<usize>,
    passes: Vec<Pass>,
    /// q, v, u, w
    motion: Vec<Second>,
    a: Vec<Second>,
    force: Vec<Second>,
    mass: Matrix<Second>,
    q_third: Vec<Third>,
    u_third: Vec<Third>,
    c_third: Vec<Third>,
    /// q, v, a, a_scheme, λ, u, w
    x: Vec<Second>,
    y: Vec<Second>,
}

impl<'m> Curvature<'m> {
    /// Room for the curvature of a model. `chosen`: what is differentiated by, and coordinates by which C_q changes, or depends on
    /// parameters.
    pub fn new(structure: &'m Structure, (chosen, coordinates): (&Structure, Vec<usize>), sizes: Sizes) -> Self {
        let Sizes { n, m, p, inputs, outputs, .. } = sizes;
        let zeros = |count| vec![Second::from(0.0); count];
        let third = |count| vec![Third::from(0.0); count];
        let with_mass = chosen.mass_by_position || chosen.mass_by_parameter;
        let mass_size = if with_mass { n } else { 0 };
        Curvature {
            structure,
            sizes,
            with_mass,
            variables: coordinates.into_iter().chain(chosen.constraint_parameters.iter().map(|k| n + k)).collect(),
            output_variables: union(&chosen.output),
            passes: passes(chosen, sizes),
            motion: zeros(2 * n + p + inputs),
            a: zeros(n),
            force: zeros(n),
            mass: Matrix::filled(mass_size, mass_size, Second::from(0.0)),
            q_third: third(n),
            u_third: third(p),
            c_third: third(m),
            x: zeros(sizes.output_variables()),
            y: zeros(outputs),
        }
    }

    /// Adds `scale` ∇ ∂_X (dᵀ (M a - Q)) to `cotangent`; without Q if there are no `forces`.
    fn motion(
        &mut self,
        model: &dyn Functions,
        (x, u): (&Point<'_>, &[f64]),
        forces: bool,
        (scale, d): (f64, &[f64]),
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let sizes = self.sizes;
        if self.passes.is_empty() {
            return;
        }
        let Sizes { n, p, .. } = sizes;
        set_all(&mut self.motion, [(x.q, &tangent.q), (x.v, &tangent.v), (u, &tangent.u), (x.w, &tangent.w)]);
        set(&mut self.a, x.a, &tangent.a);
        let with_mass = self.with_mass;
        for (place, Pass { seeds, entries }) in self.passes.iter().enumerate() {
            for &(i, lane) in seeds {
                self.motion[i].re.eps[lane] = 1.0;
            }
            self.force.fill(Second::from(0.0));
            let (q, rest) = self.motion.split_at(n);
            let (v, rest) = rest.split_at(n);
            let (u, w) = rest.split_at(p);
            if forces {
                model.force(Second::from(x.t), q, v, w, u, &mut self.force);
            }
            self.force.iter_mut().for_each(|force| *force = -*force);
            if with_mass {
                self.mass.fill(Second::from(0.0));
                model.mass(q, u, &mut self.mass);
                for &(row, column) in &self.structure.mass {
                    let entry = self.mass[(row, column)];
                    self.force[row] += entry * self.a[column];
                    if place == 0 {
                        cotangent.a[column] += scale * entry.eps[0].re * d[row];
                    }
                }
            }
            for &(i, lane) in seeds {
                self.motion[i].re.eps[lane] = 0.0;
            }
            for &(row, i, lane) in entries {
                let (part, i) = sizes.motion_variable(i);
                cotangent.part_mut(part)[i] += scale * d[row] * self.force[row].eps[0].eps[lane];
            }
        }
    }

    /// Adds `scale` ∇ ∂_X (dᵀ C_qᵀ λ + cᵀ C) to `cotangent`.
    fn constraint(
        &mut self,
        model: &dyn Functions,
        (x, u): (&Point<'_>, &[f64]),
        scale: f64,
        [d, c]: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        let Sizes { n, m, .. } = self.sizes;
        if m == 0 {
            return;
        }
        let constant = |value, tangent, d| Jet { re: along(value, tangent), eps: [along(d, 0.0)] };
        for (((jet, q), tangent), d) in self.q_third.iter_mut().zip(x.q).zip(&tangent.q).zip(d) {
            *jet = constant(*q, *tangent, *d);
        }
        for (k, jet) in self.u_third.iter_mut().enumerate() {
            *jet = constant(u[k], tangent.u[k], 0.0);
        }
        // without nonlinear variables there is nothing: C_q is constant then
        for (pass, lanes) in self.variables.chunks(LANES).enumerate() {
            for (lane, &i) in lanes.iter().enumerate() {
                let jet = if i < n { &mut self.q_third[i] } else { &mut self.u_third[i - n] };
                jet.re.re.eps[lane] = 1.0;
            }
            self.c_third.fill(Third::from(0.0));
            model.constraint(Third::from(x.t), &self.q_third, &self.u_third, &mut self.c_third);
            for (lane, &i) in lanes.iter().enumerate() {
                let jet = if i < n { &mut self.q_third[i] } else { &mut self.u_third[i - n] };
                jet.re.re.eps[lane] = 0.0;
                let mut slope = 0.0;
                for (k, value) in self.c_third.iter().enumerate() {
                    let along_d = &value.eps[0];
                    slope += x.lambda[k] * along_d.eps[0].eps[lane]
                        + tangent.lambda[k] * along_d.re.eps[lane]
                        + c[k] * value.re.eps[0].eps[lane];
                }
                let part = if i < n { &mut cotangent.q[i] } else { &mut cotangent.u[i - n] };
                *part += scale * slope;
            }
            if pass == 0 {
                for (k, value) in self.c_third.iter().enumerate() {
                    cotangent.lambda[k] += scale * value.eps[0].eps[0].re;
                }
            }
        }
    }

    /// Adds `scale` ∇ ∂_X (dᵀ D + cᵀ C) to `cotangent`, with C itself only: without time derivatives.
    #[allow(clippy::too_many_arguments)]
    pub fn equations(
        &mut self,
        model: &dyn Functions,
        at: (&Point<'_>, &[f64]),
        forces: bool,
        scale: f64,
        [d, c]: [&[f64]; 2],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        self.motion(model, at, forces, (scale, d), tangent, cotangent);
        self.constraint(model, at, scale, [d, c], tangent, cotangent);
    }

    /// Adds ∇ ∂_X (ȳᵀ y) to `cotangent`.
    pub fn output(
        &mut self,
        model: &dyn Functions,
        x: &OutputPoint<'_>,
        u: &[f64],
        y_bar: &[f64],
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        if self.structure.output_is_linear {
            return;
        }
        let Sizes { n, m, p, .. } = self.sizes;
        let parts = [
            (x.q, &tangent.q),
            (x.v, &tangent.v),
            (x.a, &tangent.a),
            (x.a_scheme, &tangent.a_scheme),
            (x.lambda, &tangent.lambda),
            (u, &tangent.u),
            (x.w, &tangent.w),
        ];
        set_all(&mut self.x, parts);
        for lanes in self.output_variables.chunks(LANES) {
            lanes.iter().enumerate().for_each(|(lane, &i)| self.x[i].re.eps[lane] = 1.0);
            self.y.fill(Second::from(0.0));
            let (u, w) = self.x[4 * n + m..].split_at(p);
            model.output(Second::from(x.t), &State { w, ..state_of(&self.x, n, m) }, u, &mut self.y);
            for (lane, &i) in lanes.iter().enumerate() {
                self.x[i].re.eps[lane] = 0.0;
                let slope: f64 = self.y.iter().zip(y_bar).map(|(y, bar)| bar * y.eps[0].eps[lane]).sum();
                let (part, i) = self.sizes.output_variable(i);
                cotangent.part_mut(part)[i] += slope;
            }
        }
    }
}
