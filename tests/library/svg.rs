//! What tests of pictures find in SVG files.

use costate::{Error, Result};

/// Units of an SVG a millimetre.
pub const UNITS: f64 = 50.0;

/// Radii of joints and of centres of mass in mm, with their outlines.
pub const JOINT: f64 = 0.99;
pub const CENTER: f64 = 0.89;

/// An attribute of an SVG tag.
pub fn attribute(tag: &str, name: &str) -> Option<String> {
    let rest = &tag[tag.find(&format!(" {name}=\""))? + name.len() + 3..];
    Some(rest[..rest.find('"')?].to_string())
}

/// Dark circles of a radius in mm: (x, y) in units.
pub fn circles(svg: &str, radius: f64) -> Vec<(f64, f64)> {
    let number = |tag: &str, name: &str| attribute(tag, name).unwrap().parse::<f64>().unwrap();
    let dark = svg.lines().filter(|line| line.starts_with("<circle ") && line.contains("fill=\"#323232\""));
    let wanted = dark.filter(|tag| (number(tag, "r") - UNITS * radius).abs() <= 0.5);
    wanted.map(|tag| (number(tag, "cx"), number(tag, "cy"))).collect()
}

/// Where a tick of the horizontal axis with this label is.
pub fn tick(svg: &str, label: &str) -> f64 {
    let text = svg.lines().find(|line| line.contains("\"middle\"") && line.ends_with(&format!(">{label}</text>")));
    attribute(text.unwrap_or_else(|| panic!("no tick `{label}`")), "x").unwrap().parse().unwrap()
}

/// How many things are drawn, but for the labels and ticks of axes, which depend on the size.
pub fn elements(svg: &str) -> usize {
    assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
    svg.lines().filter(|line| !line.starts_with("<text ") && !line.contains("#000000")).count()
}

#[track_caller]
pub fn assert_refused<T, E: Into<costate_identify::Error>>(result: Result<T, E>, parts: &[&str]) {
    let Err(error) = result else { panic!("nothing is refused") };
    let error = error.into();
    assert!(matches!(error.engine(), Some(Error::Invalid { .. })), "{error:?}");
    let text = error.to_string();
    for part in parts {
        assert!(text.contains(part), "`{part}` is missing in: {text}");
    }
}
