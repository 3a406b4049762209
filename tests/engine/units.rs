//! The same records in other units: least squares take the same steps.

use crate::common;
use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::least_squares::{Linearised, Reduction};
use costate::random::SplitMix64;
use costate::scheme::Hht;
use costate::{Signal, Simulation, TimeGrid};
use costate_identify::Result;
use costate_identify::optimise::{Flow, Method, Objective, Options, Outcome, Variable, minimise};
use costate_identify::problem::Problem;
use costate_identify::statistics::identifiability;
use costate_identify::{Identification, Settings, identify};
use std::f64::consts::TAU;

/// A free swing that is fitted from 2 % and 30 % off, with unknown start.
struct Swing {
    /// Hz.
    frequency: f64,
    /// m.
    amplitude: f64,
}

impl Swing {
    /// Stiffness and damping in N/m and N s/m, and a record of x in m with one part in a thousand of noise.
    fn truth(&self) -> (f64, f64, Vec<f64>) {
        let (omega, zeta) = (TAU * self.frequency, 0.01);
        let damped = omega * f64::sqrt(1.0 - zeta * zeta);
        let mut random = SplitMix64::new(3);
        let at = |i: usize| {
            let t = i as f64 / 40.0 / self.frequency;
            let swing = (-zeta * omega * t).exp() * ((damped * t).cos() + zeta * omega / damped * (damped * t).sin());
            self.amplitude * (swing + 1e-3 * random.normal())
        };
        (omega * omega, 2.0 * zeta * omega, (0..=800).map(at).collect())
    }

    /// The problem where `length` of its units are a metre, and `time` of them a second.
    fn problem(&self, length: f64, time: f64) -> Problem {
        let (c, d, record) = self.truth();
        let grid = TimeGrid::steps(0.0, time / 40.0 / self.frequency, 800).unwrap();
        let system = common::ready("oscillator");
        let still = Signal::function(|_| 0.0);
        let simulation = Simulation::new(system, Hht::new(-0.05).unwrap(), grid, vec![still]).unwrap();
        let values = record.iter().map(|x| x * length).collect();
        let output = simulation.signature().output_index("x").unwrap();
        let reference = Reference { output, values, deviation: 1.0 };
        let cost = LeastSquares::new(simulation.grid().times(), vec![reference], 1, Quadrature::Unit).unwrap();
        let mut problem = Problem::new("swing", simulation, Box::new(cost));
        problem.start = vec![1.0, 1.02 * c / time.powi(2), 1.3 * d / time, self.amplitude * length, 0.0];
        problem.parameters.iter_mut().skip(3).for_each(|parameter| parameter.free = true);
        problem
    }

    fn found(&self, length: f64, time: f64, method: Method) -> Identification {
        let settings = Settings { method: Some(method), ..Settings::default() };
        identify(&self.problem(length, time), &settings, &mut |_| Flow::Continue).unwrap()
    }
}

