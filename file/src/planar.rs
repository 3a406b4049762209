//! Mechanisms of the plane from parts.

use crate::dimension::{Dimension, Units};
use crate::formula::Meaning;
use crate::formula::graph::{Bank, Node, Place as NodePlace};
use crate::formula::parse::Fault;
use crate::formula::program::{Program, banks};
use crate::keys;
use crate::reader::{Formula, OF_AMOUNT, OF_LAW, OF_START, Reading, formula_of};
use costate::Number;
use costate::random::SplitMix64;
use costate::value::Value;
use costate_identify::problem_file::{Keys, Section};
use costate_identify::{Error, Result};
use costate_parts::assembly::{Input, RedundantRows, StateVariable};
use costate_parts::law::{Amount, Axes, FunctionOfTime, Law, Linear};
use costate_parts::planar::{
    Body, Gears, Joint, Mechanism, Member, Mounting, OnLine, Place, Prismatic, Revolute, Rod, Strut, Weld,
};
use std::sync::Arc;

/// The law of a spring that is a formula of elongation and rate.
#[derive(Clone)]
struct FormulaLaw {
    tension: Arc<Program>,
    energy: Option<Arc<Program>>,
}

impl Law for FormulaLaw {
    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        let mut tension = [D::from(0.0)];
        self.tension.run(
            &banks(&[(Bank::Position, &[elongation]), (Bank::Velocity, &[rate]), (Bank::Parameter, u)]),
            &mut tension,
        );
        tension[0]
    }

    fn energy<D: Number>(&self, elongation: D, u: &[D]) -> Option<D> {
        let mut energy = [D::from(0.0)];
        self.energy.as_ref()?.run(&banks(&[(Bank::Position, &[elongation]), (Bank::Parameter, u)]), &mut energy);
        Some(energy[0])
    }
}

/// A formula in the time.
struct FormulaOfTime(Program);

impl FunctionOfTime for FormulaOfTime {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        let mut value = [D::from(0.0)];
        self.0.run(&banks(&[(Bank::Time, &[t]), (Bank::Parameter, u)]), &mut value);
        value[0]
    }
}

/// The strength of a force.
enum Strength {
    Given(Amount),
    OfTime(FormulaOfTime, Vec<Value>),
}

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

/// The mechanism that is being put together.
struct Parts<'r, 'a> {
    reading: &'r mut Reading<'a>,
    mechanism: Mechanism,
    parameters: Vec<Value>,
    inputs: Vec<Input>,
    members: Vec<(String, Member)>,
    joints: Vec<(String, AnyJoint)>,
    struts: Vec<(String, AnyStrut)>,
    /// First-order states of parts.
    states: Vec<(String, StateVariable)>,
}

/// Reads a mechanism of the plane, whose names are known already.
pub(crate) fn read(reading: &mut Reading<'_>, root: &Section<'_>) -> Result<Mechanism> {
    let mut mechanism = Mechanism::new(&reading.signature.name);
    let parameters = reading.signature.parameters.iter().map(|own| mechanism.parameter(own.clone())).collect();
    let inputs = reading.signature.inputs.iter().map(|own| mechanism.input(&own.name, &own.unit)).collect();
    let members = vec![("ground".to_string(), mechanism.ground())];
    let (joints, struts, states) = (Vec::new(), Vec::new(), Vec::new());
    let mut parts = Parts { reading, mechanism, parameters, inputs, members, joints, struts, states };
    if root.table.contains_key("gravity") {
        let gravity = parts.pair(root, "gravity", "m/s^2")?;
        parts.mechanism.gravity(gravity);
    }
    match root.text("redundant_rows")?.as_deref() {
        None | Some("refuse") => {}
        Some("leave-out") => parts.mechanism.redundant_rows(RedundantRows::LeaveOut),
        Some("keep") => parts.mechanism.redundant_rows(RedundantRows::Keep),
        Some(other) => {
            let error = Error::unknown("policy", other, "", ["refuse", "leave-out", "keep"]);
            return Err(root.at("redundant_rows", error));
        }
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
        ("motor", Parts::motor),
        ("force", Parts::force),
        ("torque", Parts::torque),
        ("drag", Parts::drag),
        ("contact", Parts::contact),
        ("drive", Parts::drive),
        ("sensor", Parts::sensor),
    ];
    for (kind, read) in kinds {
        let Some((section, names)) = parts.reading.rows(root, kind)? else { continue };
        for name in names {
            if let Some(own) = section.section(&name)? {
                read(&mut parts, &name, &own, kind)?;
            }
        }
    }
    Ok(parts.mechanism)
}

