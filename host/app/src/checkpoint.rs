//! Checkpoints: the tree's size and root in a signed note (C2SP signed-note and
//! tlog-checkpoint), which can be kept where this home's owner cannot write.

use std::fmt::Write as _;
use std::fs;
use std::io;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use ed25519_dalek::{Signature, Signer as _, SigningKey, VerifyingKey};
use model::Digest;
use model::id::LedgerId;
use model::merkle::Edge;
use store::Home;

use crate::context::{Session, random};
use crate::error::AppError;

/// The signature algorithm's byte in key ids and verifier keys: Ed25519.
const ALGORITHM: u8 = 1;

/// The key that checkpoints are signed with.
#[derive(Debug)]
pub struct LogKey(SigningKey);

impl LogKey {
    /// Makes the key of a new home.
    pub(crate) fn create(home: &Home) -> Result<Self, AppError> {
        let key = SigningKey::from_bytes(&random()?);
        home.write_file(&home.keys().join("log.key"), key.as_bytes())?;
        Ok(Self(key))
    }

    fn load(home: &Home) -> Result<Self, AppError> {
        let path = home.keys().join("log.key");
        let bytes = match fs::read(&path) {
            Ok(bytes) => bytes,
            Err(source) if source.kind() == io::ErrorKind::NotFound => {
                return Err(AppError::Damage(format!(
                    "{}: expected 32 bytes, found no file",
                    path.display()
                )));
            }
            Err(source) => return Err(AppError::File { path, source }),
        };
        let seed: [u8; 32] = bytes.as_slice().try_into().map_err(|_error| {
            let found = bytes.len();
            AppError::Damage(format!(
                "{}: expected 32 bytes, found {found}",
                path.display()
            ))
        })?;
        Ok(Self(SigningKey::from_bytes(&seed)))
    }

    /// Returns the verifier key: `<name>+<key id>+<algorithm and public key>`.
    pub(crate) fn verifier(&self, ledger: LedgerId) -> String {
        Verifier {
            name: origin(ledger),
            key: self.0.verifying_key(),
        }
        .to_string()
    }
}

/// Returns the name of a ledger's log.
fn origin(ledger: LedgerId) -> String {
    format!("reread/{ledger}")
}

/// A public log key with its name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verifier {
    name: String,
    key: VerifyingKey,
}

impl Verifier {
    /// The first four bytes of SHA-256(name ‖ LF ‖ algorithm ‖ public key).
    fn key_id(&self) -> [u8; 4] {
        let digest = Digest::of_parts(&[
            self.name.as_bytes(),
            b"\n",
            &[ALGORITHM],
            self.key.as_bytes().as_slice(),
        ]);
        let [a, b, c, d, ..] = *digest.as_bytes();
        [a, b, c, d]
    }

    /// Reads the text form of a verifier key.
    pub fn parse(text: &str) -> Result<Self, AppError> {
        let wrong = || {
            let form = "<name>+<8 hex digits>+<base64>";
            AppError::Usage(format!(
                "expected a log key such as {form}, found another text"
            ))
        };
        let (name, rest) = text.trim().split_once('+').ok_or_else(wrong)?;
        let (id, encoded) = rest.split_once('+').ok_or_else(wrong)?;
        let bytes = BASE64.decode(encoded).map_err(|_error| wrong())?;
        let (algorithm, key) = bytes.split_first().ok_or_else(wrong)?;
        let key: [u8; 32] = key.try_into().map_err(|_error| wrong())?;
        let key = VerifyingKey::from_bytes(&key).map_err(|_error| wrong())?;
        let verifier = Self {
            name: name.to_owned(),
            key,
        };
        if *algorithm == ALGORITHM && hex(&verifier.key_id()) == id {
            Ok(verifier)
        } else {
            Err(wrong())
        }
    }
}

impl std::fmt::Display for Verifier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut key = vec![ALGORITHM];
        key.extend_from_slice(self.key.as_bytes());
        write!(
            f,
            "{}+{}+{}",
            self.name,
            hex(&self.key_id()),
            BASE64.encode(key)
        )
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        // Writing to a String cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// The state of a log at some time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The log.
    pub origin: String,
    /// How many events.
    pub size: u64,
    /// The root of the tree over them.
    pub root: Digest,
}

impl Checkpoint {
    fn body(&self) -> String {
        let root = BASE64.encode(self.root.as_bytes());
        format!("{}\n{}\n{root}\n", self.origin, self.size)
    }

