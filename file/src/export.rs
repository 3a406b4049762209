//! A plain model of a file as Rust: the way on, where a file is not enough.

use crate::formula::graph::{BANKS, Bank, Function, Pair};
use crate::formula::program::{Operand, Operation, Program, REGISTER, Target};
use crate::model::FileModel;
use crate::table::Table;
use costate::{Parameter, Quantity, Scale, Signature};
use std::collections::{BTreeSet, HashMap};
use std::fmt::Write;
use std::sync::Arc;

/// Words that are no names in Rust, and names that the functions have themselves.
const TAKEN: [&str; 60] = [
    "as", "async", "await", "break", "const", "continue", "crate", "dyn", "else", "enum", "extern", "false", "fn",
    "for", "gen", "if", "impl", "in", "let", "loop", "match", "mod", "move", "mut", "pub", "ref", "return", "self",
    "Self", "static", "struct", "super", "trait", "true", "type", "unsafe", "use", "where", "while", "abstract",
    "become", "box", "do", "final", "macro", "override", "priv", "try", "typeof", "unsized", "virtual", "yield", "t",
    "D", "mass", "out", "force", "rates", "rows", "state",
];

/// Names of the values of each bank, as Rust takes them.
struct Names([Vec<String>; BANKS]);

impl Names {
    fn of(signature: &Signature) -> Self {
        let mut used: BTreeSet<String> = TAKEN.iter().map(|name| name.to_string()).collect();
        let mut free = |name: String| {
            let plain: String = name.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '_' }).collect();
            let mut own = plain.clone();
            // `part_1` is a part of a formula, `table_1` a function
            let is_part = |name: &str| {
                let number = name.strip_prefix("part_").or(name.strip_prefix("table_"));
                number.is_some_and(|rest| rest.parse::<u32>().is_ok())
            };
            let mut k = 1;
            while own.chars().all(|c| c == '_') || is_part(&own) || !used.insert(own.clone()) {
                k += 1;
                own = format!("{plain}_{k}");
            }
            own
        };
        let mut named = |end: &str, from: &mut dyn Iterator<Item = &String>| {
            from.map(|name| free(format!("{name}{end}"))).collect()
        };
        let unknowns = || signature.unknowns().map(|own| &own.name);
        let is_coordinate = |name: &String| signature.coordinates.iter().any(|own| own.name == *name);
        let velocities: Vec<String> =
            unknowns().map(|name| if is_coordinate(name) { format!("{name}_rate") } else { name.clone() }).collect();
        Names([
            vec!["t".to_string()],
            named("", &mut signature.coordinates.iter().map(|own| &own.name)),
            named("", &mut velocities.iter()),
            named("_acceleration", &mut unknowns()),
            named("_of_scheme", &mut unknowns()),
            named("_multiplier", &mut signature.constraints.iter().map(|own| &own.name)),
            named("", &mut signature.inputs.iter().map(|own| &own.name)),
            named("", &mut signature.parameters.iter().map(|own| &own.name)),
        ])
    }
}

/// Tables that formulas read, and their derivatives, in the order in which they are met.
#[derive(Default)]
struct Tables(Vec<(Arc<Table>, u8)>);

impl Tables {
    /// The name of the function that reads one.
    fn name(&mut self, table: &Arc<Table>, order: u8) -> String {
        let is_it = |(own, own_order): &(Arc<Table>, u8)| Arc::ptr_eq(own, table) && *own_order == order;
        let k = self.0.iter().position(is_it).unwrap_or_else(|| {
            self.0.push((table.clone(), order));
            self.0.len() - 1
        });
        format!("table_{}", k + 1)
    }

