//! Parts of the plane from a file, beside the same parts from Rust.

use super::{derivatives, distance};
use costate::value::Value;
use costate::{Number, Parameter, Signal};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Entry, Scenario};
use costate_parts::law::{Axes, FunctionOfTime, Law, Linear};
use costate_parts::planar::{Body, Mechanism, Mounting};
use std::path::Path;
use std::sync::Arc;

/// All parts of the plane that a file may name.
const ALL: &str = r#"
name = "all"
kind = "planar"
inputs = { U = "V", F = "N", road = "m", rate = "m/s" }
constants = { w = { unit = "rad/s", is = 2 } }
gravity = [0, "-g"]

[parameters]
g = { unit = "m/s^2", nominal = 9.81 }
m = { unit = "kg", nominal = 1.5 }
k = { unit = "N/m", nominal = 300.0 }
k3 = { unit = "N/m^3", nominal = 2e3 }
d = { unit = "N s/m", nominal = 4.0 }
K = { unit = "N m/A", nominal = 0.3 }
Tc = { unit = "N m", nominal = 0.2 }
b = { unit = "m/s^2", nominal = 0.1 }

[body]
wheel = { mass = "m", inertia = 0.02, at = [0.0, 1.0] }
pinion = { mass = 0.4, inertia = "m*0.002[m^2]", at = [0.5, 1.0], center = [0.01, 0] }
plate = { mass = "m + 0.5", inertia = 0.01, at = [0.5, 1.2] }
block = { mass = 2, inertia = 0.05, at = [2, 0] }
ball = { mass = 0.5, inertia = 0.001, at = [3, 0.3], free = true }

[point]
load = { mass = 1, at = [0, 0], moving = [0.1, 0] }
slide = { mass = 0.7, at = [4, 0] }

[revolute]
axle = { ground = [0, 1], wheel = [0, 0] }
other = { ground = [0.5, 1], pinion = [0, 0] }

[weld]
glue = { pinion = [0, 0.1], plate = [0, -0.1], angle = 0 }

[prismatic]
guide = { ground = [2, 0], block = [0, 0], direction = 1.5 }

[on_line]
line = { ground = [4, 0], slide = [0, 0], direction = 0.2 }

[rod]
rope = { wheel = [0.1, 0], load = [0, 0], length = 1.004987562112089 }

[gears]
teeth = { from = "wheel", on = "pinion", ratio = -2 }

[spring]
soft = { ground = [2, 1.5], block = [0, 0.1], free_length = 1.2, stiffness = "k", damping = "2*d" }

[strut]
hard = { ground = [4, 1], slide = [0, 0], free_length = 0.9, tension = "k*x + k3*x^3 + d*x'", energy = "k*x^2/2 + k3*x^4/4" }

[torsion]
linear = { from = "ground", on = "pinion", stiffness = 2, damping = 0.01 }
dry = { from = "ground", on = "wheel", torque = "coulomb(x', Tc, 0.5[rad/s])", energy = 0, free_angle = 0.1 }

[support]
tyre = { block = [0, -0.1], direction = 1.5707963267948966, motion = ["road", "rate"], free_distance = 0.2, stiffness = "3*k", damping = "d" }

[dc_motor]
servo = { from = "ground", on = "wheel", voltage = "U*2", torque_constant = "K", resistance = 1.5, inductance = 0.01 }

[force]
push = { slide = [0, 0], direction = [1, 0.2], is = "F*(m*0.5[1/kg] + 1)" }
shake = { block = [0.05, 0], direction = [0, 1], axes = "body", is = "k*0.01[m]*sin(w*t)" }

[torque]
turn = { from = "block", on = "wheel", is = "Tc + 0.1" }

[drag]
air = { slide = [0, 0], linear = "d", quadratic = 0.3 }

[contact]
floor = { ground = [0, 0.1], ball = [0, 0], radius = 0.2, stiffness = 1e4, damping = 0.1 }

[sensor]
p = { shows = "position", load = [0, 0] }
v = { shows = "velocity", block = [0.1, 0], axes = "body" }
a = { shows = "acceleration", slide = [0, 0] }
imu = { shows = "accelerometer", wheel = [0.1, 0], angle = 0.3, gain = 1.1, bias = ["b", 0] }
angle = { shows = "angle", from = "ground", on = "wheel" }
encoder = { shows = "encoder", from = "wheel", on = "pinion" }
s = { shows = "strut", of = "hard" }
i = { shows = "state", of = "servo" }
r = { shows = "reaction", of = "axle", on = "wheel" }
e = { shows = "energy" }
loss = { shows = "dissipation" }

