//! Which response headers are kept, and within which bounds.
//!
//! The allow-list is that of the format; every other header is dropped without a
//! trace, since it may carry a credential. A kept header that passes a bound is
//! left out and only its name stands in `dropped`: a bound never fails an
//! observation.

use std::borrow::Cow;

use model::bounds::{HEADER_VALUE_BYTES_MAX, HEADERS_BYTES_MAX};

use crate::media_type::is_token;

/// The names that are kept.
pub const KEPT_NAMES: [&str; 11] = [
    "content-type",
    "content-encoding",
    "content-length",
    "transfer-encoding",
    "date",
    "retry-after",
    "request-id",
    "x-request-id",
    "openai-processing-ms",
    "x-amzn-errortype",
    "x-amzn-requestid",
];

/// The starts of further names that are kept.
pub const KEPT_PREFIXES: [&str; 4] = [
    "x-amzn-bedrock-",
    "ratelimit-",
    "x-ratelimit-",
    "anthropic-ratelimit-",
];

/// How many names `dropped` holds before one [`CUT`] stands for the rest.
pub const DROPPED_NAMES_MAX: usize = 32;

/// One name in `dropped`, in bytes, before it is cut and ends in [`CUT`].
pub const DROPPED_NAME_BYTES_MAX: usize = 128;

/// Stands where names or ends of names are left out. No header name holds it.
pub const CUT: &str = "…";

/// What is kept of the headers of one response.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Kept {
    /// Lower-case names with their values, in order, duplicates kept.
    pub headers: Vec<(String, String)>,
    /// Names on the allow-list that passed a bound, each once, in order.
    pub dropped: Vec<String>,
}

/// Returns what is kept of `headers`. A value that is not UTF-8 is written one
/// code point per byte.
pub fn keep<'a>(headers: impl IntoIterator<Item = (&'a [u8], &'a [u8])>) -> Kept {
    let mut keeper = Keeper::default();
    for (name, value) in headers {
        if let Some(name) = kept_name(name) {
            keeper.push(name, &text_of(value));
        }
    }
    keeper.finish()
}

impl Kept {
    /// Leaves out each header whose value holds one of these texts; its name stays
    /// among the dropped ones. A peer may echo what it was sent.
    pub fn drop_holding(&mut self, secrets: &[&str]) {
        let kept = std::mem::take(&mut self.headers);
        for (name, value) in kept {
            if secrets.iter().any(|secret| value.contains(secret)) {
                drop_name(&mut self.dropped, &name);
            } else {
                self.headers.push((name, value));
            }
        }
    }
}

/// Returns the lower-case name when a header of this name is kept.
pub fn kept_name(name: &[u8]) -> Option<String> {
    let starts_with = |prefix: &&str| {
        name.get(..prefix.len())
            .is_some_and(|start| start.eq_ignore_ascii_case(prefix.as_bytes()))
    };
    let named = |kept: &&str| name.eq_ignore_ascii_case(kept.as_bytes());
    let listed = KEPT_NAMES.iter().any(named) || KEPT_PREFIXES.iter().any(starts_with);
    if !listed || !is_token(name) {
        return None;
    }
    let mut name = String::from_utf8(name.to_vec()).ok()?;
    name.make_ascii_lowercase();
    Some(name)
}

fn text_of(value: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(value) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => value.iter().copied().map(char::from).collect(),
    }
}

/// Applies the bounds to headers whose names are kept.
#[derive(Debug, Default)]
pub(crate) struct Keeper {
    kept: Kept,
    bytes: usize,
}

impl Keeper {
    /// Adds a header, or its name alone when it passes a bound.
    pub(crate) fn push(&mut self, name: String, value: &str) {
        let value_bytes = written_bytes(value);
        let bytes = self.bytes + name.len() + value_bytes;
        if value_bytes > HEADER_VALUE_BYTES_MAX || bytes > HEADERS_BYTES_MAX {
            drop_name(&mut self.kept.dropped, &name);
        } else {
            self.bytes = bytes;
            self.kept.headers.push((name, value.to_owned()));
        }
    }

    /// Returns what was kept.
    pub(crate) fn finish(self) -> Kept {
        self.kept
    }
}

