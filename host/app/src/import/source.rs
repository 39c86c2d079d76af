//! The files that an import reads, line by line, twice.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};

use capture::exchange::parse_line;
use model::Digest;
use model::digest::Hasher;

use crate::error::{AppError, MalformedLine};
use crate::files;
use crate::progress::Progress;

/// One line of a file, in bytes: a body of 64 MiB in base64 twice, and the rest.
const LINE_BYTES_MAX: u64 = 256 << 20;

/// A file as it was when it was first read.
pub(super) struct Source {
    pub(super) path: PathBuf,
    pub(super) sha256: Digest,
    pub(super) lines: Vec<SourceLine>,
}

/// One line of it that is not blank.
pub(super) struct SourceLine {
    pub(super) number: u64,
    pub(super) sha256: Digest,
    pub(super) malformed: Option<String>,
}

impl Source {
    /// Reads a file once: its hash, the hash of each line, and what is malformed.
    pub(super) fn scan(path: &Path, progress: &mut dyn Progress) -> Result<Self, AppError> {
        progress.begin("checking", None);
        let mut reader = LineReader::open(path)?;
        let mut lines = Vec::new();
        while let Some(line) = reader.next_line()? {
            progress.advance(1);
            if line.bytes.iter().all(u8::is_ascii_whitespace) {
                continue;
            }
            let malformed = line
                .too_long
                .then(|| format!("the line is longer than {LINE_BYTES_MAX} bytes"))
                .or_else(|| parse_line(&line.bytes).err().map(|error| error.to_string()));
            lines.push(SourceLine {
                number: line.number,
                sha256: Digest::of(&line.bytes),
                malformed,
            });
        }
        progress.end();
        Ok(Self {
            path: path.to_owned(),
            sha256: reader.finish(),
            lines,
        })
    }

    pub(super) fn malformed_lines(&self) -> Vec<MalformedLine> {
        self.lines
            .iter()
            .filter_map(|line| {
                let detail = line.malformed.clone()?;
                Some(MalformedLine {
                    path: self.path.clone(),
                    line: line.number,
                    detail,
                })
            })
            .collect()
    }

    pub(super) fn name(&self) -> String {
        self.path.display().to_string()
    }

    pub(super) fn changed(&self, line: u64) -> AppError {
        AppError::SourceChanged {
            path: self.path.clone(),
            line,
        }
    }
}

/// Reads lines of bounded length and hashes all bytes.
pub(super) struct LineReader {
    path: PathBuf,
    input: BufReader<File>,
    hasher: Hasher,
    number: u64,
}

pub(super) struct Line {
    pub(super) number: u64,
    /// Without the line end.
    pub(super) bytes: Vec<u8>,
    too_long: bool,
}

impl LineReader {
    pub(super) fn open(path: &Path) -> Result<Self, AppError> {
        let input = files::open_plain(path, "an import reads its source twice")?;
        Ok(Self {
            path: path.to_owned(),
            input: BufReader::with_capacity(256 * 1024, input),
            hasher: Hasher::default(),
            number: 0,
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
            if end.is_some() || count == 0 {
                return Ok(());
            }
        }
    }

    pub(super) fn finish(self) -> Digest {
        self.hasher.finish()
    }
}
