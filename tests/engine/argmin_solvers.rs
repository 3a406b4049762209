//! Solvers of argmin on mechanisms: by name, and as a program of their own runs them.

use argmin::core::{CostFunction, Executor, Gradient, Hessian, Jacobian, Operator};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::neldermead::NelderMead;
use argmin::solver::quasinewton::LBFGS;
use costate::Scale;
use costate_identify::optimise::{ArgminSolver, Flow, Method as Search, Options, Reason};
use costate_identify::problem::Problem;
use costate_identify::solvers::SolverProblem;
use costate_identify::{Identification, Settings, identify};

fn problem(name: &str) -> Problem {
    let registry = costate_models::registry().unwrap();
    let entry = registry.get(name).unwrap();
    entry.problem(&entry.scenario).unwrap()
}

fn search(problem: &Problem, solver: ArgminSolver, max_evaluations: usize) -> Identification {
    let options = Options { max_evaluations, ..Options::default() };
    let settings = Settings { method: Some(Search::Argmin(solver)), options, ..Settings::default() };
    identify(problem, &settings, &mut |_| Flow::Continue).unwrap()
}

/// Protects argmin's solvers as methods by name: all of them find the oscillator, on both scales, by their own means; a swarm, which never
/// says that it has converged, comes near.
#[test]
fn solvers_by_name_identify() {
    for scale in [Scale::Linear, Scale::Log] {
        let mut problem = problem("oscillator");
        problem.parameters.iter_mut().take(2).for_each(|parameter| parameter.scale = scale);
        let optimum = problem.optimum.clone().unwrap();
        for solver in ArgminSolver::ALL {
            let found = search(&problem, solver, 2000);
            let outcome = &found.outcome;
            let what = format!("{} {scale:?}: {} in {} runs", solver.name(), outcome.reason, outcome.evaluations);
            let is_swarm = solver == ArgminSolver::ParticleSwarm;
            let near = if is_swarm { 1e-2 } else { 1e-5 };
            for (value, truth) in found.values().iter().zip(&optimum) {
                assert!((value - truth).abs() <= near * truth.abs(), "{what}: {value} for {truth}");
            }
            assert_eq!(outcome.converged, !is_swarm, "{what}");
            assert_eq!(outcome.hessians > 0, solver.takes_hessians(), "{what}");
            let costs: Vec<f64> = outcome.history.iter().map(|iteration| iteration.cost).collect();
            assert!(costs.windows(2).all(|pair| pair[1] <= pair[0]), "{what}: {costs:?}");
        }
    }
}

/// Protects bounds, limits and interruptions with solvers that know none of them: no run outside the bounds, the optimum at the bound, and the best so
/// far at every end.
#[test]
fn bounds_and_limits_hold() {
    let mut problem = problem("oscillator");
    let optimum = problem.optimum.clone().unwrap();
    let bound = 0.9 * optimum[1];
    (problem.parameters[1].lower, problem.parameters[1].upper) = (0.1 * optimum[1], bound);
    problem.start[1] = 0.7 * optimum[1];
    for solver in ArgminSolver::ALL {
        let found = search(&problem, solver, 2000);
        assert!((found.values()[1] / bound - 1.0).abs() < 1e-3, "{}: {:?}", solver.name(), found.values());
        assert!(found.history.iter().all(|u| u[1] <= bound), "{}", solver.name());
        let found = search(&problem, solver, 7);
        assert_eq!((found.outcome.reason, found.outcome.evaluations), (Reason::MaxEvaluations, 7), "{}", solver.name());
        let options = Options::default();
        let settings = Settings { method: Some(Search::Argmin(solver)), options, ..Settings::default() };
        let stopped = identify(&problem, &settings, &mut |iteration| match iteration.number {
            2 => Flow::Stop,
            _ => Flow::Continue,
        });
        let outcome = stopped.unwrap().outcome;
        assert_eq!((outcome.reason, outcome.iterations), (Reason::Interrupted, 2), "{}", solver.name());
    }
}

