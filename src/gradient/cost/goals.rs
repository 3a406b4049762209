//! Goals of outputs: follow a path, reach a value at the end, stay within limits; each a sum of squares of the distance d from what is
//! wanted.
//!
//! ```text
//! J = Σ_k ½ w_k Σ_i η_i d_k(t_i)²,   d = y - ȳ(t)                   follow
//!                                    d = y - ȳ at t_N, η = 1         reach
//!                                    d = y - min(max(y, lower), upper)   within
//! ```
//!
//! A goal that *must* be met is a constraint: its distance is shifted by its multiplier over w, d(y + m), and m takes the shifted
//! distance after each minimisation (Powell, Hestenes and Rockafellar's augmented Lagrangian, Nocedal & Wright, eq. (17.65)).

use super::{Cost, CostEvaluator, Quadrature, Sample, SquaredRow};
use crate::grid::TimeGrid;
use crate::shown::number;
use crate::signature::Signature;
use crate::signature::difference;
use crate::system::StateVector;
use crate::{Error, Result};

/// Behaviour that is wanted of an output.
#[derive(Debug, Clone, PartialEq)]
pub enum Aim {
    /// Follow these values, one a time of the grid; NaN where it is free.
    Follow(Vec<f64>),
    /// Have this value at the last time (an end-point or "scrap" term).
    Reach(f64),
    /// Stay between these values: what is outside counts by its square (a soft limit).
    Within {
        /// Lower limit, `-inf` for none.
        lower: f64,
        /// Upper limit, `inf` for none.
        upper: f64,
    },
}

/// One term of [`Goals`].
#[derive(Debug, Clone, PartialEq)]
pub struct Goal {
    /// The output, by name.
    pub output: String,
    /// Behaviour that is wanted of the output.
    pub aim: Aim,
    /// Weight w of the goal, not negative; of one that must be met, the first penalty.
    pub weight: f64,
    /// True where the goal must be met: it is a constraint then.
    pub must: bool,
}

impl Goal {
    /// A goal with the weight 1.
    pub fn new(output: impl Into<String>, aim: Aim) -> Self {
        Goal { output: output.into(), aim, weight: 1.0, must: false }
    }

    /// The goal with another weight.
    pub fn weighted(self, weight: f64) -> Self {
        Goal { weight, ..self }
    }

    /// The goal as a constraint, which must be met.
    pub fn exactly(self) -> Self {
        Goal { must: true, ..self }
    }

    /// Checks the goal for a mechanism with this signature.
    ///
    /// # Errors
    /// An unknown output, a weight that is negative or no number, limits that cross.
    pub fn check(&self, signature: &Signature) -> Result<()> {
        signature.output_index(&self.output)?;
        let what = || format!("the goal of output `{}`", self.output);
        if !(self.weight.is_finite() && self.weight >= 0.0) {
            let problem = format!("its weight is {}", self.weight);
            return Err(Error::invalid(what(), problem, "give a weight of zero or more"));
        }
        if self.must && self.weight == 0.0 {
            let problem = "it must be met, but its weight, the first penalty, is 0";
            return Err(Error::invalid(what(), problem, "give a positive weight"));
        }
        match &self.aim {
            Aim::Within { lower, upper } if lower.is_infinite() && upper.is_infinite() => {
                let problem = "neither of its limits is finite";
                return Err(Error::invalid(what(), problem, "give a lower or an upper limit"));
            }
            Aim::Within { lower, upper } if lower >= upper || lower.is_nan() || upper.is_nan() => {
                let problem = format!("its limits {lower} and {upper} cross");
                return Err(Error::invalid(what(), problem, "give a lower limit below the upper one"));
            }
            Aim::Reach(value) if !value.is_finite() => {
                return Err(Error::invalid(what(), format!("it is to reach {value}"), "give a number"));
            }
            _ => {}
        }
        Ok(())
    }

    /// The goal in words, for reports.
    pub fn in_words(&self) -> String {
        let output = &self.output;
        match &self.aim {
            Aim::Follow(_) => format!("{output} follows its path"),
            Aim::Reach(value) => format!("{output} reaches {} at the end", number(*value)),
            Aim::Within { lower, upper } => match (lower.is_finite(), upper.is_finite()) {
                (true, true) => format!("{output} stays within {} and {}", number(*lower), number(*upper)),
                (true, false) => format!("{output} stays above {}", number(*lower)),
                _ => format!("{output} stays below {}", number(*upper)),
            },
        }
    }
}

