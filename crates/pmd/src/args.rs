//! A port's arguments: what the user wrote behind `--vdev=net_rxlab0,`.

mod check;
mod kind;
mod parse;
mod sizes;
mod source;
#[cfg(test)]
mod tests;

use core::ffi::CStr;

use memory::Ps;
use rings::ddring;

use crate::error::Error;
use crate::limits::{QUEUES, TAG, THREADS};
use kind::Kind;
use parse::SPEEDS;
pub(crate) use source::Source;

/// Most descriptors of an Rx queue: `RXLAB_MAX_DESC` of the driver.
const MOST_DESC: u32 = 32_768;

/// A link's speed in Mbps where no rate says otherwise. Programs compute with it.
const USUAL_SPEED: u32 = 100_000;

/// A port's arguments, each checked when it is set.
#[derive(Clone, Debug)]
pub struct Args {
    iface: Kind,
    pub(crate) source: Source,
    /// Wire rates in bits per second; 0 = no limit.
    pub(crate) rx_bps: u64,
    pub(crate) tx_bps: u64,
    /// In Mbps, of [`SPEEDS`].
    link_speed: Option<u32>,
    shared: Option<u32>,
    ring: Option<u32>,
    ax: Option<u32>,
    group: Option<u32>,
    batch: Option<u32>,
    timeout: Option<Ps>,
    threads: Option<u32>,
    refill: Option<ddring::Refill>,
    /// Lcores of the program: as many may poll a queue, unless `threads` says otherwise.
    pub(crate) lcores: u32,
    /// Whether the order of forwarded frames is judged.
    pub(crate) reorder: bool,
    /// Whether the port below receives into the posted buffers, and pointers are passed on (rxbisect §5).
    pub(crate) emulate: bool,
}

impl Default for Args {
    fn default() -> Args {
        Args {
            iface: Kind::PrivRing,
            source: Source::Loop,
            rx_bps: 0,
            tx_bps: 0,
            link_speed: None,
            shared: None,
            ring: None,
            ax: None,
            group: None,
            batch: None,
            timeout: None,
            threads: None,
            refill: None,
            lcores: 1,
            reorder: false,
            emulate: false,
        }
    }
}

impl Args {
    /// Takes one argument.
    ///
    /// # Errors
    /// The key is not known or the value not allowed.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let queues = QUEUES as u32;
        let limited = |range, what| parse::limited(key, value, range, what).map(Some);
        match key {
            "iface" => self.iface = Kind::parse(value)?,
            "source" => self.source = Source::parse(value)?,
            "rx_rate" => self.rx_bps = parse::rate(key, value)?,
            "tx_rate" => self.tx_bps = parse::rate(key, value)?,
            "link_speed" => self.link_speed = Some(parse::speed(key, value)?),
            "shared" => self.shared = limited(1..=queues, "the number of queues that share a ring")?,
            "ring" => self.ring = parse::size(key, value)?,
            "ax" => self.ax = parse::size(key, value)?,
            "group" => self.group = limited(0..=queues, "the queues of a group (0: all)")?,
            "batch" => self.batch = limited(1..=MOST_DESC, "notices, no more than the Bx ring has entries")?,
            "threads" => self.threads = limited(1..=THREADS, "the number of threads that may poll a queue")?,
            "refill" => self.refill = Some(parse::refill(key, value)?),
            "reorder" => self.reorder = parse::switch(key, value)?,
            "emulate" => self.emulate = parse::switch(key, value)?,
            "timeout_ns" => {
                let ns = parse::number(key, value, 1..=u32::MAX, "nanoseconds from 1")?;
                self.timeout = Some(Ps::from_ns(u64::from(ns)));
            }
            _ => {
                let allowed = "iface, source, shared, ring, ax, group, batch, timeout_ns, threads, refill, reorder, \
                               emulate, rx_rate, tx_rate, link_speed";
                return Err(Error::Invalid(format!("no argument {key}; allowed: {allowed}")));
            }
        }
        Ok(())
    }

    /// The speed that the link tells, in Mbps: the one given, else the least of [`SPEEDS`] with room for the rates.
    pub(crate) fn speed(&self) -> u32 {
        let rate = self.rx_bps.max(self.tx_bps);
        let least = SPEEDS.into_iter().find(|speed| u64::from(*speed) * 1_000_000 >= rate);
        let of_rates = if rate == 0 { USUAL_SPEED } else { least.unwrap_or(SPEEDS[SPEEDS.len() - 1]) };
        self.link_speed.unwrap_or(of_rates)
    }

    /// Host halves of a queue: threads that may poll it.
    pub(crate) fn threads(&self) -> u32 {
        match self.iface {
            Kind::Corec => self.threads.unwrap_or(self.lcores),
            Kind::DdRing => self.threads.unwrap_or(1),
            Kind::PrivRing | Kind::ShRing | Kind::RxBisect | Kind::Dynamic => 1,
        }
    }

    /// Bytes that the NIC core writes before a frame.
    pub(crate) fn front(&self) -> u32 {
        if self.reorder { TAG } else { 0 }
    }

    /// The interface's name.
    pub(crate) fn iface(&self) -> &'static CStr {
        self.iface.name()
    }

    /// The name of a host half's counter.
    pub(crate) fn counter(&self, i: usize) -> Option<&'static CStr> {
        self.iface.counters().get(i).copied()
    }
}
