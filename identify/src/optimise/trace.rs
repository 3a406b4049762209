//! Trace of every single run of the function.

use std::fmt;
use std::sync::Arc;

/// One run of the function.
#[derive(Debug, Clone, Copy)]
pub struct Evaluation<'a> {
    /// Number of the run in this search, from 1.
    pub number: usize,
    /// Physical values.
    pub u: &'a [f64],
    /// The cost, or why there is none.
    pub cost: std::result::Result<f64, &'a str>,
    /// Duration of the run, s.
    pub seconds: f64,
}

type Watcher = dyn Fn(&Evaluation<'_>) + Send + Sync;

/// Sees every run of the function; nothing, unless it is asked for.
#[derive(Clone, Default)]
pub struct Trace(Option<Arc<Watcher>>);

impl Trace {
    /// A trace whose `watcher` is called after every run.
    pub fn new(watcher: impl Fn(&Evaluation<'_>) + Send + Sync + 'static) -> Self {
        Trace(Some(Arc::new(watcher)))
    }

    pub(super) fn tell(&self, evaluation: &Evaluation<'_>) {
        if let Some(watcher) = &self.0 {
            watcher(evaluation);
        }
    }
}

/// Equal if both watch, or neither does.
impl PartialEq for Trace {
    fn eq(&self, other: &Self) -> bool {
        self.0.is_some() == other.0.is_some()
    }
}

impl fmt::Debug for Trace {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Trace" } else { "no Trace" })
    }
}
