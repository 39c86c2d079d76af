//! The events, in order: leaves, canonical bytes, index columns, references.

use std::collections::{BTreeMap, BTreeSet};

use model::event::attempt::Inputs;
use model::event::home::ErasureTarget;
use model::event::{ArtifactRef, Body, Event, Placed};
use model::id::LedgerId;
use model::merkle::{self, Edge};
use model::name::{Label, Mod};
use model::{Digest, EventId};
use store::Reader;
use store::ledger::RawEntry;

use super::Findings;
use crate::error::AppError;
use crate::progress::Progress;

/// How many rows are read at a time.
const PAGE: u32 = 2000;

/// Walks over the events and holds each against what came before it.
pub(super) struct History<'a, 'f> {
    reader: Reader<'a>,
    findings: &'a mut Findings<'f>,
    range: Range,
    modules: BTreeMap<Label, Digest>,
    unresolved: Vec<Unresolved>,
    walked: Walked,
}

/// Which events are held against what.
#[derive(Debug, Clone, Copy)]
pub(super) struct Range {
    /// The ledger that all events are of.
    pub(super) ledger: LedgerId,
    /// The size at which the root is wanted.
    pub(super) checkpoint_size: Option<u64>,
    /// The last place.
    pub(super) last: u64,
}

/// A reference to a name that no event has.
struct Unresolved {
    seq: u64,
    lost: Lost,
    code: &'static str,
    detail: String,
}

/// A name that may have gone with an erased event.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Lost {
    Event(EventId),
    Label(Label),
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
    fn erase(&mut self, targets: &[ErasureTarget]) {
        for target in targets {
            match target {
                ErasureTarget::Event { seq } => self.erased_events.push(*seq),
                ErasureTarget::Artifact { sha256 } => self.erased.push(*sha256),
            }
        }
    }
}

impl<'a, 'f> History<'a, 'f> {
    pub(super) fn new(reader: Reader<'a>, findings: &'a mut Findings<'f>, range: Range) -> Self {
        let edge = Edge::default();
        Self {
            reader,
            findings,
            range,
            modules: BTreeMap::new(),
            unresolved: Vec::new(),
            walked: Walked {
                events: 0,
                erased: 0,
                root_at_checkpoint: (range.checkpoint_size == Some(0)).then(|| edge.root()),
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
            let mut page = self.reader.raw_after(seq, PAGE)?;
            page.retain(|entry| entry.seq <= self.range.last);
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
        self.settle(missing_bytes)
    }

    /// Decides what only the end of the ledger can: an erasure is recorded after
    /// what it erases.
    fn settle(&mut self, missing_bytes: Vec<u64>) -> Result<(), AppError> {
        for seq in missing_bytes {
            if self.walked.references.erased_events.contains(&seq) {
                self.walked.erased += 1;
            } else {
                let detail = "salt and bytes are gone, but no home.erased names it";
                self.findings.add(event(seq), "event_missing", detail)?;
            }
        }
        // As many names can be gone as events were erased, and no more.
        let names: BTreeSet<_> = self.unresolved.iter().map(|one| &one.lost).collect();
        let erased = usize::try_from(self.walked.erased).unwrap_or(usize::MAX);
        if names.len() > erased {
            for one in std::mem::take(&mut self.unresolved) {
                self.findings.add(event(one.seq), one.code, one.detail)?;
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
        if self.range.checkpoint_size == Some(self.walked.edge.size()) {
            self.walked.root_at_checkpoint = Some(self.walked.edge.root());
        }
        let (salt, bytes) = match (salt, bytes) {
            (Some(salt), Some(bytes)) => (salt, bytes),
            (None, None) => {
                for finding in entry.left_columns() {
                    let detail = format!("erased, but the index column {} is left", finding.column);
                    self.findings.add(event(seq), "index", detail)?;
                }
                return Ok(Kept::No);
            }
            _ => {
                let detail = "either its salt or its bytes are gone, but not both";
                self.findings.add(event(seq), "event_missing", detail)?;
                return Ok(Kept::Yes);
            }
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
        let ledger = self.range.ledger;
        if found.ledger != ledger {
            let detail = format!("expected ledger {ledger}, found {}", found.ledger);
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
        let kind = found.kind();
        match found.cause {
            Some(id) => {
                if let Some(cause) = self.earlier(seq, id, "cause")?
                    && let Some(detail) = placed.contradicts(&cause)
                {
                    self.findings.add(event(seq), "cause", detail)?;
                }
            }
            None if kind.may_have_no_cause() => {}
            None => {
                let detail = format!("a {} event needs a cause", kind.as_str());
                self.findings.add(event(seq), "cause", detail)?;
            }
        }
        self.body(placed)
    }

    fn body(&mut self, placed: &Placed) -> Result<(), AppError> {
        let seq = placed.seq;
        let body = &placed.event.body;
        for digest in body.artifacts() {
            self.walked.references.kept.push((digest, seq));
        }
        for module in body.modules() {
            self.module(seq, module)?;
        }
        #[expect(
            clippy::wildcard_enum_match_arm,
            reason = "the other kinds name no event but their cause"
        )]
        match body {
            Body::HomeErased(body) => self.walked.references.erase(&body.targets),
            Body::ModuleRegistered(body) => {
                let Mod { label, sha256 } = body.module.clone();
                self.modules.insert(label, sha256);
            }
            Body::AttemptInterpreted(body) => self.reading_inputs(placed, &body.inputs)?,
            Body::CallStatusDecided(body) => {
                self.readings(seq, &body.interpretations, &body.interpreter)?;
            }
            Body::CallReinterpreted(body) => {
                self.readings(seq, &body.interpretations, &body.interpreter)?;
                if let Some(prior) = body.prior_record {
                    self.earlier(seq, prior, "prior_record")?;
                }
            }
            Body::CostComputed(body) => {
                if let Some(detail) = body.contradiction() {
                    self.findings.add(event(seq), "cost", detail)?;
                }
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
            // The registration may be among what was erased: `settle` decides.
            None => {
                let detail = format!("names {module}, which is not registered");
                let lost = Lost::Label(module.label.clone());
                self.unresolved.push(Unresolved {
                    seq,
                    lost,
                    code: "module",
                    detail,
                });
                Ok(())
            }
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
                | store::LedgerError::Entry { .. }
                | store::LedgerError::Index { .. }
                | store::LedgerError::Malformed { .. },
            ) => Ok(None),
            Ok(Some(_)) => {
                let detail = format!("its {what} {id} does not stand before it");
                self.findings.add(event(seq), "reference", detail)?;
                Ok(None)
            }
            // The name of an erased event is gone with it: `settle` decides.
            Ok(None) => {
                let detail = format!("its {what} {id} names no event");
                let lost = Lost::Event(id);
                self.unresolved.push(Unresolved {
                    seq,
                    lost,
                    code: "reference",
                    detail,
                });
                Ok(None)
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
