//! Methods of minimisation by name, with their settings.

use super::own::{OwnMethod, registered};
use crate::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// A method of minimisation. All of them respect bounds by projection.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Method {
    /// Broyden, Fletcher, Goldfarb, Shanno: the inverse Hessian is learnt from gradients (Nocedal & Wright, eq. (6.17)).
    /// The one to take unless there are more than about a thousand variables.
    Bfgs,
    /// BFGS that remembers only the last `memory` steps (Nocedal & Wright, Algorithm 7.4), for thousands of variables.
    LBfgs {
        /// Number of steps that are remembered, at least 1.
        memory: usize,
    },
    /// Davidon, Fletcher, Powell (Nocedal & Wright, eq. (6.15)); forgives inaccurate line searches less than BFGS.
    Dfp,
    /// Steepest descent along the negative gradient, with one of the two step rules of Nachbagauer 2015. Slow: for comparison.
    SteepestDescent {
        /// Rule for the length of a step.
        rule: StepRule,
    },
    /// For least squares: Levenberg and Marquardt's method with a trust region (Moré 1978), the one to take for up to some dozens of variables.
    LevenbergMarquardt,
    /// For least squares: Gauss-Newton with backtracking; directions that the residuals do not determine are left alone.
    GaussNewton,
    /// With second derivatives: steps (G + σ I) d = -g with the exact Hessian G (Ding 2012); σ grows by 4 and shrinks by 1/2 with the ratio of actual to
    /// predicted reduction. Convergence is fast once σ has gone, which takes some tens of steps.
    Ding,
    /// With second derivatives: trust-region Newton with truncated conjugate gradients (Steihaug 1983), on the whole Hessian for few variables, on
    /// products with it for many.
    NewtonTrustRegion,
    /// A solver of argmin, as it is.
    Argmin(ArgminSolver),
    /// A method of others, see [`register`](super::register).
    Own(OwnMethod),
}

/// A solver of [argmin](https://docs.rs/argmin), with its usual settings. It works in scaled variables; a failed run costs infinitely much; what is
/// outside the bounds is taken to the nearest point within. For comparison, and for costs without useful derivatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ArgminSolver {
    /// L-BFGS with the line search of Moré and Thuente.
    Lbfgs,
    /// BFGS with the same line search.
    Bfgs,
    /// Nonlinear conjugate gradients by Polak and Ribière, with the same line search.
    ConjugateGradient,
    /// Trust regions with Steihaug's conjugate gradients, on the exact Hessian.
    TrustRegion,
    /// Nelder and Mead's simplex: by costs alone.
    NelderMead,
    /// A swarm of 40 particles within the bounds, or within ten times the start: by costs alone. It has no test of convergence: its limit of
    /// iterations or evaluations ends it.
    ParticleSwarm,
}

impl ArgminSolver {
    /// All of them.
    pub const ALL: [ArgminSolver; 6] = [
        ArgminSolver::Lbfgs,
        ArgminSolver::Bfgs,
        ArgminSolver::ConjugateGradient,
        ArgminSolver::TrustRegion,
        ArgminSolver::NelderMead,
        ArgminSolver::ParticleSwarm,
    ];

    /// The name by which problem files and the command line call it.
    pub fn name(self) -> &'static str {
        match self {
            ArgminSolver::Lbfgs => "argmin:lbfgs",
            ArgminSolver::Bfgs => "argmin:bfgs",
            ArgminSolver::ConjugateGradient => "argmin:conjugate-gradient",
            ArgminSolver::TrustRegion => "argmin:trust-region",
            ArgminSolver::NelderMead => "argmin:nelder-mead",
            ArgminSolver::ParticleSwarm => "argmin:particle-swarm",
        }
    }

    /// True if the solver takes second derivatives.
    pub fn takes_hessians(self) -> bool {
        self == ArgminSolver::TrustRegion
    }

    /// True if the solver takes gradients.
    pub(super) fn is_by_gradients(self) -> bool {
        !matches!(self, ArgminSolver::NelderMead | ArgminSolver::ParticleSwarm)
    }
}

/// What a method takes of a function beside its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Needs {
    /// Its gradient, or no derivatives at all: [`Objective::value_and_gradient`](super::Objective::value_and_gradient).
    Gradient,
    /// The residuals of a sum of squares with their derivatives: [`Objective::linearise`](super::Objective::linearise). So it learns the curvature in
    /// one run.
    Residuals,
    /// Its gradient and exact second derivatives: [`Objective::hessian`](super::Objective::hessian). Negative and vanishing curvature is kept in the
    /// history ([`Curvature`](super::Curvature)); no such Hessian is inverted.
    SecondDerivatives,
}

/// Rule for the step length of steepest descent (Nachbagauer 2015).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum StepRule {
    /// A step so long that the cost, were it linear, would fall by its fraction epsilon: kappa = epsilon |J| / |grad J|^2. A step
    /// that does not lower the cost is halved, and epsilon with it; epsilon recovers by doubling.
    RelativeDecrease {
        /// The fraction, in (0, 1].
        epsilon: f64,
    },
    /// A step to a point that satisfies the strong Wolfe conditions.
    LineSearch,
}

