//! Closed loops, with redundant rows and with starts that are open.

use super::{Angles, End, run, simulation};
use costate::cost::Quadrature;
use costate::linearise::Differentiated;
use costate::modes::Modes;
use costate::sensitivity::{Gradient, Method};
use costate::value::Value;
use costate::{InitialState, Parameter, Result};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::planar::{Body, Mechanism};

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

/// Protects starts at rest of mechanisms with rows that are left out: a pendulum on two joints at one place hangs down as one on a single joint does, and so
/// do a door on two hinges of space and a beam on three cranks; where rows are kept, the error names them and blames no spring.
#[test]
fn mechanisms_with_rows_left_out_rest() -> Result<()> {
    let pendulum = |joints: usize, policy: RedundantRows| {
        let mut mechanism = Mechanism::new("pendulum");
        mechanism.redundant_rows(policy);
        mechanism.gravity([0.0, -9.81]);
        let rod = mechanism.body("rod", Body::new(1.0, 0.1).at([0.5, 0.0], 0.0));
        for k in 0..joints {
            mechanism.revolute(&format!("joint{k}"), mechanism.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
        }
        mechanism.build()
    };
    for joints in 1..4 {
        let simulation = simulation(pendulum(joints, RedundantRows::LeaveOut)?, 0.1, 1e-3)?;
        let run = simulation.initial_state(InitialState::Equilibrium).run(&[])?;
        let q = run.state(0).q;
        assert!(q[0].abs() < 1e-10 && (q[1] + 0.5).abs() < 1e-10, "{joints}: {q:?}");
    }
    let rests = simulation(pendulum(2, RedundantRows::Keep)?, 0.1, 1e-3)?.initial_state(InitialState::Equilibrium);
    let text = rests.run(&[]).err().map(|error| error.to_string()).unwrap_or_default();
    assert!(text.contains("redundant") && text.contains("`joint1.") && !text.contains("spring"), "{text}");
    let modes = [1, 2].map(|joints| {
        let simulation = simulation(pendulum(joints, RedundantRows::LeaveOut)?, 0.1, 1e-3)?;
        let modes = Modes::of(&simulation, &[])?;
        assert!(modes.kinks(&simulation).is_empty());
        modes.sensitivities(&simulation, 1)?;
        Ok::<f64, costate::Error>(modes.modes[0].natural_frequency())
    });
    let [one, two] = modes;
    assert!((one? / two? - 1.0).abs() < 1e-9);
    // where nothing brings it back, that is said of the body, not of a row that is left out
    let mut floating = Mechanism::new("floating");
    floating.redundant_rows(RedundantRows::LeaveOut);
    floating.gravity([0.0, 0.0]);
    let rod = floating.body("rod", Body::new(1.0, 0.1).at([0.5, 0.0], 0.0));
    for name in ["one", "two"] {
        floating.revolute(name, floating.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
    }
    let angle = Parameter::new("torque", "N m", 1.0);
    let torque = floating.parameter(angle);
    floating.torque("push", &floating.ground(), &rod, torque);
    let text = simulation(floating.build()?, 0.1, 1e-3)?.initial_state(InitialState::Equilibrium).run(&[1.0]);
    let text = text.err().map(|error| error.to_string()).unwrap_or_default();
    assert!(text.contains("`rod."), "{text}");
    let cranks = simulation(parallel_cranks(3, RedundantRows::LeaveOut)?, 0.1, 1e-3)?;
    let run = cranks.initial_state(InitialState::Equilibrium).run(&[3.0])?;
    assert!(run.state(0).v.iter().chain(run.state(0).a).all(|x| x.abs() < 1e-6), "{:?}", run.state(0).a);
    Ok(())
}
