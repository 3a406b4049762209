//! The search for a static equilibrium.
//!
//! Positions q_0 and multipliers ν solve
//!
//! ```text
//! C_qᵀ ν - Q(t_0, q_0, 0, w_0, u) = 0,      C(t_0, q_0, u) = 0
//! ```
//!
//! by Newton's iteration from the model's initial position. Far from the solution its matrix gets a shift σ M: the step is then
//! an implicit one of length 1/σ along the creeping motion M q' = Q - C_qᵀ ν, C = 0 (Coffey, Kelley & Keyes 2003,
//! *Pseudotransient continuation and differential-algebraic equations*), which goes downhill to where the mechanism would
//! settle. Forces and lengths need not be weighed against each other; coordinates that have neither stiffness nor tension yet
//! are held; and the shift goes to zero where steps agree with what linearisation promises.

use crate::diagnosis::{Purpose, not_finite, singular};
use crate::signature::Signature;
use crate::system::{Equations, Evaluator, Point, Weights};
use crate::{Error, Result};

/// Iterations before the search counts as failed; each costs about one iteration of a time step.
const LIMIT: usize = 300;
/// A step is taken if its second correction is at most this part of the first.
const CONTRACTION: f64 = 0.5;
/// Ratio of corrections below which the shift falls.
const FAST: f64 = 0.25;
/// A shift this small beside the first one that served is left out.
const LAST_SHIFT: f64 = 1e-4;
/// Changes of positions, relative to the largest of their kind, that are round-off if they do not shrink: a Newton step of
/// that size leaves about its square.
const STALLED: f64 = 1e-11;
/// Size of coordinates that are all zero, beside the smallest of other unit_sizes.
const ZERO: f64 = 1e-3;

fn weights(shift: f64) -> Weights {
    Weights {
        acceleration: shift,
        position: 1.0,
        velocity: 0.0,
        state: 1.0,
        compliance: 0.0,
        equations: Equations::MOTION,
    }
}

/// Coordinates of one unit are of one kind: changes are measured by the largest of their kind.
struct UnitSizes {
    of: Vec<usize>,
    sizes: Vec<f64>,
}

impl UnitSizes {
    fn new(signature: &Signature, q: &[f64]) -> Self {
        let mut units: Vec<&str> = Vec::new();
        let mut of = Vec::with_capacity(q.len());
        for coordinate in signature.unknowns() {
            let place = units.iter().position(|unit| *unit == coordinate.unit).unwrap_or(units.len());
            if place == units.len() {
                units.push(&coordinate.unit);
            }
            of.push(place);
        }
        let mut unit_sizes = UnitSizes { of, sizes: vec![0.0; units.len()] };
        unit_sizes.sizes = unit_sizes.largest(q);
        // of a kind that is zero all over, round-off is beside the others
        let least = unit_sizes.sizes.iter().copied().filter(|size| *size > 0.0).fold(f64::INFINITY, f64::min);
        if least.is_finite() {
            unit_sizes.sizes.iter_mut().filter(|size| **size == 0.0).for_each(|size| *size = ZERO * least);
        }
        unit_sizes
    }

    fn largest(&self, values: &[f64]) -> Vec<f64> {
        let mut largest = vec![0.0f64; self.sizes.len()];
        self.of.iter().zip(values).for_each(|(&kind, value)| largest[kind] = largest[kind].max(value.abs()));
        largest
    }

    /// Sizes grow only: what a solution at zero leaves is round-off of the way there.
    fn include(&mut self, values: &[f64]) {
        let largest = self.largest(values);
        self.sizes.iter_mut().zip(largest).for_each(|(size, new)| *size = size.max(new));
    }

    /// The largest change beside the size of its kind; NaN where a change is.
    fn measure(&self, change: &[f64]) -> f64 {
        let relative = self.of.iter().zip(change).filter(|(_, change)| **change != 0.0);
        relative.map(|(&kind, change)| change.abs() / self.sizes[kind]).fold(0.0, |a, b| if a >= b { a } else { b })
    }
}

/// Outcome of a step: how far it goes, and what its second correction is.
struct Trial {
    q: Vec<f64>,
    nu: Vec<f64>,
    correction: Vec<f64>,
}

/// Velocities at rest, and behind them the states that stand behind the positions.
fn at_rest(q: &[f64], states: &std::ops::Range<usize>) -> Vec<f64> {
    q.iter().enumerate().map(|(j, q)| if states.contains(&j) { *q } else { 0.0 }).collect()
}

