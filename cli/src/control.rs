//! `costate control`: inputs over time that reach goals.

use super::console::{counted, print, print_document, tell, tell_error};
use super::duration::usual_of_control;
use super::output::Output;
use super::progress::{self, Progress};
use super::remedy;
use super::settings::{self, ProblemArguments};
use super::{ExitStatus, kept, watch_for_interrupt};
use costate::shown::{rounded, shown};
use costate::{InitialState, Signal, Simulation, scheme};
use costate_identify::control::{
    Control, ControlScenario, Nodes, Refined, RefinementEvent, Shape, Solution, Stage, UnknownSignal, Violation, refine,
};
use costate_identify::design::{Assessment, Optimality, Sought};
use costate_identify::optimise::{Flow, Method, Options};
use costate_identify::registry::{Entry, Registry, is_file};
use costate_identify::specification::Specification;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use costate_report::{Folder, control_json, information_json};
use serde_json::Value;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// lm, newton-tr, ding, bfgs, l-bfgs, dfp, steepest-descent[-fixed]
    #[arg(long, value_name = "NAME")]
    method: Option<String>,
    /// Intervals between the nodes of every unknown input
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    intervals: Option<usize>,
    /// Shape of every unknown input: constant, linear, cubic, fourier
    #[arg(long, value_name = "NAME")]
    shape: Option<String>,
    /// Find the solution once more with half the step, so often
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    refine: Option<usize>,
    /// End at this cost
    #[arg(long, value_name = "COST", allow_hyphen_values = true, value_parser = settings::number)]
    target: Option<f64>,
    /// Tolerance of constraints and goals that must be met, in units of the output; of rates, beside the limit
    #[arg(long, value_name = "X", default_value = "1e-6", allow_hyphen_values = true, value_parser = settings::number)]
    constraint_tolerance: f64,
    /// Largest change of outputs at half the step, beside their range
    #[arg(long, value_name = "X", default_value = "0.02", allow_hyphen_values = true, value_parser = settings::number)]
    replay_tolerance: f64,
    /// Stop after so many iterations, those of all refinements and rounds together
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = settings::count)]
    max_iterations: Option<usize>,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    check(arguments)?;
    let mut specification = arguments.problem.specification()?;
    let entry = settings::entry(registry, &specification)?;
    if specification.control.is_none() {
        specification.step = specification.step.or(entry.control.as_ref().and_then(|scenario| scenario.step));
    }
    specification.refuse_identification()?;
    specification.refuse_tolerance("signals are found at steps that stay as they are")?;
    let (simulation, _, notes) = specification.simulation_with_notes(registry)?;
    settings::say(notes, &simulation);
    let scenario = scenario(registry, &entry, &specification, &simulation, arguments)?;
    let method = match &arguments.method {
        Some(name) => name.parse()?,
        None => specification.method.unwrap_or(scenario.method),
    };
    let interrupt = watch_for_interrupt();
    let trace = progress::trace(Vec::new());
    let stated = match arguments.problem.file() {
        Some(_) => specification.options.clone(),
        None => Options::of_control(),
    };
    let mut options = Options { interrupt: interrupt.clone(), trace, ..stated };
    options.cost_target = arguments.target.unwrap_or(options.cost_target.max(scenario.target));
    options.max_iterations = arguments.max_iterations.unwrap_or(options.max_iterations);
    let begun = Instant::now();
    let search = ControlSearch {
        specification: &specification,
        scenario: &scenario,
        simulation: &simulation,
        method,
        arguments,
        options: &options,
    };
    // what is refused leaves no folder behind
    search.control(entry.name(), 1, None)?;
    let folder = arguments.output.folder(&arguments.problem.folder_name(entry.name(), "control"))?;
    let refined = match search.run(entry.name()) {
        Err(error) if interrupt.is_raised() => {
            tell_error(&remedy::sentence(&error));
            return Ok(ExitStatus::Failure);
        }
        other => other?,
    };
    let Refined { control, solution, .. } = &refined;
    let mut document = control_json(&refined, method, arguments.replay_tolerance);
    document["reason"] = remedy::in_words(&solution.outcome.reason.remedy()).into();
    // what was found is worth more than what is said of it
    let or_told = |error: Error| tell(&format!("warning: {}", remedy::sentence(&error)));
    let jumps = control.told_of_jumps(&solution.outcome.u).map_err(or_told).unwrap_or_default();
    jumps.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let beyond = control.beyond_limits(&solution.outcome.u).map_err(or_told).unwrap_or_default();
    document["soft_limits"] = serde_json::json!(beyond);
    let informed = search.informed(&refined).map_err(or_told).unwrap_or_default();
    if let Some((sought, [start, found])) = &informed {
        document["information"] = information_json(sought, [start, found]);
    }
    let written = folder.as_ref().map(|folder| search.write(folder, &refined, document.clone())).transpose();
    if arguments.output.json {
        print_document(&format!("{document:#}"));
    } else {
        print(&summary(&refined, arguments, begun.elapsed().as_secs_f64()));
        limits(&beyond).iter().for_each(|lines| print(lines));
        informed.iter().for_each(|(sought, assessments)| print(&known(sought, assessments)));
        if let Some(folder) = folder.as_ref().filter(|_| written.is_ok()) {
            let path = folder.path().display();
            print(&format!("written to {path}: result.json, signals.csv, outputs.csv, history.csv, figures"));
            print(&read_back(&entry, &specification.model, (control, solution), &path.to_string()));
            if scenario.signals.iter().any(|signal| is_motion(signal, &simulation)) {
                // splines are parameters, which the record of signals does not hold
                let [model, path] = [&specification.model, &path.to_string()].map(|name| in_quotes(name));
                print(&format!("to see it before anything plays it: costate animate {model} --from {path}"));
            }
        }
    }
    let good = solution.outcome.converged && solution.is_met && solution.replay.survives(arguments.replay_tolerance);
    let verdict = kept(written.map(|_| ()));
    Ok(if good { verdict } else { ExitStatus::Failure })
}

