//! Frequency responses: against closed forms, differences, and the steady state of a run.

use costate::modes::{Channel, Complex, Response, SmallMotions};
use costate::scheme::Hht;
use costate::sensitivity::Method;
use costate::system::System;
use costate::{Error, Matrix, Model, Number, Parameter, Plain, Signal, Signature, Simulation, State, TimeGrid, unpack};
use costate_identify::Result;
use costate_identify::optimise::Flow;
use costate_identify::problem::Problem;
use costate_identify::response::{Comparison, MeasuredLine, MeasuredResponse, ResponseResult};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Settings, identify};
use costate_parts::planar::{Body, Mechanism};
use std::f64::consts::TAU;
use std::sync::Arc;

fn simulation(system: Arc<dyn System>) -> Simulation {
    let signals = vec![Signal::constant(0.0); system.signature().inputs.len()];
    Simulation::new(system, Hht::new(0.0).unwrap(), TimeGrid::steps(0.0, 1e-3, 1).unwrap(), signals).unwrap()
}

fn of_model(name: &str) -> Result<Simulation> {
    Ok(simulation(costate_models::registry()?.get(name)?.system.clone()))
}

fn responses(simulation: &Simulation, [input, output]: [&str; 2], at: &[f64]) -> costate::Result<Vec<Response>> {
    let motions = SmallMotions::about_equilibrium(simulation, &simulation.signature().nominal())?;
    motions.response(Channel::of(simulation.signature(), input, output)?, at, true)
}

#[track_caller]
fn close(what: &str, found: Complex<f64>, expected: Complex<f64>, limit: f64) {
    let off = (found - expected).norm();
    assert!(off <= limit * expected.norm(), "{what}: {found:e}, not {expected:e}");
}

fn real(x: f64) -> Complex<f64> {
    Complex::new(x, 0.0)
}

/// Protects receptance, mobility and accelerance of one mass, and their derivatives: 1/(c - m ω² + i ω d) and its multiples by i ω, to round-off
/// from rest to far beyond the resonance.
#[test]
fn an_oscillator_has_its_closed_form() -> Result<()> {
    let oscillator = of_model("oscillator")?;
    let (m, c, d) = (1.0, 40.0, 0.8);
    let at = [0.0, 0.3, 1.0, 40f64.sqrt() / TAU, 3.0, 200.0];
    for (output, power) in [("x", 0), ("v", 1), ("a", 2)] {
        for (response, f) in responses(&oscillator, ["F", output], &at)?.iter().zip(at) {
            let s = Complex::new(0.0, TAU * f);
            let h = (s * s * m + s * d + c).inv();
            let of_output = s.powu(power);
            close(&format!("{output} at {f}"), response.value, h * of_output, 1e-13);
            let [by_m, by_c, by_d, by_x0, by_v0] = response.slope[..] else { panic!("{response:?}") };
            close("by m", by_m, -h * h * s * s * of_output, 1e-13);
            close("by c", by_c, -h * h * of_output, 1e-13);
            close("by d", by_d, -h * h * s * of_output, 1e-13);
            assert_eq!([by_x0, by_v0], [real(0.0); 2]);
        }
    }
    Ok(())
}

/// Two masses in a row, the first on a wall; a force on the first, through a gain.
struct TwoMasses;

impl Model for TwoMasses {
    fn signature(&self) -> Signature {
        let parameters =
            [("m1", 2.0), ("m2", 0.5), ("c1", 900.0), ("c2", 300.0), ("d1", 1.0), ("d2", 0.7), ("gain", 3.0)];
        Signature::new("two_masses")
            .coordinates([("x1", "m"), ("x2", "m")])
            .inputs([("U", "V")])
            .outputs([("a2", "m/s^2"), ("force", "N")])
            .parameters(parameters.map(|(name, value)| Parameter::new(name, "", value)))
    }

    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        (m[(0, 0)], m[(1, 1)]) = (u[0], u[1]);
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let [_, _, c1, c2, d1, d2, gain] = unpack(u);
        let between = c2 * (q[1] - q[0]) + d2 * (v[1] - v[0]);
        force[0] = gain * w[0] - c1 * q[0] - d1 * v[0] + between;
        force[1] = -between;
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let [_, _, c1, _, d1, _, gain] = unpack(u);
        y[0] = x.a[1];
        y[1] = gain * x.w[0] - c1 * x.q[0] - d1 * x.v[0];
    }
}

