//! Priors of parameters.

use super::keys;
use super::section::{Section, table_keys};
use crate::Result;
use crate::prior::Distribution;

/// A prior of `parameter`: a distribution, or the ends of a uniform one, which is bounds.
pub(super) fn prior(
    section: &Section<'_>,
    parameter: &Section<'_>,
) -> Result<(Option<Distribution>, Option<[f64; 2]>)> {
    section.only(&[&keys::PRIOR])?;
    let [kind] = table_keys(section.table).try_into().map_err(|_| {
        parameter.wrong("prior", "it must be one distribution", "write prior = { normal = [mean, deviation] }")
    })?;
    let prior = match kind.as_str() {
        "normal" => {
            let [mean, deviation] = section.pair("normal", "write normal = [mean, deviation]")?;
            Distribution::Normal { mean, deviation }
        }
        "log-normal" => {
            let [median, factor] = section.pair("log-normal", "write log-normal = [median, factor]")?;
            Distribution::LogNormal { median, factor }
        }
        _ => {
            let [from, to] = section.pair("uniform", "write uniform = [from, to]")?;
            if let Some(key) = ["lower", "upper"].into_iter().find(|key| parameter.table.contains_key(*key)) {
                return Err(parameter.wrong(key, "a uniform prior is bounds, too", "give only one of them"));
            }
            if from >= to {
                let problem = format!("nothing lies between {from} and {to}");
                return Err(section.wrong("uniform", problem, "write uniform = [from, to] with from < to"));
            }
            return Ok((None, Some([from, to])));
        }
    };
    prior.validate().map_err(|error| parameter.at("prior", error.located(&section.place())))?;
    Ok((Some(prior), None))
}
