//! Time as it is written down: UTC, RFC 3339, milliseconds. Whoever needs the
//! present time is given a [`Clock`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// A moment in UTC with a resolution of one millisecond.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Timestamp(jiff::Timestamp);

/// Where the present time comes from, so that a run can be replayed.
pub trait Clock {
    /// Returns the present time.
    fn now(&self) -> Timestamp;
}

/// Why a text is not a time of this format.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("expected a time such as 2026-01-31T23:59:59.000Z, found another text")]
pub struct TimeError;

impl Timestamp {
    /// Makes a time from milliseconds since 1970; what lies outside of the
    /// years that can be written is moved to the nearest one that can.
    pub fn from_millisecond(millis: i64) -> Self {
        let nearest = if millis < 0 {
            jiff::Timestamp::MIN
        } else {
            jiff::Timestamp::MAX
        };
        Self(jiff::Timestamp::from_millisecond(millis).unwrap_or(nearest))
    }

    /// Reads the value of an HTTP `date` header, such as `Sat, 31 Jan 2026 23:59:59 GMT`.
    pub fn of_http_date(text: &str) -> Option<Self> {
        text.strip_suffix(" GMT")?;
        let parser = jiff::fmt::rfc2822::DateTimeParser::new();
        let parsed = parser.parse_timestamp(text).ok()?;
        Some(Self::from_millisecond(parsed.as_millisecond()))
    }

    /// Returns milliseconds since 1970.
    pub fn as_millisecond(self) -> i64 {
        self.0.as_millisecond()
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.3}", self.0)
    }
}

impl FromStr for Timestamp {
    type Err = TimeError;

    fn from_str(text: &str) -> Result<Self, TimeError> {
        let parsed: jiff::Timestamp = text.parse().map_err(|_error| TimeError)?;
        let time = Self::from_millisecond(parsed.as_millisecond());
        // One moment has one text: offsets, other precisions and lower case are refused.
        if time.to_string() == text {
            Ok(time)
        } else {
            Err(TimeError)
        }
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_has_three_decimals_and_one_text() {
        let time = Timestamp::from_millisecond(1_700_000_000_000);
        assert_eq!(time.to_string(), "2023-11-14T22:13:20.000Z");
        assert_eq!("2023-11-14T22:13:20.000Z".parse(), Ok(time));
        for other in [
            "2023-11-14T22:13:20Z",
            "2023-11-14T23:13:20.000+01:00",
            "yesterday",
        ] {
            assert_eq!(other.parse::<Timestamp>(), Err(TimeError), "{other}");
        }
    }
}
