//! The events, in order: leaves, canonical bytes, index columns, references.

use std::collections::BTreeMap;

use model::event::attempt::Inputs;
use model::event::home::ErasureTarget;
use model::event::{ArtifactRef, Body, Event, Placed, Preservation};
use model::id::LedgerId;
use model::merkle::{self, Edge};
use model::name::{Label, Mod};
use model::{Digest, EventId};
use store::Reader;
use store::ledger::RawEntry;

use super::Findings;
use crate::checkpoint::Checkpoint;
use crate::error::AppError;
use crate::progress::Progress;

/// How many rows are read at a time.
const PAGE: u32 = 2000;

/// Walks over the events and holds each against what came before it.
pub(super) struct History<'a, 'f> {
    reader: Reader<'a>,
    findings: &'a mut Findings<'f>,
    ledger: LedgerId,
    checkpoint_size: Option<u64>,
    modules: BTreeMap<Label, Digest>,
    walked: Walked,
}

/// What the events were found to come to.
pub(super) struct Walked {
    pub(super) events: u64,
    pub(super) erased: u64,
    pub(super) edge: Edge,
    pub(super) root_at_checkpoint: Option<Digest>,
    pub(super) references: References,
}

/// The artifacts that events name.
#[derive(Debug, Default)]
pub(super) struct References {
    /// Bytes that must be there, with the first event that names them.
    pub(super) kept: Vec<(Digest, u64)>,
    /// Bytes that were removed on purpose.
    pub(super) erased: Vec<Digest>,
    /// Places of events that were removed on purpose.
    erased_events: Vec<u64>,
}

impl References {
    fn keep(&mut self, digest: Digest, seq: u64) {
        self.kept.push((digest, seq));
    }

    fn keep_ref(&mut self, artifact: Option<&ArtifactRef>, seq: u64) {
        if let Some(artifact) = artifact
            && artifact.preservation != Preservation::Withhold
        {
            self.keep(artifact.sha256, seq);
        }
    }
}

impl<'a, 'f> History<'a, 'f> {
    pub(super) fn new(
        reader: Reader<'a>,
        findings: &'a mut Findings<'f>,
        ledger: LedgerId,
        checkpoint: Option<&Checkpoint>,
    ) -> Self {
        let checkpoint_size = checkpoint.map(|checkpoint| checkpoint.size);
        let edge = Edge::default();
        Self {
            reader,
            findings,
            ledger,
            checkpoint_size,
            modules: BTreeMap::new(),
            walked: Walked {
                events: 0,
                erased: 0,
                root_at_checkpoint: (checkpoint_size == Some(0)).then(|| edge.root()),
                edge,
                references: References::default(),
            },
        }
    }

    pub(super) fn finish(self) -> Walked {
        self.walked
    }

