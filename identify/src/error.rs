//! The error of this crate and of those that stand on it: what the engine says, with the experiment or the line of a file that it is about.

use std::path::{Path, PathBuf};

/// Shorthand for results of this crate.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The ways in which something can fail, in sentences that name the quantity, the place and the remedy.
///
/// `Debug` gives the same sentence as `Display`, since that is what a program prints whose `main` returns a [`Result`], and what
/// `unwrap` says.
#[derive(Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// An error of the engine.
    #[error(transparent)]
    Engine(#[from] costate::Error),

    /// An error of a file or a folder.
    #[error(transparent)]
    Data(costate_data::Error),

    /// A value that cannot be used, where the remedy is something that this crate does.
    #[error("{what}: {problem}; {remedy}")]
    Unusable {
        /// The quantity, e.g. `the bands of outputs`.
        what: String,
        /// The fault of the value, e.g. that it is negative.
        problem: String,
        /// The remedy: what to do.
        remedy: Remedy,
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
    #[error("{what}: {problem}; {remedy}")]
    NoMode {
        /// Measured quantity of a mode, in words.
        what: String,
        /// The fault: what the model has in the mode's place.
        problem: String,
        /// The remedy: what to do.
        remedy: Remedy,
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
    pub fn invalid(what: impl Into<String>, problem: impl Into<String>, remedy: impl Into<Remedy>) -> Self {
        let remedy = remedy.into();
        let error = |remedy: &str| costate::Error::invalid(what, problem, remedy);
        match remedy.means {
            None => error(&remedy.words).into(),
            Some(_) => match error("") {
                costate::Error::Invalid { what, problem, .. } => Error::Unusable { what, problem, remedy },
                other => other.into(),
            },
        }
    }
    /// A file with unusable content; `line` counts from 1.
    pub fn file(path: &Path, line: Option<u64>, problem: impl Into<String>, remedy: impl Into<String>) -> Self {
        costate_data::Error::file(path, line, problem, remedy).into()
    }

    /// The operating system refused a file.
    pub fn io(action: &'static str, path: &Path, reason: impl ToString, remedy: impl Into<String>) -> Self {
        costate_data::Error::io(action, path, reason, remedy).into()
    }

    /// A folder, or a file in it, that cannot be written, where another folder is the remedy.
    pub fn folder(action: &'static str, path: &Path, reason: impl ToString, remedy: impl Into<String>) -> Self {
        costate_data::Error::folder(action, path, reason, remedy).into()
    }

    /// An unknown name, as [`costate::Error::unknown`].
    pub fn unknown<S: AsRef<str>>(
        kind: &'static str,
        name: &str,
        context: impl Into<String>,
        known: impl IntoIterator<Item = S>,
    ) -> Self {
        costate::Error::unknown(kind, name, context, known).into()
    }

    /// A run, or work of many runs, that was asked to stop.
    pub(crate) fn interrupted() -> Self {
        costate::Error::Interrupted { time: 0.0, step: 0 }.into()
    }

    /// The error, with `place` as the context of an unknown name that has none yet.
    pub fn within(self, place: impl Into<String>) -> Self {
        match self {
            Error::Engine(costate::Error::UnknownName { kind, name, context, nearest, known })
                if context.is_empty() =>
            {
                Error::Engine(costate::Error::UnknownName { kind, name, context: place.into(), nearest, known })
            }
            other => other,
        }
    }

    /// The error, where it is about something in a file or in a part of one: names `place`.
    pub fn located(self, place: &str) -> Self {
        self.renamed(|what| format!("{what} in {place}")).within(place)
    }

    /// The error of a value that cannot be used, as one about `what`, for which the value was needed.
    pub(crate) fn about(self, what: impl Into<String>) -> Self {
        self.renamed(|_| what.into())
    }

    fn renamed(self, name: impl FnOnce(String) -> String) -> Self {
        match self {
            Error::Engine(costate::Error::Invalid { what, problem, remedy }) => {
                Error::Engine(costate::Error::Invalid { what: name(what), problem, remedy })
            }
            Error::Unusable { what, problem, remedy } => Error::Unusable { what: name(what), problem, remedy },
            other => other,
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
            Error::Stated { .. } | Error::Data(costate_data::Error::File { line: Some(_), .. }) => self,
            failure if failure.is_interruption() || failure.is_simulation_failure() => failure,
            cause => Error::Stated { keys: outer.collect(), place: None, cause: Box::new(cause) },
        }
    }

    /// The error as that of one of several experiments; an interruption is no fault of any and stays as it is.
    pub fn in_experiment(self, name: &str) -> Self {
        match self {
            Error::Experiment { .. } => self,
            Error::Stated { keys, place, cause } => {
                Error::Stated { keys, place, cause: Box::new(cause.in_experiment(name)) }
            }
            interruption if interruption.is_interruption() => interruption,
            cause => Error::Experiment { name: name.to_string(), cause: Box::new(cause) },
        }
    }

    /// The error itself, without the experiment or the line where it occurred.
    pub fn cause(&self) -> &Error {
        match self {
            Error::Experiment { cause, .. } | Error::Stated { cause, .. } => cause.cause(),
            cause => cause,
        }
    }

    /// The engine's error, without the experiment or the line where it occurred, if it is one.
    pub fn engine(&self) -> Option<&costate::Error> {
        match self.cause() {
            Error::Engine(error) => Some(error),
            _ => None,
        }
    }

    /// True for work that was asked to stop, see [`Interrupt`](costate::Interrupt).
    pub fn is_interruption(&self) -> bool {
        matches!(self, Error::Engine(costate::Error::Interrupted { .. }))
    }

    /// True for errors of one particular simulation (as opposed to wrong input): inside an optimisation these are rejected
    /// steps.
    pub fn is_simulation_failure(&self) -> bool {
        match self.cause() {
            Error::Engine(error) => error.is_simulation_failure(),
            Error::NoPrior { .. } | Error::NoMode { .. } => true,
            _ => false,
        }
    }
}

impl From<costate_data::Error> for Error {
    fn from(error: costate_data::Error) -> Self {
        match error {
            costate_data::Error::Engine(error) => error.into(),
            costate_data::Error::Calibration { key, cause } => Error::Engine(*cause).under(&[key]),
            error => Error::Data(error),
        }
    }
}

impl std::fmt::Debug for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        std::fmt::Display::fmt(self, f)
    }
}

