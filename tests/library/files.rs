//! Writing files: whole or not at all, and a sentence with a remedy when it is refused.

use costate_data::Error;
use costate_data::files::write_atomically;
use std::fs;
use std::path::{Path, PathBuf};

/// An empty folder of its own for each test.
fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("costate-files-{}-{name}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn message(path: &Path) -> String {
    match write_atomically(path, b"x").unwrap_err() {
        error @ Error::Io { .. } => error.to_string(),
        other => panic!("{other:?}"),
    }
}

// Protects a previous, longer file from showing through, and the folder from debris.
#[test]
fn an_old_file_is_replaced_whole() {
    let folder = folder("replace");
    let path = folder.join("out.csv");
    fs::write(&path, "an older and longer file\n".repeat(9)).unwrap();
    write_atomically(&path, b"new").unwrap();
    assert_eq!(fs::read(&path).unwrap(), b"new");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    fs::remove_dir_all(&folder).unwrap();
}

// Protects the user from results lost without a word: every refusal says what to do, and leaves no half-written file.
#[test]
fn places_that_cannot_be_written_are_named() {
    let folder = folder("unwritable");
    let missing = message(&folder.join("no/out.csv"));
    assert!(missing.contains("create the folder") && missing.contains("no`"), "{missing}");
    assert!(message(&folder).contains("it is a folder"));
    assert!(message(&folder.join("new/")).contains("names a folder"));
    assert!(message(Path::new("")).contains("names a folder"));

    let file = folder.join("file");
    write_atomically(&file, b"kept").unwrap();
    assert!(message(&file.join("out.csv")).contains("choose another"));
    let mut permissions = fs::metadata(&file).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&file, permissions).unwrap();
    assert!(message(&file).contains("write-protected"));
    assert_eq!(fs::read(&file).unwrap(), b"kept");
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 1);
    fs::remove_dir_all(&folder).unwrap();
}

// Protects an unwritable folder: a sentence, and nothing in it.
#[cfg(unix)]
#[test]
fn an_unwritable_folder_is_named() {
    use std::os::unix::fs::PermissionsExt;
    let folder = folder("protected");
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o555)).unwrap();
    match write_atomically(&folder.join("out.csv"), b"x") {
        Ok(()) => println!("skipped: this user may write to every folder"),
        Err(e) => {
            assert!(e.to_string().contains("right to write"), "{e}");
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
        }
    }
    fs::set_permissions(&folder, fs::Permissions::from_mode(0o755)).unwrap();
    fs::remove_dir_all(&folder).unwrap();
}

// Protects what a rename would destroy: links, permissions, devices.
#[cfg(unix)]
#[test]
fn links_permissions_and_devices_survive() {
    use std::os::unix::fs::{FileTypeExt, PermissionsExt, symlink};
    let folder = folder("links");
    let (file, link) = (folder.join("file"), folder.join("link"));
    fs::write(&file, "old").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    symlink("file", &link).unwrap();
    write_atomically(&link, b"new").unwrap();
    assert_eq!(fs::read(&file).unwrap(), b"new");
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o640);
    // A device that is always full: written to directly, it stays a device, and its refusal is reported.
    let device = folder.join("device");
    symlink("/dev/full", &device).unwrap();
    if fs::metadata(&device).is_ok_and(|metadata| metadata.file_type().is_char_device()) {
        assert!(message(&device).contains("free some space"), "{}", message(&device));
        assert!(fs::metadata(&device).unwrap().file_type().is_char_device());
    }
    fs::remove_dir_all(&folder).unwrap();
}
