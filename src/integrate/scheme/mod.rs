//! Time integrators. A scheme *is* the equations that it solves: a list of balances of forces and constraints for each step (and for
//! what it makes of the start). Everything else follows from the list, for all schemes: Newton's iteration and its end, products with
//! cotangents (for the adjoint) and with tangents, second derivatives, messages.
//!
//! A scheme comes in with a step's size; what goes out are [`Balance`]s, solved and differentiated by [`Stepper`].

mod ali3p;
mod balance;
mod bdf2;
mod generalized_alpha;
mod held;
mod hht;
mod i2p;
mod inverse_dynamics;
mod newmark;
mod newton;
mod products;
mod round_off;
mod sequence;
mod sizes;
mod solve;
mod stepper;
mod table;
mod transfer;

pub use ali3p::Ali3p;
pub use balance::{Balance, Block, Combination, Inertia};
pub use bdf2::Bdf2;
pub use generalized_alpha::GeneralizedAlpha;
pub use hht::{Form, Hht};
pub use i2p::I2p;
pub use inverse_dynamics::InverseDynamics;
pub use newton::NewtonOptions;
pub(crate) use sequence::Sequence;
pub use stepper::{Direction, Step, Stepper};
pub use table::{SchemeEntry, by_name, has_setting, names, register, settings};

use crate::signature::Signature;
use crate::system::OutputPoint;
use std::ops::Range;
use std::sync::Arc;

/// Properties of a scheme beside its equations.
#[derive(Debug, Clone, PartialEq)]
pub struct Description {
    /// Name of the scheme in commands and files.
    pub name: &'static str,
    /// Settings of the scheme, by name.
    pub settings: Vec<(&'static str, f64)>,
    /// Number of blocks of its own that the scheme uses ([`Block::own`]); zero before the start.
    pub own_blocks: u8,
    /// Number of its own blocks, the first ones, that steps read: only they are stored.
    pub carried_blocks: u8,
    /// Factors of the accelerations A at a step's end and at its beginning that make S at its end, if they do: stored runs do
    /// without S then.
    pub recovered_acceleration: Option<[f64; 2]>,
    /// Remedy where accelerations and multipliers of constrained mechanisms ring, because nothing is damped.
    pub rings_with_constraints: Option<&'static str>,
    /// Largest ratio of a step to the one before it, of a system without constraints and of one with them.
    pub largest_ratio: [f64; 2],
    /// Effect of uneven steps on the scheme if they are worse than even ones, of a system without constraints and of one with them.
    pub on_uneven_steps: [Option<&'static str>; 2],
    /// True if it integrates nothing: constraints must give the whole motion.
    pub of_given_motion: bool,
}

impl Default for Description {
    fn default() -> Self {
        Description {
            name: "",
            settings: Vec::new(),
            own_blocks: 0,
            carried_blocks: 0,
            recovered_acceleration: None,
            rings_with_constraints: None,
            largest_ratio: [2.0; 2],
            on_uneven_steps: [None; 2],
            of_given_motion: false,
        }
    }
}

/// A time integrator.
pub trait Scheme: std::fmt::Debug + Send + Sync {
    /// Properties of the scheme beside its equations.
    fn description(&self) -> Description;

    /// Name of the scheme in commands and files.
    fn name(&self) -> &'static str {
        self.description().name
    }

    /// Settings of the scheme, by name.
    fn settings(&self) -> Vec<(&'static str, f64)> {
        self.description().settings
    }

    /// Compliance by which all constraints yield to their multipliers in a step of size `h`, s, also behind a start, in velocities a unit
    /// of impulse and in accelerations a unit of force; in positions, the unknown's factor times as much. Zero where they hold exactly. One
    /// balance alone yields by [`Balance::yielding`].
    fn compliance(&self, h: f64) -> f64 {
        let _ = h;
        0.0
    }

    /// Lists the balances that the scheme makes of a start, at which S is A: of a first step of size `h`, s.
    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        let _ = (h, balances);
    }

    /// A step of size `h`, s, `ratio` times as long as the one before it.
    fn step(&self, h: f64, ratio: f64, balances: &mut Vec<Balance>);

    /// Local error of such a step in positions, to leading order: factors of S at its end, and of A and S at its beginning.
    fn local_error(&self, h: f64, ratio: f64) -> [f64; 3];
}

