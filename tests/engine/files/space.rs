//! Parts of space from a file, beside the same parts from Rust.

use super::{derivatives, distance};
use costate::value::Value;
use costate::{InitialState, Number, Parameter, Signal};
use costate_identify::problem::Integrator;
use costate_identify::registry::{Entry, Scenario};
use costate_parts::law::{Axes, FunctionOfTime, Law};
use costate_parts::spatial::{
    Body, Capsule, Command, Controller, Freedom, Inertia, Looks, Mechanism, Mounting, ReactionAxes,
};
use costate_report::plot::mechanism::Picture;
use std::path::Path;
use std::sync::Arc;

/// Bodies that hang on the ground by each kind of joint, and all forces and sensors of space.
const ALL: &str = r#"
name = "all"
kind = "spatial"
inputs = { U = "V", T = "N m" }
gravity = [0, 0, "-g"]

[parameters]
g = { unit = "m/s^2", nominal = 9.81 }
m = { unit = "kg", nominal = 1.5 }
I = { unit = "kg m^2", nominal = 0.02 }
k = { unit = "N/m", nominal = 300.0 }
d = { unit = "N s/m", nominal = 4.0 }
Tc = { unit = "N m", nominal = 0.2 }
K = { unit = "N m/A", nominal = 0.3 }
b = { unit = "rad/s", nominal = 0.1 }

[body]
ball = { mass = "m", inertia = ["I", "I", 0.01], at = [0, 0, 0], spinning = [0, 0, 1] }
door = { mass = 1, inertia = [0.02, 0.03, 0.025, 1e-3, 0, "I*0.1"], at = [1, 0, 0], center = [0.2, 0, 0] }
cross = { mass = 1, inertia = [0.02, 0.02, 0.02], at = [2, 0, 0] }
fixed = { mass = 1, inertia_factors = [-2, -2, -2, 0, 0, 0.1], at = [3, 0, 0], turned = [0.1, 0.2, 0.3] }
rod = { mass = 1, inertia = [0.02, 0.02, 0.01], at = [4, 0, 0] }
slide = { mass = 1, inertia = [0.02, 0.02, 0.01], at = [5, 0, 0] }
nut = { mass = 1, inertia = [0.02, 0.02, 0.01], at = [6, 0, 0] }
disc = { mass = 1, inertia = [0.02, 0.02, 0.01], at = [7, 0, 0], moving = [0, 0.1, 0] }
engine = { mass = "m", inertia = [0.02, 0.02, 0.01], at = [8, 0, 0] }
driven = { mass = 1, inertia = [0.02, 0.02, 0.01], at = [9, 0, 0] }

[point]
bead = { mass = 1, at = [0, 1, 0] }
plate = { mass = 1, at = [1, 1, 0] }
load = { mass = "m", at = [2, 1, -1], moving = [0.1, 0, 0] }
stone = { mass = 1, at = [3, 1, 0.08], free = true }

[spherical]
socket = { ground = [0, 0, 0.2], ball = [0, 0, 0.2] }

[revolute]
hinge = { from = "ground", on = "door", point = [1, 0, 0], axis = [0, 0.3, 1] }
motor = { ground = { at = [9, 0, 0], axis = [1, 0, 0] }, driven = { axis = [1, 0, 0] } }

[universal]
cardan = { ground = { at = [2, 0, 0.1], axis = [1, 0, 0] }, cross = { at = [0, 0, 0.1], axis = [0, 1, 0] } }

[weld]
glue = { from = "ground", on = "fixed", point = [3, 0, 0] }

[cylindrical]
sleeve = { ground = [4, 0, 0], rod = [0, 0, 0] }

[prismatic]
guide = { ground = { at = [5, 0, 0], axis = [1, 0, 1] }, slide = { axis = [1, 0, 1] } }

[screw]
thread = { ground = [6, 0, 0], nut = [0, 0, 0], lead = 0.1 }

[planar]
table = { ground = { at = [7, 0, 0], axis = [0, 0.1, 1] }, disc = { axis = [0, 0.1, 1] } }

[in_line]
wire = { ground = { at = [0, 1, 0], axis = [1, 0, 1] }, bead = [0, 0, 0] }

[in_plane]
floor = { ground = { at = [1, 1, 0], axis = [1, 0, 1] }, plate = [0, 0, 0] }

[distance]
rope = { ground = [2, 1, 0], load = [0, 0, 0], length = 1 }

[spring]
soft = { ground = [4, 0, 1], rod = [0, 0, 0.1], free_length = 0.8, stiffness = "k", damping = "d" }

[strut]
hard = { ground = [5, 0, 1], slide = [0, 0, 0.1], free_length = 0.8, tension = "k*x + d*x'", energy = "k*x^2/2" }

[joint_spring]
linear = { of = "hinge", stiffness = 2, damping = 0.1 }
dry = { of = "motor", tension = "coulomb(x', Tc, 0.5[rad/s])", energy = 0, free = 0.1 }
rail = { of = "guide", freedom = "slide", damping = "d" }