/// Protects small and fast motions: a swing of 10 nm or 5 kHz is fitted as one of a metre a second is, through the same points to
/// nine digits, and ends where the stiffness is right to what 40 steps a period leave of it.
#[test]
fn small_and_fast_swings_are_fitted_as_large_and_slow_ones() {
    for method in [Method::LevenbergMarquardt, Method::GaussNewton] {
        let usual = Swing { frequency: 1.0, amplitude: 1.0 };
        let plain = usual.found(1.0, 1.0, method);
        assert!(plain.outcome.converged, "{}", plain.reason());
        for (frequency, amplitude) in [(2e3, 1e-6), (5e3, 1e-6), (2e3, 1e-8), (1e-3, 1e4), (1e6, 1e-12)] {
            let swing = Swing { frequency, amplitude };
            for (length, time) in [(1.0, 1.0), (1e3, 1.0), (1e6, 1.0), (1.0, 1e3), (1e6, 1e6)] {
                let name = format!("{method}, {frequency} Hz, {amplitude} m, units {length} {time}");
                let found = swing.found(length, time, method);
                let (outcome, other) = (&plain.outcome, &found.outcome);
                assert!(other.converged, "{name}: {}", found.reason());
                // cosines of 1e-12 are round-off here: how many last steps change nothing any more is chance
                let rate = frequency / time;
                let units = [1.0, rate * rate, rate, amplitude * length, amplitude * length * rate];
                for (step, (a, b)) in plain.history.iter().zip(&found.history).enumerate() {
                    for k in 0..5 {
                        // the velocity, which is nothing but noise, beside what it would be at the swing's own
                        let size = if k == 4 { TAU } else { a[k].abs() };
                        let b = b[k] / units[k];
                        assert!((a[k] - b).abs() <= 1e-9 * size, "{name}, step {step}, {k}: {} {b}", a[k]);
                    }
                }
                let (c, ..) = swing.truth();
                assert!((found.parameters[1].value / (c / time.powi(2)) - 1.0).abs() < 6e-3, "{name}");
                assert!((other.cost / outcome.cost / (amplitude * length).powi(2) - 1.0).abs() < 1e-6, "{name}");
            }
        }
    }
}

/// Protects the tests of methods that see gradients, or second derivatives, from the size of a motion: a swing of a picometre ends where one of a metre
/// does, though nothing but the record says how large its first velocity, which starts at zero, may be.
#[test]
fn small_swings_are_found_by_gradients() {
    let gradients = [Method::Bfgs, Method::LBfgs { memory: 20 }, Method::NewtonTrustRegion, Method::Dfp];
    for method in gradients {
        let usual = Swing { frequency: 1.0, amplitude: 1.0 }.found(1.0, 1.0, Method::LevenbergMarquardt);
        for (frequency, amplitude) in [(1.0, 1e-9), (1.0, 1e-12), (2e3, 1e-12)] {
            // DFP takes many times as many runs
            if method == Method::Dfp && frequency == 1.0 && amplitude == 1e-9 {
                continue;
            }
            let name = format!("{method}, {frequency} Hz, {amplitude} m");
            let found = Swing { frequency, amplitude }.found(1.0, 1.0, method);
            assert!(found.outcome.converged, "{name}: {}", found.reason());
            let units = [1.0, frequency * frequency, frequency, amplitude, amplitude * frequency];
            for (k, unit) in units.iter().enumerate().skip(1) {
                // the velocity beside what it would be at the swing's own; parabolas of gradients end where round-off of the cost hides the rest
                let size = if k == 4 { TAU } else { usual.parameters[k].value.abs() };
                let value = found.parameters[k].value / unit;
                assert!(
                    (value - usual.parameters[k].value).abs() < 1e-6 * size,
                    "{name}, {k}: {value} {}",
                    found.reason()
                );
            }
        }
    }
}

/// Protects the verdict on influences from sizes that belong to another motion: of a swing of a picometre, every parameter has one.
#[test]
fn parameters_of_small_swings_have_an_influence() {
    for amplitude in [1.0, 1e-9, 1e-12] {
        let problem = Swing { frequency: 1.0, amplitude }.problem(1.0, 1.0);
        let found = identifiability(&problem, &problem.start).unwrap();
        assert_eq!((found.warnings(), found.rank()), (vec![], 4), "{amplitude}");
    }
}

/// Protects against residuals whose squares vanish or overflow being taken for residuals that vanish: they are refused, with what to do.
#[test]
fn squares_that_are_no_numbers_are_refused() {
    for (amplitude, fault) in [(1e-160, "vanish"), (1e-300, "vanish"), (1e150, "overflow")] {
        let problem = Swing { frequency: 1.0, amplitude }.problem(1.0, 1.0);
        let error = identify(&problem, &Settings::default(), &mut |_| Flow::Continue).unwrap_err().to_string();
        let parts = ["the deviation of `x`", "1 m", fault, "deviation = .."];
        assert!(parts.iter().all(|part| error.contains(part)), "{amplitude}: {error}");
    }
    let found = Swing { frequency: 1.0, amplitude: 1e-100 }.found(1.0, 1.0, Method::LevenbergMarquardt);
    let (c, ..) = Swing { frequency: 1.0, amplitude: 1.0 }.truth();
    assert!(found.outcome.converged && (found.parameters[1].value / c - 1.0).abs() < 6e-3, "{}", found.reason());
}

