//! Looking at records: history, one record of every kind, and who read what.

use std::fs;

use model::Digest;
use serde_json::{Value, json};

use crate::support::{MODULES, TestHome, V1, V2, after_init, chat, exchange, placed, text};

const UNKNOWN_ID: &str = "01890000-0000-7000-8000-000000000000";

/// A home with a task of one call, and a call of no task; both were read by v2.
struct Told {
    home: TestHome,
    task: String,
    call: String,
    attempt: String,
    other_call: String,
}

impl Told {
    fn new() -> Self {
        let home = TestHome::new();
        let criteria = home.write("criteria", b"it is there\n");
        let criteria = criteria.to_str().unwrap();
        let create = [
            "task",
            "create",
            "t",
            "--output",
            "o",
            "--criteria",
            criteria,
        ];
        let created = home.must(&create).document();
        let task = text(&created, "task").to_owned();
        let file = home.write_exchanges("one.jsonl", &[chat("one", "All of it.", "stop")]);
        let import = [
            "import",
            "exchange",
            file.to_str().unwrap(),
            "--task",
            &task,
        ];
        let imported = home.must(&import).lines();
        let other = home.import(&[exchange("two", "openai.chat", 500, "{}")]);
        home.must(&[&["reinterpret", "all"][..], &V2].concat());
        Self {
            call: text(&imported[0], "call").to_owned(),
            attempt: text(&imported[0], "attempt").to_owned(),
            other_call: text(&other[0], "call").to_owned(),
            home,
            task,
        }
    }

    fn seqs(&self, filter: &[&str]) -> Vec<u64> {
        let ran = self.home.must(&[&["log"][..], filter].concat());
        let seq = |event: &Value| event["seq"].as_u64().unwrap();
        ran.lines().iter().map(seq).collect()
    }
}

fn unknown(what: &str, name: &str) -> (String, String) {
    ("unknown_name".to_owned(), format!("unknown {what}: {name}"))
}

#[test]
fn history_is_shown_in_order_and_by_every_filter() {
    let of = Told::new();
    let at = |events: &[u64]| events.iter().copied().map(after_init).collect::<Vec<_>>();
    let second = placed("@2");
    assert_eq!(of.seqs(&[]), (1..=after_init(9)).collect::<Vec<_>>());
    assert_eq!(of.seqs(&["--after", &placed("@7")]), at(&[8, 9]));
    assert_eq!(of.seqs(&["--limit", "2"]), [1, 2]);
    assert_eq!(of.seqs(&["--after", "3", "--limit", "2"]), [4, 5]);
    assert_eq!(of.seqs(&["--limit", "0"]), [0; 0]);
    assert_eq!(of.seqs(&["--after", &placed("@9")]), [0; 0]);
    assert_eq!(of.seqs(&["--after", "18446744073709551615"]), [0; 0]);
    let (call, task) = (of.call.as_str(), of.task.as_str());
    assert_eq!(of.seqs(&["--task", task]), at(&[1, 2, 3, 6, 7]));
    assert_eq!(of.seqs(&["--call", call]), at(&[2, 3, 6, 7]));
    assert_eq!(of.seqs(&["--call", &of.other_call]), at(&[4, 5, 8, 9]));
    let after = ["--call", call, "--after", &second, "--limit", "2"];
    assert_eq!(of.seqs(&after), at(&[3, 6]));
    assert_eq!(
        of.seqs(&["--call", call, "--task", task]),
        at(&[2, 3, 6, 7])
    );
    assert_eq!(of.seqs(&["--call", &of.other_call, "--task", task]), [0; 0]);
    for (flag, what) in [("--task", "task"), ("--call", "call")] {
        let refused = of.home.refuses(&["log", flag, UNKNOWN_ID], 2);
        assert_eq!(refused, unknown(what, UNKNOWN_ID));
        let (code, message) = of.home.refuses(&["log", flag, "x"], 2);
        assert_eq!(code, "usage");
        let start = format!("{what} \"x\": expected a UUID such as ");
        assert!(message.starts_with(&start), "{message}");
    }
    // For people, each is one line with its place, time, kind, id and subject.
    let plain = of.home.command(&["log", "--call", call]).output().unwrap();
    let plain = String::from_utf8(plain.stdout).unwrap();
    let events = of.home.must(&["log", "--call", call]).lines();
    for (line, event) in plain.lines().zip(&events) {
        let words: Vec<_> = line.split_whitespace().collect();
        assert_eq!(words[0], event["seq"].to_string());
        let expected = ["at", "kind", "id"].map(|name| text(event, name));
        assert_eq!(words[1..4], expected);
        let subject = match event["attempt"].as_str() {
            Some(attempt) => ["attempt", attempt],
            None => ["call", call],
        };
        assert_eq!(words[4..], subject);
    }
    assert_eq!(plain.lines().count(), events.len());
}

