//! A wish to stop, raised from elsewhere while a computation runs.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// Shared by its copies: one is raised, by a signal handler or another thread, and whoever holds another stops at the next time
/// step, with [`Error::Interrupted`](crate::Error::Interrupted) or the best so far.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    raised: Arc<AtomicBool>,
    suspended: Arc<AtomicBool>,
}

impl Interrupt {
    /// Asks to stop; says whether that had been asked for before.
    pub fn raise(&self) -> bool {
        self.raised.swap(true, Ordering::Relaxed)
    }

    /// True if the computation is to stop.
    #[inline]
    pub fn is_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed) && !self.suspended.load(Ordering::Relaxed)
    }

    /// True if anybody has asked to stop, also where that is not to be heeded.
    pub fn was_raised(&self) -> bool {
        self.raised.load(Ordering::Relaxed)
    }

    /// Does `work` that must be finished whatever is asked.
    pub fn suspended<T>(&self, work: impl FnOnce() -> T) -> T {
        self.suspended.store(true, Ordering::Relaxed);
        let done = work();
        self.suspended.store(false, Ordering::Relaxed);
        done
    }
}

/// Equal if both ask to stop, or neither does.
impl PartialEq for Interrupt {
    fn eq(&self, other: &Self) -> bool {
        self.is_raised() == other.is_raised()
    }
}
