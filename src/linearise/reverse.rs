//! Derivatives by parameters in one sweep back over an evaluation, whatever their number.
//!
//! Only parameters are variables there: positions and velocities stay forward, because the matrix of Newton's iteration needs their
//! columns. With p = (d, c) the weights of the equations,
//!
//! ```text
//! dᵀ (M a - Q):                factors -d of Q and d_i a_j of M_ij, on numbers over f64
//! dᵀ C_qᵀ λ + cᵀ C:            C on numbers over duals, q moved along d, factors (λ, c)
//! cᵀ d^l C/dt^l:               C on numbers over second-order duals, q moved along the motion
//! ```
//!
//! and, along a tangent, the same over numbers with one more direction.
//!
//! Of a single equation of motion one sweep has the derivatives by everything, and nothing is left to be found forwards.

mod recorded;

pub(crate) use recorded::initial;

use super::choice::Choice;
use super::constraint::{TimeDerivatives, along_motion, time};
use super::functions::{Dual, Functions, Square};
use super::kernel::Sizes;
use super::structure::Structure;
use crate::dense::add_scaled;
use crate::number::{Jet, all_finite};
use crate::system::{Equations, Level, OutputPoint, Point, StatePart, StateVector, Weights};
use recorded::{Motion, Outputs, Rows};

/// The point at which derivatives are taken, of the equations or of outputs, kept.
struct Here {
    t: f64,
    x: StateVector,
}

impl Here {
    fn new(Sizes { n, m, inputs, .. }: Sizes) -> Self {
        let zeros = |count| vec![0.0; count];
        let (q, v, a, a_scheme, lambda, w) = (zeros(n), zeros(n), zeros(n), zeros(n), zeros(m), zeros(inputs));
        Here { t: 0.0, x: StateVector { q, v, a, a_scheme, lambda, w, ..StateVector::default() } }
    }

    fn take(&mut self, point: &Point<'_>) {
        self.t = point.t;
        let StateVector { q, v, a, lambda, w, .. } = &mut self.x;
        let parts = [(q, point.q), (v, point.v), (a, point.a), (lambda, point.lambda), (w, point.w)];
        parts.into_iter().for_each(|(own, values)| own.copy_from_slice(values));
    }
}

/// An entry of a state or of the parameters, with its tangent.
fn dual(x: &StateVector, u: &[f64], tangent: &StateVector, part: StatePart, i: usize) -> Dual {
    Jet { re: entry(x, u, part, i), eps: [tangent.part(part)[i]] }
}

fn entry(x: &StateVector, u: &[f64], part: StatePart, i: usize) -> f64 {
    if part == StatePart::Parameter { u[i] } else { x.part(part)[i] }
}

/// Constraints as functions of parameters, and of coordinates.
struct Constraints {
    along: Rows<Dual>,
    twice: Rows<Square<1>>,
    by_coordinates: Rows<Dual>,
}

/// The equations of motion, the constraints and the outputs as functions of parameters, as far as they are differentiated in reverse.
pub(crate) struct Reverse {
    sizes: Sizes,
    motion: Option<(Motion<f64>, Motion<Dual>)>,
    constraints: Option<Constraints>,
    outputs: Option<(Outputs<f64>, Outputs<Dual>)>,
    here: Here,
    weights: Weights,
    output_here: Here,
    /// The number of tangents from which on columns are cheaper, of the equations and of the outputs.
    tangents: [usize; 2],
    /// Tangents of all evaluators that share them, or zero.
    pub(crate) divided: usize,
    /// Derivatives by all parameters.
    sum: Vec<f64>,
    /// The sweep over a single equation of motion at the point has been made.
    is_swept: bool,
}

impl Reverse {
    /// Room for all that `structure` has of each function that is chosen.
    pub(crate) fn new(structure: &Structure, sizes: Sizes, chosen: &Choice) -> Self {
        let Structure { curved_or_parametric: coordinates, constraint_parameters: parameters, .. } = structure;
        let parameters: Vec<usize> = parameters.iter().map(|k| sizes.n + k).collect();
        let is_single = sizes.n == 1 && sizes.m == 0 && !structure.mass_by_position;
        let motion = || (Motion::new(structure, sizes, is_single), Motion::new(structure, sizes, false));
        Reverse {
            sizes,
            motion: chosen.motion.then(motion),
            constraints: chosen.constraint.then(|| Constraints {
                along: Rows::new(parameters.clone(), sizes),
                twice: Rows::new(parameters, sizes),
                by_coordinates: Rows::new(coordinates.clone(), sizes),
            }),
            outputs: chosen.output.then(|| (Outputs::new(structure, sizes), Outputs::new(structure, sizes))),
            here: Here::new(sizes),
            weights: super::separate(Equations::MOTION),
            output_here: Here::new(sizes),
            tangents: chosen.tangents,
            divided: 0,
            sum: vec![0.0; sizes.p],
            is_swept: false,
        }
    }

