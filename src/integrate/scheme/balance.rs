//! Building blocks of schemes: balances of forces and constraints whose unknowns set blocks of the state.
//!
//! ```text
//! M s + C_qᵀ μ + Σ c G = f Q,      d^l C/dt^l = 0        f = 0 or 1, l = 0, 1, 2
//! X = Σ c X_before + b z           for every block X that is set; s is one of them, or a multiple of z
//! ```
//!
//! with the unknowns (z, μ). A time step is a list of balances, each of which reads what the ones before it have set; so is what a
//! scheme makes of a start.

use super::transfer::Transfer;
use crate::diagnosis::Purpose;
use crate::system::{Equations, Level, Weights};

/// A vector of the state with one entry a coordinate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block(u8);

impl Block {
    /// Positions.
    pub const Q: Block = Block(0);
    /// Velocities.
    pub const V: Block = Block(1);
    /// Consistent accelerations.
    pub const A: Block = Block(2);
    /// The scheme's own accelerations.
    pub const S: Block = Block(3);

    /// A block that the scheme carries besides, by number.
    pub const fn own(k: u8) -> Block {
        Block(4 + k)
    }

    #[inline]
    pub(super) fn index(self) -> usize {
        self.0 as usize
    }
}

/// The most terms of a combination.
const TERMS: usize = 4;

/// A linear combination of blocks, as they were before a balance.
#[derive(Debug, Clone, Copy)]
pub struct Combination {
    terms: [(Block, f64); TERMS],
    count: usize,
}

/// Sum of as many vectors as a combination has, each times its factor.
#[inline]
pub(super) fn combine<'v>(terms: impl Iterator<Item = (&'v [f64], f64)>, sum: &mut [f64]) {
    let mut all: [(&[f64], f64); TERMS] = [(&[], 0.0); TERMS];
    let mut count = 0;
    for term in terms {
        all[count] = term;
        count += 1;
    }
    let n = sum.len();
    let [(a, f), (b, g), (c, h), (d, k)] = all;
    match count {
        0 => sum.fill(0.0),
        1 => sum.iter_mut().zip(a).for_each(|(sum, a)| *sum = f * a),
        2 => {
            let (a, b) = (&a[..n], &b[..n]);
            (0..n).for_each(|j| sum[j] = f * a[j] + g * b[j]);
        }
        3 => {
            let (a, b, c) = (&a[..n], &b[..n], &c[..n]);
            (0..n).for_each(|j| sum[j] = f * a[j] + g * b[j] + h * c[j]);
        }
        _ => {
            let (a, b, c, d) = (&a[..n], &b[..n], &c[..n], &d[..n]);
            (0..n).for_each(|j| sum[j] = f * a[j] + g * b[j] + h * c[j] + k * d[j]);
        }
    }
}

impl<const N: usize> From<[(Block, f64); N]> for Combination {
    fn from(terms: [(Block, f64); N]) -> Self {
        const { assert!(N <= TERMS, "a combination has four terms at most") };
        let mut own = Combination { terms: [(Block::Q, 0.0); TERMS], count: 0 };
        terms.into_iter().filter(|(_, factor)| *factor != 0.0).for_each(|term| own.push(term));
        own
    }
}

impl Combination {
    fn push(&mut self, term: (Block, f64)) {
        self.terms[self.count] = term;
        self.count += 1;
    }

    #[inline]
    pub(super) fn terms(&self) -> impl Iterator<Item = (Block, f64)> {
        self.terms[..self.count].iter().copied()
    }

    pub(super) fn is_empty(&self) -> bool {
        self.count == 0
    }
}

/// A block that follows the unknown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Set {
    pub block: Block,
    pub known: Combination,
    pub unknown: f64,
}

/// The acceleration that M multiplies.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Inertia {
    /// A block that the balance sets.
    Of(Block),
    /// A multiple of the unknown.
    Unknown(f64),
}

/// Effect of a balance's multipliers μ on those of the state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Multipliers {
    Forgotten,
    /// The multipliers take the place of the state's.
    Replaced,
    /// The multipliers are added to the state's.
    Added,
}

/// The most blocks that a balance sets.
const SETS: usize = 6;

