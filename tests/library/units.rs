//! Units of columns, end to end: a record in any unit gives the parameters of the record in the model's units.

use costate::{Matrix, Model, Number, Parameter, Signal, Signature, State};
use costate_identify::Result;
use costate_identify::optimise::Flow;
use costate_identify::problem::Problem;
use costate_identify::problem_file::parse;
use costate_identify::registry::{Registry, Scenario};
use costate_identify::{Settings, identify};
use std::f64::consts::TAU;
use std::path::PathBuf;

/// J ω' = K i - d ω.
struct Motor;

impl Model for Motor {
    fn signature(&self) -> Signature {
        Signature::new("motor")
            .coordinates([("angle", "rad")])
            .inputs([("i", "A")])
            .outputs([("speed", "rad/s"), ("angle", "rad")])
            .parameters([
                Parameter::new("K", "N m/A", 0.05),
                Parameter::new("d", "N m s/rad", 2e-4).fixed(),
                Parameter::new("J", "kg m^2", 1e-4).fixed(),
            ])
    }
    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], _v: &mut [D]) {}
    fn mass<D: Number>(&self, _q: &[D], u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = u[2];
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        force[0] = u[0] * w[0] - u[1] * v[0];
    }
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, _u: &[D], y: &mut [D]) {
        (y[0], y[1]) = (x.v[0], x.q[0]);
    }
}

fn registry() -> Registry {
    let scenario =
        Scenario { signals: vec![Signal::constant(0.0)], outputs: vec!["speed".into()], ..Scenario::default() };
    Registry::new().with("a motor", Motor, scenario).unwrap()
}

