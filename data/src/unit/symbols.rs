//! The symbols of units, and what each is in SI.
//!
//! A line is one unit; prefixes, powers and products make all others of them. Factors are exact by definition (SI brochure, 9th edition; the
//! international yard and pound of 1959) or follow from such.

use std::f64::consts::{PI, TAU};

/// Exponents of metre, kilogram, second, ampere, kelvin, radian and cycle.
pub(super) type Exponents = [i8; 7];

/// Standard gravity, m/s².
const GRAVITY: f64 = 9.80665;
/// Pound, kg.
const POUND: f64 = 0.45359237;
/// Inch, m.
const INCH: f64 = 0.0254;

/// Prefixes that a unit takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Prefixes {
    None,
    /// Thousands: k, M, G.
    Large,
    /// Thousandths: m, µ, n.
    Small,
    /// All but c, d, da and h.
    Thousands,
    All,
}
use Prefixes::{All, Large, None as Bare, Small, Thousands};

/// A unit with its names.
#[derive(Debug)]
pub(super) struct Symbol {
    /// Symbols as they are written, capitals and all; a prefix is a letter.
    pub symbols: &'static [&'static str],
    /// Names that are written in any capitals, and perhaps with `s` at the end; a prefix is a word.
    pub words: &'static [&'static str],
    pub exponents: Exponents,
    pub factor: f64,
    pub prefixes: Prefixes,
}

const fn unit(
    symbols: &'static [&'static str],
    words: &'static [&'static str],
    exponents: Exponents,
    factor: f64,
    prefixes: Prefixes,
) -> Symbol {
    Symbol { symbols, words, exponents, factor, prefixes }
}

const LENGTH: Exponents = [1, 0, 0, 0, 0, 0, 0];
const MASS: Exponents = [0, 1, 0, 0, 0, 0, 0];
const TIME: Exponents = [0, 0, 1, 0, 0, 0, 0];
const ANGLE: Exponents = [0, 0, 0, 0, 0, 1, 0];
const TURNING: Exponents = [0, 0, -1, 0, 0, 1, 0];
const NUMBER: Exponents = [0; 7];
const SPEED: Exponents = [1, 0, -1, 0, 0, 0, 0];
const ACCELERATION: Exponents = [1, 0, -2, 0, 0, 0, 0];
const FORCE: Exponents = [1, 1, -2, 0, 0, 0, 0];
const PRESSURE: Exponents = [-1, 1, -2, 0, 0, 0, 0];
const ENERGY: Exponents = [2, 1, -2, 0, 0, 0, 0];
const POWER: Exponents = [2, 1, -3, 0, 0, 0, 0];
const VOLUME: Exponents = [3, 0, 0, 0, 0, 0, 0];
const TEMPERATURE: Exponents = [0, 0, 0, 0, 1, 0, 0];

