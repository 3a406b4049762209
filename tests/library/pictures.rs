//! Pictures of mechanisms: what is drawn where, what an animation holds, and what is said where there is nothing to draw.

use crate::svg;

use costate::scheme::Hht;
use costate::system::System;
use costate::value::Value;
use costate::{Parameter, Plain, Signal, Simulation, TimeGrid};
use costate_models::pendulum_chain::pendulum_chain;
use costate_parts::law::{Axes, Linear};
use costate_parts::planar::{Body, Mechanism, Member};
use costate_report::plot::mechanism::{Animation, Picture};
use std::sync::Arc;
use svg::{CENTER, JOINT, UNITS, assert_refused, attribute, circles, tick};

fn simulation(system: impl System + 'static, end: f64, step: f64) -> Simulation {
    let signals = system.signature().inputs.iter().map(|_| Signal::function(|t| 1.0 + t)).collect();
    let grid = TimeGrid::uniform(0.0, end, step).unwrap();
    Simulation::new(Arc::new(system), Hht::new(-0.1).unwrap(), grid, signals).unwrap()
}

/// Two cranks of a length that is a parameter, upright on the ground 1 m apart, and a rod between their ends.
fn parallelogram() -> Mechanism {
    let mut m = Mechanism::new("parallelogram");
    let length = m.parameter(Parameter::new("L", "m", 0.5));
    let zero = || Value::from(0.0);
    let ground = m.ground();
    let mut cranks = Vec::new();
    for (name, x) in [("left", 0.0), ("right", 1.0)] {
        let body = Body::new(1.0, 0.02).at([Value::from(x), length * 0.5], 0.0);
        let crank = m.body(name, body);
        m.revolute(&format!("{name} bearing"), ground.at([x, 0.0]), crank.at([zero(), length * -0.5]));
        cranks.push(crank);
    }
    let rod = m.body("rod", Body::new(1.0, 0.1).at([Value::from(0.5), length], 0.0));
    for (name, crank, x) in [("left pin", &cranks[0], -0.5), ("right pin", &cranks[1], 0.5)] {
        m.revolute(name, crank.at([zero(), length * 0.5]), rod.at([x, 0.0]));
    }
    m.spring("push", rod.at([0.5, 0.0]), ground.at([1.4, 0.5]), 0.1, 30.0, 0.0);
    m
}

/// Protects exaggerated motions: what has moved by 1 cm is drawn at ten times that, what rests stays where it is, and titles say so.
#[test]
fn motions_are_exaggerated_from_the_start() {
    let mut m = Mechanism::new("pair");
    for (name, x, rate) in [("resting", 1.0, 0.0), ("moving", 0.0, 0.01)] {
        let mass = m.point_moving(name, 1.0, [x, 0.0], [rate, 0.0]);
        m.on_line(&format!("{name} guide"), m.ground().at([x, 0.0]), mass.at([0.0; 2]), 0.0);
    }
    let simulation = simulation(m.build().unwrap(), 1.0, 0.1);
    let trajectory = simulation.run(&[]).unwrap();
    let picture = || Picture::of_motion(&simulation, &[], &trajectory).unwrap();
    assert_eq!(picture().readable_exaggeration(), 10.0);
    for (factor, place) in [(1.0, 0.01), (10.0, 0.1)] {
        let svg = picture().exaggerate(factor).unwrap().panels(&[1.0]).unwrap().to_svg().unwrap();
        let [resting, moving] = circles(&svg, JOINT)[..] else { panic!("two rings") };
        let (from, scale) = (tick(&svg, "0.0"), tick(&svg, "1.0") - tick(&svg, "0.0"));
        assert!((resting.0 - from - scale).abs() <= 2.0 && (moving.0 - from - place * scale).abs() <= 2.0, "{factor}");
        assert_eq!(svg.contains("motion × 10<"), factor == 10.0);
    }
    for factor in [0.0, -2.0, f64::NAN] {
        assert_refused(picture().exaggerate(factor).map(|_| ()), &["the exaggeration", "is not positive"]);
    }
}