    /// So many tangents, or those of all evaluators that they are divided among.
    fn of_all(&self, own: usize) -> usize {
        if own > 0 { own.max(self.divided) } else { 0 }
    }

    /// True if columns of derivatives of the equations are cheaper than so many tangents.
    pub(crate) fn prefers_columns(&self, tangents: usize) -> bool {
        self.of_all(tangents) > self.tangents[0]
    }

    /// True if columns of derivatives of the outputs are cheaper than so many tangents.
    pub(crate) fn prefers_output_columns(&self, tangents: usize) -> bool {
        self.of_all(tangents) > self.tangents[1]
    }

    /// Takes the values of the parameters.
    pub(crate) fn set_parameters(&mut self, u: &[f64]) {
        if let Some((motion, _)) = &mut self.motion {
            motion.set_parameters(|k| u[k]);
        }
    }

    /// Takes the point at which products are asked for. Of a single equation of motion it finds the derivatives, and puts those by position and
    /// velocity into `values`, and behind them those of `entries`, by inputs; of others it says that it does not.
    #[must_use]
    pub(crate) fn linearise(
        &mut self,
        model: &dyn Functions,
        (x, weights): (&Point<'_>, Weights),
        entries: &[(usize, usize)],
        values: &mut [f64],
    ) -> bool {
        self.here.take(x);
        (self.weights, self.is_swept) = (weights, false);
        let Reverse { sizes: Sizes { n, p, .. }, motion, .. } = self;
        let Some((motion, _)) = motion.as_mut().filter(|motion| motion.0.by_state) else { return false };
        motion.evaluate(model, x.t, weights.equations.forces, |part, i| self.here.x.part(part)[i]);
        let slopes = motion.derivatives(&[1.0], |j| x.a[j]);
        let state = *p..*p + 2 * *n;
        // inputs have numbers from p on
        let inputs = entries.iter().map(|entry| 2 * *n + entry.1);
        values.iter_mut().zip(state.chain(inputs)).for_each(|(own, k)| *own = slopes[k]);
        self.is_swept = all_finite(slopes);
        self.is_swept
    }

    /// Point and weights at which products of the equations are asked for.
    pub(crate) fn point(&self) -> (Point<'_>, Weights) {
        let Here { t, x: StateVector { q, v, a, lambda, w, .. } } = &self.here;
        (Point { t: *t, q, v, a, lambda, w }, self.weights)
    }

    /// Takes the point at which products of outputs are asked for.
    pub(crate) fn take_output(&mut self, x: &OutputPoint<'_>) {
        let OutputPoint { t, q, v, a, a_scheme, lambda, w } = *x;
        self.output_here.take(&Point { t, q, v, a, lambda, w });
        self.output_here.x.a_scheme.copy_from_slice(a_scheme);
    }

    /// Point at which products of the outputs are asked for.
    pub(crate) fn output_point(&self) -> OutputPoint<'_> {
        let Here { t, x: StateVector { q, v, a, a_scheme, lambda, w, .. } } = &self.output_here;
        OutputPoint { t: *t, q, v, a, a_scheme, lambda, w }
    }

    /// Adds `scale` times the sum to derivatives by parameters, if all of it is finite: a zero times infinity may not be, and is known to
    /// be zero forwards.
    fn give(sum: &[f64], scale: f64, by_parameters: &mut [f64]) -> bool {
        let is_finite = all_finite(sum);
        if is_finite {
            add_scaled(scale, sum, by_parameters);
        }
        is_finite
    }

