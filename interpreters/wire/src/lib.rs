//! What the bytes of language model providers say.
//!
//! For anyone who writes an interpreter: it goes from the bytes of a response to
//! what they say, and concludes nothing. The steps, in order:
//!
//! 1. [`coding::decode`] removes the content-codings that the bytes have.
//! 2. [`framing::split`] tells a whole JSON body from the four kinds of streams,
//!    and finds the JSON documents in it.
//! 3. [`transcript::read`] reads those documents by the rules of one
//!    [`Dialect`], and gathers reasons, texts, calls, counts and errors, each
//!    with the bytes that it stands in.
//! 4. [`ending`], [`class`] and [`usage`] say what the words of a dialect mean:
//!    tables without judgement about which word counts.
//!
//! ```
//! use wire::{Dialect, coding, ending, framing, transcript};
//!
//! let body = br#"{"choices":[{"message":{"content":"Hi"},"finish_reason":"stop"}]}"#;
//! let decoded = coding::decode(body, &[]).unwrap();
//! let framed = framing::split(Dialect::OpenaiChat, &decoded.bytes).unwrap();
//! let said = transcript::read(Dialect::OpenaiChat, &decoded.bytes, &framed);
//!
//! let choice = &said.choices[0];
//! let reason = &choice.reasons[0].word;
//! assert_eq!(choice.text.text, "Hi");
//! assert_eq!(ending::of(Dialect::OpenaiChat, &reason.text), ending::Ending::Normal);
//! assert_eq!(reason.cite.pointer, "/choices/0/finish_reason");
//! assert_eq!(reason.cite.span.of(&decoded.bytes), br#""stop""#);
//! ```
//!
//! Nothing here knows WebAssembly, and nothing needs `std`. Every function is
//! pure and total: any bytes give a result, and no bytes stop the program.

#![no_std]
#![forbid(unsafe_code)]

extern crate alloc;

pub mod class;
pub mod coding;
pub mod complaint;
pub mod dialect;
pub mod ending;
pub mod eventstream;
pub mod framing;
pub mod json;
pub mod sse;
pub mod transcript;
pub mod usage;

mod provider;

pub use dialect::Dialect;
