//! Small caches and random accesses for the tests that hold the model's caches against others.

#![allow(dead_code, reason = "no test needs all of it")]

use model::hierarchy::mix;
use model::profile::{AdjacentPrefetch, Caches, Placement, RemoteReads, Replacement, Server, SliceHash};

/// A server with caches of a few lines. The profile's checks are for real machines: a
/// [`model::hierarchy::Hierarchy`] takes any number of sets.
pub(crate) fn small(cores: u32, caches: Caches) -> Server {
    let mut server = Server::by_name("rxbisect-testbed").unwrap();
    (server.cores, server.caches) = (cores, caches);
    server
}

/// L2s of 8 sets and 4 ways over one LLC slice of 8 sets, LRU, without prefetch.
pub(crate) fn tiny() -> Caches {
    Caches {
        l1_kib: 0,
        l2_kib: 2,
        l2_ways: 4,
        slices: 1,
        sets_per_slice: 8,
        ways: 6,
        ddio_ways: 2,
        inclusive_ways: 2,
        llc_inclusive: false,
        replacement: Replacement::Lru,
        placement: Placement::Contiguous,
        slice_hash: SliceHash::Balanced,
        adjacent_prefetch: AdjacentPrefetch::None,
        remote_reads: RemoteReads::Move,
    }
}

/// A stream of pseudo-random numbers.
pub(crate) struct Chance(u64);

impl Chance {
    /// The stream of `seed`.
    pub(crate) fn new(seed: u64) -> Chance {
        Chance(mix(seed))
    }

    /// The next number, below `n`.
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        self.0 = mix(self.0);
        (((self.0 >> 32) * u64::from(n)) >> 32) as u32
    }
}
