//! The backward differentiation formula of order 2, on the constraints' positions. What was before the start is on its third-order
//! Taylor expansion; right behind it, accelerations and multipliers of constrained mechanisms are of first order all the same.
//!
//! ```text
//! M A + C_qᵀ λ = Q,  C(q) = 0,      with ω = h/h₋:
//! x = [(1+ω)² x₋ - ω² x₋₋ + (1+ω) h x'] / (1+2ω)        for x = q and x = v
//! ```

use super::balance::{Balance, Block, Inertia};
use super::newmark::one_step_later;
use super::{Description, Scheme};
use crate::system::Level;

const Q: Block = Block::Q;
const V: Block = Block::V;
/// Positions and velocities one step earlier.
const Q_BEFORE: Block = Block::own(0);
const V_BEFORE: Block = Block::own(1);

/// The backward differentiation formula of order 2.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bdf2;

impl Scheme for Bdf2 {
    fn description(&self) -> Description {
        let uneven = "accelerations and multipliers of constrained mechanisms are of first order there";
        Description {
            name: "bdf2",
            own_blocks: 5,
            carried_blocks: 2,
            on_uneven_steps: [None, Some(uneven)],
            ..Description::default()
        }
    }

    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        let (q, v) = (h * h / 6.0, 0.5 * h);
        balances.push(one_step_later(h, 2).set(Q_BEFORE, [(Q, 1.0), (V, -h), (Block::A, 4.0 * q)], -q).set(
            V_BEFORE,
            [(V, 1.0), (Block::A, -h - v)],
            v,
        ));
    }

    fn step(&self, h: f64, ratio: f64, balances: &mut Vec<Balance>) {
        let total = 1.0 + 2.0 * ratio;
        let (now, before, slope) = ((1.0 + ratio).powi(2) / total, -ratio * ratio / total, (1.0 + ratio) * h / total);
        balances.push(
            Balance::of_motion(Level::Position, Inertia::Of(Block::A))
                .set(Q, [(Q, now), (Q_BEFORE, before), (V, slope * now), (V_BEFORE, slope * before)], slope * slope)
                .set(V, [(V, now), (V_BEFORE, before)], slope)
                .set(Block::A, [], 1.0)
                .set(Block::S, [], 1.0)
                .set(Q_BEFORE, [(Q, 1.0)], 0.0)
                .set(V_BEFORE, [(V, 1.0)], 0.0),
        );
    }

    fn local_error(&self, h: f64, ratio: f64) -> [f64; 3] {
        let factor = -h * h * (1.0 + ratio).powi(2) / (6.0 * ratio * (1.0 + 2.0 * ratio));
        [factor, -factor, 0.0]
    }
}
