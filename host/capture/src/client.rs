//! One HTTP/1.1 exchange on a connection of its own, and what the transport saw.
//!
//! No redirect is followed, nothing is decompressed, retried or reused, and no
//! proxy is taken from the environment. The bytes of a body leave here as they
//! came: transfer-decoded, before any content-decoding. A failure is an
//! observation like any other, so an exchange never returns an error.

mod connect;
mod deadlines;
mod drive;
mod failure;
mod head;
mod tls;
mod wire;

use std::fmt;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use model::exchange::{ExceptionType, TransportOutcome};
use rustls::ClientConfig;
use tokio::runtime::Builder;
use tokio::time::Instant;

use crate::headers::Kept;
use crate::media_type;
use crate::target::Target;

use connect::Lookup;
use deadlines::Deadlines;
use drive::Seen;
use failure::Failure;

pub use tls::ClientError;

/// How long each part of one exchange may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From the start until the connection is made: lookup, TCP and TLS together.
    pub connect: Duration,
    /// Without one byte moving in either direction once the connection is made.
    pub read: Duration,
    /// From the start until the end of the response.
    pub total: Duration,
}

/// One request, exactly as it is to be sent.
#[derive(Clone, Copy)]
pub struct Outgoing<'a> {
    /// The method, a token.
    pub method: &'a str,
    /// Where it is sent.
    pub target: &'a Target,
    /// Lower-case names with their values: everything that is sent, `host` and
    /// `content-length` included. Headers of one name are sent next to each other.
    pub headers: &'a [(String, String)],
    /// The exact bytes of the body.
    pub body: &'a [u8],
}

/// What the transport saw of one exchange.
#[derive(Clone, PartialEq, Eq)]
pub struct Received {
    /// How the exchange ended.
    pub outcome: TransportOutcome,
    /// The status of the final response head; none when no head arrived.
    pub status: Option<u16>,
    /// What is kept of the headers, in the order of the wire.
    pub headers: Kept,
    /// The media type that the kept headers name.
    pub media_type: String,
    /// Why no whole response arrived; none when one did.
    pub exception_type: Option<ExceptionType>,
    /// The bytes that arrived, possibly none of them; none when no head arrived.
    pub body: Option<Vec<u8>>,
    /// From just before connecting to the end of the response or the failure.
    pub latency: Duration,
    /// What went wrong, for a person. Never a secret, and never to be recorded.
    pub detail: Option<String>,
}

/// Makes exchanges, each on a connection of its own.
pub struct Client {
    roots: tls::ExtraRoots,
    tls: OnceLock<Result<Arc<ClientConfig>, String>>,
    lookup: Lookup,
}

impl Client {
    /// Makes a client that trusts the roots of the system, those that are built
    /// in when the system has none, and the certificates of `extra_roots_pem`.
    ///
    /// The roots of the system are read when the first `https` target is met.
    pub fn new(extra_roots_pem: Option<&[u8]>) -> Result<Self, ClientError> {
        Ok(Self {
            roots: tls::ExtraRoots::parse(extra_roots_pem)?,
            tls: OnceLock::new(),
            lookup: Arc::new(connect::system_lookup),
        })
    }

    /// Makes one exchange and returns what was seen of it.
    ///
    /// Blocks until the response ended, a timeout passed or the exchange failed.
    /// Must not be called from inside an asynchronous runtime.
    pub fn exchange(&self, outgoing: &Outgoing<'_>, timeouts: Timeouts) -> Received {
        let prepared = drive::request(outgoing).and_then(|request| {
            let runtime = Builder::new_current_thread().enable_all().build();
            let runtime = runtime.map_err(|error| Failure::unprepared(&error))?;
            Ok((request, self.tls_for(outgoing.target)?, runtime))
        });
        let mut seen = Seen::of(outgoing.body.len());
        let started = Instant::now();
        let (request, tls, runtime) = match prepared {
            Ok(prepared) => prepared,
            Err(failure) => return received(seen, Some(failure), started.elapsed()),
        };
        let deadlines = Deadlines::new(started, timeouts);
        let to = connect::Destination {
            target: outgoing.target,
            lookup: Arc::clone(&self.lookup),
            tls,
            until: deadlines.of_connecting(),
        };
        let exchange = async {
            let stream = deadlines.while_connecting(connect::open(to)).await?;
            drive::drive(stream, request, deadlines, &mut seen).await
        };
        let failure = runtime.block_on(exchange).err();
        let latency = started.elapsed();
        // A lookup that still runs is left to itself: waiting for it has no bound.
        runtime.shutdown_background();
        received(seen, failure, latency)
    }

    /// Returns what TLS needs when the target asks for it.
    fn tls_for(&self, target: &Target) -> Result<Option<Arc<ClientConfig>>, Failure> {
        if !target.is_https() {
            return Ok(None);
        }
        let tls = self.tls.get_or_init(|| self.roots.config());
        match tls {
            Ok(config) => Ok(Some(Arc::clone(config))),
            Err(detail) => Err(Failure::new(ExceptionType::TlsError, detail.clone())),
        }
    }
}

/// Says what was seen in the words of the format.
fn received(seen: Seen, failure: Option<Failure>, latency: Duration) -> Received {
    let (exception_type, detail) = match failure {
        Some(failure) => (Some(failure.exception), Some(failure.detail)),
        None => (None, None),
    };
    let outcome = match (&seen.head, exception_type) {
        (None, _) => TransportOutcome::NoResponse,
        (Some(_), Some(_)) => TransportOutcome::Interrupted,
        (Some(head), None) if head.status < 400 => TransportOutcome::ResponseReceived,
        (Some(_), None) => TransportOutcome::HttpError,
    };
    let body = seen.head.is_some().then_some(seen.body);
    let (status, headers) = match seen.head {
        Some(head) => (Some(head.status), head.kept),
        None => (None, Kept::default()),
    };
    Received {
        outcome,
        status,
        media_type: media_type::of_headers(&headers.headers),
        headers,
        exception_type,
        body,
        latency,
        detail,
    }
}

/// The names alone: a value may be a credential.
fn names(headers: &[(String, String)]) -> Vec<&str> {
    headers.iter().map(|(name, _)| name.as_str()).collect()
}

impl fmt::Debug for Outgoing<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Outgoing")
            .field("method", &self.method)
            .field("target", &self.target)
            .field("header_names", &names(self.headers))
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

impl fmt::Debug for Received {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("Received")
            .field("outcome", &self.outcome)
            .field("status", &self.status)
            .field("header_names", &names(&self.headers.headers))
            .field("media_type", &self.media_type)
            .field("exception_type", &self.exception_type)
            .field("body_bytes", &self.body.as_ref().map(Vec::len))
            .field("latency", &self.latency)
            .field("detail", &self.detail)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Client {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Client").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
