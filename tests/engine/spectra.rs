//! What is compared in the frequency domain: lines against closed forms, derivatives against tangents and differences, what is refused.

use crate::common;
use crate::sensors::derivatives_agree;

use costate::cost::spectrum::{Lines, Spectrum, SpectrumPart, SpeedUnit, Window};
use costate::cost::{LeastSquares, Quadrature, Reference, Sensor, Sensors};
use costate::random::SplitMix64;
use costate::sensitivity::Method;
use costate::{Parameter, Signal, Simulation, TimeGrid};
use costate_identify::Result;
use costate_identify::optimise::Flow;
use costate_identify::problem::{Integrator, Problem};
use costate_identify::problem_file;
use costate_identify::profile::profiles;
use costate_identify::specification::Specification;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::work::Work;
use costate_identify::{Settings, identify};
use std::f64::consts::TAU;
use std::path::Path;

const PARTS: [SpectrumPart; 3] = [SpectrumPart::Amplitude, SpectrumPart::Complex, SpectrumPart::Level];

fn frequencies(list: &[f64], part: SpectrumPart) -> Spectrum {
    Spectrum { lines: Lines::Frequencies(list.to_vec()), window: Window::Hann, part }
}

fn with(spectrum: Spectrum) -> Sensor {
    Sensor { spectrum: Some(spectrum), ..Sensor::new(0) }
}

/// Values of a single output, `step` apart, and its lines.
fn lines(values: Vec<f64>, step: f64, sensor: Sensor) -> Result<Vec<f64>> {
    let times: Vec<f64> = (0..values.len()).map(|i| step * i as f64).collect();
    let reference = Reference { output: 0, values, deviation: 1.0 };
    let cost = LeastSquares::new(&times, vec![reference], 1, Quadrature::Unit)?
        .with_sensors(Sensors::new(vec![sensor])?, &times)?;
    Ok(cost.lines(0).iter().map(|value| cost.references()[0].values[value.sample] / value.scale).collect())
}

fn wave(count: usize, value: impl Fn(f64) -> f64) -> Vec<f64> {
    (0..count).map(|i| value(i as f64 * 1e-2)).collect()
}

/// Protects what lines mean: a sine of amplitude 3 has a line of 3, whatever its phase, beside a constant and a trend of any size and another
/// sine; the complex line has its phase; levels are 20 lg; a window of whole periods is sharp to round-off.
#[test]
fn a_sine_has_the_line_of_its_amplitude() -> Result<()> {
    let (frequency, phase) = (2.5, 0.7);
    let sine = |t: f64| 3.0 * (TAU * frequency * t + phase).cos();
    let record = || wave(2000, |t| sine(t) + 1e3 + 40.0 * t + 5.0 * (TAU * 7.5 * t).sin());
    let expected = [vec![3.0, 5.0], vec![3.0 * phase.cos(), 3.0 * phase.sin(), 0.0, -5.0]];
    for (part, expected) in PARTS.into_iter().zip(&expected) {
        let found = lines(record(), 1e-2, with(frequencies(&[frequency, 7.5], part)))?;
        assert_eq!(found.len(), expected.len());
        // the trend, which is taken off exactly, takes a part of the sines with it: 1/(periods)³ behind a window of Hann
        found.iter().zip(expected).for_each(|(a, b)| assert!((a - b).abs() < 2e-4, "{part:?}: {found:?} {expected:?}"));
    }
    let level = lines(record(), 1e-2, with(frequencies(&[frequency], SpectrumPart::Level)))?;
    assert!((level[0] - 20.0 * 3f64.log10()).abs() < 1e-3, "{level:?}");
    let sharp = Spectrum { window: Window::Rectangular, ..frequencies(&[frequency], SpectrumPart::Amplitude) };
    let alone = lines(wave(2000, |t| 3.0 * (TAU * frequency * t).cos() + 1e3), 1e-2, with(sharp))?;
    // round-off of a sum of 2000 samples beside the constant
    assert!((alone[0] - 3.0).abs() < 1e-10, "{alone:?}");
    Ok(())
}

