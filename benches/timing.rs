//! What the benchmarks share: settings of criterion, and quick medians for a table of ratios.

use criterion::Criterion;
use std::time::{Duration, Instant};

/// Criterion with short runs: one call takes milliseconds.
pub fn criterion() -> Criterion {
    Criterion::default()
        .sample_size(20)
        .warm_up_time(Duration::from_millis(300))
        .measurement_time(Duration::from_secs(2))
        .configure_from_args()
}

/// Whether a table is wanted: with `cargo bench`, not with `cargo test --benches` or under a profiler.
pub fn measuring() -> bool {
    let has = |flag: &str| std::env::args().any(|argument| argument == flag);
    has("--bench") && !has("--profile-time")
}

/// A contestant: what the table calls it, and its work.
pub type Contestant<'a> = (&'a str, Box<dyn FnMut() + 'a>);

/// Median time of each contestant, s. They take turns, so that whatever else the machine does hits all of them.
pub fn medians(contestants: &mut [Contestant<'_>], rounds: usize) -> Vec<f64> {
    let mut times = vec![Vec::with_capacity(rounds); contestants.len()];
    for _ in 0..rounds {
        for ((_, work), times) in contestants.iter_mut().zip(&mut times) {
            let start = Instant::now();
            work();
            times.push(start.elapsed().as_secs_f64());
        }
    }
    times
        .into_iter()
        .map(|mut times| {
            times.sort_by(f64::total_cmp);
            times[times.len() / 2]
        })
        .collect()
}