/// Errors of the engine, with the place that they are about.
pub(crate) trait Locate: Into<Error> {
    /// As [`Error::under`].
    fn under(self, keys: &[&str]) -> Error {
        self.into().under(keys)
    }

    /// As [`Error::in_experiment`].
    fn in_experiment(self, name: &str) -> Error {
        self.into().in_experiment(name)
    }

    /// As [`Error::located`].
    fn located(self, place: &str) -> Error {
        self.into().located(place)
    }
}

impl Locate for costate::Error {}

impl Locate for costate_data::Error {}

/// A remedy in words, and the means of this crate that it takes, if it takes one.
///
/// Programs that offer the means in their own way, such as by an option of a command line, name that one after [`Remedy::words`].
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Remedy {
    /// The remedy, without its means.
    pub words: String,
    /// The means that it takes.
    pub means: Option<Means>,
}

impl Remedy {
    /// A remedy in these words, by these means.
    pub fn by(words: impl Into<String>, means: Means) -> Self {
        Remedy { words: words.into(), means: Some(means) }
    }
}

impl From<&str> for Remedy {
    fn from(words: &str) -> Self {
        words.to_string().into()
    }
}

impl From<String> for Remedy {
    fn from(words: String) -> Self {
        Remedy { words, means: None }
    }
}

impl std::fmt::Display for Remedy {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.words)?;
        match self.means.as_ref().and_then(Means::here) {
            Some(means) => write!(f, " ({means})"),
            None => Ok(()),
        }
    }
}

/// A means that remedies take.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Means {
    /// Another folder for results.
    AnotherFolder,
    /// A parameter that is free: this one, or any.
    Free(Option<String>),
    /// A parameter that is fixed.
    Fix(String),
    /// Noise on a simulated reference.
    Noise,
    /// Noise on a simulated reference, or the deviations of the references as those of the noise.
    NoiseOrDeviations,
    /// Profiles of the cost.
    Profiles,
    /// A bootstrap that draws blocks of residuals.
    Blocks,
    /// A bootstrap that draws experiments.
    Experiments,
    /// The length of a bootstrap's blocks.
    BlockLength,
    /// A search from many starts.
    Starts,
    /// Modes, counted by their frequencies.
    Modes,
    /// A record in a file.
    Record,
    /// The result of an identification, with its estimated deviations.
    Result,
    /// Steps of a tolerance, or more steps between two samples.
    ToleranceOrSubsteps,
    /// Steps of a tolerance, or a smaller step.
    ToleranceOrStep,
    /// A smaller step.
    Step,
    /// A check of all entries of the derivatives.
    CheckOfDerivatives,
}

impl Means {
    /// The means as this crate offers it: a name of its interface, or a key of problem files.
    fn here(&self) -> Option<&'static str> {
        Some(match self {
            Means::AnotherFolder | Means::Record => return None,
            Means::Free(_) => "`free = true`",
            Means::Fix(_) => "`free = false`",
            Means::Noise => "`Problem::with_noise`",
            Means::NoiseOrDeviations => "`Problem::with_noise`, `Noise::Given`",
            Means::Profiles => "`profile::profiles`",
            Means::Blocks => "`Over::Blocks`",
            Means::Experiments => "`Over::Experiments`",
            Means::BlockLength => "`Bootstrap::block`",
            Means::Starts => "`starts::identify_from_many`",
            Means::Modes => "`costate::modes`",
            Means::Result => "`Specification::found_deviations`",
            Means::ToleranceOrSubsteps => "`tolerance = 1e-3`, `substeps`",
            Means::ToleranceOrStep => "`tolerance = 1e-3`, `step`",
            Means::Step => "`step`",
            Means::CheckOfDerivatives => "`costate_check::check_jacobians`",
        })
    }
}

fn stands(place: &Option<(PathBuf, u64)>) -> String {
    place.as_ref().map(|(path, line)| format!("{}, line {line}: ", path.display())).unwrap_or_default()
}
