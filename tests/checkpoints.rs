//! Checkpoints: signed notes that a rewritten or a cut history does not fit.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use model::Digest;
use serde_json::{Value, json};

use crate::damage::verify;
use crate::ledger::{Forger, open};
use crate::support::{Ran, TestHome, after_init, chat, placed, text};

/// A home with one call, the note of its five and two events, and its log key.
fn noted() -> (TestHome, String, String) {
    let (home, _) = TestHome::importing(&[chat("first", "The first answer.", "stop")]);
    let note = plain(&home, &["checkpoint"]);
    let key = plain(&home, &["checkpoint", "--key"]).trim_end().to_owned();
    (home, note, key)
}

/// What a command prints for people.
fn plain(home: &TestHome, arguments: &[&str]) -> String {
    let ran: Ran = home.command(arguments).output().unwrap().into();
    assert_eq!(ran.code, 0, "{ran:?}");
    ran.stdout
}

/// Holds a home against a note and returns the findings.
fn against(home: &TestHome, note: &str) -> Vec<Value> {
    let path = home.write("note", note.as_bytes());
    verify(home, &["--against", path.to_str().unwrap()])
}

/// Asserts how a note is refused that is none of this home's.
fn refused(home: &TestHome, note: &str, options: &[&str], code: i32) -> (String, String) {
    let path = home.write("note", note.as_bytes());
    let path = path.to_str().unwrap();
    home.refuses(
        &[&["verify", "--against", path][..], options].concat(),
        code,
    )
}

fn more(home: &TestHome) {
    home.import(&[chat("more", "One more answer.", "stop")]);
}

#[test]
fn a_checkpoint_is_a_signed_note_of_the_tree() {
    let (home, note, key) = noted();
    let document = home.must(&["checkpoint"]).document();
    assert_eq!(document, json!({ "checkpoint": note }));
    let document = home.must(&["checkpoint", "--key"]).document();
    assert_eq!(document, json!({ "log_key": key }));

    let (body, signatures) = note.split_once("\n\n").unwrap();
    let state = home.must(&["state"]).document();
    let origin = format!("reread/{}", text(&state, "ledger"));
    let verified = home.must(&["verify"]).document()["verified"].clone();
    let lines: Vec<_> = body.lines().collect();
    let root = format!("sha256:{}", hex(&BASE64.decode(lines[2]).unwrap()));
    assert_eq!(lines.len(), 3);
    let size = after_init(2).to_string();
    assert_eq!((lines[0], lines[1]), (origin.as_str(), size.as_str()));
    assert_eq!(verified["root"], root);

    let parts: Vec<_> = key.splitn(3, '+').collect();
    let public = BASE64.decode(parts[2]).unwrap();
    assert_eq!(parts[0], origin);
    assert_eq!((public.len(), public[0]), (33, 1), "Ed25519 and 32 bytes");
    let id = Digest::of_parts(&[origin.as_bytes(), b"\n", &public]);
    let id = &id.as_bytes()[..4];
    assert_eq!(parts[1], hex(id));

    let signature = signatures.strip_suffix('\n').unwrap();
    let signature = signature
        .strip_prefix(&format!("\u{2014} {origin} "))
        .unwrap();
    let signature = BASE64.decode(signature).unwrap();
    assert_eq!(signature.len(), 4 + 64);
    assert_eq!(&signature[..4], id);
}

fn hex(bytes: &[u8]) -> String {
    let digits: Vec<_> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    digits.concat()
}

#[test]
fn a_ledger_that_grew_still_has_its_older_checkpoints_as_prefixes() {
    let (home, note, key) = noted();
    for size in [2, 4, 4].map(after_init) {
        let path = home.write("note", note.as_bytes());
        let path = path.to_str().unwrap();
        for options in [vec![], vec!["--log-key", &key]] {
            let options = [&["verify", "--against", path][..], &options].concat();
            let verified = home.must(&options).document()["verified"].clone();
            assert_eq!(verified["events"], size);
            assert_eq!(verified["consistent_with"], after_init(2));
        }
        if size == after_init(2) {
            more(&home);
        }
    }
    // Signatures of others beside ours change nothing.
    let witness = BASE64.encode([7; 76]);
    let note = format!("{note}\u{2014} witness.example/w {witness}\n");
    assert_eq!(against(&home, &note), Vec::<Value>::new());
}

#[test]
fn a_rewritten_history_is_whole_in_itself_and_does_not_fit_an_older_checkpoint() {
    let (home, note, _) = noted();
    Forger::open(&home)
        .replace(after_init(1), "\"kestrel\"", "\"kestrex\"")
        .seal();
    assert_eq!(verify(&home, &[]), Vec::<Value>::new(), "whole in itself");
    let findings = against(&home, &note);
    assert_eq!(findings.len(), 1, "{findings:?}");
    assert_eq!(text(&findings[0], "object"), "checkpoint");
    assert_eq!(text(&findings[0], "code"), "not_a_prefix");
    let detail = text(&findings[0], "detail");
    assert!(
        detail.starts_with(&placed("the checkpoint of @2 events has root sha256:"))
            && detail.contains(&placed(", but the first @2 events here have sha256:"))
            && detail.ends_with(": history was rewritten"),
        "{detail}"
    );
    // So also when it went on since.
    more(&home);
    assert_eq!(against(&home, &note).len(), 1);
}

