//! Solvers of argmin as methods by name: each sees a problem of argmin's own traits, in scaled variables, whose failed runs cost infinitely much.
//!
//! Points outside the bounds are taken to the nearest point within before the function is run, and cost more by the square of their distance from it: so
//! solvers that know no bounds come back. The cost is scaled so that its gradient at the start has length 1, which is as far as a first step goes.

use super::evaluation::{Halt, How, ObjectiveEvaluator, Point, Step, dot};
use super::executor::SearchMethod;
use super::method::ArgminSolver;
use super::outcome::Reason;
use super::progress::{Idle, Progress};
use crate::Error;
use argmin::core::{
    CostFunction, Error as BoxedError, Gradient, Hessian, IterState, PopulationState, Problem, Solver, State,
    TerminationReason, TerminationStatus,
};
use argmin::solver::conjugategradient::{NonlinearConjugateGradient, beta::PolakRibiere};
use argmin::solver::linesearch::MoreThuenteLineSearch;
use argmin::solver::neldermead::NelderMead;
use argmin::solver::particleswarm::{Particle, ParticleSwarm};
use argmin::solver::quasinewton::{BFGS, LBFGS};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use rand_xoshiro::Xoshiro256PlusPlus;
use rand_xoshiro::rand_core::{RngCore, SeedableRng};
use std::cell::RefCell;

type Vector = Vec<f64>;
type Matrix = Vec<Vec<f64>>;
/// State of argmin's solvers that go from point to point.
type Walk<G, H> = IterState<Vector, G, (), H, (), f64>;
type Swarm = PopulationState<Particle<Vector, f64>, f64>;

/// Edges of the first simplex, in the scaled variables.
const EDGE: f64 = 0.05;
/// Steps that L-BFGS remembers.
const MEMORY: usize = 20;
/// Particles of a swarm.
const PARTICLES: usize = 40;
/// A swarm is the same in every run.
const SEED: u64 = 1;
/// What is nearer to a bound, in the scaled variables, is as good as there.
const NEAR: f64 = 1e-6;
/// Reach of a swarm around a start without bounds, in parts of it.
const REACH: f64 = 10.0;

/// The function as solvers see it. What it has seen outlives the problem, which solvers may lose.
#[derive(Clone, Copy)]
struct Bridge<'e>(&'e RefCell<Seen<'e>>);

struct Seen<'e> {
    evaluator: &'e mut (dyn Run + 'e),
    /// The point where it ran last.
    last: Option<Point>,
    /// Reason why the function may run no more.
    halt: Option<Halt>,
    /// Unit of the cost for solvers: what they take for 1.
    unit: f64,
    /// The cost of being as far as 1 outside the bounds, times 2.
    penalty: f64,
    /// True while a solver begins: some of them take no error then.
    is_start: bool,
}

/// The part of an evaluator that a bridge needs: solvers must take bridges of every lifetime, and an evaluator has one of its own, which this hides.
trait Run {
    fn run(&mut self, x: &[f64]) -> Step<Option<Point>>;
    fn curvature(&mut self, point: &Point) -> Step<Option<Matrix>>;
    /// The nearest point within the bounds.
    fn within(&self, x: &[f64]) -> Vector;
}

impl Run for ObjectiveEvaluator<'_> {
    fn run(&mut self, x: &[f64]) -> Step<Option<Point>> {
        self.evaluate(x)
    }

    fn curvature(&mut self, point: &Point) -> Step<Option<Matrix>> {
        let found = self.hessian(point)?;
        Ok(found.map(|hessian| hessian.row_iter().map(|row| row.iter().copied().collect()).collect()))
    }

    fn within(&self, x: &[f64]) -> Vector {
        let nearest = |(i, x): (usize, &f64)| {
            let (lower, upper) = self.scaling.bounds(i);
            // not a number stays what it is
            x.clamp(lower, upper)
        };
        x.iter().enumerate().map(nearest).collect()
    }
}

impl Bridge<'_> {
    /// Calls `of` with the point at x, or gives `failed` if its run failed.
    fn at<T>(
        &self,
        x: &[f64],
        of: impl FnOnce(&mut Seen<'_>, &Point, &[f64]) -> Step<T>,
        failed: T,
    ) -> Result<T, BoxedError> {
        let mut seen = self.0.borrow_mut();
        let inside = seen.evaluator.within(x);
        let beyond: Vector = x.iter().zip(&inside).map(|(x, inside)| x - inside).collect();
        let known = seen.last.take().filter(|last| last.x == inside);
        let is_start = seen.is_start;
        let halted = |seen: &mut Seen<'_>, halt: Option<Halt>, failed: T| {
            seen.halt = halt.or(seen.halt.take());
            if is_start { Ok(failed) } else { Err(BoxedError::msg("the search was stopped")) }
        };
        if seen.halt.is_some() {
            return halted(&mut seen, None, failed);
        }
        let point = match known {
            Some(point) => point,
            None => match seen.evaluator.run(&inside) {
                Ok(Some(point)) => point,
                Ok(None) => return Ok(failed),
                Err(halt) => return halted(&mut seen, Some(halt), failed),
            },
        };
        let found = of(&mut seen, &point, &beyond);
        seen.last = Some(point);
        found.or_else(|halt| halted(&mut seen, Some(halt), failed))
    }
}

