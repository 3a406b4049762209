//! Small motions about a static equilibrium: frequencies, damping and shapes, with exact derivatives by parameters.
//!
//! At an equilibrium q, ν (C_qᵀ ν = Q, C = 0, at rest, with the inputs of the first time) motions δq = φ e^(λ t), δλ = μ e^(λ t) obey
//!
//! ```text
//! A(λ) [φ; μ] = 0,      A(λ) = [ λ² M + λ D_v + D_q    C_qᵀ ]      D = M a + C_qᵀ λ - Q
//!                             [ C_q                    0    ]
//! ```
//!
//! D_q has the stiffness that tensions give (J_C), so that a pendulum swings. All eigenvalues are found with dense matrices in
//! independent coordinates: some hundred coordinates, not thousands.
//!
//! First-order states δz = ζ e^(λ t) follow their rates: their columns of A(λ), by ζ, are λ M + D_v, so that each of them adds one eigenvalue.
//!
//! # Derivatives
//!
//! With a left vector [ψ; η] of A(λ), dλ = - [ψ; η]ᵀ dA [φ; μ] / (ψᵀ A'(λ) φ), A' = 2 λ M + D_v (M for states). The number above the line is the second
//! derivative of ψᵀ D + ηᵀ C along the tangent (φ, λ φ, λ² φ, μ) of (q, v, a, λ), which is what the engine's Hessians are made of
//! ([`Evaluator::curvature`](crate::system::Evaluator::curvature)); one sweep back gives it by all parameters, by q and by ν, and one more
//! solve with the equilibrium's own matrix takes the last two to the parameters that move the equilibrium. No part of it is a
//! difference.

mod derivatives;
mod frequency_response;
mod reduced;

pub use derivatives::Sensitivity;
pub use frequency_response::{Channel, Response, SmallMotions};
pub use nalgebra::Complex;

use crate::Result;
use crate::kinks::{Kink, kinks};
use crate::signature::Signature;
use crate::simulate::Simulation;
use crate::start::{Beginning, InitialState, Start};
use crate::system::{Blocks, Point};
use reduced::Reduced;
use std::f64::consts::TAU;

/// Static equilibrium of a mechanism, with the inputs of the first time.
#[derive(Debug, Clone)]
struct Equilibrium {
    time: f64,
    /// Positions, then states, n.
    q: Vec<f64>,
    multipliers: Vec<f64>,
}

impl Equilibrium {
    /// The equilibrium at which a search from the initial positions of the simulation's model ends, with the linearised equations there.
    fn of(simulation: &Simulation, u: &[f64]) -> Result<(Self, Reduced)> {
        simulation.check_parameters(u)?;
        let signature = simulation.signature();
        let n = signature.unknown_count();
        let (time, w) = (simulation.grid().time(0), simulation.inputs_at(0));
        let mut system = simulation.system().evaluator();
        system.set_parameters(u);
        let mut state = vec![0.0; 4 * n + signature.constraints.len()];
        let beginning = Beginning { state: InitialState::Equilibrium, may_move: true, ..Beginning::default() };
        Start::solve(&mut *system, signature, (time, w), &beginning, &mut state)?;
        let first = signature.state_places().start;
        let q = [&state[..first], &state[n + first..2 * n]].concat();
        let found = Equilibrium { time, q, multipliers: state[4 * n..].to_vec() };
        let (v, still) = (found.velocities(signature), vec![0.0; n]);
        let mut blocks = Blocks::zeros(signature);
        system.blocks(&found.point(simulation, &v, &still), &mut blocks);
        let reduced = Reduced::of(&blocks, signature)?;
        Ok((found, reduced))
    }

    /// Kinks of the model there.
    fn kinks(&self, simulation: &Simulation, u: &[f64]) -> Vec<Kink> {
        let (v, still) = (self.velocities(simulation.signature()), vec![0.0; self.q.len()]);
        kinks(simulation.system(), &self.point(simulation, &v, &still), u)
    }

    /// Velocities at rest: zero, with states behind those of coordinates, among which they stand.
    fn velocities(&self, signature: &Signature) -> Vec<f64> {
        let states = signature.state_places();
        let mut v = vec![0.0; self.q.len()];
        v[states.clone()].copy_from_slice(&self.q[states]);
        v
    }

    /// Point at which the equations are evaluated, with its [`Equilibrium::velocities`] and no acceleration.
    fn point<'a>(&'a self, simulation: &'a Simulation, v: &'a [f64], still: &'a [f64]) -> Point<'a> {
        Point { t: self.time, q: &self.q, v, a: still, lambda: &self.multipliers, w: simulation.inputs_at(0) }
    }
}

/// All modes of a mechanism about an equilibrium.
#[derive(Debug, Clone)]
pub struct Modes {
    /// The time of which the inputs are, s.
    pub time: f64,
    /// Equilibrium of the mechanism, n: positions, then states.
    pub q: Vec<f64>,
    /// Multipliers there, m.
    pub multipliers: Vec<f64>,
    /// The slowest first: free motions, then by natural frequency.
    pub modes: Vec<Mode>,
    u: Vec<f64>,
}

