//! Every row of the work-state ladder, and what takes a next operation away.

use super::*;
use crate::decision::Disposition;
use crate::digest::Digest;
use crate::event::attempt::{
    AttemptCompleted, AttemptInterpreted, AttemptObserved, AttemptRetryDecided, AttemptStarted,
    AttemptStatus, Inputs, RecordedBy,
};
use crate::event::call::{
    CallCompleted, CallImported, CallManifest, CallPreparationFailed, CallReinterpreted,
    CallReplayed, CallRequested, CallResumed, CallStatusDecided,
};
use crate::event::{ArtifactRef, Event, Preservation, Scope};
use crate::exchange::TransportOutcome;
use crate::name::Mod;
use crate::reading::{Basis, GenerationState, RecordedReading, StructuredWord, TokenCounts};
use crate::time::Timestamp;

const CALL: CallId = CallId::from_bytes([7; 16]);
const OTHER: CallId = CallId::from_bytes([8; 16]);

fn attempt(index: u8) -> AttemptId {
    AttemptId::from_bytes([index; 16])
}

fn module(label: &str) -> Mod {
    Mod {
        label: label.parse().unwrap(),
        sha256: Digest::of(label.as_bytes()),
    }
}

fn body_ref() -> ArtifactRef {
    ArtifactRef {
        sha256: Digest::of(b"body"),
        length: 4,
        media_type: "application/json".into(),
        preservation: Preservation::Keep,
    }
}

fn requested() -> Body {
    CallRequested {
        provider: "kestrel".into(),
        dialect: "openai.chat".into(),
        endpoint: "/v1/chat/completions".into(),
        request: Some(body_ref()),
        requested_model: None,
        idempotency_key: Some("key".into()),
        interpreter: module("i2"),
        policy: module("p2"),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        preservation: Preservation::Keep,
        max_attempts: 2,
    }
    .into()
}

fn manifest() -> Body {
    CallManifest {
        request: body_ref(),
        method: "POST".into(),
        url: "https://kestrel.example/v1/chat/completions".into(),
        header_names: vec!["content-type".into()],
        requested_model: None,
    }
    .into()
}

fn imported() -> Body {
    CallImported {
        importer: "exchange-jsonl".into(),
        source_sha256: Digest::of(b"source"),
        line: 1,
        line_sha256: Digest::of(b"line"),
        external_id: Some("ext".into()),
        provider: None,
        dialect: "openai.chat".into(),
        exactness: "as_given".into(),
    }
    .into()
}

fn started(index: u32) -> Body {
    AttemptStarted {
        index,
        request: body_ref(),
    }
    .into()
}

fn observed(index: u32) -> Body {
    Box::new(AttemptObserved {
        index,
        provider: None,
        dialect: "openai.chat".into(),
        endpoint: "/".into(),
        transport_outcome: TransportOutcome::ResponseReceived,
        http_status: Some(200),
        headers: Vec::new(),
        headers_dropped: Vec::new(),
        exception_type: None,
        request_body_artifact: None,
        response_body_artifact: Some(body_ref()),
    })
    .into()
}

fn interpreted() -> Body {
    Box::new(AttemptInterpreted {
        module: module("i2"),
        config_sha256: None,
        inputs: Inputs {
            observation: EventId::from_bytes([1; 16]),
            request_sha256: None,
            response_sha256: Some(Digest::of(b"body")),
        },
        reading: RecordedReading {
            vocabulary: 2,
            generation_state: GenerationState::Complete,
            provider_reason: None,
            provider_reason_source: None,
            error_class: None,
            basis: Basis {
                kind: "status_only".into(),
                detail: String::new(),
            },
            output_text: None,
            refusal: None,
            error_message: None,
            tool_calls: 0,
            structured_output: StructuredWord::NotRequested,
            usage: TokenCounts::default(),
            model: None,
            response_id: None,
            choices: 0,
            facts: std::collections::BTreeMap::new(),
        },
        result_sha256: Digest::of(b"result"),
        engine_profile: "wasmtime-48.0.8/p1".into(),
        fuel: 1,
        recorded_by: RecordedBy::Execution,
    })
    .into()
}

