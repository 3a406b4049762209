//! Pictures of mechanisms of space: what is seen where from which side, what covers what, and what is said of views that are none.

use crate::svg;

use costate::scheme::Hht;
use costate::system::System;
use costate::vector::euler_parameters_of;
use costate::{Number, Signal, Simulation, TimeGrid};
use costate_parts::assembly::RedundantRows;
use costate_parts::law::{Axes, FunctionOfTime, Linear};
use costate_parts::spatial::{Body, Capsule, Freedom, Inertia, Joint, Looks, Mechanism, Member, Path, Place};
use costate_report::plot::mechanism::{Animation, Picture, View, check_view};
use std::sync::Arc;
use svg::{CENTER, JOINT, UNITS, assert_refused, attribute, circles, tick};

fn simulation(m: Mechanism) -> Simulation {
    let system = m.build().unwrap();
    let signals = system.signature().inputs.iter().map(|_| Signal::function(|t| 1.0 + t)).collect();
    let grid = TimeGrid::uniform(0.0, 0.4, 1e-2).unwrap();
    Simulation::new(Arc::new(system), Hht::new(-0.1).unwrap(), grid, signals).unwrap()
}

fn start(m: Mechanism, view: View) -> String {
    let simulation = simulation(m);
    Picture::of_start(&simulation, &[]).unwrap().view(view).unwrap().panels(&[0.0]).unwrap().to_svg().unwrap()
}

/// Radius of point masses, mm.
const MASS: f64 = 1.2;

