//! Pictures of plain models, which say themselves what they look like: what is drawn where, and what is said of a wrong one.

use crate::svg;

use costate::scheme::Hht;
use costate::sketch::Place;
use costate::system::System;
use costate::{Drawing, FreeEndTime, Matrix, Model, Number, Plain, Signal, Signature, Simulation, TimeGrid};
use costate_identify::Result;
use costate_models::five_bar::FiveBar;
use costate_models::overhead_crane::OverheadCrane;
use costate_models::pendulum::Pendulum;
use costate_report::plot::mechanism::{Animation, Picture, sketch};
use std::sync::{Arc, Mutex};
use svg::{JOINT, assert_refused, circles, tick};

/// Radii of a point and of the end of a rod in mm, with its outline.
const POINT: f64 = 1.2;
const END: f64 = 0.69;

fn simulation(model: impl Model + 'static, end: f64, step: f64, inputs: &[f64]) -> Simulation {
    let signals = inputs.iter().map(|w| Signal::constant(*w)).collect();
    let grid = TimeGrid::uniform(0.0, end, step).unwrap();
    Simulation::new(Arc::new(Plain::new(model).unwrap()), Hht::new(-0.1).unwrap(), grid, signals).unwrap()
}

/// Protects places: a plain model's points are where its function puts them, at the start and at any time, y upwards.
#[test]
fn plain_models_are_drawn_where_they_say() {
    let pendulum = simulation(Pendulum, 0.5, 1e-2, &[]);
    let u = pendulum.signature().nominal();
    let trajectory = pendulum.run(&u).unwrap();
    let picture = Picture::of_motion(&pendulum, &u, &trajectory).unwrap();
    for i in [0, 17, 50] {
        let svg = picture.panels(&[trajectory.times()[i]]).unwrap().to_svg().unwrap();
        let ([mass], [pivot, _]) = (&circles(&svg, POINT)[..], &circles(&svg, END)[..]) else { panic!("{svg}") };
        let scale = (tick(&svg, "0.2") - tick(&svg, "0.0")) / 0.2;
        let drawn = [(mass.0 - pivot.0) / scale, (pivot.1 - mass.1) / scale];
        let q = trajectory.state(i).q;
        assert!((0..2).all(|k| (drawn[k] - q[k]).abs() < 10.0 / scale), "{drawn:?} for {q:?}");
    }
}

/// Protects models whose y points downwards, and parameters: the load hangs below the cart, as far as the rope is long.
#[test]
fn a_crane_hangs_its_load_below_the_rail() {
    let crane = simulation(OverheadCrane, 0.1, 1e-2, &[0.0, 98.1]);
    let mut u = crane.signature().nominal();
    for length in [4.0, 2.0] {
        *u.last_mut().unwrap() = length;
        let svg = Picture::of_start(&crane, &u).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap();
        let load = circles(&svg, POINT)[0];
        // numbers beside the vertical axis, centred at their ticks up to half a letter
        let numbers = svg.lines().filter(|line| line.starts_with("<text ") && line.contains("\"end\""));
        let ticks: Vec<(f64, f64)> = numbers
            .filter_map(|line| {
                let number = line.strip_suffix("</text>")?.rsplit('>').next()?.replace('−', "-").parse().ok()?;
                Some((number, svg::attribute(line, "y")?.parse().ok()?))
            })
            .collect();
        let (first, last) = (ticks[0], ticks[ticks.len() - 1]);
        let height = first.0 + (load.1 - first.1) * (last.0 - first.0) / (last.1 - first.1);
        assert!((height + length).abs() < 0.03 * length, "the load is at {height} m");
    }
}

/// Protects wrappers: the picture is that of the model within, whatever its time.
#[test]
fn a_free_end_time_has_the_picture_of_its_model() {
    let draw = |simulation: &Simulation| {
        let u = simulation.signature().nominal();
        Picture::of_start(simulation, &u).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap()
    };
    let free = FreeEndTime::new(Pendulum, 2.0, 1.0, 3.0);
    assert_eq!(draw(&simulation(Pendulum, 1.0, 1e-2, &[])), draw(&simulation(free, 1.0, 1e-2, &[])));
}

