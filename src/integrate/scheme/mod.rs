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
mod newmark;
mod newton;
mod products;
mod round_off;
mod sequence;
mod solve;
mod stepper;

pub use ali3p::Ali3p;
pub use balance::{Balance, Block, Combination, Inertia};
pub use bdf2::Bdf2;
pub use generalized_alpha::GeneralizedAlpha;
pub use hht::{Form, Hht};
pub use i2p::I2p;
pub use newton::NewtonOptions;
pub(crate) use sequence::Sequence;
pub use stepper::{Direction, Step, Stepper};

use crate::error::{Error, Result};
use crate::signature::Signature;
use crate::system::OutputPoint;
use std::ops::Range;
use std::sync::Arc;

/// A time integrator.
pub trait Scheme: std::fmt::Debug + Send + Sync {
    /// Its name in commands and files.
    fn name(&self) -> &'static str;

    /// Its settings, by name.
    fn settings(&self) -> Vec<(&'static str, f64)>;

    /// How many blocks of its own it uses ([`Block::own`]); zero before the start.
    fn own_blocks(&self) -> u8 {
        0
    }

    /// How many of these, the first ones, steps read: only they are stored.
    fn carried_blocks(&self) -> u8 {
        0
    }

    /// Factors of the accelerations A at a step's end and at its beginning that make S at its end, if they do: stored runs do
    /// without S then.
    fn recovered_acceleration(&self) -> Option<[f64; 2]> {
        None
    }

    /// Where accelerations and multipliers of constrained mechanisms ring, because nothing is damped: what to do about it.
    fn rings_with_constraints(&self) -> Option<&'static str> {
        None
    }

    /// What becomes of it on uneven steps, of a system with or without constraints, if that is worse than on even ones.
    fn on_uneven_steps(&self, constrained: bool) -> Option<&'static str> {
        let _ = constrained;
        None
    }

    /// By how much constraints yield to their multipliers in a step of size `h`, s, in velocities a unit of impulse and in accelerations a
    /// unit of force; in positions, the unknown's factor times as much. Zero where they hold exactly.
    fn compliance(&self, h: f64) -> f64 {
        let _ = h;
        0.0
    }

    /// What it makes of a start, at which S is A: of a first step of size `h`, s.
    fn start(&self, h: f64, balances: &mut Vec<Balance>) {
        let _ = (h, balances);
    }

    /// A step of size `h`, s, `ratio` times as long as the one before it.
    fn step(&self, h: f64, ratio: f64, balances: &mut Vec<Balance>);
}

impl Scheme for Arc<dyn Scheme> {
    fn name(&self) -> &'static str {
        (**self).name()
    }
    fn settings(&self) -> Vec<(&'static str, f64)> {
        (**self).settings()
    }
    fn own_blocks(&self) -> u8 {
        (**self).own_blocks()
    }
    fn carried_blocks(&self) -> u8 {
        (**self).carried_blocks()
    }
    fn recovered_acceleration(&self) -> Option<[f64; 2]> {
        (**self).recovered_acceleration()
    }
    fn rings_with_constraints(&self) -> Option<&'static str> {
        (**self).rings_with_constraints()
    }
    fn on_uneven_steps(&self, constrained: bool) -> Option<&'static str> {
        (**self).on_uneven_steps(constrained)
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
}

/// A scheme by name: what it is, its setting (name and value otherwise), and how it is made of that.
type Registered = (&'static str, Option<(&'static str, f64)>, fn(f64) -> Result<Arc<dyn Scheme>>);

/// All schemes.
const SCHEMES: [Registered; 8] = [
    ("hht", Some(("alpha", -0.05)), |alpha| Ok(Arc::new(Hht::new(alpha)?))),
    ("hht-literal", Some(("alpha", -0.05)), |alpha| Ok(Arc::new(Hht::new(alpha)?.form(Form::Literal)))),
    ("newmark", Some(("gamma", 0.5)), |gamma| Ok(Arc::new(GeneralizedAlpha::newmark(gamma)?))),
    ("trapezoidal", None, |_| Ok(Arc::new(GeneralizedAlpha::trapezoidal()))),
    ("generalized-alpha", Some(("spectral_radius", 0.8)), |radius| Ok(Arc::new(GeneralizedAlpha::new(radius)?))),
    ("ali3p", Some(("penalty", f64::INFINITY)), |penalty| Ok(Arc::new(Ali3p::new(penalty)?))),
    ("i2p", Some(("spectral_radius", 0.8)), |radius| Ok(Arc::new(I2p::new(radius)?))),
    ("bdf2", None, |_| Ok(Arc::new(Bdf2))),
];

/// Of schemes that hold positions of constraints alone by Newmark's formulas.
const UNSTABLE: &str =
    "multipliers and accelerations of constrained mechanisms may grow without bound, and spoil their positions";

