//! Formulas of a file: names, units, and the graph that programs are made of.

pub(crate) mod graph;
pub(crate) mod parse;
pub(crate) mod program;

use crate::dimension::{Dimension, Units};
use graph::{Bank, Function, Graph, Pair, Place, TooLarge};
use parse::{Expression, Fault, Kind, Operator};
use std::collections::HashMap;
use std::f64::consts::PI;
use std::ops::Range;

/// The meaning of a name.
#[derive(Debug, Clone)]
pub(crate) struct Meaning {
    /// What it is called in messages: a coordinate, a parameter.
    pub kind: &'static str,
    pub place: Place,
    pub units: Units,
}

/// A table by its name.
#[derive(Debug, Clone)]
pub(crate) struct TableMeaning {
    pub table: usize,
    pub over: Units,
    pub of: Units,
}

/// All that formulas of one file may name.
#[derive(Debug, Default)]
pub(crate) struct Formulas {
    pub graph: Graph,
    /// With their primes: `x`, `x'`, `x''`.
    pub names: HashMap<String, Meaning>,
    /// Accelerations of the scheme, by coordinates and states.
    pub scheme: HashMap<String, Meaning>,
    /// Multipliers, by constraints.
    pub multipliers: HashMap<String, Meaning>,
    pub tables: HashMap<String, TableMeaning>,
}

/// A function that formulas know.
struct Known {
    name: &'static str,
    arguments: usize,
    means: Means,
}

#[derive(Clone, Copy)]
enum Means {
    /// Of a plain number.
    Number(Function),
    /// A root of this order.
    Root(Function, f64),
    Absolute,
    /// Of two numbers in one unit, which the result is in, or it is a plain number.
    Pair(Pair, bool),
    Hypot,
    Clamp,
    If,
    Sign,
    Step,
    Viscous,
    Coulomb,
    Stribeck,
    Scheme,
    Lambda,
}

const fn known(name: &'static str, arguments: usize, means: Means) -> Known {
    Known { name, arguments, means }
}

const KNOWN: [Known; 38] = [
    known("sin", 1, Means::Number(Function::Sin)),
    known("cos", 1, Means::Number(Function::Cos)),
    known("tan", 1, Means::Number(Function::Tan)),
    known("asin", 1, Means::Number(Function::Asin)),
    known("acos", 1, Means::Number(Function::Acos)),
    known("atan", 1, Means::Number(Function::Atan)),
    known("sinh", 1, Means::Number(Function::Sinh)),
    known("cosh", 1, Means::Number(Function::Cosh)),
    known("tanh", 1, Means::Number(Function::Tanh)),
    known("asinh", 1, Means::Number(Function::Asinh)),
    known("acosh", 1, Means::Number(Function::Acosh)),
    known("atanh", 1, Means::Number(Function::Atanh)),
    known("exp", 1, Means::Number(Function::Exp)),
    known("expm1", 1, Means::Number(Function::ExpM1)),
    known("ln", 1, Means::Number(Function::Ln)),
    known("log1p", 1, Means::Number(Function::Ln1p)),
    known("log2", 1, Means::Number(Function::Log2)),
    known("log10", 1, Means::Number(Function::Log10)),
    known("sph_j0", 1, Means::Number(Function::SphericalBessel(0))),
    known("sph_j1", 1, Means::Number(Function::SphericalBessel(1))),
    known("sph_j2", 1, Means::Number(Function::SphericalBessel(2))),
    known("sqrt", 1, Means::Root(Function::Sqrt, 0.5)),
    known("cbrt", 1, Means::Root(Function::Cbrt, 1.0 / 3.0)),
    known("abs", 1, Means::Absolute),
    known("sign", 1, Means::Sign),
    known("step", 1, Means::Step),
    known("atan2", 2, Means::Pair(Pair::Atan2, true)),
    known("min", 2, Means::Pair(Pair::Min, false)),
    known("max", 2, Means::Pair(Pair::Max, false)),
    known("mod", 2, Means::Pair(Pair::Remainder, false)),
    known("hypot", 2, Means::Hypot),
    known("clamp", 3, Means::Clamp),
    known("if", 3, Means::If),
    known("viscous", 2, Means::Viscous),
    known("coulomb", 3, Means::Coulomb),
    known("stribeck", 5, Means::Stribeck),
    known("scheme", 1, Means::Scheme),
    known("lambda", 1, Means::Lambda),
];

