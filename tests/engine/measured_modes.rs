//! Measured frequencies and damping of modes as residuals: against closed forms, differences and the methods of each other.

use costate::sensitivity::Method;
use costate_identify::Result;
use costate_identify::modal::{MeasuredMode, ModeQuantity, ModeResult};
use costate_identify::optimise::Flow;
use costate_identify::problem::Problem;
use costate_identify::specification::{ParameterSetting, Specification};
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Settings, identify};
use std::f64::consts::TAU;

fn measured(number: usize, quantity: ModeQuantity, value: f64, deviation: f64) -> MeasuredMode {
    MeasuredMode { number, quantity, value, deviation }
}

fn close(what: &str, found: f64, expected: f64, limit: f64) {
    assert!((found - expected).abs() <= limit * expected.abs(), "{what}: {found:e}, not {expected:e}");
}

/// Protects derivatives of a cost with samples and modes in it, where parameters move the equilibrium: adjoint, tangents, residuals and
/// differences agree, and the modes' part is ½ r².
#[test]
fn measured_modes_are_in_every_derivative() -> Result<()> {
    let registry = costate_models::registry()?;
    let entry = registry.get("half_car")?;
    let plain = entry.problem(&entry.scenario)?;
    let problem = entry
        .problem(&entry.scenario)?
        .with_mode(measured(1, ModeQuantity::NaturalFrequency, 1.2, 0.01))?
        .with_mode(measured(2, ModeQuantity::DampingRatio, 0.3, 0.01))?
        .with_mode(measured(3, ModeQuantity::DampedFrequency, 10.0, 0.2))?;
    let u = problem.start.clone();
    let mut gradients = [Method::Adjoint, Method::Tangent].map(|_| vec![0.0; u.len()]);
    let mut engine = problem.gradient()?;
    let cost = engine.cost_and_gradient(&u, Method::Adjoint, &mut gradients[0])?;
    engine.cost_and_gradient(&u, Method::Tangent, &mut gradients[1])?;
    let squares: f64 = ModeResult::all(&problem, &u)?.iter().map(|mode| 0.5 * mode.residual().powi(2)).sum();
    assert!(squares > 1.0, "the modes hardly matter");
    close("cost", cost - plain.gradient()?.cost(&u)?, squares, 1e-12);
    let linearised = engine.linearise(&u, &problem.least_squares().unwrap_or_default())?;
    close("cost of the residuals", linearised.cost(), cost, 1e-12);
    let differences = engine.differences(&u)?;
    let largest = u.iter().zip(&gradients[0]).map(|(u, slope)| (u * slope).abs()).fold(0.0, f64::max);
    for k in 0..u.len() {
        let name = &problem.parameters[k].name;
        let off = |other: f64| (other - gradients[0][k]).abs() * u[k].abs() / largest;
        assert!(off(gradients[1][k]) < 1e-11, "{name}: tangent {}", gradients[1][k]);
        assert!(off(linearised.gradient()[k]) < 1e-10, "{name}: residuals {}", linearised.gradient()[k]);
        assert!(off(differences[k].value) < 1e-7, "{name}: {} not {}", differences[k].value, gradients[0][k]);
    }
    let refused = engine.hessian(&u, &mut vec![0.0; u.len()], &mut vec![vec![0.0; u.len()]; u.len()]).unwrap_err();
    assert!(refused.to_string().contains("second derivatives of modes are not known"), "{refused}");
    Ok(())
}

/// The oscillator with a known mass, from its frequency and its damping ratio.
fn oscillator(frequency: f64, ratio: f64) -> Result<Problem> {
    let modes = vec![
        measured(1, ModeQuantity::NaturalFrequency, frequency, 1e-3 * frequency),
        measured(1, ModeQuantity::DampingRatio, ratio, 1e-2 * ratio),
    ];
    let fixed = |(name, start): (&str, f64)| ParameterSetting {
        name: name.into(),
        start: Some(start),
        free: Some(false),
        ..ParameterSetting::default()
    };
    let parameters = [("m", 1.5), ("x0", 0.1), ("v0", 0.0)].map(fixed).to_vec();
    Specification { modes, parameters, ..Specification::of("oscillator") }.build(&costate_models::registry()?)
}

/// Protects fits to modes alone: stiffness and damping of an oscillator and their standard errors are those of the closed form.
#[test]
fn an_oscillator_is_found_from_its_mode() -> Result<()> {
    let (m, c, d): (f64, f64, f64) = (1.5, 60.0, 1.2);
    let (frequency, ratio) = ((c / m).sqrt() / TAU, d / (2.0 * (c * m).sqrt()));
    let problem = oscillator(frequency, ratio)?;
    assert_eq!(problem.steps(), 1);
    let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
    assert!(found.outcome.converged);
    let statistics = Statistics::of(&problem, &found, Noise::Estimated)?;
    // c ~ f², d ~ f ζ
    for (name, truth, error) in [("c", c, 2e-3), ("d", d, (1e-3f64).hypot(1e-2))] {
        let k = problem.places(name)?[0];
        close(name, found.values()[k], truth, 1e-9);
        close(&format!("error of {name}"), statistics.parameters[k].standard_error, error * truth, 1e-6);
    }
    Ok(())
}

/// Protects people from numbers that no mode has, and from modes that are not there.
#[test]
fn modes_that_are_not_there_are_told() -> Result<()> {
    let refuse = |mode: MeasuredMode, words: &str| {
        let error = mode.validate().unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    };
    refuse(measured(0, ModeQuantity::NaturalFrequency, 1.0, 0.1), "counted from 1");
    refuse(measured(1, ModeQuantity::NaturalFrequency, -1.0, 0.1), "positive frequency");
    refuse(measured(1, ModeQuantity::DampedFrequency, 1.0, 0.0), "deviation 0 is not positive");
    refuse(measured(1, ModeQuantity::DampingRatio, 2.0, 0.1), "0.02 for 2 %");
    let problem = oscillator(1.0, 0.1)?.with_mode(measured(2, ModeQuantity::NaturalFrequency, 3.0, 0.1))?;
    let error = problem.mode_cost(&problem.start).unwrap_err();
    assert!(
        matches!(error, costate_identify::Error::NoMode { .. }) && error.to_string().contains("the model has 1 mode"),
        "{error}"
    );
    // far beyond critical damping there is no damped frequency
    let problem = oscillator(1.0, 0.1)?.with_mode(measured(1, ModeQuantity::DampedFrequency, 3.0, 0.1))?;
    let mut u = problem.start.clone();
    u[problem.places("d")?[0]] = 1e3;
    let error = problem.mode_cost(&u).unwrap_err();
    assert!(error.to_string().contains("this mode is a decay"), "{error}");
    Ok(())
}
