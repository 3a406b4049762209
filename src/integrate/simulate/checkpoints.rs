//! Choice of the states of a run that are kept, where memory is limited: a few checkpoints, and all states of one segment between two of
//! them.
//!
//! A sweep backwards goes through the segments from the last to the first; a segment that is not there is run once more from the last
//! checkpoint before it. With c checkpoints (that of the start is one), none of l segments has to be run more often than r + 1 times if
//! l <= β(c, r) = (c + r)! / (c! r!), and all of them together are run r l - β(c + 1, r - 1) + l times: binomial checkpoints (Griewank and
//! Walther, Revolve, 2000). Where every segment has a checkpoint of its own, these are two levels, and every step is run twice.

use crate::shown::size;

/// The checkpoints of a run whose states do not all fit into memory.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Checkpoints {
    /// Steps of the run.
    pub steps: usize,
    /// Bytes that its states may take.
    pub limit: f64,
    /// Number of checkpoints, that of the start included.
    pub count: usize,
    /// Number of times that a step is run for one sweep backwards, on average: once in the run itself, and then again.
    pub runs: f64,
}

/// A sentence: what does not fit, and what is done about it.
impl std::fmt::Display for Checkpoints {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Checkpoints { steps, limit, count, runs } = self;
        let plural = if *count == 1 { "" } else { "s" };
        let (steps, limit) = (in_thousands(*steps), size(*limit));
        write!(
            f,
            "states of {steps} steps do not fit in {limit}: {count} checkpoint{plural}, each step is run {runs:.1} times"
        )
    }
}

/// 1,234,567
fn in_thousands(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// Numbers that are kept of one time, and of one checkpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sizes {
    pub row: usize,
    pub checkpoint: usize,
}

/// Plan by which a run of `steps` is kept: segments of `length` steps, and so many checkpoints.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub steps: usize,
    pub length: usize,
    pub checkpoints: usize,
}

/// Rows beside those of the steps of a segment: the two times before it.
const BEFORE: usize = 2;

impl Plan {
    /// Everything is kept.
    pub fn whole(steps: usize) -> Self {
        Plan { steps, length: steps, checkpoints: 1 }
    }

    /// The plan that runs steps least often with so many `numbers`; none if they are fewer than [`Plan::least`].
    pub fn within(numbers: usize, sizes: Sizes, steps: usize) -> Option<Self> {
        let whole = Plan::whole(steps);
        if whole.numbers(sizes) <= numbers {
            return Some(whole);
        }
        let with = |checkpoints: usize| {
            let left = numbers.checked_sub((checkpoints + 1).checked_mul(sizes.checkpoint)?)?;
            let length = (left / sizes.row).checked_sub(BEFORE)?.min(steps);
            // segments as even as they can be
            let count = steps.div_ceil(if length > 0 { length } else { return None });
            // the last one is kept as soon as it is reached
            Some(Plan { steps, length: steps.div_ceil(count), checkpoints: checkpoints.min(count - 1).max(1) })
        };
        // each number up to a hundred, and then by steps of a hundredth: more than where every segment has its own does not help
        let most = numbers / sizes.checkpoint.max(1);
        let numbers = std::iter::successors(Some(1usize), |count| Some(count + 1 + count / 100));
        let plans = numbers.take_while(|count| *count <= most).filter_map(with);
        plans.min_by(|a, b| a.runs().total_cmp(&b.runs()))
    }

    /// The fewest numbers with which there is a plan.
    pub fn least(sizes: Sizes) -> usize {
        2 * sizes.checkpoint + (1 + BEFORE) * sizes.row
    }

    /// True if everything is kept.
    pub fn is_whole(&self) -> bool {
        self.length >= self.steps
    }

    /// Number of rows that are kept at a time.
    pub fn rows(&self) -> usize {
        if self.is_whole() { self.steps + 1 } else { self.length + BEFORE }
    }

    /// Numbers that are kept in all.
    pub fn numbers(&self, sizes: Sizes) -> usize {
        // one more where the run goes on
        let checkpoints = if self.is_whole() { 0 } else { self.checkpoints + 1 };
        self.rows().saturating_mul(sizes.row).saturating_add(checkpoints.saturating_mul(sizes.checkpoint))
    }

    /// Number of segments.
    pub fn segments(&self) -> usize {
        self.steps.div_ceil(self.length)
    }

