//! Options that several commands share.

mod apply;

use super::console::{tell, waiting};
use super::remedy;
use super::result::result_file;
use costate::cost::LeastSquares;
use costate::system::System;
use costate::{Parameter, Simulation, compliance, scheme};
use costate_identify::problem::{Problem, base_name};
use costate_identify::problem_file;
use costate_identify::registry::{Entry, Registry, is_file};
use costate_identify::specification::{ExperimentSetting, ParameterSetting, Specification};
use costate_identify::{Error, Result};
use costate_report::plot::mechanism::{Picture, View, check_view, sketch};
use costate_report::{Folder, InputFile};
use std::path::{Path, PathBuf};

/// Arguments of a command on a problem: a model or problem file, perhaps a record, and the settings of the time integrator.
#[derive(clap::Args, Debug, Default, PartialEq)]
pub(super) struct ProblemArguments {
    /// A model's name or mechanism file (its built-in problem), or a problem file
    #[arg(index = 1, required_unless_present = "from")]
    model: Option<String>,
    /// Measurements (.csv, .mat, .npz, .mcap): columns `t` or `time`, and `NAME` or `NAME [UNIT]` of inputs and outputs; A,B: files of one experiment
    #[arg(long, value_name = "FILE.csv")]
    pub data: Vec<PathBuf>,
    /// Values of an earlier result (its folder); `identify --from RESULT` alone repeats it
    #[arg(long, value_name = "RESULT")]
    pub from: Option<PathBuf>,
    /// Parameter values to begin with, in their units: name=value,..
    #[arg(long, visible_alias = "start", value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Interpolation of inputs between samples: zero-order, linear or cubic
    #[arg(long, value_name = "NAME")]
    interpolation: Option<String>,
    /// Time steps between two samples [default: `identify` chooses, else 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = count)]
    substeps: Option<usize>,
    /// Time step, s
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = number)]
    step: Option<f64>,
    /// Steps as long as this error of coordinates allows, beside their largest value: 1e-4 (accelerations, forces may be worse)
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = number)]
    tolerance: Option<f64>,
    /// End of the simulated time, s
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = number)]
    end: Option<f64>,
    /// HHT with this numerical damping, from -1/3 to 0
    #[arg(long, value_name = "X", allow_hyphen_values = true, value_parser = number)]
    alpha: Option<f64>,
    /// hht, hht-literal, newmark, trapezoidal, generalized-alpha, ali3p, i2p, bdf2, inverse-dynamics; settings behind it: hht:alpha=-0.1
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// Begin as-given, projected (onto the constraints) or in static equilibrium
    #[arg(long, value_name = "NAME")]
    initial_state: Option<String>,
    /// Coordinates that a projected start keeps while others move: NAME,..
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    hold: Option<Vec<String>>,
    /// Memory for states of runs: 200MB, .. (kB, GB, MiB, GiB) [default: a quarter of the memory]
    #[arg(long, value_name = "SIZE", allow_hyphen_values = true)]
    memory: Option<String>,
}

/// Arguments of a run at given parameters.
#[derive(clap::Args, Debug)]
pub(super) struct RunArguments {
    #[command(flatten)]
    problem: ProblemArguments,
}

/// A run that is ready: model, parameters and simulation.
pub(super) struct Run {
    pub entry: Entry,
    pub u: Vec<f64>,
    pub simulation: Simulation,
    /// The record that outputs are compared with, where there is one.
    pub measured: Option<LeastSquares>,
    /// Advice on how to make steps smaller, for messages.
    pub finer: String,
}

impl RunArguments {
    /// Arguments of the problem.
    pub(super) fn problem(&self) -> &ProblemArguments {
        &self.problem
    }

    /// `find`: [`entry`] or [`drawable`].
    pub(super) fn prepare(
        &self,
        registry: &Registry,
        find: impl Fn(&Registry, &Specification) -> Result<Entry>,
    ) -> Result<Run> {
        self.prepare_as(&self.problem.specification()?, registry, find)
    }

