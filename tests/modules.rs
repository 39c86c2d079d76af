//! Modules through the command line: what may be registered, what may not, and
//! what happens when one misbehaves.

use std::fs;

use serde_json::Value;

use crate::fixtures::abi::Value as Abi;
use crate::fixtures::fixture::{Fixture, interpreter_info, ok, refused as refuses};
use crate::support::{TestHome, V2, chat, long};

/// A home with one imported exchange; returns its call and attempt.
fn home() -> (TestHome, String, String) {
    let (home, imported) = TestHome::importing(&[chat("one", "All of it.", "stop")]);
    let id = |name: &str| imported[0][name].as_str().unwrap().to_owned();
    (home, id("call"), id("attempt"))
}

/// Offers a component to `module add` and returns how that ended.
fn add(home: &TestHome, bytes: &[u8]) -> crate::support::Ran {
    let path = home.write("module.wasm", bytes);
    home.run(&["module", "add", path.to_str().unwrap()])
}

/// Asserts that a component is refused with this exit code and message, and that
/// nothing is appended or kept.
fn is_refused(bytes: &[u8], exit_code: i32, message: &str) {
    let home = TestHome::new();
    let count = home.event_count();
    let (code, found) = add(&home, bytes).refused(exit_code);
    assert_eq!(code, "module_failed");
    let path = home.path().parent().unwrap().join("module.wasm");
    assert_eq!(found, format!("module {}: {message}", path.display()));
    assert_eq!(home.event_count(), count);
    assert_eq!(home.must(&["verify"]).document()["verified"]["orphans"], 0);
}

