//! What a motion that is found keeps away from: other links, and the floor.

use super::frame::Frame;
use super::mechanism::{Declared, Tree};
use super::record::quoted;
use super::urdf::{Kind, Robot};
use costate_identify::{Error, Result};
use costate_parts::spatial::distance_of_lines;
use std::fmt::Write;

/// How much room links take, and what they keep away from.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clear {
    /// Radius of all links about the lines from their joints to the next ones, m.
    pub thickness: Option<f64>,
    /// Height of the floor over the first link's origin, m.
    pub floor: Option<f64>,
}

/// Room between links that is kept, beside their thickness.
const FREE: f64 = 0.5;

/// Parts of the mechanism that show distances, and outputs with their least values, m, and the size of what goes beyond.
#[derive(Default)]
pub(super) struct Kept {
    pub parts: String,
    pub outputs: Vec<(String, f64, f64)>,
}

/// A link's line.
struct Line {
    /// The link.
    link: usize,
    /// The link whose body it is on.
    body: Option<usize>,
    /// Its ends on the body, and in the world at rest.
    ends: [[f64; 3]; 2],
    world: [[f64; 3]; 2],
}

/// The lines of all links: from where the joint that leads to it is to those that lead on; of the last ones twice as far as to the centre of mass.
fn lines(robot: &Robot, tree: &Tree<'_>) -> Vec<Line> {
    let mut all = Vec::new();
    for (link, own) in robot.links.iter().enumerate() {
        let mut ends: Vec<[f64; 3]> =
            robot.joints.iter().filter(|joint| joint.parent == link).map(|joint| joint.frame.origin).collect();
        if let (true, Some((_, frame, _))) = (ends.is_empty(), &own.inertial) {
            ends.push(frame.origin.map(|x| 2.0 * x));
        }
        let (body, frame): (Option<usize>, Frame) = tree.home[link];
        for end in ends {
            // what is fixed with no way between takes no room of its own
            let length = end.iter().map(|x| x * x).sum::<f64>().sqrt();
            if length > 1e-6 {
                let world = [[0.0; 3], end].map(|point| tree.at[link].point(point));
                all.push(Line { link, body, ends: [[0.0; 3], end].map(|point| frame.point(point)), world });
            }
        }
    }
    all
}

/// Without digits of round-off.
pub(super) fn plain(x: f64) -> f64 {
    (x * 1e9).round() / 1e9
}

impl Clear {
    /// What is to be kept apart, with parts that show how far it is.
    pub(super) fn kept(
        self,
        (robot, tree): (&Robot, &Tree<'_>),
        declared: &Declared,
        notes: &mut Vec<String>,
    ) -> Result<Kept> {
        let mut kept = Kept::default();
        let Some(thickness) = self.thickness else {
            if self.floor.is_some() {
                let remedy = "give the links' radius, --thickness 0.08 perhaps";
                return Err(Error::invalid("--floor", "links have no thickness", remedy));
            }
            notes.push(
                "nothing is known of collisions: give --thickness (and --floor), or look at the motion first"
                    .to_string(),
            );
            return Ok(kept);
        };
        if !(thickness.is_finite() && thickness > 0.0) {
            return Err(Error::invalid("--thickness", format!("{thickness} m is no radius"), "give a positive one"));
        }
        let lines = lines(robot, tree);
        let member = |body: Option<usize>| {
            let named = declared.members.iter().find(|(link, _)| Some(*link) == body);
            named.map_or_else(|| "ground".to_string(), |(_, name)| format!("robot_{name}"))
        };
        for (k, line) in lines.iter().enumerate() {
            let [from, to] = line.ends;
            let _ = write!(
                kept.parts,
                "\n[capsule.link{}]      # {}\non = {}\nfrom = {from:?}\nto = {to:?}\nradius = {thickness:?}\n",
                k + 1,
                robot.links[line.link].name.replace('\n', " "),
                quoted(&member(line.body)),
            );
        }
        let leads = |a: Option<usize>, b: Option<usize>| {
            let moves = |kind: Kind| kind != Kind::Fixed;
            robot
                .joints
                .iter()
                .any(|joint| moves(joint.kind) && tree.home[joint.parent].0 == a && tree.home[joint.child].0 == b)
        };
        let mut touching = Vec::new();
        for (k, first) in lines.iter().enumerate() {
            for (j, second) in lines.iter().enumerate().skip(k + 1) {
                if first.body == second.body || leads(first.body, second.body) || leads(second.body, first.body) {
                    continue;
                }
                if distance_of_lines([first.world, second.world]) < (2.0 + FREE) * thickness {
                    touching.push([first, second].map(|line| robot.links[line.link].name.as_str()).join(" and "));
                    continue;
                }
                let name = format!("apart{}_{}", k + 1, j + 1);
                let _ = write!(
                    kept.parts,
                    "\n[sensor.{name}]\nshows = \"clearance\"\nbetween = [\"link{}\", \"link{}\"]\n",
                    k + 1,
                    j + 1
                );
                kept.outputs.push((format!("{name}.distance"), plain(FREE * thickness), FREE * thickness));
            }
        }
        if let Some(floor) = self.floor {
            let least = floor + (1.0 + FREE) * thickness;
            for (k, line) in lines.iter().enumerate().filter(|(_, line)| line.body.is_some()) {
                let link = &robot.links[line.link].name;
                if line.world[1][2] < least {
                    touching.push(format!("{link} and the floor"));
                    continue;
                }
                let name = format!("height{}", k + 1);
                let (body, to) = (quoted(&member(line.body)), line.ends[1]);
                let _ = write!(kept.parts, "\n[sensor.{name}]\nshows = \"position\"\n{body} = {to:?}\n");
                kept.outputs.push((format!("{name}.z"), plain(least), FREE * thickness));
            }
        }
        if !touching.is_empty() {
            notes.push(format!(
                "nearer than {} m in the middle of all ranges, and not kept apart: {}",
                FREE * thickness,
                touching.join(", ")
            ));
        }
        let floor = if self.floor.is_some() { ", and the floor" } else { "" };
        notes.push(format!(
            "links are taken for lines from joint to joint with a radius of {thickness} m{floor}: look at the motion first all the same"
        ));
        Ok(kept)
    }
}
