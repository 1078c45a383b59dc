//! Where modelled words, buffers and tables lie.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Buf, Class, Field, Geometry, LayoutError, Side, Space};

use crate::profile::NicKind;
use crate::view::View;

/// Words lie below this line, buffers from it on.
pub(crate) const BUFFERS: u32 = 1 << 18;
/// Buffers lie below this line, tables from it on.
pub(crate) const TABLES: u32 = 1 << 26;
/// Tables lie below this line: tags have 30 bits.
const END: u32 = 1 << 29;
/// Lines of a 2 MB page.
const PAGE: u32 = 1 << 15;
/// Bytes of a frame that are stored.
pub(crate) const KEPT: usize = 128;

/// A bound field.
#[derive(Clone, Copy, Debug)]
pub struct Words<const W: usize> {
    pub(crate) base: u32,
    pub(crate) signal: u32,
    pub(crate) mask: u32,
    pub(crate) class: Class,
    pub(crate) writer: Side,
    /// What plays the NIC of this field.
    pub(crate) nic: NicKind,
}

/// A bound application table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub(crate) first: u32,
    pub(crate) bytes: u64,
}

impl Table {
    /// The line of byte `off`; a table is round.
    #[inline(always)]
    pub(crate) fn line(self, off: u64) -> u32 {
        // A division takes long, and few look-ups are past the end.
        let inside = if off < self.bytes { off } else { off % self.bytes.max(1) };
        self.first + (inside / 64) as u32
    }
}

/// Bound packet buffers.
#[derive(Clone, Copy, Debug)]
pub struct PoolId {
    pub(crate) index: u32,
    pub(crate) count: u32,
    pub(crate) room: u32,
    /// The first buffer's first line, and bytes: from there to a frame's first byte, from one buffer to the next.
    first: u32,
    offset: u32,
    stride: u32,
}

impl PoolId {
    /// First line of a frame and the number of lines that `len` bytes at `off` touch.
    #[inline(always)]
    pub(crate) fn lines(self, buf: Buf, off: u32, len: u32) -> (u32, u32) {
        let start = buf.0 as u32 * self.stride + self.offset + off;
        let first = start / 64;
        let last = (start + len.max(1) - 1) / 64;
        (self.first + first, last - first + 1)
    }

    /// Line `line` of a buffer.
    #[inline(always)]
    pub(crate) fn line(self, buf: Buf, line: u32) -> u32 {
        self.first + buf.0 as u32 * (self.stride / 64) + line
    }
}

/// Asks the host for a line that is about to be used.
#[inline(always)]
pub(crate) fn expect(line: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a prefetch of any address has no effect that a program can see.
    unsafe {
        use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(line.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = line;
}

/// What is kept of a frame, but for bytes behind a usual header. One line of the host, and frames lie side by side:
/// it remembers the places of few pages.
#[repr(C, align(64))]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kept {
    /// Arrival, ps.
    pub stamp: u64,
    /// The count of DMA-written frames at that time.
    pub puts: u32,
    /// Bytes that were written; zeros from there on.
    known: u32,
    head: [u8; NEAR],
}

/// Bytes of a frame that lie with what else is kept of it, and behind them.
const NEAR: usize = 48;
const FAR: usize = KEPT - NEAR;

impl Kept {
    /// Asks the host for a frame that an agent is about to read.
    #[inline(always)]
    pub(crate) fn expect(&self) {
        expect(std::ptr::from_ref(self).cast());
    }

    const EMPTY: Kept = Kept { stamp: 0, puts: 0, known: 0, head: [0; NEAR] };
}

/// A frame's number among those that arrived at its port, and the name of its flow if it has one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Origin {
    pub number: u64,
    pub flow: Option<u64>,
}

/// A stretch of buffers.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    /// What is kept of each frame.
    pub frames: Vec<Kept>,
    /// The bytes of each that lie behind those.
    far: Vec<[u8; FAR]>,
    /// Where each frame comes from; empty where nobody asks.
    pub origins: Vec<Origin>,
}

impl Pool {
    fn new(frames: usize) -> Pool {
        Pool { frames: vec![Kept::EMPTY; frames], far: vec![[0; FAR]; frames], origins: Vec::new() }
    }

    /// A new frame, or a part of the one that is here.
    #[inline(always)]
    pub(crate) fn put(&mut self, frame: usize, off: u32, bytes: &[u8], len: u32) {
        let kept = &mut self.frames[frame];
        let known = kept.known as usize;
        let new = off == 0 && len as usize >= known;
        let start = (off as usize).min(KEPT);
        let bytes = &bytes[..bytes.len().min(KEPT - start)];
        let end = start + bytes.len();
        let zeros = if new { known } else { known.min(start + (len as usize).min(KEPT - start)) };
        kept.known = if new { end } else { known.max(end) } as u32;
        if end <= NEAR && zeros <= NEAR {
            kept.head[start..end].copy_from_slice(bytes);
            if zeros > end {
                kept.head[end..zeros].fill(0);
            }
        } else {
            self.put_far(frame, start, bytes, zeros);
        }
    }

    /// The same where bytes lie behind a usual header, as those of captures do.
    #[inline(never)]
    fn put_far(&mut self, frame: usize, start: usize, bytes: &[u8], zeros: usize) {
        let mut whole = self.whole(frame);
        let end = start + bytes.len();
        whole[start..end].copy_from_slice(bytes);
        if zeros > end {
            whole[end..zeros].fill(0);
        }
        self.frames[frame].head.copy_from_slice(&whole[..NEAR]);
        self.far[frame].copy_from_slice(&whole[NEAR..]);
    }

