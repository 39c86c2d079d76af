//! Events with everything in them that the ledger indexes.

use model::decision::{CallStatus, Disposition};
use model::event::artifact::{ArtifactRef, Preservation};
use model::event::attempt::{
    AttemptCompleted, AttemptInterpreted, AttemptObserved, AttemptRetryDecided, AttemptStarted,
    AttemptStatus, Inputs, RecordedBy,
};
use model::event::call::{
    CallCompleted, CallImported, CallManifest, CallReinterpreted, CallRequested, CallStatusDecided,
};
use model::event::home::{ErasureTarget, HomeErased, HomePreregistered};
use model::event::module::ModuleRegistered;
use model::event::task::{TaskAccepted, TaskCreated, TaskOutput};
use model::event::{Body, Event, Scope};
use model::exchange::TransportOutcome;
use model::name::Mod;
use model::reading::{
    Basis, GenerationState, RecordedReading, StructuredWord, TextRef, TokenCounts,
};
use model::{AttemptId, CallId, Digest, EventId, LedgerId, TaskId, Timestamp};

const MILLISECOND: i64 = 1_700_000_000_000;

fn random(number: u64) -> [u8; 10] {
    let mut bytes = [7; 10];
    bytes[2..].copy_from_slice(&number.to_be_bytes());
    bytes
}

fn at(number: u64) -> Timestamp {
    Timestamp::from_millisecond(MILLISECOND + i64::try_from(number).unwrap())
}

pub(super) fn event_id(number: u64) -> EventId {
    EventId::new(at(number), random(number))
}

pub(super) fn task_id(number: u64) -> TaskId {
    TaskId::new(at(number), random(number))
}

pub(super) fn call_id(number: u64) -> CallId {
    CallId::new(at(number), random(number))
}

pub(super) fn attempt_id(number: u64) -> AttemptId {
    AttemptId::new(at(number), random(number))
}

/// Makes the event of this number; its cause is the one before.
pub(super) fn event(number: u64, scope: Scope, body: impl Into<Body>) -> Event {
    Event {
        ledger: LedgerId::new(at(0), random(0)),
        id: event_id(number),
        at: at(number),
        actor: "operator".parse().unwrap(),
        cause: number.checked_sub(1).map(event_id),
        scope,
        body: body.into(),
        sig: None,
    }
}

/// Makes an event that nothing but its id tells from others.
pub(super) fn note(number: u64) -> Event {
    let body = HomePreregistered {
        expected_sha256: Digest::of(b"expected"),
        note: "a note".into(),
    };
    event(number, Scope::default(), body)
}

pub(super) fn erased(number: u64, seqs: &[u64]) -> Event {
    let body = HomeErased {
        targets: seqs
            .iter()
            .map(|seq| ErasureTarget::Event { seq: *seq })
            .collect(),
        reason: "asked for".into(),
    };
    event(number, Scope::default(), body)
}

pub(super) fn module(name: &str) -> Mod {
    Mod {
        label: name.parse().unwrap(),
        sha256: Digest::of(name.as_bytes()),
    }
}

pub(super) fn interpreter() -> Mod {
    module("attempt-interpretation-v2")
}

pub(super) fn policy() -> Mod {
    module("attempt-policy-v2")
}

pub(super) fn request(call: u64) -> Digest {
    Digest::of(format!("request {call}").as_bytes())
}

pub(super) fn response(call: u64) -> Digest {
    Digest::of(format!("response {call}").as_bytes())
}

fn artifact(sha256: Digest) -> ArtifactRef {
    ArtifactRef {
        sha256,
        length: 2048,
        media_type: "application/json".into(),
        preservation: Preservation::Keep,
    }
}

pub(super) fn registered(number: u64, label: &str) -> Event {
    let body = ModuleRegistered {
        module: module(label),
        world: "interpreter".into(),
        length: 90_000,
        summary: "Reads what providers answer".into(),
        dialects: vec![],
        vocabulary: Some(1),
        accepts_vocabulary: vec![],
        supersedes: vec![],
        source: "released".into(),
    };
    event(number, Scope::default(), body)
}

