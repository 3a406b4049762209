//! What goes with several joints: the rotor of a motor that turns two of them, a cable over several pulleys.

use super::Mechanism;
use super::force::{act, joint_place, joint_rate};
use super::joint::{FRAMES, Freedom, JointPoses};
use super::joints::Joint;
use super::pose::Sides;
use super::sensor::joint_acceleration;
use crate::assembly::{Connection, Coordinate, Element, StateVariable};
use crate::law::Law;
use crate::totals::{Role, Total};
use costate::value::Value;
use costate::{Error, Matrix, Number, State};

/// Coordinates of two bodies.
const BOTH: usize = 14;

/// A joint of several: where the coordinates of its members lie among those of an element.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moved {
    pub sides: Sides,
    pub freedom: Freedom,
    begins: [usize; 2],
}

impl Moved {
    /// Coordinates of several joints, of which a body that two of them have is there once, and their places.
    pub fn all(joints: &[(&Joint, Freedom)]) -> (Vec<Coordinate>, Vec<Self>) {
        let mut coordinates: Vec<Coordinate> = Vec::new();
        let one = |(joint, freedom): &(&Joint, Freedom)| {
            let begins = joint.members.each_ref().map(|member| {
                let own = member.coordinates();
                let known = own.first().and_then(|own| coordinates.iter().position(|known| known == own));
                known.unwrap_or_else(|| {
                    coordinates.extend(own);
                    coordinates.len() - own.len()
                })
            });
            Self { sides: joint.constraint.sides, freedom: *freedom, begins }
        };
        let members = joints.iter().map(one).collect();
        (coordinates, members)
    }

    /// The element's coordinates, or where they change: those of the joint, one side after the other.
    fn pairs(self) -> impl Iterator<Item = (usize, usize)> {
        let [a, b] = self.begins;
        let (n, m) = (self.sides.0.coordinates(), self.sides.1.coordinates());
        (0..n).map(move |i| (i, a + i)).chain((0..m).map(move |i| (n + i, b + i)))
    }

    /// Coordinates of the joint, one side after the other.
    pub fn own<D: Number>(self, q: &[D]) -> [D; BOTH] {
        let mut own = [D::from(0.0); BOTH];
        self.pairs().for_each(|(i, place)| own[i] = q[place]);
        own
    }

    fn size(self) -> usize {
        self.sides.0.coordinates() + self.sides.1.coordinates()
    }

    /// How the joint's way grows with its coordinates.
    fn along<D: Number>(self, own: &[D], frames: &[D], factor: D) -> [D; BOTH] {
        let mut along = [D::from(0.0); BOTH];
        let at = JointPoses::of(self.sides, own, frames);
        act(self.sides, self.freedom, &at, own, factor, &mut along[..self.size()]);
        along
    }
}

/// A sum of the ways of joints, each with a ratio. Parameters: those of the frames of each joint, then the ratios.
#[derive(Debug, Clone)]
struct Combination(Vec<Moved>);

impl Combination {
    /// Number of the parameters.
    fn parameters(&self) -> usize {
        (FRAMES + 1) * self.0.len()
    }

    /// Joints with the parameters of their frames, and ratios.
    fn members<'u, D: Number>(&self, u: &'u [D]) -> impl Iterator<Item = (Moved, &'u [D], D)> {
        let count = self.0.len();
        self.0.iter().enumerate().map(move |(k, member)| (*member, &u[FRAMES * k..], u[FRAMES * count + k]))
    }

    fn place<D: Number>(&self, q: &[D], u: &[D]) -> D {
        self.members(u).fold(D::from(0.0), |sum, (member, frames, ratio)| {
            let own = member.own(q);
            sum + ratio * joint_place(&JointPoses::of(member.sides, &own, frames), member.freedom)
        })
    }

    fn rate<D: Number>(&self, q: &[D], v: &[D], u: &[D]) -> D {
        self.members(u).fold(D::from(0.0), |sum, (member, frames, ratio)| {
            let (own, moving) = (member.own(q), member.own(v));
            let at = JointPoses::of(member.sides, &own, frames);
            sum + ratio * joint_rate(&at, member.freedom, (member.sides, &own, &moving))
        })
    }

    fn act<D: Number>(&self, q: &[D], u: &[D], effort: D, force: &mut [D]) {
        for (member, frames, ratio) in self.members(u) {
            let along = member.along(&member.own(q), frames, ratio * effort);
            member.pairs().for_each(|(i, place)| force[place] += along[i]);
        }
    }
}

/// An inertia that moves with a combination: ½ J (rate)². Parameters: those of the combination, then J.
struct Inertia {
    of: Combination,
    role: Role,
}

