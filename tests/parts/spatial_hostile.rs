//! Space at its limits: fast spins, many turns, half turns, far centres of mass, parts without mass or inertia, bad starts,
//! equilibria.

use crate::common;

use common::largest;
use common::spatial::{Run, run, run_with, simulation_with, sum};
use costate::vector::{Rotation, Vector, combine, euler_parameters_of};
use costate::{InitialState, Number, Parameter, Result, Signal};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::law::{Axes, FunctionOfTime};
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Path, ReactionAxes};
use std::f64::consts::{PI, TAU};

const O: [f64; 3] = [0.0; 3];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

fn euler_parameters(q: &[f64]) -> [f64; 4] {
    [q[3], q[4], q[5], q[6]]
}

/// Protects fast spins and Euler parameters that go through -1 many times: a symmetric top at 1000 rad/s, free of torques, ends where
/// its closed form says, at second order in the step.
#[test]
fn a_fast_top() -> Result<()> {
    let (across, along) = (2e-3, 3e-3);
    let (spin, tilt) = (1000.0, 50.0);
    let miss = |steps: usize| -> Result<f64> {
        let mut m = Mechanism::new("top");
        m.gravity(O);
        let top = Body::new(0.5, Inertia::diagonal([across, across, along])).moving(O, [tilt, 0.0, spin]);
        let top = m.body("top", top);
        m.free(&top);
        m.angular_velocity("rate", &top, Axes::Body);
        let end = 0.05;
        // without damping, the multiplier of the unit length would ring
        let run = run_with(m.build()?, -0.05, end, end / steps as f64, vec![])?;
        // about the spin (a constant vector of the world) by L/A t, after one about its own axis by (1 - C/A) ω_3 t
        let momentum = Vector([across * tilt, 0.0, along * spin]);
        let own = euler_parameters_of(Vector([0.0, 0.0, (1.0 - along / across) * spin * end]));
        let expected = Rotation::from_euler_parameters(combine(euler_parameters_of(momentum * (end / across)), own));
        let seen = Rotation::from_euler_parameters(euler_parameters(run.trajectory.state(steps).q));
        // turns by 1 rad a thousandth of a second: fifty of them
        assert!(run.output("rate.z").iter().all(|rate| (rate / spin - 1.0).abs() < 1e-2));
        Ok((0..3).map(|k| (seen.axis(k) - expected.axis(k)).length()).fold(0.0, f64::max))
    };
    let (coarse, fine) = (miss(4000)?, miss(8000)?);
    let order = (coarse / fine).log2();
    assert!(fine < 2e-3 && (order - 2.0).abs() < 0.05, "{coarse:e} {fine:e}, order {order}");
    Ok(())
}

fn pendulum(sign: f64, start: [f64; 3]) -> Result<Assembly> {
    let mut m = Mechanism::new("pendulum");
    let turn = euler_parameters_of(Vector(start)).map(|e| sign * e);
    let rotation = Rotation::from_euler_parameters(turn);
    let body = Body::new(1.3, Inertia::entries([0.05, 0.06, 0.04, 0.004, -0.003, 0.006])).center([0.1, 0.0, -0.3]);
    let spin = [0.4, 2.0, -1.0];
    let body = body.at(rotation.turn(Vector([0.0, 0.1, 0.2])).0).turned(turn);
    let body = m.body("body", body.moving(Vector(spin).cross(rotation.turn(Vector([0.0, 0.1, 0.2]))).0, spin));
    let ball = m.spherical("ball", m.ground().at(O), body.at([0.0, -0.1, -0.2]));
    m.accelerometer("chip", body.at([0.3, 0.1, 0.0]), Default::default());
    m.reaction("load", &ball, &body, ReactionAxes::World);
    m.momentum("momentum");
    m.build()
}

/// Protects against a preferred sign: e and -e are one orientation, for starts at half a turn, too, to the last bit.
#[test]
fn both_signs_of_euler_parameters_are_one() -> Result<()> {
    for start in [[0.3, -0.8, 0.5], [PI, 0.0, 0.0], [0.0, PI * 0.6, PI * 0.8], [2.0 * TAU, 0.0, 0.0]] {
        let (one, other) = (run(pendulum(1.0, start)?, 0.3, 2e-3)?, run(pendulum(-1.0, start)?, 0.3, 2e-3)?);
        for name in &one.names {
            assert_eq!(one.output(name), other.output(name), "{name}, {start:?}");
        }
    }
    Ok(())
}

