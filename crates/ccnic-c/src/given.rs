//! What a program hands in. What can be seen to be wrong is an error; that a pointer points to what it should is its
//! promise.

use core::ffi::{CStr, c_char, c_int};
use std::time::Duration;

use ccnic::{Buf, Config, Segment};

use crate::answer::Fault;

/// One piece of a frame in a buffer.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct SegmentC {
    /// The buffer.
    pub buf: u64,
    /// Its first byte there.
    pub off: u16,
    /// Bytes.
    pub len: u16,
    /// 1 if the frame ends with it, else 0.
    pub last: u8,
}

// Slices of one are read as slices of the other.
const _: () = {
    assert!(size_of::<SegmentC>() == 16 && size_of::<Segment>() == 16);
    assert!(align_of::<SegmentC>() == 8 && align_of::<Segment>() == 8);
    assert!(core::mem::offset_of!(SegmentC, buf) == core::mem::offset_of!(Segment, buf));
    assert!(core::mem::offset_of!(SegmentC, off) == core::mem::offset_of!(Segment, off));
    assert!(core::mem::offset_of!(SegmentC, len) == core::mem::offset_of!(Segment, len));
    assert!(core::mem::offset_of!(SegmentC, last) == core::mem::offset_of!(Segment, last));
    assert!(core::mem::offset_of!(SegmentC, off) == 8 && core::mem::offset_of!(SegmentC, last) == 12);
    assert!(size_of::<Buf>() == size_of::<u64>() && align_of::<Buf>() == align_of::<u64>());
};

fn sound<T>(pointer: *const T, what: &str) -> Result<(), Fault> {
    if pointer.is_null() {
        return Err(Fault::argument(format!("{what} is NULL")));
    }
    if !pointer.is_aligned() {
        return Err(Fault::argument(format!(
            "{what} is not aligned; allowed: a multiple of {}",
            align_of::<T>()
        )));
    }
    Ok(())
}

/// # Safety
/// `pointer` is null, or points to a `T` that nobody else uses for `'a`.
#[inline]
pub(crate) unsafe fn one<'a, T>(pointer: *mut T, what: &str) -> Result<&'a mut T, Fault> {
    sound(pointer, what)?;
    // SAFETY: neither null nor misaligned; the rest is the caller's.
    Ok(unsafe { &mut *pointer })
}

/// # Safety
/// `pointer` is null, or `n` of `T` may be read there for `'a`.
#[inline]
pub(crate) unsafe fn many<'a, T>(pointer: *const T, n: u32, what: &str) -> Result<&'a [T], Fault> {
    if n == 0 {
        return Ok(&[]);
    }
    count(n, what)?;
    sound(pointer, what)?;
    // SAFETY: neither null nor misaligned, and 2^31 of 16 B are in an address space; the rest is the caller's.
    Ok(unsafe { core::slice::from_raw_parts(pointer, n as usize) })
}

/// # Safety
/// `pointer` is null, or `n` of `T` may be written there for `'a`. Any bytes are a `T`.
#[inline]
pub(crate) unsafe fn many_mut<'a, T>(pointer: *mut T, n: u32, what: &str) -> Result<&'a mut [T], Fault> {
    if n == 0 {
        return Ok(&mut []);
    }
    count(n, what)?;
    sound(pointer, what)?;
    // SAFETY: as in `many`.
    Ok(unsafe { core::slice::from_raw_parts_mut(pointer, n as usize) })
}

/// Answers are an `int`.
fn count(n: u32, what: &str) -> Result<(), Fault> {
    if i32::try_from(n).is_err() {
        return Err(Fault::argument(format!("{n} of {what}; allowed: up to {}", i32::MAX)));
    }
    Ok(())
}

/// Segments as the link knows them.
#[inline]
pub(crate) fn segments(segs: &[SegmentC]) -> Result<&[Segment], Fault> {
    if let Some(at) = segs.iter().position(|s| s.last > 1) {
        return Err(Fault::argument(format!("segment {at}: last is {}; allowed: 0, 1", segs[at].last)));
    }
    // SAFETY: the layouts are alike, as asserted above, and each `last` is a `bool`.
    Ok(unsafe { core::slice::from_raw_parts(segs.as_ptr().cast(), segs.len()) })
}

/// # Safety
/// `text` is null, or ends with a zero byte and stays for `'a`.
unsafe fn text<'a>(text: *const c_char, what: &str) -> Result<&'a CStr, Fault> {
    sound(text, what)?;
    // SAFETY: not null; the rest is the caller's.
    Ok(unsafe { CStr::from_ptr(text) })
}

/// # Safety
/// `path` is null, or ends with a zero byte and stays for `'a`.
pub(crate) unsafe fn path<'a>(path: *const c_char) -> Result<&'a std::path::Path, Fault> {
    // SAFETY: the caller's.
    let bytes = unsafe { text(path, "path") }?.to_bytes();
    Ok(std::path::Path::new(<std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(bytes)))
}

/// # Safety
/// `config` is null, which is the default, or ends with a zero byte.
pub(crate) unsafe fn config(config: *const c_char) -> Result<Config, Fault> {
    if config.is_null() {
        return Ok(Config::default());
    }
    // SAFETY: the caller's.
    let text = unsafe { text(config, "config") }?.to_str();
    let text = text.map_err(|_| Fault::argument("config is no UTF-8; allowed: KEY=VALUE,..."))?;
    Ok(text.parse()?)
}

/// Milliseconds as `poll` takes them: for ever, if negative.
pub(crate) fn patience(ms: c_int) -> Duration {
    u64::try_from(ms).map_or(Duration::MAX, Duration::from_millis)
}
