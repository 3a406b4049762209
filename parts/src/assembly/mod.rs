//! Mechanisms as sums of elements, with sparse matrices: the second implementor of the waist.
//!
//! Each [`Element`] is a small generic function of a few coordinates, differentiated locally and added up; the cost of a
//! step grows in proportion to the number of elements. Elements of one type and structure are stored and evaluated
//! together.
//!
//! ```
//! use costate_parts::assembly::{Assembler, Connection, Element};
//! use costate::{Matrix, Number, Parameter, Simulation, State, TimeGrid};
//! use costate::scheme::Hht;
//! use std::sync::Arc;
//!
//! /// A mass on a line, with a sensor for its acceleration.
//! struct Mass;
//!
//! impl Element for Mass {
//!     fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
//!         m[(0, 0)] = u[0];
//!     }
//!     fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
//!         y[0] = x.a[0];
//!     }
//! }
//!
//! /// A linear spring between two masses.
//! struct Spring;
//!
//! impl Element for Spring {
//!     fn force<D: Number>(&self, _t: D, q: &[D], _v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
//!         force[0] = u[0] * (q[1] - q[0]);
//!         force[1] = -force[0];
//!     }
//! }
//!
//! # fn main() -> costate::Result<()> {
//! let mut assembler = Assembler::new("two_masses");
//! let stiffness = assembler.parameter(Parameter::new("k", "N/m", 50.0));
//! let a = assembler.coordinate("x1", "m", 0.0, 0.0);
//! let b = assembler.coordinate("x2", "m", 0.1, 0.0);
//! for (name, x, mass) in [("left", a, 1.0), ("right", b, 2.0)] {
//!     assembler.element(name, Mass, Connection::to([x]).parameters([mass]).outputs([("a", "m/s^2")]));
//! }
//! assembler.element("spring", Spring, Connection::to([a, b]).parameters([stiffness]));
//! let simulation =
//!     Simulation::new(Arc::new(assembler.build()?), Hht::new(-0.05)?, TimeGrid::uniform(0.0, 1.0, 1e-3)?, vec![])?;
//! let left = simulation.run(&[50.0])?.output(0); // `left.a`
//! assert!((left[0] - 5.0).abs() < 1e-12); // 50 N/m · 0.1 m / 1 kg
//! # Ok(())
//! # }
//! ```

mod batch;
pub(crate) mod closed;
mod closure;
mod element;
mod evaluator;
mod pattern;
mod states;
mod system;

pub use closed::{ClosedConstraint, ClosedMotion, ConstraintSlopes, MotionSlopes};
pub use element::{Connection, Coordinate, Element, Input, Row, StateVariable, Sum};
pub use system::Assembly;

use batch::{Batch, Closed, structure_of};
use closed::BatchElement;
use costate::linearise::{Functions, Sizes, Structure};
use costate::shown::with_unit;
use costate::spline::Spline;
use costate::value::{Owner, Value};
use costate::{Error, Parameter, Quantity, Result, Signature, mass, slip};
use element::Local;
use evaluator::{DENSE, Factors};
use pattern::{Pattern, Slots};
use std::collections::HashSet;

/// The policy for constraint rows that repeat others at the start.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum RedundantRows {
    /// [`Assembler::build`] names them and fails.
    #[default]
    Refuse,
    /// Redundant rows are left out: their multipliers are zero, and the rows that they repeat carry the load alone. Motion is the
    /// same; how a load is shared among redundant supports is not determined by rigid bodies anyway.
    LeaveOut,
    /// Nothing: for a mechanism that starts in a singular position. The simulation fails where the rows are still redundant.
    Keep,
}