    /// Adds `scale` times the derivatives of dᵀ D + cᵀ C by parameters; or says that one of them is not finite, and adds nothing.
    #[must_use]
    pub(crate) fn pull_back(
        &mut self,
        model: &dyn Functions,
        u: &[f64],
        scale: f64,
        [d, c]: [&[f64]; 2],
        by_parameters: &mut [f64],
    ) -> bool {
        let Reverse { here: Here { t, x }, weights, motion, constraints, sum, is_swept, .. } = self;
        let Equations { forces, level } = weights.equations;
        if let Some((motion, _)) = motion.as_ref().filter(|_| *is_swept) {
            add_scaled(scale * d[0], motion.last(), by_parameters);
            return true;
        }
        let [of_motion, of_rows] = [d, c].map(|p| p.iter().any(|p| *p != 0.0));
        sum.fill(0.0);
        if let Some((motion, _)) = motion.as_mut().filter(|_| of_motion) {
            motion.evaluate(model, *t, forces, |part, i| x.part(part)[i]);
            let slopes = motion.derivatives(d, |j| x.a[j]);
            sum.iter_mut().zip(slopes).for_each(|(own, slope)| *own = *slope);
        }
        if let Some(Constraints { along, twice, .. }) = constraints {
            let n = x.q.len();
            let of_positions = level == Level::Position;
            if of_motion || of_rows && of_positions {
                let factor = |row: usize| Jet { re: x.lambda[row], eps: [if of_positions { c[row] } else { 0.0 }] };
                let q = |j: usize| Jet { re: x.q[j], eps: [d[j]] };
                let slopes = along.derivatives(model, Jet::from(*t), q, |k| Jet::from(u[k]), factor);
                slopes.for_each(|(i, slope)| sum[i - n] += slope.eps[0]);
            }
            if of_rows && !of_positions {
                // the product of which both directions are read off has the level's own part of C
                let factor = |row: usize| match level {
                    Level::Velocity => Jet { re: Jet::from(0.0), eps: [Jet::from(c[row])] },
                    _ => Jet::from(c[row]),
                };
                let q = |j: usize| along_motion(x.q[j], x.v[j], x.a[j]);
                let slopes = twice.derivatives(model, time(*t), q, |k| Jet::from(u[k]), factor);
                slopes.for_each(|(i, slope)| sum[i - n] += slope.eps[0].eps[0]);
            }
        }
        Reverse::give(sum, scale, by_parameters)
    }

    /// Adds ∂D/∂u and ∂C/∂u applied to a tangent.
    pub(crate) fn push_forward(
        &mut self,
        model: &dyn Functions,
        u: &[f64],
        tangent: &[f64],
        time_derivatives: &mut TimeDerivatives,
        [dynamics, constraint]: [&mut [f64]; 2],
    ) {
        if tangent.iter().all(|u| *u == 0.0) {
            return;
        }
        let Equations { forces, level } = self.weights.equations;
        let Reverse { here: Here { t, x }, motion, constraints, is_swept, .. } = self;
        if let Some((motion, _)) = motion.as_ref().filter(|_| *is_swept) {
            dynamics[0] += motion.last().iter().zip(tangent).map(|(slope, u)| slope * u).sum::<f64>();
        } else if let Some((_, motion)) = motion {
            motion.set_parameters(|k| Jet { re: u[k], eps: [tangent[k]] });
            motion.evaluate(model, *t, forces, |part, i| Jet::from(x.part(part)[i]));
            dynamics.iter_mut().zip(&motion.force).for_each(|(d, force)| *d -= force.re.eps[0]);
            for &(row, column) in &motion.mass_entries {
                dynamics[row] += motion.mass[(row, column)].re.eps[0] * x.a[column];
            }
        }
        if let Some(Constraints { by_coordinates, .. }) = constraints {
            let along = |k: usize| Jet { re: u[k], eps: [tangent[k]] };
            let factor = |row: usize| Jet::from(x.lambda[row]);
            let slopes = by_coordinates.derivatives(model, Jet::from(*t), |j| Jet::from(x.q[j]), along, factor);
            slopes.for_each(|(j, slope)| dynamics[j] += slope.eps[0]);
            match level {
                Level::Position => {
                    constraint.iter_mut().zip(&by_coordinates.c).for_each(|(own, c)| *own += c.re.eps[0]);
                }
                level => {
                    let (x, _) = self.point();
                    time_derivatives.along_parameters(model, level, &x, u, tangent, constraint);
                }
            }
        }
    }

