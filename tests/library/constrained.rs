//! Constrained minimisation: textbook problems with known solutions and multipliers, by every method.

use costate::least_squares::{Linearised, Reduction};
use costate_identify::Result;
use costate_identify::optimise;
use costate_identify::optimise::{
    ConstrainedObjective, ConstrainedOutcome, ConstraintOptions, Flow, Limit, Method, Multipliers, Options, Reason,
    Variable, minimise_constrained,
};

type Rows = Vec<(f64, Vec<f64>)>;
type Cost = fn(&[f64]) -> (f64, Vec<f64>);

/// ½ Σ r² with constraints; rows are values with their derivatives.
struct Problem {
    limits: Vec<Limit>,
    residuals: fn(&[f64]) -> Rows,
    constraints: fn(&[f64]) -> Rows,
    /// For costs that are no sum of squares: the cost itself.
    cost: Option<Cost>,
    evaluations: usize,
    dimension: usize,
}

impl ConstrainedObjective for Problem {
    fn dimension(&self) -> usize {
        self.dimension
    }

    fn limits(&self) -> &[Limit] {
        &self.limits
    }

    fn augmented_gradient(&mut self, u: &[f64], m: &Multipliers, gradient: &mut [f64], c: &mut [f64]) -> Result<f64> {
        self.evaluations += 1;
        gradient.fill(0.0);
        let mut cost = 0.0;
        for (r, slopes) in (self.residuals)(u) {
            cost += 0.5 * r * r;
            gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g += r * s);
        }
        if let Some(function) = self.cost {
            let (value, slopes) = function(u);
            cost += value;
            gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g += s);
        }
        for (i, (value, slopes)) in (self.constraints)(u).into_iter().enumerate() {
            c[i] = value;
            let weight = m.weight(i, value);
            gradient.iter_mut().zip(slopes).for_each(|(g, s)| *g += weight * s);
        }
        Ok(cost)
    }

    // rows that are linear, as those of the problems this is asked for
    fn augmented_hessian(&mut self, u: &[f64], m: &Multipliers, hessian: &mut [Vec<f64>]) -> Result<()> {
        hessian.iter_mut().for_each(|row| row.fill(0.0));
        let constraints = (self.constraints)(u).into_iter().enumerate();
        let constraints = constraints.map(|(i, (value, slopes))| (m.curvature(i, value), slopes));
        for (weight, slopes) in (self.residuals)(u).into_iter().map(|(_, slopes)| (1.0, slopes)).chain(constraints) {
            for (row, a) in hessian.iter_mut().zip(&slopes) {
                row.iter_mut().zip(&slopes).for_each(|(entry, b)| *entry += weight * a * b);
            }
        }
        Ok(())
    }

    fn augmented_residuals(&mut self, u: &[f64], m: &Multipliers, c: &mut [f64]) -> Result<(f64, Linearised)> {
        self.evaluations += 1;
        let mut reduction = Reduction::new(u.len());
        let mut cost = 0.0;
        for (r, slopes) in (self.residuals)(u) {
            cost += 0.5 * r * r;
            reduction.add(&slopes, r);
        }
        for (i, (value, slopes)) in (self.constraints)(u).into_iter().enumerate() {
            c[i] = value;
            if let Some((residual, factor)) = m.residual(i, value) {
                reduction.add(&slopes.iter().map(|s| factor * s).collect::<Vec<_>>(), residual);
            }
        }
        Ok((cost, reduction.finish()))
    }
}

const METHODS: [Method; 4] =
    [Method::Bfgs, Method::LBfgs { memory: 20 }, Method::LevenbergMarquardt, Method::GaussNewton];

/// What the textbook says.
struct Case {
    name: &'static str,
    start: &'static [f64],
    /// Lower and upper bounds.
    bounds: Option<&'static [(f64, f64)]>,
    limits: &'static [Limit],
    residuals: fn(&[f64]) -> Rows,
    constraints: fn(&[f64]) -> Rows,
    optimum: &'static [f64],
    multipliers: &'static [f64],
}

const fn equal(value: f64) -> Limit {
    Limit { lower: value, upper: value, size: 1.0 }
}

