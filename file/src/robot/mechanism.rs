//! The mechanism of a robot, as the text of a mechanism file.

use super::frame::{Frame, Moments};
use super::urdf::{Form, Joint, Kind, Motor, Robot, read};
use crate::parts::spatial::quaternion;
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};
use costate_parts::spatial::{check_moments, factors_of_moments};
use std::collections::{BTreeMap, HashSet, VecDeque};
use std::f64::consts::FRAC_1_SQRT_2;
use std::fmt::Write;
use std::path::Path;

/// Keys of an include that are for robots alone.
pub(crate) const KEYS: [&str; 7] = ["joints", "inertias", "fixed_joints", "base", "friction", "slip", "efforts"];

/// The inertia of links in the mechanism.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Inertias {
    /// Ten parameters a body, in which forces are linear.
    Moments,
    /// Ten parameters a body, of which every choice is possible.
    Factors,
    /// Numbers.
    Fixed,
}

/// Choices of what is made of a robot.
#[derive(Debug, Clone)]
pub(crate) struct Options {
    inertias: Inertias,
    /// True if links at fixed joints become one body.
    are_merged: bool,
    is_base_free: bool,
    /// True if every joint has friction with parameters.
    has_friction: bool,
    /// Rate at which dry friction has nearly grown up.
    slip: f64,
    /// True if joints have inputs, and there is a scenario.
    pub has_efforts: bool,
    /// Angles and ways of joints at the start.
    start: BTreeMap<String, f64>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            inertias: Inertias::Moments,
            are_merged: true,
            is_base_free: false,
            has_friction: false,
            slip: 0.01,
            has_efforts: true,
            start: BTreeMap::new(),
        }
    }
}

impl Options {
    /// All joints with friction, and inertias in one of their forms.
    pub(super) fn of_all(inertias: Inertias) -> Self {
        Options { inertias, has_friction: true, ..Options::default() }
    }

    /// With joints at these places at the start, by their names.
    pub(super) fn begin_at(self, start: BTreeMap<String, f64>) -> Self {
        Options { start, ..self }
    }

    /// Choices of a file that includes a robot.
    pub fn of(own: &Section<'_>) -> Result<Self> {
        let mut options = Options { has_efforts: own.flag("efforts")?.unwrap_or(false), ..Options::default() };
        options.inertias = match own.text("inertias")?.as_deref() {
            None | Some("moments") => Inertias::Moments,
            Some("factors") => Inertias::Factors,
            Some("fixed") => Inertias::Fixed,
            Some(other) => {
                let known = ["moments", "factors", "fixed"];
                return Err(own.at("inertias", Error::unknown("form of inertias", other, own.place(), known)));
            }
        };
        let choice = |key: &str, [usual, other]: [&'static str; 2]| match own.text(key)?.as_deref() {
            None => Ok(false),
            Some(text) if text == usual => Ok(false),
            Some(text) if text == other => Ok(true),
            Some(text) => Err(own.at(key, Error::unknown("choice", text, own.place(), [usual, other]))),
        };
        options.are_merged = !choice("fixed_joints", ["merged", "kept"])?;
        options.is_base_free = choice("base", ["held", "free"])?;
        options.has_friction = own.flag("friction")?.unwrap_or(false);
        options.slip = own.number("slip")?.unwrap_or(options.slip);
        if options.slip <= 0.0 {
            return Err(own.wrong("slip", "it is not positive", "give a rate such as 0.01"));
        }
        if let Some(joints) = own.section("joints")? {
            for name in joints.table.keys() {
                options.start.insert(name.clone(), joints.number(name)?.unwrap_or_default());
            }
        }
        Ok(options)
    }
}

