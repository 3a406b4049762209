//! Inertia of a rigid body: six entries of the tensor, or six numbers of which every choice is possible for a body.

use costate::sketch::{Mass, MassAt};
use costate::value::Value;
use costate::vector::Vector;
use costate::{Error, Number, Result};
use nalgebra::{Matrix3, SymmetricEigen};

/// The inertia tensor about the centre of mass, in the body's axes.
#[derive(Debug, Clone)]
pub struct Inertia {
    pub(super) form: Form,
    pub(super) values: [Value; 6],
}

/// The meaning of the six numbers of an inertia.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// I_11, I_22, I_33, I_12, I_13, I_23.
    Entries,
    /// ln L_11, ln L_22, ln L_33, L_21, L_31, L_32.
    Factors,
    /// Entries about the reference point, beside the first moments of mass.
    Moments,
    /// d_1, d_2, d_3, s_12, s_13, s_23 of the pseudo-inertia, beside α and t.
    PseudoInertia,
}

/// The mass, the first moments of mass, and the tensor about the reference point.
pub(super) struct Whole<D> {
    pub mass: D,
    pub moment: Vector<D>,
    pub inertia: [Vector<D>; 3],
}

/// Subtracts what the mass at a place contributes to a tensor, or adds it, by the sign of the mass.
#[inline]
fn shift<D: Number>(inertia: &mut [Vector<D>; 3], mass: D, center: Vector<D>) {
    let square = center.dot(center);
    for (k, row) in inertia.iter_mut().enumerate() {
        *row += center * (-mass * center.0[k]);
        row.0[k] += mass * square;
    }
}

impl Form {
    /// True if mass and centre are split off: then six numbers are the tensor about the centre of mass.
    pub fn is_split(self) -> bool {
        matches!(self, Form::Entries | Form::Factors)
    }

    /// The tensor about the centre of mass, row by row, of a form that is split.
    #[inline]
    pub fn tensor<D: Number>(self, u: &[D]) -> [Vector<D>; 3] {
        let u = [u[0], u[1], u[2], u[3], u[4], u[5]];
        if self == Form::Factors { symmetric(entries_of_factors(u)) } else { symmetric(u) }
    }

    /// What ten numbers mean: the mass, six of the inertia, three of the centre.
    #[inline]
    pub fn whole<D: Number>(self, u: &[D], centred: bool) -> Whole<D> {
        match self {
            Form::Entries | Form::Factors => {
                let (mut inertia, mass, center) = (self.tensor(&u[1..7]), u[0], Vector::of(&u[7..]));
                if centred {
                    return Whole { mass, moment: Vector::zero(), inertia };
                }
                shift(&mut inertia, mass, center);
                Whole { mass, moment: center * mass, inertia }
            }
            Form::Moments => Whole { mass: u[0], moment: Vector::of(&u[7..]), inertia: self.tensor(&u[1..7]) },
            Form::PseudoInertia => {
                let all = moments_of_factors([u[0], u[1], u[2], u[3], u[4], u[5], u[6], u[7], u[8], u[9]]);
                let [mass, x, y, z, entries @ ..] = all;
                Whole { mass, moment: Vector([x, y, z]), inertia: symmetric(entries) }
            }
        }
    }

    /// The centre of mass, and the tensor about it.
    pub fn about_center<D: Number>(self, u: &[D]) -> (D, Vector<D>, [Vector<D>; 3]) {
        if self.is_split() {
            return (u[0], Vector::of(&u[7..]), self.tensor(&u[1..7]));
        }
        let Whole { mass, moment, mut inertia } = self.whole(u, false);
        let center = if mass == 0.0 { Vector::zero() } else { moment * (D::from(1.0) / mass) };
        shift(&mut inertia, -mass, center);
        (mass, center, inertia)
    }
}

/// Mass m (kg), first moments m c (kg m) and entries I_11, I_22, I_33, I_12, I_13, I_23 of the tensor about the reference point (kg m²) of the
/// body with the factors α, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3; see [`super::Body::of_factors`].
pub fn moments_of_factors<D: Number>([alpha, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3]: [D; 10]) -> [D; 10] {
    let (mass, a, b, c) = ((alpha * 2.0).exp(), d_1.exp(), d_2.exp(), d_3.exp());
    let xx = mass * (a * a + s_12 * s_12 + s_13 * s_13 + t_1 * t_1);
    let yy = mass * (b * b + s_23 * s_23 + t_2 * t_2);
    let zz = mass * (c * c + t_3 * t_3);
    let xy = mass * (s_12 * b + s_13 * s_23 + t_1 * t_2);
    let (xz, yz) = (mass * (s_13 * c + t_1 * t_3), mass * (s_23 * c + t_2 * t_3));
    [mass, mass * t_1, mass * t_2, mass * t_3, yy + zz, xx + zz, xx + yy, -xy, -xz, -yz]
}