/// Protects orders: those of a run-up are found at each speed where frequencies sweep over them, and bands have root mean squares of lines.
#[test]
fn orders_and_bands_have_their_amplitudes() -> Result<()> {
    // from 20 to 60 rad/s in 40 s; order 3 grows with the speed
    let (count, step) = (20_000, 2e-3);
    let speed = |t: f64| 20.0 + t;
    let angle = |t: f64| 20.0 * t + 0.5 * t * t;
    let record: Vec<f64> = (0..count)
        .map(|i| step * i as f64)
        .map(|t| 0.1 * speed(t) * (3.0 * angle(t)).sin() + 2.0 * (angle(t) + 0.3).cos() + 7.0)
        .collect();
    for unit in [SpeedUnit::RadiansPerSecond, SpeedUnit::RevolutionsPerMinute, SpeedUnit::Hertz] {
        let own = |speed: f64| speed / unit.radians();
        let shaft = (0..count).map(|i| own(speed(step * i as f64))).collect();
        let speeds = [30.0, 40.0, 50.0].map(own).to_vec();
        let lines_of = Lines::Orders { orders: vec![1.0, 3.0], speed: shaft, speeds, unit, revolutions: 10.0 };
        let spectrum = Spectrum { lines: lines_of, window: Window::Hann, part: SpectrumPart::Amplitude };
        let found = lines(record.clone(), step, with(spectrum))?;
        for (k, expected) in [2.0, 3.0, 2.0, 4.0, 2.0, 5.0].into_iter().enumerate() {
            // over a window, the amplitude of order 3 changes by a tenth, and its mean by less than a hundredth
            assert!((found[k] / expected - 1.0).abs() < 1e-2, "{unit:?}: {found:?}");
        }
    }
    let band = Lines::Band { from: 2.0, until: 6.0, resolution: 0.5 };
    let spectrum = Spectrum { lines: band, window: Window::Hann, part: SpectrumPart::Amplitude };
    let found = lines(wave(3000, |t| 2.0 * (TAU * 4.0 * t).sin()), 1e-2, with(spectrum))?;
    assert_eq!(found.len(), 9);
    // a window of Hann has half of a line in each neighbour
    for (k, expected) in [(4, 2.0), (3, 1.0), (5, 1.0), (0, 0.0), (8, 0.0)] {
        assert!((found[k] - expected).abs() < 2e-2, "{k}: {found:?}");
    }
    Ok(())
}

/// A broad force on the oscillator.
fn force(t: f64) -> f64 {
    (1..60).map(|k| (TAU * 0.05 * k as f64 * t + 1.3 * (k * k) as f64).cos()).sum()
}

/// Protects frequency responses: that of a linear oscillator from its record is 1/(c - m ω² + i d ω).
#[test]
fn a_frequency_response_is_that_of_the_oscillator() -> Result<()> {
    let [m, c, d] = [1.0, 40.0, 0.8];
    let (step, count) = (1e-2, 40_000);
    let grid = TimeGrid::steps(0.0, step / 10.0, 10 * count)?;
    let system = common::ready("oscillator");
    let simulation = Integrator::hht(0.0).simulation(system, grid, vec![Signal::function(force)])?;
    // without the beginning, which is no steady response
    let begin = 4000;
    let x = simulation.run(&[m, c, d, 0.0, 0.0])?.output(1).into_iter().step_by(10).skip(begin).collect::<Vec<f64>>();
    let input = (begin..=count).map(|i| force(step * i as f64)).collect();
    let response = Lines::Response { input, unit: "N".into(), from: 0.3, until: 2.0, resolution: 0.05 };
    let found =
        lines(x, step, with(Spectrum { lines: response, window: Window::Rectangular, part: SpectrumPart::Complex }))?;
    let worst = found.chunks(2).enumerate().fold(0.0f64, |worst, (k, found)| {
        let omega = TAU * (0.3 + 0.05 * k as f64);
        let (re, im) = (c - m * omega * omega, d * omega);
        let size = re * re + im * im;
        let off = ((found[0] - re / size).powi(2) + (found[1] + im / size).powi(2)).sqrt();
        worst.max(off * d * (c / m).sqrt())
    });
    assert_eq!(found.len(), 2 * 35);
    // windows hold whole periods of the force, so nothing leaks; what is left is the error of steps of 1 ms, (2 Hz)² h²/12 of ω² and the like
    assert!(worst < 1e-4, "{worst}");
    Ok(())
}

