//! Slips in formulas that change units, and files from a hostile world.

use super::files;
use costate::random::SplitMix64;
use costate_file::parse;
use std::path::Path;
use toml::{Table, Value};

/// All formulas of a file that are checked for units.
fn formulas(table: &Table) -> Vec<String> {
    let sections = ["mass", "force", "rates", "definitions", "start", "energy", "constraints", "outputs"];
    let of = |value: &Value| match value {
        Value::Table(own) => own.get("is").and_then(Value::as_str).map(String::from),
        other => other.as_str().map(String::from),
    };
    let tables = sections.iter().filter_map(|key| table.get(*key)?.as_table());
    tables.flat_map(|table| table.values().filter_map(of)).collect()
}

/// Names of a file with their units.
fn names(table: &Table) -> Vec<(String, String)> {
    let mut all = Vec::new();
    for key in ["coordinates", "states", "inputs", "constants", "parameters"] {
        for (name, value) in table.get(key).and_then(Value::as_table).into_iter().flatten() {
            let unit = value.as_str().or_else(|| value.get("unit")?.as_str());
            all.extend(unit.map(|unit| (name.clone(), unit.to_string())));
        }
    }
    all
}

/// Beginnings and ends of names in a formula, with their primes.
fn words(formula: &str) -> Vec<(usize, usize)> {
    let is_letter = |c: char| c.is_alphanumeric() || c == '_' || c == '\'';
    let mut all = Vec::new();
    let mut from = None;
    for (k, c) in formula.char_indices().chain([(formula.len(), ' ')]) {
        match (is_letter(c), from) {
            (true, None) => from = Some(k),
            (false, Some(begin)) => {
                all.push((begin, k));
                from = None;
            }
            _ => {}
        }
    }
    all
}

/// Formulas with a slip that changes a unit, and what it is.
fn slips(formula: &str, names: &[(String, String)]) -> Vec<(&'static str, String)> {
    let mut all = Vec::new();
    let is_number = |unit: &str| ["rad", "1", ""].contains(&unit);
    let unit_of = |word: &str| names.iter().find(|(name, _)| name == word.trim_end_matches('\'')).map(|(_, unit)| unit);
    // of numbers, all signs are right
    if !words(formula).iter().any(|(from, to)| unit_of(&formula[*from..*to]).is_some_and(|unit| !is_number(unit))) {
        return all;
    }
    let replaced = |(from, to): (usize, usize), by: &str| [&formula[..from], by, &formula[to..]].concat();
    for place in words(formula) {
        let word = &formula[place.0..place.1];
        let base = word.trim_end_matches('\'');
        let Some((_, unit)) = names.iter().find(|(name, _)| name == base) else { continue };
        if let Some((other, _)) = names.iter().find(|(_, other)| other != unit && other != "rad" && unit != "rad") {
            all.push(("another name", replaced(place, other)));
        }
        if word != base {
            all.push(("a prime is missing", replaced(place, &word[..word.len() - 1])));
        }
        // a factor that is no number
        if !is_number(unit) && formula[place.1..].starts_with('*') && !formula[..place.0].ends_with('/') {
            all.push(("a factor is missing", replaced((place.0, place.1 + 1), "")));
        }
    }
    for (sign, by) in [("*", "+"), ("/", "*"), ("^2", "^3")] {
        for (k, _) in formula.match_indices(sign) {
            // numbers alone are in any unit
            let is_beside_number = formula[..k].ends_with(|c: char| c.is_ascii_digit())
                && words(formula).iter().any(|(from, to)| *to == k && formula[*from..*to].parse::<f64>().is_ok())
                || formula[k + sign.len()..].trim_start().starts_with(|c: char| c.is_ascii_digit());
            if sign == "^2" || !is_beside_number {
                all.push(("another sign", replaced((k, k + sign.len()), by)));
            }
        }
    }
    all
}

/// Protects whoever slips: of all slips that change units, 85 of 100 are refused, and none of the ready files; what is let through is listed when it
/// fails.
#[test]
fn slips_of_units_are_refused() {
    let (mut count, mut missed) = (0, Vec::new());
    for (name, text) in files() {
        let table: Table = text.parse().unwrap();
        let path = format!("{name}.toml");
        let names = names(&table);
        let mut attempts = Vec::new();
        for formula in formulas(&table) {
            let quoted = format!("\"{formula}\"");
            let with = |(what, slip): (&'static str, String)| {
                (what, slip.clone(), text.replacen(&quoted, &format!("\"{slip}\""), 1))
            };
            attempts.extend(slips(&formula, &names).into_iter().map(with));
        }
        for (parameter, unit) in &names {
            let line = text.lines().find(|line| line.trim_start().starts_with(parameter) && line.contains("nominal"));
            if let Some(line) = line {
                let other = line.replace(&format!("unit = \"{unit}\""), &format!("unit = \"s ({unit})\""));
                attempts.push(("another unit", format!("{parameter} in s ({unit})"), text.replace(line, &other)));
            }
        }
        for (what, slip, text) in attempts {
            count += 1;
            match parse(&text, Path::new(&path)) {
                Ok(_) => missed.push(format!("{name}: {what}: {slip}")),
                // some are refused by what they make of the model
                Err(error) if !error.to_string().starts_with(&format!("{path}, line ")) => {
                    missed.push(format!("{name}: {what}: {slip}: {error}"));
                }
                Err(_) => {}
            }
        }
    }
    println!("{} of {count} slips are refused; the others:\n{}", count - missed.len(), missed.join("\n"));
    assert!(count > 500 && missed.len() * 100 <= 15 * count, "{} of {count}:\n{}", missed.len(), missed.join("\n"));
}