/// Collects elements and what they are connected to.
pub struct Assembler {
    owner: Owner,
    signature: Signature,
    /// Nominal values of its parameters.
    nominal: Vec<f64>,
    /// Initial position and velocity of each coordinate.
    initial: Vec<[Value; 2]>,
    /// Initial value of each state.
    initial_states: Vec<Value>,
    batches: Vec<Batch>,
    /// Parameters, coordinates and inputs that something uses.
    used_parameters: HashSet<usize>,
    used_coordinates: HashSet<usize>,
    used_states: HashSet<usize>,
    used_inputs: HashSet<usize>,
    /// Remarks that are shown wherever the assembly is used.
    remarks: Vec<String>,
    /// The first error, returned by [`Assembler::build`].
    error: Option<Error>,
    redundant_rows: RedundantRows,
    known_times: Vec<(String, (f64, f64))>,
    /// Number of unknowns up to which factors are dense.
    dense_up_to: usize,
    /// Elements of zero rows and outputs that have a name all the same, for messages.
    names: HashSet<String>,
}

impl Assembler {
    /// An assembly of this name with nothing in it yet.
    pub fn new(name: impl Into<String>) -> Self {
        Assembler {
            owner: Owner::another(),
            signature: Signature::new(name),
            nominal: Vec::new(),
            initial: Vec::new(),
            initial_states: Vec::new(),
            batches: Vec::new(),
            used_parameters: HashSet::new(),
            used_coordinates: HashSet::new(),
            used_states: HashSet::new(),
            used_inputs: HashSet::new(),
            error: None,
            redundant_rows: RedundantRows::default(),
            known_times: Vec::new(),
            dense_up_to: DENSE,
            names: HashSet::new(),
            remarks: Vec::new(),
        }
    }

    /// Adds a parameter, to be used wherever a [`Value`] is wanted.
    pub fn parameter(&mut self, parameter: Parameter) -> Value {
        self.nominal.push(parameter.nominal);
        self.signature.parameters.push(parameter);
        Value::parameter(self.signature.parameters.len() - 1, self.owner)
    }

    /// Adds a motion that is made of parameters, and returns them, one a coefficient: to be given along with the spline wherever a function of time
    /// is wanted.
    pub fn motion(&mut self, name: &str, unit: &str, spline: &Spline) -> Vec<Value> {
        if let Err(error) = spline.validate(name) {
            self.note(error);
            return vec![Value::from(0.0); spline.count()];
        }
        let first = self.signature.parameters.len();
        self.signature = std::mem::take(&mut self.signature).motion(name, unit, spline);
        self.nominal.extend(spline.start());
        (first..self.nominal.len()).map(|place| Value::parameter(place, self.owner)).collect()
    }

    /// Adds a coordinate with its position and velocity at the start.
    pub fn coordinate(
        &mut self,
        name: impl Into<String>,
        unit: impl Into<String>,
        position: impl Into<Value>,
        velocity: impl Into<Value>,
    ) -> Coordinate {
        let name = name.into();
        let initial = [position.into(), velocity.into()];
        self.claim(&name, &initial);
        self.signature.coordinates.push(Quantity::new(name, unit));
        self.used_parameters.extend(initial.iter().flat_map(|value| value.terms()).map(|term| term.0));
        self.initial.push(initial);
        Coordinate(self.initial.len() - 1, self.owner)
    }

    /// The position of a coordinate at the start; NaN for one of another assembler.
    pub fn initial_position(&self, coordinate: Coordinate) -> Value {
        let own = self.initial.get(coordinate.0).filter(|_| coordinate.1 == self.owner);
        own.map_or(f64::NAN.into(), |[position, _]| *position)
    }

    /// The unit of a coordinate; none of one of another assembler.
    pub(crate) fn unit_of(&self, coordinate: Coordinate) -> String {
        let own = self.signature.coordinates.get(coordinate.0).filter(|_| coordinate.1 == self.owner);
        own.map_or(String::new(), |coordinate| coordinate.unit.clone())
    }

    /// Notes values whose parameters another assembler made.
    pub(crate) fn claim(&mut self, part: &str, values: &[Value]) {
        if values.iter().any(|value| !value.serves(self.owner)) {
            self.note_foreign(part, "a parameter");
        }
    }

