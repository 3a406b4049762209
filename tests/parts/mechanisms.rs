//! Mechanisms from parts as wholes: closed forms, invariance, friction, random trees.

mod loops;
mod slips;

use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::scheme::Hht;
use costate::sensitivity::{Gradient, Method};
use costate::system::System;
use costate::value::Value;
use costate::{InitialState, Number, Parameter, Result, Signal, Simulation, State, TimeGrid, Trajectory};
use costate_parts::assembly::Assembly;
use costate_parts::law::{Axes, FunctionOfTime};
use costate_parts::planar::{Body, Mechanism, Member, Mounting};
use costate_parts::sampled::Sampled;
use proptest::prelude::*;
use std::f64::consts::PI;
use std::sync::Arc;

fn simulation(system: Assembly, end: f64, step: f64) -> Result<Simulation> {
    Simulation::new(Arc::new(system), Hht::new(-0.05)?, TimeGrid::uniform(0.0, end, step)?, vec![])
}

fn run(system: Assembly, end: f64, step: f64) -> Result<Trajectory> {
    let nominal = system.signature().nominal();
    simulation(system, end, step)?.run(&nominal)
}

/// Protects the parts against closed forms: free flight, a flywheel that spins on, a spring and mass, a hanging rod's period,
/// and the first instant of a chain that is let go.
#[test]
fn closed_forms() -> Result<()> {
    let mut mechanism = Mechanism::new("flight");
    let ball = mechanism.point_moving("ball", 2.0, [1.0, 2.0], [3.0, 4.0]);
    mechanism.free(&ball);
    let wheel = mechanism.body("wheel", Body::new(1.0, 0.5).moving([0.0, 0.0], 7.0));
    mechanism.revolute("axle", mechanism.ground().at([0.0, 0.0]), wheel.at([0.0, 0.0]));
    let flight = run(mechanism.build()?, 1.0, 1e-3)?;
    let x = flight.state(1000);
    // constant accelerations are integrated exactly
    assert!((x.q[0] - 4.0).abs() < 1e-12 && (x.q[1] - (6.0 - 0.5 * 9.81)).abs() < 1e-12, "{:?}", x.q);
    assert!((x.q[4] - 7.0).abs() < 1e-12 && (x.v[4] - 7.0).abs() < 1e-12, "{:?}", x.q);

    let mut mechanism = Mechanism::new("spring_mass");
    mechanism.gravity([0.0, 0.0]);
    let block = mechanism.body("block", Body::new(2.0, 0.1).at([1.25, 0.0], 0.0));
    mechanism.prismatic("rail", mechanism.ground().at([0.0, 0.0]), block.at([0.0, 0.0]), 0.0, 0.0);
    mechanism.spring("spring", mechanism.ground().at([0.0, 0.0]), block.at([0.0, 0.0]), 1.0, 50.0, 0.0);
    let period = 2.0 * PI / 5.0;
    let swing = run(mechanism.build()?, 2.0 * period, period / 4000.0)?;
    for (i, expected) in [(0, 1.25), (2000, 0.75), (4000, 1.25), (8000, 1.25)] {
        // second order: (ω h)² a few times, and the damping of α
        assert!((swing.state(i).q[0] - expected).abs() < 1e-5, "{i}: {}", swing.state(i).q[0]);
    }

    // a rod through a small angle: ω² = m g (l/2) / (m l²/3)
    let mut mechanism = Mechanism::new("rod");
    let angle = 1e-4;
    let center = [0.5 * f64::sin(angle), -0.5 * f64::cos(angle)];
    let rod = mechanism.body("rod", Body::new(1.7, 1.7 / 12.0).at(center, angle - PI / 2.0));
    mechanism.revolute("pin", mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
    let period = 2.0 * PI / (1.5 * 9.81f64).sqrt();
    let swing = run(mechanism.build()?, period, period / 4000.0)?;
    let end = swing.state(4000).q[2] + PI / 2.0;
    assert!((end / angle - 1.0).abs() < 1e-5, "{end}");

    // two rods, horizontal, let go: the equations of the textbook, solved by hand (m = l = 1: 4/3 a + 1/2 b = 3/2 g, 1/2 a + 1/3 b = g/2)
    let chain = costate_models::pendulum_chain::pendulum_chain(2)?;
    let start = run(chain, 1e-3, 1e-3)?;
    let expected = [-9.0 / 7.0 * 9.81, 3.0 / 7.0 * 9.81];
    for (seen, expected) in [start.state(0).a[2], start.state(0).a[5]].iter().zip(expected) {
        assert!((seen - expected).abs() < 1e-12 * expected.abs(), "{seen} {expected}");
    }
    Ok(())
}

/// A rod on an axle whose angle follows samples of a function, with gain and offset.
fn driven_rod(times: &[f64], function: impl Fn(f64) -> f64) -> Result<Assembly> {
    let values: Vec<f64> = times.iter().map(|t| function(*t)).collect();
    let mut mechanism = Mechanism::new("driven_rod");
    let gain = mechanism.parameter(Parameter::new("gain", "1", 1.0));
    let offset = mechanism.parameter(Parameter::new("offset", "rad", 0.0));
    let rod = mechanism.body("rod", Body::new(1.0, 0.1).at([0.5, 0.0], 0.0));
    mechanism.revolute("axle", mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
    mechanism.drive("motor", rod.coordinates()[2], Sampled::new(times, &values)?, [gain, offset]);
    mechanism.build()
}

/// Protects coordinates that follow measured motion: samples of a cubic, even and uneven, are followed exactly, with the cubic's
/// velocity and acceleration at the start; those of a sine to the fourth order of their step; and nobody leaves their range.
#[test]
fn a_sampled_motion_is_followed() -> Result<()> {
    let [gain, offset] = [1.5, -0.2];
    let cubic = |t: f64| 0.3 - t + 2.0 * t * t - 1.2 * t * t * t;
    let even: Vec<f64> = (0..21).map(|k| 0.05 * f64::from(k)).collect();
    let uneven: Vec<f64> = (0..21).map(|k| 0.0025 * f64::from(k * k)).collect();
    let follow = |times: &[f64], function: fn(f64) -> f64, end: f64| -> Result<Trajectory> {
        let simulation = simulation(driven_rod(times, function)?, end, 5e-3)?.initial_state(InitialState::Projected);
        simulation.run(&[gain, offset])
    };
    for times in [&even, &uneven] {
        let trajectory = follow(times, cubic, 1.0)?;
        let start = trajectory.state(0);
        // round-off of the values, divided by the first interval (2.5 ms at least) and by its square
        assert!((start.v[2] + gain).abs() < 1e-12 && (start.a[2] - 4.0 * gain).abs() < 5e-10, "{start:?}");
        for (i, t) in trajectory.times().iter().enumerate() {
            let off = trajectory.state(i).q[2] - (gain * cubic(*t) + offset);
            // constraints of positions are solved for
            assert!(off.abs() < 1e-13, "t = {t}: {off}");
        }
    }
    let sine = |t: f64| (6.0 * t).sin();
    let worst = |step: f64| -> Result<f64> {
        let times: Vec<f64> = (0..=(1.0 / step).round() as usize).map(|k| k as f64 * step).collect();
        let trajectory = follow(&times, sine, 1.0)?;
        let off = |i: usize| (trajectory.state(i).q[2] - gain * sine(trajectory.times()[i]) - offset).abs();
        Ok((0..trajectory.times().len()).map(off).fold(0.0, f64::max))
    };
    let order = (worst(0.05)? / worst(0.025)?).log2();
    assert!((3.7..4.5).contains(&order), "{order}");

    let text = |result: Result<Trajectory>| result.map(|_| ()).unwrap_err().to_string();
    let late = text(follow(&even, cubic, 1.2));
    assert!(late.contains("motion `motor`") && late.contains("from 1 s to 1.2 s"), "{late}");
    let early = text(follow(&even[2..], cubic, 0.5));
    assert!(early.contains("from 0 s to 0.1 s"), "{early}");
    let error = |result: Result<Sampled>| result.map(|_| ()).unwrap_err().to_string();
    assert!(error(Sampled::new(&even[..3], &[0.0; 3])).contains("needs 4 samples"));
    assert!(error(Sampled::new(&[0.0, 1.0, 1.0, 2.0], &[0.0; 4])).contains("repeated"));
    assert!(error(Sampled::new(&even[..4], &[0.0, f64::NAN, 0.0, 0.0])).contains("NaN"));
    let mut mechanism = Mechanism::new("trial");
    let point = mechanism.point("cart", 1.0, [0.0, 0.0]);
    mechanism.drive("motor", point.coordinates()[0], Sampled::new(&even, &[0.0; 21])?, [1.0]);
    let text = mechanism.build().err().map(|error| error.to_string());
    assert!(text.as_ref().is_some_and(|text| text.contains("`motor`") && text.contains("panics")), "{text:?}");
    Ok(())
}

/// A slider-crank with spring and accelerometer in a world that is turned and moved. Outputs: accelerometer (2), length of the
/// spring, energy.
fn in_a_turned_world(turn: f64, origin: [f64; 2]) -> Result<Assembly> {
    let (sin, cos) = turn.sin_cos();
    let place = |[x, y]: [f64; 2]| [origin[0] + cos * x - sin * y, origin[1] + sin * x + cos * y];
    let direction = |[x, y]: [f64; 2]| [cos * x - sin * y, sin * x + cos * y];
    let mut mechanism = Mechanism::new("turned");
    mechanism.gravity(direction([0.0, -9.81]));
    let (sin_a, cos_a) = 0.7f64.sin_cos();
    let end = [0.3 * cos_a, 0.3 * sin_a];
    let sink = -(end[1] / 0.8f64).asin();
    let slider_at = end[0] + 0.8 * sink.cos();
    let crank = mechanism.body("crank", Body::new(1.2, 0.02).at(place([end[0] / 2.0, end[1] / 2.0]), 0.7 + turn));
    let middle = [end[0] + 0.4 * sink.cos(), end[1] + 0.4 * sink.sin()];
    let rod = mechanism.body("rod", Body::new(0.8, 0.05).at(place(middle), sink + turn));
    let slider = mechanism.body("slider", Body::new(0.5, 0.01).at(place([slider_at, 0.0]), turn));
    let ground = mechanism.ground();
    mechanism.revolute("main", ground.at(place([0.0, 0.0])), crank.at([-0.15, 0.0]));
    mechanism.revolute("crank pin", crank.at([0.15, 0.0]), rod.at([-0.4, 0.0]));
    mechanism.revolute("piston pin", rod.at([0.4, 0.0]), slider.at([0.0, 0.0]));
    mechanism.prismatic("guide", ground.at(place([0.0, 0.0])), slider.at([0.0, 0.0]), turn, turn);
    let spring = mechanism.spring("spring", ground.at(place([1.5, 0.2])), slider.at([0.05, 0.02]), 0.5, 300.0, 2.0);
    mechanism.accelerometer("sensor", rod.at([0.1, 0.05]), Mounting::default());
    mechanism.strut_sensor("stretch", &spring);
    mechanism.energy("energy");
    mechanism.build()
}

/// Protects against a preferred direction or origin: the same mechanism in a turned and moved world measures the same.
#[test]
fn a_turned_and_moved_world_changes_nothing() -> Result<()> {
    let outputs = |turn, origin| -> Result<Vec<Vec<f64>>> {
        let system = in_a_turned_world(turn, origin)?;
        let count = system.signature().outputs.len();
        let trajectory = run(system, 0.5, 5e-3)?;
        Ok((0..count).map(|k| trajectory.output(k)).collect())
    };
    let plain = outputs(0.0, [0.0, 0.0])?;
    assert!(plain.len() >= 4);
    for (turn, origin) in [(1.1, [0.0, 0.0]), (0.0, [3.0, -2.0]), (-2.4, [5.0, 7.0])] {
        let moved = outputs(turn, origin)?;
        for (k, (one, other)) in plain.iter().zip(&moved).enumerate() {
            let size = one.iter().fold(1.0f64, |size, y| size.max(y.abs()));
            // energy counts from the world's origin; positions of several metres have a round-off of 1e-15 m, which steps of
            // 5e-3 s turn into some 1e-10 m/s² of acceleration, a hundred times that where links stand badly
            let shift = one[0] - other[0];
            let off = one.iter().zip(other).fold(0.0f64, |off, (a, b)| off.max((a - b - shift).abs()));
            assert!(off < 5e-8 * size, "turned by {turn}, moved by {origin:?}: output {k} differs by {off} of {size}");
            let is_energy = k + 1 == plain.len();
            assert!(is_energy || shift.abs() < 1e-9 * size, "turned by {turn}: output {k} is off by {shift}");
        }
    }
    Ok(())
}

struct End;

impl CostFunction for End {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        x.q[0] * x.q[1] + x.a[1] * x.a[1] * 0.01 + x.lambda.iter().map(|l| *l * *l * 1e-4).sum::<D>()
    }
}

/// The turns of all bodies.
struct Angles;

impl CostFunction for Angles {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        let bodies = x.q.chunks_exact(3).zip(x.v.chunks_exact(3));
        bodies.map(|(q, v)| q[2] * q[2] * 1e3 + v[2] * v[2]).sum()
    }
}

