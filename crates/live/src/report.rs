//! What a live run found.

use std::collections::BTreeMap;

use apps::{Cause, Fate};
use serde::Serialize;

use crate::antagonist::Pressed;
use crate::ledger::Faults;

/// The result of a live run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LiveReport {
    /// Receive interface.
    pub interface: &'static str,
    /// Its sizes.
    pub params: BTreeMap<&'static str, u64>,
    /// What workers did.
    pub work: &'static str,
    /// Worker threads.
    pub workers: u16,
    /// Whether the card waited instead of dropping.
    pub lossless: bool,
    /// Bytes of a frame, without FCS.
    pub frame_len: u16,
    /// Frames that the card was given.
    pub offered: u64,
    /// Frames stored in a ring.
    pub delivered: u64,
    /// Frames that the card dropped, by cause.
    pub dropped: BTreeMap<Fate, u64>,
    /// Where the card waits: refusals by cause, each offered again.
    pub refused: BTreeMap<Fate, u64>,
    /// Frames received by each worker.
    pub received: Vec<u64>,
    /// Frames that reached a worker and no further, by cause.
    pub app_dropped: BTreeMap<Fate, u64>,
    /// Frames that reached their end and were checked there.
    pub checked: u64,
    /// What was wrong with them; `missing` includes frames that were dropped and counted.
    pub faults: Faults,
    /// Buffers in all.
    pub buffers: u64,
    /// Buffers not back in the pool at the end, and values of a store that are still being sent.
    pub buffers_in_use: u64,
    /// How frames came back, by the metrics of RFC 4737, where several workers poll a ring and send on.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub reordering: BTreeMap<&'static str, f64>,
    /// Named counters of interface and pool, summed over queues.
    pub counters: BTreeMap<&'static str, u64>,
    /// What ran beside it.
    pub antagonist: Option<Pressed>,
    /// Wall-clock seconds from the first frame to the last.
    pub wall_s: f64,
    /// Frames per second of wall clock, in millions.
    pub mpps: f64,
}

impl LiveReport {
    /// Checks what must hold: every frame has one fate, none is torn, repeated, overtaken (where workers do
    /// not share a ring) or astray, and no buffer is missing.
    ///
    /// # Errors
    /// Names the first rule that does not hold, with its numbers.
    pub fn holds(&self) -> Result<(), String> {
        let dropped: u64 = self.dropped.values().sum();
        let app_dropped: u64 = self.app_dropped.values().sum();
        // Frames that an application is told to drop are no loss.
        let meant: u64 = self.app_dropped.get(&Fate::App(Some(Cause::Policy))).copied().unwrap_or(0);
        let received: u64 = self.received.iter().sum();
        let f = &self.faults;
        let rules = [
            ("offered = delivered + dropped", self.offered, self.delivered + dropped),
            ("received = delivered", received, self.delivered),
            ("checked = received - dropped by the application", self.checked + app_dropped, received),
            ("missing = dropped, counted", f.missing, dropped + app_dropped),
            (
                "dropped where the card waits = 0",
                if self.lossless { dropped + app_dropped - meant } else { 0 },
                0,
            ),
            ("frames late or twice = 0", f.late, 0),
            ("corrupt frames = 0", f.corrupt, 0),
            ("misrouted frames = 0", f.misrouted, 0),
            ("buffers in use = 0", self.buffers_in_use, 0),
        ];
        match rules.iter().find(|(_, left, right)| left != right) {
            Some((rule, left, right)) => Err(format!("{rule} does not hold: {left} against {right}")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use rings::Outcome;

    use super::*;

    #[test]
    fn every_rule_can_fail() {
        let drops = |n| BTreeMap::from([(Fate::Card(Outcome::RingFull), n)]);
        let good = LiveReport {
            offered: 10,
            delivered: 8,
            dropped: drops(2),
            received: vec![5, 3],
            app_dropped: BTreeMap::from([(Fate::TxFull, 1)]),
            checked: 7,
            faults: Faults { missing: 3, ..Faults::default() },
            ..LiveReport::default()
        };
        assert_eq!(good.holds(), Ok(()));
        let f = good.faults;
        let bad = [
            (LiveReport { dropped: drops(1), ..good.clone() }, "offered"),
            (LiveReport { received: vec![5, 2], ..good.clone() }, "received"),
            (LiveReport { checked: 8, ..good.clone() }, "checked"),
            (LiveReport { faults: Faults { missing: 4, ..f }, ..good.clone() }, "missing"),
            (LiveReport { faults: Faults { late: 1, ..f }, ..good.clone() }, "late"),
            (LiveReport { faults: Faults { corrupt: 1, ..f }, ..good.clone() }, "corrupt"),
            (LiveReport { faults: Faults { misrouted: 1, ..f }, ..good.clone() }, "misrouted"),
            (LiveReport { buffers_in_use: 1, ..good.clone() }, "buffers"),
            (LiveReport { lossless: true, ..good.clone() }, "waits"),
        ];
        for (report, rule) in bad {
            let what = report.holds().unwrap_err();
            assert!(what.contains(rule), "{rule}: {what}");
        }
    }
}
