//! The projection of a start onto the constraints, with first and second derivatives.
//!
//! Positions and velocities are projected one after the other by equations of one form, with the multiplier κ (ν, then μ)
//! and the change δ that the projection makes (q_0 - q_m, then v_0 - v_m):
//!
//! ```text
//! M δ + C_qᵀ κ = 0,      C = 0, then C_q v + C_t = 0
//! ```
//!
//! These are the equations of motion without forces, δ and κ in the place of accelerations and multipliers. Of a coordinate that is held, δ = 0 takes the
//! place of its equation; see [`border`](super::border).

use super::border::{self, Border};
use super::{Violations, in_words};
use crate::diagnosis::{Purpose, REPEATED, not_finite, singular};
use crate::error::{Error, Result};
use crate::scheme::Direction;
use crate::signature::Signature;
use crate::system::{Equations, Evaluator, Level, Point, StateVector, Weights};

/// Newton's method needs some 5 of them, where there is a solution.
const MOST_ITERATIONS: usize = 60;

/// The model's state before projection, and the multipliers of both projections.
#[derive(Debug, Clone)]
pub(super) struct Projection {
    q_model: Vec<f64>,
    v_model: Vec<f64>,
    nu: Vec<f64>,
    mu: Vec<f64>,
    /// Coordinates that stay where the model puts them.
    held: Vec<usize>,
}

/// What is projected where.
pub(super) struct Setting<'a> {
    pub signature: &'a Signature,
    pub t: f64,
    pub w: &'a [f64],
    pub held: &'a [usize],
}

/// One of the two projections, at a change and a multiplier.
struct Stage {
    level: Level,
    change: Vec<f64>,
    multiplier: Vec<f64>,
}

/// Tangents of the model's state and of both multipliers, for one direction of the parameters.
struct Origin {
    q: Vec<f64>,
    v: Vec<f64>,
    nu: Vec<f64>,
    mu: Vec<f64>,
}

fn add(to: &mut [f64], values: &[f64]) {
    to.iter_mut().zip(values).for_each(|(x, value)| *x += value);
}