/// A problem's residuals in other units: parameters times `units`, residuals times `factor`.
struct Converted<'p> {
    problem: &'p Problem,
    units: Vec<f64>,
    factor: f64,
}

impl Objective for Converted<'_> {
    fn dimension(&self) -> usize {
        self.units.len()
    }

    fn linearise(&mut self, u: &[f64]) -> Result<Linearised> {
        let free = self.problem.free();
        let mut all = self.problem.start.clone();
        free.iter().zip(u).zip(&self.units).for_each(|((&k, u), unit)| all[k] = u / unit);
        let costs = self.problem.least_squares().unwrap();
        let found = self.problem.gradient()?.linearise(&all, &costs)?;
        let mut reduction = Reduction::new(u.len());
        for i in 0..found.dimension() {
            let row: Vec<f64> =
                free.iter().zip(&self.units).map(|(&k, unit)| self.factor * found.factor()[(i, k)] / unit).collect();
            reduction.add(&row, self.factor * found.projected()[i]);
        }
        reduction.add(&vec![0.0; u.len()], self.factor * found.remainder());
        Ok(reduction.finish())
    }
}

/// Protects the steps on mechanisms from units of parameters and outputs, whatever nominal values are given.
#[test]
fn mechanisms_are_identified_the_same_way_in_other_units() {
    let registry = costate_models::registry().unwrap();
    for name in ["engine_mount", "pendulum", "slider_crank"] {
        let entry = registry.get(name).unwrap();
        let mut problem = entry.problem(&entry.scenario).unwrap();
        let noise = costate::noise::NoiseLevel::Relative(0.01);
        problem = problem.with_noise(&costate::noise::SyntheticNoise { seed: 1, level: noise }).unwrap();
        let free = problem.free();
        let path = |units: &[f64], factor: f64, nominal: f64| -> Outcome {
            let mut objective = Converted { problem: &problem, units: units.to_vec(), factor };
            let variable = |(&k, unit): (&usize, &f64)| {
                let own = &problem.parameters[k];
                Variable::new(&own.name, problem.start[k] * unit)
                    .bounded(own.lower * unit, own.upper * unit)
                    .nominal(nominal)
            };
            let variables: Vec<Variable> = free.iter().zip(units).map(variable).collect();
            let options = Options { max_evaluations: 40, ..Options::default() };
            let method = Method::LevenbergMarquardt;
            minimise(&mut objective, &variables, method, &options, &mut |_| Flow::Continue).unwrap()
        };
        let ones = vec![1.0; free.len()];
        let plain = path(&ones, 1.0, 1.0);
        let units: Vec<f64> = (0..free.len()).map(|k| 2f64.powi([30, -40, 10, -17][k % 4])).collect();
        for (units, factor, nominal) in [(&units, 2f64.powi(50), 1.0), (&ones, 2f64.powi(-30), 2f64.powi(20))] {
            let other = path(units, factor, nominal);
            assert_eq!((other.reason, other.evaluations), (plain.reason, plain.evaluations), "{name}");
            for (step, (a, b)) in plain.history.iter().zip(&other.history).enumerate() {
                for (k, unit) in units.iter().enumerate() {
                    let (a, b) = (a.u[k], b.u[k] / unit);
                    assert!((a - b).abs() <= 1e-9 * a.abs(), "{name}, step {step}, {k}: {a} {b}");
                }
            }
        }
    }
}
