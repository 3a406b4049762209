use super::*;
use crate::clock::clock;

fn record(header: &str) -> Record {
    // a comma with a space behind it is in a name
    let count = 1 + header.replace(", ", " ").matches(',').count();
    let row = |value: &str| vec![value; count].join(",");
    let text = format!("{header}\n{}\n{}\n", row("1"), row("2"));
    Record::parse_csv(text.as_bytes(), Path::new("r.csv")).unwrap()
}

/// The column and its first value.
fn found(header: &str, sought: &Sought<'_>) -> Result<Option<(String, f64)>> {
    let record = record(header);
    Ok(find(&record, Path::new("r.csv"), sought)?.map(|column| (column.name.to_string(), column.values[0])))
}

/// Protects the match by name: exact names first, then the name with its unit in any usual spelling and any usual brackets.
#[test]
fn a_unit_may_stand_behind_the_name() {
    let a = Sought::named("a", "m/s^2");
    for header in [
        "a",
        "a [m/s^2]",
        "a[m/s²]",
        "a  [ m/s^2 ]",
        "a (m/s2)",
        "a(m s^-2)",
        "a/(m/s^2)",
        "a/m/s²",
        "a_m_s2",
        "a_m_per_s2",
    ] {
        assert_eq!(found(&format!("t,{header}"), &a).unwrap().unwrap(), (header.to_string(), 1.0));
    }
    assert_eq!(found("t,d [N·s/m]", &Sought::named("d", "N s/m")).unwrap().unwrap().0, "d [N·s/m]");
    assert_eq!(found("t,k [-]", &Sought::named("k", "1")).unwrap().unwrap().0, "k [-]");
    for headers in ["a [m/s^2],a", "a [g],a", "a_g,a", "a (mm/s^2),a"] {
        assert_eq!(found(headers, &a).unwrap().unwrap(), ("a".to_string(), 1.0), "{headers}");
    }
    assert_eq!(found("a [g],a [m/s^2]", &a).unwrap().unwrap().0, "a [m/s^2]");
    assert_eq!(found("a_g,a (g)", &a).unwrap().unwrap().0, "a (g)");
    // names that only look so
    for header in
        ["aa [m/s^2]", "[m/s^2]", "a [m/s^2] filtered", "a (left)", "a(1)", "a_x", "a_m", "a_N", "a/left", "a_1"]
    {
        assert_eq!(found(&format!("t,{header}"), &a).unwrap(), None, "{header}");
    }
    let pixels = Sought::named("y", "px");
    assert_eq!(found("t,y (px)", &pixels).unwrap().unwrap().0, "y (px)");
    assert_eq!(found("t,y/px", &pixels).unwrap().unwrap().0, "y/px");
    assert_eq!(found("t,x(t)", &Sought { column: "x(t)", ..Sought::named("x", "m") }).unwrap().unwrap().1, 1.0);
}