/// Names of all schemes.
pub fn names() -> Vec<&'static str> {
    SCHEMES.iter().map(|(name, ..)| *name).collect()
}

/// A scheme by its name, with settings other than its own.
///
/// # Errors
/// Names of schemes and settings that do not exist, and values that make no sense.
pub fn by_name(name: &str, settings: &[(String, f64)]) -> Result<Arc<dyn Scheme>> {
    if name.is_empty() {
        let remedy = format!("name one of {}", names().join(", "));
        return Err(Error::invalid("the scheme", "its name is missing", remedy));
    }
    let found = SCHEMES.iter().find(|(own, ..)| *own == name);
    let &(name, setting, make) = found.ok_or_else(|| Error::unknown("scheme", name, "", names()))?;
    let mut value = setting.map_or(0.0, |(_, value)| value);
    for (asked, number) in settings {
        match setting {
            Some((own, _)) if own == asked => value = *number,
            _ => return Err(wrong_setting(name, setting.map(|(own, _)| own), asked)),
        }
    }
    make(value)
}

/// What to do about a setting that a scheme does not have.
fn wrong_setting(scheme: &str, own: Option<&str>, asked: &str) -> Error {
    let others = SCHEMES.iter().filter(|(_, own, _)| own.is_some_and(|(own, _)| own == asked));
    let others: Vec<&str> = others.map(|(name, ..)| *name).collect();
    let problem = match own {
        Some(own) if others.is_empty() => return Error::unknown("setting", asked, format!("scheme `{scheme}`"), [own]),
        Some(own) => format!("scheme `{scheme}` has `{own}` alone"),
        None => format!("scheme `{scheme}` has no settings"),
    };
    let remedy = match others.as_slice() {
        [] => "leave it out".to_string(),
        [one] => format!("leave it out, or take {one}, which has it"),
        _ => format!("leave it out, or take {}, which have it", others.join(" or ")),
    };
    Error::invalid(format!("setting `{asked}`"), problem, remedy)
}

/// The scheme to take where [`Scheme::on_uneven_steps`] has something to say.
pub(crate) fn for_uneven_steps(constrained: bool) -> &'static str {
    if constrained { "i2p" } else { "generalized-alpha" }
}

/// The name of a scheme's setting.
pub(crate) fn setting_of(name: &str) -> Option<&'static str> {
    SCHEMES.iter().find(|(own, ..)| *own == name).and_then(|(_, setting, _)| setting.map(|(name, _)| name))
}

/// Names of all settings that a scheme may have.
pub(crate) fn settings() -> Vec<&'static str> {
    let mut names: Vec<&str> = SCHEMES.iter().filter_map(|(_, setting, _)| setting.map(|(name, _)| name)).collect();
    names.sort_unstable();
    names.dedup();
    names
}

/// A scheme's settings for files.
pub(crate) fn settings_of(scheme: &dyn Scheme) -> serde_json::Map<String, serde_json::Value> {
    scheme.settings().into_iter().map(|(name, value)| (name.to_string(), value.into())).collect()
}

/// A scheme with its settings for people.
pub(crate) fn in_words(scheme: &dyn Scheme) -> String {
    let settings: Vec<String> = scheme.settings().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    match settings.as_slice() {
        [] => scheme.name().to_string(),
        _ => format!("{} with {}", scheme.name(), settings.join(", ")),
    }
}

/// Where the parts of a state at work are: (q, v, a, a_scheme, λ, memory) one after another.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout {
    /// Coordinates.
    pub n: usize,
    /// Constraint rows.
    pub m: usize,
    /// Numbers that the scheme uses besides.
    pub memory: usize,
}

impl Layout {
    /// For the states of a scheme.
    pub fn new(scheme: &dyn Scheme, signature: &Signature) -> Self {
        let n = signature.coordinates.len();
        Layout { n, m: signature.constraints.len(), memory: n * usize::from(scheme.own_blocks()) }
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

    /// What the scheme uses besides.
    #[inline]
    pub fn memory_range(&self) -> Range<usize> {
        4 * self.n + self.m..self.size()
    }

    /// A state as outputs see it.
    #[inline]
    pub fn view<'a>(&self, x: &'a [f64], t: f64, w: &'a [f64]) -> OutputPoint<'a> {
        let [q, v, a, a_scheme] = [Block::Q, Block::V, Block::A, Block::S].map(|block| &x[self.range(block)]);
        OutputPoint { t, q, v, a, a_scheme, lambda: &x[self.multipliers()], w }
    }
}

/// What a simulation cost.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Counters {
    /// Time steps.
    pub steps: usize,
    /// Newton iterations.
    pub iterations: usize,
    /// Factorisations of Newton's matrix, those of a gradient included.
    pub factorisations: usize,
}
