//! Constraints that yield to their multipliers by so little, or so much, that it spoils results.

use crate::scheme::compliance_of_step;
use crate::simulate::Simulation;
use crate::system::Point;

/// Constraints that yield by more than this part of what the multipliers move masses by are soft.
const SOFT: f64 = 1e-3;
/// Part below which they are lost beside the round-off of the masses.
const LOST: f64 = 1e-13;
/// The part of a violation that a projection may leave without a word: positions do not depend on it.
const LEFT: f64 = 0.1;

/// A remark on a scheme's penalty of the wrong size, in one sentence, judged at the model's start with nominal parameters: beside C_q M⁻¹
/// C_qᵀ, with the diagonal of M alone.
pub fn remark(simulation: &Simulation) -> Option<String> {
    let (signature, grid) = (simulation.signature(), simulation.grid());
    let scheme = simulation.scheme();
    let compliance = compliance_of_step(scheme, grid.step(1));
    if compliance == 0.0 {
        return None;
    }
    let in_projections_alone = scheme.compliance(grid.step(1)) == 0.0;
    let mut system = simulation.system().evaluator();
    system.set_parameters(&signature.nominal());
    let (n, m) = (signature.unknown_count(), signature.constraints.len());
    let zeros = vec![0.0; n.max(m)];
    let (mut q, mut v) = (vec![0.0; n], vec![0.0; n]);
    system.initial(&mut q, &mut v);
    let (t, w) = (grid.times()[0], simulation.inputs_at(0));
    let point = Point { t, q: &q, v: &v, a: &zeros[..n], lambda: &zeros[..m], w };
    let mut mass = vec![0.0; n];
    system.mass_entries(&point).into_iter().filter(|(i, j, _)| i == j).for_each(|(i, _, m)| mass[i as usize] += m);
    let yields = system.constraint_rows(&point).into_iter().map(|row| {
        let by_mass = row.into_iter().map(|(j, slope)| (slope * slope, mass[j as usize]));
        by_mass.filter(|(_, mass)| *mass > 0.0).map(|(square, mass)| square / mass).sum::<f64>()
    });
    let parts: Vec<f64> = yields.map(|moved| compliance / moved).collect();
    let name = |k: usize| &signature.constraints[k].name;
    let softest = (0..m).filter(|&k| parts[k].is_finite()).max_by(|a, b| parts[*a].total_cmp(&parts[*b]));
    if in_projections_alone {
        // a penalty beyond round-off is an exact projection, and harmless
        let left = |k: usize| parts[k] / (1.0 + parts[k]);
        return softest.filter(|&k| left(k) > LEFT).map(|k| {
            format!(
                "the penalty leaves the projections soft: {:.1e} of a velocity that violates `{}` is left; take a penalty {:.0e} times as \
                 large, or none for exact projections",
                left(k),
                name(k),
                parts[k] / 1e-3
            )
        });
    }
    let soft = softest.filter(|&k| parts[k] > SOFT);
    if let Some(k) = soft {
        return Some(format!(
            "the penalty leaves `{}` soft: it yields by {:.1e} of what its force moves in a step; take a penalty {:.0e} times as large, \
             or none",
            name(k),
            parts[k],
            parts[k] / 1e-9
        ));
    }
    let lost = (0..m).filter(|&k| parts[k] < LOST).min_by(|a, b| parts[*a].total_cmp(&parts[*b]))?;
    Some(format!(
        "the penalty is so large that round-off eats it: `{}` yields by {:.1e} of what its force moves in a step; take a penalty {:.0e} \
         times as large, or none",
        name(lost),
        parts[lost],
        parts[lost] / 1e-9
    ))
}