    /// The segment that ends with time `i`, or has it inside; the first one for the start.
    pub fn segment_of(&self, i: usize) -> usize {
        i.saturating_sub(1) / self.length
    }

    /// The times at the beginning and at the end of a segment.
    pub fn times_of(&self, segment: usize) -> (usize, usize) {
        (segment * self.length, ((segment + 1) * self.length).min(self.steps))
    }

    /// Number of times that a step is run for one sweep backwards, on average: once in the run itself, and then again.
    pub fn runs(&self) -> f64 {
        let count = self.segments() as f64;
        (count + runs_again(self.segments(), self.checkpoints)) / count
    }
}

/// β(c, r): how many segments c checkpoints serve if none is run more than r times before it is kept.
fn served(checkpoints: usize, times: usize) -> f64 {
    let few = checkpoints.min(times);
    let many = (checkpoints.max(times)) as f64;
    (1..=few).fold(1.0, |product, k| product * (many + k as f64) / k as f64)
}

/// The smallest r with which c checkpoints serve so many segments.
fn repetitions(segments: usize, checkpoints: usize) -> usize {
    let serves = |times: usize| served(checkpoints, times) >= segments as f64;
    if checkpoints == 1 {
        return segments.saturating_sub(1);
    }
    (0..segments).find(|&times| serves(times)).unwrap_or(segments)
}

/// Number of runs of segments before those that are kept, the first run of all included: r l - β(c + 1, r - 1).
fn runs_again(segments: usize, checkpoints: usize) -> f64 {
    match repetitions(segments, checkpoints) {
        0 => 0.0,
        times => times as f64 * segments as f64 - served(checkpoints + 1, times - 1),
    }
}

/// Number of segments before which the next checkpoint is put, of so many segments and with so many checkpoints, the one at the beginning
/// of them included.
pub(crate) fn next_checkpoint(segments: usize, checkpoints: usize) -> Option<usize> {
    // the last segment is kept as soon as it is reached
    if checkpoints < 2 || segments < 3 {
        return None;
    }
    let times = repetitions(segments, checkpoints);
    // both parts are then served: this one by all checkpoints, the other by all but one
    let here = if times < 2 { 1.0 } else { served(checkpoints, times - 2) };
    let least = segments as f64 - served(checkpoints - 1, times);
    Some((here.max(least) as usize).clamp(1, segments - 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs of segments in a sweep backwards that puts checkpoints where it is asked to.
    fn counted(from: usize, to: usize, free: usize) -> usize {
        let mut runs = 0;
        let mut end = to;
        let mut placed = vec![from];
        loop {
            let mut at = *placed.last().unwrap();
            while let Some(part) = next_checkpoint(end - at, free + 1 - placed.len()) {
                runs += part;
                at += part;
                placed.push(at);
            }
            // the last one of them is kept
            runs += end - 1 - at;
            end -= 1;
            placed.retain(|place| *place < end);
            if end == from {
                return runs;
            }
        }
    }

    /// Protects the cost of checkpoints: sweeps that follow the plan run as few segments again as any plan can.
    #[test]
    fn sweeps_cost_what_the_binomial_formula_says() {
        for segments in 1..120 {
            for checkpoints in 1..12 {
                let runs = counted(0, segments, checkpoints);
                assert_eq!(runs as f64, runs_again(segments, checkpoints), "{segments} with {checkpoints}");
            }
        }
        assert_eq!(runs_again(10, 10), 9.0);
        assert_eq!(runs_again(10, 1), 45.0);
    }

    /// Protects limits: plans fit, and the least one is one.
    #[test]
    fn plans_fit_into_what_there_is() {
        let sizes = Sizes { row: 7, checkpoint: 31 };
        assert_eq!(Plan::within(Plan::least(sizes) - 1, sizes, 1000), None);
        let mut before = f64::INFINITY;
        for numbers in (Plan::least(sizes)..9000).step_by(50) {
            let plan = Plan::within(numbers, sizes, 1000).unwrap();
            assert!(plan.numbers(sizes) <= numbers, "{numbers}: {plan:?}");
            assert!(plan.segments() * plan.length >= 1000 && plan.runs() <= before + 0.05, "{numbers}: {plan:?}");
            before = plan.runs();
        }
        assert!(before == 1.0);
        let long = Plan::within(10_000_000, sizes, 1_000_000_000).unwrap();
        assert!(long.runs() < 2.1, "{long:?}");
    }
}
