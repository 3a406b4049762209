//! `costate identify`: the main job.

use super::bootstrap;
use super::certainty;
use super::console::{counted, print, print_document, tell, tell_error, waiting};
use super::duration::usual;
use super::progress::{self, Progress};
use super::remedy;
use super::repeat::{self, Repeat};
use super::result::Earlier;
use super::settings::{self, ProblemArguments};
use super::{ExitStatus, is_for, kept, unfinished, watch_for_interrupt};
use costate::noise::{NoiseLevel, SyntheticNoise};
use costate::parallel::both;
use costate::shown::rounded;
use costate::{Interrupt, scheme};
use costate_identify::constraint::{ConstraintResult, ConstraintSetting};
use costate_identify::homotopy::Homotopy;
use costate_identify::likelihood::NoiseEstimate;
use costate_identify::modal::ModeResult;
use costate_identify::optimise::{Curvature, Flow, Iteration, Options, Outcome};
use costate_identify::prior::PriorResult;
use costate_identify::problem::Problem;
use costate_identify::registry::Registry;
use costate_identify::response::ResponseResult;
use costate_identify::specification::Specification;
use costate_identify::statistics::{Noise, Statistics, fits, identifiability, said_of_steps_alone};
use costate_identify::steps::{Fit, Steps, identify_with_steps};
use costate_identify::work::Team;
use costate_identify::{Error, Means, Result};
use costate_identify::{Identification, Settings};
use costate_report::{
    Certainty, Folder, Origin, command_line, date, parameter_table, parameter_table_with_errors, problem_errors,
    result_json,
};
use std::cell::RefCell;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args, Debug, Default, PartialEq)]
pub(super) struct Arguments {
    #[command(flatten)]
    pub problem: ProblemArguments,
    /// lm, gauss-newton, bfgs, l-bfgs, ding, newton-tr, dfp, steepest-descent, steepest-descent-fixed; or a solver of argmin, such as argmin:nelder-mead
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    #[command(flatten)]
    freedom: settings::Freedom,
    /// Keep to a rule: "m_1 + m_2 = 3.5", "peak a <= 12"; repeatable
    #[arg(long = "constraint", value_name = "RULE", allow_hyphen_values = true)]
    constraints: Vec<String>,
    /// `given`: deviations are those of the noise; `estimated`: up to a factor [default]
    #[arg(long, value_name = "NAME")]
    noise: Option<String>,
    /// Add noise of this seed to a simulated reference [default: 1]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::seed)]
    noise_seed: Option<u64>,
    /// Size of that noise: 0.01 of each output's spread, or deviations: name=value,..
    #[arg(long, value_name = "LEVEL", allow_hyphen_values = true)]
    noise_level: Option<String>,
    /// Stop after so many simulations
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    max_evaluations: Option<usize>,
    /// Stop after so many iterations
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    max_iterations: Option<usize>,
    /// Pull the model towards its record, less and less, in so many stages [5]
    #[arg(
        long,
        value_name = "STAGES",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "5",
        value_parser = settings::count
    )]
    homotopy: Option<usize>,
    #[command(flatten)]
    pub certainty: certainty::CertaintyArguments,
    #[command(flatten)]
    pub bootstrap: bootstrap::BootstrapArguments,
    /// Folder for results and figures [default: out/NAME of the problem file or model; none with --json]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Figures as PNG, too
    #[arg(long)]
    pub png: bool,
    /// Everything in one page for reading and printing, too: report.html
    #[arg(long)]
    pub report: bool,
    /// Print the result as JSON
    #[arg(long)]
    pub json: bool,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments, team: Option<&Team<'_>>) -> Result<ExitStatus> {
    match arguments.problem.result_alone() {
        Some(result) => repeat::run(registry, (arguments, team), result),
        None => search(registry, (arguments, team), None),
    }
}

/// Seconds beside a search that are worth a line.
const UNTOLD: f64 = 2.0;

