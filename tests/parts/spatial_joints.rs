//! Joints of space: their free directions, reactions against Newton's and Euler's laws, random trees and loops.

mod sensors;

use crate::common;

use common::largest;
use common::spatial::{ACROSS, AXIS, FIRST, MEETING, Run, SECOND, Start, simulation_with, sum};
use costate::cost::Quadrature;
use costate::linearise::{CostFunction, Differentiated};
use costate::sensitivity::{Gradient, Method};
use costate::system::{Blocks, Level, Point, System};
use costate::vector::{Rotation, Vector, euler_parameters_of, euler_rates};
use costate::{InitialState, Number, Parameter, Result, Signal, Simulation, State};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::law::{Axes, FunctionOfTime};
use costate_parts::spatial::{Body, Freedom, Inertia, Joint, Mechanism, Member, ReactionAxes};
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
/// A direction of another length than 1.
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
            let pushed = second.turn(Vector(PUSH).unit()) * push;
            let force = run.vector("joint on second", i);
            let torque = run.torque("joint on second", i) + (point - center).cross(force);
            let of_push = (run.vector("pushed point", i) - center).cross(pushed) + Vector(PUSH).unit() * twist;
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
            // near singular positions, through which one in some thousand of these mechanisms goes, round-off grows by a factor of 100
            prop_assert!((a - b).abs() * u < 1e-8 * size, "{} {} {}", a, b, size);
        }
    }
}
