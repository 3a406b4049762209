//! Constraints.

use super::keys;
use super::section::{Section, table_keys};
use crate::constraint::{ConstraintSetting, Window};
use crate::{Error, Result};

pub(super) fn constraint(section: &Section<'_>) -> Result<ConstraintSetting> {
    section.only(&[&keys::CONSTRAINT])?;
    let name = section.text("name")?;
    let unit = section.text("unit")?;
    let what = [section.text("rule")?.is_some(), section.section("sum")?.is_some(), section.text("output")?.is_some()];
    if what.iter().filter(|given| **given).count() != 1 {
        let problem = "it must name one of `rule`, `sum` and `output`";
        return Err(section.at("", Error::invalid(section.place(), problem, "give just one of them")));
    }
    if let Some(rule) = section.text("rule")? {
        for key in ["equals", "at_most", "at_least", "time", "from", "until"] {
            if section.table.contains_key(key) {
                return Err(section.wrong(key, "the rule says it already", "leave it out, or say it without `rule`"));
            }
        }
        let setting = ConstraintSetting::parse(&rule).map_err(|error| section.at("rule", error))?;
        return Ok(ConstraintSetting { name: name.unwrap_or(rule), unit, ..setting });
    }
    let equals = section.number("equals")?;
    let (lower, upper) = (section.number("at_least")?, section.number("at_most")?);
    if equals.is_some() && (lower.is_some() || upper.is_some()) {
        return Err(section.wrong("equals", "it leaves no room for `at_least` or `at_most`", "give only one of them"));
    }
    if equals.is_none() && lower.is_none() && upper.is_none() {
        let error = Error::invalid(section.place(), "it has no limit", "add `equals`, `at_most` or `at_least`");
        return Err(section.at("", error));
    }
    let at_end = match section.text("time")?.as_deref() {
        None => false,
        Some("end") => true,
        Some(other) => return Err(section.at("time", Error::unknown("time", other, section.place(), ["end"]))),
    };
    let window = Window { from: section.number("from")?, until: section.number("until")?, at_end };
    if at_end && (window.from.is_some() || window.until.is_some()) {
        return Err(section.wrong("time", "it contradicts `from` and `until`", "give only one of them"));
    }
    let mut terms = Vec::new();
    if let Some(sum) = section.section("sum")? {
        for parameter in table_keys(sum.table) {
            let weight = sum.number(&parameter)?.unwrap_or(1.0);
            terms.push((parameter, weight));
        }
    }
    let output = section.text("output")?;
    let of_output = Some(output.is_some());
    terms.extend(output.map(|output| (output, 1.0)));
    let described = || {
        let terms =
            terms.iter().map(|(name, weight)| if *weight == 1.0 { name.clone() } else { format!("{weight} {name}") });
        terms.collect::<Vec<_>>().join(" + ")
    };
    Ok(ConstraintSetting {
        name: name.unwrap_or_else(described),
        terms,
        of_output,
        lower: equals.or(lower).unwrap_or(f64::NEG_INFINITY),
        upper: equals.or(upper).unwrap_or(f64::INFINITY),
        window,
        unit,
    })
}
