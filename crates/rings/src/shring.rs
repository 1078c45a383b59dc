//! `shring` (rxbisect §3.2): sizes.

use crate::{SizeError, interface};

// ## Sizes

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of one shared ring.
    pub ring: u32,
    /// Cores that share one ring; the last ring may have fewer.
    pub shared_by: u32,
    /// Entries of a core's completion ring.
    pub completions: u32,
}

impl Default for Sizes {
    /// As rxbisect §6 runs it: one ring of the default size for the 8 cores of a NIC.
    fn default() -> Sizes {
        Sizes { ring: 1024, shared_by: 8, completions: 1024 }
    }
}

impl Sizes {
    /// Rings of a port.
    pub fn rings(&self, queues: u32) -> u32 {
        queues.div_ceil(self.shared_by.max(1))
    }

    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        interface::ring_size("shring: ring", self.ring)?;
        interface::ring_size("shring: completions", self.completions)?;
        if self.shared_by == 0 || self.shared_by > queues {
            let (k, most) = (self.shared_by, queues);
            return Err(SizeError::new(format!(
                "shring: shared_by is {k}; allowed: 1 to {most}, the queues"
            )));
        }
        if self.shared_by > self.ring {
            let (k, n) = (self.shared_by, self.ring);
            let what = "allowed: at least one descriptor for each core";
            return Err(SizeError::new(format!("shring: a ring of {n} shared by {k}; {what}")));
        }
        Ok(())
    }

    /// Buffers that the rings of a port can hold posted.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        u64::from(self.ring) * u64::from(self.rings(queues))
    }
}
