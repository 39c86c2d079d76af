//! Golden bytes of events, and what is refused.

use proptest::prelude::*;

use super::*;
use crate::digest::Digest;
use crate::event::home::{Defaults, ErasureTarget, HomeCreated, HomeErased, Program};
use crate::exchange::{ExceptionType, TransportOutcome};

fn event(body: impl Into<Body>) -> Event {
    Event {
        ledger: "01933b6a-1f00-7000-8000-000000000001".parse().unwrap(),
        id: "01933b6a-1f00-7000-8000-000000000002".parse().unwrap(),
        at: Timestamp::from_millisecond(1_700_000_000_123),
        actor: "operator".parse().unwrap(),
        cause: None,
        scope: Scope::default(),
        body: body.into(),
        sig: None,
    }
}

fn created() -> HomeCreated {
    HomeCreated {
        format: "draft".into(),
        program: Program {
            version: "0.0.0".into(),
            commit: None,
            dirty: None,
        },
        defaults: Defaults {
            interpreter: "attempt-interpretation-v2".parse().unwrap(),
            policy: "attempt-policy-v2".parse().unwrap(),
        },
    }
}

#[test]
fn the_bytes_of_home_created_equal_the_golden_ones() {
    let golden = concat!(
        r#"{"actor":"operator","at":"2023-11-14T22:13:20.123Z","body":{"defaults":{"#,
        r#""interpreter":"attempt-interpretation-v2","policy":"attempt-policy-v2"},"#,
        r#""format":"draft","program":{"commit":null,"dirty":null,"version":"0.0.0"}},"#,
        r#""cause":null,"id":"01933b6a-1f00-7000-8000-000000000002","kind":"home.created","#,
        r#""ledger":"01933b6a-1f00-7000-8000-000000000001","v":1}"#
    );
    let bytes = event(created()).to_bytes().unwrap();
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), golden);
    assert_eq!(Event::parse_exact(&bytes).unwrap(), event(created()));
}

#[test]
fn the_bytes_of_an_observation_equal_the_golden_ones() {
    let mut observed = event(Box::new(attempt::AttemptObserved {
        index: 1,
        provider: Some("kestrel".into()),
        dialect: "openai.chat".into(),
        endpoint: "/v1/chat/completions".into(),
        transport_outcome: TransportOutcome::Interrupted,
        http_status: Some(200),
        headers: vec![("content-type".into(), "text/plain".into())],
        headers_dropped: vec!["x-ratelimit-note".into()],
        exception_type: Some(ExceptionType::ConnectionReset),
        request_body_artifact: None,
        response_body_artifact: Some(ArtifactRef {
            sha256: Digest::of(b"abc"),
            length: 3,
            media_type: "text/plain".into(),
            preservation: Preservation::Keep,
        }),
    }));
    observed.scope = Scope {
        task: None,
        call: Some("01933b6a-1f00-7000-8000-000000000003".parse().unwrap()),
        attempt: Some("01933b6a-1f00-7000-8000-000000000004".parse().unwrap()),
    };
    observed.cause = Some("01933b6a-1f00-7000-8000-000000000005".parse().unwrap());
    let golden = concat!(
        r#"{"actor":"operator","at":"2023-11-14T22:13:20.123Z","#,
        r#""attempt":"01933b6a-1f00-7000-8000-000000000004","body":{"dialect":"openai.chat","#,
        r#""endpoint":"/v1/chat/completions","exception_type":"ConnectionReset","#,
        r#""headers":[["content-type","text/plain"]],"headers_dropped":["x-ratelimit-note"],"#,
        r#""http_status":200,"index":1,"provider":"kestrel","request_body_artifact":null,"#,
        r#""response_body_artifact":{"length":3,"media_type":"text/plain","preservation":"keep","#,
        r#""sha256":"sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},"#,
        r#""transport_outcome":"interrupted"},"call":"01933b6a-1f00-7000-8000-000000000003","#,
        r#""cause":"01933b6a-1f00-7000-8000-000000000005","#,
        r#""id":"01933b6a-1f00-7000-8000-000000000002","kind":"attempt.observed","#,
        r#""ledger":"01933b6a-1f00-7000-8000-000000000001","v":1}"#
    );
    let bytes = observed.to_bytes().unwrap();
    assert_eq!(String::from_utf8(bytes.clone()).unwrap(), golden);
    assert_eq!(Event::parse_exact(&bytes).unwrap(), observed);
}

