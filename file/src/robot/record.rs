//! A robot and a record of its motion: the mechanism in which each joint moves as it was measured, and the problem of fitting what that takes.

use super::mechanism::{Declared, Inertias, Options, Tree};
use super::urdf::{Kind, read};
use costate_data::Record;
use costate_data::columns::{Sought, locate};
use costate_identify::problem_file::text;
use costate_identify::{Error, Result};
use std::fmt::Write;
use std::path::Path;

/// Bandwidth of the motions, Hz, at most, and as a part of the record's sampling frequency.
const BANDWIDTH: [f64; 2] = [10.0, 0.05];

/// The texts of two files to begin with.
pub struct GivenMotions {
    /// The mechanism file.
    pub mechanism: String,
    /// The problem file.
    pub problem: String,
}

/// A joint with its columns.
struct Driven {
    index: usize,
    number: usize,
    /// What the joint is called in the mechanism.
    part: String,
    is_prismatic: bool,
    position: String,
    effort: Option<String>,
}

/// The mechanism of a robot whose joints move as in a record, by inverse dynamics, and the problem of fitting the efforts in it; or what the
/// record lacks, in words. Of a robot with loops, the joints `motors` move so, or else those whose efforts are in the record; loops move the others. Joints' columns are called by their numbers, `q1` and `tau1` for the first that moves by itself, or by
/// their names, `elbow` or `elbow_position` and `elbow_effort`. The robot and the record are named as `shown`, the mechanism as `mechanism`, in what
/// is written. `is_physical`: bodies are sought that can be built, by factors with priors towards the robot's own, whose deviation is found by the evidence,
/// beside torques whose residuals are correlated.
///
/// # Errors
/// A robot or a record that cannot be read.
pub fn given_motions(
    [robot, record]: [&Path; 2],
    shown: [&Path; 2],
    mechanism: &Path,
    is_physical: bool,
    motors: &[String],
) -> Result<std::result::Result<GivenMotions, String>> {
    let own = read(&text(robot)?, robot)?;
    let mut declared = Declared::default();
    let inertias = if is_physical { Inertias::Factors } else { Inertias::Moments };
    Tree::of(&own, robot, &Options::of_all(inertias))?.write(robot, &mut declared)?;
    let samples = Record::read(record)?;
    let found = |names: &[String], unit: &str| -> Result<Option<String>> {
        for name in names {
            if let Some(located) = locate(&samples, record, &Sought::named(name, unit))? {
                return Ok(Some(located.name.to_string()));
            }
        }
        Ok(None)
    };
    let Some(time) = found(&["t".into(), "time".into()], "s")? else {
        return Ok(Err("it has no column of times, `t` or `time`".into()));
    };
    let named = if motors.is_empty() { None } else { own.motors(robot, motors)? };
    let moves = own.joints.iter().enumerate().filter(|(_, joint)| joint.moves_by_itself());
    let (mut driven, mut starts) = (Vec::new(), Vec::new());
    let (mut lacking, mut efforts) = (Vec::new(), Vec::new());
    let listed = |names: &[String]| {
        let [first @ .., last] = &names[..names.len() - 1] else { return String::new() };
        format!("`{}` or `{last}`", first.join("`, `"))
    };
    for (k, (index, joint)) in moves.enumerate() {
        let (number, name) = (k + 1, &joint.name);
        let is_prismatic = joint.kind == Kind::Prismatic;
        let [place, effort] = if is_prismatic { ["m", "N"] } else { ["rad", "N m"] };
        let part = declared.parts.iter().find(|(own, _)| *own == index);
        let part = part.map_or_else(|| name.clone(), |(_, part)| part.clone());
        // the last of each are what a simulation of such a robot writes
        let freedom = if is_prismatic { "displacement" } else { "angle" };
        let of_place = [
            format!("q{number}"),
            format!("q_{number}"),
            name.clone(),
            format!("{name}_position"),
            format!("q_{name}"),
            format!("robot_{part}_motion.{freedom}"),
        ];
        let of_effort = [
            format!("tau{number}"),
            format!("tau_{number}"),
            format!("{name}_effort"),
            format!("{name}_torque"),
            format!("tau_{name}"),
            format!("tau{number}.effort"),
        ];
        let (position, effort) = (found(&of_place, place)?, found(&of_effort, effort)?);
        if let Some(position) = &position {
            // where the record begins, in the unit of the mechanism
            let start = locate(&samples, record, &Sought::named(position, place))?.map_or(Ok(0.0), |located| {
                let values = samples.column(located.name)?;
                Ok::<_, Error>(values.first().map_or(0.0, |first| located.law.of(*first)))
            })?;
            starts.push((name.clone(), start));
        }
        let has_motor = named.as_ref().map_or(own.loops.is_empty() || effort.is_some(), |named| named[index]);
        if !has_motor {
            continue;
        }
        let Some(position) = position else {
            lacking.push(format!("the position of joint `{name}` ({})", listed(&of_place)));
            continue;
        };
        efforts.push(listed(&of_effort));
        driven.push(Driven { index, number, part, is_prismatic, position, effort });
    }
    if !lacking.is_empty() {
        return Ok(Err(format!("it has no column for {}", lacking.join(", or "))));
    }
    if driven.iter().all(|joint| joint.effort.is_none()) {
        let of_first = efforts.first().map_or("", |names| names);
        return Ok(Err(format!("it has no effort of any joint that has a motor ({of_first} of the first)")));
    }
    let times = samples.column(&time)?;
    if let Some(k) = (1..times.len()).find(|&k| times[k] <= times[k - 1]) {
        let [before, now] = [times[k - 1], times[k]].map(costate::shown::shown);
        let problem =
            format!("times do not increase: sample {} of `{time}` is at {now} s, the one before at {before} s", k + 1);
        return Err(Error::file(record, None, problem, "take the part before or after, or mend the clock of the log"));
    }
    let rate = (times.len().max(2) - 1) as f64 / (times.last().unwrap_or(&1.0) - times.first().unwrap_or(&0.0));
    let bandwidth = (BANDWIDTH[1] * rate).min(BANDWIDTH[0]);
    let bandwidth = if bandwidth.is_finite() && bandwidth > 0.0 { bandwidth } else { BANDWIDTH[0] };
    let of_bodies = declared.bodies.iter().filter(|_| is_physical).flat_map(|(_, names)| names);
    // zero: the body of the robot's file; one deviation for all, by the evidence
    let prior = |name| format!("robot_{name} = {{ prior = {{ normal = [0.0, \"estimated\"] }} }}");
    let mut parameters: Vec<String> = of_bodies.map(prior).collect();
    parameters.extend(offsets_without_motors(&declared, |joint| driven.iter().any(|own| own.index == joint)));
    let [robot, record] = shown.map(|path| quoted(&path.to_string_lossy()));
    Ok(Ok(GivenMotions {
        mechanism: mechanism_text((&driven, &starts), [&robot, &record, &quoted(&time)], bandwidth, times, is_physical),
        problem: problem_text(
            &driven,
            [&quoted(&mechanism.to_string_lossy()), &record, &quoted(&time)],
            is_physical,
            &parameters,
        ),
    }))
}