/// Returns the bytes of a value, a control character counted as the six of its
/// escape: otherwise 16 KiB of them would not fit into an event.
fn written_bytes(value: &str) -> usize {
    let bytes = |character: char| match character {
        '\u{8}' | '\t' | '\n' | '\u{c}' | '\r' => 2,
        '\0'..='\u{1f}' => 6,
        other => other.len_utf8(),
    };
    value.chars().map(bytes).sum()
}

/// Adds a name once, cut to its bound; the list itself ends in one mark.
pub(crate) fn drop_name(dropped: &mut Vec<String>, name: &str) {
    let name = match name.get(..DROPPED_NAME_BYTES_MAX) {
        Some(start) if start.len() < name.len() => format!("{start}{CUT}"),
        _ => name.to_owned(),
    };
    if dropped.len() > DROPPED_NAMES_MAX || dropped.contains(&name) {
        return;
    }
    if dropped.len() == DROPPED_NAMES_MAX {
        dropped.push(CUT.to_owned());
    } else {
        dropped.push(name);
    }
}

#[cfg(test)]
mod tests {
    use model::bounds::EVENT_BYTES_MAX;
    use model::event::attempt::AttemptObserved;
    use model::exchange::TransportOutcome;
    use proptest::prelude::*;

    use super::*;

    fn kept(headers: &[(&str, &str)]) -> Kept {
        keep(
            headers
                .iter()
                .map(|(name, value)| (name.as_bytes(), value.as_bytes())),
        )
    }

    fn owned(headers: &[(&str, &str)]) -> Vec<(String, String)> {
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        headers.iter().map(pair).collect()
    }

    #[test]
    fn every_listed_name_is_kept_in_lower_case() {
        for name in KEPT_NAMES {
            let found = kept_name(name.to_uppercase().as_bytes());
            assert_eq!(found.as_deref(), Some(name));
        }
        for prefix in KEPT_PREFIXES {
            let name = format!("{prefix}tokens");
            assert_eq!(
                kept_name(name.to_uppercase().as_bytes()),
                Some(name.clone())
            );
        }
    }

    #[test]
    fn every_other_name_is_dropped_without_a_trace() {
        for name in [
            "authorization",
            "set-cookie",
            "x-api-key",
            "cf-ray",
            "content-type ",
            "x-content-type",
            "xratelimit-a",
            "x-ratelimit-\u{e9}",
            "x-ratelimit-a b",
            "",
        ] {
            assert_eq!(kept(&[(name, "v")]), Kept::default(), "{name}");
        }
    }

    #[test]
    fn order_and_duplicates_stay() {
        let found = kept(&[("Date", "1"), ("Retry-After", "2"), ("date", "3")]);
        assert_eq!(
            found.headers,
            owned(&[("date", "1"), ("retry-after", "2"), ("date", "3")])
        );
    }

    #[test]
    fn a_value_that_is_not_utf8_is_one_code_point_per_byte() {
        let found = keep([(b"date".as_slice(), b"\xe9\xff a".as_slice())]);
        assert_eq!(found.headers, owned(&[("date", "\u{e9}\u{ff} a")]));
        let found = keep([(b"date".as_slice(), "\u{e9}".as_bytes())]);
        assert_eq!(found.headers, owned(&[("date", "\u{e9}")]));
    }

    #[test]
    fn a_value_over_its_bound_leaves_only_its_name() {
        let longest = "a".repeat(HEADER_VALUE_BYTES_MAX);
        assert_eq!(
            kept(&[("date", &longest)]).headers,
            owned(&[("date", &longest)])
        );
        let found = kept(&[
            ("date", &format!("{longest}a")),
            ("request-id", "r"),
            ("date", &format!("{longest}b")),
        ]);
        assert_eq!(found.headers, owned(&[("request-id", "r")]));
        assert_eq!(found.dropped, ["date"]);
    }

    #[test]
    fn a_header_that_does_not_fit_the_whole_is_left_out_and_a_shorter_one_still_fits() {
        let value = "a".repeat(4000);
        let mut headers = vec![("date", value.as_str()); 4];
        let rest = "b".repeat(HEADERS_BYTES_MAX - 4 * 4004 - 10);
        headers.push(("request-id", value.as_str()));
        headers.push(("request-id", rest.as_str()));
        headers.push(("retry-after", ""));
        let found = kept(&headers);
        assert_eq!(found.headers.len(), 5);
        assert_eq!(
            found.headers.last(),
            Some(&("request-id".to_owned(), rest.clone()))
        );
        assert_eq!(found.dropped, ["request-id", "retry-after"]);
    }

