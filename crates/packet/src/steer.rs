//! What chooses a frame's queue: the hash of its flow, or its UDP destination port.

use crate::rss::deal;
use crate::{Parsed, Rss};

/// The UDP destination port of partition 0; partition `p` has the `p`-th port behind it.
pub const PARTITION_PORT: u16 = 20_000;

const UDP: u8 = 17;

/// Gives a frame a number, and the number a queue. A software card that distributes by the number
/// alone, as completions report it, finds the same queue.
pub trait Steering {
    /// The number of a frame that [`parse`](crate::parse) looked at; `None` where it has none, which
    /// counts as 0.
    fn number(&self, parsed: &Parsed, bytes: &[u8]) -> Option<u32>;
    /// The queue of a number.
    fn queue(&self, number: u32) -> u16;
}

impl Steering for Rss {
    #[inline(always)]
    fn number(&self, parsed: &Parsed, bytes: &[u8]) -> Option<u32> {
        self.hashed(parsed, bytes)
    }

    #[inline]
    fn queue(&self, number: u32) -> u16 {
        Rss::queue(self, number)
    }
}

/// Queues by UDP destination port: the client chooses the core (rxbisect §6.1, MICA).
#[derive(Clone, Debug)]
pub struct ByPort {
    table: Box<[u16]>,
}

impl ByPort {
    /// Partition `p` goes to queue `p % queues`.
    pub fn spread(queues: u16) -> ByPort {
        ByPort { table: deal(queues).into() }
    }
}

impl Steering for ByPort {
    /// Ports before [`PARTITION_PORT`] wrap around; frames without ports have no number.
    #[inline]
    fn number(&self, parsed: &Parsed, bytes: &[u8]) -> Option<u32> {
        let [_, _, high, low] = *parsed.ports(bytes).filter(|_| parsed.proto == UDP)?;
        Some(u16::from_be_bytes([high, low]).wrapping_sub(PARTITION_PORT).into())
    }

    #[inline]
    fn queue(&self, number: u32) -> u16 {
        self.table[number as usize & (self.table.len() - 1)]
    }
}

/// One of the two, chosen at run time.
#[derive(Clone, Debug)]
pub enum Steer {
    /// Receive-side scaling.
    Rss(Rss),
    /// By UDP destination port.
    Port(ByPort),
}

impl Steering for Steer {
    #[inline(always)]
    fn number(&self, parsed: &Parsed, bytes: &[u8]) -> Option<u32> {
        match self {
            Steer::Rss(rss) => rss.number(parsed, bytes),
            Steer::Port(port) => port.number(parsed, bytes),
        }
    }

    #[inline]
    fn queue(&self, number: u32) -> u16 {
        match self {
            Steer::Rss(rss) => rss.queue(number),
            Steer::Port(port) => port.queue(number),
        }
    }
}

impl From<Rss> for Steer {
    fn from(rss: Rss) -> Steer {
        Steer::Rss(rss)
    }
}

impl From<ByPort> for Steer {
    fn from(port: ByPort) -> Steer {
        Steer::Port(port)
    }
}

/// Which of the two, before the number of queues is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SteerBy {
    /// Receive-side scaling.
    #[default]
    Rss,
    /// The UDP destination port.
    Port,
}

impl SteerBy {
    /// Both.
    pub const ALL: [SteerBy; 2] = [SteerBy::Rss, SteerBy::Port];

    /// The name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            SteerBy::Rss => "rss",
            SteerBy::Port => "port",
        }
    }

    /// Even over `queues` queues.
    pub fn over(self, queues: u16) -> Steer {
        match self {
            SteerBy::Rss => Rss::spread(queues).into(),
            SteerBy::Port => ByPort::spread(queues).into(),
        }
    }
}
