//! Forces on and between sides, and what they tell: their energy, the power that they take, what sensors see of them.

use super::joint::{Sides, angle};
use super::pose::Side;
use crate::assembly::Element;
use crate::law::{Axes, Law, Strength};
use crate::totals::{Role, STILL, hertz, of_drag};
use costate::{Number, State};

/// A torque by the law between two sides. Parameters: angle without elongation, then those of the law.
pub(super) struct Torsion<L> {
    pub sides: Sides,
    pub law: L,
    pub role: Role,
}

impl<L: Law> Torsion<L> {
    /// Angle less that without elongation, if it matters, and its rate.
    #[inline]
    fn motion<D: Number>(&self, q: &[D], v: &[D], u: &[D]) -> [D; 2] {
        let Sides(a, b) = self.sides;
        let second = a.coordinates();
        let rate = angle(b, &v[second..]) - angle(a, v);
        if L::OF_RATE_ALONE {
            return [D::from(0.0), rate];
        }
        [angle(b, &q[second..]) - angle(a, q) - u[0], rate]
    }
}

impl<L: Law> Element for Torsion<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.role != Role::Acts {
            return;
        }
        let [elongation, rate] = self.motion(q, v, u);
        let torque = self.law.tension_with(elongation, rate, &v[q.len()..], &u[1..]);
        let Sides(a, b) = self.sides;
        if a == Side::Body {
            force[2] += torque;
        }
        if b == Side::Body {
            force[a.coordinates() + 2] -= torque;
        }
    }

    fn rates<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        if self.role == Role::Acts {
            let [elongation, rate] = self.motion(q, v, u);
            self.law.state_rates(elongation, rate, &v[q.len()..], &u[1..], rates);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if let Role::Tells(total) = self.role {
            let [elongation, rate] = self.motion(x.q, x.v, u);
            y[0] = total.of_law(&self.law, elongation, rate, &u[1..]);
        }
    }
}

/// A force by the law along the line between two points. Parameters: locations, free length, then those of the law. A sensor sees
/// length, rate and tension.
pub(super) struct Strut<L> {
    pub sides: Sides,
    pub law: L,
    pub role: Role,
}

/// Length of the line between two points, its direction, its rate, and the points' arms.
pub(super) struct Stretch<D> {
    pub length: D,
    pub rate: D,
    pub direction: [D; 2],
    pub arms: [[D; 2]; 2],
}

impl<D: Number> Stretch<D> {
    /// The locations are the first four parameters.
    #[inline]
    pub fn between(sides: Sides, q: &[D], v: &[D], u: &[D]) -> Self {
        let ([a, b], [rate_a, rate_b]) = (sides.poses(q), sides.twists(v));
        let arms = [a.turn([u[0], u[1]]), b.turn([u[2], u[3]])];
        let (x, y) = (b.x + arms[1][0] - a.x - arms[0][0], b.y + arms[1][1] - a.y - arms[0][1]);
        let length = (x * x + y * y).sqrt();
        let direction = [x / length, y / length];
        let (v_a, v_b) = (rate_a.at(arms[0]), rate_b.at(arms[1]));
        let rate = direction[0] * (v_b[0] - v_a[0]) + direction[1] * (v_b[1] - v_a[1]);
        Stretch { length, rate, direction, arms }
    }
}

impl<L: Law> Element for Strut<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.role != Role::Acts {
            return;
        }
        let stretch = Stretch::between(self.sides, q, v, u);
        let tension = self.law.tension_with(stretch.length - u[4], stretch.rate, &v[q.len()..], &u[5..]);
        let [x, y] = stretch.direction;
        self.sides.push(stretch.arms, [-tension * x, -tension * y], D::from(0.0), force);
    }

    fn rates<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], rates: &mut [D]) {
        if self.role == Role::Acts {
            let stretch = Stretch::between(self.sides, q, v, u);
            self.law.state_rates(stretch.length - u[4], stretch.rate, &v[q.len()..], &u[5..], rates);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if self.role == Role::Acts {
            return;
        }
        let stretch = Stretch::between(self.sides, x.q, x.v, u);
        let elongation = stretch.length - u[4];
        if let Role::Tells(total) = self.role {
            y[0] = total.of_law(&self.law, elongation, stretch.rate, &u[5..]);
        } else {
            [y[0], y[1]] = [stretch.length, stretch.rate];
            y[2] = self.law.tension_with(elongation, stretch.rate, &x.v[x.q.len()..], &u[5..]);
        }
    }
}

