//! The one error type. Every message names the quantity, where it is, and what to do next.

use crate::shown::{shown, size, tidy};
use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T> = std::result::Result<T, Error>;

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

    /// A failure in one of several experiments.
    #[error("experiment `{name}`: {cause}")]
    Experiment {
        /// The experiment's name.
        name: String,
        /// The error in that experiment.
        cause: Box<Error>,
    },

    /// A fault of something that is said in a problem file.
    #[error("{}{cause}", stands(.place))]
    Stated {
        /// The keys that lead to it, tables first; of lists, numbers from 1.
        keys: Vec<String>,
        /// The file and the line; `None` where no file says it.
        place: Option<(PathBuf, u64)>,
        /// The error in what is said there.
        cause: Box<Error>,
    },

    /// A data or problem file whose content cannot be used.
    #[error("{}{}: {problem}; {remedy}", .path.display(), line_number(.line))]
    File {
        /// The file.
        path: PathBuf,
        /// The line, counted from 1, where known.
        line: Option<u64>,
        /// The fault of the content.
        problem: String,
        /// The remedy: what to do.
        remedy: String,
    },

    /// The operating system refused a file or folder.
    #[error("cannot {action} {}: {reason}; {remedy}", .path.display())]
    Io {
        /// `read`, `write`, `create` ...
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's reason.
        reason: String,
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
        "{quantity} is {value} at t = {} s (step {step}); the model overflows or divides by zero there: check its \
         parameters, or take a smaller step",
        shown(*.time)
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

    /// A prior at a value where it has none, such as a log-normal one at zero.
    #[error(
        "the prior of `{name}` has no value at {value}; give `{name}` bounds around its prior, above 0 if that is log-normal"
    )]
    NoPrior {
        /// The parameter.
        name: String,
        /// Value of the parameter.
        value: f64,
    },

    /// A measured quantity of a mode that the model does not have.
    #[error("{what}: {problem}; count as `costate modes` does, or leave it out")]
    NoMode {
        /// Measured quantity of a mode, in words.
        what: String,
        /// The fault: what the model has in the mode's place.
        problem: String,
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
         for a projection of the start (`InitialState::Projected`, `--initial-state projected`)"
    )]
    InconsistentStart {
        /// Each violated row: name, level and residual.
        violations: String,
    },

    /// The initial state satisfies the constraints for these parameters only, and is differentiated by them.
    #[error(
        "the initial state does not follow its parameters: {parameters}; derivatives by them would be those of a mechanism torn apart: let \
         the initial positions and velocities follow them, ask for a projection of the start (`InitialState::Projected`, \
         `--initial-state projected`), or keep them fixed (`--fix NAME`, `free = false`, `Gradient::with_respect_to`)"
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

    /// An error of another process, in its own words.
    #[error("{sentence}")]
    Elsewhere {
        /// Sentence of the other process.
        sentence: String,
    },

    /// An optimisation cannot start or go on.
    #[error("{method}: {problem}; {remedy}")]
    Optimiser {
        /// The method's name.
        method: String,
        /// The fault: what happened.
        problem: String,
        /// The remedy: what to do.
        remedy: String,
    },
}

impl Error {
    /// A value that cannot be used: what, why, and the remedy.
    pub fn invalid(what: impl Into<String>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::Invalid { what: tidied(what), problem: tidied(problem), remedy: tidied(remedy) }
    }

    /// A file with unusable content; `line` counts from 1.
    pub fn file(path: &Path, line: Option<u64>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        Error::File { path: path.to_path_buf(), line, problem: tidied(problem), remedy: tidied(remedy) }
    }

    /// The operating system refused.
    pub fn io(action: &'static str, path: &Path, reason: impl ToString, remedy: impl Into<String>) -> Self {
        Error::Io { action, path: path.to_path_buf(), reason: reason.to_string(), remedy: remedy.into() }
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

    /// The error, with `place` as the context of an unknown name that has none yet.
    pub fn within(self, place: impl Into<String>) -> Self {
        match self {
            Error::UnknownName { kind, name, context, nearest, known } if context.is_empty() => {
                Error::UnknownName { kind, name, context: place.into(), nearest, known }
            }
            other => other,
        }
    }

    /// The error, where it is about something in a file or in a part of one: names `place`.
    pub fn located(self, place: &str) -> Self {
        match self {
            Error::Invalid { what, problem, remedy } => {
                Error::Invalid { what: format!("{what} in {place}"), problem, remedy }
            }
            other => other.within(place),
        }
    }

    /// The error as a fault of what these keys of a problem file say, or the table under them. Simulations that fail and other files,
    /// whose lines are known, are no fault of a line.
    pub fn under(self, keys: &[&str]) -> Self {
        let outer = keys.iter().map(|key| key.to_string());
        match self {
            Error::Stated { keys: inner, place: None, cause } => {
                Error::Stated { keys: outer.chain(inner).collect(), place: None, cause }
            }
            Error::Stated { .. } | Error::File { line: Some(_), .. } | Error::Interrupted { .. } => self,
            failure if failure.is_simulation_failure() => failure,
            cause => Error::Stated { keys: outer.collect(), place: None, cause: Box::new(cause) },
        }
    }

    /// The error itself, without the experiment or the line where it occurred.
    pub fn cause(&self) -> &Error {
        match self {
            Error::Experiment { cause, .. } | Error::Stated { cause, .. } => cause.cause(),
            cause => cause,
        }
    }

    /// The error as that of one of several experiments; an interruption is no fault of any and stays as it is.
    pub fn in_experiment(self, name: &str) -> Self {
        match self {
            Error::Interrupted { .. } | Error::Experiment { .. } => self,
            Error::Stated { keys, place, cause } => {
                Error::Stated { keys, place, cause: Box::new(cause.in_experiment(name)) }
            }
            cause => Error::Experiment { name: name.to_string(), cause: Box::new(cause) },
        }
    }

    /// True for errors of one particular simulation (as opposed to wrong input): inside an optimisation these are rejected
    /// steps.
    pub fn is_simulation_failure(&self) -> bool {
        matches!(
            self.cause(),
            Error::NewtonFailed { .. }
                | Error::StepTooSmall { .. }
                | Error::NotFinite { .. }
                | Error::NoPrior { .. }
                | Error::NoMode { .. }
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

fn stands(place: &Option<(PathBuf, u64)>) -> String {
    place.as_ref().map(|(path, line)| format!("{}, line {line}: ", path.display())).unwrap_or_default()
}

fn line_number(line: &Option<u64>) -> String {
    line.map(|l| format!(", line {l}")).unwrap_or_default()
}

fn suggestion(nearest: &Option<String>, known: &[String]) -> String {
    match nearest {
        Some(name) => format!("did you mean `{name}`?"),
        None if known.is_empty() => "none is defined".to_string(),
        None => format!("known: {}", known.join(", ")),
    }
}
