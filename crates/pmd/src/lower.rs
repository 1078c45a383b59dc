//! A port below this one: another DPDK port, reached through calls of the driver.

use core::ffi::c_void;

use crate::limits::BURST;

/// A frame of the port below, in one piece.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct LowerFrame {
    /// Its first byte.
    pub data: *const u8,
    /// Bytes.
    pub len: u32,
    /// The buffer that it lies in, for its address to be passed on; 0 if it has to be copied.
    pub buf: u64,
}

impl LowerFrame {
    pub(crate) const NONE: LowerFrame = LowerFrame { data: core::ptr::null(), len: 0, buf: 0 };
}

/// What the NIC core calls to reach the port below, on its own thread, one call at a time.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Lower {
    /// Passed to every call.
    pub ctx: *mut c_void,
    /// Receives up to `n` frames (at most 64); they stay valid until `rx_done`.
    pub rx: unsafe extern "C" fn(ctx: *mut c_void, frames: *mut LowerFrame, n: u16) -> u16,
    /// The frames of the last `rx` are through. For each of them `bufs` has a buffer for the port below to fill: an
    /// empty one if the frame was passed on, the frame's own if it was dropped, 0 if its `buf` was 0.
    pub rx_done: unsafe extern "C" fn(ctx: *mut c_void, bufs: *const u64),
    /// Finds `n` buffers (at most 64) of at least `len[i]` bytes each; how many there were, from the first.
    pub tx_get: unsafe extern "C" fn(ctx: *mut c_void, len: *const u32, data: *mut *mut u8, n: u16) -> u16,
    /// Sends the buffers of the last `tx_get`, filled, and frees what the port below refuses; how many were
    /// sent.
    pub tx_send: unsafe extern "C" fn(ctx: *mut c_void, n: u16) -> u16,
    /// Sends up to `n` frames (at most 64) by the addresses of their buffers, instead of the two calls above; how
    /// many of them are the port below's now. If the first cannot be sent, it alone is taken, and `*faults` grows by one.
    /// Null if frames are copied.
    pub tx_pass:
        Option<unsafe extern "C" fn(ctx: *mut c_void, bufs: *const u64, n: u16, faults: *mut u16) -> u16>,
}

/// See [`Lower::tx_pass`].
pub(crate) type Pass =
    unsafe extern "C" fn(ctx: *mut c_void, bufs: *const u64, n: u16, faults: *mut u16) -> u16;

// SAFETY: the driver promises that the calls may come from the NIC core's thread, one at a time.
unsafe impl Send for Lower {}

impl Lower {
    /// Receives; how many of `frames` are filled.
    ///
    /// # Safety
    /// The port below is there, and no frames are out.
    pub(crate) unsafe fn receive(&self, frames: &mut [LowerFrame; BURST]) -> usize {
        // SAFETY: the caller's; the array has room for what is asked.
        let n = unsafe { (self.rx)(self.ctx, frames.as_mut_ptr(), BURST as u16) };
        usize::from(n).min(BURST)
    }
}
