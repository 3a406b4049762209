//! The Silverbox from its measured record: how much the treatment of the input between samples, the substeps and the offset
//! matter.
//!
//! `cargo run --release --example silverbox -- FILE.csv` (columns t, u, y; default: multisine.csv in
//! `$COSTATE_DATA/silverbox` or `../shared/data/silverbox`)

use costate::Interpolation;
use costate::shown::number;
use costate_identify::optimise::Flow;
use costate_identify::specification::{DataSource, ParameterSetting, Specification};
use costate_identify::table::table;
use costate_identify::{Settings, identify};
use costate_report::{parameter_table, rmse};
use std::path::PathBuf;

fn main() -> costate_identify::Result<()> {
    let file = std::env::args().nth(1).map(PathBuf::from).unwrap_or_else(|| {
        let data = std::env::var_os("COSTATE_DATA").map_or_else(|| PathBuf::from("../shared/data"), PathBuf::from);
        data.join("silverbox/multisine.csv")
    });
    let registry = costate_models::registry()?;
    let mut rows = Vec::new();
    for (interpolation, substeps, offset) in [
        (Interpolation::Cubic, 16, true),
        (Interpolation::Linear, 16, true),
        (Interpolation::ZeroOrder, 16, true),
        (Interpolation::Cubic, 1, true),
        (Interpolation::Cubic, 16, false),
    ] {
        let start = |name: &str, value: f64| ParameterSetting {
            name: name.into(),
            start: Some(value),
            free: Some(offset || name != "offset"),
            ..ParameterSetting::default()
        };
        // every parameter off by 30 %
        let specification = Specification {
            data: Some(DataSource { file: file.clone(), interpolation: Some(interpolation), ..DataSource::default() }),
            substeps: Some(substeps),
            scheme_settings: vec![("alpha".into(), 0.0)],
            parameters: vec![
                start("m", 0.7 * 5.371e-6),
                start("d", 1.3 * 2.250e-4),
                start("k1", 0.7 * 0.9900),
                start("k3", 1.3 * 3.917),
                start("offset", 0.0),
            ],
            ..Specification::of("silverbox")
        };
        let problem = specification.build(&registry)?;
        let found = identify(&problem, &Settings::default(), &mut |_| Flow::Continue)?;
        let error = rmse(&problem, &found.values())["y"].as_f64().unwrap_or(f64::NAN);
        if rows.is_empty() {
            println!("{}\n", parameter_table(&found));
        }
        rows.push(vec![
            format!("{interpolation:?}"),
            substeps.to_string(),
            if offset { "identified" } else { "none" }.to_string(),
            number(1e3 * error),
            found.outcome.evaluations.to_string(),
            number(found.seconds),
        ]);
    }
    let header = ["input between samples", "substeps", "offset", "RMSE [mV]", "simulations", "time [s]"];
    println!("{}", table(&header, &rows));
    Ok(())
}
