//! Bytes of a buffer.

use core::ffi::{c_int, c_void};
use core::ptr;

use ccnic::{Buf, Channel, Config, Error};

use crate::answer::{Fault, answer};
use crate::ends::ChannelHandle;
use crate::given::{many, many_mut, one};

/// Copies `len` bytes to `off` of a buffer, which this side should hold; 0, or a negative errno: the link has no such
/// buffer, or they do not fit.
///
/// # Safety
/// `channel` is NULL or came from [`ccnic_accept`] or [`ccnic_connect`], and is not closed; `bytes` has `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_write(
    channel: *mut ChannelHandle,
    buf: u64,
    off: u32,
    bytes: *const c_void,
    len: u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's.
        let (channel, bytes) = unsafe { (one(channel, "channel")?, many(bytes.cast(), len, "bytes")?) };
        channel.0.write(Buf(buf), off, bytes)?;
        Ok(0)
    })
}

/// Copies `len` bytes from `off` of a buffer, which this side should hold; 0, or a negative errno as [`ccnic_write`] has.
/// Judge the copy: a hostile peer may change the buffer meanwhile.
///
/// # Safety
/// As [`ccnic_write`]; `bytes` has room for `len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_read(
    channel: *mut ChannelHandle,
    buf: u64,
    off: u32,
    bytes: *mut c_void,
    len: u32,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's. Any bytes are a `u8`.
        let (channel, bytes) = unsafe { (one(channel, "channel")?, many_mut(bytes.cast(), len, "bytes")?) };
        channel.0.read(Buf(buf), off, bytes)?;
        Ok(0)
    })
}

/// Where `len` bytes at `off` of a buffer lie, to write or read them in place as long as this side holds it; NULL if the
/// link has no such buffer, or not so many bytes in it. The other side can change them at any time: copy what you judge.
///
/// # Safety
/// As [`ccnic_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_buffer(
    channel: *mut ChannelHandle,
    buf: u64,
    off: u32,
    len: u32,
) -> *mut c_void {
    let mut at = ptr::null_mut();
    answer(|| {
        // SAFETY: the caller's.
        at = place(&unsafe { one(channel, "channel") }?.0, buf, off, len)?;
        Ok(0)
    });
    at
}

fn place(channel: &Channel, buf: u64, off: u32, len: u32) -> Result<*mut c_void, Fault> {
    let Config { bytes, buffers, .. } = *channel.config();
    if buf >= buffers.into() || off > bytes || len > bytes - off {
        return Err(Error::Bounds { buf, off, len: len as usize, bytes, buffers }.into());
    }
    let (base, stride) = channel.place();
    // SAFETY: `buffers` strides of the channel's memory lie behind `base`, and a stride has `bytes` bytes.
    Ok(unsafe { base.as_ptr().add(buf as usize * stride + off as usize) }.cast())
}

/// The buffers of this side, into `*free` those that it keeps and into `*held` those that the program holds; 0, or a negative
/// errno.
///
/// # Safety
/// As [`ccnic_write`]; `free` and `held` take a number each.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_buffers(channel: *mut ChannelHandle, free: *mut u64, held: *mut u64) -> c_int {
    answer(|| {
        // SAFETY: the caller's. Any bytes are a `u64`.
        let (channel, free, held) =
            unsafe { (one(channel, "channel")?, many_mut(free, 1, "free")?, many_mut(held, 1, "held")?) };
        let counts = channel.0.buffers();
        free.fill(counts.0);
        held.fill(counts.1);
        Ok(0)
    })
}

/// Bytes of a buffer, or a negative errno.
///
/// # Safety
/// As [`ccnic_write`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_bytes(channel: *mut ChannelHandle) -> c_int {
    // SAFETY: the caller's.
    answer(|| Ok(unsafe { one(channel, "channel") }?.0.config().bytes as usize))
}
