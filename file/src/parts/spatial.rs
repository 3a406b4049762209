//! Mechanisms of space from parts.

use super::include::{Builder, Members, Reader, Start, Transform, cannot_be_placed, constants, read_all};
use super::{
    Declares, FormulaLaw, OfTime, Properties, Strength, axes, called, named, redundant_rows, refuse_states, takes_only,
};
use crate::formula::graph::{Function, Graph, Pair, Place as NodePlace, TooLarge};
use crate::keys::space as keys;
use crate::reader::{ByFormulas, Reading};
use crate::robot::is_robot;
use costate::shown::rounded;
use costate::value::Value;
use costate::vector::{Rotation, Vector, euler_parameters_of};
use costate::{Motion, Parameter, Quantity};
use costate_identify::problem_file::{Keys, Section};
use costate_identify::{Error, Result};
use costate_parts::assembly::{Input, RedundantRows, Row, StateVariable};
use costate_parts::law::{Axes, Linear};
use costate_parts::spatial::{
    Body, Capsule, Controlled, Controller, Freedom, Inertia, Joint, Looks, Mechanism, Member, Mounting, Place,
    ReactionAxes, Strut,
};

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
    joints: Vec<(String, Joint)>,
    struts: Vec<(String, AnyStrut)>,
    /// Rows of the drives of joints.
    drives: Vec<(String, (Vec<Row>, Freedom))>,
    controllers: Vec<(String, Controlled<OfTime>)>,
    capsules: Vec<(String, Capsule)>,
    /// First-order states of parts.
    states: Vec<(String, StateVariable)>,
    /// Joints with a turn and a way, of which the way runs backwards, since they are mirrored.
    backwards: Vec<String>,
    /// Gravity that accelerometers show, where that is not the one that acts.
    sensed: Option<[Value; 3]>,
}

impl<'r> Builder<'r> for Parts<'r> {
    type Mechanism = Mechanism;

    fn own(&mut self) -> &mut Properties<'r, Mechanism> {
        &mut self.own
    }

    fn place(&mut self, parent: usize, own: &Section<'_>, prefix: String) -> Result<()> {
        self.enter(parent);
        let turned = if own.table.contains_key("turned") { numbers(own, "turned")? } else { [0.0; 3] };
        let offset = self.own.list_or_zero(own, "at", "m")?;
        let mirror = match own.text("mirrored")?.as_deref() {
            None => [1.0, 1.0, 1.0],
            Some("x") => [-1.0, 1.0, 1.0],
            Some("y") => [1.0, -1.0, 1.0],
            Some("z") => [1.0, 1.0, -1.0],
            Some(other) => return Err(own.at("mirrored", Error::unknown("axis", other, own.place(), ["x", "y", "z"]))),
        };
        let placed = Transform { offset, rotation: rows(euler_parameters_of(Vector(turned))), angle: 0.0, mirror };
        self.at.place(own, prefix, &placed)
    }

    fn enter(&mut self, number: usize) {
        self.at.enter(number);
        self.own.prefix.clone_from(&self.at.frame.prefix);
    }
}

/// Rows of the matrix of Euler parameters.
fn rows(parameters: [f64; 4]) -> [[f64; 3]; 3] {
    let rotation = Rotation::from_euler_parameters(parameters);
    std::array::from_fn(|i| std::array::from_fn(|j| rotation.axis(j).0[i]))
}

/// What becomes of directions at a place of a part that is mirrored.
#[derive(Clone, Copy, PartialEq)]
enum Axis {
    /// The axis is one that something turns about.
    Turn,
    /// The axis is one that something moves along.
    Way,
    /// The axes are those of a frame, which stays one of right hands.
    Frame,
}