impl CostFunction for Bridge<'_> {
    type Param = Vector;
    type Output = f64;

    fn cost(&self, x: &Vector) -> Result<f64, BoxedError> {
        let cost = |seen: &mut Seen<'_>, point: &Point, beyond: &[f64]| {
            Ok((point.cost + 0.5 * seen.penalty * dot(beyond, beyond)) / seen.unit)
        };
        self.at(x, cost, f64::INFINITY)
    }
}

impl Gradient for Bridge<'_> {
    type Param = Vector;
    type Gradient = Vector;

    fn gradient(&self, x: &Vector) -> Result<Vector, BoxedError> {
        let slopes = |seen: &mut Seen<'_>, point: &Point, beyond: &[f64]| {
            let slope = |(g, beyond): (&f64, &f64)| match *beyond {
                0.0 => g / seen.unit,
                beyond => seen.penalty * beyond / seen.unit,
            };
            Ok(point.scaled_gradient.iter().zip(beyond).map(slope).collect())
        };
        self.at(x, slopes, vec![f64::NAN; x.len()])
    }
}

impl Hessian for Bridge<'_> {
    type Param = Vector;
    type Hessian = Matrix;

    fn hessian(&self, x: &Vector) -> Result<Matrix, BoxedError> {
        let unknown = || vec![vec![f64::NAN; x.len()]; x.len()];
        let curvature = |seen: &mut Seen<'_>, point: &Point, beyond: &[f64]| {
            let mut hessian = seen.evaluator.curvature(point)?.unwrap_or_else(unknown);
            for (i, row) in hessian.iter_mut().enumerate() {
                for (j, entry) in row.iter_mut().enumerate() {
                    *entry = match (beyond[i] != 0.0 || beyond[j] != 0.0, i == j) {
                        (false, _) => *entry,
                        (true, true) => seen.penalty,
                        (true, false) => 0.0,
                    } / seen.unit;
                }
            }
            Ok(hessian)
        };
        self.at(x, curvature, unknown())
    }
}