/// Lines that keep the offsets of joints without motors at zero: nothing draws a follower, or a joint that a loop moves, one way, and a log of the motors hardly
/// tells its offset from weight.
pub(super) fn offsets_without_motors(declared: &Declared, has_motor: impl Fn(usize) -> bool) -> Vec<String> {
    let offsets = declared.joints.iter().filter(|(joint, kind, _)| *kind == "offset" && !has_motor(*joint));
    offsets.map(|(_, _, name)| format!("robot_{name} = {{ fixed = true }}      # no motor")).collect()
}

pub(super) fn quoted(name: &str) -> String {
    toml::Value::String(name.into()).to_string()
}

/// The robot in a mechanism, up to the places of its joints at the start.
pub(super) fn include(robot: &str, inertias: &str, slip: f64) -> String {
    format!(
        "kind = \"spatial\"\n\n[include.robot]\nfile = {robot}\n\
         inertias = {inertias}\n\
         friction = true             # viscous and dry friction and an offset in every joint\n\
         slip = {slip:?}                 # rad/s or m/s: where dry friction is 76 % of its whole\n\n\
         [include.robot.joints]      # where it begins\n"
    )
}

/// The drive of a joint, and the sensor of what it takes.
pub(super) fn drive(number: usize, part: &str, is_prismatic: bool, motion: &str) -> String {
    let freedom = if is_prismatic { "\nfreedom = \"slide\"" } else { "" };
    format!(
        "[drive.drive{number}]\nof = {}{freedom}\n{motion}\n\
         [sensor.tau{number}]\nshows = \"drive\"\nof = \"drive{number}\"\n",
        quoted(part)
    )
}