#[test]
fn a_record_of_every_kind_is_shown_by_its_id_label_or_hash() {
    let of = Told::new();
    let show = |name: &str| of.home.must(&["show", name]).document();
    for event in of.home.must(&["log"]).lines() {
        let shown = show(text(&event, "id"));
        assert_eq!(shown["record"], "event");
        let mut expected = event.clone();
        expected["record"] = json!("event");
        assert_eq!(shown, expected);
    }
    let call = show(&of.call);
    assert_eq!(call["record"], "call");
    assert_eq!(call["state"]["call"], of.call.as_str());
    assert_eq!(call["events"].as_array().unwrap().len(), 4);
    let attempt = show(&of.attempt);
    assert_eq!(attempt["record"], "attempt");
    assert_eq!(attempt["call"], of.call.as_str());
    assert_eq!(attempt["bytes"], "available");
    assert_eq!(attempt["readings"].as_array().unwrap().len(), 1);
    let task = show(&of.task);
    assert_eq!(
        (&task["record"], &task["task"]),
        (&json!("task"), &json!(of.task))
    );
    let module = show("attempt-policy-v1");
    assert_eq!(module["record"], "module");
    let sha = text(&module["module"], "sha256");
    for name in [sha, &sha[7..]] {
        assert_eq!(show(name), module);
    }
    let response = text(&attempt["response"], "sha256");
    let artifact = show(response);
    assert_eq!(artifact["record"], "artifact");
    assert_eq!(
        (&artifact["sha256"], &artifact["bytes"]),
        (&json!(response), &json!("available"))
    );
    assert_eq!(artifact["length"], attempt["response"]["length"]);
    assert_eq!(artifact["read_by"].as_array().unwrap().len(), 1);
    let nobody = Digest::of(b"nobody has these bytes").to_string();
    assert_eq!(
        of.home.refuses(&["show", &nobody], 2),
        unknown("artifact", &nobody)
    );
    for name in ["nope", UNKNOWN_ID, "", "attempt-policy-v9"] {
        assert_eq!(of.home.refuses(&["show", name], 2), unknown("id", name));
    }
}

#[test]
fn a_module_whose_bytes_are_gone_is_refused_by_name_and_shown_as_an_artifact() {
    let of = Told::new();
    let label = "attempt-interpretation-v2";
    let module = of.home.must(&["module", "show", label]).document();
    let sha = text(&module["module"], "sha256").to_owned();
    fs::remove_file(of.home.artifact(&sha)).unwrap();
    let message = format!("module {label} ({sha}) is unavailable: artifact {sha} is missing");
    let refused = ("module_unavailable".to_owned(), message);
    for command in [
        vec!["show", label],
        vec!["module", "show", label],
        vec!["module", "show", &sha],
        vec!["interpret", &of.attempt],
    ] {
        assert_eq!(of.home.refuses(&command, 4), refused, "{command:?}");
    }
    let shown = of.home.must(&["show", &sha]).document();
    assert_eq!(
        (&shown["record"], &shown["bytes"]),
        (&json!("artifact"), &json!("missing"))
    );
    assert_eq!(shown["length"], Value::Null);
    let listed = of.home.must(&["module", "list"]).lines();
    let states: Vec<_> = listed.iter().map(|module| text(module, "bytes")).collect();
    let mut expected = vec!["present"; usize::try_from(MODULES).unwrap()];
    expected[1] = "missing";
    assert_eq!(states, expected);
    let doctor = of.home.run(&["doctor"]);
    assert_eq!(doctor.code, 3);
    let checks = doctor.lines();
    let modules = checks
        .iter()
        .find(|check| check["check"] == "modules")
        .unwrap();
    assert_eq!(text(modules, "detail"), refused.1);
}

