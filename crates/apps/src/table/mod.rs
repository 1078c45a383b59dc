//! Flow tables: the state that LB and NAT keep per flow.
//!
//! One trait, two tables behind the same application code. [`HashTable`] stores flows. [`Declared`]
//! stores nothing: it touches the same lines at the same full-size addresses, so that the model
//! charges a table of a gibibyte without owning one.

mod declared;
mod hashed;

pub use declared::Declared;
pub use hashed::HashTable;

use memory::{LINE, Memory, Ps};

/// Slots of a bucket: 8 words, one line.
pub(crate) const SLOTS: usize = 8;
/// Bytes of a flow's state.
const STATE: u64 = 32;
/// The multiplier of the key's hash: odd, without structure (the golden ratio's digits).
const MIX: u64 = 0x9e37_79b9_7f4a_7c15;

/// What an application remembers of a flow.
pub type Value = [u64; 2];

/// A flow's name: addresses, ports, protocol. Never all zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key(pub(crate) [u64; 5]);

impl Key {
    /// The key of a flow from its addresses as they stand in the header (source and destination, 8 or
    /// 32 bytes), its ports and its protocol; `None` for another number of bytes.
    #[inline]
    pub fn new(addresses: &[u8], ports: [u8; 4], protocol: u8) -> Option<Key> {
        let rest = u64::from(u32::from_be_bytes(ports)) | u64::from(protocol) << 32;
        if let Ok(v4) = <[u8; 8]>::try_from(addresses) {
            return Some(Key([u64::from_be_bytes(v4), 0, 0, 0, rest | 4 << 60]));
        }
        let v6 = <[u8; 32]>::try_from(addresses).ok()?;
        let word = |i: usize| v6.as_chunks::<8>().0.get(i).map_or(0, |w| u64::from_be_bytes(*w));
        Some(Key([word(0), word(1), word(2), word(3), rest | 6 << 60]))
    }

    /// The key of an IPv4 flow.
    #[inline]
    pub fn ipv4(src: [u8; 4], dst: [u8; 4], src_port: u16, dst_port: u16, protocol: u8) -> Key {
        let addresses = u64::from(u32::from_be_bytes(src)) << 32 | u64::from(u32::from_be_bytes(dst));
        let ports = u64::from(src_port) << 16 | u64::from(dst_port);
        Key([addresses, 0, 0, 0, ports | u64::from(protocol) << 32 | 4 << 60])
    }

    /// A well-mixed hash, the same on every machine.
    #[inline]
    pub fn hash(&self) -> u64 {
        let mix = |a: u64, b: u64| {
            let wide = u128::from(a) * u128::from(b);
            wide as u64 ^ (wide >> 64) as u64
        };
        let [a, b, c, d, e] = self.0;
        let addresses = mix(a ^ MIX, b ^ 0xe703_7ed1_a0b4_28db)
            ^ mix(c ^ 0x8ebc_6af0_9c88_c6e3, d ^ 0x5899_65cc_7537_4cc3);
        mix(addresses ^ MIX, e ^ 0x1d8e_4e27_c47d_124f)
    }
}

/// A flow that the table knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Flow {
    /// Its entry, for [`FlowTable::link`].
    pub entry: u32,
    /// What was stored with it.
    pub value: Value,
}

/// No room: every entry that could hold the flow holds one that has not expired.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full;

/// State per flow, found by its key. The hash is passed beside the key: it is computed once a frame.
pub trait FlowTable<M: Memory> {
    /// The flow of `key`, marked as used at `now`. `opens`: the frame says that it opens a flow (TCP
    /// SYN), which is all that a table without storage has to go by.
    fn find(&mut self, m: &mut M, key: &Key, hash: u64, now: Ps, opens: bool) -> Option<Flow>;
    /// Whether `key` is taken; marks nothing.
    fn taken(&mut self, m: &mut M, key: &Key, hash: u64) -> bool;
    /// Stores a flow that [`find`](Self::find) did not find.
    ///
    /// # Errors
    /// [`Full`]; nothing changed.
    fn insert(&mut self, m: &mut M, key: &Key, hash: u64, value: Value, now: Ps) -> Result<Flow, Full>;
    /// Ties two directions of one connection: they expire together.
    fn link(&mut self, a: Flow, b: Flow);
    /// Takes a flow out again (the other direction did not fit).
    fn remove(&mut self, m: &mut M, key: &Key, hash: u64);
}

