//! Schemes by name: those of this crate, and those that others add.

use super::{Ali3p, Bdf2, Form, GeneralizedAlpha, Hht, I2p, InverseDynamics, Scheme};
use crate::{Error, Result};
use std::sync::{Arc, PoisonError, RwLock};

/// Names of settings, and their values where nothing else is said.
type Settings = &'static [(&'static str, f64)];
/// A scheme of the values of its settings, in their order.
type Make = fn(&[f64]) -> Result<Arc<dyn Scheme>>;

/// A scheme by name: its settings, and how it is made of their values.
#[derive(Debug, Clone, Copy)]
pub struct SchemeEntry {
    name: &'static str,
    settings: Settings,
    make: Make,
}

impl SchemeEntry {
    /// A scheme with its settings, each with its usual value; `make` takes their values in the same order. Names are those of
    /// [`Description`](super::Description).
    pub const fn new(name: &'static str, settings: Settings, make: Make) -> Self {
        SchemeEntry { name, settings, make }
    }

    /// True if the scheme has this setting.
    fn has(&self, setting: &str) -> bool {
        self.settings.iter().any(|(own, _)| *own == setting)
    }
}

const ALPHA: (&str, f64) = ("alpha", -0.05);
const PENALTIES: [(&str, f64); 2] = [("penalty", f64::INFINITY), ("pure_penalty", f64::INFINITY)];
const RADIUS: [(&str, f64); 1] = [("spectral_radius", 0.8)];

/// The schemes of this crate.
const SCHEMES: [SchemeEntry; 8] = [
    SchemeEntry::new("hht", &[ALPHA, ("start_order", 1.0)], |set| Ok(Arc::new(Hht::new(set[0])?.start_order(set[1])?))),
    SchemeEntry::new("hht-literal", &[ALPHA], |set| Ok(Arc::new(Hht::new(set[0])?.form(Form::Literal)))),
    SchemeEntry::new("newmark", &[("gamma", 0.5)], |set| Ok(Arc::new(GeneralizedAlpha::newmark(set[0])?))),
    SchemeEntry::new("trapezoidal", &[], |_| Ok(Arc::new(GeneralizedAlpha::trapezoidal()))),
    SchemeEntry::new("generalized-alpha", &RADIUS, |set| Ok(Arc::new(GeneralizedAlpha::new(set[0])?))),
    SchemeEntry::new("ali3p", &PENALTIES, |set| Ok(Arc::new(Ali3p::new(set[0])?.pure_penalty(set[1])?))),
    SchemeEntry::new("i2p", &RADIUS, |set| Ok(Arc::new(I2p::new(set[0])?))),
    SchemeEntry::new("bdf2", &[], |_| Ok(Arc::new(Bdf2))),
];

/// What takes the place of a scheme where the motion is given.
const OF_GIVEN_MOTION: SchemeEntry = SchemeEntry::new("inverse-dynamics", &[], |_| Ok(Arc::new(InverseDynamics)));

/// The schemes of others, in the order in which they were registered.
static REGISTERED: RwLock<Vec<SchemeEntry>> = RwLock::new(Vec::new());

/// The schemes that this process knows.
fn all() -> Vec<SchemeEntry> {
    // entries are pushed whole: a list that a panic has left behind is one
    let registered = REGISTERED.read().unwrap_or_else(PoisonError::into_inner);
    SCHEMES.iter().chain(registered.iter()).copied().collect()
}

