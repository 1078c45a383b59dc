//! What the driver calls. Every pointer is the driver's promise: made by the call that the function's text
//! names, not yet freed, and used by one thread at a time where it says so.
//!
//! Calls that can fail return 0 or a negative errno and leave one line in `err`.

use core::ffi::{CStr, c_char, c_int, c_void};
use std::sync::Arc;

use packet::Fields;
use rings::{Completion, Outcome, Segment};

pub use crate::args::Args;
use crate::args::Source;
use crate::error::Error;
pub use crate::nic_core::Idle;
use crate::nic_core::NicCore;

/// Entries of the largest indirection table.
pub const RETA: usize = 512;
/// Bytes of the longest RSS key.
pub const KEY: usize = 52;

// The types and constants of these calls.
pub use crate::checksums::{IP_BAD, IP_GOOD, L4_BAD, L4_GOOD};
pub use crate::counters::{Counters, HOST_COUNTERS, HostCounters, OUTCOMES, RxCounters, TxCounters};
pub use crate::engine::pipeline::HASHED;
pub use crate::filter::{Filter, GROUPS, MACS};
pub use crate::limits::{HALVES, QUEUES, TAG, THREADS};
pub use crate::lower::{Lower, LowerFrame};
pub use crate::port::{Port, Start};
pub use crate::queue::{Give, Refill, RxQueue, TxQueue};

/// Where a port's frames come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub enum SourceKind {
    /// What is sent.
    Loop,
    /// A generator.
    Gen,
    /// A capture.
    Pcap,
    /// Another DPDK port.
    Port,
    /// Another port of this driver.
    Pair,
}

/// Key, fields and indirection table.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct RssConf {
    /// The key.
    pub key: [u8; KEY],
    /// Bytes of it in use, from 40.
    pub key_len: u32,
    /// What is hashed: 1 IPv4, 2 IPv4 with ports, 4 IPv6, 8 IPv6 with ports.
    pub hash: u32,
    /// Entries of `reta` in use, a power of two.
    pub reta_len: u32,
    /// Queues.
    pub reta: [u16; RETA],
}

/// A NIC core as the driver holds it.
pub struct NicCoreHandle(Arc<NicCore>);

/// Puts one line into `err` and returns the errno.
///
/// # Safety
/// `err` is null or has room for `len` bytes.
unsafe fn fail(e: &Error, err: *mut c_char, len: usize) -> c_int {
    let text = e.to_string();
    if !err.is_null() && len > 0 {
        let n = text.len().min(len - 1);
        // SAFETY: `n + 1` bytes fit, which the caller promises.
        unsafe {
            core::ptr::copy_nonoverlapping(text.as_ptr().cast(), err, n);
            *err.add(n) = 0;
        }
    }
    match e {
        Error::Invalid(_) => -libc::EINVAL,
        Error::Busy => -libc::ETIMEDOUT,
    }
}

/// As [`fail`], for a result.
///
/// # Safety
/// As [`fail`].
unsafe fn done(result: Result<(), Error>, err: *mut c_char, len: usize) -> c_int {
    match result {
        Ok(()) => 0,
        // SAFETY: the caller's.
        Err(e) => unsafe { fail(&e, err, len) },
    }
}

fn code(result: Result<(), Error>) -> c_int {
    // SAFETY: no text is wanted.
    unsafe { done(result, core::ptr::null_mut(), 0) }
}

/// # Safety
/// `text` ends with a zero byte.
unsafe fn string(text: *const c_char) -> String {
    // SAFETY: the caller's.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

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

// ---- the NIC core ----

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

// ---- arguments ----

/// The default arguments.
#[unsafe(no_mangle)]
pub extern "C" fn rxlab_args_new() -> *mut Args {
    Box::into_raw(Box::default())
}

/// Frees them.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_free(args: *mut Args) {
    // SAFETY: the caller's.
    drop(unsafe { Box::from_raw(args) });
}

