//! Failures, limits, wrong input: every way to end.

use super::functions::{Function, Rosenbrock};
use super::{METHODS, Recorder, met, run};
use crate::searches::variables;
use costate::Number;
use costate_identify::optimise::{Curvature, Flow, Objective, Options, Reason, minimise};
use costate_identify::{Error, Result};

/// Protects against failing regions: failed simulations, costs and Hessians that are not finite or fail are walked around; if
/// nothing else is left, the end says so.
#[test]
fn failures_are_rejected_steps() {
    struct Failing(usize);
    impl Failing {
        fn is_off(u: &[f64]) -> bool {
            (u[1] - u[0] * u[0]).abs() > 0.01
        }
    }
    impl Function for Failing {
        fn value<D: Number>(&self, u: &[D]) -> D {
            let off = self.0 == 1 && Failing::is_off(&[u[0].re(), u[1].re()]);
            Rosenbrock.value(u) + if off { f64::INFINITY } else { 0.0 }
        }
        fn fails(&self, u: &[f64]) -> bool {
            self.0 == 0 && Failing::is_off(u)
        }
        fn is_bent_badly(&self, u: &[f64]) -> bool {
            self.0 == 2 && (-0.9..-0.5).contains(&u[0])
        }
    }
    struct Blocked;
    impl Function for Blocked {
        fn value<D: Number>(&self, u: &[D]) -> D {
            u[0] * u[0] * 0.5
        }
        fn fails(&self, u: &[f64]) -> bool {
            u[0] < 1.0
        }
    }
    for method in METHODS {
        for kind in 0..3 {
            let outcome = run(&Failing(kind), &variables(&[-1.0, 1.0]), method, &Options::default());
            let met = if kind < 2 { outcome.failed_evaluations } else { met(&outcome, Curvature::Unknown) };
            assert!(met > 0, "{method} {kind}: the test misses its point");
            assert!(outcome.converged && outcome.cost < 1e-16, "{method} {kind}: {} {:?}", outcome.reason, outcome.u);
        }
        let outcome = run(&Blocked, &variables(&[1.0]), method, &Options::default());
        assert_eq!(outcome.reason, Reason::BlockedByFailures, "{method}");
    }
}

/// Protects the other ways to end: each has its reason, limits are kept and the best point with them, the observer may stop,
/// other errors end the search, and methods without their derivatives are a sentence.
#[test]
fn every_end_has_its_reason() {
    struct Broken;
    impl Objective for Broken {
        fn dimension(&self) -> usize {
            1
        }
        fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
            gradient[0] = u[0];
            Ok(0.5 * u[0] * u[0])
        }
        fn hessian(&mut self, _: &[f64], _: &mut [Vec<f64>]) -> Result<()> {
            Err(Error::invalid("a", "b", "c"))
        }
        fn hessian_vector(&mut self, _: &[f64], _: &[f64], _: &mut [f64]) -> Result<()> {
            Err(Error::invalid("a", "b", "c"))
        }
    }
    let v = variables(&[-1.2, 1.0]);
    for method in METHODS {
        let outcome = run(&Rosenbrock, &variables(&[1.0, 1.0]), method, &Options::default());
        assert_eq!((outcome.reason, outcome.evaluations, outcome.cost), (Reason::GradientSmall, 1, 0.0));
        let options = Options { cost_target: 1e-3, ..Options::default() };
        let outcome = run(&Rosenbrock, &v, method, &options);
        assert!(outcome.reason == Reason::CostBelowTarget && outcome.cost <= 1e-3, "{method}");
        for limit in 1..8 {
            let options = Options { max_evaluations: limit, ..Options::default() };
            let outcome = run(&Rosenbrock, &v, method, &options);
            assert_eq!((outcome.reason, outcome.evaluations), (Reason::MaxEvaluations, limit), "{method}");
            let options = Options { max_iterations: limit, ..Options::default() };
            let outcome = run(&Rosenbrock, &v, method, &options);
            assert_eq!((outcome.reason, outcome.iterations), (Reason::MaxIterations, limit), "{method}");
        }
        let mut recorder = Recorder::new(&Rosenbrock, &v);
        let stopped = minimise(&mut recorder, &v, method, &Options::default(), &mut |iteration| {
            if iteration.number == 2 { Flow::Stop } else { Flow::Continue }
        });
        let stopped = stopped.unwrap();
        assert_eq!((stopped.reason, stopped.iterations), (Reason::Interrupted, 2));
        assert!(stopped.history[1].hessians >= 1 && stopped.history[0].hessians == 0);
        let v = variables(&[1.0]);
        let broken = minimise(&mut Broken, &v, method, &Options::default(), &mut |_| Flow::Continue);
        assert_eq!(broken.unwrap_err(), Error::invalid("a", "b", "c"));
    }
    struct Plain;
    impl Objective for Plain {
        fn dimension(&self) -> usize {
            1
        }
        fn value_and_gradient(&mut self, u: &[f64], gradient: &mut [f64]) -> Result<f64> {
            gradient[0] = u[0];
            Ok(0.5 * u[0] * u[0])
        }
    }
    for method in METHODS {
        let error = minimise(&mut Plain, &variables(&[1.0]), method, &Options::default(), &mut |_| Flow::Continue);
        let message = error.unwrap_err().to_string();
        assert!(message.contains("no second derivatives") && message.contains("such as bfgs"), "{message}");
    }
}
