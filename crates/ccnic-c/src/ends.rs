//! Listeners and channels.

use core::ffi::{c_char, c_int};
use core::ptr;

use ccnic::{Channel, Listener};

use crate::answer::{Fault, answer};
use crate::given::{config, one, path, patience};

/// Waits for others to connect. For one thread at a time.
pub struct ListenerHandle(Listener);

/// One side of a link. For one thread at a time.
pub struct ChannelHandle(pub(crate) Channel);

/// Puts `made` where the program wants it; 1.
///
/// # Safety
/// `out` is aligned and takes a pointer.
unsafe fn put<T>(out: &mut *mut T, made: T) -> usize {
    *out = Box::into_raw(Box::new(made));
    1
}

/// Where a pointer is to go: NULL until there is one.
///
/// # Safety
/// `out` is null or takes a pointer.
unsafe fn empty<'a, T>(out: *mut *mut T, what: &str) -> Result<&'a mut *mut T, Fault> {
    if !out.is_null() && out.is_aligned() {
        // SAFETY: it takes a pointer. What is there may be no value yet.
        unsafe { out.write(ptr::null_mut()) };
    }
    // SAFETY: the caller's, and it has a value by now.
    unsafe { one(out, what) }
}

/// Listens at `path`, for links of this configuration: `KEY=VALUE,...` of `layout`, `back`, `ring`, `buffers`, `bytes` and
/// `events`, or NULL for the default. Puts the listener into `*listener` and returns 0, or a negative errno.
///
/// # Safety
/// `path` and `config` end with a zero byte; `listener` takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_listen(
    path: *const c_char,
    config: *const c_char,
    listener: *mut *mut ListenerHandle,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's.
        let (out, path, config) =
            unsafe { (empty(listener, "listener")?, self::path(path)?, self::config(config)?) };
        // SAFETY: `out` was checked.
        unsafe { put(out, ListenerHandle(Listener::bind(path, config)?)) };
        Ok(0)
    })
}

/// Waits for the next link for `timeout_ms` milliseconds at most, for ever if that is negative. Puts it into `*channel`
/// and returns 1; returns 0 if nobody came, or a negative errno: somebody came who is configured otherwise, is no channel
/// or is gone. The next call waits for another one.
///
/// # Safety
/// `listener` is NULL or came from [`ccnic_listen`] and is not closed; `channel` takes a pointer.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_accept(
    listener: *mut ListenerHandle,
    timeout_ms: c_int,
    channel: *mut *mut ChannelHandle,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's.
        let (listener, out) = unsafe { (one(listener, "listener")?, empty(channel, "channel")?) };
        let came = listener.0.accept_within(patience(timeout_ms))?;
        // SAFETY: `out` was checked.
        Ok(came.map_or(0, |channel| unsafe { put(out, ChannelHandle(channel)) }))
    })
}

/// Ends a listener. Its links go on.
///
/// # Safety
/// `listener` is NULL, or came from [`ccnic_listen`] and is used no more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_close_listener(listener: *mut ListenerHandle) {
    answer(|| {
        if !listener.is_null() {
            // SAFETY: the caller's.
            drop(unsafe { Box::from_raw(listener) });
        }
        Ok(0)
    });
}

/// Connects to the listener at `path`, with a configuration as [`ccnic_listen`] has it. Puts the link into `*channel` and
/// returns 0, or a negative errno.
///
/// # Safety
/// As [`ccnic_listen`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_connect(
    path: *const c_char,
    config: *const c_char,
    channel: *mut *mut ChannelHandle,
) -> c_int {
    answer(|| {
        // SAFETY: the caller's.
        let (out, path, config) =
            unsafe { (empty(channel, "channel")?, self::path(path)?, self::config(config)?) };
        // SAFETY: `out` was checked.
        unsafe { put(out, ChannelHandle(Channel::connect(path, config)?)) };
        Ok(0)
    })
}

/// Ends a link, and gives its memory back.
///
/// # Safety
/// `channel` is NULL, or came from [`ccnic_accept`] or [`ccnic_connect`], and neither it nor what [`ccnic_buffer`] gave
/// is used any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_close(channel: *mut ChannelHandle) {
    answer(|| {
        if !channel.is_null() {
            // SAFETY: the caller's.
            drop(unsafe { Box::from_raw(channel) });
        }
        Ok(0)
    });
}

/// Whether the other side is there, at the cost of a system call: 1 or 0.
///
/// # Safety
/// `channel` is NULL or came from [`ccnic_accept`] or [`ccnic_connect`], and is not closed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_alive(channel: *mut ChannelHandle) -> c_int {
    // SAFETY: the caller's.
    answer(|| Ok(usize::from(unsafe { one(channel, "channel") }?.0.is_alive())))
}

/// Takes back what the other side had, once it is gone: how many buffers. Frames that were not received are lost.
///
/// # Safety
/// As [`ccnic_alive`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn ccnic_reclaim(channel: *mut ChannelHandle) -> c_int {
    // SAFETY: the caller's.
    answer(|| Ok(unsafe { one(channel, "channel") }?.0.reclaim()? as usize))
}
