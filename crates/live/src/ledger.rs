//! What arrived: nothing twice, nothing missing that was not counted as dropped, and nothing out of its
//! flow's order, where the interface promises that.

use std::sync::Arc;

use serde::Serialize;

use crate::seen::Seen;
use crate::stamp::Stamp;

/// Frames that are not as they should be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Faults {
    /// Never arrived.
    pub missing: u64,
    /// Arrived again, or after a later one of their flow.
    pub late: u64,
    /// Payload or checksum wrong.
    pub corrupt: u64,
    /// Arrived at a queue that is not their flow's.
    pub misrouted: u64,
}

impl Faults {
    pub(crate) fn add(&mut self, other: Faults) {
        self.missing += other.missing;
        self.late += other.late;
        self.corrupt += other.corrupt;
        self.misrouted += other.misrouted;
    }
}

/// Where a flow stands in every turn of the card, and the ring that its frames come through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) rank: u32,
    pub(crate) ring: u16,
}

/// What one end has seen.
pub(crate) struct Ledger {
    /// Of each flow, where order is promised, the number that its next frame has.
    next: Vec<u32>,
    /// Where order is not promised.
    mixed: Option<Mixed>,
    pub(crate) seen: u64,
    pub(crate) faults: Faults,
}

/// Frames that several workers take from one ring, and so in any order.
struct Mixed {
    places: Arc<[Place]>,
    /// The ring that this end serves; none for the end where all come together.
    ring: Option<u16>,
    seen: Seen,
}

/// The number of a frame among all that the card stores.
pub(crate) fn number(stamp: Stamp, rank: u32, flows: usize) -> u64 {
    u64::from(stamp.number) * flows as u64 + u64::from(rank)
}

impl Ledger {
    /// Of flows whose frames keep their order.
    pub(crate) fn new(flows: u32) -> Ledger {
        Ledger { next: vec![0; flows as usize], mixed: None, seen: 0, faults: Faults::default() }
    }

    /// Of flows whose frames come in any order, through `ring` if one is named.
    pub(crate) fn mixed(places: Arc<[Place]>, ring: Option<u16>) -> Ledger {
        let mixed = Mixed { places, ring, seen: Seen::default() };
        Ledger { next: Vec::new(), mixed: Some(mixed), seen: 0, faults: Faults::default() }
    }

    /// Records a frame that arrived, by its stamp; by none if the stamp's check does not fit. Returns the
    /// frame's number among all frames, where order is not promised and the frame is no repetition.
    #[inline]
    pub(crate) fn record(&mut self, stamp: Option<Stamp>) -> Option<u64> {
        self.seen += 1;
        if let Some(mixed) = &mut self.mixed {
            return mixed.record(stamp, &mut self.faults);
        }
        let Some((stamp, next)) = stamp.and_then(|s| Some((s, self.next.get_mut(s.flow as usize)?))) else {
            self.faults.corrupt += 1;
            return None;
        };
        match stamp.number.checked_sub(*next) {
            Some(gap) => {
                self.faults.missing += u64::from(gap);
                *next = stamp.number.wrapping_add(1);
            }
            None => self.faults.late += 1,
        }
        None
    }

    /// What is wrong with frames that came in any order, over all ends together, when `sent` have been sent.
    pub(crate) fn unite<'a>(ledgers: impl IntoIterator<Item = &'a Ledger>, sent: u64) -> Faults {
        let (mut all, mut faults, mut distinct) = (Seen::default(), Faults::default(), 0);
        for ledger in ledgers {
            faults.add(ledger.faults);
            let Some(mixed) = &ledger.mixed else { continue };
            let here = ledger.seen - ledger.faults.late - ledger.faults.corrupt;
            let twice = all.unite(&mixed.seen);
            faults.late += twice;
            distinct += here - twice;
        }
        faults.missing += sent.saturating_sub(distinct);
        faults.corrupt += distinct.saturating_sub(sent);
        faults
    }

    /// What else is wrong where order is promised, once no more frames will arrive. Of each flow `sent`
    /// frames were sent, and `owns` tells whether they come here.
    pub(crate) fn close(&self, sent: &[u32], owns: impl Fn(usize) -> bool) -> Faults {
        let mut faults = Faults::default();
        for (flow, next) in self.next.iter().enumerate() {
            let sent = sent.get(flow).copied().unwrap_or(0);
            if owns(flow) {
                faults.missing += u64::from(sent.saturating_sub(*next));
                faults.corrupt += u64::from(next.saturating_sub(sent));
            } else {
                faults.misrouted += u64::from(*next);
            }
        }
        faults
    }
}

