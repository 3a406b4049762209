//! Outputs between the times of a run: cubic Hermite polynomials whose slopes are differences over five times (of fourth order; fewer where
//! the run has no five), once continuously differentiable.

/// Times that slopes are taken from.
const TAKEN: usize = 5;

/// The value at a time of a run, between its steps, too, as a sum over some of its values; and its first two derivatives by the delay.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Stencil {
    first: usize,
    count: usize,
    weights: [[f64; TAKEN + 1]; 3],
}

impl Stencil {
    /// The stencil at `times[i] - delay`. More than half a step beyond the ends of the run, at the ends.
    pub fn at(times: &[f64], i: usize, delay: f64) -> Self {
        let (last, t) = (times.len() - 1, times[i] - delay);
        let alone = |first: usize| {
            let mut weights = [[0.0; TAKEN + 1]; 3];
            weights[0][0] = 1.0;
            Stencil { first, count: 1, weights }
        };
        // a little beyond the ends, the polynomial of the last step holds: differences at a bound of the delay want no kink there
        if last == 0 || t < times[0] - 0.5 * (times[1] - times[0]) {
            return alone(0);
        }
        if t > times[last] + 0.5 * (times[last] - times[last - 1]) {
            return alone(last);
        }
        // the step in which the time is; the one that ends there at the end of the run
        let k = (times.partition_point(|time| *time <= t)).clamp(1, last) - 1;
        let step = times[k + 1] - times[k];
        let x = (t - times[k]) / step;
        // values and slopes at both ends of the step, and derivatives by x
        let ends = [
            [(1.0 + 2.0 * x) * (1.0 - x) * (1.0 - x), 6.0 * x * (x - 1.0), 12.0 * x - 6.0],
            [x * x * (3.0 - 2.0 * x), 6.0 * x * (1.0 - x), 6.0 - 12.0 * x],
        ];
        let slopes = [
            [x * (1.0 - x) * (1.0 - x), (1.0 - x) * (1.0 - 3.0 * x), 6.0 * x - 4.0],
            [x * x * (x - 1.0), x * (3.0 * x - 2.0), 6.0 * x - 2.0],
        ];
        let taken = TAKEN.min(last + 1);
        let begin = |k: usize| k.saturating_sub(TAKEN / 2).min(last + 1 - taken);
        let first = begin(k);
        let mut weights = [[0.0; TAKEN + 1]; 3];
        // dx/d(delay) = -1/step
        let by_delay = [1.0, -1.0 / step, 1.0 / (step * step)];
        for (end, (values, slopes)) in ends.into_iter().zip(slopes).enumerate() {
            let at = begin(k + end);
            let difference = differences(&times[at..at + taken], k + end - at);
            for (order, weights) in weights.iter_mut().enumerate() {
                weights[k + end - first] += by_delay[order] * values[order];
                for (j, slope) in difference.into_iter().take(taken).enumerate() {
                    weights[at - first + j] += by_delay[order] * step * slopes[order] * slope;
                }
            }
        }
        Stencil { first, count: begin(k + 1) - first + taken, weights }
    }

    /// The derivative of this `order` by the delay, of values at all times.
    pub fn apply(&self, y: &[f64], order: usize) -> f64 {
        let y = &y[self.first..self.first + self.count];
        y.iter().zip(&self.weights[order]).map(|(y, weight)| y * weight).sum()
    }

    /// Adds `factor` times the transpose.
    pub fn add(&self, factor: f64, order: usize, y_bar: &mut [f64]) {
        let y_bar = &mut y_bar[self.first..self.first + self.count];
        y_bar.iter_mut().zip(&self.weights[order]).for_each(|(bar, weight)| *bar += factor * weight);
    }
}

/// Weights of the derivative, at the `k`-th of these times, of the polynomial through values at all of them.
fn differences(times: &[f64], k: usize) -> [f64; TAKEN] {
    let mut weights = [0.0; TAKEN];
    let others = |j: usize| (0..times.len()).filter(move |&i| i != j);
    for j in others(k) {
        let above: f64 = others(j).filter(|&i| i != k).map(|i| times[k] - times[i]).product();
        let below: f64 = others(j).map(|i| times[j] - times[i]).product();
        weights[j] = above / below;
    }
    weights[k] = others(k).map(|i| 1.0 / (times[k] - times[i])).sum();
    weights
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Slopes over five times make cubic polynomials exact wherever they are read, and their derivatives by the delay, too.
    #[test]
    fn cubics_are_read_exactly() {
        let times = [0.0, 0.1, 0.15, 0.3, 0.42, 0.5, 0.61, 0.8];
        let cubic = |t: f64| 1.0 + t * (2.0 + t * (-3.0 + 4.0 * t));
        let y: Vec<f64> = times.iter().map(|&t| cubic(t)).collect();
        for i in 0..times.len() {
            for delay in [0.0, 0.03, 0.1, 0.17] {
                let t = times[i] - delay;
                if t < 0.0 {
                    continue;
                }
                let stencil = Stencil::at(&times, i, delay);
                let exact = [cubic(t), -(2.0 - 6.0 * t + 12.0 * t * t), -6.0 + 24.0 * t];
                for (order, exact) in exact.into_iter().enumerate() {
                    let found = stencil.apply(&y, order);
                    assert!((found - exact).abs() < 1e-11, "t = {t}, order {order}: {found} against {exact}");
                }
            }
        }
    }

    /// Differences at a bound of a delay, just beyond the ends of a run, have the slope of the step there.
    #[test]
    fn ends_have_no_kink() {
        let times = [0.0, 0.1, 0.2, 0.3, 0.4, 0.5];
        let y = times.map(|t: f64| t * t);
        for (i, t) in [(0, 0.0), (5, 0.5)] {
            for delay in [-1e-3, 1e-3] {
                let found = Stencil::at(&times, i, delay).apply(&y, 0);
                assert!((found - (t - delay) * (t - delay)).abs() < 1e-14, "{i} {delay}: {found}");
            }
        }
    }

    /// Short runs have fewer differences: what is there is taken, and nothing is read beyond it.
    #[test]
    fn short_runs_are_read() {
        for count in 1..7 {
            let times: Vec<f64> = (0..count).map(|i| i as f64).collect();
            for i in 0..count {
                for delay in [-2.5, -0.4, 0.0, 0.4, 1.0, 2.5] {
                    let found = Stencil::at(&times, i, delay).apply(&vec![3.0; count], 0);
                    assert!((found - 3.0).abs() < 1e-14, "{count} times, {i}, delay {delay}: {found}");
                }
            }
        }
    }
}
