//! The tables. `docs/format.md` explains the first two for strangers.

use super::query::opening;

/// Returns the statements that create every table, index and trigger.
pub(super) fn create() -> String {
    let guards = GUARDS.map(|(_, sql)| sql).join(";\n");
    format!("{TABLES}{guards};")
}

/// Every index ends with the place, which SQLite adds itself: naming it again would
/// only write it twice.
const TABLES: &str = concat!(
    "
CREATE TABLE event(
  seq INTEGER PRIMARY KEY,
  leaf BLOB NOT NULL,
  salt BLOB,
  bytes BLOB,
  id BLOB,
  kind TEXT,
  cause BLOB,
  task BLOB,
  call BLOB,
  attempt BLOB,
  unique_key BLOB,
  name TEXT,
  module BLOB,
  response BLOB,
  request BLOB
) STRICT;
CREATE UNIQUE INDEX event_id ON event(id) WHERE id IS NOT NULL;
CREATE UNIQUE INDEX event_unique_key ON event(unique_key) WHERE unique_key IS NOT NULL;
CREATE INDEX event_task ON event(task) WHERE task IS NOT NULL;
CREATE INDEX event_call ON event(call) WHERE call IS NOT NULL;
CREATE INDEX event_attempt ON event(attempt)
  WHERE kind IN ('attempt.started', 'attempt.observed');
CREATE INDEX event_opening ON event(kind, name) WHERE ",
    opening!(),
    ";
CREATE INDEX event_calls ON event(seq, call) WHERE kind IN ('call.requested', 'call.imported');
CREATE INDEX event_module ON event(module) WHERE module IS NOT NULL;
CREATE INDEX event_response ON event(response) WHERE response IS NOT NULL;
CREATE INDEX event_request ON event(request) WHERE request IS NOT NULL;

CREATE TABLE tree(
  only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  size INTEGER NOT NULL,
  edge BLOB NOT NULL,
  projected INTEGER NOT NULL
) STRICT;
INSERT INTO tree VALUES (1, 0, x'', 0);

CREATE TABLE projection(
  scope TEXT NOT NULL,
  id BLOB NOT NULL,
  seq INTEGER NOT NULL,
  value TEXT NOT NULL,
  PRIMARY KEY (scope, id)
) STRICT, WITHOUT ROWID;

"
);

/// The triggers, each with its name.
///
/// They keep SQL that goes around this program from changing history by accident;
/// they do not stop whoever may write the file. The tree does.
pub(super) const GUARDS: [(&str, &str); 4] = [
    (
        "event_no_delete",
        "CREATE TRIGGER event_no_delete BEFORE DELETE ON event BEGIN
  SELECT RAISE(ABORT, 'events are never deleted');
END",
    ),
    (
        "event_in_order",
        "CREATE TRIGGER event_in_order BEFORE INSERT ON event
WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM event) BEGIN
  SELECT RAISE(ABORT, 'events are appended in order');
END",
    ),
    // INSERT OR REPLACE would delete the row that holds the key, and such a delete
    // fires no trigger.
    (
        "event_no_replace",
        "CREATE TRIGGER event_no_replace BEFORE INSERT ON event
WHEN EXISTS (SELECT 1 FROM event WHERE id = NEW.id)
  OR EXISTS (SELECT 1 FROM event WHERE unique_key = NEW.unique_key) BEGIN
  SELECT RAISE(ABORT, 'events are never replaced');
END",
    ),
    (
        "event_no_update",
        concat!(
            "CREATE TRIGGER event_no_update BEFORE UPDATE ON event
WHEN NOT (
  NEW.seq IS OLD.seq AND NEW.leaf IS OLD.leaf
  AND coalesce(NEW.salt, NEW.bytes, NEW.id, NEW.kind, NEW.cause, NEW.task, NEW.call,
    NEW.attempt, NEW.unique_key, NEW.name, NEW.module, NEW.response, NEW.request) IS NULL
  AND EXISTS (
    SELECT 1 FROM event AS erased, json_each(CAST(erased.bytes AS TEXT), '$.body.targets') AS target
    WHERE erased.kind = 'home.erased' AND erased.",
            opening!(),
            "
      AND erased.seq IS NOT OLD.seq
      AND json_type(target.value, '$.seq') = 'integer'
      AND json_extract(target.value, '$.seq') = OLD.seq
  )
) BEGIN
  SELECT RAISE(ABORT, 'events are never changed');
END"
        ),
    ),
];
