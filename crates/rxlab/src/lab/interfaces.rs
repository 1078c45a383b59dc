//! Interfaces by their names, with the sizes that a command line asks for.

use rings::corec::Marks;
use rings::ddring::Refill;
use rings::shring::Unlock;
use rings::{Interface, corec, ddring, dynamic, privring, rxbisect, shring};

use serde::Serialize;

use crate::fail::Fail;

/// What is compared unless told otherwise.
pub(crate) const DEFAULT: [&str; 3] = ["privring", "shring", "rxbisect"];

/// What an option for interfaces allows.
pub(crate) const ALLOWED: &str = "privring, shring, rxbisect, dynamic, corec, ddring";

/// What gives an interface today.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Today {
    /// Cards and drivers that one can buy and install.
    Yes,
    /// Cards that one can buy, with a driver that must be changed for it.
    Driver,
    /// Nothing: prototypes and papers; in software, on a core of its own, `emulate=1` of the DPDK driver.
    No,
}

impl Today {
    /// As tables have it.
    pub(crate) const fn word(self) -> &'static str {
        match self {
            Today::Yes => "yes",
            Today::Driver => "driver",
            Today::No => "no",
        }
    }

    /// Of the interface called `name`; docs/interfaces.md says which cards and drivers.
    pub(crate) fn of(name: &str) -> Today {
        match name {
            "privring" | "ddring" => Today::Yes,
            "corec" => Today::Driver,
            _ => Today::No,
        }
    }
}

/// The sizes of all interfaces, as options have them.
pub(crate) struct Asked<'a> {
    /// Rx ring entries, of all but rxbisect.
    pub ring: u32,
    /// Ax and Bx ring entries of a core.
    pub ax_bx: [u32; 2],
    /// Cores that share a ring.
    pub shared_by: Option<u32>,
    /// How a core of shring and dynamic frees its ring's lock.
    pub unlock: &'a str,
    /// How a core of ddring takes buffers.
    pub refill: &'a str,
    /// Which batches corec marks.
    pub marks: &'a str,
}

impl Asked<'_> {
    /// The interface called `name` on a port of `queues`; its sizes are not validated.
    ///
    /// # Errors
    /// A name that is not known, and what is allowed.
    pub(crate) fn interface(&self, name: &str, queues: u32) -> Result<Interface, Fail> {
        let ring = self.ring;
        // A value that is not allowed is refused, whether the interface uses it or not.
        let (unlock, marks, refill) = (unlock(self.unlock)?, marks(self.marks)?, refill(self.refill)?);
        let [ax, bx] = self.ax_bx;
        let shared_by = self.shared_by.unwrap_or(if name == "ddring" { 1 } else { queues });
        Ok(match name {
            "privring" => Interface::PrivRing(privring::Sizes { ring }),
            "shring" => Interface::ShRing(shring::Sizes { ring, shared_by, unlock, ..Default::default() }),
            "rxbisect" => {
                let sizes = rxbisect::Sizes::default();
                Interface::RxBisect(rxbisect::Sizes { ax, bx, batch: sizes.batch.min(bx), ..sizes })
            }
            "dynamic" => Interface::Dynamic(dynamic::Sizes { ring, shared_by, unlock, ..Default::default() }),
            "corec" => Interface::Corec(corec::Sizes { ring, shared_by, marks }),
            "ddring" => Interface::DdRing(ddring::Sizes { ring, shared_by, refill }),
            _ => return Err(Fail::new(format!("unknown interface `{name}`; allowed: {ALLOWED}"))),
        })
    }
}

/// How a lock is freed, by its name.
fn unlock(name: &str) -> Result<Unlock, Fail> {
    match name {
        "store" => Ok(Unlock::Store),
        "swap" => Ok(Unlock::Swap),
        _ => Err(Fail::new(format!("--unlock: unknown `{name}`; allowed: store, swap"))),
    }
}

/// Which batches are marked, by its name.
fn marks(name: &str) -> Result<Marks, Fail> {
    match name {
        "each" => Ok(Marks::Each),
        "waiting" => Ok(Marks::Waiting),
        _ => Err(Fail::new(format!("--marks: unknown `{name}`; allowed: each, waiting"))),
    }
}

/// How buffers are taken, by its name.
fn refill(name: &str) -> Result<Refill, Fail> {
    match name {
        "each" => Ok(Refill::Each),
        "bulk" => Ok(Refill::Bulk),
        _ => Err(Fail::new(format!("--refill: unknown `{name}`; allowed: each, bulk"))),
    }
}
