//! Frequency responses of small motions about a static equilibrium, with exact derivatives by parameters.
//!
//! An input δw = e^(i ω t) of one unit moves what rests by δq = φ e^(i ω t), δλ = μ e^(i ω t), where with s = i ω
//!
//! ```text
//! S [φ; μ] = [ Q_w ],      S = A(s),      H = y_q φ + s y_v φ + s² y_a φ + y_λ μ + y_w
//!            [  0  ]
//! ```
//!
//! and A is the matrix of the [modes](super): poles of H are their eigenvalues. First-order states ζ stand among velocities, as there.
//!
//! With the left vector of Sᵀ [ψ; η] = (y_q + s y_v + s² y_a, y_λ)ᵀ, dH = d(y_X) X - [ψ; η]ᵀ d(F_X) X, where X = (φ, s φ, s² φ, μ, 1) is the tangent
//! of (q, v, a, λ, w), and F = (D, C): second derivatives of outputs and of the equations along X, from which one sweep back takes them to the
//! parameters, those that move the equilibrium, too. No part of it is a difference.

use super::derivatives::{Rest, tangents};
use super::{Complex, Equilibrium};
use crate::error::{Error, Result};
use crate::kinks::Kink;
use crate::shown::rounded;
use crate::signature::Signature;
use crate::simulate::Simulation;
use crate::system::{By, OutputPoint, Point, StateVector};
use nalgebra::{DMatrix, DVector};
use std::f64::consts::TAU;

type Complexes = DVector<Complex<f64>>;

/// Pivots of a matrix whose entries are about 1, below which it has no inverse: what is left of terms that cancel.
const SINGULAR: f64 = 1e-13;
/// Refinements of a solution.
const REFINEMENTS: usize = 2;

/// An input and an output between which a response goes: places in the signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Channel {
    /// Place of the input.
    pub input: usize,
    /// Place of the output.
    pub output: usize,
}

impl Channel {
    /// A channel by the names of its input and output.
    ///
    /// # Errors
    /// [`Error::UnknownName`] with the nearest known name.
    pub fn of(signature: &Signature, input: &str, output: &str) -> Result<Self> {
        Ok(Channel { input: signature.input_index(input)?, output: signature.output_index(output)? })
    }

    /// Name of the channel, `output/input`.
    pub fn name(&self, signature: &Signature) -> String {
        format!("{}/{}", signature.outputs[self.output].name, signature.inputs[self.input].name)
    }
}

/// H at one frequency.
#[derive(Debug, Clone, PartialEq)]
pub struct Response {
    /// H(i ω), the output's unit over the input's: of motions e^(i ω t), so that an output that comes later has a negative phase.
    pub value: Complex<f64>,
    /// Derivative of the response, dH/du, p entries over the parameters' units; none where it was not asked for.
    pub slope: Vec<Complex<f64>>,
}

/// A mechanism linearised about an equilibrium.
#[derive(Debug, Clone)]
pub struct SmallMotions<'a> {
    simulation: &'a Simulation,
    u: Vec<f64>,
    equilibrium: Equilibrium,
    /// M, D_v and D_q, n x n.
    full: [DMatrix<f64>; 3],
    /// C_q of rows that do not repeat others, and these rows.
    constraint: (DMatrix<f64>, Vec<usize>),
    /// Motions that nothing leads back from, each as (q, ν).
    unheld: Vec<Vec<f64>>,
    /// About the largest |λ|, 1/s.
    fastest: f64,
}

/// Equations at one frequency, in rows and columns that are scaled to 1.
struct Equations {
    matrix: DMatrix<Complex<f64>>,
    rows: Vec<f64>,
    columns: Vec<f64>,
}

impl Equations {
    /// Solves S x = b; `None` if S has no inverse.
    fn solve(&self, b: &Complexes, is_transposed: bool) -> Option<Complexes> {
        let (matrix, before, after) = match is_transposed {
            false => (self.matrix.clone(), &self.rows, &self.columns),
            true => (self.matrix.transpose(), &self.columns, &self.rows),
        };
        let b = Complexes::from_fn(b.len(), |i, _| b[i] * before[i]);
        let factors = matrix.clone().lu();
        let pivots = factors.u();
        let least = (0..pivots.nrows()).map(|i| pivots[(i, i)].norm()).fold(f64::INFINITY, f64::min);
        // false for NaN
        let has_inverse = least > SINGULAR;
        if !has_inverse {
            return None;
        }
        let mut x = factors.solve(&b)?;
        for _ in 0..REFINEMENTS {
            x += factors.solve(&(&b - &matrix * &x))?;
        }
        Some(Complexes::from_fn(x.len(), |i, _| x[i] * after[i]))
    }
}

impl<'a> SmallMotions<'a> {
    /// About the equilibrium at which a search from the initial positions of the simulation's model ends, with the inputs of its first time and
    /// the parameters `u`.
    ///
    /// # Errors
    /// As [`Modes::of`](super::Modes::of).
    pub fn about_equilibrium(simulation: &'a Simulation, u: &[f64]) -> Result<Self> {
        let (equilibrium, reduced) = Equilibrium::of(simulation, u)?;
        let (unheld, fastest) = (reduced.unheld(), reduced.fastest());
        let rows = reduced.independent_rows();
        Ok(SmallMotions {
            simulation,
            u: u.to_vec(),
            equilibrium,
            constraint: (reduced.jacobian().select_rows(&rows), rows),
            full: reduced.full().clone(),
            unheld,
            fastest,
        })
    }

