//! `ceio` with a NIC core that has a thread: a burst of a hundred rings in one go, for an application that stalls.

use super::*;

const RING: u64 = 256;
const BURST: u64 = 100 * RING;
const FLOWS: u16 = 64;
const STALL: Duration = Duration::from_millis(100);

/// The wire, and the two ends: one sends, the other is of `ceio`.
struct Bed {
    near: Device,
    far: Device,
    sender: Lcore,
    receiver: Lcore,
    _core: Core,
}

impl Bed {
    fn new(iface: &str) -> Bed {
        let core = Core::on(0, Idle::Yield);
        let mut far = Device::new(&core, &[("source", "pair:near")]).unwrap();
        let mut near = Device::new(&core, &[("source", "pair:far"), ("iface", iface)]).unwrap();
        let (mut sender, mut receiver) = (Lcore::new(Pool::new(1024)), Lcore::new(Pool::new(1024)));
        far.start(1, RING as u32, &mut sender.pool).unwrap();
        near.start(1, RING as u32, &mut receiver.pool).unwrap();
        let rss = spread(1);
        // SAFETY: both handles live.
        unsafe {
            driver::said(|e, n| rxlab_port_rss(near.handle, &rss, e, n)).unwrap();
            driver::said(|e, n| rxlab_port_pair(near.handle, far.handle, e, n)).unwrap();
        }
        Bed { near, far, sender, receiver, _core: core }
    }

    /// A level of the card, by its name.
    fn level(&self, name: &str) -> u64 {
        let args = rxlab_args_new();
        // SAFETY: `args` is from its call and freed once; the names end with a zero byte and stay.
        let found = unsafe {
            driver::said(|e, n| rxlab_args_set(args, c"iface".as_ptr(), c"ceio".as_ptr(), e, n)).unwrap();
            let is = |i: &u32| std::ffi::CStr::from_ptr(rxlab_level_name(args, *i)).to_str() == Ok(name);
            let found = (0..LEVELS as u32).find(is);
            rxlab_args_free(args);
            found.unwrap()
        };
        self.near.counters.levels[found as usize].load(Relaxed)
    }

    /// The whole burst arrives while the application sleeps.
    #[expect(clippy::disallowed_methods, reason = "the stall is one of real time")]
    fn burst(&mut self) {
        let start = Instant::now();
        while self.send_some(BURST) {
            std::thread::yield_now();
        }
        until(|| outcomes(&self.near, 1).iter().sum::<u64>() == BURST);
        std::thread::sleep(STALL.saturating_sub(start.elapsed()));
    }

    /// Sends a few of the frames up to number `last`; whether there was any.
    fn send_some(&mut self, last: u64) -> bool {
        let left = (last + 1).saturating_sub(self.sender.next).min(32) as usize;
        self.sender.send(self.far.txq(0), FLOWS, left);
        left > 0
    }

    /// The application goes on, while frames up to number `last` arrive, until `count` have come and the card has nothing of
    /// them any more.
    fn receive(&mut self, count: u64, last: u64) {
        let rxq = self.near.rxq(0);
        let mut receiver = std::mem::replace(&mut self.receiver, Lcore::new(Pool::new(1)));
        until(|| {
            receiver.receive(rxq);
            self.send_some(last);
            let [kept, credits] = ["nic_memory_slots", "credits_in_use"].map(|name| self.level(name));
            receiver.received == count && kept == 0 && credits == 0
        });
        receiver.receive(rxq);
        assert_eq!(receiver.received, count, "none came twice");
        self.receiver = receiver;
    }

    /// Every buffer returns.
    fn end(mut self) {
        let left = self.far.stop(1, &mut self.sender.pool)[0];
        self.sender.free(left as usize);
        self.near.stop(1, &mut self.receiver.pool);
        assert_eq!((self.sender.pool.free.len(), self.receiver.pool.free.len()), (1024, 1024));
        assert_eq!(self.level("nic_memory_most"), 0, "a port without rings has no memory in use");
    }
}

#[expect(clippy::disallowed_methods, reason = "it must end where nothing comes")]
fn until(mut done: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < end, "it takes too long");
        std::thread::yield_now();
    }
}

