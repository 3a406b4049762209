//! The values of a fit, written into a robot's file: numbers are exchanged where they stand, and nothing else changes.

use super::frame::{Frame, Moments};
use super::mechanism::{Declared, Inertias, Options, Tree, factors_beside};
use super::urdf::{Link, Motor, Robot, read, reduction_of_joint};
use costate::shown::rounded;
use costate_identify::problem_file::text;
use costate_identify::{Error, Result};
use costate_parts::spatial::{check_moments, factors_of_moments, moments_of_factors};
use roxmltree::{Document, Node};
use std::ops::Range;
use std::path::Path;

/// A matrix of four rows.
type Four = [[f64; 4]; 4];

/// A map of space in which masses move along: T of J' = T J Tᵀ for pseudo-inertias J.
struct Map(Four);

/// The factor of a pseudo-inertia.
fn factor([alpha, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3]: [f64; 10]) -> Four {
    let rows =
        [[d_1.exp(), s_12, s_13, t_1], [0.0, d_2.exp(), s_23, t_2], [0.0, 0.0, d_3.exp(), t_3], [0.0, 0.0, 0.0, 1.0]];
    rows.map(|row| row.map(|entry| alpha.exp() * entry))
}

impl Map {
    /// The map that makes one body of another, by their factors.
    fn between(from: [f64; 10], to: [f64; 10]) -> Self {
        let (from, to) = (factor(from), factor(to));
        // T times one factor is the other
        Map(to.map(|row| {
            let mut own = [0.0; 4];
            for j in 0..4 {
                let known: f64 = (0..j).map(|k| own[k] * from[k][j]).sum();
                own[j] = (row[j] - known) / from[j][j];
            }
            own
        }))
    }

    /// Ten numbers of a body, mapped.
    fn of(&self, [mass, x, y, z, xx, yy, zz, xy, xz, yz]: [f64; 10]) -> [f64; 10] {
        let half = 0.5 * (xx + yy + zz);
        let own = [[half - xx, -xy, -xz, x], [-xy, half - yy, -yz, y], [-xz, -yz, half - zz, z], [x, y, z, mass]];
        let mapped = |i: usize, j: usize| -> f64 {
            (0..4).map(|k| (0..4).map(|l| self.0[i][k] * own[k][l] * self.0[j][l]).sum::<f64>()).sum()
        };
        let [a, b, c] = [0, 1, 2].map(|i| mapped(i, i));
        let [first @ .., mass] = [0, 1, 2, 3].map(|i| mapped(i, 3));
        let [x, y, z] = first;
        [mass, x, y, z, b + c, a + c, a + b, -mapped(0, 1), -mapped(0, 2), -mapped(1, 2)]
    }
}

/// A robot's file with the values of a fit in it.
pub struct WithValues {
    /// The text.
    pub text: String,
    /// What has been written, and what has no place in such a file, in sentences.
    pub remarks: Vec<String>,
}

/// A mass this many times the file's, or a part of it, is told.
const FAR: f64 = 2.0;

/// Numbers without those that are round-off beside the largest.
fn without_round_off<const N: usize>(all: [f64; N]) -> [f64; N] {
    let largest = all.iter().fold(0.0f64, |largest, number| largest.max(number.abs()));
    // no minus zero, either
    all.map(|number| if number.abs() <= 4.0 * f64::EPSILON * largest { 0.0 } else { number })
}

/// Exchanges of pieces of a text.
struct Edits<'x> {
    text: &'x str,
    all: Vec<(Range<usize>, String)>,
}

impl<'x> Edits<'x> {
    /// Sets an attribute of an element.
    fn attribute(&mut self, node: Node<'x, 'x>, name: &str, value: &str) {
        match node.attribute_node(name) {
            Some(own) => self.all.push((own.range_value(), value.into())),
            None => {
                // behind the element's name
                let at = node.range().start + 1 + self.text[node.range().start + 1..].find(ends_name).unwrap_or(0);
                self.all.push((at..at, format!(" {name}=\"{value}\"")));
            }
        }
    }

    /// Sets attributes of an element's child, which is made if it is not there.
    fn child(&mut self, node: Node<'x, 'x>, name: &str, attributes: &[(&str, String)]) {
        match child(node, name) {
            Some(own) => attributes.iter().for_each(|(key, value)| self.attribute(own, key, value)),
            None => {
                let all: Vec<String> = attributes.iter().map(|(key, value)| format!("{key}=\"{value}\"")).collect();
                self.element(node, format!("<{name} {}/>", all.join(" ")));
            }
        }
    }

