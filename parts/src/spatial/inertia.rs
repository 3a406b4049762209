//! Inertia of a rigid body: six entries of the tensor, or six numbers of which every choice is possible for a body.

use costate::number::Number;
use costate::sketch::Tensor;
use costate::value::Value;
use costate::vector::Vector;
use costate::{Error, Result};
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
}

impl Form {
    /// The tensor, row by row.
    #[inline]
    pub fn tensor<D: Number>(self, u: &[D]) -> [Vector<D>; 3] {
        match self {
            Form::Entries => symmetric([u[0], u[1], u[2], u[3], u[4], u[5]]),
            Form::Factors => symmetric(entries_of_factors([u[0], u[1], u[2], u[3], u[4], u[5]])),
        }
    }
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

    /// The tensor, for pictures.
    pub(super) fn tensor(&self) -> Tensor {
        let inertia = self.clone();
        Tensor::of(move |u| inertia.entries_at(u))
    }

    /// Entries of the tensor with these parameters.
    pub(super) fn entries_at(&self, u: &[f64]) -> [f64; 6] {
        let numbers = self.values.map(|value| value.evaluate(u));
        match self.form {
            Form::Entries => numbers,
            Form::Factors => entries_of_factors(numbers),
        }
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
