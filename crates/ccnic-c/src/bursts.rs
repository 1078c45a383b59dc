//! Frames: the calls of Fig. 5 of CC-NIC.

use core::ffi::c_int;

use ccnic::{Channel, Segment};

use crate::answer::{Fault, answer};
use crate::ends::ChannelHandle;
use crate::given::{SegmentC, many, many_mut, one, patience, segments};

/// Segments that are received at once.
const TOGETHER: usize = 32;
const NONE_C: SegmentC = SegmentC { buf: 0, off: 0, len: 0, last: 0 };

/// Takes up to `n` buffers into `bufs`; how many there were, or a negative errno.
///
/// # Safety
/// `channel` is NULL or came from [`ccnic_accept`] or [`ccnic_connect`], and is not closed; `bufs` has room for `n`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_alloc(channel: *mut ChannelHandle, bufs: *mut u64, n: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's. A `Buf` is a `u64`.
        let (channel, bufs) = unsafe { (one(channel, "channel")?, many_mut(bufs.cast(), n, "bufs")?) };
        Ok(channel.0.alloc(bufs))
    })
}

/// Gives `n` buffers back that this side holds; 0, or a negative errno. Those that it does not hold stay where they are.
///
/// # Safety
/// As [`ccnic_alloc`]; `bufs` has `n` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_free(channel: *mut ChannelHandle, bufs: *const u64, n: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's. A `Buf` is a `u64`.
        let (channel, bufs) = unsafe { (one(channel, "channel")?, many(bufs.cast(), n, "bufs")?) };
        channel.0.free(bufs);
        Ok(0)
    })
}

/// Sends as many whole frames of `n` segments as there is room for; the segments taken, or a negative errno. Their buffers
/// are the other side's from then on. A segment outside its buffer is an error, and nothing is sent. A frame with a buffer
/// that this side does not hold goes nowhere.
///
/// # Safety
/// As [`ccnic_alloc`]; `segs` has `n` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_tx_burst(channel: *mut ChannelHandle, segs: *const SegmentC, n: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's.
        let (channel, segs) = unsafe { (one(channel, "channel")?, many(segs, n, "segs")?) };
        Ok(channel.0.send(segments(segs)?)?)
    })
}

/// Receives up to `n` segments into `segs`; how many, or a negative errno: `-EPIPE` once the other side is gone and all
/// that it sent is received. Their buffers are this side's from then on. A frame ends with a segment that says so, perhaps
/// in a later call.
///
/// # Safety
/// As [`ccnic_alloc`]; `segs` has room for `n`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_rx_burst(channel: *mut ChannelHandle, segs: *mut SegmentC, n: u32) -> c_int {
    answer(|| {
        // SAFETY: the caller's. Any bytes are a `SegmentC`.
        let (channel, out) = unsafe { (one(channel, "channel")?, many_mut(segs, n, "segs")?) };
        let mut came = 0;
        for part in out.chunks_mut(TOGETHER) {
            let got = receive(&mut channel.0, part, Channel::receive);
            // What came is told first. That the other side is gone is found out again.
            let got = if came > 0 { got.unwrap_or(0) } else { got? };
            came += got;
            if got < part.len() {
                break;
            }
        }
        Ok(came)
    })
}

/// As [`ccnic_rx_burst`] for up to 32 segments, but sleeps while there is nothing, for `timeout_ms` milliseconds at most,
/// for ever if that is negative. 0 if the time is up.
///
/// # Safety
/// As [`ccnic_rx_burst`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_wait(
    channel: *mut ChannelHandle,
    segs: *mut SegmentC,
    n: u32,
    timeout_ms: c_int,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's. Any bytes are a `SegmentC`.
        let (channel, out) = unsafe { (one(channel, "channel")?, many_mut(segs, n, "segs")?) };
        let first = out.len().min(TOGETHER);
        receive(&mut channel.0, &mut out[..first], |channel, segs| channel.wait(segs, patience(timeout_ms)))
    })
}

/// Receives into `out`.
#[inline]
fn receive(
    channel: &mut Channel,
    out: &mut [SegmentC],
    call: impl FnOnce(&mut Channel, &mut [Segment]) -> Result<usize, ccnic::Error>,
) -> Result<usize, Fault> {
    out.fill(NONE_C);
    // SAFETY: the layouts are alike, as `given` asserts, and each `last` is 0 by the line above.
    let out = unsafe { core::slice::from_raw_parts_mut(out.as_mut_ptr().cast::<Segment>(), out.len()) };
    Ok(call(channel, out)?)
}
