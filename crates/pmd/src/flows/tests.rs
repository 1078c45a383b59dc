//! Rules as the driver writes them down, and what becomes of frames.

mod shared;
mod threads;

use nic::{Checks, Class, Incoming, META, Pipeline};
use rings::Outcome;

use super::*;
use crate::rss::{KEY, RETA, RssConf};
use flow::{Field, Header, Layer};

const QUEUES: u16 = 4;

/// UDP over IPv4 from `source` to port 9, with checksums of 0.
fn frame(source: u8) -> Vec<u8> {
    let mut f = vec![2; 12];
    f.extend([8, 0, 0x45, 0, 0, 46, 0, 1, 0, 0, 64, 17, 0, 0, 10, 0, 0, source, 10, 0, 0, 2]);
    f.extend([0, 7, 0, 9, 0, 26, 0, 0]);
    f.resize(60, 3);
    f
}

fn has(header: Header) -> FlowTerm {
    let kind = FlowTermKind::Has as u8;
    FlowTerm { kind, layer: Layer::Outer as u8, what: header as u8, value: [0; 16], mask: [0; 16] }
}

fn is(field: Field, value: u128) -> FlowTerm {
    let [value, mask] = [value, field.largest()].map(u128::to_be_bytes);
    FlowTerm { kind: FlowTermKind::Field as u8, layer: Layer::Outer as u8, what: field as u8, value, mask }
}

fn act(act: FlowAct, a: u32) -> FlowAction {
    FlowAction { act: act as u8, a, b: u32::MAX, c: 0, value: [0; 16] }
}

/// A rule on its way.
struct Draft<'a> {
    group: u32,
    terms: &'a [FlowTerm],
    actions: &'a [FlowAction],
    rss: Option<RssConf>,
}

impl<'a> Draft<'a> {
    fn of(terms: &'a [FlowTerm], actions: &'a [FlowAction]) -> Draft<'a> {
        Draft { group: 0, terms, actions, rss: None }
    }

    fn with<R>(
        &self,
        flows: &Flows,
        f: impl FnOnce(&mut Rules, &Wanted<'_>) -> Result<R, Fault>,
    ) -> Result<R, Fault> {
        let rule = FlowRule {
            group: self.group,
            priority: 1,
            terms: self.terms.as_ptr(),
            nb_terms: self.terms.len() as u32,
            actions: self.actions.as_ptr(),
            nb_actions: self.actions.len() as u32,
            rss: self.rss.as_ref().map_or(core::ptr::null(), core::ptr::from_ref),
            vxlan: core::ptr::null(),
            age_context: 0,
        };
        // SAFETY: all of it stays until the end of the call.
        let wanted = unsafe { Wanted::of(&rule) };
        flows.with(|rules| f(rules, &wanted))
    }

    fn add(&self, flows: &Flows) -> Result<u64, Fault> {
        self.with(flows, |rules, wanted| {
            let name = rules.insert(wanted)?;
            rules.commit();
            Ok(name)
        })
    }
}

fn rule(flows: &Flows, terms: &[FlowTerm], actions: &[FlowAction]) -> Result<u64, Fault> {
    Draft::of(terms, actions).add(flows)
}

fn remove(flows: &Flows, name: u64) -> Result<(), Fault> {
    flows.with(|rules| {
        rules.remove(name)?;
        rules.commit();
        Ok(())
    })
}

/// What becomes of a frame that a port with these rules receives.
fn meets(flows: &Flows, frame: &[u8]) -> Result<Class, Outcome> {
    let pipeline = Pipeline::new(Rss::spread(QUEUES), Checks { max_frame: 1518, checksums: false });
    let f = Incoming::whole(frame, frame.len() as u32);
    match flows.begin(&pipeline.choice, QUEUES) {
        Some(tables) => pipeline.admit_by(&tables, &f),
        None => pipeline.admit(&f),
    }
}

/// A context that leads all to one queue.
fn to_queue(queue: u16) -> RssConf {
    let mut key = [0; KEY];
    key[..40].copy_from_slice(&packet::DEFAULT_KEY);
    RssConf { key, key_len: 40, hash: 15, reta_len: RETA as u32, reta: [queue; RETA] }
}

