//! `costate check` of problem files: everything that can be known before a long run.

use crate::run;
use run::{Place, csv, times};
use serde_json::Value;

/// The oscillator's record: with the force, and every tenth sample of `a` missing.
fn record(place: &Place, name: &str, sign: f64) {
    place.good("simulate oscillator --set c=33,d=0.5 --end 2 --out reference");
    let outputs = place.read("reference/outputs.csv");
    let mut text = String::from("t,F,a\n");
    for (i, line) in outputs.lines().skip(1).enumerate() {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let a = if i % 10 == 3 { String::new() } else { (sign * cells[1]).to_string() };
        text += &format!("{},{},{a}\n", cells[0], cells[4]);
    }
    place.write(name, text);
}

// Protects a long run from what is known before it: samples, inputs, missing values, fit and deviations at the start, influence, condition
// and duration are reported and written, with a figure of each output.
#[test]
fn a_good_problem_is_told_whole() {
    let place = Place::new();
    record(&place, "r.csv", 1.0);
    place.good("init oscillator --data r.csv");
    let run = place.good("check oscillator.toml --out checked --png");
    for part in [
        "201 samples from 0 s to 2 s, 0.01 s apart (100 Hz), a time step each",
        "input F: -1 to 0.9999 N",
        "RMSE/deviation",
        "derivative x size",
        "the data determine 2 directions of 2 free parameters; condition number",
        "`identify` takes finer ones if",
        "a fit by lm: 8 to 21 evaluations as a rule",
        "all is well",
    ] {
        assert!(run.out.contains(part), "`{part}` is missing in\n{}", run.out);
    }
    assert!(run.out.lines().all(|line| line.chars().count() <= 80), "{}", run.out);
    assert!(run.err.contains("of 201 samples of `a` are missing"), "{}", run.err);
    for name in ["check.json", "input.svg", "output_a.svg", "output_a.png"] {
        assert!(place.path(&format!("checked/{name}")).is_file(), "{name}");
    }
    let mut written: Value = serde_json::from_str(&place.read("checked/check.json")).unwrap();
    let mut printed = place.json("check oscillator.toml --json", 0);
    for document in [&mut written, &mut printed] {
        assert!(document["duration"]["seconds_per_evaluation"].as_f64().unwrap() > 0.0);
        document["duration"] = Value::Null;
        document["files"] = Value::Null;
    }
    assert_eq!(written, printed);
    assert_eq!(printed["experiments"][0]["outputs"][0]["missing"], 20);
    assert_eq!(printed["identifiability"]["rank"], 2);
    assert!(!place.files().iter().any(|name| name.starts_with("out")), "{:?}", place.files());
    // what the table says is what a gradient at the start says
    let gradient = place.json("gradient oscillator.toml --json", 0);
    let error = printed["cost"].as_f64().unwrap() / gradient["cost"].as_f64().unwrap() - 1.0;
    assert!(error.abs() < 1e-12, "{error}");
}

// Protects records that begin elsewhere than the model: what is off is said, and what to do, in the place of dynamics that are missing.
#[test]
fn records_that_begin_elsewhere_are_told() {
    let place = Place::new();
    place.good("simulate pendulum --end 3 --set angle0=0.75 --out swing");
    let problem = "model = \"pendulum\"\n[data]\nfile = \"swing/outputs.csv\"\noutputs.angle = {}\n";
    place.write("problem.toml", problem);
    let run = place.run("check problem.toml");
    let message = run.out.replace('\n', " ");
    for part in [
        "at its first sample, `angle` of the model is off by 0.35 rad",
        "let `angle0`",
        "begin near it",
        "local = true",
    ] {
        assert!(message.contains(part), "`{part}` is missing in\n{}", run.out);
    }
    // a fit says so where it says that something is missing, and cannot find where it begins
    let held = format!("{problem}[parameters]\nangle0 = {{ fixed = true }}\nomega0 = {{ fixed = true }}\n");
    place.write("held.toml", held);
    assert!(
        place
            .run("check held.toml")
            .out
            .replace('\n', " ")
            .contains("free `angle0` and others that say where it begins")
    );
    let fitted = place.run("identify held.toml");
    let warnings = (fitted.out + &fitted.err).replace('\n', " ");
    for part in ["at the first sample they are", "if it begins elsewhere than the model, free `angle0`"] {
        assert!(warnings.contains(part), "`{part}` is missing in\n{warnings}");
    }
    place.write("problem.toml", format!("{problem}[parameters]\nangle0 = {{ start = 0.75 }}\n"));
    assert!(!place.run("check problem.toml").out.contains("at its first sample"));
}

