//! Where a result comes from: which program, called how and when, reading which files, stopping at what.

use costate_identify::Settings;
use costate_identify::{Error, Result};
use hmac_sha256::Hash;
use serde_json::{Value, json};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

/// The number of the layout of `result.json`: it grows when a key changes its meaning or goes, not when one is added.
pub const SCHEMA: u64 = 1;

/// Origin of a result, for `result.json`: what it does not know of itself.
#[derive(Debug, Clone)]
pub struct Origin {
    /// Summary of the model, in a line.
    pub summary: String,
    /// The command that can be given again.
    pub command: String,
    /// Time when the command began: ISO 8601, UTC.
    pub date: String,
    /// Files that were read, with checksums.
    pub input_files: Vec<InputFile>,
    /// Notes on what was assumed and may surprise, in sentences.
    pub notes: Vec<String>,
}

/// A file that was read.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct InputFile {
    /// Purpose: `problem`, `data`, `validation` (data that were compared, but not fitted), or `result` (whose values it began with).
    pub role: &'static str,
    /// Path of the file, as it was given.
    pub path: String,
    /// Size of the file; `None` for what is no ordinary file and cannot be read again.
    pub bytes: Option<u64>,
    /// SHA-256 of the file in hexadecimal digits; `None` as above.
    pub sha256: Option<String>,
}

impl InputFile {
    /// A file with its checksum.
    pub fn new(role: &'static str, path: &Path) -> Self {
        let sum = checksum(path);
        let (bytes, sha256) = sum.map_or((None, None), |(bytes, sum)| (Some(bytes), Some(sum)));
        InputFile { role, path: path.display().to_string(), bytes, sha256 }
    }
}

/// Size and SHA-256 of an ordinary file that can be read.
fn checksum(path: &Path) -> Option<(u64, String)> {
    // a pipe is read once, and not here
    std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut file = File::open(path).ok()?;
    let (mut hash, mut count, mut piece) = (Hash::new(), 0, vec![0; 1 << 16]);
    loop {
        match file.read(&mut piece).ok()? {
            0 => break,
            read => {
                hash.update(&piece[..read]);
                count += read as u64;
            }
        }
    }
    Some((count, hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()))
}

impl Origin {
    /// Adds itself and the `settings` of the search to a result.
    pub fn extend_json(&self, settings: &Settings, result: &mut Value) {
        let options = &settings.options;
        result["summary"] = json!(self.summary);
        result["command"] = json!(self.command);
        result["date"] = json!(self.date);
        result["input_files"] = json!(self.input_files);
        result["notes"] = json!(self.notes);
        result["tolerances"] = json!({
            "gradient": options.gradient_tolerance,
            "cost": options.cost_tolerance,
            "step": options.step_tolerance,
            "constraint": settings.constraints.tolerance,
            // null: it stops at no cost
            "cost_target": options.cost_target,
            "max_evaluations": options.max_evaluations,
            "max_iterations": options.max_iterations,
        });
    }
}

/// Arguments of a process as a line that a POSIX shell reads back; of the program, its name without the folder.
pub fn command_line(arguments: impl IntoIterator<Item = String>) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "_@%+=:,./-".contains(c);
    let quoted = |(k, word): (usize, String)| {
        let name = PathBuf::from(&word).file_name().map(|name| name.to_string_lossy().into_owned());
        let word = name.filter(|_| k == 0).unwrap_or(word);
        if !word.is_empty() && word.chars().all(plain) { word } else { format!("'{}'", word.replace('\'', "'\\''")) }
    };
    arguments.into_iter().enumerate().map(quoted).collect::<Vec<_>>().join(" ")
}