/// The factors α, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3 of the body with mass, first moments and tensor about its reference point in
/// the order of [`moments_of_factors`].
///
/// # Errors
/// Moments that no body has, see [`check`], or those of a flat body, a rod or a point, whose factors are infinite.
pub fn factors_of_moments(moments: [f64; 10]) -> Result<[f64; 10]> {
    check_moments(moments)?;
    let [mass, x, y, z, xx, yy, zz, xy, xz, yz] = moments;
    let half = 0.5 * (xx + yy + zz);
    let t = [x, y, z].map(|moment| moment / mass);
    // second moments about the centre a unit of mass
    let at = |entry: f64, i: usize, j: usize| entry / mass - t[i] * t[j];
    let (s_33, s_23, s_13) = (at(half - zz, 2, 2), at(-yz, 1, 2), at(-xz, 0, 2));
    let c = s_33.sqrt();
    let (by, bx) = (s_23 / c, s_13 / c);
    let b = (at(half - yy, 1, 1) - by * by).sqrt();
    let s_12 = (at(-xy, 0, 1) - bx * by) / b;
    let a = (at(half - xx, 0, 0) - s_12 * s_12 - bx * bx).sqrt();
    let factors = [0.5 * mass.ln(), a.ln(), b.ln(), c.ln(), s_12, bx, by, t[0], t[1], t[2]];
    if factors.iter().any(|factor| !factor.is_finite()) {
        let problem = "the body is flat: all its mass lies in a plane, on a line or in a point";
        let subject = format!("the inertia of a mass of {mass} kg");
        return Err(Error::invalid(subject, problem, "give it some thickness, or use the moments themselves"));
    }
    Ok(factors)
}

/// Checks that a body can have this mass, these first moments and this tensor about its reference point, in the order of
/// [`moments_of_factors`].
///
/// # Errors
/// A mass that is not positive, or as [`check`], about the centre of mass.
pub fn check_moments(moments: [f64; 10]) -> Result<()> {
    let [mass, x, y, z, entries @ ..] = moments;
    if !(mass > 0.0 && moments.iter().all(|number| number.is_finite())) {
        let problem = format!("its mass is {mass} kg, or another of its ten numbers is not finite");
        return Err(Error::invalid("an inertia about a reference point", problem, "give a positive mass, and numbers"));
    }
    let mut inertia = symmetric(entries);
    shift(&mut inertia, -mass, Vector([x, y, z]) * (1.0 / mass));
    check(moved_entries(&inertia, mass, [x, y, z].map(|moment| moment / mass)))
}

/// Round-off of a tensor that was moved to the centre of mass, beside what the mass made of it before.
const SHIFT_ROUND_OFF: f64 = 1e-14;

/// Entries of a tensor that was moved to the centre of mass; those that cancelled but for round-off are zero: a point has no inertia about itself.
fn moved_entries(tensor: &[Vector<f64>; 3], mass: f64, center: [f64; 3]) -> [f64; 6] {
    let size = SHIFT_ROUND_OFF * mass * center.iter().map(|x| x * x).sum::<f64>();
    entries_of(tensor).map(|entry| if entry.abs() <= size { 0.0 } else { entry })
}

fn entries_of(tensor: &[Vector<f64>; 3]) -> [f64; 6] {
    let [a, b, c] = tensor.each_ref().map(|row| row.0);
    [a[0], b[1], c[2], a[1], a[2], b[2]]
}

#[inline]
fn symmetric<D: Number>([xx, yy, zz, xy, xz, yz]: [D; 6]) -> [Vector<D>; 3] {
    [Vector([xx, xy, xz]), Vector([xy, yy, yz]), Vector([xz, yz, zz])]
}

/// Entries I_11, I_22, I_33, I_12, I_13, I_23 (kg m²) of the tensor with the factors ln L_11, ln L_22, ln L_33, L_21, L_31,
/// L_32; see [`Inertia::factors`].
pub fn entries_of_factors<D: Number>([l_1, l_2, l_3, l_21, l_31, l_32]: [D; 6]) -> [D; 6] {
    let (a, b, c) = (l_1.exp(), l_2.exp(), l_3.exp());
    let (xx, yy, zz) = (a * a, l_21 * l_21 + b * b, l_31 * l_31 + l_32 * l_32 + c * c);
    let (xy, xz, yz) = (a * l_21, a * l_31, l_21 * l_31 + b * l_32);
    [yy + zz, xx + zz, xx + yy, -xy, -xz, -yz]
}

