//! Mechanisms from parts: against plain functions, closed forms and Newton's law; exact gradients for every part and property.

mod chain;
mod slips;

use crate::common;

use common::FORMS;
use common::exact::{Cubic, Swing, check, signals, simulation};
use costate::scheme::Hht;
use costate::system::System;
use costate::value::Value;
use costate::{Number, Parameter, Result, Signal, Simulation, TimeGrid};
use costate_parts::law::{Axes, BoucWen, BrownMcPhee, FunctionOfTime, Law, Linear};
use costate_parts::planar::{Body, Mechanism, Member, Mounting};
use costate_parts::sampled::Sampled;
use std::f64::consts::FRAC_PI_2;
use std::sync::Arc;

fn value(mechanism: &mut Mechanism, name: &str, nominal: f64) -> Value {
    mechanism.parameter(Parameter::new(name, "1", nominal))
}

/// Two links hanging from the ground, everything about them a parameter.
fn links(mechanism: &mut Mechanism) -> [costate_parts::planar::Member; 2] {
    let mut p = |name: &str, nominal: f64| mechanism.parameter(Parameter::new(name, "1", nominal));
    let (length, mass, inertia) = (p("L", 0.6), p("m", 1.2), p("I", 0.05));
    let (c_x, c_y, angle, rate) = (p("c_x", 0.25), p("c_y", 0.03), p("phi0", -0.9), p("omega0", 0.7));
    let (gx, gy) = (p("g_x", 0.3), p("g_y", -9.7));
    mechanism.gravity([gx, gy]);
    let first = Body::new(mass, inertia).center([c_x, c_y]).at([Value::from(0.0), Value::from(0.0)], angle);
    let first = mechanism.body("first", first.moving([0.0, 0.0], rate));
    let second = Body::new(0.8, 0.02).at([0.37, -0.47], -0.4).moving([0.3, 0.2], -0.5);
    let second = mechanism.body("second", second);
    mechanism.revolute("pivot", mechanism.ground().at([0.0, 0.0]), first.at([0.0, 0.0]));
    let end = first.at([length, Value::from(0.0)]);
    mechanism.revolute("elbow", end, second.at([-0.2, 0.01]));
    [first, second]
}

type Build = fn(&mut Mechanism);

