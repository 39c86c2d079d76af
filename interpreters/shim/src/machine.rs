//! What a module has in place of an operating system: memory, and a way to stop.
//!
//! A module runs once and is gone, so memory is handed out from front to back
//! and only the last block is ever taken back. A general allocator kept lists
//! that no run lived long enough to use, and cost more than the reading of a
//! small body; unwinding and the text of panics have nowhere to go.

#![expect(unsafe_code, reason = "handing out memory is unsafe by its nature")]

use core::alloc::{GlobalAlloc, Layout};
use core::arch::wasm32;
use core::panic::PanicInfo;
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};

const PAGE_BYTES: usize = 64 << 10;

/// Memories below 4 MiB double.
const DOUBLING_PAGES_MAX: usize = 64;

/// What `memory.grow` returns when the host allows no more.
const REFUSED: usize = usize::MAX;

unsafe extern "C" {
    /// The linker puts it behind the stack and the static data.
    safe static __heap_base: u8;
}

/// Memory from the heap's base to the end of the linear memory.
struct Memory {
    /// The address of the first free byte; zero before anything was handed out.
    /// The machine has one thread: the atomic is here to be allowed in a static.
    free: AtomicUsize,
}

#[global_allocator]
static MEMORY: Memory = Memory {
    free: AtomicUsize::new(0),
};

impl Memory {
    fn free(&self) -> usize {
        match self.free.load(Relaxed) {
            0 => (&raw const __heap_base).addr(),
            free => free,
        }
    }

    /// Hands out everything up to an end, and returns whether it is there.
    fn take_until(&self, end: usize) -> bool {
        if end > wasm32::memory_size(0) * PAGE_BYTES && !grow_to(end) {
            return false;
        }
        self.free.store(end, Relaxed);
        true
    }

    /// Returns whether a block is the last one that was handed out.
    fn is_last(&self, block: *mut u8, layout: Layout) -> bool {
        block.addr() + layout.size() == self.free()
    }
}

/// Grows the linear memory, if the host allows it. Growing costs more than a page
/// does, so a small memory doubles. A large one takes what it needs: where memory
/// is limited, room to spare could be what passes the limit.
#[cold]
fn grow_to(end: usize) -> bool {
    let pages = wasm32::memory_size(0);
    let missing = end.div_ceil(PAGE_BYTES) - pages;
    let spare = if pages < DOUBLING_PAGES_MAX { pages } else { 0 };
    wasm32::memory_grow(0, missing.max(spare)) != REFUSED
}

// SAFETY: a block starts at or behind the first free byte, which `take_until`
// then moves to the block's end, so blocks that are in use never overlap, and
// their bytes exist because the linear memory never shrinks. The first free byte
// moves back only when the last block is given up.
unsafe impl GlobalAlloc for Memory {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let start = self.free().checked_next_multiple_of(layout.align());
        let block = start.and_then(|start| Some((start, start.checked_add(layout.size())?)));
        match block {
            Some((start, end)) if self.take_until(end) => ptr::with_exposed_provenance_mut(start),
            Some(_) | None => ptr::null_mut(),
        }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        if self.is_last(block, layout) {
            self.free.store(block.addr(), Relaxed);
        }
    }

    unsafe fn realloc(&self, block: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        if self.is_last(block, layout) {
            return match block.addr().checked_add(size) {
                Some(end) if self.take_until(end) => block,
                Some(_) | None => ptr::null_mut(),
            };
        }
        if size <= layout.size() {
            return block;
        }
        // SAFETY: the caller promises that the size is not zero and fits the
        // alignment, and that `block` holds `layout.size()` bytes, which is less;
        // a block that was just handed out overlaps none.
        unsafe {
            let larger = Layout::from_size_align_unchecked(size, layout.align());
            let moved = self.alloc(larger);
            if !moved.is_null() {
                ptr::copy_nonoverlapping(block, moved, layout.size());
            }
            moved
        }
    }
}

/// Traps. The host reports it and records nothing.
#[panic_handler]
fn stop(_: &PanicInfo<'_>) -> ! {
    wasm32::unreachable()
}
