//! The words for why no whole response arrived, and the names that clients
//! write for them.

use model::exchange::ExceptionType::{
    self, ClientGone, ConnectError, ConnectTimeout, ConnectionClosed, ConnectionReset, DnsError,
    ProtocolError, ReadTimeout, Timeout, TlsError,
};

/// Names that recorders write for the words of the format: exception classes of
/// Python, requests, urllib3, httpx, aiohttp and the providers' own clients, and
/// error codes of Node.
///
/// A class that covers several words stands for the one that says least:
/// `ConnectionError` of requests is a `ConnectError`, `TimeoutError` a `Timeout`.
pub const EXCEPTION_ALIASES: &[(&str, ExceptionType)] = &[
    ("APIConnectionError", ConnectError),
    ("ClientConnectionError", ConnectError),
    ("ClientConnectorError", ConnectError),
    ("ConnectionError", ConnectError),
    ("ConnectionRefusedError", ConnectError),
    ("ECONNREFUSED", ConnectError),
    ("EHOSTUNREACH", ConnectError),
    ("ENETUNREACH", ConnectError),
    ("MaxRetryError", ConnectError),
    ("NewConnectionError", ConnectError),
    ("ProxyError", ConnectError),
    ("URLError", ConnectError),
    ("CERT_HAS_EXPIRED", TlsError),
    ("CertificateError", TlsError),
    ("ClientConnectorCertificateError", TlsError),
    ("ClientConnectorSSLError", TlsError),
    ("ClientSSLError", TlsError),
    ("DEPTH_ZERO_SELF_SIGNED_CERT", TlsError),
    ("ERR_TLS_CERT_ALTNAME_INVALID", TlsError),
    ("SELF_SIGNED_CERT_IN_CHAIN", TlsError),
    ("SSLCertVerificationError", TlsError),
    ("SSLEOFError", TlsError),
    ("SSLError", TlsError),
    ("UNABLE_TO_VERIFY_LEAF_SIGNATURE", TlsError),
    ("ClientConnectorDNSError", DnsError),
    ("EAI_AGAIN", DnsError),
    ("ENOTFOUND", DnsError),
    ("NameResolutionError", DnsError),
    ("gaierror", DnsError),
    ("herror", DnsError),
    ("ConnectTimeoutError", ConnectTimeout),
    ("ConnectionTimeoutError", ConnectTimeout),
    ("UND_ERR_CONNECT_TIMEOUT", ConnectTimeout),
    ("ReadTimeoutError", ReadTimeout),
    ("SocketTimeoutError", ReadTimeout),
    ("UND_ERR_BODY_TIMEOUT", ReadTimeout),
    ("UND_ERR_HEADERS_TIMEOUT", ReadTimeout),
    ("APIConnectionTimeoutError", Timeout),
    ("APITimeoutError", Timeout),
    ("ETIMEDOUT", Timeout),
    ("PoolTimeout", Timeout),
    ("ServerTimeoutError", Timeout),
    ("TimeoutError", Timeout),
    ("TimeoutException", Timeout),
    ("TimeoutExpired", Timeout),
    ("WriteTimeout", Timeout),
    ("timeout", Timeout),
    ("ConnectionAbortedError", ConnectionReset),
    ("ConnectionResetError", ConnectionReset),
    ("ECONNRESET", ConnectionReset),
    ("ReadError", ConnectionReset),
    ("WriteError", ConnectionReset),
    ("BrokenPipeError", ConnectionClosed),
    ("ChunkedEncodingError", ConnectionClosed),
    ("ClientPayloadError", ConnectionClosed),
    ("EOFError", ConnectionClosed),
    ("EPIPE", ConnectionClosed),
    ("IncompleteRead", ConnectionClosed),
    ("IncompleteReadError", ConnectionClosed),
    ("RemoteDisconnected", ConnectionClosed),
    ("ServerDisconnectedError", ConnectionClosed),
    ("UND_ERR_SOCKET", ConnectionClosed),
    ("BadStatusLine", ProtocolError),
    ("HTTPException", ProtocolError),
    ("InvalidChunkLength", ProtocolError),
    ("LineTooLong", ProtocolError),
    ("LocalProtocolError", ProtocolError),
    ("RemoteProtocolError", ProtocolError),
    ("AbortError", ClientGone),
    ("CancelledError", ClientGone),
];

/// Returns the word for a name: a word of the format or one of
/// [`EXCEPTION_ALIASES`], with or without the modules before it
/// (`requests.exceptions.ReadTimeout`).
pub fn exception_type(name: &str) -> Option<ExceptionType> {
    let name = name.rsplit('.').next().unwrap_or(name);
    let word = ExceptionType::ALL
        .into_iter()
        .find(|word| word.as_str() == name);
    word.or_else(|| {
        let alias = EXCEPTION_ALIASES.iter().find(|(alias, _)| *alias == name);
        alias.map(|(_, word)| *word)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_word_means_itself() {
        for word in ExceptionType::ALL {
            assert_eq!(exception_type(word.as_str()), Some(word));
        }
    }

    #[test]
    fn every_alias_is_listed_once_and_is_no_word() {
        for (index, (alias, word)) in EXCEPTION_ALIASES.iter().enumerate() {
            assert_eq!(exception_type(alias), Some(*word));
            let earlier = &EXCEPTION_ALIASES[..index];
            assert!(earlier.iter().all(|(other, _)| other != alias), "{alias}");
            let words = ExceptionType::ALL.map(ExceptionType::as_str);
            assert!(!words.contains(alias), "{alias}");
        }
    }

    #[test]
    fn modules_before_the_name_are_passed_over() {
        assert_eq!(
            exception_type("requests.exceptions.ReadTimeout"),
            Some(ReadTimeout)
        );
        assert_eq!(exception_type("socket.gaierror"), Some(DnsError));
    }

    #[test]
    fn another_name_means_nothing() {
        for name in ["", ".", "timeouterror", "ReadTimeout.", "ReadTimeout x"] {
            assert_eq!(exception_type(name), None, "{name}");
        }
    }
}
