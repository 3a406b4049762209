//! Panics of a user's functions as sentences, while a mechanism is put together.
//!
//! A slip in a model (an index out of range, [`crate::unpack`] with the wrong number of names) panics where it is found. That is
//! caught and becomes an error; what Rust prints of a panic on standard error would only come before that error's sentence.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// State of this thread: whether panics are kept for the one who asked, and what the last one said.
    static KEPT: Cell<Option<String>> = const { Cell::new(None) };
}

/// Runs `work`; a panic in it is returned as `what it said (file:line)`, and nothing is printed.
///
/// Panics of other threads are reported as ever, by whatever hook the program has installed. In programs that abort at a panic
/// nothing can be caught, and nothing is kept quiet.
pub fn caught<T>(work: impl FnOnce() -> T) -> Result<T, String> {
    if cfg!(panic = "unwind") {
        listen();
        KEPT.set(Some(String::new()));
    }
    let outcome = catch_unwind(AssertUnwindSafe(work));
    let kept = KEPT.take().unwrap_or_default();
    outcome.map_err(|_| kept)
}

/// Puts a hook before the one that is there, once a process.
fn listen() {
    static LISTENS: Once = Once::new();
    LISTENS.call_once(|| {
        let other = take_hook();
        set_hook(Box::new(move |panic| match KEPT.take() {
            Some(_) => KEPT.set(Some(sentence(panic))),
            None => other(panic),
        }));
    });
}

fn sentence(panic: &PanicHookInfo<'_>) -> String {
    let payload = panic.payload();
    let text = payload.downcast_ref::<String>().map(String::as_str).or(payload.downcast_ref::<&str>().copied());
    let text = text.unwrap_or("without a message");
    let place = panic.location().map_or_else(String::new, |at| format!(" ({}:{})", at.file(), at.line()));
    format!("{text}{place}")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects the sentence: what a panic says and where it was, and work that goes through is left alone. Afterwards the thread
    /// is as before.
    #[test]
    fn a_panic_is_reported_with_its_place() {
        assert_eq!(caught(|| 3), Ok(3));
        let message = caught(|| -> usize { [1usize, 2][std::hint::black_box(2)] }).unwrap_err();
        assert!(message.contains("index out of bounds") && message.contains("slip.rs:"), "{message}");
        assert_eq!(KEPT.take(), None);
    }
}
