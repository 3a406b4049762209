//! Functions to be minimised.

use costate::Number;

/// A function that can be differentiated twice.
pub trait Function {
    fn value<D: Number>(&self, u: &[D]) -> D;

    /// Where its simulation fails.
    fn fails(&self, _u: &[f64]) -> bool {
        false
    }

    /// Where only its second derivatives fail.
    fn is_bent_badly(&self, _u: &[f64]) -> bool {
        false
    }
}

pub fn squares<D: Number>(residuals: &[D]) -> D {
    residuals.iter().fold(D::from(0.0), |sum, r| sum + *r * *r * 0.5)
}

pub struct Rosenbrock;
impl Function for Rosenbrock {
    fn value<D: Number>(&self, u: &[D]) -> D {
        squares(&[(u[1] - u[0] * u[0]) * 10.0, -u[0] + 1.0])
    }
}

pub struct PowellSingular;
impl Function for PowellSingular {
    fn value<D: Number>(&self, u: &[D]) -> D {
        let (bc, ad) = (u[1] - u[2] * 2.0, u[0] - u[3]);
        squares(&[u[0] + u[1] * 10.0, (u[2] - u[3]) * 5f64.sqrt(), bc * bc, ad * ad * 10f64.sqrt()])
    }
}

pub struct BrownBadlyScaled;
impl Function for BrownBadlyScaled {
    fn value<D: Number>(&self, u: &[D]) -> D {
        squares(&[u[0] - 1e6, u[1] - 2e-6, u[0] * u[1] - 2.0])
    }
}

pub struct Beale;
impl Function for Beale {
    fn value<D: Number>(&self, u: &[D]) -> D {
        let (x, y) = (u[0], u[1]);
        let term = |value: f64, power: D| x * (power - 1.0) + value;
        squares(&[term(1.5, y), term(2.25, y * y), term(2.625, y * y * y)])
    }
}

/// x⁴/4 - x²/2 + y²/2: a saddle at the origin, minima of -1/4 at (±1, 0).
pub struct Saddle;
impl Function for Saddle {
    fn value<D: Number>(&self, u: &[D]) -> D {
        let square = u[0] * u[0];
        square * square * 0.25 - square * 0.5 + u[1] * u[1] * 0.5
    }
}

/// Squares of the distances of logarithms: a parabola on the logarithmic scale, and nowhere else.
pub struct Decades {
    pub target: [f64; 3],
}
impl Function for Decades {
    fn value<D: Number>(&self, u: &[D]) -> D {
        let r = |i: usize| (u[i] * (1.0 / self.target[i])).ln() * (1.0 + i as f64);
        squares(&[r(0), r(1), r(2)])
    }
}

/// A function that has no whole Hessian to give: extended Rosenbrock, coupled from one to the next.
pub struct Chain {
    pub n: usize,
}
impl Function for Chain {
    fn value<D: Number>(&self, u: &[D]) -> D {
        (1..self.n).fold(D::from(0.0), |sum, i| sum + Rosenbrock.value(&u[i - 1..=i]))
    }
}
