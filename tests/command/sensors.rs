//! Sensors with gain, bias and delay: problem files, results, figures' data, and what is refused.

use crate::run::{Place, value};
use serde_json::Value;

/// A swing seen by two accelerometers, the first one 3 ms late and with a gain of 1.02, the second one with a bias, every 10 ms.
fn record(place: &Place, name: &str, angle: f64) {
    let set = format!("L=0.83,d=0.06,angle0={angle},omega0=0.2");
    place.good(&format!("simulate pendulum --end 3 --step 1e-3 --set {set} --out {name}"));
    let table = place.read(&format!("{name}/outputs.csv"));
    let rows: Vec<Vec<f64>> =
        table.lines().skip(1).map(|row| row.split(',').map(|cell| cell.parse().unwrap()).collect()).collect();
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let column = |name: &str| head.iter().position(|head| head.starts_with(name)).unwrap();
    let (x, y) = (column("a_x"), column("a_y"));
    let mut shown = String::from("t,a_x,a_y\n");
    for i in (10..rows.len()).step_by(10) {
        let time = 0.01 * (i / 10) as f64;
        shown += &format!("{time:.2},{},{}\n", 1.02 * rows[i - 3][x], rows[i][y] + 0.25);
    }
    place.write(&format!("{name}.csv"), shown);
}

// Protects from looking for dynamics where a sensor is late: a fit without delays says so, and what finds it; with one, nothing is left to say; and of
// dynamics that are missing nothing of the kind is said.
#[test]
fn a_late_sensor_is_suspected() {
    let place = Place::new();
    let mechanism = "name = \"duffing\"\ncoordinates = { x = \"m\" }\nmass = { x = \"1.5[kg]\" }\n\
                     force = { x = \"8[N]*sin(3[1/s]*t) + 4[N]*sin(7.1[1/s]*t) - (k + k3*x^2)*x - d*x'\" }\n\
                     outputs = { a = { unit = \"m/s^2\", is = \"x''\" } }\n\
                     [parameters]\nk = { unit = \"N/m\", nominal = 40.0 }\nk3 = { unit = \"N/m^3\", nominal = 300.0 }\n\
                     d = { unit = \"N s/m\", nominal = 0.8 }\n[scenario]\nend = 10.02\nstep = 1e-3\n";
    place.write("duffing.toml", mechanism);
    place.good("simulate duffing.toml --out truth");
    let table = place.read("truth/outputs.csv");
    let rows: Vec<f64> = table.lines().skip(1).map(|row| row.split(',').nth(1).unwrap().parse().unwrap()).collect();
    for (name, late) in [("late", 20), ("early", -20), ("good", 0)] {
        let sample = |i: usize| (10 * i).checked_add_signed(-late).filter(|at| *at < rows.len());
        let line = |i: usize| sample(i).map(|at| format!("{},{}\n", 0.01 * i as f64, rows[at]));
        let text: String = (0..=1000).filter_map(line).collect();
        place.write(&format!("{name}.csv"), format!("t,a\n{text}"));
        let data = format!("[data]\nfile = \"{name}.csv\"\n");
        place.write(&format!("{name}.toml"), format!("model = \"duffing.toml\"\n{data}"));
        place.write(
            &format!("{name}_delay.toml"),
            format!("model = \"duffing.toml\"\n{data}outputs.a = {{ sensor = [\"delay\"] }}\n"),
        );
    }
    let said = |command: &str| {
        let run = place.run(command);
        (run.out + &run.err).replace('\n', " ")
    };
    let late = said("identify late.toml");
    assert!(late.contains("look like data that come later than the model says: is the sensor late?"), "{late}");
    let early = said("identify early.toml");
    assert!(
        early.contains("look like data that come earlier than the model says: is an input recorded late?"),
        "{early}"
    );
    for command in
        ["identify late_delay.toml", "identify good.toml --set k3=0 --fix k3", "identify good.toml --set d=3 --fix d"]
    {
        let other = said(command);
        assert!(!other.contains("than the model says"), "{command}: {other}");
    }
}