/// A coordinate that stays.
struct Still;

impl FunctionOfTime for Still {
    fn at<D: Number>(&self, _t: D, _u: &[D]) -> D {
        D::from(0.0)
    }
}

/// A flywheel of 0.01 kg m² in a bearing with dry friction whose transition rate is small beside what a step of a millisecond
/// changes, turned by a torque.
fn rubbing(transition: f64) -> Result<Simulation> {
    let mut m = Mechanism::new("rubbing");
    let torque = m.input("torque", "N m");
    // where static friction is larger than Coulomb's, such a step has several solutions
    let friction = [("coulomb", "N m", 0.5), ("stick", "N m", 0.5)];
    let [coulomb, stick] = friction.map(|(name, unit, value)| m.parameter(Parameter::new(name, unit, value)));
    let wheel = m.body("wheel", Body::new(1.0, 0.01).moving([0.0, 0.0], 1.0));
    let ground = m.ground();
    m.revolute("bearing", ground.at([0.0, 0.0]), wheel.at([0.0, 0.0]));
    m.joint_friction("friction", &ground, &wheel, [coulomb, stick, Value::from(transition), Value::from(0.0)]);
    m.torque("motor", &ground, &wheel, torque);
    m.angle("wheel angle", &ground, &wheel);
    let turn = |t: f64| if t < 0.1 { 0.0 } else { 0.9 * (20.0 * PI * (t - 0.1)).sin() };
    let grid = TimeGrid::uniform(0.0, 0.3, 1e-3)?;
    Simulation::new(Arc::new(m.build()?), Hht::new(-0.05)?, grid, vec![Signal::function(turn)])
}

