//! What parts of space look like: notes for the sketch.

use super::joint::{Freedom, JointKind};
use super::joints::Joint;
use super::{Capsule, Mechanism, Member, Place};
use crate::law::Axes;
use costate::sketch::Seen;
use costate::sketch::{About, Direction, GROUND, Part, Ray, Slider, Solid, Spot, Touch};
use costate::value::Value;

impl Member {
    fn ray(&self, direction: [Value; 3]) -> Ray {
        Ray { member: self.number(), direction: Direction::Vector(direction) }
    }
}

impl Place {
    pub(super) fn spot(&self) -> Spot {
        Spot { member: self.member.number(), location: self.location }
    }
}

/// Three of the parameters of a joint's frames.
fn three(parameters: &[Value], from: usize) -> [Value; 3] {
    std::array::from_fn(|k| parameters[from + k])
}

impl Joint {
    fn spots(&self) -> [Spot; 2] {
        let [a, b] = &self.members;
        let parameters = &self.parameters;
        [(a, 0), (b, 3)].map(|(side, from)| Spot { member: side.number(), location: three(parameters, from) })
    }

    /// The axis of the first or the second member; z, if it has none.
    fn axis(&self, k: usize) -> Ray {
        let direction = if self.constraint.kind.has_axes() {
            three(&self.parameters, [6, 12][k])
        } else {
            [0.0, 0.0, 1.0].map(Value::from)
        };
        self.members[k].ray(direction)
    }

    /// The second member turns about the first one's axis.
    fn about(&self) -> About {
        let [spot, _] = self.spots();
        About::Axis { spot: Box::new(spot), axis: self.axis(0), member: self.members[1].number() }
    }
}

/// What a member looks like, in pictures alone: see [`Mechanism::looks`]. Members without looks are drawn by their joints, masses and inertias.
#[derive(Debug, Clone)]
pub struct Looks(Solid);

impl Looks {
    /// A box about a place, with the lengths of its edges, m; the third one is along the place's axis, the first one along what is across it.
    pub fn cuboid<V: Into<Value>>(place: &Place, edges: [V; 3]) -> Self {
        let [axis, across] = place.directions().map(|direction| place.member.ray(direction));
        Looks(Solid::Cuboid { center: place.spot(), axis, across, edges: edges.map(Into::into) })
    }

    /// A cylinder about a place and along its axis, with its radius and length, m.
    pub fn cylinder(place: &Place, radius: impl Into<Value>, length: impl Into<Value>) -> Self {
        Looks::long(place, radius.into(), length.into(), false)
    }

    /// The same with half a ball on each of its ends, beyond its length.
    pub fn capsule(place: &Place, radius: impl Into<Value>, length: impl Into<Value>) -> Self {
        Looks::long(place, radius.into(), length.into(), true)
    }

    fn long(place: &Place, radius: Value, length: Value, is_round: bool) -> Self {
        let [axis, _] = place.directions().map(|direction| place.member.ray(direction));
        Looks(Solid::Cylinder { center: place.spot(), axis, radius, length, is_round })
    }

    /// A ball about a place, with its radius, m.
    pub fn ball(place: &Place, radius: impl Into<Value>) -> Self {
        Looks(Solid::Ball { center: place.spot(), radius: radius.into() })
    }
}

impl From<&Capsule> for Looks {
    fn from(capsule: &Capsule) -> Self {
        let spot = |location| Spot { member: capsule.member.number(), location };
        Looks(Solid::Room { ends: capsule.ends.map(spot), radius: capsule.radius })
    }
}

impl Mechanism {
    /// Says what a member looks like; of several looks, it has all. Nothing but pictures depends on it.
    pub fn looks(&mut self, looks: impl Into<Looks>) {
        self.sketch.solids.push(looks.into().0);
    }

    fn note_part(&mut self, part: Part) {
        self.sketch.parts.push(part);
    }

