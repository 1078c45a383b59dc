//! Real shared memory between threads, and between processes.
//!
//! A [`Region`] owns the bytes; its handles are `Copy`, a pointer and a mask, and borrow it, so safe
//! code can neither outlive it nor leave it. Every shared word is an atomic.

mod bytes;
pub mod clock;
#[cfg_attr(not(target_os = "linux"), allow(dead_code, reason = "regions are shared on Linux alone"))]
mod directory;
mod foreign;
#[cfg(target_os = "linux")]
mod handover;
mod pages;
mod payload;
#[cfg(test)]
mod reach;
mod region;
mod streaming;
mod view;
mod wide;

/// Starts fetching the line that `what` begins in.
#[inline(always)]
pub fn prefetch<T>(what: &T) {
    payload::prefetch(core::ptr::from_ref(what).cast());
}

pub use foreign::Foreign;
#[cfg(target_os = "linux")]
pub use handover::{hung_up, receive_file, send_file};
pub use payload::{Buffers, Payload};
pub use region::{Backing, Region, WordSpace};
pub use view::{NativeView, Table, Words};
