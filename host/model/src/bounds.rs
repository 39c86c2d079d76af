//! The bounds of what is written down (`docs/format.md`). Each is refused when
//! passed, never silently cut.

/// The largest integer that canonical JSON may carry: 2^53 - 1.
pub const INTEGER_MAX: u64 = 9_007_199_254_740_991;

/// The bytes of one event: 65,535 of a tree entry less the 32 of its salt.
pub const EVENT_BYTES_MAX: usize = 65_503;

/// The salt of one event.
pub const SALT_BYTES: usize = 32;

/// One kept header value, in bytes.
pub const HEADER_VALUE_BYTES_MAX: usize = 4 * 1024;

/// All kept headers of one response, names and values, in bytes.
pub const HEADERS_BYTES_MAX: usize = 16 * 1024;

/// Attempts of one call.
pub const ATTEMPTS_MAX: u32 = 64;

/// Checks that one acceptance may cite.
pub const CHECKS_MAX: usize = 64;

/// Reasons of one rejection.
pub const REASONS_MAX: usize = 256;

/// `provider_reason`, `model` and `response_id` inside an event, in bytes.
pub const PROVIDER_WORD_BYTES_MAX: usize = 256;

/// The body of one request or response, in bytes; also the input of a module.
pub const BODY_BYTES_MAX: usize = 64 << 20;

/// Request and response of one recorded attempt together, in bytes: what a module can
/// be given, less a mebibyte for headers and configuration. A longer response is cut.
pub const EXCHANGE_BYTES_MAX: usize = BODY_BYTES_MAX - (1 << 20);

/// The request of one recorded call, in bytes: it leaves room for a response.
pub const REQUEST_BYTES_MAX: usize = 48 << 20;

/// Names that people choose (actors, providers, titles, external ids), in bytes.
pub const NAME_BYTES_MAX: usize = 512;
