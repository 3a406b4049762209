//! First-order states of parts: against plain models, dense and sparse, at rest, and what is refused.

use crate::common;
use costate::modes::Modes;
use costate::system::System;
use costate::{InitialState, Number, Signal, Simulation, TimeGrid, Trajectory};
use costate_identify::problem::Integrator;
use costate_models::bouc_wen::{self};
use costate_models::dc_motor;
use costate_parts::assembly::{Assembler, Assembly, Connection, Element, StateVariable};
use costate_parts::{law, planar, spatial};
use std::sync::Arc;

fn simulation(system: Arc<dyn System>, h: f64, count: usize, signal: fn(f64) -> f64) -> Simulation {
    let integrator = Integrator { scheme: "i2p".into(), settings: Vec::new(), ..Integrator::hht(0.0) };
    integrator.simulation(system, TimeGrid::steps(0.0, h, count).unwrap(), vec![Signal::function(signal)]).unwrap()
}

/// The largest difference of two series beside the largest value.
fn apart(own: &[f64], expected: &[f64]) -> f64 {
    let size = expected.iter().fold(0.0f64, |size, x| size.max(x.abs()));
    own.iter().zip(expected).fold(0.0f64, |most, (a, b)| most.max((a - b).abs())) / size
}

/// Values of a state over a run of an assembly.
fn state(simulation: &Simulation, run: &Trajectory, name: &str) -> Vec<f64> {
    let signature = simulation.signature();
    let place = signature.coordinates.len() + signature.states.iter().position(|state| state.name == name).unwrap();
    (0..run.times().len()).map(|i| run.state(i).v[place]).collect()
}

const HYSTERESIS: [f64; 5] = [5e4, 10.0, 5e4, 800.0, -1100.0];

/// A mass of 2 kg on a hysteretic spring along x, which a force pushes.
fn hysteretic(dense: bool) -> Assembly {
    let mut mechanism = planar::Mechanism::new("hysteretic");
    mechanism.gravity([0.0, 0.0]);
    let mass = mechanism.point("mass", 2.0, [1.0, 0.0]);
    let (foot, end) = (mechanism.ground().at([0.0, 0.0]), mass.at([0.0, 0.0]));
    mechanism.strut("spring", foot, end, 1.0, law::BoucWen, HYSTERESIS);
    let force = mechanism.input("F", "N");
    mechanism.force("push", mass.at([0.0, 0.0]), [1.0, 0.0], law::Axes::World, force);
    if !dense {
        mechanism.assembler().dense_up_to(0);
    }
    mechanism.build().unwrap()
}

/// The same in space.
fn hysteretic_in_space() -> Assembly {
    let mut mechanism = spatial::Mechanism::new("hysteretic");
    mechanism.gravity([0.0, 0.0, 0.0]);
    let mass = mechanism.point("mass", 2.0, [0.0, 1.0, 0.0]);
    let (foot, end) = (mechanism.ground().at([0.0; 3]), mass.at([0.0; 3]));
    mechanism.strut("spring", foot, end, 1.0, law::BoucWen, HYSTERESIS);
    let force = mechanism.input("F", "N");
    mechanism.force("push", mass.at([0.0; 3]), [0.0, 1.0, 0.0], law::Axes::World, force);
    mechanism.build().unwrap()
}

/// Protects laws with states in both builders, with dense and with sparse matrices: a mass on a Bouc-Wen strut moves as the plain model.
#[test]
fn a_hysteretic_strut_is_the_plain_model() {
    let nominal = common::ready("bouc_wen").signature().nominal();
    let plain = simulation(common::ready("bouc_wen"), 5e-4, 400, bouc_wen::excitation);
    let plain = plain.run(&nominal).unwrap();
    let (x, z) = (plain.output(0), plain.output(1));
    for (name, along, system) in
        [("dense", 0, hysteretic(true)), ("sparse", 0, hysteretic(false)), ("space", 1, hysteretic_in_space())]
    {
        let own = simulation(Arc::new(system), 5e-4, 400, bouc_wen::excitation);
        assert_eq!(own.signature().states[0].to_string(), "spring.z [N]");
        let run = own.run(&[]).unwrap();
        let moved: Vec<f64> = (0..x.len()).map(|i| run.state(i).q[along] - 1.0).collect();
        // positions near 1 m lose digits of displacements of a millimetre
        assert!(apart(&moved, &x) < 1e-9, "{name}: {:e}", apart(&moved, &x));
        assert!(apart(&state(&own, &run, "spring.z"), &z) < 1e-9, "{name}");
    }
}

/// A rotor on a pin with friction of its bearing, a motor, and a return spring.
fn rotor(stiffness: f64) -> Assembly {
    let mut mechanism = planar::Mechanism::new("rotor");
    let rotor = mechanism.body("rotor", planar::Body::new(1.0, 0.01));
    let ground = mechanism.ground();
    mechanism.revolute("bearing", ground.at([0.0, 0.0]), rotor.at([0.0, 0.0]));
    mechanism.torsion("spring", &ground, &rotor, stiffness, 0.1);
    let voltage = mechanism.input("voltage", "V");
    mechanism.dc_motor("motor", &ground, &rotor, voltage, [0.01, 1.0, 0.5]);
    mechanism.angle("encoder", &ground, &rotor);
    mechanism.build().unwrap()
}

