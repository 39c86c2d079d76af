//! One request and its response over a connection that has been made.

use http_body_util::{BodyExt as _, Full};
use hyper::body::{Bytes, Incoming};
use hyper::client::conn::http1;
use hyper::header::{CONTENT_LENGTH, HeaderName, HeaderValue, TRANSFER_ENCODING};
use hyper::{HeaderMap, Method, Request, StatusCode, Uri};
use model::bounds::EXCHANGE_BYTES_MAX;
use model::exchange::ExceptionType;

use super::Outgoing;
use super::deadlines::{Deadlines, Watched};
use super::failure::Failure;
use super::head::{self, HEAD_BYTES_MAX, HEADERS_MAX, Head};
use super::wire::{Stream, Watch, Wire};

/// What the HTTP library buffers, in bytes: a head of the greatest size and a read.
const BUFFER_BYTES_MAX: usize = 2 * HEAD_BYTES_MAX;

/// What has been seen of a response, at any time.
#[derive(Debug)]
pub(super) struct Seen {
    /// The final head, once it arrived.
    pub(super) head: Option<Head>,
    /// The bytes of the body that arrived.
    pub(super) body: Vec<u8>,
    /// How long the body may become.
    body_bytes_max: usize,
}

impl Seen {
    /// Nothing is seen yet of the response to a request of this length.
    pub(super) const fn of(request_bytes: usize) -> Self {
        Self {
            head: None,
            body: Vec::new(),
            body_bytes_max: EXCHANGE_BYTES_MAX.saturating_sub(request_bytes),
        }
    }

    fn push(&mut self, data: &[u8]) -> Result<(), Failure> {
        let room = self.body_bytes_max.saturating_sub(self.body.len());
        let Some(kept) = data.get(..room).filter(|kept| kept.len() < data.len()) else {
            self.body.extend_from_slice(data);
            return Ok(());
        };
        self.body.extend_from_slice(kept);
        Err(Failure::new(
            ExceptionType::ClientGone,
            format!("the body is longer than {} bytes", self.body_bytes_max),
        ))
    }
}

/// Returns the request as the HTTP library takes it.
///
/// Refused is what would make it send other bytes: a header it cannot carry, a
/// `content-length` that is not that of the body or is missing, or chunks.
pub(super) fn request(outgoing: &Outgoing<'_>) -> Result<Request<Full<Bytes>>, Failure> {
    let unsendable = |detail: String| Failure::new(ExceptionType::ClientGone, detail);
    let mut request = Request::new(Full::new(Bytes::copy_from_slice(outgoing.body)));
    *request.method_mut() = Method::from_bytes(outgoing.method.as_bytes())
        .map_err(|error| unsendable(format!("the method cannot be sent: {error}")))?;
    *request.uri_mut() = Uri::try_from(outgoing.target.path_and_query())
        .map_err(|error| unsendable(format!("the target cannot be sent: {error}")))?;
    for (place, (name, value)) in outgoing.headers.iter().enumerate() {
        let refused = || unsendable(format!("header {} cannot be sent", place + 1));
        // The errors of the library may quote the header.
        let name = HeaderName::from_bytes(name.as_bytes()).ok();
        let value = HeaderValue::from_bytes(value.as_bytes()).ok();
        name.zip(value)
            .and_then(|(name, value)| request.headers_mut().try_append(name, value).ok())
            .ok_or_else(refused)?;
    }
    if !is_framed(request.headers(), outgoing.body.len()) {
        let detail = "the headers of the request do not name the length of its body once";
        return Err(unsendable(detail.to_owned()));
    }
    Ok(request)
}

/// Returns whether the headers name the length of the body and nothing else does.
fn is_framed(headers: &HeaderMap, body_bytes: usize) -> bool {
    let mut lengths = headers.get_all(CONTENT_LENGTH).iter();
    let right = match lengths.next() {
        Some(length) => length.as_bytes() == body_bytes.to_string().as_bytes(),
        None => body_bytes == 0,
    };
    right && lengths.next().is_none() && !headers.contains_key(TRANSFER_ENCODING)
}

/// Sends the request and reads the response into `seen`, which holds what arrived
/// also when this fails.
pub(super) async fn drive(
    stream: Box<dyn Stream>,
    request: Request<Full<Bytes>>,
    deadlines: Deadlines,
    seen: &mut Seen,
) -> Result<(), Failure> {
    let watch = Watch::new();
    let broken = |error: hyper::Error| watch.end().unwrap_or_else(|| Failure::of_protocol(&error));
    let mut watched = deadlines.watching(watch.clone());
    let (mut sender, connection) = http1::Builder::new()
        .max_headers(HEADERS_MAX)
        .max_header_size(HEAD_BYTES_MAX)
        .max_buf_size(BUFFER_BYTES_MAX)
        .handshake(Wire::new(stream, watch.clone()))
        .await
        .map_err(broken)?;
    // It ends with the runtime; what it meets is told by the watch.
    let _connection = tokio::spawn(connection);
    let response = watched.wait(sender.send_request(request)).await?;
    let (parts, body) = response.map_err(broken)?.into_parts();
    let wire = watch.take_copied();
    seen.head = Some(head::of_wire(&wire, parts.status.as_u16(), &parts.headers));
    if parts.status == StatusCode::SWITCHING_PROTOCOLS {
        return Err(Failure::new(
            ExceptionType::ProtocolError,
            "the peer switched to another protocol, which nobody asked for",
        ));
    }
    read_body(body, &mut watched, seen).await?.map_err(broken)
}

/// Reads the body to its end. The inner error is that of the HTTP library.
async fn read_body(
    mut body: Incoming,
    watched: &mut Watched,
    seen: &mut Seen,
) -> Result<Result<(), hyper::Error>, Failure> {
    while let Some(frame) = watched.wait(body.frame()).await? {
        match frame.map(hyper::body::Frame::into_data) {
            Ok(Ok(data)) => seen.push(&data)?,
            // Trailers are no part of the body and are not kept.
            Ok(Err(_)) => {}
            Err(error) => return Ok(Err(error)),
        }
    }
    Ok(Ok(()))
}