// Protects from a search that cannot succeed: what the data do not determine and what cannot be run is wrong, with exit code 1; a wrong sign
// and a bound are doubts.
#[test]
fn what_is_wrong_is_told_before_the_run() {
    let place = Place::new();
    record(&place, "r.csv", -1.0);
    let head = "model = \"oscillator\"\n[data]\nfile = \"r.csv\"\n[parameters]\n";
    place.write("sign.toml", format!("{head}d = {{ start = 0.0 }}\n"));
    let run = place.good("check sign.toml");
    for part in ["farther from the data of `a`", "with this sign?", "`d` starts at its lower bound, 0", "2 warnings"] {
        assert!(run.out.replace('\n', " ").contains(part), "`{part}` is missing in\n{}", run.out);
    }
    // of mass, stiffness and damping, an input that is zero leaves ratios
    let text = "t,F,a\n".to_string() + csv("", times(101, 0.01), |t| vec![0.0, (6.0 * t).cos()]).trim_start();
    place.write("free.csv", text);
    place
        .write("free.toml", "model = \"oscillator\"\n[data]\nfile = \"free.csv\"\n[parameters]\nm = { free = true }\n");
    let run = place.run("check free.toml");
    assert_eq!(run.code, 1, "{}{}", run.out, run.err);
    for part in ["input `F` is 0 N all the time", "WRONG: the data do not tell", "NOT ready: 1 thing wrong"] {
        assert!(run.out.contains(part), "`{part}` is missing in\n{}", run.out);
    }
    place.write("stiff.toml", format!("{head}x0 = {{ start = 1e308 }}\n"));
    let found = place.json("check stiff.toml --json", 1);
    assert_eq!(found["passed"], false);
    assert!(found["experiments"][0]["failure"].is_string(), "{found:#}");
    assert!(place.run("check stiff.toml --out figures").code == 1 && !place.path("figures/output_a.svg").exists());
    place.write("fixed.toml", format!("{head}c = {{ fixed = true }}\nd = {{ fixed = true }}\n"));
    assert!(place.run("check fixed.toml").out.contains("all parameters are fixed"));
}

// Protects from being told that a gradient is off where entries cancel to round-off beside others: those of links far from a sensor.
#[test]
fn entries_that_cancel_are_not_called_off() {
    let place = Place::new();
    let each = |one: &dyn Fn(usize) -> String| (0..6).map(one).collect::<Vec<_>>().join(", ");
    let before = |i: usize, axis: &str| if i == 0 { "0[m]".to_string() } else { format!("{axis}{}", i - 1) };
    let rod = |i: usize| {
        let (x, y) = (before(i, "x"), before(i, "y"));
        format!("r{i} = {{ unit = \"m^2\", is = \"(x{i} - {x})^2 + (y{i} - {y})^2 - l{i}^2\" }}")
    };
    let along = |i: usize| (0..=i).map(|k| format!("l{k}")).collect::<Vec<_>>().join(" + ");
    let parameter = |i: usize| format!("l{i} = {{ unit = \"m\", nominal = {} }}\n", 0.3 + 0.01 * i as f64);
    let chain = [
        "name = \"chain\"".to_string(),
        format!("coordinates = {{ {} }}", each(&|i| format!("x{i} = \"m\", y{i} = \"m\""))),
        format!("states = {{ {} }}", each(&|i| format!("s{i} = \"N\""))),
        format!("mass = {{ {} }}", each(&|i| format!("x{i} = \"1[kg]\", y{i} = \"1[kg]\""))),
        format!("force = {{ {} }}", each(&|i| format!("x{i} = \"-d*x{i}' - s{i}\", y{i} = \"-9.81[N]\""))),
        format!("rates = {{ {} }}", each(&|i| format!("s{i} = \"20[N/m]*x{i}' - s{i}/0.1[s]\""))),
        format!("constraints = {{ {} }}", each(&rod)),
        format!("start = {{ {} }}", each(&|i| format!("x{i} = \"{}\"", along(i)))),
        "outputs = { a = { unit = \"m/s^2\", is = \"x5''\" } }\n[parameters]".to_string(),
        "d = { unit = \"N s/m\", nominal = 0.3 }".to_string(),
        (0..6).map(parameter).collect(),
        "[scenario]\nend = 0.3\nstep = 2e-3\n".to_string(),
    ];
    place.write("chain.toml", chain.join("\n"));
    place.good("simulate chain.toml --out truth");
    let table = place.read("truth/outputs.csv");
    let scaled = |line: &str| {
        let cells: Vec<f64> = line.split(',').take(2).map(|cell| cell.parse().unwrap()).collect();
        format!("{},{}\n", cells[0], 1.01 * cells[1])
    };
    place.write("r.csv", "t,a\n".to_string() + &table.lines().skip(1).map(scaled).collect::<String>());
    let run = place.good("check chain.toml --data r.csv --derivatives");
    assert!(run.out.contains("all agree") && !run.out.contains("OFF"), "{}", run.out);
}

