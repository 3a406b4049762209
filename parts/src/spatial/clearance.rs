//! How far bodies are from one another: capsules about lines that are fixed to members.

use super::pose::Sides;
use super::{Mechanism, Member, triple};
use crate::assembly::Element;
use costate::value::Value;
use costate::vector::Vector;
use costate::{Number, State};

/// All points that are no farther than a radius from a line between two points of a member; a sphere where both are one.
#[derive(Debug, Clone)]
pub struct Capsule {
    pub(super) member: Member,
    pub(super) ends: [[Value; 3]; 2],
    pub(super) radius: Value,
}

impl Capsule {
    /// A capsule by the ends of its line, m, in the member's axes, and its radius, m.
    pub fn new<V: Into<Value>>(member: &Member, from: [V; 3], to: [V; 3], radius: impl Into<Value>) -> Self {
        Capsule { member: member.clone(), ends: [triple(from), triple(to)], radius: radius.into() }
    }
}

/// The distance between two capsules. Parameters: the ends of both lines, then both radii.
struct Clearance {
    sides: Sides,
}

/// A length below which it has no direction: 1 nm.
const NOTHING: f64 = 1e-18;

/// The distance of two lines between points (Ericson 2005, Real-Time Collision Detection, section 5.1.9): where they are nearest is on both, at the
/// end of one, or at the ends of both.
fn distance<D: Number>([[a, b], [c, d]]: [[Vector<D>; 2]; 2]) -> D {
    let (zero, one) = (D::from(0.0), D::from(1.0));
    let (along, other, gap) = (b - a, d - c, a - c);
    let (length, width, both) = (along.dot(along), other.dot(other), along.dot(other));
    let (on, off) = (along.dot(gap), other.dot(gap));
    // lines without length, and those that are parallel, have any place on them
    let part = |above: D, below: D, least: f64| {
        let is_none = below.at_most(least);
        let below = D::select(is_none, one, below);
        D::select(is_none, zero, Number::clamp(above / below, 0.0, 1.0))
    };
    let parallel = length * width;
    let squared = D::select((parallel - both * both).at_most(parallel * 1e-12), zero, parallel - both * both);
    let first = part(both * off - on * width, squared, 0.0);
    let second = both * first + off;
    let before = second.less(zero) | width.at_most(NOTHING);
    let beyond = width.less(second);
    let first =
        D::select(before, part(-on, length, NOTHING), D::select(beyond, part(both - on, length, NOTHING), first));
    let second = part(second, width, NOTHING);
    let between = gap + along * first - other * second;
    (between.dot(between) + NOTHING).sqrt()
}

/// The least distance of two lines, each between two points, m.
pub fn distance_of_lines(lines: [[[f64; 3]; 2]; 2]) -> f64 {
    distance(lines.map(|line| line.map(Vector)))
}

impl Element for Clearance {
    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        let poses = self.sides.poses(x.q);
        let line = |k: usize| [0, 3].map(|end| poses[k].point(Vector::of(&u[6 * k + end..])));
        y[0] = distance([line(0), line(1)]) - u[12] - u[13];
    }
}

impl Mechanism {
    /// The distance between two [`Capsule`]s as output `name.distance`, m; negative where they overlap.
    pub fn clearance(&mut self, name: &str, [first, second]: [&Capsule; 2]) {
        let (sides, connection) = self.between(name, &first.member, &second.member);
        let ends = [first, second].into_iter().flat_map(|own| own.ends.into_iter().flatten());
        let connection = connection.parameters(ends).parameters([first.radius, second.radius]);
        self.assembler.element(name, Clearance { sides }, connection.outputs([("distance", "m")]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects distances: against the least one of many points on both lines, for lines that cross, are parallel, have no length, or touch only by ends.
    #[test]
    fn distances_are_the_least() {
        let mut random = costate::random::SplitMix64::new(3);
        let mut point = || Vector([0; 3].map(|_| random.unit() * 2.0 - 1.0));
        for case in 0..400 {
            let [a, b, c, d] = [0; 4].map(|_| point());
            let lines = match case % 8 {
                0 => [[a, a], [c, d]],
                1 => [[a, b], [c, c]],
                2 => [[a, a], [c, c]],
                3 => [[a, b], [c, c + (b - a) * 0.7]],
                4 => [[a, b], [a + (b - a) * 1.5, a + (b - a) * 2.5]],
                _ => [[a, b], [c, d]],
            };
            let at = |line: [Vector<f64>; 2], k: usize| line[0] + (line[1] - line[0]) * (k as f64 / 100.0);
            let mut least = f64::INFINITY;
            for j in 0..=100 {
                for k in 0..=100 {
                    let gap = at(lines[0], j) - at(lines[1], k);
                    least = least.min(gap.dot(gap).sqrt());
                }
            }
            let own = distance(lines);
            assert!(own <= least + 1e-12 && own >= least - 0.03, "{case}: {own}, {least}");
            let swapped = distance([lines[1], lines[0]]);
            assert!((own - swapped).abs() <= 1e-9, "{case}: {own}, {swapped}");
        }
    }
}
