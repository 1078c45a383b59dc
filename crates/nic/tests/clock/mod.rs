//! A memory that is only a clock, and a ring that is only a cost: for exact times of the pipeline.

use memory::{Buf, Fault, Memory, Ps, Touch};
use rings::{Frame, Nic, Outcome};

/// Time passes by pauses alone, and by what the mock ring charges.
#[derive(Default)]
pub(crate) struct Clock {
    pub(crate) now: Ps,
    pub(crate) pauses: Vec<Ps>,
}

impl Memory for Clock {
    type Words<const W: usize> = ();
    type Buffers = ();
    type Table = ();
    fn acquire<const W: usize>(&mut self, (): (), _: u64) -> u64 {
        0
    }
    fn relaxed<const W: usize>(&mut self, (): (), _: u64) -> u64 {
        0
    }
    fn release<const W: usize>(&mut self, (): (), _: u64, _: u64) {}
    fn publish<const W: usize>(&mut self, (): (), _: u64, _: [u64; W]) {}
    fn read<const W: usize>(&mut self, (): (), _: u64) -> [u64; W] {
        [0; W]
    }
    fn write<const W: usize>(&mut self, (): (), _: u64, _: [u64; W]) {}
    fn swap_if<const W: usize>(&mut self, (): (), _: u64, _: u64, _: u64) -> Result<(), u64> {
        Ok(())
    }
    fn or<const W: usize>(&mut self, (): (), _: u64, _: u64) -> u64 {
        0
    }
    fn clear<const W: usize>(&mut self, (): (), _: u64, _: u64) -> u64 {
        0
    }
    fn add<const W: usize>(&mut self, (): (), _: u64, _: u64) -> u64 {
        0
    }
    fn wait<const W: usize>(&mut self, (): (), _: u64, _: u64) {}
    fn idle(&mut self) {}
    fn pause(&mut self, until: Ps, _: bool) {
        self.pauses.push(until);
        self.now = self.now.max(until);
    }
    fn ring(&mut self, (): (), _: u64) {}
    fn check(&self, (): (), raw: u64, _: u32) -> Result<Buf, Fault> {
        Ok(Buf(raw))
    }
    fn put(&mut self, (): (), _: Buf, _: u32, _: &[u8], _: u32) {}
    fn get(&mut self, (): (), _: Buf, _: u32, _: &mut [u8], _: u32) {}
    fn meta(&mut self, (): (), _: Buf, _: u32, _: Touch) {}
    fn prefetch(&mut self, (): (), _: Buf, _: u32) {}
    fn touch(&mut self, (): (), _: u64, _: Touch) {}
    fn now(&mut self) -> Ps {
        self.now
    }
    fn work(&mut self, _: u32) {}
    fn chain(&mut self) {}
}

/// A store takes `cost`; after `room` frames the ring is full. Notices fall due at `due`.
pub(crate) struct Ring {
    pub(crate) cost: Ps,
    pub(crate) room: usize,
    pub(crate) stored: Vec<(u16, u16, Ps)>,
    pub(crate) due: Vec<Ps>,
    pub(crate) polled: Vec<Ps>,
}

impl Ring {
    pub(crate) fn new(cost: u64, room: usize) -> Ring {
        Ring { cost: Ps(cost), room, stored: Vec::new(), due: Vec::new(), polled: Vec::new() }
    }
}

impl Nic<Clock> for Ring {
    fn deliver(&mut self, m: &mut Clock, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        for (frame, outcome) in frames.iter().zip(out) {
            *outcome = if self.stored.len() < self.room { Outcome::Delivered } else { Outcome::RingFull };
            if *outcome == Outcome::Delivered {
                self.stored.push((queue, frame.len(), m.now));
                m.now += self.cost;
            }
        }
    }
    fn poll(&mut self, m: &mut Clock) -> Option<Ps> {
        while self.due.first().is_some_and(|d| *d <= m.now) {
            self.polled.push(self.due.remove(0));
        }
        self.due.first().copied()
    }
    fn stop_queue(&mut self, _m: &mut Clock, _queue: u16) {}
    fn start_queue(&mut self, _m: &mut Clock, _queue: u16) {}
}
