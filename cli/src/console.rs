//! The one place through which commands talk: results on standard output; remarks, progress and errors on standard error.
//!
//! Nothing here panics or ends the program, since a result must not be lost for want of somebody who reads of it. A reader that went away
//! (`| head`) is no error. Any other failure is remembered: the command then ends with exit code 1, and says why where that can be read.

use super::remedy::sentence;
use costate::shown::tidy;
use costate_identify::Error;
use costate_identify::table::{folded as folded_at_80, folded_help};
use indicatif::{ProgressBar, ProgressStyle};
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, PoisonError};

/// One of the two streams, with the reason of its first failure.
struct Stream {
    name: &'static str,
    failure: Mutex<Option<io::Error>>,
}

static OUT: Stream = Stream { name: "standard output", failure: Mutex::new(None) };
static ERR: Stream = Stream { name: "standard error", failure: Mutex::new(None) };
/// True if standard output holds a document for programs, to which no sentence may be added.
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

    /// The reason why something was lost, unless it is that nobody reads it.
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
    if !is(Loudness::Quiet) {
        return;
    }
    OUT.write(|| line(io::stdout().lock(), &folded(text, io::stdout().is_terminal())));
}

/// A result for a program, on standard output.
pub(super) fn print_document(text: &str) {
    if !is(Loudness::Quiet) {
        return;
    }
    DOCUMENT.store(true, Ordering::Relaxed);
    OUT.write(|| line(io::stdout().lock(), text));
}

/// Amount of what is written to standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Loudness {
    /// Nothing at all, on either stream: another rank speaks.
    Silent,
    /// Errors only.
    Quiet,
    /// Notes, warnings and progress, too.
    Normal,
    /// Every evaluation, too.
    Verbose,
}

static LOUDNESS: AtomicU8 = AtomicU8::new(Loudness::Normal as u8);

pub(super) fn set_loudness(loudness: Loudness) {
    LOUDNESS.store(loudness as u8, Ordering::Relaxed);
}

fn is(loudness: Loudness) -> bool {
    LOUDNESS.load(Ordering::Relaxed) >= loudness as u8
}

pub(super) fn is_quiet() -> bool {
    !is(Loudness::Normal)
}

pub(super) fn is_verbose() -> bool {
    is(Loudness::Verbose)
}

/// `1 step`, `2 steps`
pub(super) fn counted(count: usize, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn say(text: &str) {
    ERR.write(|| line(io::stderr().lock(), &folded(&tidy(text), io::stderr().is_terminal())));
}

/// A remark, a warning or progress, on standard error.
pub(super) fn tell(text: &str) {
    if is(Loudness::Normal) {
        say(text);
    }
}

/// Sentences as lines of whole words for people; programs that read them get them whole.
fn folded(text: &str, is_terminal: bool) -> String {
    if is_terminal { folded_at_80(text) } else { text.to_string() }
}

/// Writes an error to standard error.
pub(super) fn tell_error(text: &str) {
    if is(Loudness::Quiet) {
        say(&format!("error: {text}"));
    }
}

/// Help, or what is wrong with the arguments, on the stream that is right for it. Returns the exit code.
pub(super) fn tell_of_arguments(message: &clap::Error) -> u8 {
    let stream = if message.use_stderr() { &ERR } else { &OUT };
    let is_help = matches!(
        message.kind(),
        clap::error::ErrorKind::DisplayHelp | clap::error::ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    );
    let help = || folded_help(message.render().to_string().trim_end());
    let write = |write: &dyn Fn() -> io::Result<()>| {
        if is(Loudness::Quiet) {
            stream.write(write)
        }
    };
    write(&|| match (is_help, message.use_stderr()) {
        (true, false) => line(io::stdout().lock(), &help()),
        (true, true) => line(io::stderr().lock(), &help()),
        (false, _) => message.print().and_then(|()| io::stdout().flush()),
    });
    u8::try_from(message.exit_code()).unwrap_or(2)
}

/// The line that changes at present, if there is one.
static CURRENT: Mutex<Option<ProgressBar>> = Mutex::new(None);

/// A remark, from where nobody knows whether a line changes on the terminal: above that line.
pub(super) fn tell_above(text: &str) {
    match CURRENT.lock().unwrap_or_else(PoisonError::into_inner).clone() {
        Some(bar) => bar.suspend(|| tell(text)),
        None => tell(text),
    }
}

/// Progress of what is under way, with the time that it takes; of a known number of parts, with the time that is left. On terminals
/// only, until it is dropped.
pub(super) struct Waiting(Option<ProgressBar>);

/// Begins to wait for `parts` of something (0: a whole). A few parts do not tell how long the others take.
pub(super) fn waiting(what: &str, parts: usize) -> Waiting {
    const FEW: usize = 4;
    let parts = if parts < FEW { 0 } else { parts };
    let bar = is_watched().then(|| {
        let bar = if parts == 0 { ProgressBar::new_spinner() } else { ProgressBar::new(parts as u64) };
        let template = if parts == 0 {
            "{spinner} {msg}, {elapsed}"
        } else {
            "{spinner} {msg}: {pos} of {len}, {elapsed}, {eta} left"
        };
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what.to_string());
        bar.enable_steady_tick(std::time::Duration::from_millis(120));
        bar
    });
    if bar.is_some() {
        *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = bar.clone();
    }
    Waiting(bar)
}

impl Waiting {
    /// So many parts are done.
    pub fn done(&self, parts: usize) {
        if let Some(bar) = &self.0 {
            bar.set_position(parts as u64);
        }
    }

    /// So many parts of so many of what is under way now are done.
    pub fn part(&self, what: &str, done: usize, parts: usize) {
        if let Some(bar) = &self.0 {
            bar.set_message(what.to_string());
            bar.set_length(parts as u64);
            bar.set_position(done as u64);
        }
    }

    /// Shows what is under way now.
    pub fn now(&self, what: &str) {
        if let Some(bar) = &self.0 {
            bar.set_message(what.to_string());
        }
    }

    /// Tells something above it.
    pub fn tell(&self, text: &str) {
        match &self.0 {
            Some(bar) => bar.suspend(|| tell(text)),
            None => tell(text),
        }
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(bar) = &self.0 {
            *CURRENT.lock().unwrap_or_else(PoisonError::into_inner) = None;
            bar.finish_and_clear();
        }
    }
}

/// True if somebody sees lines that change; lines of single evaluations would tear them.
pub(super) fn is_watched() -> bool {
    io::stderr().is_terminal() && is(Loudness::Normal) && !is_verbose()
}

/// The exit code of a command that ended with `code`: 1 in place of 0 if it could not say what it had to say.
pub(super) fn exit_code(code: u8) -> u8 {
    let (out, err) = (OUT.lost(), ERR.lost());
    if let Some(reason) = &out {
        tell_error(&sentence(reason));
    }
    if let Some(reason) = &err
        && !DOCUMENT.load(Ordering::Relaxed)
    {
        print(&format!("error: {reason} (remarks and warnings are missing)"));
    }
    if out.is_some() || err.is_some() { code.max(1) } else { code }
}
