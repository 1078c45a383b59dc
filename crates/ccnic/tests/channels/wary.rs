//! A side that trusts nobody.

use std::collections::BTreeSet;
use std::time::Duration;

use ccnic::{Buf, Channel, Config, Error, Segment};

use crate::traffic::{NONE, Random};

/// The longest sleep of a turn, in microseconds.
const NAP: u64 = 200;

/// It holds each buffer once, whatever comes.
pub(crate) struct Wary {
    pub(crate) channel: Channel,
    held: BTreeSet<Buf>,
    pub(crate) frames: u64,
}

impl Wary {
    pub(crate) fn new(channel: Channel) -> Wary {
        Wary { channel, held: BTreeSet::new(), frames: 0 }
    }

    fn hold(&mut self, buf: Buf) {
        assert!(buf.0 < self.channel.config().buffers.into(), "{buf:?}");
        assert!(self.held.insert(buf), "{buf:?} came twice");
    }

    /// Receives, takes buffers, and sends or frees what it has.
    pub(crate) fn turn(&mut self, random: &mut Random) -> Result<(), Error> {
        let mut segs = [NONE; 8];
        let n = self.channel.receive(&mut segs)?;
        self.judge(&segs[..n])?;
        let mut bufs = [Buf(u64::MAX); 4];
        let n = self.channel.alloc(&mut bufs);
        bufs[..n].iter().for_each(|buf| self.hold(*buf));
        while let Some(buf) = self.held.first().copied().filter(|_| random.below(8) > 0) {
            self.channel.write(buf, 0, &[7; 32])?;
            if random.below(2) == 0 {
                self.held.remove(&buf);
                self.channel.free(&[buf]);
            } else if self.channel.send(&[Segment { buf, off: 0, len: 32, last: true }])? == 1 {
                self.held.remove(&buf);
            }
        }
        assert_eq!(self.channel.buffers().1, self.held.len() as u64);
        Ok(())
    }

    /// Sleeps for a moment, if nothing comes.
    pub(crate) fn nap(&mut self, random: &mut Random) -> Result<(), Error> {
        let mut segs = [NONE; 8];
        let n = self.channel.wait(&mut segs, Duration::from_micros(random.below(NAP)))?;
        self.judge(&segs[..n])
    }

    fn judge(&mut self, segs: &[Segment]) -> Result<(), Error> {
        for s in segs {
            let Config { bytes, .. } = *self.channel.config();
            assert!(u32::from(s.off) + u32::from(s.len) <= bytes, "{s:?}");
            self.hold(s.buf);
            let mut bytes = vec![0; s.len.into()];
            self.channel.read(s.buf, s.off.into(), &mut bytes)?;
            self.frames += u64::from(s.last);
        }
        Ok(())
    }

    /// Words of the other side that were none of its own to say.
    pub(crate) fn lies(&self) -> u64 {
        self.channel.counters().iter().find(|(name, _)| *name == "pool_lies").unwrap().1
    }

    /// The other side is gone: each buffer is here, once.
    pub(crate) fn settle(mut self) {
        while let Ok(n) = self.channel.receive(&mut [NONE; 8]) {
            assert!(n <= 8);
        }
        self.channel.reclaim().unwrap();
        let count = u64::from(self.channel.config().buffers);
        let (free, held) = self.channel.buffers();
        assert_eq!(free + held, count);
        let mut all = vec![Buf(u64::MAX); free as usize];
        assert_eq!(self.channel.alloc(&mut all) as u64, free);
        assert_eq!(all.into_iter().collect::<BTreeSet<_>>().len() as u64, free);
    }
}
