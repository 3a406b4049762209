//! Transmissions: rotors behind gears, and motors that turn two joints.

use super::{Joint, Reader};
use costate_identify::Result;
use roxmltree::Node;

/// A motor that turns two joints: behind its own gear, its angle is the sum of the joints' places times their ratios.
pub(in super::super) struct Motor {
    pub name: String,
    pub line: u64,
    /// Joints, and how far it turns a unit of theirs.
    pub of: [(usize, f64); 2],
    /// Its own gear.
    pub ratio: f64,
    /// Inertia of its rotor, times the square of its own gear's ratio; zero where the file has none.
    pub rotor: f64,
}

/// Names of elements with a reduction, in ROS and in ROS 2.
const REDUCTIONS: [&str; 2] = ["mechanicalReduction", "mechanical_reduction"];

/// The element with the reduction of a transmission that turns one joint: Drake's, or that of the actuator, or else that of the joint.
pub(in super::super) fn reduction_of_joint<'x>(node: Node<'x, 'x>) -> Option<Node<'x, 'x>> {
    let find = |node: Node<'x, 'x>, keys: &[&str]| node.descendants().find(|own| keys.contains(&own.tag_name().name()));
    let actuator = find(node, &["actuator"]).and_then(|own| find(own, &REDUCTIONS));
    find(node, &["gear_ratio"]).or(actuator).or_else(|| find(node, &REDUCTIONS))
}

impl<'x> Reader<'x> {
    /// The number that an element says, as `value` or as its text.
    fn said(&self, node: Node<'x, 'x>) -> Result<f64> {
        match node.attribute("value").or(node.text()) {
            Some(text) => self.parsed::<1>(node, "value", text).map(|[number]| number),
            None => Err(self.wrong(node, format!("<{}> has no value", node.tag_name().name()), "give it")),
        }
    }