impl Mixed {
    #[inline]
    fn record(&mut self, stamp: Option<Stamp>, faults: &mut Faults) -> Option<u64> {
        let Some((stamp, place)) = stamp.and_then(|s| Some((s, self.places.get(s.flow as usize)?))) else {
            faults.corrupt += 1;
            return None;
        };
        faults.misrouted += u64::from(self.ring.is_some_and(|ring| ring != place.ring));
        let number = number(stamp, place.rank, self.places.len());
        if self.seen.add(number) {
            return Some(number);
        }
        faults.late += 1;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn in_any_order_tells_loss_repetition_and_strangers() {
        let places: Arc<[Place]> = [Place { rank: 1, ring: 0 }, Place { rank: 0, ring: 2 }].into();
        let fill = |ring, stamps: &[(u32, u32)]| {
            let mut ledger = Ledger::mixed(places.clone(), ring);
            for (flow, number) in stamps {
                ledger.record(Some(Stamp { flow: *flow, number: *number }));
            }
            ledger
        };
        let none = Faults::default();
        let judge = |a: &[(u32, u32)], b: &[(u32, u32)], sent| {
            Ledger::unite([&fill(Some(0), a), &fill(Some(0), b)], sent)
        };
        assert_eq!(judge(&[(0, 3), (0, 0)], &[(0, 2), (0, 1)], 4), none);
        assert_eq!(judge(&[(0, 3)], &[(0, 2)], 4), Faults { missing: 2, ..none });
        assert_eq!(judge(&[(0, 1), (0, 1)], &[(0, 0)], 2), Faults { late: 1, ..none });
        assert_eq!(judge(&[(0, 1)], &[(0, 1), (0, 0)], 2), Faults { late: 1, ..none }, "by another end");
        assert_eq!(judge(&[(0, 1), (0, 0)], &[(1, 0)], 3), Faults { misrouted: 1, ..none });
        assert_eq!(judge(&[(0, 1), (0, 0)], &[(2, 0)], 2), Faults { corrupt: 1, ..none });
        assert_eq!(judge(&[(0, 1), (0, 0)], &[], 1), Faults { corrupt: 1, ..none }, "more than was sent");
        let mut all = Ledger::mixed(places.clone(), None);
        let numbers =
            [(1, 0), (0, 0), (0, 1), (1, 1)].map(|(flow, number)| all.record(Some(Stamp { flow, number })));
        assert_eq!(numbers, [Some(0), Some(1), Some(3), Some(2)], "numbers follow the card's order");
    }

    fn ledger(numbers: &[u32], sent: u32) -> Faults {
        let mut ledger = Ledger::new(2);
        for number in numbers {
            ledger.record(Some(Stamp { flow: 1, number: *number }));
        }
        ledger.faults.add(ledger.close(&[0, sent], |flow| flow == 1));
        ledger.faults
    }

    #[test]
    fn tells_loss_repetition_and_overtaking() {
        let none = Faults::default();
        assert_eq!(ledger(&[0, 1, 2], 3), none);
        assert_eq!(ledger(&[0, 2], 3), Faults { missing: 1, ..none });
        assert_eq!(ledger(&[0, 1], 5), Faults { missing: 3, ..none });
        assert_eq!(ledger(&[0, 1, 1], 2), Faults { late: 1, ..none });
        assert_eq!(ledger(&[0, 2, 1], 3), Faults { missing: 1, late: 1, ..none });
        assert_eq!(ledger(&[0, 1, 2, 3], 3), Faults { corrupt: 1, ..none }, "more than was sent");
    }

    #[test]
    fn tells_strangers() {
        let mut ledger = Ledger::new(2);
        ledger.record(None);
        ledger.record(Some(Stamp { flow: 2, number: 0 }));
        ledger.record(Some(Stamp { flow: 0, number: 0 }));
        ledger.faults.add(ledger.close(&[1, 0], |flow| flow == 1));
        assert_eq!(ledger.faults, Faults { corrupt: 2, misrouted: 1, ..Faults::default() });
    }
}
