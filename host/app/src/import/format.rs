//! The forms that recorded exchanges come in, and one way over all of them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::path::{Path, PathBuf};

use capture::exchange::{EXACTNESS, Exchange, IMPORTER, parse_line};
use capture::recording::batch::{self, Request};
use capture::recording::{Choice, Content, Entry, RECORDING_BYTES_MAX, har, vcr};
use model::Digest;

use super::lines::{LINE_BYTES_MAX, Line, LineReader};
use crate::error::{AppError, MalformedLine};
use crate::files;

/// A form that recorded exchanges come in.
#[derive(Debug)]
pub enum Format {
    /// Lines of exchanges, each as it stands.
    Exchange,
    /// HAR 1.2.
    Har(Choice),
    /// Cassettes of VCR and its relatives.
    Vcr(Choice),
    /// Output of OpenAI's batches, beside the input that it answers.
    OpenaiBatch(Choice, Option<BatchRequests>),
}

impl Format {
    /// Returns the importer's name in `call.imported`.
    pub(super) fn importer(&self) -> &'static str {
        match self {
            Self::Exchange => IMPORTER,
            Self::Har(_) => har::IMPORTER,
            Self::Vcr(_) => vcr::IMPORTER,
            Self::OpenaiBatch(..) => batch::IMPORTER,
        }
    }

    /// Returns whether entries can be skipped, so that the summary counts them.
    pub(super) fn skips(&self) -> bool {
        match self {
            Self::Exchange => false,
            Self::Har(_) | Self::Vcr(_) | Self::OpenaiBatch(..) => true,
        }
    }

    /// Returns the place of an entry as it follows the name of its file.
    pub fn place(&self, number: u64) -> String {
        match self {
            Self::Exchange | Self::OpenaiBatch(..) => format!(":{number}"),
            Self::Har(_) => format!(": entry {number}"),
            Self::Vcr(_) => format!(": interaction {number}"),
        }
    }

    /// Goes over a file once and returns the digest of all its bytes.
    ///
    /// `each` is given every entry in order. Lines are read one by one, whole
    /// recordings as a whole, and of these only the bytes that are `expected`.
    pub(super) fn walk(
        &self,
        path: &Path,
        expected: Option<Digest>,
        each: &mut dyn FnMut(Passed) -> Result<(), AppError>,
    ) -> Result<Digest, AppError> {
        match self {
            Self::Exchange => lines(path, each, |line| Ok(exchange(line))),
            Self::OpenaiBatch(choice, requests) => lines(path, each, |line| {
                let request = match (requests, batch::custom_id(&line.bytes)) {
                    (Some(requests), Some(id)) => requests.get(&id)?,
                    _ => None,
                };
                Ok(batch::read_line(&line.bytes, request, *choice).into())
            }),
            Self::Har(choice) => whole(path, expected, |bytes| {
                har::read(bytes, *choice, &mut |entry| each(entry.into()))
            }),
            Self::Vcr(choice) => whole(path, expected, |bytes| {
                vcr::read(bytes, *choice, &mut |entry| each(entry.into()))
            }),
        }
    }
}

/// One entry on the way over a file.
pub(super) struct Passed {
    pub(super) number: u64,
    /// Tells a line that changed; of a whole recording, that of all its bytes does.
    pub(super) bytes_sha256: Option<Digest>,
    pub(super) found: Found,
}

/// What an entry is.
pub(super) enum Found {
    Exchange(Box<Incoming>),
    Skipped(String),
    Malformed(String),
    /// The file is malformed from here on.
    Broken(String),
}

/// An exchange that may be imported.
pub(super) struct Incoming {
    pub(super) exchange: Exchange,
    pub(super) line_sha256: Digest,
    pub(super) line_bytes: usize,
    pub(super) exactness: &'static str,
}

impl From<Content> for Found {
    fn from(content: Content) -> Self {
        match content {
            Content::Recorded(recorded) => Self::Exchange(Box::new(Incoming {
                exchange: recorded.exchange,
                line_sha256: recorded.line_sha256,
                line_bytes: recorded.line_bytes,
                exactness: recorded.exactness.as_str(),
            })),
            Content::Skipped(name) => Self::Skipped(name),
            Content::Malformed(error) => Self::Malformed(error.to_string()),
            Content::Broken(error) => Self::Broken(error.to_string()),
        }
    }
}

