//! `costate draw`

use super::console::{print, print_document, waiting};
use super::settings::{self, Run, RunArguments};
use super::step_error::Estimate;
use super::{ExitStatus, kept};
use costate::InitialState;
use costate_identify::Result;
use costate_identify::registry::Registry;
use costate_report::plot::mechanism::{Picture, check_times};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Times, s, with commas between them [default: the start]
    #[arg(long = "times", visible_alias = "at", value_name = "SECONDS,..", value_delimiter = ',', allow_hyphen_values = true, value_parser = settings::number)]
    at: Vec<f64>,
    /// All times in one panel, earlier ones lighter, in place of a panel a time
    #[arg(long)]
    overlay: bool,
    /// Mechanisms of space: isometric [default], front, side, top or AZIMUTH,ELEVATION (°)
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true)]
    view: Option<String>,
    /// Motions so many times as large; without a factor, so that they can be seen
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = settings::AUTOMATIC)]
    exaggerate: Option<String>,
    #[command(flatten)]
    run: RunArguments,
    /// Folder for mechanism.svg [default: out/NAME_picture, NAME of the problem file or model]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The figure as PNG, too
    #[arg(long)]
    png: bool,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let run = arguments.run.prepare(registry, settings::drawable)?;
    let Run { entry, u, simulation, finer, .. } = &run;
    let view = settings::view(&*entry.system, arguments.view.as_deref())?;
    let start = simulation.grid().times()[0];
    let times = if arguments.at.is_empty() { vec![start] } else { arguments.at.clone() };
    check_times(simulation.grid(), &times)?;
    // what does not move is drawn as it was put together, even if it cannot be simulated
    let moves = simulation.start_state() != InitialState::AsGiven || times.iter().any(|t| *t > start);
    let waiting = waiting(&format!("{} time steps", simulation.steps()), 0);
    let began = Instant::now();
    let trajectory = if moves { Some(simulation.run(u)?) } else { None };
    let seconds = began.elapsed().as_secs_f64();
    drop(waiting);
    if let Some(run) = trajectory.as_ref().filter(|_| times.iter().any(|t| *t > start)) {
        Estimate::of(simulation, u, Some(run), seconds).warn(finer);
    }
    let picture = match &trajectory {
        Some(trajectory) => Picture::of_motion(simulation, u, trajectory)?,
        None => Picture::of_start(simulation, u)?,
    };
    let picture = settings::exaggerate(picture.view(view)?, arguments.exaggerate.as_deref())?;
    let figure = if arguments.overlay { picture.overlay(&times)? } else { picture.panels(&times)? };
    let folder = arguments.run.folder(entry, (arguments.out.as_ref(), "picture"), arguments.png)?;
    let written = folder.figure("mechanism", &figure);
    if written.is_ok() {
        let file = folder.path().join("mechanism.svg");
        if arguments.json {
            let document = json!({"model": entry.name(), "file": file.display().to_string(), "times": times});
            print_document(&format!("{document:#}"));
        } else {
            print(&format!("{}: written to {}", entry.name(), file.display()));
        }
    }
    Ok(kept(written))
}
