//! Time in ticks of the processor, where a look at the system's clock would take as long as what is timed: a burst's
//! look-ups, a frame there and back, a poll that finds nothing.

#![allow(clippy::disallowed_methods, reason = "a measurement is about the wall clock")]

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// How long ticks are held against the system's clock.
const CALIBRATION: Duration = Duration::from_millis(20);

/// Ticks now, once all instructions before are done.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub fn ticks() -> u64 {
    let mut cpu = 0;
    // SAFETY: it writes to `cpu` alone, and no x86-64 since 2008 is without it.
    unsafe { core::arch::x86_64::__rdtscp(&mut cpu) }
}

/// Nanoseconds since the first call.
#[cfg(not(target_arch = "x86_64"))]
pub fn ticks() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Nanoseconds of a tick.
pub fn ns() -> f64 {
    static NS: OnceLock<f64> = OnceLock::new();
    *NS.get_or_init(|| {
        let (time, begin) = (Instant::now(), ticks());
        while time.elapsed() < CALIBRATION {}
        let spent = time.elapsed();
        spent.as_nanos() as f64 / (ticks() - begin) as f64
    })
}
