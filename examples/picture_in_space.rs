//! Mechanisms of space drawn from their parts: a four-bar linkage with skew axes, a heavy top, and every symbol.
//!
//! `cargo run --release --example picture_in_space` writes `out/picture_in_space/four_bar.svg` (and others of it), `top.svg`,
//! `symbols.svg` (and PNG), and `four_bar.gif`.

use costate::scheme::Hht;
use costate::vector::{Vector, euler_parameters_of};
use costate::{InitialState, Number, Signal, Simulation, TimeGrid};
use costate_identify::Result;
use costate_parts::assembly::Assembly;
use costate_parts::law::{Axes, FunctionOfTime, Linear};
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Member, Path};
use costate_report::plot::mechanism::{Animation, Picture, View};
use std::sync::Arc;

/// A thin rod between two points, its axes those of the world.
fn rod(mass: f64, from: [f64; 3], to: [f64; 3]) -> Body {
    let (a, b) = (Vector(from), Vector(to));
    let [x, y, z] = (b - a).0;
    let whole = mass / 12.0;
    // a little more than nothing about its own axis
    let round = 1e-3 * whole * (x * x + y * y + z * z);
    let entries = [y * y + z * z, x * x + z * z, x * x + y * y, -x * y, -x * z, -y * z].map(|square| square * whole);
    let [xx, yy, zz, xy, xz, yz] = entries;
    Body::new(mass, Inertia::entries([xx + round, yy + round, zz + round, xy, xz, yz])).at(((a + b) * 0.5).0)
}

/// A crank about y moves a rocker about x through a rod with a ball and a Cardan joint; a motor drives it against a spring.
fn four_bar() -> costate::Result<Assembly> {
    let mut m = Mechanism::new("four_bar_in_space");
    let motor = m.input("motor", "N m");
    let [base, crank_pin] = [[0.0, 0.0, 0.0], [0.08, 0.0, 0.05]];
    let [rocker_base, rocker_pin] = [[0.35, 0.2, 0.0], [0.35, 0.12, 0.2]];
    let ground = m.ground();
    let crank = m.body("crank", rod(0.5, base, crank_pin));
    let coupler = m.body("coupler", rod(0.4, crank_pin, rocker_pin));
    let rocker = m.body("rocker", rod(0.6, rocker_base, rocker_pin));
    let hinge = |m: &mut Mechanism, name: &str, body: &Member, at, axis: [f64; 3]| {
        let places = [m.place(&ground, at).axis(axis), m.place(body, at).axis(axis)];
        let [first, second] = places;
        m.revolute(name, first, second)
    };
    let bearing = hinge(&mut m, "main bearing", &crank, base, [0.0, 1.0, 0.0]);
    hinge(&mut m, "rocker bearing", &rocker, rocker_base, [1.0, 0.0, 0.0]);
    let (first, second) = (m.place(&crank, crank_pin), m.place(&coupler, crank_pin));
    m.spherical("ball", first, second);
    let along = Vector(rocker_pin) - Vector(crank_pin);
    let across = along.cross(Vector([1.0, 0.0, 0.0]));
    let first = m.place(&coupler, rocker_pin).axis(across.0);
    let second = m.place(&rocker, rocker_pin).axis([1.0, 0.0, 0.0]);
    m.universal("cardan", first, second);
    let (first, second) = (m.place(&ground, [0.35, 0.35, 0.2]), m.place(&rocker, rocker_pin));
    m.spring("spring", first, second, 0.2, 60.0, 0.4);
    m.motor("motor", &bearing, Freedom::Turn, motor);
    let middle = m.place(&coupler, [0.2, 0.05, 0.16]);
    m.position("point", middle);
    m.build()
}

/// A spinning top on its tip.
fn top() -> costate::Result<Assembly> {
    let mut m = Mechanism::new("top");
    m.gravity([0.0, 0.0, -9.81]);
    let tilt = euler_parameters_of(Vector([0.5, 0.0, 0.0]));
    let center = Vector([0.0, -(0.5f64.sin()), 0.5f64.cos()]) * 0.1;
    let spin = center * 2500.0;
    let velocity = spin.cross(center);
    let body =
        Body::new(0.5, Inertia::diagonal([2.2e-4, 2.2e-4, 4e-4])).at(center.0).turned(tilt).moving(velocity.0, spin.0);
    let top = m.body("top", body);
    m.spherical("tip", m.ground().at([0.0; 3]), top.at([0.0, 0.0, -0.1]));
    m.position("end", top.at([0.0, 0.0, 0.04]));
    m.build()
}

struct Steady;