#[test]
fn who_read_which_bytes_is_told() {
    let of = Told::new();
    of.home.must(&[
        "reinterpret",
        "attempt",
        &of.attempt,
        "--interpreter",
        "attempt-interpretation-v1",
    ]);
    let shown = of.home.must(&["show", &of.attempt]).document();
    let observation = text(&shown["observation"], "id");
    let response = text(&shown["response"], "sha256");
    let request = text(
        &shown["observation"]["body"]["request_body_artifact"],
        "sha256",
    );
    let who = of.home.must(&["who-read", response]).document();
    assert_eq!(who["observed_by"], json!([observation]));
    let labels: Vec<_> = who["read_by"]
        .as_array()
        .unwrap()
        .iter()
        .map(|reading| text(&reading["module"], "label"))
        .collect();
    assert_eq!(
        labels,
        ["attempt-interpretation-v2", "attempt-interpretation-v1"]
    );
    assert!(who["read_by"].as_array().unwrap().iter().all(|reading| {
        reading["attempt"] == of.attempt.as_str() && reading["call"] == of.call.as_str()
    }));
    // Without the prefix it is the same question; both calls sent one request.
    assert_eq!(of.home.must(&["who-read", &response[7..]]).document(), who);
    let who = of.home.must(&["who-read", request]).document();
    assert_eq!(who["observed_by"].as_array().unwrap().len(), 2);
    assert_eq!(who["read_by"].as_array().unwrap().len(), 3);

    let nobody = Digest::of(b"nobody has these bytes").to_string();
    assert_eq!(
        of.home.refuses(&["who-read", &nobody], 2),
        unknown("artifact", &nobody)
    );
    assert_eq!(
        of.home.refuses(&["reads-of", "nope"], 2),
        unknown("module", "nope")
    );
    let short = "not a digest: expected 64 hex digits, found 4 characters";
    for command in [["who-read", "nope"], ["who-read", "sha256:abcd"]] {
        let refused = of.home.refuses(&command, 2);
        assert_eq!(refused, ("usage".to_owned(), short.to_owned()));
    }
}

#[test]
fn which_bytes_a_module_read_is_told() {
    let of = Told::new();
    let shown = of.home.must(&["show", &of.attempt]).document();
    let response = text(&shown["response"], "sha256");
    let request = text(
        &shown["observation"]["body"]["request_body_artifact"],
        "sha256",
    );
    let name = "attempt-interpretation-v1";
    let read = ["reinterpret", "attempt", &of.attempt];
    of.home
        .must(&[&read[..], &["--interpreter", name]].concat());
    let reads = of
        .home
        .must(&["reads-of", "attempt-interpretation-v1"])
        .lines();
    assert_eq!(reads.len(), 1);
    assert_eq!(reads[0]["response_sha256"], response);
    assert_eq!(reads[0]["request_sha256"], request);
    assert_eq!(reads[0]["attempt"], of.attempt.as_str());
    assert_eq!(
        of.home
            .must(&["reads-of", "attempt-interpretation-v2"])
            .lines()
            .len(),
        2
    );
    // A policy reads no bytes, a module's own bytes are read by nobody.
    assert_eq!(of.home.must(&["reads-of", "attempt-policy-v2"]).stdout, "");
    let module = of
        .home
        .must(&["module", "show", "attempt-policy-v2"])
        .document();
    let who = of
        .home
        .must(&["who-read", text(&module["module"], "sha256")])
        .document();
    assert_eq!(
        (&who["observed_by"], &who["read_by"]),
        (&json!([]), &json!([]))
    );
}

