//! Formulas as a list of steps over any number type: shared parts once, operands read where they lie, no allocation.

use super::graph::{BANKS, Bank, Function, Graph, Node, Pair, Place, of_one, of_two};
use crate::table::Table;
use costate::Number;
use std::collections::HashMap;
use std::sync::Arc;

/// Registers that a run keeps on the stack; longer programs ask for memory.
const ROOMS: [usize; 3] = [8, 32, 128];

/// Where an operand lies: a bank of the model's numbers, or a register.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Operand {
    pub bank: u8,
    pub index: u32,
}

/// The bank of registers.
pub(crate) const REGISTER: u8 = BANKS as u8;

/// Where a result goes: a register, or an entry of what is computed.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Target {
    Register(u32),
    Output(u32),
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Operation {
    Constant(f64),
    Copy(Operand),
    Add(Operand, Operand),
    Subtract(Operand, Operand),
    Multiply(Operand, Operand),
    Divide(Operand, Operand),
    /// x + k, and the like: faster with a plain number, and the same to the last bit.
    AddConstant(Operand, f64),
    SubtractFrom(f64, Operand),
    MultiplyConstant(Operand, f64),
    DivideConstant(Operand, f64),
    DivideInto(f64, Operand),
    Square(Operand),
    WholePower(Operand, i32),
    ConstantPower(Operand, f64),
    Negative(Operand),
    /// Sine to the target, cosine to a register.
    SinCos(Operand, u32),
    Function(Function, Operand),
    Pair(Pair, Operand, Operand),
    /// Which numbers are compared and chosen is said by four operands from this place on.
    Select(bool, u32),
    Table(u32, u8, Operand),
}

#[derive(Debug, Clone, Copy)]
struct Step {
    operation: Operation,
    target: Target,
}

/// Steps that compute some formulas.
#[derive(Debug, Clone, Default)]
pub(crate) struct Program {
    steps: Vec<Step>,
    /// Operands of choices, four each.
    choices: Vec<Operand>,
    registers: usize,
    tables: Vec<Arc<Table>>,
}

/// Numbers of a model, by banks.
pub(crate) type Banks<'a, D> = [&'a [D]; BANKS];

impl Program {
    /// The program that computes these nodes, each for an entry of what is computed.
    pub fn new(graph: &Graph, roots: &[(Place, usize)]) -> Self {
        Scheduler::new(graph, roots).schedule(roots, &|_, index| index)
    }

    /// The program as [`Program::new`] gives it, whose parameters are those alone that it uses; with their places among all.
    pub fn of_own_parameters(graph: &Graph, roots: &[(Place, usize)]) -> (Self, Vec<usize>) {
        let places: Vec<Place> = roots.iter().map(|(place, _)| *place).collect();
        let parameter = |place: Place| match graph.node(place) {
            Node::Variable(Bank::Parameter, index) => Some(index as usize),
            _ => None,
        };
        let mut used: Vec<usize> = graph.below(&places).into_iter().filter_map(parameter).collect();
        used.sort_unstable();
        (Program::of_these_parameters(graph, roots, &used), used)
    }

    /// The program as [`Program::new`] gives it, with these of all parameters, sorted, which must be all that it uses.
    pub fn of_these_parameters(graph: &Graph, roots: &[(Place, usize)], used: &[usize]) -> Self {
        let own = |bank: Bank, index: u32| match bank {
            Bank::Parameter => used.binary_search(&(index as usize)).unwrap_or_default() as u32,
            _ => index,
        };
        Scheduler::new(graph, roots).schedule(roots, &own)
    }

    /// Its steps, in their order.
    pub fn listing(&self) -> impl Iterator<Item = (Operation, Target)> {
        self.steps.iter().map(|step| (step.operation, step.target))
    }

