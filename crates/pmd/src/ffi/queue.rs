//! Calls for a queue, one for each burst, on the lcore that polls it.

use core::ffi::{c_int, c_void};

use memory::{Buf, Ps};
use rings::{Completion, Segment};

pub use crate::queue::{Give, Refill, RxQueue, TxQueue};

/// Receives up to `n` frames into `out`, and posts buffers from the end of `spares`; frames received.
///
/// # Safety
/// `q` is from `rxlab_port_rxq` and polled by this thread alone; the arrays hold `n` and `n_spares` entries.
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

/// As [`rxlab_rx_burst`], but waits for frames that the card keeps, `wait_us` at most; -ENOTSUP unless the interface is `ceio`.
///
/// # Safety
/// As [`rxlab_rx_burst`].
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rx_wait(
    q: *mut RxQueue,
    out: *mut Completion,
    n: u16,
    spares: *const u64,
    n_spares: u16,
    refill: *mut Refill,
    wait_us: u32,
) -> c_int {
    // SAFETY: the caller's; any bytes make a `Completion`.
    unsafe {
        let out = core::slice::from_raw_parts_mut(out, usize::from(n));
        let spares = core::slice::from_raw_parts(spares, usize::from(n_spares));
        match (*q).recv(out, spares, Ps::from_us(wait_us.into())) {
            Some((received, done)) => {
                *refill = done;
                received as c_int
            }
            None => -libc::ENOTSUP,
        }
    }
}

/// Posts `n` buffers of the application's, from the first; how many, or -ENOTSUP unless the interface is `ceio`. No other
/// call posts any from then on, until the queue has stopped.
///
/// # Safety
/// As [`rxlab_rx_burst`]; `bufs` holds `n` entries, each as large as the pool's and of nobody else.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rx_post(q: *mut RxQueue, bufs: *const u64, n: u16) -> c_int {
    // SAFETY: the caller's; a `Buf` is laid out as the word in it.
    unsafe {
        let bufs = core::slice::from_raw_parts(bufs.cast::<Buf>(), usize::from(n));
        (*q).post(bufs).map_or(-libc::ENOTSUP, |posted| posted as c_int)
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
/// `q` is from `rxlab_port_rxq`; its port or it is stopped; nobody polls it.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn rxlab_rxq_drain(q: *mut RxQueue, give: Give, ctx: *mut c_void) {
    // SAFETY: the caller's.
    unsafe { (*q).drain(give, ctx) }
}

/// Frames that wait to be received.
///
/// # Safety
/// `q` is from `rxlab_port_rxq` and polled by this thread alone.
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
/// has an offset of `TAG`. `*freed`: so many of the oldest segments are read, and their mbufs, in
/// the order of posting, the caller's to free.
///
/// # Safety
/// `q` is from `rxlab_port_txq` and used by this thread alone; `segments` holds `n` entries, whose bytes stay
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