/// Lets this process know another scheme by its name, in commands and problem files as in [`by_name`]. Registering a scheme again changes nothing.
///
/// # Errors
/// A name that cannot be one in commands and files, or that another scheme bears; a scheme that cannot be made of its own settings, or that describes
/// itself by another name or other settings; a step that solves no balance of forces.
pub fn register(entry: SchemeEntry) -> Result<()> {
    let SchemeEntry { name, settings, make } = entry;
    let subject = || format!("scheme `{name}`");
    let is_plain = |name: &str| {
        let starts_well = name.starts_with(|first: char| first.is_ascii_lowercase());
        starts_well && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_')
    };
    if !is_plain(name) || settings.iter().any(|(setting, _)| !is_plain(setting)) {
        let problem = "its name and those of its settings are no plain words";
        return Err(Error::invalid(subject(), problem, "take lower-case letters, digits, `-` and `_`"));
    }
    let scheme = make(&settings.iter().map(|(_, value)| *value).collect::<Vec<f64>>())?;
    let description = scheme.description();
    let own: Vec<&str> = settings.iter().map(|(setting, _)| *setting).collect();
    if description.name != name || description.settings.iter().any(|(setting, _)| !own.contains(setting)) {
        let problem = format!("it describes itself as `{}` with other settings or by another name", description.name);
        return Err(Error::invalid(subject(), problem, "use the same names in `Scheme::description`"));
    }
    let mut balances = Vec::new();
    scheme.step(1e-3, 1.0, &mut balances);
    if !balances.iter().any(|balance| balance.equations.forces) {
        let problem = "none of its balances is one of forces";
        return Err(Error::invalid(subject(), problem, "let `Scheme::step` give at least one with `forces`"));
    }
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    let known = SCHEMES.iter().chain([&OF_GIVEN_MOTION]).chain(registered.iter()).find(|known| known.name == name);
    match known.copied() {
        None => registered.push(entry),
        Some(known) if std::ptr::fn_addr_eq(known.make, make) => {}
        Some(_) => return Err(Error::invalid(subject(), "another scheme has this name", "choose another name")),
    }
    Ok(())
}

/// Names of all schemes that integrate: all but `inverse-dynamics`.
pub fn names() -> Vec<&'static str> {
    all().iter().map(|entry| entry.name).collect()
}

/// A scheme by its name, with settings other than its own.
///
/// # Errors
/// Names of schemes and settings that do not exist, and values that make no sense.
pub fn by_name(name: &str, settings: &[(String, f64)]) -> Result<Arc<dyn Scheme>> {
    if name.is_empty() {
        let remedy = format!("name one of {}", names().join(", "));
        return Err(Error::invalid("the scheme", "its name is missing", remedy));
    }
    let known = || all().into_iter().chain([OF_GIVEN_MOTION]);
    let found = known().find(|entry| entry.name == name);
    let entry = found.ok_or_else(|| Error::unknown("scheme", name, "", known().map(|entry| entry.name)))?;
    let mut values: Vec<f64> = entry.settings.iter().map(|(_, value)| *value).collect();
    for (asked, number) in settings {
        let place = entry.settings.iter().position(|(own, _)| own == asked);
        values[place.ok_or_else(|| wrong_setting(&entry, asked))?] = *number;
    }
    (entry.make)(&values)
}

/// The error about a setting that a scheme does not have, with a remedy.
fn wrong_setting(scheme: &SchemeEntry, asked: &str) -> Error {
    let SchemeEntry { name, settings, .. } = scheme;
    let others: Vec<&str> = all().iter().filter(|entry| entry.has(asked)).map(|entry| entry.name).collect();
    let own: Vec<&str> = settings.iter().map(|(name, _)| *name).collect();
    let problem = match own.as_slice() {
        [] => format!("scheme `{name}` has no settings"),
        _ if others.is_empty() => return Error::unknown("setting", asked, format!("scheme `{name}`"), own),
        [one] => format!("scheme `{name}` has `{one}` alone"),
        _ => format!("scheme `{name}` has `{}`", own.join("` and `")),
    };
    let remedy = match others.as_slice() {
        [] => "leave it out".to_string(),
        [one] => format!("leave it out, or take {one}, which has it"),
        _ => format!("leave it out, or take {}, which have it", others.join(" or ")),
    };
    Error::invalid(format!("setting `{asked}`"), problem, remedy)
}

/// True if a scheme has a setting.
pub fn has_setting(name: &str, setting: &str) -> bool {
    all().iter().any(|entry| entry.name == name && entry.has(setting))
}

/// Names of all settings that a scheme may have.
pub fn settings() -> Vec<&'static str> {
    let mut names: Vec<&str> = all().iter().flat_map(|entry| entry.settings.iter().map(|(name, _)| *name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}
