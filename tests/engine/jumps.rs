//! Inputs that jump: runs start anew behind each jump, as a run of its own would there.

use super::inputs::{Driven, Everything, SCHEMES, signals, simulation};
use costate::adapt::StepControl;
use costate::cost::{Aim, Goal, Goals, Quadrature, Sum};
use costate::linearise::Differentiated;
use costate::scheme::Scheme;
use costate::sensitivity::{Gradient, Method};
use costate::step_error::StepErrors;
use costate::system::System;
use costate::{InitialState, Matrix, Model, Number, Plain, Signal, Signature, Simulation, State, TimeGrid, scheme};
use costate_identify::control::{Control, ControlObjective, Shape, UnknownSignal};
use costate_identify::optimise::Objective;
use std::sync::Arc;

/// A model that begins elsewhere.
#[derive(Clone)]
struct Moved<M> {
    model: M,
    q: Vec<f64>,
    v: Vec<f64>,
}

impl<M: Model> Model for Moved<M> {
    fn signature(&self) -> Signature {
        self.model.signature()
    }
    fn initial<D: Number>(&self, _u: &[D], q: &mut [D], v: &mut [D]) {
        q.iter_mut().zip(&self.q).for_each(|(q, begin)| *q = D::from(*begin));
        v.iter_mut().zip(&self.v).for_each(|(v, begin)| *v = D::from(*begin));
    }
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        self.model.mass(q, u, m);
    }
    fn force<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        self.model.force(t, q, v, w, u, force);
    }
    fn constraint<D: Number>(&self, t: D, q: &[D], u: &[D], c: &mut [D]) {
        self.model.constraint(t, q, u, c);
    }
    fn output<D: Number>(&self, t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        self.model.output(t, x, u, y);
    }
}

fn run(system: impl Model + 'static, scheme: &str, grid: TimeGrid, signals: Vec<Signal>) -> Simulation {
    let scheme: Arc<dyn Scheme> = scheme::by_name(scheme, &[]).unwrap();
    let system: Arc<dyn System> = Arc::new(Plain::new(system).unwrap());
    Simulation::new(system, scheme, grid, signals).unwrap()
}

fn pushed(before: f64, after: f64, at: f64) -> Vec<Signal> {
    let push = Signal::switched(Signal::constant(before), vec![(at, Signal::function(move |t| after + t))]).unwrap();
    vec![push, Signal::constant(9.81)]
}

/// Protects what a jump means: behind it, a run is the one that begins there (with its start, projected in velocity), and before it the
/// run with the input of before. A run of its own knows nothing of restarts.
#[test]
fn behind_a_jump_a_run_is_one_that_begins_there() {
    for scheme in SCHEMES {
        for tied in [true, false] {
            let (at, h) = (0.4, 0.01);
            let grid = |from: f64, to: f64| TimeGrid::uniform(from, to, h).unwrap();
            let whole = run(Driven { tied }, scheme, grid(0.0, 0.8), pushed(2.0, -5.0, at));
            let u = whole.signature().nominal();
            let whole = whole.run(&u).unwrap();
            let first = run(Driven { tied }, scheme, grid(0.0, at), pushed(2.0, -5.0, 9.0)).run(&u).unwrap();
            let last = first.times().len() - 1;
            for i in 0..=last {
                // S is not found back from A where there are jumps: round-off differs
                let gap =
                    whole.state(i).a.iter().zip(first.state(i).a).fold(0.0f64, |gap, (a, b)| gap.max((a - b).abs()));
                assert!(gap < 1e-8, "{scheme}, {tied}, {i}: {gap:.1e}");
            }
            let begin = first.state(last);
            let (q, v) = (begin.q.to_vec(), begin.v.to_vec());
            let second = run(Moved { model: Driven { tied }, q, v }, scheme, grid(at, 0.8), pushed(2.0, -5.0, at));
            let second = second.initial_state(InitialState::Projected).run(&u).unwrap();
            for i in 1..second.times().len() {
                let (a, b) = (whole.state(last + i), second.state(i));
                let parts = [(a.q, b.q, 1e-11), (a.v, b.v, 1e-9), (a.a, b.a, 1e-6), (a.lambda, b.lambda, 1e-6)];
                for (a, b, limit) in parts {
                    let gap = a.iter().zip(b).fold(0.0f64, |gap, (a, b)| gap.max((a - b).abs()));
                    // a projected start moves positions, too, by what round-off leaves of the constraints
                    assert!(gap < limit, "{scheme}, {tied}, {i}: {gap:.1e}");
                }
            }
        }
    }
}

