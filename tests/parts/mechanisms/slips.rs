//! What is said about mechanisms that cannot be.

use super::{Still, run, simulation};
use costate::value::Value;
use costate::{Error, InitialState, Parameter, Result};
use costate_parts::law::Axes;
use costate_parts::planar::{Body, Mechanism, Member};

fn message(build: impl Fn(&mut Mechanism)) -> String {
    let mut mechanism = Mechanism::new("trial");
    build(&mut mechanism);
    let Err(error) = mechanism.build() else { panic!("nothing was noticed") };
    error.to_string()
}

/// Protects the messages: loose bodies, impossible masses, and starts that do not fit are named.
#[test]
fn slips_are_named() -> Result<()> {
    let text = message(|m| {
        let a = m.body("arm", Body::new(1.0, 1.0));
        let b = m.body("hand", Body::new(1.0, 1.0));
        m.revolute("wrist", a.at([0.0, 0.0]), b.at([0.0, 0.0]));
        let c = m.body("post", Body::new(1.0, 1.0));
        m.revolute("foot", m.ground().at([0.0, 0.0]), c.at([0.0, 0.0]));
    });
    assert!(text.contains("`arm`, `hand`") && !text.contains("`post`") && text.contains("ground"), "{text}");
    let text = message(|m| {
        m.body("arm", Body::new(-1.0, 1.0));
    });
    assert!(text.contains("`arm`") && text.contains("mass is -1"), "{text}");
    let text = message(|m| {
        m.body("arm", Body::new(1.0, f64::NAN));
    });
    assert!(text.contains("inertia is NaN"), "{text}");
    // zero mass where nothing carries it along
    let mut mechanism = Mechanism::new("trial");
    let ghost = mechanism.body("ghost", Body::new(1.0, 0.0));
    mechanism.revolute("pin", mechanism.ground().at([0.0, 0.0]), ghost.at([0.0, 0.0]));
    let text = run(mechanism.build()?, 0.1, 1e-2).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("`ghost.angle`") && text.contains("mass"), "{text}");
    // a start that does not fit
    let mut mechanism = Mechanism::new("trial");
    let rod = mechanism.body("rod", Body::new(1.0, 0.1).at([0.52, 0.0], 0.0));
    mechanism.revolute("pin", mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
    let text = run(mechanism.build()?, 0.1, 1e-2).map(|_| ()).unwrap_err().to_string();
    assert!(text.contains("`pin.x` by 2.000e-2"), "{text}");
    Ok(())
}

/// Protects the messages about parts that would do nothing, or have no direction.
#[test]
fn parts_without_effect_are_named() {
    let says = |build: &dyn Fn(&mut Mechanism), words: &[&str]| {
        let text = message(build);
        words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
    };
    let bob = |m: &mut Mechanism| m.point("bob", 1.0, [0.3, 0.4]);
    says(
        &|m| {
            let push = m.input("push", "N");
            m.force("thrust", m.ground().at([0.0, 0.0]), [1.0, 0.0], Axes::World, push);
        },
        &["`thrust`", "nothing that moves"],
    );
    says(&|m| m.drag("air", m.ground().at([0.0, 0.0]), 1.0, 0.0), &["`air`", "nothing that moves"]);
    says(
        &|m| {
            let (bob, push) = (bob(m), m.input("push", "N"));
            m.force("thrust", bob.at([0.0, 0.0]), [0.0, 0.0], Axes::World, push);
        },
        &["`thrust`", "direction", "no length"],
    );
    says(
        &|m| {
            let bob = bob(m);
            m.spring("spring", m.ground().at([0.3, 0.4]), bob.at([0.0, 0.0]), 0.0, 100.0, 1.0);
        },
        &["`spring`", "coincide at the start"],
    );
    says(
        &|m| {
            let bob = bob(m);
            m.rod("rod", m.ground().at([0.3, 0.4]), bob.at([0.0, 0.0]), 1.0);
        },
        &["`rod`", "coincide at the start"],
    );
    says(&|m| m.energy("energy"), &["`energy`", "no body or mass", "before it"]);
}