/// A solver with its state, whatever their types.
trait Drive {
    fn begin(&mut self, bridge: Bridge<'_>) -> Result<TerminationStatus, BoxedError>;
    fn step(&mut self, bridge: Bridge<'_>) -> Result<TerminationStatus, BoxedError>;
}

struct Driver<S, I> {
    solver: S,
    state: Option<I>,
}

impl<S, I: State> Driver<S, I>
where
    S: for<'e> Solver<Bridge<'e>, I>,
{
    /// Updates the state as argmin's executor does after each step.
    fn done(&mut self, mut state: I, is_step: bool) -> TerminationStatus {
        if is_step {
            state.increment_iter();
        }
        state.update();
        let status = match state.terminated() {
            true => state.get_termination_status().clone(),
            false => self.solver.terminate_internal(&state),
        };
        self.state = Some(state);
        status
    }
}

impl<S, I: State> Drive for Driver<S, I>
where
    S: for<'e> Solver<Bridge<'e>, I>,
{
    fn begin(&mut self, bridge: Bridge<'_>) -> Result<TerminationStatus, BoxedError> {
        let state = self.state.take().unwrap_or_else(I::new);
        let (state, _) = self.solver.init(&mut Problem::new(bridge), state)?;
        Ok(self.done(state, false))
    }

    fn step(&mut self, bridge: Bridge<'_>) -> Result<TerminationStatus, BoxedError> {
        let state = self.state.take().ok_or_else(|| BoxedError::msg("a step was asked for before the start"))?;
        let (state, _) = self.solver.next_iter(&mut Problem::new(bridge), state)?;
        Ok(self.done(state, true))
    }
}

/// The search by a solver.
pub(super) struct ArgminSearch {
    solver: ArgminSolver,
    driver: Option<Box<dyn Drive>>,
    progress: Progress,
    unit: f64,
    penalty: f64,
}

impl ArgminSearch {
    pub fn new(solver: ArgminSolver) -> Self {
        ArgminSearch { solver, driver: None, progress: Progress::default(), unit: 1.0, penalty: 1.0 }
    }

    /// The solver with its settings and its state at the start.
    fn driver(&self, evaluator: &mut ObjectiveEvaluator, start: &Point) -> Step<Box<dyn Drive>> {
        let x = start.x.clone();
        // what is never small by itself is judged by what the start has; a tolerance of argmin is positive or zero
        let gradient = evaluator.options.gradient_tolerance * start.gradient_norm / self.unit;
        let cost = evaluator.options.cost_tolerance * start.cost.abs() / self.unit;
        let lines = || MoreThuenteLineSearch::<Vector, Vector, f64>::new();
        // without its cost, which solvers would take for that of a step without progress
        let begun = || Walk::<Vector, ()>::new().max_iters(u64::MAX).param(x.clone());
        let with_hessian = || Walk::<Vector, Matrix>::new().max_iters(u64::MAX).param(x.clone());
        Ok(match self.solver {
            ArgminSolver::Lbfgs => {
                let solver = LBFGS::new(lines(), MEMORY).with_tolerance_grad(gradient);
                let solver = solver.and_then(|solver| solver.with_tolerance_cost(cost)).map_err(unusable)?;
                Box::new(Driver { solver, state: Some(begun()) })
            }
            ArgminSolver::Bfgs => {
                let solver = BFGS::new(lines()).with_tolerance_grad(gradient);
                let solver = solver.and_then(|solver| solver.with_tolerance_cost(cost)).map_err(unusable)?;
                let row = |i: usize| (0..x.len()).map(|j| if i == j { 1.0 } else { 0.0 }).collect();
                let state = with_hessian().inv_hessian((0..x.len()).map(row).collect());
                Box::new(Driver { solver, state: Some(state) })
            }
            ArgminSolver::ConjugateGradient => {
                let solver = NonlinearConjugateGradient::new(lines(), PolakRibiere::new());
                let solver = solver.restart_iters(10 * x.len() as u64).restart_orthogonality(0.1);
                Box::new(Driver { solver, state: Some(begun()) })
            }
            ArgminSolver::TrustRegion => {
                let solver = TrustRegion::new(Steihaug::new());
                Box::new(Driver { solver, state: Some(with_hessian()) })
            }
            ArgminSolver::NelderMead => {
                let solver =
                    NelderMead::new(evaluator.scaling.simplex(&x, EDGE)).with_sd_tolerance(cost).map_err(unusable)?;
                Box::new(Driver { solver, state: Some(Walk::<(), ()>::new().max_iters(u64::MAX)) })
            }
            ArgminSolver::ParticleSwarm => self.swarm(evaluator, start)?,
        })
    }

    /// A swarm with one particle at the start.
    fn swarm(&self, evaluator: &mut ObjectiveEvaluator, start: &Point) -> Step<Box<dyn Drive>> {
        let reach = |i: usize| {
            let (lower, upper) = evaluator.scaling.bounds(i);
            let (x, far) = (start.x[i], REACH * start.x[i].abs().max(1.0));
            (if lower.is_finite() { lower } else { x - far }, if upper.is_finite() { upper } else { x + far })
        };
        let (lower, upper): (Vector, Vector) = (0..start.x.len()).map(reach).unzip();
        let mut random = Xoshiro256PlusPlus::seed_from_u64(SEED);
        let mut draw = |from: f64, to: f64| from + (to - from) * (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        let mut population = vec![Particle::new(start.x.clone(), start.cost / self.unit, vec![0.0; start.x.len()])];
        for _ in 1..PARTICLES {
            let position: Vector = lower.iter().zip(&upper).map(|(from, to)| draw(*from, *to)).collect();
            let speed = lower.iter().zip(&upper).map(|(from, to)| draw(from - to, to - from)).collect();
            let cost = evaluator.evaluate(&position)?.map_or(f64::INFINITY, |point| point.cost / self.unit);
            population.push(Particle::new(position, cost, speed));
        }
        let solver = ParticleSwarm::new((lower, upper), PARTICLES).with_rng_generator(random);
        let state = Swarm::new().max_iters(u64::MAX).population(population);
        Ok(Box::new(Driver { solver, state: Some(state) }))
    }

    /// Lets the solver do something, and gives back the best point so far, or why it ends.
    fn drive(
        &mut self,
        evaluator: &mut ObjectiveEvaluator,
        is_start: bool,
        what: impl FnOnce(&mut dyn Drive, Bridge<'_>) -> Result<TerminationStatus, BoxedError>,
    ) -> Step<Option<Reason>> {
        let Some(driver) = &mut self.driver else {
            let error = Error::Optimiser {
                method: self.solver.name().to_string(),
                problem: "a step was asked for before the start".to_string(),
                remedy: "report this as a defect of the optimiser".to_string(),
            };
            return Err(Halt::Error(error));
        };
        let failures = evaluator.failed_evaluations;
        let last = evaluator.best.clone();
        let (unit, penalty) = (self.unit, self.penalty);
        let seen = RefCell::new(Seen { evaluator, last, halt: None, unit, penalty, is_start });
        let ended = what(&mut **driver, Bridge(&seen));
        if let Some(halt) = seen.borrow_mut().halt.take() {
            return Err(halt);
        }
        let has_failed = evaluator.failed_evaluations > failures;
        Ok(match ended {
            Ok(TerminationStatus::NotTerminated) => None,
            Ok(TerminationStatus::Terminated(
                TerminationReason::SolverConverged | TerminationReason::TargetCostReached,
            )) => Some(Reason::SolverConverged),
            _ if has_failed => Some(Reason::BlockedByFailures),
            _ => Some(Reason::SolverStopped),
        })
    }
}

/// The point with those variables at their bounds that are nearly there and pressed against them: solvers that know no bounds come near to one from both sides,
/// and do not arrive. `None` where there are none, or the run failed.
fn on_bounds(evaluator: &mut ObjectiveEvaluator, point: &Point) -> Step<Option<Point>> {
    let pressed = |(i, x): (usize, &f64)| {
        let ((lower, upper), near) = (evaluator.scaling.bounds(i), NEAR * x.abs().max(1.0));
        match point.scaled_gradient[i] {
            slope if slope > 0.0 && x - lower <= near => lower,
            slope if slope < 0.0 && upper - x <= near => upper,
            _ => *x,
        }
    };
    let x: Vector = point.x.iter().enumerate().map(pressed).collect();
    if x == point.x { Ok(None) } else { evaluator.evaluate(&x) }
}

/// Error for a setting that cannot be, which comes from options that were checked.
fn unusable(error: BoxedError) -> Halt {
    Halt::Error(Error::invalid("a setting of argmin's solver", error.to_string(), "choose other tolerances"))
}

impl SearchMethod for ArgminSearch {
    fn name(&self) -> &'static str {
        self.solver.name()
    }

    fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
        let start = evaluator.evaluate_start()?;
        evaluator.record(&start, How::default())?;
        self.progress = Progress::new(&start, evaluator.cost_scale());
        if start.gradient_norm == 0.0 && self.solver.is_by_gradients() {
            return Err(Halt::Stop(Reason::GradientSmall));
        }
        let positive = |value: f64| if value > 0.0 { value } else { 1.0 };
        (self.unit, self.penalty) = (positive(start.gradient_norm), positive(start.cost.abs()));
        self.driver = Some(self.driver(evaluator, &start)?);
        match self.drive(evaluator, true, |driver, bridge| driver.begin(bridge))? {
            Some(reason) => Err(Halt::Stop(reason)),
            None => Ok(start),
        }
    }

    fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
        let ended = self.drive(evaluator, false, |driver, bridge| driver.step(bridge))?;
        // what was evaluated best is what counts, whatever the solver goes on from
        let mut next = evaluator.best.clone().unwrap_or_else(|| current.clone());
        evaluator.record(&next, How::default())?;
        let (noise, tolerance) = (evaluator.options.cost_noise, evaluator.options.gradient_tolerance);
        let idle = self.progress.note(current, &next, noise);
        let flat = noise.sqrt() * self.progress.start_steepness();
        let is_flat = next.gradient_norm <= flat;
        let is_by_gradients = self.solver.is_by_gradients();
        let mut reason = match ended {
            _ if self.progress.is_gradient_small(&next, tolerance) => Some(Reason::GradientSmall),
            // where nothing is gained any more, and the gradient is round-off
            Some(Reason::SolverStopped) if is_flat => Some(Reason::CostAtRoundOff),
            None if is_by_gradients && is_flat && idle != Idle::No => Some(Reason::CostAtRoundOff),
            None if is_by_gradients && idle == Idle::Long => Some(Reason::SolverStopped),
            other => other,
        };
        if reason == Some(Reason::SolverStopped)
            && let Some(point) = on_bounds(evaluator, &next)?
            && point.cost - next.cost <= noise * next.cost.abs()
        {
            evaluator.record(&point, How::default())?;
            if point.gradient_norm <= flat {
                reason = Some(Reason::CostAtRoundOff);
            }
            next = point;
        }
        reason.map_or(Ok(next), |reason| Err(Halt::Stop(reason)))
    }
}