    pub(super) fn note_joint(&mut self, joint: &Joint) {
        let (spots, axis) = (joint.spots(), joint.axis(0));
        let guide = |spots, slider| Part::Guide { spots, line: joint.axis(0), slider };
        self.note_part(match joint.constraint.kind {
            JointKind::Spherical => Part::Pin(spots),
            JointKind::Revolute => Part::Hinge { spots, axis },
            JointKind::Universal => Part::Universal { spots, axes: [axis, joint.axis(1)] },
            JointKind::Weld => Part::Weld(spots),
            JointKind::Cylindrical => guide(spots, Slider::Sleeve),
            JointKind::Prismatic => guide(spots, Slider::Block),
            JointKind::Screw => guide(spots, Slider::Nut),
            JointKind::InLine => guide(spots, Slider::Pin),
            JointKind::Planar => Part::Plane { spots, normal: axis, touch: Touch::Face },
            JointKind::InPlane => Part::Plane { spots, normal: axis, touch: Touch::Point },
            JointKind::Distance => Part::Rod(spots),
        });
    }

    /// A law in a joint; linear ones with their stiffness and damping.
    pub(super) fn note_joint_law(&mut self, joint: &Joint, freedom: Freedom, linear: Option<[Value; 2]>) {
        self.note_part(match freedom {
            Freedom::Turn => Part::Torsion { about: joint.about(), stiffness: linear.map(|[stiffness, _]| stiffness) },
            Freedom::Slide => Part::Axial { spots: joint.spots(), line: joint.axis(0), linear },
        });
    }

    pub(super) fn note_motor(&mut self, joint: &Joint, freedom: Freedom, amount: Seen) {
        let [_, spot] = joint.spots();
        self.note_part(match freedom {
            Freedom::Turn => Part::Torque { about: joint.about(), amount },
            Freedom::Slide => Part::Force { spots: [spot], along: joint.axis(0), amount },
        });
    }

    pub(super) fn note_drive(&mut self, joint: &Joint, freedom: Freedom) {
        let [_, spot] = joint.spots();
        self.note_part(match freedom {
            Freedom::Turn => Part::DrivenTurn(joint.about()),
            Freedom::Slide => Part::DrivenSlide { spots: [spot], line: joint.axis(0) },
        });
    }

    /// A force (with `turns`: a torque) along a direction, in world or body axes.
    pub(super) fn note_load(&mut self, place: &Place, direction: &[Value; 3], axes: Axes, turns: bool, amount: Seen) {
        let spot = place.spot();
        let member = if axes == Axes::Body { spot.member } else { GROUND };
        let along = Ray { member, direction: Direction::Vector(*direction) };
        self.note_part(if turns {
            let member = spot.member;
            Part::Torque { about: About::Axis { spot: Box::new(spot), axis: along, member }, amount }
        } else {
            Part::Force { spots: [spot], along, amount }
        });
    }

    pub(super) fn note_strut(&mut self, first: &Place, second: &Place, linear: Option<[Value; 2]>) {
        self.note_part(Part::Strut { spots: [first.spot(), second.spot()], linear });
    }

    pub(super) fn note_bushing(&mut self, first: &Place, second: &Place) {
        self.note_part(Part::Bushing([first.spot(), second.spot()]));
    }

    /// A ball against a plane; `frames` are the parameters of both places.
    pub(super) fn note_contact(&mut self, plane: &Place, center: &Place, frames: &[Value], radius: Value) {
        let normal = plane.member.ray(three(frames, 6));
        self.note_part(Part::Plane { spots: [plane.spot(), center.spot()], normal, touch: Touch::Ball(radius) });
    }

    pub(super) fn note_driven_point(&mut self, place: &Place) {
        self.note_part(Part::DrivenPoint([place.spot()]));
    }

    pub(super) fn note_driven_axes(&mut self, member: &Member) {
        self.note_part(Part::DrivenAxes(member.number()));
    }
}