/// Protects what bodies look like where a mechanism says so: boxes, cylinders and balls of these sizes, where and as they are turned, in the place of what follows
/// from joints and masses; room that is kept only by its edges, if there is something else; on the ground, behind all else.
#[test]
fn bodies_look_as_the_mechanism_says() {
    let draw = |looks: &dyn Fn(&mut Mechanism, &Member)| {
        let mut m = Mechanism::new("looks");
        let body = m.body("body", Body::new(1.0, Inertia::diagonal([1.0, 2.0, 2.5])).at([1.0, 0.0, 2.0]));
        m.free(&body);
        // of a known scale: 4 m wide
        let marks = [[-1.0, 0.0, 2.0], [3.0, 0.0, 2.0]].map(|place| m.point(&format!("{place:?}"), 1.0, place));
        marks.iter().for_each(|mark| m.free(mark));
        looks(&mut m, &body);
        start(m, View::FRONT)
    };
    // x and z, m, from and to, of what is drawn, the farthest first; the page is none
    let drawn = |svg: &str, tag: &str| -> Vec<[[f64; 2]; 2]> {
        let marks = circles(svg, MASS);
        let scale = (marks[1].0 - marks[0].0) / 4.0;
        let place = |x: f64, y: f64| [(x - marks[0].0) / scale - 1.0, (marks[0].1 - y) / scale + 2.0];
        let extent = |line: &str| {
            let points = attribute(line, "points").unwrap();
            let points = points.split_whitespace().map(|point| {
                let (x, y) = point.split_once(',').unwrap();
                place(x.parse().unwrap(), y.parse().unwrap())
            });
            let points: Vec<[f64; 2]> = points.collect();
            [0, 1].map(|k| {
                let own = points.iter().map(|point| point[k]);
                [own.clone().fold(f64::INFINITY, f64::min), own.fold(f64::NEG_INFINITY, f64::max)]
            })
        };
        let lines = svg.lines().filter(|line| line.starts_with(tag) && !line.contains("#000000"));
        let all: Vec<_> = lines.map(extent).collect();
        all[usize::from(tag == "<polygon")..].to_vec()
    };
    let assert_drawn = |seen: &[[[f64; 2]; 2]], expected: &[[[f64; 2]; 2]]| {
        // 1 m is some 800 units; round solids have corners
        let near = seen.iter().flatten().flatten().zip(expected.iter().flatten().flatten());
        assert!(seen.len() == expected.len() && { near }.all(|(a, b)| (a - b).abs() < 3e-3), "{seen:?} {expected:?}");
    };
    let polygons = |looks: &dyn Fn(&mut Mechanism, &Member)| drawn(&draw(looks), "<polygon");
    let plain = |m: &mut Mechanism, body: &Member| m.looks(Looks::cuboid(&body.at([0.0; 3]), [0.4, 0.2, 1.0]));
    let upright = [[0.8, 1.2], [1.5, 2.5]];
    assert_drawn(&polygons(&plain), &[upright]);
    // off the middle; its length along x, its width along z
    let place = |body: &Member| body.at([0.1, 0.0, 0.3]).axis([2.0, 0.0, 0.0]).across([1.0, 0.0, 3.0]);
    assert_drawn(
        &polygons(&|m, body| m.looks(Looks::cuboid(&place(body), [0.4, 0.2, 1.0]))),
        &[[[0.6, 1.6], [2.1, 2.5]]],
    );
    assert_drawn(&polygons(&|m, body| m.looks(Looks::cylinder(&place(body), 0.1, 0.6))), &[[[0.8, 1.4], [2.2, 2.4]]]);
    assert_drawn(&polygons(&|m, body| m.looks(Looks::capsule(&place(body), 0.1, 0.6))), &[[[0.7, 1.5], [2.2, 2.4]]]);
    // two of them, the nearer one last
    let behind = |m: &mut Mechanism, body: &Member| {
        m.looks(Looks::cuboid(&body.at([0.0, -0.5, 0.0]), [0.4, 0.2, 1.0]));
        m.looks(Looks::cuboid(&body.at([0.5, 0.5, 0.0]), [0.2, 0.2, 0.2]));
    };
    assert_drawn(&polygons(&behind), &[[[1.4, 1.6], [1.9, 2.1]], upright]);
    // a ball: its outline, half of it within, and what is filled
    let ball = polygons(&|m, body| m.looks(Looks::ball(&body.at([0.0, 0.0, 0.5]), 0.25)));
    let near = ball.iter().flat_map(|own| [own[0][0] - 0.75, own[0][1] - 1.25, own[1][0] - 2.25, own[1][1] - 2.75]);
    assert!(ball.len() == 2 && near.fold(0.0, |most: f64, x| most.max(x.abs())) < 0.015, "{ball:?}");
    // what stands on the ground hides it, though its middle is nearer
    let table = |m: &mut Mechanism, body: &Member| {
        plain(m, body);
        let ground = m.ground();
        m.looks(Looks::cuboid(&ground.at([1.0, -0.4, 2.0]), [1.0, 1.0, 1.0]));
    };
    assert_drawn(&polygons(&table), &[[[0.5, 1.5], [1.5, 2.5]], upright]);
    // room: filled where there is nothing else, and else by its edge alone
    let room = |m: &mut Mechanism, body: &Member| {
        m.looks(&Capsule::new(body, [0.0, 0.0, -0.3], [0.0, 0.0, 0.3], 0.2));
    };
    let wide = [[0.8, 1.2], [1.5, 2.5]];
    assert_drawn(&polygons(&room), &[wide]);
    let both = draw(&|m, body| {
        m.looks(Looks::cuboid(&body.at([0.0; 3]), [0.1, 0.1, 0.1]));
        room(m, body);
    });
    assert_drawn(&drawn(&both, "<polygon"), &[[[0.95, 1.05], [1.95, 2.05]]]);
    let edges = drawn(&both, "<polyline");
    assert!(edges.iter().any(|edge| edge.iter().zip(&wide).all(|(a, b)| (a[0] - b[0]).hypot(a[1] - b[1]) < 3e-3)));
    // what has no extent leaves nothing that is not a number
    let nothing = draw(&|m, body| {
        m.looks(Looks::cuboid(&body.at([0.0; 3]).axis([0.0; 3]), [f64::NAN, 0.2, 1.0]));
        m.looks(Looks::ball(&body.at([0.0; 3]), -1.0));
    });
    assert!(!nothing.contains("NaN"));
}

