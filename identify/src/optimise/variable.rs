//! Variables of a minimisation: name, start, magnitude, bounds and scale; and the map to the scaled variables x that the
//! methods see.

use super::evaluation::Point;
use crate::{Error, Result};

/// Longest step in a trust region on the logarithmic scale: a factor of e.
pub(crate) const LONGEST_LOG: f64 = 1.0;

/// Scale of a variable for the optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Scale {
    /// x = u / nominal.
    #[default]
    Linear,
    /// x = ln(u / nominal), for positive quantities that may be wrong by decades.
    Log,
}

/// One variable of the minimisation, in physical values.
#[derive(Debug, Clone, PartialEq)]
pub struct Variable {
    /// The name that reports and errors use.
    pub name: String,
    /// Value where the search starts.
    pub start: f64,
    /// The magnitude that counts as 1 in the scaled variables; positive.
    pub nominal: f64,
    /// Smallest permitted value, `-inf` for none.
    pub lower: f64,
    /// Largest permitted value, `inf` for none.
    pub upper: f64,
    /// Linear or logarithmic.
    pub scale: Scale,
}

impl Variable {
    /// An unbounded variable on a linear scale, with |start| as its magnitude (1 if it starts at 0).
    pub fn new(name: impl Into<String>, start: f64) -> Self {
        let nominal = if start == 0.0 { 1.0 } else { start.abs() };
        let (lower, upper) = (f64::NEG_INFINITY, f64::INFINITY);
        Variable { name: name.into(), start, nominal, lower, upper, scale: Scale::Linear }
    }

    /// The variable with bounds; `-inf` and `inf` stand for none.
    pub fn bounded(self, lower: f64, upper: f64) -> Self {
        Variable { lower, upper, ..self }
    }

    /// The variable with another magnitude.
    pub fn nominal(self, nominal: f64) -> Self {
        Variable { nominal, ..self }
    }

    /// The variable on another scale.
    pub fn scaled(self, scale: Scale) -> Self {
        Variable { scale, ..self }
    }

    /// Checks the variable.
    pub fn validate(&self) -> Result<()> {
        let Variable { start, nominal, lower, upper, .. } = *self;
        let invalid =
            |problem: String, remedy: &str| Err(Error::invalid(format!("variable `{}`", self.name), problem, remedy));
        if !start.is_finite() {
            return invalid(format!("its start is {start}"), "give a finite start");
        }
        if !(nominal.is_finite() && nominal > 0.0) {
            return invalid(
                format!("its nominal value, the magnitude for scaling, is {nominal}"),
                "give a positive, finite magnitude",
            );
        }
        if lower.is_nan() || upper.is_nan() {
            return invalid(
                format!("its bounds [{lower}, {upper}] are not numbers"),
                "give numbers, or leave a bound out where there is none",
            );
        }
        if lower > upper {
            return invalid(
                format!("its lower bound {lower} is above its upper bound {upper}"),
                "exchange the bounds, or correct the wrong one",
            );
        }
        if start < lower || start > upper {
            return invalid(
                format!("its start {start} is outside its bounds [{lower}, {upper}]"),
                "start inside the bounds, or widen them",
            );
        }
        if self.scale == Scale::Log && start <= 0.0 {
            return invalid(
                format!("its start {start} is not positive, but its scale is logarithmic"),
                "start at a positive value, or use the linear scale",
            );
        }
        Ok(())
    }

    /// Lower and upper bound permit one value only.
    pub fn is_fixed(&self) -> bool {
        self.lower == self.upper
    }

    /// The scaled value x of u. On the logarithmic scale, u <= 0 (possible for a lower bound only) gives `-inf`.
    fn scaled_value(&self, u: f64) -> f64 {
        match self.scale {
            Scale::Linear => u / self.nominal,
            Scale::Log if u <= 0.0 => f64::NEG_INFINITY,
            Scale::Log => (u / self.nominal).ln(),
        }
    }

    /// The physical value u of x, never outside the bounds whatever the rounding.
    fn physical_value(&self, x: f64) -> f64 {
        let u = match self.scale {
            Scale::Linear => x * self.nominal,
            Scale::Log => x.exp() * self.nominal,
        };
        if u.is_nan() { u } else { u.clamp(self.lower, self.upper) }
    }

    /// du/dx at u.
    fn slope(&self, u: f64) -> f64 {
        match self.scale {
            Scale::Linear => self.nominal,
            Scale::Log => u,
        }
    }
}