/// Functions of formulas, with what they take and are: for the page.
pub(crate) const FUNCTIONS: &str = "\
| function | is |
|---|---|
| `sin`, `cos`, `tan`, `asin`, `acos`, `atan`, `atan2(y, x)` | of angles in rad |
| `sinh`, `cosh`, `tanh`, `asinh`, `acosh`, `atanh` | |
| `exp`, `expm1`, `ln`, `log1p`, `log2`, `log10` | |
| `sph_j0`, `sph_j1`, `sph_j2` | spherical Bessel functions; `sph_j0(x)` is sin(x)/x, 1 at 0 |
| `sqrt`, `cbrt`, `hypot(x, y)`, `abs`, `sign` | `sign(0)` is 0 |
| `min(a, b)`, `max(a, b)`, `clamp(x, lowest, highest)`, `mod(a, b)` | the rest of a/b with the sign of a |
| `if(condition, a, b)` | a where the condition holds, else b; conditions are made with `<`, `<=`, `>`, `>=`, `and`, `or`, `not` |
| `step(x)` | 0 below 0, 1 from there on |
| `viscous(v, d)` | friction `d*v` |
| `coulomb(v, F, v_s)` | dry friction, smooth: `F*tanh(v/v_s)` |
| `stribeck(v, F, F_s, v_st, v_s)` | `(F + (F_s - F)*exp(-(v/v_st)^2))*tanh(v/v_s)`: F_s at rest, F in motion |
| `lambda(row)` | the multiplier of a constraint (outputs only) |
| `scheme(x)` | the integrator's own acceleration of `x`, [see there](accelerations.md) (outputs only) |
| `NAME(x)` | a table of `[tables]` |\n\nNames that are not made of letters, digits and `_` alone stand in backquotes: ``` `rotor torque`*2 ```.";

/// Names that are taken.
pub(crate) const RESERVED: [&str; 5] = ["t", "pi", "and", "or", "not"];

/// True if a name is one of a function.
pub(crate) fn is_function(name: &str) -> bool {
    KNOWN.iter().any(|known| known.name == name)
}

/// A fault of a graph that grows too large, at a place.
fn large(span: &Range<usize>) -> impl Fn(TooLarge) -> Fault {
    let span = span.clone();
    move |_| Fault::new(&span, "the formulas of this file are too large", "write them shorter")
}

impl Formulas {
    /// Formulas that know `t` and `pi`.
    pub fn new() -> Result<Self, TooLarge> {
        let mut all = Formulas::default();
        let (time, pi) = (all.graph.variable(Bank::Time, 0)?, all.graph.constant(PI)?);
        let units = Units::Is(Dimension::SECOND);
        all.names.insert("t".into(), Meaning { kind: "the time", place: time, units });
        let units = Units::Is(Dimension::NUMBER);
        all.names.insert("pi".into(), Meaning { kind: "a number", place: pi, units });
        Ok(all)
    }

    fn name(&self, name: &str, span: &Range<usize>) -> Result<&Meaning, Fault> {
        self.names.get(name).ok_or_else(|| {
            let base = name.trim_end_matches('\'');
            if let (true, Some(meaning)) = (base != name, self.names.get(base)) {
                let problem = format!("`{base}` is {}, and `{name}` is not known", meaning.kind);
                return Fault::new(span, problem, "primes stand behind coordinates (x', x'') and states (z')");
            }
            if self.tables.contains_key(name) || is_function(name) {
                let problem = format!("`{name}` is a function");
                return Fault::new(span, problem, format!("write what it is of in brackets: {name}(..)"));
            }
            unknown("name", name, span, self.names.keys())
        })
    }

    /// The node of a formula.
    pub fn lower(&mut self, e: &Expression) -> Result<Place, Fault> {
        let large = large(&e.span);
        match &e.kind {
            Kind::Number(value, _) => self.graph.constant(*value).map_err(large),
            Kind::Name(name) => Ok(self.name(name, &e.span)?.place),
            Kind::Negative(inner) => {
                let inner = self.lower(inner)?;
                self.graph.function(Function::Negative, inner).map_err(large)
            }
            Kind::Binary(operator, sides) => {
                let pair = match operator {
                    Operator::Add => Pair::Add,
                    Operator::Subtract => Pair::Subtract,
                    Operator::Multiply => Pair::Multiply,
                    Operator::Divide => Pair::Divide,
                    Operator::Power => Pair::Power,
                    _ => return Err(no_number(e)),
                };
                let (a, b) = (self.lower(&sides[0])?, self.lower(&sides[1])?);
                self.graph.pair(pair, a, b).map_err(large)
            }
            Kind::Not(_) => Err(no_number(e)),
            Kind::Call(name, arguments) => self.call(e, name, arguments),
        }
    }