/// Sets one argument.
///
/// # Safety
/// `args` is from [`rxlab_args_new`]; `key` and `value` end with a zero byte; `err` has room for `err_len`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_set(
    args: *mut Args,
    key: *const c_char,
    value: *const c_char,
    err: *mut c_char,
    err_len: usize,
) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*args).set(&string(key), &string(value)), err, err_len) }
}

/// Checks what belongs together.
///
/// # Safety
/// As [`rxlab_args_set`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_check(args: *const Args, err: *mut c_char, err_len: usize) -> c_int {
    // SAFETY: the caller's.
    unsafe { done((*args).check(), err, err_len) }
}

/// Where the frames come from.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_source(args: *const Args) -> SourceKind {
    // SAFETY: the caller's.
    match unsafe { &(*args).source } {
        Source::Loop => SourceKind::Loop,
        Source::Generated(_) => SourceKind::Gen,
        Source::Capture(_) => SourceKind::Pcap,
        Source::Port(_) => SourceKind::Port,
        Source::Pair(_) => SourceKind::Pair,
    }
}

/// Copies the NAME of `port:` or `pair:`, or the FILE of `pcap:`, with a zero byte; its bytes without that, 0
/// where there is none. A name that does not fit is cut.
///
/// # Safety
/// `args` is from [`rxlab_args_new`]; `out` has room for `len` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_source_name(args: *const Args, out: *mut c_char, len: usize) -> usize {
    // SAFETY: the caller's.
    let name = match unsafe { &(*args).source } {
        Source::Port(name) | Source::Pair(name) | Source::Capture(name) => name.as_str(),
        Source::Loop | Source::Generated(_) => "",
    };
    if len > 0 {
        let n = name.len().min(len - 1);
        // SAFETY: `n + 1` bytes fit.
        unsafe {
            core::ptr::copy_nonoverlapping(name.as_ptr().cast(), out, n);
            *out.add(n) = 0;
        }
    }
    name.len()
}

/// So many lcores the program has: as many may poll a queue of an interface that allows it, unless `threads` is
/// set.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_lcores(args: *mut Args, lcores: u32) {
    // SAFETY: the caller's.
    unsafe { (*args).lcores = lcores.clamp(1, THREADS) };
}

/// Threads that may poll one Rx queue at a time, each its own half.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_threads(args: *const Args) -> u16 {
    // SAFETY: the caller's.
    unsafe { (*args).threads() as u16 }
}

/// Bytes before each frame, which the NIC core writes as well and completions count: 0 or [`TAG`].
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_front(args: *const Args) -> u16 {
    // SAFETY: the caller's.
    unsafe { (*args).front() as u16 }
}

/// The speed that the link tells, in Mbps: one that ethdev has a number for.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_speed(args: *const Args) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*args).speed() }
}

/// Whether the port below receives into the posted buffers: descriptors to send are of buffers then, not of bytes.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_emulate(args: *const Args) -> bool {
    // SAFETY: the caller's.
    unsafe { (*args).emulate }
}

/// The interface's name.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_args_iface(args: *const Args) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { (*args).iface() }.as_ptr()
}

// ---- a port ----

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
    let key = &rss.key[..KEY.min(rss.key_len as usize)];
    let table = &rss.reta[..RETA.min(rss.reta_len as usize)];
    // SAFETY: the caller's.
    unsafe { done(port.rss(key, Fields::from_bits(rss.hash), table), err, err_len) }
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

// ---- one call per burst, on the lcore that polls the queue ----

/// Receives up to `n` frames into `out`, and posts buffers from the end of `spares`; frames received.
///
/// # Safety
/// `q` is from [`rxlab_port_rxq`] and polled by this thread alone; the arrays hold `n` and `n_spares` entries.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rx_burst(
    q: *mut RxQueue,
    out: *mut Completion,
    n: u16,
    spares: *const u64,
    n_spares: u16,
    refill: *mut Refill,
) -> u16 {
    // SAFETY: the caller's; any bytes make a `Completion`.
    unsafe {
        let out = core::slice::from_raw_parts_mut(out, usize::from(n));
        let spares = core::slice::from_raw_parts(spares, usize::from(n_spares));
        let (received, done) = (*q).burst(out, spares);
        *refill = done;
        received as u16
    }
}

