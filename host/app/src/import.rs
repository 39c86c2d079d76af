//! `import …`: recorded exchanges in, observations out.
//!
//! A file is read twice: the first time to hash it and to refuse it whole when a
//! line or entry is malformed, the second time to import it. One that changed
//! between the two is refused. Bytes are durable before the events that name them.
//! Whatever a file is written in, each exchange in it takes the same path from here.

mod format;
mod lines;
mod source;

use std::path::PathBuf;

use model::event::attempt::AttemptObserved;
use model::event::call::CallImported;
use model::event::{ArtifactRef, Body, Event, Placed, Preservation, Scope};
use model::projection::index::UniqueKey;
use model::{AttemptId, CallId, Digest, TaskId};
use serde::Serialize;

use crate::context::{Session, Stamp};
use crate::error::AppError;
use crate::evidence::{Evidence, Observed};
use crate::progress::Progress;
use crate::projecting;
use crate::state::DeclaredTask;
use format::Incoming;
use source::{Again, Source};

pub use capture::recording::Choice;
pub use format::{BatchRequests, Format};

/// How much is made durable at once: more would cost memory, less would cost waits.
const GROUP_LINES: usize = 256;
const GROUP_BYTES: usize = 16 << 20;

/// How to import.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImportOptions {
    /// The task that the calls belong to.
    pub task: Option<TaskId>,
    /// Import the well-formed lines of a file that has malformed ones.
    pub keep_going: bool,
}

/// The files of one import, all in one form.
#[derive(Debug, Clone, Copy)]
pub struct Recordings<'a> {
    /// Where they are.
    pub paths: &'a [PathBuf],
    /// What they are written in.
    pub format: &'a Format,
}

/// What became of one line, or of one entry of a recording.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedLine {
    /// The file.
    pub file: String,
    /// From 1: the line, or the place among the entries.
    pub line: u64,
    /// The name that the line gives.
    pub external_id: Option<String>,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: LineOutcome,
}

/// What became of one line.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum LineOutcome {
    /// It is a new call.
    Imported {
        /// The call.
        call: CallId,
        /// Its attempt.
        attempt: AttemptId,
    },
    /// The same line was imported before.
    Duplicate {
        /// The call of that time.
        call: CallId,
        /// Its attempt.
        attempt: AttemptId,
    },
    /// It is no call in a known dialect.
    Skipped {
        /// The path of its request, or words where it has none.
        endpoint: String,
    },
    /// It was not imported.
    Refused {
        /// Why, as a name.
        code: &'static str,
        /// Why.
        detail: String,
    },
}

/// What became of one file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    /// New calls.
    pub imported: u64,
    /// Lines that were imported before.
    pub duplicates: u64,
    /// Lines that were not imported.
    pub refused: u64,
    /// Entries that are no calls in a known dialect; none in a form that names the
    /// dialect of each.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub skipped: Option<u64>,
}

impl ImportSummary {
    fn count(&mut self, outcome: &LineOutcome) {
        match outcome {
            LineOutcome::Imported { .. } => self.imported += 1,
            LineOutcome::Duplicate { .. } => self.duplicates += 1,
            LineOutcome::Refused { .. } => self.refused += 1,
            LineOutcome::Skipped { .. } => *self.skipped.get_or_insert(0) += 1,
        }
    }
}

struct Pending {
    line: u64,
    incoming: Box<Incoming>,
}

impl Session {
    /// Imports files of exchange lines. Without `keep_going`, a malformed line in
    /// any of them refuses all before anything is imported.
    pub fn import_exchanges(
        &mut self,
        paths: &[PathBuf],
        options: ImportOptions,
        progress: &mut dyn Progress,
        mut report: impl FnMut(ImportedLine) -> Result<(), AppError>,
    ) -> Result<ImportSummary, AppError> {
        let format = &Format::Exchange;
        self.import_recordings(Recordings { paths, format }, options, progress, &mut report)
    }

