//! The endpoint of a request: its path, and nothing that may carry a credential.
//!
//! Query, fragment, scheme, userinfo and host are removed. Where a text could be
//! read in two ways, the reading that removes more is taken, or none at all.

use std::borrow::Cow;

/// One endpoint, in bytes: far above any provider's path, far below an event.
pub const ENDPOINT_BYTES_MAX: usize = 1024;

/// Why a text is not an endpoint. Holds nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum EndpointError {
    /// The path passes its bound. Cutting it would make another path of it.
    #[error("expected a path of at most {ENDPOINT_BYTES_MAX} bytes, found more")]
    TooLong,
    /// The path holds a control character, which no HTTP request can carry.
    #[error("expected a path without control characters, found one")]
    ControlCharacter,
    /// The text starts with neither `/` nor a scheme, and may start with a host.
    #[error("expected a path that starts with `/` or a URL, found a text that may name a host")]
    MayNameHost,
}

/// Returns the path of a request target, a URL or a relative path.
///
/// The path starts with exactly one `/`. A target that starts with `//` names a
/// host (RFC 3986, section 4.2), so its first segment is removed. An encoded `?`
/// or `#` ends the path like a plain one, and the userinfo of a URL that stands
/// inside the path (as forwarding proxies take it) is removed.
pub fn redacted(target: &str) -> Result<String, EndpointError> {
    let path = path_of(before_query(target))?;
    let path = without_inner_userinfo(path.trim_start_matches('/'));
    if path.len() >= ENDPOINT_BYTES_MAX {
        return Err(EndpointError::TooLong);
    }
    if path.chars().any(char::is_control) {
        return Err(EndpointError::ControlCharacter);
    }
    Ok(format!("/{path}"))
}

fn before_query(target: &str) -> &str {
    let mut path = target;
    for mark in ["?", "#", "%3F", "%3f", "%23"] {
        path = path.split_once(mark).map_or(path, |(before, _)| before);
    }
    path
}

fn path_of(target: &str) -> Result<&str, EndpointError> {
    if let Some((scheme, rest)) = target.split_once("://")
        && is_scheme(scheme)
    {
        return Ok(after_authority(rest));
    }
    if let Some(rest) = target.strip_prefix("//") {
        return Ok(after_authority(rest));
    }
    let first_segment = target.split('/').next().unwrap_or_default();
    if first_segment.contains(['@', ':', '.', '[']) {
        return Err(EndpointError::MayNameHost);
    }
    Ok(target)
}

fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text
            .chars()
            .all(|other| other.is_ascii_alphanumeric() || "+-.".contains(other))
}

fn after_authority(rest: &str) -> &str {
    rest.split_once('/').map_or("", |(_, path)| path)
}

/// Removes `user:password@` from each segment that follows one ending in `:`.
fn without_inner_userinfo(path: &str) -> Cow<'_, str> {
    if !path.contains('@') {
        return Cow::Borrowed(path);
    }
    let mut follows_scheme = false;
    let segments: Vec<&str> = path
        .split('/')
        .map(|segment| {
            let kept = match segment.rsplit_once('@') {
                Some((_, host)) if follows_scheme => host,
                _ => segment,
            };
            // An empty segment is the second slash of `://`.
            if !segment.is_empty() {
                follows_scheme = segment.ends_with(':');
            }
            kept
        })
        .collect();
    Cow::Owned(segments.join("/"))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(target: &str, endpoint: &str) {
        assert_eq!(redacted(target).as_deref(), Ok(endpoint), "{target}");
    }

    #[test]
    fn a_path_stays_as_it_is() {
        check("/v1/chat/completions", "/v1/chat/completions");
        check(
            "/v1beta/models/gemini-2.5-pro:generateContent",
            "/v1beta/models/gemini-2.5-pro:generateContent",
        );
        check(
            "/model/us.amazon.nova-lite-v1:0/converse",
            "/model/us.amazon.nova-lite-v1:0/converse",
        );
        check("/@scope/models/", "/@scope/models/");
    }

    #[test]
    fn query_and_fragment_are_removed() {
        check("/v1/models?key=secret", "/v1/models");
        check("/v1/models#secret", "/v1/models");
        check("/v1/models#a?key=secret", "/v1/models");
        check("/v1/models%3Fkey=secret", "/v1/models");
        check("/v1/models%3fkey=secret%23", "/v1/models");
        check("?key=secret", "/");
    }

    #[test]
    fn scheme_userinfo_and_host_are_removed() {
        check("https://api.example.com/v1/messages", "/v1/messages");
        check("HTTPS://u:secret@api.example.com:8443/v1?x#y", "/v1");
        check("https://u:secret@api.example.com", "/");
        check("https://u:sec?ret@api.example.com/v1", "/");
        check("//u:secret@api.example.com/v1/messages", "/v1/messages");
        check("https://api.example.com//v1//messages", "/v1//messages");
    }

    #[test]
    fn the_userinfo_of_a_url_inside_the_path_is_removed() {
        check(
            "/proxy/https://u:secret@api.example.com/v1",
            "/proxy/https://api.example.com/v1",
        );
        check(
            "/https:/u:se@cret@api.example.com/v1",
            "/https:/api.example.com/v1",
        );
    }

    #[test]
    fn a_relative_path_gets_its_slash_and_a_possible_host_is_refused() {
        check("v1/chat/completions", "/v1/chat/completions");
        check("", "/");
        for host in [
            "api.example.com/v1",
            "u:secret@host/v1",
            "host:443",
            "[::1]/v1",
        ] {
            assert_eq!(redacted(host), Err(EndpointError::MayNameHost), "{host}");
        }
    }

    #[test]
    fn the_bound_is_counted_after_the_query_is_gone() {
        let longest = format!("/{}", "a".repeat(ENDPOINT_BYTES_MAX - 1));
        check(&longest, &longest);
        check(&format!("{longest}?{longest}"), &longest);
        assert_eq!(
            redacted(&format!("{longest}a")),
            Err(EndpointError::TooLong)
        );
    }

    #[test]
    fn a_control_character_is_refused() {
        assert_eq!(redacted("/v1\n"), Err(EndpointError::ControlCharacter));
        assert_eq!(
            redacted("/v1\u{9b}2J"),
            Err(EndpointError::ControlCharacter)
        );
    }

    proptest! {
        #[test]
        fn an_endpoint_is_its_own_endpoint(target in "[a-z0-9@:/?#.%\\[ ]{0,40}") {
            if let Ok(endpoint) = redacted(&target) {
                prop_assert!(endpoint.starts_with('/'));
                prop_assert!(!endpoint.contains(['?', '#']));
                prop_assert_eq!(redacted(&endpoint), Ok(endpoint.clone()));
            }
        }

        #[test]
        fn any_text_is_answered(target in any::<String>()) {
            if let Ok(endpoint) = redacted(&target) {
                prop_assert!(endpoint.len() <= ENDPOINT_BYTES_MAX);
            }
        }
    }
}