/// Status of a variable at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VariableStatus {
    /// Inside its bounds.
    Free,
    /// At its lower bound.
    AtLowerBound,
    /// At its upper bound.
    AtUpperBound,
    /// Held by bounds that permit one value only.
    Fixed,
}

/// The map between physical values u and scaled values x, with the bounds on both sides.
#[derive(Debug, Clone)]
pub(crate) struct Scaling {
    variables: Vec<Variable>,
    lower: Vec<f64>,
    upper: Vec<f64>,
}

impl Scaling {
    /// Checks the variables and scales their bounds.
    pub fn new(variables: &[Variable]) -> Result<Self> {
        variables.iter().try_for_each(Variable::validate)?;
        if variables.iter().all(Variable::is_fixed) {
            let problem =
                if variables.is_empty() { "there is none" } else { "the bounds of every one leave a single value" };
            return Err(Error::invalid("variables of the minimisation", problem, "let at least one variable free"));
        }
        let lower = variables.iter().map(|v| v.scaled_value(v.lower)).collect();
        let upper = variables.iter().map(|v| v.scaled_value(v.upper)).collect();
        Ok(Scaling { variables: variables.to_vec(), lower, upper })
    }

    pub fn dimension(&self) -> usize {
        self.variables.len()
    }

    pub fn start(&self) -> Vec<f64> {
        // Without the clamp, rounding of a start at a bound might leave it a hair inside.
        let scaled = self.variables.iter().map(|v| v.scaled_value(v.start));
        scaled.enumerate().map(|(i, x)| x.clamp(self.lower[i], self.upper[i])).collect()
    }

    /// The physical values of x; bounds are met exactly.
    pub fn physical(&self, x: &[f64]) -> Vec<f64> {
        let value = |(i, v): (usize, &Variable)| match x[i] {
            x if x <= self.lower[i] && v.lower.is_finite() => v.lower,
            x if x >= self.upper[i] && v.upper.is_finite() => v.upper,
            x => v.physical_value(x),
        };
        self.variables.iter().enumerate().map(value).collect()
    }

    /// Chain rule: dJ/dx from dJ/du at u.
    pub fn scaled_gradient(&self, u: &[f64], gradient: &[f64]) -> Vec<f64> {
        self.variables.iter().zip(u).zip(gradient).map(|((v, &u), g)| g * v.slope(u)).collect()
    }

    /// du/dx at u.
    pub fn slopes(&self, u: &[f64]) -> Vec<f64> {
        self.variables.iter().zip(u).map(|(v, &u)| v.slope(u)).collect()
    }

    /// d²u/dx² at u.
    pub fn bends(&self, u: &[f64]) -> Vec<f64> {
        let bend = |(v, &u): (&Variable, &f64)| if v.scale == Scale::Log { u } else { 0.0 };
        self.variables.iter().zip(u).map(bend).collect()
    }

    /// The least and the largest scaled value of component i; infinite where there is no bound.
    pub fn bounds(&self, i: usize) -> (f64, f64) {
        (self.lower[i], self.upper[i])
    }

    /// x and as many points beside it as there are components: its corners are `edge` times each component away (1 for one below 1), where the
    /// upper bound is not nearer.
    pub fn simplex(&self, x: &[f64], edge: f64) -> Vec<Vec<f64>> {
        let mut corners = vec![x.to_vec()];
        for i in 0..x.len() {
            let mut corner = x.to_vec();
            let step = edge * x[i].abs().max(1.0);
            corner[i] += if x[i] + step <= self.upper[i] { step } else { -step };
            corners.push(corner);
        }
        corners
    }

    /// Number of variables that may change.
    pub fn free_count(&self) -> usize {
        self.variables.iter().filter(|v| !v.is_fixed()).count()
    }

    /// Least and largest step of component i from x within its bounds.
    pub fn range(&self, i: usize, x: f64) -> (f64, f64) {
        ((self.lower[i] - x).min(0.0), (self.upper[i] - x).max(0.0))
    }

    /// Moves component i of x, which came from `from`, onto the nearer bound if it is beyond, or a rounding error of the
    /// move away from it; says whether.
    pub fn clamp(&self, i: usize, from: f64, x: &mut f64) -> bool {
        let hair = 4.0 * f64::EPSILON * x.abs().max(from.abs());
        if *x <= self.lower[i] + hair {
            *x = self.lower[i];
            true
        } else if *x >= self.upper[i] - hair {
            *x = self.upper[i];
            true
        } else {
            false
        }
    }

    /// Distance from x to the bound that lies ahead in direction d, `inf` if there is none.
    pub fn room(&self, i: usize, x: f64, d: f64) -> f64 {
        match d {
            d if d < 0.0 => x - self.lower[i],
            d if d > 0.0 => self.upper[i] - x,
            _ => f64::INFINITY,
        }
    }