/// Protects responses of two degrees of freedom, of outputs that see the input itself, and derivatives by a gain of it: closed forms.
#[test]
fn two_masses_have_their_closed_form() -> Result<()> {
    let two = simulation(Arc::new(Plain::new(TwoMasses)?));
    let [m1, m2, c1, c2, d1, d2, gain] = unpack::<f64, 7>(&two.signature().nominal());
    let at = [0.0, 1.0, 2.9, 4.4, 60.0];
    let of = |name| responses(&two, ["U", name], &at);
    for ((by_a, by_force), f) in of("a2")?.into_iter().zip(of("force")?).zip(at) {
        let s = Complex::new(0.0, TAU * f);
        let (wall, between) = (s * d1 + c1, s * d2 + c2);
        let determinant = (s * s * m1 + wall + between) * (s * s * m2 + between) - between * between;
        let [h1, h2] = [(s * s * m2 + between) / determinant, between / determinant];
        close("a2", by_a.value, s * s * h2 * gain, 1e-12);
        close("force", by_force.value, gain - wall * h1 * gain, 1e-12);
        close("by the gain", by_a.slope[6], s * s * h2, 1e-12);
        close("force by the gain", by_force.slope[6], 1.0 - wall * h1, 1e-11);
        close("by c1", by_a.slope[2], -s * s * h2 * h1 * gain, 1e-12);
    }
    Ok(())
}

/// Protects first-order states in responses: a motor with inductance, whose speed by the voltage is k/((J s + d)(L s + R) + k²).
#[test]
fn a_motor_has_its_closed_form() -> Result<()> {
    let motor = of_model("dc_motor")?;
    let [inertia, d, k, inductance, resistance, ..] = unpack::<f64, 7>(&motor.signature().nominal());
    let at = [0.05, 0.5, 5.0, 50.0];
    let found = [responses(&motor, ["voltage", "speed"], &at)?, responses(&motor, ["voltage", "current"], &at)?];
    for (j, f) in at.into_iter().enumerate() {
        let s = Complex::new(0.0, TAU * f);
        let (turn, coil) = (s * inertia + d, s * inductance + resistance);
        let bottom = turn * coil + k * k;
        close("speed", found[0][j].value, k / bottom, 1e-12);
        close("current", found[1][j].value, turn / bottom, 1e-12);
        close("by L", found[0][j].slope[3], -k * turn * s / (bottom * bottom), 1e-12);
        close("by J", found[0][j].slope[0], -k * coil * s / (bottom * bottom), 1e-12);
    }
    Ok(())
}

/// A pendulum in absolute coordinates, pushed at its joint.
fn pendulum() -> Result<Simulation> {
    let mut mechanism = Mechanism::new("pendulum");
    let mass = mechanism.parameter(Parameter::new("m", "kg", 0.7));
    let length = mechanism.parameter(Parameter::new("l", "m", 0.4));
    let gravity = mechanism.parameter(Parameter::new("g", "m/s^2", 9.81));
    let inertia = mechanism.parameter(Parameter::new("I", "kg m^2", 0.01));
    mechanism.gravity([costate::value::Value::from(0.0), -gravity]);
    let torque = mechanism.input("torque", "N m");
    let body = mechanism.body("body", Body::new(mass, inertia).at([costate::value::Value::from(0.0), -length], 0.0));
    let ground = mechanism.ground();
    mechanism.revolute("joint", ground.at([0.0, 0.0]), body.at([costate::value::Value::from(0.0), length]));
    mechanism.torque("motor", &ground, &body, torque);
    mechanism.angle("angle", &ground, &body);
    Ok(simulation(Arc::new(mechanism.build()?)))
}

