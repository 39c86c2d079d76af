//! What responses cost: recorded beside each other for each table, never 0 for what is
//! not known, refused when the bytes are gone.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::faults::{killed, traced};
use crate::outside::{agree, both_find, python_is_here};
use crate::support::{Ran, TestHome, exchange, root, text};

const V3: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v3",
    "--policy",
    "attempt-policy-v3",
];

/// A chat of which the usage is this.
fn chat(id: &str, model: &str, usage: &Value) -> Value {
    let body = json!({
        "id": "r-1",
        "model": model,
        "choices": [{
            "index": 0,
            "message": {"role": "assistant", "content": "All of it."},
            "finish_reason": "stop",
        }],
        "usage": usage,
    });
    exchange(id, "openai.chat", 200, &body.to_string())
}

/// 279 in, 192 of them from the cache, 166 out.
fn cached(id: &str) -> Value {
    let usage = json!({
        "prompt_tokens": 279,
        "completion_tokens": 166,
        "total_tokens": 445,
        "prompt_tokens_details": {"cached_tokens": 192},
    });
    chat(id, "kestrel-2", &usage)
}

/// 73 in and 220 out, and no word about a cache.
fn uncached(id: &str) -> Value {
    let body = json!({
        "id": "m-1",
        "type": "message",
        "role": "assistant",
        "model": "merlin-1",
        "content": [{"type": "text", "text": "All of it."}],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 73, "output_tokens": 220},
    });
    exchange(id, "anthropic.messages", 200, &body.to_string())
}

/// A home in which these are read by the third version.
fn home_of(lines: &[Value]) -> (TestHome, Vec<Value>) {
    let (home, imported) = TestHome::importing(lines);
    home.must(&[&["reinterpret", "all"], &V3[..]].concat());
    (home, imported)
}

fn prices() -> String {
    root()
        .join("tests/fixtures/prices.json")
        .display()
        .to_string()
}

