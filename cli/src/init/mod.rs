//! `costate init`: a problem file to begin with, which says everything that can be said.

mod columns;
mod text;

use super::console::{print, print_document, tell};
use super::remedy;
use super::settings;
use super::{ExitStatus, kept};
use columns::Columns;
use costate_data::Record;
use costate_data::files::write_atomically;
use costate_file::{Clear, excitation, given_motions, is_robot};
use costate_identify::problem_file;
use costate_identify::registry::{Entry, Registry, is_file};
use costate_identify::specification::name_of;
use costate_identify::{Error, Result};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(clap::Args, Debug)]
pub(super) struct Arguments {
    /// The model's name, or its file
    model: String,
    /// A record that is fitted; repeatable
    #[arg(long, value_name = "FILE.csv")]
    data: Vec<PathBuf>,
    /// A record that is compared with the result, and not fitted; repeatable
    #[arg(long, value_name = "FILE.csv")]
    validation: Vec<PathBuf>,
    /// The problem file [default: MODEL.toml, or MODEL_problem.toml beside a mechanism file]
    #[arg(long, value_name = "FILE.toml")]
    out: Option<PathBuf>,
    /// Replace the problem file if it is there
    #[arg(long)]
    force: bool,
    /// Of a robot with a log: bodies that can be built, near those of its file as far as the log does not say otherwise
    #[arg(long)]
    physical: bool,
    /// Of a robot without a log: the problem of finding motions of so many seconds that say the most of its bodies and friction
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, value_parser = settings::number, conflicts_with_all = ["data", "validation", "physical"])]
    excitation: Option<f64>,
    /// With --excitation: links keep apart, each so thick (radius, m) about the line from its joint to the next one
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = settings::number, requires = "excitation")]
    thickness: Option<f64>,
    /// With --thickness: links stay above the floor, which is at this height over the first link's origin (m)
    #[arg(long, value_name = "METRES", allow_hyphen_values = true, value_parser = settings::number, requires = "excitation")]
    floor: Option<f64>,
    /// Of a robot with loops: the joints that have motors; loops move the others [default: those with efforts in the log, or in a <transmission>]
    #[arg(long, value_name = "JOINTS", value_delimiter = ',')]
    motors: Vec<String>,
    /// Print what was written as JSON
    #[arg(long)]
    json: bool,
}

/// A record as the file will name it.
struct Source {
    /// Relative to the folder of the problem file, unless it was given from the root.
    file: PathBuf,
    /// Path as it was given.
    given: PathBuf,
    /// The experiment's name.
    name: String,
    validation: bool,
    columns: Columns,
}

pub(super) fn run(registry: &Registry, arguments: &Arguments) -> Result<ExitStatus> {
    let entry = registry.get(&arguments.model)?;
    // beside the mechanism of a file there is the problem
    let end = if is_file(&arguments.model) { "_problem" } else { "" };
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from(format!("{}{end}.toml", entry.name())));
    let records = arguments.data.iter().chain(&arguments.validation);
    if let Some(missing) = records.filter(|file| !file.to_string_lossy().contains(',')).find(|file| !file.exists()) {
        // told before what is to be written is looked at: it may be there for want of this record alone
        Record::read(missing)?;
    }
    // an excitation has files of other names
    check_out(&out, arguments.force || arguments.excitation.is_some())?;
    if arguments.data.is_empty() && !arguments.validation.is_empty() {
        let remedy = "give --data FILE.csv, too";
        return Err(Error::invalid("--validation", "there is no record that could be fitted", remedy));
    }
    if let Some(duration) = arguments.excitation {
        return robot_to_be_excited(arguments, &out, duration);
    }
    let no_log = match robot_with_record(registry, arguments, &out)? {
        Robot::Begun(status) => return Ok(status),
        Robot::WithoutLog(reason) => Some(reason),
        Robot::None => None,
    };
    if arguments.physical {
        let problem = "there is no robot with a log of its joints' positions and torques";
        let problem = no_log.map_or(problem.to_string(), |reason| format!("{problem}: {reason}"));
        return Err(Error::invalid("--physical", problem, "give robot.urdf and one --data FILE.csv, or leave it out"));
    }
    if !arguments.motors.is_empty() {
        let problem = "there is no robot with a log of its joints' positions and torques, and no --excitation";
        return Err(Error::invalid("--motors", problem, "give robot.urdf and one of these, or leave it out"));
    }
    let sources = sources(entry, arguments, &out)?;
    let is_mapped = |source: &Source| source.columns.outputs.iter().any(|mapped| mapped.column.is_some());
    if let Some(reason) = no_log.filter(|_| !sources.iter().any(is_mapped)) {
        let remedy = "name its columns so: q1, q2, .. and tau1, tau2, .. in the order of the joints, or NAME_position and NAME_effort of each";
        return Err(Error::file(&arguments.data[0], None, reason, remedy));
    }
    let text = text::write(entry, &sources, &out)?;
    finish(registry, arguments, (entry.name(), &out), &text)
}