/// Every part, each with all its properties as parameters.
const PARTS: [(&str, usize, Build); 22] = [
    ("links", 0, |m| {
        links(m);
    }),
    ("spring", 0, |m| {
        let [_, second] = links(m);
        let [x, y, free, k, c] =
            [("x", 0.1), ("y", -0.2), ("free", 0.3), ("k", 40.0), ("c", 1.5)].map(|(n, v)| value(m, n, v));
        let spring = m.spring("spring", m.ground().at([0.9, -0.1]), second.at([x, y]), free, k, c);
        m.strut_sensor("gauge", &spring);
    }),
    ("strut with a law", 0, |m| {
        let [first, second] = links(m);
        let laws = [("k1", 12.0), ("k3", 90.0), ("d", 0.7)].map(|(n, v)| value(m, n, v));
        let strut = m.strut("strut", first.at([0.1, 0.3]), second.at([0.1, 0.2]), 0.2, Cubic, laws);
        m.strut_sensor("gauge", &strut);
    }),
    ("hysteresis", 0, |m| {
        let [first, second] = links(m);
        let law = [("k", 9.0), ("c", 0.3), ("A", 40.0), ("beta", 6.0), ("gamma", -2.0)].map(|(n, v)| value(m, n, v));
        let start = value(m, "z0", 0.7);
        let strut = m.strut("strut", first.at([0.1, 0.3]), second.at([0.1, 0.2]), 0.2, BoucWen, law);
        m.start_state(strut.states()[0], start);
        m.strut_sensor("gauge", &strut);
        m.state_sensor("force", strut.states()[0]);
    }),
    ("motor with inductance", 1, |m| {
        let [first, second] = links(m);
        let voltage = m.input("voltage", "V");
        let circuit = [("torque constant", 0.4), ("R", 1.3), ("inductance", 0.2)].map(|(n, v)| value(m, n, v));
        let (gain, start) = (value(m, "gain", 1.5), value(m, "i0", -0.6));
        let current = m.dc_motor("motor", &first, &second, voltage.times(gain), circuit);
        m.start_state(current, start);
        m.state_sensor("current", current);
    }),
    ("torsion", 0, |m| {
        let [first, second] = links(m);
        let [k, c] = [("k", 3.0), ("c", 0.4)].map(|(n, v)| value(m, n, v));
        m.torsion("torsion", &first, &second, k, c);
    }),
    ("friction", 0, |m| {
        let [first, second] = links(m);
        let law = [("T_C", 0.2), ("T_S", 0.35), ("rate", 0.8), ("d", 0.05)].map(|(n, v)| value(m, n, v));
        m.joint_friction("friction", &first, &second, law);
        m.torsion_by("brake", &m.ground(), &first, 0.0, BrownMcPhee, law);
    }),
    ("force", 2, |m| {
        let [first, second] = links(m);
        let (push, pull) = (m.input("push", "N"), m.input("pull", "N"));
        let [x, y, d] = [("x", 0.3), ("y", 0.1), ("d", 0.9)].map(|(n, v)| value(m, n, v));
        m.force("push", first.at([x, y]), [d, Value::from(0.4)], Axes::World, push);
        m.force("pull", second.at([x, y]), [d, Value::from(-0.2)], Axes::Body, pull);
    }),
    ("support", 2, |m| {
        let [first, second] = links(m);
        let (height, rate) = (m.input("height", "m"), m.input("rate", "m/s"));
        let v = [("x", 0.15), ("y", 0.05), ("direction", 1.4), ("free", 0.3), ("k1", 8.0), ("k3", 0.9), ("d", 0.7)];
        let [x, y, direction, free, k1, k3, d] = v.map(|(n, v)| value(m, n, v));
        let laws = [k1, k3, d];
        m.support("road", second.at([x, y]), direction, [height, rate], free, Cubic, laws);
        m.support("rail", first.at([y, x]), direction, [height], 0.1, Cubic, laws);
    }),
    ("torque", 1, |m| {
        let [first, second] = links(m);
        let motor = m.input("motor", "N m");
        m.torque("motor", &first, &second, motor);
    }),
    ("numbers, parameters and functions of time", 1, |m| {
        let [first, second] = links(m);
        let current = m.input("current", "A");
        let [weight, constant, brake] =
            [("weight", -0.9), ("constant", 0.3), ("brake", 0.2)].map(|(n, v)| value(m, n, v));
        let swing = [("mean", 0.1), ("swing", 0.7), ("frequency", 9.0)].map(|(n, v)| value(m, n, v));
        m.force("weight", first.at([0.2, 0.0]), [0.1, 1.0], Axes::World, weight);
        m.force("wind", second.at([0.1, 0.0]), [0.3, 0.1], Axes::World, 0.4);
        m.force_by("gust", second.at([0.1, 0.1]), [0.3, 0.1], Axes::Body, Swing, swing);
        m.torque("motor", &m.ground(), &first, current.times(constant));
        m.torque("brake", &first, &second, -brake);
        m.torque_by("shaker", &first, &second, Swing, swing);
    }),
    ("energy and power lost", 1, |m| {
        let [first, second] = links(m);
        let laws = [("k1", 12.0), ("k3", 90.0), ("d", 0.7)].map(|(n, v)| value(m, n, v));
        m.strut("strut", first.at([0.1, 0.3]), second.at([0.1, 0.2]), 0.2, Cubic, laws);
        m.spring("spring", m.ground().at([0.9, -0.1]), second.at([0.0, 0.1]), 0.3, laws[0], laws[2]);
        m.joint_friction("friction", &first, &second, [laws[2], 0.9.into(), 0.8.into(), 0.05.into()]);
        m.torsion("torsion", &m.ground(), &first, laws[0], 0.3);
        let road = m.input("road", "m");
        m.support("wheel", second.at([0.15, 0.05]), 1.4, [road], 0.3, Cubic, laws);
        m.drag("air", second.at([0.2, 0.1]), laws[2], 0.6);
        m.contact("floor", m.ground().at([0.0, -0.62]), 0.15, second.at([0.15, 0.0]), 0.2, laws[1], 0.3);
        m.energy("energy");
        m.dissipation("loss");
    }),
    ("drag", 0, |m| {
        let [_, second] = links(m);
        let [x, d1, d2] = [("x", 0.2), ("d1", 0.3), ("d2", 0.6)].map(|(n, v)| value(m, n, v));
        m.drag("air", second.at([x, Value::from(0.1)]), d1, d2);
    }),
    ("contact", 0, |m| {
        let [_, second] = links(m);
        let v = [("height", -0.62), ("slope", 0.15), ("radius", 0.2), ("k", 3000.0), ("c", 0.3), ("x", 0.15)];
        let [height, slope, radius, k, c, x] = v.map(|(n, v)| value(m, n, v));
        let line = m.ground().at([Value::from(0.0), height]);
        m.contact("floor", line, slope, second.at([x, Value::from(0.0)]), radius, k, c);
    }),
    ("rod", 0, |m| {
        let [first, second] = links(m);
        let [x, y, l] = [("x", 1.0), ("y", -0.2), ("rod", 0.5)].map(|(n, v)| value(m, n, v));
        let rod = m.rod("rod", m.ground().at([x, y]), second.at([0.1, 0.05]), l);
        m.reaction("in rod", &rod, &second);
        let _ = first;
    }),
    ("on a line", 0, |m| {
        let [_, second] = links(m);
        let [y, slope, x] = [("y", -0.5), ("slope", 0.1), ("x", 0.15)].map(|(n, v)| value(m, n, v));
        let slot = m.on_line("slot", m.ground().at([Value::from(0.0), y]), second.at([x, Value::from(0.02)]), slope);
        m.reaction("in slot", &slot, &second);
    }),
    ("prismatic", 0, |m| {
        let [_, second] = links(m);
        let slider = m.body("slider", Body::new(0.5, 0.01).at([0.6, -0.5], 0.2));
        let [y, slope, angle, x] =
            [("y", 0.03), ("slope", 0.1), ("angle", 0.6), ("x", 0.15)].map(|(n, v)| value(m, n, v));
        let guide =
            m.prismatic("guide", second.at([x, Value::from(0.0)]), slider.at([Value::from(0.0), y]), slope, angle);
        m.reaction("in guide", &guide, &slider);
    }),
    ("weld", 0, |m| {
        let [_, second] = links(m);
        let flag = m.body("flag", Body::new(0.2, 0.002).at([0.6, -0.5], 0.2));
        let [x, y, angle] = [("x", 0.2), ("y", 0.03), ("angle", 0.6)].map(|(n, v)| value(m, n, v));
        let weld = m.weld("glue", second.at([x, y]), flag.at([-0.1, 0.0]), angle);
        m.reaction("in glue", &weld, &flag);
    }),
    ("gears and drive", 0, |m| {
        let [first, _] = links(m);
        let wheel = m.body("wheel", Body::new(0.3, 0.004).at([0.0, 0.3], 0.3));
        m.revolute("axle", m.ground().at([0.0, 0.3]), wheel.at([0.0, 0.0]));
        let ratio = value(m, "ratio", -1.7);
        m.gears("gears", &first, &wheel, ratio);
        let cam = m.body("cam", Body::new(0.3, 0.004).at([1.0, 0.3], 0.0));
        m.revolute("cam axle", m.ground().at([1.0, 0.3]), cam.at([0.0, 0.0]));
        let motion = [("mean", 0.1), ("swing", 0.3), ("frequency", 9.0)].map(|(n, v)| value(m, n, v));
        m.drive("servo", cam.coordinates()[2], Swing, motion);
        let spring = m.spring("belt", cam.at([0.1, 0.0]), wheel.at([0.05, 0.0]), 0.5, 30.0, 0.2);
        m.strut_sensor("gauge", &spring);
    }),
    ("sampled drive", 0, |m| {
        let [first, second] = links(m);
        let cam = m.body("cam", Body::new(0.3, 0.004).at([1.0, 0.3], 0.1));
        m.revolute("cam axle", m.ground().at([1.0, 0.3]), cam.at([0.0, 0.0]));
        let times: Vec<f64> = (0..12).map(|k| 0.013 * f64::from(k) - 0.01).collect();
        let values: Vec<f64> = times.iter().map(|t| 0.3 * (11.0 * t).sin() + 0.1).collect();
        let motion = [("gain", 1.2), ("offset", -0.07)].map(|(n, v)| value(m, n, v));
        // the same times and values cannot fail
        m.drive("servo", cam.coordinates()[2], Sampled::new(&times, &values).unwrap(), motion);
        let _ = first;
        m.spring("belt", cam.at([0.1, 0.0]), second.at([0.05, 0.0]), 0.5, 30.0, 0.2);
    }),
    ("sensors", 0, |m| {
        let [first, second] = links(m);
        let [x, y, angle, gain, bias] =
            [("x", 0.1), ("y", 0.2), ("mount", 0.3), ("gain", 1.1), ("bias", 0.2)].map(|(n, v)| value(m, n, v));
        let place = second.at([x, y]);
        m.position("position", place.clone());
        m.velocity("velocity", place.clone(), Axes::Body);
        m.acceleration("acceleration", place.clone(), Axes::World);
        m.accelerometer("chip", place, Mounting { angle, gain, bias: [bias, Value::from(0.0)] });
        m.angle("elbow angle", &first, &second);
        m.energy("energy");
    }),
    ("point masses", 0, |m| {
        let mass = value(m, "m", 0.7);
        let [x, y] = [("x", 0.6), ("y", -0.8)].map(|(n, v)| value(m, n, v));
        let bob = m.point("bob", mass, [x, y]);
        let l = value(m, "L", 1.0);
        m.rod("string", m.ground().at([0.0, 0.0]), bob.at([0.0, 0.0]), l);
        let other = m.point("other", 0.4, [1.1, -0.9]);
        let [k, c] = [("k", 60.0), ("c", 0.2)].map(|(n, v)| value(m, n, v));
        m.strut("band", bob.at([0.0, 0.0]), other.at([0.0, 0.0]), 0.4, Linear, [k, c]);
        m.energy("energy");
    }),
];