fn check(arguments: &Arguments) -> Result<()> {
    for (name, value) in
        [("--constraint-tolerance", arguments.constraint_tolerance), ("--replay-tolerance", arguments.replay_tolerance)]
    {
        if value <= 0.0 {
            return Err(Error::invalid(name, format!("it is {value}"), "give a positive number"));
        }
    }
    Ok(())
}

/// The problem of the file, or the model's own one, with what the command line says.
fn scenario(
    registry: &Registry,
    entry: &Entry,
    specification: &Specification,
    simulation: &Simulation,
    arguments: &Arguments,
) -> Result<ControlScenario> {
    let mut scenario = match &specification.control {
        Some(setting) => setting.scenario(simulation, registry).map_err(|error| specification.locate(error))?,
        None => built_in(registry, entry)?,
    };
    scenario.notes.iter().for_each(|note| tell(&format!("note: {note}")));
    let signals = specification.control.iter().flat_map(|control| &control.signals);
    let acts = |signal: &UnknownSignal| {
        let place = simulation.signature().inputs.iter().position(|input| input.name == signal.input);
        place.is_some_and(|k| (0..=simulation.steps()).any(|i| simulation.inputs_at(i)[k] != 0.0))
    };
    for (signal, _) in signals.filter(|(signal, start)| start.is_none() && acts(signal)) {
        tell(&format!("note: `{}` begins as the model's own signal; start = 0.0 begins without it", signal.input));
    }
    adjust(&mut scenario, simulation, arguments)?;
    scenario.quadrature = specification.quadrature.unwrap_or(scenario.quadrature);
    Ok(scenario)
}

fn is_motion(signal: &UnknownSignal, simulation: &Simulation) -> bool {
    simulation.signature().motions.iter().any(|motion| motion.quantity.name == signal.input)
}