impl Projection {
    /// Moves `q` and `v` onto the constraints.
    pub(super) fn solve(
        system: &mut dyn Evaluator,
        setting: &Setting<'_>,
        q: &mut [f64],
        v: &mut [f64],
    ) -> Result<Self> {
        let &Setting { signature, t, w, held } = setting;
        let (n, m) = (q.len(), signature.constraints.len());
        let (q_model, v_model) = (q.to_vec(), v.to_vec());
        let zeros = vec![0.0; n.max(m)];
        let point = Point { t, q, v, a: &zeros[..n], lambda: &zeros[..m], w };
        border::check(system, signature, &point, held, REPEATED)?;
        let mut nu = vec![0.0; m];
        let mut last = f64::INFINITY;
        let mut converged = false;
        let (mut iterations, mut stopped) = (0, None);
        // positions with the smallest residuals so far
        let (mut best, mut least) = (q.to_vec(), f64::INFINITY);
        while iterations < MOST_ITERATIONS {
            let stage = Stage::new(Level::Position, q, &q_model, &nu);
            let point = Point { t, q, v, a: &zeros[..n], lambda: &zeros[..m], w };
            let mut step = stage.equations(system, &point);
            let residual = step[n..].to_vec();
            let size = residual.iter().map(|c| c * c).sum::<f64>();
            if size < least {
                least = size;
                best.copy_from_slice(q);
            }
            let mut border = match stage.linearise(system, signature, &point, held) {
                Ok(border) => border,
                Err(error) => {
                    let finite = step.iter().all(|r| r.is_finite());
                    stopped = Some(if finite { error } else { not_finite(signature, &point, &step, 0) });
                    break;
                }
            };
            iterations += 1;
            // held coordinates have no step
            step.resize(n + m + held.len(), 0.0);
            border.solve(system, &mut step);
            if !step.iter().all(|x| x.is_finite()) {
                break;
            }
            q.iter_mut().chain(&mut nu).zip(&step).for_each(|(x, step)| *x -= step);
            let largest = |values: &[f64]| values.iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
            let size = largest(&step[..n]) / (largest(q) + 1e-300);
            let known = size > 0.3 * last && {
                // no progress: is what is left the constraint's own round-off?
                let (mut bound, mut unused) = (vec![0.0; m], vec![0.0; n]);
                let point = Point { t, q, v, a: &zeros[..n], lambda: &nu, w };
                system.round_off(&point, Equations::MOTION, &mut unused, &mut bound);
                residual.iter().zip(&bound).all(|(c, bound)| c.abs() <= 2.0 * bound)
            };
            if size <= 1e-15 || known {
                converged = true;
                break;
            }
            last = size;
        }
        if !converged {
            let violations = Violations::find(system, signature, t, w, &best, &zeros[..n]).of_positions(signature);
            return Err(match stopped {
                Some(error) if iterations == 0 || violations.is_empty() => error,
                _ if violations.is_empty() => Error::NotAssembled {
                    iterations,
                    violations: "none by more than round-off, without settling".into(),
                },
                _ => Error::NotAssembled { iterations, violations: in_words(&violations) },
            });
        }
        // linear in (v, μ): one solve, and one more to remove its round-off
        let mut mu = vec![0.0; m];
        let stage = Stage::new(Level::Velocity, v, &v_model, &mu);
        let point = Point { t, q, v, a: &zeros[..n], lambda: &zeros[..m], w };
        let mut border = stage.linearise(system, signature, &point, held)?;
        for _ in 0..2 {
            let stage = Stage::new(Level::Velocity, v, &v_model, &mu);
            let point = Point { t, q, v, a: &zeros[..n], lambda: &zeros[..m], w };
            let mut step = stage.equations(system, &point);
            step.resize(n + m + held.len(), 0.0);
            border.solve(system, &mut step);
            v.iter_mut().chain(&mut mu).zip(&step).for_each(|(x, step)| *x -= step);
        }
        Ok(Projection { q_model, v_model, nu, mu, held: held.to_vec() })
    }

    /// Both projections at their solution: positions, velocities.
    fn stages(&self, x0: &Point<'_>) -> [Stage; 2] {
        [
            Stage::new(Level::Position, x0.q, &self.q_model, &self.nu),
            Stage::new(Level::Velocity, x0.v, &self.v_model, &self.mu),
        ]
    }

    /// From a cotangent of the projected state to one of the model's, and of the parameters; and its derivatives along
    /// directions.
    pub(super) fn pull_back(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        bar: &mut StateVector,
        directions: &mut [Direction],
    ) -> Result<()> {
        let mut tangents: Vec<StateVector> = directions
            .iter()
            .map(|direction| {
                let mut own = StateVector { u: direction.tangent.u.clone(), ..StateVector::zeros(signature) };
                system.initial_push_forward(&own.u, &mut own.q, &mut own.v);
                own
            })
            .collect();
        let origins = if tangents.is_empty() { Vec::new() } else { self.push(system, signature, x0, &mut tangents)? };
        let no_multiplier = vec![0.0; x0.lambda.len()];
        for stage in self.stages(x0).iter().rev() {
            let mut border = stage.linearise(system, signature, x0, &self.held)?;
            let p = stage.weighing(system, &mut border, bar, &no_multiplier);
            for (Direction { tangent, cotangent, .. }, origin) in directions.iter_mut().zip(&origins) {
                let curved = stage.curve(system, x0, &p, tangent, origin, signature);
                for (part, curved) in
                    [(&mut cotangent.q, &curved.q), (&mut cotangent.v, &curved.v), (&mut cotangent.u, &curved.u)]
                {
                    add(part, curved);
                }
                // what falls to δ falls to the projected state, and with the other sign to the model's
                add(stage.projected(cotangent), &curved.a);
                let own = stage.weighing(system, &mut border, cotangent, &curved.lambda);
                stage.pull(system, (signature, &self.held), x0, &own, cotangent);
                stage.projected(cotangent).iter_mut().zip(&curved.a).for_each(|(x, curved)| *x -= curved);
            }
            stage.pull(system, (signature, &self.held), x0, &p, bar);
        }
        Ok(())
    }

