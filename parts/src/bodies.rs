//! What bodies weigh, and what no body can.

use crate::spatial::check_inertia;
use costate::Error;
use costate::shown::rounded;
use costate::sketch::{Mass, Member, MemberKind};
use costate::system::System;

/// A quantity of a body: its name, unit and value.
pub type BodyQuantity = (&'static str, &'static str, f64);

/// A member's name, which its coordinates have: `NAME.x` and so on.
fn name<'s>(system: &'s dyn System, member: &Member) -> &'s str {
    let first = member.coordinates.first().and_then(|&j| system.signature().coordinates.get(j));
    first.map_or("", |q| q.name.rsplit_once('.').map_or(q.name.as_str(), |(name, _)| name))
}

/// Mass, centre of mass in the body's axes, and inertia about it of all bodies of a mechanism with these parameters; nothing of plain models.
pub fn bodies<'s>(system: &'s dyn System, u: &[f64]) -> Vec<(&'s str, Vec<BodyQuantity>)> {
    let Some(sketch) = system.sketch() else { return Vec::new() };
    let u = &system.parameters_of_sketch(u);
    let of = |member: &Member| {
        let Mass { mass, center: [x, y, z], inertia: [xx, yy, zz, xy, xz, yz] } = member.mass_at(u);
        let centers = [("center_x", "m", x), ("center_y", "m", y), ("center_z", "m", z)];
        let inertias = ["I_xx", "I_yy", "I_zz", "I_xy", "I_xz", "I_yz"];
        let inertias = inertias.into_iter().zip([xx, yy, zz, xy, xz, yz]).map(|(name, entry)| (name, "kg m^2", entry));
        let mut all = vec![("mass", "kg", mass)];
        match member.kind {
            MemberKind::Planar(_) => all.extend(centers[..2].iter().copied().chain([("inertia", "kg m^2", zz)])),
            MemberKind::Spatial(_) => all.extend(centers.into_iter().chain(inertias)),
            MemberKind::Ground | MemberKind::Point | MemberKind::Posed(_) => {}
        }
        all
    };
    let is_body = |member: &&Member| matches!(member.kind, MemberKind::Planar(_) | MemberKind::Spatial(_));
    sketch.members.iter().filter(is_body).map(|member| (name(system, member), of(member))).collect()
}

/// Properties that no body can have, of a mechanism with these parameters: masses below nothing, inertias that contradict themselves. A
/// sentence each.
pub fn impossible(system: &dyn System, u: &[f64]) -> Vec<String> {
    let Some(sketch) = system.sketch() else { return Vec::new() };
    let u = &system.parameters_of_sketch(u);
    let mut found = Vec::new();
    for member in &sketch.members {
        let name = name(system, member);
        let Mass { mass, inertia, .. } = member.mass_at(u);
        if mass < 0.0 {
            found.push(format!("`{name}` has a mass of {} kg, less than nothing", rounded(mass, 4)));
        }
        match member.kind {
            MemberKind::Planar(_) if inertia[2] < 0.0 => {
                let inertia = rounded(inertia[2], 4);
                found.push(format!("`{name}` has an inertia of {inertia} kg m^2, less than nothing"));
            }
            MemberKind::Spatial(_) => {
                if let Err(Error::Invalid { what, problem, .. }) = check_inertia(inertia) {
                    found.push(format!("no body has the {what} of `{name}`: {problem}"));
                }
            }
            _ => {}
        }
    }
    found
}
