//! `dynamic`: a shared ring that turns itself off under imbalance (rxbisect §3.2, §6.2). Each queue has the
//! rings of `shring` and of `privring`, both filled; one kind receives, the other rests, which costs memory
//! but no cache. What to use is decided on the host, by trial (`dynamic/judge.rs`).
//!
//! | word | written by | read by | line | ordering |
//! |---|---|---|---|---|
//! | those of `privring` and `shring` | | | | as there |
//! | `tally` | NIC | its core, who decides | its own | release -> acquire: completions from before its turn are written |
//! | `taken` | its core | NIC | a register | ring -> acquire: the ring that the core left is read to its end |
//! | `received` | its core | who decides | its own | release -> relaxed: a number, nothing hangs on it |
//! | `control` | who decides | who decides | its own | `changes << 1 \| locked`: swap -> release of the lock |
//! | `judge` | who decides, under the lock | who decides next | its own | body, published by the lock's release |
//! | `asked` | who decides, under the lock | NIC | a register | ring -> relaxed: a wish, nothing hangs on it |
//!
//! **Turns.** `asked` counts changes of mode: odd is private. Before a delivery the NIC compares it with the
//! queue's ring. If they differ, and the core has `taken` the last turn, the queue takes a *turn*: its number
//! goes into `tally`, and from now on its frames come by the other ring. A core that polls in vain looks at
//! `tally`. If there was a turn, what came before is visible now: the core reads the old ring to its end, then
//! goes over and says so. So a queue's frames keep their order, and the NIC is at most one turn ahead.
//! Queues turn one by one: a core that stands still delays its own turn and nobody else's.
//!
//! **Who decides.** Every core that receives, or is told of drops, looks at the clock now and then; who finds
//! the lock free judges for all the cores that share a ring. It reads what the NIC counted (`tally`: frames
//! offered and dropped, `turn << 56 | dropped << 28 | offered`, written every so many frames) and what the
//! cores counted (`received`). No core has to run for another one to decide.
//!
//! **Stop and start.** Both rings of a queue stop and start together, and a core that drains takes the last
//! turn, so that both sides agree on the ring that the queue starts with.
//!
//! **Outcomes.** Those of the ring in use.

pub mod judge;

use memory::{Class, Field, Memory, Ps, Side, Space};

use crate::contract::{Buffers, Completion, Frame, Host, Nic, Outcome};
use crate::parts::empties;
use crate::parts::lock::{self, Locked};
use crate::sizes::{self, SizeError};
use crate::{privring, shring};
use judge::{COUNTER, Change, Judge, Mode, Round, Sample};

// ## Words

const TALLY: Field = Field { reader: Side::Host, ..signal("dynamic.tally", Side::Nic) };
const TAKEN: Field = empties::doorbell("dynamic.taken");
const RECEIVED: Field = Field { reader: Side::Host, ..signal("dynamic.received", Side::Host) };
const CONTROL: Field = lock::field("dynamic.control");
const JUDGE: Field =
    Field { width: 8, class: Class::Body, reader: Side::Host, ..signal("dynamic.judge", Side::Host) };
const ASKED: Field = empties::doorbell("dynamic.asked");

const fn signal(name: &'static str, writer: Side) -> Field {
    Field { name, len: 1, width: 1, class: Class::Signal, writer, reader: Side::Both }
}

/// A number of `tally`.
const MASK: u64 = (1 << COUNTER) - 1;
/// Where the turn stands in `tally`, and its bits.
const TURN: u32 = 2 * COUNTER;
const TURNS: u64 = 0xff;

// ## Sizes

/// Sizes of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sizes {
    /// Descriptors of a core's own ring, and of a shared one.
    pub ring: u32,
    /// Cores that share one ring; the last ring may have fewer.
    pub shared_by: u32,
    /// Entries of a core's completion ring for shared buffers.
    pub completions: u32,
    /// How a core frees a shared ring's lock.
    pub unlock: shring::Unlock,
    /// Frames of a queue between two reports of the NIC.
    pub report: u32,
    /// The shortest time over which a mode is judged.
    pub round: Ps,
}

impl Default for Sizes {
    /// Rings as `privring` and `shring` have them. A report of 8 B every 32 frames is no load for any link,
    /// and errs by less than 0.5% of a ring; a millisecond is longer than a burst.
    fn default() -> Sizes {
        let shring::Sizes { ring, shared_by, completions, unlock } = shring::Sizes::default();
        Sizes { ring, shared_by, completions, unlock, report: 32, round: Ps::from_us(1000) }
    }
}

impl Sizes {
    fn shared(&self) -> shring::Sizes {
        shring::Sizes {
            ring: self.ring,
            shared_by: self.shared_by,
            completions: self.completions,
            unlock: self.unlock,
        }
    }

