//! What a scheme is made of: balances of forces and constraints whose unknowns set blocks of the state.
//!
//! ```text
//! M s + C_qᵀ μ + Σ c G = f Q,      d^l C/dt^l = 0        f = 0 or 1, l = 0, 1, 2
//! X = Σ c X_before + b z           for every block X that is set; s is one of them, or a multiple of z
//! ```
//!
//! with the unknowns (z, μ). A time step is a list of balances, each of which reads what the ones before it have set; so is what a
//! scheme makes of a start.

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

    /// What a scheme carries besides, by number.
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

impl<const N: usize> From<[(Block, f64); N]> for Combination {
    fn from(terms: [(Block, f64); N]) -> Self {
        const { assert!(N <= TERMS, "a combination has four terms at most") };
        let mut own = [(Block::Q, 0.0); TERMS];
        own[..N].copy_from_slice(&terms);
        Combination { terms: own, count: N }
    }
}

impl Combination {
    #[inline]
    pub(super) fn terms(&self) -> impl Iterator<Item = (Block, f64)> {
        self.terms[..self.count].iter().copied().filter(|(_, factor)| *factor != 0.0)
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

/// What becomes of the multipliers μ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Multipliers {
    Forgotten,
    /// They are the state's.
    Told,
    /// They are added to the state's.
    Added,
}

/// The most blocks that a balance sets.
const SETS: usize = 6;

/// One balance; see [the module](self).
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
    /// How much later than the end of the step it holds, s, with the inputs of the step that follows.
    pub(super) later: f64,
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
            later: 0.0,
        }
    }

    /// The equations of motion, whose multipliers are the state's.
    pub fn of_motion(level: Level, inertia: Inertia) -> Self {
        Balance::new(true, level, inertia, Multipliers::Told)
    }

    /// The smallest change z in the norm of the mass matrix onto the constraints of a level: M z + C_qᵀ μ = 0.
    pub fn projection(level: Level) -> Self {
        Balance::new(false, level, Inertia::Unknown(1.0), Multipliers::Forgotten)
    }

    /// Sets a block to a combination of what was there before and a multiple of the unknown.
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

    /// Lets it hold by so much later than the start, with the inputs at the end of the first step.
    pub fn later(mut self, later: f64) -> Self {
        (self.later, self.multipliers) = (later, Multipliers::Forgotten);
        self
    }

    #[inline]
    pub(super) fn sets(&self) -> &[Set] {
        &self.sets[..self.count]
    }

    /// How a block follows the unknown.
    fn unknown(&self, block: Block) -> f64 {
        self.sets().iter().find(|set| set.block == block).map_or(0.0, |set| set.unknown)
    }

    pub(super) fn weights(&self) -> Weights {
        let acceleration = match self.inertia {
            Inertia::Of(block) => self.unknown(block),
            Inertia::Unknown(factor) => factor,
        };
        let [position, velocity] = self.at.map(|block| self.unknown(block));
        Weights { acceleration, position, velocity, equations: self.equations }
    }

    /// The block that the unknown itself is, if there is one.
    pub(super) fn unknown_itself(&self) -> Option<Block> {
        let itself = |set: &&Set| set.known.count == 0 && set.unknown == 1.0;
        self.sets().iter().find(itself).map(|set| set.block)
    }

    /// Whether the unknown enters linearly.
    pub(super) fn is_linear(&self) -> bool {
        let Weights { position, velocity, equations: Equations { forces, level }, .. } = self.weights();
        position == 0.0 && (velocity == 0.0 || !forces && level == Level::Velocity)
    }

    /// Whether the constraints see another acceleration than M: their change is what is projected.
    pub(super) fn is_split(&self) -> bool {
        self.equations.level == Level::Acceleration && matches!(self.inertia, Inertia::Unknown(_))
    }

    /// Whether it is about Q, V and A alone, so that products go straight to and from the state.
    pub(super) fn is_plain(&self) -> bool {
        self.at == [Block::Q, Block::V] && self.inertia == Inertia::Of(Block::A)
    }
}
