//! Losses: what a residual costs. Robust ones grow linearly, so that outliers pull with limited force.
//!
//! With r = (y - ȳ)/σ, z = r²/C² and the scale C, a sample costs ½ η C² ρ(z):
//!
//! | loss | ρ(z) | pull ψ = d(½ C² ρ)/dr | dψ/dr |
//! |---|---|---|---|
//! | squares | z | r | 1 |
//! | huber | z up to 1, then 2√z - 1 | r up to C, then ±C | 1, then 0 |
//! | soft-l1 | 2 (√(1 + z) - 1) | r/√(1 + z) | (1 + z)^(-3/2) |
//!
//! For methods that see residuals, a sample is the residual √(C² ρ) with the sign of r: half its square is the cost and its derivative
//! gives the gradient, both exactly, and the Gauss-Newton matrix stays positive (rows after Triggs et al. 2000, as in SciPy, keep the
//! gradient only).

use crate::{Error, Result};

/// Cost of a residual.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Loss {
    /// Half its square.
    #[default]
    Squares,
    /// Huber's loss (1964): half the square up to the scale, a straight line beyond.
    Huber {
        /// C, in deviations.
        scale: f64,
    },
    /// A smooth passage from a square to a straight line.
    SoftL1 {
        /// C, in deviations.
        scale: f64,
    },
}

/// The scale where none is given: with normal noise and no outliers, Huber's loss then loses 5 % of the data's information.
pub const LOSS_SCALE: f64 = 1.345;

impl Loss {
    /// A loss by its name, with a scale in deviations or with [`LOSS_SCALE`].
    ///
    /// # Errors
    /// An unknown name, a scale that is not positive, or one for plain squares.
    pub fn named(name: &str, scale: Option<f64>) -> Result<Self> {
        let given = scale.unwrap_or(LOSS_SCALE);
        // far below, all residuals are outliers, and costs are round-off
        if !(1e-3..=1e3).contains(&given) {
            let remedy = "give a scale from 0.001 to 1000, such as 1.345";
            let problem = match given > 0.0 {
                true => format!("{given} deviations of the noise mean nothing"),
                false => format!("{given} is not positive"),
            };
            return Err(Error::invalid("loss_scale", problem, remedy));
        }
        match name {
            "huber" => Ok(Loss::Huber { scale: given }),
            "soft-l1" => Ok(Loss::SoftL1 { scale: given }),
            "squares" if scale.is_some() => Err(Error::invalid(
                "loss_scale",
                "plain squares have no scale",
                "leave it out, or take loss = \"huber\"",
            )),
            "squares" => Ok(Loss::Squares),
            _ => Err(Error::unknown("loss", name, "", ["huber", "soft-l1", "squares"])),
        }
    }

    /// Name of the loss in files.
    pub fn name(&self) -> &'static str {
        match self {
            Loss::Squares => "squares",
            Loss::Huber { .. } => "huber",
            Loss::SoftL1 { .. } => "soft-l1",
        }
    }

    /// The scale C; `None` for plain squares.
    pub fn scale(&self) -> Option<f64> {
        match *self {
            Loss::Squares => None,
            Loss::Huber { scale } | Loss::SoftL1 { scale } => Some(scale),
        }
    }

    /// True if a residual, over its deviation, pulls noticeably less than under plain squares: beyond the scale.
    pub fn weighs_down(&self, r: f64) -> bool {
        self.scale().is_some_and(|scale| r.abs() > scale)
    }

    /// C² ρ, twice what a residual costs.
    #[inline]
    pub fn value(&self, r: f64) -> f64 {
        match *self {
            Loss::Squares => r * r,
            Loss::Huber { scale } if r.abs() <= scale => r * r,
            Loss::Huber { scale } => scale * (2.0 * r.abs() - scale),
            // √(1 + z) - 1 without cancellation
            Loss::SoftL1 { scale } => 2.0 * r * r / (1.0 + (1.0 + (r / scale).powi(2)).sqrt()),
        }
    }

    /// Weight ψ/r of a residual: 1 for plain squares.
    #[inline]
    pub fn weight(&self, r: f64) -> f64 {
        match *self {
            Loss::Squares => 1.0,
            Loss::Huber { scale } if r.abs() <= scale => 1.0,
            Loss::Huber { scale } => scale / r.abs(),
            Loss::SoftL1 { scale } => (1.0 + (r / scale).powi(2)).sqrt().recip(),
        }
    }

    /// Curvature dψ/dr of the loss at a residual.
    #[inline]
    pub fn curvature(&self, r: f64) -> f64 {
        match *self {
            Loss::Squares => 1.0,
            Loss::Huber { scale } => f64::from(u8::from(r.abs() <= scale)),
            Loss::SoftL1 { scale } => (1.0 + (r / scale).powi(2)).powf(-1.5),
        }
    }

    /// √(C² ρ) with the sign of r, and its derivative by r.
    #[inline]
    pub fn root(&self, r: f64) -> (f64, f64) {
        match self {
            Loss::Squares => (r, 1.0),
            _ if r == 0.0 => (r, 1.0),
            _ => {
                let root = self.value(r).sqrt().copysign(r);
                (root, self.weight(r) * r / root)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the table above: derivatives against differences, and that scales meet without a jump.
    #[test]
    fn derivatives_are_those_of_the_values() {
        for loss in [Loss::Squares, Loss::Huber { scale: 1.345 }, Loss::SoftL1 { scale: 0.7 }] {
            for r in [-30.0, -1.5, -1.0, -1e-9, 0.0, 0.3, 1.2, 4.0, 1e3] {
                let h = 1e-6 * f64::max(1.0, f64::abs(r));
                let slope = |f: &dyn Fn(f64) -> f64| (f(r + h) - f(r - h)) / (2.0 * h);
                let pull = |r: f64| loss.weight(r) * r;
                let close = |found: f64, expected: f64| {
                    assert!((found - expected).abs() < 1e-6 * (1.0 + expected.abs()), "{loss:?} {r}")
                };
                close(0.5 * slope(&|r| loss.value(r)), pull(r));
                close(slope(&pull), loss.curvature(r));
                close(slope(&|r| loss.root(r).0), loss.root(r).1);
                close(loss.root(r).0.powi(2), loss.value(r));
            }
        }
    }
}
