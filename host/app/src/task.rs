//! `task`: declaring work.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use model::event::task::{TaskCreated, TaskOutput};
use model::event::{Kind, Scope};
use model::name::Actor;
use model::{EventId, TaskId};
use serde::Serialize;

use crate::context::Session;
use crate::error::AppError;
use crate::files;
use crate::names;
use crate::projecting;

/// The most bytes of one criteria file: an event has no more room.
const CRITERIA_BYTES_MAX: usize = 48 * 1024;

/// What a task is to be.
#[derive(Debug, Clone, Default)]
pub struct TaskDeclaration {
    /// What it is.
    pub title: String,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// Named outputs, each with a file of criteria, one per line.
    pub outputs: Vec<(String, PathBuf)>,
    /// Who may do what.
    pub grants: Vec<(Actor, String)>,
}

/// A task that was declared.
#[derive(Debug, Clone, Serialize)]
pub struct TaskDeclared {
    /// The task.
    pub task: TaskId,
    /// The event.
    pub event: EventId,
    /// Its outputs.
    pub outputs: Vec<TaskOutput>,
}

/// A task in a list.
#[derive(Debug, Clone, Serialize)]
pub struct TaskListed {
    /// The task.
    pub task: TaskId,
    /// What it is.
    pub title: String,
    /// The run that it belongs to.
    pub run: Option<String>,
    /// Whether it is done.
    pub task_status: &'static str,
    /// The status, and whether the ground of an acceptance moved.
    pub task_standing: &'static str,
    /// How many outputs it has.
    pub outputs: usize,
    /// Those that are not completed, by name.
    pub outputs_missing: Vec<String>,
    /// What is safe to do next.
    pub task_next_operation: &'static str,
}

impl Session {
    /// Declares a task; its criteria are hashed as they are given.
    pub fn create_task(&mut self, declaration: TaskDeclaration) -> Result<TaskDeclared, AppError> {
        names::check("title", &declaration.title)?;
        if let Some(run) = &declaration.run {
            names::check("run", run)?;
        }
        let mut outputs: Vec<TaskOutput> = Vec::new();
        for (name, path) in declaration.outputs {
            names::check("output", &name)?;
            if outputs.iter().any(|output| output.name == name) {
                return Err(AppError::Usage(format!("output {name} is given twice")));
            }
            let criteria = read_criteria(&path)?;
            let output = TaskOutput::declare(name, criteria)
                .map_err(|error| AppError::Usage(error.to_string()))?;
            outputs.push(output);
        }
        let mut grants: BTreeMap<Actor, Vec<String>> = BTreeMap::new();
        for (actor, capability) in declaration.grants {
            names::check("capability", &capability)?;
            grants.entry(actor).or_default().push(capability);
        }
        let stamp = self.stamp();
        let task = stamp.task_id()?;
        let body = TaskCreated {
            title: declaration.title,
            run: declaration.run,
            outputs: outputs.clone(),
            grants,
        };
        let scope = Scope {
            task: Some(task),
            ..Scope::default()
        };
        let event = stamp.event(None, scope, body)?;
        let id = event.id;
        let mut writer = self.ledger.writer()?;
        writer.append(&event)?;
        projecting::commit(writer)?;
        Ok(TaskDeclared {
            task,
            event: id,
            outputs,
        })
    }

    /// Lists the tasks, of one run where it is named.
    pub fn tasks(&self, run: Option<&str>) -> Result<Vec<TaskListed>, AppError> {
        let reader = self.ledger.reader();
        let created = match run {
            Some(run) => reader.named(Kind::TaskCreated, run)?,
            None => reader.of_kind(Kind::TaskCreated)?,
        };
        let mut listed = Vec::new();
        for placed in created {
            let Some(task) = placed.event.scope.task else {
                continue;
            };
            let state = self.task_state(task)?;
            listed.push(TaskListed {
                task,
                title: state.title.unwrap_or_default(),
                run: state.run,
                task_status: state.task_status.as_str(),
                task_standing: state.task_standing,
                outputs: state.outputs.len(),
                outputs_missing: state.outputs_missing,
                task_next_operation: state.task_next_operation.as_str(),
            });
        }
        Ok(listed)
    }
}

/// Reads criteria: each line that is not blank is one.
fn read_criteria(path: &Path) -> Result<Vec<String>, AppError> {
    let text = files::read_text(path, CRITERIA_BYTES_MAX)?;
    let criteria: Vec<String> = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .map(str::to_owned)
        .collect();
    if criteria.is_empty() {
        return Err(AppError::Usage(format!(
            "{} holds no criterion: expected one per line",
            path.display()
        )));
    }
    Ok(criteria)
}
