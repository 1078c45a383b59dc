//! A port's arguments: what the user wrote behind `--vdev=net_rxlab0,`.

use core::ffi::CStr;
use core::ops::RangeInclusive;

use memory::Ps;
use rings::{Interface, corec, ddring, dynamic, privring, rxbisect, shring};

use crate::error::Error;
use crate::limits::{QUEUES, TAG, THREADS};

/// Fewest entries of an Ax ring where `ax` is not given: what NICs ask of a ring (rxbisect §4.5).
const LEAST_AX: u32 = 64;
/// Most descriptors of an Rx queue: `RXLAB_MAX_DESC` of the driver.
const MOST_DESC: u32 = 32_768;

/// Speeds that a link can have, in Mbps: `RTE_ETH_SPEED_NUM_*`.
const SPEEDS: [u32; 13] =
    [10, 100, 1000, 2500, 5000, 10_000, 20_000, 25_000, 40_000, 50_000, 56_000, 100_000, 200_000];
/// The link's where no rate says otherwise: programs compute with it.
const USUAL_SPEED: u32 = 100_000;

/// Where a port's frames come from and go to.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Wire {
    /// What is sent comes back.
    Loop,
    /// Generated frames; what is sent is counted and gone.
    Generated(traffic::Spec),
    /// A capture over and over; what is sent is counted and gone.
    Capture(String),
    /// Another DPDK port.
    Port(String),
    /// Another port of this driver, and nobody else.
    Pair(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    PrivRing,
    ShRing,
    RxBisect,
    Dynamic,
    DdRing,
    Corec,
}

impl Kind {
    const ALL: [Kind; 6] =
        [Kind::PrivRing, Kind::ShRing, Kind::RxBisect, Kind::Dynamic, Kind::DdRing, Kind::Corec];

    const fn name(self) -> &'static CStr {
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
    const fn counters(self) -> &'static [&'static CStr] {
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

    fn parse(value: &str) -> Result<Kind, Error> {
        let found = Kind::ALL.into_iter().find(|kind| kind.name().to_bytes() == value.as_bytes());
        found.ok_or_else(|| invalid("iface", value, &names(&Kind::ALL)))
    }
}

/// Names of interfaces, as a sentence has them.
fn names(kinds: &[Kind]) -> String {
    let names: Vec<_> = kinds.iter().map(|kind| kind.name().to_string_lossy()).collect();
    match names.split_last() {
        Some((last, rest)) if !rest.is_empty() => format!("{} or {last}", rest.join(", ")),
        _ => names.concat(),
    }
}

