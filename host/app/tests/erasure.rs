//! An event whose bytes were erased on purpose is no damage, whatever it was.
#![expect(clippy::unwrap_used, reason = "a test says what went wrong by failing")]

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use app::progress::Silent;
use app::reinterpret::{Filters, ReinterpretOptions};
use app::verify::{Finding, VerifyOptions};
use app::{Home, Session};
use model::EventId;
use model::event::home::{ErasureTarget, HomeErased};
use model::event::{Event, Scope};
use model::time::Clock as _;
use store::Ledger;
use support::{Fixed, context, init};

/// A home with one imported and reinterpreted call.
fn home(folder: &Path) -> PathBuf {
    let home = folder.join("home");
    init(&home);
    let source = folder.join("exchanges.jsonl");
    let line = r#"{"id":"a","dialect":"openai.chat","request":{"method":"POST","path":"/"},"response":{"status":200,"headers":{},"body_utf8":"{}"}}"#;
    fs::write(&source, line).unwrap();
    let mut session = Session::open(context(&home)).unwrap();
    let options = app::import::ImportOptions::default();
    session
        .import_exchanges(&[source], options, &mut Silent, |_| Ok(()))
        .unwrap();
    let options = ReinterpretOptions::default();
    session
        .reinterpret_all(&Filters::default(), &options, &mut Silent, |_| Ok(()))
        .unwrap();
    home
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

/// The released modules: a new home registers each, after its creation.
fn modules() -> u64 {
    u64::try_from(app::module::RELEASED.len()).unwrap()
}

/// Records an erasure and removes what it names; none removes without a record.
fn erase(home: &Path, seq: u64, recorded: Option<&str>) {
    let path = Home::at(home).ledger();
    if let Some(reason) = recorded {
        let mut ledger = Ledger::open(&path).unwrap();
        let first = ledger.reader().at(1).unwrap().unwrap().event;
        let targets = vec![ErasureTarget::Event { seq }];
        let erased = Event {
            id: EventId::new(Fixed.now(), [9; 10]),
            cause: None,
            scope: Scope::default(),
            body: HomeErased {
                targets,
                reason: reason.to_owned(),
            }
            .into(),
            ..first
        };
        let mut writer = ledger.writer().unwrap();
        writer.append(&erased).unwrap();
        writer.commit().unwrap();
    }
    let connection = rusqlite::Connection::open(path).unwrap();
    if recorded.is_none() {
        connection
            .execute_batch("DROP TRIGGER event_no_update")
            .unwrap();
    }
    let columns = "salt, bytes, id, kind, cause, task, call, attempt, unique_key, name, module, \
                   response, request";
    let nulls: Vec<_> = columns
        .split(", ")
        .map(|column| format!("{column} = NULL"))
        .collect();
    let update = format!("UPDATE event SET {} WHERE seq = {seq}", nulls.join(", "));
    connection.execute_batch(&update).unwrap();
}

fn findings(home: &Path) -> (u64, Vec<Finding>) {
    let mut findings = Vec::new();
    let mut session = Session::open(context(home)).unwrap();
    let verified = session
        .verify(&VerifyOptions::default(), &mut Silent, &mut |finding| {
            findings.push(finding);
            Ok(())
        })
        .unwrap();
    (verified.erased, findings)
}

#[test]
fn any_event_but_the_first_can_be_erased_without_damage() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    let last = Ledger::open(&Home::at(&home).ledger())
        .unwrap()
        .reader()
        .last_seq()
        .unwrap();
    assert_eq!(last, modules() + 5);
    for seq in 2..=last {
        let copied = folder.path().join(format!("erased-{seq}"));
        copy(&home, &copied);
        erase(&copied, seq, Some("asked for"));
        assert_eq!(findings(&copied), (1, Vec::new()), "event {seq}");
    }
}

#[test]
fn an_event_that_is_gone_without_a_record_is_damage() {
    let folder = tempfile::tempdir().unwrap();
    let home = home(folder.path());
    erase(&home, modules() + 3, None);
    let (erased, findings) = findings(&home);
    assert_eq!(erased, 0);
    let missing = findings
        .iter()
        .find(|finding| finding.code == "event_missing")
        .unwrap();
    assert_eq!(missing.object, format!("event {}", modules() + 3));
    assert_eq!(
        missing.detail,
        "salt and bytes are gone, but no home.erased names it"
    );
    assert!(
        findings
            .iter()
            .any(|finding| finding.code == "guard_missing")
    );
    assert!(findings.iter().any(|finding| finding.code == "reference"));
}