/// The same on a hinge of space, along a slanted axis.
fn rotor_in_space() -> Assembly {
    let mut mechanism = spatial::Mechanism::new("rotor");
    mechanism.gravity([0.0, 0.0, 0.0]);
    let rotor = mechanism.body("rotor", spatial::Body::new(1.0, spatial::Inertia::diagonal([0.01, 0.01, 0.01])));
    let axis = [1.0, 2.0, -1.0];
    let (foot, end) = (mechanism.ground().at([0.0; 3]).axis(axis), rotor.at([0.0; 3]).axis(axis));
    let bearing = mechanism.revolute("bearing", foot, end);
    mechanism.joint_spring("friction", &bearing, spatial::Freedom::Turn, 0.0, 0.1);
    let voltage = mechanism.input("voltage", "V");
    let current = mechanism.dc_motor("motor", &bearing, spatial::Freedom::Turn, voltage, [0.01, 1.0, 0.5]);
    mechanism.state_sensor("current", current.unwrap());
    mechanism.joint_sensor("hinge", &bearing, spatial::Freedom::Turn);
    mechanism.build().unwrap()
}

/// Protects motors with inductance on joints of the plane and of space: currents are those of the plain model.
#[test]
fn motors_on_joints_are_the_plain_model() {
    let nominal = common::ready("dc_motor").signature().nominal();
    let plain = simulation(common::ready("dc_motor"), 5e-3, 400, dc_motor::voltage).run(&nominal).unwrap();
    let flat = simulation(Arc::new(rotor(0.0)), 5e-3, 400, dc_motor::voltage);
    let run = flat.run(&[]).unwrap();
    assert!(apart(&state(&flat, &run, "motor.current"), &plain.output(1)) < 1e-11);
    assert!(apart(&run.output(1), &plain.output(0)) < 1e-11);
    let space = simulation(Arc::new(rotor_in_space()), 5e-3, 400, dc_motor::voltage);
    let run = space.run(&[]).unwrap();
    let place = space.signature().output_index("current.value").unwrap();
    // Euler parameters turn with an error of the square of the step
    assert!(apart(&run.output(place), &plain.output(1)) < 1e-6);
    let rate = space.signature().output_index("current.rate").unwrap();
    let slope: Vec<f64> = (0..plain.times().len()).map(|i| plain.state(i).a[1]).collect();
    assert!(apart(&run.output(rate), &slope) < 1e-6);
}

/// Protects starts at rest and modes of assemblies: the current is V/R, the spring holds its torque, and there are three eigenvalues.
#[test]
fn parts_with_states_rest() {
    let own = simulation(Arc::new(rotor(0.02)), 5e-3, 100, |_| 3.0).initial_state(InitialState::Equilibrium);
    let run = own.run(&[]).unwrap();
    for i in [0, 100] {
        let x = run.state(i);
        assert!((x.v[3] - 3.0).abs() < 1e-13 && (x.q[2] - 1.5).abs() < 1e-13, "{:?} {:?}", x.q, x.v);
    }
    let modes = Modes::of(&own, &[]).unwrap();
    let mut product = 1.0;
    let mut count = 0;
    for mode in &modes.modes {
        let (times, size) =
            if mode.eigenvalue.im > 0.0 { (2, mode.eigenvalue.norm_sqr()) } else { (1, -mode.eigenvalue.re) };
        (count, product) = (count + times, product * size);
    }
    // J L s³ + (J R + d L) s² + (d R + k² + c L) s + c R
    assert_eq!(count, 3);
    assert!((product / (0.02 / (0.01 * 0.5)) - 1.0).abs() < 1e-12, "{product}");
}

/// Two elements give to one state: z' = u - z.
struct Gives(usize);

impl Element for Gives {
    fn rates<D: Number>(&self, _t: D, _q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        rates[0] = if self.0 == 0 { u[0] } else { -v[0] };
    }
}

/// Protects what is reported of states of assemblies, and rates that several elements give.
#[test]
fn states_of_elements_add_up_and_are_refused() {
    let of = |build: &dyn Fn(&mut Assembler, StateVariable)| {
        let mut assembler = Assembler::new("tank");
        assembler.input("unused", "1");
        let level = assembler.state("level", "m", 0.5);
        build(&mut assembler, level);
        assembler.build()
    };
    let both = of(&|assembler, level| {
        for k in 0..2 {
            assembler.element(&format!("part {k}"), Gives(k), Connection::default().states([level]).parameters([2.0]));
        }
    });
    let run = simulation(Arc::new(both.unwrap()), 1e-3, 1000, |_| 0.0).run(&[]).unwrap();
    assert!((run.state(1000).v[0] - (2.0 - 1.5 * (-1.0f64).exp())).abs() < 1e-7, "{:?}", run.state(1000).v);
    let message = |build: &dyn Fn(&mut Assembler, StateVariable)| of(build).map(|_| ()).unwrap_err().to_string();
    let unused = message(&|_, _| {});
    assert!(unused.contains("state `level`") && unused.contains("no part uses it"), "{unused}");
    let twice = message(&|assembler, level| {
        assembler.element("part", Gives(1), Connection::default().states([level, level]));
    });
    assert!(twice.contains("connected to `level` twice"), "{twice}");
    let foreign = message(&|assembler, _| {
        let other = Assembler::new("other").state("level", "m", 0.0);
        assembler.element("part", Gives(1), Connection::default().states([other]));
    });
    assert!(foreign.contains("a state that it is given was made by another mechanism"), "{foreign}");
}