    fn call(&mut self, e: &Expression, name: &str, arguments: &[Expression]) -> Result<Place, Fault> {
        let large = large(&e.span);
        if let Some(meaning) = self.tables.get(name).cloned() {
            count(e, name, arguments, 1)?;
            let at = self.lower(&arguments[0])?;
            return self.graph.table(meaning.table, 0, at).map_err(large);
        }
        let means = self.function(e, name, arguments)?;
        match means {
            Means::Scheme | Means::Lambda => return Ok(self.quantity(means, &arguments[0])?.place),
            Means::If => {
                let (a, b) = (self.lower(&arguments[1])?, self.lower(&arguments[2])?);
                return self.choose(&arguments[0], [a, b]);
            }
            _ => {}
        }
        let of: Vec<Place> = arguments.iter().map(|argument| self.lower(argument)).collect::<Result<_, _>>()?;
        self.made(means, &of).map_err(large)
    }

    /// What a function makes of nodes.
    fn made(&mut self, means: Means, of: &[Place]) -> Result<Place, TooLarge> {
        let graph = &mut self.graph;
        match (means, of) {
            (Means::Number(function) | Means::Root(function, _), [x]) => graph.function(function, *x),
            (Means::Absolute, [x]) => graph.function(Function::Abs, *x),
            (Means::Pair(pair, _), [a, b]) => graph.pair(pair, *a, *b),
            (Means::Hypot, [a, b]) => {
                let squares = [*a, *b].map(|x| graph.pair(Pair::Multiply, x, x));
                let [a, b] = squares;
                let sum = graph.pair(Pair::Add, a?, b?)?;
                graph.function(Function::Sqrt, sum)
            }
            (Means::Clamp, [x, lowest, highest]) => {
                let above = graph.pair(Pair::Max, *x, *lowest)?;
                graph.pair(Pair::Min, above, *highest)
            }
            (Means::Sign, [x]) => {
                let (zero, one, minus) = (graph.constant(0.0)?, graph.constant(1.0)?, graph.constant(-1.0)?);
                let other = graph.select(false, [zero, *x], [one, zero])?;
                graph.select(false, [*x, zero], [minus, other])
            }
            (Means::Step, [x]) => {
                let (zero, one) = (graph.constant(0.0)?, graph.constant(1.0)?);
                graph.select(false, [*x, zero], [zero, one])
            }
            (Means::Viscous, [v, d]) => graph.pair(Pair::Multiply, *d, *v),
            (Means::Coulomb, [v, force, width]) => {
                let direction = smooth_sign(graph, *v, *width)?;
                graph.pair(Pair::Multiply, *force, direction)
            }
            (Means::Stribeck, [v, force, at_rest, decay, width]) => {
                let ratio = graph.pair(Pair::Divide, *v, *decay)?;
                let square = graph.pair(Pair::Multiply, ratio, ratio)?;
                let negative = graph.function(Function::Negative, square)?;
                let bell = graph.function(Function::Exp, negative)?;
                let excess = graph.pair(Pair::Subtract, *at_rest, *force)?;
                let more = graph.pair(Pair::Multiply, excess, bell)?;
                let size = graph.pair(Pair::Add, *force, more)?;
                let direction = smooth_sign(graph, *v, *width)?;
                graph.pair(Pair::Multiply, size, direction)
            }
            // counted before, and the rest is no function of numbers
            _ => graph.constant(f64::NAN),
        }
    }