    pub(super) fn walk(&mut self, progress: &mut dyn Progress) -> Result<(), AppError> {
        progress.begin("verifying events", Some(self.reader.last_seq()?));
        let mut missing_bytes = Vec::new();
        let mut seq = 0;
        loop {
            let page = self.reader.raw_after(seq, PAGE)?;
            let Some(last) = page.last() else { break };
            seq = last.seq;
            for entry in &page {
                if self.entry(entry)? == Kept::No {
                    missing_bytes.push(entry.seq);
                }
            }
            progress.advance(u64::try_from(page.len()).unwrap_or(0));
        }
        progress.end();
        // An erasure is recorded after what it erases, so only now it is known.
        for seq in missing_bytes {
            if self.walked.references.erased_events.contains(&seq) {
                self.walked.erased += 1;
            } else {
                let detail = "salt and bytes are gone, but no home.erased names it";
                self.findings.add(event(seq), "event_missing", detail)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, entry: &RawEntry) -> Result<Kept, AppError> {
        let RawEntry {
            seq,
            leaf,
            salt,
            bytes,
            ..
        } = entry;
        let seq = *seq;
        self.walked.events += 1;
        if seq != self.walked.events {
            let detail = format!("expected place {}, found {seq}", self.walked.events);
            self.findings.add(event(seq), "sequence", detail)?;
            self.walked.events = seq;
        }
        let Ok(recorded) = <[u8; 32]>::try_from(leaf.as_slice()) else {
            let detail = format!("expected a leaf of 32 bytes, found {}", leaf.len());
            self.findings.add(event(seq), "leaf", detail)?;
            return Ok(Kept::Yes);
        };
        let recorded = Digest::from_bytes(recorded);
        self.walked.edge.push(recorded);
        if self.checkpoint_size == Some(self.walked.edge.size()) {
            self.walked.root_at_checkpoint = Some(self.walked.edge.root());
        }
        let (Some(salt), Some(bytes)) = (salt, bytes) else {
            return Ok(Kept::No);
        };
        let found = merkle::leaf(salt, bytes);
        if found != recorded {
            let detail = format!("leaf is {recorded}, but salt and bytes hash to {found}");
            self.findings.add(event(seq), "leaf", detail)?;
        }
        match Event::parse_exact(bytes) {
            Err(error) => self.findings.add(event(seq), "bytes", error.to_string())?,
            Ok(parsed) => {
                for finding in entry.index_findings(&parsed) {
                    let detail =
                        format!("the index column {} differs from the bytes", finding.column);
                    self.findings.add(event(seq), "index", detail)?;
                }
                self.meaning(&Placed { seq, event: parsed })?;
            }
        }
        Ok(Kept::Yes)
    }

    /// Holds what an event says against what came before it.
    fn meaning(&mut self, placed: &Placed) -> Result<(), AppError> {
        let Placed { seq, event: found } = placed;
        let seq = *seq;
        if found.ledger != self.ledger {
            let detail = format!("expected ledger {}, found {}", self.ledger, found.ledger);
            self.findings.add(event(seq), "ledger", detail)?;
        }
        if (seq == 1) != matches!(found.body, Body::HomeCreated(_)) {
            let kind = found.kind().as_str();
            self.findings.add(
                event(seq),
                "order",
                format!("a {kind} event cannot stand here"),
            )?;
        }
        if let Some(cause) = found.cause {
            self.earlier(seq, cause, "cause")?;
        }
        self.body(placed)
    }

    #[expect(
        clippy::wildcard_enum_match_arm,
        reason = "the other kinds name no bytes"
    )]
    fn body(&mut self, placed: &Placed) -> Result<(), AppError> {
        let seq = placed.seq;
        match &placed.event.body {
            Body::HomeErased(body) => {
                for target in &body.targets {
                    match target {
                        ErasureTarget::Event { seq } => {
                            self.walked.references.erased_events.push(*seq);
                        }
                        ErasureTarget::Artifact { sha256 } => {
                            self.walked.references.erased.push(*sha256);
                        }
                    }
                }
            }
            Body::ModuleRegistered(body) => {
                self.walked.references.keep(body.module.sha256, seq);
                self.modules
                    .insert(body.module.label.clone(), body.module.sha256);
            }
            Body::CallRequested(body) => {
                self.walked.references.keep_ref(body.request.as_ref(), seq);
                self.module(seq, &body.interpreter)?;
                self.module(seq, &body.policy)?;
            }
            Body::CallManifest(body) => self.walked.references.keep_ref(Some(&body.request), seq),
            Body::AttemptStarted(body) => self.walked.references.keep_ref(Some(&body.request), seq),
            Body::AttemptObserved(body) => {
                self.walked
                    .references
                    .keep_ref(body.request_body_artifact.as_ref(), seq);
                self.walked
                    .references
                    .keep_ref(body.response_body_artifact.as_ref(), seq);
            }
            Body::AttemptInterpreted(body) => {
                self.module(seq, &body.module)?;
                if let Some(config) = body.config_sha256 {
                    self.walked.references.keep(config, seq);
                }
                self.reading_inputs(placed, &body.inputs)?;
            }
            Body::AttemptRetryDecided(body) => self.module(seq, &body.policy)?,
            Body::CallStatusDecided(body) => {
                self.module(seq, &body.interpreter)?;
                self.module(seq, &body.policy)?;
                self.readings(seq, &body.interpretations, &body.interpreter)?;
            }
            Body::CallReinterpreted(body) => {
                self.module(seq, &body.interpreter)?;
                self.module(seq, &body.policy)?;
                self.readings(seq, &body.interpretations, &body.interpreter)?;
                if let Some(prior) = body.prior_record {
                    self.earlier(seq, prior, "prior_record")?;
                }
            }
            Body::CheckCompleted(body) => {
                self.walked.references.keep_ref(body.stdout.as_ref(), seq);
                self.walked.references.keep_ref(body.stderr.as_ref(), seq);
            }
            _ => {}
        }
        Ok(())
    }

