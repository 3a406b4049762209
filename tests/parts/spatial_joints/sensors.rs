//! Sensors in worlds and axes that are turned and moved, and as derivatives of one another.

use super::Kind::{Cylindrical, InLine, Planar, Revolute, Spherical, Universal};
use super::{SEAT, Seat, body};
use crate::common::largest;
use crate::common::spatial::{ACROSS, AXIS, FIRST, Run, SECOND, Start, simulation_with, sum};
use costate::system::{OutputPoint, StateVector};
use costate::vector::{Rotation, Vector, combine, euler_parameters_of};
use costate::{InitialState, Result};
use costate_parts::assembly::Assembly;
use costate_parts::law::Axes;
use costate_parts::spatial::{Body, Freedom, Inertia, Mechanism, Member, Mounting, ReactionAxes};

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
