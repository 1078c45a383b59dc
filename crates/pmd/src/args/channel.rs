//! A port whose wire is a channel to another process.

use std::path::PathBuf;

use ccnic::Config;

use super::Args;
use super::parse::invalid;
use crate::error::Error;

/// Who waits for whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meet {
    /// Connects where somebody listens, and listens itself where nobody does.
    Either,
    /// Waits for the other side.
    Listen,
    /// Goes to the other side.
    Connect,
}

/// The other process, and what both have to be configured alike.
#[derive(Clone, Debug)]
pub(crate) struct Wire {
    pub(crate) path: PathBuf,
    pub(crate) meet: Meet,
    pub(crate) config: Config,
}

impl Args {
    /// Takes one argument of a channel.
    ///
    /// # Errors
    /// The value is not allowed.
    pub(super) fn set_channel(&mut self, key: &str, value: &str) -> Result<(), Error> {
        match key {
            "channel" => self.channel = Some(value.into()),
            "channel_role" => {
                self.meet = match value {
                    "either" => Meet::Either,
                    "listen" => Meet::Listen,
                    "connect" => Meet::Connect,
                    _ => return Err(invalid(key, value, "either, listen or connect")),
                }
            }
            _ => {
                // DPDK takes a comma for the end of an argument.
                let text = value.replace('+', ",").replace(':', "=");
                let config = text.parse().map_err(|e| Error::Invalid(format!("{key}={value}: {e}")));
                self.channel_conf = Some(config?);
            }
        }
        Ok(())
    }

    /// What the port's wire is, if it is a channel.
    pub(crate) fn wire(&self) -> Option<Wire> {
        let path = self.channel.clone()?.into();
        Some(Wire { path, meet: self.meet, config: self.channel_conf.unwrap_or_default() })
    }

    /// Checks what belongs to a channel, and what one rules out. Its sizes are its own.
    pub(super) fn check_channel(&self) -> Result<(), Error> {
        let wrong = |what: String| Err(Error::Invalid(what));
        let Some(path) = &self.channel else {
            return match (self.channel_conf, self.meet) {
                (None, Meet::Either) => Ok(()),
                (Some(_), _) => wrong("channel_conf without a channel; allowed: with channel=PATH".into()),
                _ => wrong("channel_role without a channel; allowed: with channel=PATH".into()),
            };
        };
        if self.iface.about().name != "ccnic" {
            let mine = self.iface.about().name;
            return wrong(format!("channel={path} with iface={mine}; allowed: iface=ccnic"));
        }
        if self.iface != usual_ccnic() || !self.short.is_empty() {
            return wrong(format!("channel={path} with sizes of rings; allowed: channel_conf=KEY:VALUE+..."));
        }
        let usual = Args::default();
        let others = [
            ("source", self.source != usual.source),
            ("reorder", self.reorder),
            ("emulate", self.emulate),
            ("rx_rate", self.rx_bps != 0),
            ("tx_rate", self.tx_bps != 0),
        ];
        match others.into_iter().find(|(_, given)| *given) {
            Some((key, _)) => wrong(format!("channel={path} with {key}; allowed: either of the two")),
            None => Ok(()),
        }
    }
}

/// The interface of a channel, named and no more.
fn usual_ccnic() -> rings::Written {
    super::iface::parse("ccnic").unwrap_or_else(|_| super::usual())
}
