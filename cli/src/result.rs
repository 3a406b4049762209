//! Results of earlier runs: `--from RESULT`, and `costate validate`.

use super::bootstrap::bands_of_records;
use super::console::{counted, print, print_document, tell};
use super::duration::usual;
use super::output::Output;
use super::progress::Progress;
use super::settings;
use super::{ExitStatus, kept};
use costate::Interpolation;
use costate::shown::{number, rounded};
use costate_data::files;
use costate_identify::likelihood::identify_with_noise;
use costate_identify::optimise::Flow;
use costate_identify::problem::{Experiment, Problem, base_name};
use costate_identify::registry::{Registry, is_file};
use costate_identify::specification::{DataSource, ExperimentSetting, Specification};
use costate_identify::statistics::{OutputFit, ResidualTests, fits, test_unfitted};
use costate_identify::table::table;
use costate_identify::{Error, Result};
use costate_identify::{Estimate, Settings, Status};
use costate_report::html::validation_in_words;
use costate_report::{InputFile, bands_json, bands_text};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Contents of a `result.json`.
pub(super) struct Earlier {
    path: PathBuf,
    /// The whole document.
    pub document: Value,
    pub model: String,
    pub parameters: Vec<(String, f64)>,
    /// Names of those parameters that are about sensors.
    pub sensors: Vec<String>,
    scheme: Option<(String, Vec<(String, f64)>)>,
    /// Steps between two samples.
    pub substeps: Option<usize>,
    /// Inputs that were recorded, with their interpolation between samples.
    interpolations: Vec<(String, Interpolation)>,
    converged: bool,
    /// SHA-256 of the data that were fitted.
    sums: Vec<String>,
    /// Fit percentages of the outputs that were fitted.
    fit_percent: serde_json::Map<String, Value>,
}

/// A file that a result rests on.
pub(super) struct EarlierFile<'e> {
    pub role: &'e str,
    pub path: &'e str,
    sha256: Option<&'e str>,
}

impl Earlier {
    /// Name of the folder that it is in, which tells results of one model apart; none where that has no name.
    fn folder_name(&self) -> Option<String> {
        let folder = if self.path.is_dir() { Some(self.path.as_path()) } else { self.path.parent() };
        folder.and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned())
    }
}

impl EarlierFile<'_> {
    /// The reason why it is not what was read then; `None` if it is.
    pub fn difference(&self) -> Option<&'static str> {
        match (self.sha256, InputFile::new("", Path::new(self.path)).sha256) {
            (Some(then), Some(now)) if then == now => None,
            (None, _) => Some("was no file that can be read again"),
            (Some(_), None) => Some("is not here"),
            (Some(_), Some(_)) => Some("has changed since"),
        }
    }
}

