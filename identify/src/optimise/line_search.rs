//! A search along one direction for a point that satisfies the strong Wolfe conditions, or near round-off the approximate
//! ones (Nocedal & Wright, Algorithms 3.5 and 3.6; Hager & Zhang 2005, eq. (23)).

use super::evaluation::Step;

/// Conditions on a step.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Wolfe {
    /// c1: the cost falls at least by this part of what the slope promises.
    pub sufficient_decrease: f64,
    /// c2: the slope shrinks to this part.
    pub curvature: f64,
    /// Relative uncertainty of the cost: below it, slopes alone decide.
    pub cost_noise: f64,
    /// Longest step.
    pub longest: f64,
    /// Steps below this change no variable.
    pub shortest: f64,
}

/// The function along the direction, at step t.
#[derive(Debug, Clone)]
pub(crate) struct Trial<P> {
    pub t: f64,
    pub cost: f64,
    /// Derivative of the cost with respect to t.
    pub slope: f64,
    /// The decrease that the slope at the start promises for this step: <= 0.
    pub promise: f64,
    /// Bounds have bent the path before this point.
    pub bent: bool,
    /// Whatever the caller wants back.
    pub point: P,
}

/// Result of a line search.
#[derive(Debug)]
pub(crate) struct Found<P> {
    /// The accepted step, if there is any.
    pub trial: Option<Trial<P>>,
    /// Failed evaluations have cut the search short.
    pub shortened_by_failure: bool,
    /// The function fails at the far end of the remaining interval.
    pub blocked: bool,
}

const MAX_TRIALS: usize = 60;

/// Searches from `start` (t = 0, slope < 0) with `first` as the first step. `evaluate` gives `None` where the function fails.
///
/// On a path bent by bounds the slope jumps, and the curvature condition may have no solution: there sufficient decrease
/// is enough (Bertsekas 1982).
pub(crate) fn search<P: Clone>(
    start: Trial<P>,
    first: f64,
    wolfe: &Wolfe,
    mut evaluate: impl FnMut(f64) -> Step<Option<Trial<P>>>,
) -> Step<Found<P>> {
    let (cost_0, slope_0) = (start.cost, start.slope);
    let noise = wolfe.cost_noise * cost_0.abs();
    let mut low = start;
    // The other end of the interval: a trial too far, or just its t if the function failed there.
    let mut high: Option<(f64, Option<Trial<P>>)> = None;
    let mut shortened_by_failure = false;
    let mut t = first.min(wolfe.longest);
    for _ in 0..MAX_TRIALS {
        let Some(trial) = evaluate(t)? else {
            shortened_by_failure = true;
            high = Some((t, None));
            // Lower than the start is good enough: there is little to be gained at the edge of a failing region.
            if low.cost < cost_0 || t <= wolfe.shortest {
                break;
            }
            t = low.t + 0.25 * (t - low.t);
            continue;
        };
        let enough = trial.cost <= cost_0 + wolfe.sufficient_decrease * trial.promise
            || ((trial.cost - cost_0).abs() <= noise && !trial.bent);
        if !enough || trial.cost > low.cost + noise {
            high = Some((trial.t, Some(trial)));
        } else {
            let curved = trial.slope.abs() <= -wolfe.curvature * slope_0;
            if curved || trial.bent || (trial.t >= wolfe.longest && trial.slope < 0.0) {
                return Ok(Found { trial: Some(trial), shortened_by_failure, blocked: false });
            }
            let onward = match &high {
                Some((t_high, _)) => trial.slope * (t_high - low.t) < 0.0,
                None => trial.slope < 0.0,
            };
            let previous = std::mem::replace(&mut low, trial);
            if !onward {
                high = Some((previous.t, Some(previous)));
            } else if high.is_none() {
                t = extrapolate(&previous, &low).min(wolfe.longest);
                continue;
            }
        }
        // Between here and a failing region, or where bounds bend the path, what is found is good enough.
        let Some((_, Some(end))) = &high else { break };
        if (low.cost < cost_0 && end.bent) || (end.t - low.t).abs() <= wolfe.shortest {
            break;
        }
        t = interpolate(&low, end, noise);
    }
    let blocked = matches!(high, Some((_, None)));
    // A point that is only not worse, by the noise, is no step unless its slope has said so above.
    Ok(Found { trial: (low.cost < cost_0).then_some(low), shortened_by_failure, blocked })
}

