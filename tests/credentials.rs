//! Credentials of calls reach no file, no output and no error; they reach the provider.

use std::fs;
use std::process::Command;

use serde_json::{Value, json};

use crate::faults;
use crate::recording_support::{CHAT_BODY, Provider, call, home_with, observation};
use crate::support::{Ran, TestHome, files_in, text};

/// Stands in every secret.
const STEM: &str = "cAn4Ry";

fn secret(name: &str) -> String {
    format!("{STEM}-{name}")
}

/// A provider that answers with secrets in headers that are not kept.
fn provider(replies: usize) -> Provider {
    let reply = json!({
        "headers": [
            ["content-type", "application/json"],
            ["set-cookie", secret("set-cookie")],
            ["www-authenticate", format!("Bearer {}", secret("www-authenticate"))],
            ["x-request-id", "kept"],
        ],
        "body_utf8": CHAT_BODY,
    });
    Provider::start(&Value::from(vec![reply; replies]))
}

/// A home whose provider has secrets in its key, its headers and its query.
fn home(base_url: &str) -> TestHome {
    let more = format!(
        "key_env = \"KESTREL_KEY\"\npath = \"/chat?key={}&{}\"\nheaders = {{ \"x-tag\" = \"{}\" }}",
        secret("query"),
        secret("bare"),
        secret("header")
    );
    home_with(base_url, "openai.chat", &more)
}

