//! The models that a command line knows, each with a built-in problem.

use crate::control::ControlScenario;
use crate::optimise::{OwnMethod, register};
use crate::problem::{Integrator, Problem};
use crate::specification;
use crate::{Error, Result};
use costate::adapt::{Controlled, StepControl};
use costate::cost::{Cost, Quadrature};
use costate::noise::SyntheticNoise;
use costate::scheme::SchemeEntry;
use costate::system::System;
use costate::{Model, Plain, Signal, Signature, Simulation, TimeGrid, scheme};
use costate_check::HandDerived;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// Default scenario of a model: how it is simulated and tried where nothing else is said.
#[derive(Debug, Clone)]
pub struct Scenario {
    /// End of the simulated time, s; it starts at 0.
    pub end: f64,
    /// Time step, s.
    pub step: f64,
    /// Time integrator.
    pub integrator: Integrator,
    /// One signal an input.
    pub signals: Vec<Signal>,
    /// Parameter values from which an identification starts: those named here, the others at their nominal values.
    pub start: Vec<(String, f64)>,
    /// Outputs that are compared with their reference.
    pub outputs: Vec<String>,
    /// Weights of the least-squares sum.
    pub quadrature: Quadrature,
    /// Noise on the simulated reference, if any.
    pub noise: Option<SyntheticNoise>,
}

impl Default for Scenario {
    fn default() -> Self {
        Scenario {
            end: 1.0,
            step: 1e-3,
            integrator: Integrator::default(),
            signals: Vec::new(),
            start: Vec::new(),
            outputs: Vec::new(),
            quadrature: Quadrature::Rectangle,
            noise: None,
        }
    }
}

/// A model with its scenario.
#[derive(Clone)]
pub struct Entry {
    /// One line on what it is.
    pub summary: String,
    /// The model.
    pub system: Arc<dyn System>,
    /// Scenario that the model is tried with.
    pub scenario: Scenario,
    /// Derivatives by hand, if somebody wrote them: for [`costate_check::check_jacobians`].
    pub hand_derived: Option<Arc<dyn HandDerived>>,
    /// Control problem of the model, if it has one: for `costate control`.
    pub control: Option<ControlScenario>,
    /// Files that the model is read from: its own, and those that it names.
    pub files: Vec<PathBuf>,
    /// The model once more, as a mechanism file.
    pub as_file: Option<&'static str>,
}

impl Entry {
    /// A model with its scenario.
    pub fn new(summary: &str, system: Arc<dyn System>, scenario: Scenario) -> Self {
        let (hand_derived, control) = (None, None);
        Entry {
            summary: summary.to_string(),
            system,
            scenario,
            hand_derived,
            control,
            files: Vec::new(),
            as_file: None,
        }
    }

    /// The model's name.
    pub fn name(&self) -> &str {
        &self.system.signature().name
    }

    /// The built-in simulation; steps of a tolerance are chosen at the nominal parameters.
    ///
    /// # Errors
    /// If the scenario does not fit the model, or a tolerance cannot be met.
    pub fn simulation(&self, scenario: &Scenario) -> Result<Simulation> {
        Ok(self.simulation_at(scenario, &self.system.signature().nominal())?.0)
    }

    /// Simulation as [`Entry::simulation`] gives it, with steps of a tolerance chosen at these parameters, and how they were.
    ///
    /// # Errors
    /// As [`Entry::simulation`].
    pub fn simulation_at(&self, scenario: &Scenario, u: &[f64]) -> Result<(Simulation, Option<Controlled>)> {
        let grid = match scenario.integrator.tolerance {
            None => TimeGrid::uniform(0.0, scenario.end, scenario.step)?,
            // the first of the steps that are tried
            Some(_) => TimeGrid::uniform(0.0, scenario.end, scenario.end / (scenario.end / scenario.step).ceil())?,
        };
        let simulation = scenario.integrator.simulation(self.system.clone(), grid, scenario.signals.clone())?;
        let Some(tolerance) = scenario.integrator.tolerance else { return Ok((simulation, None)) };
        let controlled = simulation.controlled(u, StepControl { tolerance, smallest: None }, &[])?;
        Ok((controlled.simulation.clone(), Some(controlled)))
    }

    /// Parameter values at the scenario's start.
    ///
    /// # Errors
    /// An unknown parameter name.
    pub fn start(&self, scenario: &Scenario) -> Result<Vec<f64>> {
        Ok(self.system.parameters_with(&scenario.start)?)
    }

