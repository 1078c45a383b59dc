//! What the tables promise, case by case.

#![allow(clippy::unwrap_used, reason = "tests")]

use std::net::IpAddr;
use std::thread;

use flow::{
    Action, CHAIN, Count, Ending, Error, Field, Key, Layer, Limits, Match, Reader, Resource, Rule, RuleId,
    Writer, lpm,
};

/// A UDP frame between two addresses, from port 1 to port 2.
fn key(src: u32, dst: u32) -> Key {
    let mut frame = vec![0; 42];
    frame[12..15].copy_from_slice(&[8, 0, 0x45]);
    frame[17] = 28;
    frame[23] = 17;
    frame[26..30].copy_from_slice(&src.to_be_bytes());
    frame[30..34].copy_from_slice(&dst.to_be_bytes());
    frame[35] = 1;
    frame[37] = 2;
    Key::read(&frame, &packet::parse(&frame))
}

/// The 5-tuple of such a frame.
fn tuple(src: u32, dst: u32) -> Match {
    let any = Match::any().field(Layer::Outer, Field::Ipv4Src, src.into()).unwrap();
    let any = any.field(Layer::Outer, Field::Ipv4Dst, dst.into()).unwrap();
    let any = any.field(Layer::Outer, Field::UdpSrc, 1).unwrap();
    any.field(Layer::Outer, Field::UdpDst, 2).unwrap().field(Layer::Outer, Field::Ipv4Proto, 17).unwrap()
}

fn rule(priority: u32, matching: Match, actions: &[Action]) -> Rule<'_> {
    Rule { group: 0, priority, matching, actions: actions.into() }
}

fn ending(reader: &Reader, mut key: Key) -> Ending {
    reader.burst(0).classify(&mut key, 60).ending
}

/// Repeats a change while bursts of other tests in this process hold what it needs.
fn patiently<T>(mut change: impl FnMut() -> Result<T, Error>) -> T {
    loop {
        match change() {
            Ok(done) => return done,
            Err(Error::Full { retiring: 1.., .. }) => thread::yield_now(),
            Err(error) => panic!("{error}"),
        }
    }
}

#[test]
fn a_five_tuple_rule_takes_at_most_128_bytes() {
    // Where a hash table has just grown, and where it is about to.
    let sizes: &[u32] = if cfg!(miri) { &[41] } else { &[81_921, 100_000, 131_072, 163_840, 163_841] };
    for &rules in sizes {
        let limits = Limits::for_rules(rules);
        let mut writer = Writer::new(limits).unwrap();
        let mut most = 0;
        for n in 0..rules {
            let actions = [Action::Count, Action::Queue(3)];
            writer.insert(&rule(0, tuple(n, !n), &actions)).unwrap();
            most = most.max(writer.bytes());
        }
        assert_eq!(writer.len(), rules);
        assert!(most as u64 <= limits.bytes(), "{most} B, {} were told", limits.bytes());
        if !cfg!(miri) {
            let each = most as f64 / f64::from(rules);
            println!("{rules} rules: {each:.1} B each, {:.1} told", limits.bytes() as f64 / f64::from(rules));
            assert!(each <= 128.0, "{rules} rules: {each} B each");
        }
    }
    for rules in [1_000_000, 4_000_000] {
        let told = Limits::for_rules(rules).bytes();
        assert!(told <= 128 * u64::from(rules), "{told} B told for {rules} rules");
    }
}

#[test]
fn a_full_table_keeps_what_it_has() {
    let rules = if cfg!(miri) { 20 } else { 2000 };
    let mut writer = Writer::new(Limits::for_rules(rules)).unwrap();
    for n in 0..10 * rules {
        let actions = [Action::Queue(n as u16)];
        let result = writer.insert(&rule(0, tuple(n, 0), &actions));
        let full = Error::Full { what: Resource::Rules, limit: rules, retiring: 0 };
        assert_eq!(result.err(), (n >= rules).then_some(full));
    }
    writer.commit();
    let reader = writer.reader();
    for n in 0..2 * rules {
        let expected = if n < rules { Ending::Queue(n as u16) } else { Ending::Missed(0) };
        assert_eq!(ending(&reader, key(n, 0)), expected);
    }
}