const fn below(value: f64) -> Limit {
    Limit { lower: f64::NEG_INFINITY, upper: value, size: 1.0 }
}

const fn above(value: f64) -> Limit {
    Limit { lower: value, upper: f64::INFINITY, size: 1.0 }
}

/// Sums of squares with constraints. Numbers of Hock & Schittkowski (1981) belong to the constraints and optima; costs are
/// half of theirs, and so are multipliers.
const CASES: &[Case] = &[
    Case {
        // (1 - x)² with 10 (y - x²) = 0
        name: "HS 6",
        start: &[-1.2, 1.0],
        bounds: None,
        limits: &[equal(0.0)],
        residuals: |u| vec![(1.0 - u[0], vec![-1.0, 0.0])],
        constraints: |u| vec![(10.0 * (u[1] - u[0] * u[0]), vec![-20.0 * u[0], 10.0])],
        optimum: &[1.0, 1.0],
        multipliers: &[0.0],
    },
    Case {
        // 0.01 x² + y² with 10 x - y >= 10 and bounds
        name: "HS 21",
        start: &[2.5, -1.0],
        bounds: Some(&[(2.0, 50.0), (-50.0, 50.0)]),
        limits: &[above(10.0)],
        residuals: |u| vec![(0.1 * u[0], vec![0.1, 0.0]), (u[1], vec![0.0, 1.0])],
        constraints: |u| vec![(10.0 * u[0] - u[1], vec![10.0, -1.0])],
        optimum: &[2.0, 0.0],
        multipliers: &[0.0],
    },
    Case {
        // (x - y)² + (y + z - 2)² + (v - 1)² + (w - 1)² with three linear equalities
        name: "HS 51 moved: HS 52",
        start: &[2.0, 2.0, 2.0, 2.0, 2.0],
        bounds: None,
        limits: &[equal(0.0), equal(0.0), equal(0.0)],
        residuals: |u| {
            vec![
                (4.0 * u[0] - u[1], vec![4.0, -1.0, 0.0, 0.0, 0.0]),
                (u[1] + u[2] - 2.0, vec![0.0, 1.0, 1.0, 0.0, 0.0]),
                (u[3] - 1.0, vec![0.0, 0.0, 0.0, 1.0, 0.0]),
                (u[4] - 1.0, vec![0.0, 0.0, 0.0, 0.0, 1.0]),
            ]
        },
        constraints: |u| {
            vec![
                (u[0] + 3.0 * u[1], vec![1.0, 3.0, 0.0, 0.0, 0.0]),
                (u[2] + u[3] - 2.0 * u[4], vec![0.0, 0.0, 1.0, 1.0, -2.0]),
                (u[1] - u[4], vec![0.0, 1.0, 0.0, 0.0, -1.0]),
            ]
        },
        // x = (-33, 11, 180, -158, 11)/349 (Hock & Schittkowski); multipliers from the first, third and fourth equation of ∇L = 0:
        // 4 r_1 + λ_1 = 0, r_2 + λ_2 = 0, r_5 - 2 λ_2 - λ_3 = 0
        optimum: &[-33.0 / 349.0, 11.0 / 349.0, 180.0 / 349.0, -158.0 / 349.0, 11.0 / 349.0],
        multipliers: &[572.0 / 349.0, 507.0 / 349.0, -1352.0 / 349.0],
    },
    Case {
        // the projection of (3, 4) onto the unit disc: (0.6, 0.8), and the distance 4 is the multiplier of |u|²/2
        name: "disc",
        start: &[0.1, 0.2],
        bounds: None,
        limits: &[below(0.5)],
        residuals: |u| vec![(u[0] - 3.0, vec![1.0, 0.0]), (u[1] - 4.0, vec![0.0, 1.0])],
        constraints: |u| vec![(0.5 * (u[0] * u[0] + u[1] * u[1]), vec![u[0], u[1]])],
        optimum: &[0.6, 0.8],
        multipliers: &[4.0],
    },
    Case {
        // at a lower limit the multiplier is negative: (u - 1)²/2 with u >= 3
        name: "lower limit",
        start: &[10.0],
        bounds: None,
        limits: &[above(3.0)],
        residuals: |u| vec![(u[0] - 1.0, vec![1.0])],
        constraints: |u| vec![(u[0], vec![1.0])],
        optimum: &[3.0],
        multipliers: &[-2.0],
    },
    Case {
        // a range, whose upper end acts, and one that does not
        name: "ranges",
        start: &[-5.0, 2.0],
        bounds: None,
        limits: &[Limit { lower: -1.0, upper: 1.0, size: 1.0 }, Limit { lower: -9.0, upper: 9.0, size: 1.0 }],
        residuals: |u| vec![(u[0] - 3.0, vec![1.0, 0.0]), (u[1], vec![0.0, 1.0])],
        constraints: |u| vec![(u[0], vec![1.0, 0.0]), (u[1], vec![0.0, 1.0])],
        optimum: &[1.0, 0.0],
        multipliers: &[2.0, 0.0],
    },
    Case {
        // a constraint that is far from unit size: (a - 1)² + (b - 2)² with 1e6 (a + b) = 5e6
        name: "large numbers",
        start: &[1.0, 1.0],
        bounds: None,
        limits: &[Limit { lower: 5e6, upper: 5e6, size: 1e6 }],
        residuals: |u| vec![(u[0] - 1.0, vec![1.0, 0.0]), (u[1] - 2.0, vec![0.0, 1.0])],
        constraints: |u| vec![(1e6 * (u[0] + u[1]), vec![1e6, 1e6])],
        optimum: &[2.0, 3.0],
        multipliers: &[-1e-6],
    },
];

