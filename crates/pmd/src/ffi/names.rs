//! Names of what is counted.

use core::ffi::c_char;

use rings::Outcome;

use crate::args::Args;
use crate::counters::OUTCOMES;

/// Room for an outcome's name and a zero byte.
const NAME: usize = 24;

/// The outcomes' names as C has them.
static NAMES: [[u8; NAME]; OUTCOMES] = {
    let mut names = [[0; NAME]; OUTCOMES];
    let mut i = 0;
    while i < OUTCOMES {
        let name = Outcome::ALL[i].name().as_bytes();
        assert!(name.len() < NAME);
        names[i].split_at_mut(name.len()).0.copy_from_slice(name);
        i += 1;
    }
    names
};

/// The name of an outcome; NULL beyond the last.
#[unsafe(no_mangle)]
pub extern "C" fn rxlab_outcome_name(outcome: u32) -> *const c_char {
    NAMES.get(outcome as usize).map_or(core::ptr::null(), |name| name.as_ptr().cast())
}

/// The name of a host half's counter `i`; NULL beyond the last.
///
/// # Safety
/// `args` is from `rxlab_args_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_host_counter_name(args: *const Args, i: u32) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { (*args).counter(i as usize) }.map_or(core::ptr::null(), |name| name.as_ptr())
}

/// The name of a NIC half's level `i`; NULL beyond the last.
///
/// # Safety
/// `args` is from `rxlab_args_new`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_level_name(args: *const Args, i: u32) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { (*args).level(i as usize) }.map_or(core::ptr::null(), |name| name.as_ptr())
}