    /// The response at frequencies in Hz, with derivatives if they are asked for.
    ///
    /// # Errors
    /// [`Error::NoResponse`] at a frequency at which nothing limits the motion; with derivatives, an equilibrium that does not follow the parameters.
    pub fn response(&self, channel: Channel, frequencies: &[f64], derivatives: bool) -> Result<Vec<Response>> {
        let signature = self.simulation.signature();
        let (v, still) = (self.equilibrium.velocities(signature), vec![0.0; self.equilibrium.q.len()]);
        let x = self.equilibrium.point(self.simulation, &v, &still);
        let mut system = self.simulation.system().evaluator_by(By::BOTH);
        system.set_parameters(&self.u);
        let free = (self.unheld.clone(), self.fastest * self.fastest);
        let mut rest = Rest::new(system, x, self.simulation, free)?;
        let (force, of_output) = (self.force(&mut rest, channel), of_output(&mut rest, signature, channel));
        frequencies
            .iter()
            .map(|&frequency| {
                let s = Complex::new(0.0, TAU * frequency);
                let equations = self.equations(s);
                let solved = |b: &Complexes, is_transposed: bool| {
                    let found = equations.solve(b, is_transposed);
                    found.ok_or_else(|| self.unlimited(channel, frequency))
                };
                let motion = solved(&force, false)?;
                let weights = self.weights(&of_output, s);
                let direct = of_output.w[channel.input];
                let value = weights.iter().zip(motion.iter()).map(|(w, x)| w * x).sum::<Complex<f64>>() + direct;
                let slope = match derivatives {
                    false => Vec::new(),
                    true => self.slope(&mut rest, channel, s, [&motion, &solved(&weights, true)?])?,
                };
                Ok(Response { value, slope })
            })
            .collect()
    }

    /// Places where the linearisation has two sides, of which one is taken: of what matters to these channels.
    pub fn kinks(&self, channels: &[Channel]) -> Vec<Kink> {
        let is_seen = |kink: &Kink| {
            kink.output.is_none_or(|output| channels.iter().any(|channel| channel.output == output))
                && kink.input.is_none_or(|input| channels.iter().any(|channel| channel.input == input))
        };
        self.equilibrium.kinks(self.simulation, &self.u).into_iter().filter(is_seen).collect()
    }

    /// S at s.
    fn equations(&self, s: Complex<f64>) -> Equations {
        let ([mass, damping, stiffness], (jacobian, rows)) = (&self.full, &self.constraint);
        let (n, m) = (mass.nrows(), rows.len());
        let first = self.simulation.signature().state_places().start;
        let [mut matrix, mut sizes] = [DMatrix::zeros(n + m, n + m), DMatrix::zeros(n + m, n + m)];
        for j in 0..n {
            // a state is a velocity
            let factors = match j < first {
                true => [s * s, s, Complex::new(1.0, 0.0)],
                false => [s, Complex::new(1.0, 0.0), Complex::new(0.0, 0.0)],
            };
            for i in 0..n {
                let terms = [mass, damping, stiffness].map(|matrix| matrix[(i, j)]);
                for (factor, term) in factors.iter().zip(terms) {
                    matrix[(i, j)] += factor * term;
                    sizes[(i, j)] += Complex::new(factor.norm() * term.abs(), 0.0);
                }
            }
            for k in 0..m {
                let entry = Complex::new(jacobian[(k, j)], 0.0);
                (matrix[(j, n + k)], matrix[(n + k, j)]) = (entry, entry);
                (sizes[(j, n + k)], sizes[(n + k, j)]) = (entry, entry);
            }
        }
        let mut scale = [vec![1.0; n + m], vec![1.0; n + m]];
        // by the terms, of which little may be left: small pivots show that
        for k in (0..4).map(|round| round % 2) {
            for i in 0..n + m {
                let line = (0..n + m).map(|j| {
                    let (row, column) = if k == 0 { (i, j) } else { (j, i) };
                    sizes[(row, column)].norm() * scale[0][row] * scale[1][column]
                });
                let largest = line.fold(0.0, f64::max);
                if largest > 0.0 && largest.is_finite() {
                    // a power of two, without round-off
                    scale[k][i] *= largest.log2().round().exp2().recip();
                }
            }
        }
        let [rows, columns] = scale;
        let matrix = DMatrix::from_fn(n + m, n + m, |i, j| matrix[(i, j)] * (rows[i] * columns[j]));
        Equations { matrix, rows, columns }
    }

