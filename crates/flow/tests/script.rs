//! Scripts of changes and frames against the naive reference.

use flow::Limits;
use flow::testing::{Acts, Ask, Draft, Op, Shape, run};
use proptest::prelude::*;

/// Scripts; Miri takes them slowly.
const CASES: u32 = if cfg!(miri) { 8 } else { 2000 };

fn asks() -> impl Strategy<Value = Ask> {
    (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, value, bits)| Ask { kind, value, bits })
}

fn acts() -> impl Strategy<Value = Acts> {
    (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(fate, extra, value)| Acts { fate, extra, value })
}

fn shapes() -> impl Strategy<Value = Shape> {
    (any::<u8>(), any::<u8>(), any::<u8>()).prop_map(|(kind, value, more)| Shape { kind, value, more })
}

/// Most rules are in the first group, where all frames come by.
fn drafts() -> impl Strategy<Value = Draft> {
    let group = prop_oneof![3 => Just(0_u8), 1 => any::<u8>()];
    (group, any::<u8>(), asks(), acts()).prop_map(|(group, priority, ask, acts)| Draft {
        group,
        priority,
        ask,
        acts,
    })
}

fn ops() -> impl Strategy<Value = Op> {
    prop_oneof![
        6 => drafts().prop_map(Op::Insert),
        2 => any::<u8>().prop_map(Op::Remove),
        2 => (any::<u8>(), acts()).prop_map(|(which, acts)| Op::Act(which, acts)),
        1 => (any::<u8>(), asks()).prop_map(|(which, ask)| Op::Ask(which, ask)),
        4 => Just(Op::Commit),
        6 => shapes().prop_map(Op::Look),
        1 => Just(Op::Hold),
        1 => Just(Op::Release),
    ]
}

/// One mask, so that its hash table grows while rules come, go and change.
fn crowd() -> impl Strategy<Value = Op> {
    let one = (0..2_u8, any::<u8>(), acts()).prop_map(|(priority, value, acts)| {
        Op::Insert(Draft { group: 0, priority, ask: Ask { kind: 3, value, bits: 0 }, acts })
    });
    let ask = (any::<u8>(), any::<u8>());
    let look = any::<u8>().prop_map(|value| Op::Look(Shape { kind: 0, value, more: 0 }));
    prop_oneof![
        8 => one,
        1 => any::<u8>().prop_map(Op::Remove),
        1 => ask.prop_map(|(which, value)| Op::Ask(which, Ask { kind: 3, value, bits: 0 })),
        1 => (any::<u8>(), acts()).prop_map(|(which, acts)| Op::Act(which, acts)),
        2 => Just(Op::Commit),
        3 => look,
        1 => Just(Op::Hold),
        1 => Just(Op::Release),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn verdicts_are_those_of_the_reference(ops in proptest::collection::vec(ops(), 1..120)) {
        run(Limits { groups: 4, ..Limits::for_rules(200) }, &ops);
    }

    #[test]
    fn tables_that_are_too_small_stay_right(ops in proptest::collection::vec(ops(), 1..120)) {
        run(Limits { rules: 8, units: 16, records: 2, tuples: 4, groups: 4 }, &ops);
    }

    #[test]
    fn a_growing_table_stays_right(ops in proptest::collection::vec(crowd(), 100..400)) {
        run(Limits { groups: 1, ..Limits::for_rules(300) }, &ops);
    }

    #[test]
    fn fuzz_smoke(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
        flow::fuzz::program(&bytes);
    }
}
