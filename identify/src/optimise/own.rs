//! Methods of others, by name.

use super::executor::SearchMethod;
use super::method::{Method, Needs};
use crate::{Error, Result};
use std::sync::{PoisonError, RwLock};

/// A method of others: its name, what it takes of a function, and how a search by it is made.
#[derive(Debug, Clone, Copy)]
pub struct OwnMethod {
    name: &'static str,
    needs: Needs,
    make: fn() -> Box<dyn SearchMethod>,
}

impl OwnMethod {
    /// A method; `make` gives a search before its start.
    pub const fn new(name: &'static str, needs: Needs, make: fn() -> Box<dyn SearchMethod>) -> Self {
        OwnMethod { name, needs, make }
    }

    /// Name by which problem files and the command line call it.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// What it takes of a function.
    pub fn needs(&self) -> Needs {
        self.needs
    }

    pub(super) fn search(&self) -> Box<dyn SearchMethod> {
        (self.make)()
    }
}

/// Methods are the same if their names are: [`register`] takes a name once.
impl PartialEq for OwnMethod {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

/// Methods of others, in the order in which they were registered.
static REGISTERED: RwLock<Vec<OwnMethod>> = RwLock::new(Vec::new());

/// Methods that have been registered.
pub(super) fn registered() -> Vec<OwnMethod> {
    // methods are pushed whole: a list that a panic has left behind is one
    REGISTERED.read().unwrap_or_else(PoisonError::into_inner).clone()
}

/// Lets this process know another method by its name, in commands and problem files as in [`Method::from_str`](std::str::FromStr). Registering a method
/// again changes nothing.
///
/// ```
/// use costate_identify::optimise::search::{Halt, How, ObjectiveEvaluator, Point, SearchMethod, Step};
/// use costate_identify::optimise::{Needs, OwnMethod, Reason, register};
///
/// /// Steps along the negative gradient, each half as long as the one before it until the cost falls.
/// struct Halving;
///
/// impl SearchMethod for Halving {
///     fn name(&self) -> &'static str {
///         "halving"
///     }
///
///     fn begin(&mut self, evaluator: &mut ObjectiveEvaluator) -> Step<Point> {
///         let start = evaluator.evaluate_start()?;
///         evaluator.record(&start, How::default())?;
///         Ok(start)
///     }
///
///     fn step(&mut self, evaluator: &mut ObjectiveEvaluator, current: &Point) -> Step<Point> {
///         let mut length = 1.0 / current.gradient_norm.max(1e-300);
///         for _ in 0..60 {
///             let to = |(i, x): (usize, &f64)| {
///                 let (lower, upper) = evaluator.bounds(i);
///                 (x - length * current.scaled_gradient[i]).clamp(lower, upper)
///             };
///             let x: Vec<f64> = current.x.iter().enumerate().map(to).collect();
///             if let Some(point) = evaluator.evaluate(&x)?.filter(|point| point.cost < current.cost) {
///                 evaluator.record(&point, How::default())?;
///                 return Ok(point);
///             }
///             length *= 0.5;
///         }
///         Err(Halt::Stop(Reason::GradientSmall))
///     }
/// }
///
/// register(OwnMethod::new("halving", Needs::Gradient, || Box::new(Halving)))?;
/// # use costate_identify::optimise::Method;
/// let method: Method = "halving".parse()?;
/// assert_eq!(method.name(), "halving");
/// # Ok::<(), costate_identify::Error>(())
/// ```
///
/// # Errors
/// A name that cannot be one in commands and files, or that another method bears.
pub fn register(method: OwnMethod) -> Result<()> {
    let OwnMethod { name, make, .. } = method;
    let subject = || format!("method `{name}`");
    let is_plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == ':');
    if !is_plain {
        let problem = "its name is no plain word";
        return Err(Error::invalid(subject(), problem, "take lower-case letters, digits, `-` and `:`"));
    }
    let clash = || Err(Error::invalid(subject(), "another method has this name", "choose another name"));
    let mut registered = REGISTERED.write().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = registered.iter().find(|known| known.name == name) {
        return if std::ptr::fn_addr_eq(known.make, make) { Ok(()) } else { clash() };
    }
    if Method::built_in().any(|known| known.name() == name) {
        return clash();
    }
    registered.push(method);
    Ok(())
}
