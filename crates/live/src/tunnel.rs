//! The far end of the gateway's tunnels: opens what workers have sealed.

use apps::ipsec::{HERE, Keys, Sa, Suite, THERE, spi};

/// Bytes of an Ethernet header, which a sealed packet has not.
const LINK: usize = packet::ETHERNET;

/// A tunnel for each worker: half of them of one suite, half of the other.
#[derive(Default)]
pub(crate) struct Tunnels {
    /// Of each SPI, from 1 up.
    keys: Vec<Keys>,
    /// Packets opened.
    pub(crate) opened: u64,
    /// A frame while it is opened.
    scratch: Vec<u8>,
}

impl Tunnels {
    /// The longest frame that fits a buffer when it is sealed.
    pub(crate) const LONGEST: u16 = crate::ROOM - 80;

    pub(crate) fn new(workers: u16) -> Tunnels {
        Tunnels { keys: (0..workers).map(keys).collect(), ..Tunnels::default() }
    }

    /// The association of a worker.
    pub(crate) fn sa(worker: u16) -> Sa {
        Sa::new(u32::from(worker) + 1, HERE, THERE, keys(worker))
    }

    /// The longest frame that one of `len` bytes becomes.
    pub(crate) fn longest(len: u16) -> usize {
        let inner = usize::from(len) - LINK;
        Suite::ALL.map(|suite| suite.frame(inner)).into_iter().max().unwrap_or_default()
    }

    /// Opens a sealed frame of `len` bytes: the frame that it carries, with a made-up link header, and its
    /// length. A frame that is not sealed stays as it is. `None` if it does not open.
    pub(crate) fn open<'a>(&'a mut self, frame: &'a [u8], len: u32) -> Option<(&'a [u8], u32)> {
        let Some(spi) = spi(frame).filter(|_| !self.keys.is_empty()) else { return Some((frame, len)) };
        let keys = self.keys.get((spi as usize).checked_sub(1)?)?;
        self.scratch.clear();
        self.scratch.extend_from_slice(frame);
        let inner = keys.open(&mut self.scratch)?;
        self.opened += 1;
        let frame = self.scratch.get(inner.start - LINK..inner.end)?;
        Some((frame, frame.len() as u32))
    }
}

/// The secret of a worker's tunnel: nobody else is there to keep it from.
fn keys(worker: u16) -> Keys {
    let mut key = [0x5a; 16];
    key[..2].copy_from_slice(&worker.to_be_bytes());
    if worker.is_multiple_of(2) { Keys::gcm(key, [1, 2, 3, 4]) } else { Keys::cbc_hmac(key, [0xa5; 32]) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_frame_fits_a_buffer() {
        assert!(Tunnels::longest(Tunnels::LONGEST) <= usize::from(crate::ROOM));
    }
}