/// Protects where things are seen, and what covers what: point masses are where a rotation of the world puts them, farther ones
/// are drawn first.
#[test]
fn points_are_seen_from_the_side_that_is_said() {
    let places = [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.1, 0.0], [0.0, 0.0, 1.3], [0.4, -0.6, 0.2]];
    let named = [
        ("front", [0.0f64, 0.0f64]),
        ("side", [90.0, 0.0]),
        ("top", [0.0, 90.0]),
        ("isometric", [45.0, 35.264_389_682_754_654]),
    ];
    let free = [("-37.5,30", [-37.5, 30.0]), ("200, -65", [200.0, -65.0])];
    for (name, angles) in named.into_iter().chain(free) {
        let mut m = Mechanism::new("points");
        for (k, place) in places.into_iter().enumerate() {
            let point = m.point(&format!("point{k}"), 1.0, place);
            m.free(&point);
        }
        let svg = start(m, name.parse().unwrap());
        let seen = circles(&svg, MASS);
        // turned about z by the azimuth against the viewer, then about x by the elevation
        let [azimuth, elevation] = angles.map(f64::to_radians);
        let mut expected = places.map(|[x, y, z]| {
            let (right, away) = (x * azimuth.cos() + y * azimuth.sin(), y * azimuth.cos() - x * azimuth.sin());
            let up = z * elevation.cos() + away * elevation.sin();
            (right, up, z * elevation.sin() - away * elevation.cos())
        });
        // what is equally near to round-off comes in the order of the parts
        let depth = |point: &(f64, f64, f64)| (point.2 * 1e6).round() + 0.0;
        expected.sort_by(|a, b| depth(a).total_cmp(&depth(b)));
        let spread = |of: &dyn Fn(usize) -> f64| {
            (0..5).map(of).fold(f64::NEG_INFINITY, f64::max) - (0..5).map(of).fold(f64::INFINITY, f64::min)
        };
        let scale = spread(&|k| seen[k].0) / spread(&|k| expected[k].0);
        assert!(scale > 5.0 * UNITS, "1 m is {scale} units");
        for k in 1..5 {
            let drawn = ((seen[k].0 - seen[0].0) / scale, (seen[0].1 - seen[k].1) / scale);
            let (x, y) = (expected[k].0 - expected[0].0, expected[k].1 - expected[0].1);
            // a unit is a fiftieth of a millimetre; both ends and the scale are rounded
            assert!((drawn.0 - x).hypot(drawn.1 - y) < 3.0 / scale, "{name}: {drawn:?} for {x}, {y}");
        }
    }
}

/// Protects axes: a view along an axis has ticks of the other two, another one a triad and a scale bar of the right length.
#[test]
fn axes_are_told() {
    let mechanism = || {
        let mut m = Mechanism::new("points");
        for (k, x) in [0.0, 1.0].into_iter().enumerate() {
            let point = m.point(&format!("point{k}"), 1.0, [x, 0.5 * x, x]);
            m.free(&point);
        }
        m
    };
    let labels = |svg: &str, label: &str| svg.lines().any(|line| line.ends_with(&format!(">{label}</text>")));
    for (view, axes) in
        [(View::FRONT, ["x [m]", "z [m]"]), (View::SIDE, ["y [m]", "z [m]"]), (View::TOP, ["x [m]", "y [m]"])]
    {
        let svg = start(mechanism(), view);
        assert!(axes.iter().all(|axis| labels(&svg, axis)), "{axes:?}");
        let points = circles(&svg, MASS);
        assert!((tick(&svg, "0.0") - points.iter().map(|at| at.0).fold(f64::INFINITY, f64::min)).abs() <= 1.0);
    }
    let svg = start(mechanism(), View::ISOMETRIC);
    assert!(["x", "y", "z", "0.2 m"].iter().all(|label| labels(&svg, label)) && !labels(&svg, "x [m]"));
    // the bar is as long as 0.2 m of the line between both points, whose x and y add up to 1.5 m
    let points = circles(&svg, MASS);
    let scale = (points[1].0 - points[0].0).abs() / (1.5 * 0.5f64.sqrt());
    let lines = svg.lines().filter(|line| line.starts_with("<line ") || line.starts_with("<polyline "));
    let lengths = lines.filter_map(|line| {
        let ends: Vec<f64> = attribute(line, "points")?.split([' ', ',']).filter_map(|x| x.parse().ok()).collect();
        let [x0, y0, x1, y1] = ends[..] else { return None };
        (y0 == y1).then_some((x1 - x0).abs())
    });
    let lengths: Vec<f64> = lengths.collect();
    assert!(lengths.iter().any(|length| (length - 0.2 * scale).abs() <= 2.0), "{} in {lengths:?}", 0.2 * scale);
}

