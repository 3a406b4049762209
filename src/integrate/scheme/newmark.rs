//! Newmark's formulas with the averages of generalized-α: what HHT, generalized-α, Newmark, ALI3-P and I2P share.
//!
//! ```text
//! q = q₋ + h v₋ + h² (1/2 - β) Ŝ + h² β S        v = v₋ + h (1 - γ) Ŝ + h γ S
//! A = [(1 - α_m) S + α_m Ŝ - α_f A₋] / (1 - α_f)
//! ```
//!
//! with γ = 1/2 - Δ, β = (1 - Δ)²/4, Δ = α_m - α_f (Chung & Hulbert 1993; Arnold & Brüls 2007), and Ŝ = A₋ + (h/h₋) (S₋ - A₋), which is
//! S₋ where steps are even.

use super::balance::{Balance, Block, Inertia};
use crate::system::Level;

const Q: Block = Block::Q;
const V: Block = Block::V;
const A: Block = Block::A;
const S: Block = Block::S;

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Newmark {
    pub alpha_m: f64,
    pub alpha_f: f64,
    pub beta: f64,
    pub gamma: f64,
}

impl Newmark {
    pub fn new(alpha_m: f64, alpha_f: f64) -> Self {
        let delta = alpha_m - alpha_f;
        Newmark { alpha_m, alpha_f, beta: 0.25 * (1.0 - delta) * (1.0 - delta), gamma: 0.5 - delta }
    }

    /// Formulas by the spectral radius at infinity, 0 to 1.
    pub fn with_radius(rho: f64) -> Self {
        Newmark::new((2.0 * rho - 1.0) / (rho + 1.0), rho / (rho + 1.0))
    }

    fn delta(&self) -> f64 {
        self.alpha_m - self.alpha_f
    }

    /// Lets Q, V, A and S follow the unknown S of a step of size `h`; `ratio`: h / h₋.
    pub fn set(&self, balance: Balance, h: f64, ratio: f64) -> Balance {
        let Newmark { alpha_m, alpha_f, beta, gamma } = *self;
        let (by_q, by_v, by_a) = (h * h * (0.5 - beta), h * (1.0 - gamma), alpha_m / (1.0 - alpha_f));
        let (s, a) = (ratio, 1.0 - ratio);
        balance
            .set(Q, [(Q, 1.0), (V, h), (S, s * by_q), (A, a * by_q)], h * h * beta)
            .set(V, [(V, 1.0), (S, s * by_v), (A, a * by_v)], h * gamma)
            .set(A, [(S, s * by_a), (A, a * by_a - alpha_f / (1.0 - alpha_f))], (1.0 - alpha_m) / (1.0 - alpha_f))
            .set(S, [], 1.0)
    }

    /// Local error of a step in positions: C h² (S - Ŝ), C = 1/6 - β - Δ/2.
    pub fn local_error(&self, h: f64, ratio: f64) -> [f64; 3] {
        let factor = h * h * self.error_constant();
        [factor, -factor * (1.0 - ratio), -factor * ratio]
    }

    fn error_constant(&self) -> f64 {
        1.0 / 6.0 - self.beta - 0.5 * self.delta()
    }

    /// Own blocks that [`Newmark::start`] uses.
    pub const STARTS_WITH: u8 = 4;

    /// A start from which accelerations and multipliers are of second order at once (Arnold, Brüls & Cardona 2015): with j the third
    /// derivative of q, from consistent accelerations one step later,
    ///
    /// ```text
    /// S₀ = A₀ + Δ h j,      in index 3: v₀ + C h² Π j,  C = 1/6 - β - Δ/2
    /// ```
    ///
    /// Π projects onto what the constraints take.
    pub fn start(&self, h: f64, index_3: bool, balances: &mut Vec<Balance>) {
        let (delta, [later_a, moved]) = (self.delta(), [2, 3].map(Block::own));
        balances.push(one_step_later(h, 0).set(S, [(A, 1.0 - delta)], delta));
        if index_3 {
            let jerk = h * self.error_constant();
            balances.push(
                Balance::projection(Level::Velocity)
                    .at(Q, moved)
                    .set(moved, [(V, 1.0), (later_a, jerk), (A, -jerk)], 1.0)
                    .set(V, [(V, 1.0)], -1.0),
            );
        }
    }
}

/// Consistent accelerations one step of size `h` after the start, on its osculating parabola: own blocks `first` to `first + 2` are q, v and
/// A there.
pub(super) fn one_step_later(h: f64, first: u8) -> Balance {
    let [q, v, a] = [0, 1, 2].map(|k| Block::own(first + k));
    Balance::of_motion(Level::Acceleration, Inertia::Of(a))
        .at(q, v)
        .later(h)
        .set(q, [(Q, 1.0), (V, h), (A, 0.5 * h * h)], 0.0)
        .set(v, [(V, 1.0), (A, h)], 0.0)
        .set(a, [], 1.0)
}
