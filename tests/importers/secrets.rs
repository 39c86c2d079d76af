//! Credentials of recordings reach no file and no output.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::json;

use super::{import, summary};
use crate::support::TestHome;

/// Stands in every secret that is planted.
const STEM: &str = "cAn4Ry";

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.push(path);
        }
    }
    found
}

fn holds(bytes: &[u8], text: &str) -> bool {
    bytes
        .windows(text.len())
        .any(|window| window == text.as_bytes())
}

/// Imports a file with secrets, twice as given and once cut in the middle, and looks
/// for them wherever something was written.
fn watched(form: &str, bytes: &str) {
    assert!(bytes.matches(STEM).count() >= 8, "{bytes}");
    let home = TestHome::new();
    let file = home.write("recording", bytes.as_bytes());
    let (_, counts) = import(&home, form, &[&file], &[]);
    assert_eq!(counts, summary(1, 0, 1));
    let name = file.to_str().unwrap();
    let mut printed = Vec::new();
    let mut run = |arguments: &[&str]| {
        let output = home.command(arguments).output().unwrap();
        printed.extend([output.stdout, output.stderr]);
    };
    run(&["import", form, name, "--json"]);
    run(&["import", form, name, "--all"]);
    home.write("recording", &bytes.as_bytes()[..bytes.len() / 2]);
    run(&["import", form, name]);
    run(&["import", form, name, "--keep-going"]);
    run(&["log", "--json"]);
    for output in printed {
        assert!(
            !holds(&output, STEM),
            "{}",
            String::from_utf8_lossy(&output)
        );
    }
    let mut looked_at = 0;
    for path in files(&home.path()) {
        assert!(
            !holds(&fs::read(&path).unwrap(), STEM),
            "{}",
            path.display()
        );
        looked_at += 1;
    }
    assert!(looked_at >= 4, "only {looked_at} files were looked at");
}

#[test]
fn cookies_headers_and_queries_of_a_har_file_leave_no_trace() {
    let header = |name: &str| json!({"name": name, "value": format!("Bearer {STEM}")});
    let cookie = json!([{"name": "session", "value": STEM}]);
    let sent = ["Authorization", "x-api-key", "Cookie", "x-goog-api-key"].map(header);
    let returned = ["Set-Cookie", "x-vault-token"].map(header);
    let entry = |url: String| {
        json!({
            "request": {
                "method": "POST",
                "url": url,
                "cookies": cookie,
                "headers": sent,
                "queryString": [{"name": "key", "value": STEM}],
                "postData": {"text": "{}"},
            },
            "response": {
                "status": 200,
                "cookies": cookie,
                "headers": returned,
                "content": {"size": 2, "text": "{}"},
                "redirectURL": format!("https://h/?key={STEM}"),
            },
        })
    };
    let call = entry(format!(
        "https://u:{STEM}@h/v1/models/m:generateContent?key={STEM}#{STEM}"
    ));
    let other = entry(format!("https://u:{STEM}@h/v1/models?key={STEM}"));
    watched(
        "har",
        &json!({"log": {"entries": [call, other]}}).to_string(),
    );
}

#[test]
fn headers_and_queries_of_a_cassette_leave_no_trace() {
    let interaction = |path: &str| {
        format!(
            "- request:\n    body: '{{}}'\n    headers:\n      authorization: ['Bearer {STEM}']\n      \
             x-api-key: {STEM}\n      cookie: [{STEM}]\n    method: POST\n    \
             uri: https://u:{STEM}@h{path}?key={STEM}\n  response:\n    body: {{string: '{{}}'}}\n    \
             headers:\n      set-cookie: [{STEM}, {STEM}]\n    status: {{code: 200}}\n"
        )
    };
    let call = interaction("/v1/messages");
    let other = interaction("/v1/models");
    watched("vcr", &format!("interactions:\n{call}{other}version: 1\n"));
}