// Protects an evening with many records: what is wrong with each of them is reported at once; derivatives can still be checked.
#[test]
fn every_experiment_is_told() {
    let place = Place::new();
    record(&place, "r.csv", 1.0);
    let experiments = |files: &[&str]| -> String {
        files.iter().map(|file| format!("[[experiment]]\nfile = \"{file}\"\n")).collect()
    };
    place.write("broken.csv", "t,F\n0,1\n1,2\n");
    place.write("bad.toml", format!("model = \"oscillator\"\n{}", experiments(&["r.csv", "absent.csv", "broken.csv"])));
    place.refused("check bad.toml", &["absent.csv", "broken.csv", "no column is named like an output"]);
    place.write("other.csv", place.read("r.csv"));
    place.write("two.toml", format!("model = \"oscillator\"\n{}", experiments(&["r.csv", "other.csv"])));
    let run = place.good("check two.toml --out checked");
    assert!(run.out.contains("experiment `r`") && run.out.contains("experiment `other`"), "{}", run.out);
    assert!(place.path("checked/output_a@other.svg").is_file());
    assert!(place.good("check two.toml --derivatives").out.contains("all agree"));
    let derivatives = place.json("check oscillator --end 1 --json", 0);
    assert_eq!(derivatives["passed"], true);
    assert_eq!(derivatives["gradient"].as_array().unwrap().len(), 5);
}

// Protects angles: an encoder's record that the model knows nothing of has a fit of about nothing, and is asked for, where the spread of all its turns would make it good; so is
// one in degrees, of an encoder and of a sensor that counts turns.
#[test]
fn angles_that_are_not_explained_are_asked_for() {
    let place = Place::new();
    let header = "t,rotor,outer,angle";
    let torques = |t: f64| vec![0.004, 0.002 * (9.0 * t).sin()];
    // evenly all around, in the golden section
    let chance = |t: f64| std::f64::consts::TAU * ((500.0 * t).round() * 0.618_033_988_749_895 + (7.0 * t).round());
    let row = |t: f64| [torques(t), vec![chance(t)]].concat();
    place.write("chance.csv", csv(header, times(500, 2e-3), row));
    let problem = "model = \"gyroscope\"\n[data]\nfile = \"chance.csv\"\noutputs.\"inner hinge.angle\" = { column = \"angle\" }\n\
                   inputs.\"rotor torque\" = { column = \"rotor\" }\ninputs.\"outer torque\" = { column = \"outer\" }\n";
    place.write("chance.toml", problem);
    let document = place.json("check chance.toml --json", 1);
    let output = &document["experiments"][0]["outputs"][0];
    let (fit, r_squared) = (output["fit_percent"].as_f64().unwrap(), output["r_squared"].as_f64().unwrap());
    assert!(fit.abs() < 2.0 && r_squared.abs() < 0.04, "{fit} {r_squared}");
    let message = document["warnings"].to_string();
    for part in ["tells next to nothing of `inner hinge.angle`", "come to 1.81 rad by chance", "not in degrees"] {
        assert!(message.contains(part), "`{part}` is missing in {message}");
    }
    place.good("simulate half_car --out car");
    let car = place.read("car/outputs.csv");
    let names: Vec<&str> = car.lines().next().unwrap().split(',').collect();
    let column = |name: &str| names.iter().position(|own| own.starts_with(name)).unwrap();
    let columns = ["time", "road_front", "road_rear", "pitch.angle"].map(column);
    let mut text = String::from("t,front,rear,angle\n");
    for line in car.lines().skip(1) {
        let cells: Vec<f64> = line.split(',').map(|cell| cell.parse().unwrap()).collect();
        let [t, front, rear, angle] = columns.map(|k| cells[k]);
        text += &format!("{t},{front},{rear},{}\n", angle.to_degrees());
    }
    place.write("degrees.csv", text);
    let problem = "model = \"half_car\"\n[data]\nfile = \"degrees.csv\"\noutputs.\"pitch.angle\" = { column = \"angle\" }\n\
                   inputs.road_front = { column = \"front\" }\ninputs.road_rear = { column = \"rear\" }\n";
    place.write("degrees.toml", problem);
    let run = place.run("check degrees.toml");
    assert!(run.out.contains("are units the same (rad and degrees"), "{}", run.out);
    assert!(!run.out.contains("all is well"), "{}", run.out);
}