/// Protects every part and each of its properties as a parameter: three gradients agree, in both forms, and the Hessian
/// agrees with them.
#[test]
fn gradients_of_every_part_are_exact() {
    for (name, inputs, build) in PARTS {
        for form in FORMS {
            let mut mechanism = Mechanism::new("trial");
            build(&mut mechanism);
            let system = mechanism.build().unwrap_or_else(|error| panic!("{name}: {error}"));
            assert!(system.remarks().is_empty(), "{name}: {:?}", system.remarks());
            check(name, &simulation(system, signals(inputs), form, 60));
        }
    }
}

/// Protects energy and dissipation: what springs, bodies and gravity lose, dampers, friction, air and contacts take, and what a motor
/// does comes in. Nothing is left but the error of the steps and of the trapezoidal rule, a quarter with half the step.
#[test]
fn energy_goes_where_dissipation_says() {
    let gap = |h: f64| {
        let mut m = Mechanism::new("losses");
        let [first, second] = links(&mut m);
        m.strut("strut", first.at([0.1, 0.3]), second.at([0.1, 0.2]), 0.2, Cubic, [12.0, 90.0, 0.7]);
        m.spring("spring", m.ground().at([0.9, -0.1]), second.at([0.0, 0.1]), 0.3, 40.0, 1.5);
        m.joint_friction("friction", &first, &second, [0.2, 0.35, 0.8, 0.05].map(Value::from));
        m.torsion("torsion", &m.ground(), &first, 3.0, 0.3);
        let road = m.input("road", "m");
        m.support("wheel", second.at([0.15, 0.05]), 1.4, [road], 0.3, Linear, [30.0, 0.4]);
        m.drag("air", second.at([0.2, 0.1]), 0.3, 0.6);
        m.contact("floor", m.ground().at([0.0, -0.62]), 0.15, second.at([0.15, 0.0]), 0.2, 3000.0, 0.3);
        m.torque("motor", &m.ground(), &first, 0.8);
        m.angle("way", &m.ground(), &first);
        m.energy("energy");
        m.dissipation("loss");
        let grid = TimeGrid::uniform(0.0, 1.0, h).unwrap();
        let system = Arc::new(m.build().unwrap());
        let signature = system.signature().clone();
        let u = signature.nominal();
        // trapezoidal: the scheme itself takes nothing
        let run = Simulation::new(system, Hht::new(0.0).unwrap(), grid, vec![Signal::constant(0.0)]).unwrap();
        let run = run.initial_state(costate::InitialState::Projected).run(&u).unwrap();
        let output = |name: &str| {
            let names = &signature.outputs;
            run.output(names.iter().position(|output| output.name == name).unwrap())
        };
        let (energy, loss, way) = (output("energy"), output("loss"), output("way.angle"));
        let last = energy.len() - 1;
        let lost: f64 = loss.windows(2).map(|pair| 0.5 * h * (pair[0] + pair[1])).sum();
        assert!(loss.iter().all(|power| *power >= 0.0) && lost > 1.0, "{lost}");
        energy[last] - energy[0] + lost - 0.8 * (way[last] - way[0])
    };
    let (coarse, fine) = (gap(1e-3), gap(5e-4));
    // of 1 J and more that are lost; steps that tend to zero leave nothing
    assert!((4.0 * fine - coarse).abs() < 1e-4, "{coarse:e} {fine:e}");
    assert!((coarse / fine - 4.0).abs() < 0.1, "{coarse:e} {fine:e}");
}

