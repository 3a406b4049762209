//! Exact gradients of every part of space, with every property a parameter.

use crate::common;

use common::FORMS;
use common::exact::{Cubic, Swing, check, signals, simulation};
use common::spatial::{ACROSS, AXIS, FIRST, MEETING, SECOND, Start, sum};
use costate::system::System;
use costate::value::Value;
use costate::vector::{Vector, euler_rates};
use costate::{Number, Parameter};
use costate_parts::law::{Axes, BrownMcPhee, Linear};
use costate_parts::spatial::{
    Body, Freedom, Inertia, Joint, Mechanism, Member, Mounting, Path, Place, ReactionAxes, factors_of_entries,
};

fn value(m: &mut Mechanism, name: &str, nominal: f64) -> Value {
    m.parameter(Parameter::new(name, "1", nominal))
}

/// Parameters `name0`, `name1` ...
fn values<const N: usize>(m: &mut Mechanism, name: &str, nominal: [f64; N]) -> [Value; N] {
    let mut k = 0;
    nominal.map(|nominal| {
        k += 1;
        value(m, &format!("{name}{}", k - 1), nominal)
    })
}

/// A point, an axis and a direction across of the world as parameters of a place: lengths differ from one, and the direction
/// across has a part along the axis.
fn place(m: &mut Mechanism, member: &Member, start: Start, name: &str, point: [f64; 3]) -> Place {
    axes(m, member, start, name, point, AXIS, ACROSS)
}

fn axes(
    m: &mut Mechanism,
    member: &Member,
    start: Start,
    name: &str,
    point: [f64; 3],
    axis: [f64; 3],
    across: [f64; 3],
) -> Place {
    let place = member.at(values(m, &format!("{name}_r"), start.location(point)));
    let long = start.direction(axis).map(|x| 1.2 * x);
    let across = sum(start.direction(across), long, 0.2).map(|x| 0.9 * x);
    place.axis(values(m, &format!("{name}_z"), long)).across(values(m, &format!("{name}_x"), across))
}

fn first(m: &mut Mechanism) -> Member {
    m.gravity([0.3, -0.2, -9.7]);
    let inertia = Inertia::entries([0.05, 0.06, 0.04, 0.004, -0.003, 0.006]);
    let body = Body::new(1.2, inertia).center([0.03, 0.05, -0.02]).at(FIRST.0).turned(FIRST.euler_parameters());
    m.body("first", body.moving([0.2, 0.0, -0.1], [0.9, -0.4, 1.1]))
}

fn second(m: &mut Mechanism) -> Member {
    let inertia = Inertia::entries([0.03, 0.02, 0.04, 0.002, 0.003, -0.004]);
    let body = Body::new(0.8, inertia).center([-0.04, 0.02, 0.03]).at(SECOND.0).turned(SECOND.euler_parameters());
    m.body("second", body.moving([0.1, 0.3, 0.2], [-0.7, 1.3, 0.5]))
}

/// Two bodies; the first hangs at the ground on a ball in a socket.
fn hung(m: &mut Mechanism) -> [Member; 2] {
    let (first, second) = (first(m), second(m));
    let hook = m.place(&first, [0.1, 0.05, 0.02]);
    m.spherical("hook", m.ground().at([0.1, 0.05, 0.02]), hook);
    [first, second]
}

/// And the second one on the first.
fn chain(m: &mut Mechanism) -> [Member; 2] {
    let [first, second] = hung(m);
    let (a, b) = (m.place(&first, MEETING), m.place(&second, MEETING));
    m.spherical("elbow", a, b);
    [first, second]
}

/// The two bodies at a joint whose places have parameters; the second one's point a little off, for the projection of the start.
fn jointed(m: &mut Mechanism, along: f64, joint: impl Fn(&mut Mechanism, Place, Place) -> Joint) -> Joint {
    let [first, second] = hung(m);
    let here = place(m, &first, FIRST, "a", MEETING);
    let there = place(m, &second, SECOND, "b", sum(sum(MEETING, AXIS, along), [0.003, 0.002, -0.004], 1.0));
    let joint = joint(m, here, there);
    watch(m, &joint, &first, &second);
    joint
}

/// Reactions in all axes, on both sides.
fn watch(m: &mut Mechanism, joint: &Joint, first: &Member, second: &Member) {
    m.reaction("in world", joint, second, ReactionAxes::World);
    m.reaction("in body", joint, first, ReactionAxes::Body);
    m.reaction("in joint", joint, second, ReactionAxes::Joint);
    m.reaction("in the first one's joint", joint, first, ReactionAxes::Joint);
}

