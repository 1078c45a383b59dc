//! `rxbisect` (rxbisect §4): sizes.

use memory::Ps;

use crate::{SizeError, interface};

// ## Sizes

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of an allocation ring.
    pub ax: u32,
    /// Entries of a bisected reception ring.
    pub bx: u32,
    /// Queues of one association group: each Bx ring takes buffers from every Ax ring of its group.
    /// 0 is one group of all (§4.5).
    pub group: u32,
    /// Notices that the NIC holds back for a Bx ring before it writes them; 1 writes each at once.
    pub batch: u32,
    /// The longest that a notice is held back.
    pub timeout: Ps,
    /// Dedicated allocators: 0 gives every queue an Ax ring of its own; otherwise so many host halves
    /// behind those of the queues hold all Ax rings and receive nothing but notices (§4.2).
    pub alloc_queues: u32,
}

impl Default for Sizes {
    /// As rxbisect §6 runs it: rings of 128 and 1024, all to all.
    fn default() -> Sizes {
        Sizes { ax: 128, bx: 1024, group: 0, batch: 8, timeout: Ps::from_us(1), alloc_queues: 0 }
    }
}

impl Sizes {
    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        interface::ring_size("rxbisect: ax", self.ax)?;
        interface::ring_size("rxbisect: bx", self.bx)?;
        interface::queue_count(queues.saturating_add(self.alloc_queues))?;
        if self.group > queues {
            let g = self.group;
            return Err(SizeError::new(format!(
                "rxbisect: group is {g}; allowed: 0 (all) to {queues}, the queues"
            )));
        }
        if self.batch == 0 || self.batch > self.bx {
            let (batch, bx) = (self.batch, self.bx);
            return Err(SizeError::new(format!(
                "rxbisect: batch is {batch}; allowed: 1 to {bx}, the Bx ring"
            )));
        }
        Ok(())
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        let rings = if self.alloc_queues == 0 { queues } else { self.alloc_queues };
        u64::from(self.ax) * u64::from(rings)
    }
}