impl Earlier {
    /// Reads a `result.json`, or the one of a folder.
    pub fn read(path: &Path) -> Result<Self> {
        let path = result_file(path);
        let wrong = |problem: String| {
            Error::file(&path, None, problem, "give the result.json of `costate identify`, or its folder")
        };
        let document: Value = serde_json::from_slice(&files::read(&path)?)
            .map_err(|error| wrong(format!("this is not JSON: {error}")))?;
        let text = |value: &Value| value.as_str().map(str::to_string);
        let Some(model) = text(&document["model"]) else { return Err(wrong("it names no model".into())) };
        let listed = document["parameters"].as_array().cloned().unwrap_or_default();
        let parameters: Option<Vec<(String, f64)>> =
            listed.iter().map(|entry| Some((text(&entry["name"])?, entry["value"].as_f64()?))).collect();
        let Some(parameters) = parameters.filter(|parameters| !parameters.is_empty()) else {
            return Err(wrong("it holds no parameters with name and value".into()));
        };
        let settings = document["scheme_settings"].as_object().cloned().unwrap_or_default();
        let settings = settings.into_iter().filter_map(|(name, value)| Some((name, value.as_f64()?))).collect();
        let scheme = text(&document["scheme"]).map(|name| (name, settings));
        let fit_percent = document["fit_percent"].as_object().cloned().unwrap_or_default();
        let substeps = document["experiments"][0]["substeps"].as_u64().map(|count| count as usize);
        let files = document["input_files"].as_array().cloned().unwrap_or_default();
        let data = files.iter().filter(|file| file["role"] == "data");
        let sums = data.filter_map(|file| text(&file["sha256"])).collect();
        let experiments = document["experiments"].as_array().cloned().unwrap_or_default();
        let inputs = experiments.iter().flat_map(|experiment| experiment["inputs"].as_array().into_iter().flatten());
        let interpolations = inputs
            .filter_map(|input| Some((text(&input["name"])?, input["interpolation"].as_str()?.parse().ok()?)))
            .collect();
        let outputs = experiments.iter().flat_map(|experiment| experiment["outputs"].as_array().into_iter().flatten());
        let own = outputs.flat_map(|output| output["sensor"].as_array().into_iter().flatten());
        let sensors = own.filter_map(text).collect();
        let converged = document["converged"].as_bool().unwrap_or(true);
        Ok(Earlier {
            path,
            document,
            model,
            parameters,
            sensors,
            scheme,
            substeps,
            interpolations,
            converged,
            sums,
            fit_percent,
        })
    }

    /// The result.json.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Standard deviations of priors that were found, by their parameters' names.
    pub fn priors(&self) -> Vec<(String, f64)> {
        let groups = self.document["estimated_deviations"]["priors"].as_array().into_iter().flatten();
        let each = groups.flat_map(|group| {
            let names = group["names"].as_array().into_iter().flatten().filter_map(|name| name.as_str());
            names.filter_map(|name| Some((name.to_string(), group["deviation"].as_f64()?)))
        });
        each.collect()
    }

    /// Standard deviations of the noise that were found, by the sensors' names.
    pub fn deviations(&self) -> Vec<(String, f64)> {
        let sensors = self.document["estimated_deviations"]["sensors"].as_array().into_iter().flatten();
        let found = sensors.map(|sensor| {
            let [deviation, samples] = ["deviation", "samples"].map(|key| sensor[key].as_f64());
            // correlated samples weigh what they are worth
            let worth = sensor["independent_samples"].as_f64().zip(samples).map_or(1.0, |(worth, all)| all / worth);
            Some((sensor["name"].as_str()?.to_string(), deviation? * worth.sqrt()))
        });
        found.flatten().collect()
    }

    /// Units of its parameters, by their names.
    pub fn units(&self) -> Vec<(String, String)> {
        let listed = self.document["parameters"].as_array().into_iter().flatten();
        let of = |entry: &Value| Some((entry["name"].as_str()?.to_string(), entry["unit"].as_str()?.to_string()));
        listed.filter_map(of).collect()
    }

    /// Warns of equations that are not those of then.
    pub fn warn_of_changed_model(&self) {
        for file in self.files().filter(|file| file.role == "model") {
            if let Some(reason) = file.difference().filter(|_| Path::new(file.path).exists()) {
                tell(&format!(
                    "warning: {} {reason} {} was found, whose values belong to the equations of then",
                    file.path,
                    self.path.display()
                ));
            }
        }
    }

