//! The engine's error. Every message names the quantity, where it is, and what to do next.

use crate::shown::{shown, size, tidy};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The ways in which something can fail, in sentences that name the quantity, the place and the remedy.
///
/// `Debug` gives the same sentence as `Display`, since that is what a program prints whose `main` returns a [`Result`], and what
/// `unwrap` says.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A name that nothing here bears: a model, parameter, column, key, method.
    #[error("there is no {kind} `{name}`{}; {}", in_context(.context), suggestion(.nearest, .known))]
    UnknownName {
        /// Kind of thing that was asked for, e.g. `parameter`.
        kind: &'static str,
        /// The name as given.
        name: String,
        /// Place where it was looked for, e.g. ``model `pendulum` ``; may be empty.
        context: String,
        /// The known name that is nearest in spelling, if any is near.
        nearest: Option<String>,
        /// All names that would have been accepted.
        known: Vec<String>,
    },

    /// A value that cannot be used.
    #[error("{what}: {problem}; {remedy}")]
    Invalid {
        /// The quantity, e.g. ``parameter `c_E1` ``.
        what: String,
        /// The fault of the value, e.g. that it is negative.
        problem: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// Results or tables that do not fit into memory.
    #[error("{what}: {} of memory are needed, and {}; {remedy}", size(*.needed), had(.available))]
    Memory {
        /// The numbers that would be kept there, in words.
        what: String,
        /// Bytes that it takes.
        needed: f64,
        /// Bytes that can be had, where the system tells.
        available: Option<f64>,
        /// The remedy: what to do.
        remedy: String,
    },

    /// Newton's iteration of one time step did not converge.
    #[error(
        "Newton's iteration did not converge at t = {} s (step {step}, h = {} s): after {iterations} \
         iterations the residual is {residual:.3e}, worst in the equation of {equation}; take a smaller step, or check \
         the model and its parameters near this time",
        shown(*.time), shown(*.step_size)
    )]
    NewtonFailed {
        /// Time at the end of the step, s.
        time: f64,
        /// Number of the step, from 1.
        step: usize,
        /// Step size, s.
        step_size: f64,
        /// Iterations taken.
        iterations: usize,
        /// Largest residual.
        residual: f64,
        /// Name of the equation with the largest residual.
        equation: String,
    },

    /// Step control reached the smallest step.
    #[error(
        "at t = {} s steps would have to be shorter than {} s: the local error of `{coordinate}` is {error:.1e} {unit} there; ask for a \
         larger error, or look for a jump in forces or motions near this time",
        shown(*.time), shown(*.step_size)
    )]
    StepTooSmall {
        /// Time at the end of the step, s.
        time: f64,
        /// The smallest step, s.
        step_size: f64,
        /// Name of the coordinate with the largest error beside its size.
        coordinate: String,
        /// Local error of that coordinate, in its unit.
        error: f64,
        /// Unit of the coordinate.
        unit: String,
    },

    /// A value became infinite or not a number.
    #[error(
        "{quantity} is {value} at t = {} s (step {step}); the model overflows or divides by zero there: {}",
        shown(*.time),
        // no step is smaller than none
        if *step == 0 { "check its formulas at the start, and its parameters" } else { "check its parameters, or take a smaller step" }
    )]
    NotFinite {
        /// Name of the quantity that is not finite.
        quantity: String,
        /// `NaN`, `inf` or `-inf`.
        value: f64,
        /// Time, s.
        time: f64,
        /// Number of the step, 0 for the start.
        step: usize,
    },

    /// A frequency response that the model does not have, or not at this frequency.
    #[error("{what}: {problem}; {remedy}")]
    NoResponse {
        /// Frequency response, in words.
        what: String,
        /// The reason why there is none.
        problem: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// The matrix [M C_qᵀ; C_q 0], or Newton's, is singular.
    #[error("the equations of motion are singular at t = {} s: {reason}; {remedy}", shown(*.time))]
    Singular {
        /// Time, s.
        time: f64,
        /// Which constraint rows are redundant, or which coordinates have neither mass nor constraint, by name.
        reason: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// The mass matrix lets the kinetic energy of a possible motion be negative.
    #[error("the mass matrix is impossible at t = {time} s: {reason}; {remedy}")]
    ImpossibleMass {
        /// Time, s.
        time: f64,
        /// Which motion, and which entries of M are negative, by name.
        reason: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// The initial state does not satisfy the constraints.
    #[error(
        "the initial state violates the constraints: {violations}; correct the initial positions and velocities, or ask \
         for a projection of the start (`InitialState::Projected`)"
    )]
    InconsistentStart {
        /// Each violated row: name, level and residual.
        violations: String,
    },

    /// The initial state satisfies the constraints for these parameters only, and is differentiated by them.
    #[error(
        "the initial state does not follow its parameters: {parameters}; derivatives by them would be those of a mechanism torn apart: let \
         the initial positions and velocities follow them, ask for a projection of the start (`InitialState::Projected`), or keep them fixed \
         (`Gradient::with_respect_to`)"
    )]
    StartDoesNotFollow {
        /// Each such parameter, with the constraint row that it violates most.
        parameters: String,
    },

    /// No state that satisfies the constraints was found: the mechanism cannot be assembled near its initial positions.
    #[error(
        "the mechanism cannot be assembled near its initial positions: the projection onto the constraints ended after \
         {iterations} iterations, and the best of them violates {violations}; check lengths and locations of these joints, or \
         give initial positions nearer to the assembled ones"
    )]
    NotAssembled {
        /// Iterations taken.
        iterations: usize,
        /// Each row that is still violated: name, distance and residual.
        violations: String,
    },

    /// The search for a static equilibrium did not converge.
    #[error(
        "no static equilibrium was found at t = {} s: after {iterations} iterations from the model's initial position \
         the equation of {equation} is off by {residual:.3e}; give initial positions nearer to an equilibrium, or check that \
         springs and constraints can balance the forces at rest",
        shown(*.time)
    )]
    NoEquilibrium {
        /// Time, s.
        time: f64,
        /// Iterations taken.
        iterations: usize,
        /// Residual of the worst equation.
        residual: f64,
        /// Name of the worst equation.
        equation: String,
    },

    /// A run that was asked to stop, see [`Interrupt`](crate::Interrupt).
    #[error("interrupted at t = {time} s (step {step})")]
    Interrupted {
        /// Time, s.
        time: f64,
        /// Number of the step.
        step: usize,
    },
}