fn decided(decision: Disposition, executed: bool) -> Body {
    AttemptRetryDecided {
        policy: module("p2"),
        policy_config_sha256: None,
        decision,
        reason: "a reason".into(),
        executed,
    }
    .into()
}

fn completed_attempt() -> Body {
    let status = AttemptStatus::Succeeded;
    AttemptCompleted {
        index: 1,
        status,
        error_class: None,
        latency_ms: Some(5),
    }
    .into()
}

fn status_decided(status: CallStatus) -> Body {
    CallStatusDecided {
        interpreter: module("i2"),
        policy: module("p2"),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status,
        reason: "final attempt accepted".into(),
        interpretations: vec![EventId::from_bytes([9; 16])],
    }
    .into()
}

fn completed() -> Body {
    CallCompleted {
        status: CallStatus::Succeeded,
        attempts: 1,
        decision_basis: None,
    }
    .into()
}

fn reinterpreted(interpreter: &str, status: CallStatus) -> Body {
    Box::new(CallReinterpreted {
        interpreter: module(interpreter),
        policy: module("p2"),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status,
        reason: "again".into(),
        interpretations: vec![EventId::from_bytes([10; 16])],
        decisions: Vec::new(),
        observations: Vec::new(),
        prior_status: None,
        prior_record_kind: None,
        prior_record: None,
        allow_older: None,
        provider_effect: false,
    })
    .into()
}

/// Places bodies in order; those of attempts belong to the number given.
fn history(bodies: Vec<(u8, Body)>) -> Vec<Placed> {
    (1..)
        .zip(bodies)
        .map(|(seq, (attempt_index, body))| {
            let of_attempt = attempt_index > 0;
            let event = Event {
                ledger: "01933b6a-1f00-7000-8000-000000000001".parse().unwrap(),
                id: EventId::from_bytes([u8::try_from(seq).unwrap(); 16]),
                at: Timestamp::from_millisecond(0),
                actor: "operator".parse().unwrap(),
                cause: None,
                scope: Scope {
                    task: None,
                    call: Some(CALL),
                    attempt: of_attempt.then(|| attempt(attempt_index)),
                },
                body,
                sig: None,
            };
            Placed { seq, event }
        })
        .collect()
}

fn state(bodies: Vec<(u8, Body)>) -> CallState {
    CallState::of(&history(bodies), Surroundings::default()).unwrap()
}

fn row(bodies: Vec<(u8, Body)>) -> (Stage, ProviderEffect, Operation, bool) {
    let state = state(bodies);
    (
        state.stage,
        state.provider_effect,
        state.next_operation,
        state.duplicate_effect_risk,
    )
}

/// The ten bodies of a recorded call less `task.created`, in order.
fn recorded() -> Vec<(u8, Body)> {
    vec![
        (0, requested()),
        (0, manifest()),
        (1, started(1)),
        (1, observed(1)),
        (1, interpreted()),
        (1, decided(Disposition::Accept, false)),
        (1, completed_attempt()),
        (0, status_decided(CallStatus::Succeeded)),
        (0, completed()),
    ]
}

#[test]
fn every_prefix_of_a_recorded_call_has_its_row_of_the_ladder() {
    use {Operation as Op, ProviderEffect as Effect};
    let rows = [
        (Stage::Requested, Effect::None, Op::StartCall, false),
        (Stage::ManifestRecorded, Effect::None, Op::StartCall, false),
        (
            Stage::EffectUnknown,
            Effect::Unknown,
            Op::ReconcileEffect,
            true,
        ),
        (Stage::Observed, Effect::Observed, Op::Reinterpret, false),
        (Stage::Interpreted, Effect::Observed, Op::Redecide, false),
        (Stage::Decided, Effect::Observed, Op::FinalizeCall, false),
        (Stage::Decided, Effect::Observed, Op::FinalizeCall, false),
        (Stage::Decided, Effect::Observed, Op::FinalizeCall, false),
        (Stage::Completed, Effect::Observed, Op::None, false),
    ];
    for (length, expected) in (1..).zip(rows) {
        let prefix = recorded().into_iter().take(length).collect();
        assert_eq!(row(prefix), expected, "the first {length} events");
    }
}

