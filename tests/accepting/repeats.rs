//! What is the same acceptance, and what is another one.

use serde_json::{Value, json};

use super::support::{FIRST, SAID, Source, UNKNOWN_ID, Work, declare};
use crate::support::{Ran, TestHome, V2, chat, text};

#[test]
fn the_same_acceptance_in_other_words_is_the_same() {
    let work = Work::new("stop", &V2);
    let other = work.checked("true");
    let cited = [&work.cited()[..], &["--check", &other]].concat();
    let done = work.accepted("ada", &cited);
    let turned = [&work.citing(&other)[..], &["--check", &work.check]].concat();
    let named = [&work.source.cited()[..], &cited[2..]].concat();
    let rules = text(&done["policy"], "sha256").to_owned();
    let by_hash = [&cited[..], &["--policy", &rules]].concat();
    let label = text(&done["policy"], "label").to_owned();
    let by_label = [&cited[..], &["--policy", &label]].concat();
    let events = work.log();
    for same in [cited, turned, named, by_hash, by_label] {
        let again = work.accepted("ada", &same);
        for name in ["acceptance", "completion", "policy"] {
            assert_eq!(again[name], done[name], "{same:?}");
        }
        assert_eq!(again["appended"], 0, "{same:?}");
    }
    assert_eq!(work.log(), events);
}

#[test]
fn an_acceptance_stands_whatever_is_read_and_checked_afterwards() {
    let work = Work::new("length", &crate::support::V1);
    let done = work.accepted("ada", &work.cited());
    work.source.read(&work.home, "operator", &V2);
    work.checked("false");
    let again = work.accepted("ada", &work.cited());
    assert_eq!(
        (&again["acceptance"], &again["appended"]),
        (&done["acceptance"], &json!(0))
    );
    let state = work.home.must(&["state", "task", &work.task]).document();
    assert_eq!(state["task_standing"], "completed, basis moved");
}

#[test]
fn questions_that_take_turns_are_each_refused_once() {
    let work = Work::new("stop", &V2);
    let reading = work.cited()[..2].to_vec();
    let cited = work.cited().to_vec();
    let first = [&reading[..], &FIRST].concat();
    let questions = [
        ("ada", reading.clone()),
        ("eve", reading),
        ("operator", cited.clone()),
        ("eve", cited),
        ("ada", first),
    ];
    let ask = |wanted: u64| -> Vec<Value> {
        let asked = questions.iter().map(|(actor, cited)| {
            let (code, done) = work.accept(actor, cited);
            assert_eq!((code, &done["appended"]), (5, &json!(wanted)), "{done}");
            done["rejection"].clone()
        });
        asked.collect()
    };
    let refused = ask(1);
    for _ in 0..2 {
        assert_eq!(ask(0), refused);
    }
    assert_eq!(work.count("task.acceptance_rejected"), questions.len());
}

#[test]
fn what_was_refused_is_accepted_once_its_evidence_is_there() {
    let work = Work::new("stop", &V2);
    let reading = &work.cited()[..2];
    let second = ["missing_check", "criterion_not_covered:0"];
    work.refused("ada", reading, &second);
    let done = work.accepted("ada", &work.cited());
    assert_eq!(done["appended"], 2);
    work.rejected("ada", reading, &["conflicting_acceptance"]);
    work.home.must(&["verify"]);
}

#[test]
fn as_many_reasons_as_there_is_room_for_are_recorded_and_more_are_none() {
    for criteria in [255, 256] {
        let home = TestHome::new();
        let lines: Vec<_> = (0..criteria).map(|n| format!("criterion {n}")).collect();
        let task = declare(&home, &[("report", &lines.join("\n"))]);
        let line = chat("1", SAID, "stop");
        let source = Source::imported(&home, &[&task], &line, &V2);
        let work = Work::of(home, task, source);
        let before = work.log().len();
        let ran = Ran::from(work.command("ada", &work.cited()[..2]).output().unwrap());
        if criteria == 255 {
            let uncovered = (0..criteria).map(|n| format!("criterion_not_covered:{n}"));
            let reasons: Vec<_> = std::iter::once("missing_check".to_owned())
                .chain(uncovered)
                .collect();
            assert_eq!((ran.code, &ran.document()["reasons"]), (5, &json!(reasons)));
            assert_eq!(work.log().len(), before + 1);
        } else {
            let (code, message) = ran.refused(7);
            assert_eq!(code, "module_failed");
            let end = "refuses with code too_many_reasons: expected at most 256 reasons \
                       against, found more";
            assert!(message.ends_with(end), "{message}");
            assert_eq!(work.log().len(), before);
        }
        work.home.must(&["verify"]);
    }
}

#[test]
fn a_check_that_is_cited_twice_is_cited_once_and_more_than_64_are_refused() {
    let work = Work::new("stop", &V2);
    let ids: Vec<String> = (0..65)
        .map(|number| format!("01890000-0000-7000-8000-{number:012x}"))
        .collect();
    let citing = |count: usize| {
        let checks = ids[..count].iter();
        let checks = checks.flat_map(|id| ["--check", id.as_str()]);
        let cited: Vec<_> = work.cited()[..2].iter().copied().chain(checks).collect();
        Ran::from(work.command("ada", &cited).output().unwrap())
    };
    assert_eq!(citing(64).code, 5);
    let before = work.log().len();
    let expected = "expected at most 64 checks, found 65".to_owned();
    assert_eq!(citing(65).refused(2), ("usage".to_owned(), expected));
    assert_eq!(work.log().len(), before);
    let twice = [&work.cited()[..], &["--check", &work.check]].concat();
    let done = work.accepted("ada", &twice);
    let accepted = work
        .log()
        .into_iter()
        .find(|one| one["kind"] == "task.accepted");
    assert_eq!(accepted.unwrap()["body"]["checks"], json!([work.check]));
    let again = work.accepted("ada", &work.cited());
    assert_eq!(
        (&again["appended"], &again["acceptance"]),
        (&json!(0), &done["acceptance"])
    );
}

#[test]
fn an_acceptance_that_cites_another_call_or_attempt_is_another_one() {
    let work = Work::new("stop", &V2);
    work.accepted("ada", &work.cited());
    for option in ["--call", "--attempt"] {
        let other = [&work.cited()[..], &[option, UNKNOWN_ID]].concat();
        let (code, done) = work.accept("ada", &other);
        assert_eq!(
            (code, &done["reasons"]),
            (5, &json!(["conflicting_acceptance"])),
            "{option}"
        );
    }
    let named = [&work.cited()[..], &work.source.cited()[..4]].concat();
    assert_eq!(work.accepted("ada", &named)["appended"], 0);
}
