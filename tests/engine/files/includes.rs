//! Files that include others: names, parameters, places, mirrors.

use super::derivatives;
use costate_identify::registry::Entry;
use std::collections::HashMap;
use std::path::PathBuf;

/// Files in a folder of their own.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("costate_includes_{name}_{}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    fn write(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    fn read(&self, text: &str) -> Entry {
        costate_file::parse(text, &self.0.join("all.toml")).unwrap_or_else(|error| panic!("{error}"))
    }

    fn refused(&self, text: &str) -> String {
        costate_file::parse(text, &self.0.join("all.toml")).err().map(|error| error.to_string()).unwrap_or_default()
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Outputs of the built-in simulation at its nominal parameters, at its end, and its first and last values.
fn outputs(entry: &Entry) -> HashMap<String, Vec<f64>> {
    let simulation = entry.simulation(&entry.scenario).unwrap();
    let run = simulation.run(&entry.system.signature().nominal()).unwrap();
    let all = &entry.system.signature().outputs;
    all.iter().enumerate().map(|(k, output)| (output.name.clone(), run.output(k))).collect()
}

/// Two series are one, but for a factor and a tolerance; and more than nothing.
fn same(all: &HashMap<String, Vec<f64>>, [a, b]: [&str; 2], factor: f64, tolerance: f64) {
    let values = |name: &str| all.get(name).unwrap_or_else(|| panic!("no {name} among {:?}", all.keys()));
    let (a_values, b_values) = (values(a), values(b));
    let most = a_values.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let off = a_values.iter().zip(b_values).fold(0.0, |most: f64, (a, b)| most.max((a - factor * b).abs()));
    assert!(most > 1e-3, "{a} is nothing");
    assert!(off <= tolerance * most, "{a} and {b}: {off:e} of {most}");
}

/// A leg with parts of every kind that a mirror changes; not one of its laws is symmetric.
const LEG: &str = r#"
kind = "planar"
inputs = { U = "V" }
constants = { half = 0.5 }
[parameters]
m = { unit = "kg", nominal = 1.5 }
l = { unit = "m", nominal = 0.4 }
k = { unit = "N m/rad", nominal = 20.0 }
[definitions]
inertia = "m*l^2/12"
[body]
thigh = { mass = "m", inertia = "inertia", at = [0.1, -0.2], angle = 0.3, center = [0.02, -0.05], moving = [0.02, 0.0], rate = 0.2 }
shin = { mass = 0.8, inertia = 0.01, at = [0.15, -0.6] }
wheel = { mass = 0.5, inertia = 0.003, at = [0.3, -0.2] }
block = { mass = 0.4, inertia = 0.002, at = [0.5, 0.1] }
[revolute]
hip = { ground = [0, 0], thigh = [-0.05, 0.18] }
knee = { thigh = [0.03, -0.21], shin = [0, 0.19] }
axle = { thigh = [0.1, 0.05], wheel = [0, 0] }
[prismatic]
guide = { ground = [0.5, 0.1], block = [0, 0], direction = 0.4 }
[gears]
teeth = { from = "thigh", on = "wheel", ratio = -2 }
[torsion]
hip_spring = { from = "ground", on = "thigh", torque = "k*x + 8[N m]*x^2 + z", free_angle = 0.1, states = { z = "N m" }, rates = { z = "k*x' - 5*abs(x')*z - 3[1/N]*x'*z^2*1[1/m]" }, start = { z = 0.4 } }
knee_spring = { from = "thigh", on = "shin", stiffness = "k", damping = 0.05 }
[torque]
push = { from = "thigh", on = "shin", is = "0.3" }
[dc_motor]
servo = { from = "thigh", on = "shin", voltage = "U", torque_constant = 0.2, resistance = 1.5, inductance = 0.01 }
[spring]
cable = { ground = [-0.2, 0.1], thigh = [0.05, 0.02], free_length = 0.1, stiffness = 100, damping = 1 }
[force]
along = { shin = [0.02, 0], direction = [1, 0.3], axes = "body", is = "0.7" }
aside = { block = [0.0, 0], direction = [1, 0.3], is = "2" }
[drag]
air = { shin = [0, -0.1], linear = 0.2 }
[sensor]
hip_angle = { shows = "angle", from = "ground", on = "thigh" }
knee_angle = { shows = "angle", from = "thigh", on = "shin" }
foot = { shows = "position", shin = [0.01, -0.2] }
block_at = { shows = "position", block = [0, 0] }
current = { shows = "state", of = "servo" }
hysteresis = { shows = "state", of = "hip_spring.z" }
tension = { shows = "strut", of = "cable" }
"#;

const SCENARIO: &str = "[scenario]\nend = 0.3\nstep = 2e-3\ninitial_state = \"projected\"\n";

// Protects mirrored parts of the plane: a leg and its image move as images, with angles, currents and tensions that are the same.
#[test]
fn legs_are_mirrored_in_the_plane() {
    let folder = Folder::new("planar_mirror");
    folder.write("leg.toml", LEG);
    for (axis, signs) in [("x", [-1.0, 1.0]), ("y", [1.0, -1.0])] {
        let gravity = if axis == "x" { "[0, -9.81]" } else { "[-9.81, 0]" };
        let all = folder.read(&format!(
            "kind = \"planar\"\ngravity = {gravity}\n[include]\nl = {{ file = \"leg.toml\", shared = true }}\n\
             r = {{ file = \"leg.toml\", mirrored = \"{axis}\", shared = true }}\n{SCENARIO}inputs = {{ U = \"2*sin(20*t)\" }}\n"
        ));
        let names: Vec<&str> = all.system.signature().parameters.iter().map(|own| own.name.as_str()).collect();
        assert_eq!(names, ["m", "l", "k"]);
        let found = outputs(&all);
        for name in ["hip_angle.angle", "knee_angle.angle", "current.value", "hysteresis.value", "tension.tension"] {
            same(&found, [&format!("l_{name}"), &format!("r_{name}")], 1.0, 1e-9);
        }
        for name in ["foot", "block_at"] {
            same(&found, [&format!("l_{name}.x"), &format!("r_{name}.x")], signs[0], 1e-9);
            same(&found, [&format!("l_{name}.y"), &format!("r_{name}.y")], signs[1], 1e-9);
        }
    }
}

// Protects places: a file that is turned and moved, on the ground, on a body that is held, or in a file in a file, moves as the same file where
// everything else is turned back.
#[test]
fn files_are_placed_in_the_plane() {
    let folder = Folder::new("planar_place");
    let leg = LEG.replace("hip_angle = { shows = \"angle\", from = \"ground\", on = \"thigh\" }\n", "");
    folder.write("leg.toml", &leg);
    let (turn, [x, y]) = (0.7f64, [0.3, -0.2]);
    let (sin, cos) = turn.sin_cos();
    let gravity = format!("gravity = [{}, {}]", 9.81 * sin, -9.81 * cos);
    let plain = folder.read(&format!("{leg}{SCENARIO}inputs = {{ U = \"2*sin(20*t)\" }}\n"));
    folder
        .write("inner.toml", "kind = \"planar\"\n[include]\ni = { file = \"leg.toml\", angle = 0.5, shared = true }\n");
    let trunk = "[body]\ntrunk = { mass = 1, inertia = 1, at = [0.1, 0.05], angle = 0.2 }\n\
                 [weld]\nheld = { ground = [0.1, 0.05], trunk = [0, 0], angle = 0.2 }\n";
    // the place on the trunk, whose axes are turned by 0.2
    let (s, c) = 0.2f64.sin_cos();
    let at = [c * (x - 0.1) + s * (y - 0.05), -s * (x - 0.1) + c * (y - 0.05)];
    // parts, what their names begin with, and the input
    let cases = [
        (
            format!("[include]\nL = {{ file = \"leg.toml\", at = [{x}, {y}], angle = {turn}, shared = true }}"),
            "L_",
            "U",
        ),
        // what a file shares is that of the one that includes it
        (format!("[include]\nL = {{ file = \"inner.toml\", at = [{x}, {y}], angle = 0.2 }}"), "L_i_", "L_U"),
        (
            format!(
                "{trunk}[include]\nL = {{ file = \"leg.toml\", on = \"trunk\", at = {at:?}, angle = 0.5, shared = [\"U\"] }}"
            ),
            "L_",
            "U",
        ),
    ];
    let expected = outputs(&plain);
    for (parts, prefix, input) in cases {
        let inputs = if input == "U" { "inputs = { U = \"V\" }" } else { "" };
        let entry = folder.read(&format!(
            "kind = \"planar\"\n{gravity}\n{inputs}\n{parts}\n{SCENARIO}inputs = {{ {input} = \"2*sin(20*t)\" }}\n"
        ));
        let mut found = outputs(&entry);
        found.extend(expected.iter().map(|(name, values)| (format!("plain {name}"), values.clone())));
        for name in ["knee_angle.angle", "current.value", "hysteresis.value", "tension.tension"] {
            same(&found, [&format!("plain {name}"), &format!("{prefix}{name}")], 1.0, 1e-8);
        }
        let [px, py] = ["x", "y"].map(|axis| found[&format!("{prefix}foot.{axis}")].clone());
        let back: Vec<f64> = px.iter().zip(&py).map(|(px, py)| cos * (px - x) + sin * (py - y)).collect();
        found.insert("back".into(), back);
        same(&found, ["plain foot.x", "back"], 1.0, 1e-8);
    }
}

/// An arm with joints and forces of every kind that a mirror changes.
const ARM: &str = r#"
kind = "spatial"
inputs = { T = "N m" }
[parameters]
m = { unit = "kg", nominal = 1.2 }
k = { unit = "N m/rad", nominal = 15.0 }
[body]
upper = { mass = "m", inertia = [0.02, 0.015, 0.01, 0.002, -0.001, 0.003], at = [0.05, 0.1, -0.2], turned = [0.1, 0.2, 0.15], center = [0.01, 0.03, -0.05], spinning = [0.1, 0.0, 0.0] }
lower = { mass = 0.8, inertia_factors = [-3.0, -3.1, -3.4, 0.01, -0.005, 0.008], at = [0.1, 0.15, -0.5] }
slide = { mass = 0.5, inertia = [0.002, 0.003, 0.004], at = [0.3, 0.2, 0.1] }
nut = { mass = 0.3, inertia = [0.001, 0.001, 0.002], at = [-0.3, 0.3, 0] }
rod = { mass = 0.4, inertia = [0.002, 0.002, 0.001], at = [-0.1, -0.4, 0] }
load = { mass = 0.6, inertia = [0.004, 0.003, 0.002], at = [0.6, 0.3, 0.2] }
cross = { mass = 0.2, inertia = [0.002, 0.003, 0.002], at = [-0.6, 0.2, 0.0] }
[revolute]
hip = { ground = { at = [0, 0, 0], axis = [0.2, 1, 0.3] }, upper = { at = [-0.02, 0.05, 0.2], axis = [0.2, 1, 0.3] } }
knee = { from = "upper", on = "lower", point = [0.08, 0.12, -0.35], axis = [1, 0.3, 0.2] }
[prismatic]
way = { from = "ground", on = "slide", point = [0.3, 0.2, 0.1], axis = [1, 0.5, -0.6] }
[screw]
thread = { from = "ground", on = "nut", point = [-0.3, 0.3, 0], axis = [0.3, 0.8, 0.2], lead = 0.05 }
[cylindrical]
sleeve = { ground = { at = [-0.1, -0.4, 0], axis = [0.1, 0.3, 1] }, rod = { at = [0, 0, 0], axis = [0.1, 0.3, 1] } }
[universal]
cardan = { ground = { at = [-0.6, 0.2, 0.1], axis = [1, 0, 0] }, cross = { at = [0, 0, 0.1], axis = [0, 1, 0] } }
[bushing]
soft = { ground = [0.6, 0.3, 0.2], load = [0, 0.01, 0.02], stiffness = [[400, 10, 5, 3, 2, 1], [10, 500, 20, -2, 4, -3], [5, 20, 600, 1, -5, 2], [3, -2, 1, 10, 0.5, -0.4], [2, 4, -5, 0.5, 12, 0.3], [1, -3, 2, -0.4, 0.3, 14]], damping = [1, 2, 3] }
[joint_spring]
hip_spring = { of = "hip", tension = "k*x + 6[N m]*x^2 + 0.1[N m s]*x'", free = 0.1 }
knee_spring = { of = "knee", stiffness = "k", damping = 0.1 }
stop = { of = "way", freedom = "slide", tension = "50[N/m]*x + 300[N/m^2]*x^2" }
turn = { of = "sleeve", stiffness = 2 }
grip = { of = "thread", stiffness = 0.5 }
[motor]
drive = { of = "knee", is = "T" }
[strut]
creep = { ground = [0.4, 0.1, 0.1], lower = [0, 0, 0], tension = "30[N/m]*(x - y)", states = { y = "m" }, rates = { y = "(x - y)/0.05[s]" }, start = { y = 0.05 } }
[spring]
cable = { ground = [-0.2, 0.1, 0.1], upper = [0.05, 0.02, -0.1], free_length = 0.1, stiffness = 60, damping = 1 }
hold = { ground = [-0.1, -0.4, -0.5], rod = [0.02, 0, 0], stiffness = 40 }
[force]
along = { lower = [0.02, 0.05, 0], direction = [1, 0.3, -0.4], axes = "body", is = 0.7 }
aside = { load = [0.02, 0.05, 0], direction = [1, 0.3, -0.4], is = 3 }
[torque]
twist = { on = "lower", direction = [0.2, 1, 0.5], axes = "body", is = 0.2 }
turning = { on = "load", direction = [0.2, 1, 0.5], is = 0.5 }
[sensor]
hip_angle = { shows = "joint", of = "hip" }
knee_angle = { shows = "joint", of = "knee" }
path = { shows = "joint", of = "way", freedom = "slide" }
sleeve_turn = { shows = "joint", of = "sleeve" }
nut_turn = { shows = "joint", of = "thread" }
flow = { shows = "state", of = "creep.y" }
tip = { shows = "position", lower = [0.01, 0.02, -0.2] }
load_at = { shows = "position", load = [0.1, 0.05, 0.2] }
cross_at = { shows = "position", cross = [0.1, 0.05, 0.2] }
rod_at = { shows = "position", rod = [0.1, 0.05, 0.2] }
tension = { shows = "strut", of = "cable" }
"#;

// Protects mirrored parts of space likewise.
#[test]
fn arms_are_mirrored_in_space() {
    let folder = Folder::new("spatial_mirror");
    folder.write("arm.toml", ARM);
    let g = [0.0, 0.0, -9.81];
    for (axis, flipped) in [("x", 0), ("y", 1), ("z", 2)] {
        let mut gravity = g;
        if flipped == 2 {
            gravity = [-9.81, 0.0, 0.0];
        }
        let all = folder.read(&format!(
            "kind = \"spatial\"\ngravity = {gravity:?}\n[include]\nl = {{ file = \"arm.toml\", shared = true }}\n\
             r = {{ file = \"arm.toml\", mirrored = \"{axis}\", shared = true }}\n{SCENARIO}inputs = {{ T = \"0.5*sin(20*t)\" }}\n"
        ));
        let found = outputs(&all);
        for name in [
            "hip_angle.angle",
            "knee_angle.angle",
            "path.displacement",
            "sleeve_turn.angle",
            "nut_turn.angle",
            "tension.tension",
            "flow.value",
        ] {
            same(&found, [&format!("l_{name}"), &format!("r_{name}")], 1.0, 1e-8);
        }
        for name in ["tip", "load_at", "cross_at", "rod_at"] {
            for (k, component) in ["x", "y", "z"].iter().enumerate() {
                let sign = if k == flipped { -1.0 } else { 1.0 };
                same(&found, [&format!("l_{name}.{component}"), &format!("r_{name}.{component}")], sign, 1e-8);
            }
        }
    }
}

// Protects places in space: turned and moved, on the ground and on a body that is held and turned itself.
#[test]
fn files_are_placed_in_space() {
    let folder = Folder::new("spatial_place");
    folder.write("arm.toml", ARM);
    let turn = [0.3, -0.5, 0.4];
    let rotation = costate::vector::Rotation::from_rotation_vector(costate::vector::Vector(turn));
    let gravity = rotation.turn(costate::vector::Vector([0.0, 0.0, -9.81])).0;
    let plain = outputs(&folder.read(&format!("{ARM}{SCENARIO}inputs = {{ T = \"0.5*sin(20*t)\" }}\n")));
    let ground =
        format!("[include]\nA = {{ file = \"arm.toml\", at = [0.3, 0.2, -0.1], turned = {turn:?}, shared = true }}\n");
    let body = format!(
        "[body]\ntrunk = {{ mass = 1, inertia = [1, 1, 1], at = [0.3, 0.2, -0.1], turned = {turn:?} }}\n\
         [weld]\nheld = {{ from = \"ground\", on = \"trunk\", point = [0, 0, 0] }}\n\
         [include]\nA = {{ file = \"arm.toml\", on = \"trunk\", shared = true }}\n"
    );
    for parts in [ground, body] {
        let entry = folder.read(&format!(
            "kind = \"spatial\"\ngravity = {gravity:?}\n{parts}{SCENARIO}inputs = {{ T = \"0.5*sin(20*t)\" }}\n"
        ));
        let mut found = outputs(&entry);
        found.extend(plain.iter().map(|(name, values)| (format!("plain {name}"), values.clone())));
        for name in [
            "hip_angle.angle",
            "knee_angle.angle",
            "path.displacement",
            "sleeve_turn.angle",
            "nut_turn.angle",
            "tension.tension",
            "flow.value",
        ] {
            same(&found, [&format!("plain {name}"), &format!("A_{name}")], 1.0, 1e-7);
        }
        for name in ["tip", "load_at", "cross_at", "rod_at"] {
            let all = ["x", "y", "z"].map(|component| found[&format!("A_{name}.{component}")].clone());
            let at = |i: usize| costate::vector::Vector([all[0][i] - 0.3, all[1][i] - 0.2, all[2][i] + 0.1]);
            let back: Vec<f64> = (0..all[0].len()).map(|i| rotation.turn_back(at(i)).0[2]).collect();
            found.insert("back".into(), back);
            same(&found, [&format!("plain {name}.z"), "back"], 1.0, 1e-7);
        }
    }
}

// Protects names and parameters: each file's own begin with its name, those that are shared are there once, those that follow from others are formulas with
// exact derivatives; a body that moves takes what is on it along at the start.
#[test]
fn parameters_of_included_files() {
    let folder = Folder::new("parameters");
    folder.write("leg.toml", LEG);
    let text = "kind = \"planar\"\ninputs = { U = \"V\" }\n[parameters]\nM = { unit = \"kg\", nominal = 6.0 }\n\
         [body]\ntrunk = { mass = \"M\", inertia = 0.5, at = [0.2, 1.0], angle = 0.1, moving = [1, 0.5], rate = 2, free = true }\n\
         [include]\na = { file = \"leg.toml\", on = \"trunk\", at = [-0.3, 0], with = { m = \"M/4\" }, shared = [\"k\", \"U\"] }\n\
         b = { file = \"leg.toml\", on = \"trunk\", at = [0.3, 0], mirrored = \"x\", with = { m = \"M/4\", l = 0.5 }, shared = [\"k\", \"U\"] }\n\
         [sensor]\nhip_reaction = { shows = \"reaction\", of = \"a_hip\", on = \"trunk\" }\nhead = { shows = \"position\", trunk = [0, 0.2] }\n\
         [scenario]\nend = 0.1\nstep = 1e-3\ninitial_state = \"projected\"\ninputs = { U = \"2*sin(20*t)\" }\nstart = { M = 5.5 }\n\
         outputs = [\"head.x\", \"a_foot.x\"]\n";
    let entry = folder.read(text);
    let signature = entry.system.signature();
    assert_eq!(signature.parameters.iter().map(|own| own.name.as_str()).collect::<Vec<_>>(), ["M", "a_l", "k"]);
    assert_eq!(signature.inputs.len(), 1);
    assert_eq!(entry.files.len(), 3);
    // `m*l^2/12` in the leg's own file; with a number for `l`, that is a multiple of `M`
    let derived: Vec<&str> = entry.system.derived().unwrap().dependent().map(|own| own.name.as_str()).collect();
    assert_eq!(derived, ["body.a_thigh.inertia"]);
    // nobody says that nothing depends on what the inertia follows from, nor that no body has that inertia
    assert!(!entry.system.remarks().iter().any(|remark| remark.contains("`a_l`")), "{:?}", entry.system.remarks());
    let nominal = entry.system.signature().nominal();
    assert_eq!(costate_parts::impossible(&*entry.system, &nominal), Vec::<String>::new());
    let heavy = entry.system.parameters_with(&[("M".into(), -1.0)]).unwrap();
    let said = costate_parts::impossible(&*entry.system, &heavy);
    assert!(said.iter().any(|own| own.contains("`a_thigh` has an inertia of -")), "{said:?}");
    let problem = entry.problem(&entry.scenario).unwrap();
    let (cost, gradient, ..) = derivatives(&problem);
    let of = |k: usize, change: f64| {
        let mut u = problem.start.clone();
        u[k] += change;
        problem.gradient().unwrap().cost(&u).unwrap()
    };
    for (k, exact) in gradient.into_iter().enumerate() {
        let h = 1e-5 * problem.start[k];
        let slope = (of(k, h) - of(k, -h)) / (2.0 * h);
        let size = exact.abs().max(cost / problem.start[k]);
        assert!((slope - exact).abs() <= 1e-5 * size, "{k}: {slope} {exact}");
    }
    for (from, to, words) in [
        ("\"leg.toml\", on = \"trunk\", at = [-0.3, 0]", "\"log.toml\", at = [-0.3, 0]", "all.toml, line 8: "),
        ("on = \"trunk\", at = [-0.3", "on = \"trunc\", at = [-0.3", "did you mean `trunk`?"),
        ("with = { m = \"M/4\" }", "with = { mm = \"M/4\" }", "there is no parameter or input `mm`"),
        ("with = { m = \"M/4\" }", "with = { m = \"M*0.3[m]\" }", "and what it is given is in [kg m]"),
        ("of = \"a_hip\"", "of = \"hip\"", "known: a_hip"),
        ("mirrored = \"x\"", "mirrored = \"z\"", "there is no axis `z`"),
        ("angle = 0.1, moving", "angle = \"M*0.1[rad/kg]\", moving", "depends on parameters"),
        ("kind = \"planar\"\ninputs", "kind = \"plain\"\ninputs", "no key `"),
    ] {
        let slip = text.replacen(from, to, 1);
        assert_ne!(slip, text, "{from}");
        let told = folder.refused(&slip);
        assert!(told.contains(words), "{to}: {told}");
    }
    // what is meant in the world stays in the outer file, also where the ground of a file begins there and moves
    folder.write(
        "leg.toml",
        "kind = \"planar\"\n[body]\nb = { mass = 1, inertia = 1 }\n[drive]\nd = { of = \"b\", coordinate = \"x\", is = \"t*1[m/s]\" }\n",
    );
    let on = |member: &str, at: &str| {
        folder.refused(&format!(
            "kind = \"planar\"\n[body]\ntrunk = {{ mass = 1, inertia = 1, free = true }}\n\
             [include]\nl = {{ file = \"leg.toml\", on = \"{member}\", at = {at} }}\n"
        ))
    };
    for told in [on("trunk", "[0, 0]"), on("ground", "[0.1, 0]")] {
        assert!(told.contains("a coordinate is one of the world") && told.contains("leg.toml, line 5"), "{told}");
    }
    let told = on("ground", "[0, 0]");
    assert!(!told.contains("a coordinate is one of the world"), "{told}");
    // errors in an included file are told by its own lines
    folder.write("leg.toml", &LEG.replace("mass = 0.8", "mass = \"0.8[m]\""));
    let told = folder.refused(text);
    assert!(told.contains("leg.toml, line 13") && told.contains("mass of `body.shin`"), "{told}");
    folder.write("leg.toml", "kind = \"planar\"\n[include]\nme = { file = \"leg.toml\" }\n");
    let told = folder.refused("kind = \"planar\"\n[include]\na = { file = \"leg.toml\" }\n");
    assert!(told.contains("let no file lead to itself"), "{told}");
}

// Protects starts: what is on a body that moves and turns goes along, its place and its velocity, also mirrored, to round-off.
#[test]
fn starts_go_along() {
    let folder = Folder::new("starts");
    folder.write(
        "flag.toml",
        "kind = \"planar\"\n[body]\nflag = { mass = 1, inertia = 1, at = [0.5, 0.2], angle = 0.4 }\n\
         [weld]\nheld = { ground = [0.5, 0.2], flag = [0, 0], angle = 0.4 }\n",
    );
    let plane = "kind = \"planar\"\n[body]\n\
         trunk = { mass = 1, inertia = 0.5, at = [0.2, 1.0], angle = 0.3, moving = [1, 0.5], rate = 2, free = true }\n\
         [include]\nf = { file = \"flag.toml\", on = \"trunk\", at = [0.1, 0.3], angle = 0.6, mirrored = \"x\" }\n\
         [sensor]\na = { shows = \"velocity\", trunk = [PX, PY] }\nb = { shows = \"velocity\", f_flag = [0, 0] }\n\
         c = { shows = \"position\", trunk = [PX, PY] }\nd = { shows = \"position\", f_flag = [0, 0] }\n\
         r = { shows = \"angle\", from = \"ground\", on = \"trunk\" }\ns = { shows = \"angle\", from = \"ground\", on = \"f_flag\" }\n\
         [scenario]\nend = 0.01\nstep = 1e-3\n";
    // where the flag is on the trunk
    let (sin, cos) = 0.6f64.sin_cos();
    let at = [0.1 + cos * -0.5 - sin * 0.2, 0.3 + sin * -0.5 + cos * 0.2];
    let found = outputs(&folder.read(&plane.replace("PX", &at[0].to_string()).replace("PY", &at[1].to_string())));
    assert!((found["s.angle"][0] - (0.3 + 0.6 - 0.4)).abs() < 1e-14);
    assert_eq!(pairs(&found, &["x", "y", "v_x", "v_y", "rate"]), 5);
    folder.write(
        "flag.toml",
        "kind = \"spatial\"\n[body]\nflag = { mass = 1, inertia = [1, 1, 1], at = [0.5, 0.2, 0.1], turned = [0.1, 0.2, 0.3] }\n\
         [weld]\nheld = { from = \"ground\", on = \"flag\", point = [0.5, 0.2, 0.1] }\n",
    );
    let space = "kind = \"spatial\"\n[body]\ntrunk = { mass = 1, inertia = [0.5, 0.6, 0.7], at = [0.2, 1.0, 0.3], turned = [0.2, -0.3, 0.5], \
         moving = [1, 0.5, 0.2], spinning = [2, -1, 1.5], free = true }\n\
         [include]\nf = { file = \"flag.toml\", on = \"trunk\", at = [0.1, 0.3, 0.2], turned = [0.3, 0.1, -0.4], mirrored = \"y\" }\n\
         [sensor]\na = { shows = \"velocity\", trunk = [PX, PY, PZ] }\nb = { shows = \"velocity\", f_flag = [0, 0, 0] }\n\
         c = { shows = \"position\", trunk = [PX, PY, PZ] }\nd = { shows = \"position\", f_flag = [0, 0, 0] }\n\
         r = { shows = \"angular_velocity\", on = \"trunk\" }\ns = { shows = \"angular_velocity\", on = \"f_flag\" }\n\
         [scenario]\nend = 0.01\nstep = 1e-3\n";
    let rotation = costate::vector::Rotation::from_rotation_vector(costate::vector::Vector([0.3, 0.1, -0.4]));
    let [x, y, z] =
        (rotation.turn(costate::vector::Vector([0.5, -0.2, 0.1])) + costate::vector::Vector([0.1, 0.3, 0.2])).0;
    let text = space.replace("PX", &x.to_string()).replace("PY", &y.to_string()).replace("PZ", &z.to_string());
    let found = outputs(&folder.read(&text));
    assert_eq!(pairs(&found, &["x", "y", "z", "v_x", "v_y", "v_z", "omega_x", "omega_y", "omega_z"]), 9);
}

/// Checks first values of sensors a and b, c and d, r and s; returns how many there are, of some components.
fn pairs(found: &HashMap<String, Vec<f64>>, components: &[&str]) -> usize {
    let mut pairs = 0;
    for (name, values) in found {
        let Some((kind, component)) = name.split_once('.') else { continue };
        let Some(at) = ["a", "c", "r"].iter().position(|own| *own == kind) else { continue };
        if !components.contains(&component) {
            continue;
        }
        let other = found[&format!("{}.{component}", ["b", "d", "s"][at])][0];
        assert!((values[0] - other).abs() < 1e-14 && other != 0.0, "{name}: {} {other}", values[0]);
        pairs += 1;
    }
    assert!(pairs > 0, "{:?}", found.keys());
    pairs
}
