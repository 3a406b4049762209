//! The values of a fit, written into a robot's file: numbers are exchanged where they stand, and nothing else changes.

use super::frame::{Frame, Moments};
use super::mechanism::{Declared, Inertias, Options, Tree, factors_beside};
use super::urdf::{Link, Motor, read, reduction_of_joint};
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

/// The robot's file with these values of its parameters, by their names, in the place of its own; of bodies that several links at fixed joints make up,
/// all change by the map of space that makes the new body of the old one.
///
/// # Errors
/// A file that cannot be read, values none of which is one of the robot's, and bodies that cannot be.
pub fn with_values(robot: &Path, values: &[(String, f64)]) -> Result<WithValues> {
    let text = text(robot)?;
    let own = read(&text, robot)?;
    let mut found: Option<Reading> = None;
    for inertias in [Inertias::Moments, Inertias::Factors] {
        let options = Options::of_all(inertias);
        let tree = Tree::of(&own, robot, &options)?;
        let mut declared = Declared::default();
        if tree.write(robot, &mut declared).is_err() && inertias == Inertias::Factors {
            continue;
        }
        // what a file puts in front of all names
        let first = declared.bodies.iter().flat_map(|(_, names)| names).chain(declared.joints.iter().map(|own| &own.2));
        let prefix = first
            .flat_map(|name| values.iter().filter_map(move |(value, _)| value.strip_suffix(name.as_str())))
            .find(|prefix| prefix.is_empty() || prefix.ends_with('_'));
        if let Some(prefix) = prefix.map(str::to_string) {
            let is_body = declared.bodies.iter().flat_map(|(_, names)| names);
            let count = is_body.filter(|name| value_of(values, &prefix, name).is_some()).count();
            if found.as_ref().is_none_or(|known| count > known.count) {
                let home = tree.home.clone();
                let moments: Vec<Moments> = declared.bodies.iter().map(|(link, _)| tree.moments(*link)).collect();
                found = Some(Reading { count, inertias, prefix, declared, home, moments });
            }
        }
    }
    let Some(Reading { inertias, prefix, declared, home, moments, .. }) = found else {
        let problem = "none of the values is one of this robot's parameters";
        let remedy = "give a result of this robot, or of a mechanism file that includes it";
        return Err(Error::file(robot, None, problem, remedy));
    };
    // it has been read before
    let document = Document::parse(&text)
        .map_err(|error| Error::file(robot, Some(u64::from(error.pos().row)), error.to_string(), "give a URDF file"))?;
    let root = document.root_element();
    let elements = |kind: &'static str| root.children().filter(move |node| node.tag_name().name() == kind);
    let unbuilt = |link: &Link, error: costate::Error| {
        let what = match &error {
            costate::Error::Invalid { problem, .. } => problem.clone(),
            other => other.to_string(),
        };
        let problem = format!("no body is what link `{}` would be with these values: {what}", link.name);
        let remedy = "fit bodies that can be built: costate init ROBOT.urdf --data LOG.csv --physical --force (in a file that includes the robot: \
                      inertias = \"factors\"), then identify and export again";
        Error::file(robot, Some(link.line), problem, remedy)
    };
    let mut edits = Edits { text: &text, all: Vec::new() };
    let mut remarks = Vec::new();
    let (mut written, mut heavier, mut totals) = (0, Vec::new(), [0.0; 2]);
    for ((link, names), cad) in declared.bodies.iter().zip(&moments) {
        let given: Vec<Option<f64>> = names.iter().map(|name| value_of(values, &prefix, name)).collect();
        if given.iter().all(Option::is_none) {
            continue;
        }
        let cad = cad.numbers();
        let total: [f64; 10] = match inertias {
            Inertias::Factors => {
                let numbers = std::array::from_fn(|k| given[k].unwrap_or(0.0));
                moments_of_factors(factors_beside(factors_of_moments(cad)?, numbers))
            }
            _ => std::array::from_fn(|k| given[k].unwrap_or(cad[k])),
        };
        let weighs = |own: &&(usize, &Link)| own.1.inertial.as_ref().is_some_and(|own| own.0 > 0.0);
        let links: Vec<(usize, &Link)> = own
            .links
            .iter()
            .enumerate()
            .filter(|(k, _)| home[*k].0 == Some(*link))
            .filter(|own| weighs(&own))
            .collect();
        let map = match links.as_slice() {
            [] | [_] => None,
            // what makes the whole body of the file's makes each of its links, too
            _ => Some(Map::between(
                factors_of_moments(cad)?,
                factors_of_moments(total).map_err(|error| unbuilt(links[0].1, error))?,
            )),
        };
        for (place, receiver) in links {
            let Some((mass, frame, tensor)) = &receiver.inertial else { continue };
            let moments = match &map {
                None => total,
                Some(map) => map.of(Moments::at(&home[place].1.of(frame), *mass, *tensor).numbers()),
            };
            let rest = Moments::of(moments).seen_from(&home[place].1);
            check_moments(rest.numbers()).map_err(|error| unbuilt(receiver, error))?;
            // one has been read there
            let Some(node) = elements("link").nth(place).and_then(|node| child(node, "inertial")) else { continue };
            let center = rest.first.map(|first| first / rest.mass);
            let tensor = rest.about(&Frame { origin: center, ..*frame });
            let center = without_round_off(center);
            let tensor = without_round_off(tensor);
            let numbers = |all: [f64; 3]| all.map(|number| format!("{:?}", number + 0.0)).join(" ");
            match child(node, "origin") {
                Some(origin) => edits.attribute(origin, "xyz", &numbers(center)),
                None => edits.element(node, format!("<origin xyz=\"{}\"/>", numbers(center))),
            }
            if let Some(mass) = child(node, "mass") {
                edits.attribute(mass, "value", &format!("{:?}", rest.mass));
            }
            let keys = ["ixx", "iyy", "izz", "ixy", "ixz", "iyz"];
            match child(node, "inertia") {
                Some(own) => keys
                    .iter()
                    .zip(tensor)
                    .for_each(|(key, entry)| edits.attribute(own, key, &format!("{:?}", entry + 0.0))),
                None => {
                    let all: Vec<String> =
                        keys.iter().zip(tensor).map(|(key, entry)| format!("{key}=\"{entry:?}\"")).collect();
                    edits.element(node, format!("<inertia {}/>", all.join(" ")));
                }
            }
            written += 1;
            totals = [totals[0] + mass, totals[1] + rest.mass];
            if !(1.0 / FAR..=FAR).contains(&(rest.mass / mass)) {
                heavier.push(format!("`{}` {} -> {}", receiver.name, rounded(*mass, 3), rounded(rest.mass, 3)));
            }
        }
    }
    let s = if written == 1 { "" } else { "s" };
    let [before, after] = totals.map(|total| rounded(total, 4));
    remarks.push(format!("{written} link{s} with new inertias, together {after} kg where the file had {before}"));
    if !heavier.is_empty() {
        remarks.push(format!(
            "masses (kg) far from the file's: {}; a motion hardly tells the mass of links near a fixed base: compare them with their standard errors, \
             or weigh the robot",
            heavier.join(", ")
        ));
    }
    let mut offsets = 0;
    for (k, node) in elements("joint").enumerate() {
        let value = |kind: &str| {
            let own = declared.joints.iter().find(|(joint, own, _)| *joint == k && *own == kind)?;
            value_of(values, &prefix, &own.2)
        };
        offsets += usize::from(value("offset").is_some_and(|offset| offset != 0.0));
        let friction: Vec<(&str, f64)> = [("damping", value("d")), ("friction", value("Fc"))]
            .into_iter()
            .filter_map(|(key, own)| Some((key, own?)))
            .collect();
        if friction.is_empty() {
            continue;
        }
        match child(node, "dynamics") {
            Some(own) => friction.iter().for_each(|(key, value)| edits.attribute(own, key, &format!("{value:?}"))),
            None => {
                let all: Vec<String> = friction.iter().map(|(key, value)| format!("{key}=\"{value:?}\"")).collect();
                edits.element(node, format!("<dynamics {}/>", all.join(" ")));
            }
        }
    }
    if offsets > 0 {
        remarks.push(format!("{offsets} joints have an offset of friction, which has no place in URDF"));
    }
    let rotors = declared
        .joints
        .iter()
        .filter(|(_, kind, name)| *kind == "J_rotor" && value_of(values, &prefix, name).is_some());
    for (joint, _, name) in rotors {
        let is_own = |node: &Node<'_, '_>| {
            let named = |node: Node<'_, '_>| node.attribute("name") == Some(own.joints[*joint].name.as_str());
            node.descendants().any(|node| node.tag_name().name() == "joint" && named(node))
        };
        let Some(node) = elements("transmission").find(is_own) else { continue };
        let of = |kind: &'static str| node.descendants().find(|own| own.tag_name().name() == kind);
        let number =
            |own: Node<'_, '_>| own.attribute("value").or(own.text()).and_then(|text| text.trim().parse::<f64>().ok());
        let ratio = reduction_of_joint(node).and_then(number).unwrap_or(1.0);
        let (Some(own), Some(value)) = (of("rotor_inertia"), value_of(values, &prefix, name)) else { continue };
        edits.value(own, value / (ratio * ratio));
    }
    for (number, name) in &declared.motors {
        let Motor { name: actuator, ratio, .. } = &own.motors[*number];
        let is_own = |node: &Node<'_, '_>| {
            node.tag_name().name() == "actuator" && node.attribute("name") == Some(actuator.as_str())
        };
        let node = elements("transmission").flat_map(|node| node.children()).find(is_own);
        if let (Some(own), Some(value)) =
            (node.and_then(|node| child(node, "rotor_inertia")), value_of(values, &prefix, name))
        {
            edits.value(own, value / (ratio * ratio));
        }
    }
    let is_known = |name: &str| {
        let bodies = declared.bodies.iter().flat_map(|(_, names)| names);
        let joints = declared.joints.iter().map(|(_, _, name)| name);
        bodies.chain(joints).chain(declared.motors.iter().map(|(_, name)| name)).any(|own| own == name)
    };
    let others = values.iter().filter_map(|(name, _)| name.strip_prefix(&prefix)).filter(|name| !is_known(name));
    let others: Vec<String> = others.map(|name| format!("`{prefix}{name}`")).collect();
    if !others.is_empty() {
        remarks.push(format!(
            "{} of the result {} none of this robot's: {}; is it a result of this file?",
            if others.len() == 1 { "one value".to_string() } else { format!("{} values", others.len()) },
            if others.len() == 1 { "is" } else { "are" },
            others.join(", ")
        ));
    }
    let text = edits.done();
    // what is written can be read
    read(&text, robot)?;
    Ok(WithValues { text, remarks })
}
