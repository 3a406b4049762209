//! The spectrum of an output, from a file.

use super::keys;
use super::section::Section;
use crate::Result;
use crate::specification::{LinesSetting, SpectrumSetting};

/// Revolutions of a window of an order, where nothing is said.
const REVOLUTIONS: f64 = 16.0;

pub(super) fn spectrum(section: &Section<'_>) -> Result<SpectrumSetting> {
    section.only(&[&keys::SPECTRUM])?;
    let lines = match (section.numbers("frequencies")?, section.numbers("orders")?, section.table.contains_key("band"))
    {
        (Some(frequencies), None, false) => LinesSetting::Frequencies(frequencies),
        (None, Some(orders), false) => self::orders(section, orders)?,
        (None, None, true) => {
            let band = section.pair("band", "write it as [5.0, 50.0]")?;
            let missing = || section.wrong("resolution", "it is missing", "give one, such as resolution = 0.5");
            let resolution = section.number("resolution")?.ok_or_else(missing)?;
            match section.text("response_to")? {
                Some(input) => LinesSetting::Response(input, band, resolution),
                None => LinesSetting::Band(band, resolution),
            }
        }
        (None, None, false) => {
            let remedy = "give one of frequencies = [..], orders = [..] and band = [.., ..]";
            return Err(section.wrong("frequencies", "nothing says where the lines are", remedy));
        }
        _ => {
            let key = if section.table.contains_key("frequencies") { "frequencies" } else { "orders" };
            return Err(section.wrong(key, "there are others beside it", "give one of frequencies, orders and band"));
        }
    };
    for (key, fits, of) in [
        ("speed", matches!(lines, LinesSetting::Orders { .. }), "orders"),
        ("speeds", matches!(lines, LinesSetting::Orders { .. }), "orders"),
        ("revolutions", matches!(lines, LinesSetting::Orders { .. }), "orders"),
        ("resolution", matches!(lines, LinesSetting::Band(..) | LinesSetting::Response(..)), "band"),
        ("response_to", matches!(lines, LinesSetting::Response(..)), "band"),
    ] {
        if !fits && section.table.contains_key(key) {
            return Err(section.wrong(key, format!("it belongs to `{of}`"), "leave it out"));
        }
    }
    let window = section.named("window", str::parse)?.unwrap_or_default();
    let part = section.named("compare", str::parse)?.unwrap_or_default();
    Ok(SpectrumSetting { lines, window, part })
}

fn orders(section: &Section<'_>, orders: Vec<f64>) -> Result<LinesSetting> {
    let remedy = "name the column of the shaft's speed: speed = \"COLUMN\"";
    let speed = section.text("speed")?.ok_or_else(|| section.wrong("speed", "it is missing", remedy))?;
    let remedy = "write it as [1000.0, 2000.0] or { from = 1000.0, until = 6000.0, count = 51 }";
    let speeds = match section.table.get("speeds") {
        None => return Err(section.wrong("speeds", "it is missing", remedy)),
        Some(toml::Value::Table(_)) => {
            let range = section.section("speeds")?;
            let numbers = match &range {
                Some(range) => (range.number("from")?, range.number("until")?, range.count("count")?),
                None => (None, None, None),
            };
            match numbers {
                (Some(from), Some(until), Some(count @ 2..=100_000)) => {
                    (0..count).map(|k| from + (until - from) * k as f64 / (count - 1) as f64).collect()
                }
                _ => return Err(section.wrong("speeds", "it is no range", remedy)),
            }
        }
        Some(_) => section.numbers("speeds")?.unwrap_or_default(),
    };
    let revolutions = section.number("revolutions")?.unwrap_or(REVOLUTIONS);
    Ok(LinesSetting::Orders { orders, speed, speeds, revolutions })
}
