//! From a target to a connection: lookup, TCP and TLS.

use std::io::{self, ErrorKind};
use std::net::{SocketAddr, ToSocketAddrs as _};
use std::sync::Arc;

use model::exchange::ExceptionType;
use rustls::ClientConfig;
use rustls::pki_types::ServerName;
use tokio::net::TcpStream;
use tokio::time::{Instant, timeout_at};
use tokio_rustls::TlsConnector;

use super::failure::Failure;
use super::wire::Stream;
use crate::target::Target;

/// Finds the addresses of a host. May block.
pub(super) type Lookup = Arc<dyn Fn(&str, u16) -> io::Result<Vec<SocketAddr>> + Send + Sync>;

/// Where a connection goes and how its addresses are found.
pub(super) struct Destination<'a> {
    /// The host and the port.
    pub(super) target: &'a Target,
    /// Finds the addresses.
    pub(super) lookup: Lookup,
    /// What TLS needs; none for a plain connection.
    pub(super) tls: Option<Arc<ClientConfig>>,
    /// Until when the connection must be made.
    pub(super) until: Instant,
}

/// Finds the addresses of a host as the system does.
pub(super) fn system_lookup(host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
    Ok((host, port).to_socket_addrs()?.collect())
}

/// Makes a connection.
pub(super) async fn open(to: Destination<'_>) -> Result<Box<dyn Stream>, Failure> {
    let addresses = look_up(&to).await?;
    let stream = connect_any(&addresses, to.until).await?;
    // Only a hint: the bytes are the same without it.
    drop(stream.set_nodelay(true));
    let Some(tls) = to.tls else {
        return Ok(Box::new(stream));
    };
    let refused = |detail: String| Failure::new(ExceptionType::TlsError, detail);
    let name = ServerName::try_from(to.target.host().to_owned())
        .map_err(|error| refused(format!("no certificate can name this host: {error}")))?;
    let stream = TlsConnector::from(tls)
        .connect(name, stream)
        .await
        .map_err(|error| refused(format!("the TLS handshake failed: {error}")))?;
    Ok(Box::new(stream))
}

/// Looks the host up on a thread of its own, which nothing waits for when the
/// time is over.
async fn look_up(to: &Destination<'_>) -> Result<Vec<SocketAddr>, Failure> {
    let (lookup, host, port) = (
        Arc::clone(&to.lookup),
        to.target.host().to_owned(),
        to.target.port(),
    );
    let found = tokio::task::spawn_blocking(move || lookup(&host, port)).await;
    let failed = |detail: String| Failure::new(ExceptionType::DnsError, detail);
    match found {
        Ok(Ok(addresses)) if addresses.is_empty() => {
            Err(failed("the host has no address".to_owned()))
        }
        Ok(Ok(addresses)) => Ok(addresses),
        Ok(Err(error)) => Err(failed(format!("the host has no address: {error}"))),
        Err(error) => Err(failed(format!("the lookup of the host broke off: {error}"))),
    }
}

/// Tries each address in its order until one connects. Each has an equal share of
/// the time that is left, so that one that never answers leaves some to the next.
async fn connect_any(addresses: &[SocketAddr], until: Instant) -> Result<TcpStream, Failure> {
    let mut last = io::Error::from(ErrorKind::AddrNotAvailable);
    for (index, address) in addresses.iter().enumerate() {
        let left = u32::try_from(addresses.len() - index).unwrap_or(u32::MAX);
        let now = Instant::now();
        let share = until.saturating_duration_since(now) / left.max(1);
        match timeout_at(now + share, TcpStream::connect(address)).await {
            Ok(Ok(stream)) => return Ok(stream),
            Ok(Err(error)) => last = error,
            Err(_) => last = ErrorKind::TimedOut.into(),
        }
    }
    let exception = if last.kind() == ErrorKind::TimedOut {
        ExceptionType::ConnectTimeout
    } else {
        ExceptionType::ConnectError
    };
    Err(Failure::new(exception, format!("cannot connect: {last}")))
}