    /// Imports files of one form. Without `keep_going`, a malformed entry in any of
    /// them refuses all before anything is imported.
    pub fn import_recordings(
        &mut self,
        recordings: Recordings<'_>,
        options: ImportOptions,
        progress: &mut dyn Progress,
        report: &mut dyn FnMut(ImportedLine) -> Result<(), AppError>,
    ) -> Result<ImportSummary, AppError> {
        let task = match options.task {
            Some(task) => Some(self.declared(task)?),
            None => None,
        };
        let mut sources = Vec::new();
        let mut malformed = Vec::new();
        for path in recordings.paths {
            let source = Source::scan(path, recordings.format, progress)?;
            malformed.extend(source.malformed().map(|(_, line)| line));
            sources.push(source);
        }
        if !options.keep_going && !malformed.is_empty() {
            return Err(AppError::Malformed(malformed));
        }
        let mut summary = ImportSummary {
            skipped: recordings.format.skips().then_some(0),
            ..ImportSummary::default()
        };
        let mut report = |line: ImportedLine| {
            summary.count(&line.outcome);
            report(line)
        };
        for source in &sources {
            for (number, line) in source.malformed() {
                report(ImportedLine {
                    file: source.name(),
                    line: number,
                    external_id: None,
                    outcome: LineOutcome::Refused {
                        code: "malformed_exchange",
                        detail: line.detail,
                    },
                })?;
            }
            self.import_source(source, task, progress, &mut report)?;
        }
        Ok(summary)
    }

    fn import_source(
        &mut self,
        source: &Source<'_>,
        task: Option<DeclaredTask>,
        progress: &mut dyn Progress,
        report: &mut dyn FnMut(ImportedLine) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        progress.begin("importing", u64::try_from(source.len()).ok());
        let mut group: Vec<Pending> = Vec::new();
        let mut group_bytes = 0;
        source.again(&mut |again| {
            match again {
                Again::Exchange(line, incoming) => {
                    group_bytes += incoming.line_bytes;
                    group.push(Pending { line, incoming });
                }
                Again::Skipped(line, endpoint) => report(ImportedLine {
                    file: source.name(),
                    line,
                    external_id: None,
                    outcome: LineOutcome::Skipped { endpoint },
                })?,
            }
            if group.len() >= GROUP_LINES || group_bytes >= GROUP_BYTES {
                let count = u64::try_from(group.len()).unwrap_or(0);
                self.import_group(source, std::mem::take(&mut group), task, report)?;
                group_bytes = 0;
                progress.advance(count);
            }
            Ok(())
        })?;
        self.import_group(source, group, task, report)?;
        progress.end();
        Ok(())
    }

    fn import_group(
        &mut self,
        source: &Source<'_>,
        group: Vec<Pending>,
        task: Option<DeclaredTask>,
        report: &mut dyn FnMut(ImportedLine) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let evidence = Evidence::new(self.artifacts.clone(), self.ledger.reader())?;
        let mut fresh = Vec::new();
        for pending in group {
            match repeated(&pending, self.ledger.reader(), &evidence)? {
                Some(outcome) => report(source.line(&pending, outcome))?,
                None => fresh.push(pending),
            }
        }
        let bodies: Vec<&[u8]> = fresh
            .iter()
            .flat_map(|pending| {
                [
                    &pending.incoming.exchange.request_body,
                    &pending.incoming.exchange.response_body,
                ]
            })
            .filter_map(Option::as_deref)
            .collect();
        self.artifacts.put_all(&bodies)?;
        let stamp = Stamp::new(&self.context, self.ledger_id);
        let mut writer = self.ledger.writer()?;
        let mut outcomes = Vec::new();
        for pending in fresh {
            // Another process, or an equal line of this group, may have come first.
            let repeated = repeated(&pending, writer.reader(), &evidence)?;
            let outcome = if let Some(outcome) = repeated {
                outcome
            } else {
                let unit = Unit::of(&pending, source, task, &stamp)?;
                unit.append(&mut writer)?;
                LineOutcome::Imported {
                    call: unit.call,
                    attempt: unit.attempt,
                }
            };
            outcomes.push(source.line(&pending, outcome));
        }
        projecting::commit(writer)?;
        outcomes.into_iter().try_for_each(report)
    }
}