/// Protects bodies from slots that cover them: a slot on a body is where its pin moves.
#[test]
fn slots_are_as_long_as_they_are_used() {
    let simulation = simulation(costate_models::cars::half_car().unwrap(), 0.1, 1e-2);
    let u = simulation.signature().nominal();
    let svg = Picture::of_start(&simulation, &u).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap();
    let white = svg.lines().filter(|line| line.starts_with("<polyline ") && line.contains("stroke=\"#FFFFFF\""));
    let lengths: Vec<f64> = white
        .map(|line| {
            let points = attribute(line, "points").unwrap();
            let numbers: Vec<f64> = points.split([' ', ',']).filter_map(|word| word.parse().ok()).collect();
            let last = numbers.len() - 2;
            (numbers[last] - numbers[0]).hypot(numbers[last + 1] - numbers[1]) / UNITS
        })
        .collect();
    // two wheels on the body and the body on the ground
    assert!(lengths.len() >= 3 && lengths.iter().all(|length| *length < 4.0), "{lengths:?}");
}

/// Protects positions: joints are where the parameters put them, metres are as long upwards as along, and the axis tells
/// the same.
#[test]
fn joints_are_where_they_belong() {
    let simulation = simulation(parallelogram().build().unwrap(), 0.1, 1e-2);
    let mut scales = Vec::new();
    for length in [0.5, 0.4] {
        let svg = Picture::of_start(&simulation, &[length]).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap();
        let joints = circles(&svg, JOINT);
        assert_eq!(joints.len(), 4, "one ring a joint");
        assert_eq!(circles(&svg, CENTER).len(), 3, "one mark a body");
        let [(x0, y0), (x1, y1), left, right] = joints[..] else { unreachable!() };
        // a unit is a fiftieth of a millimetre, and both ends are rounded
        assert_eq!(y0, y1);
        let scale = x1 - x0;
        for (pin, x) in [(left, x0), (right, x1)] {
            assert!((pin.0 - x).abs() <= 1.0 && (y0 - pin.1 - length * scale).abs() <= 1.0, "{pin:?} at {length} m");
        }
        assert!((tick(&svg, "0.0") - x0).abs() <= 1.0 && (tick(&svg, "1.0") - x1).abs() <= 1.0);
        scales.push(scale);
    }
    assert!(scales[0] > 20.0 * UNITS, "1 m is {} mm", scales[0] / UNITS);
}

/// Protects poses between time steps: pins are where the trajectory says, to the resolution of the file, in the picture of
/// each time.
#[test]
fn poses_follow_the_motion() {
    let simulation = simulation(parallelogram().build().unwrap(), 0.5, 1e-2);
    let trajectory = simulation.run(&[0.5]).unwrap();
    let picture = Picture::of_motion(&simulation, &[0.5], &trajectory).unwrap();
    for i in [0, 13, 50] {
        let t = trajectory.times()[i];
        let svg = picture.panels(&[t]).unwrap().to_svg().unwrap();
        let joints = circles(&svg, JOINT);
        let scale = joints[1].0 - joints[0].0;
        // the rod's left end
        let (x, y) = (trajectory.state(i).q[6] - 0.5, trajectory.state(i).q[7]);
        let drawn = ((joints[2].0 - joints[0].0) / scale, (joints[0].1 - joints[2].1) / scale);
        let unit = 1.5 / scale;
        assert!((drawn.0 - x).abs() < unit && (drawn.1 - y).abs() < unit, "{drawn:?} for {x}, {y} at {t} s");
        assert!(i == 0 || x > 0.01, "nothing moves");
    }
    // half a step further, it is half-way up to the curvature of the path: 1/8 a h² for some 50 m/s²
    let middle = picture.panels(&[0.135]).unwrap().to_svg().unwrap();
    let joints = circles(&middle, JOINT);
    let x = (joints[2].0 - joints[0].0) / (joints[1].0 - joints[0].0);
    let mean = 0.5 * (trajectory.state(13).q[6] + trajectory.state(14).q[6]) - 0.5;
    assert!((x - mean).abs() < 2e-3, "{x} for {mean}");
}

