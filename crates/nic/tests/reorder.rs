//! Reordering metrics: the examples of RFC 4737 §7, and its definitions taken literally.

use memory::Ps;
use nic::reorder::{DEGREES, Order, Reordering};
use proptest::prelude::*;

/// Judges frames that leave in this order, each at its time in ms: number, time.
fn judge(left: &[(u64, u64)]) -> Reordering {
    let mut order = Order::default();
    for (number, ms) in left {
        order.see(*number, Some(7), Ps(*ms));
    }
    assert_eq!(order.found().all, order.found().by_flow, "one flow is all there is");
    assert_eq!(order.found().unfollowed, 0);
    order.found().all
}

#[test]
fn packet_4_late() {
    let found = judge(&[
        (1, 68),
        (2, 88),
        (3, 108),
        (5, 148),
        (6, 168),
        (7, 188),
        (8, 208),
        (4, 210),
        (9, 228),
        (10, 248),
    ]);
    let expected = Reordering {
        frames: 10,
        reordered: 1,
        extents: 4,
        max_extent: 4,
        max_late: Ps(62),
        n_reordered: [1, 1, 1],
        beyond: 0,
    };
    assert_eq!(found, expected);
    assert_eq!((found.percent(), found.mean_extent(), found.n_percent()), (10.0, 4.0, 10.0));
}

#[test]
fn packets_5_and_6_late() {
    let found = judge(&[
        (1, 68),
        (2, 88),
        (3, 108),
        (4, 128),
        (7, 188),
        (5, 189),
        (6, 190),
        (8, 208),
        (9, 228),
        (10, 248),
    ]);
    let expected = Reordering {
        frames: 10,
        reordered: 2,
        extents: 1 + 2,
        max_extent: 2,
        max_late: Ps(2),
        n_reordered: [1, 0, 0],
        beyond: 0,
    };
    assert_eq!(found, expected, "6 stands behind 5, and so is not n-reordered");
}

#[test]
fn packets_4_5_and_6_late() {
    let found = judge(&[
        (1, 68),
        (2, 88),
        (3, 108),
        (7, 188),
        (8, 208),
        (9, 228),
        (10, 248),
        (4, 250),
        (5, 252),
        (6, 256),
        (11, 268),
    ]);
    let expected = Reordering {
        frames: 11,
        reordered: 3,
        extents: 4 + 5 + 6,
        max_extent: 6,
        max_late: Ps(68),
        n_reordered: [1, 1, 1],
        beyond: 0,
    };
    assert_eq!(found, expected);
}

#[test]
fn losses_and_other_flows_are_no_reordering() {
    let mut order = Order::default();
    for (number, flow) in [(0, 1), (9, 2), (4, 1), (12, 2), (5, 1)] {
        order.see(number, Some(flow), Ps::ZERO);
    }
    order.see(6, None, Ps::ZERO);
    assert_eq!((order.found().all.frames, order.found().all.reordered), (6, 3));
    assert_eq!((order.found().by_flow.frames, order.found().by_flow.reordered), (5, 0));
    order.restart();
    order.see(3, Some(1), Ps::ZERO);
    assert_eq!(
        (order.found().all.frames, order.found().by_flow.reordered),
        (1, 1),
        "counts are new, streams are not"
    );
}

#[test]
fn flows_are_forgotten_only_outside_the_window() {
    let mut order = Order::new(16);
    for number in 0..100_000 {
        order.see(number, Some(number.wrapping_mul(0x9e37_79b9_7f4a_7c15)), Ps::ZERO);
    }
    assert!(order.found().unfollowed < 10, "{} of 100000 flows of one frame", order.found().unfollowed);
    // A bucket whose flows are all in use takes no other.
    let mut order = Order::new(16);
    (0..16).for_each(|number| order.see(number, Some(number * 1024), Ps::ZERO));
    assert_eq!((order.found().unfollowed, order.found().by_flow.frames), (12, 4));
}

/// The definitions: every frame against all before it.
fn literally(left: &[(u64, u64)]) -> Reordering {
    let mut found = Reordering { frames: left.len() as u64, ..Reordering::default() };
    for (i, (number, at)) in left.iter().enumerate() {
        let Some(first) = left[..i].iter().position(|(n, _)| n > number) else { continue };
        let extent = (i - first) as u64;
        found.reordered += 1;
        found.extents += extent;
        found.max_extent = found.max_extent.max(extent);
        found.max_late = found.max_late.max(Ps(at - left[first].1));
        let degree = left[..i].iter().rev().take_while(|(n, _)| n > number).count();
        (0..DEGREES.min(degree)).for_each(|n| found.n_reordered[n] += 1);
    }
    found
}

/// Frames of some flows in an order not too far from that of their numbers, with gaps.
fn streams() -> impl Strategy<Value = Vec<(u64, u64)>> {
    let frame = (0u64..40, 0u64..4, any::<bool>());
    prop::collection::vec(frame, 0..200).prop_map(|frames| {
        let numbered = frames.iter().enumerate().filter(|(_, f)| f.2);
        let mut frames: Vec<_> = numbered.map(|(i, f)| (i as u64 + f.0, i as u64, f.1)).collect();
        frames.sort_by_key(|f| f.0); // a frame leaves up to 40 places late
        frames.into_iter().map(|f| (f.1, f.2)).collect()
    })
}

proptest! {
    #[test]
    fn agrees_with_the_definitions(frames in streams()) {
        let mut order = Order::default();
        let left: Vec<_> = frames.iter().zip(0..).map(|(f, at)| (f.0, at * 3)).collect();
        for ((number, flow), (_, at)) in frames.iter().zip(&left) {
            order.see(*number, Some(*flow), Ps(*at));
        }
        prop_assert_eq!(order.found().all, literally(&left));
        let mut sum = Reordering::default();
        for flow in 0..4 {
            let own: Vec<_> = frames.iter().zip(&left).filter(|(f, _)| f.1 == flow).map(|(_, l)| *l).collect();
            let one = literally(&own);
            sum.frames += one.frames;
            sum.reordered += one.reordered;
            sum.extents += one.extents;
            sum.max_extent = sum.max_extent.max(one.max_extent);
            sum.max_late = sum.max_late.max(one.max_late);
            (0..DEGREES).for_each(|n| sum.n_reordered[n] += one.n_reordered[n]);
        }
        prop_assert_eq!(order.found().by_flow, sum);
    }

    /// What is out of sight shortens extents, and changes nothing else.
    #[test]
    fn a_small_window_bounds_extents(frames in streams()) {
        const WINDOW: u64 = 8;
        let (mut wide, mut narrow) = (Order::default(), Order::new(WINDOW as usize));
        for (number, _) in &frames {
            let before = (wide.found().all, narrow.found().all);
            wide.see(*number, None, Ps::ZERO);
            narrow.see(*number, None, Ps::ZERO);
            let extent = |now: &Reordering, then: Reordering| now.extents - then.extents;
            let (whole, known) = (extent(&wide.found().all, before.0), extent(&narrow.found().all, before.1));
            prop_assert_eq!(known, whole.min(WINDOW));
            prop_assert_eq!(known < whole, narrow.found().all.beyond > before.1.beyond);
        }
        prop_assert_eq!(wide.found().all.reordered, narrow.found().all.reordered);
        prop_assert_eq!(wide.found().all.n_reordered, narrow.found().all.n_reordered);
    }
}
