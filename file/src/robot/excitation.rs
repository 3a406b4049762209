//! A robot whose motion is to be found: the mechanism in which each joint follows a spline, and the problem of finding those splines whose efforts say
//! the most of bodies and friction within the limits of the joints.

use super::clearance::{Clear, Kept, plain};
use super::mechanism::{Declared, Inertias, Options, Tree};
use super::record::{drive, include, offsets_without_motors, quoted};
use super::urdf::{Joint, Kind, Limits, Robot, read};
use costate_identify::problem_file::text;
use costate_identify::{Error, Result};
use std::f64::consts::TAU;
use std::fmt::Write;
use std::path::Path;

/// The texts of two files to begin with.
pub struct Excitation {
    /// The mechanism file.
    pub mechanism: String,
    /// The problem file.
    pub problem: String,
    /// What the robot's file does not say, and what is assumed of it, in sentences.
    pub notes: Vec<String>,
}

/// Time from rest to the full rate, s, where nothing says how fast rates may change.
const RISE: f64 = 0.5;
/// Part of a range, or of a limit, that is kept free.
const MARGIN: f64 = 0.05;
/// Deviation of a torque sensor's noise as a part of the largest torque.
const NOISE: f64 = 0.01;
/// Weight of half the square of what goes beyond a limit, beside the limit: it goes beyond by less than the margin.
const STIFF: f64 = 30.0;
/// Time between two knots of the motions, s; limits are met, and samples taken, five times between them.
const KNOTS: f64 = 0.5;

/// How far joints of a robot with loops swing at the start of the search, rad or m: loops close there.
const SMALL: [f64; 2] = [0.2, 0.05];

/// A joint that moves, with what is known or assumed of it.
struct Moved<'r> {
    joint: &'r Joint,
    /// False for what loops move.
    has_motor: bool,
    /// What the joint is called in the mechanism, and the sensor of its motion.
    part: String,
    sensor: String,
    /// Where it begins and ends.
    rest: f64,
    /// How far it swings at most at the start.
    most: f64,
    /// Lower and upper limit, if it has them.
    places: Option<[f64; 2]>,
    rate: f64,
    acceleration: f64,
    effort: Option<f64>,
    /// Deviation of the noise of its effort.
    noise: f64,
}

/// The mechanism of a robot whose joints move along splines of `duration` s from rest to rest, and the problem of finding those whose efforts say the most
/// of its bodies and its friction, within its limits. The robot is named as `shown`, the mechanism as `mechanism`, in what is written. Of a robot with loops, the
/// joints `motors` follow splines, or else those that its transmissions name, and loops move the others; it begins where all angles of its file are zero.
///
/// # Errors
/// A robot that cannot be read, in which nothing moves, or with loops and without motors; a duration that is too short for a motion; a thickness that is not
/// positive.
pub fn excitation(
    [robot, shown, mechanism]: [&Path; 3],
    duration: f64,
    clear: Clear,
    motors: &[String],
) -> Result<Excitation> {
    let own = read(&text(robot)?, robot)?;
    let options = Options::of_all(Inertias::Moments);
    let mut declared = Declared::default();
    Tree::of(&own, robot, &options)?.write(robot, &mut declared)?;
    let motors = own.motors(robot, motors)?;
    let Some(motors) = motors else {
        return Err(match own.loops.first() {
            Some(first) => {
                let problem =
                    format!("`{}` closes a loop, and no <transmission> says which joints have motors", first.name);
                Error::file(robot, Some(first.line), problem, "name those that have: --motors JOINT,JOINT")
            }
            None => Error::file(robot, None, "no joint of this robot moves by itself", "give one with joints"),
        });
    };
    let intervals = (duration / KNOTS).round();
    if !(4.0..=1000.0).contains(&intervals) {
        let problem = format!("{duration} s are too short or too long for one motion");
        let remedy = format!("give {} to {} s", 4.0 * KNOTS, 1000.0 * KNOTS);
        return Err(Error::invalid("the duration", problem, remedy));
    }
    let mut notes = Vec::new();
    let moved = moved(&own, &declared, &motors, &mut notes);
    let rests = moved.iter().map(|own| (own.joint.name.clone(), own.rest)).collect();
    let options = options.clone().begin_at(rests);
    let kept = clear.kept((&own, &Tree::of(&own, robot, &options)?), &declared, &mut notes)?;
    let mechanism = quoted(&mechanism.to_string_lossy());
    let offsets = offsets_without_motors(&declared, |joint| motors[joint]);
    let offsets: String = offsets.into_iter().map(|line| line + "\n").collect();
    Ok(Excitation {
        mechanism: mechanism_text(&moved, &kept, &quoted(&shown.to_string_lossy()), (duration, intervals)),
        problem: problem_text(&moved, &kept, &mechanism, (duration, intervals)) + &offsets,
        notes,
    })
}

