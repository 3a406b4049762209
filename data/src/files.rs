//! Reading files that have an end, and writing files so that a reader sees the old content or the new, never half of it.

use crate::{Error, Result};
use costate::memory;
use std::fs::{self, File, OpenOptions};
use std::io::{self, ErrorKind, IsTerminal, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Reads a whole file. What is no ordinary file is refused, as it may never end, or never begin; but what is piped in (`/dev/stdin`, or
/// `<(..)` of a shell) is read.
///
/// # Errors
/// [`Error::Io`] for a folder, a device, a pipe by name, a file that is not there or must not be read. [`costate::Error::Memory`] for what does not
/// fit into memory.
pub fn read(path: &Path) -> Result<Vec<u8>> {
    let path = super::mcap::file_of(path);
    let refuse = |reason: &str, remedy: &str| Err(Error::io("read", path, reason, remedy));
    let metadata = fs::metadata(path).map_err(|error| unreadable(path, &error))?;
    let kind = metadata.file_type();
    if kind.is_dir() {
        return refuse("it is a folder", "give the path of a file in it");
    }
    let has_an_end = kind.is_file() || (is_open_already(path) && is_piped(kind));
    if !has_an_end {
        let reason = "it is no ordinary file, but a device or a pipe, which may never end";
        return refuse(reason, "save what it gives as a file, or pipe it into `/dev/stdin`");
    }
    // what is made of the text takes as much again
    let what = || path.display().to_string();
    let remedy = "take a part of it";
    memory::check(what, 2.0 * metadata.len() as f64, remedy)?;
    let mut file = File::open(path).map_err(|error| unreadable(path, &error))?;
    if kind.is_file() {
        let mut bytes = Vec::new();
        return file.read_to_end(&mut bytes).map(|_| bytes).map_err(|error| unreadable(path, &error));
    }
    let mut bytes = Vec::new();
    loop {
        const PIECE: u64 = 1 << 24;
        let read = (&mut file).take(PIECE).read_to_end(&mut bytes).map_err(|error| unreadable(path, &error))?;
        if read == 0 {
            return Ok(bytes);
        }
        // it grows by doubling
        memory::check(what, 2.0 * bytes.len() as f64, remedy)?;
    }
}

fn unreadable(path: &Path, error: &io::Error) -> Error {
    let place = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let remedy = match error.kind() {
        ErrorKind::NotFound => format!("check the path (looked for `{}`)", place.display()),
        _ => "check the path and your right to read the file".to_string(),
    };
    Error::io("read", path, error, remedy)
}

/// True if a path names what this process was started with, so that somebody writes into it.
fn is_open_already(path: &Path) -> bool {
    path == Path::new("/dev/stdin") || path.starts_with("/dev/fd") || path.starts_with("/proc/self/fd")
}

#[cfg(unix)]
fn is_piped(kind: fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo() || kind.is_socket() || (kind.is_char_device() && io::stdin().is_terminal())
}

#[cfg(not(unix))]
fn is_piped(_: fs::FileType) -> bool {
    io::stdin().is_terminal()
}

/// Writes `bytes` to `path`, replacing a file that is there.
///
/// The bytes go to a temporary file beside `path`, which is renamed once it is complete: an error or an interruption leaves
/// the previous content untouched. A link is followed, permissions of a replaced file are kept, and what is not an ordinary
/// file (`/dev/stdout`, a pipe) is written to directly. Only a process killed in the middle can leave a file
/// `.costate-*.partial` behind.
///
/// # Errors
/// [`Error::Io`] when `path` is a folder or write-protected, its folder is missing or not writable, or the disk is full.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<()> {
    write_with(path, |file| file.write_all(bytes))
}

/// Writes a file as [`write_atomically`] does, with what `write` puts into it.
///
/// # Errors
/// As [`write_atomically`].
pub fn write_with(path: &Path, write: impl FnOnce(&mut File) -> io::Result<()>) -> Result<()> {
    let refuse = |reason: &str, remedy: &str| Err(Error::io("write", path, reason, remedy));
    let names_folder = path.to_string_lossy().ends_with(std::path::is_separator);
    if names_folder || path.file_name().is_none() {
        return refuse("the path names a folder, not a file", "add a file name");
    }
    // A path that cannot be resolved is a new file, or its folder is missing: opening it below tells which.
    let target = fs::canonicalize(path).unwrap_or_else(|_| path.to_path_buf());
    let existing = fs::metadata(&target).ok();
    if let Some(metadata) = &existing {
        if metadata.is_dir() {
            return refuse("it is a folder", "choose another file name, or remove the folder");
        }
        if !metadata.is_file() {
            let written = OpenOptions::new().write(true).open(&target).and_then(|mut file| write(&mut file));
            return written.map_err(|e| refused(path, &target, &e));
        }
        if metadata.permissions().readonly() {
            return refuse("the file is write-protected", "remove its protection, or choose another file name");
        }
    }
    let temporary = temporary_beside(&target);
    let mut file = match OpenOptions::new().write(true).create_new(true).open(&temporary) {
        Ok(file) => file,
        Err(e) => return Err(refused(path, &target, &e)),
    };
    let complete = write(&mut file)
        .and_then(|()| existing.map_or(Ok(()), |metadata| file.set_permissions(metadata.permissions())))
        .and_then(|()| file.sync_all());
    drop(file);
    complete.and_then(|()| fs::rename(&temporary, &target)).map_err(|e| {
        // Should removing fail too, the first failure is still the one to report.
        let _ = fs::remove_file(&temporary);
        refused(path, &target, &e)
    })
}

/// A name of its own for each write of each process, so that two writers never share a temporary file. It does not contain
/// the target's name, which may already be as long as the file system allows.
fn temporary_beside(target: &Path) -> PathBuf {
    static WRITES: AtomicU64 = AtomicU64::new(0);
    let number = WRITES.fetch_add(1, Ordering::Relaxed);
    target.with_file_name(format!(".costate-{}-{number}.partial", std::process::id()))
}

fn refused(path: &Path, target: &Path, error: &io::Error) -> Error {
    let folder = match target.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent.display().to_string(),
        _ => ".".to_string(),
    };
    let remedy = match error.kind() {
        ErrorKind::NotFound => format!("create the folder `{folder}` first, or choose another"),
        ErrorKind::NotADirectory => format!("`{folder}` is not a folder: choose another path"),
        ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
            format!("get the right to write to the folder `{folder}`, or choose another")
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => "free some space, or choose another disk".to_string(),
        _ => "choose another path".to_string(),
    };
    Error::io("write", path, error, remedy)
}

#[cfg(test)]
mod tests {
    use super::*;

    // Protects the promise behind the temporary file: a write that fails half-way leaves the old content and no debris.
    #[test]
    fn failure_half_way_leaves_the_old_file_and_nothing_else() {
        let folder = std::env::temp_dir().join(format!("costate-files-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("result.csv");
        write_atomically(&path, b"old").unwrap();
        let failed = write_with(&path, |file| {
            file.write_all(b"ne")?;
            Err(io::Error::from(ErrorKind::StorageFull))
        });
        assert!(failed.unwrap_err().to_string().contains("free some space"));
        assert_eq!(fs::read(&path).unwrap(), b"old");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "debris in {}", folder.display());
        fs::remove_dir_all(&folder).unwrap();
    }
}
