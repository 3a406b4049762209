//! Constraints as a person states them: by names, in a problem file or as a rule on the command line.

use super::{Constraint, Value, Window};
use crate::{Error, Result};
use costate::{Quantity, Signature};

/// A constraint by names.
#[derive(Debug, Clone, PartialEq)]
pub struct ConstraintSetting {
    /// Name in reports.
    pub name: String,
    /// Weights of parameters; or a single output with weight 1.
    pub terms: Vec<(String, f64)>,
    /// Kind of the terms: an output (`true`) or parameters (`false`); `None`: as their names say.
    pub of_output: Option<bool>,
    /// Smallest value, `-inf` for none.
    pub lower: f64,
    /// Largest value, `inf` for none.
    pub upper: f64,
    /// Window of times, for an output.
    pub window: Window,
    /// Unit of the value; by default that of the output, or of the parameters if they agree.
    pub unit: Option<String>,
}

impl ConstraintSetting {
    /// Reads a rule; the grammar is that of [`Constraint::parse`].
    ///
    /// # Errors
    /// What is wrong with it, in a sentence.
    pub fn parse(rule: &str) -> Result<Self> {
        let text = rule.trim();
        let tokens = tokens(text).map_err(|problem| wrong(text, problem))?;
        Parser { text, tokens: &tokens, at: 0 }.rule()
    }

    /// Looks the names up.
    ///
    /// # Errors
    /// Unknown names, with the nearest known one; an output where a parameter is wanted, and the reverse.
    pub fn resolve(&self, signature: &Signature) -> Result<Constraint> {
        let wrong =
            |problem: String, remedy: &str| Err(Error::invalid(format!("constraint `{}`", self.name), problem, remedy));
        let parameter = |name: &str| signature.parameters.iter().any(|p| p.name == name);
        let output = |name: &str| signature.outputs.iter().any(|q| q.name == name);
        let of_output = match (self.of_output, self.terms.as_slice()) {
            (Some(of_output), _) => of_output,
            (None, [(name, _)]) if parameter(name) && output(name) => {
                let remedy = format!("write `peak {name}` for the output, or use `sum` in a problem file");
                return wrong(format!("`{name}` is both a parameter and an output"), &remedy);
            }
            (None, [(name, _)]) => output(name),
            (None, _) => false,
        };
        if of_output {
            return self.resolve_output(signature);
        }
        if self.window.is_given() {
            return wrong("parameters do not depend on time".into(), "leave the time out");
        }
        let mut terms: Vec<(usize, f64)> = Vec::new();
        for (name, weight) in &self.terms {
            if output(name) && !parameter(name) {
                let remedy = "constrain it alone, such as `NAME <= 3`";
                return wrong(format!("`{name}` is an output, which cannot be added up"), remedy);
            }
            let known = signature.parameters.iter().map(|p| p.name.as_str());
            let outputs = signature.outputs.iter().map(|q| q.name.as_str()).filter(|_| self.of_output.is_none());
            if !parameter(name) {
                let kind = if self.of_output.is_none() { "parameter or output" } else { "parameter" };
                return Err(Error::unknown(kind, name, signature.place(), known.chain(outputs)));
            }
            let k = signature.parameter_index(name)?;
            match terms.iter_mut().find(|(known, _)| *known == k) {
                Some((_, sum)) => *sum += weight,
                None => terms.push((k, *weight)),
            }
        }
        terms.retain(|(_, weight)| *weight != 0.0);
        if terms.is_empty() || terms.iter().any(|(_, weight)| !weight.is_finite()) {
            return wrong("no parameter is left in it".into(), "give finite weights that do not cancel");
        }
        let first = &signature.parameters[terms[0].0].unit;
        let agree = terms.iter().all(|(k, _)| signature.parameters[*k].unit == *first);
        let unit = match &self.unit {
            Some(unit) => unit.clone(),
            None if agree => first.clone(),
            None => String::new(),
        };
        Ok(self.constraint(unit, Value::Sum(terms), self.lower, self.upper))
    }

    fn resolve_output(&self, signature: &Signature) -> Result<Constraint> {
        let wrong =
            |problem: String, remedy: &str| Err(Error::invalid(format!("constraint `{}`", self.name), problem, remedy));
        let [(name, weight)] = self.terms.as_slice() else {
            return wrong("outputs cannot be added up".into(), "constrain one output");
        };
        let output = signature.output_index(name)?;
        let Quantity { unit, .. } = &signature.outputs[output];
        if let Some(other) = self.unit.as_ref().filter(|other| *other != unit) {
            return wrong(format!("`{name}` is in {unit}, not in {other}"), "convert the limit");
        }
        if self.lower == self.upper && !self.window.is_given() {
            let remedy = format!("say when: `{name} = .. at end`, or a window with `from` and `until`");
            return wrong(format!("`{name}` would have to be the same at every time"), &remedy);
        }
        let (a, b) = (self.lower / weight, self.upper / weight);
        let value = Value::Output { output, window: self.window };
        let (lower, upper) = if *weight < 0.0 { (b, a) } else { (a, b) };
        Ok(self.constraint(unit.clone(), value, lower, upper))
    }