/// `Lcore::receive` checks the order of each flow; as many numbers as were sent, each once, are all of them.
#[test]
fn a_burst_of_a_hundred_rings_survives_a_stall_of_the_application() {
    let mut bed = Bed::new("ceio:nic_memory:64+flows:16");
    bed.burst();
    until(|| bed.level("nic_memory_slots") == BURST - RING);
    // Others arrive while these are drained: each flow comes back to the fast path when its own are.
    let all = BURST + 20 * RING;
    bed.receive(all, all);
    assert!(bed.level("nic_memory_most") >= BURST - RING);
    let outcomes = outcomes(&bed.near, 1);
    assert_eq!((outcomes[0], outcomes.iter().sum::<u64>()), (all, all), "{outcomes:?}");
    // On the fast path again.
    let before = bed.receiver.received;
    bed.sender.send(bed.far.txq(0), FLOWS, 32);
    until(|| {
        bed.receiver.receive(bed.near.rxq(0));
        bed.receiver.received == before + 32
    });
    assert_eq!(bed.level("nic_memory_slots"), 0);
    bed.end();
}

/// 1 MiB is 512 slots: what they and the posted buffers cannot hold drops, by its own name, and nothing else does.
#[test]
fn a_burst_beyond_the_cards_memory_drops_and_is_counted() {
    let mut bed = Bed::new("ceio:nic_memory:1+flows:16");
    let room = RING + 512;
    bed.burst();
    bed.receive(room, BURST);
    // The oldest came, and those alone.
    assert!(bed.receiver.last.values().all(|number| *number <= room));
    let outcomes = outcomes(&bed.near, 1);
    let full = outcomes[rings::Outcome::NicMemoryFull as usize];
    assert_eq!((outcomes[0], full, outcomes.iter().sum::<u64>()), (room, BURST - room, BURST));
    bed.end();
}

/// A receive call that waits for what the card keeps, and one that posts buffers of the application's; -ENOTSUP elsewhere.
#[test]
fn the_receive_calls_of_ceio_wait_and_post() {
    let mut bed = Bed::new("ceio:credits:0");
    while bed.sender.next <= 2 * RING {
        bed.sender.send(bed.far.txq(0), FLOWS, 32);
        std::thread::yield_now();
    }
    until(|| outcomes(&bed.near, 1)[0] == bed.sender.next - 1);
    let (rxq, pool) = (bed.near.rxq(0), &mut bed.receiver.pool);
    let mut out = [NONE; 32];
    assert_eq!(receive(rxq, pool, &mut out), 0, "nobody has asked for frames");
    let (mut next, mut held) = (1, Vec::new());
    let mut wait = |held: &mut Vec<u64>| {
        let (n, mut refill) = (out.len() as u16, Refill::default());
        // SAFETY: the queue is this thread's, the arrays are as long as is said.
        let n = unsafe { rxlab_rx_wait(rxq, out.as_mut_ptr(), n, [0].as_ptr(), 0, &mut refill, 60_000_000) };
        for c in &out[..n as usize] {
            assert_eq!(number(c).1, next, "one queue keeps its order");
            next += 1;
            held.push(c.buf.0);
        }
        n
    };
    // SAFETY: as above; the buffers are the pool's, and nobody has them.
    let post = |bufs: &[u64]| unsafe { rxlab_rx_post(rxq, bufs.as_ptr(), bufs.len() as u16) };
    assert_eq!(post(&pool.free[..4]), 0, "the ring is full");
    while held.len() < RING as usize {
        assert_eq!(wait(&mut held), 32);
    }
    assert_eq!(wait(&mut held), 0, "no buffer is posted");
    let mine: Vec<u64> = pool.free.drain(..32).collect();
    pool.free.append(&mut held);
    assert_eq!((post(&mine), wait(&mut held)), (32, 32));
    assert!(held == mine, "in the order in which they were posted");
    pool.free.append(&mut held);
    let other = bed.far.rxq(0);
    // SAFETY: nobody polls the queue.
    assert_eq!(unsafe { rxlab_rx_post(other, mine.as_ptr(), 1) }, -libc::ENOTSUP);
    bed.end();
}
