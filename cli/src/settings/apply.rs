//! What a command line says over a problem file.

use super::{ProblemArguments, assignments};
use crate::console::tell;
use crate::result::Earlier;
use costate::memory;
use costate::scheme;
use costate_identify::problem::base_name;
use costate_identify::specification::{DataSource, ExperimentSetting, ParameterSetting, Specification};
use costate_identify::{Error, Result};
use std::path::PathBuf;

impl ProblemArguments {
    pub(super) fn apply(&self, specification: &mut Specification) -> Result<()> {
        let earlier = self.apply_values(specification)?;
        specification.substeps = self.substeps.or(specification.substeps);
        self.apply_data(specification)?;
        self.apply_interpolation(specification, earlier.as_ref())?;
        specification.step = self.step.or(specification.step);
        specification.end = self.end.or(specification.end);
        self.apply_scheme(specification)?;
        if let Some(name) = &self.initial_state {
            specification.initial_state = Some(name.parse()?);
        }
        if let Some(size) = &self.memory {
            specification.memory = Some(memory::bytes(size)?);
        }
        specification.tolerance = self.tolerance.or(specification.tolerance);
        specification.hold = self.hold.clone().or(specification.hold.take());
        // of what the command line says, no line of the file is to blame
        for (key, given) in [
            ("substeps", self.substeps.is_some()),
            ("step", self.step.is_some()),
            ("tolerance", self.tolerance.is_some()),
            ("end", self.end.is_some()),
            ("scheme", self.scheme.is_some()),
            ("alpha", self.alpha.is_some()),
            ("initial_state", self.initial_state.is_some()),
            ("hold", self.hold.is_some()),
        ] {
            if given {
                specification.lines.forget(&["integrator", key]);
            }
        }
        Ok(())
    }

    /// Values of parameters: those of an earlier result, which is returned, and those that are set over them.
    fn apply_values(&self, specification: &mut Specification) -> Result<Option<Earlier>> {
        let earlier = self.from.as_deref().map(Earlier::read).transpose()?;
        if let Some(earlier) = &earlier {
            earlier.check(&specification.model)?;
            earlier.warn_of_changed_model();
            let known: Vec<String> = specification.of_sensors().collect();
            let is_lost = |name: &str| {
                let name = base_name(name);
                earlier.sensors.iter().any(|own| base_name(own) == name) && !known.iter().any(|own| own == name)
            };
            let (lost, kept): (Vec<_>, Vec<_>) = earlier.parameters.iter().partition(|(name, _)| is_lost(name));
            if let Some((name, _)) = lost.first() {
                tell(&format!("note: values of sensors that are not here are left out, such as `{name}`"));
            }
            specification.overriding.extend(kept.into_iter().cloned().map(ParameterSetting::starting));
            specification.found_units = earlier.units();
            specification.found_deviations = earlier.deviations();
            specification.found_priors = earlier.priors();
            specification.found_substeps = earlier.substeps;
        }
        if self.set.iter().any(|text| text.trim().is_empty()) {
            return Err(Error::invalid("--set", "nothing is set by it", "write it as name=value, or leave it out"));
        }
        for (name, value) in assignments("--set", &self.set)? {
            specification.overriding.push(ParameterSetting::starting((name, value)));
        }
        Ok(earlier)
    }

    /// Records in the place of those of a problem file.
    fn apply_data(&self, specification: &mut Specification) -> Result<()> {
        let place = |file: &PathBuf| std::fs::canonicalize(file).unwrap_or_else(|_| file.clone());
        let places: Vec<PathBuf> = self.data.iter().map(place).collect();
        if let Some(k) = (0..places.len()).find(|k| places[..*k].contains(&places[*k])) {
            let what = format!("--data {}", self.data[k].display());
            return Err(Error::invalid(what, "this record is named twice", "name each record once"));
        }
        if !self.data.is_empty() {
            if !specification.experiments.is_empty() {
                let count = specification.experiments.len();
                tell(&format!(
                    "note: --data takes the place of the problem file's {count} experiments, with all that is said of them"
                ));
            }
            specification.lines.forget(&["data", "file"]);
            let shared = specification.data.take().unwrap_or_default();
            let of = |file: &PathBuf| shared.with_files(file);
            specification.experiments.clear();
            match self.data.as_slice() {
                [file] => specification.data = Some(of(file)),
                files => {
                    let of = |file: &PathBuf| ExperimentSetting { data: of(file), ..ExperimentSetting::default() };
                    specification.experiments = files.iter().map(of).collect();
                }
            }
        }
        Ok(())
    }

    fn apply_interpolation(&self, specification: &mut Specification, earlier: Option<&Earlier>) -> Result<()> {
        let experiments = specification.experiments.iter_mut().map(|experiment| &mut experiment.data);
        let records: Vec<&mut DataSource> = specification.data.iter_mut().chain(experiments).collect();
        if let Some(name) = &self.interpolation {
            let interpolation = name.parse()?;
            if records.is_empty() {
                let problem = "there is no record whose inputs could be interpolated";
                return Err(Error::invalid("--interpolation", problem, "give --data FILE.csv, too"));
            }
            for data in records {
                data.interpolation = Some(interpolation);
                data.inputs.iter_mut().flatten().for_each(|input| input.interpolation = interpolation);
            }
        } else if let Some(earlier) = earlier {
            records.into_iter().for_each(|data| earlier.interpolate(data, false));
        }
        Ok(())
    }

    fn apply_scheme(&self, specification: &mut Specification) -> Result<()> {
        if let Some(asked) = &self.scheme {
            let (name, settings) = asked.split_once(':').unwrap_or((asked, ""));
            if asked.ends_with([':', ',']) {
                let remedy = "write NAME, or NAME:SETTING=VALUE";
                return Err(Error::invalid(format!("--scheme {asked}"), "a setting is missing at its end", remedy));
            }
            let settings = assignments("--scheme", &[settings.to_string()])?;
            let own = scheme::by_name(name, &settings)?.settings();
            if self.alpha.is_some() && settings.iter().any(|(name, _)| name == "alpha") {
                return Err(Error::invalid("alpha", "both --scheme and --alpha give it", "give it once"));
            }
            // settings of a problem file count as far as this scheme has them
            let given = |name: &String| settings.iter().any(|(own, _)| own == name);
            specification.scheme_settings.retain(|(name, _)| own.iter().any(|(own, _)| own == name) && !given(name));
            specification.scheme_settings.extend(settings);
            specification.scheme = Some(name.to_string());
        }
        if let Some(alpha) = self.alpha {
            let has_none = |name: &str| !scheme::has_setting(name, "alpha");
            if self.scheme.is_none() && specification.scheme.as_deref().is_none_or(has_none) {
                // what a problem file says of other schemes is not meant; the setting alone names its own
                specification.scheme = None;
                specification.scheme_settings.clear();
            }
            specification.scheme_settings.retain(|(name, _)| name != "alpha");
            specification.scheme_settings.push(("alpha".to_string(), alpha));
        }
        Ok(())
    }
}