[tendon]
rotor = { of = ["hinge", "thread"], ratios = [3.0, "k*0.01[m/N]"], inertia = "m*0.02[m^2]", tension = "coulomb(x', Tc, 0.5[rad/s])", energy = 0 }
cable = { of = ["guide", "sleeve"], freedoms = ["slide", "turn"], ratios = [1.0, 0.05], unit = "m", inertia = 0.1, tension = "k*x + d*x'", free = 0.02, energy = "k*x^2/2" }

[motor]
turn = { of = "hinge", is = "T*2" }
swing = { of = "thread", is = "Tc*sin(3[1/s]*t)" }

[controller]
hold = { of = "guide", freedom = "slide", reference = "0.01[m]*sin(3[rad/s]*t)", proportional = "k", integral = 50.0, derivative = "d" }
steer = { of = "hinge", reference = "Tc*0.5[rad/(N m)]", proportional = 4.0, feed_forward = "T*0.5" }

[capsule]
rail = { on = "ground", from = [5, 0, 0], to = [6, 0, 1], radius = 0.1 }
leaf = { on = "door", to = ["m*0.1[m/kg]", 0, 0.3], radius = 0.05 }

[shape]
plate = { form = "box", edges = [0.2, "m*0.1[m/kg]", 0.02], door = { at = [0.1, 0, 0], axis = [1, 0, 1], across = [0, 1, 0] } }
post = { form = "cylinder", radius = 0.05, length = 0.4, ground = { axis = [0, 1, 0] } }
hand = { form = "capsule", radius = 0.04, length = 0.1, ball = { at = [0, 0, 0.1], axis = [0, 1, 1] } }
head = { form = "ball", radius = 0.07, cross = [0, 0, 0.1] }

[dc_motor]
servo = { of = "sleeve", voltage = "U", torque_constant = "K", resistance = 1.5, inductance = 0.01 }

[bushing]
rubber = { ground = [8, 0, 0], engine = [0, 0, 0], stiffness = ["k", "k", "2*k"], turn_stiffness = [5, 5, 5], damping = ["d", "d", "d"], turn_damping = [0.1, 0.1, 0.1] }

[force]
push = { disc = [0.1, 0, 0], direction = [1, 0.2, 0], axes = "body", is = "m*g*0.1" }

[torque]
twist = { on = "cross", direction = [0, 0, 1], is = "Tc" }

[drag]
air = { load = [0, 0, 0], linear = "d", quadratic = 0.3 }

[contact]
bump = { ground = [3, 1, 0], stone = [0, 0, 0], radius = 0.1, stiffness = 1e4, damping = 0.1 }

[drive]
go = { of = "motor", is = "0.2[rad/s]*t" }

[sensor]
p = { shows = "position", ball = [0, 0, 0.1] }
v = { shows = "velocity", door = [0.1, 0, 0], axes = "body" }
a = { shows = "acceleration", bead = [0, 0, 0] }
imu = { shows = "accelerometer", cross = { at = [0, 0.1, 0], axis = [0, 1, 0] }, gain = 1.1 }
gyro = { shows = "gyroscope", ball = [0, 0, 0], bias = ["b", 0, 0] }
w = { shows = "angular_velocity", on = "ball" }
hinge_angle = { shows = "joint", of = "hinge" }
guide_way = { shows = "joint", of = "guide", freedom = "slide" }
s = { shows = "strut", of = "hard" }
i = { shows = "state", of = "servo" }
apart = { shows = "clearance", between = ["rail", "leaf"] }
z = { shows = "state", of = "hold.integral" }
holds = { shows = "controller", of = "hold" }
steers = { shows = "controller", of = "steer" }
r = { shows = "reaction", of = "hinge", on = "door", axes = "joint" }
e = { shows = "energy" }
loss = { shows = "dissipation" }
momentum = { shows = "momentum" }

[scenario]
end = 0.1
initial_state = "projected"
inputs = { U = "3*sin(5*t)", T = "t" }
start = { m = 1.7, I = 0.03, k = 250, Tc = 0.3, K = 0.25, d = 3 }
"#;

#[derive(Clone)]
struct Hard;

impl Law for Hard {
    fn tension<D: Number>(&self, x: D, rate: D, u: &[D]) -> D {
        u[0] * x + u[1] * rate
    }
    fn energy<D: Number>(&self, x: D, u: &[D]) -> Option<D> {
        Some(u[0] * x.powi(2) / 2.0)
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

struct Swing;

impl FunctionOfTime for Swing {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        u[0] * (t * 3.0).sin()
    }
}

struct Wave;

impl FunctionOfTime for Wave {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        (t * 3.0).sin() * 0.01
    }
}

/// Its derivative.
struct Slope;

impl FunctionOfTime for Slope {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        (t * 3.0).cos() * 0.03
    }
}

