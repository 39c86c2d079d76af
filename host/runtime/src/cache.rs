//! Compiled code at rest: sealed with a key that only this home has, opened only
//! when every byte of it is as it was sealed, for the same engine and the same
//! module.
//!
//! The files are the caller's. What does not open is rebuilt, never trusted.

use std::fmt;

use hmac::{Hmac, KeyInit as _, Mac as _};
use model::Digest;
use sha2::Sha256;

use crate::compile::Compiled;
use crate::contract::Contract;
use crate::profile;

/// What an entry starts with.
const MAGIC: [u8; 8] = *b"rrcode\x00\x01";

/// Magic, engine, module, contract and length, in this order.
const HEADER_BYTES: usize = MAGIC.len() + 32 + 32 + 1 + 8;

/// The authentication code, after the header.
const CODE_START: usize = HEADER_BYTES + 32;

/// The key of one home. Whoever has it can make this program run any code.
#[derive(Clone)]
pub struct CacheKey([u8; 32]);

/// Why an entry is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CacheError {
    /// The entry ends too early.
    #[error("cache entry is {found} bytes, expected at least {expected}")]
    Truncated {
        /// In bytes.
        expected: usize,
        /// In bytes.
        found: usize,
    },
    /// The entry is something else.
    #[error("cache entry does not start with the mark of compiled code")]
    Magic,
    /// The entry is of another engine, profile or processor.
    #[error("cache entry is of another engine than {}", profile::NAME)]
    Engine,
    /// The entry is of another module.
    #[error("cache entry is of module {found}, expected {expected}")]
    Module {
        /// The module that was asked for.
        expected: Digest,
        /// The module that the entry names.
        found: Digest,
    },
    /// The entry's length is not the one that it states.
    #[error("cache entry holds {found} bytes of code, but states {expected}")]
    Length {
        /// In bytes.
        expected: u64,
        /// In bytes.
        found: usize,
    },
    /// A byte is not as it was sealed, or it was sealed elsewhere.
    #[error("cache entry does not authenticate under the key of this home")]
    Authentication,
    /// The entry is of a contract that this version does not know.
    #[error("cache entry is of the unknown contract number {0}")]
    Contract(u8),
    /// The engine's identity could not be found out.
    #[error("engine {} could not be set up: {detail}", profile::NAME)]
    Setup {
        /// What the engine says.
        detail: String,
    },
}

impl CacheKey {
    /// Wraps 32 secret random bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn code_of(&self, header: &[u8], code: &[u8]) -> Result<Hmac<Sha256>, CacheError> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).map_err(|error| {
            // HMAC takes a key of any length; this cannot happen.
            CacheError::Setup {
                detail: error.to_string(),
            }
        })?;
        mac.update(header);
        mac.update(code);
        Ok(mac)
    }
}

impl fmt::Debug for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CacheKey(..)")
    }
}

const fn number(contract: Contract) -> u8 {
    match contract {
        Contract::InterpreterV0_0_1 => 1,
        Contract::PolicyV0_0_1 => 2,
        Contract::AcceptanceV0_0_1 => 3,
        Contract::CheckV0_0_1 => 4,
        Contract::PricingV0_0_1 => 5,
    }
}

fn identity() -> Result<Digest, CacheError> {
    let engine = profile::compiling_engine().map_err(|error| CacheError::Setup {
        detail: format!("{error:#}"),
    })?;
    Ok(profile::identity(&engine))
}

impl Compiled {
    /// Returns the entry to write into the cache.
    pub fn seal(&self, key: &CacheKey) -> Result<Vec<u8>, CacheError> {
        let code = self.code();
        let length = u64::try_from(code.len()).unwrap_or(u64::MAX);
        let mut entry = Vec::with_capacity(CODE_START + code.len());
        entry.extend_from_slice(&MAGIC);
        entry.extend_from_slice(identity()?.as_bytes());
        entry.extend_from_slice(self.module().as_bytes());
        entry.push(number(self.contract()));
        entry.extend_from_slice(&length.to_be_bytes());
        let mac = key.code_of(&entry, code)?;
        entry.extend_from_slice(&mac.finalize().into_bytes());
        entry.extend_from_slice(code);
        Ok(entry)
    }

    /// Takes an entry from the cache, if it is one that this home sealed for
    /// this module and this engine.
    pub fn open(entry: Vec<u8>, key: &CacheKey, module: Digest) -> Result<Self, CacheError> {
        let truncated = CacheError::Truncated {
            expected: CODE_START,
            found: entry.len(),
        };
        let (header, rest) = entry
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or_else(|| truncated.clone())?;
        let (stated, code) = rest.split_first_chunk::<32>().ok_or(truncated)?;
        let contract = Header::read(header)?.check(module, code.len())?;
        key.code_of(header, code)?
            .verify_slice(stated)
            .map_err(|_mismatch| CacheError::Authentication)?;
        // Looked at last: it decides how the code is used, so only an authentic
        // one counts.
        let contract = Contract::ALL
            .into_iter()
            .find(|known| number(*known) == contract)
            .ok_or(CacheError::Contract(contract))?;
        Ok(Self::within(module, contract, entry, CODE_START))
    }
}

/// What an entry states of itself.
struct Header {
    magic: [u8; 8],
    engine: Digest,
    module: Digest,
    contract: u8,
    length: u64,
}

impl Header {
    fn read(bytes: &[u8; HEADER_BYTES]) -> Result<Self, CacheError> {
        let mut rest = bytes.as_slice();
        Ok(Self {
            magic: take(&mut rest)?,
            engine: Digest::from_bytes(take(&mut rest)?),
            module: Digest::from_bytes(take(&mut rest)?),
            contract: take::<1>(&mut rest)?[0],
            length: u64::from_be_bytes(take(&mut rest)?),
        })
    }

    /// Checks all that can be checked without the key, so that the error says
    /// which of it is not as expected; returns the number of the contract.
    fn check(&self, module: Digest, code_bytes: usize) -> Result<u8, CacheError> {
        if self.magic != MAGIC {
            return Err(CacheError::Magic);
        }
        if self.engine != identity()? {
            return Err(CacheError::Engine);
        }
        if self.module != module {
            return Err(CacheError::Module {
                expected: module,
                found: self.module,
            });
        }
        if u64::try_from(code_bytes) != Ok(self.length) {
            return Err(CacheError::Length {
                expected: self.length,
                found: code_bytes,
            });
        }
        Ok(self.contract)
    }
}

fn take<const N: usize>(bytes: &mut &[u8]) -> Result<[u8; N], CacheError> {
    let (first, rest) = bytes
        .split_first_chunk::<N>()
        .ok_or(CacheError::Truncated {
            expected: N,
            found: bytes.len(),
        })?;
    *bytes = rest;
    Ok(*first)
}
