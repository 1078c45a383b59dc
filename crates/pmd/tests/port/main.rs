//! Ports as the driver uses them, with memory of the test's own in place of DPDK's.

#![allow(clippy::unwrap_used, reason = "a test ends where its set-up fails")]

mod ceio;
mod driver;
mod flows;
mod malformed;
mod rates;
mod scattered;

use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use driver::{Core, Device, NONE, Pool, bytes, drain, fill, receive, send};
use memory::Buf;
use rings::{Completion, Segment};
use rxlab_pmd::ffi::*;

const IFACES: [&str; 8] = ["privring", "shring", "rxbisect", "dynamic", "ddring", "corec", "ccnic", "ceio"];

/// UDP over IPv4 from a port of its own for each flow, with a number behind the headers.
fn frame(buf: u64, flow: u16, number: u64, len: usize) -> Segment {
    let f = bytes(buf, len);
    f.fill(0);
    f[..14].copy_from_slice(&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
    f[14..34].copy_from_slice(&[0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
    f[34..36].copy_from_slice(&flow.to_be_bytes());
    f[42..50].copy_from_slice(&number.to_be_bytes());
    Segment { buf: Buf(buf + driver::OFFSET as u64), off: 0, len: len as u16, last: true }
}

/// Flow and number of a frame.
fn number(c: &Completion) -> (u16, u64) {
    let f = bytes(c.buf.0, usize::from(c.len));
    (u16::from_be_bytes([f[34], f[35]]), u64::from_be_bytes(f[42..50].try_into().unwrap()))
}

/// One lcore: sends numbered frames on a queue and receives what comes back on it, checking that numbers of a
/// flow only grow.
struct Lcore {
    pool: Pool,
    posted: VecDeque<u64>,
    next: u64,
    last: std::collections::BTreeMap<u16, u64>,
    received: u64,
}

impl Lcore {
    fn new(pool: Pool) -> Lcore {
        Lcore { pool, posted: VecDeque::new(), next: 1, last: Default::default(), received: 0 }
    }

    fn send(&mut self, q: *mut TxQueue, flows: u16, n: usize) {
        let mut segments = Vec::new();
        for _ in 0..n.min(self.pool.free.len()) {
            let buf = self.pool.free.pop().unwrap();
            segments.push(frame(buf, (self.next % u64::from(flows)) as u16, self.next, 60));
            self.posted.push_back(buf);
            self.next += 1;
        }
        let (taken, freed) = send(q, &segments);
        for _ in taken..segments.len() {
            self.pool.free.push(self.posted.pop_back().unwrap());
            self.next -= 1;
        }
        self.free(freed);
    }

    fn free(&mut self, n: usize) {
        self.pool.free.extend(self.posted.drain(..n));
    }

    fn receive(&mut self, q: *mut RxQueue) {
        let mut out = [NONE; 32];
        let n = receive(q, &mut self.pool, &mut out);
        for c in &out[..n] {
            let (flow, number) = number(c);
            let last = self.last.insert(flow, number);
            assert!(last.is_none_or(|l| l < number), "flow {flow}: {number} after {last:?}");
            self.pool.free.push(c.buf.0);
        }
        self.received += n as u64;
    }
}

fn outcomes(port: &Device, queues: u16) -> Vec<u64> {
    let rx = &port.counters.rx[..usize::from(queues)];
    (0..OUTCOMES).map(|o| rx.iter().map(|q| q.outcome[o].load(Relaxed)).sum()).collect()
}

/// What is sent comes back, once and in order; what does not is counted; every buffer returns. With a NIC
/// core that has a thread and with one that is a service of the lcore.
#[test]
fn what_is_sent_comes_back_or_is_counted() {
    for iface in IFACES {
        for threaded in [true, false] {
            let core = if threaded { Core::on(0, Idle::Yield) } else { Core::idle() };
            let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
            let mut lcore = Lcore::new(Pool::new(1024));
            for cycle in 1..=3 {
                port.start(1, 64, &mut lcore.pool).unwrap();
                let (rxq, txq) = (port.rxq(0), port.txq(0));
                while lcore.received < cycle * 2_000 {
                    lcore.send(txq, 4, 8);
                    std::thread::yield_now();
                    if !threaded {
                        // SAFETY: the NIC core lives and has no thread.
                        unsafe { rxlab_nic_core_turn(core.0) };
                    }
                    lcore.receive(rxq);
                }
                let left = port.stop(1, &mut lcore.pool)[0];
                lcore.free(left as usize);
                assert_eq!((lcore.pool.free.len(), lcore.posted.len()), (1024, 0), "{iface}");
            }
            let offered: u64 = outcomes(&port, 1).iter().sum();
            let sent = port.counters.tx[0].packets.load(Relaxed);
            assert_eq!(offered, sent);
            assert!(lcore.received <= sent && sent < lcore.next);
        }
    }
}

/// Queues stop and start under traffic; the others go on.
#[test]
#[expect(clippy::disallowed_methods, reason = "it must end where nothing comes")]
fn single_queues_stop_and_start_under_traffic() {
    for iface in IFACES {
        let core = Core::on(0, Idle::Yield);
        let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
        let rss = spread(2);
        // A queue that stops keeps what waits in it, and who shares its ring posts buffers of its own instead: up to 64
        // in each cycle go from the steady pool to the other one.
        let mut pools = [Pool::new(4096), Pool::new(1024)];
        let mut first = Pool::new(1024);
        port.start(2, 64, &mut first).unwrap();
        // SAFETY: the handle lives.
        driver::said(|e, n| unsafe { rxlab_port_rss(port.handle, &rss, e, n) }).unwrap();
        let done = AtomicBool::new(false);
        let queues = [0, 1].map(|q| (port.rxq(q) as usize, port.txq(q) as usize));
        let [p0, p1] = &mut pools;
        let steady = Lcore::new(std::mem::replace(p0, Pool::new(1)));
        let mut cycled = Lcore::new(std::mem::replace(p1, Pool::new(1)));
        let steady = std::thread::scope(|s| {
            let handle = s.spawn(|| {
                let mut lcore = steady;
                while !done.load(Relaxed) {
                    lcore.send(queues[0].1 as *mut _, 16, 8);
                    lcore.receive(queues[0].0 as *mut _);
                }
                lcore
            });
            let end = Instant::now() + Duration::from_secs(120);
            for cycle in 1..=30 {
                while cycled.received < cycle * 50 {
                    if Instant::now() > end {
                        done.store(true, Relaxed);
                        panic!("{iface}: nothing comes in cycle {cycle}");
                    }
                    cycled.receive(queues[1].0 as *mut _);
                    std::thread::yield_now();
                }
                let handle = port.handle;
                // SAFETY: this thread polls queue 1, and does not now.
                unsafe {
                    assert_eq!(rxlab_rxq_switch(handle, 1, false), 0);
                    drain(queues[1].0 as *mut _, &mut cycled.pool);
                    assert_eq!(rxlab_rxq_switch(handle, 1, true), 0);
                }
                fill(queues[1].0 as *mut _, &mut cycled.pool);
            }
            done.store(true, Relaxed);
            handle.join().unwrap()
        });
        let mut steady = steady;
        let left = port.stop(2, &mut steady.pool);
        steady.free(left[0] as usize);
        let free = steady.pool.free.len() + cycled.pool.free.len() + first.free.len();
        assert_eq!(free, 4096 + 2 * 1024, "{iface}");
        assert!(steady.received > 0);
    }
}

/// A burst tells that it lacked buffers, whether the interface receives without a replacement in hand or not, and no
/// burst tells so that lacked none. Filling a ring in steps is no debt.
#[test]
fn a_refill_that_lacks_buffers_is_told() {
    for iface in IFACES {
        let core = Core::idle();
        let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
        let mut lcore = Lcore::new(Pool::new(512));
        port.start(1, 64, &mut lcore.pool).unwrap();
        let mut out = [NONE; 8];
        let mut poll = |lcore: &mut Lcore, spares| {
            let (n, lacks) = driver::burst(port.rxq(0), &mut lcore.pool, &mut out, spares);
            lcore.pool.free.extend(out[..n].iter().map(|c| c.buf.0));
            (n, lacks)
        };
        let turn = || {
            // SAFETY: the NIC core lives and has no thread.
            unsafe { rxlab_nic_core_turn(core.0) }
        };
        assert_eq!(poll(&mut lcore, 0), (0, false), "{iface}: nothing has come");
        lcore.send(port.txq(0), 1, 8);
        turn();
        let (early, lacks) = poll(&mut lcore, 0);
        assert!(lacks, "{iface}: {early} frames, no spares");
        let waiting = 8 - early;
        assert_eq!(waiting, if iface == "corec" { 8 } else { 0 });
        assert_eq!(poll(&mut lcore, 3), (waiting.min(3), true), "{iface}: 3 spares for 8");
        assert_eq!(poll(&mut lcore, 8), (waiting.saturating_sub(3), false), "{iface}: 8 spares for 5");
        assert_eq!(poll(&mut lcore, 0), (0, false), "{iface}: all is paid");
        let left = port.stop(1, &mut lcore.pool)[0];
        lcore.free(left as usize);
        assert_eq!(lcore.pool.free.len(), 512, "{iface}");
        let debts = host_counter(iface, "debts");
        assert_eq!(port.counters.host[0].value[debts].load(Relaxed), 2, "{iface}");
    }
}

/// Statistics name the outcomes as every other table does.
#[test]
fn outcomes_have_one_name() {
    for (i, outcome) in (0..).zip(rings::Outcome::ALL) {
        // SAFETY: a name ends with a zero byte and stays.
        let name = unsafe { std::ffi::CStr::from_ptr(rxlab_outcome_name(i)) };
        assert_eq!(name.to_str(), Ok(outcome.name()));
    }
    assert!(rxlab_outcome_name(OUTCOMES as u32).is_null());
}

/// The number of a named counter of an interface's host halves.
fn host_counter(iface: &str, name: &str) -> usize {
    let args = rxlab_args_new();
    let value = std::ffi::CString::new(iface).unwrap();
    // SAFETY: `args` is from its call and freed once; the names end with a zero byte and stay.
    unsafe {
        driver::said(|e, n| rxlab_args_set(args, c"iface".as_ptr(), value.as_ptr(), e, n)).unwrap();
        let found = (0..).find(|i| {
            let found = rxlab_host_counter_name(args, *i);
            assert!(!found.is_null(), "{iface} has no counter {name}");
            std::ffi::CStr::from_ptr(found).to_str() == Ok(name)
        });
        rxlab_args_free(args);
        found.unwrap() as usize
    }
}

fn spread(queues: u16) -> RssConf {
    let mut rss = RssConf { key: [0x6d; KEY], key_len: 40, hash: 15, reta_len: 128, reta: [0; RETA] };
    for (i, b) in rss.key.iter_mut().enumerate().skip(1).step_by(2) {
        *b = 0x5a ^ i as u8;
    }
    for (i, q) in rss.reta.iter_mut().enumerate() {
        *q = i as u16 % queues;
    }
    rss
}

/// A pair is a wire: frames of one end arrive at the other, none while it is down, none after it is gone.
#[test]
fn a_pair_is_a_wire() {
    let core = Core::idle();
    let turn = || {
        // SAFETY: the NIC core lives and has no thread.
        unsafe { rxlab_nic_core_turn(core.0) }
    };
    let mut a = Device::new(&core, &[("source", "pair:b")]).unwrap();
    let mut b = Device::new(&core, &[("source", "pair:a"), ("iface", "rxbisect")]).unwrap();
    let (mut la, mut lb) = (Lcore::new(Pool::new(512)), Lcore::new(Pool::new(512)));
    a.start(1, 64, &mut la.pool).unwrap();
    b.start(1, 64, &mut lb.pool).unwrap();
    // SAFETY: both handles live.
    driver::said(|e, n| unsafe { rxlab_port_pair(a.handle, b.handle, e, n) }).unwrap();
    la.send(a.txq(0), 1, 10);
    turn();
    lb.receive(b.rxq(0));
    assert_eq!(lb.received, 10);
    // SAFETY: the handle lives.
    assert_eq!(unsafe { rxlab_port_unpair(b.handle) }, 0);
    la.send(a.txq(0), 1, 10);
    turn();
    lb.receive(b.rxq(0));
    let [sent, lost] = [&a.counters.tx[0].packets, &a.counters.tx[0].faults].map(|n| n.load(Relaxed));
    assert_eq!((lb.received, sent, lost), (10, 10, 10));
    let left = a.stop(1, &mut la.pool)[0];
    la.free(left as usize);
    b.stop(1, &mut lb.pool);
    assert_eq!((la.pool.free.len(), lb.pool.free.len()), (512, 512));
}

/// Generated frames are spread over the queues, and their hash is told.
#[test]
fn generated_frames_reach_every_queue() {
    for iface in IFACES {
        let core = Core::idle();
        let mut port =
            Device::new(&core, &[("iface", iface), ("source", "gen:fixed:64+flows:4096")]).unwrap();
        let mut pool = Pool::new(4096);
        port.start(4, 128, &mut pool).unwrap();
        // SAFETY: the handle lives.
        driver::said(|e, n| unsafe { rxlab_port_rss(port.handle, &spread(4), e, n) }).unwrap();
        let mut got = [0; 4];
        for _ in 0..200 {
            // SAFETY: the NIC core lives and has no thread.
            unsafe { rxlab_nic_core_turn(core.0) };
            for q in 0..4 {
                let mut out = [NONE; 32];
                let n = receive(port.rxq(q), &mut pool, &mut out);
                assert!(out[..n].iter().all(|c| c.kind & HASHED != 0 && c.kind & 0xfff == 0x211));
                pool.free.extend(out[..n].iter().map(|c| c.buf.0));
                got[usize::from(q)] += n;
            }
        }
        assert!(got.iter().all(|n| *n > 1000), "{iface}: {got:?}");
        port.stop(4, &mut pool);
        assert_eq!(pool.free.len(), 4096);
    }
}

/// A port may have no queues of one direction. What comes to one that receives nothing is counted.
#[test]
fn a_direction_may_have_no_queues() {
    for iface in IFACES {
        let core = Core::idle();
        let turn = || {
            // SAFETY: the NIC core lives and has no thread.
            unsafe { rxlab_nic_core_turn(core.0) }
        };
        let mut port = Device::new(&core, &[("iface", iface)]).unwrap();
        let mut lcore = Lcore::new(Pool::new(512));
        for starts in 1..=2 {
            port.start_with([0, 1], 64, &mut lcore.pool).unwrap();
            assert!(port.rxq(0).is_null());
            lcore.send(port.txq(0), 4, 8);
            turn();
            let sent = port.counters.tx[0].packets.load(Relaxed);
            let stopped = outcomes(&port, 1)[rings::Outcome::QueueStopped as usize];
            assert_eq!((sent, stopped), (8 * starts, 8 * starts), "{iface}");
            let left = port.stop(1, &mut lcore.pool)[0];
            lcore.free(left as usize);
        }
        port.start_with([1, 0], 64, &mut lcore.pool).unwrap();
        assert!(port.txq(0).is_null());
        turn();
        port.stop(1, &mut lcore.pool);
        assert_eq!(lcore.pool.free.len(), 512, "{iface}");
    }
}

/// Several threads poll one queue: what one of them sends comes once, to any of them, or is counted.
#[test]
fn several_threads_poll_one_queue() {
    const THREADS: u16 = 3;
    for iface in ["ddring", "corec"] {
        let core = Core::on(0, Idle::Yield);
        let mut port = Device::new(&core, &[("iface", iface), ("threads", "3")]).unwrap();
        let mut pool = Pool::new(1024);
        port.start(1, 64, &mut pool).unwrap();
        assert!(port.half(0, THREADS).is_null() && port.half(1, 0).is_null());
        let (done, shares) = (AtomicBool::new(false), [const { AtomicU64::new(0) }; THREADS as usize - 1]);
        let halves: Vec<usize> = (1..THREADS).map(|half| port.half(0, half) as usize).collect();
        let mut first = Lcore::new(pool);
        let mut got = std::thread::scope(|s| {
            let done = &done;
            let others: Vec<_> = halves
                .iter()
                .zip(&shares)
                .map(|(&half, share)| s.spawn(move || poll(half, share, done)))
                .collect();
            let mut got = Vec::new();
            // A busy scheduler may let a thread wait for long.
            let all_had_some = || shares.iter().all(|n| n.load(Relaxed) > 0);
            while first.next < 20_000 || (!all_had_some() && first.next < 20_000_000) {
                first.send(port.txq(0), 4, 8);
                got.extend(take(port.half(0, 0), &mut first.pool));
                std::thread::yield_now();
            }
            let under_way = || {
                // In this order: a frame is counted once it waits.
                let counted = outcomes(&port, 1).iter().sum::<u64>();
                // SAFETY: this thread polls the half.
                counted < first.next - 1 || unsafe { rxlab_rxq_count(port.half(0, 0)) } > 0
            };
            while under_way() {
                got.extend(take(port.half(0, 0), &mut first.pool));
                std::thread::yield_now();
            }
            done.store(true, Relaxed);
            let theirs = others.into_iter().map(|t| t.join().unwrap());
            let (numbers, pools): (Vec<_>, Vec<_>) = theirs.unzip();
            assert!(numbers.iter().all(|n| !n.is_empty()), "{iface}: a thread has received nothing");
            got.extend(numbers.concat());
            (got, pools)
        });
        let left = port.stop(1, &mut first.pool)[0];
        first.free(left as usize);
        let numbers = &mut got.0;
        let received = numbers.len();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), received, "{iface}: frames came twice");
        let outcomes = outcomes(&port, 1);
        assert_eq!(outcomes[0], received as u64, "{iface}: {outcomes:?}");
        assert_eq!(outcomes.iter().sum::<u64>(), first.next - 1);
        let free = first.pool.free.len() + got.1.iter().map(|pool| pool.free.len()).sum::<usize>();
        assert_eq!(free, 1024 * usize::from(THREADS), "{iface}");
    }
}

/// Numbers of the frames that a half receives until it is done, and the pool from which it refilled.
fn poll(half: usize, share: &AtomicU64, done: &AtomicBool) -> (Vec<u64>, Pool) {
    let (mut got, mut pool) = (Vec::new(), Pool::new(1024));
    while !done.load(Relaxed) {
        got.extend(take(half as *mut _, &mut pool));
        share.store(got.len() as u64, Relaxed);
        std::thread::yield_now();
    }
    (got, pool)
}

fn take(half: *mut RxQueue, pool: &mut Pool) -> Vec<u64> {
    let mut out = [NONE; 8];
    let n = receive(half, pool, &mut out);
    pool.free.extend(out[..n].iter().map(|c| c.buf.0));
    out[..n].iter().map(|c| number(c).1).collect()
}

/// Frames are known again by their tags, whatever was written over them: those of a flow that leave after a later
/// one count as reordered.
#[test]
fn forwarded_frames_are_judged_by_their_order() {
    let core = Core::idle();
    let mut port = Device::new(&core, &[("reorder", "1")]).unwrap();
    let mut pool = Pool::new(512);
    port.start(1, 64, &mut pool).unwrap();
    let turn = || {
        // SAFETY: the NIC core lives and has no thread.
        unsafe { rxlab_nic_core_turn(core.0) }
    };
    // Flows 0, 1, 0, 1, 0 ..
    let mut segments: Vec<_> =
        (0..8).map(|i| frame(pool.free.pop().unwrap(), i % 2, u64::from(i), 60)).collect();
    assert_eq!(send(port.txq(0), &segments).0, 8);
    turn();
    let mut out = [NONE; 8];
    assert_eq!(receive(port.rxq(0), &mut pool, &mut out), 8);
    assert!(out.iter().all(|c| u32::from(c.len) == 60 + TAG));
    // The frame lies where it would without a tag; the third and the fourth change places with the last two.
    let order = [0, 1, 6, 7, 4, 5, 2, 3];
    segments.clear();
    for i in order {
        let Completion { buf, len, .. } = out[i];
        let (_, n) = number(&Completion { buf, len: 60, ..Completion::none() });
        assert_eq!(n, i as u64);
        bytes(buf.0, 60)[..14].fill(0xee);
        let tagged = buf.0 + driver::OFFSET as u64 - u64::from(TAG);
        segments.push(Segment { buf: Buf(tagged), off: TAG as u16, len: len - TAG as u16, last: true });
    }
    let (sent, freed) = send(port.txq(0), &segments);
    assert_eq!(sent, 8);
    turn();
    // Of flow 0: 0 6 4 2, two are late; of flow 1: 1 7 5 3, two are late.
    assert_eq!(port.counters.tx[0].reordered.load(Relaxed), 4);
    let left = port.stop(1, &mut pool)[0];
    assert_eq!(pool.free.len() + freed + left as usize, 512);
}