/// All of them; where two share a name, the first is preferred, and the other is taken where only it fits.
pub(super) const SYMBOLS: &[Symbol] = &[
    unit(&["m"], &["metre", "meter"], LENGTH, 1.0, All),
    unit(&["in", "\""], &["inch", "inches"], LENGTH, INCH, Bare),
    unit(&["ft", "'"], &["foot", "feet"], LENGTH, 12.0 * INCH, Bare),
    unit(&["yd"], &["yard"], LENGTH, 36.0 * INCH, Bare),
    unit(&["mi"], &["mile"], LENGTH, 63360.0 * INCH, Bare),
    unit(&["thou"], &["mil"], LENGTH, 1e-3 * INCH, Bare),
    unit(&[], &["micron"], LENGTH, 1e-6, Bare),
    unit(&["g"], &["gram", "gramme"], MASS, 1e-3, All),
    // nobody measures in thousands of g, and a kilogram is a mass
    unit(&["g", "gn", "g0", "G"], &["gee"], ACCELERATION, GRAVITY, Small),
    unit(&["t"], &["tonne"], MASS, 1e3, Large),
    unit(&["lb", "lbs", "lbm"], &["pound"], MASS, POUND, Bare),
    unit(&["lbf", "lb", "lbs"], &["pound", "poundforce"], FORCE, POUND * GRAVITY, Large),
    unit(&["oz"], &["ounce"], MASS, POUND / 16.0, Bare),
    unit(&["ozf", "oz"], &["ounce"], FORCE, POUND * GRAVITY / 16.0, Bare),
    unit(&[], &["slug"], MASS, POUND * GRAVITY / (12.0 * INCH), Bare),
    unit(&["s", "sec"], &["second", "sec", "secs"], TIME, 1.0, Thousands),
    unit(&["min"], &["minute", "min", "mins"], TIME, 60.0, Bare),
    unit(&["h", "hr"], &["hour", "hr", "hrs"], TIME, 3600.0, Bare),
    unit(&["d"], &["day"], TIME, 86400.0, Bare),
    unit(&["A"], &["ampere", "amp"], [0, 0, 0, 1, 0, 0, 0], 1.0, Thousands),
    // of degrees see `super::scale_of_temperature`: here they are differences
    unit(&["K", "°C", "degC"], &["kelvin", "celsius"], TEMPERATURE, 1.0, Thousands),
    unit(&["°F", "degF"], &["fahrenheit"], TEMPERATURE, 5.0 / 9.0, Bare),
    unit(&["rad"], &["radian", "rad"], ANGLE, 1.0, Small),
    unit(&["deg", "°", "º"], &["degree", "deg"], ANGLE, PI / 180.0, Small),
    unit(&["arcmin"], &["arcmin"], ANGLE, PI / 10800.0, Bare),
    unit(&["arcsec"], &["arcsec"], ANGLE, PI / 648000.0, Bare),
    unit(&["gon"], &["gon"], ANGLE, PI / 200.0, Bare),
    unit(&["rev", "r", "tr", "U"], &["turn", "revolution", "rev"], ANGLE, TAU, Bare),
    unit(&["rpm"], &["rpm"], TURNING, TAU / 60.0, Large),
    unit(&["rps"], &["rps"], TURNING, TAU, Bare),
    unit(&["dps"], &["dps"], TURNING, PI / 180.0, Bare),
    unit(&["Hz"], &["hertz", "hz", "cps"], [0, 0, -1, 0, 0, 0, 1], 1.0, Thousands),
    unit(&["cycle"], &["cycle"], [0, 0, 0, 0, 0, 0, 1], 1.0, Bare),
    unit(&["%"], &["percent"], NUMBER, 1e-2, Bare),
    unit(&["‰"], &[], NUMBER, 1e-3, Bare),
    unit(&["ppm"], &["ppm"], NUMBER, 1e-6, Bare),
    unit(&["kph", "kmh"], &["kph", "kmh"], SPEED, 1.0 / 3.6, Bare),
    unit(&["mph"], &["mph"], SPEED, 63360.0 * INCH / 3600.0, Bare),
    unit(&["mps"], &["mps"], SPEED, 1.0, Bare),
    unit(&["kn"], &["knot"], SPEED, 1852.0 / 3600.0, Bare),
    unit(&["Gal"], &[], ACCELERATION, 1e-2, Thousands),
    unit(&["N"], &["newton"], FORCE, 1.0, All),
    unit(&["kgf", "kp"], &[], FORCE, GRAVITY, Bare),
    unit(&["gf"], &[], FORCE, 1e-3 * GRAVITY, Bare),
    unit(&["dyn"], &["dyne"], FORCE, 1e-5, Bare),
    unit(&["Pa"], &["pascal"], PRESSURE, 1.0, All),
    unit(&["bar"], &["bar"], PRESSURE, 1e5, Thousands),
    unit(&["psi"], &["psi"], PRESSURE, POUND * GRAVITY / (INCH * INCH), Large),
    unit(&["atm"], &[], PRESSURE, 101325.0, Bare),
    unit(&["J"], &["joule"], ENERGY, 1.0, Thousands),
    unit(&["W"], &["watt"], POWER, 1.0, Thousands),
    unit(&["l", "L"], &["litre", "liter"], VOLUME, 1e-3, All),
    unit(&["cc"], &[], VOLUME, 1e-6, Bare),
    unit(&["C"], &["coulomb"], [0, 0, 1, 1, 0, 0, 0], 1.0, Thousands),
    unit(&["V"], &["volt"], [2, 1, -3, -1, 0, 0, 0], 1.0, Thousands),
    unit(&["Ohm", "ohm", "Ω"], &["ohm"], [2, 1, -3, -2, 0, 0, 0], 1.0, Thousands),
    unit(&["S"], &["siemens"], [-2, -1, 3, 2, 0, 0, 0], 1.0, Thousands),
    unit(&["F"], &["farad"], [-2, -1, 4, 2, 0, 0, 0], 1.0, Thousands),
    unit(&["H"], &["henry"], [2, 1, -2, -2, 0, 0, 0], 1.0, Thousands),
    unit(&["Wb"], &["weber"], [2, 1, -2, -1, 0, 0, 0], 1.0, Thousands),
    unit(&["T"], &["tesla"], [0, 1, -2, -1, 0, 0, 0], 1.0, Thousands),
    unit(&["G"], &["gauss"], [0, 1, -2, -1, 0, 0, 0], 1e-4, Thousands),
];

