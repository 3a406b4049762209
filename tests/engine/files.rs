//! Models as files: the same numbers as from Rust, and slips that are refused.

mod choices;
mod costs;
mod exported;
mod includes;
mod parts;
mod slips;
mod space;

use costate::sensitivity::{Gradient, Method};
use costate_identify::problem::Problem;
use costate_identify::registry::{Entry, Registry, Scenario};
use std::path::{Path, PathBuf};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../models/files")
}

/// All files of ready models, by name.
fn files() -> Vec<(String, String)> {
    let mut all: Vec<(String, String)> = std::fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path| (path.file_stem().unwrap().to_string_lossy().into_owned(), std::fs::read_to_string(path).unwrap()))
        .collect();
    all.sort();
    all
}

fn read(name: &str) -> Entry {
    costate_file::read(&folder().join(format!("{name}.toml"))).unwrap_or_else(|error| panic!("{error}"))
}

/// Cost, gradient, Hessian and counters of a built-in problem at its start.
fn derivatives(problem: &Problem) -> (f64, Vec<f64>, Vec<Vec<f64>>, String) {
    let first = problem.first();
    let count = problem.start.len();
    let mut gradient = Gradient::new(&first.simulation, &*first.cost).unwrap();
    let mut slope = vec![0.0; count];
    let cost = gradient.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope).unwrap();
    let counters = format!("{:?}", gradient.counters());
    let (mut again, mut hessian) = (vec![0.0; count], vec![vec![0.0; count]; count]);
    gradient.hessian(&problem.start, &mut again, &mut hessian).unwrap();
    (cost, slope, hessian, counters)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let size = b.iter().fold(0.0f64, |size, b| size.max(b.abs())).max(1e-300);
    a.iter().zip(b).fold(0.0, |most, (a, b)| f64::max(most, (a - b).abs() / size))
}

/// Protects files from being another model than what they say: the ready ones have signatures, scenarios, costs, gradients, Hessians and counters
/// of those in Rust. To the last bit, where operations stand in the same order.
#[test]
fn ready_models_are_those_in_rust() {
    let registry = costate_models::registry().unwrap();
    for (name, tolerance) in [
        ("oscillator", 0.0),
        ("engine_mount", 0.0),
        ("pendulum", 0.0),
        ("slider_crank", 0.0),
        ("emps", 0.0),
        ("dc_motor", 0.0),
        ("bouc_wen", 0.0),
        ("silverbox", 0.0),
        ("cart_pole", 1e-13),
        ("simple_pendulum", 0.0),
        // other orders of parts are other orders of sums, and of elimination
        ("pendulum_chain", 1e-12),
        ("four_bar_chain", 0.0),
        ("top", 0.0),
        ("spatial_chain", 1e-11),
        ("squeezer", 0.0),
        ("five_bar", 0.0),
        ("triple_pendulum", 1e-12),
        ("overhead_crane", 1e-12),
        ("double_pendulum", 1e-13),
        ("quarter_car", 0.0),
        ("half_car", 0.0),
        ("hanging_load", 1e-13),
        ("rigid_body", 0.0),
        ("rigid_body_factors", 1e-12),
        ("bricard", 1e-12),
        // rows of the Hessian that are small beside others are differences of large numbers
        ("robot_arm", 1e-9),
        // a spin of 120 rad/s over 2000 steps, of which the order of elimination makes 2e-13 of the cost and 1e-9 of the Hessian
        ("gyroscope", 1e-8),
        // coefficients of the gas torque are worked out, and printed
        ("torsional_damper", 1e-10),
        // the derivatives of energies are other formulas
        ("cart_pole_energy", 1e-13),
    ] {
        let (own, rust) = (read(name), registry.get(name.trim_end_matches("_energy")).unwrap());
        // in a file, joints stand behind all bodies; and the double pendulum's coordinates cannot be called as its parameters are
        let signature = |entry: &Entry| {
            let mut signature = entry.system.signature().clone();
            signature.constraints.sort_by(|a, b| a.name.cmp(&b.name));
            if name == "double_pendulum" {
                signature.coordinates.clear();
            }
            signature
        };
        assert_eq!(signature(&own), signature(rust), "{name}");
        let settings = |entry: &Entry| {
            let scenario = &entry.scenario;
            format!(
                "{} {} {} {:?} {:?}",
                scenario.end, scenario.step, scenario.integrator, scenario.start, scenario.outputs
            )
        };
        assert_eq!(settings(&own), settings(rust), "{name}");
        // a part of long runs with many parameters
        let most = 3_000 / own.system.signature().parameters.len();
        let problems = [&own, rust].map(|entry| {
            let end = entry.scenario.end.min(most as f64 * entry.scenario.step);
            entry.problem(&Scenario { end, ..entry.scenario.clone() }).unwrap()
        });
        let [(cost, slope, hessian, counters), (cost_in_rust, slope_in_rust, hessian_in_rust, counters_in_rust)] =
            problems.each_ref().map(derivatives);
        let errors = [
            (cost - cost_in_rust).abs() / cost_in_rust,
            distance(&slope, &slope_in_rust),
            rows_apart(&hessian, &hessian_in_rust),
        ];
        println!("{name}: {errors:?}");
        assert!(errors[0] <= tolerance && errors[1] <= tolerance, "{name}: cost and gradient {errors:?}");
        assert!(errors[2] <= f64::max(tolerance, 1e-12), "{name}: Hessian {errors:?}");
        if tolerance == 0.0 {
            assert_eq!(counters, counters_in_rust, "{name}");
        }
    }
}