impl Scheme for Arc<dyn Scheme> {
    fn description(&self) -> Description {
        (**self).description()
    }
    fn compliance(&self, h: f64) -> f64 {
        (**self).compliance(h)
    }
    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        (**self).start(h, balances);
    }
    fn step(&self, h: f64, ratio: f64, balances: &mut Vec<Balance>) {
        (**self).step(h, ratio, balances);
    }
    fn local_error(&self, h: f64, ratio: f64) -> [f64; 3] {
        (**self).local_error(h, ratio)
    }
}

/// Compliance by which constraints yield in the softest balance of a step of size `h`, s.
pub(crate) fn compliance_of_step(scheme: &dyn Scheme, h: f64) -> f64 {
    let mut balances = Vec::new();
    scheme.step(h, 1.0, &mut balances);
    balances.iter().fold(scheme.compliance(h), |most, balance| most.max(balance.compliance))
}

/// Fault of schemes that hold positions of constraints alone by Newmark's formulas.
const UNSTABLE: &str =
    "multipliers and accelerations of constrained mechanisms may grow without bound, and spoil their positions";

/// Largest ratio of a step of such schemes to the one before it.
const UNSTABLE_BEYOND: f64 = 1.2;

/// The scheme to take where [`Description::on_uneven_steps`] has something to say.
pub fn for_uneven_steps(constrained: bool) -> &'static str {
    if constrained { "i2p" } else { "generalized-alpha" }
}

/// A scheme with its settings for people.
pub fn in_words(scheme: &dyn Scheme) -> String {
    let Description { name, settings, .. } = scheme.description();
    let settings: Vec<String> = settings.iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match settings.as_slice() {
        [] => name.to_string(),
        _ => format!("{name} with {}", settings.join(", ")),
    }
}

/// Places of the parts of a state at work: (q, v, a, a_scheme, λ, memory) one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Coordinates and states.
    pub n: usize,
    /// The states among them, which come last.
    pub states: usize,
    /// Constraint rows.
    pub m: usize,
    /// Numbers that the scheme uses besides.
    pub memory: usize,
}

impl Layout {
    /// Layout of the states of a scheme.
    pub fn new(scheme: &Description, signature: &Signature) -> Self {
        let own = Layout::of(signature);
        Layout { memory: own.n * usize::from(scheme.own_blocks), ..own }
    }

    /// Layout without what a scheme uses besides.
    pub(crate) fn of(signature: &Signature) -> Self {
        let (n, states) = (signature.unknown_count(), signature.states.len());
        Layout { n, states, m: signature.constraints.len(), memory: 0 }
    }

    /// Places of the states among coordinates and states.
    #[inline]
    pub(super) fn states(&self) -> Range<usize> {
        self.n - self.states..self.n
    }

    /// Lets the states among velocities take what has been found in the place of their positions, which nobody sees.
    pub(super) fn give_states(&self, x: &mut [f64]) {
        for j in self.states() {
            x[self.n + j] = std::mem::take(&mut x[j]);
        }
    }

    /// Numbers a state.
    pub fn size(&self) -> usize {
        4 * self.n + self.m + self.memory
    }

    /// A block of a state.
    #[inline]
    pub fn range(&self, block: Block) -> Range<usize> {
        let first = block.index() * self.n + if block.index() < 4 { 0 } else { self.m };
        first..first + self.n
    }

    /// The multipliers of a state.
    #[inline]
    pub fn multipliers(&self) -> Range<usize> {
        4 * self.n..4 * self.n + self.m
    }

    /// Places of the numbers that the scheme uses besides.
    #[inline]
    pub fn memory_range(&self) -> Range<usize> {
        4 * self.n + self.m..self.size()
    }

    /// A state as outputs see it.
    #[inline]
    pub fn view<'a>(&self, x: &'a [f64], t: f64, w: &'a [f64]) -> OutputPoint<'a> {
        let n = self.n;
        let (x, lambda) = x[..4 * n + self.m].split_at(4 * n);
        let ((q, v), (a, a_scheme)) = (x[..2 * n].split_at(n), x[2 * n..].split_at(n));
        OutputPoint { t, q, v, a, a_scheme, lambda, w }
    }
}

/// Work that a simulation took.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Counters {
    /// Time steps.
    pub steps: usize,
    /// Newton iterations.
    pub iterations: usize,
    /// Factorisations of Newton's matrix, those of a gradient included.
    pub factorisations: usize,
}