/// The search, at one position.
struct EquilibriumSearch<'a> {
    t: f64,
    w: &'a [f64],
    /// Positions, and behind them states.
    q: Vec<f64>,
    /// Velocities, which are zero but for the states.
    v: Vec<f64>,
    nu: Vec<f64>,
    zeros: Vec<f64>,
    states: std::ops::Range<usize>,
    /// D and C there.
    residual: Vec<f64>,
    unit_sizes: UnitSizes,
    /// σ, 1/s²; zero where Newton's iteration is left alone.
    shift: f64,
    /// The shift to come back to where no shift fails.
    safe_shift: f64,
    /// The first shift that served.
    first_shift: Option<f64>,
    /// The part of a step that is taken.
    damping: f64,
    /// True if the equilibrium may be one of many.
    may_move: bool,
}

impl<'a> EquilibriumSearch<'a> {
    /// A search from positions at rest, with the accelerations and multipliers there.
    fn new(signature: &Signature, x: &Point<'a>) -> Self {
        let states = signature.state_places();
        let q = [&x.q[..states.start], &x.v[states.clone()]].concat();
        let unit_sizes = UnitSizes::new(signature, &q);
        let scales = unit_sizes.sizes.iter().map(|&size| if size > 0.0 { size } else { 1.0 });
        let shift = unit_sizes.largest(x.a).iter().zip(scales).fold(0.0f64, |shift, (a, size)| shift.max(a / size));
        EquilibriumSearch {
            t: x.t,
            w: x.w,
            v: at_rest(&q, &states),
            q,
            nu: x.lambda.to_vec(),
            zeros: vec![0.0; x.q.len()],
            states,
            residual: vec![0.0; x.q.len() + x.lambda.len()],
            unit_sizes,
            shift: 0.0,
            safe_shift: if shift > 0.0 { shift } else { 1.0 },
            first_shift: None,
            damping: 1.0,
            may_move: false,
        }
    }

