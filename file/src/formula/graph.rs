//! Formulas as one graph without repetitions: what stands twice is there once, and constants are folded.

use crate::table::Table;
use costate::Number;
use std::collections::HashMap;
use std::sync::Arc;

/// Nodes of a file, at most.
const MOST: usize = 100_000;

/// What the values of a formula are taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[repr(u8)]
pub(crate) enum Bank {
    Time,
    Position,
    /// Velocities, then states.
    Velocity,
    /// Accelerations, then rates of states.
    Acceleration,
    /// Those of the scheme.
    SchemeAcceleration,
    Multiplier,
    Input,
    Parameter,
}

/// Number of banks.
pub(crate) const BANKS: usize = 8;

impl Bank {
    pub const ALL: [Bank; BANKS] = [
        Bank::Time,
        Bank::Position,
        Bank::Velocity,
        Bank::Acceleration,
        Bank::SchemeAcceleration,
        Bank::Multiplier,
        Bank::Input,
        Bank::Parameter,
    ];

    /// The bit of a bank in a set of them.
    pub fn bit(self) -> u8 {
        1 << self as u8
    }
}

/// A function of one number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Function {
    Negative,
    Sin,
    Cos,
    Tan,
    Asin,
    Acos,
    Atan,
    Sinh,
    Cosh,
    Tanh,
    Asinh,
    Acosh,
    Atanh,
    Exp,
    ExpM1,
    Ln,
    Ln1p,
    Log2,
    Log10,
    Sqrt,
    Cbrt,
    Abs,
    /// By its order.
    SphericalBessel(u8),
}

/// A function of two numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Pair {
    Add,
    Subtract,
    Multiply,
    Divide,
    Power,
    Atan2,
    Remainder,
    Min,
    Max,
}

/// A node by its place in the graph; operands lie before what is made of them.
pub(crate) type Place = u32;

/// An operation; numbers by their bits, so that equal ones are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Node {
    Constant(u64),
    Variable(Bank, u32),
    Function(Function, Place),
    WholePower(Place, i32),
    Pair(Pair, Place, Place),
    /// The third where the first is below the second (or equal to it, if so asked), else the fourth.
    Select {
        or_equal: bool,
        than: [Place; 2],
        of: [Place; 2],
    },
    /// The derivative of this order of a table.
    Table {
        table: u32,
        order: u8,
        at: Place,
    },
}

impl Node {
    /// The nodes that it is made of.
    pub fn operands(&self) -> impl Iterator<Item = Place> + use<> {
        let (all, count) = match *self {
            Node::Constant(_) | Node::Variable(..) => ([0; 4], 0),
            Node::Function(_, a) | Node::WholePower(a, _) | Node::Table { at: a, .. } => ([a, 0, 0, 0], 1),
            Node::Pair(_, a, b) => ([a, b, 0, 0], 2),
            Node::Select { than: [a, b], of: [x, y], .. } => ([a, b, x, y], 4),
        };
        all.into_iter().take(count)
    }
}

/// All formulas of a file.
#[derive(Debug, Default)]
pub(crate) struct Graph {
    nodes: Vec<Node>,
    /// Banks that a node depends on.
    banks: Vec<u8>,
    places: HashMap<Node, Place>,
    pub tables: Vec<Arc<Table>>,
}

/// A graph with more nodes than are allowed.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TooLarge;

impl Graph {
    /// Number of nodes.
    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn node(&self, place: Place) -> Node {
        self.nodes[place as usize]
    }

    /// The place of a node, if it is there.
    pub fn place_of(&self, node: Node) -> Option<Place> {
        self.places.get(&node).copied()
    }

    /// Banks that a node depends on, as bits.
    pub fn banks(&self, place: Place) -> u8 {
        self.banks[place as usize]
    }

    /// The value of a node that is a constant.
    pub fn constant_of(&self, place: Place) -> Option<f64> {
        match self.node(place) {
            Node::Constant(bits) => Some(f64::from_bits(bits)),
            _ => None,
        }
    }

    fn add(&mut self, node: Node) -> Result<Place, TooLarge> {
        if let Some(place) = self.places.get(&node) {
            return Ok(*place);
        }
        if self.nodes.len() >= MOST {
            return Err(TooLarge);
        }
        let place = self.nodes.len() as Place;
        let of_operands = node.operands().fold(0, |all, operand| all | self.banks(operand));
        let own = if let Node::Variable(bank, _) = node { bank.bit() } else { 0 };
        self.nodes.push(node);
        self.banks.push(of_operands | own);
        self.places.insert(node, place);
        Ok(place)
    }