/// The mechanism of a robot that moves along splines, and the problem of finding them.
fn robot_to_be_excited(arguments: &Arguments, out: &Path, duration: f64) -> Result<ExitStatus> {
    let robot = Path::new(&arguments.model);
    if !is_robot(robot) {
        let problem = "motions are found for robots in URDF";
        let remedy = "give robot.urdf, or write [[control.signal]] and [control.information] by hand";
        return Err(Error::invalid("--excitation", problem, remedy));
    }
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix("_problem").unwrap_or(&stem).to_string();
    let [mechanism, problem] = ["", "_problem"].map(|end| out.with_file_name(format!("{stem}_excitation{end}.toml")));
    let name = PathBuf::from(mechanism.file_name().unwrap_or_default());
    let clear = Clear { thickness: arguments.thickness, floor: arguments.floor };
    let written = excitation([robot, &beside(out, robot), &name], duration, clear, &arguments.motors)?;
    let files = [(&mechanism, &written.mechanism), (&problem, &written.problem)];
    files.iter().try_for_each(|(path, _)| check_out(path, arguments.force))?;
    files.iter().try_for_each(|(path, text)| write_atomically(path, text.as_bytes()))?;
    written.notes.iter().for_each(|note| tell(&format!("note: {note}")));
    let (mechanism, problem) = (mechanism.display(), problem.display());
    if arguments.json {
        let document = json!({"model": mechanism.to_string(), "file": problem.to_string(), "missing": null});
        print_document(&format!("{document:#}"));
    } else {
        print(&format!(
            "joints that move along splines, with their limits: written to {mechanism} and {problem}\nnext: costate control {problem}"
        ));
    }
    Ok(ExitStatus::Success)
}

/// What a command has made of a robot and a record.
enum Robot {
    /// Its files are written.
    Begun(ExitStatus),
    /// The record lacks its motion or its efforts: which.
    WithoutLog(String),
    /// There is no robot with one record.
    None,
}

/// The mechanism of a robot that moves as in its record, and the problem of fitting what that takes, if the record has its motion.
fn robot_with_record(registry: &Registry, arguments: &Arguments, out: &Path) -> Result<Robot> {
    let robot = Path::new(&arguments.model);
    let ([record], true) = (arguments.data.as_slice(), is_robot(robot) && arguments.validation.is_empty()) else {
        return Ok(Robot::None);
    };
    let stem = out.file_stem().unwrap_or_default().to_string_lossy();
    let stem = stem.strip_suffix("_problem").unwrap_or(&stem);
    let mechanism = out.with_file_name(format!("{stem}_moved.toml"));
    let shown = [beside(out, robot), beside(out, record)];
    let name = PathBuf::from(mechanism.file_name().unwrap_or_default());
    let shown = [&*shown[0], &*shown[1]];
    let written = match given_motions([robot, record], shown, &name, arguments.physical, &arguments.motors)? {
        Ok(written) => written,
        Err(reason) => return Ok(Robot::WithoutLog(reason)),
    };
    check_out(&mechanism, arguments.force)?;
    write_atomically(&mechanism, written.mechanism.as_bytes())?;
    if !arguments.json {
        print(&format!("joints that move as in {}: written to {}", record.display(), mechanism.display()));
    }
    finish(registry, arguments, (&mechanism.to_string_lossy(), out), &written.problem).map(Robot::Begun)
}

