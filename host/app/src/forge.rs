//! A forged row, for the demo: a completion that no acceptance caused.
//!
//! No task command can bring it about, and whoever can write to the ledger can. It
//! stands here, and says what it is, so that the demo can show what becomes of it:
//! the leaf is valid, the task is not completed, and `verify` names the row.

use model::event::Scope;
use model::event::task::TaskCompleted;
use model::{Digest, EventId, TaskId};

use crate::context::Session;
use crate::error::AppError;
use crate::projecting;

impl Session {
    /// Appends a `task.completed` that has no cause and names the task's declaration as
    /// its acceptance, and returns its id.
    pub fn forge_completion(
        &mut self,
        task: TaskId,
        output: &str,
        artifact: Digest,
    ) -> Result<EventId, AppError> {
        let acceptance = self.declared(task)?.declaration;
        let scope = Scope {
            task: Some(task),
            ..Scope::default()
        };
        let body = TaskCompleted {
            output: output.to_owned(),
            artifact_sha256: artifact,
            acceptance,
        };
        let event = self.stamp().event(None, scope, body)?;
        let mut writer = self.ledger.writer()?;
        writer.append(&event)?;
        projecting::commit(writer)?;
        Ok(event.id)
    }
}
