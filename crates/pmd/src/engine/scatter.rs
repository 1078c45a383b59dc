//! Frames that lie in several buffers, as a card scatters them whose descriptors are too small.
//!
//! A frame that fits a buffer is stored as everywhere. Of a longer one each piece is a frame to the rings, which keep the
//! order of a queue: so every interface that does can have it, without knowing. The first piece has what was found of the
//! frame, the others say that they follow.

use nic::{Class, FOLLOWS, Incoming, MORE};
use rings::{Frame, Rest};

use super::burst::Burst;
use super::rings::Rings;
use crate::counters::Counters;

/// Stores a burst, each queue's frames in order, those longer than `room` in several buffers; how many were delivered.
pub(super) fn deliver(
    rings: &mut Rings,
    counters: &Counters,
    passed: &[(Class, Incoming<'_>)],
    room: usize,
) -> usize {
    let (mut stored, mut burst) = (0, Burst::new());
    for (class, f) in passed {
        if f.len as usize <= room {
            burst.push(class.queue, class.frame(f));
            continue;
        }
        // Before it: one of them may be for its queue.
        stored += rings.deliver(counters, &burst);
        burst = Burst::new();
        stored += usize::from(deliver_long(rings, counters, class, f, room));
    }
    stored + rings.deliver(counters, &burst)
}

/// Stores a frame longer than `room`; whether it was delivered.
fn deliver_long(
    rings: &mut Rings,
    counters: &Counters,
    class: &Class,
    f: &Incoming<'_>,
    room: usize,
) -> bool {
    let len = f.len as usize;
    let sources: Vec<&[u8]> = core::iter::once(f.head).chain(f.more().iter().copied()).collect();
    let cuts: Vec<Vec<&[u8]>> = (0..len).step_by(room).map(|from| cut(&sources, from, room)).collect();
    let last = cuts.len() - 1;
    let pieces = cuts.iter().enumerate().map(|(i, bytes)| {
        // Of a frame no longer than `Checks::max_frame`, and shorter than that.
        let piece = room.min(len - i * room) as u16;
        let more = if i < last { MORE } else { 0 };
        let (rss, kind, mark) = match i {
            0 => (class.rss, class.kind | more, class.mark),
            _ => (0, FOLLOWS | more, 0),
        };
        let (head, rest) = bytes.split_first().map_or((&[][..], &[][..]), |(head, rest)| (*head, rest));
        let rest = if rest.is_empty() { Rest::Nothing } else { Rest::Pieces(rest) };
        let mut frame = Frame::new(head, piece, rss, kind).with_rest(rest);
        frame.flow = class.flow;
        frame.marked(mark)
    });
    rings.store_pieces(counters, class.queue, f.len, pieces)
}

/// The bytes from `from` on, `most` of them or as many as there are, of what `sources` have one behind the other.
fn cut<'a>(sources: &[&'a [u8]], mut from: usize, mut most: usize) -> Vec<&'a [u8]> {
    let mut cut = Vec::new();
    for source in sources {
        let part = source.get(from..).unwrap_or_default();
        let part = &part[..part.len().min(most)];
        if !part.is_empty() {
            cut.push(part);
        }
        most -= part.len();
        from = from.saturating_sub(source.len());
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cut_has_the_bytes_from_its_place_on_whatever_the_sources_are() {
        let bytes: Vec<u8> = (0..100).collect();
        for borders in [[0, 0], [1, 1], [10, 60], [40, 40], [33, 99]] {
            let sources = [&bytes[..borders[0]], &bytes[borders[0]..borders[1]], &bytes[borders[1]..]];
            for (from, most) in [(0, 10), (0, 100), (9, 2), (39, 50), (90, 20), (100, 5)] {
                let want = &bytes[from..(from + most).min(100)];
                assert_eq!(cut(&sources, from, most).concat(), want, "{borders:?} {from} {most}");
            }
        }
    }
}
