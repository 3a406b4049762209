//! Mechanisms of the plane from parts.

use super::include::{
    Builder, Members, Reader, Start, Transform, cannot_be_placed, constants, read_all, turn_in_plane,
};
use super::{Declares, FormulaLaw, Properties, Strength, axes, named, redundant_rows, refuse_states, takes_only};
use crate::dimension::Dimension;
use crate::keys;
use crate::reader::{ByFormulas, Reading};
use costate::value::Value;
use costate::{Motion, Parameter, Quantity};
use costate_identify::problem_file::{Keys, Section};
use costate_identify::{Error, Result};
use costate_parts::assembly::{Input, StateVariable};
use costate_parts::law::{Axes, Linear};
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

    fn declare_motion(&mut self, motion: &Motion) -> Vec<Value> {
        self.motion(&motion.quantity.name, &motion.quantity.unit, &motion.spline)
    }

    fn declare_input(&mut self, input: &Quantity) -> Input {
        self.input(&input.name, &input.unit)
    }
}

/// The mechanism that is being put together.
struct Parts<'r> {
    own: Properties<'r, Mechanism>,
    at: Members<Member>,
    joints: Vec<(String, AnyJoint)>,
    struts: Vec<(String, AnyStrut)>,
    /// First-order states of parts.
    states: Vec<(String, StateVariable)>,
    /// Gravity that accelerometers show, where that is not the one that acts.
    sensed: Option<[Value; 2]>,
}

impl<'r> Builder<'r> for Parts<'r> {
    type Mechanism = Mechanism;

    fn own(&mut self) -> &mut Properties<'r, Mechanism> {
        &mut self.own
    }

    fn place(&mut self, parent: usize, own: &Section<'_>, prefix: String) -> Result<()> {
        self.enter(parent);
        let angle = own.number("angle")?.unwrap_or(0.0);
        let offset = self.own.list_or_zero(own, "at", "m")?;
        let mirror = match own.text("mirrored")?.as_deref() {
            None => [1.0, 1.0, 1.0],
            Some("x") => [-1.0, 1.0, 1.0],
            Some("y") => [1.0, -1.0, 1.0],
            Some(other) => return Err(own.at("mirrored", Error::unknown("axis", other, own.place(), ["x", "y"]))),
        };
        self.at.place(own, prefix, &Transform::in_plane(offset, angle, mirror))
    }

    fn enter(&mut self, number: usize) {
        self.at.enter(number);
        self.own.prefix.clone_from(&self.at.frame.prefix);
    }
}

/// Two components, of three.
fn two([x, y, _]: [Value; 3]) -> [Value; 2] {
    [x, y]
}

fn three([x, y]: [Value; 2]) -> [Value; 3] {
    [x, y, 0.0.into()]
}