/// A rotation vector along a fixed direction, at a steady rate.
struct Winding([f64; 3]);

impl Path for Winding {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> [D; 3] {
        self.0.map(|x| t * x)
    }
}

/// An angle at a steady rate.
struct Steady(f64);

impl FunctionOfTime for Steady {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        t * self.0
    }
}

/// Protects many turns: driven hinges, driven orientations and screws pass through half turns and whole ones without a jump.
#[test]
fn many_turns() -> Result<()> {
    let rate = 40.0;
    let mut m = Mechanism::new("turns");
    let wheel = Body::new(1.0, Inertia::diagonal([0.1, 0.2, 0.15]));
    let driven = m.body("driven", wheel.clone().moving(O, [0.0, 0.0, rate]));
    let hinge = m.revolute("hinge", m.ground().at(O), driven.at(O));
    m.drive_joint("servo", &hinge, Freedom::Turn, Steady(rate), [0.0; 0]);
    m.joint_sensor("angle", &hinge, Freedom::Turn);
    let axis = [0.48, -0.6, 0.64];
    let led = m.body("led", wheel.clone().moving(O, axis.map(|x| x * rate)));
    m.spherical("stand", m.ground().at(O), led.at(O));
    m.drive_orientation("table", &led, Winding(axis.map(|x| x * rate)), [0.0; 0]);
    m.angular_velocity("led rate", &led, Axes::World);
    let nut = m.body("nut", wheel.moving([0.0, 0.0, -0.02 / TAU * rate], [0.0, 0.0, rate]));
    let thread = m.screw("thread", m.ground().at(O), nut.at(O), -0.02);
    m.drive_joint("key", &thread, Freedom::Turn, Steady(rate), [0.0; 0]);
    m.joint_sensor("way", &thread, Freedom::Slide);
    let run = run(m.build()?, 1.0, 5e-4)?;
    for (i, t) in run.trajectory.times().iter().enumerate() {
        let angle = run.output("angle.angle")[i];
        let turn = (angle - rate * t) / TAU;
        // continuous along the run, from where it begins
        assert!(turn.abs() < 1e-12, "{t}: {angle}");
        let way = run.output("way.displacement")[i];
        assert!((way + 0.02 * rate * t / TAU).abs() < 1e-12, "{t}: {way}");
        let e = &run.trajectory.state(i).q[7..];
        let expected = Rotation::from_rotation_vector(Vector(axis) * (rate * t));
        let seen = Rotation::from_euler_parameters(euler_parameters(e));
        assert!((0..3).all(|k| (seen.axis(k) - expected.axis(k)).length() < 1e-12), "{t}");
    }
    // rates of steps of 0.02 rad
    assert!((run.vector("led rate", 2000) - Vector(axis) * rate).length() < 1e-3 * rate);
    Ok(())
}

/// Protects a reference point far from the centre of mass: accelerations and reactions of the start are those of the centre, but for
/// the digits that the distance costs, and the run goes through.
#[test]
fn a_far_reference_point() -> Result<()> {
    let at = |distance: f64| -> Result<Run> {
        let mut m = Mechanism::new("far");
        let spin = [0.5, 2.0, -1.0];
        let offset = [distance, -0.5 * distance, 0.3 * distance];
        let body = Body::new(2.0, Inertia::diagonal([0.05, 0.06, 0.04])).center(offset.map(|x| -x)).at(offset);
        let body = m.body("body", body.moving(Vector(spin).cross(Vector(offset)).0, spin));
        m.free(&body);
        m.spring("spring", m.ground().at([0.3, 0.2, 0.5]), body.at(sum([0.1, 0.0, 0.1], offset, -1.0)), 0.2, 50.0, 0.3);
        m.position("center", body.at(offset.map(|x| -x)));
        m.acceleration("acceleration", body.at(offset.map(|x| -x)), Axes::World);
        m.angular_velocity("rate", &body, Axes::World);
        run(m.build()?, 0.1, 5e-4)
    };
    let near = at(0.0)?;
    for (distance, digits) in [(1.0, 1e-13), (100.0, 1e-9)] {
        let far = at(distance)?;
        let growth = |run: &Run| Vector(["x", "y", "z"].map(|axis| run.output(&format!("rate.alpha_{axis}"))[0]));
        let size = growth(&near).length();
        assert!((growth(&near) - growth(&far)).length() < digits * size, "{distance}");
        let off = near.vector("acceleration", 0) - far.vector("acceleration", 0);
        assert!(off.length() < digits * near.vector("acceleration", 0).length(), "{distance}: {off:?}");
        // another scheme, with an error of h² times the distance
        let off = (near.vector("center", 200) - far.vector("center", 200)).length();
        assert!(off < 1e-5 * (1.0 + distance), "{distance}: {off:e}");
    }
    Ok(())
}