    fn module(&mut self, seq: u64, module: &Mod) -> Result<(), AppError> {
        match self.modules.get(&module.label) {
            Some(sha256) if *sha256 == module.sha256 => Ok(()),
            Some(bound) => {
                let detail = format!("names {module}, but the label is bound to {bound}");
                self.findings.add(event(seq), "module", detail)
            }
            None => self.findings.add(
                event(seq),
                "module",
                format!("names {module}, which is not registered"),
            ),
        }
    }

    /// The inputs of a reading are those of the observation that caused it.
    fn reading_inputs(&mut self, placed: &Placed, inputs: &Inputs) -> Result<(), AppError> {
        let seq = placed.seq;
        let Some(observed) = self.earlier(seq, inputs.observation, "observation")? else {
            return Ok(());
        };
        let Body::AttemptObserved(body) = &observed.event.body else {
            let detail = format!("{} is no observation", inputs.observation);
            return self.findings.add(event(seq), "inputs", detail);
        };
        let sha256 = |artifact: &Option<ArtifactRef>| artifact.as_ref().map(|one| one.sha256);
        let same = inputs.response_sha256 == sha256(&body.response_body_artifact)
            && inputs.request_sha256 == sha256(&body.request_body_artifact)
            && observed.event.scope.attempt == placed.event.scope.attempt
            && placed.event.cause == Some(inputs.observation);
        if same {
            return Ok(());
        }
        let detail = format!(
            "the inputs are not those of the observation at {}",
            observed.seq
        );
        self.findings.add(event(seq), "inputs", detail)
    }

    fn readings(
        &mut self,
        seq: u64,
        interpretations: &[EventId],
        interpreter: &Mod,
    ) -> Result<(), AppError> {
        for id in interpretations {
            let Some(placed) = self.earlier(seq, *id, "interpretation")? else {
                continue;
            };
            let by_it = matches!(
                &placed.event.body,
                Body::AttemptInterpreted(body) if body.module == *interpreter
            );
            if !by_it {
                let detail = format!("{id} is no reading of {interpreter}");
                self.findings.add(event(seq), "reference", detail)?;
            }
        }
        Ok(())
    }

    /// Returns an event that must stand earlier.
    fn earlier(&mut self, seq: u64, id: EventId, what: &str) -> Result<Option<Placed>, AppError> {
        match self.reader.by_id(id) {
            Ok(Some(placed)) if placed.seq < seq => Ok(Some(placed)),
            // An erased or a damaged event is reported where it stands.
            Err(
                store::LedgerError::Erased { .. }
                | store::LedgerError::Leaf { .. }
                | store::LedgerError::Entry { .. },
            ) => Ok(None),
            Ok(_) => {
                let detail = format!("its {what} {id} does not stand before it");
                self.findings
                    .add(event(seq), "reference", detail)
                    .map(|()| None)
            }
            Err(error) => Err(error.into()),
        }
    }
}

#[derive(Debug, PartialEq, Eq)]
enum Kept {
    Yes,
    No,
}

fn event(seq: u64) -> String {
    format!("event {seq}")
}
