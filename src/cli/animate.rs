//! `costate animate`

use super::settings::{self, ProblemArguments};
use super::{Verdict, print};
use crate::error::Result;
use crate::files::write_atomically;
use crate::plot::mechanism::{Animation, Picture};
use crate::registry::Registry;
use crate::report::Folder;
use indicatif::ProgressBar;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Parameter values other than the nominal ones: name=value,..
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Frames a second, up to 50
    #[arg(long, value_name = "FRAMES", default_value_t = 25.0, allow_hyphen_values = true, value_parser = settings::number)]
    fps: f64,
    /// Simulated seconds a second [default: 1, unless the motion is very short or long]
    #[arg(long, value_name = "FACTOR", allow_hyphen_values = true, value_parser = settings::number)]
    speed: Option<f64>,
    /// What moves in space, seen as isometric, front, side, top, or from AZIMUTH,ELEVATION in degrees [default: isometric]
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true)]
    view: Option<String>,
    #[command(flatten)]
    problem: ProblemArguments,
    /// Folder for animation.gif [default: out/MODEL_animation]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<Verdict> {
    let specification = arguments.problem.specification()?;
    let entry = settings::drawable(registry, &specification)?;
    let view = settings::view(&*entry.system, arguments.view.as_deref())?;
    let u = settings::nominal_with(entry.system.signature(), &arguments.set)?;
    let (simulation, _) = settings::simulation(&specification, registry)?;
    let animation = Animation { frames_per_second: arguments.fps, speed: arguments.speed };
    let frames = animation.times(simulation.grid())?.len();
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{}_animation", entry.name())));
    let folder = Folder::create(&out, false)?;
    let trajectory = simulation.run(&u)?;
    let picture = Picture::of_motion(&simulation, &u, &trajectory)?.view(view)?;
    // shows itself on terminals only
    let bar = ProgressBar::new(frames as u64);
    let bytes = picture.animation(&animation, &mut |finished| bar.set_position(finished as u64))?;
    bar.finish_and_clear();
    let path = folder.path().join("animation.gif");
    write_atomically(&path, &bytes)?;
    print(&format!(
        "{}: {frames} frames, {} simulated seconds a second, {:.1} MB; written to {}",
        entry.name(),
        animation.speed(simulation.grid()),
        bytes.len() as f64 / 1e6,
        path.display()
    ));
    Ok(Verdict::Good)
}