    /// The files that were read.
    pub fn files(&self) -> impl Iterator<Item = EarlierFile<'_>> {
        let files = self.document["input_files"].as_array().into_iter().flatten();
        files.map(|file| EarlierFile {
            role: file["role"].as_str().unwrap_or("data"),
            path: file["path"].as_str().unwrap_or_default(),
            sha256: file["sha256"].as_str(),
        })
    }

    /// Specification that the problem file gave when the result was found, or the model's if there was none.
    ///
    /// # Errors
    /// If the problem file is not that of then: what it said of columns, sensors and steps is not known.
    fn own_problem(&self) -> Result<Specification> {
        let Some(file) = self.files().find(|file| file.role == "problem") else {
            // the first file of a model is its own
            let own = self.files().find(|file| file.role == "model").map(|file| file.path.to_string());
            return Ok(Specification::of(&own.unwrap_or_else(|| self.model.clone())));
        };
        let path = file.path;
        if let Some(reason) = file.difference() {
            let problem = format!("what columns mean stood in the problem file {path}, which {reason}");
            let remedy = "say which file says it now: --problem FILE.toml (where columns have the model's names, one with `model = ..` alone)";
            return Err(Error::file(&self.path, None, problem, remedy));
        }
        tell(&format!("note: columns mean what {path} says, as in the fit; --problem FILE.toml takes another"));
        settings::specification(path)
    }

    /// Lets inputs of a record do between its samples what they did in the fit, where nothing else is said of them; `is_own`: it is the fit's own
    /// problem file that says something, and the command of then may have said something else.
    pub fn interpolate(&self, data: &mut DataSource, is_own: bool) {
        let of = |name: &str| self.interpolations.iter().find(|(own, _)| own == name).map(|(_, found)| *found);
        if is_own {
            for input in data.inputs.iter_mut().flatten() {
                input.interpolation = of(&input.input).unwrap_or(input.interpolation);
            }
        }
        let Some((_, first)) = self.interpolations.first() else { return };
        let is_for_all = self.interpolations.iter().all(|(_, other)| other == first);
        if data.inputs.is_none() && is_for_all && (is_own || data.interpolation.is_none()) {
            data.interpolation = Some(*first);
        }
    }

    /// Checks that the result is about this model.
    pub fn check(&self, model: &str) -> Result<()> {
        let plain = |name: &str| name.replace('-', "_");
        let last = |path: &str| Path::new(path).file_name().map(|name| name.to_os_string());
        let mut own = self.files().filter(|file| file.role == "model");
        let stem = Path::new(model).file_stem().filter(|_| is_file(model)).map(|stem| stem.to_string_lossy());
        let is_named = |name: &str| plain(name) == plain(&self.model);
        let is_own = own.next().is_some_and(|file| last(file.path) == last(model));
        if is_named(model) || stem.is_some_and(|stem| is_named(&stem)) || is_own {
            return Ok(());
        }
        let problem = format!("it is a result of model `{}`, and this is `{model}`", self.model);
        Err(Error::file(&self.path, None, problem, "give a result of the same model"))
    }

    /// Gives a problem the values of what experiments share: each record has local values of its own, as `is_local` says.
    fn apply(&self, problem: &mut Problem, is_local: impl Fn(&str) -> bool) -> Result<()> {
        let shared = self.parameters.iter().filter(|(name, _)| !name.contains('@') && !is_local(name));
        for (name, value) in shared {
            match problem.parameters.iter().position(|parameter| parameter.name == *name) {
                Some(place) => problem.start[place] = *value,
                None if problem.places(name).is_ok() => {}
                None => {
                    let text = format!("it has a parameter `{name}`, which {} has not", problem.name);
                    let remedy = match self.sensors.contains(name) {
                        true => "say what its sensors do in a problem file: --problem FILE.toml",
                        false => "give a result of this version of the model",
                    };
                    return Err(Error::file(&self.path, None, text, remedy));
                }
            }
        }
        Ok(())
    }

    /// A problem with records whose samples are further apart than those of the fit, with steps that are as long as its own.
    fn as_fine(&self, problem: Problem) -> Result<Problem> {
        let listed = self.document["experiments"].as_array().into_iter().flatten();
        let longest = |steps: &mut dyn Iterator<Item = f64>| steps.fold(0.0, f64::max);
        let then = longest(&mut listed.filter_map(|experiment| experiment["step"].as_f64()));
        let step = |experiment: &Experiment| {
            let grid = experiment.simulation.grid();
            (grid.end() - grid.time(0)) / experiment.simulation.steps() as f64
        };
        let now = longest(&mut problem.experiments.iter().map(step));
        let parts = (now / then - 1e-6).ceil();
        // a result without steps of one size says nothing
        if !(2.0..=MOST_PARTS).contains(&parts) || problem.least_squares().is_none() {
            return Ok(problem);
        }
        tell(&format!(
            "note: steps of {} s, as many between two samples as in the fit, are longer than those of the fit, {} s: each is divided by {parts}; --substeps N \
             takes others",
            rounded(now, 4),
            rounded(then, 4)
        ));
        problem.divided(parts as usize)
    }

    /// True if the data of a file are among those that were fitted.
    fn was_fitted(&self, file: &Path) -> bool {
        InputFile::new("data", file).sha256.is_some_and(|sum| self.sums.contains(&sum))
    }

    /// Warns of what makes a comparison worth less, and says whether any record is one that was not fitted.
    fn warn_of_validity<'f>(&self, data: impl Iterator<Item = &'f Path>) -> bool {
        if !self.converged {
            tell(&format!("warning: the search of {} has not converged", self.path.display()));
        }
        let mut validates = false;
        for file in data {
            let is_fitted = self.was_fitted(file);
            validates |= !is_fitted;
            if is_fitted {
                tell(&format!("warning: {} is among the data that were fitted: this is no validation", file.display()));
            }
        }
        validates
    }
}

