//! The interface that arguments ask for, and its names as C has them.

use core::ffi::CStr;
use std::ffi::CString;
use std::sync::LazyLock;

use rings::{About, Interface, Place, Written};

use super::parse::invalid;
use super::{Args, MOST_DESC};
use crate::error::Error;
use crate::limits::{QUEUES, THREADS};

/// The parameter to which an argument gives a value: the short form of `iface=NAME:PARAMETER:VALUE`.
pub(super) fn parameter(key: &str) -> &str {
    if matches!(key, "shared" | "threads") { "shared_by" } else { key }
}

/// Whether argument `key` speaks of a parameter of `iface`. Queues share a ring, or threads share a queue.
pub(super) fn owns(iface: &Written, key: &str) -> bool {
    let about = iface.about();
    let suits = match key {
        "shared" => !about.many_pollers,
        "threads" => about.many_pollers,
        _ => parameter(key) != about.descriptors,
    };
    suits && iface.has(parameter(key))
}

/// Reads `NAME:PARAMETER:VALUE+PARAMETER:VALUE`. DPDK takes a comma for the end of an argument and `=` for the end
/// of its name: `shring:ring:1024+unlock:swap` stands for `shring:ring=1024,unlock=swap`.
pub(super) fn parse(value: &str) -> Result<Written, Error> {
    let Some((name, rest)) = value.split_once(':') else {
        return value.parse().map_err(|_| invalid("iface", value, &names(|_| true)));
    };
    let said: Vec<String> = rest.split('+').map(|piece| piece.replacen(':', "=", 1)).collect();
    let text = format!("{name}:{}", said.join(","));
    let wrong =
        |e: rings::SizeError| Error::Invalid(format!("iface={value}: {e} (here + for a comma, : for =)"));
    let written: Written = text.parse().map_err(wrong)?;
    let asked = written.about().descriptors;
    if written.says(asked) {
        let allowed =
            format!("other parameters: a queue's descriptors, for which its program asks, are {asked}");
        return Err(invalid("iface", value, &allowed));
    }
    Ok(written)
}

/// Names of the interfaces that are `wanted`, as a sentence has them.
pub(super) fn names(wanted: impl Fn(&Written) -> bool) -> String {
    let all = Interface::ALL.iter().filter_map(|about| about.name.parse::<Written>().ok());
    let names: Vec<&str> = all.filter(wanted).map(|one| one.about().name).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

impl Args {
    /// The interface with `desc` descriptors for each of `queues`: the ring (`privring`, `ddring`, `corec`),
    /// the completion ring (`shring`, `dynamic`), Bx (`rxbisect`). It has `threads` host halves for each.
    pub(crate) fn interface(&self, desc: u32, queues: u32) -> Interface {
        let mut iface = self.iface.clone();
        for (key, value) in self.short.iter().filter(|(key, _)| !self.iface.says(parameter(key))) {
            // Its value was read before, and whether the interface has it is told by `check`.
            iface.set(parameter(key), value).ok();
        }
        iface.on(&Place { queues, pollers: self.lcores, descriptors: Some(desc), cached: None })
    }

    /// Host halves of a queue: threads that may poll it.
    pub(crate) fn threads(&self) -> u32 {
        self.interface(MOST_DESC, 1).pollers()
    }

    /// Checks what is said with the interface, as far as that goes before a start tells how many queues there are.
    pub(super) fn check_iface(&self) -> Result<(), Error> {
        let wrong = |what: String| Error::Invalid(format!("iface={}: {what}", self.iface));
        let threads = self.threads();
        if !(1..=THREADS).contains(&threads) {
            return Err(wrong(format!("{threads} threads poll a queue; allowed: 1 to {THREADS}")));
        }
        let with = |queues: u32| {
            let (interface, halves) = (self.interface(MOST_DESC, queues), queues.max(threads));
            if interface.hosts(halves) != halves {
                return Err(wrong(
                    "host halves beside those of the queues; allowed: none in a driver".into(),
                ));
            }
            interface.validate(halves).map_err(|e| wrong(e.to_string()))
        };
        // What fits neither few queues nor many fits no start.
        with(1).or_else(|_| with(QUEUES as u32))
    }

    /// The interface's name.
    pub(crate) fn iface(&self) -> &'static CStr {
        &self.names().name
    }

    /// The name of a host half's counter.
    pub(crate) fn counter(&self, i: usize) -> Option<&'static CStr> {
        self.names().counters.get(i).map(CString::as_c_str)
    }

    /// The name of a NIC half's level.
    pub(crate) fn level(&self, i: usize) -> Option<&'static CStr> {
        self.names().levels.get(i).map(CString::as_c_str)
    }

    /// Names of all of them.
    pub(crate) fn levels(&self) -> &'static [&'static str] {
        self.iface.about().levels
    }

    fn names(&self) -> &'static Names {
        let mine = Interface::ALL.iter().position(|about| about.name == self.iface.about().name);
        &NAMES[mine.unwrap_or_default()]
    }
}

/// What C is told of an interface.
struct Names {
    name: CString,
    counters: Vec<CString>,
    levels: Vec<CString>,
}

impl Names {
    fn of(about: &About) -> Names {
        // Names have no zero byte.
        let text = |name: &str| CString::new(name).unwrap_or_default();
        let texts = |names: &[&str]| names.iter().map(|name| text(name)).collect();
        Names { name: text(about.name), counters: texts(about.counters), levels: texts(about.levels) }
    }
}

/// Those of all interfaces, in the order of [`Interface::ALL`].
static NAMES: LazyLock<Vec<Names>> =
    LazyLock::new(|| Interface::ALL.iter().map(|about| Names::of(about)).collect());
