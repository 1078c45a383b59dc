//! What the driver tells of a start.

use memory::Geometry;
use memory::native::Foreign;
use rings::tx;

use crate::error::Error;

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
    /// The longest frame to receive, in bytes, at most `room`.
    pub max_frame: u32,
    /// Whether IP and transport checksums are verified.
    pub checksums: bool,
    /// Zeroed memory that starts a line and stays until the port is reset.
    pub memory: *mut u8,
    /// Its bytes: at least what the port asks for.
    pub bytes: usize,
}

impl Start {
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
        let Start { data_offset, room, max_frame, .. } = *self;
        let before = data_offset.checked_sub(front);
        let data_offset = before.ok_or_else(|| Error::Invalid(format!("no {front} B before a frame")))?;
        let room = room + front;
        let geometry = Geometry::new(1, u32::MAX, data_offset, room);
        geometry.check().map_err(rings::SizeError::from)?;
        if max_frame > room - front || max_frame > u32::from(u16::MAX) - front {
            let what = format!("frames of {max_frame} B do not fit buffers of {} B", room - front);
            return Err(Error::Invalid(what));
        }
        // SAFETY: the driver posts addresses of mbufs alone, whose geometry it has checked at queue set-up.
        Ok(unsafe { Foreign::new(data_offset, room) })
    }
}