/// Parts that steps of another record are divided into, at most.
const MOST_PARTS: f64 = 1e4;

/// A `result.json`, or the one of a folder.
pub(super) fn result_file(path: &Path) -> PathBuf {
    if path.is_dir() { path.join("result.json") } else { path.to_path_buf() }
}

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The result.json of an identification, or its folder
    result: PathBuf,
    /// A record that was not fitted; repeatable
    #[arg(long, value_name = "FILE.csv", required = true)]
    data: Vec<PathBuf>,
    /// Problem file that says what the columns mean [default: names of the model]
    #[arg(long, value_name = "FILE.toml")]
    problem: Option<String>,
    /// Fit the local parameters of the problem file (initial states) first
    #[arg(long)]
    fit_local: bool,
    /// Time steps between two samples
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    substeps: Option<usize>,
    /// 95 % bands around outputs, and how many samples are inside
    #[arg(long)]
    bands: bool,
    #[command(flatten)]
    output: Output,
}

/// `costate validate`: how well a result reproduces records that it has not seen.
pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let earlier = Earlier::read(&arguments.result)?;
    let specification = stated(&earlier, arguments)?;
    earlier.check(&specification.model)?;
    earlier.warn_of_changed_model();
    let validates =
        earlier.warn_of_validity(specification.experiments.iter().flat_map(|experiment| experiment.data.files()));
    let mut problem = settings::build(&specification, registry)?;
    let is_local = |name: &str| {
        specification.parameters.iter().any(|setting| setting.local == Some(true) && setting.name == base_name(name))
    };
    earlier.apply(&mut problem, is_local)?;
    if arguments.substeps.is_none() && (arguments.problem.is_none() || specification.substeps.is_none()) {
        problem = earlier.as_fine(problem)?;
    }
    problem.parameters.iter_mut().for_each(|parameter| parameter.free = is_local(&parameter.name));
    problem.constraints.clear();
    let free = problem.free();
    problem.priors.retain(|prior| free.contains(&prior.parameter));
    if !arguments.fit_local && !problem.free().is_empty() {
        let names = problem.free().into_iter().map(|k| format!("`{}`", problem.parameters[k].name));
        let names = names.collect::<Vec<_>>().join(", ");
        tell(&format!("note: {names} start as the problem file says; --fit-local fits them first"));
    }
    let mut fitted: Vec<Estimate> = Vec::new();
    if arguments.fit_local {
        fitted = fit_local(&mut problem)?;
    }
    let found = fits(&problem, &problem.experiments, &problem.start)?;
    let finer = "take more of them between two samples (--substeps N)";
    let coarse = problem.told_by_finer_steps(&problem.experiments, &problem.start, (&found, finer));
    coarse.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let mut document = document(&earlier, &problem, &found, arguments);
    let costs = costs(&problem)?;
    if !costs.is_empty() {
        let each = costs.iter().map(|(name, cost)| json!({"experiment": name, "cost": cost}));
        document["costs"] = each.collect();
    }
    document["local_parameters"] = json!(fitted);
    let tests = test_unfitted(&problem, &found);
    document["residual_tests"] = json!(tests);
    let bands = if arguments.bands { bands_of_records(&earlier, &problem)? } else { Vec::new() };
    if arguments.bands {
        document["bands"] = bands_json(&bands);
    }
    let usual = format!("{}_validation", earlier.folder_name().unwrap_or_else(|| problem.name.clone()));
    let folder = arguments.output.folder(&usual)?;
    let written = folder
        .as_ref()
        .map(|folder| folder.validation(&problem, (&found, &tests), &bands, document.clone()))
        .transpose();
    if arguments.output.json {
        print_document(&format!("{document:#}"));
    } else {
        if !fitted.is_empty() {
            print(&format!("{}\n", local_values(&fitted)));
        }
        if !found.is_empty() {
            print(&compared(&earlier, &found));
        }
        if !costs.is_empty() {
            print(&costs_in_words(&earlier, &costs));
        }
        let [rmse, down] = ["rmse", "down_weighted"].map(|key| &earlier.document[key]);
        let beside = json!({"rmse": rmse, "down_weighted": down, "validation": document["validation"]});
        ResidualTests::overall(&tests).iter().for_each(|found| print(&found.sentence));
        if arguments.bands {
            print(&format!("\n{}", bands_text(&bands)));
        }
        match validation_in_words(&beside).filter(|_| validates) {
            Some(sentence) => {
                let is_told = ResidualTests::overall(&tests).iter().any(|found| found.is_warning);
                let beside = if is_told {
                    "; that is about the size of its errors: what they look like is said above"
                } else {
                    ""
                };
                print(&format!("{sentence}{beside}"));
            }
            None if validates => {}
            None => print("nothing is validated: the records are those that were fitted"),
        }
        if let Some(folder) = folder.filter(|_| written.is_ok()) {
            print(&format!("written to {}: validation.json, figures", folder.path().display()));
        }
    }
    Ok(kept(written.map(|_| ())))
}