/// Protects responses of constrained mechanisms, whose stiffness is a tension: 1/(m g l - (I + m l²) ω²) of a
/// pendulum in absolute coordinates, with derivatives by what moves its equilibrium.
#[test]
fn a_pendulum_has_its_closed_form() -> Result<()> {
    let (m, l, g, inertia) = (0.7, 0.4, 9.81, 0.01);
    let at = [0.0, 0.2, 0.6, 2.0];
    for (response, f) in responses(&pendulum()?, ["torque", "angle.angle"], &at)?.iter().zip(at) {
        let square = (TAU * f).powi(2);
        let h = 1.0 / (m * g * l - (inertia + m * l * l) * square);
        close(&format!("at {f} Hz"), response.value, real(h), 1e-11);
        let slopes = [g * l - l * l * square, m * g - 2.0 * m * l * square, m * l, -square];
        for (found, slope) in response.slope.iter().zip(slopes) {
            close(&format!("derivative at {f} Hz"), *found, real(-h * h * slope), 1e-9);
        }
    }
    Ok(())
}

/// Protects derivatives of all built-in models with an input: against differences, extrapolated, by every parameter.
#[test]
fn derivatives_are_those_of_differences() -> Result<()> {
    let registry = costate_models::registry()?;
    let mut compared = 0;
    for name in ["engine_mount", "half_car", "quarter_car", "bouc_wen", "torsional_damper", "silverbox"] {
        let simulation = simulation(registry.get(name)?.system.clone());
        let signature = simulation.signature();
        let u = signature.nominal();
        let output = signature.outputs.len() - 1;
        let channel = Channel { input: 0, output };
        let of = |u: &[f64], derivatives: bool| {
            SmallMotions::about_equilibrium(&simulation, u)?.response(channel, &[0.7, 11.0], derivatives)
        };
        let exact = of(&u, true).unwrap_or_else(|error| panic!("{name}: {error}"));
        let largest: Vec<f64> = exact
            .iter()
            .map(|one| one.slope.iter().zip(&u).map(|(slope, u)| slope.norm() * u.abs()).fold(0.0, f64::max))
            .collect();
        for k in 0..u.len().min(12) {
            // there, |z| has a slope on either side only
            if (name, &*signature.parameters[k].name) == ("bouc_wen", "z0") {
                continue;
            }
            let step = 1e-4 * if u[k] == 0.0 { 1.0 } else { u[k].abs() };
            let at = |factor: f64| {
                let mut u = u.clone();
                u[k] += factor * step;
                of(&u, false)
            };
            let [a, b, c, d] = [at(-2.0)?, at(-1.0)?, at(1.0)?, at(2.0)?];
            for j in 0..2 {
                let near = (c[j].value - b[j].value) / (2.0 * step);
                let far = (d[j].value - a[j].value) / (4.0 * step);
                let slope = (near * 4.0 - far) / 3.0;
                let off = (slope - exact[j].slope[k]).norm() * step * 1e4;
                let limit = 1e-7 * largest[j].max(exact[j].value.norm() * 1e-2);
                let parameter = &signature.parameters[k].name;
                assert!(off <= limit, "{name} by {parameter}: {:e}, not {slope:e}", exact[j].slope[k]);
                compared += 1;
            }
        }
    }
    assert!(compared > 60, "{compared}");
    Ok(())
}

