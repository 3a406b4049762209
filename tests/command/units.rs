//! Units and calibrations of columns through the commands.

use crate::run;
use run::{Place, csv, times, value};
use serde_json::Value;

/// A swinging force and what looks like a position, with these factors to s, N and m.
fn record(header: &str, [time, force, position]: [f64; 3]) -> String {
    let rows = csv("", times(101, 0.01), |t| vec![force * (3.0 * t).sin(), position * 0.1 * (6.0 * t).cos()]);
    let in_unit = |row: &str| {
        let (t, rest) = row.split_once(',').unwrap();
        format!("{},{rest}\n", time * t.parse::<f64>().unwrap())
    };
    format!("{header}\n{}", rows.lines().skip(1).map(in_unit).collect::<String>())
}

fn document(place: &Place, arguments: &str) -> (Value, String) {
    let run = place.run(arguments);
    let found = serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("{arguments}: {error}\n{}", run.err));
    (found, run.err)
}

/// Protects results from factors without a word: `--data` and problem files give the same numbers for the same record in other units, and
/// both the terminal and `result.json` say what was converted.
#[test]
fn a_record_in_other_units_gives_the_same_result() {
    let place = Place::new();
    place.write("plain.csv", record("t,F,x", [1.0; 3]));
    place.write("other.csv", record("Time (ms),F/mN,x (mm)", [1e3; 3]));
    place.write("counts.csv", record("clk,ch1,x_in", [1e3, -400.0, 1.0]));
    place.write(
        "counts.toml",
        "model = \"oscillator\"\n[data]\nfile = \"counts.csv\"\ntime = \"clk\"\ntime_unit = \"ms\"\n\
         inputs.F = { column = \"ch1\", scale = -0.0025 }\noutputs.x = { column = \"x_in\", unit = \"m\" }\n",
    );
    let settings = "--substeps 1 --max-iterations 4 --json --out";
    let (plain, _) = document(&place, &format!("identify oscillator --data plain.csv {settings} a"));
    let (other, said) = document(&place, &format!("identify oscillator --data other.csv {settings} b"));
    let (counts, _) = document(&place, &format!("identify counts.toml {settings} c"));
    for found in [&other, &counts] {
        for name in ["c", "d"] {
            // the same numbers but for the last digits of products
            let (one, two) = (value(&plain, name), value(found, name));
            assert!((one - two).abs() <= 1e-9 * one.abs().max(1e-3), "{name}: {one} and {two}");
        }
    }
    let notes = other["notes"].to_string();
    for part in
        ["`Time (ms)`: converted from ms to s", "`F/mN`: converted from mN to N", "`x (mm)`: converted from mm to m"]
    {
        assert!(said.contains(part) && notes.contains(part), "`{part}` is missing in\n{said}\n{notes}");
    }
    assert!(counts["notes"].to_string().contains("1 in it is -0.0025 N, as `scale` says"), "{}", counts["notes"]);
}

/// Protects weights from a deviation that was read off the record: where a column is converted, its deviation's unit is said.
#[test]
fn units_of_deviations_are_said() {
    let place = Place::new();
    place.write("other.csv", record("Time (ms),F (mN),x (mm)", [1e3; 3]));
    let problem =
        |key: &str| format!("model = \"oscillator\"\n[data]\nfile = \"other.csv\"\noutputs.x = {{ {key} }}\n");
    place.write("stated.toml", problem("deviation = 0.002")).write("plain.toml", problem("column = \"x\""));
    let said = "1 mm = 0.001 m; its `deviation`, 0.002, is in m, too";
    assert!(place.good("check stated.toml").err.contains(said) || place.good("check stated.toml").out.contains(said));
    let plain = place.good("check plain.toml");
    assert!(!plain.err.contains("deviation`") && plain.err.contains("1 mm = 0.001 m"), "{}", plain.err);
}

/// Protects `init`, candidates and paths of control from readers of their own: times and units are those of all records, what `simulate` writes is read.
#[test]
fn all_commands_read_columns_alike() {
    let place = Place::new();
    place.write("other.csv", record("Time (ms),F (mN),x_mm", [1e3; 3]));
    place.good("init oscillator --data other.csv");
    let text = place.read("oscillator.toml");
    for part in ["time = \"Time (ms)\"", "inputs.F = { column = \"F (mN)\"", "column = \"x_mm\"", "until = 1.0 "] {
        assert!(text.contains(part), "`{part}` is missing in\n{text}");
    }
    let candidate = "[[candidate]]\nname = \"next\"\noutputs = { x = 1e-3 }\nfile = \"FILE\"\n";
    let design = |file: &str, header: &str, factors: [f64; 3]| {
        let problem = "model = \"oscillator\"\n[data]\nfile = \"plain.csv\"\noutputs.x = { deviation = 1e-3 }\n";
        place.write("plain.csv", record("t,F,x", [1.0; 3])).write(file, record(header, factors));
        place.write("design.toml", format!("{problem}{}", candidate.replace("FILE", file)));
        document(&place, "design design.toml --json").0["candidates"][0]["after"]["standard_errors"]["c"]
            .as_f64()
            .unwrap()
    };
    let (one, two) =
        (design("one.csv", "t,F,y", [1.0; 3]), design("two.csv", "time/min,F_kN,y", [1.0 / 60.0, 1e-3, 1.0]));
    assert!((one / two - 1.0).abs() < 1e-9, "{one} and {two}");
    // a path as `simulate` writes it, and the same in other units
    place.good("simulate oscillator --end 0.5 --out run");
    let written = place.read("run/outputs.csv");
    let names: Vec<&str> = written.lines().next().unwrap().split(',').collect();
    assert!(names[0] == "time [s]" && names[2] == "x [m]", "{names:?}");
    let other: String = written
        .lines()
        .skip(1)
        .map(|row| {
            let cells: Vec<f64> = row.split(',').map(|cell| cell.parse().unwrap()).collect();
            format!("{},{}\n", 1e6 * cells[0], 1e3 * cells[2])
        })
        .collect();
    place.write("path.csv", format!("t_us,x (mm)\n{other}"));
    let follow = |path: &str| {
        let problem = "model = \"oscillator\"\n[integrator]\nend = 0.5\n[[control.signal]]\ninput = \"F\"\nsize = 1.0\nintervals = 5\n\
                       [[control.goal]]\noutput = \"x\"\nfollow = ";
        place.write("follow.toml", format!("{problem}\"{path}\"\n"));
        document(&place, "control follow.toml --max-iterations 3 --json --out followed")
    };
    let ((one, _), (two, said)) = (follow("run/outputs.csv"), follow("path.csv"));
    let cost = |found: &Value| found["cost"].as_f64().unwrap();
    assert!((cost(&one) - cost(&two)).abs() <= 1e-6 * cost(&one) + 1e-12, "{} and {}", cost(&one), cost(&two));
    assert!(said.contains("`x (mm)`: converted from mm to m") && said.contains("`t_us`: converted"), "{said}");
}