const PROBLEM: &str = "model = \"pendulum\"\n[integrator]\nsubsteps = 5\n[data]\nfile = \"swing.csv\"\n\
                       outputs.a_x = { sensor = [\"gain\", \"delay\"] }\noutputs.a_y = { sensor = [\"bias\"] }\n\
                       [parameters]\nL = { start = 0.7 }\nd = { start = 0.02 }\nangle0 = { free = true }\n\
                       omega0 = { free = true }\n";

// Protects the way from a file to what sensors do, and back: found values, what is said of samples that are left out, results that can be
// started from and validated, and gradients.
#[test]
fn what_sensors_do_is_found_from_a_problem_file() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    record(&place, "other", 0.8);
    place.write("problem.toml", PROBLEM);
    let run = place.good("identify problem.toml --out found");
    assert!(run.err.contains("`a_x` is compared without its first 5 and last 5 samples"), "{}", run.err);
    let result: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
    // the record begins after 10 ms: its angle there is another one than at rest, and is found
    for (name, truth, allowed) in
        [("gain_a_x", 1.02, 2e-4), ("delay_a_x", 3e-3, 2e-5), ("bias_a_y", 0.25, 2e-3), ("L", 0.83, 2e-4)]
    {
        assert!((value(&result, name) - truth).abs() < allowed, "{name}: {}", value(&result, name));
    }
    assert_eq!(result["experiments"][0]["outputs"][0]["sensor"][1], "delay_a_x");
    // the same sensors on another record, and their values as a start
    place.write("again.toml", PROBLEM.replace("swing.csv", "other.csv"));
    let run = place.good("identify again.toml --from found/result.json --json");
    let again: Value = serde_json::from_str(&run.out).unwrap();
    assert!((value(&again, "delay_a_x") - 3e-3).abs() < 2e-5, "{run:?}", run = run.out);
    place.good("gradient problem.toml --method all");
    place.good("identifiability problem.toml");
    place.good("simulate problem.toml --set delay_a_x=0.003,gain_a_x=1.02 --out simulated");
    place.good("simulate pendulum --from found/result.json --out plain");
    // columns mean what the problem file says, as long as it is that of the fit
    let run = place.good("validate found/result.json --data other.csv --out as_fitted");
    assert!(run.err.contains("columns mean what problem.toml says"), "{}", run.err);
    place.write("problem.toml", format!("# another\n{PROBLEM}"));
    let run = place.run("validate found/result.json --data other.csv");
    assert!(run.code == 2 && run.err.contains("--problem FILE.toml"), "{}", run.err);
    let local = PROBLEM.replace("free = true", "local = true");
    place.write("local.toml", local);
    place.good("validate found/result.json --problem local.toml --data other.csv --fit-local --out validated");
    let validation: Value = serde_json::from_str(&place.read("validated/validation.json")).unwrap();
    assert!(
        validation["validation"].as_array().unwrap().iter().all(|fit| fit["fit_percent"].as_f64().unwrap() > 99.0),
        "{validation}"
    );
    let shared = "[[experiment]]\nfile = \"swing.csv\"\n[[experiment]]\nfile = \"other.csv\"\n";
    let two =
        PROBLEM.replace("file = \"swing.csv\"\n", "").replace("= { free = true }", "= { free = true, local = true }");
    place.write("two.toml", format!("{two}gain_a_x = {{ local = true }}\n{shared}"));
    let run = place.good("identify two.toml --json");
    let both: Value = serde_json::from_str(&run.out).unwrap();
    for (name, truth, allowed) in
        [("gain_a_x@swing", 1.02, 2e-4), ("gain_a_x@other", 1.02, 2e-4), ("delay_a_x", 3e-3, 2e-5)]
    {
        assert!((value(&both, name) - truth).abs() < allowed, "{name}: {}", value(&both, name));
    }
}

