//! Checks: evidence about exact bytes, by programs in processes of their own.

mod continuing;

use std::fs;

use model::Digest;
use serde_json::{Value, json};

use crate::support::{Ran, TestHome, chat, text};

/// What the output of [`Checked`] says.
const SAID: &str = "Two herons, 70 % of the day.";

/// A home with a task of one output, and the bytes that are meant to be it.
struct Checked {
    home: TestHome,
    task: String,
    sha256: String,
}

impl Checked {
    fn new() -> Self {
        let home = TestHome::new();
        let criteria = home.write("criteria", b"names herons\nhas no percentage\n");
        let create = ["task", "create", "t", "--output", "report", "--criteria"];
        let created = home.must(&[&create[..], &[criteria.to_str().unwrap()]].concat());
        let lines = home.write_exchanges("one.jsonl", &[chat("one", SAID, "stop")]);
        let imported = home.must(&["import", "exchange", lines.to_str().unwrap()]);
        let attempt = text(&imported.lines()[0], "attempt").to_owned();
        let stored = home.must(&["output", &attempt, "--store"]).document();
        let task = text(&created.document(), "task").to_owned();
        let sha256 = text(&stored, "sha256").to_owned();
        Self { home, task, sha256 }
    }

    fn command(&self, more: &[&str], argv: &[&str]) -> std::process::Command {
        let what = ["--json", "check", "run", "--output", "report", "--task"];
        let bytes = [self.task.as_str(), "--artifact", &self.sha256];
        let mut command = self
            .home
            .command(&[&what[..], &bytes, more, &["--"], argv].concat());
        command.stdin(std::process::Stdio::null());
        command
    }

