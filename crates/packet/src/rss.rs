//! Receive-side scaling: the Toeplitz hash of a packet's flow and the queue that it selects.

use std::sync::{Arc, LazyLock};

use crate::Parsed;

/// The key of Microsoft's RSS verification suite, which drivers take by default.
pub const DEFAULT_KEY: [u8; 40] = [
    0x6d, 0x5a, 0x56, 0xda, 0x25, 0x5b, 0x0e, 0xc2, 0x41, 0x67, 0x25, 0x3d, 0x43, 0xa3, 0x8f, 0xb0, 0xd0,
    0xca, 0x2b, 0xcb, 0xae, 0x7b, 0x30, 0xb4, 0x77, 0xcb, 0x2d, 0xa3, 0x80, 0x30, 0xf2, 0x0c, 0x6a, 0x42,
    0xb7, 0x3b, 0xbe, 0xac, 0x01, 0xfa,
];

/// A key of period 16 bits: both directions of a connection hash alike.
pub const SYMMETRIC_KEY: [u8; 40] = {
    let mut key = [0x6d; 40];
    let mut i = 1;
    while i < key.len() {
        key[i] = 0x5a;
        i += 2;
    }
    key
};

/// Longest hashed input: two IPv6 addresses and two ports.
const INPUT: usize = 36;

/// Why a hash or its table cannot be built.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RssError {
    /// The key has this many bytes, too few for IPv6 addresses and ports.
    Key(usize),
    /// The indirection table has this many entries: not a power of two.
    Table(usize),
}

impl std::fmt::Display for RssError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Key(n) => write!(f, "RSS key of {n} bytes; allowed: 40 bytes or more"),
            Self::Table(n) => write!(f, "RSS indirection table of {n} entries; allowed: a power of two"),
        }
    }
}

impl std::error::Error for RssError {}

/// What is hashed: a set of the constants below.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fields(u8);

impl Fields {
    /// Addresses of IPv4, where the ports are not hashed.
    pub const IPV4: Fields = Fields(1);
    /// Addresses and ports of TCP, UDP and SCTP over IPv4.
    pub const IPV4_PORTS: Fields = Fields(2);
    /// Addresses of IPv6, where the ports are not hashed.
    pub const IPV6: Fields = Fields(4);
    /// Addresses and ports of TCP, UDP and SCTP over IPv6.
    pub const IPV6_PORTS: Fields = Fields(8);
    /// All of them.
    pub const ALL: Fields = Fields(15);
    /// None: every frame goes where hash 0 leads.
    pub const NONE: Fields = Fields(0);

    /// The set with these bits, as the constants have them; other bits are left out.
    pub const fn from_bits(bits: u32) -> Fields {
        Fields(bits as u8 & Fields::ALL.0)
    }

    /// Whether addresses are hashed, and whether ports are, of the IP version that `parsed` has.
    #[inline(always)]
    fn of(self, parsed: &Parsed) -> (bool, bool) {
        let bits = if parsed.is_ipv6() { self.0 >> 2 } else { self.0 };
        (bits & 1 != 0, bits & 2 != 0)
    }
}

/// The hash is linear: the exclusive or of one entry per input byte.
type Bytes = [[u32; 256]; INPUT];

/// The entries of [`DEFAULT_KEY`]. Ports share them: tables of their own would push each other out of the
/// host's caches.
static DEFAULT: LazyLock<Arc<Bytes>> = LazyLock::new(|| Arc::new(entries(&DEFAULT_KEY)));

/// The entries of a key, which has 40 bytes at least.
fn entries(key: &[u8]) -> Bytes {
    let mut bytes = [[0; 256]; INPUT];
    for (position, entries) in bytes.iter_mut().enumerate() {
        let window = key[position..position + 5].iter().fold(0u64, |w, b| w << 8 | u64::from(*b));
        for (value, entry) in entries.iter_mut().enumerate() {
            // Bit b of the byte (0 = first) selects the 32 key bits that start at it.
            *entry =
                (0..8).filter(|b| value >> (7 - b) & 1 == 1).fold(0, |h, b| h ^ (window >> (8 - b)) as u32);
        }
    }
    bytes
}