/// A line on the problem that is fitted.
fn in_a_line(problem: &Problem) -> String {
    format!(
        "{}: {} a simulation by {}, {}",
        problem.name,
        counted(problem.steps(), "step"),
        scheme::in_words(problem.first().simulation.scheme()),
        counted(problem.free().len(), "free parameter"),
    )
}

impl Arguments {
    /// True if there is work that is divided, and kept as it is done.
    pub fn is_divided(&self) -> bool {
        self.certainty.is_divided() || self.bootstrap.is_divided()
    }
}

/// Runs the identification that is asked for, once more if it `repeats` an earlier run.
pub(super) fn search(
    registry: &Registry,
    (arguments, team): (&Arguments, Option<&Team<'_>>),
    repeats: Option<&Repeat>,
) -> Result<ExitStatus> {
    if !arguments.is_divided() && !is_for(team) {
        return Ok(ExitStatus::Success);
    }
    let specification = stated(arguments)?;
    refuse_control(&specification)?;
    // checksums of long records take as long as reading them
    let (origin, built) =
        both(|| origin(registry, arguments, &specification), || specification.build_with_notes(registry));
    let (mut problem, notes) = built?;
    repeats.map_or(Ok(()), |repeat| repeat.warn_of_changes(&problem))?;
    let mut origin = Origin { notes: settings::say_of(notes, &problem), ..origin? };
    if let Some(repeat) = repeats {
        origin.command.clone_from(&repeat.command);
    }
    let interrupt = watch_for_interrupt();
    let settings = settings_of(&specification, &problem, &interrupt);
    let (method, reason) = settings.method_for(&problem);
    let folder = if team.is_none_or(Team::is_first) { folder(arguments, &problem)? } else { None };
    folder.iter().try_for_each(|folder| folder.check_memory(&problem.first().simulation))?;
    folder.iter().for_each(|folder| tell_of_replaced(folder, &origin.command));
    arguments.certainty.check(&problem)?;
    arguments.bootstrap.check(&problem)?;
    let work = unfinished::work(arguments, &problem, &settings, &origin, (folder.as_ref(), team))?;
    warn_of_unidentifiable(&problem, &repeats.and_then(Repeat::steps).unwrap_or_else(|| specification.steps()));
    let many = match arguments.certainty.search(&mut problem, &settings, &work) {
        Err(error) if interrupt.is_raised() => return Ok(interrupted(&error)),
        other => other?,
    };
    let sentence = format!("{}\nmethod: {} ({reason})", in_a_line(&problem), method.name());
    let begun = Instant::now();
    let mut progress = Progress::begin(&sentence, usual(method.name()).map(|usual| usual.evaluations));
    let steps = repeats.and_then(Repeat::steps).unwrap_or_else(|| specification.steps());
    let noise = specification.noise.unwrap_or_default();
    let fit = fit(&mut problem, &settings, (noise, &steps), folder.as_ref(), &mut progress);
    progress.finish();
    let Fit { found, statistics } = match fit {
        Err(error) if interrupt.is_raised() => return Ok(interrupted(&error)),
        other => other?,
    };
    // statistics say so where there are any
    if problem.least_squares().is_none() {
        let jumps = problem.told_of_jumps(&found.values()).ok().flatten();
        jumps.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    }
    if !matches!(&statistics, Err(error) if error.is_interruption()) {
        warn_of_coarse_validation(&problem, &found, &specification);
    }
    let method = method.name();
    let profiles = arguments.certainty.profile(&problem, &found, &statistics, &settings, &work);
    let further = arguments.bootstrap.further(&problem, &found, &statistics, &settings, &work)?;
    let mut document = result_json(&problem, method, &found, &statistics);
    document["reason"] = remedy::joined(&found.reasons()).into();
    arguments.certainty.extend_json(&problem, many.as_ref(), profiles.as_ref(), &mut document);
    further.extend_json(&mut document);
    origin.extend_json(&settings, &mut document);
    let same = repeats.map(|repeat| repeat.compare(&found, arguments.json, &mut document));
    let profiled = profiles.as_ref().and_then(|profiles| profiles.as_ref().ok());
    let (bootstrap, bands) = further.found();
    let certainty = Certainty { starts: many.as_ref(), profiles: profiled, bootstrap, bands };
    let write =
        |folder: &Folder| folder.identification_with(&problem, &found, &statistics, &certainty, document.clone());
    let waiting = waiting("figures", 0);
    let written = written(folder.as_ref(), write);
    drop(waiting);
    let is_cut =
        interrupt.is_raised() && (!found.outcome.converged || matches!(profiles, Some(Err(_))) || further.is_cut());
    if is_cut && arguments.is_divided() {
        tell(&work.remedy());
    }
    let written = match is_cut {
        true => written,
        false => written.and_then(|()| work.end()),
    };
    // a full disk must not cost the result
    if arguments.json {
        print_document(&format!("{document:#}"));
    } else {
        print(&summary(&problem, &found, &statistics, folder.as_ref().filter(|_| written.is_ok())));
        profiles.iter().for_each(|profiles| print(&format!("\n{}", certainty::profile_text(profiles))));
        further.texts().iter().for_each(|text| print(&format!("\n{text}")));
        let all = begun.elapsed().as_secs_f64();
        if all > found.seconds + UNTOLD {
            print(&format!("{} s in all, with statistics and figures", rounded(all, 3)));
        }
    }
    let good = found.outcome.converged && !is_cut && same != Some(ExitStatus::Failure);
    let verdict = kept(written);
    Ok(if good { verdict } else { ExitStatus::Failure })
}

/// Writes into the folder, if there is one, and says whether a report of the run before goes.
fn written(folder: Option<&Folder>, write: impl FnOnce(&Folder) -> Result<()>) -> Result<()> {
    let Some(folder) = folder else { return Ok(()) };
    let removes_report = folder.removes_report();
    write(folder)?;
    if removes_report {
        tell(&format!(
            "note: report.html was that of the run before, and is removed; one of this run: costate report {}",
            folder.path().display()
        ));
    }
    Ok(())
}

/// Settings of the search.
fn settings_of(specification: &Specification, problem: &Problem, interrupt: &Interrupt) -> Settings {
    let names = problem.free().into_iter().map(|k| problem.parameters[k].name.clone()).collect();
    let trace = progress::trace(names);
    let options = Options { interrupt: interrupt.clone(), trace, ..specification.options.clone() };
    let constraints = specification.constraint_options.clone();
    let homotopy = specification.homotopy.clone();
    Settings { method: specification.method, options, constraints, homotopy, ..Settings::default() }
}

/// Says that it was interrupted.
fn interrupted(error: &Error) -> ExitStatus {
    tell_error(&remedy::sentence(error));
    ExitStatus::Failure
}

/// The search itself; what is found with finer steps must fit into the folder, too.
fn fit(
    problem: &mut Problem,
    settings: &Settings,
    (noise, steps): (Noise, &Steps),
    folder: Option<&Folder>,
    progress: &mut Progress,
) -> Result<Fit> {
    let progress = RefCell::new(progress);
    let mut show = |iteration: &Iteration| {
        progress.borrow_mut().show(iteration);
        Flow::Continue
    };
    identify_with_steps(problem, settings, noise, steps, &mut show, &mut |finer, sentence| {
        progress.borrow().tell(sentence);
        folder.iter().try_for_each(|folder| folder.check_memory(&finer.first().simulation))
    })
}

/// The folder that is asked for, or else one in `out`; none where the result is printed alone.
fn folder(arguments: &Arguments, problem: &Problem) -> Result<Option<Folder>> {
    if arguments.report && arguments.json && arguments.out.is_none() {
        let problem = "with --json alone, nothing is written";
        return Err(Error::invalid("--report", problem, "say where with --out, or leave out --json"));
    }
    let usual = arguments.problem.folder_name(&problem.name, "");
    let folder = settings::results(arguments.out.as_ref(), arguments.json, &usual, arguments.png)?;
    Ok(folder.map(|folder| folder.with_report(arguments.report)))
}

/// Refuses a problem of optimal control, whose goals an identification would overlook.
fn refuse_control(specification: &Specification) -> Result<()> {
    let is_fitted = specification.data.is_some() || !specification.experiments.is_empty();
    if specification.control.is_none() || is_fitted {
        return Ok(());
    }
    let problem = "it belongs to a problem of optimal control, and there is no record to fit";
    let remedy = "run `costate control` on this file; or leave out [control], and name a record";
    Err(Error::invalid("[control]", problem, remedy).under(&["control"]))
}

/// Says which result of another command is going to be replaced.
fn tell_of_replaced(folder: &Folder, command: &str) {
    let Ok(earlier) = Earlier::read(folder.path()) else { return };
    let [before, date] = ["command", "date"].map(|key| earlier.document[key].as_str());
    if let Some(before) = before.filter(|before| *before != command) {
        let date = date.map_or(String::new(), |date| format!(" of {date}"));
        let path = folder.path().display();
        tell(&format!(
            "note: the result in {path}{date}, of `{before}`, is going to be replaced; --out writes elsewhere"
        ));
    }
}

/// Origin of the result, without notes: determined before the search, which may take long, and after which files may be others.
fn origin(registry: &Registry, arguments: &Arguments, specification: &Specification) -> Result<Origin> {
    let entry = settings::entry(registry, specification)?;
    Ok(Origin {
        summary: entry.summary.clone(),
        command: command_line(std::env::args_os().map(|word| word.to_string_lossy().into_owned())),
        date: date()?,
        input_files: arguments.problem.input_files(specification, &entry),
        notes: Vec::new(),
    })
}

/// Says before the work begins what it cannot find out, with the steps that it begins with: one more run with tangents, so for few parameters only.
fn warn_of_unidentifiable(problem: &Problem, steps: &Steps) {
    const FEW: usize = 20;
    if problem.least_squares().is_none() || !(1..=FEW).contains(&problem.free().len()) {
        return;
    }
    // a simulation that fails here fails in the identification, too, which says so
    let Ok(mut found) = identifiability(problem, &problem.start) else { return };
    let mut by_steps_alone = found.by_steps_alone(problem, &problem.start).unwrap_or_default();
    // coarser steps than those of the fit make errors that it never meets
    if !by_steps_alone.is_empty()
        && let Some(finer) = steps.before(problem).and_then(|before| before.taken(problem))
        && let Ok(at_finer) = identifiability(&finer, &finer.start)
    {
        by_steps_alone = at_finer.by_steps_alone(&finer, &finer.start).unwrap_or_default();
        found = at_finer;
    }
    let mut warnings = said_of_steps_alone(problem, &by_steps_alone);
    warnings.extend(found.warnings());
    warnings.iter().for_each(|warning| tell(&format!("warning, at the start: {warning}")));
}

/// The problem file's statements, with those of the command line over them.
fn stated(arguments: &Arguments) -> Result<Specification> {
    let mut specification = arguments.problem.specification()?;
    if let Some(name) = &arguments.method {
        specification.method = Some(name.parse()?);
    }
    if let Some(name) = &arguments.noise {
        specification.noise = Some(name.parse()?);
    }
    for rule in &arguments.constraints {
        specification.constraints.push(ConstraintSetting::parse(rule)?);
    }
    synthetic_noise(arguments, &mut specification)?;
    arguments.freedom.set(&mut specification)?;
    for (key, given) in [("max_evaluations", arguments.max_evaluations), ("max_iterations", arguments.max_iterations)] {
        if given.is_some() {
            specification.lines.forget(&["optimiser", key]);
        }
    }
    let options = &mut specification.options;
    options.max_evaluations = arguments.max_evaluations.unwrap_or(options.max_evaluations);
    options.max_iterations = arguments.max_iterations.unwrap_or(options.max_iterations);
    if let Some(stages) = arguments.homotopy {
        let homotopy = Homotopy { stages, ..specification.homotopy.unwrap_or_default() };
        homotopy.validate()?;
        specification.homotopy = Some(homotopy);
    }
    Ok(specification)
}

/// Noise on the simulated reference: seed and level each over that of the problem file.
fn synthetic_noise(arguments: &Arguments, specification: &mut Specification) -> Result<()> {
    let level = match &arguments.noise_level {
        None => specification.synthetic_noise.as_ref().map(|noise| noise.level.clone()),
        Some(text) if text.contains('=') => {
            Some(NoiseLevel::Absolute(settings::assignments("--noise-level", std::slice::from_ref(text))?))
        }
        Some(text) => Some(NoiseLevel::Relative(settings::number(text).map_err(|problem| {
            let percent = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
            let remedy = match percent {
                Some(percent) => format!("write it as a part of the spread: {}", percent / 100.0),
                None => "give a part of the spread, such as 0.01, or deviations: name=value,..".to_string(),
            };
            Error::invalid(format!("--noise-level {text}"), problem, remedy)
        })?)),
    };
    let seed = arguments.noise_seed.or(specification.synthetic_noise.as_ref().map(|noise| noise.seed));
    specification.synthetic_noise = match (level, seed) {
        (Some(level), seed) => Some(SyntheticNoise { seed: seed.unwrap_or(1), level }),
        (None, None) => None,
        (None, Some(_)) => {
            let problem = "the noise has a seed, but no level";
            return Err(Error::invalid("--noise-seed", problem, "give --noise-level, too, such as 0.01"));
        }
    };
    Ok(())
}

/// What is printed of a result.
pub(super) fn summary(
    problem: &Problem,
    found: &Identification,
    statistics: &Result<Statistics>,
    folder: Option<&Folder>,
) -> String {
    let outcome = &found.outcome;
    let table = match statistics {
        Ok(statistics) => parameter_table_with_errors(found, statistics),
        Err(_) => parameter_table(found),
    };
    let mut lines = vec![table, String::new()];
    let verdict = if outcome.converged { "converged" } else { "NOT converged" };
    if !found.constraints.is_empty() {
        lines.extend([ConstraintResult::table(&found.constraints), String::new()]);
    }
    lines.push(format!("{verdict}: {}", remedy::joined(&found.reasons())));
    let first = outcome.history.first().map_or(f64::NAN, |start| start.cost);
    lines.push(format!("cost {:.6e} (from {first:.6e}), scaled gradient {:.2e}", outcome.cost, outcome.gradient_norm));
    if let Some(bodies) = statistics.as_ref().ok().and_then(Statistics::body_table) {
        lines.insert(1, format!("\n{bodies}"));
    }
    lines.extend(found.homotopy.as_ref().map(|homotopy| homotopy.report()));
    lines.extend(priors(problem, found, statistics.as_ref().ok()));
    lines.extend(modes(problem, found));
    lines.extend(responses(problem, found));
    match statistics {
        Ok(statistics) => {
            let means = statistics.is_noise_free.then_some(Means::NoiseOrDeviations);
            lines.push(statistics.summary() + &means.as_ref().map(remedy::appended).unwrap_or_default());
            lines.extend(statistics.warnings.iter().map(|warning| format!("warning: {warning}")));
        }
        Err(error) if error.is_interruption() => {
            lines.push(
                "no statistics and no figures of outputs, which take further simulations: interrupted".to_string(),
            );
        }
        Err(reason) => {
            lines.extend(root_mean_squares(problem, found));
            let sentence = remedy::sentence(reason);
            let own = format!("the statistics of `{}`: ", problem.name);
            lines.push(format!("no statistics: {}", sentence.strip_prefix(&own).unwrap_or(&sentence)));
        }
    }
    lines.extend(found.noise.as_ref().map(NoiseEstimate::report));
    lines.extend(validation(problem, found));
    lines.extend(found.impossible.iter().map(|sentence| format!("warning: {sentence}")));
    lines.push(format!(
        "{}, {}{}, {:.2} s",
        counted(outcome.iterations, "iteration"),
        counted(outcome.evaluations, "evaluation"),
        second_derivatives(outcome),
        found.seconds
    ));
    lines.extend(curvatures(outcome));
    if outcome.failed_evaluations > 0 {
        let first = found.first_failure.as_deref().unwrap_or("not finite");
        lines.push(format!("{} simulations failed and were rejected; the first: {first}", outcome.failed_evaluations));
    }
    if let Some(folder) = folder {
        let page = if folder.has_report() { ", report.html" } else { "" };
        let path = folder.path().display();
        let outputs = if problem.all().nth(1).is_none() { "outputs.csv" } else { "outputs@*.csv" };
        lines.push(format!("written to {path}: result.json, history.csv, {outputs}, figures{page}"));
    }
    lines.join("\n")
}

/// Report on the priors, if there are any.
fn priors(problem: &Problem, found: &Identification, statistics: Option<&Statistics>) -> Option<String> {
    let results = PriorResult::all(problem, &found.values(), statistics);
    (!results.is_empty()).then(|| PriorResult::report(&results, found.outcome.cost))
}

/// Report on measured modes, if there are any.
fn modes(problem: &Problem, found: &Identification) -> Option<String> {
    // the search has ended where they are
    let results = ModeResult::all(problem, &found.values()).unwrap_or_default();
    (!results.is_empty()).then(|| ModeResult::report(&results))
}

/// Report on measured frequency responses, if there are any.
fn responses(problem: &Problem, found: &Identification) -> Option<String> {
    let results = ResponseResult::all(problem, &found.values()).unwrap_or_default();
    (!results.is_empty()).then(|| ResponseResult::report(&results))
}

/// Numbers of second derivatives that were computed besides the evaluations, if any.
fn second_derivatives(outcome: &Outcome) -> String {
    let count = |count: usize, name: &str| if count > 0 { format!(", {count} {name}") } else { String::new() };
    count(outcome.hessians, "Hessians") + &count(outcome.hessian_products, "products with the Hessian")
}

/// Says how many steps met a Hessian that has no inverse worth taking.
fn curvatures(outcome: &Outcome) -> Option<String> {
    let count = |wanted: Curvature| outcome.history.iter().filter(|i| i.curvature == Some(wanted)).count();
    let met = [Curvature::Negative, Curvature::Singular, Curvature::Unknown].map(|c| (c, count(c)));
    let met: Vec<String> =
        met.iter().filter(|(_, n)| *n > 0).map(|(c, n)| format!("{n} with {} curvature", c.name())).collect();
    (!met.is_empty()).then(|| format!("of these steps began {}", met.join(", ")))
}

/// Root mean square errors, a line for each compared output.
fn root_mean_squares(problem: &Problem, found: &Identification) -> Vec<String> {
    let errors = problem_errors(problem, &found.values());
    errors.unwrap_or_default().iter().map(ToString::to_string).collect()
}

/// Warns of records that are not fitted whose errors are those of time steps: the steps were chosen for the others.
fn warn_of_coarse_validation(problem: &Problem, found: &Identification, specification: &Specification) {
    let u = found.values();
    let finer = remedy::in_words(&specification.finer_steps());
    // that it fails, is said where it is printed
    let Ok(fits) = fits(problem, &problem.validation, &u) else { return };
    let coarse = problem.told_by_finer_steps(&problem.validation, &u, (&fits, &finer));
    coarse.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
}

/// A line for each output that is compared, but not fitted.
fn validation(problem: &Problem, found: &Identification) -> Vec<String> {
    match fits(problem, &problem.validation, &found.values()) {
        Ok(found) => found.iter().map(|output| format!("validation: {}", output.line())).collect(),
        Err(error) => vec![format!("warning: no validation: {}", remedy::sentence(&error))],
    }
}
