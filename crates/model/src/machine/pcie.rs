//! A card's slot: bytes each way, TLP by TLP.

use crate::profile::constants;

/// Bytes that one read request asks for.
const REQUEST: u64 = 512;

/// Bytes on the link for `len` bytes of payload: one header for every TLP.
pub fn tlp_bytes(len: u64, tlp: u64, overhead: u64) -> u64 {
    len + len.div_ceil(tlp) * overhead
}

/// One direction of a link. One agent streams on it; what others send in between delays the stream by
/// its bytes, wherever their clocks stand inside the engine's window.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Lane {
    free_at: u64,
    aside: u64,
    beside_free_at: [u64; 2],
}

/// Who writes beside the receive queues' own stream.
#[derive(Clone, Copy)]
pub(crate) enum Beside {
    /// Queue pairs that no core receives from.
    Remote,
    /// The engine that moves frames out of the card's own memory.
    Drain,
}

impl Lane {
    /// Streams from `at`; when the last byte has gone.
    #[inline(always)]
    pub(super) fn stream(&mut self, at: u64, bytes: u64, ps_per_byte: f64) -> u64 {
        let all = bytes + std::mem::take(&mut self.aside);
        // Signed conversions: the processor has an instruction for them.
        self.free_at = at.max(self.free_at) + (all as i64 as f64 * ps_per_byte) as i64 as u64;
        self.free_at
    }

    /// Bytes that go in between.
    #[inline(always)]
    fn aside(&mut self, bytes: u64) {
        self.aside += bytes;
    }

    /// A stream of `who` from `at`, which goes in between the bytes of the first; when its last byte has gone.
    fn beside(&mut self, who: Beside, at: u64, bytes: u64, ps_per_byte: f64) -> u64 {
        self.aside(bytes);
        let free_at = &mut self.beside_free_at[who as usize];
        *free_at = at.max(*free_at) + (bytes as f64 * ps_per_byte) as u64;
        *free_at
    }
}

/// The slot of one card.
pub(crate) struct Link {
    up: Lane,
    down: Lane,
    tlp: u64,
    overhead: u64,
    ps_per_byte: f64,
    /// The last length of several TLPs and its bytes: the next one is often as long.
    last: (u64, u64),
}

impl Link {
    /// An idle link.
    pub(crate) fn new(c: &constants::Pcie) -> Link {
        Link {
            up: Lane::default(),
            down: Lane::default(),
            tlp: c.tlp_bytes.value as u64,
            overhead: c.overhead_bytes.value as u64,
            ps_per_byte: 1e12 / (c.gbytes.value * 1e9),
            last: (0, 0),
        }
    }

    /// [`tlp_bytes`] with few divisions.
    #[inline(always)]
    fn bytes(&mut self, len: u64) -> u64 {
        if (1..=self.tlp).contains(&len) {
            return len + self.overhead;
        }
        if self.last.0 != len {
            self.last = (len, tlp_bytes(len, self.tlp, self.overhead));
        }
        self.last.1
    }

    /// A DMA write of `len` bytes of payload from `at` ps: when it has left the card.
    #[inline(always)]
    pub(crate) fn write(&mut self, at: u64, len: u64) -> u64 {
        let bytes = self.bytes(len);
        self.up.stream(at, bytes, self.ps_per_byte)
    }

    /// The same of `who` beside the receive queues: these wait for its bytes.
    pub(crate) fn write_beside(&mut self, who: Beside, at: u64, len: u64) -> u64 {
        let bytes = self.bytes(len);
        self.up.beside(who, at, bytes, self.ps_per_byte)
    }

    /// A DMA read of `len` bytes of payload: when the data has left the host. Requests go up, one header
    /// for every 512 B; their way there and back is `pcie_read_ns`.
    #[inline(always)]
    pub(crate) fn read(&mut self, at: u64, len: u64) -> u64 {
        self.up.aside(len.div_ceil(REQUEST) * self.overhead);
        let bytes = self.bytes(len);
        self.down.stream(at, bytes, self.ps_per_byte)
    }

    /// The same for a queue pair beside the transmit queues: these wait for its bytes.
    pub(crate) fn read_beside(&mut self, at: u64, len: u64) -> u64 {
        self.up.aside(len.div_ceil(REQUEST) * self.overhead);
        let bytes = self.bytes(len);
        self.down.beside(Beside::Remote, at, bytes, self.ps_per_byte)
    }

    /// A completion of `len` bytes, written on behalf of the transmit side.
    #[inline(always)]
    pub(crate) fn note(&mut self, len: u64) {
        let bytes = self.bytes(len);
        self.up.aside(bytes);
    }

    /// Posted writes of a core from `at` ps on, `bytes` in so many TLPs: when the last one has left the host.
    pub(crate) fn post(&mut self, at: u64, bytes: u64, tlps: u64) -> u64 {
        self.down.stream(at, bytes + tlps * self.overhead, self.ps_per_byte)
    }

    /// A core's load of `bytes` of a register: the request goes down, the answer up.
    pub(crate) fn answer(&mut self, bytes: u64) {
        self.down.aside(self.overhead);
        self.up.aside(bytes + self.overhead);
    }

    /// A descriptor line read ahead of use, on behalf of either side.
    #[inline(always)]
    pub(crate) fn fetch(&mut self, len: u64) {
        self.up.aside(self.overhead);
        let bytes = self.bytes(len);
        self.down.aside(bytes);
    }
}
