//! `costate modes`: frequencies, damping and shapes of small motions about an equilibrium.

use super::ExitStatus;
use super::console::{tell, waiting};
use super::output::Output;
use super::remedy;
use super::settings::{self, Run, RunArguments};
use costate::Signature;
use costate::kinks::in_a_sentence;
use costate::modes::{Character, Mode, Modes};
use costate::shown::{number, rounded};
use costate_identify::registry::Registry;
use costate_identify::table::table;
use costate_identify::{Error, Result};
use costate_report::plot::mechanism::{Picture, View};
use costate_report::{Folder, ModesResult, modes_json};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    #[command(flatten)]
    run: RunArguments,
    /// So many of the slowest modes are printed and drawn, with derivatives (files have all frequencies and shapes)
    #[arg(long, value_name = "N", default_value = "6", allow_hyphen_values = true, value_parser = settings::count)]
    modes: usize,
    /// Modes that are animated, as GIF: 1,2,..
    #[arg(long, value_name = "N,..", value_delimiter = ',', allow_hyphen_values = true, value_parser = settings::count)]
    animate: Vec<usize>,
    /// Mechanisms of space: isometric [default], front, side, top or AZIMUTH,ELEVATION (°)
    #[arg(long, value_name = "VIEW", allow_hyphen_values = true)]
    view: Option<String>,
    #[command(flatten)]
    output: Output,
}

/// Modes that are printed at most with the parameters that they follow most, and those parameters.
const FOLLOWED: usize = 3;
/// d ln f / d ln u that is worth a word.
const WORTH: f64 = 5e-3;

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    if arguments.modes == 0 {
        return Err(Error::invalid("--modes", "0 modes are nothing to print", "ask for 1 or more"));
    }
    // what cannot be drawn cannot be animated
    let find: fn(&_, &_) -> _ = if arguments.animate.is_empty() { settings::entry } else { settings::drawable };
    let Run { entry, u, simulation, .. } = arguments.run.prepare(registry, find)?;
    let view: Option<View> =
        arguments.view.as_deref().map(|view| settings::view(&*entry.system, Some(view))).transpose()?;
    let folder = arguments.output.folder(&arguments.run.problem().folder_name(entry.name(), "modes"))?;
    let progress = waiting("frames", arguments.animate.len() * Picture::FRAMES_OF_A_MODE);
    let modes = Modes::of(&simulation, &u)?;
    let kinks = in_a_sentence(&modes.kinks(&simulation));
    kinks.iter().for_each(|sentence| tell(&format!("warning: {sentence}")));
    let count = arguments.modes.min(modes.modes.len());
    let animated = animated(&arguments.animate, modes.modes.len())?;
    let sensitivities = modes.sensitivities(&simulation, count).unwrap_or_else(|error| {
        tell(&format!("warning: no derivatives: {}", remedy::sentence(&error.into())));
        vec![None; count]
    });
    let found = ModesResult {
        simulation: &simulation,
        modes: &modes,
        sensitivities: &sensitivities,
        drawn: count,
        animated: &animated,
        view,
    };
    let document = modes_json(&found);
    let mut frames = 0;
    let mut frame = || {
        frames += 1;
        progress.done(frames);
    };
    let write = |folder: &Folder| folder.modes(&found, document.clone(), &mut frame);
    let files = match animated.is_empty() {
        true => "modes.json, tables, figures",
        false => "modes.json, tables, figures, animations",
    };
    Ok(arguments.output.tell(folder, &document, || text(&found), (files, write)))
}

/// Places of the modes that are named by their numbers.
fn animated(numbers: &[usize], count: usize) -> Result<Vec<usize>> {
    let place = |number: &usize| match number.checked_sub(1).filter(|place| *place < count) {
        Some(place) => Ok(place),
        None => {
            let problem = format!("modes are numbered from 1 to {count}");
            Err(Error::invalid(format!("--animate {number}"), problem, "choose some of these"))
        }
    };
    numbers.iter().map(place).collect()
}

/// The coordinates and states that a mode moves most.
fn moved(signature: &Signature, mode: &Mode) -> String {
    let mut places: Vec<usize> = (0..mode.shape.len()).collect();
    places.sort_by(|a, b| mode.shape[*b].norm().total_cmp(&mode.shape[*a].norm()));
    let names = places.iter().take(2).filter(|j| mode.shape[**j].norm() > 0.1);
    names.map(|j| signature.unknown_name(*j)).collect::<Vec<_>>().join(", ")
}

fn text(found: &ModesResult<'_>) -> String {
    let signature = found.simulation.signature();
    let modes = &found.modes.modes;
    let row = |k: usize| {
        let mode = &modes[k];
        let mut shares = found.shares(k);
        shares.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        let shares = shares.into_iter().take(FOLLOWED).filter(|share| share.1.abs() >= WORTH);
        let shares: Vec<String> = shares.map(|(name, share)| format!("{name} {share:+.2}")).collect();
        vec![
            (k + 1).to_string(),
            number(mode.natural_frequency()),
            number(mode.damped_frequency()),
            mode.damping_ratio().map_or(String::new(), |ratio| rounded(ratio, 4)),
            match (mode.character(), mode.time_constant()) {
                (Character::Decay | Character::Divergence, Some(time)) => {
                    format!("{}, {} s", mode.character().name(), rounded(time, 3))
                }
                (character, _) => character.name().to_string(),
            },
            moved(signature, mode),
            shares.join(", "),
        ]
    };
    let rows: Vec<Vec<String>> = (0..found.drawn).map(row).collect();
    let header = [
        "mode",
        "natural frequency [Hz]",
        "damped [Hz]",
        "damping ratio",
        "what it does",
        "moves most",
        // one word, which no table breaks
        "d\u{a0}ln\u{a0}f/d\u{a0}ln\u{a0}u",
    ];
    // nothing is said of derivatives that are not there
    let has_shares = rows.iter().any(|row| row.last().is_some_and(|shares| !shares.is_empty()));
    let count = header.len() - usize::from(!has_shares);
    let rows: Vec<Vec<String>> = rows.into_iter().map(|row| row[..count].to_vec()).collect();
    let mut lines = vec![
        format!("{}: small motions about the equilibrium at t = {} s", signature.name, found.modes.time),
        table(&header[..count], &rows),
    ];
    if modes.len() > found.drawn {
        lines.push(format!("the slowest {} of {} modes; --modes N shows more", found.drawn, modes.len()));
    }
    let grows = |mode: &&Mode| matches!(mode.character(), Character::Flutter | Character::Divergence);
    match modes.iter().filter(grows).count() {
        0 => {}
        1 => lines.push("one mode grows: the equilibrium is unstable".to_string()),
        count => lines.push(format!("{count} modes grow: the equilibrium is unstable")),
    }
    let shared = found.sensitivities.iter().flatten().map(|sensitivity| sensitivity.multiplicity).max().unwrap_or(1);
    if shared > 1 {
        lines.push("modes of one frequency: derivatives are those of their mean".to_string());
    }
    lines.join("\n\n")
}