    /// Adds `scale` times the derivatives by parameters of ∂_X (dᵀ D + cᵀ C), and those by a that come with a mass that depends on
    /// parameters alone. Only C itself is meant.
    pub(crate) fn curvature(
        &mut self,
        model: &dyn Functions,
        (point, u): (&Point<'_>, &[f64]),
        forces: bool,
        (scale, [d, c]): (f64, [&[f64]; 2]),
        tangent: &StateVector,
        cotangent: &mut StateVector,
    ) {
        self.here.take(point);
        let Reverse { here: Here { t, x }, motion, constraints, .. } = self;
        if let Some((_, motion)) = motion {
            motion.set_parameters(|k| Jet { re: u[k], eps: [tangent.u[k]] });
            motion.evaluate(model, *t, forces, |part, i| dual(x, u, tangent, part, i));
            let slopes = motion.derivatives(d, |j| Jet { re: x.a[j], eps: [tangent.a[j]] });
            cotangent.u.iter_mut().zip(slopes).for_each(|(own, slope)| *own += scale * slope.eps[0]);
            for &(row, column) in motion.mass_entries.iter().filter(|_| !motion.mass_by_position) {
                cotangent.a[column] += scale * d[row] * motion.mass[(row, column)].re.eps[0];
            }
        }
        if let Some(Constraints { twice, .. }) = constraints {
            let factor = |row: usize| Jet {
                re: Jet { re: x.lambda[row], eps: [tangent.lambda[row]] },
                eps: [Jet::from(c[row])],
            };
            let q = |j: usize| Jet { re: Jet { re: x.q[j], eps: [tangent.q[j]] }, eps: [Jet::from(d[j])] };
            let along = |k: usize| Jet::constant(Jet { re: u[k], eps: [tangent.u[k]] });
            let slopes = twice.derivatives(model, Square::<1>::from(*t), q, along, factor);
            slopes.for_each(|(i, slope)| cotangent.u[i - x.q.len()] += scale * slope.eps[0].eps[0]);
        }
    }

    /// Adds the derivatives of ȳᵀ y by parameters; or says that one of them is not finite, and adds nothing.
    #[must_use]
    pub(crate) fn output_pull_back(
        &mut self,
        model: &dyn Functions,
        u: &[f64],
        y: &[f64],
        by_parameters: &mut [f64],
    ) -> bool {
        let Reverse { sizes, output_here: Here { t, x }, outputs, sum, .. } = self;
        let Some((outputs, _)) = outputs else { return true };
        sum.fill(0.0);
        outputs.evaluate(model, *sizes, *t, |part, i| entry(x, u, part, i));
        sum.iter_mut().zip(outputs.derivatives(y)).for_each(|(own, slope)| *own += slope);
        Reverse::give(sum, 1.0, by_parameters)
    }

    /// Adds ∂y/∂u applied to a tangent.
    pub(crate) fn output_push_forward(&mut self, model: &dyn Functions, u: &[f64], tangent: &[f64], y: &mut [f64]) {
        let Reverse { sizes, output_here: Here { t, x }, outputs, .. } = self;
        let Some((_, outputs)) = outputs.as_mut().filter(|_| tangent.iter().any(|u| *u != 0.0)) else { return };
        outputs.evaluate(model, *sizes, *t, |part, i| match part {
            StatePart::Parameter => Jet { re: u[i], eps: [tangent[i]] },
            part => Jet::from(entry(x, u, part, i)),
        });
        y.iter_mut().zip(&outputs.y).for_each(|(y, own)| *y += own.re.eps[0]);
    }

    /// Adds the derivatives of ∂_X (ȳᵀ y) by parameters.
    pub(crate) fn output_curvature(
        &mut self,
        model: &dyn Functions,
        (point, u): (&OutputPoint<'_>, &[f64]),
        y: &[f64],
        tangent: &StateVector,
        by_parameters: &mut [f64],
    ) {
        self.take_output(point);
        let Reverse { sizes, output_here: Here { t, x }, outputs, .. } = self;
        let Some((_, outputs)) = outputs else { return };
        outputs.evaluate(model, *sizes, *t, |part, i| dual(x, u, tangent, part, i));
        let slopes = outputs.derivatives(y);
        by_parameters.iter_mut().zip(slopes).for_each(|(own, slope)| *own += slope.eps[0]);
    }
}