    /// The functions as Rust.
    fn functions(&self) -> String {
        let mut text = String::new();
        for (k, (table, order)) in self.0.iter().enumerate() {
            let pieces: Vec<String> = table
                .pieces(*order)
                .map(|(begin, of)| format!("        ({}, [{}]),\n", number(begin), of.map(number).join(", ")))
                .collect();
            // writing to a text does not fail
            let _ = write!(
                text,
                "\n/// A table of the file{}: where each piece begins, and the coefficients of its cubic.\nfn table_{}<D: Number>(x: D) -> D {{\n    \
                 const PIECES: [(f64, [f64; 4]); {}] = [\n{}    ];\n    \
                 x.of_pieces(|x| PIECES[PIECES.partition_point(|piece| piece.0 <= x).saturating_sub(1)])\n}}\n",
                ["", ", its slope", ", its second derivative"].get(usize::from(*order)).unwrap_or(&""),
                k + 1,
                pieces.len(),
                pieces.concat()
            );
        }
        text
    }
}

/// A number as Rust writes it.
fn number(value: f64) -> String {
    match value {
        value if value.is_nan() => "f64::NAN".into(),
        value if value.is_infinite() => if value > 0.0 { "f64::INFINITY" } else { "f64::NEG_INFINITY" }.into(),
        value => format!("{value:?}"),
    }
}

/// The model as a file of Rust.
pub(crate) fn export(model: &FileModel) -> String {
    let FileModel { signature, start, mass, force, rates, constraint, output, picture: _ } = model;
    let names = Names::of(signature);
    let own = camel(&signature.name);
    let mut text = format!(
        "//! `{}`, from a mechanism file.\n\nuse costate::{{Matrix, Model, Number, Parameter, Signature, State}};\n\n/// The model.\n\
         #[derive(Debug, Clone, Copy)]\npub struct {own};\n\n// names are those of the file\n#[allow(non_snake_case)]\n\
         impl Model for {own} {{\n    fn signature(&self) -> Signature {{\n",
        signature.name
    );
    text += &signature_of(signature);
    text += "    }\n";
    // entries of all unknowns, states among them
    let columns = signature.unknown_count().max(1);
    let entry = |k: u32| format!("mass[({}, {})]", k as usize / columns, k as usize % columns);
    let in_motion = "t: D, q: &[D], v: &[D], w: &[D], u: &[D]";
    let (mut functions, mut tables) = (Vec::new(), Tables::default());
    let mut add = |head: String, program: &Program, target: &dyn Fn(u32) -> String, is_output: bool| {
        functions.push((head, body(program, (&names, &mut tables), is_output, target)));
    };
    add("mass<D: Number>(&self, q: &[D], u: &[D], mass: &mut Matrix<D>)".into(), mass, &entry, false);
    add(format!("force<D: Number>(&self, {in_motion}, force: &mut [D])"), force, &|k| format!("force[{k}]"), false);
    add(format!("rates<D: Number>(&self, {in_motion}, rates: &mut [D])"), rates, &|k| format!("rates[{k}]"), false);
    let head = "constraint<D: Number>(&self, t: D, q: &[D], u: &[D], rows: &mut [D])".to_string();
    add(head, constraint, &|k| format!("rows[{k}]"), false);
    let head = "output<D: Number>(&self, t: D, state: &State<'_, D>, u: &[D], out: &mut [D])".to_string();
    add(head, output, &|k| format!("out[{k}]"), true);
    // both of the start may name the same parameters
    let [positions, velocities] = [(&start[0], "q"), (&start[1], "v")].map(|(program, to)| {
        let to = move |k: u32| format!("{to}_[{k}]");
        body(program, (&names, &mut tables), false, &to)
    });
    let block = |body: &str| match body.is_empty() {
        true => String::new(),
        false => {
            format!("        {{\n{}        }}\n", body.lines().map(|line| format!("    {line}\n")).collect::<String>())
        }
    };
    let head = "initial<D: Number>(&self, u: &[D], q_: &mut [D], v_: &mut [D])".to_string();
    functions.insert(0, (head, block(&positions) + &block(&velocities)));
    for (head, body) in functions {
        let may_be_left_out = !["mass<", "force<"].iter().any(|own| head.starts_with(own));
        if body.is_empty() && may_be_left_out {
            continue;
        }
        let words: BTreeSet<&str> = body.split(|c: char| !(c.is_alphanumeric() || c == '_')).collect();
        let mut head = head;
        for argument in ["t", "q", "v", "w", "u", "state", "mass", "force", "q_", "v_"] {
            if !words.contains(argument) {
                for before in ["(", " "] {
                    head = head.replace(&format!("{before}{argument}: "), &format!("{before}_{argument}: "));
                }
            }
        }
        // writing to a text does not fail
        let _ = write!(text, "\n    fn {head} {{\n{body}    }}\n");
    }
    text + "}\n" + &tables.functions()
}