/// The words of a [`command_line`]; `None` if it is none: a quotation without an end, or what a shell would do more with.
pub fn words(line: &str) -> Option<Vec<String>> {
    let (mut words, mut word, mut begun) = (Vec::new(), String::new(), false);
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        match c {
            ' ' if begun => {
                words.push(std::mem::take(&mut word));
                begun = false;
            }
            ' ' => {}
            '\'' => {
                begun = true;
                loop {
                    match rest.next()? {
                        '\'' => break,
                        c => word.push(c),
                    }
                }
            }
            '\\' => {
                begun = true;
                word.push(rest.next()?);
            }
            '"' | '$' | '`' | '|' | '&' | ';' | '<' | '>' => return None,
            c => {
                begun = true;
                word.push(c);
            }
        }
    }
    words.extend(begun.then_some(word));
    Some(words)
}

/// Now, or the time that `SOURCE_DATE_EPOCH` names (seconds since 1970), for results that are to be the same twice.
///
/// # Errors
/// If that variable is set to something else.
pub fn date() -> Result<String> {
    const NAME: &str = "SOURCE_DATE_EPOCH";
    let Some(set) = std::env::var_os(NAME) else {
        // a clock that stands before 1970 is not set at all
        let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
        return Ok(utc(now));
    };
    /// The end of the year 9999: later ones have five digits.
    const LAST: u64 = 253_402_300_799;
    let text = set.to_string_lossy();
    match text.trim().parse::<u64>() {
        Ok(seconds) if seconds <= LAST => Ok(utc(seconds)),
        _ => {
            let problem = format!("`{text}` is no time");
            Err(Error::invalid(NAME, problem, "set it to whole seconds since 1970, before the year 10000, or unset it"))
        }
    }
}

/// Seconds since 1970 as `2001-02-03T04:05:06Z`.
fn utc(seconds: u64) -> String {
    let (mut day, second) = (seconds / 86_400, seconds % 86_400);
    let is_leap = |year: u64| year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    let mut year = 1970;
    while day >= 365 + u64::from(is_leap(year)) {
        day -= 365 + u64::from(is_leap(year));
        year += 1;
    }
    let february = 28 + u64::from(is_leap(year));
    let mut month = 1;
    for length in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30] {
        if day < length {
            break;
        }
        day -= length;
        month += 1;
    }
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{:02}T{hour:02}:{minute:02}:{second:02}Z", day + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protects dates around leap days, and at the ends.
    #[test]
    fn seconds_are_dates() {
        for (seconds, date) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (951_868_800, "2000-03-01T00:00:00Z"),
            (1_704_067_199, "2023-12-31T23:59:59Z"),
            (1_735_603_200, "2024-12-31T00:00:00Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
            (253_402_300_799, "9999-12-31T23:59:59Z"),
        ] {
            assert_eq!(utc(seconds), date);
        }
    }

    /// Protects commands that are to be given again: what a shell would change is quoted.
    #[test]
    fn commands_can_be_given_again() {
        let line = |words: &[&str]| command_line(words.iter().map(|word| word.to_string()));
        assert_eq!(
            line(&["/a b/costate", "identify", "x/y.toml", "--fix", "a,b"]),
            "costate identify x/y.toml --fix a,b"
        );
        assert_eq!(line(&["costate", "m_1 + m_2 = 3", "it's", ""]), r"costate 'm_1 + m_2 = 3' 'it'\''s' ''");
        for case in [&["costate", "m_1 + m_2 = 3", "it's", "", "--fix", "a\\b \"x\" $HOME"][..], &["costate"], &[]] {
            assert_eq!(words(&line(case)).unwrap(), case);
        }
        assert_eq!(words("costate 'open"), None);
        assert_eq!(words("costate a; rm b"), None);
    }

    /// Protects checksums: that of the empty file is known, what is no file has none.
    #[test]
    fn files_have_checksums() {
        let path = std::env::temp_dir().join(format!("costate-sum-{}", std::process::id()));
        std::fs::write(&path, b"").unwrap();
        let known = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(checksum(&path), Some((0, known.to_string())));
        std::fs::remove_file(&path).unwrap();
        assert_eq!(checksum(&path), None);
    }
}
