//! Hand-derived blocks against exact ones.

use super::CheckOptions;
use super::hand::{Block, HandDerived, Supplied, Variable};
use super::report::{JacobianReport, Place, Tally};
use super::sample::{equation_sizes, visit_points};
use costate::Result;
use costate::system::{Blocks, System};

/// Compares every block that `hand` supplies with that of `system` ([`costate::system::Evaluator::blocks`]), entry by entry, at random
/// states, times, inputs and parameters near the nominal ones.
///
/// `system` is the one with derivatives by dual numbers. What counts as a mismatch is said
/// on the [module's page](super).
///
/// # Errors
/// Options that make no sense, or a model whose derivatives are nowhere finite around its initial state.
pub fn check_jacobians(system: &dyn System, hand: &dyn HandDerived, options: &CheckOptions) -> Result<JacobianReport> {
    let signature = system.signature();
    let blocks: Vec<Block> = Block::ALL.into_iter().filter(|block| block.exists(signature)).collect();
    let tally = |block: &Block| {
        let columns = block.variable().names(signature);
        Tally::new(block.name(), block.rows(signature), columns, options.tolerance)
    };
    let mut tallies: Vec<Tally> = blocks.iter().map(tally).collect();
    let mut by_hand = Blocks::zeros(signature);
    visit_points(system, options, &mut |sample, _, exact, _| {
        let (motion, constraint) = equation_sizes(exact, &sample.sizes);
        let place = Place { time: sample.t, point: sample.number };
        for (block, tally) in blocks.iter().zip(&mut tallies) {
            if block.fill(hand, &sample.point(), &sample.u, &mut by_hand) == Supplied::No {
                continue;
            }
            let terms = if block.is_of_constraint() { &constraint } else { &motion };
            let sizes = match block.variable() {
                Variable::Position => &sample.sizes.q,
                Variable::Velocity => &sample.sizes.v,
                Variable::Acceleration => &sample.sizes.a,
                Variable::Multiplier => &sample.sizes.lambda,
                Variable::Parameter => &sample.sizes.u,
            };
            tally.compare(block.of(&by_hand), block.of(exact), terms, sizes, place);
        }
        Ok(())
    })?;
    Ok(JacobianReport::new(&signature.name, options, ["by hand", "exact"], tallies))
}
