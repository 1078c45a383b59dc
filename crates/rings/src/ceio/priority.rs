//! Which flows the fast path is for. CEIO releases credits lazily; multiple priority queues are what it is compared with
//! (section 4.1): in PIAS a flow begins with the highest priority and loses one with each threshold of bytes that it has
//! sent (Bai and others, NSDI 2015).

use crate::contract::Choice;

/// How flows that a core receives from come to be preferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Priority {
    /// Credits come back once for a batch, so that flows that nobody polls run out of them.
    Lazy,
    /// Credits come back at once, and a flow of a lower priority leaves those of the higher ones alone.
    Pias,
}

impl Choice for Priority {
    const ALL: &'static [(&'static str, Priority)] = &[("lazy", Priority::Lazy), ("pias", Priority::Pias)];
}

/// Bytes from which on a flow has one priority less. PIAS derives them from the sizes of a network's flows; these are
/// decades about the sizes that it gives, and so assumed (A154).
const DEMOTED: [u64; 3] = [100_000, 1_000_000, 10_000_000];

/// Of `total` credits, how many may be in use for a flow that has sent so many bytes to get another one: each priority
/// leaves as many as a level's part to every higher one.
pub(super) fn share(bytes: u64, total: u32) -> u32 {
    let level = DEMOTED.iter().filter(|most| bytes > **most).count() as u64;
    let levels = DEMOTED.len() as u64 + 1;
    (u64::from(total) * (levels - level)).div_ceil(levels) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_loses_its_priority_as_it_sends() {
        let shares =
            [1, 100_000, 100_001, 1_000_001, 10_000_000, 10_000_001, u64::MAX].map(|n| share(n, 3000));
        assert_eq!(shares, [3000, 3000, 2250, 1500, 1500, 750, 750]);
        assert_eq!(share(u64::MAX, 1), 1, "somebody can always go on");
    }
}
