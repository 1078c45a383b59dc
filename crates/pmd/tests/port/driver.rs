//! What the driver does around the library, without DPDK: memory, buffers, bursts.

#![allow(clippy::unwrap_used, reason = "a test ends where its set-up fails")]

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ffi::{CString, c_char, c_void};

use rings::{Completion, Segment};
use rxlab_pmd::ffi::*;

/// Bytes in front of a frame, and of a frame.
pub(crate) const OFFSET: usize = 256;
pub(crate) const ROOM: usize = 2048;
const STRIDE: usize = OFFSET + ROOM;

/// Buffers as a mempool has them: addresses, last in first out.
pub(crate) struct Pool {
    base: *mut u8,
    layout: Layout,
    pub(crate) free: Vec<u64>,
}

// SAFETY: a pool moves between threads as a whole.
unsafe impl Send for Pool {}

impl Pool {
    pub(crate) fn new(count: usize) -> Pool {
        let layout = Layout::from_size_align(count * STRIDE, 64).unwrap();
        // SAFETY: the layout is not empty.
        let base = unsafe { alloc_zeroed(layout) };
        assert!(!base.is_null());
        let first = base.expose_provenance() as u64;
        Pool { base, layout, free: (0..count as u64).map(|i| first + i * STRIDE as u64).collect() }
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        // SAFETY: from `new`, once.
        unsafe { dealloc(self.base, self.layout) };
    }
}

/// The bytes of a buffer's frame.
pub(crate) fn bytes<'a>(buf: u64, len: usize) -> &'a mut [u8] {
    assert!(len <= ROOM);
    let at = std::ptr::with_exposed_provenance_mut::<u8>(buf as usize + OFFSET);
    // SAFETY: `buf` is a buffer of a pool of the test, which has it in hand.
    unsafe { std::slice::from_raw_parts_mut(at, len) }
}

/// Calls `f` with room for an error and returns its text where it fails.
pub(crate) fn said(f: impl FnOnce(*mut c_char, usize) -> i32) -> Result<(), String> {
    let mut text = [0_u8; 256];
    let code = f(text.as_mut_ptr().cast(), text.len());
    let end = text.iter().position(|b| *b == 0).unwrap();
    if code == 0 { Ok(()) } else { Err(format!("{code}: {}", String::from_utf8_lossy(&text[..end]))) }
}

/// A NIC core with a thread.
pub(crate) struct Core(pub(crate) *mut NicCoreHandle);

impl Core {
    pub(crate) fn on(cpu: u32, idle: Idle) -> Core {
        let nic_core = rxlab_nic_core_new();
        // SAFETY: `core` is new.
        said(|e, n| unsafe { rxlab_nic_core_start(nic_core, cpu, idle, e, n) }).unwrap();
        Core(nic_core)
    }

    /// Without a thread: for `rxlab_nic_core_turn`.
    pub(crate) fn idle() -> Core {
        Core(rxlab_nic_core_new())
    }
}

impl Drop for Core {
    fn drop(&mut self) {
        // SAFETY: the tests drop their ports before.
        unsafe { rxlab_nic_core_free(self.0) };
    }
}

/// A port, and the memory that the driver would take from EAL.
pub(crate) struct Device {
    pub(crate) handle: *mut Port,
    pub(crate) counters: &'static Counters,
    /// Bytes of a buffer, where a longer frame lies in several.
    pub(crate) pieces: Option<u32>,
    memory: Option<(*mut u8, Layout)>,
}

fn zeroed(layout: Layout) -> *mut u8 {
    // SAFETY: no layout here is empty.
    let p = unsafe { alloc_zeroed(layout) };
    assert!(!p.is_null());
    p
}

impl Device {
    pub(crate) fn new(core: &Core, args: &[(&str, &str)]) -> Result<Device, String> {
        let parsed = rxlab_args_new();
        let counters = zeroed(Layout::new::<Counters>()).cast::<Counters>();
        let mut handle = std::ptr::null_mut();
        // SAFETY: all pointers are from their calls or live until they return.
        let made = unsafe {
            args.iter()
                .try_for_each(|(k, v)| {
                    let (k, v) = (CString::new(*k).unwrap(), CString::new(*v).unwrap());
                    said(|e, n| rxlab_args_set(parsed, k.as_ptr(), v.as_ptr(), e, n))
                })
                .and_then(|()| {
                    said(|e, n| rxlab_port_new(core.0, parsed, c"p".as_ptr(), counters, &mut handle, e, n))
                })
        };
        // SAFETY: from `rxlab_args_new`.
        unsafe { rxlab_args_free(parsed) };
        // SAFETY: nobody frees it; a test may leak it.
        made.map(|()| Device { handle, counters: unsafe { &*counters }, pieces: None, memory: None })
    }

    /// Starts with equal queues and fills them from `pool`.
    pub(crate) fn start(&mut self, queues: u16, desc: u32, pool: &mut Pool) -> Result<(), String> {
        self.start_with([queues, queues], desc, pool)
    }