#[test]
fn rules_come_before_steering_and_go_again() {
    let flows = Flows::new(64);
    let steered = meets(&flows, &frame(1));
    assert!(!flows.active() && flows.tables.get().is_none(), "no rules, no tables");
    let udp = [has(Header::Udp)];
    let name = rule(&flows, &udp, &[act(FlowAct::Count, 0), act(FlowAct::Mark, 0), act(FlowAct::Queue, 3)]);
    let name = name.expect("a rule");
    let class = meets(&flows, &frame(1)).expect("a queue");
    assert_eq!((class.queue, class.mark, class.rss), (3, 1, steered.map_or(0, |c| c.rss)));
    assert_eq!(rule(&flows, &udp, &[act(FlowAct::Drop, 0)]).map_err(|e| e.code), Err(libc::EEXIST));
    let count = |reset| flows.with(|rules| rules.count(name, reset)).expect("a count");
    assert_eq!((count(false).frames, count(true).bytes, count(false).frames), (1, 60, 0));
    remove(&flows, name).expect("the rule");
    assert!(!flows.active());
    assert_eq!(meets(&flows, &frame(1)), steered);
    assert_eq!(remove(&flows, name).map_err(|e| (e.part, e.code)), Err((FlowPart::Handle, libc::ENOENT)));
}

#[test]
fn drops_have_names_and_isolation_is_one() {
    let flows = Flows::new(64);
    rule(&flows, &[is(Field::Ipv4Src, 0x0a00_0001)], &[act(FlowAct::Drop, 0)]).expect("a rule");
    rule(&flows, &[is(Field::Ipv4Src, 0x0a00_0002)], &[act(FlowAct::Queue, 99)]).expect("a rule");
    assert_eq!(meets(&flows, &frame(1)), Err(Outcome::FlowDrop));
    assert_eq!(meets(&flows, &frame(2)), Err(Outcome::QueueStopped), "the port has fewer queues now");
    assert!(meets(&flows, &frame(3)).is_ok());
    flows.isolate(true).expect("tables");
    assert_eq!(meets(&flows, &frame(3)), Err(Outcome::FlowMiss));
    flows.flush().expect("nobody reads");
    assert_eq!(meets(&flows, &frame(1)), Err(Outcome::FlowMiss));
    flows.isolate(false).expect("tables");
    assert!(meets(&flows, &frame(1)).is_ok());
}

#[test]
fn a_completion_tells_of_a_flag_a_mark_or_metadata() {
    let flows = Flows::new(64);
    let meta = act(FlowAct::Meta, 77);
    for (source, actions) in [
        (1, [act(FlowAct::Flag, 0), meta, act(FlowAct::Queue, 0)]),
        (2, [act(FlowAct::Mark, LAST_MARK), meta, act(FlowAct::Queue, 0)]),
        (3, [act(FlowAct::Count, 0), meta, act(FlowAct::Queue, 0)]),
    ] {
        rule(&flows, &[is(Field::Ipv4Src, 0x0a00_0000 + source)], &actions).expect("a rule");
    }
    let told = |source| meets(&flows, &frame(source)).map(|c| (c.mark, c.kind & META));
    assert_eq!([1, 2, 3, 4].map(told), [Ok((FLAG, 0)), Ok((LAST_MARK + 1, 0)), Ok((77, META)), Ok((0, 0))]);
}

#[test]
fn rules_share_rss_contexts_and_give_them_back() {
    let flows = Flows::new(4096);
    let draft = |group, source, queue| {
        let terms = [is(Field::Ipv4Src, source)];
        let draft =
            Draft { group, terms: &terms, actions: &[act(FlowAct::Rss, 0)], rss: Some(to_queue(queue)) };
        draft.add(&flows)
    };
    // Far more rules than contexts, one after the other.
    for i in 0..3 * u32::from(nic::CONTEXTS) {
        let name = draft(0, 0x0a00_0001, (i % 4) as u16).expect("a context is free again");
        assert_eq!(meets(&flows, &frame(1)).map(|c| c.queue), Ok((i % 4) as u16));
        remove(&flows, name).expect("the rule");
    }
    for source in 0..2048 {
        draft(1, source, 2).expect("they share one");
    }
    assert_eq!(flows.len(), 2048);
}