/// Limits of a joint, and of those that follow it, as its own.
fn within_followers(robot: &Robot, index: usize) -> Limits {
    let mut limits = robot.joints[index].limits;
    for follower in robot.joints.iter().filter(|joint| joint.mimic.is_some()) {
        // place of the follower: factor times that of the joint at the end of the chain, and sum
        let (mut own, mut factor, mut sum) = (follower, 1.0, 0.0);
        for _ in 0..=robot.joints.len() {
            let Some((leader, multiplier, offset)) = &own.mimic else { break };
            (factor, sum) = (factor * multiplier, sum + factor * offset);
            let Some(next) = robot.joints.iter().find(|joint| joint.name == *leader) else { break };
            own = next;
        }
        if !std::ptr::eq(own, &robot.joints[index]) || factor == 0.0 {
            continue;
        }
        if let Some(ends) = follower.limits.places {
            let [a, b] = ends.map(|end| (end - sum) / factor);
            let [lower, upper] = limits.places.unwrap_or([f64::NEG_INFINITY, f64::INFINITY]);
            limits.places = Some([lower.max(a.min(b)), upper.min(a.max(b))]);
        }
        if let Some(rate) = follower.limits.rate {
            let rate = rate / factor.abs();
            limits.rate = Some(limits.rate.map_or(rate, |own| own.min(rate)));
        }
    }
    // what leaves nothing over is no range
    limits.places = limits.places.filter(|[lower, upper]| lower < upper);
    limits
}

fn moved<'r>(robot: &'r Robot, declared: &Declared, motors: &[bool], notes: &mut Vec<String>) -> Vec<Moved<'r>> {
    let has_loops = !robot.loops.is_empty();
    let mut without: [Vec<&str>; 3] = Default::default();
    let mut moved = Vec::new();
    for (index, joint) in robot.joints.iter().enumerate().filter(|(_, joint)| joint.moves_by_itself()) {
        let is_prismatic = joint.kind == Kind::Prismatic;
        let Limits { places, rate, effort } = within_followers(robot, index);
        if places.is_none() {
            without[2].push(&joint.name);
        }
        let rate = rate.unwrap_or_else(|| {
            without[0].push(&joint.name);
            if is_prismatic { 0.25 } else { 1.0 }
        });
        if effort.is_none() && motors[index] {
            without[1].push(&joint.name);
        }
        let middle = places.map_or(0.0, |[lower, upper]| 0.5 * (lower + upper));
        let closed = places.map_or(0.0, |[lower, upper]| 0.0f64.clamp(lower, upper));
        let named = |list: &[(usize, String)]| {
            let known = list.iter().find(|(own, _)| *own == index);
            format!("robot_{}", known.map_or(&joint.name, |(_, name)| name))
        };
        moved.push(Moved {
            joint,
            has_motor: motors[index],
            part: named(&declared.parts),
            sensor: named(&declared.sensors),
            rest: if has_loops { closed } else { middle },
            most: if has_loops { SMALL[usize::from(is_prismatic)] } else { f64::INFINITY },
            places: places.map(|[lower, upper]| {
                let free = MARGIN * (upper - lower);
                [lower + free, upper - free].map(plain)
            }),
            rate: (1.0 - MARGIN) * rate,
            acceleration: rate / RISE,
            effort: effort.map(|effort| (1.0 - MARGIN) * effort),
            noise: effort.map_or(0.1, |effort| NOISE * effort),
        });
    }
    let [rates, efforts, places] = without.map(|names| names.join(", "));
    if !places.is_empty() {
        notes.push(format!("no range of {places}: any angle or way is taken"));
    }
    if !rates.is_empty() {
        notes.push(format!("no limit of the rate of {rates}: 1 rad/s or 0.25 m/s is taken"));
    }
    if !efforts.is_empty() {
        notes.push(format!("no limit of the effort of {efforts}: none is set, and noise of 0.1 N m or N is taken"));
    }
    if has_loops {
        let names = |has_motor: bool| {
            let own = moved.iter().filter(|own| own.has_motor == has_motor).map(|own| own.joint.name.as_str());
            own.collect::<Vec<_>>().join(", ")
        };
        notes.push(format!(
            "motors are at {}, and loops move {}; all begins and ends where angles of the file are zero, or nearest to it",
            names(true),
            names(false)
        ));
    }
    notes.push(format!("accelerations have no limit in URDF: a joint's full rate in {RISE} s is taken"));
    moved
}

