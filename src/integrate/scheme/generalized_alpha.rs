//! Generalized-α for systems with constraints on positions (Chung & Hulbert 1993; Arnold & Brüls 2007), and Newmark's scheme.

use super::balance::{Balance, Block, Inertia};
use super::newmark::Newmark;
use super::{Description, Scheme};
use crate::system::Level;
use crate::{Error, Result};

/// The scheme generalized-α, or Newmark's, with its parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct GeneralizedAlpha {
    name: &'static str,
    setting: Option<(&'static str, f64)>,
    formulas: Newmark,
}

/// Checks a spectral radius: an error if it is out of its range.
pub(super) fn check_radius(scheme: &str, radius: f64) -> Result<()> {
    if (0.0..=1.0).contains(&radius) {
        return Ok(());
    }
    let problem =
        format!("{radius} lies outside [0, 1]: 1 damps nothing, 0 takes the highest frequencies away in one step");
    Err(Error::invalid(format!("spectral_radius of {scheme}"), problem, "use 0.8, for example"))
}

impl GeneralizedAlpha {
    /// The scheme by the spectral radius at infinity, 0 to 1: what a step leaves of the highest frequencies.
    ///
    /// # Errors
    /// [`Error::Invalid`] outside that interval.
    pub fn new(spectral_radius: f64) -> Result<Self> {
        check_radius("generalized-alpha", spectral_radius)?;
        let formulas = Newmark::with_radius(spectral_radius);
        let setting = Some(("spectral_radius", spectral_radius));
        Ok(GeneralizedAlpha { name: "generalized-alpha", setting, formulas })
    }

    /// Newmark's scheme with γ in [1/2, 1] and β = (γ + 1/2)²/4: of first order, and damping, beyond 1/2.
    ///
    /// # Errors
    /// [`Error::Invalid`] outside that interval.
    pub fn newmark(gamma: f64) -> Result<Self> {
        if !(0.5..=1.0).contains(&gamma) {
            let problem = format!("{gamma} lies outside [0.5, 1]");
            return Err(Error::invalid("gamma of newmark", problem, "use 0.5, which is of second order"));
        }
        let formulas = Newmark { gamma, beta: 0.25 * (gamma + 0.5) * (gamma + 0.5), ..Newmark::new(0.0, 0.0) };
        let setting = Some(("gamma", gamma));
        Ok(GeneralizedAlpha { name: "newmark", setting, formulas })
    }

    /// The trapezoidal rule: Newmark's scheme with γ = 1/2, without any damping.
    pub fn trapezoidal() -> Self {
        let formulas = Newmark::new(0.0, 0.0);
        GeneralizedAlpha { name: "trapezoidal", setting: None, formulas }
    }
}

impl Scheme for GeneralizedAlpha {
    fn description(&self) -> Description {
        let Newmark { alpha_m, alpha_f, gamma, .. } = self.formulas;
        Description {
            name: self.name,
            settings: self.setting.into_iter().collect(),
            own_blocks: Newmark::STARTS_WITH,
            rings_with_constraints: (alpha_m == alpha_f && gamma == 0.5).then_some(match self.name {
                "generalized-alpha" => "take spectral_radius = 0.8",
                "newmark" => "take gamma = 0.6, which is of first order, or generalized-alpha or i2p",
                _ => "take generalized-alpha or i2p",
            }),
            largest_ratio: [2.0, super::UNSTABLE_BEYOND],
            on_uneven_steps: [None, Some(super::UNSTABLE)],
            ..Description::default()
        }
    }

    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        self.formulas.start(h, true, balances);
    }

    fn step(&self, h: f64, ratio: f64, balances: &mut Vec<Balance>) {
        balances.push(self.formulas.set(Balance::of_motion(Level::Position, Inertia::Of(Block::A)), h, ratio));
    }

    fn local_error(&self, h: f64, ratio: f64) -> [f64; 3] {
        self.formulas.local_error(h, ratio)
    }
}
