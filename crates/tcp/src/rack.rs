//! RACK (RFC 8985, sections 5 and 6): losses told from reordering by time.

/// SACKed segments that stand for a loss while no reordering has been seen.
const DUPLICATES: usize = 3;
/// Recoveries after which a widened window goes back.
const PERSIST: u32 = 16;

/// When a segment was sent, and its end: segments sent at one time are in the order of their bytes.
pub(crate) type Sent = (u64, u64);

/// What the sender knows of the path's reordering.
#[derive(Clone, Debug)]
pub(crate) struct Rack {
    /// The last sent of all delivered segments, and its round trip.
    newest: Sent,
    rtt: u64,
    /// The highest delivered byte.
    highest: u64,
    /// Whether a segment was ever delivered behind a later one.
    reordered: bool,
    /// The window is so many quarters of the least round trip.
    quarters: u64,
    persist: u32,
    /// A DSACK was counted: no other counts before this byte is acknowledged.
    round: Option<u64>,
}

impl Default for Rack {
    fn default() -> Rack {
        Rack { newest: (0, 0), rtt: 0, highest: 0, reordered: false, quarters: 1, persist: 0, round: None }
    }
}

impl Rack {
    /// A segment was delivered. `again`: it had been retransmitted. Then a round trip below `least` belongs
    /// to an earlier transmission.
    pub(crate) fn delivered(&mut self, sent: Sent, now: u64, again: bool, least: u64) {
        let rtt = now - sent.0;
        if sent.1 > self.highest {
            self.highest = sent.1;
        } else if sent.1 < self.highest && !again {
            self.reordered = true;
        }
        if again && rtt < least {
            return;
        }
        if sent > self.newest {
            (self.newest, self.rtt) = (sent, rtt);
        }
    }

    /// A DSACK came while bytes from `una` up to `next` were on their way: the reordering window was too
    /// narrow. Only one counts in a round trip.
    pub(crate) fn duplicate(&mut self, una: u64, next: u64) {
        if self.round.is_some_and(|r| una >= r) {
            self.round = None;
        }
        if self.round.is_none() {
            self.round = Some(next);
            self.quarters += 1;
            self.persist = PERSIST;
        }
    }

    /// A recovery has ended.
    pub(crate) fn recovered(&mut self) {
        self.persist = self.persist.saturating_sub(1);
        if self.persist == 0 {
            self.quarters = 1;
        }
    }

    /// How long a segment may be late.
    pub(crate) fn window(&self, recovering: bool, sacked: usize, least: u64, smoothed: u64) -> u64 {
        if !self.reordered && (recovering || sacked >= DUPLICATES) {
            return 0;
        }
        (self.quarters * least / 4).min(smoothed)
    }

    /// Whether a segment was sent before one that has been delivered.
    pub(crate) fn is_behind(&self, sent: Sent) -> bool {
        sent < self.newest
    }

    /// When a segment that is behind counts as lost.
    pub(crate) fn lost_at(&self, sent: Sent, window: u64) -> u64 {
        sent.0 + self.rtt + window
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_is_nothing_a_quarter_or_more() {
        let mut r = Rack::default();
        assert_eq!(r.window(false, 2, 100, 1000), 25, "fewer than three SACKed segments: wait");
        assert_eq!((r.window(false, 3, 100, 1000), r.window(true, 0, 100, 1000)), (0, 0));
        r.delivered((0, 20), 100, false, 100);
        r.delivered((0, 10), 101, false, 100);
        assert!(r.reordered);
        assert_eq!(r.window(true, 9, 100, 1000), 25);
        r.duplicate(0, 50);
        r.duplicate(20, 90);
        assert_eq!(r.window(true, 9, 100, 1000), 50, "one DSACK a round trip counts");
        r.duplicate(50, 90);
        assert_eq!((r.window(true, 9, 100, 1000), r.window(true, 9, 100, 60)), (75, 60));
        (0..PERSIST).for_each(|_| r.recovered());
        assert_eq!(r.window(true, 9, 100, 1000), 25);
    }

    #[test]
    fn only_what_was_sent_later_tells_of_a_loss() {
        let mut r = Rack::default();
        r.delivered((50, 30), 150, false, 100);
        assert!(r.is_behind((40, 60)) && r.is_behind((50, 20)));
        assert!(!r.is_behind((50, 30)) && !r.is_behind((51, 10)));
        assert_eq!(r.lost_at((40, 60), 25), 165);
        // A retransmission whose ACK comes too soon is the first transmission's.
        r.delivered((140, 10), 160, true, 100);
        assert!(!r.is_behind((60, 10)));
    }
}