#[test]
fn memory_comes_back() {
    let rules = if cfg!(miri) { 10 } else { 500 };
    let limits = Limits { rules, units: rules, records: rules, tuples: 1, groups: 1 };
    let mut writer = Writer::new(limits).unwrap();
    let actions = [Action::Age(1), Action::Count, Action::Drop];
    for round in 0..5 {
        let ids: Vec<RuleId> =
            (0..rules).map(|n| patiently(|| writer.insert(&rule(0, tuple(n, round), &actions)))).collect();
        writer.commit();
        ids.into_iter().for_each(|id| patiently(|| writer.remove(id)));
        writer.commit();
        assert!(writer.is_empty());
    }
}

#[test]
fn each_burst_keeps_its_version_of_a_rule() {
    let mut writer = Writer::new(Limits::for_rules(100)).unwrap();
    let actions = [Action::Count, Action::Queue(0)];
    let id = writer.insert(&rule(0, tuple(1, 1), &actions)).unwrap();
    writer.commit();
    let reader = writer.reader();
    let mut bursts = vec![reader.burst(0)];
    for queue in 1..20 {
        // Bursts are before each change: every second one has to be in a new unit.
        writer.update_actions(id, &[Action::Count, Action::Queue(queue)]).unwrap();
        writer.update_actions(id, &[Action::Count, Action::Queue(queue)]).unwrap();
        writer.commit();
        bursts.push(reader.burst(0));
    }
    writer.remove(id).unwrap();
    let again = writer.insert(&rule(0, tuple(1, 1), &[Action::Count, Action::Drop])).unwrap();
    writer.commit();
    for (queue, burst) in (0..).zip(&bursts) {
        assert_eq!(burst.classify(&mut key(1, 1), 100).ending, Ending::Queue(queue));
    }
    assert_eq!(ending(&reader, key(1, 1)), Ending::Drop);
    assert_eq!(writer.count(again), Ok(Count { frames: 1, bytes: 60 }));
    assert_eq!(writer.count(id), Err(Error::NoRule));
}

#[test]
fn a_count_goes_on_over_updates() {
    let mut writer = Writer::new(Limits::for_rules(100)).unwrap();
    let id = writer.insert(&rule(0, tuple(0, 0), &[Action::Count, Action::Queue(0)])).unwrap();
    writer.commit();
    let reader = writer.reader();
    let mut held = Vec::new();
    for n in 1..10_u32 {
        held.push(reader.burst(0));
        writer.update_match(id, &tuple(n, 0)).unwrap();
        writer.update_actions(id, &[Action::Count, Action::Queue(n as u16)]).unwrap();
        writer.commit();
        for (before, burst) in (0..).zip(&held) {
            assert_eq!(burst.classify(&mut key(before, 0), 10).ending, Ending::Queue(before as u16));
        }
        assert_eq!(ending(&reader, key(n, 0)), Ending::Queue(n as u16));
        assert_eq!(ending(&reader, key(n - 1, 0)), Ending::Missed(0));
        let (held, all) = (u64::from(n * (n + 1) / 2), u64::from(n));
        assert_eq!(writer.count(id), Ok(Count { frames: held + all, bytes: 10 * held + 60 * all }));
    }
    drop(held);
    // Units of old versions end one after the other; what they counted stays.
    let all = writer.count(id);
    for _ in 0..if cfg!(miri) { 20 } else { 100 } {
        let other = patiently(|| writer.insert(&rule(1, Match::any(), &[Action::Drop])));
        writer.commit();
        patiently(|| writer.remove(other));
        assert_eq!(writer.count(id), all);
    }
}

#[test]
fn the_longest_prefix_wins() {
    let mut writer = Writer::new(Limits::for_rules(100)).unwrap();
    let address = |n: u32| IpAddr::from(n.to_be_bytes());
    let step = if cfg!(miri) { 16 } else { 1 };
    for bits in (0..=32).step_by(step) {
        let actions = [Action::Queue(bits)];
        let route = lpm::route(address(0xffff_ffff), bits.into()).unwrap();
        // At one priority, and by the length as a priority.
        writer.insert(&rule(200, route, &actions)).unwrap();
        writer.insert(&rule(lpm::priority(0, bits.into()), route, &actions)).unwrap();
        writer.commit();
        let reader = writer.reader();
        for ones in (0..=32_u16).step_by(step) {
            let dst = (u64::MAX << (32 - ones)) as u32;
            assert_eq!(ending(&reader, key(0, dst)), Ending::Queue(ones.min(bits)));
        }
    }
}

