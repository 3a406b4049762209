//! Torques about a joint's axis by a law of the rate alone: friction and dampers.

use super::super::force::JointLaw;
use super::super::joint::FRAMES;
use super::super::pose::{Side, euler_parameters};
use super::{FIRST, Turned, torque_by_position, world_torque_by_position};
use crate::assembly::{ClosedMotion, MotionSlopes};
use crate::law::Law;
use costate::number::Jet;
use costate::vector::{Vector, body_rate, generalized_torque, generalized_world_torque, world_rate};

/// The most parameters of a law.
pub(in super::super) const MOST: usize = 8;

/// The law at a rate: the torque, its slope, and its derivatives by the law's parameters if asked for.
fn torque<L: Law>(law: &L, rate: f64, u: &[f64], by_parameter: bool) -> ([f64; 2], [f64; MOST]) {
    let count = u.len().min(MOST);
    let mut own = [Jet::<f64, 1>::constant(0.0); MOST];
    own.iter_mut().zip(u).for_each(|(own, u)| own.re = *u);
    let none = Jet::constant(0.0);
    let value = law.tension(none, Jet { re: rate, eps: [1.0] }, &own[..count]);
    let mut slopes = [0.0; MOST];
    if by_parameter {
        for k in 0..count {
            own[k].eps = [1.0];
            slopes[k] = law.tension(none, Jet::constant(rate), &own[..count]).eps[0];
            own[k].eps = [0.0];
        }
    }
    ([value.re, value.eps[0]], slopes)
}

/// One side's Euler parameters: where they are, how the rate follows from their own rates, and how that changes with them.
struct Turning {
    first: usize,
    /// J with rate = Σ J e'.
    lever: [f64; 4],
    /// ∂(Σ J e')/∂e, of both sides together.
    slope: [f64; 4],
}

/// Both sides of a joint with its axis, in the axes of the first side and in the world.
struct Levers {
    /// The sides that turn, and their number.
    sides: [Turning; 2],
    count: usize,
    rate: f64,
    own: Vector<f64>,
    axis: Vector<f64>,
    /// The axis of a first side that turns, and the Euler parameters of a second one.
    turned: Option<Turned>,
    last: Option<[f64; 4]>,
    /// Place of the second side's Euler parameters.
    second: usize,
}

impl Levers {
    /// Adds what the turning of J makes of a torque to dD/dq, with rows of this length.
    #[inline]
    fn add_turning(&self, torque: f64, n: usize, by_position: &mut [f64]) {
        let mut add = |row: usize, column: usize, block: [[f64; 4]; 4]| {
            for (i, entries) in block.iter().enumerate() {
                let own = &mut by_position[(row + i) * n + column..][..4];
                own.iter_mut().zip(entries).for_each(|(own, entry)| *own += entry);
            }
        };
        if self.turned.is_some() {
            add(FIRST, FIRST, torque_by_position(self.own * -torque));
        }
        let Some(e) = self.last else { return };
        add(self.second, self.second, world_torque_by_position(self.axis * torque));
        if let Some(turned) = &self.turned {
            let slopes = turned.slopes();
            let columns: [[f64; 4]; 4] = std::array::from_fn(|j| {
                generalized_world_torque(e, Vector([slopes[0][j], slopes[1][j], slopes[2][j]]) * torque)
            });
            add(self.second, FIRST, std::array::from_fn(|i| std::array::from_fn(|j| columns[j][i])));
        }
    }
}

impl<L: Law> JointLaw<L> {
    /// Both sides, and the rate.
    #[inline]
    fn levers(&self, q: &[f64], v: &[f64], u: &[f64]) -> Levers {
        let (first, second) = (self.sides.0, self.sides.1);
        let start = first.coordinates();
        let is_body = [first == Side::Body, second == Side::Body];
        let own = Vector::of(&u[6..]).unit();
        let (mut sides, mut count) = ([const { Turning { first: 0, lever: [0.0; 4], slope: [0.0; 4] } }; 2], 0);
        let (mut axis, mut turned, mut rate) = (own, None, 0.0);
        if is_body[0] {
            let (e, rates) = (euler_parameters(q), euler_parameters(v));
            let here = Turned::of(e, own);
            (axis, turned) = (here.value, Some(here));
            let lever = generalized_torque(e, own).map(|lever| -lever);
            sides[0] = Turning { first: FIRST, lever, slope: generalized_torque(rates, own) };
            rate -= own.dot(body_rate(e, rates));
            count = 1;
        }
        let mut last = None;
        if is_body[1] {
            let (e, rates) = (euler_parameters(&q[start..]), euler_parameters(&v[start..]));
            let turning = world_rate(e, rates);
            if let Some(here) = &turned {
                sides[0].slope.iter_mut().zip(here.along(turning)).for_each(|(slope, along)| *slope += along);
            }
            let slope = generalized_world_torque(rates, axis).map(|slope| -slope);
            sides[count] = Turning { first: start + FIRST, lever: generalized_world_torque(e, axis), slope };
            rate += axis.dot(turning);
            count += 1;
            last = Some(e);
        }
        Levers { sides, count, rate, own, axis, turned, last, second: start + FIRST }
    }
}

/// D = Jᵀ T(J v): with n in the axes of the first side and its direction in the world w = R(e) n, J = (-2 Gᵀ n, 2 Eᵀ w).
impl<L: Law> ClosedMotion for JointLaw<L> {
    fn knows(&self, parameter: usize) -> bool {
        parameter >= FRAMES
    }

    fn differentiate(&self, [q, v, _]: [&[f64]; 3], u: &[f64], to: MotionSlopes<'_>) {
        let levers = self.levers(q, v, u);
        let sides = &levers.sides[..levers.count];
        let ([torque, damping], slopes) = torque(&self.law, levers.rate, &u[FRAMES + 1..], to.by_parameter.is_some());
        let n = to.value.len();
        to.value.fill(0.0);
        for row in sides {
            for i in 0..4 {
                to.value[row.first + i] = row.lever[i] * torque;
                for column in sides {
                    let place = (row.first + i) * n + column.first;
                    let factor = damping * row.lever[i];
                    for j in 0..4 {
                        to.by_velocity[place + j] = factor * column.lever[j];
                        to.by_position[place + j] = factor * column.slope[j];
                    }
                }
            }
        }
        levers.add_turning(torque, n, to.by_position);
        if let Some((parameters, by_parameter)) = to.by_parameter {
            for &k in parameters {
                // nothing depends on the place without elongation
                let slope = k.checked_sub(FRAMES + 1).map_or(0.0, |own| slopes[own]);
                for row in sides {
                    (0..4).for_each(|i| by_parameter[(row.first + i) * u.len() + k] = row.lever[i] * slope);
                }
            }
        }
    }
}