/// The largest distance of two rows; those that are round-off beside the others, of parameters without influence, are zero.
fn rows_apart(a: &[Vec<f64>], b: &[Vec<f64>]) -> f64 {
    let size = |row: &[f64]| row.iter().fold(0.0, |most: f64, entry| most.max(entry.abs()));
    let most = a.iter().map(|row| size(row)).fold(0.0, f64::max);
    let pairs = a.iter().zip(b).filter(|(a, b)| size(a).max(size(b)) > 1e-14 * most);
    pairs.map(|(a, b)| distance(a, b)).fold(0.0, f64::max)
}

/// Protects users from a page that is not what the reader knows.
#[test]
fn all_keys_are_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/mechanism-file.md");
    let reference = costate_file::reference();
    if std::env::var_os("WRITE").is_some() {
        std::fs::write(&page, &reference).unwrap();
    }
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    let how = "WRITE=1 cargo test -p costate-tests --test engine files::all_keys";
    assert!(written == reference, "docs/mechanism-file.md is not that of the source: {how}");
}

/// Protects the page's examples: the file on it is read, and the message on it is what the reader says.
#[test]
fn the_page_tells_the_truth() {
    let page = costate_file::reference();
    let block = |language: &str| {
        let (_, rest) = page.split_once(&format!("```{language}\n")).unwrap();
        rest.split_once("```").unwrap().0.to_string()
    };
    let text = block("toml");
    let path = Path::new("duffing.toml");
    assert_eq!(costate_file::parse(&text, path).unwrap_or_else(|error| panic!("{error}")).name(), "duffing");
    let slip = text.replace("k3*x^2", "k3*x");
    let error = costate_file::parse(&slip, path).err().unwrap().to_string();
    assert_eq!(error.trim_end(), block("text").trim_end());
}

/// Protects files to begin with: they run, their built-in problems have gradients, and what they offer in comments is known.
#[test]
fn skeletons_run() {
    for kind in ["plain", "planar", "spatial"] {
        let text = costate_file::skeleton(kind, "mine").unwrap();
        let entry = costate_file::parse(&text, Path::new("mine.toml")).unwrap_or_else(|error| panic!("{error}"));
        let (cost, slope, ..) = derivatives(&entry.problem(&entry.scenario).unwrap());
        assert!(entry.name() == "mine" && cost > 0.0 && slope.iter().all(|slope| slope.is_finite()));
        assert!(text.contains("# definitions = ") && text.contains("# version = 1"), "{text}");
    }
    assert!(costate_file::skeleton("plane", "mine").err().unwrap().to_string().contains("no kind of mechanism"));
}

/// Protects registries: files by their paths, read once; the same file by the same name is the same entry.
#[test]
fn registries_know_files() {
    let registry = Registry::new().with_files(costate_file::read);
    let path = folder().join("duffing.toml").to_string_lossy().into_owned();
    let other = folder().join("oscillator.toml").to_string_lossy().into_owned();
    let first = registry.get(&path).unwrap();
    assert_eq!(registry.get(&other).unwrap().name(), "oscillator");
    assert!(std::ptr::eq(first, registry.get(&path).unwrap()));
    assert_eq!(first.files, [PathBuf::from(&path)]);
    assert!(registry.get("nowhere.toml").is_err() && registry.get("duffing").is_err());
}