impl Method {
    /// The methods of this crate by name, with their usual settings; those of argmin are [`ArgminSolver::ALL`].
    pub const ALL: [Method; 9] = [
        Method::BY_GRADIENT[0],
        Method::BY_GRADIENT[1],
        Method::BY_GRADIENT[2],
        Method::BY_GRADIENT[3],
        Method::BY_GRADIENT[4],
        Method::LevenbergMarquardt,
        Method::GaussNewton,
        Method::Ding,
        Method::NewtonTrustRegion,
    ];

    /// Methods of this crate that need the gradient only.
    pub const BY_GRADIENT: [Method; 5] = [
        Method::Bfgs,
        Method::LBfgs { memory: 20 },
        Method::Dfp,
        Method::SteepestDescent { rule: StepRule::LineSearch },
        Method::SteepestDescent { rule: StepRule::RelativeDecrease { epsilon: 0.1 } },
    ];

    /// What it takes of a function.
    pub fn needs(&self) -> Needs {
        match self {
            Method::LevenbergMarquardt | Method::GaussNewton => Needs::Residuals,
            Method::Ding | Method::NewtonTrustRegion => Needs::SecondDerivatives,
            Method::Argmin(solver) if solver.takes_hessians() => Needs::SecondDerivatives,
            Method::Own(own) => own.needs(),
            _ => Needs::Gradient,
        }
    }

    /// The name by which problem files and the command line call it.
    pub fn name(&self) -> &'static str {
        match self {
            Method::Bfgs => "bfgs",
            Method::LBfgs { .. } => "l-bfgs",
            Method::Dfp => "dfp",
            Method::SteepestDescent { rule: StepRule::LineSearch } => "steepest-descent",
            Method::SteepestDescent { rule: StepRule::RelativeDecrease { .. } } => "steepest-descent-fixed",
            Method::LevenbergMarquardt => "lm",
            Method::GaussNewton => "gauss-newton",
            Method::Ding => "ding",
            Method::NewtonTrustRegion => "newton-tr",
            Method::Argmin(solver) => solver.name(),
            Method::Own(own) => own.name(),
        }
    }

    /// All names.
    pub fn names() -> impl Iterator<Item = &'static str> {
        Method::every().map(|method| method.name())
    }

    /// Every method with its usual settings: those of this crate, of argmin, and of others.
    fn every() -> impl Iterator<Item = Method> {
        Method::built_in().chain(registered().into_iter().map(Method::Own))
    }

    /// Methods that need not be registered.
    pub(super) fn built_in() -> impl Iterator<Item = Method> {
        Method::ALL.into_iter().chain(ArgminSolver::ALL.map(Method::Argmin))
    }

    /// Checks the settings.
    pub(crate) fn validate(&self) -> Result<()> {
        match *self {
            Method::LBfgs { memory: 0 } => {
                Err(Error::invalid("memory of `l-bfgs`", "it is 0", "remember at least one step; 20 is usual"))
            }
            Method::SteepestDescent { rule: StepRule::RelativeDecrease { epsilon } }
                if !(epsilon > 0.0 && epsilon <= 1.0) =>
            {
                Err(Error::invalid(
                    "epsilon of `steepest-descent-fixed`",
                    format!("it is {epsilon}"),
                    "give the relative decrease of the cost per step, above 0 and at most 1; 0.1 is usual",
                ))
            }
            _ => Ok(()),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Method {
    type Err = Error;

    /// Case, `-` and `_` do not matter.
    fn from_str(name: &str) -> Result<Self> {
        let plain = |s: &str| s.trim().to_lowercase().replace('_', "-");
        let short = match plain(name).as_str() {
            "lbfgs" => "l-bfgs".to_string(),
            "levenberg-marquardt" => "lm".to_string(),
            "newton-trust-region" => "newton-tr".to_string(),
            "argmin:l-bfgs" => "argmin:lbfgs".to_string(),
            _ => plain(name),
        };
        let found = Method::every().find(|method| short == method.name());
        found.ok_or_else(|| Error::unknown("method", name, "", Method::names()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects names: each method is found by its own, and a slip is answered with the nearest.
    #[test]
    fn names_round_trip_and_slips_are_answered() {
        for method in Method::ALL.into_iter().chain(ArgminSolver::ALL.map(Method::Argmin)) {
            assert_eq!(method.name().parse::<Method>().unwrap(), method);
            assert_eq!(method.to_string().to_uppercase().replace('-', "_").parse::<Method>().unwrap(), method);
        }
        assert_eq!("lbfgs".parse::<Method>().unwrap().name(), "l-bfgs");
        let message = "bfsg".parse::<Method>().unwrap_err().to_string();
        assert!(message.contains("did you mean `bfgs`?"), "{message}");
        assert_eq!("Levenberg-Marquardt".parse::<Method>().unwrap().name(), "lm");
        let message = "gauss".parse::<Method>().unwrap_err().to_string();
        assert!(message.contains("no method `gauss`"), "{message}");
    }
}
