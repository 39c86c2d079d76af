//! How a provider is asked: where the request goes and which headers it carries.
//!
//! The rules of the three dialects are those of the providers' own clients: the base
//! URL is what their environment variables hold (`OPENAI_BASE_URL` ends in `/v1`,
//! `ANTHROPIC_BASE_URL` does not). A credential stands in the headers of the prepared
//! request and nowhere else.

use std::collections::BTreeMap;
use std::fmt;

use crate::media_type::is_token;
use crate::target::Target;

/// The version of the messages API that requests are written for.
const ANTHROPIC_VERSION: &str = "2023-06-01";

/// How many headers this program sets itself before any that may be a credential.
const PLAIN_HEADERS: usize = 6;

/// What configuration says of a provider.
#[derive(Debug, Clone, Copy)]
pub struct Settings<'a> {
    /// The dialect's own name.
    pub dialect: &'a str,
    /// The URL that paths are put after.
    pub base_url: &'a str,
    /// The path, and a query where one is needed, in place of the dialect's.
    pub path: Option<&'a str>,
    /// The header that carries the key, in place of the dialect's.
    pub key_header: Option<&'a str>,
    /// Further headers.
    pub headers: &'a BTreeMap<String, String>,
}

/// Why a provider cannot be asked. Holds no value, which may be secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ProviderError {
    /// The dialect has no path of its own and none is given.
    #[error("dialect {0} has no path of its own: expected `path`")]
    NoPath(String),
    /// The base URL has a query or a fragment, which paths cannot be put after.
    #[error("base_url: expected a URL without a query and a fragment; a query goes into `path`")]
    BaseQuery,
    /// The base URL and the path make no URL.
    #[error("base_url and path: {0}")]
    Target(#[from] crate::target::TargetError),
    /// A header has a name that no header can have.
    #[error("headers: expected names of letters, digits and hyphens, found another")]
    HeaderName,
    /// A header is sent by this program itself.
    #[error("headers or key_header: {0} is set by this program")]
    HeaderTaken(String),
    /// A header has a value that no header can have.
    #[error("headers: the value of {0} holds a byte that no header can carry")]
    HeaderValue(String),
    /// The key holds a byte that no header can carry.
    #[error("the key is empty or holds a byte that no header can carry")]
    Key,
}

/// A request but for its body. Its headers may hold a credential.
#[derive(Clone)]
pub struct Prepared {
    target: Target,
    headers: Vec<(String, String)>,
}

impl fmt::Debug for Prepared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Prepared")
            .field("url", &self.target.redacted())
            .field("header_names", &self.header_names())
            .finish_non_exhaustive()
    }
}

impl Settings<'_> {
    /// Returns where requests go.
    pub fn target(&self) -> Result<Target, ProviderError> {
        let path = match (self.path, self.dialect) {
            (Some(path), _) => path,
            (None, "openai.chat") => "/chat/completions",
            (None, "openai.responses") => "/responses",
            (None, "anthropic.messages") => "/v1/messages",
            (None, other) => return Err(ProviderError::NoPath(other.to_owned())),
        };
        if self.base_url.contains(['?', '#']) {
            return Err(ProviderError::BaseQuery);
        }
        let base = self.base_url.trim_end_matches('/');
        let slash = if path.starts_with('/') { "" } else { "/" };
        Ok(Target::parse(&format!("{base}{slash}{path}"))?)
    }

    /// Prepares a request whose body has this length, with the key where one is used.
    pub fn prepare(&self, body_bytes: usize, key: Option<&str>) -> Result<Prepared, ProviderError> {
        let target = self.target()?;
        let agent = concat!("reread/", env!("CARGO_PKG_VERSION"));
        let plain: [(&str, String); PLAIN_HEADERS] = [
            ("host", target.authority()),
            ("user-agent", agent.to_owned()),
            ("accept", "*/*".to_owned()),
            ("connection", "close".to_owned()),
            ("content-type", "application/json".to_owned()),
            ("content-length", body_bytes.to_string()),
        ];
        let mut headers: Vec<_> = plain
            .into_iter()
            .map(|(name, value)| (name.to_owned(), value))
            .collect();
        if let Some(key) = key {
            let (name, value) = self.key(key)?;
            free(&name, &headers)?;
            headers.push((name, value));
        }
        if self.dialect == "anthropic.messages" && !self.names("anthropic-version") {
            let version = ("anthropic-version".to_owned(), ANTHROPIC_VERSION.to_owned());
            headers.push(version);
        }
        if let Some(name) = self.key_header {
            let named = header_name(name)?;
            // The key itself stands there already.
            let sent = headers.iter().filter(|_| key.is_none());
            free(&named, &sent.cloned().collect::<Vec<_>>())?;
        }
        for (name, value) in self.headers {
            let name = header_name(name)?;
            free(&name, &headers)?;
            if !is_value(value) {
                return Err(ProviderError::HeaderValue(name));
            }
            headers.push((name, value.clone()));
        }
        Ok(Prepared { target, headers })
    }

    fn key(&self, key: &str) -> Result<(String, String), ProviderError> {
        if key.is_empty() || !is_value(key) {
            return Err(ProviderError::Key);
        }
        let (name, value) = match (self.key_header, self.dialect) {
            (Some(name), _) => (header_name(name)?, key.to_owned()),
            (None, "anthropic.messages" | "anthropic.complete") => {
                ("x-api-key".to_owned(), key.to_owned())
            }
            (None, _) => ("authorization".to_owned(), format!("Bearer {key}")),
        };
        Ok((name, value))
    }

    fn names(&self, name: &str) -> bool {
        self.headers
            .keys()
            .any(|key| key.eq_ignore_ascii_case(name))
    }
}