    /// The name of a transmission's kind, by ros_control's <type>, ros2_control's <plugin>, or an attribute.
    fn kind_of_transmission(&self, node: Node<'x, 'x>) -> &'x str {
        let said = |key: &str| self.child(node, key).and_then(|own| own.text());
        let kind = said("type").or(said("plugin")).or(node.attribute("type")).unwrap_or_default().trim();
        kind.rsplit('/').next().unwrap_or_default()
    }

    /// How two motors turn two joints, of a transmission that says so (ros_control): for each motor the factors of both joints' reduced places.
    pub(super) fn coupling(&self, node: Node<'x, 'x>) -> Option<[[f64; 2]; 2]> {
        match self.kind_of_transmission(node) {
            "DifferentialTransmission" => Some([[1.0, 1.0], [1.0, -1.0]]),
            "FourBarLinkageTransmission" => Some([[1.0, 0.0], [1.0, 1.0]]),
            _ => None,
        }
    }

    /// Two motors that turn two joints: with the reductions n of joints j and motors a, a differential has a_1 = n_a1 (n_j1 j_1 + n_j2 j_2) and a_2 = n_a2 (n_j1 j_1 - n_j2 j_2), a linkage of four
    /// bars a_1 = n_a1 n_j1 j_1 and a_2 = n_a2 (j_1 + n_j2 j_2).
    pub(super) fn coupled(&self, node: Node<'x, 'x>, signs: [[f64; 2]; 2], joints: &mut [Joint]) -> Result<Vec<Motor>> {
        let pair = |kind: &'static str| -> Result<[Node<'x, 'x>; 2]> {
            let all: Vec<_> = node.children().filter(|own| own.tag_name().name() == kind).collect();
            let role = |own: &Node<'x, 'x>| {
                let said = self.child(*own, "role").and_then(|role| role.text());
                said.or(own.attribute("role")).map(|role| role.trim().to_string())
            };
            let second = Some(format!("{kind}2"));
            match all.as_slice() {
                [first, other] if role(first) == second => Ok([*other, *first]),
                [first, other] => Ok([*first, *other]),
                _ => {
                    let problem = format!("this transmission has {} <{kind}>, not two", all.len());
                    Err(self.wrong(node, problem, "name two joints and two actuators"))
                }
            }
        };
        let value = |own: Node<'x, 'x>, key: &str| self.child(own, key).map(|own| self.said(own)).transpose();
        let reduction = |own: Node<'x, 'x>| self.reduction(REDUCTIONS.iter().find_map(|key| self.child(own, key)));
        let ([first, second], actuators) = (pair("joint")?, pair("actuator")?);
        let mut places = [(0, 1.0); 2];
        for (place, own) in places.iter_mut().zip([first, second]) {
            let name = own.attribute("name").unwrap_or_default();
            let Some(number) = joints.iter().position(|joint| joint.name == name && joint.moves_by_itself()) else {
                let problem = format!("there is no joint `{name}` that turns or slides by itself");
                return Err(self.wrong(own, problem, "name joints of this robot"));
            };
            joints[number].has_motor = true;
            *place = (number, reduction(own)?);
        }
        if places[0].0 == places[1].0 {
            return Err(self.wrong(node, "both joints of this transmission are one", "name two"));
        }
        let is_linkage = signs[0][1] == 0.0;
        let mut motors = Vec::new();
        for (k, own) in actuators.into_iter().enumerate() {
            let ratio = reduction(own)?;
            // of a linkage, the first joint moves the second motor as it is
            let [(a, n_a), (b, n_b)] = places;
            let of = [(a, signs[k][0] * if is_linkage && k == 1 { 1.0 } else { n_a }), (b, signs[k][1] * n_b)];
            let rotor = value(own, "rotor_inertia")?.unwrap_or(0.0);
            if rotor < 0.0 {
                return Err(self.wrong(own, format!("its rotor's inertia is {rotor} kg m^2"), "give a positive one"));
            }
            motors.push(Motor {
                name: self.name(own)?.into(),
                line: self.line(own),
                of,
                ratio,
                rotor: ratio * ratio * rotor,
            });
        }
        Ok(motors)
    }

    /// The number of turns of a motor's side a turn of the other; one where nothing is said.
    fn reduction(&self, own: Option<Node<'x, 'x>>) -> Result<f64> {
        let Some(own) = own else { return Ok(1.0) };
        match self.said(own)? {
            0.0 => Err(self.wrong(own, "its reduction is zero", "give turns of the motor's side a turn of the other")),
            ratio => Ok(ratio),
        }
    }

    /// Rotors behind gears: `rotor_inertia` and `gear_ratio`, as Drake has them, or the mechanical reduction.
    pub(super) fn transmission(&self, node: Node<'x, 'x>, joints: &mut [Joint]) -> Result<()> {
        let all = |name: &'static str| node.descendants().filter(move |own| own.tag_name().name() == name);
        let inertia = all("rotor_inertia").next();
        let named = all("joint").filter_map(|own| own.attribute("name")).collect::<Vec<_>>();
        if named.len() > 1 && inertia.is_some() {
            let kind = self.kind_of_transmission(node);
            let problem =
                format!("it has a rotor and {} joints, and how a `{kind}` couples them is not known", named.len());
            let remedy = "one joint a transmission, or two joints and two actuators of a DifferentialTransmission or FourBarLinkageTransmission; others are \
                          a [tendon.NAME] in a file that includes the robot";
            return Err(self.wrong(node, problem, remedy));
        }
        for name in named {
            let joint = joints.iter_mut().find(|joint| joint.name == name);
            let Some(inertia) = inertia else {
                // what has no rotor may name what it likes
                joint.into_iter().for_each(|joint| joint.has_motor = true);
                continue;
            };
            let Some(joint) = joint else {
                let problem = format!("there is no joint `{name}`");
                return Err(self.wrong(node, problem, "name a joint of this robot"));
            };
            let ratio = self.reduction(reduction_of_joint(node))?;
            joint.rotor += ratio * ratio * self.said(inertia)?;
            joint.has_motor = true;
        }
        Ok(())
    }
}
