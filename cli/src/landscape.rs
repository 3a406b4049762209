//! `costate landscape`: the cost over two parameters, with the ways of methods.

use super::console::{tell, waiting};
use super::output::Output;
use super::remedy;
use super::settings::{self, ProblemArguments, tell_of_deviations};
use super::step_error;
use super::{ExitStatus, watch_for_interrupt};
use costate::shown::{number, rounded};
use costate_identify::Settings;
use costate_identify::landscape::{Area, Landscape, Way};
use costate_identify::optimise::{Method, Options};
use costate_identify::problem::Problem;
use costate_identify::registry::Registry;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use costate_report::{Folder, landscape_json};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    problem: ProblemArguments,
    /// A parameter; all but these two stay where they start
    #[arg(index = 2, value_name = "X")]
    x: Option<String>,
    /// The other parameter
    #[arg(index = 3, value_name = "Y")]
    y: Option<String>,
    /// Methods whose ways are drawn: NAME,..
    #[arg(
        long = "methods",
        value_name = "NAME,..",
        value_delimiter = ',',
        default_value = "lm,bfgs,newton-tr,steepest-descent"
    )]
    methods: Vec<String>,
    /// Range of a parameter: name=from:to; repeatable [default: start, ends and ways]
    #[arg(long, value_name = "NAME=FROM:TO", allow_hyphen_values = true)]
    range: Vec<String>,
    /// Points along each side
    #[arg(long, value_name = "N", default_value = "61", allow_hyphen_values = true, value_parser = settings::count)]
    points: usize,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let specification = arguments.problem.specification()?;
    let problem = settings::build(&specification, registry)?;
    let area = arguments.area(&problem)?;
    tell_of_deviations(&problem);
    let is_recorded = specification.data.is_some() || !specification.experiments.is_empty();
    let are_chosen =
        specification.step.is_some() || specification.substeps.is_some() || specification.tolerance.is_some();
    if is_recorded && !are_chosen {
        tell(
            "note: the map is that of these time steps; `identify` divides them where they shift what it finds, and --substeps N does it here",
        );
    }
    problem.told_of_jumps(&problem.start)?.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let methods = arguments.methods.iter().map(|name| name.parse::<Method>()).collect::<Result<Vec<Method>>>()?;
    let options = Options { interrupt: watch_for_interrupt(), ..specification.options.clone() };
    let settings = Settings { options, ..Settings::default() };
    let folder = arguments.output.folder(&arguments.problem.folder_name(&problem.name, "landscape"))?;
    let progress = waiting("rows of the map", area.points);
    let rows = AtomicUsize::new(0);
    let found = Landscape::of(&problem, &area, &methods, &settings, &|| {
        progress.done(rows.fetch_add(1, Ordering::Relaxed) + 1);
    });
    drop(progress);
    let found = found?;
    let sure = found.ways.iter().filter(|way| way.cost.is_finite());
    if let Some(best) = sure.min_by(|a, b| a.cost.total_cmp(&b.cost)).and_then(|way| way.points.last()) {
        let mut u = problem.start.clone();
        found.parameters.iter().zip(best).for_each(|(&k, value)| u[k] = *value);
        step_error::warn_of(&problem, &u, &remedy::in_words(&specification.finer_steps()), Instant::now());
    }
    let document = landscape_json(&problem, &found);
    let write = |folder: &Folder| folder.landscape(&problem, &found, document.clone());
    let files = "landscape.json, landscape.csv, figure";
    Ok(arguments.output.tell(folder, &document, || text(&problem, &found), (files, write)))
}

impl Arguments {
    fn area(&self, problem: &Problem) -> Result<Area> {
        let place = |name: &str| -> Result<usize> {
            match problem.places(name)?[..] {
                [place] => Ok(place),
                _ => {
                    let why = "each experiment has its own";
                    Err(Error::invalid(format!("parameter `{name}`"), why, format!("name one: {name}@EXPERIMENT")))
                }
            }
        };
        let (Some(x), Some(y)) = (&self.x, &self.y) else {
            let free: Vec<&str> = problem.free().into_iter().map(|k| problem.parameters[k].name.as_str()).collect();
            let remedy = format!("name two behind the model, such as two of {}", free.join(", "));
            return Err(Error::invalid("the landscape", "it is over two parameters", remedy));
        };
        let parameters = [place(x)?, place(y)?];
        let mut ranges = [None; 2];
        for text in &self.range {
            let wrong = |why: String| Error::invalid(format!("--range {text}"), why, "write name=from:to");
            let (name, ends) = text.split_once('=').ok_or_else(|| wrong("it has no `=`".into()))?;
            let (from, to) = ends.split_once(':').ok_or_else(|| wrong("it has no `:`".into()))?;
            let side = [x, y].iter().position(|own| own.as_str() == name);
            let side = side.ok_or_else(|| wrong(format!("the sides are `{x}` and `{y}`")))?;
            let end = |text: &str| settings::number(text).map_err(wrong);
            ranges[side] = Some((end(from)?, end(to)?));
        }
        Ok(Area { parameters, ranges, points: self.points })
    }
}

fn in_unit(value: f64, unit: &str) -> String {
    if unit == "1" { number(value) } else { format!("{} {unit}", number(value)) }
}

fn text(problem: &Problem, found: &Landscape) -> String {
    let [names, units] = [
        found.parameters.map(|k| problem.parameters[k].name.as_str()),
        found.parameters.map(|k| problem.parameters[k].unit.as_str()),
    ];
    let row = |way: &Way| {
        let end = way.points.last().copied().unwrap_or([f64::NAN; 2]);
        vec![
            way.method.name().to_string(),
            way.evaluations.to_string(),
            rounded(way.cost, 6),
            number(end[0]),
            number(end[1]),
            way.reason.as_ref().map_or_else(Clone::clone, ToString::to_string),
        ]
    };
    let rows: Vec<Vec<String>> = found.ways.iter().map(row).collect();
    let (least, [x, y]) = found.least();
    let failed = found.cost.iter().flatten().filter(|cost| cost.is_nan()).count();
    let mut lines = vec![
        format!("{}: the cost over {} and {}", problem.name, names[0], names[1]),
        table(&["method", "runs", "cost", names[0], names[1], "end"], &rows),
        format!(
            "least cost of the map {} at {} = {}, {} = {}",
            rounded(least, 6),
            names[0],
            in_unit(x, units[0]),
            names[1],
            in_unit(y, units[1])
        ),
    ];
    if failed > 0 {
        lines.push(format!("{failed} of its points cannot be simulated and are left out"));
    }
    lines.join("\n\n")
}