/// Protects second order behind a jump that steps meet (first order without: the whole step sees the input of its end), for positions,
/// velocities and, where the scheme's start has them so, accelerations.
#[test]
fn order_two_is_kept_behind_a_jump() {
    for scheme in ["hht", "generalized-alpha", "ali3p", "i2p", "bdf2", "newmark"] {
        for tied in [true, false] {
            let ends = |signals: &Vec<Signal>, parts: usize| {
                let grid = TimeGrid::steps(0.0, 0.01 / parts as f64, 120 * parts).unwrap();
                let simulation = run(Driven { tied }, scheme, grid, signals.clone());
                let run = simulation.run(&simulation.signature().nominal()).unwrap();
                let x = run.state(run.times().len() - 1);
                [x.q, x.v, x.a].map(<[f64]>::to_vec)
            };
            let error = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |e, (a, b)| e.max((a - b).abs()));
            let orders = |signals: Vec<Signal>| {
                let [coarse, fine, finest] = [4, 8, 16].map(|parts| ends(&signals, parts));
                [0, 1, 2].map(|k| {
                    let (rough, smooth) = (error(&coarse[k], &fine[k]), error(&fine[k], &finest[k]));
                    (rough / smooth).log2()
                })
            };
            let met = orders(pushed(2.0, -5.0, 0.3));
            assert!(met[..2].iter().all(|order| (order - 2.0).abs() < 0.25), "{scheme}, {tied}: {met:?}");
            // undamped, multipliers ring from any start on
            assert!(!tied || scheme == "newmark" || met[2] > 1.7, "{scheme}, {tied}: {met:?}");
            // the same jump, of which the run knows nothing
            let hidden = Signal::function(|t| if t < 0.3 { 2.0 } else { -5.0 + t });
            let crossed = orders(vec![hidden, Signal::constant(9.81)]);
            assert!(crossed[0] < 1.4, "{scheme}, {tied}: {crossed:?}");
        }
    }
}

/// Protects checkpoints around jumps: gradients and their derivatives are the same to the last bit.
#[test]
fn checkpoints_carry_jumps_over() {
    for scheme in SCHEMES {
        for tied in [true, false] {
            let [_, jumping] = signals();
            let whole = simulation(scheme, tied, InitialState::AsGiven, jumping);
            let cost = Differentiated::new(Everything, Quadrature::Trapezoid);
            let u = whole.signature().nominal();
            let gradients = |simulation: &Simulation| {
                let mut engine = Gradient::new(simulation, &cost).unwrap();
                let mut all = Vec::new();
                for method in [Method::Adjoint, Method::Tangent] {
                    let mut gradient = vec![0.0; 2];
                    all.push(engine.cost_and_gradient(&u, method, &mut gradient).unwrap().to_bits());
                    all.extend(gradient.iter().map(|g| g.to_bits()));
                }
                let [mut gradient, mut product] = [(); 2].map(|()| vec![0.0; 2]);
                engine.hessian_vector(&u, &[0.3, -0.7], &mut gradient, &mut product).unwrap();
                all.extend(product.iter().map(|p| p.to_bits()));
                all
            };
            let all = gradients(&whole);
            let least = (0..200).map(|k| 1500.0 * 1.06f64.powi(k)).find(|&bytes| {
                let limited = whole.clone().memory(bytes);
                limited.is_ok_and(|limited| {
                    let mut engine = Gradient::new(&limited, &cost).unwrap();
                    engine.hessian_vector(&u, &[1.0, 0.0], &mut [0.0; 2], &mut vec![0.0; 2]).is_ok()
                })
            });
            for factor in [1.0, 1.3, 2.0] {
                let limited = whole.clone().memory(factor * least.unwrap()).unwrap();
                assert!(gradients(&limited) == all, "{scheme}, {tied}: {:?}", limited.checkpoints().unwrap());
            }
        }
    }
}

