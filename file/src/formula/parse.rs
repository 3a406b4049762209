//! The grammar of formulas: `F - (k + k3*x^2)*x - d*x'`.
//!
//! A Pratt parser of our own: the crates that read formulas give no tree that could be evaluated over any number type, or want another licence.

use std::ops::Range;

/// Bytes of a formula, at most.
const LONGEST: usize = 4000;
/// Levels of a formula, at most: whatever goes over one calls itself so often.
const DEEPEST: u16 = 200;

/// The fault of a formula.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Fault {
    /// Bytes of the formula that it is about.
    pub span: Range<usize>,
    pub problem: String,
    pub remedy: String,
}

impl Fault {
    pub fn new(span: &Range<usize>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Fault { span: span.clone(), problem: problem.into(), remedy: remedy.into() }
    }
}

/// A formula, or a part of one.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Expression {
    pub kind: Kind,
    pub span: Range<usize>,
    depth: u16,
}

impl Expression {
    /// The number 0, for what is not read yet.
    pub fn of_nothing() -> Self {
        Expression { kind: Kind::Number(0.0, None), span: 0..0, depth: 1 }
    }
}

#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Kind {
    /// A number, with its unit where it has one.
    Number(f64, Option<String>),
    /// A name with its primes: `x'`.
    Name(String),
    Call(String, Vec<Expression>),
    Negative(Box<Expression>),
    Not(Box<Expression>),
    Binary(Operator, Box<[Expression; 2]>),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Less,
    AtMost,
    Greater,
    AtLeast,
    And,
    Or,
}

impl Operator {
    /// How tightly it binds to the left and to the right.
    fn strengths(self) -> (u8, u8) {
        match self {
            Operator::Or => (1, 2),
            Operator::And => (3, 4),
            Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast => (6, 7),
            Operator::Add | Operator::Subtract => (8, 9),
            Operator::Multiply | Operator::Divide => (10, 11),
            // from the right
            Operator::Power => (15, 14),
        }
    }

    /// True if it makes a condition of numbers.
    pub fn compares(self) -> bool {
        matches!(self, Operator::Less | Operator::AtMost | Operator::Greater | Operator::AtLeast)
    }
}

/// Strength of `not`, and of a sign: `-x^2` is -(x²), `-a*b` is (-a)*b.
const NOT: u8 = 5;
const SIGN: u8 = 13;

#[derive(Debug, Clone, PartialEq)]
enum Token {
    Number(f64, Option<String>),
    Name(String),
    Operator(Operator),
    Not,
    Open,
    Close,
    Comma,
    End,
}

/// Reads a formula.
pub(crate) fn parse(text: &str) -> Result<Expression, Fault> {
    if text.len() > LONGEST {
        let problem = format!("the formula has {} characters, more than {LONGEST}", text.len());
        return Err(Fault::new(&(0..0), problem, "name its parts in [definitions]"));
    }
    let tokens = Lexer { text, at: 0 }.tokens()?;
    let mut parser = Parser { text, tokens, next: 0, open: 0 };
    let all = parser.expression(0)?;
    match parser.peek() {
        (Token::End, _) => Ok(all),
        (Token::Close, span) => Err(Fault::new(span, "this bracket was not opened", "remove it, or open it before")),
        (Token::Comma, span) => {
            Err(Fault::new(span, "a comma stands outside a function", "write numbers with a decimal point: 0.05"))
        }
        (_, span) => {
            let problem = format!("an operator is missing before `{}`", &text[span.clone()]);
            Err(Fault::new(span, problem, "write products with `*`, such as `2*x`"))
        }
    }
}

struct Lexer<'t> {
    text: &'t str,
    at: usize,
}

