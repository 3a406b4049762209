//! Parameters that follow from others by formulas.

use super::{ParameterSetting, Specification};
use crate::error::Locate;
use crate::problem::base_name;
use crate::registry::{Entry, Registry};
use crate::{Error, Result};
use costate::{Parameter, Signature};

impl Specification {
    /// Refuses values of an earlier result in units that are not those of the model.
    fn check_units(&self, signature: &Signature) -> Result<()> {
        for (name, unit) in &self.found_units {
            let Ok(k) = signature.parameter_index(base_name(name)) else { continue };
            let own = &signature.parameters[k].unit;
            if own != unit {
                let [then, now] = [unit, own].map(|unit| if unit.is_empty() { "1" } else { unit });
                let what = format!("the value of `{name}` in the result");
                let problem = format!("it is in {then}, and the model has `{}` in {now}", base_name(name));
                return Err(Error::invalid(what, problem, "bring the unit of then back, or begin without the result"));
            }
        }
        Ok(())
    }

    /// The model, with parameters that follow from others as this says.
    ///
    /// # Errors
    /// An unknown model, or whatever is wrong with the formulas.
    pub fn entry(&self, registry: &Registry) -> Result<Entry> {
        let entry = registry.get(&self.model).map_err(|error| error.under(&["model"]))?;
        self.check_units(entry.system.signature())?;
        if !self.parameters.iter().any(|setting| setting.formula.is_some() || setting.unit.is_some()) {
            return Ok(entry.clone());
        }
        let signature = entry.system.signature();
        let mut added = Vec::new();
        for setting in &self.parameters {
            let Some(unit) = &setting.unit else { continue };
            let refuse = |problem: &str, remedy: &str| {
                let what = format!("parameter `{}`", setting.name);
                Err(Error::invalid(what, problem, remedy).under(&["parameters", &setting.name]))
            };
            if signature.parameter_index(&setting.name).is_ok() {
                let problem = format!("{} has it, and knows its unit", signature.place());
                return refuse(&problem, "leave out `unit`, or give a new parameter another name");
            }
            if self.of_sensors().any(|name| name == setting.name) {
                return refuse("a sensor has a parameter of this name", "give it another one");
            }
            let Some(start) = setting.start else {
                return refuse("it is new, and nobody knows its value", "give its value: start = 1.0");
            };
            let mut parameter = Parameter::new(&setting.name, unit, setting.nominal.unwrap_or(start));
            setting.apply(&mut parameter, &mut { start });
            parameter.validate_as("nominal value").map_err(|error| error.under(&["parameters", &setting.name]))?;
            added.push(parameter);
        }
        for setting in self.overriding.iter().chain(self.experiments.iter().flat_map(|own| &own.parameters)) {
            let base = crate::problem::base_name(&setting.name);
            if self.parameters.iter().any(|own| own.formula.is_some() && own.name == base) {
                let remedy = "set or fix the parameters that its formula names";
                return Err(Error::invalid(format!("parameter `{base}`"), "it follows from others", remedy));
            }
        }
        let formulas = self.parameters.iter().filter_map(|own| Some((own.name.as_str(), own.formula.as_deref()?)));
        registry.derive(entry, &formulas.collect::<Vec<_>>(), added)
    }

    /// Settings of parameters that do not follow from others.
    pub(super) fn searched(&self) -> impl DoubleEndedIterator<Item = &ParameterSetting> {
        self.parameters.iter().filter(|setting| setting.formula.is_none())
    }
}