    /// Runs a check and returns what it says.
    fn check(&self, more: &[&str], argv: &[&str]) -> Value {
        let ran = Ran::from(self.command(more, argv).output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        ran.document()
    }

    /// Runs a shell script as a check and returns its verdict and why.
    fn verdict(&self, script: &str) -> (String, Value) {
        let done = self.check(&[], &["sh", "-c", script]);
        (text(&done, "verdict").to_owned(), done["why"].clone())
    }

    fn events(&self, kind: &str) -> Vec<Value> {
        let mut events = self.home.must(&["log", "--task", &self.task]).lines();
        events.retain(|event| event["kind"] == kind);
        events
    }

    /// Returns the bytes that a stream was kept as.
    fn stream(&self, done: &Value, name: &str) -> Vec<u8> {
        fs::read(self.home.artifact(text(&done[name], "sha256"))).unwrap()
    }
}

#[test]
fn a_check_is_recorded_as_its_request_and_its_completion() {
    let checked = Checked::new();
    let argv = ["grep", "-c", "herons"];
    let done = checked.check(&["--covers", "0", "--timeout-s", "5"], &argv);
    assert_eq!(done["verdict"], "PASS");
    assert_eq!(done["exit_code"], 0);
    assert_eq!(done["covers"], json!([0]));
    assert_eq!(done["uncovered"], json!([1]));
    assert_eq!(checked.stream(&done, "stdout"), b"1\n");
    assert_eq!(done["stderr"], Value::Null);
    let [requested] = &checked.events("check.requested")[..] else {
        panic!("not one request");
    };
    let created = &checked.events("task.created")[0];
    assert_eq!(requested["cause"], created["id"]);
    assert_eq!(
        requested["body"],
        json!({
            "output": "report",
            "target": format!("artifact:{}", checked.sha256),
            "verifier": {"kind": "command", "argv": argv},
            "covers": [0],
            "criteria_sha256": created["body"]["outputs"][0]["criteria_sha256"],
            "timeout_s": 5,
        })
    );
    let [completed] = &checked.events("check.completed")[..] else {
        panic!("not one completion");
    };
    assert_eq!(completed["cause"], requested["id"]);
    assert_eq!(completed["id"], done["check"]);
    assert_eq!(
        completed["body"],
        json!({
            "verdict": "PASS",
            "exit_code": 0,
            "stdout": done["stdout"],
            "stderr": null,
            "findings": [],
        })
    );
    checked.home.must(&["verify"]);
}

#[test]
fn the_exit_code_is_the_verdict() {
    let checked = Checked::new();
    for (script, verdict, why) in [
        ("exit 0", "PASS", Value::Null),
        ("exit 1", "FAIL", Value::Null),
        ("exit 2", "INCONCLUSIVE", Value::Null),
        ("exit 3", "ERROR", json!("exit code 3 is no verdict")),
        ("kill -9 $$", "ERROR", json!("ended by signal 9")),
    ] {
        assert_eq!(
            checked.verdict(script),
            (verdict.to_owned(), why),
            "{script}"
        );
    }
    let nobody = checked.check(&[], &["/nonexistent/verifier"]);
    assert_eq!(nobody["verdict"], "ERROR");
    let why = "/nonexistent/verifier cannot be started: No such file or directory (os error 2)";
    assert_eq!(nobody["why"], why);
    assert_eq!(checked.events("check.completed").len(), 6);
}

#[test]
fn the_verifier_gets_the_bytes_and_the_criteria_and_nothing_else_of_the_environment() {
    let checked = Checked::new();
    let script = "cat; echo; cat \"$REREAD_ARTIFACT\"; echo; env | grep -v -e ^PWD= -e ^SHLVL= \
                  -e ^_= -e ^OLDPWD= | sort";
    let mut command = checked.command(&["--covers", "1"], &["sh", "-c", script]);
    command.env_clear().env("PATH", "/usr/bin:/bin");
    command.env("SECRET_KEY", "s3cret").env("HOME", "/nowhere");
    let ran = Ran::from(command.output().unwrap());
    let printed = checked.stream(&ran.document(), "stdout");
    let printed = String::from_utf8(printed).unwrap();
    let sha256 = Digest::of(SAID.as_bytes());
    let expected = format!(
        "{SAID}\n{SAID}\nHOME=/nowhere\nPATH=/usr/bin:/bin\nREREAD_ARTIFACT=/dev/stdin\n\
         REREAD_ARTIFACT_SHA256={sha256}\nREREAD_COVERS=1\n\
         REREAD_CRITERIA=[\"names herons\",\"has no percentage\"]\nREREAD_OUTPUT=report\n"
    );
    assert_eq!(printed, expected);
}

#[test]
fn limits_of_time_and_output_end_the_verifier_and_all_it_started() {
    let checked = Checked::new();
    let slow = checked.check(
        &["--timeout-s", "1"],
        &["sh", "-c", "sleep 600 & sleep 600"],
    );
    assert_eq!(slow["verdict"], "ERROR");
    assert_eq!(slow["why"], "no end after 1 s");
    assert_eq!(slow["exit_code"], Value::Null);
    let loud = checked.check(&[], &["yes"]);
    assert_eq!(loud["verdict"], "ERROR");
    assert_eq!(loud["why"], "more than 1048576 bytes of output");
    let kept = checked.stream(&loud, "stdout");
    assert_eq!(kept.len(), 1 << 20);
    assert!(kept.starts_with(b"y\ny\n"));
    // What outlives the verifier is not waited for, and ends with it.
    let (verdict, why) = checked.verdict("sleep 600 & exit 1");
    assert_eq!((verdict.as_str(), why), ("FAIL", Value::Null));
}

#[test]
fn a_verifier_that_changes_its_copy_says_nothing() {
    let checked = Checked::new();
    let changed = "the verifier changed its copy of the bytes";
    let found = checked.verdict("printf x > /dev/stdin");
    assert_eq!(found, ("ERROR".to_owned(), json!(changed)));
    let kept = fs::read(checked.home.artifact(&checked.sha256)).unwrap();
    assert_eq!(kept, SAID.as_bytes());
}

#[test]
fn findings_are_recorded_where_they_are_of_the_protocol() {
    let checked = Checked::new();
    let say = |findings: &str, code: u8| {
        let script = format!("echo '{{\"findings\":{findings}}}'; exit {code}");
        checked.check(&[], &["sh", "-c", &script])
    };
    let finding = |criterion: u64, verdict: &str, note: &str| json!({"criterion": criterion, "verdict": verdict, "note": note});
    let both = json!([finding(0, "PASS", "two"), finding(1, "FAIL", "70 %")]);
    let done = say(&both.to_string(), 1);
    assert_eq!(
        (&done["verdict"], &done["findings"]),
        (&json!("FAIL"), &both)
    );
    let long = "x".repeat(257);
    for (findings, why) in [
        (
            json!([finding(2, "PASS", "")]),
            "a finding is about criterion 2, which is not covered".to_owned(),
        ),
        (
            json!([finding(1, "PASS", ""), finding(0, "PASS", "")]),
            "the finding about criterion 0 is out of order".to_owned(),
        ),
        (
            json!([finding(0, "FAIL", "")]),
            "exit code 0 says PASS, but the finding about criterion 0 does not".to_owned(),
        ),
        (
            json!([finding(0, "PASS", &long)]),
            "the note about criterion 0 has 257 bytes, at most 256 are kept".to_owned(),
        ),
    ] {
        let done = say(&findings.to_string(), 0);
        assert_eq!(done["verdict"], "ERROR", "{findings}");
        assert_eq!((&done["why"], &done["findings"]), (&json!(why), &json!([])));
    }
    // Anything else is output.
    for said in ["{}", "7", "[{\"findings\": []}]", "findings"] {
        let (verdict, _) = checked.verdict(&format!("echo '{said}'"));
        assert_eq!(verdict, "PASS", "{said}");
    }
    checked.home.must(&["verify"]);
}

#[test]
fn findings_that_are_not_understood_are_no_pass() {
    let checked = Checked::new();
    let why = "its findings are not of the form that is asked for: ";
    for said in [
        r#"{"findings":7}"#,
        r#"{"findings":null}"#,
        r#"{"findings":{}}"#,
        r#"{"findings":[{"criterion":0,"verdict":"FAIL"}]}"#,
        r#"{"findings":[{"criterion":0,"verdict":"fail","note":""}]}"#,
        r#"{"findings":[{"criterion":"0","verdict":"FAIL","note":""}]}"#,
        r#"{"findings":[{"criterion":0,"verdict":"FAIL","note":null}]}"#,
        r#"{"findings":[{"criterion":0,"verdict":"FAIL","note":""}]} and more"#,
    ] {
        let done = checked.check(&[], &["sh", "-c", &format!("echo '{said}'")]);
        assert_eq!(done["verdict"], "ERROR", "{said}");
        assert!(text(&done, "why").starts_with(why), "{done}");
        assert_eq!(done["findings"], json!([]));
    }
    checked.home.must(&["verify"]);
}

#[test]
fn one_byte_of_output_too_many_is_an_error_however_fast_the_verifier_ends() {
    let checked = Checked::new();
    let why = json!("more than 1048576 bytes of output");
    for script in ["head -c 1048577 /dev/zero", "head -c 1048577 /dev/zero >&2"] {
        for _ in 0..8 {
            let (verdict, found) = checked.verdict(script);
            assert_eq!((verdict.as_str(), &found), ("ERROR", &why), "{script}");
        }
    }
    let (verdict, _) = checked.verdict("head -c 1048576 /dev/zero");
    assert_eq!(verdict, "PASS");
}

#[test]
fn a_copy_that_was_made_longer_is_not_read() {
    let checked = Checked::new();
    let (verdict, why) = checked.verdict("truncate -s 1T /proc/self/fd/0");
    let expected = json!("the verifier changed its copy of the bytes");
    assert_eq!((verdict.as_str(), why), ("ERROR", expected));
}

#[test]
fn what_cannot_be_checked_is_refused_and_nothing_is_recorded() {
    let checked = Checked::new();
    let before = checked.home.event_count();
    let refused = |more: &[&str], code: i32| {
        Ran::from(checked.command(more, &["true"]).output().unwrap()).refused(code)
    };
    let covers = "--covers: output report has 2 criteria, counted from 0; found 2";
    assert_eq!(
        refused(&["--covers", "2"], 2),
        ("usage".to_owned(), covers.to_owned())
    );
    let timeout = "--timeout-s: expected 1 to 86400, found 0";
    assert_eq!(
        refused(&["--timeout-s", "0"], 2),
        ("usage".to_owned(), timeout.to_owned())
    );
    let check = [
        "check",
        "run",
        "--task",
        &checked.task,
        "--json",
        "--artifact",
    ];
    let run = |sha256: &str, output: &str, code: i32| {
        let what = [sha256, "--output", output, "--", "true"];
        checked.home.refuses(&[&check[..], &what].concat(), code)
    };
    let unknown = (
        "unknown_name".to_owned(),
        "unknown output: title".to_owned(),
    );
    assert_eq!(run(&checked.sha256, "title", 2), unknown);
    let path = checked.home.artifact(&checked.sha256);
    fs::write(&path, b"other").unwrap();
    let found = Digest::of(b"other");
    let corrupt = format!(
        "artifact {} holds bytes that hash to {found}",
        checked.sha256
    );
    let refused = run(&checked.sha256, "report", 4);
    assert_eq!(refused, ("artifact".to_owned(), corrupt));
    fs::remove_file(&path).unwrap();
    let missing = format!("artifact {} is missing", checked.sha256);
    let refused = run(&checked.sha256, "report", 4);
    assert_eq!(refused, ("artifact".to_owned(), missing));
    assert_eq!(checked.home.event_count(), before);
}

#[test]
fn a_derivation_says_what_was_made_from_what_by_whom_and_with_what() {
    let checked = Checked::new();
    let made = checked.home.write("made.txt", b"Two herons.");
    let diff = checked.home.write("made.diff", b"- , 70 % of the day");
    let from = ["--from", &checked.sha256, "--tool", "sed 4.9"];
    let command = ["--actor", "editor", "derive", made.to_str().unwrap()];
    let more = ["--note", "no numbers", "--diff", diff.to_str().unwrap()];
    let derived = checked
        .home
        .must(&[&command[..], &from, &more].concat())
        .document();
    let event = checked
        .home
        .must(&["show", text(&derived, "event")])
        .document();
    assert_eq!(event["actor"], "editor");
    assert_eq!(
        event["body"],
        json!({
            "from_sha256": checked.sha256,
            "to_sha256": Digest::of(b"Two herons."),
            "tool": "sed 4.9",
            "note": "no numbers",
            "diff_sha256": Digest::of(b"- , 70 % of the day"),
        })
    );
    for (name, bytes) in [
        ("to_sha256", &b"Two herons."[..]),
        ("diff_sha256", b"- , 70 % of the day"),
    ] {
        let kept = fs::read(checked.home.artifact(text(&derived, name))).unwrap();
        assert_eq!(kept, bytes);
    }
    let same = checked.home.write("same.txt", SAID.as_bytes());
    let same = same.to_str().unwrap();
    let refused = checked
        .home
        .refuses(&[&["derive", same][..], &from].concat(), 2);
    let expected = format!("{same} holds the bytes it would be made from: expected others");
    assert_eq!(refused, ("usage".to_owned(), expected));
    checked.home.must(&["verify"]);
}
