//! Numbered frames both ways, each held to its number, length and bytes.

use std::time::Instant;

use ccnic::{Back, Buf, Channel, Config, Error, Layout, Segment};

use crate::other::PATIENCE;

/// Small, so that everything wraps and runs out often.
pub(crate) const SMALL: Config =
    Config { layout: Layout::Dense, back: Back::Credit, ring: 64, buffers: 96, bytes: 256, events: true };
pub(crate) const NONE: Segment = Segment { buf: Buf(0), off: 0, len: 0, last: false };

/// Numbers without a pattern.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15); // splitmix64
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// Segments of frame `n`.
fn parts(n: u64) -> usize {
    (n % 3 + 1) as usize
}

/// First byte and bytes of segment `k` of frame `n`.
fn shape(n: u64, k: usize) -> (u16, u16) {
    ((n % 41) as u16, (8 + (n + k as u64) % 190) as u16)
}

fn content(n: u64, k: usize) -> Vec<u8> {
    let (_, len) = shape(n, k);
    let mut bytes: Vec<u8> = (0..len).map(|i| (n as u8).wrapping_mul(7) ^ i as u8 ^ (k as u8) << 6).collect();
    bytes[..8].copy_from_slice(&n.to_le_bytes());
    bytes
}

/// A side that sends and receives.
pub(crate) struct Traffic {
    pub(crate) channel: Channel,
    pub(crate) sent: u64,
    pub(crate) got: u64,
    /// The next segment of frame `got`.
    part: usize,
}

impl Traffic {
    pub(crate) fn new(channel: Channel) -> Traffic {
        Traffic { channel, sent: 0, got: 0, part: 0 }
    }

    /// Sends up to four frames more, until `until`; how many.
    pub(crate) fn push(&mut self, until: u64) -> Result<u64, Error> {
        let (mut segs, mut bufs, first) = (Vec::new(), [Buf(0); 3], self.sent);
        for n in first..until.min(first + 4) {
            let bufs = &mut bufs[..parts(n)];
            let got = self.channel.alloc(bufs);
            if got < bufs.len() {
                self.channel.free(&bufs[..got]);
                break;
            }
            for (k, buf) in bufs.iter().enumerate() {
                let (off, len) = shape(n, k);
                self.channel.write(*buf, off.into(), &content(n, k)).unwrap();
                segs.push(Segment { buf: *buf, off, len, last: k + 1 == bufs.len() });
            }
        }
        let taken = self.channel.send(&segs).inspect_err(|_| {
            let bufs: Vec<_> = segs.iter().map(|s| s.buf).collect();
            self.channel.free(&bufs);
        });
        let taken = taken?;
        let back: Vec<_> = segs[taken..].iter().map(|s| s.buf).collect();
        self.channel.free(&back);
        self.sent += segs[..taken].iter().filter(|s| s.last).count() as u64;
        Ok(self.sent - first)
    }

    /// Receives what there is, and holds it to what it should be; how many segments.
    pub(crate) fn pull(&mut self) -> Result<usize, Error> {
        let mut segs = [NONE; 16];
        let n = self.channel.receive(&mut segs)?;
        for s in &segs[..n] {
            let (frame, part) = (self.got, self.part);
            let last = part + 1 == parts(frame);
            assert_eq!((s.off, s.len, s.last), (shape(frame, part).0, shape(frame, part).1, last), "{frame}");
            let mut bytes = vec![0; s.len.into()];
            self.channel.read(s.buf, s.off.into(), &mut bytes).unwrap();
            assert_eq!(bytes, content(frame, part), "frame {frame}, segment {part}");
            self.channel.free(&[s.buf]);
            (self.got, self.part) = if last { (frame + 1, 0) } else { (frame, part + 1) };
        }
        Ok(n)
    }

    /// Sends and receives until both numbers reach `until`.
    pub(crate) fn run(&mut self, until: u64) -> Result<(), Error> {
        let mut since = Instant::now();
        while self.sent < until || self.got < until {
            let sent = if self.sent < until { self.push(until)? } else { 0 };
            if sent + self.pull()? as u64 > 0 {
                since = Instant::now();
            } else {
                assert!(since.elapsed() < PATIENCE, "{} sent, {} received", self.sent, self.got);
                std::thread::yield_now();
            }
        }
        Ok(())
    }

    /// The other side is gone: this one gets each buffer back, once.
    pub(crate) fn settle(mut self) {
        let count = self.channel.config().buffers as usize;
        self.channel.reclaim().unwrap();
        assert_eq!(self.channel.buffers(), (count as u64, 0));
        let mut all = vec![Buf(u64::MAX); count + 1];
        assert_eq!(self.channel.alloc(&mut all), count);
        all.truncate(count);
        all.sort_unstable();
        assert!(all.into_iter().eq((0..count as u64).map(Buf)), "each buffer once");
        for (name, n) in self.channel.counters() {
            assert!(n == 0 || !matches!(name, "pool_lies" | "pool_foreign"), "{name} {n}");
        }
        assert!(matches!(self.channel.send(&[]), Err(Error::Gone)));
        assert!(matches!(self.channel.receive(&mut [NONE]), Err(Error::Gone)));
    }
}