impl Error {
    /// A value that cannot be used: what, why, and the remedy.
    pub fn invalid(what: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Invalid { what: tidied(what), problem: tidied(problem), remedy: tidied(remedy) }
    }

    /// An unknown name, with the nearest known one looked up (case-insensitively; `-` and `_` count as equal).
    pub fn unknown<S: AsRef<str>>(
        kind: &'static str,
        name: &str,
        context: impl Into<String>,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        let known = known.into_iter().map(|s| s.as_ref().to_string()).collect();
        Error::not_among(kind, name, context.into(), known)
    }

    fn not_among(kind: &'static str, name: &str, context: String, known: Vec<String>) -> Self {
        let nearest = known.iter().filter_map(|k| Some((distance(name, k)?, k))).min_by_key(|(distance, _)| *distance);
        let nearest = nearest.map(|(_, k)| k.clone());
        Error::UnknownName { kind, name: name.to_string(), context, nearest, known }
    }

    /// True for errors of one particular simulation (as opposed to wrong input): inside an optimisation these are rejected
    /// steps.
    pub fn is_simulation_failure(&self) -> bool {
        matches!(
            self,
            Error::NewtonFailed { .. }
                | Error::StepTooSmall { .. }
                | Error::NotFinite { .. }
                | Error::NoResponse { .. }
                | Error::Singular { .. }
                | Error::ImpossibleMass { .. }
                | Error::InconsistentStart { .. }
                | Error::NotAssembled { .. }
                | Error::NoEquilibrium { .. }
        )
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

fn tidied(text: impl Into<String>) -> String {
    tidy(&text.into()).into_owned()
}

/// Number of slips of the pen that make `name` of the `known` one (a letter too many, too few, another one, two exchanged); `None` where
/// that is no slip any more: more than one in three letters, unless one name begins with the other and that is at least half of it.
fn distance(name: &str, known: &str) -> Option<usize> {
    let plain = |s: &str| s.to_lowercase().replace('-', "_");
    let (name, known) = (plain(name), plain(known));
    let (short, long) = if name.len() < known.len() { (&name, &known) } else { (&known, &name) };
    let begins = !short.is_empty() && long.starts_with(short.as_str()) && long.len() <= 2 * short.len();
    let slips = strsim::damerau_levenshtein(&name, &known);
    (begins || 3 * slips <= long.chars().count()).then_some(slips)
}

fn had(available: &Option<f64>) -> String {
    available.map_or("the system does not give them".to_string(), |bytes| format!("{} are there", size(bytes)))
}

fn in_context(context: &str) -> String {
    if context.is_empty() { String::new() } else { format!(" in {context}") }
}

fn suggestion(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "none is defined".to_string(),
        None => format!("known: {}", known.join(", ")),
    }
}