/// Protects derivatives of amplitudes, levels and complex lines for all models, behind gains, delays and filters: adjoint against tangents,
/// differences and the linearised residuals; second derivatives against differences of gradients.
#[test]
fn derivatives_of_spectra_are_exact() {
    for (name, case) in common::models() {
        let case = case.clone().alpha(-0.05).first_steps(60);
        let simulation = case.simulation();
        let run = simulation.run(&case.u).unwrap();
        let times: Vec<f64> = run.times().iter().copied().step_by(2).collect();
        let (step, length) = (times[1], times[times.len() - 1]);
        let outputs = simulation.signature().outputs.len();
        let parameter = |name: &str, nominal: f64| Parameter::new(name, "1", nominal).size(1.0);
        let sensor = |output: usize, part: SpectrumPart| Sensor {
            spectrum: Some(Spectrum {
                window: Window::Rectangular,
                ..frequencies(&[2.6 / length, 5.2 / length], part)
            }),
            ..Sensor::new(output)
        };
        let mut sensors = vec![Sensor {
            gain: Some(parameter("gain", 1.1)),
            bias: Some(parameter("bias", 0.3)),
            delay: Some(Parameter::new("delay", "s", 0.7 * step).bounds(-step, step).size(step)),
            low_pass: Some(0.25 / step),
            ..sensor(0, SpectrumPart::Amplitude)
        }];
        sensors.extend((1..outputs.min(3)).map(|output| sensor(output, PARTS[output])));
        let reference = |output: usize| {
            let y = run.output(output);
            let size = common::largest(&y).max(1e-3);
            let off =
                |(i, y): (usize, &f64)| y + size * (0.3 + 0.4 * (0.9 * i as f64).sin() + 0.2 * (2.9 * i as f64).cos());
            Reference { output, values: y.iter().step_by(2).enumerate().map(off).collect(), deviation: size }
        };
        let references = (0..outputs).map(reference).collect();
        let cost = LeastSquares::new(&times, references, 2, Quadrature::Unit).unwrap();
        let cost = cost.with_sensors(Sensors::new(sensors).unwrap(), &times).unwrap();
        derivatives_agree(name, (&simulation, &cost), (&case.u, &case.sizes));
    }
}

/// Parameters of what the records of bands are of, with white noise of this deviation.
const PULSED: [f64; 5] = [1.0, 40.0, 2.0, 0.0, 0.0];
const NOISE: f64 = 2e-3;

/// Bands of lines that share noise: resolution, window, what is compared.
const BANDS: [(f64, Window, SpectrumPart); 3] = [
    (0.05, Window::Hann, SpectrumPart::Complex),
    (0.05, Window::Rectangular, SpectrumPart::Complex),
    (0.1, Window::Hann, SpectrumPart::Amplitude),
];

/// An oscillator behind a pulse, whose spectrum is compared.
struct Pulsed {
    simulation: Simulation,
    clean: Vec<f64>,
}

impl Pulsed {
    fn new() -> Result<Self> {
        let pulse = Signal::function(|t| 20.0 * (-((t - 9.6) / 0.08f64).powi(2)).exp());
        let grid = TimeGrid::steps(0.0, 2e-2, 1000)?;
        let simulation = Integrator::hht(0.0).simulation(common::ready("oscillator"), grid, vec![pulse])?;
        let clean = simulation.run(&PULSED)?.output(1);
        Ok(Pulsed { simulation, clean })
    }

