//! The work state of a task. Completion is derived from an acceptance, never set.

use serde::Serialize;

use super::call::{CallState, Operation, Stage};
use super::impact::acceptance_moved_by;
use crate::decision::CallStatus;
use crate::digest::Digest;
use crate::event::task::{TaskCompleted, TaskCreated};
use crate::event::{Body, Kind, Placed};
use crate::id::{EventId, TaskId};

/// Whether a task is done.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TaskStatus {
    /// Every output is accepted, and its completion is recorded.
    Completed,
    /// Something is missing.
    Incomplete,
    /// No `task.created` is recorded.
    UnknownTask,
}

impl TaskStatus {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Incomplete => "incomplete",
            Self::UnknownTask => "unknown_task",
        }
    }
}

/// Whether one output of a task is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct OutputState {
    /// Its name.
    pub name: String,
    /// Whether it is done.
    pub status: TaskStatus,
    /// The accepted bytes.
    pub artifact_sha256: Option<Digest>,
    /// The `task.accepted` event.
    pub acceptance: Option<EventId>,
    /// An acceptance is recorded and its completion is not.
    pub acceptance_pending_completion: bool,
    /// Why.
    pub basis: &'static str,
    /// The status record by which what the acceptance rests on moved afterwards; none
    /// while it counts as it did.
    pub basis_moved_by: Option<EventId>,
}

/// The work state of one task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct TaskState {
    /// The task.
    pub task: TaskId,
    /// What it is.
    pub title: Option<String>,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// Whether it is done.
    pub task_status: TaskStatus,
    /// The status, and whether the ground of an acceptance moved: such as
    /// `completed, basis moved`.
    pub task_standing: &'static str,
    /// By output.
    pub outputs: Vec<OutputState>,
    /// The outputs that are not completed, by name.
    pub outputs_missing: Vec<String>,
    /// The `check.requested` events that have no verdict, in order. The identical
    /// check continues them.
    pub checks_without_verdict: Vec<EventId>,
    /// What is safe to do next.
    pub task_next_operation: Operation,
    /// Why.
    pub task_reason: String,
    /// Its calls, in order.
    pub calls: Vec<CallState>,
}

impl TaskState {
    /// Derives the work state from the task's events, in order, and its calls.
    pub fn of(task: TaskId, events: &[Placed], calls: Vec<CallState>) -> Self {
        let declared = events.iter().find_map(|placed| {
            let Body::TaskCreated(body) = &placed.event.body else {
                return None;
            };
            Some(body)
        });
        let outputs: Vec<_> = declared
            .into_iter()
            .flat_map(|body: &TaskCreated| &body.outputs)
            .map(|output| OutputState::of(&output.name, events))
            .collect();
        let task_status = match declared {
            None => TaskStatus::UnknownTask,
            Some(_) if outputs.is_empty() => TaskStatus::Incomplete,
            Some(_)
                if outputs
                    .iter()
                    .all(|output| output.status == TaskStatus::Completed) =>
            {
                TaskStatus::Completed
            }
            Some(_) => TaskStatus::Incomplete,
        };
        let (task_next_operation, mut task_reason) = next(task_status, &outputs, &calls);
        let checks_without_verdict = checks_without_verdict(events);
        if let (TaskStatus::Incomplete, Some(check)) = (task_status, checks_without_verdict.last())
        {
            let gap = format!("; check {check} was asked for and has no verdict");
            task_reason.push_str(&gap);
        }
        for output in outputs
            .iter()
            .filter(|output| output.basis_moved_by.is_some())
        {
            let moved = format!("; what output {} was accepted on moved", output.name);
            task_reason.push_str(&moved);
        }
        let missing = outputs
            .iter()
            .filter(|output| output.status != TaskStatus::Completed);
        Self {
            task,
            title: declared.map(|body| body.title.clone()),
            run: declared.and_then(|body| body.run.clone()),
            task_status,
            task_standing: standing(task_status, &outputs),
            outputs_missing: missing.map(|output| output.name.clone()).collect(),
            checks_without_verdict,
            outputs,
            task_next_operation,
            task_reason,
            calls,
        }
    }
}

