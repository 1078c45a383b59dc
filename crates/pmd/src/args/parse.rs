//! Values of single arguments.

use core::ops::RangeInclusive;

use crate::error::Error;

/// Speeds that a link can have, in Mbps: `RTE_ETH_SPEED_NUM_*`.
pub(super) const SPEEDS: [u32; 13] =
    [10, 100, 1000, 2500, 5000, 10_000, 20_000, 25_000, 40_000, 50_000, 56_000, 100_000, 200_000];

pub(super) fn invalid(key: &str, value: &str, allowed: &str) -> Error {
    Error::Invalid(format!("{key}={value}; allowed: {allowed}"))
}

pub(super) fn number(
    key: &str,
    value: &str,
    range: RangeInclusive<u32>,
    allowed: &str,
) -> Result<u32, Error> {
    value.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| invalid(key, value, allowed))
}

/// A number in `range`. An error says what it is, and ends with these limits.
pub(super) fn limited(key: &str, value: &str, range: RangeInclusive<u32>, what: &str) -> Result<u32, Error> {
    let allowed = format!("{what}, {} to {}", range.start(), range.end());
    number(key, value, range, &allowed)
}

pub(super) fn refill(key: &str, value: &str) -> Result<(), Error> {
    match value {
        "each" | "bulk" => Ok(()),
        _ => Err(invalid(key, value, "each (a buffer for each frame) or bulk (a burst's at once)")),
    }
}

pub(super) fn switch(key: &str, value: &str) -> Result<bool, Error> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(invalid(key, value, "0 or 1")),
    }
}

pub(super) fn size(key: &str, value: &str) -> Result<(), Error> {
    let allowed = "a power of two from 2 to 1048576";
    let n = number(key, value, 2..=1 << 20, allowed)?;
    if n.is_power_of_two() { Ok(()) } else { Err(invalid(key, value, allowed)) }
}

/// Gbps as bits per second.
pub(super) fn rate(key: &str, value: &str) -> Result<u64, Error> {
    let gbps = value.parse::<f64>().ok().filter(|g| (0.0..=10_000.0).contains(g));
    let gbps = gbps.ok_or_else(|| invalid(key, value, "Gbps from 0 (no limit) to 10000"))?;
    Ok((gbps * 1e9) as u64)
}

/// Gbps as Mbps.
pub(super) fn speed(key: &str, value: &str) -> Result<u32, Error> {
    let mbps = value.parse::<f64>().map(|gbps| gbps * 1000.0).ok();
    SPEEDS.into_iter().find(|speed| mbps == Some(f64::from(*speed))).ok_or_else(|| {
        let gbps = SPEEDS.map(|speed| (f64::from(speed) / 1000.0).to_string()).join(", ");
        invalid(key, value, &format!("Gbps, one of {gbps}"))
    })
}