/// Reads a mechanism of space, whose names are known already.
pub(crate) fn read(reading: &mut Reading, root: &Section<'_>) -> Result<(Mechanism, Option<ByFormulas>)> {
    let mechanism = Mechanism::new(&reading.signature.name);
    let at = Members::of_root(mechanism.ground());
    let (joints, struts, drives) = (Vec::new(), Vec::new(), Vec::new());
    let (controllers, capsules, states) = (Vec::new(), Vec::new(), Vec::new());
    let own = Properties::begin(reading, mechanism);
    let (sensed, backwards) = (None, Vec::new());
    let mut parts = Parts { own, at, joints, struts, drives, controllers, capsules, states, backwards, sensed };
    if root.table.contains_key("gravity") {
        let gravity: [Value; 3] = parts.own.list(root, "gravity", "m/s^2")?;
        parts.own.mechanism.gravity(gravity);
    }
    if root.table.contains_key("sensed_gravity") {
        parts.sensed = Some(parts.own.list(root, "sensed_gravity", "m/s^2")?);
    }
    let policy = match redundant_rows(root)? {
        // loops of robots that are included
        None if parts.own.reading.included.iter().any(|scope| is_robot(&scope.file().path)) => {
            Some(RedundantRows::LeaveOut)
        }
        policy => policy,
    };
    if let Some(policy) = policy {
        parts.own.mechanism.redundant_rows(policy);
    }
    // members first, sensors last: of energy they show what is there before them
    let kinds: [(&str, Reader<Parts<'_>>); 31] = [
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
        ("rotor", Parts::rotor),
        ("tendon", Parts::tendon),
        ("coupling", Parts::coupling),
        ("motor", Parts::motor),
        ("controller", Parts::controller),
        ("dc_motor", Parts::dc_motor),
        ("capsule", Parts::capsule),
        ("shape", Parts::shape),
        ("bushing", Parts::bushing),
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
    /// The places of a part: all keys that are not its own, or a point of the world at the start on two members.
    fn places<const N: usize>(&mut self, own: &Section<'_>, known: &Keys, axis: Axis) -> Result<[Place; N]> {
        let mut places = Vec::new();
        for key in self.own.reading.lines.in_order(own) {
            if known.names().any(|name| name == key) {
                continue;
            }
            let Some(member) = self.at.find(&key) else {
                let names = known.names().map(String::from).chain(self.at.names());
                return Err(own.at(&key, Error::unknown("key or member", &key, own.place(), names)));
            };
            let placed =
                if key == "ground" { self.at.frame.ground.clone() } else { self.at.frame.ground.mirror_alone() };
            let place = match own.section_or_list(&key)? {
                None => {
                    let place = member.at(placed.point(self.own.list(own, &key, "m")?));
                    self.directed(place, None, &placed, axis)?
                }
                Some(table) => {
                    table.only(&[&keys::PLACE])?;
                    let place = member.at(placed.point(self.own.list_or_zero(&table, "at", "m")?));
                    self.directed(place, Some(&table), &placed, axis)?
                }
            };
            places.push(place);
        }
        if N == 2 && own.table.contains_key("point") && known.names().any(|name| name == "point") {
            if !places.is_empty() {
                return Err(own.wrong("point", "places on members are named, too", "give either"));
            }
            let world = self.at.frame.world.clone();
            let Some(point) = constants(world.point(numbers(own, "point")?.map(Value::from))) else {
                let problem = "where this file begins depends on parameters";
                return Err(own.wrong("point", problem, "name places on members"));
            };
            for key in ["from", "on"] {
                let member = self.at.member(own, key)?;
                let place = self.own.mechanism.place(&member, point);
                places.push(self.directed(place, Some(own), &world, axis)?);
            }
        }
        let count = places.len();
        places.try_into().map_err(|_| {
            let problem = format!("it names {count} places, not {N}");
            let remedy = match N {
                0 => "leave them out",
                2 if own.table.contains_key("from") => "say where it is: point = [0, 0, 0]",
                _ => "name the members that it is on, each with a place: crank = [0.05, 0, 0]",
            };
            own.at("", Error::invalid(own.place(), problem, remedy))
        })
    }

    /// A place with the directions that are said of it, in axes that are placed.
    fn directed(&mut self, place: Place, own: Option<&Section<'_>>, placed: &Transform, kind: Axis) -> Result<Place> {
        let mut place = place;
        let mut given = |key: &str| match own.filter(|own| own.table.contains_key(key)) {
            Some(own) => self.own.list::<3>(own, key, "").map(Some),
            None => Ok(None),
        };
        let (axis, across) = (given("axis")?, given("across")?);
        let is_moved = placed.is_turned() || placed.mirror != [1.0; 3];
        let unit = |k: usize| std::array::from_fn(|j| Value::from(if j == k { 1.0 } else { 0.0 }));
        // directions that a file leaves out are those of its axes
        let axis = axis.or_else(|| is_moved.then(|| unit(2)));
        let across = across.or_else(|| {
            // x, or y where x is too near to the axis
            let is_near =
                axis.and_then(constants).is_some_and(|[x, y, z]| x.abs() > 0.9 * (x * x + y * y + z * z).sqrt());
            is_moved.then(|| unit(if is_near { 1 } else { 0 }))
        });
        if let Some(axis) = axis {
            place = place.axis(match kind {
                Axis::Turn => placed.turning(axis),
                Axis::Way => placed.vector(axis),
                Axis::Frame => placed.axis(2, axis),
            });
        }
        if let Some(across) = across {
            place = place.across(if kind == Axis::Frame { placed.axis(0, across) } else { placed.vector(across) });
        }
        Ok(place)
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
        let (at, moving) = self.at.frame.begins(at, moving);
        Ok([at, moving])
    }

    /// Entries of a tensor, or factors of one, in axes that are mirrored: products of two axes change their signs.
    fn mirrored(&self, entries: [Value; 6], pairs: [[usize; 2]; 3]) -> [Value; 6] {
        let mirror = self.at.frame.ground.mirror;
        std::array::from_fn(|k| match k.checked_sub(3).map(|k| pairs[k]) {
            Some([i, j]) if mirror[i] * mirror[j] < 0.0 => -entries[k],
            _ => entries[k],
        })
    }

    /// A body with the factors of its pseudo-inertia. Factors that follow from parameters become moments that do, in which forces are linear.
    fn weighs_by_factors(&mut self, own: &Section<'_>, pairs: [[usize; 2]; 3]) -> Result<Body> {
        let units = ["", "", "", "", "m", "m", "m", "m", "m", "m"];
        let formulas = self.own.formulas::<10>(own, "pseudo_inertia")?;
        let mut places = Vec::new();
        for (formula, unit) in formulas.iter().zip(units) {
            places.push(self.own.place(formula, unit)?);
        }
        let graph = &mut self.own.reading.formulas.graph;
        let all_known = places.iter().all(|&place| graph.constant_of(place).is_some());
        let ground = self.at.frame.ground.mirror_alone();
        if all_known {
            let factors = self.own.list_in::<10>(own, "pseudo_inertia", units)?;
            let [alpha, a, b, c, xy, xz, yz, center @ ..] = factors;
            let [a, b, c, xy, xz, yz] = self.mirrored([a, b, c, xy, xz, yz], pairs);
            let [x, y, z] = ground.point(center);
            return Ok(Body::of_factors::<Value>([alpha, a, b, c, xy, xz, yz, x, y, z]));
        }
        let nodes = moments(graph, &places).map_err(self.own.reading.large())?;
        let mut values = [Value::from(0.0); 10];
        for (k, (value, node)) in values.iter_mut().zip(nodes).enumerate() {
            let (key, unit) = match k {
                0 => ("mass", "kg"),
                1..4 => ("first_moments", "kg m"),
                _ => ("inertia_about_origin", "kg m^2"),
            };
            *value = self.own.property(&formulas[k].at_key(key), node, unit)?;
        }
        let [mass, x, y, z, entries @ ..] = values;
        Ok(Body::of_moments::<Value, Value>(mass, ground.vector([x, y, z]), self.mirrored(entries, pairs)))
    }

    /// A body with its inertia.
    fn weighs(&mut self, own: &Section<'_>) -> Result<Body> {
        let has = |key: &str| own.table.contains_key(key);
        let pairs = [[0, 1], [0, 2], [1, 2]];
        let without = |form: &str, others: &[&str]| match others.iter().find(|other| has(other)) {
            Some(other) => Err(own.wrong(other, format!("there is `{form}`, too"), "give one form of the inertia")),
            None => Ok(()),
        };
        if has("pseudo_inertia") {
            let others = ["mass", "center", "first_moments", "inertia", "inertia_factors", "inertia_about_origin"];
            without("pseudo_inertia", &others)?;
            return self.weighs_by_factors(own, pairs);
        }
        let mass = self.own.value(own, "mass", "kg")?;
        if has("first_moments") || has("inertia_about_origin") {
            without("first_moments", &["center", "inertia", "inertia_factors"])?;
            let first = self.own.list(own, "first_moments", "kg m")?;
            let entries = self.own.list(own, "inertia_about_origin", "kg m^2")?;
            let first = self.at.frame.ground.mirror_alone().vector(first);
            return Ok(Body::of_moments::<Value, Value>(mass, first, self.mirrored(entries, pairs)));
        }
        let inertia = match (own.table.get("inertia"), has("inertia_factors")) {
            (Some(list), false) if list.as_array().is_some_and(|list| list.len() == 3) => {
                Inertia::diagonal::<Value>(self.own.list(own, "inertia", "kg m^2")?)
            }
            (Some(_), false) => {
                let entries = self.own.list(own, "inertia", "kg m^2")?;
                Inertia::entries::<Value>(self.mirrored(entries, pairs))
            }
            (None, true) => {
                let units = ["", "", "", "kg^0.5 m", "kg^0.5 m", "kg^0.5 m"];
                let factors = self.own.list_in(own, "inertia_factors", units)?;
                Inertia::factors::<Value>(self.mirrored(factors, pairs))
            }
            _ => {
                return Err(own.wrong(
                    "inertia",
                    "it is given not at all, or twice",
                    "give three moments, six entries, `inertia_factors`, or another form",
                ));
            }
        };
        let center = self.own.list_or_zero(own, "center", "m")?;
        Ok(Body::new(mass, inertia).center::<Value>(self.at.frame.ground.mirror_alone().point(center)))
    }

    fn body(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::BODY])?;
        let name = &self.at.full(name);
        let body = self.weighs(own)?;
        let [at, moving] = self.begins(own)?;
        let mut body = body.at::<Value>(at);
        let mut turned = [1.0, 0.0, 0.0, 0.0].map(Value::from);
        let mut is_turned = false;
        if own.table.contains_key("turned") {
            let vector = Vector(numbers(own, "turned")?);
            if vector.length() > std::f64::consts::TAU {
                let problem = format!("it is {} rad, more than a turn", rounded(vector.length(), 4));
                return Err(own.wrong("turned", &problem, "angles are in rad, not in degrees: 30 degrees are 0.5236"));
            }
            turned = euler_parameters_of(vector).map(Value::from);
            is_turned = true;
        }
        if own.table.contains_key("euler_parameters") {
            if is_turned {
                return Err(own.wrong("euler_parameters", "there is `turned`, too", "give one of them"));
            }
            turned = self.own.list(own, "euler_parameters", "")?;
            is_turned = true;
        }
        let world = &self.at.frame.world;
        if world.is_turned() || world.mirror != [1.0; 3] {
            let [e0, axis @ ..] = turned;
            // the axis in what is mirrored, and then the turn of that
            let [x, y, z] = world.mirror_alone().turning(axis);
            turned = after(quaternion(&world.rotation), [e0, x, y, z]);
            is_turned = true;
        }
        if is_turned {
            body = body.turned::<Value>(turned);
        }
        let spinning = self.own.list_or_zero::<3>(own, "spinning", "rad/s")?;
        let spinning = self.at.frame.spins(spinning);
        let member = self.own.mechanism.body(name, body.moving(moving, spinning));
        let turned = constants(turned).map(|turned| (rows(turned), 0.0));
        self.add(own, name, member, Start { at, turned, moving, spinning: constants(spinning) })
    }

    fn point(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::POINT])?;
        let name = &self.at.full(name);
        let mass = self.own.value(own, "mass", "kg")?;
        let [at, moving] = self.begins(own)?;
        let member = self.own.mechanism.point_moving(name, mass, at, moving);
        // nothing can be placed on what has no axes
        self.add(own, name, member, Start { at, turned: None, moving, spinning: None })
    }

    fn joint(&mut self, name: &str, own: &Section<'_>, kind: &str) -> Result<()> {
        let world = ["from", "on", "point", "axis", "across"];
        let takes: Vec<&str> = match kind {
            "screw" => world.into_iter().chain(["lead"]).collect(),
            "distance" => world.into_iter().chain(["length"]).collect(),
            _ => world.to_vec(),
        };
        takes_only(own, &keys::JOINT, &takes, &format!("a {kind} joint"))?;
        let axis = match kind {
            "revolute" | "cylindrical" | "screw" | "planar" => Axis::Turn,
            "weld" | "universal" => Axis::Frame,
            _ => Axis::Way,
        };
        let [first, second] = self.places(own, &keys::JOINT, axis)?;
        let name = &self.at.full(name);
        if ["cylindrical", "screw"].contains(&kind) && self.at.frame.ground.is_mirrored() {
            self.backwards.push(name.clone());
        }
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
                let lead = if self.at.frame.ground.is_mirrored() { -lead } else { lead };
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
        let name = &self.at.full(name);
        let [first, second] = self.places(own, &keys::SPRING, Axis::Way)?;
        let free_length = self.own.value_or(own, "free_length", "m", 0.0)?;
        let (stiffness, damping) =
            (self.own.value_or(own, "stiffness", "N/m", 0.0)?, self.own.value_or(own, "damping", "N s/m", 0.0)?);
        let spring = self.own.mechanism.spring(name, first, second, free_length, stiffness, damping);
        self.struts.push((name.to_string(), AnyStrut::Linear(spring)));
        Ok(())
    }

    fn strut(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [first, second] = self.places(own, &keys::STRUT, Axis::Way)?;
        let free_length = self.own.value_or(own, "free_length", "m", 0.0)?;
        let (law, parameters) = self.own.law(own, "tension", ["m", "N"])?;
        let strut = self.own.mechanism.strut(name, first, second, free_length, law.clone(), parameters);
        self.know_states(own, name, &law, strut.states())?;
        self.struts.push((name.to_string(), AnyStrut::ByLaw(strut)));
        Ok(())
    }

    /// The joint that a part acts in, and how; the units of its ways and efforts.
    fn freedom(&self, own: &Section<'_>) -> Result<(Joint, Freedom, [&'static str; 2])> {
        self.freedom_of(own, "of", own.text("freedom")?.as_deref())
    }

    /// A freedom of the joint under a key.
    fn freedom_of(
        &self,
        own: &Section<'_>,
        key: &str,
        freedom: Option<&str>,
    ) -> Result<(Joint, Freedom, [&'static str; 2])> {
        named(own, key, "joint", (&self.joints, &self.at.frame.prefix))?;
        let name = own.text(key)?.unwrap_or_default();
        self.freedom_named(own, (key, &name), (if key == "of" { "freedom" } else { "freedoms" }, freedom))
    }

    /// A freedom of a joint that a key names, and that another key says.
    fn freedom_named(
        &self,
        own: &Section<'_>,
        (key, name): (&str, &str),
        (freedom_key, freedom): (&str, Option<&str>),
    ) -> Result<(Joint, Freedom, [&'static str; 2])> {
        let joint = called(own, (key, name), "joint", (&self.joints, &self.at.frame.prefix))?.clone();
        let lacks = |moves: &str| {
            own.wrong(
                key,
                format!("joint `{name}` does not {moves} its axis"),
                "choose the other freedom, or another joint",
            )
        };
        match freedom {
            None | Some("turn") if !joint.allows(Freedom::Turn) => Err(lacks("turn about")),
            Some("slide") if !joint.allows(Freedom::Slide) => Err(lacks("slide along")),
            None | Some("turn") => Ok((joint, Freedom::Turn, ["rad", "N m"])),
            Some("slide") if self.backwards.contains(&self.at.full(name)) => {
                Err(cannot_be_placed(own, "mirrored: along the axis of a turn, ways run backwards"))
            }
            Some("slide") => Ok((joint, Freedom::Slide, ["m", "N"])),
            Some(other) => Err(own.at(freedom_key, Error::unknown("freedom", other, own.place(), ["turn", "slide"]))),
        }
    }

    /// The inertia of what goes with joints.
    fn inertia(&mut self, own: &Section<'_>, unit: &str) -> Result<Value> {
        if own.number("inertia").ok().flatten().is_some_and(|inertia| inertia < 0.0) {
            return Err(own.wrong("inertia", "it is negative", &format!("give a positive one, {unit}")));
        }
        self.own.value(own, "inertia", unit)
    }

    fn rotor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::ROTOR])?;
        let (joint, freedom, _) = self.freedom(own)?;
        let inertia = self.inertia(own, if freedom == Freedom::Turn { "kg m^2" } else { "kg" })?;
        self.own.mechanism.rotor(name, &joint, freedom, inertia);
        Ok(())
    }

    fn tendon(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::TENDON])?;
        let missing = |what: &str| Err(own.wrong("of", "it is missing", what));
        let Some(joints) = own.texts("of")? else { return missing("name the joints, [\"wrist\", \"hand\"] perhaps") };
        let freedoms = own.texts("freedoms")?.unwrap_or_else(|| vec!["turn".into(); joints.len()]);
        let Some(ratios) = own.table.get("ratios").and_then(toml::Value::as_array).cloned() else {
            return Err(own.wrong("ratios", "it is no list", "give one for each joint in `of`: [1.0, 0.5]"));
        };
        if joints.is_empty() {
            return Err(own.wrong("of", "it names no joint", "name one joint at least"));
        }
        for (key, count) in [("ratios", ratios.len()), ("freedoms", freedoms.len())] {
            if count != joints.len() {
                let problem = format!("there are {count} for {} joints", joints.len());
                return Err(own.wrong(key, problem, "give one for each joint in `of`"));
            }
        }
        let (unit, effort, inertia) = match own.text("unit")?.as_deref() {
            None | Some("rad") => ("rad", "N m", "kg m^2"),
            Some("m") => ("m", "N", "kg"),
            Some(other) => return Err(own.at("unit", Error::unknown("unit", other, own.place(), ["rad", "m"]))),
        };
        let mut all = Vec::new();
        for ((name, freedom), ratio) in joints.iter().zip(&freedoms).zip(&ratios) {
            let (joint, freedom, [way, _]) = self.freedom_named(own, ("of", name), ("freedoms", Some(freedom)))?;
            let of_ratio = if way == unit { String::new() } else { format!("{unit}/{way}") };
            all.push((joint, freedom, self.own.element(own, "ratios", ratio, &of_ratio)?));
        }
        let joints: Vec<(&Joint, Freedom, Value)> =
            all.iter().map(|(joint, freedom, ratio)| (joint, *freedom, *ratio)).collect();
        if !["inertia", "tension"].iter().any(|key| own.table.contains_key(*key)) {
            return Err(own.wrong("inertia", "it has neither inertia nor tension", "give one of them, or both"));
        }
        let Some(tendon) = self.own.mechanism.tendon(name, &joints) else { return Ok(()) };
        if own.table.contains_key("inertia") {
            let inertia = self.inertia(own, inertia)?;
            self.own.mechanism.tendon_inertia(&tendon, inertia);
        }
        if !own.table.contains_key("tension") {
            refuse_states(own, "tension")?;
            return match own.table.contains_key("free") {
                true => Err(own.wrong(
                    "free",
                    "there is no `tension`",
                    "write a law, tension = \"k*x + d*x'\", or leave it out",
                )),
                false => Ok(()),
            };
        }
        let free = self.own.value_or(own, "free", unit, 0.0)?;
        let (law, parameters) = self.own.law(own, "tension", [unit, effort])?;
        let states = self.own.mechanism.tendon_law(&tendon, free, law.clone(), parameters);
        self.know_states(own, name, &law, &states)
    }

    fn coupling(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::COUPLING])?;
        let freedoms = own.texts("freedoms")?.unwrap_or_else(|| vec!["turn".into(), "turn".into()]);
        let [of_first, of_second] = freedoms.as_slice() else {
            return Err(own.wrong("freedoms", "it is no list of two", "write it as [\"turn\", \"slide\"]"));
        };
        let (first, freedom, [from, _]) = self.freedom_of(own, "from", Some(of_first))?;
        let (second, other, [on, _]) = self.freedom_of(own, "on", Some(of_second))?;
        let unit = if from == on { "" } else { &format!("{on}/{from}") };
        let (ratio, offset) = (self.own.value_or(own, "ratio", unit, 1.0)?, self.own.value_or(own, "offset", on, 0.0)?);
        self.own.mechanism.coupling(name, [(&first, freedom), (&second, other)], ratio, offset);
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

    fn joint_spring(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::JOINT_SPRING])?;
        let (joint, freedom, [way, effort]) = self.freedom(own)?;
        if !own.table.contains_key("tension") {
            refuse_states(own, "tension")?;
            if own.table.contains_key("free") {
                let remedy = "write a law, tension = \"k*x + d*x'\", or leave it out";
                return Err(own.wrong("free", "there is no `tension`", remedy));
            }
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
        let states = self.own.mechanism.joint_law(name, &joint, freedom, free, law.clone(), parameters);
        self.know_states(own, name, &law, &states)
    }

    fn motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::MOTOR])?;
        let (joint, freedom, [_, effort]) = self.freedom(own)?;
        match self.own.strength(own, "is", effort)? {
            Strength::Given(amount) => self.own.mechanism.motor(name, &joint, freedom, amount),
            Strength::OfTime(function, u) => self.own.mechanism.motor_by(name, &joint, freedom, function, u),
        }
        Ok(())
    }

    fn controller(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::CONTROLLER])?;
        let (joint, freedom, [place, effort]) = self.freedom(own)?;
        let rate = format!("{place}/s");
        let mut controller = Controller::of(self.own.command(own, "reference", place)?);
        if own.table.contains_key("reference_rate") {
            controller = controller.reference_rate(self.own.command(own, "reference_rate", &rate)?);
        } else if let Some(command) = self.own.command_rate(own, "reference", place)? {
            controller = controller.reference_rate(command);
        }
        if own.table.contains_key("feed_forward") {
            controller = controller.feed_forward(self.own.command(own, "feed_forward", effort)?);
        }
        type Add = fn(Controller<OfTime>, Value) -> Controller<OfTime>;
        let gains: [(&str, String, Add); 3] = [
            ("proportional", format!("({effort})/{place}"), Controller::proportional),
            ("integral", format!("({effort})/({place} s)"), Controller::integral),
            ("derivative", format!("({effort}) s/{place}"), Controller::derivative),
        ];
        if !gains.iter().any(|(key, ..)| own.table.contains_key(*key)) {
            let remedy = "give `proportional`, `integral` or `derivative`, or take a motor for what acts without";
            return Err(own.wrong("proportional", "it has no gain", remedy));
        }
        for (key, unit, add) in gains {
            if own.table.contains_key(key) {
                controller = add(controller, self.own.value(own, key, &unit)?);
            }
        }
        if let Some(added) = self.own.mechanism.controller(name, &joint, freedom, controller) {
            self.states.extend(added.integral.map(|state| (format!("{name}.integral"), state)));
            self.controllers.push((name.to_string(), added));
        }
        Ok(())
    }

    fn capsule(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::CAPSULE])?;
        let member = self.at.member(own, "on")?;
        let is_ground = own.text("on")?.as_deref() == Some("ground");
        let ground = &self.at.frame.ground;
        let placed = if is_ground { ground.clone() } else { ground.mirror_alone() };
        let from = placed.point(self.own.list_or_zero(own, "from", "m")?);
        let to = placed.point(self.own.list_or_zero(own, "to", "m")?);
        if own.number("radius").ok().flatten().is_some_and(|radius| radius < 0.0) {
            return Err(own.wrong("radius", "it is negative", "give a radius, m"));
        }
        let radius = self.own.value(own, "radius", "m")?;
        let capsule = Capsule::new(&member, from, to, radius);
        self.own.mechanism.looks(&capsule);
        self.capsules.push((self.at.full(name), capsule));
        Ok(())
    }

    fn shape(&mut self, _name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        const LONG: &[&str] = &["radius", "length"];
        const FORMS: [(&str, &[&str]); 4] =
            [("box", &["edges"]), ("cylinder", LONG), ("capsule", LONG), ("ball", &["radius"])];
        let [place] = self.places(own, &keys::SHAPE, Axis::Frame)?;
        let missing =
            || own.wrong("form", "it is missing", "say what it is: \"box\", \"cylinder\", \"capsule\" or \"ball\"");
        let form = own.text("form")?.ok_or_else(missing)?;
        let Some((_, wanted)) = FORMS.iter().find(|(name, _)| *name == form) else {
            return Err(own.at("form", Error::unknown("form", &form, own.place(), FORMS.map(|(name, _)| name))));
        };
        for key in ["edges", "radius", "length"].into_iter().filter(|key| own.table.contains_key(*key)) {
            if !wanted.contains(&key) {
                let remedy = format!("leave it out: a {form} has {}", wanted.join(" and "));
                return Err(own.wrong(key, format!("a {form} has none"), &remedy));
            }
        }
        for key in wanted.iter().copied() {
            let number = |own: &toml::Value| own.as_float().or(own.as_integer().map(|own| own as f64));
            let all = own
                .table
                .get(key)
                .map_or(&[][..], |own| own.as_array().map_or(std::slice::from_ref(own), Vec::as_slice));
            if let Some(size) = all.iter().filter_map(number).find(|size| !(*size > 0.0 && size.is_finite())) {
                return Err(own.wrong(key, format!("{size:?} m is no size"), "give a positive one"));
            }
        }
        let looks = match form.as_str() {
            "box" => Looks::cuboid(&place, self.own.list::<3>(own, "edges", "m")?),
            "ball" => Looks::ball(&place, self.own.value(own, "radius", "m")?),
            _ => {
                let of = if form == "capsule" { Looks::capsule } else { Looks::cylinder };
                of(&place, self.own.value(own, "radius", "m")?, self.own.value(own, "length", "m")?)
            }
        };
        self.own.mechanism.looks(looks);
        Ok(())
    }

    fn dc_motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::DC_MOTOR])?;
        let (joint, freedom, [_, effort]) = self.freedom(own)?;
        let circuit = self.own.circuit(own, &format!("({effort})/A"))?;
        let voltage = self.own.voltage(own)?;
        let current = self.own.mechanism.dc_motor(name, &joint, freedom, voltage, circuit);
        self.states.extend(current.map(|current| (name.to_string(), current)));
        Ok(())
    }

    fn bushing(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [first, second] = self.places(own, &keys::BUSHING, Axis::Frame)?;
        let mut both = [[[Value::from(0.0); 6]; 6]; 2];
        for (matrix, [ways, turns, way, turn]) in both
            .iter_mut()
            .zip([["stiffness", "turn_stiffness", "N/m", "N m/rad"], ["damping", "turn_damping", "N s/m", "N m s/rad"]])
        {
            let is_matrix = own.table.get(ways).and_then(toml::Value::as_array).is_some_and(|list| list.len() == 6);
            if is_matrix {
                if own.table.contains_key(turns) {
                    return Err(own.wrong(turns, format!("`{ways}` is a matrix of both"), "leave it out"));
                }
                *matrix = self.matrix(own, ways, way)?;
                continue;
            }
            let along: [Value; 3] = self.own.list_or_zero(own, ways, way)?;
            let about: [Value; 3] = self.own.list_or_zero(own, turns, turn)?;
            for (k, value) in along.into_iter().chain(about).enumerate() {
                matrix[k][k] = value;
            }
        }
        if self.at.frame.ground.is_mirrored() {
            // displacements change their signs as vectors do, turns as axes do
            let mirror = self.at.frame.ground.mirror;
            let sign = |k: usize| if k < 3 { mirror[k] } else { -mirror[k - 3] };
            for matrix in &mut both {
                for (i, row) in matrix.iter_mut().enumerate() {
                    for (j, entry) in row.iter_mut().enumerate() {
                        *entry = if sign(i) * sign(j) < 0.0 { -*entry } else { *entry };
                    }
                }
            }
        }
        let [stiffness, damping] = both;
        self.own.mechanism.bushing(name, first, second, stiffness, damping);
        Ok(())
    }

    fn force(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [place] = self.places(own, &keys::FORCE, Axis::Way)?;
        let direction: [Value; 3] = self.own.list(own, "direction", "")?;
        let axes = axes(own)?;
        let direction = self.placed(axes).vector(direction);
        match self.own.strength(own, "is", "N")? {
            Strength::Given(amount) => self.own.mechanism.force(name, place, direction, axes, amount),
            Strength::OfTime(function, u) => self.own.mechanism.force_by(name, place, direction, axes, function, u),
        }
        Ok(())
    }

    fn torque(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        own.only(&[&keys::TORQUE])?;
        let on = self.at.member(own, "on")?;
        let direction: [Value; 3] = self.own.list(own, "direction", "")?;
        let axes = axes(own)?;
        let direction = self.placed(axes).turning(direction);
        match self.own.strength(own, "is", "N m")? {
            Strength::Given(amount) => self.own.mechanism.torque(name, &on, direction, axes, amount),
            Strength::OfTime(function, u) => self.own.mechanism.torque_by(name, &on, direction, axes, function, u),
        }
        Ok(())
    }

    /// The matrix of a bushing, in N, m and rad; `unit`: of displacements by forces.
    fn matrix(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<[[Value; 6]; 6]> {
        let wrong = || own.wrong(key, "it is no matrix of six rows of six", "write it as [[1e5, 0, 0, 0, 0, 0], ..]");
        let mut matrix = [[Value::from(0.0); 6]; 6];
        let rows = own.table.get(key).and_then(toml::Value::as_array).ok_or_else(wrong)?;
        for (i, (row, values)) in rows.iter().zip(&mut matrix).enumerate() {
            let row = row.as_array().filter(|row| row.len() == 6).ok_or_else(wrong)?;
            for (j, (element, value)) in row.iter().zip(values).enumerate() {
                // forces by turns, and torques by displacements, are N/rad and N
                let times = ["", "m/rad", "m", "m^2/rad"][usize::from(j >= 3) + 2 * usize::from(i >= 3)];
                *value = self.own.element(own, key, element, format!("{unit} {times}").trim())?;
            }
        }
        Ok(matrix)
    }

    /// What becomes of directions in some axes.
    fn placed(&self, axes: Axes) -> Transform {
        match axes {
            Axes::World => self.at.frame.world.clone(),
            Axes::Body => self.at.frame.ground.mirror_alone(),
        }
    }

    fn drag(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [place] = self.places(own, &keys::DRAG, Axis::Way)?;
        let (linear, quadratic) =
            (self.own.value_or(own, "linear", "N s/m", 0.0)?, self.own.value_or(own, "quadratic", "N s^2/m^2", 0.0)?);
        self.own.mechanism.drag(name, place, linear, quadratic);
        Ok(())
    }

    fn contact(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        let [plane, center] = self.places(own, &keys::CONTACT, Axis::Way)?;
        let (radius, stiffness) = (self.own.value(own, "radius", "m")?, self.own.value(own, "stiffness", "N/m^1.5")?);
        let damping = self.own.value_or(own, "damping", "s/m", 0.0)?;
        self.own.mechanism.contact(name, plane, center, radius, stiffness, damping);
        Ok(())
    }

    fn drive(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let name = &self.at.full(name);
        if own.table.contains_key("orientation") {
            takes_only(own, &keys::DRIVE, &["orientation", "is", "motion"], "an orientation")?;
            self.at.frame.refuse_unless_world(own, "a turn is one against the world")?;
            let member = self.at.member(own, "orientation")?;
            let (path, u) = self.own.path(own, "rad")?;
            self.own.mechanism.drive_orientation(name, &member, path, u);
            let _: [Place; 0] = self.places(own, &keys::DRIVE, Axis::Way)?;
            return Ok(());
        }
        if !own.table.contains_key("of") {
            takes_only(own, &keys::DRIVE, &["is", "motion"], "a point")?;
            self.at.frame.refuse_unless_world(own, "a path is one in the world")?;
            let [place] = self.places(own, &keys::DRIVE, Axis::Way)?;
            let (path, u) = self.own.path(own, "m")?;
            self.own.mechanism.drive_point(name, place, path, u);
            return Ok(());
        }
        own.only(&[&keys::DRIVE])?;
        let (joint, freedom, [way, _]) = self.freedom(own)?;
        let (function, u) = self.own.of_time(own, way)?;
        let rows = self.own.mechanism.drive_joint(name, &joint, freedom, function, u);
        self.drives.push((name.to_string(), (rows, freedom)));
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
            "gyroscope",
            "angular_velocity",
            "joint",
            "strut",
            "state",
            "reaction",
            "drive",
            "controller",
            "clearance",
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
            "strut" | "state" | "drive" | "controller" => &["shows", "of"],
            "reaction" => &["shows", "of", "on", "axes"],
            "clearance" => &["shows", "between"],
            other if known.contains(&other) => &["shows"],
            other => return Err(own.at("shows", Error::unknown("sensor", other, own.place(), known))),
        };
        takes_only(own, &keys::SENSOR, takes, &format!("a sensor that shows {shows}"))?;
        match shows.as_str() {
            "position" | "velocity" | "acceleration" | "accelerometer" | "gyroscope" => {
                let [place] = self.places(own, &keys::SENSOR, Axis::Frame)?;
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
                let on = self.at.member(own, "on")?;
                self.own.mechanism.angular_velocity(name, &on, axes(own)?);
            }
            "joint" => {
                let (joint, freedom, _) = self.freedom(own)?;
                self.own.mechanism.joint_sensor(name, &joint, freedom);
            }
            "strut" => match named(own, "of", "spring or strut", (&self.struts, &self.at.frame.prefix))? {
                AnyStrut::Linear(strut) => self.own.mechanism.strut_sensor(name, strut),
                AnyStrut::ByLaw(strut) => self.own.mechanism.strut_sensor(name, strut),
            },
            "state" => {
                let state = *named(own, "of", "state", (&self.states, &self.at.frame.prefix))?;
                self.own.mechanism.state_sensor(name, state);
            }
            "reaction" => {
                let on = self.at.member(own, "on")?;
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
                let joint = named(own, "of", "joint", (&self.joints, &self.at.frame.prefix))?;
                self.own.mechanism.reaction(name, joint, &on, axes);
            }
            "drive" => {
                let (rows, freedom) = named(own, "of", "drive of a joint", (&self.drives, &self.at.frame.prefix))?;
                self.own.mechanism.drive_sensor(name, rows, *freedom);
            }
            "controller" => {
                let of = named(own, "of", "controller", (&self.controllers, &self.at.frame.prefix))?;
                self.own.mechanism.controller_sensor(name, of);
            }
            "clearance" => {
                let two = own.texts("between")?.unwrap_or_default();
                let [first, second] = two.as_slice() else {
                    return Err(own.wrong(
                        "between",
                        "it is no list of two capsules",
                        "write it as [\"arm\", \"tool\"]",
                    ));
                };
                let all = (self.capsules.as_slice(), self.at.frame.prefix.as_str());
                let [first, second] = [first, second].map(|one| called(own, ("between", one), "capsule", all));
                self.own.mechanism.clearance(name, [first?, second?]);
            }
            "energy" => self.own.mechanism.energy(name),
            "dissipation" => self.own.mechanism.dissipation(name),
            _ => self.own.mechanism.momentum(name),
        }
        // whatever else is there is no place of these sensors
        let _: [Place; 0] = self.places(own, &keys::SENSOR, Axis::Frame)?;
        Ok(())
    }
}

