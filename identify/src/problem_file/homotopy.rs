//! `homotopy` in `[optimiser]`.

use super::keys;
use super::section::Section;
use crate::Result;
use crate::homotopy::Homotopy;
use toml::Value;

/// `true`, or a table of its settings.
pub(super) fn homotopy(optimiser: &Section<'_>) -> Result<Option<Homotopy>> {
    let Some(Value::Table(_)) = optimiser.table.get("homotopy") else {
        return Ok(optimiser.flag("homotopy")?.filter(|asked| *asked).map(|_| Homotopy::default()));
    };
    let Some(section) = optimiser.section("homotopy")? else { return Ok(None) };
    section.only(&[&keys::HOMOTOPY])?;
    let usual = Homotopy::default();
    let homotopy = Homotopy {
        stages: section.count("stages")?.unwrap_or(usual.stages),
        gain: section.number("gain")?.unwrap_or(usual.gain),
    };
    homotopy.validate().map_err(|error| optimiser.at("homotopy", error))?;
    Ok(Some(homotopy))
}