/// A goal with its output's place and period.
#[derive(Debug, Clone)]
struct Term {
    goal: Goal,
    output: usize,
    period: Option<f64>,
    /// Multipliers over the penalty, one a time (one for the end); empty before the first are asked for.
    shifts: Vec<f64>,
    /// The penalty beside the goal's weight.
    penalty: f64,
}

impl Term {
    fn new(signature: &Signature, goal: Goal) -> Result<Self> {
        goal.check(signature)?;
        let output = signature.output_index(&goal.output)?;
        Ok(Term { output, period: signature.outputs[output].period, goal, shifts: Vec::new(), penalty: 1.0 })
    }

    /// Distance of a value, shifted by the multiplier, from what is wanted at time `i`; `None` where nothing is.
    #[inline]
    fn distance(&self, i: usize, y: f64, at_end: bool) -> Option<f64> {
        let shift = match self.goal.aim {
            Aim::Reach(_) => self.shifts.first(),
            _ => self.shifts.get(i),
        };
        let y = y + shift.copied().unwrap_or(0.0);
        match &self.goal.aim {
            Aim::Follow(values) => Some(difference(y, values[i], self.period)).filter(|_| !values[i].is_nan()),
            Aim::Reach(value) => at_end.then(|| difference(y, *value, self.period)),
            Aim::Within { lower, upper } => {
                // NaN is not within
                let distance = y - y.max(*lower).min(*upper);
                let distance = if y.is_nan() { y } else { distance };
                (distance != 0.0).then_some(distance)
            }
        }
    }
}

/// A sum of goals for the outputs, as a cost.
#[derive(Debug, Clone)]
pub struct Goals {
    terms: Vec<Term>,
    quadrature: Quadrature,
}

impl Goals {
    /// Goals of a mechanism with this signature; sums over time have the weights of `quadrature`.
    ///
    /// # Errors
    /// An unknown output, a weight that is negative or no number, limits that cross, or no goal at all.
    pub fn new(signature: &Signature, goals: Vec<Goal>, quadrature: Quadrature) -> Result<Self> {
        if goals.is_empty() {
            return Err(Error::invalid("the goals", "there are none", "give at least one"));
        }
        let terms = goals.into_iter().map(|goal| Term::new(signature, goal)).collect::<Result<_>>()?;
        Ok(Goals { terms, quadrature })
    }

    /// The goals.
    pub fn goals(&self) -> impl Iterator<Item = &Goal> {
        self.terms.iter().map(|term| &term.goal)
    }

