//! Who may know whom: the front page of the library says that arrows point down only.

use std::path::{Path, PathBuf};

/// A module, all others that it may name, and the sentence that this protects.
const ARROWS: [(&str, &[&str], &str); 8] = [
    ("number", &[], "numbers know nothing of what is computed with them"),
    ("linear/sparse", &[], "linear algebra knows nothing of mechanisms"),
    ("linear/least_squares", &[], "a reduced least-squares problem is numbers alone"),
    (
        "integrate/scheme",
        &["diagnosis", "error", "signature", "system"],
        "a scheme is the equation that it solves: it knows the waist alone",
    ),
    (
        "integrate/diagnosis",
        &["error", "model", "shown", "signature", "sparse", "system"],
        "messages are made at the waist",
    ),
    ("identify/optimise", &["error", "interrupt", "least_squares"], "optimisers see vectors, not mechanisms"),
    (
        "integrate/simulate",
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
        "gradient/cost",
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

/// The modules of this crate that lines of code name.
fn named(text: &str) -> Vec<String> {
    let code = text.lines().filter(|line| !line.trim_start().starts_with("//"));
    let names = code.flat_map(|line| line.split("crate::").skip(1).map(str::to_string).collect::<Vec<_>>());
    names.map(|rest| rest.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect()).collect()
}

/// Protects the house: a module names only what its sentence lets it know.
#[test]
fn arrows_point_down() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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

/// Protects whoever looks for something: a dozen folders, each of which begins with what comes in and what goes out, and no loose files.
#[test]
fn the_house_has_a_dozen_rooms() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
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
    assert!(rooms <= 12, "{rooms} folders");
}