/// A status never changes because its ground moved; it is shown beside.
fn standing(status: TaskStatus, outputs: &[OutputState]) -> &'static str {
    let moved = outputs.iter().any(|output| output.basis_moved_by.is_some());
    match (status, moved) {
        (TaskStatus::Completed, true) => "completed, basis moved",
        (TaskStatus::Incomplete, true) => "incomplete, basis moved",
        (TaskStatus::Completed | TaskStatus::Incomplete, false) | (TaskStatus::UnknownTask, _) => {
            status.as_str()
        }
    }
}

fn checks_without_verdict(events: &[Placed]) -> Vec<EventId> {
    let ended: Vec<_> = events
        .iter()
        .filter(|placed| placed.event.kind() == Kind::CheckCompleted)
        .filter_map(|placed| placed.event.cause)
        .collect();
    let requested = events
        .iter()
        .filter(|placed| placed.event.kind() == Kind::CheckRequested);
    requested
        .map(|placed| placed.event.id)
        .filter(|id| !ended.contains(id))
        .collect()
}

fn next(status: TaskStatus, outputs: &[OutputState], calls: &[CallState]) -> (Operation, String) {
    match status {
        TaskStatus::Completed => return (Operation::None, "every output is accepted".into()),
        TaskStatus::UnknownTask => {
            return (Operation::None, "no task.created event is recorded".into());
        }
        TaskStatus::Incomplete => {}
    }
    if let Some(output) = outputs
        .iter()
        .find(|output| output.acceptance_pending_completion)
    {
        let reason = format!(
            "output {}: accepted, completion not yet recorded",
            output.name
        );
        return (Operation::RepeatAcceptance, reason);
    }
    if let Some(call) = calls
        .iter()
        .find(|call| call.next_operation != Operation::None)
    {
        return (
            call.next_operation,
            format!("call {}: {}", call.call, call.reason),
        );
    }
    let succeeded = calls.iter().find(|call| {
        call.stage == Stage::Completed && call.call_status == Some(CallStatus::Succeeded)
    });
    match succeeded {
        Some(call) => (
            Operation::CheckAndAccept,
            format!("call {} succeeded", call.call),
        ),
        None => (
            Operation::StartCall,
            "no call of this task has succeeded".into(),
        ),
    }
}

impl OutputState {
    fn of(name: &str, events: &[Placed]) -> Self {
        let accepted = events.iter().find_map(|placed| {
            let Body::TaskAccepted(body) = &placed.event.body else {
                return None;
            };
            (body.output == name).then_some((placed, body))
        });
        let completions: Vec<_> = events
            .iter()
            .filter_map(|placed| {
                let Body::TaskCompleted(body) = &placed.event.body else {
                    return None;
                };
                (body.output == name).then_some((placed, body))
            })
            .collect();
        let (status, basis) = match accepted {
            Some((acceptance, body)) => {
                // All three must agree: the cause, the citation and the bytes.
                let caused = |(placed, completed): &(&Placed, &TaskCompleted)| {
                    placed.event.cause == Some(acceptance.event.id)
                        && completed.acceptance == acceptance.event.id
                        && completed.artifact_sha256 == body.artifact_sha256
                };
                if completions.iter().any(caused) {
                    let basis = "task.completed caused by a validated task.accepted";
                    (TaskStatus::Completed, basis)
                } else {
                    let basis = "task.accepted recorded; task.completed not yet appended";
                    (TaskStatus::Incomplete, basis)
                }
            }
            None if completions.is_empty() => (TaskStatus::Incomplete, "no acceptance recorded"),
            None => {
                let basis = "task.completed present without a causing task.accepted";
                (TaskStatus::Incomplete, basis)
            }
        };
        Self {
            name: name.to_owned(),
            status,
            artifact_sha256: accepted.map(|(_, body)| body.artifact_sha256),
            acceptance: accepted.map(|(placed, _)| placed.event.id),
            acceptance_pending_completion: accepted.is_some() && status != TaskStatus::Completed,
            basis,
            basis_moved_by: accepted.and_then(|(placed, _)| acceptance_moved_by(placed, events)),
        }
    }
}

#[cfg(test)]
#[path = "task/tests.rs"]
mod tests;