    /// Each goal alone, for its share of the cost.
    pub fn each(&self) -> impl Iterator<Item = Goals> + '_ {
        self.terms.iter().map(|term| Goals { terms: vec![term.clone()], quadrature: self.quadrature })
    }

    /// Shows the output, the distance and the weight of each term that takes part in a sample: it is ½ weight distance².
    #[inline]
    fn visit(&self, sample: &Sample<'_>, mut visit: impl FnMut(usize, f64, f64)) {
        let eta = self.quadrature.weight(sample.before, sample.after);
        for term in &self.terms {
            let eta = if matches!(term.goal.aim, Aim::Reach(_)) { 1.0 } else { eta };
            let weight = eta * term.goal.weight * term.penalty;
            let distance = term.distance(sample.index, sample.y[term.output], sample.index == sample.last);
            if let Some(distance) = distance.filter(|_| weight > 0.0) {
                visit(term.output, distance, weight);
            }
        }
    }

    /// The cost of outputs at these times, as it is without multipliers.
    pub fn cost_of(&self, times: &[f64], output: &dyn Fn(usize) -> Vec<f64>) -> f64 {
        let last = times.len() - 1;
        let mut sum = 0.0;
        for term in &self.terms {
            let (y, plain) = (output(term.output), Term { shifts: Vec::new(), ..term.clone() });
            for i in 0..=last {
                let before = if i > 0 { times[i] - times[i - 1] } else { 0.0 };
                let after = if i < last { times[i + 1] - times[i] } else { 0.0 };
                let eta = match term.goal.aim {
                    Aim::Reach(_) => 1.0,
                    _ => self.quadrature.weight(before, after),
                };
                let distance = plain.distance(i, y[i], i == last).unwrap_or(0.0);
                sum += 0.5 * eta * term.goal.weight * distance * distance;
            }
        }
        sum
    }

    /// True if any of the goals must be met.
    pub fn has_constraints(&self) -> bool {
        self.terms.iter().any(|term| term.goal.must)
    }

    /// Largest distance of outputs at these times from what they must be: goal, distance, and time.
    pub fn violations(&self, times: &[f64], output: &dyn Fn(usize) -> Vec<f64>) -> Vec<(&Goal, f64, f64)> {
        self.distances(&|goal| goal.must, times, output)
    }

    /// Largest distance of outputs at these times from their soft limits: goal, distance, and time.
    pub fn beyond_limits(&self, times: &[f64], output: &dyn Fn(usize) -> Vec<f64>) -> Vec<(&Goal, f64, f64)> {
        self.distances(&|goal| !goal.must && matches!(goal.aim, Aim::Within { .. }), times, output)
    }

    fn distances(
        &self,
        is_meant: &dyn Fn(&Goal) -> bool,
        times: &[f64],
        output: &dyn Fn(usize) -> Vec<f64>,
    ) -> Vec<(&Goal, f64, f64)> {
        let meant = self.terms.iter().filter(|term| is_meant(&term.goal));
        meant
            .map(|term| {
                let plain = Term { shifts: Vec::new(), ..term.clone() };
                let y = output(term.output);
                let last = y.len() - 1;
                let distances = (0..=last).map(|i| plain.distance(i, y[i], i == last).unwrap_or(0.0).abs());
                let worst = distances.enumerate().fold((0, 0.0f64), |worst, x| if x.1 > worst.1 { x } else { worst });
                (&term.goal, worst.1, times[worst.0])
            })
            .collect()
    }

    /// Begins with the multipliers of the same goals on another grid, as far as these are for the end.
    pub fn begin_with(&mut self, other: &Goals) {
        for (term, other) in self.terms.iter_mut().zip(&other.terms) {
            if term.goal.must && other.shifts.len() == 1 {
                (term.shifts, term.penalty) = (other.shifts.clone(), other.penalty);
            }
        }
    }

    /// Takes the multipliers that the outputs of a run ask for, and makes penalties `factor` times as large.
    pub fn update_multipliers(&mut self, output: &dyn Fn(usize) -> Vec<f64>, factor: f64) {
        for term in self.terms.iter_mut().filter(|term| term.goal.must) {
            let y = output(term.output);
            let last = y.len() - 1;
            if term.shifts.is_empty() {
                term.shifts = vec![0.0; if matches!(term.goal.aim, Aim::Reach(_)) { 1 } else { y.len() }];
            }
            let asked: Vec<f64> = (0..=last).map(|i| term.distance(i, y[i], i == last).unwrap_or(0.0)).collect();
            let asked = if term.shifts.len() == 1 { &asked[last..] } else { &asked[..] };
            term.shifts.iter_mut().zip(asked).for_each(|(shift, asked)| *shift = asked / factor);
            term.penalty *= factor;
        }
    }
}

impl Cost for Goals {
    fn check(&self, signature: &Signature, grid: &TimeGrid) -> Result<()> {
        let times = grid.count() + 1;
        for Term { goal, .. } in &self.terms {
            signature.output_index(&goal.output)?;
            if let Aim::Follow(values) = &goal.aim
                && values.len() != times
            {
                let problem = format!("its path has {} values for {} times", values.len(), times);
                let remedy = "give one value a time of the grid, NaN where it is free";
                return Err(Error::invalid(format!("the goal of output `{}`", goal.output), problem, remedy));
            }
        }
        Ok(())
    }

    fn evaluator(&self, _signature: &Signature) -> Box<dyn CostEvaluator + '_> {
        Box::new(GoalsEvaluator { goals: self })
    }

    fn squared_rows(&self, sample: &Sample<'_>, rows: &mut Vec<SquaredRow>) -> bool {
        self.visit(sample, |output, distance, weight| {
            let slope = weight.sqrt();
            rows.push(SquaredRow { output, residual: slope * distance, slope });
        });
        true
    }
}

struct GoalsEvaluator<'c> {
    goals: &'c Goals,
}

impl CostEvaluator for GoalsEvaluator<'_> {
    fn concerns(&self, index: usize, last: usize) -> bool {
        index == last || self.goals.terms.iter().any(|term| !matches!(term.goal.aim, Aim::Reach(_)))
    }

    fn value(&mut self, sample: &Sample<'_>) -> f64 {
        let mut sum = 0.0;
        self.goals.visit(sample, |_, distance, weight| sum += 0.5 * weight * distance * distance);
        sum
    }

    fn gradient(&mut self, sample: &Sample<'_>, _state: &mut StateVector, y: &mut [f64]) {
        self.goals.visit(sample, |output, distance, weight| y[output] += weight * distance);
    }

    fn curvature(
        &mut self,
        sample: &Sample<'_>,
        _tangent: &StateVector,
        y_tangent: &[f64],
        _state: &mut StateVector,
        y: &mut [f64],
    ) {
        self.goals.visit(sample, |output, _, weight| y[output] += weight * y_tangent[output]);
    }
}