impl FunctionOfTime for Steady {
    fn at<D: Number>(&self, t: D, u: &[D]) -> D {
        t * u[0]
    }
}

impl Path for Steady {
    fn at<D: Number>(&self, t: D, u: &[D]) -> [D; 3] {
        [u[0], u[1], u[2] + t * 0.1]
    }
}

/// One of each symbol, in rows.
fn symbols() -> costate::Result<Assembly> {
    let mut m = Mechanism::new("symbols_in_space");
    let push = m.input("push", "N");
    let ground = m.ground();
    let spot = |i: usize, j: usize| [0.3 * i as f64, 0.3 * j as f64, 0.0];
    let above = |[x, y, z]: [f64; 3], height: f64| [x, y, z + height];
    let mut count = 0;
    let mut next = |m: &mut Mechanism, at: [f64; 3], height: f64| {
        count += 1;
        m.body(&format!("body{count}"), rod(1.0, at, above(at, height)))
    };
    let (x, y, z) = ([1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]);
    // upright bodies on joints
    let at = spot(0, 0);
    let body = next(&mut m, at, 0.15);
    m.spherical("ball", ground.at(at), body.at([0.0, 0.0, -0.075]));
    m.position("tip", body.at([0.0, 0.0, 0.075]));
    let at = spot(1, 0);
    let body = next(&mut m, at, 0.15);
    let hinge = m.revolute("hinge", ground.at(at).axis(x), body.at([0.0, 0.0, -0.075]).axis(x));
    m.joint_spring("torsion", &hinge, Freedom::Turn, 20.0, 0.1);
    let box_body = m.body("box", Body::new(1.0, Inertia::diagonal([4e-4, 6e-4, 8e-4])).at(above(at, 0.2)));
    m.weld("weld", body.at([0.0, 0.0, 0.075]), box_body.at([0.0, 0.0, -0.05]));
    m.force("push", box_body.at([0.0, 0.0, 0.0]), [0.0, 1.0, 0.0], Axes::World, push);
    let at = spot(2, 0);
    let body = next(&mut m, at, 0.15);
    m.universal("cardan", ground.at(at).axis(x), body.at([0.0, 0.0, -0.075]).axis(y));
    m.torque("twist", &body, z, Axes::World, push);
    m.position("cardan tip", body.at([0.0, 0.0, 0.075]));
    // on guides
    let block =
        |m: &mut Mechanism, name: &str, at| m.body(name, Body::new(1.0, Inertia::diagonal([2e-4, 3e-4, 4e-4])).at(at));
    let at = spot(0, 1);
    let slide = block(&mut m, "slide", at);
    let guide = m.prismatic("guide", ground.at(at).axis(y), slide.at([0.0; 3]).axis(y));
    m.joint_spring("guide spring", &guide, Freedom::Slide, 50.0, 1.0);
    let at = spot(1, 1);
    let sleeve = block(&mut m, "sleeve", at);
    let cylinder = m.cylindrical("cylinder", ground.at(at).axis(y), sleeve.at([0.0; 3]).axis(y));
    m.drive_joint("drive", &cylinder, Freedom::Slide, Steady, [0.02]);
    let at = spot(2, 1);
    let nut = block(&mut m, "nut", at);
    let screw = m.screw("screw", ground.at(at).axis(z), nut.at([0.0; 3]).axis(z), 0.02);
    m.drive_joint("turn", &screw, Freedom::Turn, Steady, [1.0]);
    // on planes
    let at = spot(0, 2);
    let puck = next(&mut m, at, 0.12);
    m.planar("table", ground.at(at), puck.at([0.0, 0.0, -0.06]));
    m.position("puck", puck.at([0.0, 0.0, 0.06]));
    let at = spot(1, 2);
    let ball = m.body("rolling", Body::new(1.0, Inertia::diagonal([9e-4; 3])).at(above(at, 0.05)));
    m.contact("floor", ground.at(at), ball.at([0.0; 3]), 0.05, 1e5, 0.1);
    let at = spot(2, 2);
    let bead = m.point("bead", 0.2, at);
    m.in_line("wire", ground.at(at).axis(x), bead.at([0.0; 3]));
    // held by rods and springs
    let at = spot(0, 3);
    let bob = m.point("bob", 0.5, above(at, -0.1));
    m.distance("string", ground.at(above(at, 0.1)), bob.at([0.0; 3]), 0.2);
    let at = spot(1, 3);
    let weight = m.point("weight", 0.5, at);
    m.spring("spring", ground.at(above(at, 0.15)), weight.at([0.0; 3]), 0.13, 200.0, 2.0);
    m.strut("law", ground.at(above(at, -0.15)), weight.at([0.0; 3]), 0.15, Linear, [20.0, 0.0]);
    let at = spot(2, 3);
    let mount = next(&mut m, at, 0.15);
    let stiffness = std::array::from_fn(|i| {
        std::array::from_fn(|j| {
            if i != j {
                0.0
            } else if i < 3 {
                1e4
            } else {
                30.0
            }
        })
    });
    m.bushing(
        "mount",
        ground.at(at),
        mount.at([0.0, 0.0, -0.075]),
        stiffness,
        stiffness.map(|row: [f64; 6]| row.map(|k| 1e-3 * k)),
    );
    m.position("mount tip", mount.at([0.0, 0.0, 0.075]));
    // given motions
    let at = spot(3, 0);
    let hand = m.point("hand", 0.2, at);
    m.drive_point("lift", hand.at([0.0; 3]), Steady, at);
    let pendulum = m.point("pendulum", 0.3, above(at, -0.15));
    m.spring("cord", hand.at([0.0; 3]), pendulum.at([0.0; 3]), 0.14, 300.0, 0.5);
    let at = spot(3, 1);
    let plate = m.body("plate", Body::new(1.0, Inertia::diagonal([6e-4, 8e-4, 1.4e-3])).at(at));
    m.drive_orientation("steady", &plate, Steady, [0.0, 0.0, 0.0]);
    m.spring("hanger", ground.at(above(at, 0.15)), plate.at([0.0; 3]), 0.13, 500.0, 2.0);
    let at = spot(3, 2);
    let slab = m.body("slab", Body::new(1.0, Inertia::diagonal([1e-3; 3])).at(above(at, 0.08)));
    for (name, dx, dy) in [("leg a", 0.06, 0.0), ("leg b", -0.04, 0.06), ("leg c", -0.04, -0.06)] {
        let [u, v, w] = at;
        m.distance(name, ground.at([u + dx, v + dy, w - 0.05]), slab.at([dx, dy, -0.02]), 0.11);
    }
    let at = spot(3, 3);
    let runner = m.point("runner", 0.2, at);
    m.in_plane("sheet", ground.at(at).axis([0.0, 0.5, 1.0]), runner.at([0.0; 3]));
    m.build()
}

