//! How well values that are known up to a period are reproduced: one definition of their mean and spread, as of their residuals. And sizes that overflow.

use crate::statistics::problems::{Line, Noisy, even, problem, simulation};
use costate::cost::{Quadrature, Reference};
use costate::{Matrix, Model, Number, Quantity, Signature, State};
use costate_identify::statistics::{Noise, OutputFit, Statistics, fits};
use std::f64::consts::{PI, TAU};

/// [`Line`] whose output is an angle.
struct Turning;

impl Model for Turning {
    fn signature(&self) -> Signature {
        Signature { outputs: vec![Quantity::angle("y")], ..Line.signature() }
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        Line.initial(u, q, v);
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        Line.mass(q, u, m);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        Line.force(t, q, v, w, u, force);
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        Line.output(t, x, u, y);
    }
}

/// The fit of a shaft at y = 0.3 + 2 t to `values` every 10 ms.
fn shaft(values: Vec<f64>) -> OutputFit {
    let times = even(values.len(), 0.01);
    let reference = Reference { output: 0, values, deviation: 1.0 };
    let u = [0.3, 2.0, 1.0];
    let problem = problem(simulation(Turning, &times), vec![reference], Quadrature::Unit, &u);
    let found = fits(&problem, &problem.experiments, &u).unwrap().remove(0);
    // a fit and a validation tell the same
    let same = Statistics::at(&problem, &u, &[], Noise::Given).unwrap().outputs.remove(0);
    assert_eq!((found.r_squared, found.fit_percent, found.size), (same.r_squared, same.fit_percent, same.size));
    found
}

/// Protects fit and R² of angles: a record that the model knows nothing of is explained by about nothing (chance leaves some hundredths of 2000 samples), whatever turns it is
/// told with and though it goes around many times, where the spread of the continuous angle would make a fit of 95 % of it. Degrees that are
/// taken for radians are as good as chance. A model that is right explains it, and one that is off by half a turn less than nothing.
#[test]
fn angles_that_a_model_knows_nothing_of_are_not_explained() {
    const COUNT: usize = 2000;
    let mut noisy = Noisy(5);
    let t = |i: usize| i as f64 * 0.01;
    let chance: Vec<f64> = (0..COUNT).map(|_| TAU * noisy.uniform() + 4.0 * TAU * noisy.uniform().round()).collect();
    let elsewhere: Vec<f64> = (0..COUNT).map(|i| 1.7 + 5.3 * t(i)).collect();
    let degrees: Vec<f64> = (0..COUNT).map(|i| (0.3 + 2.0 * t(i)).to_degrees()).collect();
    for (values, what) in [(chance, "chance"), (elsewhere, "another speed"), (degrees, "degrees")] {
        let found = shaft(values);
        let (fit, r_squared) = (found.fit_percent.unwrap(), found.r_squared.unwrap());
        assert!(fit.abs() < 3.0 && r_squared.abs() < 0.06, "{what}: {fit} {r_squared}");
        // as large as of an angle taken at random
        assert!((found.rmse() / found.by_chance().unwrap() - 1.0).abs() < 0.03, "{what}: {}", found.rmse());
        assert!((found.by_chance().unwrap() - PI / 3f64.sqrt()).abs() < 1e-15);
    }
    let measured = |off: f64, turns: f64| -> Vec<f64> {
        (0..COUNT)
            .map(|i| 0.3 + 2.0 * t(i) + off + 1e-3 * (i as f64 * 0.7).sin() + TAU * turns * ((i * 7) % 5) as f64)
            .collect()
    };
    let right = shaft(measured(0.0, 0.0));
    // 0.707 mrad of 1.814 rad
    assert!((right.fit_percent.unwrap() - 99.961).abs() < 2e-3, "{right:?}");
    let turned = shaft(measured(0.0, 1.0));
    assert!((turned.fit_percent.unwrap() - right.fit_percent.unwrap()).abs() < 1e-9);
    // π of the spread of 6.4 turns, which is about that of whole ones, π/√3
    let opposite = shaft(measured(PI, 0.0));
    assert!((opposite.size / opposite.by_chance().unwrap() - 1.0).abs() < 0.05, "{}", opposite.size);
    assert!((opposite.fit_percent.unwrap() - 100.0 * (1.0 - PI / opposite.size)).abs() < 0.1, "{opposite:?}");
}

/// Protects what is reported of residuals whose squares overflow: RMSE, fit and R² are numbers, and nothing is said to be infinite.
#[test]
fn residuals_of_any_size_have_a_root_mean_square() {
    for size in [1e300, 1e-300] {
        let times = even(50, 0.1);
        let values: Vec<f64> = times.iter().map(|t| size * (1.0 - 0.3 * t + 0.01 * (9.0 * t).sin())).collect();
        let u = [size, -0.31 * size, 1.0];
        let reference = Reference { output: 0, values, deviation: 1.0 };
        let problem = problem(simulation(Line, &times), vec![reference], Quadrature::Unit, &u);
        let found = fits(&problem, &problem.experiments, &u).unwrap().remove(0);
        let (fit, r_squared) = (found.fit_percent.unwrap(), found.r_squared.unwrap());
        assert!(found.rmse() > 1e-3 * size && found.rmse() < 0.1 * size, "{}", found.rmse());
        assert!((90.0..100.0).contains(&fit) && (0.99..1.0).contains(&r_squared), "{fit} {r_squared}");
        let line = found.line();
        assert!(!line.contains("inf") && !line.contains("NaN"), "{line}");
    }
}