/// A force by the law along a fixed direction, between a point and a support that an input moves in that direction. Parameters:
/// location, direction as an angle, free distance, then those of the law. Inputs: the support's displacement and, if there is a
/// second one, its rate.
pub(super) struct Support<L> {
    pub side: Side,
    pub law: L,
    pub role: Role,
}

impl<L> Support<L> {
    /// Direction, elongation and its rate.
    fn motion<D: Number>(&self, q: &[D], v: &[D], w: &[D], u: &[D]) -> ([D; 2], [D; 2]) {
        let pose = self.side.pose(q);
        let arm = pose.turn([u[0], u[1]]);
        let [v_x, v_y] = self.side.twist(v).at(arm);
        let (sin, cos) = u[2].sin_cos();
        let distance = cos * (pose.x + arm[0]) + sin * (pose.y + arm[1]) - w[0];
        let rate = cos * v_x + sin * v_y - w.get(1).copied().unwrap_or(D::from(0.0));
        ([cos, sin], [distance - u[3], rate])
    }
}

impl<L: Law> Element for Support<L> {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        if self.role != Role::Acts {
            return;
        }
        let ([x, y], [elongation, rate]) = self.motion(q, v, w, u);
        let tension = self.law.tension_with(elongation, rate, &v[q.len()..], &u[4..]);
        let arm = self.side.pose(q).turn([u[0], u[1]]);
        self.side.push(arm, [-tension * x, -tension * y], D::from(0.0), force);
    }

    fn rates<D: Number>(&self, _t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        if self.role == Role::Acts {
            let (_, [elongation, rate]) = self.motion(q, v, w, u);
            self.law.state_rates(elongation, rate, &v[q.len()..], &u[4..], rates);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if let Role::Tells(total) = self.role {
            let (_, [elongation, rate]) = self.motion(x.q, x.v, x.w, u);
            y[0] = total.of_law(&self.law, elongation, rate, &u[4..]);
        }
    }
}

/// A strength along a direction, at a point of a side. Parameters: location, direction (x, y, of any length), then those of the strength.
pub(super) struct PointForce<S> {
    pub side: Side,
    pub axes: Axes,
    pub strength: S,
}

impl<S: Strength> Element for PointForce<S> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.strength.known_times()
    }

    fn force<D: Number>(&self, t: D, q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let pose = self.side.pose(q);
        let [x, y] = if self.axes == Axes::World { [u[2], u[3]] } else { pose.turn([u[2], u[3]]) };
        let strength = self.strength.at(t, w, &u[4..]) * (x * x + y * y).sqrt().recip();
        self.side.push(pose.turn([u[0], u[1]]), [x * strength, y * strength], D::from(0.0), force);
    }
}

/// A strength as a torque on the second side, and the opposite on the first. Parameters: those of the strength.
pub(super) struct Torque<S>(pub Sides, pub S);

impl<S: Strength> Element for Torque<S> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.1.known_times()
    }

    fn force<D: Number>(&self, t: D, _q: &[D], _v: &[D], w: &[D], u: &[D], force: &mut [D]) {
        let zero = [[D::from(0.0); 2]; 2];
        self.0.push(zero, zero[0], self.1.at(t, w, u), force);
    }
}

/// A motor whose armature has an inductance, with its current i as a state: the torque k i, L i' = V - R i - k (rate). Parameters: k, R, L,
/// then those of the voltage.
pub(super) struct Armature<S>(pub Sides, pub S);

