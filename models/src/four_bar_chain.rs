//! N four-bar linkages side by side, which pass through singular positions (IFToMM benchmark library, problem A02; after Bayo &
//! Avello 1994).
//!
//! N + 1 cranks stand on the ground, 1 m apart, and N couplers join their ends: 2N + 1 bars of 1 m and 1 kg, one degree of
//! freedom. They start upright, the ends of the cranks moving at 1 m/s to the right. Whenever all bars lie in one line, N
//! constraints are redundant for an instant and N further degrees of freedom open up, in which the parallelograms could turn
//! inside out.
//!
//! In the exact motion all cranks stay parallel and the couplers level. So the chain moves as one pendulum of the angle θ from
//! upright, with cranks of mass m_c and couplers of mass m:
//!
//! ```text
//! ((N + 1) m_c / 3 + N m) θ'' = ((N + 1) m_c / 2 + N m) g sin θ
//! ```

use crate::named;
use costate::value::Value;
use costate::{Parameter, Result};
use costate_identify::registry::{Registry, Scenario};
use costate_parts::assembly::Assembly;
use costate_parts::planar::{Body, Mechanism};
use std::sync::Arc;

/// The chain with `windows` four-bar linkages. Parameters: mass of a crank, mass of a coupler, and the start's velocity of the
/// cranks' ends; outputs: position of the first crank's end, and energy. The cranks' mass is fixed: motion depends on the ratio
/// of both masses.
///
/// # Errors
/// None for a positive count.
pub fn four_bar_chain(windows: usize) -> Result<Assembly> {
    let mut mechanism = Mechanism::new("four_bar_chain");
    let mass = |name: &str| Parameter::new(name, "kg", 1.0).bounds(1e-6, f64::INFINITY);
    let crank_mass = mechanism.parameter(mass("m_crank").fixed());
    let coupler_mass = mechanism.parameter(mass("m_coupler"));
    let velocity = mechanism.parameter(Parameter::new("v0", "m/s", 1.0));
    let (inertia, still) = (1.0 / 12.0, Value::from(0.0));
    let cranks: Vec<_> = (0..=windows)
        .map(|i| {
            let crank = Body::new(crank_mass, crank_mass * inertia).at([i as f64, 0.5], 0.0);
            let crank = crank.moving([&velocity * 0.5, still], -&velocity);
            let crank = mechanism.body(&format!("crank{}", i + 1), crank);
            let foot = mechanism.ground().at([i as f64, 0.0]);
            mechanism.revolute(&format!("foot{}", i + 1), foot, crank.at([0.0, -0.5]));
            crank
        })
        .collect();
    for (i, pair) in cranks.windows(2).enumerate() {
        let coupler = Body::new(coupler_mass, coupler_mass * inertia).at([i as f64 + 0.5, 1.0], 0.0);
        let coupler = mechanism.body(&format!("coupler{}", i + 1), coupler.moving([velocity, still], 0.0));
        mechanism.revolute(&format!("left{}", i + 1), pair[0].at([0.0, 0.5]), coupler.at([-0.5, 0.0]));
        mechanism.revolute(&format!("right{}", i + 1), pair[1].at([0.0, 0.5]), coupler.at([0.5, 0.0]));
    }
    mechanism.position("B0", cranks[0].at([0.0, 0.5]));
    mechanism.energy("energy");
    mechanism.build()
}

pub(crate) fn register(registry: Registry) -> costate_identify::Result<Registry> {
    let scenario = Scenario {
        step: 2e-3,
        start: named([("m_coupler", 1.3), ("v0", 0.9)]),
        outputs: vec!["B0.x".into(), "B0.y".into()],
        ..Scenario::default()
    };
    registry.with_system(
        "two four-bar linkages side by side, through singular positions, from parts (IFToMM A02)",
        Arc::new(four_bar_chain(2)?),
        scenario,
    )
}
