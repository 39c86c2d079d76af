//! How many calls run at a time: one for each slot of the engine's pool.

use std::sync::{Condvar, Mutex, PoisonError};

/// Free slots of a pool.
#[derive(Debug)]
pub(crate) struct Slots {
    free: Mutex<u32>,
    returned: Condvar,
}

/// One taken slot; it is given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) const fn new(count: u32) -> Self {
        Self {
            free: Mutex::new(count),
            returned: Condvar::new(),
        }
    }

    /// Takes a slot, waiting until one is free.
    pub(crate) fn take(&self) -> Slot<'_> {
        // A count cannot be left half-changed, so a poisoned lock is no reason
        // to stop.
        let mut free = self.free.lock().unwrap_or_else(PoisonError::into_inner);
        while *free == 0 {
            free = self
                .returned
                .wait(free)
                .unwrap_or_else(PoisonError::into_inner);
        }
        *free -= 1;
        Slot(self)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut free = self.0.free.lock().unwrap_or_else(PoisonError::into_inner);
        *free += 1;
        drop(free);
        self.0.returned.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};
    use std::thread;

    use super::*;

    #[test]
    fn no_more_slots_are_taken_at_a_time_than_there_are() {
        let slots = Slots::new(2);
        let (now, most) = (AtomicU32::new(0), AtomicU32::new(0));
        thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let _slot = slots.take();
                        let running = now.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(running, Ordering::SeqCst);
                        thread::yield_now();
                        now.fetch_sub(1, Ordering::SeqCst);
                    }
                });
            }
        });
        assert!((1..=2).contains(&most.into_inner()));
        assert_eq!(*slots.free.lock().unwrap(), 2);
    }
}
