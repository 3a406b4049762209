//! Mechanisms that can be built, but do not run: starts that do not fit, rows that are left out, bodies without mass, limits.

use super::{Nowhere, O, Still, X, Y, Z, arm, block, says};
use crate::common::spatial::{Run, run, simulation_with};
use costate::value::Value;
use costate::vector::{Vector, euler_parameters_of};
use costate::{Error, InitialState, Number, Parameter, Result};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::law::FunctionOfTime;
use costate_parts::sampled::Sampled;
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism};

/// What a simulation of something that can be built says.
fn fails(build: impl Fn(&mut Mechanism), words: &[&str]) -> Error {
    let mut mechanism = Mechanism::new("trial");
    build(&mut mechanism);
    let error = run(mechanism.build().unwrap(), 0.1, 1e-3).err().expect("nothing was noticed");
    let text = error.to_string();
    words.iter().for_each(|word| assert!(text.contains(word), "`{word}` is not in: {text}"));
    error
}

/// Protects messages about starts that do not fit: which joint, by how much, in the row's own unit.
#[test]
fn starts_that_do_not_fit() {
    // tilted by two degrees
    let two = 2.0f64.to_radians();
    let tilted = |m: &mut Mechanism| {
        let body = m.body("door", block().turned(euler_parameters_of(Vector([two, 0.0, 0.0]))));
        m.revolute("hinge", m.ground().at(O), body.at(O));
    };
    fails(tilted, &["`hinge.tilt_y`", &format!("residual {:.3e} rad)", -two.sin())]);
    // off by a millimetre
    fails(
        |m| {
            let body = m.body("door", block().at([0.0, 1e-3, 0.0]));
            m.revolute("hinge", m.ground().at(O), body.at(O));
        },
        &["`hinge.y` by", "residual 1.000e-3 m)"],
    );
    // parallel axes in a universal joint, and axes that are merely askew
    says(
        |m| {
            let body = arm(m);
            m.universal("cardan", m.ground().at(O), body.at(O));
        },
        &["universal joint `cardan`", "an angle of 0.0°", "90°"],
    );
    fails(
        |m| {
            let body = arm(m);
            m.universal("cardan", m.ground().at(O), body.at(O).axis([0.0, 0.8, 0.6]));
        },
        &["`cardan.cross`", "residual 6.000e-1 rad)"],
    );
    // what a sine would not tell: half a turn away
    let back = euler_parameters_of(Vector([0.0, 0.0, std::f64::consts::PI]));
    fails(
        |m| {
            let body = m.body("drawer", block().turned(back));
            m.prismatic("rail", m.ground().at(O), body.at(O));
        },
        &["`rail.twist`", "3.142e0 rad)"],
    );
    fails(
        |m| {
            let body = m.body("wheel", block().turned(back));
            let hinge = m.revolute("axle", m.ground().at(O), body.at(O));
            m.drive_joint("servo", &hinge, Freedom::Turn, Still, [0.0; 0]);
        },
        &["`servo.motion`", "3.142e0 rad)"],
    );
    fails(
        |m| {
            let body = m.body("nut", block().turned(back));
            m.screw("thread", m.ground().at(O), body.at(O), 0.01);
        },
        &["`thread.thread`", "3.142e0 rad)"],
    );
    // there, axes that are driven hold a turn no more
    says(
        |m| {
            let body = m.body("platform", block().turned(back));
            m.drive_orientation("table", &body, Nowhere, [0.0; 0]);
            m.spherical("stand", m.ground().at(O), body.at(O));
        },
        &["`table.z` repeats"],
    );
    // a spring that parameters leave without length pulls nowhere
    let mut m = Mechanism::new("trial");
    let distance = m.parameter(Parameter::new("distance", "m", 1.0));
    let (body, zero) = (arm(&mut m), Value::from(0.0));
    m.spring("spring", m.ground().at([distance, zero, zero]), body.at(O), 0.0, 10.0, 0.0);
    let system = m.build().unwrap();
    let simulation = simulation_with(system, -0.05, 0.1, 1e-3, vec![], InitialState::AsGiven).unwrap();
    assert!(simulation.run(&[1.0]).is_ok());
    let error = simulation.run(&[0.0]).expect_err("the spring has no direction");
    assert!(matches!(error, Error::NotFinite { .. }) && error.to_string().contains("`arm.x`"), "{error}");
}

/// Two hinges for one body whose second one is `off` (m) beside where the first lets it be.
fn twice(off: f64) -> Result<Assembly> {
    let mut m = Mechanism::new("twice");
    m.redundant_rows(RedundantRows::LeaveOut);
    let off = m.parameter(Parameter::new("off", "m", off));
    let body = m.body("door", block());
    m.revolute("lower", m.ground().at(O), body.at(O));
    m.revolute("upper", m.ground().at([off, Value::from(0.0), Value::from(1.0)]), body.at(Z));
    m.build()
}