#[test]
fn exact_bytes_are_printed_or_it_is_said_why_not() {
    let of = Told::new();
    let config = of.home.write("config", b"not used by this interpreter");
    let config = config.to_str().unwrap();
    let named = ["--interpreter-config", config];
    let configured = ["reinterpret", "attempt", &of.attempt];
    of.home.must(&[&configured[..], &named].concat());
    let shown = of.home.must(&["show", &of.attempt]).document();
    let response = text(&shown["response"], "sha256").to_owned();
    let request = text(
        &shown["observation"]["body"]["request_body_artifact"],
        "sha256",
    )
    .to_owned();
    let module = of
        .home
        .must(&["module", "show", "attempt-policy-v1"])
        .document();
    let module = text(&module["module"], "sha256").to_owned();
    let config = Digest::of(&fs::read(config).unwrap()).to_string();
    for sha in [response, request, module, config] {
        let file = of.home.artifact(&sha);
        let bytes = fs::read(&file).unwrap();
        for name in [sha.as_str(), &sha[7..]] {
            let cat = of
                .home
                .command(&["artifact", "cat", name])
                .output()
                .unwrap();
            assert_eq!(cat.stdout, bytes);
        }
        let document = of.home.must(&["artifact", "cat", &sha]).document();
        assert_eq!(document["length"], bytes.len());
        let as_text = String::from_utf8(bytes.clone()).ok();
        assert_eq!(document["body_utf8"], json!(as_text));

        fs::write(&file, b"other bytes").unwrap();
        let found = Digest::of(b"other bytes");
        let message = format!("artifact {sha} holds bytes that hash to {found}");
        let refused = of.home.refuses(&["artifact", "cat", &sha], 4);
        assert_eq!(refused, ("artifact".to_owned(), message));
        fs::remove_file(&file).unwrap();
        let refused = of.home.refuses(&["artifact", "cat", &sha], 4);
        assert_eq!(
            refused,
            ("artifact".to_owned(), format!("artifact {sha} is missing"))
        );
        fs::write(&file, bytes).unwrap();
    }
    let nobody = Digest::of(b"nobody has these bytes").to_string();
    let refused = of.home.refuses(&["artifact", "cat", &nobody], 2);
    assert_eq!(refused, unknown("artifact", &nobody));
}

#[test]
fn a_reading_without_text_says_so_and_stores_nothing() {
    let (home, imported) = TestHome::importing(&[exchange("e", "openai.chat", 500, "{}")]);
    let attempt = text(&imported[0], "attempt");
    let plain = home.command(&["output", attempt]).output().unwrap();
    assert_eq!(
        (plain.status.code(), plain.stdout.as_slice()),
        (Some(0), b"".as_slice())
    );
    let said = "the reading by attempt-interpretation-v2 has no output text\n";
    assert_eq!(String::from_utf8(plain.stderr).unwrap(), said);
    let document = home.must(&["output", attempt]).document();
    let texts = ["output_text", "sha256", "length"].map(|name| document[name].clone());
    assert_eq!(texts, [Value::Null, Value::Null, Value::Null]);
    let refused = home.refuses(&["output", attempt, "--store"], 4);
    let message = format!(
        "the reading of attempt {attempt} by attempt-interpretation-v2 has no output text to store"
    );
    assert_eq!(refused, ("forbidden".to_owned(), message));
    let refused = home.refuses(&["output", UNKNOWN_ID], 2);
    assert_eq!(refused, unknown("attempt", UNKNOWN_ID));
}

#[test]
fn output_is_read_by_the_adopted_interpreter_unless_another_is_named() {
    let (home, imported) = TestHome::importing(&[chat("one", "All of it.", "stop")]);
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let by = |options: &[&str]| {
        let document = home
            .must(&[&["output", attempt][..], options].concat())
            .document();
        text(&document["module"], "label").to_owned()
    };
    assert_eq!(by(&[]), "attempt-interpretation-v2", "the home's default");
    home.must(&[&["reinterpret", "call", call][..], &V1].concat());
    assert_eq!(by(&[]), "attempt-interpretation-v1", "the adopted one");
    let named = ["--interpreter", "attempt-interpretation-v2"];
    assert_eq!(by(&named), "attempt-interpretation-v2");
}