/// The model's own control problem.
fn built_in(registry: &Registry, entry: &Entry) -> Result<ControlScenario> {
    entry.control.clone().ok_or_else(|| {
        let own = registry.entries().iter().filter(|entry| entry.control.is_some());
        let names: Vec<&str> = own.map(Entry::name).collect();
        let problem = "it has no built-in control problem";
        let remedy = format!(
            "write a problem file with [[control.signal]] and [[control.goal]], or take a model that has one ({})",
            names.join(", ")
        );
        Error::invalid(format!("model `{}`", entry.name()), problem, remedy)
    })
}

/// More halvings of the step are a slip.
const MOST_REFINEMENTS: usize = 8;

/// Applies the command line's settings of all inputs.
fn adjust(scenario: &mut ControlScenario, simulation: &Simulation, arguments: &Arguments) -> Result<()> {
    let shape = arguments.shape.as_deref().map(Shape::by_name).transpose()?;
    for signal in scenario.signals.iter_mut().filter(|signal| !is_motion(signal, simulation)) {
        signal.shape = shape.unwrap_or(signal.shape);
        if let Some(count) = arguments.intervals {
            signal.nodes = Nodes::Intervals(count);
        }
    }
    scenario.refinements = arguments.refine.unwrap_or(scenario.refinements);
    if scenario.refinements > MOST_REFINEMENTS {
        let problem =
            format!("{} halvings make {} steps of one", scenario.refinements, 2f64.powi(scenario.refinements as i32));
        return Err(Error::invalid("--refine", problem, format!("halve it {MOST_REFINEMENTS} times at most")));
    }
    Ok(())
}

/// A search with its refinements.
struct ControlSearch<'a> {
    specification: &'a Specification,
    scenario: &'a ControlScenario,
    simulation: &'a Simulation,
    method: Method,
    arguments: &'a Arguments,
    options: &'a Options,
}

impl ControlSearch<'_> {
    /// The problem with each interval of the signals in so many parts, from these signals or the scenario's own.
    fn control(&self, name: &str, parts: usize, start: Option<Vec<Signal>>) -> Result<Control> {
        let start = start.unwrap_or_else(|| self.scenario.start.clone());
        let control = self.scenario.control(name, self.simulation, parts, start);
        let mut control = control.map_err(|error| self.specification.locate(error))?;
        let Control { simulation, parameters, start: values, .. } = &mut control;
        self.specification.set_parameters(simulation.signature(), parameters, values)?;
        Ok(control)
    }

    fn run(&self, name: &str) -> Result<Refined> {
        let mut progress = None;
        let mut problem = |parts, start| self.control(name, parts, start);
        let of = (self.method, self.arguments.constraint_tolerance, self.options);
        let found = refine(self.scenario.refinements, &mut problem, of, &mut |event| {
            match event {
                RefinementEvent::Begin(stage, control) => {
                    progress = Some(Progress::begin(&self.begins(name, control), Some(usual_of_control(stage))));
                }
                RefinementEvent::Iteration(iteration) => {
                    progress.iter_mut().for_each(|progress| progress.show(iteration))
                }
                RefinementEvent::End(stage, goes_on) => {
                    progress = None;
                    if goes_on {
                        tell(&format!("cost {:.6e} after {} iterations", stage.cost, stage.iterations));
                    }
                    lost(stage).iter().for_each(|sentence| tell(sentence));
                }
            }
            Flow::Continue
        });
        if let Some(progress) = &mut progress {
            progress.finish();
        }
        found
    }

    fn begins(&self, name: &str, control: &Control) -> String {
        format!(
            "{name}: {} steps of {} by {}, {} unknowns\nmethod: {}",
            control.simulation.steps(),
            control.simulation.grid().uniform_step().map_or("uneven size".into(), |h| format!("{} s", shown(h))),
            scheme::in_words(control.simulation.scheme()),
            control.unknowns().0,
            self.method
        )
    }

    /// The run at the start of the search, with its parameters.
    fn at_start(&self) -> Result<(Simulation, Vec<f64>)> {
        let at_start = self.simulation.on(self.simulation.grid().clone(), self.scenario.start.clone())?;
        let signature = self.simulation.signature();
        let mut u = signature.nominal();
        self.specification.set_parameters(signature, &mut signature.parameters.clone(), &mut u)?;
        Ok((at_start, u))
    }

    /// What the run at the start and the run that was found say of parameters, if that was sought.
    fn informed(&self, refined: &Refined) -> Result<Option<(Sought, [Assessment; 2])>> {
        let Refined { control, solution, .. } = refined;
        let (Some(setting), Some(found)) = (&self.scenario.information, &control.information) else { return Ok(None) };
        let (at_start, u) = self.at_start()?;
        let start = setting.sought(&at_start, &[])?.assess(&at_start, &u)?;
        let (u, _) = control.expand(&solution.outcome.u);
        let found_there = found.assess(&control.simulation_of(&solution.outcome.u, 1)?, &u)?;
        Ok(Some((found.clone(), [start, found_there])))
    }

    /// Writes results, with the inputs of the start beside those found.
    fn write(&self, folder: &Folder, refined: &Refined, document: Value) -> Result<()> {
        let (at_start, u) = self.at_start()?;
        let times = at_start.grid().times();
        let w: Vec<f64> = (0..times.len()).flat_map(|i| at_start.inputs_at(i).to_vec()).collect();
        folder.control(refined, (times, &w, &u), document)
    }
}