    pub fn constant(&mut self, value: f64) -> Result<Place, TooLarge> {
        self.add(Node::Constant(value.to_bits()))
    }

    pub fn variable(&mut self, bank: Bank, index: usize) -> Result<Place, TooLarge> {
        self.add(Node::Variable(bank, index as u32))
    }

    pub fn function(&mut self, function: Function, a: Place) -> Result<Place, TooLarge> {
        match self.constant_of(a) {
            Some(a) => self.constant(of_one(function, a)),
            None => self.add(Node::Function(function, a)),
        }
    }

    pub fn pair(&mut self, pair: Pair, a: Place, b: Place) -> Result<Place, TooLarge> {
        match (pair, self.constant_of(a), self.constant_of(b)) {
            (_, Some(a), Some(b)) => self.constant(of_two(pair, a, b)),
            // as in a program: products for whole powers
            (Pair::Power, None, Some(n)) if n.fract() == 0.0 && n.abs() <= 100.0 => match n as i32 {
                0 => self.constant(1.0),
                1 => Ok(a),
                n => self.add(Node::WholePower(a, n)),
            },
            _ => self.add(Node::Pair(pair, a, b)),
        }
    }

    pub fn select(&mut self, or_equal: bool, than: [Place; 2], of: [Place; 2]) -> Result<Place, TooLarge> {
        if of[0] == of[1] {
            return Ok(of[0]);
        }
        match than.map(|place| self.constant_of(place)) {
            [Some(a), Some(b)] => Ok(of[usize::from(!(a < b || or_equal && a == b))]),
            _ => self.add(Node::Select { or_equal, than, of }),
        }
    }

    pub fn table(&mut self, table: usize, order: u8, at: Place) -> Result<Place, TooLarge> {
        match self.constant_of(at) {
            Some(at) => self.constant(self.tables[table].derivative(order, at)),
            None => self.add(Node::Table { table: table as u32, order, at }),
        }
    }

    // What follows is for derivatives alone: zeros and ones vanish, which they do not in formulas that somebody has written (0 times
    // infinity is not 0 there).

    fn is(&self, place: Place, value: f64) -> bool {
        self.constant_of(place) == Some(value)
    }

    pub fn sum(&mut self, a: Place, b: Place) -> Result<Place, TooLarge> {
        match (self.is(a, 0.0), self.is(b, 0.0)) {
            (true, _) => Ok(b),
            (_, true) => Ok(a),
            _ => self.pair(Pair::Add, a, b),
        }
    }

    pub fn difference(&mut self, a: Place, b: Place) -> Result<Place, TooLarge> {
        match (self.is(a, 0.0), self.is(b, 0.0)) {
            (_, true) => Ok(a),
            (true, _) => self.function(Function::Negative, b),
            _ => self.pair(Pair::Subtract, a, b),
        }
    }

    pub fn product(&mut self, a: Place, b: Place) -> Result<Place, TooLarge> {
        if self.is(a, 0.0) || self.is(b, 0.0) {
            return self.constant(0.0);
        }
        match (self.is(a, 1.0), self.is(b, 1.0)) {
            (true, _) => Ok(b),
            (_, true) => Ok(a),
            // factors that are constant meet: 2 (x/2)
            _ => match (self.constant_of(a), self.node(b)) {
                (Some(factor), Node::Pair(Pair::Multiply, x, k)) if self.constant_of(k).is_some() => {
                    let k = self.constant_of(k).unwrap_or(1.0);
                    let k = self.constant(factor * k)?;
                    self.product(x, k)
                }
                (Some(_), _) => self.pair(Pair::Multiply, b, a),
                _ => self.pair(Pair::Multiply, a, b),
            },
        }
    }

