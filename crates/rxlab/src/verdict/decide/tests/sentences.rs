//! What is said of a verdict.

use super::*;

fn loses(label: &str, report: &Report, no_drop: f64) -> Pair {
    searched(pair(label, report), no_drop, Some(report.clone()))
}

fn said(pairs: &[Pair], parts: &[&str], never: &[&str]) {
    let headline = judged_as(pairs, Order::Strict, true).headline;
    for part in parts {
        assert!(headline.contains(part), "`{part}` is not in: {headline}");
    }
    for part in never {
        assert!(!headline.contains(part), "`{part}` is in: {headline}");
    }
}

#[test]
fn one_alone_is_told_with_what_the_next_one_loses() {
    let pairs = [
        loses("privring", &overloaded(1600), 120.0),
        searched(pair("rxbisect", &calm(197.0, 80.0)), 197.0, None),
    ];
    said(
        &pairs,
        &[
            "rxbisect alone carries 197 Gbps without loss; privring, the next, loses 4.76% and carries 120.",
            "Of what can be bought privring carries most, 120 Gbps.",
        ],
        &["None", "cores"],
    );
}

#[test]
fn a_lead_in_latency_is_told_with_both_values() {
    let mut fast = calm(197.0, 80.0);
    fast.latency_us.p99 = 20.0;
    let pairs = [pair("privring", &calm(197.0, 80.0)), pair("shring", &fast)];
    let told = "privring and shring carry 197 Gbps without loss; shring wins by p99 latency: 20.0 against 40.0 us of privring, 50.0% less.";
    said(&pairs, &[told, "Of what can be bought privring carries the load."], &[]);
    // What one can buy has won: nothing to add.
    said(&[pair("privring", &fast), pair("shring", &calm(197.0, 80.0))], &["privring wins"], &["bought"]);
}

#[test]
fn who_cannot_be_told_apart_is_told_so() {
    let pairs = [pair("privring", &calm(197.0, 80.0)), unsure(pair("shring", &calm(197.0, 80.0)))];
    let told = "No winner: privring carries 197 Gbps without loss (shring in some placements or arrivals only), and nothing tells the best apart by more than noise.";
    said(&pairs, &[told], &["wins"]);
    said(&[pair("privring", &calm(197.0, 80.0))], &["privring carries 197 Gbps without loss."], &["winner"]);
    said(
        &[pair("shring", &calm(197.0, 80.0)), pair("rxbisect", &calm(197.0, 80.0))],
        &["None of these can be bought."],
        &[],
    );
}

#[test]
fn an_overload_is_told_with_the_cores_that_it_takes() {
    let pairs = [loses("privring", &overloaded(1600), 100.0), loses("shring", &overloaded(1600), 150.0)];
    said(
        &pairs,
        &[
            "None carries 197 Gbps without loss; shring carries most without loss: 150 against 100 Gbps of privring, 50.0% more.",
            // 16 * 197 / 150 = 21.01.
            "16 cores carry 150 Gbps with shring; for 197 you need about 22, or a lower rate.",
            "Of what can be bought privring carries most, 100 Gbps.",
        ],
        &[],
    );
    let larger = Machine { cores: 24, ..MACHINE };
    let v = decide(&larger, &pairs, Order::Strict, 1.0, |_, _| Ok(true)).unwrap().unwrap();
    assert!(v.headline.contains("for 197 it takes more of them, or a lower rate."), "{}", v.headline);
    // Not searched: 28.8 M frames at 1000 cycles of 2 GHz.
    let unknown = [pair("privring", &overloaded(3200)), pair("shring", &overloaded(3200))];
    said(
        &unknown,
        &["No winner: none carries 197 Gbps without loss; they lose alike.", "needs about 18 cores"],
        &[],
    );
}

#[test]
fn more_cores_are_not_advised_where_few_have_the_load() {
    let mut hot = dropping(calm(150.0, 40.0), RING_FULL, 1000, 3..4);
    hot.per_core[3].mpps = 2.0;
    said(
        &[loses("privring", &hot, 60.0)],
        &[
            "privring does not carry 197 Gbps without loss, but 60.0 Gbps.",
            "More cores do not help privring while its load lies on few of them.",
        ],
        &["you need"],
    );
}

#[test]
fn a_rate_that_other_arrivals_do_not_confirm_is_told() {
    let pairs = [loses("privring", &overloaded(1600), 100.0), loses("shring", &overloaded(1600), 150.0)];
    let v = judged_as(&pairs, Order::Strict, false);
    let told = "No winner: none carries 197 Gbps without loss; shring carries most without loss, 150 Gbps, but under these arrivals only.";
    assert!(v.headline.starts_with(told), "{}", v.headline);
    let level = [loses("privring", &overloaded(1600), 149.0), loses("shring", &overloaded(1600), 150.0)];
    said(&level, &["what they carry without loss, 150 Gbps, does not differ by more than noise"], &["only."]);
}

#[test]
fn a_smaller_loss_is_told_in_points() {
    let pairs = [loses("privring", &overloaded(6400), 149.0), loses("shring", &overloaded(3200), 150.0)];
    // 6400 of 38 400 and 3200 of 35 200.
    let told = "of those that carry most, shring loses least of it: 9.09 against 16.7 % of privring, 7.58 points less.";
    said(&pairs, &["None carries 197 Gbps without loss", told], &["e-", "points more"]);
}

#[test]
fn all_that_reorders_is_told() {
    let pairs = [pair("corec", &reordering(calm(197.0, 80.0), 2.0))];
    said(
        &pairs,
        &["No winner at 197 Gbps: all that was compared reorders frames of a flow.", "--order any counts it"],
        &["without loss"],
    );
}
