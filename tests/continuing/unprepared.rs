//! What cannot be prepared is recorded as an intent that was never sent.

use serde_json::{Value, json};

use crate::continuing::{reconfigure, unprepared_call};
use crate::faults::{Scene, killed, not_next};
use crate::recording_support::chat_reply;
use crate::support::{Ran, text};

const KEY: &str = "KESTREL_TEST_KEY";

fn with_key() -> Scene {
    Scene::with(&json!([chat_reply()]), &format!("key_env = \"{KEY}\""))
}

/// Asserts that a call could not be prepared, and returns what is recorded of why.
fn is_unprepared(scene: &Scene, ran: &Ran, stage: &str) -> Value {
    let (code, message) = ran.refused(2);
    assert_eq!(code, "preparation_failed");
    let calls = scene.calls();
    let call = calls.last().unwrap();
    assert_eq!(call.kinds(), ["call.requested", "call.preparation_failed"]);
    let body = &call.events[1]["body"];
    assert_eq!(body["stage"], stage);
    let detail = text(body, "detail");
    let expected = format!("call {} could not be prepared ({stage}): {detail}", call.id);
    assert_eq!(message, expected);
    assert_eq!(scene.receipts(), 0);
    assert_eq!(scene.state(&call.id)["next_operation"], "fix_inputs");
    scene.home.must(&["verify"]);
    body["detail"].clone()
}

#[test]
fn a_call_without_its_key_is_not_sent() {
    let scene = with_key();
    let ran: Ran = scene.call(&[]).env_remove(KEY).output().unwrap().into();
    let detail = is_unprepared(&scene, &ran, "key");
    assert_eq!(detail, format!("variable {KEY} is not set"));
    let ran: Ran = scene
        .call(&[])
        .env(KEY, "two\nlines")
        .output()
        .unwrap()
        .into();
    let detail = is_unprepared(&scene, &ran, "key");
    let expected =
        format!("variable {KEY}: the key is empty or holds a byte that no header can carry");
    assert_eq!(detail, expected);
    // Mended, it is made; the failed ones stay what they are.
    let ran: Ran = scene.call(&[]).env(KEY, "sk-1").output().unwrap().into();
    assert_eq!(ran.document()["status"], "succeeded", "{ran:?}");
    assert_eq!(scene.receipts(), 1);
}

#[test]
fn a_call_without_its_request_is_not_sent() {
    let scene = Scene::answering();
    let missing = scene.home.path().join("missing.json");
    let call = ["call", "run", "--provider", "kestrel", "--request"];
    let missing = missing.to_str().unwrap();
    let ran = scene.home.run(&[&call[..], &[missing]].concat());
    let detail = is_unprepared(&scene, &ran, "request_file");
    assert_eq!(
        detail,
        format!("{missing}: No such file or directory (os error 2)")
    );
    let requested = &scene.calls()[0].events[0]["body"];
    assert_eq!(requested["request"], Value::Null);
    assert_eq!(requested["requested_model"], Value::Null);
}

#[test]
fn a_call_to_no_url_is_not_sent() {
    let scheme = "base_url and path: expected a URL that starts with `http://` or `https://`, \
                  found another start";
    let userinfo = "base_url and path: expected a URL without a user name and a password, found \
                    an `@` before its path";
    for (url, detail) in [
        ("ftp://kestrel.example/v1", scheme),
        ("", scheme),
        ("http://kestrel:s3cret@127.0.0.1/v1", userinfo),
    ] {
        let scene = Scene::answering();
        let known = scene.provider.url();
        reconfigure(&scene.home, &known, url);
        let ran: Ran = scene.call(&[]).output().unwrap().into();
        assert_eq!(is_unprepared(&scene, &ran, "config"), detail, "{url}");
    }
}

#[test]
fn an_unprepared_call_is_not_continued() {
    let scene = Scene::answering();
    let call = unprepared_call(&scene, &[]);
    let at = ("preparation_failed", "fix_inputs", "nothing was sent");
    for command in ["resume", "redecide", "finalize", "recover"] {
        let expected = not_next(command, &call, at);
        assert_eq!(scene.refuses(&[command, &call], 4), expected);
    }
    assert_eq!(scene.receipts(), 0);
}

#[test]
fn a_call_is_not_resumed_while_it_cannot_be_prepared() {
    let scene = with_key();
    let mut command = scene.call(&[]);
    command.env(KEY, "sk-1");
    killed(command, "after:call.manifest 1");
    let call = scene.calls().remove(0).id;
    let refused = scene.refuses(&["resume", &call], 2);
    let expected = format!("call {call} could not be prepared (key): variable {KEY} is not set");
    assert_eq!(refused, ("preparation_failed".to_owned(), expected));
    let mut command = scene.command(&["resume", &call]);
    let ran: Ran = command.env(KEY, "sk-2").output().unwrap().into();
    assert_eq!(ran.document()["status"], "succeeded", "{ran:?}");
    assert_eq!(scene.receipts(), 1);
}
