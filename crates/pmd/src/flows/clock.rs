//! The time by which rules grow old.

use rustix::time::{ClockId, clock_gettime};

/// Ticks of a second. A rule's time is up to one tick shorter than it says. Ticks wrap after 17 years, the longest time
/// that rte_flow has is half a year.
pub(super) const TICKS: u32 = 8;

/// Now, in ticks.
pub(super) fn now() -> u32 {
    let now = clock_gettime(ClockId::MonotonicCoarse);
    let part = now.tv_nsec as u64 * u64::from(TICKS) / 1_000_000_000;
    (now.tv_sec as u64 * u64::from(TICKS) + part) as u32
}