/// Protects against mixing mechanisms up: members, parameters, inputs, joints and coordinates of another one are refused, whether
/// there is something of that number or not.
#[test]
fn what_another_mechanism_made_is_refused() {
    let mut other = Mechanism::new("other");
    let [length, mass] = ["L", "m"].map(|name| other.parameter(Parameter::new(name, "1", 2.0)));
    let push = other.input("push", "N");
    let _first = other.body("first", Body::new(1.0, 1.0));
    let arm = other.body("arm", Body::new(1.0, 1.0));
    let pin = other.revolute("pin", other.ground().at([0.0, 0.0]), arm.at([0.0, 0.0]));
    let spring = other.spring("spring", other.ground().at([1.0, 0.0]), arm.at([0.0, 0.0]), 0.1, 1.0, 0.0);
    let refused = |what: &str, part: &str, build: &dyn Fn(&mut Mechanism, &Member)| {
        // with and without parts of the same numbers
        for own in [false, true] {
            let text = message(|m| {
                if own {
                    let _ = ["L", "m"].map(|name| m.parameter(Parameter::new(name, "1", 1.0)));
                    m.input("push", "N");
                    m.body("first", Body::new(1.0, 1.0));
                }
                let bob = m.body("bob", Body::new(1.0, 1.0).at([0.5, 0.0], 0.0));
                m.free(&bob);
                build(m, &bob);
            });
            for word in [what, part, "made by another mechanism"] {
                assert!(text.contains(word), "`{word}` is not in: {text}");
            }
        }
    };
    refused("a coordinate", "`hook`", &|m, bob| {
        m.revolute("hook", arm.at([0.0, 0.0]), bob.at([0.0, 0.0]));
    });
    refused("a coordinate", "`motor`", &|m, _| drop(m.drive("motor", arm.coordinates()[2], Still, [0.0; 0])));
    refused("a coordinate", "`arm`", &|m, _| m.free(&arm));
    refused("a coordinate", "`gears`", &|m, bob| drop(m.gears("gears", bob, &arm, 2.0)));
    refused("a coordinate", "`load`", &|m, _| m.reaction("load", &pin, &arm));
    refused("a coordinate", "`pull`", &|m, _| m.strut_sensor("pull", &spring));
    refused("a parameter", "`rod`", &|m, bob| {
        drop(m.rod("rod", m.ground().at([0.0, 0.0]), bob.at([0.1, 0.0]), length))
    });
    refused("a parameter", "`ball`", &|m, _| drop(m.point("ball", mass * 2.0, [0.0, 0.0])));
    refused("a parameter", "`ball.y`", &|m, _| drop(m.point("ball", 1.0, [Value::from(0.0), length - 0.5])));
    refused("a parameter", "`ball`", &|m, _| {
        // of both
        let own = m.parameter(Parameter::new("own", "kg", 1.0));
        m.point("ball", own + mass, [0.0, 0.0]);
    });
    refused("an input", "`thrust`", &|m, bob| m.force("thrust", bob.at([0.0, 0.0]), [1.0, 0.0], Axes::World, push));
}

/// Protects mechanisms that cannot be assembled: the projection says which joints are off by how much where it came nearest.
#[test]
fn a_loop_that_cannot_be_closed_is_told() -> Result<()> {
    // two cranks of 1 m whose feet are `base` apart, tied by a rod of 0.5 m: nearest with both on one line, if they reach
    let linkage = |base: f64| {
        let mut m = Mechanism::new("linkage");
        let [left, right] = [("left", 0.0), ("right", base)].map(|(name, foot)| {
            let crank = m.body(name, Body::new(1.0, 0.1).at([foot, 0.5], 0.1));
            m.revolute(&format!("{name}_foot"), m.ground().at([foot, 0.0]), crank.at([0.0, -0.5]));
            crank
        });
        m.rod("coupler", left.at([0.0, 0.5]), right.at([0.0, 0.5]), 0.5);
        Ok::<_, Error>(simulation(m.build()?, 0.1, 1e-2)?.initial_state(InitialState::Projected))
    };
    assert!(linkage(2.4)?.run(&[]).is_ok());
    let error = linkage(2.6)?.run(&[]).expect_err("it does not reach");
    let Error::NotAssembled { violations, .. } = &error else { panic!("{error}") };
    assert!(violations.contains("`coupler.length` by ") && violations.contains(" m)"), "{violations}");
    assert!(error.is_simulation_failure() && error.to_string().contains("cannot be assembled"), "{error}");
    Ok(())
}