/// Step beyond `b`, where the slope would vanish if it went on changing as from `a` to `b`; between 2 and 10 times as far.
fn extrapolate<P>(a: &Trial<P>, b: &Trial<P>) -> f64 {
    let change = b.slope - a.slope;
    let t = if change > 0.0 { b.t - b.slope * (b.t - a.t) / change } else { f64::INFINITY };
    t.clamp(2.0 * b.t, 10.0 * b.t)
}

/// The minimiser of the cubic through values and slopes at both ends (Nocedal & Wright, eq. (3.59)); if the values differ
/// by noise only, the zero of the slope by the secant rule. Kept off the ends.
fn interpolate<P>(low: &Trial<P>, high: &Trial<P>, noise: f64) -> f64 {
    let (a, b) = (low.t, high.t);
    let width = b - a;
    let t = if (high.cost - low.cost).abs() <= noise {
        a - low.slope * width / (high.slope - low.slope)
    } else {
        let d1 = low.slope + high.slope - 3.0 * (low.cost - high.cost) / (a - b);
        let d2 = width.signum() * (d1 * d1 - low.slope * high.slope).sqrt();
        b - width * (high.slope + d2 - d1) / (high.slope - low.slope + 2.0 * d2)
    };
    let relative = (t - a) / width;
    // NaN if there is no minimiser.
    a + width * if relative.is_nan() { 0.5 } else { relative.clamp(0.05, 0.9) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WOLFE: Wolfe =
        Wolfe { sufficient_decrease: 1e-4, curvature: 0.1, cost_noise: 1e-10, longest: 1e6, shortest: 1e-16 };

    /// Searches on a function of t given with its derivative; returns the step found and the number of evaluations.
    fn search_on(function: impl Fn(f64) -> Option<(f64, f64)>, first: f64, wolfe: &Wolfe) -> (Option<f64>, usize) {
        let mut count = 0;
        let (cost, slope_0) = function(0.0).unwrap();
        let start = Trial { t: 0.0, cost, slope: slope_0, promise: 0.0, bent: false, point: () };
        let found = search(start, first, wolfe, |t| {
            count += 1;
            let trial = |(cost, slope)| Trial { t, cost, slope, promise: slope_0 * t, bent: false, point: () };
            Ok(function(t).map(trial))
        });
        (found.unwrap().trial.map(|trial| trial.t), count)
    }

    /// Protects bracketing and interpolation: More and Thuente's (1994) first function, from far too short to far too long.
    #[test]
    fn wolfe_points_are_found_from_any_first_step() {
        let function = |t: f64| Some((-t / (t * t + 2.0), (t * t - 2.0) / (t * t + 2.0).powi(2)));
        for first in [1e-3, 1e-1, 1e1, 1e3] {
            let (t, count) = search_on(function, first, &WOLFE);
            let t = t.unwrap();
            assert!(function(t).unwrap().1.abs() <= 0.1 * 0.5, "{t} is no Wolfe point");
            assert!(count <= 12, "{count} evaluations from {first}");
        }
    }

    /// Protects against failing regions: the search backs off to where the function works, however far away.
    #[test]
    fn failures_shorten_the_step() {
        let function = |t: f64| (t < 1e-5).then_some(((t - 1.0).powi(2), 2.0 * (t - 1.0)));
        let (t, count) = search_on(function, 1.0, &WOLFE);
        assert!(t.is_some_and(|t| t > 1e-7 && t < 1e-5), "{t:?}");
        assert!(count <= 12, "{count} evaluations");
    }

    /// Protects progress at round-off: the cost does not change any more, the slope still leads to the minimum.
    #[test]
    fn slopes_decide_where_costs_are_noise() {
        let function = |t: f64| Some((1e3, 1e-9 * (t - 3.0)));
        let (t, _) = search_on(function, 1.0, &WOLFE);
        assert!(t.is_some_and(|t| (t - 3.0).abs() <= 0.3), "{t:?}");
    }

    /// Protects the end: a slope that lies gives no step, after a bounded number of evaluations.
    #[test]
    fn a_wrong_slope_finds_nothing() {
        let (t, count) = search_on(|t| Some((1.0 + t, -1.0)), 1.0, &WOLFE);
        assert_eq!(t, None);
        assert!(count <= MAX_TRIALS);
    }

    /// Protects the limit: a function that falls for ever ends at the longest step.
    #[test]
    fn the_longest_step_is_kept() {
        let (t, _) = search_on(|t| Some((-t, -1.0)), 1.0, &WOLFE);
        assert_eq!(t, Some(1e6));
    }
}
