//! Costs by formulas.

use super::names::{mentioned, of_unknown};
use super::{Formula, OF_ANYTHING, Reading};
use crate::dimension::Units;
use crate::formula::graph::Bank;
use crate::formula::parse::Fault;
use crate::formula::program::Program;
use crate::formula::{Formulas, Meaning};
use crate::model::in_motion;
use costate::cost::{Cost, Quadrature};
use costate::linearise::{CostFunction, Differentiated};
use costate::{Number, Signature, State};
use costate_identify::registry::CostFormulas;
use costate_identify::specification::Lines;
use costate_identify::{Error, Result};
use std::sync::Arc;

/// The place of outputs: formulas of costs do not name accelerations of the scheme.
const OUTPUT: Bank = Bank::SchemeAcceleration;

/// J = w (∫ g dt + S).
struct FormulaCost {
    integral: Program,
    terminal: Program,
    weight: f64,
}

impl FormulaCost {
    fn value<D: Number>(&self, program: &Program, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        let (t, mut value) = ([D::from(t)], [D::from(0.0)]);
        let mut all = in_motion(&t, [x.q, x.v, x.w, u]);
        for (bank, numbers) in [(Bank::Acceleration, x.a), (Bank::Multiplier, x.lambda), (OUTPUT, y)] {
            all[bank as usize] = numbers;
        }
        program.run(&all, &mut value);
        value[0] * self.weight
    }
}

impl CostFunction for FormulaCost {
    fn running<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        self.value(&self.integral, t, x, y, u)
    }

    fn terminal<D: Number>(&self, t: f64, x: &State<'_, D>, y: &[D], u: &[D]) -> D {
        self.value(&self.terminal, t, x, y, u)
    }
}

/// A cost by formulas, for [`Registry::with_formulas`](costate_identify::registry::Registry::with_formulas): the integral over time, by trapezoids, of one
/// formula, and the value at the end of another, both times `weight`. They name outputs, inputs, parameters and `t`; coordinates (with `x'`, `x''`) and states
/// (with `z'`) where no output has the name; and `lambda(row)`. Their units are not checked: a cost may add what it likes.
///
/// # Errors
/// A formula with a slip, in a sentence with its place; a name that means two things.
pub fn cost(signature: &Signature, formulas: &CostFormulas, weight: f64) -> Result<Box<dyn Cost>> {
    let (mut reading, twice) = names(signature)?;
    let mut program = |key: &str, text: &Option<String>| -> Result<Program> {
        let Some(text) = text else { return Ok(Program::default()) };
        let formula = Formula::of_text(vec![key.to_string()], format!("the formula of `{key}`"), text)?.unchecked();
        let mut slip = None;
        mentioned(&formula.expression, &mut |name| slip = slip.take().or(twice.iter().find(|own| own.0 == name)));
        if let Some((name, kinds)) = slip {
            let problem = format!("`{name}` is {} and {}", kinds[0], kinds[1]);
            return Err(formula.error(Fault::new(&formula.expression.span, problem, "give one of them another name")));
        }
        let place = reading.lowered(&formula, OF_ANYTHING)?.0;
        Ok(Program::new(&reading.formulas.graph, &[(place, 0)]))
    };
    let (integral, terminal) = (program("integral", &formulas.integral)?, program("terminal", &formulas.terminal)?);
    Ok(Box::new(Differentiated::new(FormulaCost { integral, terminal, weight }, Quadrature::Trapezoid)))
}

/// A name that means two things.
type Twice = (String, [&'static str; 2]);

/// All that a cost may name.
fn names(signature: &Signature) -> Result<(Reading, Vec<Twice>)> {
    let too_large =
        |_| Error::invalid("the cost", "the mechanism has too many names for a formula", "write it in Rust");
    let formulas = Formulas::new().map_err(too_large)?;
    let mut reading = Reading::bare(Arc::new(Lines::default()), formulas, signature.name.clone());
    let graph = &mut reading.formulas.graph;
    let (known, mut twice) = (&mut reading.formulas.names, Vec::new());
    let mut know = |kind: &'static str, name: String, bank: Bank, k: usize| -> Result<()> {
        match known.get(&name) {
            // an output of a coordinate's name shows the coordinate
            Some(other) if other.kind == "an output" && !["an input", "a parameter"].contains(&kind) => {}
            Some(other) => twice.push((name, [other.kind, kind])),
            None => {
                let place = graph.variable(bank, k).map_err(too_large)?;
                known.insert(name, Meaning { kind, place, units: Units::Any });
            }
        }
        Ok(())
    };
    for (k, own) in signature.outputs.iter().enumerate() {
        know("an output", own.name.clone(), OUTPUT, k)?;
    }
    for (k, own) in signature.unknowns().enumerate() {
        for (order, (kind, bank)) in of_unknown(k >= signature.coordinates.len()).iter().enumerate() {
            know(kind, format!("{}{}", own.name, "'".repeat(order)), *bank, k)?;
        }
    }
    for (k, own) in signature.inputs.iter().enumerate() {
        know("an input", own.name.clone(), Bank::Input, k)?;
    }
    for (k, own) in signature.parameters.iter().enumerate() {
        know("a parameter", own.name.clone(), Bank::Parameter, k)?;
    }
    for (k, own) in signature.constraints.iter().enumerate() {
        let place = graph.variable(Bank::Multiplier, k).map_err(too_large)?;
        let meaning = Meaning { kind: "a multiplier", place, units: Units::Any };
        reading.formulas.multipliers.insert(own.name.clone(), meaning);
    }
    Ok((reading, twice))
}