[scenario]
end = 0.2
initial_state = "projected"
inputs = { U = "3*sin(5*t)", F = "t", road = "0.01*sin(9*t)", rate = "0.09*cos(9*t)" }
start = { m = 1.7, k = 250, Tc = 0.3, K = 0.25, d = 3 }
"#;

#[derive(Clone)]
struct Hard;

impl Law for Hard {
    fn tension<D: Number>(&self, x: D, rate: D, u: &[D]) -> D {
        u[0] * x + u[1] * x.powi(3) + u[2] * rate
    }
    fn energy<D: Number>(&self, x: D, u: &[D]) -> Option<D> {
        Some(u[0] * x.powi(2) / 2.0 + u[1] * x.powi(4) / 4.0)
    }
}

#[derive(Clone)]
struct Dry;

impl Law for Dry {
    fn tension<D: Number>(&self, _x: D, rate: D, u: &[D]) -> D {
        u[0] * (rate / 0.5).tanh()
    }
    fn energy<D: Number>(&self, _x: D, _u: &[D]) -> Option<D> {
        Some(D::from(0.0))
    }
}

struct Shake;

impl FunctionOfTime for Shake {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        u[0] * 0.01 * (t * 2.0).sin()
    }
}

fn in_rust(scenario: Scenario) -> Entry {
    let mut all = Mechanism::new("all");
    let parameter = |(name, unit, nominal): (&str, &str, f64)| Parameter::new(name, unit, nominal);
    let [g, m, k, k3, d, torque_constant, dry, bias] = [
        ("g", "m/s^2", 9.81),
        ("m", "kg", 1.5),
        ("k", "N/m", 300.0),
        ("k3", "N/m^3", 2e3),
        ("d", "N s/m", 4.0),
        ("K", "N m/A", 0.3),
        ("Tc", "N m", 0.2),
        ("b", "m/s^2", 0.1),
    ]
    .map(|own| all.parameter(parameter(own)));
    let [voltage, push, road, rate] =
        [("U", "V"), ("F", "N"), ("road", "m"), ("rate", "m/s")].map(|(name, unit)| all.input(name, unit));
    let (zero, ground) = (Value::from(0.0), all.ground());
    all.gravity([zero, -g]);
    let wheel = all.body("wheel", Body::new(m, 0.02).at([0.0, 1.0], 0.0));
    let pinion = all.body("pinion", Body::new(0.4, m * 0.002).at([0.5, 1.0], 0.0).center([0.01, 0.0]));
    let plate = all.body("plate", Body::new(m + 0.5, 0.01).at([0.5, 1.2], 0.0));
    let block = all.body("block", Body::new(2.0, 0.05).at([2.0, 0.0], 0.0));
    let ball = all.body("ball", Body::new(0.5, 0.001).at([3.0, 0.3], 0.0));
    all.free(&ball);
    let load = all.point_moving("load", 1.0, [0.0, 0.0], [0.1, 0.0]);
    let slide = all.point("slide", 0.7, [4.0, 0.0]);
    let axle = all.revolute("axle", ground.at([0.0, 1.0]), wheel.at([0.0, 0.0]));
    all.revolute("other", ground.at([0.5, 1.0]), pinion.at([0.0, 0.0]));
    all.weld("glue", pinion.at([0.0, 0.1]), plate.at([0.0, -0.1]), 0.0);
    all.prismatic("guide", ground.at([2.0, 0.0]), block.at([0.0, 0.0]), 1.5, 0.0);
    all.on_line("line", ground.at([4.0, 0.0]), slide.at([0.0, 0.0]), 0.2);
    all.rod("rope", wheel.at([0.1, 0.0]), load.at([0.0, 0.0]), 1.004987562112089);
    all.gears("teeth", &wheel, &pinion, -2.0);
    all.spring("soft", ground.at([2.0, 1.5]), block.at([0.0, 0.1]), 1.2, k, d * 2.0);
    let hard = all.strut("hard", ground.at([4.0, 1.0]), slide.at([0.0, 0.0]), 0.9, Hard, [k, k3, d]);
    all.torsion("linear", &ground, &pinion, 2.0, 0.01);
    all.torsion_by("dry", &ground, &wheel, 0.1, Dry, [dry]);
    let up = std::f64::consts::FRAC_PI_2;
    all.support("tyre", block.at([0.0, -0.1]), up, [road, rate], 0.2, Linear, [k * 3.0, d]);
    let current =
        all.dc_motor("servo", &ground, &wheel, voltage.times(2.0), [torque_constant, 1.5.into(), 0.01.into()]);
    all.force("push", slide.at([0.0, 0.0]), [1.0, 0.2], Axes::World, push.times(m * 0.5 + 1.0));
    all.force_by("shake", block.at([0.05, 0.0]), [0.0, 1.0], Axes::Body, Shake, [k]);
    all.torque("turn", &block, &wheel, dry + 0.1);
    all.drag("air", slide.at([0.0, 0.0]), d, 0.3);
    all.contact("floor", ground.at([0.0, 0.1]), 0.0, ball.at([0.0, 0.0]), 0.2, 1e4, 0.1);
    all.position("p", load.at([0.0, 0.0]));
    all.velocity("v", block.at([0.1, 0.0]), Axes::Body);
    all.acceleration("a", slide.at([0.0, 0.0]), Axes::World);
    let mounting = Mounting { angle: 0.3.into(), gain: 1.1.into(), bias: [bias, zero] };
    all.accelerometer("imu", wheel.at([0.1, 0.0]), mounting);
    all.angle("angle", &ground, &wheel);
    all.encoder("encoder", &wheel, &pinion);
    all.strut_sensor("s", &hard);
    all.state_sensor("i", current);
    all.reaction("r", &axle, &wheel);
    all.energy("e");
    all.dissipation("loss");
    Entry::new("", Arc::new(all.build().unwrap()), scenario)
}

