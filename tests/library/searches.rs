//! What every search is checked for.

use costate_identify::optimise::{Options, Outcome, Variable};

pub fn variables(start: &[f64]) -> Vec<Variable> {
    start.iter().enumerate().map(|(i, &s)| Variable::new(format!("u{i}"), s)).collect()
}

/// Checks that a run is within bounds.
pub fn check_bounds(u: &[f64], variables: &[Variable]) {
    for (u, v) in u.iter().zip(variables) {
        assert!(v.lower <= *u && *u <= v.upper, "`{}` = {u} is outside [{}, {}]", v.name, v.lower, v.upper);
    }
}

/// Checks that evaluations are counted, and the best point not lost; `costs` are those of all evaluations.
pub fn check(outcome: &Outcome, costs: &[f64], options: &Options) {
    let finite = costs.iter().copied().filter(|c| c.is_finite());
    let lowest = finite.fold(f64::INFINITY, f64::min);
    assert_eq!(outcome.evaluations, costs.len());
    assert_eq!(outcome.failed_evaluations, costs.iter().filter(|c| !c.is_finite()).count());
    assert!(outcome.cost - lowest <= options.cost_noise * lowest.abs(), "{} is lost, {} is kept", lowest, outcome.cost);
    assert_eq!(outcome.converged, outcome.was_successful());
    assert_eq!(outcome.iterations + 1, outcome.history.len());
    assert!(outcome.history.iter().enumerate().all(|(i, h)| h.number == i));
}
