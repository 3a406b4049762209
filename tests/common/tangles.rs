//! Random mechanisms from parts, of the plane and of space, by number: trees and loops of bodies and point masses, whose masses and
//! lengths may lie decades apart.

use costate::random::SplitMix64;
use costate::vector::{Vector, euler_parameters_of};
use costate::{Parameter, Result};
use costate_parts::assembly::{Assembly, RedundantRows};
use costate_parts::spatial::Inertia;
use costate_parts::{law, planar, spatial};

/// What a random mechanism is like.
#[derive(Debug, Clone, Copy)]
pub struct Tangle {
    pub seed: u64,
    pub spatial: bool,
    /// Members are joined once more; then it begins at rest, otherwise in motion.
    pub loops: bool,
    /// Masses from 1e-4 to 1e3 kg, lengths from a centimetre to 10 m; otherwise all of size 1.
    pub wild: bool,
}

impl Tangle {
    /// All eight kinds in turn.
    pub fn numbered(seed: u64) -> Self {
        Tangle { seed, spatial: seed & 1 == 1, loops: seed & 2 == 2, wild: seed & 4 == 4 }
    }

    /// The mechanism; every mass and stiffness is a parameter.
    pub fn build(self) -> Result<Assembly> {
        let draw = Draw { random: SplitMix64::new(self.seed), wild: self.wild, moving: !self.loops };
        if self.spatial { self.of_space(draw) } else { self.of_the_plane(draw) }
    }

    fn of_the_plane(self, mut draw: Draw) -> Result<Assembly> {
        let mut m = planar::Mechanism::new("tangle");
        m.redundant_rows(RedundantRows::LeaveOut);
        // of each member its end in the world and in its own axes, and its angle
        let mut members = vec![(m.ground(), [0.0; 2], [0.0; 2], 0.0)];
        for i in 0..1 + draw.below(8) {
            let (parent, at, reach, turned) = members[draw.below(members.len())].clone();
            let (length, mass, angle) = (draw.length(), draw.mass(), draw.between(-3.0, 3.0));
            let along = |from: [f64; 2], way: f64| [from[0] + way * angle.cos(), from[1] + way * angle.sin()];
            let mut parameter =
                |name: &str, unit: &str, value| m.parameter(Parameter::new(format!("{name}{i}"), unit, value));
            let (weight, stiffness) = (parameter("m", "kg", mass), parameter("k", "N/m", 40.0 * mass));
            let (kind, is_point) = (draw.below(6), draw.below(5) == 0);
            let gap = if kind < 2 { 0.0 } else { draw.between(0.05, 0.3) * length };
            let (name, joint, start) = (format!("limb{i}"), format!("joint{i}"), along(at, gap));
            let velocity = [draw.rate() * length, draw.rate() * length];
            let (member, own, end, far) = if is_point {
                (m.point_moving(&name, weight, start, velocity), [0.0; 2], start, [0.0; 2])
            } else {
                let body = planar::Body::new(weight, weight * (length * length / 12.0));
                let center = if draw.below(3) == 0 { [0.1 * length, -0.2 * length] } else { [0.0; 2] };
                let body = body.center(center).at(along(start, 0.5 * length), angle).moving(velocity, draw.rate());
                (m.body(&name, body), [-0.5 * length, 0.0], along(start, length), [0.5 * length, 0.0])
            };
            let (first, second) = (parent.at(reach), member.at(own));
            match kind {
                0 => drop(m.revolute(&joint, first, second)),
                1 if is_point || parent.coordinates().len() == 2 => drop(m.revolute(&joint, second, first)),
                1 => {
                    m.revolute(&joint, first, second);
                    m.torsion(
                        &format!("torsion{i}"),
                        &parent,
                        &member,
                        stiffness * (0.01 * length),
                        0.01 * mass * length,
                    );
                }
                2 => drop(m.spring(&joint, first, second, gap, stiffness, 0.3 * mass)),
                3 if parent.coordinates().len() != 2 => drop(m.on_line(&joint, first, second, angle - turned)),
                _ => drop(m.rod(&joint, first, second, gap)),
            }
            members.push((member, end, far, if is_point { 0.0 } else { angle }));
        }
        for i in 0..if self.loops { 1 + draw.below(2) } else { 0 } {
            let [a, b] = [0, 1].map(|_| members[draw.below(members.len())].clone());
            let distance = (a.1[0] - b.1[0]).hypot(a.1[1] - b.1[1]);
            if distance > 1e-3 {
                m.rod(&format!("loop{i}"), a.0.at(a.2), b.0.at(b.2), distance);
            }
        }
        let (last, _, end, _) = members[members.len() - 1].clone();
        m.acceleration("sensor", last.at(end), law::Axes::World);
        m.build()
    }

