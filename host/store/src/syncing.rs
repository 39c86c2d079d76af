//! Files and folders that are only the owner's, and their durability.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::io::Errno;

/// Creates a folder that only the owner can enter, and its parents. Every folder
/// made is durable in the one above it.
pub(crate) fn create_folder(path: &Path) -> io::Result<()> {
    match make_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            create_folder(parent(path).ok_or(error)?)?;
            make_folder(path)
        }
        made => made,
    }
}

fn make_folder(path: &Path) -> io::Result<()> {
    match create_new_folder(path) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        made => made,
    }
}

/// Creates a folder that only the owner can enter, durable in the one above it; it must
/// not exist.
pub(crate) fn create_new_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().mode(0o700).create(path)?;
    sync_parent(path)
}

/// Creates a file that only the owner can read; it must not exist.
pub(crate) fn create_file(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)
}

/// Makes the entries of a folder durable.
pub(crate) fn sync_folder(path: &Path) -> io::Result<()> {
    File::open(path)?.sync_all()
}

/// Makes the entry of a file or a folder in the one above it durable.
pub(crate) fn sync_parent(path: &Path) -> io::Result<()> {
    sync_folder(parent(path).ok_or(io::ErrorKind::NotFound)?)
}

/// Returns the path of a file that belongs to another one.
pub(crate) fn beside(path: &Path, ending: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(ending);
    PathBuf::from(name)
}

/// Returns the folder above a path; of a bare name, the present one.
fn parent(path: &Path) -> Option<&Path> {
    path.parent().map(|parent| {
        if parent.as_os_str().is_empty() {
            Path::new(".")
        } else {
            parent
        }
    })
}

/// Returns whether a folder holds nothing.
pub(crate) fn is_empty(path: &Path) -> io::Result<bool> {
    Ok(fs::read_dir(path)?.next().is_none())
}

/// Returns whether a rename failed because the file system knows none that does
/// not replace; a hard link gives the same guarantee.
pub(crate) const fn knows_no_noreplace(errno: Errno) -> bool {
    matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
}
