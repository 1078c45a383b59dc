//! What the driver calls. For every pointer the driver promises that it comes from the call that the function's text
//! names and is not freed yet. Where the text says so, one thread at a time uses it.
//!
//! Calls that can fail return 0 or a negative errno and leave one line in `err`.

mod args;
mod channel;
mod flow;
mod names;
mod nic_core;
mod port;
mod queue;
mod shared;

use core::ffi::{CStr, c_char, c_int};

use crate::error::Error;

pub use args::*;
pub use channel::*;
pub use flow::*;
pub use names::*;
pub use nic_core::*;
pub use port::*;
pub use queue::*;
pub use shared::*;

// The types and constants of these calls.
pub use crate::counters::{Counters, HOST_COUNTERS, HostCounters, LEVELS, OUTCOMES, RxCounters, TxCounters};
pub use crate::limits::{HALVES, QUEUES, TAG, THREADS};
pub use crate::lower::{Lower, LowerFrame};
pub use nic::{FOLLOWS, Filter, GROUPS, HASHED, IP_BAD, IP_GOOD, L4_BAD, L4_GOOD, MACS, META, MORE};

/// Puts one line into `err` and returns the errno.
///
/// # Safety
/// `err` is null or has room for `len` bytes.
unsafe fn fail(e: &Error, err: *mut c_char, len: usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { put(&e.to_string(), err, len) };
    match e {
        Error::Invalid(_) => -libc::EINVAL,
        Error::Busy => -libc::ETIMEDOUT,
    }
}

/// As [`fail`], for a result.
///
/// # Safety
/// As [`fail`].
unsafe fn done(result: Result<(), Error>, err: *mut c_char, len: usize) -> c_int {
    match result {
        Ok(()) => 0,
        // SAFETY: the caller's.
        Err(e) => unsafe { fail(&e, err, len) },
    }
}

fn code(result: Result<(), Error>) -> c_int {
    // SAFETY: no text is wanted.
    unsafe { done(result, core::ptr::null_mut(), 0) }
}

/// Copies as much of `text` as fits, with a zero byte.
///
/// # Safety
/// `out` is null or has room for `len` bytes.
unsafe fn put(text: &str, out: *mut c_char, len: usize) {
    if out.is_null() || len == 0 {
        return;
    }
    let n = text.len().min(len - 1);
    // SAFETY: `n + 1` bytes fit, which the caller promises.
    unsafe {
        core::ptr::copy_nonoverlapping(text.as_ptr().cast(), out, n);
        *out.add(n) = 0;
    }
}

/// # Safety
/// `text` ends with a zero byte.
unsafe fn string(text: *const c_char) -> String {
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}
