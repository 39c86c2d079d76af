//! Reasons that are about the call, the attempt and the reading.

use super::support::{SAID, Source, UNKNOWN_ID, Work, declare};
use crate::faults::Scene;
use crate::support::{TestHome, V1, V2, chat, exchange, text};

#[test]
fn a_call_that_is_not_recorded_is_the_only_reason_about_the_source() {
    let work = Work::new("stop", &V2);
    let check = &work.cited()[2..];
    let alone = ["source_call_not_found"];
    let attempt = [check, &["--attempt", &work.source.attempt]].concat();
    let reading = [check, &["--interpretation", UNKNOWN_ID]].concat();
    let unknown = [&work.cited()[..], &["--call", UNKNOWN_ID]].concat();
    for cited in [check, &attempt, &reading, &unknown] {
        work.copy().both_refuse(cited, &alone, &alone);
    }
    // Whoever produced it is not known either.
    work.refused("operator", &unknown, &alone);
}

#[test]
fn a_call_of_another_task_or_of_none_is_refused() {
    let mut work = Work::new("stop", &V2);
    let other = declare(&work.home, &[("report", "names herons\n")]);
    let reason = ["source_call_wrong_task"];
    for task in [&[other.as_str()][..], &[]] {
        work.source = work.another(task, SAID);
        work.both_refuse(&work.cited(), &reason, &reason);
    }
}

#[test]
fn a_call_that_did_not_succeed_is_refused() {
    let mut work = Work::new("stop", &V2);
    let body = "{\"error\":{\"message\":\"No.\",\"type\":\"invalid_request_error\"}}";
    let line = exchange("bad", "openai.chat", 400, body);
    work.source = Source::imported(&work.home, &[&work.task], &line, &V2);
    let reasons = [
        "source_call_not_succeeded",
        "generation_not_complete",
        "source_output_not_preserved",
    ];
    work.both_refuse(&work.cited(), &reasons, &reasons);
    // Cut off: the second rules for readings see that, the first do not.
    let line = chat("cut", SAID, "length");
    work.source = Source::imported(&work.home, &[&work.task], &line, &V2);
    work.both_refuse(&work.cited(), &reasons[..2], &reasons[..2]);
    let back = [&V1[..], &["--allow-older=as it was"]].concat();
    work.source.interpretation = work.source.read(&work.home, "operator", &back);
    work.accepted("ada", &work.cited());
}

#[test]
fn a_call_that_nobody_read_has_no_status_and_no_text() {
    let mut work = Work::new("stop", &V2);
    let lines = work
        .home
        .write_exchanges("unread.jsonl", &[chat("unread", SAID, "stop")]);
    let import = ["import", "exchange", lines.to_str().unwrap(), "--task"];
    let imported = work.home.must(&[&import[..], &[&work.task]].concat());
    let line = imported.lines().remove(0);
    text(&line, "call").clone_into(&mut work.source.call);
    text(&line, "attempt").clone_into(&mut work.source.attempt);
    UNKNOWN_ID.clone_into(&mut work.source.interpretation);
    let cited = [&work.source.cited()[..], &["--check", &work.check]].concat();
    let reasons = [
        "source_call_not_succeeded",
        "interpretation_not_decision_basis",
        "interpretation_not_found",
        "source_output_not_preserved",
    ];
    work.both_refuse(&cited, &reasons, &reasons);
}

#[test]
fn an_attempt_of_another_call_or_of_none_is_refused() {
    let work = Work::new("stop", &V2);
    let other = work.another(&[&work.task], SAID);
    let reason = ["source_attempt_not_in_call"];
    for attempt in [&other.attempt, UNKNOWN_ID] {
        let cited = [&work.cited()[..], &["--attempt", attempt]].concat();
        work.copy().both_refuse(&cited, &reason, &reason);
    }
}

#[test]
fn an_attempt_that_another_came_after_is_refused() {
    let scene = Scene::overloaded_once();
    let task = declare(&scene.home, &[("report", "names herons\n")]);
    let mut call = scene.call(&["--task", &task, "--max-attempts", "2"]);
    let output = call.output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{output:?}");
    let made = scene.calls().pop().unwrap();
    let read = made.events.iter();
    let mut read = read.filter(|event| event["kind"] == "attempt.interpreted");
    let mut source = || {
        let event = read.next().unwrap();
        Source {
            call: made.id.clone(),
            attempt: text(event, "attempt").to_owned(),
            interpretation: text(event, "id").to_owned(),
        }
    };
    let (first, last) = (source(), source());
    let mut work = Work::of(scene.home, task, last);
    // The earlier attempt, with the reading that counts.
    let cited = [&work.cited()[..], &["--attempt", &first.attempt]].concat();
    let reasons = ["source_attempt_not_final", "source_output_not_preserved"];
    work.both_refuse(&cited, &reasons, &reasons);
    // The earlier attempt and its own reading.
    let last = std::mem::replace(&mut work.source, first);
    let reasons = [
        "source_attempt_not_final",
        "interpretation_not_decision_basis",
        "generation_not_complete",
        "source_output_not_preserved",
    ];
    work.both_refuse(&work.cited(), &reasons, &reasons);
    // The last attempt with the reading of the earlier one.
    let cited = [&work.cited()[..], &["--attempt", &last.attempt]].concat();
    let reasons = [
        "interpretation_not_decision_basis",
        "generation_not_complete",
    ];
    work.both_refuse(&cited, &reasons, &reasons);
    work.source = last;
    work.accepted("ada", &work.cited());
    work.home.must(&["verify"]);
}