/// Protects bodies with inertia but no mass, held in place: a motor turns a flywheel by T/I, and a screw turns what it pushes.
#[test]
fn inertia_without_mass() -> Result<()> {
    let mut m = Mechanism::new("flywheel");
    let wheel = m.body("wheel", Body::new(0.0, Inertia::diagonal([0.1, 0.2, 0.25])));
    let axle = m.revolute("axle", m.ground().at(O), wheel.at(O));
    let torque = m.input("torque", "N m");
    m.motor("motor", &axle, Freedom::Turn, torque);
    m.joint_sensor("angle", &axle, Freedom::Turn);
    let run = run_with(m.build()?, -0.05, 0.5, 1e-3, vec![Signal::function(|_| 0.5)])?;
    let accelerations = run.output("angle.acceleration");
    assert!((accelerations[0] - 2.0).abs() < 1e-13);
    // steps of Euler parameters
    assert!(accelerations.iter().all(|a| (a - 2.0).abs() < 1e-5), "{:?}", accelerations.last());
    assert!((run.output("angle.angle")[500] - 0.25).abs() < 1e-6);
    Ok(())
}

/// Protects the projection of starts whose orientation is off by degrees and whose Euler parameters are not of unit length: it ends on
/// all constraints in position and velocity, near to where it began.
#[test]
fn projected_starts() -> Result<()> {
    for (degrees, length) in [(0.0, 0.9), (5.0, 1.0), (15.0, 1.1), (40.0, 1.0)] {
        let mut m = Mechanism::new("door");
        let scale = m.parameter(Parameter::new("length", "1", length));
        let off = euler_parameters_of(Vector([0.3, 0.0, 0.8]) * (f64::to_radians(degrees)));
        let body = Body::new(1.0, Inertia::diagonal([0.1, 0.2, 0.25])).at([0.5, 0.1, 0.02]);
        let body = body.turned(off.map(|e| scale * e)).turning([0.1, 0.2, -0.3, 0.4]);
        let door = m.body("door", body);
        let hinge = m.revolute("hinge", m.ground().at(O).axis(Y), door.at([-0.5, 0.0, 0.0]).axis(Y));
        m.joint_sensor("angle", &hinge, Freedom::Turn);
        m.energy("energy");
        let simulation = simulation_with(m.build()?, -0.05, 0.5, 1e-3, vec![], InitialState::Projected)?;
        let run = Run::of(&simulation)?;
        let x = run.trajectory.state(0);
        let e: f64 = euler_parameters(x.q).iter().map(|e| e * e).sum();
        let drift: f64 = (3..7).map(|k| x.q[k] * x.v[k]).sum();
        assert!((e - 1.0).abs() < 1e-14 && drift.abs() < 1e-14, "{degrees}° {length}: {e} {drift}");
        let rotation = Rotation::from_euler_parameters(euler_parameters(x.q));
        assert!((rotation.axis(1) - Vector(Y)).length() < 1e-14, "{rotation:?}");
        assert!((Vector::of(x.q) - rotation.turn(Vector([0.5, 0.0, 0.0]))).length() < 1e-14);
        // the smallest change in the mass's norm: the door turns by no more than it was off; 2 cm of half a metre are 0.04 rad
        assert!(
            run.output("angle.angle")[0].abs() <= f64::to_radians(degrees) + 0.04,
            "{:?}",
            run.output("angle.angle")[0]
        );
        let energy = run.output("energy");
        assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-3 * 9.81), "{} {}", energy[0], energy[500]);
    }
    Ok(())
}

