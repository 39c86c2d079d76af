//! What was received and what was sent, on the disk before anyone is told.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::Mutex;

use model::Digest;
use serde_json::{Value, json};

use crate::Outcome;
use crate::request::Request;

/// Appends JSON lines to files and to standard output.
pub(crate) struct Journal {
    receipts: Mutex<File>,
    sent: Mutex<File>,
}

impl Journal {
    /// Makes the files, empty.
    pub(crate) fn create(receipts: &Path, sent: &Path) -> Outcome<Self> {
        Ok(Self {
            receipts: Mutex::new(File::create(receipts)?),
            sent: Mutex::new(File::create(sent)?),
        })
    }

    /// Writes the receipt of a request, then tells that it was read whole. The target
    /// may hold a secret, so only its hash is kept; so may a header's value.
    pub(crate) fn received(&self, number: usize, request: &Request) -> Outcome {
        let names: Vec<_> = request.headers.iter().map(|(name, _)| name).collect();
        let receipt = json!({
            "request": number,
            "method": request.method,
            "target_sha256": Digest::of(request.target.as_bytes()),
            "header_names": names,
            "body_sha256": Digest::of(&request.body),
            "body_length": request.body.len(),
        });
        append(&self.receipts, &receipt)?;
        tell(&json!({ "request": number }))
    }

    /// Writes what was sent of a reply's body, then tells that it was sent.
    pub(crate) fn sent(&self, number: usize, digest: Digest, length: usize) -> Outcome {
        let line = json!({"request": number, "body_sha256": digest, "body_length": length});
        append(&self.sent, &line)?;
        tell(&json!({ "sent": number }))
    }
}

/// Prints a line.
pub(crate) fn tell(line: &Value) -> Outcome {
    let mut output = io::stdout().lock();
    writeln!(output, "{line}")?;
    Ok(output.flush()?)
}

fn append(file: &Mutex<File>, line: &Value) -> Outcome {
    let mut file = file.lock().map_err(|error| error.to_string())?;
    file.write_all(format!("{line}\n").as_bytes())?;
    Ok(file.sync_data()?)
}
