//! The flows of a port at the card: which path each is on, and whether it takes part in credits (§4.1, Q3).

use memory::Ps;

use super::Sizes;
use super::credits::Credits;
use super::kinds::Kinds;
use super::priority::{self, Priority};

#[derive(Clone, Copy, Debug, Default)]
struct Flow {
    /// Frames that are kept, or drained and not taken: while there are any, the flow is on the slow path.
    kept: u32,
    /// Whether it ever had credits.
    known: bool,
    /// Whether a frame came since the last look, or since it became inactive.
    heard: bool,
    /// Whether credits came back since it left the fast path.
    released: bool,
    /// What it has sent since it was last inactive.
    bytes: u64,
}

/// All flows; those of a queue lie in a row.
pub(super) struct Flows {
    flows: Vec<Flow>,
    credits: Credits,
    kinds: Kinds,
    /// Flows of a queue, less one.
    mask: u32,
    release: u32,
    priority: Priority,
    idle: Ps,
    recall: Ps,
    /// When silence is looked for next, and when a flow may come back.
    looks: Ps,
    recalls: Ps,
    /// Where the search for one begins.
    turn: usize,
    /// Flows that were retired, and that were recalled.
    pub(super) retired: u64,
    pub(super) recalled: u64,
}

impl Flows {
    pub(super) fn new(sizes: &Sizes, queues: u32) -> Flows {
        let count = (queues * sizes.flows) as usize;
        Flows {
            flows: vec![Flow::default(); count],
            credits: Credits::new(sizes.credits, count),
            kinds: Kinds::new(sizes),
            mask: sizes.flows - 1,
            release: sizes.release,
            priority: sizes.priority,
            idle: sizes.idle,
            recall: sizes.recall,
            looks: Ps::ZERO,
            recalls: Ps::ZERO,
            turn: 0,
            retired: 0,
            recalled: 0,
        }
    }

    /// The flow of a frame of `queue` with such a hash.
    #[inline(always)]
    pub(super) fn of(&self, queue: u32, rss: u32) -> u32 {
        // Low bits of the hash chose the queue.
        queue * (self.mask + 1) + (rss >> 16 & self.mask)
    }

    /// A frame of `len` bytes with this mark came: whether it may take the fast path, which costs a credit.
    #[inline(always)]
    pub(super) fn admit(&mut self, flow: u32, mark: u32, len: u16) -> bool {
        if self.kinds.bypasses(mark) {
            return self.bypass(flow as usize);
        }
        let one = &mut self.flows[flow as usize];
        one.heard = true;
        one.bytes += u64::from(len);
        if self.priority == Priority::Pias
            && self.credits.in_use() >= priority::share(one.bytes, self.credits.total())
        {
            return false;
        }
        if !one.known {
            one.known = self.credits.establish(&[flow as usize]);
        }
        one.kept == 0 && self.credits.spend(flow as usize)
    }

    /// A frame of a flow that bypasses cores: it has no credits, and is not heard, so that it is not recalled.
    #[cold]
    fn bypass(&mut self, flow: usize) -> bool {
        if self.credits.is_active(flow) {
            self.retire(flow);
        }
        false
    }

    /// The host is done with a frame of the fast path; also with one that found no buffer there.
    #[inline(always)]
    pub(super) fn release(&mut self, flow: u32) {
        self.credits.release(flow as usize, 1);
        self.flows[flow as usize].released = true;
    }

    /// A frame of the flow is kept.
    pub(super) fn keep(&mut self, flow: u32) {
        let one = &mut self.flows[flow as usize];
        one.released &= one.kept > 0;
        one.kept += 1;
    }

    /// A kept frame of the flow is taken, or forgotten.
    pub(super) fn take(&mut self, flow: u32) {
        self.flows[flow as usize].kept -= 1;
    }

    /// A kept frame of the flow is drained while more of its frames than a batch lie unread on the fast path: nobody
    /// processes it.
    pub(super) fn drained(&mut self, flow: u32) {
        let unread = self.kinds.detects() && self.credits.used(flow as usize) > self.release;
        if unread && !self.flows[flow as usize].released && self.credits.is_active(flow as usize) {
            self.retire(flow as usize);
        }
    }

    fn retire(&mut self, flow: usize) {
        self.credits.retire(flow);
        (self.flows[flow].heard, self.flows[flow].bytes) = (false, 0);
        self.retired += 1;
    }

    /// Looks for silent flows, and lets one come back that is not.
    pub(super) fn look(&mut self, now: Ps) {
        if now >= self.looks {
            self.looks = now + self.idle;
            for flow in 0..self.flows.len() {
                // What an inactive one was heard of is kept for its recall.
                if self.credits.is_active(flow) && !core::mem::take(&mut self.flows[flow].heard) {
                    self.retire(flow);
                }
            }
        }
        if now >= self.recalls {
            self.recalls = now + self.recall;
            self.recall_one();
        }
    }

    fn recall_one(&mut self) {
        let count = self.flows.len();
        let back = |flow: &usize| {
            let one = &self.flows[*flow];
            one.known && one.heard && !self.credits.is_active(*flow)
        };
        let next = (0..count).map(|k| (self.turn + k) % count).find(back);
        if let Some(flow) = next
            && self.credits.establish(&[flow])
        {
            self.turn = flow + 1;
            self.recalled += 1;
        }
    }

    /// Credits that lie with frames.
    pub(super) fn in_use(&self) -> u32 {
        self.credits.in_use()
    }
}
