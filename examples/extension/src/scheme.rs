//! Backward Euler: of first order, and strongly damped.
//!
//! ```text
//! M A + C_qᵀ λ = Q,  C(q) = 0      v = v₋ + h A,   q = q₋ + h v
//! ```

use costate::scheme::{Balance, Block, Description, Inertia, Scheme, SchemeEntry};
use costate::system::Level;
use std::sync::Arc;

/// The scheme by name.
pub const ENTRY: SchemeEntry = SchemeEntry::new("backward-euler", &[], |_| Ok(Arc::new(BackwardEuler)));

/// The scheme.
#[derive(Debug)]
struct BackwardEuler;

impl Scheme for BackwardEuler {
    fn description(&self) -> Description {
        Description { name: "backward-euler", ..Description::default() }
    }

    fn step(&self, h: f64, _ratio: f64, balances: &mut Vec<Balance>) {
        balances.push(
            Balance::of_motion(Level::Position, Inertia::Of(Block::A))
                .set(Block::Q, [(Block::Q, 1.0), (Block::V, h)], h * h)
                .set(Block::V, [(Block::V, 1.0)], h)
                .set(Block::A, [], 1.0)
                .set(Block::S, [], 1.0),
        );
    }

    fn local_error(&self, h: f64, _ratio: f64) -> [f64; 3] {
        [0.5 * h * h, 0.0, 0.0]
    }
}
