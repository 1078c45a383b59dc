//! The link of a port, if there is one, and bursts over it.
//!
//! **In place.** A mempool of the driver may have the link's buffers as its own (`lend`). Its mbufs go to the other side
//! by their numbers, and what comes is received so: no byte is copied, and mbuf headers stay private to each process. A
//! pool outlives its link: the memory stays until the pool is gone, and bursts over the next link copy.

use core::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, TryLockError};

use ccnic::{Buf, Channel, Segment};

use super::end::{End, Lent, Piece, Room};

/// Looks at a lock that somebody has, before the CPU is given away: whoever has it may be waiting for this one.
const LOOKS: u32 = 1_000;

/// What lcores and the keeper share of a port.
#[derive(Default)]
pub(crate) struct Line {
    /// Rx and Tx may be polled by different lcores, and a channel is for one thread at a time.
    ends: Mutex<Ends>,
    open: AtomicBool,
}

#[derive(Default)]
struct Ends {
    now: Option<End>,
    /// Of a link that is over, for the mempool that has its buffers.
    former: Option<End>,
    /// Links that were made, the present one too.
    links: u32,
}

impl Ends {
    /// The end whose buffers a mempool has.
    fn lent(&mut self) -> Option<&mut End> {
        self.former.as_mut().or(self.now.as_mut()).filter(|end| end.lent)
    }
}

impl Line {
    /// Whether the port has started.
    pub(super) fn is_open(&self) -> bool {
        self.open.load(Ordering::Relaxed) // orders nothing: a keeper that sees it late does one more round
    }

    pub(super) fn open(&self) {
        self.open.store(true, Ordering::Relaxed); // before the keeper's thread is made
    }

    pub(super) fn close(&self) {
        self.open.store(false, Ordering::Relaxed); // the keeper is waited for, by its thread
    }

    /// A link is there.
    pub(super) fn pick_up(&self, channel: Channel) {
        let mut ends = self.ends();
        ends.links = ends.links.wrapping_add(1);
        ends.now = Some(End::new(channel));
    }

    /// There is none any more.
    pub(super) fn hang_up(&self) {
        let mut ends = self.ends();
        let mut end = ends.now.take();
        if let Some(former) = end.take_if(|end| end.lent) {
            ends.former.insert(former).hang_up();
        }
        drop(ends);
        drop(end); // outside of the lock: its memory is unmapped
    }

    /// Whether there is a link.
    pub(super) fn is_linked(&self) -> bool {
        self.ends().now.is_some()
    }

    /// Whether the other side lives; `None` once all is received of one that does not.
    pub(super) fn is_alive(&self) -> Option<bool> {
        let mut ends = self.ends();
        let end = ends.now.as_mut().filter(|end| !end.over)?;
        Some(end.channel.is_alive())
    }

    /// Lends the buffers of the link to a mempool; `None` if there is no link, or another mempool has buffers of this
    /// port.
    pub(crate) fn lend(&self) -> Option<Lent> {
        let mut ends = self.ends();
        if ends.lent().is_some() {
            return None;
        }
        Some(ends.now.as_mut()?.lend())
    }

    /// The mempool is gone.
    pub(crate) fn take_back(&self) {
        let mut ends = self.ends();
        if let Some(end) = &mut ends.now {
            end.lent = false;
        }
        let former = ends.former.take();
        drop(ends);
        drop(former); // outside of the lock, as above
    }

    /// Takes buffers for the mempool; how many there were.
    pub(crate) fn alloc(&self, out: &mut [Buf]) -> usize {
        self.ends().lent().map_or(0, |end| end.channel.alloc(out))
    }

    /// Buffers of the mempool that are free.
    pub(crate) fn free(&self, bufs: &[Buf]) {
        if let Some(end) = self.ends().lent() {
            end.channel.free(bufs);
        }
    }

    /// Free buffers that an `alloc` would find on this side.
    pub(crate) fn available(&self) -> u64 {
        self.ends().lent().map_or(0, |end| end.channel.buffers().0)
    }

    /// Receives segments in place, into `out`; how many, and of which link. `None` if no mempool has the link's buffers.
    #[inline]
    pub(crate) fn receive_in_place(&self, out: &mut [Segment]) -> Option<(usize, u32)> {
        let mut ends = self.ends();
        let links = ends.links;
        let end = ends.now.as_mut().filter(|end| end.lent)?;
        Some((end.segments(out), links))
    }

    /// Receives into the first of `rooms`, each of `room` bytes; pieces received, and of which link: what a dead side has
    /// sent of a frame has no end. A piece that is longer is told with a length of 0.
    ///
    /// # Safety
    /// All have `room` bytes to be written.
    #[inline]
    pub(crate) unsafe fn receive(&self, rooms: &mut [Room], room: u16) -> (usize, u32) {
        let mut ends = self.ends();
        let links = ends.links;
        // SAFETY: the caller's.
        (ends.now.as_mut().map_or(0, |end| unsafe { end.receive(rooms, room) }), links)
    }

    /// Sends whole frames of `pieces`; the frames that went, and whether those in place were not copied.
    ///
    /// # Safety
    /// Each has `len` bytes to be read.
    #[inline]
    pub(crate) unsafe fn send(&self, pieces: &[Piece]) -> (usize, bool) {
        let mut ends = self.ends();
        let Some(end) = &mut ends.now else { return (0, false) };
        // SAFETY: the caller's.
        (unsafe { end.send(pieces) }, end.lent)
    }

    /// The ends of this side. Whoever has them has them for a burst at most.
    #[inline]
    fn ends(&self) -> MutexGuard<'_, Ends> {
        let mut looks = 0;
        loop {
            match self.ends.try_lock() {
                Ok(ends) => return ends,
                Err(TryLockError::Poisoned(broken)) => return broken.into_inner(),
                Err(TryLockError::WouldBlock) if looks < LOOKS => {
                    looks += 1;
                    core::hint::spin_loop();
                }
                Err(TryLockError::WouldBlock) => std::thread::yield_now(),
            }
        }
    }
}