fn sense(m: &mut Mechanism, joint: &Joint) {
    m.joint_sensor("turn", joint, Freedom::Turn);
    m.joint_sensor("slide", joint, Freedom::Slide);
}

/// A path with a wave of its own frequency along each axis. Parameters: mean, amplitude (3 each), frequency.
#[derive(Clone)]
struct Wave;

impl Path for Wave {
    fn at<D: Number>(&self, t: D, u: &[D]) -> [D; 3] {
        std::array::from_fn(|k| u[k] + u[3 + k] * (t * u[6] * (1.0 + 0.3 * k as f64)).sin())
    }
}

fn wave(m: &mut Mechanism, mean: [f64; 3]) -> Vec<Value> {
    let mean = values(m, "mean", mean).to_vec();
    [mean, values(m, "amplitude", [0.05, 0.04, -0.06]).to_vec(), vec![value(m, "frequency", 8.0)]].concat()
}

fn swing(m: &mut Mechanism, mean: f64) -> [Value; 3] {
    [("mean", mean), ("amplitude", 0.2), ("frequency", 9.0)].map(|(name, nominal)| value(m, name, nominal))
}

type Build = fn(&mut Mechanism);

fn check_all(parts: &[(&str, usize, Build)]) {
    for &(name, inputs, build) in parts {
        for form in FORMS {
            let mut mechanism = Mechanism::new("trial");
            build(&mut mechanism);
            let system = mechanism.build().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(system.remarks().is_empty(), "{name}: {:?}", system.remarks());
            check(name, &simulation(system, signals(inputs), form, 20));
        }
    }
}

/// A body with a spring to the ground, everything about it a parameter.
fn body(m: &mut Mechanism, inertia: impl Fn(&mut Mechanism) -> Inertia, turning: bool) {
    let gravity = values(m, "g", [0.3, -0.2, -9.7]);
    m.gravity(gravity);
    let (mass, inertia) = (value(m, "m", 1.2), inertia(m));
    let e = FIRST.euler_parameters();
    let body = Body::new(mass, inertia).center(values(m, "c", [0.03, 0.05, -0.02])).at(values(m, "r", FIRST.0));
    let (velocity, omega) = (values(m, "v", [0.2, 0.5, -0.1]), [0.9, -1.4, 1.1]);
    let body = if turning {
        let rates = euler_rates(e, FIRST.rotation().turn_back(Vector(omega)));
        let body = body.moving(velocity, [0.0; 3]);
        body.turned(values(m, "e", e)).turning(values(m, "e_rate", rates))
    } else {
        body.turned(e).moving(velocity, values(m, "omega", omega))
    };
    let body = m.body("body", body);
    m.spring("spring", m.ground().at([0.1, 0.2, 0.3]), body.at([0.1, -0.2, 0.1]), 0.3, 40.0, 0.6);
    m.energy("energy");
    m.momentum("momentum");
}

const ENTRIES: [f64; 6] = [0.05, 0.06, 0.04, 0.004, -0.003, 0.006];

/// Protects bodies: mass, inertia in both forms, centre of mass, gravity and the whole initial state.
#[test]
fn gradients_of_bodies_are_exact() {
    check_all(&[
        ("entries", 0, |m| body(m, |m| Inertia::entries(values(m, "I", ENTRIES)), true)),
        ("factors", 0, |m| {
            let factors = factors_of_entries(ENTRIES).unwrap();
            body(m, |m| Inertia::factors(values(m, "L", factors)), true);
        }),
        ("principal moments, angular velocity", 0, |m| {
            body(m, |m| Inertia::diagonal(values(m, "I", [0.05, 0.06, 0.04])), false);
        }),
        ("centred", 0, |m| {
            let inertia = Inertia::diagonal(values(m, "I", [0.05, 0.06, 0.04]));
            let body = Body::new(value(m, "m", 1.2), inertia).moving([0.0; 3], [2.0, 1.0, -3.0]);
            let body = m.body("body", body);
            m.spring("spring", m.ground().at([0.1, 0.2, 0.3]), body.at([0.1, -0.2, 0.1]), 0.3, 40.0, 0.6);
        }),
        ("point mass", 0, |m| {
            let gravity = values(m, "g", [0.3, -0.2, -9.7]);
            m.gravity(gravity);
            let (mass, position) = (value(m, "m", 0.7), values(m, "r", [0.4, 0.3, -0.8]));
            let velocity = values(m, "v", [0.3, -0.5, 0.2]);
            let bob = m.point_moving("bob", mass, position, velocity);
            m.spring("spring", m.ground().at([0.0; 3]), bob.at([0.0; 3]), 0.8, 60.0, 0.2);
            m.energy("energy");
            m.momentum("momentum");
        }),
    ]);
}