/// Protects results from factors that nobody sees: another unit of the dimension is converted, behind any sign, and said.
#[test]
fn another_unit_is_converted() {
    let turn = std::f64::consts::TAU / 60.0;
    for (header, unit, factor) in [
        ("y [mm/s^2]", "m/s^2", 1e-3),
        ("y (g)", "m/s^2", 9.80665),
        ("y (rpm)", "rad/s", turn),
        ("y/rpm", "rad/s", turn),
        ("y_rpm", "rad/s", turn),
        ("y_deg_per_s", "rad/s", turn / 6.0),
        ("y_deg_s", "rad/s", turn / 6.0),
        ("y/(1/min)", "Hz", 1.0 / 60.0),
        ("y (mN)", "N", 1e-3),
        ("y(lbf)", "N", 4.4482216152605),
        ("y_mm", "m", 1e-3),
        ("y_in", "m", 0.0254),
        ("y_N_mm", "N m", 1e-3),
        ("y (N*mm)", "N m", 1e-3),
        ("y/°", "rad", turn / 6.0),
        ("y in rpm", "rad/s", turn),
        ("\"y, rpm\"", "rad/s", turn),
        ("y {rpm}", "rad/s", turn),
        ("y rpm", "rad/s", turn),
        ("y..rpm.", "rad/s", turn),
        ("y-mm", "m", 1e-3),
    ] {
        // by its name, or behind a mapping
        let header = header.trim_matches('"');
        for column in ["y", header] {
            let sought = Sought { column, ..Sought::named("y", unit) };
            let record = record(&format!("t,\"{header}\""));
            let column = find(&record, Path::new("r.csv"), &sought).unwrap().unwrap_or_else(|| panic!("{header}"));
            assert!((column.values[0] / factor - 1.0).abs() < 1e-14, "{header}: {:?}", column.values);
            let note = column.note.unwrap();
            assert!(note.contains(&format!("`{header}`: converted from ")) && note.contains(unit), "{note}");
            assert_eq!(
                note.contains("is part of the name"),
                ["y_", "y rpm", "y.", "y-"].iter().any(|start| header.starts_with(start)),
                "{note}"
            );
        }
    }
    // a name of the model's own, whatever its end may be
    for name in ["x_mm", "x_in", "x_cm"] {
        assert_eq!(found(name, &Sought::named(name, "m")).unwrap().unwrap().1, 1.0);
        let others = [name.to_string()];
        assert_eq!(found(name, &Sought { others: &others, ..Sought::named("x", "m") }).unwrap(), None);
    }
    for (column, unit) in [("v_in", "m/s"), ("T_h", "N m"), ("x_N", "m"), ("a_s", "m/s^2")] {
        assert_eq!(found(column, &Sought { column, ..Sought::named("y", unit) }).unwrap().unwrap().1, 1.0);
    }
}

/// Protects results from columns of something else, and from a choice between two that nobody made.
#[test]
fn other_quantities_and_two_candidates_are_refused() {
    let refused = |header: &str, column: &str, unit: &str| {
        let sought = Sought { column, ..Sought::named("a", unit) };
        found(header, &sought).unwrap_err().to_string()
    };
    for header in ["a [N]", "a (N)", "a/N"] {
        for column in ["a", header] {
            let message = refused(header, column, "m/s^2");
            for part in [
                "r.csv: column",
                &format!("`{header}` is in `N`, where `a` is in `m/s^2`"),
                "m kg s^-2 and m s^-2",
                "unit = \"m/s^2\"",
            ] {
                assert!(message.contains(part), "{message}");
            }
        }
    }
    for (header, unit, part) in [
        ("a [furlong]", "m", "`furlong` is no unit that is known"),
        ("a (counts)", "m", "`counts` is no unit that is known"),
        ("a (degC)", "K", "zero is not the same temperature"),
        ("a [1/s]", "rad/s", "about an angle"),
    ] {
        let message = refused(header, header, unit);
        assert!(message.contains(part), "{message}");
    }
    let message = refused("a [m/s^2],a[m/s²]", "a", "m/s^2");
    assert!(message.contains("both `a [m/s^2]` and `a[m/s²]` may be meant"), "{message}");
    let message = refused("a [mm/s^2],a (g)", "a", "m/s^2");
    assert!(message.contains("may be meant"), "{message}");
}

