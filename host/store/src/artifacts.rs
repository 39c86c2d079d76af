//! Artifacts: immutable bytes in files that are named by their SHA-256.
//!
//! Put: a temporary file, fsync, rename without replacing, fsync of the folder.
//! Only then may an event name the bytes. Read: the bytes are hashed again, every
//! time, because a disk may return other bytes than it took. A failed fsync is
//! never tried again: the pages may be gone although a second one succeeds.

mod put;

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use model::bounds::BODY_BYTES_MAX;
use model::digest::{Digest, Hasher};
use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use self::put::DurableFolders;
use crate::syncing;

/// The artifacts of one home.
#[derive(Debug, Clone)]
pub struct Artifacts {
    root: PathBuf,
    durable: Arc<DurableFolders>,
}

/// Bytes whose hash was computed in this process and equals their name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedBytes {
    digest: Digest,
    bytes: Vec<u8>,
}

impl VerifiedBytes {
    /// Names bytes that are at hand.
    pub fn of(bytes: Vec<u8>) -> Self {
        Self {
            digest: Digest::of(&bytes),
            bytes,
        }
    }

    /// Returns the name.
    pub const fn digest(&self) -> Digest {
        self.digest
    }

    /// Returns the bytes.
    pub fn as_slice(&self) -> &[u8] {
        &self.bytes
    }
}

/// Why an artifact cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ArtifactError {
    /// No file has this name.
    #[error("artifact {0} is missing")]
    Missing(Digest),
    /// The file holds other bytes.
    #[error("artifact {expected} holds bytes that hash to {found}")]
    Corrupt {
        /// The name.
        expected: Digest,
        /// What the bytes hash to.
        found: Digest,
    },
    /// The name is taken by something that is not a plain file.
    #[error("artifact {0} is not a plain file")]
    NotAFile(Digest),
    /// The bytes are more than an artifact may have.
    #[error("artifact {digest} has {found} bytes, but at most {BODY_BYTES_MAX} are allowed")]
    TooLarge {
        /// The name.
        digest: Digest,
        /// The size.
        found: u64,
    },
    /// The file system refused.
    #[error("{action} {}: {source}", path.display())]
    Io {
        /// What was being done.
        action: &'static str,
        /// To what.
        path: PathBuf,
        /// Why it failed.
        source: io::Error,
    },
}

/// One entry of the artifact folders, as found on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Found {
    /// A file under a well-formed name.
    Artifact(Digest),
    /// Something that does not belong there.
    Stray(PathBuf),
}

impl Artifacts {
    /// Opens the artifacts below a folder, which is made when it is missing, and
    /// removes what an interrupted put left behind. Returns how many temporary files
    /// were removed.
    pub fn open(root: impl Into<PathBuf>) -> Result<(Self, usize), ArtifactError> {
        let artifacts = Self {
            root: root.into(),
            durable: Arc::default(),
        };
        let top = artifacts.top();
        syncing::create_folder(&top).map_err(|source| failed("creating", top, source))?;
        let swept = artifacts.sweep()?;
        Ok((artifacts, swept))
    }

    /// Returns where the bytes of this name are kept.
    pub fn path(&self, digest: Digest) -> PathBuf {
        self.folder(digest).join(file_of(digest))
    }

    fn top(&self) -> PathBuf {
        self.root.join("sha256")
    }

    fn folder(&self, digest: Digest) -> PathBuf {
        self.top().join(folder_of(digest))
    }

    /// Reads bytes and hashes them again.
    pub fn get(&self, digest: Digest) -> Result<VerifiedBytes, ArtifactError> {
        let (file, length) = self.open_file(digest)?;
        let mut bytes = Vec::with_capacity(length + 1);
        // One byte more than there may be, to see that there is one.
        let limit = u64::try_from(BODY_BYTES_MAX + 1).unwrap_or(u64::MAX);
        file.take(limit)
            .read_to_end(&mut bytes)
            .map_err(|source| failed("reading", self.path(digest), source))?;
        bounded(digest, bytes.len())?;
        let verified = VerifiedBytes::of(bytes);
        if verified.digest == digest {
            Ok(verified)
        } else {
            Err(ArtifactError::Corrupt {
                expected: digest,
                found: verified.digest,
            })
        }
    }

    /// Hashes the file of this name without keeping its bytes. Returns its length.
    pub fn check(&self, digest: Digest) -> Result<u64, ArtifactError> {
        self.hash(digest).map(|(_, length)| length)
    }

