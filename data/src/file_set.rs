//! Files that belong together and change together: a folder holds those of one run, the earlier or the later one, never some of each.
//!
//! A set is written into a folder aside, then moved into place. Its *head* (`result.json`) goes first and comes last, and says which files
//! are its own: files of an earlier run that the new one does not have are removed, and nothing else is. Whoever is killed before the move
//! leaves the earlier set; whoever is killed in the middle of it, which takes a moment, leaves no head, and the next run in this folder
//! completes the move.

use crate::files::write_atomically;
use crate::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// Heads of sets that may lie in one folder: no set removes what another one calls its own.
const HEADS: [&str; 2] = ["result.json", "simulation.json"];

/// The key of a head's list of files.
pub const FILES: &str = "files";

const PREFIX: &str = ".costate-";
const SUFFIX: &str = ".aside";
/// Held by the process that writes the set.
pub const LOCK: &str = ".lock";
/// Journal of what is left to do, once all files are there.
const JOURNAL: &str = ".journal";

#[derive(Serialize, Deserialize)]
struct Journal {
    head: String,
    remove: Vec<String>,
}

/// A set of files on its way.
pub struct FileSet {
    target: PathBuf,
    aside: PathBuf,
    /// Lock on the folder aside: as long as it is open, nobody takes the folder for something left behind.
    lock: Option<File>,
}

impl FileSet {
    /// A folder aside, within the folder `target`.
    pub fn begin(target: &Path) -> Result<Self> {
        let refused = |error: io::Error| Error::folder("write into", target, error, "choose another folder");
        loop {
            let aside = target.join(name_aside());
            match fs::create_dir(&aside) {
                // of a process of the same number elsewhere
                Err(error) if error.kind() == ErrorKind::AlreadyExists => continue,
                made => made.map_err(refused)?,
            }
            let lock = match File::create(aside.join(LOCK)) {
                // somebody has taken it for left behind
                Err(error) if error.kind() == ErrorKind::NotFound && target.exists() => continue,
                Err(error) => {
                    let _ = fs::remove_dir(&aside);
                    return Err(refused(error));
                }
                Ok(lock) => lock,
            };
            match lock.try_lock() {
                // the same, and is about to remove it, or has
                Err(TryLockError::WouldBlock) => continue,
                // where files cannot be locked, nobody else gets the lock either
                Ok(()) | Err(TryLockError::Error(_)) if !aside.join(LOCK).exists() => continue,
                _ => return Ok(FileSet { target: target.to_path_buf(), aside, lock: Some(lock) }),
            }
        }
    }

    /// Folder where the files of the set are to be written.
    pub fn path(&self) -> &Path {
        &self.aside
    }

    /// Names of the files that are there, sorted.
    pub fn names(&self) -> Result<Vec<String>> {
        names(&self.aside).map_err(|error| self.refused(&self.aside, error))
    }

    /// Moves everything into place, with `head` at the end.
    pub fn commit(mut self, head: &str) -> Result<()> {
        let names = self.names()?;
        let others: Vec<String> =
            HEADS.iter().filter(|other| **other != head).flat_map(|other| own(&self.target.join(other))).collect();
        let mut remove = own(&self.target.join(head));
        remove.retain(|name| !names.contains(name) && !others.contains(name));
        for name in names.iter().chain(&remove) {
            self.check(&self.target.join(name))?;
        }
        let journal = Journal { head: head.to_string(), remove };
        let text = serde_json::to_vec(&journal).map_err(|error| self.refused(&self.target, error.into()))?;
        write_atomically(&self.aside.join(JOURNAL), &text)?;
        // from here on it is completed, if not by this process
        let lock = self.lock.take();
        complete(&self.aside, &self.target, &journal).map_err(|error| self.refused(&self.target, error))?;
        // nothing of the set is in there any more
        let _ = clear(&self.aside, lock);
        Ok(())
    }

    fn refused(&self, path: &Path, error: io::Error) -> Error {
        Error::folder("write into", path, error, "choose another folder")
    }

    /// Refuses to replace what is no file, or protected.
    fn check(&self, path: &Path) -> Result<()> {
        let reason = match fs::metadata(path) {
            Ok(metadata) if metadata.is_dir() => "it is a folder",
            Ok(metadata) if metadata.permissions().readonly() => "the file is write-protected",
            _ => return Ok(()),
        };
        Err(Error::folder("write", path, reason, "move it away, or choose another folder"))
    }
}

impl Drop for FileSet {
    fn drop(&mut self) {
        // a set that was moved, or given up; with its journal it waits for the next run
        if !self.aside.join(JOURNAL).exists() {
            let _ = clear(&self.aside, self.lock.take());
        }
    }
}

/// A name of its own for each folder aside of each process.
fn name_aside() -> String {
    static SETS: AtomicU64 = AtomicU64::new(0);
    format!("{PREFIX}{}-{}{SUFFIX}", std::process::id(), SETS.fetch_add(1, Ordering::Relaxed))
}

