//! Statistics against normal equations in exact rational arithmetic.

use costate::cost::{LeastSquares, Quadrature, Reference};
use costate::scheme::Hht;
use costate::{Matrix, Model, Number, Parameter, Plain, Signature, Simulation, State, TimeGrid};
use costate_identify::optimise::{Flow, Method};
use costate_identify::problem::Problem;
use costate_identify::statistics::{Noise, Statistics};
use costate_identify::{Settings, identify};
use std::sync::Arc;

/// A body under a constant force: x = a + b t + c t²/2, v = b + c t, which the trapezoidal rule reproduces exactly.
struct Parabola;

impl Model for Parabola {
    fn signature(&self) -> Signature {
        Signature::new("parabola").coordinates([("x", "m")]).outputs([("x", "m"), ("v", "m/s")]).parameters([
            Parameter::new("a", "m", 1.0),
            Parameter::new("b", "m/s", 1.0),
            Parameter::new("c", "m/s^2", 1.0),
        ])
    }
    fn initial<D: Number>(&self, u: &[D], q: &mut [D], v: &mut [D]) {
        (q[0], v[0]) = (u[0], u[1]);
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[2];
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        (y[0], y[1]) = (x.q[0], x.v[0]);
    }
}

/// det of a 3 x 3 matrix.
fn determinant(m: [[i128; 3]; 3]) -> i128 {
    let minor = |a: usize, b: usize| m[1][a] * m[2][b] - m[1][b] * m[2][a];
    m[0][0] * minor(1, 2) - m[0][1] * minor(0, 2) + m[0][2] * minor(0, 1)
}

/// With row `i` and column `j` replaced by a unit entry: the cofactor.
fn cofactor(m: [[i128; 3]; 3], i: usize, j: usize) -> i128 {
    let mut replaced = m;
    replaced[i] = [0; 3];
    replaced.iter_mut().for_each(|row| row[j] = 0);
    replaced[i][j] = 1;
    determinant(replaced)
}

const COUNT: i128 = 12;
/// Data of both outputs, in eighths.
const POSITIONS: [i128; 12] = [3, -2, 5, 9, 8, 17, 21, 30, 33, 47, 52, 66];
const VELOCITIES: [i128; 12] = [1, 4, 2, 6, 9, 7, 12, 11, 16, 14, 18, 21];
/// 1/σ of both outputs.
const WEIGHTS: [i128; 2] = [2, 5];