    /// Sets what an element says, as `value` or as its text.
    fn value(&mut self, node: Node<'x, 'x>, value: f64) {
        let value = format!("{value:?}");
        match (node.attribute("value"), node.first_child()) {
            (None, Some(text)) => self.all.push((text.range(), value)),
            _ => self.attribute(node, "value", &value),
        }
    }

    /// Puts an element behind the begin of another one.
    fn element(&mut self, inside: Node<'x, 'x>, element: String) {
        let own = &self.text[inside.range()];
        let begins = inside.range().start;
        let head = own.find('>').unwrap_or(own.len() - 1);
        if own[..head].ends_with('/') {
            let name = inside.tag_name().name();
            self.all.push((begins + head - 1..begins + head + 1, format!(">{element}</{name}>")));
        } else {
            self.all.push((begins + head + 1..begins + head + 1, element));
        }
    }

    fn done(mut self) -> String {
        self.all.sort_by_key(|(range, _)| range.start);
        let (mut text, mut from) = (String::new(), 0);
        for (range, value) in self.all {
            text.push_str(&self.text[from..range.start]);
            text.push_str(&value);
            from = range.end;
        }
        text + &self.text[from..]
    }
}

/// Attributes whose values are numbers, with all their digits.
fn in_digits<'n>(attributes: &[(&'n str, f64)]) -> Vec<(&'n str, String)> {
    attributes.iter().map(|(key, value)| (*key, format!("{value:?}"))).collect()
}

fn ends_name(c: char) -> bool {
    c.is_whitespace() || c == '>' || c == '/'
}

fn child<'x>(node: Node<'x, 'x>, name: &str) -> Option<Node<'x, 'x>> {
    node.children().find(|child| child.tag_name().name() == name)
}

/// A way to read the names of a result's parameters.
struct Reading {
    /// Number of values that are those of bodies.
    count: usize,
    inertias: Inertias,
    /// What a file that includes the robot puts in front of all names.
    prefix: String,
    declared: Declared,
    /// The link whose body each link is part of, and its frame there.
    home: Vec<(Option<usize>, Frame)>,
    /// The file's own moments of the bodies that have parameters.
    moments: Vec<Moments>,
}

/// The value of a parameter without what a file that includes the robot puts in front.
fn value_of(values: &[(String, f64)], prefix: &str, name: &str) -> Option<f64> {
    values.iter().find(|(own, _)| own.strip_prefix(prefix) == Some(name)).map(|(_, value)| *value)
}

impl Reading {
    /// The reading that the most values fit, if any does.
    fn of(robot: &Robot, path: &Path, values: &[(String, f64)]) -> Result<Option<Self>> {
        let mut found: Option<Reading> = None;
        for inertias in [Inertias::Moments, Inertias::Factors] {
            let options = Options::of_all(inertias);
            let tree = Tree::of(robot, path, &options)?;
            let mut declared = Declared::default();
            if tree.write(path, &mut declared).is_err() && inertias == Inertias::Factors {
                continue;
            }
            let of_bodies = || declared.bodies.iter().flat_map(|(_, names)| names);
            let prefix = of_bodies()
                .chain(declared.joints.iter().map(|own| &own.2))
                .flat_map(|name| values.iter().filter_map(move |(value, _)| value.strip_suffix(name.as_str())))
                .find(|prefix| prefix.is_empty() || prefix.ends_with('_'));
            let Some(prefix) = prefix.map(str::to_string) else { continue };
            let count = of_bodies().filter(|name| value_of(values, &prefix, name).is_some()).count();
            if found.as_ref().is_none_or(|known| count > known.count) {
                let home = tree.home.clone();
                let moments: Vec<Moments> = declared.bodies.iter().map(|(link, _)| tree.moments(*link)).collect();
                found = Some(Reading { count, inertias, prefix, declared, home, moments });
            }
        }
        Ok(found)
    }

    /// The moments of a body of the file, `cad`, with what is given of its ten numbers.
    fn moments(&self, cad: [f64; 10], given: &[Option<f64>]) -> Result<[f64; 10]> {
        Ok(match self.inertias {
            Inertias::Factors => {
                let numbers = std::array::from_fn(|k| given[k].unwrap_or(0.0));
                moments_of_factors(factors_beside(factors_of_moments(cad)?, numbers))
            }
            _ => std::array::from_fn(|k| given[k].unwrap_or(cad[k])),
        })
    }

    /// True if a value is one of the robot's.
    fn knows(&self, name: &str) -> bool {
        let Declared { bodies, joints, motors, .. } = &self.declared;
        let of_bodies = bodies.iter().flat_map(|(_, names)| names);
        let of_joints = joints.iter().map(|(_, _, name)| name);
        of_bodies.chain(of_joints).chain(motors.iter().map(|(_, name)| name)).any(|own| own == name)
    }
}

