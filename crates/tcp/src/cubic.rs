//! CUBIC (RFC 9438) and slow start (RFC 5681), in segments.

use crate::SECOND;

/// Growth of the cubic, segments per cubed second.
const C: f64 = 0.4;
/// What a loss leaves of the window.
const BETA: f64 = 0.7;
/// Growth per window of the Reno-friendly estimate.
const ALPHA: f64 = 3.0 * (1.0 - BETA) / (1.0 + BETA);
/// Window to begin with (RFC 6928).
const FIRST: f64 = 10.0;
/// The smallest threshold.
const LEAST: f64 = 2.0;

/// The congestion window of a connection.
#[derive(Clone, Debug)]
pub struct Cubic {
    window: f64,
    threshold: f64,
    /// The window before the last loss, lowered where flows make room for others (fast convergence).
    most: f64,
    /// The window at the last loss itself.
    before: f64,
    epoch: Option<Epoch>,
}

/// Congestion avoidance since a loss.
#[derive(Clone, Copy, Debug)]
struct Epoch {
    start: u64,
    /// Seconds until the cubic is back at `most`.
    back: f64,
    /// What Reno would have.
    reno: f64,
}

impl Default for Cubic {
    fn default() -> Cubic {
        Cubic { window: FIRST, threshold: f64::INFINITY, most: 0.0, before: 0.0, epoch: None }
    }
}

impl Cubic {
    /// The window, segments.
    pub fn window(&self) -> f64 {
        self.window
    }

    /// Whether the window doubles each round trip.
    pub fn slow_start(&self) -> bool {
        self.window < self.threshold
    }

    /// `acked` segments more were acknowledged at `now`; `rtt` is the smoothed round trip.
    pub fn acked(&mut self, acked: f64, now: u64, rtt: u64) {
        if self.slow_start() {
            self.window += acked;
            return;
        }
        let epoch = self.epoch.get_or_insert_with(|| {
            self.most = self.most.max(self.window);
            Epoch { start: now, back: libm::cbrt((self.most - self.window) / C), reno: self.window }
        });
        let cubic =
            |at: u64| C * ((at - epoch.start) as f64 / SECOND as f64 - epoch.back).powi(3) + self.most;
        // Reno's growth is damped until it has caught up with the window before the loss.
        let alpha = if epoch.reno < self.before { ALPHA } else { 1.0 };
        let reno = epoch.reno + alpha * acked / self.window;
        self.window = if cubic(now) < reno {
            self.window.max(reno)
        } else {
            let target = cubic(now + rtt).clamp(self.window, 1.5 * self.window);
            self.window + (target - self.window) / self.window * acked
        };
        epoch.reno = reno;
    }

    /// A segment was lost: one call for all losses of a window.
    pub fn lost(&mut self) {
        let converging = self.window < self.most;
        self.most = if converging { self.window * (1.0 + BETA) / 2.0 } else { self.window };
        self.before = self.window;
        self.threshold = (self.window * BETA).max(LEAST);
        self.window = self.threshold;
        self.epoch = None;
    }

    /// The retransmission timer expired.
    pub fn timed_out(&mut self) {
        self.lost();
        self.window = 1.0;
    }

    /// The loss was none: back to the state `before` it, but not below today's window (RFC 9438 §4.9.2).
    pub fn undo(&mut self, before: &Cubic) {
        let window = self.window.max(before.window);
        *self = Cubic { window, ..before.clone() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MS;

    const RTT: u64 = 100 * MS;

    /// A window after `rounds` round trips without loss.
    fn grow(c: &mut Cubic, rounds: u64) -> Vec<f64> {
        let round = |i: u64| {
            let acks = c.window().floor();
            (0..acks as u64).for_each(|_| c.acked(1.0, i * RTT, RTT));
            c.window()
        };
        (1..=rounds).map(round).collect()
    }

    fn after_loss_at(window: f64) -> Cubic {
        let mut c = Cubic { window, ..Cubic::default() };
        c.lost();
        c
    }

    #[test]
    fn slow_start_doubles_each_round() {
        let mut c = Cubic::default();
        assert_eq!(grow(&mut c, 4), [20.0, 40.0, 80.0, 160.0]);
        c.lost();
        assert_eq!((c.window(), c.slow_start()), (160.0 * BETA, false));
        c.timed_out();
        assert_eq!((c.window(), c.slow_start()), (1.0, true));
    }

    #[test]
    fn the_cubic_is_back_after_k_seconds() {
        let mut c = after_loss_at(1000.0);
        // K is the cube root of 300 / 0.4: 9.09 s.
        let windows = grow(&mut c, 180);
        assert!((windows[90] / 1000.0 - 1.0).abs() < 0.005, "after 9.1 s: {}", windows[90]);
        let formula = 0.4 * (4.1_f64 - 750f64.cbrt()).powi(3) + 1000.0;
        assert!((windows[40] / formula - 1.0).abs() < 0.005, "{} {formula}", windows[40]);
        let grown = |from: usize| windows[from + 20] - windows[from];
        assert!(grown(150) > 10.0 * grown(80).max(0.1), "flat at the plateau, convex behind it");
    }

    #[test]
    fn small_windows_grow_as_fast_as_reno() {
        let mut c = after_loss_at(20.0);
        // 0.53 segments a round until 20, one a round from there.
        let windows = grow(&mut c, 30);
        assert!((windows[9] - (14.0 + 10.0 * ALPHA)).abs() < 0.5, "{}", windows[9]);
        assert!(windows[29] - windows[19] > 9.0, "{} {}", windows[19], windows[29]);
    }

    #[test]
    fn a_second_loss_below_the_first_makes_room() {
        let mut c = after_loss_at(1000.0);
        c.lost();
        assert!((c.most - 700.0 * (1.0 + BETA) / 2.0).abs() < 1e-9);
        let before = after_loss_at(1000.0);
        c.undo(&before);
        assert_eq!((c.window(), c.threshold), (700.0, 700.0));
    }
}