/// Three numbers.
fn numbers(own: &Section<'_>, key: &str) -> Result<[f64; 3]> {
    let list = own.numbers(key)?.unwrap_or_default();
    list.try_into().map_err(|_| own.wrong(key, "it is no list of three numbers", "write it as [0.1, 0.0, 0.0]"))
}

/// Euler parameters of a matrix, by its rows.
pub(crate) fn quaternion(rows: &[[f64; 3]; 3]) -> [f64; 4] {
    let [[a, b, c], [d, e, f], [g, h, i]] = *rows;
    let squares = [1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i];
    let products = [
        [squares[0], h - f, c - g, d - b],
        [h - f, squares[1], b + d, c + g],
        [c - g, b + d, squares[2], f + h],
        [d - b, c + g, f + h, squares[3]],
    ];
    // that of the largest, which is not zero
    let largest = (1..4).fold(0, |most, k| if squares[k] > squares[most] { k } else { most });
    products[largest].map(|product| 0.5 * product / squares[largest].sqrt())
}

/// A turn by numbers after one by values.
fn after([a, x, y, z]: [f64; 4], [b, p, q, r]: [Value; 4]) -> [Value; 4] {
    let sum = |parts: [Value; 4]| {
        let mut kept = parts.into_iter().filter(|part| !part.is_zero());
        let first = kept.next().unwrap_or_else(|| 0.0.into());
        kept.fold(first, |sum, part| sum + part)
    };
    [
        sum([b * a, p * -x, q * -y, r * -z]),
        sum([p * a, b * x, r * y, q * -z]),
        sum([q * a, r * -x, b * y, p * z]),
        sum([r * a, q * x, p * -y, b * z]),
    ]
}

