//! Experiments that could be made next.

use super::{Section, driven, files_of, keys, table_keys};
use crate::Result;
use crate::specification::{CandidateSetting, DataSource};

pub(super) fn candidate(number: usize, section: &Section<'_>) -> Result<CandidateSetting> {
    section.only(&[&keys::CANDIDATE])?;
    let Some(name) = section.text("name")? else {
        return Err(section.wrong("name", "it is missing", "give the candidate a name, for results"));
    };
    if name.is_empty() || name != name.trim() || name.chars().any(char::is_control) {
        let problem = "it is empty, or has spaces around it or control characters";
        return Err(section.wrong("name", problem, "give a name that can head a column"));
    }
    if section.number("end")?.is_some_and(|end| !(end > 0.0 && end.is_finite())) {
        return Err(section.wrong("end", "it is not behind the start", "give a time in s after 0"));
    }
    let numbers = |key: &str| -> Result<Vec<(String, f64)>> {
        let mut all = Vec::new();
        if let Some(table) = section.section(key)? {
            for name in table_keys(table.table) {
                all.extend(table.number(&name)?.map(|value| (name, value)));
            }
        }
        Ok(all)
    };
    let data = match files_of(section)? {
        Some((file, more)) if !more.is_empty() => {
            let problem = format!("there are {} files, {} first", 1 + more.len(), file.display());
            return Err(section.wrong("file", problem, "name one"));
        }
        Some(_) => Some(driven(section, &DataSource::default())?),
        None => None,
    };
    if data.is_none()
        && let Some(key) = ["time", "time_unit", "inputs", "interpolation", "max_gap"]
            .iter()
            .find(|key| section.table.contains_key(**key))
    {
        return Err(section.wrong(key, "there is no record that it is about", "add: file = \"inputs.csv\""));
    }
    Ok(CandidateSetting {
        name,
        data,
        like: section.text("like")?,
        end: section.number("end")?,
        sampling: section.number("sampling")?,
        outputs: numbers("outputs")?,
        parameters: numbers("parameters")?,
        number,
    })
}