/// Removes a folder whose [`LOCK`] this process holds, for whoever looks all at once: what is left of it if this process is killed, the next
/// run in the folder around it removes.
pub fn discard(folder: &Path, lock: File) -> io::Result<()> {
    let aside = folder.with_file_name(name_aside());
    fs::rename(folder, &aside)?;
    clear(&aside, Some(lock))
}

/// Removes a folder aside, its lock last: without it nobody knows whether somebody is at work there, unless the folder is empty. The lock is
/// held until its file is gone: whoever gets a lock whose file is there has the folder.
fn clear(aside: &Path, lock: Option<File>) -> io::Result<()> {
    for entry in fs::read_dir(aside)? {
        let entry = entry?;
        if entry.file_name() != LOCK {
            fs::remove_file(entry.path())?;
        }
    }
    match fs::remove_file(aside.join(LOCK)) {
        Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
        _ => {}
    }
    drop(lock);
    fs::remove_dir(aside)
}

/// Completes or removes what killed processes left in a folder.
///
/// # Errors
/// If a complete set cannot be moved into place.
pub fn recover(target: &Path) -> Result<()> {
    let Ok(entries) = fs::read_dir(target) else { return Ok(()) };
    for aside in entries.flatten().map(|entry| entry.path()) {
        let name = aside.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if !(name.starts_with(PREFIX) && name.ends_with(SUFFIX)) {
            continue;
        }
        let Ok(lock) = OpenOptions::new().write(true).open(aside.join(LOCK)) else {
            // killed before its lock was made or after it was removed, if there is nothing else
            let _ = fs::remove_dir(&aside);
            continue;
        };
        match lock.try_lock() {
            Ok(()) => {}
            // its process is at work, or nobody knows
            Err(TryLockError::WouldBlock | TryLockError::Error(_)) => continue,
        }
        let journal = fs::read(aside.join(JOURNAL)).ok().and_then(|text| serde_json::from_slice(&text).ok());
        if let Some(journal) = journal {
            let remedy = "choose another folder";
            complete(&aside, target, &journal).map_err(|error| Error::folder("write into", target, error, remedy))?;
        }
        // should it stay, it does no harm
        let _ = clear(&aside, Some(lock));
    }
    Ok(())
}

/// Moves a set into place; goes on where somebody was killed who did.
fn complete(aside: &Path, target: &Path, journal: &Journal) -> io::Result<()> {
    let names = names(aside)?;
    // without its head a set is none; a head that is in place already has all of its files there
    let head = Some(&journal.head).filter(|head| names.contains(head));
    for name in head.into_iter().chain(&journal.remove) {
        match fs::remove_file(target.join(name)) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    let (head, files): (Vec<&String>, Vec<&String>) = names.iter().partition(|name| **name == journal.head);
    for name in files.into_iter().chain(head) {
        put(&aside.join(name), &target.join(name))?;
    }
    Ok(())
}

/// Moves a file over another one, whose permissions it keeps; what is no file (a link) is written through.
fn put(from: &Path, to: &Path) -> io::Result<()> {
    match fs::symlink_metadata(to) {
        Ok(metadata) if !metadata.is_file() => {
            write_atomically(to, &fs::read(from)?).map_err(|error| io::Error::other(error.to_string()))?;
            return fs::remove_file(from);
        }
        Ok(metadata) => fs::set_permissions(from, metadata.permissions())?,
        Err(_) => {}
    }
    fs::rename(from, to)
}

/// Names of files in a folder aside, sorted.
fn names(aside: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(aside)? {
        let name = entry?.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            names.push(name);
        }
    }
    names.sort();
    Ok(names)
}