/// A part of a formula as text, and how tightly it holds together: sums 1, products 2, signs 3, calls and names 4.
#[derive(Clone)]
struct Piece(String, u8);

impl Piece {
    /// The text where something binds with this strength.
    fn within(&self, strength: u8) -> String {
        if self.1 < strength { format!("({})", self.0) } else { self.0.clone() }
    }
}

/// Statements of a program, behind those that name its values: what is used once stands where it is used.
fn body(
    program: &Program,
    (names, tables): (&Names, &mut Tables),
    is_output: bool,
    target: &dyn Fn(u32) -> String,
) -> String {
    let steps: Vec<(Operation, Target)> = program.listing().collect();
    // how often each result is read before its register is used for another
    let mut reads = vec![0usize; steps.len()];
    let mut holder: HashMap<u32, usize> = HashMap::new();
    for (k, (operation, to)) in steps.iter().enumerate() {
        for operand in program.operands(*operation).iter().filter(|operand| operand.bank == REGISTER) {
            if let Some(step) = holder.get(&operand.index) {
                reads[*step] += 1;
            }
        }
        if let Operation::SinCos(_, cosine) = operation {
            holder.insert(*cosine, k);
        }
        if let Target::Register(register) = to {
            holder.insert(*register, k);
        }
    }
    let slices = match is_output {
        true => ["t", "state.q", "state.v", "state.a", "state.a_scheme", "state.lambda", "state.w", "u"],
        false => ["t", "q", "v", "a", "a_scheme", "lambda", "w", "u"],
    };
    let mut used: BTreeSet<(u8, u32)> = BTreeSet::new();
    let mut held: HashMap<u32, Piece> = HashMap::new();
    let (mut statements, mut parts) = (String::new(), 0);
    for (k, (operation, to)) in steps.iter().enumerate() {
        let mut get = |operand: Operand| match operand.bank {
            REGISTER => held.get(&operand.index).cloned().unwrap_or_else(|| Piece("D::from(0.0)".into(), 4)),
            bank => {
                if bank != Bank::Time as u8 {
                    used.insert((bank, operand.index));
                }
                Piece(names.0[bank as usize].get(operand.index as usize).cloned().unwrap_or_default(), 4)
            }
        };
        let mut fresh = || {
            parts += 1;
            format!("part_{parts}")
        };
        if let Operation::SinCos(a, cosine) = operation {
            let angle = get(*a).within(4);
            let Target::Register(sine) = to else { continue };
            let pair = [fresh(), fresh()];
            let _ = writeln!(statements, "        let ({}, {}) = {angle}.sin_cos();", pair[0], pair[1]);
            let [sin, cos] = pair.map(|name| Piece(name, 4));
            held.insert(*cosine, cos);
            held.insert(*sine, sin);
            continue;
        }
        let piece = piece((program, tables), *operation, &mut get);
        match to {
            Target::Output(to) => {
                let _ = writeln!(statements, "        {} = {};", target(*to), piece.0);
            }
            Target::Register(register) if reads[k] == 1 => {
                held.insert(*register, piece);
            }
            Target::Register(register) => {
                let name = fresh();
                let _ = writeln!(statements, "        let {name} = {};", piece.0);
                held.insert(*register, Piece(name, 4));
            }
        }
    }
    let name = |(bank, index): &(u8, u32)| names.0[*bank as usize].get(*index as usize).cloned().unwrap_or_default();
    let value = |(bank, index): &(u8, u32)| format!("{}[{index}]", slices[*bank as usize]);
    let first = match used.len() {
        0 => String::new(),
        1 => used.iter().map(|own| format!("        let {} = {};\n", name(own), value(own))).collect(),
        _ => {
            let [left, right] = [used.iter().map(name).collect::<Vec<_>>(), used.iter().map(value).collect::<Vec<_>>()];
            format!("        let ({}) = ({});\n", left.join(", "), right.join(", "))
        }
    };
    first + &statements
}

