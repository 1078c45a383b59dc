//! What the writer and all readers share.

use core::ptr;
use core::sync::atomic::{AtomicPtr, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use crossbeam_epoch::Guard;

use crate::arena::Arena;
use crate::limits::Limits;
use crate::records::Records;
use crate::version::Clock;
use crate::view::View;

/// The tables.
#[derive(Debug)]
pub(crate) struct Shared {
    pub(crate) clock: Clock<AtomicU64>,
    pub(crate) arena: Arena,
    pub(crate) records: Records,
    /// The view of each group; null where it has no rules.
    views: Box<[AtomicPtr<View>]>,
    /// Views that the writer left behind.
    left: Mutex<Vec<OldView>>,
}

/// A view that was replaced and that readers may still have.
#[derive(Debug)]
pub(crate) struct OldView(*mut View);

// SAFETY: it owns the view, which is Send; readers only share it.
unsafe impl Send for OldView {}

impl OldView {
    /// # Safety
    /// A grace period has passed since the view was replaced.
    pub(crate) unsafe fn free(self) {
        // SAFETY: it is from `publish`, which gave it to one owner, and no reader has it any more.
        drop(unsafe { Box::from_raw(self.0) });
    }
}

impl Shared {
    pub(crate) fn new(limits: &Limits) -> Shared {
        Shared {
            clock: Clock::default(),
            arena: Arena::new(limits.units),
            records: Records::new(limits.records),
            views: (0..limits.groups).map(|_| AtomicPtr::default()).collect(),
            left: Mutex::default(),
        }
    }

    /// The view of a group; none where it has no rules, or there is no such group.
    #[inline(always)]
    pub(crate) fn view<'g>(&self, group: u16, _guard: &'g Guard) -> Option<&'g View> {
        // Pairs with the swap of `publish`.
        let view = self.views.get(usize::from(group))?.load(Ordering::Acquire);
        // SAFETY: null, or from `publish`. It is freed a grace period after it was replaced, which cannot end before
        // this guard does.
        unsafe { view.as_ref() }
    }

    /// Replaces the view of a group. For the writer.
    pub(crate) fn publish(&self, group: u16, view: Option<View>) -> Option<OldView> {
        let view = view.map_or(ptr::null_mut(), |view| Box::into_raw(Box::new(view)));
        // Release pairs with the load of `view`.
        let old = self.views[usize::from(group)].swap(view, Ordering::Release);
        (!old.is_null()).then_some(OldView(old))
    }

    /// Keeps views until nobody has the tables any more.
    pub(crate) fn leave(&self, views: Vec<OldView>) {
        self.left.lock().unwrap_or_else(PoisonError::into_inner).extend(views);
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        let left = self.left.get_mut().unwrap_or_else(PoisonError::into_inner);
        let current = self.views.iter_mut().map(|view| OldView(*view.get_mut()));
        for view in left.drain(..).chain(current).filter(|view| !view.0.is_null()) {
            // SAFETY: nobody else has the tables, so there is no reader.
            unsafe { view.free() };
        }
    }
}