    fn private(&self) -> privring::Sizes {
        privring::Sizes { ring: self.ring }
    }

    /// # Errors
    /// Names what is wrong and what is allowed.
    pub fn validate(&self, queues: u32) -> Result<(), SizeError> {
        sizes::ring_size("dynamic: ring", self.ring)?;
        self.shared().validate(queues)?;
        if self.report == 0 || self.report > self.ring {
            let (n, ring) = (self.report, self.ring);
            return Err(SizeError::new(format!("dynamic: report is {n}; allowed: 1 to {ring}, the ring")));
        }
        Ok(())
    }

    /// Buffers that the rings of a port can hold posted: both kinds are.
    pub fn posted_buffers(&self, queues: u32) -> u64 {
        self.private().posted_buffers(queues) + self.shared().posted_buffers(queues)
    }
}

/// One port: a host half for each queue, and the NIC half.
pub type Port<M> = (Vec<HostHalf<M>>, NicHalf<M>);

/// Binds one port.
///
/// # Errors
/// A size is not allowed, or the space has no room.
pub fn build<S: Space>(
    space: &mut S,
    sizes: &Sizes,
    queues: u32,
    buffers: <S::Mem as Memory>::Buffers,
) -> Result<Port<S::Mem>, SizeError> {
    sizes.validate(queues)?;
    let (shared_hosts, shared) = shring::build(space, &sizes.shared(), queues, buffers)?;
    let (private_hosts, private) = privring::build(space, &sizes.private(), queues, buffers)?;
    let mut halves = shared_hosts.into_iter().zip(private_hosts);
    let (mut hosts, mut groups, mut nic_queues) = (Vec::new(), Vec::new(), Vec::new());
    for group in 0..sizes.shared().rings(queues) {
        let control = space.words(&CONTROL, group)?;
        let judge = space.words(&JUDGE, group)?;
        let asked = space.words(&ASKED, group)?;
        groups.push(Group { asked, seen: 0 });
        let first = group * sizes.shared_by;
        let cores = sizes.shared_by.min(queues - first);
        let mut counters = Vec::new();
        for q in first..first + cores {
            counters.push((space.words(&TALLY, q)?, space.words(&RECEIVED, q)?));
        }
        let round = Round { time: sizes.round, frames: u64::from(cores) * u64::from(sizes.ring) };
        for (q, &(tally, received)) in (first..).zip(&counters) {
            let Some((shared, private)) = halves.next() else { break };
            let taken = space.words(&TAKEN, q)?;
            nic_queues.push(Queue::new(group as usize, tally, taken));
            let (lock, counters) = (Locked::new(control), counters.clone());
            let control = Control { lock, judge, asked, counters, round, bursts: sizes.report / LOOKS };
            hosts.push(HostHalf::new(shared, private, [tally, taken, received], control));
        }
    }
    Ok((hosts, NicHalf { shared, private, groups, queues: nic_queues, report: u64::from(sizes.report) }))
}

// ## Host half

/// Looks of a core at the lock in the time of a round, and at the clock while the NIC counts for a report.
const LOOKS: u32 = 4;

/// A core's end of its queue.
pub struct HostHalf<M: Memory> {
    shared: shring::HostHalf<M>,
    private: privring::HostHalf<M>,
    tally: M::Words<1>,
    taken: M::Words<1>,
    received: M::Words<1>,
    /// The last turn that this core took: odd is private.
    turn: u64,
    /// `tally` as last read.
    told: u64,
    /// Frames received by the shared ring, and by this core's own.
    frames: [u64; 2],
    /// Bursts and news since the clock was last looked at, and when the lock is next tried.
    bursts: u32,
    next: Ps,
    control: Control<M>,
    trials: u64,
    switches: u64,
}

/// What the cores that share a ring decide with.
struct Control<M: Memory> {
    /// The changes of mode so far.
    lock: Locked<M>,
    judge: M::Words<8>,
    asked: M::Words<1>,
    /// `tally` and `received` of each queue.
    counters: Vec<(M::Words<1>, M::Words<1>)>,
    round: Round,
    /// Bursts between two looks at the clock.
    bursts: u32,
}

impl<M: Memory> Control<M> {
    /// Judges, if nobody else does so now and a round may be over.
    #[cold]
    fn look(&mut self, m: &mut M, now: Ps) -> Option<Change> {
        let changes = self.lock.try_lock(m)?;
        let mut judge = Judge::unpack(m.read(self.judge, 0));
        let mut change = None;
        if judge.due(now, &self.round) {
            let sample = self.sample(m, now);
            change = judge.observe(Mode::after(changes), sample, &self.round);
            m.write(self.judge, 0, judge.pack());
        }
        self.leave(m, changes, change.is_some());
        change
    }

