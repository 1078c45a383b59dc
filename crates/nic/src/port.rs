//! One port's receive side: parse, steer, admit, deliver.

use memory::{Memory, Ps};
use rings::{Frame, Nic, Outcome};

use crate::classify::{Class, classify};
use crate::holding::Holding;
use crate::wire::Pace;

/// What a port can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// Wire rate in bits per second; 0 = no limit.
    pub rate_bps: u64,
    /// Frames per second that the pipeline can take; 0 = no limit.
    pub pipeline_pps: u64,
    /// The card's own buffer, in bytes.
    pub buffer_bytes: u32,
    /// The longest frame that a host buffer holds, in bytes.
    pub max_frame: u32,
}

impl Default for Config {
    /// 100 Gbps, 512 KiB on the card, host buffers of 2 KiB, a pipeline that never limits.
    fn default() -> Config {
        Config { rate_bps: 100_000_000_000, pipeline_pps: 0, buffer_bytes: 512 << 10, max_frame: 2048 }
    }
}

/// A frame as it comes from the wire.
#[derive(Clone, Copy, Debug)]
pub struct Arrival<'a> {
    /// When its last byte is on the card.
    pub at: Ps,
    /// Its first bytes; zeros follow until `len`.
    pub head: &'a [u8],
    /// Bytes, without FCS.
    pub len: u32,
}

/// The receive side of a port over a ring's NIC half.
pub struct Port<R> {
    nic: R,
    steer: packet::Steer,
    config: Config,
    holding: Holding,
    wire: Pace,
    /// When the pipeline can take the next frame, and the time that it needs for one.
    pipeline: Ps,
    pipeline_gap: Ps,
}

impl<R> Port<R> {
    /// A port that spreads frames over the queues of `nic` as `steer` says.
    pub fn new(nic: R, steer: impl Into<packet::Steer>, config: Config) -> Port<R> {
        Port {
            nic,
            steer: steer.into(),
            config,
            holding: Holding::new(config.buffer_bytes),
            wire: Pace::new(config.rate_bps),
            pipeline: Ps::ZERO,
            pipeline_gap: Ps(1_000_000_000_000_u64.checked_div(config.pipeline_pps).unwrap_or(0)),
        }
    }

    /// Bytes that the card's own buffer holds at most.
    pub fn held_bytes(&self) -> u64 {
        self.holding.held()
    }

    /// The ring's NIC half.
    pub fn nic(&self) -> &R {
        &self.nic
    }

    /// The ring's NIC half, to poll or stop it.
    pub fn nic_mut(&mut self) -> &mut R {
        &mut self.nic
    }

    /// Queue, hash and type of a frame, or `None` if it is no Ethernet frame or longer than a host buffer.
    #[inline(always)]
    pub fn classify(&self, head: &[u8], len: u32) -> Option<Class> {
        if len > self.config.max_frame {
            None
        } else {
            classify(&self.steer, &packet::parse(head), head, len)
        }
    }

    /// Takes one frame from the wire at its time; its queue and fate.
    ///
    /// Until then the agent pauses, and sends the notices that fall due. When it is late, because
    /// stores take longer than the wire, frames wait in the card's buffer, and what does not fit there
    /// is dropped: admission looks at the frame's own time, not at the agent's.
    #[inline(always)]
    pub fn receive<M: Memory>(&mut self, m: &mut M, a: &Arrival<'_>) -> (u16, Outcome)
    where
        R: Nic<M>,
    {
        let at = self.wire.carry(a.at, a.len);
        match self.classify(a.head, a.len) {
            None => (0, self.refuse(m, at, Outcome::BadFrame)),
            Some(class) if !self.holding.admits(at, a.len) => {
                (class.queue, self.refuse(m, at, Outcome::NicBufferFull))
            }
            Some(class) => (class.queue, self.store(m, at, a, class)),
        }
    }

    /// A frame that is not stored takes its time on the wire all the same. Otherwise a source of such frames
    /// alone would never let another agent go on.
    fn refuse<M: Memory>(&mut self, m: &mut M, at: Ps, outcome: Outcome) -> Outcome
    where
        R: Nic<M>,
    {
        if m.now() < at {
            self.rest(m, at);
        }
        outcome
    }

    #[inline(always)]
    fn store<M: Memory>(&mut self, m: &mut M, at: Ps, a: &Arrival<'_>, class: Class) -> Outcome
    where
        R: Nic<M>,
    {
        let start = at.max(self.pipeline);
        self.rest(m, start);
        // The pipeline goes on while stores wait: what it has taken lies in the card's buffer.
        self.pipeline = start + self.pipeline_gap;
        // `classify` bounded the length by `max_frame`; a completion has 16 bits for it.
        let len = a.len.min(u32::from(u16::MAX)) as u16;
        let frame = Frame::new(a.head, len, class.rss, class.kind);
        let mut out = [Outcome::BadFrame];
        self.nic.deliver(m, class.queue, &[frame], &mut out);
        self.holding.hold(m.now(), a.len);
        out[0]
    }

    /// Pauses until `until` and sends on the way what falls due.
    #[inline]
    pub fn rest<M: Memory>(&mut self, m: &mut M, until: Ps)
    where
        R: Nic<M>,
    {
        let mut due = self.nic.poll(m);
        while let Some(deadline) = due.filter(|d| *d < until) {
            let before = m.now();
            m.pause(deadline, false);
            due = self.nic.poll(m);
            if due == Some(deadline) && m.now() <= before {
                break; // no progress: the deadline stays and the clock stands
            }
        }
        if m.now() < until {
            m.pause(until, false);
        }
    }

    /// Stores frames that are here now, all for one queue and already classified; one outcome each.
    /// This is the live path: real time passes by itself and rings push back, so nothing is paced or
    /// held.
    pub fn receive_burst<M: Memory>(
        &mut self,
        m: &mut M,
        queue: u16,
        frames: &[Frame<'_>],
        out: &mut [Outcome],
    ) where
        R: Nic<M>,
    {
        let n = frames.len().min(out.len());
        self.nic.deliver(m, queue, &frames[..n], &mut out[..n]);
    }
}