/// Protects each part from being another one in a file: with all of them, cost, gradient and Hessian are those of the same mechanism in Rust.
#[test]
fn parts_are_those_of_rust() {
    let own = costate_file::parse(ALL, Path::new("all.toml")).unwrap_or_else(|error| panic!("{error}"));
    let integrator = Integrator { initial_state: costate::InitialState::Projected, ..Integrator::default() };
    let start = [("m", 1.7), ("k", 250.0), ("Tc", 0.3), ("K", 0.25), ("d", 3.0)];
    let signals = [
        Signal::function(|t| 3.0 * (5.0 * t).sin()),
        Signal::function(|t| t),
        Signal::function(|t| 0.01 * (9.0 * t).sin()),
        Signal::function(|t| 0.09 * (9.0 * t).cos()),
    ];
    let rust = in_rust(Scenario {
        end: 0.2,
        integrator,
        signals: signals.to_vec(),
        start: start.map(|(name, value)| (name.to_string(), value)).to_vec(),
        outputs: own.scenario.outputs.clone(),
        ..Scenario::default()
    });
    assert_eq!(own.system.signature(), rust.system.signature());
    assert_eq!(own.system.remarks(), rust.system.remarks());
    let [own, rust] = [&own, &rust].map(|entry| derivatives(&entry.problem(&entry.scenario).unwrap()));
    let hessian = own.2.iter().zip(&rust.2).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let errors = [(own.0 - rust.0).abs() / rust.0, distance(&own.1, &rust.1), hessian];
    println!("all parts: {errors:?}");
    assert!(errors.iter().all(|error| *error <= 1e-12), "{errors:?}");
    assert_eq!(own.3, rust.3);
}

