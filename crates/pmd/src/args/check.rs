//! What arguments have to do with each other, and with a start.

use super::iface::{names, owns};
use super::parse::invalid;
use super::source::Source;
use super::{Args, SHORT};
use crate::error::Error;

impl Args {
    /// Checks what belongs together.
    ///
    /// # Errors
    /// An argument of another interface, or two that contradict each other.
    pub(crate) fn check(&self) -> Result<(), Error> {
        let given = |key: &&str| self.short.iter().any(|(short, _)| short == key);
        if let Some(key) = SHORT.into_iter().filter(given).find(|key| !owns(&self.iface, key)) {
            return Err(self.foreign(key, &names(|iface| owns(iface, key))));
        }
        if self.emulate && self.iface.about().not_emulated.is_some() {
            return Err(self.foreign("emulate=1", &names(|iface| iface.about().not_emulated.is_none())));
        }
        self.check_channel()?;
        self.check_iface()?;
        self.check_emulated().and_then(|()| self.check_speed())
    }

    /// An argument that belongs to other interfaces.
    fn foreign(&self, key: &str, owners: &str) -> Error {
        let mine = self.iface.about().name;
        Error::Invalid(format!("{key} belongs to iface={owners}, not iface={mine}"))
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
            ("shared", 1, queues, "Rx queues"),
            ("group", 0, queues, "Rx queues"),
            ("batch", 1, desc, "descriptors of an Rx queue"),
        ];
        for (key, least, most, what) in limits {
            let given = self.short.iter().rev().find(|(short, _)| *short == key);
            let n = given.and_then(|(_, value)| value.parse::<u32>().ok());
            if let Some(n) = n.filter(|n| *n > most) {
                return Err(invalid(key, &n.to_string(), &format!("{least} to {most}, the {what}")));
            }
        }
        Ok(())
    }
}