/// The files that a head calls its own; none if it is not there, or no head: a document of somebody else does not name a model, and
/// itself. Nothing outside of its folder counts.
fn own(head: &Path) -> Vec<String> {
    let document: Option<serde_json::Value> = fs::read(head).ok().and_then(|text| serde_json::from_slice(&text).ok());
    let files = document.as_ref().filter(|document| document["model"].is_string());
    let files = files.and_then(|document| document[FILES].as_array()).into_iter().flatten();
    let names: Vec<String> = files.filter_map(|name| name.as_str().map(str::to_string)).collect();
    if !names.iter().any(|name| head.file_name().is_some_and(|own| own == name.as_str())) {
        return Vec::new();
    }
    names.into_iter().filter(|name| !name.starts_with('.') && !name.contains(['/', '\\'])).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("costate-set-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    /// A set of files, ready to be moved.
    fn set(folder: &Path, files: &[&str], content: &str) -> FileSet {
        let set = FileSet::begin(folder).unwrap();
        files.iter().for_each(|name| fs::write(set.path().join(name), content).unwrap());
        let own = [files, &["result.json"]].concat();
        let head = serde_json::json!({ "model": "x", FILES: own, "content": content });
        fs::write(set.path().join("result.json"), head.to_string()).unwrap();
        set
    }

    fn content(folder: &Path) -> Vec<(String, String)> {
        let mut names: Vec<String> =
            fs::read_dir(folder).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        let text = |name: &String| fs::read_to_string(folder.join(name)).unwrap_or_default().chars().last();
        names.iter().map(|name| (name.clone(), text(name).map(String::from).unwrap_or_default())).collect()
    }

    fn pairs(list: &[(&str, &str)]) -> Vec<(String, String)> {
        list.iter().map(|(a, b)| (a.to_string(), b.to_string())).collect()
    }

    /// Protects users' own files, and results from figures of an earlier run: only what an earlier run calls its own goes.
    #[test]
    fn a_new_set_takes_the_place_of_the_old_one() {
        let folder = folder("replace");
        fs::write(folder.join("notes.txt"), "mine").unwrap();
        fs::write(folder.join("input.svg"), "mine").unwrap();
        set(&folder, &["cost.svg", "cost.png"], "1").commit("result.json").unwrap();
        set(&folder, &["cost.svg", "error.svg"], "2").commit("result.json").unwrap();
        let expected =
            [("cost.svg", "2"), ("error.svg", "2"), ("input.svg", "e"), ("notes.txt", "e"), ("result.json", "}")];
        assert_eq!(content(&folder), pairs(&expected));
        // what a head may claim ends at its folder, and a document of somebody else claims nothing
        let owned = |text: &str| {
            fs::write(folder.join("result.json"), text).unwrap();
            own(&folder.join("result.json"))
        };
        let head = r#"{"model": "x", "files": ["result.json", "../notes", "a/b", ".hidden", "cost.svg"]}"#;
        assert_eq!(owned(head), ["result.json", "cost.svg"]);
        assert!(owned(r#"{"model": "x", "files": ["cost.svg"]}"#).is_empty());
        assert!(owned(r#"{"files": ["result.json", "cost.svg"]}"#).is_empty());
        assert!(owned("no JSON").is_empty());
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Protects from half a set: a process that ends before the move leaves nothing of it, one that ends in the middle leaves it to the
    /// next one, wherever in the middle.
    #[test]
    fn what_was_interrupted_is_completed_or_removed() {
        let folder = folder("interrupted");
        set(&folder, &["a", "b"], "1").commit("result.json").unwrap();
        drop(set(&folder, &["a", "c"], "2"));
        let abandoned = set(&folder, &["a", "c"], "2");
        recover(&folder).unwrap();
        assert!(abandoned.path().exists(), "a set is taken from the process that writes it");
        let killed = |set: FileSet| {
            let path = set.path().to_path_buf();
            let copy = path.with_file_name(".costate-0-0.aside");
            fs::rename(&path, &copy).unwrap();
            copy
        };
        killed(abandoned);
        recover(&folder).unwrap();
        assert_eq!(content(&folder), pairs(&[("a", "1"), ("b", "1"), ("result.json", "}")]));
        // killed before its lock was made, or after it was removed: somebody else's that is not empty stays
        let (empty, other) = (folder.join(".costate-0-1.aside"), folder.join(".costate-0-2.aside"));
        [&empty, &other].into_iter().for_each(|aside| fs::create_dir(aside).unwrap());
        fs::write(other.join("a"), "mine").unwrap();
        recover(&folder).unwrap();
        assert!(!empty.exists() && other.exists());
        fs::remove_dir_all(&other).unwrap();
        for steps in 0..4 {
            set(&folder, &["a", "b"], "1").commit("result.json").unwrap();
            let aside = killed(set(&folder, &["a", "c"], "2"));
            let journal = Journal { head: "result.json".to_string(), remove: vec!["b".to_string()] };
            fs::write(aside.join(JOURNAL), serde_json::to_vec(&journal).unwrap()).unwrap();
            let moves: [&dyn Fn(); 3] = [
                &|| fs::remove_file(folder.join("result.json")).unwrap(),
                &|| fs::remove_file(folder.join("b")).unwrap(),
                &|| fs::rename(aside.join("a"), folder.join("a")).unwrap(),
            ];
            moves[..steps].iter().for_each(|step| step());
            recover(&folder).unwrap();
            assert_eq!(content(&folder), pairs(&[("a", "2"), ("c", "2"), ("result.json", "}")]), "{steps}");
        }
        fs::remove_dir_all(&folder).unwrap();
    }

    /// Protects a run from another one that begins in the same folder, and looks for what was left behind, at any moment of the first.
    #[test]
    fn nobody_takes_a_set_that_is_being_written() {
        let folder = folder("races");
        let is_over = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while !is_over.load(Ordering::Relaxed) {
                        recover(&folder).unwrap();
                    }
                });
            }
            let outcome = std::panic::catch_unwind(|| {
                for content in (0..60).map(|k| k.to_string()) {
                    set(&folder, &["a", "b"], &content).commit("result.json").unwrap();
                    let there = ["a", "b"].map(|name| fs::read_to_string(folder.join(name)).unwrap());
                    assert_eq!(there, [content.clone(), content]);
                }
            });
            is_over.store(true, Ordering::Relaxed);
            outcome.unwrap();
        });
        assert_eq!(content(&folder).len(), 3);
        fs::remove_dir_all(&folder).unwrap();
    }
}
