//! The transmit ring: whole frames, host-side free, completions, rates.

use crate::common::{Plain, counter};
use memory::{Buf, Memory, Ps, Side};
use rings::pool::{self, CoreCache};
use rings::tx::{self, HostTx, NicTx, Sizes};
use rings::{Buffers, Segment, TxHost, TxNic};

struct Port {
    space: Plain,
    host: Plain,
    nic: Plain,
    tx: Vec<HostTx<Plain>>,
    wire: NicTx<Plain>,
    pool: CoreCache<Plain>,
    segs: Vec<Segment>,
}

fn port(ring: u32, complete_every: u32, queues: u32) -> Port {
    let mut space = Plain::new(Side::Both);
    let (host, nic) = (space.side(Side::Host), space.side(Side::Nic));
    let (tx, wire) = tx::build(&mut space, Sizes { ring, complete_every }, queues).unwrap();
    let pool = pool::build(&mut space, 64, 1, 0).unwrap().pop().unwrap();
    Port { space, host, nic, tx, wire, pool, segs: Vec::new() }
}

impl Port {
    /// Frames with these numbers of segments, each of 100 B.
    fn post(&mut self, queue: usize, frames: &[usize]) -> usize {
        let mut segs = Vec::new();
        for &n in frames {
            for k in 1..=n {
                let mut buf = [Buf(0)];
                assert_eq!(self.pool.take(&mut self.host, &mut buf), 1);
                segs.push(Segment { buf: buf[0], off: k as u16, len: 100, last: k == n });
            }
        }
        let taken = self.tx[queue].tx_burst(&mut self.host, &mut self.pool, &segs);
        let rest: Vec<Buf> = segs[taken..].iter().map(|s| s.buf).collect();
        self.pool.give(&mut self.host, &rest);
        taken
    }

    fn send(&mut self) -> Option<(u16, usize)> {
        let (queue, n) = self.wire.collect(&mut self.nic, &mut self.segs)?;
        assert_eq!(n, self.segs.len());
        self.wire.sent(&mut self.nic, queue, n);
        Some((queue, n))
    }

    fn reclaim(&mut self) -> usize {
        self.tx[0].reclaim(&mut self.host, &mut self.pool)
    }

    fn free(&mut self) -> u64 {
        self.pool.available(&mut self.host)
    }
}

#[test]
fn only_whole_frames_are_taken_and_the_doorbell_rings_once() {
    let mut p = port(8, 32, 1);
    assert_eq!(p.post(0, &[3, 1, 3, 2]), 7, "the last frame does not fit");
    assert_eq!((p.tx[0].filled(), p.space.stores("tx.doorbell")), (7, 1));
    assert_eq!(p.post(0, &[2]), 0);
    assert_eq!(p.space.stores("tx.doorbell"), 1);
    assert_eq!(p.post(0, &[1]), 1);
    let frames: Vec<_> = core::iter::from_fn(|| p.send()).collect();
    assert_eq!(frames, [(0, 3), (0, 1), (0, 3), (0, 2 - 1)]);
    assert_eq!(p.post(0, &[9]), 0, "a frame larger than the ring never fits");
}

#[test]
fn segments_arrive_as_they_were_posted() {
    let mut p = port(4, 1, 1);
    let seg = |buf, last| Segment { buf: Buf(buf), off: 0xfffe, len: 0xffff, last };
    let sent = [seg(7, false), seg(u64::MAX, true)];
    assert_eq!(p.tx[0].tx_burst(&mut p.host, &mut p.pool, &sent), 2);
    p.wire.collect(&mut p.nic, &mut p.segs).unwrap();
    assert_eq!(p.segs, sent);
}

#[test]
fn a_completion_comes_every_n_and_when_the_queue_runs_empty() {
    let mut p = port(16, 4, 1);
    assert_eq!(p.post(0, &[1; 11]), 11);
    let mut told = Vec::new();
    while p.send().is_some() {
        told.push(p.space.stores("tx.consumed"));
    }
    assert_eq!(told, [0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 3], "every 4, and the last 3 are not stuck");
    assert_eq!((p.tx[0].filled(), p.tx[0].unread(&mut p.host)), (11, 0), "read, not yet freed");
    assert_eq!((p.reclaim(), p.free(), p.tx[0].filled()), (11, 64, 0));
}

