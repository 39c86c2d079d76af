//! `import exchange`: recorded exchanges in, observations out.
//!
//! A file is read twice: the first time to hash it and to refuse it whole when a
//! line is malformed, the second time to import it. A line that changed between
//! the two is refused. Bytes are durable before the events that name them.

mod source;

use std::path::PathBuf;

use capture::exchange::{EXACTNESS, Exchange, IMPORTER, parse_line};
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
use source::{LineReader, Source};

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

/// What became of one line.
#[derive(Debug, Clone, Serialize)]
pub struct ImportedLine {
    /// The file.
    pub file: String,
    /// From 1.
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
}

struct Pending {
    line: u64,
    line_sha256: Digest,
    exchange: Exchange,
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
        let task = match options.task {
            Some(task) => Some(self.declared(task)?),
            None => None,
        };
        let mut sources = Vec::new();
        let mut malformed = Vec::new();
        for path in paths {
            let source = Source::scan(path, progress)?;
            malformed.extend(source.malformed_lines());
            sources.push(source);
        }
        if !options.keep_going && !malformed.is_empty() {
            return Err(AppError::Malformed(malformed));
        }
        let mut summary = ImportSummary::default();
        for source in &sources {
            for line in source.malformed_lines() {
                summary.refused += 1;
                report(ImportedLine {
                    file: source.name(),
                    line: line.line,
                    external_id: None,
                    outcome: LineOutcome::Refused {
                        code: "malformed_exchange",
                        detail: line.detail,
                    },
                })?;
            }
            self.import_source(source, task, progress, &mut |line| {
                match &line.outcome {
                    LineOutcome::Imported { .. } => summary.imported += 1,
                    LineOutcome::Duplicate { .. } => summary.duplicates += 1,
                    LineOutcome::Refused { .. } => summary.refused += 1,
                }
                report(line)
            })?;
        }
        Ok(summary)
    }

    fn import_source(
        &mut self,
        source: &Source,
        task: Option<DeclaredTask>,
        progress: &mut dyn Progress,
        report: &mut dyn FnMut(ImportedLine) -> Result<(), AppError>,
    ) -> Result<(), AppError> {
        let steps = u64::try_from(source.lines.len()).ok();
        progress.begin("importing", steps);
        let mut reader = LineReader::open(&source.path)?;
        let mut group = Vec::new();
        let mut group_bytes = 0;
        for expected in &source.lines {
            // Blank lines are no exchanges: skip to the number the scan gave.
            let line = loop {
                match reader.next_line()? {
                    Some(line) if line.number == expected.number => break line,
                    Some(_) => {}
                    None => return Err(source.changed(expected.number)),
                }
            };
            if Digest::of(&line.bytes) != expected.sha256 {
                return Err(source.changed(expected.number));
            }
            if expected.malformed.is_none() {
                let exchange =
                    parse_line(&line.bytes).map_err(|error| AppError::Damage(error.to_string()))?;
                group_bytes += line.bytes.len();
                group.push(Pending {
                    line: line.number,
                    line_sha256: expected.sha256,
                    exchange,
                });
            }
            if group.len() >= GROUP_LINES || group_bytes >= GROUP_BYTES {
                let count = u64::try_from(group.len()).unwrap_or(0);
                self.import_group(source, std::mem::take(&mut group), task, report)?;
                group_bytes = 0;
                progress.advance(count);
            }
        }
        self.import_group(source, group, task, report)?;
        progress.end();
        Ok(())
    }

    fn import_group(
        &mut self,
        source: &Source,
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
                    &pending.exchange.request_body,
                    &pending.exchange.response_body,
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
    let key = UniqueKey::Import(pending.exchange.external_id.as_deref(), pending.line_sha256);
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
        source: &Source,
        task: Option<DeclaredTask>,
        stamp: &Stamp<'_>,
    ) -> Result<Self, AppError> {
        let exchange = &pending.exchange;
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
                importer: IMPORTER.to_owned(),
                source_sha256: source.sha256,
                line: pending.line,
                line_sha256: pending.line_sha256,
                external_id: exchange.external_id.clone(),
                provider: exchange.provider.clone(),
                dialect: exchange.dialect.to_owned(),
                exactness: EXACTNESS.to_owned(),
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

impl Source {
    fn line(&self, pending: &Pending, outcome: LineOutcome) -> ImportedLine {
        ImportedLine {
            file: self.name(),
            line: pending.line,
            external_id: pending.exchange.external_id.clone(),
            outcome,
        }
    }
}
