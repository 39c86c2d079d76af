//! Damage: whatever is changed behind the program's back is found and named, and what
//! rests on it is refused.

use std::fs;

use serde_json::Value;

use crate::ledger::{Forger, row_count};
use crate::support::{TestHome, V1, V2, after_init, chat, exchange, placed, text};

/// A home with two calls that were read. After the events of a new home, the first two
/// are of the first call, two of the second, and four their readings and statuses.
pub(crate) struct Read {
    pub(crate) home: TestHome,
    pub(crate) call: String,
    pub(crate) attempt: String,
    pub(crate) response: String,
}

impl Read {
    pub(crate) fn new() -> Self {
        let (home, imported) = TestHome::importing(&[
            chat("first", "The first answer.", "stop"),
            exchange("second", "openai.chat", 500, "{\"error\":{}}"),
        ]);
        home.must(&[&["reinterpret", "all"][..], &V1].concat());
        assert_eq!(row_count(&home), after_init(8));
        let id = |name: &str| text(&imported[0], name).to_owned();
        let (call, attempt) = (id("call"), id("attempt"));
        let shown = home.must(&["show", &attempt]).document();
        let response = text(&shown["response"], "sha256").to_owned();
        Self {
            home,
            call,
            attempt,
            response,
        }
    }

    pub(crate) fn copy(&self) -> Self {
        Self {
            home: self.home.copy(),
            call: self.call.clone(),
            attempt: self.attempt.clone(),
            response: self.response.clone(),
        }
    }

    /// Changes a copy of the ledger and asserts everything that `verify` reports of it.
    fn forged(&self, forge: impl Fn(&Forger), expected: &[(&str, &str)]) -> TestHome {
        let home = self.home.copy();
        forge(&Forger::open(&home));
        assert_eq!(found(&home), owned(expected));
        home
    }
}

pub(crate) fn owned(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs
        .iter()
        .map(|(object, code)| (placed(object), (*code).to_owned()))
        .collect()
}

/// Verifies a home and returns the findings with their number; the exit code must fit.
pub(crate) fn verify(home: &TestHome, options: &[&str]) -> Vec<Value> {
    let ran = home.run(&[&["verify"][..], options].concat());
    let mut lines = ran.lines();
    let verified = lines.pop().unwrap_or_else(|| panic!("{ran:?}"));
    assert_eq!(verified["verified"]["findings"], lines.len(), "{ran:?}");
    assert_eq!(ran.code, if lines.is_empty() { 0 } else { 3 }, "{ran:?}");
    lines.iter().map(|line| line["finding"].clone()).collect()
}

/// What is damaged, and how, without repetitions.
pub(crate) fn found(home: &TestHome) -> Vec<(String, String)> {
    let pair = |finding: &Value| {
        let part = |name: &str| text(finding, name).to_owned();
        (part("object"), part("code"))
    };
    let mut pairs: Vec<_> = verify(home, &[]).iter().map(pair).collect();
    pairs.dedup();
    pairs
}