    /// From tangents of the model's state to those of the projected one.
    pub(super) fn push_forward(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        tangents: &mut [StateVector],
    ) -> Result<()> {
        self.push(system, signature, x0, tangents).map(|_| ())
    }

    /// As [`Projection::push_forward`], with the tangents that it began with, and those of both multipliers.
    fn push(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x0: &Point<'_>,
        tangents: &mut [StateVector],
    ) -> Result<Vec<Origin>> {
        let [positions, velocities] = self.stages(x0);
        let mut border = positions.linearise(system, signature, x0, &self.held)?;
        let mut origins = Vec::with_capacity(tangents.len());
        for tangent in tangents.iter_mut() {
            let q = std::mem::take(&mut tangent.q);
            let v = tangent.v.clone();
            let nu;
            (tangent.q, nu) = positions.push(system, &mut border, x0, tangent, &q);
            origins.push(Origin { q, v, nu, mu: Vec::new() });
        }
        let mut border = velocities.linearise(system, signature, x0, &self.held)?;
        for (tangent, origin) in tangents.iter_mut().zip(&mut origins) {
            (tangent.v, origin.mu) = velocities.push(system, &mut border, x0, tangent, &origin.v);
        }
        Ok(origins)
    }
}

/// What a stage's equations are weighed with: n and m numbers, and one a held coordinate, one behind the other.
type Weighing = Vec<f64>;

impl Stage {
    fn new(level: Level, values: &[f64], of_model: &[f64], multiplier: &[f64]) -> Self {
        let change = values.iter().zip(of_model).map(|(x, model)| x - model).collect();
        Stage { level, change, multiplier: multiplier.to_vec() }
    }

    fn equations_of(&self) -> Equations {
        Equations { forces: false, level: self.level }
    }

    fn point<'x>(&'x self, x: &Point<'x>) -> Point<'x> {
        Point { a: &self.change, lambda: &self.multiplier, ..*x }
    }

    /// The left sides of the equations.
    fn equations(&self, system: &mut dyn Evaluator, x: &Point<'_>) -> Vec<f64> {
        let (n, m) = (x.q.len(), x.lambda.len());
        let mut left = vec![0.0; n + m];
        let (dynamics, constraint) = left.split_at_mut(n);
        system.residual(&self.point(x), self.equations_of(), dynamics, constraint);
        left
    }