fn below(random: &mut SplitMix64, count: usize) -> usize {
    (random.unit() * count as f64) as usize
}

/// A text with some pieces that are others, or elsewhere.
fn mutated(text: &str, random: &mut SplitMix64) -> String {
    const PIECES: [&str; 26] = [
        "(", ")", "\"", "'", "^", "*", "-", "=", "[", "]", "{", "}", ",", "1e308", "-1", "0", "nan", "inf", "x",
        "lambda(", "if(", "\n", "[[", "é", " and ", "<",
    ];
    let mut all: Vec<char> = text.chars().collect();
    for _ in 0..1 + below(random, 3) {
        let at = below(random, all.len() + 1);
        let end = (at + 1 + below(random, 6)).min(all.len());
        let piece = PIECES[below(random, PIECES.len())].chars();
        match below(random, 4) {
            0 => drop(all.drain(at..end)),
            1 => drop(all.splice(at..at, piece)),
            2 => drop(all.splice(at..end, piece)),
            _ => {
                let copy: Vec<char> = all[at..end].to_vec();
                let to = below(random, all.len() + 1);
                drop(all.splice(to..to, copy));
            }
        }
    }
    all.into_iter().collect()
}

/// A file with a slip in one of its texts in quotes, or anywhere.
fn mutated_file(text: &str, random: &mut SplitMix64) -> String {
    let pieces: Vec<&str> = text.split('"').collect();
    if pieces.len() < 3 || random.unit() < 0.3 {
        return mutated(text, random);
    }
    let quoted = 2 * below(random, pieces.len() / 2) + 1;
    let other = mutated(pieces[quoted], random);
    let with = |(k, piece): (usize, &&str)| if k == quoted { other.clone() } else { piece.to_string() };
    pieces.iter().enumerate().map(with).collect::<Vec<String>>().join("\"")
}

/// Protects the reader from files of a hostile world: nothing panics or hangs, and each refusal names the file. `MUTATED=100000` tries more.
#[test]
fn mutated_files_are_read_or_refused() {
    let count: usize = std::env::var("MUTATED").ok().and_then(|count| count.parse().ok()).unwrap_or(2000);
    let files = files();
    let mut random = SplitMix64::new(7);
    let (mut read, mut without_line) = (0, Vec::new());
    for k in 0..count {
        let (name, text) = &files[k % files.len()];
        let text = mutated_file(text, &mut random);
        match parse(&text, Path::new("file.toml")) {
            Ok(_) => read += 1,
            Err(error) => {
                let error = error.to_string();
                assert!(error.contains("file.toml") || error.contains("model `"), "{name}: {error}\n{text}");
                if !error.contains(", line ") {
                    without_line.push(error);
                }
            }
        }
    }
    println!(
        "{read} of {count} are read; {} refused without a line, such as\n{:?}",
        without_line.len(),
        without_line.first()
    );
    assert!(read < count && without_line.len() * 20 <= count, "{:#?}", &without_line[..without_line.len().min(20)]);
}

/// Protects from files that are made to be large or deep: refused at once, in words.
#[test]
fn large_and_deep_files_are_refused() {
    let with = |force: &str, more: &str| {
        let text =
            format!("coordinates = {{ x = \"m\" }}\nmass = {{ x = \"1[kg]\" }}\nforce = {{ x = \"{force}\" }}\n{more}");
        parse(&text, Path::new("file.toml")).map(|_| ()).err().map(|error| error.to_string()).unwrap_or_default()
    };
    let chain = |count: usize| {
        let line = |k: usize| format!("d{} = \"d{k}*d{k}*0.5[1/m]\"\n", k + 1);
        (0..count).map(line).collect::<String>()
    };
    assert!(with(&format!("{}x{}", "(".repeat(900), ")".repeat(900)), "").contains("one in another"));
    assert!(with(&["x"; 900].join("*"), "").contains("one in another"));
    assert!(with(&"x".repeat(5000), "").contains("more than 4000"));
    assert!(
        with("0*d300", &format!("[definitions]\nd0 = \"x\"\n{}", chain(300))).contains("[m]"),
        "as many steps as names"
    );
    assert!(with("a", "[definitions]\na = \"b\"\nb = \"a\"\n").contains("leads to itself"));
    assert!(with("1", &format!("[definitions]\na = \"1{}\"", " ".repeat(1_100_000))).contains("bytes"));
    let many: String = (0..501).map(|k| format!("x{k} = \"m\"\n")).collect();
    let refused = parse(&format!("[coordinates]\n{many}"), Path::new("file.toml")).err().unwrap().to_string();
    assert!(refused.contains("more than 500"), "{refused}");
}
