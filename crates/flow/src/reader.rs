//! Look-ups: a frame's way through the groups.

use std::sync::Arc;

use arrayvec::ArrayVec;
use crossbeam_epoch::Guard;

use crate::action::{Action, Fate};
use crate::arena::Count;
use crate::field::{Field, Layer};
use crate::key::Key;
use crate::records::Record;
use crate::shared::Shared;
use crate::sizes::{BURST, CHAIN};
use crate::state::Form;
use crate::verdict::{Ending, Verdict};
use crate::view::Found;

/// Looks frames up. Each thread has one of its own, or takes turns.
#[derive(Clone, Debug)]
pub struct Reader {
    shared: Arc<Shared>,
}

/// Look-ups in one state of the tables: what is committed meanwhile is seen by the next burst. What was replaced stays
/// until it ends, so a burst should be short.
pub struct Burst<'a> {
    shared: &'a Shared,
    guard: Guard,
    version: u64,
    tick: u32,
}

/// A frame on its way: its key, its bytes, the group where it is looked up next.
struct Frame<'k> {
    key: &'k mut Key,
    bytes: u32,
    group: Option<u16>,
}

impl Reader {
    pub(crate) fn new(shared: Arc<Shared>) -> Reader {
        Reader { shared }
    }

    /// Begins a burst, at a time in ticks.
    pub fn burst(&self, tick: u32) -> Burst<'_> {
        // Before the clock is read: a later grace period ends only after this burst.
        let guard = crossbeam_epoch::pin();
        Burst { version: self.shared.clock.now(), shared: &self.shared, guard, tick }
    }
}

impl Burst<'_> {
    /// The version of the tables that this burst sees.
    pub fn version(&self) -> u64 {
        self.version
    }

    /// Looks a frame of `bytes` bytes up, from group 0 on. Its key gets the registers and fields that rules set.
    pub fn classify(&self, key: &mut Key, bytes: u32) -> Verdict<'_> {
        let mut frame = Frame { key, bytes, group: Some(0) };
        let mut verdict = Verdict::new();
        while let Some(group) = frame.group {
            let view = self.shared.view(group, &self.guard);
            let found = view.and_then(|view| view.search(&self.shared.arena, frame.key, self.version));
            self.step(&mut frame, &mut verdict, group, found);
        }
        verdict
    }

    /// The same for several frames, [`BURST`] at a time so that their cache misses overlap. `bytes` has a length for
    /// each key; frames without one are not looked up. The verdicts are in the order of the keys.
    pub fn classify_all<'b>(&'b self, keys: &mut [Key], bytes: &[u32], out: &mut Vec<Verdict<'b>>) {
        for (keys, bytes) in keys.chunks_mut(BURST).zip(bytes.chunks(BURST)) {
            let first = out.len();
            out.resize_with(first + keys.len().min(bytes.len()), Verdict::new);
            self.classify_some(keys, bytes, &mut out[first..]);
        }
    }

    fn classify_some<'b>(&'b self, keys: &mut [Key], bytes: &[u32], verdicts: &mut [Verdict<'b>]) {
        let frames = keys.iter_mut().zip(bytes);
        let mut frames: ArrayVec<Frame<'_>, BURST> =
            frames.map(|(key, bytes)| Frame { key, bytes: *bytes, group: Some(0) }).collect();
        // Frames of one group together; where they were sent to others, those of the first one's.
        while let Some(group) = frames.iter().find_map(|frame| frame.group) {
            let chosen: ArrayVec<usize, BURST> =
                (0..frames.len()).filter(|at| frames[*at].group == Some(group)).collect();
            let found = self.search(group, chosen.iter().map(|at| &*frames[*at].key).collect());
            for (at, found) in chosen.into_iter().zip(found) {
                self.step(&mut frames[at], &mut verdicts[at], group, found);
            }
        }
    }

    fn search(&self, group: u16, keys: ArrayVec<&Key, BURST>) -> ArrayVec<Option<Found>, BURST> {
        match self.shared.view(group, &self.guard) {
            Some(view) => view.search_all(&self.shared.arena, &keys, self.version),
            None => keys.iter().map(|_| None).collect(),
        }
    }

    /// What the rule that was found in `group` does.
    #[inline(always)]
    fn step<'b>(
        &'b self,
        frame: &mut Frame<'_>,
        verdict: &mut Verdict<'b>,
        group: u16,
        found: Option<Found>,
    ) {
        verdict.groups += 1;
        frame.group = None;
        let fate = found.and_then(|found| match found.state.form() {
            Form::Inline(inline) => {
                verdict.mark = inline.mark.or(verdict.mark);
                self.count(found.unit, inline.count, frame.bytes);
                Some(inline.fate)
            }
            Form::Record(number) => {
                let record = self.shared.records.get(number, &self.guard)?;
                self.follow(frame, verdict, found.unit, record);
                Some(record.fate)
            }
            Form::Absent | Form::Link(_) => None,
        });
        verdict.ending = match fate {
            Some(Fate::Queue(queue)) => Ending::Queue(queue),
            Some(Fate::Rss(context)) => Ending::Rss(context),
            Some(Fate::Drop) => Ending::Drop,
            Some(Fate::Jump(_)) if usize::from(verdict.groups) == CHAIN => Ending::TooLong,
            Some(Fate::Jump(group)) => {
                frame.group = Some(group);
                return;
            }
            None => Ending::Missed(group),
        };
    }

    #[inline(always)]
    fn count(&self, unit: u32, count: bool, bytes: u32) {
        if count {
            self.shared.arena.add(unit, Count { frames: 1, bytes: bytes.into() });
        }
    }

    fn follow<'b>(&self, frame: &mut Frame<'_>, verdict: &mut Verdict<'b>, unit: u32, record: &'b Record) {
        self.count(unit, record.count, frame.bytes);
        if record.age.is_some() {
            self.shared.arena.touch(unit, self.tick);
        }
        for action in &record.list {
            match *action {
                Action::Mark(mark) => verdict.mark = Some(mark),
                _ => action.change(frame.key),
            }
        }
        // There are no more groups than the list has room for.
        let _ = verdict.records.try_push(record);
    }
}

impl Action {
    /// What it does to a key.
    pub(crate) fn change(&self, key: &mut Key) {
        match *self {
            Action::Meta { value, mask } => key.set(Layer::Outer, Field::Meta, value.into(), mask.into()),
            Action::Tag { index, value, mask } => {
                if let Some(field) = Field::tag(index) {
                    key.set(Layer::Outer, field, value.into(), mask.into());
                }
            }
            Action::Set { field, value } => key.set(Layer::Outer, field, value, field.largest()),
            Action::VxlanDecap => key.decap(),
            _ => {}
        }
    }
}
