//! `costate animate`

use super::console::{self, print, print_document};
use super::settings::{self, Run, RunArguments};
use super::step_error::Estimate;
use super::{ExitStatus, kept};
use costate_data::files::write_atomically;
use costate_identify::registry::Registry;
use costate_identify::{Error, Result};
use costate_report::plot::mechanism::{Animation, Picture};
use serde_json::json;
use std::path::PathBuf;
use std::time::Instant;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Frames a second, up to 50
    #[arg(long, value_name = "FRAMES", default_value_t = 25.0, allow_hyphen_values = true, value_parser = settings::number)]
    fps: f64,
    /// Simulated seconds a second [default: 1, unless the motion is very short or long]
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = settings::number)]
    speed: Option<f64>,
    /// Mechanisms of space: isometric [default], front, side, top or AZIMUTH,ELEVATION (°)
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true)]
    view: Option<String>,
    /// Motions so many times as large; without a factor, so that they can be seen
    #[arg(long, value_name = "FACTOR", num_args = 0..=1, default_missing_value = settings::AUTOMATIC)]
    exaggerate: Option<String>,
    #[command(flatten)]
    run: RunArguments,
    /// Folder for animation.gif [default: out/NAME_animation, NAME of the problem file or model]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let run = arguments.run.prepare(registry, settings::drawable)?;
    let Run { entry, u, simulation, .. } = &run;
    let view = settings::view(&*entry.system, arguments.view.as_deref())?;
    let animation = Animation { frames_per_second: arguments.fps, speed: arguments.speed };
    let frames = animation.times(simulation.grid())?.len();
    let folder = arguments.run.folder(entry, (arguments.out.as_ref(), "animation"), false)?;
    let began = Instant::now();
    let trajectory = simulation.run(u)?;
    Estimate::of(simulation, u, Some(&trajectory), began.elapsed().as_secs_f64()).warn(&run.finer);
    let waiting = console::waiting("frames", frames);
    let picture = Picture::of_motion(simulation, u, &trajectory)?.view(view)?;
    let picture = settings::exaggerate(picture, arguments.exaggerate.as_deref())?;
    let bytes = picture.animation(&animation, &mut |finished| waiting.done(finished))?;
    drop(waiting);
    let path = folder.path().join("animation.gif");
    let written = write_atomically(&path, &bytes).map_err(Error::from);
    if written.is_err() {
        return Ok(kept(written));
    }
    let speed = animation.speed(simulation.grid());
    if arguments.json {
        let file = path.display().to_string();
        let document =
            json!({"model": entry.name(), "file": file, "frames": frames, "speed": speed, "bytes": bytes.len()});
        print_document(&format!("{document:#}"));
        return Ok(ExitStatus::Success);
    }
    print(&format!(
        "{}: {frames} frames, {} s of motion a second, {:.1} MB; written to {}",
        entry.name(),
        speed,
        bytes.len() as f64 / 1e6,
        path.display()
    ));
    Ok(ExitStatus::Success)
}