#[test]
fn a_history_whose_end_was_made_again_does_not_fit() {
    let (home, _, _) = noted();
    let file = home.path().with_file_name("exchanges.jsonl");
    more(&home);
    let note = plain(&home, &["checkpoint"]);
    Forger::open(&home)
        .run("DELETE FROM event WHERE seq > @2; DELETE FROM projection")
        .seal();
    let findings = against(&home, &note);
    assert_eq!(
        findings,
        [json!({
            "object": "checkpoint",
            "code": "not_a_prefix",
            "detail": placed(
                "the checkpoint has @4 events, but the ledger has only @2: history was cut"
            ),
        })]
    );
    // The same line is imported again: other ids, another history.
    home.must(&["import", "exchange", file.to_str().unwrap()]);
    assert_eq!(home.event_count(), after_init(4));
    assert_eq!(verify(&home, &[]), Vec::<Value>::new(), "whole in itself");
    let detail = text(&against(&home, &note)[0], "detail").to_owned();
    assert!(detail.ends_with(": history was rewritten"), "{detail}");
}

#[test]
fn a_ledger_that_was_put_back_from_an_older_copy_does_not_fit() {
    let (home, _, _) = noted();
    let older = home.copy();
    more(&home);
    let note = plain(&home, &["checkpoint"]);
    let findings = against(&older, &note);
    let detail =
        placed("the checkpoint has @4 events, but the ledger has only @2: history was cut");
    assert_eq!(text(&findings[0], "detail"), detail);
    let size: i64 = open(&older)
        .query_row("SELECT size FROM tree", [], |row| row.get(0))
        .unwrap();
    assert_eq!(u64::try_from(size), Ok(after_init(2)));
}

#[test]
fn a_note_that_was_changed_proves_nothing() {
    let (home, note, key) = noted();
    let unsigned = format!("the checkpoint carries no valid signature of the key {key}");
    let unsigned = ("damage".to_owned(), unsigned);
    let root = note.lines().nth(2).unwrap();
    let size = placed("\n@2\n");
    let other_root = BASE64.encode([7; 32]);
    let signature = note.lines().last().unwrap().rsplit(' ').next().unwrap();
    let mut bytes = BASE64.decode(signature).unwrap();
    bytes[40] ^= 1;
    let changed_signature = BASE64.encode(&bytes);
    bytes[40] ^= 1;
    bytes[0] ^= 1;
    let changed_id = BASE64.encode(&bytes);
    for changed in [
        note.replace(signature, &changed_signature),
        note.replace(signature, &changed_id),
        note.replace(signature, &BASE64.encode(&bytes[..67])),
        note.replace(&size, "\n9\n"),
        note.replace(root, &other_root),
        note.replace("\n\n", "\nan extension line\n\n"),
        note.replace('\u{2014}', "-"),
        note.split_once("\n\n").unwrap().0.to_owned() + "\n\n",
    ] {
        assert_ne!(changed, note);
        assert_eq!(refused(&home, &changed, &[], 3), unsigned, "{changed}");
    }
    for (changed, detail) in [
        (
            String::new(),
            "expected a text, an empty line and signatures",
        ),
        (
            note.replace("\n\n", "\n"),
            "expected a text, an empty line and signatures",
        ),
        (note.replace(&size, &placed("\n0@2\n")), "expected a size"),
        (note.replace(&size, &placed("\n-@2\n")), "expected a size"),
        (
            note.replace(root, "AAAA"),
            "expected a root of 32 bytes in base64",
        ),
        (
            "reread/x\n7\n\n\u{2014} x y\n".to_owned(),
            "expected an origin, a size and a root",
        ),
    ] {
        let expected = ("usage".to_owned(), format!("not a checkpoint: {detail}"));
        assert_eq!(refused(&home, &changed, &[], 2), expected, "{changed}");
    }
    let path = home.write("note", b"\xff\xfe");
    let (code, message) = home.refuses(&["verify", "--against", path.to_str().unwrap()], 2);
    let expected = format!(
        "{}: expected UTF-8, found another byte at place 1",
        path.display()
    );
    assert_eq!((code, message), ("usage".to_owned(), expected));
}

#[test]
fn the_key_of_another_home_opens_no_note_of_this_one() {
    let (home, note, key) = noted();
    let other = TestHome::fresh();
    let theirs = plain(&other, &["checkpoint", "--key"]);
    let theirs = theirs.trim_end();
    let name = |key: &str| key.split('+').next().unwrap().to_owned();
    let expected = format!(
        "not a checkpoint: expected the log {}, found {}",
        name(theirs),
        name(&key)
    );
    assert_eq!(
        refused(&home, &note, &["--log-key", theirs], 2),
        ("usage".to_owned(), expected)
    );
    let note_of_other = plain(&other, &["checkpoint"]);
    let (code, message) = refused(&home, &note_of_other, &[], 2);
    assert_eq!(code, "usage");
    assert!(
        message.starts_with("not a checkpoint: expected the log "),
        "{message}"
    );

    // Another key under this home's name.
    let public = theirs.splitn(3, '+').nth(2).unwrap();
    let id = Digest::of_parts(&[
        name(&key).as_bytes(),
        b"\n",
        &BASE64.decode(public).unwrap(),
    ]);
    let forged = format!("{}+{}+{public}", name(&key), hex(&id.as_bytes()[..4]));
    let (code, message) = refused(&home, &note, &["--log-key", &forged], 3);
    assert_eq!(code, "damage");
    assert_eq!(
        message,
        format!("the checkpoint carries no valid signature of the key {forged}")
    );
    let form = "expected a log key such as <name>+<8 hex digits>+<base64>, found another text";
    let wrong_id = format!("{}+00000000+{public}", name(&key));
    for text in ["", "x", "a+b", "a+00000000+AAAA", &wrong_id] {
        let found = refused(&home, &note, &["--log-key", text], 2);
        assert_eq!(found, ("usage".to_owned(), form.to_owned()), "{text}");
    }
}
