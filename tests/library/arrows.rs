//! Who may know whom: between crates Cargo sees to it; here are the arrows within the engine and its optimisers.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A module, all others that it may name, and the sentence that this protects.
const ARROWS: [(&str, &[&str], &str); 10] = [
    ("src/number", &[], "numbers know nothing of what is computed with them"),
    ("src/linear/sparse", &[], "linear algebra knows nothing of mechanisms"),
    ("src/linear/rows", &[], "sparse rows are numbers alone"),
    ("src/linear/dense", &[], "dense matrices are numbers alone"),
    ("src/linear/least_squares", &[], "a reduced least-squares problem is numbers alone"),
    (
        "src/integrate/scheme",
        &["diagnosis", "error", "signature", "system"],
        "a scheme is the equation that it solves: it knows the waist alone",
    ),
    (
        "src/integrate/diagnosis",
        &["error", "model", "shown", "signature", "sparse", "system"],
        "messages are made at the waist",
    ),
    ("identify/src/optimise", &["dense", "interrupt", "least_squares"], "optimisers see vectors, not mechanisms"),
    (
        "src/integrate/simulate",
        &[
            "continuous",
            "error",
            "grid",
            "interrupt",
            "memory",
            "pace",
            "scheme",
            "shown",
            "signal",
            "signature",
            "start",
            "system",
        ],
        "forward runs know nothing of costs and gradients",
    ),
    (
        "src/gradient/cost",
        &["error", "grid", "memory", "noise", "random", "shown", "signature", "system"],
        "costs know nothing of how their derivatives are found",
    ),
];

fn files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// Where the workspace is.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

/// The modules of the own crate and of the engine that lines of code name.
fn named(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let split = |line: &str| {
        line.replace("costate::", "crate::").split("crate::").skip(1).map(str::to_string).collect::<Vec<_>>()
    };
    let names = code.flat_map(split);
    names.map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect()).collect()
}

/// Protects the house: a module names only what its sentence lets it know.
#[test]
fn arrows_point_down() {
    let source = &root();
    for (module, allowed, sentence) in ARROWS {
        let mut own = Vec::new();
        let folder = source.join(module);
        if folder.is_dir() {
            files(&folder, &mut own);
        }
        own.extend([source.join(format!("{module}.rs"))].into_iter().filter(|path| path.is_file()));
        let module = module.rsplit('/').next().unwrap();
        assert!(!own.is_empty(), "there is no module {module}");
        for path in own {
            for name in named(&std::fs::read_to_string(&path).unwrap()) {
                let fits = name.is_empty() || name == module || allowed.contains(&name.as_str());
                assert!(fits, "{} names crate::{name}, but {sentence}", path.display());
            }
        }
    }
}

/// Protects whoever looks for something: a few folders, each of which begins with what comes in and what goes out, and no loose files.
#[test]
fn the_engine_has_a_few_rooms() {
    let source = root().join("src");
    let mut rooms = 0;
    for entry in std::fs::read_dir(&source).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rooms += 1;
            let text = std::fs::read_to_string(path.join("mod.rs")).unwrap();
            assert!(text.starts_with("//! "), "{} does not say what it is", path.display());
        } else {
            let name = path.file_name().unwrap();
            assert!(name == "lib.rs" || name == "error.rs", "{} belongs into a folder", path.display());
        }
    }
    assert!(rooms <= 7, "{rooms} folders");
}

/// The packages that `package` needs to be built, by their names, from what Cargo has locked.
fn needed(package: &str) -> BTreeSet<String> {
    let mut command = Command::new(env!("CARGO"));
    command.args([
        "tree",
        "--offline",
        "--prefix",
        "none",
        "--edges",
        "normal,build",
        "--format",
        "{p}",
        "--package",
        package,
    ]);
    let output = command.current_dir(root()).output().unwrap();
    let message = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{message}");
    let lines = String::from_utf8(output.stdout).unwrap();
    lines
        .lines()
        .filter_map(|line| line.split(' ').next())
        .filter(|name| !name.is_empty())
        .map(str::to_string)
        .collect()
}

/// Protects who depends on the engine alone: no files of data, figures, commands or optimisers come with it, and few libraries.
#[test]
fn the_engine_stands_alone() {
    let needed = needed("costate");
    for foreign in
        ["serde", "serde_json", "toml", "plotters", "png", "clap", "ctrlc", "argmin", "indicatif", "costate-parts"]
    {
        assert!(!needed.contains(foreign), "{foreign}");
    }
    assert!(needed.len() <= 25, "{needed:?}");
}