/// A reference, or its rate.
enum Reference {
    Place(Wave),
    Rate(Slope),
}

impl FunctionOfTime for Reference {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        match self {
            Reference::Place(wave) => wave.at(t, u),
            Reference::Rate(slope) => slope.at(t, u),
        }
    }
}

struct Go;

impl FunctionOfTime for Go {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        t * 0.2
    }
}

fn in_rust(scenario: Scenario) -> Entry {
    let mut all = Mechanism::new("all");
    let [g, m, moment, k, d, dry, constant, bias] = [
        ("g", "m/s^2", 9.81),
        ("m", "kg", 1.5),
        ("I", "kg m^2", 0.02),
        ("k", "N/m", 300.0),
        ("d", "N s/m", 4.0),
        ("Tc", "N m", 0.2),
        ("K", "N m/A", 0.3),
        ("b", "rad/s", 0.1),
    ]
    .map(|(name, unit, nominal)| all.parameter(Parameter::new(name, unit, nominal)));
    let [voltage, torque] = [("U", "V"), ("T", "N m")].map(|(name, unit)| all.input(name, unit));
    let (zero, ground) = (Value::from(0.0), all.ground());
    let number = Value::from;
    all.gravity([zero, zero, -g]);
    let plain = || Inertia::diagonal([0.02, 0.02, 0.01]);
    let at = |x: f64| [x, 0.0, 0.0];
    let origin = [0.0; 3];
    let ball = Body::new(m, Inertia::diagonal([moment, moment, number(0.01)])).moving(origin, [0.0, 0.0, 1.0]);
    let ball = all.body("ball", ball);
    let tensor = [number(0.02), number(0.03), number(0.025), number(1e-3), zero, moment * 0.1];
    let door = all.body("door", Body::new(1.0, Inertia::entries(tensor)).at(at(1.0)).center([0.2, 0.0, 0.0]));
    let cross = all.body("cross", Body::new(1.0, Inertia::diagonal([0.02; 3])).at(at(2.0)));
    let turn = costate::vector::euler_parameters_of(costate::vector::Vector([0.1, 0.2, 0.3]));
    let factors = Inertia::factors([-2.0, -2.0, -2.0, 0.0, 0.0, 0.1]);
    let fixed = all.body("fixed", Body::new(1.0, factors).at(at(3.0)).turned(turn));
    let rod = all.body("rod", Body::new(1.0, plain()).at(at(4.0)));
    let slide = all.body("slide", Body::new(1.0, plain()).at(at(5.0)));
    let nut = all.body("nut", Body::new(1.0, plain()).at(at(6.0)));
    let disc = all.body("disc", Body::new(1.0, plain()).at(at(7.0)).moving([0.0, 0.1, 0.0], origin));
    let engine = all.body("engine", Body::new(m, plain()).at(at(8.0)));
    let driven = all.body("driven", Body::new(1.0, plain()).at(at(9.0)));
    let bead = all.point("bead", 1.0, [0.0, 1.0, 0.0]);
    let plate = all.point("plate", 1.0, [1.0, 1.0, 0.0]);
    let load = all.point_moving("load", m, [2.0, 1.0, -1.0], [0.1, 0.0, 0.0]);
    let stone = all.point("stone", 1.0, [3.0, 1.0, 0.08]);
    all.free(&stone);
    all.spherical("socket", ground.at([0.0, 0.0, 0.2]), ball.at([0.0, 0.0, 0.2]));
    let lean = [0.0, 0.3, 1.0];
    let [a, b] = [all.place(&ground, at(1.0)).axis(lean), all.place(&door, at(1.0)).axis(lean)];
    let hinge = all.revolute("hinge", a, b);
    let motor =
        all.revolute("motor", ground.at(at(9.0)).axis([1.0, 0.0, 0.0]), driven.at(origin).axis([1.0, 0.0, 0.0]));
    let arm = cross.at([0.0, 0.0, 0.1]).axis([0.0, 1.0, 0.0]);
    all.universal("cardan", ground.at([2.0, 0.0, 0.1]).axis([1.0, 0.0, 0.0]), arm);
    let [a, b] = [all.place(&ground, at(3.0)), all.place(&fixed, at(3.0))];
    all.weld("glue", a, b);
    let sleeve = all.cylindrical("sleeve", ground.at(at(4.0)), rod.at(origin));
    let diagonal = [1.0, 0.0, 1.0];
    let guide = all.prismatic("guide", ground.at(at(5.0)).axis(diagonal), slide.at(origin).axis(diagonal));
    let thread = all.screw("thread", ground.at(at(6.0)), nut.at(origin), 0.1);
    let tilted = [0.0, 0.1, 1.0];
    all.planar("table", ground.at(at(7.0)).axis(tilted), disc.at(origin).axis(tilted));
    all.in_line("wire", ground.at([0.0, 1.0, 0.0]).axis(diagonal), bead.at(origin));
    all.in_plane("floor", ground.at([1.0, 1.0, 0.0]).axis(diagonal), plate.at(origin));
    all.distance("rope", ground.at([2.0, 1.0, 0.0]), load.at(origin), 1.0);
    all.spring("soft", ground.at([4.0, 0.0, 1.0]), rod.at([0.0, 0.0, 0.1]), 0.8, k, d);
    let hard = all.strut("hard", ground.at([5.0, 0.0, 1.0]), slide.at([0.0, 0.0, 0.1]), 0.8, Hard, [k, d]);
    all.joint_spring("linear", &hinge, Freedom::Turn, 2.0, 0.1);
    all.joint_law("dry", &motor, Freedom::Turn, 0.1, Dry, [dry]);
    all.joint_spring("rail", &guide, Freedom::Slide, 0.0, d);
    let ratio = k * 0.01;
    let rotor = all.tendon("rotor", &[(&hinge, Freedom::Turn, number(3.0)), (&thread, Freedom::Turn, ratio)]).unwrap();
    all.tendon_inertia(&rotor, m * 0.02);
    all.tendon_law(&rotor, 0.0, Dry, [dry]);
    let over = [(&guide, Freedom::Slide, number(1.0)), (&sleeve, Freedom::Turn, number(0.05))];
    let cable = all.tendon("cable", &over).unwrap();
    all.tendon_inertia(&cable, 0.1);
    all.tendon_law(&cable, 0.02, Hard, [k, d]);
    all.motor("turn", &hinge, Freedom::Turn, torque.times(2.0));
    all.motor_by("swing", &thread, Freedom::Turn, Swing, [dry]);
    let none = [0.0; 0];
    let hold = Controller::of(Command::of_time(Reference::Place(Wave), none))
        .reference_rate(Command::of_time(Reference::Rate(Slope), none));
    let hold = hold.proportional(k).integral(50.0).derivative(d);
    let hold = all.controller("hold", &guide, Freedom::Slide, hold).unwrap();
    let steer: Controller = Controller::of(Command::given(dry * 0.5)).proportional(4.0);
    let steer = steer.feed_forward(Command::given(torque.times(0.5)));
    let steer = all.controller("steer", &hinge, Freedom::Turn, steer).unwrap();
    let current =
        all.dc_motor("servo", &sleeve, Freedom::Turn, voltage, [constant, number(1.5), number(0.01)]).unwrap();
    let diagonal_of = |values: [Value; 6]| {
        let mut all = [[zero; 6]; 6];
        values.into_iter().enumerate().for_each(|(j, value)| all[j][j] = value);
        all
    };
    let stiffness = diagonal_of([k, k, k * 2.0, number(5.0), number(5.0), number(5.0)]);
    let damping = diagonal_of([d, d, d, number(0.1), number(0.1), number(0.1)]);
    all.bushing("rubber", ground.at(at(8.0)), engine.at(origin), stiffness, damping);
    all.force("push", disc.at([0.1, 0.0, 0.0]), [1.0, 0.2, 0.0], Axes::Body, m * 0.981);
    all.torque("twist", &cross, [0.0, 0.0, 1.0], Axes::World, dry);
    all.drag("air", load.at(origin), d, 0.3);
    all.contact("bump", ground.at([3.0, 1.0, 0.0]), stone.at(origin), 0.1, 1e4, 0.1);
    all.drive_joint("go", &motor, Freedom::Turn, Go, [0.0; 0]);
    all.position("p", ball.at([0.0, 0.0, 0.1]));
    all.velocity("v", door.at([0.1, 0.0, 0.0]), Axes::Body);
    all.acceleration("a", bead.at(origin), Axes::World);
    let mounting = Mounting { gain: 1.1.into(), ..Mounting::default() };
    all.accelerometer("imu", cross.at([0.0, 0.1, 0.0]).axis([0.0, 1.0, 0.0]), mounting);
    all.gyroscope("gyro", ball.at(origin), Mounting { bias: [bias, zero, zero], ..Mounting::default() });
    all.angular_velocity("w", &ball, Axes::World);
    all.joint_sensor("hinge_angle", &hinge, Freedom::Turn);
    all.joint_sensor("guide_way", &guide, Freedom::Slide);
    all.strut_sensor("s", &hard);
    all.state_sensor("i", current);
    let rail = Capsule::new(&ground, [5.0, 0.0, 0.0], [6.0, 0.0, 1.0], 0.1);
    let leaf = Capsule::new(&door, [zero; 3], [m * 0.1, zero, number(0.3)], 0.05);
    all.clearance("apart", [&rail, &leaf]);
    all.looks(&rail);
    all.looks(&leaf);
    let plate = door.at([0.1, 0.0, 0.0]).axis([1.0, 0.0, 1.0]).across([0.0, 1.0, 0.0]);
    all.looks(Looks::cuboid(&plate, [number(0.2), m * 0.1, number(0.02)]));
    all.looks(Looks::cylinder(&ground.at(origin).axis([0.0, 1.0, 0.0]), 0.05, 0.4));
    all.looks(Looks::capsule(&ball.at([0.0, 0.0, 0.1]).axis([0.0, 1.0, 1.0]), 0.04, 0.1));
    all.looks(Looks::ball(&cross.at([0.0, 0.0, 0.1]), 0.07));
    all.state_sensor("z", hold.integral.unwrap());
    all.controller_sensor("holds", &hold);
    all.controller_sensor("steers", &steer);
    all.reaction("r", &hinge, &door, ReactionAxes::Joint);
    all.energy("e");
    all.dissipation("loss");
    all.momentum("momentum");
    Entry::new("", Arc::new(all.build().unwrap()), scenario)
}

