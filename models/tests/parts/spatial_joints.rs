//! Joints of space: their free directions, reactions against Newton's and Euler's laws, invariance, sensors as derivatives of one
//! another, random trees and loops.

use crate::common;

use common::largest;
use common::spatial::{ACROSS, AXIS, FIRST, MEETING, Run, SECOND, Start, simulation_with, sum};
use costate::assembly::{Assembly, RedundantRows};
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::spatial::{
    Axes, Body, Freedom, FunctionOfTime, Inertia, Joint, Mechanism, Member, Mounting, ReactionAxes, Rotation, Vector,
    combine, euler_parameters_of, euler_rates,
};
use costate::system::{Blocks, Level, OutputPoint, Point, StateVector};
use costate::{Gradient, InitialState, Method, Number, Parameter, Result, Signal, Simulation, State, System};
use proptest::prelude::*;
use std::f64::consts::TAU;

const LEAD: f64 = -0.3;
/// How far the second point is along the axis where it may be.
const ALONG: f64 = 0.11;

#[derive(Debug, Clone, Copy, PartialEq)]
enum Kind {
    Spherical,
    Revolute,
    Universal,
    Weld,
    Cylindrical,
    Prismatic,
    Screw,
    Planar,
    InLine,
    InPlane,
    Distance,
}

use Kind::*;

const KINDS: [Kind; 11] =
    [Spherical, Revolute, Universal, Weld, Cylindrical, Prismatic, Screw, Planar, InLine, InPlane, Distance];

/// Where a joint is in the world at the start.
#[derive(Debug, Clone, Copy)]
struct Seat {
    point: [f64; 3],
    axis: [f64; 3],
    across: [f64; 3],
}

const SEAT: Seat = Seat { point: MEETING, axis: AXIS, across: ACROSS };

impl Kind {
    fn rows(self) -> usize {
        match self {
            InPlane | Distance => 1,
            InLine => 2,
            Spherical | Planar => 3,
            Universal | Cylindrical => 4,
            Revolute | Prismatic | Screw => 5,
            Weld => 6,
        }
    }

    /// The point of the second member: away from that of the first one, where the joint lets it be.
    fn second_point(self, seat: Seat) -> [f64; 3] {
        match self {
            Cylindrical | Prismatic | Screw | InLine => sum(seat.point, seat.axis, ALONG),
            Planar | InPlane => sum(seat.point, seat.across, ALONG),
            Distance => sum(sum(seat.point, seat.across, 0.3), seat.axis, 0.4),
            Spherical | Revolute | Universal | Weld => seat.point,
        }
    }

    /// The axis and the direction across of the second member.
    fn second_axes(self, seat: Seat) -> [[f64; 3]; 2] {
        match self {
            Universal => [seat.across, seat.axis],
            Screw => {
                let turn = Rotation::from_rotation_vector(Vector(seat.axis) * (TAU * ALONG / LEAD));
                [seat.axis, turn.turn(Vector(seat.across)).0]
            }
            _ => [seat.axis, seat.across],
        }
    }

    fn add(self, m: &mut Mechanism, name: &str, first: &Member, second: &Member, seat: Seat) -> Joint {
        let a = m.place(first, seat.point).axis(seat.axis).across(seat.across);
        let [axis, across] = self.second_axes(seat);
        let b = m.place(second, self.second_point(seat)).axis(axis).across(across);
        match self {
            Spherical => m.spherical(name, a, b),
            Revolute => m.revolute(name, a, b),
            Universal => m.universal(name, a, b),
            Weld => m.weld(name, a, b),
            Cylindrical => m.cylindrical(name, a, b),
            Prismatic => m.prismatic(name, a, b),
            Screw => m.screw(name, a, b, LEAD),
            Planar => m.planar(name, a, b),
            InLine => m.in_line(name, a, b),
            InPlane => m.in_plane(name, a, b),
            Distance => m.distance(name, a, b, 0.5),
        }
    }

    /// What the second member may do against the first: angular velocity, and velocity of its point.
    fn free_motions(self) -> Vec<[Vector<f64>; 2]> {
        let (none, x, z) = (Vector::zero(), Vector(ACROSS), Vector(AXIS));
        let y = z.cross(x);
        let (turn, slide) = (|axis| [axis, none], |way| [none, way]);
        let turns = [turn(x), turn(y), turn(z)];
        match self {
            Spherical => turns.to_vec(),
            Revolute => vec![turn(z)],
            Universal => vec![turn(z), turn(x)],
            Weld => vec![],
            Cylindrical => vec![turn(z), slide(z)],
            Prismatic => vec![slide(z)],
            Screw => vec![[z, z * (LEAD / TAU)]],
            Planar => vec![turn(z), slide(x), slide(y)],
            InLine => [turns.to_vec(), vec![slide(z)]].concat(),
            InPlane => [turns.to_vec(), vec![slide(x), slide(y)]].concat(),
            Distance => {
                let rod = x * 0.6 + z * 0.8;
                [turns.to_vec(), vec![slide(y), slide(rod.cross(y))]].concat()
            }
        }
    }
}