/// Protects joints of two bodies, with locations, axes, directions across, lengths and leads, and their sensors.
#[test]
fn gradients_of_joints_are_exact() {
    check_all(&[
        ("spherical", 0, |m| {
            let [first, second] = hung(m);
            let (a, b) = (values(m, "a", FIRST.location(MEETING)), values(m, "b", SECOND.location(MEETING)));
            let joint = m.spherical("joint", first.at(a), second.at(b));
            watch(m, &joint, &first, &second);
        }),
        ("revolute", 0, |m| {
            let joint = jointed(m, 0.0, |m, a, b| m.revolute("joint", a, b));
            m.joint_sensor("turn", &joint, Freedom::Turn);
        }),
        ("universal", 0, |m| {
            let [first, second] = hung(m);
            // its second direction does nothing, and what is given there is said so by the structure of its equations
            let a = place(m, &first, FIRST, "a", MEETING);
            let b = axes(m, &second, SECOND, "b", MEETING, ACROSS, AXIS);
            let joint = m.universal("joint", a, b);
            watch(m, &joint, &first, &second);
        }),
        ("weld", 0, |m| drop(jointed(m, 0.0, |m, a, b| m.weld("joint", a, b)))),
        ("cylindrical", 0, |m| {
            let joint = jointed(m, 0.11, |m, a, b| m.cylindrical("joint", a, b));
            sense(m, &joint);
        }),
        ("prismatic", 0, |m| {
            let joint = jointed(m, 0.11, |m, a, b| m.prismatic("joint", a, b));
            m.joint_sensor("slide", &joint, Freedom::Slide);
        }),
        ("screw", 0, |m| {
            let joint = jointed(m, 0.004, |m, a, b| {
                let lead = value(m, "lead", -0.3);
                m.screw("joint", a, b, lead)
            });
            sense(m, &joint);
        }),
        ("planar", 0, |m| {
            let joint = jointed(m, 0.0, |m, a, b| m.planar("joint", a, b));
            m.joint_sensor("turn", &joint, Freedom::Turn);
        }),
        ("in line", 0, |m| {
            let joint = jointed(m, 0.11, |m, a, b| m.in_line("joint", a, b));
            m.joint_sensor("slide", &joint, Freedom::Slide);
        }),
        ("in plane", 0, |m| drop(jointed(m, 0.0, |m, a, b| m.in_plane("joint", a, b)))),
        ("distance", 0, |m| {
            let [first, second] = hung(m);
            let (a, b) = (values(m, "a", [0.2, 0.1, -0.3]), values(m, "b", [0.1, -0.2, 0.1]));
            let length = value(m, "length", 0.55);
            let joint = m.distance("joint", first.at(a), second.at(b), length);
            watch(m, &joint, &first, &second);
        }),
        ("point masses", 0, |m| {
            // each kind of joint that a point mass can be the second side of
            let [first, _] = chain(m);
            let a = place(m, &first, FIRST, "a", [0.9, 0.2, -0.4]);
            let bead = m.point("bead", 0.2, sum([0.9, 0.2, -0.4], AXIS, 0.1));
            let line = m.in_line("line", a, bead.at([0.0; 3]));
            m.joint_sensor("slide", &line, Freedom::Slide);
            m.reaction("on bead", &line, &bead, ReactionAxes::Joint);
            // a direction across does nothing here
            let axis = values(m, "b_z", FIRST.direction(AXIS));
            let b = first.at(values(m, "b_r", FIRST.location([0.2, 0.5, -0.4]))).axis(axis);
            let puck = m.point("puck", 0.3, sum([0.2, 0.5, -0.4], ACROSS, 0.1));
            let plane = m.in_plane("plane", b, puck.at([0.0; 3]));
            m.reaction("on puck", &plane, &puck, ReactionAxes::World);
            let length = value(m, "length", 0.8);
            let rod = m.distance("rod", bead.at([0.0; 3]), puck.at([0.0; 3]), length);
            m.reaction("in rod", &rod, &puck, ReactionAxes::Body);
            let c = values(m, "c", FIRST.location([-0.1, -0.3, -0.3]));
            let blob = m.point("blob", 0.1, [-0.1, -0.3, -0.3]);
            m.spherical("glue", first.at(c), blob.at([0.0; 3]));
        }),
    ]);
}

