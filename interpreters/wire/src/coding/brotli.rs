//! brotli.

use alloc::vec;
use alloc::vec::Vec;

use alloc_no_stdlib::{Allocator, SliceWrapper, SliceWrapperMut};
use brotli_decompressor::{BrotliDecompressStream, BrotliResult, BrotliState};

use super::{Attempt, DECODED_BYTES_MAX, Output};

/// The first room for output, in bytes.
const ROOM_BYTES: usize = 16 << 10;

/// Memory for the decoder.
#[derive(Clone, Copy, Default)]
struct Heap;

/// A piece of it.
#[derive(Default)]
struct Block<T>(Vec<T>);

impl<T> SliceWrapper<T> for Block<T> {
    fn slice(&self) -> &[T] {
        &self.0
    }
}

impl<T> SliceWrapperMut<T> for Block<T> {
    fn slice_mut(&mut self) -> &mut [T] {
        &mut self.0
    }
}

impl<T: Clone + Default> Allocator<T> for Heap {
    type AllocatedMemory = Block<T>;

    fn alloc_cell(&mut self, length: usize) -> Block<T> {
        Block(vec![T::default(); length])
    }

    fn free_cell(&mut self, block: Block<T>) {
        drop(block);
    }
}

pub(super) fn decode(bytes: &[u8]) -> Attempt {
    let mut state: BrotliState<Heap, Heap, Heap> = BrotliState::new_strict(Heap, Heap, Heap);
    let room = bytes.len().saturating_mul(4);
    let mut output = vec![0; room.clamp(ROOM_BYTES, DECODED_BYTES_MAX)];
    let (mut left, mut used) = (bytes.len(), 0);
    let (mut written, mut total) = (0, 0);
    loop {
        let mut room = output.len() - written;
        let result = BrotliDecompressStream(
            &mut left,
            &mut used,
            bytes,
            &mut room,
            &mut written,
            &mut output,
            &mut total,
            &mut state,
        );
        match result {
            BrotliResult::NeedsMoreOutput if output.len() >= DECODED_BYTES_MAX => return None,
            BrotliResult::NeedsMoreOutput => {
                let room = output.len().saturating_mul(2).min(DECODED_BYTES_MAX);
                output.resize(room, 0);
            }
            BrotliResult::ResultSuccess
            | BrotliResult::NeedsMoreInput
            | BrotliResult::ResultFailure => {
                output.truncate(written);
                return Some(Output {
                    bytes: output,
                    whole: matches!(result, BrotliResult::ResultSuccess) && left == 0,
                });
            }
        }
    }
}
