//! A serial robot from a table of its links: motor torques as inputs, friction in the joints, masses and centres unknown.

use crate::named;
use costate::cost::{Aim, Goal};
use costate::value::Value;
use costate::{Parameter, Result, Signal};
use costate_identify::control::{ControlScenario, Shape, UnknownSignal};
use costate_identify::optimise::Method;
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Mounting};
use std::sync::Arc;

/// A link with the joint that carries it.
#[derive(Debug, Clone, Copy)]
pub struct Link {
    /// The joint's place on the link before (on the ground for the first), m, in that one's axes.
    pub joint: [f64; 3],
    /// Axis of the joint, in the axes of both links; without torque all links' axes are parallel to the world's.
    pub axis: [f64; 3],
    /// Mass, kg.
    pub mass: f64,
    /// Centre of mass, m, from the joint.
    pub center: [f64; 3],
    /// I_11, I_22, I_33, I_12, I_13, I_23 about the centre of mass, kg m².
    pub inertia: [f64; 6],
    /// Coulomb torque (N m) and viscous coefficient (N m s/rad).
    pub friction: [f64; 2],
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// An arm with six joints of some 30 kg and 1.3 m reach; the numbers are ours, of the size of industrial arms.
pub const SIX_AXES: [Link; 6] = [
    Link {
        joint: [0.0, 0.0, 0.2],
        axis: Z,
        mass: 9.0,
        center: [0.02, 0.01, 0.12],
        inertia: [0.10, 0.09, 0.06, 0.002, -0.003, 0.001],
        friction: [2.0, 3.0],
    },
    Link {
        joint: [0.0, 0.0, 0.25],
        axis: Y,
        mass: 8.0,
        center: [0.03, -0.02, 0.26],
        inertia: [0.22, 0.21, 0.03, 0.001, 0.004, -0.002],
        friction: [2.5, 4.0],
    },
    Link {
        joint: [0.0, 0.0, 0.5],
        axis: Y,
        mass: 5.5,
        center: [0.12, 0.01, 0.03],
        inertia: [0.02, 0.07, 0.07, -0.002, 0.003, 0.001],
        friction: [1.5, 2.0],
    },
    Link {
        joint: [0.3, 0.0, 0.05],
        axis: X,
        mass: 3.5,
        center: [0.1, 0.0, 0.01],
        inertia: [0.008, 0.02, 0.02, 0.0005, -0.001, 0.0002],
        friction: [0.8, 0.6],
    },
    Link {
        joint: [0.25, 0.0, 0.0],
        axis: Y,
        mass: 2.0,
        center: [0.03, 0.005, 0.0],
        inertia: [0.003, 0.004, 0.004, 0.0001, 0.0002, 0.0001],
        friction: [0.5, 0.3],
    },
    Link {
        joint: [0.08, 0.0, 0.0],
        axis: X,
        mass: 1.2,
        center: [0.05, 0.004, -0.003],
        inertia: [0.001, 0.0015, 0.0014, 0.0, 0.0001, 0.0],
        friction: [0.3, 0.15],
    },
];

/// Torques that hold the arm against gravity at the start, nearly, N m.
const HOLDING: [f64; 6] = [0.0, -38.0, -38.0, 0.0, -2.0, 0.0];

/// Torques that hold the arm of so many joints about where it starts and shake it, N m.
pub fn torque(joint: usize, t: f64) -> f64 {
    // and a swing of a frequency of its own
    let (hold, swing) = (HOLDING[joint % 6], [9.0, 22.0, 14.0, 2.5, 1.6, 0.4][joint % 6]);
    hold + swing * (f64::from(u32::try_from(joint).unwrap_or(0)) * 1.3 + 5.0 * t).sin()
}

/// The rate (rad/s) at which the smoothed dry friction of a joint has come up.
const TRANSITION: f64 = 0.3;

/// An arm of these links, at rest at the start. Parameters of link i: `m{i}`, the centre of mass `cx{i}`, `cy{i}`, `cz{i}`, the
/// friction `Fc{i}` (N m) and `Fv{i}` (N m s/rad). Inputs: torques of the motors. Outputs: angle, rate and acceleration of each joint,
/// the tip's position and what an accelerometer feels there.
///
/// # Errors
/// No links, or a link that no body can be.
pub fn robot_arm(name: &str, links: &[Link]) -> Result<Assembly> {
    let mut mechanism = Mechanism::new(name);
    let mut last = mechanism.ground();
    let mut place = [0.0; 3];
    let mut joints = Vec::new();
    for (i, link) in links.iter().enumerate() {
        let i = i + 1;
        let positive = |name: String, unit: &str, value: f64| Parameter::new(name, unit, value).non_negative();
        let mass = mechanism.parameter(positive(format!("m{i}"), "kg", link.mass));
        let center = [("x", 0), ("y", 1), ("z", 2)]
            .map(|(axis, k)| mechanism.parameter(Parameter::new(format!("c{axis}{i}"), "m", link.center[k]).size(0.1)));
        let coulomb = mechanism.parameter(positive(format!("Fc{i}"), "N m", link.friction[0]));
        let viscous = mechanism.parameter(positive(format!("Fv{i}"), "N m s/rad", link.friction[1]));
        place = [0, 1, 2].map(|k| place[k] + link.joint[k]);
        let body = Body::new(mass, Inertia::entries(link.inertia)).center(center).at(place);
        let body = mechanism.body(&format!("link{i}"), body);
        let joint = mechanism.revolute(
            &format!("joint{i}"),
            last.at(link.joint).axis(link.axis),
            body.at([0.0; 3]).axis(link.axis),
        );
        let friction = [coulomb, coulomb, Value::from(TRANSITION), viscous];
        mechanism.joint_friction(&format!("friction{i}"), &joint, Freedom::Turn, friction);
        let input = mechanism.input(&format!("torque{i}"), "N m");
        mechanism.motor(&format!("motor{i}"), &joint, Freedom::Turn, input);
        joints.push(joint);
        last = body;
    }
    for (i, joint) in joints.iter().enumerate() {
        mechanism.joint_sensor(&format!("q{}", i + 1), joint, Freedom::Turn);
    }
    let tip = last.at([0.1, 0.0, 0.0]);
    mechanism.position("tip", tip.clone());
    mechanism.accelerometer("felt", tip, Mounting::default());
    mechanism.build()
}

/// Angles of the joints after a second, rad, which control aims at.
pub const POSE: [f64; 6] = [0.6, 0.4, -0.5, 0.5, 0.4, -0.6];
/// The largest torques of the motors, N m.
pub const LIMITS: [f64; 6] = [60.0, 120.0, 70.0, 15.0, 10.0, 3.0];

/// The least torques that take the arm of [`SIX_AXES`] from where it starts to [`POSE`] in a second, at rest at both ends, within the limits of
/// its motors.
pub fn pose_to_pose() -> ControlScenario {
    let start = HOLDING.map(Signal::constant).to_vec();
    let signals = LIMITS.into_iter().enumerate().map(|(k, limit)| {
        UnknownSignal::new(format!("torque{}", k + 1), limit)
            .shaped(Shape::Cubic)
            .intervals(10)
            .bounded(-limit, limit)
            .effort(1e-2, 0.0)
    });
    let mut scenario = ControlScenario::new(start, signals.collect(), |_| {
        let goals = (1..=6).zip(POSE).flat_map(|(k, angle)| {
            [
                Goal::new(format!("q{k}.angle"), Aim::Reach(angle)).weighted(10.0).exactly(),
                Goal::new(format!("q{k}.rate"), Aim::Reach(0.0)).exactly(),
            ]
        });
        goals.collect()
    });
    // the last links are light, and friction in their joints is quick: steps must be short
    scenario.step = Some(2.5e-3);
    scenario.refinements = 1;
    scenario.method = Method::LBfgs { memory: 30 };
    scenario
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        end: 1.0,
        step: 5e-4,
        signals: (0..6).map(|k| Signal::function(move |t| torque(k, t))).collect(),
        start: named([("m2", 7.0), ("m3", 6.0), ("cx3", 0.1), ("Fc2", 2.0), ("Fv2", 5.0), ("Fv3", 1.5)]),
        outputs: (1..=6).map(|k| format!("q{k}.angle")).collect(),
        ..Scenario::default()
    };
    registry
        .with_system(
            "robot with six joints from a table of its links, with motor torques and friction",
            Arc::new(robot_arm("robot_arm", &SIX_AXES)?),
            scenario,
        )?
        .with_control("robot_arm", pose_to_pose())
}
