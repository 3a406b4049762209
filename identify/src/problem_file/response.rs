//! Measured frequency responses.

use super::keys;
use super::section::Section;
use crate::Result;
use crate::specification::{ResponseSetting, beside};

/// One of them.
pub(super) fn response(section: &Section<'_>) -> Result<ResponseSetting> {
    section.only(&[&keys::RESPONSE])?;
    let needed = |key: &str, remedy: &str| {
        let text = section.text(key)?;
        text.ok_or_else(|| section.wrong(key, "it is missing", remedy))
    };
    let file = needed("file", "name the record: file = \"response.csv\"")?;
    let input = needed("input", "name the input of the model that the response is from")?;
    let output = needed("output", "name the output of the model that it leads to")?;
    let positive = |key: &str| match section.number(key)? {
        Some(value) if !(value.is_finite() && value > 0.0) => {
            Err(section.wrong(key, format!("it is {value}"), "give a number above 0"))
        }
        value => Ok(value),
    };
    let coherence = match (section.text("coherence")?, positive("averages")?) {
        (Some(column), Some(averages)) => Some((column, averages)),
        (Some(_), None) => {
            let remedy = "give the number of windows that the analyser has averaged over: averages = 50";
            return Err(section.wrong("averages", "it is missing beside `coherence`", remedy));
        }
        (None, Some(_)) => {
            return Err(section.wrong("averages", "there is no `coherence`", "name the column of coherence, too"));
        }
        (None, None) => None,
    };
    Ok(ResponseSetting {
        file: beside(section.file, file.as_ref()),
        input,
        output,
        name: section.text("name")?,
        frequency: (section.text("frequency")?, section.text("frequency_unit")?),
        magnitude: section.text("magnitude")?,
        phase: (section.text("phase")?, section.text("phase_unit")?),
        real: section.text("real")?,
        imaginary: section.text("imaginary")?,
        unit: section.text("unit")?,
        from: section.number("from")?,
        until: section.number("until")?,
        comparison: section.named("compare", str::parse)?,
        deviation: positive("deviation")?,
        relative_deviation: positive("relative_deviation")?,
        coherence,
    })
}