    /// Stiffness and damping by a record with the next noise.
    fn noisy(
        &self,
        (resolution, window, part): (f64, Window, SpectrumPart),
        random: &mut SplitMix64,
    ) -> Result<Problem> {
        let mut normal = || (-2.0 * (1.0 - random.unit()).ln()).sqrt() * (TAU * random.unit()).cos();
        let values = self.clean.iter().map(|x| x + NOISE * normal()).collect();
        let lines = Lines::Band { from: 0.3, until: 2.5, resolution };
        let sensor = Sensor { spectrum: Some(Spectrum { lines, window, part }), ..Sensor::new(1) };
        let reference = Reference { output: 1, values, deviation: NOISE };
        let times = self.simulation.grid().times();
        let cost = LeastSquares::new(times, vec![reference], 1, Quadrature::Unit)?
            .with_sensors(Sensors::new(vec![sensor])?, times)?;
        let mut problem = Problem::new("band", self.simulation.clone(), Box::new(cost));
        problem.start = vec![1.0, 38.0, 2.2, 0.0, 0.0];
        problem.parameters.iter_mut().for_each(|own| own.free = ["c", "d"].contains(&own.name.as_str()));
        Ok(problem)
    }
}

/// Protects profiles of costs whose lines share noise: where the cost is nearly a parabola, they end where the standard errors have them, whatever a line
/// is worth. Were lines independent, they would end at 0.6 of that behind a window of Hann.
#[test]
fn profiles_of_bands_know_of_shared_noise() -> Result<()> {
    let pulsed = Pulsed::new()?;
    for band in BANDS {
        let problem = pulsed.noisy(band, &mut SplitMix64::new(3))?;
        let settings = Settings::default();
        let found = identify(&problem, &settings, &mut |_| Flow::Continue)?;
        let statistics = Statistics::of(&problem, &found, Noise::Given)?;
        let work = Work::default();
        let all = profiles(&problem, &found, &statistics, &settings, &problem.free(), (&work, &|_, _, _| {}))?;
        assert_eq!(all.profiles.len(), 2);
        for own in &all.profiles {
            let (lower, upper) = own.interval();
            for end in [own.value - lower, upper - own.value] {
                let size = end / (all.quantile * own.standard_error);
                // the cost is no parabola, quite
                assert!((size - 1.0).abs() < 0.02, "{}, {band:?}: {size}", own.name);
            }
        }
    }
    Ok(())
}

/// Protects standard errors of bands, whose lines share noise: estimates from records with white noise scatter as they say, behind any window, from one
/// window or from several. Were lines independent, they would scatter by 1.6 times as much behind a window of Hann.
#[test]
fn estimates_from_bands_scatter_as_their_standard_errors_say() -> Result<()> {
    let (pulsed, repeats) = (Pulsed::new()?, 80);
    for (resolution, window, part) in BANDS {
        let (mut random, mut squares) = (SplitMix64::new(3), 0.0);
        for _ in 0..repeats {
            let problem = pulsed.noisy((resolution, window, part), &mut random)?;
            let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
            let statistics = Statistics::of(&problem, &found, Noise::Given)?;
            for k in problem.free() {
                squares += ((found.values()[k] - PULSED[k]) / statistics.parameters[k].standard_error).powi(2);
            }
        }
        let size = (squares / (2 * repeats) as f64).sqrt();
        // of 160 errors, the root mean square is within 17 % three times out of a thousand
        assert!((size - 1.0).abs() < 0.17, "{window:?}, {part:?}: errors are {size} standard errors");
    }
    Ok(())
}

fn run_up() -> Specification {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../examples/torsional_damper.toml");
    problem_file::read(&path).unwrap()
}

/// Protects the gradient of order amplitudes over a whole run-up: adjoint and tangents agree to 1e-11.
#[test]
fn the_run_ups_gradient_is_that_of_tangents() -> Result<()> {
    let specification = Specification { substeps: Some(1), ..run_up() };
    let problem = specification.build(&costate_models::registry()?)?;
    let (mut adjoint, mut tangent) = (vec![0.0; problem.start.len()], vec![0.0; problem.start.len()]);
    let mut engine = problem.gradient()?;
    engine.cost_and_gradient(&problem.start, Method::Adjoint, &mut adjoint)?;
    engine.cost_and_gradient(&problem.start, Method::Tangent, &mut tangent)?;
    for (k, (a, b)) in adjoint.iter().zip(&tangent).enumerate() {
        let largest = b.abs().max(1e-3 * common::largest(&tangent));
        assert!((a - b).abs() < 1e-11 * largest, "{}: {a:.15e} {b:.15e}", problem.parameters[k].name);
    }
    Ok(())
}

