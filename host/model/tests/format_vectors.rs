//! The golden vectors of `docs/format.md`. Every file of `docs/vectors` is what this
//! code makes of `input.json`, and every block that the text quotes is equal to it.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "helpers of tests fail by panicking"
)]

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use model::bounds::SALT_BYTES;
use model::canonical::{self, value_to_bytes};
use model::event::task::TaskOutput;
use model::merkle::{self, Edge};
use model::projection::call::{Surroundings, Unavailable};
use model::projection::index::UniqueKey;
use model::projection::{CallState, IndexColumns, TaskState};
use model::{AttemptId, CallId, Digest, Event, EventId, Kind, Placed, Reading, TaskId, Timestamp};
use serde_json::{Map, Value, json};

fn docs() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs")
}

/// Returns a file of vectors; null when it is not there yet.
fn data(file: &str) -> Value {
    let text = fs::read_to_string(docs().join("vectors").join(file)).unwrap_or_default();
    serde_json::from_str(&text).unwrap_or_default()
}

static INPUT: LazyLock<Value> = LazyLock::new(|| data("input.json"));

fn input<T: serde::de::DeserializeOwned>(name: &str) -> T {
    serde_json::from_value(INPUT[name].clone()).unwrap()
}

fn hex(bytes: &[u8]) -> String {
    let digit = |nibble: u8| char::from_digit(u32::from(nibble), 16).unwrap();
    let digits = |byte: &u8| [digit(byte >> 4), digit(byte & 15)];
    bytes.iter().flat_map(digits).collect()
}

