//! Real shared memory between the threads of a process.
//!
//! A [`Region`] owns the bytes; its handles are `Copy`, a pointer and a mask, and borrow it, so safe
//! code can neither outlive it nor leave it. Every shared word is an atomic.

mod foreign;
mod pages;
mod payload;
mod region;
mod view;

/// Starts fetching the line that `what` begins in.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    payload::prefetch(core::ptr::from_ref(what).cast());
}

pub use foreign::Foreign;
pub use payload::{Buffers, Payload};
pub use region::{Backing, Region, WordSpace};
pub use view::{NativeView, Table, Words};