#[test]
fn a_retry_that_follows_is_started_next_and_then_counts_as_the_last_attempt() {
    use {Operation as Op, ProviderEffect as Effect};
    let mut bodies = recorded();
    bodies.truncate(5);
    bodies.push((1, decided(Disposition::Retry, true)));
    let expected = (
        Stage::RetryDecided,
        Effect::Observed,
        Op::StartNextAttempt,
        false,
    );
    assert_eq!(row(bodies.clone()), expected);
    bodies.push((2, started(2)));
    let expected = (
        Stage::EffectUnknown,
        Effect::Unknown,
        Op::ReconcileEffect,
        true,
    );
    assert_eq!(row(bodies.clone()), expected);
    bodies.push((2, observed(2)));
    assert_eq!(state(bodies.clone()).attempt_count, 2);
    assert_eq!(row(bodies).0, Stage::Observed);
}

#[test]
fn a_retry_that_is_not_executed_is_finalized() {
    let mut bodies = recorded();
    bodies.truncate(5);
    bodies.push((1, decided(Disposition::Retry, false)));
    assert_eq!(row(bodies).2, Operation::FinalizeCall);
}

#[test]
fn replayed_and_unprepared_calls_have_their_rows() {
    use {Operation as Op, ProviderEffect as Effect};
    let replayed = CallReplayed {
        original_call: OTHER,
        original_attempts: vec![attempt(1)],
        original_status: CallStatus::Succeeded,
        reason: "same key".into(),
    };
    let bodies = vec![(0, requested()), (0, replayed.into())];
    assert_eq!(
        row(bodies),
        (Stage::Replayed, Effect::None, Op::None, false)
    );
    let failed = CallPreparationFailed {
        stage: "key".into(),
        detail: "not set".into(),
    };
    let bodies = vec![(0, requested()), (0, failed.into())];
    assert_eq!(
        row(bodies),
        (Stage::PreparationFailed, Effect::None, Op::FixInputs, false)
    );
}

#[test]
fn an_import_is_reinterpreted_next_until_it_was() {
    use {Operation as Op, ProviderEffect as Effect};
    let mut bodies = vec![(0, imported()), (1, observed(1))];
    let expected = (Stage::Observed, Effect::Observed, Op::Reinterpret, false);
    assert_eq!(row(bodies.clone()), expected);
    bodies.push((1, interpreted()));
    let expected = (Stage::Interpreted, Effect::Observed, Op::Reinterpret, false);
    assert_eq!(row(bodies.clone()), expected);
    bodies.push((0, reinterpreted("i2", CallStatus::Unresolved)));
    assert_eq!(
        row(bodies.clone()),
        (Stage::Completed, Effect::Observed, Op::None, false)
    );
    let state = state(bodies);
    assert_eq!(state.external_id.as_deref(), Some("ext"));
    assert_eq!(state.attempt_count, 1);
    assert_eq!(
        state.status_basis.as_deref(),
        Some("reinterpretation:i2/p2")
    );
}

#[test]
fn the_latest_status_record_is_the_adopted_one() {
    let mut bodies = recorded();
    let before = state(bodies.clone());
    assert_eq!(before.call_status, Some(CallStatus::Succeeded));
    assert_eq!(before.status_basis.as_deref(), Some("execution:p2"));
    bodies.push((0, reinterpreted("i3", CallStatus::Unresolved)));
    bodies.push((0, reinterpreted("i2", CallStatus::Failed)));
    let after = state(bodies);
    assert_eq!(after.call_status, Some(CallStatus::Failed));
    assert_eq!(
        after.status_basis.as_deref(),
        Some("reinterpretation:i2/p2")
    );
    assert_eq!(after.decision_basis, Some(EventId::from_bytes([10; 16])));
    assert_eq!(after.stage, Stage::Completed);
}