fn variables(start: &[f64], bounds: Option<&[(f64, f64)]>) -> Vec<Variable> {
    let variable = |(i, start): (usize, &f64)| {
        let (lower, upper) = bounds.map_or((f64::NEG_INFINITY, f64::INFINITY), |bounds| bounds[i]);
        Variable::new(format!("u{i}"), *start).bounded(lower, upper)
    };
    start.iter().enumerate().map(variable).collect()
}

fn problem(
    limits: &[Limit],
    dimension: usize,
    residuals: fn(&[f64]) -> Rows,
    constraints: fn(&[f64]) -> Rows,
) -> Problem {
    Problem { limits: limits.to_vec(), residuals, constraints, cost: None, evaluations: 0, dimension }
}

fn minimised(problem: &mut Problem, variables: &[Variable], method: Method) -> ConstrainedOutcome {
    let (options, how) = (Options::default(), ConstraintOptions::default());
    minimise_constrained(problem, variables, method, &options, &how, &mut |_| Flow::Continue).unwrap()
}

/// Protects the whole method: optimum and multipliers of the textbook, by quasi-Newton and by least-squares methods. The
/// tolerance is that of the constraints, 1e-8, times the problems' modest condition.
#[test]
fn textbook_problems_have_their_solutions_and_multipliers() {
    for case in CASES {
        let is_linear = !["HS 6", "disc"].contains(&case.name);
        let curved = [Method::Ding, Method::NewtonTrustRegion].into_iter().filter(|_| is_linear);
        for method in METHODS.into_iter().chain(curved) {
            let mut problem = problem(case.limits, case.start.len(), case.residuals, case.constraints);
            let found = minimised(&mut problem, &variables(case.start, case.bounds), method);
            let ConstrainedOutcome { outcome, multipliers, .. } = &found;
            let name = format!("{} by {method}", case.name);
            assert_eq!(outcome.reason, Reason::ConstrainedMinimum, "{name}: {found:?}");
            assert!(outcome.converged);
            for (u, expected) in outcome.u.iter().zip(case.optimum) {
                assert!((u - expected).abs() < 1e-6, "{name}: {u} {expected}");
            }
            for (i, (m, expected)) in multipliers.iter().zip(case.multipliers).enumerate() {
                let size = case.limits[i].size;
                assert!((m - expected).abs() * size < 1e-6 * (1.0 + expected.abs() * size), "{name}: {m} {expected}");
            }
            assert!(found.violation <= 1e-8, "{name}: {}", found.violation);
            assert_eq!(outcome.evaluations, problem.evaluations, "{name}");
            let cost: f64 = (case.residuals)(&outcome.u).iter().map(|(r, _)| 0.5 * r * r).sum();
            assert!((outcome.cost - cost).abs() <= 1e-15 + 1e-15 * cost, "{name}: the cost is J, not L");
        }
    }
}

