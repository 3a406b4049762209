//! Several experiments from one record or many.

use super::measured::Measured;
use super::record::{Start, start_value};
use super::recording::Recording;
use super::{DataSource, OutputColumn, ParameterSetting, PriorSetting, Specification, split};
use crate::error::Locate;
use crate::prior::Prior;
use crate::problem::{Experiment, Problem};
use crate::registry::{Entry, Registry, Scenario};
use crate::{Error, Result};
use costate::InitialState;
use costate::cost::Cost;
use costate_data::columns::{Keys, Sought};
use costate_data::unit::{Conversion, conversion};
use std::path::{Path, PathBuf};

/// One of several experiments as stated.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct ExperimentSetting {
    /// Name of the experiment; by default that of its file.
    pub name: Option<String>,
    /// Record of the experiment.
    pub data: DataSource,
    /// True if the experiment is compared with the result, and not fitted.
    pub validation: bool,
    /// Weight of its residuals beside those of others.
    pub weight: Option<f64>,
    /// Initial state of its simulation.
    pub initial_state: Option<InitialState>,
    /// Coordinates that its projected start keeps.
    pub hold: Option<Vec<String>>,
    /// Settings of its local parameters: starts, bounds and so on.
    pub parameters: Vec<ParameterSetting>,
    /// Number of the experiment in the problem file, from 1; 0: it is in none.
    pub number: usize,
}

impl ExperimentSetting {
    /// Name that it has, or what its parts begin with, where the names of others do not matter.
    pub(super) fn usual_name(&self) -> String {
        match (&self.name, &self.data.split) {
            (Some(name), _) => name.clone(),
            (None, Some(column)) if column != split::AT_GAPS => column.clone(),
            (None, _) => name_of(&self.data.file),
        }
    }

    /// An error about something that it says.
    pub(super) fn stated(&self, error: Error) -> Error {
        match self.number {
            0 => error.under(&["data"]),
            number => error.under(&["experiment", &number.to_string()]),
        }
    }
}

/// Rest of an experiment's statement once its simulation has been built.
struct Pending {
    name: String,
    parameters: Vec<ParameterSetting>,
}

impl Specification {
    /// Parameters of which every experiment has its own.
    pub(super) fn local(&self) -> Vec<&str> {
        self.parameters.iter().filter(|setting| setting.local == Some(true)).map(|setting| &*setting.name).collect()
    }

    /// The experiments as stated, or the one record. Where names after files would be the same, they are those of folders, too.
    pub(super) fn stated(&self) -> Vec<ExperimentSetting> {
        let mut all = match (&self.data, self.experiments.as_slice()) {
            (Some(data), []) => vec![ExperimentSetting { data: data.clone(), ..ExperimentSetting::default() }],
            (_, stated) => stated.to_vec(),
        };
        let usual: Vec<String> = all.iter().map(|own| own.usual_name().to_lowercase()).collect();
        for k in 0..all.len() {
            let own = &all[k];
            let is_same = |other: &&usize| **other != k && usual[**other] == usual[k];
            let (places, own_file): (Vec<usize>, &Path) = ((0..all.len()).collect(), &own.data.file);
            let others: Vec<&Path> = places.iter().filter(is_same).map(|other| &*all[*other].data.file).collect();
            if own.name.is_none() && !others.is_empty() {
                let end = own.data.split.as_ref().filter(|split| *split != split::AT_GAPS);
                let end = end.map_or(String::new(), |column| format!("_{column}"));
                all[k].name = Some(name_beside(own_file, &others) + &end);
            }
        }
        all
    }