    /// Starts with so many Rx and Tx queues.
    pub(crate) fn start_with(
        &mut self,
        [rx_queues, tx_queues]: [u16; 2],
        desc: u32,
        pool: &mut Pool,
    ) -> Result<(), String> {
        let mut start = Start {
            rx_queues,
            tx_queues,
            rx_desc: desc,
            tx_desc: desc,
            data_offset: OFFSET as u32,
            room: self.pieces.unwrap_or(ROOM as u32),
            max_frame: ROOM as u32,
            scatter: self.pieces.is_some(),
            checksums: false,
            events: std::ptr::null(),
            memory: std::ptr::null_mut(),
            bytes: 0,
        };
        // SAFETY: the handle lives; `start` is filled in.
        said(|e, n| unsafe { rxlab_port_memory(self.handle, &start, &mut start.bytes.clone(), e, n) })?;
        // SAFETY: as above.
        said(|e, n| unsafe { rxlab_port_memory(self.handle, &raw const start, &raw mut start.bytes, e, n) })?;
        let layout = Layout::from_size_align(start.bytes, 64).unwrap();
        start.memory = zeroed(layout);
        self.memory = Some((start.memory, layout));
        // SAFETY: the memory is zeroed and stays until `stop`.
        said(|e, n| unsafe { rxlab_port_start(self.handle, &start, e, n) })?;
        let halves = self.halves();
        (0..rx_queues).for_each(|q| (0..halves).for_each(|half| fill(self.half(q, half), pool)));
        // SAFETY: the handle lives.
        assert_eq!(unsafe { rxlab_port_run(self.handle) }, 0);
        Ok(())
    }

    pub(crate) fn rxq(&self, q: u16) -> *mut RxQueue {
        self.half(q, 0)
    }

    /// What one of several threads polls of a queue.
    pub(crate) fn half(&self, q: u16, half: u16) -> *mut RxQueue {
        // SAFETY: the handle lives.
        unsafe { rxlab_port_rxq(self.handle, q, half) }
    }

    /// Halves of a queue.
    fn halves(&self) -> u16 {
        (0..).find(|half| self.half(0, *half).is_null()).unwrap()
    }

    pub(crate) fn txq(&self, q: u16) -> *mut TxQueue {
        // SAFETY: the handle lives.
        unsafe { rxlab_port_txq(self.handle, q) }
    }

    /// Stops, drains Rx into `pool` and drops the queues; the segments that were posted to each Tx queue.
    pub(crate) fn stop(&mut self, queues: u16, pool: &mut Pool) -> Vec<u32> {
        // SAFETY: nobody polls the queues any more.
        unsafe {
            assert_eq!(rxlab_port_stop(self.handle), 0);
            let halves = self.halves();
            let sent = (0..queues)
                .map(|q| {
                    (0..halves).for_each(|half| drain(self.half(q, half), pool));
                    let tx = self.txq(q);
                    if tx.is_null() { 0 } else { rxlab_txq_drain(tx) }
                })
                .collect();
            assert_eq!(rxlab_port_reset(self.handle), 0);
            if let Some((memory, layout)) = self.memory.take() {
                dealloc(memory, layout);
            }
            sent
        }
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        // SAFETY: stopped and reset by the tests; nobody uses the handle any more.
        assert_eq!(unsafe { rxlab_port_free(self.handle) }, 0);
    }
}

/// Fills a queue.
pub(crate) fn fill(q: *mut RxQueue, pool: &mut Pool) {
    loop {
        let n = pool.free.len().min(512);
        let at = pool.free.len() - n;
        let mut used = 0;
        // SAFETY: the queue is this thread's, the array holds `n` entries.
        let missing = unsafe { rxlab_rxq_fill(q, pool.free[at..].as_ptr(), n as u16, &mut used) };
        pool.free.truncate(pool.free.len() - usize::from(used));
        if missing == 0 {
            return;
        }
        assert!(used > 0, "the pool is too small");
    }
}

unsafe extern "C" fn give(ctx: *mut c_void, bufs: *const u64, n: u32) {
    // SAFETY: `drain` passes its pool, the library an array of `n`.
    unsafe { (*ctx.cast::<Pool>()).free.extend_from_slice(std::slice::from_raw_parts(bufs, n as usize)) };
}

/// Takes back what a stopped queue holds.
pub(crate) fn drain(q: *mut RxQueue, pool: &mut Pool) {
    // SAFETY: the queue is stopped; `give` gets the pool that it expects.
    unsafe { rxlab_rxq_drain(q, give, std::ptr::from_mut(pool).cast()) };
}

/// One receive burst with spares from `pool`.
pub(crate) fn receive(q: *mut RxQueue, pool: &mut Pool, out: &mut [Completion]) -> usize {
    burst(q, pool, out, 64).0
}

/// One with at most so many spares; whether the ring wanted more.
pub(crate) fn burst(q: *mut RxQueue, pool: &mut Pool, out: &mut [Completion], most: usize) -> (usize, bool) {
    let n = pool.free.len().min(most);
    let at = pool.free.len() - n;
    let mut refill = Refill::default();
    // SAFETY: the queue is this thread's, the arrays are as long as is said.
    let got = unsafe {
        rxlab_rx_burst(q, out.as_mut_ptr(), out.len() as u16, pool.free[at..].as_ptr(), n as u16, &mut refill)
    };
    pool.free.truncate(pool.free.len() - usize::from(refill.used));
    (usize::from(got), refill.lacks)
}

/// One transmit burst; segments taken, and freed.
pub(crate) fn send(q: *mut TxQueue, segments: &[Segment]) -> (usize, usize) {
    let mut freed = 0;
    // SAFETY: the queue is this thread's.
    let n = unsafe { rxlab_tx_burst(q, segments.as_ptr(), segments.len() as u16, &mut freed) };
    (usize::from(n), freed as usize)
}

/// An empty completion.
pub(crate) const NONE: Completion = Completion::none();
