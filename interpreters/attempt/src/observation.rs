//! The part of an observation that the historical rules look at.

/// What the transport saw.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Observation<'a> {
    /// The wire dialect, by name or by its older alias.
    pub dialect: &'a str,
    /// How the exchange ended.
    pub outcome: Outcome,
    /// The HTTP status; none when no response arrived.
    pub status: Option<u16>,
    /// Why no whole response arrived.
    pub exception_type: Option<&'a str>,
    /// The exact bytes of the response's body.
    pub response_body: Option<&'a [u8]>,
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A response arrived.
    ResponseReceived,
    /// A response arrived and its status says that the request failed.
    HttpError,
    /// No response arrived.
    NoResponse,
    /// A response started and did not end.
    Interrupted,
}

/// A dialect that versions 1 and 2 read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// `openai.chat`, also `chat_completions`.
    Chat,
    /// `openai.responses`, also `responses`.
    Responses,
    /// `anthropic.messages`, also `messages`.
    Messages,
}

/// The names of the dialects that versions 1 and 2 read.
pub const DIALECTS: [&str; 3] = ["openai.chat", "openai.responses", "anthropic.messages"];

impl Dialect {
    /// Returns the dialect of this name, unless it is one that is not read.
    pub fn of(name: &str) -> Option<Self> {
        match name {
            "openai.chat" | "chat_completions" => Some(Self::Chat),
            "openai.responses" | "responses" => Some(Self::Responses),
            "anthropic.messages" | "messages" => Some(Self::Messages),
            _ => None,
        }
    }
}