/// The factors ln L_11, ln L_22, ln L_33, L_21, L_31, L_32 of the tensor with these entries; see [`Inertia::factors`].
///
/// # Errors
/// A tensor that no body has, see [`check`], or that of a flat body or a rod, whose factors are infinite.
pub fn factors_of_entries(entries: [f64; 6]) -> Result<[f64; 6]> {
    check(entries)?;
    let [xx, yy, zz, xy, xz, yz] = entries;
    let half = 0.5 * (xx + yy + zz);
    let moments = Matrix3::new(half - xx, -xy, -xz, -xy, half - yy, -yz, -xz, -yz, half - zz);
    let Some(factor) = moments.cholesky() else {
        let problem = "the body is flat: all its mass lies in a plane";
        return Err(Error::invalid(subject(entries), problem, "give it some thickness, or use the entries themselves"));
    };
    let l = factor.l();
    Ok([l[(0, 0)].ln(), l[(1, 1)].ln(), l[(2, 2)].ln(), l[(1, 0)], l[(2, 0)], l[(2, 1)]])
}

fn subject(entries: [f64; 6]) -> String {
    let [xx, yy, zz, xy, xz, yz] = entries;
    format!("inertia ({xx}, {yy}, {zz}, {xy}, {xz}, {yz}) kg m^2")
}

/// Round-off in entries, as a part of the largest principal moment. Rods and discs are at the limit.
const ROUND_OFF: f64 = 1e-9;

/// Checks that a body can have the inertia with entries I_11, I_22, I_33, I_12, I_13, I_23 (kg m²) about its centre of mass: no
/// principal moment is negative, and none exceeds the sum of the others.
///
/// ```
/// let error = costate_parts::spatial::check_inertia([1.0, 1.0, 3.0, 0.0, 0.0, 0.0]).unwrap_err();
/// assert!(error.to_string().contains("1 kg m^2 more than the other two together"));
/// ```
///
/// # Errors
/// Says which of them does not hold, by how much, and about which axis.
pub fn check(entries: [f64; 6]) -> Result<()> {
    if entries.iter().any(|entry| !entry.is_finite()) {
        return Err(Error::invalid(subject(entries), "one of its entries is not finite", "give numbers"));
    }
    let [xx, yy, zz, xy, xz, yz] = entries;
    let eigen = SymmetricEigen::new(Matrix3::new(xx, xy, xz, xy, yy, yz, xz, yz, zz));
    let largest = eigen.eigenvalues.amax();
    let total: f64 = eigen.eigenvalues.iter().sum();
    let remedy = "these are entries of the tensor about the centre of mass: compare signs of the products and the point of \
                  reference (`Inertia::factors` takes no impossible values)";
    let named = |k: usize| {
        let axis = eigen.eigenvectors.column(k);
        // the larger part of the axis points forwards
        let sign = if axis[axis.iamax()] < 0.0 { -1.0 } else { 1.0 };
        let axis = axis.iter().map(|x| format!("{:.3}", sign * x + 0.0)).collect::<Vec<_>>().join(", ");
        format!("the moment about its axis ({axis}) is")
    };
    let (smallest, greatest) = (eigen.eigenvalues.imin(), eigen.eigenvalues.imax());
    let least = eigen.eigenvalues[smallest];
    if least < -ROUND_OFF * largest {
        let problem = format!("{} {least:.6}, less than nothing", named(smallest));
        return Err(Error::invalid(subject(entries), problem, remedy));
    }
    let excess = 2.0 * eigen.eigenvalues[greatest] - total;
    if excess > ROUND_OFF * largest {
        let excess = format!("{excess:.6}");
        let excess = excess.trim_end_matches('0').trim_end_matches('.');
        let problem = format!("{} {excess} kg m^2 more than the other two together", named(greatest));
        return Err(Error::invalid(subject(entries), problem, remedy));
    }
    Ok(())
}

fn values<V: Into<Value>>(values: [V; 6]) -> [Value; 6] {
    values.map(Into::into)
}

impl Inertia {
    /// An inertia by the entries I_11, I_22, I_33, I_12, I_13, I_23 of the tensor, kg m²: I_12 is minus the integral of x y dm.
    pub fn entries<V: Into<Value>>(entries: [V; 6]) -> Self {
        Inertia { form: Form::Entries, values: values(entries) }
    }

    /// An inertia by its principal moments about the body's axes, kg m².
    pub fn diagonal<V: Into<Value>>(moments: [V; 3]) -> Self {
        let [x, y, z] = moments.map(Into::into);
        let zero = || Value::from(0.0);
        Inertia { form: Form::Entries, values: [x, y, z, zero(), zero(), zero()] }
    }

