//! Making bytes durable under their name.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use model::digest::Digest;
use rustix::fs::{CWD, RenameFlags, renameat_with};

use super::{ArtifactError, Artifacts, failed};
use crate::syncing;

/// How many files of a group are written at once: enough to let the disk
/// combine the waits, few enough to keep memory flat.
const WRITERS: usize = 4;

impl Artifacts {
    /// Makes bytes durable and returns their name. Bytes that are there already
    /// are hashed again: equal ones are a success, others are damage.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, ArtifactError> {
        self.put_all(&[bytes])
            .map(|digests| digests.first().copied().unwrap_or(Digest::of(bytes)))
    }

    /// Makes a group of bytes durable together, and returns their names in order.
    pub fn put_all(&self, group: &[&[u8]]) -> Result<Vec<Digest>, ArtifactError> {
        let digests: Vec<_> = group.iter().map(|bytes| Digest::of(bytes)).collect();
        let mut wanted: Vec<_> = digests.iter().copied().zip(group.iter().copied()).collect();
        wanted.sort_unstable_by_key(|(digest, _)| *digest);
        wanted.dedup_by_key(|(digest, _)| *digest);
        let lock = self.share_temporary()?;
        let share = wanted.len().div_ceil(WRITERS).max(1);
        let placed: Result<Vec<()>, ArtifactError> = if wanted.len() < 2 {
            wanted
                .iter()
                .map(|(digest, bytes)| self.place(*digest, bytes))
                .collect()
        } else {
            std::thread::scope(|scope| {
                let writers: Vec<_> = wanted
                    .chunks(share)
                    .map(|chunk| {
                        scope.spawn(move || {
                            chunk
                                .iter()
                                .try_for_each(|(digest, bytes)| self.place(*digest, bytes))
                        })
                    })
                    .collect();
                writers
                    .into_iter()
                    .map(|writer| writer.join().unwrap_or_else(|_| Err(self.interrupted())))
                    .collect()
            })
        };
        placed?;
        let folders: BTreeSet<PathBuf> = wanted
            .iter()
            .filter_map(|(digest, _)| self.path(*digest).parent().map(Path::to_owned))
            .collect();
        for folder in folders {
            syncing::sync_folder(&folder).map_err(|source| failed("syncing", folder, source))?;
        }
        drop(lock);
        Ok(digests)
    }

    /// Puts one file in its place; its folder is not yet durable.
    fn place(&self, digest: Digest, bytes: &[u8]) -> Result<(), ArtifactError> {
        let path = self.path(digest);
        if path.symlink_metadata().is_ok() {
            return self.confirm(digest);
        }
        self.make_folder(&path)?;
        let temporary = self.temporary_path()?;
        let result = write_synced(&temporary, bytes)
            .map_err(|source| failed("writing", temporary.clone(), source))
            .and_then(|()| self.rename(&temporary, digest));
        if result.is_err() {
            // Best effort: the sweep at the next open removes what stays.
            fs::remove_file(&temporary).ok();
        }
        result
    }

    fn rename(&self, temporary: &Path, digest: Digest) -> Result<(), ArtifactError> {
        use rustix::io::Errno;
        let path = self.path(digest);
        match renameat_with(CWD, temporary, CWD, &path, RenameFlags::NOREPLACE) {
            Ok(()) => Ok(()),
            Err(Errno::EXIST) => {
                fs::remove_file(temporary).ok();
                self.confirm(digest)
            }
            // Some file systems know no rename without replacing; a hard link
            // gives the same guarantee.
            Err(Errno::INVAL | Errno::NOSYS) => match fs::hard_link(temporary, &path) {
                Ok(()) => fs::remove_file(temporary)
                    .map_err(|source| failed("removing", temporary.to_owned(), source)),
                Err(source) if source.kind() == io::ErrorKind::AlreadyExists => {
                    fs::remove_file(temporary).ok();
                    self.confirm(digest)
                }
                Err(source) => Err(failed("linking", path, source)),
            },
            Err(errno) => Err(failed("renaming", path, errno.into())),
        }
    }

    /// Checks a file that is there already and makes it durable: whoever wrote
    /// it may have died before its fsync.
    fn confirm(&self, digest: Digest) -> Result<(), ArtifactError> {
        self.check(digest)?;
        let path = self.path(digest);
        File::open(&path)
            .and_then(|file| file.sync_all())
            .map_err(|source| failed("syncing", path, source))
    }

    fn make_folder(&self, path: &Path) -> Result<(), ArtifactError> {
        let Some(folder) = path.parent() else {
            return Ok(());
        };
        if folder.is_dir() {
            return Ok(());
        }
        syncing::create_folder(folder)
            .map_err(|source| failed("creating", folder.to_owned(), source))?;
        let top = self.root.join("sha256");
        syncing::sync_folder(&top).map_err(|source| failed("syncing", top, source))
    }

    fn temporary_path(&self) -> Result<PathBuf, ArtifactError> {
        let mut name = [0; 16];
        let folder = self.root.join("tmp");
        getrandom::fill(&mut name).map_err(|error| {
            failed(
                "naming a file in",
                folder.clone(),
                io::Error::other(error.to_string()),
            )
        })?;
        Ok(folder.join(format!("{:032x}", u128::from_be_bytes(name))))
    }

    fn interrupted(&self) -> ArtifactError {
        failed(
            "writing below",
            self.root.clone(),
            io::Error::other("a writer stopped early"),
        )
    }

    /// Removes temporary files, unless another process is writing some.
    pub(super) fn sweep(&self) -> Result<usize, ArtifactError> {
        let lock = self.lock_file()?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(fs::TryLockError::WouldBlock) => return Ok(0),
            Err(fs::TryLockError::Error(source)) => {
                return Err(failed("locking", self.root.join("tmp"), source));
            }
        }
        let mut swept = 0;
        for path in super::entries(&self.root.join("tmp"))? {
            if path.file_name().is_some_and(|name| name != LOCK) {
                fs::remove_file(&path).map_err(|source| failed("removing", path, source))?;
                swept += 1;
            }
        }
        Ok(swept)
    }

    /// Says that temporary files are being written, until the file is dropped.
    fn share_temporary(&self) -> Result<File, ArtifactError> {
        let lock = self.lock_file()?;
        lock.lock_shared()
            .map_err(|source| failed("locking", self.root.join("tmp"), source))?;
        Ok(lock)
    }

    fn lock_file(&self) -> Result<File, ArtifactError> {
        let folder = self.root.join("tmp");
        syncing::create_folder(&folder)
            .map_err(|source| failed("creating", folder.clone(), source))?;
        let path = folder.join(LOCK);
        OpenOptions::new()
            .write(true)
            .create(true)
            .truncate(false)
            .mode(0o600)
            .open(&path)
            .map_err(|source| failed("opening", path, source))
    }
}

const LOCK: &str = "lock";

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = syncing::create_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
