//! Whether a queue's frames are kept faster than its core drains them: the network's rate exceeds that of the consumer in
//! the slow path, which senders are to hear (CEIO, section 4.1, Q2).

/// Compares the two once for so many kept frames: a core has `drain` of them under way at a time, so twice as many say
/// whether it keeps up.
pub(super) struct Behind {
    every: u64,
    /// Frames that were kept at the last look, and that waited then.
    looked: u64,
    waited: u64,
    pub(super) is_so: bool,
}

impl Behind {
    pub(super) fn new(drain: u32) -> Behind {
        Behind { every: 2 * u64::from(drain), looked: 0, waited: 0, is_so: false }
    }

    /// One more frame is kept, the last of `total`, and `waiting` of them are not drained.
    #[inline]
    pub(super) fn kept(&mut self, total: u64, waiting: u64) {
        if total.wrapping_sub(self.looked) >= self.every {
            // Senders that are answered at the rate of the core never send faster than it for long: a backlog that does not
            // shrink is one that their windows hold up.
            self.is_so = waiting >= self.waited && waiting > self.every / 2;
            (self.looked, self.waited) = (total, waiting);
        }
    }

    /// All of the `total` that were kept are drained.
    pub(super) fn caught_up(&mut self, total: u64) {
        (self.looked, self.waited, self.is_so) = (total, 0, false);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_queue_is_behind_while_more_is_kept_than_drained() {
        let (mut behind, mut waiting) = (Behind::new(4), 0);
        let mut keep = |behind: &mut Behind, total, drained: u64| {
            waiting = waiting + 1 - drained;
            behind.kept(total, waiting);
            behind.is_so
        };
        let slower: Vec<bool> = (1..=16).map(|n| keep(&mut behind, n, n % 2)).collect();
        assert_eq!(
            slower.iter().filter(|so| **so).count(),
            1,
            "eight of 16 wait at the second look: {slower:?}"
        );
        assert!(slower[15]);
        let level: Vec<bool> = (17..=32).map(|n| keep(&mut behind, n, 1)).collect();
        assert_eq!(level, [true; 16], "it does not shrink");
        let faster: Vec<bool> = (33..=40).map(|n| keep(&mut behind, n, 1 + n % 2)).collect();
        assert_eq!(faster, [true, true, true, true, true, true, true, false], "from the next look on");
        behind.is_so = true;
        behind.caught_up(40);
        assert!(!behind.is_so);
    }
}