/// Protects step control around jumps: steps meet them, no step is wasted on them, and the tolerance is kept.
#[test]
fn chosen_steps_meet_jumps() {
    for (tied, scheme) in [(true, "i2p"), (false, "generalized-alpha"), (false, "hht")] {
        let with = |signals: Vec<Signal>, end: f64| {
            let grid = TimeGrid::uniform(0.0, end, end / 200.0).unwrap();
            let simulation = run(Driven { tied }, scheme, grid, signals);
            let u = simulation.signature().nominal();
            let tolerance = 1e-5;
            simulation.controlled(&u, StepControl { tolerance, smallest: None }, &[]).unwrap()
        };
        let jumping = with(pushed(2.0, -5.0, 0.317), 1.1);
        assert!(jumping.simulation.grid().times().contains(&0.317), "{scheme}, {tied}");
        let worst = StepErrors::worst(&jumping.errors.coordinates).unwrap().relative();
        assert!(worst < 1e-5, "{scheme}, {tied}: {worst:.1e}");
        let [before, after] = [with(pushed(2.0, 2.0, 9.0), 1.1), with(pushed(-5.0, 2.0, 9.0), 1.1)];
        let smooth = before.simulation.grid().count().max(after.simulation.grid().count());
        let count = jumping.simulation.grid().count();
        assert!(count < 2 * smooth, "{scheme}, {tied}: {count} steps with a jump, {smooth} without");
        let simulation = &jumping.simulation;
        let cost = Differentiated::new(Everything, Quadrature::Trapezoid);
        let (u, mut engine) = (simulation.signature().nominal(), Gradient::new(simulation, &cost).unwrap());
        let [adjoint, tangent] = [Method::Adjoint, Method::Tangent].map(|method| {
            let mut gradient = vec![0.0; 2];
            engine.cost_and_gradient(&u, method, &mut gradient).unwrap();
            gradient
        });
        let size = tangent.iter().fold(0.0f64, |size, x| size.max(x.abs()));
        adjoint.iter().zip(&tangent).for_each(|(a, t)| assert!((a - t).abs() < 1e-12 * size, "{scheme}, {tied}"));
    }
}

/// Protects signals that are held between nodes and found: what the search sees is what the same signals do in a simulation, to round-off, and
/// with second order, so that half the steps say the same.
#[test]
fn held_signals_are_the_same_in_a_replay() {
    for scheme in ["hht", "generalized-alpha", "i2p", "bdf2"] {
        let grid = TimeGrid::uniform(0.0, 1.0, 0.01).unwrap();
        let simulation = run(Driven { tied: true }, scheme, grid, vec![Signal::constant(0.0), Signal::constant(9.81)]);
        let goal = Goal::new("a_x", Aim::Within { lower: 0.5, upper: 1.0 });
        let goals = Goals::new(simulation.signature(), vec![goal], Quadrature::Trapezoid).unwrap();
        let force = UnknownSignal::new("F", 1.0).intervals(5).shaped(Shape::Constant).effort(0.0, 0.0);
        let control = Control::new("held", simulation, Sum::of_goals(goals), vec![force]).unwrap();
        let unknowns = [2.0, -3.0, 1.0, 4.0, -1.0];
        let cost = ControlObjective::new(&control).unwrap().value_and_gradient(&unknowns, &mut [0.0; 5]).unwrap();
        let replay = control.replay(&unknowns).unwrap();
        assert!((replay.cost[0] / cost - 1.0).abs() < 1e-11, "{scheme}: {cost:.12e}, {:.12e}", replay.cost[0]);
        assert!((replay.cost[1] / cost - 1.0).abs() < 0.02, "{scheme}: {:?}", replay.cost);
    }
}