/// Protects given motions: of coordinates, points, orientations and joints.
#[test]
fn gradients_of_drives_are_exact() {
    check_all(&[
        ("coordinate", 0, |m| {
            let [first, _] = chain(m);
            let cart = m.body("cart", Body::new(0.5, Inertia::diagonal([0.01, 0.02, 0.015])).at([0.2, 0.7, 0.0]));
            m.prismatic("rail", m.ground().at([0.2, 0.7, 0.0]), cart.at([0.0; 3]));
            let motion = swing(m, 0.05);
            m.drive("servo", cart.coordinates()[2], Swing, motion);
            m.spring("spring", cart.at([0.1, 0.0, 0.0]), first.at([0.1, 0.0, 0.2]), 0.5, 60.0, 0.5);
        }),
        ("point", 0, |m| {
            let (first, second) = (first(m), second(m));
            let point = values(m, "r", [0.05, 0.1, 0.15]);
            let start = FIRST.rotation().turn(Vector([0.05, 0.1, 0.15])) + Vector(FIRST.0);
            let path = wave(m, start.0);
            m.drive_point("hand", first.at(point), Wave, path);
            m.spring("spring", first.at([0.1, 0.0, 0.2]), second.at([0.0, 0.1, 0.0]), 0.3, 60.0, 0.5);
        }),
        ("orientation", 0, |m| {
            let (first, second) = (first(m), second(m));
            let path = wave(m, FIRST.1);
            m.drive_orientation("platform", &first, Wave, path);
            m.spring("hanger", m.ground().at([0.1, 0.1, 0.3]), first.at([0.1, 0.0, 0.2]), 0.3, 60.0, 0.5);
            m.spring("spring", first.at([0.1, 0.0, 0.2]), second.at([0.0, 0.1, 0.0]), 0.3, 60.0, 0.5);
        }),
        ("turn", 0, |m| {
            let joint = jointed(m, 0.0, |m, a, b| m.revolute("joint", a, b));
            let motion = swing(m, 0.1);
            m.drive_joint("servo", &joint, Freedom::Turn, Swing, motion);
        }),
        ("slide", 0, |m| {
            let joint = jointed(m, 0.1, |m, a, b| m.cylindrical("joint", a, b));
            let motion = swing(m, 0.1);
            m.drive_joint("servo", &joint, Freedom::Slide, Swing, motion);
        }),
    ]);
}