impl Lexer<'_> {
    fn tokens(mut self) -> Result<Vec<(Token, Range<usize>)>, Fault> {
        let mut tokens = Vec::new();
        loop {
            self.skip(char::is_whitespace);
            let from = self.at;
            let token = self.token()?;
            let is_end = token == Token::End;
            tokens.push((token, from..self.at));
            if is_end {
                return Ok(tokens);
            }
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.at..]
    }

    fn skip(&mut self, mut is_one: impl FnMut(char) -> bool) {
        let rest = self.rest();
        self.at += rest.find(|c| !is_one(c)).unwrap_or(rest.len());
    }

    fn token(&mut self) -> Result<Token, Fault> {
        let from = self.at;
        let Some(first) = self.rest().chars().next() else { return Ok(Token::End) };
        if first.is_ascii_digit() || first == '.' {
            return self.number();
        }
        if first.is_alphabetic() || first == '_' {
            // names of members have points: `imu.x`
            self.skip(|c| c.is_alphanumeric() || c == '_' || c == '.');
            self.skip(|c| c == '\'' || c == '′');
            let name = self.text[from..self.at].replace('′', "'");
            return Ok(match name.as_str() {
                "and" => Token::Operator(Operator::And),
                "or" => Token::Operator(Operator::Or),
                "not" => Token::Not,
                _ => Token::Name(name),
            });
        }
        if first == '`' {
            // names that are none of letters and digits: `rotor torque`
            let rest = &self.text[from + 1..];
            let Some(end) = rest.find('`') else {
                let problem = "a name begins with a backquote, and does not end with one";
                return Err(Fault::new(&(from..self.text.len()), problem, "end it with another backquote"));
            };
            self.at = from + end + 2;
            return Ok(Token::Name(rest[..end].to_string()));
        }
        const SIGNS: [(&str, Token); 18] = [
            ("<=", Token::Operator(Operator::AtMost)),
            (">=", Token::Operator(Operator::AtLeast)),
            ("**", Token::Operator(Operator::Power)),
            ("&&", Token::Operator(Operator::And)),
            ("||", Token::Operator(Operator::Or)),
            ("+", Token::Operator(Operator::Add)),
            ("-", Token::Operator(Operator::Subtract)),
            ("−", Token::Operator(Operator::Subtract)),
            ("*", Token::Operator(Operator::Multiply)),
            ("·", Token::Operator(Operator::Multiply)),
            ("/", Token::Operator(Operator::Divide)),
            ("^", Token::Operator(Operator::Power)),
            ("<", Token::Operator(Operator::Less)),
            (">", Token::Operator(Operator::Greater)),
            ("!", Token::Not),
            ("(", Token::Open),
            (")", Token::Close),
            (",", Token::Comma),
        ];
        let equals = ["==", "!=", "="].into_iter().find(|sign| self.rest().starts_with(sign));
        if let Some(sign) = equals {
            let problem = format!("`{sign}` is no operator here");
            let remedy = "compare numbers with <, <=, > or >=; names for parts of formulas are made in [definitions]";
            return Err(Fault::new(&(from..from + sign.len()), problem, remedy));
        }
        match SIGNS.into_iter().find(|(sign, _)| self.rest().starts_with(sign)) {
            Some((sign, token)) => {
                self.at += sign.len();
                Ok(token)
            }
            None => {
                let span = from..from + first.len_utf8();
                let remedy = "write it with names, numbers, + - * / ^, brackets and functions";
                Err(Fault::new(&span, format!("`{first}` means nothing in a formula"), remedy))
            }
        }
    }

    fn number(&mut self) -> Result<Token, Fault> {
        let from = self.at;
        self.skip(|c| c.is_ascii_digit());
        if self.rest().starts_with('.') {
            self.at += 1;
            self.skip(|c| c.is_ascii_digit());
        }
        let exponent = self.rest().strip_prefix(['e', 'E']);
        let digits = exponent.map(|rest| rest.strip_prefix(['+', '-']).unwrap_or(rest));
        if digits.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit())) {
            self.at += 1;
            self.skip(|c| c == '+' || c == '-');
            self.skip(|c| c.is_ascii_digit());
        }
        let span = from..self.at;
        let written = &self.text[span.clone()];
        let value: f64 = match written.parse() {
            Ok(value) if f64::is_finite(value) => value,
            _ => return Err(Fault::new(&span, format!("`{written}` is no number"), "write one such as 0.05 or 1e-3")),
        };
        let Some(rest) = self.rest().strip_prefix('[') else { return Ok(Token::Number(value, None)) };
        let Some(length) = rest.find(']') else {
            let open = self.at..self.at + 1;
            return Err(Fault::new(
                &open,
                "the unit has no closing bracket",
                "write a number with its unit as 3[rad/s]",
            ));
        };
        let unit = rest[..length].to_string();
        self.at += length + 2;
        Ok(Token::Number(value, Some(unit)))
    }
}

