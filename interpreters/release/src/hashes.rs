//! The table of released components.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

const HEADER: &str = "# label world sha256 toolchain source";
const TOOLCHAIN: &str = "rustc-1.95.0";
/// The bytes are built from the tree that the table stands in.
const SOURCE: &str = "tree";

/// One row, without the columns that are the same in each.
pub(crate) struct Entry {
    pub(crate) label: String,
    pub(crate) world: String,
    pub(crate) sha256: String,
}

/// Returns the hash of bytes, with its algorithm.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    let mut text = "sha256:".to_owned();
    for byte in Sha256::digest(bytes) {
        // Writing to a string does not fail.
        let _ignored = write!(text, "{byte:02x}");
    }
    text
}

/// Returns the table of these entries.
pub(crate) fn table(entries: &[&Entry]) -> String {
    let mut table = format!("{HEADER}\n");
    for Entry {
        label,
        world,
        sha256,
    } in entries
    {
        // Writing to a string does not fail.
        let _ignored = writeln!(table, "{label} {world} {sha256} {TOOLCHAIN} {SOURCE}");
    }
    table
}

/// Reads a table.
pub(crate) fn entries(table: &str) -> Result<Vec<Entry>, String> {
    let rows = table.lines().enumerate();
    let rows = rows.filter(|(_, line)| !line.starts_with('#') && !line.is_empty());
    rows.map(|(position, line)| entry(position + 1, line))
        .collect()
}

fn entry(number: usize, line: &str) -> Result<Entry, String> {
    let columns: Vec<&str> = line.split(' ').collect();
    match columns.as_slice() {
        [label, world, sha256, TOOLCHAIN, SOURCE] => Ok(Entry {
            label: (*label).to_owned(),
            world: (*world).to_owned(),
            sha256: (*sha256).to_owned(),
        }),
        _ => Err(format!(
            "HASHES line {number}: expected `<label> <world> <sha256> {TOOLCHAIN} {SOURCE}`, \
             found `{line}`"
        )),
    }
}