    #[test]
    fn a_long_dropped_name_is_cut_and_says_so() {
        let name = format!("ratelimit-{}", "a".repeat(200));
        let value = "v".repeat(HEADER_VALUE_BYTES_MAX + 1);
        let start = &name[..DROPPED_NAME_BYTES_MAX];
        assert_eq!(kept(&[(&name, &value)]).dropped, [format!("{start}…")]);
        assert_eq!(kept(&[(start, &value)]).dropped, [start]);
    }

    #[test]
    fn the_list_of_dropped_names_ends_in_one_mark() {
        let value = "v".repeat(HEADER_VALUE_BYTES_MAX + 1);
        let names: Vec<String> = (0..100).map(|index| format!("ratelimit-{index}")).collect();
        let headers: Vec<(&str, &str)> = names
            .iter()
            .map(|name| (name.as_str(), value.as_str()))
            .collect();
        let dropped = kept(&headers).dropped;
        assert_eq!(dropped[..DROPPED_NAMES_MAX], names[..DROPPED_NAMES_MAX]);
        assert_eq!(dropped[DROPPED_NAMES_MAX..], [CUT]);
    }

    /// Returns the length of an event's body that holds `kept` and the longest
    /// of everything else that a source chooses.
    fn observed_bytes(kept: Kept) -> usize {
        let observed = AttemptObserved {
            index: 1,
            provider: Some("\"".repeat(model::bounds::NAME_BYTES_MAX)),
            dialect: "gemini.generate_content".into(),
            endpoint: "\"".repeat(crate::endpoint::ENDPOINT_BYTES_MAX),
            transport_outcome: TransportOutcome::ResponseReceived,
            http_status: Some(200),
            headers: kept.headers,
            headers_dropped: kept.dropped,
            exception_type: None,
            request_body_artifact: None,
            response_body_artifact: None,
        };
        serde_json::to_vec(&observed).unwrap().len()
    }

    #[test]
    fn the_worst_headers_fit_into_an_event() {
        let dropped: Vec<(String, String)> = (10..50)
            .map(|index| format!("ratelimit-{index}{}", "a".repeat(200)))
            .map(|name| (name, "v".repeat(HEADER_VALUE_BYTES_MAX + 1)))
            .collect();
        for value in [
            "",
            "\"",
            "\u{1}",
            "\u{1}\u{1}\u{1}\u{1}\u{1}",
            "\n",
            "\u{e9}",
        ] {
            for repeat in [1, 100, 600, 5000] {
                let value = value.repeat(repeat);
                let mut headers = dropped.clone();
                headers.extend(vec![("date".to_owned(), value); 5000]);
                let found = keep(
                    headers
                        .iter()
                        .map(|(name, value)| (name.as_bytes(), value.as_bytes())),
                );
                assert_eq!(found.dropped.len(), DROPPED_NAMES_MAX + 1);
                // The rest is the envelope, the actor, two references and a signature.
                assert!(observed_bytes(found) + 4096 <= EVENT_BYTES_MAX);
            }
        }
    }

    proptest! {
        #[test]
        fn any_headers_stay_within_the_bounds(
            headers in proptest::collection::vec(
                (
                    prop_oneof![Just("date".to_owned()), "x-ratelimit-[a-z]{0,300}", ".*"],
                    proptest::collection::vec(any::<u8>(), 0..6000),
                ),
                0..20,
            )
        ) {
            let found = keep(
                headers.iter().map(|(name, value)| (name.as_bytes(), value.as_slice())),
            );
            let bytes: usize =
                found.headers.iter().map(|(name, value)| name.len() + value.len()).sum();
            prop_assert!(bytes <= HEADERS_BYTES_MAX);
            prop_assert!(found.headers.iter().all(|(_, v)| v.len() <= HEADER_VALUE_BYTES_MAX));
            prop_assert!(observed_bytes(found) + 4096 <= EVENT_BYTES_MAX);
        }
    }
}
