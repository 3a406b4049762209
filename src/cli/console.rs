//! The one place through which commands talk: results on standard output; remarks, progress and errors on standard error.
//!
//! Nothing here panics or ends the program, since a result must not be lost for want of somebody who reads of it. A reader that went away
//! (`| head`) is no error. Any other failure is remembered: the command then ends with exit code 1, and says why where that can be read.

use crate::error::Error;
use crate::shown::tidy;
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

/// One of the two streams, with the reason of its first failure.
struct Stream {
    name: &'static str,
    failure: Mutex<Option<io::Error>>,
}

static OUT: Stream = Stream { name: "standard output", failure: Mutex::new(None) };
static ERR: Stream = Stream { name: "standard error", failure: Mutex::new(None) };
/// Whether standard output holds a document for programs, to which no sentence may be added.
static DOCUMENT: AtomicBool = AtomicBool::new(false);

impl Stream {
    /// Writes unless it has failed already: a text with a hole in it is worse than half of it.
    fn write(&self, write: impl FnOnce() -> io::Result<()>) {
        // whoever panicked with the lock left a reason, or none: both can be read
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        if failure.is_none() {
            *failure = write().err();
        }
    }

    /// Why something was lost, unless it is that nobody reads it.
    fn lost(&self) -> Option<Error> {
        let failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        let reason = failure.as_ref().filter(|reason| reason.kind() != ErrorKind::BrokenPipe)?;
        let remedy = match reason.kind() {
            ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or send it elsewhere",
            _ => "send it elsewhere",
        };
        Some(Error::io("write to", Path::new(self.name), reason, remedy))
    }
}

fn line(mut stream: impl Write, text: &str) -> io::Result<()> {
    stream.write_all(format!("{text}\n").as_bytes())?;
    stream.flush()
}

/// A result for a person, on standard output.
pub(super) fn print(text: &str) {
    OUT.write(|| line(io::stdout().lock(), text));
}

/// A result for a program, on standard output.
pub(super) fn print_document(text: &str) {
    DOCUMENT.store(true, Ordering::Relaxed);
    print(text);
}

/// A remark, progress or an error, on standard error.
pub(super) fn tell(text: &str) {
    ERR.write(|| line(io::stderr().lock(), &tidy(text)));
}

/// What is wrong.
pub(super) fn tell_error(text: &str) {
    tell(&format!("error: {text}"));
}

/// Help, or what is wrong with the arguments, on the stream that is right for it. Returns the exit code.
pub(super) fn tell_of_arguments(message: &clap::Error) -> u8 {
    let stream = if message.use_stderr() { &ERR } else { &OUT };
    stream.write(|| message.print().and_then(|()| io::stdout().flush()));
    u8::try_from(message.exit_code()).unwrap_or(2)
}

/// A bar that shows itself on terminals only. What it cannot draw, it leaves out.
pub(super) fn progress_bar(length: u64) -> ProgressBar {
    ProgressBar::new(length)
}

/// A line that changes, on terminals only.
pub(super) fn changing_line() -> Option<ProgressBar> {
    io::stderr().is_terminal().then(|| {
        let line = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg}") {
            line.set_style(style);
        }
        line.enable_steady_tick(std::time::Duration::from_millis(120));
        line
    })
}

/// The exit code of a command that ended with `code`: 1 in place of 0 if it could not say what it had to say.
pub(super) fn exit_code(code: u8) -> u8 {
    let (out, err) = (OUT.lost(), ERR.lost());
    if let Some(reason) = &out {
        tell(&format!("error: {reason}"));
    }
    if let Some(reason) = &err
        && !DOCUMENT.load(Ordering::Relaxed)
    {
        print(&format!("error: {reason} (remarks and warnings are missing)"));
    }
    if out.is_some() || err.is_some() { code.max(1) } else { code }
}