/// Fits what is free, and lets the problem start there.
fn fit_local(problem: &mut Problem) -> Result<Vec<Estimate>> {
    if problem.free().is_empty() {
        let remedy = "mark the initial state in the problem file: parameters.NAME = { local = true }";
        return Err(Error::invalid("--fit-local", "the problem has no local parameter", remedy));
    }
    let settings = Settings::default();
    let (method, reason) = settings.method_for(problem);
    let mut progress = Progress::begin(
        &format!("method: {} ({reason})", method.name()),
        usual(method.name()).map(|usual| usual.evaluations),
    );
    let found = identify_with_noise(problem, &settings, &mut |iteration| {
        progress.show(iteration);
        Flow::Continue
    })?;
    progress.finish();
    problem.start = found.values();
    Ok(found.parameters.into_iter().filter(|parameter| parameter.status != Status::Fixed).collect())
}

/// The problem with the new records, and the result's integrator.
fn stated(earlier: &Earlier, arguments: &Arguments) -> Result<Specification> {
    let mut specification = match &arguments.problem {
        Some(file) => settings::specification(file)?,
        None => earlier.own_problem()?,
    };
    specification.lines.forget(&["data", "file"]);
    let mut shared = specification.data.take().unwrap_or_default();
    earlier.interpolate(&mut shared, arguments.problem.is_none());
    let of = |file: &PathBuf| {
        let mut data = shared.with_files(file);
        // the window of the fitted record is none of another one's
        if arguments.problem.is_none() && (data.from.is_some() || data.until.is_some()) && !earlier.was_fitted(file) {
            (data.from, data.until) = (None, None);
            tell(&format!(
                "note: {} is taken from its first to its last sample: `from` and `until` are those of the record that was fitted; --problem FILE.toml \
                 says others",
                file.display()
            ));
        }
        ExperimentSetting { data, ..ExperimentSetting::default() }
    };
    specification.experiments = arguments.data.iter().map(of).collect();
    specification.substeps = arguments.substeps.or(specification.substeps);
    specification.found_substeps = earlier.substeps;
    specification.found_units = earlier.units();
    if let (Some((scheme, settings)), None) = (&earlier.scheme, &specification.scheme) {
        specification.scheme = Some(scheme.clone());
        specification.scheme_settings.clone_from(settings);
    }
    Ok(specification)
}

