//! The near end of a port's wire: what comes from it goes through the pipeline into the rings, and is counted.

use core::ops::Range;
use std::sync::Arc;

use arrayvec::ArrayVec;
use nic::{Admitted, CHECKSUMS, Class, Incoming, Pipeline};
use packet::Rss;
use rings::Outcome;

use super::burst::Burst;
use super::rings::Rings;
use super::scatter;
use super::tags::Tags;
use super::vlans::Vlans;
use crate::counters::{Counters, add};
use crate::flows::Flows;
use crate::limits::{BURST, TAG};

/// The near end of the wire.
pub(super) struct Near {
    /// Between start and reset.
    pub(super) rings: Option<Rings>,
    /// Whether bursts take the way of [`receive_apart`](Near::receive_apart) whatever the rules are.
    pub(super) apart: bool,
    /// Judges the order of forwarded frames, if asked for.
    pub(super) tags: Option<Tags>,
    /// The VLANs whose frames pass, if not all do.
    pub(super) vlans: Option<Vlans>,
    pub(super) pipeline: Pipeline<Rss>,
    /// Rules that come before steering.
    pub(super) flows: Arc<Flows>,
    /// Frames of the burst whose bytes rules changed.
    pub(super) edited: Vec<u8>,
    pub(super) counters: &'static Counters,
}

impl Near {
    /// What a burst asks of the port is known beforehand: a port of which nothing is asked has one look at it all.
    pub(super) fn choose_way(&mut self) {
        let scatters = self.rings.as_ref().is_some_and(|rings| rings.scatter.is_some());
        self.apart = scatters || self.tags.is_some() || self.vlans.is_some();
    }

    /// Takes at most [`BURST`] frames from the wire; how many were delivered.
    #[inline(always)]
    pub(super) fn receive<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        if self.apart | self.flows.active() {
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

    /// [`receive`](Self::receive) where there are flow rules, tags before frames, VLANs that do not pass, or frames in several
    /// buffers.
    #[inline(never)]
    fn receive_apart<'a>(&mut self, frames: impl Iterator<Item = Incoming<'a>>) -> usize {
        let Near { rings: Some(rings), tags, vlans, pipeline, flows, edited, counters, .. } = self else {
            return 0;
        };
        let bars = |f: &Incoming<'_>| vlans.as_ref().is_some_and(|vlans| vlans.bar(f));
        let may_pass = |f: &Incoming<'_>| {
            let barred = bars(f);
            if barred {
                refuse(counters, Outcome::Filtered);
            }
            !barred
        };
        let frames: ArrayVec<Incoming<'a>, BURST> = frames.take(BURST).filter(may_pass).collect();
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
        match (tags, rings.scatter) {
            (Some(tags), _) => deliver_tagged(rings, tags, counters, &passed),
            (None, Some(room)) => scatter::deliver(rings, counters, &passed, room),
            (None, None) => {
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