/// Protects each part of space from being another one in a file: with all of them, cost, gradient and Hessian are those of the same mechanism in Rust.
#[test]
fn parts_of_space_are_those_of_rust() {
    // a force of two parameters is a parameter of its own in Rust
    let text = ALL.replace("is = \"m*g*0.1\"", "is = \"m*0.981[m/s^2]\"");
    let derived = costate_file::parse(ALL, Path::new("all.toml")).unwrap_or_else(|error| panic!("{error}"));
    assert!(derived.system.derived().unwrap().dependent().map(|own| &own.name).eq(["force.push.is"]));
    let own = costate_file::parse(&text, Path::new("all.toml")).unwrap_or_else(|error| panic!("{error}"));
    let start = [("m", 1.7), ("I", 0.03), ("k", 250.0), ("Tc", 0.3), ("K", 0.25), ("d", 3.0)];
    let signals = [Signal::function(|t| 3.0 * (5.0 * t).sin()), Signal::function(|t| t)];
    let rust = in_rust(Scenario {
        end: 0.1,
        integrator: Integrator { initial_state: InitialState::Projected, ..Integrator::default() },
        signals: signals.to_vec(),
        start: start.map(|(name, value)| (name.to_string(), value)).to_vec(),
        outputs: own.scenario.outputs.clone(),
        ..Scenario::default()
    });
    assert_eq!(own.system.signature(), rust.system.signature());
    assert_eq!(own.system.remarks(), rust.system.remarks());
    let problems = [&own, &rust].map(|entry| entry.problem(&entry.scenario).unwrap());
    let drawn = problems.each_ref().map(|problem| {
        let (simulation, u) = (&problem.experiments[0].simulation, &problem.start);
        Picture::of_start(simulation, u).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap()
    });
    assert!(drawn[0] == drawn[1], "pictures differ");
    let [own, rust] = problems.each_ref().map(derivatives);
    let hessian = own.2.iter().zip(&rust.2).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let errors = [(own.0 - rust.0).abs() / rust.0, distance(&own.1, &rust.1), hessian];
    println!("all parts of space: {errors:?}");
    assert!(errors.iter().all(|error| *error <= 1e-12), "{errors:?}");
    assert_eq!(own.3, rust.3);
}