    /// An inertia by the Cholesky factor of the second moments of mass Σ = ∫ r rᵀ dm = L Lᵀ (kg m²), with I = tr(Σ) 1 - Σ: the numbers
    /// are ln L_11, ln L_22, ln L_33 (L in √kg m), L_21, L_31, L_32 (√kg m).
    ///
    /// Whatever they are, there is a body with that inertia: with a positive mass and any centre of mass, this is the
    /// log-Cholesky form of the pseudo-inertia matrix (Rucker & Wensing 2022), with mass and centre split off.
    /// [`factors_of_entries`](super::factors_of_entries) and [`entries_of_factors`](super::entries_of_factors) go to and fro.
    pub fn factors<V: Into<Value>>(factors: [V; 6]) -> Self {
        Inertia { form: Form::Factors, values: values(factors) }
    }

    /// What a body weighs, for pictures and results.
    pub(super) fn mass_at(&self, mass: Value, center: [Value; 3]) -> MassAt {
        let own = self.clone();
        MassAt::of(move |u| own.about_center(mass, center, u))
    }

    /// Mass, centre of mass, and entries of the tensor about it, with these parameters.
    pub(super) fn about_center(&self, mass: Value, center: [Value; 3], u: &[f64]) -> Mass {
        let numbers: Vec<f64> =
            [mass].iter().chain(&self.values).chain(&center).map(|value| value.evaluate(u)).collect();
        let (mass, center, tensor) = self.form.about_center(&numbers);
        let inertia = if self.form.is_split() { entries_of(&tensor) } else { moved_entries(&tensor, mass, center.0) };
        Mass { mass, center: center.0, inertia }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the parameterisation: it goes to and fro, and any six numbers make a possible tensor.
    #[test]
    fn factors_and_entries() -> Result<()> {
        let entries = [132.285, 162.054, 92.809, 22.382, -42.342, 2.689];
        let factors = factors_of_entries(entries)?;
        for (there, back) in entries.iter().zip(entries_of_factors(factors)) {
            assert!((there - back).abs() < 1e-13 * 162.0, "{there} {back}");
        }
        for factors in [[0.0; 6], [-3.0, 2.0, 0.5, 7.0, -9.0, 0.1], [1.0, -5.0, -5.0, 30.0, 2.0, 3.0]] {
            check(entries_of_factors(factors))?;
        }
        Ok(())
    }

    /// Protects ten numbers of a body: factors and moments go to and fro, any ten factors make a possible body, impossible moments are refused.
    #[test]
    fn factors_and_moments() -> Result<()> {
        let moments = [2.7, 0.1, -0.162, 0.351, 0.08, 0.062, 0.031, 0.004, -0.013, 0.02];
        let factors = factors_of_moments(moments)?;
        for (there, back) in moments.iter().zip(moments_of_factors(factors)) {
            assert!((there - back).abs() < 1e-15, "{there} {back}");
        }
        for factors in [[0.0; 10], [0.3, -3.0, 2.0, 0.5, 7.0, -9.0, 0.1, 4.0, -2.0, 0.7]] {
            check_moments(moments_of_factors(factors))?;
        }
        let without = |k: usize, value: f64| {
            let mut moments = moments;
            moments[k] = value;
            check_moments(moments).unwrap_err().to_string()
        };
        assert!(without(0, 0.0).contains("its mass is 0 kg"), "{}", without(0, 0.0));
        assert!(without(4, 0.02).contains("less than nothing"), "{}", without(4, 0.02));
        assert!(without(6, 0.3).contains("more than the other two"), "{}", without(6, 0.3));
        let point = factors_of_moments([1.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0, 0.0]).unwrap_err();
        assert!(point.to_string().contains("flat"), "{point}");
        Ok(())
    }

    /// Protects messages: what is wrong with a tensor, by how much, about which axis.
    #[test]
    fn impossible_tensors_are_explained() {
        let message = |entries: [f64; 6]| check(entries).unwrap_err().to_string();
        assert!(message([1.0, 2.0, 2.0, 1.8, 0.0, 0.0]).contains("less than nothing"));
        let long = message([1.0, 2.0, 3.5, 0.0, 0.0, 0.0]);
        assert!(long.contains("axis (0.000, 0.000, 1.000) is 0.5 kg m^2 more"), "{long}");
        assert!(message([1.0, f64::NAN, 1.0, 0.0, 0.0, 0.0]).contains("not finite"));
        // a disc and a rod are at the limit, but possible; factors would be infinite
        assert!(check([1.0, 1.0, 2.0, 0.0, 0.0, 0.0]).is_ok() && check([1.0, 1.0, 0.0, 0.0, 0.0, 0.0]).is_ok());
        assert!(factors_of_entries([1.0, 1.0, 2.0, 0.0, 0.0, 0.0]).unwrap_err().to_string().contains("flat"));
    }
}