/// Protects the problem that solvers see: its gradient, Hessian and Jacobian belong to its cost, on both scales; values outside the bounds cost more.
#[test]
fn the_problem_of_solvers_is_consistent() {
    for scale in [Scale::Linear, Scale::Log] {
        let mut problem = problem("oscillator");
        problem.parameters.iter_mut().take(2).for_each(|parameter| parameter.scale = scale);
        let mechanism = &SolverProblem::new(&problem).unwrap();
        let x = mechanism.start();
        let (cost, gradient) = (mechanism.cost(&x).unwrap(), mechanism.gradient(&x).unwrap());
        let (residuals, jacobian) = (mechanism.apply(&x).unwrap(), mechanism.jacobian(&x).unwrap());
        let squares: f64 = residuals.iter().map(|r| 0.5 * r * r).sum();
        // sums of some hundred terms in another order
        assert!((squares / cost - 1.0).abs() < 1e-12, "{squares} {cost}");
        let hessian = mechanism.hessian(&x).unwrap();
        for i in 0..x.len() {
            let slope: f64 = residuals.iter().zip(&jacobian).map(|(r, row)| r * row[i]).sum();
            assert!((slope - gradient[i]).abs() < 1e-10 * gradient[i].abs(), "{slope} {gradient:?}");
            // central differences: truncation and round-off meet at the cube root of 1e-16
            let step = 6e-6;
            let at = |by: f64| {
                mechanism
                    .gradient(&x.iter().enumerate().map(|(k, x)| if k == i { x + by } else { *x }).collect())
                    .unwrap()
            };
            for (j, (right, left)) in at(step).iter().zip(at(-step)).enumerate() {
                let difference = (right - left) / (2.0 * step);
                let size = (hessian[i][i] * hessian[j][j]).abs().sqrt();
                assert!((difference - hessian[i][j]).abs() < 1e-7 * size, "{difference} {:?}", hessian);
            }
        }
        let (lower, _) = mechanism.bounds();
        if let Some(k) = lower.iter().position(|lower| lower.is_finite()) {
            let [mut at, mut outside] = [x.clone(), x.clone()];
            (at[k], outside[k]) = (lower[k], lower[k] - 0.5);
            let fine = mechanism.cost(&outside).unwrap() - mechanism.cost(&at).unwrap();
            assert!((fine / (0.125 * cost) - 1.0).abs() < 1e-9, "{fine} {cost}");
            assert!((mechanism.gradient(&outside).unwrap()[k] / (-0.5 * cost) - 1.0).abs() < 1e-12);
        }
    }
}

/// Protects what a program of a user writes: executors of argmin run its solvers on a mechanism, with and without gradients.
#[test]
fn executors_run_solvers_on_a_mechanism() {
    let problem = problem("oscillator");
    let optimum = problem.optimum.clone().unwrap();
    let mechanism = SolverProblem::new(&problem).unwrap();
    let near = |x: &[f64], most: f64| {
        let u = mechanism.parameters(x).unwrap();
        assert!(u.iter().zip(&optimum).all(|(u, truth)| (u - truth).abs() <= most * truth.abs()), "{u:?} {optimum:?}");
    };
    let solver = NelderMead::new(mechanism.simplex(0.05)).with_sd_tolerance(1e-14).unwrap();
    let found = Executor::new(&mechanism, solver).configure(|state| state.max_iters(500)).run().unwrap();
    near(found.state.best_param.as_ref().unwrap(), 1e-4);
    let runs = mechanism.runs();
    assert!(runs > 20);
    let solver = LBFGS::new(MoreThuenteLineSearch::<Vec<f64>, Vec<f64>, f64>::new(), 10);
    let begin = |state: argmin::core::IterState<Vec<f64>, Vec<f64>, (), (), (), f64>| {
        state.param(mechanism.start()).max_iters(100)
    };
    let found = Executor::new(&mechanism, solver).configure(begin).run().unwrap();
    near(found.state.best_param.as_ref().unwrap(), 1e-5);
    // one for a cost and one for a gradient
    assert!(mechanism.runs() - runs < 300, "{}", mechanism.runs() - runs);
}
