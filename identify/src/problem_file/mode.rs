//! Measured modes.

use super::keys;
use super::section::Section;
use crate::modal::{MeasuredMode, ModeQuantity};
use crate::{Error, Result};

/// All that was measured of one mode.
pub(super) fn mode(section: &Section<'_>) -> Result<Vec<MeasuredMode>> {
    section.only(&[&keys::MODE])?;
    let missing = || section.wrong("number", "it is missing", "count modes, the slowest first: number = 1");
    let number = section.count("number")?.ok_or_else(missing)?;
    let mut all = Vec::new();
    for quantity in ModeQuantity::ALL {
        let key = quantity.key();
        if section.table.contains_key(key) {
            let [value, deviation] = section.pair(key, "write value and standard deviation: [2.31, 0.01]")?;
            let measured = MeasuredMode { number, quantity, value, deviation };
            measured.validate().map_err(|error| section.at(key, error))?;
            all.push(measured);
        }
    }
    if all.is_empty() {
        let remedy = "add natural_frequency, damped_frequency or damping_ratio";
        return Err(section.at("", Error::invalid(section.place(), "nothing was measured of it", remedy)));
    }
    Ok(all)
}