impl Element for Inertia {
    fn mass<D: Number>(&self, q: &[D], u: &[D], m: &mut Matrix<D>) {
        if self.role != Role::Acts {
            return;
        }
        let inertia = u[self.of.parameters()];
        for i in 0..q.len() {
            (0..q.len()).for_each(|j| m[(i, j)] = D::from(0.0));
        }
        for (first, frames, ratio) in self.of.members(u) {
            let along = first.along(&first.own(q), frames, ratio * inertia);
            for (second, frames, ratio) in self.of.members(u) {
                let other = second.along(&second.own(q), frames, ratio);
                for (i, row) in first.pairs() {
                    second.pairs().for_each(|(j, column)| m[(row, column)] += along[i] * other[j]);
                }
            }
        }
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.role != Role::Acts {
            return;
        }
        // a turn grows by accelerations of Euler parameters alone
        let slides = self.of.members(u).filter(|(member, ..)| member.freedom == Freedom::Slide);
        let growth = slides.fold(None, |sum: Option<D>, (member, frames, ratio)| {
            let (own, moving, rest) = (member.own(q), member.own(v), [D::from(0.0); BOTH]);
            let n = member.size();
            let x = State { q: &own[..n], v: &moving[..n], a: &rest[..n], a_scheme: &rest[..n], lambda: &[], w: &[] };
            let own = ratio * joint_acceleration(member.sides, member.freedom, &x, frames);
            Some(sum.map_or(own, |sum| sum + own))
        });
        if let Some(growth) = growth {
            self.of.act(q, u, -growth * u[self.of.parameters()], force);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if self.role == Role::Tells(Total::Energy) {
            let rate = self.of.rate(x.q, x.v, u);
            y[0] = rate * rate * u[self.of.parameters()] * 0.5;
        }
    }
}

/// A force by the law of a combination. Parameters: those of the combination, its length without tension, then those of the law.
struct Tension<L> {
    of: Combination,
    law: L,
    role: Role,
}

impl<L: Law> Tension<L> {
    fn motion<D: Number>(&self, q: &[D], v: &[D], u: &[D]) -> [D; 2] {
        let rate = self.of.rate(q, v, u);
        let elongation = if L::OF_RATE_ALONE { D::from(0.0) } else { self.of.place(q, u) - u[self.of.parameters()] };
        [elongation, rate]
    }

    fn own<'u, D>(&self, u: &'u [D]) -> &'u [D] {
        &u[self.of.parameters() + 1..]
    }
}

impl<L: Law> Element for Tension<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.role == Role::Acts {
            let [elongation, rate] = self.motion(q, v, u);
            let tension = self.law.tension_with(elongation, rate, &v[q.len()..], self.own(u));
            self.of.act(q, u, -tension, force);
        }
    }

    fn rates<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        if self.role == Role::Acts {
            let [elongation, rate] = self.motion(q, v, u);
            self.law.state_rates(elongation, rate, &v[q.len()..], self.own(u), rates);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if let Role::Tells(total) = self.role {
            let [elongation, rate] = self.motion(x.q, x.v, u);
            y[0] = total.of_law(&self.law, elongation, rate, self.own(u));
        }
    }
}

/// A sum of the ways of joints, each with a ratio: the angle of a motor behind the gears of two joints, or the length of a cable over pulleys.
#[derive(Debug, Clone)]
pub struct Tendon {
    name: String,
    of: Combination,
    connection: Connection,
}

impl Mechanism {
    /// What goes with several joints, by x = Σ ratio · (angle or displacement): the angle of a motor that turns two joints, by gear ratios; the length of a
    /// cable over pulleys, by their radii. Its name is that of its law. It does nothing itself: see [`Mechanism::tendon_inertia`] and [`Mechanism::tendon_law`]. `None`, and an error
    /// when the mechanism is built, where a joint lacks the freedom or is named twice.
    pub fn tendon(&mut self, name: &str, joints: &[(&Joint, Freedom, Value)]) -> Option<Tendon> {
        let mut fits = true;
        for (k, (joint, freedom, _)) in joints.iter().enumerate() {
            fits &= self.wants_freedom(name, joint, *freedom);
            if joints[..k].iter().any(|(known, own, _)| known.name == joint.name && own == freedom) {
                let problem = format!("it names joint `{}` twice", joint.name);
                self.assembler.note(Error::invalid(format!("`{name}`"), problem, "add both ratios"));
                fits = false;
            }
        }
        if joints.is_empty() {
            self.assembler.note(Error::invalid(
                format!("`{name}`"),
                "it names no joint",
                "name the joints that it goes with",
            ));
            fits = false;
        }
        if !fits {
            return None;
        }
        let plain: Vec<(&Joint, Freedom)> = joints.iter().map(|(joint, freedom, _)| (*joint, *freedom)).collect();
        let (coordinates, members) = Moved::all(&plain);
        let frames = plain.iter().flat_map(|(joint, _)| joint.parameters[..FRAMES].iter().copied());
        let ratios = joints.iter().map(|(.., ratio)| *ratio);
        let connection = Connection::to(coordinates).parameters(frames).parameters(ratios);
        Some(Tendon { name: name.to_string(), of: Combination(members), connection })
    }

    /// An inertia J that moves with a tendon, ½ J (x')²: kg m² where x is an angle, such as that of a rotor, or kg. It has no weight.
    pub fn tendon_inertia(&mut self, tendon: &Tendon, inertia: impl Into<Value>) {
        let (of, connection) = (tendon.of.clone(), tendon.connection.clone().parameters([inertia.into()]));
        let name = format!("{}.inertia", tendon.name);
        self.contributions.part(&mut self.assembler, &name, connection, move |role| {
            let has = !matches!(role, Role::Tells(total) if total != Total::Energy);
            has.then(|| Inertia { of: of.clone(), role })
        });
    }

    /// A tension by a law of x, less `free`, and of its rate: springs, dampers, friction of a motor. It acts on each joint with the joint's ratio; positive
    /// draws x back. Angles of joints are those from -π to π. Returns the states of the law.
    pub fn tendon_law<L: Law + Clone, V: Into<Value>>(
        &mut self,
        tendon: &Tendon,
        free: impl Into<Value>,
        law: L,
        parameters: impl IntoIterator<Item = V>,
    ) -> Vec<StateVariable> {
        let parameters: Vec<Value> = parameters.into_iter().map(Into::into).collect();
        let name = tendon.name.as_str();
        self.contributions.check(name, &law, &parameters, &mut self.assembler);
        let of = tendon.of.clone();
        let states = self.assembler.states_of(name, &law, true);
        let connection = tendon.connection.clone().states(states.iter().copied());
        let connection = connection.parameters([free.into()]).parameters(parameters);
        self.contributions.part(&mut self.assembler, name, connection, move |role| {
            Some(Tension { of: of.clone(), law: law.clone(), role })
        });
        states
    }
}
