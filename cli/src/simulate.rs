//! `costate simulate`

use super::console::{print, print_document, tell, waiting};
use super::duration::SHORTER;
use super::output::Output;
use super::settings::{self, Run, RunArguments};
use super::step_error::Estimate;
use super::{ExitStatus, kept};
use costate::scheme::Counters;
use costate::shown::{rounded, shown, size};
use costate::{InitialState, Simulation, StartReport, jumps, scheme};
use costate_identify::Result;
use costate_identify::registry::Registry;
use costate_report::{Folder, output_errors, simulation_json, stream};
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    #[command(flatten)]
    output: Output,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let run = arguments.run.prepare(registry, settings::entry)?;
    let Run { entry, u, simulation, measured, finer } = &run;
    let folder = arguments.output.folder(&arguments.run.problem().folder_name(entry.name(), "simulation"))?;
    folder.iter().for_each(|folder| warn_of_size(simulation, folder));
    let waiting = waiting(&format!("{} time steps", simulation.steps()), 0);
    if !Folder::fits(simulation) {
        if folder.is_some() {
            tell(
                "note: the run does not fit into the memory that it may take: rows are written as they come, and figures show some of its times",
            );
        }
        let began = Instant::now();
        let streamed = stream(folder.as_ref(), simulation, u, measured.as_ref())?;
        drop(waiting);
        let estimate = Estimate::of(simulation, u, None, began.elapsed().as_secs_f64());
        estimate.warn(finer);
        if arguments.output.json {
            print_document(&format!("{:#}", streamed.document));
        } else if let Some(folder) = folder {
            print_run(&run, streamed.counters, &streamed.start, &folder);
            print(&estimate.text());
            streamed.errors.iter().for_each(|error| print(&error.to_string()));
        }
        return Ok(ExitStatus::Success);
    }
    let began = Instant::now();
    let trajectory = simulation.run(u)?;
    let estimate = Estimate::of(simulation, u, Some(&trajectory), began.elapsed().as_secs_f64());
    waiting.now("writing files and figures");
    let mut document = simulation_json(simulation, u, &trajectory, measured.as_ref());
    document["time_step_error"] = estimate.json();
    let write = |folder: &Folder| folder.simulation((simulation, &trajectory), measured.as_ref(), document.clone());
    let written = folder.as_ref().map_or(Ok(()), write);
    drop(waiting);
    estimate.warn(finer);
    if began.elapsed().as_secs_f64() < LONGEST {
        let found = jumps::jumps(simulation, None, u)?;
        jumps::of_motion(&found).iter().for_each(|sentence| tell(&format!("note: {sentence}")));
    }
    if arguments.output.json {
        print_document(&format!("{document:#}"));
        return Ok(kept(written));
    }
    let (Ok(()), Some(folder)) = (&written, folder) else { return Ok(kept(written)) };
    print_run(&run, trajectory.counters, &trajectory.start, &folder);
    print(&estimate.text());
    for fit in measured
        .iter()
        .flat_map(|measured| output_errors((measured, &measured.sensors().nominal()), simulation, &trajectory))
    {
        print(&fit.to_string());
    }
    Ok(ExitStatus::Success)
}

/// Runs that take longer, in s, are not looked at for jumps.
const LONGEST: f64 = 5.0;

/// Says before a run that its files will be large.
fn warn_of_size(simulation: &Simulation, folder: &Folder) {
    /// Bytes that nobody writes without being warned.
    const LARGE: f64 = 1e9;
    let bytes = Folder::bytes_of_files(simulation);
    if bytes > LARGE {
        tell(&format!(
            "note: {} times with all coordinates make about {} of states.csv and outputs.csv in {}; {SHORTER}, and with --json alone no files are written",
            rounded((simulation.grid().count() + 1) as f64, 4),
            size(bytes),
            folder.path().display()
        ));
    }
}

/// A step without all digits of one that was made by a division.
fn short(step: f64) -> String {
    Some(shown(step)).filter(|step| step.len() < 12).unwrap_or_else(|| rounded(step, 6))
}

/// Prints the cost of a run, and how it began.
fn print_run(Run { entry, simulation, .. }: &Run, counters: Counters, start: &StartReport, folder: &Folder) {
    print(&format!(
        "{}: {} {} of {} to t = {} s, {}, {:.2} Newton iterations a step; written to {}",
        entry.name(),
        counters.steps,
        if counters.steps == 1 { "step" } else { "steps" },
        simulation.even_step().map_or("uneven size".to_string(), |h| format!("{} s", short(h))),
        shown(simulation.grid().end()),
        scheme::in_words(simulation.scheme()),
        counters.iterations as f64 / counters.steps as f64,
        folder.path().display()
    ));
    let worst = |values: &[f64]| values.iter().fold(0.0f64, |w, x| w.max(*x));
    match start.initial_state {
        InitialState::AsGiven => {}
        InitialState::Projected => print(&format!(
            "start projected onto the constraints: the model's was off by {:.3e} in position, {:.3e} in velocity (at most, in the \
             coordinates' units)",
            worst(&start.position),
            worst(&start.velocity)
        )),
        InitialState::Equilibrium => print(&format!(
            "start at rest in static equilibrium, found from the model's initial position in {} {}",
            start.iterations,
            if start.iterations == 1 { "iteration" } else { "iterations" }
        )),
    }
}
