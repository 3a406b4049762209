//! Vectors and rotations of space over any [`Number`].

use crate::number::Number;
use std::ops::{Add, AddAssign, Mul, Neg, Sub};

/// A vector with its components along three axes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Vector<D>(pub [D; 3]);

impl<D: Number> Vector<D> {
    /// No vector at all.
    #[inline]
    pub fn zero() -> Self {
        Vector([D::from(0.0); 3])
    }

    /// The first three of `values`.
    ///
    /// # Panics
    /// If there are fewer.
    #[inline]
    pub fn of(values: &[D]) -> Self {
        Vector([values[0], values[1], values[2]])
    }

    /// Scalar product a · b.
    #[inline]
    pub fn dot(self, other: Self) -> D {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        a * x + b * y + c * z
    }

    /// Cross product a × b.
    #[inline]
    pub fn cross(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Vector([b * z - c * y, c * x - a * z, a * y - b * x])
    }

    /// Length |a|; its derivatives are not finite at zero.
    #[inline]
    pub fn length(self) -> D {
        self.dot(self).sqrt()
    }

    /// Unit vector a / |a|.
    #[inline]
    pub fn unit(self) -> Self {
        self * self.length().recip()
    }

    /// Adds the components to the first three of `values`.
    #[inline]
    pub fn add_to(self, values: &mut [D]) {
        values.iter_mut().zip(self.0).for_each(|(value, component)| *value += component);
    }
}

impl<D: Number> Add for Vector<D> {
    type Output = Self;
    #[inline]
    fn add(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Vector([a + x, b + y, c + z])
    }
}

impl<D: Number> AddAssign for Vector<D> {
    #[inline]
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

impl<D: Number> Sub for Vector<D> {
    type Output = Self;
    #[inline]
    fn sub(self, other: Self) -> Self {
        let ([a, b, c], [x, y, z]) = (self.0, other.0);
        Vector([a - x, b - y, c - z])
    }
}

impl<D: Number> Neg for Vector<D> {
    type Output = Self;
    #[inline]
    fn neg(self) -> Self {
        let [a, b, c] = self.0;
        Vector([-a, -b, -c])
    }
}

impl<D: Number> Mul<D> for Vector<D> {
    type Output = Self;
    #[inline]
    fn mul(self, factor: D) -> Self {
        let [a, b, c] = self.0;
        Vector([a * factor, b * factor, c * factor])
    }
}

/// A rotation as a matrix, row by row: it turns vectors of a body's axes into the world's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rotation<D>(pub [Vector<D>; 3]);

impl<D: Number> Rotation<D> {
    /// No rotation.
    #[inline]
    pub fn identity() -> Self {
        let (one, zero) = (D::from(1.0), D::from(0.0));
        Rotation([Vector([one, zero, zero]), Vector([zero, one, zero]), Vector([zero, zero, one])])
    }

    /// The rotation of Euler parameters (e_0, e_1, e_2, e_3) = (cos θ/2, n sin θ/2). Of parameters whose squares do not add up to
    /// one it is a multiple: of second degree in them.
    #[inline]
    pub fn from_euler_parameters([a, x, y, z]: [D; 4]) -> Self {
        let (aa, xx, yy, zz) = (a * a, x * x, y * y, z * z);
        let (xy, xz, yz, ax, ay, az) = (x * y, x * z, y * z, a * x, a * y, a * z);
        let twice = |value: D| value + value;
        Rotation([
            Vector([aa + xx - yy - zz, twice(xy - az), twice(xz + ay)]),
            Vector([twice(xy + az), aa - xx + yy - zz, twice(yz - ax)]),
            Vector([twice(xz - ay), twice(yz + ax), aa - xx - yy + zz]),
        ])
    }

    /// The rotation by the length of `turn`, rad, about its direction (Rodrigues). Smooth through zero.
    pub fn from_rotation_vector(turn: Vector<D>) -> Self {
        Rotation::from_euler_parameters(euler_parameters_of(turn))
    }

    /// A vector of the body's axes, in the world's.
    #[inline]
    pub fn turn(&self, vector: Vector<D>) -> Vector<D> {
        Vector([self.0[0].dot(vector), self.0[1].dot(vector), self.0[2].dot(vector)])
    }

    /// A vector of the world's axes, in the body's.
    #[inline]
    pub fn turn_back(&self, vector: Vector<D>) -> Vector<D> {
        let [x, y, z] = vector.0;
        self.0[0] * x + self.0[1] * y + self.0[2] * z
    }

