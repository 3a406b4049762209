//! Derivatives that an element knows in closed form, in the place of dual numbers.

use super::element::{Element, Local};
use costate::linearise::Functions;
use std::any::Any;

/// Constraints that an element differentiates itself.
///
/// They must be those of [`Element::constraint`], which goes on to tell all else: derivatives by parameters, by time and along motions.
pub trait ClosedConstraint {
    /// The coordinates in which the constraints are not linear, in ascending order. Where others are found in
    /// [`Element::constraint`], dual numbers are taken.
    fn curved(&self) -> Vec<usize>;

    /// The constraints with their derivatives at positions `q`, for parameters `u`. Every entry is to be filled.
    fn differentiate(&self, q: &[f64], u: &[f64], to: ConstraintSlopes<'_>);
}

/// Constraints with derivatives by the coordinates in which they are not linear.
pub struct ConstraintSlopes<'a> {
    /// C, one entry a row.
    pub value: &'a mut [f64],
    /// dC, rows x curved coordinates.
    pub slopes: &'a mut [f64],
    /// Multipliers λ with λᵀ d²C, curved coordinates x curved coordinates; not always asked for.
    pub curvature: Option<(&'a [f64], &'a mut [f64])>,
}

/// Equations of motion D = M a - Q that an element differentiates itself.
///
/// They must be those of [`Element::mass`] and [`Element::force`], which go on to tell all else, and without time and inputs.
pub trait ClosedMotion {
    /// True if it differentiates by this parameter. Where one enters that it does not know, dual numbers are taken for all but
    /// Newton's matrix.
    fn knows(&self, parameter: usize) -> bool;

    /// D with its derivatives at positions, velocities and accelerations (q, v, a), for parameters `u`. All entries that can be other
    /// than zero are to be filled; the others are zero.
    fn differentiate(&self, x: [&[f64]; 3], u: &[f64], to: MotionSlopes<'_>);
}

/// D = M a - Q with derivatives, row by row.
pub struct MotionSlopes<'a> {
    /// D, one entry a coordinate.
    pub value: &'a mut [f64],
    /// dD/da = M, coordinates x coordinates.
    pub mass: &'a mut [f64],
    /// dD/dq, coordinates x coordinates.
    pub by_position: &'a mut [f64],
    /// dD/dv, coordinates x coordinates.
    pub by_velocity: &'a mut [f64],
    /// Parameters whose derivatives are asked for, in ascending order, and dD/du, coordinates x all parameters.
    pub by_parameter: Option<(&'a [usize], &'a mut [f64])>,
}

/// An element as the derivative kernels see it, with what it knows itself.
pub(super) trait BatchElement: Functions {
    fn closed_constraint(&self) -> Option<&dyn ClosedConstraint>;
    fn closed_motion(&self) -> Option<&dyn ClosedMotion>;
    /// A list for elements of this type, with nothing in it yet.
    fn list(&self) -> Box<dyn BatchElements>;
    /// True if a list is one for elements of this type.
    fn belongs_in(&self, list: &dyn BatchElements) -> bool;
    /// Puts it behind the others in a list where it belongs.
    fn put_into(self: Box<Self>, list: &mut dyn BatchElements);
}

/// Elements of one type, one behind another in memory: what a long chain goes through at every step lies close together.
pub(super) trait BatchElements: Any + Send + Sync {
    fn get(&self, e: usize) -> &dyn BatchElement;
    fn len(&self) -> usize;
}

impl dyn BatchElements {
    pub fn iter(&self) -> impl Iterator<Item = &dyn BatchElement> {
        (0..self.len()).map(|e| self.get(e))
    }
}

impl<E: Element> BatchElements for Vec<Local<E>> {
    #[inline]
    fn get(&self, e: usize) -> &dyn BatchElement {
        &self[e]
    }

    fn len(&self) -> usize {
        Vec::len(self)
    }
}

impl<E: Element> BatchElement for Local<E> {
    #[inline]
    fn closed_constraint(&self) -> Option<&dyn ClosedConstraint> {
        self.element.closed_constraint()
    }

    #[inline]
    fn closed_motion(&self) -> Option<&dyn ClosedMotion> {
        self.element.closed_motion()
    }

    fn list(&self) -> Box<dyn BatchElements> {
        Box::new(Vec::<Self>::new())
    }

    fn belongs_in(&self, list: &dyn BatchElements) -> bool {
        let list: &dyn Any = list;
        list.is::<Vec<Self>>()
    }

    fn put_into(self: Box<Self>, list: &mut dyn BatchElements) {
        let list: &mut dyn Any = list;
        // it belongs there
        if let Some(list) = list.downcast_mut::<Vec<Self>>() {
            list.push(*self);
        }
    }
}

/// Dual numbers that tests compare closed forms with.
#[cfg(test)]
pub(crate) mod against_dual_numbers {
    use super::super::element::Element;
    use super::{ConstraintSlopes, MotionSlopes};
    use costate::Matrix;
    use costate::number::Jet;