fn request() -> Vec<u8> {
    format!(r#"{{"model":"kestrel-2","user":"{}"}}"#, secret("request")).into_bytes()
}

/// A call with the key in its environment and temporary files beside the home.
fn armed_call(home: &TestHome, more: &[&str]) -> Command {
    let temporary = home.path().with_file_name("temporary");
    fs::create_dir_all(&temporary).unwrap();
    let mut command = call(home, &request(), more);
    command
        .env("KESTREL_KEY", secret("key"))
        .env("TMPDIR", temporary);
    command
}

/// Asserts that no file but the ones that people wrote holds a secret, and that the
/// request's secret stands in the artifact that is the request. Returns how many files
/// were searched.
fn holds_none(home: &TestHome) -> usize {
    let folder = home.path().parent().unwrap().to_owned();
    let mut searched = 0;
    for name in files_in(&folder).into_keys() {
        let written = ["config.toml", "request.json"];
        if written.iter().any(|ending| name.ends_with(ending)) {
            continue;
        }
        searched += 1;
        let bytes = fs::read(folder.join(&name)).unwrap();
        let found = bytes
            .windows(STEM.len())
            .any(|part| part == STEM.as_bytes());
        let is_request = bytes == request() && name.to_str().unwrap().contains("artifacts/sha256");
        assert!(!found || is_request, "{} holds a secret", name.display());
    }
    searched
}

fn says_none(ran: &Ran) {
    for printed in [&ran.stdout, &ran.stderr] {
        assert!(!printed.contains(STEM), "{printed}");
    }
}

#[test]
fn the_key_the_headers_and_the_query_reach_the_provider_and_no_file_or_output() {
    let provider = provider(4);
    let home = home(&provider.url());
    let ran = Ran::from(armed_call(&home, &[]).output().unwrap());
    assert_eq!(ran.code, 0, "{ran:?}");
    says_none(&ran);
    let sent = provider.receipts();
    let names: Vec<_> = sent[0]["header_names"].as_array().unwrap().iter().collect();
    for name in ["authorization", "x-tag"] {
        assert!(names.contains(&&json!(name)), "{names:?}");
    }
    let target = format!("/v1/chat?key={}&{}", secret("query"), secret("bare"));
    let target = model::Digest::of(target.as_bytes()).to_string();
    assert_eq!(text(&sent[0], "target_sha256"), target);
    let call = text(&ran.document(), "call").to_owned();
    let mut searched = 0;
    for command in [
        vec!["state", "call", &call],
        vec!["show", &call],
        vec!["log"],
        vec!["recover", &call],
        vec!["reinterpret", "call", &call],
        vec!["verify", "--replay"],
        vec!["doctor"],
    ] {
        for form in ["--json", "--quiet"] {
            let ran = Ran::from(home.command(&command).arg(form).output().unwrap());
            assert_eq!(ran.code, 0, "{command:?} {ran:?}");
            says_none(&ran);
            searched += 1;
        }
    }
    println!(
        "{} files and {searched} outputs searched",
        holds_none(&home)
    );
}

#[test]
fn what_is_recorded_of_a_request_names_its_headers_and_redacts_its_query() {
    let provider = provider(1);
    let home = home(&provider.url());
    let ran = Ran::from(armed_call(&home, &[]).output().unwrap()).document();
    let shown = home.must(&["show", text(&ran, "call")]).document();
    let manifest = shown["events"]
        .as_array()
        .unwrap()
        .iter()
        .find(|event| event["kind"] == "call.manifest")
        .unwrap()["body"]
        .clone();
    let url = format!("{}/chat?key=REDACTED&REDACTED", provider.url());
    assert_eq!(text(&manifest, "url"), url);
    let names = [
        "host",
        "user-agent",
        "accept",
        "connection",
        "content-type",
        "content-length",
        "authorization",
        "x-tag",
    ];
    assert_eq!(manifest["header_names"], json!(names));
    let seen = observation(&home, text(&ran["attempts"][0], "attempt"));
    assert_eq!(text(&seen, "endpoint"), "/v1/chat");
    let kept: Vec<_> = seen["headers"]
        .as_array()
        .unwrap()
        .iter()
        .map(|pair| pair[0].as_str().unwrap())
        .collect();
    assert_eq!(kept, ["content-type", "x-request-id", "content-length"]);
}

#[test]
fn a_call_killed_at_any_point_leaves_no_secret_behind() {
    let base = provider(1);
    let traced_home = home(&base.url());
    let (ran, points) = faults::traced(armed_call(&traced_home, &[]));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(points.len() >= 16, "{points:?}");
    let provider = provider(points.len());
    for point in &points {
        let home = home(&provider.url());
        faults::killed(armed_call(&home, &[]), point);
        holds_none(&home);
    }
    println!("{} points killed, 0 left a secret", points.len());
}

#[test]
fn errors_of_configuration_and_key_do_not_repeat_values() {
    let quoted = format!("timeout_ms = \"{}\"", secret("timeout"));
    let userinfo = format!("http://user:{}@127.0.0.1:9/v1", secret("userinfo"));
    let header = format!("headers = {{ \"x-tag\" = \"{}\\n\" }}", secret("header"));
    let dialect = "openai.chat";
    let good = "http://127.0.0.1:9/v1";
    let homes = [
        (home_with(good, dialect, &quoted), "usage", 2),
        (home_with(&userinfo, dialect, ""), "preparation_failed", 2),
        (home_with(good, dialect, &header), "preparation_failed", 2),
        (
            home_with(good, dialect, "key_env = \"KESTREL_KEY\""),
            "preparation_failed",
            2,
        ),
    ];
    for (home, expected, exit) in &homes {
        let mut command = call(home, b"{}", &[]);
        command.env("KESTREL_KEY", format!("{}\n", secret("key")));
        let ran = Ran::from(command.output().unwrap());
        says_none(&ran);
        let (code, message) = ran.refused(*exit);
        assert_eq!(code, *expected, "{message}");
        holds_none(home);
    }
}

#[test]
fn the_doctor_tells_which_providers_could_be_asked_and_asks_none() {
    let provider = provider(1);
    let checked = |more: &str, key: Option<&str>, code: i32| {
        let home = home_with(&provider.url(), "openai.chat", more);
        let mut command = home.command(&["--json", "doctor"]);
        if let Some(key) = key {
            command.env("KESTREL_KEY", key);
        }
        let ran = Ran::from(command.output().unwrap());
        assert_eq!(ran.code, code, "{ran:?}");
        let mut checks = ran.lines();
        checks.retain(|check| check["check"] == "provider");
        assert_eq!(checks.len(), 1);
        ["health", "detail"].map(|name| text(&checks[0], name).to_owned())
    };
    let needs_key = "key_env = \"KESTREL_KEY\"";
    let url = format!("kestrel: {}/chat/completions", provider.url());
    assert_eq!(checked(needs_key, Some("k"), 0), ["ok", &url]);
    let unset = "kestrel: variable KESTREL_KEY is not set";
    assert_eq!(checked(needs_key, None, 0), ["note", unset]);
    let taken = "kestrel: headers or key_header: host is set by this program";
    assert_eq!(
        checked("headers = { host = \"x\" }", None, 3),
        ["problem", taken]
    );
    assert_eq!(provider.receipts(), Vec::<Value>::new());
}

#[test]
fn a_kept_header_that_echoes_the_key_is_dropped_and_named() {
    let reply = json!({
        "headers": [
            ["content-type", "application/json"],
            ["x-request-id", format!("for {}", secret("key"))],
            ["request-id", "kept"],
            ["x-ratelimit-tag", secret("header")],
        ],
        "body_utf8": CHAT_BODY,
    });
    let provider = Provider::start(&json!([reply]));
    let home = home(&provider.url());
    let ran = Ran::from(armed_call(&home, &[]).output().unwrap());
    says_none(&ran);
    let seen = observation(&home, text(&ran.document()["attempts"][0], "attempt"));
    assert_eq!(
        seen["headers"],
        json!([
            ["content-type", "application/json"],
            ["request-id", "kept"],
            ["content-length", CHAT_BODY.len().to_string()],
        ])
    );
    let dropped = json!(["x-request-id", "x-ratelimit-tag"]);
    assert_eq!(seen["headers_dropped"], dropped);
    holds_none(&home);
}
