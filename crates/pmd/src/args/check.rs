//! What arguments have to do with each other, and with a start.

use super::Args;
use super::kind::{Kind, names};
use super::parse::invalid;
use super::source::Source;
use crate::error::Error;

impl Args {
    /// Checks what belongs together.
    ///
    /// # Errors
    /// An argument of another interface, or two that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let sharing: &[Kind] = &[Kind::ShRing, Kind::Dynamic];
        let owners = [
            ("shared", self.shared.is_some(), sharing),
            ("ring", self.ring.is_some(), sharing),
            ("ax", self.ax.is_some(), &[Kind::RxBisect]),
            ("group", self.group.is_some(), &[Kind::RxBisect]),
            ("batch", self.batch.is_some(), &[Kind::RxBisect]),
            ("timeout_ns", self.timeout.is_some(), &[Kind::RxBisect]),
            ("threads", self.threads.is_some(), &[Kind::Corec, Kind::DdRing]),
            ("refill", self.refill.is_some(), &[Kind::DdRing]),
            ("emulate=1", self.emulate, &[Kind::PrivRing, Kind::ShRing, Kind::RxBisect]),
        ];
        match owners.iter().find(|(_, set, kinds)| *set && !kinds.contains(&self.iface)) {
            None => self.check_emulated().and_then(|()| self.check_speed()),
            Some((key, _, kinds)) => {
                let (owners, mine) = (names(kinds), self.iface.name().to_string_lossy());
                Err(Error::Invalid(format!("{key} belongs to iface={owners}, not iface={mine}")))
            }
        }
    }

    /// No wire carries more than its link tells.
    fn check_speed(&self) -> Result<(), Error> {
        let Some(mbps) = self.link_speed else { return Ok(()) };
        let gbps = f64::from(mbps) / 1000.0;
        let rates = [("rx_rate", self.rx_bps as f64 / 1e9), ("tx_rate", self.tx_bps as f64 / 1e9)];
        match rates.into_iter().find(|(_, rate)| *rate > gbps) {
            None => Ok(()),
            Some((key, rate)) => {
                Err(invalid("link_speed", &gbps.to_string(), &format!("no less than {key}={rate}")))
            }
        }
    }

    /// What passing pointers rules out.
    fn check_emulated(&self) -> Result<(), Error> {
        let what = match (&self.source, self.reorder) {
            _ if !self.emulate => return Ok(()),
            (Source::Port(_), false) => return Ok(()),
            (Source::Port(_), true) => "reorder=1, which copies each frame; allowed: reorder=0",
            _ => "a source that has no mbufs; allowed: source=port:NAME",
        };
        Err(Error::Invalid(format!("emulate=1 with {what}")))
    }

    /// Checks what a start tells: `desc` descriptors for each of `queues`.
    ///
    /// # Errors
    /// An argument asks for more than there are.
    pub(crate) fn fits(&self, desc: u32, queues: u32) -> Result<(), Error> {
        let limits = [
            ("shared", self.shared, 1, queues, "Rx queues"),
            ("group", self.group, 0, queues, "Rx queues"),
            ("batch", self.batch, 1, desc, "descriptors of an Rx queue"),
        ];
        for (key, given, least, most, what) in limits {
            if let Some(n) = given.filter(|n| *n > most) {
                return Err(invalid(key, &n.to_string(), &format!("{least} to {most}, the {what}")));
            }
        }
        Ok(())
    }
}