/// Protects steps on which full Newton steps go in circles: friction that changes its sign within a step is gone through with
/// shortened ones. The wheel comes to rest where Coulomb's law says, stays there, and moves on when the torque is large enough; gradients
/// are exact all the same.
#[test]
fn stiff_friction_is_gone_through() -> Result<()> {
    for transition in [1e-2, 1e-3, 1e-4] {
        let simulation = rubbing(transition)?;
        let u = [0.5, 0.5];
        let trajectory = simulation.run(&u)?;
        let (angle, rate) = (trajectory.output(0), trajectory.output(1));
        // 1 rad/s less 50 rad/s² t: at rest after 0.02 s and 0.01 rad
        assert!((angle[50] - 0.01).abs() < 5e-4 && rate[50].abs() < 2.0 * transition, "{transition}: {}", angle[50]);
        assert!((angle[99] - angle[50]).abs() < 0.05 * transition, "{transition}");
        assert!(rate.iter().skip(100).any(|rate| *rate > 0.5), "it breaks loose");
        let cost = Differentiated::new(Angles, Quadrature::Trapezoid);
        let mut engine = Gradient::new(&simulation, &cost)?;
        let [mut adjoint, mut tangent] = [[0.0; 2]; 2];
        engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint)?;
        engine.cost_and_gradient(&u, Method::Tangent, &mut tangent)?;
        for (adjoint, tangent) in adjoint.iter().zip(tangent) {
            assert!((adjoint / tangent - 1.0).abs() < 1e-8, "{transition}: {adjoint:e} {tangent:e}");
        }
    }
    Ok(())
}

