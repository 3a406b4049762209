//! The scenario of a model with what is said over it.

use super::{ParameterSetting, Specification, name_of, split};
use crate::problem::{Integrator, base_name};
use crate::registry::{Entry, Scenario};
use crate::{Error, Means, Remedy, Result};
use costate::adapt::Controlled;
use costate::shown::{rounded, shown, with_unit};
use costate::step_error::{StepError, StepErrors};
use costate::{InitialState, Signature, Simulation, scheme};

impl Specification {
    /// The built-in scenario with this specification's settings.
    ///
    /// # Errors
    /// An unknown output or parameter.
    pub fn scenario(&self, entry: &Entry) -> Result<Scenario> {
        self.scenario_by_keys(entry).map_err(|error| self.locate(error))
    }

    /// Places an error of a scenario: it is a matter of the noise, or else of the steps and the start.
    pub(super) fn of_scenario(&self, error: Error) -> Error {
        match error.engine() {
            Some(costate::Error::UnknownName { kind: "compared output", .. }) => {
                error.under(&["cost", "synthetic_noise"])
            }
            _ => error.under(&["integrator"]),
        }
    }

    pub(super) fn scenario_by_keys(&self, entry: &Entry) -> Result<Scenario> {
        for setting in self.searched().chain(&self.overriding) {
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
        scenario.integrator.tolerance = self.tolerance;
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
                entry.system.signature().output_index(output).map_err(|error| stated(error.into()))?;
                if outputs[..k].contains(output) {
                    let problem = format!("`{output}` is named twice");
                    return Err(stated(Error::invalid("the outputs to compare", problem, "name each once")));
                }
            }
            scenario.outputs = outputs.clone();
        }
        Ok(scenario)
    }

    /// The simulation without a record; steps of a tolerance are chosen at each of these points, and the most are taken.
    pub(super) fn built_in(
        &self,
        entry: &Entry,
        scenario: &Scenario,
        points: &[Vec<f64>],
        notes: &mut Vec<String>,
    ) -> Result<Simulation> {
        if self.substeps.is_some() {
            let problem = "there is no record whose samples they could divide";
            let error = Error::invalid("substeps", problem, "give `step` instead, or a record");
            return Err(error.under(&["integrator", "substeps"]));
        }
        self.refuse_both().map_err(|error| error.under(&["integrator"]))?;
        let mut scenario = scenario.clone();
        if self.tolerance.is_some() {
            let constrained = !entry.system.signature().constraints.is_empty();
            self.stand_uneven_steps(&mut scenario.integrator, constrained, notes)?;
        }
        let mut chosen: Option<(Simulation, Option<Controlled>)> = None;
        let count = Simulation::steps;
        for (k, u) in points.iter().enumerate().filter(|(k, _)| *k == 0 || self.tolerance.is_some()) {
            if points[..k].contains(u) {
                continue;
            }
            let made = entry.simulation_at(&scenario, u).map_err(|error| match (self.tolerance, error.engine()) {
                (Some(_), cause) if !matches!(cause, Some(costate::Error::UnknownName { .. })) => {
                    error.under(&["integrator", "tolerance"])
                }
                _ => self.of_scenario(error),
            })?;
            if chosen.as_ref().is_none_or(|(simulation, _)| count(simulation) < count(&made.0)) {
                chosen = Some(made);
            }
        }
        let Some((simulation, controlled)) = chosen else {
            return Err(Error::invalid("the simulation", "there is no point to choose steps at", "give one"));
        };
        notes.extend(controlled.iter().map(steps_in_words));
        Ok(simulation)
    }

    /// A tolerance chooses steps: nothing else may.
    pub(super) fn refuse_both(&self) -> Result<()> {
        let Some(tolerance) = self.tolerance else { return Ok(()) };
        let given = match (self.step, self.substeps) {
            (Some(step), _) => format!("a step of {} s", shown(step)),
            (None, Some(substeps)) => format!("substeps = {substeps}"),
            (None, None) => return Ok(()),
        };
        let (what, problem) = (format!("a tolerance of {}", shown(tolerance)), format!("{given} is given, too"));
        let error = Error::invalid(what, problem, "give one of them: a tolerance chooses its steps itself");
        Err(error.under(&["tolerance"]))
    }

    /// Remedy that makes steps smaller.
    pub fn finer_steps(&self) -> Remedy {
        match (self.tolerance, self.source()) {
            (Some(_), _) => "ask for a smaller tolerance".into(),
            (None, Some(_)) if self.step.is_none() => {
                Remedy::by("take steps of a tolerance, or more between two samples", Means::ToleranceOrSubsteps)
            }
            (None, _) => Remedy::by("take steps of a tolerance, or smaller ones", Means::ToleranceOrStep),
        }
    }

    /// Refuses steps of a tolerance where they are chosen otherwise.
    pub fn refuse_tolerance(&self, why: &str) -> Result<()> {
        let Some(tolerance) = self.tolerance else { return Ok(()) };
        let what = format!("a tolerance of {}", shown(tolerance));
        let error = Error::invalid(what, why, "leave it out, or give `step`");
        Err(self.locate(error.under(&["integrator", "tolerance"])))
    }

    /// Takes a scheme that stands uneven steps, where nobody has named one.
    pub(super) fn stand_uneven_steps(
        &self,
        integrator: &mut Integrator,
        constrained: bool,
        notes: &mut Vec<String>,
    ) -> Result<()> {
        let own = scheme::by_name(&integrator.scheme, &integrator.settings)?;
        let Some(trouble) = own.description().on_uneven_steps[usize::from(constrained)] else { return Ok(()) };
        if self.scheme.is_none() && self.scheme_settings.is_empty() {
            let other = scheme::for_uneven_steps(constrained);
            integrator.choose(Some(other), &[])?;
            let are = if self.tolerance.is_some() { "may become" } else { "are" };
            notes.push(format!("steps {are} uneven, and under {} {trouble}: taking {other}", own.name()));
        }
        Ok(())
    }

    /// The model's parameters where a fit begins; of local values, those of the first experiment.
    pub(super) fn start_values(&self, entry: &Entry, scenario: &Scenario) -> Result<Vec<f64>> {
        let (signature, mut u) = (entry.system.signature(), entry.start(scenario)?);
        for setting in self.searched().rev() {
            if let (Ok(k), Some(start)) = (signature.parameter_index(base_name(&setting.name)), setting.start) {
                u[k] = start;
            }
        }
        self.overridden(entry, u)
    }

    /// The model's parameters: nominal, or as an earlier result or a command line says; of local values, those of the first experiment alone.
    pub fn model_values(&self, entry: &Entry) -> Result<Vec<f64>> {
        self.overridden(entry, entry.system.signature().nominal())
    }

    fn overridden(&self, entry: &Entry, mut u: Vec<f64>) -> Result<Vec<f64>> {
        let sensors: Vec<String> = self.of_sensors().collect();
        let of_model = |name: &str| !sensors.iter().any(|own| own == base_name(name));
        let (settings, _) = self.overriding_of_first(entry.system.signature());
        for ParameterSetting { name, start, .. } in settings.iter().filter(|x| of_model(&x.name)) {
            let place = entry.system.signature().parameter_index(name)?;
            u[place] = start.unwrap_or(u[place]);
        }
        Ok(u)
    }

    /// Settings that go over everything else as a run of the first experiment takes them, in their order: its own local ones by the names of the model; and
    /// the names of local ones of experiments that it is not.
    pub(super) fn overriding_of_first(&self, signature: &Signature) -> (Vec<ParameterSetting>, Vec<&str>) {
        let is_any_local = self.overriding.iter().any(|setting| setting.name.contains('@'));
        let first = is_any_local.then(|| self.name_of_first(signature)).flatten();
        let (mut own, mut strangers) = (Vec::new(), Vec::new());
        for setting in &self.overriding {
            match setting.name.split_once('@') {
                None => own.push(setting.clone()),
                Some((name, experiment)) if first.as_deref() == Some(experiment) => {
                    own.push(ParameterSetting { name: name.to_string(), ..setting.clone() });
                }
                Some(_) => strangers.push(setting.name.as_str()),
            }
        }
        (own, strangers)
    }

    /// Name of the first experiment, or of the first piece of a record that is split; what is wrong with that is said where it is taken.
    fn name_of_first(&self, signature: &Signature) -> Option<String> {
        let stated = self.experiments.first().and_then(|experiment| experiment.name.as_deref());
        let source = self.source()?;
        let Some(split) = &source.split else {
            return Some(stated.map_or_else(|| name_of(&source.file), str::to_string));
        };
        let cut = split::pieces(signature, source, split, &source.records().ok()?[0], stated).ok()?;
        cut.pieces.into_iter().next().map(|(name, _)| name)
    }
}

/// `233 steps of 0.0012 s to 0.05 s were chosen; estimated error 4.1e-5 (`theta2`, 0.0012 rad at 3 s); derivatives are exact for these steps`
pub(super) fn steps_in_words(Controlled { simulation, errors, .. }: &Controlled) -> String {
    let steps = (1..=simulation.steps()).map(|k| simulation.step_size(k));
    let (least, most) = steps.fold((f64::INFINITY, 0.0f64), |(least, most), h| (least.min(h), most.max(h)));
    let worst = StepErrors::worst(&errors.coordinates).map_or(String::new(), |worst| {
        let StepError { quantity, error, time, .. } = worst;
        let error = with_unit(*error, &quantity.unit);
        let relative = rounded(worst.relative(), 2);
        format!("; estimated error {relative} (`{}`, {} at {} s)", quantity.name, error, rounded(*time, 3))
    });
    let sizes = match rounded(least, 3) == rounded(most, 3) {
        true => format!("{} s", rounded(most, 3)),
        false => format!("{} s to {} s", rounded(least, 3), rounded(most, 3)),
    };
    format!("{} steps of {sizes} were chosen{worst}; derivatives are exact for these steps", simulation.steps())
}