impl Prepared {
    /// The HTTP method: always `POST`.
    pub const METHOD: &'static str = "POST";

    /// Returns where the request goes.
    pub const fn target(&self) -> &Target {
        &self.target
    }

    /// Returns the headers with their values, in the order in which they are sent.
    pub fn headers(&self) -> &[(String, String)] {
        &self.headers
    }

    /// Returns what of the request is a credential or may be one: the key and the
    /// values of configured headers, if they are long enough to be told from words.
    pub fn secrets(&self) -> Vec<&str> {
        const SECRET_BYTES_MIN: usize = 8;
        let values = self
            .headers
            .iter()
            .skip(PLAIN_HEADERS)
            .map(|(name, value)| {
                let bearer = value
                    .strip_prefix("Bearer ")
                    .filter(|_| name == "authorization");
                bearer.unwrap_or(value)
            });
        values
            .filter(|value| value.len() >= SECRET_BYTES_MIN && *value != ANTHROPIC_VERSION)
            .collect()
    }

    /// Returns the names of the headers in that order.
    pub fn header_names(&self) -> Vec<String> {
        self.headers.iter().map(|(name, _)| name.clone()).collect()
    }
}

/// Refuses a header that is sent already, or that would change the framing.
fn free(name: &str, headers: &[(String, String)]) -> Result<(), ProviderError> {
    if headers.iter().any(|(taken, _)| taken == name) || name == "transfer-encoding" {
        return Err(ProviderError::HeaderTaken(name.to_owned()));
    }
    Ok(())
}

fn header_name(name: &str) -> Result<String, ProviderError> {
    if is_token(name.as_bytes()) {
        Ok(name.to_ascii_lowercase())
    } else {
        Err(ProviderError::HeaderName)
    }
}

