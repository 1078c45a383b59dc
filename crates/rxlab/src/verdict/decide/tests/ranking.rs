//! Who wins, stage by stage.

use super::*;

/// Carries everything, with this p99, us.
fn p99(label: &str, us: f64) -> Pair {
    let mut r = calm(197.0, 80.0);
    r.latency_us.p99 = us;
    pair(label, &r)
}

/// Carries everything, with this DRAM traffic, Gbps, and as many buffers.
fn costs(label: &str, dram: f64, buffers: f64) -> Pair {
    let mut r = calm(197.0, 80.0);
    (r.dram_gbps, r.circulating_buffers) = (Dram { read: dram, write: 0.0 }, buffers);
    pair(label, &r)
}

/// Loses frames at the load asked for, and carries `no_drop` Gbps.
fn loses(label: &str, lost: u64, no_drop: f64) -> Pair {
    searched(pair(label, &overloaded(lost)), no_drop, Some(overloaded(lost)))
}

fn margin_of(v: &Verdict) -> (f64, f64, &str, Option<f64>) {
    let m = v.margin.as_ref().unwrap();
    (m.value, m.next_value, m.next.as_str(), m.pct)
}

#[test]
fn who_alone_carries_the_load_wins() {
    // Its latency is worse, and it costs more: that comes later.
    let mut slow = calm(197.0, 80.0);
    (slow.latency_us.p99, slow.circulating_buffers) = (4000.0, 9000.0);
    let v =
        judged(&[pair("privring", &overloaded(1600)), pair("shring", &overloaded(3200)), pair("x", &slow)]);
    assert_eq!(winner(&v), (Some("x"), "loss"));
    let (value, next_value, next, pct) = margin_of(&v);
    assert_eq!((value, next, pct), (0.0, "privring", None), "a share is not divided by a share");
    assert!((next_value - 100.0 * 1600.0 / 33_600.0).abs() < 1e-9, "{next_value}");
    let stand: Vec<Carries> = v.carries.iter().map(|s| s.carries).collect();
    assert_eq!(stand, [Carries::No, Carries::No, Carries::Yes]);
}

/// Its runs lose nothing, but a trial with the server's pauses does.
#[test]
fn a_failed_trial_at_the_load_is_a_loss() {
    let busy = searched(p99("privring", 10.0), 120.0, Some(overloaded(16)));
    let calm = searched(p99("shring", 40.0), 197.0, None);
    let v = judged(&[busy, calm]);
    assert_eq!(winner(&v), (Some("shring"), "loss"));
    let (value, next_value, _, pct) = margin_of(&v);
    assert_eq!((value, next_value), (197.0, 120.0), "what they carry tells them apart, the runs do not");
    assert!((pct.unwrap() - 100.0 * 77.0 / 120.0).abs() < 1e-9);
    assert_eq!(v.edges.len(), 1, "the trial that lost is explained");
    assert_eq!(v.edges[0].interface, "privring");
}

#[test]
fn of_several_that_carry_it_the_least_p99_wins() {
    let v = judged(&[p99("privring", 40.0), p99("shring", 20.0), p99("rxbisect", 60.0)]);
    assert_eq!(winner(&v), (Some("shring"), "latency_p99_us"));
    assert_eq!(margin_of(&v), (20.0, 40.0, "privring", Some(50.0)), "against the next, not the last");
}

#[test]
fn a_tenth_or_a_microsecond_is_no_lead() {
    for (a, b) in [(40.0, 36.5), (4.0, 3.2)] {
        assert_eq!(winner(&judged(&[p99("privring", a), p99("shring", b)])), (None, "none"), "{a} {b}");
    }
    let v = judged(&[p99("privring", 40.0), p99("shring", 35.0)]);
    assert_eq!(winner(&v), (Some("shring"), "latency_p99_us"));
}

#[test]
fn equal_latency_leaves_it_to_dram_traffic_and_then_to_buffers() {
    let v = judged(&[costs("privring", 60.0, 100.0), costs("shring", 30.0, 900.0)]);
    assert_eq!(winner(&v), (Some("shring"), "dram_gbps"));
    assert_eq!(margin_of(&v), (30.0, 60.0, "privring", Some(50.0)));
    let v = judged(&[costs("privring", 30.0, 2000.0), costs("shring", 30.0, 500.0)]);
    assert_eq!(winner(&v), (Some("shring"), "circulating_buffers"));
    // A hundredth of the channels' peak is 7.5 Gbps; 64 buffers are a burst or two.
    let v = judged(&[costs("privring", 7.0, 60.0), costs("shring", 1.0, 1.0)]);
    assert_eq!(winner(&v), (None, "none"));
    assert!(v.margin.is_none() && v.separates.is_some());
}