fn simulation(system: Assembly, end: f64, signal: fn(f64) -> f64) -> Result<Simulation> {
    let signals = costate::system::System::signature(&system).inputs.iter().map(|_| Signal::function(signal)).collect();
    let grid = TimeGrid::uniform(0.0, end, 1e-3)?;
    Ok(Simulation::new(Arc::new(system), Hht::new(-0.1)?, grid, signals)?.initial_state(InitialState::Projected))
}

fn main() -> Result<()> {
    let folder = std::path::Path::new("out/picture_in_space");
    // a folder that cannot be made is reported with the first file
    let _ = std::fs::create_dir_all(folder);
    let linkage = simulation(four_bar()?, 1.0, |t| if t < 0.5 { 0.6 } else { 0.1 })?;
    let motion = linkage.run(&[])?;
    let seen = |view| Picture::of_motion(&linkage, &[], &motion)?.view(view);
    let spinning = simulation(top()?, 1.0, |_| 0.0)?;
    let precession = spinning.run(&[])?;
    let parts = simulation(symbols()?, 0.1, |t| 4.0 * (9.0 * t).cos())?;
    let figures = [
        ("four_bar", seen(View::ISOMETRIC)?.panels(&[0.0, 0.1, 0.2, 0.3])?),
        ("four_bar_front", seen(View::FRONT)?.panels(&[0.2])?),
        ("four_bar_side", seen(View::SIDE)?.panels(&[0.2])?),
        ("four_bar_top", seen(View::TOP)?.panels(&[0.2])?),
        ("four_bar_overlay", seen(View::new(-30.0, 20.0)?)?.overlay(&[0.0, 0.05, 0.1, 0.15])?),
        ("top", Picture::of_motion(&spinning, &[], &precession)?.panels(&[0.0, 0.3, 0.6])?),
        ("symbols", Picture::of_start(&parts, &[])?.panels(&[0.0])?),
        ("symbols_front", Picture::of_start(&parts, &[])?.view(View::new(20.0, 15.0)?)?.panels(&[0.0])?),
    ];
    for (name, figure) in figures {
        figure.write_svg(folder.join(format!("{name}.svg")))?;
        figure.write_png(folder.join(format!("{name}.png")))?;
    }
    let bytes = seen(View::ISOMETRIC)?.animation(&Animation::default(), &mut |_| {})?;
    costate_data::files::write_atomically(&folder.join("four_bar.gif"), &bytes)?;
    println!("written to {}", folder.display());
    Ok(())
}
