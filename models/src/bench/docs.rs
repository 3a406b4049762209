//! Numbers in pages, held against what the commands beside them print.
//!
//! A comment in a page names a command, and what stands below comes from it:
//!
//! ```text
//! <!-- from `costate control triple_pendulum --method bfgs`: 194, 276 -->
//! ```
//!
//! the paragraph, list or table below must hold these numbers, and the command must print numbers that round to them; `: all` stands for all
//! numbers of what stands below;
//!
//! ```text
//! <!-- from `costate steps squeezer` -->
//! ```
//!
//! every line of the quotation below must be printed, in any order, numbers to a thousandth; a line may end with `...`. Commands are run
//! in the current folder, without a shell; those of `cargo` are the slow ones. `{emps}` in a command stands for a record that the user has named.

use costate_identify::{Error, Result};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

/// What a page takes from a command.
struct Claim {
    page: PathBuf,
    line: u64,
    command: String,
    /// Numbers as they are written; none where lines are quoted.
    numbers: Vec<String>,
    /// What stands below.
    text: String,
}

/// Numbers in a text: where each begins and ends. A sign belongs to it where nothing stands before it.
fn numbers(text: &str) -> Vec<&str> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        // `phi1` and `x2` are names
        let is_name = at > 0 && (bytes[at - 1].is_ascii_alphanumeric() || bytes[at - 1] == b'_');
        let is_negative = at > 0
            && bytes[at - 1] == b'-'
            && at.checked_sub(2).is_none_or(|before| !bytes[before].is_ascii_alphanumeric());
        let begin = if is_negative { at - 1 } else { at };
        let digits = |from: usize| from + bytes[from..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        at = digits(at);
        if bytes.get(at) == Some(&b'.') && bytes.get(at + 1).is_some_and(u8::is_ascii_digit) {
            at = digits(at + 1);
        }
        if bytes.get(at) == Some(&b'e') {
            let from = if matches!(bytes.get(at + 1), Some(b'-' | b'+')) { at + 2 } else { at + 1 };
            if digits(from) > from {
                at = digits(from);
            }
        }
        if !is_name {
            found.push(&text[begin..at]);
        }
    }
    found
}

/// Half of the last digit that is written.
fn resolution(number: &str) -> f64 {
    let (digits, exponent) = number.split_once('e').unwrap_or((number, "0"));
    let decimals = digits.split_once('.').map_or(0, |(_, decimals)| decimals.len());
    // both are numbers by how they were found
    let exponent: i32 = exponent.parse().unwrap_or(0);
    0.5 * 10f64.powi(exponent - decimals as i32)
}

/// True if one of the printed numbers rounds to the written one; where that has no sign, theirs does not matter.
fn is_among(written: &str, printed: &[f64]) -> bool {
    let Ok(value) = written.parse::<f64>() else { return false };
    // the last digit may be rounded either way
    let allowed = resolution(written) * (1.0 + 1e-6);
    let is_signed = written.starts_with('-');
    printed.iter().any(|printed| (if is_signed { *printed } else { printed.abs() } - value).abs() <= allowed)
}

