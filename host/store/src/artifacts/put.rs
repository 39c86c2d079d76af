//! Making bytes durable under their name.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use model::digest::Digest;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, RenameFlags, linkat, mkdirat, openat, renameat_with};
use rustix::io::Errno;

use super::{ArtifactError, Artifacts, bounded, failed, file_of, open_folder};
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
        for (digest, bytes) in digests.iter().zip(group) {
            bounded(*digest, bytes.len())?;
        }
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
        self.sync_folders(wanted.iter().map(|(digest, _)| *digest))?;
        drop(lock);
        Ok(digests)
    }

    /// Puts one file in its place; its folder is not yet durable.
    fn place(&self, digest: Digest, bytes: &[u8]) -> Result<(), ArtifactError> {
        if self.path(digest).symlink_metadata().is_ok() {
            return self.confirm(digest);
        }
        let folder = self.make_folder(digest)?;
        let temporary = self.temporary_path()?;
        let result = write_synced(&temporary, bytes)
            .map_err(|source| failed("writing", temporary.clone(), source))
            .and_then(|()| self.rename(&temporary, &folder, digest));
        if result.is_err() {
            // Best effort: the sweep at the next open removes what stays.
            fs::remove_file(&temporary).ok();
        }
        result
    }

    fn rename(
        &self,
        temporary: &Path,
        folder: &OwnedFd,
        digest: Digest,
    ) -> Result<(), ArtifactError> {
        let name = file_of(digest);
        match renameat_with(CWD, temporary, folder, &name, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(Errno::EXIST) => {}
            Err(errno) if syncing::knows_no_noreplace(errno) => {
                match linkat(CWD, temporary, folder, &name, AtFlags::empty()) {
                    Ok(()) | Err(Errno::EXIST) => {}
                    Err(errno) => return Err(failed("linking", self.path(digest), errno.into())),
                }
            }
            Err(errno) => return Err(failed("renaming", self.path(digest), errno.into())),
        }
        fs::remove_file(temporary)
            .map_err(|source| failed("removing", temporary.to_owned(), source))?;
        self.confirm(digest)
    }

    /// Checks a file that is there already and makes it durable: whoever wrote it may
    /// have died before its fsync.
    fn confirm(&self, digest: Digest) -> Result<(), ArtifactError> {
        let (file, _) = self.hash(digest)?;
        file.sync_all()
            .map_err(|source| failed("syncing", self.path(digest), source))
    }

    /// Opens the folder of a name, which is made when it is missing; it is not yet
    /// durable in the one above it.
    fn make_folder(&self, digest: Digest) -> Result<OwnedFd, ArtifactError> {
        let folder = self.folder(digest);
        match open_folder(&folder) {
            Err(Errno::NOENT) => {
                self.durable.remove(first_byte(digest));
                match mkdirat(CWD, &folder, Mode::RWXU) {
                    Ok(()) | Err(Errno::EXIST) => open_folder(&folder),
                    Err(errno) => return Err(failed("creating", folder, errno.into())),
                }
            }
            opened => opened,
        }
        .map_err(|errno| failed("opening", folder, errno.into()))
    }

    /// Makes the folders of these names durable, and each in the one above it:
    /// whoever made it may have died before that.
    fn sync_folders(&self, digests: impl Iterator<Item = Digest>) -> Result<(), ArtifactError> {
        let sync = |folder: &Path| {
            open_folder(folder)
                .map_err(io::Error::from)
                .and_then(|folder| File::from(folder).sync_all())
                .map_err(|source| failed("syncing", folder.to_owned(), source))
        };
        let mut folders = BTreeMap::new();
        for digest in digests {
            folders.insert(first_byte(digest), self.folder(digest));
        }
        for folder in folders.values() {
            sync(folder)?;
        }
        if folders.keys().any(|name| !self.durable.holds(*name)) {
            syncing::sync_folder(&self.top())
                .map_err(|source| failed("syncing", self.top(), source))?;
            for name in folders.keys() {
                self.durable.insert(*name);
            }
        }
        Ok(())
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
            if is_temporary(&path) {
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
        let path = folder.join("lock");
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        openat(CWD, &path, flags, Mode::RUSR | Mode::WUSR)
            .map(File::from)
            .map_err(|errno| failed("opening", path, errno.into()))
    }
}

/// The folders of which this process knows that they are durable in the one above
/// them, by the first byte of the names in them.
#[derive(Debug, Default)]
pub(super) struct DurableFolders(Mutex<BTreeSet<u8>>);

impl DurableFolders {
    fn holds(&self, name: u8) -> bool {
        self.locked().contains(&name)
    }

    fn insert(&self, name: u8) {
        self.locked().insert(name);
    }

    fn remove(&self, name: u8) {
        self.locked().remove(&name);
    }

    fn locked(&self) -> MutexGuard<'_, BTreeSet<u8>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn first_byte(digest: Digest) -> u8 {
    let [first, ..] = *digest.as_bytes();
    first
}

/// Returns whether this is a file that a put makes; nothing else is ours to remove.
fn is_temporary(path: &Path) -> bool {
    let named = path
        .file_name()
        .and_then(|name| name.to_str())
        .is_some_and(|name| name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()));
    named
        && path
            .symlink_metadata()
            .is_ok_and(|metadata| metadata.is_file())
}

fn write_synced(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut file = syncing::create_file(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}
