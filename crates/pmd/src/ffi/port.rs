//! Control calls for a port.

use core::ffi::{c_char, c_int};

use packet::Fields;

use super::nic_core::NicCoreHandle;
use super::{code, done, fail, string};
use crate::args::Args;
use crate::counters::Counters;
pub use crate::engine::events::Event;
pub use crate::engine::vlans::VLAN_WORDS;
use crate::engine::vlans::Vlans;
use crate::lower::Lower;
pub use crate::port::{Port, Start};
use crate::queue::{RxQueue, TxQueue};
pub use crate::rss::{KEY, RETA, RssConf};
use nic::Filter;

/// A stopped port on `nic_core`, into `*out`.
///
/// # Safety
/// `nic_core` and `args` are from their calls, `name` ends with a zero byte, `counters` is zeroed and stays until
/// the port is freed, `out` takes a pointer, `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_new(
    nic_core: *mut NicCoreHandle,
    args: *const Args,
    name: *const c_char,
    counters: *const Counters,
    out: *mut *mut Port,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    let (nic_core, args, name) = unsafe { ((*nic_core).0.clone(), (*args).clone(), string(name)) };
    // SAFETY: the caller's: they outlive the port.
    match Port::new(nic_core, args, name, unsafe { &*counters }) {
        Ok(port) => {
            // SAFETY: the caller's.
            unsafe { *out = Box::into_raw(Box::new(port)) };
            0
        }
        // SAFETY: the caller's.
        Err(e) => unsafe { fail(&e, err, err_len) },
    }
}

/// Frees a stopped and reset port; -ETIMEDOUT if the NIC core does not let go of it.
///
/// # Safety
/// `port` is from [`rxlab_port_new`], and nobody uses it any more.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_free(port: *mut Port) -> c_int {
    // SAFETY: the caller's.
    if let Err(e) = unsafe { (*port).leave() } {
        return code(Err(e));
    }
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(port) });
    0
}

/// Joins two ports with `source=pair` by a wire.
///
/// # Safety
/// Both are from [`rxlab_port_new`]; `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_pair(
    a: *mut Port,
    b: *mut Port,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done(Port::pair(&*a, &*b), err, err_len) }
}

/// Takes the wire to the peer away, if there is one.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_unpair(port: *mut Port) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).unpair() })
}

/// Sets the port below, or takes it away (`NULL`): no call of it is under way on return.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; `lower` is null or its calls work until it is taken away.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_lower(port: *mut Port, lower: *const Lower) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).lower(lower.as_ref().copied()) })
}

/// Sets which frames the port takes, and its link.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; `filter` is filled in.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_filter(port: *mut Port, filter: *const Filter) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).filter(&*filter) })
}

/// Sets the longest frame that a started port receives, in bytes: no longer than its buffers take as it was started.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_max_frame(port: *mut Port, bytes: u16) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).max_frame(bytes) })
}

/// Sets the VLANs whose frames pass, a bit for each in `VLAN_WORDS` words; `NULL` lets all pass.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; `bits` is null or has so many words.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_vlans(port: *mut Port, bits: *const u64) -> c_int {
    // SAFETY: the caller's.
    unsafe {
        let bits = bits.cast::<[u64; VLAN_WORDS]>().as_ref();
        code((*port).vlans(bits.map(Vlans::new)))
    }
}

/// Sets key, fields and indirection table.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; `rss` is filled in; `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_rss(
    port: *mut Port,
    rss: *const RssConf,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    let (port, rss) = unsafe { (&*port, &*rss) };
    // SAFETY: the caller's.
    unsafe { done(port.rss(rss.key(), Fields::from_bits(rss.hash), rss.table()), err, err_len) }
}

/// Bytes of memory that the queues of `start` take, into `*bytes`.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; `start` is filled in but for its memory; `bytes` takes a number; `err`
/// has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_memory(
    port: *const Port,
    start: *const Start,
    bytes: *mut usize,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*port).memory(&*start).map(|n| *bytes = n), err, err_len) }
}

/// Buffers that the rings of so many queues of so many descriptors hold posted.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_posted(port: *const Port, rx_desc: u32, queues: u16) -> u32 {
    // SAFETY: the caller's.
    u32::try_from(unsafe { (*port).posted(rx_desc, queues) }).unwrap_or(u32::MAX)
}

/// Makes the queues; nothing flows before [`rxlab_port_run`].
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; `start` is filled in, its memory zeroed, on a line of its own and there
/// until the port is reset; `err` has room for `err_len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_start(
    port: *mut Port,
    start: *const Start,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*port).start(&*start), err, err_len) }
}

/// The NIC core serves the port from now on.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_run(port: *mut Port) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).run() })
}

/// The NIC core touches nothing of the port on return: its queues can be drained.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_stop(port: *mut Port) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).stop() })
}

/// Drops the queues of a stopped and drained port: their pointers are void and its memory can be freed.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; nobody uses a queue of it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_reset(port: *mut Port) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).reset() })
}

/// A half of an Rx queue of a started port; NULL beyond the last.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_rxq(port: *mut Port, queue: u16, half: u16) -> *mut RxQueue {
    // SAFETY: the caller's.
    unsafe { (*port).rxq(queue, half) }.unwrap_or(core::ptr::null_mut())
}

/// A Tx queue of a started port; NULL beyond the last.
///
/// # Safety
/// `port` is from [`rxlab_port_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_port_txq(port: *mut Port, queue: u16) -> *mut TxQueue {
    // SAFETY: the caller's.
    unsafe { (*port).txq(queue) }.unwrap_or(core::ptr::null_mut())
}

/// Stops (then drain every half) or starts (then fill every half) one Rx queue.
///
/// # Safety
/// `port` is from [`rxlab_port_new`]; nobody polls the queue.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rxq_switch(port: *mut Port, queue: u16, on: bool) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).switch_rx(queue, on) })
}

/// Stops (then drain) or starts one Tx queue.
///
/// # Safety
/// As [`rxlab_rxq_switch`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_txq_switch(port: *mut Port, queue: u16, on: bool) -> c_int {
    // SAFETY: the caller's.
    code(unsafe { (*port).switch_tx(queue, on) })
}