/// The claims of a page.
fn claims(page: &Path, text: &str) -> Result<Vec<Claim>> {
    let lines: Vec<&str> = text.lines().collect();
    let mut all = Vec::new();
    for ((k, line), row) in lines.iter().enumerate().zip(1..) {
        let wrong = || {
            let remedy = "write <!-- from `COMMAND`: NUMBER, NUMBER --> or <!-- from `COMMAND`: all --> above a paragraph, or without numbers above a ```text block";
            Error::file(page, Some(row), "this comment names no command and what comes from it", remedy)
        };
        let Some(rest) = line.trim().strip_prefix("<!-- from `") else {
            // nearly such a comment would hold nothing, without a word
            let letters: String = line.to_lowercase().split_whitespace().collect();
            match letters.strip_prefix("<!--from") {
                Some(rest)
                    if rest.is_empty()
                        || rest.starts_with('`')
                        || rest.contains("costate")
                        || rest.contains("cargo") =>
                {
                    return Err(wrong());
                }
                _ => continue,
            }
        };
        let (command, rest) = rest.split_once('`').ok_or_else(wrong)?;
        let rest = rest.strip_suffix("-->").ok_or_else(wrong)?.trim();
        let is_blank = |line: &&&str| line.trim().is_empty();
        let below = lines[k + 1..].iter().skip_while(|line| is_blank(line) || line.starts_with("<!-- from")).copied();
        let (listed, text): (Vec<String>, Vec<&str>) = match rest.strip_prefix(':') {
            Some(list) => {
                let text: Vec<&str> = below.take_while(|line| !line.trim().is_empty()).collect();
                let listed: Vec<String> = match list.trim() {
                    "all" => text.iter().flat_map(|line| numbers(line)).map(str::to_string).collect(),
                    list => list.split(',').map(|number| number.trim().to_string()).collect(),
                };
                if listed.is_empty() || listed.iter().any(|number| numbers(number) != [number.as_str()]) {
                    return Err(wrong());
                }
                (listed, text)
            }
            None if rest.is_empty() => {
                let mut below = below;
                if below.next() != Some("```text") {
                    return Err(wrong());
                }
                let quoted: Vec<&str> = below.take_while(|line| *line != "```").collect();
                if quoted.iter().all(|line| line.trim().is_empty()) {
                    return Err(wrong());
                }
                (Vec::new(), quoted)
            }
            None => return Err(wrong()),
        };
        let (page, line) = (page.to_path_buf(), row);
        all.push(Claim { page, line, command: command.to_string(), numbers: listed, text: text.join("\n") });
    }
    Ok(all)
}

/// A line without its numbers and with single spaces, and its numbers.
fn shape(line: &str) -> (String, Vec<f64>) {
    let mut rest = line;
    let mut words = String::new();
    let mut values = Vec::new();
    for number in numbers(line) {
        // it is a part of the line, and after those before it
        let at = number.as_ptr() as usize - rest.as_ptr() as usize;
        words += &rest[..at];
        words.push('#');
        rest = &rest[at + number.len()..];
        values.extend(number.parse::<f64>());
    }
    words += rest;
    (words.split_whitespace().collect::<Vec<_>>().join(" "), values)
}

impl Claim {
    /// What of it is not so.
    fn faults(&self, printed: &str) -> Vec<String> {
        let said: Vec<f64> = numbers(printed).iter().filter_map(|number| number.parse().ok()).collect();
        if !self.numbers.is_empty() {
            let stand = numbers(&self.text);
            let of = |number: &String| {
                let missing = format!("{number} does not stand below");
                let stale = format!("{number} is not what the command prints");
                let is_here = stand.contains(&number.as_str());
                [(!is_here).then_some(missing), (!is_among(number, &said)).then_some(stale)]
            };
            return self.numbers.iter().flat_map(of).flatten().collect();
        }
        let shapes: Vec<_> = printed.lines().map(shape).collect();
        let stands = |line: &&str| {
            let (wanted, values) = shape(line);
            let part = wanted.strip_suffix("...").map(str::trim_end);
            shapes.iter().any(|(words, found)| {
                let alike = part.map_or(*words == wanted, |part| words.starts_with(part));
                let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-3 * b.abs();
                alike && found.len() >= values.len() && found.iter().zip(&values).all(near)
            })
        };
        let lines = self.text.lines().filter(|line| !matches!(line.trim(), "" | ".." | "..."));
        lines.filter(|line| !stands(line)).map(|line| format!("not printed: {line}")).collect()
    }
}

/// A measured record by name, and its file if the user has named one.
pub(super) type Record<'a> = (&'a str, Option<&'a PathBuf>);

