//! The pieces of a step's products with cotangents and tangents, and their derivatives along directions.

use super::{Coefficients, HhtStepper};
use crate::scheme::Direction;
use crate::system::{Equations, Evaluator, OutputPoint, Point, StateVector};

impl HhtStepper {
    /// With the multipliers (w, μ) of a step in `r`: from the cotangent of its end to that of its beginning.
    pub(super) fn pull_equations(
        &mut self,
        system: &mut dyn Evaluator,
        k: &Coefficients,
        h: f64,
        bar: &mut StateVector,
    ) {
        let n = self.layout.n;
        let (dynamics, constraint) = self.r.split_at(n);
        if self.literal {
            self.saved.copy_from_slice(&bar.a);
        }
        system.pull_back(-1.0, dynamics, constraint, bar);
        if self.literal {
            bar.a.copy_from_slice(&self.saved);
            bar.memory.iter_mut().zip(dynamics).for_each(|(g, w)| *g = k.c2 * w);
        }
        for j in 0..n {
            bar.a[j] *= k.c2;
            bar.a_scheme[j] = k.q_by_a * bar.q[j] + k.v_by_a * bar.v[j];
            bar.v[j] += h * bar.q[j];
        }
        bar.lambda.fill(0.0);
    }

    /// Second derivatives of the step's equations, weighed with the multipliers in `r`, along each direction.
    pub(super) fn curve(
        &mut self,
        system: &mut dyn Evaluator,
        k: &Coefficients,
        x: &OutputPoint<'_>,
        directions: &mut [Direction],
    ) {
        let n = self.layout.n;
        // `inertial` has been set by `linearise`
        let point = Point { t: x.t, q: x.q, v: x.v, a: &self.inertial, lambda: x.lambda, w: x.w };
        let (dynamics, constraint) = self.r.split_at(n);
        for Direction { tangent, cotangent } in directions {
            if self.literal {
                // M multiplies a_i / (1+α) alone, and the consistent acceleration has no part in the equations
                self.saved.copy_from_slice(&tangent.a);
                tangent.a.iter_mut().zip(&tangent.a_scheme).for_each(|(a, scheme)| *a = k.c1 * scheme);
                let consistent = std::mem::replace(&mut cotangent.a, std::mem::take(&mut self.spare));
                cotangent.a.fill(0.0);
                system.curvature(&point, Equations::MOTION, -1.0, [dynamics, constraint], tangent, cotangent);
                cotangent.a_scheme.iter_mut().zip(&cotangent.a).for_each(|(scheme, a)| *scheme += k.c1 * a);
                self.spare = std::mem::replace(&mut cotangent.a, consistent);
                tangent.a.copy_from_slice(&self.saved);
            } else {
                system.curvature(&point, Equations::MOTION, -1.0, [dynamics, constraint], tangent, cotangent);
            }
        }
    }

    /// With derivatives of g in place: from the cotangent of g to that of the state, and the same along directions.
    pub(super) fn pull_force(
        &mut self,
        system: &mut dyn Evaluator,
        point: &Point<'_>,
        no_rows: &[f64],
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) {
        let memory = std::mem::take(&mut bar.memory);
        for Direction { tangent, cotangent } in directions {
            self.saved.copy_from_slice(&cotangent.a);
            let own = std::mem::take(&mut cotangent.memory);
            system.pull_back(1.0, &own, no_rows, cotangent);
            cotangent.memory = own;
            // g has no acceleration in it
            let a = std::mem::replace(&mut tangent.a, std::mem::take(&mut self.spare));
            tangent.a.fill(0.0);
            system.curvature(point, Equations::MOTION, 1.0, [&memory, no_rows], tangent, cotangent);
            self.spare = std::mem::replace(&mut tangent.a, a);
            cotangent.a.copy_from_slice(&self.saved);
        }
        self.saved.copy_from_slice(&bar.a);
        system.pull_back(1.0, &memory, no_rows, bar);
        bar.a.copy_from_slice(&self.saved);
        bar.memory = memory;
    }

    /// With derivatives of g in place: the tangent of g.
    pub(super) fn push_force(&mut self, system: &mut dyn Evaluator, x: &mut StateVector) {
        let n = self.layout.n;
        self.saved.copy_from_slice(&x.a);
        x.a.fill(0.0);
        self.r.fill(0.0);
        let (dynamics, constraint) = self.r.split_at_mut(n);
        system.push_forward(x, dynamics, constraint);
        x.a.copy_from_slice(&self.saved);
        x.memory.copy_from_slice(dynamics);
    }
}
