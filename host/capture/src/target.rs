//! The target of a request: one absolute `http` or `https` URL.
//!
//! A query may hold a key, so a target is shown only redacted, and no error here
//! holds anything of the text that it refuses.

use std::fmt;
use std::net::Ipv6Addr;

use hyper::http::uri::PathAndQuery;

use crate::endpoint::{self, EndpointError};

/// One URL, in bytes: far above any provider's, far below what servers refuse.
pub const TARGET_BYTES_MAX: usize = 8 * 1024;

/// Stands for every parameter value in [`Target::redacted`].
pub const REDACTED: &str = "REDACTED";

/// A host name, in bytes (RFC 1035, section 2.3.4).
const HOST_BYTES_MAX: usize = 253;

/// A parsed absolute `http` or `https` URL without userinfo and fragment.
#[derive(Clone, PartialEq, Eq)]
pub struct Target {
    https: bool,
    host: String,
    port: u16,
    path_and_query: String,
    endpoint: String,
}

/// Why a text is not a target. Holds nothing of the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// The URL passes its bound.
    #[error("expected a URL of at most {TARGET_BYTES_MAX} bytes, found more")]
    TooLong,
    /// The URL holds a control character, a space or a character outside ASCII.
    #[error("expected a URL of printable ASCII without spaces, found another character")]
    Character,
    /// The text is not absolute or of another scheme.
    #[error("expected a URL that starts with `http://` or `https://`, found another start")]
    Scheme,
    /// The URL carries a user name or a password.
    #[error("expected a URL without a user name and a password, found an `@` before its path")]
    Userinfo,
    /// The URL has a fragment, which is never sent.
    #[error("expected a URL without a fragment, found a `#`")]
    Fragment,
    /// The host is empty or neither a name nor an address.
    #[error("expected a host name or an address after the scheme, found none")]
    Host,
    /// The port is no number from 1 to 65535.
    #[error("expected a port from 1 to 65535 after the host, found another text")]
    Port,
    /// The path or the query holds a character that a request line cannot carry.
    #[error("expected a path and a query that HTTP can carry, found another character")]
    PathAndQuery,
    /// The path has no endpoint to record.
    #[error("the path of the URL cannot be recorded: {0}")]
    Endpoint(#[from] EndpointError),
}

impl Target {
    /// Parses an absolute URL. The scheme and the host may be in any case.
    pub fn parse(url: &str) -> Result<Self, TargetError> {
        if url.len() > TARGET_BYTES_MAX {
            return Err(TargetError::TooLong);
        }
        if !url.bytes().all(|byte| byte.is_ascii_graphic()) {
            return Err(TargetError::Character);
        }
        let (scheme, rest) = url.split_once("://").ok_or(TargetError::Scheme)?;
        let https = scheme.eq_ignore_ascii_case("https");
        if !https && !scheme.eq_ignore_ascii_case("http") {
            return Err(TargetError::Scheme);
        }
        let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
        let (authority, path_and_query) = rest.split_at(end);
        if authority.contains('@') {
            return Err(TargetError::Userinfo);
        }
        if path_and_query.contains('#') {
            return Err(TargetError::Fragment);
        }
        let (host, port) = host_and_port(authority)?;
        let path_and_query = match path_and_query {
            path if path.starts_with('/') => path.to_owned(),
            query => format!("/{query}"),
        };
        if !is_sent_as_it_is(&path_and_query) {
            return Err(TargetError::PathAndQuery);
        }
        let (path, _) = split_query(&path_and_query);
        Ok(Self {
            https,
            host,
            port: port.unwrap_or(default_port(https)),
            endpoint: endpoint::redacted(path)?,
            path_and_query,
        })
    }

    /// Returns whether the exchange is inside TLS.
    pub fn is_https(&self) -> bool {
        self.https
    }

    /// Returns the host in lower case; an IPv6 address without its brackets.
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the port, that of the scheme when the URL names none.
    pub fn port(&self) -> u16 {
        self.port
    }

    /// Returns what a `host` header names: the host, an IPv6 address in brackets,
    /// and the port unless it is that of the scheme.
    pub fn authority(&self) -> String {
        let host = &self.host;
        let host = if host.contains(':') {
            format!("[{host}]")
        } else {
            host.clone()
        };
        match self.port {
            port if port == default_port(self.https) => host,
            port => format!("{host}:{port}"),
        }
    }

    /// Returns the URL as it may be shown and recorded: the path as in
    /// [`Self::endpoint`], every parameter value replaced by [`REDACTED`].
    ///
    /// A parameter without `=` is replaced wholly, since it may be a bare key.
    pub fn redacted(&self) -> String {
        let scheme = if self.https { "https" } else { "http" };
        let url = format!("{scheme}://{}{}", self.authority(), self.endpoint);
        let Some(query) = split_query(&self.path_and_query).1 else {
            return url;
        };
        let parameters: Vec<String> = query.split('&').map(redacted_parameter).collect();
        format!("{url}?{}", parameters.join("&"))
    }

    /// Returns the endpoint: the path alone, as [`endpoint::redacted`] gives it.
    pub fn endpoint(&self) -> String {
        self.endpoint.clone()
    }

    /// Returns what stands in the request line. It may hold a secret.
    pub fn path_and_query(&self) -> &str {
        &self.path_and_query
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_tuple("Target")
            .field(&self.redacted())
            .finish()
    }
}

const fn default_port(https: bool) -> u16 {
    if https { 443 } else { 80 }
}

/// Splits at the first `?`; none when there is none.
fn split_query(path_and_query: &str) -> (&str, Option<&str>) {
    match path_and_query.split_once('?') {
        Some((path, query)) => (path, Some(query)),
        None => (path_and_query, None),
    }
}

/// Returns whether the HTTP library takes the text and writes it unchanged.
fn is_sent_as_it_is(path_and_query: &str) -> bool {
    PathAndQuery::try_from(path_and_query).is_ok_and(|sent| sent.as_str() == path_and_query)
}

fn redacted_parameter(parameter: &str) -> String {
    match parameter.split_once('=') {
        Some((name, _)) => format!("{name}={REDACTED}"),
        None if parameter.is_empty() => String::new(),
        None => REDACTED.to_owned(),
    }
}

fn host_and_port(authority: &str) -> Result<(String, Option<u16>), TargetError> {
    if let Some(rest) = authority.strip_prefix('[') {
        let (address, port) = rest.split_once(']').ok_or(TargetError::Host)?;
        let address: Ipv6Addr = address.parse().or(Err(TargetError::Host))?;
        let port = match port.strip_prefix(':') {
            Some(port) => Some(port_of(port)?),
            None if port.is_empty() => None,
            None => return Err(TargetError::Port),
        };
        return Ok((address.to_string(), port));
    }
    let (host, port) = match authority.split_once(':') {
        Some((host, port)) => (host, Some(port_of(port)?)),
        None => (authority, None),
    };
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-._".contains(&byte);
    let named = !host.is_empty() && host.len() <= HOST_BYTES_MAX && !host.starts_with('.');
    if !named || !host.bytes().all(plain) {
        return Err(TargetError::Host);
    }
    Ok((host.to_ascii_lowercase(), port))
}

fn port_of(text: &str) -> Result<u16, TargetError> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    match text.parse() {
        Ok(port) if digits && port != 0 => Ok(port),
        _ => Err(TargetError::Port),
    }
}

#[cfg(test)]
mod tests;
