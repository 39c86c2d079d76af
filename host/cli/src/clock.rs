//! The system's clock.

use model::Timestamp;
use model::time::Clock;

/// Reads the system's clock.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    #[expect(
        clippy::disallowed_methods,
        reason = "this is where the time comes from"
    )]
    fn now(&self) -> Timestamp {
        let since = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap_or_default();
        Timestamp::from_millisecond(i64::try_from(since.as_millis()).unwrap_or(i64::MAX))
    }
}