/// The hash of an IPv4 flow by carry-less products, which an instruction of x86-64 computes. It looks nothing
/// up: the 12 KiB of entries would compete with other data for the host's caches.
#[derive(Clone, Copy)]
#[cfg_attr(not(target_arch = "x86_64"), expect(dead_code, reason = "no such instruction is used"))]
struct Products {
    /// The 63 bits of the key that each word of the input meets, the first one lowest.
    windows: [u64; 3],
}

impl Products {
    /// Those of `key`, where the processor has the instruction.
    fn new(key: &[u8]) -> Option<Products> {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("pclmulqdq") {
            let window = |at: usize| key[at..at + 8].iter().fold(0, |w, b| w << 8 | u64::from(*b));
            return Some(Products { windows: [0, 4, 8].map(|at| u64::reverse_bits(window(at))) });
        }
        let _ = key;
        None
    }

    /// Bit i of a word (0 is the highest) selects the 32 bits of its window from bit i on. The window's first
    /// bit is its lowest, so in the product these 32 bits stand from bit 31 on, whatever i is.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "pclmulqdq")]
    fn hash(&self, input: &[u8; 12]) -> u32 {
        use core::arch::x86_64::{_mm_clmulepi64_si128, _mm_cvtsi64_si128, _mm_cvtsi128_si64, _mm_xor_si128};
        let [a, b, c] =
            [0, 4, 8].map(|at| u32::from_be_bytes([input[at], input[at + 1], input[at + 2], input[at + 3]]));
        let product = |word: u32, window: u64| {
            _mm_clmulepi64_si128::<0>(_mm_cvtsi64_si128(i64::from(word)), _mm_cvtsi64_si128(window as i64))
        };
        let [x, y, z] = self.windows;
        let sum = _mm_xor_si128(_mm_xor_si128(product(a, x), product(b, y)), product(c, z));
        ((_mm_cvtsi128_si64(sum) as u64 >> 31) as u32).reverse_bits()
    }
}

/// A Toeplitz hash and an indirection table.
///
/// The hash covers the addresses, and the ports of TCP, UDP and SCTP. Of a fragment it covers the addresses
/// alone, so that all fragments of a packet meet. Other frames have hash 0.
#[derive(Clone)]
pub struct Rss {
    products: Option<Products>,
    bytes: Arc<Bytes>,
    table: Box<[u16]>,
    fields: Fields,
}

impl Rss {
    /// A hash with `key` and the indirection table `queues`.
    ///
    /// # Errors
    /// The key is shorter than 40 bytes, or the table's size is not a power of two.
    pub fn new(key: &[u8], queues: &[u16]) -> Result<Self, RssError> {
        if key.len() < INPUT + 4 {
            return Err(RssError::Key(key.len()));
        }
        if !queues.len().is_power_of_two() {
            return Err(RssError::Table(queues.len()));
        }
        let bytes = if key == DEFAULT_KEY { DEFAULT.clone() } else { Arc::new(entries(key)) };
        Ok(Self { products: Products::new(key), bytes, table: queues.into(), fields: Fields::ALL })
    }

    /// The default key and a table that deals its entries round-robin to queues `0..queues`: 128
    /// entries, or more where that spreads them within 2%.
    pub fn spread(queues: u16) -> Self {
        match Self::new(&DEFAULT_KEY, &deal(queues)) {
            Ok(rss) => rss,
            Err(_) => unreachable!("the default key has 40 bytes and the table a power of two of entries"),
        }
    }

    /// The same with `fields` alone hashed.
    pub fn with_fields(self, fields: Fields) -> Self {
        Self { fields, ..self }
    }

