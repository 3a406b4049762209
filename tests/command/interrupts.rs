//! Ctrl-C: a search stops, and keeps what it has found.
#![cfg(unix)]

use crate::run::{Place, csv, times, value};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read};
use std::process::Command;

// Starts an identification, sends it an interrupt after its first iteration, and says how it ended: code, standard error, output,
// and the seconds since.
fn interrupted(place: &Place, arguments: &str) -> (Option<i32>, String, String) {
    let mut child = place.command(arguments).spawn().unwrap();
    let mut progress = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.starts_with("iteration") {
        line.clear();
        assert!(progress.read_line(&mut line).unwrap() > 0, "the search ended before its first iteration");
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    assert!(killed.success());
    let (mut rest, mut out) = (String::new(), String::new());
    progress.read_to_string(&mut rest).unwrap();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    (child.wait().unwrap().code(), rest, out)
}

fn record(place: &Place) {
    place.write(
        "record.csv",
        csv("t,u,y", times(1001, 1e-3), |t| vec![0.1 * (400.0 * t).sin(), 0.1 * (300.0 * t).cos()]),
    );
}

// Protects hours of work: Ctrl-C stops, keeps the best so far and writes everything.
#[test]
fn interrupting_keeps_the_best_so_far() {
    let place = Place::new();
    record(&place);
    let arguments = "identify silverbox --data record.csv --substeps 10 --method steepest-descent-fixed --out results";
    let (code, rest, out) = interrupted(&place, arguments);
    assert_eq!(code, Some(1), "{rest}{out}");
    assert!(rest.contains("stopping; the best so far is kept"), "{rest}");
    assert!(out.contains("NOT converged: interrupted; the best so far is kept"), "{out}");
    let found: Value = serde_json::from_str(&place.read("results/result.json")).unwrap();
    assert!(found["reason"].as_str().unwrap().contains("interrupted"), "{found:#}");
    assert_eq!(found["converged"], false);
    assert!(place.files().contains(&"results/outputs.csv".to_string()));
}

// Protects patience: Ctrl-C ends a single evaluation of 1.2 million time steps, and what follows does not simulate again.
#[test]
fn interrupting_does_not_wait_for_a_simulation() {
    let place = Place::new();
    record(&place);
    for method in ["lm", "bfgs"] {
        let arguments =
            format!("identify silverbox --data record.csv --substeps 1200 --method {method} --out {method}");
        let (code, rest, out) = interrupted(&place, &arguments);
        assert_eq!(code, Some(1), "{rest}{out}");
        assert!(out.contains("NOT converged: interrupted") && out.contains("which take further simulations"), "{out}");
        let found: Value = serde_json::from_str(&place.read(&format!("{method}/result.json"))).unwrap();
        assert!(found["rmse"].is_null() && value(&found, "m") > 0.0, "{found:#}");
        assert!(place.files().contains(&format!("{method}/history.csv")));
    }
}

// Protects hours and disks from a slip in the step: a run of 10^8 steps and more says after its first ones how many they are and how long the others take, and before that how
// large its files will be, with what to do. (It is ended here, and leaves nothing behind.)
#[test]
fn long_runs_and_large_files_are_told() {
    let place = Place::new();
    let mut child = place.command("simulate oscillator --step 1e-8 --end 4 --memory 50MB").spawn().unwrap();
    let mut remarks = BufReader::new(child.stderr.take().unwrap());
    let mut message = String::new();
    while !message.contains("at the pace of the first") {
        assert!(remarks.read_line(&mut message).unwrap() > 0, "the run ended: {message}");
    }
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(
        message.contains("note: 4e8 times with all coordinates make about 7") && message.contains(" GB of states.csv"),
        "{message}"
    );
    assert!(message.contains("note: a simulation of 4e8 time steps: at the pace of the first "), "{message}");
    assert!(message.contains("--tolerance") && message.contains("larger step"), "{message}");
    assert!(!place.files().iter().any(|name| name.ends_with("simulation.json")), "{:?}", place.files());
}