/// Protects messages: what a part cannot be is said with its line, by the names of the file.
#[test]
fn slips_in_parts_of_space_are_named() {
    let all = ALL.replace("is = \"m*g*0.1\"", "is = \"m*0.981[m/s^2]\"");
    let mut missed = Vec::new();
    for (old, new, words) in [
        ("point = [1, 0, 0]", "point = [1, 0]", "no list of three numbers"),
        ("lead = 0.1", "", "`lead` in [screw.thread]: it is missing"),
        ("rod = [0, 0, 0] }", "rod = [0, 0, 0], lead = 0.1 }", "a cylindrical joint has none"),
        (
            "rod = [0, 0, 0] }",
            "rd = [0, 0, 0] }",
            "there is no key or member `rd` in [cylindrical.sleeve]; did you mean `rod`?",
        ),
        ("axis = [1, 0, 0] }, driven", "axes = [1, 0, 0] }, driven", "there is no key `axes`"),
        ("of = \"motor\", tension", "of = \"moter\", tension", "there is no joint `moter`"),
        (
            "of = \"hinge\", stiffness = 2",
            "of = \"hinge\", stiffness = \"k\"",
            "this is in [N/m], where [N m] is wanted",
        ),
        ("slide\", damping = \"d\"", "slide\", damping = \"Tc\"", "this is in [N m], where [N s/m] is wanted"),
        ("torque_constant = \"K\"", "torque_constant = \"k\"", "where [N m/A] is wanted"),
        ("of = \"guide\", freedom = \"slide\" }", "of = \"guide\" }", "guide"),
        ("inertia = [\"I\", \"I\", 0.01]", "inertia = [\"I\", \"I\"]", "no list of 6 numbers"),
        ("shows = \"joint\", of = \"hinge\"", "shows = \"joints\", of = \"hinge\"", "did you mean `joint`?"),
        ("shows = \"gyroscope\"", "shows = \"gyroscope\", axes = \"body\"", "a sensor that shows gyroscope has none"),
        ("\"2*k\"], turn", "\"2*d\"], turn", "this is in [N s/m], where [N/m] is wanted"),
        ("[\"rail\", \"leaf\"]", "[\"rail\", \"leave\"]", "there is no capsule `leave`"),
        ("[\"rail\", \"leaf\"]", "[\"rail\"]", "no list of two capsules"),
        (
            "hold = { of = \"guide\", freedom = \"slide\"",
            "hold = { of = \"guide\"",
            "joint `guide` does not turn about its axis",
        ),
        ("hold = { of = \"guide\", ", "hold = { ", "`of` in [controller.hold]: it is missing; name the joint"),
        ("radius = 0.05", "radius = -0.05", "it is negative"),
        ("form = \"cylinder\"", "form = \"cylindre\"", "did you mean `cylinder`?"),
        ("form = \"cylinder\", radius", "form = \"ball\", radius", "a ball has none; leave it out: a ball has radius"),
        ("radius = 0.07, cross", "cross", "`radius` in [shape.head]: it is missing"),
        ("edges = [0.2,", "edges = [\"k\",", "this is in [N/m], where [m] is wanted"),
        ("0.07, cross = [0, 0, 0.1] }", "0.07 }", "it names 0 places, not 1"),
        ("stiffness = 2, damping = 0.1", "stiffness = 2, damping = 0.1, free = 0.1", "there is no `tension`"),
        ("proportional = 4.0, ", "", "it has no gain"),
        ("proportional = 4.0", "proportional = \"k\"", "this is in [N/m], where [N m] is wanted"),
        ("of = \"steer\"", "of = \"hold2\"", "there is no controller `hold2`"),
        ("feed_forward = \"T*0.5\"", "feed_forward = \"T*t*2[1/s]\"", "no strength that a part can have"),
        ("bias = [\"b\", 0, 0]", "bias = [\"g\", 0, 0]", "where [1/s] is wanted"),
    ] {
        let text = all.replacen(old, new, 1);
        assert_ne!(text, all, "{old}");
        let error =
            costate_file::parse(&text, Path::new("all.toml")).err().map(|error| error.to_string()).unwrap_or_default();
        if !error.contains(words) || !error.contains("all.toml") {
            missed.push(format!("{new}: {error}"));
        }
    }
    assert!(missed.is_empty(), "{}", missed.join("\n"));
}

