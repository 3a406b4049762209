//! What no body can have.

use crate::spatial::check_inertia;
use costate::Error;
use costate::shown::rounded;
use costate::sketch::{Member, MemberKind};
use costate::system::System;

/// Properties that no body can have, of a mechanism with these parameters: masses below nothing, inertias that contradict themselves. A
/// sentence each.
pub fn impossible(system: &dyn System, u: &[f64]) -> Vec<String> {
    let Some(sketch) = system.sketch() else { return Vec::new() };
    let u = &system.parameters_of_sketch(u);
    let mut found = Vec::new();
    for Member { kind, coordinates, mass, .. } in &sketch.members {
        // a member's coordinates are called `NAME.x` and so on
        let name = coordinates.first().and_then(|&j| system.signature().coordinates.get(j));
        let name = name.map_or("", |q| q.name.rsplit_once('.').map_or(q.name.as_str(), |(name, _)| name));
        let mass = mass.evaluate(u);
        if mass < 0.0 {
            found.push(format!("`{name}` has a mass of {} kg, less than nothing", rounded(mass, 4)));
        }
        match kind {
            MemberKind::Planar(inertia) if inertia.evaluate(u) < 0.0 => {
                let inertia = rounded(inertia.evaluate(u), 4);
                found.push(format!("`{name}` has an inertia of {inertia} kg m^2, less than nothing"));
            }
            MemberKind::Spatial(inertia) => {
                if let Err(Error::Invalid { what, problem, .. }) = check_inertia(inertia.entries_at(u)) {
                    found.push(format!("no body has the {what} of `{name}`: {problem}"));
                }
            }
            _ => {}
        }
    }
    found
}
