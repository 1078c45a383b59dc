//! Buckets of a hash table that grows by a factor.

use crate::profile::tables::Chained;

/// Buckets of a table with so many rules.
pub(super) fn buckets(c: &Chained, rules: u64) -> u64 {
    let growth = (c.growth.value as u64).max(2);
    let mut buckets = 1u64;
    while rules as f64 > c.full.value * buckets as f64 && buckets < u64::MAX / growth {
        buckets *= growth;
    }
    buckets
}

/// Rules for each bucket.
pub(super) fn load(c: &Chained, rules: u64) -> f64 {
    rules as f64 / buckets(c, rules) as f64
}

/// Of `buckets`, how many the keys of `flows` hash to in the mean: `buckets * (1 - (1 - 1 / buckets) ^ flows)`, by
/// multiplications alone, so that all machines agree on each bit.
pub(super) fn touched(buckets: u64, flows: u64) -> f64 {
    let (mut base, mut left, mut missed) = (1.0 - 1.0 / buckets as f64, flows, 1.0);
    while left > 0 {
        if left & 1 == 1 {
            missed *= base;
        }
        base *= base;
        left >>= 1;
    }
    buckets as f64 * (1.0 - missed)
}
