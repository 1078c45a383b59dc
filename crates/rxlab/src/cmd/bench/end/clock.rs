//! A clock that costs little: the time stamp counter where there is one.

use std::time::{Duration, Instant};

/// How long its rate is measured.
const MEASURED: Duration = Duration::from_millis(20);

/// Ticks and their rate.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    pub(super) hz: f64,
    #[cfg(not(target_arch = "x86_64"))]
    start: Instant,
}

impl Clock {
    #[allow(clippy::disallowed_methods, reason = "a benchmark is about the wall clock")]
    pub(super) fn new() -> Clock {
        let start = Instant::now();
        let mut clock = Clock {
            hz: 1e9,
            #[cfg(not(target_arch = "x86_64"))]
            start,
        };
        let from = clock.now();
        while start.elapsed() < MEASURED {
            std::hint::spin_loop();
        }
        let (ticks, seconds) = (clock.now().wrapping_sub(from), start.elapsed().as_secs_f64());
        clock.hz = ticks as f64 / seconds;
        clock
    }

    /// Ticks of now.
    #[cfg(target_arch = "x86_64")]
    #[inline(always)]
    #[allow(clippy::unused_self, reason = "elsewhere it needs its start")]
    pub(super) fn now(&self) -> u64 {
        // SAFETY: every x86-64 has the instruction, and it touches no memory.
        unsafe { core::arch::x86_64::_rdtsc() }
    }

    /// Ticks of now.
    #[cfg(not(target_arch = "x86_64"))]
    pub(super) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    pub(super) fn seconds(&self, ticks: u64) -> f64 {
        ticks as f64 / self.hz
    }

    pub(super) fn ticks_of_ms(&self, ms: u32) -> u64 {
        (self.hz * f64::from(ms) / 1e3) as u64
    }
}