    /// The built-in problem: find the nominal parameters from a simulation with them.
    ///
    /// # Errors
    /// If the scenario does not fit the model, or its simulation fails.
    pub fn problem(&self, scenario: &Scenario) -> Result<Problem> {
        self.problem_of(self.simulation(scenario)?, scenario)
    }

    /// Problem as [`Entry::problem`] gives it, with a simulation of the scenario.
    ///
    /// # Errors
    /// As [`Entry::problem`].
    pub fn problem_of(&self, simulation: Simulation, scenario: &Scenario) -> Result<Problem> {
        let optimum = self.system.signature().nominal();
        let outputs: Vec<&str> = scenario.outputs.iter().map(String::as_str).collect();
        let start = self.start(scenario)?;
        let problem = Problem::synthetic(self.name(), simulation, &optimum, &start, &outputs, scenario.quadrature)?;
        match &scenario.noise {
            Some(noise) => problem.with_noise(noise),
            None => Ok(problem),
        }
    }
}

/// Reader of mechanism files.
pub type Reader = fn(&Path) -> Result<Entry>;

/// Reader of formulas by which parameters of a mechanism follow from others: makes of the mechanism, names with their formulas, and new
/// parameters one whose parameters are the remaining ones ([`costate::derived::Derived`]).
pub type Deriver = fn(Arc<dyn System>, &[(&str, &str)], Vec<costate::Parameter>) -> Result<Arc<dyn System>>;

/// A cost by formulas, as a problem file states it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CostFormulas {
    /// What is integrated over time.
    pub integral: Option<String>,
    /// What is added at the last time.
    pub terminal: Option<String>,
}

impl CostFormulas {
    /// True if there is none.
    pub fn is_empty(&self) -> bool {
        *self == CostFormulas::default()
    }
}

impl std::fmt::Display for CostFormulas {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let integral = self.integral.iter().map(|formula| format!("the integral of {formula} over time"));
        let terminal = self.terminal.iter().map(|formula| format!("{formula} at the end"));
        f.write_str(&integral.chain(terminal).collect::<Vec<_>>().join(" + "))
    }
}

/// What reads formulas of problem files.
#[derive(Clone, Copy)]
pub struct Formulas {
    /// Reader of parameters that follow from others.
    pub derive: Deriver,
    /// Reader of a cost for a mechanism, with a weight.
    pub cost: fn(&Signature, &CostFormulas, f64) -> Result<Box<dyn Cost>>,
}

/// Models by name.
#[derive(Clone, Default)]
pub struct Registry {
    entries: Vec<Entry>,
    /// Reader of models in files, if there is one.
    reader: Option<Reader>,
    /// Reader of formulas, if there is one.
    formulas: Option<Formulas>,
    /// Models that have been read from files.
    read: Read,
}

/// A list of models that have been read, which only grows.
#[derive(Clone, Default)]
struct Read(OnceLock<Box<(String, Entry, Read)>>);

impl Read {
    /// The model of a file, which is read if it has not been before.
    fn get(&self, file: &str, reader: Reader) -> Result<&Entry> {
        let (own, entry, others) = match self.0.get() {
            Some(first) => &**first,
            None => {
                let entry = reader(Path::new(file))?;
                self.0.get_or_init(|| Box::new((file.to_string(), entry, Read::default())))
            }
        };
        if own == file { Ok(entry) } else { others.get(file, reader) }
    }
}

/// True if a model's name is that of a file: a mechanism file, or a robot's.
pub fn is_file(model: &str) -> bool {
    let extension = Path::new(model).extension();
    extension.is_some_and(|own| ["toml", "urdf"].iter().any(|known| own.eq_ignore_ascii_case(known)))
}

/// The name of a model as a file says it that is at `base`: paths begin at the folder of that file.
pub(crate) fn beside(model: &str, base: &Path) -> String {
    match is_file(model) {
        true => specification::beside(base, Path::new(model)).to_string_lossy().into_owned(),
        false => model.to_string(),
    }
}

impl Registry {
    /// A registry without models.
    pub fn new() -> Self {
        Registry::default()
    }