    /// What an operation is of.
    pub fn operands(&self, operation: Operation) -> Vec<Operand> {
        use Operation::*;
        match operation {
            Constant(_) => Vec::new(),
            Add(a, b) | Subtract(a, b) | Multiply(a, b) | Divide(a, b) | Pair(_, a, b) => vec![a, b],
            Select(..) => self.choice(operation).to_vec(),
            Copy(a) | Square(a) | WholePower(a, _) | ConstantPower(a, _) | Negative(a) | SinCos(a, _) => vec![a],
            AddConstant(a, _) | SubtractFrom(_, a) | MultiplyConstant(a, _) | DivideConstant(a, _) => vec![a],
            DivideInto(_, a) | Function(_, a) | Table(_, _, a) => vec![a],
        }
    }

    /// What a choice compares, and what it takes.
    pub fn choice(&self, operation: Operation) -> [Operand; 4] {
        let Operation::Select(_, first) = operation else { return [Operand { bank: REGISTER, index: 0 }; 4] };
        std::array::from_fn(|k| self.choices[first as usize + k])
    }

    /// A table by its number.
    pub fn table(&self, number: u32) -> &Arc<Table> {
        &self.tables[number as usize]
    }

    /// Numbers of steps and registers.
    #[cfg(test)]
    pub fn size(&self) -> (usize, usize) {
        (self.steps.len(), self.registers)
    }

    /// Computes the entries of `out`.
    pub fn run<D: Number>(&self, banks: &Banks<'_, D>, out: &mut [D]) {
        match self.registers {
            count if count <= ROOMS[0] => self.steps(banks, &mut [D::from(0.0); ROOMS[0]], out),
            count if count <= ROOMS[1] => self.steps(banks, &mut [D::from(0.0); ROOMS[1]], out),
            count if count <= ROOMS[2] => self.steps(banks, &mut [D::from(0.0); ROOMS[2]], out),
            count => self.steps(banks, &mut vec![D::from(0.0); count], out),
        }
    }

    #[inline(never)]
    fn steps<D: Number>(&self, banks: &Banks<'_, D>, registers: &mut [D], out: &mut [D]) {
        for Step { operation, target } in &self.steps {
            let value = {
                let get = |operand: Operand| match operand.bank {
                    REGISTER => registers[operand.index as usize],
                    bank => banks[bank as usize][operand.index as usize],
                };
                match *operation {
                    Operation::Constant(k) => D::from(k),
                    Operation::Copy(a) => get(a),
                    Operation::Add(a, b) => get(a) + get(b),
                    Operation::Subtract(a, b) => get(a) - get(b),
                    Operation::Multiply(a, b) => get(a) * get(b),
                    Operation::Divide(a, b) => get(a) / get(b),
                    Operation::AddConstant(a, k) => get(a) + k,
                    Operation::SubtractFrom(k, a) => -get(a) + k,
                    Operation::MultiplyConstant(a, k) => get(a) * k,
                    Operation::DivideConstant(a, k) => get(a) / k,
                    Operation::DivideInto(k, a) => D::from(k) / get(a),
                    Operation::Square(a) => {
                        let a = get(a);
                        a * a
                    }
                    Operation::WholePower(a, n) => get(a).powi(n),
                    Operation::ConstantPower(a, k) => get(a).powf(k),
                    Operation::Negative(a) => -get(a),
                    Operation::SinCos(a, cosine) => {
                        let (sin, cos) = get(a).sin_cos();
                        registers[cosine as usize] = cos;
                        sin
                    }
                    Operation::Function(function, a) => of_one(function, get(a)),
                    Operation::Pair(pair, a, b) => of_two(pair, get(a), get(b)),
                    Operation::Select(or_equal, first) => {
                        let [a, b, x, y] = std::array::from_fn(|k| get(self.choices[first as usize + k]));
                        D::select(if or_equal { a.at_most(b) } else { a.less(b) }, x, y)
                    }
                    Operation::Table(table, order, a) => self.tables[table as usize].derivative(order, get(a)),
                }
            };
            match target {
                Target::Register(to) => registers[*to as usize] = value,
                Target::Output(to) => out[*to as usize] = value,
            }
        }
    }
}

/// Assigns registers to nodes in the order of the graph; a register is free again behind the last use of what is in it.
struct Scheduler<'g> {
    graph: &'g Graph,
    program: Program,
    order: Vec<Place>,
    /// Uses of each node that are to come, by outputs, too.
    uses: HashMap<Place, usize>,
    operands: HashMap<Place, Operand>,
    free: Vec<u32>,
}