    fn constraint(&self, unit: String, value: Value, lower: f64, upper: f64) -> Constraint {
        Constraint { name: self.name.clone(), unit, value, lower, upper, size: None }
    }
}

fn wrong(rule: &str, problem: impl Into<String>) -> Error {
    let remedy =
        "write it as `m_1 + 2 m_2 = 3.5`, `m_1 <= m_2`, `peak a <= 12`, `|a| <= 3 from 1 until 2` or `a = 0 at end`";
    Error::invalid(format!("constraint `{rule}`"), problem, remedy)
}

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64),
    Name(String),
    Relation(Relation),
    Sign(char),
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Relation {
    Equal,
    AtMost,
    AtLeast,
}

/// Splits a rule; names that are no identifiers stand in backquotes.
fn tokens(text: &str) -> std::result::Result<Vec<Token>, String> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let while_true = |test: &dyn Fn(char) -> bool| rest.find(|c| !test(c)).unwrap_or(rest.len());
        let length = match c {
            c if c.is_whitespace() => c.len_utf8(),
            '+' | '-' | '*' | '|' => {
                tokens.push(Token::Sign(c));
                1
            }
            '<' | '>' | '=' | '≤' | '≥' => {
                let length = if rest[c.len_utf8()..].starts_with('=') { c.len_utf8() + 1 } else { c.len_utf8() };
                tokens.push(Token::Relation(match c {
                    '<' | '≤' => Relation::AtMost,
                    '>' | '≥' => Relation::AtLeast,
                    _ => Relation::Equal,
                }));
                length
            }
            c if c.is_ascii_digit() || c == '.' => {
                let digits = while_true(&|c| c.is_ascii_digit() || c == '.');
                let exponent = rest[digits..].strip_prefix(['e', 'E']).map_or(0, |tail| {
                    let sign = usize::from(tail.starts_with(['+', '-']));
                    let count = tail[sign..].bytes().take_while(u8::is_ascii_digit).count();
                    if count > 0 { 1 + sign + count } else { 0 }
                });
                let number = &rest[..digits + exponent];
                tokens.push(Token::Number(number.parse().map_err(|_| format!("`{number}` is not a number"))?));
                digits + exponent
            }
            '`' => {
                let end = rest[1..].find('`').ok_or("a backquote is not closed")?;
                tokens.push(Token::Name(rest[1..=end].to_string()));
                end + 2
            }
            c if c.is_alphabetic() || c == '_' => {
                let length = while_true(&|c| c.is_alphanumeric() || c == '_');
                tokens.push(Token::Name(rest[..length].to_string()));
                length
            }
            other => return Err(format!("`{other}` has no meaning here")),
        };
        rest = &rest[length..];
    }
    Ok(tokens)
}

/// Names with their weights.
type Terms = Vec<(String, f64)>;

/// One side of a relation.
#[derive(Debug, Clone, Default)]
struct Side {
    terms: Terms,
    constant: f64,
}

struct Parser<'t> {
    text: &'t str,
    tokens: &'t [Token],
    at: usize,
}