/// A massless-looking rod between two points of the world, welded to the ground at its first end.
fn bar(m: &mut Mechanism, name: &str, from: [f64; 3], to: [f64; 3]) {
    let middle = std::array::from_fn(|k| 0.5 * (from[k] + to[k]));
    let body = m.body(name, Body::new(1.0, Inertia::diagonal([0.1, 0.11, 0.12])).at(middle));
    let ground = m.ground();
    let [first, second] = [m.place(&ground, from), m.place(&body, from)];
    m.weld(&format!("{name} foot"), first, second);
    let bob = m.point(&format!("{name} bob"), 0.1, to);
    let [first, second] = [m.place(&body, to), m.place(&bob, to)];
    m.spherical(&format!("{name} ball"), first, second);
}

/// Protects bars that go from far to near: one covers what is behind its near end, and is covered at its far end.
#[test]
fn bars_cover_what_is_behind_them() {
    let mut m = Mechanism::new("bars");
    bar(&mut m, "slanted", [0.0, -1.0, 0.2], [1.0, 1.0, 0.2]);
    bar(&mut m, "behind", [0.1, 0.0, -0.5], [0.1, 0.0, 0.5]);
    bar(&mut m, "before", [0.9, 0.0, -0.5], [0.9, 0.0, 0.5]);
    let simulation = simulation(m);
    let figure = Picture::of_start(&simulation, &[]).unwrap().view(View::FRONT).unwrap().panels(&[0.0]).unwrap();
    let svg = figure.to_svg().unwrap();
    let mut centers = circles(&svg, CENTER);
    centers.sort_by(|a, b| a.0.total_cmp(&b.0));
    let [left, _, right] = centers[..] else { panic!("{centers:?}") };
    let scale = (right.0 - left.0) / 0.8;
    let png = figure.to_png().unwrap();
    let mut reader = png::Decoder::new(std::io::Cursor::new(png)).read_info().unwrap();
    let mut pixels = vec![0; reader.output_buffer_size().unwrap()];
    let info = reader.next_frame(&mut pixels).unwrap();
    let depth = info.color_type.samples();
    let paper: f64 = attribute(svg.lines().find(|line| line.starts_with("<svg ")).unwrap(), "viewBox")
        .unwrap()
        .split(' ')
        .nth(2)
        .unwrap()
        .parse()
        .unwrap();
    let dots = f64::from(info.width) / paper;
    let color = |center: (f64, f64)| {
        let (x, y) = (center.0 * dots, (center.1 - 0.2 * scale) * dots);
        let at = (y.round() as usize * info.width as usize + x.round() as usize) * depth;
        [pixels[at], pixels[at + 1], pixels[at + 2]]
    };
    // colours go in turn: the first, third and fifth member
    assert_eq!(color(left), [186, 213, 233], "the slanted one is nearer");
    assert_eq!(color(right), [246, 212, 184], "the slanted one is farther");
}

