//! Documentation: its files run, its links lead somewhere, its pages are in the book.

use crate::run;
use run::Place;
use std::path::{Path, PathBuf};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap().to_path_buf()
}

/// Blocks of a page in a language, each with the line of its first.
fn blocks(page: &str, language: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut open: Option<Vec<&str>> = None;
    for line in page.lines() {
        match &mut open {
            None if line == format!("```{language}") => open = Some(Vec::new()),
            Some(lines) if line == "```" => {
                all.push(lines.join("\n") + "\n");
                open = None;
            }
            Some(lines) => lines.push(line),
            None => {}
        }
    }
    all
}

// Protects answers in the cookbook: each file in it is what a person would write, and passes its check beside the record that it names.
#[test]
fn files_of_the_cookbook_run() {
    let page = std::fs::read_to_string(root().join("docs/cookbook.md")).unwrap();
    let place = Place::new();
    place.write("oscillator.csv", std::fs::read_to_string(root().join("examples/oscillator.csv")).unwrap());
    let files = blocks(&page, "toml");
    assert!(files.len() >= 10, "{}", files.len());
    for text in files {
        let name = text.lines().next().and_then(|line| line.strip_prefix("# ")).unwrap().to_string();
        place.write(&name, &text);
        let run = place.run(&format!("check {name} --out checked"));
        assert!(run.code == 0, "{name}: {}{}", run.out, run.err);
    }
}

// Names of a page's headings in links, as GitHub and mdbook make them.
fn anchors(page: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(page).unwrap_or_default();
    let headings =
        text.lines().filter_map(|line| line.strip_prefix('#')).map(|line| line.trim_start_matches('#').trim());
    let plain = |c: char| match c {
        ' ' => Some('-'),
        c if c.is_alphanumeric() || "-_".contains(c) => c.to_lowercase().next(),
        _ => None,
    };
    headings.map(|heading| heading.chars().filter_map(plain).collect()).collect()
}

// Protects readers from dead ends: relative links of all pages lead to files that are there, and to headings that are in them; every page is in the book,
// which lies where links to other folders lead to these, too.
#[test]
fn links_lead_somewhere() {
    let docs = root().join("docs");
    let pages: Vec<PathBuf> = std::fs::read_dir(&docs)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "md"))
        .collect();
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    let mut dead = Vec::new();
    for page in pages.iter().chain([&root().join("README.md"), &root().join("python/README.md")]) {
        let Ok(text) = std::fs::read_to_string(page) else { continue };
        let name = page.file_name().unwrap().to_string_lossy().into_owned();
        if page.starts_with(&docs) && name != "SUMMARY.md" && !summary.contains(&format!("({name})")) {
            dead.push(format!("{name} is not in SUMMARY.md"));
        }
        for part in text.split("](").skip(1) {
            let target = part.split(')').next().unwrap_or_default();
            let file = target.split('#').next().unwrap_or_default();
            if target.contains("://") || target.contains(' ') {
                continue;
            }
            let file = if file.is_empty() { page.clone() } else { page.parent().unwrap().join(file) };
            let is_there = match target.split_once('#') {
                Some((_, heading)) if file.extension().is_some_and(|own| own == "md") => {
                    anchors(&file).iter().any(|own| own == heading)
                }
                _ => file.exists(),
            };
            if !is_there {
                dead.push(format!("{name}: {target}"));
            }
        }
    }
    assert!(dead.is_empty(), "{dead:#?}");
    let book: toml::Table = std::fs::read_to_string(root().join("book.toml")).unwrap().parse().unwrap();
    assert_eq!(book["build"]["build-dir"].as_str().map(|own| own.contains('/')), Some(false));
}
