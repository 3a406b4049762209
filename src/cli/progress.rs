//! How a search gets on, for people who wait.

use super::console::{self, tell};
use crate::optimise::Iteration;
use indicatif::ProgressBar;
use std::time::Instant;

/// A line that changes on a terminal, lines one below the other elsewhere.
pub(super) struct Progress {
    bar: Option<ProgressBar>,
    last: Instant,
}

impl Progress {
    /// Begins with a sentence on what is searched, and how.
    pub fn begin(sentence: &str) -> Self {
        tell(sentence);
        Progress { bar: console::changing_line(), last: Instant::now() }
    }

    pub fn show(&mut self, iteration: &Iteration) {
        let Iteration { number, evaluations, cost, gradient_norm, failed_evaluations, outer, .. } = iteration;
        let failed = if *failed_evaluations > 0 { format!(", {failed_evaluations} failed") } else { String::new() };
        let outer = outer.map_or(String::new(), |outer| {
            format!("  outer iteration {}, violation {:.1e}", outer.number, outer.violation)
        });
        let line = format!(
            "iteration {number:4}  cost {cost:.6e}  scaled gradient {gradient_norm:.2e}  evaluations {evaluations}{failed}{outer}"
        );
        match &self.bar {
            Some(bar) => bar.set_message(line),
            // a file or a pipe: the first few, then one in ten or one a second
            None => {
                if *number < 5 || number % 10 == 0 || self.last.elapsed().as_secs_f64() > 1.0 {
                    tell(&line);
                    self.last = Instant::now();
                }
            }
        }
    }

    pub fn finish(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
