//! Measured records of others, where their files are named; what is known of them.

use super::{Expected, Found, Given, Row};
use crate::double_pendulum::{PHYSICAL, REFINEMENTS, measured, ratios};
use costate::Interpolation;
use costate_data::Record;
use costate_identify::optimise::{Flow, Method};
use costate_identify::specification::{DataSource, ParameterSetting, Specification};
use costate_identify::{Result, Settings, identify};
use costate_report::{problem_errors, rmse};
use std::f64::consts::PI;
use std::path::Path;

fn start<const N: usize>(values: [(&str, f64); N]) -> Vec<ParameterSetting> {
    let setting = |(name, value): (&str, f64)| ParameterSetting {
        name: name.into(),
        start: Some(value),
        free: Some(true),
        ..ParameterSetting::default()
    };
    values.into_iter().map(setting).collect()
}

/// The values found on a record, and the root mean square of what is left of an output.
fn fit(given: &Given<'_>, specification: &Specification, output: &str) -> Result<(Vec<f64>, f64)> {
    let problem = specification.build(given.registry)?;
    let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
    let values = identify(&problem, &settings, &mut |_| Flow::Continue)?.values();
    let left = rmse(&problem, &values)[output].as_f64().unwrap_or(f64::NAN);
    Ok((values, left))
}

fn data(file: &Path, interpolation: Interpolation) -> Option<DataSource> {
    Some(DataSource { file: file.to_path_buf(), interpolation: Some(interpolation), ..DataSource::default() })
}

pub(super) fn silverbox(given: &Given<'_>) -> Result<Found> {
    // every parameter off by 30 %
    let specification = Specification {
        data: data(given.record("silverbox")?, Interpolation::Cubic),
        substeps: Some(16),
        scheme_settings: vec![("alpha".into(), 0.0)],
        parameters: start([
            ("m", 0.7 * 5.371e-6),
            ("d", 1.3 * 2.250e-4),
            ("k1", 0.7 * 0.9900),
            ("k3", 1.3 * 3.917),
            ("offset", 0.0),
        ]),
        ..Specification::of("silverbox")
    };
    let (values, left) = fit(given, &specification, "y")?;
    let signature = given.registry.get("silverbox")?.system.signature();
    let value = |name: &str| Ok::<f64, costate::Error>(values[signature.parameter_index(name)?]);
    let (m, d, k1, k3) = (value("m")?, value("d")?, value("k1")?, value("k3")?);
    let source =
        "an output-error fit of the same law with an offset, cubic input, 16 steps a sample (training multisine)";
    let near = |known: f64, allowed: f64| Expected::Value(known, allowed);
    Ok(vec![
        Row::new("RMSE", "mV", Expected::AtMost(0.354), 1e3 * left, source),
        Row::new("natural frequency", "Hz", near(68.33, 0.02), (k1 / m).sqrt() / (2.0 * PI), source),
        Row::new("damping ratio", "%", near(4.88, 0.01), 100.0 * d / (2.0 * (k1 * m).sqrt()), source),
        Row::new("k3/k1", "1/V^2", near(3.917 / 0.9900, 4e-3), k3 / k1, source),
    ]
    .into())
}

pub(super) fn emps(given: &Given<'_>) -> Result<Found> {
    let specification = Specification {
        data: data(given.record("emps")?, Interpolation::Linear),
        substeps: Some(1),
        scheme_settings: vec![("alpha".into(), 0.0)],
        parameters: start([("M", 80.0), ("Fv", 150.0), ("Fc", 15.0), ("offset", 0.0), ("q0", 0.0)]),
        ..Specification::of("emps")
    };
    let (values, left) = fit(given, &specification, "qm")?;
    let signature = given.registry.get("emps")?.system.signature();
    let source = "Janot, Gautier & Brunot 2019, by inverse dynamics; an open-loop fit of positions over 24.8 s, as here, is drawn by their drift, hence 8 %";
    let mut rows = Vec::new();
    for (name, unit, known) in
        [("M", "kg", 95.109), ("Fv", "N s/m", 203.50), ("Fc", "N", 20.394), ("offset", "N", -3.165)]
    {
        let here = values[signature.parameter_index(name)?];
        rows.push(Row::new(name, unit, Expected::Value(known, 0.08 * f64::abs(known)), here, source));
    }
    let source = "an open-loop fit with the same friction";
    rows.push(Row::new("RMSE", "mm", Expected::AtMost(2.60), 1e3 * left, source));
    Ok(rows.into())
}

pub(super) fn double_pendulum(given: &Given<'_>) -> Result<Found> {
    let record = Record::read_csv(given.record("double-pendulum")?)?;
    // every determined parameter off: a1, L1, I1, I2, k1, k2
    let mut physical = PHYSICAL.map(|(.., nominal, _)| nominal);
    for (k, factor) in [(2, 0.8), (4, 1.2), (5, 1.3), (6, 0.8), (7, 0.3), (8, 3.0)] {
        physical[k] *= factor;
    }
    let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
    let mut known: Option<Vec<f64>> = None;
    let mut left = f64::NAN;
    // over long swings, small errors of the parameters grow: the horizon grows with what is known
    for (end, refined) in [(0.3, false), (1.0, false), (1.8, false), (3.0, false), (3.0, true)] {
        let mut problem = measured(&record, usize::MAX, end, 1, physical)?;
        let places = PHYSICAL.len()..PHYSICAL.len() + REFINEMENTS.len();
        problem.parameters[places].iter_mut().for_each(|parameter| parameter.free = refined);
        if let Some(values) = known.take() {
            problem.start = values;
        }
        let values = identify(&problem, &settings, &mut |_| Flow::Continue)?.values();
        let errors = problem_errors(&problem, &values)?;
        let squares: f64 = errors.iter().map(|error| error.rmse * error.rmse).sum();
        left = (squares / errors.len() as f64).sqrt();
        known = Some(values);
    }
    let published = ratios(&PHYSICAL.map(|(.., nominal, _)| nominal));
    let here = ratios(&known.unwrap_or_default());
    let source = "Kaheman et al. 2023, from its ten numbers; friction is left out, as dry friction and air explain here what is viscous there";
    let mut rows: Vec<Row> = [("H11/H22", ""), ("H12/H22", ""), ("G1/H22", "1/s^2"), ("G2/H22", "1/s^2")]
        .into_iter()
        .zip(published.into_iter().zip(here))
        .map(|((name, unit), (known, here))| Row::new(name, unit, Expected::Value(known, 3e-3 * known), here, source))
        .collect();
    let source = "what viscous friction alone leaves here: 3.5 mrad";
    rows.push(Row::new("RMSE of 26 swings", "mrad", Expected::AtMost(1.6), 1e3 * left, source));
    Ok(rows.into())
}