/// The robot's file with these values of its parameters, by their names, in the place of its own; of bodies that several links at fixed joints make up,
/// all change by the map of space that makes the new body of the old one.
///
/// # Errors
/// A file that cannot be read, values none of which is one of the robot's, and bodies that cannot be.
pub fn with_values(robot: &Path, values: &[(String, f64)]) -> Result<WithValues> {
    let text = text(robot)?;
    let own = read(&text, robot)?;
    let Some(reading) = Reading::of(&own, robot, values)? else {
        let problem = "none of the values is one of this robot's parameters";
        let remedy = "give a result of this robot, or of a mechanism file that includes it";
        return Err(Error::file(robot, None, problem, remedy));
    };
    // it has been read before
    let document = Document::parse(&text)
        .map_err(|error| Error::file(robot, Some(u64::from(error.pos().row)), error.to_string(), "give a URDF file"))?;
    let mut writing = Writing {
        path: robot,
        robot: &own,
        root: document.root_element(),
        values,
        reading: &reading,
        edits: Edits { text: &text, all: Vec::new() },
        remarks: Vec::new(),
    };
    writing.bodies()?;
    writing.friction();
    writing.rotors();
    writing.tell_others();
    let Writing { edits, remarks, .. } = writing;
    let text = edits.done();
    // what is written can be read
    read(&text, robot)?;
    Ok(WithValues { text, remarks })
}

/// A robot's file being written with values.
struct Writing<'x> {
    path: &'x Path,
    robot: &'x Robot,
    root: Node<'x, 'x>,
    values: &'x [(String, f64)],
    reading: &'x Reading,
    edits: Edits<'x>,
    remarks: Vec<String>,
}

impl<'x> Writing<'x> {
    fn value(&self, name: &str) -> Option<f64> {
        value_of(self.values, &self.reading.prefix, name)
    }

