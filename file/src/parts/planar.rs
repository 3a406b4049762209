//! Mechanisms of the plane from parts.

use super::{Declares, FormulaLaw, Properties, Strength, axes, named, redundant_rows, takes_only};
use crate::dimension::Dimension;
use crate::keys;
use crate::reader::{ByFormulas, Reading};
use costate::Parameter;
use costate::value::Value;
use costate_identify::problem_file::{Keys, Section};
use costate_identify::{Error, Result};
use costate_parts::assembly::StateVariable;
use costate_parts::law::Linear;
use costate_parts::planar::{
    Body, Gears, Joint, Mechanism, Member, Mounting, OnLine, Place, Prismatic, Revolute, Rod, Strut, Weld,
};

/// A joint, for reactions.
enum AnyJoint {
    Revolute(Joint<Revolute>),
    Weld(Joint<Weld>),
    Prismatic(Joint<Prismatic>),
    OnLine(Joint<OnLine>),
    Rod(Joint<Rod>),
    Gears(Joint<Gears>),
}

/// A spring, for sensors.
enum AnyStrut {
    Linear(Strut<Linear>),
    ByLaw(Strut<FormulaLaw>),
}

impl Declares for Mechanism {
    fn declare(&mut self, parameter: Parameter) -> Value {
        self.parameter(parameter)
    }
}

/// The mechanism that is being put together.
struct Parts<'r, 'a> {
    own: Properties<'r, 'a, Mechanism>,
    members: Vec<(String, Member)>,
    joints: Vec<(String, AnyJoint)>,
    struts: Vec<(String, AnyStrut)>,
    /// First-order states of parts.
    states: Vec<(String, StateVariable)>,
}