/// Writes a problem file, and says whether it can be run.
fn finish(registry: &Registry, arguments: &Arguments, (model, out): (&str, &Path), text: &str) -> Result<ExitStatus> {
    // what is written can be read, whatever names models and columns have
    let specification = problem_file::parse(text, out)?;
    write_atomically(out, text.as_bytes())?;
    let built = specification.build_with_notes(registry);
    let path = out.display();
    if arguments.json {
        let missing = built.as_ref().err().map(ToString::to_string);
        let document = json!({"model": model, "file": path.to_string(), "missing": missing});
        print_document(&format!("{document:#}"));
    } else {
        print(&match &built {
            Ok(_) => format!(
                "written to {path}\nnext: costate check {path} (data, fit at the start), then costate identify {path}"
            ),
            Err(_) => format!("written to {path}"),
        });
    }
    Ok(match built {
        Ok((problem, notes)) => {
            settings::say_of(notes, &problem);
            ExitStatus::Success
        }
        Err(error) => {
            let problem = format!("the file is written, and cannot be run as it is: {}", remedy::sentence(&error));
            let remedy = format!("complete it by hand, then costate check {path}");
            kept(Err(Error::invalid(path.to_string(), problem, remedy)))
        }
    })
}

/// Checks that the file is a problem file, and that nothing of the user's is lost.
fn check_out(out: &Path, force: bool) -> Result<()> {
    if !out.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml")) {
        let what = format!("--out {}", out.display());
        return Err(Error::invalid(what, "a problem file ends in .toml", "give it such a name"));
    }
    if out.exists() && !force {
        let what = out.display().to_string();
        return Err(Error::invalid(what, "it is there already", "name another with --out, or replace it with --force"));
    }
    Ok(())
}

/// The records with what their columns may be.
fn sources(entry: &Entry, arguments: &Arguments, out: &Path) -> Result<Vec<Source>> {
    let files = arguments.data.iter().map(|file| (file, false));
    let mut sources: Vec<Source> = Vec::new();
    for (given, validation) in files.chain(arguments.validation.iter().map(|file| (file, true))) {
        let shown = given.to_string_lossy();
        if !given.exists() && shown.contains(',') {
            let remedy = "write the file for the one that drives the inputs, and then all of them in it: file = [\"A.csv\", \"B.csv\"]";
            let problem = "files of one experiment are not put together here";
            return Err(Error::invalid(format!("--data {shown}"), problem, remedy));
        }
        let record = Record::read(given)?;
        let columns = Columns::of(&record, given, entry.system.signature())?;
        let plain = name_of(given);
        let is_taken = |name: &String| sources.iter().any(|other| other.name.to_lowercase() == name.to_lowercase());
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let mut names = std::iter::once(plain.clone()).chain(numbered);
        let name = names.find(|name| !is_taken(name)).unwrap_or(plain.clone());
        sources.push(Source { file: beside(out, given), given: given.clone(), name, validation, columns });
    }
    Ok(sources)
}

/// `file` as seen from the folder of `out`; as it is where that cannot be said.
fn beside(out: &Path, file: &Path) -> PathBuf {
    let folder = out.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let (Ok(folder), Ok(target)) = (folder.canonicalize(), file.canonicalize()) else { return file.to_path_buf() };
    if file.is_absolute() {
        return file.to_path_buf();
    }
    let common = folder.components().zip(target.components()).take_while(|(a, b)| a == b).count();
    if common == 0 {
        return target;
    }
    let up = folder.components().skip(common).map(|_| Path::new("..").as_os_str());
    up.chain(target.components().skip(common).map(|part| part.as_os_str())).collect()
}
