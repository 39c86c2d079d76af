//! The work state of a task. Completion is derived from an acceptance, never set.

use serde::Serialize;

use super::call::{CallState, Operation, Stage};
use crate::decision::CallStatus;
use crate::digest::Digest;
use crate::event::task::{TaskCompleted, TaskCreated};
use crate::event::{Body, Placed};
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
    /// By output.
    pub outputs: Vec<OutputState>,
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
        let (task_next_operation, task_reason) = next(task_status, &outputs, &calls);
        Self {
            task,
            title: declared.map(|body| body.title.clone()),
            run: declared.and_then(|body| body.run.clone()),
            task_status,
            outputs,
            task_next_operation,
            task_reason,
            calls,
        }
    }
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
        }
    }
}

#[cfg(test)]
#[path = "task/tests.rs"]
mod tests;
