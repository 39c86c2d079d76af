//! Which configurations are refused, and in which words.

use proptest::prelude::*;
use text_check::check;

fn refused(configuration: Option<&[u8]>, detail: &str) {
    let refusal = check(2, b"text", configuration).unwrap_err();
    assert_eq!(
        (refusal.code, refusal.detail.as_str()),
        ("configuration", detail)
    );
}

#[test]
fn without_a_configuration_nothing_is_checked() {
    refused(None, "expected rules, found no configuration");
}

#[test]
fn what_is_no_object_with_rules_is_refused() {
    for (configuration, detail) in [
        ("", "expected rules, found nothing"),
        ("[]", "expected a JSON object"),
        ("{}", "expected the one member `rules`"),
        (
            r#"{"rules":[],"more":1}"#,
            "expected the one member `rules`",
        ),
        (
            r#"{"rules":[],"rules":[]}"#,
            "expected the one member `rules`",
        ),
        (
            r#"{"rules":{}}"#,
            r#"expected JSON of the form {"rules":[…]}"#,
        ),
        (
            r#"{"rules":[]"#,
            r#"expected JSON of the form {"rules":[…]}"#,
        ),
        (
            r#"{"rules":[]} {}"#,
            "expected one JSON object, found something behind it",
        ),
    ] {
        refused(Some(configuration.as_bytes()), detail);
    }
    refused(
        Some(b"\xff"),
        "expected JSON, found bytes that are not UTF-8",
    );
}

#[test]
fn a_rule_that_is_not_known_is_refused_by_its_place() {
    let configuration = br#"{"rules":[{"criterion":0,"max_bytes":1},{"criterion":0,"like":"x"}]}"#;
    refused(Some(configuration), "rule 1: it is not known");
}

#[test]
fn a_rule_that_is_malformed_is_refused_by_its_place() {
    for rule in [
        "0",
        "[]",
        "{}",
        r#"{"criterion":0}"#,
        r#"{"contains":"x"}"#,
        r#"{"criterion":0,"criterion":0,"contains":"x"}"#,
        r#"{"criterion":0,"contains":"x","absent":"y"}"#,
        r#"{"criterion":0,"contains":"x","contains":"x"}"#,
        r#"{"criterion":"0","contains":"x"}"#,
        r#"{"criterion":-1,"contains":"x"}"#,
        r#"{"criterion":0.0,"contains":"x"}"#,
        r#"{"criterion":4294967296,"contains":"x"}"#,
        r#"{"criterion":0,"contains":""}"#,
        r#"{"criterion":0,"contains":"\ud800"}"#,
        r#"{"criterion":0,"contains":null}"#,
        r#"{"criterion":0,"max_bytes":"600"}"#,
        r#"{"criterion":0,"max_bytes":1e3}"#,
        r#"{"criterion":0,"max_bytes":18446744073709551616}"#,
        r#"{"criterion":0,"count":1}"#,
        r#"{"criterion":0,"count":{"text":"x"}}"#,
        r#"{"criterion":0,"count":{"is":1}}"#,
        r#"{"criterion":0,"count":{"text":"x","is":1,"is":1}}"#,
        r#"{"criterion":0,"count":{"text":"x","is":1,"or":2}}"#,
    ] {
        let configuration = format!(r#"{{"rules":[{rule}]}}"#);
        let detail = "rule 0: expected an object with `criterion` and one condition, each once \
                      and of its type";
        refused(Some(configuration.as_bytes()), detail);
    }
}

#[test]
fn a_criterion_that_is_not_there_is_refused() {
    let configuration = br#"{"rules":[{"criterion":2,"contains":"x"}]}"#;
    refused(
        Some(configuration),
        "rule 0: expected a criterion below 2, the number of criteria",
    );
}

proptest! {
    #[test]
    fn no_configuration_stops_the_program(
        configuration in r#"[\{\}\[\]",:0-9a-z\\ ]{0,40}"#,
        bytes in prop::collection::vec(any::<u8>(), 0..40),
    ) {
        for configuration in [configuration.as_bytes(), &bytes] {
            if let Err(refusal) = check(1, b"text", Some(configuration)) {
                prop_assert_eq!(refusal.code, "configuration");
            }
        }
    }
}
