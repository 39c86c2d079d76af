//! Compiled code at rest: nothing opens but what this home sealed.

use model::Digest;
use runtime::{CacheError, CacheKey, Compiled, compile};

use crate::common::fixture::Fixture;
use crate::common::{limits, observation, sandbox};

/// Where the parts of an entry are, as they are written down.
const MAGIC: std::ops::Range<usize> = 0..8;
const ENGINE: std::ops::Range<usize> = 8..40;
const MODULE: std::ops::Range<usize> = 40..72;
const CONTRACT: usize = 72;
const LENGTH: std::ops::Range<usize> = 73..81;
const MAC: std::ops::Range<usize> = 81..113;

fn key() -> CacheKey {
    CacheKey::from_bytes([7; 32])
}

fn sealed() -> (Compiled, Vec<u8>) {
    let compiled = compile(&Fixture::interpreter().build()).unwrap();
    let entry = compiled.seal(&key()).unwrap();
    (compiled, entry)
}

#[test]
fn what_was_sealed_opens_and_runs() {
    let (compiled, entry) = sealed();
    let opened = Compiled::open(entry, &key(), compiled.module()).unwrap();
    assert_eq!(opened, compiled);
    let loaded = sandbox(limits()).interpreter(&opened).unwrap();
    assert!(loaded.interpret(&observation(b"{}"), None).is_ok());
}

#[test]
fn a_policy_opens_as_a_policy() {
    let compiled = compile(&Fixture::policy().build()).unwrap();
    let entry = compiled.seal(&key()).unwrap();
    let opened = Compiled::open(entry, &key(), compiled.module()).unwrap();
    assert_eq!(opened.contract(), compiled.contract());
    assert!(sandbox(limits()).policy(&opened).is_ok());
}

/// Opens an entry with one bit changed at a position.
fn altered(entry: &[u8], module: Digest, position: usize, bit: u8) -> CacheError {
    let mut entry = entry.to_vec();
    entry[position] ^= bit;
    Compiled::open(entry, &key(), module).unwrap_err()
}

#[test]
fn a_changed_bit_is_found_wherever_it_is() {
    let (compiled, entry) = sealed();
    let module = compiled.module();
    let mut tried = 0;
    for position in 0..MAC.end {
        for bit in [0x01, 0x80] {
            let error = altered(&entry, module, position, bit);
            let expected = match position {
                _ if MAGIC.contains(&position) => error == CacheError::Magic,
                _ if ENGINE.contains(&position) => error == CacheError::Engine,
                _ if MODULE.contains(&position) => {
                    matches!(error, CacheError::Module { expected, .. } if expected == module)
                }
                CONTRACT => error == CacheError::Authentication,
                _ if LENGTH.contains(&position) => {
                    matches!(error, CacheError::Length { found, .. }
                        if found == entry.len() - MAC.end)
                }
                _ => error == CacheError::Authentication,
            };
            assert!(expected, "{position}: {error}");
            tried += 1;
        }
    }
    // The code itself: every 7th byte, and each bit somewhere.
    for (index, position) in (MAC.end..entry.len()).step_by(7).enumerate() {
        let error = altered(&entry, module, position, 1 << (index % 8));
        assert_eq!(error, CacheError::Authentication, "{position}");
        tried += 1;
    }
    assert!(tried > 2_000, "{tried} changes were tried");
}

#[test]
fn a_shortened_or_lengthened_entry_is_found() {
    let (compiled, entry) = sealed();
    let module = compiled.module();
    for length in 0..MAC.end {
        let error = Compiled::open(entry[..length].to_vec(), &key(), module).unwrap_err();
        let (expected, found) = (MAC.end, length);
        assert_eq!(error, CacheError::Truncated { expected, found });
    }
    let code = entry.len() - MAC.end;
    let expected = u64::try_from(code).unwrap();
    for found in (0..code).step_by(101) {
        let cut = entry[..MAC.end + found].to_vec();
        let error = Compiled::open(cut, &key(), module).unwrap_err();
        assert_eq!(error, CacheError::Length { expected, found });
    }
    let longer = [entry.as_slice(), b"x"].concat();
    let found = code + 1;
    let error = Compiled::open(longer, &key(), module).unwrap_err();
    assert_eq!(error, CacheError::Length { expected, found });
    assert_eq!(
        error.to_string(),
        format!("cache entry holds {found} bytes of code, but states {expected}")
    );
}

#[test]
fn an_entry_of_another_home_does_not_open() {
    let (compiled, entry) = sealed();
    let other = CacheKey::from_bytes([8; 32]);
    let error = Compiled::open(entry, &other, compiled.module()).unwrap_err();
    assert_eq!(error, CacheError::Authentication);
    assert_eq!(
        error.to_string(),
        "cache entry does not authenticate under the key of this home"
    );
}

#[test]
fn an_entry_of_another_module_does_not_open() {
    let (compiled, entry) = sealed();
    let expected = Digest::of(b"another module");
    let found = compiled.module();
    let error = Compiled::open(entry, &key(), expected).unwrap_err();
    assert_eq!(error, CacheError::Module { expected, found });
    assert_eq!(
        error.to_string(),
        format!("cache entry is of module {found}, expected {expected}")
    );
}

#[test]
fn other_bytes_are_not_an_entry() {
    let module = Digest::of(b"");
    let open = |bytes: &[u8]| Compiled::open(bytes.to_vec(), &key(), module).unwrap_err();
    let (expected, found) = (MAC.end, 0);
    assert_eq!(open(b""), CacheError::Truncated { expected, found });
    assert_eq!(open(&[0; 4096]), CacheError::Magic);
    assert_eq!(open(b"\x7fELF".repeat(1000).as_slice()), CacheError::Magic);
}

#[test]
fn the_key_is_not_shown() {
    assert_eq!(format!("{:?}", key()), "CacheKey(..)");
}