    /// Copies bytes of a frame from `off` on.
    #[inline(always)]
    pub(crate) fn get(&self, frame: usize, off: u32, out: &mut [u8]) {
        let kept = &self.frames[frame];
        let known = kept.known as usize;
        // With lengths that are known when this is compiled: every application reads that.
        if known <= NEAR
            && let (0, Ok(out)) = (off, <&mut [u8; KEPT]>::try_from(&mut *out))
        {
            let (near, far) = out.split_at_mut(NEAR);
            near.copy_from_slice(&kept.head);
            return far.fill(0);
        }
        self.get_part(frame, off, out);
    }

    #[inline(never)]
    fn get_part(&self, frame: usize, off: u32, out: &mut [u8]) {
        let (whole, known) = (self.whole(frame), self.frames[frame].known as usize);
        let here = whole[..known].get(off as usize..).unwrap_or_default();
        let kept = here.len().min(out.len());
        out[..kept].copy_from_slice(&here[..kept]);
        out[kept..].fill(0);
    }

    /// All that is kept of a frame's bytes.
    fn whole(&self, frame: usize) -> [u8; KEPT] {
        let mut whole = [0; KEPT];
        whole[..NEAR].copy_from_slice(&self.frames[frame].head);
        whole[NEAR..].copy_from_slice(&self.far[frame]);
        whole
    }
}

/// What has been allocated.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub(crate) words: u32,
    pub(crate) signals: u32,
    pub(crate) pools: Vec<Pool>,
    buffer_end: u32,
    table_end: u32,
}

/// Ends of the address ranges, in lines.
pub(crate) struct Lines {
    pub all: u32,
    pub shared: u32,
}

impl Layout {
    pub(crate) fn lines(&self) -> Lines {
        Lines { all: self.table_end.max(TABLES), shared: self.buffer_end.max(BUFFERS) }
    }

    /// From now on it is kept where each frame comes from.
    pub(crate) fn keep_origins(&mut self) {
        for pool in &mut self.pools {
            pool.origins = vec![Origin::default(); pool.frames.len()];
        }
    }
}

/// The set-up side of a modelled server; clones share one layout. A card serves the fields unless told
/// otherwise.
#[derive(Clone, Default)]
pub struct ModelSpace {
    layout: Rc<RefCell<Layout>>,
    nic: NicKind,
}

impl ModelSpace {
    /// Nothing allocated.
    pub fn new() -> ModelSpace {
        ModelSpace::default()
    }

    /// The same space; the NIC of the fields allocated through it is of another kind.
    #[must_use]
    pub fn served_by(&self, nic: NicKind) -> ModelSpace {
        ModelSpace { layout: self.layout.clone(), nic }
    }

    /// What was allocated.
    pub fn finish(self) -> Layout {
        self.layout.borrow().clone()
    }
}

impl Space for ModelSpace {
    type Mem = View;

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<Words<W>, LayoutError> {
        field.check::<W>()?;
        let mut l = self.layout.borrow_mut();
        let (base, signal) = (l.words, l.signals);
        let words = (field.bytes() / 8) as u32;
        if u64::from(base) + u64::from(words) > u64::from(BUFFERS) * 8 {
            let what = "the model holds 16 MiB of ring words; use fewer queues or smaller rings".to_owned();
            return Err(LayoutError { field: field.name, what });
        }
        l.words += words;
        l.signals += field.len;
        Ok(Words {
            base,
            signal,
            mask: field.len - 1,
            class: field.class,
            writer: field.writer,
            nic: self.nic,
        })
    }

    fn buffers(&mut self, g: &Geometry) -> Result<PoolId, LayoutError> {
        g.check()?;
        let mut l = self.layout.borrow_mut();
        let first = l.buffer_end.max(BUFFERS).next_multiple_of(PAGE);
        let lines = u64::from(g.count) * u64::from(g.stride) / 64 + 1;
        if u64::from(first) + lines > u64::from(TABLES) || u64::from(g.count) * u64::from(g.stride) > 1 << 31
        {
            let what = format!("{} buffers of {} B exceed the model's 2 GiB", g.count, g.stride);
            return Err(LayoutError { field: "buffers", what });
        }
        l.buffer_end = first + lines as u32;
        let n = g.count as usize;
        let index = l.pools.len() as u32;
        l.pools.push(Pool::new(n));
        Ok(PoolId { index, count: g.count, room: g.room, first, offset: g.offset, stride: g.stride })
    }

    fn table(&mut self, name: &'static str, bytes: u64) -> Result<Table, LayoutError> {
        let mut l = self.layout.borrow_mut();
        let first = l.table_end.max(TABLES).next_multiple_of(PAGE);
        let lines = bytes.div_ceil(64);
        if u64::from(first) + lines > u64::from(END) {
            return Err(LayoutError { field: name, what: "exceeds the model's 28 GiB of tables".to_owned() });
        }
        l.table_end = first + lines as u32;
        Ok(Table { first, bytes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(pool: &Pool) -> [u8; KEPT] {
        let mut out = [9; KEPT];
        pool.get(1, 0, &mut out);
        out
    }

    #[test]
    fn a_frame_reads_back_with_zeros_where_nothing_was_captured() {
        let mut k = Pool::new(2);
        k.put(1, 0, &[1; 100], 1500);
        k.put(1, 0, &[2; 42], 1500);
        let mut expected = [0; KEPT];
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
