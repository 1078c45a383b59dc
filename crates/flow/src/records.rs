//! Lists of actions that do not fit into a unit.

use core::ptr;
use core::sync::atomic::{AtomicPtr, Ordering};

use crossbeam_epoch::Guard;

use crate::action::{Action, Fate, Plan};

/// A list, and what of it is asked for with every frame.
#[derive(Debug)]
pub(crate) struct Record {
    pub(crate) fate: Fate,
    pub(crate) count: bool,
    /// Whether the frame's bytes change.
    pub(crate) edits: bool,
    pub(crate) age: Option<u32>,
    pub(crate) list: Box<[Action]>,
}

/// Bytes of a record, its number and what the allocator keeps beside it, without its list.
pub(crate) const BYTES: u64 = 112;
const _: () =
    assert!(size_of::<Record>() + size_of::<AtomicPtr<Record>>() + 2 * 4 + 4 * 16 <= BYTES as usize);
const _: () = assert!(size_of::<Action>() <= 64, "what Limits::bytes says");

impl Record {
    pub(crate) fn new(plan: &Plan<'_>) -> Record {
        let age = plan.list.iter().find_map(|a| if let Action::Age(ticks) = a { Some(*ticks) } else { None });
        let edits = plan.list.iter().any(Action::edits);
        let count = plan.list.contains(&Action::Count);
        Record { fate: plan.fate, count, edits, age, list: plan.list.into() }
    }
}

/// Records by number. A writer puts them in and takes them out; readers look.
#[derive(Debug)]
pub(crate) struct Records(Box<[AtomicPtr<Record>]>);

impl Records {
    pub(crate) fn new(n: u32) -> Records {
        Records((0..n).map(|_| AtomicPtr::default()).collect())
    }

    /// The record of this number, which a state names that `guard`'s burst has found; none that was never put in.
    #[inline(always)]
    pub(crate) fn get<'g>(&self, number: u32, _guard: &'g Guard) -> Option<&'g Record> {
        // Pairs with the store of `put`.
        let record = self.0.get(number as usize)?.load(Ordering::Acquire);
        // SAFETY: null, or from `put`. The state named it at the burst's version, so `take` comes after a grace
        // period that cannot end before this guard does; nobody writes it meanwhile.
        unsafe { record.as_ref() }
    }

    /// The record of this number as the writer sees it.
    pub(crate) fn mine(&self, number: u32) -> Option<&Record> {
        let record = self.0.get(number as usize)?.load(Ordering::Relaxed);
        // SAFETY: null, or from `put`. Only the writer takes records out, by a call that follows this one.
        unsafe { record.as_ref() }
    }

    /// Puts a record in, for a number that has none. For the writer.
    pub(crate) fn put(&self, number: u32, record: Record) {
        let record = Box::into_raw(Box::new(record));
        // Pairs with the load of `get`.
        self.0[number as usize].store(record, Ordering::Release);
    }

    /// Frees a record.
    ///
    /// # Safety
    /// All readers have reached a version at which no state names it, and no reference from `mine` is left.
    pub(crate) unsafe fn take(&self, number: u32) {
        let record = self.0[number as usize].swap(ptr::null_mut(), Ordering::Relaxed);
        if !record.is_null() {
            // SAFETY: it is from `put`, and by the contract nobody else has it.
            drop(unsafe { Box::from_raw(record) });
        }
    }
}

impl Drop for Records {
    fn drop(&mut self) {
        for number in 0..self.0.len() as u32 {
            // SAFETY: who owns the table is alone with it.
            unsafe { self.take(number) };
        }
    }
}
