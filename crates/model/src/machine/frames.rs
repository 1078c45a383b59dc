//! What is kept of the frames in buffers: their first bytes, when they came, where they come from.

use super::host::expect;

/// Bytes of a frame that are stored.
pub(crate) const STORED: usize = 128;

/// What is kept of a frame, without the bytes behind a usual header. It fills one line of the host. Frames lie side by
/// side in few pages, as the host remembers where few pages are.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Arrival, ps.
    pub stamp: u64,
    /// The count of DMA-written frames at that time.
    pub puts: u32,
    /// Bytes that were written; zeros from there on.
    known: u32,
    head: [u8; HEAD],
}

/// Bytes of a frame that lie with what else is kept of it, and behind them.
const HEAD: usize = 48;
const TAIL: usize = STORED - HEAD;
/// Bytes of the headers of Ethernet, IPv4 and UDP.
const HEADERS: usize = 42;

impl Kept {
    /// Asks the host for a frame that an agent is about to read.
    #[inline(always)]
    pub(crate) fn expect(&self) {
        expect(std::ptr::from_ref(self).cast());
    }

    const EMPTY: Kept = Kept { stamp: 0, puts: 0, known: 0, head: [0; HEAD] };
}

/// A frame's number among those that arrived at its port, and the name of its flow if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub number: u64,
    pub flow: Option<u64>,
}

/// The frames in a stretch of buffers.
#[derive(Clone, Debug)]
pub(crate) struct Frames {
    /// What is kept of each.
    pub kept: Vec<Kept>,
    /// The bytes of each that lie behind its head.
    tails: Vec<[u8; TAIL]>,
    /// Where each frame comes from; empty where nobody asks.
    pub origins: Vec<Origin>,
}

impl Frames {
    /// Nothing in so many buffers.
    pub(crate) fn new(frames: usize) -> Frames {
        Frames { kept: vec![Kept::EMPTY; frames], tails: vec![[0; TAIL]; frames], origins: Vec::new() }
    }

    /// From now on it is kept where each frame comes from.
    pub(crate) fn keep_origins(&mut self) {
        self.origins = vec![Origin::default(); self.kept.len()];
    }

    /// A new frame, or a part of the one that is here.
    #[inline(always)]
    pub(crate) fn put(&mut self, frame: usize, off: u32, bytes: &[u8], len: u32) {
        let kept = &mut self.kept[frame];
        let known = kept.known as usize;
        // With a length that is known when this is compiled: every generated frame has it.
        if let (0, Ok(bytes)) = (off, <&[u8; HEADERS]>::try_from(bytes))
            && known <= HEADERS
            && len as usize >= HEADERS
        {
            kept.head[..HEADERS].copy_from_slice(bytes);
            kept.known = HEADERS as u32;
            return;
        }
        let new = off == 0 && len as usize >= known;
        let start = (off as usize).min(STORED);
        let bytes = &bytes[..bytes.len().min(STORED - start)];
        let end = start + bytes.len();
        let zeros = if new { known } else { known.min(start + (len as usize).min(STORED - start)) };
        kept.known = if new { end } else { known.max(end) } as u32;
        if end <= HEAD && zeros <= HEAD {
            kept.head[start..end].copy_from_slice(bytes);
            if zeros > end {
                kept.head[end..zeros].fill(0);
            }
        } else {
            self.put_long(frame, start, bytes, zeros);
        }
    }

    /// The same where bytes lie behind a usual header, as those of captures do.
    #[inline(never)]
    fn put_long(&mut self, frame: usize, start: usize, bytes: &[u8], zeros: usize) {
        let mut whole = self.whole(frame);
        let end = start + bytes.len();
        whole[start..end].copy_from_slice(bytes);
        if zeros > end {
            whole[end..zeros].fill(0);
        }
        self.kept[frame].head.copy_from_slice(&whole[..HEAD]);
        self.tails[frame].copy_from_slice(&whole[HEAD..]);
    }

    /// Copies bytes of a frame from `off` on.
    #[inline(always)]
    pub(crate) fn get(&self, frame: usize, off: u32, out: &mut [u8]) {
        let kept = &self.kept[frame];
        let known = kept.known as usize;
        // With lengths that are known when this is compiled: every application reads that.
        if known <= HEAD
            && let (0, Ok(out)) = (off, <&mut [u8; STORED]>::try_from(&mut *out))
        {
            let (head, tail) = out.split_at_mut(HEAD);
            head.copy_from_slice(&kept.head);
            return tail.fill(0);
        }
        self.get_part(frame, off, out);
    }

    #[inline(never)]
    fn get_part(&self, frame: usize, off: u32, out: &mut [u8]) {
        let (whole, known) = (self.whole(frame), self.kept[frame].known as usize);
        let here = whole[..known].get(off as usize..).unwrap_or_default();
        let kept = here.len().min(out.len());
        out[..kept].copy_from_slice(&here[..kept]);
        out[kept..].fill(0);
    }

    /// All that is kept of a frame's bytes.
    fn whole(&self, frame: usize) -> [u8; STORED] {
        let mut whole = [0; STORED];
        whole[..HEAD].copy_from_slice(&self.kept[frame].head);
        whole[HEAD..].copy_from_slice(&self.tails[frame]);
        whole
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pool: &Frames) -> [u8; STORED] {
        let mut out = [9; STORED];
        pool.get(1, 0, &mut out);
        out
    }

    #[test]
    fn a_frame_reads_back_with_zeros_where_nothing_was_captured() {
        let mut k = Frames::new(2);
        for (first, second) in [(30, 42), (42, 42), (42, 41)] {
            k.put(1, 0, &[7; 42][..first], 60);
            k.put(1, 0, &[8; 42][..second], 60);
            assert_eq!(
                read(&k)[..44],
                [&[8; 42][..second], &[0; 3]].concat()[..44],
                "{first} B, then {second}"
            );
        }
        k.put(1, 0, &[1; 100], 1500);
        k.put(1, 0, &[2; 42], 1500);
        let mut expected = [0; STORED];
        expected[..42].fill(2);
        assert_eq!(read(&k), expected, "nothing of the frame before it");
        k.put(1, 30, &[3; 4], 4);
        expected[30..34].fill(3);
        assert_eq!(read(&k), expected, "a rewritten field");
        k.put(1, 60, &[4; 2], 2);
        expected[60..62].fill(4);
        assert_eq!(read(&k), expected, "a part behind what was known");
        k.put(1, 0, &[5; 2], 10);
        expected[..2].fill(5);
        expected[2..10].fill(0);
        assert_eq!(read(&k), expected, "a short part with its own zeros");
        let mut tail = [9; 8];
        k.get(1, 120, &mut tail);
        assert_eq!(tail, [0; 8]);
        k.get(1, 4000, &mut tail);
        assert_eq!(tail, [0; 8]);
    }
}
