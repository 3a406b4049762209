//! Priors of parameters.

use super::keys;
use super::section::{Section, table_keys};
use crate::Result;
use crate::prior::Distribution;
use crate::specification::PriorSetting;
use toml::Value;

/// In the place of a deviation that is found together with the parameters.
const ESTIMATED: &str = "estimated";

/// A prior of `parameter`: a distribution, or the ends of a uniform one, which is bounds.
pub(super) fn prior(
    section: &Section<'_>,
    parameter: &Section<'_>,
) -> Result<(Option<PriorSetting>, Option<[f64; 2]>)> {
    section.only(&[&keys::PRIOR])?;
    let [kind] = table_keys(section.table).try_into().map_err(|_| {
        parameter.wrong("prior", "it must be one distribution", "write prior = { normal = [mean, deviation] }")
    })?;
    let estimated = match section.table.get(&kind).and_then(Value::as_array).map(|list| &list[..]) {
        Some([centre, Value::String(word)]) if word == ESTIMATED && kind != "uniform" => Some(centre),
        _ => None,
    };
    if let Some(centre) = estimated {
        let number = centre.as_float().or(centre.as_integer().map(|number| number as f64));
        let Some(centre) = number.filter(|number| number.is_finite()) else {
            return Err(section.wrong(&kind, "its centre is no finite number", "write normal = [0.0, \"estimated\"]"));
        };
        if kind == "log-normal" && centre <= 0.0 {
            return Err(section.wrong(&kind, format!("its median {centre} is not positive"), "give a median > 0"));
        }
        return Ok((Some(PriorSetting::Estimated { centre, is_log: kind == "log-normal" }), None));
    }
    let prior = match kind.as_str() {
        "normal" => {
            let [mean, deviation] =
                section.pair("normal", "write normal = [mean, deviation], or [mean, \"estimated\"]")?;
            Distribution::Normal { mean, deviation }
        }
        "log-normal" => {
            let [median, factor] =
                section.pair("log-normal", "write log-normal = [median, factor], or [median, \"estimated\"]")?;
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
    Ok((Some(PriorSetting::Given(prior)), None))
}