    /// Q_w, and behind it zeros for constraints.
    fn force(&self, rest: &mut Rest<'_>, channel: Channel) -> Complexes {
        let signature = self.simulation.signature();
        let (n, rows) = (signature.unknown_count(), &self.constraint.1);
        let mut tangent = StateVector::zeros(signature);
        tangent.w[channel.input] = 1.0;
        let (mut dynamics, mut constraint) = (vec![0.0; n], vec![0.0; signature.constraints.len()]);
        rest.system.push_forward(&tangent, &mut dynamics, &mut constraint);
        let all = dynamics.iter().copied().chain(rows.iter().map(|row| constraint[*row]));
        Complexes::from_iterator(n + rows.len(), all.map(|x| Complex::new(-x, 0.0)))
    }

    /// Weights with which an output sees a motion at s.
    fn weights(&self, of_output: &StateVector, s: Complex<f64>) -> Complexes {
        let (n, rows) = (of_output.q.len(), &self.constraint.1);
        let first = self.simulation.signature().state_places().start;
        let StateVector { q, v, a, a_scheme, lambda, .. } = of_output;
        let entry = |j: usize| match j {
            j if j < first => q[j] + s * v[j] + s * s * (a[j] + a_scheme[j]),
            j if j < n => v[j] + s * (a[j] + a_scheme[j]),
            j => Complex::new(lambda[rows[j - n]], 0.0),
        };
        Complexes::from_fn(n + rows.len(), |j, _| entry(j))
    }

    /// Positions and multipliers of a solution, those of rows that repeat others zero.
    fn parts(&self, solution: &Complexes) -> [Vec<Complex<f64>>; 2] {
        let signature = self.simulation.signature();
        let n = signature.unknown_count();
        let mut multipliers = vec![Complex::new(0.0, 0.0); signature.constraints.len()];
        self.constraint.1.iter().zip(solution.iter().skip(n)).for_each(|(row, value)| multipliers[*row] = *value);
        [solution.iter().take(n).copied().collect(), multipliers]
    }

    /// dH/du with the motion and the left vector.
    fn slope(
        &self,
        rest: &mut Rest<'_>,
        channel: Channel,
        s: Complex<f64>,
        [motion, left]: [&Complexes; 2],
    ) -> Result<Vec<Complex<f64>>> {
        let signature = self.simulation.signature();
        let ([shape, multipliers], [psi, eta]) = (self.parts(motion), self.parts(left));
        let mut along = tangents(signature, s, (&shape, &multipliers));
        along[0].w[channel.input] = 1.0;
        let minus = |values: Vec<Complex<f64>>| values.into_iter().map(|z| -z).collect::<Vec<_>>();
        let (psi, eta) = (minus(psi), minus(eta));
        let [mut real, mut imaginary] = rest.curvature(&along, [&psi, &eta]);
        let mut chosen = vec![0.0; signature.outputs.len()];
        chosen[channel.output] = 1.0;
        for (tangent, bar) in along.iter().zip([&mut real, &mut imaginary]) {
            rest.system.output_curvature(&output_point(&rest.x), &chosen, tangent, bar);
            rest.pull_back(bar)?;
        }
        Ok(real.u.iter().zip(&imaginary.u).map(|(re, im)| Complex::new(*re, *im)).collect())
    }

    /// States that take part in what nothing leads back from.
    fn states_without_return(&self) -> Vec<String> {
        let signature = self.simulation.signature();
        let moves = |j: &usize| {
            self.unheld.iter().any(|motion| {
                let largest = motion[signature.state_places()].iter().fold(0.0f64, |largest, x| largest.max(x.abs()));
                motion[*j].abs() > 1e-3 * largest
            })
        };
        signature.state_places().filter(moves).map(|j| format!("`{}`", signature.unknown_name(j))).collect()
    }

    fn unlimited(&self, channel: Channel, frequency: f64) -> Error {
        let what = format!("the frequency response {}", channel.name(self.simulation.signature()));
        let states = self.states_without_return();
        let (problem, remedy) = match frequency == 0.0 {
            true if !states.is_empty() => (
                format!(
                    "at rest, any value of {} is one of an equilibrium, because the rate of a state does not bring it back: there is no value at 0 Hz",
                    states.join(", ")
                ),
                "leave that line out (from), or let the rate depend on the state itself",
            ),
            true => (
                "nothing holds the model at rest against a constant input: it has no value at 0 Hz".to_string(),
                "leave that line out (from), or hold the model by a spring",
            ),
            false => (
                format!("at {} Hz the model has a resonance without damping, and no value", rounded(frequency, 6)),
                "add damping, or leave that line out (from, until)",
            ),
        };
        Error::NoResponse { what, problem, remedy: remedy.to_string() }
    }
}

fn output_point<'a>(&Point { t, q, v, a, lambda, w }: &Point<'a>) -> OutputPoint<'a> {
    OutputPoint { t, q, v, a, a_scheme: a, lambda, w }
}

/// The derivatives of an output by everything that it sees.
fn of_output(rest: &mut Rest<'_>, signature: &Signature, channel: Channel) -> StateVector {
    let mut chosen = vec![0.0; signature.outputs.len()];
    chosen[channel.output] = 1.0;
    rest.system.linearise_output(&output_point(&rest.x));
    let mut seen = StateVector::zeros(signature);
    rest.system.output_pull_back(&chosen, &mut seen);
    seen
}
