//! Files that the caller names: read within a bound, whatever they turn out to be.

use std::fs::File;
use std::io::{self, Read as _};
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};

use crate::error::AppError;

/// Opens a file; anything else that has the name, such as a pipe, is neither waited
/// for nor read.
pub(crate) fn open_plain(path: &Path, why: &str) -> Result<File, AppError> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = openat(CWD, path, flags, Mode::empty())
        .map(File::from)
        .map_err(|errno| failed(path, errno.into()))?;
    let metadata = file.metadata().map_err(|source| failed(path, source))?;
    if metadata.is_file() {
        return Ok(file);
    }
    Err(AppError::Usage(format!(
        "{} is not a plain file: {why}",
        path.display()
    )))
}

/// Reads a whole file of at most `limit` bytes. Of one that never ends, no more.
pub(crate) fn read(path: &Path, limit: usize) -> Result<Vec<u8>, AppError> {
    let mut bytes = Vec::new();
    let bound = u64::try_from(limit).unwrap_or(u64::MAX).saturating_add(1);
    File::open(path)
        .and_then(|file| file.take(bound).read_to_end(&mut bytes))
        .map_err(|source| failed(path, source))?;
    if bytes.len() > limit {
        return Err(AppError::Usage(format!(
            "{}: expected at most {limit} bytes, found more",
            path.display()
        )));
    }
    Ok(bytes)
}

/// Reads a whole text of at most `limit` bytes.
pub(crate) fn read_text(path: &Path, limit: usize) -> Result<String, AppError> {
    String::from_utf8(read(path, limit)?).map_err(|error| {
        let place = error.utf8_error().valid_up_to() + 1;
        AppError::Usage(format!(
            "{}: expected UTF-8, found another byte at place {place}",
            path.display()
        ))
    })
}

fn failed(path: &Path, source: io::Error) -> AppError {
    AppError::File {
        path: path.to_owned(),
        source,
    }
}