    /// Notes coordinates that another assembler made.
    pub(crate) fn claim_coordinates(&mut self, part: &str, coordinates: &[Coordinate]) -> bool {
        let own = coordinates.iter().all(|coordinate| coordinate.1 == self.owner);
        if !own {
            self.note_foreign(part, "a coordinate");
        }
        own
    }

    fn note_foreign(&mut self, part: &str, what: &str) {
        let problem = format!("{what} that it is given was made by another mechanism");
        let remedy = "make members, joints, parameters and inputs with the mechanism that uses them";
        self.note(Error::invalid(format!("`{part}`"), problem, remedy));
    }

    /// Adds an input.
    pub fn input(&mut self, name: impl Into<String>, unit: impl Into<String>) -> Input {
        self.signature.inputs.push(Quantity::new(name, unit));
        Input(self.signature.inputs.len() - 1, self.owner)
    }

    /// Adds an output that elements add to ([`Connection::adds_to`]); without any, it is zero.
    pub fn sum(&mut self, name: impl Into<String>, unit: impl Into<String>) -> Sum {
        self.signature.outputs.push(Quantity::new(name, unit));
        Sum(self.signature.outputs.len() - 1, self.owner)
    }

    /// Has it said where a property that is a number is below zero: it may be meant, and is a slip as a rule.
    pub(crate) fn tell_negative(&mut self, part: &str, properties: [(&str, &str, &Value); 2]) {
        for (what, unit, value) in properties {
            let value = if value.is_constant() { value.evaluate(&[]) } else { 0.0 };
            if value < 0.0 {
                self.remark(format!("the {what} of `{part}` is below zero, {}", with_unit(value, unit)));
            }
        }
    }

    /// Has something said about the assembly wherever it is used.
    pub(crate) fn remark(&mut self, sentence: String) {
        self.remarks.push(sentence);
    }

    /// Adds an element. Returns its constraint rows. Its outputs are called `name.output`; one without a name of its own is
    /// called as the element.
    pub fn element<E: Element>(&mut self, name: &str, element: E, connection: Connection) -> Vec<Row> {
        let known_times = element.known_times();
        let states = connection.states.len();
        self.add(name, Box::new(Local { element, states }), known_times, connection)
    }

    /// Adds an element of the type `kind`, as [`Assembler::element`] does.
    fn add(
        &mut self,
        name: &str,
        model: Box<dyn BatchElement>,
        known_times: Option<(f64, f64)>,
        connection: Connection,
    ) -> Vec<Row> {
        if !self.names.insert(name.to_string()) {
            self.note(Error::invalid(
                self.place(),
                format!("two of its parts are called `{name}`"),
                "give each its own name",
            ));
        }
        let first = self.signature.constraints.len();
        let own: Vec<Row> = (first..first + connection.constraints.len()).map(|row| Row(row, self.owner)).collect();
        let full = |quantity: &Quantity| {
            let name = if quantity.name.is_empty() { name.to_string() } else { format!("{name}.{}", quantity.name) };
            Quantity { name, ..quantity.clone() }
        };
        self.signature.constraints.extend(connection.constraints.iter().map(full));
        let first_output = self.signature.outputs.len();
        let outputs: Vec<usize> = (first_output..first_output + connection.outputs.len())
            .chain(connection.sums.iter().map(|s| s.0))
            .collect();
        self.signature.outputs.extend(connection.outputs.iter().map(full));
        if let Some(what) = connection.foreign(self.owner) {
            self.note_foreign(name, what);
            return own;
        }
        let rows: Vec<usize> = own.iter().chain(&connection.multipliers).map(|row| row.0).collect();
        self.used_coordinates.extend(connection.coordinates.iter().map(|c| c.0));
        self.used_states
            .extend(connection.states.iter().map(|state| state.0).filter(|k| *k < self.signature.states.len()));
        self.used_inputs.extend(connection.inputs.iter().map(|input| input.0));
        self.used_parameters.extend(connection.parameters.iter().flat_map(|v| v.terms()).map(|term| term.0));
        let (sizes, structure) = match self.examined(&*model, &connection) {
            Ok(found) => found,
            Err((problem, remedy)) => {
                self.note(Error::invalid(format!("`{name}`"), problem, remedy));
                return own;
            }
        };
        self.known_times.extend(known_times.map(|times| (name.to_string(), times)));
        let closed = Closed::of(&*model, &structure);
        let takes = |batch: &Batch| batch.takes(&*model, own.len(), sizes, &structure, closed);
        let place = self.batches.iter().position(takes);
        let place = place.unwrap_or_else(|| {
            self.batches.push(Batch::new(&*model, sizes, own.len(), structure, closed));
            self.batches.len() - 1
        });
        self.batches[place].push(model, &connection, &rows, &outputs);
        own
    }