/// Protects costs that are no sums of squares and may be negative: Hock & Schittkowski 7, 35 and 39.
#[test]
fn costs_of_any_kind() {
    let none: fn(&[f64]) -> Rows = |_| Vec::new();
    for method in [Method::Bfgs, Method::LBfgs { memory: 20 }] {
        // ln(1 + x²) - y with (1 + x²)² + y² = 4: (0, √3), cost -√3, λ = 1/(2 √3)
        let mut hs7 = problem(&[equal(4.0)], 2, none, |u| {
            let s = 1.0 + u[0] * u[0];
            vec![(s * s + u[1] * u[1], vec![4.0 * s * u[0], 2.0 * u[1]])]
        });
        hs7.cost = Some(|u| {
            let s = 1.0 + u[0] * u[0];
            (s.ln() - u[1], vec![2.0 * u[0] / s, -1.0])
        });
        let found = minimised(&mut hs7, &variables(&[2.0, 2.0], None), method);
        assert!(found.outcome.converged, "{method}: {}", found.outcome.reason);
        assert!((found.outcome.cost + 3f64.sqrt()).abs() < 1e-7, "{method}: {}", found.outcome.cost);
        assert!((found.multipliers[0] - 0.5 / 3f64.sqrt()).abs() < 1e-6, "{method}: {:?}", found.multipliers);

        // HS 35 (Beale): a quadratic in the first octant with x + y + 2 z <= 3: (4/3, 7/9, 4/9), cost 1/9, λ = 2/9
        let mut hs35 = problem(&[below(3.0)], 3, none, |u| vec![(u[0] + u[1] + 2.0 * u[2], vec![1.0, 1.0, 2.0])]);
        hs35.cost = Some(|u| {
            let [x, y, z] = [u[0], u[1], u[2]];
            let value = 9.0 - 8.0 * x - 6.0 * y - 4.0 * z + 2.0 * x * x + 2.0 * y * y + z * z;
            let gradient = [-8.0 + 4.0 * x + 2.0 * y + 2.0 * z, -6.0 + 4.0 * y + 2.0 * x, -4.0 + 2.0 * z + 2.0 * x];
            (value + 2.0 * x * y + 2.0 * x * z, gradient.to_vec())
        });
        let octant = [(0.0, f64::INFINITY); 3];
        let found = minimised(&mut hs35, &variables(&[0.5, 0.5, 0.5], Some(&octant)), method);
        assert!(found.outcome.converged && (found.outcome.cost - 1.0 / 9.0).abs() < 1e-7, "{method}: {found:?}");
        assert!((found.multipliers[0] - 2.0 / 9.0).abs() < 1e-6, "{method}: {:?}", found.multipliers);

        // HS 39: -x with y - x³ - z² = 0 and x² - y - w² = 0: (1, 1, 0, 0), both multipliers -1 in this sign
        let mut hs39 = problem(&[equal(0.0), equal(0.0)], 4, none, |u| {
            vec![
                (u[1] - u[0].powi(3) - u[2] * u[2], vec![-3.0 * u[0] * u[0], 1.0, -2.0 * u[2], 0.0]),
                (u[0] * u[0] - u[1] - u[3] * u[3], vec![2.0 * u[0], -1.0, 0.0, -2.0 * u[3]]),
            ]
        });
        hs39.cost = Some(|u| (-u[0], vec![-1.0, 0.0, 0.0, 0.0]));
        let found = minimised(&mut hs39, &variables(&[2.0, 2.0, 2.0, 2.0], None), method);
        assert!(found.outcome.converged && (found.outcome.cost + 1.0).abs() < 1e-7, "{method}: {found:?}");
        for multiplier in &found.multipliers {
            assert!((multiplier + 1.0).abs() < 1e-5, "{method}: {:?}", found.multipliers);
        }
    }
}

