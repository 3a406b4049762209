//! First-order states on the command line: listed, written and started as what they are.

use crate::run;
use run::{Place, value};

/// Protects what is written of a state: its value and its rate by its name, and no position.
#[test]
fn states_are_written_by_name() {
    let place = Place::new();
    place.good("simulate bouc_wen --end 0.02 --out run");
    let (states, outputs) = (place.read("run/states.csv"), place.read("run/outputs.csv"));
    let header = states.lines().next().unwrap();
    assert_eq!(header, "time [s],x [m],x' [m/s],x'' [m/s^2],z [N],z' [N/s]");
    let column = |text: &str, k: usize| -> Vec<f64> {
        text.lines().skip(1).map(|line| line.split(',').nth(k).unwrap().parse().unwrap()).collect()
    };
    assert_eq!(column(&states, 4), column(&outputs, 2));
    assert!(column(&states, 4).iter().any(|z| z.abs() > 1.0));
}

/// Protects listings and skeletons: states are reported beside coordinates, for people and for programs.
#[test]
fn states_are_listed() {
    let place = Place::new();
    let message = place.good("models dc_motor").out;
    assert!(message.contains("coordinates: angle [rad]\n  states: current [A]\n"), "{message}");
    let listed = place.json("models dc_motor --json", 0);
    assert_eq!(listed[0]["states"], serde_json::json!([{"name": "current", "unit": "A"}]), "{listed:#}");
    place.good("simulate dc_motor --end 0.5 --out run");
    place.good("init dc_motor --data run/outputs.csv --out motor.toml");
    let text = place.read("motor.toml");
    assert!(text.contains("# states of the model: current [A]"), "{text}");
}

/// Protects starts of states: free in a problem file, and from the first sample of a column.
#[test]
fn a_state_starts_as_a_parameter() {
    let place = Place::new();
    place.good("simulate dc_motor --end 1 --set i0=1.5 --out run");
    let problem = |start: &str| {
        format!("model = \"dc_motor\"\n[data]\nfile = \"run/outputs.csv\"\n[parameters]\ni0 = {{ {start} }}\n")
    };
    place.write("free.toml", problem("free = true, start = 0.4"));
    let found = place.json("identify free.toml --json", 0);
    assert!((value(&found, "i0") - 1.5).abs() < 1e-6, "{found:#}");
    place.write("column.toml", problem("local = true, free = true, start_column = \"current\""));
    let found = place.json("identify column.toml --json", 0);
    // of one experiment, and called by it
    let own = found["parameters"].as_array().unwrap().iter().find(|p| p["name"].as_str().unwrap().starts_with("i0"));
    for key in ["start", "value"] {
        assert!((own.unwrap()[key].as_f64().unwrap() - 1.5).abs() < 1e-6, "{found:#}");
    }
}

/// Protects commands that look at coordinates: modes, errors of steps, orders and comparisons of schemes name states.
#[test]
fn commands_look_at_states() {
    let place = Place::new();
    let modes = place.good("modes dc_motor").out;
    assert!(modes.contains("current") && modes.contains("decay"), "{modes}");
    let steps = place.json("steps dc_motor --end 0.5 --json", 0).to_string();
    assert!(steps.contains("\"current\""), "{steps}");
    let schemes = place.good("schemes dc_motor --end 0.5").out;
    assert!(schemes.contains("i2p"), "{schemes}");
    place.good("check dc_motor");
    let errors = place.json("simulate dc_motor --end 0.5 --json", 0);
    let named = errors["time_step_error"].to_string();
    assert!(named.contains("\"current\""), "{named}");
}

/// Protects the pole at 0 of a state whose rate does not bring it back: a mode of its own beside the oscillation, with headings that can be read, and
/// no spring for what has none.
#[test]
fn a_state_that_stays_has_a_pole_at_zero() {
    let place = Place::new();
    let run = place.good("modes bouc_wen --out modes");
    let table = place.read("modes/modes.csv");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    assert_eq!(rows.len(), 2, "{table}");
    assert!(rows[0].starts_with("1,0e0,0e0,") && rows[0].ends_with("free motion"), "{table}");
    assert!(rows[1].ends_with("oscillation"), "{table}");
    assert!(!run.out.lines().any(|line| line.trim() == "ln"), "{}", run.out);
    assert!(!run.err.contains("give it a spring"), "{}", run.err);
    // √((k + A)/m) and c/(2 √(m (k + A)))
    let cells: Vec<f64> = rows[1].split(',').take(6).map(|cell| cell.parse().unwrap()).collect();
    assert!((cells[3] - (1e5f64 / 2.0).sqrt() / std::f64::consts::TAU).abs() < 1e-9, "{cells:?}");
    assert!((cells[5] - 10.0 / (2.0 * 2e5f64.sqrt())).abs() < 1e-12, "{cells:?}");
    // what is farther off than the estimated error of differences is not simply `ok`
    let checked: serde_json::Value = place.json("check bouc_wen --json", 0);
    let table = place.good("check bouc_wen").out;
    let table = table.split("gradient of the problem").nth(1).unwrap();
    for entry in checked["gradient"].as_array().unwrap() {
        let [adjoint, difference, error] =
            ["adjoint", "difference", "difference_error"].map(|key| entry[key].as_f64().unwrap());
        let is_beyond = (adjoint - difference).abs() > error.max(1e-6 * adjoint.abs());
        let name = entry["name"].as_str().unwrap();
        let row = table.lines().find(|line| line.split_whitespace().next() == Some(name)).unwrap();
        assert_eq!(row.ends_with(" ok"), !is_beyond, "{row}");
        assert!(!is_beyond || row.contains(" ok (x"), "{row}");
    }
    assert!(table.contains("times what is estimated of their errors"), "{table}");
}

/// Protects linearisations from a side that nobody has chosen: where the model has a kink, modes and Jacobians say so, with both slopes; where it has none
/// there, they say nothing.
#[test]
fn kinks_are_told() {
    let place = Place::new();
    let kink = "sits on a kink";
    // z' = A x' - β |x'| z - γ x' |z|: at rest by x', A - γ |z| ∓ β z
    let run = place.good("modes bouc_wen --set z0=100 --json");
    for part in [kink, "the rate of `z` by the velocity of `x`", "240000", "80000"] {
        assert!(run.err.contains(part), "`{part}` is missing in {}", run.err);
    }
    assert!(place.good("jacobians bouc_wen --set z0=100 --at x'=0").err.contains(kink));
    for smooth in
        ["modes bouc_wen", "modes oscillator", "jacobians bouc_wen --set z0=100 --at x'=0.1", "jacobians oscillator"]
    {
        let run = place.good(smooth);
        assert!(!run.err.contains(kink), "{smooth}: {}", run.err);
    }
}