/// Protects starts at rest of overconstrained mechanisms in space: a rod on two hinges of one axis, whose rows are left out where they repeat others, hangs down as
/// on one.
#[test]
fn rows_left_out_hang_as_well() -> Result<()> {
    for second in [O, [0.0, 0.4, 0.0]] {
        let mut m = Mechanism::new("door");
        m.redundant_rows(RedundantRows::LeaveOut);
        let rod = m.body("rod", Body::new(1.7, Inertia::diagonal([1e-3, 0.2, 0.2])).at([0.5, 0.0, 0.0]));
        m.revolute("hinge", m.ground().at(O).axis(Y), rod.at([-0.5, 0.0, 0.0]).axis(Y));
        let place = [second[0] - 0.5, second[1], second[2]];
        m.revolute("twin", m.ground().at(second).axis(Y), rod.at(place).axis(Y));
        let simulation = simulation_with(m.build()?, -0.05, 0.1, 1e-3, vec![], InitialState::Equilibrium)?;
        let run = Run::of(&simulation)?;
        let x = run.trajectory.state(0);
        assert!((Vector::of(x.q) - Vector([0.0, 0.0, -0.5])).length() < 1e-9, "{second:?}: {:?}", x.q);
        assert!(largest(x.a) < 1e-6, "{second:?}: {:?}", x.a);
    }
    Ok(())
}

/// Protects starts at rest in space: a rod on a hinge and a bob on a string hang down, from wherever they are; the load is the weight.
#[test]
fn hanging_equilibria() -> Result<()> {
    let mut m = Mechanism::new("hanging");
    let rod = Body::new(1.7, Inertia::diagonal([1e-3, 0.2, 0.2])).at([0.5, 0.0, 0.0]);
    let rod = m.body("rod", rod);
    let hinge = m.revolute("hinge", m.ground().at(O).axis(Y), rod.at([-0.5, 0.0, 0.0]).axis(Y));
    m.reaction("bearing", &hinge, &rod, ReactionAxes::World);
    let bob = m.point("bob", 0.4, [1.6, 0.3, -0.5]);
    let length = (0.6f64 * 0.6 + 0.3 * 0.3 + 0.5 * 0.5).sqrt();
    let string = m.distance("string", m.ground().at([1.0, 0.0, 0.0]), bob.at(O), length);
    m.reaction("pull", &string, &bob, ReactionAxes::World);
    let simulation = simulation_with(m.build()?, -0.05, 0.1, 1e-3, vec![], InitialState::Equilibrium)?;
    let run = Run::of(&simulation)?;
    for i in [0, 100] {
        let x = run.trajectory.state(i);
        assert!((Vector::of(x.q) - Vector([0.0, 0.0, -0.5])).length() < 1e-10, "{:?}", x.q);
        assert!((Vector::of(&x.q[7..]) - Vector([1.0, 0.0, -length])).length() < 1e-10, "{:?}", x.q);
        assert!(largest(x.v) < 1e-9 && largest(x.a) < 1e-6, "{i}: {:?} {:?}", x.v, x.a);
        assert!((run.vector("bearing", i) - Vector([0.0, 0.0, 1.7 * 9.81])).length() < 1e-7);
        assert!((run.vector("pull", i) - Vector([0.0, 0.0, 0.4 * 9.81])).length() < 1e-7);
    }
    Ok(())
}

/// Protects static equilibrium of a body that springs alone hold, with a known answer: a plate on four springs hangs and tilts until
/// forces and torques balance, whatever its Euler parameters were.
#[test]
fn a_plate_on_four_springs() -> Result<()> {
    let corners = [[0.4, 0.3, 0.0], [-0.4, 0.3, 0.0], [-0.4, -0.3, 0.0], [0.4, -0.3, 0.0]];
    let mut m = Mechanism::new("plate");
    let tilt = euler_parameters_of(Vector([0.1, -0.15, 0.2]));
    let plate = Body::new(6.0, Inertia::diagonal([0.2, 0.3, 0.5])).center([0.05, -0.02, 0.01]);
    let plate = m.body("plate", plate.at([0.03, 0.02, 0.4]).turned(tilt));
    let mut hooks = Vec::new();
    for (i, corner) in corners.into_iter().enumerate() {
        // hung up further out: springs hold it sideways and against turning, too
        let hook = [1.6 * corner[0], 1.6 * corner[1], 0.9];
        let strut = m.spring(&format!("spring{i}"), m.ground().at(hook), plate.at(corner), 0.5, 200.0, 2.0);
        m.strut_sensor(&format!("gauge{i}"), &strut);
        m.position(&format!("corner{i}"), plate.at(corner));
        hooks.push(hook);
    }
    m.position("center", plate.at([0.05, -0.02, 0.01]));
    let simulation = simulation_with(m.build()?, -0.05, 0.1, 1e-3, vec![], InitialState::Equilibrium)?;
    let run = Run::of(&simulation)?;
    let (mut force, mut torque) = (Vector(Z) * (-6.0 * 9.81), Vector::zero());
    for (i, hook) in hooks.into_iter().enumerate() {
        let corner = run.vector(&format!("corner{i}"), 0);
        let pull = (Vector(hook) - corner).unit() * run.output(&format!("gauge{i}.tension"))[0];
        force += pull;
        torque += (corner - run.vector("center", 0)).cross(pull);
    }
    assert!(force.length() < 1e-10 && torque.length() < 1e-10, "{force:?} {torque:?}");
    let x = run.trajectory.state(100);
    assert!(largest(x.v) < 1e-9, "{:?}", x.v);
    let height = run.output("center.z")[0];
    assert!(height > 0.1 && height < 0.5, "{height}");
    Ok(())
}

