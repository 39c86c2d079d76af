//! What the transport saw.

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// A response of success.
    ResponseReceived,
    /// A response with another status.
    HttpError,
    /// No response at all.
    NoResponse,
    /// The response ended before its end.
    Interrupted,
}

/// One observation.
#[derive(Debug, Clone, Copy)]
pub struct Observation<'a> {
    /// The name of the dialect.
    pub dialect: &'a str,
    /// How the exchange ended.
    pub outcome: Outcome,
    /// The HTTP status, when there was a response.
    pub status: Option<u16>,
    /// Names in lower case, and values.
    pub headers: &'a [(&'a str, &'a str)],
    /// Set when there was no whole response.
    pub exception_type: Option<&'a str>,
    /// With its content-coding.
    pub response_body: Option<&'a [u8]>,
    /// As it was sent.
    pub request_body: Option<&'a [u8]>,
}

impl<'a> Observation<'a> {
    /// Returns the values of a header, in order.
    pub fn header(&self, name: &str) -> impl Iterator<Item = &'a str> {
        self.headers
            .iter()
            .filter(move |(found, _)| found.eq_ignore_ascii_case(name))
            .map(|(_, value)| *value)
    }
}