/// Protects animations and exaggerated motions, in which bars do not keep their lengths.
#[test]
fn plain_models_are_animated_and_exaggerated() {
    let linkage = simulation(FiveBar, 0.2, 1e-2, &[]);
    let u = linkage.signature().nominal();
    let trajectory = linkage.run(&u).unwrap();
    let picture = || Picture::of_motion(&linkage, &u, &trajectory).unwrap();
    let svg = picture().panels(&[0.0, 0.2]).unwrap().to_svg().unwrap();
    assert_eq!(circles(&svg, JOINT).len(), 10, "a ring a joint");
    let animation = Animation { frames_per_second: 5.0, speed: Some(0.2) };
    assert!(picture().animation(&animation, &mut |_| {}).unwrap().starts_with(b"GIF89a"));
    assert!(picture().readable_exaggeration() >= 1.0);
    let svg = picture().exaggerate(20.0).unwrap().panels(&[0.2]).unwrap().to_svg().unwrap();
    assert!(svg.contains("motion × 20"));
    let low = picture().height(60.0).unwrap().panels(&[0.0, 0.1, 0.2]).unwrap().to_svg().unwrap();
    assert_eq!(circles(&low, JOINT).len(), 15);
    assert_refused(picture().height(f64::NAN).map(|_| ()), &["the height of the figure", "40 mm or more"]);
}

/// Protects forces that turn with what the model computes: arrows point where they act at each time.
#[test]
fn forces_point_where_the_model_says() {
    let turning: Drawer = |_, x, drawing| {
        let mass = drawing.point("mass", [x, 0.0]);
        drawing.force(mass, x * std::f64::consts::FRAC_PI_2, 2.0);
    };
    let svg = drawn(turning).unwrap();
    let colour = "fill=\"#CC3C78\"";
    let heads: Vec<Vec<f64>> = svg
        .lines()
        .filter(|line| line.starts_with("<polygon ") && line.contains(colour))
        .map(|line| {
            let points = svg::attribute(line, "points").unwrap();
            points.split([' ', ',']).filter_map(|number| number.parse().ok()).collect()
        })
        .collect();
    let [along, upward] = &heads[..] else { panic!("{} arrows", heads.len()) };
    // from the middle of an arrow's foot to its tip, on paper
    let way = |head: &[f64]| [0, 1].map(|k| head[k] - 0.5 * (head[2 + k] + head[4 + k]));
    let (along, upward) = (way(along), way(upward));
    assert!(along[0] > 10.0 && along[1].abs() < 2.0, "{along:?}");
    assert!(upward[1] < -10.0 && upward[0].abs() < 2.0, "{upward:?}");
}

type Drawer = fn(&Odd, f64, &mut Drawing);

/// A mass that moves by 1 m a second, with a picture that is wrong in some way.
struct Odd {
    draw: Drawer,
    kept: Mutex<Option<Place>>,
}

impl Odd {
    fn new(draw: Drawer) -> Self {
        Odd { draw, kept: Mutex::new(None) }
    }
}

impl Model for Odd {
    fn signature(&self) -> Signature {
        Signature::new("odd").coordinates([("x", "m")])
    }
    fn initial<D: Number>(&self, _u: &[D], _q: &mut [D], v: &mut [D]) {
        v[0] = D::from(1.0);
    }
    fn mass<D: Number>(&self, _q: &[D], _u: &[D], m: &mut Matrix<D>) {
        m[(0, 0)] = D::from(1.0);
    }
    fn force<D: Number>(&self, _t: D, _q: &[D], _v: &[D], _w: &[D], _u: &[D], _force: &mut [D]) {}
    fn picture(&self, _t: f64, q: &[f64], _w: &[f64], _u: &[f64], drawing: &mut Drawing) {
        (self.draw)(self, q[0], drawing);
    }
}

fn drawn(draw: Drawer) -> Result<String> {
    let simulation = simulation(Odd::new(draw), 1.0, 0.1, &[]);
    let trajectory = simulation.run(&[])?;
    Picture::of_motion(&simulation, &[], &trajectory)?.panels(&[0.0, 1.0])?.to_svg()
}

