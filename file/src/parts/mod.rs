//! Mechanisms from parts: what those of the plane and of space share.

mod include;
pub(crate) mod planar;
pub(crate) mod spatial;

use crate::dimension::{Dimension, Units};
use crate::formula::Meaning;
use crate::formula::graph::{Bank, Node, Place as NodePlace};
use crate::formula::parse::Fault;
use crate::formula::program::{Banks, Program, banks};
use crate::reader::{ByFormulas, Follows, Formula, OF_AMOUNT, OF_LAW, OF_START, OF_STORED, Reading, formula_of};
use costate::random::SplitMix64;
use costate::spline::Spline;
use costate::value::Value;
use costate::{Motion, Number, Parameter, Quantity};
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};
use costate_parts::assembly::{Input, RedundantRows};
use costate_parts::law::{Amount, Axes, FunctionOfTime, Law};
use costate_parts::spatial::{Command, Path};
use std::sync::Arc;

/// States of a law, at most.
const MOST_STATES: usize = 8;

/// The law of a spring that is a formula of elongation, rate and states of its own.
#[derive(Clone)]
struct FormulaLaw {
    tension: Arc<Program>,
    energy: Option<Arc<Program>>,
    /// Names and units.
    states: Vec<(String, String)>,
    rates: Option<Arc<Program>>,
}

impl Law for FormulaLaw {
    fn states(&self, _about: bool) -> Vec<(String, String)> {
        self.states.clone()
    }

    fn tension<D: Number>(&self, elongation: D, rate: D, u: &[D]) -> D {
        let rest = [D::from(0.0); MOST_STATES];
        self.tension_with(elongation, rate, &rest[..self.states.len()], u)
    }

    fn tension_with<D: Number>(&self, elongation: D, rate: D, states: &[D], u: &[D]) -> D {
        let mut tension = [D::from(0.0)];
        self.tension.run(&of_law(&[elongation], &[rate], states, u), &mut tension);
        tension[0]
    }

    fn state_rates<D: Number>(&self, elongation: D, rate: D, states: &[D], u: &[D], rates: &mut [D]) {
        if let Some(program) = &self.rates {
            program.run(&of_law(&[elongation], &[rate], states, u), rates);
        }
    }

    fn energy<D: Number>(&self, elongation: D, u: &[D]) -> Option<D> {
        let mut energy = [D::from(0.0)];
        self.energy.as_ref()?.run(&banks(&[(Bank::Position, &[elongation]), (Bank::Parameter, u)]), &mut energy);
        Some(energy[0])
    }
}

/// Banks of a law; parts have no multipliers, so that its states are there.
fn of_law<'a, D>(elongation: &'a [D], rate: &'a [D], states: &'a [D], u: &'a [D]) -> Banks<'a, D> {
    banks(&[(Bank::Position, elongation), (Bank::Velocity, rate), (Bank::Multiplier, states), (Bank::Parameter, u)])
}

/// A function of the time: one type for all, so that each part is compiled once.
enum OfTime {
    Formula(Program),
    Motion(Spline),
}

impl FunctionOfTime for OfTime {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        match self {
            OfTime::Formula(program) => {
                let mut value = [D::from(0.0)];
                program.run(&banks(&[(Bank::Time, &[t]), (Bank::Parameter, u)]), &mut value);
                value[0]
            }
            OfTime::Motion(spline) => FunctionOfTime::at(spline, t, u),
        }
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        match self {
            OfTime::Formula(_) => None,
            OfTime::Motion(spline) => FunctionOfTime::known_times(spline),
        }
    }
}

/// A path: three formulas, or three motions.
enum PathOfTime {
    Formulas(Program),
    Motions([Spline; 3]),
}

impl Path for PathOfTime {
    fn at<D: Number>(&self, t: D, u: &[D]) -> [D; 3] {
        match self {
            PathOfTime::Formulas(program) => {
                let mut values = [D::from(0.0); 3];
                program.run(&banks(&[(Bank::Time, &[t]), (Bank::Parameter, u)]), &mut values);
                values
            }
            PathOfTime::Motions(splines) => splines.at(t, u),
        }
    }

    fn known_times(&self) -> Option<(f64, f64)> {
        match self {
            PathOfTime::Formulas(_) => None,
            PathOfTime::Motions(splines) => splines.known_times(),
        }
    }
}

