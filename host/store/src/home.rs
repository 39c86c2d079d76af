//! The layout of a home, and its folders.

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

use crate::syncing;

/// The paths of one home. Holding one does not mean that the home exists.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Home(PathBuf);

/// What is wrong with a home's folder.
#[derive(Debug, thiserror::Error)]
pub enum HomeError {
    /// There is no ledger.
    #[error("no home at {0}: expected a file ledger.sqlite3 in it, found none")]
    Absent(PathBuf),
    /// The folder holds something already.
    #[error("{0} is not empty: a home is made in a missing or an empty folder")]
    NotEmpty(PathBuf),
    /// The path is not a folder.
    #[error("{0} is not a folder")]
    NotAFolder(PathBuf),
    /// The file system refused.
    #[error("{path}: {source}")]
    Io {
        /// What was being done to what.
        path: String,
        /// Why it failed.
        source: io::Error,
    },
}

impl Home {
    /// Names the home in a folder.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self(folder.into())
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.0
    }

    /// Returns the path of the ledger.
    pub fn ledger(&self) -> PathBuf {
        self.0.join("ledger.sqlite3")
    }

    /// Returns the folder of loose artifacts.
    pub fn artifacts(&self) -> PathBuf {
        self.0.join("artifacts")
    }

    /// Returns the folder of compiled modules, which may be deleted at any time.
    pub fn cache(&self) -> PathBuf {
        self.0.join("cache")
    }

    /// Returns the folder of keys.
    pub fn keys(&self) -> PathBuf {
        self.0.join("keys")
    }

    /// Returns the path of the configuration.
    pub fn config(&self) -> PathBuf {
        self.0.join("config.toml")
    }

    /// Returns whether a ledger is there.
    pub fn exists(&self) -> bool {
        self.ledger().is_file()
    }

    /// Refuses a folder without a ledger.
    pub fn require(&self) -> Result<(), HomeError> {
        if self.exists() {
            Ok(())
        } else {
            Err(HomeError::Absent(self.0.clone()))
        }
    }

    /// Makes the folders of a new home, in a missing or an empty folder.
    pub fn create_folders(&self) -> Result<(), HomeError> {
        let io = |path: &Path, source| HomeError::Io {
            path: path.display().to_string(),
            source,
        };
        if self.0.exists() {
            if !self.0.is_dir() {
                return Err(HomeError::NotAFolder(self.0.clone()));
            }
            if !syncing::is_empty(&self.0).map_err(|source| io(&self.0, source))? {
                return Err(HomeError::NotEmpty(self.0.clone()));
            }
        }
        syncing::create_folder(&self.0).map_err(|source| io(&self.0, source))?;
        // An empty folder that was there may have been open to others.
        std::fs::set_permissions(&self.0, std::fs::Permissions::from_mode(0o700))
            .map_err(|source| io(&self.0, source))?;
        // Of two who found the folder empty, the one that makes this folder has it.
        let claim = self.artifacts();
        match syncing::create_new_folder(&claim) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                return Err(HomeError::NotEmpty(self.0.clone()));
            }
            claimed => claimed.map_err(|source| io(&claim, source))?,
        }
        let folders = [
            self.artifacts().join("sha256"),
            self.artifacts().join("tmp"),
            self.0.join("packs"),
            self.cache(),
            self.0.join("spool"),
            self.keys(),
        ];
        folders
            .iter()
            .try_for_each(|folder| {
                syncing::create_folder(folder).map_err(|source| io(folder, source))
            })
            .inspect_err(|_error| self.remove_unfinished())
    }

    /// Removes what an `init` that failed has made, so that the folder is as empty as
    /// it was. Only for the one whose [`Home::create_folders`] succeeded. What cannot
    /// be removed stays: the failure that led here is the one to be told.
    pub fn remove_unfinished(&self) {
        std::fs::remove_file(self.ledger()).ok();
        for ending in ["-wal", "-shm"] {
            std::fs::remove_file(syncing::beside(&self.ledger(), ending)).ok();
        }
        std::fs::remove_file(self.config()).ok();
        let folders = [
            self.0.join("packs"),
            self.cache(),
            self.0.join("spool"),
            self.keys(),
            // Last: it keeps others out.
            self.artifacts(),
        ];
        for folder in folders {
            std::fs::remove_dir_all(folder).ok();
        }
    }

    /// Writes a small file of the home durably: whole or not at all.
    pub fn write_file(&self, path: &Path, bytes: &[u8]) -> Result<(), HomeError> {
        write_whole(path, bytes).map_err(|source| HomeError::Io {
            path: path.display().to_string(),
            source,
        })
    }
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write as _;
    let mut salt = [0; 8];
    getrandom::fill(&mut salt).map_err(|error| io::Error::other(error.to_string()))?;
    let temporary = path.with_file_name(format!(".tmp-{:016x}", u64::from_be_bytes(salt)));
    let mut file = syncing::create_file(&temporary)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all());
    let renamed = written.and_then(|()| std::fs::rename(&temporary, path));
    if let Err(error) = renamed {
        // Best effort: the error that matters is the one above.
        std::fs::remove_file(&temporary).ok();
        return Err(error);
    }
    syncing::sync_parent(path)
}

#[cfg(test)]
mod tests;
