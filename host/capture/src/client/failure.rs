//! Why an exchange failed: the word of the format and a sentence for a person.

use std::error::Error;
use std::io::{self, ErrorKind};

use model::exchange::ExceptionType;

/// Why an exchange ended before its response did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Failure {
    /// The word that is recorded.
    pub(super) exception: ExceptionType,
    /// What went wrong, without a secret. Never recorded.
    pub(super) detail: String,
}

impl Failure {
    /// Makes a failure.
    pub(super) fn new(exception: ExceptionType, detail: impl Into<String>) -> Self {
        Self {
            exception,
            detail: detail.into(),
        }
    }

    /// The machine has no means left to make a connection with.
    pub(super) fn unprepared(error: &io::Error) -> Self {
        Self::new(
            ExceptionType::ConnectError,
            format!("cannot prepare a connection: {error}"),
        )
    }

    /// An established connection failed while reading or writing.
    ///
    /// A library of TLS that refuses what it reads is told apart by its own error
    /// inside; its error for a missing end of the stream has a kind of its own.
    pub(super) fn of_broken(error: &io::Error) -> Self {
        let of_tls = error
            .get_ref()
            .is_some_and(<dyn Error + Send + Sync>::is::<rustls::Error>);
        let exception = if of_tls {
            ExceptionType::TlsError
        } else if error.kind() == ErrorKind::UnexpectedEof {
            ExceptionType::ConnectionClosed
        } else if error.kind() == ErrorKind::TimedOut {
            ExceptionType::ReadTimeout
        } else {
            ExceptionType::ConnectionReset
        };
        Self::new(exception, format!("the connection broke: {error}"))
    }

    /// The peer sent what the HTTP library refuses.
    pub(super) fn of_protocol(error: &hyper::Error) -> Self {
        let mut detail = format!("the peer did not speak HTTP as agreed: {error}");
        let mut source = error.source();
        while let Some(inner) = source {
            detail = format!("{detail}: {inner}");
            source = inner.source();
        }
        Self::new(ExceptionType::ProtocolError, detail)
    }
}