#[test]
fn ranges_that_touch_are_no_lead() {
    let first = || ranged(p99("privring", 40.0), "latency_p99_us", [36.0, 44.0]);
    let apart = ranged(p99("shring", 20.0), "latency_p99_us", [18.0, 35.0]);
    assert_eq!(winner(&judged(&[first(), apart])), (Some("shring"), "latency_p99_us"));
    let touching = ranged(p99("shring", 20.0), "latency_p99_us", [18.0, 36.0]);
    let v = judged(&[first(), touching]);
    assert_eq!(winner(&v), (None, "none"));
    assert!(v.separates.unwrap().contains("p99 latency: 20.0 of shring against 40.0 us of privring"));
}

#[test]
fn those_that_are_level_in_latency_compete_in_cost_and_the_others_do_not() {
    let with = |label, us, dram| {
        let mut r = calm(197.0, 80.0);
        (r.latency_us.p99, r.dram_gbps) = (us, Dram { read: dram, write: 0.0 });
        pair(label, &r)
    };
    let v = judged(&[with("privring", 40.0, 30.0), with("shring", 38.0, 10.0), with("corec", 90.0, 0.0)]);
    assert_eq!(winner(&v), (Some("shring"), "dram_gbps"));
    assert_eq!(margin_of(&v).2, "privring");
}

#[test]
fn if_none_carries_it_the_largest_rate_without_loss_wins_where_other_arrivals_confirm_it() {
    let pairs =
        [loses("privring", 1600, 100.0), loses("shring", 1600, 150.0), loses("rxbisect", 1600, 180.0)];
    let mut asked = Vec::new();
    let confirm = |a: &Pair, b: &Pair| {
        asked.push((a.full.label.clone(), b.full.label.clone()));
        Ok(true)
    };
    let v = decide(&MACHINE, &pairs, Order::Strict, 1.0, confirm).unwrap().unwrap();
    assert_eq!(winner(&v), (Some("rxbisect"), "no_drop_gbps"));
    assert_eq!(margin_of(&v), (180.0, 150.0, "shring", Some(20.0)));
    assert_eq!(asked, [("rxbisect".to_string(), "shring".to_string())]);
    let v = judged_as(&pairs, Order::Strict, false);
    assert_eq!(winner(&v), (None, "none"));
    assert_eq!((v.unconfirmed.as_deref(), v.margin.is_none()), (Some("rxbisect"), true));
    assert!(v.separates.is_none(), "those that carry it would have to be separated: there are none");
}

#[test]
fn a_confirmation_that_cannot_be_run_is_an_error() {
    let pairs = [loses("privring", 1600, 100.0), loses("shring", 1600, 150.0)];
    let failed = decide(&MACHINE, &pairs, Order::Strict, 1.0, |_, _| Err(Fail::new("no room")));
    assert_eq!(failed.unwrap_err().to_string(), "no room");
}

/// The noise of a rate is 2% of the load, or twice the search's resolution: 3.9 and 15.8 Gbps of 197.
#[test]
fn rates_nearer_than_the_search_resolves_are_level() {
    let pairs = [loses("privring", 1600, 100.0), loses("shring", 1600, 110.0)];
    let at = |resolution| {
        let v = decide(&MACHINE, &pairs, Order::Strict, resolution, |_, _| Ok(true)).unwrap().unwrap();
        v.winner
    };
    assert_eq!((at(1.0).as_deref(), at(4.0)), (Some("shring"), None));
    // Here nobody is asked at all.
    assert_eq!(winner(&judged(&[loses("privring", 1600, 100.0), loses("shring", 1600, 103.0)])).0, None);
}