    /// The problem of all experiments.
    pub(super) fn measured_problem(
        &self,
        (registry, entry): (&Registry, &Entry),
        scenario: &Scenario,
        notes: &mut Vec<String>,
    ) -> Result<Problem> {
        let mut local = self.local();
        local.dedup();
        let mut built = Vec::new();
        for stated in self.stated() {
            let own = self.build_experiments((registry, entry), scenario, &stated, &local, notes);
            built.extend(own.map_err(|error| stated.stated(error))?);
        }
        refuse_training_data(&built)?;
        let named = built.iter().map(|(experiment, stated, _)| (experiment.name.clone(), stated.clone()));
        let stated_all: Vec<(String, ExperimentSetting)> = named.collect();
        // what is fitted comes first
        built.sort_by_key(|(_, stated, _)| stated.validation);
        let mut built = built.into_iter();
        let (first, pending) = match built.next() {
            Some((experiment, stated, pending)) if !stated.validation => (experiment, pending),
            _ => {
                let remedy = "leave out `validation = true` of one, or give another record";
                return Err(Error::invalid("the experiments", "none is left to be fitted", remedy));
            }
        };
        let start = entry.start(scenario)?;
        let mut problem = Problem::new(entry.name(), first.simulation, first.cost);
        problem.start[..start.len()].copy_from_slice(&start);
        problem.experiments[0].name = first.name;
        let mut all = vec![pending];
        for (experiment, stated, pending) in built {
            let joined = match stated.validation {
                false => problem.with_experiment(experiment, &local),
                true => problem.with_validation(experiment, &local),
            };
            problem = joined.map_err(|error| stated.stated(error.under(&["name"])))?;
            all.push(pending);
        }
        problem = self.with_estimated_deviations(problem, &stated_all)?;
        self.apply_parameters(&mut problem)?;
        for Pending { name, parameters } in &all {
            apply_own(&mut problem, name, parameters)?;
        }
        self.override_parameters(&mut problem, notes)?;
        problem.hold_what_is_not_fitted();
        // a cost by a formula has no samples
        if self.cost.is_empty() {
            twice_the_same(&stated_all, notes);
        }
        notes.extend(of_several(&problem, &local));
        Ok(problem)
    }

    /// Applies settings of parameters, by the names of the model, or with an experiment's name.
    pub(super) fn apply_parameters(&self, problem: &mut Problem) -> Result<()> {
        let stated = |setting: &ParameterSetting, error: Error| error.under(&["parameters", &setting.name]);
        self.searched().try_for_each(|own| apply_setting(problem, own).map_err(|error| stated(own, error)))
    }

    /// Applies settings that go over everything else; values of experiments that are not there are counted.
    pub(super) fn override_parameters(&self, problem: &mut Problem, notes: &mut Vec<String>) -> Result<()> {
        let mut strangers = Vec::new();
        for setting in &self.overriding {
            let known = problem.parameters.iter().any(|parameter| parameter.name == setting.name);
            if !known && setting.name.contains('@') {
                strangers.push(setting.name.as_str());
                continue;
            }
            apply_setting(problem, setting)?;
        }
        notes.extend(left_out(&strangers));
        Ok(())
    }

    /// The experiments of one statement: one, or those that a record is split into.
    fn build_experiments(
        &self,
        (registry, entry): (&Registry, &Entry),
        scenario: &Scenario,
        stated: &ExperimentSetting,
        local: &[&str],
        notes: &mut Vec<String>,
    ) -> Result<Vec<(Experiment, ExperimentSetting, Pending)>> {
        let mut scenario = scenario.clone();
        scenario.integrator.initial_state = stated.initial_state.unwrap_or(scenario.integrator.initial_state);
        if let Some(hold) = &stated.hold {
            scenario.integrator.hold.clone_from(hold);
        }
        let source = &stated.data;
        let records = source.records()?;
        let name = match &stated.name {
            Some(name) => {
                check_name(name).map_err(|error| error.under(&["name"]))?;
                name.clone()
            }
            None => name_of(&source.file),
        };
        let (pieces, source) = match &source.split {
            None => (vec![(name, records)], source.clone()),
            Some(split) => {
                let cut = split::pieces(entry.system.signature(), source, split, &records[0], stated.name.as_deref());
                let cut = cut.map_err(|error| error.under(&["split"]))?;
                notes.extend(cut.notes);
                (cut.pieces.into_iter().map(|(name, piece)| (name, vec![piece])).collect(), cut.source)
            }
        };
        let source = &source;
        let count = pieces.len();
        let mut built = Vec::new();
        for (k, (name, records)) in pieces.into_iter().enumerate() {
            let mut own_notes = Vec::new();
            let named = |error: Error| if count > 1 { error.in_experiment(&name) } else { error };
            let measured = self.measured((entry, &scenario), source, &records, &mut own_notes);
            let Measured { simulation, cost, recording } = measured.map_err(named)?;
            let cost: Box<dyn Cost> = match (cost, stated.weight) {
                _ if !self.cost.is_empty() => self.formula_cost(registry, &simulation, stated.weight.unwrap_or(1.0))?,
                (None, _) => return Err(named(Self::nothing_to_compare(entry, source, &records))),
                (Some(cost), None) => Box::new(cost),
                (Some(cost), Some(weight)) => {
                    Box::new(cost.weighted(weight).map_err(|error| error.under(&["weight"]))?)
                }
            };
            // of pieces of one record, one speaks for all
            if k == 0 {
                notes.append(&mut own_notes);
            }
            let parameters = self.own_parameters((entry, &name), stated, &recording, local, notes)?;
            let experiment = Experiment::new(name.clone(), simulation, cost);
            built.push((experiment, stated.clone(), Pending { name, parameters }));
        }
        if count > 1 {
            notes.push(format!("{}: {count} experiments, the first as above", source.file.display()));
        }
        Ok(built)
    }