impl<'g> Scheduler<'g> {
    fn new(graph: &'g Graph, roots: &[(Place, usize)]) -> Self {
        let places: Vec<Place> = roots.iter().map(|(place, _)| *place).collect();
        let order = graph.below(&places);
        let mut uses: HashMap<Place, usize> = HashMap::new();
        let operands = order.iter().flat_map(|place| graph.node(*place).operands());
        operands.chain(places.iter().copied()).for_each(|place| *uses.entry(place).or_default() += 1);
        let program = Program { tables: graph.tables.clone(), ..Program::default() };
        Scheduler { graph, program, order, uses, operands: HashMap::new(), free: Vec::new() }
    }

    /// `index_of` says where in its bank a variable lies.
    fn schedule(mut self, roots: &[(Place, usize)], index_of: &dyn Fn(Bank, u32) -> u32) -> Program {
        let mut outputs: HashMap<Place, Vec<usize>> = HashMap::new();
        roots.iter().for_each(|(place, to)| outputs.entry(*place).or_default().push(*to));
        for place in std::mem::take(&mut self.order) {
            let to = outputs.remove(&place).unwrap_or_default();
            match self.graph.node(place) {
                Node::Variable(bank, index) => {
                    self.operands.insert(place, Operand { bank: bank as u8, index: index_of(bank, index) });
                }
                // only what wants a number in a register makes one of a constant
                Node::Constant(bits) => {
                    for to in to {
                        self.push(Operation::Constant(f64::from_bits(bits)), Target::Output(to as u32));
                    }
                    continue;
                }
                node => self.step(place, node, &to),
            }
            let Some(own) = self.operands.get(&place).copied() else { continue };
            for to in to {
                self.push(Operation::Copy(own), Target::Output(to as u32));
                self.used(place);
            }
        }
        self.program
    }

    fn push(&mut self, operation: Operation, target: Target) {
        self.program.steps.push(Step { operation, target });
    }

    fn register(&mut self) -> u32 {
        self.free.pop().unwrap_or_else(|| {
            self.program.registers += 1;
            self.program.registers as u32 - 1
        })
    }

    /// Takes note that a node has been used once.
    fn used(&mut self, place: Place) {
        let Some(uses) = self.uses.get_mut(&place) else { return };
        *uses -= 1;
        if let (0, Some(Operand { bank: REGISTER, index })) = (*uses, self.operands.get(&place)) {
            self.free.push(*index);
        }
    }

    /// The operand of a node; a constant is put into a register.
    fn operand(&mut self, place: Place) -> Operand {
        if let Some(operand) = self.operands.get(&place) {
            return *operand;
        }
        let register = self.register();
        let value = self.graph.constant_of(place).unwrap_or(f64::NAN);
        self.push(Operation::Constant(value), Target::Register(register));
        let operand = Operand { bank: REGISTER, index: register };
        self.operands.insert(place, operand);
        operand
    }

    /// A step for a node, straight into an entry of what is computed where nothing else wants it.
    fn step(&mut self, place: Place, node: Node, to: &[usize]) {
        // the cosine of a sine, or the sine of a cosine, has come with it
        if self.operands.contains_key(&place) {
            node.operands().for_each(|operand| self.used(operand));
            return;
        }
        let operation = self.operation(node);
        node.operands().for_each(|operand| self.used(operand));
        if let ([only], Some(1)) = (to, self.uses.get(&place))
            && !matches!(operation, Operation::SinCos(..))
        {
            return self.push(operation, Target::Output(*only as u32));
        }
        let register = self.register();
        let own = Operand { bank: REGISTER, index: register };
        match (operation, node) {
            (Operation::SinCos(a, cosine), Node::Function(function, angle)) => {
                let partner = self.partner(function, angle).unwrap_or(place);
                let other = Operand { bank: REGISTER, index: cosine };
                let (sine, cosine) = if function == Function::Sin { (place, partner) } else { (partner, place) };
                self.operands.insert(sine, own);
                self.operands.insert(cosine, other);
                self.push(Operation::SinCos(a, other.index), Target::Register(register));
            }
            _ => {
                self.operands.insert(place, own);
                self.push(operation, Target::Register(register));
            }
        }
    }

