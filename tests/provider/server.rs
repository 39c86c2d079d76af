//! What the connections share: the script, the journal and the held replies.

use std::sync::{Arc, Condvar, Mutex};

use rustls::ServerConfig;

use crate::Outcome;
use crate::journal::Journal;
use crate::script::{On, Reply};

/// A server that answers by a script.
pub(crate) struct Server {
    script: Vec<Reply>,
    pub(crate) journal: Journal,
    pub(crate) tls: Option<Arc<ServerConfig>>,
    taken: Mutex<usize>,
    goes: Mutex<usize>,
    gone: Condvar,
}

impl Server {
    /// Makes a server; its script holds a reply at least.
    pub(crate) fn new(
        script: Vec<Reply>,
        journal: Journal,
        tls: Option<Arc<ServerConfig>>,
    ) -> Outcome<Self> {
        if script.is_empty() {
            return Err("a script holds a reply at least".into());
        }
        Ok(Self {
            script,
            journal,
            tls,
            taken: Mutex::default(),
            goes: Mutex::default(),
            gone: Condvar::new(),
        })
    }

    /// Takes the next reply and its number, from 1. One that waits for a request is
    /// not taken `on` accept, and is taken by the request.
    pub(crate) fn take(&self, on: On) -> Outcome<Option<(usize, &Reply)>> {
        let mut taken = self.taken.lock().map_err(|error| error.to_string())?;
        let next = self.script.get(*taken).or(self.script.last());
        let next = next.filter(|reply| on == On::Request || reply.on == On::Accept);
        Ok(next.map(|reply| {
            *taken += 1;
            (*taken, reply)
        }))
    }

    /// Lets one held reply go.
    pub(crate) fn let_one_go(&self) {
        if let Ok(mut goes) = self.goes.lock() {
            *goes += 1;
            self.gone.notify_all();
        }
    }

    /// Waits until a held reply may go.
    pub(crate) fn wait_to_go(&self) -> Outcome {
        let goes = self.goes.lock().map_err(|error| error.to_string())?;
        let waited = self.gone.wait_while(goes, |goes| *goes == 0);
        *waited.map_err(|error| error.to_string())? -= 1;
        Ok(())
    }
}
