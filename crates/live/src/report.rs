//! What a live run found.

use std::collections::BTreeMap;

use apps::echo::{self, Found};
use apps::{Cause, Fate};
use serde::Serialize;

use crate::antagonist::Pressed;
use crate::config::Config;
use crate::ledger::Faults;

/// What the client of a TCP server saw.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Calls {
    /// Connections.
    pub flows: u32,
    /// Bytes of a request, and of its answer.
    pub message_len: usize,
    /// Requests to be answered.
    pub requests: u64,
    /// Answers per second of wall clock.
    pub per_second: f64,
    /// From a request to its answer, us.
    pub mean_us: f64,
    /// The same: median.
    pub p50_us: f64,
    /// The same: 99th percentile.
    pub p99_us: f64,
    /// The same: maximum.
    pub max_us: f64,
    /// Segments that the client sent again.
    pub client_retransmissions: u64,
    /// Segments that the server sent again.
    pub server_retransmissions: u64,
    /// Frames of the client that the wire lost.
    pub client_lost: u64,
    /// Frames of the server that the wire lost.
    pub server_lost: u64,
}

impl Calls {
    /// Of what the client found in `seconds`.
    pub(crate) fn of(config: &Config, found: &Found, seconds: f64) -> Calls {
        let [mean_us, p50_us, p99_us, max_us] = found.ns.map(|ns| ns / 1000.0);
        Calls {
            flows: config.flows,
            message_len: echo::MESSAGE,
            requests: config.packets,
            per_second: if seconds > 0.0 { found.answered as f64 / seconds } else { 0.0 },
            mean_us,
            p50_us,
            p99_us,
            max_us,
            client_retransmissions: found.repeated[0],
            server_retransmissions: found.repeated[1],
            client_lost: found.lost[0],
            server_lost: found.lost[1],
        }
    }
}

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
    /// What the client of a TCP server saw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub calls: Option<Calls>,
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
        if let Some(calls) = &self.calls {
            // TCP sends again what was dropped. So answers are counted, not frames.
            return first_broken(&[
                ("offered = delivered + dropped", self.offered, self.delivered + dropped),
                ("received = delivered", received, self.delivered),
                ("answers = requests", self.checked, calls.requests),
                ("requests without an answer = 0", f.missing, 0),
                ("corrupt answers = 0", f.corrupt, 0),
                ("buffers in use = 0", self.buffers_in_use, 0),
            ]);
        }
        first_broken(&[
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
        ])
    }
}

/// The first rule whose two numbers differ.
fn first_broken(rules: &[(&str, u64, u64)]) -> Result<(), String> {
    match rules.iter().find(|(_, left, right)| left != right) {
        Some((rule, left, right)) => Err(format!("{rule} does not hold: {left} against {right}")),
        None => Ok(()),
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

    #[test]
    fn every_rule_of_a_tcp_server_can_fail() {
        let good = LiveReport {
            offered: 10,
            delivered: 9,
            dropped: BTreeMap::from([(Fate::Card(Outcome::RingFull), 1)]),
            received: vec![9],
            checked: 5,
            calls: Some(Calls { requests: 5, ..Calls::default() }),
            ..LiveReport::default()
        };
        assert_eq!(good.holds(), Ok(()));
        let bad = [
            (LiveReport { offered: 9, ..good.clone() }, "offered"),
            (LiveReport { received: vec![8], ..good.clone() }, "received"),
            (LiveReport { checked: 4, ..good.clone() }, "answers"),
            (LiveReport { faults: Faults { missing: 1, ..Faults::default() }, ..good.clone() }, "without"),
            (LiveReport { faults: Faults { corrupt: 1, ..Faults::default() }, ..good.clone() }, "corrupt"),
            (LiveReport { buffers_in_use: 1, ..good.clone() }, "buffers"),
        ];
        for (report, rule) in bad {
            assert!(report.holds().unwrap_err().contains(rule), "{rule}");
        }
    }
}
