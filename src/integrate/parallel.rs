//! Independent work on several threads, with results that do not depend on their number.

use crate::{Error, Result};
use std::cell::Cell;
use std::sync::{Mutex, OnceLock, PoisonError};

/// The environment variable that says how many threads work.
pub const THREADS: &str = "COSTATE_THREADS";

thread_local! {
    /// True in one of several threads already: its work is not divided further.
    static DIVIDED: Cell<bool> = const { Cell::new(false) };
}

/// Number of threads that work: as many as processors, or as [`THREADS`] says; one within work that is divided already.
///
/// # Errors
/// [`Error::Invalid`] if the variable is no whole number from 1.
pub fn threads() -> Result<usize> {
    if DIVIDED.get() {
        return Ok(1);
    }
    let Some(asked) = std::env::var_os(THREADS) else {
        // to ask takes files of the system, which is longer than a short run
        static PROCESSORS: OnceLock<usize> = OnceLock::new();
        return Ok(*PROCESSORS.get_or_init(|| std::thread::available_parallelism().map_or(1, usize::from)));
    };
    match asked.to_str().and_then(|text| text.trim().parse::<usize>().ok()) {
        Some(count) if count > 0 => Ok(count),
        _ => {
            let problem = format!("it is `{}`", asked.to_string_lossy());
            Err(Error::invalid(format!("the environment variable {THREADS}"), problem, "give a whole number from 1"))
        }
    }
}

/// Keeps this thread from dividing its work from now on.
pub fn keep_to_one() {
    DIVIDED.set(true);
}

/// Does both at once, where more than one thread works.
pub fn both<A: Send, B>(aside: impl FnOnce() -> A + Send, here: impl FnOnce() -> B) -> (A, B) {
    if !threads().is_ok_and(|threads| threads > 1) {
        return (aside(), here());
    }
    std::thread::scope(|scope| {
        let aside = scope.spawn(aside);
        let here = here();
        (aside.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)), here)
    })
}

/// Does `work` on every item, on so many threads that take items on demand; results in the items' order, or the first error in it.
///
/// # Errors
/// Those of `work`.
pub fn in_parallel<M: Send, R: Send, E: Send>(
    items: &mut [M],
    threads: usize,
    work: impl Fn(usize, &mut M) -> Result<R, E> + Sync,
) -> Result<Vec<R>, E> {
    let threads = threads.min(items.len());
    if threads <= 1 {
        return items.iter_mut().enumerate().map(|(k, item)| work(k, item)).collect();
    }
    let results = Mutex::new((0..items.len()).map(|_| None).collect::<Vec<Option<Result<R, E>>>>());
    let queue = Mutex::new(items.iter_mut().enumerate());
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                keep_to_one();
                loop {
                    // a thread that panicked leaves the queue whole; the scope hands its panic on
                    let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                    let Some((k, item)) = next else { break };
                    let result = work(k, item);
                    results.lock().unwrap_or_else(PoisonError::into_inner)[k] = Some(result);
                }
            });
        }
    });
    // every number has been taken from the queue
    results.into_inner().unwrap_or_else(PoisonError::into_inner).into_iter().flatten().collect()
}
