//! How many calls run at a time: one for each slot of the engine's pool.

use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// The slots of a pool.
#[derive(Debug)]
pub(crate) struct Slots {
    count: Mutex<Count>,
    returned: Condvar,
}

#[derive(Debug)]
struct Count {
    free: u32,
    /// Threads that wait: without any, giving a slot back costs no system call.
    waiting: u32,
}

/// One taken slot; it is given back when dropped.
#[derive(Debug)]
pub(crate) struct Slot<'a>(&'a Slots);

impl Slots {
    pub(crate) const fn new(count: u32) -> Self {
        Self {
            count: Mutex::new(Count {
                free: count,
                waiting: 0,
            }),
            returned: Condvar::new(),
        }
    }

    /// Takes a slot, waiting until one is free.
    pub(crate) fn take(&self) -> Slot<'_> {
        let mut count = self.lock();
        while count.free == 0 {
            count.waiting += 1;
            count = self
                .returned
                .wait(count)
                .unwrap_or_else(PoisonError::into_inner);
            count.waiting -= 1;
        }
        count.free -= 1;
        Slot(self)
    }

    /// The counts are never left half-changed, so a poisoned lock is no reason to
    /// stop.
    fn lock(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Slot<'_> {
    fn drop(&mut self) {
        let mut count = self.0.lock();
        count.free += 1;
        let someone_waits = count.waiting > 0;
        drop(count);
        if someone_waits {
            self.0.returned.notify_one();
        }
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
        let count = slots.lock();
        assert_eq!((count.free, count.waiting), (2, 0));
    }
}