pub(super) fn task_created(number: u64, task: u64) -> Event {
    let criteria = vec!["It names each animal of the register once".to_owned()];
    let body = TaskCreated {
        title: "Summarise the register of the harbour".into(),
        run: Some(format!("run-{task}")),
        outputs: vec![TaskOutput::declare("summary".into(), criteria).unwrap()],
        grants: [("ada".parse().unwrap(), vec!["accept".into()])].into(),
    };
    let scope = Scope {
        task: Some(task_id(task)),
        ..Scope::default()
    };
    event(number, scope, body)
}

/// Makes an import; equal lines have equal keys.
pub(super) fn imported(number: u64, line: u64) -> Event {
    let body = CallImported {
        importer: "exchange".into(),
        source_sha256: Digest::of(b"source"),
        line: 1,
        line_sha256: Digest::of(&line.to_be_bytes()),
        external_id: Some(format!("line-{line}")),
        provider: None,
        dialect: "openai.chat".into(),
        exactness: "body".into(),
    };
    let scope = Scope {
        call: Some(call_id(line)),
        ..Scope::default()
    };
    event(number, scope, body)
}

pub(super) fn observed(number: u64, scope: Scope, call: u64) -> Event {
    let header = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    let body = AttemptObserved {
        index: 1,
        provider: Some("kestrel".into()),
        dialect: "openai.chat".into(),
        endpoint: "/v1/chat/completions".into(),
        transport_outcome: TransportOutcome::ResponseReceived,
        http_status: Some(200),
        headers: vec![
            header("content-type", "application/json"),
            header("date", "Tue, 14 Nov 2023 22:13:20 GMT"),
            header("openai-processing-ms", "731"),
            header("x-ratelimit-limit-requests", "10000"),
            header("x-ratelimit-remaining-requests", "9999"),
            header("x-ratelimit-remaining-tokens", "199801"),
            header("x-request-id", "req_3f9a3c1e7b5d4f0e8a6c2b1d9e7f5a3c"),
        ],
        headers_dropped: vec![],
        exception_type: None,
        request_body_artifact: Some(artifact(request(call))),
        response_body_artifact: Some(artifact(response(call))),
    };
    event(number, scope, Box::new(body))
}

/// Makes a reading; its key is of the attempt and the module.
pub(super) fn interpreted(number: u64, scope: Scope, module: Mod) -> Event {
    let body = AttemptInterpreted {
        module,
        config_sha256: None,
        inputs: Inputs {
            observation: event_id(number - 1),
            request_sha256: Some(request(1)),
            response_sha256: Some(response(1)),
        },
        reading: RecordedReading {
            vocabulary: 1,
            generation_state: GenerationState::Complete,
            provider_reason: Some("stop".into()),
            provider_reason_source: Some("/choices/0/finish_reason".into()),
            error_class: None,
            basis: Basis {
                kind: "provider_reason".into(),
                detail: "openai.chat finish_reason stop".into(),
            },
            output_text: Some(TextRef::of("Three herons and a kestrel.")),
            refusal: None,
            error_message: None,
            tool_calls: 0,
            structured_output: StructuredWord::NotRequested,
            usage: TokenCounts {
                input: Some(412),
                output: Some(87),
                cached_input: Some(0),
                cache_write: None,
                reasoning: Some(0),
                total: Some(499),
            },
            model: Some("gpt-4o-mini-2024-07-18".into()),
            response_id: Some("chatcmpl-AbCdEfGhIjKlMnOpQrStUvWxYz012".into()),
            choices: 0,
            facts: std::collections::BTreeMap::default(),
        },
        result_sha256: Digest::of(b"result"),
        engine_profile: "wasmtime-48.0.8/p1".into(),
        fuel: 1_204_512,
        recorded_by: RecordedBy::Execution,
    };
    event(number, scope, Box::new(body))
}

