//! Derivatives of eigenvalues by all parameters.

use super::{Complex, Equilibrium, Mode, Modes};
use crate::Matrix;
use crate::diagnosis::{Purpose, singular};
use crate::signature::Signature;
use crate::simulate::Simulation;
use crate::system::{Blocks, Equations, Evaluator, Point, StateVector, Weights};
use crate::{Error, Result};
use std::f64::consts::TAU;

/// Eigenvalues closer than this part of their size are one of several vectors: only the derivative of their mean exists.
const TOGETHER: f64 = 1e-7;
/// Shift by M, beside the fastest mode, that gives an equilibrium's matrix an inverse where it has none.
const SHIFT: f64 = 1e-11;
/// Refinements of a solution with it, and what of its right side may be left after them.
const REFINEMENTS: usize = 4;
const LEFT_OVER: f64 = 1e-8;

/// Derivative of an eigenvalue by the parameters.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Sensitivity {
    /// Derivative of the eigenvalue, dλ/du, p entries, 1/s over the parameters' units.
    pub eigenvalue: Vec<Complex<f64>>,
    /// Number of modes with this eigenvalue: where it is not one, the derivative is that of their mean.
    pub multiplicity: usize,
}

impl Sensitivity {
    /// Derivative of the natural frequency, d|λ|/du / 2π, Hz over the parameters' units.
    pub fn natural_frequency(&self, mode: &Mode) -> Vec<f64> {
        let direction = mode.eigenvalue.conj() / (mode.eigenvalue.norm() * TAU);
        self.eigenvalue.iter().map(|slope| (direction * slope).re).collect()
    }

    /// Derivative of the damped frequency, d Im λ/du / 2π, Hz over the parameters' units.
    pub fn damped_frequency(&self) -> Vec<f64> {
        self.eigenvalue.iter().map(|slope| slope.im / TAU).collect()
    }

    /// Derivative of the damping ratio, d(-Re λ / |λ|)/du.
    pub fn damping_ratio(&self, mode: &Mode) -> Vec<f64> {
        let (lambda, size) = (mode.eigenvalue, mode.eigenvalue.norm());
        let of = |slope: &Complex<f64>| {
            let growth = (lambda.conj() * slope).re / size;
            -slope.re / size + lambda.re * growth / (size * size)
        };
        self.eigenvalue.iter().map(of).collect()
    }
}

/// Real and imaginary parts of a complex tangent or weight.
fn parts(values: &[Complex<f64>]) -> [Vec<f64>; 2] {
    [values.iter().map(|z| z.re).collect(), values.iter().map(|z| z.im).collect()]
}

/// The linearised equilibrium that derivatives are taken with.
pub(super) struct Rest<'a> {
    pub system: Box<dyn Evaluator + 'a>,
    pub x: Point<'a>,
    simulation: &'a Simulation,
    /// Free motions z and M z, with zᵀ M z = 1 and perpendicular to each other: along these, forces do not say where the mechanism rests.
    free: Vec<[Vec<f64>; 2]>,
}

/// Free motions, each as (q, ν), as [`Rest`] has them.
fn free_motions(free: Vec<Vec<f64>>, n: usize, mass: &Matrix<f64>) -> Vec<[Vec<f64>; 2]> {
    let mut found: Vec<[Vec<f64>; 2]> = Vec::new();
    for mut z in free {
        // twice is enough against round-off
        for [other, weighted] in found.iter().chain(&found) {
            let part = product(&z, weighted);
            z.iter_mut().zip(other).for_each(|(z, other)| *z -= part * other);
        }
        let entry = |i: usize| if i < n { (0..n).map(|j| mass[(i, j)] * z[j]).sum() } else { 0.0 };
        let weighted: Vec<f64> = (0..z.len()).map(entry).collect();
        let size = product(&z, &weighted).sqrt();
        if size > 0.0 {
            found.push([z, weighted].map(|own| own.into_iter().map(|x| x / size).collect()));
        }
    }
    found
}