/// The strength of a force.
enum Strength {
    Given(Amount),
    OfTime(OfTime, Vec<Value>),
}

/// A mechanism that parameters can be added to.
trait Declares {
    fn declare(&mut self, parameter: Parameter) -> Value;
    fn declare_motion(&mut self, motion: &Motion) -> Vec<Value>;
    fn declare_input(&mut self, input: &Quantity) -> Input;
}

/// Properties of parts, as a file says them.
struct Properties<'r, M> {
    reading: &'r mut Reading,
    /// What names of parts begin with, in the file that is read.
    prefix: String,
    mechanism: M,
    parameters: Vec<Value>,
    inputs: Vec<Input>,
    /// Properties that are no sums of multiples of parameters, and the parameters of the mechanism that they are.
    derived: Vec<(String, NodePlace, Value)>,
}

/// The unit that a property is in.
fn unit_of(text: &str) -> Units {
    // those that stand in this file are known
    Dimension::of(text).map_or(Units::Any, Units::Is)
}

impl<'r, M: Declares> Properties<'r, M> {
    /// Declares all that the file names.
    fn begin(reading: &'r mut Reading, mut mechanism: M) -> Self {
        let signature = &reading.signature;
        let mut parameters = Vec::new();
        while let Some(parameter) = signature.parameters.get(parameters.len()) {
            match signature.motions.iter().find(|motion| motion.first == parameters.len()) {
                Some(motion) => parameters.extend(mechanism.declare_motion(motion)),
                None => parameters.push(mechanism.declare(parameter.clone())),
            }
        }
        let inputs = signature.inputs.iter().map(|input| mechanism.declare_input(input)).collect();
        Properties { reading, prefix: String::new(), mechanism, parameters, inputs, derived: Vec::new() }
    }

    /// A motion of the file, with its coefficients, in a unit.
    fn motion(&self, own: &Section<'_>, name: &str, unit: &str) -> Result<(Spline, Vec<Value>)> {
        if own.table.contains_key("is") {
            return Err(own.wrong("is", "there is a `motion`, too", "give one of them"));
        }
        let all = &self.reading.signature.motions;
        let Some(motion) = all.iter().find(|motion| motion.quantity.name == name) else {
            let known = all.iter().map(|motion| &motion.quantity.name);
            return Err(own.at("motion", Error::unknown("motion", name, own.place(), known)));
        };
        let is_fit = Dimension::of(&motion.quantity.unit).ok().zip(Dimension::of(unit).ok());
        if is_fit.is_none_or(|(own, wanted)| !own.is_same(&wanted)) {
            let problem = format!("`{name}` is in [{}], where [{unit}] is wanted", motion.quantity.unit);
            return Err(own.wrong("motion", problem, "give it the unit of what it moves"));
        }
        Ok((motion.spline.clone(), self.parameters[motion.places()].to_vec()))
    }
    /// The mechanism, and what is to follow from its parameters.
    fn end(self) -> (M, Option<ByFormulas>) {
        let roots: Vec<_> = self.derived.iter().enumerate().map(|(k, (_, place, _))| (*place, k)).collect();
        let formulas = Follows(Program::new(&self.reading.formulas.graph, &roots));
        let names: Vec<String> = self.derived.into_iter().map(|(name, ..)| name).collect();
        (self.mechanism, (!names.is_empty()).then_some(ByFormulas { names, formulas }))
    }