/// Protects forces with all their properties.
#[test]
fn gradients_of_forces_are_exact() {
    check_all(&[
        ("strut by a law", 0, |m| {
            let [_, second] = chain(m);
            let (a, b) = (values(m, "a", [0.9, -0.1, 0.1]), values(m, "b", [0.1, -0.2, 0.1]));
            let (free, laws) = (value(m, "free", 0.4), values(m, "law", [12.0, 90.0, 0.7]));
            let strut = m.strut("strut", m.ground().at(a), second.at(b), free, Cubic, laws);
            m.strut_sensor("gauge", &strut);
        }),
        ("laws and motors in a joint", 2, |m| {
            let joint = jointed(m, 0.1, |m, a, b| m.cylindrical("joint", a, b));
            let (free, laws) = (value(m, "angle", 0.2), values(m, "law", [2.0, 3.0, 0.7]));
            m.joint_law("torsion", &joint, Freedom::Turn, free, Cubic, laws);
            let (free, laws) = (value(m, "way", 0.15), values(m, "law of way", [0.2, 0.35, 0.8, 0.05]));
            m.joint_law("rail", &joint, Freedom::Slide, free, BrownMcPhee, laws);
            m.joint_law("buffer", &joint, Freedom::Slide, free, Linear, [90.0, 1.0]);
            let [k, c] = values(m, "spring", [3.0, 0.05]);
            m.joint_spring("spring", &joint, Freedom::Turn, k, c);
            let law = values(m, "T", [0.2, 0.35, 0.8, 0.05]);
            m.joint_friction("friction", &joint, Freedom::Turn, law);
            let (torque, force) = (m.input("torque", "N m"), m.input("force", "N"));
            m.motor("motor", &joint, Freedom::Turn, torque);
            m.motor("jack", &joint, Freedom::Slide, force);
        }),
        ("bushing", 0, |m| {
            let [first, second] = hung(m);
            let a = place(m, &first, FIRST, "a", MEETING);
            let b = axes(m, &second, SECOND, "b", [0.45, 0.12, -0.52], [0.2, 0.5, 0.8], ACROSS);
            let mut matrix = |name: &str, size: f64| -> [[Value; 6]; 6] {
                std::array::from_fn(|i| {
                    std::array::from_fn(|j| {
                        // neither symmetric nor diagonal
                        let entry = if i == j { 1.0 } else { 0.1 * (1.0 + 5.0 * i as f64 + 2.0 * j as f64).sin() };
                        value(m, &format!("{name}{i}{j}"), size * entry)
                    })
                })
            };
            let (stiffness, damping) = (matrix("K", 40.0), matrix("D", 0.4));
            m.bushing("bushing", a, b, stiffness, damping);
        }),
        ("loads", 4, |m| {
            let [first, second] = chain(m);
            let inputs = [("push", "N"), ("pull", "N"), ("turn", "N m"), ("twist", "N m")];
            let [push, pull, turn, twist] = inputs.map(|(name, unit)| m.input(name, unit));
            let point = values(m, "r", [0.1, 0.2, -0.1]);
            let direction = values(m, "d", [0.4, -0.7, 0.5]);
            m.force("push", first.at(point), direction, Axes::World, push);
            m.force("pull", second.at(point), direction, Axes::Body, pull);
            m.torque("turn", &first, direction, Axes::World, turn);
            m.torque("twist", &second, direction, Axes::Body, twist);
        }),
        ("numbers, parameters and functions of time", 1, |m| {
            let [first, second] = chain(m);
            let current = m.input("current", "A");
            let (point, direction) = (values(m, "r", [0.1, 0.2, -0.1]), values(m, "d", [0.4, -0.7, 0.5]));
            let [weight, constant] = values(m, "amount", [-0.9, 0.3]);
            let wave = swing(m, 0.1);
            m.force("weight", first.at(point), direction, Axes::World, weight);
            m.force("wind", second.at(point), direction, Axes::Body, 0.4);
            m.force_by("gust", second.at(point), direction, Axes::World, Swing, wave);
            m.torque("motor", &first, direction, Axes::Body, current.times(constant));
            m.torque_by("shaker", &second, direction, Axes::World, Swing, wave);
        }),
        ("motors by numbers, parameters and functions of time", 1, |m| {
            let joint = jointed(m, 0.1, |m, a, b| m.cylindrical("joint", a, b));
            let [torque, constant] = values(m, "amount", [0.3, 0.2]);
            let current = m.input("current", "A");
            let wave = swing(m, 0.1);
            m.motor("motor", &joint, Freedom::Turn, torque);
            m.motor("servo", &joint, Freedom::Turn, current.times(constant));
            m.motor("jack", &joint, Freedom::Slide, -0.5);
            m.motor_by("shaker", &joint, Freedom::Slide, Swing, wave);
        }),
        ("energy and power lost", 0, |m| {
            let [first, second] = hung(m);
            let here = place(m, &first, FIRST, "a", MEETING);
            let there = place(m, &second, SECOND, "b", sum(MEETING, AXIS, 0.1));
            let joint = m.cylindrical("joint", here, there);
            let laws = values(m, "law", [2.0, 3.0, 0.7]);
            m.joint_law("torsion", &joint, Freedom::Turn, 0.2, Cubic, laws);
            m.joint_spring("buffer", &joint, Freedom::Slide, laws[0], laws[2]);
            m.strut("strut", m.ground().at([0.9, -0.1, 0.1]), second.at([0.1, -0.2, 0.1]), 0.4, Cubic, laws);
            m.drag("air", second.at([0.1, 0.2, -0.1]), laws[2], 0.6);
            let floor = m.ground().at([0.1, 0.2, -0.9]).axis([0.1, -0.2, 0.9]);
            m.contact("bounce", floor, second.at([0.05, 0.02, -0.03]), 0.35, laws[1] * 1000.0, 0.3);
            let mut matrix = [[0.0; 6]; 6];
            (0..6).for_each(|k| matrix[k][k] = 4.0);
            m.bushing("bushing", m.ground().at([0.4, 0.0, 0.0]), first.at([0.0; 3]), matrix, matrix);
            m.energy("energy");
            m.dissipation("loss");
            m.momentum("momentum");
        }),
        ("drag", 0, |m| {
            let [_, second] = chain(m);
            let (point, [d1, d2]) = (values(m, "r", [0.1, 0.2, -0.1]), values(m, "d", [0.3, 0.6]));
            m.drag("air", second.at(point), d1, d2);
        }),
        ("contact", 0, |m| {
            let [first, second] = chain(m);
            // the normal alone matters: what is across it, and the ball's own axes, do nothing
            let floor = m.ground().at(values(m, "floor", [0.1, 0.2, -0.9])).axis(values(m, "normal", [0.1, -0.2, 0.9]));
            let center = second.at(values(m, "r", [0.05, 0.02, -0.03]));
            let [radius, k, c] = [("radius", 0.35), ("k", 2000.0), ("c", 0.3)].map(|(n, v)| value(m, n, v));
            m.contact("bounce", floor, center, radius, k, c);
            let _ = first;
        }),
    ]);
}

