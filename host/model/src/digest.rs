//! SHA-256 digests, written `sha256:<64 lower-case hex>`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of some bytes: the only name that bytes have here.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Digest([u8; 32]);

/// Why a text is not a digest.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum DigestError {
    /// The prefix `sha256:` is absent.
    #[error("expected `sha256:` and 64 hex digits, found a text without that prefix")]
    Prefix,
    /// The number of hex digits is wrong.
    #[error("expected 64 hex digits, found {0} characters")]
    Length(usize),
    /// A character is not a lower-case hex digit.
    #[error("expected lower-case hex digits, found another character at position {0}")]
    Character(usize),
}

impl Digest {
    /// Returns the digest of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the digest of the concatenation of `parts`.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = Sha256::new();
        for part in parts {
            hasher.update(part);
        }
        Self(hasher.finalize().into())
    }

    /// Wraps 32 bytes that are already a SHA-256.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// Returns the 32 bytes.
    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Returns the 64 hex digits, without the prefix.
    pub fn to_hex(&self) -> String {
        const DIGITS: &[u8; 16] = b"0123456789abcdef";
        let mut text = String::with_capacity(64);
        for byte in self.0 {
            for nibble in [byte >> 4, byte & 15] {
                text.push(char::from(
                    DIGITS.get(usize::from(nibble)).copied().unwrap_or(b'?'),
                ));
            }
        }
        text
    }

    /// Parses 64 lower-case hex digits, without the prefix.
    pub fn from_hex(text: &str) -> Result<Self, DigestError> {
        if text.len() != 64 {
            return Err(DigestError::Length(text.chars().count()));
        }
        let mut bytes = [0; 32];
        for (position, character) in text.bytes().enumerate() {
            let nibble = match character {
                b'0'..=b'9' => character - b'0',
                b'a'..=b'f' => character - b'a' + 10,
                _ => return Err(DigestError::Character(position)),
            };
            if let Some(byte) = bytes.get_mut(position / 2) {
                *byte = (*byte << 4) | nibble;
            }
        }
        Ok(Self(bytes))
    }
}

/// Computes a digest of bytes that arrive in pieces.
#[derive(Debug, Default)]
pub struct Hasher(Sha256);

impl Hasher {
    /// Adds bytes.
    pub fn update(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    /// Returns the digest of all bytes added.
    pub fn finish(self) -> Digest {
        Digest(self.0.finalize().into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "sha256:{}", self.to_hex())
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Digest {
    type Err = DigestError;

    fn from_str(text: &str) -> Result<Self, DigestError> {
        Self::from_hex(text.strip_prefix("sha256:").ok_or(DigestError::Prefix)?)
    }
}

impl Serialize for Digest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Digest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_is_written_with_its_prefix_and_read_back() {
        let digest = Digest::of(b"abc");
        let text = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(digest.to_string(), text);
        assert_eq!(text.parse(), Ok(digest));
    }

    #[test]
    fn what_is_not_a_digest_is_refused_with_the_reason() {
        let hex = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(hex.parse::<Digest>(), Err(DigestError::Prefix));
        assert_eq!("sha256:ba".parse::<Digest>(), Err(DigestError::Length(2)));
        let upper = format!("sha256:{}", hex.to_uppercase());
        assert_eq!(upper.parse::<Digest>(), Err(DigestError::Character(0)));
    }

    #[test]
    fn parts_hash_like_their_concatenation() {
        assert_eq!(Digest::of_parts(&[b"a", b"bc"]), Digest::of(b"abc"));
        let mut hasher = Hasher::default();
        hasher.update(b"ab");
        hasher.update(b"c");
        assert_eq!(hasher.finish(), Digest::of(b"abc"));
    }
}