    type Second = Jet<Jet<f64, 1>, 1>;

    /// All entries are as large as these or smaller.
    fn assert_close(name: &str, own: &[f64], expected: &[f64]) {
        let size = expected.iter().fold(1.0f64, |size, x| size.max(x.abs()));
        for (k, (own, expected)) in own.iter().zip(expected).enumerate() {
            assert!((own - expected).abs() <= 1e-14 * size, "{name}[{k}]: {own} {expected}");
        }
    }

    /// Constraints with first and second derivatives.
    pub(crate) fn check_constraint<E: Element>(element: &E, q: &[f64], u: &[f64], lambda: &[f64]) {
        let own = element.closed_constraint().unwrap();
        let (curved, rows) = (own.curved(), lambda.len());
        let count = curved.len();
        let parameters: Vec<Second> = u.iter().map(|&u| Second::from(u)).collect();
        let (mut value, mut slopes) = (vec![0.0; rows], vec![0.0; rows * count]);
        let mut curvature = vec![0.0; count * count];
        for (i, &first) in curved.iter().enumerate() {
            for (j, &second) in curved.iter().enumerate() {
                let mut numbers: Vec<Second> = q.iter().map(|&q| Second::from(q)).collect();
                numbers[first].re.eps[0] = 1.0;
                numbers[second].eps[0].re = 1.0;
                let mut c = vec![Second::from(0.0); rows];
                element.constraint(Second::from(0.0), &numbers, &parameters, &mut c);
                for (row, c) in c.iter().enumerate() {
                    (value[row], slopes[row * count + i]) = (c.re.re, c.re.eps[0]);
                    curvature[i * count + j] += lambda[row] * c.eps[0].eps[0];
                }
            }
        }
        for second in [false, true] {
            let [mut c, mut first, mut both] = [rows, rows * count, count * count].map(|count| vec![f64::NAN; count]);
            let asked = second.then_some((lambda, &mut both[..]));
            own.differentiate(q, u, ConstraintSlopes { value: &mut c, slopes: &mut first, curvature: asked });
            assert_close("C", &c, &value);
            assert_close("dC", &first, &slopes);
            if second {
                assert_close("d²C", &both, &curvature);
            }
        }
    }

    /// Equations of motion with first derivatives.
    pub(crate) fn check_motion<E: Element>(element: &E, x: [&[f64]; 3], u: &[f64]) {
        let own = element.closed_motion().unwrap();
        let (n, p) = (x[0].len(), u.len());
        let [mut value, mut slopes] = [n, n * (3 * n + p)].map(|count| vec![0.0; count]);
        for variable in 0..3 * n + p {
            let all = [x[0], x[1], x[2], u].concat();
            let mut numbers: Vec<Jet<f64, 1>> = all.into_iter().map(Jet::constant).collect();
            numbers[variable].eps[0] = 1.0;
            let (state, u) = numbers.split_at(3 * n);
            let (mut mass, mut force) = (Matrix::filled(n, n, Jet::constant(0.0)), vec![Jet::constant(0.0); n]);
            element.mass(&state[..n], u, &mut mass);
            element.force(Jet::constant(0.0), &state[..n], &state[n..2 * n], &[], u, &mut force);
            for row in 0..n {
                let inertia: Jet<f64, 1> = (0..n).map(|j| mass[(row, j)] * state[2 * n + j]).sum();
                let d = inertia - force[row];
                (value[row], slopes[variable * n + row]) = (d.re, d.eps[0]);
            }
        }
        let by = |first: usize, count: usize, knows: &dyn Fn(usize) -> bool| -> Vec<f64> {
            let entry = |row: usize, j: usize| if knows(j) { slopes[(first + j) * n + row] } else { 0.0 };
            (0..n).flat_map(|row| (0..count).map(move |j| (row, j))).map(|(row, j)| entry(row, j)).collect()
        };
        for with_parameters in [false, true] {
            // what is not filled stays zero
            let [mut d, mut mass, mut by_position, mut by_velocity, mut by_parameter] =
                [n, n * n, n * n, n * n, n * p].map(|count| vec![0.0; count]);
            let known: Vec<usize> = (0..p).filter(|k| own.knows(*k)).collect();
            let asked = with_parameters.then_some((&known[..], &mut by_parameter[..]));
            let to = MotionSlopes {
                value: &mut d,
                mass: &mut mass,
                by_position: &mut by_position,
                by_velocity: &mut by_velocity,
                by_parameter: asked,
            };
            own.differentiate(x, u, to);
            assert_close("D", &d, &value);
            assert_close("dD/dq", &by_position, &by(0, n, &|_| true));
            assert_close("dD/dv", &by_velocity, &by(n, n, &|_| true));
            assert_close("M", &mass, &by(2 * n, n, &|_| true));
            if with_parameters {
                assert_close("dD/du", &by_parameter, &by(3 * n, p, &|k| own.knows(k)));
            }
        }
    }
}
