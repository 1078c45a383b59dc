//! Look-ups: a frame's way through the groups.

use std::sync::Arc;

use arrayvec::ArrayVec;
use crossbeam_epoch::Guard;

use crate::action::{Action, Fate};
use crate::arena::Count;
use crate::field::{Field, Layer, TTL};
use crate::key::Key;
use crate::search::{self, Single, Told};
use crate::shared::Shared;
use crate::sizes::{BURST, CHAIN};
use crate::state::{Form, State};
use crate::verdict::{Ending, Verdict};
use crate::view::{Found, Tuple, View};

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

/// Frames of a burst in the first group.
struct Course<'a, 'b> {
    burst: &'b Burst<'b>,
    bytes: &'a [u32],
    verdicts: &'a mut ArrayVec<Verdict<'b>, BURST>,
    /// Where frames are sent.
    groups: [Option<u16>; BURST],
    /// Whether one is.
    jumped: bool,
}

impl Told for Course<'_, '_> {
    #[inline(always)]
    fn end(&mut self, at: usize, unit: u32, state: State) {
        self.burst.count(unit, state.counts(), self.bytes[at]);
        let (ending, mark) = state.end();
        self.verdicts.push(Verdict { ending, mark, groups: 1, ..Verdict::new() });
    }

    #[inline(never)]
    fn other(&mut self, key: &mut Key, at: usize, found: Found) {
        let verdict;
        (verdict, self.groups[at]) = self.burst.step(key, self.bytes[at], Verdict::new(), 0, found);
        self.verdicts.push(verdict);
        self.jumped |= self.groups[at].is_some();
    }
}

/// The places of a burst.
const EACH: [u8; BURST] = {
    let (mut each, mut at) = ([0; BURST], 0);
    while at < BURST {
        each[at] = at as u8;
        at += 1;
    }
    each
};

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
        let mut verdict = Verdict::new();
        let mut next = Some(0);
        while let Some(group) = next {
            let view = self.shared.view(group, &self.guard);
            let found = view.map_or(Found::NONE, |view| view.search(&self.shared.arena, key, self.version));
            (verdict, next) = self.step(key, bytes, verdict, group, found);
        }
        verdict
    }

    /// The same for up to [`BURST`] frames, whose cache misses overlap. `bytes` has a length for each key; frames without
    /// one are not looked up. The verdicts are in the order of the keys.
    pub fn classify_burst(&self, keys: &mut [Key], bytes: &[u32]) -> ArrayVec<Verdict<'_>, BURST> {
        let n = keys.len().min(bytes.len()).min(BURST);
        let (keys, bytes) = (&mut keys[..n], &bytes[..n]);
        let mut verdicts = ArrayVec::new();
        let mut course =
            Course { burst: self, bytes, verdicts: &mut verdicts, groups: [None; BURST], jumped: false };
        let tuples = self.tuples(0);
        let (arena, version) = (&self.shared.arena, self.version);
        match Single::of(tuples) {
            Some(single) => single.search(arena, keys, version, &mut course),
            None => search::search(tuples, arena, keys, &EACH[..n], version, |key, at, found| {
                course.other(key, at, found);
            }),
        }
        let Course { groups, jumped, .. } = course;
        if jumped {
            self.go_on(keys, bytes, groups, &mut verdicts);
        }
        verdicts
    }

    /// Frames that were sent to other `groups`: those of one together, of the first frame's first.
    #[inline(never)]
    fn go_on<'b>(
        &'b self,
        keys: &mut [Key],
        bytes: &[u32],
        mut groups: [Option<u16>; BURST],
        verdicts: &mut [Verdict<'b>],
    ) {
        while let Some(group) = groups.iter().find_map(|group| *group) {
            let open: ArrayVec<u8, BURST> = EACH[..keys.len()]
                .iter()
                .copied()
                .filter(|at| groups[usize::from(*at)] == Some(group))
                .collect();
            search::search(
                self.tuples(group),
                &self.shared.arena,
                keys,
                &open,
                self.version,
                |key, at, found| {
                    let before = core::mem::replace(&mut verdicts[at], Verdict::new());
                    (verdicts[at], groups[at]) = self.step(key, bytes[at], before, group, found);
                },
            );
        }
    }

    #[inline(always)]
    fn tuples(&self, group: u16) -> &[Tuple] {
        self.shared.view(group, &self.guard).map_or(&[][..], View::tuples)
    }

    /// The same for any number of frames; their verdicts go into `out`.
    pub fn classify_all<'b>(&'b self, keys: &mut [Key], bytes: &[u32], out: &mut Vec<Verdict<'b>>) {
        for (keys, bytes) in keys.chunks_mut(BURST).zip(bytes.chunks(BURST)) {
            out.extend(self.classify_burst(keys, bytes));
        }
    }

    /// What the rule that was found in `group` does to a verdict; the group where it sends the frame.
    #[inline(always)]
    fn step<'b>(
        &'b self,
        key: &mut Key,
        bytes: u32,
        mut verdict: Verdict<'b>,
        group: u16,
        found: Found,
    ) -> (Verdict<'b>, Option<u16>) {
        verdict.groups += 1;
        let fate;
        if let Some(inline) = found.state.inline() {
            verdict.mark = inline.mark.or(verdict.mark);
            self.count(found.unit, inline.count, bytes);
            fate = Some(inline.fate);
        } else if found.state == State::ABSENT {
            fate = None;
        } else {
            (verdict, fate) = self.follow(key, bytes, verdict, found);
        }
        verdict.ending = match fate {
            Some(Fate::Queue(queue)) => Ending::Queue(queue),
            Some(Fate::Rss(context)) => Ending::Rss(context),
            Some(Fate::Drop) => Ending::Drop,
            Some(Fate::Jump(_)) if verdict.groups as usize == CHAIN => Ending::TooLong,
            Some(Fate::Jump(group)) => return (verdict, Some(group)),
            None => Ending::Missed(group),
        };
        (verdict, None)
    }

    #[inline(always)]
    fn count(&self, unit: u32, count: bool, bytes: u32) {
        if count {
            self.shared.arena.add(unit, Count { frames: 1, bytes: bytes.into() });
        }
    }

    /// What a rule with a record does; its fate.
    #[inline(never)]
    fn follow<'b>(
        &'b self,
        key: &mut Key,
        bytes: u32,
        mut verdict: Verdict<'b>,
        found: Found,
    ) -> (Verdict<'b>, Option<Fate>) {
        let Form::Record(number) = found.state.form() else { return (verdict, None) };
        let Some(record) = self.shared.records.get(number, &self.guard) else { return (verdict, None) };
        self.count(found.unit, record.count, bytes);
        if record.age.is_some() {
            self.shared.arena.touch(found.unit, self.tick);
        }
        for action in &record.list {
            match *action {
                Action::Mark(mark) => verdict.mark = Some(mark),
                _ => action.change(key),
            }
        }
        if record.edits {
            // There are no more groups than the list has room for.
            let _ = verdict.records.get_or_insert_default().try_push(record);
        }
        (verdict, Some(record.fate))
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
            Action::DecTtl => {
                for field in TTL {
                    let ttl = key.get(Layer::Outer, field).unwrap_or(0).saturating_sub(1);
                    key.set(Layer::Outer, field, ttl, field.largest());
                }
            }
            Action::VxlanDecap => key.decap(),
            _ => {}
        }
    }
}
