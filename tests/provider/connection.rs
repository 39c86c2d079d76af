//! One connection from its beginning to its end.

use std::io::{self, Write as _};
use std::net::TcpStream;

use model::digest::Hasher;

use crate::Outcome;
use crate::peer::Peer;
use crate::request::Inbox;
use crate::script::{On, Piece, Reply, Then};
use crate::server::Server;

/// Serves a connection.
pub(crate) fn serve(server: &Server, stream: TcpStream) -> Outcome {
    let mut peer = Peer::new(stream, server.tls.as_ref())?;
    let mut inbox = Inbox::default();
    loop {
        let (number, reply) = if let Some(taken) = server.take(On::Accept)? {
            taken
        } else {
            let Some(request) = inbox.next(&mut peer)? else {
                return Ok(());
            };
            let taken = server.take(On::Request)?.ok_or("no reply is left")?;
            server.journal.received(taken.0, &request)?;
            taken
        };
        let whole = answer(server, number, reply, &mut peer)?;
        match reply.then {
            Then::Keep if whole => {}
            Then::Keep | Then::Close => {
                peer.finish()?;
                // Bytes that nobody read would turn the close into a reset.
                if reply.on == On::Accept {
                    peer.drain()?;
                }
                return Ok(());
            }
            Then::Reset => return peer.reset(),
            Then::Hold => {
                peer.drain()?;
                return Ok(());
            }
        }
    }
}

/// Sends a reply and writes down what was sent of its body. Returns whether the
/// client took all of it.
fn answer(server: &Server, number: usize, reply: &Reply, peer: &mut Peer) -> Outcome<bool> {
    if reply.hold_before {
        server.wait_to_go()?;
    }
    let mut hasher = Hasher::default();
    let mut length = 0;
    let mut whole = true;
    for piece in reply.pieces()? {
        let written = send(peer, &piece);
        if piece.body {
            let taken = piece.bytes.get(..written).unwrap_or_default();
            hasher.update(taken);
            length += taken.len();
        }
        if written < piece.bytes.len() {
            whole = false;
            break;
        }
    }
    server.journal.sent(number, hasher.finish(), length)?;
    Ok(whole)
}

/// Returns how many bytes the connection took.
fn send(peer: &mut Peer, piece: &Piece) -> usize {
    let mut written = 0;
    while let Some(rest) = piece.bytes.get(written..).filter(|rest| !rest.is_empty()) {
        match peer.write(rest) {
            Ok(0) => break,
            Ok(count) => written += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(_) => break,
        }
    }
    peer.flush().ok();
    written
}
