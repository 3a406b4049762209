//! Work in numbered tasks that do not depend on each other: on threads, or on the ranks of several machines; kept as each of them ends.
//!
//! A *stage* is a list of items of which each gives a value ([`Work::run`]). The values are the same to the last bit however the work was
//! divided: each goes through the text that is kept of it (JSON; numbers have all their digits), also where nothing is kept.
//!
//! - [`Work::kept_in`] a folder, every value is a file there once it is known. A later run of the same problem takes over what is
//!   there; of a changed one it is refused, with the key that changed. [`Work::end`] removes the folder.
//! - [`Work::divided_among`] a [`Team`], tasks are handed out on demand by rank 0, which works itself, too, and which alone keeps values.
//!   In the end all ranks have all values.

mod keys;
mod store;
mod team;

pub use team::{Farewell, Ranks, Team};

use crate::{Error, Result};
use costate::Interrupt;
use costate::parallel::in_parallel;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use store::Store;

/// Division of work, and the store of its results; by default on threads, and nowhere.
#[derive(Default)]
pub struct Work<'a> {
    /// Description of the problem that all tasks belong to.
    problem: Value,
    store: Option<Store>,
    team: Option<&'a Team<'a>>,
}

/// A list of tasks.
pub struct Stage<'a> {
    /// Names its files: letters and digits.
    pub name: &'a str,
    /// Name of the stage for people, who read "WHAT: interrupted".
    pub what: &'a str,
    /// Threads, where there are no ranks.
    pub threads: usize,
    /// Whoever raises it ends the stage, without the tasks that are under way.
    pub interrupt: &'a Interrupt,
    /// Callback for the number of tasks that are done, those that were taken over among them.
    pub done: &'a (dyn Fn(usize) + Sync),
}

/// Callback for progress: what is being done, how many of it are done, and of how many.
pub type ProgressCallback<'a> = &'a (dyn Fn(&str, usize, usize) + Sync);

impl<'a> Work<'a> {
    /// The work of a problem, which is described by whatever its values depend on: JSON, whose keys people read. Under the key `computed`
    /// is what follows from all others.
    pub fn of(problem: Value) -> Self {
        Work { problem, ..Work::default() }
    }

    /// Keeps values in a folder of their own, which is made with the first of them.
    ///
    /// # Errors
    /// The folder has values of another problem, or another process is at work there.
    pub fn kept_in(self, folder: &Path) -> Result<Self> {
        Ok(Work { store: Some(Store::open(folder, self.problem.clone())?), ..self })
    }

    /// Divides it among ranks, if there are several.
    pub fn divided_among(self, team: Option<&'a Team<'a>>) -> Self {
        Work { team, ..self }
    }

    /// Number of values that an earlier run has left.
    pub fn left_over(&self) -> usize {
        self.store.as_ref().map_or(0, Store::left_over)
    }

    /// Remedy after an interrupt, in words.
    pub fn remedy(&self) -> String {
        match self.store.as_ref().and_then(Store::folder) {
            Some(folder) => {
                format!("run the same command again to go on: what is done is kept in {}", folder.display())
            }
            None => "run it again: nothing is kept of what is not at its end".to_string(),
        }
    }

    /// The end of all stages, whose results are safe: nothing is kept any longer.
    ///
    /// # Errors
    /// [`Error::Data`] if the folder cannot be removed.
    pub fn end(&self) -> Result<()> {
        self.store.as_ref().map_or(Ok(()), Store::remove)
    }

    /// Results of `task` for every item, in the items' order. Values and items are those that JSON can hold: numbers that may be infinite or
    /// NaN are fields `#[serde(with = "costate_identify::work::exact")]`.
    ///
    /// # Errors
    /// Of the tasks that failed the error of the first one, after which no others begin; an interrupt; a value that cannot be kept. With ranks:
    /// an error on any of them, or one that works on another problem.
    pub fn run<I: Serialize + Sync, T: Serialize + DeserializeOwned>(
        &self,
        stage: &Stage<'_>,
        items: &[I],
        task: impl Fn(&I) -> Result<T> + Sync,
    ) -> Result<Vec<T>> {
        let inputs = items.iter().map(|item| stage.text(item)).collect::<Result<Vec<String>>>()?;
        let is_value = |text: &str| serde_json::from_str::<T>(text).is_ok();
        let texts = self.texts(stage, (&inputs, &is_value), &|k| stage.text(&task(&items[k])?))?;
        texts.iter().map(|text| serde_json::from_str(text).map_err(|error| stage.no_value(&error))).collect()
    }