    /// Changes the mode to `mode` by hand, and judges anew from there; whether it was another.
    fn ask(&mut self, m: &mut M, mode: Mode) -> bool {
        let changes = self.lock.lock(m);
        m.write(self.judge, 0, Judge::default().pack());
        let change = Mode::after(changes) != mode;
        self.leave(m, changes, change);
        change
    }

    /// Frees the lock.
    fn leave(&mut self, m: &mut M, changes: u64, change: bool) {
        let changes = changes.wrapping_add(u64::from(change));
        if change {
            m.ring(self.asked, changes);
        }
        self.lock.unlock(m, changes);
    }

    fn sample(&self, m: &mut M, at: Ps) -> Sample {
        let mut all = Sample { at, ..Sample::default() };
        for &(tally, received) in &self.counters {
            let tally = m.relaxed(tally, 0);
            all.offered += tally & MASK;
            all.dropped += tally >> COUNTER & MASK;
            all.received += m.relaxed(received, 0) & MASK;
        }
        all
    }
}

impl<M: Memory> HostHalf<M> {
    fn new(
        shared: shring::HostHalf<M>,
        private: privring::HostHalf<M>,
        words: [M::Words<1>; 3],
        control: Control<M>,
    ) -> HostHalf<M> {
        let [tally, taken, received] = words;
        HostHalf {
            shared,
            private,
            tally,
            taken,
            received,
            turn: 0,
            told: 0,
            frames: [0; 2],
            bursts: 0,
            next: Ps::ZERO,
            control,
            trials: 0,
            switches: 0,
        }
    }

    /// An operator's word: the cores that share this one's ring go over to `mode`. Trials go on from there.
    pub fn ask(&mut self, m: &mut M, mode: Mode) {
        self.switches += u64::from(self.control.ask(m, mode));
    }

    /// A burst from the ring in use.
    #[inline(always)]
    fn burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let n = match Mode::after(self.turn) {
            Mode::Shared => self.shared.rx_burst(m, bufs, out),
            Mode::Private => self.private.rx_burst(m, bufs, out),
        };
        self.frames[(self.turn & 1) as usize] += n as u64;
        n
    }

    /// The ring in use is empty: has the NIC left it?
    fn follow<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        let tally = m.acquire(self.tally, 0); // pairs with the release in `Queue::tell`
        self.bursts += u32::from(tally != self.told);
        self.told = tally;
        if tally >> TURN == self.turn || out.is_empty() {
            self.top_up(m, bufs);
            return 0;
        }
        // What the NIC wrote before its turn shows only now.
        let left = self.burst(m, bufs, out);
        if left > 0 {
            return left;
        }
        self.take(m, tally >> TURN);
        self.burst(m, bufs, out)
    }

    /// Goes over to the ring of `turn`.
    fn take(&mut self, m: &mut M, turn: u64) {
        self.turn = turn;
        m.ring(self.taken, turn); // pairs with the acquire in `Queue::mind`
    }

    /// What the pool could not give to the ring that rests: others may need those slots.
    fn top_up<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        match Mode::after(self.turn) {
            Mode::Shared => self.private.fill(m, bufs),
            Mode::Private => self.shared.fill(m, bufs),
        };
    }

    #[inline(always)]
    fn look(&mut self, m: &mut M) {
        if self.bursts < self.control.bursts {
            return;
        }
        self.bursts = 0;
        let now = m.now();
        if now < self.next {
            return;
        }
        self.next = now + Ps(self.control.round.time.0 / u64::from(LOOKS));
        if let Some(change) = self.control.look(m, now) {
            self.switches += 1;
            self.trials += u64::from(change == Change::Try);
        }
    }
}

impl<M: Memory> Host<M> for HostHalf<M> {
    #[inline]
    fn rx_burst<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B, out: &mut [Completion]) -> usize {
        // First, since it reads `tally` too: a core may sleep only on what it has acted upon.
        self.look(m);
        let mut n = self.burst(m, bufs, out);
        if n == 0 {
            n = self.follow(m, bufs, out);
        }
        if n > 0 {
            self.bursts += 1;
            let all = self.frames[0].wrapping_add(self.frames[1]);
            m.release(self.received, 0, all);
        }
        n
    }

    fn fill<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) -> usize {
        self.shared.fill(m, bufs) + self.private.fill(m, bufs)
    }

    fn drain<B: Buffers<M>>(&mut self, m: &mut M, bufs: &mut B) {
        self.shared.drain(m, bufs);
        self.private.drain(m, bufs);
        let turn = m.relaxed(self.tally, 0) >> TURN; // who stopped the NIC half has ordered it
        self.take(m, turn);
    }

    fn waiting(&self, m: &mut M) -> u64 {
        self.shared.waiting(m) + self.private.waiting(m)
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let own = [
            ("by_shared", self.frames[0]),
            ("by_private", self.frames[1]),
            ("trials", self.trials),
            ("switches", self.switches),
        ];
        if let Some(counter) = own.get(i) {
            return Some(*counter);
        }
        // Those of both rings under one name: `privring` has none that `shring` has not.
        let (name, n) = self.shared.counter(i - own.len())?;
        let same = (0..).map_while(|k| self.private.counter(k)).find(|(other, _)| *other == name);
        Some((name, n + same.map_or(0, |(_, n)| n)))
    }
}