#[test]
fn a_chain_of_jumps_ends() {
    let limits = Limits { groups: 32, ..Limits::for_rules(100) };
    let mut writer = Writer::new(limits).unwrap();
    for group in 0..CHAIN as u16 {
        let actions = [Action::Tag { index: 0, value: group.into(), mask: 0xff }, Action::Jump(group + 1)];
        writer.insert(&Rule { group, ..rule(0, Match::any(), &actions) }).unwrap();
    }
    writer.commit();
    let reader = writer.reader();
    let mut long = key(0, 0);
    let burst = reader.burst(0);
    let verdict = burst.classify(&mut long, 60);
    assert_eq!((verdict.ending, verdict.groups as usize), (Ending::TooLong, CHAIN));
    assert_eq!(long.get(Layer::Outer, Field::Tag0), Some(CHAIN as u128 - 1));
    let matching = Match::any().field(Layer::Outer, Field::Tag0, 3).unwrap();
    writer.insert(&Rule { group: 4, ..rule(0, matching, &[Action::Queue(9)]) }).unwrap();
    writer.commit();
    assert_eq!(ending(&reader, key(0, 0)), Ending::Queue(9), "a tag of one group is matched in the next");
    let actions = [Action::Jump(32)];
    let error = writer.insert(&rule(1, Match::any(), &actions));
    assert_eq!(error, Err(Error::Group { group: 32, last: 31 }));
}

#[test]
fn rules_without_frames_get_old() {
    let mut writer = Writer::new(Limits::for_rules(100)).unwrap();
    writer.set_tick(u32::MAX - 5);
    let mut add = |n, age| writer.insert(&rule(0, tuple(n, 0), &[Action::Age(age), Action::Drop])).unwrap();
    let [short, long, used] = [(1, 10), (2, 20), (3, 10)].map(|(n, age)| add(n, age));
    writer.insert(&rule(0, tuple(4, 0), &[Action::Drop])).unwrap();
    writer.commit();
    writer.set_tick(4);
    let reader = writer.reader();
    reader.burst(4).classify(&mut key(3, 0), 60);
    assert_eq!(writer.aged(10), [short]);
    // The tick goes with a new match.
    writer.update_match(used, &tuple(5, 0)).unwrap();
    writer.commit();
    writer.set_tick(13);
    assert_eq!(writer.aged(10), [short]);
    writer.set_tick(14);
    let (first, second) = (writer.aged(2), writer.aged(2));
    assert_eq!([first, second], [vec![short, long], vec![used]]);
}

#[test]
fn an_uncommitted_batch_is_not_seen() {
    let mut writer = Writer::new(Limits::for_rules(100)).unwrap();
    let reader = writer.reader();
    let id = writer.insert(&rule(0, tuple(1, 1), &[Action::Drop])).unwrap();
    assert_eq!(ending(&reader, key(1, 1)), Ending::Missed(0));
    assert_eq!((writer.commit(), writer.commit()), (1, 1), "a batch of nothing has no version");
    assert_eq!(ending(&reader, key(1, 1)), Ending::Drop);
    writer.remove(id).unwrap();
    assert_eq!(writer.rule(id), None);
    drop(writer);
    assert_eq!(ending(&reader, key(1, 1)), Ending::Drop, "readers outlive the writer");
}

#[test]
fn the_last_priority_is_one_too() {
    let mut tables = Writer::new(Limits::for_rules(10)).unwrap();
    let actions = [Action::Queue(3)];
    let rule = Rule { group: 0, priority: u32::MAX, matching: Match::any(), actions: (&actions[..]).into() };
    tables.insert(&rule).unwrap();
    tables.commit();
    let reader = tables.reader();
    assert_eq!(reader.burst(0).classify(&mut Key::default(), 60).ending, Ending::Queue(3));
}