/// A random tree of bodies, hung up at the ground: each member hangs at an earlier one by a pin, a pin with friction, a
/// spring or a rod.
#[derive(Debug, Clone)]
struct Limb {
    parent: usize,
    joint: usize,
    mass: f64,
    length: f64,
    angle: f64,
    rate: f64,
}

fn limb() -> impl Strategy<Value = Limb> {
    (0usize..100, 0usize..4, 0.3..3.0f64, 0.3..1.5f64, -3.0..3.0f64, -2.0..2.0f64)
        .prop_map(|(parent, joint, mass, length, angle, rate)| Limb { parent, joint, mass, length, angle, rate })
}

fn tree(limbs: &[Limb]) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("tree");
    let push = mechanism.input("push", "N");
    // end of each member: position, and velocity
    let mut members: Vec<(Member, [f64; 2], [f64; 2], f64)> = vec![(mechanism.ground(), [0.0; 2], [0.0; 2], 0.0)];
    for (i, limb) in limbs.iter().enumerate() {
        let (parent, at, moving, reach) = members[limb.parent % members.len()].clone();
        let (sin, cos) = limb.angle.sin_cos();
        let half = limb.length / 2.0;
        let mut param = |kind: &str, unit: &str, value| {
            mechanism.parameter(Parameter::new(format!("{kind}{}", i + 1), unit, value))
        };
        let (mass, stiffness) = (param("m", "kg", limb.mass), param("c", "N/m", 40.0 * limb.mass));
        let damping = param("d", "N m s", 0.1 * limb.mass);
        // springs and rods leave a gap of a tenth of a metre along the limb
        let gap = if limb.joint < 2 { 0.0 } else { 0.1 };
        let start = [at[0] + gap * cos, at[1] + gap * sin];
        let name = format!("limb{}", i + 1);
        let turn = |r: f64| [moving[0] - limb.rate * r * sin, moving[1] + limb.rate * r * cos];
        let body = Body::new(mass, mass * (limb.length * limb.length / 12.0))
            .at([start[0] + half * cos, start[1] + half * sin], limb.angle)
            .moving(turn(gap + half), limb.rate);
        let body = mechanism.body(&name, body);
        let (first, second) = (parent.at([reach, 0.0]), body.at([-half, 0.0]));
        let joint = format!("joint{}", i + 1);
        match limb.joint {
            0 => drop(mechanism.revolute(&joint, first, second)),
            1 => {
                mechanism.revolute(&joint, first, second);
                // limbs start several radians from where it is free of torque
                mechanism.torsion(&format!("friction{}", i + 1), &parent, &body, stiffness * 0.01, damping * 0.1);
            }
            2 => drop(mechanism.spring(&joint, first, second, 0.1, stiffness, damping)),
            _ => drop(mechanism.rod(&joint, first, second, 0.1)),
        }
        let end = [start[0] + limb.length * cos, start[1] + limb.length * sin];
        members.push((body, end, turn(gap + limb.length), half));
    }
    let (last, ..) = &members[members.len() - 1];
    mechanism.force("push", last.at([0.1, 0.2]), [0.6, 0.8], Axes::Body, push);
    mechanism.acceleration("sensor", last.at([0.0, 0.1]), Axes::Body);
    mechanism.build()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    /// Protects exactness for mechanisms that nobody thought of: adjoint and tangent gradients of random trees agree.
    #[test]
    fn gradients_of_random_trees_agree(limbs in prop::collection::vec(limb(), 1..7)) {
        let system = tree(&limbs).unwrap();
        let u = system.signature().nominal();
        let constraints = system.signature().constraints.len();
        prop_assert_eq!(system.degrees_of_freedom(), 3 * limbs.len() - constraints);
        let grid = TimeGrid::uniform(0.0, 0.1, 2e-3).unwrap();
        let signal = Signal::function(|t| 2.0 * (9.0 * t).sin());
        let simulation = Simulation::new(Arc::new(system), Hht::new(-0.1).unwrap(), grid, vec![signal]).unwrap();
        let cost = Differentiated::new(End, Quadrature::Trapezoid);
        let mut engine = Gradient::new(&simulation, &cost).unwrap();
        let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        let one = engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
        let other = engine.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
        prop_assert_eq!(one, other);
        let scaled = |gradient: &[f64]| gradient.iter().zip(&u).map(|(g, u)| g * u).collect::<Vec<f64>>();
        let (adjoint, tangent) = (scaled(&adjoint), scaled(&tangent));
        let size = adjoint.iter().fold(one.abs(), |size, g| size.max(g.abs()));
        for (a, b) in adjoint.iter().zip(&tangent) {
            prop_assert!((a - b).abs() < 1e-10 * size, "{} {} {}", a, b, size);
        }
    }
}