/// Makes a reinterpretation; its key is of the call, the pair and the prior record.
pub(super) fn reinterpreted(number: u64, scope: Scope, prior: Option<EventId>) -> Event {
    let body = CallReinterpreted {
        interpreter: interpreter(),
        policy: policy(),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status: CallStatus::Succeeded,
        reason: "complete".into(),
        interpretations: vec![],
        decisions: vec![],
        observations: vec![],
        prior_status: None,
        prior_record_kind: None,
        prior_record: prior,
        allow_older: None,
        provider_effect: false,
    };
    event(number, scope, Box::new(body))
}

pub(super) fn accepted(number: u64, task: u64, output: &str) -> Event {
    let body = TaskAccepted {
        policy: policy(),
        output: output.into(),
        artifact_sha256: Digest::of(b"output"),
        criteria_sha256: Digest::of(b"criteria"),
        interpretation: event_id(1),
        checks: vec![],
        authority: "grant".into(),
    };
    let scope = Scope {
        task: Some(task_id(task)),
        ..Scope::default()
    };
    event(number, scope, Box::new(body))
}

/// The scope of the call of this number and of its only attempt.
pub(super) fn scope_of(call: u64) -> Scope {
    Scope {
        task: Some(task_id(call)),
        call: Some(call_id(call)),
        attempt: Some(attempt_id(call)),
    }
}

/// Makes the ten events of one recorded call of a task of its own. They take the
/// numbers from `10 * call + 1` on.
pub(super) fn recorded_call(call: u64) -> Vec<Event> {
    let number = 10 * call;
    let of_attempt = scope_of(call);
    let of_call = Scope {
        attempt: None,
        ..of_attempt
    };
    let requested = CallRequested {
        provider: "kestrel".into(),
        dialect: "openai.chat".into(),
        endpoint: "/v1/chat/completions".into(),
        request: Some(artifact(request(call))),
        requested_model: Some("gpt-4o-mini".into()),
        idempotency_key: Some(format!("key-{call}")),
        interpreter: interpreter(),
        policy: policy(),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        preservation: Preservation::Keep,
        max_attempts: 3,
    };
    let manifest = CallManifest {
        request: artifact(request(call)),
        method: "POST".into(),
        url: "https://api.kestrel.example/v1/chat/completions".into(),
        header_names: vec!["authorization".into(), "content-type".into()],
        requested_model: Some("gpt-4o-mini".into()),
    };
    let started = AttemptStarted {
        index: 1,
        request: artifact(request(call)),
    };
    let decided = AttemptRetryDecided {
        policy: policy(),
        policy_config_sha256: None,
        decision: Disposition::Accept,
        reason: "complete".into(),
        executed: false,
    };
    let attempt_completed = AttemptCompleted {
        index: 1,
        status: AttemptStatus::Succeeded,
        error_class: None,
        latency_ms: Some(731),
    };
    let status_decided = CallStatusDecided {
        interpreter: interpreter(),
        policy: policy(),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status: CallStatus::Succeeded,
        reason: "complete".into(),
        interpretations: vec![event_id(number + 6)],
    };
    let completed = CallCompleted {
        status: CallStatus::Succeeded,
        attempts: 1,
        decision_basis: Some(event_id(number + 6)),
    };
    vec![
        task_created(number + 1, call),
        event(number + 2, of_call, requested),
        event(number + 3, of_call, manifest),
        event(number + 4, of_attempt, started),
        observed(number + 5, of_attempt, call),
        interpreted(number + 6, of_attempt, interpreter()),
        event(number + 7, of_attempt, decided),
        event(number + 8, of_attempt, attempt_completed),
        event(number + 9, of_call, status_decided),
        event(number + 10, of_call, completed),
    ]
}