#[test]
fn nothing_is_freed_before_it_is_read() {
    let mut p = port(16, 1, 1);
    p.post(0, &[2, 1]);
    let (queue, n) = p.wire.collect(&mut p.nic, &mut p.segs).unwrap();
    assert_eq!((p.reclaim(), p.tx[0].unread(&mut p.host)), (0, 3), "collected, not yet read");
    p.wire.sent(&mut p.nic, queue, n);
    assert_eq!((p.reclaim(), p.free()), (2, 63));
    p.wire.sent(&mut p.nic, queue, 100);
    assert_eq!(p.reclaim(), 0, "more than was collected is not believed");
    assert_eq!(p.post(0, &[1]), 1);
    p.tx[0].drain(&mut p.host, &mut p.pool);
    assert_eq!((p.free(), p.tx[0].filled()), (64, 0));
}

#[test]
fn a_burst_frees_what_was_sent_before_it_posts() {
    let mut p = port(2, 1, 1);
    for _ in 0..20 {
        assert_eq!(p.post(0, &[1, 1, 1]), 2);
        assert_eq!(p.free(), 62);
        while p.send().is_some() {}
    }
}

#[test]
fn queues_take_turns_by_the_frame() {
    let mut p = port(16, 32, 3);
    p.post(0, &[1; 4]);
    p.post(2, &[2; 3]);
    let order: Vec<u16> = core::iter::from_fn(|| p.send()).map(|(queue, _)| queue).collect();
    assert_eq!(order, [0, 2, 0, 2, 0, 2, 0]);
}

#[test]
fn a_rate_limit_delays_its_queue_alone() {
    let mut p = port(16, 1, 2);
    p.wire.limit(0, Some(1_000_000_000)); // 124 B on the wire take 992 ns
    p.post(0, &[1; 3]);
    p.post(1, &[1; 2]);
    assert_eq!([p.send(), p.send(), p.send(), p.send()], [Some((0, 1)), Some((1, 1)), Some((1, 1)), None]);
    let due = p.wire.next_due().unwrap();
    assert_eq!(due, Ps::from_ns(992));
    p.space.advance(Ps(due.0 - 1));
    assert_eq!(p.send(), None);
    p.space.advance(Ps(1));
    assert_eq!(p.send(), Some((0, 1)));
    assert_eq!(p.wire.next_due(), Some(Ps::from_ns(2 * 992)));
    p.wire.limit(0, None);
    assert_eq!((p.send(), p.wire.next_due()), (Some((0, 1)), None));
    assert_eq!(p.nic.now(), Ps::from_ns(992));
}

#[test]
fn a_rate_holds_when_the_nic_looks_a_little_late_but_pauses_save_nothing() {
    let mut p = port(16, 1, 1);
    p.space.advance(Ps::from_us(10));
    p.wire.limit(0, Some(1_000_000_000));
    p.post(0, &[1; 16]);
    assert_eq!([p.send(), p.send(), p.send()], [Some((0, 1)), Some((0, 1)), None], "one frame's time ahead");
    for n in 1..10 {
        assert_eq!(p.wire.next_due(), Some(Ps::from_us(10) + Ps::from_ns(992 * n)));
        p.space.advance(p.wire.next_due().unwrap() + Ps::from_ns(300) - p.nic.now());
        assert_eq!([p.send(), p.send()], [Some((0, 1)), None]);
    }
}

