//! Levenberg-Marquardt and Gauss-Newton do not know of units.

use super::problems::{bard, box_3d, brown_dennis, kowalik_osborne, meyer, osborne_1, osborne_2, rosenbrock};
use super::{GN, LM, Row, run};
use costate_identify::Result;
use costate_identify::optimise::{Options, Outcome, Variable};

type Residuals = fn(&[f64]) -> Result<Vec<Row>>;

/// The same problem with variable k multiplied by `factors[k]`, and residuals by `factor`.
fn converted(residuals: Residuals, factors: &[f64], factor: f64) -> impl Fn(&[f64]) -> Result<Vec<Row>> {
    let factors = factors.to_vec();
    move |u: &[f64]| {
        let plain: Vec<f64> = u.iter().zip(&factors).map(|(u, f)| u / f).collect();
        let row = |(r, s): Row| (factor * r, s.iter().zip(&factors).map(|(s, f)| factor * s / f).collect());
        Ok(residuals(&plain)?.into_iter().map(row).collect())
    }
}

/// The path in the units of the plain problem.
fn path(outcome: &Outcome, factors: &[f64]) -> Vec<Vec<f64>> {
    let point = |u: &Vec<f64>| u.iter().zip(factors).map(|(u, f)| u / f).collect();
    outcome.history.iter().map(|iteration| point(&iteration.u)).collect()
}

/// Protects every decision of the search from units: with variables and residuals in other units, whatever nominal values variables
/// have been given, zero at the start or not, the same steps are taken. (Factors are powers of two, so that round-off is the same, too:
/// what differs is a decision.)
#[test]
fn other_units_and_other_nominal_values_take_the_same_steps() {
    let problems: [(&str, Residuals, &[f64]); 9] = [
        ("rosenbrock", rosenbrock, &[-1.2, 1.0]),
        ("bard", bard, &[1.0; 3]),
        ("kowalik osborne", kowalik_osborne, &[0.25, 0.39, 0.415, 0.39]),
        ("meyer", meyer, &[0.02, 4000.0, 250.0]),
        // a start of zero has no size of its own
        ("box 3d", box_3d, &[0.0, 10.0, 20.0]),
        ("osborne 1", osborne_1, &[0.5, 1.5, -1.0, 0.01, 0.02]),
        ("osborne 2", osborne_2, &[1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5]),
        ("brown dennis", brown_dennis, &[25.0, 5.0, -5.0, 0.0]),
        ("brown dennis from zero", brown_dennis, &[0.0; 4]),
    ];
    for (name, residuals, start) in problems {
        for method in [LM, GN] {
            let found = |factors: &[f64], factor: f64, nominal: &dyn Fn(usize) -> f64| {
                let variable =
                    |(k, (u, f)): (usize, (&f64, &f64))| Variable::new(format!("v{k}"), u * f).nominal(nominal(k));
                let variables: Vec<Variable> = start.iter().zip(factors).enumerate().map(variable).collect();
                run(
                    converted(residuals, factors, factor),
                    &variables,
                    method,
                    &Options { max_evaluations: 60, ..Options::default() },
                )
            };
            let ones = vec![1.0; start.len()];
            let plain = found(&ones, 1.0, &|_| 1.0);
            let factors: Vec<f64> = (0..start.len()).map(|k| 2f64.powi([40, -33, 7, -50, 21][k % 5])).collect();
            let large = |k: usize| 2f64.powi([-9, 30, 0, -44, 12][k % 5]);
            for (factor, other) in [
                (2f64.powi(60), found(&factors, 2f64.powi(60), &|_| 1.0)),
                (2f64.powi(-45), found(&factors, 2f64.powi(-45), &large)),
                (1.0, found(&ones, 1.0, &large)),
            ] {
                let factors = if factor == 1.0 { &ones } else { &factors };
                assert_eq!((other.reason, other.evaluations), (plain.reason, plain.evaluations), "{name} {method}");
                for (step, (a, b)) in path(&plain, &ones).iter().zip(path(&other, factors)).enumerate() {
                    for (k, (a, b)) in a.iter().zip(&b).enumerate() {
                        assert!((a - b).abs() <= 1e-9 * a.abs(), "{name} {method}, step {step}, variable {k}: {a} {b}");
                    }
                }
            }
        }
    }
}
