//! Algorithm 1 as it is printed, with a switch for each of its slips: each breaks what it is for.

/// Which lines are read in their sense rather than by their letter.
#[derive(Clone, Copy)]
struct Reading {
    /// Lines 5 and 9: new flows alone.
    ranges: bool,
    /// Lines 11-13 and 20-22: shares of the credits that there were before the loop.
    shares: bool,
    /// Lines 21-22: `min`.
    least: bool,
    /// Lines 21-22: the creditor gets what is paid, which is what the debt falls by.
    paid: bool,
}

const LITERAL: Reading = Reading { ranges: false, shares: false, least: false, paid: false };
const SENSE: Reading = Reading { ranges: true, shares: true, least: true, paid: true };

/// Credits of each flow, old ones first, and what the first one owes to each.
struct State {
    free: Vec<f64>,
    owed: Vec<f64>,
}

/// `m` flows arrive where the old ones have `free`, of `total` credits. Lines 1-14, with flows counted from 0.
fn assign(reading: Reading, total: f64, old: &[f64], m: usize) -> State {
    let n = old.len();
    let fair = total / (n + m) as f64;
    let (mut free, mut owed) = (old.to_vec(), vec![0.0; n + m]);
    free.resize(n + m, 0.0);
    let first = if reading.ranges { n } else { n - 1 };
    for i in 0..n {
        let enough = free[i] >= m as f64 / n as f64 * fair;
        let before = free[i];
        for j in first..n + m {
            let part = match (enough, reading.shares) {
                (true, _) => fair / n as f64,
                (false, true) => before / m as f64,
                (false, false) => free[i] / m as f64,
            };
            free[j] += part;
            free[i] -= part;
            if !enough && i == 0 {
                owed[j] = fair / n as f64 - part;
            }
        }
    }
    State { free, owed }
}

/// The first flow releases `count` credits. Lines 19-23.
fn release(reading: Reading, state: &mut State, mut count: f64, m: usize) {
    let all = count;
    for j in 0..state.owed.len() {
        let share = if reading.shares { all } else { count } / m as f64;
        let limit = |owed: f64| if reading.least { owed.min(share) } else { owed.max(share) };
        if state.owed[j] > 0.0 {
            let before = limit(state.owed[j]);
            state.owed[j] -= before;
            if reading.paid {
                state.free[j] += before;
                count -= before;
            } else {
                count -= limit(state.owed[j]);
            }
        }
    }
    state.free[0] += count;
}

#[test]
fn the_literal_text_breaks_conservation() {
    // One flow of 12 credits, 10 of them used; another arrives, and then 4 frames are read.
    let after = |reading| {
        let mut state = assign(reading, 12.0, &[2.0], 1);
        release(reading, &mut state, 4.0, 1);
        state.free
    };
    assert_eq!(after(SENSE), [0.0, 6.0], "12 but for the 6 that are still used");
    assert_eq!(after(LITERAL).iter().sum::<f64>(), 2.0, "4 credits have vanished");
    assert_eq!(
        after(Reading { paid: false, ..SENSE }),
        [4.0, 2.0],
        "the debt is gone, its creditor has nothing"
    );
}

#[test]
fn each_slip_alone_breaks_something() {
    // Two flows of 6 credits, 4 of the first one's used, and a third one.
    let ranges = assign(Reading { ranges: false, ..SENSE }, 12.0, &[2.0, 6.0], 1);
    assert!(ranges.free[0] < 0.0, "gives m + 1 times: {:?}", ranges.free);
    let sense = assign(SENSE, 12.0, &[2.0, 6.0], 1);
    assert_eq!(sense.free, [0.0, 4.0, 4.0]);

    // A flow with 8 of 30 credits left, and two new ones that are due 10 each.
    let shares = assign(Reading { shares: false, ..SENSE }, 30.0, &[8.0], 2);
    assert_eq!(shares.free, [2.0, 4.0, 2.0], "the second gets less, and a rest is owed and kept");
    let mut sense = assign(SENSE, 30.0, &[8.0], 2);
    assert_eq!((sense.free.as_slice(), &sense.owed[1..]), (&[0.0, 4.0, 4.0][..], &[6.0, 6.0][..]));

    // By `max`, a payment that is larger than the debt brings it below zero; 22 are paid where 12 are owed.
    let mut least = assign(SENSE, 30.0, &[8.0], 2);
    release(Reading { least: false, ..SENSE }, &mut least, 22.0, 2);
    assert!(least.owed[1] < 0.0);
    release(SENSE, &mut sense, 22.0, 2);
    assert_eq!((sense.free.as_slice(), &sense.owed[1..]), (&[10.0; 3][..], &[0.0; 2][..]));
}