fn unhex(text: &str) -> Vec<u8> {
    let byte = |place| u8::from_str_radix(&text[place..place + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(byte).collect()
}

fn sha(text: &str) -> String {
    Digest::of(text.as_bytes()).to_string()
}

/// The place of a name in the input's list of ids: its time and its random bytes.
fn number(name: &str) -> u8 {
    let names: Vec<String> = input("ids");
    let place = names.iter().position(|other| other == name);
    u8::try_from(place.unwrap_or_else(|| panic!("no id {name}")) + 1).unwrap()
}

fn at(name: &str) -> Timestamp {
    Timestamp::from_millisecond(1_700_000_000_000 + i64::from(number(name)) * 1000)
}

fn id(name: &str) -> String {
    EventId::new(at(name), [number(name); 10]).to_string()
}

/// The bytes that a name in the input stands for: a text listed there, or itself.
fn text(name: &str) -> String {
    INPUT["texts"][name].as_str().unwrap_or(name).to_owned()
}

fn module_text(name: &str) -> String {
    format!("the bytes of an example {name}")
}

/// Puts in their place what marks stand for: `@x` an id, `#x` the digest of a text,
/// `&x` a reference to it, `%x` a module.
fn resolve(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(resolve),
        Value::Object(members) => members.values_mut().for_each(resolve),
        Value::String(mark) => {
            if let Some(resolved) = resolved(mark) {
                *value = resolved;
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

fn resolved(marked: &str) -> Option<Value> {
    let (mark, name) = marked.split_at_checked(1)?;
    Some(match (mark, name) {
        ("@", "reading") => json!(reading("plain").recorded()),
        ("@", "result") => json!(reading("plain").result_sha256().unwrap()),
        ("@", name) => id(name).into(),
        ("#", name) => sha(&text(name)).into(),
        ("%", name) => {
            json!({"label": format!("example-{name}-v1"), "sha256": sha(&module_text(name))})
        }
        ("&", name) => json!({"sha256": sha(&text(name)), "length": text(name).len(),
            "media_type": "application/json", "preservation": "keep"}),
        _ => {
            let name = marked.strip_prefix("artifact:#")?;
            format!("artifact:{}", sha(name)).into()
        }
    })
}

fn reading(name: &str) -> Reading {
    let mut readings: Map<String, Value> = input("readings");
    serde_json::from_value(readings[name].take()).unwrap()
}

/// Every named event: at least one of each kind.
static EVENTS: LazyLock<Vec<(String, Event)>> = LazyLock::new(|| {
    let rows: Vec<(String, String, String, Value)> = input("events");
    rows.into_iter().map(event).collect()
});

fn event((name, cause, scope, mut body): (String, String, String, Value)) -> (String, Event) {
    resolve(&mut body);
    let mut envelope = json!({
        "v": 1, "ledger": id("ledger"), "id": id(&name), "at": at(&name), "actor": "operator",
        "kind": name.split(',').next(), "cause": (!cause.is_empty()).then(|| id(&cause)),
        "body": body,
    });
    for member in ["task", "call", "attempt"] {
        if scope.contains(&member[..1]) {
            envelope[member] = id(member).into();
        }
    }
    match Event::parse(envelope.to_string().as_bytes()) {
        Ok(event) => (name, event),
        Err(error) => panic!("{name}: {error}"),
    }
}

fn named_event(name: &str) -> Event {
    let found = EVENTS.iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("no event {name}")).1.clone()
}

fn placed(names: &[String]) -> Vec<Placed> {
    let place = |(seq, name): (u64, &String)| Placed {
        seq,
        event: named_event(name),
    };
    (1..).zip(names).map(place).collect()
}

fn bytes(event: &Event) -> String {
    String::from_utf8(event.to_bytes().unwrap()).unwrap()
}

/// The index columns, in hex where they are blobs.
fn columns(event: &Event) -> Value {
    let columns = IndexColumns::of(event);
    let digest = |digest: Option<Digest>| digest.map(|digest| digest.to_hex());
    json!({
        "id": hex(columns.id.as_bytes()),
        "kind": columns.kind,
        "cause": columns.cause.map(|id| hex(id.as_bytes())),
        "task": columns.scope.task.map(|id| hex(id.as_bytes())),
        "call": columns.scope.call.map(|id| hex(id.as_bytes())),
        "attempt": columns.scope.attempt.map(|id| hex(id.as_bytes())),
        "unique_key": digest(columns.unique_key),
        "name": columns.name,
        "module": digest(columns.module),
        "response": digest(columns.response),
        "request": digest(columns.request),
    })
}

fn canonical_vectors() -> Value {
    let canonical = |input: &str| value_to_bytes(&serde_json::from_str(input).ok()?).ok();
    let inputs: Value = input("canonical");
    let accepted = inputs["accepted"].as_array().unwrap().iter().map(|input| {
        let bytes = canonical(input.as_str().unwrap()).unwrap();
        json!({"input": input, "sha256": Digest::of(&bytes),
            "canonical": String::from_utf8(bytes).unwrap()})
    });
    for input in inputs["refused"].as_array().unwrap() {
        assert_eq!(canonical(input.as_str().unwrap()), None, "{input}");
    }
    let criteria: Vec<String> = serde_json::from_str(&text("criteria")).unwrap();
    json!({
        "accepted": accepted.collect::<Vec<_>>(),
        "refused": inputs["refused"],
        "criteria": TaskOutput::declare("answer".into(), criteria).unwrap(),
    })
}

fn event_vectors() -> Value {
    let event = named_event("home.created");
    let (salt, text) = ([1; SALT_BYTES], bytes(&event));
    let refused: Vec<(String, String, String)> = input("refused_events");
    let refused = refused.into_iter().map(|(why, from, to)| {
        let changed = text.replacen(&from, &to, 1);
        assert_ne!(changed, text, "{why}");
        assert!(Event::parse_exact(changed.as_bytes()).is_err(), "{why}");
        json!({"why": why, "bytes": changed})
    });
    json!({
        "salt": hex(&salt),
        "bytes": text,
        "length": text.len(),
        "leaf": merkle::leaf(&salt, text.as_bytes()).to_hex(),
        "signed_bytes": String::from_utf8(event.signed_bytes().unwrap()).unwrap(),
        "refused": refused.collect::<Vec<_>>(),
    })
}

fn kind_vectors() -> Value {
    for kind in Kind::ALL {
        let is_there = EVENTS.iter().any(|(_, event)| event.kind() == *kind);
        assert!(is_there, "no event of kind {}", kind.as_str());
    }
    let described = EVENTS.iter().map(|(name, event)| {
        let text = bytes(event);
        assert_eq!(Event::parse_exact(text.as_bytes()).as_ref(), Ok(event));
        (
            name.clone(),
            json!({"bytes": text, "columns": columns(event)}),
        )
    });
    Value::Object(described.collect())
}

fn tree(edge: &Edge) -> Value {
    let roots: String = edge.roots().iter().map(Digest::to_hex).collect();
    json!({"size": edge.size(), "edge": roots, "root": edge.root().to_hex()})
}

fn tree_vectors() -> Value {
    let entries: Vec<String> = input("tree");
    let mut edge = Edge::default();
    let mut sizes = vec![tree(&edge)];
    let mut leaves = Vec::new();
    for entry in entries {
        let leaf = merkle::leaf(&[], &unhex(&entry));
        edge.push(leaf);
        sizes.push(tree(&edge));
        leaves.push(json!({"entry": entry, "leaf": leaf.to_hex()}));
    }
    json!({"leaves": leaves, "sizes": sizes})
}

/// Returns one part of a key as it is hashed: a tag, the length, the value.
fn part(tag: char, value: &[u8]) -> Vec<u8> {
    let length = u32::try_from(value.len()).unwrap().to_be_bytes();
    [&[u8::try_from(tag).unwrap()], length.as_slice(), value].concat()
}

/// Hashes a key's parts and holds the result against the code.
fn unique_key(name: &str, key: &UniqueKey<'_>, parts: &[Vec<u8>]) -> (String, Value) {
    let preimage = parts.concat();
    assert_eq!(Digest::of(&preimage), key.digest(), "{name}");
    let vector = json!({"preimage": hex(&preimage), "unique_key": key.digest().to_hex()});
    (name.to_owned(), vector)
}

fn unique_key_vectors() -> Value {
    use UniqueKey::{Acceptance, Cost, Import, Label, Reading, Reinterpretation};
    let [attempt, call, task, prior] = [[0xa1; 16], [0xc1; 16], [0x71; 16], [0xe1; 16]];
    let [module, policy, config, line] =
        ["interpreter", "policy", "config", "line"].map(|text| Digest::of(text.as_bytes()));
    let of_module = part('m', module.as_bytes());
    let of_policy = part('m', policy.as_bytes());
    let (configured, plain) = (part('c', config.as_bytes()), part('c', b""));
    let reading = |config| Reading(AttemptId::from_bytes(attempt), module, config);
    let of_reading = |config: &[u8]| [&part('R', &attempt), of_module.as_slice(), config].concat();
    let again = |config, prior| Reinterpretation {
        call: CallId::from_bytes(call),
        interpreter: (module, config),
        policy: (policy, None),
        prior,
    };
    let of_again = |config: &[u8], prior: &[u8]| {
        [
            &part('C', &call),
            of_module.as_slice(),
            config,
            &of_policy,
            &plain,
            &part('p', prior),
        ]
        .concat()
    };
    let second = again(Some(config), Some(EventId::from_bytes(prior)));
    let label = "attempt-interpretation-v2";
    let accepted = Acceptance(TaskId::from_bytes(task), "answer");
    let (named, unnamed) = (Import(Some("line-1"), line), Import(None, line));
    let [of_named, of_unnamed] = ['I', 'i'].map(|tag| part(tag, line.as_bytes()));
    let vectors = [
        unique_key("label", &Label(label), &[part('L', label.as_bytes())]),
        unique_key("reading", &reading(None), &[of_reading(&plain)]),
        unique_key(
            "reading, configured",
            &reading(Some(config)),
            &[of_reading(&configured)],
        ),
        unique_key(
            "reinterpretation",
            &again(None, None),
            &[of_again(&plain, b"")],
        ),
        unique_key(
            "reinterpretation, configured",
            &second,
            &[of_again(&configured, &prior)],
        ),
        unique_key("import", &named, &[of_named, part('e', b"line-1")]),
        unique_key("import, unnamed", &unnamed, &[of_unnamed, part('e', b"")]),
        unique_key(
            "acceptance",
            &accepted,
            &[part('A', &task), part('o', b"answer")],
        ),
        unique_key(
            "cost",
            &Cost(EventId::from_bytes(prior), module, config),
            &[part('P', &prior), of_module.clone(), configured.clone()],
        ),
    ];
    Value::Object(vectors.into_iter().collect())
}

fn reading_vectors() -> Value {
    let describe = |name| {
        let full = reading(name);
        json!({
            "canonical": String::from_utf8(canonical::to_bytes(&full).unwrap()).unwrap(),
            "result_sha256": full.result_sha256().unwrap(),
            "recorded": full.recorded(),
            "full": full,
        })
    };
    json!({"plain": describe("plain"), "rich": describe("rich")})
}

fn unavailable(word: &str) -> Option<Unavailable> {
    use Unavailable::{Corrupt, Erased, Missing, Withheld};
    [Missing, Corrupt, Withheld, Erased]
        .into_iter()
        .find(|one| one.as_str() == word)
}

fn state_vectors() -> Value {
    let calls: Vec<(Vec<String>, String, String)> = input("call_states");
    let calls = calls.into_iter().map(|(names, word, twin)| {
        let around = Surroundings {
            unavailable: unavailable(&word),
            completed_twin: (!twin.is_empty()).then(|| id(&twin).parse().unwrap()),
        };
        let state = json!(CallState::of(&placed(&names), around).unwrap());
        json!({"events": names, "unavailable": around.unavailable,
            "completed_twin": around.completed_twin, "state": without_sentences(state)})
    });
    let tasks: Vec<Vec<String>> = input("task_states");
    let tasks = tasks.into_iter().map(|names| {
        let task = id("task").parse().unwrap();
        let state = json!(TaskState::of(task, &placed(&names), Vec::new()));
        json!({"events": names, "state": without_sentences(state)})
    });
    json!({"calls": calls.collect::<Vec<_>>(), "tasks": tasks.collect::<Vec<_>>()})
}

/// Takes away what is written for people and no part of the format.
fn without_sentences(mut state: Value) -> Value {
    let members = state.as_object_mut().unwrap();
    members.retain(|name, _| !["reason", "task_reason", "calls"].contains(&name.as_str()));
    let outputs = members.get_mut("outputs").and_then(Value::as_array_mut);
    for output in outputs.into_iter().flatten() {
        output.as_object_mut().unwrap().remove("basis");
    }
    state
}

fn log_vectors() -> Value {
    let names: Vec<String> = input("log");
    let mut edge = Edge::default();
    let mut events = Vec::new();
    for (seq, name) in (1..).zip(names) {
        let (salt, event): ([u8; SALT_BYTES], _) = ([seq; SALT_BYTES], named_event(&name));
        let leaf = merkle::leaf(&salt, bytes(&event).as_bytes());
        edge.push(leaf);
        events.push(
            json!({"seq": seq, "salt": hex(&salt), "leaf": leaf.to_hex(),
            "bytes": bytes(&event), "columns": columns(&event)}),
        );
    }
    let bodies = [text("request"), text("response")];
    let modules = [module_text("interpreter"), module_text("policy")];
    let artifacts = bodies.into_iter().chain(modules).map(|text| {
        let hex = Digest::of(text.as_bytes()).to_hex();
        let path = format!("artifacts/sha256/{}/{}", &hex[..2], &hex[2..]);
        json!({"path": path, "utf8": text})
    });
    json!({"source": text("source"), "events": events, "tree": tree(&edge),
        "artifacts": artifacts.collect::<Vec<_>>()})
}

#[test]
fn every_file_of_vectors_is_what_the_code_makes() {
    let made = [
        ("canonical.json", canonical_vectors()),
        ("event.json", event_vectors()),
        ("kinds.json", kind_vectors()),
        ("log.json", log_vectors()),
        ("reading.json", reading_vectors()),
        ("states.json", state_vectors()),
        ("tree.json", tree_vectors()),
        ("unique_key.json", unique_key_vectors()),
    ];
    let fresh = Path::new(env!("CARGO_TARGET_TMPDIR")).join("vectors");
    fs::create_dir_all(&fresh).unwrap();
    let mut different = Vec::new();
    for (file, made) in made {
        let text = serde_json::to_string_pretty(&made).unwrap();
        fs::write(fresh.join(file), format!("{text}\n")).unwrap();
        if data(file) != made {
            different.push(file);
        }
    }
    let fresh = fresh.display();
    assert!(
        different.is_empty(),
        "{different:?} differ: {fresh} holds what the code makes"
    );
}

fn base64(text: &str) -> Vec<u8> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bits = text.trim_end_matches('=').bytes().flat_map(|digit| {
        let value = DIGITS.iter().position(|other| *other == digit).unwrap();
        (0..6)
            .rev()
            .map(move |bit| u8::from((value >> bit) & 1 == 1))
    });
    let bits: Vec<u8> = bits.collect();
    let byte = |bits: &[u8]| bits.iter().fold(0, |byte, bit| (byte << 1) | bit);
    bits.chunks_exact(8).map(byte).collect()
}

/// Everything but the signature, which needs a key to check.
#[test]
fn the_checkpoint_is_of_the_example_log() {
    let (checkpoint, log) = (data("checkpoint.json"), data("log.json"));
    let member = |name: &str| checkpoint[name].as_str().unwrap().to_owned();
    let name = format!("reread/{}", id("ledger"));
    let note = member("note");
    let lines: Vec<_> = note.lines().collect();
    assert_eq!(
        lines[..2],
        [name.as_str(), &log["tree"]["size"].to_string()]
    );
    assert_eq!(json!(hex(&base64(lines[2]))), log["tree"]["root"]);
    let verifier = member("verifier_key");
    let parts: Vec<_> = verifier.splitn(3, '+').collect();
    let key = base64(parts[2]);
    assert_eq!(hex(&key), format!("01{}", member("public_key")));
    let key_id = &Digest::of_parts(&[name.as_bytes(), b"\n", &key]).to_hex()[..8];
    assert_eq!(parts[..2], [name.as_str(), key_id]);
    let signed = lines[4].strip_prefix(&format!("\u{2014} {name} ")).unwrap();
    assert_eq!(
        hex(&base64(signed)),
        format!("{key_id}{}", member("signature"))
    );
    assert_eq!((lines[3], lines.len()), ("", 5));
}

#[test]
fn every_quoted_block_equals_its_vector() {
    let text = fs::read_to_string(docs().join("format.md")).unwrap();
    let mut blocks = 0;
    for block in text.split("<!-- vector: ").skip(1) {
        let (name, rest) = block.split_once(" -->\n```").unwrap();
        let (_, rest) = rest.split_once('\n').unwrap();
        let (quoted, _) = rest.split_once("\n```").unwrap();
        let (file, pointer) = name.split_once('#').unwrap();
        let vectors = data(file);
        let expected = vectors
            .pointer(pointer)
            .unwrap_or_else(|| panic!("no vector {name}"));
        if let Some(text) = expected.as_str() {
            assert_eq!(quoted, text.trim_end_matches('\n'), "{name}");
        } else {
            let quoted: Value = serde_json::from_str(quoted).unwrap();
            assert_eq!(quoted, *expected, "{name}");
        }
        blocks += 1;
    }
    assert!(blocks >= 10, "only {blocks} blocks were looked at");
}
