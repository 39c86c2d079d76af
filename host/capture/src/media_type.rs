//! The media type of a body, from its `content-type`.

/// What a body is called when nothing trustworthy names its type.
pub const OCTET_STREAM: &str = "application/octet-stream";

/// One media type, in bytes: type and subtype of 127 each (RFC 6838) and the slash.
pub const MEDIA_TYPE_BYTES_MAX: usize = 255;

/// Returns the type and subtype of a `content-type` in lower case, without
/// parameters; none when it is not two tokens or passes its bound.
pub fn essence(content_type: &str) -> Option<String> {
    let essence = content_type.split(';').next()?.trim_matches([' ', '\t']);
    let (kind, subkind) = essence.split_once('/')?;
    let plain = is_token(kind.as_bytes()) && is_token(subkind.as_bytes());
    (plain && essence.len() <= MEDIA_TYPE_BYTES_MAX).then(|| essence.to_ascii_lowercase())
}

/// Returns the media type that kept headers name.
///
/// Several `content-type` headers that disagree name none.
pub fn of_headers(headers: &[(String, String)]) -> String {
    let mut types = headers
        .iter()
        .filter(|(name, _)| name == "content-type")
        .map(|(_, value)| essence(value));
    let first = types.next().flatten();
    match first {
        Some(first) if types.all(|other| other.as_ref() == Some(&first)) => first,
        _ => OCTET_STREAM.to_owned(),
    }
}

/// Returns whether `text` is a token of RFC 9110: what methods and header names are.
pub(crate) fn is_token(text: &[u8]) -> bool {
    let token = |byte: &u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(byte);
    !text.is_empty() && text.iter().all(token)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(values: &[&str]) -> String {
        let header = |value: &&str| ("content-type".to_owned(), (*value).to_owned());
        of_headers(&values.iter().map(header).collect::<Vec<_>>())
    }

    #[test]
    fn parameters_go_and_case_is_lowered() {
        assert_eq!(of(&["Application/JSON; charset=utf-8"]), "application/json");
        assert_eq!(of(&[" text/event-stream\t"]), "text/event-stream");
    }

    #[test]
    fn what_is_not_two_tokens_is_octets() {
        for text in ["", "json", "a/", "/b", "a/b/c", "a b/c", "a/b, c/d", "é/b"] {
            assert_eq!(of(&[text]), OCTET_STREAM, "{text}");
        }
        assert_eq!(of(&[]), OCTET_STREAM);
    }

    #[test]
    fn a_type_over_its_bound_is_octets() {
        let longest = format!("a/{}", "b".repeat(MEDIA_TYPE_BYTES_MAX - 2));
        assert_eq!(of(&[&longest]), longest);
        assert_eq!(of(&[&format!("{longest}b")]), OCTET_STREAM);
    }

    #[test]
    fn headers_that_disagree_name_no_type() {
        assert_eq!(of(&["a/b", "A/B; q=1"]), "a/b");
        assert_eq!(of(&["a/b", "c/d"]), OCTET_STREAM);
        assert_eq!(of(&["a/b", "?"]), OCTET_STREAM);
    }
}
