//! Statistics of how well the data determine the parameters: before a fit ([`identifiability`](fn@identifiability)) and after it
//! ([`Statistics`]); and how the cost itself bends ([`Curvature`]).
//!
//! # Conventions
//!
//! Residuals are r = (y - ȳ)/σ, **without** the weights η of a quadrature: n of them, those of samples with weight zero left
//! out. S = dr/du at the optimum.
//!
//! | quantity | definition |
//! |---|---|
//! | chi-square χ² | Σ r² |
//! | degrees of freedom ν | n minus the number of determined directions p |
//! | reduced chi-square | χ²/ν; about 1 if model and deviations are right |
//! | covariance, [`Noise::Given`] and [`Noise::PerSensor`] | (SᵀS)⁻¹ |
//! | covariance, [`Noise::Estimated`] | (SᵀS)⁻¹ χ²/ν |
//! | covariance, a robust [loss](costate::cost::Loss) with pull ψ, whatever the noise | (SᵀS)⁻¹ (Σ ψ²/ν) / (mean dψ/dr)² |
//! | interval | value ± t(level, ν) standard error; normal quantiles if the noise is given or estimated per sensor. Of parameters that are scaled by their logarithm, symmetric in the logarithm. Cut at bounds, within which the true value is, with a warning that gives the interval without them |
//! | R² of an output | 1 - Σ(y - ȳ)² / Σ(ȳ - mean ȳ)² |
//! | fit percentage | 100 (1 - \|y - ȳ\| / \|ȳ - mean ȳ\|) |
//! | AIC, BIC, noise given | χ² + 2 p, χ² + p ln n |
//! | AIC, BIC, noise of K sensors estimated | χ² + Σ 2 N ln σ + 2 (p + K), χ² + Σ 2 N ln σ + (p + K) ln n |
//! | AIC, BIC, noise estimated | n ln(χ²/n) + 2 (p + 1), n ln(χ²/n) + (p + 1) ln n |
//!
//! AIC and BIC leave out constants that are the same for all models of the same data with the same kind of noise.
//!
//! Where the weights η of the samples differ (a quadrature on an uneven grid, the ends of the trapezoidal rule), the optimum
//! is that of weighted residuals, and its covariance is (SᵀWS)⁻¹ SᵀW²S (SᵀWS)⁻¹ with W = diag η: that is used.
//!
//! All of it holds to first order in the noise, for noise that is independent from sample to sample and has deviations that
//! are right up to one common factor. Whether residuals contradict this is tested ([`ResidualTests`], `docs/residuals.md`), and what
//! contradicts it is named in the warnings.
//!
//! Covariances are computed from a singular value decomposition. Directions without information
//! ([`UNDETERMINED`]) are named; every parameter that takes part in one has an infinite standard error. Parameters at
//! a bound are held: the statistics are those of the others. Constraints that act are held, too: with a basis Z of what they
//! leave free, the covariance is Z (ZᵀSᵀSZ)⁻¹ Zᵀ.

mod combinations;
mod curvature;
mod direction;
mod fit;
mod identifiability;
mod residual_tests;
mod residuals;
mod sentinel;
mod shares;
mod student;
mod tail;
mod text;
mod time_step;

pub use combinations::{Combination, CombinationStatistics};
pub use costate::least_squares::UNDETERMINED;
pub use curvature::{Bend, Curvature, Definiteness};
pub use direction::{Analysed, Direction, Term};
pub(crate) use fit::ROUND_OFF;
pub use fit::{DependentStatistics, Determinacy, Noise, OutputFit, ParameterStatistics, Statistics, fits};
pub(crate) use identifiability::analysed;
pub use identifiability::{Identifiability, NO_INFLUENCE, WEAK, identifiability, said_of_steps_alone};
pub use residual_tests::{
    Finding, InputCorrelation, LargestResidual, Normality, ResidualTests, Test, TimeOffset, test_unfitted,
};
pub(crate) use residual_tests::{block_length, worth};
pub use sentinel::Sentinel;
pub(crate) use sentinel::told_of_input;
pub(crate) use shares::{Share, Shares, shares};
pub use student::{LEVELS, Level};
pub use time_step::{Shift, TimeStep, TimeStepCheck};
pub(crate) use time_step::{matters, named};
