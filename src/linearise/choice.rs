//! Choice of derivatives by parameters that are found forwards, and of those in reverse: whatever takes fewer passes.

use super::constraint::{CurvatureBy, pairs_of};
use super::kernel::Sizes;
use super::plan::Plan;
use super::structure::Structure;
use crate::system::Mode;

/// Choice of the functions that are differentiated by parameters in reverse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Choice {
    pub motion: bool,
    pub constraint: bool,
    pub output: bool,
    /// Derivatives of the initial state.
    pub initial: bool,
    /// The number of tangents from which on columns are cheaper than one pass for each, of the equations and of the outputs.
    pub tangents: [usize; 2],
}

/// Prices of one evaluation and sweep in reverse, of motion, constraints and outputs, where a pass forwards costs two more than it has
/// directions: with them, models break even at about 15 parameters in one row of the dynamics, and at 3 or 4 in the constraints.
const MOTION: usize = 17;
const CONSTRAINT: usize = 28;
const OUTPUT: usize = 17;
/// Parameters of the initial state, each of which takes a pass forwards.
const INITIAL: usize = 8;

impl Plan {
    /// Price of the plan's evaluations, in units of one direction.
    fn price(&self) -> usize {
        self.chunks.len() * (2 + self.width)
    }
}

/// The price of C with first and second derivatives by so many coordinates and parameters.
fn of_constraints(coordinates: usize, parameters: usize) -> usize {
    let variables = coordinates + parameters;
    if variables == 0 {
        return 0;
    }
    match CurvatureBy::of(coordinates, variables) {
        CurvatureBy::Pairs(first, second) => (1 + first) * (1 + second),
        CurvatureBy::Groups(width) => {
            let price = if width == 3 { 30 } else { 45 };
            price * pairs_of(coordinates, variables, width).len()
        }
    }
}

impl Choice {
    /// The cheaper choice, or the one that `mode` asks for, as far as there are parameters.
    pub(crate) fn of(structure: &Structure, sizes: Sizes, mode: Mode) -> Self {
        let Sizes { n, m, p, .. } = sizes;
        let mut without = structure.clone();
        without.forget_parameters(n, m, &vec![true; p]);
        let prices = [MOTION, CONSTRAINT, OUTPUT];
        let more = |k: usize, price: &dyn Fn(&Structure) -> usize| {
            let all = price(structure);
            // what costs no more than a sweep is not compared any further
            if mode == Mode::Cheaper && all <= prices[k] { 0 } else { all.saturating_sub(price(&without)) }
        };
        let forwards = [
            more(0, &|s| Plan::full_in_two(s, sizes).0[0].price()),
            more(1, &|s| of_constraints(s.curved_or_parametric.len(), s.constraint_parameters.len())),
            if structure.output_is_linear {
                0
            } else {
                more(2, &|s| Plan::output(s, sizes.output_variables()).0.price())
            },
        ];
        let exist = [
            structure.force != without.force || structure.inertia != without.inertia,
            !structure.constraint_parameters.is_empty(),
            structure.output != without.output,
        ];
        let [motion, constraint, output] = std::array::from_fn(|k| match mode {
            Mode::Cheaper => forwards[k] > prices[k],
            Mode::Forward => false,
            Mode::Reverse => exist[k],
        });
        let price = |chosen: [bool; 3], prices: [usize; 3]| -> [usize; 2] {
            let [motion, constraint, output] = std::array::from_fn(|k| if chosen[k] { prices[k] } else { 0 });
            [motion + constraint, output]
        };
        let chosen = [motion, constraint, output];
        let (columns, tangent) = (price(chosen, forwards), price(chosen, prices));
        let initial = match mode {
            Mode::Cheaper => structure.initial_parameters.len() > INITIAL,
            mode => mode == Mode::Reverse,
        };
        Choice {
            motion,
            constraint,
            output,
            initial,
            tangents: std::array::from_fn(|k| columns[k] / tangent[k].max(1)),
        }
    }

    /// True if anything is differentiated in reverse.
    pub(crate) fn any(&self) -> bool {
        self.motion || self.constraint || self.output
    }

    /// The structure that is left to be found forwards.
    pub(crate) fn rest(&self, structure: &Structure, Sizes { n, m, p, .. }: Sizes) -> Structure {
        let (mut rest, mut without) = (structure.clone(), structure.clone());
        without.forget_parameters(n, m, &vec![true; p]);
        if self.motion {
            rest.force = without.force;
            rest.inertia = without.inertia;
            rest.curved_motion = without.curved_motion;
            rest.mass_by_parameter = without.mass_by_parameter;
        }
        if self.constraint {
            rest.constraint_parameters = without.constraint_parameters;
            rest.curved_or_parametric = without.curved_or_parametric;
        }
        if self.output {
            rest.output = without.output;
        }
        rest
    }
}