/// Protects rows that are left out: they hold, or the run ends, be it for other parameters or later in time.
#[test]
fn rows_that_are_left_out_hold() -> Result<()> {
    let system = twice(0.0)?;
    assert!(!system.left_out().is_empty());
    let simulation = simulation_with(system, -0.05, 0.1, 1e-3, vec![], InitialState::Projected)?;
    assert!(simulation.run(&[0.0]).is_ok());
    let text = simulation.run(&[0.1]).expect_err("the upper hinge is torn").to_string();
    assert!(text.contains("`upper.") && text.contains("left out") && text.contains("t = 0 s"), "{text}");
    // a second drive that goes another way
    let mut m = Mechanism::new("driven twice");
    m.redundant_rows(RedundantRows::LeaveOut);
    let body = arm(&mut m);
    let hinge = m.revolute("hinge", m.ground().at(O), body.at(O));
    m.drive_joint("servo", &hinge, Freedom::Turn, Still, [0.0; 0]);
    m.drive_joint("other", &hinge, Freedom::Turn, Faster, [0.0; 0]);
    let text = run(m.build()?, 0.1, 1e-3).err().expect("one axis cannot go two ways").to_string();
    assert!(text.contains("`other.motion`") || text.contains("`servo.motion`"), "{text}");
    assert!(text.contains("rad at t = 0.01"), "{text}");
    Ok(())
}

struct Faster;

impl FunctionOfTime for Faster {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        t * t * t
    }
}

/// Protects measured motions of joints: beyond their samples nothing is known.
#[test]
fn joints_keep_to_the_samples_of_their_motion() -> Result<()> {
    let mut m = Mechanism::new("servo");
    let body = arm(&mut m);
    let hinge = m.revolute("hinge", m.ground().at(O), body.at(O));
    let times: Vec<f64> = (0..6).map(|i| f64::from(i) * 0.01).collect();
    let motion = Sampled::new(&times, &[0.0, 0.0, 0.001, 0.004, 0.01, 0.02])?;
    m.drive_joint("servo", &hinge, Freedom::Turn, motion, [1.0, 0.0]);
    let text = simulation_with(m.build()?, -0.05, 1.0, 1e-2, vec![], InitialState::AsGiven).err();
    let text = text.expect("it is known to 0.05 s alone").to_string();
    assert!(text.contains("`servo`") && text.contains("0.05 s"), "{text}");
    Ok(())
}

/// Protects the message about what has neither mass nor a constraint: it names the body.
#[test]
fn bodies_without_mass() {
    let weightless = || Body::new(0.0, Inertia::diagonal([0.0; 3]));
    let error = fails(
        |m| {
            let ghost = m.body("ghost", weightless());
            m.spring("spring", m.ground().at(O), ghost.at(X), 1.0, 10.0, 0.0);
        },
        &["`ghost.", "mass"],
    );
    assert!(matches!(error, Error::Singular { .. }), "{error}");
    // inertia, but no mass
    fails(
        |m| {
            let ghost = m.body("ghost", Body::new(0.0, Inertia::diagonal([1.0; 3])));
            m.spring("spring", m.ground().at(O), ghost.at(X), 0.5, 10.0, 0.0);
        },
        &["`ghost.x`", "mass"],
    );
    // mass, but no inertia: only what turns about the centre is loose
    fails(
        |m| {
            let ghost = m.body("ghost", Body::new(1.0, Inertia::diagonal([0.0; 3])));
            m.spring("spring", m.ground().at(O), ghost.at(X), 0.5, 10.0, 0.0);
        },
        &["`ghost.e", "mass"],
    );
    // welded to something, it may be without
    let mut m = Mechanism::new("trial");
    let (arm, ghost) = (arm(&mut m), m.body("ghost", weightless().at(X)));
    m.revolute("hinge", m.ground().at(O).axis(Y), arm.at(O).axis(Y));
    m.weld("glue", arm.at(X), ghost.at(O));
    run(m.build().unwrap(), 0.1, 1e-3).unwrap();
}

/// An angle that grows by a quarter turn a second.
struct Steady;

impl FunctionOfTime for Steady {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        t * std::f64::consts::FRAC_PI_2
    }
}

