//! Limits of constraints, their multipliers, and the terms that they add to the cost: those of the
//! [augmented Lagrangian](super::minimise_constrained).

use crate::{Error, Result};

/// Limits of a constraint's value: lower <= c <= upper; an equality where both are the same.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Limit {
    /// Smallest value, `-inf` for none.
    pub lower: f64,
    /// Largest value, `inf` for none.
    pub upper: f64,
    /// A change of the value that matters, positive.
    pub size: f64,
}

impl Limit {
    /// c = value.
    pub fn equals(value: f64) -> Self {
        Limit::between(value, value)
    }

    /// c <= value.
    pub fn at_most(value: f64) -> Self {
        Limit::between(f64::NEG_INFINITY, value)
    }

    /// c >= value.
    pub fn at_least(value: f64) -> Self {
        Limit::between(value, f64::INFINITY)
    }

    /// lower <= c <= upper.
    pub fn between(lower: f64, upper: f64) -> Self {
        Limit { lower, upper, size: 1.0 }
    }

    /// The limits with another size.
    pub fn sized(self, size: f64) -> Self {
        Limit { size, ..self }
    }

    /// True if both limits are the same.
    pub fn is_equality(&self) -> bool {
        self.lower == self.upper
    }

    /// Signed violation of the limits by c: positive above the upper one, negative below the lower one, else 0.
    pub fn violation_by(&self, c: f64) -> f64 {
        c - c.clamp(self.lower, self.upper)
    }

    pub(super) fn validate(&self, i: usize) -> Result<()> {
        let Limit { lower, upper, size } = *self;
        let what = || format!("constraint {i} of the minimisation");
        if lower.is_nan() || upper.is_nan() || lower > upper || lower == f64::INFINITY || upper == f64::NEG_INFINITY {
            let problem = format!("no value lies between {lower} and {upper}");
            return Err(Error::invalid(what(), problem, "give lower <= upper"));
        }
        if !(size.is_finite() && size > 0.0) {
            return Err(Error::invalid(what(), format!("its size is {size}"), "give a positive size"));
        }
        Ok(())
    }
}

/// Limits, multipliers and the penalty of an augmented Lagrangian. The sign: the Lagrangian is J + Σ λ_i (c_i - limit_i), so
/// that λ >= 0 at an upper limit, λ <= 0 at a lower one, and the optimal cost changes by -λ_i per unit by which the limit is
/// raised.
#[derive(Debug, Clone, PartialEq)]
pub struct Multipliers {
    limits: Vec<Limit>,
    values: Vec<f64>,
    /// μ, in units of the cost.
    pub(super) penalty: f64,
}

impl Multipliers {
    /// λ = 0 with a penalty; with penalty 0 all terms are zero.
    pub fn new(limits: Vec<Limit>, penalty: f64) -> Self {
        Multipliers { values: vec![0.0; limits.len()], limits, penalty }
    }

    /// The multipliers with other λ.
    pub fn with_values(self, values: Vec<f64>) -> Self {
        Multipliers { values, ..self }
    }

    /// λ, cost per unit of each constraint.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// μ, in units of the cost.
    pub fn penalty(&self) -> f64 {
        self.penalty
    }

    /// μ_i = μ / size².
    fn stiffness(&self, i: usize) -> f64 {
        self.penalty / (self.limits[i].size * self.limits[i].size)
    }

    /// c_i minus the limit that acts on it at the value c, if one does.
    fn beyond(&self, i: usize, c: f64) -> Option<f64> {
        if self.penalty == 0.0 {
            return None;
        }
        let (shift, Limit { lower, upper, .. }) = (self.values[i] / self.stiffness(i), self.limits[i]);
        let (above, below) = (c - upper, c - lower);
        if lower == upper || above + shift > 0.0 { Some(above) } else { (below + shift < 0.0).then_some(below) }
    }

    /// Term of constraint i in the cost at the value c.
    pub fn term(&self, i: usize, c: f64) -> f64 {
        let lambda = self.values[i];
        match self.beyond(i, c) {
            Some(beyond) => beyond * (lambda + 0.5 * self.stiffness(i) * beyond),
            None if lambda == 0.0 => 0.0,
            None => -0.5 * lambda * lambda / self.stiffness(i),
        }
    }

    /// Derivative of constraint i's term by c: what multiplies ∇c in the gradient; and the multiplier that follows from here.
    pub fn weight(&self, i: usize, c: f64) -> f64 {
        self.beyond(i, c).map_or(0.0, |beyond| self.values[i] + self.stiffness(i) * beyond)
    }

    /// Second derivative of constraint i's term by c: μ_i where the constraint acts, else 0.
    pub fn curvature(&self, i: usize, c: f64) -> f64 {
        self.beyond(i, c).map_or(0.0, |_| self.stiffness(i))
    }

    /// The term as half the square of a residual, up to a constant: the residual, and its derivative by c. `None` where the
    /// constraint does not act.
    pub fn residual(&self, i: usize, c: f64) -> Option<(f64, f64)> {
        let root = self.stiffness(i).sqrt();
        self.beyond(i, c).map(|beyond| (root * beyond + self.values[i] / root, root))
    }

    /// The largest violation, in sizes.
    pub fn violation(&self, c: &[f64]) -> f64 {
        self.limits.iter().zip(c).map(|(limit, c)| (limit.violation_by(*c) / limit.size).abs()).fold(0.0, f64::max)
    }

    /// Takes the multipliers that follow from c. Returns what is missing to an optimum, in sizes: the largest violation, or
    /// the largest distance of a constraint with a multiplier from its limit.
    pub(super) fn update(&mut self, c: &[f64]) -> f64 {
        let mut missing = 0.0f64;
        for (i, c) in c.iter().enumerate() {
            let next = self.weight(i, *c);
            missing = missing.max(((next - self.values[i]) / self.stiffness(i) / self.limits[i].size).abs());
            self.values[i] = next;
        }
        missing
    }
}
