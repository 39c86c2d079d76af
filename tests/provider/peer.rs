//! A client's connection, plain or under TLS.

use std::io::{self, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::net::sockopt::set_socket_linger;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use crate::Outcome;

/// A client's connection.
pub(crate) enum Peer {
    Plain(TcpStream),
    Tls(Box<StreamOwned<ServerConnection, TcpStream>>),
}

/// Reads a certificate and its key.
pub(crate) fn tls_config(certificate: &Path, key: &Path) -> Outcome<Arc<ServerConfig>> {
    let chain = CertificateDer::pem_file_iter(certificate)?.collect::<Result<_, _>>()?;
    let key = PrivateKeyDer::from_pem_file(key)?;
    let config = ServerConfig::builder().with_no_client_auth();
    Ok(Arc::new(config.with_single_cert(chain, key)?))
}

impl Peer {
    /// Wraps a connection.
    pub(crate) fn new(stream: TcpStream, tls: Option<&Arc<ServerConfig>>) -> Outcome<Self> {
        stream.set_nodelay(true)?;
        Ok(match tls {
            None => Self::Plain(stream),
            Some(config) => {
                let session = ServerConnection::new(Arc::clone(config))?;
                Self::Tls(Box::new(StreamOwned::new(session, stream)))
            }
        })
    }

    fn socket(&self) -> &TcpStream {
        match self {
            Self::Plain(stream) => stream,
            Self::Tls(stream) => &stream.sock,
        }
    }

    /// Ends what is sent.
    pub(crate) fn finish(&mut self) -> Outcome {
        if let Self::Tls(stream) = self {
            stream.conn.send_close_notify();
            stream.flush()?;
        }
        Ok(self.socket().shutdown(Shutdown::Write)?)
    }

    /// Resets the connection instead of closing it.
    pub(crate) fn reset(self) -> Outcome {
        Ok(set_socket_linger(self.socket(), Some(Duration::ZERO))?)
    }

    /// Reads until the client closes.
    pub(crate) fn drain(&mut self) -> io::Result<u64> {
        io::copy(self, &mut io::sink())
    }
}

impl Read for Peer {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.read(buffer),
            Self::Tls(stream) => stream.read(buffer),
        }
    }
}

impl Write for Peer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Plain(stream) => stream.write(bytes),
            Self::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Plain(stream) => stream.flush(),
            Self::Tls(stream) => stream.flush(),
        }
    }
}