/// Protects laws that contradict themselves or say nothing of their energy from being summed up without a word.
#[test]
fn energies_of_laws_are_checked() {
    #[derive(Clone)]
    struct Silent;
    impl Law for Silent {
        fn tension<D: Number>(&self, elongation: D, _rate: D, u: &[D]) -> D {
            u[0] * elongation
        }
    }
    #[derive(Clone)]
    struct Twice;
    impl Law for Twice {
        fn tension<D: Number>(&self, elongation: D, _rate: D, u: &[D]) -> D {
            u[0] * elongation
        }
        fn energy<D: Number>(&self, elongation: D, u: &[D]) -> Option<D> {
            Some(u[0] * elongation * elongation)
        }
    }
    let mut m = Mechanism::new("silent");
    let [first, second] = links(&mut m);
    m.torsion_by("rubber", &first, &second, 0.0, Silent, [3.0]);
    m.energy("energy");
    let remarks = m.build().unwrap().remarks().join("\n");
    assert!(remarks.contains("leaves out the energy of `rubber`") && remarks.contains("`Law`"), "{remarks}");
    let mut m = Mechanism::new("twice");
    let [first, second] = links(&mut m);
    m.torsion_by("rubber", &first, &second, 0.0, Twice, [3.0]);
    let error = m.build().err().unwrap().to_string();
    assert!(error.contains("`rubber`") && error.contains("0.3") && error.contains("Law::energy"), "{error}");
}

