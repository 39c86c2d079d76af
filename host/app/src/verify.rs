//! `verify`: everything that is recorded, held against itself.
//!
//! Nothing is believed on the way: leaves are hashed again, bytes are parsed and
//! written again, index columns are derived again, files are read whole. All
//! damage is reported, not only the first.

mod bytes;
mod costs;
mod history;
mod replay;

use std::path::{Path, PathBuf};

use model::Digest;
use model::merkle::Edge;
use serde::Serialize;

use crate::checkpoint::{Checkpoint, Verifier};
use crate::context::Session;
use crate::error::AppError;
use crate::files;
use crate::progress::Progress;
use history::{History, Range, Walked};

/// One checkpoint with the signatures of many witnesses, in bytes.
const NOTE_BYTES_MAX: usize = 1 << 20;

/// What to verify beside the ledger and the artifacts.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// An older checkpoint, which must be a prefix.
    pub against: Option<PathBuf>,
    /// The public key that signed it; none means this home's own.
    pub log_key: Option<String>,
    /// Run recorded readings again and compare the results.
    pub replay: bool,
}

/// Something that is not as it was recorded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What is damaged: an event, an artifact, the tree, …
    pub object: String,
    /// A short stable name.
    pub code: &'static str,
    /// What was expected and what was found.
    pub detail: String,
}

/// A finished verification.
#[derive(Debug, Clone, Default, Serialize)]
pub struct Verified {
    /// Events that were read.
    pub events: u64,
    /// Events of which only the leaf is left.
    pub erased: u64,
    /// The root of the tree over them.
    pub root: String,
    /// Artifact files that were read.
    pub artifacts: u64,
    /// Their bytes.
    pub artifact_bytes: u64,
    /// Artifacts that no event names: what a crash between the two leaves behind.
    pub orphans: u64,
    /// Readings that were run again.
    pub replayed: u64,
    /// Costs that were computed again.
    #[serde(skip_serializing_if = "is_zero")]
    pub replayed_costs: u64,
    /// Readings and costs that could not be compared, with no damage to report.
    pub not_comparable: u64,
    /// The size of the checkpoint that was found to be a prefix.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub consistent_with: Option<u64>,
    /// How many findings were reported.
    pub findings: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
const fn is_zero(count: &u64) -> bool {
    *count == 0
}

/// Where findings go.
pub(crate) struct Findings<'a> {
    report: &'a mut dyn FnMut(Finding) -> Result<(), AppError>,
    count: u64,
}

impl Findings<'_> {
    pub(crate) fn add(
        &mut self,
        object: impl Into<String>,
        code: &'static str,
        detail: impl Into<String>,
    ) -> Result<(), AppError> {
        self.count += 1;
        (self.report)(Finding {
            object: object.into(),
            code,
            detail: detail.into(),
        })
    }

    /// Reports a ledger whose file cannot be read to its end; any other failure is
    /// none of the home's.
    fn unreadable(&mut self, error: store::LedgerError) -> Result<(), AppError> {
        if matches!(error, store::LedgerError::Malformed { .. }) {
            return self.add("ledger", "sqlite", error.to_string());
        }
        Err(error.into())
    }
}

impl Session {
    /// Verifies the home and reports every finding.
    pub fn verify(
        &mut self,
        options: &VerifyOptions,
        progress: &mut dyn Progress,
        report: &mut dyn FnMut(Finding) -> Result<(), AppError>,
    ) -> Result<Verified, AppError> {
        let mut findings = Findings { report, count: 0 };
        let against = match &options.against {
            Some(path) => Some(self.older_checkpoint(path, options.log_key.as_deref())?),
            None => None,
        };
        let mut verified = Verified::default();
        let reader = self.ledger.reader();
        match reader.integrity_check() {
            Ok(complaints) => {
                for complaint in complaints {
                    findings.add("ledger", "sqlite", complaint)?;
                }
            }
            Err(error) => findings.unreadable(error)?,
        }
        for guard in reader.missing_guards()? {
            findings.add(
                "ledger",
                "guard_missing",
                format!("the trigger {guard} is gone"),
            )?;
        }
        // Before the walk: what other processes append meanwhile is not looked at.
        let edge = reader.edge();
        let range = Range {
            ledger: self.ledger_id,
            checkpoint_size: against.as_ref().map(|checkpoint| checkpoint.size),
            last: edge.as_ref().map_or(u64::MAX, Edge::size),
        };
        let mut history = History::new(reader, &mut findings, range);
        let walked = history.walk(progress);
        let history = history.finish();
        match walked {
            Ok(()) => {}
            Err(AppError::Ledger(error)) => findings.unreadable(error)?,
            Err(error) => return Err(error),
        }
        verified.events = history.events;
        verified.erased = history.erased;
        verified.root = history.edge.root().to_string();
        check_edge(edge, &history.edge, &mut findings)?;
        if let Some(checkpoint) = against {
            verified.consistent_with = check_prefix(&history, &checkpoint, &mut findings)?;
        }
        let files = bytes::walk(
            &self.artifacts,
            &history.references,
            progress,
            &mut findings,
        )?;
        verified.artifacts = files.artifacts;
        verified.artifact_bytes = files.bytes;
        verified.orphans = files.orphans;
        if options.replay {
            let replayed = replay::walk(self, progress, &mut findings)?;
            let costs = costs::walk(self, progress, &mut findings)?;
            verified.replayed = replayed.run;
            verified.replayed_costs = costs.run;
            verified.not_comparable = replayed.not_comparable + costs.not_comparable;
        }
        verified.findings = findings.count;
        Ok(verified)
    }

    fn older_checkpoint(&self, path: &Path, key: Option<&str>) -> Result<Checkpoint, AppError> {
        let note = files::read_text(path, NOTE_BYTES_MAX)?;
        let verifier = match key {
            Some(key) => Verifier::parse(key)?,
            None => self.log_verifier()?,
        };
        Checkpoint::open(&note, &verifier)
    }
}

fn check_edge(
    recorded: Result<Edge, store::LedgerError>,
    computed: &Edge,
    findings: &mut Findings<'_>,
) -> Result<(), AppError> {
    match recorded {
        Ok(recorded) if recorded == *computed => Ok(()),
        Ok(recorded) => findings.add(
            "tree",
            "tree_edge",
            format!(
                "the recorded edge has {} leaves and root {}, but the events give {} and {}",
                recorded.size(),
                recorded.root(),
                computed.size(),
                computed.root()
            ),
        ),
        Err(error) => findings.add("tree", "tree_edge", error.to_string()),
    }
}

fn check_prefix(
    history: &Walked,
    checkpoint: &Checkpoint,
    findings: &mut Findings<'_>,
) -> Result<Option<u64>, AppError> {
    let found: Option<Digest> = history.root_at_checkpoint;
    match found {
        Some(root) if root == checkpoint.root => Ok(Some(checkpoint.size)),
        Some(root) => {
            let detail = format!(
                "the checkpoint of {} events has root {}, but the first {} events here have {root}: \
                 history was rewritten",
                checkpoint.size, checkpoint.root, checkpoint.size
            );
            findings
                .add("checkpoint", "not_a_prefix", detail)
                .map(|()| None)
        }
        None => {
            let detail = format!(
                "the checkpoint has {} events, but the ledger has only {}: history was cut",
                checkpoint.size, history.events
            );
            findings
                .add("checkpoint", "not_a_prefix", detail)
                .map(|()| None)
        }
    }
}
