//! A port's arguments: what the user wrote behind `--vdev=net_rxlab0,`.

mod channel;
mod check;
mod iface;
mod parse;
mod source;
#[cfg(test)]
mod tests;

use core::ffi::CStr;

use rings::{Interface, Written};

use crate::error::Error;
use crate::limits::{QUEUES, TAG, THREADS};
pub(crate) use channel::{Meet, Wire};
use parse::SPEEDS;
pub(crate) use source::Source;

/// Most descriptors of an Rx queue: `RXLAB_MAX_DESC` of the driver.
const MOST_DESC: u32 = 32_768;

/// Rules that flow tables can have: their units come on top.
const MOST_RULES: u32 = 1 << 25;

/// A link's speed in Mbps where no rate says otherwise. Programs compute with it.
const USUAL_SPEED: u32 = 100_000;

/// A port's arguments, each checked when it is set.
#[derive(Clone, Debug)]
pub struct Args {
    iface: Written,
    /// Values of the interface's parameters that have an argument of their own, by its key.
    short: Vec<(&'static str, String)>,
    pub(crate) source: Source,
    /// Wire rates in bits per second; 0 = no limit.
    pub(crate) rx_bps: u64,
    pub(crate) tx_bps: u64,
    /// In Mbps, of [`SPEEDS`].
    link_speed: Option<u32>,
    /// Lcores of the program: as many may poll a queue, unless `threads` says otherwise.
    pub(crate) lcores: u32,
    /// Whether the order of forwarded frames is judged.
    pub(crate) reorder: bool,
    /// Whether the port below receives into the posted buffers, and pointers are passed on (rxbisect §5).
    pub(crate) emulate: bool,
    /// The most flow rules.
    pub(crate) flow_rules: u32,
    /// The path of the channel that is the port's wire, who waits there for whom, and its sizes.
    channel: Option<String>,
    meet: Meet,
    channel_conf: Option<ccnic::Config>,
}

/// Arguments that give a parameter of the interface its value.
const SHORT: [&str; 8] = ["shared", "ring", "ax", "group", "batch", "timeout_ns", "threads", "refill"];

impl Default for Args {
    fn default() -> Args {
        Args {
            iface: usual(),
            short: Vec::new(),
            source: Source::Loop,
            rx_bps: 0,
            tx_bps: 0,
            link_speed: None,
            lcores: 1,
            reorder: false,
            emulate: false,
            flow_rules: 65_536,
            channel: None,
            meet: Meet::Either,
            channel_conf: None,
        }
    }
}

impl Args {
    /// Takes one argument.
    ///
    /// # Errors
    /// The key is not known or the value not allowed.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        if let Some(key) = SHORT.into_iter().find(|short| *short == key) {
            check_short(key, value)?;
            self.short.push((key, value.into()));
            return Ok(());
        }
        match key {
            "iface" => self.iface = iface::parse(value)?,
            "source" => self.source = Source::parse(value)?,
            "rx_rate" => self.rx_bps = parse::rate(key, value)?,
            "tx_rate" => self.tx_bps = parse::rate(key, value)?,
            "link_speed" => self.link_speed = Some(parse::speed(key, value)?),
            "reorder" => self.reorder = parse::switch(key, value)?,
            "emulate" => self.emulate = parse::switch(key, value)?,
            "channel" | "channel_role" | "channel_conf" => self.set_channel(key, value)?,
            "flow_rules" => {
                self.flow_rules = parse::limited(key, value, 1..=MOST_RULES, "flow rules at most")?;
            }
            _ => {
                let allowed = "iface, source, shared, ring, ax, group, batch, timeout_ns, threads, refill, reorder, \
                               emulate, rx_rate, tx_rate, link_speed, flow_rules, channel, channel_role, channel_conf";
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

    /// Why each frame has to lie in one mbuf, where that is so: the pieces of one that lies in several come one behind the
    /// other, to one thread.
    pub(crate) fn one_mbuf(&self) -> Option<&'static CStr> {
        match () {
            () if self.emulate => Some(c"emulate=1 passes on the mbufs that the port below has filled"),
            () if self.reorder => Some(c"reorder=1 writes a tag before each frame, into one mbuf"),
            () if self.threads() > 1 => {
                Some(c"several threads may poll a queue, and each would get some of its pieces")
            }
            () if !self.iface.about().queue_order => Some(
                c"the interface keeps the order of a flow, not of a queue: pieces of two frames would mix",
            ),
            () => None,
        }
    }

    /// Bytes that the NIC core writes before a frame.
    pub(crate) fn front(&self) -> u32 {
        if self.reorder { TAG } else { 0 }
    }
}

/// The interface of a port that names none: today's.
fn usual() -> Written {
    Interface::usual().swap_remove(0).into()
}

/// Checks the value of one of [`SHORT`].
fn check_short(key: &str, value: &str) -> Result<(), Error> {
    let limited = |range, what| parse::limited(key, value, range, what).map(drop);
    match key {
        "shared" => limited(1..=QUEUES as u32, "the number of queues that share a ring"),
        "group" => limited(0..=QUEUES as u32, "the queues of a group (0: all)"),
        "batch" => limited(1..=MOST_DESC, "notices, no more than the Bx ring has entries"),
        "threads" => limited(1..=THREADS, "the number of threads that may poll a queue"),
        "timeout_ns" => parse::number(key, value, 1..=u32::MAX, "nanoseconds from 1").map(drop),
        "refill" => parse::refill(key, value),
        _ => parse::size(key, value),
    }
}
