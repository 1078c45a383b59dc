//! The receiving half: bytes in order, what to acknowledge and when.

use core::ops::Range;

use crate::DELAYED_ACK;

/// In-order segments that one ACK stands for.
const EACH: u32 = 2;
/// Blocks that are remembered as recently changed: as many as an ACK can name, and one.
const RECENT: usize = 4;

/// What has arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct Receiver {
    next: u64,
    /// Bytes beyond `next`, in order and disjoint.
    beyond: Vec<Range<u64>>,
    /// A byte of each block that changed last, newest first.
    recent: Vec<u64>,
    /// What came twice, to be told in the next ACK.
    duplicate: Option<Range<u64>>,
    unacked: u32,
    at_once: bool,
    due: Option<u64>,
    /// Whether anything ever came behind a later byte.
    pub late: u64,
}

impl Receiver {
    /// The next byte that is expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Bytes `got` arrived. Returns those that are in order now, from the old `next` on. `at_once`: the ACK
    /// must not wait.
    pub(crate) fn take(&mut self, got: Range<u64>, at_once: bool, now: u64) -> Range<u64> {
        let before = self.next;
        if got.is_empty() {
            return before..before;
        }
        let known = |r: &Range<u64>| r.start <= got.start && got.end <= r.end;
        if got.end <= self.next || self.beyond.iter().any(known) {
            self.duplicate = Some(got);
            self.at_once = true;
            return before..before;
        }
        let hole = !self.beyond.is_empty();
        if hole && self.beyond.last().is_some_and(|last| got.start < last.start) {
            self.late += 1;
        }
        self.insert(got);
        if self.next == before || hole || at_once {
            self.at_once = true; // RFC 5681: out of order, or into a hole
        } else {
            self.unacked += 1;
            self.at_once |= self.unacked >= EACH;
            self.due.get_or_insert(now + DELAYED_ACK);
        }
        before..self.next
    }

    fn insert(&mut self, got: Range<u64>) {
        let mut new = got.start.max(self.next)..got.end;
        self.beyond.retain(|r| {
            let touches = r.start <= new.end && new.start <= r.end;
            if touches {
                new = new.start.min(r.start)..new.end.max(r.end);
            }
            !touches
        });
        if new.start <= self.next {
            self.next = new.end;
            return;
        }
        self.recent.insert(0, got.start.max(self.next));
        let at = self.beyond.partition_point(|r| r.start < new.start);
        self.beyond.insert(at, new);
        // Only the newest byte of each block stands for it.
        let mut seen: Vec<u64> = Vec::with_capacity(RECENT);
        let beyond = &self.beyond;
        self.recent.retain(|byte| {
            let block = beyond.iter().find(|r| r.contains(byte)).map(|r| r.start);
            let keep = block.is_some_and(|b| !seen.contains(&b) && seen.len() < RECENT);
            seen.extend(block.filter(|_| keep));
            keep
        });
    }

    /// The blocks of the next ACK, the one that changed last first, or a duplicate before it (RFC 2018, 2883).
    pub(crate) fn blocks(&self) -> impl Iterator<Item = Range<u64>> {
        let of = |byte: &u64| self.beyond.iter().find(|r| r.contains(byte)).cloned();
        self.duplicate.clone().into_iter().chain(self.recent.iter().filter_map(of))
    }

    /// Whether an ACK is to be sent now.
    pub(crate) fn wants(&self) -> bool {
        self.at_once
    }

    /// When a delayed ACK is due.
    pub(crate) fn due(&self) -> Option<u64> {
        if self.at_once { None } else { self.due }
    }

    /// A delayed ACK may be due at `now`.
    pub(crate) fn tick(&mut self, now: u64) {
        self.at_once |= self.due.is_some_and(|due| due <= now);
    }

    /// A segment with an ACK has left.
    pub(crate) fn acknowledged(&mut self) {
        (self.unacked, self.at_once, self.due, self.duplicate) = (0, false, None, None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn blocks(r: &Receiver) -> Vec<Range<u64>> {
        r.blocks().collect()
    }

    #[test]
    fn every_second_segment_is_acknowledged_at_once() {
        let mut r = Receiver::default();
        assert_eq!(r.take(0..10, false, 5), 0..10);
        assert_eq!((r.wants(), r.due()), (false, Some(5 + DELAYED_ACK)));
        assert_eq!(r.take(10..20, false, 6), 10..20);
        assert!(r.wants() && r.due().is_none());
        r.acknowledged();
        r.take(20..30, false, 7);
        r.tick(6 + DELAYED_ACK);
        assert!(!r.wants());
        r.tick(7 + DELAYED_ACK);
        assert!(r.wants());
    }

    #[test]
    fn blocks_are_told_newest_first() {
        let mut r = Receiver::default();
        for start in [20, 40, 60, 80] {
            assert_eq!(r.take(start..start + 10, false, 0), 0..0);
            assert!(r.wants());
            r.acknowledged();
        }
        assert_eq!(blocks(&r), [80..90, 60..70, 40..50, 20..30]);
        r.take(30..40, false, 0);
        assert_eq!(blocks(&r), [20..50, 80..90, 60..70], "two blocks became one");
        r.acknowledged();
        r.take(30..35, false, 0);
        assert_eq!(blocks(&r)[..2], [30..35, 20..50], "a duplicate comes first");
        r.acknowledged();
        assert_eq!(r.take(0..20, false, 0), 0..50);
        assert!(r.wants(), "into a hole");
        assert_eq!(blocks(&r), [80..90, 60..70]);
        assert_eq!(r.take(0..10, false, 0), 50..50);
        assert_eq!(r.take(50..100, false, 0), 50..100);
        assert!(blocks(&r)[1..].is_empty());
    }
}
