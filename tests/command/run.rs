//! Runs the `costate` command in a folder of its own.

// each test file uses its part of this
#![allow(dead_code)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};

/// A folder for one test, removed at its end.
pub struct Place(PathBuf);

/// What a run of the command left.
pub struct Run {
    pub code: i32,
    pub out: String,
    pub err: String,
}

impl Place {
    pub fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("costate-cli-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).unwrap();
        Place(path)
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    /// Writes a file, with the folders that it needs.
    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> &Self {
        let path = self.path(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
        self
    }

    pub fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Names of everything in the folder, folders included, in order.
    pub fn files(&self) -> Vec<String> {
        fn walk(base: &Path, folder: &Path, found: &mut Vec<String>) {
            for entry in std::fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                found.push(path.strip_prefix(base).unwrap().display().to_string());
                if path.is_dir() {
                    walk(base, &path, found);
                }
            }
        }
        let mut found = Vec::new();
        walk(&self.0, &self.0, &mut found);
        found.sort();
        found
    }

    /// The command with `arguments`, separated by spaces, in this folder.
    pub fn command(&self, arguments: &str) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_costate-tested"));
        command.args(arguments.split_whitespace()).current_dir(&self.0);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    pub fn run(&self, arguments: &str) -> Run {
        Self::end(&mut self.command(arguments))
    }

    /// Runs a command to its end.
    pub fn end(command: &mut Command) -> Run {
        let output = command.output().unwrap();
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
        Run { code: output.status.code().unwrap_or(-1), out: text(output.stdout), err: text(output.stderr) }
    }

    /// A run that must succeed.
    #[track_caller]
    pub fn good(&self, arguments: &str) -> Run {
        let run = self.run(arguments);
        assert_eq!(run.code, 0, "costate {arguments}\n{}{}", run.out, run.err);
        run
    }

    /// A run that must be refused: exit code 2, nothing on standard output, one sentence with all of `parts` on standard
    /// error, and no file that was not there before.
    #[track_caller]
    pub fn refused(&self, arguments: &str, parts: &[&str]) {
        let before = self.files();
        let Run { code, out, err } = self.run(arguments);
        assert_eq!(code, 2, "costate {arguments}\n{out}{err}");
        assert_eq!(out, "", "costate {arguments}");
        assert!(err.contains("error: ") && !err.contains("panicked"), "costate {arguments}\n{err}");
        for part in parts {
            assert!(err.contains(part), "costate {arguments}\n`{part}` is missing in: {err}");
        }
        let whole = |name: &String| before.contains(name) || self.path(name).is_dir();
        assert!(self.files().iter().all(whole), "costate {arguments} left {:?}", self.files());
    }

    /// A run that prints one JSON document and nothing else, and ends with `code`.
    #[track_caller]
    pub fn json(&self, arguments: &str, code: i32) -> serde_json::Value {
        let run = self.run(arguments);
        assert_eq!(run.code, code, "costate {arguments}\n{}{}", run.out, run.err);
        serde_json::from_str(&run.out).unwrap_or_else(|error| panic!("costate {arguments}: {error}\n{}", run.out))
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        // whatever a test is about, the results that it leaves are as published
        for name in self.files().iter().filter(|name| name.ends_with("result.json") && !std::thread::panicking()) {
            let result: serde_json::Value = serde_json::from_str(&self.read(name)).unwrap_or_default();
            let is_written = result["schema"].is_number() && result["files"].is_array();
            let faults = if is_written { crate::schema::faults(&result) } else { Vec::new() };
            assert!(faults.is_empty(), "{name}: {faults:#?}");
        }
        // a folder that stays behind in the temporary folder does no harm
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// CSV text with a header and rows made of time.
pub fn csv(header: &str, times: impl IntoIterator<Item = f64>, row: impl Fn(f64) -> Vec<f64>) -> String {
    let mut text = format!("{header}\n");
    for t in times {
        let cells: Vec<String> = std::iter::once(t).chain(row(t)).map(|x| x.to_string()).collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}

/// `count` times from 0 in steps of `step`.
pub fn times(count: usize, step: f64) -> impl Iterator<Item = f64> {
    (0..count).map(move |i| i as f64 * step)
}

/// The value of a parameter in the JSON of an identification.
#[track_caller]
pub fn value(result: &serde_json::Value, name: &str) -> f64 {
    let parameters = result["parameters"].as_array().unwrap();
    parameters.iter().find(|p| p["name"] == name).unwrap()["value"].as_f64().unwrap()
}
