//! Failures, interrupts, limits, wrong input: every way to end.

use super::{QUASI_NEWTON, Recorder, rosenbrock, run};
use crate::searches::{check, variables};
use costate_identify::Error;
use costate_identify::optimise::{
    Flow, Iteration, Method, Options, Outcome, Reason, Scale, StepRule, Variable, minimise,
};

/// Protects against failing regions between start and minimum: a failed simulation, NaN, infinity and a gradient that is
/// not finite are all counted and walked around.
#[test]
fn failures_are_rejected_steps() {
    let failure = || -> Error {
        costate::Error::NotFinite { quantity: "x1 [m]".into(), value: f64::NAN, time: 0.1, step: 3 }.into()
    };
    for method in QUASI_NEWTON {
        for kind in 0..4 {
            // The valley y = x^2 is open, what lies far beside it fails.
            let function = |u: &[f64], g: &mut [f64]| {
                let cost = rosenbrock(u, g)?;
                if (u[1] - u[0] * u[0]).abs() < 0.1 {
                    return Ok(cost);
                }
                match kind {
                    0 => Err(failure()),
                    1 => Ok(f64::NAN),
                    2 => Ok(f64::INFINITY),
                    _ => {
                        g[1] = f64::NAN;
                        Ok(cost)
                    }
                }
            };
            let outcome = run(function, &variables(&[-1.0, 1.0]), method, &Options::default());
            println!("failures, {method}: {} of {} evaluations", outcome.failed_evaluations, outcome.evaluations);
            assert!(outcome.failed_evaluations > 0, "{method}: the test misses its point");
            assert!(outcome.converged, "{method}, kind {kind}: {}", outcome.reason);
            assert!((outcome.u[0] - 1.0).abs() < 1e-6, "{method}, kind {kind}: {:?}", outcome.u);
        }
    }
}

/// Protects errors: wrong input from within the function ends the search as the error that it is.
#[test]
fn other_errors_end_the_search() {
    let mut count = 0;
    let function = |u: &[f64], g: &mut [f64]| {
        count += 1;
        if count > 3 { Err(Error::invalid("a", "b", "c")) } else { rosenbrock(u, g) }
    };
    let v = variables(&[-1.2, 1.0]);
    let mut recorder = Recorder { function, variables: v.clone(), costs: vec![] };
    let error = minimise(&mut recorder, &v, Method::Bfgs, &Options::default(), &mut |_| Flow::Continue).unwrap_err();
    assert_eq!(error, Error::invalid("a", "b", "c"));
}

/// Protects the user from a riddle: a failure at the start says so, and why.
#[test]
fn a_failing_start_is_named() {
    let v = variables(&[1.0]);
    let mut recorder =
        Recorder { function: |_: &[f64], _: &mut [f64]| Ok(f64::NAN), variables: v.clone(), costs: vec![] };
    let error = minimise(&mut recorder, &v, Method::Dfp, &Options::default(), &mut |_| Flow::Continue).unwrap_err();
    let message = error.to_string();
    assert!(message.contains("dfp") && message.contains("at the start fails: the cost is NaN"), "{message}");
}

/// Protects Ctrl-C: the observer ends the search at once, and the best so far is the result.
#[test]
fn the_observer_may_stop() {
    for stop_at in [0, 7] {
        let v = variables(&[-1.2, 1.0]);
        let mut recorder = Recorder { function: rosenbrock, variables: v.clone(), costs: vec![] };
        let mut seen: Vec<Iteration> = vec![];
        let outcome = minimise(&mut recorder, &v, Method::Bfgs, &Options::default(), &mut |iteration| {
            seen.push(iteration.clone());
            if iteration.number == stop_at { Flow::Stop } else { Flow::Continue }
        });
        let outcome = outcome.unwrap();
        check(&outcome, &recorder.costs, &Options::default());
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Interrupted, stop_at));
        assert!(!outcome.converged);
        assert_eq!(outcome.history, seen);
    }
}

/// Protects Ctrl-C within a step: a flag that is raised while the function runs ends the search before it runs again, with any
/// method, and the best so far is the result.
#[test]
fn an_interrupt_ends_a_search_within_a_step() {
    for method in Method::BY_GRADIENT {
        let options = Options::default();
        let mut count = 0;
        let interrupt = options.interrupt.clone();
        let busy = |u: &[f64], g: &mut [f64]| {
            count += 1;
            if count == 4 {
                assert!(!interrupt.raise());
            }
            rosenbrock(u, g)
        };
        let outcome = run(busy, &variables(&[-1.2, 1.0]), method, &options);
        assert_eq!(
            (outcome.reason, outcome.evaluations, outcome.converged),
            (Reason::Interrupted, 4, false),
            "{method}"
        );
    }
}

/// Protects the limits: no more evaluations or iterations than allowed, and no better point lost, wherever in a step the
/// cut falls.
#[test]
fn limits_are_kept_and_the_best_with_them() {
    for method in Method::BY_GRADIENT {
        for limit in [1, 2, 3, 4, 5, 6, 7, 8, 20] {
            let options = Options { max_evaluations: limit, ..Options::default() };
            let outcome = run(rosenbrock, &variables(&[-1.2, 1.0]), method, &options);
            assert_eq!((outcome.reason, outcome.evaluations), (Reason::MaxEvaluations, limit), "{method}");
            assert_eq!(outcome.history.iter().map(|h| h.cost).fold(f64::INFINITY, f64::min), outcome.cost);
            let options = Options { max_iterations: limit, ..Options::default() };
            let outcome = run(rosenbrock, &variables(&[-1.2, 1.0]), method, &options);
            assert_eq!((outcome.reason, outcome.iterations), (Reason::MaxIterations, limit), "{method}");
        }
    }
}

