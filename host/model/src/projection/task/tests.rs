//! Every row of derived completion, and the order of a task's next operation.

use super::*;
use crate::event::task::{TaskAccepted, TaskOutput};
use crate::event::{Event, Scope};
use crate::id::CallId;
use crate::name::Mod;
use crate::projection::call::ProviderEffect;
use crate::time::Timestamp;

const TASK: TaskId = TaskId::from_bytes([1; 16]);

fn placed(seq: u64, cause: Option<EventId>, body: impl Into<Body>) -> Placed {
    let event = Event {
        ledger: "01933b6a-1f00-7000-8000-000000000001".parse().unwrap(),
        id: id(seq),
        at: Timestamp::from_millisecond(0),
        actor: "operator".parse().unwrap(),
        cause,
        scope: Scope {
            task: Some(TASK),
            ..Scope::default()
        },
        body: body.into(),
        sig: None,
    };
    Placed { seq, event }
}

fn id(seq: u64) -> EventId {
    EventId::from_bytes([u8::try_from(seq).unwrap(); 16])
}

fn created(outputs: &[&str]) -> Placed {
    let outputs = outputs
        .iter()
        .map(|name| TaskOutput::declare((*name).into(), vec!["a".into()]).unwrap())
        .collect();
    let body = TaskCreated {
        title: "write".into(),
        run: None,
        outputs,
        grants: std::collections::BTreeMap::new(),
    };
    placed(1, None, body)
}

fn accepted(seq: u64, output: &str) -> Placed {
    let body = TaskAccepted {
        policy: Mod {
            label: "task-acceptance-v1".parse().unwrap(),
            sha256: Digest::of(b"p"),
        },
        output: output.into(),
        artifact_sha256: Digest::of(b"text"),
        criteria_sha256: Digest::of(b"criteria"),
        interpretation: id(9),
        checks: Vec::new(),
        authority: "granted".into(),
    };
    placed(seq, None, Box::new(body))
}

fn completed(seq: u64, output: &str, cause: Option<EventId>, acceptance: EventId) -> Placed {
    let artifact_sha256 = Digest::of(b"text");
    placed(
        seq,
        cause,
        TaskCompleted {
            output: output.into(),
            artifact_sha256,
            acceptance,
        },
    )
}

fn call(stage: Stage, next_operation: Operation, call_status: Option<CallStatus>) -> CallState {
    CallState {
        call: CallId::from_bytes([2; 16]),
        task: Some(TASK),
        external_id: None,
        idempotency_key: None,
        provider: None,
        dialect: "openai.chat".into(),
        stage,
        provider_effect: ProviderEffect::Observed,
        next_operation,
        duplicate_effect_risk: false,
        reason: "because".into(),
        attempt_count: 1,
        call_status,
        status_reason: None,
        status_basis: None,
        status_record: None,
        decision_basis: None,
        superseded_by: None,
        resumed_as: None,
    }
}

fn derived(events: &[Placed], calls: Vec<CallState>) -> (TaskStatus, Operation) {
    let state = TaskState::of(TASK, events, calls);
    (state.task_status, state.task_next_operation)
}

#[test]
fn a_task_without_its_declaration_is_unknown() {
    assert_eq!(
        derived(&[], Vec::new()),
        (TaskStatus::UnknownTask, Operation::None)
    );
}

#[test]
fn completion_needs_the_causal_pair_over_the_same_bytes() {
    use {Operation as Op, TaskStatus as Status};
    let acceptance = accepted(2, "text");
    let cause = Some(acceptance.event.id);
    let whole = vec![
        created(&["text"]),
        acceptance.clone(),
        completed(3, "text", cause, id(2)),
    ];
    assert_eq!(derived(&whole, Vec::new()), (Status::Completed, Op::None));

    let pending = &whole[..2];
    assert_eq!(
        derived(pending, Vec::new()),
        (Status::Incomplete, Op::RepeatAcceptance)
    );

    let bare = vec![created(&["text"]), completed(2, "text", None, id(7))];
    assert_eq!(
        derived(&bare, Vec::new()),
        (Status::Incomplete, Op::StartCall)
    );

    let forged_cause = vec![
        created(&["text"]),
        acceptance.clone(),
        completed(3, "text", Some(id(1)), id(2)),
    ];
    assert_eq!(derived(&forged_cause, Vec::new()).0, Status::Incomplete);

    let mut other_bytes = completed(3, "text", cause, id(2));
    if let Body::TaskCompleted(body) = &mut other_bytes.event.body {
        body.artifact_sha256 = Digest::of(b"other");
    }
    let mismatch = vec![created(&["text"]), acceptance, other_bytes];
    assert_eq!(derived(&mismatch, Vec::new()).0, Status::Incomplete);
}

#[test]
fn a_task_is_complete_when_every_output_is() {
    let events = vec![
        created(&["text", "table"]),
        accepted(2, "text"),
        completed(3, "text", Some(id(2)), id(2)),
    ];
    let state = TaskState::of(TASK, &events, Vec::new());
    assert_eq!(state.task_status, TaskStatus::Incomplete);
    let by_output: Vec<_> = state.outputs.iter().map(|output| output.status).collect();
    assert_eq!(by_output, [TaskStatus::Completed, TaskStatus::Incomplete]);
    assert_eq!(state.outputs[1].basis, "no acceptance recorded");
}

#[test]
fn the_next_operation_of_a_task_follows_its_calls() {
    let events = [created(&["text"])];
    let next = |calls| derived(&events, calls).1;
    let succeeded = || {
        call(
            Stage::Completed,
            Operation::None,
            Some(CallStatus::Succeeded),
        )
    };
    let unread = || call(Stage::Observed, Operation::Reinterpret, None);
    assert_eq!(next(Vec::new()), Operation::StartCall);
    assert_eq!(next(vec![succeeded()]), Operation::CheckAndAccept);
    assert_eq!(next(vec![succeeded(), unread()]), Operation::Reinterpret);
    let unresolved = call(
        Stage::Completed,
        Operation::None,
        Some(CallStatus::Unresolved),
    );
    assert_eq!(next(vec![unresolved]), Operation::StartCall);
}

#[test]
fn outputs_that_are_missing_and_checks_without_a_verdict_are_named() {
    use crate::event::task::{CheckCompleted, CheckRequested, Verdict, Verifier};
    let asked = |seq| {
        let body = CheckRequested {
            output: "text".into(),
            target: "artifact:sha256:00".into(),
            verifier: Verifier::Command {
                argv: vec!["true".into()],
            },
            covers: vec![0],
            criteria_sha256: Digest::of(b"criteria"),
            timeout_s: 60,
        };
        placed(seq, Some(id(1)), body)
    };
    let ended = CheckCompleted {
        verdict: Verdict::Pass,
        exit_code: Some(0),
        stdout: None,
        stderr: None,
        findings: Vec::new(),
    };
    let mut events = vec![created(&["text", "table"]), asked(2), asked(3)];
    events.push(placed(4, Some(id(2)), Box::new(ended)));
    let state = TaskState::of(TASK, &events, Vec::new());
    assert_eq!(state.outputs_missing, ["text", "table"]);
    assert_eq!(state.checks_without_verdict, [id(3)]);
    assert_eq!(state.task_standing, "incomplete");
    let expected = format!(
        "no call of this task has succeeded; check {} was asked for and has no verdict",
        id(3)
    );
    assert_eq!(state.task_reason, expected);
}