fn body(start: Start) -> Body {
    let inertia = Inertia::entries([0.05, 0.06, 0.04, 0.004, -0.003, 0.006]);
    let body = Body::new(1.2, inertia).center([0.03, 0.05, -0.02]);
    body.at(start.0).turned(start.euler_parameters())
}

/// Rates of a body's coordinates where it turns with `angular` about a point that moves with `velocity`.
fn rates(start: Start, point: [f64; 3], [angular, velocity]: [Vector<f64>; 2]) -> Vec<f64> {
    let arm = Vector(start.0) - Vector(point);
    let own = start.rotation().turn_back(angular);
    let e = euler_rates(start.euler_parameters(), own);
    [(velocity + angular.cross(arm)).0.to_vec(), e.to_vec()].concat()
}

/// Number of independent vectors.
fn rank(vectors: &[Vec<f64>]) -> usize {
    let mut basis: Vec<Vec<f64>> = Vec::new();
    for vector in vectors {
        let mut left = vector.clone();
        for _ in 0..2 {
            for unit in &basis {
                let share: f64 = unit.iter().zip(&left).map(|(a, b)| a * b).sum();
                left.iter_mut().zip(unit).for_each(|(left, unit)| *left -= share * unit);
            }
        }
        let length = left.iter().map(|x| x * x).sum::<f64>().sqrt();
        if length > 1e-6 {
            basis.push(left.into_iter().map(|x| x / length).collect());
        }
    }
    basis.len()
}

/// Protects what each joint holds and leaves free: in general position, its rows are as many as independent, all motions of both
/// bodies together and the joint's own ones satisfy them, and there are no others.
#[test]
fn free_directions() -> Result<()> {
    for kind in KINDS {
        let mut m = Mechanism::new("pair");
        let (first, second) = (m.body("first", body(FIRST)), m.body("second", body(SECOND)));
        m.free(&first);
        let joint = kind.add(&mut m, "joint", &first, &second, SEAT);
        assert_eq!(joint.rows().len(), kind.rows(), "{kind:?}");
        let system = m.build()?;
        assert_eq!(system.degrees_of_freedom(), 12 - kind.rows(), "{kind:?}");
        let signature = system.signature();
        let (n, rows) = (14, signature.constraints.len());
        let mut evaluator = system.evaluator();
        evaluator.set_parameters(&[]);
        let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
        evaluator.initial(&mut q, &mut v);
        let (none, mut c) = (vec![0.0; n], vec![0.0; rows]);
        let point = Point { t: 0.0, q: &q, v: &v, a: &none, lambda: &vec![0.0; rows], w: &[] };
        evaluator.constraint(Level::Position, &point, &mut c);
        // places are round-off of positions of a metre
        assert!(largest(&c) < 1e-15, "{kind:?}: {c:?}");
        let mut blocks = Blocks::zeros(signature);
        evaluator.blocks(&point, &mut blocks);
        let pivot = kind.second_point(SEAT);
        let units = [0, 1, 2].map(|k| Vector(std::array::from_fn(|j| f64::from(u8::from(j == k)))));
        let whole = units.into_iter().flat_map(|unit| [[unit, Vector::zero()], [Vector::zero(), unit]]);
        let whole = whole.map(|motion| [rates(FIRST, pivot, motion), rates(SECOND, pivot, motion)].concat());
        let own = kind.free_motions().into_iter().map(|motion| [vec![0.0; 7], rates(SECOND, pivot, motion)].concat());
        let motions: Vec<Vec<f64>> = whole.chain(own).collect();
        for motion in &motions {
            let across = (0..rows).map(|row| (0..n).map(|j| blocks.constraint_by_position[(row, j)] * motion[j]).sum());
            let across: Vec<f64> = across.collect();
            assert!(largest(&across) < 5e-15, "{kind:?}: {motion:?} is held by {across:?}");
        }
        assert_eq!(rank(&motions), system.degrees_of_freedom(), "{kind:?}");
        assert_eq!(motions.len(), system.degrees_of_freedom(), "{kind:?}");
    }
    Ok(())
}