/// Says of a stage that it has lost the solution.
fn lost(stage: &Stage) -> Option<String> {
    let start =
        stage.cost_of_first_start.map_or(String::new(), |start| format!("; the first start costs {start:.6e} on them"));
    let steps = stage.step.map_or(format!("{} steps", stage.steps), |step| format!("steps of {} s", shown(step)));
    stage.lost.then(|| {
        format!(
            "warning: stage {} has lost the solution: on {steps} it begins at a cost of {:.6e} and ends at {:.6e}{start}",
            stage.number, stage.start_cost, stage.cost
        )
    })
}

/// Lines on a refined search, stage by stage.
fn staged(refined: &Refined) -> Vec<String> {
    let Refined { stages, kept, .. } = refined;
    if stages.len() == 1 {
        return Vec::new();
    }
    let row = |stage: &Stage| {
        vec![
            stage.number.to_string(),
            stage.step.map_or_else(|| format!("{} steps", stage.steps), |step| format!("{} s", shown(step))),
            format!("{:.6e}", stage.start_cost),
            format!("{:.6e}", stage.cost),
            stage.iterations.to_string(),
            match stage {
                stage if stage.lost => "solution lost".to_string(),
                stage if stage.converged => "converged".to_string(),
                _ => "not converged".to_string(),
            },
        ]
    };
    let rows: Vec<Vec<String>> = stages.iter().map(row).collect();
    let mut lines = vec![table(&["stage", "step", "cost at its start", "cost", "iterations", ""], &rows)];
    lines.extend(stages.iter().filter_map(lost));
    if *kept < stages.len() {
        lines.push(format!("the solution of stage {kept} is kept: the later one costs more than the start"));
    }
    lines.push(String::new());
    lines
}

/// A path as a shell takes it.
fn in_quotes(path: &str) -> String {
    let is_plain = path.chars().all(|c| c.is_alphanumeric() || "/._-".contains(c));
    if is_plain { path.to_string() } else { format!("'{}'", path.replace('\'', "'\\''")) }
}