/// A word of a command, with the files of records in the place of their names.
fn filled(word: &str, records: &[Record<'_>]) -> String {
    records.iter().fold(word.to_string(), |word, (name, file)| match file {
        Some(file) => word.replace(&format!("{{{name}}}"), &file.to_string_lossy()),
        None => word,
    })
}

/// What a command prints on both of its streams. Its exit code is 1 where it fails on what it was asked, which a page may be about; any other
/// code is none of an answer.
fn printed(command: &str, records: &[Record<'_>]) -> std::result::Result<String, String> {
    if command.contains("--docs") {
        return Err("it would check pages without end".into());
    }
    let mut words = command.split_whitespace();
    let program = words.next().unwrap_or_default();
    let own = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut run = Command::new(if program == "costate" { own.as_path() } else { Path::new(program) });
    let output = run.args(words.map(|word| filled(word, records))).output().map_err(|error| error.to_string())?;
    let streams = [&output.stdout, &output.stderr].map(|bytes| String::from_utf8_lossy(bytes).into_owned());
    match output.status.code() {
        Some(0 | 1) => Ok(streams.concat()),
        _ => Err(format!("{}: {}", output.status, streams[1].lines().next().unwrap_or("it said nothing"))),
    }
}

/// The pages among files and folders.
fn pages(paths: &[&PathBuf]) -> Result<Vec<PathBuf>> {
    let unread =
        |path: &Path, error: std::io::Error| Error::file(path, None, error.to_string(), "check the path: --docs PATH");
    let mut all = Vec::new();
    for path in paths {
        if !path.is_dir() {
            all.push(path.to_path_buf());
            continue;
        }
        for entry in std::fs::read_dir(path).map_err(|error| unread(path, error))? {
            let page = entry.map_err(|error| unread(path, error))?.path();
            if page.extension().is_some_and(|extension| extension == "md") {
                all.push(page);
            }
        }
    }
    all.sort();
    Ok(all)
}

/// Checks all pages; only commands of costate itself if it is to be `quick`, and none of a record that is not there. The sentences are told one by one; true if nothing is stale.
///
/// # Errors
/// Pages that cannot be read, and comments that do not say what they mean; no claim at all.
pub(super) fn check(paths: &[&PathBuf], quick: bool, records: &[Record<'_>], tell: &dyn Fn(&str)) -> Result<bool> {
    let mut by_command: BTreeMap<String, Vec<Claim>> = BTreeMap::new();
    for page in pages(paths)? {
        let text = std::fs::read_to_string(&page)
            .map_err(|error| Error::file(&page, None, error.to_string(), "check the path: --docs PATH"))?;
        for claim in claims(&page, &text)? {
            by_command.entry(claim.command.clone()).or_default().push(claim);
        }
    }
    if by_command.is_empty() {
        let remedy = "name a command above them: <!-- from `COMMAND`: NUMBER, NUMBER -->";
        return Err(Error::invalid("--docs", "no page names a command for its numbers", remedy));
    }
    let (mut good, mut held, mut slow) = (true, 0, 0);
    let mut absent: BTreeMap<&str, usize> = BTreeMap::new();
    // what cargo builds may take the place of this very program: its own commands come first
    let (of_cargo, own): (Vec<_>, Vec<_>) = by_command.iter().partition(|(command, _)| command.starts_with("cargo"));
    for (command, claims) in own.into_iter().chain(of_cargo) {
        if quick && command.starts_with("cargo") {
            slow += 1;
            continue;
        }
        let is_absent = |(name, file): &&Record<'_>| file.is_none() && command.contains(&format!("{{{name}}}"));
        if let Some((name, _)) = records.iter().find(is_absent) {
            *absent.entry(name).or_default() += 1;
            continue;
        }
        tell(command);
        let printed = printed(command, records);
        for claim in claims {
            let faults = match &printed {
                Ok(printed) => claim.faults(printed),
                Err(error) => vec![format!("the command does not answer: {error}")],
            };
            for fault in &faults {
                tell(&format!("  {}:{}: {fault}", claim.page.display(), claim.line));
            }
            good &= faults.is_empty();
            held += claim.numbers.len().max(1);
        }
    }
    let verdict = if good { "none is stale" } else { "STALE" };
    let left = if slow == 0 { String::new() } else { format!("; slow commands that were left out: {slow}") };
    let absent: String =
        absent.iter().map(|(name, count)| format!("; {count} for want of a record, --{name} FILE")).collect();
    tell(&format!("numbers and quotations: {held}, {verdict}{left}{absent}"));
    Ok(good)
}