#[test]
fn what_is_wrong_is_named() {
    let flows = Flows::new(2);
    let part = |draft: Draft<'_>| draft.add(&flows).map(drop).map_err(|e| (e.part, e.index, e.code));
    let drop_it = [act(FlowAct::Drop, 0)];
    let rivals = [has(Header::Ethernet), has(Header::Ipv4), has(Header::Ipv6)];
    assert_eq!(part(Draft::of(&rivals, &drop_it)), Err((FlowPart::Term, 2, libc::EINVAL)));
    let unknown = [FlowTerm { what: 200, ..has(Header::Udp) }];
    assert_eq!(part(Draft::of(&unknown, &drop_it)), Err((FlowPart::Term, 0, libc::EINVAL)));
    assert_eq!(part(Draft::of(&[], &[act(FlowAct::Count, 0)])), Err((FlowPart::Actions, 1, libc::EINVAL)));
    let two = [act(FlowAct::Drop, 0), act(FlowAct::Queue, 1)];
    assert_eq!(part(Draft::of(&[], &two)), Err((FlowPart::Action, 1, libc::EINVAL)));
    let mark = [act(FlowAct::Drop, 0), act(FlowAct::Mark, LAST_MARK + 1)];
    assert_eq!(part(Draft::of(&[], &mark)), Err((FlowPart::Action, 1, libc::EINVAL)));
    assert_eq!(part(Draft::of(&[], &[act(FlowAct::Rss, 0)])), Err((FlowPart::Action, 0, libc::EINVAL)));
    assert_eq!(
        part(Draft::of(&[], &[FlowAction { act: 99, ..drop_it[0] }])),
        Err((FlowPart::Action, 0, libc::EINVAL))
    );
    for group in [64, 70_000] {
        assert_eq!(
            part(Draft { group, ..Draft::of(&[], &drop_it) }),
            Err((FlowPart::Group, 0, libc::EINVAL))
        );
    }
    for source in [1, 2] {
        let terms = [is(Field::Ipv4Src, source)];
        let checked = Draft::of(&terms, &drop_it).with(&flows, Rules::check);
        checked.expect("a check adds nothing");
        assert_eq!(part(Draft::of(&terms, &drop_it)), Ok(()));
    }
    assert_eq!(part(Draft::of(&[], &drop_it)), Err((FlowPart::Room, 0, libc::ENOSPC)));
}

#[test]
fn the_batch_is_seen_at_the_commit() {
    let flows = Flows::new(16);
    let terms = [has(Header::Udp)];
    let actions = [act(FlowAct::Drop, 0)];
    Draft::of(&terms, &actions).with(&flows, Rules::insert).expect("a rule");
    assert!(meets(&flows, &frame(1)).is_ok());
    flows
        .with(|rules| {
            rules.commit();
            Ok(())
        })
        .expect("tables");
    assert_eq!(meets(&flows, &frame(1)), Err(Outcome::FlowDrop));
}

/// Threads add and remove while another looks frames up: each frame meets one of two rules, or none.
#[test]
fn threads_change_rules_beside_each_other() {
    let flows = Flows::new(1024);
    let done = AtomicBool::new(false);
    std::thread::scope(|s| {
        let reader = s.spawn(|| {
            let mut met = 0;
            while !done.load(Ordering::Relaxed) {
                let class = meets(&flows, &frame(1)).expect("no rule drops");
                met += u32::from(class.mark != 0);
                assert!(class.mark == 0 || class.mark == 6 && class.queue == 2, "{class:?}");
            }
            met
        });
        let writers: Vec<_> = (0..3_u128)
            .map(|i| {
                let flows = &flows;
                s.spawn(move || {
                    for n in 0..2000_u128 {
                        let source = if i == 0 { 0x0a00_0001 } else { i << 16 | n };
                        let terms = [is(Field::Ipv4Src, source)];
                        let actions = [act(FlowAct::Mark, 5), act(FlowAct::Queue, 2)];
                        let name = rule(flows, &terms, &actions).expect("a rule");
                        remove(flows, name).expect("the rule");
                    }
                })
            })
            .collect();
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
        reader.join().expect("no panic");
    });
    assert_eq!(flows.len(), 0);
}
