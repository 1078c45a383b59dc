//! privring as one would write it for one memory alone: raw pointers, masks, no trait.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use memory::Buf;
use rings::{Completion, Frame};

use super::Spares;

const CHUNK: usize = 64;

/// The shared words, each array on lines of its own as far as the allocator grants it.
pub(crate) struct Ring {
    completion: Vec<[AtomicU64; 4]>,
    descriptor: Vec<AtomicU64>,
    doorbell: AtomicU64,
}

impl Ring {
    pub(crate) fn new(len: u32) -> Ring {
        let completion = (0..len).map(|_| [const { AtomicU64::new(0) }; 4]).collect();
        let descriptor = (0..len).map(|_| AtomicU64::new(0)).collect();
        Ring { completion, descriptor, doorbell: AtomicU64::new(0) }
    }

    pub(crate) fn halves(&self, buffers: u32, room: u32) -> (HostHalf<'_>, NicHalf<'_>) {
        let (len, shift) = (self.descriptor.len() as u64, self.descriptor.len().trailing_zeros());
        let host = HostHalf {
            completion: self.completion.as_ptr().cast(),
            descriptor: self.descriptor.as_ptr(),
            doorbell: &self.doorbell,
            mask: len - 1,
            shift,
            buffers,
            room,
            head: 0,
            tail: 0,
            faults: 0,
            debts: 0,
            spare: [Buf(0); CHUNK],
        };
        (host, NicHalf { ring: self, shift, head: 0 })
    }
}

pub(crate) struct HostHalf<'r> {
    completion: *const AtomicU64,
    descriptor: *const AtomicU64,
    doorbell: &'r AtomicU64,
    mask: u64,
    shift: u32,
    buffers: u32,
    room: u32,
    head: u64,
    tail: u64,
    faults: u64,
    debts: u64,
    spare: [Buf; CHUNK],
}

impl HostHalf<'_> {
    #[inline(always)]
    pub(crate) fn rx_burst(&mut self, spares: &mut Spares, out: &mut [Completion]) -> usize {
        let (completion, mask, shift) = (self.completion, self.mask, self.shift);
        let (buffers, room) = (u64::from(self.buffers), self.room);
        let mut head = self.head;
        let mut taken = 0;
        while taken < out.len() {
            // SAFETY: the masked index is inside the ring, which outlives the half.
            let word = |k| unsafe { &*completion.add((head & mask) as usize * 4 + k) };
            let signal = word(3).load(Acquire); // partner: `NicHalf::deliver`'s release
            if (signal ^ !(head >> shift)) & 1 != 0 {
                break;
            }
            let [raw, meta, size] = [0, 1, 2].map(|k| word(k).load(Relaxed));
            head = head.wrapping_add(1);
            let len = size as u16;
            if raw < buffers && u32::from(len) <= room {
                let (rss, kind) = (meta as u32, (meta >> 32) as u32);
                let (between, mark) = ((size >> 16) as u16, (size >> 32) as u32);
                out[taken] = Completion { buf: Buf(raw), len, between, mark, rss, kind };
                taken += 1;
            } else {
                self.faults += 1;
            }
        }
        self.head = head;
        self.fill(spares);
        taken
    }

    #[inline(always)]
    pub(crate) fn fill(&mut self, spares: &mut Spares) {
        let mut owed = self.head.wrapping_add(1 << self.shift).wrapping_sub(self.tail);
        if owed == 0 {
            return;
        }
        let (descriptor, mask, mut tail) = (self.descriptor, self.mask, self.tail);
        while owed > 0 {
            let want = owed.min(CHUNK as u64) as usize;
            let got = spares.get(&mut self.spare[..want]).min(want);
            for buf in self.spare.iter().take(got) {
                // SAFETY: the masked index is inside the ring, which outlives the half.
                unsafe { (*descriptor.add((tail & mask) as usize)).store(buf.0, Relaxed) };
                tail = tail.wrapping_add(1);
            }
            owed -= got as u64;
            if got < want {
                self.debts += 1;
                break;
            }
        }
        if tail != self.tail {
            self.tail = tail;
            self.doorbell.store(tail, Release); // partner: `NicHalf::deliver`'s acquire
        }
    }
}

pub(crate) struct NicHalf<'r> {
    ring: &'r Ring,
    shift: u32,
    head: u64,
}

impl NicHalf<'_> {
    pub(crate) fn deliver(&mut self, frame: &Frame<'_>) {
        // Acquire: partner is `HostHalf::fill`'s release.
        if self.ring.doorbell.load(Acquire) == self.head {
            return;
        }
        let at = self.head as usize % self.ring.descriptor.len();
        let entry = &self.ring.completion[at];
        entry[0].store(self.ring.descriptor[at].load(Relaxed), Relaxed);
        entry[1].store(u64::from(frame.rss()) | u64::from(frame.kind()) << 32, Relaxed);
        entry[2].store(u64::from(frame.len()) | u64::from(frame.mark()) << 32, Relaxed);
        let signal = !(self.head >> self.shift) & 1 | 1 << 17;
        entry[3].store(signal, Release); // partner: `HostHalf::rx_burst`'s acquire
        self.head += 1;
    }
}