// Protects filters: record and model are filtered alike, so that what is found stays what it is; samples that depend on each other are reported.
#[test]
fn records_are_filtered_and_thinned_like_the_model() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    for (keys, note) in
        [("low_pass = 5.0", "compare every 13th sample"), ("low_pass = 5.0, every = 13", "compared without")]
    {
        place.write("problem.toml", PROBLEM.replace("\"delay\"]", &format!("\"delay\"], {keys}")));
        let run = place.good("identify problem.toml --json");
        assert!(run.err.contains(note), "{}", run.err);
        let result: Value = serde_json::from_str(&run.out).unwrap();
        for (name, truth, allowed) in [("gain_a_x", 1.02, 5e-4), ("delay_a_x", 3e-3, 5e-5), ("L", 0.83, 5e-4)] {
            assert!((value(&result, name) - truth).abs() < allowed, "{keys}: {name}: {}", value(&result, name));
        }
    }
    // too long a memory, and too few samples
    for (keys, part) in [("low_pass = 0.1", "remembers too long"), ("every = 1000", "none but the first")] {
        place.write("problem.toml", PROBLEM.replace("\"delay\"]", &format!("\"delay\"], {keys}")));
        place.refused("identify problem.toml", &[part]);
    }
    place.write("problem.toml", PROBLEM.replace("\"delay\"]", "\"delay\"], low_pass = 50.0"));
    place.refused("identify problem.toml", &["50 Hz", "half the frequency of the samples"]);
    place.write("problem.toml", PROBLEM.replace("\"delay\"]", "\"delay\"], every = 0"));
    place.refused("identify problem.toml", &["every", "a_x"]);
}

/// The pendulum goes round; its angle as it is, or wrapped into one turn.
fn turns(place: &Place, name: &str, is_wrapped: bool) {
    use std::f64::consts::{PI, TAU};
    if !place.path("round").exists() {
        place.good("simulate pendulum --end 4 --step 1e-3 --set L=0.8,d=0.06,angle0=0.4,omega0=9 --out round");
    }
    let table = place.read("round/outputs.csv");
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let angle = head.iter().position(|head| head.starts_with("angle")).unwrap();
    let mut shown = String::from("t,angle\n");
    for (i, row) in table.lines().skip(1).enumerate().step_by(10) {
        let value: f64 = row.split(',').nth(angle).unwrap().parse().unwrap();
        let value = if is_wrapped { (value + PI).rem_euclid(TAU) - PI } else { value };
        shown += &format!("{},{value}\n", i as f64 * 1e-3);
    }
    place.write(&format!("{name}.csv"), shown);
}

// Protects angles that are known up to whole turns: a filter sees no jumps where a record is wrapped.
#[test]
fn wrapped_angles_are_filtered_like_whole_ones() {
    let place = Place::new();
    let mut found = Vec::new();
    for (name, is_wrapped) in [("whole", false), ("wrapped", true)] {
        turns(&place, name, is_wrapped);
        let problem = format!(
            "model = \"pendulum\"\n[integrator]\nsubsteps = 5\n[data]\nfile = \"{name}.csv\"\n\
             outputs.angle = {{ low_pass = 10.0, every = 6 }}\n[parameters]\nL = {{ start = 0.79 }}\nd = {{ start = 0.05 }}\n\
             angle0 = {{ start = 0.4, fixed = true }}\nomega0 = {{ start = 9.0, fixed = true }}\n"
        );
        place.write("problem.toml", problem);
        found.push(value(&place.json("identify problem.toml --json", 0), "L"));
    }
    assert!((found[0] - 0.8).abs() < 1e-3 && (found[0] - found[1]).abs() < 1e-9, "{found:?}");
}