/// θ = 0.5 sin 9t, at rest at no time but the turning points.
struct Swing;

impl FunctionOfTime for Swing {
    fn at<D: Number>(&self, t: D, _u: &[D]) -> D {
        (t * 9.0).sin() * 0.5
    }
}

const PUSHED: [f64; 3] = [0.1, -0.05, 0.2];
const PUSH: [f64; 3] = [0.6, -0.3, 0.8];

/// A driven arm on a hinge, and a body on it at a joint, pushed and twisted by inputs. Everything is seen by sensors.
fn driven(kind: Kind) -> Result<Assembly> {
    let mut m = Mechanism::new("driven");
    m.gravity([0.4, -0.3, -9.7]);
    let (first, second) = (m.body("first", body(FIRST)), m.body("second", body(SECOND)));
    let ground = m.ground();
    let bearing = Seat { point: [0.05, -0.1, 0.1], axis: [0.36, 0.48, 0.8], across: [0.8, -0.6, 0.0] };
    let hinge = Revolute.add(&mut m, "hinge", &ground, &first, bearing);
    m.drive_joint("servo", &hinge, Freedom::Turn, Swing, [0.0; 0]);
    let joint = kind.add(&mut m, "joint", &first, &second, SEAT);
    let (push, twist) = (m.input("push", "N"), m.input("twist", "N m"));
    m.force("push", second.at(PUSHED), PUSH, Axes::Body, push);
    m.torque("twist", &second, PUSH, Axes::World, twist);
    for (name, member) in [("first", &first), ("second", &second)] {
        m.position(&format!("{name} center"), member.at([0.03, 0.05, -0.02]));
        m.acceleration(&format!("{name} acceleration"), member.at([0.03, 0.05, -0.02]), Axes::World);
        m.angular_velocity(&format!("{name} rate"), member, Axes::Body);
    }
    m.position("hinge point", first.at(FIRST.location(bearing.point)));
    m.position("first point", first.at(FIRST.location(MEETING)));
    m.position("second point", second.at(SECOND.location(kind.second_point(SEAT))));
    m.position("pushed point", second.at(PUSHED));
    m.reaction("hinge on first", &hinge, &first, ReactionAxes::World);
    for (name, member) in [("first", &first), ("second", &second)] {
        m.reaction(&format!("joint on {name}"), &joint, member, ReactionAxes::World);
        m.reaction(&format!("joint on {name} in body"), &joint, member, ReactionAxes::Body);
        m.reaction(&format!("joint on {name} in joint"), &joint, member, ReactionAxes::Joint);
    }
    m.build()
}

/// Force and torque about the centre of mass that a body's motion takes, from sensors.
fn wanted(run: &Run, name: &str, rotation: &Rotation<f64>, i: usize) -> [Vector<f64>; 2] {
    let acceleration = run.vector(&format!("{name} acceleration"), i) - Vector([0.4, -0.3, -9.7]);
    let rate = run.vector(&format!("{name} rate"), i);
    let growth = Vector(["x", "y", "z"].map(|axis| run.output(&format!("{name} rate.alpha_{axis}"))[i]));
    let inertia = |w: Vector<f64>| {
        Vector([
            Vector([0.05, 0.004, -0.003]).dot(w),
            Vector([0.004, 0.06, 0.006]).dot(w),
            Vector([-0.003, 0.006, 0.04]).dot(w),
        ])
    };
    [acceleration * 1.2, rotation.turn(inertia(growth) + rate.cross(inertia(rate)))]
}

