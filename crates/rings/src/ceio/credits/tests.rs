//! Any history: credits are conserved, debts are paid, nobody starves.

use proptest::prelude::*;

use super::*;

#[derive(Clone, Copy, Debug)]
enum Step {
    Establish(usize, usize),
    Retire(usize),
    Spend(usize, u32),
    Release(usize, u32),
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => (0..8usize, 1..4usize).prop_map(|(flow, count)| Step::Establish(flow, count)),
        1 => (0..8usize).prop_map(Step::Retire),
        4 => (0..8usize, 1..40u32).prop_map(|(flow, n)| Step::Spend(flow, n)),
        4 => (0..8usize, 1..40u32).prop_map(|(flow, n)| Step::Release(flow, n)),
    ]
}

fn apply(credits: &mut Credits, step: Step) {
    let flows = credits.flows.len() - 1;
    match step {
        Step::Establish(first, count) => {
            let new: Vec<_> = (0..count.min(flows)).map(|k| (first + k) % flows).collect();
            credits.establish(&new);
        }
        Step::Retire(flow) => credits.retire(flow % flows),
        Step::Spend(flow, n) => drop((0..n).filter(|_| credits.spend(flow % flows)).count()),
        Step::Release(flow, n) => credits.release(flow % flows, n),
    }
}

/// The books: nothing appears or vanishes, each debt is backed by a used credit.
fn consistent(credits: &Credits) -> Result<(), TestCaseError> {
    let sum = |of: fn(&Flow) -> u32| credits.flows.iter().map(of).sum::<u32>();
    prop_assert_eq!(sum(|f| f.free) + sum(|f| f.used), credits.total, "conserved");
    prop_assert_eq!(sum(Flow::right), credits.total);
    for (at, flow) in credits.flows.iter().enumerate() {
        let of = |mine: fn(&(usize, usize)) -> usize| {
            credits.debts.iter().filter(|(k, _)| mine(k) == at).map(|(_, n)| *n).sum::<u32>()
        };
        prop_assert_eq!((flow.owes, flow.due), (of(|k| k.0), of(|k| k.1)));
        prop_assert!(flow.owes <= flow.used, "a debt that no release pays");
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn credits_are_conserved_debts_are_paid_and_nobody_starves(
        total in 1..100u32,
        flows in 1..8usize,
        steps in prop::collection::vec(step(), 0..60),
    ) {
        let mut credits = Credits::new(total, flows);
        for step in steps {
            let established = matches!(step, Step::Establish(..));
            let before: Vec<_> = credits.flows.iter().map(Flow::right).collect();
            let was: Vec<_> = credits.flows.iter().map(|f| f.active).collect();
            apply(&mut credits, step);
            consistent(&credits)?;
            let fair = total / credits.active.max(1);
            for (at, flow) in credits.flows[..flows].iter().enumerate() {
                prop_assert!(!flow.active || flow.right() > 0, "flow {} starves", at);
                prop_assert!(flow.active || flow.right() == 0, "flow {} is retired", at);
                // A new one gets its share whole, and no old one is brought below it by that.
                let new = flow.active && !was[at];
                prop_assert!(!new || flow.right() == fair, "{:?} of {}", flow, fair);
                prop_assert!(!established || new || flow.right() >= before[at].min(fair));
            }
        }
        // Once all frames are read, all debts are paid, and each flow can spend what it has a right to.
        for flow in 0..flows {
            credits.release(flow, u32::MAX);
        }
        consistent(&credits)?;
        prop_assert!(credits.debts.is_empty());
        prop_assert!(credits.flows.iter().all(|flow| flow.free == flow.right()));
    }
}

#[test]
fn shares_are_those_of_the_algorithm_where_rights_are_equal() {
    let mut credits = Credits::new(3000, 4);
    assert!(credits.establish(&[0]));
    assert_eq!(credits.free(0), 3000, "the first flow has all of them");
    assert!(credits.establish(&[1]));
    assert!(credits.establish(&[2, 3]), "each old flow gives m / n * C_flow = 750");
    assert_eq!([0, 1, 2, 3].map(|flow| credits.free(flow)), [750; 4]);
}

#[test]
fn used_credits_are_owed_and_paid_as_they_are_released() {
    let mut credits = Credits::new(120, 3);
    credits.establish(&[0]);
    (0..110).for_each(|_| assert!(credits.spend(0)));
    credits.establish(&[1, 2]);
    // C_flow is 40: 80 to give, of which 10 are free, so each gets 5 at once and is owed 35.
    assert_eq!([1, 2].map(|flow| credits.free(flow)), [5, 5]);
    credits.release(0, 20);
    assert_eq!([0, 1, 2].map(|flow| credits.free(flow)), [0, 15, 15]);
    credits.release(0, 60);
    assert_eq!([0, 1, 2].map(|flow| credits.free(flow)), [10, 40, 40]);
}

#[test]
fn a_retired_flow_leaves_its_right_to_the_active_ones() {
    let mut credits = Credits::new(90, 3);
    credits.establish(&[0, 1, 2]);
    (0..30).for_each(|_| assert!(credits.spend(2)));
    credits.retire(2);
    assert_eq!([0, 1].map(|flow| credits.free(flow)), [30, 30]);
    assert!(!credits.spend(2));
    credits.release(2, 30);
    assert_eq!([0, 1, 2].map(|flow| credits.free(flow)), [45, 45, 0]);
    assert!(!Credits::new(2, 3).establish(&[0, 1, 2]), "less than one for each");
}