/// Two paths.
struct Lissajous;

impl costate_parts::spatial::Path for Lissajous {
    fn at<D: costate::Number>(&self, t: D, u: &[D]) -> [D; 3] {
        [(t * 3.0).sin() * u[0], (t * 2.0).cos() * u[0], t * 0.5]
    }
}

/// Protects drives of points and of orientations, and bushings with matrices: they are those of the same mechanism in Rust.
#[test]
fn points_and_orientations_are_driven() {
    let text = r#"
name = "driven"
kind = "spatial"
[parameters]
a = { unit = "m", nominal = 0.2 }
b = { unit = "rad", nominal = 0.4 }
k = { unit = "N/m", nominal = 900.0 }
[body]
plate = { mass = 2, inertia = [0.02, 0.03, 0.04], at = [0, 0.2, 0], turned = [0.0, 0.4, 0.0] }
load = { mass = 1, inertia = [0.01, 0.02, 0.03], at = [0, 0.2, 0.1], turned = [0.0, 0.4, 0.0] }
[bushing]
soft = { plate = [0, 0, 0.1], load = [0.01, 0, 0], stiffness = [["k", 20, 0, 0, 5, 0], [20, "2*k", 0, 3, 0, 0], [0, 0, 800, 0, 0, 1], [0, 3, 0, 20, 1, 0], [5, 0, 0, 1, 30, 0], [0, 0, 1, 0, 0, 25]], damping = [5, 5, 5], turn_damping = [0.1, 0.1, 0.1] }
[drive]
where = { plate = [0, 0, 0], is = ["a*sin(t*3[rad/s])", "a*cos(t*2[rad/s])", "t*0.5[m/s]"] }
how = { orientation = "plate", is = ["b*sin(t*3[rad/s])", "b*cos(t*2[rad/s])", "t*0.5[rad/s]"] }
[sensor]
at = { shows = "position", load = [0.1, 0.1, 0] }
[scenario]
end = 0.2
step = 2e-3
initial_state = "projected"
start = { a = 0.25, b = 0.3, k = 700 }
"#;
    let own = costate_file::parse(text, Path::new("driven.toml")).unwrap_or_else(|error| panic!("{error}"));
    let mut all = Mechanism::new("driven");
    let parameters = own.system.signature().parameters.clone();
    let [a, b, k] = std::array::from_fn(|k| all.parameter(parameters[k].clone()));
    let turned = costate::vector::euler_parameters_of(costate::vector::Vector([0.0, 0.4, 0.0]));
    let plate = Body::new(2.0, Inertia::diagonal([0.02, 0.03, 0.04])).at([0.0, 0.2, 0.0]).turned(turned);
    let load = Body::new(1.0, Inertia::diagonal([0.01, 0.02, 0.03])).at([0.0, 0.2, 0.1]).turned(turned);
    let (plate, load) = (all.body("plate", plate), all.body("load", load));
    let zero = costate::value::Value::from(0.0);
    let mut stiffness = [[zero; 6]; 6];
    let diagonal = [k, k * 2.0, 800.0.into(), 20.0.into(), 30.0.into(), 25.0.into()];
    diagonal.into_iter().enumerate().for_each(|(i, value)| stiffness[i][i] = value);
    for (i, j, value) in [(0, 1, 20.0), (0, 4, 5.0), (1, 3, 3.0), (2, 5, 1.0), (3, 4, 1.0)] {
        stiffness[i][j] = costate::value::Value::from(value);
        stiffness[j][i] = stiffness[i][j];
    }
    let damping: [[f64; 6]; 6] = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            if i != j {
                0.0
            } else if i < 3 {
                5.0
            } else {
                0.1
            }
        })
    });
    all.bushing("soft", plate.at([0.0, 0.0, 0.1]), load.at([0.01, 0.0, 0.0]), stiffness, damping);
    all.drive_point("where", plate.at([0.0, 0.0, 0.0]), Lissajous, [a]);
    all.drive_orientation("how", &plate, Lissajous, [b]);
    all.position("at", load.at([0.1, 0.1, 0.0]));
    let rust = Entry::new("", Arc::new(all.build().unwrap()), own.scenario.clone());
    assert_eq!(own.system.signature(), rust.system.signature());
    let [own, rust] = [&own, &rust].map(|entry| derivatives(&entry.problem(&entry.scenario).unwrap()));
    let hessian = own.2.iter().zip(&rust.2).map(|(a, b)| distance(a, b)).fold(0.0, f64::max);
    let errors = [(own.0 - rust.0).abs() / rust.0, distance(&own.1, &rust.1), hessian];
    assert!(rust.0 > 1e-6 && errors.iter().all(|error| *error <= 1e-12), "{errors:?}");
}