/// Protects the meaning of a response: what a small sine does to a nonlinear, constrained model under its weight once its start has died away,
/// in amplitude and phase. The limit is the second-order error of the steps, four times smaller with half of them.
#[test]
fn a_run_with_a_small_sine_ends_in_the_response() -> Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get("engine_mount")?;
    let u = [123e3, 2.5e9, 600.0, 2.0];
    let (f, amplitude) = (12.0, 1e-2);
    let still = simulation(entry.system.clone());
    let channel = Channel::of(entry.system.signature(), "F", "x1")?;
    let expected = SmallMotions::about_equilibrium(&still, &u)?.response(channel, &[f], false)?[0].value;
    let off = |parts: usize| -> Result<f64> {
        let period = 1.0 / f;
        let count = 24 * parts;
        let grid = TimeGrid::steps(0.0, period / parts as f64, count)?;
        let force = Signal::function(move |t| amplitude * (TAU * f * t).sin());
        let run = Simulation::new(entry.system.clone(), Hht::new(-0.05)?, grid, vec![force])?
            .initial_state(costate::InitialState::Equilibrium)
            .run(&u)?;
        let (y, times) = (run.output(channel.output), run.times());
        // of the last period: 2i/T ∫ y e^(-i ω t) dt of a response to a sine
        let last = count - parts..count;
        let line: Complex<f64> = last.map(|k| Complex::new(0.0, -TAU * f * times[k]).exp() * y[k]).sum();
        let found = line * Complex::new(0.0, 2.0 / (parts as f64 * amplitude));
        Ok((found - expected).norm() / expected.norm())
    };
    let [coarse, fine] = [off(100)?, off(200)?];
    assert!(fine < 2e-3 && (3.5..4.5).contains(&(coarse / fine)), "{coarse:e}, {fine:e}");
    Ok(())
}

/// A response of an oscillator that was measured without noise at `at`, and what is known of it.
fn measured(comparison: Comparison, at: &[f64], truth: &[f64]) -> Result<MeasuredResponse> {
    let oscillator = of_model("oscillator")?;
    let channel = Channel::of(oscillator.signature(), "F", "a")?;
    let found = SmallMotions::about_equilibrium(&oscillator, truth)?.response(channel, at, false)?;
    let line = |(found, frequency): (Response, &f64)| {
        let value = if comparison.has_phase() { found.value } else { real(found.value.norm()) };
        MeasuredLine { frequency: *frequency, value, deviation: 0.02 * value.norm() }
    };
    Ok(MeasuredResponse {
        name: "a/F".into(),
        channel,
        comparison,
        lines: found.into_iter().zip(at).map(line).collect(),
    })
}

/// Protects costs with frequency responses in them, whatever is compared of these: adjoint, tangents, residuals and differences agree, and their
/// part is ½ Σ r².
#[test]
fn responses_are_in_every_derivative() -> Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get("oscillator")?;
    let at = [0.4, 0.9, 1.3, 4.0];
    for comparison in [Comparison::Complex, Comparison::Logarithm, Comparison::Amplitude, Comparison::Level] {
        let own = measured(comparison, &at, &[1.0, 40.0, 0.8, 0.1, 0.0])?;
        let problem = entry.problem(&entry.scenario)?.with_response(own)?;
        let (plain, u) = (entry.problem(&entry.scenario)?, problem.start.clone());
        let mut gradients = [Method::Adjoint, Method::Tangent].map(|_| vec![0.0; u.len()]);
        let mut engine = problem.gradient()?;
        let cost = engine.cost_and_gradient(&u, Method::Adjoint, &mut gradients[0])?;
        engine.cost_and_gradient(&u, Method::Tangent, &mut gradients[1])?;
        let result = &ResponseResult::all(&problem, &u)?[0];
        let count = if comparison.has_phase() { 8 } else { 4 };
        assert_eq!(result.residuals.len(), count);
        let squares = 0.5 * count as f64 * result.rms().powi(2);
        let expected = plain.gradient()?.cost(&u)? + squares;
        assert!(squares > 1.0 && (cost - expected).abs() < 1e-12 * cost, "{cost} not {expected}");
        let linearised = engine.linearise(&u, &problem.least_squares().unwrap_or_default())?;
        let differences = engine.differences(&u)?;
        let largest = u.iter().zip(&gradients[0]).map(|(u, slope)| (u * slope).abs()).fold(0.0, f64::max);
        for k in 0..3 {
            let off = |other: f64| (other - gradients[0][k]).abs() * u[k].abs() / largest;
            let all = [gradients[1][k], linearised.gradient()[k], differences[k].value].map(off);
            assert!(all[0] < 1e-12 && all[1] < 1e-10 && all[2] < 1e-7, "{comparison:?}, parameter {k}: {all:?}");
        }
        let refused = engine.hessian(&u, &mut vec![0.0; u.len()], &mut vec![vec![0.0; u.len()]; u.len()]).unwrap_err();
        assert!(refused.to_string().contains("second derivatives of frequency responses are not known"), "{refused}");
    }
    Ok(())
}