/// Protects whoever writes a wrong picture: a sentence says what is wrong, at which time, and how it should be.
#[test]
fn wrong_pictures_are_explained() {
    let right: Drawer = |_, x, drawing| {
        let mass = drawing.point("mass", [x, 0.0]);
        drawing.slider(drawing.ground([0.0; 2]), 0.0, mass);
    };
    assert!(drawn(right).is_ok());
    let cases: [(Drawer, &[&str]); 10] = [
        (
            |_, x, drawing| drawing.trace(drawing.ground([x, 0.0])),
            &["model `odd`", "has no picture", "add `picture` to its `Model`"],
        ),
        (
            |_, x, drawing| {
                let mass = drawing.point("mass", [x.ln(), 0.0]);
                drawing.trace(mass);
            },
            &["the picture of model `odd` at t = 0 s", "`mass` is at x = -inf m, y = 0 m", "`Model::picture`"],
        ),
        (
            |_, x, drawing| {
                let mass = drawing.disc("mass", [x, 0.0], 0.0, (0.5 - x).sqrt());
                drawing.trace(mass);
            },
            &["the picture of model `odd` at t = 1 s", "`mass` is at x = 1 m", "radius = NaN m"],
        ),
        (
            |_, x, drawing| {
                let mass = drawing.point("mass", [x, 0.0]);
                drawing.force(mass, 0.0, 1.0 / x);
            },
            &["at t = 0 s", "a force or torque is inf", "and the inputs"],
        ),
        (
            |odd, x, drawing| {
                let mass = drawing.point("mass", [x, 0.0]);
                let other = drawing.point("other", [0.0, x]);
                let before = odd.kept.lock().unwrap().replace(other);
                drawing.rod(mass, before.filter(|_| x > 0.0).unwrap_or(mass));
            },
            &["something is attached at (0, 0) m on `other`, and (0, 0) m on `mass` at the start"],
        ),
        (
            |_, x, drawing| {
                drawing.point("mass", [x, 0.0]);
                if x > 0.5 {
                    drawing.point("late", [x, 1.0]);
                }
            },
            &["there are 2 members, 0 parts and 0 traces, and 1, 0 and 0 at the start", "the same at all times"],
        ),
        (
            |_, x, drawing| {
                let mass = drawing.point("mass", [x, 0.0]);
                drawing.rod(mass, drawing.ground([x, 1.0]));
            },
            &[
                "attached at (1, 1) m on the ground, and (0, 1) m on the ground at the start",
                "a point or body of its own",
            ],
        ),
        (
            |_, x, drawing| {
                let [start, _] = drawing.bar("telescope", [0.0; 2], [1.0 + x, 0.0]);
                drawing.pin(drawing.ground([0.0; 2]), start);
                let [_, end] = drawing.bar("other", [0.0; 2], [1.0 + x, 0.0]);
                drawing.trace(end);
            },
            &["attached at (2, 0) m on `other`, and (1, 0) m", "what changes its length as a rod or rope"],
        ),
        (
            |_, x, drawing| {
                let mass = drawing.point("mass", [x, 0.0]);
                drawing.slider(drawing.ground([0.0; 2]), x, mass);
            },
            &["a guide points along (0.5403, 0.8415) on the ground, and (1, 0) on the ground at the start"],
        ),
        (
            |_, x, drawing| {
                drawing.disc("balloon", [x, 0.0], 0.0, 1.0 + x);
            },
            &["the rim of a disc is at (2, 0) m on `balloon`, and (1, 0) m"],
        ),
    ];
    for (draw, parts) in cases {
        assert_refused(drawn(draw), parts);
    }
    // a place of another call
    let foreign: Drawer = |odd, x, drawing| {
        let mass = drawing.point("mass", [x, 0.0]);
        let mut kept = odd.kept.lock().unwrap();
        if let Some(kept) = *kept {
            return drawing.rod(mass, kept);
        }
        *kept = Some(drawing.point("once", [x, 1.0]));
        drawing.rod(mass, mass);
    };
    assert_refused(drawn(foreign), &["a part is attached to something that is not drawn", "keep no places"]);
}

/// Protects whoever indexes too far: the panic is a sentence before anything is simulated, and one that comes later as well.
#[test]
fn pictures_that_panic_are_explained() {
    let at_once = Plain::new(Odd::new(|_, x, drawing| {
        drawing.point("mass", [[x][std::hint::black_box(1)], 0.0]);
    }));
    assert_refused(at_once.map(|_| ()), &["model `odd`", "one of its functions panics: index out of bounds"]);
    let later: Drawer = |_, x, drawing| {
        assert!(x < 0.5, "too far");
        drawing.point("mass", [x, 0.0]);
    };
    assert_refused(drawn(later), &["model `odd`", "one of its functions panics: too far"]);
    let plain = Plain::new(Odd::new(later)).unwrap();
    assert!(sketch(&plain).is_ok() && plain.sketch_at(0.0, &[0.7], &[], &[]).is_err());
}