    /// The cosine beside a sine, or the sine beside a cosine, if it is wanted, too.
    fn partner(&self, function: Function, angle: Place) -> Option<Place> {
        let other = match function {
            Function::Sin => Function::Cos,
            Function::Cos => Function::Sin,
            _ => return None,
        };
        let place = self.graph.place_of(Node::Function(other, angle))?;
        (self.uses.contains_key(&place) && !self.operands.contains_key(&place)).then_some(place)
    }

    fn operation(&mut self, node: Node) -> Operation {
        let constant = |place: Place| self.graph.constant_of(place);
        match node {
            Node::Constant(bits) => Operation::Constant(f64::from_bits(bits)),
            Node::Variable(bank, index) => Operation::Copy(Operand { bank: bank as u8, index }),
            Node::Function(Function::Negative, a) => Operation::Negative(self.operand(a)),
            Node::Function(function, a) => match self.partner(function, a) {
                Some(_) => {
                    let a = self.operand(a);
                    Operation::SinCos(a, self.register())
                }
                None => Operation::Function(function, self.operand(a)),
            },
            Node::WholePower(a, 2) => Operation::Square(self.operand(a)),
            Node::WholePower(a, n) => Operation::WholePower(self.operand(a), n),
            Node::Pair(pair, a, b) => match (pair, constant(a), constant(b)) {
                (Pair::Add, _, Some(k)) => Operation::AddConstant(self.operand(a), k),
                (Pair::Add, Some(k), _) => Operation::AddConstant(self.operand(b), k),
                (Pair::Subtract, _, Some(k)) => Operation::AddConstant(self.operand(a), -k),
                (Pair::Subtract, Some(k), _) => Operation::SubtractFrom(k, self.operand(b)),
                (Pair::Multiply, _, Some(k)) => Operation::MultiplyConstant(self.operand(a), k),
                (Pair::Multiply, Some(k), _) => Operation::MultiplyConstant(self.operand(b), k),
                (Pair::Divide, _, Some(k)) => Operation::DivideConstant(self.operand(a), k),
                (Pair::Divide, Some(k), _) => Operation::DivideInto(k, self.operand(b)),
                (Pair::Power, _, Some(k)) => Operation::ConstantPower(self.operand(a), k),
                (Pair::Add, ..) => Operation::Add(self.operand(a), self.operand(b)),
                (Pair::Subtract, ..) => Operation::Subtract(self.operand(a), self.operand(b)),
                (Pair::Multiply, ..) => Operation::Multiply(self.operand(a), self.operand(b)),
                (Pair::Divide, ..) => Operation::Divide(self.operand(a), self.operand(b)),
                (pair, ..) => Operation::Pair(pair, self.operand(a), self.operand(b)),
            },
            Node::Select { or_equal, than: [a, b], of: [x, y] } => {
                let all = [a, b, x, y].map(|place| self.operand(place));
                let first = self.program.choices.len() as u32;
                self.program.choices.extend(all);
                Operation::Select(or_equal, first)
            }
            Node::Table { table, order, at } => Operation::Table(table, order, self.operand(at)),
        }
    }
}