    /// The function of a call, whose arguments are as many as it takes.
    fn function(&self, e: &Expression, name: &str, arguments: &[Expression]) -> Result<Means, Fault> {
        let Some(known) = KNOWN.iter().find(|known| known.name == name) else {
            if self.names.contains_key(name) {
                let problem = format!("`{name}` is no function");
                return Err(Fault::new(&e.span, problem, "write products with `*`, such as `k*(x - y)`"));
            }
            if name == "log" {
                let problem = "`log` may mean two things";
                return Err(Fault::new(&e.span, problem, "write ln for the natural logarithm, or log10"));
            }
            let names = KNOWN.iter().map(|known| known.name.to_string());
            let all: Vec<String> = names.chain(self.tables.keys().cloned()).collect();
            return Err(unknown("function", name, &(e.span.start..e.span.start + name.len()), all.iter()));
        };
        count(e, name, arguments, known.arguments)?;
        Ok(known.means)
    }

    /// The multiplier or acceleration that an argument names.
    fn quantity(&self, means: Means, argument: &Expression) -> Result<&Meaning, Fault> {
        let (kind, known) = match means {
            Means::Lambda => ("constraint", &self.multipliers),
            _ => ("coordinate", &self.scheme),
        };
        let Kind::Name(name) = &argument.kind else {
            let problem = format!("this is not the name of a {kind}");
            return Err(Fault::new(&argument.span, problem, format!("name a {kind} in the brackets")));
        };
        known.get(name).ok_or_else(|| unknown(kind, name, &argument.span, known.keys()))
    }

    /// One of two nodes by a condition.
    fn choose(&mut self, condition: &Expression, [yes, no]: [Place; 2]) -> Result<Place, Fault> {
        match &condition.kind {
            Kind::Not(inner) => self.choose(inner, [no, yes]),
            Kind::Binary(Operator::And, sides) => {
                let both = self.choose(&sides[1], [yes, no])?;
                self.choose(&sides[0], [both, no])
            }
            Kind::Binary(Operator::Or, sides) => {
                let other = self.choose(&sides[1], [yes, no])?;
                self.choose(&sides[0], [yes, other])
            }
            Kind::Binary(operator, sides) if operator.compares() => {
                let (a, b) = (self.lower(&sides[0])?, self.lower(&sides[1])?);
                let (or_equal, than) = match operator {
                    Operator::Less => (false, [a, b]),
                    Operator::AtMost => (true, [a, b]),
                    Operator::Greater => (false, [b, a]),
                    _ => (true, [b, a]),
                };
                self.graph.select(or_equal, than, [yes, no]).map_err(large(&condition.span))
            }
            _ => {
                let problem = "this is a number, where a condition is wanted";
                Err(Fault::new(&condition.span, problem, "compare it with another: if(x > 0, .., ..)"))
            }
        }
    }

    /// Units of a formula that has a node.
    pub fn units(&mut self, e: &Expression) -> Result<Units, Fault> {
        match &e.kind {
            Kind::Number(_, None) => Ok(Units::Any),
            Kind::Number(_, Some(unit)) => match Dimension::of(unit) {
                Ok(dimension) => Ok(Units::Is(dimension)),
                Err(problem) => Err(Fault::new(&e.span, problem, "write a unit such as [N/m]")),
            },
            Kind::Name(name) => Ok(self.name(name, &e.span)?.units),
            Kind::Negative(inner) => self.units(inner),
            // a condition is no value
            Kind::Not(inner) => self.units(inner),
            Kind::Binary(Operator::And | Operator::Or, sides) => {
                self.units(&sides[0])?;
                self.units(&sides[1])
            }
            Kind::Binary(Operator::Power, sides) => self.raised(e, &sides[0], &sides[1]),
            Kind::Binary(operator, sides) => {
                let (a, b) = (self.units(&sides[0])?, self.units(&sides[1])?);
                match operator {
                    Operator::Multiply => Ok(times(a, b, 1)),
                    Operator::Divide => Ok(times(a, b, -1)),
                    Operator::Add => same(&e.span, "this adds", [a, b]),
                    Operator::Subtract => same(&e.span, "this subtracts", [a, b]),
                    _ => same(&e.span, "this compares", [a, b]),
                }
            }
            Kind::Call(name, arguments) => self.units_of_call(e, name, arguments),
        }
    }

