//! What this memory makes an address of lies inside what was handed out, whatever the value: an entry's index, a buffer's
//! number, an offset, a length. So it does not matter whether another process has chosen it.
//!
//! An address depends on an index only by `index & mask`, and on a buffer's number only if that is below their count. The
//! tests take all those, and beyond them what lies next to a border.

use core::ops::Range;

use super::payload::{Buffers, Payload, Place};
use super::region::{Backing, Region};
use super::view::Words;
use crate::{Class, Field, Geometry, Side, Space, WORD};

/// Values next to each power of two, or to some of them.
fn borders() -> impl Iterator<Item = u64> + Clone {
    let step = if cfg!(miri) { 12 } else { 1 };
    (0..64).step_by(step).flat_map(|k| [(1 << k) - 1, 1 << k, (1 << k) + 1]).chain([
        0,
        u64::MAX - 1,
        u64::MAX,
    ])
}

/// The same for a size and those beside it.
fn beside(size: u32) -> impl Iterator<Item = u32> + Clone {
    let near = [size.wrapping_sub(1), size, size.wrapping_add(1)];
    borders().filter_map(|value| u32::try_from(value).ok()).chain(near)
}

fn bytes_of<T>(slice: &[T]) -> Range<usize> {
    let range = slice.as_ptr_range();
    range.start.addr()..range.end.addr()
}

fn entries<const W: usize>(len: u32) {
    let region = Region::new(1 << 17, Backing::Heap).unwrap();
    let field = Field {
        name: "words",
        len,
        width: W as u32,
        class: Class::Signal,
        writer: Side::Both,
        reader: Side::Both,
        home: Side::Host,
    };
    let words: Words<'_, W> = (&region).words(&field, 0).unwrap();
    let all = words.as_ptr(0).addr()..words.as_ptr(0).addr() + len as usize * W * WORD;
    let below = 0..u64::from(len);
    let beyond = borders().map(|border| border & !u64::from(len - 1)).chain([0]);
    for i in below.flat_map(|low| beyond.clone().map(move |high| high | low)).chain(borders()) {
        let place = bytes_of(words.entry(i));
        assert!(all.start <= place.start && place.end <= all.end, "entry {i} of {len}");
        assert_eq!(place.start, all.start + (i % u64::from(len)) as usize * W * WORD);
        assert_eq!(words.as_ptr(i).addr(), place.start);
    }
}

#[test]
fn entries_of_any_index_lie_in_their_field() {
    for shift in 0..if cfg!(miri) { 3 } else { 11 } {
        entries::<1>(1 << shift);
        entries::<2>(1 << shift);
        entries::<4>(1 << shift);
        entries::<8>(1 << shift);
    }
}

fn geometries() -> [Geometry; 5] {
    let link = Geometry::new(96, 320, 0, 256);
    [
        Geometry::new(1, 64, 0, 64),
        Geometry::new(7, 72, 8, 61),
        Geometry::dpdk(5),
        Geometry::plain(3, 2048),
        link,
    ]
}

#[test]
fn any_number_is_a_buffers_own_bytes_or_none() {
    for g in geometries() {
        let region = Region::new(1 << 16, Backing::Heap).unwrap();
        let b: Buffers<'_> = (&region).buffers(&g).unwrap();
        let base = b.base().addr().get();
        for raw in (0..u64::from(g.count) + 2).chain(borders()) {
            let words = b.words(crate::Buf(raw));
            if raw >= g.count.into() {
                assert!(words.is_empty(), "buffer {raw} of {}", g.count);
                continue;
            }
            let start = base + raw as usize * g.stride as usize;
            assert_eq!(bytes_of(words), start..start + g.stride as usize, "buffer {raw}");
        }
    }
}

#[test]
fn any_bytes_of_a_frame_lie_in_its_buffer_or_are_refused() {
    for g in geometries() {
        let region = Region::new(1 << 16, Backing::Heap).unwrap();
        let b: Buffers<'_> = (&region).buffers(&g).unwrap();
        let base = b.base().addr().get();
        let numbers = [0, u64::from(g.count) - 1, u64::from(g.count), u64::MAX];
        for (raw, off) in numbers.into_iter().flat_map(|raw| beside(g.room).map(move |off| (raw, off))) {
            for len in beside(g.room) {
                let place = b.place(crate::Buf(raw), off, len as usize);
                let fits = u64::from(off) + u64::from(len) <= u64::from(g.room);
                assert_eq!(place.is_some(), raw < g.count.into() && fits, "{len} B at {off} of {raw}");
                let Some((words, at)) = place.map(Place::parts) else { continue };
                let (start, all) = (base + raw as usize * g.stride as usize, bytes_of(words));
                assert!(
                    all.start >= start && all.end <= start + g.stride as usize,
                    "{len} B at {off} of {raw}"
                );
                assert_eq!(all.start + at, start + (g.offset + off) as usize);
                assert!(all.start + at + len as usize <= all.end);
            }
        }
    }
}

#[test]
fn any_offset_and_length_lie_in_the_room() {
    for g in geometries() {
        let region = Region::new(1 << 16, Backing::Heap).unwrap();
        let b: Buffers<'_> = (&region).buffers(&g).unwrap();
        let last = crate::Buf(u64::from(g.count) - 1);
        for off in beside(g.room) {
            for len in beside(g.room) {
                let (at, n) = b.span(off, len);
                assert!(
                    at >= g.offset as usize && at + n <= (g.offset + g.room) as usize,
                    "{len} B at {off}"
                );
                assert_eq!(b.check(last.0, len).is_ok(), len <= g.room);
            }
            // Whole calls, under Miri too: as many bytes as the room has, from anywhere.
            let mut bytes = vec![1; g.room as usize];
            b.put(last, off, &bytes, g.room);
            b.get(last, off, &mut bytes, g.room);
            b.prefetch(last, off);
        }
        for raw in borders().filter(|raw| *raw >= g.count.into()) {
            assert!(b.check(raw, 0).is_err());
            b.put(crate::Buf(raw), 0, &[1], g.room);
            b.get(crate::Buf(raw), 0, &mut [0], 1);
            b.prefetch(crate::Buf(raw), 0);
            b.put_ahead(crate::Buf(raw));
        }
    }
}