    /// Hashes the file of this name and returns it with its length.
    fn hash(&self, digest: Digest) -> Result<(File, u64), ArtifactError> {
        let (mut file, _) = self.open_file(digest)?;
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 128 * 1024];
        let mut length = 0;
        loop {
            let count = file
                .read(&mut buffer)
                .map_err(|source| failed("reading", self.path(digest), source))?;
            if count == 0 {
                break;
            }
            hasher.update(buffer.get(..count).unwrap_or_default());
            length += count;
            bounded(digest, length)?;
        }
        let found = hasher.finish();
        if found == digest {
            Ok((file, u64::try_from(length).unwrap_or(u64::MAX)))
        } else {
            Err(ArtifactError::Corrupt {
                expected: digest,
                found,
            })
        }
    }

    /// Opens the plain file of this name; returns it with the length that it has now.
    fn open_file(&self, digest: Digest) -> Result<(File, usize), ArtifactError> {
        // Neither a link nor a pipe that someone put in the place may lead us
        // elsewhere or keep us waiting.
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let opened = open_folder(&self.folder(digest))
            .and_then(|folder| openat(folder, file_of(digest), flags, Mode::empty()));
        let file = match opened {
            Ok(file) => File::from(file),
            Err(Errno::NOENT) => return Err(ArtifactError::Missing(digest)),
            // A link, a folder that is none, or a socket.
            Err(Errno::LOOP | Errno::NOTDIR | Errno::NXIO) => {
                return Err(ArtifactError::NotAFile(digest));
            }
            Err(errno) => return Err(failed("opening", self.path(digest), errno.into())),
        };
        let metadata = file
            .metadata()
            .map_err(|source| failed("inspecting", self.path(digest), source))?;
        if !metadata.is_file() {
            return Err(ArtifactError::NotAFile(digest));
        }
        let length = usize::try_from(metadata.len()).unwrap_or(usize::MAX);
        bounded(digest, length)?;
        Ok((file, length))
    }

    /// Lists what lies in the artifact folders, in order of names.
    pub fn list(&self) -> Result<Vec<Found>, ArtifactError> {
        let mut found = Vec::new();
        for folder in entries(&self.top())? {
            let name = file_name(&folder);
            let ours = Digest::from_hex(&format!("{name}{}", "0".repeat(62))).is_ok();
            match open_folder(&folder) {
                Ok(_) if ours => {}
                Ok(_) | Err(Errno::NOTDIR | Errno::LOOP) => {
                    found.push(Found::Stray(folder));
                    continue;
                }
                Err(errno) => return Err(failed("opening", folder, errno.into())),
            }
            for file in entries(&folder)? {
                let hex = format!("{name}{}", file_name(&file));
                found.push(Digest::from_hex(&hex).map_or(Found::Stray(file), Found::Artifact));
            }
        }
        Ok(found)
    }
}

/// Opens a folder; a link in its place is refused.
fn open_folder(path: &Path) -> rustix::io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(CWD, path, flags, Mode::empty())
}

/// Refuses more bytes than an artifact may have.
fn bounded(digest: Digest, length: usize) -> Result<(), ArtifactError> {
    if length > BODY_BYTES_MAX {
        return Err(ArtifactError::TooLarge {
            digest,
            found: u64::try_from(length).unwrap_or(u64::MAX),
        });
    }
    Ok(())
}

fn folder_of(digest: Digest) -> String {
    digest.to_hex().split_at(2).0.to_owned()
}

fn file_of(digest: Digest) -> String {
    digest.to_hex().split_at(2).1.to_owned()
}

fn entries(folder: &Path) -> Result<Vec<PathBuf>, ArtifactError> {
    let mut paths = fs::read_dir(folder)
        .and_then(|entries| {
            entries
                .map(|entry| entry.map(|entry| entry.path()))
                .collect()
        })
        .map_err(|source| failed("listing", folder.to_owned(), source))
        .map(|paths: Vec<PathBuf>| paths)?;
    paths.sort_unstable();
    Ok(paths)
}

fn file_name(path: &Path) -> String {
    path.file_name()
        .map(|name| name.to_string_lossy().into_owned())
        .unwrap_or_default()
}

fn failed(action: &'static str, path: PathBuf, source: io::Error) -> ArtifactError {
    ArtifactError::Io {
        action,
        path,
        source,
    }
}

#[cfg(test)]
mod tests;