/// Protects reactions against Newton's and Euler's laws, for each joint, on both bodies, in all axes: from sensors alone, forces
/// add up to mass times acceleration, torques to the rate of spin.
#[test]
fn reactions_obey_newton_and_euler() -> Result<()> {
    for kind in KINDS {
        let signals =
            || vec![Signal::function(|t| 3.0 * (11.0 * t).cos()), Signal::function(|t| 0.2 * (5.0 * t).sin())];
        let simulation = simulation_with(driven(kind)?, -0.1, 0.2, 1e-3, signals(), InitialState::Projected)?;
        let servo = simulation.signature().constraints.iter().position(|row| row.name == "servo.motion").unwrap();
        let run = Run::of(&simulation)?;
        let inputs = |t: f64| [3.0 * (11.0 * t).cos(), 0.2 * (5.0 * t).sin()];
        let bearing = Vector([0.36, 0.48, 0.8]);
        let mut sizes = [0.0f64; 2];
        for i in (0..=200).step_by(20) {
            let x = run.trajectory.state(i);
            let [push, twist] = inputs(x.t);
            let rotation = |k: usize| Rotation::from_euler_parameters([x.q[k], x.q[k + 1], x.q[k + 2], x.q[k + 3]]);
            let (first, second) = (rotation(3), rotation(10));
            // on the second body
            let (center, point) = (run.vector("second center", i), run.vector("second point", i));
            let pushed = second.turn(Vector(PUSH)) * push;
            let force = run.vector("joint on second", i);
            let torque = run.torque("joint on second", i) + (point - center).cross(force);
            let of_push = (run.vector("pushed point", i) - center).cross(pushed) + Vector(PUSH) * twist;
            let [needed, spun] = wanted(&run, "second", &second, i);
            // what Newton's iteration leaves of multipliers is 1e-15 m / h²
            let off = (force + pushed - needed).length().max((torque + of_push - spun).length());
            assert!(off < 1e-9, "{kind:?}, second, {i}: {off:e}");
            // on the first
            let center = run.vector("first center", i);
            let on_hinge = run.vector("hinge on first", i);
            let on_joint = run.vector("joint on first", i);
            let torque = run.torque("hinge on first", i) + run.torque("joint on first", i) - bearing * x.lambda[servo]
                + (run.vector("hinge point", i) - center).cross(on_hinge)
                + (run.vector("first point", i) - center).cross(on_joint);
            let [needed, spun] = wanted(&run, "first", &first, i);
            let off = (on_hinge + on_joint - needed).length().max((torque - spun).length());
            assert!(off < 1e-9, "{kind:?}, first, {i}: {off:e}");
            // what one side gets the other one gives: forces, and torques about one point
            assert!((force + on_joint).length() < 1e-12 * (1.0 + force.length()), "{kind:?}");
            let about = run.torque("joint on first", i) + (run.vector("first point", i) - point).cross(on_joint);
            assert!((about + run.torque("joint on second", i)).length() < 1e-9, "{kind:?}");
            // in other axes
            let [axis, across] = kind.second_axes(SEAT);
            let axes = [("first", FIRST, first, [AXIS, ACROSS]), ("second", SECOND, second, [axis, across])];
            for (name, start, rotation, [axis, across]) in axes {
                let read = |axes: &str| {
                    [run.vector(&format!("joint on {name}{axes}"), i), run.torque(&format!("joint on {name}{axes}"), i)]
                };
                let (z, x) = (Vector(start.direction(axis)), Vector(start.direction(across)));
                let has_axes = !matches!(kind, Spherical | Distance);
                for ((world, own), in_joint) in read("").into_iter().zip(read(" in body")).zip(read(" in joint")) {
                    assert!((rotation.turn_back(world) - own).length() < 1e-12 * (1.0 + world.length()), "{kind:?}");
                    let expected = if has_axes { Vector([x, z.cross(x), z].map(|a| a.dot(own))) } else { own };
                    assert!((expected - in_joint).length() < 1e-12 * (1.0 + world.length()), "{kind:?} {name}");
                }
            }
            sizes = [sizes[0].max(force.length()), sizes[1].max(run.torque("joint on second", i).length())];
        }
        // something was held
        assert!(sizes[0] > 0.1, "{kind:?} {sizes:?}");
        let holds_turns = !matches!(kind, Spherical | InLine | InPlane | Distance);
        assert_eq!(sizes[1] > 1e-3, holds_turns, "{kind:?} {sizes:?}");
    }
    Ok(())
}

/// A world that is turned and moved, and the axes and reference points of the bodies against those of [`FIRST`] and the like.
#[derive(Debug, Clone, Copy, Default)]
struct View {
    turn: [f64; 3],
    origin: [f64; 3],
    frame_turn: [f64; 3],
    frame_shift: [f64; 3],
}

impl View {
    fn rotation(self) -> Rotation<f64> {
        Rotation::from_rotation_vector(Vector(self.turn))
    }
    fn point(self, point: [f64; 3]) -> [f64; 3] {
        (Vector(self.origin) + self.rotation().turn(Vector(point))).0
    }
    fn direction(self, direction: [f64; 3]) -> [f64; 3] {
        self.rotation().turn(Vector(direction)).0
    }