    /// Sizes and structure of an element with its connection; or why it cannot be, and a remedy.
    fn examined(
        &self,
        model: &dyn Functions,
        connection: &Connection,
    ) -> std::result::Result<(Sizes, Structure), (String, &'static str)> {
        let Connection { coordinates, states, constraints, outputs, sums, parameters, .. } = connection;
        let mut seen = HashSet::new();
        if let Some(twice) = states.iter().find(|state| !seen.insert(state.0)) {
            let problem = format!("it is connected to `{}` twice", self.signature.states[twice.0].name);
            return Err((problem, "connect it to different states"));
        }
        seen.clear();
        if let Some(twice) = coordinates.iter().find(|c| !seen.insert(c.0)) {
            let problem = format!("it is connected to `{}` twice", self.signature.coordinates[twice.0].name);
            return Err((problem, "connect it to different coordinates"));
        }
        let values = parameters.iter().map(|value| value.evaluate(&self.nominal));
        if let Some((place, value)) = values.enumerate().find(|(_, value)| !value.is_finite()) {
            let problem = format!("number {} of its properties is {value}", place + 1);
            return Err((problem, "give finite numbers and nominal values"));
        }
        if coordinates.is_empty()
            && states.is_empty()
            && constraints.is_empty()
            && outputs.is_empty()
            && sums.is_empty()
        {
            return Err(("it acts on nothing that moves".to_string(), "connect it to a body, or leave it out"));
        }
        let found = slip::caught(|| structure_of(model, connection, &self.nominal)).map_err(|panic| {
            let remedy = "compare what it reads and writes with the numbers of coordinates, states, rows, inputs, outputs \
                          and parameters of its connection";
            (format!("one of its functions panics: {panic}"), remedy)
        })?;
        if found.1.constraint.iter().any(|entry| entry.0 >= constraints.len()) {
            let problem = format!("its constraints fill more rows than the {} of its connection", constraints.len());
            return Err((problem, "name one row for each constraint"));
        }
        Ok(found)
    }

    fn place(&self) -> String {
        self.signature.place()
    }

    /// Keeps the first thing that went wrong.
    pub(crate) fn note(&mut self, error: Error) {
        self.error.get_or_insert(error);
    }

    /// Initial positions of some coordinates, for nominal parameters.
    pub(crate) fn at_start(&self, coordinates: &[Coordinate]) -> Vec<f64> {
        coordinates.iter().map(|c| self.initial_position(*c).evaluate(&self.nominal)).collect()
    }

    /// Notes a part along the line between two points that coincide at the start.
    pub(crate) fn wants_distance<const D: usize>(&mut self, part: &str, points: [[f64; D]; 2]) {
        let [a, b] = points;
        let nearly = |a: f64, b: f64| (a - b).abs() <= 8.0 * f64::EPSILON * (a.abs() + b.abs());
        if a.iter().zip(&b).all(|(a, b)| nearly(*a, *b)) {
            let problem = "its two points coincide at the start, where it has no direction";
            let remedy = "begin with them apart, if only by a little, or use another part";
            self.note(Error::invalid(format!("`{part}`"), problem, remedy));
        }
    }

