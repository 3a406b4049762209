//! Deviations that are estimated together with the parameters.

use super::{Deviation, ExperimentSetting, OutputColumn, Specification};
use crate::problem::Problem;
use crate::statistics::Noise;
use crate::{Error, Result};

/// Experiments that share one deviation of an output.
struct Group<'a> {
    name: String,
    output: &'a str,
    /// The statement that it is alone to.
    alone: Option<&'a ExperimentSetting>,
    is_correlated: bool,
    /// The first statement of it.
    first: &'a ExperimentSetting,
    experiments: Vec<String>,
}

impl Specification {
    /// The problem with what is said of its deviations; `stated`: its experiments with their statements.
    pub(super) fn with_estimated_deviations(
        &self,
        mut problem: Problem,
        stated: &[(String, ExperimentSetting)],
    ) -> Result<Problem> {
        let mut groups: Vec<Group<'_>> = Vec::new();
        for (experiment, setting) in stated {
            for OutputColumn { output, deviation, .. } in setting.data.outputs.iter().flatten() {
                let alone = match deviation {
                    Some(Deviation::Estimated | Deviation::EstimatedCorrelated) => None,
                    Some(Deviation::EstimatedAlone) => Some(setting),
                    _ => continue,
                };
                let is_correlated = *deviation == Some(Deviation::EstimatedCorrelated);
                let is_this = |group: &&mut Group<'_>| {
                    group.output == output && group.alone == alone && group.is_correlated == is_correlated
                };
                match groups.iter_mut().find(is_this) {
                    Some(group) if group.experiments.contains(experiment) => {}
                    Some(group) => group.experiments.push(experiment.clone()),
                    None => {
                        let name = if alone.is_some() { format!("{output}@{experiment}") } else { output.clone() };
                        let experiments = vec![experiment.clone()];
                        groups.push(Group { name, output, alone, is_correlated, first: setting, experiments });
                    }
                }
            }
        }
        if let Some(first) = groups.first() {
            self.refuse_other_noise(first, stated)?;
        }
        for Group { name, output, experiments, first, is_correlated, .. } in groups {
            let located = |error: Error| first.stated(error.under(&["outputs", output]));
            problem = problem.estimate_deviation_in(&name, output, &experiments).map_err(located)?;
            if is_correlated {
                problem = problem.of_correlated_residuals(&name).map_err(located)?;
            }
        }
        Ok(problem)
    }

    /// Refuses outputs without a deviation, and a common factor, beside one that is estimated.
    fn refuse_other_noise(&self, first: &Group<'_>, stated: &[(String, ExperimentSetting)]) -> Result<()> {
        let what = format!("the deviation of `{}`", first.name);
        if self.noise == Some(Noise::Estimated) {
            let problem =
                "it is estimated, and noise = \"estimated\" would estimate a common factor of all deviations once more";
            return Err(Error::invalid(what, problem, "leave out `noise`").under(&["cost", "noise"]));
        }
        let columns =
            stated.iter().flat_map(|own| own.1.data.outputs.iter().flatten().map(move |column| (own, column)));
        match columns.into_iter().find(|(_, column)| column.deviation.is_none()) {
            None => Ok(()),
            Some(((name, setting), column)) => {
                let (output, place) =
                    (&column.output, if stated.len() > 1 { format!(" of `{name}`") } else { String::new() });
                let problem =
                    format!("nothing is said of that of `{output}`{place}, and 1 would be taken for its noise");
                let remedy = format!("give it one: [data.outputs.{output}] deviation = \"estimated\", or a number");
                let error = Error::invalid(what + " is estimated", problem, remedy);
                Err(setting.stated(error.under(&["outputs", output])))
            }
        }
    }
}
