//! `costate draw`

use super::settings::{self, ProblemArguments};
use super::{Verdict, print};
use crate::error::Result;
use crate::plot::mechanism::{Picture, check_times};
use crate::registry::Registry;
use crate::report::Folder;
use crate::start::InitialState;
use std::path::PathBuf;

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// Parameter values other than the nominal ones: name=value,..
    #[arg(long, value_name = "NAME=VALUE", allow_hyphen_values = true)]
    set: Vec<String>,
    /// Times, s, with commas between them [default: the start, without any simulation]
    #[arg(long, value_name = "SECONDS,..", value_delimiter = ',', allow_hyphen_values = true, value_parser = settings::number)]
    at: Vec<f64>,
    /// All times in one panel, earlier ones lighter, in place of a panel a time
    #[arg(long)]
    overlay: bool,
    /// What moves in space, seen as isometric, front, side, top, or from AZIMUTH,ELEVATION in degrees [default: isometric]
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true)]
    view: Option<String>,
    #[command(flatten)]
    problem: ProblemArguments,
    /// Folder for mechanism.svg [default: out/MODEL_picture]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// The figure as PNG, too
    #[arg(long)]
    png: bool,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<Verdict> {
    let specification = arguments.problem.specification()?;
    let entry = settings::drawable(registry, &specification)?;
    let view = settings::view(&*entry.system, arguments.view.as_deref())?;
    let u = settings::nominal_with(entry.system.signature(), &arguments.set)?;
    let (simulation, _) = settings::simulation(&specification, registry)?;
    let start = simulation.grid().times()[0];
    let times = if arguments.at.is_empty() { vec![start] } else { arguments.at.clone() };
    check_times(simulation.grid(), &times)?;
    // what does not move is drawn as it was put together, even if it cannot be simulated
    let given = matches!(specification.initial_state, None | Some(InitialState::AsGiven));
    let moves = !given || times.iter().any(|t| *t > start);
    let trajectory = if moves { Some(simulation.run(&u)?) } else { None };
    let picture = match &trajectory {
        Some(trajectory) => Picture::of_motion(&simulation, &u, trajectory)?,
        None => Picture::of_start(&simulation, &u)?,
    };
    let picture = picture.view(view)?;
    let figure = if arguments.overlay { picture.overlay(&times)? } else { picture.panels(&times)? };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("out").join(format!("{}_picture", entry.name())));
    let folder = Folder::create(&out, arguments.png)?;
    folder.figure("mechanism", &figure)?;
    print(&format!("{}: written to {}", entry.name(), folder.path().join("mechanism.svg").display()));
    Ok(Verdict::Good)
}