/// Protects a Cardan joint that is bent to a right angle, where one shaft does not turn the other: steps jump over the position, and
/// one that ends there goes through it, or tells which joint it is, without NaN.
#[test]
fn a_universal_joint_at_its_limit() -> Result<()> {
    let bent = |step: f64| -> Result<Run> {
        let mut m = Mechanism::new("bent");
        m.redundant_rows(RedundantRows::LeaveOut);
        let swing = [0.0, 0.0, std::f64::consts::FRAC_PI_2];
        let input = m.body("input", block());
        let [yoke, output] = ["yoke", "output"].map(|name| m.body(name, block().moving(O, swing)));
        m.weld("chuck", m.ground().at(O), input.at(O));
        let pivot = m.revolute("pivot", m.ground().at(O).axis(Z), yoke.at(O).axis(Z));
        m.drive_joint("servo", &pivot, Freedom::Turn, Steady, [0.0; 0]);
        m.universal("cardan", input.at(O).axis(Y), output.at(O).axis(Z));
        m.cylindrical("bearing", yoke.at(O).axis(X), output.at(O).axis(X));
        let system = m.build()?;
        assert_eq!(system.degrees_of_freedom(), 0);
        Run::of(&simulation_with(system, -0.1, 1.2, step, vec![], InitialState::AsGiven)?)
    };
    let assert_turned = |run: &Run, end: usize| {
        let x = run.trajectory.state(end);
        let [yoke, output] = [1, 2].map(|body| 2.0 * x.q[7 * body + 6].atan2(x.q[7 * body + 3]));
        assert!((yoke - 0.6 * std::f64::consts::PI).abs() < 1e-9 && (output - yoke).abs() < 1e-9, "{yoke} {output}");
    };
    // no step ends at 1 s
    assert_turned(&bent(1.2 / 1001.0)?, 1001);
    // one does: whether its equations can be solved there is a matter of round-off
    match bent(1e-3) {
        Ok(run) => assert_turned(&run, 1200),
        Err(error) => {
            let text = error.to_string();
            assert!(error.is_simulation_failure() && text.contains("t = 1") && !text.contains("NaN"), "{text}");
            assert!(text.contains("`cardan.cross`") || text.contains("`bearing."), "{text}");
        }
    }
    Ok(())
}

/// A four-bar linkage with parallel hinges about y, which hold three directions twice.
fn four_bar(policy: RedundantRows) -> Result<Assembly> {
    let mut m = Mechanism::new("four_bar");
    m.redundant_rows(policy);
    let corners = [O, [0.1, 0.0, 0.5], [1.0, 0.0, 0.8], [1.2, 0.0, 0.0]];
    let ground = m.ground();
    let mut last = ground.clone();
    for i in 0..4 {
        let next = if i == 3 {
            ground.clone()
        } else {
            let (a, b) = (Vector(corners[i]), Vector(corners[i + 1]));
            m.body(&format!("bar{}", i + 1), block().at(((a + b) * 0.5).0))
        };
        let here = m.place(&last, corners[i]).axis(Y);
        let there = m.place(&next, corners[i]).axis(Y);
        m.revolute(&format!("hinge{}", i + 1), here, there);
        last = next;
    }
    m.energy("energy");
    m.position("end", last.at(O));
    m.build()
}

/// Protects closed loops in space: three rows of a planar four-bar are named, left out on request, and then the mechanism keeps
/// its energy and its constraints.
#[test]
fn a_four_bar_is_held_three_times_too_often() -> Result<()> {
    let text = four_bar(RedundantRows::Refuse).err().expect("three rows are redundant").to_string();
    assert!(text.contains("3 of its 23 constraint rows are redundant"), "{text}");
    assert!(text.contains("`hinge4.y` repeats") && text.contains("`hinge4.tilt_"), "{text}");
    let system = four_bar(RedundantRows::LeaveOut)?;
    assert_eq!(system.degrees_of_freedom(), 1);
    assert_eq!(system.left_out().len(), 3);
    assert!(system.left_out().iter().all(|row| row.starts_with("hinge4.")), "{:?}", system.left_out());
    let run = Run::of(&simulation_with(system, -0.05, 1.0, 1e-3, vec![], InitialState::AsGiven)?)?;
    let energy = run.output("energy");
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-3), "{} {}", energy[0], energy[1000]);
    // nothing leaves the plane
    for i in 0..=1000 {
        let q = run.trajectory.state(i).q;
        assert!((0..3).all(|bar| q[7 * bar + 1].abs() < 1e-12), "{i}: {q:?}");
    }
    let error =
        Run::of(&simulation_with(four_bar(RedundantRows::Keep)?, -0.05, 0.1, 1e-3, vec![], InitialState::AsGiven)?);
    let text = error.err().expect("rows are redundant").to_string();
    assert!(text.contains("3 of the 23 constraint rows are redundant"), "{text}");
    Ok(())
}
