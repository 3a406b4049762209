//! What is to be said of priors.

use super::{Noise, Statistics, Verdict};
use crate::problem::Problem;
use crate::report::rounded;

/// Residuals over their deviations, squared and averaged, beyond which deviations are not those of the noise.
const TOLD: f64 = 2.0;

impl Statistics {
    /// Warns of priors that decide, that the data contradict, or that are weighed against deviations which nobody knows.
    pub(super) fn warn_of_priors(&mut self, problem: &Problem) {
        if problem.priors.is_empty() {
            return;
        }
        let decided = self.parameters.iter().filter(|own| own.verdict == Verdict::FromPrior);
        let decided: Vec<String> = decided.map(|own| format!("`{}`", own.name)).collect();
        match decided.as_slice() {
            [] => {}
            [one] => self.warnings.push(format!("{one} is known from its prior, not from the data")),
            all => self.warnings.push(format!("{} are known from their priors, not from the data", all.join(", "))),
        }
        for prior in &problem.priors {
            let own = self.parameters.get(prior.parameter);
            self.warnings.extend(own.and_then(|own| prior.contradiction(own)));
        }
        let off = self.reduced_chi_square().unwrap_or(1.0);
        if self.noise == Noise::Estimated && !self.is_noise_free && !(1.0 / TOLD..TOLD).contains(&off) {
            let factor = rounded(off.sqrt(), 2);
            self.warnings.push(format!(
                "priors are weighed against the deviations of the outputs, but the residuals are {factor} times as large as these: give \
                 the deviations of the noise, or have them estimated (deviation = \"estimated\")"
            ));
        }
    }
}