    /// The folder that is asked for, or else that of the command's kind in `out`.
    pub(super) fn folder(&self, entry: &Entry, (asked, kind): (Option<&PathBuf>, &str), png: bool) -> Result<Folder> {
        let usual = || PathBuf::from("out").join(self.problem.folder_name(entry.name(), kind));
        Folder::create(&asked.cloned().unwrap_or_else(usual), png)
    }

    /// Prepares a run as [`RunArguments::prepare`] does, of a specification that the command has changed.
    pub(super) fn prepare_as(
        &self,
        specification: &Specification,
        registry: &Registry,
        find: impl Fn(&Registry, &Specification) -> Result<Entry>,
    ) -> Result<Run> {
        let entry = find(registry, specification)?;
        let u = specification.model_values(&entry)?;
        let sensors: Vec<String> = specification.of_sensors().collect();
        let of_model = |name: &str| !sensors.iter().any(|own| own == base_name(name));
        for (name, _) in assignments("--set", &self.problem.set)?.into_iter().filter(|(name, _)| of_model(name)) {
            let place = entry.system.signature().parameter_index(base_name(&name))?;
            warn_of_bounds(&entry.system.signature().parameters[place], u[place]);
        }
        let choosing = specification.tolerance.map(|_| waiting("choosing time steps", 0));
        let (simulation, measured, notes) = specification.simulation_with_notes(registry)?;
        drop(choosing);
        say(notes, &simulation);
        Ok(Run { entry, u, simulation, measured, finer: remedy::in_words(&specification.finer_steps()) })
    }
}

/// The folder for results that is asked for, or else `out/USUAL`; none where they are printed as JSON alone.
pub(super) fn results(asked: Option<&PathBuf>, json: bool, usual: &str, png: bool) -> Result<Option<Folder>> {
    let path = match (asked, json) {
        (Some(path), _) => path.clone(),
        (None, true) => return Ok(None),
        (None, false) => PathBuf::from("out").join(usual),
    };
    Folder::create(&path, png).map(Some)
}

/// Which parameters are identified, over what the problem file says.
#[derive(clap::Args, Debug, Default, PartialEq)]
pub(super) struct Freedom {
    /// Keep parameters at their start: name,..
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    fix: Vec<String>,
    /// Identify parameters that are fixed otherwise: name,..
    #[arg(long, value_name = "NAME,..", value_delimiter = ',')]
    free: Vec<String>,
}

impl Freedom {
    /// Says it over what a problem says.
    pub(super) fn set(&self, specification: &mut Specification) -> Result<()> {
        if let Some(name) = self.fix.iter().find(|name| self.free.contains(name)) {
            let problem = format!("`{name}` is in both");
            return Err(Error::invalid("--fix and --free", problem, "leave it out of one of them"));
        }
        for (names, free) in [(&self.fix, false), (&self.free, true)] {
            for name in names {
                let setting = ParameterSetting { name: name.clone(), free: Some(free), ..ParameterSetting::default() };
                specification.overriding.push(setting);
            }
        }
        Ok(())
    }
}

impl ProblemArguments {
    /// `NAME_kind`, or `NAME` where `kind` is empty: the folder of results, named by the problem file, so that those of several files of one
    /// model stay apart, or else by the `model`.
    pub(super) fn folder_name(&self, model: &str, kind: &str) -> String {
        let stem = self.file().and_then(Path::file_stem).map(|stem| stem.to_string_lossy().into_owned());
        let name = stem.as_deref().unwrap_or(model);
        if kind.is_empty() { name.to_string() } else { format!("{name}_{kind}") }
    }

    /// The problem file, if it is one.
    pub(super) fn file(&self) -> Option<&Path> {
        self.model.as_ref().map(Path::new).filter(|path| is_problem_file(path))
    }

    /// The result that is given in the place of a model.
    pub(super) fn result_alone(&self) -> Option<&Path> {
        self.from.as_deref().filter(|_| self.model.is_none())
    }

    /// True if it is more than a model's built-in problem: a problem file, or a record.
    pub(super) fn is_measured(&self) -> bool {
        self.file().is_some() || !self.data.is_empty()
    }