/// Protects the energy of bushings: unlike stiffnesses about three axes, turned by some twenty degrees, take no energy away and give none. Torques of
/// K times the turn alone let it swing by 5 %.
#[test]
fn bushings_keep_their_energy() {
    let text = "name = \"bushing\"\nkind = \"spatial\"\ngravity = [0, 0, 0]\n[body]\nb = { mass = 0.5, inertia = [0.002, 0.003, 0.004], \
                spinning = [2, 2, -2], free = true }\n[bushing]\nbu = { ground = [0, 0, 0], b = [0, 0, 0], stiffness = [100, 100, 100], \
                turn_stiffness = [0.1, 0.2, 0.3] }\n[sensor]\nE = { shows = \"energy\" }\n[parameters]\nq = { nominal = 1.0 }\n[scenario]\nend = 2.0\nstep = 5e-4\n\
                scheme = \"i2p\"\n";
    let entry = costate_file::parse(text, std::path::Path::new("bushing.toml")).unwrap();
    let problem = entry.problem(&entry.scenario).unwrap();
    let run = problem.first().simulation.run(&problem.start).unwrap();
    let energies = run.output(0);
    let (least, most) = energies.iter().fold((f64::INFINITY, 0.0f64), |(a, b), e| (a.min(*e), b.max(*e)));
    // what is left falls by the square of the step
    assert!(least > 0.0 && most - least < 2e-4 * most, "{least} {most}");
}

/// Protects sensors with all their properties.
#[test]
fn gradients_of_sensors_are_exact() {
    check_all(&[
        ("motions", 0, |m| {
            let [first, second] = chain(m);
            let place = second.at(values(m, "r", [0.1, 0.2, -0.1]));
            m.position("position", place.clone());
            m.velocity("velocity", place.clone(), Axes::World);
            m.velocity("own velocity", place.clone(), Axes::Body);
            m.acceleration("acceleration", place.clone(), Axes::World);
            m.acceleration("own acceleration", place, Axes::Body);
            m.angular_velocity("rate", &first, Axes::World);
            m.angular_velocity("own rate", &second, Axes::Body);
            m.energy("energy");
            m.momentum("momentum");
        }),
        ("accelerometer", 0, |m| {
            let gravity = values(m, "g", [0.3, -0.2, -9.7]);
            let [_, second] = chain(m);
            m.gravity(gravity);
            let place = place(m, &second, SECOND, "s", [0.7, 0.2, -0.6]);
            let (gain, bias) = (value(m, "gain", 1.1), values(m, "bias", [0.1, 0.2, -0.1]));
            m.accelerometer("chip", place, Mounting { gain, bias });
        }),
        ("gyroscope", 0, |m| {
            let [_, second] = chain(m);
            // its place does not matter
            let axis = values(m, "z", [0.3, -0.5, 0.9]);
            let place = second.at([0.1, 0.0, 0.0]).axis(axis).across(values(m, "x", [1.0, 0.4, 0.2]));
            let (gain, bias) = (value(m, "gain", 1.1), values(m, "bias", [0.1, 0.2, -0.1]));
            m.gyroscope("chip", place, Mounting { gain, bias });
        }),
    ]);
}