/// One balance: `M s + C_qᵀ μ + Σ c G = f Q`, `d^l C/dt^l = 0`, and the blocks that follow its unknowns.
#[derive(Debug, Clone, Copy)]
pub struct Balance {
    pub(super) equations: Equations,
    pub(super) at: [Block; 2],
    pub(super) inertia: Inertia,
    sets: [Set; SETS],
    count: usize,
    pub(super) load: Combination,
    pub(super) force: Option<Block>,
    pub(super) multipliers: Multipliers,
    /// Compliance by which the balance's constraints yield to their multipliers, if the scheme's all yield by less
    /// ([`Weights::compliance`]).
    pub(crate) compliance: f64,
    /// Time by which the balance holds later than the start, s, with the inputs at the end of the first step.
    pub(super) later: f64,
    /// True for a balance about the beginning of the step, not its end: a start in the middle of a run.
    pub(super) is_at_beginning: bool,
    /// True for a balance that may begin far from its solution, keeps the coordinates that are held, and never yields.
    pub(super) is_of_start: bool,
    /// True for a balance that seeks states along with positions, not along with velocities: V takes them from Q.
    pub(super) seeks_states: bool,
}

impl Balance {
    fn new(forces: bool, level: Level, inertia: Inertia, multipliers: Multipliers) -> Self {
        let none = Combination::from([]);
        Balance {
            equations: Equations { forces, level },
            at: [Block::Q, Block::V],
            inertia,
            sets: [Set { block: Block::Q, known: none, unknown: 0.0 }; SETS],
            count: 0,
            load: none,
            force: None,
            multipliers,
            compliance: 0.0,
            later: 0.0,
            is_at_beginning: false,
            is_of_start: false,
            seeks_states: false,
        }
    }

    /// The equations of motion, whose multipliers are the state's.
    pub fn of_motion(level: Level, inertia: Inertia) -> Self {
        Balance::new(true, level, inertia, Multipliers::Replaced)
    }

    /// The smallest change z in the norm of the mass matrix onto the constraints of a level: M z + C_qᵀ μ = 0.
    pub fn projection(level: Level) -> Self {
        Balance::new(false, level, Inertia::Unknown(1.0), Multipliers::Forgotten)
    }

    /// Balanced forces at rest: positions z with C_qᵀ μ = Q on the constraints, and states whose rates are zero.
    pub(crate) fn at_rest() -> Self {
        let mut own = Balance::new(true, Level::Position, Inertia::Unknown(0.0), Multipliers::Forgotten).of_start();
        own.seeks_states = true;
        own.set(Block::Q, [], 1.0).set(Block::V, [], 0.0)
    }

    /// Sets a block to a combination of what was there before and a multiple of the unknown.
    ///
    /// # Panics
    /// Beyond six blocks of one balance: a slip in a scheme, found with its first simulation.
    pub fn set(mut self, block: Block, known: impl Into<Combination>, unknown: f64) -> Self {
        // what a scheme sets is written in its file, and there is room for all of it
        self.sets[self.count] = Set { block, known: known.into(), unknown };
        self.count += 1;
        self
    }

    /// Evaluates the equations at other blocks than Q and V.
    pub fn at(mut self, position: Block, velocity: Block) -> Self {
        self.at = [position, velocity];
        self
    }

    /// Adds forces that are there already.
    pub fn with_load(mut self, load: impl Into<Combination>) -> Self {
        self.load = load.into();
        self
    }

    /// Keeps C_qᵀ μ - Q in a block.
    pub fn keep_force(mut self, block: Block) -> Self {
        self.force = Some(block);
        self
    }

    /// Adds the multipliers to the state's.
    pub fn add_multipliers(mut self) -> Self {
        self.multipliers = Multipliers::Added;
        self
    }

    /// Lets its constraints yield to their multipliers, in velocities by this a unit of impulse, in accelerations by this a unit of force.
    pub fn yielding(mut self, compliance: f64) -> Self {
        self.compliance = compliance;
        self
    }

    /// Lets it hold by so much later than the start, with the inputs at the end of the first step.
    pub fn later(mut self, later: f64) -> Self {
        (self.later, self.multipliers) = (later, Multipliers::Forgotten);
        self
    }

    /// Makes it one of a start: it may begin far from its solution, keeps the coordinates that are held, and never yields.
    pub(crate) fn of_start(mut self) -> Self {
        self.is_of_start = true;
        self
    }

    /// Makes it one about the beginning of the step.
    pub(super) fn at_beginning(mut self) -> Self {
        self.is_at_beginning = true;
        self
    }

    /// True if the balance sees the other inputs of a step, and not those at its end; of the start, not those at that time.
    #[inline]
    pub(super) fn sees_other_inputs(&self) -> bool {
        (self.later > 0.0) != self.is_at_beginning
    }

    #[inline]
    pub(super) fn sets(&self) -> &[Set] {
        &self.sets[..self.count]
    }

    /// Factor with which a block follows the unknown.
    fn unknown(&self, block: Block) -> f64 {
        self.sets().iter().find(|set| set.block == block).map_or(0.0, |set| set.unknown)
    }

