//! What was never preserved cannot be read: bytes that were withheld, and attempts
//! that were started and never observed.
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod support;

use std::path::{Path, PathBuf};

use app::reinterpret::ReinterpretOptions;
use app::{AppError, Class, Home, Session};
use model::event::attempt::{AttemptObserved, AttemptStarted};
use model::event::call::CallImported;
use model::event::{ArtifactRef, Body, Event, Preservation, Scope};
use model::exchange::TransportOutcome;
use model::id::LedgerId;
use model::projection::call::Unavailable;
use model::time::Clock as _;
use model::{AttemptId, CallId, Digest, EventId};
use store::Ledger;
use support::{Fixed, context, init};

const CALL: CallId = CallId::from_bytes([7; 16]);
const ATTEMPT: AttemptId = AttemptId::from_bytes([8; 16]);

fn body_ref(preservation: Preservation) -> ArtifactRef {
    ArtifactRef {
        sha256: Digest::of(b"never kept"),
        length: 10,
        media_type: "application/json".to_owned(),
        preservation,
    }
}

fn imported() -> Body {
    CallImported {
        importer: "test".to_owned(),
        source_sha256: Digest::of(b"source"),
        line: 1,
        line_sha256: Digest::of(b"line"),
        external_id: None,
        provider: None,
        dialect: "openai.chat".to_owned(),
        exactness: "as_given".to_owned(),
    }
    .into()
}

fn observed() -> Body {
    Box::new(AttemptObserved {
        index: 1,
        provider: None,
        dialect: "openai.chat".to_owned(),
        endpoint: "/".to_owned(),
        transport_outcome: TransportOutcome::ResponseReceived,
        http_status: Some(200),
        headers: Vec::new(),
        headers_dropped: Vec::new(),
        exception_type: None,
        request_body_artifact: None,
        response_body_artifact: Some(body_ref(Preservation::Withhold)),
    })
    .into()
}

/// A home with a call of these events; the first is of the call, the rest of its
/// attempt.
fn home(folder: &Path, bodies: Vec<Body>) -> PathBuf {
    let home = folder.join("home");
    init(&home);
    let mut ledger = Ledger::open(&Home::at(&home).ledger()).unwrap();
    let first = ledger.reader().at(1).unwrap().unwrap().event;
    let id: LedgerId = first.ledger;
    let mut writer = ledger.writer().unwrap();
    let mut cause = None;
    for (number, body) in (1..).zip(bodies) {
        let event = Event {
            ledger: id,
            id: EventId::new(Fixed.now(), [number; 10]),
            at: Fixed.now(),
            actor: first.actor.clone(),
            cause,
            scope: Scope {
                task: None,
                call: Some(CALL),
                attempt: (number > 1).then_some(ATTEMPT),
            },
            body,
            sig: None,
        };
        cause = Some(event.id);
        writer.append(&event).unwrap();
    }
    writer.commit().unwrap();
    home
}

/// Asks for every reading there is, and returns each refusal.
fn refusals(home: &Path) -> Vec<AppError> {
    let mut session = Session::open(context(home)).unwrap();
    let options = ReinterpretOptions::default();
    let count = |session: &Session| session.home_state().unwrap().ledger_event_count;
    let before = count(&session);
    let refused = vec![
        session
            .reinterpret_call(CALL, &options)
            .map(drop)
            .unwrap_err(),
        session
            .reinterpret_attempt(ATTEMPT, &options)
            .map(drop)
            .unwrap_err(),
        session
            .interpret(ATTEMPT, None, None)
            .map(drop)
            .unwrap_err(),
        session
            .output(ATTEMPT, None, None, false)
            .map(drop)
            .unwrap_err(),
    ];
    assert_eq!(count(&session), before);
    refused
}

#[test]
fn withheld_bytes_refuse_every_reading_with_that_word() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path(), vec![imported(), observed()]);
    for error in refusals(&home) {
        assert_eq!(error.class(), Class::Refused);
        let AppError::Observation(unavailable) = error else {
            panic!("{error}")
        };
        assert_eq!(unavailable.word, Unavailable::Withheld);
        assert_eq!(unavailable.sentence, "response body bytes were never kept");
    }
    let session = Session::open(context(&home)).unwrap();
    let state = session.call_state(CALL).unwrap();
    assert_eq!(state.reason, "withheld");
}

#[test]
fn an_attempt_without_observation_refuses_every_reading() {
    let folder = tempfile::tempdir().unwrap();
    let started = AttemptStarted {
        index: 1,
        request: body_ref(Preservation::Withhold),
    };
    let home = home(folder.path(), vec![imported(), started.into()]);
    for error in refusals(&home) {
        assert_eq!(error.class(), Class::Refused);
        let text =
            format!("attempt {ATTEMPT} has no observation: nothing was preserved to interpret");
        assert_eq!(error.to_string(), text);
    }
}