/// Names of the parameters of a robot, without what a file that includes it puts in front.
#[derive(Debug, Default)]
pub(super) struct Declared {
    /// Links whose bodies have parameters, with their ten names.
    pub bodies: Vec<(usize, Vec<String>)>,
    /// Links whose bodies are members, and what these are called.
    pub members: Vec<(usize, String)>,
    /// Joints, and what they are called as parts.
    pub parts: Vec<(usize, String)>,
    /// Joints, and the sensors of their motion.
    pub sensors: Vec<(usize, String)>,
    /// Motors that turn two joints, and the parameters of their rotors.
    pub motors: Vec<(usize, String)>,
    /// Joints, what the parameter is (`d`, `Fc`, `J_rotor` ..), and its name.
    pub joints: Vec<(usize, &'static str, String)>,
}

/// The text that is written, and the line of the robot's file that each of its lines comes from.
struct Writer {
    text: String,
    lines: Vec<u64>,
}

impl Writer {
    fn line(&mut self, from: u64, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
        self.lines.push(from);
    }
}

/// A key or a text in quotes.
fn quoted(name: &str) -> String {
    toml::Value::String(name.replace(['\n', '\r', '\t'], " ")).to_string()
}

fn list<const N: usize>(numbers: [f64; N]) -> String {
    // no sign of zeros
    format!("{:?}", numbers.map(|number| number + 0.0))
}

/// Names of parts, of which there are no two, and none means anything else.
struct Names(HashSet<String>);

impl Names {
    fn part(&mut self, name: &str, kind: &str) -> String {
        let mut own = name.to_string();
        let meant = ["ground", "from", "on", "point", "axis", "across", "lead", "length", "of"];
        while meant.contains(&own.as_str()) || !self.0.insert(own.clone()) {
            own = format!("{own}_{kind}");
        }
        own
    }

    /// A name that formulas know.
    fn parameter(&mut self, prefix: &str, name: &str) -> String {
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let mut own = format!("{prefix}_{plain}");
        while !self.0.insert(own.clone()) {
            own.push('_');
        }
        own
    }
}

/// Links, and where they are.
pub(super) struct Tree<'r> {
    robot: &'r Robot,
    options: &'r Options,
    /// The joint that leads to a link.
    leading: Vec<Option<usize>>,
    /// Links, those that carry others first.
    order: Vec<usize>,
    /// The link whose body a link is part of, and its frame there; `None`: the ground.
    pub home: Vec<(Option<usize>, Frame)>,
    /// Frames of links in the world at the start.
    pub at: Vec<Frame>,
}

/// The text of a mechanism file that says what a robot's says, and the lines of that by the text's.
///
/// # Errors
/// What is no robot, with the line and the reason.
pub(crate) fn translate(text: &str, path: &Path, options: &Options) -> Result<(String, Vec<u64>)> {
    let robot = read(text, path)?;
    let tree = Tree::of(&robot, path, options)?;
    tree.write(path, &mut Declared::default())
}

/// Names of the numbers of a body, beside the factors that its file gives: logarithms of the mass and of second moments, over those of the file, and shears
/// and shifts of the centre, beside the size.
const FACTORS: [&str; 10] = ["lm", "l1", "l2", "l3", "s12", "s13", "s23", "t1", "t2", "t3"];

/// Factors of a body, as formulas of ten plain numbers that are zero for the file's own: with U₀ the factor of the pseudo-inertia in the file and V
/// that with α = l_m/2, d = (l - l_m)/2, s/√2 and t/√2, U = U₀ V. The entropic distance of the body from the file's (Lee, Wensing & Park 2020),
/// tr(V Vᵀ) - ln det(V Vᵀ) - 4, is 2 α² + 2 Σ (α + d)² + Σ s² + Σ t² of V's own factors to second order, which is half the sum of the squares of the ten
/// numbers, for bodies of all sizes, whatever the units are.
fn formulas_of_factors(own: [f64; 10], names: &[String]) -> Vec<String> {
    let [alpha, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3] = own;
    let [a, b, c] = [d_1, d_2, d_3].map(f64::exp);
    // what is round-off beside the body's extent is nothing, which leaves formulas linear
    let [s_12, s_13, s_23] = [s_12, s_13, s_23].map(|s| if s.abs() < 1e-12 * (a + b + c) { 0.0 } else { s });
    let n = |k: usize| names[k].as_str();
    let sum = |terms: &[(f64, String)]| {
        let kept: Vec<String> = terms
            .iter()
            .filter(|(factor, _)| *factor != 0.0)
            .map(
                |(factor, of)| if of.is_empty() { format!("({factor:?}[m])") } else { format!("({factor:?}[m])*{of}") },
            )
            .collect();
        kept.join(" + ")
    };
    let by = |k: usize| format!("{:?}*{}", FRAC_1_SQRT_2, n(k));
    let half = |k: usize| format!("0.5*({} - {})", n(k), n(0));
    let exp = |k: usize| format!("exp({})", half(k));
    vec![
        format!("({alpha:?}) + 0.5*{}", n(0)),
        format!("({d_1:?}) + {}", half(1)),
        format!("({d_2:?}) + {}", half(2)),
        format!("({d_3:?}) + {}", half(3)),
        sum(&[(a, by(4)), (s_12, exp(2))]),
        sum(&[(a, by(5)), (s_12, by(6)), (s_13, exp(3))]),
        sum(&[(b, by(6)), (s_23, exp(3))]),
        sum(&[(a, by(7)), (s_12, by(8)), (s_13, by(9)), (t_1, String::new())]),
        sum(&[(b, by(8)), (s_23, by(9)), (t_2, String::new())]),
        sum(&[(c, by(9)), (t_3, String::new())]),
    ]
}