#[test]
fn false_words_stop_nobody_else() {
    let mut p = port(4, 1, 2);
    p.post(0, &[1]);
    p.post(1, &[1]);
    p.space.poke("tx.doorbell", 0, 0, 1 << 50);
    assert_eq!([p.send(), p.send()], [Some((1, 1)), None], "a doorbell beyond the ring is ignored");
    p.space.poke("tx.consumed", 1, 0, 77);
    assert_eq!(p.tx[1].reclaim(&mut p.host, &mut p.pool), 0, "and so is such a completion");
    p.space.poke("tx.descriptor", 0, 1, 5); // a frame without end
    p.space.poke("tx.doorbell", 0, 0, 1);
    assert_eq!(p.send(), Some((0, 1)), "what is posted ends it");
}

#[test]
fn the_pool_counts_what_it_did() {
    let mut p = port(4, 1, 1);
    p.post(0, &[1]);
    assert_eq!(counter(&p.pool.counters(), "pool_lock_waits"), 0);
    assert!(counter(&p.pool.counters(), "pool_lock_taken") > 0);
}

#[test]
fn a_stopped_queue_is_not_collected_and_starts_with_what_comes_next() {
    for drain in [true, false] {
        let mut port = port(8, 1, 2);
        for cycle in 0..20 {
            assert_eq!(port.post(0, &[1, 2, 1]), 4);
            assert_eq!(port.post(1, &[1]), 1);
            let mut first = port.send().unwrap();
            if first.0 == 1 {
                first = port.send().unwrap();
            } else {
                assert_eq!(port.send(), Some((1, 1)));
            }
            assert_eq!(first, (0, 1), "cycle {cycle}");
            port.wire.stop_queue(0);
            assert_eq!(port.send(), None, "3 descriptors are posted");
            assert_eq!(port.post(1, &[2]), 2);
            assert_eq!(port.send(), Some((1, 2)), "the other queue goes on");
            if drain {
                port.tx[0].drain(&mut port.host, &mut port.pool);
                assert_eq!(port.tx[0].filled(), 0);
            }
            port.wire.start_queue(&mut port.nic, 0);
            assert_eq!(port.send(), None, "what was posted before is not sent");
            assert_eq!(port.reclaim(), if drain { 0 } else { 4 });
            assert_eq!(port.post(0, &[2]), 2);
            assert_eq!(port.send(), Some((0, 2)));
            assert_eq!(port.reclaim(), 2);
            port.tx[1].reclaim(&mut port.host, &mut port.pool);
            assert_eq!(port.free(), 64, "cycle {cycle}");
        }
    }
}

#[test]
fn a_frame_in_hand_is_sent_although_its_queue_stops() {
    let mut port = port(8, 4, 1);
    port.post(0, &[2, 1]);
    let (queue, n) = port.wire.collect(&mut port.nic, &mut port.segs).unwrap();
    port.wire.stop_queue(0);
    port.wire.sent(&mut port.nic, queue, n);
    port.tx[0].drain(&mut port.host, &mut port.pool);
    assert_eq!(port.free(), 64);
    port.wire.start_queue(&mut port.nic, 0);
    port.wire.stop_queue(9);
    port.wire.start_queue(&mut port.nic, 9);
    assert_eq!((port.post(0, &[8]), port.send()), (8, Some((0, 8))), "the whole ring");
}

#[test]
fn a_stopped_queue_has_no_due_time() {
    let mut port = port(8, 1, 1);
    port.wire.limit(0, Some(1_000_000));
    port.post(0, &[1, 1]);
    port.send().unwrap();
    assert_eq!(port.send(), None);
    assert!(port.wire.next_due().is_some());
    port.wire.stop_queue(0);
    assert_eq!(port.wire.next_due(), None);
}

/// Whoever takes frames over by their addresses leaves the host only those that it has not taken.
#[test]
fn a_stop_tells_of_all_that_is_sent_and_of_nothing_else() {
    let mut p = port(16, 8, 1);
    p.post(0, &[1, 2, 1]);
    p.send();
    p.send();
    assert_eq!(p.reclaim(), 0, "a completion comes every 8");
    p.wire.stop_queue(0);
    p.wire.tell(&mut p.nic);
    assert_eq!((p.reclaim(), p.tx[0].filled()), (3, 1));
}