/// One mode, or a pair of conjugates.
#[derive(Debug, Clone)]
pub struct Mode {
    /// Eigenvalue λ, 1/s: of a pair the one with positive imaginary part; zero of a free motion, which is a double one.
    pub eigenvalue: Complex<f64>,
    /// φ, n entries in the coordinates' and states' units; the largest is 1.
    pub shape: Vec<Complex<f64>>,
    /// Multipliers μ of the mode.
    multipliers: Vec<Complex<f64>>,
    /// ψ and η
    left: [Vec<Complex<f64>>; 2],
    /// ψᵀ A'(λ) φ
    slope: Complex<f64>,
}

/// Motion of a mode after it has been pushed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Character {
    /// Moves on: nothing holds it, or brings it back.
    Free,
    /// Oscillates, and does not grow.
    Oscillation,
    /// Oscillates and grows.
    Flutter,
    /// Creeps back.
    Decay,
    /// Leaves the equilibrium.
    Divergence,
}

impl Character {
    /// The character in a word.
    pub fn name(self) -> &'static str {
        match self {
            Character::Free => "free motion",
            Character::Oscillation => "oscillation",
            Character::Flutter => "growing oscillation",
            Character::Decay => "decay",
            Character::Divergence => "unstable",
        }
    }
}

/// A growth below this part of the natural frequency is round-off.
const GROWS: f64 = 1e-10;

impl Mode {
    /// |λ| / 2π, Hz: the frequency without its damping.
    pub fn natural_frequency(&self) -> f64 {
        self.eigenvalue.norm() / TAU
    }

    /// Im λ / 2π, Hz: what is heard and measured after a blow.
    pub fn damped_frequency(&self) -> f64 {
        self.eigenvalue.im / TAU
    }

    /// -Re λ / |λ|: 1 is critical; negative where motions grow; none for a free motion.
    pub fn damping_ratio(&self) -> Option<f64> {
        (self.eigenvalue.norm() > 0.0).then(|| -self.eigenvalue.re / self.eigenvalue.norm() + 0.0)
    }

    /// The time in which it changes by a factor e, s; none where it does not.
    pub fn time_constant(&self) -> Option<f64> {
        (self.eigenvalue.re != 0.0).then(|| 1.0 / self.eigenvalue.re.abs())
    }

    /// Character of the mode's motion.
    pub fn character(&self) -> Character {
        let Complex { re, im } = self.eigenvalue;
        let grows = re > GROWS * self.eigenvalue.norm();
        match (re == 0.0 && im == 0.0, im > 0.0, grows) {
            (true, ..) => Character::Free,
            (_, true, false) => Character::Oscillation,
            (_, true, true) => Character::Flutter,
            (_, false, false) => Character::Decay,
            (_, false, true) => Character::Divergence,
        }
    }

    fn of(reduced: &Reduced, pair: &reduced::Pair) -> Self {
        let lambda = pair.eigenvalue;
        let [mut shape, mut multipliers] = reduced.whole(lambda, &pair.right, false);
        let left = reduced.whole(lambda, &pair.left, true).map(|part| part.as_slice().to_vec());
        let mut largest = Complex::new(0.0, 0.0);
        // of several that are equal but for round-off the first
        for entry in shape.iter().filter(|entry| entry.norm() > 0.0) {
            if entry.norm() > (1.0 + 1e-9) * largest.norm() {
                largest = *entry;
            }
        }
        shape /= largest;
        multipliers /= largest;
        Mode {
            eigenvalue: lambda,
            shape: shape.as_slice().to_vec(),
            multipliers: multipliers.as_slice().to_vec(),
            left,
            slope: reduced.slope(pair) / largest,
        }
    }
}

impl Modes {
    /// All modes about the equilibrium at which a search from the initial positions of the simulation's model ends, with the inputs of its
    /// first time and the parameters `u`.
    ///
    /// # Errors
    /// Wrong parameters; no equilibrium; a mass matrix that is singular along motions that constraints allow.
    pub fn of(simulation: &Simulation, u: &[f64]) -> Result<Self> {
        let (equilibrium, reduced) = Equilibrium::of(simulation, u)?;
        let mut modes: Vec<Mode> = reduced.pairs()?.iter().map(|pair| Mode::of(&reduced, pair)).collect();
        modes.sort_by(|a, b| {
            let key = |mode: &Mode| (mode.natural_frequency(), mode.eigenvalue.re);
            let ((f, re), (g, other)) = (key(a), key(b));
            f.total_cmp(&g).then(re.total_cmp(&other))
        });
        let Equilibrium { time, q, multipliers } = equilibrium;
        Ok(Modes { time, q, multipliers, modes, u: u.to_vec() })
    }

    /// Places where the linearisation that they are of has two sides, of which one was taken. `simulation` is the one that they are of.
    pub fn kinks(&self, simulation: &Simulation) -> Vec<Kink> {
        let Modes { time, q, multipliers, .. } = self;
        let equilibrium = Equilibrium { time: *time, q: q.clone(), multipliers: multipliers.clone() };
        let of_motion = |kink: &Kink| kink.output.is_none() && kink.input.is_none();
        equilibrium.kinks(simulation, &self.u).into_iter().filter(of_motion).collect()
    }

    /// The parameters.
    pub fn parameters(&self) -> &[f64] {
        &self.u
    }
}
