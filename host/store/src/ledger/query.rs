//! Every question that is asked of the tables. A test explains each of them.

/// Kinds that begin something. Those are found by kind and by name through an
/// index of their own, which SQLite uses only where a question repeats this.
macro_rules! opening {
    () => {
        "kind IN ('home.created', 'home.preregistered', 'home.erased', 'module.registered', \
         'module.retired', 'task.created', 'call.requested', 'call.imported')"
    };
}
pub(super) use opening;

macro_rules! entry {
    ($($rest:tt)+) => {
        concat!("SELECT seq, leaf, salt, bytes FROM event WHERE ", $($rest)+)
    };
}

pub(super) const LAST_SEQ: &str = "SELECT coalesce(max(seq), 0) FROM event";

/// One question, so that the answers are of one moment.
pub(super) const EDGE: &str =
    "SELECT size, edge, (SELECT coalesce(max(seq), 0) FROM event) FROM tree";

pub(super) const AT: &str = entry!("seq = ?1");

pub(super) const BY_ID: &str = entry!("id = ?1");

pub(super) const BY_KEY: &str = entry!("unique_key = ?1");

pub(super) const AFTER: &str =
    entry!("seq > ?1 AND (salt IS NOT NULL OR bytes IS NOT NULL) ORDER BY seq LIMIT ?2");

pub(super) const OF_CALL: &str = entry!("call = ?1 ORDER BY seq");

pub(super) const OF_TASK: &str = entry!("task = ?1 ORDER BY seq");

/// The events of a task that are of none of its calls.
pub(super) const OF_TASK_ALONE: &str = entry!("task = ?1 AND call IS NULL ORDER BY seq");

pub(super) const OF_ATTEMPT: &str =
    entry!("attempt = ?1 AND kind IN ('attempt.started', 'attempt.observed') LIMIT 1");

pub(super) const OF_OPENING_KIND: &str = entry!("kind = ?1 AND ", opening!(), " ORDER BY seq");

/// Reads every entry: no index holds the other kinds.
pub(super) const OF_OTHER_KIND: &str = entry!("kind = ?1 ORDER BY seq");

pub(super) const NAMED: &str = entry!("kind = ?1 AND name = ?2 AND ", opening!(), " ORDER BY seq");

pub(super) const CALLS_AFTER: &str = "SELECT seq, call FROM event INDEXED BY event_calls \
    WHERE seq > ?1 AND kind IN ('call.requested', 'call.imported') ORDER BY seq LIMIT ?2";

/// Reads every entry after a place: no index holds the kinds that hold a status. The
/// kind that a call is first decided by is looked for only where that is asked for.
pub(super) const STATUSES_AFTER: &str = "SELECT seq, call FROM event WHERE seq > ?1 AND \
    (kind = 'call.reinterpreted' OR ?3 AND kind = 'call.status_decided') AND call IS NOT NULL \
    ORDER BY seq LIMIT ?2";

pub(super) const COUNT_OF_OPENING_KIND: &str = concat!(
    "SELECT count(*) FROM event WHERE kind = ?1 AND ",
    opening!()
);

/// Reads every entry: no index holds the other kinds.
pub(super) const COUNT_OF_OTHER_KIND: &str = "SELECT count(*) FROM event WHERE kind = ?1";

pub(super) const BY_MODULE: &str = entry!("module = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3");

pub(super) const COUNT_BY_MODULE: &str = "SELECT count(*) FROM event WHERE module = ?1";

pub(super) const OBSERVING: &str = concat!(
    entry!("response = ?1"),
    " UNION ",
    entry!("request = ?1 ORDER BY seq")
);

pub(super) const HEAD_OF_CALL: &str = "SELECT coalesce(max(seq), 0) FROM event WHERE call = ?1";

pub(super) const HEAD_OF_TASK: &str = "SELECT coalesce(max(seq), 0) FROM event WHERE task = ?1";

pub(super) const PROJECTION: &str =
    "SELECT seq, value FROM projection WHERE scope = ?1 AND id = ?2";

/// One question, so that the answers are of one moment. There is always a row; one
/// without a value says that no call is projected.
pub(super) const PROJECTION_COUNTS: &str = "\
    SELECT tree.projected = (SELECT coalesce(max(seq), 0) FROM event), counts.value, counts.calls \
    FROM tree LEFT JOIN (SELECT value, count(*) AS calls FROM projection \
    WHERE scope = 'call' GROUP BY value) AS counts ORDER BY counts.value";

pub(super) const RAW_AFTER: &str = "SELECT seq, leaf, salt, bytes, id, kind, cause, task, call, \
    attempt, unique_key, name, module, response, request \
    FROM event WHERE seq > ?1 ORDER BY seq LIMIT ?2";

pub(super) const GUARDS: &str =
    "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger' AND tbl_name = 'event'";

pub(super) const INTEGRITY: &str = "PRAGMA integrity_check(20)";

pub(super) const INSERT: &str = "INSERT INTO event(seq, leaf, salt, bytes, id, kind, cause, \
    task, call, attempt, unique_key, name, module, response, request) \
    VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15)";
