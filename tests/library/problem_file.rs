//! Problem files: whatever text they hold, the answer is a specification or a sentence.

use costate_identify::problem_file::parse;
use proptest::prelude::*;
use std::path::Path;

// Protects line numbers in text with wide characters and a byte-order mark, where bytes and characters differ.
#[test]
fn lines_are_counted_in_any_text() {
    for text in ["\u{feff}é = \"é\"\n\u{feff}", "\u{feff}\n\u{feff}\n= 3", "model = \"ä\"\n😀 = 3"] {
        let message = parse(text, Path::new("p.toml")).unwrap_err().to_string();
        assert!(message.starts_with("p.toml, line ") && message.contains("this is not TOML"), "{text:?}: {message}");
    }
}

/// Protects the reference of keys: the page is what the reader knows. `WRITE=1 cargo test --test library all_keys_are_documented` writes it.
#[test]
fn all_keys_are_documented() {
    let page = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/problem-file.md");
    let reference = costate_identify::problem_file::reference();
    if std::env::var_os("WRITE").is_some() {
        std::fs::write(&page, &reference).unwrap();
    }
    let written = std::fs::read_to_string(&page).unwrap_or_default();
    let remedy =
        "docs/problem-file.md is not that of the source: WRITE=1 cargo test --test library all_keys_are_documented";
    assert!(written == reference, "{remedy}");
    for row in reference.lines().filter(|line| line.starts_with("| `")) {
        let cells: Vec<&str> = row.split('|').map(str::trim).collect();
        assert!(cells.len() == 8 && !cells[2].is_empty() && !cells[5].is_empty(), "{row}");
    }
}

/// Protects the reference from keys that nothing reads any more, and from defaults of another time.
#[test]
fn documented_keys_are_read_and_have_their_defaults() {
    let root = &Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    // settings of schemes and quantities of modes are read by their own names for them
    let mut files = ["identify/src/problem_file.rs", "src/integrate/scheme/table.rs", "identify/src/modal.rs"]
        .map(|file| root.join(file))
        .to_vec();
    let others = std::fs::read_dir(root.join("identify/src/problem_file")).unwrap();
    files.extend(others.map(|entry| entry.unwrap().path()).filter(|path| !path.ends_with("keys.rs")));
    let reader: String = files.iter().map(|path| std::fs::read_to_string(path).unwrap()).collect();
    let reference = costate_identify::problem_file::reference();
    for name in reference.lines().filter_map(|line| line.strip_prefix("| `")?.split('`').next()) {
        assert!(reader.contains(&format!("\"{name}\"")), "nothing reads `{name}`");
    }
    let row = |name: &str| reference.lines().find(|line| line.starts_with(&format!("| `{name}` |")));
    let options = costate_identify::optimise::Options::default();
    for (name, default) in [
        ("max_evaluations", options.max_evaluations as f64),
        ("max_iterations", options.max_iterations as f64),
        ("cost_target", options.cost_target),
        ("gradient_tolerance", options.gradient_tolerance),
        ("cost_tolerance", options.cost_tolerance),
        ("step_tolerance", options.step_tolerance),
        ("constraint_tolerance", costate_identify::optimise::ConstraintOptions::default().tolerance),
    ] {
        let cell = row(name).unwrap().split('|').nth(4).unwrap().trim().parse::<f64>();
        assert_eq!(cell, Ok(default), "{name}");
    }
}

proptest! {
    // Protects against panics: arbitrary text is answered.
    #[test]
    fn arbitrary_text_never_panics(text in any::<String>()) {
        let _ = parse(&text, Path::new("p.toml"));
    }

    // Protects against panics further in: text made of the words of a problem file.
    #[test]
    fn shuffled_problem_files_never_panic(words in prop::collection::vec(prop::sample::select(vec![
        "model", "=", "\"oscillator\"", "\n", "[data]\n", "[integrator]\n", "[parameters]\n", "[cost]\n", "[optimiser]\n",
        "file", "inputs.F", "outputs", "alpha", "substeps", "c", "{", "}", ",", "[", "]", "start", "column", "fixed",
        "true", "1.5", "-3", "nan", "inf", "1e400", "99999999999999999999", "\"", "'''", "\u{feff}", "é", "#", ".",
    ]), 0..40)) {
        let _ = parse(&words.join(" "), Path::new("p.toml"));
    }

    // Protects against panics on bent files: a complete one with a piece cut out.
    #[test]
    fn files_with_a_hole_never_panic(from in 0usize..400, length in 1usize..60) {
        let complete = "model = \"oscillator\"\n[data]\nfile = \"r.csv\"\ninputs.F = { column = \"F\", interpolation = \"cubic\" }\n\
            outputs.x = { deviation = 1e-3 }\n[integrator]\nalpha = -0.05\nsubsteps = 2\n[cost]\nweights = \"unit\"\n\
            [parameters]\nc = { start = 25, scale = \"log\" }\n[optimiser]\nmethod = \"dfp\"\nmax_iterations = 10\n";
        let text: String = complete.chars().enumerate().filter(|(i, _)| !(from..from + length).contains(i)).map(|(_, c)| c).collect();
        let _ = parse(&text, Path::new("p.toml"));
    }
}
