//! Frames that flow tables look up together fare as each would by itself.

#![allow(clippy::unwrap_used, reason = "tests")]

use flow::testing::{Acts, Ask, Draft, Shape};
use flow::{Count, Limits, RuleId, Writer};
use nic::{Checks, Class, Contexts, Filter, Incoming, Pipeline, Tables};
use packet::Rss;
use proptest::prelude::*;
use rings::Outcome;

const QUEUES: u16 = 4;

/// A frame: its headers, bytes behind them that were not captured, and where its first piece ends.
type Draw = (Shape, u16, u8);

/// What becomes of a frame, and its bytes if rules changed them.
type Fate = Result<(Class, Option<Vec<u8>>), Outcome>;

fn frames() -> impl Strategy<Value = Vec<Draw>> {
    let shape =
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, value, more)| Shape { kind, value, more });
    let behind = prop_oneof![4 => Just(0_u16), 1 => 0..2000_u16];
    proptest::collection::vec((shape, behind, any::<u8>()), 0..80)
}

/// Most rules are in the first group, where all frames come by.
fn drafts() -> impl Strategy<Value = Vec<Draft>> {
    let ask =
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, value, bits)| Ask { kind, value, bits });
    let acts =
        (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(fate, extra, value)| Acts { fate, extra, value });
    let group = prop_oneof![3 => Just(0_u8), 1 => any::<u8>()];
    let draft = (group, any::<u8>(), ask, acts);
    let draft = draft.prop_map(|(group, priority, ask, acts)| Draft { group, priority, ask, acts });
    proptest::collection::vec(draft, 0..40)
}

/// A card with rules of its own, whose counters nobody else has.
struct Card {
    writer: Writer,
    rules: Vec<RuleId>,
    contexts: Contexts,
    pipeline: Pipeline<Rss>,
}

impl Card {
    fn new(drafts: &[Draft], checksums: bool, promiscuous: bool) -> Card {
        let mut writer = Writer::new(Limits { groups: 5, ..Limits::for_rules(64) }).unwrap();
        let rules = drafts.iter().filter_map(|draft| writer.insert(&draft.rule().ok()?).ok()).collect();
        writer.commit();
        let mut pipeline = Pipeline::new(Rss::spread(QUEUES), Checks { max_frame: 1518, checksums });
        pipeline.filter = Filter { promiscuous, macs: 2, ..Filter::default() };
        pipeline.filter.mac[0][5] = 1;
        pipeline.filter.mac[1][5] = 2;
        let contexts = Contexts::default();
        contexts.add(&Rss::spread(2)).unwrap();
        Card { writer, rules, contexts, pipeline }
    }

    /// What becomes of the frames: all in one state of the tables, looked up together or each by itself.
    fn meet(&self, frames: &[Incoming<'_>], isolated: bool, together: bool) -> Vec<Fate> {
        let reader = self.writer.reader();
        let steering = &self.pipeline.choice;
        let tables = Tables::begin(&reader, &self.contexts, steering, QUEUES, isolated, 5);
        let mut fates = Vec::new();
        let bytes = |f: &Incoming<'_>, edited: flow::Edited| {
            let mut bytes = Vec::new();
            f.append_edited(&edited, &mut bytes);
            bytes
        };
        if together {
            self.pipeline.admit_burst(&tables, frames, |f, admitted| {
                fates.push(admitted.map(|(class, edited)| (class, edited.map(|e| bytes(f, e)))));
            });
        } else {
            fates.extend(frames.iter().map(|f| {
                let class = self.pipeline.admit_by(&tables, f)?;
                Ok((class, tables.edited().map(|e| bytes(f, e))))
            }));
        }
        fates
    }

    /// What each rule has counted, and ticks since its last frame.
    fn counts(&mut self) -> Vec<(Count, u32)> {
        self.writer.set_tick(9);
        self.rules
            .iter()
            .map(|id| (self.writer.count(*id).unwrap(), self.writer.idle(*id).unwrap()))
            .collect()
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_burst_fares_as_its_frames_one_by_one(
        drafts in drafts(),
        frames in frames(),
        (checksums, promiscuous, isolated) in any::<(bool, bool, bool)>(),
    ) {
        let frames: Vec<_> = frames.iter().map(|(shape, behind, cut)| (shape.frame(), *behind, *cut)).collect();
        let pieces: Vec<_> = frames
            .iter()
            .map(|(bytes, ..)| bytes)
            .zip(&frames)
            .map(|(bytes, (.., cut))| bytes.split_at(usize::from(*cut).min(bytes.len())))
            .map(|(head, more)| if more.is_empty() { vec![head] } else { vec![head, more] })
            .collect();
        let incoming: Vec<_> = frames
            .iter()
            .zip(&pieces)
            .map(|((bytes, behind, _), pieces)| Incoming::gathered(pieces, bytes.len() as u32 + u32::from(*behind)))
            .collect();
        let [mut alone, mut together] = [(); 2].map(|()| Card::new(&drafts, checksums, promiscuous));
        let one_by_one = alone.meet(&incoming, isolated, false);
        prop_assert_eq!(&together.meet(&incoming, isolated, true), &one_by_one);
        prop_assert_eq!(together.counts(), alone.counts());
    }
}