/// Protects axes that point opposite ways: springs, motors and sensors act about the first one's axis all the same.
#[test]
fn opposite_axes() -> Result<()> {
    let at = |second: [f64; 3]| -> Result<Run> {
        let mut m = Mechanism::new("flap");
        let carrier =
            m.body("carrier", Body::new(2.0, Inertia::diagonal([0.3, 0.2, 0.25])).moving(O, [0.3, -0.2, 0.5]));
        m.spherical("ball", m.ground().at(O), carrier.at(O));
        let flap = Body::new(1.0, Inertia::diagonal([0.1, 0.2, 0.25])).center([0.3, 0.1, 0.0]);
        let flap = m.body("flap", flap.moving(O, [0.3, 0.8, 0.5]));
        let hinge = m.revolute("hinge", carrier.at(O).axis(Y), flap.at(O).axis(second));
        m.joint_spring("spring", &hinge, Freedom::Turn, 20.0, 0.5);
        let torque = m.input("torque", "N m");
        m.motor("motor", &hinge, Freedom::Turn, torque);
        m.joint_sensor("turn", &hinge, Freedom::Turn);
        run_with(m.build()?, -0.05, 0.5, 1e-3, vec![Signal::function(|t| 3.0 * (9.0 * t).sin())])
    };
    let (same, opposite) = (at(Y)?, at([0.0, -1.0, 0.0])?);
    for name in ["turn.angle", "turn.rate", "turn.acceleration"] {
        let (one, other) = (same.output(name), opposite.output(name));
        let size = largest(&one);
        assert!(size > 0.1 && one.iter().zip(&other).all(|(a, b)| (a - b).abs() < 1e-9 * size), "{name}");
    }
    // the sensor's values belong together
    let (angle, rate) = (same.output("turn.angle"), same.output("turn.rate"));
    for i in 1..angle.len() - 1 {
        assert!(((angle[i + 1] - angle[i - 1]) / 2e-3 - rate[i]).abs() < 1e-3, "{i}");
    }
    Ok(())
}

/// Protects the search where all positions are zero: lengths have no size there, and round-off is not to be mistaken for motion.
#[test]
fn an_equilibrium_at_the_origin() -> Result<()> {
    for offset in [[0.3, 0.0, 0.0], [0.4, 0.0, 0.0]] {
        let mut m = Mechanism::new("flap");
        let flap = m.body("flap", Body::new(1.0, Inertia::diagonal([0.1, 0.2, 0.25])).center(offset));
        m.revolute("hinge", m.ground().at(O).axis(Y), flap.at(O).axis(Y));
        m.position("center", flap.at(offset));
        let simulation = simulation_with(m.build()?, -0.05, 0.01, 1e-3, vec![], InitialState::Equilibrium)?;
        let center = Run::of(&simulation)?.vector("center", 0);
        assert!((center - Vector([0.0, 0.0, -offset[0]])).length() < 1e-12, "{center:?}");
    }
    Ok(())
}

/// Protects the message for what nothing holds at rest: a body on a ball in a socket may turn about the vertical.
#[test]
fn an_equilibrium_that_is_not_unique() -> Result<()> {
    let mut m = Mechanism::new("lamp");
    let lamp = m.body("lamp", Body::new(1.0, Inertia::diagonal([0.1, 0.12, 0.05])).center([0.0, 0.0, -0.4]));
    m.spherical("ball", m.ground().at(O), lamp.at(O));
    m.position("center", lamp.at([0.0, 0.0, -0.4]));
    let simulation = simulation_with(m.build()?, -0.05, 0.1, 1e-3, vec![], InitialState::Equilibrium)?;
    let text = Run::of(&simulation).err().expect("nothing holds it").to_string();
    assert!(text.contains("`lamp.e3`") && text.contains("at rest"), "{text}");
    Ok(())
}