    /// Reads a signed note and checks its signature.
    pub fn open(note: &str, verifier: &Verifier) -> Result<Self, AppError> {
        let wrong = |detail: &str| AppError::Usage(format!("not a checkpoint: {detail}"));
        let (body, signatures) = note
            .rsplit_once(
                "

",
            )
            .map(|(body, signatures)| (format!("{body}\n"), signatures))
            .ok_or_else(|| wrong("expected a text, an empty line and signatures"))?;
        let mut lines = body.lines();
        let (Some(origin), Some(size), Some(root)) = (lines.next(), lines.next(), lines.next())
        else {
            return Err(wrong("expected an origin, a size and a root"));
        };
        let root: [u8; 32] = BASE64
            .decode(root)
            .ok()
            .and_then(|bytes| bytes.as_slice().try_into().ok())
            .ok_or_else(|| wrong("expected a root of 32 bytes in base64"))?;
        let checkpoint = Self {
            origin: origin.to_owned(),
            size: decimal(size).ok_or_else(|| wrong("expected a size"))?,
            root: Digest::from_bytes(root),
        };
        if checkpoint.origin != verifier.name {
            let (expected, found) = (&verifier.name, &checkpoint.origin);
            return Err(wrong(&format!(
                "expected the log {expected}, found {found}"
            )));
        }
        let signed = signatures
            .lines()
            .any(|line| verifies(line, &body, verifier));
        if signed {
            Ok(checkpoint)
        } else {
            Err(AppError::Damage(format!(
                "the checkpoint carries no valid signature of the key {verifier}"
            )))
        }
    }
}

/// A number in its one form: no sign, no leading zero.
fn decimal(text: &str) -> Option<u64> {
    text.parse()
        .ok()
        .filter(|number: &u64| number.to_string() == text)
}

fn verifies(line: &str, body: &str, verifier: &Verifier) -> bool {
    let Some((name, encoded)) = line
        .strip_prefix("\u{2014} ")
        .and_then(|rest| rest.split_once(' '))
    else {
        return false;
    };
    let Ok(bytes) = BASE64.decode(encoded) else {
        return false;
    };
    let Some((id, signature)) = bytes.split_at_checked(4) else {
        return false;
    };
    let Ok(signature) = Signature::from_slice(signature) else {
        return false;
    };
    name == verifier.name
        && id == verifier.key_id()
        && verifier
            .key
            .verify_strict(body.as_bytes(), &signature)
            .is_ok()
}

impl Session {
    /// Returns the signed note of the ledger as it is now.
    pub fn checkpoint(&self) -> Result<String, AppError> {
        let edge: Edge = self.ledger.reader().edge()?;
        let key = LogKey::load(&self.context.home)?;
        let origin = origin(self.ledger_id);
        let checkpoint = Checkpoint {
            origin: origin.clone(),
            size: edge.size(),
            root: edge.root(),
        };
        let body = checkpoint.body();
        let verifier = Verifier {
            name: origin,
            key: key.0.verifying_key(),
        };
        let mut signature = verifier.key_id().to_vec();
        signature.extend_from_slice(&key.0.sign(body.as_bytes()).to_bytes());
        Ok(format!(
            "{body}\n\u{2014} {} {}\n",
            verifier.name,
            BASE64.encode(signature)
        ))
    }

    /// Returns the public key of this home's checkpoints.
    pub fn log_verifier(&self) -> Result<Verifier, AppError> {
        let key = LogKey::load(&self.context.home)?;
        Ok(Verifier {
            name: origin(self.ledger_id),
            key: key.0.verifying_key(),
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::*;

    /// The vectors, and the key of the seed they name: the bytes 0 to 31.
    fn vectors() -> (Value, LogKey, Verifier) {
        let text = include_str!("../../../docs/vectors/checkpoint.json");
        let vectors: Value = serde_json::from_str(text).unwrap();
        let seed: Vec<u8> = (0..32).collect();
        let key = LogKey(SigningKey::from_bytes(&seed.try_into().unwrap()));
        let verifier = Verifier::parse(vectors["verifier_key"].as_str().unwrap()).unwrap();
        (vectors, key, verifier)
    }

    #[test]
    fn the_checkpoint_of_the_vectors_is_what_this_code_signs_and_opens() {
        let (vectors, key, verifier) = vectors();
        let member = |name: &str| vectors[name].as_str().unwrap();
        let name = member("signed").lines().next().unwrap();
        let ledger = name.strip_prefix("reread/").unwrap().parse().unwrap();
        assert_eq!(key.verifier(ledger), member("verifier_key"));
        let checkpoint = Checkpoint::open(member("note"), &verifier).unwrap();
        assert_eq!(checkpoint.body(), member("signed"));
        let signature = key.0.sign(checkpoint.body().as_bytes());
        assert_eq!(hex(&signature.to_bytes()), member("signature"));
    }

    #[test]
    fn a_changed_checkpoint_is_refused_with_the_reason() {
        let (vectors, _, verifier) = vectors();
        let note = vectors["note"].as_str().unwrap();
        let refused = |note: &str| Checkpoint::open(note, &verifier).unwrap_err().to_string();
        let unsigned = format!("the checkpoint carries no valid signature of the key {verifier}");
        assert_eq!(refused(&note.replacen("\n7\n", "\n8\n", 1)), unsigned);
        let size = "not a checkpoint: expected a size";
        assert_eq!(refused(&note.replacen("\n7\n", "\n+7\n", 1)), size);
        assert_eq!(refused(&note.replacen("\n7\n", "\n007\n", 1)), size);
        let parts = "not a checkpoint: expected a text, an empty line and signatures";
        assert_eq!(refused("nothing"), parts);
    }
}