    /// The body of 1.2 kg that stands at `start` in the plain view, moving.
    fn body(self, start: Start, velocity: [f64; 3], angular: [f64; 3]) -> Body {
        // columns of the tensor, and the centre, in the axes of the plain view's body
        let tensor = [[0.05, 0.004, -0.003], [0.004, 0.06, 0.006], [-0.003, 0.006, 0.04]].map(Vector);
        let shift = Vector(self.frame_shift);
        let center = Vector([0.03, 0.05, -0.02]) - shift;
        let frame = Rotation::from_rotation_vector(Vector(self.frame_turn));
        let turned = tensor.map(|row| frame.turn_back(row));
        // rows of I F, then Fᵀ of its columns
        let entry = |i: usize, j: usize| (0..3).map(|k| frame.axis(i).0[k] * turned[k].0[j]).sum::<f64>();
        let inertia = Inertia::entries([entry(0, 0), entry(1, 1), entry(2, 2), entry(0, 1), entry(0, 2), entry(1, 2)]);
        let arm = start.rotation().turn(shift);
        let e = combine(start.euler_parameters(), euler_parameters_of(Vector(self.frame_turn)));
        let velocity = Vector(velocity) + Vector(angular).cross(arm);
        Body::new(1.2, inertia)
            .center(frame.turn_back(center).0)
            .at(self.point((Vector(start.0) + arm).0))
            .turned(combine(euler_parameters_of(Vector(self.turn)), e))
            .moving(self.direction(velocity.0), self.direction(angular))
    }

    fn seat(self, seat: Seat) -> Seat {
        Seat { point: self.point(seat.point), axis: self.direction(seat.axis), across: self.direction(seat.across) }
    }
}

const THIRD: Start = Start([0.9, 0.3, -0.5], [0.6, 0.1, -0.4]);

/// A chain of three bodies with springs, a bushing and friction, and sensors on it. At the start the whole turns about one axis.
fn seen(view: View) -> Result<Assembly> {
    let mut m = Mechanism::new("seen");
    m.gravity(view.direction([0.4, -0.3, -9.7]));
    let bearing = Seat { point: [0.05, -0.1, 0.1], axis: [0.36, 0.48, 0.8], across: [0.8, -0.6, 0.0] };
    let spin = Vector(bearing.axis) * 3.0;
    let moving = |start: Start| (spin.cross(Vector(start.0) - Vector(bearing.point))).0;
    let bodies = [("first", FIRST), ("second", SECOND), ("third", THIRD)];
    let [first, second, third] = bodies.map(|(name, start)| m.body(name, view.body(start, moving(start), spin.0)));
    let ground = m.ground();
    let hinge = Revolute.add(&mut m, "hinge", &ground, &first, view.seat(bearing));
    let joint = Cylindrical.add(&mut m, "joint", &first, &second, view.seat(SEAT));
    let cross = Seat { point: [0.7, 0.3, -0.6], ..SEAT };
    let cross = Universal.add(&mut m, "cross", &second, &third, view.seat(cross));
    m.joint_spring("coil", &joint, Freedom::Turn, 2.0, 0.02);
    m.joint_spring("buffer", &joint, Freedom::Slide, 200.0, 1.0);
    m.joint_friction("friction", &hinge, Freedom::Turn, [0.2, 0.3, 0.5, 0.01].map(Into::into));
    let at = |m: &mut Mechanism, member: &Member, point: [f64; 3]| {
        m.place(member, view.point(point)).axis(view.direction(AXIS)).across(view.direction(ACROSS))
    };
    let (hook, eye) = (at(&mut m, &ground, [1.2, 0.4, 0.1]), at(&mut m, &third, [0.9, 0.4, -0.4]));
    let spring = m.spring("spring", hook, eye.clone(), 0.5, 60.0, 0.4);
    let mut stiffness = [[0.0; 6]; 6];
    (0..6).for_each(|i| stiffness[i][i] = if i < 3 { 30.0 } else { 0.7 });
    (stiffness[0][4], stiffness[4][0]) = (1.0, 1.0);
    let (a, b) = (at(&mut m, &ground, [0.8, 0.2, -0.5]), at(&mut m, &third, [0.8, 0.2, -0.5]));
    m.bushing("bushing", a, b, stiffness, stiffness.map(|row| row.map(|k| 0.01 * k)));
    m.drag("air", eye.clone(), 0.1, 0.2);
    m.accelerometer("chip", eye.clone(), Mounting::default());
    m.gyroscope("gyroscope", eye, Mounting::default());
    m.joint_sensor("turn", &joint, Freedom::Turn);
    m.joint_sensor("slide", &joint, Freedom::Slide);
    m.joint_sensor("hinge angle", &hinge, Freedom::Turn);
    m.strut_sensor("stretch", &spring);
    m.reaction("in cross", &cross, &third, ReactionAxes::Joint);
    m.reaction("in joint", &joint, &second, ReactionAxes::Joint);
    m.energy("energy");
    m.build()
}