fn mechanism_text(
    (driven, starts): (&[Driven], &[(String, f64)]),
    [robot, record, time]: [&str; 3],
    bandwidth: f64,
    times: &[f64],
    is_physical: bool,
) -> String {
    let inertias = match is_physical {
        false => {
            "\"moments\"        # ten parameters a body, in which efforts are linear; \"factors\": every choice is a body; \"fixed\": numbers"
        }
        true => {
            "\"factors\"        # every choice is a body; \"moments\": ten parameters in which efforts are linear; \"fixed\": numbers"
        }
    };
    let mut text = format!(
        "# Each joint moves as it was measured; what its drive takes is compared with the record. Nothing is integrated.\n{}",
        include(robot, inertias, 0.01)
    );
    for (joint, start) in starts {
        let _ = writeln!(text, "{} = {start:?}", quoted(joint));
    }
    for (k, joint) in driven.iter().enumerate() {
        let (number, unit) = (joint.number, if joint.is_prismatic { "m" } else { "rad" });
        let said = if k == 0 { "      # Hz: faster motion is taken for noise" } else { "" };
        let part = format!("robot_{}", joint.part);
        let _ = write!(
            text,
            "\n[tables.q{number}]\nover = \"s\"\nunit = \"{unit}\"\nfile = {record}\ncolumns = [{time}, {}]\n\
             interpolation = \"cubic\"\nbandwidth = {bandwidth:?}{said}\n{}",
            quoted(&joint.position),
            drive(number, &part, joint.is_prismatic, &format!("is = \"q{number}(t)\"")),
        );
    }
    let compared = driven.iter().filter(|joint| joint.effort.is_some());
    let outputs: Vec<String> = compared.map(|joint| format!("\"tau{}.effort\"", joint.number)).collect();
    let (first, last) = (times.first().unwrap_or(&0.0), times.last().unwrap_or(&1.0));
    let step = (last - first) / (times.len().max(2) - 1) as f64;
    let _ = write!(
        text,
        "\n[scenario]\nend = {:?}\nstep = {step:?}\nscheme = \"inverse-dynamics\"\ninitial_state = \"projected\"\noutputs = [{}]\n",
        last - first,
        outputs.join(", ")
    );
    text
}

fn problem_text(
    driven: &[Driven],
    [mechanism, record, time]: [&str; 3],
    is_physical: bool,
    parameters: &[String],
) -> String {
    let mut text = format!("model = {mechanism}\n\n[data]\nfile = {record}\ntime = {time}\n");
    for joint in driven {
        if let Some(effort) = &joint.effort {
            // efforts of joints differ in size and noise
            let deviation = if is_physical { ", deviation = \"estimated-correlated\"" } else { "" };
            let _ =
                writeln!(text, "outputs.\"tau{}.effort\" = {{ column = {}{deviation} }}", joint.number, quoted(effort));
        }
    }
    if !parameters.is_empty() {
        let said = if is_physical {
            "      # zero: the body of the robot's file; one deviation for all, by the evidence"
        } else {
            ""
        };
        let _ = write!(text, "\n[parameters]{said}\n{}\n", parameters.join("\n"));
    }
    text
}
