//! Remedies as a command line takes them: the libraries name what they offer themselves, and here stands which option that is. The one table
//! of both is [`option`].

use costate_identify::{Error, Means, Remedy};

/// The option or command by which a remedy is taken, as a sentence goes on with it.
fn option(means: &Means) -> Option<String> {
    let fixed = match means {
        Means::Free(Some(name)) => return Some(format!(" (`free = true`, or --free {name})")),
        Means::Fix(name) => return Some(format!(" (`free = false`, or --fix {name})")),
        Means::Free(None) => " (`free = true`, or --free NAME)",
        Means::AnotherFolder => " with --out",
        Means::Noise => " (--noise-level 0.01)",
        Means::NoiseOrDeviations => {
            " (--noise-level adds noise to a simulated reference, --noise given takes the deviations as they are)"
        }
        Means::Profiles => " (--profiles)",
        Means::Blocks => " (--bootstrap-over blocks)",
        Means::Experiments => " (--bootstrap-over experiments)",
        Means::BlockLength => " (--block)",
        Means::Starts => " (--starts)",
        Means::Modes => ", as `costate modes` counts them",
        Means::Record => "; or give --data FILE.csv",
        Means::Result => " (--from RESULT)",
        Means::ToleranceOrSubsteps => " (--tolerance 1e-3, --substeps)",
        Means::ToleranceOrStep => " (--tolerance 1e-3, --step)",
        Means::Step => " (--step)",
        Means::CheckOfDerivatives => " (`costate check --derivatives`)",
        _ => return None,
    };
    Some(fixed.to_string())
}

/// What the option is that a command offers for a projection of the start.
const PROJECTED: &str = "--initial-state projected";

/// A remedy with its option.
pub(super) fn in_words(remedy: &Remedy) -> String {
    match remedy.means.as_ref().and_then(option) {
        Some(option) => format!("{}{option}", remedy.words),
        None => remedy.to_string(),
    }
}

/// An option in words, as [`in_words`] appends it.
pub(super) fn appended(means: &Means) -> String {
    option(means).unwrap_or_default()
}

/// Sentences one after another, each with its option.
pub(super) fn joined(all: &[Remedy]) -> String {
    all.iter().map(in_words).collect::<Vec<String>>().join("; ")
}

/// The sentence of an error, with the option that is its remedy.
pub(super) fn sentence(error: &Error) -> String {
    with_options(error).to_string()
}

fn with_options(error: &Error) -> Error {
    let cause = |cause: &Error| Box::new(with_options(cause));
    let remedy = |remedy: &Remedy| Remedy::from(in_words(remedy));
    match error.clone() {
        Error::Experiment { name, cause: own } => Error::Experiment { name, cause: cause(&own) },
        Error::Stated { keys, place, cause: own } => Error::Stated { keys, place, cause: cause(&own) },
        Error::Unusable { what, problem, remedy: own } => Error::Unusable { what, problem, remedy: remedy(&own) },
        Error::Data(costate_data::Error::Folder { action, path, reason, remedy }) => {
            let remedy = format!("{remedy}{}", appended(&Means::AnotherFolder));
            costate_data::Error::Folder { action, path, reason, remedy }.into()
        }
        Error::NoMode { what, problem, remedy: own } => Error::NoMode { what, problem, remedy: remedy(&own) },
        Error::Engine(costate::Error::InconsistentStart { violations }) => Error::invalid(
            "the initial state violates the constraints",
            violations,
            format!("correct the initial positions and velocities, or ask for a projection of the start ({PROJECTED})"),
        ),
        Error::Engine(costate::Error::StartDoesNotFollow { parameters }) => Error::invalid(
            "the initial state does not follow its parameters",
            parameters,
            format!(
                "derivatives by them would be those of a mechanism torn apart: let the initial positions and velocities follow them, ask for a \
                 projection of the start ({PROJECTED}), or keep them fixed (--fix NAME, `free = false`)"
            ),
        ),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects who reads a command's errors: each remedy names its option there, wherever the error stands, and nothing of the libraries'
    /// interfaces.
    #[test]
    fn remedies_name_options() {
        let blocks = Error::invalid("the bootstrap", "one experiment", Remedy::by("draw blocks", Means::Blocks));
        let stated = Error::Stated { keys: vec![], place: Some(("a.toml".into(), 3)), cause: Box::new(blocks) };
        let violations = "row by 1 m".to_string();
        let start = Error::from(costate::Error::InconsistentStart { violations }).in_experiment("first");
        for (error, expected) in [
            (stated, "a.toml, line 3: the bootstrap: one experiment; draw blocks (--bootstrap-over blocks)"),
            (
                Error::folder("write", "a".as_ref(), "full", "choose another folder"),
                "cannot write a: full; choose another folder with --out",
            ),
            (
                start,
                "experiment `first`: the initial state violates the constraints: row by 1 m; correct the initial positions and velocities, \
                 or ask for a projection of the start (--initial-state projected)",
            ),
        ] {
            assert_eq!(sentence(&error), expected);
            assert!(!error.to_string().contains("--"), "{error}");
        }
    }
}
