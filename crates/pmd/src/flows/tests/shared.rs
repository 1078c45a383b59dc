//! Actions that rules share.

use super::*;

/// An action that rules share, made of one of its own.
fn share(flows: &Flows, action: FlowAction, rss: Option<RssConf>) -> Result<u64, Fault> {
    let actions = [action];
    Draft { rss, ..Draft::of(&[], &actions) }.with(flows, Rules::share)
}

/// It, in a rule.
fn shared(name: u64) -> FlowAction {
    FlowAction { b: (name >> 32) as u32, ..act(FlowAct::Shared, name as u32) }
}

fn count(flows: &Flows, name: u64, reset: bool) -> (u64, u64) {
    let count = flows.with(|rules| rules.shared_count(name, reset)).expect("a count");
    (count.frames, count.bytes)
}

#[test]
fn a_count_is_that_of_all_its_rules_and_of_those_that_are_gone() {
    let flows = Flows::new(64);
    let name = share(&flows, act(FlowAct::Count, 0), None).expect("a count");
    let rules = [1, 2].map(|source| {
        let terms = [is(Field::Ipv4Src, 0x0a00_0000 + source)];
        rule(&flows, &terms, &[shared(name), act(FlowAct::Queue, 1)]).expect("a rule")
    });
    for source in [1, 2, 2, 3] {
        let _ = meets(&flows, &frame(source));
    }
    assert_eq!(count(&flows, name, false), (3, 180));
    remove(&flows, rules[1]).expect("the rule");
    assert_eq!(count(&flows, name, true), (3, 180));
    let _ = meets(&flows, &frame(1));
    assert_eq!(count(&flows, name, false), (1, 60));
    let unshare = || flows.with(|rules| rules.unshare(name)).map_err(|e| (e.part, e.code));
    assert_eq!(unshare(), Err((FlowPart::Handle, libc::EBUSY)));
    flows.flush().expect("nobody reads");
    assert_eq!(count(&flows, name, false), (1, 60));
    assert_eq!((unshare(), unshare()), (Ok(()), Err((FlowPart::Handle, libc::ENOENT))));
}

#[test]
fn all_rules_of_an_rss_follow_it() {
    let flows = Flows::new(64);
    // Far more than there are contexts, one after the other.
    for _ in 0..3 * nic::CONTEXTS {
        let name = share(&flows, act(FlowAct::Rss, 0), Some(to_queue(0))).expect("a context");
        flows.with(|rules| rules.unshare(name)).expect("no rule has it");
    }
    let name = share(&flows, act(FlowAct::Rss, 0), Some(to_queue(1))).expect("a context");
    for source in [1, 2] {
        let terms = [is(Field::Ipv4Src, 0x0a00_0000 + source)];
        rule(&flows, &terms, &[shared(name)]).expect("a rule");
    }
    let queues = || [1, 2].map(|source| meets(&flows, &frame(source)).map(|class| class.queue));
    assert_eq!(queues(), [Ok(1), Ok(1)]);
    let actions = [act(FlowAct::Rss, 0)];
    let other = Draft { rss: Some(to_queue(3)), ..Draft::of(&[], &actions) };
    other.with(&flows, |rules, wanted| rules.update_rss(name, wanted)).expect("another queue");
    assert_eq!(queues(), [Ok(3), Ok(3)]);
}

#[test]
fn what_is_wrong_with_a_shared_action_is_named() {
    let flows = Flows::new(64);
    let told = |done: Result<u64, Fault>| done.map(drop).map_err(|e| (e.part, e.index, e.code));
    assert_eq!(told(share(&flows, act(FlowAct::Drop, 0), None)), Err((FlowPart::Action, 0, libc::ENOTSUP)));
    let [drop_it, none] = [act(FlowAct::Drop, 0), shared(77)];
    assert_eq!(told(rule(&flows, &[], &[drop_it, none])), Err((FlowPart::Action, 1, libc::ENOENT)));
    let [count, age] =
        [act(FlowAct::Count, 0), act(FlowAct::Age, 9)].map(|action| share(&flows, action, None));
    let [count, age] = [count.expect("a count"), age.expect("an age")];
    let twice = [shared(count), act(FlowAct::Count, 0), drop_it];
    assert_eq!(told(rule(&flows, &[], &twice)), Err((FlowPart::Action, 1, libc::EINVAL)));
    let another = flows.with(|rules| rules.shared_count(age, false)).map_err(|e| (e.part, e.code));
    assert_eq!(another, Err((FlowPart::Handle, libc::EINVAL)));
    // A rule that was refused has left nothing behind.
    flows.with(|rules| rules.unshare(count)).expect("no rule has it");
    let name = rule(&flows, &[], &[shared(age), drop_it]).expect("a rule");
    assert!(flows.ages() && flows.with(|rules| rules.age(name)).is_ok_and(|age| !age.old));
    flows.with(|rules| rules.update_age(age, Some(0), true)).expect("an age");
    assert!(!flows.ages(), "it waits for nothing");
}
