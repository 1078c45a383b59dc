//! A descriptor as words of an entry, 16 B or 8 B. The last word's topmost bit is the lane's signal, and is left alone.

/// A descriptor is here.
pub(super) const PRESENT: u64 = 1 << 62;
/// The frame ends with this descriptor.
pub(super) const LAST: u64 = 1 << 61;
/// It tells of the frame behind it.
const AHEAD_OF: u64 = 1 << 60;
/// What is left of a word for its user.
const FREE: u64 = AHEAD_OF - 1;

/// A descriptor, whatever its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Descriptor {
    /// The buffer as a word: 48 bits, or 24 of a dense lane.
    pub(super) raw: u64,
    /// Bytes.
    pub(super) len: u16,
    /// 60 bits, or 16 of a dense lane.
    pub(super) tag: u64,
    /// Whether the frame ends here.
    pub(super) last: bool,
    /// Whether it has no buffer and tells of the frame behind it.
    pub(super) ahead: bool,
}

/// A descriptor as words.
pub(super) trait Coded: Copy + 'static {
    fn code(d: &Descriptor) -> Self;
    fn decode(self) -> Descriptor;
}

const fn flags(d: &Descriptor) -> u64 {
    PRESENT | if d.last { LAST } else { 0 } | if d.ahead { AHEAD_OF } else { 0 }
}

/// `[buffer | length << 48, tag | flags]`.
impl Coded for [u64; 2] {
    #[inline(always)]
    fn code(d: &Descriptor) -> [u64; 2] {
        [d.raw & ((1 << 48) - 1) | u64::from(d.len) << 48, d.tag & FREE | flags(d)]
    }

    #[inline(always)]
    fn decode(self) -> Descriptor {
        let [place, what] = self;
        Descriptor {
            raw: place & ((1 << 48) - 1),
            len: (place >> 48) as u16,
            tag: what & FREE,
            last: what & LAST != 0,
            ahead: what & AHEAD_OF != 0,
        }
    }
}

/// `[buffer | length << 24 | tag << 40 | flags]`.
impl Coded for [u64; 1] {
    #[inline(always)]
    fn code(d: &Descriptor) -> [u64; 1] {
        let tag = d.tag & 0xffff;
        [d.raw & ((1 << 24) - 1) | u64::from(d.len) << 24 | tag << 40 | flags(d)]
    }

    #[inline(always)]
    fn decode(self) -> Descriptor {
        let [word] = self;
        Descriptor {
            raw: word & ((1 << 24) - 1),
            len: (word >> 24) as u16,
            tag: word >> 40 & 0xffff,
            last: word & LAST != 0,
            ahead: word & AHEAD_OF != 0,
        }
    }
}

/// Descriptor number `k` of a line, if there is one.
#[inline(always)]
pub(super) fn nth<const W: usize, const D: usize>(line: &[u64; W], k: usize) -> Option<Descriptor>
where
    [u64; D]: Coded,
{
    let coded: &[u64; D] = line[k * D..].first_chunk()?;
    (coded[D - 1] & PRESENT != 0).then(|| coded.decode())
}
