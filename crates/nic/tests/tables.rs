//! Flow tables before steering: what becomes of frames.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;

use flow::{Action, CHAIN, Field, Layer, Limits, Match, Rule, Writer};
use nic::{CONTEXTS, Checks, Class, Contexts, Incoming, Pipeline, Tables};
use packet::Rss;
use rings::Outcome;

const QUEUES: u16 = 4;

/// UDP over IPv4 from port 7 to `port`, of 60 B.
fn frame(port: u8) -> Vec<u8> {
    let mut f = vec![2; 12];
    f.extend([8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    f.extend([0, 7, 0, port, 0, 26, 0, 0]);
    f.resize(60, 3);
    f
}

fn rule(group: u16, port: u128, actions: &[Action]) -> Rule<'static> {
    let matching = Match::any().field(Layer::Outer, Field::UdpDst, port).unwrap();
    Rule { group, priority: 0, matching, actions: actions.to_vec().into() }
}

struct Card {
    writer: Writer,
    contexts: Arc<Contexts>,
    pipeline: Pipeline<Rss>,
}

impl Card {
    fn new(rules: &[Rule<'_>]) -> Card {
        let mut writer = Writer::new(Limits::for_rules(64)).unwrap();
        for rule in rules {
            writer.insert(rule).unwrap();
        }
        writer.commit();
        let checks = Checks { max_frame: 1518, checksums: false };
        Card { writer, contexts: Arc::default(), pipeline: Pipeline::new(Rss::spread(QUEUES), checks) }
    }

    fn meets(&self, f: &Incoming<'_>, isolated: bool) -> Result<Class, Outcome> {
        let reader = self.writer.reader();
        let steering = &self.pipeline.choice;
        let tables = Tables::begin(&reader, &self.contexts, steering, QUEUES, isolated, 0);
        self.pipeline.admit_by(&tables, f)
    }
}

#[test]
fn what_no_rule_matches_is_steered_or_ends_on_an_isolated_port() {
    let card = Card::new(&[rule(0, 9, &[Action::Queue(3), Action::Mark(7)])]);
    for port in 0..20 {
        let frame = frame(port);
        let f = Incoming::whole(&frame, 60);
        let steered = card.pipeline.admit(&f).unwrap();
        let ruled = Class { queue: 3, mark: 7, ..steered };
        let (with, isolated) = if port == 9 { (ruled, Ok(ruled)) } else { (steered, Err(Outcome::FlowMiss)) };
        assert_eq!((card.meets(&f, false), card.meets(&f, true)), (Ok(with), isolated));
    }
}

#[test]
fn a_frame_in_pieces_meets_the_rule_that_it_meets_in_one() {
    let card = Card::new(&[rule(0, 9, &[Action::Queue(3), Action::Mark(7)])]);
    let whole = frame(9);
    let met = card.meets(&Incoming::whole(&whole, 60), false);
    for cut in 0..whole.len() {
        let (head, more) = whole.split_at(cut);
        assert_eq!(card.meets(&Incoming::gathered(&[head, more], 60), false), met, "cut at {cut}");
    }
}

#[test]
fn the_filter_and_the_length_come_before_rules() {
    let card = Card::new(&[Rule { matching: Match::any(), ..rule(0, 9, &[Action::Queue(3)]) }]);
    assert_eq!(card.meets(&Incoming::whole(&frame(1), 1519), false), Err(Outcome::BadFrame));
}

#[test]
fn a_context_spreads_over_its_own_queues() {
    let card = Card::new(&[rule(0, 9, &[Action::Rss(0)]), rule(0, 8, &[Action::Rss(1)])]);
    let key = packet::SYMMETRIC_KEY;
    let number = card.contexts.add(&Rss::new(&key, &[1, 3]).unwrap());
    assert_eq!(number, Some(0));
    let spread = Rss::new(&key, &[1, 3]).unwrap();
    for source in 0..32 {
        let mut frame = frame(9);
        frame[35] = source;
        let class = card.meets(&Incoming::whole(&frame, 60), false).unwrap();
        let hash = spread.hash(&packet::parse(&frame), &frame);
        assert_eq!((class.queue, class.rss), (spread.queue(hash), hash));
    }
    assert_eq!(card.meets(&Incoming::whole(&frame(8), 60), false), Err(Outcome::FlowMiss), "no such context");
}

/// In a burst that has begun, too.
#[test]
fn a_context_that_is_replaced_spreads_over_others() {
    let card = Card::new(&[rule(0, 9, &[Action::Rss(0)])]);
    let to = |queue| Rss::new(&packet::SYMMETRIC_KEY, &[queue]).unwrap();
    assert_eq!(card.contexts.add(&to(1)), Some(0));
    let reader = card.writer.reader();
    let tables = Tables::begin(&reader, &card.contexts, &card.pipeline.choice, QUEUES, false, 0);
    for queue in [1, 3, 2] {
        card.contexts.replace(0, &to(queue));
        let class = card.pipeline.admit_by(&tables, &Incoming::whole(&frame(9), 60));
        assert_eq!(class.map(|class| class.queue), Ok(queue));
    }
}

#[test]
fn contexts_are_used_again_once_all_bursts_have_ended() {
    let contexts = Arc::<Contexts>::default();
    let add = || contexts.add(&Rss::spread(2));
    let numbers: Vec<u16> = (0..CONTEXTS).map(|_| add().unwrap()).collect();
    assert_eq!(numbers, (0..CONTEXTS).collect::<Vec<_>>());
    assert_eq!(add(), None);
    contexts.remove(5);
    // Other tests may be in the middle of a burst.
    assert_eq!((0..1_000_000).find_map(|_| add()), Some(5));
}

#[test]
fn a_chain_without_end_is_a_miss() {
    let around: Vec<_> = (0..2).map(|group| rule(group, 9, &[Action::Jump(1 - group)])).collect();
    let card = Card::new(&around);
    assert_eq!(card.meets(&Incoming::whole(&frame(9), 60), false), Err(Outcome::FlowMiss));
    let there: Vec<_> =
        (0..CHAIN as u16 - 1).map(|group| rule(group, 9, &[Action::Jump(group + 1)])).collect();
    let card = Card::new(&there);
    assert!(card.meets(&Incoming::whole(&frame(9), 60), false).is_ok(), "no rule of the last group matches");
}

#[test]
fn rules_change_bytes_however_the_frame_comes() {
    let set = [Action::Set { field: Field::UdpDst, value: 77 }, Action::Queue(3)];
    let card = Card::new(&[rule(0, 9, &set)]);
    let whole = frame(9);
    let mut wanted = whole.clone();
    wanted[37] = 77;
    for cut in 0..whole.len() {
        let (head, more) = whole.split_at(cut);
        let pieces = [head, more];
        let f = Incoming::gathered(&pieces, 64);
        let reader = card.writer.reader();
        let tables = Tables::begin(&reader, &card.contexts, &card.pipeline.choice, QUEUES, false, 0);
        assert_eq!(card.pipeline.admit_by(&tables, &f).map(|c| c.queue), Ok(3), "cut at {cut}");
        let (edited, mut bytes) = (tables.edited().unwrap(), vec![5]);
        f.append_edited(&edited, &mut bytes);
        assert_eq!(bytes, [&[5], &wanted[..], &[0; 4]].concat(), "cut at {cut}");
        assert!(tables.edited().is_none(), "it is told once");
    }
}
