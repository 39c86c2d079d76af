//! What moved, by which field, and since when.

use super::*;
use crate::event::attempt::{AttemptInterpreted, AttemptRetryDecided, Inputs, RecordedBy};
use crate::event::call::{AttemptVerdict, CallReinterpreted, CallReplayed, CallStatusDecided};
use crate::event::task::{TaskAccepted, TaskCompleted};
use crate::event::{Event, Scope};
use crate::reading::{
    Basis as ReadingBasis, RecordedReading, StructuredWord, TextRef, TokenCounts,
};
use crate::time::Timestamp;

const CALL: CallId = CallId::from_bytes([7; 16]);
const OTHER: CallId = CallId::from_bytes([8; 16]);
const TASK: TaskId = TaskId::from_bytes([9; 16]);
const ATTEMPT: AttemptId = AttemptId::from_bytes([6; 16]);

fn id(seq: u64) -> EventId {
    EventId::from_bytes([u8::try_from(seq).unwrap(); 16])
}

fn module(label: &str) -> Mod {
    Mod {
        label: label.parse().unwrap(),
        sha256: Digest::of(label.as_bytes()),
    }
}

fn placed(seq: u64, call: Option<CallId>, cause: Option<u64>, body: impl Into<Body>) -> Placed {
    let event = Event {
        ledger: "01933b6a-1f00-7000-8000-000000000001".parse().unwrap(),
        id: id(seq),
        at: Timestamp::from_millisecond(0),
        actor: "operator".parse().unwrap(),
        cause: cause.map(id),
        scope: Scope {
            task: Some(TASK),
            call,
            attempt: call.map(|_| ATTEMPT),
        },
        body: body.into(),
        sig: None,
    };
    Placed { seq, event }
}

fn read(seq: u64, state: GenerationState, text: &str) -> Placed {
    let body = AttemptInterpreted {
        module: module("i"),
        config_sha256: None,
        inputs: Inputs {
            observation: id(1),
            request_sha256: None,
            response_sha256: None,
        },
        reading: RecordedReading {
            vocabulary: 2,
            generation_state: state,
            provider_reason: None,
            provider_reason_source: None,
            error_class: None,
            basis: ReadingBasis {
                kind: "status_only".into(),
                detail: String::new(),
            },
            output_text: Some(TextRef {
                sha256: Digest::of(text.as_bytes()),
                length: 1,
            }),
            refusal: None,
            error_message: None,
            tool_calls: 0,
            structured_output: StructuredWord::NotRequested,
            usage: TokenCounts::default(),
            model: None,
            response_id: None,
            choices: 1,
            facts: std::collections::BTreeMap::new(),
        },
        result_sha256: Digest::of(b"r"),
        engine_profile: "e".into(),
        fuel: 1,
        recorded_by: RecordedBy::Execution,
    };
    placed(seq, Some(CALL), Some(1), Box::new(body))
}

fn retry(seq: u64, decision: Disposition) -> Placed {
    let body = AttemptRetryDecided {
        policy: module("p1"),
        policy_config_sha256: None,
        decision,
        reason: "because".into(),
        executed: false,
    };
    placed(seq, Some(CALL), None, body)
}

fn decided(seq: u64, status: CallStatus, reading: u64) -> Placed {
    let body = CallStatusDecided {
        interpreter: module("i1"),
        policy: module("p1"),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status,
        reason: "because".into(),
        interpretations: vec![id(reading)],
    };
    placed(seq, Some(CALL), None, body)
}

fn again(seq: u64, rules: &str, status: CallStatus, reading: u64) -> Placed {
    let body = CallReinterpreted {
        interpreter: module(&format!("i{rules}")),
        policy: module(&format!("p{rules}")),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status,
        reason: "again".into(),
        interpretations: vec![id(reading)],
        decisions: vec![AttemptVerdict {
            attempt: ATTEMPT,
            interpretation: id(reading),
            decision: Disposition::Terminal,
            reason: "again".into(),
        }],
        observations: Vec::new(),
        prior_status: None,
        prior_record_kind: None,
        prior_record: None,
        allow_older: None,
        provider_effect: false,
    };
    placed(seq, Some(CALL), None, Box::new(body))
}

fn accepted(seq: u64, reading: u64) -> Placed {
    let body = TaskAccepted {
        policy: module("a"),
        output: "text".into(),
        artifact_sha256: Digest::of(b"text"),
        criteria_sha256: Digest::of(b"c"),
        interpretation: id(reading),
        checks: Vec::new(),
        authority: "granted".into(),
    };
    placed(seq, None, None, Box::new(body))
}

fn completed(seq: u64, acceptance: u64) -> Placed {
    let body = TaskCompleted {
        output: "text".into(),
        artifact_sha256: Digest::of(b"text"),
        acceptance: id(acceptance),
    };
    placed(seq, None, Some(acceptance), body)
}