    fn raised(&mut self, e: &Expression, base: &Expression, exponent: &Expression) -> Result<Units, Fault> {
        let power = self.units(exponent)?;
        number(&exponent.span, "an exponent", power)?;
        let of = self.units(base)?;
        let place = self.lower(exponent)?;
        let constant = self.graph.constant_of(place);
        match (of, constant) {
            (Units::Any, Some(_)) => Ok(Units::Any),
            (Units::Any, None) => Ok(Units::Is(Dimension::NUMBER)),
            (Units::Is(of), _) if of.is_same(&Dimension::NUMBER) => Ok(Units::Is(of)),
            (Units::Is(of), Some(constant)) => of.power(constant).map(Units::Is).ok_or_else(|| {
                let problem = format!("a quantity in [{of}] to the power of {constant} has no unit that is known");
                Fault::new(&e.span, problem, "make a number of it first, such as (x/1[m])^1.3")
            }),
            (Units::Is(of), None) => {
                let problem = format!("a quantity in [{of}] has an exponent that is no constant");
                Err(Fault::new(&e.span, problem, "make a number of it first, such as (x/1[m])^n"))
            }
        }
    }

    fn units_of_call(&mut self, e: &Expression, name: &str, arguments: &[Expression]) -> Result<Units, Fault> {
        let mut of = Vec::new();
        if let Some(meaning) = self.tables.get(name).cloned() {
            let at = self.units(&arguments[0])?;
            same(&arguments[0].span, "the table is over another unit than this:", [meaning.over, at])?;
            return Ok(meaning.of);
        }
        let means = self.function(e, name, arguments)?;
        if matches!(means, Means::Scheme | Means::Lambda) {
            return Ok(self.quantity(means, &arguments[0])?.units);
        }
        for argument in arguments {
            of.push(self.units(argument)?);
        }
        let plain = Units::Is(Dimension::NUMBER);
        match (means, of.as_slice()) {
            (Means::Number(_), [x]) => {
                number(&arguments[0].span, &format!("the argument of `{name}`"), *x)?;
                Ok(plain)
            }
            (Means::Root(_, order), [Units::Is(x)]) => x.power(order).map(Units::Is).ok_or_else(|| {
                Fault::new(
                    &e.span,
                    format!("a root of a quantity in [{x}] has no unit that is known"),
                    "check the formula",
                )
            }),
            (Means::Sign | Means::Step, _) => Ok(plain),
            (Means::Pair(_, is_number), [a, b]) => {
                let of = same(&e.span, &format!("`{name}` is of"), [*a, *b])?;
                Ok(if is_number { plain } else { of })
            }
            (Means::Hypot, [a, b]) => same(&e.span, "`hypot` is of", [*a, *b]),
            (Means::Clamp, [x, lowest, highest]) => {
                let of = same(&e.span, "`clamp` is of", [*x, *lowest])?;
                same(&e.span, "`clamp` is of", [of, *highest])
            }
            (Means::If, [_, yes, no]) => same(&e.span, "the branches of this `if` are", [*yes, *no]),
            (Means::Viscous, [v, d]) => Ok(times(*d, *v, 1)),
            (Means::Coulomb, [v, force, width]) => {
                same(&e.span, "`coulomb` has velocities", [*v, *width])?;
                Ok(*force)
            }
            (Means::Stribeck, [v, force, at_rest, decay, width]) => {
                same(&e.span, "`stribeck` has velocities", [*v, *decay])?;
                same(&e.span, "`stribeck` has velocities", [*v, *width])?;
                same(&e.span, "`stribeck` has forces", [*force, *at_rest])
            }
            (_, [first, ..]) => Ok(*first),
            _ => Ok(Units::Any),
        }
    }

    /// The first name in a formula whose values are from a bank that it may not use.
    pub fn forbidden<'e>(&self, e: &'e Expression, allowed: u8) -> Option<(&'e Expression, Bank)> {
        let place = match &e.kind {
            Kind::Number(..) => return None,
            Kind::Name(name) => self.names.get(name).map(|meaning| meaning.place),
            Kind::Negative(inner) | Kind::Not(inner) => return self.forbidden(inner, allowed),
            Kind::Binary(_, sides) => return sides.iter().find_map(|side| self.forbidden(side, allowed)),
            Kind::Call(name, arguments) => match (name.as_str(), arguments.as_slice()) {
                ("scheme" | "lambda", [Expression { kind: Kind::Name(own), .. }]) => {
                    let known = if name == "lambda" { &self.multipliers } else { &self.scheme };
                    known.get(own).map(|meaning| meaning.place)
                }
                _ => return arguments.iter().find_map(|argument| self.forbidden(argument, allowed)),
            },
        };
        let banks = self.graph.banks(place?) & !allowed;
        Bank::ALL.into_iter().find(|bank| banks & bank.bit() != 0).map(|bank| (e, bank))
    }

    /// Checks that a formula is in a unit.
    pub fn expect(&self, e: &Expression, units: Units, wanted: Dimension) -> Result<(), Fault> {
        let Units::Is(own) = units else { return Ok(()) };
        if own.is_same(&wanted) {
            return Ok(());
        }
        Err(Fault::new(
            &e.span,
            format!("this is in [{own}], where [{wanted}] is wanted{}", scale(&own, &wanted)),
            CHECK,
        ))
    }
}