/// Protects figures of several times: each has its panel and its joints, or its fading pose.
#[test]
fn several_times_are_panels_or_an_overlay() {
    let simulation = simulation(parallelogram().build().unwrap(), 0.5, 1e-2);
    let trajectory = simulation.run(&[0.5]).unwrap();
    let picture = Picture::of_motion(&simulation, &[0.5], &trajectory).unwrap();
    let times = [0.0, 0.2, 0.25];
    let svg = picture.panels(&times).unwrap().to_svg().unwrap();
    for title in ["t = 0.00 s", "t = 0.20 s", "t = 0.25 s"] {
        assert!(svg.contains(title), "{title}");
    }
    assert_eq!(circles(&svg, JOINT).len(), 12);
    let svg = picture.overlay(&times).unwrap().to_svg().unwrap();
    assert!(svg.contains("t = 0.00, 0.20, 0.25 s"));
    assert_eq!(circles(&svg, JOINT).len(), 4, "earlier poses are lighter");
    let many: Vec<f64> = (0..50).map(|i| 0.01 * f64::from(i)).collect();
    assert!(picture.overlay(&many).unwrap().to_svg().unwrap().contains("50 poses"));
    assert!(picture.panels(&[0.25]).unwrap().to_png().unwrap().starts_with(b"\x89PNG"));
}

type Add = fn(&mut Mechanism, &Member, &Member);

/// Parts that may be added to two bodies on axles.
const PARTS: [(&str, Add); 16] = [
    ("pin", |m, a, _| {
        let link = m.body("link", Body::new(1.0, 0.1).at([0.5, 0.5], 0.0));
        m.revolute("pin", a.at([0.0, 0.5]), link.at([-0.5, 0.0]));
    }),
    ("weld", |m, a, _| {
        let flag = m.body("flag", Body::new(1.0, 0.1).at([0.5, 0.5], 0.0));
        m.weld("weld", a.at([0.0, 0.5]), flag.at([-0.5, 0.0]), 0.0);
    }),
    ("prismatic", |m, a, _| {
        let block = m.body("block", Body::new(1.0, 0.1).at([0.0, 0.5], 0.0));
        m.prismatic("guide", a.at([0.0, 0.0]), block.at([0.0, 0.0]), 1.5, 0.0);
    }),
    ("prismatic on the ground", |m, _, _| {
        let block = m.body("block", Body::new(1.0, 0.1).at([0.0, 0.9], 0.0));
        m.prismatic("guide", m.ground().at([0.0, 0.9]), block.at([0.0, 0.0]), 3.0, 0.0);
    }),
    ("on a line", |m, _, b| {
        m.on_line("slot", m.ground().at([1.0, 0.5]), b.at([0.0, 0.5]), 0.1);
    }),
    ("rod", |m, a, b| {
        m.rod("rod", a.at([0.0, 0.5]), b.at([0.0, 0.5]), 1.0);
    }),
    ("spring", |m, a, b| {
        m.spring("spring", a.at([0.0, 0.5]), b.at([0.0, 0.5]), 1.0, 5.0, 0.0);
    }),
    ("damper", |m, a, b| {
        m.spring("damper", a.at([0.0, 0.5]), b.at([0.0, 0.5]), 1.0, 0.0, 2.0);
    }),
    ("strut", |m, a, b| {
        m.strut("strut", a.at([0.0, 0.5]), b.at([0.0, 0.5]), 1.0, Linear, [5.0, 1.0]);
    }),
    ("torsion", |m, a, b| m.torsion("torsion", a, b, 1.0, 0.1)),
    ("friction", |m, a, b| m.joint_friction("friction", a, b, [0.1, 0.2, 0.1, 0.0].map(Value::from))),
    ("gears", |m, a, b| {
        m.gears("gears", a, b, -1.0);
    }),
    ("contact", |m, a, _| {
        m.contact("floor", m.ground().at([0.0, -0.3]), 0.0, a.at([0.0, 0.5]), 0.1, 1e3, 0.1);
    }),
    ("support", |m, a, _| {
        let road = m.input("road", "m");
        m.support("tyre", a.at([0.0, 0.5]), 1.5, [road], 0.3, Linear, [5.0, 0.0]);
    }),
    ("force", |m, a, _| {
        let push = m.input("push", "N");
        m.force("push", a.at([0.0, 0.5]), [1.0, 0.0], Axes::World, push);
    }),
    ("torque", |m, a, b| {
        let motor = m.input("motor", "N m");
        m.torque("motor", a, b, motor);
    }),
];

