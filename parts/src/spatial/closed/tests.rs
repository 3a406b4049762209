//! Closed forms against dual numbers.

use super::super::body::RigidBody;
use super::super::force::JointLaw;
use super::super::inertia::Form;
use super::super::joint::{Constraint, Freedom, JointKind};
use super::super::pose::{Side, Sides};
use crate::assembly::closed::against_dual_numbers::{check_constraint, check_motion};
use crate::law::{BrownMcPhee, Damper};
use crate::totals::Role;
use costate::linearise::probe;

/// Numbers of both signs.
fn some(count: usize, salt: f64) -> Vec<f64> {
    (0..count).map(|i| (salt + 1.7 * i as f64).sin()).collect()
}

const SIDES: [Sides; 5] = [
    Sides(Side::Body, Side::Body),
    Sides(Side::Ground, Side::Body),
    Sides(Side::Body, Side::Ground),
    Sides(Side::Point, Side::Body),
    Sides(Side::Body, Side::Point),
];

/// Protects steps of hinges: all derivatives, wherever bodies are, on constraints or off them, for all kinds of members.
#[test]
fn joints_agree_with_dual_numbers() {
    for (kind, rows) in [(JointKind::Spherical, 3), (JointKind::Revolute, 5), (JointKind::Universal, 4)] {
        for (salt, sides) in SIDES.into_iter().enumerate() {
            let salt = salt as f64;
            let n = sides.0.coordinates() + sides.1.coordinates();
            let joint = Constraint { sides, kind };
            check_constraint(&joint, &some(n, salt), &some(18, 0.3 + salt), &some(rows, 0.7));
        }
    }
}

/// Protects steps of bodies.
#[test]
fn bodies_agree_with_dual_numbers() {
    for form in [Form::Entries, Form::Factors] {
        let body = RigidBody { form, centred: true };
        let mut u = some(13, 0.4);
        u[7..10].fill(0.0);
        check_constraint(&body, &some(7, 0.1), &u, &[0.7]);
        check_motion(&body, [&some(7, 0.2), &some(7, 1.1), &some(7, 2.1)], &u);
    }
}

/// Protects steps of dampers and friction in hinges.
#[test]
fn joint_laws_agree_with_dual_numbers() {
    for (salt, sides) in SIDES.into_iter().enumerate() {
        let n = sides.0.coordinates() + sides.1.coordinates();
        let (q, v, a) = (some(n, salt as f64), some(n, 1.3), some(n, 2.3));
        let damper = JointLaw { sides, freedom: Freedom::Turn, law: Damper, parameters: 1, role: Role::Acts };
        check_motion(&damper, [&q, &v, &a], &[&some(19, 0.9)[..], &[0.7]].concat());
        let law = BrownMcPhee;
        let friction = JointLaw { sides, freedom: Freedom::Turn, law, parameters: 4, role: Role::Acts };
        check_motion(&friction, [&q, &v, &a], &[&some(19, 0.9)[..], &probe(4, 0.2)].concat());
    }
}
