//! Values of tasks as files, each written whole, in a folder that says which problem they belong to.

use super::keys::differences;
use crate::{Error, Means, Remedy, Result};
use costate_data::file_set;
use costate_data::files::{self, write_atomically};
use serde_json::Value;
use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Name of the file that says what the values belong to.
const PROBLEM: &str = "problem.json";

pub(super) struct Store {
    folder: PathBuf,
    problem: Value,
    left_over: usize,
    /// Once the folder is this process's own, with its problem in it.
    begun: Mutex<Option<File>>,
}

impl Store {
    /// Refuses a folder of another problem.
    pub fn open(folder: &Path, problem: Value) -> Result<Self> {
        let mut store = Store { folder: folder.to_path_buf(), problem, left_over: 0, begun: Mutex::new(None) };
        let names = names(folder);
        if names.is_empty() {
            return Ok(store);
        }
        let lock = store.lock()?;
        let wrong = |problem: String, remedy: Remedy| {
            Err(Error::invalid(format!("the unfinished run in {}", folder.display()), problem, remedy))
        };
        if !names.iter().any(|name| name == PROBLEM) {
            let problem = format!("there is no {PROBLEM} that says what it belongs to");
            return wrong(problem, Remedy::by("remove that folder, or choose another one", Means::AnotherFolder));
        }
        let text = files::read(&folder.join(PROBLEM))?;
        let Ok(then) = serde_json::from_slice::<Value>(&text) else {
            return wrong(format!("its {PROBLEM} is not JSON"), "remove that folder to start over".into());
        };
        if let Some(changed) = differences(&then, &store.problem, ["was", "is"]) {
            let words = "give what was given then to go on, remove that folder to start over, or choose another one";
            let remedy = Remedy::by(words, Means::AnotherFolder);
            return wrong(format!("it is of another problem: {changed}"), remedy);
        }
        store.left_over = names.iter().filter(|name| name.ends_with(".json") && *name != PROBLEM).count();
        store.begun = Mutex::new(Some(lock));
        Ok(store)
    }

    pub fn left_over(&self) -> usize {
        self.left_over
    }

    /// Folder where values are, if there are any.
    pub fn folder(&self) -> Option<&Path> {
        self.folder.is_dir().then_some(&self.folder)
    }

    fn path(&self, stage: &str, k: usize) -> PathBuf {
        self.folder.join(format!("{stage}_{:04}.json", k + 1))
    }

    /// Result that an earlier run has found for this input. A file that is none of ours, or of another input, counts as none.
    pub fn find(&self, stage: &str, k: usize, input: &str) -> Option<String> {
        if self.left_over == 0 {
            return None;
        }
        let found: Value = serde_json::from_slice(&fs::read(self.path(stage, k)).ok()?).ok()?;
        let input: Value = serde_json::from_str(input).ok()?;
        (found["input"] == input).then(|| found["result"].to_string())
    }

    /// Keeps the result of an input.
    pub fn put(&self, stage: &str, k: usize, (input, result): (&str, &str)) -> Result<()> {
        self.begin()?;
        let text = format!("{{\"input\":{input},\n\"result\":{result}}}\n");
        Ok(write_atomically(&self.path(stage, k), text.as_bytes())?)
    }

    /// Makes the folder, unless it is there.
    fn begin(&self) -> Result<()> {
        let mut begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner);
        if begun.is_none() {
            let refused = |error: io::Error| self.refused("create the folder", error);
            fs::create_dir_all(&self.folder).map_err(refused)?;
            let lock = self.lock()?;
            if names(&self.folder).iter().any(|name| name == PROBLEM) {
                return Err(self.refused("work in", "another run has begun there in the meantime"));
            }
            write_atomically(&self.folder.join(PROBLEM), format!("{:#}\n", self.problem).as_bytes())?;
            *begun = Some(lock);
        }
        Ok(())
    }

    fn refused(&self, action: &'static str, error: impl ToString) -> Error {
        Error::folder(action, &self.folder, error, "choose another folder")
    }

    /// Locks the folder: as long as the file is open, no other process works here.
    fn lock(&self) -> Result<File> {
        let lock = File::create(self.folder.join(file_set::LOCK)).map_err(|error| self.refused("write into", error))?;
        match lock.try_lock() {
            Err(TryLockError::WouldBlock) => Err(self.refused("work in", "another run is at work there")),
            // where files cannot be locked, nobody is kept away
            Ok(()) | Err(TryLockError::Error(_)) => Ok(lock),
        }
    }

    /// Removes the folder, at once for whoever looks.
    pub fn remove(&self) -> Result<()> {
        let begun = self.begun.lock().unwrap_or_else(PoisonError::into_inner).take();
        begun.map_or(Ok(()), |lock| {
            file_set::discard(&self.folder, lock).map_err(|error| self.refused("remove the folder", error))
        })
    }
}

/// Names of files that are no temporary ones.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let names = entries.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| !name.starts_with('.')).collect()
}