    fn elements(&self, kind: &'static str) -> impl Iterator<Item = Node<'x, 'x>> + use<'x> {
        self.root.children().filter(move |node| node.tag_name().name() == kind)
    }

    /// Masses, centres and tensors of all bodies that have values.
    fn bodies(&mut self) -> Result<()> {
        let reading = self.reading;
        let (mut written, mut far, mut totals) = (0, Vec::new(), [0.0; 2]);
        for ((body, names), cad) in reading.declared.bodies.iter().zip(&reading.moments) {
            let given: Vec<Option<f64>> = names.iter().map(|name| self.value(name)).collect();
            if given.iter().all(Option::is_none) {
                continue;
            }
            let cad = cad.numbers();
            let total = reading.moments(cad, &given)?;
            let weighs = |link: &Link| link.inertial.as_ref().is_some_and(|own| own.0 > 0.0);
            let is_part = |&(k, link): &(usize, &Link)| reading.home[k].0 == Some(*body) && weighs(link);
            let links: Vec<(usize, &Link)> = self.robot.links.iter().enumerate().filter(is_part).collect();
            let map = match links.as_slice() {
                [] | [_] => None,
                // what makes the whole body of the file's makes each of its links, too
                [(_, first), ..] => Some(Map::between(
                    factors_of_moments(cad)?,
                    factors_of_moments(total).map_err(|error| self.unbuilt(first, error))?,
                )),
            };
            for (place, link) in links {
                let Some((mass, frame, tensor)) = &link.inertial else { continue };
                let moments = match &map {
                    None => total,
                    Some(map) => map.of(Moments::at(&reading.home[place].1.of(frame), *mass, *tensor).numbers()),
                };
                let own = Moments::of(moments).seen_from(&reading.home[place].1);
                check_moments(own.numbers()).map_err(|error| self.unbuilt(link, error))?;
                self.inertial(place, &own, frame);
                written += 1;
                totals = [totals[0] + mass, totals[1] + own.mass];
                if !(1.0 / FAR..=FAR).contains(&(own.mass / mass)) {
                    far.push(format!("`{}` {} -> {}", link.name, rounded(*mass, 3), rounded(own.mass, 3)));
                }
            }
        }
        let s = if written == 1 { "" } else { "s" };
        let [before, after] = totals.map(|total| rounded(total, 4));
        self.remarks
            .push(format!("{written} link{s} with new inertias, together {after} kg where the file had {before}"));
        if !far.is_empty() {
            self.remarks.push(format!(
                "masses (kg) far from the file's: {}; a motion hardly tells the mass of links near a fixed base: compare them with their standard errors, \
                 or weigh the robot",
                far.join(", ")
            ));
        }
        Ok(())
    }

    /// The reason why a link has no body with these values.
    fn unbuilt(&self, link: &Link, error: costate::Error) -> Error {
        let what = match &error {
            costate::Error::Invalid { problem, .. } => problem.clone(),
            other => other.to_string(),
        };
        let problem = format!("no body is what link `{}` would be with these values: {what}", link.name);
        let remedy = "fit bodies that can be built: costate init ROBOT.urdf --data LOG.csv --physical --force (in a file that includes the robot: \
                      inertias = \"factors\"), then identify and export again";
        Error::file(self.path, Some(link.line), problem, remedy)
    }

    /// The inertia of a link by place; its <inertial> has this frame.
    fn inertial(&mut self, place: usize, own: &Moments, frame: &Frame) {
        // one has been read there
        let Some(node) = self.elements("link").nth(place).and_then(|node| child(node, "inertial")) else { return };
        let center = own.first.map(|first| first / own.mass);
        let tensor = own.about(&Frame { origin: center, ..*frame });
        let center = without_round_off(center).map(|number| format!("{number:?}")).join(" ");
        let keys = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
        let tensor: Vec<(&str, f64)> = keys.into_iter().zip(without_round_off(tensor)).collect();
        self.edits.child(node, "origin", &[("xyz", center)]);
        self.edits.child(node, "mass", &in_digits(&[("value", own.mass)]));
        self.edits.child(node, "inertia", &in_digits(&tensor));
    }

    /// Viscous and dry friction of all joints.
    fn friction(&mut self) {
        let mut offsets = 0;
        for (k, node) in self.elements("joint").enumerate() {
            let value = |kind: &str| {
                let own = self.reading.declared.joints.iter().find(|(joint, own, _)| *joint == k && *own == kind)?;
                self.value(&own.2)
            };
            offsets += usize::from(value("offset").is_some_and(|offset| offset != 0.0));
            let found = [("damping", value("d")), ("friction", value("Fc"))];
            let found: Vec<(&str, f64)> = found.into_iter().filter_map(|(key, own)| Some((key, own?))).collect();
            if !found.is_empty() {
                self.edits.child(node, "dynamics", &in_digits(&found));
            }
        }
        if offsets > 0 {
            self.remarks.push(format!("{offsets} joints have an offset of friction, which has no place in URDF"));
        }
    }

    /// Rotors of one joint, and of motors that turn two.
    fn rotors(&mut self) {
        let Declared { joints, motors, .. } = &self.reading.declared;
        for (joint, _, name) in joints.iter().filter(|(_, kind, _)| *kind == "J_rotor") {
            let wanted = Some(self.robot.joints[*joint].name.as_str());
            let is_named = |node: Node<'_, '_>| node.tag_name().name() == "joint" && node.attribute("name") == wanted;
            let node = self.elements("transmission").find(|node| node.descendants().any(is_named));
            let number = |own: Node<'_, '_>| {
                own.attribute("value").or(own.text()).and_then(|text| text.trim().parse::<f64>().ok())
            };
            let rotor = |node: Node<'x, 'x>| node.descendants().find(|own| own.tag_name().name() == "rotor_inertia");
            let ratio = node.and_then(reduction_of_joint).and_then(number).unwrap_or(1.0);
            if let (Some(own), Some(value)) = (node.and_then(rotor), self.value(name)) {
                self.edits.value(own, value / (ratio * ratio));
            }
        }
        for (number, name) in motors {
            let Motor { name: actuator, ratio, .. } = &self.robot.motors[*number];
            let is_own = |node: &Node<'_, '_>| {
                node.tag_name().name() == "actuator" && node.attribute("name") == Some(actuator.as_str())
            };
            let node = self.elements("transmission").flat_map(|node| node.children()).find(is_own);
            let rotor = node.and_then(|node| child(node, "rotor_inertia"));
            if let (Some(own), Some(value)) = (rotor, self.value(name)) {
                self.edits.value(own, value / (ratio * ratio));
            }
        }
    }

    /// Values that look like the robot's, and are not.
    fn tell_others(&mut self) {
        let prefix = &self.reading.prefix;
        let own = self.values.iter().filter_map(|(name, _)| name.strip_prefix(prefix.as_str()));
        let others = own.filter(|name| !self.reading.knows(name)).map(|name| format!("`{prefix}{name}`"));
        let others: Vec<String> = others.collect();
        let count = match others.len() {
            0 => return,
            1 => "one value of the result is".to_string(),
            more => format!("{more} values of the result are"),
        };
        let names = others.join(", ");
        self.remarks.push(format!("{count} none of this robot's: {names}; is it a result of this file?"));
    }
}
