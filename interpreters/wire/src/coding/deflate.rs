//! gzip, zlib and bare deflate.

use alloc::boxed::Box;
use alloc::vec::Vec;

use miniz_oxide::inflate::TINFLStatus;
use miniz_oxide::inflate::core::{DecompressorOxide, decompress, inflate_flags};

use super::{Attempt, DECODED_BYTES_MAX, Output};

/// The first room for output, in bytes.
const ROOM_BYTES: usize = 16 << 10;

/// Fixed part of a gzip header; a checksum and a length are as long as 8 bytes.
const HEADER_BYTES: usize = 10;
const TRAILER_BYTES: usize = 8;

pub(super) fn is_gzip(bytes: &[u8]) -> bool {
    bytes.starts_with(&[0x1f, 0x8b, 0x08])
}

/// Decodes all members of a gzip file. What follows the last one does not count.
pub(super) fn gzip(bytes: &[u8]) -> Attempt {
    let mut output = Output {
        bytes: Vec::new(),
        whole: true,
    };
    let mut rest = bytes;
    while is_gzip(rest) && output.whole {
        let Some(body) = behind_header(rest) else {
            output.whole = false;
            break;
        };
        let start = output.bytes.len();
        let used = inflate(body, 0, &mut output)?;
        let trailer = body.get(used..used + TRAILER_BYTES);
        let member = output.bytes.get(start..).unwrap_or_default();
        output.whole &= trailer.is_some_and(|trailer| fits(trailer, member));
        rest = body.get(used + TRAILER_BYTES..).unwrap_or_default();
    }
    Some(output)
}

/// Checks the checksum and the length of a member.
fn fits(trailer: &[u8], member: &[u8]) -> bool {
    let Some((checksum, rest)) = trailer.split_first_chunk::<4>() else {
        return false;
    };
    let length = u32::try_from(member.len()).unwrap_or(u32::MAX);
    u32::from_le_bytes(*checksum) == crc32fast::hash(member)
        && rest.first_chunk::<4>() == Some(&length.to_le_bytes())
}

/// Returns what follows the header of a member.
fn behind_header(member: &[u8]) -> Option<&[u8]> {
    const CHECKSUM: u8 = 1 << 1;
    const EXTRA: u8 = 1 << 2;
    const NAME: u8 = 1 << 3;
    const COMMENT: u8 = 1 << 4;
    let flags = *member.get(3)?;
    let mut rest = member.get(HEADER_BYTES..)?;
    if flags & EXTRA != 0 {
        let (length, behind) = rest.split_first_chunk::<2>()?;
        rest = behind.get(usize::from(u16::from_le_bytes(*length))..)?;
    }
    for flag in [NAME, COMMENT] {
        if flags & flag != 0 {
            let end = memchr::memchr(0, rest)?;
            rest = rest.get(end + 1..)?;
        }
    }
    if flags & CHECKSUM != 0 {
        rest = rest.get(2..)?;
    }
    Some(rest)
}

/// Decodes the coding `deflate`, which should have a zlib header and sometimes
/// has none.
pub(super) fn deflate(bytes: &[u8]) -> Attempt {
    let flags = if has_zlib_header(bytes) {
        inflate_flags::TINFL_FLAG_PARSE_ZLIB_HEADER | inflate_flags::TINFL_FLAG_COMPUTE_ADLER32
    } else {
        0
    };
    let mut output = Output {
        bytes: Vec::new(),
        whole: true,
    };
    inflate(bytes, flags, &mut output)?;
    Some(output)
}

fn has_zlib_header(bytes: &[u8]) -> bool {
    let Some((header, _)) = bytes.split_first_chunk::<2>() else {
        return false;
    };
    let [method, _] = header;
    method & 0x0f == 8 && u16::from_be_bytes(*header).is_multiple_of(31)
}

/// Appends what a deflate stream decodes to, and returns how much of it was used.
fn inflate(bytes: &[u8], flags: u32, output: &mut Output) -> Option<usize> {
    let flags = flags | inflate_flags::TINFL_FLAG_USING_NON_WRAPPING_OUTPUT_BUF;
    let mut machine = Box::<DecompressorOxide>::default();
    let mut used = 0;
    let start = output.bytes.len();
    let mut written = start;
    // Text is rarely less than four times its coded size.
    let room = bytes.len().saturating_mul(4).max(ROOM_BYTES);
    let room = start.saturating_add(room).min(DECODED_BYTES_MAX);
    output.bytes.resize(room, 0);
    loop {
        let rest = bytes.get(used..).unwrap_or_default();
        // References reach back within this member only.
        let member = output.bytes.get_mut(start..).unwrap_or_default();
        let (status, took, gave) = decompress(&mut machine, rest, member, written - start, flags);
        used += took;
        written += gave;
        if status == TINFLStatus::HasMoreOutput {
            if output.bytes.len() >= DECODED_BYTES_MAX {
                return None;
            }
            let room = output.bytes.len().saturating_mul(2).min(DECODED_BYTES_MAX);
            output.bytes.resize(room, 0);
            continue;
        }
        output.whole &= status == TINFLStatus::Done;
        output.bytes.truncate(written);
        return Some(used);
    }
}