/// Protects messages: what a part cannot be is said with its line, by the names of the file.
#[test]
fn slips_in_parts_are_named() {
    let mut missed = Vec::new();
    for (old, new, words) in [
        ("length = 1.004987562112089", "", "line 43: `length` in [rod.rope]: it is missing"),
        (
            "wheel = [0, 0] }\nother",
            "weel = [0, 0] }\nother",
            "line 30: there is no key or member `weel` in [revolute.axle]; did you mean `wheel`?",
        ),
        ("pinion = [0, 0.1], plate", "pinion = [0], plate", "no list of 2 numbers"),
        (
            "inertia = 0.02",
            "inertia = \"0.02[kg^2 m^2]/(m - 1.5[kg])\"",
            "inertia of `body.wheel`: this is inf at the nominal parameters",
        ),
        ("is = \"F*(m*0.5[1/kg] + 1)\"", "is = \"sign(F)*1[N]\"", "no strength that a part can have"),
        (
            "inertia = 0.02",
            "inertia = \"m\"",
            "line 19: inertia of `body.wheel`: this is in [kg], where [kg m^2] is wanted",
        ),
        ("k3*x^3", "k3*x^2", "this adds [N] and [N/m]"),
        ("is = \"F*(m*0.5[1/kg] + 1)\"", "is = \"F*F/1[N]\"", "no strength that a part can have"),
        (
            "shows = \"strut\", of = \"hard\"",
            "shows = \"strut\", of = \"hart\"",
            "there is no spring or strut `hart` in [sensor.s]; did you mean `hard`?",
        ),
        ("shows = \"energy\"", "shows = \"energy\", load = [0, 0]", "it names 1 places, not 0"),
        ("kind = \"planar\"", "kind = \"planer\"", "there is no kind of mechanism `planer`; did you mean `planar`?"),
        ("[body]", "[bodies]", "there is no key `bodies`"),
        ("gravity = [0, \"-g\"]", "gravity = [0, \"g*t\"]", "cannot depend on the time"),
    ] {
        let text = ALL.replacen(old, new, 1);
        assert_ne!(text, ALL, "{old}");
        let error =
            costate_file::parse(&text, Path::new("all.toml")).err().map(|error| error.to_string()).unwrap_or_default();
        if !error.contains(words) {
            missed.push(format!("{new}: {error}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Protects properties that are no sums of multiples of parameters, with slopes that are constant or not: cost, gradient and Hessian follow from
/// those of the mechanism with a parameter in their place; its inertia is another one in its last bit, of which stiff parts make 1e-12.
#[test]
fn properties_follow_from_parameters() {
    type Slopes = [f64; 2];
    // the value at m, and its first and second derivative
    type Law = fn(f64) -> (f64, Slopes);
    let laws: [(&str, Law); 3] = [
        ("m*m*0.02[m^2/kg]", |m| (0.02 * m * m, [0.04 * m, 0.04])),
        ("if(m > 1.6[kg], 0.02[m^2]*m, 0.03[kg m^2])", |m| {
            if m > 1.6 { (0.02 * m, [0.02, 0.0]) } else { (0.03, [0.0, 0.0]) }
        }),
        ("mod(m, 1[kg])*0.1[m^2] + shift", |m| (m % 1.0 * 0.1 + 0.01, [0.1, 0.0])),
    ];
    let text = ALL.replace("constants = {", "constants = { shift = \"0.01[kg m^2]\",");
    for (law, value) in laws {
        let (nominal, (start, [slope, bend])) = (value(1.5).0, value(1.7));
        let other = text
            .replace("[body]", &format!("I = {{ unit = \"kg m^2\", nominal = {nominal:?} }}\n[body]"))
            .replace("start = {", &format!("start = {{ I = {start:?},"))
            .replace("inertia = 0.02", "inertia = \"I\"");
        let text = text.replace("inertia = 0.02", &format!("inertia = \"{law}\""));
        let [own, other] = [text, other].map(|text| {
            let entry = costate_file::parse(&text, Path::new("all.toml")).unwrap_or_else(|error| panic!("{error}"));
            (derivatives(&entry.problem(&entry.scenario).unwrap()), entry.system.signature().parameters.clone())
        });
        let place = |name: &str| other.1.iter().position(|own| own.name == name).unwrap();
        let (m, i) = (place("m"), place("I"));
        assert_eq!(own.1.len() + 1, other.1.len());
        let ((cost, gradient, hessian, _), count) = (&other.0, own.1.len());
        let expected: Vec<f64> =
            (0..count).map(|k| gradient[k] + if k == m { slope * gradient[i] } else { 0.0 }).collect();
        let row = |k: usize| -> Vec<f64> {
            let of = |j: usize, l: usize| hessian[j][l] + if l == m { slope * hessian[j][i] } else { 0.0 };
            let entry = |l: usize| of(k, l) + if k == m { slope * of(i, l) } else { 0.0 };
            (0..count).map(|l| entry(l) + if (k, l) == (m, m) { bend * gradient[i] } else { 0.0 }).collect()
        };
        let rows: Vec<f64> = (0..count).flat_map(row).collect();
        let errors = [(own.0.0 - cost).abs() / cost, distance(&own.0.1, &expected), distance(&own.0.2.concat(), &rows)];
        println!("{law}: {errors:?}");
        assert!(errors.iter().all(|error| *error <= 1e-11), "{law}: {errors:?}");
    }
}

/// Protects laws with states: a Bouc-Wen force by formulas is the one from Rust, with its start, in cost, gradient and Hessian; and what is wrong with them
/// is told.
#[test]
fn laws_have_states() {
    let text = r#"
name = "hysteresis"
kind = "planar"
inputs = { F = "N" }
[parameters]
k = { unit = "N/m", nominal = 40.0 }
c = { unit = "N s/m", nominal = 0.5 }
A = { unit = "N/m", nominal = 30.0 }
beta = { unit = "1/m", nominal = 5.0 }
gamma = { unit = "1/m", nominal = 3.0 }
z0 = { unit = "N", nominal = 0.2 }
[point]
load = { mass = 1.5, at = [0, -1] }
[on_line]
guide = { ground = [0, 0], load = [0, 0], direction = 1.5707963267948966 }
[strut]
rope = { ground = [0, 0], load = [0, 0], free_length = 1, tension = "k*x + c*x' + z", states = { z = "N" }, rates = { z = "A*x' - beta*abs(x')*z - gamma*x'*abs(z)" }, start = { z = "z0" } }
[force]
push = { load = [0, 0], direction = [0, 1], is = "F" }
[sensor]
y = { shows = "position", load = [0, 0] }
z = { shows = "state", of = "rope.z" }
[scenario]
end = 1.0
step = 5e-3
inputs = { F = "9*sin(6*t)" }
start = { A = 25, z0 = 0.1 }
"#;
    let own = costate_file::parse(text, Path::new("hysteresis.toml")).unwrap_or_else(|error| panic!("{error}"));
    let mut all = Mechanism::new("hysteresis");
    let parameters = own.system.signature().parameters.clone();
    let values: Vec<Value> = parameters.into_iter().map(|own| all.parameter(own)).collect();
    let force = all.input("F", "N");
    let load = all.point("load", 1.5, [0.0, -1.0]);
    let ground = all.ground();
    all.on_line("guide", ground.at([0.0, 0.0]), load.at([0.0, 0.0]), std::f64::consts::FRAC_PI_2);
    let law = costate_parts::law::BoucWen;
    let rope = all.strut("rope", ground.at([0.0, 0.0]), load.at([0.0, 0.0]), 1.0, law, values[..5].iter().copied());
    let state = rope.states()[0];
    all.start_state(state, values[5]);
    all.force("push", load.at([0.0, 0.0]), [0.0, 1.0], Axes::World, force);
    all.position("y", load.at([0.0, 0.0]));
    all.state_sensor("z", state);
    let rust = Entry::new("", Arc::new(all.build().unwrap()), own.scenario.clone());
    assert_eq!(own.system.signature(), rust.system.signature());
    let [own, rust] = [&own, &rust].map(|entry| derivatives(&entry.problem(&entry.scenario).unwrap()));
    let hessian = own.2.iter().zip(&rust.2).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let errors = [(own.0 - rust.0).abs() / rust.0, distance(&own.1, &rust.1), hessian];
    assert!(rust.0 > 1e-3 && errors.iter().all(|error| *error <= 1e-12), "{errors:?}");
    assert_eq!(own.3, rust.3);
    for (from, to, words) in [
        ("z = \"A*x'", "y = \"A*x'", "there is no state `y`"),
        ("A*x' -", "A*x -", "this subtracts [N] and [N/s]"),
        ("start = { z = \"z0\" }", "start = { z = \"k\" }", "where [N] is wanted"),
        ("states = { z = \"N\" }, ", "states = { k = \"N\" }, ", "no name that is free"),
        ("of = \"rope.z\"", "of = \"rope.y\"", "there is no state `rope.y`"),
        ("tension = \"k*x + c*x' + z\"", "tension = \"k*x + c*x' + w\"", "there is no name `w`"),
        ("start = { z", "energy = \"z*x\", start = { z", "cannot depend on multipliers, or states of a law"),
    ] {
        let slip = text.replacen(from, to, 1);
        assert_ne!(slip, text, "{from}");
        let told =
            costate_file::parse(&slip, Path::new("slip.toml")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.contains(words), "{to}: {told}");
    }
}
