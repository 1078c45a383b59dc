//! The interfaces by name, and what their host halves count.

use core::ffi::CStr;

use super::parse::invalid;
use crate::error::Error;

/// An interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    PrivRing,
    ShRing,
    RxBisect,
    Dynamic,
    DdRing,
    Corec,
}

impl Kind {
    pub(super) const ALL: [Kind; 6] =
        [Kind::PrivRing, Kind::ShRing, Kind::RxBisect, Kind::Dynamic, Kind::DdRing, Kind::Corec];

    pub(super) const fn name(self) -> &'static CStr {
        match self {
            Kind::PrivRing => c"privring",
            Kind::ShRing => c"shring",
            Kind::RxBisect => c"rxbisect",
            Kind::Dynamic => c"dynamic",
            Kind::DdRing => c"ddring",
            Kind::Corec => c"corec",
        }
    }

    /// Names of the counters of a host half, in its order.
    pub(super) const fn counters(self) -> &'static [&'static CStr] {
        match self {
            Kind::PrivRing => &[c"debts", c"faults"],
            Kind::ShRing => &[c"lock_taken", c"lock_waits", c"debts", c"faults"],
            Kind::RxBisect => &[c"foreign", c"debts", c"faults"],
            Kind::DdRing => &[c"lock_taken", c"lock_waits", c"debts", c"faults"],
            Kind::Corec => &[c"claims", c"failed_claims", c"deferred_releases", c"debts", c"faults"],
            Kind::Dynamic => &[
                c"by_shared",
                c"by_private",
                c"trials",
                c"switches",
                c"lock_taken",
                c"lock_waits",
                c"debts",
                c"faults",
            ],
        }
    }

    pub(super) fn parse(value: &str) -> Result<Kind, Error> {
        let found = Kind::ALL.into_iter().find(|kind| kind.name().to_bytes() == value.as_bytes());
        found.ok_or_else(|| invalid("iface", value, &names(&Kind::ALL)))
    }
}

/// Names of interfaces, as a sentence has them.
pub(super) fn names(kinds: &[Kind]) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name().to_string_lossy()).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}
