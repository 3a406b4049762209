//! Mechanisms from parts as wholes: closed forms, invariance, closed loops with redundant rows, random trees, slips.

use costate::assembly::{Assembly, RedundantRows, Value};
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::planar::{Axes, Body, FunctionOfTime, Mechanism, Member, Mounting, Sampled};
use costate::{
    Error, Gradient, Hht, InitialState, Method, Number, Parameter, Result, Signal, Simulation, State, System, TimeGrid,
    Trajectory,
};
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

fn message(build: impl Fn(&mut Mechanism)) -> String {
    let mut mechanism = Mechanism::new("trial");
    build(&mut mechanism);
    let Err(error) = mechanism.build() else { panic!("nothing was noticed") };
    error.to_string()
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

/// A beam on parallel cranks: two are enough, each more holds one direction twice. The cranks after the second are off by an angle.
fn parallel_cranks(cranks: usize, policy: RedundantRows) -> Result<Assembly> {
    open_cranks(cranks, policy, 0.0)
}

fn open_cranks(cranks: usize, policy: RedundantRows, off: f64) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("parallel_cranks");
    mechanism.redundant_rows(policy);
    let beam_mass = mechanism.parameter(Parameter::new("m_beam", "kg", 3.0));
    let (sin, cos) = 0.4f64.sin_cos();
    let reach = (cranks - 1) as f64 / 2.0;
    let beam = mechanism.body("beam", Body::new(beam_mass, 0.7).at([cos + reach, sin], 0.0));
    for i in 0..cranks {
        let x = i as f64;
        let name = format!("crank{}", i + 1);
        // only the first crank has mass worth the name: the others' would change the motion
        let (mass, inertia) = if i < 2 { (1.0, 0.1) } else { (1e-9, 1e-9) };
        let angle = if i < 2 { 0.4 } else { 0.4 + off };
        let crank = mechanism.body(&name, Body::new(mass, inertia).at([x + cos / 2.0, sin / 2.0], angle));
        let foot = mechanism.ground().at([x, 0.0]);
        mechanism.revolute(&format!("foot{}", i + 1), foot, crank.at([-0.5, 0.0]));
        mechanism.revolute(&format!("head{}", i + 1), crank.at([0.5, 0.0]), beam.at([x - reach, 0.0]));
    }
    mechanism.energy("energy");
    mechanism.build()
}

struct End;

impl CostFunction for End {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        x.q[0] * x.q[1] + x.a[1] * x.a[1] * 0.01 + x.lambda.iter().map(|l| *l * *l * 1e-4).sum::<D>()
    }
}

/// Protects closed loops that are held twice: refused by name, left out on request with the same motion, exact gradients and
/// the right number of degrees of freedom; kept on request until the equations are solved.
#[test]
fn redundant_rows_are_refused_left_out_or_kept() -> Result<()> {
    let two = parallel_cranks(2, RedundantRows::Refuse)?;
    assert_eq!((two.degrees_of_freedom(), two.left_out().len()), (1, 0));
    let Err(error) = parallel_cranks(3, RedundantRows::Refuse) else { panic!("nothing was noticed") };
    let text = error.to_string();
    assert!(text.contains("1 of its 12 constraint rows is redundant") && text.contains("`head3."), "{text}");
    let three = parallel_cranks(3, RedundantRows::LeaveOut)?;
    assert_eq!((three.degrees_of_freedom(), three.left_out().len()), (1, 1));
    assert!(three.left_out()[0].starts_with("head3."), "{:?}", three.left_out());
    let energy = run(three, 1.0, 1e-3)?.output(0);
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 1e-4 * 30.0), "{} {}", energy[0], energy[1000]);
    let (two, three) = (run(two, 1.0, 1e-3)?, run(parallel_cranks(3, RedundantRows::LeaveOut)?, 1.0, 1e-3)?);
    for i in 0..=1000 {
        let (a, b) = (two.state(i).q, three.state(i).q);
        // the beam's middle is half a metre further on; the third crank weighs a nanogram
        assert!((a[0] + 0.5 - b[0]).abs() < 1e-6 && (a[1] - b[1]).abs() < 1e-6, "{i}: {a:?} {b:?}");
    }
    let simulation = simulation(parallel_cranks(4, RedundantRows::LeaveOut)?, 0.2, 2e-3)?;
    let cost = Differentiated::new(End, Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &cost)?;
    let [mut adjoint, mut tangent, mut difference] = [[0.0]; 3];
    engine.cost_and_gradient(&[3.0], Method::Adjoint, &mut adjoint)?;
    engine.cost_and_gradient(&[3.0], Method::Tangent, &mut tangent)?;
    engine.cost_and_gradient(&[3.0], Method::Difference, &mut difference)?;
    assert!((adjoint[0] / tangent[0] - 1.0).abs() < 1e-10, "{adjoint:?} {tangent:?}");
    assert!((adjoint[0] / difference[0] - 1.0).abs() < 1e-5, "{adjoint:?} {difference:?}");
    // kept: the assembly can be made, and its simulation says what is wrong
    let error = run(parallel_cranks(3, RedundantRows::Keep)?, 0.1, 1e-3).err().map(|error| error.to_string());
    assert!(error.as_ref().is_some_and(|text| text.contains("redundant")), "{error:?}");
    Ok(())
}