#[test]
fn of_those_that_carry_as_much_the_least_loss_wins_and_no_other() {
    // 5.9% and 11.8% of the frames; who carries little does not win by losing little of what is too much.
    let pairs = [loses("privring", 4000, 150.0), loses("shring", 2000, 151.0), loses("corec", 16, 40.0)];
    let v = judged(&pairs);
    assert_eq!(winner(&v), (Some("shring"), "lost_pct"));
    let (.., next, pct) = margin_of(&v);
    assert_eq!((next, pct), ("privring", None));
    // Without a search it is all there is.
    let unknown = |label, lost| pair(label, &overloaded(lost));
    assert_eq!(winner(&judged(&[unknown("privring", 4000), unknown("shring", 2000)])).1, "lost_pct");
    // 5.9% and 6.4%: not a point apart. 5.9% and 11.1% with ranges that touch.
    assert_eq!(winner(&judged(&[unknown("privring", 2200), unknown("shring", 2000)])), (None, "none"));
    let touching = [
        ranged(unknown("privring", 4000), "lost_pct", [5.0, 15.0]),
        ranged(unknown("shring", 2000), "lost_pct", [3.0, 7.0]),
    ];
    assert_eq!(winner(&judged(&touching)), (None, "none"));
}

#[test]
fn who_carries_it_in_some_runs_only_spoils_a_lead_and_does_not_win() {
    let carries: Vec<Carries> = [p99("a", 1.0), unsure(p99("b", 1.0)), pair("c", &overloaded(16))]
        .iter()
        .map(super::carries)
        .collect();
    assert_eq!(carries, [Carries::Yes, Carries::Unsure, Carries::No]);
    // Faster, but not sure to carry it.
    assert_eq!(winner(&judged(&[p99("privring", 40.0), unsure(p99("shring", 20.0))])), (None, "none"));
    // As fast as the fastest of those that do.
    let pairs = [p99("privring", 40.0), p99("rxbisect", 20.0), unsure(p99("shring", 20.0))];
    assert_eq!(winner(&judged(&pairs)), (None, "none"));
    assert_eq!(winner(&judged(&pairs[..2])).0, Some("rxbisect"), "without it there is a lead");
    // Slower: a lead is a lead.
    let v = judged(&[p99("privring", 20.0), unsure(p99("shring", 40.0))]);
    assert_eq!(winner(&v), (Some("privring"), "latency_p99_us"));
    // It alone is not sure: nobody is known to carry it alone.
    assert_eq!(winner(&judged(&[pair("privring", &overloaded(1600)), unsure(p99("shring", 9.0))])).0, {
        Some("shring")
    });
}

#[test]
fn trials_and_starts_make_one_unsure_as_well() {
    let mut trials = p99("a", 1.0);
    trials.trials = vec![true, false];
    assert_eq!(super::carries(&trials), Carries::Unsure);
    trials.trials = vec![false, false];
    assert_eq!(super::carries(&trials), Carries::No);
    let from_empty = Pair { empty: row("a", "empty", &overloaded(16)), ..p99("a", 1.0) };
    assert_eq!(super::carries(&from_empty), Carries::Unsure);
    // A part of a window whose rates never settled.
    assert_eq!(super::carries(&ranged(p99("a", 1.0), "lost_pct", [0.0, 0.3])), Carries::Unsure);
}

#[test]
fn what_is_refused_at_any_load_is_no_loss() {
    let refusing = |label| pair(label, &dropping(calm(150.0, 80.0), Fate::App(None), 9000, 0..16));
    assert_eq!(super::carries(&refusing("a")), Carries::Yes);
    let v = judged(&[refusing("privring"), refusing("shring")]);
    assert_eq!(winner(&v), (None, "none"));
    assert!(v.headline.contains("privring and shring carry 197 Gbps without loss"), "{}", v.headline);
}

#[test]
fn strict_order_leaves_out_what_reorders_and_any_counts_it() {
    let mut fast = reordering(calm(197.0, 80.0), 5.0);
    fast.latency_us.p99 = 10.0;
    let pairs = [p99("privring", 40.0), p99("shring", 20.0), pair("corec", &fast)];
    let strict = judged_as(&pairs, Order::Strict, true);
    assert_eq!(winner(&strict), (Some("shring"), "latency_p99_us"));
    assert_eq!(strict.carries.iter().map(|s| s.left_out).collect::<Vec<_>>(), [false, false, true]);
    assert!((strict.carries[2].flow_reordered_pct - 5.0).abs() < 1e-12);
    assert!(strict.headline.contains("corec is left out: 5.00% of the frames"), "{}", strict.headline);
    let any = judged_as(&pairs, Order::Any, true);
    assert_eq!(winner(&any), (Some("corec"), "latency_p99_us"));
    assert!(any.carries.iter().all(|s| !s.left_out) && !any.headline.contains("left out"));
    // A frame in a hundred thousand is none.
    let mut few = pairs.to_vec();
    few[2] = pair("corec", &Report { reordering: reordering(calm(1.0, 1.0), 0.001).reordering, ..fast });
    assert_eq!(winner(&judged_as(&few, Order::Strict, true)).0, Some("corec"));
}

