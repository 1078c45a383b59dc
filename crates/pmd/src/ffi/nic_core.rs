//! Calls for the NIC core.

use core::ffi::{c_char, c_int};
use std::sync::Arc;

use super::done;
pub use crate::nic_core::Idle;
use crate::nic_core::NicCore;

/// A NIC core as the driver holds it.
pub struct NicCoreHandle(pub(super) Arc<NicCore>);

/// A NIC core without a thread.
#[unsafe(no_mangle)]
pub extern "C" fn rxlab_nic_core_new() -> *mut NicCoreHandle {
    Box::into_raw(Box::new(NicCoreHandle(Arc::new(NicCore::default()))))
}

/// Starts a thread of the NIC core on `cpu`.
///
/// # Safety
/// `nic_core` is from [`rxlab_nic_core_new`]; `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_nic_core_start(
    nic_core: *mut NicCoreHandle,
    cpu: u32,
    idle: Idle,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*nic_core).0.start(cpu, idle), err, err_len) }
}

/// One turn over all ports, for a NIC core without a thread; whether there was work.
///
/// # Safety
/// `nic_core` is from [`rxlab_nic_core_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_nic_core_turn(nic_core: *mut NicCoreHandle) -> bool {
    // SAFETY: the caller's.
    unsafe { (*nic_core).0.turn() }
}

/// Ends the thread and frees the NIC core.
///
/// # Safety
/// `nic_core` is from [`rxlab_nic_core_new`]; all its ports are freed; nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_nic_core_free(nic_core: *mut NicCoreHandle) {
    // SAFETY: the caller's.
    unsafe { Box::from_raw(nic_core) }.0.end();
}
