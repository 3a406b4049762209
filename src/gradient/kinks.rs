//! Kinks and jumps: points at which a linearisation depends on the side from which it is taken.
//!
//! |x| at zero, a sign, the larger of two equal numbers have a slope on either side, and derivatives are those of one of them. With a direction d in
//! general position, a kink through x separates x + δ d from x - δ d, whichever variables it depends on: there, exact derivatives differ by as much at
//! δ as at δ/100, while those of smooth functions differ by a hundredth. So two pairs of linearisations tell all kinks at once.

use crate::random::SplitMix64;
use crate::shown::rounded;
use crate::signature::{Quantity, Signature};
use crate::system::{By, Equations, Evaluator, OutputPoint, Point, StatePart, StateVector, System, Weights};

/// Distances from the point, beside the size of what is moved.
const DISTANCES: [f64; 2] = [1e-8, 1e-10];
/// Smaller differences, beside the largest slope of their row, are no kinks that matter.
const SLIGHT: f64 = 1e-6;
/// Slopes below this part of the largest of all rows are round-off.
const ROUND_OFF: f64 = 1e-12;
/// Values that differ by less than so many bounds of their round-off do not jump.
const BOUNDS: f64 = 1e3;
/// A difference that is left of this part, a hundred times nearer, does not vanish there.
const LEFT: f64 = 0.5;

/// A place where an equation or an output has two slopes, or two values.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Kink {
    /// Of what, in words: ``the forces on `x` ``, ``the output `a` ``.
    pub what: String,
    /// By what the two slopes are, in words; `None` where the value itself jumps.
    pub by: Option<String>,
    /// The two slopes, or values, in the order of numbers.
    pub sides: [f64; 2],
    /// Whose output it is, if it is not one of the equations.
    pub output: Option<usize>,
    /// By which input slopes are, if by one.
    pub input: Option<usize>,
}

impl std::fmt::Display for Kink {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [one, other] = self.sides.map(|side| rounded(side, 4));
        match &self.by {
            Some(by) => write!(f, "the slope of {} by {by} is {one} on one side and {other} on the other", self.what),
            None => write!(f, "{} jumps from {one} to {other}", self.what),
        }
    }
}

/// All of them in a sentence with what to do; none where there are none.
pub fn in_a_sentence(kinks: &[Kink]) -> Option<String> {
    const TOLD: usize = 2;
    let told: Vec<String> = kinks.iter().take(TOLD).map(Kink::to_string).collect();
    let more = if kinks.len() > TOLD { format!(" (and {} more)", kinks.len() - TOLD) } else { String::new() };
    (!kinks.is_empty()).then(|| {
        format!(
            "the linearisation sits on a kink (|x|, a sign, max or min where it switches): {}{more}; one side is taken, and what follows holds for that side \
             alone: move the point off the kink, or give the model a smooth passage",
            told.join("; ")
        )
    })
}

/// Kinks and jumps of the equations of motion, of constraints and of outputs at `x`, by state, multipliers and inputs. It takes four linearisations and
/// a product with the transposed derivatives for each equation and output: for a word at one point, not for time steps.
pub fn kinks(system: &dyn System, x: &Point<'_>, u: &[f64]) -> Vec<Kink> {
    let signature = system.signature();
    let mut evaluator = system.evaluator_by(By::BOTH);
    evaluator.set_parameters(u);
    let at = Looked { signature, x, directions: directions(signature, x) };
    let [far, near] = DISTANCES.map(|distance| [1.0, -1.0].map(|side| at.look(&mut *evaluator, side * distance)));
    let bounds = at.bounds(&mut *evaluator);
    let mut found = Vec::new();
    for (row, bound) in bounds.iter().enumerate() {
        let values = |pair: &[Side; 2]| [pair[0].values[row], pair[1].values[row]];
        let difference = |pair: [f64; 2]| (pair[0] - pair[1]).abs();
        let [a, b] = values(&near);
        // false for NaN
        if difference([a, b]) > *bound && difference([a, b]) > LEFT * difference(values(&far)) {
            found.push(at.kink(row, None, [a, b]));
            continue;
        }
        for part in PARTS {
            let slope = |side: &Side, j: usize| side.slopes[row].part(part)[j];
            let count = near[0].slopes[row].part(part).len();
            let size = |row: &StateVector| row.part(part).iter().fold(0.0f64, |size, slope| size.max(slope.abs()));
            let all = near.iter().flat_map(|side| &side.slopes).map(&size).fold(0.0, f64::max);
            let own = near.iter().map(|side| size(&side.slopes[row])).fold(0.0, f64::max);
            for j in 0..count {
                let [a, b] = [slope(&near[0], j), slope(&near[1], j)];
                let farther = difference([slope(&far[0], j), slope(&far[1], j)]);
                let off = difference([a, b]);
                if off > (SLIGHT * own).max(ROUND_OFF * all) && off > LEFT * farther {
                    found.push(at.kink(row, Some((part, j)), [a, b]));
                }
            }
        }
    }
    found
}

/// By what slopes are compared.
const PARTS: [StatePart; 5] =
    [StatePart::Position, StatePart::Velocity, StatePart::Acceleration, StatePart::Multiplier, StatePart::Input];

/// Values of all rows, and their slopes, on one side.
struct Side {
    values: Vec<f64>,
    slopes: Vec<StateVector>,
}

/// The point, and the directions in which it is left: of q, v, λ and w.
struct Looked<'a> {
    signature: &'a Signature,
    x: &'a Point<'a>,
    directions: [Vec<f64>; 4],
}