    /// Results as texts, with those of an earlier run that are values.
    fn texts(
        &self,
        stage: &Stage<'_>,
        (inputs, is_value): (&[String], IsValue<'_>),
        task: Task<'_>,
    ) -> Result<Vec<String>> {
        if let Some(team) = self.team.filter(|team| !team.is_first()) {
            return team.follow(stage, (&self.problem, inputs), task);
        }
        let desk = Desk::new(stage, (inputs, is_value), self.store.as_ref());
        match self.team {
            Some(team) => team.lead(&desk, &self.problem, task)?,
            None => {
                let mut hands = vec![(); stage.threads.min(inputs.len())];
                in_parallel(&mut hands, stage.threads, |_, ()| -> Result<()> {
                    desk.work(task);
                    Ok(())
                })?;
            }
        }
        let found = desk.close(&self.remedy());
        if let Some(team) = self.team {
            team.tell(&found, stage.interrupt)?;
        }
        found
    }
}

/// Test whether a text that was kept is a value of the stage.
type IsValue<'a> = &'a dyn Fn(&str) -> bool;

/// Task for the item of this number.
type Task<'a> = &'a (dyn Fn(usize) -> Result<String> + Sync);

impl Stage<'_> {
    fn text<T: Serialize>(&self, value: &T) -> Result<String> {
        serde_json::to_string(value).map_err(|error| self.no_value(&error))
    }

    fn no_value(&self, error: &serde_json::Error) -> Error {
        let problem = format!("a value of stage `{}` cannot be kept as JSON: {error}", self.name);
        Error::invalid(self.what, problem, "numbers that may be infinite are to be kept by `work::exact`")
    }
}

/// Desk where the tasks of a stage are taken from, and their results brought to.
struct Desk<'a> {
    stage: &'a Stage<'a>,
    inputs: &'a [String],
    store: Option<&'a Store>,
    state: Mutex<State>,
}

struct State {
    /// The next task that may be free.
    next: usize,
    results: Vec<Option<String>>,
    done: usize,
    /// First failure of a task, by the tasks' numbers.
    failure: Option<(usize, Error)>,
    interrupted: bool,
}

impl<'a> Desk<'a> {
    /// Desk with what an earlier run has left.
    fn new(stage: &'a Stage<'a>, (inputs, is_value): (&'a [String], IsValue<'_>), store: Option<&'a Store>) -> Self {
        let earlier = |(k, input): (usize, &String)| store?.find(stage.name, k, input).filter(|text| is_value(text));
        let results: Vec<Option<String>> = inputs.iter().enumerate().map(earlier).collect();
        let done = results.iter().flatten().count();
        if done > 0 {
            (stage.done)(done);
        }
        let state = State { next: 0, results, done, failure: None, interrupted: false };
        Desk { stage, inputs, store, state: Mutex::new(state) }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        // whoever panicked with it has left it whole
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The next task; none if there is none, or if all is to end.
    fn take(&self) -> Option<usize> {
        let mut state = self.state();
        if state.failure.is_some() || state.interrupted || self.stage.interrupt.was_raised() {
            return None;
        }
        let next = (state.next..self.inputs.len()).find(|&k| state.results[k].is_none())?;
        state.next = next + 1;
        Some(next)
    }

    /// Does tasks until there are none.
    fn work(&self, task: Task<'_>) {
        while let Some(k) = self.take() {
            let result = task(k);
            // an interrupt leaves half of a task, which looks like a whole one
            if self.stage.interrupt.was_raised() {
                self.interrupt();
            } else {
                self.bring(k, result);
            }
        }
    }

    fn interrupt(&self) {
        self.state().interrupted = true;
    }

    /// The result of a task, or why there is none.
    fn bring(&self, k: usize, result: Result<String>) {
        let kept = result.and_then(|text| {
            self.store.map_or(Ok(()), |store| store.put(self.stage.name, k, (&self.inputs[k], &text)))?;
            Ok(text)
        });
        let mut state = self.state();
        match kept {
            Ok(text) => {
                state.results[k] = Some(text);
                state.done += 1;
                // the count would be reported in another order without the lock
                (self.stage.done)(state.done);
            }
            Err(error) if state.failure.as_ref().is_none_or(|(first, _)| k < *first) => {
                state.failure = Some((k, error));
            }
            Err(_) => {}
        }
    }

    /// Records an error that no task is to blame for.
    fn fail(&self, error: Error) {
        self.state().failure.get_or_insert((0, error));
    }

    /// All results, or why there are none.
    fn close(self, remedy: &str) -> Result<Vec<String>> {
        let State { results, done, failure, .. } = self.state.into_inner().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, error)) = failure {
            return Err(error);
        }
        let count = results.len();
        let all: Vec<String> = results.into_iter().flatten().collect();
        if all.len() == count {
            return Ok(all);
        }
        let why = format!("interrupted when {done} of {count} had ended");
        Err(Error::invalid(self.stage.what, why, remedy))
    }
}

/// Numbers that may be infinite or NaN, which JSON does not know: they are texts there.
pub mod exact {
    use serde::{Deserialize, Deserializer, Serializer};

    /// Serialises a number for `#[serde(with = "costate_identify::work::exact")]`.
    ///
    /// # Errors
    /// Those of the serialiser.
    pub fn serialize<S: Serializer>(x: &f64, serializer: S) -> Result<S::Ok, S::Error> {
        if x.is_finite() { serializer.serialize_f64(*x) } else { serializer.serialize_str(&x.to_string()) }
    }

    /// Deserialises a number that [`serialize`] wrote.
    ///
    /// # Errors
    /// Those of the deserialiser; a text that is no number.
    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<f64, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Kept {
            Number(f64),
            Text(String),
        }
        match Kept::deserialize(deserializer)? {
            Kept::Number(x) => Ok(x),
            Kept::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}
