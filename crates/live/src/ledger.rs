//! What arrived, flow by flow: nothing twice, nothing out of order, nothing missing that was not
//! counted as dropped.

use serde::Serialize;

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

/// The flows that one end sees.
pub(crate) struct Ledger {
    /// The number that each flow's next frame has; shared-nothing, one ledger for each receiver.
    next: Vec<u32>,
    pub(crate) seen: u64,
    pub(crate) faults: Faults,
}

impl Ledger {
    pub(crate) fn new(flows: u32) -> Ledger {
        Ledger { next: vec![0; flows as usize], seen: 0, faults: Faults::default() }
    }

    /// A frame arrived; its stamp, if its check fits.
    #[inline]
    pub(crate) fn record(&mut self, stamp: Option<Stamp>) {
        self.seen += 1;
        let Some((stamp, next)) = stamp.and_then(|s| Some((s, self.next.get_mut(s.flow as usize)?))) else {
            self.faults.corrupt += 1;
            return;
        };
        match stamp.number.checked_sub(*next) {
            Some(gap) => {
                self.faults.missing += u64::from(gap);
                *next = stamp.number.wrapping_add(1);
            }
            None => self.faults.late += 1,
        }
    }

    /// What else is wrong once no more will arrive: of each flow `sent` frames were sent, and `owns` tells
    /// whether they come here.
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

#[cfg(test)]
mod tests {
    use super::*;

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