impl Parts<'_, '_> {
    /// The unit that a property is in.
    fn unit(text: &str) -> Units {
        // those that stand in this file are known
        Dimension::of(text).map_or(Units::Any, Units::Is)
    }

    /// A property: a number, or a sum of multiples of parameters.
    fn value(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<Value> {
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        self.linear(&formula, unit)
    }

    fn value_or(&mut self, own: &Section<'_>, key: &str, unit: &str, default: f64) -> Result<Value> {
        if own.table.contains_key(key) { self.value(own, key, unit) } else { Ok(default.into()) }
    }

    fn linear(&mut self, formula: &Formula, unit: &str) -> Result<Value> {
        let place = self.reading.in_unit(formula, OF_START, Self::unit(unit))?;
        self.sum_of(formula, place)
    }

    /// The sum of multiples of parameters that a node is.
    fn sum_of(&mut self, formula: &Formula, place: NodePlace) -> Result<Value> {
        let graph = &mut self.reading.formulas.graph;
        let (program, used) = Program::of_own_parameters(graph, &[(place, 0)]);
        let mut constant = [0.0f64];
        program.run(&banks(&[(Bank::Parameter, &vec![0.0; used.len()])]), &mut constant);
        let mut sum: Option<Value> = None;
        for k in used {
            let slope = graph.derivative(place, Bank::Parameter, k);
            let factor = slope.ok().and_then(|slope| graph.constant_of(slope)).filter(|factor| factor.is_finite());
            let Some(factor) = factor else {
                let problem = "this is no sum of multiples of parameters";
                let remedy = "properties of parts are numbers, parameters and such sums: make it a parameter of its own, or write the \
                              model by formulas";
                return Err(formula.error(Fault::new(&formula.expression.span, problem, remedy)));
            };
            let term = self.parameters[k] * factor;
            sum = Some(sum.map_or(term, |sum| sum + term));
        }
        if !constant[0].is_finite() {
            let problem = format!("this is {}", constant[0]);
            return Err(formula.error(Fault::new(&formula.expression.span, problem, "give a finite number")));
        }
        Ok(match sum {
            Some(sum) if constant[0] == 0.0 => sum,
            Some(sum) => sum + constant[0],
            None => constant[0].into(),
        })
    }

    /// Two properties in a list.
    fn pair(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<[Value; 2]> {
        let wrong = || own.wrong(key, "it is no list of two numbers or formulas", "write it as [0.1, 0.0]");
        let list =
            own.table.get(key).and_then(toml::Value::as_array).filter(|list| list.len() == 2).ok_or_else(wrong)?;
        let mut both = [Value::from(0.0); 2];
        for (value, element) in both.iter_mut().zip(list) {
            let formula = formula_of(element, own, key, what(own, key))?;
            *value = self.linear(&formula, unit)?;
        }
        Ok(both)
    }

    fn pair_or_zero(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<[Value; 2]> {
        if own.table.contains_key(key) { self.pair(own, key, unit) } else { Ok([Value::from(0.0); 2]) }
    }

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
        for key in self.reading.lines.in_order(own) {
            if known.names().any(|name| name == key) {
                continue;
            }
            let Some((_, member)) = self.members.iter().find(|(name, _)| *name == key) else {
                let names = known.names().map(String::from).chain(self.members.iter().map(|(name, _)| name.clone()));
                return Err(own.at(&key, Error::unknown("key or member", &key, own.place(), names)));
            };
            let member = member.clone();
            let location = self.pair(own, &key, "m")?;
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
            self.mechanism.free(&member);
        }
        self.members.push((name.to_string(), member));
        Ok(())
    }

    fn body(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::BODY])?;
        let body = Body::new(self.value(own, "mass", "kg")?, self.value(own, "inertia", "kg m^2")?);
        let body = body.center(self.pair_or_zero(own, "center", "m")?);
        let body = body.at(self.pair_or_zero(own, "at", "m")?, self.value_or(own, "angle", "rad", 0.0)?);
        let body = body.moving(self.pair_or_zero(own, "moving", "m/s")?, self.value_or(own, "rate", "rad/s", 0.0)?);
        let member = self.mechanism.body(name, body);
        self.add(own, name, member)
    }

