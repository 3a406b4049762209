//! Runs that were killed or interrupted, and go on.
#![cfg(unix)]

use crate::run::Place;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command};
use std::time::{Duration, Instant};

/// Files of finished tasks in a folder of results, with their content; all that is there is JSON, whole.
fn tasks(place: &Place, out: &str) -> BTreeMap<String, String> {
    let folder = format!("{out}/unfinished/");
    let mut found = BTreeMap::new();
    for name in place.files() {
        if name.starts_with(&folder) && !name.contains("/.") {
            let text = place.read(&name);
            serde_json::from_str::<Value>(&text).unwrap_or_else(|error| panic!("{name}: {error}: {text}"));
            found.insert(name, text);
        }
    }
    found.remove(&format!("{folder}problem.json"));
    found
}

/// Begins a command, and waits until there are so many files of tasks; false if it has ended before.
fn begun(place: &Place, arguments: &str, out: &str, files: usize) -> (Child, bool) {
    let mut child = place.command(arguments).env("SOURCE_DATE_EPOCH", "0").spawn().unwrap();
    let folder = place.path(out).join("unfinished");
    let began = Instant::now();
    let count = || {
        let names = std::fs::read_dir(&folder).into_iter().flatten().flatten().map(|entry| entry.file_name());
        names.filter(|name| name.to_string_lossy().contains('_')).count()
    };
    while count() < files {
        if child.try_wait().unwrap().is_some() {
            return (child, false);
        }
        assert!(began.elapsed() < Duration::from_secs(100), "{arguments}: {} of {files} files", count());
        std::thread::sleep(Duration::from_micros(200));
    }
    (child, true)
}

/// That a command goes on where it was; it is killed then.
#[track_caller]
fn goes_on(place: &Place, arguments: &str) {
    let mut child = place.command(arguments).spawn().unwrap();
    let lines = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
    let mut before = Vec::new();
    let found =
        lines.inspect(|line| before.push(line.clone())).any(|line| line.contains("going on with an unfinished run"));
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(found, "costate {arguments}: {before:?}");
}

fn result(place: &Place, out: &str) -> Value {
    let mut result: Value = serde_json::from_str(&place.read(&format!("{out}/result.json"))).unwrap();
    // the command names the folder
    (result["seconds"], result["command"]) = (Value::Null, Value::Null);
    result
}

const COMMAND: &str = "identify engine_mount --end 0.4 --starts 12 --profiles --noise-level 0.02";

// Protects days of work: a run that is killed at ten moments, from the first task to the last one, goes on each time, loses nothing, leaves
// whole files alone, and ends in the very result of a run that nobody killed.
#[test]
fn killed_runs_go_on_to_the_same_result() {
    let place = Place::new();
    let whole = place.command(&format!("{COMMAND} --out whole")).env("SOURCE_DATE_EPOCH", "0").output().unwrap();
    assert_eq!(whole.status.code(), Some(0));
    assert!(tasks(&place, "whole").is_empty() && !place.path("whole/unfinished").exists());
    // 12 first evaluations, 8 sides of profiles, and searches that go on: more than 5
    let arguments = format!("{COMMAND} --out killed");
    let mut before = BTreeMap::new();
    for round in 0..10 {
        // at least one more than before
        let files = (before.len() + 1).max(1 + 25 * round / 10);
        let (mut child, is_at_work) = begun(&place, &arguments, "killed", files);
        assert!(is_at_work, "round {round} has ended with less than {files} files");
        // somewhere in the tasks under way
        std::thread::sleep(Duration::from_micros(700 * round as u64));
        child.kill().unwrap();
        child.wait().unwrap();
        let after = tasks(&place, "killed");
        assert!(before.iter().all(|(name, text)| after.get(name) == Some(text)), "lost in round {round}");
        assert!(!place.path("killed/result.json").exists());
        before = after;
    }
    let last = Place::end(place.command(&arguments).env("SOURCE_DATE_EPOCH", "0").env("COSTATE_THREADS", "1"));
    assert_eq!(last.code, 0, "{}{}", last.out, last.err);
    let message = format!("going on with an unfinished run: {} of its results are taken over", before.len());
    assert!(last.err.contains(&message), "{}", last.err);
    assert_eq!(result(&place, "killed"), result(&place, "whole"));
    let left = |out: &str| -> Vec<String> {
        place.files().iter().filter_map(|name| name.strip_prefix(&format!("{out}/")).map(str::to_string)).collect()
    };
    assert_eq!(left("killed"), left("whole"));
}