#[test]
fn a_changed_event_is_named_and_everything_that_touches_it_is_refused() {
    let read = Read::new();
    for (column, findings) in [
        ("bytes", vec![("event @2", "leaf")]),
        ("salt", vec![("event @2", "leaf")]),
        ("leaf", vec![("event @2", "leaf"), ("tree", "tree_edge")]),
    ] {
        let change = |forger: &Forger| {
            if column == "bytes" {
                forger.replace(after_init(2), "\"index\":1", "\"index\":2");
            } else {
                forger.flip(after_init(2), column);
            }
        };
        let home = read.forged(change, &findings);
        let detail = text(&verify(&home, &[])[0], "detail").to_owned();
        assert!(detail.starts_with("leaf is sha256:"), "{detail}");
        let expected = (
            "ledger".to_owned(),
            format!("event {}: {detail}", after_init(2)),
        );
        let v2 = |command: &[&'static str], id| [command, &[id], &V2].concat();
        for command in [
            vec!["log"],
            vec!["show", &read.call],
            vec!["show", &read.attempt],
            vec!["state", "call", &read.call],
            vec!["interpret", &read.attempt],
            vec!["interpret", "all"],
            vec!["output", &read.attempt],
            vec!["reinterpret", "attempt", &read.attempt],
            v2(&["reinterpret", "call"], &read.call),
            v2(&["reinterpret", "all"], "--dry-run"),
            vec!["who-read", &read.response],
        ] {
            assert_eq!(home.refuses(&command, 3), expected, "{command:?}");
        }
        let hint = home.run(&["log"]).error()["hint"].clone();
        assert_eq!(hint, "run `reread verify` to see all damage");
        // What does not touch it goes on.
        assert_eq!(home.must(&["log", "--limit", "6"]).lines().len(), 6);
        let doctor = home.run(&["doctor"]);
        assert_eq!(doctor.code, 3);
        let last = doctor.lines().pop().unwrap();
        assert_eq!(
            (&last["check"], &last["health"]),
            (&"verify".into(), &"problem".into())
        );
    }
}

#[test]
fn every_byte_of_an_event_is_covered() {
    let read = Read::new();
    for seq in 1..=after_init(8) {
        let home = read.home.copy();
        Forger::open(&home).flip(seq, "bytes");
        let object = format!("event {seq}");
        let named = found(&home);
        assert!(named.contains(&(object, "leaf".to_owned())), "{named:?}");
    }
}

#[test]
fn damage_of_the_events_that_opening_rests_on_is_reported_with_all_other_damage() {
    let read = Read::new();
    let home = read.forged(
        |forger| {
            forger.replace(1, "\"operator\"", "\"operatoR\"");
            forger.replace(3, "\"operator\"", "\"operatoR\"");
            forger.replace(after_init(3), "\"line\":2", "\"line\":3");
        },
        &[
            ("event 1", "leaf"),
            ("event 3", "leaf"),
            ("event @3", "leaf"),
        ],
    );
    for command in [vec!["state"], vec!["log"], vec!["doctor"], vec!["rebuild"]] {
        let (code, message) = home.refuses(&command, 3);
        assert_eq!(code, "ledger");
        assert!(message.starts_with("event 1: leaf is sha256:"), "{message}");
    }
    let home = read.home.copy();
    Forger::open(&home).run("DELETE FROM event WHERE seq = 1");
    let named = found(&home);
    assert_eq!(named[0], ("event 2".to_owned(), "sequence".to_owned()));
    assert_eq!(
        home.refuses(&["state"], 3),
        (
            "damage".to_owned(),
            "the ledger holds no event 1".to_owned()
        )
    );
}

#[test]
fn a_deleted_event_leaves_a_gap_that_is_named() {
    let read = Read::new();
    read.forged(
        |forger| {
            forger.run("DELETE FROM event WHERE seq = @3");
        },
        &[
            ("event @4", "sequence"),
            ("event @4", "reference"),
            ("tree", "tree_edge"),
        ],
    );
    // The last one leaves no gap; the tree tells, and nothing more is appended.
    let home = read.forged(
        |forger| {
            forger.run("DELETE FROM event WHERE seq = @8");
        },
        &[("tree", "tree_edge")],
    );
    let path = home.write_exchanges("more.jsonl", &[chat("more", "More.", "stop")]);
    let files = home.files();
    let ran = home.run(&["import", "exchange", path.to_str().unwrap()]);
    let (leaves, events) = (after_init(8), after_init(7));
    // An edge has a root for each subtree, which are the ones of the binary number.
    let roots = |size: u64| 32 * size.count_ones();
    let message = format!(
        "the tree has {leaves} leaves and {} bytes of roots at its edge, but the ledger has \
         {events} events, which need {}",
        roots(leaves),
        roots(events)
    );
    assert_eq!(ran.refused(3), ("ledger".to_owned(), message.clone()));
    assert_eq!(row_count(&home), after_init(7));
    assert!(
        home.files().len() > files.len(),
        "the bytes are orphans now"
    );
    let call = ["reinterpret", "call", &read.call];
    let (code, found) = home.refuses(&[&call[..], &V2].concat(), 3);
    assert_eq!((code.as_str(), found), ("ledger", message));
}

#[test]
fn an_inserted_event_is_named() {
    let read = Read::new();
    let insert = "INSERT INTO event(seq, leaf, salt, bytes) \
                  SELECT @9, leaf, salt, bytes FROM event WHERE seq = @2";
    read.forged(
        |forger| {
            forger.run(insert);
        },
        &[("event @9", "index"), ("tree", "tree_edge")],
    );
    // With a tree that fits, its empty index columns still tell.
    read.forged(
        |forger| {
            forger.run(insert).seal();
        },
        &[("event @9", "index")],
    );
}

#[test]
fn an_index_column_that_differs_from_the_bytes_is_named() {
    let read = Read::new();
    for (column, value) in [
        ("id", "zeroblob(16)"),
        ("kind", "'call.imported'"),
        ("cause", "NULL"),
        ("task", "zeroblob(16)"),
        ("call", "NULL"),
        ("attempt", "zeroblob(16)"),
        ("unique_key", "zeroblob(32)"),
        ("name", "'another'"),
        ("module", "zeroblob(32)"),
        ("response", "NULL"),
        ("request", "zeroblob(32)"),
    ] {
        let home = read.home.copy();
        Forger::open(&home).run(&format!(
            "UPDATE event SET {column} = {value} WHERE seq = @4"
        ));
        let findings = verify(&home, &[]);
        let detail = format!("the index column {column} differs from the bytes");
        let named = findings.iter().any(|finding| {
            finding["object"] == *placed("event @4")
                && finding["code"] == "index"
                && finding["detail"] == *detail
        });
        assert!(named, "{column}: {findings:?}");
    }
}

#[test]
fn the_trees_edge_is_held_against_the_events() {
    let read = Read::new();
    for statement in [
        "UPDATE tree SET edge = CAST(substr(edge, 1, length(edge) - 32) || zeroblob(32) AS BLOB)",
        "UPDATE tree SET edge = x''",
        "UPDATE tree SET size = @7",
        "UPDATE tree SET size = @6",
        "DELETE FROM tree",
    ] {
        read.forged(
            |forger| {
                forger.run(statement);
            },
            &[("tree", "tree_edge")],
        );
    }
}

#[test]
fn a_guard_that_is_gone_or_was_changed_is_named() {
    let read = Read::new();
    for guard in [
        "event_no_delete",
        "event_in_order",
        "event_no_replace",
        "event_no_update",
    ] {
        let home = read.home.copy();
        let connection = crate::ledger::open(&home);
        connection
            .execute_batch(&format!("DROP TRIGGER {guard}"))
            .unwrap();
        for _ in ["gone", "changed"] {
            let findings = verify(&home, &[]);
            assert_eq!(findings.len(), 1, "{findings:?}");
            assert_eq!(text(&findings[0], "object"), "ledger");
            assert_eq!(text(&findings[0], "code"), "guard_missing");
            assert_eq!(
                text(&findings[0], "detail"),
                format!("the trigger {guard} is gone")
            );
            connection
                .execute_batch(&format!(
                    "CREATE TRIGGER IF NOT EXISTS {guard} BEFORE DELETE ON event \
                     BEGIN SELECT 1; END"
                ))
                .unwrap();
        }
    }
}

#[test]
fn guards_keep_events_from_being_changed_by_accident() {
    let read = Read::new();
    let before = crate::ledger::rows(&read.home);
    for (statement, message) in [
        ("DELETE FROM event", "events are never deleted"),
        (
            "DELETE FROM event WHERE seq = @8",
            "events are never deleted",
        ),
        (
            "UPDATE event SET bytes = x'' WHERE seq = @2",
            "events are never changed",
        ),
        (
            "UPDATE event SET salt = NULL, bytes = NULL WHERE seq = @2",
            "events are never changed",
        ),
        (
            "UPDATE event SET seq = 99 WHERE seq = @8",
            "events are never changed",
        ),
        (
            "INSERT INTO event(seq, leaf) VALUES (@10, x'')",
            "events are appended in order",
        ),
        (
            "INSERT INTO event(seq, leaf) VALUES (1, x'')",
            "events are appended in order",
        ),
        (
            "INSERT OR REPLACE INTO event(seq, leaf, id) \
             SELECT @9, leaf, id FROM event WHERE seq = @2",
            "events are never replaced",
        ),
    ] {
        let refused = crate::support::sql(&read.home, &placed(statement)).unwrap_err();
        assert_eq!(refused.to_string(), message, "{statement}");
    }
    assert_eq!(crate::ledger::rows(&read.home), before);
}

#[test]
fn salt_or_bytes_that_no_erasure_took_are_named() {
    let read = Read::new();
    for set in ["salt = NULL", "bytes = NULL"] {
        read.forged(
            |forger| {
                forger.run(&format!("UPDATE event SET {set} WHERE seq = @7"));
            },
            &[("event @7", "event_missing")],
        );
    }
    let home = read.home.copy();
    Forger::open(&home).run(
        "UPDATE event SET salt = NULL, bytes = NULL, id = NULL, kind = NULL, cause = NULL, \
         call = NULL, attempt = NULL, unique_key = NULL, module = NULL WHERE seq = @7",
    );
    let named = found(&home);
    assert!(
        named.contains(&(placed("event @7"), "event_missing".to_owned())),
        "{named:?}"
    );
}

#[test]
fn a_malformed_file_is_damage_and_no_surprise() {
    let read = Read::new();
    let ledger = |home: &TestHome| home.path().join("ledger.sqlite3");
    let bytes = fs::read(ledger(&read.home)).unwrap();
    let malformed = "database disk image is malformed";

    let home = read.home.copy();
    fs::write(ledger(&home), &bytes[..bytes.len() / 2]).unwrap();
    let ran = home.run(&["log"]);
    let expected = format!("ledger {}: {malformed}", ledger(&home).display());
    assert_eq!(ran.refused(3), ("ledger".to_owned(), expected));
    assert_eq!(home.run(&["verify"]).code, 3);

    // A page of an index: the events are still there and are still verified.
    let home = read.home.copy();
    let page: usize = crate::ledger::open(&home)
        .query_row(
            "SELECT rootpage FROM sqlite_schema WHERE name = 'event_id'",
            [],
            |row| row.get::<_, i64>(0),
        )
        .map(|page| usize::try_from(page).unwrap())
        .unwrap();
    let mut bytes = fs::read(ledger(&home)).unwrap();
    bytes[(page - 1) * 8192..page * 8192].fill(0xa5);
    fs::write(ledger(&home), &bytes).unwrap();
    let ran = home.run(&["verify"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    let lines = ran.lines();
    let (verified, findings) = lines.split_last().unwrap();
    assert_eq!(verified["verified"]["events"], after_init(8));
    assert!(!findings.is_empty());
    for line in findings {
        let finding = &line["finding"];
        assert_eq!(
            (&finding["object"], &finding["code"]),
            (&"ledger".into(), &"sqlite".into())
        );
    }
}

#[test]
fn an_event_that_an_index_gives_to_another_call_is_not_taken_for_its_own() {
    let read = Read::new();
    let home = read.home.copy();
    Forger::open(&home)
        .run("UPDATE event SET call = (SELECT call FROM event WHERE seq = @2) WHERE seq = @4");
    let expected = (
        "ledger".to_owned(),
        placed("event @4: the index column call differs from the bytes"),
    );
    for command in [
        [&["reinterpret", "call", &read.call][..], &V2].concat(),
        [&["reinterpret", "all"][..], &V2].concat(),
        vec!["reinterpret", "attempt", &read.attempt],
        vec!["interpret", "all"],
        vec!["state", "call", &read.call],
        vec!["log", "--call", &read.call],
    ] {
        assert_eq!(home.refuses(&command, 3), expected, "{command:?}");
    }
    // The same of the other columns that something is found by.
    for (column, of, command) in [
        ("id", "@2", vec!["show", "ID"]),
        ("unique_key", "@1", vec!["import", "exchange", "FILE"]),
        ("response", "@2", vec!["who-read", &read.response]),
    ] {
        let home = read.home.copy();
        let file = read.home.path().with_file_name("exchanges.jsonl");
        let observation = home.must(&["show", &read.attempt]).document()["observation"].clone();
        let command: Vec<_> = command
            .into_iter()
            .map(|word| match word {
                "ID" => text(&observation, "id"),
                "FILE" => file.to_str().unwrap(),
                other => other,
            })
            .collect();
        Forger::open(&home).run(&format!(
            "CREATE TEMP TABLE kept AS SELECT {column} AS was FROM event WHERE seq = {of}; \
             UPDATE event SET {column} = NULL WHERE seq = {of}; \
             UPDATE event SET {column} = (SELECT was FROM kept) WHERE seq = @4"
        ));
        // Bytes are looked for as a response and as a request at once.
        let named = match column {
            "response" => "response or request",
            other => other,
        };
        let place = placed("event @4");
        let message = format!("{place}: the index column {named} differs from the bytes");
        let refused = home.refuses(&command, 3);
        assert_eq!(refused, ("ledger".to_owned(), message));
    }
}
