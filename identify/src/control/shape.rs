//! Shapes of unknown signals: which coefficient acts when, and how much.

use crate::{Error, Result};
use costate::dense::svd;
use costate::rows::SparseRows;
use costate::spline::{Spline, factors};
use nalgebra::{DMatrix, DVector};

/// Part of a run by which a time misses a node for no other reason than round-off.
const ROUND_OFF: f64 = 1e-10;

/// Functions that an unknown signal is made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Shape {
    /// One value an interval between nodes; the last is held at the end, too.
    Constant,
    /// Straight lines between nodes.
    #[default]
    Linear,
    /// A cubic B-spline, twice continuously differentiable, with as many pieces as there are intervals between nodes and three
    /// coefficients more; it begins and ends at its first and last coefficient.
    Cubic,
    /// A constant, and cosine and sine waves: one period is the time between the first and the last node, and there is one harmonic an
    /// interval.
    Fourier,
}

impl Shape {
    /// All names that are understood.
    pub const NAMES: [&'static str; 4] = ["constant", "linear", "cubic", "fourier"];

    /// The shape of this name.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`] with the nearest one.
    pub fn by_name(name: &str) -> Result<Self> {
        let all = [Shape::Constant, Shape::Linear, Shape::Cubic, Shape::Fourier];
        let place = Self::NAMES.iter().position(|own| *own == name);
        place.map(|place| all[place]).ok_or_else(|| Error::unknown("shape of a signal", name, "", Self::NAMES))
    }

    /// Name of the shape.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Coefficients for so many nodes.
    pub fn coefficients(self, nodes: usize) -> usize {
        match self {
            Shape::Constant => nodes - 1,
            Shape::Linear => nodes,
            Shape::Cubic => nodes + 2,
            Shape::Fourier => 2 * nodes - 1,
        }
    }

    /// True if bounds on the coefficients are bounds on the values.
    pub fn is_bounded_by_coefficients(self) -> bool {
        self != Shape::Fourier
    }

    /// Coefficient and factor of all that act at `t`, or just before it; `nodes` increase.
    fn at(self, nodes: &[f64], (t, is_before): (f64, bool), take: &mut dyn FnMut(usize, f64)) {
        let last = nodes.len() - 1;
        // a node that is missed by round-off is there
        let same = ROUND_OFF * (nodes[last] - nodes[0]);
        let begun = nodes.partition_point(|node| if is_before { *node < t - same } else { *node <= t + same });
        let interval = begun.clamp(1, last) - 1;
        let (from, to) = (nodes[interval], nodes[interval + 1]);
        match self {
            Shape::Constant => take(interval, 1.0),
            Shape::Linear => {
                let part = ((t - from) / (to - from)).clamp(0.0, 1.0);
                [(interval, 1.0 - part), (interval + 1, part)]
                    .into_iter()
                    .filter(|(_, factor)| *factor != 0.0)
                    .for_each(|(k, factor)| take(k, factor));
            }
            Shape::Cubic => {
                let knot = |i: usize| nodes[(interval + i).saturating_sub(2).min(last)];
                let factors = factors(3, t.clamp(nodes[0], nodes[last]), knot);
                let all = factors.into_iter().enumerate().filter(|(_, factor)| *factor != 0.0);
                all.for_each(|(i, factor)| take(interval + i, factor));
            }
            Shape::Fourier => {
                let phase = std::f64::consts::TAU * (t - nodes[0]) / (nodes[last] - nodes[0]);
                take(0, 1.0);
                for k in 1..=last {
                    let (sin, cos) = (phase * k as f64).sin_cos();
                    take(2 * k - 1, cos);
                    take(2 * k, sin);
                }
            }
        }
    }
}

/// w(t_i) = Σ_k φ_k(t_i) c_k in all rows of the inputs: at the times of a grid, just before jumps, and from jumps on.
#[derive(Debug, Clone)]
pub(super) struct Mixing {
    pub rows: SparseRows,
    pub coefficients: usize,
}

impl Mixing {
    pub fn new(shape: Shape, nodes: &[f64], rows: impl Iterator<Item = (f64, bool)>) -> Self {
        let coefficients = shape.coefficients(nodes.len());
        Self::of(coefficients, rows, |row, take| shape.at(nodes, row, take))
    }

    /// Mixing of a motion that is made of parameters.
    pub fn of_motion(spline: &Spline, rows: impl Iterator<Item = (f64, bool)>) -> Self {
        Self::of(spline.count(), rows, |(t, _), take| {
            let (first, factors) = spline.factors(t);
            let all = factors.into_iter().take(spline.acting()).enumerate();
            all.filter(|(_, factor)| *factor != 0.0).for_each(|(k, factor)| take(first + k, factor));
        })
    }