/// Protects what orders are for: from 50 % off, stiffness and damping of the damper are found to 1 % from the amplitudes of a record with 1 %
/// of noise.
#[test]
fn the_damper_is_found_from_amplitudes_alone() -> Result<()> {
    let problem = run_up().build(&costate_models::registry()?)?;
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
    assert!(found.outcome.converged);
    for (name, truth) in [("k", 1.9e4), ("d", 3.0)] {
        let k = problem.places(name)?[0];
        assert!((problem.start[k] / truth - 1.0).abs() >= 0.5 - 1e-12, "{name} begins nearer");
        let value = found.values()[k];
        assert!((value / truth - 1.0).abs() < 0.01, "{name}: {value}, not {truth}");
    }
    Ok(())
}

/// Protects what is refused, in words: samples too coarse, a speed that is not reached, windows too short, gaps, silent inputs.
#[test]
fn lines_that_samples_cannot_show_are_refused() {
    let record = || wave(1000, |t| (TAU * 3.0 * t).sin());
    let refused = |values: Vec<f64>, lines_of: Lines, words: &str| {
        let spectrum = Spectrum { lines: lines_of, window: Window::Hann, part: SpectrumPart::Amplitude };
        let error = lines(values, 1e-2, with(spectrum)).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    let at = |frequency: f64| Lines::Frequencies(vec![frequency]);
    refused(record(), at(50.0), "samples 0.01 s apart resolve what is below 50 Hz");
    refused(record(), at(0.1), "a Hann window needs 2");
    refused(record(), at(-1.0), "not positive");
    refused(record(), Lines::Frequencies(Vec::new()), "no line");
    let band = |from, until, resolution| Lines::Band { from, until, resolution };
    refused(record(), band(1.0, 60.0, 1.0), "resolve what is below 50 Hz");
    refused(record(), band(1.0, 5.0, 0.01), "need windows of 100 s, and the record has 10 s");
    refused(record(), band(1.1, 1.2, 1.0), "no line in it");
    let orders = |order: f64, speeds: Vec<f64>, revolutions: f64| Lines::Orders {
        orders: vec![order],
        speed: (0..1000).map(|i| 10.0 + 0.04 * i as f64).collect(),
        speeds,
        unit: SpeedUnit::RadiansPerSecond,
        revolutions,
    };
    refused(record(), orders(2.0, vec![70.0], 4.0), "the run goes from 10 to 50 rad/s");
    refused(record(), orders(2.0, vec![48.0], 10.0), "revolutions after it, and a window of 10 needs 5");
    refused(record(), orders(8.0, vec![40.0], 4.0), "order 8 at 40 rad/s");
    refused(record(), orders(0.2, vec![30.0], 4.0), "ask for more revolutions");
    let mut gap = record();
    gap[500] = f64::NAN;
    refused(gap, at(3.0), "the sample at 5 s is missing");
    let silent = |input: Vec<f64>| Lines::Response { input, unit: "N".into(), from: 1.0, until: 5.0, resolution: 0.5 };
    refused(record(), silent(vec![0.0; 1000]), "its input has nothing at 1 Hz");
    let thinned = Sensor { every: 2, ..with(frequencies(&[3.0], SpectrumPart::Amplitude)) };
    assert!(lines(record(), 1e-2, thinned).unwrap_err().to_string().contains("`every`"));
    refused(record(), Lines::Frequencies(vec![3.0, 4.0, 3.1]), "tells lines apart from 0.2 Hz on");
    refused(record(), band(0.5, 5.0, 0.5), "the line at 0.5 Hz");
    let level = with(frequencies(&[3.0], SpectrumPart::Level));
    assert!(lines(vec![0.0; 1000], 1e-2, level).unwrap_err().to_string().contains("has no level"));
    let few =
        Spectrum { window: Window::Rectangular, ..frequencies(&[9.1, 18.2, 27.3, 36.4, 45.5], SpectrumPart::Complex) };
    let error = lines(wave(11, |t| (TAU * 10.0 * t).sin()), 1e-2, with(few)).unwrap_err().to_string();
    assert!(error.contains("10 numbers are made of 11 samples"), "{error}");
}