    /// A property: a number, or a formula of parameters.
    fn value(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<Value> {
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        self.linear(&formula, unit)
    }

    fn value_or(&mut self, own: &Section<'_>, key: &str, unit: &str, default: f64) -> Result<Value> {
        if own.table.contains_key(key) { self.value(own, key, unit) } else { Ok(default.into()) }
    }

    fn linear(&mut self, formula: &Formula, unit: &str) -> Result<Value> {
        let place = self.place(formula, unit)?;
        self.property(formula, place, unit)
    }

    /// The property that a node is: a sum of multiples of parameters, or a parameter of the mechanism that follows from others.
    fn property(&mut self, formula: &Formula, place: NodePlace, unit: &str) -> Result<Value> {
        if let Some(sum) = self.sum_of(formula, place)? {
            return Ok(sum);
        }
        if let Some((.., value)) = self.derived.iter().find(|(_, known, _)| *known == place) {
            return Ok(*value);
        }
        let mut nominal = [f64::NAN];
        let u = self.reading.signature.nominal();
        Program::new(&self.reading.formulas.graph, &[(place, 0)]).run(&banks(&[(Bank::Parameter, &u)]), &mut nominal);
        self.finite(formula, nominal[0], " at the nominal parameters")?;
        let name = formula.path(&self.prefix);
        let taken =
            self.derived.iter().filter(|(own, ..)| *own == name || own.starts_with(&format!("{name}#"))).count();
        let name = if taken == 0 { name } else { format!("{name}#{}", taken + 1) };
        // a quotient of units in short
        let shown = if unit.starts_with('(') {
            Dimension::of(unit).map_or(unit.into(), |own| own.to_string())
        } else {
            unit.into()
        };
        let value = self.mechanism.declare(Parameter::new(&name, shown, nominal[0]));
        self.derived.push((name, place, value));
        Ok(value)
    }

    fn finite(&self, formula: &Formula, value: f64, at: &str) -> Result<()> {
        if value.is_finite() {
            return Ok(());
        }
        let problem = format!("this is {value}{at}");
        Err(formula.error(Fault::new(&formula.expression.span, problem, "give a finite number")))
    }

    /// The sum of multiples of parameters that a node is, if it is one.
    fn sum_of(&mut self, formula: &Formula, place: NodePlace) -> Result<Option<Value>> {
        let graph = &mut self.reading.formulas.graph;
        let is_rational = graph.is_rational(place);
        let (program, used) = Program::of_own_parameters(graph, &[(place, 0)]);
        let mut constant = [0.0f64];
        program.run(&banks(&[(Bank::Parameter, &vec![0.0; used.len()])]), &mut constant);
        let mut sum: Option<Value> = None;
        for k in used {
            let slope = graph.derivative(place, Bank::Parameter, k);
            let factor = slope
                .ok()
                .and_then(|slope| graph.constant_of(slope))
                .filter(|factor| factor.is_finite() && is_rational);
            let Some(factor) = factor else { return Ok(None) };
            let term = self.parameters[k] * factor;
            sum = Some(sum.map_or(term, |sum| sum + term));
        }
        self.finite(formula, constant[0], "")?;
        Ok(Some(match sum {
            Some(sum) if constant[0] == 0.0 => sum,
            Some(sum) => sum + constant[0],
            None => constant[0].into(),
        }))
    }

    /// A property in a list.
    fn element(&mut self, own: &Section<'_>, key: &str, element: &toml::Value, unit: &str) -> Result<Value> {
        let formula = formula_of(element, own, key, what(own, key))?;
        self.linear(&formula, unit)
    }

    /// Properties in a list.
    fn list<const N: usize>(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<[Value; N]> {
        self.list_in(own, key, [unit; N])
    }

    /// Properties in a list, each in its unit.
    fn list_in<const N: usize>(&mut self, own: &Section<'_>, key: &str, units: [&str; N]) -> Result<[Value; N]> {
        let list = own.table.get(key).and_then(toml::Value::as_array).filter(|list| list.len() == N);
        let Some(list) = list else { return Err(self.no_list::<N>(own, key)) };
        let mut all = [Value::from(0.0); N];
        for ((value, element), unit) in all.iter_mut().zip(list).zip(units) {
            *value = self.element(own, key, element, unit)?;
        }
        Ok(all)
    }

    /// Formulas in a list.
    fn formulas<const N: usize>(&mut self, own: &Section<'_>, key: &str) -> Result<[Formula; N]> {
        let list = own.table.get(key).and_then(toml::Value::as_array).map(|list| &list[..]).unwrap_or_default();
        let all = list.iter().map(|element| formula_of(element, own, key, what(own, key)));
        let all = all.collect::<Result<Vec<Formula>>>()?;
        all.try_into().map_err(|_| self.no_list::<N>(own, key))
    }

    /// The node of a property, in its unit.
    fn place(&mut self, formula: &Formula, unit: &str) -> Result<NodePlace> {
        self.reading.in_unit(formula, OF_START, unit_of(unit))
    }

    fn no_list<const N: usize>(&self, own: &Section<'_>, key: &str) -> Error {
        let problem = format!("it is no list of {N} numbers or formulas");
        own.wrong(key, problem, &format!("write it as [{}]", ["0.1"; N].join(", ")))
    }

    fn list_or_zero<const N: usize>(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<[Value; N]> {
        if own.table.contains_key(key) { self.list(own, key, unit) } else { Ok([Value::from(0.0); N]) }
    }

    /// A law of `x` and `x'`, with the parameters that it takes. `units`: those of the elongation and of the tension.
    fn law(
        &mut self,
        own: &Section<'_>,
        key: &str,
        [elongation, tension]: [&str; 2],
    ) -> Result<(FormulaLaw, Vec<Value>)> {
        let large = self.reading.large();
        let [x, rate] = [unit_of(elongation), unit_of(&format!("{elongation}/s"))];
        let mut known = vec![("x".to_string(), Bank::Position, 0, x), ("x'".to_string(), Bank::Velocity, 0, rate)];
        let mut states = Vec::new();
        if let Some((section, names)) = self.reading.rows(own, "states")? {
            for name in names {
                let unit = section.text(&name)?.unwrap_or_default();
                let units = self.reading.state_of_law(&section, &name, &unit)?;
                known.push((name.clone(), Bank::Multiplier, states.len(), units));
                states.push((name, unit));
            }
            if states.len() > MOST_STATES {
                let problem = format!("there are {} states, more than {MOST_STATES}", states.len());
                return Err(own.wrong("states", problem, "write the law in Rust"));
            }
        }
        let mut hidden = Vec::new();
        for (name, bank, place, units) in known {
            let place = self.reading.formulas.graph.variable(bank, place).map_err(&large)?;
            let kind = if bank == Bank::Multiplier { "a state" } else { "the elongation" };
            let meaning = Meaning { kind, place, units };
            hidden.push((name.clone(), self.reading.formulas.names.insert(name, meaning)));
        }
        let read = self.law_with(own, key, tension, states);
        for (name, meaning) in hidden.into_iter().rev() {
            match meaning {
                Some(meaning) => self.reading.formulas.names.insert(name, meaning),
                None => self.reading.formulas.names.remove(&name),
            };
        }
        read
    }

    fn law_with(
        &mut self,
        own: &Section<'_>,
        key: &str,
        tension: &str,
        states: Vec<(String, String)>,
    ) -> Result<(FormulaLaw, Vec<Value>)> {
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        let place = self.reading.in_unit(&formula, OF_LAW, unit_of(tension))?;
        let mut energy = None;
        if own.table.contains_key("energy") {
            let formula = self.reading.formula(own, "energy", what(own, "energy"), false)?;
            energy = Some(self.reading.in_unit(&formula, OF_STORED, unit_of("J"))?);
        }
        let mut rates = Vec::new();
        if let Some((section, names)) = self.reading.rows(own, "rates")? {
            for name in names {
                let Some(k) = states.iter().position(|(state, _)| *state == name) else {
                    let known = states.iter().map(|(state, _)| state);
                    return Err(section.at(&name, Error::unknown("state", &name, own.place(), known)));
                };
                let formula = self.reading.formula(&section, &name, what(&section, &name), false)?;
                let unit = unit_of(&format!("({})/s", states[k].1));
                rates.push((self.reading.in_unit(&formula, OF_LAW, unit)?, k));
            }
        }
        // all take the same parameters
        let graph = &self.reading.formulas.graph;
        let roots: Vec<_> =
            std::iter::once((place, 0)).chain(energy.map(|root| (root, 1))).chain(rates.iter().copied()).collect();
        let (_, used) = Program::of_own_parameters(graph, &roots);
        let parameters = used.iter().map(|k| self.parameters[*k]).collect();
        let program = |roots: &[(NodePlace, usize)]| Arc::new(Program::of_these_parameters(graph, roots, &used));
        let law = FormulaLaw {
            tension: program(&[(place, 0)]),
            energy: energy.map(|root| program(&[(root, 0)])),
            states,
            rates: (!rates.is_empty()).then(|| program(&rates)),
        };
        Ok((law, parameters))
    }

    /// Starts of a law's states, by their places.
    fn starts(&mut self, own: &Section<'_>) -> Result<Vec<(usize, Value)>> {
        let Some((section, names)) = self.reading.rows(own, "start")? else { return Ok(Vec::new()) };
        let states = match self.reading.rows(own, "states")? {
            Some((states, names)) => names
                .into_iter()
                .map(|name| Ok((states.text(&name)?.unwrap_or_default(), name)))
                .collect::<Result<Vec<_>>>()?,
            None => Vec::new(),
        };
        let mut starts = Vec::new();
        for name in names {
            let Some(k) = states.iter().position(|(_, state)| *state == name) else {
                let known = states.iter().map(|(_, state)| state);
                return Err(section.at(&name, Error::unknown("state", &name, own.place(), known)));
            };
            let unit = &states[k].0;
            starts.push((k, self.value(&section, &name, unit)?));
        }
        Ok(starts)
    }

    /// The strength of a force.
    fn strength(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<Strength> {
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        let place = self.reading.in_unit(&formula, OF_AMOUNT, unit_of(unit))?;
        let graph = &mut self.reading.formulas.graph;
        let fault = |formula: &Formula| {
            let problem = "this is no strength that a part can have";
            let remedy = "take a formula of parameters, one input times such a formula, or a function of the time and parameters";
            formula.error(Fault::new(&formula.expression.span, problem, remedy))
        };
        let banks_of = graph.banks(place);
        if banks_of & Bank::Input.bit() == 0 && banks_of & Bank::Time.bit() == 0 {
            return Ok(Strength::Given(self.property(&formula, place, unit)?.into()));
        }
        if banks_of & Bank::Input.bit() == 0 {
            let (program, used) = Program::of_own_parameters(graph, &[(place, 0)]);
            return Ok(Strength::OfTime(OfTime::Formula(program), used.iter().map(|k| self.parameters[*k]).collect()));
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
        if !is_of_parameters || !graph.is_rational(place) || without[0] != 0.0 {
            return Err(fault(&formula));
        }
        let of_input = &self.reading.signature.inputs[*input].unit;
        let factor = self.property(&formula, slope, &format!("({unit})/({of_input})"))?;
        Ok(Strength::Given(self.inputs[*input].times(factor)))
    }

    /// The voltage of a motor.
    fn voltage(&mut self, own: &Section<'_>) -> Result<Amount> {
        match self.strength(own, "voltage", "V")? {
            Strength::Given(amount) => Ok(amount),
            Strength::OfTime(..) => Err(own.wrong("voltage", "it is a function of the time", "drive it by an input")),
        }
    }

    /// Torque constant, resistance and inductance of a motor.
    fn circuit(&mut self, own: &Section<'_>, constant: &str) -> Result<[Value; 3]> {
        let constant = self.value(own, "torque_constant", constant)?;
        Ok([constant, self.value(own, "resistance", "Ohm")?, self.value(own, "inductance", "H")?])
    }

    /// A signal of a controller.
    fn command(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<Command<OfTime>> {
        Ok(match self.strength(own, key, unit)? {
            Strength::Given(amount) => Command::given(amount),
            Strength::OfTime(function, parameters) => Command::of_time(function, parameters),
        })
    }

    /// The derivative of a signal that is a function of the time.
    fn command_rate(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<Option<Command<OfTime>>> {
        let large = self.reading.large();
        let formula = self.reading.formula(own, key, what(own, key), false)?;
        let place = self.reading.in_unit(&formula, OF_AMOUNT, unit_of(unit))?;
        let graph = &mut self.reading.formulas.graph;
        if graph.banks(place) & Bank::Time.bit() == 0 {
            return Ok(None);
        }
        let rate = graph.derivative(place, Bank::Time, 0).map_err(large)?;
        let (program, used) = Program::of_own_parameters(graph, &[(rate, 0)]);
        let parameters: Vec<Value> = used.iter().map(|k| self.parameters[*k]).collect();
        Ok(Some(Command::of_time(OfTime::Formula(program), parameters)))
    }

    /// Three formulas in time and parameters, or three motions, with the parameters that they take.
    fn path(&mut self, own: &Section<'_>, unit: &str) -> Result<(PathOfTime, Vec<Value>)> {
        if let Some(names) = own.texts("motion")? {
            let [x, y, z] = names.as_slice() else {
                let remedy = "write it as [\"Sx\", \"Sy\", \"Sz\"]";
                return Err(own.wrong("motion", "it is no list of three motions", remedy));
            };
            let all = [self.motion(own, x, unit)?, self.motion(own, y, unit)?, self.motion(own, z, unit)?];
            let coefficients = all.iter().flat_map(|(_, values)| values.iter().copied()).collect();
            return Ok((PathOfTime::Motions(all.map(|(spline, _)| spline)), coefficients));
        }
        let list = own.table.get("is").and_then(toml::Value::as_array).filter(|list| list.len() == 3);
        let Some(list) = list else {
            return Err(own.wrong(
                "is",
                "it is no list of three formulas",
                "write it as [\"0.1[m]*sin(t*1[rad/s])\", 0, 0]",
            ));
        };
        let mut roots = Vec::new();
        for (k, element) in list.iter().enumerate() {
            let formula = formula_of(element, own, "is", what(own, "is"))?;
            roots.push((self.reading.in_unit(&formula, OF_AMOUNT & !Bank::Input.bit(), unit_of(unit))?, k));
        }
        let (program, used) = Program::of_own_parameters(&self.reading.formulas.graph, &roots);
        Ok((PathOfTime::Formulas(program), used.iter().map(|k| self.parameters[*k]).collect()))
    }

    /// A formula in time and parameters, or a motion, with the parameters that it takes.
    fn of_time(&mut self, own: &Section<'_>, unit: &str) -> Result<(OfTime, Vec<Value>)> {
        if let Some(name) = own.text("motion")? {
            let (spline, coefficients) = self.motion(own, &name, unit)?;
            return Ok((OfTime::Motion(spline), coefficients));
        }
        let formula = self.reading.formula(own, "is", what(own, "is"), false)?;
        let root = self.reading.in_unit(&formula, OF_AMOUNT & !Bank::Input.bit(), unit_of(unit))?;
        let (program, used) = Program::of_own_parameters(&self.reading.formulas.graph, &[(root, 0)]);
        Ok((OfTime::Formula(program), used.iter().map(|k| self.parameters[*k]).collect()))
    }
}

/// What is done with redundant rows, if it is said.
fn redundant_rows(root: &Section<'_>) -> Result<Option<RedundantRows>> {
    Ok(match root.text("redundant_rows")?.as_deref() {
        None => None,
        Some("refuse") => Some(RedundantRows::Refuse),
        Some("leave-out") => Some(RedundantRows::LeaveOut),
        Some("keep") => Some(RedundantRows::Keep),
        Some(other) => {
            let error = Error::unknown("policy", other, "", ["refuse", "leave-out", "keep"]);
            return Err(root.at("redundant_rows", error));
        }
    })
}

/// Refuses keys of a part that its kind does not have.
fn takes_only(own: &Section<'_>, all: &costate_identify::problem_file::Keys, takes: &[&str], kind: &str) -> Result<()> {
    match all.names().find(|key| own.table.contains_key(*key) && !takes.contains(key)) {
        Some(other) => Err(own.wrong(other, format!("{kind} has none"), "leave it out")),
        None => Ok(()),
    }
}

/// Refuses states of what has no law.
fn refuse_states(own: &Section<'_>, law: &str) -> Result<()> {
    match ["states", "rates", "start", "energy"].into_iter().find(|key| own.table.contains_key(*key)) {
        Some(key) => Err(own.wrong(key, "it is that of a law, and there is none", &format!("give a `{law}`, too"))),
        None => Ok(()),
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

/// A part that a key names, in a file whose names begin with a prefix.
fn named<'p, T>(own: &Section<'_>, key: &str, kind: &'static str, parts: (&'p [(String, T)], &str)) -> Result<&'p T> {
    let name = own.text(key)?;
    let name = name.ok_or_else(|| own.wrong(key, "it is missing", &format!("name the {kind}")))?;
    called(own, (key, &name), kind, parts)
}

/// The part of this name, which a key has.
fn called<'p, T>(
    own: &Section<'_>,
    (key, name): (&str, &str),
    kind: &'static str,
    (parts, prefix): (&'p [(String, T)], &str),
) -> Result<&'p T> {
    let known = || parts.iter().filter_map(|(part, own)| Some((part.strip_prefix(prefix)?, own)));
    let found = known().find(|(part, _)| *part == name).map(|(_, part)| part);
    found.ok_or_else(|| own.at(key, Error::unknown(kind, name, own.place(), known().map(|(name, _)| name))))
}
