//! Processes on one or several machines that run the same program and divide its stages.
//!
//! Rank 0 hands tasks out, works itself, and answers; the others ask, and wait for the answer. Nobody sends anything to a rank that does not
//! wait for it, so that no two wait for each other. A stage begins with a look at whether all have the same problem, and ends for all
//! together; so does the program ([`Team::farewell`]), whatever has gone wrong where.

use super::keys::differences;
use super::{Desk, Stage, Task};
use crate::{Error, Result};
use costate::{Interrupt, parallel};
use hmac_sha256::Hash;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::RefCell;
use std::time::Duration;

/// Pause between two looks at whether a message has come: a fraction of a short task, and long enough to leave the processor to those who work.
const PAUSE: Duration = Duration::from_micros(500);

/// Carrier of messages between processes.
pub trait Ranks {
    /// The number of this one, from 0.
    fn rank(&self) -> usize;

    /// Number of processes.
    fn size(&self) -> usize;

    /// Sends a message; it may wait until it is received.
    ///
    /// # Errors
    /// If it cannot be sent.
    fn send(&self, to: usize, message: &[u8]) -> Result<()>;

    /// A message that has come, and from whom, without waiting for one. Those of one sender come in their order.
    ///
    /// # Errors
    /// If that cannot be found out.
    fn receive(&self) -> Result<Option<(usize, Vec<u8>)>>;
}

/// Message to rank 0.
#[derive(Serialize, Deserialize)]
enum Request {
    /// Asks for the first task of a stage.
    Begin { stage: String, problem: Value, inputs: [u8; 32] },
    /// The result of a task, or an error in words; asks for another one.
    Done { task: usize, result: std::result::Result<String, String> },
    /// The task was interrupted.
    Interrupted,
    /// Has come to the program's end.
    Farewell(Farewell),
}

/// Answer of rank 0 to another rank.
#[derive(Serialize, Deserialize)]
enum Answer {
    Task(usize),
    /// The end of the stage: all results.
    All(Vec<String>),
    /// The end of the stage, and of the program.
    Failed {
        sentence: String,
        interrupted: bool,
    },
    /// The exit code.
    Goodbye(u8),
}

/// The end of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Farewell {
    /// Exit code of the rank.
    pub code: u8,
    /// Description of the error, if there was one.
    pub sentence: Option<String>,
}

/// All ranks, as one of them sees them.
pub struct Team<'r> {
    ranks: &'r dyn Ranks,
    others: RefCell<Vec<Other>>,
}

/// Knowledge of rank 0 about another rank.
#[derive(Default, Clone)]
struct Other {
    /// True if the rank waits for the end of the stage.
    waits: bool,
    gone: Option<Farewell>,
}

impl<'r> Team<'r> {
    /// Team of these ranks.
    pub fn new(ranks: &'r dyn Ranks) -> Self {
        Team { ranks, others: RefCell::new(vec![Other::default(); ranks.size()]) }
    }

    /// True if this is rank 0, which hands out, writes and speaks.
    pub fn is_first(&self) -> bool {
        self.ranks.rank() == 0
    }

    /// Number of ranks.
    pub fn size(&self) -> usize {
        self.ranks.size()
    }

    fn send<T: Serialize>(&self, to: usize, message: &T) -> Result<()> {
        let bytes = serde_json::to_vec(message).map_err(|error| unreadable(&error))?;
        self.ranks.send(to, &bytes)
    }

    /// Sends a request to rank 0, and waits for the answer.
    fn ask(&self, request: &Request) -> Result<Answer> {
        self.send(0, request)?;
        loop {
            match self.ranks.receive()? {
                Some((_, bytes)) => return serde_json::from_slice(&bytes).map_err(|error| unreadable(&error)),
                None => std::thread::sleep(PAUSE),
            }
        }
    }

    /// A stage as another than rank 0 does it.
    pub(super) fn follow(
        &self,
        stage: &Stage<'_>,
        (problem, inputs): (&Value, &[String]),
        task: Task<'_>,
    ) -> Result<Vec<String>> {
        let (stage_name, problem, inputs) = (stage.name.to_string(), problem.clone(), digest(inputs));
        let mut request = Request::Begin { stage: stage_name, problem, inputs };
        loop {
            let k = match self.ask(&request)? {
                Answer::Task(k) => k,
                Answer::All(texts) => return Ok(texts),
                Answer::Failed { sentence, interrupted } => {
                    if interrupted {
                        stage.interrupt.raise();
                    }
                    return Err(Error::Elsewhere { sentence });
                }
                Answer::Goodbye(_) => return Err(out_of_step("rank 0 has ended")),
            };
            let result = task(k).map_err(|error| error.to_string());
            request = match stage.interrupt.was_raised() {
                true => Request::Interrupted,
                false => Request::Done { task: k, result },
            };
        }
    }

    /// A stage as rank 0 does it: until nobody has a task any more, and all others wait for what [`Team::tell`] says.
    pub(super) fn lead(&self, desk: &Desk<'_>, problem: &Value, task: Task<'_>) -> Result<()> {
        let inputs = digest(desk.inputs);
        std::thread::scope(|scope| {
            let own = scope.spawn(|| {
                parallel::keep_to_one();
                desk.work(task);
            });
            loop {
                // before the look for messages: what is brought after it is seen in the next round
                let is_over =
                    own.is_finished() && self.others.borrow()[1..].iter().all(|o| o.waits || o.gone.is_some());
                let answered = match self.ranks.receive() {
                    Ok(Some((from, bytes))) => self.answer(from, &bytes, desk, (problem, &inputs)),
                    Ok(None) if is_over => return Ok(()),
                    Ok(None) => {
                        std::thread::sleep(PAUSE);
                        Ok(())
                    }
                    Err(error) => Err(error),
                };
                if let Err(error) = answered {
                    // its own task is the last one
                    desk.fail(error.clone());
                    return Err(error);
                }
            }
        })
    }

