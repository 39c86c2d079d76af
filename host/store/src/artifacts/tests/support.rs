//! Artifacts in a folder of their own.

use std::path::{Path, PathBuf};

use model::Digest;
use rustix::io::Errno;

use crate::artifacts::{ArtifactError, Artifacts};

pub(super) struct Fixture {
    folder: tempfile::TempDir,
    pub(super) artifacts: Artifacts,
}

pub(super) fn fixture() -> Fixture {
    let folder = tempfile::tempdir().unwrap();
    let (artifacts, swept) = Artifacts::open(folder.path().join("artifacts")).unwrap();
    assert_eq!(swept, 0);
    Fixture { folder, artifacts }
}

impl Fixture {
    pub(super) fn root(&self) -> PathBuf {
        self.folder.path().join("artifacts")
    }

    pub(super) fn temporary(&self) -> PathBuf {
        self.root().join("tmp")
    }

    /// Returns what lies below the root, but for the lock.
    pub(super) fn files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        collect(&self.root(), &mut files);
        files.retain(|path| *path != self.temporary().join("lock"));
        files
    }

    /// Checks that exactly these bytes are kept, and that nothing else lies about.
    pub(super) fn check(&self, kept: &[&[u8]]) {
        let mut expected: Vec<_> = kept.iter().map(|bytes| self.path(bytes)).collect();
        expected.sort();
        expected.dedup();
        assert_eq!(self.files(), expected);
        for bytes in kept {
            assert_eq!(
                self.artifacts.get(Digest::of(bytes)).unwrap().as_slice(),
                *bytes
            );
            let length = u64::try_from(bytes.len()).unwrap();
            assert_eq!(self.artifacts.check(Digest::of(bytes)).unwrap(), length);
        }
    }

    pub(super) fn path(&self, bytes: &[u8]) -> PathBuf {
        self.artifacts.path(Digest::of(bytes))
    }

    /// Makes the folder in which bytes would lie.
    pub(super) fn folder_of(&self, bytes: &[u8]) -> PathBuf {
        let folder = self.path(bytes).parent().unwrap().to_owned();
        std::fs::create_dir_all(&folder).unwrap();
        folder
    }
}

fn collect(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut paths: Vec<_> = folder
        .read_dir()
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    paths.sort();
    for path in paths {
        if path.symlink_metadata().unwrap().is_dir() {
            collect(&path, files);
        } else {
            files.push(path);
        }
    }
}

/// Checks that a file could not be handled: what was done to it, and why it failed.
pub(super) fn io(error: &ArtifactError, action: &str, path: &Path, errno: Errno) {
    let ArtifactError::Io {
        action: done,
        path: named,
        source,
    } = error
    else {
        panic!("expected {action} to fail, found {error}")
    };
    let expected = (action, path, Some(errno.raw_os_error()));
    assert_eq!((*done, named.as_path(), source.raw_os_error()), expected);
    assert_eq!(
        error.to_string(),
        format!("{action} {}: {source}", path.display())
    );
}
