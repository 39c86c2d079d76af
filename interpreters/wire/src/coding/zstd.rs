//! Zstandard.

use alloc::vec::Vec;

use ruzstd::decoding::errors::{FrameDecoderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

use super::{Attempt, DECODED_BYTES_MAX, Output};

/// The largest window that the coding allows in HTTP (RFC 9659).
const WINDOW_BYTES_MAX: u64 = 8 << 20;

/// What is decoded before it is counted.
const STEP_BYTES: usize = 128 << 10;

pub(super) fn is_zstd(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x28, 0xb5, 0x2f, 0xfd])
}

/// Decodes all frames.
pub(super) fn decode(bytes: &[u8]) -> Attempt {
    let mut output = Output {
        bytes: Vec::new(),
        whole: true,
    };
    let mut decoder = FrameDecoder::new();
    decoder.set_max_window_size(WINDOW_BYTES_MAX);
    let mut rest = bytes;
    while !rest.is_empty() && output.whole {
        match decoder.reset(&mut rest) {
            Ok(()) => frame(&mut decoder, &mut rest, &mut output)?,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                let length = usize::try_from(length).unwrap_or(usize::MAX);
                rest = rest.get(length..).unwrap_or_default();
            }
            Err(_unsound) => output.whole = false,
        }
    }
    Some(output)
}

fn frame(decoder: &mut FrameDecoder, rest: &mut &[u8], output: &mut Output) -> Option<()> {
    loop {
        let step = BlockDecodingStrategy::UptoBytes(STEP_BYTES);
        let decoded = decoder.decode_blocks(&mut *rest, step);
        // What the decoder holds back for references comes with the last block; of
        // a frame that is cut it is lost.
        output.whole &= decoder.collect_to_writer(&mut output.bytes).is_ok();
        if output.bytes.len() > DECODED_BYTES_MAX {
            return None;
        }
        match decoded {
            Ok(false) if output.whole => {}
            Ok(_) => break,
            Err(_unsound) => {
                output.whole = false;
                break;
            }
        }
    }
    if decoder.is_finished() {
        let stated = decoder.get_checksum_from_data();
        output.whole &= stated.is_none() || stated == decoder.get_calculated_checksum();
    }
    Some(())
}
