//! Credentials reach no file, no output and no error; bodies are kept exactly.

use std::fs;
use std::path::{Path, PathBuf};

use model::Digest;
use serde_json::{Value, json};

use crate::ledger::{open, select};
use crate::support::{Ran, TestHome, V1, V2, chat, text};

/// Stands in every secret that is planted.
const STEM: &str = "cAn4Ry";

const SECRET_HEADERS: [&str; 8] = [
    "Authorization",
    "x-api-key",
    "api-key",
    "Cookie",
    "Set-Cookie",
    "Proxy-Authorization",
    "x-goog-api-key",
    "X-Vault-Token",
];

/// Makes secrets, each another one, and counts them.
#[derive(Default)]
struct Planter {
    planted: usize,
}

impl Planter {
    fn secret(&mut self) -> String {
        self.planted += 1;
        format!("{STEM}{:03}", self.planted)
    }

    fn pairs(&mut self) -> Value {
        let pairs = SECRET_HEADERS.map(|name| json!([name, format!("Bearer {}", self.secret())]));
        Value::from(pairs.to_vec())
    }

    fn object(&mut self) -> Value {
        let entries = SECRET_HEADERS.map(|name| (name.to_lowercase(), json!([self.secret()])));
        Value::Object(entries.into_iter().collect())
    }
}

/// Lines that are imported, with secrets wherever one may stand.
fn good_lines(planter: &mut Planter) -> Vec<Value> {
    let mut lines = Vec::new();
    let mut add = |edit: &mut dyn FnMut(&mut Value)| {
        let mut line = chat(&format!("good-{}", lines.len()), "An answer.", "stop");
        edit(&mut line);
        lines.push(line);
    };
    add(&mut |line| {
        line["request"]["headers"] = planter.pairs();
        line["response"]["headers"] = planter.pairs();
    });
    add(&mut |line| {
        line["request"]["headers"] = planter.object();
        line["response"]["headers"] = planter.object();
    });
    // Of request headers nothing is refused: whatever they are, they are passed over.
    add(&mut |line| line["request"]["headers"] = json!([planter.secret(), 7, [planter.secret()]]));
    add(&mut |line| line["request"]["headers"] = json!(planter.secret()));
    for path in [
        "/v1/x?key=SECRET&api_key=SECRET",
        "/v1/x#SECRET",
        "/v1/x%3Fkey=SECRET",
        "/v1/x%23SECRET",
        "https://user:SECRET@api.example.com/v1/x?key=SECRET#SECRET",
        "https://SECRET@api.example.com",
        "https://SECRET.example.com:8443/v1/x",
        "//user:SECRET@api.example.com/v1/x",
        "/proxy/https://user:SECRET@api.example.com/v1/x",
        "?key=SECRET",
    ] {
        add(&mut |line| {
            let mut path = path.to_owned();
            while path.contains("SECRET") {
                path = path.replacen("SECRET", &planter.secret(), 1);
            }
            line["request"]["path"] = json!(path);
        });
    }
    add(&mut |line| {
        line["api_key"] = json!(planter.secret());
        line["env"] = json!({"TOKEN": [planter.secret(), {"deep": planter.secret()}]});
        line[planter.secret()] = Value::Null;
        line["request"]["auth"] = json!({"basic": planter.secret()});
        line["request"]["url"] = json!(format!("https://h/?key={}", planter.secret()));
        line["response"]["cookies"] = json!([planter.secret()]);
        line["response"]["trailers"] = planter.pairs();
    });
    lines
}

/// Lines that are refused, each with the whole message. The file has three lines for
/// each: which member of a good line is replaced, with what, and the message.
fn bad_lines(planter: &mut Planter) -> Vec<(Vec<u8>, String)> {
    let cases = include_str!("fixtures/malformed.txt");
    let mut lines = Vec::new();
    for case in cases.split_terminator("\n\n") {
        let [member, value, message] = <[&str; 3]>::try_from(case.split('\n').collect::<Vec<_>>())
            .unwrap_or_else(|lines| panic!("{lines:?}"));
        let value = value.replace("LONG", &"SECRET".repeat(100));
        let line = if member == "line" {
            value
        } else {
            let (parent, name) = member.rsplit_once('/').unwrap();
            let mut line = chat("bad", "An answer.", "stop");
            line["unused"] = json!("SECRET");
            line.pointer_mut(parent).unwrap()[name] = serde_json::from_str(&value).unwrap();
            line.to_string()
        };
        lines.push((line.into_bytes(), message.to_owned()));
    }
    let not_text = "the line: expected UTF-8, found another byte at column 18";
    lines.push((b"{\"id\": \"SECRET\xff\"}".to_vec(), not_text.to_owned()));
    for (line, _) in &mut lines {
        while let Some(at) = find(line, b"SECRET") {
            line.splice(at..at + 6, planter.secret().into_bytes());
        }
    }
    lines
}

fn find(bytes: &[u8], word: &[u8]) -> Option<usize> {
    bytes.windows(word.len()).position(|window| window == word)
}

/// Every file below a folder but the sources that the test wrote.
fn kept_files(folder: &Path) -> Vec<(PathBuf, Vec<u8>)> {
    let names = crate::support::files_in(folder).into_keys();
    names
        .filter(|name| name.extension().is_none_or(|ending| ending != "jsonl"))
        .map(|name| (name.clone(), fs::read(folder.join(&name)).unwrap()))
        .collect()
}

/// A home whose processes put their temporary files beside it.
struct Watched {
    home: TestHome,
    printed: usize,
}

