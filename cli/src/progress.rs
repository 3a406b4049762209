//! How a search gets on, for people who wait.

use super::console::{self, Waiting, tell, waiting};
use super::duration::time;
use costate::shown::shown;
use costate_identify::optimise::{Evaluation, Iteration, Trace};
use std::time::Instant;

/// A line that changes on a terminal, lines one below the other elsewhere.
pub(super) struct Progress {
    line: Option<Waiting>,
    began: Instant,
    last: Instant,
    /// Evaluations that it takes as a rule.
    usual: Option<(f64, f64)>,
}

impl Progress {
    /// Begins with a sentence on what is searched, and how; `usual`: how many evaluations that takes as a rule, if it is known.
    pub fn begin(sentence: &str, usual: Option<(f64, f64)>) -> Self {
        tell(sentence);
        let now = Instant::now();
        let line = console::is_watched().then(|| waiting("the first evaluation", 0));
        Progress { line, began: now, last: now, usual }
    }

    pub fn show(&mut self, iteration: &Iteration) {
        let Iteration { number, evaluations, cost, gradient_norm, failed_evaluations, outer, homotopy, .. } = iteration;
        let failed = if *failed_evaluations > 0 { format!(" ({failed_evaluations} failed)") } else { String::new() };
        let outer = outer.map_or(String::new(), |outer| {
            format!("; outer iteration {}, violation {:.1e}", outer.number, outer.violation)
        });
        let pull = homotopy.map_or(String::new(), |share| format!("; pull {}", shown(share)));
        let line = format!(
            "iteration {number:4}: cost {cost:.6e}, gradient {gradient_norm:.1e}, {evaluations} {}{failed}{}{outer}{pull}",
            if *evaluations == 1 { "run" } else { "runs" },
            self.left(*evaluations)
        );
        match &self.line {
            Some(bar) => bar.now(&line),
            // a file or a pipe: the first few, then one in ten or one a second
            None => {
                if *number < 5 || number % 10 == 0 || self.last.elapsed().as_secs_f64() > 1.0 || console::is_verbose() {
                    tell(&line);
                    self.last = Instant::now();
                }
            }
        }
    }

    /// The time so far, and what is left if it takes as many evaluations as usual.
    fn left(&self, evaluations: usize) -> String {
        const SHORT: f64 = 0.5;
        let seconds = self.began.elapsed().as_secs_f64();
        if seconds < SHORT {
            return String::new();
        }
        let (each, done) = (seconds / evaluations.max(1) as f64, evaluations as f64);
        let left = self.usual.map(|(few, many)| match () {
            () if done < few => format!(", {} to {} left", time((few - done) * each), time((many - done) * each)),
            () if done < many => format!(", up to {} left", time((many - done) * each)),
            () => ", longer than usual".to_string(),
        });
        // on a terminal, the time so far stands behind it
        let so_far = if self.line.is_some() { String::new() } else { format!(", {}", time(seconds)) };
        so_far + &left.unwrap_or_default()
    }

    /// Tells something on the way.
    pub fn tell(&self, sentence: &str) {
        match &self.line {
            Some(line) => line.tell(sentence),
            None => tell(sentence),
        }
    }

    pub fn finish(&mut self) {
        self.line = None;
    }
}

/// Tells every evaluation of the parameters of these names, if that is asked for.
pub(super) fn trace(names: Vec<String>) -> Trace {
    /// Values that are listed at most.
    const MOST_VALUES: usize = 6;
    if !console::is_verbose() {
        return Trace::default();
    }
    Trace::new(move |evaluation: &Evaluation<'_>| {
        let Evaluation { number, u, cost, seconds } = evaluation;
        let values: Vec<String> =
            names.iter().zip(*u).take(MOST_VALUES).map(|(name, u)| format!("{name} = {u:.6e}")).collect();
        let more = if names.len() > MOST_VALUES { ", .." } else { "" };
        let outcome = match cost {
            Ok(cost) => format!("cost {cost:.9e}"),
            Err(reason) => format!("failed: {reason}"),
        };
        tell(&format!("evaluation {number:4}: {outcome}, {}; {}{more}", time(*seconds), values.join(", ")));
    })
}
