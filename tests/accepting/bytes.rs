//! Reasons that are about bytes that are lost or changed.

use std::fs;
use std::path::Path;

use super::support::Work;
use crate::ledger;
use crate::support::{Ran, V2};

/// Something that happens to a file.
type Harm = fn(&Path);

const LOST: Harm = |file| fs::remove_file(file).unwrap();
const CHANGED: Harm = |file| fs::write(file, b"other bytes").unwrap();

/// Harms a file for a while.
fn harmed(file: &Path, harm: Harm, during: impl FnOnce()) {
    let bytes = fs::read(file).unwrap();
    harm(file);
    during();
    fs::write(file, bytes).unwrap();
}

#[test]
fn a_text_whose_response_is_lost_or_changed_cannot_be_made_again() {
    let work = Work::new("stop", &V2);
    let response = work.source.response(&work.home);
    let reason = ["source_output_not_preserved"];
    for harm in [LOST, CHANGED] {
        let work = work.copy();
        let response = work.home.artifact(&response);
        harmed(&response, harm, || {
            work.both_refuse(&work.cited(), &reason, &reason);
        });
        work.accepted("ada", &work.cited());
        work.home.must(&["verify"]);
    }
}

#[test]
fn bytes_that_are_lost_or_changed_are_not_accepted() {
    for (harm, reason) in [
        (LOST, "artifact_not_preserved"),
        (CHANGED, "artifact_corrupted"),
    ] {
        let work = Work::new("stop", &V2);
        harmed(&work.home.artifact(&work.artifact), harm, || {
            work.both_refuse(&work.cited(), &[reason], &[reason]);
        });
        work.accepted("ada", &work.cited());
        work.home.must(&["verify"]);
    }
}

#[test]
fn what_lies_in_the_place_of_bytes_and_is_no_file_is_corrupt() {
    let work = Work::new("stop", &V2);
    let file = work.home.artifact(&work.artifact);
    fs::remove_file(&file).unwrap();
    fs::create_dir(&file).unwrap();
    let reason = ["artifact_corrupted"];
    work.both_refuse(&work.cited(), &reason, &reason);
    let folder = file.parent().unwrap();
    fs::remove_dir_all(folder).unwrap();
    fs::write(folder, b"").unwrap();
    let work = work.copy();
    let (code, done) = work.accept("ada", &work.cited());
    assert_eq!((code, &done["reasons"][0]), (5, &reason[0].into()));
}

#[test]
fn both_the_text_and_the_bytes_may_be_gone_and_both_are_told() {
    let work = Work::new("stop", &V2);
    let response = work.source.response(&work.home);
    fs::remove_file(work.home.artifact(&response)).unwrap();
    fs::remove_file(work.home.artifact(&work.artifact)).unwrap();
    let reasons = ["source_output_not_preserved", "artifact_not_preserved"];
    work.both_refuse(&work.cited(), &reasons, &reasons);
}

#[test]
fn a_standing_acceptance_is_not_confirmed_while_what_it_rests_on_cannot_be_read() {
    let work = Work::new("stop", &V2);
    let done = work.accepted("ada", &work.cited());
    let before = ledger::rows(&work.home);
    let response = work.source.response(&work.home);
    for sha256 in [&response, &work.artifact] {
        for (harm, word) in [(LOST, "missing"), (CHANGED, "corrupt")] {
            harmed(&work.home.artifact(sha256), harm, || {
                let ran = Ran::from(work.command("ada", &work.cited()).output().unwrap());
                let expected = format!(
                    "acceptance {} of {} cannot be confirmed: bytes that it rests on are {word}",
                    done["acceptance"].as_str().unwrap(),
                    work.artifact
                );
                assert_eq!(ran.refused(4), ("forbidden".to_owned(), expected));
            });
        }
    }
    assert_eq!(ledger::rows(&work.home), before);
    let again = work.accepted("ada", &work.cited());
    assert_eq!(again["acceptance"], done["acceptance"]);
}

#[test]
fn without_a_store_of_artifacts_nothing_is_accepted_and_nothing_appended() {
    let work = Work::new("stop", &V2);
    let before = ledger::rows(&work.home);
    let folder = work.home.path().join("artifacts");
    let away = work.home.path().join("elsewhere");
    fs::rename(&folder, &away).unwrap();
    fs::write(&folder, b"").unwrap();
    for more in [&[][..], &super::support::FIRST] {
        let cited = [&work.cited()[..], more].concat();
        let ran = Ran::from(work.command("ada", &cited).output().unwrap());
        let (code, message) = ran.refused(5);
        assert_eq!(code, "artifact_store_unavailable");
        let expected = format!(
            "not accepted: artifact_store_unavailable: creating {}/sha256: Not a directory (os \
             error 20)",
            folder.display()
        );
        assert_eq!(message, expected);
    }
    assert_eq!(ledger::rows(&work.home), before);
    fs::remove_file(&folder).unwrap();
    fs::rename(&away, &folder).unwrap();
    work.accepted("ada", &work.cited());
}
