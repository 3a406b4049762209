//! What a mechanism from parts looks like: its members, and its parts with the points where they are attached.
//!
//! A [`Sketch`] is noted down while a [`crate::planar::Mechanism`] is put together, and drawn by
//! [`crate::plot::mechanism`]. Properties are kept as they were given, numbers or parameters.

use crate::assembly::Value;
use crate::planar::{Pose, Side};

/// Place of the ground among the members.
pub(crate) const GROUND: usize = 0;

/// What a mechanism from parts looks like; see [`crate::System::sketch`].
#[derive(Debug, Clone)]
pub struct Sketch {
    /// The ground, then bodies and point masses.
    pub(crate) members: Vec<Member>,
    pub(crate) parts: Vec<Part>,
    /// Points whose path is drawn.
    pub(crate) traces: Vec<Spot>,
    /// Where other sensors sit.
    pub(crate) sensors: Vec<Spot>,
}

/// Something that parts are fixed to.
#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub side: Side,
    /// Where its coordinates are.
    pub coordinates: Vec<usize>,
    /// Its centre of mass, in its own axes, m.
    pub center: [Value; 2],
    /// Mass, kg, and inertia, kg m²; zero for the ground.
    pub mass: Value,
    pub inertia: Value,
}

/// A point of a member, in its axes, m.
#[derive(Debug, Clone)]
pub(crate) struct Spot {
    pub member: usize,
    pub location: [Value; 2],
}

/// What is drawn between members.
#[derive(Debug, Clone)]
pub(crate) enum Part {
    /// Two points coincide.
    Pin([Spot; 2]),
    /// Two points coincide, and angles.
    Weld([Spot; 2]),
    /// The second point slides along a line through the first, whose direction is an angle in the first member's axes; a
    /// `block` does not turn against it.
    Guide { spots: [Spot; 2], direction: Value, block: bool },
    /// A massless rod.
    Rod([Spot; 2]),
    /// A spring or damper; by a law of its own, it is drawn as a spring.
    Strut { spots: [Spot; 2], linear: Option<[Value; 2]> },
    /// A torsional spring or damper; its stiffness, if it is linear.
    Torsion { members: [usize; 2], stiffness: Option<Value> },
    /// Turns in a fixed ratio.
    Gears { members: [usize; 2], ratio: Value },
    /// A circle around the second point against a line through the first; direction as that of a guide.
    Contact { spots: [Spot; 2], direction: Value, radius: Value },
    /// A spring along a direction (an angle in the world) to a support that an input moves from the world's origin.
    Support { spots: [Spot; 1], direction: Value, input: usize },
    /// An input along a direction, which turns with the member if `turning`.
    Force { spots: [Spot; 1], direction: [Value; 2], turning: bool, input: usize },
    /// An input as a torque on the second member.
    Torque { members: [usize; 2], input: usize },
}

impl Part {
    /// The points where it is attached.
    pub fn spots(&self) -> &[Spot] {
        match self {
            Part::Pin(spots) | Part::Weld(spots) | Part::Rod(spots) => spots,
            Part::Guide { spots, .. } | Part::Strut { spots, .. } | Part::Contact { spots, .. } => spots,
            Part::Force { spots, .. } | Part::Support { spots, .. } => spots,
            Part::Torsion { .. } | Part::Gears { .. } | Part::Torque { .. } => &[],
        }
    }
}

impl Sketch {
    /// The ground alone.
    pub(crate) fn new() -> Self {
        let mut sketch = Sketch { members: Vec::new(), parts: Vec::new(), traces: Vec::new(), sensors: Vec::new() };
        let zero = || Value::from(0.0);
        sketch.member(Side::Ground, Vec::new(), [zero(), zero()], [zero(), zero()]);
        sketch
    }

    /// Adds a member with mass and inertia; returns its place.
    pub(crate) fn member(
        &mut self,
        side: Side,
        coordinates: Vec<usize>,
        center: [Value; 2],
        [mass, inertia]: [Value; 2],
    ) -> usize {
        self.members.push(Member { side, coordinates, center, mass, inertia });
        self.members.len() - 1
    }

    /// Is there anything but the ground?
    pub(crate) fn is_empty(&self) -> bool {
        self.members.len() < 2
    }

    /// Where all members are.
    pub(crate) fn poses(&self, q: &[f64]) -> Vec<Pose<f64>> {
        (0..self.members.len()).map(|member| self.pose(member, q)).collect()
    }

    fn pose(&self, member: usize, q: &[f64]) -> Pose<f64> {
        // a member of another mechanism is a slip; it is drawn at the origin
        let Some(Member { side, coordinates, .. }) = self.members.get(member) else { return Side::Ground.pose(q) };
        let mut own = [0.0; 3];
        own.iter_mut().zip(coordinates).for_each(|(own, j)| *own = q[*j]);
        side.pose(&own)
    }

    /// Where a traced point is in the world, m.
    pub(crate) fn traced(&self, spot: &Spot, q: &[f64], u: &[f64]) -> [f64; 2] {
        self.pose(spot.member, q).point(spot.at(u))
    }
}

impl Spot {
    /// Its location on its member, m.
    pub fn at(&self, u: &[f64]) -> [f64; 2] {
        [self.location[0].evaluate(u), self.location[1].evaluate(u)]
    }
}