/// Returns what became of a line that was imported before. A recorded answer is
/// given only while its bytes can be read.
fn repeated(
    pending: &Pending,
    reader: store::Reader<'_>,
    evidence: &Evidence,
) -> Result<Option<LineOutcome>, AppError> {
    let Incoming {
        exchange,
        line_sha256,
        ..
    } = &*pending.incoming;
    let key = UniqueKey::Import(exchange.external_id.as_deref(), *line_sha256);
    let Some(call) = reader
        .by_key(&key)?
        .and_then(|placed| placed.event.scope.call)
    else {
        return Ok(None);
    };
    let events = reader.of_call(call)?;
    let observed = events
        .iter()
        .find_map(Observed::of)
        .ok_or_else(|| AppError::Damage(format!("call {call} is imported without observation")))?;
    match evidence.bytes(observed) {
        Ok(_) => Ok(Some(LineOutcome::Duplicate {
            call,
            attempt: observed.attempt,
        })),
        Err(AppError::Observation(mut unavailable)) => {
            unavailable.recorded = Some(observed.event);
            let code = "observation_unavailable";
            Ok(Some(LineOutcome::Refused {
                code,
                detail: unavailable.to_string(),
            }))
        }
        Err(error) => Err(error),
    }
}

/// The two events of one imported exchange.
struct Unit {
    call: CallId,
    attempt: AttemptId,
    imported: Event,
    observed: Event,
}

impl Unit {
    fn append(&self, writer: &mut store::Writer<'_>) -> Result<(), AppError> {
        let mut placed = Vec::new();
        for event in [&self.imported, &self.observed] {
            placed.push(Placed {
                seq: writer.append(event)?,
                event: event.clone(),
            });
        }
        projecting::cache(writer, &placed)
    }

    fn of(
        pending: &Pending,
        source: &Source<'_>,
        task: Option<DeclaredTask>,
        stamp: &Stamp<'_>,
    ) -> Result<Self, AppError> {
        let exchange = &pending.incoming.exchange;
        let (call, attempt) = (stamp.call_id()?, stamp.attempt_id()?);
        let cause = task.map(|task| task.declaration);
        let task = task.map(|task| task.task);
        let imported = stamp.event(
            cause,
            Scope {
                task,
                call: Some(call),
                attempt: None,
            },
            CallImported {
                importer: source.format.importer().to_owned(),
                source_sha256: source.sha256,
                line: pending.line,
                line_sha256: pending.incoming.line_sha256,
                external_id: exchange.external_id.clone(),
                provider: exchange.provider.clone(),
                dialect: exchange.dialect.to_owned(),
                exactness: pending.incoming.exactness.to_owned(),
            },
        )?;
        let artifact = |body: &Option<Vec<u8>>, media_type: &str| {
            body.as_ref().map(|bytes| ArtifactRef {
                sha256: Digest::of(bytes),
                length: u64::try_from(bytes.len()).unwrap_or(u64::MAX),
                media_type: media_type.to_owned(),
                preservation: Preservation::Keep,
            })
        };
        let observed = stamp.event(
            Some(imported.id),
            Scope {
                task,
                call: Some(call),
                attempt: Some(attempt),
            },
            Body::from(Box::new(AttemptObserved {
                index: 1,
                provider: exchange.provider.clone(),
                dialect: exchange.dialect.to_owned(),
                endpoint: exchange.endpoint.clone(),
                transport_outcome: exchange.outcome,
                http_status: exchange.status,
                headers: exchange.headers.clone(),
                headers_dropped: exchange.headers_dropped.clone(),
                exception_type: exchange.exception_type,
                request_body_artifact: artifact(
                    &exchange.request_body,
                    &exchange.request_media_type,
                ),
                response_body_artifact: artifact(
                    &exchange.response_body,
                    &exchange.response_media_type,
                ),
            })),
        )?;
        Ok(Self {
            call,
            attempt,
            imported,
            observed,
        })
    }
}

impl Source<'_> {
    fn line(&self, pending: &Pending, outcome: LineOutcome) -> ImportedLine {
        ImportedLine {
            file: self.name(),
            line: pending.line,
            external_id: pending.incoming.exchange.external_id.clone(),
            outcome,
        }
    }
}
