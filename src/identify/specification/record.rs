//! Where a record is.

use std::path::{Path, PathBuf};

/// Reads `path` relative to the folder of `base`.
pub(crate) fn beside(base: &Path, path: &Path) -> PathBuf {
    match base.parent() {
        Some(folder) if path.is_relative() => folder.join(path),
        _ => path.to_path_buf(),
    }
}
