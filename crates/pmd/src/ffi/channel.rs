//! Calls for a port whose wire is a channel.

use ccnic::{Buf, Segment};
use core::ffi::{c_char, c_int};

use super::{done, fail};
use crate::args::Args;
pub use crate::channel::{ChannelPort, ELSEWHERE, Lent, Piece, Room, Told};
use crate::error::Error;

/// Whether the port's wire is a channel.
///
/// # Safety
/// `args` is from `rxlab_args_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_is_channel(args: *const Args) -> bool {
    // SAFETY: the caller's.
    unsafe { (*args).wire() }.is_some()
}

/// A stopped port over the channel of `args`, into `*out`.
///
/// # Safety
/// `args` is from `rxlab_args_new`; what `told` has works until the port is freed; `out` takes a pointer; `err` has room
/// for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_new(
    args: *const Args,
    told: Told,
    out: *mut *mut ChannelPort,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    match unsafe { (*args).wire() } {
        Some(wire) => {
            // SAFETY: the caller's.
            unsafe { *out = Box::into_raw(Box::new(ChannelPort::new(wire, told))) };
            0
        }
        // SAFETY: the caller's.
        None => unsafe { fail(&Error::Invalid("no channel=PATH".into()), err, err_len) },
    }
}

/// Frees a port.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`], and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_free(port: *mut ChannelPort) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(port) });
}

/// Links are made from now on.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_start(
    port: *mut ChannelPort,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*port).start(), err, err_len) }
}

/// Ends the link, and makes no other.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_stop(port: *mut ChannelPort) {
    // SAFETY: the caller's.
    unsafe { (*port).stop() };
}

/// Bytes of the longest frame that goes through.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_longest(port: *const ChannelPort) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*port).longest() }
}

/// Receives pieces of frames into the first of `n` rooms, each of `room` bytes; pieces received. One that is longer is
/// told with a length of 0. `*link` is the number of the link that they come of: a frame ends with its link.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `rooms` holds `n` entries, whose bytes may be written; `link` takes a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_rx(
    port: *mut ChannelPort,
    rooms: *mut Room,
    n: u16,
    room: u16,
    link: *mut u32,
) -> u16 {
    // SAFETY: the caller's.
    unsafe {
        let rooms = core::slice::from_raw_parts_mut(rooms, usize::from(n));
        let (came, of) = (*port).line().receive(rooms, room);
        *link = of;
        came as u16
    }
}

/// Sends whole frames of `n` pieces; frames that went. They are copied, but for those that lie in buffers of the link if
/// `*passed` says so: such a frame is the other side's.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `pieces` holds `n` entries, whose bytes may be read; `passed` takes an answer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_tx(
    port: *mut ChannelPort,
    pieces: *const Piece,
    n: u16,
    passed: *mut bool,
) -> u16 {
    // SAFETY: the caller's.
    unsafe {
        let (went, in_place) = (*port).line().send(core::slice::from_raw_parts(pieces, usize::from(n)));
        *passed = in_place;
        went as u16
    }
}

/// Receives up to `n` segments in place, into `segments`, of link `*link`; how many. Negative if no mempool has the link's
/// buffers.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `segments` holds `n` entries; `link` takes a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_rx_in_place(
    port: *mut ChannelPort,
    segments: *mut Segment,
    n: u16,
    link: *mut u32,
) -> c_int {
    // SAFETY: the caller's; any bytes make a `Segment`, but for `last`, which the caller has set.
    unsafe {
        let out = core::slice::from_raw_parts_mut(segments, usize::from(n));
        let Some((came, of)) = (*port).line().receive_in_place(out) else { return -1 };
        *link = of;
        came as c_int
    }
}

/// Lends the buffers of the link to a mempool, once there is a link, into `*lent`. Waits for `patience_ms` at most.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `lent` takes an answer; `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_lend(
    port: *mut ChannelPort,
    patience_ms: u32,
    lent: *mut Lent,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let answer = (*port).lend(patience_ms);
        done(answer.map(|answer| *lent = answer), err, err_len)
    }
}

/// The mempool is gone: nobody reaches the buffers any more.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_take_back(port: *mut ChannelPort) {
    // SAFETY: the caller's.
    unsafe { (*port).line().take_back() };
}

/// Takes up to `n` buffers for the mempool, by their numbers; how many there were.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `bufs` holds `n` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_alloc(port: *mut ChannelPort, bufs: *mut Buf, n: u32) -> u32 {
    // SAFETY: the caller's; any bytes make a `Buf`.
    unsafe { (*port).line().alloc(core::slice::from_raw_parts_mut(bufs, n as usize)) as u32 }
}

/// Gives `n` buffers of the mempool back.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`]; `bufs` holds `n` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_give(port: *mut ChannelPort, bufs: *const Buf, n: u32) {
    // SAFETY: the caller's.
    unsafe { (*port).line().free(core::slice::from_raw_parts(bufs, n as usize)) };
}

/// Buffers that the mempool would find.
///
/// # Safety
/// `port` is from [`rxlab_channel_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_channel_available(port: *const ChannelPort) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*port).line().available() as u32 }
}
