//! The three timeouts of an exchange as points in time.

use std::pin::{Pin, pin};
use std::task::{Context, Poll};
use std::time::Duration;

use model::exchange::ExceptionType;
use tokio::time::{Instant, Sleep, sleep_until, timeout_at};

use super::Timeouts;
use super::failure::Failure;
use super::wire::Watch;

/// The longest timeout that is kept apart from none: no exchange lasts a year.
const TIMEOUT_MAX: Duration = Duration::from_hours(365 * 24);

/// How often the connection is looked at again after a deadline passed: once for
/// the news of the system to come in, and once for the bytes to be read.
const LAST_TURNS: u8 = 2;

/// When an exchange is given up.
#[derive(Debug, Clone, Copy)]
pub(super) struct Deadlines {
    connect: Instant,
    total: Instant,
    read: Duration,
}

impl Deadlines {
    /// Counts the timeouts from `started`.
    pub(super) fn new(started: Instant, timeouts: Timeouts) -> Self {
        Self {
            connect: after(started, timeouts.connect),
            total: after(started, timeouts.total),
            read: timeouts.read,
        }
    }

    /// Returns when connecting is given up.
    pub(super) fn of_connecting(self) -> Instant {
        self.connect.min(self.total)
    }

    /// Waits until `connecting` is done, at most until the connection is given up.
    pub(super) async fn while_connecting<T>(
        self,
        connecting: impl Future<Output = Result<T, Failure>>,
    ) -> Result<T, Failure> {
        match timeout_at(self.of_connecting(), connecting).await {
            Ok(done) => done,
            Err(_) if self.total <= self.connect => Err(passed()),
            Err(_) => Err(Failure::new(
                ExceptionType::ConnectTimeout,
                "no connection was made in time",
            )),
        }
    }

    /// Starts to watch a connection that has been made.
    pub(super) fn watching(self, watch: Watch) -> Watched {
        Watched {
            sleep: Box::pin(sleep_until(self.total)),
            deadlines: self,
            watch,
            turns: 0,
        }
    }
}

/// The deadlines of a connection whose bytes are watched.
#[derive(Debug)]
pub(super) struct Watched {
    deadlines: Deadlines,
    watch: Watch,
    sleep: Pin<Box<Sleep>>,
    turns: u8,
}

impl Watched {
    /// Waits for `future`, at most until a deadline passes. What is there already
    /// is taken even after that: bytes that came are never thrown away.
    pub(super) async fn wait<F: Future>(&mut self, future: F) -> Result<F::Output, Failure> {
        let mut future = pin!(future);
        std::future::poll_fn(|context| match future.as_mut().poll(context) {
            Poll::Ready(output) => Poll::Ready(Ok(output)),
            Poll::Pending => self.poll_passed(context).map(Err),
        })
        .await
    }

    fn poll_passed(&mut self, context: &mut Context<'_>) -> Poll<Failure> {
        loop {
            let total = self.deadlines.total;
            let read = after(self.watch.moved(), self.deadlines.read);
            if Instant::now() >= total.min(read) {
                // This process may have been stopped for longer than the deadline,
                // with bytes waiting that the connection has not read yet.
                if self.turns < LAST_TURNS {
                    self.turns += 1;
                    context.waker().wake_by_ref();
                    return Poll::Pending;
                }
                return Poll::Ready(if total <= read { passed() } else { still() });
            }
            self.turns = 0;
            self.sleep.as_mut().reset(total.min(read));
            if self.sleep.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
        }
    }
}

fn after(start: Instant, timeout: Duration) -> Instant {
    start + timeout.min(TIMEOUT_MAX)
}

fn passed() -> Failure {
    Failure::new(ExceptionType::Timeout, "the exchange took too long")
}

fn still() -> Failure {
    Failure::new(ExceptionType::ReadTimeout, "no byte moved in time")
}