impl Moved<'_> {
    /// Unit of its place.
    fn unit(&self) -> &'static str {
        if self.joint.kind == Kind::Prismatic { "m" } else { "rad" }
    }

    /// What its sensor calls its place.
    fn way(&self) -> &'static str {
        if self.joint.kind == Kind::Prismatic { "displacement" } else { "angle" }
    }

    /// How far it swings, and how often in the whole time: as much as limits allow, and each joint at a rate of its own.
    fn swing(&self, k: usize, duration: f64) -> (f64, f64) {
        let turns = (2.0 + ((k * 3) % 5) as f64) * (duration / 10.0).max(1.0);
        let frequency = TAU * turns / duration;
        let room =
            self.places.map_or(f64::INFINITY, |[lower, upper]| (upper - self.rest).min(self.rest - lower).max(0.0));
        let most =
            room.min(2.5 * self.most).min(self.rate / frequency).min(self.acceleration / (frequency * frequency));
        (0.4 * most, frequency)
    }
}

fn mechanism_text(moved: &[Moved<'_>], kept: &Kept, robot: &str, (duration, intervals): (f64, f64)) -> String {
    let mut text = format!(
        "# Each joint moves along a spline that `costate control` finds; what its drive takes is to say the most of bodies and friction.\n\
         {}",
        include(robot, "\"moments\"        # ten parameters a body, in which efforts are linear", 0.05)
    );
    for own in moved {
        let _ = writeln!(text, "{} = {:?}", quoted(&own.joint.name), own.rest);
    }
    let mut outputs = Vec::new();
    for (k, own) in moved.iter().enumerate().filter(|(_, own)| own.has_motor) {
        let (number, unit, rest) = (k + 1, own.unit(), own.rest);
        let _ = write!(
            text,
            "\n[motion.q{number}]\nunit = \"{unit}\"\nuntil = {duration:?}\nintervals = {intervals:.0}\ndegree = \"quintic\"\n\
             begin = [{rest:?}, 0.0, 0.0]     # at rest\nend = [{rest:?}, 0.0, 0.0]\n{}",
            drive(number, &own.part, unit == "m", &format!("motion = \"q{number}\"")),
        );
        outputs.push(format!("\"tau{number}.effort\""));
    }
    text += &kept.parts;
    let _ = write!(
        text,
        "\n[scenario]\nend = {duration:?}\nstep = {:?}\nscheme = \"inverse-dynamics\"\ninitial_state = \"projected\"\noutputs = [{}]\n",
        KNOTS / 5.0,
        outputs.join(", ")
    );
    text
}

fn problem_text(moved: &[Moved<'_>], kept: &Kept, mechanism: &str, (duration, intervals): (f64, f64)) -> String {
    let mut text = format!(
        "model = {mechanism}\n\n\
         [optimiser]\n\
         gradient_tolerance = 2e-3   # of that at the start: an excitation need not be the very best\n\
         max_iterations = 200        # Ctrl-C keeps the best so far, too\n\n\
         [control.information]\n\
         criterion = \"D\"             # the volume of errors; \"A\": their mean square; \"E\": the longest axis\n\
         known = 3.0                 # of each parameter before, in its sizes: what no motion can tell stays there\n"
    );
    let first = moved.iter().find(|own| own.has_motor);
    for (k, own) in moved.iter().enumerate().filter(|(_, own)| own.has_motor) {
        let unit = if own.unit() == "m" { "N" } else { "N m" };
        let said = if first.is_some_and(|first| std::ptr::eq(own, first)) {
            format!("     # {unit}: noise of the measured effort")
        } else {
            String::new()
        };
        let _ = writeln!(text, "outputs.\"tau{}.effort\" = {:?}{said}", k + 1, own.noise);
    }
    for (k, own) in moved.iter().enumerate() {
        let (number, name) = (k + 1, own.joint.name.replace('\n', " "));
        let (motion, range) = (&own.sensor, own.places.map(|[lower, upper]| upper - lower));
        if own.has_motor {
            let _ = write!(text, "\n[[control.signal]]      # {name}\ninput = \"q{number}\"\n");
            let _ = writeln!(text, "size = {:?}", range.map_or(1.0, |range| 0.25 * range));
            if let Some([lower, upper]) = own.places {
                let _ = writeln!(text, "lower = {lower:?}\nupper = {upper:?}");
            }
        } else if let (Some([lower, upper]), Some(range)) = (own.places, range) {
            let (output, weight) = (quoted(&format!("{motion}.{}", own.way())), STIFF / (MARGIN * range).powi(2));
            let _ = writeln!(
                text,
                "\n[[control.goal]]      # {name}: loops move it\noutput = {output}\nlower = {lower:?}\nupper = {upper:?}\nweight = {weight:?}"
            );
        }
        let mut goal = |output: &str, most: f64| {
            let output = quoted(output);
            let _ = writeln!(
                text,
                "[[control.goal]]\noutput = {output}\nlower = {:?}\nupper = {most:?}\nweight = {:?}",
                -most,
                STIFF / (most * most)
            );
        };
        goal(&format!("{motion}.rate"), own.rate);
        goal(&format!("{motion}.acceleration"), own.acceleration);
        own.effort.iter().filter(|_| own.has_motor).for_each(|effort| goal(&format!("tau{number}.effort"), *effort));
    }
    for (output, lower, size) in &kept.outputs {
        let (output, weight) = (quoted(output), STIFF / (size * size));
        let _ = writeln!(text, "[[control.goal]]\noutput = {output}\nlower = {lower:?}\nweight = {weight:?}");
    }
    text += "\n[parameters]      # coefficients of the splines at the start of the search: every joint swings\n";
    for (k, own) in moved.iter().enumerate().filter(|(_, own)| own.has_motor) {
        let (swing, frequency) = own.swing(k, duration);
        let count = intervals as usize + 5;
        for free in 3..count - 3 {
            // where the coefficient acts the most: the mean of its knots
            let inner = |j: usize| (j as f64 - 5.0).clamp(0.0, intervals);
            let place = (free + 1..free + 6).map(inner).sum::<f64>() / 5.0 * duration / intervals;
            let value = own.rest + swing * (frequency * place + k as f64).sin();
            let _ = writeln!(text, "q{}_{free} = {{ start = {value:.6} }}", k + 1);
        }
    }
    text
}