/// Protects the other reasons: each is reached, has its own sentence, and counts as a success or not.
#[test]
fn every_other_reason_is_reached() {
    let start = variables(&[-1.2, 1.0]);
    let mut sentences = vec![];
    let mut expect = |outcome: Outcome, reason: Reason, successful: bool| {
        assert_eq!(outcome.reason, reason, "{outcome:?}");
        assert_eq!(outcome.converged, successful);
        sentences.push(reason.to_string());
    };
    let defaults = Options::default();

    let options = Options { cost_target: 1e-3, ..Options::default() };
    let outcome = run(rosenbrock, &start, Method::Bfgs, &options);
    assert!(outcome.cost <= 1e-3 && outcome.history.last().is_some_and(|last| last.cost == outcome.cost));
    expect(outcome, Reason::CostBelowTarget, true);
    // Already at the start.
    let options = Options { cost_target: 1e9, ..Options::default() };
    let outcome = run(rosenbrock, &start, Method::Bfgs, &options);
    assert_eq!((outcome.evaluations, outcome.iterations), (1, 0));
    expect(outcome, Reason::CostBelowTarget, true);

    expect(run(rosenbrock, &start, Method::Bfgs, &defaults), Reason::GradientSmall, true);
    // A start at the minimum.
    let outcome = run(rosenbrock, &variables(&[1.0, 1.0]), Method::Bfgs, &defaults);
    assert_eq!(outcome.evaluations, 1);
    expect(outcome, Reason::GradientSmall, true);

    let options = Options { step_tolerance: 1e-4, gradient_tolerance: 0.0, ..Options::default() };
    expect(run(rosenbrock, &start, Method::Bfgs, &options), Reason::StepSmall, true);

    // Rough derivatives: the gradient never vanishes.
    let rough = |u: &[f64], g: &mut [f64]| {
        let cost = rosenbrock(u, g)?;
        g[0] += 1e-7 * (u[0] * 1e12).sin();
        Ok(1.0 + cost)
    };
    for method in QUASI_NEWTON {
        let options = Options { step_tolerance: 0.0, gradient_tolerance: 0.0, ..Options::default() };
        let outcome = run(rough, &start, method, &options);
        assert!((outcome.u[0] - 1.0).abs() < 1e-5 && outcome.evaluations < 250, "{outcome:?}");
        expect(outcome, Reason::CostAtRoundOff, true);
    }

    let wrong = |u: &[f64], g: &mut [f64]| {
        let cost = rosenbrock(u, g)?;
        g.iter_mut().for_each(|g| *g = -*g);
        Ok(cost)
    };
    for method in Method::BY_GRADIENT {
        let outcome = run(wrong, &start, method, &defaults);
        assert_eq!(outcome.u, [-1.2, 1.0]);
        expect(outcome, Reason::NoDescent, false);
    }

    let blocked = |u: &[f64], g: &mut [f64]| {
        g[0] = 1.0;
        if u[0] < 1.0 { Ok(f64::INFINITY) } else { Ok(u[0]) }
    };
    for method in Method::BY_GRADIENT {
        let outcome = run(blocked, &variables(&[1.0]), method, &defaults);
        assert_eq!(outcome.evaluations, 1 + outcome.failed_evaluations);
        expect(outcome, Reason::BlockedByFailures, false);
    }

    sentences.sort();
    sentences.dedup();
    assert_eq!(sentences.len(), 6);
}

/// Protects the user's input: each mistake is answered by a sentence that names the place and the remedy, before anything
/// is run.
#[test]
fn wrong_input_is_named() {
    let v = || Variable::new("c_E1", 2.0);
    let cases: [(Vec<Variable>, &str); 9] = [
        (vec![], "there is none"),
        (vec![v().bounded(2.0, 2.0)], "leave a single value"),
        (vec![v().bounded(3.0, 4.0)], "variable `c_E1`: its start 2 is outside its bounds [3, 4]; start inside"),
        (vec![v().bounded(3.0, 1.0)], "its lower bound 3 is above its upper bound 1"),
        (vec![v().bounded(f64::NAN, 1.0)], "are not numbers"),
        (vec![v().nominal(0.0)], "its nominal value"),
        (vec![Variable::new("c_E1", f64::NAN)], "its start is NaN"),
        (vec![Variable::new("c_E1", -1.0).scaled(Scale::Log)], "not positive, but its scale is logarithmic"),
        (vec![v(), v()], "there are 2, but the function has 1"),
    ];
    let message = |variables: &[Variable], method: Method, options: &Options| {
        let function = |u: &[f64], g: &mut [f64]| {
            g[0] = u[0];
            Ok(0.5 * u[0] * u[0])
        };
        let mut recorder = Recorder { function, variables: vec![v()], costs: vec![] };
        let result = minimise(&mut recorder, variables, method, options, &mut |_| Flow::Continue);
        assert!(recorder.costs.is_empty(), "nothing is run on wrong input");
        result.unwrap_err().to_string()
    };
    for (variables, expected) in cases {
        let message = message(&variables, Method::Bfgs, &Options::default());
        assert!(message.contains(expected), "{message}");
    }
    let fixed = Method::SteepestDescent { rule: StepRule::RelativeDecrease { epsilon: 0.0 } };
    assert!(message(&[v()], fixed, &Options::default()).contains("epsilon"));
    assert!(message(&[v()], Method::LBfgs { memory: 0 }, &Options::default()).contains("memory"));
    let options = Options { gradient_tolerance: -1.0, ..Options::default() };
    assert!(message(&[v()], Method::Bfgs, &options).contains("`gradient_tolerance`"));
    let options = Options { max_evaluations: 0, ..Options::default() };
    assert!(message(&[v()], Method::Bfgs, &options).contains("`max_evaluations`"));
}
