//! Solutions of control problems that are found once more on smaller steps.

use crate::common;
use costate::cost::{Aim, Goal, Goals, Quadrature, Sum};
use costate::{Signal, Simulation, TimeGrid, scheme};
use costate_identify::control::{Control, RefinementEvent, UnknownSignal, refine};
use costate_identify::optimise::{Flow, Method, Options, Reason};

/// Protects refinements from a solution that is lost on smaller steps: it is told with what the first start costs there, nothing is refined any more, the
/// stage before is kept and has not converged, and the history is that of all stages. A stage that ends worse is made by a signal that is thrown far off
/// and a search that is stopped at once.
#[test]
fn a_lost_solution_is_told_and_the_stage_before_is_kept() {
    let run = |off: f64| {
        let mut problem = |parts: usize, signals: Option<Vec<Signal>>| {
            let start = match (parts, signals) {
                (2, Some(_)) if off > 0.0 => Signal::constant(off),
                (_, Some(signals)) => signals[0].clone(),
                (_, None) => Signal::constant(0.0),
            };
            let grid = TimeGrid::steps(0.0, 0.05 / parts as f64, 40 * parts)?;
            let system = common::ready("oscillator");
            let simulation = Simulation::new(system, scheme::by_name("hht", &[])?, grid, vec![start])?;
            let goals = vec![Goal::new("x", Aim::Reach(0.2)), Goal::new("v", Aim::Reach(0.0))];
            let goals = Goals::new(simulation.signature(), goals, Quadrature::Trapezoid)?;
            let force = UnknownSignal::new("F", 2.0).intervals(9).effort(0.02, 0.0);
            Control::new("pushed", simulation, Sum::of_goals(goals), vec![force])
        };
        let (mut stage, mut shown, mut numbers) = (0, 0, Vec::new());
        let of = (Method::Bfgs, 1e-6, &Options::default());
        let found = refine(2, &mut problem, of, &mut |event| {
            match event {
                RefinementEvent::Begin(number, _) => (stage, shown) = (number, 0),
                RefinementEvent::Iteration(iteration) => {
                    numbers.push(iteration.number);
                    shown += 1;
                }
                RefinementEvent::End(..) => {}
            }
            if off > 0.0 && stage == 2 && shown == 2 { Flow::Stop } else { Flow::Continue }
        });
        (found.unwrap(), numbers)
    };
    let (found, numbers) = run(0.0);
    assert!(found.stages.len() == 3 && found.kept == 3 && found.solution.outcome.converged, "{:?}", found.stages);
    assert!(found.stages.iter().all(|stage| !stage.lost && stage.cost <= stage.start_cost), "{:?}", found.stages);
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());

    let (found, numbers) = run(500.0);
    let [first, second] = &found.stages[..] else { panic!("{:?}", found.stages) };
    assert!(!first.lost && second.lost && found.kept == 1, "{:?}", found.stages);
    assert!(second.cost_of_first_start.unwrap() < second.cost && second.cost <= second.start_cost);
    let outcome = &found.solution.outcome;
    assert_eq!((outcome.reason, outcome.converged), (Reason::SolutionLost, false));
    assert_eq!(outcome.cost, first.cost);
    assert_eq!(outcome.history.iter().map(|iteration| iteration.number).collect::<Vec<_>>(), numbers);
    assert_eq!(numbers, (0..numbers.len()).collect::<Vec<_>>());
    assert_eq!(
        (second.first_iteration, outcome.iterations),
        (first.iterations + 1, first.iterations + second.iterations)
    );
    assert_eq!(found.control.simulation.steps(), 40);
}