/// Protects all numbers of the statistics, and the search before them, from being consistent but wrong: two outputs with
/// their own deviations, a fit of three parameters, against fractions of whole numbers. Nothing of the engine is used there.
#[test]
fn a_parabola_has_the_statistics_of_exact_arithmetic() {
    // t = k; rows of S, times 2, and data times 8, so that all is whole
    let rows: Vec<([i128; 3], i128, i128)> = (0..COUNT)
        .flat_map(|k| {
            let place = k as usize;
            [([2, 2 * k, k * k], POSITIONS[place], WEIGHTS[0]), ([0, 2, 2 * k], VELOCITIES[place], WEIGHTS[1])]
        })
        .collect();
    let mut normal = [[0; 3]; 3];
    let mut right = [0; 3];
    for (s, y, w) in &rows {
        for i in 0..3 {
            (0..3).for_each(|j| normal[i][j] += w * w * s[i] * s[j]);
            right[i] += w * w * s[i] * y;
        }
    }
    let det = determinant(normal);
    // normal (4 u) = right: S is doubled, data are eightfold
    let solution: [i128; 3] = std::array::from_fn(|i| (0..3).map(|j| cofactor(normal, j, i) * right[j]).sum());
    let u: Vec<f64> = solution.iter().map(|numerator| *numerator as f64 / (4 * det) as f64).collect();
    // 8 r = w (8 y - (2 s)(4 u)), all over det
    let squares: i128 = rows
        .iter()
        .map(|(s, y, w)| {
            let fitted: i128 = (0..3).map(|i| s[i] * solution[i]).sum();
            w * w * (y * det - fitted).pow(2)
        })
        .sum();
    let chi_square = squares as f64 / (64.0 * (det as f64).powi(2));

    let times: Vec<f64> = (0..COUNT).map(|k| k as f64).collect();
    let grid = TimeGrid::through(&times, 1).unwrap();
    let simulation =
        Simulation::new(Arc::new(Plain::new(Parabola).unwrap()), Hht::new(0.0).unwrap(), grid, vec![]).unwrap();
    let reference = |output: usize, data: [i128; 12]| Reference {
        output,
        values: data.iter().map(|y| *y as f64 / 8.0).collect(),
        deviation: 1.0 / WEIGHTS[output] as f64,
    };
    let references = vec![reference(0, POSITIONS), reference(1, VELOCITIES)];
    let cost = LeastSquares::new(&times, references, 1, Quadrature::Unit).unwrap();
    let problem = Problem { start: vec![1.0, -1.0, 2.0], ..Problem::new("parabola", simulation, Box::new(cost)) };
    let settings = Settings { method: Some(Method::LevenbergMarquardt), ..Settings::default() };
    let found = identify(&problem, &settings, &mut |_| Flow::Continue).unwrap();
    let close = |found: f64, expected: f64, what: &str| {
        // a few hundred operations on numbers whose normal matrix has a condition of 1e4
        assert!((found - expected).abs() <= 1e-11 * expected.abs(), "{what}: {found:.16e} against {expected:.16e}");
    };
    found.values().iter().zip(&u).for_each(|(found, u)| close(*found, *u, "parameter"));
    for noise in [Noise::Given, Noise::Estimated] {
        let statistics = Statistics::of(&problem, &found, noise).unwrap();
        assert_eq!((statistics.count, statistics.degrees_of_freedom), (24, 21));
        close(statistics.chi_square, chi_square, "chi-square");
        close(statistics.reduced_chi_square().unwrap(), chi_square / 21.0, "reduced chi-square");
        let variance = if noise == Noise::Given { 1.0 } else { chi_square / 21.0 };
        // t(0.95, 21), printed tables
        let quantile = if noise == Noise::Given { 1.959_963_984_540_054 } else { 2.079_613_844_727_66 };
        for i in 0..3 {
            for j in 0..3 {
                // (SᵀS)⁻¹ = 4 (2S)ᵀ(2S)⁻¹
                let entry = 4.0 * cofactor(normal, j, i) as f64 / det as f64;
                close(statistics.covariance[(i, j)], entry * variance, "covariance");
                let size = (cofactor(normal, i, i) as f64 * cofactor(normal, j, j) as f64).sqrt();
                close(statistics.correlation[(i, j)], cofactor(normal, j, i) as f64 / size, "correlation");
            }
            let error = (4.0 * cofactor(normal, i, i) as f64 / det as f64 * variance).sqrt();
            let parameter = &statistics.parameters[i];
            close(parameter.standard_error, error, "standard error");
            let (low, high) = parameter.intervals[1];
            close((high - low) / (2.0 * error), quantile, "half the interval over the error");
        }
        for (place, data) in [POSITIONS, VELOCITIES].into_iter().enumerate() {
            let own = rows.iter().skip(place).step_by(2).map(|(s, y, _)| {
                let fitted: i128 = (0..3).map(|i| s[i] * solution[i]).sum();
                (y * det - fitted).pow(2)
            });
            let squares = own.sum::<i128>() as f64 / (det as f64).powi(2);
            let sum: i128 = data.iter().sum();
            let total = data.iter().map(|y| (COUNT * y - sum).pow(2)).sum::<i128>() as f64 / (COUNT * COUNT) as f64;
            let output = &statistics.outputs[place];
            close(output.r_squared.unwrap(), 1.0 - squares / total, "R²");
            close(output.fit_percent.unwrap(), 100.0 * (1.0 - (squares / total).sqrt()), "fit");
            close(output.rmse(), (squares / COUNT as f64).sqrt() / 8.0, "RMSE");
        }
    }
}
