//! A file as it was when it was first read, and the way over it for the second time.

use std::path::{Path, PathBuf};

use model::Digest;

use super::format::{Format, Found, Incoming};
use crate::error::{AppError, MalformedLine};
use crate::progress::Progress;

/// A file as it was when it was first read.
pub(super) struct Source<'f> {
    pub(super) path: PathBuf,
    pub(super) format: &'f Format,
    pub(super) sha256: Digest,
    entries: Vec<SourceEntry>,
}

/// One entry of it.
struct SourceEntry {
    number: u64,
    sha256: Option<Digest>,
    malformed: Option<Malformed>,
}

struct Malformed {
    place: String,
    detail: String,
}

/// One entry, the second time.
pub(super) enum Again {
    Exchange(u64, Box<Incoming>),
    Skipped(u64, String),
}

impl<'f> Source<'f> {
    /// Reads a file once: its hash, that of each line, and what is malformed.
    pub(super) fn scan(
        path: &Path,
        format: &'f Format,
        progress: &mut dyn Progress,
    ) -> Result<Self, AppError> {
        progress.begin("checking", None);
        let mut entries = Vec::new();
        let sha256 = format.walk(path, None, &mut |passed| {
            progress.advance(1);
            let malformed = match passed.found {
                Found::Exchange(_) | Found::Skipped(_) => None,
                Found::Malformed(detail) => Some(Malformed {
                    place: format.place(passed.number),
                    detail,
                }),
                Found::Broken(detail) => Some(Malformed {
                    place: String::new(),
                    detail,
                }),
            };
            entries.push(SourceEntry {
                number: passed.number,
                sha256: passed.bytes_sha256,
                malformed,
            });
            Ok(())
        })?;
        progress.end();
        Ok(Self {
            path: path.to_owned(),
            format,
            sha256,
            entries,
        })
    }

    /// Returns how many entries it has.
    pub(super) fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns what is malformed, with the numbers of the entries.
    pub(super) fn malformed(&self) -> impl Iterator<Item = (u64, MalformedLine)> {
        self.entries.iter().filter_map(|entry| {
            let malformed = entry.malformed.as_ref()?;
            let line = MalformedLine {
                path: self.path.clone(),
                place: malformed.place.clone(),
                detail: malformed.detail.clone(),
            };
            Some((entry.number, line))
        })
    }

    /// Goes over the file again and gives `each` what was well-formed. An entry that
    /// is not what it was refuses the rest.
    pub(super) fn again(
        &self,
        each: &mut dyn FnMut(Again) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let mut expected = self.entries.iter();
        self.format
            .walk(&self.path, Some(self.sha256), &mut |passed| {
                // A line that was added after the last one is none of this import.
                let Some(known) = expected.next() else {
                    return Ok(());
                };
                let malformed = matches!(passed.found, Found::Malformed(_) | Found::Broken(_));
                let same = known.number == passed.number
                    && known.sha256 == passed.bytes_sha256
                    && known.malformed.is_some() == malformed;
                if !same {
                    return Err(self.changed(known.number));
                }
                match passed.found {
                    Found::Exchange(incoming) => each(Again::Exchange(passed.number, incoming)),
                    Found::Skipped(name) => each(Again::Skipped(passed.number, name)),
                    Found::Malformed(_) | Found::Broken(_) => Ok(()),
                }
            })?;
        match expected.next() {
            Some(missing) => Err(self.changed(missing.number)),
            None => Ok(()),
        }
    }

    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    fn changed(&self, line: u64) -> AppError {
        AppError::SourceChanged {
            path: self.path.clone(),
            line,
        }
    }
}