/// The command that simulates with what has been found; parameters that are not nominal are those of the result.
fn read_back(entry: &Entry, model: &str, (control, solution): (&Control, &Solution), folder: &str) -> String {
    let (u, _) = control.expand(&solution.outcome.u);
    let mut parameters = control.simulation.signature().parameters.iter().zip(&u);
    let is_changed = parameters.any(|(parameter, value)| parameter.nominal != *value);
    // a file by its path
    let model = if is_file(model) { in_quotes(model) } else { entry.name().to_string() };
    let from = if is_changed { format!(" --from {}", in_quotes(folder)) } else { String::new() };
    let folder = in_quotes(&format!("{folder}/signals.csv"));
    let scheme = control.simulation.scheme();
    let settings: Vec<String> = scheme.settings().iter().map(|(name, value)| format!("{name}={value}")).collect();
    let settings = if settings.is_empty() { String::new() } else { format!(":{}", settings.join(",")) };
    let begins = match control.simulation.start_state() {
        InitialState::AsGiven => String::new(),
        state => format!(" --initial-state {}", state.name()),
    };
    let held: Vec<&str> = control.simulation.held().collect();
    let hold = if held.is_empty() { String::new() } else { format!(" --hold {}", held.join(",")) };
    let inputs = &control.simulation.signature().inputs;
    let (jumping, others): (Vec<usize>, Vec<usize>) = (0..inputs.len()).partition(|&k| control.jumps(k));
    let interpolation = match (jumping.first(), others.is_empty()) {
        (None, _) => "",
        (Some(_), true) => " --interpolation zero-order",
        (Some(&k), false) => {
            return format!(
                "{folder} is read back by a problem file, as some inputs jump and others do not: \
                 inputs.{0} = {{ column = \"{0}\", interpolation = \"zero-order\" }}",
                inputs[k].name
            );
        }
    };
    format!(
        "read back by: costate simulate {model}{from} --scheme {}{settings}{begins}{hold} --data {folder}{interpolation}",
        scheme.name()
    )
}

/// A value for the table of ends: no minus zero, no row of digits.
fn plain(x: f64) -> String {
    if x.abs() >= 1e6 { format!("{x:.6e}") } else { format!("{:.6}", if x.abs() < 5e-7 { 0.0 } else { x }) }
}

/// Lines on what has been met, what it costs, and how long it took.
fn met(solution: &Solution, arguments: &Arguments, seconds: f64) -> Vec<String> {
    let outcome = &solution.outcome;
    let mut lines = Vec::new();
    for violation in &solution.violations {
        let met = if violation.by <= arguments.constraint_tolerance { "met" } else { "NOT met" };
        let (by, unit) = (violation.by, if violation.unit.is_empty() { "" } else { " " });
        let time = shown(violation.time);
        lines.push(format!("{met}: {}, off by {by:.2e}{unit}{} at t = {time} s", violation.what, violation.unit));
    }
    let verdict = if outcome.converged { "converged" } else { "NOT converged" };
    lines.push(format!("{verdict}: {}", remedy::in_words(&outcome.reason.remedy())));
    lines.push(format!(
        "cost {:.6e} (from {:.6e}), scaled gradient {:.2e}",
        outcome.cost, solution.start_cost, outcome.gradient_norm
    ));
    lines.push(format!(
        "{}, {} evaluations{}, {seconds:.2} s",
        counted(outcome.iterations, "iteration"),
        outcome.evaluations,
        if solution.rounds > 1 { format!(", {} rounds of multipliers", solution.rounds) } else { String::new() },
    ));
    lines
}

/// Lines on what has been found: parameters, and the range of each signal.
fn found(control: &Control, solution: &Solution) -> Vec<String> {
    let (u, _) = control.expand(&solution.outcome.u);
    let motions = &control.simulation.signature().motions;
    let mut lines = Vec::new();
    for (k, parameter) in control.parameters.iter().enumerate().filter(|(_, parameter)| parameter.free) {
        if !motions.iter().any(|motion| motion.places().contains(&k)) {
            let (name, unit, start) = (&parameter.name, &parameter.unit, control.start[k]);
            // where the cost would fall farther if it could
            let end = match u[k] {
                value if value == parameter.lower => ", at its lower bound",
                value if value == parameter.upper => ", at its upper bound",
                _ => "",
            };
            lines.push(format!("found: {name} = {:.9} {unit} (from {start}{end})", u[k]));
        }
    }
    for (signal, quantity, values) in control.found(&solution.outcome.u) {
        let largest = values.iter().fold(0.0f64, |size, w| size.max(w.abs()));
        lines.push(format!("largest {}: {largest:.6} {}", signal.input, quantity.unit));
    }
    lines
}