    fn weights(&self, compliance: f64) -> Weights {
        let acceleration = match self.inertia {
            Inertia::Of(block) => self.unknown(block),
            Inertia::Unknown(factor) => factor,
        };
        let [position, velocity] = self.at.map(|block| self.unknown(block));
        let state = if self.seeks_states { position } else { velocity };
        Weights { acceleration, position, velocity, state, compliance, equations: self.equations }
    }

    /// The block that the unknown itself is, if there is one.
    fn unknown_itself(&self) -> Option<Block> {
        let itself = |set: &&Set| set.known.count == 0 && set.unknown == 1.0;
        self.sets().iter().find(itself).map(|set| set.block)
    }

    /// True if the unknown enters linearly.
    fn is_linear(&self) -> bool {
        let Weights { position, velocity, equations: Equations { forces, level }, .. } = self.weights(0.0);
        position == 0.0 && (velocity == 0.0 || !forces && level == Level::Velocity)
    }

    /// True if the constraints see another acceleration than M: their change is what is projected.
    fn is_split(&self) -> bool {
        self.equations.level == Level::Acceleration && matches!(self.inertia, Inertia::Unknown(_))
    }

    /// True if the balance is about Q, V, A and λ alone, so that products go straight to and from the state.
    fn is_plain(&self) -> bool {
        self.at == [Block::Q, Block::V]
            && self.inertia == Inertia::Of(Block::A)
            && self.multipliers == Multipliers::Replaced
    }

    /// Prepares the balance with all that is asked of it in every step; constraints yield by `compliance` ([`Weights::compliance`]), or by
    /// more if it says so.
    pub(super) fn prepare(self, compliance: f64) -> Prepared {
        let transfer = self.transfer();
        Prepared {
            weights: self.weights(if self.is_of_start { 0.0 } else { compliance.max(self.compliance) }),
            unknown_itself: self.unknown_itself(),
            is_linear: self.is_linear(),
            is_split: self.is_split(),
            is_plain: self.is_plain(),
            is_direct: self.is_plain()
                && transfer.is_some()
                && self.load.is_empty()
                && self.force.is_none()
                && !(self.is_of_start || self.sees_other_inputs()),
            transfer,
            seen: std::array::from_fn(|k| self.sets().get(k).is_some_and(|set| self.sees(set.block))),
            is_whole: self.multipliers == Multipliers::Replaced
                && [Block::Q, Block::V, Block::A, Block::S]
                    .into_iter()
                    .all(|block| self.sets().iter().any(|set| set.block == block)),
            balance: self,
        }
    }

    /// Coefficients of a balance that sets Q, V, A and S from these alone, and is not evaluated at S.
    fn transfer(&self) -> Option<Transfer> {
        let mut transfer = Transfer { known: [[0.0; 4]; 4], unknown: [0.0; 4] };
        let mut is_set = [false; 4];
        for set in self.sets() {
            let row = Some(set.block.index()).filter(|row| *row < 4)?;
            (is_set[row], transfer.unknown[row]) = (true, set.unknown);
            for (block, factor) in set.known.terms() {
                transfer.known[row][Some(block.index()).filter(|column| *column < 4)?] += factor;
            }
        }
        (is_set.iter().all(|is_set| *is_set) && !self.sees(Block::S)).then_some(transfer)
    }

    /// True if the equations are evaluated at a block.
    fn sees(&self, block: Block) -> bool {
        self.at.contains(&block) || self.inertia == Inertia::Of(block) || self.is_split() && block == Block::A
    }
}

/// A balance, and what is asked of it in every step.
#[derive(Debug, Clone, Copy)]
pub(super) struct Prepared {
    balance: Balance,
    pub weights: Weights,
    pub unknown_itself: Option<Block>,
    pub is_linear: bool,
    pub is_split: bool,
    pub is_plain: bool,
    pub transfer: Option<Transfer>,
    /// True for a plain balance that sets Q, V, A and S from these alone, with nothing else to be done about it: most steps.
    pub is_direct: bool,
    /// Sets of the balance that the equations see.
    pub seen: [bool; SETS],
    /// True for a balance that sets Q, V, A, S and λ.
    pub is_whole: bool,
}

impl Prepared {
    /// Use that the balance's matrix is meant for, in a step by number.
    pub fn purpose(&self, step: usize) -> Purpose {
        if self.weights.acceleration == 0.0 { Purpose::Equilibrium } else { Purpose::of(step) }
    }
}

impl std::ops::Deref for Prepared {
    type Target = Balance;

    #[inline]
    fn deref(&self) -> &Balance {
        &self.balance
    }
}