/// Protects closed loops that are held twice and start a little open: redundant rows are found where the loop is closed, and a
/// projected start closes them, too.
#[test]
fn redundant_rows_are_left_out_of_open_loops() -> Result<()> {
    let open = || open_cranks(4, RedundantRows::LeaveOut, 0.02);
    let system = open()?;
    assert_eq!((system.degrees_of_freedom(), system.left_out().len()), (1, 2), "{:?}", system.left_out());
    assert!(open_cranks(3, RedundantRows::Refuse, 0.02).is_err());
    let simulation = simulation(system, 0.2, 2e-3)?.initial_state(InitialState::Projected);
    let trajectory = simulation.run(&[3.0])?;
    assert!(trajectory.start.position.iter().any(|off| *off > 5e-3), "{:?}", trajectory.start);
    for i in 0..=100 {
        let q = trajectory.state(i).q;
        let (beam, (sin, cos)) = (&q[..3], q[2].sin_cos());
        for (crank, q) in q[3..].chunks(3).enumerate() {
            let (s, c) = q[2].sin_cos();
            let x = crank as f64;
            let reach = x - 1.5;
            // rows that are left out follow from others, a few times their round-off
            for off in [q[0] - 0.5 * c - x, q[1] - 0.5 * s] {
                assert!(off.abs() < 1e-12, "foot {crank}, {i}: {off}");
            }
            for off in [q[0] + 0.5 * c - beam[0] - reach * cos, q[1] + 0.5 * s - beam[1] - reach * sin] {
                assert!(off.abs() < 1e-11, "head {crank}, {i}: {off}");
            }
        }
    }
    let cost = Differentiated::new(End, Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &cost)?;
    let [mut adjoint, mut tangent] = [[0.0]; 2];
    engine.cost_and_gradient(&[3.0], Method::Adjoint, &mut adjoint)?;
    engine.cost_and_gradient(&[3.0], Method::Tangent, &mut tangent)?;
    assert!((adjoint[0] / tangent[0] - 1.0).abs() < 1e-10, "{adjoint:?} {tangent:?}");
    Ok(())
}

/// Protects projected starts of large mechanisms: a chain of 1000 rods, one of them turned a little, is closed, with an exact
/// gradient by that turn. (Dense matrices of 5000 rows would take minutes.)
#[test]
fn long_chains_are_projected() -> Result<()> {
    let count = 1000;
    let mut mechanism = Mechanism::new("chain");
    let off = mechanism.parameter(Parameter::new("off", "rad", 0.01));
    let rate = mechanism.parameter(Parameter::new("rate", "rad/s", 0.3));
    let mut pin = mechanism.ground().at([0.0, 0.0]);
    for i in 0..count {
        let body = Body::new(1.0, 1.0 / 12.0);
        let body = if i == count / 2 {
            body.at([Value::from(i as f64 + 0.5), Value::from(0.0)], off).moving([0.0, 0.0], rate)
        } else {
            body.at([i as f64 + 0.5, 0.0], 0.0)
        };
        let rod = mechanism.body(&format!("rod{i}"), body);
        mechanism.revolute(&format!("pin{i}"), pin, rod.at([-0.5, 0.0]));
        pin = rod.at([0.5, 0.0]);
    }
    let simulation = simulation(mechanism.build()?, 4e-3, 2e-3)?.initial_state(InitialState::Projected);
    let u = [0.01, 0.3];
    let trajectory = simulation.run(&u)?;
    let (mut end, mut gap) = ([0.0f64; 2], 0.0f64);
    for q in trajectory.state(0).q.chunks(3) {
        let (sin, cos) = q[2].sin_cos();
        gap = gap.max((q[0] - 0.5 * cos - end[0]).abs()).max((q[1] - 0.5 * sin - end[1]).abs());
        end = [q[0] + 0.5 * cos, q[1] + 0.5 * sin];
    }
    // positions of up to 1000 m have a round-off of 1e-13 m
    assert!(gap < 1e-12 && trajectory.start.position.iter().any(|off| *off > 1e-3), "{gap}");
    let turned = trajectory.state(0).q[3 * (count / 2) + 2];
    assert!(turned > 0.1 * u[0] && turned < u[0], "a part of the turn is taken back: {turned}");
    let cost = Differentiated::new(Angles, Quadrature::Trapezoid);
    let mut engine = Gradient::new(&simulation, &cost)?;
    let [mut adjoint, mut tangent] = [[0.0; 2]; 2];
    engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint)?;
    engine.cost_and_gradient(&u, Method::Tangent, &mut tangent)?;
    for (adjoint, tangent) in adjoint.iter().zip(tangent) {
        assert!((adjoint / tangent - 1.0).abs() < 1e-9, "{adjoint:e} {tangent:e}");
    }
    Ok(())
}

/// The turns of all bodies.
struct Angles;

impl CostFunction for Angles {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, _y: &[D], _u: &[D]) -> D {
        let bodies = x.q.chunks_exact(3).zip(x.v.chunks_exact(3));
        bodies.map(|(q, v)| q[2] * q[2] * 1e3 + v[2] * v[2]).sum()
    }
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
