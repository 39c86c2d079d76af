//! Which certificates are trusted.

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};

/// The one protocol that is spoken inside TLS.
const HTTP_1_1: &[u8] = b"http/1.1";

/// Why no client can be made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// The extra roots hold no certificate.
    #[error("expected PEM certificates as extra roots, found none")]
    NoCertificate,
    /// A part of the extra roots is not PEM.
    #[error("expected PEM certificates as extra roots, found a broken one at place {place}")]
    Pem {
        /// Its place among the certificates, from 1.
        place: usize,
    },
    /// A certificate cannot be a root.
    #[error("the extra root at place {place} cannot be trusted: {problem}")]
    Certificate {
        /// Its place among the certificates, from 1.
        place: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// Certificates that are trusted besides those of the system.
#[derive(Debug, Default)]
pub(super) struct ExtraRoots(Vec<CertificateDer<'static>>);

impl ExtraRoots {
    /// Parses PEM text, each part of which must be a certificate that can be a root.
    pub(super) fn parse(pem: Option<&[u8]>) -> Result<Self, ClientError> {
        let Some(pem) = pem else {
            return Ok(Self::default());
        };
        let mut store = RootCertStore::empty();
        let mut roots = Vec::new();
        for certificate in CertificateDer::pem_slice_iter(pem) {
            let place = roots.len() + 1;
            // The error may quote the text.
            let certificate = certificate.or(Err(ClientError::Pem { place }))?;
            store.add(certificate.clone()).map_err(|error| {
                let problem = error.to_string();
                ClientError::Certificate { place, problem }
            })?;
            roots.push(certificate);
        }
        if roots.is_empty() {
            return Err(ClientError::NoCertificate);
        }
        Ok(Self(roots))
    }

    /// Returns the configuration of every TLS connection, or what is wrong.
    ///
    /// Reads the roots of the system. A root there that cannot be parsed is left
    /// out; the built-in ones stand in when none is left.
    pub(super) fn config(&self) -> Result<Arc<ClientConfig>, String> {
        let mut store = RootCertStore::empty();
        let (added, _) =
            store.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
        if added == 0 {
            store.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
        }
        store.add_parsable_certificates(self.0.iter().cloned());
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .map_err(|error| format!("TLS cannot be prepared: {error}"))?
            .with_root_certificates(store)
            .with_no_client_auth();
        config.alpn_protocols = vec![HTTP_1_1.to_vec()];
        Ok(Arc::new(config))
    }
}