/// Protects motions along splines: a point that follows three of them is the one from Rust, and what is wrong with them is told.
#[test]
fn motions_follow_splines() {
    use costate_models::rigid_body::{Excitation, rigid_body};
    let file = std::fs::read_to_string(super::folder().join("rigid_body.toml")).unwrap();
    let from = file.find("is = [\"if(").unwrap();
    let until = file[from..].find("]").unwrap() + from;
    // the formula itself has brackets
    let until = file[until..].find(" }").unwrap() + until;
    let motions = "[motion]\n".to_string()
        + &["Sx", "Sy", "Sz"]
            .map(|name| {
                format!("{name} = {{ unit = \"m\", until = 3, intervals = 8, begin = [0, 0, 0], end = [0, 0, 0] }}\n")
            })
            .concat();
    let text = format!("{}motion = [\"Sx\", \"Sy\", \"Sz\"]{}", &file[..from], &file[until..])
        .replace("[body]", &format!("{motions}[body]"));
    let text = text
        .replace("start = {", "start = { Sx_4 = 0.05, Sy_5 = -0.03, Sz_6 = 0.04,")
        .replace("end = 3.0", "end = 1.0\ninitial_state = \"projected\"");
    let own = costate_file::parse(&text, Path::new("rigid_body.toml")).unwrap_or_else(|error| panic!("{error}"));
    let rust = rigid_body(Excitation::Free(8)).unwrap();
    let rust = Entry::new("", Arc::new(rust), own.scenario.clone());
    let parameters = |entry: &Entry| entry.system.signature().parameters.clone();
    assert_eq!(parameters(&own), parameters(&rust));
    assert_eq!(own.system.signature().motions, rust.system.signature().motions);
    let [own, rust] = [&own, &rust].map(|entry| derivatives(&entry.problem(&entry.scenario).unwrap()));
    let errors =
        [(own.0 - rust.0).abs() / rust.0, distance(&own.1, &rust.1), distance(&own.2.concat(), &rust.2.concat())];
    assert!(rust.0 > 1e-6 && errors.iter().all(|error| *error <= 1e-12), "{errors:?}");
    for (from, to, words) in [
        ("[\"Sx\", \"Sy\", \"Sz\"]", "[\"Sx\", \"Sy\", \"Su\"]", "there is no motion `Su`"),
        ("[\"Sx\", \"Sy\", \"Sz\"]", "[\"Sx\", \"Sy\"]", "no list of three motions"),
        ("Sy = { unit = \"m\"", "Sy = { unit = \"rad\"", "`Sy` is in [rad], where [m] is wanted"),
        ("until = 3, ", "", "`until` in [motion.Sx]: it is missing"),
        ("intervals = 8", "intervals = 0", "it has no interval"),
        ("intervals = 8", "intervals = 8000", "more than"),
        ("begin = [0, 0, 0]", "begin = [0, 0, 0, 0]", "more than a value and two rates"),
        ("Sy = {", "I11 = {", ""),
    ] {
        let slip = text.replacen(from, to, 1);
        assert_ne!(slip, text, "{from}");
        let told =
            costate_file::parse(&slip, Path::new("slip.toml")).err().map(|error| error.to_string()).unwrap_or_default();
        assert!(told.starts_with("slip.toml, line ") && told.contains(words), "{to}: {told}");
    }
}

