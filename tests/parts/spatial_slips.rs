//! Slips in putting mechanisms of space together: what is said about them.

mod runs;

use costate::value::Value;
use costate::{Number, Parameter};
use costate_parts::law::{Axes, FunctionOfTime};
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Member, Mounting, Path, ReactionAxes};

fn message(build: impl Fn(&mut Mechanism)) -> String {
    let mut mechanism = Mechanism::new("trial");
    build(&mut mechanism);
    let Err(error) = mechanism.build() else { panic!("nothing was noticed") };
    error.to_string()
}

fn says(build: impl Fn(&mut Mechanism), words: &[&str]) {
    let text = message(build);
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];
const O: [f64; 3] = [0.0; 3];

fn block() -> Body {
    Body::new(1.0, Inertia::diagonal([0.1, 0.2, 0.25]))
}

fn arm(m: &mut Mechanism) -> Member {
    m.body("arm", block())
}

/// Protects the messages about bodies: orientations, inertias, masses, starts.
#[test]
fn bodies_that_cannot_be() {
    says(|m| drop(m.body("arm", block().turned([1.0, 0.1, 0.0, 0.0]))), &["`arm`", "length", "1.0049", "divide them"]);
    says(|m| drop(m.body("arm", block().turned([f64::NAN, 0.0, 0.0, 0.0]))), &["`arm`", "NaN"]);
    says(
        |m| drop(m.body("arm", Body::new(1.0, Inertia::diagonal([1.0, 1.0, 2.5])))),
        &["`arm`", "axis (0.000, 0.000, 1.000)", "0.5 kg m^2 more"],
    );
    says(
        |m| drop(m.body("arm", Body::new(1.0, Inertia::entries([1.0, 2.0, 2.0, 1.8, 0.0, 0.0])))),
        &["`arm`", "less than nothing"],
    );
    says(|m| drop(m.body("arm", Body::new(-1.0, Inertia::diagonal([1.0; 3])))), &["`arm`", "mass is -1"]);
    says(|m| drop(m.point("bob", f64::INFINITY, O)), &["`bob`", "mass is inf"]);
    // an orientation of parameters with an angular velocity
    says(
        |m| {
            let e = m.parameter(Parameter::new("e", "1", 1.0));
            let e = [e, 0.0.into(), 0.0.into(), 0.0.into()];
            m.body("arm", block().turned(e).moving(O, [0.0, 1.0, 0.0]));
        },
        &["`arm`", "Body::turning"],
    );
    // a name that the world bears
    says(|m| drop(m.body("ground", block())), &["`ground`", "another name"]);
    says(|m| drop(m.point("ground", 1.0, O)), &["`ground`", "another name"]);
    says(
        |m| {
            arm(m);
            arm(m);
        },
        &["`arm", "two of its"],
    );
    says(
        |m| {
            let (a, b) = (arm(m), m.body("hand", block()));
            m.spherical("wrist", a.at(O), b.at(O));
        },
        &["`arm`, `hand`", "ground", "Mechanism::free"],
    );
    // a place in the world of something that starts at a parameter
    says(
        |m| {
            let x = m.parameter(Parameter::new("x", "m", 1.0));
            let body = m.body("arm", block().at([x, 0.0.into(), 0.0.into()]));
            let place = m.place(&body, O);
            m.spherical("pin", m.ground().at(O), place);
        },
        &["`arm`", "depends on parameters", "Member::at"],
    );
}

/// Protects the messages about parts that would do nothing, have no direction, or are another mechanism's.
#[test]
fn parts_without_effect_are_named() {
    says(
        |m| {
            let push = m.input("push", "N");
            m.force("thrust", m.ground().at(O), X, Axes::World, push);
        },
        &["`thrust`", "nothing that moves"],
    );
    says(
        |m| {
            let (a, twist) = (arm(m), m.input("twist", "N m"));
            m.torque("motor", &a, O, Axes::Body, twist);
        },
        &["`motor`", "direction", "no length"],
    );
    says(
        |m| {
            let a = arm(m);
            m.spring("spring", m.ground().at(X), a.at(X), 0.0, 100.0, 1.0);
        },
        &["`spring`", "coincide at the start"],
    );
    says(
        |m| {
            let a = arm(m);
            m.distance("rod", m.ground().at(O), a.at(O), 1.0);
        },
        &["`rod`", "coincide at the start"],
    );
    says(|m| m.momentum("momentum"), &["`momentum`", "no body or mass", "before it"]);
    let mut other = Mechanism::new("other");
    let length = other.parameter(Parameter::new("L", "m", 1.0));
    let hand = arm(&mut other);
    let hinge = other.revolute("hinge", other.ground().at(O), hand.at(O));
    let foreign = "made by another mechanism";
    says(
        |m| {
            let place = m.place(&hand, X);
            m.spherical("pin", m.ground().at(X), place);
        },
        &["`arm`", "a coordinate", foreign],
    );
    says(|m| m.joint_spring("spring", &hinge, Freedom::Turn, 1.0, 0.0), &["`spring`", "a coordinate", foreign]);
    says(
        |m| {
            let (a, zero) = (arm(m), Value::from(0.0));
            m.revolute("pin", m.ground().at(O), a.at(O).axis([length, zero, zero]));
        },
        &["`pin`", "a parameter", foreign],
    );
    says(
        |m| {
            let a = arm(m);
            m.screw("bolt", m.ground().at(O), a.at(O), length);
        },
        &["`bolt`", "a parameter", foreign],
    );
}

