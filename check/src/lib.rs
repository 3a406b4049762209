//! Comparing what can be compared: derivatives, entry by entry and by name (those that somebody derived by hand with the exact ones, and
//! the engine's fast ones with its slow ones); runs over the time step ([`Convergence`]); and time integrators ([`WorkPrecision`]).
//!
//! A hand-derived set of Jacobians ([`HandDerived`]) is checked with [`check_jacobians`]. The Jacobians of a whole time step in the form
//! of Lauss 2018, eqs. (16)-(19), are checked with [`check_step`]. [`check_products`] needs nothing from the user: it checks the engine itself on a model.
//!
//! ```
//! # use costate::{Matrix, Model, Number, Parameter, Plain, Signature};
//! use costate_check::{CheckOptions, HandDerived, Supplied, check_jacobians};
//! use costate::system::Point;
//!
//! /// m x'' = - c x³
//! struct Duffing;
//! # impl Model for Duffing {
//! #     fn signature(&self) -> Signature {
//! #         let parameters = [Parameter::new("m", "kg", 2.0), Parameter::new("c", "N/m^3", 5.0)];
//! #         Signature::new("duffing").coordinates([("x", "m")]).parameters(parameters)
//! #     }
//! #     fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
//! #         m[(0, 0)] = u[0];
//! #     }
//! #     fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
//! #         force[0] = -u[1] * q[0] * q[0] * q[0];
//! #     }
//! # }
//!
//! struct ByHand;
//! impl HandDerived for ByHand {
//!     fn force_by_position(&self, x: &Point<'_>, u: &[f64], jacobian: &mut Matrix<f64>) -> Supplied {
//!         jacobian[(0, 0)] = -2.0 * u[1] * x.q[0] * x.q[0]; // should be 3
//!         Supplied::Yes
//!     }
//! }
//!
//! let report = check_jacobians(&Plain::new(Duffing)?, &ByHand, &CheckOptions::default())?;
//! assert!(!report.passed());
//! assert_eq!(report.mismatches[0].block.symbol, "J_Q");
//! assert_eq!(report.mismatches[0].row, "motion of `x`");
//! println!("{report}");
//! # Ok::<(), costate::Error>(())
//! ```
//!
//! # What counts as a mismatch
//!
//! Two values x and y of an entry agree if they differ by no more than [`CheckOptions::tolerance`] of the larger one. No
//! block-wide norm takes part, so a wrong 0.08 N s/m is found beside a right 375e3 N/m. That alone would make an exact zero
//! differ from round-off like 1e-30. So a difference must also matter to its equation: times the size of its variable it
//! must exceed 1e-13 of the equation's terms (the sum of all derivatives in this row, each times the size of its variable).
//! This measures round-off in the equation's own unit, whatever the units of rows and columns are. An entry by hand that
//! is not finite is always a mismatch.
//!
//! This crate knows the engine alone.

#![warn(clippy::print_stdout, clippy::print_stderr)]

mod convergence;
mod exact;
mod extrapolation;
mod hand;
mod jacobians;
mod products;
mod report;
mod sample;
mod schemes;
mod step;

pub use convergence::{Convergence, Level, Named, Series, Values};
pub use exact::{Jacobian, Jacobians};
pub use extrapolation::Extrapolation;
pub use hand::{HandDerived, Supplied};
pub use jacobians::check_jacobians;
pub use products::check_products;
pub use report::{BlockName, JacobianReport, Mismatch, ProductReport};
pub use schemes::{Energy, Gaps, Measured, Reference, Row, WorkPrecision};
pub use step::{Eq19, StepJacobians, StepPoint, check_step, paper_step_jacobians};

use costate::shown::shown;
use costate::{Error, Result};

/// Settings of a comparison of derivatives: at how many points, where, and how closely.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckOptions {
    /// Number of random points.
    pub points: usize,
    /// Start of the random numbers: the same seed gives the same points.
    pub seed: u64,
    /// Largest relative difference that counts as agreement.
    pub tolerance: f64,
    /// Offset of positions and velocities from the model's initial state, in their own units: up to this at the first point, up to
    /// a tenth, a hundredth and a thousandth of it at the next three, and so on in turn.
    pub offset: f64,
    /// Times are drawn between these two, s.
    pub times: [f64; 2],
}

impl Default for CheckOptions {
    fn default() -> Self {
        CheckOptions { points: 20, seed: 1, tolerance: 1e-9, offset: 1.0, times: [0.0, 1.0] }
    }
}

impl CheckOptions {
    fn validate(&self) -> Result<()> {
        let wrong = |what: &str, problem: String, remedy: &str| Err(Error::invalid(what, problem, remedy));
        if self.points == 0 {
            return wrong("number of points of the check", "it is 0".into(), "compare at one point at least");
        }
        for (what, value) in [("tolerance of the check", self.tolerance), ("offset of the check", self.offset)] {
            if !(value.is_finite() && value > 0.0) {
                return wrong(what, format!("it is {value}"), "give a positive number");
            }
        }
        let [first, last] = self.times;
        if !(first.is_finite() && last.is_finite() && first <= last) {
            return wrong("times of the check", format!("[{first}, {last}] s is no interval"), "give first <= last");
        }
        Ok(())
    }
}

/// The reason why a simulation failed, in a few words; `None` for errors that are no failure of a simulation.
pub fn failure_in_short(error: &Error) -> Option<String> {
    error.is_simulation_failure().then(|| in_short(error))
}

/// The reason why a run failed, in a few words.
pub(crate) fn in_short(error: &Error) -> String {
    match error {
        Error::NewtonFailed { time, .. } => format!("Newton's iteration failed at t = {} s", shown(*time)),
        Error::NotFinite { quantity, value, time, .. } => format!("{quantity} is {value} at t = {} s", shown(*time)),
        Error::Singular { time, .. } => format!("singular at t = {} s", shown(*time)),
        Error::ImpossibleMass { .. } => "the mass matrix is impossible".to_string(),
        Error::InconsistentStart { .. } => "the start violates the constraints".to_string(),
        Error::StartDoesNotFollow { .. } => "the start does not follow its parameters".to_string(),
        Error::Memory { .. } => "it does not fit into memory".to_string(),
        Error::Invalid { what, problem, .. } => format!("{what}: {problem}"),
        other => other.to_string(),
    }
}