// Protects deviations behind filters: what is estimated is that of the samples as they were measured, so that it can be written down, and
// `gradient --from` starts from what was found.
#[test]
fn estimated_deviations_are_those_of_raw_samples() {
    let place = Place::new();
    place.good("simulate oscillator --end 40 --step 1e-2 --out clean");
    let table = place.read("clean/outputs.csv");
    let head: Vec<&str> = table.lines().next().unwrap().split(',').collect();
    let columns = ["a [", "F ["].map(|name| head.iter().position(|head| head.starts_with(name)));
    let a = columns[0].unwrap();
    let mut shown = String::from("t,F,a\n");
    let mut random = costate::random::SplitMix64::new(5);
    for (i, row) in table.lines().skip(1).enumerate() {
        let (t, value): (f64, f64) = (0.01 * i as f64, row.split(',').nth(a).unwrap().parse().unwrap());
        shown += &format!("{t:.2},{},{}\n", (3.0 * t).sin(), value + 0.1 * random.normal());
    }
    place.write("record.csv", shown);
    let problem = |keys: &str| {
        format!(
            "model = \"oscillator\"\n[data]\nfile = \"record.csv\"\noutputs.a = {{ deviation = \"estimated\"{keys} }}\n"
        )
    };
    for keys in ["", ", low_pass = 20.0, every = 4"] {
        place.write("problem.toml", problem(keys));
        let result = place.json("identify problem.toml --json --out found", 0);
        let sensor = &result["estimated_deviations"]["sensors"][0];
        let (deviation, error) = (sensor["deviation"].as_f64().unwrap(), sensor["standard_error"].as_f64().unwrap());
        assert!((deviation - 0.1).abs() < 3.0 * error, "{keys}: {deviation} +/- {error}");
        let gradient = place.json("gradient problem.toml --from found --json", 0);
        let samples = sensor["samples"].as_f64().unwrap();
        let cost = gradient["cost"].as_f64().unwrap();
        // half of chi-square, which is about the number of samples
        assert!((2.0 * cost / samples - 1.0).abs() < 0.05, "{keys}: {cost} of {samples} samples");
    }
}

// Protects statistics beside an active limit of another output: its row has the sensors' parameters, too.
#[test]
fn limits_beside_sensors_keep_their_statistics() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    let limit = "[[constraint]]\nrule = \"peak angle <= 1.0\"\n";
    let local = PROBLEM.replace("[\"gain\", \"delay\"]", "[\"gain\"]");
    place.write("problem.toml", format!("{local}{limit}"));
    let run = place.run("identify problem.toml --json");
    let result: Value = serde_json::from_str(&run.out).unwrap();
    assert!(result["constraints"][0]["multiplier"].as_f64().is_some_and(|x| x != 0.0), "{}", result["constraints"]);
    assert!(result["statistics"].is_null() && result["chi_square"].is_number(), "{}", result["statistics"]);
}

// Protects sentences: effects that do not exist, parameters of sensors that are not there, bounds that leave nothing, constraints on what a
// sensor shows.
#[test]
fn wrong_sensors_get_a_sentence() {
    let place = Place::new();
    record(&place, "swing", 1.1);
    for (from, to, expected) in [
        ("\"delay\"", "\"dealy\"", "delay"),
        ("[\"gain\", \"delay\"]", "\"gain\"", "[\"a\", \"b\"]"),
        ("[\"gain\", \"delay\"]", "[\"gain\", \"gain\"]", "twice"),
        ("L = { start = 0.7 }", "L = { start = 0.7 }\ndelay_a_y = { start = 0.1 }", "delay_a_x"),
        (
            "L = { start = 0.7 }",
            "delay_a_x = { lower = -2.0, upper = 2.0 }",
            "the sensor with `delay_a_x`: of a record of",
        ),
        ("L = { start = 0.7 }", "delay_a_x = { upper = inf }", "its bounds are"),
        ("L = { start = 0.7 }", "delay_a_x = { start = 1.0 }", "delay_a_x"),
    ] {
        assert!(PROBLEM.contains(from), "{from}");
        place.write("problem.toml", PROBLEM.replace(from, to));
        let run = place.run("identify problem.toml");
        assert_eq!(run.code, 2, "{to}: {}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{to}: {}", run.err);
    }
    place.write("problem.toml", PROBLEM);
    let limit = "[[constraint]]\nrule = \"peak a_x <= 3\"\n";
    place.write("problem.toml", format!("{PROBLEM}{limit}"));
    let run = place.run("identify problem.toml");
    assert!(run.code == 2 && run.err.contains("sensor"), "{}", run.err);
}