/// Nodes of what [`costate_parts::spatial::moments_of_factors`] gives for these.
fn moments(graph: &mut Graph, factors: &[NodePlace]) -> std::result::Result<[NodePlace; 10], TooLarge> {
    let &[alpha, d_1, d_2, d_3, s_12, s_13, s_23, t_1, t_2, t_3] = factors else { return Err(TooLarge) };
    let twice = graph.pair(Pair::Add, alpha, alpha)?;
    let mass = graph.function(Function::Exp, twice)?;
    let mut exp = |d| graph.function(Function::Exp, d);
    let (a, b, c) = (exp(d_1)?, exp(d_2)?, exp(d_3)?);
    // m Σ x y
    let mut second = |products: &[[NodePlace; 2]]| {
        let mut sum = graph.constant(0.0)?;
        for &[x, y] in products {
            let product = graph.product(x, y)?;
            sum = graph.sum(sum, product)?;
        }
        graph.product(mass, sum)
    };
    let xx = second(&[[a, a], [s_12, s_12], [s_13, s_13], [t_1, t_1]])?;
    let yy = second(&[[b, b], [s_23, s_23], [t_2, t_2]])?;
    let zz = second(&[[c, c], [t_3, t_3]])?;
    let xy = second(&[[s_12, b], [s_13, s_23], [t_1, t_2]])?;
    let (xz, yz) = (second(&[[s_13, c], [t_1, t_3]])?, second(&[[s_23, c], [t_2, t_3]])?);
    let mut first = |t| graph.product(mass, t);
    let first = [first(t_1)?, first(t_2)?, first(t_3)?];
    let tensor = [graph.sum(yy, zz)?, graph.sum(xx, zz)?, graph.sum(xx, yy)?];
    let mut negative = |entry| graph.function(Function::Negative, entry);
    let products = [negative(xy)?, negative(xz)?, negative(yz)?];
    let ([x, y, z], [i_1, i_2, i_3], [i_12, i_13, i_23]) = (first, tensor, products);
    Ok([mass, x, y, z, i_1, i_2, i_3, i_12, i_13, i_23])
}
