//! Mechanisms of space: closed forms, conservation, invariance, planar mechanisms once more, free directions of joints.

use crate::common;

use common::spatial::{Run, run, run_with};
use costate::vector::{Vector, euler_parameters_of};
use costate::{Result, Signal};
use costate_parts::assembly::Assembly;
use costate_parts::planar;
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Mounting, ReactionAxes};

/// Protects the equations of a free body: energy and momentum stay, and so does the body's length of Euler parameters. With
/// halved steps the drift of energy is a quarter.
#[test]
fn a_free_body_tumbles() -> Result<()> {
    let tumble = |step: f64| -> Result<[f64; 3]> {
        let mut mechanism = Mechanism::new("tumbling");
        mechanism.gravity([0.0; 3]);
        let inertia = Inertia::entries([1.2, 2.0, 2.9, 0.1, -0.2, 0.15]);
        let body =
            Body::new(3.0, inertia).center([0.1, -0.2, 0.3]).turned(euler_parameters_of(Vector([0.3, 1.0, -0.4])));
        let body = mechanism.body("body", body.moving([0.3, -0.1, 0.2], [0.4, 3.0, 0.2]));
        mechanism.free(&body);
        mechanism.energy("energy");
        mechanism.momentum("momentum");
        let motion = run_with(mechanism.build()?, 0.0, 4.0, step, vec![])?;
        let drift = |name: &str| {
            let values = motion.output(name);
            values.iter().fold(0.0f64, |drift, value| drift.max((value - values[0]).abs()))
        };
        for i in 0..motion.trajectory.times().len() {
            let e = &motion.trajectory.state(i).q[3..];
            let length: f64 = e.iter().map(|e| e * e).sum();
            assert!((length - 1.0).abs() < 1e-13, "{length}");
        }
        Ok([drift("energy"), drift("momentum.x"), drift("momentum.spin_y")])
    };
    let (coarse, fine) = (tumble(4e-3)?, tumble(2e-3)?);
    for ((coarse, fine), size) in coarse.iter().zip(&fine).zip([10.0, 1.0, 6.0]) {
        assert!(*fine < 1e-4 * size, "{coarse:e} {fine:e}");
        let order = (coarse / fine).log2();
        assert!((order - 2.0).abs() < 0.1, "{order}: {coarse:e} {fine:e}");
    }
    Ok(())
}

/// Protects the first instants of a hinged rod and of a spinning disc against closed forms.
#[test]
fn closed_forms() -> Result<()> {
    // a rod on a hinge about y: (m g l/2) / (m l²/3)
    let mut mechanism = Mechanism::new("rod");
    let rod = Body::new(1.7, Inertia::diagonal([1e-3, 1.7 / 12.0, 1.7 / 12.0]));
    let rod = mechanism.body("rod", rod.at([0.5, 0.0, 0.0]));
    let ground = mechanism.ground();
    let y = [0.0, 1.0, 0.0];
    let hinge = mechanism.revolute("hinge", ground.at([0.0; 3]).axis(y), rod.at([-0.5, 0.0, 0.0]).axis(y));
    mechanism.joint_sensor("hinge angle", &hinge, Freedom::Turn);
    mechanism.reaction("bearing", &hinge, &rod, ReactionAxes::World);
    let fall = run(mechanism.build()?, 1e-3, 1e-3)?;
    assert!((fall.output("hinge angle.acceleration")[0] - 1.5 * 9.81).abs() < 1e-12);
    // a quarter of the weight is left in the hinge
    assert!((fall.output("bearing.z")[0] - 1.7 * 9.81 / 4.0).abs() < 1e-12);
    for name in ["bearing.x", "bearing.y", "bearing.torque_x", "bearing.torque_y", "bearing.torque_z"] {
        assert!(fall.output(name)[0].abs() < 1e-12, "{name}");
    }
    Ok(())
}

/// A planar mechanism and the same in space: a crank, a rod and a slider with a spring, driven by a torque. z is up; the plane is
/// (x, z), and planar angles turn x towards z: about -y.
fn planar_crank() -> Result<Assembly> {
    let mut mechanism = planar::Mechanism::new("planar");
    let ground = mechanism.ground();
    let crank = planar::Body::new(1.1, 0.02).center([0.05, 0.01]).at([0.0, 0.0], 0.3).moving([0.0, 0.0], 2.0);
    let crank = mechanism.body("crank", crank);
    let start = [0.4 * f64::cos(0.3), 0.4 * f64::sin(0.3)];
    let v = [-2.0 * start[1], 2.0 * start[0]];
    let rod = mechanism.body("rod", planar::Body::new(0.7, 0.04).at(start, -0.5).moving(v, -1.0));
    mechanism.revolute("bearing", ground.at([0.0, 0.0]), crank.at([0.0, 0.0]));
    let pin = mechanism.revolute("pin", crank.at([0.4, 0.0]), rod.at([0.0, 0.0]));
    mechanism.spring("spring", ground.at([1.5, 0.2]), rod.at([0.9, 0.0]), 0.3, 40.0, 0.5);
    let torque = mechanism.input("torque", "N m");
    mechanism.torque("motor", &ground, &crank, torque);
    mechanism.position("end", rod.at([0.9, 0.0]));
    let mounting = planar::Mounting { angle: 0.4.into(), ..Default::default() };
    mechanism.accelerometer("felt", rod.at([0.3, 0.1]), mounting);
    mechanism.angle("angle", &crank, &rod);
    mechanism.reaction("reaction", &pin, &rod);
    mechanism.energy("energy");
    mechanism.build()
}