/// In general position, as large as what they move, by units; 1 where that is zero.
fn directions(signature: &Signature, x: &Point<'_>) -> [Vec<f64>; 4] {
    let mut random = SplitMix64::new(1);
    let mut of = |quantities: &[&Quantity], values: &[f64]| -> Vec<f64> {
        let size = |unit: &str| {
            let same = quantities.iter().zip(values).filter(|(quantity, _)| quantity.unit == unit);
            same.fold(0.0f64, |size, (_, value)| size.max(value.abs()))
        };
        let sized =
            quantities.iter().map(|quantity| size(&quantity.unit)).map(|size| if size > 0.0 { size } else { 1.0 });
        sized
            .map(|size| {
                let part = random.unit();
                // away from zero, to either side
                size * if part < 0.5 { part - 1.0 } else { part }
            })
            .collect()
    };
    let unknowns: Vec<&Quantity> = signature.unknowns().collect();
    let constraints: Vec<&Quantity> = signature.constraints.iter().collect();
    let inputs: Vec<&Quantity> = signature.inputs.iter().collect();
    [of(&unknowns, x.q), of(&unknowns, x.v), of(&constraints, x.lambda), of(&inputs, x.w)]
}

/// What a row of equations of motion, constraints and outputs is, in words.
pub(super) fn row_name(signature: &Signature, row: usize) -> String {
    match row.checked_sub(signature.unknown_count() + signature.constraints.len()) {
        None if row < signature.coordinates.len() => format!("the forces on `{}`", signature.unknown_name(row)),
        None => format!("the {}", signature.equation_name(row)),
        Some(output) => format!("the output `{}`", signature.outputs[output].name),
    }
}

impl Looked<'_> {
    /// Equations of motion, constraints, outputs.
    fn rows(&self) -> usize {
        self.equations() + self.signature.outputs.len()
    }

    fn equations(&self) -> usize {
        self.signature.unknown_count() + self.signature.constraints.len()
    }

    fn kink(&self, row: usize, by: Option<(StatePart, usize)>, sides: [f64; 2]) -> Kink {
        // D has forces and rates with a minus
        let [a, b] = if row < self.signature.unknown_count() { sides.map(|side| -side) } else { sides };
        Kink {
            what: row_name(self.signature, row),
            by: by.map(|(part, j)| self.variable(part, j)),
            sides: [a.min(b), a.max(b)],
            output: row.checked_sub(self.equations()),
            input: by.filter(|(part, _)| *part == StatePart::Input).map(|(_, j)| j),
        }
    }

    fn variable(&self, part: StatePart, j: usize) -> String {
        match part {
            StatePart::Position => self.signature.part_name("position", j),
            StatePart::Velocity => self.signature.part_name("velocity", j),
            StatePart::Multiplier => format!("the multiplier of `{}`", self.signature.constraints[j].name),
            StatePart::Input => format!("the input `{}`", self.signature.inputs[j].name),
            _ => self.signature.part_name("acceleration", j),
        }
    }

    /// Values and slopes at this distance along the directions.
    fn look(&self, system: &mut dyn Evaluator, distance: f64) -> Side {
        let moved = |values: &[f64], direction: &[f64]| -> Vec<f64> {
            values.iter().zip(direction).map(|(value, part)| value + distance * part).collect()
        };
        let [q, v, lambda, w] = &self.directions;
        let Point { t, a, .. } = *self.x;
        let (q, v) = (moved(self.x.q, q), moved(self.x.v, v));
        let (lambda, w) = (moved(self.x.lambda, lambda), moved(self.x.w, w));
        let x = Point { t, q: &q, v: &v, a, lambda: &lambda, w: &w };
        let (n, m) = (q.len(), lambda.len());
        let mut values = vec![0.0; self.rows()];
        let (dynamics, rest) = values.split_at_mut(n);
        let (constraint, outputs) = rest.split_at_mut(m);
        system.residual(&x, Equations::MOTION, dynamics, constraint);
        let equations = Equations::MOTION;
        let weights =
            Weights { acceleration: 1.0, position: 0.0, velocity: 0.0, state: 0.0, compliance: 0.0, equations };
        // products are valid where the matrix has no inverse, too
        let _ = system.linearise(&x, weights);
        let mut slopes = Vec::with_capacity(self.rows());
        for row in 0..n + m {
            let mut chosen = vec![0.0; n + m];
            chosen[row] = 1.0;
            let mut slope = StateVector::zeros(self.signature);
            system.pull_back(1.0, &chosen[..n], &chosen[n..], &mut slope);
            slopes.push(slope);
        }
        let seen = OutputPoint { t, q: &q, v: &v, a, a_scheme: a, lambda: &lambda, w: &w };
        system.output(&seen, outputs);
        system.linearise_output(&seen);
        for output in 0..outputs.len() {
            let mut chosen = vec![0.0; outputs.len()];
            chosen[output] = 1.0;
            let mut slope = StateVector::zeros(self.signature);
            system.output_pull_back(&chosen, &mut slope);
            slopes.push(slope);
        }
        Side { values, slopes }
    }

    /// Differences of values of rows without a jump.
    fn bounds(&self, system: &mut dyn Evaluator) -> Vec<f64> {
        let (n, m) = (self.x.q.len(), self.x.lambda.len());
        let mut bounds = vec![0.0; self.rows()];
        let (dynamics, rest) = bounds.split_at_mut(n);
        let (constraint, outputs) = rest.split_at_mut(m);
        system.round_off(self.x, Equations::MOTION, dynamics, constraint);
        let Point { t, q, v, a, lambda, w } = *self.x;
        system.output(&OutputPoint { t, q, v, a, a_scheme: a, lambda, w }, outputs);
        outputs.iter_mut().for_each(|value| *value = f64::EPSILON * value.abs());
        bounds.iter_mut().for_each(|bound| *bound = BOUNDS * bound.max(f64::MIN_POSITIVE));
        bounds
    }
}
