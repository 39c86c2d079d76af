//! The table of released components.

use std::fmt::Write as _;

use sha2::{Digest as _, Sha256};

const HEADER: &str = "# label world sha256 toolchain source";
/// The compiler that gives these bytes.
pub(crate) const TOOLCHAIN: &str = "rustc-1.95.0";
/// The bytes are built from the tree that the table stands in.
const SOURCE: &str = "tree";

/// One row, without the columns that are the same in each.
#[derive(Debug, Clone, PartialEq, Eq)]
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

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> [Entry; 2] {
        ["a-v1", "b-v2"].map(|label| Entry {
            label: label.to_owned(),
            world: "policy".to_owned(),
            sha256: sha256(label.as_bytes()),
        })
    }

    #[test]
    fn a_table_that_is_written_is_read_as_the_same_rows() {
        let [first, second] = rows();
        let table = table(&[&first, &second]);
        assert_eq!(entries(&table), Ok(vec![first, second]));
    }

    #[test]
    fn a_hash_names_its_algorithm() {
        let expected = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(sha256(b""), expected);
    }

    #[test]
    fn a_row_of_another_toolchain_is_refused_by_its_number() {
        let [first, _] = rows();
        let table = table(&[&first]).replace(TOOLCHAIN, "rustc-1.94.0");
        let refused = entries(&table).unwrap_err();
        assert!(refused.starts_with("HASHES line 2: expected "), "{refused}");
    }
}