/// Protects hinges: seen along their axis they are round, from the side as long as a pin.
#[test]
fn hinges_show_their_axis() {
    let size = |view| {
        let mut m = Mechanism::new("hinge");
        let arm = m.body("arm", Body::new(1.0, Inertia::diagonal([0.1, 0.11, 0.12])).at([0.5, 0.0, 0.0]));
        let y = [0.0, 1.0, 0.0];
        m.revolute("hinge", m.ground().at([0.0; 3]).axis(y), arm.at([-0.5, 0.0, 0.0]).axis(y));
        let svg = start(m, view);
        // the pin is the last white polygon but for the quarters of centres of mass, which are dark
        let pin =
            svg.lines().rfind(|line| line.starts_with("<polygon ") && line.to_lowercase().contains("fill=\"#ffffff\""));
        let corners = attribute(pin.unwrap(), "points").unwrap();
        let corners: Vec<f64> = corners.split([' ', ',']).filter_map(|x| x.parse().ok()).collect();
        let extent = |k: usize| {
            let along = corners.iter().skip(k).step_by(2);
            along.clone().fold(f64::NEG_INFINITY, |a, b| a.max(*b)) - along.fold(f64::INFINITY, |a, b| a.min(*b))
        };
        [extent(0), extent(1)]
    };
    let [wide, high] = size(View::FRONT);
    assert!((wide - high).abs() <= 2.0 && wide > UNITS, "{wide} x {high}");
    let [wide, high] = size(View::SIDE);
    assert!(wide > 2.0 * high && high > UNITS, "{wide} x {high}");
}

struct Steady;

impl FunctionOfTime for Steady {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        t * 0.1
    }
}