/// Two bodies on axles.
fn pair(add: Option<Add>) -> Mechanism {
    let mut m = Mechanism::new("pair");
    let bodies = [0.0, 1.0].map(|x| {
        let body = m.body(&format!("body{x}"), Body::new(1.0, 0.1).at([x, 0.0], 0.0));
        m.revolute(&format!("axle{x}"), m.ground().at([x, 0.0]), body.at([0.0, 0.0]));
        m.position(&format!("end{x}"), body.at([0.0, 0.5]));
        body
    });
    if let Some(add) = add {
        add(&mut m, &bodies[0], &bodies[1]);
    }
    m
}

fn elements(m: Mechanism) -> usize {
    let simulation = simulation(m.build().unwrap(), 0.01, 1e-3);
    svg::elements(&Picture::of_start(&simulation, &[]).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap())
}

/// Protects every part from being forgotten: it adds something to the picture, and dampers are no springs.
#[test]
fn every_part_has_a_symbol() {
    let bare = elements(pair(None));
    let counts = PARTS.map(|(name, add)| {
        let with = elements(pair(Some(add)));
        assert!(with > bare, "`{name}` is not seen");
        (name, with - bare)
    });
    let count = |name: &str| counts.iter().find(|(known, _)| *known == name).unwrap().1;
    assert_ne!(count("spring"), count("damper"));
    assert!(count("prismatic on the ground") > 10, "the guide is hatched");
    assert!(count("support") > 4, "a spring on hatched ground");
    assert!(count("torque") >= 2 && count("force") >= 2, "arrows have a shaft and a head");
}

/// What viewers show: the whole picture after each frame, with its delay.
fn frames(bytes: &[u8]) -> (u16, u16, Vec<(u16, Vec<u8>)>) {
    let mut decoder = gif::DecodeOptions::new().read_info(bytes).unwrap();
    let (width, height) = (decoder.width(), decoder.height());
    let mut canvas = vec![0; usize::from(width) * usize::from(height)];
    let mut frames = Vec::new();
    while let Some(frame) = decoder.read_next_frame().unwrap() {
        for (i, pixel) in frame.buffer.iter().enumerate() {
            let (x, y) = (i % usize::from(frame.width), i / usize::from(frame.width));
            let at = (y + usize::from(frame.top)) * usize::from(width) + x + usize::from(frame.left);
            if frame.transparent != Some(*pixel) {
                canvas[at] = *pixel;
            }
        }
        frames.push((frame.delay, canvas.clone()));
    }
    assert_eq!(decoder.repeat(), gif::Repeat::Infinite);
    (width, height, frames)
}

/// Protects animations: number of frames, delays, and a picture that changes from frame to frame and comes to where a
/// figure of the last time is.
#[test]
fn animations_hold_every_frame() {
    let simulation = simulation(parallelogram().build().unwrap(), 0.5, 1e-2);
    let trajectory = simulation.run(&[0.5]).unwrap();
    let picture = Picture::of_motion(&simulation, &[0.5], &trajectory).unwrap();
    let animation = Animation { frames_per_second: 15.0, speed: Some(1.0) };
    let mut finished_frames = Vec::new();
    let bytes = picture.animation(&animation, &mut |finished| finished_frames.push(finished)).unwrap();
    let (width, height, frames) = frames(&bytes);
    // 0.5 s with 15 frames a second, the first at 0 s
    assert_eq!((frames.len(), finished_frames), (8, (1..=8).collect()));
    let delays: Vec<u16> = frames.iter().map(|frame| frame.0).collect();
    assert_eq!(delays, [7, 6, 7, 7, 6, 7, 7, 100], "hundredths of a second add up");
    assert!((400..=620).contains(&width) && (100..=540).contains(&height), "{width} x {height}");
    for pair in frames.windows(2) {
        let changed = pair[0].1.iter().zip(&pair[1].1).filter(|(a, b)| a != b).count();
        assert!(changed > 100, "{changed} pixels change");
    }
    assert!(bytes.len() < 200_000, "{} bytes", bytes.len());
}

