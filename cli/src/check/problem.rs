//! A problem before a long run: data, one run of each experiment, gradient, what can be determined, how long it takes.

use super::Arguments;
use super::diagnosis::{Looked, at_bounds, twice};
use super::text;
use crate::console::{print, print_document, tell_error, waiting};
use crate::duration::Duration;
use crate::remedy;
use crate::{ExitStatus, kept, settings};
use costate::parallel::in_parallel;
use costate::sensitivity::Method;
use costate_identify::flat;
use costate_identify::problem::{Experiment, Problem};
use costate_identify::registry::Registry;
use costate_identify::response::ResponseResult;
use costate_identify::specification::{ExperimentSetting, Specification};
use costate_identify::statistics::{Identifiability, OutputFit, identifiability, said_of_steps_alone};
use costate_identify::steps::{BeforeFit, Steps};
use costate_identify::{Error, Result};
use costate_report::InputFile;
use serde_json::{Value, json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

/// Findings on a problem before a fit.
pub(super) struct Found {
    /// Files that were read.
    pub files: Vec<InputFile>,
    pub experiments: Vec<Looked>,
    pub cost: f64,
    /// Free parameters with derivative times size, the largest first.
    pub gradient: Vec<(usize, f64)>,
    /// Or why it cannot be said.
    pub identifiability: std::result::Result<Identifiability, String>,
    pub duration: Option<Duration>,
    /// Estimate of step errors at the start, where the problem's steps are too coarse.
    pub before_fit: Option<BeforeFit>,
    /// True if an identification may choose finer steps.
    pub chooses_steps: bool,
    pub notes: Vec<String>,
    /// Measured frequency responses at the start.
    pub responses: Vec<ResponseResult>,
    /// Warnings of what may be meant.
    pub warnings: Vec<String>,
    /// Errors: what cannot be meant.
    pub wrong: Vec<String>,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let specification = arguments.problem.specification()?;
    let (problem, notes) =
        specification.build_with_notes(registry).map_err(|error| all_errors(&specification, registry, error))?;
    let notes = settings::say_of(notes, &problem);
    let (problem, before_fit) = with_steps_of_a_fit(problem, &specification);
    let folder = arguments.output.folder(&arguments.problem.folder_name(&problem.name, "check"))?;
    let mut found = look(&problem, &specification, (before_fit, notes))?;
    found.files = arguments.problem.input_files(&specification, &settings::entry(registry, &specification)?);
    let document = document(&problem, &found);
    // what cannot be simulated cannot be drawn
    let order = worst_first(&found);
    let drawn: Vec<usize> = order.iter().copied().filter(|&k| found.experiments[k].outputs.is_ok()).collect();
    let written = folder.as_ref().map(|folder| folder.check(&problem, &drawn, document.clone())).transpose();
    if arguments.output.json {
        print_document(&format!("{document:#}"));
    } else {
        print(&text::report(&problem, &found, &order));
        if let Some(folder) = folder.filter(|_| written.is_ok()) {
            print(&format!("written to {}: check.json, figures", folder.path().display()));
        }
    }
    let verdict = kept(written.map(|_| ()));
    Ok(if found.wrong.is_empty() { verdict } else { ExitStatus::Failure })
}

/// Of several experiments that cannot be built, says what is wrong with each, not with the first alone.
fn all_errors(specification: &Specification, registry: &Registry, first: Error) -> Error {
    if specification.experiments.len() < 2 {
        return first;
    }
    let alone = |experiment: &ExperimentSetting| {
        let experiments = vec![ExperimentSetting { validation: false, ..experiment.clone() }];
        Specification { experiments, ..specification.clone() }.build(registry).err()
    };
    let errors: Vec<Error> = specification.experiments.iter().filter_map(alone).collect();
    errors.iter().filter(|error| **error != first).for_each(|error| tell_error(&remedy::sentence(error)));
    first
}

/// Places of experiments, the worst fit first.
fn worst_first(found: &Found) -> Vec<usize> {
    let mut order: Vec<usize> = (0..found.experiments.len()).collect();
    order.sort_by(|&a, &b| found.experiments[a].worst().total_cmp(&found.experiments[b].worst()));
    order
}

/// The problem with the steps with which a fit would begin, and what is known of them.
fn with_steps_of_a_fit(problem: Problem, specification: &Specification) -> (Problem, Option<BeforeFit>) {
    let waiting = waiting("steps at the start", 0);
    let before_fit = BeforeFit::of(&problem, &problem.start);
    drop(waiting);
    let is_chosen = specification.steps() == Steps::Chosen;
    let finer = before_fit.as_ref().filter(|_| is_chosen).and_then(|before| before.taken(&problem));
    (finer.unwrap_or(problem), before_fit)
}

fn look(
    problem: &Problem,
    specification: &Specification,
    (before_fit, notes): (Option<BeforeFit>, Vec<String>),
) -> Result<Found> {
    let mut experiments: Vec<&Experiment> = problem.all().collect();
    let (waiting, done) = (waiting("experiments at the start", experiments.len()), AtomicUsize::new(0));
    let experiments = in_parallel(&mut experiments, problem.at_once()?, |_, experiment| {
        let looked = Looked::at(problem, experiment);
        waiting.done(done.fetch_add(1, Ordering::Relaxed) + 1);
        Ok::<_, Error>(looked)
    })?;
    waiting.now("derivatives");
    let failure = |looked: &Looked| looked.outputs.as_ref().err().cloned();
    let mut wrong: Vec<String> = experiments.iter().filter_map(failure).collect();
    let of_fitted =
        experiments.iter().filter(|looked| !looked.validation).flat_map(|looked| looked.outputs.iter().flatten());
    let fits: Vec<OutputFit> = of_fitted.map(|output| output.fit.clone()).collect();
    let is_of_control =
        specification.control.is_some() && specification.data.is_none() && specification.experiments.is_empty();
    let mut warnings: Vec<String> = match is_of_control {
        true => Vec::new(),
        false => experiments.iter().flat_map(Looked::warnings).collect(),
    };
    if is_of_control {
        warnings.push("no record is compared: this problem is for costate control, which looks for its signals".into());
    } else {
        wrong.extend(flat::nothing_varies(problem, &fits));
    }
    warnings.extend(twice(specification).into_iter().chain(at_bounds(problem)));
    let (mut cost, mut gradient, mut duration) = (f64::NAN, Vec::new(), None);
    let mut identified = Err("the model cannot be run at the start".to_string());
    if is_of_control {
        identified = Err("the unknowns of this problem are signals: nothing is asked of parameters".to_string());
    } else if problem.free().is_empty() {
        wrong.push("all parameters are fixed: nothing can be identified; free at least one".to_string());
    } else if experiments.iter().all(|looked| looked.outputs.is_ok()) {
        match derivatives(problem) {
            Ok((value, entries)) => (cost, gradient) = (value, entries),
            Err(error) => wrong.push(remedy::sentence(&error)),
        }
        let began = Instant::now();
        identified = identifiability(problem, &problem.start).map_err(|error| remedy::sentence(&error));
        let seconds = began.elapsed().as_secs_f64();
        if let Ok(found) = &identified {
            warnings.extend(flat::unseen(problem, found, &problem.start, &|_| true).iter().map(remedy::in_words));
        }
        match &identified {
            Ok(found) if found.undetermined.is_empty() && found.without_influence.is_empty() => {
                let by_steps_alone = found.by_steps_alone(problem, &problem.start).unwrap_or_default();
                wrong.extend(said_of_steps_alone(problem, &by_steps_alone));
                warnings.extend(found.warnings());
            }
            // what a motion does not tell of a robot is no mistake: a linear fit finds the combinations that it tells, and leaves the rest
            Ok(found) if problem.is_of_given_motions() => warnings.extend(found.warnings()),
            Ok(found) => wrong.extend(found.warnings()),
            // other costs have no statistics
            Err(_) if problem.least_squares().is_none() => {}
            Err(error) => wrong.push(error.clone()),
        }
        duration = Duration::measure(problem, specification.method, seconds).ok();
    }
    let responses = match ResponseResult::all(problem, &problem.start) {
        Ok(responses) => responses,
        Err(error) => {
            wrong.push(error.to_string());
            Vec::new()
        }
    };
    warnings.extend(responses.iter().filter_map(ResponseResult::doubt));
    warnings.extend(problem.told_of_modes_that_meet(&problem.start));
    warnings.extend(problem.told_of_kinks(&problem.start).ok().flatten());
    warnings.extend(problem.told_of_jumps(&problem.start).ok().flatten());
    let files = Vec::new();
    let chooses_steps = specification.steps() == Steps::Chosen && !problem.is_of_given_motions();
    if let Some(before) = before_fit.as_ref().filter(|_| !chooses_steps) {
        warnings.push(before.warning());
    }
    Ok(Found {
        before_fit,
        files,
        experiments,
        cost,
        gradient,
        identifiability: identified,
        responses,
        duration,
        chooses_steps,
        notes,
        warnings,
        wrong,
    })
}

/// The cost at the start, and its derivatives by free parameters times their sizes.
fn derivatives(problem: &Problem) -> Result<(f64, Vec<(usize, f64)>)> {
    let mut slope = vec![0.0; problem.start.len()];
    let cost = problem.gradient_by_free()?.cost_and_gradient(&problem.start, Method::Adjoint, &mut slope)?;
    let mut entries: Vec<(usize, f64)> = problem.free().into_iter().map(|k| (k, slope[k] * problem.size(k))).collect();
    if let Some((k, _)) = entries.iter().find(|(_, entry)| !entry.is_finite()) {
        let what = format!("the derivative by `{}`", problem.parameters[*k].name);
        return Err(Error::invalid(what, "it is not finite at the start", "check its start and bounds"));
    }
    entries.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
    Ok((cost, entries))
}

fn document(problem: &Problem, found: &Found) -> Value {
    let entry = |&(k, entry): &(usize, f64)| {
        let parameter = &problem.parameters[k];
        json!({"name": parameter.name, "unit": parameter.unit, "start": problem.start[k], "size": problem.size(k), "scaled": entry})
    };
    let identifiability = match &found.identifiability {
        Ok(found) => {
            let mut document = found.json();
            document["rank"] = json!(found.rank());
            document
        }
        Err(reason) => json!({"missing_because": reason}),
    };
    json!({
        "model": problem.name,
        "passed": found.wrong.is_empty(),
        "steps": problem.steps(),
        "input_files": found.files,
        "chooses_steps": found.chooses_steps,
        "steps_before_fit": found.before_fit.as_ref().map(BeforeFit::json),
        "experiments": found.experiments.iter().map(Looked::json).collect::<Vec<_>>(),
        "responses": found.responses.iter().map(ResponseResult::json).collect::<Vec<_>>(),
        "cost": found.cost,
        "gradient": found.gradient.iter().map(entry).collect::<Vec<_>>(),
        "identifiability": identifiability,
        "duration": found.duration.as_ref().map(Duration::json),
        "notes": found.notes,
        "warnings": found.warnings,
        "wrong": found.wrong,
    })
}
