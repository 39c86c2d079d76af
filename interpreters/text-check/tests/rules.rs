//! What the rules find.

use proptest::prelude::*;
use text_check::{Finding, Report, Verdict, check};

use Verdict::{Fail, Inconclusive, Pass};

fn report(criteria: usize, artifact: &[u8], rules: &str) -> Report {
    let configuration = format!("{{\"rules\":[{rules}]}}");
    check(criteria, artifact, Some(configuration.as_bytes())).unwrap()
}

/// Asserts what one rule about one criterion finds of a text.
fn finds(rule: &str, artifact: &str, note: &str) {
    let rule = format!("{{\"criterion\":0,{rule}}}");
    let verdict = if note.is_empty() { Pass } else { Fail };
    let note = if note.is_empty() {
        "every rule holds".to_owned()
    } else {
        format!("rule 0: {note}")
    };
    let findings = vec![Finding {
        criterion: 0,
        verdict,
        note,
    }];
    let expected = Report { verdict, findings };
    assert_eq!(
        report(1, artifact.as_bytes(), &rule),
        expected,
        "{artifact}"
    );
}

#[test]
fn a_text_contains_or_does_not() {
    let rule = r#""contains":"It stores \"fragments\".""#;
    finds(rule, "a\nIt stores \"fragments\".", "");
    let note = "the text to contain is not there";
    finds(rule, "It stores fragments.", note);
    finds(rule, "", note);
}

#[test]
fn a_text_is_absent_or_not() {
    finds(r#""absent":"é""#, "e", "");
    finds(
        r#""absent":"é""#,
        "caf\u{e9}",
        "the text to be absent is there",
    );
}

#[test]
fn a_text_is_there_so_many_times() {
    let rule = r#""count":{"text":"[S1]","is":1}"#;
    finds(rule, "once [S1]", "");
    finds(rule, "never", "expected the text 1 times, found 0");
    finds(rule, "[S1][S1]", "expected the text 1 times, found 2");
    finds(r#""count":{"is":0,"text":"x"}"#, "never", "");
    // From the front, and what was counted is not counted again.
    finds(r#""count":{"text":"aa","is":1}"#, "aaa", "");
}

#[test]
fn a_text_is_at_most_so_long_in_bytes() {
    finds(r#""max_bytes":2"#, "é", "");
    finds(
        r#""max_bytes":2"#,
        "éa",
        "expected at most 2 bytes, found 3",
    );
    finds(r#""max_bytes":0"#, "", "");
    finds(r#""max_bytes":18446744073709551615"#, "a", "");
}

#[test]
fn no_digit_stands_before_a_text() {
    let rule = r#""no_digits_before":"%""#;
    for good in ["", "%", "73 per cent %", "a %", "7a%", "% 7", "٣%"] {
        finds(rule, good, "");
    }
    for bad in ["7%", "73 %", "7 \t\n%", "a% 7%", "7%%"] {
        finds(rule, bad, "a digit stands before the text");
    }
    // A text that starts with a blank or a digit is found behind them, too.
    finds(
        r#""no_digits_before":" %""#,
        "7  %",
        "a digit stands before the text",
    );
    finds(
        r#""no_digits_before":"3%""#,
        "73%",
        "a digit stands before the text",
    );
    finds(r#""no_digits_before":"3%""#, "3%", "");
}

#[test]
fn a_criterion_without_a_rule_is_inconclusive() {
    let found = report(3, b"text", r#"{"criterion":1,"contains":"text"}"#);
    assert_eq!(found.verdict, Inconclusive);
    let verdicts: Vec<_> = found.findings.iter().map(|found| found.verdict).collect();
    assert_eq!(verdicts, [Inconclusive, Pass, Inconclusive]);
    let criteria: Vec<_> = found.findings.iter().map(|found| found.criterion).collect();
    assert_eq!(criteria, [0, 1, 2]);
    assert!(found.findings.iter().any(|found| found.note == "no rule"));
}

#[test]
fn a_failure_outweighs_what_is_inconclusive() {
    let found = report(2, b"text", r#"{"criterion":1,"absent":"text"}"#);
    assert_eq!(found.verdict, Fail);
}

#[test]
fn without_criteria_nothing_fails() {
    let found = report(0, b"text", "");
    let findings = Vec::new();
    let verdict = Pass;
    assert_eq!(found, Report { verdict, findings });
}

#[test]
fn all_rules_of_a_criterion_must_hold_and_the_first_that_fails_is_named() {
    let rules = r#"{"criterion":0,"contains":"t"},{"contains":"z","criterion":0},
        {"criterion":0,"max_bytes":1}"#;
    let found = report(1, b"text", rules);
    assert_eq!(found.verdict, Fail);
    let note = "rule 1: the text to contain is not there";
    assert!(found.findings.iter().all(|found| found.note == note));
}

#[test]
fn bytes_that_are_not_utf8_fail_every_rule() {
    let rules = r#"{"criterion":0,"absent":"x"},{"criterion":1,"max_bytes":9}"#;
    let found = report(3, b"a\xff", rules);
    let verdicts: Vec<_> = found.findings.iter().map(|found| found.verdict).collect();
    assert_eq!(verdicts, [Fail, Fail, Inconclusive]);
    let notes: Vec<_> = found
        .findings
        .iter()
        .map(|found| found.note.as_str())
        .collect();
    assert_eq!(
        notes,
        [
            "rule 0: the artifact is not UTF-8",
            "rule 1: the artifact is not UTF-8",
            "no rule"
        ]
    );
}

proptest! {
    #[test]
    fn any_bytes_give_a_report_that_the_contract_allows(
        artifact in prop::collection::vec(any::<u8>(), 0..64),
        criteria in 3_usize..6,
    ) {
        let rules = r#"{"criterion":0,"no_digits_before":"%"},{"criterion":2,"absent":"a"}"#;
        let found = report(criteria, &artifact, rules);
        prop_assert_eq!(found.findings.len(), criteria);
        for (position, finding) in found.findings.iter().enumerate() {
            prop_assert_eq!(usize::try_from(finding.criterion), Ok(position));
            prop_assert!(finding.note.len() <= 256);
            prop_assert!(found.verdict != Pass || finding.verdict == Pass);
        }
    }

    #[test]
    fn digits_before_are_those_of_the_plain_definition(text in "[0-9% a]{0,12}") {
        let blanks = |text: &str| text.trim_end().ends_with(|last: char| last.is_ascii_digit());
        let plain = text.match_indices('%').any(|(at, _)| blanks(text.get(..at).unwrap()));
        let found = report(1, text.as_bytes(), r#"{"criterion":0,"no_digits_before":"%"}"#);
        prop_assert_eq!(found.verdict == Fail, plain);
    }
}
