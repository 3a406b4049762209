//! How long a fit will take.

use costate::pace::LongRun;
use costate::sensitivity;
use costate::shown::rounded;
use costate_identify::Result;
use costate_identify::Settings;
use costate_identify::optimise::{Method, Needs};
use costate_identify::problem::Problem;
use serde_json::{Value, json};
use std::time::Instant;

/// Measured time of one evaluation, and the usual number of evaluations.
pub(super) struct Duration {
    pub method: &'static str,
    /// Time of one evaluation, s.
    pub seconds: f64,
    /// Evaluations, from the easy problem to the harder one; `None` for methods that take any number.
    pub evaluations: Option<(f64, f64)>,
}

/// Usual number of evaluations of a method, from an easy problem to a harder one: docs/methods.md, medians over many starts of the
/// slider-crank and of the engine mount.
#[derive(Debug, Clone, Copy)]
pub(super) struct Usual {
    pub evaluations: (f64, f64),
    /// Usual number of evaluations with second derivatives, in the units of a gradient.
    gradients: (f64, f64),
}

pub(super) fn usual(method: &str) -> Option<Usual> {
    let known = [
        ("lm", (8.0, 21.0), (8.0, 21.0)),
        ("gauss-newton", (9.0, 17.0), (9.0, 17.0)),
        ("bfgs", (22.0, 68.0), (22.0, 68.0)),
        ("l-bfgs", (27.0, 81.0), (27.0, 81.0)),
        ("ding", (17.0, 49.0), (97.0, 283.0)),
        ("newton-tr", (12.0, 28.0), (62.0, 157.0)),
    ];
    let found = known.into_iter().find(|(name, ..)| *name == method);
    found.map(|(_, evaluations, gradients)| Usual { evaluations, gradients })
}

/// Evaluations that optimal control takes as a rule, from an easy problem to a harder one: docs/control.md, by its own methods; from its solution on larger
/// steps, `stage` 2 and later ones, far fewer.
pub(super) fn usual_of_control(stage: usize) -> (f64, f64) {
    if stage <= 1 { (20.0, 400.0) } else { (4.0, 40.0) }
}

/// A note on the time that is left of runs with a step that is halved again and again, if that is long: after so many of them, the last of
/// which took `seconds`.
pub(super) fn halved_runs(done: usize, all: usize, seconds: f64) -> Option<String> {
    /// Time that is long enough for a note, s.
    const LONG: f64 = 60.0;
    let left = all.checked_sub(done).filter(|left| done > 0 && *left > 0)?;
    let seconds_left = seconds * (2f64.powi(left as i32 + 1) - 2.0);
    (seconds_left > LONG).then(|| {
        let run = if done == 1 { "the first run".to_string() } else { format!("{done} runs") };
        format!(
            "note: after {run}, those with smaller steps take about {}, the last of them half of that; fewer halvings (--halvings), a larger step or a shorter \
             time make it shorter (Ctrl-C ends it)",
            time(seconds_left)
        )
    })
}

impl Duration {
    /// Runs what an evaluation of the method runs: tangents for methods that see residuals, else a gradient. `known`: s that a run with tangents has taken.
    pub fn measure(problem: &Problem, method: Option<Method>, known: f64) -> Result<Self> {
        /// Shorter evaluations are measured once more: the first one also warms up.
        const SHORT: f64 = 0.5;
        let (method, _) = Settings { method, ..Settings::default() }.method_for(problem);
        let mut gradient = problem.gradient_by_free()?;
        let costs = problem.least_squares().filter(|_| method.needs() == Needs::Residuals);
        let mut slope = vec![0.0; problem.start.len()];
        let is_known = costs.is_some() && known > SHORT;
        let mut seconds = if is_known { known } else { f64::INFINITY };
        for _ in 0..if is_known { 0 } else { 2 } {
            let began = Instant::now();
            match &costs {
                Some(costs) => drop(gradient.linearise(&problem.start, costs)?),
                None => {
                    gradient.cost_and_gradient(&problem.start, sensitivity::Method::Adjoint, &mut slope)?;
                }
            }
            seconds = seconds.min(began.elapsed().as_secs_f64());
            if seconds > SHORT {
                break;
            }
        }
        // residuals of given motions are linear in moments and friction; whatever follows from these, hardly more runs are taken
        let linear = Some((2.0, 4.0)).filter(|_| problem.is_of_given_motions() && costs.is_some());
        let evaluations = linear.or(usual(method.name()).map(|usual| usual.gradients));
        Ok(Duration { method: method.name(), seconds, evaluations })
    }

    pub fn in_words(&self) -> String {
        let method = self.method;
        let one = time(self.seconds);
        match self.evaluations {
            Some((few, many)) => format!(
                "a fit by {method}: {few} to {many} evaluations as a rule, {one} each: {} to {}",
                time(few * self.seconds),
                time(many * self.seconds)
            ),
            None => format!("a fit by {method}: {one} an evaluation; how many it takes cannot be said"),
        }
    }

    pub fn json(&self) -> Value {
        let range = self.evaluations;
        json!({
            "method": self.method,
            "seconds_per_evaluation": self.seconds,
            "evaluations": range.map(|(few, many)| [few, many]),
            "seconds": range.map(|(few, many)| [few * self.seconds, many * self.seconds]),
        })
    }
}

/// Remedies where a run takes too long, or its files are too large.
pub(super) const SHORTER: &str =
    "a larger step, steps by a tolerance (`--tolerance`) or a shorter time make it shorter";

/// A note that a run will take long, as known after its first steps.
pub(super) fn long_run(LongRun { steps, done, seconds_left }: &LongRun) -> String {
    format!(
        "note: a simulation of {} time steps: at the pace of the first {done}, the others take about {}, and what needs several simulations as many times as \
         long; {SHORTER} (Ctrl-C ends it)",
        rounded(*steps as f64, 4),
        time(*seconds_left)
    )
}

/// Seconds in the unit that suits them.
pub(super) fn time(seconds: f64) -> String {
    match seconds {
        s if s < 0.1 => format!("{} ms", rounded(1e3 * s, 2)),
        s if s < 100.0 => format!("{} s", rounded(s, 2)),
        s if s < 6000.0 => format!("{:.0} min", s / 60.0),
        s => format!("{:.1} h", s / 3600.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects notes on runs with halved steps before they take long: by what the last one took, twice as much for each of the others.
    #[test]
    fn halved_runs_are_announced_while_they_are_to_come() {
        // 2 + 4 + 8 + 16 + 32 times 10 s
        let note = halved_runs(1, 6, 10.0).unwrap();
        assert!(note.contains("after the first run") && note.contains("about 10 min"), "{note}");
        assert!(halved_runs(4, 6, 80.0).unwrap().contains("after 4 runs"));
        assert_eq!(halved_runs(1, 6, 0.5), None);
        assert_eq!(halved_runs(6, 6, 1e3), None);
        assert_eq!(halved_runs(0, 6, 1e3), None);
    }
}
