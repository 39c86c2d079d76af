//! Tables that are refused, and where.

use pricing::{Refusal, Usage};

use crate::common::request;

/// What is wrong with a table.
fn refused(table: &str) -> String {
    let refusal = pricing::price(&request(Usage::default()), table.as_bytes()).unwrap_err();
    let Refusal { code, detail } = refusal;
    assert_eq!(code, "table", "{detail}");
    detail
}

fn with_row(row: &str) -> String {
    format!(
        r#"{{"currency":"USD","unit":1000,"prices":[{{"models":["*"],"input":"1","output":"1"}},{row}]}}"#
    )
}

#[test]
fn what_is_no_table_is_refused() {
    for (table, detail) in [
        (
            "",
            "the table: expected JSON, found text that ends too early",
        ),
        (
            "{",
            "the table: expected JSON, found text that ends too early",
        ),
        ("[]", "the table: expected an object, found an array"),
        ("{]", "the table: expected JSON, found something else"),
        (
            "{} {}",
            "the table: expected one JSON object, found something behind it",
        ),
        ("{}", "the table: expected `currency`, `unit` and `prices`"),
        (
            r#"{"unit":1,"prices":[]}"#,
            "the table: expected `currency`, `unit` and `prices`",
        ),
    ] {
        assert_eq!(refused(table), detail, "{table}");
    }
    let deep = format!("{{\"unit\":{}", "[".repeat(500));
    assert_eq!(
        refused(&deep),
        "the table: expected prices, found values nested too deeply"
    );
}

#[test]
fn what_is_wrong_is_named_with_its_place() {
    for (table, detail) in [
        (
            r#"{"curency":"USD"}"#,
            "/curency: it is not known to this version",
        ),
        (
            r#"{"currency":"usd"}"#,
            "/currency: expected three letters A-Z, such as \"USD\"",
        ),
        (
            r#"{"currency":840}"#,
            "/currency: expected text, found a number",
        ),
        (
            r#"{"currency":"USD","currency":"USD"}"#,
            "/currency: expected it once, found it again",
        ),
        (
            r#"{"unit":"1000"}"#,
            "/unit: expected a power of ten from 1 to 1000000000",
        ),
        (
            r#"{"unit":500}"#,
            "/unit: expected a power of ten from 1 to 1000000000",
        ),
        (
            r#"{"unit":1e6}"#,
            "/unit: expected a power of ten from 1 to 1000000000",
        ),
        (
            r#"{"prices":{}}"#,
            "/prices: expected an array, found an object",
        ),
        (
            r#"{"prices":[null]}"#,
            "/prices/0: expected an object, found null",
        ),
    ] {
        assert_eq!(refused(table), detail, "{table}");
    }
}

#[test]
fn the_names_and_rates_of_a_row_are_named_with_their_places() {
    let rates = r#""input":"1","output":"1""#;
    for (row, detail) in [
        (
            "{}".to_owned(),
            "/prices/1: expected `models`, `input` and `output`",
        ),
        (
            format!("{{{rates}}}"),
            "/prices/1: expected `models`, `input` and `output`",
        ),
        (
            r#"{"models":["a"],"input":"1"}"#.to_owned(),
            "/prices/1: expected `input` and `output`",
        ),
        (
            format!(r#"{{"models":[],{rates}}}"#),
            "/prices/1/models: expected at least one name",
        ),
        (
            format!(r#"{{"models":"a",{rates}}}"#),
            "/prices/1/models: expected an array, found text",
        ),
        (
            format!(r#"{{"models":["a",""],{rates}}}"#),
            "/prices/1/models/1: expected text of at least one character",
        ),
        (
            r#"{"models":["\ud800"]}"#.to_owned(),
            "/prices/1/models/0: expected text of at least one character",
        ),
        (
            r#"{"models":["a*b"]}"#.to_owned(),
            "/prices/1/models/0: expected a `*` at the end alone",
        ),
        (
            r#"{"models":["a*","a","a*"]}"#.to_owned(),
            "/prices/1/models/2: expected each name once, found it again",
        ),
    ] {
        assert_eq!(refused(&with_row(&row)), detail, "{row}");
    }
}

#[test]
fn the_conditions_of_a_row_are_named_with_their_places() {
    let rates = r#""input":"1","output":"1""#;
    for (row, detail) in [
        (
            format!(r#"{{"models":["a"],{rates},"input":"1"}}"#),
            "/prices/1/input: expected it once, found it again",
        ),
        (
            r#"{"batch":"1"}"#.to_owned(),
            "/prices/1/batch: it is not known to this version",
        ),
        (
            r#"{"from":"2026-02-29"}"#.to_owned(),
            "/prices/1/from: expected a day of the calendar, such as \"2026-01-31\"",
        ),
        (
            r#"{"until":"2026-1-31"}"#.to_owned(),
            "/prices/1/until: expected a day of the calendar, such as \"2026-01-31\"",
        ),
        (
            format!(r#"{{"models":["a"],{rates},"from":"2026-01-01","until":"2026-01-01"}}"#),
            "/prices/1: expected `from` before `until`",
        ),
        (
            r#"{"above":{"tokens":-1}}"#.to_owned(),
            "/prices/1/above/tokens: expected a whole number of tokens",
        ),
        (
            format!(r#"{{"above":{{{rates}}}}}"#),
            "/prices/1/above: expected `tokens`",
        ),
        (
            r#"{"above":{"tokens":1,"input":"1"}}"#.to_owned(),
            "/prices/1/above: expected `input` and `output`",
        ),
    ] {
        assert_eq!(refused(&with_row(&row)), detail, "{row}");
    }
}

#[test]
fn a_price_is_a_plain_decimal() {
    for price in [
        "-1",
        "+1",
        "1e3",
        ".5",
        "5.",
        "01",
        "1,5",
        " 1",
        "",
        "NaN",
        "0.0000000000000000001",
        "1234567890123456789012345678901",
    ] {
        let detail = refused(&with_row(&format!(r#"{{"input":"{price}"}}"#)));
        let expected = if price.is_empty() {
            "/prices/1/input: expected text of at least one character".to_owned()
        } else {
            "/prices/1/input: expected a decimal number that is not negative, such as \"2.50\", with \
             at most 18 digits behind the point and 30 bytes in all"
                .to_owned()
        };
        assert_eq!(detail, expected, "{price}");
    }
    let number = refused(&with_row(r#"{"output":2.5}"#));
    assert_eq!(number, "/prices/1/output: expected text, found a number");
}

#[test]
fn a_place_is_shown_shortened() {
    let name = "n".repeat(10_000);
    let detail = refused(&format!(r#"{{"{name}":1}}"#));
    assert_eq!(
        detail,
        format!("/{}: it is not known to this version", "n".repeat(63))
    );
}
