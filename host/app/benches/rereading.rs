//! `reinterpret all` against the same loop with the native function and no sandbox,
//! and against a plain script that parses the same bodies into SQLite, in one run.
//!
//! `cargo bench -p app --bench rereading [-- CALLS]`
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark says what went wrong by failing, and prints what it measured"
)]

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use app::module::RuleNames;
use app::reinterpret::{Filters, ReinterpretOptions};
use app::{Context, Home, Session};
use model::event::attempt::{AttemptInterpreted, AttemptObserved, Inputs, RecordedBy};
use model::event::call::{AttemptVerdict, CallReinterpreted, ObservedBytes};
use model::event::home::Program;
use model::event::{Body, Event, Placed};
use model::projection::{CallState, call::Surroundings};
use model::time::Clock;
use model::{EventId, Timestamp};
use store::ledger::ScopeKey;
use store::{Artifacts, Ledger};
use support::{chat_body, now, observation, read_natively};

const CALLS: u32 = 5_000;
const BODY_BYTES: usize = 2_000;

/// The same page as the application's.
const PAGE: u32 = 512;

#[derive(Debug)]
struct Fixed;

impl Clock for Fixed {
    fn now(&self) -> Timestamp {
        Timestamp::from_millisecond(1_790_000_000_000)
    }
}

fn main() {
    let calls = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(CALLS);
    let folder = tempfile::tempdir().unwrap();
    let first = folder.path().join("sandbox");
    prepare(&first, folder.path(), calls);
    let second = folder.path().join("native");
    copy(&first, &second);

    let sandboxed = timed(|| rereading(&first, calls));
    let native = timed(|| native_loop(&second, calls));
    let repeat = timed(|| rereading(&first, calls));
    let rate = |time: Duration| f64::from(calls) / time.as_secs_f64();
    println!("{calls} calls with bodies of {BODY_BYTES} bytes, verified read to durable events");
    println!(
        "{:<44} {:>9.0} calls/s",
        "reinterpret all, sandbox",
        rate(sandboxed)
    );
    println!(
        "{:<44} {:>9.0} calls/s",
        "the same loop, native, no sandbox",
        rate(native)
    );
    println!(
        "{:<44} {:>9.0} calls/s",
        "reinterpret all, repeated (appends nothing)",
        rate(repeat)
    );
    println!("sandbox / native: {:.2}", rate(sandboxed) / rate(native));
    match script(&first, folder.path()) {
        Some(plain) => {
            println!(
                "{:<44} {:>9.0} calls/s",
                "plain Python: json into SQLite",
                rate(plain)
            );
            println!(
                "sandbox / plain Python: {:.2}",
                rate(sandboxed) / rate(plain)
            );
        }
        None => println!("plain Python: not measured, there is no python3"),
    }
}

fn timed(run: impl FnOnce()) -> Duration {
    let start = now();
    run();
    start.elapsed()
}

fn context(home: &Path) -> Context {
    Context {
        home: Home::at(home),
        actor: "benchmark".parse().unwrap(),
        clock: Box::new(Fixed),
        program: PathBuf::from("none"),
        variable: |_| None,
        faults: Box::new(app::fault::NoFaults),
    }
}