    /// An experiment's own settings of parameters: as stated, and starts from the first sample that a column has.
    fn own_parameters(
        &self,
        (entry, experiment): (&Entry, &str),
        stated: &ExperimentSetting,
        recording: &Recording<'_>,
        local: &[&str],
        notes: &mut Vec<String>,
    ) -> Result<Vec<ParameterSetting>> {
        let mut own = Vec::new();
        for ParameterSetting { name, start_column, .. } in &self.parameters {
            let Some(column) = start_column else { continue };
            if !local.contains(&&**name) {
                let problem = "it starts from a column, which is another value in each experiment";
                let remedy = format!("make it local: parameters.{name} = {{ local = true, start_column = .. }}");
                let error = Error::invalid(format!("parameter `{name}`"), problem, remedy);
                return Err(error.under(&["parameters", name]));
            }
            let signature = entry.system.signature();
            let unit = &signature.parameters[signature.parameter_index(name)?].unit;
            // a column that an output has in the same unit means the same here
            let is_it = |output: &&OutputColumn| {
                let k = signature.output_index(&output.output);
                output.column == *column
                    && k.is_ok_and(|k| conversion(&signature.outputs[k].unit, unit) == Conversion::Same)
            };
            let output = stated.data.outputs.iter().flatten().find(is_it);
            let keys = output.map_or(Keys::None, |_| Keys::UnitOrScale);
            let calibration = output.map(|output| &output.calibration);
            let sought = Sought { column, calibration, keys, ..Sought::named(name, unit) };
            let found = start_value(recording, &sought);
            let Start { value, converted, late } = found.map_err(|error| error.under(&["parameters", name]))?;
            let late = late.map(|late| format!("`{name}` of experiment `{experiment}` starts from {late}"));
            let new: Vec<String> = converted.into_iter().chain(late).filter(|note| !notes.contains(note)).collect();
            notes.extend(new);
            own.push(ParameterSetting::starting((name.clone(), value)));
        }
        for setting in &stated.parameters {
            if !local.contains(&&*setting.name) && !self.experiments.is_empty() {
                let problem = "it is shared by all experiments";
                let remedy =
                    format!("make it local (parameters.{} = {{ local = true }}), or say it there", setting.name);
                let what = format!("parameter `{}` of an experiment", setting.name);
                return Err(Error::invalid(what, problem, remedy).under(&["parameters", &setting.name]));
            }
            own.push(setting.clone());
        }
        Ok(own)
    }
}

/// Sentence on values of experiments that are not there.
pub(super) fn left_out(strangers: &[&str]) -> Option<String> {
    let (first, count) = (strangers.first()?, strangers.len());
    Some(match count {
        1 => format!("`{first}` is a value of an experiment that is not here, and is left out"),
        _ => format!("{count} values of experiments that are not here are left out, such as `{first}`"),
    })
}

/// Sentence on parameters that several experiments share.
fn of_several(problem: &Problem, local: &[&str]) -> Option<String> {
    problem.all().nth(1)?;
    Some(format!(
                "{}{}: {}",
                match problem.experiments.len() {
                    1 => "1 experiment".to_string(),
                    count => format!("{count} experiments"),
                },
                match problem.validation.len() {
                    0 => String::new(),
                    count => format!(" and {count} more to validate with"),
                },
                match local.is_empty() {
                    true => "all parameters are shared, those of the initial state, too: what differs from record to record is made \
                             local, parameters.NAME = { local = true }"
                        .into(),
                    false => format!("each has its own {}", local.join(", ")),
                },
            ))
}

fn apply_setting(problem: &mut Problem, setting: &ParameterSetting) -> Result<()> {
    problem.places(&setting.name)?.into_iter().for_each(|k| apply_at(problem, k, setting));
    Ok(())
}

fn apply_at(problem: &mut Problem, k: usize, setting: &ParameterSetting) {
    setting.apply(&mut problem.parameters[k], &mut problem.start[k]);
    if let Some(prior) = setting.prior {
        let prior = match prior {
            PriorSetting::Given(distribution) => Prior { parameter: k, distribution, is_estimated: false },
            PriorSetting::Estimated { centre, is_log } => problem.estimated_prior(k, centre, is_log),
        };
        problem.set_prior(prior);
    }
}