    /// Files that are read, with checksums: the problem file, those of the model, all data, the result whose values it begins with.
    pub(super) fn input_files(&self, specification: &Specification, entry: &Entry) -> Vec<InputFile> {
        let role = |experiment: &ExperimentSetting| if experiment.validation { "validation" } else { "data" };
        let experiments = specification.experiments.iter().map(|experiment| (role(experiment), &experiment.data));
        let shared = specification.data.iter().filter(|_| specification.experiments.is_empty());
        let sources = experiments.chain(shared.map(|data| ("data", data)));
        let mut files: Vec<(&str, &Path)> = Vec::new();
        for file in sources.flat_map(|(role, source)| source.files().map(move |file| (role, file))) {
            // experiments may share a file
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let responses = specification.responses.iter().map(|response| ("data", response.file.as_path()));
        for file in responses {
            if !files.contains(&file) {
                files.push(file);
            }
        }
        let data = files.into_iter().map(|(role, file)| InputFile::new(role, file));
        let problem = self.file().map(|path| InputFile::new("problem", path));
        let from = self.from.as_ref().map(|path| InputFile::new("result", &result_file(path)));
        // tables of one file are one file
        let mut read: Vec<&PathBuf> = Vec::new();
        entry.files.iter().for_each(|path| {
            if !read.contains(&path) {
                read.push(path)
            }
        });
        let model = read.into_iter().map(|path| InputFile::new("model", path));
        problem.into_iter().chain(model).chain(data).chain(from).collect()
    }

    /// The problem file's statements, with those of the command line over them.
    pub(super) fn specification(&self) -> Result<Specification> {
        let Some(model) = &self.model else {
            let problem = "it is not named; only `costate identify --from RESULT` takes it from the result";
            return Err(Error::invalid("the model", problem, "name a model, or a problem file that ends in .toml"));
        };
        let mut specification = specification(model)?;
        self.apply(&mut specification)?;
        Ok(specification)
    }
}

/// A finite number on the command line.
pub(super) fn number(text: &str) -> std::result::Result<f64, String> {
    match text.trim().parse::<f64>() {
        Ok(value) if value.is_finite() => Ok(value),
        Ok(_) => Err("it is not a finite number; write one such as 0.001 or 1e-3".to_string()),
        Err(_) => Err("it is not a number; write one such as 0.001 or 1e-3, without a unit".to_string()),
    }
}

/// A whole number on the command line.
pub(super) fn count(text: &str) -> std::result::Result<usize, String> {
    text.trim().parse().map_err(|_| "it is not a whole number from 0; write one such as 10".to_string())
}

/// A seed on the command line.
pub(super) fn seed(text: &str) -> std::result::Result<u64, String> {
    text.trim().parse().map_err(|_| "it is not a whole number from 0; write one such as 7".to_string())
}

/// True for a file that is no mechanism: what a problem file is, is said by its reader.
fn is_problem_file(path: &Path) -> bool {
    is_file(&path.to_string_lossy()) && !costate_file::is_mechanism(path)
}

/// The specification of a model's built-in problem, or of a problem file.
pub(super) fn specification(model: &str) -> Result<Specification> {
    let path = PathBuf::from(model);
    if is_problem_file(&path) {
        return problem_file::read(&path);
    }
    if is_file(model) {
        return Ok(Specification::of(model));
    }
    // a file without an ending may have the name of a model
    if path.components().count() > 1 || (path.is_file() && path.extension().is_some()) {
        let remedy = "give the name of a model (`costate models` lists them), or of a mechanism or problem file that ends in .toml";
        return Err(Error::invalid(format!("`{model}`"), "it is neither a model nor a problem file", remedy));
    }
    Ok(Specification::of(model))
}

/// Builds the problem, and says on standard error what was assumed.
pub(super) fn build(specification: &Specification, registry: &Registry) -> Result<Problem> {
    let choosing = specification.tolerance.map(|_| waiting("choosing time steps", 0));
    let (problem, notes) = specification.build_with_notes(registry)?;
    drop(choosing);
    say_of(notes, &problem);
    Ok(problem)
}

/// Says notes on all experiments of a problem, as [`say`] does; what looks like a slip in several is reported once.
pub(super) fn say_of(mut notes: Vec<String>, problem: &Problem) -> Vec<String> {
    for experiment in problem.all() {
        if let Ok(Some(checkpoints)) = experiment.simulation.checkpoints() {
            let of =
                if problem.all().count() > 1 { format!("experiment `{}`: ", experiment.name) } else { String::new() };
            notes.push(format!("{of}{checkpoints}"));
        }
    }
    let mut reported = remarks(&problem.first().simulation);
    for experiment in problem.all().skip(1) {
        for remark in remarks(&experiment.simulation) {
            if !reported.contains(&remark) {
                notes.push(format!("experiment `{}`: {remark}", experiment.name));
                reported.push(remark);
            }
        }
    }
    say(notes, &problem.first().simulation)
}

/// Says on standard error what was assumed, and what looks like a slip in the model or its settings. Returns all that was said.
pub(super) fn say(mut notes: Vec<String>, simulation: &Simulation) -> Vec<String> {
    notes.extend(remarks(simulation));
    notes.iter().for_each(|note| tell(&format!("note: {note}")));
    notes
}

/// Remarks on what looks like a slip in the model or its settings.
fn remarks(simulation: &Simulation) -> Vec<String> {
    let signature = simulation.signature();
    let own = simulation.system().remarks();
    let mut remarks: Vec<String> = own.iter().map(|remark| format!("model `{}`: {remark}", signature.name)).collect();
    let (scheme, constrained) = (simulation.scheme(), !signature.constraints.is_empty());
    let description = scheme.description();
    if let Some(remedy) = description.rings_with_constraints.filter(|_| constrained) {
        remarks.push(format!(
            "scheme {}: accelerations and multipliers of a constrained mechanism oscillate from step to step and may grow; \
             {remedy} unless you want just that",
            scheme::in_words(scheme)
        ));
    }
    if let Some(trouble) = compliance::remark(simulation) {
        remarks.push(format!("scheme {}: {trouble}", scheme::in_words(scheme)));
    }
    let trouble = description.on_uneven_steps[usize::from(constrained)];
    if let Some(trouble) = trouble.filter(|_| simulation.even_step().is_none()) {
        let other = scheme::for_uneven_steps(constrained);
        remarks.push(format!("scheme {} on uneven steps: {trouble}; take {other}", scheme::in_words(scheme)));
    }
    remarks
}

/// Parses `name=value` pairs.
pub(super) fn assignments(option: &str, texts: &[String]) -> Result<Vec<(String, f64)>> {
    let mut pairs: Vec<(String, f64)> = Vec::new();
    let parsed = texts.iter().flat_map(|text| text.split(',')).filter(|text| !text.trim().is_empty()).map(|text| {
        let wrong = |problem: &str| Error::invalid(format!("{option} {text}"), problem, "write it as name=value");
        let (name, value) = text.split_once('=').ok_or_else(|| wrong("there is no `=` in it"))?;
        let value: f64 = value.trim().parse().map_err(|_| wrong(&format!("`{value}` is not a number")))?;
        if !value.is_finite() {
            return Err(wrong(&format!("{value} is not a finite number")));
        }
        Ok((name.trim().to_string(), value))
    });
    for pair in parsed {
        let (name, value) = pair?;
        if pairs.iter().any(|(known, _)| *known == name) {
            return Err(Error::invalid(option, format!("`{name}` is given twice"), "give one value for it"));
        }
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// Notes what counts in the place of deviations that are to be estimated, for commands that do not fit.
pub(super) fn tell_of_deviations(problem: &Problem) {
    if !problem.unknown_deviations.is_empty() {
        tell(
            "note: deviations that are to be estimated are not known before a fit: here, the residuals of each output count beside the spread of its data; \
             give the deviations as numbers, such as those that `identify` prints, to have them count beside the noise",
        );
    }
}

/// Notes a value that lies outside its bounds.
fn warn_of_bounds(Parameter { name, lower, upper, unit, .. }: &Parameter, value: f64) {
    if !(*lower..=*upper).contains(&value) {
        tell(&format!(
            "note: `{name}` = {value} {unit} lies outside its bounds, {lower} to {upper}: results may mean nothing"
        ));
    }
}

/// The model that a specification names, if it has a picture.
pub(super) fn drawable(registry: &Registry, specification: &Specification) -> Result<Entry> {
    let entry = entry(registry, specification)?;
    match sketch(&*entry.system).map(|_| ()) {
        Err(Error::Engine(costate::Error::Invalid { what, problem, .. })) if is_file(&specification.model) => {
            let remedy = "add a [picture] table to the file (docs/mechanism-file.md, docs/pictures.md); files of parts draw themselves";
            Err(Error::invalid(what, problem, remedy))
        }
        Err(Error::Engine(costate::Error::Invalid { what, problem, remedy })) => {
            let drawable = registry.entries().iter().filter(|entry| entry.system.sketch().is_some());
            let names: Vec<&str> = drawable.map(Entry::name).collect();
            let known = if names.is_empty() { "none".to_string() } else { names.join(", ") };
            Err(Error::invalid(what, problem, format!("{remedy} (models with a picture: {known})")))
        }
        other => other.map(|()| entry),
    }
}

/// The view that `--view` means, or else the one that suits the model.
pub(super) fn view(system: &dyn System, given: Option<&str>) -> Result<View> {
    let Some(given) = given else { return View::of(system) };
    let view = given.parse()?;
    check_view(system, view)?;
    Ok(view)
}

/// The parameters that a problem's gradient was differentiated by; says on standard error which were left out.
pub(super) fn differentiated(problem: &Problem, left_out: &[usize]) -> Vec<usize> {
    if !left_out.is_empty() {
        let names: Vec<String> = left_out.iter().map(|&k| format!("`{}`", problem.parameters[k].name)).collect();
        tell(&format!(
            "note: there are no derivatives by {}: the initial state does not follow what is fixed; with `--initial-state \
             projected` there are",
            names.join(", ")
        ));
    }
    (0..problem.parameters.len()).filter(|k| !left_out.contains(k)).collect()
}

/// The picture with its motion as `--exaggerate` wants it.
pub(super) fn exaggerate<'p>(picture: Picture<'p>, factor: Option<&str>) -> Result<Picture<'p>> {
    match factor {
        None => Ok(picture),
        Some(AUTOMATIC) => {
            let factor = picture.readable_exaggeration();
            picture.exaggerate(factor)
        }
        Some(text) => match number(text) {
            Ok(factor) => picture.exaggerate(factor),
            Err(problem) => Err(Error::invalid(format!("--exaggerate {text}"), problem, "or leave the factor out")),
        },
    }
}

/// Value of `--exaggerate` without a factor.
pub(super) const AUTOMATIC: &str = "auto";

/// The parameter vector that `--at` means.
pub(super) fn point(problem: &Problem, at: &str) -> Result<Vec<f64>> {
    match at {
        "start" => Ok(problem.start.clone()),
        "nominal" => Ok(problem.parameters.iter().map(|parameter| parameter.nominal).collect()),
        other if !other.contains('=') => {
            let problem = "it names no point and sets no parameter";
            Err(Error::invalid(format!("--at {other}"), problem, "write `start`, `nominal` or name=value,.."))
        }
        changes => {
            let mut u = problem.start.clone();
            for (name, value) in assignments("--at", &[changes.to_string()])? {
                for place in problem.places(&name)? {
                    u[place] = value;
                    warn_of_bounds(&problem.parameters[place], value);
                }
            }
            Ok(u)
        }
    }
}

/// The model that a specification names.
pub(super) fn entry(registry: &Registry, specification: &Specification) -> Result<Entry> {
    specification.entry(registry).map_err(|error| specification.locate(error))
}