#[test]
fn a_call_reinterpreted_before_its_status_was_decided_has_no_next_operation() {
    let mut bodies = recorded();
    bodies.truncate(5);
    bodies.push((0, reinterpreted("i2", CallStatus::Failed)));
    let state = state(bodies);
    assert_eq!(
        (state.stage, state.next_operation),
        (Stage::Interpreted, Operation::None)
    );
}

#[test]
fn bytes_that_cannot_be_read_take_the_next_operation_away_and_say_why() {
    let mut bodies = recorded();
    bodies.truncate(4);
    let events = history(bodies);
    let words = [
        (Unavailable::Missing, "missing"),
        (Unavailable::Corrupt, "corrupt"),
        (Unavailable::Withheld, "withheld"),
        (Unavailable::Erased, "erased"),
    ];
    for (unavailable, word) in words {
        let around = Surroundings {
            unavailable: Some(unavailable),
            completed_twin: None,
        };
        let state = CallState::of(&events, around).unwrap();
        let found = (state.stage, state.next_operation, state.reason.as_str());
        assert_eq!(found, (Stage::Observed, Operation::None, word));
    }
}

#[test]
fn a_recorded_reading_can_be_decided_although_its_bytes_are_gone() {
    let mut bodies = recorded();
    bodies.truncate(5);
    let around = Surroundings {
        unavailable: Some(Unavailable::Missing),
        completed_twin: None,
    };
    let state = CallState::of(&history(bodies), around).unwrap();
    assert_eq!(
        (state.stage, state.next_operation),
        (Stage::Interpreted, Operation::Redecide)
    );
    let import = vec![(0, imported()), (1, observed(1)), (1, interpreted())];
    let state = CallState::of(&history(import), around).unwrap();
    let found = (state.stage, state.next_operation, state.reason.as_str());
    assert_eq!(found, (Stage::Interpreted, Operation::None, "missing"));
}

#[test]
fn an_import_without_its_observation_has_nothing_to_start() {
    let state = state(vec![(0, imported())]);
    assert_eq!(
        (state.stage, state.next_operation),
        (Stage::Requested, Operation::None)
    );
}

#[test]
fn a_call_that_never_left_is_superseded_by_a_completed_one_of_its_key() {
    let around = Surroundings {
        unavailable: None,
        completed_twin: Some(OTHER),
    };
    let waiting = history(vec![(0, requested()), (0, manifest())]);
    let state = CallState::of(&waiting, around).unwrap();
    assert_eq!(
        (state.superseded_by, state.next_operation),
        (Some(OTHER), Operation::None)
    );
    let mut bodies = recorded();
    bodies.truncate(3);
    let state = CallState::of(&history(bodies), around).unwrap();
    assert_eq!(
        (state.superseded_by, state.next_operation),
        (None, Operation::ReconcileEffect)
    );
}

#[test]
fn a_resumed_call_names_the_one_that_continues_it() {
    let resumed = CallResumed {
        to_call: OTHER,
        prior_stage: "requested".into(),
        basis: "no effect".into(),
    };
    let unknown = [(0, requested()), (0, manifest()), (1, started(1))];
    for events in [&unknown[..1], &unknown[..2], &unknown] {
        let state = state([events, &[(0, resumed.clone().into())]].concat());
        let expected = (Some(OTHER), Operation::None);
        assert_eq!((state.resumed_as, state.next_operation), expected);
    }
}

#[test]
fn events_that_begin_no_call_have_no_state() {
    assert_eq!(
        CallState::of(&history(vec![(0, manifest())]), Surroundings::default()),
        None
    );
    assert_eq!(CallState::of(&[], Surroundings::default()), None);
}