    /// A body's axis 0, 1 or 2, in the world's.
    ///
    /// # Panics
    /// For another number.
    #[inline]
    pub fn axis(&self, k: usize) -> Vector<D> {
        Vector([self.0[0].0[k], self.0[1].0[k], self.0[2].0[k]])
    }
}

/// sin x / x and its like: a series where x² is so small that the quotient has no derivatives.
fn sine_quotient<D: Number>(square: D) -> D {
    if square.re() < 1e-4 {
        // the next term is below 1e-20
        let terms = [-1.0 / 39_916_800.0, 1.0 / 362_880.0, -1.0 / 5040.0, 1.0 / 120.0, -1.0 / 6.0, 1.0];
        return terms.into_iter().fold(D::from(0.0), |sum, term| sum * square + term);
    }
    let x = square.sqrt();
    x.sin() / x
}

/// cos √s, smooth through s = 0.
fn cosine_of_root<D: Number>(square: D) -> D {
    if square.re() < 1e-4 {
        let terms = [-1.0 / 3_628_800.0, 1.0 / 40_320.0, -1.0 / 720.0, 1.0 / 24.0, -0.5, 1.0];
        return terms.into_iter().fold(D::from(0.0), |sum, term| sum * square + term);
    }
    square.sqrt().cos()
}

/// Euler parameters of the rotation by the length of `turn`, rad, about its direction.
///
/// ```
/// use costate::vector::{Rotation, Vector, euler_parameters_of};
/// let quarter = euler_parameters_of(Vector([0.0, 0.0, std::f64::consts::FRAC_PI_2]));
/// let x = Rotation::from_euler_parameters(quarter).axis(0);
/// assert!((x - Vector([0.0, 1.0, 0.0])).length() < 1e-15);
/// ```
pub fn euler_parameters_of<D: Number>(turn: Vector<D>) -> [D; 4] {
    let half = turn * D::from(0.5);
    let square = half.dot(half);
    let [x, y, z] = (half * sine_quotient(square)).0;
    [cosine_of_root(square), x, y, z]
}

/// Euler parameters of one rotation after another: `first` in the axes that `second` has turned, R(second) R(first).
pub fn combine<D: Number>(second: [D; 4], first: [D; 4]) -> [D; 4] {
    let ([a, x, y, z], [b, p, q, r]) = (second, first);
    [
        a * b - x * p - y * q - z * r,
        a * p + x * b + y * r - z * q,
        a * q - x * r + y * b + z * p,
        a * r + x * q - y * p + z * b,
    ]
}

/// G τ' and ω' = 2 G e': what Euler parameters and angular velocities (body axes) have to do with each other (Nikravesh 1988,
/// ch. 6).
#[inline]
pub fn body_rate<D: Number>([a, x, y, z]: [D; 4], [b, p, q, r]: [D; 4]) -> Vector<D> {
    let twice = |value: D| value + value;
    Vector([
        twice(a * p - x * b + z * q - y * r),
        twice(a * q - y * b + x * r - z * p),
        twice(a * r - z * b + y * p - x * q),
    ])
}

/// Rates of Euler parameters at an angular velocity in body axes: e' = Gᵀ ω' / 2.
pub fn euler_rates<D: Number>(e: [D; 4], rate: Vector<D>) -> [D; 4] {
    generalized_torque(e, rate).map(|value| value * 0.25)
}

/// Generalised forces on Euler parameters of a torque in body axes: 2 Gᵀ τ'.
#[inline]
pub fn generalized_torque<D: Number>([a, x, y, z]: [D; 4], torque: Vector<D>) -> [D; 4] {
    let [p, q, r] = (torque + torque).0;
    [-(x * p + y * q + z * r), a * p + y * r - z * q, a * q + z * p - x * r, a * r + x * q - y * p]
}

/// Generalised forces on Euler parameters of a torque in the world's axes: 2 Eᵀ τ.
#[inline]
pub fn generalized_world_torque<D: Number>([a, x, y, z]: [D; 4], torque: Vector<D>) -> [D; 4] {
    let [p, q, r] = (torque + torque).0;
    [-(x * p + y * q + z * r), a * p + z * q - y * r, a * q + x * r - z * p, a * r + y * p - x * q]
}

/// ω = 2 E e', in the world's axes.
#[inline]
pub fn world_rate<D: Number>([a, x, y, z]: [D; 4], [b, p, q, r]: [D; 4]) -> Vector<D> {
    let twice = |value: D| value + value;
    Vector([
        twice(a * p - x * b + y * r - z * q),
        twice(a * q - y * b + z * p - x * r),
        twice(a * r - z * b + x * q - y * p),
    ])
}

/// Position and orientation.
#[derive(Debug, Clone, Copy)]
pub struct Pose<D> {
    /// Position of the reference point, m.
    pub origin: Vector<D>,
    /// Rotation from own axes to the world's.
    pub rotation: Rotation<D>,
}

impl<D: Number> Pose<D> {
    /// The world position of a point given in own axes.
    #[inline]
    pub fn point(&self, location: Vector<D>) -> Vector<D> {
        self.origin + self.rotation.turn(location)
    }
}

impl<D: Number> Default for Pose<D> {
    /// The pose of the world: its origin and its axes.
    fn default() -> Self {
        Pose { origin: Vector::zero(), rotation: Rotation::identity() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::number::Jet;

    /// Protects what all of space stands on: rotations are orthogonal, follow one another, and their rates are ω' = 2 G e'.
    #[test]
    fn rotations_and_their_rates() {
        let turn = |t: Jet<f64, 1>| {
            let first = euler_parameters_of(Vector([t * 0.3, t * t - 0.7, t * -1.1 + 0.2]));
            combine(euler_parameters_of(Vector([t * 0.9, t * 0.1 + 0.4, t * t * t])), first)
        };
        let t = Jet { re: 0.8, eps: [1.0] };
        let e = turn(t);
        let rotation = Rotation::from_euler_parameters(e);
        for (i, j) in [(0, 0), (0, 1), (1, 2), (2, 2)] {
            let product = rotation.axis(i).dot(rotation.axis(j));
            assert!((product.re - f64::from(u8::from(i == j))).abs() < 1e-15 && product.eps[0].abs() < 1e-14);
        }
        // R' = R ω'~
        let values = |e: [Jet<f64, 1>; 4]| (e.map(|e| e.re), e.map(|e| e.eps[0]));
        let (position, velocity) = values(e);
        let rate = body_rate(position, velocity);
        let here = Rotation::from_euler_parameters(position);
        let probe = Vector([0.2, -0.5, 0.7]);
        let moved = rotation.turn(Vector(probe.0.map(Jet::from)));
        let expected = here.turn(rate.cross(probe));
        for (seen, expected) in moved.0.iter().zip(expected.0) {
            assert!((seen.eps[0] - expected).abs() < 1e-14, "{} {expected}", seen.eps[0]);
        }
        for (seen, expected) in euler_rates(position, rate).iter().zip(velocity) {
            assert!((seen - expected).abs() < 1e-15, "{seen} {expected}");
        }
        // power: 2 Gᵀ τ' · e' = τ' · ω'
        let torque = Vector([0.3, 1.2, -0.4]);
        let power: f64 = generalized_torque(position, torque).iter().zip(velocity).map(|(q, v)| q * v).sum();
        assert!((power - torque.dot(rate)).abs() < 1e-15);
    }

    /// Protects small turns: values and derivatives go on smoothly where sin x / x is a series.
    #[test]
    fn turns_are_smooth_through_zero() {
        for square in [0.0, 1e-9, 0.999_999e-4, 1.000_001e-4] {
            let jet: Jet<Jet<f64, 1>, 1> = Jet { re: Jet { re: square, eps: [1.0] }, eps: [Jet::from(1.0)] };
            let (sine, cosine) = (sine_quotient(jet), cosine_of_root(jet));
            // Taylor: sin x / x = 1 - s/6 + s²/120 - s³/5040, cos x = 1 - s/2 + s²/24 - s³/720 + s⁴/40320
            let s: f64 = square;
            assert!((sine.re.re - (1.0 - s / 6.0 + s * s / 120.0)).abs() < 1e-15);
            assert!((sine.re.eps[0] - (-1.0 / 6.0 + s / 60.0 - s * s / 1680.0)).abs() < 1e-10, "{square}");
            assert!((sine.eps[0].eps[0] - (1.0 / 60.0 - s / 840.0)).abs() < 1e-5, "{square}");
            assert!((cosine.re.re - (1.0 - s / 2.0 + s * s / 24.0 - s * s * s / 720.0)).abs() < 1e-15);
            assert!((cosine.re.eps[0] - (-0.5 + s / 12.0 - s * s / 240.0)).abs() < 1e-10, "{square}");
        }
    }
}
