//! Options that several commands share.

use crate::error::{Error, Result};
use crate::problem::Problem;
use crate::problem_file;
use crate::registry::{Entry, Registry};
use crate::signature::Signature;
use crate::specification::Specification;
use std::path::PathBuf;

/// Settings of the time integrator.
#[derive(clap::Args, Debug, Default)]
pub(super) struct IntegratorArguments {
    /// Time step, s
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    step: Option<f64>,
    /// End of the simulated time, s
    #[arg(long, value_name = "SECONDS", allow_negative_numbers = true)]
    end: Option<f64>,
    /// Numerical damping of HHT, from -1/3 to 0
    #[arg(long, allow_negative_numbers = true)]
    alpha: Option<f64>,
    /// Form of HHT: `hht` (second order for every mass matrix) or `hht-literal` (as printed in Lauss 2018)
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// Move an inconsistent start onto the constraints
    #[arg(long)]
    project_start: bool,
}

impl IntegratorArguments {
    /// Overrides what a specification says.
    pub(super) fn apply(&self, specification: &mut Specification) -> Result<()> {
        specification.step = self.step.or(specification.step);
        specification.end = self.end.or(specification.end);
        specification.alpha = self.alpha.or(specification.alpha);
        if let Some(name) = &self.scheme {
            specification.form = Some(problem_file::form(name)?);
        }
        if self.project_start {
            specification.project_start = Some(true);
        }
        Ok(())
    }
}

/// The specification of a model's built-in problem, or of a problem file.
pub(super) fn specification(model: &str) -> Result<Specification> {
    let path = PathBuf::from(model);
    if path.extension().is_some_and(|extension| extension == "toml") {
        return problem_file::read(&path);
    }
    Ok(Specification::of(model))
}

/// Parses `name=value` pairs.
pub(super) fn assignments(option: &str, texts: &[String]) -> Result<Vec<(String, f64)>> {
    texts
        .iter()
        .flat_map(|text| text.split(','))
        .filter(|text| !text.trim().is_empty())
        .map(|text| {
            let wrong = |problem: &str| Error::invalid(format!("{option} {text}"), problem, "write it as name=value");
            let (name, value) = text.split_once('=').ok_or_else(|| wrong("there is no `=` in it"))?;
            let value: f64 = value.trim().parse().map_err(|_| wrong(&format!("`{value}` is not a number")))?;
            if !value.is_finite() {
                return Err(wrong(&format!("{value} is not a finite number")));
            }
            Ok((name.trim().to_string(), value))
        })
        .collect()
}

/// `u` with some values replaced by name.
pub(super) fn set(signature: &Signature, u: &mut [f64], changes: &[(String, f64)]) -> Result<()> {
    for (name, value) in changes {
        u[signature.parameter_index(name)?] = *value;
    }
    Ok(())
}

/// The parameter vector that `--at` means.
pub(super) fn point(problem: &Problem, at: &str) -> Result<Vec<f64>> {
    let signature = problem.simulation.signature();
    match at {
        "start" => Ok(problem.start.clone()),
        "nominal" => Ok(signature.nominal()),
        changes => {
            let mut u = problem.start.clone();
            set(signature, &mut u, &assignments("--at", &[changes.to_string()])?)?;
            Ok(u)
        }
    }
}

/// The model that a specification names.
pub(super) fn entry<'r>(registry: &'r Registry, specification: &Specification) -> Result<&'r Entry> {
    registry.get(&specification.model)
}