#[test]
fn a_reading_that_the_adopted_status_does_not_rest_on_is_refused() {
    let work = Work::new("stop", &V1);
    let adopted = work.source.read(&work.home, "operator", &V2);
    let reason = ["interpretation_not_decision_basis"];
    work.both_refuse(&work.cited(), &reason, &reason);
    let check = &work.cited()[2..];
    work.accepted(
        "ada",
        &[&["--interpretation", &adopted][..], check].concat(),
    );
}

#[test]
fn a_reading_that_is_not_recorded_is_not_found() {
    let mut work = Work::new("stop", &V2);
    let event = work.check.clone();
    let reasons = [
        "interpretation_not_decision_basis",
        "interpretation_not_found",
    ];
    // An id of nothing, and one of another kind of event.
    for interpretation in [UNKNOWN_ID, &event] {
        interpretation.clone_into(&mut work.source.interpretation);
        let cited = [&work.source.cited()[..], &["--check", &work.check]].concat();
        work.both_refuse(&cited, &reasons, &reasons);
    }
    // None at all.
    let cited = [&work.source.cited()[..4], &["--check", &work.check]].concat();
    work.both_refuse(&cited, &reasons, &reasons);
}

#[test]
fn a_reading_of_another_call_is_refused() {
    let mut work = Work::new("stop", &V2);
    let other = work.another(&[&work.task], SAID);
    work.source.interpretation = other.interpretation;
    let cited = [&work.source.cited()[..], &["--check", &work.check]].concat();
    let reasons = [
        "interpretation_not_decision_basis",
        "interpretation_wrong_call",
    ];
    work.both_refuse(&cited, &reasons, &reasons);
}

#[test]
fn nobody_accepts_what_they_asked_for_and_whoever_read_it_again_may() {
    let work = Work::new("stop", &V1);
    let reason = ["self_acceptance"];
    let mut read = work.copy();
    read.source.interpretation = read.source.read(&read.home, "ada", &V2);
    for work in [&work, &read] {
        work.refused("operator", &work.cited(), &reason);
        let first = [&work.cited()[..], &super::support::FIRST].concat();
        work.refused("operator", &first, &reason);
    }
    read.accepted("ada", &read.cited());
    read.home.must(&["verify"]);
}

#[test]
fn the_second_rules_refuse_whoever_derived_the_bytes_too() {
    let mut work = Work::new("stop", &V2);
    let made = work.home.write("made.txt", b"Two herons, at dawn.");
    let derive = ["derive", made.to_str().unwrap(), "--from", &work.artifact];
    let by = |actor| [&["--actor", actor][..], &derive, &["--tool", "by hand"]].concat();
    let derived = work.home.must(&by("ada")).document();
    let artifact = text(&derived, "to_sha256").to_owned();
    work.artifact = artifact;
    work.check = work.checked("true");
    let (first, second) = (["artifact_not_source_output"], ["self_acceptance"]);
    work.both_refuse(&work.cited(), &first, &second);
    work.refused("operator", &work.cited(), &second);
}

#[test]
fn bytes_that_the_reading_does_not_yield_are_refused() {
    let home = TestHome::new();
    let task = declare(&home, &[("report", "names herons\n")]);
    let source = Source::imported(&home, &[&task], &chat("1", SAID, "stop"), &V2);
    let mut work = Work::of(home, task, source);
    let other = work.another(&[&work.task], "Three herons.");
    let text_of_report = work.artifact.clone();
    work.artifact = other.stored(&work.home);
    work.check = work.checked("true");
    let (first, second) = (["artifact_not_source_output"], ["derivation_not_recorded"]);
    work.both_refuse(&work.cited(), &first, &second);
    // A derivation the other way round leads nowhere.
    let file = work.home.write("report.txt", SAID.as_bytes());
    let derive = ["derive", file.to_str().unwrap(), "--from", &work.artifact];
    let derived = work.home.must(&[&derive[..], &["--tool", "cp"]].concat());
    assert_eq!(text(&derived.document(), "to_sha256"), text_of_report);
    let check = work.checked("true");
    work.both_refuse(&work.citing(&check), &first, &second);
}