impl Parser<'_> {
    fn wrong(&self, problem: impl Into<String>) -> Error {
        wrong(self.text, problem)
    }

    fn peek(&self, ahead: usize) -> Option<&Token> {
        self.tokens.get(self.at + ahead)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.peek(0), Some(Token::Name(name)) if name == word)
    }

    /// `peak`? side (relation side){1,2} window?
    fn rule(mut self) -> Result<ConstraintSetting> {
        let is_peak = self.is_word("peak") && matches!(self.peek(1), Some(Token::Name(_) | Token::Sign('|')));
        self.at += usize::from(is_peak);
        let mut is_magnitude = false;
        let mut sides = vec![self.side(&mut is_magnitude)?];
        let mut relations = Vec::new();
        while let Some(Token::Relation(relation)) = self.peek(0) {
            relations.push(*relation);
            self.at += 1;
            sides.push(self.side(&mut is_magnitude)?);
        }
        let window = self.window()?;
        if self.at < self.tokens.len() {
            return Err(self.wrong("its end is not understood"));
        }
        let (terms, lower, upper) = self.limits(&sides, &relations)?;
        if terms.iter().any(|(_, weight)| *weight == 0.0) && terms.len() == 1 {
            return Err(self.wrong("its terms cancel"));
        }
        let by_magnitude = is_peak || is_magnitude;
        if by_magnitude && (terms.len() != 1 || terms[0].1 != 1.0 || relations.len() != 1) {
            return Err(self.wrong("`peak` and `|..|` go with one output alone"));
        }
        if by_magnitude && (lower != f64::NEG_INFINITY || upper.is_nan()) {
            return Err(self.wrong("a peak can be limited from above only"));
        }
        let lower = if is_magnitude { -upper } else { lower };
        if lower > upper {
            return Err(self.wrong(format!("no value lies between {lower} and {upper}")));
        }
        let of_output = (by_magnitude || window.is_given()).then_some(true);
        Ok(ConstraintSetting { name: self.text.into(), terms, of_output, lower, upper, window, unit: None })
    }

    /// Everything that has a name on the left, everything else on the right.
    fn limits(&self, sides: &[Side], relations: &[Relation]) -> Result<(Terms, f64, f64)> {
        let (mut lower, mut upper) = (f64::NEG_INFINITY, f64::INFINITY);
        let terms = match (sides, relations) {
            ([left, right], [relation]) => {
                let flip = left.terms.is_empty();
                let (left, right) = if flip { (right, left) } else { (left, right) };
                let limit = right.constant - left.constant;
                match (relation, flip) {
                    (Relation::Equal, _) => (lower, upper) = (limit, limit),
                    (Relation::AtMost, false) | (Relation::AtLeast, true) => upper = limit,
                    _ => lower = limit,
                }
                let moved = right.terms.iter().map(|(name, weight)| (name.clone(), -weight));
                let mut terms = Terms::new();
                for (name, weight) in left.terms.iter().cloned().chain(moved) {
                    match terms.iter_mut().find(|(known, _)| *known == name) {
                        Some((_, sum)) => *sum += weight,
                        None => terms.push((name, weight)),
                    }
                }
                terms
            }
            ([first, middle, last], [a, b]) if a == b && *a != Relation::Equal => {
                if !first.terms.is_empty() || !last.terms.is_empty() {
                    return Err(self.wrong("both ends of a range must be numbers"));
                }
                let (low, high) = if *a == Relation::AtMost { (first, last) } else { (last, first) };
                (lower, upper) = (low.constant - middle.constant, high.constant - middle.constant);
                middle.terms.clone()
            }
            ([_], _) => return Err(self.wrong("there is no `=`, `<=` or `>=` in it")),
            _ => return Err(self.wrong("it has more relations than one of a range, such as `1 <= m <= 2`")),
        };
        if terms.is_empty() {
            return Err(self.wrong("it names no parameter and no output"));
        }
        Ok((terms, lower, upper))
    }

    /// Terms with signs between them.
    fn side(&mut self, is_magnitude: &mut bool) -> Result<Side> {
        let mut side = Side::default();
        let mut is_first = true;
        loop {
            let sign = match self.peek(0) {
                Some(Token::Sign(c @ ('+' | '-'))) => Some(if *c == '-' { -1.0 } else { 1.0 }),
                _ => None,
            };
            if sign.is_none() && !is_first {
                return Ok(side);
            }
            self.at += usize::from(sign.is_some());
            is_first = false;
            let sign = sign.unwrap_or(1.0);
            match (self.peek(0).cloned(), self.peek(1).cloned(), self.peek(2).cloned()) {
                (Some(Token::Number(x)), Some(Token::Sign('*')), Some(Token::Name(name))) => {
                    side.terms.push((name, sign * x));
                    self.at += 3;
                }
                (Some(Token::Number(x)), Some(Token::Name(name)), _) if !self.is_window_at(1) => {
                    side.terms.push((name, sign * x));
                    self.at += 2;
                }
                (Some(Token::Number(x)), ..) => {
                    side.constant += sign * x;
                    self.at += 1;
                }
                (Some(Token::Sign('|')), Some(Token::Name(name)), Some(Token::Sign('|'))) => {
                    *is_magnitude = true;
                    side.terms.push((name, sign));
                    self.at += 3;
                }
                (Some(Token::Name(_)), Some(Token::Sign('*')), _) => {
                    return Err(self.wrong("a factor stands before its name, and names are not multiplied"));
                }
                (Some(Token::Name(name)), ..) => {
                    side.terms.push((name, sign));
                    self.at += 1;
                }
                _ => return Err(self.wrong("a number or a name is missing in it")),
            }
        }
    }

    /// True if `at end`, `from NUMBER` or `until NUMBER` begins so many tokens ahead.
    fn is_window_at(&self, ahead: usize) -> bool {
        match (self.peek(ahead), self.peek(ahead + 1)) {
            (Some(Token::Name(at)), Some(Token::Name(end))) => at == "at" && end == "end",
            (Some(Token::Name(word)), Some(Token::Number(_) | Token::Sign('-'))) => word == "from" || word == "until",
            _ => false,
        }
    }

    fn window(&mut self) -> Result<Window> {
        let mut window = Window::default();
        if self.is_word("at") && self.is_window_at(0) {
            self.at += 2;
            window.at_end = true;
            return Ok(window);
        }
        for word in ["from", "until"] {
            if self.is_word(word) {
                self.at += 1;
                let side = self.side(&mut false)?;
                if !side.terms.is_empty() {
                    return Err(self.wrong(format!("`{word}` wants a time in seconds")));
                }
                *(if word == "from" { &mut window.from } else { &mut window.until }) = Some(side.constant);
            }
        }
        Ok(window)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(rule: &str) -> (Vec<(String, f64)>, f64, f64) {
        let setting = ConstraintSetting::parse(rule).unwrap_or_else(|error| panic!("{rule}: {error}"));
        (setting.terms, setting.lower, setting.upper)
    }

    /// Protects the grammar: names go to the left, numbers to the right, whatever side they stand on.
    #[test]
    fn rules_are_read() {
        let terms = |list: &[(&str, f64)]| list.iter().map(|(n, w)| (n.to_string(), *w)).collect::<Vec<_>>();
        let (low, high) = (f64::NEG_INFINITY, f64::INFINITY);
        type Case<'a> = (&'a str, &'a [(&'a str, f64)], f64, f64);
        let cases: [Case<'_>; 12] = [
            ("m_1 + m_2 = 3.5", &[("m_1", 1.0), ("m_2", 1.0)], 3.5, 3.5),
            ("2*m_1-1e-3 m_2 <= 3.5e2", &[("m_1", 2.0), ("m_2", -1e-3)], low, 350.0),
            ("3.5 == m_1 + m_2", &[("m_1", 1.0), ("m_2", 1.0)], 3.5, 3.5),
            ("3 >= a", &[("a", 1.0)], low, 3.0),
            ("m_1 <= m_2", &[("m_1", 1.0), ("m_2", -1.0)], low, 0.0),
            ("m_1 + 1 ≥ 2 m_2 - m_1", &[("m_1", 2.0), ("m_2", -2.0)], -1.0, high),
            ("-3 <= a <= 4", &[("a", 1.0)], -3.0, 4.0),
            ("4 > a > -3", &[("a", 1.0)], -3.0, 4.0),
            ("|a| <= 2", &[("a", 1.0)], -2.0, 2.0),
            ("peak a < 2", &[("a", 1.0)], low, 2.0),
            ("-a <= 2", &[("a", -1.0)], low, 2.0),
            ("`F/N` <= 2", &[("F/N", 1.0)], low, 2.0),
        ];
        for (rule, expected, lower, upper) in cases {
            assert_eq!(parsed(rule), (terms(expected), lower, upper), "{rule}");
        }
        let window = |rule: &str| ConstraintSetting::parse(rule).unwrap().window;
        assert_eq!(window("a = 0 at end"), Window { at_end: true, ..Window::default() });
        assert_eq!(window("peak a <= 1 from 0.5 until 2"), Window { from: Some(0.5), until: Some(2.0), at_end: false });
        assert_eq!(window("a <= 1 until 2"), Window { until: Some(2.0), ..Window::default() });
        assert_eq!(parsed("peak <= 2").0, terms(&[("peak", 1.0)]));
    }

    /// Protects the person who mistypes: each slip is answered by what is wrong, with examples.
    #[test]
    fn slips_are_named() {
        for (rule, part) in [
            ("m_1 + m_2", "no `=`, `<=` or `>=`"),
            ("", "a number or a name is missing"),
            ("m_1 + = 3", "a number or a name is missing"),
            ("m_1 * m_2 = 3", "names are not multiplied"),
            ("m_1 ^ 2 = 3", "`^` has no meaning here"),
            ("1 = 2", "names no parameter"),
            ("1 <= m_1 >= 2", "more relations than one of a range"),
            ("m_1 <= 1 <= m_2", "both ends of a range must be numbers"),
            ("5 <= a <= 4", "no value lies between 5 and 4"),
            ("peak a >= 3", "from above only"),
            ("peak a + b <= 3", "one output alone"),
            ("a <= 3 at noon", "its end is not understood"),
            ("m_1 = m_1", "its terms cancel"),
            ("1.2.3 a <= 3", "`1.2.3` is not a number"),
            ("`a <= 3", "a backquote is not closed"),
            ("a <= 3 from b", "its end is not understood"),
        ] {
            let message = ConstraintSetting::parse(rule).unwrap_err().to_string();
            assert!(message.contains(part), "{rule}: {message}");
        }
    }
}
