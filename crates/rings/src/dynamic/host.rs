//! The host half of `dynamic`: both rings of a queue, and which of them the core receives from.

use memory::{Memory, Ps};

use super::control::{Control, LOOKS};
use super::judge::{Change, Mode};
use super::{Sizes, TURN};
use crate::contract::{Buffers, Completion, Host, Spec};
use crate::{privring, shring};

// ## Host half

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

impl<M: Memory> HostHalf<M> {
    pub(super) fn new(
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

    /// Pays the debts of the ring that rests: others may need its slots.
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
        let own = [self.frames[0], self.frames[1], self.trials, self.switches];
        if let Some(counter) = Sizes::ABOUT.counter(i, &own) {
            return Some(counter);
        }
        // Those of both rings under one name: `privring` has none that `shring` has not.
        let (name, n) = self.shared.counter(i - own.len())?;
        let same = (0..).map_while(|k| self.private.counter(k)).find(|(other, _)| *other == name);
        Some((name, n + same.map_or(0, |(_, n)| n)))
    }
}
