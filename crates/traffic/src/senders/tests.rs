use super::*;

const US: u64 = 1_000_000;
const RTT: u64 = 10 * US;

/// Frames of 1500 B, for core 0, 1, 0, 1 ..
struct Frames(u16);

impl Source for Frames {
    fn next(&mut self, out: &mut Arrival) -> bool {
        self.0 ^= 1;
        out.len = 1500;
        out.head[36..38].copy_from_slice(&(PARTITION_PORT + self.0).to_be_bytes());
        true
    }
}

fn senders(network: Network, from: &[u64]) -> Senders {
    let sender =
        |(n, from): (usize, &u64)| Sender { core: n as u16 % 2, from: *from, until: u64::MAX, window: None };
    let all: Vec<Sender> = from.iter().enumerate().map(sender).collect();
    Senders::new(network, &all, Box::new(Frames(0)), true)
}

/// Runs until `until` with a server that answers each frame of a core `each` ps behind the one before, and drops what
/// waits longer than `patience`; frames of each core since `from`, and the longest wait for the port.
fn run(s: &mut Senders, [from, until]: [u64; 2], each: u64, patience: u64) -> ([u64; 2], u64) {
    let (mut got, mut free, mut longest) = ([0; 2], [0; 2], 0);
    let (mut a, mut known) = (Arrival::EMPTY, 0);
    while known < until {
        known += US;
        while s.next(known, &mut a) {
            let core = usize::from(u16::from_be_bytes([a.head[36], a.head[37]]) - PARTITION_PORT);
            let end = a.at.max(free[core]) + each;
            let stored = end - a.at <= patience;
            s.met(a.at, a.at, stored, false);
            if stored {
                free[core] = end;
                s.answered(end, a.at);
            }
            longest = longest.max(a.at.saturating_sub(known));
            got[core] += u64::from(a.at > from && stored);
        }
    }
    (got, longest)
}

#[test]
fn two_senders_share_the_port_whoever_came_first() {
    let mut s = senders(Network::new(100.0, RTT), &[0, 2000 * US]);
    let (got, _) = run(&mut s, [10_000 * US, 40_000 * US], 1000, u64::MAX);
    let sum = got[0] + got[1];
    let most = 30_000 * US / 121_920; // 1524 B at 100 Gbps
    assert!(sum > most * 97 / 100 && sum <= most + 20, "{got:?} of {most}");
    assert!(got[0].abs_diff(got[1]) < sum / 10, "{got:?}");
    assert_eq!((s.counts.lost, s.counts.dropped_by_switch, s.counts.timeouts), (0, 0, 0));
    assert!(s.counts.marked_by_switch > 0);
}

#[test]
fn the_queue_of_the_switch_stays_near_the_threshold() {
    let network = Network::new(100.0, RTT);
    let (mark, full) = (network.mark, network.queue);
    let mut s = senders(network, &[0, 0, 0, 0]);
    run(&mut s, [0, 5_000 * US], 1000, u64::MAX);
    let (_, longest) = run(&mut s, [5_000 * US, 20_000 * US], 1000, u64::MAX);
    let bytes = longest / 80;
    assert!(bytes < mark * 4 && bytes < full, "{bytes} B wait; marks from {mark} B on");
}

#[test]
fn a_slow_server_is_met_by_losses_alone_and_its_rate_is_reached() {
    // 2 x 20 Gbps of 100: what waits longer than 200 us is dropped.
    let each = 600_000;
    let mut s = senders(Network::new(100.0, RTT), &[0, 0]);
    let (got, _) = run(&mut s, [10_000 * US, 60_000 * US], each, 200 * US);
    let most = 2 * 50_000 * US / each;
    assert!(got[0] + got[1] > most * 95 / 100, "{got:?} of {most}");
    assert!(s.counts.lost > 0 && s.counts.lost * 100 < got[0] + got[1], "{:?}", s.counts);
}

#[test]
fn marks_of_the_host_hold_a_sender_back_before_anything_is_lost() {
    let mut s = senders(Network::new(100.0, RTT), &[0]);
    let (mut a, mut known, mut got, mut worst) = (Arrival::EMPTY, 0, 0, 0);
    let mut free = 0;
    while known < 20_000 * US {
        known += US;
        while s.next(known, &mut a) {
            free = a.at.max(free) + 600_000;
            let waits = free - a.at;
            s.met(a.at, a.at, true, waits > 20 * US);
            s.answered(free, a.at);
            got += 1;
            worst = if known > 10_000 * US { worst.max(waits) } else { 0 };
        }
    }
    assert!(got > 20_000 * US / 600_000 * 95 / 100, "{got}");
    assert!(worst < 60 * US, "{worst} ps of waiting with marks from 20 us on");
}

#[test]
fn a_frame_of_which_nothing_is_heard_is_timed_out_and_the_sender_goes_on() {
    let network = Network { timeout: 100 * US, ..Network::new(100.0, RTT) };
    let mut s = senders(network, &[0]);
    let (mut a, mut frames) = (Arrival::EMPTY, 0);
    while s.next(1_000 * US, &mut a) {
        frames += 1;
    }
    assert!((11..40).contains(&frames), "{frames}: a window, then one at a time");
    assert_eq!(s.windows(), [1]);
    s.answered(2_000 * US, 7); // no frame came then
}

#[test]
fn others_take_their_part_and_a_sender_stops_when_it_is_told() {
    let others = vec![(0, 20_000 * US, 50.0)];
    let mut s = senders(Network { others, ..Network::new(100.0, RTT) }, &[0, 0]);
    s.hosts[1].sender.until = 10_000 * US;
    let (got, _) = run(&mut s, [11_000 * US, 20_000 * US], 1000, u64::MAX);
    let most = 9_000 * US / 121_920;
    assert_eq!(got[1], 0, "its sender has stopped");
    assert!(got[0] * 2 > most * 95 / 100 && got[0] * 2 <= most + 40, "{got:?} of half of {most}");
}

#[test]
fn a_grown_window_is_filled_without_a_burst_and_is_cut_like_any_other() {
    let each = 600_000;
    let all = [0, 1].map(|core| Sender { core, from: 0, until: u64::MAX, window: Some(1000) });
    let mut s = Senders::new(Network::new(100.0, RTT), &all, Box::new(Frames(0)), true);
    // 2 x 1000 frames are on their way to a server that answers 2 x 20 Gbps and drops what waits longer than 400 us.
    let (got, _) = run(&mut s, [2_000 * US, 5_000 * US], each, 400 * US);
    assert!(got[0] + got[1] > 2 * 3_000 * US / each * 99 / 100, "{got:?}");
    assert_eq!(s.counts.dropped_by_switch, 0);
    assert!(s.counts.lost > 0 && s.windows().iter().all(|window| *window < 1000), "{:?}", s.windows());
}