/// Protects against a preferred direction, origin or body frame: turned and moved, the world measures the same, and so it does with
/// bodies in other axes. Other reference points make another scheme: its steps differ by their square, its start by nothing.
#[test]
fn neither_world_nor_body_frames_matter() -> Result<()> {
    let look = |view: View, step: f64| -> Result<Run> {
        Run::of(&simulation_with(seen(view)?, -0.05, 0.2, step, vec![], InitialState::AsGiven)?)
    };
    let step = 2e-3;
    let plain = look(View::default(), step)?;
    let difference = |plain: &Run, other: &Run, until: usize| {
        plain.names.iter().fold((0.0, String::new()), |worst: (f64, String), name| {
            let (one, other) = (plain.output(name), other.output(name));
            let shift = if name == "energy" { one[0] - other[0] } else { 0.0 };
            let size = largest(&one).max(1.0);
            let off = (0..until).fold(0.0f64, |off, i| off.max((one[i] - other[i] - shift).abs())) / size;
            if off > worst.0 { (off, name.clone()) } else { worst }
        })
    };
    let turned = View { turn: [0.5, -1.2, 0.8], ..View::default() };
    let moved = View { origin: [3.0, -2.0, 5.0], turn: [2.0, 1.0, -1.5], ..View::default() };
    let other_axes = View { frame_turn: [-0.6, 0.9, 2.1], ..View::default() };
    for view in [turned, moved, other_axes] {
        let (off, name) = difference(&plain, &look(view, step)?, 101);
        // round-off of positions of some metres, 1e-15 m, over β h² in accelerations, and some of them add up
        assert!(off < 2e-8, "{view:?}: {name} differs by {off:e}");
    }
    let shifted = View { frame_shift: [0.2, -0.1, 0.15], frame_turn: [0.3, 0.1, 0.0], ..View::default() };
    let coarse = look(shifted, step)?;
    let (off, name) = difference(&plain, &coarse, 1);
    assert!(off < 1e-12, "{name} differs by {off:e} at the start");
    let fine = (look(View::default(), step / 2.0)?, look(shifted, step / 2.0)?);
    for name in ["turn.angle", "slide.displacement", "hinge angle.angle", "stretch.length"] {
        let last = |run: &Run| *run.output(name).last().unwrap();
        let order = ((last(&plain) - last(&coarse)) / (last(&fine.0) - last(&fine.1))).abs().log2();
        assert!((order - 2.0).abs() < 0.2, "{name}: order {order}");
    }
    Ok(())
}

/// Two bodies on the ground and a third one that slides on the second, with all sensors that tell rates.
fn with_rates(turn: [f64; 3], spin: [f64; 3]) -> Result<Assembly> {
    let mut m = Mechanism::new("rates");
    let starts = [FIRST, SECOND, THIRD].map(|Start(position, own)| Start(position, sum(own, turn, 1.0)));
    let (first, second) = (m.body("first", body(starts[0])), m.body("second", body(starts[1])));
    let third = m.body("third", body(starts[2]).moving([0.4, 0.3, -0.5], spin));
    let ground = m.ground();
    Spherical.add(&mut m, "hook", &ground, &first, Seat { point: [0.1, 0.0, 0.1], ..SEAT });
    let joint = Cylindrical.add(&mut m, "joint", &first, &second, SEAT);
    let line = InLine.add(&mut m, "line", &second, &third, Seat { point: [0.8, 0.3, -0.6], ..SEAT });
    let plane = Planar.add(&mut m, "plane", &ground, &third, Seat { point: [0.9, 0.3, -0.4], ..SEAT });
    let spring = m.spring("spring", first.at([0.2, 0.1, 0.0]), third.at([0.1, 0.2, 0.3]), 0.5, 60.0, 0.4);
    m.joint_sensor("turn", &joint, Freedom::Turn);
    m.joint_sensor("slide", &joint, Freedom::Slide);
    m.joint_sensor("line slide", &line, Freedom::Slide);
    m.joint_sensor("plane turn", &plane, Freedom::Turn);
    m.strut_sensor("stretch", &spring);
    let place = second.at([0.2, -0.1, 0.3]);
    m.position("position", place.clone());
    m.velocity("velocity", place.clone(), Axes::World);
    m.acceleration("acceleration", place, Axes::World);
    m.angular_velocity("rate", &second, Axes::World);
    m.angular_velocity("own rate", &second, Axes::Body);
    m.gyroscope("gyroscope", second.at([0.1, 0.2, 0.3]), Mounting::default());
    m.build()
}