/// Protects a mechanism that does not move: all its frames are there.
#[test]
fn what_rests_is_animated_all_the_same() {
    let mut m = Mechanism::new("rest");
    m.gravity([0.0, 0.0]);
    let bob = m.point("bob", 1.0, [0.2, 0.1]);
    m.rod("rod", m.ground().at([0.0, 0.1]), bob.at([0.0, 0.0]), 0.2);
    let simulation = simulation(m.build().unwrap(), 2.0, 1e-2);
    let trajectory = simulation.run(&[]).unwrap();
    let picture = Picture::of_motion(&simulation, &[], &trajectory).unwrap();
    let animation = Animation { frames_per_second: 2.0, speed: None };
    let bytes = picture.animation(&animation, &mut |_| {}).unwrap();
    assert_eq!(frames(&bytes).2.len(), 5);
}

/// Protects large mechanisms: a thousand bodies are drawn as lines, in a file that a browser opens at once.
#[test]
fn a_long_chain_is_drawn() {
    let simulation = simulation(pendulum_chain(1000).unwrap(), 0.1, 1e-2);
    let u = simulation.signature().nominal();
    let svg = Picture::of_start(&simulation, &u).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap();
    let lines = svg.lines().filter(|line| line.starts_with("<polyline ")).count();
    assert!((1000..1100).contains(&lines), "{lines} lines");
    assert!(svg.len() < 150_000, "{} bytes", svg.len());
}

/// Protects from pictures that cannot be: each refusal names the quantity and the remedy.
#[test]
fn what_cannot_be_drawn_is_explained() {
    let plain = simulation(Plain::new(costate_models::silverbox::Silverbox).unwrap(), 1.0, 1e-2);
    assert_refused(
        Picture::of_start(&plain, &plain.signature().nominal()),
        &[
            "model `silverbox`",
            "has no picture",
            "plain functions",
            "add `picture` to its `Model`",
            "costate_parts::planar::Mechanism",
            "costate_parts::spatial::Mechanism",
        ],
    );
    let simulation = simulation(parallelogram().build().unwrap(), 0.5, 1e-2);
    assert_refused(Picture::of_start(&simulation, &[]), &["0 values are given for 1 parameters"]);
    let start = Picture::of_start(&simulation, &[0.5]).unwrap();
    assert_refused(start.panels(&[0.1]), &["t = 0.1 s", "only the start is known", "of_motion"]);
    let trajectory = simulation.run(&[0.5]).unwrap();
    let picture = Picture::of_motion(&simulation, &[0.5], &trajectory).unwrap();
    for t in [-0.1, 0.51, f64::NAN] {
        assert_refused(picture.panels(&[0.0, t]), &[&format!("t = {t} s"), "from 0 s to 0.5 s", "within"]);
    }
    assert_refused(picture.panels(&[]), &["no time is given"]);
    assert_refused(picture.panels(&[0.1; 31]), &["31 panels are more than the 30"]);
    for (rate, speed, parts) in [
        (0.0, 1.0, ["frames a second", "0 is not above 0", "take 25"]),
        (-5.0, 1.0, ["frames a second", "-5 is not above 0", "take 25"]),
        (f64::NAN, 1.0, ["frames a second", "NaN", "take 25"]),
        (60.0, 1.0, ["frames a second", "at most 50", "take 25"]),
        (25.0, 0.0, ["the speed", "0 is not positive", "take 1"]),
        (25.0, f64::INFINITY, ["the speed", "inf is not positive", "take 1"]),
        (50.0, 0.01, ["2501 frames", "more than 1500", "a higher speed"]),
        (1.0, 1.0, ["the 0.5 s from start to end", "one frame only", "a lower speed"]),
    ] {
        let animation = Animation { frames_per_second: rate, speed: Some(speed) };
        assert_refused(picture.animation(&animation, &mut |_| {}), &parts);
    }
}

/// Protects the search for a slip: a start that no simulation accepts is drawn as it was put together.
#[test]
fn an_inconsistent_start_is_drawn() {
    let mut m = Mechanism::new("torn");
    let rod = m.body("rod", Body::new(1.0, 0.1).at([0.5, 0.3], 0.0));
    m.revolute("pin", m.ground().at([0.0, 0.0]), rod.at([-0.5, 0.0]));
    let simulation = simulation(m.build().unwrap(), 0.1, 1e-2);
    assert!(simulation.run(&[]).is_err());
    assert!(Picture::of_start(&simulation, &[]).unwrap().panels(&[0.0]).unwrap().to_svg().is_ok());
}