struct Parser<'t> {
    text: &'t str,
    tokens: Vec<(Token, Range<usize>)>,
    next: usize,
    /// Calls of [`Parser::expression`] that are not over.
    open: u16,
}

impl Parser<'_> {
    fn peek(&self) -> (&Token, &Range<usize>) {
        // the last token is the end, which is never passed
        let (token, span) = &self.tokens[self.next.min(self.tokens.len() - 1)];
        (token, span)
    }

    fn take(&mut self) -> (Token, Range<usize>) {
        let (token, span) = self.peek();
        let taken = (token.clone(), span.clone());
        self.next += 1;
        taken
    }

    fn expression(&mut self, strength: u8) -> Result<Expression, Fault> {
        self.open += 1;
        if self.open > DEEPEST {
            return Err(too_deep(self.peek().1));
        }
        let mut left = self.operand()?;
        while let (Token::Operator(operator), span) = self.peek() {
            let (operator, span) = (*operator, span.clone());
            let (before, after) = operator.strengths();
            if before < strength {
                break;
            }
            self.next += 1;
            let right = self.expression(after)?;
            let chained = |side: &Expression| matches!(&side.kind, Kind::Binary(inner, _) if inner.compares());
            if operator.compares() && chained(&left) {
                let remedy = "write `a < b and b < c`";
                return Err(Fault::new(&span, "of three numbers, two are compared at a time", remedy));
            }
            let (whole, depth) = (left.span.start..right.span.end, left.depth.max(right.depth) + 1);
            left = Expression { kind: Kind::Binary(operator, Box::new([left, right])), span: whole, depth };
            if depth > DEEPEST {
                return Err(too_deep(&left.span));
            }
        }
        self.open -= 1;
        Ok(left)
    }

    /// A number, a name, a call, something in brackets or with a sign.
    fn operand(&mut self) -> Result<Expression, Fault> {
        let (token, span) = self.take();
        let signed = |inner: Expression, kind: fn(Box<Expression>) -> Kind| {
            let (span, depth) = (span.start..inner.span.end, inner.depth + 1);
            Expression { kind: kind(Box::new(inner)), span, depth }
        };
        match token {
            Token::Number(value, unit) => Ok(Expression { kind: Kind::Number(value, unit), span, depth: 1 }),
            Token::Operator(Operator::Subtract) => Ok(signed(self.expression(SIGN)?, Kind::Negative)),
            Token::Operator(Operator::Add) => self.expression(SIGN),
            Token::Not => Ok(signed(self.expression(NOT)?, Kind::Not)),
            Token::Open => {
                let inner = self.expression(0)?;
                let close = self.close(&span)?;
                Ok(Expression { span: span.start..close, ..inner })
            }
            Token::Name(name) if *self.peek().0 == Token::Open => {
                self.next += 1;
                let mut arguments = Vec::new();
                if *self.peek().0 != Token::Close {
                    arguments.push(self.expression(0)?);
                    while *self.peek().0 == Token::Comma {
                        self.next += 1;
                        arguments.push(self.expression(0)?);
                    }
                }
                let close = self.close(&span)?;
                let depth = arguments.iter().map(|argument| argument.depth).max().unwrap_or(0) + 1;
                Ok(Expression { kind: Kind::Call(name, arguments), span: span.start..close, depth })
            }
            Token::Name(name) => Ok(Expression { kind: Kind::Name(name), span, depth: 1 }),
            Token::End if self.tokens.len() == 1 => Err(Fault::new(&span, "the formula is empty", "write a formula")),
            Token::End => Err(Fault::new(&span, "the formula ends where a number or a name is missing", "complete it")),
            Token::Operator(_) | Token::Close | Token::Comma => {
                let problem = format!("a number or a name is missing before `{}`", &self.text[span.clone()]);
                Err(Fault::new(&span, problem, "complete the formula"))
            }
        }
    }

    /// End of the closing bracket that belongs to what began at `open`.
    fn close(&mut self, open: &Range<usize>) -> Result<usize, Fault> {
        match self.take() {
            (Token::Close, span) => Ok(span.end),
            (Token::End, _) => Err(Fault::new(open, "a closing bracket is missing", "close it")),
            (_, span) => {
                let problem =
                    format!("an operator or a closing bracket is missing before `{}`", &self.text[span.clone()]);
                Err(Fault::new(&span, problem, "write products with `*`, such as `2*x`"))
            }
        }
    }
}