    /// Derivatives and factors of the equations by (what is projected, κ).
    fn linearise<'h>(
        &self,
        system: &mut dyn Evaluator,
        signature: &Signature,
        x: &Point<'_>,
        held: &'h [usize],
    ) -> Result<Border<'h>> {
        // positions that are projected change M and C_q with them
        let position = if self.level == Level::Position { 1.0 } else { 0.0 };
        let weights = Weights {
            acceleration: 1.0,
            position,
            velocity: 1.0 - position,
            compliance: 0.0,
            equations: self.equations_of(),
        };
        if system.linearise(&self.point(x), weights).is_err() {
            return Err(singular(system, signature, x, Purpose::Accelerations));
        }
        match Border::new(system, held, x.q.len() + x.lambda.len()) {
            Some(border) => Ok(border),
            None => Err(border::check(system, signature, x, held, REPEATED).err().unwrap_or_else(|| {
                let problem = "the others cannot satisfy the constraints here";
                Error::invalid("the held coordinates", problem, "hold fewer, or others")
            })),
        }
    }

    /// The part of a state that is projected.
    fn projected<'x>(&self, x: &'x mut StateVector) -> &'x mut Vec<f64> {
        if self.level == Level::Position { &mut x.q } else { &mut x.v }
    }

    /// Linearised: tangents of what is projected and of κ, from that of the model's state; for velocities, `tangent` holds that
    /// of the projected positions.
    fn push(
        &self,
        system: &mut dyn Evaluator,
        border: &mut Border<'_>,
        x0: &Point<'_>,
        tangent: &StateVector,
        of_model: &[f64],
    ) -> (Vec<f64>, Vec<f64>) {
        let (n, m) = (x0.q.len(), x0.lambda.len());
        let zeros = || vec![0.0; n];
        let mut along = StateVector {
            q: zeros(),
            v: zeros(),
            a: zeros(),
            a_scheme: zeros(),
            lambda: vec![0.0; m],
            u: tangent.u.clone(),
            w: tangent.w.clone(),
            w_next: Vec::new(),
            memory: Vec::new(),
        };
        if self.level == Level::Velocity {
            along.q.copy_from_slice(&tangent.q);
        }
        along.a.iter_mut().zip(of_model).for_each(|(a, model)| *a = -model);
        let mut r = vec![0.0; n + m];
        let (dynamics, constraint) = r.split_at_mut(n);
        system.push_forward(&along, dynamics, constraint);
        r.extend(border.held().iter().map(|&j| -of_model[j]));
        border.solve(system, &mut r);
        r.truncate(n + m);
        r.iter_mut().for_each(|x| *x = -*x);
        let multiplier = r.split_off(n);
        (r, multiplier)
    }

    /// Linearised: the weights p with (∂ equations/∂(projected, κ))ᵀ p = (cotangents of the projected state and of κ).
    fn weighing(
        &self,
        system: &mut dyn Evaluator,
        border: &mut Border<'_>,
        bar: &mut StateVector,
        by_multiplier: &[f64],
    ) -> Weighing {
        let mut p = [self.projected(bar), by_multiplier].concat();
        p.resize(p.len() + border.held().len(), 0.0);
        border.solve_transposed(system, &mut p);
        p
    }

    /// Linearised, with the weights of the equations: replaces the cotangent of the projected state by that of the model's, and
    /// adds to those of the parameters and, for velocities, of the positions.
    fn pull(
        &self,
        system: &mut dyn Evaluator,
        (signature, held): (&Signature, &[usize]),
        x0: &Point<'_>,
        p: &[f64],
        bar: &mut StateVector,
    ) {
        let (dynamics, rest) = p.split_at(x0.q.len());
        let (constraint, of_held) = rest.split_at(x0.lambda.len());
        let mut own = StateVector::zeros(signature);
        system.pull_back(-1.0, dynamics, constraint, &mut own);
        add(&mut bar.u, &own.u);
        if self.level == Level::Velocity {
            add(&mut bar.q, &own.q);
        }
        let projected = self.projected(bar);
        projected.iter_mut().zip(&own.a).for_each(|(x, a)| *x = -a);
        held.iter().zip(of_held).for_each(|(&j, p)| projected[j] += p);
    }

    /// The gradient of the derivative, along a direction, of the equations weighed with fixed numbers, with the other sign: by q,
    /// v, u, and by δ (in the place of a) and κ (in that of λ).
    fn curve(
        &self,
        system: &mut dyn Evaluator,
        x0: &Point<'_>,
        p: &[f64],
        tangent: &StateVector,
        origin: &Origin,
        signature: &Signature,
    ) -> StateVector {
        let (dynamics, rest) = p.split_at(x0.q.len());
        let constraint = &rest[..x0.lambda.len()];
        let mut curved = StateVector::zeros(signature);
        let (own, model, multiplier) = match self.level {
            Level::Position => (&tangent.q, &origin.q, &origin.nu),
            _ => (&tangent.v, &origin.v, &origin.mu),
        };
        let mut along = tangent.clone();
        along.a = own.iter().zip(model).map(|(x, model)| x - model).collect();
        along.lambda.copy_from_slice(multiplier);
        system.curvature(&self.point(x0), self.equations_of(), -1.0, [dynamics, constraint], &along, &mut curved);
        curved
    }
}