fn apply_own(problem: &mut Problem, experiment: &str, parameters: &[ParameterSetting]) -> Result<()> {
    for setting in parameters {
        let local = format!("{}@{experiment}", setting.name);
        let own = problem.parameters.iter().position(|parameter| parameter.name == local);
        let places = own.map_or_else(|| problem.places(&setting.name), |place| Ok(vec![place]))?;
        places.into_iter().for_each(|k| apply_at(problem, k, setting));
    }
    Ok(())
}

/// The most characters of an experiment's name.
const LONGEST: usize = 60;

fn is_plain(c: char) -> bool {
    c.is_alphanumeric() || ['-', '_', '.'].contains(&c)
}

/// A name after a file.
pub fn name_of(file: &Path) -> String {
    let stem = file.file_stem().map_or("data".into(), |stem| stem.to_string_lossy().into_owned());
    stem.chars().map(|c| if is_plain(c) { c } else { '_' }).take(LONGEST).collect()
}

/// A name after a file and as many of its folders as tell it from other files.
fn name_beside(file: &Path, others: &[&Path]) -> String {
    let whole = |file: &Path| std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    let of = |file: &Path, folders: usize| {
        let whole = whole(file);
        let parts: Vec<&std::ffi::OsStr> = whole.iter().collect();
        let kept = &parts[parts.len().saturating_sub(folders + 1)..];
        name_of(Path::new(&kept.iter().map(|part| part.to_string_lossy()).collect::<Vec<_>>().join("_")))
    };
    let is_told = |folders: &usize| others.iter().all(|other| of(other, *folders) != of(file, *folders));
    let folders = (0..whole(file).iter().count()).find(is_told);
    folders.map_or_else(|| name_of(file), |folders| of(file, folders))
}

/// Names stand in those of files and parameters, and on command lines.
pub(super) fn check_name(name: &str) -> Result<()> {
    let problem = match name.chars().count() {
        0 => "it has no name".to_string(),
        1..=LONGEST if name.chars().all(is_plain) => return Ok(()),
        1..=LONGEST => "names of files and parameters are made of it".to_string(),
        count => format!("its name has {count} characters, and names of files are made of it"),
    };
    let shown: String = name.escape_debug().take(LONGEST).collect();
    let remedy = format!("give it a name of letters, digits, `-`, `_` and `.`, up to {LONGEST} of them");
    Err(Error::invalid(format!("experiment `{shown}`"), problem, remedy))
}

fn places(stated: &ExperimentSetting) -> Vec<PathBuf> {
    let place = |file: &Path| std::fs::canonicalize(file).unwrap_or_else(|_| file.to_path_buf());
    stated.data.files().map(place).collect()
}

/// True if two statements are about the same samples, in part at least.
fn overlap(one: &ExperimentSetting, other: &ExperimentSetting) -> bool {
    let window = |stated: &ExperimentSetting| {
        let DataSource { from, until, .. } = stated.data;
        (from.unwrap_or(f64::NEG_INFINITY), until.unwrap_or(f64::INFINITY))
    };
    let ((from, until), (first, last)) = (window(one), window(other));
    let (own, others) = (places(one), places(other));
    own.iter().any(|file| others.contains(file)) && first < until && from < last
}

/// Notes samples that are fitted twice.
fn twice_the_same(stated: &[(String, ExperimentSetting)], notes: &mut Vec<String>) {
    let fitted: Vec<&(String, ExperimentSetting)> = stated.iter().filter(|(_, stated)| !stated.validation).collect();
    for (k, (name, stated)) in fitted.iter().enumerate() {
        let same = |(_, other): &&&(String, ExperimentSetting)| *other != *stated && overlap(other, stated);
        if let Some((other, _)) = fitted[..k].iter().find(same) {
            notes.push(format!(
                "experiments `{other}` and `{name}` are fitted to the same samples of {}: standard errors count them twice",
                stated.data.file.display()
            ));
        }
    }
}

/// Refuses to validate with data that have been fitted.
fn refuse_training_data(built: &[(Experiment, ExperimentSetting, Pending)]) -> Result<()> {
    let (kept, fitted): (Vec<_>, Vec<_>) = built.iter().partition(|(_, stated, _)| stated.validation);
    for (experiment, stated, _) in kept {
        let overlaps = |(other, fitted, _): &&&(Experiment, ExperimentSetting, Pending)| {
            overlap(fitted, stated) && other.name != experiment.name
        };
        if let Some((other, ..)) = fitted.iter().find(overlaps) {
            let problem =
                format!("experiment `{}` is fitted to the same samples of {}", other.name, stated.data.file.display());
            let remedy = "validate with another file, or another window (from, until)";
            let error = Error::invalid(format!("validation by `{}`", experiment.name), problem, remedy);
            return Err(stated.stated(error.under(&["file"])));
        }
    }
    Ok(())
}