fn prepare(home: &Path, folder: &Path, calls: u32) {
    let program = Program {
        version: "0.0.0".to_owned(),
        commit: None,
        dirty: None,
    };
    app::init::init(&context(home), program).unwrap();
    let lines: Vec<_> = (0..calls)
        .map(|number| {
            serde_json::json!({
                "id": format!("call-{number}"),
                "dialect": "openai.chat",
                "request": {"method": "POST", "path": "/v1/chat/completions"},
                "response": {
                    "status": 200,
                    "headers": {"content-type": "application/json"},
                    "body_utf8": chat_body(BODY_BYTES, number),
                },
            })
            .to_string()
        })
        .collect();
    let source = folder.join("exchanges.jsonl");
    fs::write(&source, lines.join("\n")).unwrap();
    let mut session = Session::open(context(home)).unwrap();
    session
        .import_exchanges(
            &[source],
            app::import::ImportOptions::default(),
            &mut app::progress::Silent,
            |_| Ok(()),
        )
        .unwrap();
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

fn rereading(home: &Path, calls: u32) {
    let mut session = Session::open(context(home)).unwrap();
    let options = ReinterpretOptions {
        names: RuleNames::default(),
        ..Default::default()
    };
    let summary = session
        .reinterpret_all(
            &Filters::default(),
            &options,
            &mut app::progress::Silent,
            |_| Ok(()),
        )
        .unwrap();
    assert_eq!((summary.calls, summary.refused), (u64::from(calls), 0));
}

/// Everything that `reinterpret all` does, in one thread, with the native function
/// in place of the modules.
fn native_loop(home: &Path, calls: u32) {
    let home = Home::at(home);
    let mut ledger = Ledger::open(&home.ledger()).unwrap();
    let (artifacts, _) = Artifacts::open(home.artifacts()).unwrap();
    let (mut seq, mut done) = (0, 0_u32);
    loop {
        let page = ledger.reader().calls_after(seq, PAGE).unwrap();
        let Some((last, _)) = page.last() else { break };
        seq = *last;
        let plans: Vec<_> = page
            .into_iter()
            .map(|(_, call)| {
                let events = ledger.reader().of_call(call).unwrap();
                let appended = plan(&artifacts, &events);
                (call, events, appended)
            })
            .collect();
        let mut writer = ledger.writer().unwrap();
        for (call, mut events, appended) in plans {
            for event in appended {
                events.push(Placed {
                    seq: writer.append(&event).unwrap(),
                    event,
                });
            }
            let state = CallState::of(&events, Surroundings::default()).unwrap();
            let head = events.last().unwrap().seq;
            // As large as what the application caches of a call.
            let text = serde_json::json!({
                "next_operation": state.next_operation,
                "stage": state.stage,
                "status": state.call_status,
                "status_basis": state.status_basis,
            })
            .to_string();
            writer
                .cache_projection(ScopeKey::Call(call), head, &text)
                .unwrap();
            done += 1;
        }
        writer.commit_projected().unwrap();
    }
    assert_eq!(done, calls);
}

fn plan(artifacts: &Artifacts, events: &[Placed]) -> Vec<Event> {
    let observed = events
        .iter()
        .find(|one| matches!(one.event.body, Body::AttemptObserved(_)));
    let observed = observed.unwrap();
    let Body::AttemptObserved(body) = &observed.event.body else {
        unreachable!()
    };
    let sha256 = body.response_body_artifact.as_ref().unwrap().sha256;
    let bytes = artifacts.get(sha256).unwrap();
    let reading = read_natively(&observation(bytes.as_slice()));
    let interpreted = AttemptInterpreted {
        module: registered("attempt-interpretation-v2"),
        config_sha256: None,
        inputs: Inputs {
            observation: observed.event.id,
            request_sha256: None,
            response_sha256: Some(sha256),
        },
        reading: reading.recorded(),
        result_sha256: reading.result_sha256().unwrap(),
        engine_profile: "native".to_owned(),
        fuel: 0,
        recorded_by: RecordedBy::Reinterpretation,
    };
    let facts = attempt::policy::Facts {
        generation_state: reading.generation_state.as_str(),
        error_class: reading.error.as_ref().map(|error| error.class.as_str()),
        has_output_text: reading
            .output_text
            .as_ref()
            .is_some_and(|text| !text.is_empty()),
    };
    let decision = attempt::policy::decide_attempt(attempt::Policy::V2, &facts);
    let occasion = attempt::policy::Occasion::Reinterpretation;
    let status = attempt::policy::decide_call(Some((&facts, &decision)), occasion);
    let interpretation = event_after(observed, observed.event.id, Box::new(interpreted).into());
    let record = record(body, observed, &interpretation, (&decision, &status));
    vec![interpretation, record]
}

fn registered(label: &str) -> model::name::Mod {
    model::name::Mod {
        label: label.parse().unwrap(),
        sha256: model::Digest::of(label.as_bytes()),
    }
}

fn record(
    body: &AttemptObserved,
    observed: &Placed,
    interpretation: &Event,
    (decision, status): (
        &attempt::policy::AttemptDecision,
        &attempt::policy::CallDecision,
    ),
) -> Event {
    use attempt::policy::{CallStatus as NativeStatus, Disposition as NativeDisposition};
    use model::decision::{CallStatus, Disposition};
    let attempt = observed.event.scope.attempt.unwrap();
    let again = CallReinterpreted {
        interpreter: registered("attempt-interpretation-v2"),
        policy: registered("attempt-policy-v2"),
        interpreter_config_sha256: None,
        policy_config_sha256: None,
        status: match status.status {
            NativeStatus::Succeeded => CallStatus::Succeeded,
            NativeStatus::Failed => CallStatus::Failed,
            NativeStatus::Unresolved => CallStatus::Unresolved,
        },
        reason: status.reason.clone(),
        interpretations: vec![interpretation.id],
        decisions: vec![AttemptVerdict {
            attempt,
            interpretation: interpretation.id,
            decision: match decision.disposition {
                NativeDisposition::Accept => Disposition::Accept,
                NativeDisposition::Retry => Disposition::Retry,
                NativeDisposition::Terminal => Disposition::Terminal,
            },
            reason: decision.reason.clone(),
        }],
        observations: vec![ObservedBytes {
            attempt,
            sha256: body.response_body_artifact.as_ref().map(|one| one.sha256),
        }],
        prior_status: None,
        prior_record_kind: None,
        prior_record: None,
        allow_older: None,
        provider_effect: false,
    };
    event_after(observed, observed.event.id, Box::new(again).into())
}

fn event_after(observed: &Placed, cause: EventId, body: Body) -> Event {
    let mut random = [0; 10];
    getrandom::fill(&mut random).unwrap();
    Event {
        ledger: observed.event.ledger,
        id: EventId::new(Fixed.now(), random),
        at: Fixed.now(),
        actor: observed.event.actor.clone(),
        cause: Some(cause),
        scope: observed.event.scope,
        body,
        sig: None,
    }
}

/// A plain script over the same files: no hashes, no sandbox, no ledger.
const SCRIPT: &str = "
import json, os, sqlite3, sys
db = sqlite3.connect(sys.argv[2])
db.execute('create table reading(name text primary key, state text, reason text, text text)')
states = {'stop': 'complete', 'length': 'truncated', 'content_filter': 'filtered'}
for folder, _, files in os.walk(sys.argv[1]):
    for name in files:
        body = json.load(open(os.path.join(folder, name), 'rb'))
        choice = body['choices'][0]
        reason = choice['finish_reason']
        text = choice['message']['content']
        db.execute('insert or ignore into reading values (?, ?, ?, ?)',
                   (folder + name, states.get(reason, 'unknown'), reason, text))
db.commit()
";

fn script(home: &Path, folder: &Path) -> Option<Duration> {
    // Only the bodies: modules and requests are no JSON of this kind.
    let bodies = folder.join("bodies");
    fs::create_dir(&bodies).unwrap();
    for found in Artifacts::open(Home::at(home).artifacts())
        .unwrap()
        .0
        .list()
        .unwrap()
    {
        let store::artifacts::Found::Artifact(digest) = found else {
            continue;
        };
        let path = Artifacts::open(Home::at(home).artifacts())
            .unwrap()
            .0
            .path(digest);
        let bytes = fs::read(path).unwrap();
        if bytes.starts_with(b"{") {
            fs::write(bodies.join(digest.to_hex()), bytes).unwrap();
        }
    }
    let start = now();
    let status = Command::new("python3")
        .args(["-c", SCRIPT])
        .arg(&bodies)
        .arg(folder.join("plain.sqlite3"))
        .status()
        .ok()?;
    status.success().then(|| start.elapsed())
}
