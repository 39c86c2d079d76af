//! Reads a file line by line within a bound.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use model::Digest;
use model::digest::Hasher;

use super::format::TWICE;
use crate::error::AppError;
use crate::files;

/// One line of a file, in bytes: a body of 64 MiB in base64 twice, and the rest.
pub(super) const LINE_BYTES_MAX: u64 = 256 << 20;

/// Reads lines of bounded length and hashes all bytes.
pub(super) struct LineReader {
    path: PathBuf,
    input: BufReader<File>,
    hasher: Hasher,
    number: u64,
    offset: u64,
}

pub(super) struct Line {
    pub(super) number: u64,
    /// Where it starts in the file.
    pub(super) offset: u64,
    /// Without the line end.
    pub(super) bytes: Vec<u8>,
    /// It passes the bound, and its bytes were not kept.
    pub(super) too_long: bool,
}

impl LineReader {
    pub(super) fn open(path: &Path) -> Result<Self, AppError> {
        let input = files::open_plain(path, TWICE)?;
        Ok(Self {
            path: path.to_owned(),
            input: BufReader::with_capacity(256 * 1024, input),
            hasher: Hasher::default(),
            number: 0,
            offset: 0,
        })
    }

    pub(super) fn next_line(&mut self) -> Result<Option<Line>, AppError> {
        let failed = |source| AppError::File {
            path: self.path.clone(),
            source,
        };
        let mut bytes = Vec::new();
        let count = (&mut self.input)
            .take(LINE_BYTES_MAX + 1)
            .read_until(b'\n', &mut bytes)
            .map_err(failed)?;
        if count == 0 {
            return Ok(None);
        }
        self.hasher.update(&bytes);
        self.number += 1;
        let offset = self.offset;
        self.offset += u64::try_from(count).unwrap_or(u64::MAX);
        let mut too_long = false;
        if bytes.last() == Some(&b'\n') {
            bytes.pop();
            if bytes.last() == Some(&b'\r') {
                bytes.pop();
            }
        } else if bytes.len() > usize::try_from(LINE_BYTES_MAX).unwrap_or(usize::MAX) {
            too_long = true;
            bytes.clear();
            self.skip_line()?;
        }
        Ok(Some(Line {
            number: self.number,
            offset,
            bytes,
            too_long,
        }))
    }

    fn skip_line(&mut self) -> Result<(), AppError> {
        loop {
            let buffer = self.input.fill_buf().map_err(|source| AppError::File {
                path: self.path.clone(),
                source,
            })?;
            let end = buffer.iter().position(|byte| *byte == b'\n');
            let count = end.map_or(buffer.len(), |end| end + 1);
            self.hasher.update(buffer.get(..count).unwrap_or_default());
            self.input.consume(count);
            self.offset += u64::try_from(count).unwrap_or(u64::MAX);
            if end.is_some() || count == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn finish(self) -> Digest {
        self.hasher.finish()
    }
}
