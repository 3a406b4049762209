//! Levenberg-Marquardt and Gauss-Newton on problems with known minima (Moré, Garbow & Hillstrom 1981), and every way to end.

mod linear;
mod problems;
mod units;

use crate::searches::{check, check_bounds, variables};
use costate::least_squares::{Linearised, Reduction};
use costate_identify::optimise::{
    Flow, Method, Objective, Options, Outcome, Reason, Scale, Variable, VariableStatus, minimise,
};
use costate_identify::{Error, Result};
use problems::{
    bard, box_3d, brown_badly_scaled, brown_dennis, freudenstein_roth, jennrich_sampson, kowalik_osborne, meyer,
    osborne_1, osborne_2, powell_singular, rosenbrock,
};

/// A residual and its derivatives.
type Row = (f64, Vec<f64>);

/// Residuals with a memory: every evaluation is recorded, and checked against the bounds.
struct Recorder<F> {
    residuals: F,
    variables: Vec<Variable>,
    costs: Vec<f64>,
}

impl<F: FnMut(&[f64]) -> Result<Vec<Row>>> Objective for Recorder<F> {
    fn dimension(&self) -> usize {
        self.variables.len()
    }

    fn linearise(&mut self, u: &[f64]) -> Result<Linearised> {
        check_bounds(u, &self.variables);
        self.costs.push(f64::INFINITY);
        let mut reduction = Reduction::new(u.len());
        (self.residuals)(u)?.iter().for_each(|(r, row)| reduction.add(row, *r));
        let linearised = reduction.finish();
        if linearised.cost().is_finite() && linearised.gradient().iter().all(|g| g.is_finite()) {
            *self.costs.last_mut().unwrap() = linearised.cost();
        }
        Ok(linearised)
    }
}

/// Minimises; checks that evaluations are counted, bounds kept, and the best point not lost.
fn run(
    residuals: impl FnMut(&[f64]) -> Result<Vec<Row>>,
    variables: &[Variable],
    method: Method,
    options: &Options,
) -> Outcome {
    let mut recorder = Recorder { residuals, variables: variables.to_vec(), costs: Vec::new() };
    let outcome = minimise(&mut recorder, variables, method, options, &mut |_| Flow::Continue).unwrap();
    check(&outcome, &recorder.costs, options);
    outcome
}

const LM: Method = Method::LevenbergMarquardt;
const GN: Method = Method::GaussNewton;

/// Protects against creeping: where large residuals are left, whose own curvature is as large as what their linearisation shows,
/// Levenberg-Marquardt learns of it. (Without, it takes up to ten times as many evaluations, or stops short.)
#[test]
fn large_residuals_do_not_slow_down() {
    type Residuals = fn(&[f64]) -> Result<Vec<Row>>;
    let problems: [(&str, Residuals, &[f64], f64, usize); 4] = [
        ("brown dennis", brown_dennis, &[25.0, 5.0, -5.0, -1.0], 85_822.201_626, 60),
        ("jennrich sampson", jennrich_sampson, &[0.3, 0.4], 124.362_182_355, 40),
        ("freudenstein roth", freudenstein_roth, &[0.5, -2.0], 48.984_253_679, 20),
        ("kowalik osborne", kowalik_osborne, &[0.25, 0.39, 0.415, 0.39], 3.075_056_038_49e-4, 25),
    ];
    for (name, residuals, start, known, most) in problems {
        let outcome = run(residuals, &variables(start), LM, &Options::default());
        println!("{name}: {} evaluations, {:e}, {}", outcome.evaluations, outcome.cost, outcome.reason);
        assert!(outcome.converged && (2.0 * outcome.cost / known - 1.0).abs() < 1e-8, "{name}: {outcome:?}");
        assert!(outcome.evaluations <= most, "{name}: {} evaluations", outcome.evaluations);
    }
}