/// Protects against constraints without a constraint qualification: one given twice (only the sum of the multipliers is
/// determined), and one whose gradient vanishes where it is met.
#[test]
fn degenerate_constraints_end_well() {
    for method in METHODS {
        let mut twice = problem(
            &[equal(1.0), equal(1.0)],
            2,
            |u| vec![(u[0] - 1.0, vec![1.0, 0.0]), (u[1] - 1.0, vec![0.0, 1.0])],
            |u| vec![(u[0] + u[1], vec![1.0, 1.0]), (u[0] + u[1], vec![1.0, 1.0])],
        );
        let found = minimised(&mut twice, &variables(&[3.0, -1.0], None), method);
        assert!(found.outcome.converged, "{method}: {}", found.outcome.reason);
        assert!((found.outcome.u[0] - 0.5).abs() < 1e-7, "{method}: {:?}", found.outcome.u);
        assert!((found.multipliers.iter().sum::<f64>() - 0.5).abs() < 1e-6, "{method}: {:?}", found.multipliers);

        let mut flat =
            problem(&[equal(0.0)], 1, |u| vec![(u[0] - 1.0, vec![1.0])], |u| vec![(u[0] * u[0], vec![2.0 * u[0]])]);
        let found = minimised(&mut flat, &variables(&[0.7], None), method);
        assert!(found.violation < 1e-6 && found.outcome.u[0].abs() < 1e-3, "{method}: {found:?}");
    }
}

/// Protects against endless searches: constraints that contradict each other, the bounds or the function end with that
/// reason, at the point that violates them least.
#[test]
fn infeasible_constraints_are_named() {
    for method in METHODS {
        let mut apart = problem(
            &[above(2.0), below(1.0)],
            2,
            |u| vec![(u[0], vec![1.0, 0.0]), (u[1], vec![0.0, 1.0])],
            |u| vec![(u[0] + u[1], vec![1.0, 1.0]); 2],
        );
        let found = minimised(&mut apart, &variables(&[0.3, 0.2], None), method);
        assert_eq!(found.outcome.reason, Reason::ConstraintsViolated, "{method}: {found:?}");
        assert!(!found.outcome.converged);
        assert!((found.violation - 0.5).abs() < 1e-3, "{method}: the middle violates least: {found:?}");

        // x² = -1
        let mut impossible =
            problem(&[equal(-1.0)], 1, |u| vec![(u[0] - 1.0, vec![1.0])], |u| vec![(u[0] * u[0], vec![2.0 * u[0]])]);
        let found = minimised(&mut impossible, &variables(&[0.7], None), method);
        assert_eq!(found.outcome.reason, Reason::ConstraintsViolated, "{method}: {found:?}");
        assert!(found.outcome.evaluations < 600, "{method}: {}", found.outcome.evaluations);
    }
}

/// Protects budgets and interrupts: they end the whole search with their reason, and the numbers run through.
#[test]
fn budgets_and_interrupts_end_the_outer_loop() {
    let case = &CASES[3];
    let new = || problem(case.limits, 2, case.residuals, case.constraints);
    let variables = variables(case.start, None);
    let how = ConstraintOptions::default();
    for budget in [1, 2, 5, 9] {
        let options = Options { max_evaluations: budget, ..Options::default() };
        let mut function = new();
        let found =
            minimise_constrained(&mut function, &variables, Method::Bfgs, &options, &how, &mut |_| Flow::Continue);
        let found = found.unwrap();
        assert_eq!(found.outcome.reason, Reason::MaxEvaluations);
        assert!(function.evaluations <= budget.max(2) + 1, "{budget}: {}", function.evaluations);
        assert_eq!(found.outcome.evaluations, function.evaluations);
    }
    let mut seen = Vec::new();
    let found =
        minimise_constrained(&mut new(), &variables, Method::Bfgs, &Options::default(), &how, &mut |iteration| {
            seen.push(iteration.clone());
            if iteration.outer.unwrap().number == 3 { Flow::Stop } else { Flow::Continue }
        });
    let found = found.unwrap();
    assert_eq!(found.outcome.reason, Reason::Interrupted);
    assert_eq!(found.outcome.history, seen);
    for (i, pair) in seen.windows(2).enumerate() {
        assert_eq!(pair[0].number, i);
        assert!(pair[0].evaluations < pair[1].evaluations);
        assert!(pair[0].outer.unwrap().number <= pair[1].outer.unwrap().number);
    }
}