fn spatial_crank() -> Result<Assembly> {
    let mut mechanism = Mechanism::new("spatial");
    let ground = mechanism.ground();
    let y = [0.0, -1.0, 0.0];
    let turned = |angle: f64| euler_parameters_of(Vector([0.0, -angle, 0.0]));
    let crank = Body::new(1.1, Inertia::diagonal([0.3, 0.02, 0.29])).center([0.05, 0.0, 0.01]);
    let crank = mechanism.body("crank", crank.turned(turned(0.3)).moving([0.0; 3], [0.0, -2.0, 0.0]));
    let (x, z) = (0.4 * f64::cos(0.3), 0.4 * f64::sin(0.3));
    let rod = Body::new(0.7, Inertia::diagonal([0.01, 0.04, 0.04])).at([x, 0.0, z]).turned(turned(-0.5));
    let rod = mechanism.body("rod", rod.moving([-2.0 * z, 0.0, 2.0 * x], [0.0, 1.0, 0.0]));
    let bearing = mechanism.revolute("bearing", ground.at([0.0; 3]).axis(y), crank.at([0.0; 3]).axis(y));
    let elbow =
        [crank.at([0.4, 0.0, 0.0]).axis(y).across([1.0, 0.0, 0.0]), rod.at([0.0; 3]).axis(y).across([1.0, 0.0, 0.0])];
    let [a, b] = elbow;
    let pin = mechanism.revolute("pin", a, b);
    mechanism.spring("spring", ground.at([1.5, 0.0, 0.2]), rod.at([0.9, 0.0, 0.0]), 0.3, 40.0, 0.5);
    let torque = mechanism.input("torque", "N m");
    mechanism.motor("motor", &bearing, Freedom::Turn, torque);
    mechanism.position("end", rod.at([0.9, 0.0, 0.0]));
    let (sin, cos) = f64::sin_cos(0.4);
    let mounted = rod.at([0.3, 0.0, 0.1]).axis(y).across([cos, 0.0, sin]);
    mechanism.accelerometer("felt", mounted, Mounting::default());
    mechanism.joint_sensor("angle", &pin, Freedom::Turn);
    mechanism.reaction("reaction", &pin, &rod, ReactionAxes::World);
    mechanism.energy("energy");
    mechanism.build()
}

/// Protects space against the plane: the same mechanism moves the same way, and all sensors see the same. Newmark's formulas are
/// exact for angles in one and for Euler parameters in the other: motions differ by the square of the step. Without that term,
/// by extrapolation, positions agree to ten digits.
#[test]
fn planar_mechanisms_in_space() -> Result<()> {
    let torque = || vec![Signal::function(|t| 3.0 * (9.0 * t).sin())];
    let motions = [("end.x", "end.x"), ("end.y", "end.z"), ("angle.angle", "angle.angle")];
    let others = [
        ("angle.rate", "angle.rate"),
        ("felt.x", "felt.x"),
        ("felt.y", "felt.y"),
        ("angle.acceleration", "angle.acceleration"),
        ("reaction.x", "reaction.x"),
        ("reaction.y", "reaction.z"),
        ("energy", "energy"),
    ];
    let step = 2.5e-4;
    let plane = |step| run_with(planar_crank()?, -0.05, 0.4, step, torque());
    let space = |step| run_with(spatial_crank()?, -0.05, 0.4, step, torque());
    let (planes, spaces) = ([plane(step)?, plane(step / 2.0)?], [space(step)?, space(step / 2.0)?]);
    for (there, here) in motions.into_iter().chain(others) {
        // at the start there is no error of steps
        let (there, here) = (planes[0].output(there), spaces[0].output(here));
        let size = there.iter().fold(0.0f64, |size, v| size.max(v.abs()));
        assert!((there[0] - here[0]).abs() < 1e-12 * size, "{} {}", there[0], here[0]);
        // and later a small one
        let worst = there.iter().zip(&here).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
        assert!(worst < 1e-5 * size, "{worst:e} of {size}");
    }
    for (there, here) in motions {
        let extrapolated = |runs: &[Run; 2], name: &str| -> Vec<f64> {
            let (coarse, fine) = (runs[0].output(name), runs[1].output(name));
            coarse.iter().enumerate().map(|(i, coarse)| (4.0 * fine[2 * i] - coarse) / 3.0).collect()
        };
        let (a, b) = (extrapolated(&planes, there), extrapolated(&spaces, here));
        let size = a.iter().fold(0.0f64, |size, v| size.max(v.abs()));
        let worst = a.iter().zip(&b).fold(0.0f64, |worst, (a, b)| worst.max((a - b).abs()));
        assert!(worst < 1e-10 * size, "{worst:e} of {size}: {here}");
    }
    Ok(())
}
