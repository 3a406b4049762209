//! Problem files: whatever text they hold, the answer is a specification or a sentence.

use costate::problem_file::parse;
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