/// Protects sensors against one another: along the motion, what is called a rate is the derivative of what it is the rate of,
/// for first members that move; a gyroscope sees the body's angular velocity. At starts, where velocities satisfy the constraints
/// exactly; later they do to the square of the step.
#[test]
fn rates_are_derivatives() -> Result<()> {
    let spins =
        [([0.0; 3], [1.0, 3.0, -2.0]), ([2.5, -0.4, 1.0], [-4.0, 1.0, 3.0]), ([-1.0, 3.0, 0.3], [0.5, -6.0, 2.0])];
    for (turn, spin) in spins {
        let system = with_rates(turn, spin)?;
        let simulation = simulation_with(system, -0.05, 1e-3, 1e-3, vec![], InitialState::Projected)?;
        let run = Run::of(&simulation)?;
        let signature = simulation.signature();
        let mut evaluator = simulation.system().evaluator();
        evaluator.set_parameters(&[]);
        let mut pairs = vec![("stretch.length".to_string(), "stretch.rate".to_string())];
        for (sensor, place) in
            [("turn", "angle"), ("slide", "displacement"), ("line slide", "displacement"), ("plane turn", "angle")]
        {
            pairs.push((format!("{sensor}.{place}"), format!("{sensor}.rate")));
            pairs.push((format!("{sensor}.rate"), format!("{sensor}.acceleration")));
        }
        for axis in ["x", "y", "z"] {
            pairs.push((format!("position.{axis}"), format!("velocity.{axis}")));
            pairs.push((format!("velocity.{axis}"), format!("acceleration.{axis}")));
            pairs.push((format!("rate.{axis}"), format!("rate.alpha_{axis}")));
            pairs.push((format!("own rate.{axis}"), format!("own rate.alpha_{axis}")));
        }
        let place = |name: &str| run.names.iter().position(|output| output == name).unwrap();
        let x = run.trajectory.state(0);
        evaluator.linearise_output(&OutputPoint {
            t: x.t,
            q: x.q,
            v: x.v,
            a: x.a,
            a_scheme: x.a,
            lambda: x.lambda,
            w: &[],
        });
        let along = StateVector { q: x.v.to_vec(), v: x.a.to_vec(), ..StateVector::zeros(signature) };
        let mut growth = vec![0.0; run.names.len()];
        evaluator.output_push_forward(&along, &mut growth);
        for (value, rate) in &pairs {
            let (expected, seen) = (growth[place(value)], run.output(rate)[0]);
            assert!((expected - seen).abs() < 1e-11 * (1.0 + seen.abs()), "{rate}: {seen} {expected}");
            assert!(seen.abs() > 1e-3, "{rate}: {seen} shows nothing");
        }
        let (seen, expected) = (run.vector("gyroscope", 0), run.vector("own rate", 0));
        assert!((seen - expected).length() < 1e-14 * expected.length(), "{seen:?} {expected:?}");
    }
    Ok(())
}

/// A body of a random mechanism: at which earlier one it hangs, by what, and where it is.
#[derive(Debug, Clone)]
struct Limb {
    parent: usize,
    kind: usize,
    mass: f64,
    place: [f64; 3],
    turn: [f64; 3],
    spin: [f64; 3],
    axis: [f64; 3],
}

fn triple(size: f64) -> impl Strategy<Value = [f64; 3]> {
    [-size..size, -size..size, -size..size]
}

fn limb() -> impl Strategy<Value = Limb> {
    (0usize..100, 0usize..11, 0.3..3.0f64, triple(0.7), triple(3.0), triple(2.0), triple(1.0))
        .prop_map(|(parent, kind, mass, place, turn, spin, axis)| Limb { parent, kind, mass, place, turn, spin, axis })
}

/// A seat at a point between two others, with any axis and something perpendicular.
fn seat_between(a: [f64; 3], b: [f64; 3], axis: [f64; 3]) -> Seat {
    let axis = Vector(axis) + Vector([0.0, 0.0, 1.5]);
    let axis = axis * (1.0 / axis.length());
    let across = Vector([1.0, 0.2, 0.0]).cross(axis);
    let across = across * (1.0 / across.length());
    Seat { point: sum(a.map(|x| 0.5 * x), b, 0.5), axis: axis.0, across: across.0 }
}