/// A port's arguments, each checked when it is set.
#[derive(Clone, Debug)]
pub struct Args {
    iface: Kind,
    pub(crate) wire: Wire,
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
            wire: Wire::Loop,
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

fn invalid(key: &str, value: &str, allowed: &str) -> Error {
    Error::Invalid(format!("{key}={value}; allowed: {allowed}"))
}

fn number(key: &str, value: &str, range: RangeInclusive<u32>, allowed: &str) -> Result<u32, Error> {
    value.parse().ok().filter(|n| range.contains(n)).ok_or_else(|| invalid(key, value, allowed))
}

/// A number whose limits end what is said of it.
fn limited(key: &str, value: &str, range: RangeInclusive<u32>, what: &str) -> Result<u32, Error> {
    let allowed = format!("{what}, {} to {}", range.start(), range.end());
    number(key, value, range, &allowed)
}

fn refill(key: &str, value: &str) -> Result<ddring::Refill, Error> {
    match value {
        "each" => Ok(ddring::Refill::Each),
        "bulk" => Ok(ddring::Refill::Bulk),
        _ => Err(invalid(key, value, "each (a buffer for each frame) or bulk (a burst's at once)")),
    }
}

fn switch(key: &str, value: &str) -> Result<bool, Error> {
    match value {
        "0" => Ok(false),
        "1" => Ok(true),
        _ => Err(invalid(key, value, "0 or 1")),
    }
}

fn size(key: &str, value: &str) -> Result<Option<u32>, Error> {
    let allowed = "a power of two from 2 to 1048576";
    let n = number(key, value, 2..=1 << 20, allowed)?;
    if n.is_power_of_two() { Ok(Some(n)) } else { Err(invalid(key, value, allowed)) }
}

/// Gbps as bits per second.
fn rate(key: &str, value: &str) -> Result<u64, Error> {
    let gbps = value.parse::<f64>().ok().filter(|g| (0.0..=10_000.0).contains(g));
    let gbps = gbps.ok_or_else(|| invalid(key, value, "Gbps from 0 (no limit) to 10000"))?;
    Ok((gbps * 1e9) as u64)
}

/// Gbps as Mbps.
fn speed(key: &str, value: &str) -> Result<u32, Error> {
    let mbps = value.parse::<f64>().map(|gbps| gbps * 1000.0).ok();
    SPEEDS.into_iter().find(|speed| mbps == Some(f64::from(*speed))).ok_or_else(|| {
        let gbps = SPEEDS.map(|speed| (f64::from(speed) / 1000.0).to_string()).join(", ");
        invalid(key, value, &format!("Gbps, one of {gbps}"))
    })
}

fn wire(value: &str) -> Result<Wire, Error> {
    let allowed = "loop, gen:SPEC, pcap:FILE, port:NAME or pair:NAME";
    let bad = || invalid("source", value, allowed);
    if value == "loop" {
        return Ok(Wire::Loop);
    }
    let (kind, what) = value.split_once(':').ok_or_else(bad)?;
    if what.is_empty() {
        return Err(bad());
    }
    let what = what.to_owned();
    match kind {
        "gen" => match traffic_spec(&what).parse() {
            Ok(spec) => Ok(Wire::Generated(spec)),
            Err(e) => Err(Error::Invalid(format!("source={value}: {e} (here + for a comma, : for =)"))),
        },
        "pcap" => Ok(Wire::Capture(what)),
        "port" => Ok(Wire::Port(what)),
        "pair" => Ok(Wire::Pair(what)),
        _ => Err(bad()),
    }
}

/// A generator's description as crate `traffic` reads it. DPDK takes a comma for the end of an argument and
/// `=` for the end of its name: `fixed:64+flows:4096` stands for `fixed:64,flows=4096`.
fn traffic_spec(what: &str) -> String {
    let mut parts = what.split('+');
    let sizes = parts.next().unwrap_or_default().to_owned();
    parts.fold(sizes, |spec, option| format!("{spec},{}", option.replacen(':', "=", 1)))
}

impl Args {
    /// Takes one argument.
    ///
    /// # Errors
    /// The key is not known or the value not allowed.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), Error> {
        let queues = QUEUES as u32;
        let limited = |range, what| limited(key, value, range, what).map(Some);
        match key {
            "iface" => self.iface = Kind::parse(value)?,
            "source" => self.wire = wire(value)?,
            "rx_rate" => self.rx_bps = rate(key, value)?,
            "tx_rate" => self.tx_bps = rate(key, value)?,
            "link_speed" => self.link_speed = Some(speed(key, value)?),
            "shared" => self.shared = limited(1..=queues, "the number of queues that share a ring")?,
            "ring" => self.ring = size(key, value)?,
            "ax" => self.ax = size(key, value)?,
            "group" => self.group = limited(0..=queues, "the queues of a group (0: all)")?,
            "batch" => self.batch = limited(1..=MOST_DESC, "notices, no more than the Bx ring has entries")?,
            "threads" => self.threads = limited(1..=THREADS, "the number of threads that may poll a queue")?,
            "refill" => self.refill = Some(refill(key, value)?),
            "reorder" => self.reorder = switch(key, value)?,
            "emulate" => self.emulate = switch(key, value)?,
            "timeout_ns" => {
                let ns = number(key, value, 1..=u32::MAX, "nanoseconds from 1")?;
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
        let what = match (&self.wire, self.reorder) {
            _ if !self.emulate => return Ok(()),
            (Wire::Port(_), false) => return Ok(()),
            (Wire::Port(_), true) => "reorder=1, which copies each frame; allowed: reorder=0",
            _ => "a source that has no mbufs; allowed: source=port:NAME",
        };
        Err(Error::Invalid(format!("emulate=1 with {what}")))
    }

    /// Checks what a start tells: `desc` descriptors for each of `queues`.
    ///
    /// # Errors
    /// More than there are.
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

    /// What the link says of its speed, in Mbps: the least of [`SPEEDS`] that has room for the rates, if none is given.
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

    /// The interface with `desc` descriptors for each of `queues`: the ring (`privring`, `ddring`, `corec`),
    /// the completion ring (`shring`, `dynamic`), Bx (`rxbisect`). It has `threads` host halves for each.
    pub(crate) fn interface(&self, desc: u32, queues: u32) -> Interface {
        let (ring, shared_by) = (self.ring.unwrap_or(desc), self.shared.unwrap_or(queues));
        match self.iface {
            Kind::PrivRing => Interface::PrivRing(privring::Sizes { ring: desc }),
            Kind::ShRing => {
                Interface::ShRing(shring::Sizes { ring, shared_by, completions: desc, ..Default::default() })
            }
            Kind::Dynamic => {
                let usual = dynamic::Sizes::default();
                let report = usual.report.min(ring);
                Interface::Dynamic(dynamic::Sizes { ring, shared_by, completions: desc, report, ..usual })
            }
            Kind::DdRing => Interface::DdRing(ddring::Sizes {
                ring: desc,
                shared_by: self.threads(),
                refill: self.refill.unwrap_or(ddring::Refill::Bulk),
            }),
            Kind::Corec => {
                Interface::Corec(corec::Sizes { ring: desc, shared_by: self.threads(), ..Default::default() })
            }
            Kind::RxBisect => {
                let usual = rxbisect::Sizes::default();
                let group = self.group.unwrap_or(usual.group);
                // More than the usual Bx ring has room for needs no buffers: a burst ends there (rxbisect §4.5).
                let (burst, sharing) = (desc.min(usual.bx), if group == 0 { queues } else { group });
                let ax = || rxbisect::Sizes::least_ax(burst, sharing).max(LEAST_AX);
                Interface::RxBisect(rxbisect::Sizes {
                    ax: self.ax.unwrap_or_else(ax),
                    bx: desc,
                    group,
                    batch: self.batch.unwrap_or(usual.batch.min(desc)),
                    timeout: self.timeout.unwrap_or(usual.timeout),
                    alloc_queues: 0,
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use rings::Host;

    use super::*;

    fn set(pairs: &[(&str, &str)]) -> Result<Args, String> {
        let mut args = Args::default();
        for (key, value) in pairs {
            args.set(key, value).map_err(|e| e.to_string())?;
        }
        args.check().map_err(|e| e.to_string())?;
        Ok(args)
    }

    #[test]
    fn what_is_allowed_is_taken() {
        let args =
            set(&[("iface", "rxbisect"), ("ax", "64"), ("source", "gen:fixed:64+flows:4096")]).unwrap();
        assert_eq!(args.iface(), c"rxbisect");
        assert!(matches!(&args.wire, Wire::Generated(s) if s.flows == 4096));
        assert!(matches!(args.interface(512, 4), Interface::RxBisect(s) if s.ax == 64 && s.bx == 512));
        for (group, desc, queues, ax) in [
            ("0", 1024, 1, 1024),
            ("0", 4096, 1, 1024),
            ("0", 1024, 8, 128),
            ("0", 1024, 64, 64),
            ("2", 256, 4, 128),
        ] {
            let args = set(&[("iface", "rxbisect"), ("group", group)]).unwrap();
            let Interface::RxBisect(sizes) = args.interface(desc, queues) else { unreachable!() };
            assert_eq!((sizes.ax, sizes.bx), (ax, desc), "{group} {queues}");
        }
        let args = set(&[("source", "pair:net_rxlab1"), ("rx_rate", "2.5")]).unwrap();
        assert_eq!((args.wire, args.rx_bps), (Wire::Pair("net_rxlab1".into()), 2_500_000_000));
    }

    /// Telemetry and statistics name a half's counters before there is one.
    #[test]
    fn counters_are_named_as_the_rings_name_them() {
        for kind in Kind::ALL {
            let args = Args { iface: kind, ..Args::default() };
            let interface = args.interface(64, 2);
            assert_eq!(interface.name().as_bytes(), kind.name().to_bytes());
            let region = memory::Region::new(1 << 20, memory::Backing::Heap).unwrap();
            let buffers = memory::Space::buffers(&mut &region, &memory::Geometry::dpdk(1)).unwrap();
            let (hosts, _nic) = rings::build(&mut &region, &interface, 2, buffers).unwrap();
            let theirs: Vec<_> = hosts[0].counters().into_iter().map(|(name, _)| name).collect();
            let ours: Vec<_> = (0..).map_while(|i| args.counter(i)?.to_str().ok()).collect();
            assert_eq!(ours, theirs);
            assert!(ours.len() <= crate::counters::HOST_COUNTERS);
        }
    }

    #[test]
    fn threads_share_a_queue_only_where_the_interface_allows_it() {
        let threads = |pairs: &[(&str, &str)]| Args { lcores: 7, ..set(pairs).unwrap() }.threads();
        assert_eq!(threads(&[("iface", "shring")]), 1);
        assert_eq!(threads(&[("iface", "ddring")]), 1);
        assert_eq!(threads(&[("iface", "ddring"), ("threads", "4")]), 4);
        assert_eq!(threads(&[("iface", "corec")]), 7);
        assert_eq!(threads(&[("iface", "corec"), ("threads", "128")]), 128);
    }

    #[test]
    fn what_a_start_does_not_have_is_named_as_it_was_written() {
        let shared = set(&[("iface", "shring"), ("shared", "64")]).unwrap();
        assert!(shared.fits(1024, 64).is_ok());
        assert_eq!(
            shared.fits(1024, 2).unwrap_err().to_string(),
            "shared=64; allowed: 1 to 2, the Rx queues"
        );
        let cut = set(&[("iface", "rxbisect"), ("group", "64"), ("batch", "32768")]).unwrap();
        assert!(cut.fits(32_768, 64).is_ok());
        assert_eq!(cut.fits(32_768, 8).unwrap_err().to_string(), "group=64; allowed: 0 to 8, the Rx queues");
        let said = cut.fits(512, 64).unwrap_err().to_string();
        assert_eq!(said, "batch=32768; allowed: 1 to 512, the descriptors of an Rx queue");
        for iface in Kind::ALL {
            let args = Args { iface, ..Args::default() };
            assert!(args.fits(64, 1).is_ok() && args.interface(64, 1).validate(1).is_ok());
        }
    }

    #[test]
    fn the_link_has_a_speed_with_room_for_the_rates() {
        for (args, mbps) in [
            (&[][..], 100_000),
            (&[("rx_rate", "0.1")], 100),
            (&[("rx_rate", "7"), ("tx_rate", "12")], 20_000),
            (&[("tx_rate", "0.000000001")], 10),
            (&[("rx_rate", "300")], 200_000),
            (&[("link_speed", "2.5")], 2500),
            (&[("link_speed", "40"), ("rx_rate", "7")], 40_000),
        ] {
            assert_eq!(set(args).unwrap().speed(), mbps, "{args:?}");
        }
        let said = set(&[("link_speed", "3")]).unwrap_err();
        assert_eq!(
            said,
            "link_speed=3; allowed: Gbps, one of 0.01, 0.1, 1, 2.5, 5, 10, 20, 25, 40, 50, 56, 100, 200"
        );
        let said = set(&[("link_speed", "10"), ("tx_rate", "12.5")]).unwrap_err();
        assert_eq!(said, "link_speed=10; allowed: no less than tx_rate=12.5");
    }

    #[test]
    fn every_wrong_value_is_named_with_what_is_allowed() {
        let wrong = [
            ("iface", "corecc"),
            ("source", "gen:"),
            ("source", "tap:x"),
            ("source", "gen:fixed:64+flaws:3"),
            ("rx_rate", "-1"),
            ("tx_rate", "nan"),
            ("link_speed", "0"),
            ("link_speed", "fast"),
            ("shared", "0"),
            ("shared", "65"),
            ("shared", "5000"),
            ("ax", "100"),
            ("ring", "1"),
            ("group", "-1"),
            ("group", "65"),
            ("batch", "0"),
            ("batch", "32769"),
            ("timeout_ns", "soon"),
            ("threads", "0"),
            ("threads", "129"),
            ("refill", "all"),
            ("reorder", "yes"),
            ("emulate", "2"),
        ];
        for (key, value) in wrong {
            let said = set(&[(key, value)]).unwrap_err();
            assert!(said.contains(key) && said.contains(value) && said.contains("allowed"), "{said}");
            assert!(!said.contains('\n'));
        }
        let said = set(&[("iface", "corec"), ("refill", "bulk")]).unwrap_err();
        assert!(said.contains("iface=ddring, not iface=corec"), "{said}");
        let said = set(&[("emulate", "1")]).unwrap_err();
        assert!(said.contains("emulate=1") && said.contains("source=port:NAME"), "{said}");
        let said = set(&[("emulate", "1"), ("source", "port:x"), ("reorder", "1")]).unwrap_err();
        assert!(said.contains("reorder=0"), "{said}");
        for iface in ["dynamic", "corec", "ddring"] {
            let said = set(&[("iface", iface), ("emulate", "1"), ("source", "port:x")]).unwrap_err();
            assert!(said.contains("iface=privring, shring or rxbisect") && said.contains(iface), "{said}");
        }
        assert!(set(&[("emulate", "1"), ("source", "port:x")]).is_ok());
        assert!(set(&[("colour", "red")]).unwrap_err().contains("colour"));
        assert!(set(&[("ax", "64")]).unwrap_err().contains("iface=rxbisect"));
        let said = set(&[("iface", "rxbisect"), ("shared", "2")]).unwrap_err();
        assert!(said.contains("iface=shring or dynamic, not iface=rxbisect"), "{said}");
    }
}
