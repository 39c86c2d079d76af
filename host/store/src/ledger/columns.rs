//! The index columns of the table `event`, in its order.

use model::projection::IndexColumns;
use rusqlite::types::ValueRef;

/// How many index columns there are.
pub(super) const COUNT: usize = NAMES.len();

/// The columns before them: `seq`, `leaf`, `salt` and `bytes`.
pub(super) const FIRST: usize = 4;

/// Their names.
pub(super) const NAMES: [&str; 11] = [
    "id",
    "kind",
    "cause",
    "task",
    "call",
    "attempt",
    "unique_key",
    "name",
    "module",
    "response",
    "request",
];

/// Returns the columns that an event must have, each with its name.
pub(super) fn expected(columns: &IndexColumns) -> [(&'static str, ValueRef<'_>); COUNT] {
    use ValueRef::{Blob, Null, Text};
    fn blob<const N: usize>(bytes: Option<&[u8; N]>) -> ValueRef<'_> {
        bytes.map_or(Null, |bytes| Blob(bytes))
    }
    let scope = &columns.scope;
    let values = [
        Blob(columns.id.as_bytes()),
        Text(columns.kind.as_bytes()),
        blob(columns.cause.as_ref().map(model::EventId::as_bytes)),
        blob(scope.task.as_ref().map(model::TaskId::as_bytes)),
        blob(scope.call.as_ref().map(model::CallId::as_bytes)),
        blob(scope.attempt.as_ref().map(model::AttemptId::as_bytes)),
        blob(columns.unique_key.as_ref().map(model::Digest::as_bytes)),
        columns
            .name
            .as_ref()
            .map_or(Null, |name| Text(name.as_bytes())),
        blob(columns.module.as_ref().map(model::Digest::as_bytes)),
        blob(columns.response.as_ref().map(model::Digest::as_bytes)),
        blob(columns.request.as_ref().map(model::Digest::as_bytes)),
    ];
    let mut named = NAMES.map(|column| (column, Null));
    for ((_, value), expected) in named.iter_mut().zip(values) {
        *value = expected;
    }
    named
}