#[test]
fn a_signature_covers_a_context_line_and_the_event_without_it() {
    let mut signed = event(created());
    let unsigned = signed.to_bytes().unwrap();
    signed.sig = Some(Signature {
        key: "ed25519:00".into(),
        value: "AA==".into(),
    });
    let mut expected = b"reread-event-v1\n".to_vec();
    expected.extend(&unsigned);
    assert_eq!(signed.signed_bytes().unwrap(), expected);
    let bytes = signed.to_bytes().unwrap();
    assert_ne!(bytes, unsigned);
    assert_eq!(Event::parse_exact(&bytes).unwrap(), signed);
}

#[test]
fn what_a_newer_program_wrote_is_refused_as_such() {
    let text = String::from_utf8(event(created()).to_bytes().unwrap()).unwrap();
    let parse = |from: &str, to: &str| Event::parse(text.replace(from, to).as_bytes());
    assert_eq!(parse("\"v\":1", "\"v\":2"), Err(EventError::Version(2)));
    assert_eq!(
        parse("home.created", "home.moved"),
        Err(EventError::Kind("home.moved".into()))
    );
    let Err(EventError::Body { kind, detail }) = parse("\"format\"", "\"shape\"") else {
        panic!("a body with an unknown field was accepted")
    };
    assert_eq!(kind, "home.created");
    assert!(detail.starts_with("unknown field `shape`"), "{detail}");
    let Err(EventError::Json(detail)) = parse("\"cause\"", "\"why\"") else {
        panic!("an envelope with an unknown field was accepted")
    };
    assert!(detail.starts_with("unknown field `why`"), "{detail}");
}

#[test]
fn bytes_that_are_not_canonical_are_refused() {
    let text = String::from_utf8(event(created()).to_bytes().unwrap()).unwrap();
    let spaced = text.replace("\"v\":1", "\"v\": 1");
    assert_eq!(
        Event::parse_exact(spaced.as_bytes()),
        Err(EventError::NotCanonical)
    );
    let without_null = text.replace("\"cause\":null,", "");
    assert_eq!(
        Event::parse_exact(without_null.as_bytes()),
        Err(EventError::NotCanonical)
    );
    let twice = text.replace("\"v\":1", "\"v\":1,\"v\":1");
    assert!(matches!(
        Event::parse_exact(twice.as_bytes()),
        Err(EventError::Json(_))
    ));
}

#[test]
fn an_event_over_the_bound_is_refused_and_never_cut() {
    let erased = |length: usize| {
        let targets = vec![ErasureTarget::Event { seq: 3 }];
        event(HomeErased {
            targets,
            reason: "r".repeat(length),
        })
    };
    let room = EVENT_BYTES_MAX - erased(0).to_bytes().unwrap().len();
    assert_eq!(erased(room).to_bytes().unwrap().len(), EVENT_BYTES_MAX);
    let expected = EventError::TooLarge {
        kind: "home.erased",
        found: EVENT_BYTES_MAX + 1,
    };
    assert_eq!(erased(room + 1).to_bytes(), Err(expected));
}

#[test]
fn a_list_over_its_bound_is_refused() {
    let rejected = |reasons: usize| {
        event(Box::new(task::TaskAcceptanceRejected {
            policy: crate::name::Mod {
                label: "task-acceptance-v1".parse().unwrap(),
                sha256: Digest::of(b"policy"),
            },
            output: "text".into(),
            artifact_sha256: Digest::of(b"text"),
            criteria_sha256: Digest::of(b"criteria"),
            interpretation: None,
            checks: Vec::new(),
            authority: None,
            reasons: vec!["unauthorized".into(); reasons],
        }))
    };
    assert!(rejected(256).to_bytes().is_ok());
    let expected = EventError::Bound {
        kind: "task.acceptance_rejected",
        what: "reasons",
        limit: 256,
        found: 257,
    };
    assert_eq!(rejected(257).to_bytes(), Err(expected));
}

#[test]
fn every_kind_has_one_name() {
    let mut names: Vec<_> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    for (kind, name) in Kind::ALL.iter().zip(&names) {
        assert_eq!(Kind::parse(name), Some(*kind));
    }
    assert_eq!(names.len(), 27);
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), 27);
    assert_eq!(Kind::parse("call.invented"), None);
}

proptest! {
    #[test]
    fn any_text_survives_being_written_and_read(title in "\\PC*", run in any::<Option<String>>()) {
        let outputs = vec![task::TaskOutput::declare(title.clone(), vec![title.clone()]).unwrap()];
        let grants = [("ada".parse().unwrap(), vec![title.clone()])].into();
        let made = event(task::TaskCreated { title, run, outputs, grants });
        let bytes = made.to_bytes().unwrap();
        prop_assert_eq!(Event::parse_exact(&bytes).unwrap(), made);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(Event::parse_exact(&bytes).is_err());
    }
}
