//! Names that people and modules choose, checked once where they enter.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize};

use crate::Digest;
use crate::bounds::NAME_BYTES_MAX;

/// A module's name, bound to one hash: `attempt-interpretation-v2`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Label(String);

/// Why a text is not a label.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a label of 1 to 64 bytes of a-z, 0-9, `-`, `_` and `.`, starting with a letter \
     or a digit, found {0:?}"
)]
pub struct LabelError(pub String);

impl Label {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Label {
    type Err = LabelError;

    fn from_str(text: &str) -> Result<Self, LabelError> {
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit();
        let first = text.bytes().next().is_some_and(plain);
        let rest = text
            .bytes()
            .all(|byte| plain(byte) || b"-_.".contains(&byte));
        if first && rest && text.len() <= 64 {
            Ok(Self(text.to_owned()))
        } else {
            Err(LabelError(text.chars().take(80).collect()))
        }
    }
}

impl fmt::Display for Label {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Label {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// A module as an event names it: its label and the hash of its bytes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mod {
    /// The name.
    pub label: Label,
    /// The identity.
    pub sha256: Digest,
}

impl fmt::Display for Mod {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.label, self.sha256)
    }
}

/// Who did something. A name, not a proof of identity.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(transparent)]
pub struct Actor(String);

/// Why a text is not an actor's name.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected an actor's name of 1 to {NAME_BYTES_MAX} bytes without control characters, \
     found {0:?}"
)]
pub struct ActorError(pub String);

impl Actor {
    /// Returns the text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Actor {
    type Err = ActorError;

    fn from_str(text: &str) -> Result<Self, ActorError> {
        if text.is_empty() || text.len() > NAME_BYTES_MAX || text.chars().any(char::is_control) {
            return Err(ActorError(text.chars().take(80).collect()));
        }
        Ok(Self(text.to_owned()))
    }
}

impl fmt::Display for Actor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for Actor {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_label_is_short_plain_text() {
        assert!("attempt-interpretation-v2".parse::<Label>().is_ok());
        for bad in ["", "-v2", "Upper", "a b", "é", &"a".repeat(65)] {
            let found = bad.chars().take(80).collect();
            assert_eq!(bad.parse::<Label>(), Err(LabelError(found)), "{bad}");
        }
    }

    #[test]
    fn an_actor_has_no_control_characters() {
        assert!("Ada Lovelace".parse::<Actor>().is_ok());
        assert_eq!("a\nb".parse::<Actor>(), Err(ActorError("a\nb".into())));
        assert_eq!("".parse::<Actor>(), Err(ActorError(String::new())));
    }
}