/// Where the lines of a table lie: buckets, then keys (a line each), then states (half a line each).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Buckets, a power of two.
    pub(crate) buckets: u64,
    /// Flows that fit.
    pub(crate) capacity: u32,
}

impl Shape {
    /// A table for `capacity` flows, 1 to 2^30, at most five of eight slots used.
    pub fn new(capacity: u32) -> Shape {
        let capacity = capacity.clamp(1, 1 << 30);
        Shape { buckets: u64::from(capacity).div_ceil(5).next_power_of_two(), capacity }
    }

    /// Bytes in all: 1.02 GiB for 10 M flows.
    pub fn bytes(&self) -> u64 {
        self.state(self.capacity)
    }

    /// The two buckets in which a flow may lie, the preferred one first.
    #[inline]
    pub(crate) fn pair(&self, hash: u64) -> [u64; 2] {
        let mask = self.buckets - 1;
        [hash & mask, (hash >> 32).wrapping_mul(MIX) >> 20 & mask]
    }

    pub(crate) fn bucket(&self, bucket: u64) -> u64 {
        bucket * LINE as u64
    }

    pub(crate) fn key(&self, entry: u32) -> u64 {
        (self.buckets + u64::from(entry)) * LINE as u64
    }

    pub(crate) fn state(&self, entry: u32) -> u64 {
        self.key(self.capacity) + u64::from(entry) * STATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ten_million_flows_take_about_a_gibibyte() {
        let bytes = Shape::new(10_000_000).bytes();
        assert!((1 << 30..11 << 27).contains(&bytes), "{bytes}");
    }

    #[test]
    fn keys_differ_by_every_part() {
        let base = Key::ipv4([1; 4], [2; 4], 3, 4, 6);
        let others = [
            Key::ipv4([1, 1, 1, 9], [2; 4], 3, 4, 6),
            Key::ipv4([1; 4], [2, 2, 2, 9], 3, 4, 6),
            Key::ipv4([1; 4], [2; 4], 4, 3, 6),
            Key::ipv4([1; 4], [2; 4], 3, 5, 6),
            Key::ipv4([1; 4], [2; 4], 3, 4, 17),
            Key::ipv4([2; 4], [1; 4], 3, 4, 6),
        ];
        for other in others {
            assert_ne!(base, other);
            assert_ne!(base.hash(), other.hash());
        }
        assert_eq!(Key::new(&[1, 1, 1, 1, 2, 2, 2, 2], [0, 3, 0, 4], 6), Some(base));
        assert_eq!(Key::new(&[0; 12], [0; 4], 6), None);
    }

    #[test]
    fn an_ipv6_flow_is_no_ipv4_flow() {
        let mut addresses = [0; 32];
        addresses[..8].copy_from_slice(&[1, 1, 1, 1, 2, 2, 2, 2]);
        assert_ne!(Key::new(&addresses, [0, 3, 0, 4], 6), Some(Key::ipv4([1; 4], [2; 4], 3, 4, 6)));
    }

    #[test]
    fn hashes_spread_over_buckets() {
        let shape = Shape::new(5 * 1024);
        let mut load = vec![0u32; shape.buckets as usize];
        for port in 0..8 * 1024u16 {
            let key = Key::ipv4([10; 4], [20; 4], port, 80, 6);
            load[shape.pair(key.hash())[0] as usize] += 1;
        }
        let most = load.iter().max().copied().unwrap_or(0);
        assert!(most < 24, "8 expected in a bucket, {most} found");
    }
}
