//! The near end of a port's wire: what comes from it goes through the pipeline into the rings, and is counted.

use arrayvec::ArrayVec;
use nic::{Incoming, Pipeline};
use packet::Rss;
use rings::Outcome;

use super::burst::Burst;
use super::rings::Rings;
use super::tags::Tags;
use crate::counters::{Counters, add};
use crate::limits::{BURST, TAG};

/// The near end of the wire.
pub(super) struct Near {
    /// Between start and reset.
    pub(super) rings: Option<Rings>,
    /// Judges the order of forwarded frames, if asked for.
    pub(super) tags: Option<Tags>,
    pub(super) pipeline: Pipeline<Rss>,
    pub(super) counters: &'static Counters,
}

impl Near {
    /// Takes at most [`BURST`] frames from the wire; how many were delivered.
    #[inline(always)]
    pub(super) fn receive<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        if self.tags.is_some() {
            return self.receive_tagged(frames);
        }
        let Near { rings: Some(rings), pipeline, counters, .. } = self else { return 0 };
        let mut burst = Burst::new();
        for f in frames.take(BURST) {
            match pipeline.admit_usual(&f) {
                Some(class) => burst.push(class.queue, class.frame(&f)),
                None => take_any(pipeline, counters, &f, &mut burst),
            }
        }
        rings.deliver(counters, &burst)
    }

    /// [`receive`](Self::receive) with a tag before each frame.
    #[inline(never)]
    fn receive_tagged<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        let Near { rings: Some(rings), tags: Some(tags), pipeline, counters } = self else { return 0 };
        let mut passed = ArrayVec::<_, BURST>::new();
        tags.begin();
        for f in frames.take(BURST) {
            match pipeline.admit(&f) {
                Ok(class) => passed.push((class.queue, tags.tag(&f), class.frame(&f))),
                Err(outcome) => refuse(counters, outcome),
            }
        }
        let mut burst = Burst::new();
        for (queue, at, frame) in passed {
            burst.push(queue, frame.copied(tags.copy(at), frame.len() + TAG as u16));
        }
        rings.deliver(counters, &burst)
    }
}

/// A frame that is not usual comes into the burst, or is refused. Apart, so that a usual one has the registers.
#[inline(never)]
fn take_any<'a>(pipeline: &Pipeline<Rss>, counters: &Counters, f: &Incoming<'a>, burst: &mut Burst<'a>) {
    match pipeline.admit_any(f) {
        Ok(class) => burst.push(class.queue, class.frame(f)),
        Err(outcome) => refuse(counters, outcome),
    }
}

/// Counts a frame that goes no further. Before RSS there is no queue: the first one's counters stand for the
/// port's.
fn refuse(counters: &Counters, outcome: Outcome) {
    add(&counters.rx[0].outcome[outcome as usize], 1);
}