impl Watched {
    /// Runs a command, for people and for machines; neither may print a secret.
    fn run(&mut self, command: &[&str]) -> Ran {
        let temporary = self.home.path().with_file_name("temporary");
        let mut last = None;
        for form in [None, Some("--json")] {
            let mut process = self.home.command(command);
            process.args(form).env("TMPDIR", &temporary);
            let ran: Ran = process.output().unwrap().into();
            for printed in [&ran.stdout, &ran.stderr] {
                assert!(!printed.contains(STEM), "{command:?} printed {printed}");
                self.printed += 1;
            }
            last = Some(ran);
        }
        last.unwrap()
    }

    /// Asserts that no file of the home or beside it holds a secret.
    fn holds_none(&self) -> usize {
        let files = kept_files(self.home.path().parent().unwrap());
        for (name, bytes) in &files {
            let found = find(bytes, STEM.as_bytes());
            assert_eq!(found, None, "{} holds a secret", name.display());
        }
        files.len()
    }
}

#[test]
fn secrets_in_headers_targets_and_ignored_members_reach_no_file_and_no_output() {
    let mut planter = Planter::default();
    let home = TestHome::new();
    fs::create_dir(home.path().with_file_name("temporary")).unwrap();
    let good = home.write_exchanges("good.jsonl", &good_lines(&mut planter));
    let bad = bad_lines(&mut planter);
    let bytes: Vec<_> = bad.iter().map(|(line, _)| line.as_slice()).collect();
    let bad_file = home.write("bad.jsonl", &bytes.join(b"\n".as_slice()));
    let (good, bad_file) = (good.to_str().unwrap(), bad_file.to_str().unwrap());
    // While somebody reads, the log beside the ledger stays and can be looked into.
    let reader = open(&home);
    reader.execute_batch("BEGIN").unwrap();
    select(&reader, "SELECT seq FROM event");

    let mut watched = Watched { home, printed: 0 };
    let refused = watched.run(&["import", "exchange", good, bad_file]);
    let (code, message) = refused.refused(2);
    assert_eq!(code, "malformed_exchange");
    let lines: Vec<_> = message.lines().collect();
    for (index, (_, message)) in bad.iter().enumerate().take(20) {
        assert_eq!(lines[index], format!("{bad_file}:{}: {message}", index + 1));
    }
    let imported = watched.run(&["import", "exchange", good, bad_file, "--keep-going"]);
    assert_eq!(imported.code, 0, "{imported:?}");
    let lines = imported.lines();
    let details: Vec<_> = lines
        .iter()
        .filter(|line| line["outcome"] == "refused")
        .map(|line| text(line, "detail"))
        .collect();
    let expected: Vec<_> = bad.iter().map(|(_, message)| message.as_str()).collect();
    assert_eq!(details, expected);
    assert!(
        fs::metadata(watched.home.path().join("ledger.sqlite3-wal"))
            .unwrap()
            .len()
            > 0
    );
    watched.holds_none();

    let first = lines.iter().find(|line| line["call"].is_string()).unwrap();
    let (call, attempt) = (text(first, "call"), text(first, "attempt"));
    for command in [
        vec!["interpret", "all"],
        [&["reinterpret", "all"][..], &V1].concat(),
        [&["reinterpret", "all"][..], &V2].concat(),
        vec!["state"],
        vec!["state", "call", call],
        vec!["show", call],
        vec!["show", attempt],
        vec!["log"],
        vec!["output", attempt],
        vec!["verify", "--replay"],
        vec!["doctor"],
        vec!["rebuild"],
        vec!["checkpoint"],
    ] {
        assert_eq!(watched.run(&command).code, 0, "{command:?}");
    }
    let files = watched.holds_none();
    drop(reader);
    watched.home.must(&["verify"]);
    watched.holds_none();
    println!(
        "{} secrets planted, {files} files and {} outputs searched, 0 found",
        planter.planted, watched.printed
    );
    assert!(planter.planted > 150);
}

#[test]
fn what_is_left_of_a_target_is_its_path() {
    let (home, imported) = TestHome::importing(&good_lines(&mut Planter::default()));
    let endpoints: Vec<_> = imported
        .iter()
        .map(|line| {
            let shown = home.must(&["show", text(line, "attempt")]).document();
            text(&shown["observation"]["body"], "endpoint").to_owned()
        })
        .collect();
    assert_eq!(
        endpoints[4..14],
        [
            "/v1/x",
            "/v1/x",
            "/v1/x",
            "/v1/x",
            "/v1/x",
            "/",
            "/v1/x",
            "/v1/x",
            "/proxy/https://api.example.com/v1/x",
            "/",
        ]
    );
}

#[test]
fn a_body_that_holds_a_secret_is_kept_exactly_and_stands_in_no_event() {
    let secret = format!("sk-{STEM}-in-a-body");
    let mut line = chat("body", &format!("The key is {secret}."), "stop");
    let request = format!("{{\"key\": \"{secret}\"}}");
    line["request"]["body_utf8"] = json!(request);
    let body = text(&line["response"], "body_utf8").to_owned();
    let (home, imported) = TestHome::importing(&[line]);
    home.must(&[&["reinterpret", "all"][..], &V2].concat());
    for bytes in [&request, &body] {
        let sha = Digest::of(bytes.as_bytes()).to_string();
        assert_eq!(fs::read(home.artifact(&sha)).unwrap(), bytes.as_bytes());
    }
    let output = home.must(&["output", text(&imported[0], "attempt")]);
    let said = output.document()["output_text"].clone();
    assert_eq!(said, format!("The key is {secret}."));
    let kept = kept_files(&home.path());
    let holding: Vec<_> = kept
        .iter()
        .filter(|(_, bytes)| find(bytes, secret.as_bytes()).is_some())
        .map(|(name, _)| name.starts_with("artifacts/sha256"))
        .collect();
    assert_eq!(holding, [true, true], "two bodies and nothing else");
}
