//! What the driver tells of a start.

use memory::Geometry;
use memory::native::Foreign;
use rings::tx;

use crate::engine::events::Event;
use crate::error::Error;
use crate::limits::MOST_PIECES;

/// What a port starts with.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Start {
    /// Rx queues, 0 to 64.
    pub rx_queues: u16,
    /// Tx queues, 0 to 64.
    pub tx_queues: u16,
    /// Descriptors of each Rx queue: the ring, the completion ring or Bx.
    pub rx_desc: u32,
    /// Descriptors of each Tx queue.
    pub tx_desc: u32,
    /// Bytes from an mbuf's address to the first byte of its frame.
    pub data_offset: u32,
    /// Bytes of frame that an mbuf holds.
    pub room: u32,
    /// The longest frame to receive, in bytes: at most `room`, unless a frame may lie in several mbufs.
    pub max_frame: u32,
    /// Whether a frame longer than `room` lies in several mbufs.
    pub scatter: bool,
    /// Whether IP and transport checksums are verified.
    pub checksums: bool,
    /// An event for each Rx queue, there until the port is reset; null where no core sleeps.
    pub events: *const Event,
    /// Zeroed memory that starts a line and stays until the port is reset.
    pub memory: *mut u8,
    /// Its bytes: at least what the port asks for.
    pub bytes: usize,
}

impl Start {
    /// The events of its Rx queues, if cores sleep.
    ///
    /// # Safety
    /// They are as the field says, and nobody has them once the port is reset.
    pub(super) unsafe fn events(&self) -> Option<&'static [Event]> {
        // SAFETY: the caller's.
        (!self.events.is_null())
            .then(|| unsafe { core::slice::from_raw_parts(self.events, usize::from(self.rx_queues)) })
    }

    /// Rx queues that rings are laid out for. A port that receives nothing has one that is stopped: what comes is counted
    /// there.
    pub(super) fn rx_rings(&self) -> u16 {
        self.rx_queues.max(1)
    }

    /// Tx queues that rings are laid out for. A port that never sends has one that nobody fills.
    pub(super) fn tx_rings(&self) -> u16 {
        self.tx_queues.max(1)
    }

    /// Sizes of the Tx queues' rings.
    pub(super) fn tx_sizes(&self) -> tx::Sizes {
        let ring = if self.tx_queues == 0 { 2 } else { self.tx_desc };
        tx::Sizes { ring, ..tx::Sizes::default() }
    }

    /// Buffers of which the NIC core writes `front` bytes more than a frame, before it.
    ///
    /// # Errors
    /// There is no room for that, or for the longest frame.
    pub(super) fn buffers(&self, front: u32) -> Result<Foreign, Error> {
        let Start { data_offset, room, max_frame, scatter, .. } = *self;
        let before = data_offset.checked_sub(front);
        let data_offset = before.ok_or_else(|| Error::Invalid(format!("no {front} B before a frame")))?;
        let room = room + front;
        let geometry = Geometry::new(1, u32::MAX, data_offset, room);
        geometry.check().map_err(rings::SizeError::from)?;
        let longest = if scatter { self.room * MOST_PIECES } else { self.room };
        if max_frame > longest.min(u32::from(u16::MAX) - front) {
            let what = format!("frames of {max_frame} B do not fit buffers of {} B", self.room);
            return Err(Error::Invalid(what));
        }
        // SAFETY: the driver posts addresses of mbufs alone, whose geometry it has checked at queue set-up.
        Ok(unsafe { Foreign::new(data_offset, room) })
    }
}