/// Reads a mechanism of the plane, whose names are known already.
pub(crate) fn read(reading: &mut Reading, root: &Section<'_>) -> Result<(Mechanism, Option<ByFormulas>)> {
    let mechanism = Mechanism::new(&reading.signature.name);
    let at = Members::of_root(mechanism.ground());
    let (joints, struts, states) = (Vec::new(), Vec::new(), Vec::new());
    let own = Properties::begin(reading, mechanism);
    let mut parts = Parts { own, at, joints, struts, states, sensed: None };
    if root.table.contains_key("gravity") {
        let gravity = parts.own.list(root, "gravity", "m/s^2")?;
        parts.own.mechanism.gravity(gravity);
    }
    if root.table.contains_key("sensed_gravity") {
        parts.sensed = Some(parts.own.list(root, "sensed_gravity", "m/s^2")?);
    }
    if let Some(policy) = redundant_rows(root)? {
        parts.own.mechanism.redundant_rows(policy);
    }
    // members first, sensors last: of energy they show what is there before them
    let kinds: [(&str, Reader<Parts<'_>>); 19] = [
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
    read_all(&mut parts, root, &kinds)?;
    Ok(parts.own.end())
}

impl Parts<'_> {
    /// What the angle of `on` against `from` is less than a file says, where one of them is its ground and that has been turned.
    fn turn_of_ground(&self, own: &Section<'_>) -> Result<f64> {
        let is_ground = |key: &str| Ok::<_, Error>(if own.text(key)?.as_deref() == Some("ground") { 1.0 } else { 0.0 });
        Ok(self.at.frame.ground.angle * (is_ground("from")? - is_ground("on")?))
    }

    /// Members between which an angle is measured: in what is mirrored, it grows the other way around.
    fn between(&self, own: &Section<'_>) -> Result<[Member; 2]> {
        let [from, on] = [self.at.member(own, "from")?, self.at.member(own, "on")?];
        Ok(if self.at.frame.ground.is_mirrored() { [on, from] } else { [from, on] })
    }

    /// An angle of a direction on a member, by its name.
    fn direction_on(&self, member: &str, angle: Value) -> Value {
        let ground = &self.at.frame.ground;
        let angle = if ground.is_mirrored() { -angle } else { angle };
        // both axes are half a turn
        let angle = if ground.mirror[0] < 0.0 { angle + std::f64::consts::PI } else { angle };
        if member == "ground" && ground.angle != 0.0 { angle + ground.angle } else { angle }
    }

    /// An angle of the second member of a joint against the first, by their names.
    fn angle_between(&self, members: &[String; 2], angle: Value) -> Value {
        let ground = &self.at.frame.ground;
        let angle = if ground.is_mirrored() { -angle } else { angle };
        match members.each_ref().map(|name| name == "ground") {
            [true, false] if ground.angle != 0.0 => angle + ground.angle,
            [false, true] if ground.angle != 0.0 => angle - ground.angle,
            _ => angle,
        }
    }

    /// The places of a part, which are all keys that are not its own.
    fn places<const N: usize>(&mut self, own: &Section<'_>, known: &Keys) -> Result<[Place; N]> {
        Ok(self.named_places(own, known)?.map(|(_, place)| place))
    }

    fn named_places<const N: usize>(&mut self, own: &Section<'_>, known: &Keys) -> Result<[(String, Place); N]> {
        let mut places = Vec::new();
        for key in self.own.reading.lines.in_order(own) {
            if known.names().any(|name| name == key) {
                continue;
            }
            let Some(member) = self.at.find(&key) else {
                let names = known.names().map(String::from).chain(self.at.names());
                return Err(own.at(&key, Error::unknown("key or member", &key, own.place(), names)));
            };
            let location = three(self.own.list(own, &key, "m")?);
            let ground = &self.at.frame.ground;
            let location = if key == "ground" { ground.point(location) } else { ground.mirror_alone().point(location) };
            places.push((key, member.at(two(location))));
        }
        let count = places.len();
        places.try_into().map_err(|_| {
            let problem = format!("it names {count} places, not {N}");
            let remedy = match N {
                0 => "leave them out",
                _ => "name the members that it is on, each with a place: crank = [0.05, 0]",
            };
            own.at("", Error::invalid(own.place(), problem, remedy))
        })
    }

    /// A member of a mechanism that is new.
    fn add(&mut self, own: &Section<'_>, name: &str, member: Member, start: Start) -> Result<()> {
        if own.flag("free")?.unwrap_or(false) {
            self.own.mechanism.free(&member);
        }
        self.at.add(own, name, member, start)
    }

    /// Position and velocity at the start.
    fn begins(&mut self, own: &Section<'_>) -> Result<[[Value; 3]; 2]> {
        let [at, moving] = [self.own.list_or_zero(own, "at", "m")?, self.own.list_or_zero(own, "moving", "m/s")?];
        let (at, moving) = self.at.frame.begins(three(at), three(moving));
        Ok([at, moving])
    }

    fn body(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::BODY])?;
        let name = &self.at.full(name);
        let body = Body::new(self.own.value(own, "mass", "kg")?, self.own.value(own, "inertia", "kg m^2")?);
        let center = three(self.own.list_or_zero(own, "center", "m")?);
        let body = body.center(two(self.at.frame.ground.mirror_alone().point(center)));
        let [at, moving] = self.begins(own)?;
        let [angle, rate] =
            [self.own.value_or(own, "angle", "rad", 0.0)?, self.own.value_or(own, "rate", "rad/s", 0.0)?];
        let world = &self.at.frame.world;
        let angle = if world.is_mirrored() { -angle } else { angle };
        let angle = if world.angle != 0.0 { angle + world.angle } else { angle };
        let [.., rate] = self.at.frame.spins([0.0.into(), 0.0.into(), rate]);
        let member = self.own.mechanism.body(name, body.at(two(at), angle).moving(two(moving), rate));
        let turned = constants([angle]).map(|[angle]| (turn_in_plane(angle), angle));
        let spinning = constants([rate]).map(|[rate]| [0.0, 0.0, rate]);
        self.add(own, name, member, Start { at, turned, moving, spinning })
    }

    fn point(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::POINT])?;
        let name = &self.at.full(name);
        let mass = self.own.value(own, "mass", "kg")?;
        let [at, moving] = self.begins(own)?;
        let member = self.own.mechanism.point_moving(name, mass, two(at), two(moving));
        // nothing can be placed on what has no axes
        self.add(own, name, member, Start { at, turned: None, moving, spinning: None })
    }

    fn joint(&mut self, name: &str, own: &Section<'_>, kind: &str) -> Result<()> {
        let [(one, first), (other, second)] = self.named_places(own, &keys::JOINT)?;
        let takes: &[&str] = match kind {
            "weld" => &["angle"],
            "prismatic" => &["direction", "angle"],
            "on_line" => &["direction"],
            "rod" => &["length"],
            _ => &[],
        };
        takes_only(own, &keys::JOINT, takes, &format!("a {kind} joint"))?;
        let name = &self.at.full(name);
        let [direction, angle] =
            [self.own.value_or(own, "direction", "rad", 0.0)?, self.own.value_or(own, "angle", "rad", 0.0)?];
        let (direction, angle) = (self.direction_on(&one, direction), self.angle_between(&[one, other], angle));
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
        let name = &self.at.full(name);
        own.only(&[&keys::GEARS])?;
        let [from, on] = [self.at.member(own, "from")?, self.at.member(own, "on")?];
        let ratio = self.own.value(own, "ratio", "")?;
        self.joints.push((name.to_string(), AnyJoint::Gears(self.own.mechanism.gears(name, &from, &on, ratio))));
        Ok(())
    }

    fn spring(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [first, second] = self.places(own, &keys::SPRING)?;
        let free_length = self.own.value_or(own, "free_length", "m", 0.0)?;
        let (stiffness, damping) =
            (self.own.value_or(own, "stiffness", "N/m", 0.0)?, self.own.value_or(own, "damping", "N s/m", 0.0)?);
        let spring = self.own.mechanism.spring(name, first, second, free_length, stiffness, damping);
        self.struts.push((name.to_string(), AnyStrut::Linear(spring)));
        Ok(())
    }

    fn strut(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [first, second] = self.places(own, &keys::STRUT)?;
        let free_length = self.own.value_or(own, "free_length", "m", 0.0)?;
        let (law, parameters) = self.own.law(own, "tension", ["m", "N"])?;
        let strut = self.own.mechanism.strut(name, first, second, free_length, law.clone(), parameters);
        self.know_states(own, name, &law, strut.states())?;
        self.struts.push((name.to_string(), AnyStrut::ByLaw(strut)));
        Ok(())
    }

    /// Lets sensors know the states of a law, and starts them.
    fn know_states(&mut self, own: &Section<'_>, name: &str, law: &FormulaLaw, states: &[StateVariable]) -> Result<()> {
        for (k, value) in self.own.starts(own)? {
            if let Some(state) = states.get(k) {
                self.own.mechanism.start_state(*state, value);
            }
        }
        let named = law.states.iter().zip(states).map(|((state, _), known)| (format!("{name}.{state}"), *known));
        self.states.extend(named);
        Ok(())
    }

    fn torsion(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::TORSION])?;
        let [from, on] = self.between(own)?;
        let is_linear = ["stiffness", "damping"].into_iter().find(|key| own.table.contains_key(*key));
        if !own.table.contains_key("torque") {
            refuse_states(own, "torque")?;
            let [stiffness, damping] = [
                self.own.value_or(own, "stiffness", "N m/rad", 0.0)?,
                self.own.value_or(own, "damping", "N m s/rad", 0.0)?,
            ];
            match self.turn_of_ground(own)? {
                0.0 => self.own.mechanism.torsion(name, &from, &on, stiffness, damping),
                turn => {
                    let free = turn * self.at.frame.ground.sign();
                    self.own.mechanism.torsion_by(name, &from, &on, free, Linear, [stiffness, damping]);
                }
            }
            return Ok(());
        }
        if let Some(key) = is_linear {
            return Err(own.wrong(key, "there is a law, too", "write it into `torque`"));
        }
        let free_angle = self.own.value_or(own, "free_angle", "rad", 0.0)?;
        let turn = self.turn_of_ground(own)? * self.at.frame.ground.sign();
        let free_angle = if turn == 0.0 { free_angle } else { free_angle + turn };
        let (law, parameters) = self.own.law(own, "torque", ["rad", "N m"])?;
        let states = self.own.mechanism.torsion_by(name, &from, &on, free_angle, law.clone(), parameters);
        self.know_states(own, name, &law, &states)
    }

    fn support(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        self.at.frame.refuse_unless_world(own, "a support is measured from the origin of the world")?;
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
            let states =
                self.own.mechanism.support(name, place, direction, motion, free_distance, law.clone(), parameters);
            return self.know_states(own, name, &law, &states);
        }
        refuse_states(own, "tension")?;
        let linear =
            [self.own.value_or(own, "stiffness", "N/m", 0.0)?, self.own.value_or(own, "damping", "N s/m", 0.0)?];
        self.own.mechanism.support(name, place, direction, motion, free_distance, Linear, linear);
        Ok(())
    }

    fn dc_motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::DC_MOTOR])?;
        let [from, on] = self.between(own)?;
        let circuit = self.own.circuit(own, "N m/A")?;
        let voltage = self.own.voltage(own)?;
        let current = self.own.mechanism.dc_motor(name, &from, &on, voltage, circuit);
        self.states.push((name.to_string(), current));
        Ok(())
    }

    fn force(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [place] = self.places(own, &keys::FORCE)?;
        let direction = three(self.own.list(own, "direction", "")?);
        let axes = axes(own)?;
        let direction = two(match axes {
            Axes::World => self.at.frame.world.vector(direction),
            Axes::Body => self.at.frame.ground.mirror_alone().vector(direction),
        });
        match self.own.strength(own, "is", "N")? {
            Strength::Given(amount) => self.own.mechanism.force(name, place, direction, axes, amount),
            Strength::OfTime(function, u) => self.own.mechanism.force_by(name, place, direction, axes, function, u),
        }
        Ok(())
    }

    fn torque(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::TORQUE])?;
        let [from, on] = self.between(own)?;
        match self.own.strength(own, "is", "N m")? {
            Strength::Given(amount) => self.own.mechanism.torque(name, &from, &on, amount),
            Strength::OfTime(function, u) => self.own.mechanism.torque_by(name, &from, &on, function, u),
        }
        Ok(())
    }

    fn drag(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [place] = self.places(own, &keys::DRAG)?;
        let (linear, quadratic) =
            (self.own.value_or(own, "linear", "N s/m", 0.0)?, self.own.value_or(own, "quadratic", "N s^2/m^2", 0.0)?);
        self.own.mechanism.drag(name, place, linear, quadratic);
        Ok(())
    }

    fn contact(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [(one, line), (_, center)] = self.named_places(own, &keys::CONTACT)?;
        let direction = self.own.value_or(own, "direction", "rad", 0.0)?;
        let direction = self.direction_on(&one, direction);
        // free space stays on the line's left
        let direction = if self.at.frame.ground.is_mirrored() { direction + std::f64::consts::PI } else { direction };
        let (radius, stiffness) = (self.own.value(own, "radius", "m")?, self.own.value(own, "stiffness", "N/m^1.5")?);
        let damping = self.own.value_or(own, "damping", "s/m", 0.0)?;
        self.own.mechanism.contact(name, line, direction, center, radius, stiffness, damping);
        Ok(())
    }

    fn drive(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::DRIVE])?;
        self.at.frame.refuse_unless_world(own, "a coordinate is one of the world")?;
        let member = self.at.member(own, "of")?;
        let known = ["x", "y", "angle"];
        let asked = own.text("coordinate")?.unwrap_or_default();
        let place = known.iter().position(|coordinate| *coordinate == asked);
        let Some(coordinate) = place.and_then(|place| member.coordinates().get(place)).copied() else {
            let names = known.iter().take(member.coordinates().len());
            return Err(own.at("coordinate", Error::unknown("coordinate", &asked, own.place(), names)));
        };
        let unit = if asked == "angle" { "rad" } else { "m" };
        let (function, u) = self.own.of_time(own, unit)?;
        self.own.mechanism.drive(name, coordinate, function, u);
        Ok(())
    }

    fn sensor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        if let Some(gravity) = self.sensed {
            self.own.mechanism.gravity(gravity);
        }
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
                        let angle = if self.at.frame.ground.is_mirrored() { -angle } else { angle };
                        let gain = self.own.value_or(own, "gain", "", 1.0)?;
                        let bias = self.own.list_or_zero(own, "bias", "m/s^2")?;
                        self.own.mechanism.accelerometer(name, place, Mounting { angle, gain, bias });
                    }
                }
                return Ok(());
            }
            "angle" | "encoder" => {
                if self.turn_of_ground(own)? != 0.0 {
                    return Err(cannot_be_placed(own, "its ground is turned"));
                }
                let [from, on] = self.between(own)?;
                match shows.as_str() {
                    "angle" => self.own.mechanism.angle(name, &from, &on),
                    _ => self.own.mechanism.encoder(name, &from, &on),
                }
            }
            "strut" => {
                let of = named(own, "of", "spring or strut", (&self.struts, &self.at.frame.prefix))?;
                match of {
                    AnyStrut::Linear(strut) => self.own.mechanism.strut_sensor(name, strut),
                    AnyStrut::ByLaw(strut) => self.own.mechanism.strut_sensor(name, strut),
                }
            }
            "reaction" => {
                let on = self.at.member(own, "on")?;
                match named(own, "of", "joint", (&self.joints, &self.at.frame.prefix))? {
                    AnyJoint::Revolute(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Weld(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Prismatic(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::OnLine(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Rod(joint) => self.own.mechanism.reaction(name, joint, &on),
                    AnyJoint::Gears(joint) => self.own.mechanism.reaction(name, joint, &on),
                }
            }
            "state" => {
                let state = *named(own, "of", "state", (&self.states, &self.at.frame.prefix))?;
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