/// The factors that [`formulas_of_factors`] says, for these numbers.
pub(super) fn factors_beside(own: [f64; 10], numbers: [f64; 10]) -> [f64; 10] {
    let [alpha, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3] = own;
    let [a, b, c] = [d_1, d_2, d_3].map(f64::exp);
    let [l_m, l_1, l_2, l_3, others @ ..] = numbers;
    let by_alpha = 0.5 * l_m;
    let [e_1, e_2, e_3] = [l_1, l_2, l_3].map(|l| 0.5 * (l - l_m));
    let [r_12, r_13, r_23, w_1, w_2, w_3] = others.map(|number| number * FRAC_1_SQRT_2);
    [
        alpha + by_alpha,
        d_1 + e_1,
        d_2 + e_2,
        d_3 + e_3,
        a * r_12 + s_12 * e_2.exp(),
        a * r_13 + s_12 * r_23 + s_13 * e_3.exp(),
        b * r_23 + s_23 * e_3.exp(),
        a * w_1 + s_12 * w_2 + s_13 * w_3 + t_1,
        b * w_2 + s_23 * w_3 + t_2,
        c * w_3 + t_3,
    ]
}

/// What a link looks like, in the frame of its body.
fn shape((name, body): (&str, &str), line: u64, frame: Frame, form: &Form, parts: &mut Writer) {
    let (form, sizes) = match form {
        Form::Box(edges) => ("box", format!("edges = {edges:?}")),
        Form::Cylinder { radius, length } => ("cylinder", format!("radius = {radius:?}\nlength = {length:?}")),
        Form::Capsule { radius, length } => ("capsule", format!("radius = {radius:?}\nlength = {length:?}")),
        Form::Ball { radius } => ("ball", format!("radius = {radius:?}")),
    };
    let [axis, across] = [[0.0, 0.0, 1.0], [1.0, 0.0, 0.0]].map(|way| list(frame.vector(way)));
    let place = format!("{{ at = {}, axis = {axis}, across = {across} }}", list(frame.origin));
    let table = format!("[shape.{}]\nform = \"{form}\"\n{sizes}\n{} = {place}", quoted(name), quoted(body));
    table.lines().for_each(|own| parts.line(line, own));
}

