//! Ranks of MPI: `cargo test -p costate-tests --features mpi --test command mpi`.
#![cfg(all(unix, feature = "mpi"))]

use crate::run::{Place, Run};
use serde_json::Value;
use std::process::{Command, Stdio};

/// A command on so many ranks; none, with a sentence, where nothing starts them.
fn on_ranks(place: &Place, count: usize, arguments: &str) -> Option<Command> {
    let is_there = Command::new("mpirun").arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    if is_there.is_err() {
        println!("skipped: there is no mpirun (on Debian: apt-get install openmpi-bin)");
        return None;
    }
    let mut command = Command::new("mpirun");
    command.args(["-n", &count.to_string(), env!("CARGO_BIN_EXE_costate-tested")]).args(arguments.split_whitespace());
    command.current_dir(place.path("")).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    // Open MPI: as root, and on fewer processors than ranks; others do not know these
    command.envs([("OMPI_ALLOW_RUN_AS_ROOT", "1"), ("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")]);
    command.envs([("OMPI_MCA_rmaps_base_oversubscribe", "1"), ("OMPI_MCA_btl_vader_single_copy_mechanism", "none")]);
    command.env("SOURCE_DATE_EPOCH", "0");
    Some(command)
}

fn result(place: &Place, out: &str) -> Value {
    let mut result: Value = serde_json::from_str(&place.read(&format!("{out}/result.json"))).unwrap();
    (result["seconds"], result["command"]) = (Value::Null, Value::Null);
    result
}

// Protects results from the number of ranks: the very result of threads, written and reported once; a run whose ranks were killed goes on with fewer of
// them to the same.
#[test]
fn mpi_changes_nothing() {
    let place = Place::new();
    let command = "identify engine_mount --end 0.4 --starts 120 --profiles --noise-level 0.02";
    let alone = place.command(&format!("{command} --out alone")).env("SOURCE_DATE_EPOCH", "0").output().unwrap();
    assert_eq!(alone.status.code(), Some(0));
    let Some(mut ranks) = on_ranks(&place, 4, &format!("{command} --out ranks")) else { return };
    let Run { code, out, err } = Place::end(&mut ranks);
    assert_eq!(code, 0, "{out}{err}");
    assert!(out.matches("written to").count() == 1 && err.matches("120 starts:").count() == 1, "{out}{err}");
    assert_eq!(result(&place, "ranks"), result(&place, "alone"));
    let mut child = on_ranks(&place, 4, &format!("{command} --out killed")).unwrap().spawn().unwrap();
    let folder = place.path("killed/unfinished");
    while std::fs::read_dir(&folder).map_or(0, Iterator::count) < 12 {
        assert!(child.try_wait().unwrap().is_none(), "it has ended before it was killed");
        std::thread::sleep(std::time::Duration::from_micros(500));
    }
    // mpirun takes its time to end them
    assert!(Command::new("kill").arg(child.id().to_string()).status().unwrap().success());
    child.wait().unwrap();
    assert!(folder.exists(), "it has ended before it was killed");
    let Run { code, out, err } = Place::end(&mut on_ranks(&place, 3, &format!("{command} --out killed")).unwrap());
    assert!(code == 0 && err.contains("going on with an unfinished run"), "{out}{err}");
    assert_eq!(result(&place, "killed"), result(&place, "alone"));
    assert!(!folder.exists());
}

// Protects from ranks that wait for each other, and from as many sentences as there are ranks.
#[test]
fn mpi_says_what_is_wrong_once() {
    let place = Place::new();
    for (arguments, code, part) in [
        ("identify engine_mont --starts 4", 2, "there is no model `engine_mont`"),
        ("identify engine_mount --starts 1", 2, "take two or more"),
        ("identify engine_mount --starts 4 --nonsense", 2, "--nonsense"),
        ("simulate oscillator --end 0.1", 0, "one of 3 ranks does this alone"),
        ("identify oscillator --end 0.1", 0, "one of 3 ranks does this alone"),
    ] {
        let Some(mut ranks) = on_ranks(&place, 3, arguments) else { return };
        let run = Place::end(&mut ranks);
        assert_eq!(run.code, code, "{arguments}: {}{}", run.out, run.err);
        assert!(run.err.matches(part).count() == 1, "{arguments}: {}", run.err);
    }
}