/// A folder for one test, removed at its end.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("costate-units-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    /// Writes t, i and speed, each times its factor, below this header.
    fn record(&self, header: &str, [time, current, speed]: [f64; 3]) {
        let rows = samples().into_iter().map(|[t, i, v]| format!("{},{},{}\n", time * t, current * i, speed * v));
        std::fs::write(self.0.join("record.csv"), format!("{header}\n{}", rows.collect::<String>())).unwrap();
    }

    fn problem(&self, data: &str) -> Result<(Problem, Vec<String>)> {
        let text = format!(
            "model = \"motor\"\n[data]\nfile = \"record.csv\"\n{data}\n[integrator]\nsubsteps = 1\n[parameters]\nK = {{ start = 0.02 }}\n"
        );
        parse(&text, &self.0.join("motor.toml")).and_then(|own| own.build_with_notes(&registry()))
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Times in s, currents in A, speeds in rad/s of the motor with K = 0.05.
fn samples() -> Vec<[f64; 3]> {
    let times: Vec<f64> = (0..81).map(|k| f64::from(k) * 0.005).collect();
    let current: Vec<f64> = times.iter().map(|t| 1.0 + (9.0 * t).sin()).collect();
    let signal = Signal::sampled(&times, &current, costate::Interpolation::Linear).unwrap();
    let scenario = Scenario { step: 0.005, end: 0.4, signals: vec![signal], ..Scenario::default() };
    let registry = registry();
    let run = registry.get("motor").unwrap().simulation(&scenario).unwrap().run(&[0.05, 2e-4, 1e-4]).unwrap();
    let speed = run.output(0);
    (0..times.len()).map(|k| [times[k], current[k], speed[k]]).collect()
}

/// K by a fit.
fn fitted(problem: &Problem) -> f64 {
    identify(problem, &Settings::default(), &mut |_| Flow::Continue).unwrap().values()[0]
}

/// Protects results from factors without a word: a record whose times, input and output are in any units, said behind any sign or by a key,
/// gives the same parameter; each conversion is said once.
#[test]
fn a_record_in_any_units_gives_the_same_parameter() {
    let folder = Folder::new("any");
    let (rpm, degrees) = (60.0 / TAU, 360.0 / TAU);
    let mapped = |speed: &str| format!("outputs.speed = {{ column = \"{speed}\" }}");
    for (header, factors, data, said) in [
        ("t,i,speed", [1.0; 3], String::new(), 0),
        ("t [s],i (A),speed/(rad/s)", [1.0; 3], String::new(), 0),
        ("t,i,Speed (rpm)", [1.0, 1.0, rpm], mapped("Speed (rpm)"), 1),
        ("t,i,speed [rpm]", [1.0, 1.0, rpm], String::new(), 1),
        ("t,i,speed/(rev/min)", [1.0, 1.0, rpm], String::new(), 1),
        ("t,i,speed_rpm", [1.0, 1.0, rpm], String::new(), 1),
        ("t,i,n_rpm", [1.0, 1.0, rpm], mapped("n_rpm"), 1),
        ("t,i,n_deg_s", [1.0, 1.0, degrees], mapped("n_deg_s"), 1),
        ("t,i,speed (Hz)", [1.0, 1.0, 1.0 / TAU], String::new(), 1),
        ("Time (ms),i (mA),speed (°/s)", [1e3, 1e3, degrees], String::new(), 3),
        ("tow(msec),i/mA,speed [krpm]", [1e3, 1e3, 1e-3 * rpm], String::new(), 3),
        ("time_us,i_uA,speed", [1e6, 1e6, 1.0], String::new(), 2),
        ("t/min,i,speed", [1.0 / 60.0, 1.0, 1.0], String::new(), 1),
        ("clk,i,speed", [1e3, 1.0, 1.0], "time = \"clk\"\ntime_unit = \"ms\"".into(), 1),
        ("t,i,n", [1.0, 1.0, rpm], "outputs.speed = { column = \"n\", unit = \"rpm\" }".into(), 1),
        (
            "t,counts,n",
            [1.0, 4096.0, 1.0],
            "inputs.i = { column = \"counts\", scale = 0.000244140625 }\noutputs.speed = { column = \"n\" }".into(),
            1,
        ),
        ("t,i,n [counts]", [1.0, 1.0, -0.5], "outputs.speed = { column = \"n [counts]\", scale = -2.0 }".into(), 1),
    ] {
        folder.record(header, factors);
        let (problem, notes) = folder.problem(&data).unwrap_or_else(|error| panic!("{header}: {error}"));
        // the data are those of the same scheme at the same steps: what is left is the round-off of factors
        let value = fitted(&problem);
        assert!((value / 0.05 - 1.0).abs() < 1e-9, "{header}: K = {value}");
        let is_said = |note: &&String| ["converted from", "as `scale` says"].iter().any(|part| note.contains(part));
        assert_eq!(notes.iter().filter(is_said).count(), said, "{header}: {notes:#?}");
    }
}

/// Protects from what no factor mends: the file, the column, both units and the remedy are named, and an offset is added to every sample.
#[test]
fn what_is_in_no_unit_of_the_quantity_is_refused() {
    let folder = Folder::new("refused");
    for (header, data, parts) in [
        (
            "t,i,speed (N)",
            "",
            ["record.csv: column `speed (N)` is in `N`, where `speed` is in `rad/s`", "unit = \"rad/s\""],
        ),
        ("t,i,n (x)", "outputs.speed = { column = \"n (x)\" }", ["`x` is no unit that is known", "unit = \"rad/s\""]),
        ("t,i (V),speed", "", ["column `i (V)` is in `V`, where `i` is in `A`", "correct the header"]),
        ("t (N),i,speed", "", ["column `t (N)` is in `N`, where `time` is in `s`", "time_unit = \"s\""]),
        (
            "t,i,n",
            "outputs.speed = { column = \"n\", unit = \"kg\" }",
            ["motor.toml, line", "is in `kg`, where `speed`"],
        ),
        ("t,i,n", "outputs.speed = { column = \"n\", unit = \"rpm\", scale = 2.0 }", ["`scale`", "leave out `unit`"]),
        (
            "t,i,n",
            "outputs.speed = { column = \"n\", scale = 0.0 }",
            ["motor.toml, line", "`scale` of a column: it is 0"],
        ),
    ] {
        folder.record(header, [1.0; 3]);
        let message = folder.problem(data).err().unwrap_or_else(|| panic!("{header} {data}")).to_string();
        parts.iter().for_each(|part| assert!(message.contains(part), "{header}: {message}"));
    }
    folder.record("t,i,n", [1.0; 3]);
    let (problem, _) = folder.problem("outputs.speed = { column = \"n\", offset = 1.5 }").unwrap();
    let references = problem.experiments[0].cost.as_least_squares().unwrap().references();
    for (own, [.., speed]) in references[0].values.iter().zip(samples()) {
        assert_eq!(*own, speed + 1.5);
    }
}
