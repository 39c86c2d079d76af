//! What the transport saw of one attempt: the input of an interpreter.

use serde::{Deserialize, Serialize};

/// How an exchange ended, as the transport saw it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TransportOutcome {
    /// A response below 400 arrived whole.
    ResponseReceived,
    /// A response of 400 or above arrived whole.
    HttpError,
    /// No response arrived.
    NoResponse,
    /// The response broke off.
    Interrupted,
}

impl TransportOutcome {
    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ResponseReceived => "response_received",
            Self::HttpError => "http_error",
            Self::NoResponse => "no_response",
            Self::Interrupted => "interrupted",
        }
    }
}

/// Why no whole response arrived.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum ExceptionType {
    /// The connection could not be made.
    ConnectError,
    /// The TLS handshake or certificate failed.
    TlsError,
    /// The name could not be resolved.
    DnsError,
    /// Connecting took too long.
    ConnectTimeout,
    /// Reading took too long.
    ReadTimeout,
    /// The whole exchange took too long.
    Timeout,
    /// The peer reset the connection.
    ConnectionReset,
    /// The peer closed the connection early.
    ConnectionClosed,
    /// The peer did not speak HTTP as agreed.
    ProtocolError,
    /// Our own client went away.
    ClientGone,
}

impl ExceptionType {
    /// Every word of the format, in its order.
    pub const ALL: [Self; 10] = [
        Self::ConnectError,
        Self::TlsError,
        Self::DnsError,
        Self::ConnectTimeout,
        Self::ReadTimeout,
        Self::Timeout,
        Self::ConnectionReset,
        Self::ConnectionClosed,
        Self::ProtocolError,
        Self::ClientGone,
    ];

    /// Returns the name used in JSON.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ConnectError => "ConnectError",
            Self::TlsError => "TlsError",
            Self::DnsError => "DnsError",
            Self::ConnectTimeout => "ConnectTimeout",
            Self::ReadTimeout => "ReadTimeout",
            Self::Timeout => "Timeout",
            Self::ConnectionReset => "ConnectionReset",
            Self::ConnectionClosed => "ConnectionClosed",
            Self::ProtocolError => "ProtocolError",
            Self::ClientGone => "ClientGone",
        }
    }
}

/// The wire dialects that have a name.
pub const DIALECTS: [&str; 14] = [
    "openai.chat",
    "openai.responses",
    "openai.completions",
    "anthropic.messages",
    "anthropic.complete",
    "gemini.generate_content",
    "bedrock.converse",
    "bedrock.invoke",
    "mistral.chat",
    "cohere.v1.chat",
    "cohere.v2.chat",
    "ollama.chat",
    "ollama.generate",
    "unknown",
];

/// Returns the dialect's own name for a name or one of its three aliases.
pub fn dialect(name: &str) -> Option<&'static str> {
    let name = match name {
        "chat_completions" => "openai.chat",
        "responses" => "openai.responses",
        "messages" => "anthropic.messages",
        other => other,
    };
    DIALECTS.into_iter().find(|known| *known == name)
}

/// One observation with its bytes, as a module is given it.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The wire dialect.
    pub dialect: &'a str,
    /// The path of the request, without its query.
    pub endpoint: &'a str,
    /// How the exchange ended.
    pub outcome: TransportOutcome,
    /// The HTTP status.
    pub status: Option<u16>,
    /// The kept headers.
    pub headers: &'a [(String, String)],
    /// Why no whole response arrived.
    pub exception_type: Option<ExceptionType>,
    /// Exact bytes, before content-decoding.
    pub response_body: Option<&'a [u8]>,
    /// Exact bytes.
    pub request_body: Option<&'a [u8]>,
}