    fn of(
        coefficients: usize,
        rows: impl Iterator<Item = (f64, bool)>,
        show: impl Fn((f64, bool), &mut dyn FnMut(usize, f64)),
    ) -> Self {
        let mut sparse = SparseRows::default();
        for row in rows {
            show(row, &mut |k, factor| sparse.push(k, factor));
            sparse.end_row();
        }
        Mixing { rows: sparse, coefficients }
    }

    /// The coefficients whose values at all times are nearest to these, of as many harmonics as there are.
    pub fn fit(&self, values: &[f64]) -> Vec<f64> {
        let n = self.coefficients;
        let (mut normal, mut right) = (DMatrix::zeros(n, n), DVector::zeros(n));
        for (i, value) in values.iter().enumerate() {
            for &(k, factor) in self.rows.row(i) {
                right[k as usize] += factor * value;
                for &(l, other) in self.rows.row(i) {
                    normal[(k as usize, l as usize)] += factor * other;
                }
            }
        }
        svd(normal, true, true).solve(&right, 1e-12).map_or(vec![0.0; n], |c| c.as_slice().to_vec())
    }
}

/// Place of a coefficient in time: the value there is near to it.
pub(super) fn place(shape: Shape, nodes: &[f64], k: usize) -> f64 {
    let last = nodes.len() - 1;
    match shape {
        Shape::Cubic => {
            let knot = |i: usize| nodes[i.saturating_sub(3).min(last)];
            (knot(k + 1) + knot(k + 2) + knot(k + 3)) / 3.0
        }
        _ => nodes[k.min(last)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(times: &[f64]) -> impl Iterator<Item = (f64, bool)> {
        times.iter().map(|t| (*t, false))
    }

    /// Protects the B-spline's recurrence: factors add up to one, and places give straight lines back.
    #[test]
    fn splines_reproduce_lines() {
        let nodes = [0.0, 0.3, 1.0, 1.2, 2.0];
        let times: Vec<f64> = (0..=40).map(|i| 0.05 * i as f64).collect();
        for shape in [Shape::Linear, Shape::Cubic] {
            let mixing = Mixing::new(shape, &nodes, rows(&times));
            let line: Vec<f64> = (0..mixing.coefficients).map(|k| 3.0 - 2.0 * place(shape, &nodes, k)).collect();
            for (i, t) in times.iter().enumerate() {
                let sum: f64 = mixing.rows.row(i).iter().map(|(_, factor)| factor).sum();
                assert!((sum - 1.0).abs() < 1e-14, "{shape:?} at {t}: {sum}");
                assert!((mixing.rows.dot(i, &line) - (3.0 - 2.0 * t)).abs() < 1e-13, "{shape:?} at {t}");
            }
        }
    }

    /// Protects twice continuous differentiability of the spline across nodes.
    #[test]
    fn splines_bend_continuously() {
        let nodes = [0.0, 0.3, 1.0, 1.2, 2.0];
        let h = 1e-3;
        for node in [0.3, 1.0, 1.2] {
            let times: Vec<f64> = (-3..=3).map(|i| node + h * i as f64).collect();
            let mixing = Mixing::new(Shape::Cubic, &nodes, rows(&times));
            let c: Vec<f64> = (0..mixing.coefficients).map(|k| (k as f64 * 1.7).sin()).collect();
            let w: Vec<f64> = (0..times.len()).map(|i| mixing.rows.dot(i, &c)).collect();
            let bend = |i: usize| (w[i + 1] - 2.0 * w[i] + w[i - 1]) / (h * h);
            // third derivatives are of the size 100
            assert!((bend(2) - bend(4)).abs() < 0.5, "{} {}", bend(2), bend(4));
        }
    }

    /// Protects starts of Fourier series: waves on the grid are found again.
    #[test]
    fn series_are_fitted() {
        let times: Vec<f64> = (0..=50).map(|i| 0.1 * i as f64).collect();
        let mixing = Mixing::new(Shape::Fourier, &[0.0, 2.0, 5.0], rows(&times));
        let c = [0.3, -1.0, 0.5, 0.25, 2.0];
        let w: Vec<f64> = (0..times.len()).map(|i| mixing.rows.dot(i, &c)).collect();
        let found = mixing.fit(&w);
        c.iter().zip(&found).for_each(|(c, found)| assert!((c - found).abs() < 1e-10, "{found:?}"));
    }
}