fn piece(
    (program, tables): (&Program, &mut Tables),
    operation: Operation,
    get: &mut dyn FnMut(Operand) -> Piece,
) -> Piece {
    let made = |text: String, strength: u8| Piece(text, strength);
    let mut called = |function: &str, a: Operand| made(format!("{}.{function}()", get(a).within(4)), 4);
    match operation {
        Operation::Function(Function::Negative, a) | Operation::Negative(a) => {
            made(format!("-{}", get(a).within(4)), 3)
        }
        Operation::Function(Function::SphericalBessel(order), a) => {
            made(format!("{}.spherical_bessel({order})", get(a).within(4)), 4)
        }
        Operation::Function(function, a) => called(name_of(function), a),
        Operation::Constant(k) => made(format!("D::from({})", number(k)), 4),
        Operation::Copy(a) => get(a),
        Operation::Add(a, b) | Operation::Pair(Pair::Add, a, b) => {
            made(format!("{} + {}", get(a).within(1), get(b).within(2)), 1)
        }
        Operation::Subtract(a, b) | Operation::Pair(Pair::Subtract, a, b) => {
            made(format!("{} - {}", get(a).within(1), get(b).within(2)), 1)
        }
        Operation::Multiply(a, b) | Operation::Pair(Pair::Multiply, a, b) => {
            made(format!("{} * {}", get(a).within(2), get(b).within(3)), 2)
        }
        Operation::Divide(a, b) | Operation::Pair(Pair::Divide, a, b) => {
            made(format!("{} / {}", get(a).within(2), get(b).within(3)), 2)
        }
        Operation::Pair(Pair::Remainder, a, b) => made(format!("{} % {}", get(a).within(2), get(b).within(3)), 2),
        Operation::AddConstant(a, k) if k < 0.0 => made(format!("{} - {}", get(a).within(1), number(-k)), 1),
        Operation::AddConstant(a, k) => made(format!("{} + {}", get(a).within(1), number(k)), 1),
        Operation::SubtractFrom(k, a) if k < 0.0 => made(format!("-{} - {}", get(a).within(4), number(-k)), 1),
        Operation::SubtractFrom(k, a) => made(format!("-{} + {}", get(a).within(4), number(k)), 1),
        Operation::MultiplyConstant(a, k) => made(format!("{} * {}", get(a).within(2), number(k)), 2),
        Operation::DivideConstant(a, k) => made(format!("{} / {}", get(a).within(2), number(k)), 2),
        Operation::DivideInto(k, a) => made(format!("D::from({}) / {}", number(k), get(a).within(3)), 2),
        Operation::Square(a) => made(format!("{}.powi(2)", get(a).within(4)), 4),
        Operation::WholePower(a, n) => made(format!("{}.powi({n})", get(a).within(4)), 4),
        Operation::ConstantPower(a, k) => made(format!("{}.powf({})", get(a).within(4), number(k)), 4),
        Operation::SinCos(a, _) => called("sin_cos", a),
        Operation::Pair(Pair::Atan2, a, b) => made(format!("{}.atan2({})", get(a).within(4), get(b).0), 4),
        Operation::Pair(Pair::Power, a, b) => made(format!("{}.powd({})", get(a).within(4), get(b).0), 4),
        Operation::Pair(Pair::Min, a, b) => made(format!("Number::min({}, {})", get(a).0, get(b).0), 4),
        Operation::Pair(Pair::Max, a, b) => made(format!("Number::max({}, {})", get(a).0, get(b).0), 4),
        Operation::Select(or_equal, _) => {
            let [a, b, x, y] = program.choice(operation).map(get);
            let compared = if or_equal { "at_most" } else { "less" };
            made(format!("D::select({}.{compared}({}), {}, {})", a.within(4), b.0, x.0, y.0), 4)
        }
        Operation::Table(table, order, a) => {
            made(format!("{}({})", tables.name(program.table(table), order), get(a).0), 4)
        }
    }
}

