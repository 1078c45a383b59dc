//! A word from the other side becomes a buffer by `admit` alone: held to the rule by every value at a border, in each place
//! where a word comes in. (Which borders: next to each power of two, and next to each size.)

use crate::common::counter;
use crate::common::noting::Noting;
use memory::{Backing, Buf, Geometry, Memory, Region, Space};
use rings::Segment;
use rings::ccnic::{Back, Homing, Layout, Signal, Sizes, connect};
use rings::pool::sides;

/// Buffers of a connection, of two; and bytes of a buffer.
const COUNT: u32 = 6;
const ROOM: u32 = 128;

/// The four topmost bits: written, a descriptor, the last of its frame, one of the frame behind it.
const FLAGS: &[u64] =
    if cfg!(miri) { &[4, 12, 14] } else { &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15] };

/// Values of so many bits next to a border.
fn borders(bits: u32, sizes: &[u64]) -> Vec<u64> {
    let step = if cfg!(miri) { 12 } else { 1 };
    let powers = (0..bits).step_by(step).map(|k| 1 << k);
    let near = |at: u64| [at.wrapping_sub(1), at, at.wrapping_add(1)];
    let most = u64::MAX >> (64 - bits);
    let mut all: Vec<_> = powers.chain(sizes.iter().copied()).chain([0]).flat_map(near).collect();
    all.retain(|value| *value <= most);
    all.push(most);
    all.sort_unstable();
    all.dedup();
    all
}

/// Which buffers of connection 0 are away from the host at first: every other one.
fn away(raw: u64) -> bool {
    raw < COUNT.into() && raw % 2 == 1
}

#[test]
fn a_buffer_is_admitted_if_it_is_away_and_has_room() {
    let region = Region::new(1 << 14, Backing::Heap).unwrap();
    let mut space = &region;
    let b = space.buffers(&Geometry::plain(2 * COUNT, ROOM)).unwrap();
    let (mut seen, mut admitted) = (0_u64, 0_u64);
    let sizes = sides::Sizes::new(COUNT, 0);
    let mut host = sides::build(&mut space, &sizes, 1, b).unwrap().remove(0).0;
    let m = region.view();
    for raw in borders(64, &[COUNT.into(), (2 * COUNT).into()]) {
        for len in borders(32, &[ROOM.into()]) {
            let got = host.admit(&m, raw, len as u32);
            assert_eq!(got.is_ok(), away(raw) && len <= ROOM.into(), "buffer {raw}, {len} B");
            (seen, admitted) = (seen + 1, admitted + u64::from(got.is_ok()));
            if let Ok(buf) = got {
                // It cannot come twice; then it goes back.
                assert_eq!(buf, Buf(raw));
                assert!(host.admit(&m, raw, 0).is_err());
                assert!(host.pass(buf));
            }
        }
    }
    assert!(admitted > 0 && counter(&host.counters(), "pool_lies") == seen);
}

/// A whole line that the other side may write: each descriptor of every value at a border, in every layout and both ways of
/// giving entries back. What comes out lies in a buffer that was away, and comes once.
#[test]
fn a_line_of_any_words_gives_what_was_away_or_nothing() {
    let mut numbers = borders(48, &[COUNT.into(), (2 * COUNT).into()]);
    let mut lens = borders(16, &[ROOM.into()]);
    if cfg!(miri) {
        numbers.retain(|raw| [1, u64::from(COUNT), (1 << 48) - 1].contains(raw));
        lens.retain(|len| [0, 1, 128, 129, 65535].contains(len));
    }
    let layouts = [(Layout::Dense, 1, 8), (Layout::Group, 2, 8), (Layout::Pad, 2, 2), (Layout::Pack, 2, 2)];
    let mut came = 0;
    for (layout, words, line) in layouts {
        for back in [Back::Credit, Back::Clear] {
            let sizes = Sizes { ring: 16, layout, back, signal: Signal::Inline, homing: Homing::Writer };
            for (n, raw) in numbers.iter().enumerate() {
                // All lengths by one and the same offset, and the other way round.
                let pairs =
                    lens.iter().flat_map(|a| [(*a, lens[n % lens.len()]), (lens[n % lens.len()], *a)]);
                for (len, off) in pairs {
                    for flags in FLAGS.iter().copied() {
                        let entry = match words {
                            1 => vec![raw & 0xff_ffff | len << 24 | off << 40 | flags << 60; line],
                            _ => [raw | len << 48, off | flags << 60].repeat(line / 2),
                        };
                        came += received(&sizes, &entry, words);
                    }
                }
            }
        }
    }
    assert!(came > 0);
}

/// What the host receives of such an entry, which is held to what may be.
fn received(sizes: &Sizes, entry: &[u64], words: usize) -> u64 {
    let region = Region::new(1 << 13, Backing::Heap).unwrap();
    let mut space = Noting::new(&region);
    let b = space.buffers(&Geometry::plain(2 * COUNT, ROOM)).unwrap();
    let pool = sides::Sizes::new(COUNT, 0);
    let (mut host, _) = connect(&mut space, sizes, &pool, 1, b).unwrap().remove(0);
    let mut m = region.view();
    let (_, _, poke) = space.pokes.iter().find(|(name, _, _)| *name == "ccnic.up").unwrap();
    (0..).zip(entry).for_each(|(word, value)| poke(&mut m, word, *value));
    let mut out = [Segment { buf: Buf(u64::MAX), off: 0, len: 0, last: false }; 16];
    let n = host.rx_burst(&mut m, &mut out);
    assert!(n <= 1, "one buffer, {} times: {entry:x?}", entry.len() / words);
    for s in &out[..n] {
        assert!(away(s.buf.0) && u32::from(s.off) + u32::from(s.len) <= ROOM, "{s:?} of {entry:x?}");
        m.get(b, s.buf, s.off.into(), &mut vec![0; s.len.into()], s.len.into());
    }
    assert_eq!(host.end().held(), n as u64);
    n as u64
}
