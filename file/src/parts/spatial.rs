//! Mechanisms of space from parts.

use super::{Declares, FormulaLaw, Properties, Strength, axes, named, redundant_rows, takes_only};
use crate::keys::space as keys;
use crate::reader::{ByFormulas, Reading};
use costate::Parameter;
use costate::value::Value;
use costate::vector::{Vector, euler_parameters_of};
use costate_identify::problem_file::{Keys, Section};
use costate_identify::{Error, Result};
use costate_parts::assembly::StateVariable;
use costate_parts::law::Linear;
use costate_parts::spatial::{Body, Freedom, Inertia, Joint, Mechanism, Member, Mounting, Place, ReactionAxes, Strut};

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
    joints: Vec<(String, Joint)>,
    struts: Vec<(String, AnyStrut)>,
    /// First-order states of parts.
    states: Vec<(String, StateVariable)>,
}

/// Reads a mechanism of space, whose names are known already.
pub(crate) fn read(reading: &mut Reading<'_>, root: &Section<'_>) -> Result<(Mechanism, Option<ByFormulas>)> {
    let mut mechanism = Mechanism::new(&reading.signature.name);
    let parameters = reading.signature.parameters.iter().map(|own| mechanism.parameter(own.clone())).collect();
    let inputs = reading.signature.inputs.iter().map(|own| mechanism.input(&own.name, &own.unit)).collect();
    let members = vec![("ground".to_string(), mechanism.ground())];
    let (joints, struts, states) = (Vec::new(), Vec::new(), Vec::new());
    let own = Properties { reading, mechanism, parameters, inputs, derived: Vec::new() };
    let mut parts = Parts { own, members, joints, struts, states };
    if root.table.contains_key("gravity") {
        let gravity: [Value; 3] = parts.own.list(root, "gravity", "m/s^2")?;
        parts.own.mechanism.gravity(gravity);
    }
    if let Some(policy) = redundant_rows(root)? {
        parts.own.mechanism.redundant_rows(policy);
    }
    // members first, sensors last: of energy they show what is there before them
    type Reader<'r, 'a> = fn(&mut Parts<'r, 'a>, &str, &Section<'_>, &str) -> Result<()>;
    let kinds: [(&str, Reader<'_, '_>); 25] = [
        ("body", Parts::body),
        ("point", Parts::point),
        ("spherical", Parts::joint),
        ("revolute", Parts::joint),
        ("universal", Parts::joint),
        ("weld", Parts::joint),
        ("cylindrical", Parts::joint),
        ("prismatic", Parts::joint),
        ("screw", Parts::joint),
        ("planar", Parts::joint),
        ("in_line", Parts::joint),
        ("in_plane", Parts::joint),
        ("distance", Parts::joint),
        ("spring", Parts::spring),
        ("strut", Parts::strut),
        ("joint_spring", Parts::joint_spring),
        ("motor", Parts::motor),
        ("dc_motor", Parts::dc_motor),
        ("bushing", Parts::bushing),
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
        let known = self.members.iter().map(|(name, _)| name);
        found
            .map(|(_, member)| member.clone())
            .ok_or_else(|| own.at(key, Error::unknown("member", &name, own.place(), known)))
    }

    /// The places of a part: all keys that are not its own, or a point of the world at the start on two members.
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
            let place = match own.section_or_list(&key)? {
                None => member.at(self.own.list(own, &key, "m")?),
                Some(table) => {
                    table.only(&[&keys::PLACE])?;
                    let place = member.at(self.own.list_or_zero(&table, "at", "m")?);
                    self.directed(place, &table)?
                }
            };
            places.push(place);
        }
        if N == 2 && own.table.contains_key("point") && known.names().any(|name| name == "point") {
            if !places.is_empty() {
                return Err(own.wrong("point", "places on members are named, too", "give either"));
            }
            let point = numbers(own, "point")?;
            for key in ["from", "on"] {
                let member = self.member(own, key)?;
                let place = self.own.mechanism.place(&member, point);
                places.push(self.directed(place, own)?);
            }
        }
        let count = places.len();
        places.try_into().map_err(|_| {
            let problem = format!("it names {count} places, not {N}");
            let remedy = "name the members that it is on, each with a place: crank = [0.05, 0, 0]";
            own.at("", Error::invalid(own.place(), problem, remedy))
        })
    }

    /// A place with the directions that are said of it.
    fn directed(&mut self, place: Place, own: &Section<'_>) -> Result<Place> {
        let mut place = place;
        if own.table.contains_key("axis") {
            place = place.axis::<Value>(self.own.list(own, "axis", "")?);
        }
        if own.table.contains_key("across") {
            place = place.across::<Value>(self.own.list(own, "across", "")?);
        }
        Ok(place)
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
        let mass = self.own.value(own, "mass", "kg")?;
        let inertia = match (own.table.get("inertia"), own.table.contains_key("inertia_factors")) {
            (Some(list), false) if list.as_array().is_some_and(|list| list.len() == 3) => {
                Inertia::diagonal::<Value>(self.own.list(own, "inertia", "kg m^2")?)
            }
            (Some(_), false) => Inertia::entries::<Value>(self.own.list(own, "inertia", "kg m^2")?),
            (None, true) => Inertia::factors::<Value>(self.own.list(own, "inertia_factors", "")?),
            _ => {
                return Err(own.wrong(
                    "inertia",
                    "it is given not at all, or twice",
                    "give three moments, six entries, or `inertia_factors`",
                ));
            }
        };
        let mut body = Body::new(mass, inertia).center::<Value>(self.own.list_or_zero(own, "center", "m")?);
        body = body.at::<Value>(self.own.list_or_zero(own, "at", "m")?);
        if own.table.contains_key("turned") {
            body = body.turned(euler_parameters_of(Vector(numbers(own, "turned")?)));
        }
        if own.table.contains_key("euler_parameters") {
            if own.table.contains_key("turned") {
                return Err(own.wrong("euler_parameters", "there is `turned`, too", "give one of them"));
            }
            body = body.turned::<Value>(self.own.list(own, "euler_parameters", "")?);
        }
        let velocity: [Value; 3] = self.own.list_or_zero(own, "moving", "m/s")?;
        body = body.moving(velocity, self.own.list_or_zero::<3>(own, "spinning", "rad/s")?);
        let member = self.own.mechanism.body(name, body);
        self.add(own, name, member)
    }

    fn point(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::POINT])?;
        let mass = self.own.value(own, "mass", "kg")?;
        let at: [Value; 3] = self.own.list_or_zero(own, "at", "m")?;
        let moving: [Value; 3] = self.own.list_or_zero(own, "moving", "m/s")?;
        let member = self.own.mechanism.point_moving(name, mass, at, moving);
        self.add(own, name, member)
    }

    fn joint(&mut self, name: &str, own: &Section<'_>, kind: &str) -> Result<()> {
        let world = ["from", "on", "point", "axis", "across"];
        let takes: Vec<&str> = match kind {
            "screw" => world.into_iter().chain(["lead"]).collect(),
            "distance" => world.into_iter().chain(["length"]).collect(),
            _ => world.to_vec(),
        };
        takes_only(own, &keys::JOINT, &takes, &format!("a {kind} joint"))?;
        let [first, second] = self.places(own, &keys::JOINT)?;
        let mechanism = &mut self.own.mechanism;
        let joint = match kind {
            "spherical" => mechanism.spherical(name, first, second),
            "universal" => mechanism.universal(name, first, second),
            "weld" => mechanism.weld(name, first, second),
            "cylindrical" => mechanism.cylindrical(name, first, second),
            "prismatic" => mechanism.prismatic(name, first, second),
            "planar" => mechanism.planar(name, first, second),
            "in_line" => mechanism.in_line(name, first, second),
            "in_plane" => mechanism.in_plane(name, first, second),
            "screw" => {
                let lead = self.own.value(own, "lead", "m")?;
                self.own.mechanism.screw(name, first, second, lead)
            }
            "distance" => {
                let length = self.own.value(own, "length", "m")?;
                self.own.mechanism.distance(name, first, second, length)
            }
            _ => mechanism.revolute(name, first, second),
        };
        self.joints.push((name.to_string(), joint));
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

    /// The joint that a part acts in, and how; the units of its ways and efforts.
    fn freedom(&self, own: &Section<'_>) -> Result<(Joint, Freedom, [&'static str; 2])> {
        let joint = named(own, "of", "joint", &self.joints)?.clone();
        match own.text("freedom")?.as_deref() {
            None | Some("turn") => Ok((joint, Freedom::Turn, ["rad", "N m"])),
            Some("slide") => Ok((joint, Freedom::Slide, ["m", "N"])),
            Some(other) => Err(own.at("freedom", Error::unknown("freedom", other, own.place(), ["turn", "slide"]))),
        }
    }

    fn joint_spring(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::JOINT_SPRING])?;
        let (joint, freedom, [way, effort]) = self.freedom(own)?;
        if !own.table.contains_key("tension") {
            let stiffness = self.own.value_or(own, "stiffness", &format!("({effort})/{way}"), 0.0)?;
            let damping = self.own.value_or(own, "damping", &format!("s ({effort})/{way}"), 0.0)?;
            self.own.mechanism.joint_spring(name, &joint, freedom, stiffness, damping);
            return Ok(());
        }
        if let Some(key) = ["stiffness", "damping"].into_iter().find(|key| own.table.contains_key(*key)) {
            return Err(own.wrong(key, "there is a law, too", "write it into `tension`"));
        }
        let free = self.own.value_or(own, "free", way, 0.0)?;
        let (law, parameters) = self.own.law(own, "tension", [way, effort])?;
        self.own.mechanism.joint_law(name, &joint, freedom, free, law, parameters);
        Ok(())
    }

    fn motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::MOTOR])?;
        let (joint, freedom, [_, effort]) = self.freedom(own)?;
        match self.own.strength(own, "is", effort)? {
            Strength::Given(amount) => self.own.mechanism.motor(name, &joint, freedom, amount),
            Strength::OfTime(function, u) => self.own.mechanism.motor_by(name, &joint, freedom, function, u),
        }
        Ok(())
    }

    fn dc_motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::DC_MOTOR])?;
        let (joint, freedom, [_, effort]) = self.freedom(own)?;
        let circuit = self.own.circuit(own, &format!("({effort})/A"))?;
        let voltage = self.own.voltage(own)?;
        let current = self.own.mechanism.dc_motor(name, &joint, freedom, voltage, circuit);
        self.states.extend(current.map(|current| (name.to_string(), current)));
        Ok(())
    }

    fn bushing(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [first, second] = self.places(own, &keys::BUSHING)?;
        let mut both = [[[Value::from(0.0); 6]; 6]; 2];
        for (matrix, [ways, turns, way, turn]) in both
            .iter_mut()
            .zip([["stiffness", "turn_stiffness", "N/m", "N m/rad"], ["damping", "turn_damping", "N s/m", "N m s/rad"]])
        {
            let along: [Value; 3] = self.own.list_or_zero(own, ways, way)?;
            let about: [Value; 3] = self.own.list_or_zero(own, turns, turn)?;
            for (k, value) in along.into_iter().chain(about).enumerate() {
                matrix[k][k] = value;
            }
        }
        let [stiffness, damping] = both;
        self.own.mechanism.bushing(name, first, second, stiffness, damping);
        Ok(())
    }

    fn force(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::FORCE)?;
        let direction: [Value; 3] = self.own.list(own, "direction", "")?;
        let axes = axes(own)?;
        match self.own.strength(own, "is", "N")? {
            Strength::Given(amount) => self.own.mechanism.force(name, place, direction, axes, amount),
            Strength::OfTime(function, u) => self.own.mechanism.force_by(name, place, direction, axes, function, u),
        }
        Ok(())
    }

    fn torque(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::TORQUE])?;
        let on = self.member(own, "on")?;
        let direction: [Value; 3] = self.own.list(own, "direction", "")?;
        let axes = axes(own)?;
        match self.own.strength(own, "is", "N m")? {
            Strength::Given(amount) => self.own.mechanism.torque(name, &on, direction, axes, amount),
            Strength::OfTime(function, u) => self.own.mechanism.torque_by(name, &on, direction, axes, function, u),
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
        let [plane, center] = self.places(own, &keys::CONTACT)?;
        let (radius, stiffness) = (self.own.value(own, "radius", "m")?, self.own.value(own, "stiffness", "N/m^1.5")?);
        let damping = self.own.value_or(own, "damping", "s/m", 0.0)?;
        self.own.mechanism.contact(name, plane, center, radius, stiffness, damping);
        Ok(())
    }

    fn drive(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::DRIVE])?;
        let (joint, freedom, [way, _]) = self.freedom(own)?;
        let (function, u) = self.own.of_time(own, way)?;
        self.own.mechanism.drive_joint(name, &joint, freedom, function, u);
        Ok(())
    }

    fn sensor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let known = [
            "position",
            "velocity",
            "acceleration",
            "accelerometer",
            "gyroscope",
            "angular_velocity",
            "joint",
            "strut",
            "state",
            "reaction",
            "energy",
            "dissipation",
            "momentum",
        ];
        let shows = own.text("shows")?.unwrap_or_default();
        let takes: &[&str] = match shows.as_str() {
            "velocity" | "acceleration" => &["shows", "axes"],
            "accelerometer" | "gyroscope" => &["shows", "gain", "bias"],
            "angular_velocity" => &["shows", "on", "axes"],
            "joint" => &["shows", "of", "freedom"],
            "strut" | "state" => &["shows", "of"],
            "reaction" => &["shows", "of", "on", "axes"],
            other if known.contains(&other) => &["shows"],
            other => return Err(own.at("shows", Error::unknown("sensor", other, own.place(), known))),
        };
        takes_only(own, &keys::SENSOR, takes, &format!("a sensor that shows {shows}"))?;
        match shows.as_str() {
            "position" | "velocity" | "acceleration" | "accelerometer" | "gyroscope" => {
                let [place] = self.places(own, &keys::SENSOR)?;
                let axes = axes(own)?;
                let mounting = Mounting {
                    gain: self.own.value_or(own, "gain", "", 1.0)?,
                    bias: self.own.list_or_zero(own, "bias", if shows == "gyroscope" { "rad/s" } else { "m/s^2" })?,
                };
                let mechanism = &mut self.own.mechanism;
                match shows.as_str() {
                    "position" => mechanism.position(name, place),
                    "velocity" => mechanism.velocity(name, place, axes),
                    "acceleration" => mechanism.acceleration(name, place, axes),
                    "accelerometer" => mechanism.accelerometer(name, place, mounting),
                    _ => mechanism.gyroscope(name, place, mounting),
                }
                return Ok(());
            }
            "angular_velocity" => {
                let on = self.member(own, "on")?;
                self.own.mechanism.angular_velocity(name, &on, axes(own)?);
            }
            "joint" => {
                let (joint, freedom, _) = self.freedom(own)?;
                self.own.mechanism.joint_sensor(name, &joint, freedom);
            }
            "strut" => match named(own, "of", "spring or strut", &self.struts)? {
                AnyStrut::Linear(strut) => self.own.mechanism.strut_sensor(name, strut),
                AnyStrut::ByLaw(strut) => self.own.mechanism.strut_sensor(name, strut),
            },
            "state" => {
                let state = *named(own, "of", "motor", &self.states)?;
                self.own.mechanism.state_sensor(name, state);
            }
            "reaction" => {
                let on = self.member(own, "on")?;
                let axes = match own.text("axes")?.as_deref() {
                    None | Some("world") => ReactionAxes::World,
                    Some("body") => ReactionAxes::Body,
                    Some("joint") => ReactionAxes::Joint,
                    Some(other) => {
                        return Err(
                            own.at("axes", Error::unknown("axes", other, own.place(), ["world", "body", "joint"]))
                        );
                    }
                };
                let joint = named(own, "of", "joint", &self.joints)?;
                self.own.mechanism.reaction(name, joint, &on, axes);
            }
            "energy" => self.own.mechanism.energy(name),
            "dissipation" => self.own.mechanism.dissipation(name),
            _ => self.own.mechanism.momentum(name),
        }
        // whatever else is there is no place of these sensors
        let _: [Place; 0] = self.places(own, &keys::SENSOR)?;
        Ok(())
    }
}

/// Three numbers.
fn numbers(own: &Section<'_>, key: &str) -> Result<[f64; 3]> {
    let list = own.numbers(key)?.unwrap_or_default();
    list.try_into().map_err(|_| own.wrong(key, "it is no list of three numbers", "write it as [0.1, 0.0, 0.0]"))
}