/// The fit of an output in the result, by its name without an experiment's: the best and the worst.
fn fitted(earlier: &Earlier, name: &str) -> Option<(f64, f64)> {
    let own = earlier.fit_percent.iter().filter(|(other, _)| base_name(other) == base_name(name));
    let values: Vec<f64> = own.filter_map(|(_, value)| value.as_f64()).collect();
    let least = values.iter().copied().reduce(f64::min)?;
    Some((least, values.iter().copied().fold(least, f64::max)))
}

/// Costs of the records by a cost that compares nothing, each with its experiment's name.
fn costs(problem: &Problem) -> Result<Vec<(String, f64)>> {
    let others = problem.experiments.iter().filter(|experiment| experiment.cost.as_least_squares().is_none());
    let cost = |experiment: &Experiment| Ok((experiment.name.clone(), experiment.cost_at(&problem.start)?));
    others.map(cost).collect()
}

fn costs_in_words(earlier: &Earlier, costs: &[(String, f64)]) -> String {
    let rows: Vec<Vec<String>> = costs.iter().map(|(name, cost)| vec![name.clone(), number(*cost)]).collect();
    let experiments = earlier.document["experiments"].as_array().map_or(1, Vec::len);
    let found = earlier.document["cost"].as_f64().map_or_else(String::new, |cost| {
        format!("the cost that was found: {}, of {}\n", number(cost), counted(experiments, "experiment"))
    });
    format!("{}\n{found}", table(&["experiment", "cost"], &rows))
}

/// A table of the local parameters that were fitted to the new records.
fn local_values(fitted: &[Estimate]) -> String {
    let row = |own: &Estimate| vec![own.name.clone(), number(own.value), number(own.start), own.unit.clone()];
    table(&["local parameter", "value", "start", "unit"], &fitted.iter().map(row).collect::<Vec<_>>())
}

fn compared(earlier: &Earlier, found: &[OutputFit]) -> String {
    let percent = |value: Option<f64>| value.map_or("-".to_string(), |value| format!("{value:.2} %"));
    let rows: Vec<Vec<String>> = found
        .iter()
        .map(|output| {
            let before = match fitted(earlier, &output.name) {
                None => "-".to_string(),
                Some((least, most)) if most - least < 0.01 => format!("{least:.2} %"),
                Some((least, most)) => format!("{least:.2} to {most:.2} %"),
            };
            vec![
                output.name.clone(),
                format!("{} {}", rounded(output.rmse(), 4), output.unit),
                percent(output.fit_percent),
                before,
            ]
        })
        .collect();
    table(&["output", "RMSE", "fit", "fit where it was fitted"], &rows)
}

fn document(earlier: &Earlier, problem: &Problem, found: &[OutputFit], arguments: &Arguments) -> Value {
    json!({
        "model": problem.name,
        "result": earlier.path.display().to_string(),
        "data": arguments.data.iter().map(|file| file.display().to_string()).collect::<Vec<_>>(),
        "converged": earlier.converged,
        "local_parameters_fitted": arguments.fit_local,
        "validation": found.iter().map(OutputFit::json).collect::<Vec<_>>(),
    })
}
