//! The headers of a response in the order of the wire.

use hyper::HeaderMap;

use crate::headers::{Kept, keep};

/// The head of one response, in bytes. Far above what any server sends.
pub(super) const HEAD_BYTES_MAX: usize = 1 << 20;

/// The headers of one response.
pub(super) const HEADERS_MAX: usize = 1000;

/// A final response head.
#[derive(Debug)]
pub(super) struct Head {
    /// The status, as it was sent.
    pub(super) status: u16,
    /// What is kept of the headers.
    pub(super) kept: Kept,
}

/// Returns the head of `status` with its headers in the order in which the bytes
/// of the wire have them.
///
/// When those cannot be read again, the order is that of `parsed`, which has the
/// headers of one name next to each other.
pub(super) fn of_wire(wire: &[u8], status: u16, parsed: &HeaderMap) -> Head {
    let as_bytes = |(name, value)| {
        let (name, value): (&hyper::header::HeaderName, &hyper::header::HeaderValue) =
            (name, value);
        (name.as_str().as_bytes(), value.as_bytes())
    };
    Head {
        status,
        kept: in_order(wire, status).unwrap_or_else(|| keep(parsed.iter().map(as_bytes))),
    }
}

/// Returns the headers of the first response that is not an interim one.
fn in_order(mut wire: &[u8], status: u16) -> Option<Kept> {
    loop {
        let mut headers = vec![httparse::EMPTY_HEADER; HEADERS_MAX];
        let mut response = httparse::Response::new(&mut headers);
        let Ok(httparse::Status::Complete(length)) = response.parse(wire) else {
            return None;
        };
        let code = response.code?;
        if code == status {
            let headers = response.headers.iter();
            return Some(keep(
                headers.map(|header| (header.name.as_bytes(), header.value)),
            ));
        }
        wire = wire.get(length..)?;
    }
}
