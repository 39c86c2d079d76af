//! What the story looks at: homes, through processes of this program, and receipts.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use serde_json::Value;

use super::claims::Claims;
use super::stage::{KEY, Stage, number, text};

/// The task of a home and its call.
#[derive(Debug, Clone)]
pub(super) struct Work {
    pub(super) task: String,
    pub(super) call: String,
    pub(super) attempt: String,
}

/// Returns the events of a task, in order.
pub(super) fn task_events(stage: &Stage, home: &str, task: &str) -> anyhow::Result<Vec<Value>> {
    stage.must(home, &["log", "--task", task])
}

/// Returns how many events a task has.
pub(super) fn event_count(stage: &Stage, home: &str, task: &str) -> anyhow::Result<usize> {
    task_events(stage, home, task).map(|events| events.len())
}

/// Returns the kinds of events, in order.
pub(super) fn kinds(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| text(event, "/kind")).collect()
}

/// Returns the work of the first call of a task.
pub(super) fn work(stage: &Stage, home: &str, task: &str) -> anyhow::Result<Work> {
    let events = task_events(stage, home, task)?;
    let first = |pointer| {
        let found = events.iter().map(|event| text(event, pointer));
        found.into_iter().find(|id| !id.is_empty()).unwrap_or("")
    };
    Ok(Work {
        task: task.to_owned(),
        call: first("/call").to_owned(),
        attempt: first("/attempt").to_owned(),
    })
}

/// Returns the work state of a call.
pub(super) fn call_state(stage: &Stage, home: &str, call: &str) -> anyhow::Result<Value> {
    one(stage, home, &["state", "call", call])
}

/// Returns the work state of a task.
pub(super) fn task_state(stage: &Stage, home: &str, task: &str) -> anyhow::Result<Value> {
    one(stage, home, &["state", "task", task])
}

/// Runs a command that prints one document.
pub(super) fn one(stage: &Stage, home: &str, arguments: &[&str]) -> anyhow::Result<Value> {
    let lines = stage.must(home, arguments)?;
    let what = || format!("reread {} printed nothing", arguments.join(" "));
    lines.into_iter().next().with_context(what)
}

/// Returns the lines that the provider wrote, outside the ledger.
pub(super) fn receipts(stage: &Stage, home: &str) -> anyhow::Result<usize> {
    let path = stage.path(home).join("receipts.log");
    let lines = fs::read_to_string(&path).with_context(|| format!("reading {}", path.display()))?;
    Ok(lines.lines().count())
}

/// Claims that no file of a story holds the provider's key.
pub(super) fn keyless(stage: &Stage, claims: &mut Claims<'_>) -> anyhow::Result<()> {
    let (files, holding) = files_with_key(&stage.path(""))?;
    claims.claim(
        holding.is_empty() && files > 0,
        "the provider's key stands in no file",
        format!("{files} files searched, {} hold it", holding.len()),
    )
}

/// Returns how many files below a folder there are, and those that hold the demo's key.
fn files_with_key(folder: &Path) -> anyhow::Result<(usize, Vec<String>)> {
    let mut files = 0;
    let mut holding = Vec::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(next) = folders.pop() {
        let reading = || format!("reading {}", next.display());
        for entry in fs::read_dir(&next).with_context(reading)? {
            let path = entry.with_context(reading)?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            files += 1;
            let bytes = fs::read(&path).with_context(|| format!("reading {}", path.display()))?;
            if bytes.windows(KEY.len()).any(|part| part == KEY.as_bytes()) {
                holding.push(path.display().to_string());
            }
        }
    }
    Ok((files, holding))
}

/// Returns a number of a document as a count.
pub(super) fn count(value: &Value, pointer: &str) -> usize {
    usize::try_from(number(value, pointer)).unwrap_or(usize::MAX)
}