fn replayed(seq: u64) -> Placed {
    let body = CallReplayed {
        original_call: CALL,
        original_attempts: vec![ATTEMPT],
        original_status: CallStatus::Succeeded,
        reason: "same key".into(),
    };
    placed(seq, Some(OTHER), None, body)
}

/// A call that succeeds by the first rules and is unresolved by the second.
fn story() -> Vec<Placed> {
    vec![
        read(2, GenerationState::Complete, "text"),
        retry(3, Disposition::Accept),
        decided(4, CallStatus::Succeeded, 2),
        read(10, GenerationState::Truncated, "text"),
        again(11, "2", CallStatus::Unresolved, 10),
    ]
}

fn of(events: &[Placed], resting: &[Placed], since: u64) -> Vec<(Resting, u8)> {
    impact(events, &resting.iter(), since)
        .iter()
        .map(|moved| (moved.kind, moved.record.as_bytes()[0]))
        .collect()
}

#[test]
fn everything_that_rests_on_a_replaced_status_is_named_once() {
    let resting = [accepted(5, 2), completed(6, 5), replayed(7)];
    let named = of(&story(), &resting, 0);
    let expected = [
        (Resting::Decision, 4),
        (Resting::Acceptance, 5),
        (Resting::Completion, 6),
        (Resting::Replay, 7),
    ];
    assert_eq!(named, expected);
    assert_eq!(of(&story()[..3], &resting, 0), []);
}

#[test]
fn the_fields_that_differ_are_named_with_both_values() {
    let moved = impact(&story(), &[].iter(), 0).remove(0);
    let fields = [
        "status",
        "interpretation",
        "generation_state",
        "interpreter",
        "policy",
    ];
    assert_eq!(moved.changed, fields);
    assert_eq!(
        (moved.old.status, moved.new.status),
        (CallStatus::Succeeded, CallStatus::Unresolved)
    );
    assert_eq!(
        (moved.old.interpretation, moved.new.interpretation),
        (Some(id(2)), Some(id(10)))
    );
    assert_eq!(
        (&moved.old.interpreter, &moved.new.interpreter),
        (&module("i1"), &module("i2"))
    );
    assert_eq!(moved.moved, Move::Status);
    let attempt = AttemptMoved {
        attempt: ATTEMPT,
        old: Some(Disposition::Accept),
        new: Some(Disposition::Terminal),
    };
    assert_eq!(moved.attempts, [attempt]);
}

#[test]
fn how_far_a_basis_moved_is_told_apart() {
    let with = |state, text: &str| {
        let mut events = story()[..3].to_vec();
        events.push(read(10, state, text));
        events.push(again(11, "2", CallStatus::Succeeded, 10));
        impact(&events, &[].iter(), 0).remove(0).moved
    };
    assert_eq!(with(GenerationState::Complete, "text"), Move::Rules);
    assert_eq!(with(GenerationState::Complete, "other"), Move::Output);
    assert_eq!(with(GenerationState::Unknown, "text"), Move::Output);
}

#[test]
fn only_what_moved_after_a_place_is_named_and_from_what_counted_there() {
    let mut events = story();
    assert_eq!(of(&events, &[accepted(5, 2)], 11), []);
    events.push(read(12, GenerationState::Filtered, "text"));
    events.push(again(13, "3", CallStatus::Failed, 12));
    let resting = [accepted(5, 2)];
    let moved = impact(&events, &resting.iter(), 11);
    assert_eq!(moved[0].record, id(11));
    assert_eq!(moved[0].old.status, CallStatus::Unresolved);
    assert_eq!(moved[1].record, id(5));
    assert_eq!(moved[1].old.record, id(11));
    assert_eq!(moved[1].new.record, id(13));
}

#[test]
fn a_status_that_came_back_moved_nothing() {
    let mut events = story();
    events.push(again(12, "1", CallStatus::Succeeded, 2));
    assert_eq!(of(&events, &[accepted(5, 2), completed(6, 5)], 0), []);
}

#[test]
fn what_rests_on_another_call_or_on_no_acceptance_is_left_out() {
    let mut bare = completed(6, 5);
    bare.event.cause = None;
    let resting = [accepted(5, 99), bare];
    assert_eq!(of(&story(), &resting, 0), [(Resting::Decision, 4)]);
}

#[test]
fn a_call_without_a_status_has_no_impact() {
    let events = [read(2, GenerationState::Complete, "text")];
    assert_eq!(of(&events, &[accepted(5, 2)], 0), []);
}

#[test]
fn the_state_of_a_task_names_the_record_by_which_an_acceptance_moved() {
    let mut events = story();
    events.insert(3, accepted(5, 2));
    assert_eq!(acceptance_moved_by(&events[3], &events), Some(id(11)));
    assert_eq!(acceptance_moved_by(&events[3], &events[..4]), None);
}