impl<'r> Tree<'r> {
    pub fn of(robot: &'r Robot, path: &Path, options: &'r Options) -> Result<Self> {
        let count = robot.links.len();
        let wrong = |line: u64, problem: String, remedy: &str| Error::file(path, Some(line), problem, remedy);
        let mut leading: Vec<Option<usize>> = vec![None; count];
        for (k, joint) in robot.joints.iter().enumerate() {
            if let Some(other) = leading[joint.child].replace(k) {
                let (link, other) = (&robot.links[joint.child].name, &robot.joints[other].name);
                let problem = format!("joints `{other}` and `{}` both lead to link `{link}`", joint.name);
                let remedy =
                    "let one of them be a <loop_joint>, or close the loop in a mechanism file that includes this one";
                return Err(wrong(joint.line, problem, remedy));
            }
        }
        let roots: Vec<usize> = (0..count).filter(|&link| leading[link].is_none()).collect();
        let root = match roots.as_slice() {
            [root] => *root,
            [] => {
                let problem = "its joints lead round in circles: no link is the first one".to_string();
                return Err(wrong(robot.links[0].line, problem, "let one link be no joint's child"));
            }
            [_, other, ..] => {
                let problem =
                    format!("no joint leads to `{}` nor to `{}`", robot.links[roots[0]].name, robot.links[*other].name);
                return Err(wrong(robot.links[*other].line, problem, "connect all links, with a fixed joint perhaps"));
            }
        };
        for name in options.start.keys() {
            let moves = |joint: &&Joint| !matches!(joint.kind, Kind::Fixed | Kind::Floating) && joint.mimic.is_none();
            let all = || robot.joints.iter().filter(moves).map(|joint| joint.name.as_str());
            if !all().any(|own| own == name) {
                return Err(Error::unknown("joint that moves by itself", name, path.display().to_string(), all()));
            }
        }
        let is_grounded = !options.is_base_free && options.are_merged;
        let mut tree = Tree {
            robot,
            options,
            leading,
            order: Vec::new(),
            home: vec![(None, Frame::SAME); count],
            at: vec![Frame::SAME; count],
        };
        tree.home[root] = ((!is_grounded).then_some(root), Frame::SAME);
        let mut next = VecDeque::from([root]);
        while let Some(link) = next.pop_front() {
            tree.order.push(link);
            for joint in robot.joints.iter().filter(|joint| joint.parent == link) {
                let (home, frame) = tree.home[link];
                let is_same = joint.kind == Kind::Fixed && options.are_merged;
                tree.home[joint.child] =
                    if is_same { (home, frame.of(&joint.frame)) } else { (Some(joint.child), Frame::SAME) };
                let place = tree.place(joint, path)?;
                let moved = match joint.kind {
                    Kind::Revolute => Frame::turned(joint.axis, place),
                    Kind::Prismatic => Frame::moved(joint.axis.map(|x| x * place)),
                    _ => Frame::SAME,
                };
                tree.at[joint.child] = tree.at[link].of(&joint.frame).of(&moved);
                next.push_back(joint.child);
            }
        }
        if tree.order.len() < count {
            let lost = (0..count).find(|link| !tree.order.contains(link)).unwrap_or(0);
            let problem = format!("the joints that lead to `{}` come from no first link", robot.links[lost].name);
            return Err(wrong(robot.links[lost].line, problem, "let them begin at the link that no joint leads to"));
        }
        Ok(tree)
    }

    /// Angle or way of a joint at the start.
    fn place(&self, joint: &Joint, path: &Path) -> Result<f64> {
        let mut own = joint;
        let (mut factor, mut sum) = (1.0, 0.0);
        // a joint that follows one that follows one
        for _ in 0..=self.robot.joints.len() {
            let Some((leader, multiplier, offset)) = &own.mimic else {
                return Ok(factor * self.options.start.get(&own.name).copied().unwrap_or(0.0) + sum);
            };
            (factor, sum) = (factor * multiplier, sum + factor * offset);
            own = self.leader(own, leader, path)?;
        }
        let problem = format!("joint `{}` follows itself", joint.name);
        Err(Error::file(path, Some(joint.line), problem, "let one of them follow none"))
    }