/// Protects the messages about joints and forces: members, axes, lengths, freedoms.
#[test]
fn parts_that_cannot_be() {
    says(
        |m| {
            let a = arm(m);
            m.revolute("pin", a.at(O), a.at(X));
        },
        &["`pin`", "connects `arm` to itself"],
    );
    says(
        |m| {
            let a = arm(m);
            m.revolute("pin", m.ground().at(O).axis(O), a.at(O));
        },
        &["`pin`", "length of its axis on `ground` is 0"],
    );
    says(
        |m| {
            let a = arm(m);
            m.weld("glue", m.ground().at(O), a.at(O).axis(Y).across([0.0, -2.0, 0.0]));
        },
        &["`glue`", "across on `arm` is parallel to its axis"],
    );
    says(
        |m| {
            let a = arm(m);
            m.screw("nut", m.ground().at(O), a.at(O), 0.0);
        },
        &["`nut`", "lead is 0", "revolute"],
    );
    says(
        |m| {
            let (a, lead) = (arm(m), m.parameter(Parameter::new("lead", "m", 0.0)));
            m.screw("nut", m.ground().at(O), a.at(O), lead);
        },
        &["`nut`", "lead is 0"],
    );
    for length in [0.0, -1.0, f64::NAN] {
        says(
            |m| {
                let (a, length) = (arm(m), m.parameter(Parameter::new("l", "m", length)));
                m.distance("stick", m.ground().at(O), a.at(X), length);
            },
            &["`stick`", "length is", "spherical"],
        );
    }
    says(
        |m| {
            let bob = m.point("bob", 1.0, O);
            m.revolute("pin", m.ground().at(O), bob.at(O));
        },
        &["`pin`", "axes of a body", "`bob`"],
    );
    says(
        |m| {
            let a = arm(m);
            let pin = m.revolute("pin", m.ground().at(O), a.at(O));
            m.drive_joint("push", &pin, Freedom::Slide, Still, [0.0; 0]);
        },
        &["`push`", "joint `pin` does not slide along its axis"],
    );
    says(
        |m| {
            let a = arm(m);
            let ball = m.spherical("ball", m.ground().at(O), a.at(O));
            m.joint_spring("coil", &ball, Freedom::Turn, 1.0, 0.0);
        },
        &["`coil`", "joint `ball` does not turn about its axis"],
    );
    says(|m| drop(m.drive_point("hand", m.ground().at(O), Nowhere, [0.0; 0])), &["`hand`", "ground"]);
    says(
        |m| {
            let bob = m.point("bob", 1.0, O);
            m.drive_orientation("turn", &bob, Nowhere, [0.0; 0]);
        },
        &["`turn`", "`bob`", "use a body"],
    );
    says(
        |m| {
            let (bob, twist) = (m.point("bob", 1.0, O), m.input("twist", "N m"));
            m.torque("twist", &bob, X, Axes::World, twist);
        },
        &["`twist`", "`bob`"],
    );
}

/// Protects the messages about sensors on what has no such thing.
#[test]
fn sensors_that_cannot_be() {
    says(
        |m| {
            let bob = m.point("bob", 1.0, O);
            m.gyroscope("gyroscope", bob.at(O), Mounting::default());
        },
        &["sensor `gyroscope`", "`bob` does not rotate"],
    );
    says(|m| m.angular_velocity("rate", &m.ground(), Axes::World), &["sensor `rate`", "`ground` does not rotate"]);
    says(
        |m| {
            let a = arm(m);
            m.accelerometer("chip", a.at(O).axis(O), Mounting::default());
        },
        &["`chip`", "length of its axis on `arm` is 0"],
    );
    says(
        |m| {
            let a = arm(m);
            let weld = m.weld("glue", m.ground().at(O), a.at(O));
            m.joint_sensor("angle", &weld, Freedom::Turn);
        },
        &["`angle`", "joint `glue` does not turn"],
    );
    says(
        |m| {
            let a = arm(m);
            let ball = m.spherical("ball", m.ground().at(O), a.at(O));
            m.reaction("load", &ball, &m.ground(), ReactionAxes::World);
        },
        &["sensor `load`", "other member"],
    );
    says(
        |m| {
            let (a, other) = (arm(m), m.body("hand", block()));
            let ball = m.spherical("ball", m.ground().at(O), a.at(O));
            m.reaction("load", &ball, &other, ReactionAxes::World);
        },
        &["sensor `load`", "does not touch `hand`", "`ground` or `arm`"],
    );
}

struct Still;

impl FunctionOfTime for Still {
    fn at<D: Number>(&self, _t: D, _u: &[D]) -> D {
        D::from(0.0)
    }
}

struct Nowhere;

impl Path for Nowhere {
    fn at<D: Number>(&self, _t: D, _u: &[D]) -> [D; 3] {
        [D::from(0.0); 3]
    }
}

/// Protects joints that keep axes parallel: an axis that was forgotten on one side is no closed loop.
#[test]
fn perpendicular_axes() {
    says(
        |m| {
            let body = arm(m);
            m.revolute("hinge", m.ground().at(O).axis(Y), body.at(O));
        },
        &["`hinge`", "perpendicular", "`axis`"],
    );
}

/// Protects locations that are no numbers: no panic, and the part is named.
#[test]
fn locations_that_are_no_numbers() {
    for bad in [f64::NAN, f64::INFINITY] {
        says(
            |m| {
                let body = arm(m);
                m.weld("weld", m.ground().at([bad, 0.0, 0.0]), body.at(O));
                m.weld("other", m.ground().at(O), body.at(O));
            },
            &["`weld`", &bad.to_string(), "finite"],
        );
    }
}
