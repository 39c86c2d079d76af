//! Exchanges inside TLS, and certificates that are not trusted.

use std::io;

use model::exchange::ExceptionType::{ConnectionClosed, TlsError};
use rcgen::{CertifiedKey, KeyPair, generate_simple_self_signed};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

use super::*;
use crate::client::ClientError;

type Secure = StreamOwned<ServerConnection, TcpStream>;

/// The host in the certificate of the servers here.
const HOST: &str = "api.test";

fn certified(name: &str) -> CertifiedKey<KeyPair> {
    generate_simple_self_signed([name.to_owned()]).expect("a certificate")
}

/// Starts a server that shows `certified` and runs `script` inside TLS. A client
/// that refuses the handshake ends it.
fn secure_server(
    certified: &CertifiedKey<KeyPair>,
    script: impl FnOnce(&mut Secure) -> io::Result<()> + Send + 'static,
) -> Server<Option<String>> {
    let key = PrivatePkcs8KeyDer::from(certified.signing_key.serialize_der());
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .expect("versions")
        .with_no_client_auth()
        .with_single_cert(vec![certified.cert.der().clone()], PrivateKeyDer::from(key))
        .expect("a key of the certificate");
    config.alpn_protocols = vec![b"h2".to_vec(), b"http/1.1".to_vec()];
    let config = Arc::new(config);
    Server::start(move |stream| {
        let mut connection = ServerConnection::new(config).expect("a connection");
        let mut stream = stream;
        while connection.is_handshaking() {
            if connection.complete_io(&mut stream).is_err() {
                return None;
            }
        }
        let protocol = connection.alpn_protocol().map(<[u8]>::to_vec);
        script(&mut StreamOwned::new(connection, stream)).ok()?;
        String::from_utf8(protocol?).ok()
    })
}

/// Posts to `host` where `server` is found, trusting `roots` besides the usual.
fn post_to<T>(host: &str, server: &Server<T>, roots: Option<&str>, body: &[u8]) -> Received {
    let mut client = Client::new(roots.map(str::as_bytes)).expect("a client");
    let address = server.address;
    client.lookup = Arc::new(move |_, _| Ok(vec![address]));
    let target = Target::parse(&format!("https://{host}/v1")).expect("a target");
    post(&client, &target, body, PATIENT)
}

#[test]
fn a_trusted_certificate_gives_the_exact_bytes() {
    let certified = certified(HOST);
    let body = pattern(3 << 20);
    let sent = response(&body);
    let expected = body.clone();
    let server = secure_server(&certified, move |stream| {
        assert!(read_request(stream).ends_with(&expected));
        stream.write_all(&sent)?;
        stream.flush()
    });
    let received = post_to(HOST, &server, Some(&certified.cert.pem()), &body);
    // The length says where the body ends, so no close of TLS is missed.
    check_whole(&received, 200, &body);
    assert_eq!(server.result().as_deref(), Some("http/1.1"));
}

#[test]
fn an_address_may_be_what_a_certificate_names() {
    let certified = certified("127.0.0.1");
    let server = secure_server(&certified, |stream| {
        read_request(stream);
        stream.write_all(&response(b"ok"))?;
        stream.flush()
    });
    let received = post_to("127.0.0.1", &server, Some(&certified.cert.pem()), b"");
    check_whole(&received, 200, b"ok");
    server.result();
}

#[test]
fn a_close_without_notice_breaks_a_body_that_ends_with_the_connection() {
    for notice in [false, true] {
        let certified = certified(HOST);
        let server = secure_server(&certified, move |stream| {
            read_request(stream);
            stream.write_all(b"HTTP/1.1 200 OK\r\n\r\nto the end")?;
            if notice {
                stream.conn.send_close_notify();
            }
            stream.flush()
        });
        let received = post_to(HOST, &server, Some(&certified.cert.pem()), b"{}");
        if notice {
            check_whole(&received, 200, b"to the end");
        } else {
            check_partial(&received, ConnectionClosed, b"to the end");
        }
        server.result();
    }
}

#[test]
fn an_answer_inside_tls_to_a_large_request_that_is_not_read_is_seen() {
    let certified = certified(HOST);
    let body = pattern(32 << 20);
    for _ in 0..4 {
        let server = secure_server(&certified, |stream| {
            read_head(stream);
            stream.write_all(b"HTTP/1.1 401 No\r\ncontent-length: 2\r\n\r\nno")?;
            stream.flush()
        });
        let received = post_to(HOST, &server, Some(&certified.cert.pem()), &body);
        check_whole(&received, 401, b"no");
        server.result();
    }
}

#[test]
fn a_certificate_that_nobody_vouches_for_is_a_tls_error() {
    let known = certified(HOST).cert.pem();
    for roots in [None, Some(known.as_str())] {
        let server = secure_server(&certified(HOST), |_| Ok(()));
        check_none(&post_to(HOST, &server, roots, b"{}"), TlsError);
        server.result();
    }
}

#[test]
fn a_certificate_of_another_host_is_a_tls_error() {
    let certified = certified("other.test");
    for host in [HOST, "127.0.0.1"] {
        let server = secure_server(&certified, |_| Ok(()));
        let received = post_to(host, &server, Some(&certified.cert.pem()), b"{}");
        check_none(&received, TlsError);
        server.result();
    }
}

#[test]
fn a_plain_server_is_a_tls_error() {
    let scripts: [fn(TcpStream); 3] = [
        |mut stream| {
            send(&mut stream, b"HTTP/1.1 400 Bad Request\r\n\r\n");
            hold(&mut stream);
        },
        // Closed in the handshake.
        |mut stream| drop(stream.read(&mut [0; 4096])),
        // Reset in the handshake.
        |mut stream| drop(stream.read(&mut [0; 1])),
    ];
    for script in scripts {
        let server = Server::start(script);
        check_none(&post_to(HOST, &server, None, b"{}"), TlsError);
        server.result();
    }
}

#[test]
fn bytes_outside_tls_after_the_handshake_are_a_tls_error() {
    let certified = certified(HOST);
    let server = secure_server(&certified, |stream| {
        read_request(stream);
        stream.sock.write_all(b"HTTP/1.1 200 OK\r\n\r\n")?;
        hold(&mut stream.sock);
        Ok(())
    });
    let received = post_to(HOST, &server, Some(&certified.cert.pem()), b"{}");
    check_none(&received, TlsError);
    server.result();
}

#[test]
fn extra_roots_must_be_certificates() {
    let good = certified(HOST).cert.pem();
    let key = certified(HOST).signing_key.serialize_pem();
    let place = |place| ClientError::Pem { place };
    let begin = "-----BEGIN CERTIFICATE-----\n";
    let end = "-----END CERTIFICATE-----\n";
    for (pem, expected) in [
        (String::new(), ClientError::NoCertificate),
        ("SECRET".to_owned(), ClientError::NoCertificate),
        (key, ClientError::NoCertificate),
        (format!("{begin}SEC*RET\n{end}"), place(1)),
        (format!("{good}{begin}SECRET"), place(2)),
    ] {
        let error = Client::new(Some(pem.as_bytes())).expect_err(&pem);
        assert_eq!(error, expected);
        assert!(!error.to_string().contains("SEC"));
    }
    let error = Client::new(Some(format!("{good}{begin}AAAA\n{end}").as_bytes()));
    let error = error.expect_err("three zeros");
    assert!(
        matches!(error, ClientError::Certificate { place: 2, .. }),
        "{error}"
    );
}
