//! Parameters that follow from others.

use super::{Formula, OF_START, Reading};
use crate::dimension::{Dimension, Units};
use crate::formula::graph::Bank;
use crate::formula::program::{Program, banks};
use crate::formula::{Formulas, Meaning, RESERVED};
use costate::derived::{Dependence, Derived};
use costate::system::System;
use costate::{Number, Parameter};
use costate_identify::specification::Lines;
use costate_identify::{Error, Result};
use std::sync::Arc;

/// Values of parameters by formulas.
pub(crate) struct Follows(pub Program);

impl Dependence for Follows {
    fn values<D: Number>(&self, p: &[D], dependent: &mut [D]) {
        self.0.run(&banks(&[(Bank::Parameter, p)]), dependent);
    }
}

/// Parameters of a mechanism that follow from others.
pub(crate) struct ByFormulas {
    pub names: Vec<String>,
    pub formulas: Follows,
}

/// A mechanism some of whose parameters follow from others by formulas, for
/// [`Registry::with_formulas`](costate_identify::registry::Registry::with_formulas): names with their formulas, which may name each other,
/// and parameters that only these know. Formulas are checked for units where these can be read.
///
/// ```
/// # let text = "coordinates = { phi = \"rad\" }\nmass = { phi = \"I\" }\nforce = { phi = \"-c*phi\" }\n[parameters]\n\
/// # I = { unit = \"kg m^2\", nominal = 1 }\nc = { unit = \"N m\", nominal = 1 }";
/// # use costate::Parameter;
/// # let entry = costate_file::parse(text, "torsion.toml".as_ref())?;
/// let added = vec![Parameter::new("m", "kg", 2.0), Parameter::new("l", "m", 0.6)];
/// let rod = costate_file::derive(entry.system.clone(), &[("I", "m*l^2/12")], added.clone())?;
/// assert_eq!(rod.signature().parameters.iter().map(|own| own.name.as_str()).collect::<Vec<_>>(), ["c", "m", "l"]);
/// let slip = costate_file::derive(entry.system.clone(), &[("I", "m*l/12")], added).err().unwrap().to_string();
/// assert!(slip.contains("this is in [kg m], where [kg m^2] is wanted"), "{slip}");
/// # Ok::<(), costate_identify::Error>(())
/// ```
///
/// # Errors
/// A formula with a slip, in a sentence with its place; an added parameter that no formula names; what [`Derived::new`] refuses.
pub fn derive(system: Arc<dyn System>, formulas: &[(&str, &str)], added: Vec<Parameter>) -> Result<Arc<dyn System>> {
    let signature = system.signature();
    let keys = |name: &str| vec!["parameters".to_string(), name.to_string(), "expr".to_string()];
    for (name, _) in formulas {
        let known = signature.parameter_index(name).map_err(Error::from);
        known.map_err(|error| error.under(&["parameters", name, "expr"]))?;
    }
    let lines = Arc::new(Lines::default());
    let too_large = |_| Error::invalid("[parameters]", "its formulas are too large", "write them shorter");
    let mut reading = Reading::bare(lines, Formulas::new().map_err(too_large)?, signature.name.clone());
    let stays = |own: &&Parameter| !formulas.iter().any(|(name, _)| *name == own.name);
    let units = |own: &Parameter| Dimension::of(&own.unit).map_or(Units::Any, Units::Is);
    // as the mechanism with derived parameters has them
    let own: Vec<&Parameter> = signature.parameters.iter().filter(stays).chain(&added).collect();
    for (k, parameter) in own.iter().enumerate() {
        let name = &parameter.name;
        let is_new = k >= own.len() - added.len();
        if is_new && (name.contains('`') || RESERVED.contains(&name.as_str())) {
            let problem = format!("`{name}` cannot be named in formulas");
            let error = Error::invalid(format!("parameter `{name}`"), problem, "give it another name");
            return Err(error.under(&["parameters", name]));
        }
        let place = reading.formulas.graph.variable(Bank::Parameter, k).map_err(reading.large())?;
        let meaning = Meaning { kind: "a parameter", place, units: units(parameter) };
        reading.formulas.names.insert(name.clone(), meaning);
    }
    let formula = |(name, text): &(&str, &str)| Formula::of_text(keys(name), format!("parameter `{name}`"), text);
    let all = formulas.iter().map(formula).collect::<Result<Vec<_>>>()?;
    let names: Vec<String> = formulas.iter().map(|(name, _)| name.to_string()).collect();
    let places = reading.resolve(&names, &all, "a parameter that follows from others")?;
    let mut roots = Vec::new();
    for (row, (formula, name)) in all.iter().zip(&names).enumerate() {
        // the name was known to others by the unit that its formula has
        let wanted = signature.parameters.iter().find(|own| own.name == *name).map_or(Units::Any, units);
        reading.in_unit(formula, OF_START, wanted)?;
        roots.push((places[row], row));
    }
    let graph = &reading.formulas.graph;
    let (_, used) = Program::of_own_parameters(graph, &roots);
    if let Some(loose) = (own.len() - added.len()..own.len()).find(|k| !used.contains(k)) {
        let name = &own[loose].name;
        let problem = "no formula names it";
        let remedy = "name it in the `expr` of another parameter, or leave it out";
        return Err(Error::invalid(format!("parameter `{name}`"), problem, remedy).under(&["parameters", name]));
    }
    let follows = Follows(Program::new(graph, &roots));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    Ok(Arc::new(Derived::new(system, &names, added, follows)?))
}
