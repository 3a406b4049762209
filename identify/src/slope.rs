//! Check of the gradient where a search gets stuck: the slope of the cost by differences, asked for once, at the end.

use crate::ensemble::Ensemble;
use crate::problem::Problem;
use crate::{Identification, Status};
use crate::{Means, Remedy, Result};
use costate::Interrupt;
use costate::shown::rounded;

/// Steps of central differences, in sizes of the parameters.
const STEPS: [f64; 4] = [1e-3, 1e-4, 1e-5, 1e-6];
/// The gradient agrees with differences to this part; what they do not tell apart themselves comes on top.
const AGREEMENT: f64 = 1e-2;
/// Differences with two steps that differ by more than this part of them tell nothing.
const ROUGH: f64 = 0.1;

/// Check of the gradient by differences of the cost along the negative gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum SlopeCheck {
    /// The slope is the gradient's, to this part of it.
    Agrees(f64),
    /// The slope is another one than the gradient's.
    Differs {
        /// The slope by the gradient.
        by_gradient: f64,
        /// The slope by differences.
        by_differences: f64,
    },
    /// The cost is too rough to tell.
    Unclear,
}

impl SlopeCheck {
    /// Check at the end of a search; `None` where nothing can move, or the cost cannot be had.
    pub(super) fn of(problem: &Problem, found: &Identification, interrupt: &Interrupt) -> Option<Self> {
        let (u, free) = (found.values(), problem.free());
        let mut along = vec![0.0; u.len()];
        let mut slope = 0.0;
        let moving =
            || free.iter().zip(&found.outcome.gradient).filter(|(k, _)| found.parameters[**k].status == Status::Free);
        let size = |k: usize| problem.parameters[k].size_from(found.parameters[k].start);
        let most = moving().map(|(&k, g)| (g * size(k)).abs()).fold(0.0, f64::max);
        for (&k, gradient) in moving().filter(|_| most > 0.0) {
            along[k] = -gradient * size(k) / most * size(k);
            slope += gradient * along[k];
        }
        let mut ensemble = Ensemble::new(problem).ok()?.interrupted_by(interrupt);
        let mut cost = |t: f64| -> Result<f64> {
            let moved: Vec<f64> = u.iter().zip(&along).map(|(u, along)| u + t * along).collect();
            let is_within =
                |k: &usize| (problem.parameters[*k].lower..=problem.parameters[*k].upper).contains(&moved[*k]);
            if free.iter().all(is_within) { ensemble.cost(&moved) } else { Ok(f64::NAN) }
        };
        let mut slopes = Vec::new();
        for t in STEPS {
            // beyond a bound, or where nothing can be simulated, there is none
            let ahead = cost(t).unwrap_or(f64::NAN);
            slopes.push((ahead - cost(-t).unwrap_or(f64::NAN)) / (2.0 * t));
        }
        (slope != 0.0 && !interrupt.is_raised()).then(|| SlopeCheck::judge(slope, &slopes))
    }

    /// Judges from slopes by differences with smaller and smaller steps.
    fn judge(by_gradient: f64, slopes: &[f64]) -> Self {
        let pairs =
            slopes.windows(2).map(|pair| (pair[1], (pair[1] - pair[0]).abs())).filter(|(_, spread)| spread.is_finite());
        let Some((by_differences, spread)) = pairs.min_by(|a, b| a.1.total_cmp(&b.1)) else {
            return SlopeCheck::Unclear;
        };
        let size = by_differences.abs().max(by_gradient.abs());
        let off = (by_gradient - by_differences).abs();
        match () {
            () if off <= AGREEMENT * size + spread && spread <= ROUGH * size => SlopeCheck::Agrees(off / size),
            () if spread > ROUGH * by_differences.abs() && spread > ROUGH * off => SlopeCheck::Unclear,
            () => SlopeCheck::Differs { by_gradient, by_differences },
        }
    }

    /// Sentence on the meaning of the check for a search that ended there.
    pub fn sentence(&self) -> String {
        self.remedy().to_string()
    }

    /// The sentence, with the means that it recommends.
    pub fn remedy(&self) -> Remedy {
        match self {
            SlopeCheck::Agrees(part) => format!(
                "along the negative gradient, differences of the cost agree with it to {} %, so the gradient is right: what keeps the search are combinations that the \
                 data hardly determine, a motion that is unstable or chaotic, or steps that are too coarse",
                rounded(100.0 * part.max(1e-9), 1)
            )
            .into(),
            SlopeCheck::Differs { by_gradient, by_differences } => {
                let words = format!(
                    "along the negative gradient, the cost's slope is {} by the gradient and {} by differences: the cost jumps there, or the gradient may be wrong: \
                     compare its entries; or the model amplifies what starts differently: fit the first part of the record (`until`), and go on from that (`--from`)",
                    rounded(*by_gradient, 3),
                    rounded(*by_differences, 3)
                );
                Remedy::by(words, Means::CheckOfDerivatives)
            }
            SlopeCheck::Unclear => "differences of the cost are too rough there to tell whether the gradient is right: tighten the simulation's tolerance, or take \
                                    smaller steps"
                .into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects against accusing a gradient that is right, and against silence on one that is wrong; of a rough cost nothing is claimed.
    #[test]
    fn gradients_are_judged_by_differences_that_settle() {
        // third-order parts in large steps, round-off in small ones
        assert!(
            matches!(SlopeCheck::judge(-2.0, &[-2.5, -2.005, -2.000_05, -2.01]), SlopeCheck::Agrees(part) if part < 1e-3)
        );
        let wrong = SlopeCheck::judge(-2.0, &[-1.3, -1.005, -1.000_05, -1.01]);
        assert!(matches!(wrong, SlopeCheck::Differs { .. }), "{wrong:?}");
        assert!(
            wrong.sentence().contains(
                "-2 by the gradient and -1 by differences: the cost jumps there, or the gradient may be wrong"
            )
        );
        // a cost that rises where it should fall
        assert!(matches!(SlopeCheck::judge(-2.0, &[2.0, 2.0, 2.0, 2.0]), SlopeCheck::Differs { .. }));
        assert_eq!(SlopeCheck::judge(-2.0, &[1.0, -30.0, 400.0, -5000.0]), SlopeCheck::Unclear);
        assert_eq!(SlopeCheck::judge(-2.0, &[f64::NAN; 4]), SlopeCheck::Unclear);
        assert!(!SlopeCheck::Agrees(1e-6).sentence().contains("may be wrong"));
    }
}
