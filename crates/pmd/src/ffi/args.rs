//! Calls for a port's arguments.

use core::ffi::{c_char, c_int};

use super::{done, put, string};
pub use crate::args::Args;
use crate::args::Source;
use crate::limits::THREADS;

/// Where a port's frames come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum SourceKind {
    /// What is sent.
    Loop,
    /// A generator.
    Gen,
    /// A capture.
    Pcap,
    /// Another DPDK port.
    Port,
    /// Another port of this driver.
    Pair,
}

/// The default arguments.
#[unsafe(no_mangle)]
pub extern "C" fn rxlab_args_new() -> *mut Args {
    Box::into_raw(Box::default())
}

/// Frees them.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_free(args: *mut Args) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(args) });
}

/// Sets one argument.
///
/// # Safety
/// `args` is from [`rxlab_args_new`]; `key` and `value` end with a zero byte; `err` has room for `err_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_set(
    args: *mut Args,
    key: *const c_char,
    value: *const c_char,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*args).set(&string(key), &string(value)), err, err_len) }
}

/// Checks what belongs together.
///
/// # Safety
/// As [`rxlab_args_set`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_check(args: *const Args, err: *mut c_char, err_len: usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*args).check(), err, err_len) }
}

/// Where the frames come from.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_source(args: *const Args) -> SourceKind {
    // SAFETY: the caller's.
    match unsafe { &(*args).source } {
        Source::Loop => SourceKind::Loop,
        Source::Generated(_) => SourceKind::Gen,
        Source::Capture(_) => SourceKind::Pcap,
        Source::Port(_) => SourceKind::Port,
        Source::Pair(_) => SourceKind::Pair,
    }
}

/// Copies the NAME of `port:` or `pair:`, or the FILE of `pcap:`, with a zero byte. A name that does not fit is cut.
/// Returns its length without the zero byte, 0 where there is no name.
///
/// # Safety
/// `args` is from [`rxlab_args_new`]; `out` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_source_name(args: *const Args, out: *mut c_char, len: usize) -> usize {
    // SAFETY: the caller's.
    let name = match unsafe { &(*args).source } {
        Source::Port(name) | Source::Pair(name) | Source::Capture(name) => name.as_str(),
        Source::Loop | Source::Generated(_) => "",
    };
    // SAFETY: the caller's.
    unsafe { put(name, out, len) };
    name.len()
}

/// Sets how many lcores the program has. As many may poll a queue of an interface that allows it, unless `threads` is
/// set.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_lcores(args: *mut Args, lcores: u32) {
    // SAFETY: the caller's.
    unsafe { (*args).lcores = lcores.clamp(1, THREADS) };
}

/// Threads that may poll one Rx queue at a time, each its own half.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_threads(args: *const Args) -> u16 {
    // SAFETY: the caller's.
    unsafe { (*args).threads() as u16 }
}

/// Bytes before each frame, which the NIC core writes as well and completions count: 0 or `TAG`.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_front(args: *const Args) -> u16 {
    // SAFETY: the caller's.
    unsafe { (*args).front() as u16 }
}

/// The speed that the link tells, in Mbps: one that ethdev has a number for.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_speed(args: *const Args) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*args).speed() }
}

/// Whether the port below receives into the posted buffers: descriptors to send are of buffers then, not of bytes.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_emulate(args: *const Args) -> bool {
    // SAFETY: the caller's.
    unsafe { (*args).emulate }
}

/// Why no frame of the port may lie in several mbufs; NULL if it may.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_one_mbuf(args: *const Args) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { (*args).one_mbuf() }.map_or(core::ptr::null(), |why| why.as_ptr())
}

/// The interface's name.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_iface(args: *const Args) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { (*args).iface() }.as_ptr()
}
