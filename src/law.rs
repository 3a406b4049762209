//! What parts of the plane and of space share: laws of forces, given motions, axes.

use crate::assembly::Element;
use crate::number::Number;

/// How a spring or damper pulls.
pub trait Law: Send + Sync + 'static {
    /// Tension (N, or N m for rotations) at an elongation (m, or rad) and its rate, with the parameters `u`. It must be
    /// differentiable; positive tension draws the sides together.
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D;
}

/// Stiffness times elongation plus damping times rate. Parameters: stiffness, damping.
#[derive(Debug, Clone, Copy)]
pub struct Linear;

impl Law for Linear {
    #[inline]
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        u[0] * elongation + u[1] * rate
    }
}

/// Friction that is smooth through zero (Brown & McPhee 2016, with a constant load): a Stribeck peak at the transition rate
/// and viscous growth beyond it.
///
/// ```text
/// T = T_C tanh(4 s) + (T_S - T_C) s / (s²/4 + 3/4)² + d rate,    s = rate / transition rate
/// ```
///
/// Parameters: Coulomb torque T_C, static torque T_S (N m, or N), transition rate (rad/s, or m/s), viscous coefficient d.
#[derive(Debug, Clone, Copy)]
pub struct BrownMcPhee;

impl Law for BrownMcPhee {
    fn tension<D: Number>(&self, _elongation: D, rate: D, u: &[D]) -> D {
        let s = rate / u[2];
        let hump = s * s * 0.25 + 0.75;
        u[0] * (s * 4.0).tanh() + (u[1] - u[0]) * s / (hump * hump) + u[3] * rate
    }
}

/// The axes in which a vector is given or seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Axes {
    /// Those of the world.
    #[default]
    World,
    /// Those of the body.
    Body,
}

/// A motion that is given as a function of time.
pub trait Motion: Send + Sync + 'static {
    /// The coordinate at time `t`, in its unit; `u` are the parameters that were given along.
    fn at<D: Number>(&self, t: D, u: &[D]) -> D;

    /// First and last time at which it is known, s; `None` if it is at all times. Simulations keep to that.
    fn known_times(&self) -> Option<(f64, f64)> {
        None
    }
}

/// A coordinate follows a function of time.
pub(crate) struct Driven<M>(pub M);

impl<M: Motion> Element for Driven<M> {
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        c[0] = q[0] - self.0.at(t, u);
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        self.0.known_times()
    }
}
