//! The connection as the HTTP library sees it, with a watch on what passes.
//!
//! Three things differ from a plain stream. Nothing is read before the first
//! write, since the library throws an answer away that comes before its question.
//! A failed write is not reported: a server may answer and close before it has
//! read the request, and its answer must still be read. And the bytes of the head
//! are copied, since the library does not keep the order of the headers.

use std::io::{self, ErrorKind, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use hyper::rt::ReadBufCursor;
use model::exchange::ExceptionType;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::failure::Failure;
use super::head::HEAD_BYTES_MAX;

/// One read, in bytes at most.
const READ_BYTES_MAX: usize = 64 * 1024;

/// How many of the first bytes are copied: the heads of interim responses and of
/// the final one. Behind them the order of the headers is not known.
const COPIED_BYTES_MAX: usize = 2 * HEAD_BYTES_MAX;

/// A connection, plain or inside TLS.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<S: AsyncRead + AsyncWrite + Send + Unpin> Stream for S {}

/// What passed over one connection.
#[derive(Debug, Clone)]
pub(super) struct Watch(Arc<Mutex<Passed>>);

#[derive(Debug)]
struct Passed {
    moved: Instant,
    writing: Writing,
    copied: Option<Vec<u8>>,
    end: Option<Failure>,
}

/// How far the request has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Writing {
    /// Nothing has been written.
    Awaited,
    /// Some bytes have been.
    Began,
    /// The connection takes no more of them.
    Failed,
}

impl Watch {
    /// Starts a watch on a connection that has just been made.
    pub(super) fn new() -> Self {
        Self(Arc::new(Mutex::new(Passed {
            moved: Instant::now(),
            writing: Writing::Awaited,
            copied: Some(Vec::new()),
            end: None,
        })))
    }

    /// Returns when the last byte moved in either direction.
    pub(super) fn moved(&self) -> Instant {
        self.passed().moved
    }

    /// Returns the bytes read until now, at least up to the bound of a head, and
    /// copies no more of them.
    pub(super) fn take_copied(&self) -> Vec<u8> {
        self.passed().copied.take().unwrap_or_default()
    }

    /// Returns how the connection ended, if it did.
    pub(super) fn end(&self) -> Option<Failure> {
        self.passed().end.clone()
    }

    fn passed(&self) -> MutexGuard<'_, Passed> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Passed {
    fn read(&mut self, bytes: &[u8]) {
        self.moved = Instant::now();
        if bytes.is_empty() {
            // The error of a failed write is not reported again by a read.
            self.end = Some(if self.writing == Writing::Failed {
                Failure::of_broken(&ErrorKind::ConnectionReset.into())
            } else {
                Failure::new(
                    ExceptionType::ConnectionClosed,
                    "the peer closed the connection before the response ended",
                )
            });
        }
        if let Some(copied) = &mut self.copied {
            let room = COPIED_BYTES_MAX.saturating_sub(copied.len());
            copied.extend(bytes.iter().take(room));
        }
    }
}

/// A connection with its watch.
pub(super) struct Wire {
    stream: Box<dyn Stream>,
    watch: Watch,
    buffer: Vec<u8>,
}

impl Wire {
    /// Puts a connection under a watch.
    pub(super) fn new(stream: Box<dyn Stream>, watch: Watch) -> Self {
        Self {
            stream,
            watch,
            buffer: vec![0; READ_BYTES_MAX],
        }
    }

    /// Writes by `write`, and takes all `offered` bytes as written once it failed.
    fn poll_written(
        &mut self,
        context: &mut Context<'_>,
        offered: usize,
        write: impl FnOnce(Pin<&mut dyn Stream>, &mut Context<'_>) -> Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if self.watch.passed().writing == Writing::Failed {
            return Poll::Ready(Ok(offered));
        }
        let written = ready!(write(Pin::new(&mut *self.stream), context));
        let mut passed = self.watch.passed();
        if passed.writing == Writing::Awaited {
            passed.writing = Writing::Began;
            // One task reads and writes: its read may be waiting for this.
            context.waker().wake_by_ref();
        }
        if let Ok(bytes) = written {
            // A flush is no byte.
            if bytes > 0 {
                passed.moved = Instant::now();
            }
            return Poll::Ready(Ok(bytes));
        }
        passed.writing = Writing::Failed;
        Poll::Ready(Ok(offered))
    }
}

impl hyper::rt::Read for Wire {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        mut cursor: ReadBufCursor<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        if this.watch.passed().writing == Writing::Awaited {
            return Poll::Pending;
        }
        let room = cursor.remaining().min(this.buffer.len());
        let mut buffer = ReadBuf::new(this.buffer.get_mut(..room).unwrap_or_default());
        let read = ready!(Pin::new(&mut *this.stream).poll_read(context, &mut buffer));
        let mut passed = this.watch.passed();
        match read {
            Ok(()) => {
                passed.read(buffer.filled());
                cursor.put_slice(buffer.filled());
                Poll::Ready(Ok(()))
            }
            Err(error) => {
                passed.end = Some(Failure::of_broken(&error));
                Poll::Ready(Err(error))
            }
        }
    }
}

impl hyper::rt::Write for Wire {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.get_mut()
            .poll_written(context, bytes.len(), |stream, context| {
                stream.poll_write(context, bytes)
            })
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        slices: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let offered = slices.iter().map(|slice| slice.len()).sum();
        self.get_mut()
            .poll_written(context, offered, |stream, context| {
                stream.poll_write_vectored(context, slices)
            })
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        let flush = |stream: Pin<&mut dyn Stream>, context: &mut Context<'_>| {
            stream.poll_flush(context).map_ok(|()| 0)
        };
        if this.watch.passed().writing == Writing::Awaited {
            return Poll::Ready(Ok(()));
        }
        ready!(this.poll_written(context, 0, flush))?;
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut *self.get_mut().stream).poll_shutdown(context)
    }
}