/// Protects fits to a response alone, from far away: whatever is compared, stiffness and damping are those that made it, and standard errors
/// are those of the deviations that were given.
#[test]
fn an_oscillator_is_found_from_its_response() -> Result<()> {
    let truth = [1.0, 70.0, 1.1, 0.1, 0.0];
    let at: Vec<f64> = (1..=30).map(|k| 0.1 * f64::from(k)).collect();
    for comparison in [Comparison::Complex, Comparison::Logarithm, Comparison::Amplitude, Comparison::Level] {
        let own = measured(comparison, &at, &truth)?;
        let simulation = of_model("oscillator")?;
        let cost = costate::cost::LeastSquares::of_nothing(simulation.grid().times());
        let problem = Problem::new("oscillator", simulation, Box::new(cost)).with_response(own)?;
        let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
        assert!(found.outcome.converged, "{comparison:?}: {}", found.reason());
        for k in [1, 2] {
            let value = found.values()[k];
            assert!((value - truth[k]).abs() < 1e-8 * truth[k], "{comparison:?}: {value} not {}", truth[k]);
        }
        let statistics = Statistics::of(&problem, &found, Noise::Estimated)?;
        // (JᵀJ)⁻¹ of dH/du = -H² ω-terms by hand, for the complex difference
        if comparison == Comparison::Complex {
            let (mut cc, mut dd, mut cd) = (0.0, 0.0, 0.0);
            for f in &at {
                let s = Complex::new(0.0, TAU * f);
                let h = (s * s + s * truth[2] + truth[1]).inv();
                let [by_c, by_d] = [h, h * s].map(|slope| slope / 0.02);
                cc += by_c.norm_sqr();
                dd += by_d.norm_sqr();
                cd += (by_c.conj() * by_d).re;
            }
            let determinant = cc * dd - cd * cd;
            for (k, variance) in [(1, dd / determinant), (2, cc / determinant)] {
                let error = statistics.parameters[k].standard_error;
                assert!((error - variance.sqrt()).abs() < 1e-6 * error, "{error} not {}", variance.sqrt());
            }
        }
    }
    Ok(())
}

/// Protects people from responses that a model does not have.
#[test]
fn responses_that_are_not_there_are_told() -> Result<()> {
    let motor = of_model("dc_motor")?;
    let assert_refused = |simulation: &Simulation, names, at: f64, words: &str| {
        let error = responses(simulation, names, &[at]).unwrap_err();
        assert!(error.to_string().contains(words), "{error}");
        error
    };
    let error = assert_refused(&motor, ["voltage", "angle"], 0.0, "0 Hz");
    assert!(matches!(error, Error::NoResponse { .. }), "{error}");
    assert_refused(&motor, ["voltagee", "angle"], 1.0, "did you mean `voltage`?");
    assert_refused(&motor, ["voltage", "angel"], 1.0, "did you mean `angle`?");
    // without damping, in resonance
    let pendulum = pendulum()?;
    let resonance = (0.7f64 * 9.81 * 0.4 / (0.01 + 0.7 * 0.16)).sqrt() / TAU;
    assert_refused(&pendulum, ["torque", "angle.angle"], resonance, "resonance without damping");
    let own = measured(Comparison::Complex, &[1.0], &[1.0, 40.0, 0.8, 0.1, 0.0])?;
    let refuse = |change: fn(&mut MeasuredResponse), words: &str| {
        let mut own = own.clone();
        change(&mut own);
        let registry = costate_models::registry().unwrap();
        let error = own.validate(registry.get("oscillator").unwrap().system.signature()).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refuse(|own| own.lines[0].frequency = -1.0, "not negative");
    refuse(|own| own.lines[0].deviation = 0.0, "its deviation 0 is not positive");
    refuse(|own| own.lines.clear(), "it has no line");
    refuse(|own| (own.comparison, own.lines[0].value) = (Comparison::Level, real(0.0)), "no logarithm");
    Ok(())
}