fn summary(refined: &Refined, arguments: &Arguments, seconds: f64) -> String {
    let Refined { control, solution, .. } = refined;
    let rows: Vec<Vec<String>> =
        solution.shares.iter().map(|(name, cost)| vec![name.clone(), format!("{cost:.3e}")]).collect();
    let mut lines = vec![table(&["share of the cost", "value"], &rows), String::new()];
    lines.extend(staged(refined));
    lines.extend(met(solution, arguments, seconds));
    lines.extend(found(control, solution));
    lines.push(String::new());
    lines.extend(replayed(solution, arguments));
    lines.join("\n")
}

/// Lines on soft limits.
fn limits(beyond: &[Violation]) -> Option<String> {
    let line = |own: &Violation| {
        let Violation { what, by, unit, time, .. } = own;
        format!("soft limit: {what}, exceeded by {} {unit} at t = {} s\n", rounded(*by, 3), shown(*time))
    };
    let exceeded: String = beyond.iter().filter(|own| own.by > 0.0).map(line).collect();
    match (beyond.len(), exceeded.is_empty()) {
        (0, _) => None,
        (count, true) => Some(format!("soft limits: all kept ({count})\n")),
        (_, false) => Some(exceeded),
    }
}

/// Lines on the standard errors that a fit would have.
fn known(sought: &Sought, [start, found]: &[Assessment; 2]) -> String {
    let error = |value: f64| if value.is_finite() { rounded(value, 3) } else { "not determined".to_string() };
    let rows = sought.parameters.iter().enumerate().map(|(k, own)| {
        let (before, after) = (start.standard_errors[k], found.standard_errors[k]);
        let gain = before / after;
        let gain = if gain.is_finite() { format!("{}x", rounded(gain, 2)) } else { String::new() };
        vec![format!("{} [{}]", own.name, own.unit), error(before), error(after), gain]
    });
    let means = Optimality::ALL.map(|own| format!("{} {}", own.name(), error(found.mean(own) / start.mean(own))));
    format!(
        "{}\nmeans of the axes of the ellipsoid of errors, beside those at the start: {}\n",
        table(&["standard errors of a fit", "at the start", "found", "less"], &rows.collect::<Vec<_>>()),
        means.join(", ")
    )
}

/// Lines on the replay at half the step.
fn replayed(solution: &Solution, arguments: &Arguments) -> [String; 3] {
    let shifts = &solution.replay.shifts;
    let rows: Vec<Vec<String>> = shifts
        .iter()
        .map(|shift| {
            vec![
                format!("{} [{}]", shift.output, shift.unit),
                plain(shift.end[0]),
                plain(shift.end[1]),
                format!("{:.2e}", shift.largest),
                format!("{:.2} %", 100.0 * if shift.largest > 0.0 { shift.largest / shift.range } else { 0.0 }),
            ]
        })
        .collect();
    let [cost, then] = solution.replay.cost;
    let percent = 100.0 * solution.replay.largest;
    let verdict = match solution.replay.survives(arguments.replay_tolerance) {
        true => format!("the solution survives: outputs move by {percent:.2} % of their range at most"),
        false => format!(
            "the solution does NOT survive: outputs move by {percent:.2} % of their range; take smaller steps (--step, --refine)"
        ),
    };
    [
        table(&["replayed at half the step", "end", "end then", "largest change", "of its range"], &rows),
        format!("cost of the goals {cost:.3e}, then {then:.3e}"),
        verdict,
    ]
}
