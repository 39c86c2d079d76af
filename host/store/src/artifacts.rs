//! Artifacts: immutable bytes in files that are named by their SHA-256.
//!
//! Put: a temporary file, fsync, rename without replacing, fsync of the folder.
//! Only then may an event name the bytes. Read: the bytes are hashed again, every
//! time, because a disk may return other bytes than it took. A failed fsync is
//! never tried again: the pages may be gone although a second one succeeds.

mod put;

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use model::bounds::BODY_BYTES_MAX;
use model::digest::{Digest, Hasher};

/// The artifacts of one home.
#[derive(Debug, Clone)]
pub struct Artifacts {
    root: PathBuf,
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
    /// Opens the artifacts below a folder and removes what an interrupted put
    /// left behind. Returns how many temporary files were removed.
    pub fn open(root: impl Into<PathBuf>) -> Result<(Self, usize), ArtifactError> {
        let artifacts = Self { root: root.into() };
        let swept = artifacts.sweep()?;
        Ok((artifacts, swept))
    }

    /// Returns where the bytes of this name are kept.
    pub fn path(&self, digest: Digest) -> PathBuf {
        let hex = digest.to_hex();
        let (folder, file) = hex.split_at(2);
        self.root.join("sha256").join(folder).join(file)
    }

    /// Reads bytes and hashes them again.
    pub fn get(&self, digest: Digest) -> Result<VerifiedBytes, ArtifactError> {
        let mut file = self.open_file(digest)?;
        let path = || self.path(digest);
        let metadata = file
            .metadata()
            .map_err(|source| failed("inspecting", path(), source))?;
        let found = metadata.len();
        let length = usize::try_from(found).unwrap_or(usize::MAX);
        if length > BODY_BYTES_MAX {
            return Err(ArtifactError::TooLarge { digest, found });
        }
        let mut bytes = Vec::with_capacity(length + 1);
        file.read_to_end(&mut bytes)
            .map_err(|source| failed("reading", path(), source))?;
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
        let mut file = self.open_file(digest)?;
        let mut hasher = Hasher::default();
        let mut buffer = vec![0; 128 * 1024];
        let mut length: u64 = 0;
        loop {
            let count = file
                .read(&mut buffer)
                .map_err(|source| failed("reading", self.path(digest), source))?;
            if count == 0 {
                break;
            }
            hasher.update(buffer.get(..count).unwrap_or_default());
            length += u64::try_from(count).unwrap_or(0);
        }
        let found = hasher.finish();
        if found == digest {
            Ok(length)
        } else {
            Err(ArtifactError::Corrupt {
                expected: digest,
                found,
            })
        }
    }

    fn open_file(&self, digest: Digest) -> Result<File, ArtifactError> {
        let path = self.path(digest);
        // Neither a link nor a pipe that someone put in the place may lead us
        // elsewhere or keep us waiting.
        let flags = rustix::fs::OFlags::NOFOLLOW | rustix::fs::OFlags::NONBLOCK;
        let flags = i32::try_from(flags.bits()).unwrap_or_default();
        let file = match OpenOptions::new()
            .read(true)
            .custom_flags(flags)
            .open(&path)
        {
            Ok(file) => file,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Err(ArtifactError::Missing(digest));
            }
            Err(source)
                if source.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) =>
            {
                return Err(ArtifactError::NotAFile(digest));
            }
            Err(source) => return Err(failed("opening", path, source)),
        };
        match file.metadata() {
            Ok(metadata) if metadata.is_file() => Ok(file),
            Ok(_) => Err(ArtifactError::NotAFile(digest)),
            Err(source) => Err(failed("inspecting", path, source)),
        }
    }

    /// Lists what lies in the artifact folders, in order of names.
    pub fn list(&self) -> Result<Vec<Found>, ArtifactError> {
        let mut found = Vec::new();
        let top = self.root.join("sha256");
        for folder in entries(&top)? {
            let name = file_name(&folder);
            if name.len() != 2 || !folder.is_dir() {
                found.push(Found::Stray(folder));
                continue;
            }
            for file in entries(&folder)? {
                let hex = format!("{name}{}", file_name(&file));
                found.push(Digest::from_hex(&hex).map_or(Found::Stray(file), Found::Artifact));
            }
        }
        Ok(found)
    }
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