/// Protects the Jacobians that are printed: at the state of a run or at one that is named, as text and for programs, the same as in the library; and what
/// is asked for in vain.
#[test]
fn jacobians_are_printed() {
    let place = Place::new();
    let document = place.json("jacobians pendulum --time 0.5 --at x=0.6,y=-0.8,x''=2 --only C_q,J_C,df/du --json", 0);
    let number = |group: &str, name: &str| document[group][name].as_f64().unwrap();
    assert_eq!((number("positions", "x"), number("accelerations", "x")), (0.6, 2.0));
    assert!((document["time"].as_f64().unwrap() - 0.5).abs() < 1e-12);
    let jacobians = document["jacobians"].as_array().unwrap();
    assert_eq!(jacobians[0]["values"], serde_json::json!([[0.6, -0.8]]));
    assert_eq!(jacobians[0]["columns"], serde_json::json!(["q `x`", "q `y`"]));
    let lambda = document["multipliers"].as_object().unwrap().values().next().unwrap();
    assert_eq!(&jacobians[1]["values"][0][0], lambda);
    assert_eq!(jacobians[2]["symbol"], "df/du");
    // a first-order state is handled as a velocity
    let motor = place.json("jacobians dc_motor --at current=3 --only dQ/du --json", 0);
    assert_eq!(motor["states"]["current"], 3.0);
    let torque = &motor["jacobians"][0];
    let constant = torque["columns"].as_array().unwrap().iter().position(|name| name == "u `k`").unwrap();
    assert_eq!(torque["values"][0][constant], 3.0, "{torque}");
    let text = place.good("jacobians dc_motor --only J_V").out;
    assert!(text.contains("state `current`"), "{text}");
    let text = place.good("jacobians engine-mount --only J_V").out;
    assert!(text.contains("J_V: force by velocity") && text.contains("motion of `x1`"), "{text}");
    for (arguments, parts) in [
        ("--only J_X", &["no Jacobian `J_X`", "J_M"][..]),
        ("--at nonsense=1", &["nonsense", "there is no coordinate, input or constraint"]),
        ("--at x1'''=1", &["x1'''"]),
        ("--time 1e9", &["--time 1000000000", "the run goes from 0 s"]),
    ] {
        let run = place.run(&format!("jacobians engine-mount {arguments}"));
        assert_eq!(run.code, 2, "{arguments}");
        parts.iter().for_each(|part| assert!(run.err.contains(part), "{arguments}: {}", run.err));
    }
}

// Protects equations as a colleague reads them: rows of mass and forces with the formulas of the file, off-diagonal masses in both rows, constraints with their multipliers, energies, states
// and starts; and that mechanisms from parts, whose equations nobody writes, have none.
#[test]
fn equations_are_read_as_they_are_written() {
    let place = Place::new();
    let files = concat!(env!("CARGO_MANIFEST_DIR"), "/../models/files");
    for (name, lines) in [
        (
            "cart_pole",
            &[
                "(m_cart + m_pole) x'' + (m_pole*l*cos(theta)) theta'' = F + m_pole*l*sin(theta)*theta'^2 - d_cart*x'",
                "(m_pole*l*cos(theta)) x'' + (m_pole*l*l) theta'' = -m_pole*l*sin(theta)*g - d_pole*theta'",
                "at the start: theta = theta0",
            ][..],
        ),
        ("pendulum", &["m y'' + C_qᵀ λ = -d*y' - m*g", "constraint rod: 0 = (x*x + y*y - L*L)*0.5"]),
        (
            "cart_pole_energy",
            &["kinetic energy: m_cart*x'^2/2 + m_pole*(vx^2 + vy^2)/2", "further force of x: F - d_cart*x'"],
        ),
        ("bouc_wen", &["z' = A*x' - beta*abs(x')*z - gamma*x'*abs(z)"]),
    ] {
        let text = place.good(&format!("check {files}/{name}.toml")).out;
        for line in lines {
            assert!(text.lines().any(|own| own.trim() == *line), "{line}\n{text}");
        }
    }
    let text = place.good(&format!("check {files}/four_bar.toml")).out;
    assert!(!text.contains("equations, as the file has them"), "{text}");
}

// Protects a check of gradients from a start that makes its own reference: all entries were zero there, and agreed.
#[test]
fn gradients_are_compared_where_they_are_not_zero() {
    let place = Place::new();
    place.write(
        "free.toml",
        "coordinates = { x = \"m\" }\nmass = { x = \"m\" }\nforce = { x = \"-c*x\" }\nstart = { x = \"x0\" }\n\
         outputs = { x = { unit = \"m\", is = \"x\" } }\n[parameters]\nm = { unit = \"kg\", nominal = 1.0 }\n\
         c = { unit = \"N/m\", nominal = 40.0 }\nx0 = { unit = \"m\", nominal = 0.1 }\n[scenario]\nend = 1.0\nstep = 1e-2\n",
    );
    let found = place.json("check free.toml --json", 0);
    let entries = found["gradient"].as_array().unwrap();
    assert!(found["beside_start"] == true && entries.len() == 3, "{found}");
    assert!(entries.iter().all(|entry| entry["adjoint"].as_f64().unwrap().abs() > 1e-9), "{found}");
    let run = place.good("check free.toml");
    assert!(run.out.contains("1 % beside its start"), "{}", run.out);
}
