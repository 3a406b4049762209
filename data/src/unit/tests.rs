use super::*;
use proptest::prelude::*;
use std::f64::consts::{PI, TAU};

fn factor(from: &str, to: &str) -> Option<f64> {
    match conversion(from, to) {
        Conversion::Same => Some(1.0),
        Conversion::Factor(factor) => Some(factor),
        Conversion::Refused(_) => None,
    }
}

/// Protects spellings: units that are one, however they are written, are the same, and no factor is said of them.
#[test]
fn one_unit_has_many_spellings() {
    for all in [
        &[
            "N m",
            "Nm",
            "N*m",
            "N.m",
            "N·m",
            "N⋅m",
            "N-m",
            "(N m)",
            "J",
            "kg m^2/s^2",
            "kg·m²·s⁻²",
            "newton meters",
            "W s",
        ][..],
        &[
            "m/s^2", "m/s2", "m s^-2", "m/s²", "m s⁻²", "m*s^-2", "m s-2", "m.s-2", "m/s/s", "m/(s^2)", "m / s ^2",
            "m/s**2", "(m/s²)", "N/kg",
        ],
        &["rad/s", "rad s^-1", "rad*s^-1", "rad·s⁻¹", "rads/sec", "radians per second", "Rad/s"],
        &["N s/m", "N·s/m", "N s m^-1", "Ns/m", "kg/s"],
        &["kg m^2", "kgm2", "kg·m²", "kg*m^2", "kg.m2", "N m s^2"],
        &["N m s/rad", "Nms/rad", "N·m·s/rad", "N m/(rad/s)"],
        &["rpm", "RPM", "r/min", "rev/min", "tr/min", "U/min", "turns/minute"],
        &["ms", "msec", "Msecs", "millisecond", "milliseconds", "1e-3 s", "10^-3 s"],
        &["µm", "μm", "um", "micron", "micrometer"],
        &["deg", "°", "degrees", "Deg", "º"],
        &["1", "", "-", "m/m", "none", "rad/rad"],
        &["Hz", "hz", "1/s", "s^-1", "cycles/s", "cps"],
        &["V", "volts", "W/A", "kg m^2 s^-3 A^-1"],
        &["°C", "degC", "deg C", "Celsius"],
        &["kg^0.5 m", "kg^(1/2) m"],
        &["lbf ft", "ft-lb", "ft lb", "ftlb", "lbft", "ft·lbf", "lbf-ft"],
    ] {
        for text in all {
            assert_eq!(conversion(text, all[0]), Conversion::Same, "{text} to {}", all[0]);
            assert_eq!(conversion(all[0], text), Conversion::Same, "{} to {text}", all[0]);
        }
    }
}