#[test]
fn order_is_judged_at_the_load_that_is_carried() {
    // At an overload all wait for one core's frames: nothing is reordered there, or much.
    let with = |at_load: f64, at_edge: f64| {
        let mut p = searched(
            pair("corec", &reordering(overloaded(1600), at_load)),
            150.0,
            Some(reordering(overloaded(16), at_load)),
        );
        p.edge.as_mut().unwrap().carried = Some(reordering(calm(150.0, 50.0), at_edge));
        [loses("privring", 1600, 100.0), p]
    };
    let calm_above = judged_as(&with(0.0, 3.0), Order::Strict, true);
    assert!(calm_above.carries[1].left_out && calm_above.winner.is_none(), "{calm_above:?}");
    let wild_above = judged_as(&with(30.0, 0.0), Order::Strict, true);
    assert!(!wild_above.carries[1].left_out);
    assert_eq!(winner(&wild_above), (Some("corec"), "no_drop_gbps"));
    // Where it carries what is asked for, that is the load.
    let carries = searched(pair("corec", &reordering(calm(197.0, 80.0), 3.0)), 197.0, None);
    assert!(judged_as(&[carries], Order::Strict, true).carries[0].left_out);
    // Nothing was searched: the run is all there is.
    let unknown = pair("corec", &reordering(overloaded(1600), 3.0));
    assert!(judged_as(&[unknown], Order::Strict, true).carries[0].left_out);
}

#[test]
fn a_margin_is_no_share_of_next_to_nothing() {
    let values = [0.0, 1e-12, 1e-6, 0.02, 0.09, 0.3, 7.0, 150.0, 1e6];
    for a in values {
        for b in values {
            let with = |label, v| searched(pair(label, &calm(197.0, 80.0)), v, None);
            let found = margin(&with("a", a), &with("b", b), "no_drop_gbps");
            assert_eq!((found.value, found.next_value), (a, b));
            assert!(found.pct.is_none_or(|pct| pct <= 1000.0), "{found:?}");
            assert_eq!(found.pct.is_none(), b < 0.1 || (a - b).abs() > 10.0 * b, "{found:?}");
        }
    }
    // As it was seen: 0.0 against 0.0 Gbps of DRAM traffic were a lead of 115%.
    let v = judged(&[costs("privring", 0.043, 1000.0), costs("shring", 0.02, 1000.0)]);
    assert_eq!(winner(&v), (None, "none"));
    // And one that carries nothing lost by 255779520000%.
    let v = judged_as(&[loses("privring", 9000, 0.0), loses("shring", 9000, 120.0)], Order::Strict, true);
    assert_eq!((winner(&v).0, margin_of(&v).3), (Some("shring"), None));
    assert!(v.headline.contains("120 against 0 Gbps of privring, 120 Gbps more"), "{}", v.headline);
}

#[test]
fn one_alone_has_nobody_to_beat_and_none_is_no_verdict() {
    let v = judged(&[p99("privring", 40.0)]);
    assert_eq!((winner(&v), v.margin.is_none(), v.separates.is_none()), ((None, "none"), true, true));
    assert!(decide(&MACHINE, &[], Order::Strict, 1.0, |_, _| Ok(true)).unwrap().is_none());
}

#[test]
fn nothing_sent_at_all_is_still_ranked() {
    let mut nothing = dropping(calm(0.0, 100.0), RING_FULL, 32_000, 0..16);
    nothing.counted.sent = 0;
    let v = judged(&[pair("privring", &nothing), pair("shring", &overloaded(3200))]);
    assert_eq!(winner(&v), (Some("shring"), "lost_pct"));
    assert!(v.margin.is_some_and(|m| m.value.is_finite() && m.next_value.is_finite()));
}