/// Visible ASCII, blanks and tabs inside.
fn is_value(value: &str) -> bool {
    let plain = |byte: u8| byte == b'\t' || (b' '..=b'~').contains(&byte);
    value.bytes().all(plain) && value.trim() == value
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settings<'a>(dialect: &'a str, headers: &'a BTreeMap<String, String>) -> Settings<'a> {
        Settings {
            dialect,
            base_url: "http://127.0.0.1:9/v1/",
            path: None,
            key_header: None,
            headers,
        }
    }

    #[test]
    fn each_dialect_has_its_path_and_its_key_header() {
        let none = BTreeMap::new();
        for (dialect, path, key, value) in [
            (
                "openai.chat",
                "/v1/chat/completions",
                "authorization",
                "Bearer k",
            ),
            (
                "openai.responses",
                "/v1/responses",
                "authorization",
                "Bearer k",
            ),
            ("anthropic.messages", "/v1/v1/messages", "x-api-key", "k"),
        ] {
            let prepared = settings(dialect, &none).prepare(7, Some("k")).unwrap();
            assert_eq!(prepared.target().path_and_query(), path);
            let sent = (key.to_owned(), value.to_owned());
            assert!(prepared.headers().contains(&sent), "{dialect}");
            let versioned = prepared
                .header_names()
                .contains(&"anthropic-version".to_owned());
            assert_eq!(versioned, dialect == "anthropic.messages");
        }
    }

    #[test]
    fn a_dialect_without_a_path_needs_one() {
        let none = BTreeMap::new();
        let mut gemini = settings("gemini.generate_content", &none);
        let refused = gemini.prepare(0, None).unwrap_err();
        let expected = ProviderError::NoPath("gemini.generate_content".to_owned());
        assert_eq!(refused, expected);
        gemini.path = Some("m:generateContent?alt=json");
        let prepared = gemini.prepare(0, None).unwrap();
        let sent = prepared.target().path_and_query();
        assert_eq!(sent, "/v1/m:generateContent?alt=json");
    }

    #[test]
    fn a_key_or_header_that_no_request_can_carry_is_refused_without_its_value() {
        let none = BTreeMap::new();
        for key in ["", "a\nb", "a\r\nx: y", " a", "é"] {
            let refused = settings("openai.chat", &none).prepare(0, Some(key));
            assert_eq!(refused.unwrap_err(), ProviderError::Key, "{key:?}");
        }
        for (name, value, error) in [
            ("a b", "v", ProviderError::HeaderName),
            ("Host", "v", ProviderError::HeaderTaken("host".to_owned())),
            (
                "Content-Length",
                "1",
                ProviderError::HeaderTaken("content-length".to_owned()),
            ),
            (
                "Transfer-Encoding",
                "chunked",
                ProviderError::HeaderTaken("transfer-encoding".to_owned()),
            ),
            ("x-a", "v\nw", ProviderError::HeaderValue("x-a".to_owned())),
        ] {
            let headers = BTreeMap::from([(name.to_owned(), value.to_owned())]);
            let refused = settings("openai.chat", &headers).prepare(0, None);
            assert_eq!(refused.unwrap_err(), error, "{name}");
        }
    }

    #[test]
    fn a_key_header_that_this_program_sets_is_refused() {
        let none = BTreeMap::new();
        let mut chat = settings("openai.chat", &none);
        for name in ["Host", "content-length", "transfer-encoding", "connection"] {
            chat.key_header = Some(name);
            let refused = chat.prepare(0, Some("k")).unwrap_err();
            assert_eq!(refused, ProviderError::HeaderTaken(name.to_lowercase()));
        }
    }

    #[test]
    fn a_base_url_with_a_query_is_refused() {
        let none = BTreeMap::new();
        for url in ["http://h/v1?api-version=1", "http://h/v1#x", "http://h/?"] {
            let mut chat = settings("openai.chat", &none);
            chat.base_url = url;
            assert_eq!(chat.prepare(0, None).unwrap_err(), ProviderError::BaseQuery);
        }
    }

    #[test]
    fn the_key_and_long_header_values_are_secrets() {
        let headers = BTreeMap::from([("x-a".to_owned(), "long-enough".to_owned())]);
        for (dialect, key) in [
            ("openai.chat", "sk-12345"),
            ("anthropic.messages", "sk-ant-1"),
        ] {
            let prepared = settings(dialect, &headers).prepare(0, Some(key)).unwrap();
            assert_eq!(prepared.secrets(), [key, "long-enough"]);
        }
        let short = BTreeMap::from([("x-a".to_owned(), "beta".to_owned())]);
        let prepared = settings("openai.chat", &short).prepare(0, None).unwrap();
        assert_eq!(prepared.secrets(), [""; 0]);
    }

    #[test]
    fn a_prepared_request_never_shows_its_values() {
        let headers = BTreeMap::from([("x-tag".to_owned(), "hidden".to_owned())]);
        let prepared = settings("openai.chat", &headers)
            .prepare(0, Some("hidden"))
            .unwrap();
        let shown = format!("{prepared:?}");
        assert!(
            shown.contains("x-tag") && !shown.contains("hidden"),
            "{shown}"
        );
    }
}
