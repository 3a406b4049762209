//! Sources of measurements, as stated.

use super::{InputColumn, OutputColumn};
use crate::error::Locate;
use crate::{Error, Means, Remedy, Result};
use costate::Interpolation;
use costate_data::Record;
use std::path::{Path, PathBuf};

/// Source of measurements: files, and the columns that are taken.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DataSource {
    /// The file, in CSV or of MATLAB: see [`Record::read`].
    pub file: PathBuf,
    /// Further files of the same experiment, each with times of its own.
    pub more_files: Vec<PathBuf>,
    /// Name of the time column; by default `t` or `time`, perhaps with its unit: `time [s]`.
    pub time: Option<String>,
    /// Unit of the time column, where its header names none, or another one.
    pub time_unit: Option<String>,
    /// Inputs with a column; the others keep the scenario's signals. Default: columns named like inputs, `F` or `F [N]`.
    pub inputs: Option<Vec<InputColumn>>,
    /// Interpolation of inputs that are matched by name.
    pub interpolation: Option<Interpolation>,
    /// Outputs with a column. Default: columns named like outputs, `a` or `a [m/s^2]`.
    pub outputs: Option<Vec<OutputColumn>>,
    /// A column of numbers: rows of one number, one after another, are an experiment of their own. Or `at-gaps`: so is what lies between gaps.
    pub split: Option<String>,
    /// The largest interval between two samples of an input that is interpolated, s; by default a few of its usual ones, see
    /// `docs/experiments.md`.
    pub max_gap: Option<f64>,
    /// Samples before this time are left out, s.
    pub from: Option<f64>,
    /// Samples after this time are left out, s.
    pub until: Option<f64>,
}

impl DataSource {
    /// All of its files.
    pub fn files(&self) -> impl Iterator<Item = &Path> {
        std::iter::once(&self.file).chain(&self.more_files).map(PathBuf::as_path)
    }

    /// The source with other files: `given` is one, or several of one experiment with commas between them.
    pub fn with_files(&self, given: &Path) -> DataSource {
        let text = given.to_string_lossy();
        let mut files: Vec<PathBuf> = match given.exists() {
            true => vec![given.to_path_buf()],
            false => text.split(',').map(|name| PathBuf::from(name.trim())).collect(),
        };
        let more_files = files.split_off(1); // a split text has a first part
        DataSource { file: files.swap_remove(0), more_files, ..self.clone() }
    }

    /// Reads all of them.
    ///
    /// # Errors
    /// As [`Record::read`]; [`costate::Error::Invalid`] if no file is named, and for several files that are to be split.
    pub(crate) fn records(&self) -> Result<Vec<Record>> {
        if self.file.as_os_str().is_empty() {
            let remedy = Remedy::by("add: file = \"record.csv\"", Means::Record);
            return Err(Error::invalid("[data]", "it names no file", remedy).under(&["data"]));
        }
        if let (Some(column), [_, ..]) = (&self.split, &self.more_files[..]) {
            let problem = format!("the experiment has {} files", 1 + self.more_files.len());
            let remedy = "cut each file into those of one experiment, and leave out `split`";
            return Err(Error::invalid(format!("split = \"{column}\""), problem, remedy).under(&["split"]));
        }
        self.files().map(Record::read).collect::<costate_data::Result<_>>().map_err(|error| error.under(&["file"]))
    }
}
