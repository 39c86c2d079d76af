//! The imported story: what was kept is read, reread by better rules, and refused
//! when the bytes are gone.

use std::fs;

use anyhow::Context as _;
use model::Digest;
use serde_json::Value;

use super::claims::Claims;
use super::stage::{Ran, Stage, number, text};
use crate::exit;

/// Exchanges of our own making, one JSON object a line.
const EXCHANGES: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../tests/fixtures/exchanges.jsonl"
));

/// The exchange that the story follows: text, cut by the token limit.
const FOLLOWED: &str = "143-responses-incomplete-but-items-completed";

const V1: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v1",
    "--policy",
    "attempt-policy-v1",
];
const V2: [&str; 4] = [
    "--interpreter",
    "attempt-interpretation-v2",
    "--policy",
    "attempt-policy-v2",
];

/// Tells the story and makes its claims.
pub(super) fn tell(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<()> {
    claims.part("Import: the bytes are kept as they are")?;
    let followed = import(stage, claims)?;
    claims.part("Day one: text means complete (v1)")?;
    let one = day_one(stage, claims, &followed)?;
    claims.part("Day two: the provider's reason decides (v2), over the same bytes")?;
    day_two(stage, claims, &followed, &one)?;
    claims.part("Going back: not in silence")?;
    step_back(stage, claims, &followed)?;
    claims.part("Without the bytes: refused")?;
    damage(
        stage,
        claims,
        &followed,
        "missing",
        "response body bytes are missing",
    )?;
    let altered = "response body bytes do not match their recorded sha256";
    damage(stage, claims, &followed, "corrupt", altered)?;
    claims.part("Who read what")?;
    trace(stage, claims, &followed)
}

/// The exchange that the story follows.
struct Followed {
    call: String,
    body: String,
}

/// How the home stood at the end of day one.
struct DayOne {
    log: Vec<Value>,
    checkpoint: String,
}

fn import(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<Followed> {
    let source = stage.path("exchanges.jsonl");
    fs::write(&source, EXCHANGES).context("writing the exchanges")?;
    let source = source.to_string_lossy().into_owned();
    stage.must("main", &["init"])?;
    let lines = stage.must("main", &["import", "exchange", &source])?;
    let expected = u64::try_from(EXCHANGES.lines().count()).unwrap_or(0);
    let summary = lines.last().context("the import printed no summary")?;
    let imported = number(summary, "/summary/imported");
    claims.claim(
        imported == expected,
        "every exchange is imported",
        format!("{imported} of {expected} lines"),
    )?;
    let again = stage.must("main", &["import", "exchange", &source])?;
    let duplicates = again
        .last()
        .map_or(0, |line| number(line, "/summary/duplicates"));
    claims.claim(
        duplicates == expected,
        "importing the same file again adds nothing",
        format!(
            "{duplicates} duplicates, {} events",
            event_count(stage, "main")?
        ),
    )?;
    let (files, wrong) = hash_artifacts(stage)?;
    claims.claim(
        wrong == 0 && files > 0,
        "every artifact file hashes to its name",
        format!("{files} files hashed, {wrong} differ"),
    )?;
    let line = lines
        .iter()
        .find(|line| text(line, "/external_id") == FOLLOWED)
        .context("the followed exchange was not imported")?;
    let shown = stage.must("main", &["show", text(line, "/attempt")])?;
    let body = shown
        .first()
        .map(|shown| text(shown, "/response/sha256").to_owned());
    Ok(Followed {
        call: text(line, "/call").to_owned(),
        body: body.unwrap_or_default(),
    })
}

fn day_one(stage: &Stage, claims: &mut Claims<'_>, followed: &Followed) -> anyhow::Result<DayOne> {
    let calls = u64::try_from(EXCHANGES.lines().count()).unwrap_or(0);
    let summary = reinterpret_all(stage, &V1)?;
    claims.claim(
        number(&summary, "/appended") == 2 * calls && number(&summary, "/refused") == 0,
        "one reading and one status are appended for each call",
        format!("{} events for {calls} calls", number(&summary, "/appended")),
    )?;
    let state = call_state(stage, "main", followed)?;
    claims.claim(
        text(&state, "/status_basis")
            == "reinterpretation:attempt-interpretation-v1/attempt-policy-v1",
        "the record says by which rules the status came about",
        format!(
            "{} {}",
            text(&state, "/call_status"),
            text(&state, "/status_basis")
        ),
    )?;
    let before = event_count(stage, "main")?;
    stage.must(
        "main",
        &[
            "interpret",
            "all",
            "--interpreter",
            "attempt-interpretation-v2",
        ],
    )?;
    claims.claim(
        before == event_count(stage, "main")?,
        "a counterfactual reading by v2 records nothing",
        format!("{before} events before and after"),
    )?;
    for copy in ["missing", "corrupt"] {
        stage.copy("main", copy)?;
    }
    let note = stage.must("main", &["checkpoint"])?;
    let note = note
        .first()
        .map(|note| text(note, "/checkpoint").to_owned())
        .unwrap_or_default();
    let checkpoint = stage.path("day-one.checkpoint");
    fs::write(&checkpoint, note).context("keeping the checkpoint of day one")?;
    let log = stage.must("main", &["log"])?;
    Ok(DayOne {
        log,
        checkpoint: checkpoint.to_string_lossy().into_owned(),
    })
}

fn day_two(
    stage: &Stage,
    claims: &mut Claims<'_>,
    followed: &Followed,
    one: &DayOne,
) -> anyhow::Result<()> {
    let summary = reinterpret_all(stage, &V2)?;
    claims.claim(
        number(&summary, "/refused") == 0,
        "every call is read again from the preserved bytes",
        matrix(&summary),
    )?;
    let state = call_state(stage, "main", followed)?;
    claims.claim(
        text(&state, "/status_basis")
            == "reinterpretation:attempt-interpretation-v2/attempt-policy-v2",
        "the newer pair is adopted",
        format!(
            "{} is {} ({})",
            FOLLOWED,
            text(&state, "/call_status"),
            text(&state, "/status_reason")
        ),
    )?;
    let log = stage.must("main", &["log"])?;
    let same = log
        .iter()
        .zip(&one.log)
        .filter(|(now, then)| now == then)
        .count();
    claims.claim(
        same == one.log.len() && log.len() > same,
        "history is an unchanged prefix",
        format!(
            "the first {same} of {} events are those of day one",
            log.len()
        ),
    )?;
    let verified = stage.run("main", &["verify", "--against", &one.checkpoint])?;
    let last = verified.lines.last().cloned().unwrap_or_default();
    claims.claim(
        verified.code == 0,
        "the signed checkpoint of day one proves it",
        format!(
            "{} of {} leaves, {} findings",
            number(&last, "/verified/consistent_with"),
            number(&last, "/verified/events"),
            number(&last, "/verified/findings")
        ),
    )?;
    let again = reinterpret_all(stage, &V2)?;
    let after = call_state(stage, "main", followed)?;
    claims.claim(
        number(&again, "/appended") == 0
            && text(&after, "/status_record") == text(&state, "/status_record"),
        "a repeat appends nothing and returns the same record",
        format!("record {}", text(&after, "/status_record")),
    )
}

fn step_back(stage: &Stage, claims: &mut Claims<'_>, followed: &Followed) -> anyhow::Result<()> {
    let back: Vec<_> = [&["reinterpret", "call", followed.call.as_str()][..], &V1].concat();
    let refused = stage.run("main", &back)?;
    claims.claim(
        refused.code == i32::from(exit::REFUSED),
        "an older pair is not adopted again unless that is asked for",
        refusal(&refused),
    )?;
    let allowed = [&back[..], &["--allow-older=to compare"]].concat();
    stage.must("main", &allowed)?;
    let forward = [&["reinterpret", "call", followed.call.as_str()][..], &V2].concat();
    stage.must("main", &forward)?;
    let state = call_state(stage, "main", followed)?;
    claims.claim(
        text(&state, "/status_basis")
            == "reinterpretation:attempt-interpretation-v2/attempt-policy-v2",
        "asked for, it is recorded with its reason, and v2 can be adopted after it",
        format!(
            "{} events, basis {}",
            event_count(stage, "main")?,
            text(&state, "/status_basis")
        ),
    )
}

fn damage(
    stage: &Stage,
    claims: &mut Claims<'_>,
    followed: &Followed,
    copy: &str,
    sentence: &str,
) -> anyhow::Result<()> {
    let path = stage.artifact(copy, &followed.body)?;
    if copy == "missing" {
        fs::remove_file(&path).with_context(|| format!("deleting {}", path.display()))?;
    } else {
        let mut bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
        if let Some(byte) = bytes.last_mut() {
            *byte ^= 1;
        }
        fs::write(&path, bytes).with_context(|| format!("altering {}", path.display()))?;
    }
    let before = event_count(stage, copy)?;
    let reread = [&["reinterpret", "call", followed.call.as_str()][..], &V2].concat();
    let refused = stage.run(copy, &reread)?;
    claims.claim(
        refused.code == i32::from(exit::REFUSED)
            && refused.stderr.contains(sentence)
            && event_count(stage, copy)? == before,
        &format!("{copy}: refused, and nothing is appended"),
        refusal(&refused),
    )?;
    let shown = stage.must(copy, &["show", &followed.call])?;
    let state = shown.first().cloned().unwrap_or_default();
    let observed = state
        .pointer("/events")
        .and_then(Value::as_array)
        .and_then(|events| {
            events
                .iter()
                .find(|event| text(event, "/kind") == "attempt.observed")
                .cloned()
        });
    let observed = observed.unwrap_or_default();
    claims.claim(
        text(&observed, "/body/response_body_artifact/sha256") == followed.body,
        &format!("{copy}: the record still says what arrived and when"),
        format!("{} at {}", followed.body, text(&observed, "/at")),
    )?;
    let verified = stage.run(copy, &["verify"])?;
    let finding = verified.lines.first().cloned().unwrap_or_default();
    claims.claim(
        verified.code == i32::from(exit::DAMAGE),
        &format!("{copy}: verify finds it"),
        format!(
            "{}: {}",
            text(&finding, "/finding/object"),
            text(&finding, "/finding/detail")
        ),
    )
}

fn trace(stage: &Stage, claims: &mut Claims<'_>, followed: &Followed) -> anyhow::Result<()> {
    let read = stage.must("main", &["who-read", &followed.body])?;
    let read = read.first().cloned().unwrap_or_default();
    let readers: Vec<String> = read
        .pointer("/read_by")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(|reading| {
            format!(
                "{} {}",
                text(reading, "/module/label"),
                text(reading, "/module/sha256")
            )
        })
        .collect();
    claims.claim(
        readers.len() == 2,
        "each record says which module, by hash, read which bytes",
        readers.join("\n"),
    )?;
    let verified = stage.run("main", &["verify", "--replay"])?;
    let last = verified.lines.last().cloned().unwrap_or_default();
    claims.claim(
        verified.code == 0,
        "every recorded reading, run again, gives the recorded result",
        format!(
            "{} readings, root {}",
            number(&last, "/verified/replayed"),
            text(&last, "/verified/root")
        ),
    )
}

fn reinterpret_all(stage: &Stage, rules: &[&str]) -> anyhow::Result<Value> {
    let lines = stage.must("main", &[&["reinterpret", "all"][..], rules].concat())?;
    let last = lines.last().context("reinterpret all printed nothing")?;
    Ok(last.pointer("/summary").cloned().unwrap_or_default())
}

fn call_state(stage: &Stage, home: &str, followed: &Followed) -> anyhow::Result<Value> {
    let lines = stage.must(home, &["state", "call", &followed.call])?;
    Ok(lines.first().cloned().unwrap_or_default())
}

fn event_count(stage: &Stage, home: &str) -> anyhow::Result<u64> {
    let lines = stage.must(home, &["state"])?;
    Ok(lines
        .first()
        .map_or(0, |state| number(state, "/ledger_event_count")))
}

fn refusal(ran: &Ran) -> String {
    let error: Value = ran
        .stderr
        .lines()
        .find_map(|line| serde_json::from_str(line).ok())
        .unwrap_or_default();
    format!("exit {}: {}", ran.code, text(&error, "/error/message"))
}

fn matrix(summary: &Value) -> String {
    let cells = summary.pointer("/matrix").and_then(Value::as_array);
    let lines: Vec<String> = cells
        .into_iter()
        .flatten()
        .map(|cell| {
            format!(
                "{:>3} calls: {} -> {}",
                number(cell, "/calls"),
                text(cell, "/from"),
                text(cell, "/to")
            )
        })
        .collect();
    lines.join("\n")
}

/// Hashes every artifact file with nothing of the store in between.
fn hash_artifacts(stage: &Stage) -> anyhow::Result<(u64, u64)> {
    let (mut files, mut wrong) = (0, 0);
    let root = stage.path("main").join("artifacts").join("sha256");
    for folder in fs::read_dir(&root).with_context(|| root.display().to_string())? {
        let folder = folder?;
        for file in fs::read_dir(folder.path())? {
            let file = file?;
            let name = format!(
                "{}{}",
                folder.file_name().to_string_lossy(),
                file.file_name().to_string_lossy()
            );
            files += 1;
            wrong += u64::from(Digest::of(&fs::read(file.path())?).to_hex() != name);
        }
    }
    Ok((files, wrong))
}