/// Protects forces that are numbers, parameters, inputs, inputs times factors and functions of time: the same force makes the same
/// motion, however it is given.
#[test]
fn the_same_force_is_the_same_motion() {
    #[derive(Clone)]
    struct Steady;
    impl FunctionOfTime for Steady {
        fn at<D: Number>(&self, _t: D, u: &[D]) -> D {
            u[0]
        }
    }
    type Add = fn(&mut Mechanism, &[Member; 2]);
    let ways: [Add; 5] = [
        |m, [first, second]| {
            m.force("push", first.at([0.1, 0.2]), [0.3, 0.4], Axes::Body, 1.5);
            m.torque("turn", first, second, 1.5);
        },
        |m, [first, second]| {
            let amount = value(m, "amount", 3.0) * 0.5;
            m.force("push", first.at([0.1, 0.2]), [0.3, 0.4], Axes::Body, amount);
            m.torque("turn", first, second, amount);
        },
        |m, [first, second]| {
            let amount = m.input("amount", "N");
            m.force("push", first.at([0.1, 0.2]), [0.3, 0.4], Axes::Body, amount);
            m.torque("turn", first, second, amount);
        },
        |m, [first, second]| {
            let amount = m.input("amount", "N").times(value(m, "factor", 1.0));
            m.force("push", first.at([0.1, 0.2]), [0.3, 0.4], Axes::Body, amount);
            m.torque("turn", first, second, amount);
        },
        |m, [first, second]| {
            m.force_by("push", first.at([0.1, 0.2]), [0.3, 0.4], Axes::Body, Steady, [1.5]);
            m.torque_by("turn", first, second, Steady, [1.5]);
        },
    ];
    let ends = ways.map(|way| {
        let mut m = Mechanism::new("pushed");
        let members = links(&mut m);
        way(&mut m, &members);
        let system = m.build().unwrap();
        let u = system.signature().nominal();
        let signals = vec![Signal::constant(1.5); system.signature().inputs.len()];
        let run = simulation(system, signals, FORMS[0], 50);
        run.run(&u).unwrap().state(50).q.to_vec()
    });
    for end in &ends[1..] {
        // the same numbers in another order
        assert!(end.iter().zip(&ends[0]).all(|(a, b)| (a - b).abs() < 1e-13), "{ends:?}");
    }
}