    /// Longest step of a variable: a decade, or ten times its value or nominal value. Beyond, no quadratic model
    /// is worth anything.
    pub fn longest_step(&self, i: usize, x: f64) -> f64 {
        match self.variables[i].scale {
            Scale::Linear => 10.0 * x.abs().max(1.0),
            Scale::Log => std::f64::consts::LN_10,
        }
    }

    /// Longest step of each variable in a trust region: on the logarithmic scale a factor of e.
    pub fn trusted_steps(&self, x: &[f64]) -> Vec<f64> {
        x.iter().enumerate().map(|(i, &x)| if self.is_log(i) { LONGEST_LOG } else { self.longest_step(i, x) }).collect()
    }

    /// True if any of them is on the logarithmic scale.
    pub fn any_log(&self) -> bool {
        (0..self.variables.len()).any(|i| self.is_log(i))
    }

    /// True if the variable is on the logarithmic scale.
    pub fn is_log(&self, i: usize) -> bool {
        self.variables[i].scale == Scale::Log
    }

    /// True if the variable is at a bound, with the cost falling towards the outside: first-order optimal in this component.
    pub fn is_held(&self, i: usize, x: f64, scaled_gradient: f64) -> bool {
        self.lower[i] == self.upper[i]
            || (x <= self.lower[i] && scaled_gradient >= 0.0)
            || (x >= self.upper[i] && scaled_gradient <= 0.0)
    }

    /// Variables that are held by their bounds at a point.
    pub fn held(&self, point: &Point) -> Vec<bool> {
        (0..point.x.len()).map(|i| self.is_held(i, point.x[i], point.scaled_gradient[i])).collect()
    }

    /// Status of each variable, from its physical value.
    pub fn statuses(&self, u: &[f64]) -> Vec<VariableStatus> {
        let status = |(v, &u): (&Variable, &f64)| match () {
            _ if v.is_fixed() => VariableStatus::Fixed,
            _ if u <= v.lower => VariableStatus::AtLowerBound,
            _ if u >= v.upper => VariableStatus::AtUpperBound,
            _ => VariableStatus::Free,
        };
        self.variables.iter().zip(u).map(status).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the chain rule and the round trip u -> x -> u on both scales.
    #[test]
    fn scaling_round_trip_and_chain_rule() {
        let variables =
            [Variable::new("a", -3.0).nominal(10.0), Variable::new("b", 2e9).scaled(Scale::Log).nominal(1e6)];
        let scaling = Scaling::new(&variables).unwrap();
        let x = scaling.start();
        let u = scaling.physical(&x);
        assert!((u[0] + 3.0).abs() < 1e-14 && (u[1] / 2e9 - 1.0).abs() < 1e-14, "{u:?}");
        let step = 1e-6;
        let ahead = scaling.physical(&[x[0] + step, x[1] + step]);
        let slopes = scaling.scaled_gradient(&u, &[1.0, 1.0]);
        for i in 0..2 {
            assert!(((ahead[i] - u[i]) / step / slopes[i] - 1.0).abs() < 1e-5);
        }
    }

    /// Protects bounds against rounding: a scaled bound maps to the physical bound exactly, never beyond.
    #[test]
    fn bounds_are_met_exactly() {
        let variable = Variable::new("a", 0.2).bounded(0.1, 0.7).nominal(3.0);
        for variable in [variable.clone(), variable.scaled(Scale::Log)] {
            let scaling = Scaling::new(&[variable]).unwrap();
            assert_eq!(scaling.physical(&scaling.lower), [0.1]);
            assert_eq!(scaling.physical(&scaling.upper), [0.7]);
            assert_eq!(scaling.physical(&[scaling.upper[0].next_up()]), [0.7]);
            assert!(scaling.physical(&[scaling.lower[0].next_up()])[0] >= 0.1);
        }
    }

    /// Protects bounds at 0, where |x| says nothing about rounding: a move that ends a hair from the bound ends on it.
    #[test]
    fn rounding_does_not_miss_a_bound() {
        let scaling = Scaling::new(&[Variable::new("a", 0.42).bounded(0.0, 1.0).nominal(1.0)]).unwrap();
        let mut x = 5.6e-17;
        assert!(scaling.clamp(0, 0.42, &mut x) && x == 0.0);
        let mut x = 1e-10;
        assert!(!scaling.clamp(0, 0.42, &mut x) && x == 1e-10);
    }
}