    fn point(&self) -> Point<'_> {
        Point { t: self.t, q: &self.q, v: &self.v, a: &self.zeros, lambda: &self.nu, w: self.w }
    }

    /// D and C, and factors of the shifted matrix; false if there are none.
    fn factorise(&mut self, system: &mut dyn Evaluator, signature: &Signature) -> Result<bool> {
        let mut residual = std::mem::take(&mut self.residual);
        let (dynamics, constraint) = residual.split_at_mut(self.q.len());
        let regular = system.factorise(&self.point(), weights(self.shift), dynamics, constraint).is_ok();
        self.residual = residual;
        if !self.residual.iter().all(|r| r.is_finite()) {
            return Err(not_finite(signature, &self.point(), &self.residual, 0));
        }
        Ok(regular)
    }

    /// True if the residuals are round-off.
    fn is_balanced(&self, system: &mut dyn Evaluator) -> bool {
        self.residual.iter().zip(self.round_off(system)).all(|(r, bound)| r.abs() <= bound)
    }

    /// Takes one iteration; where it is the last, it returns the unknowns (q, ν).
    fn iterate(&mut self, system: &mut dyn Evaluator, signature: &Signature) -> Result<Option<Vec<f64>>> {
        let n = self.q.len();
        if !self.factorise(system, signature)? {
            // what moves freely rests wherever forces balance
            if self.shift == 0.0 && self.may_move && self.is_balanced(system) {
                return Ok(Some([&self.q[..], &self.nu].concat()));
            }
            if self.shift == 0.0 && self.first_shift.is_some() {
                return Err(singular(system, signature, &self.point(), Purpose::Equilibrium));
            }
            self.retreat();
            return Ok(None);
        }
        let mut step = self.residual.clone();
        system.solve(&mut step);
        self.unit_sizes.include(&step[..n]);
        let size = self.unit_sizes.measure(&step[..n]);
        let trial = self.try_step(system, &step);
        let contraction = match self.unit_sizes.measure(&trial.correction[..n]) / self.damping {
            0.0 => 0.0,
            left => left / size,
        };
        if self.shift == 0.0 && self.damping == 1.0 {
            let stalls = contraction.is_nan() || contraction > FAST;
            if size <= f64::EPSILON || stalls && (size <= STALLED || self.is_balanced(system)) {
                return Ok(Some([trial.q, trial.nu].concat()));
            }
        }
        // false for NaN
        let agrees = contraction <= CONTRACTION;
        if !agrees {
            // a shift shortens motions, but not what is due to violated constraints
            self.damping *= 0.5;
        }
        if !agrees || self.goes_uphill(&step) {
            self.retreat();
            return Ok(None);
        }
        let corrected = |x: Vec<f64>, correction: &[f64]| x.iter().zip(correction).map(|(x, c)| x - c).collect();
        self.q = corrected(trial.q, &trial.correction[..n]);
        self.v = at_rest(&self.q, &self.states);
        self.nu = corrected(trial.nu, &trial.correction[n..]);
        self.unit_sizes.include(&self.q);
        self.advance(contraction);
        Ok(None)
    }

    /// The position that `step` leads to, with what remains there of the shifted and damped equations, solved for.
    fn try_step(&self, system: &mut dyn Evaluator, step: &[f64]) -> Trial {
        let n = self.q.len();
        let move_by = |x: &[f64], step: &[f64]| -> Vec<f64> {
            x.iter().zip(step).map(|(x, step)| x - self.damping * step).collect()
        };
        let (q, nu) = (move_by(&self.q, &step[..n]), move_by(&self.nu, &step[n..]));
        let a: Vec<f64> = step[..n].iter().map(|step| -self.shift * self.damping * step).collect();
        let mut correction = vec![0.0; step.len()];
        let (dynamics, constraint) = correction.split_at_mut(n);
        let v = at_rest(&q, &self.states);
        let x = Point { q: &q, v: &v, a: &a, lambda: &nu, ..self.point() };
        system.residual(&x, Equations::MOTION, dynamics, constraint);
        correction.iter_mut().zip(&self.residual).for_each(|(r, before)| *r -= (1.0 - self.damping) * before);
        system.solve(&mut correction);
        Trial { q, nu, correction }
    }

    /// True if a step gains energy: M + stiffness is negative along it, and Newton's iteration heads for a summit. What the step does about
    /// violated constraints says nothing of that.
    fn goes_uphill(&self, step: &[f64]) -> bool {
        let n = self.q.len();
        let product = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        // states have no energy
        let work = product(&self.residual[..self.states.start], &step[..self.states.start]);
        let of_constraints = product(&self.residual[n..], &step[n..]);
        work < 0.0 && of_constraints.abs() < 0.1 * work.abs() && self.unit_sizes.measure(&step[..n]) > STALLED
    }

    /// More of the mass, less of the stiffness from here on.
    fn retreat(&mut self) {
        self.shift = if self.shift == 0.0 { self.safe_shift } else { 10.0 * self.shift };
        self.safe_shift = self.shift;
    }

    /// Longer steps, after one whose corrections shrank by `contraction`.
    fn advance(&mut self, contraction: f64) {
        self.damping = (2.0 * self.damping).min(1.0);
        if self.shift == 0.0 {
            return;
        }
        let first = *self.first_shift.get_or_insert(self.shift);
        if contraction <= FAST {
            self.shift *= 0.1;
        }
        if self.shift < LAST_SHIFT * first {
            self.shift = 0.0;
        }
    }

    /// Bounds of the residuals' round-off; none is much smaller than the largest of its kind, which other rows leave in it.
    fn round_off(&self, system: &mut dyn Evaluator) -> Vec<f64> {
        let n = self.q.len();
        let mut bound = vec![0.0; n + self.nu.len()];
        let (dynamics, constraint) = bound.split_at_mut(n);
        system.round_off(&self.point(), Equations::MOTION, dynamics, constraint);
        for part in [dynamics, constraint] {
            let floor = 1e-3 * part.iter().fold(0.0f64, |largest, bound| largest.max(*bound)) + f64::MIN_POSITIVE;
            part.iter_mut().for_each(|bound| *bound = 2.0 * bound.max(floor));
        }
        bound
    }
}

/// Finds the positions and multipliers of an equilibrium, one behind the other, from positions at rest with the accelerations and
/// multipliers there; and the iterations that it took. `may_move`: it may be one of many, of a mechanism that moves freely.
pub(super) fn find(
    system: &mut dyn Evaluator,
    signature: &Signature,
    x: &Point<'_>,
    may_move: bool,
) -> Result<(Vec<f64>, usize)> {
    let mut search = EquilibriumSearch::new(signature, x);
    search.may_move = may_move;
    for iterations in 1..=LIMIT {
        if let Some(found) = search.iterate(system, signature)? {
            return Ok((found, iterations));
        }
    }
    let bound = search.round_off(system);
    let ratio = |row: &usize| search.residual[*row].abs() / bound[*row];
    let worst = (0..bound.len()).max_by(|a, b| ratio(a).total_cmp(&ratio(b))).unwrap_or(0);
    Err(Error::NoEquilibrium {
        time: x.t,
        iterations: LIMIT,
        residual: search.residual.get(worst).map_or(0.0, |r| r.abs()),
        equation: signature.equation_name(worst),
    })
}