/// A tree of limbs, and loops: pairs of members that are joined once more. Every member has a spring to the ground.
fn tangle(limbs: &[Limb], loops: &[(usize, usize, usize)]) -> Result<Assembly> {
    let mut m = Mechanism::new("tangle");
    m.redundant_rows(RedundantRows::LeaveOut);
    let push = m.input("push", "N");
    let mut members = vec![(m.ground(), [0.0; 3])];
    let mut seats = vec![seat_between([0.0; 3], [0.0; 3], [0.0; 3])];
    for (i, limb) in limbs.iter().enumerate() {
        let (parent, near) = members[limb.parent % members.len()].clone();
        let mut parameter =
            |name: &str, unit: &str, value| m.parameter(Parameter::new(format!("{name}{i}"), unit, value));
        let (mass, stiffness) = (parameter("m", "kg", limb.mass), parameter("k", "N/m", 40.0 * limb.mass));
        let inertia = Inertia::diagonal([mass * 0.03, mass * 0.04, mass * 0.05]);
        let at = sum(near, limb.place, 1.0);
        let body = Body::new(mass, inertia).center([0.02, -0.03, 0.05]).at(at);
        let body = body.turned(euler_parameters_of(Vector(limb.turn))).moving(limb.spin.map(|x| 0.1 * x), limb.spin);
        let body = m.body(&format!("limb{i}"), body);
        let seat = seat_between(near, at, limb.axis);
        KINDS[limb.kind].add(&mut m, &format!("joint{i}"), &parent, &body, seat);
        let anchor = m.ground().at(sum(at, [0.5, 0.3, 0.6], 1.0));
        m.spring(&format!("spring{i}"), anchor, body.at([0.1, 0.0, 0.1]), 0.5, stiffness, 0.3);
        members.push((body, at));
        seats.push(seat);
    }
    for (i, &(a, b, kind)) in loops.iter().enumerate() {
        let (a, b) = (a % members.len(), b % members.len());
        if a != b {
            let seat = seat_between(members[a].1, members[b].1, seats[a.max(b)].axis);
            let (first, second) = (members[a.min(b)].0.clone(), members[a.max(b)].0.clone());
            [InLine, InPlane, Distance, Spherical][kind].add(&mut m, &format!("loop{i}"), &first, &second, seat);
        }
    }
    let (last, _) = &members[members.len() - 1];
    m.force("push", last.at([0.1, 0.2, 0.0]), [0.6, 0.8, -0.3], Axes::Body, push);
    m.acceleration("sensor", last.at([0.0, 0.1, 0.1]), Axes::Body);
    m.build()
}

struct End;

impl CostFunction for End {
    fn running<D: Number>(&self, _t: f64, x: &State<'_, D>, y: &[D], _u: &[D]) -> D {
        x.q[0] * x.q[1]
            + x.a[1] * x.a[1] * 0.01
            + y[0] * y[1] * 0.01
            + x.lambda.iter().map(|l| *l * *l * 1e-4).sum::<D>()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, failure_persistence: None, ..ProptestConfig::default() })]

    /// Protects exactness for mechanisms that nobody thought of: trees and loops of any joints start on their constraints, and
    /// adjoint and tangent gradients agree. Trees start in motion, projected; loops at rest.
    #[test]
    fn gradients_of_random_mechanisms_agree(
        limbs in prop::collection::vec(limb(), 1..5),
        loops in prop::collection::vec((0usize..100, 0usize..100, 0usize..4), 0..3),
    ) {
        let mut limbs = limbs;
        if !loops.is_empty() {
            limbs.iter_mut().for_each(|limb| limb.spin = [0.0; 3]);
        }
        let start = if loops.is_empty() { InitialState::Projected } else { InitialState::AsGiven };
        let system = tangle(&limbs, &loops).unwrap();
        let u = system.signature().nominal();
        let signal = Signal::function(|t| 2.0 * (9.0 * t).sin());
        let simulation: Simulation =
            simulation_with(system, -0.1, 0.06, 2e-3, vec![signal], start).unwrap();
        let trajectory = simulation.run(&u).unwrap();
        // positions fit from the start: joints are put where the bodies are
        prop_assert!(largest(&trajectory.start.position) < 1e-13, "{:?}", trajectory.start.position);
        let cost = Differentiated::new(End, Quadrature::Trapezoid);
        let mut engine = Gradient::new(&simulation, &cost).unwrap();
        let (mut adjoint, mut tangent) = (vec![0.0; u.len()], vec![0.0; u.len()]);
        let one = engine.cost_and_gradient(&u, Method::Adjoint, &mut adjoint).unwrap();
        let other = engine.cost_and_gradient(&u, Method::Tangent, &mut tangent).unwrap();
        prop_assert_eq!(one, other);
        let size = adjoint.iter().zip(&u).fold(one.abs(), |size, (g, u)| size.max((g * u).abs()));
        for ((a, b), u) in adjoint.iter().zip(&tangent).zip(&u) {
            prop_assert!((a - b).abs() * u < 1e-10 * size, "{} {} {}", a, b, size);
        }
    }
}