#[test]
fn a_new_interpreter_reads_old_calls_without_a_change_of_the_host() {
    let (home, call, _) = home();
    home.must(&[&["reinterpret", "call", &call][..], &V2].concat());
    let bytes = Fixture::interpreter().build();
    let added = add(&home, &bytes);
    let added = added.document();
    assert_eq!(added["module"]["label"], "fixture-v1");
    assert_eq!(added["world"], "interpreter");
    assert_eq!(added["appended"], 1);
    let again = home.must(&[
        "reinterpret",
        "call",
        &call,
        "--interpreter",
        "fixture-v1",
        "--policy",
        "attempt-policy-v2",
    ]);
    let basis = &again.document()["status_basis"];
    assert_eq!(basis, "reinterpretation:fixture-v1/attempt-policy-v2");
    let shown = home.must(&["module", "show", "fixture-v1"]).document();
    assert_eq!(shown["module"]["sha256"], added["module"]["sha256"]);
    assert_eq!(shown["imports"], Value::Array(Vec::new()));
    assert_eq!(shown["contract"], "reread:interpreter/reader@0.0.1");
    assert_eq!(shown["source"], "added");
    let readings = home.must(&["reads-of", "fixture-v1"]).lines();
    assert_eq!(readings.len(), 1);
    let sha = readings[0]["response_sha256"].as_str().unwrap();
    let who = home.must(&["who-read", sha]).document();
    let labels: Vec<_> = who["read_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["module"]["label"])
        .collect();
    assert_eq!(labels, ["attempt-interpretation-v2", "fixture-v1"]);
}

#[test]
fn the_same_module_is_registered_once_and_a_label_is_bound_once() {
    let home = TestHome::new();
    let first = Fixture::interpreter().build();
    assert_eq!(add(&home, &first).document()["appended"], 1);
    let count = home.event_count();
    assert_eq!(add(&home, &first).document()["appended"], 0);
    let mut other = Fixture::interpreter();
    other.does("decode", "unreachable");
    let (code, message) = add(&home, &other.build()).refused(4);
    assert_eq!(code, "label_bound");
    assert!(
        message.starts_with("label fixture-v1 is bound to sha256:"),
        "{message}"
    );
    assert_eq!(home.event_count(), count);
}

#[test]
fn unknown_labels_are_refused_before_anything_is_appended() {
    let (home, call, attempt) = home();
    let count = home.event_count();
    for command in [
        vec![
            "reinterpret",
            "call",
            &call,
            "--interpreter",
            "attempt-interpretation-v9",
        ],
        vec![
            "reinterpret",
            "attempt",
            &attempt,
            "--interpreter",
            "attempt-interpretation-v9",
        ],
        vec![
            "reinterpret",
            "all",
            "--interpreter",
            "attempt-interpretation-v9",
        ],
        vec![
            "interpret",
            &attempt,
            "--interpreter",
            "attempt-interpretation-v9",
        ],
    ] {
        let refused = home.run(&command).refused(2);
        let message = "unknown module: attempt-interpretation-v9".to_owned();
        assert_eq!(refused, ("unknown_name".to_owned(), message));
    }
    let policy = home.run(&[
        "reinterpret",
        "call",
        &call,
        "--policy",
        "attempt-policy-v9",
    ]);
    assert_eq!(policy.refused(2).1, "unknown module: attempt-policy-v9");
    assert_eq!(home.event_count(), count);
}

#[test]
fn a_module_of_another_world_is_refused() {
    let (home, call, _) = home();
    let ran = home.run(&[
        "reinterpret",
        "call",
        &call,
        "--interpreter",
        "attempt-policy-v2",
    ]);
    let (code, message) = ran.refused(7);
    assert_eq!(code, "wrong_world");
    assert!(
        message.ends_with("is of world policy, but world interpreter is needed"),
        "{message}"
    );
}

#[test]
fn a_policy_is_not_given_words_that_it_does_not_accept() {
    let (home, call, _) = home();
    let mut fixture = Fixture::interpreter();
    let Abi::Fields(mut info) = interpreter_info("words-v1") else {
        panic!("no record")
    };
    info[3] = Abi::U32(7);
    fixture.returns("describe", &Abi::Fields(info));
    add(&home, &fixture.build()).document();
    let count = home.event_count();
    let ran = home.run(&["reinterpret", "call", &call, "--interpreter", "words-v1"]);
    let message = "policy attempt-policy-v2 accepts readings of vocabulary [1, 2], but \
                   interpreter words-v1 uses vocabulary 7";
    assert_eq!(
        ran.refused(4),
        ("vocabulary_not_accepted".to_owned(), message.to_owned())
    );
    assert_eq!(home.event_count(), count);
}

#[test]
fn what_is_no_component_of_a_known_contract_is_refused_with_its_own_message() {
    is_refused(b"", 7, "module is empty, expected a component");
    is_refused(
        b"not wasm at all",
        7,
        "module does not start with the WebAssembly header, expected a component",
    );
    is_refused(
        &wat::parse_str("(module)").unwrap(),
        7,
        "module is a core module, expected a component",
    );
    let mut importing = Fixture::interpreter();
    importing.before = "(import \"wasi:clocks/monotonic-clock@0.2.6\" (instance))".to_owned();
    is_refused(
        &importing.build(),
        7,
        "component imports wasi:clocks/monotonic-clock@0.2.6, but a module imports nothing",
    );
    let mut neighbour = Fixture::interpreter();
    neighbour.before = "(import \"reread:interpreter/reader@0.0.2\" (instance))".to_owned();
    is_refused(
        &neighbour.build(),
        7,
        "component imports reread:interpreter/reader@0.0.2, but a module imports nothing",
    );
}

/// Runs a faulty interpreter every way, and asserts the message and that nothing
/// is appended.
fn fails(fixture: &Fixture, message: &str) {
    let (home, call, attempt) = home();
    let added = add(&home, &fixture.build());
    let module = added.document()["module"].clone();
    let count = home.event_count();
    let label = module["label"].as_str().unwrap();
    let expected = format!(
        "module {label} ({}): {message}",
        module["sha256"].as_str().unwrap()
    );
    for command in [
        vec!["interpret", &attempt, "--interpreter", label],
        vec!["reinterpret", "attempt", &attempt, "--interpreter", label],
        vec!["reinterpret", "call", &call, "--interpreter", label],
    ] {
        let (code, found) = home.run(&command).refused(7);
        assert_eq!((code.as_str(), &found), ("module_failed", &expected));
    }
    let all = home
        .must(&["reinterpret", "all", "--interpreter", label])
        .lines();
    assert_eq!(all[0]["refused"]["detail"], expected.as_str());
    let strict = home.run(&["reinterpret", "all", "--strict", "--interpreter", label]);
    assert_eq!(strict.code, 7);
    assert_eq!(home.event_count(), count);
}

#[test]
fn a_module_that_traps_recurses_or_asks_for_too_much_records_nothing() {
    let faulty = |core: &str, body: &str| {
        let mut fixture = Fixture::interpreter();
        core.clone_into(&mut fixture.core);
        fixture.does("interpret", body);
        fixture
    };
    fails(
        &faulty("", "unreachable"),
        "module trapped: wasm `unreachable` instruction executed",
    );
    fails(
        &faulty(
            "(func $deep (param i32) (result i32) (call $deep (i32.const 1)) i32.const 1 i32.add)",
            "(call $deep (i32.const 0))",
        ),
        "module overflowed its stack (limit 1048576 bytes)",
    );
    fails(
        &faulty("", "(drop (memory.grow (i32.const 8192))) i32.const 0"),
        "module asked for 536936448 bytes of memory (limit 268435456)",
    );
    fails(
        &faulty(
            "(table $t 0 funcref)",
            "(drop (table.grow $t (ref.null func) (i32.const 20001))) i32.const 0",
        ),
        "module asked for a table of 20001 elements (limit 20000)",
    );
}

#[test]
fn an_infinite_loop_ends_by_fuel_also_in_a_start_function() {
    if !long("2 infinite loops with the whole fuel of the profile") {
        return;
    }
    let spent = "module ran out of fuel after 10000000000 units (limit 10000000000)";
    let mut looping = Fixture::interpreter();
    looping.does("interpret", "(loop br 0) unreachable");
    let (home, _, attempt) = home();
    let module = add(&home, &looping.build()).document()["module"].clone();
    let count = home.event_count();
    let (code, message) = home
        .run(&[
            "reinterpret",
            "attempt",
            &attempt,
            "--interpreter",
            "fixture-v1",
        ])
        .refused(7);
    let name = format!(
        "module fixture-v1 ({}): ",
        module["sha256"].as_str().unwrap()
    );
    assert_eq!(
        (code.as_str(), message),
        ("module_failed", format!("{name}{spent}"))
    );
    assert_eq!(home.event_count(), count);

    let mut starting = Fixture::interpreter();
    starting.core = "(func $spin (loop br 0)) (start $spin)".to_owned();
    let home = TestHome::new();
    let count = home.event_count();
    let (code, message) = add(&home, &starting.build()).refused(7);
    assert_eq!(code, "module_failed");
    assert!(message.ends_with(spent), "{message}");
    assert_eq!(home.event_count(), count);
}

#[test]
fn a_typed_refusal_is_told_and_records_nothing() {
    let mut fixture = Fixture::interpreter();
    fixture.returns("interpret", &refuses("not_mine", "another dialect"));
    fails(
        &fixture,
        "module refuses with code not_mine: another dialect",
    );
}

#[test]
fn a_result_outside_of_the_contract_records_nothing() {
    use crate::fixtures::abi::some;
    use crate::fixtures::fixture::{Field, reading_with};
    let mut fixture = Fixture::interpreter();
    let reading = reading_with(Field::OutputText, some(Abi::Str(b"\xff".to_vec())));
    fixture.returns("interpret", &ok(reading));
    fails(
        &fixture,
        "result field `output_text`: expected UTF-8, found an invalid byte at position 0",
    );
}

#[test]
fn missing_and_altered_module_bytes_refuse_like_missing_evidence() {
    let (home, call, attempt) = home();
    let listed = home.must(&["module", "list"]).lines();
    let module = listed
        .iter()
        .find(|module| module["module"]["label"] == "attempt-interpretation-v2")
        .unwrap();
    let sha = module["module"]["sha256"].as_str().unwrap();
    let count = home.event_count();
    for word in ["missing", "altered"] {
        let copy = home.copy();
        let file = copy.artifact(sha);
        let bytes = fs::read(&file).unwrap();
        if word == "missing" {
            fs::remove_file(&file).unwrap();
        } else {
            fs::write(&file, [&bytes[..], b"\0"].concat()).unwrap();
        }
        for command in [
            vec!["interpret", &attempt],
            vec!["reinterpret", "attempt", &attempt],
            vec!["reinterpret", "call", &call],
            vec!["reinterpret", "all"],
        ] {
            let (code, message) = copy.run(&command).refused(4);
            assert_eq!(code, "module_unavailable");
            let start = format!("module attempt-interpretation-v2 ({sha}) is unavailable: ");
            assert!(message.starts_with(&start), "{message}");
        }
        assert_eq!(copy.event_count(), count);
        assert_eq!(copy.run(&["verify"]).code, 3);
    }
}

#[test]
fn an_altered_cache_entry_is_not_used_and_said_and_made_again() {
    let (home, _, attempt) = home();
    let before = home.must(&["interpret", &attempt]);
    let entries: Vec<_> = fs::read_dir(home.path().join("cache"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert!(entries.len() >= 2, "{entries:?}");
    for entry in &entries {
        let mut bytes = fs::read(entry).unwrap();
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        fs::write(entry, bytes).unwrap();
    }
    let after = home.must(&["interpret", &attempt]);
    assert_eq!(after.stdout, before.stdout);
    let said = "note: compiled code of attempt-interpretation-v2 was not used and made again: ";
    assert!(after.stderr.contains(said), "{}", after.stderr);
    let again = home.must(&["interpret", &attempt]);
    assert_eq!((again.stdout, again.stderr), (before.stdout, before.stderr));
}