    /// The derivative of a node by a variable, as nodes of their own.
    pub fn derivative(&mut self, place: Place, bank: Bank, index: usize) -> Result<Place, TooLarge> {
        let zero = self.constant(0.0)?;
        let variable = self.variable(bank, index)?;
        let mut slopes: HashMap<Place, Place> = HashMap::from([(variable, self.constant(1.0)?)]);
        for own in self.below(&[place]) {
            if self.banks(own) & bank.bit() == 0 || slopes.contains_key(&own) {
                continue;
            }
            let slope_of = |operand: Place| slopes.get(&operand).copied().unwrap_or(zero);
            let node = self.node(own);
            if node.operands().all(|operand| slope_of(operand) == zero) {
                continue;
            }
            let slope = match node {
                Node::Constant(_) | Node::Variable(..) => zero,
                Node::Function(function, a) => {
                    let inner = slope_of(a);
                    self.chain(function, own, a, inner)?
                }
                Node::WholePower(a, n) => {
                    let inner = slope_of(a);
                    let exponent = self.constant(f64::from(n - 1))?;
                    let power = self.pair(Pair::Power, a, exponent)?;
                    let factor = self.constant(f64::from(n))?;
                    let outer = self.product(factor, power)?;
                    self.product(outer, inner)?
                }
                Node::Pair(pair, a, b) => {
                    let inner = [slope_of(a), slope_of(b)];
                    self.chain_of_two((pair, own), [a, b], inner)?
                }
                Node::Select { or_equal, than, of } => {
                    let of = of.map(slope_of);
                    self.select(or_equal, than, of)?
                }
                Node::Table { table, order, at } => {
                    let inner = slope_of(at);
                    let outer = self.table(table as usize, order + 1, at)?;
                    self.product(outer, inner)?
                }
            };
            slopes.insert(own, slope);
        }
        Ok(slopes.get(&place).copied().unwrap_or(zero))
    }

    fn chain(&mut self, function: Function, own: Place, a: Place, inner: Place) -> Result<Place, TooLarge> {
        let one = self.constant(1.0)?;
        let square = |graph: &mut Self, x: Place| graph.add(Node::WholePower(x, 2));
        let over = |graph: &mut Self, x: Place| graph.pair(Pair::Divide, inner, x);
        let outer = match function {
            Function::Negative => return self.function(Function::Negative, inner),
            Function::Sin => self.function(Function::Cos, a)?,
            Function::Cos => {
                let sin = self.function(Function::Sin, a)?;
                self.function(Function::Negative, sin)?
            }
            Function::Tan => {
                let square = square(self, own)?;
                self.sum(square, one)?
            }
            Function::Asin | Function::Acos => {
                let square = square(self, a)?;
                let rest = self.difference(one, square)?;
                let root = self.function(Function::Sqrt, rest)?;
                let slope = over(self, root)?;
                return if function == Function::Asin { Ok(slope) } else { self.function(Function::Negative, slope) };
            }
            Function::Atan | Function::Asinh | Function::Acosh | Function::Atanh => {
                let square = square(self, a)?;
                let below = match function {
                    Function::Acosh => self.difference(square, one)?,
                    Function::Atanh => self.difference(one, square)?,
                    _ => self.sum(square, one)?,
                };
                let is_root = matches!(function, Function::Asinh | Function::Acosh);
                let below = if is_root { self.function(Function::Sqrt, below)? } else { below };
                return over(self, below);
            }
            Function::Sinh => self.function(Function::Cosh, a)?,
            Function::Cosh => self.function(Function::Sinh, a)?,
            Function::Tanh => {
                let square = square(self, own)?;
                self.difference(one, square)?
            }
            Function::Exp => own,
            Function::ExpM1 => self.sum(own, one)?,
            Function::Ln => return over(self, a),
            Function::Ln1p => {
                let below = self.sum(a, one)?;
                return over(self, below);
            }
            Function::Log2 | Function::Log10 => {
                let base: f64 = if function == Function::Log2 { 2.0 } else { 10.0 };
                let factor = self.constant(base.ln())?;
                let below = self.product(factor, a)?;
                return over(self, below);
            }
            Function::Sqrt => {
                let two = self.constant(2.0)?;
                let below = self.product(two, own)?;
                return over(self, below);
            }
            Function::Cbrt => {
                let (square, three) = (square(self, own)?, self.constant(3.0)?);
                let below = self.product(three, square)?;
                return over(self, below);
            }
            // (n jₙ₋₁ - (n + 1) jₙ₊₁) / (2n + 1), which has no division by zero at zero
            Function::SphericalBessel(order) => {
                let n = f64::from(order);
                let [below, above] = [order.saturating_sub(1), order.saturating_add(1)];
                let below = self.function(Function::SphericalBessel(below), a)?;
                let above = self.function(Function::SphericalBessel(above), a)?;
                let [left, right] = [n, n + 1.0].map(|factor| self.constant(factor / (2.0 * n + 1.0)));
                let (left, right) = (self.product(left?, below)?, self.product(right?, above)?);
                self.difference(left, right)?
            }
            Function::Abs => {
                let (zero, minus) = (self.constant(0.0)?, self.constant(-1.0)?);
                self.select(false, [a, zero], [minus, one])?
            }
        };
        self.product(outer, inner)
    }

