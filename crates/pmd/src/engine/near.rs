//! The near end of a port's wire: what comes from it goes through the pipeline into the rings, and is counted.

use core::ops::Range;
use std::sync::Arc;

use arrayvec::ArrayVec;
use nic::{Admitted, CHECKSUMS, Class, Incoming, Pipeline};
use packet::Rss;
use rings::Outcome;

use super::burst::Burst;
use super::rings::Rings;
use super::tags::Tags;
use crate::counters::{Counters, add};
use crate::flows::Flows;
use crate::limits::{BURST, TAG};

/// The near end of the wire.
pub(super) struct Near {
    /// Between start and reset.
    pub(super) rings: Option<Rings>,
    /// Judges the order of forwarded frames, if asked for.
    pub(super) tags: Option<Tags>,
    pub(super) pipeline: Pipeline<Rss>,
    /// Rules that come before steering.
    pub(super) flows: Arc<Flows>,
    /// Frames of the burst whose bytes rules changed.
    pub(super) edited: Vec<u8>,
    pub(super) counters: &'static Counters,
}

impl Near {
    /// Takes at most [`BURST`] frames from the wire; how many were delivered.
    #[inline(always)]
    pub(super) fn receive<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        if self.tags.is_some() | self.flows.active() {
            return self.receive_apart(frames);
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

    /// [`receive`](Self::receive) where there are flow rules, or tags before frames.
    #[inline(never)]
    fn receive_apart<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        let Near { rings: Some(rings), tags, pipeline, flows, edited, counters } = self else { return 0 };
        let frames: ArrayVec<Incoming<'a>, BURST> = frames.take(BURST).collect();
        let mut passed = ArrayVec::<(Class, Incoming<'a>, Range<usize>), BURST>::new();
        edited.clear();
        let pass = |f: &Incoming<'a>, admitted: Admitted| match admitted {
            Ok((class, None)) => passed.push((class, *f, 0..0)),
            Ok((_, Some(changed))) if !pipeline.fits(changed.len()) => refuse(counters, Outcome::BadFrame),
            Ok((class, Some(changed))) => {
                let start = edited.len();
                f.append_edited(&changed, edited);
                // What was found of the frame as it came says nothing of it now.
                let class = Class { kind: class.kind & !CHECKSUMS, ..class };
                passed.push((class, *f, start..edited.len()));
            }
            Err(outcome) => refuse(counters, outcome),
        };
        admit_all(pipeline, flows, rings.halves.queues(), &frames, pass);
        let passed: ArrayVec<(Class, Incoming<'_>), BURST> = passed
            .into_iter()
            .map(|(class, f, at)| match &edited[at] {
                [] => (class, f),
                bytes => (class, Incoming::whole(bytes, bytes.len() as u32)),
            })
            .collect();
        match tags {
            Some(tags) => deliver_tagged(rings, tags, counters, &passed),
            None => {
                let mut burst = Burst::new();
                passed.iter().for_each(|(class, f)| burst.push(class.queue, class.frame(f)));
                rings.deliver(counters, &burst)
            }
        }
    }
}

/// What becomes of the frames of a burst, one after the other: by rules that see one state of the tables, if there are any.
#[inline(always)]
fn admit_all<'a>(
    pipeline: &Pipeline<Rss>,
    flows: &Flows,
    queues: u16,
    frames: &[Incoming<'a>],
    mut pass: impl FnMut(&Incoming<'a>, Admitted),
) {
    match flows.begin(&pipeline.choice, queues) {
        Some(tables) => pipeline.admit_burst(&tables, frames, pass),
        None => frames.iter().for_each(|f| pass(f, pipeline.admit(f).map(|class| (class, None)))),
    }
}

/// Delivers frames with a tag before each.
fn deliver_tagged(
    rings: &mut Rings,
    tags: &mut Tags,
    counters: &Counters,
    passed: &[(Class, Incoming<'_>)],
) -> usize {
    tags.begin();
    let copies: ArrayVec<_, BURST> = passed.iter().map(|(_, f)| tags.tag(f)).collect();
    let mut burst = Burst::new();
    for ((class, f), at) in passed.iter().zip(copies) {
        let frame = class.frame(f);
        burst.push(class.queue, frame.copied(tags.copy(at), frame.len() + TAG as u16));
    }
    rings.deliver(counters, &burst)
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
