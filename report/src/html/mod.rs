//! One page for reading, printing and signing, made of what the folder of an identification holds: `result.json` and figures.
//!
//! The page is a single file that needs no network. It is light or dark as its reader wants, prints on A4 and reads on a phone.

mod figures;
mod foundations;
mod outcome;
mod page;
mod verdict;

use super::SCHEMA;
use costate_data::files::{self, write_atomically};
use costate_identify::{Error, Result};
use figures::Figures;
use page::{Page, text};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The name of the page in its folder.
pub const REPORT: &str = "report.html";

/// A sentence on how well records are reproduced that were not fitted (`validation`), beside those that were (`rmse`).
pub fn validation_in_words(result: &Value) -> Option<String> {
    let (mark, said) = verdict::validated(result)?;
    let holds = if mark == verdict::Mark::Good { "holds" } else { "does not hold" };
    Some(format!("the model {holds} on these records: {said}"))
}

/// The tag by which pages of ours are recognised.
const GENERATOR: &str = "<meta name=\"generator\" content=\"costate ";

const STYLE: &str = include_str!("report.css");
const SCRIPT: &str = include_str!("report.js");

/// The result that a folder holds, or that is this file; and the folder.
///
/// # Errors
/// If there is none, or it cannot be read, or is of another command or of a version that this one does not know.
pub fn read(path: &Path) -> Result<(Value, PathBuf)> {
    let again = "give the folder that `costate identify` wrote, such as out/MODEL, or its result.json";
    let (file, folder) = match path.is_dir() {
        true => (path.join("result.json"), path.to_path_buf()),
        false => (path.to_path_buf(), path.parent().map(Path::to_path_buf).unwrap_or_default()),
    };
    if path.is_dir() && !file.exists() {
        return Err(Error::file(path, None, "there is no result.json in this folder", again));
    }
    let bytes = files::read(&file)?;
    let result: Value = serde_json::from_slice(&bytes).map_err(|error| {
        let problem = format!("this is not JSON: {error}");
        Error::file(&file, Some(error.line() as u64), problem, "identify again, which rewrites it")
    })?;
    check(&result).map_err(|(problem, remedy)| Error::file(&file, None, problem, remedy))?;
    Ok((result, folder))
}

/// Checks that a document is a result of an identification that this version reads: problem and remedy if not.
fn check(result: &Value) -> std::result::Result<(), (String, String)> {
    let no_result =
        || ("it is no result of an identification".to_string(), "give that of `costate identify`".to_string());
    if result.get("signals").is_some() || result["model"].as_str().is_none() {
        return Err(no_result());
    }
    let Some(schema) = result.get("schema") else {
        let problem = "it has no `schema`: a version of costate before there were reports wrote it";
        return Err((problem.to_string(), "identify again with this version".to_string()));
    };
    if *schema != SCHEMA {
        let version = result["costate_version"].as_str().unwrap_or("another version");
        let problem = format!("its `schema` is {schema}, and this version reads {SCHEMA}");
        return Err((problem, format!("take costate {version}, which wrote it, or identify again with this version")));
    }
    if result["parameters"].as_array().is_none() { Err(no_result()) } else { Ok(()) }
}

/// Writes the page for the result of a folder to a file.
///
/// # Errors
/// [`Error::Data`].
pub fn write(result: &Value, folder: &Path, file: &Path) -> Result<()> {
    Ok(write_atomically(file, document(result, folder)?.as_bytes())?)
}

/// True if there is a page of an earlier result at this path.
pub(super) fn is_ours(path: &Path) -> bool {
    std::fs::read_to_string(path).is_ok_and(|text| text.contains(GENERATOR))
}

/// Removes the page of an earlier result from a folder; what somebody else wrote stays.
pub(super) fn remove(folder: &Path) -> Result<()> {
    let path = folder.join(REPORT);
    if !is_ours(&path) {
        return Ok(());
    }
    let remedy = "remove it, as it is that of an earlier result";
    std::fs::remove_file(&path).map_err(|error| Error::io("remove", &path, error, remedy))
}

/// The page as text.
///
/// # Errors
/// [`Error::Data`] if a figure cannot be read.
pub fn document(result: &Value, folder: &Path) -> Result<String> {
    let mut figures = Figures::read(result, folder)?;
    let title = format!("Identification of {}", text(&result["model"]));
    let mut page = Page::default();
    outcome::head(&mut page, result, &title, &mut figures);
    verdict::section(&mut page, result);
    foundations::sections(&mut page, result);
    outcome::sections(&mut page, result, &mut figures);
    outcome::end(&mut page, result);
    let version = env!("CARGO_PKG_VERSION");
    Ok(format!(
        "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         {GENERATOR}{version}\">\n<title>{}</title>\n<style>\n{STYLE}</style>\n</head>\n<body>\n{}\
         <script>\n{SCRIPT}</script>\n</body>\n</html>\n",
        page::escaped(&title),
        page.finish()
    ))
}