    fn of_space(self, mut draw: Draw) -> Result<Assembly> {
        let mut m = spatial::Mechanism::new("tangle");
        m.redundant_rows(RedundantRows::LeaveOut);
        // of each member where it is, and whether it is a point mass
        let mut members = vec![(m.ground(), [0.0; 3], false)];
        for i in 0..1 + draw.below(6) {
            let (parent, near, hangs_at_point) = members[draw.below(members.len())].clone();
            let (length, mass, way) = (draw.length(), draw.mass(), draw.direction());
            let at: [f64; 3] = std::array::from_fn(|k| near[k] + length * way[k]);
            let mut parameter =
                |name: &str, unit: &str, value| m.parameter(Parameter::new(format!("{name}{i}"), unit, value));
            let (weight, stiffness) = (parameter("m", "kg", mass), parameter("k", "N/m", 40.0 * mass));
            let (kind, is_point) = (draw.below(8), draw.below(5) == 0);
            let velocity = [0; 3].map(|_| draw.rate() * length);
            let name = format!("limb{i}");
            let member = if is_point {
                m.point_moving(&name, weight, at, velocity)
            } else {
                let inertia = [0.03, 0.04, 0.05].map(|share| weight * (share * length * length));
                let center = if draw.below(2) == 0 { [0.02, -0.03, 0.05] } else { [0.0; 3] };
                let body = spatial::Body::new(weight, Inertia::diagonal(inertia)).center(center.map(|x| x * length));
                let turn = euler_parameters_of(Vector(draw.direction().map(|x| 2.0 * x)));
                m.body(&name, body.at(at).turned(turn).moving(velocity, [0; 3].map(|_| draw.rate())))
            };
            let point = hangs_at_point || is_point;
            let seat: [f64; 3] = std::array::from_fn(|k| if is_point { near[k] } else { 0.5 * (near[k] + at[k]) });
            let (axis, other) = (draw.direction(), draw.direction());
            let across = Vector(axis).cross(Vector(other));
            let across = (across * (1.0 / across.length())).0;
            let mut place =
                |member: &spatial::Member, point, axis, across| m.place(member, point).axis(axis).across(across);
            let joint = format!("joint{i}");
            let (first, second) = (place(&parent, seat, axis, across), place(&member, seat, axis, across));
            match kind {
                // a rod, or for some a spring, where there are no axes, too
                _ if point || kind > 5 => {
                    let (first, second) = (place(&parent, near, axis, across), place(&member, at, axis, across));
                    match kind % 3 {
                        0 => drop(m.spring(&joint, first, second, 0.9 * length, stiffness, 0.3 * mass)),
                        _ => drop(m.distance(&joint, first, second, length)),
                    }
                }
                0 => drop(m.spherical(&joint, first, second)),
                1 => drop(m.revolute(&joint, first, second)),
                2 => drop(m.cylindrical(&joint, first, second)),
                3 => drop(m.prismatic(&joint, first, second)),
                4 => {
                    let second = m.place(&member, seat).axis(across).across(axis);
                    m.universal(&joint, first, second);
                }
                _ => drop(m.in_line(&joint, first, second)),
            }
            members.push((member, at, is_point));
        }
        for i in 0..if self.loops { 1 + draw.below(2) } else { 0 } {
            let [a, b] = [0, 1].map(|_| members[draw.below(members.len())].clone());
            let distance = (Vector(a.1) - Vector(b.1)).length();
            if distance > 1e-3 {
                let (first, second) = (m.place(&a.0, a.1), m.place(&b.0, b.1));
                m.distance(&format!("loop{i}"), first, second, distance);
            }
        }
        let (last, ..) = members[members.len() - 1].clone();
        m.acceleration("sensor", last.at([0.0; 3]), law::Axes::World);
        m.build()
    }
}

/// Random numbers for a mechanism.
struct Draw {
    random: SplitMix64,
    wild: bool,
    moving: bool,
}

impl Draw {
    fn between(&mut self, least: f64, most: f64) -> f64 {
        least + (most - least) * self.random.unit()
    }

    fn below(&mut self, count: usize) -> usize {
        (self.random.unit() * count as f64) as usize
    }

    fn mass(&mut self) -> f64 {
        if self.wild { 10f64.powf(self.between(-4.0, 3.0)) } else { self.between(0.3, 3.0) }
    }

    fn length(&mut self) -> f64 {
        if self.wild { 10f64.powf(self.between(-2.0, 1.0)) } else { self.between(0.3, 1.5) }
    }

    /// 1/s
    fn rate(&mut self) -> f64 {
        if self.moving { self.between(-2.0, 2.0) } else { 0.0 }
    }

    fn direction(&mut self) -> [f64; 3] {
        let direction = Vector([0; 3].map(|_| self.random.normal()));
        (direction * (1.0 / direction.length())).0
    }
}