/// The banks of a model's numbers, all empty but these.
pub(crate) fn banks<'a, D>(of: &[(Bank, &'a [D])]) -> Banks<'a, D> {
    let mut all: Banks<'a, D> = [&[]; BANKS];
    of.iter().for_each(|(bank, numbers)| all[*bank as usize] = numbers);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects registers: whatever is shared, overwritten or constant, a program gives what the formula says; and there are few of them.
    #[test]
    #[allow(clippy::float_cmp)]
    fn programs_give_what_formulas_say() {
        let mut graph = Graph::default();
        let q = |graph: &mut Graph, k| graph.variable(Bank::Position, k).unwrap();
        let (x, y) = (q(&mut graph, 0), q(&mut graph, 1));
        let (sin, cos) = (graph.function(Function::Sin, x).unwrap(), graph.function(Function::Cos, x).unwrap());
        let two = graph.constant(2.0).unwrap();
        let sum = graph.pair(Pair::Add, sin, y).unwrap();
        let product = graph.pair(Pair::Multiply, sum, cos).unwrap();
        let quotient = graph.pair(Pair::Divide, two, product).unwrap();
        let chosen = graph.select(false, [x, two], [product, two]).unwrap();
        let roots = [(quotient, 0), (product, 1), (product, 2), (two, 3), (x, 4), (chosen, 5), (cos, 6), (sin, 7)];
        let program = Program::new(&graph, &roots);
        assert!(program.size().1 <= 5, "{program:?}");
        for [x, y] in [[0.3, 0.7], [3.0, -1.0]] {
            let mut out = [f64::NAN; 8];
            program.run(&banks(&[(Bank::Position, &[x, y])]), &mut out);
            let product = (x.sin() + y) * x.cos();
            let chosen = if x < 2.0 { product } else { 2.0 };
            assert_eq!(out, [2.0 / product, product, product, 2.0, x, chosen, x.cos(), x.sin()]);
        }
    }

    /// Protects derivatives of graphs, which energies stand on: all functions, against those of dual numbers.
    #[test]
    fn derivatives_are_those_of_dual_numbers() {
        use Function::*;
        let functions = [
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
            SphericalBessel(0),
            SphericalBessel(1),
            SphericalBessel(2),
        ];
        // (there is no remainder of these numbers)
        let pairs =
            [Pair::Add, Pair::Subtract, Pair::Multiply, Pair::Divide, Pair::Power, Pair::Atan2, Pair::Min, Pair::Max];
        let mut graph = Graph::default();
        let points: Vec<f64> = (0..6).map(|k| f64::from(k) * 0.3).collect();
        let table =
            Table::new(&points, &points.iter().map(|x| x.exp()).collect::<Vec<_>>(), costate::Interpolation::Cubic);
        graph.tables.push(Arc::new(table.unwrap()));
        let [x, y] = [0, 1].map(|k| graph.variable(Bank::Position, k).unwrap());
        let product = graph.pair(Pair::Multiply, x, y).unwrap();
        let square = graph.pair(Pair::Multiply, product, x).unwrap();
        let mut nodes: Vec<Place> = functions.into_iter().map(|f| graph.function(f, square).unwrap()).collect();
        nodes.extend(pairs.into_iter().map(|pair| graph.pair(pair, square, y).unwrap()));
        let above = graph.constant(2.5).unwrap();
        let shifted = graph.pair(Pair::Add, square, above).unwrap();
        nodes.push(graph.function(Acosh, shifted).unwrap());
        nodes.push(graph.table(0, 0, square).unwrap());
        nodes.push(graph.select(false, [x, y], [square, product]).unwrap());
        for n in [-2.0, 3.0, 1.5] {
            let n = graph.constant(n).unwrap();
            nodes.push(graph.pair(Pair::Power, square, n).unwrap());
        }
        for node in nodes {
            let slopes = [0, 1].map(|k| graph.derivative(node, Bank::Position, k).unwrap());
            let program = Program::new(&graph, &[(node, 0), (slopes[0], 1), (slopes[1], 2)]);
            for point in [[0.6, 0.7], [0.9, 0.8]] {
                let own: [f64; 3] = {
                    let mut out = [f64::NAN; 3];
                    program.run(&banks(&[(Bank::Position, &point)]), &mut out);
                    out
                };
                for k in 0..2 {
                    let mut dual = point.map(num_dual::Dual64::from);
                    dual[k].eps = 1.0;
                    let mut out = [num_dual::Dual64::from(f64::NAN); 3];
                    program.run(&banks(&[(Bank::Position, &dual)]), &mut out);
                    let (slope, error) = (out[0].eps, (own[k + 1] - out[0].eps).abs());
                    assert!(
                        error <= 1e-13 * slope.abs().max(1.0),
                        "{:?} by {k}: {slope}, {}",
                        graph.node(node),
                        own[k + 1]
                    );
                }
            }
        }
    }
}