// ## NIC half

/// The NIC's end of all queues of a port.
pub struct NicHalf<M: Memory> {
    shared: shring::NicHalf<M>,
    private: privring::NicHalf<M>,
    groups: Vec<Group<M>>,
    queues: Vec<Queue<M>>,
    report: u64,
}

/// The cores that share a ring.
struct Group<M: Memory> {
    asked: M::Words<1>,
    /// The last change asked for.
    seen: u64,
}

struct Queue<M: Memory> {
    group: usize,
    tally: M::Words<1>,
    taken: M::Words<1>,
    /// The turns of this queue: odd is private.
    turn: u64,
    offered: u64,
    dropped: u64,
    /// Frames offered since the last report.
    unsaid: u64,
    stopped: bool,
}

impl<M: Memory> Queue<M> {
    fn new(group: usize, tally: M::Words<1>, taken: M::Words<1>) -> Queue<M> {
        Queue { group, tally, taken, turn: 0, offered: 0, dropped: 0, unsaid: 0, stopped: false }
    }

    /// Takes a turn if another mode is asked for.
    #[inline(always)]
    fn mind(&mut self, m: &mut M, group: &mut Group<M>) {
        let asked = m.relaxed(group.asked, 0);
        // The registers of several cores may be written out of order.
        if asked.wrapping_sub(group.seen) < 1 << 63 {
            group.seen = asked;
        }
        if Mode::after(group.seen) == Mode::after(self.turn) {
            return;
        }
        let taken = m.acquire(self.taken, 0); // pairs with the ring in `HostHalf::take`
        if taken == self.turn {
            self.turn = (self.turn + 1) & TURNS;
            self.tell(m);
        }
    }

    fn tell(&mut self, m: &mut M) {
        self.unsaid = 0;
        let tally = self.turn << TURN | (self.dropped & MASK) << COUNTER | self.offered & MASK;
        m.release(self.tally, 0, tally); // pairs with the acquires in `HostHalf`
    }

    #[inline(always)]
    fn count(&mut self, out: &[Outcome]) {
        let short = out.iter().filter(|o| matches!(o, Outcome::RingFull | Outcome::NoBuffer)).count() as u64;
        let delivered = out.iter().filter(|o| **o == Outcome::Delivered).count() as u64;
        self.offered += delivered + short;
        self.dropped += short;
        self.unsaid += delivered + short;
    }
}

impl<M: Memory> Nic<M> for NicHalf<M> {
    #[inline(always)]
    fn deliver(&mut self, m: &mut M, queue: u16, frames: &[Frame<'_>], out: &mut [Outcome]) {
        let Some(q) = self.queues.get_mut(usize::from(queue)) else {
            return out.fill(Outcome::RingFull); // a queue that does not exist has no room
        };
        if q.stopped {
            return out.fill(Outcome::QueueStopped);
        }
        q.mind(m, &mut self.groups[q.group]);
        match Mode::after(q.turn) {
            Mode::Shared => self.shared.deliver(m, queue, frames, out),
            Mode::Private => self.private.deliver(m, queue, frames, out),
        }
        q.count(out);
        if q.unsaid >= self.report {
            q.tell(m);
        }
    }

    fn poll(&mut self, _m: &mut M) -> Option<Ps> {
        None
    }

    fn stop_queue(&mut self, m: &mut M, queue: u16) {
        self.shared.stop_queue(m, queue);
        self.private.stop_queue(m, queue);
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q.stopped = true;
        }
    }

    fn start_queue(&mut self, m: &mut M, queue: u16) {
        self.shared.start_queue(m, queue);
        self.private.start_queue(m, queue);
        if let Some(q) = self.queues.get_mut(usize::from(queue)) {
            q.stopped = false;
        }
    }

    fn counter(&self, i: usize) -> Option<(&'static str, u64)> {
        let (name, n) = self.shared.counter(i)?;
        Some((name, n + self.private.counter(i).map_or(0, |(_, n)| n)))
    }
}
