//! HostCC (Agarwal and others, SIGCOMM 2023; CEIO, section 2.3): a host that samples how full its IIO buffer is, and has
//! senders hear of it by marks on what it receives.
//!
//! A written line stays in that buffer on its way to the cache, and longer where it needs a way there that another line
//! has to leave first. Lines there are their rate by the time that each stays (Little's law). At line rate, with all
//! lines in place, that is what the host is made for; somewhat more of them is congestion.

use memory::Memory;

use crate::engine::view::View;

/// Lines at which HostCC sees congestion, in those of line rate without any: its authors take 70 where 65 are usual (A151).
const THRESHOLD: f64 = 70.0 / 65.0;

/// What it has seen.
pub(crate) struct HostCc {
    /// From one sample to the next, ps.
    period: u64,
    next: u64,
    /// What was written until then, see [`View::written_lines`].
    before: [u64; 3],
    congested: bool,
}

impl HostCc {
    pub(crate) fn new(m: &View, period: u64) -> HostCc {
        HostCc { period, next: period, before: m.written_lines(), congested: false }
    }

    /// Whether the last sample says so; takes the next one when it is time.
    pub(crate) fn is_congested(&mut self, m: &mut View) -> bool {
        let now = m.now().0;
        if now >= self.next {
            let lines = m.written_lines();
            let [written, there, placed] = [0, 1, 2].map(|k| (lines[k] - self.before[k]) as f64);
            let rate = written / (now + self.period - self.next) as f64;
            let placed = rate * placed / (there + placed).max(1.0);
            self.congested = m.iio_lines(rate, placed) > THRESHOLD * m.iio_lines_at_line_rate();
            (self.before, self.next) = (lines, now + self.period);
        }
        self.congested
    }
}
