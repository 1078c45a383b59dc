//! One port's receive side: pipeline, admission, delivery.

use memory::{Memory, Ps};
use rings::{Frame, Nic, Outcome};

use crate::holding::Holding;
use crate::pipeline::{Checks, Class, Incoming, Pipeline};
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
    /// The number of its flow, as a [`Frame`] has it.
    pub flow: u32,
}

/// The receive side of a port over a ring's NIC half.
pub struct Port<R> {
    nic: R,
    pipeline: Pipeline<packet::Steer>,
    holding: Holding,
    wire: Pace,
    /// When the pipeline can take the next frame.
    free: Ps,
}

impl<R> Port<R> {
    /// A port that spreads frames over the queues of `nic` as `steer` says.
    pub fn new(nic: R, steer: impl Into<packet::Steer>, config: Config) -> Port<R> {
        let checks = Checks { max_frame: config.max_frame.try_into().unwrap_or(u16::MAX), checksums: false };
        let pace = Ps(1_000_000_000_000_u64.checked_div(config.pipeline_pps).unwrap_or(0));
        Port {
            nic,
            pipeline: Pipeline { pace, ..Pipeline::new(steer.into(), checks) },
            holding: Holding::new(config.buffer_bytes),
            wire: Pace::new(config.rate_bps),
            free: Ps::ZERO,
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

    /// What becomes of frames before they are stored.
    pub fn pipeline(&self) -> &Pipeline<packet::Steer> {
        &self.pipeline
    }

    /// The pipeline takes no other frame for `pace` from now on, whatever it finds.
    pub fn set_pace(&mut self, pace: Ps) {
        self.pipeline.pace = pace;
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
        match self.pipeline.admit(&Incoming::whole(a.head, a.len)) {
            // Nothing has chosen a queue: the first one's counters stand for the port's.
            Err(outcome) => (0, self.refuse(m, at, outcome)),
            Ok(class) if !self.holding.admits(at, a.len) => {
                (class.queue, self.refuse(m, at, Outcome::NicBufferFull))
            }
            Ok(class) => (class.queue, self.store(m, at, a, class)),
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
        let start = at.max(self.free);
        self.rest(m, start);
        // The pipeline goes on while stores wait: what it has taken lies in the card's buffer.
        self.free = start + class.cost;
        let frame = Class { flow: a.flow, ..class }.frame(&Incoming::whole(a.head, a.len));
        let mut out = [Outcome::BadFrame];
        self.nic.deliver(m, class.queue, &[frame], &mut out);
        self.holding.hold(m.gone(), a.len);
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