fn name_of(function: Function) -> &'static str {
    match function {
        Function::Negative => "neg",
        Function::Sin => "sin",
        Function::Cos => "cos",
        Function::Tan => "tan",
        Function::Asin => "asin",
        Function::Acos => "acos",
        Function::Atan => "atan",
        Function::Sinh => "sinh",
        Function::Cosh => "cosh",
        Function::Tanh => "tanh",
        Function::Asinh => "asinh",
        Function::Acosh => "acosh",
        Function::Atanh => "atanh",
        Function::Exp => "exp",
        Function::ExpM1 => "exp_m1",
        Function::Ln => "ln",
        Function::Ln1p => "ln_1p",
        Function::Log2 => "log2",
        Function::Log10 => "log10",
        Function::Sqrt => "sqrt",
        Function::Cbrt => "cbrt",
        // with their orders
        Function::SphericalBessel(_) => "spherical_bessel",
        Function::Abs => "abs",
    }
}

/// A name as one of a type.
fn camel(name: &str) -> String {
    let words = name.split('_').filter(|word| !word.is_empty());
    let word = |word: &str| {
        word.chars().enumerate().map(|(k, c)| if k == 0 { c.to_ascii_uppercase() } else { c }).collect::<String>()
    };
    let all: String = words.map(word).filter(|word| word.is_ascii()).collect();
    if all.starts_with(|c: char| c.is_ascii_alphabetic()) { all } else { format!("Model{all}") }
}

fn signature_of(signature: &Signature) -> String {
    let mut lines = vec![format!("        Signature::new({:?})", signature.name)];
    let pairs = |all: &[Quantity]| {
        let list: Vec<String> = all.iter().map(|own| format!("({:?}, {:?})", own.name, own.unit)).collect();
        list.join(", ")
    };
    for (kind, all) in [
        ("coordinates", &signature.coordinates),
        ("states", &signature.states),
        ("constraints", &signature.constraints),
        ("inputs", &signature.inputs),
    ] {
        if !all.is_empty() {
            lines.push(format!("            .{kind}([{}])", pairs(all)));
        }
    }
    // in their order, angles among others
    for output in &signature.outputs {
        lines.push(match output.period {
            Some(_) => format!("            .angles([{:?}])", output.name),
            None => format!("            .outputs([{}])", pairs(std::slice::from_ref(output))),
        });
    }
    if !signature.parameters.is_empty() {
        lines.push("            .parameters([".to_string());
        for Parameter { name, unit, nominal, lower, upper, scale, free, size } in &signature.parameters {
            let mut line = format!("                Parameter::new({name:?}, {unit:?}, {})", number(*nominal));
            if (*lower, *upper) != (f64::NEG_INFINITY, f64::INFINITY) {
                line += &format!(".bounds({}, {})", number(*lower), number(*upper));
            }
            if *scale == Scale::Log {
                line += ".log()";
            }
            line += &size.map(|size| format!(".size({})", number(size))).unwrap_or_default();
            line += if *free { "," } else { ".fixed()," };
            lines.push(line);
        }
        lines.push("            ])".to_string());
    }
    lines.join("\n") + "\n"
}