    /// Notes a force or torque without direction.
    pub(crate) fn wants_direction(&mut self, part: &str, direction: &[Value]) {
        if direction.iter().all(|component| component.is_constant() && component.evaluate(&[]) == 0.0) {
            let problem = "the direction along which it acts has no length";
            self.note(Error::invalid(format!("`{part}`"), problem, "give a direction"));
        }
    }

    /// Chooses what is done with constraint rows that repeat others at the start.
    pub fn redundant_rows(&mut self, policy: RedundantRows) {
        self.redundant_rows = policy;
    }

    /// Chooses up to how many unknowns (coordinates and multipliers) matrices are dense: 12 by default. Whatever has more is sparse; results
    /// differ by round-off.
    pub fn dense_up_to(&mut self, unknowns: usize) {
        self.dense_up_to = unknowns;
    }

    /// Names and units so far.
    pub fn signature(&self) -> &Signature {
        &self.signature
    }

    /// Nominal values of the parameters so far.
    pub fn nominal(&self) -> &[f64] {
        &self.nominal
    }

    /// Builds the assembly.
    ///
    /// # Errors
    /// The first slip that was made: names that are not unique, something of another assembler, an element connected to a coordinate twice or whose functions
    /// do not fit its connection, a coordinate that nothing uses; constraint rows that are redundant at the start; and a mass matrix that is not symmetric, or lets
    /// a motion have negative kinetic energy (see [`costate::Plain::new`]).
    pub fn build(mut self) -> Result<Assembly> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.signature.validate()?;
        let n = self.signature.coordinates.len();
        if let Some(loose) = (0..n).find(|j| !self.used_coordinates.contains(j)) {
            let subject = format!("coordinate `{}`", self.signature.coordinates[loose].name);
            return Err(Error::invalid(subject, "no part uses it", "connect a part to it, or leave it out"));
        }
        if let Some(loose) = (0..self.signature.states.len()).find(|k| !self.used_states.contains(k)) {
            let subject = format!("state `{}`", self.signature.states[loose].name);
            return Err(Error::invalid(subject, "no part uses it", "connect a part to it, or leave it out"));
        }
        let unused = |kind: &str, name: &str| format!("nothing depends on {kind} `{name}`");
        let mut remarks = self.remarks;
        for (k, parameter) in self.signature.parameters.iter().enumerate() {
            if !self.used_parameters.contains(&k) {
                remarks.push(unused("parameter", &parameter.name));
            }
        }
        for (k, input) in self.signature.inputs.iter().enumerate() {
            if !self.used_inputs.contains(&k) {
                remarks.push(unused("input", &input.name));
            }
        }
        let mut pattern = Pattern::default();
        let total = self.signature.unknown_count();
        self.batches.iter_mut().for_each(|batch| batch.number((n, total), &mut pattern));
        self.initial.extend(self.initial_states.iter().map(|state| [0.0.into(), *state]));
        let mut assembly = Assembly {
            is_left_out: vec![false; self.signature.constraints.len()],
            signature: self.signature,
            initial: self.initial,
            batches: self.batches,
            pattern,
            slots: Slots::default(),
            factors: Factors::default(),
            redundant: 0,
            known_times: self.known_times,
            remarks,
            sketch: None,
        };
        assembly.lay_out(self.dense_up_to);
        let (redundant, open) = assembly.redundant_rows();
        assembly.redundant = redundant.len();
        match self.redundant_rows {
            RedundantRows::Refuse if !redundant.is_empty() => return Err(assembly.refuse(&redundant, open)),
            RedundantRows::LeaveOut if !redundant.is_empty() => {
                redundant.iter().for_each(|(row, _)| assembly.is_left_out[*row] = true);
                assembly.lay_out(self.dense_up_to);
            }
            _ => {}
        }
        mass::check_nominal(&assembly)?;
        Ok(assembly)
    }
}