/// Protects reactions: a clamp holds the moment of all weights about itself, wherever the reference point of its body is; a slide that of a weight which
/// is away from its place.
#[test]
fn reactions_are_about_the_joint() -> Result<()> {
    for origin in [0.0, 0.3] {
        let mut mechanism = Mechanism::new("held");
        let beam = mechanism.body("beam", Body::new(2.0, 0.1).center([0.5 - origin, 0.0]).at([origin, 0.0], 0.0));
        let clamp = mechanism.weld("clamp", mechanism.ground().at([0.0, 0.0]), beam.at([-origin, 0.0]), 0.0);
        let block = mechanism.body("block", Body::new(1.5, 0.2).at([0.5, 2.0], 0.0));
        // along y, so that it does not slide; its spring holds it
        let slide =
            mechanism.prismatic("slide", mechanism.ground().at([0.0, 2.0]), block.at([-0.5, 0.0]), FRAC_PI_2, 0.0);
        mechanism.force("lift", block.at([0.0, 0.0]), [0.0, 3.0], Axes::World, 1.5 * 9.81);
        mechanism.reaction("clamp on beam", &clamp, &beam);
        mechanism.reaction("slide on block", &slide, &block);
        mechanism.force("push", block.at([-0.5, 0.2]), [-3.0, 4.0], Axes::World, 10.0);
        mechanism.force("hold", block.at([-0.5, 0.2]), [0.0, -0.5], Axes::World, 8.0);
        let grid = TimeGrid::uniform(0.0, 0.1, 1e-2)?;
        let trajectory = Simulation::new(Arc::new(mechanism.build()?), Hht::new(0.0)?, grid, vec![])?.run(&[])?;
        let y = |k: usize| trajectory.output(k)[5];
        let moment = 2.0 * 9.81 * 0.5;
        assert!((y(1) - 2.0 * 9.81).abs() < 1e-11 && (y(2) - moment).abs() < 1e-11, "clamp: {} {}", y(1), y(2));
        // of the push, 10 N, its part across the slide, -6 N, is held, with its moment about the slide's place; those of weight and lift cancel
        assert!((y(3) - 6.0).abs() < 1e-11 && (y(5) + 6.0 * 0.2).abs() < 1e-11, "slide: {} {}", y(3), y(5));
    }
    Ok(())
}

/// Protects reactions: on a free body, joint forces and weight are mass times acceleration.
#[test]
fn reactions_obey_newtons_law() -> Result<()> {
    let mut mechanism = Mechanism::new("double");
    let first = mechanism.body("first", Body::new(1.3, 0.1).at([0.5, 0.0], 0.0));
    let second = mechanism.body("second", Body::new(0.7, 0.05).at([1.4, 0.0], 0.0).moving([0.0, 0.0], 0.0));
    let pivot = mechanism.revolute("pivot", mechanism.ground().at([0.0, 0.0]), first.at([-0.5, 0.0]));
    let elbow = mechanism.revolute("elbow", first.at([0.5, 0.0]), second.at([-0.4, 0.0]));
    mechanism.reaction("pivot on first", &pivot, &first);
    mechanism.reaction("elbow on first", &elbow, &first);
    mechanism.reaction("elbow on second", &elbow, &second);
    mechanism.energy("energy");
    let system = mechanism.build()?;
    let grid = TimeGrid::uniform(0.0, 1.0, 1e-3)?;
    let trajectory = Simulation::new(Arc::new(system), Hht::new(-0.05)?, grid, vec![])?.run(&[])?;
    let outputs: Vec<Vec<f64>> = (0..10).map(|k| trajectory.output(k)).collect();
    for i in (0..=1000).step_by(50) {
        let x = trajectory.state(i);
        let y = |k: usize| outputs[k][i];
        let scale = 1e-10 * (1.0 + y(0).abs() + y(1).abs() + y(6).abs() + y(7).abs());
        for axis in 0..2 {
            let weight = if axis == 1 { -9.81 } else { 0.0 };
            assert!((1.3 * (x.a[axis] - weight) - y(axis) - y(3 + axis)).abs() < scale, "first, {axis}, {i}");
            assert!((0.7 * (x.a[3 + axis] - weight) - y(6 + axis)).abs() < scale, "second, {axis}, {i}");
        }
        // a pin carries no torque about itself; about a centre of mass its force does
        let moment = |angle: f64, arm: f64, force: usize| arm * (angle.cos() * y(force + 1) - angle.sin() * y(force));
        let first = moment(x.q[2], -0.5, 0) + moment(x.q[2], 0.5, 3);
        assert!([2, 5, 8].iter().all(|k| y(*k).abs() < scale), "torques of pins, {i}");
        assert!((0.1 * x.a[2] - first).abs() < scale, "torques on first, {i}");
        assert!((0.05 * x.a[5] - moment(x.q[5], -0.4, 6)).abs() < scale, "torques on second, {i}");
    }
    let energy = &outputs[9];
    // alpha damps a little, at second order in the step
    assert!(energy.iter().all(|e| (e - energy[0]).abs() < 2e-3), "{} {}", energy[0], energy[1000]);
    Ok(())
}