impl<S: Strength> Element for Armature<S> {
    fn known_times(&self) -> Option<(f64, f64)> {
        self.1.known_times()
    }

    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        let zero = [[D::from(0.0); 2]; 2];
        self.0.push(zero, zero[0], u[0] * v[q.len()], force);
    }

    fn rates<D: Number>(&self, t: D, q: &[D], v: &[D], w: &[D], u: &[D], rates: &mut [D]) {
        let Sides(a, b) = self.0;
        let rate = angle(b, &v[a.coordinates()..]) - angle(a, v);
        rates[0] = (self.1.at(t, w, &u[3..]) - u[1] * v[q.len()] - u[0] * rate) / u[2];
    }
}

/// Resistance to the motion of a point through still air: -(d_1 + d_2 |v|) v. Parameters: location, d_1 (N s/m), d_2
/// (N s²/m²).
pub(super) struct Drag(pub Side, pub Role);

impl Element for Drag {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.1 != Role::Acts {
            return;
        }
        let arm = self.0.pose(q).turn([u[0], u[1]]);
        let [x, y] = self.0.twist(v).at(arm);
        let factor = -(u[2] + u[3] * (x * x + y * y + STILL).sqrt());
        self.0.push(arm, [factor * x, factor * y], D::from(0.0), force);
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], out: &mut [D]) {
        if self.1 == Role::Acts {
            return;
        }
        let [x, y] = self.0.twist(x.v).at(self.0.pose(x.q).turn([u[0], u[1]]));
        out[0] = of_drag([u[2], u[3]], x * x + y * y);
    }
}

/// A circle around a point of the second side presses against a line of the first (Hertz, with damping that vanishes with
/// the penetration; Hunt & Crossley 1975): F = k δ^(3/2) (1 + c δ'). Parameters: a point of the line and its direction as an
/// angle, in the first side's axes; centre and radius of the circle; k (N/m^1.5), c (s/m). The free side is to the left.
pub(super) struct Contact(pub Sides, pub Role);

/// The point of contact of circle and line.
struct Touch<D> {
    normal: [D; 2],
    arms: [[D; 2]; 2],
    /// Overlap of circle and line, and its rate.
    depth: D,
    depth_rate: D,
}

impl Contact {
    /// `None` where they do not touch.
    fn touch<D: Number>(&self, q: &[D], v: &[D], u: &[D]) -> Option<Touch<D>> {
        let ([a, b], [rate_a, rate_b]) = (self.0.poses(q), self.0.twists(v));
        let (sin, cos) = (a.angle + u[2]).sin_cos();
        let normal = [-sin, cos];
        let foot = a.turn([u[0], u[1]]);
        let center = b.turn([u[3], u[4]]);
        let to_center = [b.x + center[0] - a.x - foot[0], b.y + center[1] - a.y - foot[1]];
        let height = normal[0] * to_center[0] + normal[1] * to_center[1];
        let depth = u[5] - height;
        if depth <= 0.0 {
            return None;
        }
        // the point of contact, as an arm of either side
        let touch_b = [center[0] - normal[0] * height, center[1] - normal[1] * height];
        let touch_a = [touch_b[0] + b.x - a.x, touch_b[1] + b.y - a.y];
        let (v_a, v_b) = (rate_a.at(touch_a), rate_b.at(touch_b));
        let depth_rate = -(normal[0] * (v_b[0] - v_a[0]) + normal[1] * (v_b[1] - v_a[1]));
        Some(Touch { normal, arms: [touch_a, touch_b], depth, depth_rate })
    }
}

impl Element for Contact {
    fn force<D: Number>(&self, _t: D, q: &[D], v: &[D], _w: &[D], u: &[D], force: &mut [D]) {
        if self.1 != Role::Acts {
            return;
        }
        if let Some(Touch { normal: [x, y], arms, depth, depth_rate }) = self.touch(q, v, u) {
            let pressure = hertz([u[6], u[7]], depth, depth_rate);
            self.0.push(arms, [x * pressure, y * pressure], D::from(0.0), force);
        }
    }

    fn output<D: Number>(&self, _t: D, x: &State<'_, D>, u: &[D], y: &mut [D]) {
        if let (Role::Tells(total), Some(touch)) = (self.1, self.touch(x.q, x.v, u)) {
            y[0] = total.of_hertz([u[6], u[7]], touch.depth, touch.depth_rate);
        }
    }
}