/// Protects the meaning of "converged": each end is what MINPACK means by it, measured from outside at the point that is kept.
#[test]
fn ends_are_those_of_minpack() {
    let cosine = |outcome: &Outcome, rows: &[Row]| {
        let length = |values: &mut dyn Iterator<Item = f64>| values.map(|x| x * x).sum::<f64>().sqrt();
        let residuals = length(&mut rows.iter().map(|row| row.0));
        let of_column = |k: usize| {
            let column = length(&mut rows.iter().map(|row| row.1[k]));
            rows.iter().map(|row| row.0 * row.1[k]).sum::<f64>().abs() / column / residuals
        };
        (0..outcome.u.len()).map(of_column).fold(0.0, f64::max)
    };
    for method in [LM, GN] {
        let outcome = run(bard, &variables(&[1.0; 3]), method, &Options::default());
        assert_eq!(outcome.reason, Reason::AngleSmall, "{method}");
        assert!(cosine(&outcome, &bard(&outcome.u).unwrap()) < 1e-11, "{method}");
        assert!(outcome.reason.to_string().contains("gtol"));
        let options = Options { gradient_tolerance: 0.0, cost_tolerance: 1e-6, ..Options::default() };
        let outcome = run(bard, &variables(&[1.0; 3]), method, &options);
        assert_eq!(outcome.reason, Reason::ReductionSmall, "{method}");
        assert!(
            (2.0 * outcome.cost / 8.214_877_306_578e-3 - 1.0).abs() < 1e-6
                && outcome.reason.to_string().contains("ftol")
        );
        let options = Options { gradient_tolerance: 0.0, step_tolerance: 1e-3, ..Options::default() };
        let outcome = run(bard, &variables(&[1.0; 3]), method, &options);
        assert!(outcome.reason == Reason::StepSmall && outcome.reason.to_string().contains("xtol"), "{method}");
    }
}

