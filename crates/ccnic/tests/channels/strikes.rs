//! A hostile side that writes over the whole region as fast as it can.

use std::os::fd::AsFd;
use std::path::Path;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering::Relaxed};
use std::thread;

use ccnic::{Buf, Channel, Segment};
use rustix::fs::{FallocateFlags, fallocate, fstat};
use rustix::net::{SendFlags, Shutdown, send, shutdown};

use crate::guards::Mapped;
use crate::hostile::word;
use crate::traffic::{NONE, Random, SMALL};

/// The region, or memory of this process of the same size.
struct Target {
    place: Mapped,
    bytes: u64,
}

impl Target {
    fn word(&self, at: u64) -> &AtomicU64 {
        let at = at % (self.bytes / 8) * 8;
        // SAFETY: below the mapping's size and a multiple of 8; all that reach it here are atomic.
        unsafe { AtomicU64::from_ptr(self.place.base().add(at as usize).cast()) }
    }

    fn byte(&self, at: u64) -> &AtomicU8 {
        // SAFETY: as above.
        unsafe { AtomicU8::from_ptr(self.place.base().add((at % self.bytes) as usize)) }
    }

    /// Where rings and pool lie: behind the buffers, the directory at the end. Sleepers' words are in front.
    fn control(&self, random: &mut Random) -> u64 {
        let buffers = u64::from(SMALL.buffers) * 320 / 8;
        if random.below(16) == 0 {
            8 * random.below(4)
        } else {
            24 + buffers + random.below(self.bytes / 8 - buffers - 24)
        }
    }

    /// Changes something.
    fn strike(&self, random: &mut Random) {
        let anywhere = random.next();
        let at = if random.below(4) == 0 { anywhere } else { self.control(random) };
        let old = self.word(at).load(Relaxed);
        match random.below(10) {
            0 => self.byte(anywhere).store(random.next() as u8, Relaxed),
            1 => self.word(anywhere).store(random.next(), Relaxed),
            2..5 => self.word(at).store(word(random), Relaxed),
            5 => self.word(at).store(old ^ 1 << random.below(64), Relaxed),
            6 => self.word(at).store(old.wrapping_add(random.below(200)).wrapping_sub(100), Relaxed),
            7 => self.word(at).store(self.word(self.control(random)).load(Relaxed), Relaxed),
            8 => {
                // A descriptor that another place has, and a neighbour of it.
                let other = self.control(random);
                (0..8).for_each(|k| self.word(at + k).store(self.word(other + k).load(Relaxed), Relaxed));
            }
            _ => {
                let most = 1 << random.below(10);
                let (len, with) = (random.below(most), random.next());
                (0..len).for_each(|k| self.word(at + k).store(with, Relaxed));
            }
        }
    }
}

/// What else a side can do to the other one: signals that nobody waits for, holes in the file, half an end.
fn annoy(channel: &Channel, bytes: u64, random: &mut Random) {
    match random.below(64) {
        0..40 => {
            let _ = send(
                channel.as_fd(),
                &[0; 100][..1 + random.below(100) as usize],
                SendFlags::DONTWAIT | SendFlags::NOSIGNAL,
            );
        }
        40..60 => {
            let hole = FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE;
            let _ = fallocate(channel.memory().unwrap(), hole, random.below(bytes / 4096 + 1) * 4096, 4096);
        }
        60 if random.below(64) == 0 => {
            let _ = shutdown(
                channel.as_fd(),
                if random.below(2) == 0 { Shutdown::Read } else { Shutdown::Write },
            );
        }
        _ => {}
    }
}

/// The other process: `fuzz|harmless SEED CONFIG`.
pub(crate) fn play(role: &str, path: &Path) {
    let mut words = role.split(' ');
    let hostile = match words.next() {
        Some("fuzz") => true,
        Some("harmless") => false,
        other => panic!("{other:?}"),
    };
    let mut random = Random(words.next().unwrap().parse().unwrap());
    let mut channel = Channel::connect(path, words.next().unwrap().parse().unwrap()).unwrap();
    let file = channel.memory().unwrap();
    let bytes = fstat(file).unwrap().st_size as u64;
    let place = if hostile { Mapped::file(file, bytes as usize) } else { Mapped::own(bytes as usize) };
    let target = Target { place, bytes };
    loop {
        // Many at once, or one here and there: the other side gets further meanwhile.
        let strikes = 1 << random.below(8);
        (0..strikes).for_each(|_| target.strike(&mut random));
        if hostile && random.below(256) == 0 {
            annoy(&channel, bytes, &mut random);
        }
        let mut bufs = [Buf(0)];
        if channel.alloc(&mut bufs) == 1 {
            let _ = channel.send(&[Segment { buf: bufs[0], off: 0, len: 9, last: random.below(2) == 0 }]);
        }
        let mut segs = [NONE; 4];
        match channel.receive(&mut segs) {
            Ok(n) => segs[..n].iter().for_each(|s| channel.free(&[s.buf])),
            Err(_) => return,
        }
        thread::yield_now();
    }
}