/// Protects values: factors by definition, to round-off.
#[test]
fn factors_are_those_of_the_definitions() {
    for (from, to, expected) in [
        ("rpm", "rad/s", TAU / 60.0),
        ("krpm", "rad/s", 1e3 * TAU / 60.0),
        ("rad/s", "rpm", 60.0 / TAU),
        ("rev/s", "rad/s", TAU),
        ("deg", "rad", PI / 180.0),
        ("mdeg", "rad", 1e-3 * PI / 180.0),
        ("deg/s", "rad/s", PI / 180.0),
        ("dps", "rad/s", PI / 180.0),
        ("°/s²", "rad/s^2", PI / 180.0),
        ("turns", "rad", TAU),
        ("mrad", "rad", 1e-3),
        ("Hz", "rad/s", TAU),
        ("kHz", "rad/s", 1e3 * TAU),
        ("rpm", "Hz", 1.0 / 60.0),
        ("1/min", "Hz", 1.0 / 60.0),
        ("mm", "m", 1e-3),
        ("µm", "m", 1e-6),
        ("nm", "m", 1e-9),
        ("cm", "m", 1e-2),
        ("km", "m", 1e3),
        ("in", "m", 0.0254),
        ("ft", "m", 0.3048),
        ("mils", "m", 2.54e-5),
        ("mm/s", "m/s", 1e-3),
        ("km/h", "m/s", 1.0 / 3.6),
        ("kph", "m/s", 1.0 / 3.6),
        ("mph", "m/s", 0.44704),
        ("in/s", "m/s", 0.0254),
        ("g", "m/s^2", 9.80665),
        ("mg", "m/s^2", 9.80665e-3),
        ("G", "m/s²", 9.80665),
        ("g0", "m/s²", 9.80665),
        ("mm/s²", "m/s^2", 1e-3),
        ("Gal", "m/s^2", 1e-2),
        ("g", "kg", 1e-3),
        ("mg", "kg", 1e-6),
        ("t", "kg", 1e3),
        ("lb", "kg", 0.45359237),
        ("lb", "N", 4.4482216152605),
        ("lbf", "N", 4.4482216152605),
        ("klbf", "N", 4448.2216152605),
        ("lbs", "N", 4.4482216152605),
        ("kgf", "N", 9.80665),
        ("kN", "N", 1e3),
        ("mN", "N", 1e-3),
        ("daN", "N", 10.0),
        ("mNm", "N m", 1e-3),
        ("kN·m", "N m", 1e3),
        ("Nmm", "N m", 1e-3),
        ("N cm", "N m", 1e-2),
        ("ft lbf", "N m", 1.3558179483314004),
        ("in-lb", "N m", 0.1129848290276167),
        ("ozf in", "N m", 0.00706155181422604),
        ("ms", "s", 1e-3),
        ("min", "s", 60.0),
        ("h", "s", 3600.0),
        ("us", "s", 1e-6),
        ("ns", "s", 1e-9),
        ("days", "s", 86400.0),
        ("bar", "Pa", 1e5),
        ("mbar", "Pa", 1e2),
        ("MPa", "Pa", 1e6),
        ("N/mm^2", "Pa", 1e6),
        ("psi", "Pa", 6894.757293168361),
        ("mV", "V", 1e-3),
        ("mA", "A", 1e-3),
        ("kWh", "J", 3.6e6),
        ("mAh", "C", 3.6),
        ("%", "1", 1e-2),
        ("N/mm", "N/m", 1e3),
        ("lbf/in", "N/m", 175.12683524647636),
        ("g cm^2", "kg m^2", 1e-7),
        ("kg mm²", "kg m²", 1e-6),
        ("l/min", "m^3/s", 1e-3 / 60.0),
        ("degC/min", "K/s", 1.0 / 60.0),
    ] {
        let found = factor(from, to).unwrap_or(f64::NAN);
        assert!((found / expected - 1.0).abs() < 1e-14, "1 {from} is {found} {to}, not {expected}");
    }
    // what is a whole part of a unit is so to the last bit
    assert_eq!(conversion("ms", "s").apply(3.0), 0.003);
    assert_eq!(conversion("mm", "m").apply(7.0), 0.007);
}

/// Protects from factors that nobody knows: other quantities, plain numbers for angles, scales with another zero, and free text.
#[test]
fn what_no_factor_leads_to_is_refused() {
    for (from, to, part) in [
        ("N", "m/s^2", "different quantities: m kg s^-2 and m s^-2"),
        ("1/s", "rad/s", "about an angle"),
        ("1/min", "rad/s", "about an angle"),
        ("1", "rad", "about an angle"),
        ("deg", "1", "about an angle"),
        ("rpm", "1/s", "about an angle"),
        ("°C", "K", "zero is not the same temperature"),
        ("C", "K", "zero is not the same temperature"),
        ("degF", "degC", "zero is not the same temperature"),
        ("kg", "N", "different quantities"),
        // a kilogram is no thousand times gravity
        ("kg", "m/s^2", "different quantities"),
        ("furlong", "m", "`furlong` is no unit"),
        ("dB", "m", "`dB` is no unit"),
        ("counts", "V", "`counts` is no unit"),
        ("J/kg K", "J/(kg K)", "`J/kg K` is no unit"),
        ("m", "pixels", "`pixels` is no unit"),
        ("m -2", "m", "no unit"),
    ] {
        match conversion(from, to) {
            Conversion::Refused(why) => assert!(why.contains(part), "{from} to {to}: {why}"),
            other => panic!("{from} to {to}: {other:?}"),
        }
    }
    for text in ["counts", "px/frame", "arb. u.", "J/kg K"] {
        assert_eq!(conversion(text, text), Conversion::Same);
    }
    // SI counts a radian as 1 where an angle cannot be meant otherwise
    assert_eq!((factor("rad", "1"), factor("N m", "N m/rad")), (Some(1.0), Some(1.0)));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    /// Protects commands from headers of any kind: no text makes the reader panic, and what is read is known again as it is shown.
    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,12}|[a-zA-Z0-9µ°²⁻./*^() -]{0,12}|(k|m|da|)(m|g|N|rad|deg|Hz|lb)[23]?([ */.](s|in|K|min)(\\^-?[1-3])?){0,3}") {
        for unit in parse::readings(&text) {
            let shown = unit.to_string();
            let again = parse::readings(&shown);
            let factors = again.iter().filter(|own| own.offset == unit.offset).filter_map(|own| unit.to(*own));
            let nearest = factors.map(|factor| (factor - 1.0).abs()).fold(f64::INFINITY, f64::min);
            prop_assert!(nearest < 1e-12, "`{text}` is {shown}, which is read as {again:?}");
        }
    }
}