impl From<Entry> for Passed {
    fn from(entry: Entry) -> Self {
        Self {
            number: entry.number,
            bytes_sha256: None,
            found: entry.content.into(),
        }
    }
}

fn exchange(line: &Line) -> Found {
    match parse_line(&line.bytes) {
        Err(error) => Found::Malformed(error.to_string()),
        Ok(exchange) => Found::Exchange(Box::new(Incoming {
            exchange,
            line_sha256: Digest::of(&line.bytes),
            line_bytes: line.bytes.len(),
            exactness: EXACTNESS,
        })),
    }
}

fn lines(
    path: &Path,
    each: &mut dyn FnMut(Passed) -> Result<(), AppError>,
    read: impl Fn(&Line) -> Result<Found, AppError>,
) -> Result<Digest, AppError> {
    let mut reader = LineReader::open(path)?;
    while let Some(line) = reader.next_line()? {
        if line.bytes.iter().all(u8::is_ascii_whitespace) && !line.too_long {
            continue;
        }
        let found = if line.too_long {
            Found::Malformed(format!("the line is longer than {LINE_BYTES_MAX} bytes"))
        } else {
            read(&line)?
        };
        each(Passed {
            number: line.number,
            bytes_sha256: Some(Digest::of(&line.bytes)),
            found,
        })?;
    }
    Ok(reader.finish())
}

fn whole(
    path: &Path,
    expected: Option<Digest>,
    read: impl FnOnce(&[u8]) -> Result<(), AppError>,
) -> Result<Digest, AppError> {
    files::open_plain(path, TWICE)?;
    let bytes = files::read(path, RECORDING_BYTES_MAX)?;
    let sha256 = Digest::of(&bytes);
    if expected.is_some_and(|expected| expected != sha256) {
        return Err(AppError::SourceChanged {
            path: path.to_owned(),
            line: 1,
        });
    }
    read(&bytes)?;
    Ok(sha256)
}

/// Why a source must be a plain file.
pub(super) const TWICE: &str = "an import reads its source twice";

/// The input of a batch: where each request stands. Their bodies stay in the file.
#[derive(Debug)]
pub struct BatchRequests {
    path: PathBuf,
    places: BTreeMap<String, (u64, usize)>,
}

impl BatchRequests {
    /// Reads a file of requests once. A malformed line, or a `custom_id` that stands
    /// twice, refuses it: it is open which request was answered.
    pub fn read(path: &Path) -> Result<Self, AppError> {
        let mut reader = LineReader::open(path)?;
        let (mut places, mut malformed) = (BTreeMap::new(), Vec::new());
        while let Some(line) = reader.next_line()? {
            if line.bytes.iter().all(u8::is_ascii_whitespace) && !line.too_long {
                continue;
            }
            let detail = match batch::read_request(&line.bytes) {
                _ if line.too_long => format!("the line is longer than {LINE_BYTES_MAX} bytes"),
                Err(error) => error.to_string(),
                Ok(request) => {
                    let place = (line.offset, line.bytes.len());
                    if places.insert(request.custom_id, place).is_none() {
                        continue;
                    }
                    "`custom_id`: expected each once, found one again".to_owned()
                }
            };
            malformed.push(MalformedLine {
                path: path.to_owned(),
                place: format!(":{}", line.number),
                detail,
            });
        }
        if !malformed.is_empty() {
            return Err(AppError::Malformed(malformed));
        }
        Ok(Self {
            path: path.to_owned(),
            places,
        })
    }

    fn get(&self, custom_id: &str) -> Result<Option<Request>, AppError> {
        let Some((offset, length)) = self.places.get(custom_id).copied() else {
            return Ok(None);
        };
        let failed = |source| AppError::File {
            path: self.path.clone(),
            source,
        };
        let mut bytes = vec![0; length];
        let mut file = File::open(&self.path).map_err(failed)?;
        file.seek(SeekFrom::Start(offset)).map_err(failed)?;
        file.read_exact(&mut bytes).map_err(failed)?;
        match batch::read_request(&bytes) {
            Ok(request) if request.custom_id == custom_id => Ok(Some(request)),
            _ => Err(AppError::Usage(format!(
                "{} changed while it was read: expected the request that stood at byte {offset} \
                 a moment ago, found another text",
                self.path.display()
            ))),
        }
    }
}