// Protects the way from a file to the lines of a spectrum, and back: parameters that are found from amplitudes alone, figures and their data,
// and sentences for lines that cannot be.
#[test]
fn spectra_are_compared_from_a_problem_file() {
    let place = Place::new();
    place.good("simulate silverbox --end 1 --step 2e-4 --out run");
    let table = place.read("run/outputs.csv");
    let rows: Vec<&str> = table.lines().skip(1).collect();
    let mut shown = String::from("t,u [V],shaft [Hz],y\n");
    for (i, row) in rows.iter().step_by(5).enumerate() {
        let t = 1e-3 * i as f64;
        let u = costate_models::silverbox::multisine(t);
        shown += &format!("{t:.3},{u},{},{}\n", 10.0 + 20.0 * t, row.split(',').nth(1).unwrap());
    }
    place.write("record.csv", shown);
    let problem = |spectrum: &str| {
        format!(
            "model = \"silverbox\"\n[data]\nfile = \"record.csv\"\ninputs.u = {{ interpolation = \"cubic\" }}\n\
             outputs.y = {{ spectrum = {{ {spectrum} }} }}\n[integrator]\nsubsteps = 5\n[parameters]\n\
             m = {{ start = 5.6e-6 }}\nd = {{ start = 2.8e-4 }}\nk1 = {{ start = 0.99, fixed = true }}\nk3 = {{ start = 3.917, fixed = true }}\n\
             offset = {{ fixed = true }}\ny0 = {{ fixed = true }}\nv0 = {{ fixed = true }}\n"
        )
    };
    for (spectrum, figure) in [
        ("frequencies = [20.0, 37.0, 53.0, 68.0, 90.0]", "spectrum_y"),
        ("frequencies = [20.0, 37.0, 53.0, 68.0, 90.0], compare = \"level\", window = \"rectangular\"", "spectrum_y"),
        ("band = [15.0, 95.0], resolution = 4.0", "spectrum_y"),
        ("band = [18.0, 92.0], resolution = 2.0, response_to = \"u\", compare = \"complex\"", "spectrum_y"),
        (
            "orders = [2.0, 3.0], speed = \"shaft\", speeds = { from = 15.0, until = 25.0, count = 11 }, revolutions = 4",
            "campbell_y",
        ),
    ] {
        place.write("problem.toml", problem(spectrum));
        let run = place.good("identify problem.toml --out found");
        assert!(run.err.contains("in the place of samples"), "{spectrum}: {}", run.err);
        let result: Value = serde_json::from_str(&place.read("found/result.json")).unwrap();
        for (name, truth) in [("m", 5.371e-6), ("d", 2.25e-4)] {
            // steps of the record's simulation and of the fit are the same: what is left is the input between samples
            assert!((value(&result, name) / truth - 1.0).abs() < 1e-3, "{spectrum}: {name} {}", value(&result, name));
        }
        assert!(place.path(&format!("found/{figure}.svg")).is_file(), "{spectrum}: {:?}", place.files());
        assert!(place.read("found/spectrum_y.csv").lines().count() > 5);
    }
    place.good("validate found/result.json --data record.csv --out validated");
    place.good("gradient problem.toml --method all");
    place.good("check problem.toml --out checked");
    place.good("identifiability problem.toml");
    for (spectrum, expected) in [
        ("frequencies = [600.0]", "samples 0.001 s apart resolve what is below 500 Hz"),
        ("frequencies = []", "no list of finite numbers"),
        ("window = \"hann\"", "nothing says where the lines are"),
        ("frequencies = [20.0], band = [1.0, 2.0]", "give one of frequencies, orders and band"),
        ("frequencies = [20.0], resolution = 1.0", "it belongs to `band`"),
        ("frequencies = [20.0], compare = \"phase\"", "amplitude"),
        ("band = [1.0, 2.0]", "resolution"),
        ("band = [18.0, 92.0], resolution = 2.0, response_to = \"v\"", "`v`"),
        ("orders = [2.0], speeds = [15.0]", "name the column of the shaft's speed"),
        ("orders = [2.0], speed = \"shaft\"", "speeds"),
        ("orders = [2.0], speed = \"y\", speeds = [35.0]", "the shaft does not pass it"),
        ("orders = [2.0], speed = \"shaft\", speeds = [35.0], revolutions = 4", "the run goes from 10 to 30 Hz"),
        ("orders = [40.0], speed = \"shaft\", speeds = [25.0], revolutions = 4", "order 40 at 25 Hz"),
    ] {
        place.write("problem.toml", problem(spectrum));
        let run = place.run("identify problem.toml");
        assert_eq!(run.code, 2, "{spectrum}: {}{}", run.out, run.err);
        assert!(run.err.contains(expected), "{spectrum}: {}", run.err);
    }
}
