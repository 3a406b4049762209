//! The scenario of a model with what is said over it.

use super::Specification;
use crate::error::{Error, Result};
use crate::problem::base_name;
use crate::registry::{Entry, Scenario};
use crate::start::InitialState;

impl Specification {
    /// The built-in scenario with this specification's settings.
    ///
    /// # Errors
    /// An unknown output or parameter.
    pub fn scenario(&self, entry: &Entry) -> Result<Scenario> {
        self.scenario_by_keys(entry).map_err(|error| self.locate(error))
    }

    /// What a scenario refuses is a matter of its noise, or else of its steps and its start.
    pub(super) fn of_scenario(&self, error: Error) -> Error {
        match error.cause() {
            Error::UnknownName { kind: "compared output", .. } => error.under(&["cost", "synthetic_noise"]),
            _ => error.under(&["integrator"]),
        }
    }

    pub(super) fn scenario_by_keys(&self, entry: &Entry) -> Result<Scenario> {
        for setting in self.parameters.iter().chain(&self.overriding) {
            // of an experiment's own parameter the problem knows the place
            let name = base_name(&setting.name);
            let signature = entry.system.signature();
            let known = || signature.parameters.iter().map(|own| own.name.clone()).chain(self.of_sensors());
            if !known().any(|known| known == name) {
                let error = Error::unknown("parameter", name, signature.place(), known());
                return Err(error.under(&["parameters", &setting.name]));
            }
        }
        let mut scenario = entry.scenario.clone();
        scenario.step = self.step.unwrap_or(scenario.step);
        scenario.end = self.end.unwrap_or(scenario.end);
        let chosen = scenario.integrator.choose(self.scheme.as_deref(), &self.scheme_settings);
        chosen.map_err(|error| error.under(&["integrator"]))?;
        scenario.integrator.initial_state = self.initial_state.unwrap_or(scenario.integrator.initial_state);
        if let Some(hold) = self.hold.as_ref().filter(|hold| !hold.is_empty()) {
            let asked = self.initial_state.unwrap_or(InitialState::Projected);
            if asked != InitialState::Projected {
                let problem = format!("nothing moves onto the constraints at a start {}", asked.name());
                let remedy = "ask for a projected start, or hold none";
                let error = Error::invalid("the coordinates to hold", problem, remedy);
                return Err(error.under(&["integrator", "hold"]));
            }
            scenario.integrator.initial_state = asked;
            scenario.integrator.hold.clone_from(hold);
        }
        // experiments are run at the same time
        scenario.integrator.memory = self.memory.map(|bytes| bytes / self.experiments.len().max(1) as f64);
        scenario.quadrature = self.quadrature.unwrap_or(scenario.quadrature);
        scenario.noise = self.synthetic_noise.clone().or(scenario.noise);
        if let Some(outputs) = &self.compare {
            let stated = |error: Error| error.under(&["cost", "outputs"]);
            if outputs.is_empty() {
                let problem = "there is no output to compare";
                return Err(stated(Error::invalid("`outputs`", problem, "name at least one")));
            }
            for (k, output) in outputs.iter().enumerate() {
                entry.system.signature().output_index(output).map_err(stated)?;
                if outputs[..k].contains(output) {
                    let problem = format!("`{output}` is named twice");
                    return Err(stated(Error::invalid("the outputs to compare", problem, "name each once")));
                }
            }
            scenario.outputs = outputs.clone();
        }
        Ok(scenario)
    }
}