/// Protects laws of sensors that are known: the key goes over the header, `scale` over units, `offset` is in the model's unit; what
/// contradicts itself is refused.
#[test]
fn a_calibration_goes_over_the_header() {
    let of = |header: &str, unit: Option<&str>, scale: Option<f64>, offset: Option<f64>| {
        let calibration = Calibration { unit: unit.map(str::to_string), scale, offset };
        let sought = Sought { column: header, calibration: Some(&calibration), ..Sought::named("y", "m") };
        let record = record(header);
        find(&record, Path::new("r.csv"), &sought).map(|found| {
            let found = found.unwrap();
            (found.values[1], found.note.unwrap_or_default())
        })
    };
    for (header, unit, scale, offset, value, parts) in [
        ("x", Some("mm"), None, None, 2e-3, &["converted from mm to m"][..]),
        ("x", Some("m"), None, None, 2.0, &[]),
        ("x_mm", Some("m"), None, None, 2.0, &[]),
        ("x [cm]", Some("mm"), None, None, 2e-3, &["converted from mm", "goes over the `cm` of its header"]),
        ("x", None, Some(0.0015), None, 0.003, &["1 in it is 0.0015 m"]),
        ("x", None, Some(-0.5), Some(3.0), 2.0, &["1 in it is -0.5 m", "3 m are added"]),
        ("x [counts]", None, Some(0.5), None, 1.0, &["1 in it is 0.5 m", "`counts`, is not looked at"]),
        ("x (mm)", None, Some(0.5), None, 1.0, &["`mm`, is not looked at"]),
        ("x (mm)", None, None, Some(1.0), 1.002, &["converted from mm to m", "1 m are added"]),
    ] {
        let (found, note) = of(header, unit, scale, offset).unwrap();
        assert!((found - value).abs() < 1e-15, "{header}: {found} {note}");
        assert_eq!(note.is_empty(), parts.is_empty(), "{note}");
        parts.iter().for_each(|part| assert!(note.contains(part), "{note}"));
    }
    for (unit, scale, offset, part) in [
        (Some("N"), None, None, "is in `N`, where `y` is in `m`"),
        (Some("furlongs"), None, None, "no unit that is known"),
        (Some("mm"), Some(2.0), None, "leave out `unit`"),
        (None, Some(0.0), None, "it is 0"),
        (None, Some(f64::INFINITY), None, "it is inf"),
        (None, None, Some(f64::NEG_INFINITY), "it is -inf"),
        (None, Some(1e308), None, "value 2 of column `x`, 2, is too large in m"),
    ] {
        let message = of("x", unit, scale.map(|scale| if scale == 1e308 { f64::MAX } else { scale }), offset);
        let message = message.unwrap_err().to_string();
        assert!(message.contains(part), "{message}");
    }
}

/// Protects clocks: whatever the column of times is called and in whatever unit it is, all commands find it and take it in seconds.
#[test]
fn times_have_many_names_and_units() {
    for (headers, expected) in [
        ("x,t", ("t", 1.0)),
        ("x,Time (s)", ("Time (s)", 1.0)),
        ("x,time [ms]", ("time [ms]", 1e-3)),
        ("x,Time (ms)", ("Time (ms)", 1e-3)),
        ("x,TIME/us", ("TIME/us", 1e-6)),
        ("x,t/s", ("t/s", 1.0)),
        ("x,time_ms", ("time_ms", 1e-3)),
        ("x,t_min", ("t_min", 60.0)),
        ("x,tow(msec)", ("tow(msec)", 1e-3)),
        ("x,Zeit [h]", ("Zeit [h]", 3600.0)),
        ("x,timestamp", ("timestamp", 1.0)),
        ("x [m],sample clock (µs),y [N]", ("sample clock (µs)", 1e-6)),
        ("T (N m),t", ("t", 1.0)),
        ("Time (UTC),seconds", ("seconds", 1.0)),
    ] {
        let record = record(headers);
        let found = clock(&record, Path::new("r.csv"), None, None).unwrap_or_else(|error| panic!("{headers}: {error}"));
        assert_eq!((found.name, found.axis.start()), expected);
        assert_eq!(found.axis.end(), 2.0 * expected.1);
        assert_eq!(
            found.note.is_some(),
            expected.1 != 1.0 || ["timestamp", "seconds"].contains(&found.name),
            "{headers}"
        );
    }
    let file = Path::new("r.csv");
    let own = record("clk,x");
    assert_eq!(clock(&own, file, Some("clk"), Some("ms")).unwrap().axis.end(), 2e-3);
    assert_eq!(clock(&record("t_ms,x"), file, None, Some("s")).unwrap().axis.end(), 2.0);
    for (headers, asked, part) in [
        ("x,y", None, "no column is called `t` or `time` (there are: x, y)"),
        ("x [s],y [ms]", None, "no column is called `t`"),
        ("x,t [N]", None, "`t [N]` is in `N`, where `time` is in `s`"),
        ("x,Time (frames)", Some("Time (frames)"), "time_unit = \"s\""),
        ("x,y", Some("z"), "there is no column `z`"),
    ] {
        let record = record(headers);
        let message = clock(&record, file, asked, None).err().unwrap().to_string();
        assert!(message.contains(part), "{message}");
    }
}