/// Letters of prefixes, their words, and factors.
const PREFIXES: &[(&str, &str, f64)] = &[
    ("k", "kilo", 1e3),
    ("m", "milli", 1e-3),
    ("u", "micro", 1e-6),
    ("n", "nano", 1e-9),
    ("M", "mega", 1e6),
    ("G", "giga", 1e9),
    ("T", "tera", 1e12),
    ("P", "peta", 1e15),
    ("E", "exa", 1e18),
    ("p", "pico", 1e-12),
    ("f", "femto", 1e-15),
    ("a", "atto", 1e-18),
    ("c", "centi", 1e-2),
    ("d", "deci", 1e-1),
    ("h", "hecto", 1e2),
    ("da", "deca", 1e1),
];

impl Prefixes {
    fn allow(self, prefix: &str) -> bool {
        match self {
            Bare => false,
            Large => ["k", "M", "G"].contains(&prefix),
            Small => ["m", "u", "n"].contains(&prefix),
            Thousands => !["c", "d", "h", "da"].contains(&prefix),
            All => true,
        }
    }
}

/// The units of a name, with the factors of their prefixes: none, or one, or several where people write different things alike.
pub(super) fn of_name(name: &str) -> Vec<(&'static Symbol, f64)> {
    let plain = SYMBOLS.iter().filter(|unit| unit.symbols.contains(&name)).map(|unit| (unit, 1.0));
    let prefixed = || {
        let parts =
            PREFIXES.iter().filter_map(|(prefix, _, factor)| Some((*prefix, name.strip_prefix(prefix)?, *factor)));
        parts.flat_map(|(prefix, rest, factor)| {
            let of = move |unit: &&Symbol| unit.prefixes.allow(prefix) && unit.symbols.contains(&rest);
            SYMBOLS.iter().filter(of).map(move |unit| (unit, factor))
        })
    };
    let found: Vec<_> = plain.collect();
    let found = if found.is_empty() { prefixed().collect() } else { found };
    if found.is_empty() { of_word(&name.to_lowercase()) } else { found }
}

fn of_word(word: &str) -> Vec<(&'static Symbol, f64)> {
    let is = |unit: &Symbol, word: &str| {
        unit.words.contains(&word)
            || word.strip_suffix('s').is_some_and(|one| one.len() > 2 && unit.words.contains(&one))
    };
    let plain: Vec<_> = SYMBOLS.iter().filter(|unit| is(unit, word)).map(|unit| (unit, 1.0)).collect();
    if !plain.is_empty() {
        return plain;
    }
    let parts = PREFIXES.iter().flat_map(|(letter, prefix, factor)| {
        // `msec` is as usual as `millisecond`
        [*prefix, *letter].into_iter().filter_map(|own| word.strip_prefix(own)).map(|rest| (*letter, rest, *factor))
    });
    parts
        .filter(|(_, rest, _)| rest.len() >= 2)
        .flat_map(|(letter, rest, factor)| {
            let of = move |unit: &&Symbol| unit.prefixes.allow(letter) && is(unit, rest);
            SYMBOLS.iter().filter(of).map(move |unit| (unit, factor))
        })
        .collect()
}

/// The names of two units, or three, with nothing between them: `Nm`, `kgm2`, `mAh`; `Nms` is N m s.
pub(super) fn joined(name: &str) -> Option<Vec<&str>> {
    const HEADS: [&str; 15] = ["N", "kg", "Pa", "A", "V", "W", "J", "C", "lbf", "lb", "ozf", "oz", "ft", "in", "kgf"];
    const TAILS: [&str; 12] = ["m", "mm", "cm", "s", "h", "K", "in", "ft", "lb", "lbf", "rad", "A"];
    let is_head = |head: &str| {
        let behind_prefix = || head.char_indices().nth(1).map(|(place, _)| &head[place..]);
        HEADS.contains(&head) || behind_prefix().is_some_and(|rest| HEADS.contains(&rest)) && !of_name(head).is_empty()
    };
    let cuts = name.char_indices().map(|(place, _)| name.split_at(place)).filter(|(head, _)| is_head(head));
    cuts.into_iter().find_map(|(head, tail)| match tail {
        "ms" => Some(vec![head, "m", "s"]),
        tail => TAILS.contains(&tail).then(|| vec![head, tail]),
    })
}