    fn point(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::POINT])?;
        let mass = self.value(own, "mass", "kg")?;
        let (at, moving) = (self.pair_or_zero(own, "at", "m")?, self.pair_or_zero(own, "moving", "m/s")?);
        let member = self.mechanism.point_moving(name, mass, at, moving);
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
        if let Some(other) = keys::JOINT.names().find(|key| own.table.contains_key(*key) && !takes.contains(key)) {
            return Err(own.wrong(other, format!("a {kind} joint has none"), "leave it out"));
        }
        let [direction, angle] =
            [self.value_or(own, "direction", "rad", 0.0)?, self.value_or(own, "angle", "rad", 0.0)?];
        let joint = match kind {
            "weld" => AnyJoint::Weld(self.mechanism.weld(name, first, second, angle)),
            "prismatic" => AnyJoint::Prismatic(self.mechanism.prismatic(name, first, second, direction, angle)),
            "on_line" => AnyJoint::OnLine(self.mechanism.on_line(name, first, second, direction)),
            "rod" => {
                let length = self.value(own, "length", "m")?;
                AnyJoint::Rod(self.mechanism.rod(name, first, second, length))
            }
            _ => AnyJoint::Revolute(self.mechanism.revolute(name, first, second)),
        };
        self.joints.push((name.to_string(), joint));
        Ok(())
    }

    fn gears(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::GEARS])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        let ratio = self.value(own, "ratio", "")?;
        self.joints.push((name.to_string(), AnyJoint::Gears(self.mechanism.gears(name, &from, &on, ratio))));
        Ok(())
    }

    fn spring(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [first, second] = self.places(own, &keys::SPRING)?;
        let free_length = self.value_or(own, "free_length", "m", 0.0)?;
        let (stiffness, damping) =
            (self.value_or(own, "stiffness", "N/m", 0.0)?, self.value_or(own, "damping", "N s/m", 0.0)?);
        let spring = self.mechanism.spring(name, first, second, free_length, stiffness, damping);
        self.struts.push((name.to_string(), AnyStrut::Linear(spring)));
        Ok(())
    }

    fn strut(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [first, second] = self.places(own, &keys::STRUT)?;
        let free_length = self.value_or(own, "free_length", "m", 0.0)?;
        let (law, parameters) = self.law(own, "tension", ["m", "N"])?;
        let strut = self.mechanism.strut(name, first, second, free_length, law, parameters);
        self.struts.push((name.to_string(), AnyStrut::ByLaw(strut)));
        Ok(())
    }

    fn torsion(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::TORSION])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        let is_linear = ["stiffness", "damping"].into_iter().find(|key| own.table.contains_key(*key));
        if !own.table.contains_key("torque") {
            let [stiffness, damping] =
                [self.value_or(own, "stiffness", "N m/rad", 0.0)?, self.value_or(own, "damping", "N m s/rad", 0.0)?];
            self.mechanism.torsion(name, &from, &on, stiffness, damping);
            return Ok(());
        }
        if let Some(key) = is_linear {
            return Err(own.wrong(key, "there is a law, too", "write it into `torque`"));
        }
        let free_angle = self.value_or(own, "free_angle", "rad", 0.0)?;
        let (law, parameters) = self.law(own, "torque", ["rad", "N m"])?;
        self.mechanism.torsion_by(name, &from, &on, free_angle, law, parameters);
        Ok(())
    }

    fn support(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::SUPPORT)?;
        let direction = self.value(own, "direction", "rad")?;
        let free_distance = self.value_or(own, "free_distance", "m", 0.0)?;
        let mut motion = Vec::new();
        for (name, unit) in own.texts("motion")?.unwrap_or_default().iter().zip(["m", "m/s"]) {
            let inputs = &self.reading.signature.inputs;
            let k = self.reading.signature.input_index(name);
            let k = k.map_err(|error| own.at("motion", Error::from(error).within(own.place())))?;
            let is_fit = Dimension::of(&inputs[k].unit).ok().zip(Dimension::of(unit).ok());
            if is_fit.is_none_or(|(own, wanted)| !own.is_same(&wanted)) {
                let problem = format!("`{name}` is in [{}], where [{unit}] is wanted", inputs[k].unit);
                return Err(own.wrong("motion", problem, "give a displacement in m, or that and its rate in m/s"));
            }
            motion.push(self.inputs[k]);
        }
        if own.table.contains_key("tension") {
            let (law, parameters) = self.law(own, "tension", ["m", "N"])?;
            self.mechanism.support(name, place, direction, motion, free_distance, law, parameters);
            return Ok(());
        }
        let linear = [self.value_or(own, "stiffness", "N/m", 0.0)?, self.value_or(own, "damping", "N s/m", 0.0)?];
        self.mechanism.support(name, place, direction, motion, free_distance, Linear, linear);
        Ok(())
    }

    fn motor(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::MOTOR])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        let constant = self.value(own, "torque_constant", "N m/A")?;
        let circuit = [constant, self.value(own, "resistance", "Ohm")?, self.value(own, "inductance", "H")?];
        let Strength::Given(voltage) = self.strength(own, "voltage", "V")? else {
            return Err(own.wrong("voltage", "it is a function of the time", "drive it by an input"));
        };
        let current = self.mechanism.dc_motor(name, &from, &on, voltage, circuit);
        self.states.push((name.to_string(), current));
        Ok(())
    }

    /// A law of `x` and `x'`, with the parameters that it takes. `units`: those of the elongation and of the tension.
    fn law(
        &mut self,
        own: &Section<'_>,
        key: &str,
        [elongation, tension]: [&str; 2],
    ) -> Result<(FormulaLaw, Vec<Value>)> {
        let large = self.reading.large();
        let [x, rate] = [Self::unit(elongation), Self::unit(&format!("{elongation}/s"))];
        let mut hidden = Vec::new();
        for (name, bank, units) in [("x", Bank::Position, x), ("x'", Bank::Velocity, rate)] {
            let place = self.reading.formulas.graph.variable(bank, 0).map_err(&large)?;
            let meaning = Meaning { kind: "the elongation", place, units };
            hidden.push((name, self.reading.formulas.names.insert(name.to_string(), meaning)));
        }
        let read = self.law_with(own, key, tension);
        for (name, meaning) in hidden {
            match meaning {
                Some(meaning) => self.reading.formulas.names.insert(name.to_string(), meaning),
                None => self.reading.formulas.names.remove(name),
            };
        }
        read
    }

    fn law_with(&mut self, own: &Section<'_>, key: &str, tension: &str) -> Result<(FormulaLaw, Vec<Value>)> {
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        let place = self.reading.in_unit(&formula, OF_LAW, Self::unit(tension))?;
        let mut roots = vec![(place, 0)];
        if own.table.contains_key("energy") {
            let formula = self.reading.formula(own, "energy", what(own, "energy"), false)?;
            roots.push((self.reading.in_unit(&formula, OF_LAW, Self::unit("J"))?, 1));
        }
        // both take the same parameters
        let graph = &self.reading.formulas.graph;
        let (_, used) = Program::of_own_parameters(graph, &roots);
        let parameters = used.iter().map(|k| self.parameters[*k]).collect();
        let program = |root: NodePlace| Arc::new(Program::of_these_parameters(graph, &[(root, 0)], &used));
        let law = FormulaLaw { tension: program(place), energy: roots.get(1).map(|(root, _)| program(*root)) };
        Ok((law, parameters))
    }

    /// The strength of a force.
    fn strength(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<Strength> {
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        let place = self.reading.in_unit(&formula, OF_AMOUNT, Self::unit(unit))?;
        let graph = &mut self.reading.formulas.graph;
        let fault = |formula: &Formula| {
            let problem = "this is no strength that a part can have";
            let remedy = "take a sum of multiples of parameters, one input times such a sum, or a function of the time and parameters";
            formula.error(Fault::new(&formula.expression.span, problem, remedy))
        };
        let banks_of = graph.banks(place);
        if banks_of & Bank::Input.bit() == 0 && banks_of & Bank::Time.bit() == 0 {
            return Ok(Strength::Given(self.sum_of(&formula, place)?.into()));
        }
        if banks_of & Bank::Input.bit() == 0 {
            let (program, used) = Program::of_own_parameters(graph, &[(place, 0)]);
            return Ok(Strength::OfTime(FormulaOfTime(program), used.iter().map(|k| self.parameters[*k]).collect()));
        }
        let input_of = |node: NodePlace| match graph.node(node) {
            Node::Variable(Bank::Input, k) => Some(k as usize),
            _ => None,
        };
        let inputs: Vec<usize> = graph.below(&[place]).into_iter().filter_map(input_of).collect();
        let ([input], false) = (inputs.as_slice(), banks_of & Bank::Time.bit() != 0) else {
            return Err(fault(&formula));
        };
        let slope = graph.derivative(place, Bank::Input, *input).map_err(|_| fault(&formula))?;
        let is_of_parameters = graph.banks(slope) & !Bank::Parameter.bit() == 0;
        // without the input there is nothing, whatever the parameters are
        let (program, used) = Program::of_own_parameters(graph, &[(place, 0)]);
        let mut random = SplitMix64::new(1);
        let u: Vec<f64> = used.iter().map(|_| 0.5 + random.unit()).collect();
        let mut without = [f64::NAN];
        program.run(&banks(&[(Bank::Input, &vec![0.0; input + 1]), (Bank::Parameter, &u)]), &mut without);
        if !is_of_parameters || without[0] != 0.0 {
            return Err(fault(&formula));
        }
        let factor = self.sum_of(&formula, slope)?;
        Ok(Strength::Given(self.inputs[*input].times(factor)))
    }

    fn force(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::FORCE)?;
        let direction = self.pair(own, "direction", "")?;
        let axes = axes(own)?;
        match self.strength(own, "is", "N")? {
            Strength::Given(amount) => self.mechanism.force(name, place, direction, axes, amount),
            Strength::OfTime(function, u) => self.mechanism.force_by(name, place, direction, axes, function, u),
        }
        Ok(())
    }

    fn torque(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        own.only(&[&keys::TORQUE])?;
        let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
        match self.strength(own, "is", "N m")? {
            Strength::Given(amount) => self.mechanism.torque(name, &from, &on, amount),
            Strength::OfTime(function, u) => self.mechanism.torque_by(name, &from, &on, function, u),
        }
        Ok(())
    }

    fn drag(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [place] = self.places(own, &keys::DRAG)?;
        let (linear, quadratic) =
            (self.value_or(own, "linear", "N s/m", 0.0)?, self.value_or(own, "quadratic", "N s^2/m^2", 0.0)?);
        self.mechanism.drag(name, place, linear, quadratic);
        Ok(())
    }

    fn contact(&mut self, name: &str, own: &Section<'_>, _kind: &str) -> Result<()> {
        let [line, center] = self.places(own, &keys::CONTACT)?;
        let direction = self.value_or(own, "direction", "rad", 0.0)?;
        let (radius, stiffness) = (self.value(own, "radius", "m")?, self.value(own, "stiffness", "N/m^1.5")?);
        let damping = self.value_or(own, "damping", "s/m", 0.0)?;
        self.mechanism.contact(name, line, direction, center, radius, stiffness, damping);
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
        let formula = self.reading.formula(own, "is", what(own, "is"), false)?;
        let unit = if asked == "angle" { "rad" } else { "m" };
        let root = self.reading.in_unit(&formula, OF_AMOUNT & !Bank::Input.bit(), Self::unit(unit))?;
        let (program, used) = Program::of_own_parameters(&self.reading.formulas.graph, &[(root, 0)]);
        let u: Vec<Value> = used.iter().map(|k| self.parameters[*k]).collect();
        self.mechanism.drive(name, coordinate, FormulaOfTime(program), u);
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
                    "position" => self.mechanism.position(name, place),
                    "velocity" => self.mechanism.velocity(name, place, axes),
                    "acceleration" => self.mechanism.acceleration(name, place, axes),
                    _ => {
                        let angle = self.value_or(own, "angle", "rad", 0.0)?;
                        let gain = self.value_or(own, "gain", "", 1.0)?;
                        let bias = self.pair_or_zero(own, "bias", "m/s^2")?;
                        self.mechanism.accelerometer(name, place, Mounting { angle, gain, bias });
                    }
                }
                return Ok(());
            }
            "angle" | "encoder" => {
                let [from, on] = [self.member(own, "from")?, self.member(own, "on")?];
                match shows.as_str() {
                    "angle" => self.mechanism.angle(name, &from, &on),
                    _ => self.mechanism.encoder(name, &from, &on),
                }
            }
            "strut" => {
                let of = named(own, "of", "spring or strut", &self.struts)?;
                match of {
                    AnyStrut::Linear(strut) => self.mechanism.strut_sensor(name, strut),
                    AnyStrut::ByLaw(strut) => self.mechanism.strut_sensor(name, strut),
                }
            }
            "reaction" => {
                let on = self.member(own, "on")?;
                match named(own, "of", "joint", &self.joints)? {
                    AnyJoint::Revolute(joint) => self.mechanism.reaction(name, joint, &on),
                    AnyJoint::Weld(joint) => self.mechanism.reaction(name, joint, &on),
                    AnyJoint::Prismatic(joint) => self.mechanism.reaction(name, joint, &on),
                    AnyJoint::OnLine(joint) => self.mechanism.reaction(name, joint, &on),
                    AnyJoint::Rod(joint) => self.mechanism.reaction(name, joint, &on),
                    AnyJoint::Gears(joint) => self.mechanism.reaction(name, joint, &on),
                }
            }
            "state" => {
                let state = *named(own, "of", "motor", &self.states)?;
                self.mechanism.state_sensor(name, state);
            }
            "energy" => self.mechanism.energy(name),
            "dissipation" => self.mechanism.dissipation(name),
            other => return Err(own.at("shows", Error::unknown("sensor", other, own.place(), known))),
        }
        // whatever else is there is no place of these sensors
        let _: [Place; 0] = self.places(own, &keys::SENSOR)?;
        Ok(())
    }
}

/// A property in messages: mass of `body.crank`.
fn what(own: &Section<'_>, key: &str) -> String {
    match own.keys.is_empty() {
        true => key.to_string(),
        false => format!("{key} of `{}`", own.keys.join(".")),
    }
}

fn axes(own: &Section<'_>) -> Result<Axes> {
    match own.text("axes")?.as_deref() {
        None | Some("world") => Ok(Axes::World),
        Some("body") => Ok(Axes::Body),
        Some(other) => Err(own.at("axes", Error::unknown("axes", other, own.place(), ["world", "body"]))),
    }
}

/// A part that a key names.
fn named<'p, T>(own: &Section<'_>, key: &str, kind: &'static str, parts: &'p [(String, T)]) -> Result<&'p T> {
    let name = own.text(key)?.unwrap_or_default();
    let found = parts.iter().find(|(part, _)| *part == name).map(|(_, part)| part);
    found.ok_or_else(|| own.at(key, Error::unknown(kind, &name, own.place(), parts.iter().map(|(name, _)| name))))
}
