//! Mechanisms from parts: what those of the plane and of space share.

mod include;
pub(crate) mod planar;
pub(crate) mod spatial;

use crate::dimension::{Dimension, Units};
use crate::formula::Meaning;
use crate::formula::graph::{Bank, Node, Place as NodePlace};
use crate::formula::parse::Fault;
use crate::formula::program::{Program, banks};
use crate::reader::{ByFormulas, Follows, Formula, OF_AMOUNT, OF_LAW, OF_START, Reading, formula_of};
use costate::random::SplitMix64;
use costate::value::Value;
use costate::{Number, Parameter};
use costate_identify::problem_file::Section;
use costate_identify::{Error, Result};
use costate_parts::assembly::{Input, RedundantRows};
use costate_parts::law::{Amount, Axes, FunctionOfTime, Law};
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

/// A mechanism that parameters can be added to.
trait Declares {
    fn declare(&mut self, parameter: Parameter) -> Value;
}

/// Properties of parts, as a file says them.
struct Properties<'r, M> {
    reading: &'r mut Reading,
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

impl<M: Declares> Properties<'_, M> {
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
        let place = self.reading.in_unit(formula, OF_START, unit_of(unit))?;
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
        let name = formula.path();
        let taken =
            self.derived.iter().filter(|(own, ..)| *own == name || own.starts_with(&format!("{name}#"))).count();
        let name = if taken == 0 { name } else { format!("{name}#{}", taken + 1) };
        let value = self.mechanism.declare(Parameter::new(&name, unit, nominal[0]));
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

    /// Properties in a list.
    fn list<const N: usize>(&mut self, own: &Section<'_>, key: &str, unit: &str) -> Result<[Value; N]> {
        let list = own.table.get(key).and_then(toml::Value::as_array).filter(|list| list.len() == N);
        let Some(list) = list else {
            let problem = format!("it is no list of {N} numbers or formulas");
            return Err(own.wrong(key, problem, &format!("write it as [{}]", ["0.1"; N].join(", "))));
        };
        let mut all = [Value::from(0.0); N];
        for (value, element) in all.iter_mut().zip(list) {
            let formula = formula_of(element, own, key, what(own, key))?;
            *value = self.linear(&formula, unit)?;
        }
        Ok(all)
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
        let place = self.reading.in_unit(&formula, OF_LAW, unit_of(tension))?;
        let mut roots = vec![(place, 0)];
        if own.table.contains_key("energy") {
            let formula = self.reading.formula(own, "energy", what(own, "energy"), false)?;
            roots.push((self.reading.in_unit(&formula, OF_LAW, unit_of("J"))?, 1));
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

    /// A formula in time and parameters, with those that it takes.
    fn of_time(&mut self, own: &Section<'_>, unit: &str) -> Result<(FormulaOfTime, Vec<Value>)> {
        let formula = self.reading.formula(own, "is", what(own, "is"), false)?;
        let root = self.reading.in_unit(&formula, OF_AMOUNT & !Bank::Input.bit(), unit_of(unit))?;
        let (program, used) = Program::of_own_parameters(&self.reading.formulas.graph, &[(root, 0)]);
        Ok((FormulaOfTime(program), used.iter().map(|k| self.parameters[*k]).collect()))
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
fn named<'p, T>(
    own: &Section<'_>,
    key: &str,
    kind: &'static str,
    (parts, prefix): (&'p [(String, T)], &str),
) -> Result<&'p T> {
    let name = own.text(key)?.unwrap_or_default();
    let known = || parts.iter().filter_map(|(part, own)| Some((part.strip_prefix(prefix)?, own)));
    let found = known().find(|(part, _)| *part == name).map(|(_, part)| part);
    found.ok_or_else(|| own.at(key, Error::unknown(kind, &name, own.place(), known().map(|(name, _)| name))))
}