/// An arm on a hinge about y, held by a controller; and the same in one coordinate, by formulas.
const CONTROLLED: [&str; 2] = [
    r#"
kind = "spatial"
[body.arm]
mass = "m"
inertia = [0.01, 0.02, 0.015]
at = [0.3, 0, 0]
[revolute.hinge]
from = "ground"
on = "arm"
point = [0, 0, 0]
axis = [0, 1, 0]
[controller.pid]
of = "hinge"
reference = "2[rad/s]*t"
proportional = "kp"
integral = "ki"
derivative = "kd"
feed_forward = "T"
[sensor.motion]
shows = "joint"
of = "hinge"
[sensor.drive]
shows = "controller"
of = "pid"
"#,
    r#"
coordinates = { x = "rad" }
states = { z = "rad s" }
mass = { x = "0.02[kg m^2] + 0.09[m^2]*m" }
rates = { z = "error" }
force = { x = "m*9.81[m/s^2]*0.3[m]*cos(x) + effort" }
outputs = { "motion.angle" = { unit = "rad", is = "x" }, "drive.effort" = { unit = "N m", is = "effort" }, "drive.error" = { unit = "rad", is = "error" } }
[definitions]
error = "2[rad/s]*t - x"
effort = "kp*error + ki*z + kd*(2[rad/s] - x') + T"
"#,
];

/// What both have.
const COMMON: &str = r#"
[inputs]
T = "N m"
[parameters]
m = { unit = "kg", nominal = 2.0, lower = 0.0 }
kp = { unit = "N m/rad", nominal = 80.0, lower = 0.0 }
ki = { unit = "N m/(rad s)", nominal = 40.0, lower = 0.0 }
kd = { unit = "N m s/rad", nominal = 6.0, lower = 0.0 }
[scenario]
end = 4.0
step = 2e-3
scheme = "i2p"
inputs = { T = "3*sin(5*t)" }
start = { kp = 70.0, kd = 5.0 }
outputs = ["motion.angle", "drive.effort"]
"#;

/// Protects controllers in joints: over more than a turn, motion, effort and error are those of the same law by formulas in one coordinate, to the second order of
/// the step; so is the gradient of a fit.
#[test]
fn controllers_are_those_of_formulas() {
    let mut errors = Vec::new();
    for step in ["4e-3", "2e-3"] {
        let common = COMMON.replace("2e-3", step);
        let [parts, plain] = CONTROLLED.map(|own| {
            let place = own.find("\n[").unwrap();
            let text = format!("name = \"arm\"{}{common}{}", &own[..place], &own[place..]);
            costate_file::parse(&text, Path::new("arm.toml")).unwrap_or_else(|error| panic!("{error}"))
        });
        let values = |entry: &Entry| {
            let problem = entry.problem(&entry.scenario).unwrap();
            let simulation = &problem.first().simulation;
            let run = simulation.run(&problem.start).unwrap();
            let places: Vec<usize> = ["motion.angle", "drive.effort", "drive.error"]
                .map(|name| simulation.signature().outputs.iter().position(|own| own.name == name).unwrap())
                .to_vec();
            let all = |k: usize| (0..=simulation.steps()).map(|i| run.output(k)[i]).collect::<Vec<f64>>();
            (places.into_iter().map(all).collect::<Vec<_>>(), derivatives(&problem).1)
        };
        let (a, b) = (values(&parts), values(&plain));
        // angles go on over whole turns in one of them
        let turn = |x: f64| x - std::f64::consts::TAU * (x / std::f64::consts::TAU).round();
        let angle = a.0[0].iter().zip(&b.0[0]).map(|(a, b)| turn(a - b).abs()).fold(0.0, f64::max);
        assert!(b.0[0].last().unwrap() > &7.0);
        errors.push([angle, distance(&a.0[1], &b.0[1]), distance(&a.0[2], &b.0[2]), distance(&a.1, &b.1)]);
    }
    println!("controllers: {errors:?}");
    for (coarse, fine) in errors[0].iter().zip(&errors[1]) {
        assert!(*fine <= 1e-3 && *fine <= 0.3 * coarse, "{errors:?}");
    }
}