fn product(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Real and imaginary part of a motion e^(s t) of this shape, with these multipliers.
pub(super) fn tangents(
    signature: &Signature,
    s: Complex<f64>,
    (shape, multipliers): (&[Complex<f64>], &[Complex<f64>]),
) -> [StateVector; 2] {
    let scaled = |factor: Complex<f64>| parts(&shape.iter().map(|z| z * factor).collect::<Vec<_>>());
    let [q, mut v, mut a] = [Complex::new(1.0, 0.0), s, s * s].map(scaled);
    // a state stands among velocities
    let states = signature.state_places();
    for part in 0..2 {
        a[part][states.clone()].copy_from_slice(&v[part][states.clone()]);
        v[part][states.clone()].copy_from_slice(&q[part][states.clone()]);
    }
    let lambda = parts(multipliers);
    [0, 1].map(|part| StateVector {
        q: q[part].clone(),
        v: v[part].clone(),
        a: a[part].clone(),
        a_scheme: a[part].clone(),
        lambda: lambda[part].clone(),
        ..StateVector::zeros(signature)
    })
}

impl<'a> Rest<'a> {
    /// Equilibrium of a mechanism that forces hold but for `free` motions, each as (q, ν); `fastest` is the largest |λ|² of its modes,
    /// 1/s².
    ///
    /// # Errors
    /// If the equilibrium does not follow the parameters.
    pub fn new(
        mut system: Box<dyn Evaluator + 'a>,
        x: Point<'a>,
        simulation: &'a Simulation,
        (free, fastest): (Vec<Vec<f64>>, f64),
    ) -> Result<Self> {
        let signature = simulation.signature();
        let mut blocks = Blocks::zeros(signature);
        system.blocks(&x, &mut blocks);
        let free = free_motions(free, x.q.len(), &blocks.mass);
        let equations = Equations::MOTION;
        let mut weights =
            Weights { acceleration: 0.0, position: 1.0, velocity: 0.0, state: 1.0, compliance: 0.0, equations };
        if !free.is_empty() || system.linearise(&x, weights).is_err() {
            weights.acceleration = SHIFT * if fastest > 0.0 { fastest } else { 1.0 };
            if system.linearise(&x, weights).is_err() {
                return Err(singular(&mut *system, signature, &x, Purpose::Equilibrium));
            }
        }
        Ok(Rest { system, x, simulation, free })
    }

    /// ∇ of the second derivative of ψᵀ D + ηᵀ C along a complex tangent, real and imaginary part: cotangents of q, ν and u.
    pub fn curvature(&mut self, tangents: &[StateVector; 2], [psi, eta]: [&[Complex<f64>]; 2]) -> [StateVector; 2] {
        let zero = StateVector::zeros(self.simulation.signature());
        let weights = [parts(psi), parts(eta)];
        let mut bars = [zero.clone(), zero];
        let is_zero = |values: &[f64]| values.iter().all(|x| *x == 0.0);
        for (right, tangent) in tangents.iter().enumerate() {
            let StateVector { q, v, a, lambda, w, .. } = tangent;
            if [q, v, a, lambda, w].iter().all(|part| is_zero(part)) {
                continue;
            }
            for left in 0..2 {
                let own = [&weights[0][left][..], &weights[1][left]];
                if own.iter().all(|part| is_zero(part)) {
                    continue;
                }
                // i times i is -1
                let sign = if right + left == 2 { -1.0 } else { 1.0 };
                let bar = &mut bars[(right + left) % 2];
                self.system.curvature(&self.x, Equations::MOTION, sign, own, tangent, bar);
            }
        }
        bars
    }

    /// Takes off what free motions would do: along them, it rests where it begins.
    fn hold(&self, bar: &mut [f64]) {
        for [free, weighted] in &self.free {
            let part = product(bar, free);
            bar.iter_mut().zip(weighted).for_each(|(bar, weighted)| *bar -= part * weighted);
        }
    }

    /// Takes cotangents of q and ν to the parameters.
    ///
    /// # Errors
    /// If the equilibrium does not follow the parameters.
    pub fn pull_back(&mut self, bar: &mut StateVector) -> Result<()> {
        let n = bar.q.len();
        let first = self.simulation.signature().state_places().start;
        let mut right = [&bar.q[..first], &bar.v[first..], &bar.lambda].concat();
        // multipliers of rows that are left out are zero wherever it rests
        self.system.left_out().iter().for_each(|row| right[n + row] = 0.0);
        // along free motions it rests where the start says
        let mut start = vec![0.0; n];
        for [free, weighted] in &self.free {
            let part = product(&right, free);
            start.iter_mut().zip(weighted).for_each(|(start, weighted)| *start += part * weighted);
        }
        let mut of_states = vec![0.0; n];
        of_states[first..].copy_from_slice(&start[first..]);
        self.system.initial_pull_back(&start, &of_states, &mut bar.u);
        self.hold(&mut right);
        let size = right.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        if size == 0.0 {
            return Ok(());
        }
        let mut z = vec![0.0; right.len()];
        let mut left_over = right.clone();
        let mut below = StateVector::default();
        for _ in 0..REFINEMENTS {
            self.system.solve_transposed(&mut left_over);
            z.iter_mut().zip(&left_over).for_each(|(z, change)| *z += change);
            below = StateVector::zeros(self.simulation.signature());
            self.system.pull_back(1.0, &z[..n], &z[n..], &mut below);
            let product = below.q[..first].iter().chain(&below.v[first..]).chain(&below.lambda);
            left_over = right.iter().zip(product).map(|(r, p)| r - p).collect();
            self.hold(&mut left_over);
        }
        let rest = left_over.iter().fold(0.0f64, |rest, x| rest.max(x.abs()));
        // false for NaN
        let is_solved = rest <= LEFT_OVER * size;
        if !is_solved {
            return Err(singular(&mut *self.system, self.simulation.signature(), &self.x, Purpose::Equilibrium));
        }
        bar.u.iter_mut().zip(&below.u).for_each(|(u, moved)| *u -= moved);
        Ok(())
    }
}

impl Modes {
    /// Derivatives of the eigenvalues of the first `count` modes by all parameters; none for free motions, which stay free, and along
    /// which the equilibrium is where the model's start says (it moves away from there perpendicular to them in the mass matrix). `simulation` is the one that they are of.
    ///
    /// # Errors
    /// If the equilibrium does not follow the parameters.
    pub fn sensitivities(&self, simulation: &Simulation, count: usize) -> Result<Vec<Option<Sensitivity>>> {
        let Modes { time, q, multipliers, .. } = self;
        let equilibrium = Equilibrium { time: *time, q: q.clone(), multipliers: multipliers.clone() };
        let (v, still) = (equilibrium.velocities(simulation.signature()), vec![0.0; q.len()]);
        let x = equilibrium.point(simulation, &v, &still);
        let mut system = simulation.system().evaluator();
        system.set_parameters(&self.u);
        let is_free = |mode: &&Mode| mode.eigenvalue.norm() == 0.0;
        let own = |mode: &Mode| mode.shape.iter().chain(&mode.multipliers).map(|entry| entry.re).collect();
        let free = self.modes.iter().filter(is_free).map(own).collect();
        let fastest = self.modes.iter().map(|mode| mode.eigenvalue.norm_sqr()).fold(0.0, f64::max);
        let mut rest = Rest::new(system, x, simulation, (free, fastest))?;
        let count = count.min(self.modes.len());
        let mut own: Vec<Option<Vec<Complex<f64>>>> = vec![None; self.modes.len()];
        let mut found = Vec::with_capacity(count);
        for k in 0..count {
            found.push(self.sensitivity(k, &mut rest, &mut own)?);
        }
        Ok(found)
    }

    /// Sensitivity of one mode; those of others that are one with it are kept in `own`.
    fn sensitivity(
        &self,
        k: usize,
        rest: &mut Rest<'_>,
        own: &mut [Option<Vec<Complex<f64>>>],
    ) -> Result<Option<Sensitivity>> {
        let lambda = self.modes[k].eigenvalue;
        if lambda.norm() == 0.0 {
            return Ok(None);
        }
        let is_same = |other: &Mode| (other.eigenvalue - lambda).norm() <= TOGETHER * lambda.norm();
        let together: Vec<usize> = (0..self.modes.len()).filter(|other| is_same(&self.modes[*other])).collect();
        let mut mean = vec![Complex::new(0.0, 0.0); self.u.len()];
        for &other in &together {
            if own[other].is_none() {
                own[other] = Some(self.derivative(&self.modes[other], rest)?);
            }
            for (sum, slope) in mean.iter_mut().zip(own[other].iter().flatten()) {
                *sum += slope / together.len() as f64;
            }
        }
        Ok(Some(Sensitivity { eigenvalue: mean, multiplicity: together.len() }))
    }

    fn derivative(&self, mode: &Mode, rest: &mut Rest<'_>) -> Result<Vec<Complex<f64>>> {
        let tangents = tangents(rest.simulation.signature(), mode.eigenvalue, (&mode.shape, &mode.multipliers));
        let [mut real, mut imaginary] = rest.curvature(&tangents, [&mode.left[0], &mode.left[1]]);
        rest.pull_back(&mut real)?;
        rest.pull_back(&mut imaginary)?;
        let slopes = real.u.iter().zip(&imaginary.u).map(|(re, im)| -Complex::new(*re, *im) / mode.slope);
        let slopes: Vec<Complex<f64>> = slopes.collect();
        if slopes.iter().any(|slope| !(slope.re.is_finite() && slope.im.is_finite())) {
            let problem = format!("its derivatives by parameters are not finite at {}", mode.eigenvalue);
            let remedy = match mode.slope.norm() > f64::MIN_POSITIVE {
                true => {
                    "a function has no second derivative where the mechanism rests (a root, a power, abs at 0): make it smooth there"
                }
                false => "change a damping by a small part: at critical damping two modes are one",
            };
            return Err(Error::invalid("the mode", problem, remedy));
        }
        Ok(slopes)
    }
}