/// Reads a mechanism of the plane, whose names are known already.
pub(crate) fn read(reading: &mut Reading<'_>, root: &Section<'_>) -> Result<(Mechanism, Option<ByFormulas>)> {
    let mut mechanism = Mechanism::new(&reading.signature.name);
    let parameters = reading.signature.parameters.iter().map(|own| mechanism.parameter(own.clone())).collect();
    let inputs = reading.signature.inputs.iter().map(|own| mechanism.input(&own.name, &own.unit)).collect();
    let members = vec![("ground".to_string(), mechanism.ground())];
    let (joints, struts, states) = (Vec::new(), Vec::new(), Vec::new());
    let own = Properties { reading, mechanism, parameters, inputs, derived: Vec::new() };
    let mut parts = Parts { own, members, joints, struts, states };
    if root.table.contains_key("gravity") {
        let gravity = parts.own.list(root, "gravity", "m/s^2")?;
        parts.own.mechanism.gravity(gravity);
    }
    if let Some(policy) = redundant_rows(root)? {
        parts.own.mechanism.redundant_rows(policy);
    }
    // members first, sensors last: of energy they show what is there before them
    type Reader<'r, 'a> = fn(&mut Parts<'r, 'a>, &str, &Section<'_>, &str) -> Result<()>;
    let kinds: [(&str, Reader<'_, '_>); 19] = [
        ("body", Parts::body),
        ("point", Parts::point),
        ("revolute", Parts::joint),
        ("weld", Parts::joint),
        ("prismatic", Parts::joint),
        ("on_line", Parts::joint),
        ("rod", Parts::joint),
        ("gears", Parts::gears),
        ("spring", Parts::spring),
        ("strut", Parts::strut),
        ("torsion", Parts::torsion),
        ("support", Parts::support),
        ("dc_motor", Parts::dc_motor),
        ("force", Parts::force),
        ("torque", Parts::torque),
        ("drag", Parts::drag),
        ("contact", Parts::contact),
        ("drive", Parts::drive),
        ("sensor", Parts::sensor),
    ];
    for (kind, read) in kinds {
        let Some((section, names)) = parts.own.reading.rows(root, kind)? else { continue };
        for name in names {
            if let Some(own) = section.section(&name)? {
                read(&mut parts, &name, &own, kind)?;
            }
        }
    }
    Ok(parts.own.end())
}

impl Parts<'_, '_> {
    fn member(&self, own: &Section<'_>, key: &str) -> Result<Member> {
        let missing = || own.wrong(key, "it is missing", "name a body, a point or `ground`");
        let name = own.text(key)?.ok_or_else(missing)?;
        let found = self.members.iter().find(|(member, _)| *member == name);
        let unknown =
            || own.at(key, Error::unknown("member", &name, own.place(), self.members.iter().map(|(name, _)| name)));
        found.map(|(_, member)| member.clone()).ok_or_else(unknown)
    }

    /// The places of a part, which are all keys that are not its own.
    fn places<const N: usize>(&mut self, own: &Section<'_>, known: &Keys) -> Result<[Place; N]> {
        let mut places = Vec::new();
        for key in self.own.reading.lines.in_order(own) {
            if known.names().any(|name| name == key) {
                continue;
            }
            let Some((_, member)) = self.members.iter().find(|(name, _)| *name == key) else {
                let names = known.names().map(String::from).chain(self.members.iter().map(|(name, _)| name.clone()));
                return Err(own.at(&key, Error::unknown("key or member", &key, own.place(), names)));
            };
            let member = member.clone();
            let location = self.own.list(own, &key, "m")?;
            places.push(member.at(location));
        }
        let count = places.len();
        places.try_into().map_err(|_| {
            let problem = format!("it names {count} places, not {N}");
            let error = Error::invalid(
                own.place(),
                problem,
                "name the members that it is on, each with a place: crank = [0.05, 0]",
            );
            own.at("", error)
        })
    }

    /// A member of a mechanism that is new.
    fn add(&mut self, own: &Section<'_>, name: &str, member: Member) -> Result<()> {
        if self.members.iter().any(|(known, _)| known == name) {
            let error =
                Error::invalid(own.place(), format!("`{name}` is there already"), "give each member its own name");
            return Err(own.at("", error));
        }
        if own.flag("free")?.unwrap_or(false) {
            self.own.mechanism.free(&member);
        }
        self.members.push((name.to_string(), member));
        Ok(())
    }

    fn body(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::BODY])?;
        let body = Body::new(self.own.value(own, "mass", "kg")?, self.own.value(own, "inertia", "kg m^2")?);
        let body = body.center(self.own.list_or_zero(own, "center", "m")?);
        let body = body.at(self.own.list_or_zero(own, "at", "m")?, self.own.value_or(own, "angle", "rad", 0.0)?);
        let body =
            body.moving(self.own.list_or_zero(own, "moving", "m/s")?, self.own.value_or(own, "rate", "rad/s", 0.0)?);
        let member = self.own.mechanism.body(name, body);
        self.add(own, name, member)
    }

    fn point(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::POINT])?;
        let mass = self.own.value(own, "mass", "kg")?;
        let (at, moving) = (self.own.list_or_zero(own, "at", "m")?, self.own.list_or_zero(own, "moving", "m/s")?);
        let member = self.own.mechanism.point_moving(name, mass, at, moving);
        self.add(own, name, member)
    }

    fn joint(&mut self, name: &str, own: &Section<'_>, kind: &str) -> Result<()> {
        let [first, second] = self.places(own, &keys::JOINT)?;
        let takes: &[&str] = match kind {
            "weld" => &["angle"],
            "prismatic" => &["direction", "angle"],
            "on_line" => &["direction"],
            "rod" => &["length"],
            _ => &[],
        };
        takes_only(own, &keys::JOINT, takes, &format!("a {kind} joint"))?;
        let [direction, angle] =
            [self.own.value_or(own, "direction", "rad", 0.0)?, self.own.value_or(own, "angle", "rad", 0.0)?];
        let joint = match kind {
            "weld" => AnyJoint::Weld(self.own.mechanism.weld(name, first, second, angle)),
            "prismatic" => AnyJoint::Prismatic(self.own.mechanism.prismatic(name, first, second, direction, angle)),
            "on_line" => AnyJoint::OnLine(self.own.mechanism.on_line(name, first, second, direction)),
            "rod" => {
                let length = self.own.value(own, "length", "m")?;
                AnyJoint::Rod(self.own.mechanism.rod(name, first, second, length))
            }
            _ => AnyJoint::Revolute(self.own.mechanism.revolute(name, first, second)),
        };
        self.joints.push((name.to_string(), joint));
        Ok(())
    }

    fn gears(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::GEARS])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        let ratio = self.own.value(own, "ratio", "")?;
        self.joints.push((name.to_string(), AnyJoint::Gears(self.own.mechanism.gears(name, &from, &on, ratio))));
        Ok(())
    }

    fn spring(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [first, second] = self.places(own, &keys::SPRING)?;
        let free_length = self.own.value_or(own, "free_length", "m", 0.0)?;
        let (stiffness, damping) =
            (self.own.value_or(own, "stiffness", "N/m", 0.0)?, self.own.value_or(own, "damping", "N s/m", 0.0)?);
        let spring = self.own.mechanism.spring(name, first, second, free_length, stiffness, damping);
        self.struts.push((name.to_string(), AnyStrut::Linear(spring)));
        Ok(())
    }

    fn strut(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [first, second] = self.places(own, &keys::STRUT)?;
        let free_length = self.own.value_or(own, "free_length", "m", 0.0)?;
        let (law, parameters) = self.own.law(own, "tension", ["m", "N"])?;
        let strut = self.own.mechanism.strut(name, first, second, free_length, law, parameters);
        self.struts.push((name.to_string(), AnyStrut::ByLaw(strut)));
        Ok(())
    }

    fn torsion(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::TORSION])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        let is_linear = ["stiffness", "damping"].into_iter().find(|key| own.table.contains_key(*key));
        if !own.table.contains_key("torque") {
            let [stiffness, damping] = [
                self.own.value_or(own, "stiffness", "N m/rad", 0.0)?,
                self.own.value_or(own, "damping", "N m s/rad", 0.0)?,
            ];
            self.own.mechanism.torsion(name, &from, &on, stiffness, damping);
            return Ok(());
        }
        if let Some(key) = is_linear {
            return Err(own.wrong(key, "there is a law, too", "write it into `torque`"));
        }
        let free_angle = self.own.value_or(own, "free_angle", "rad", 0.0)?;
        let (law, parameters) = self.own.law(own, "torque", ["rad", "N m"])?;
        self.own.mechanism.torsion_by(name, &from, &on, free_angle, law, parameters);
        Ok(())
    }

    fn support(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::SUPPORT)?;
        let direction = self.own.value(own, "direction", "rad")?;
        let free_distance = self.own.value_or(own, "free_distance", "m", 0.0)?;
        let mut motion = Vec::new();
        for (name, unit) in own.texts("motion")?.unwrap_or_default().iter().zip(["m", "m/s"]) {
            let inputs = &self.own.reading.signature.inputs;
            let k = self.own.reading.signature.input_index(name);
            let k = k.map_err(|error| own.at("motion", Error::from(error).within(own.place())))?;
            let is_fit = Dimension::of(&inputs[k].unit).ok().zip(Dimension::of(unit).ok());
            if is_fit.is_none_or(|(own, wanted)| !own.is_same(&wanted)) {
                let problem = format!("`{name}` is in [{}], where [{unit}] is wanted", inputs[k].unit);
                return Err(own.wrong("motion", problem, "give a displacement in m, or that and its rate in m/s"));
            }
            motion.push(self.own.inputs[k]);
        }
        if own.table.contains_key("tension") {
            let (law, parameters) = self.own.law(own, "tension", ["m", "N"])?;
            self.own.mechanism.support(name, place, direction, motion, free_distance, law, parameters);
            return Ok(());
        }
        let linear =
            [self.own.value_or(own, "stiffness", "N/m", 0.0)?, self.own.value_or(own, "damping", "N s/m", 0.0)?];
        self.own.mechanism.support(name, place, direction, motion, free_distance, Linear, linear);
        Ok(())
    }

    fn dc_motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::DC_MOTOR])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        let circuit = self.own.circuit(own, "N m/A")?;
        let voltage = self.own.voltage(own)?;
        let current = self.own.mechanism.dc_motor(name, &from, &on, voltage, circuit);
        self.states.push((name.to_string(), current));
        Ok(())
    }

    fn force(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::FORCE)?;
        let direction = self.own.list(own, "direction", "")?;
        let axes = axes(own)?;
        match self.own.strength(own, "is", "N")? {
            Strength::Given(amount) => self.own.mechanism.force(name, place, direction, axes, amount),
            Strength::OfTime(function, u) => self.own.mechanism.force_by(name, place, direction, axes, function, u),
        }
        Ok(())
    }

    fn torque(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::TORQUE])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        match self.own.strength(own, "is", "N m")? {
            Strength::Given(amount) => self.own.mechanism.torque(name, &from, &on, amount),
            Strength::OfTime(function, u) => self.own.mechanism.torque_by(name, &from, &on, function, u),
        }
        Ok(())
    }

    fn drag(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::DRAG)?;
        let (linear, quadratic) =
            (self.own.value_or(own, "linear", "N s/m", 0.0)?, self.own.value_or(own, "quadratic", "N s^2/m^2", 0.0)?);
        self.own.mechanism.drag(name, place, linear, quadratic);
        Ok(())
    }

    fn contact(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [line, center] = self.places(own, &keys::CONTACT)?;
        let direction = self.own.value_or(own, "direction", "rad", 0.0)?;
        let (radius, stiffness) = (self.own.value(own, "radius", "m")?, self.own.value(own, "stiffness", "N/m^1.5")?);
        let damping = self.own.value_or(own, "damping", "s/m", 0.0)?;
        self.own.mechanism.contact(name, line, direction, center, radius, stiffness, damping);
        Ok(())
    }

    fn drive(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::DRIVE])?;
        let member = self.member(own, "of")?;
        let known = ["x", "y", "angle"];
        let asked = own.text("coordinate")?.unwrap_or_default();
        let place = known.iter().position(|coordinate| *coordinate == asked);
        let Some(coordinate) = place.and_then(|place| member.coordinates().get(place)).copied() else {
            let names = known.iter().take(member.coordinates().len());
            return Err(own.at("coordinate", Error::unknown("coordinate", &asked, own.place(), names)));
        };
        let (function, u) = self.own.of_time(own, if asked == "angle" { "rad" } else { "m" })?;
        self.own.mechanism.drive(name, coordinate, function, u);
        Ok(())
    }

    fn sensor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let known = [
            "position",
            "velocity",
            "acceleration",
            "accelerometer",
            "angle",
            "encoder",
            "strut",
            "state",
            "reaction",
            "energy",
            "dissipation",
        ];
        let shows = own.text("shows")?.unwrap_or_default();
        let takes: &[&str] = match shows.as_str() {
            "velocity" | "acceleration" => &["axes"],
            "accelerometer" => &["angle", "gain", "bias"],
            "angle" | "encoder" => &["from", "on"],
            "strut" | "state" => &["of"],
            "reaction" => &["of", "on"],
            _ => &[],
        };
        let other =
            keys::SENSOR.names().find(|key| *key != "shows" && own.table.contains_key(*key) && !takes.contains(key));
        if let (Some(other), true) = (other, known.contains(&shows.as_str())) {
            return Err(own.wrong(other, format!("a sensor that shows {shows} has none"), "leave it out"));
        }
        match shows.as_str() {
            "position" | "velocity" | "acceleration" | "accelerometer" => {
                let [place] = self.places(own, &keys::SENSOR)?;
                let axes = axes(own)?;
                match shows.as_str() {
                    "position" => self.own.mechanism.position(name, place),
                    "velocity" => self.own.mechanism.velocity(name, place, axes),
                    "acceleration" => self.own.mechanism.acceleration(name, place, axes),
                    _ => {
                        let angle = self.own.value_or(own, "angle", "rad", 0.0)?;
                        let gain = self.own.value_or(own, "gain", "", 1.0)?;
                        let bias = self.own.list_or_zero(own, "bias", "m/s^2")?;
                        self.own.mechanism.accelerometer(name, place, Mounting { angle, gain, bias });
                    }
                }
                return Ok(());
            }
            "angle" | "encoder" => {
                let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
                match shows.as_str() {
                    "angle" => self.own.mechanism.angle(name, &from, &on),
                    _ => self.own.mechanism.encoder(name, &from, &on),
                }
            }
            "strut" => {
                let of = named(own, "of", "spring or strut", &self.struts)?;
                match of {
                    AnyStrut::Linear(strut) => self.own.mechanism.strut_sensor(name, strut),
                    AnyStrut::ByLaw(strut) => self.own.mechanism.strut_sensor(name, strut),
                }
            }
            "reaction" => {
                let on = self.member(own, "on")?;
                match named(own, "of", "joint", &self.joints)? {
                    AnyJoint::Revolute(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Weld(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Prismatic(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::OnLine(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Rod(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Gears(joint) => self.own.mechanism.reaction(name, joint, &on),
                }
            }
            "state" => {
                let state = *named(own, "of", "motor", &self.states)?;
                self.own.mechanism.state_sensor(name, state);
            }
            "energy" => self.own.mechanism.energy(name),
            "dissipation" => self.own.mechanism.dissipation(name),
            other => return Err(own.at("shows", Error::unknown("sensor", other, own.place(), known))),
        }
        // whatever else is there is no place of these sensors
        let _: [Place; 0] = self.places(own, &keys::SENSOR)?;
        Ok(())
    }
}