// Protects from results of two problems in one: going on is refused if anything has changed that results depend on, with its name, and is not by
// what they do not depend on.
#[test]
fn a_changed_problem_is_refused() {
    let place = Place::new();
    place.good("simulate oscillator --set c=33,d=0.5 --end 2 --out r");
    place.write("record.csv", place.read("r/outputs.csv"));
    place.good("init oscillator --data record.csv");
    let stop = |arguments: &str, out: &str| {
        let (mut child, is_at_work) = begun(&place, arguments, out, 1);
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_at_work, "{arguments}");
    };
    let plain = "identify engine_mount --starts 40 --start-seed 5 --noise-level 0.02 --out a";
    stop(plain, "a");
    for (from, to, part) in [
        ("--starts 40", "--starts 41", "`starts.count` was 40, and is 41"),
        ("--start-seed 5", "--start-seed 6", "`starts.seed` was 5, and is 6"),
        ("--noise-level 0.02", "--noise-level 0.03", "`options.--noise-level` was \"0.02\", and is \"0.03\""),
        ("--starts 40", "--starts 40 --max-evaluations 99", "`options.--max-evaluations` was not given, and is \"99\""),
        ("--starts 40", "--starts 40 --fix d_E", "`parameters.d_E.free` was true, and is false"),
        ("engine_mount", "oscillator", "`model` was \"engine_mount\", and is \"oscillator\""),
    ] {
        let parts = ["the unfinished run in a/unfinished", part, "remove that folder to start over", "--out"];
        place.refused(&plain.replace(from, to), &parts);
    }
    goes_on(&place, &format!("{plain} --png --report --profiles --memory 100MB"));
    // what files say
    let measured = "identify oscillator.toml --starts 400 --out b";
    stop(measured, "b");
    let (toml, record) = (place.read("oscillator.toml"), place.read("record.csv"));
    place.write("record.csv", record.clone() + "2.01,0,0,0,0\n");
    place.refused(measured, &["`sha256.data 1` was"]);
    place.write("record.csv", record);
    place.write("oscillator.toml", format!("{toml}# a remark\n"));
    goes_on(&place, measured);
    let other = toml.replacen("[data]", "[optimiser]\nmax_evaluations = 77\n\n[data]", 1);
    assert_ne!(other, toml);
    place.write("oscillator.toml", other);
    place.refused(measured, &["`problem_file.optimiser.max_evaluations` was not given, and is 77"]);
}

// Protects the words on an interrupt, which keeps what is done, and what cannot go on: a model whose equations have changed since.
#[test]
fn interrupted_runs_say_how_to_go_on() {
    let place = Place::new();
    let arguments = "identify engine_mount --end 0.4 --starts 40 --noise-level 0.02 --out a";
    let (child, is_at_work) = begun(&place, arguments, "a", 3);
    assert!(is_at_work && Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap().success());
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    for part in [
        "searches from many starts: interrupted when",
        "of 40 had ended; run the same command again to go on",
        "a/unfinished",
    ] {
        assert!(err.contains(part), "`{part}` is missing in {err}");
    }
    assert!(!place.path("a/result.json").exists() && tasks(&place, "a").len() >= 3);
    // as a model with other equations, but of the same parameters, would have left it
    let mut problem: Value = serde_json::from_str(&place.read("a/unfinished/problem.json")).unwrap();
    let own = problem.clone();
    problem["computed"]["cost at the start"] = 0.25.into();
    place.write("a/unfinished/problem.json", problem.to_string());
    place.refused(
        arguments,
        &["`cost at the start` was 0.25, and is", "the model, the program or the processor is another"],
    );
    place.write("a/unfinished/problem.json", own.to_string());
    let run = place.good(arguments);
    assert!(run.err.contains("going on with an unfinished run"), "{}", run.err);
    assert!(!place.path("a/unfinished").exists());
}

// Protects from as many runs that overwrite each other's files as there are ranks, where the program knows nothing of ranks: it says how to build it.
#[cfg(not(feature = "mpi"))]
#[test]
fn ranks_are_refused_without_mpi() {
    let place = Place::new();
    for (name, count) in [("OMPI_COMM_WORLD_SIZE", "4"), ("PMI_SIZE", "8"), ("SLURM_STEP_NUM_TASKS", "2")] {
        for arguments in ["identify engine_mount --starts 4", "simulate oscillator"] {
            let run = Place::end(place.command(arguments).env(name, count));
            assert!(run.code == 2 && run.out.is_empty(), "{}{}", run.out, run.err);
            for part in ["error: it was started", name, "built without MPI", "--features costate/mpi", "unset"] {
                assert!(run.err.contains(part), "`{part}` is missing in {}", run.err);
            }
        }
    }
    assert_eq!(place.files(), Vec::<String>::new());
    let run = Place::end(place.command("simulate oscillator --end 0.1").env("OMPI_COMM_WORLD_SIZE", "1"));
    assert_eq!(run.code, 0, "{}", run.err);
}