impl Path for Steady {
    fn at<D: Number>(&self, t: D, u: &[D]) -> [D; 3] {
        [u[0], u[1], u[2] + t * 0.1]
    }
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const TOP: [f64; 3] = [0.0, 0.0, 0.5];

type Add = fn(&mut Mechanism, &Member, &Member);

/// A third body, on a guide of the first one.
fn slide(m: &mut Mechanism, a: &Member, join: fn(&mut Mechanism, &str, Place, Place) -> Joint) -> Joint {
    let block = m.body("block", Body::new(1.0, Inertia::diagonal([0.1, 0.11, 0.12])).at([0.0, 0.2, 1.0]));
    join(m, "guide", a.at(TOP).axis(Y), block.at([0.0; 3]).axis(Y))
}

/// Parts that may be added to two bodies that stand on hinges.
const PARTS: [(&str, Add); 27] = [
    ("spherical", |m, a, b| {
        m.spherical("ball", a.at(TOP), b.at(TOP));
    }),
    ("revolute", |m, a, b| {
        m.revolute("hinge", a.at(TOP), b.at(TOP));
    }),
    ("universal", |m, a, b| {
        m.universal("cardan", a.at(TOP).axis(X), b.at(TOP).axis(Y));
    }),
    ("weld", |m, a, b| {
        m.weld("weld", a.at(TOP), b.at(TOP));
    }),
    ("cylindrical", |m, a, _| {
        slide(m, a, Mechanism::cylindrical);
    }),
    ("prismatic", |m, a, _| {
        slide(m, a, Mechanism::prismatic);
    }),
    ("screw", |m, a, _| {
        slide(m, a, |m, name, first, second| m.screw(name, first, second, 0.1));
    }),
    ("in line", |m, a, _| {
        slide(m, a, Mechanism::in_line);
    }),
    ("in plane", |m, a, b| {
        m.in_plane("sheet", a.at(TOP), b.at(TOP));
    }),
    ("planar", |m, a, b| {
        m.planar("table", a.at(TOP), b.at(TOP));
    }),
    ("distance", |m, a, b| {
        m.distance("rod", a.at(TOP), b.at(TOP), 1.0);
    }),
    ("drive of a point", |m, a, _| {
        m.drive_point("lift", a.at(TOP), Steady, [0.0, 0.0, 1.0]);
    }),
    ("drive of axes", |m, a, _| {
        m.drive_orientation("turn", a, Steady, [0.0; 3]);
    }),
    ("drive of an angle", |m, a, b| {
        let hinge = m.revolute("hinge", a.at(TOP), b.at(TOP));
        m.drive_joint("turn", &hinge, Freedom::Turn, Steady, [0.0; 0]);
    }),
    ("drive of a displacement", |m, a, _| {
        let guide = slide(m, a, Mechanism::prismatic);
        m.drive_joint("slide", &guide, Freedom::Slide, Steady, [0.0; 0]);
    }),
    ("spring", |m, a, b| {
        m.spring("spring", a.at(TOP), b.at(TOP), 1.0, 5.0, 0.0);
    }),
    ("damper", |m, a, b| {
        m.spring("damper", a.at(TOP), b.at(TOP), 1.0, 0.0, 2.0);
    }),
    ("strut", |m, a, b| {
        m.strut("strut", a.at(TOP), b.at(TOP), 1.0, Linear, [5.0, 1.0]);
    }),
    ("torsional spring", |m, a, b| {
        let hinge = m.revolute("hinge", a.at(TOP), b.at(TOP));
        m.joint_spring("torsion", &hinge, Freedom::Turn, 5.0, 0.1);
    }),
    ("friction", |m, a, b| {
        let hinge = m.revolute("hinge", a.at(TOP), b.at(TOP));
        m.joint_friction("friction", &hinge, Freedom::Turn, [0.1, 0.2, 0.1, 0.0].map(Into::into));
    }),
    ("spring along a guide", |m, a, _| {
        let guide = slide(m, a, Mechanism::prismatic);
        m.joint_spring("spring", &guide, Freedom::Slide, 5.0, 0.0);
    }),
    ("motor", |m, a, b| {
        let hinge = m.revolute("hinge", a.at(TOP), b.at(TOP));
        let motor = m.input("motor", "N m");
        m.motor("motor", &hinge, Freedom::Turn, motor);
    }),
    ("linear motor", |m, a, _| {
        let guide = slide(m, a, Mechanism::prismatic);
        let motor = m.input("motor", "N");
        m.motor("motor", &guide, Freedom::Slide, motor);
    }),
    ("bushing", |m, a, b| {
        let stiffness: [[f64; 6]; 6] = std::array::from_fn(|i| std::array::from_fn(|j| if i == j { 1e3 } else { 0.0 }));
        m.bushing("bushing", a.at(TOP), b.at(TOP), stiffness, stiffness);
    }),
    ("contact", |m, a, _| {
        m.contact("floor", m.ground().at([0.0; 3]), a.at(TOP), 0.2, 1e3, 0.1);
    }),
    ("force", |m, a, _| {
        let push = m.input("push", "N");
        m.force("push", a.at(TOP), [1.0, 0.5, 0.0], Axes::World, push);
    }),
    ("torque", |m, a, _| {
        let twist = m.input("twist", "N m");
        m.torque("twist", a, X, Axes::Body, twist);
    }),
];

/// Two bodies on hinges, 1 m apart and a little aside, between far points that hold the scale: hatches and dashes are as many as there is room for.
fn pair(add: Option<Add>) -> Mechanism {
    let mut m = Mechanism::new("pair");
    // a picture does not mind
    m.redundant_rows(RedundantRows::Keep);
    let bodies = [0.0, 1.0].map(|x| {
        let y = 0.3 * x;
        let body = m.body(&format!("body{x}"), Body::new(1.0, Inertia::diagonal([0.1, 0.11, 0.12])).at([x, y, 0.5]));
        m.revolute(&format!("hinge{x}"), m.ground().at([x, y, 0.0]).axis(Y), body.at([0.0, 0.0, -0.5]).axis(Y));
        m.position(&format!("end{x}"), body.at(TOP));
        // a second part makes it a bar, whatever is added
        m.spring(&format!("stay{x}"), m.ground().at([x, 1.0, 0.5]), body.at(TOP), 1.0, 1.0, 0.0);
        body
    });
    for (name, place) in [("low", [-2.0; 3]), ("high", [3.0; 3])] {
        let point = m.point(name, 1.0, place);
        m.free(&point);
    }
    if let Some(add) = add {
        add(&mut m, &bodies[0], &bodies[1]);
    }
    m
}

/// Protects every part from being forgotten: it adds something to the picture, whatever the view, and what is driven or sprung
/// more than the joint alone.
#[test]
fn every_part_has_a_symbol() {
    for view in [View::ISOMETRIC, View::FRONT, View::SIDE, View::TOP] {
        let bare = svg::elements(&start(pair(None), view));
        let counts = PARTS.map(|(name, add)| (name, svg::elements(&start(pair(Some(add)), view))));
        let count = |name: &str| counts.iter().find(|(known, _)| *known == name).unwrap().1;
        for (name, with) in counts {
            assert!(with > bare, "`{name}` is not seen from {view:?}");
        }
        for name in ["drive of an angle", "torsional spring", "friction", "motor"] {
            assert!(count(name) > count("revolute"), "`{name}` is not seen from {view:?}");
        }
        for name in ["drive of a displacement", "spring along a guide", "linear motor"] {
            // arrows and springs are not seen from their ends
            assert!(count(name) > count("prismatic") || view == View::FRONT, "`{name}` is not seen from {view:?}");
        }
        assert!(count("screw") > count("cylindrical") || view == View::FRONT, "threads are seen");
        assert_ne!(count("spring"), count("damper"));
    }
}

/// Protects bodies without parts to draw between: they are solids, which show how they turn.
#[test]
fn loose_bodies_are_solids() {
    let shown = |moments: [f64; 3], turn: f64| {
        let mut m = Mechanism::new("loose");
        let turned = euler_parameters_of(costate::vector::Vector([0.3 * turn, 0.2 * turn, turn]));
        let body = m.body("body", Body::new(1.0, Inertia::diagonal(moments)).turned(turned));
        m.free(&body);
        start(m, View::ISOMETRIC)
    };
    for moments in [[0.1, 0.12, 0.15], [0.1, 0.1, 0.15], [0.1; 3], [0.1, 0.1, 1e-6]] {
        let rest = shown(moments, 0.0);
        assert!(svg::elements(&rest) > 2, "{moments:?}");
        assert_ne!(rest, shown(moments, 0.5), "{moments:?}");
    }
    assert_eq!(circles(&shown([0.0; 3], 0.0), MASS).len(), 1, "without extension, it is a point");
}

/// Protects what is inside a larger body, as in gimbals: of that, edges are drawn only.
#[test]
fn gimbals_do_not_hide_their_rotor() {
    let fills = |joined: bool| {
        let mut m = Mechanism::new("gimbal");
        let gimbal = m.body("gimbal", Body::new(1.0, Inertia::diagonal([0.1, 0.12, 0.15])));
        let at = if joined { 0.0 } else { 2.0 };
        let rotor = m.body("rotor", Body::new(1.0, Inertia::diagonal([0.01, 0.012, 0.015])).at([at, 0.0, 0.0]));
        [&gimbal, &rotor].into_iter().for_each(|body| m.free(body));
        let svg = start(m, View::ISOMETRIC);
        ["#bad5e9", "#f6d4b8"].map(|color| svg.to_lowercase().contains(&format!("fill=\"{color}\"")))
    };
    assert_eq!(fills(true), [false, true]);
    assert_eq!(fills(false), [true, true]);
}

/// Protects animations: they are seen from where they are said to be, and move.
#[test]
fn animations_are_seen_from_the_view() {
    let mut m = Mechanism::new("pendulum");
    let bob = m.point("bob", 1.0, [0.4, 0.3, 0.0]);
    m.distance("string", m.ground().at([0.0; 3]), bob.at([0.0; 3]), 0.5);
    m.position("way", bob.at([0.0; 3]));
    let simulation = simulation(m);
    let trajectory = simulation.run(&[]).unwrap();
    let film = |view| {
        let picture = Picture::of_motion(&simulation, &[], &trajectory).unwrap().view(view).unwrap();
        let animation = Animation { frames_per_second: 10.0, speed: Some(1.0) };
        picture.animation(&animation, &mut |_| {}).unwrap()
    };
    let count = |bytes: &[u8]| {
        let mut decoder = gif::DecodeOptions::new().read_info(bytes).unwrap();
        let mut changed = 0;
        while let Some(frame) = decoder.read_next_frame().unwrap() {
            changed += usize::from(frame.width > 10 && frame.height > 10);
        }
        (changed, decoder.width(), decoder.height())
    };
    let (front, above) = (count(&film(View::FRONT)), count(&film(View::TOP)));
    assert_eq!((front.0, above.0), (5, 5), "every frame changes");
    // it swings down in a plane that is upright
    assert!(
        f64::from(front.2) / f64::from(front.1) > 1.2 * f64::from(above.2) / f64::from(above.1),
        "{front:?} {above:?}"
    );
}

/// Protects from views that are none: the right ones are listed.
#[test]
fn wrong_views_are_explained() {
    for text in ["back", "", "10", "10,", "10,x", "1,2,3", "Front view"] {
        let parsed = text.parse::<View>();
        assert_refused(
            parsed,
            &[&format!("view `{text}`"), "front, side, top, isometric", "AZIMUTH,ELEVATION", "30,20"],
        );
    }
    for [azimuth, elevation] in [[0.0, 91.0], [0.0, -90.5], [f64::NAN, 0.0], [0.0, f64::NAN], [f64::INFINITY, 0.0]] {
        assert_refused(
            View::new(azimuth, elevation),
            &["the view", "from -90 to 90 degrees", "front, side, top, isometric"],
        );
    }
    let mut m = costate_parts::planar::Mechanism::new("flat");
    let body = m.body("body", costate_parts::planar::Body::new(1.0, 0.1));
    m.free(&body);
    let flat = m.build().unwrap();
    assert!(check_view(&flat, View::TOP).is_ok() && View::of(&flat).unwrap() == View::TOP);
    assert_refused(check_view(&flat, View::FRONT), &["`flat`", "in the plane", "leave the view out"]);
}

/// Protects from panics and from files that viewers refuse: everything in one point, places and directions that are not numbers.
#[test]
fn what_has_no_place_is_left_out() {
    for (_, add) in PARTS {
        // a view that nobody takes shows degenerate projections, too
        assert!(start(pair(Some(add)), View::new(0.0, -90.0).unwrap()).ends_with("</svg>\n"));
    }
    let mut m = Mechanism::new("heap");
    let bodies = ["a", "b"].map(|name| m.body(name, Body::new(1.0, Inertia::diagonal([0.0; 3]))));
    m.spherical("ball", m.ground().at([0.0; 3]), bodies[0].at([0.0; 3]));
    m.revolute("hinge", bodies[0].at([0.0; 3]), bodies[1].at([0.0; 3]));
    m.spring("spring", bodies[0].at([0.0; 3]), bodies[1].at([1e-9, 0.0, 0.0]), 0.1, 1.0, 1.0);
    assert!(svg::elements(&start(m, View::ISOMETRIC)) > 4);
    for lost in [f64::MAX, -1e300] {
        let mut m = pair(None);
        let bob = m.point("bob", 1.0, [0.2, 0.2, 0.2]);
        m.spherical("far ball", m.ground().at([lost, 0.0, 0.0]), bob.at([0.0, lost, 0.0]));
        m.position("far away", bob.at([lost; 3]));
        let svg = start(m, View::ISOMETRIC);
        assert!(svg::elements(&svg) > 4 && circles(&svg, JOINT).is_empty(), "{lost}");
    }
}