    fn leader(&self, joint: &Joint, leader: &str, path: &Path) -> Result<&'r Joint> {
        let all = &self.robot.joints;
        all.iter().find(|own| own.name == leader && !matches!(own.kind, Kind::Fixed | Kind::Floating)).ok_or_else(
            || {
                let problem = format!("joint `{}` mimics `{leader}`, and no joint of this name moves", joint.name);
                Error::file(path, Some(joint.line), problem, "name one that moves")
            },
        )
    }

    /// What a body weighs: its own link, and those that are fixed to it.
    pub fn moments(&self, body: usize) -> Moments {
        let mut sum = Moments::default();
        for (link, (home, frame)) in self.robot.links.iter().zip(&self.home) {
            if let (Some((mass, own, tensor)), true) = (&link.inertial, *home == Some(body)) {
                sum.add(&Moments::at(&frame.of(own), *mass, *tensor));
            }
        }
        sum
    }

    /// The text, and the lines of the robot's file by its own.
    pub fn write(&self, path: &Path, declared: &mut Declared) -> Result<(String, Vec<u64>)> {
        let Robot { name, links, joints, loops, motors } = self.robot;
        let mut out = Writer { text: String::new(), lines: Vec::new() };
        let mut names = Names(HashSet::new());
        let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
        let plain = if plain.starts_with(|c: char| c.is_ascii_digit()) { format!("robot_{plain}") } else { plain };
        out.line(1, &format!("name = {}", quoted(if plain.is_empty() { "robot" } else { &plain })));
        out.line(1, "kind = \"spatial\"");
        if !loops.is_empty() {
            out.line(1, "redundant_rows = \"leave-out\"");
        }
        // parts by their names in the file, and parameters in front of what uses them
        let mut parts = Writer { text: String::new(), lines: Vec::new() };
        let mut parameters = Writer { text: String::new(), lines: Vec::new() };
        let mut bodies: Vec<Option<String>> = vec![None; links.len()];
        for &link in &self.order {
            if self.home[link].0 == Some(link) {
                let own = names.part(&links[link].name, "link");
                declared.members.push((link, own.clone()));
                bodies[link] = Some(own);
            }
        }
        for &link in &self.order {
            if let Some(body) = &bodies[link] {
                self.body(link, body, path, (&mut names, &mut parts, &mut parameters, declared))?;
            }
        }
        let member = |link: usize| {
            let (home, frame) = self.home[link];
            let name = home.and_then(|home| bodies[home].clone());
            (name.unwrap_or_else(|| "ground".into()), frame)
        };
        let mut of_joints: BTreeMap<&str, String> = BTreeMap::new();
        let root = self.order[0];
        if let (Some(body), false) = (&bodies[root], self.options.is_base_free) {
            let base = names.part("base", "joint");
            parts.line(links[root].line, &format!("[weld.{}]", quoted(&base)));
            parts.line(links[root].line, &format!("ground = [0, 0, 0]\n{} = [0, 0, 0]", quoted(body)));
            parts.lines.push(links[root].line);
        }
        let mut inputs = Vec::new();
        let mut shown = Vec::new();
        for &link in &self.order {
            let Some(joint) = self.leading[link].map(|k| &joints[k]) else { continue };
            let kind = match joint.kind {
                Kind::Revolute => "revolute",
                Kind::Prismatic => "prismatic",
                Kind::Planar => "planar",
                Kind::Fixed if self.options.are_merged => continue,
                Kind::Fixed => "weld",
                Kind::Floating => continue,
            };
            let own = names.part(&joint.name, "joint");
            let (parent, there) = member(joint.parent);
            let (child, here) = member(joint.child);
            self.joint(
                (&own, kind),
                joint.line,
                [(parent, there.of(&joint.frame)), (child, here)],
                [joint.axis; 2],
                &mut parts,
            );
            of_joints.insert(&joint.name, own.clone());
            declared.parts.extend(self.leading[link].map(|k| (k, own.clone())));
            if matches!(joint.kind, Kind::Revolute | Kind::Prismatic) {
                self.moving((joint, &own), (&mut names, &mut parts, &mut parameters, declared), &mut inputs);
                shown.push((joint, own, self.leading[link]));
            }
        }
        for joint in joints.iter().filter(|joint| joint.kind != Kind::Fixed) {
            let Some((leader, ratio, offset)) = &joint.mimic else { continue };
            let leader = self.leader(joint, leader, path)?;
            let freedom = |joint: &Joint| if joint.kind == Kind::Prismatic { "slide" } else { "turn" };
            let name = names.part(&format!("{}_mimic", joint.name), "coupling");
            parts.line(joint.line, &format!("[coupling.{}]", quoted(&name)));
            let [from, on] = [leader, joint].map(|own| quoted(&of_joints[own.name.as_str()]));
            parts.line(joint.line, &format!("from = {from}"));
            parts.line(joint.line, &format!("on = {on}"));
            parts.line(joint.line, &format!("freedoms = [\"{}\", \"{}\"]", freedom(leader), freedom(joint)));
            parts.line(joint.line, &format!("ratio = {ratio:?}"));
            parts.line(joint.line, &format!("offset = {offset:?}"));
        }
        for (number, own) in motors.iter().enumerate() {
            self.motor((number, own), &of_joints, (&mut names, &mut parts, &mut parameters, declared));
        }
        for own in loops {
            let [(first, place), (second, other)] = own.places;
            if self.home[first].0 == self.home[second].0 {
                let [one, two] = [first, second].map(|link| &self.robot.links[link].name);
                let problem = format!("`{}` closes no loop: `{one}` and `{two}` are one body", own.name);
                let remedy =
                    "name links that move against each other, or keep what is fixed apart (fixed_joints = \"kept\")";
                return Err(Error::file(path, Some(own.line), problem, remedy));
            }
            let name = names.part(&own.name, "joint");
            let there = other.unwrap_or(Frame::SAME);
            // a place that follows from the other one: as links are where all joints are at zero
            let place = place.unwrap_or_else(|| {
                let [first, second] = [first, second].map(|link| self.at_rest(link));
                first.inverse().of(&second).of(&there)
            });
            let both = [(first, place), (second, there)].map(|(link, frame)| {
                let (name, home) = member(link);
                (name, home.of(&frame))
            });
            if own.kind == "revolute" {
                // rows along the joint's own axes: of a loop in a plane, the one across it is that which repeats others, wherever the plane turns
                let along = names.part(&format!("{}_along", own.name), "joint");
                self.joint((&along, "in_plane"), own.line, both.clone(), own.axes, &mut parts);
                self.joint((&name, "cylindrical"), own.line, both, own.axes, &mut parts);
            } else {
                self.joint((&name, own.kind), own.line, both, own.axes, &mut parts);
            }
        }
        for (link, own) in links.iter().enumerate() {
            let (body, home) = member(link);
            for (frame, form) in &own.shapes {
                let name = names.part(&format!("{}_looks", own.name), "shape");
                shape((&name, &body), own.line, home.of(frame), form, &mut parts);
            }
        }
        for (joint, own, number) in &shown {
            let freedom = if joint.kind == Kind::Prismatic { "slide" } else { "turn" };
            let name = names.part(&format!("{}_motion", joint.name), "sensor");
            declared.sensors.extend(number.map(|k| (k, name.clone())));
            parts.line(joint.line, &format!("[sensor.{}]", quoted(&name)));
            parts.line(joint.line, "shows = \"joint\"");
            parts.line(joint.line, &format!("of = {}", quoted(own)));
            parts.line(joint.line, &format!("freedom = \"{freedom}\""));
        }
        if self.options.has_efforts {
            let given: Vec<String> =
                inputs.iter().map(|(_, name, unit)| format!("{} = \"{unit}\"", quoted(name))).collect();
            if !given.is_empty() {
                out.line(1, &format!("inputs = {{ {} }}", given.join(", ")));
            }
            parts.line(1, "[scenario]");
            parts.line(1, "end = 1.0");
            parts.line(1, "step = 1e-3");
            if !loops.is_empty() {
                parts.line(1, "initial_state = \"projected\"");
            }
        }
        out.text.push_str(&parameters.text);
        out.lines.append(&mut parameters.lines);
        out.text.push_str(&parts.text);
        out.lines.append(&mut parts.lines);
        Ok((out.text, out.lines))
    }

    /// The frame of a link in the first one, where all joints are at zero.
    fn at_rest(&self, link: usize) -> Frame {
        let mut frame = Frame::SAME;
        let mut own = link;
        while let Some(joint) = self.leading[own].map(|k| &self.robot.joints[k]) {
            frame = joint.frame.of(&frame);
            own = joint.parent;
        }
        frame
    }

    /// A joint, with its axes in the frames of both places.
    fn joint(
        &self,
        (name, kind): (&str, &str),
        line: u64,
        places: [(String, Frame); 2],
        axes: [[f64; 3]; 2],
        parts: &mut Writer,
    ) {
        parts.line(line, &format!("[{kind}.{}]", quoted(name)));
        for ((member, frame), axis) in places.into_iter().zip(axes) {
            // across the axis: the direction that is farthest from it
            let least = (0..3).fold(0, |least, k| if axis[k].abs() < axis[least].abs() { k } else { least });
            let across: [f64; 3] = std::array::from_fn(|k| if k == least { 1.0 } else { 0.0 } - axis[least] * axis[k]);
            let length = across.iter().map(|x| x * x).sum::<f64>().sqrt();
            let across = across.map(|x| x / length);
            let at = list(frame.origin);
            let place = match kind {
                "spherical" => at,
                _ => {
                    let [axis, across] = [axis, across].map(|way| list(frame.vector(way)));
                    format!("{{ at = {at}, axis = {axis}, across = {across} }}")
                }
            };
            parts.line(line, &format!("{} = {place}", quoted(&member)));
        }
    }

    /// Rotor and friction of a motor that turns two joints.
    fn motor(
        &self,
        (number, own): (usize, &Motor),
        of_joints: &BTreeMap<&str, String>,
        (names, parts, parameters, declared): (&mut Names, &mut Writer, &mut Writer, &mut Declared),
    ) {
        if own.rotor == 0.0 && !self.options.has_friction {
            return;
        }
        let line = own.line;
        let mut declare = |prefix: &'static str, unit: &str, nominal: f64| {
            let name = names.parameter(prefix, &own.name);
            let size = if nominal == 0.0 { "\nsize = 0.1" } else { "" };
            let text = format!("[parameters.{name}]\nunit = \"{unit}\"\nnominal = {nominal:?}{size}\nlower = 0.0");
            text.lines().for_each(|own| parameters.line(line, own));
            name
        };
        let mut text = Vec::new();
        if own.rotor != 0.0 {
            let inertia = declare("J_rotor", "kg m^2", own.rotor);
            text.push(format!("inertia = {}", quoted(&inertia)));
            declared.motors.push((number, inertia));
        }
        if self.options.has_friction {
            let (damping, dry) = (declare("d", "N m s/rad", 0.0), declare("Fc", "N m", 0.0));
            let law = format!("{damping}*x' + coulomb(x', {dry}, {:?})", self.options.slip);
            text.push(format!("tension = {}", quoted(&law)));
        }
        let joints =
            own.of.iter().filter(|(_, ratio)| *ratio != 0.0).map(|(k, ratio)| (&self.robot.joints[*k], *ratio));
        let (joints, ratios): (Vec<&Joint>, Vec<f64>) = joints.unzip();
        let of: Vec<String> = joints.iter().map(|joint| quoted(&of_joints[joint.name.as_str()])).collect();
        let freedoms = joints.iter().map(|joint| if joint.kind == Kind::Prismatic { "\"slide\"" } else { "\"turn\"" });
        let name = names.part(&own.name, "tendon");
        parts.line(line, &format!("[tendon.{}]", quoted(&name)));
        parts.line(line, &format!("of = [{}]", of.join(", ")));
        parts.line(line, &format!("freedoms = [{}]", freedoms.collect::<Vec<_>>().join(", ")));
        parts.line(line, &format!("ratios = {ratios:?}"));
        text.iter().for_each(|own| parts.line(line, own));
    }

    /// Friction, rotor and input of a joint that moves.
    fn moving(
        &self,
        (joint, own): (&Joint, &str),
        (names, parts, parameters, declared): (&mut Names, &mut Writer, &mut Writer, &mut Declared),
        inputs: &mut Vec<(String, String, &'static str)>,
    ) {
        let line = joint.line;
        let (freedom, effort, rate, inertia) = match joint.kind {
            Kind::Prismatic => ("slide", "N", "N s/m", "kg"),
            _ => ("turn", "N m", "N m s/rad", "kg m^2"),
        };
        let [damping, dry] = joint.friction.unwrap_or_default();
        let number = self.robot.joints.iter().position(|known| known.name == joint.name).unwrap_or_default();
        let mut declare = |prefix: &'static str, unit: &str, nominal: f64| {
            let name = names.parameter(prefix, &joint.name);
            declared.joints.push((number, prefix, name.clone()));
            parameters.line(line, &format!("[parameters.{name}]\nunit = \"{unit}\"\nnominal = {nominal:?}"));
            parameters.lines.extend([line, line]);
            // a change that matters, where there is none yet
            if nominal == 0.0 {
                parameters.line(line, "size = 0.1");
            }
            // what no joint has
            if prefix != "offset" {
                parameters.line(line, "lower = 0.0");
            }
            name
        };
        let mut law = Vec::new();
        if self.options.has_friction || damping != 0.0 {
            law.push(format!("{}*x'", declare("d", rate, damping)));
        }
        if self.options.has_friction || dry != 0.0 {
            law.push(format!("coulomb(x', {}, {:?})", declare("Fc", effort, dry), self.options.slip));
        }
        if self.options.has_friction {
            law.push(declare("offset", effort, 0.0));
        }
        let rotor = (joint.rotor != 0.0).then(|| declare("J_rotor", inertia, joint.rotor));
        let mut part = |kind: &str, name: &str, key: &str, value: &str| {
            let name = names.part(&format!("{}_{name}", joint.name), "part");
            parts.line(line, &format!("[{kind}.{}]", quoted(&name)));
            parts.line(line, &format!("of = {}", quoted(own)));
            parts.line(line, &format!("freedom = \"{freedom}\""));
            parts.line(line, &format!("{key} = {}", quoted(value)));
        };
        if !law.is_empty() {
            part("joint_spring", "friction", "tension", &law.join(" + "));
        }
        if let Some(inertia) = rotor {
            part("rotor", "rotor", "inertia", &inertia);
        }
        if self.options.has_efforts && joint.mimic.is_none() {
            let input = format!("tau_{}", joint.name);
            part("motor", "effort", "is", &format!("`{input}`"));
            inputs.push((own.into(), input, effort));
        }
    }

    fn body(
        &self,
        link: usize,
        name: &str,
        path: &Path,
        (names, parts, parameters, declared): (&mut Names, &mut Writer, &mut Writer, &mut Declared),
    ) -> Result<()> {
        let own = &self.robot.links[link];
        let line = own.line;
        let moments = self.moments(link);
        let all = moments.numbers();
        if all != [0.0; 10] {
            check_moments(all).map_err(|error| {
                // its remedy is for those who write tensors
                let said = match error {
                    costate::Error::Invalid { what, problem, .. } => format!("{what}: {problem}"),
                    other => other.to_string(),
                };
                let problem = format!("no body has the <inertial> of link `{}`: {said}", own.name);
                Error::file(path, Some(line), problem, "correct it")
            })?;
        }
        // a length by which sizes of moments go
        let [mass, x, y, z, xx, yy, zz, ..] = all;
        let reach = [x, y, z].map(|first| (first / mass).abs()).into_iter().fold(0.0, f64::max);
        let reach = reach.max(((xx + yy + zz) / mass).sqrt()).max(0.01);
        parts.line(line, &format!("[body.{}]", quoted(name)));
        let mut declare = |prefix: &str, unit: &str, nominal: f64, size: f64| {
            let name = names.parameter(prefix, &own.name);
            let mut text = format!("[parameters.{name}]\nunit = \"{unit}\"\nnominal = {:?}", nominal + 0.0);
            if size > 0.0 && size.is_finite() {
                let _ = write!(text, "\nsize = {size:.1e}");
            }
            let rows = text.lines().count() as u64;
            parameters.line(line, &text);
            (1..rows).for_each(|_| parameters.lines.push(line));
            name
        };
        let quotes = |names: &[String]| names.iter().map(|name| format!("\"{name}\"")).collect::<Vec<_>>().join(", ");
        let keys = ["hx", "hy", "hz", "Ixx", "Iyy", "Izz", "Ixy", "Ixz", "Iyz"];
        let inertias = if mass == 0.0 { Inertias::Fixed } else { self.options.inertias };
        match inertias {
            Inertias::Fixed => {
                let [first, tensor] = [list(moments.first), list(moments.tensor)];
                parts.line(line, &format!("mass = {mass:?}\nfirst_moments = {first}\ninertia_about_origin = {tensor}"));
                parts.lines.extend([line, line]);
            }
            Inertias::Moments => {
                let mass_name = declare("m", "kg", mass, 0.0);
                let own_names: Vec<String> = keys
                    .iter()
                    .zip(&all[1..])
                    .enumerate()
                    .map(|(k, (key, value))| match k {
                        0..3 => declare(key, "kg m", *value, 0.1 * mass * reach),
                        _ => declare(key, "kg m^2", *value, 0.1 * mass * reach * reach),
                    })
                    .collect();
                parts.line(line, &format!("mass = \"{mass_name}\""));
                parts.line(line, &format!("first_moments = [{}]", quotes(&own_names[..3])));
                parts.line(line, &format!("inertia_about_origin = [{}]", quotes(&own_names[3..])));
                declared.bodies.push((link, [vec![mass_name], own_names].concat()));
            }
            Inertias::Factors => {
                let factors = factors_of_moments(all).map_err(|error| {
                    let problem = format!("link `{}`: {error}", own.name);
                    Error::file(path, Some(line), problem, "take `inertias = \"moments\"`")
                })?;
                let names: Vec<String> = FACTORS.iter().map(|key| declare(key, "1", 0.0, 0.3)).collect();
                let formulas = formulas_of_factors(factors, &names);
                parts.line(line, &format!("pseudo_inertia = [{}]", quotes(&formulas)));
                declared.bodies.push((link, names));
            }
        }
        let at = self.at[link];
        parts.line(line, &format!("at = {}", list(at.origin)));
        parts.line(line, &format!("euler_parameters = {}", list(quaternion(&at.rotation))));
        let leads = self.leading[link].map(|k| &self.robot.joints[k]);
        if leads.is_none_or(|joint| joint.kind == Kind::Floating) && (leads.is_some() || self.options.is_base_free) {
            parts.line(line, "free = true");
        }
        Ok(())
    }
}