fn too_deep(span: &Range<usize>) -> Fault {
    let problem = format!("the formula has more than {DEEPEST} operations one in another");
    Fault::new(span, problem, "name its parts in [definitions]")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The formula with all its brackets.
    fn shown(e: &Expression) -> String {
        match &e.kind {
            Kind::Number(value, None) => value.to_string(),
            Kind::Number(value, Some(unit)) => format!("{value}[{unit}]"),
            Kind::Name(name) => name.clone(),
            Kind::Call(name, arguments) => {
                format!("{name}({})", arguments.iter().map(shown).collect::<Vec<_>>().join(", "))
            }
            Kind::Negative(inner) => format!("(-{})", shown(inner)),
            Kind::Not(inner) => format!("(not {})", shown(inner)),
            Kind::Binary(operator, sides) => format!("({} {operator:?} {})", shown(&sides[0]), shown(&sides[1])),
        }
    }

    /// Protects what binds tighter than what, which decides about bits and signs.
    #[test]
    fn operators_bind_as_in_mathematics() {
        for (text, meaning) in [
            ("a - b - c", "((a Subtract b) Subtract c)"),
            ("-x^2", "(-(x Power 2))"),
            ("-a*b", "((-a) Multiply b)"),
            ("2^-x'^2", "(2 Power (-(x' Power 2)))"),
            ("a^b^c", "(a Power (b Power c))"),
            ("a/b*c", "((a Divide b) Multiply c)"),
            (
                "if(x > 0 and not y < 1 or z >= 2[m], -1, f(x''))",
                "if((((x Greater 0) And (not (y Less 1))) Or (z AtLeast 2[m])), (-1), f(x''))",
            ),
            ("1e-3*2.e2 + .5", "((0.001 Multiply 200) Add 0.5)"),
        ] {
            assert_eq!(shown(&parse(text).unwrap()), meaning, "{text}");
        }
    }

    /// Protects the places of faults, in bytes, and the words for slips that everybody makes.
    #[test]
    fn faults_have_places() {
        for (text, place, words) in [
            ("2 x", 2..3, "an operator is missing before `x`"),
            ("(a + b", 0..1, "a closing bracket is missing"),
            ("a + b)", 5..6, "was not opened"),
            ("a + * b", 4..5, "missing before `*`"),
            ("a +", 3..3, "ends where"),
            ("", 0..0, "empty"),
            ("3[m", 1..2, "no closing bracket"),
            ("a == b", 2..4, "no operator here"),
            ("1 < x < 2", 6..7, "two are compared"),
            ("0,5*x", 1..2, "outside a function"),
            ("k * ä?", 6..7, "means nothing"),
            ("f(x y)", 4..5, "missing before `y`"),
            ("1e999", 0..5, "no number"),
        ] {
            let fault = parse(text).unwrap_err();
            assert!(fault.span == place && fault.problem.contains(words), "{text}: {fault:?}");
        }
        let deep = "(".repeat(1000) + "x" + &")".repeat(1000);
        assert!(parse(&deep).unwrap_err().problem.contains("one in another"));
        assert!(parse(&vec!["x"; 1000].join("+")).unwrap_err().problem.contains("one in another"));
        assert!(parse(&"x".repeat(5000)).unwrap_err().problem.contains("characters"));
    }
}
