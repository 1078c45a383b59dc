//! The wire: how long a frame takes on it.

use memory::Ps;

/// Bytes that every frame costs beside its own: preamble and delimiter 8, FCS 4, gap 12.
pub const OVERHEAD: u32 = 24;

/// A wire of a fixed rate, in one direction.
#[derive(Clone, Copy, Debug)]
pub struct Pace {
    rate_bps: u64,
    /// When the last frame is through.
    free: Ps,
    /// Its length and its span: the next one is often as long, and a division takes long.
    last: (u32, Ps),
}

impl Pace {
    /// A wire of `rate_bps` bits per second; 0 = no limit.
    pub fn new(rate_bps: u64) -> Pace {
        let wire = Pace { rate_bps, free: Ps::ZERO, last: (0, Ps::ZERO) };
        Pace { last: (0, wire.span(0)), ..wire }
    }

    /// Whether there is a rate.
    pub fn limits(&self) -> bool {
        self.rate_bps != 0
    }

    /// Time that a frame of `len` bytes occupies the wire, rounded up so that the rate is never exceeded.
    pub fn span(&self, len: u32) -> Ps {
        let bits = (u64::from(len) + u64::from(OVERHEAD)) * 8;
        // Saturates from 2.3 MB on, beyond any frame.
        if self.rate_bps == 0 {
            Ps::ZERO
        } else {
            Ps(bits.saturating_mul(1_000_000_000_000).div_ceil(self.rate_bps))
        }
    }

    #[inline]
    fn next_span(&mut self, len: u32) -> Ps {
        if self.last.0 != len {
            self.last = (len, self.span(len));
        }
        self.last.1
    }

    /// When a frame is complete on this wire that would be complete at `at` on an idle one.
    #[inline]
    pub fn carry(&mut self, at: Ps, len: u32) -> Ps {
        if self.rate_bps != 0 {
            self.free = at.max(self.free + self.next_span(len));
        }
        at.max(self.free)
    }

    /// When a frame of `len` bytes handed over at `now` is through.
    #[inline]
    pub fn send(&mut self, now: Ps, len: u32) -> Ps {
        self.free = self.free.max(now) + self.next_span(len);
        self.free
    }

    /// Idle from time zero on: its clock begins anew.
    pub fn restart(&mut self) {
        self.free = Ps::ZERO;
    }

    /// When the wire has carried everything handed over.
    pub fn free(&self) -> Ps {
        self.free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_64_byte_frame_with_fcs_takes_6720_ps_at_100_gbps() {
        assert_eq!(Pace::new(100_000_000_000).span(60), Ps(6_720));
    }

    #[test]
    fn equal_timestamps_queue_on_the_wire() {
        let mut wire = Pace::new(100_000_000_000);
        assert_eq!(wire.carry(Ps(50_000), 60), Ps(50_000));
        assert_eq!(wire.carry(Ps(50_000), 60), Ps(56_720));
        assert_eq!(wire.carry(Ps(900_000), 60), Ps(900_000), "an idle wire delays nothing");
    }

    #[test]
    fn a_wire_whose_clock_begins_anew_is_idle() {
        let mut wire = Pace::new(1);
        wire.send(Ps(5), 60);
        wire.restart();
        assert_eq!((wire.free(), wire.carry(Ps(3), 60)), (Ps::ZERO, wire.span(60)));
    }

    #[test]
    fn without_a_rate_nothing_is_delayed() {
        let mut wire = Pace::new(0);
        assert_eq!(wire.carry(Ps(7), 9000), Ps(7));
        assert_eq!(wire.carry(Ps(7), 9000), Ps(7));
        assert_eq!(wire.send(Ps(9), 9000), Ps(9));
    }
}
