//! The engine mount's cost and gradient as a patient person would write them for this one model: no model trait, no dual
//! numbers, every derivative by hand. What the engine is measured against.
//!
//! Both kernels solve HHT in its consistent form, with the elimination that each file's head describes, and sweep back
//! through the same equations. Constants are those of the model.

// indices as in the formulas
#![allow(clippy::needless_range_loop)]

pub mod dense;
pub mod reduced;

pub const LOAD: f64 = 20.0;
pub const TRACK: f64 = 0.0019;
pub const DECOUPLER: f64 = 0.002;
pub const CHAMBER_STIFFNESS: f64 = 375e3;
pub const TRACK_DAMPING: f64 = 0.08;
pub const DECOUPLER_STIFFNESS: f64 = 9e3;
pub const DECOUPLER_DAMPING: f64 = 10.0;
pub const TRACK_ARM: f64 = 0.095;
pub const DECOUPLER_ARM: f64 = 0.0036;
pub const GRAVITY: f64 = 9.81;

/// What is simulated, and what the load's acceleration is compared with (rectangle rule).
#[derive(Clone, Copy)]
pub struct Job<'a> {
    pub alpha: f64,
    /// Step, s.
    pub h: f64,
    /// Force at every time, N.
    pub force: &'a [f64],
    /// Reference of the scheme's acceleration at every time, m/s².
    pub reference: &'a [f64],
}

impl Job<'_> {
    /// Number of steps.
    pub fn steps(&self) -> usize {
        self.force.len() - 1
    }

    fn cost(&self, acceleration: &[f64]) -> f64 {
        let pairs = acceleration.iter().zip(self.reference).take(self.steps());
        0.5 * self.h * pairs.map(|(a, reference)| (a - reference) * (a - reference)).sum::<f64>()
    }
}

/// Coefficients of a step.
#[derive(Clone, Copy)]
struct Newmark {
    h: f64,
    /// d q / d a = β h²
    q_by_new: f64,
    /// d v / d a = γ h
    v_by_new: f64,
    q_by_old: f64,
    v_by_old: f64,
    /// Consistent acceleration = `mix_new` a_i + `mix_old` (the last one).
    mix_new: f64,
    mix_old: f64,
}

impl Newmark {
    fn new(alpha: f64, h: f64) -> Self {
        let (beta, gamma) = ((1.0 - alpha) * (1.0 - alpha) / 4.0, 0.5 - alpha);
        Newmark {
            h,
            q_by_new: beta * h * h,
            v_by_new: gamma * h,
            q_by_old: (0.5 - beta) * h * h,
            v_by_old: (1.0 - gamma) * h,
            mix_new: 1.0 / (1.0 + alpha),
            mix_old: alpha / (1.0 + alpha),
        }
    }
}
