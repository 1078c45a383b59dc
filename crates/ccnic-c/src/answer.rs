//! What a call returns: a number, or a negative errno with a line of text.

use core::cell::RefCell;
use core::ffi::{CStr, c_char, c_int};
use std::ffi::CString;
use std::panic::{AssertUnwindSafe, catch_unwind};

use ccnic::Error;

thread_local! {
    /// The line of this thread's last error.
    static LAST: RefCell<CString> = RefCell::default();
}

/// Why a call fails.
#[derive(Debug)]
pub(crate) struct Fault {
    errno: c_int,
    line: String,
}

impl Fault {
    /// An argument that is not allowed.
    #[cold]
    pub(crate) fn argument(line: impl Into<String>) -> Fault {
        Fault { errno: libc::EINVAL, line: line.into() }
    }
}

impl From<Error> for Fault {
    #[cold]
    fn from(e: Error) -> Fault {
        let errno = match &e {
            Error::Gone => libc::EPIPE,
            Error::Mismatch(_) => libc::EPROTONOSUPPORT,
            Error::Protocol(_) => libc::EPROTO,
            Error::Path(_) => libc::EADDRNOTAVAIL,
            Error::Bounds { .. } => libc::ERANGE,
            Error::Io(e) => e.raw_os_error().unwrap_or(libc::EIO),
            _ => libc::EINVAL,
        };
        Fault { errno, line: e.to_string() }
    }
}

/// Makes a call of C's out of one of Rust's. A panic ends here, as an error.
#[inline]
pub(crate) fn answer(call: impl FnOnce() -> Result<usize, Fault>) -> c_int {
    // What a call was at when it panicked is a channel or a listener. Both are sound in any state: their own checks hold
    // for each value, and a channel that is half way through a burst has at worst lost the buffers of it.
    match catch_unwind(AssertUnwindSafe(call)) {
        Ok(Ok(n)) => c_int::try_from(n).unwrap_or(c_int::MAX),
        Ok(Err(fault)) => failed(fault),
        Err(_) => {
            failed(Fault { errno: libc::EFAULT, line: "a fault of this library: close what was used".into() })
        }
    }
}

#[cold]
fn failed(fault: Fault) -> c_int {
    let Fault { errno, line } = fault;
    let line = CString::new(line.replace('\0', " ")).unwrap_or_default();
    // A thread that ends has no text any more.
    let _ = LAST.try_with(|last| last.replace(line));
    -errno
}

/// The line of the last call of this thread that failed: what was wrong, and what is allowed. Empty before any did. It
/// stays until the thread's next call that fails. Never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn ccnic_error() -> *const c_char {
    const NONE: &CStr = c"";
    LAST.try_with(|last| last.borrow().as_ptr()).unwrap_or(NONE.as_ptr())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn last() -> String {
        // SAFETY: it ends with a zero byte, and stays until this thread's next failure.
        unsafe { CStr::from_ptr(ccnic_error()) }.to_string_lossy().into_owned()
    }

    #[test]
    fn a_panic_is_an_error_and_text_is_the_threads_own() {
        assert_eq!((answer(|| Ok(7)), last().as_str()), (7, ""));
        let none: &[usize] = &[];
        assert_eq!(answer(|| Ok(none[std::hint::black_box(0)])), -libc::EFAULT);
        assert!(last().contains("a fault of this library"));
        assert_eq!(answer(|| Err(Fault::argument("a\0b"))), -libc::EINVAL);
        assert_eq!(last(), "a b");
        std::thread::spawn(|| assert_eq!(last(), "")).join().unwrap();
    }

    #[test]
    fn each_error_has_its_number() {
        let of = |e: Error| answer(|| Err(e.into()));
        assert_eq!(of(Error::Gone), -libc::EPIPE);
        assert_eq!(last(), "the other side is gone");
        assert_eq!(of(Error::Config("a".into())), -libc::EINVAL);
        assert_eq!(of(Error::Io(std::io::Error::from_raw_os_error(libc::EMFILE))), -libc::EMFILE);
        assert_eq!(of(Error::Io(std::io::Error::other("no number"))), -libc::EIO);
    }
}