/// Remedy for units that do not fit.
const CHECK: &str = "check the formula and the units of what it names (`units = false` leaves it unchecked)";

fn scale(a: &Dimension, b: &Dimension) -> String {
    match a.is_alike(b) {
        true => format!(": they differ by a factor of {}", costate::shown::rounded(a.factor_to(b), 6)),
        false => String::new(),
    }
}

/// The unit of two things that are in one unit.
fn same(span: &Range<usize>, doing: &str, [a, b]: [Units; 2]) -> Result<Units, Fault> {
    match (a, b) {
        (Units::Any, other) | (other, Units::Any) => Ok(other),
        (Units::Is(a), Units::Is(b)) if a.is_same(&b) => Ok(Units::Is(a)),
        (Units::Is(a), Units::Is(b)) => {
            Err(Fault::new(span, format!("{doing} [{a}] and [{b}]{}", scale(&a, &b)), CHECK))
        }
    }
}

fn number(span: &Range<usize>, what: &str, units: Units) -> Result<(), Fault> {
    match units {
        Units::Is(units) if !units.is_same(&Dimension::NUMBER) => {
            let wanted = if units.is_number() { "in rad, or a plain number" } else { "a plain number" };
            Err(Fault::new(span, format!("{what} is in [{units}], and must be {wanted}"), CHECK))
        }
        _ => Ok(()),
    }
}

/// A product, or a quotient.
fn times(a: Units, b: Units, power: i32) -> Units {
    match (a, b) {
        (Units::Any, Units::Any) => Units::Any,
        (Units::Is(a), Units::Any) => Units::Is(a),
        (Units::Any, Units::Is(b)) => Units::Is(Dimension::NUMBER.times(b, power)),
        (Units::Is(a), Units::Is(b)) => Units::Is(a.times(b, power)),
    }
}

fn smooth_sign(graph: &mut Graph, v: Place, width: Place) -> Result<Place, TooLarge> {
    let ratio = graph.pair(Pair::Divide, v, width)?;
    graph.function(Function::Tanh, ratio)
}

fn no_number(e: &Expression) -> Fault {
    let problem = "this is a condition, where a number is wanted";
    Fault::new(&e.span, problem, "choose numbers by it: if(condition, a, b)")
}

fn count(e: &Expression, name: &str, arguments: &[Expression], wanted: usize) -> Result<(), Fault> {
    if arguments.len() == wanted {
        return Ok(());
    }
    let problem = format!(
        "`{name}` takes {wanted} {}, here are {}",
        if wanted == 1 { "argument" } else { "arguments" },
        arguments.len()
    );
    Err(Fault::new(&e.span, problem, "give as many, with commas between them"))
}

fn unknown<'n>(kind: &'static str, name: &str, span: &Range<usize>, known: impl Iterator<Item = &'n String>) -> Fault {
    let mut names: Vec<&String> = known.collect();
    names.sort();
    match costate::Error::unknown(kind, name, "", &names) {
        costate::Error::UnknownName { nearest: Some(nearest), .. } => {
            Fault::new(span, format!("there is no {kind} `{name}`"), format!("did you mean `{nearest}`?"))
        }
        _ => {
            const SHOWN: usize = 20;
            let list: Vec<&str> = names.iter().take(SHOWN).map(|name| name.as_str()).collect();
            let more = if names.len() > SHOWN { ", .." } else { "" };
            let remedy = format!("known are: {}{more}", if list.is_empty() { "none".into() } else { list.join(", ") });
            Fault::new(span, format!("there is no {kind} `{name}`"), remedy)
        }
    }
}
