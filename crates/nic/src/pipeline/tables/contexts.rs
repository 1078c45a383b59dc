//! RSS contexts: key, fields and queues of rules that spread frames, by the number that their action names.

use core::sync::atomic::Ordering;
use std::sync::Arc;

use crossbeam_epoch::{Atomic, Guard, Owned, Shared};
use packet::Rss;

/// Contexts that there may be at a time.
pub const CONTEXTS: u16 = 1024;

/// The contexts. Bursts read them, one thread at a time adds and removes.
#[derive(Debug)]
pub struct Contexts {
    /// Null where a number is free.
    slots: Box<[Atomic<Rss>]>,
}

impl Default for Contexts {
    /// None of them is there.
    fn default() -> Contexts {
        Contexts { slots: (0..CONTEXTS).map(|_| Atomic::null()).collect() }
    }
}

impl Contexts {
    /// The context of a number.
    pub(super) fn get<'g>(&self, number: u16, guard: &'g Guard) -> Option<&'g Rss> {
        // Pairs with the store of `add`.
        let context = self.slots.get(usize::from(number))?.load(Ordering::Acquire, guard);
        // SAFETY: null or from `add`. It is freed a grace period after `remove`, which cannot end before this guard does.
        unsafe { context.as_ref() }
    }

    /// Adds a context before the first rule that names it is committed. Its number, or none where all are in use: then
    /// those that were removed come closer to being free.
    pub fn add(&self, context: &Rss) -> Option<u16> {
        let guard = crossbeam_epoch::pin();
        // Pairs with the swap of `free`, which may run on any thread.
        let free = |slot: &Atomic<Rss>| slot.load(Ordering::Acquire, &guard).is_null();
        let Some(number) = self.slots.iter().position(free) else {
            guard.flush();
            return None;
        };
        // Release pairs with the load of `get`.
        self.slots[number].store(Owned::new(context.clone()), Ordering::Release);
        u16::try_from(number).ok()
    }

    /// Replaces a context that rules may name. A burst may see it from one frame to the next.
    pub fn replace(&self, number: u16, context: &Rss) {
        let Some(slot) = self.slots.get(usize::from(number)) else { return };
        let guard = crossbeam_epoch::pin();
        // Release pairs with the load of `get`, acquire with the store of `add`.
        let old = slot.swap(Owned::new(context.clone()), Ordering::AcqRel, &guard);
        if !old.is_null() {
            // SAFETY: from `add` or here, and no later burst finds it.
            unsafe { guard.defer_destroy(old) };
        }
    }

    /// Removes a context, once no committed rule names it. Its number is free when all bursts of now have ended.
    pub fn remove(self: &Arc<Self>, number: u16) {
        let contexts = Arc::clone(self);
        let guard = crossbeam_epoch::pin();
        guard.defer(move || contexts.free(number));
        guard.flush();
    }

    fn free(&self, number: u16) {
        let Some(slot) = self.slots.get(usize::from(number)) else { return };
        let guard = crossbeam_epoch::pin();
        // Release pairs with the load of `add`, acquire with its store.
        let context = slot.swap(Shared::null(), Ordering::AcqRel, &guard);
        // SAFETY: from `add`, or null. All bursts that may have found it have ended, and no later one names it.
        drop(unsafe { context.try_into_owned() });
    }
}

impl Drop for Contexts {
    fn drop(&mut self) {
        for number in 0..CONTEXTS {
            self.free(number);
        }
    }
}