/// Protects exit codes: a gradient that is small beside that of an absurd start is no minimum, derivatives that promise what no
/// step brings are no progress, and variables without influence determine nothing.
#[test]
fn what_is_small_is_not_converged() {
    for method in [LM, GN] {
        // half the sum of squares falls from 1e107 to 0.5 (2 - 1.4^9)^2 + ...
        let steep = |u: &[f64]| Ok(vec![(u[0] + u[0].powi(9) - 2.0, vec![1.0 + 9.0 * u[0].powi(8)]), (1.0, vec![0.0])]);
        let outcome = run(steep, &variables(&[1e6]), method, &Options::default());
        assert!(outcome.converged && (outcome.u[0] - 1.0).abs() < 1e-9, "{method}: {outcome:?}");

        let unstable = |u: &[f64]| Ok(vec![(1.0 + 1e-3 * u[0], vec![1e30]), (0.5, vec![3e29])]);
        let outcome = run(unstable, &variables(&[1.0]), method, &Options::default());
        assert!(!outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!((outcome.reason, outcome.iterations), (Reason::NoProgress, 0), "{method}");

        let deaf = |_: &[f64]| Ok(vec![(1.0, vec![0.0]), (2.0, vec![0.0])]);
        let outcome = run(deaf, &variables(&[1.0]), method, &Options::default());
        assert_eq!((outcome.reason, outcome.converged), (Reason::NoInfluence, false), "{method}");
    }
}

/// Protects both methods: the standard problems, from their standard starts, reach the known sums of squares with not many
/// more evaluations than today. Gauss-Newton is left out where
/// its Jacobian becomes singular on the way (Freudenstein and Roth's) or its steps leave the domain (Osborne's).
#[test]
fn standard_problems_are_solved() {
    type Residuals = fn(&[f64]) -> Result<Vec<Row>>;
    // the known minima of rᵀr; where there are several, each is right
    type Known = (&'static str, Residuals, &'static [f64], &'static [f64], [usize; 2]);
    let problems: [Known; 10] = [
        ("rosenbrock", rosenbrock, &[-1.2, 1.0], &[0.0], [30, 30]),
        ("powell singular", powell_singular, &[3.0, -1.0, 0.0, 1.0], &[0.0], [40, 40]),
        ("brown badly scaled", brown_badly_scaled, &[1.0, 1.0], &[0.0], [40, 40]),
        ("freudenstein roth", freudenstein_roth, &[0.5, -2.0], &[0.0, 48.984_253_679_24], [60, 0]),
        ("bard", bard, &[1.0, 1.0, 1.0], &[8.214_877_306_578e-3], [20, 20]),
        ("kowalik osborne", kowalik_osborne, &[0.25, 0.39, 0.415, 0.39], &[3.075_056_038_49e-4], [60, 80]),
        ("meyer", meyer, &[0.02, 4000.0, 250.0], &[87.945_855_171], [200, 200]),
        ("box 3d", box_3d, &[0.0, 10.0, 20.0], &[0.0], [20, 20]),
        ("osborne 1", osborne_1, &[0.5, 1.5, -1.0, 0.01, 0.02], &[5.464_894_697_5e-5], [40, 0]),
        (
            "osborne 2",
            osborne_2,
            &[1.3, 0.65, 0.65, 0.7, 0.6, 3.0, 5.0, 7.0, 2.0, 4.5, 5.5],
            &[4.013_773_629e-2],
            [40, 40],
        ),
    ];
    let mut wrong = Vec::new();
    for (name, residuals, start, known, most) in problems {
        for (method, most) in [LM, GN].into_iter().zip(most).filter(|(_, most)| *most > 0) {
            let outcome = run(residuals, &variables(start), method, &Options::default());
            let line =
                format!("{name} {method}: {} evaluations, {:e}, {}", outcome.evaluations, outcome.cost, outcome.reason);
            println!("{line}");
            let squares = 2.0 * outcome.cost;
            let known = known.iter().any(|known| (squares - known).abs() <= 1e-9 * known + 1e-16);
            if !known || !outcome.converged || outcome.evaluations > most {
                wrong.push(line);
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Protects accuracy: costs that vanish at the minimum are followed down to round-off, not to some tolerance, and the end
/// has a name.
#[test]
fn costs_are_followed_down_to_round_off() {
    for method in [LM, GN] {
        for gradient_tolerance in [1e-12, 0.0] {
            let options = Options { gradient_tolerance, ..Options::default() };
            // a noise of 1e-13 in the residuals, as a simulation has it
            let noisy = |u: &[f64]| {
                let rows = box_3d(u)?.into_iter();
                Ok(rows.map(|(r, row)| (r + 1e-13 * (1e15 * r).sin(), row)).collect())
            };
            let outcome = run(noisy, &variables(&[0.5, 9.0, 0.7]), method, &options);
            assert!(outcome.converged && outcome.cost < 1e-23, "{method}: {:e} {}", outcome.cost, outcome.reason);
            assert!(outcome.evaluations < 30, "{method}: {}", outcome.evaluations);
        }
    }
}

/// Protects fits with residuals: the cost stalls at round-off before the gradient does, and the search goes on by slopes.
#[test]
fn precision_does_not_end_with_the_cost() {
    for method in [LM, GN] {
        let residuals = |u: &[f64]| {
            let mut rows = rosenbrock(u)?;
            rows.push((1e3, vec![0.0, 0.0]));
            Ok(rows)
        };
        let outcome = run(residuals, &variables(&[-1.2, 1.0]), method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert!((outcome.u[0] - 1.0).abs() < 1e-9, "{method}: {:?}", outcome.u);
    }
}

/// Protects the bounds: a minimum in a corner and one on a bound across a curved valley are met exactly and reported; a
/// bound at which the search starts is left when the cost falls inwards; a fixed variable stays.
#[test]
fn bounds_are_met_held_and_left() {
    for method in [LM, GN] {
        let corner = |u: &[f64]| {
            let rows = [[2.0, 1.0, 0.3], [0.0, 3.0, -1.0], [0.5, 0.0, 1.5]];
            let residual = |row: &[f64; 3]| row.iter().zip(u).map(|(r, u)| r * (u - 5.0)).sum();
            Ok(rows.iter().map(|row| (residual(row), row.to_vec())).collect())
        };
        let v: Vec<_> = variables(&[0.5, 0.2, -1.0]).into_iter().map(|v| v.bounded(-1.0, 2.0)).collect();
        let outcome = run(corner, &v, method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!((outcome.u, outcome.gradient_norm), (vec![2.0; 3], 0.0), "{method}");
        assert_eq!(outcome.statuses, [VariableStatus::AtUpperBound; 3]);
        assert!(outcome.evaluations <= 5, "{method}: {}", outcome.evaluations);

        let valley = |u: &[f64]| {
            let mut rows = rosenbrock(&u[..2])?;
            rows.iter_mut().for_each(|(_, row)| row.push(0.0));
            rows.push((u[2], vec![0.0, 0.0, 1.0]));
            Ok(rows)
        };
        let mut v = variables(&[-1.2, 1.0, 3.0]);
        v[0] = v[0].clone().bounded(-1.2, 0.5);
        v[2] = v[2].clone().bounded(3.0, 3.0);
        let outcome = run(valley, &v, method, &Options::default());
        assert!(outcome.converged, "{method}: {}", outcome.reason);
        assert_eq!((outcome.u[0], outcome.u[2]), (0.5, 3.0), "{method}");
        assert!((outcome.u[1] - 0.25).abs() < 1e-9, "{method}: {:?}", outcome.u);
        assert_eq!(outcome.statuses, [VariableStatus::AtUpperBound, VariableStatus::Free, VariableStatus::Fixed]);
        assert!(outcome.evaluations < 40, "{method}: {}", outcome.evaluations);
    }
}

/// Protects optimality in boxes: on random linear least squares, the Karush-Kuhn-Tucker conditions hold after one step and
/// its confirmation.
#[test]
fn linear_problems_in_boxes_take_one_step() {
    let mut state = 1u64;
    let mut random = || {
        state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    for case in 0..200 {
        let n = 1 + case % 6;
        let rows: Vec<(f64, Vec<f64>)> =
            (0..n + 3).map(|_| (3.0 * random(), (0..n).map(|_| random()).collect())).collect();
        let residuals = |u: &[f64]| {
            let residual = |r: &f64, row: &[f64]| r + row.iter().zip(u).map(|(s, u)| s * u).sum::<f64>();
            Ok(rows.iter().map(|(r, row)| (residual(r, row), row.clone())).collect())
        };
        let v: Vec<_> = variables(&vec![0.0; n])
            .into_iter()
            .map(|v| v.bounded(-0.5 - 0.5 * random(), 0.5 + 0.5 * random()))
            .collect();
        for method in [LM, GN] {
            let outcome = run(residuals, &v, method, &Options::default());
            assert!(outcome.converged && outcome.evaluations <= 12, "{case} {method}: {outcome:?}");
            for (g, status) in outcome.gradient.iter().zip(&outcome.statuses) {
                match status {
                    VariableStatus::Free => assert!(g.abs() < 1e-8, "{case} {method}: {outcome:?}"),
                    VariableStatus::AtLowerBound => assert!(*g > -1e-8, "{case} {method}: {outcome:?}"),
                    _ => assert!(*g < 1e-8, "{case} {method}: {outcome:?}"),
                }
            }
        }
    }
}

/// Protects against parameters that the residuals do not tell apart: the sum is found, the difference stays.
#[test]
fn undetermined_directions_are_left_alone() {
    for method in [LM, GN] {
        let residuals = |u: &[f64]| {
            let sum = u[0] + u[1];
            Ok((1..5).map(|i| (i as f64 * (sum - 3.0), vec![i as f64, i as f64, 0.0])).collect())
        };
        let outcome = run(residuals, &variables(&[1.0, 1.0, 7.0]), method, &Options::default());
        assert!(outcome.converged && outcome.cost < 1e-25, "{method}: {:e} {}", outcome.cost, outcome.reason);
        assert!((outcome.u[0] - outcome.u[1]).abs() < 1e-9 && outcome.u[2] == 7.0, "{method}: {:?}", outcome.u);
    }
}

/// Protects the logarithmic scale: quantities that start decades away are found, whatever their place.
#[test]
fn log_scale_spans_decades() {
    let target: [f64; 3] = [3e-6, 5.0, 7e9];
    for method in [LM, GN] {
        let residuals = |u: &[f64]| {
            let row = |i: usize| {
                let mut row = vec![0.0; 3];
                row[i] = 1.0 / u[i];
                ((u[i] / target[i]).ln(), row)
            };
            Ok((0..3).map(row).collect())
        };
        let v: Vec<_> = variables(&[1.0, 1e-3, 1e3]).into_iter().map(|v| v.scaled(Scale::Log)).collect();
        let outcome = run(residuals, &v, method, &Options::default());
        assert!(outcome.converged && outcome.cost < 1e-20, "{method}: {:e} {}", outcome.cost, outcome.reason);
    }
}

/// Protects against failing regions: simulations that fail and residuals that are not finite are rejected steps, counted;
/// if nothing else is left, the end says so.
#[test]
fn failures_are_rejected_steps() {
    let failure = || -> Error {
        costate::Error::NotFinite { quantity: "x1 [m]".into(), value: f64::NAN, time: 0.1, step: 3 }.into()
    };
    for method in [LM, GN] {
        for kind in 0..3 {
            let residuals = |u: &[f64]| {
                let mut rows = rosenbrock(u)?;
                if (u[1] - u[0] * u[0]).abs() > 0.1 {
                    match kind {
                        0 => return Err(failure()),
                        1 => rows[0].0 = f64::INFINITY,
                        _ => rows[1].1[0] = f64::NAN,
                    }
                }
                Ok(rows)
            };
            let outcome = run(residuals, &variables(&[-1.0, 1.0]), method, &Options::default());
            assert!(outcome.failed_evaluations > 0, "{method}: the test misses its point");
            assert!(outcome.converged && outcome.cost < 1e-16, "{method} {kind}: {} {:?}", outcome.reason, outcome.u);
        }
        let blocked = |u: &[f64]| if u[0] < 1.0 { Err(failure()) } else { Ok(vec![(u[0], vec![1.0])]) };
        let outcome = run(blocked, &variables(&[1.0]), method, &Options::default());
        assert_eq!(outcome.reason, Reason::BlockedByFailures, "{method}");
        let mut recorder =
            Recorder { residuals: |_: &[f64]| Err(failure()), variables: variables(&[1.0]), costs: vec![] };
        let error = minimise(&mut recorder, &variables(&[1.0]), method, &Options::default(), &mut |_| Flow::Continue);
        let message = error.unwrap_err().to_string();
        assert!(message.contains(method.name()) && message.contains("at the start fails"), "{message}");
    }
}

/// Protects the other ways to end: each has its reason, the limits are kept and the best point with them, the observer may
/// stop, and a derivative with the wrong sign is told from a minimum.
#[test]
fn every_end_has_its_reason() {
    let v = variables(&[-1.2, 1.0]);
    for method in [LM, GN] {
        // zero residuals at the start
        let outcome = run(rosenbrock, &variables(&[1.0, 1.0]), method, &Options::default());
        assert_eq!((outcome.reason, outcome.evaluations, outcome.cost), (Reason::ResidualsVanished, 1, 0.0));
        let options = Options { cost_target: 1e-3, ..Options::default() };
        let outcome = run(rosenbrock, &v, method, &options);
        assert!(outcome.reason == Reason::CostBelowTarget && outcome.cost <= 1e-3, "{method}");
        for limit in 1..8 {
            let options = Options { max_evaluations: limit, cost_target: -1.0, ..Options::default() };
            let outcome = run(bard, &variables(&[100.0; 3]), method, &options);
            assert_eq!((outcome.reason, outcome.evaluations), (Reason::MaxEvaluations, limit), "{method}");
            let options = Options { max_iterations: limit, ..Options::default() };
            let outcome = run(bard, &variables(&[100.0; 3]), method, &options);
            assert_eq!((outcome.reason, outcome.iterations), (Reason::MaxIterations, limit), "{method}");
        }
        let options = Options { step_tolerance: 1e-3, gradient_tolerance: 0.0, ..Options::default() };
        assert_eq!(run(bard, &variables(&[1.0; 3]), method, &options).reason, Reason::StepSmall, "{method}");
        let reversed = |u: &[f64]| {
            let rows = bard(u)?.into_iter();
            Ok(rows.map(|(r, row)| (r, row.iter().map(|s| -s).collect())).collect())
        };
        let outcome = run(reversed, &variables(&[1.0; 3]), method, &Options::default());
        assert_eq!((outcome.reason, outcome.iterations), (Reason::NoDescent, 0), "{method}");
        for stop_at in [0, 2] {
            let mut recorder = Recorder { residuals: bard, variables: variables(&[1.0; 3]), costs: vec![] };
            let v = variables(&[1.0; 3]);
            let outcome = minimise(&mut recorder, &v, method, &Options::default(), &mut |iteration| {
                if iteration.number == stop_at { Flow::Stop } else { Flow::Continue }
            });
            let outcome = outcome.unwrap();
            assert_eq!((outcome.reason, outcome.iterations), (Reason::Interrupted, stop_at));
            let damping = outcome.history.last().unwrap().damping;
            assert_eq!(damping.is_some(), method == LM && stop_at > 0);
        }
    }
}

/// Protects the user's input: too few residuals, a wrong number of columns, and a method without its residuals are
/// sentences, not panics.
#[test]
fn wrong_input_is_named() {
    struct Bowl;
    impl Objective for Bowl {
        fn dimension(&self) -> usize {
            1
        }
        fn value_and_gradient(&mut self, _: &[f64], _: &mut [f64]) -> Result<f64> {
            panic!("nothing is run on wrong input")
        }
    }
    let few = |_: &[f64]| Ok(vec![(1.0, vec![1.0, 2.0, 3.0])]);
    let mut recorder = Recorder { residuals: few, variables: variables(&[1.0; 3]), costs: vec![] };
    for method in [LM, GN] {
        let v = variables(&[1.0; 3]);
        let error = minimise(&mut recorder, &v, method, &Options::default(), &mut |_| Flow::Continue);
        let message = error.unwrap_err().to_string();
        assert!(message.contains("there are 1 for 3 free variables") && message.contains("bfgs"), "{message}");
    }
    let v = variables(&[1.0]);
    let error = minimise(&mut Bowl, &v, Method::LevenbergMarquardt, &Options::default(), &mut |_| Flow::Continue);
    let message = error.unwrap_err().to_string();
    assert!(message.contains("no sum of squares") && message.contains("such as bfgs"), "{message}");
}