    /// The hash of a frame that [`parse`](crate::parse) looked at; 0 where nothing of it is hashed.
    #[inline]
    pub fn hash(&self, parsed: &Parsed, bytes: &[u8]) -> u32 {
        self.hashed(parsed, bytes).unwrap_or(0)
    }

    /// [`hash`](Self::hash), or `None` where nothing of the frame is hashed.
    // Always inlined for the usual frame, so that what the parser found need not lie in memory.
    #[inline(always)]
    pub fn hashed(&self, parsed: &Parsed, bytes: &[u8]) -> Option<u32> {
        let (alone, with_ports) = self.fields.of(parsed);
        if with_ports && let Some(input) = four_tuple(parsed, bytes) {
            return Some(self.flow(input));
        }
        self.hashed_apart(*parsed, bytes, alone, with_ports)
    }

    /// The hash of addresses and ports of IPv4.
    #[inline(always)]
    fn flow(&self, input: &[u8; 12]) -> u32 {
        #[cfg(target_arch = "x86_64")]
        if let Some(products) = &self.products {
            // SAFETY: there are products only where the processor has the instruction.
            return unsafe { products.hash(input) };
        }
        self.toeplitz(input, 0)
    }

    /// [`hashed`](Self::hashed) where addresses and ports do not lie side by side, or are not both hashed.
    #[inline(never)]
    fn hashed_apart(&self, parsed: Parsed, bytes: &[u8], alone: bool, with_ports: bool) -> Option<u32> {
        let addresses = parsed.addresses(bytes)?;
        match parsed.ports(bytes).filter(|_| with_ports) {
            Some(ports) => Some(self.toeplitz(addresses, 0) ^ self.toeplitz(ports, addresses.len())),
            None => alone.then(|| self.toeplitz(addresses, 0)),
        }
    }

    /// The hash of `input` as if `at` bytes of zeros came first; what lies past 36 bytes is left out.
    /// Being linear, the hash of a whole is the exclusive or of its parts'.
    #[inline]
    pub fn toeplitz(&self, input: &[u8], at: usize) -> u32 {
        let entries = self.bytes.get(at..).unwrap_or_default();
        entries.iter().zip(input).fold(0, |hash, (e, b)| hash ^ e[usize::from(*b)])
    }

    /// The queue that a hash selects.
    #[inline]
    pub fn queue(&self, hash: u32) -> u16 {
        self.table[hash as usize & (self.table.len() - 1)]
    }

    /// The indirection table.
    pub fn table(&self) -> &[u16] {
        &self.table
    }
}

/// An indirection table that deals its entries round-robin to queues `0..queues`.
pub(crate) fn deal(queues: u16) -> Vec<u16> {
    let queues = queues.max(1);
    let even = queues.is_power_of_two();
    let entries = usize::from(queues).saturating_mul(if even { 1 } else { 64 }).next_power_of_two().max(128);
    (0..queues).cycle().take(entries).collect()
}

/// Addresses and ports of IPv4 without options: they lie side by side.
#[inline(always)]
fn four_tuple<'a>(parsed: &Parsed, bytes: &'a [u8]) -> Option<&'a [u8; 12]> {
    let plain = parsed.is_ipv4() && parsed.has_ports() && parsed.l4 == parsed.l3 + 20;
    if plain { bytes.get(usize::from(parsed.l3) + 12..)?.first_chunk() } else { None }
}

impl std::fmt::Debug for Rss {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Rss").field("table", &self.table).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_hash_as_the_entries_do() {
        let mut chance = 1u64;
        let mut byte = || {
            chance = chance.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            (chance >> 56) as u8
        };
        for _ in 0..1000 {
            let key: [u8; 40] = std::array::from_fn(|_| byte());
            let input: [u8; 12] = std::array::from_fn(|_| byte());
            let rss = Rss::new(&key, &[0]).unwrap();
            assert_eq!(rss.flow(&input), rss.toeplitz(&input, 0));
        }
    }
}
