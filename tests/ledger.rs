//! The ledger in the hands of somebody who has an SQLite shell and not this program.

use model::Digest;
use rusqlite::Connection;
use rusqlite::types::Value;

use crate::support::{TestHome, placed};

/// What somebody may know of the ledger without believing this program.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Rows {
    /// Every row of `event`, in order.
    pub(crate) events: Vec<Vec<Value>>,
    tree: Vec<Vec<Value>>,
}

/// Reads the rows that say what happened; caches are left out.
pub(crate) fn rows(home: &TestHome) -> Rows {
    let connection = open(home);
    Rows {
        events: select(&connection, "SELECT * FROM event ORDER BY seq"),
        tree: select(&connection, "SELECT size, edge FROM tree"),
    }
}

/// Returns how many events lie in the file.
pub(crate) fn row_count(home: &TestHome) -> u64 {
    let count = open(home).query_row("SELECT count(*) FROM event", [], |row| row.get(0));
    u64::try_from(count.unwrap_or(0_i64)).unwrap()
}

/// Returns the rows of a question.
pub(crate) fn select(connection: &Connection, question: &str) -> Vec<Vec<Value>> {
    let mut statement = connection.prepare(question).unwrap();
    let width = statement.column_count();
    statement
        .query_map([], |row| (0..width).map(|column| row.get(column)).collect())
        .unwrap()
        .collect::<Result<_, _>>()
        .unwrap()
}

/// Opens a home's ledger.
pub(crate) fn open(home: &TestHome) -> Connection {
    let connection = Connection::open(home.path().join("ledger.sqlite3")).unwrap();
    connection
        .busy_timeout(std::time::Duration::from_secs(20))
        .unwrap();
    connection
}

/// Changes a ledger behind its guards, and puts the guards back: what is found
/// afterwards is found by what the ledger holds.
pub(crate) struct Forger {
    connection: Connection,
    guards: Vec<String>,
}

impl Forger {
    /// Takes the guards away.
    pub(crate) fn open(home: &TestHome) -> Self {
        let connection = open(home);
        let guards = select(
            &connection,
            "SELECT name, sql FROM sqlite_schema WHERE type = 'trigger'",
        );
        let guards = guards
            .into_iter()
            .map(|row| {
                let [Value::Text(name), Value::Text(sql)] = <[Value; 2]>::try_from(row).unwrap()
                else {
                    panic!("a trigger without a name or a text")
                };
                connection
                    .execute_batch(&format!("DROP TRIGGER {name}"))
                    .unwrap();
                sql
            })
            .collect();
        Self { connection, guards }
    }

    /// Runs statements. `@2` in them is the second event after those of a new home.
    pub(crate) fn run(&self, statements: &str) -> &Self {
        self.connection.execute_batch(&placed(statements)).unwrap();
        self
    }

    /// Replaces a text in the bytes of an event.
    pub(crate) fn replace(&self, seq: u64, from: &str, to: &str) -> &Self {
        let bytes: Vec<u8> = self.blob(seq, "bytes");
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.contains(from), "event {seq} has no {from}: {text}");
        self.set(seq, "bytes", text.replacen(from, to, 1).as_bytes())
    }

    /// Flips one bit in the middle of a column of an event.
    pub(crate) fn flip(&self, seq: u64, column: &str) -> &Self {
        let mut bytes = self.blob(seq, column);
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        self.set(seq, column, &bytes)
    }

    fn set(&self, seq: u64, column: &str, bytes: &[u8]) -> &Self {
        let update = format!("UPDATE event SET {column} = ?1 WHERE seq = ?2");
        let seq = i64::try_from(seq).unwrap();
        assert_eq!(self.connection.execute(&update, (bytes, seq)).unwrap(), 1);
        self
    }

    fn blob(&self, seq: u64, column: &str) -> Vec<u8> {
        let question = format!("SELECT {column} FROM event WHERE seq = {seq}");
        self.connection
            .query_row(&question, [], |row| row.get(0))
            .unwrap()
    }

    /// Hashes every event again and makes the tree fit: the most that somebody can
    /// do who holds the file.
    pub(crate) fn seal(&self) -> &Self {
        let mut edge = Vec::new();
        let mut size: u64 = 0;
        let rows = select(
            &self.connection,
            "SELECT salt, bytes, seq FROM event ORDER BY seq",
        );
        for row in rows {
            let [Value::Blob(salt), Value::Blob(bytes), Value::Integer(seq)] =
                <[Value; 3]>::try_from(row).unwrap()
            else {
                panic!("an event without salt or bytes")
            };
            let leaf = Digest::of_parts(&[&[0], &salt, &bytes]);
            self.set(u64::try_from(seq).unwrap(), "leaf", leaf.as_bytes());
            push(&mut edge, size, leaf);
            size += 1;
        }
        let edge: Vec<u8> = edge.iter().flat_map(|root| *root.as_bytes()).collect();
        self.connection
            .execute(
                "UPDATE tree SET size = ?1, edge = ?2, projected = 0",
                (i64::try_from(size).unwrap(), edge),
            )
            .unwrap();
        self
    }
}

impl Drop for Forger {
    fn drop(&mut self) {
        for guard in &self.guards {
            self.connection.execute_batch(guard).ok();
        }
    }
}

/// Adds a leaf to the roots at the right edge of a tree, as `docs/format.md` says.
fn push(edge: &mut Vec<Digest>, size: u64, leaf: Digest) {
    let mut root = leaf;
    for _ in 0..size.trailing_ones() {
        let left = edge.pop().unwrap();
        root = Digest::of_parts(&[&[1], left.as_bytes(), root.as_bytes()]);
    }
    edge.push(root);
}