    fn answer(&self, from: usize, bytes: &[u8], desk: &Desk<'_>, (problem, own): (&Value, &[u8; 32])) -> Result<()> {
        let stage = desk.stage;
        match serde_json::from_slice(bytes).map_err(|error| unreadable(&error))? {
            Request::Begin { stage: other, .. } if other != stage.name => {
                desk.fail(out_of_step(&format!("rank {from} is at `{other}`, rank 0 at `{}`", stage.name)));
            }
            Request::Begin { problem: other, inputs, .. } => {
                if let Some(changed) = differences(&other, problem, ["is", "on rank 0"]) {
                    desk.fail(other_problem(from, &changed));
                } else if inputs != *own {
                    desk.fail(other_problem(from, &format!("stage `{}` begins with other values", stage.name)));
                }
            }
            Request::Done { task, result } => {
                let result = result.map_err(|sentence| elsewhere(from, &sentence));
                desk.bring(task, result);
            }
            Request::Interrupted => {
                stage.interrupt.raise();
                desk.interrupt();
            }
            Request::Farewell(farewell) => {
                desk.fail(elsewhere(from, farewell.sentence.as_deref().unwrap_or("it has ended before the others")));
                self.others.borrow_mut()[from].gone = Some(farewell);
                return Ok(());
            }
        }
        match desk.take() {
            Some(k) => self.send(from, &Answer::Task(k)),
            None => {
                self.others.borrow_mut()[from].waits = true;
                Ok(())
            }
        }
    }

    /// Sends to all others how the stage has ended.
    pub(super) fn tell(&self, found: &Result<Vec<String>>, interrupt: &Interrupt) -> Result<()> {
        let answer = match found {
            Ok(texts) => Answer::All(texts.clone()),
            Err(error) => Answer::Failed { sentence: error.to_string(), interrupted: interrupt.was_raised() },
        };
        for (rank, other) in self.others.borrow_mut().iter_mut().enumerate() {
            if std::mem::take(&mut other.waits) {
                self.send(rank, &answer)?;
            }
        }
        Ok(())
    }

    /// The end of the program: returns when all ranks are there, with the largest exit code, and what was wrong on others, which rank 0 is to
    /// say. A rank that still asks for work gets the answer that there is none.
    ///
    /// # Errors
    /// If messages cannot be sent.
    pub fn farewell(&self, own: Farewell) -> Result<(u8, Vec<String>)> {
        if !self.is_first() {
            let code = own.code;
            return match self.ask(&Request::Farewell(own))? {
                Answer::Goodbye(of_all) => Ok((of_all, Vec::new())),
                _ => Ok((code, Vec::new())),
            };
        }
        while self.others.borrow()[1..].iter().any(|other| other.gone.is_none()) {
            let Some((from, bytes)) = self.ranks.receive()? else {
                std::thread::sleep(PAUSE);
                continue;
            };
            match serde_json::from_slice(&bytes).map_err(|error| unreadable(&error))? {
                Request::Farewell(farewell) => self.others.borrow_mut()[from].gone = Some(farewell),
                _ => {
                    let sentence = own.sentence.clone().unwrap_or_else(|| out_of_step("rank 0 has ended").to_string());
                    self.send(from, &Answer::Failed { sentence, interrupted: false })?;
                }
            }
        }
        let others = self.others.borrow();
        let gone = || others.iter().enumerate().filter_map(|(rank, other)| Some((rank, other.gone.as_ref()?)));
        let code = gone().map(|(_, farewell)| farewell.code).fold(own.code, u8::max);
        for (rank, _) in gone() {
            self.send(rank, &Answer::Goodbye(code))?;
        }
        let mut said: Vec<&str> = own.sentence.as_deref().into_iter().collect();
        let mut sentences = Vec::new();
        for (rank, farewell) in gone() {
            let Some(sentence) = farewell.sentence.as_deref() else { continue };
            // what an end of all has made all of them say is said once
            if !said.iter().any(|said| said.contains(sentence)) {
                sentences.push(elsewhere(rank, sentence).to_string());
                said.push(sentence);
            }
        }
        Ok((code, sentences))
    }
}

fn digest(inputs: &[String]) -> [u8; 32] {
    let mut hash = Hash::new();
    for input in inputs {
        hash.update(input.as_bytes());
        hash.update(b"\n");
    }
    hash.finalize()
}

fn elsewhere(rank: usize, sentence: &str) -> Error {
    Error::Elsewhere { sentence: format!("on rank {rank}: {sentence}") }
}

fn other_problem(rank: usize, why: &str) -> Error {
    let remedy = "give all ranks the same command, program and files, on processors of one kind";
    Error::invalid(format!("rank {rank}"), format!("it has another problem than rank 0: {why}"), remedy)
}

fn out_of_step(why: &str) -> Error {
    Error::invalid("the ranks", format!("they do not do the same: {why}"), "give all of them the same command")
}

fn unreadable(error: &serde_json::Error) -> Error {
    let remedy = "run the same program on all ranks";
    Error::invalid("the ranks", format!("a message cannot be read or written: {error}"), remedy)
}