    fn chain_of_two(
        &mut self,
        (pair, own): (Pair, Place),
        [a, b]: [Place; 2],
        [da, db]: [Place; 2],
    ) -> Result<Place, TooLarge> {
        match pair {
            Pair::Add => self.sum(da, db),
            Pair::Subtract => self.difference(da, db),
            Pair::Multiply => {
                let (left, right) = (self.product(da, b)?, self.product(a, db)?);
                self.sum(left, right)
            }
            Pair::Divide => {
                let back = self.product(own, db)?;
                let above = self.difference(da, back)?;
                match self.is(above, 0.0) {
                    true => Ok(above),
                    false => self.pair(Pair::Divide, above, b),
                }
            }
            Pair::Power => {
                let one = self.constant(1.0)?;
                let exponent = self.difference(b, one)?;
                let power = self.pair(Pair::Power, a, exponent)?;
                let by_base = self.product(b, power)?;
                let left = self.product(by_base, da)?;
                if self.is(db, 0.0) {
                    return Ok(left);
                }
                let logarithm = self.function(Function::Ln, a)?;
                let by_exponent = self.product(own, logarithm)?;
                let right = self.product(by_exponent, db)?;
                self.sum(left, right)
            }
            Pair::Atan2 => {
                let (left, right) = (self.product(b, da)?, self.product(a, db)?);
                let above = self.difference(left, right)?;
                let squares = [a, b].map(|x| self.pair(Pair::Multiply, x, x));
                let [x, y] = squares;
                let below = self.sum(x?, y?)?;
                self.pair(Pair::Divide, above, below)
            }
            // within a period
            Pair::Remainder => {
                let whole = self.difference(a, own)?;
                let periods = self.pair(Pair::Divide, whole, b)?;
                let back = self.product(periods, db)?;
                self.difference(da, back)
            }
            Pair::Min => self.select(true, [a, b], [da, db]),
            Pair::Max => self.select(true, [b, a], [da, db]),
        }
    }

    /// True for what is made of numbers by + - * / alone. Only of such a node, a derivative that is constant says that it is a straight line: those of
    /// `step`, `sign`, `mod` and `if` are constant, too.
    pub fn is_rational(&self, place: Place) -> bool {
        self.below(&[place]).into_iter().all(|own| match self.node(own) {
            Node::Constant(_) | Node::Variable(..) | Node::Function(Function::Negative, _) => true,
            Node::Pair(pair, ..) => matches!(pair, Pair::Add | Pair::Subtract | Pair::Multiply | Pair::Divide),
            _ => false,
        })
    }

    /// All nodes that these are made of, and these, operands first.
    pub fn below(&self, roots: &[Place]) -> Vec<Place> {
        let Some(last) = roots.iter().max() else { return Vec::new() };
        let mut is_needed = vec![false; *last as usize + 1];
        roots.iter().for_each(|root| is_needed[*root as usize] = true);
        for place in (0..=*last).rev() {
            if is_needed[place as usize] {
                self.node(place).operands().for_each(|operand| is_needed[operand as usize] = true);
            }
        }
        (0..=*last).filter(|place| is_needed[*place as usize]).collect()
    }
}

/// A function of any number.
#[inline]
pub(crate) fn of_one<D: Number>(function: Function, x: D) -> D {
    match function {
        Function::Negative => -x,
        Function::Sin => x.sin(),
        Function::Cos => x.cos(),
        Function::Tan => x.tan(),
        Function::Asin => x.asin(),
        Function::Acos => x.acos(),
        Function::Atan => x.atan(),
        Function::Sinh => x.sinh(),
        Function::Cosh => x.cosh(),
        Function::Tanh => x.tanh(),
        Function::Asinh => x.asinh(),
        Function::Acosh => x.acosh(),
        Function::Atanh => x.atanh(),
        Function::Exp => x.exp(),
        Function::ExpM1 => x.exp_m1(),
        Function::Ln => x.ln(),
        Function::Ln1p => x.ln_1p(),
        Function::Log2 => x.log2(),
        Function::Log10 => x.log10(),
        Function::Sqrt => x.sqrt(),
        Function::Cbrt => x.cbrt(),
        Function::Abs => x.abs(),
        Function::SphericalBessel(order) => x.spherical_bessel(order),
    }
}

/// A function of any two numbers.
#[inline]
pub(crate) fn of_two<D: Number>(pair: Pair, a: D, b: D) -> D {
    match pair {
        Pair::Add => a + b,
        Pair::Subtract => a - b,
        Pair::Multiply => a * b,
        Pair::Divide => a / b,
        Pair::Power => a.powd(b),
        Pair::Atan2 => a.atan2(b),
        Pair::Remainder => a % b,
        Pair::Min => Number::min(a, b),
        Pair::Max => Number::max(a, b),
    }
}
