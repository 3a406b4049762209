//! Cars over a road: rest, linear limits, and parameters found back from accelerometers.

use costate::scheme::Hht;
use costate::system::System;
use costate::{Result, Signal, Simulation, TimeGrid};
use costate_identify::optimise::{Flow, Method};
use costate_identify::specification::Specification;
use costate_identify::{Settings, identify};
use costate_models::cars::{Suspension, half_car, quarter_car};
use costate_models::registry;
use costate_parts::law::Law;
use std::sync::Arc;

/// Protects the law: stiffness, both rates far from the transition, half way between them at rest.
#[test]
fn the_damper_resists_bump_and_rebound_differently() {
    let u = [20e3, 900.0, 2200.0, 0.05];
    let tension = |elongation: f64, rate: f64| Suspension.tension(elongation, rate, &u);
    assert_eq!(tension(0.01, 0.0), 200.0);
    let slope = |rate: f64| (tension(0.0, rate + 1e-6) - tension(0.0, rate - 1e-6)) / 2e-6;
    assert!((slope(5.0) - 2200.0).abs() < 1.0 && (slope(-5.0) - 900.0).abs() < 1.0);
    assert!((slope(0.0) - 1550.0).abs() < 1e-3);
    // 5 s: √26 of the way
    assert!((slope(0.25) - 2200.0).abs() < 0.02 * 1300.0);
}

/// Protects the statics: on a level road nothing moves, and accelerometers show gravity; on a road that is higher by 0.1 m at once,
/// the car comes to rest 0.1 m higher.
#[test]
fn cars_stand_still_and_follow_the_road() -> Result<()> {
    for (system, roads) in [(quarter_car()?, 1), (half_car()?, 2)] {
        let system = Arc::new(system);
        let at = |height: f64| {
            let signals = vec![Signal::constant(height); roads];
            let grid = TimeGrid::uniform(0.0, 8.0, 2e-3)?;
            Simulation::new(system.clone(), Hht::new(-0.05)?, grid, signals)?.run(&system.signature().nominal())
        };
        let (level, raised) = (at(0.0)?, at(0.1)?);
        let shown = level.output(1);
        // lengths of 0.7 m are rounded to 1e-16 m, times 180 kN/m over 40 kg
        assert!(shown.iter().all(|a| (a - 9.81).abs() < 1e-9), "{:?}", &shown[..5]);
        let last = level.times().len() - 1;
        for (coordinate, (low, high)) in
            system.signature().coordinates.iter().zip(level.state(last).q.iter().zip(raised.state(last).q))
        {
            let rise = if coordinate.name.ends_with(".y") { 0.1 } else { 0.0 };
            // 8 s of a damping of some 1.5/s
            assert!((high - low - rise).abs() < 1e-5, "{}: {low} {high}", coordinate.name);
        }
    }
    Ok(())
}

/// Protects the linear limit: with equal rates in bump and rebound, the quarter car answers a harmonic road as two masses on springs
/// do, by their complex amplitudes.
#[test]
fn a_linear_quarter_car_has_its_frequency_response() -> Result<()> {
    let system = Arc::new(quarter_car()?);
    let mut u = system.signature().nominal();
    let bump = u[system.signature().parameter_index("c_bump")?];
    u[system.signature().parameter_index("c_rebound")?] = bump;
    let at = |name: &str| system.signature().parameter_index(name).map(|k| u[k]);
    let (body, wheel, k, c, tyre) = (at("m_body")?, at("m_wheel")?, at("k")?, at("c_bump")?, at("k_tyre")?);
    for frequency in [0.8, 3.0, 11.0] {
        let omega = std::f64::consts::TAU * frequency;
        let period = 1.0 / frequency;
        let signal = Signal::function(move |t| 0.01 * (omega * t).sin());
        // the last of so many periods is steady
        let periods = (12.0 / period).ceil();
        let grid = TimeGrid::uniform(0.0, periods * period, period / 800.0)?;
        let run = Simulation::new(system.clone(), Hht::new(0.0)?.form(Default::default()), grid, vec![signal])?;
        let shown = run.run(&u)?.output(1);
        let steady = &shown[shown.len() - 801..shown.len() - 1];
        let amplitude = |part: fn(f64) -> f64| {
            let sum = |(i, a): (usize, &f64)| (a - 9.81) * part(std::f64::consts::TAU * i as f64 / 800.0);
            steady.iter().enumerate().map(sum).sum::<f64>() / 400.0
        };
        let seen = amplitude(f64::sin).hypot(amplitude(f64::cos));
        // (k + i ω c) (wheel - body) = -ω² body, and the wheel's equation, as numbers a + i b
        let (s_re, s_im) = (k, omega * c);
        let w2 = omega * omega;
        // body/wheel = s / (s - ω² m_b); then wheel (tyre + s - ω² m_w - s²/(s - ω² m_b)) = tyre road
        let divide = |(a, b): (f64, f64), (c, d): (f64, f64)| {
            let size = c * c + d * d;
            ((a * c + b * d) / size, (b * c - a * d) / size)
        };
        let ratio = divide((s_re, s_im), (s_re - w2 * body, s_im));
        let through = (s_re * ratio.0 - s_im * ratio.1, s_re * ratio.1 + s_im * ratio.0);
        let wheel_answer = divide((tyre * 0.01, 0.0), (tyre + s_re - w2 * wheel - through.0, s_im - through.1));
        let expected = w2 * ratio.0.hypot(ratio.1) * wheel_answer.0.hypot(wheel_answer.1);
        // the phase error of the trapezoidal rule at 800 steps a period of the road
        assert!((seen / expected - 1.0).abs() < 2e-3, "{frequency} Hz: {seen} {expected}");
    }
    Ok(())
}

/// Protects identification from what a body's accelerometers see: every free parameter of both cars comes back, dampers by direction
/// included.
#[test]
fn parameters_are_found_back() {
    for model in ["quarter_car", "half_car"] {
        let problem = Specification::of(model).build(&registry().unwrap()).unwrap();
        let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
        let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
        for (parameter, estimate) in problem.parameters.iter().zip(&found.parameters) {
            let error = (estimate.value / parameter.nominal - 1.0).abs();
            assert!(error < 1e-6, "{model}: {} = {} ({})", estimate.name, estimate.value, found.reason());
        }
    }
}
