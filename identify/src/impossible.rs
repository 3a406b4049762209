//! Parameters that no body has, where a search ended or passed.

use crate::problem::Problem;

/// Sentences on parameters that are physically impossible, at the end and on the way there.
pub(super) fn sentences(problem: &Problem, best: &[f64], history: &[Vec<f64>]) -> Vec<String> {
    let system = problem.first().simulation.system();
    let at = |u: &[f64]| {
        let mut found: Vec<String> = Vec::new();
        for experiment in &problem.experiments {
            let own = costate_parts::impossible(system, &experiment.own(u));
            own.into_iter().for_each(|sentence| {
                if !found.contains(&sentence) {
                    found.push(sentence)
                }
            });
        }
        found
    };
    let mut found = at(best);
    let passed = history.iter().map(|u| at(u)).enumerate().filter(|(_, impossible)| !impossible.is_empty());
    let passed: Vec<(usize, Vec<String>)> = passed.collect();
    if let (true, Some((first, sentences))) = (found.is_empty(), passed.first()) {
        found.push(format!(
            "{} of {} iterations passed parameters that no body has, which the result is not; iteration {first}: {}",
            passed.len(),
            history.len(),
            sentences.join("; ")
        ));
    }
    found
}
