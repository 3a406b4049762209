//! Writing files so that a reader sees the old one or the new one, never half of it.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// Writes a file by way of a temporary one in the same folder, which is then renamed.
pub(super) fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let refused = |reason: std::io::Error| {
        Error::io("write", path, reason, "check that the folder exists, may be written to, and is not full")
    };
    let Some(name) = path.file_name() else {
        return Err(Error::invalid(
            format!("the path `{}`", path.display()),
            "it names no file",
            "give the name of the file to write",
        ));
    };
    // Hidden, and unique among processes and threads.
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let temporary = path.with_file_name(format!(".{}.{}-{count}.part", name.to_string_lossy(), std::process::id()));
    let written = fs::File::create(&temporary)
        .and_then(|mut file| file.write_all(bytes).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|reason| {
        // Nothing can be done if this fails as well; usually there is then no such file.
        let _ = fs::remove_file(&temporary);
        refused(reason)
    })
}