/// A table of one row for every model.
fn table(home: &TestHome, name: &str, rates: &str) -> String {
    let table =
        format!(r#"{{"currency":"USD","unit":1000000,"prices":[{{"models":["*"],{rates}}}]}}"#);
    home.write(name, table.as_bytes()).display().to_string()
}

fn cost(home: &TestHome, of: &[&str], prices: &str) -> Ran {
    home.must(&[&["cost"], of, &["--prices", prices]].concat())
}

/// The cost events of the home, in order.
fn recorded(home: &TestHome) -> Vec<Value> {
    let mut log = home.must(&["log"]).lines();
    log.retain(|event| event["kind"] == "cost.computed");
    log
}

#[test]
fn an_attempt_is_priced_exactly_and_once() {
    let (home, imported) = home_of(&[cached("one")]);
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let before = home.must(&["log"]).lines();
    let done = cost(&home, &["attempt", attempt], &prices()).document();
    assert_eq!(
        (text(&done, "amount"), text(&done, "currency")),
        ("0.0021175", "USD")
    );
    assert_eq!(done["appended"], 1);
    let again = cost(&home, &["attempt", attempt], &prices()).document();
    assert_eq!(again["appended"], 0);
    assert_eq!(again["cost"], done["cost"]);

    let log = home.must(&["log"]).lines();
    assert_eq!(log[..before.len()], before[..]);
    assert_eq!(log.len(), before.len() + 1);
    let event = log.last().unwrap();
    assert_eq!(event["id"], done["cost"]);
    assert_eq!(event["cause"], done["interpretation"]);
    assert_eq!(
        (
            text(event, "kind"),
            text(event, "call"),
            text(event, "attempt")
        ),
        ("cost.computed", call, attempt)
    );
    let body = event["body"].as_object().unwrap();
    let members: Vec<_> = body.keys().map(String::as_str).collect();
    assert_eq!(members, ["amount", "config_sha256", "currency", "module"]);
    assert_eq!(body["module"]["label"], "token-pricing-v1");
    // The table is kept as it was given.
    let kept = home.artifact(body["config_sha256"].as_str().unwrap());
    assert_eq!(fs::read(kept).unwrap(), fs::read(prices()).unwrap());
    let verified = &home.must(&["verify", "--replay"]).document()["verified"];
    assert_eq!(
        (&verified["replayed"], &verified["replayed_costs"]),
        (&json!(1), &json!(1))
    );
    assert_eq!(verified["not_comparable"], 0);
    // Without the table nothing can be compared; that it is gone is the finding.
    fs::remove_file(home.artifact(body["config_sha256"].as_str().unwrap())).unwrap();
    let verified = home.run(&["verify", "--replay"]);
    assert_eq!(verified.code, 3, "{verified:?}");
    assert_eq!(verified.lines().last().unwrap()["verified"]["findings"], 1);
}

#[test]
fn a_reader_from_outside_agrees_about_costs_and_misses_a_table() {
    if !python_is_here() {
        return;
    }
    let (home, _) = home_of(&[cached("one"), uncached("two")]);
    cost(&home, &["all"], &prices());
    agree(&home);
    let table = recorded(&home)[0]["body"]["config_sha256"].clone();
    let table = table.as_str().unwrap();
    fs::remove_file(home.artifact(table)).unwrap();
    both_find(&home, &[&format!("artifact {table}")]);
}

#[test]
fn two_tables_keep_both_costs_and_the_call_names_them() {
    let (home, imported) = home_of(&[cached("one")]);
    let call = text(&imported[0], "call");
    let cheap = table(&home, "cheap.json", r#""input":"0.1","output":"0.2""#);
    let first = cost(&home, &["call", call], &prices()).lines();
    let second = cost(&home, &["call", call], &cheap).lines();
    assert_eq!(text(&first[0], "amount"), "0.0021175");
    assert_eq!(text(&second[0], "amount"), "0.0000611");
    let events = recorded(&home);
    assert_eq!(events.len(), 2);
    let state = home.must(&["state", "call", call]).document();
    let costs = state["costs"].as_array().unwrap();
    let amounts: Vec<_> = costs.iter().map(|cost| text(cost, "amount")).collect();
    assert_eq!(amounts, ["0.0021175", "0.0000611"]);
    for (cost, event) in costs.iter().zip(&events) {
        assert_eq!(cost["cost"], event["id"]);
        assert_eq!(cost["config_sha256"], event["body"]["config_sha256"]);
    }
    // Of another reading nothing stands yet; what was priced is not undone.
    home.must(&["reinterpret", "call", call, "--allow-older=to compare"]);
    let state = home.must(&["state", "call", call]).document();
    assert_eq!(state.get("costs"), None);
    assert_eq!(recorded(&home), events);
    let again = cost(&home, &["call", call], &cheap).lines();
    assert_eq!(again[0]["appended"], 1);
    assert_ne!(again[0]["interpretation"], second[0]["interpretation"]);
    // The older reading can be priced by its name.
    let attempt = text(&imported[0], "attempt");
    let old = text(&second[0], "interpretation");
    let named = cost(&home, &["attempt", attempt, "--reading", old], &cheap).document();
    assert_eq!(named["cost"], second[0]["cost"]);
}

#[test]
fn a_dry_run_says_what_would_be_and_leaves_nothing() {
    let (home, imported) = home_of(&[cached("one"), uncached("two")]);
    let attempt = text(&imported[0], "attempt");
    let files = home.files();
    let count = home.event_count();
    let dry = cost(&home, &["attempt", attempt, "--dry-run"], &prices()).document();
    assert_eq!((&dry["cost"], &dry["appended"]), (&Value::Null, &json!(0)));
    assert_eq!(dry["would_append"], 1);
    let all = cost(&home, &["all", "--dry-run"], &prices()).lines();
    let summary = &all.last().unwrap()["summary"];
    assert_eq!(
        (&summary["appended"], &summary["would_append"]),
        (&json!(0), &json!(2))
    );
    assert_eq!(home.event_count(), count);
    let artifacts = |files: &std::collections::BTreeMap<std::path::PathBuf, _>| {
        let names = files
            .keys()
            .filter(|path| path.to_str().unwrap().contains("artifacts"));
        names.cloned().collect::<Vec<_>>()
    };
    assert_eq!(artifacts(&home.files()), artifacts(&files));
}

#[test]
fn what_is_not_known_is_null_with_a_bound_and_why_and_never_0() {
    let usage = json!({"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15});
    let (home, imported) = home_of(&[
        uncached("messages"),
        chat("unknown", "owl-9", &usage),
        chat("silent", "kestrel-2", &Value::Null),
        chat("split", "kestrel-2", &usage),
    ]);
    let expected = [
        (json!("0.003519"), "input: lower_bound:cache_not_reported"),
        (Value::Null, "no price for model \"owl-9\""),
        (Value::Null, "the response reports no usage"),
        (
            json!("0.0000625"),
            "cached_input is not reported, and has a price of its own",
        ),
    ];
    for (imported, (bound, why)) in imported.iter().zip(expected) {
        let attempt = text(imported, "attempt");
        let done = cost(&home, &["attempt", attempt], &prices()).document();
        assert_eq!(done["amount"], Value::Null, "{done}");
        assert_eq!(text(&done, "why"), why);
        assert_eq!(done.get("lower_bound").unwrap_or(&Value::Null), &bound);
    }
    assert_eq!(recorded(&home).len(), 4);
    home.must(&["verify"]);
}

#[test]
fn totals_are_exact_and_null_as_soon_as_one_is_not_known() {
    let (home, _) = home_of(&[cached("one"), cached("two")]);
    let all = cost(&home, &["all"], &prices()).lines();
    assert_eq!(all.len(), 3);
    let known = json!([{"currency": "USD", "amount": "0.004235", "attempts": 2, "unknown": 0}]);
    let expected = json!({"summary": {
        "calls": 2, "attempts": 2, "computed": 2, "unchanged": 0, "refused": 0, "appended": 2,
        "refusals": {}, "totals": known,
    }});
    assert_eq!(all[2], expected);
    home.import(&[uncached("three")]);
    // What nobody has read yet is refused, and its cost is as open as any.
    let all = cost(&home, &["all"], &prices()).lines();
    assert_eq!(text(&all[2]["refused"], "code"), "not_adopted");
    let open = json!([{"currency": "USD", "amount": null, "lower_bound": "0.004235",
        "attempts": 2, "unknown": 0}]);
    assert_eq!(all[3]["summary"]["totals"], open);
    assert_eq!(all[3]["summary"]["unchanged"], 2);
    home.must(&[&["reinterpret", "all"], &V3[..]].concat());
    let all = cost(&home, &["all"], &prices()).lines();
    let open = json!([{"currency": "USD", "amount": null, "lower_bound": "0.007754",
        "attempts": 3, "unknown": 1}]);
    assert_eq!(all[3]["summary"]["totals"], open);
    assert_eq!(all[3]["summary"]["appended"], 1);
    // Filters choose the calls.
    let chats = cost(&home, &["all", "--dialect", "openai.chat"], &prices()).lines();
    assert_eq!(chats[2]["summary"]["totals"], known);
    let read = home
        .command(&["cost", "all", "--prices", &prices()])
        .output()
        .unwrap();
    let read = Ran::from(read);
    assert_eq!(read.code, 0, "{read:?}");
}

#[test]
fn without_the_bytes_a_new_cost_is_refused_and_a_recorded_one_stands() {
    let (home, imported) = home_of(&[cached("one"), cached("two")]);
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let first = cost(&home, &["attempt", attempt], &prices()).document();
    let shown = home.must(&["show", attempt]).document();
    let sha = text(&shown["response"], "sha256").to_owned();
    fs::remove_file(home.artifact(&sha)).unwrap();
    let again = cost(&home, &["attempt", attempt], &prices()).document();
    assert_eq!(
        (&again["cost"], &again["appended"]),
        (&first["cost"], &json!(0))
    );
    let other = table(&home, "other.json", r#""input":"1","output":"1""#);
    let count = home.event_count();
    let reading = text(&first, "interpretation");
    let message = format!(
        "ObservationUnavailable: missing: response body bytes are missing (attempt {attempt}, \
         {sha}, recorded reading or status {reading})"
    );
    for of in [["attempt", attempt], ["call", call]] {
        let arguments = [&["cost"], &of[..], &["--prices", &other]].concat();
        let refused = home.refuses(&arguments, 4);
        assert_eq!(
            refused,
            ("observation_unavailable".to_owned(), message.clone())
        );
    }
    assert_eq!(home.event_count(), count);
    // Both responses are the same bytes, so both are refused.
    let strict = home.run(&["cost", "all", "--strict", "--prices", &other]);
    assert_eq!(strict.code, 4, "{strict:?}");
    let lines = strict.lines();
    assert_eq!(
        lines[2]["summary"]["refusals"],
        json!({"observation_unavailable": 2})
    );
    assert_eq!(lines[2]["summary"]["totals"], json!([]));
}

#[test]
fn refusals_of_the_module_end_one_and_are_counted_for_all() {
    let (home, imported) = home_of(&[cached("one")]);
    let attempt = text(&imported[0], "attempt");
    let hash = home
        .must(&["module", "show", "token-pricing-v1"])
        .document();
    let module = format!("token-pricing-v1 ({})", text(&hash["module"], "sha256"));
    let broken = home.write(
        "broken.json",
        br#"{"currency":"USD","unit":1,"prices":[{"model":"*"}]}"#,
    );
    let twice = home.write(
        "twice.json",
        br#"{"currency":"USD","unit":1,"prices":[{"models":["*"],"input":"1","output":"1"},
            {"models":["*"],"input":"2","output":"1"}]}"#,
    );
    let count = home.event_count();
    for (table, code, detail) in [
        (
            broken,
            "table",
            "/prices/0/model: it is not known to this version",
        ),
        (
            twice,
            "ambiguous_price",
            "/prices/0 and /prices/1 apply equally well: expected one",
        ),
    ] {
        let table = table.to_str().unwrap();
        let (name, message) = home.refuses(&["cost", "attempt", attempt, "--prices", table], 7);
        assert_eq!(name, "module_failed");
        assert!(
            message.contains(code) && message.ends_with(detail),
            "{message} {module}"
        );
        let all = ["cost", "all", "--prices", table];
        let lenient = home.must(&all).lines();
        assert_eq!(
            lenient[1]["summary"]["refusals"],
            json!({"module_failed": 1})
        );
        assert_eq!(home.run(&[&all[..], &["--strict"]].concat()).code, 7);
    }
    assert_eq!(home.event_count(), count);
}

#[test]
fn wrong_names_are_told_exactly() {
    let (home, imported) = TestHome::importing(&[cached("one")]);
    let (call, attempt) = (text(&imported[0], "call"), text(&imported[0], "attempt"));
    let prices = prices();
    let refused =
        |of: &[&str], code| home.refuses(&[&["cost"], of, &["--prices", &prices]].concat(), code);
    let message = format!(
        "call {call} has no adopted status that rests on a reading of it: nothing counts yet"
    );
    let unread = ("not_adopted".to_owned(), message);
    assert_eq!(refused(&["call", call], 4), unread);
    assert_eq!(refused(&["attempt", attempt], 4), unread);
    let unknown =
        |what: &str, name: &str| ("unknown_name".to_owned(), format!("unknown {what}: {name}"));
    let nobody = "0190a6c2-7c00-7000-8000-000000000001";
    assert_eq!(refused(&["call", nobody], 2), unknown("call", nobody));
    assert_eq!(refused(&["attempt", nobody], 2), unknown("attempt", nobody));
    let reading = ["attempt", attempt, "--reading", nobody];
    assert_eq!(
        refused(&reading, 2),
        unknown("reading of this attempt", nobody)
    );
    home.must(&["reinterpret", "call", call]);
    let module = ["attempt", attempt, "--module", "nope"];
    assert_eq!(refused(&module, 2), unknown("module", "nope"));
    let (code, message) = refused(&["attempt", attempt, "--module", "text-check-v1"], 7);
    assert_eq!(code, "wrong_world");
    assert!(
        message.ends_with("is of world check, but world pricing is needed"),
        "{message}"
    );
    let missing = ["cost", "attempt", attempt, "--prices", "nowhere.json"];
    let message = "nowhere.json: No such file or directory (os error 2)".to_owned();
    assert_eq!(home.refuses(&missing, 2), ("file".to_owned(), message));
}

#[test]
fn the_day_of_an_imported_response_is_that_of_its_date_header() {
    let mut dated = cached("dated");
    dated["response"]["headers"]["date"] = json!("Thu, 01 Jan 2026 00:00:00 GMT");
    let mut odd = cached("odd");
    odd["response"]["headers"]["date"] = json!("yesterday");
    let (home, imported) = home_of(&[dated, odd]);
    let rows = [
        "\"until\":\"2026-01-01\"",
        "\"from\":\"2026-01-01\",\"until\":\"2026-01-02\"",
        "\"from\":\"2026-01-02\"",
    ];
    let rows: Vec<_> = rows
        .iter()
        .zip(1..)
        .map(|(days, price)| format!(r#"{{"models":["*"],"input":"{price}","output":"0",{days}}}"#))
        .collect();
    let table = format!(
        r#"{{"currency":"USD","unit":1,"prices":[{}]}}"#,
        rows.join(",")
    );
    let table = home
        .write("days.json", table.as_bytes())
        .display()
        .to_string();
    // 279 tokens at 2, and at 3: without a date the import's own time counts.
    for (imported, amount) in imported.iter().zip(["558", "837"]) {
        let done = cost(&home, &["attempt", text(imported, "attempt")], &table).document();
        assert_eq!(text(&done, "amount"), amount);
    }
}

#[test]
fn processes_at_once_record_each_cost_once() {
    let (home, _) = home_of(&[cached("one"), cached("two")]);
    let prices = prices();
    let children: Vec<_> = (0..4)
        .map(|_each| {
            let mut command = home.command(&["--json", "cost", "all", "--prices", &prices]);
            let piped = Stdio::piped;
            command.stdout(piped()).stderr(piped()).spawn().unwrap()
        })
        .collect();
    let mut appended = 0;
    for child in children {
        let ran = Ran::from(child.wait_with_output().unwrap());
        assert_eq!(ran.code, 0, "{ran:?}");
        appended += ran.lines()[2]["summary"]["appended"].as_u64().unwrap();
    }
    assert_eq!((appended, recorded(&home).len()), (2, 2));
    home.must(&["verify"]);
}

#[test]
fn a_process_that_dies_at_any_point_leaves_a_cost_or_none() {
    let (home, _) = home_of(&[cached("one"), cached("two")]);
    let command = |home: &TestHome| home.command(&["--json", "cost", "all", "--prices", &prices()]);
    let whole = home.copy();
    let (ran, points) = traced(command(&whole));
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(points.len() >= 4, "{points:?}");
    let count = home.event_count();
    for point in &points {
        let home = home.copy();
        killed(command(&home), point);
        home.must(&["verify", "--replay"]);
        let left = home.event_count() - count;
        assert!(left == 0 || left == 2, "{point}: {left}");
        let all = cost(&home, &["all"], &prices()).lines();
        assert_eq!(all[2]["summary"]["appended"], 2 - left, "{point}");
        assert_eq!(home.event_count(), count + 2, "{point}");
        home.must(&["verify", "--replay"]);
    }
}