/// Posts buffers from the end of `spares`, `*used` of them; buffers that the rings still miss.
///
/// # Safety
/// As [`rxlab_rx_burst`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rxq_fill(
    q: *mut RxQueue,
    spares: *const u64,
    n_spares: u16,
    used: *mut u16,
) -> u32 {
    // SAFETY: the caller's.
    unsafe {
        let (missing, taken) = (*q).fill(core::slice::from_raw_parts(spares, usize::from(n_spares)));
        *used = taken as u16;
        missing as u32
    }
}

/// Hands every buffer of a stopped queue to `give`.
///
/// # Safety
/// `q` is from [`rxlab_port_rxq`]; its port or it is stopped; nobody polls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rxq_drain(q: *mut RxQueue, give: Give, ctx: *mut c_void) {
    // SAFETY: the caller's.
    unsafe { (*q).drain(give, ctx) }
}

/// Frames that wait to be received.
///
/// # Safety
/// `q` is from [`rxlab_port_rxq`] and polled by this thread alone.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rxq_count(q: *mut RxQueue) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*q).waiting() }
}

/// State of the descriptor `offset` behind the next one to read: 0 empty, 1 received, -EINVAL beyond the ring.
///
/// # Safety
/// As [`rxlab_rxq_count`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rxq_status(q: *mut RxQueue, offset: u16) -> c_int {
    // SAFETY: the caller's.
    let q = unsafe { &mut *q };
    match u32::from(offset) {
        n if n >= q.size() => -libc::EINVAL,
        n => c_int::from(n < q.waiting()),
    }
}

/// Posts whole frames; segments taken. The first segment of a frame with a tag before it begins with the tag, and
/// has an offset of [`TAG`]. `*freed`: so many of the oldest segments are read, and their mbufs, in
/// the order of posting, the caller's to free.
///
/// # Safety
/// `q` is from [`rxlab_port_txq`] and used by this thread alone; `segments` holds `n` entries, whose bytes stay
/// until they are freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_tx_burst(
    q: *mut TxQueue,
    segments: *const Segment,
    n: u16,
    freed: *mut u32,
) -> u16 {
    // SAFETY: the caller's.
    unsafe {
        let (taken, read) = (*q).burst(core::slice::from_raw_parts(segments, usize::from(n)));
        *freed = read;
        taken as u16
    }
}

/// Segments read since the last call that told of them.
///
/// # Safety
/// As [`rxlab_tx_burst`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_txq_reclaim(q: *mut TxQueue) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*q).reclaim() }
}

/// All segments that are posted, after a stop.
///
/// # Safety
/// As [`rxlab_tx_burst`]; the port or the queue is stopped.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_txq_drain(q: *mut TxQueue) -> u32 {
    // SAFETY: the caller's.
    unsafe { (*q).drain() }
}

/// State of the descriptor `offset` behind the next one to write: 0 not read yet, 1 read or empty, -EINVAL beyond the ring.
///
/// # Safety
/// As [`rxlab_tx_burst`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_txq_status(q: *mut TxQueue, offset: u16) -> c_int {
    // SAFETY: the caller's.
    let q = unsafe { &mut *q };
    match u32::from(offset) {
        n if n >= q.size() => -libc::EINVAL,
        n => c_int::from(n < q.size() - q.unread()),
    }
}

/// The name of a host half's counter `i`; NULL beyond the last.
///
/// # Safety
/// `args` is from [`rxlab_args_new`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_host_counter_name(args: *const Args, i: u32) -> *const c_char {
    // SAFETY: the caller's.
    unsafe { (*args).counter(i as usize) }.map_or(core::ptr::null(), |name| name.as_ptr())
}