    /// Adds a plain model.
    ///
    /// # Errors
    /// If its signature contradicts itself, or its name is taken.
    pub fn with<M: Model + 'static>(self, summary: &str, model: M, scenario: Scenario) -> Result<Self> {
        self.with_system(summary, Arc::new(Plain::new(model)?), scenario)
    }

    /// Adds any system.
    ///
    /// # Errors
    /// If its name is taken.
    pub fn with_system(mut self, summary: &str, system: Arc<dyn System>, scenario: Scenario) -> Result<Self> {
        let name = &system.signature().name;
        if self.entries.iter().any(|entry| entry.name() == name) {
            return Err(Error::invalid(format!("model `{name}`"), "it is registered twice", "give it its own name"));
        }
        self.entries.push(Entry::new(summary, system, scenario));
        Ok(self)
    }

    /// Lets names that end in `.toml` or `.urdf` mean files with mechanisms, which this reads, such as `costate_file::read`.
    pub fn with_files(self, reader: Reader) -> Self {
        Registry { reader: Some(reader), ..self }
    }

    /// Lets parameters follow from others by formulas (`expr` in problem files), and costs be formulas, which these read, such as `costate_file::FORMULAS`.
    pub fn with_formulas(self, formulas: Formulas) -> Self {
        Registry { formulas: Some(formulas), ..self }
    }

    fn formulas(&self, place: &str) -> Result<Formulas> {
        let remedy = "give its registry a reader of formulas (Registry::with_formulas)";
        self.formulas.ok_or_else(|| Error::invalid(place, "this program reads no formulas", remedy))
    }

    /// A cost by formulas for a mechanism, times a weight.
    ///
    /// # Errors
    /// Without a reader of formulas; whatever is wrong with them.
    pub fn cost(&self, signature: &Signature, formulas: &CostFormulas, weight: f64) -> Result<Box<dyn Cost>> {
        (self.formulas("the cost")?.cost)(signature, formulas, weight)
    }

    /// A model some of whose parameters follow from others; what is by the names of its parameters is left out.
    ///
    /// # Errors
    /// Without a reader of formulas; whatever is wrong with them.
    pub fn derive(&self, entry: &Entry, formulas: &[(&str, &str)], added: Vec<costate::Parameter>) -> Result<Entry> {
        let system = (self.formulas("[parameters]")?.derive)(entry.system.clone(), formulas, added)?;
        let mut scenario = entry.scenario.clone();
        scenario.start.retain(|(name, _)| system.signature().parameter_index(name).is_ok());
        Ok(Entry { system, scenario, hand_derived: None, ..entry.clone() })
    }

    /// Adds a set of hand-derived Jacobians to a model that is registered already.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`] with the nearest known name.
    pub fn with_hand_derived(mut self, name: &str, set: impl HandDerived + 'static) -> Result<Self> {
        let place = self.place(name)?;
        self.entries[place].hand_derived = Some(Arc::new(set));
        Ok(self)
    }

    /// Adds a control problem to a model that is registered already.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`] with the nearest known name.
    pub fn with_control(mut self, name: &str, scenario: ControlScenario) -> Result<Self> {
        let place = self.place(name)?;
        self.entries[place].control = Some(scenario);
        Ok(self)
    }

    /// Adds the mechanism file of a model that is registered already.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`] with the nearest known name.
    pub fn with_mechanism_file(mut self, name: &str, text: &'static str) -> Result<Self> {
        let place = self.place(name)?;
        self.entries[place].as_file = Some(text);
        Ok(self)
    }

    /// Adds a scheme, which this process then knows by its name in commands and problem files ([`scheme::register`]).
    ///
    /// # Errors
    /// As [`scheme::register`].
    pub fn with_scheme(self, entry: SchemeEntry) -> Result<Self> {
        scheme::register(entry)?;
        Ok(self)
    }

    /// Adds a method of minimisation, which this process then knows by its name in commands and problem files ([`register`]).
    ///
    /// # Errors
    /// As [`register`].
    pub fn with_method(self, method: OwnMethod) -> Result<Self> {
        register(method)?;
        Ok(self)
    }

    /// All models.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The model of this name, where `-` and `_` are the same; or that of a file, if there is a reader of files.
    ///
    /// # Errors
    /// [`costate::Error::UnknownName`] with the nearest known name; whatever is wrong with a file.
    pub fn get(&self, name: &str) -> Result<&Entry> {
        match self.reader {
            Some(reader) if is_file(name) => self.read.get(name, reader),
            _ => Ok(&self.entries[self.place(name)?]),
        }
    }

    fn place(&self, name: &str) -> Result<usize> {
        let plain = name.replace('-', "_");
        let found = self.entries.iter().position(|entry| entry.name() == plain);
        found.ok_or_else(|| Error::unknown("model", name, "", self.entries.iter().map(Entry::name)))
    }
}