/// Protects the terms themselves: gradient and curvature are the derivatives of the value, on both sides of every kink; the
/// residual's half square differs from the value by a constant.
#[test]
fn terms_weights_and_curvatures_are_derivatives() {
    let limits =
        vec![Limit::equals(0.3).sized(2.0), Limit::at_most(0.5), Limit::at_least(-0.2), Limit::between(-0.4, 0.6)];
    let m = Multipliers::new(limits, 7.0).with_values(vec![0.9, 0.4, -0.6, 0.0]);
    for i in 0..4 {
        let mut constant: Option<f64> = None;
        for k in -40..40 {
            let (c, h) = (0.05 * f64::from(k) + 0.0123, 1e-6);
            let slope = (m.term(i, c + h) - m.term(i, c - h)) / (2.0 * h);
            assert!((slope - m.weight(i, c)).abs() < 1e-8, "{i} at {c}: {slope} {}", m.weight(i, c));
            let bend = (m.weight(i, c + h) - m.weight(i, c - h)) / (2.0 * h);
            assert!((bend - m.curvature(i, c)).abs() < 1e-8, "{i} at {c}: {bend} {}", m.curvature(i, c));
            let square = m.residual(i, c).map_or(0.0, |(r, _)| 0.5 * r * r);
            let difference = square - m.term(i, c);
            let first = *constant.get_or_insert(difference);
            assert!((difference - first).abs() < 1e-12, "{i} at {c}: {difference} {first}");
        }
    }
}

/// Protects against input that cannot be: each is refused in a sentence.
#[test]
fn wrong_input_is_refused() {
    let refused = |limits: &[Limit], options: Options, how: ConstraintOptions, method: Method| -> String {
        let mut function = problem(limits, 1, |u| vec![(u[0], vec![1.0])], |u| vec![(u[0], vec![1.0])]);
        let found = minimise_constrained(&mut function, &variables(&[1.0], None), method, &options, &how, &mut |_| {
            Flow::Continue
        });
        found.unwrap_err().to_string()
    };
    let (options, how) = (Options::default, ConstraintOptions::default);
    let message = refused(&[Limit::between(2.0, 1.0)], options(), how(), Method::Bfgs);
    assert!(message.contains("no value lies between 2 and 1"), "{message}");
    let message = refused(&[equal(1.0).sized(0.0)], options(), how(), Method::Bfgs);
    assert!(message.contains("its size is 0"), "{message}");
    let message = refused(&[equal(1.0)], options(), ConstraintOptions { tolerance: 0.0, ..how() }, Method::Bfgs);
    assert!(message.contains("`constraint_tolerance`: it is 0"), "{message}");
    let message = refused(&[equal(1.0)], options(), ConstraintOptions { penalty: Some(-1.0), ..how() }, Method::Bfgs);
    assert!(message.contains("`penalty`: it is -1"), "{message}");

    struct Plain([Limit; 1]);
    impl ConstrainedObjective for Plain {
        fn dimension(&self) -> usize {
            1
        }
        fn limits(&self) -> &[Limit] {
            &self.0
        }
        fn augmented_gradient(&mut self, _: &[f64], _: &Multipliers, _: &mut [f64], _: &mut [f64]) -> Result<f64> {
            Err(costate::Error::NotFinite { quantity: "x".into(), value: f64::NAN, time: 1.0, step: 3 }.into())
        }
    }
    let run = |method| {
        let (options, how) = (Options::default(), ConstraintOptions::default());
        let start = [optimise::Variable::new("a", 1.0)];
        minimise_constrained(&mut Plain([equal(0.0)]), &start, method, &options, &how, &mut |_| Flow::Continue)
    };
    let message = run(Method::LevenbergMarquardt).unwrap_err().to_string();
    assert!(message.contains("no sum of squares") && message.contains("bfgs"), "{message}");
    let message = run(Method::Bfgs).unwrap_err().to_string();
    assert!(message.contains("the evaluation at the start fails: x is NaN"), "{message}");
}
