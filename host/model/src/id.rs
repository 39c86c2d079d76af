//! Identifiers: UUIDs of version 7, one type per thing that is named.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::time::Timestamp;

/// Why a text is not an identifier.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a UUID such as 0190a6c2-7c00-7000-8000-000000000000, found another text")]
pub struct IdError;

macro_rules! id_type {
    ($(#[doc = $doc:literal] $name:ident),+ $(,)?) => {$(
        #[doc = $doc]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(Uuid);

        impl $name {
            /// Makes an identifier from a time and ten random bytes.
            pub fn new(at: Timestamp, random: [u8; 10]) -> Self {
                let millis = at.as_millisecond().unsigned_abs();
                Self(uuid::Builder::from_unix_timestamp_millis(millis, &random).into_uuid())
            }

            /// Wraps the 16 bytes of an identifier.
            pub const fn from_bytes(bytes: [u8; 16]) -> Self {
                Self(Uuid::from_bytes(bytes))
            }

            /// Returns the 16 bytes.
            pub const fn as_bytes(&self) -> &[u8; 16] {
                self.0.as_bytes()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl FromStr for $name {
            type Err = IdError;

            fn from_str(text: &str) -> Result<Self, IdError> {
                // Only the hyphenated form: braces, URNs and bare hex would give
                // one record several names.
                if text.len() != 36 {
                    return Err(IdError);
                }
                Uuid::try_parse(text).map(Self).map_err(|_error| IdError)
            }
        }
    )+};
}

id_type! {
    /// The ledger of one home.
    LedgerId,
    /// One event; an interpretation is named by its event.
    EventId,
    /// A piece of work.
    TaskId,
    /// One question to a provider.
    CallId,
    /// One HTTP exchange made for a call.
    AttemptId,
}
