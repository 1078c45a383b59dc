//! What can be measured, and the cases of each.

use memory::Side;
use model::bench::{self, Error, Holder, Layout, Path, Target};
use model::profile::Server;

use crate::fail::Fail;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Measure {
    /// A load of a line, by where it is and whose memory it belongs to.
    Access,
    /// Two words handed over and back, by where they lie.
    PingPong,
    /// Data from the host's cores to the NIC's, by pairs of cores.
    Stream,
    /// Stores of a core, by bytes a barrier.
    Writes,
    /// Stores of a core to registers of a card, by their number.
    Stores,
}

/// Fields by name.
type Fields = Vec<(&'static str, f64)>;

/// A case of a measure.
#[derive(Debug)]
pub(crate) struct Case {
    /// Its name.
    pub name: &'static str,
    /// What it is.
    pub about: &'static str,
    /// Measures it with a swept value, and MiB of each pair where that matters.
    pub run: fn(&Server, u32, u64) -> Result<Fields, Error>,
}

impl Measure {
    const ALL: [Measure; 5] =
        [Measure::Access, Measure::PingPong, Measure::Stream, Measure::Writes, Measure::Stores];

    /// By its name.
    ///
    /// # Errors
    /// Names what is allowed.
    pub(super) fn find(name: &str) -> Result<Measure, Fail> {
        let found = Measure::ALL.into_iter().find(|m| m.name() == name);
        let known = Measure::ALL.map(Measure::name).join(", ");
        found.ok_or_else(|| Fail::new(format!("--measure {name}: allowed: {known}")))
    }

    pub(crate) fn name(self) -> &'static str {
        match self {
            Measure::Access => "access",
            Measure::PingPong => "ping-pong",
            Measure::Stream => "stream",
            Measure::Writes => "writes",
            Measure::Stores => "stores",
        }
    }

    /// The option that is swept.
    pub(crate) fn swept(self) -> Option<&'static str> {
        match self {
            Measure::Access | Measure::PingPong => None,
            Measure::Stream => Some("pairs"),
            Measure::Writes => Some("bytes"),
            Measure::Stores => Some("count"),
        }
    }

    /// The measure that has an option.
    pub(super) fn of_option(option: &str) -> Measure {
        match option {
            "bytes" => Measure::Writes,
            "count" => Measure::Stores,
            _ => Measure::Stream,
        }
    }

    /// Values that are swept where none is given.
    pub(super) fn defaults(self, cores: u32) -> Vec<u32> {
        match self {
            Measure::Access | Measure::PingPong => Vec::new(),
            Measure::Stream => {
                let powers = (0..31).map(|n| 1 << n).take_while(|n| *n < cores);
                powers.chain([cores]).collect()
            }
            Measure::Writes => (6..=13).map(|n| 1 << n).collect(),
            Measure::Stores => [1].into_iter().chain((8..=64).step_by(8)).collect(),
        }
    }

    /// All cases.
    pub(super) fn cases(self) -> &'static [Case] {
        match self {
            Measure::Access => ACCESS,
            Measure::PingPong => PING_PONG,
            Measure::Stream => STREAM,
            Measure::Writes => WRITES,
            Measure::Stores => STORES,
        }
    }

    /// The case of a name, or all.
    ///
    /// # Errors
    /// Names what is allowed.
    pub(super) fn cases_named(self, name: Option<&str>) -> Result<Vec<&'static Case>, Fail> {
        let named = |case: &&Case| name.is_none_or(|name| case.name == name);
        let found: Vec<&Case> = self.cases().iter().filter(named).collect();
        match (found.is_empty(), name) {
            (true, Some(name)) => {
                let known: Vec<&str> = self.cases().iter().map(|case| case.name).collect();
                let known = known.join(", ");
                Err(Fail::new(format!("--case {name}: allowed with --measure {}: {known}", self.name())))
            }
            _ => Ok(found),
        }
    }
}

const fn case(
    name: &'static str,
    about: &'static str,
    run: fn(&Server, u32, u64) -> Result<Fields, Error>,
) -> Case {
    Case { name, about, run }
}

const ACCESS: &[Case] = &[
    case("local-l2", "another core's L2 of the own socket", |s, _, _| {
        latency(s, Holder::L2, false, Side::Host)
    }),
    case("local-llc", "the LLC of the own socket", |s, _, _| latency(s, Holder::Llc, false, Side::Host)),
    case("local-dram", "memory of the own socket", |s, _, _| latency(s, Holder::Dram, false, Side::Host)),
    case("remote-l2-rh", "an L2 of the other socket, of that socket's memory", |s, _, _| {
        latency(s, Holder::L2, true, Side::Nic)
    }),
    case("remote-l2-lh", "an L2 of the other socket, of the own socket's memory", |s, _, _| {
        latency(s, Holder::L2, true, Side::Host)
    }),
    case("remote-llc-rh", "the LLC of the other socket, of that socket's memory", |s, _, _| {
        latency(s, Holder::Llc, true, Side::Nic)
    }),
    case("remote-llc-lh", "the LLC of the other socket, of the own socket's memory", |s, _, _| {
        latency(s, Holder::Llc, true, Side::Host)
    }),
    case("remote-dram", "memory of the other socket", |s, _, _| latency(s, Holder::Dram, true, Side::Nic)),
    case("register", "a register of the card over PCIe", |s, _, _| {
        Ok(vec![("latency_ns", bench::mmio_read(s)?.0 as f64 / 1e3)])
    }),
];

const PING_PONG: &[Case] = &[
    case("separate-host", "two lines of the host's memory", |s, _, _| {
        ping_pong(s, Layout::Separate(Side::Host))
    }),
    case("separate-nic", "two lines of the NIC's memory", |s, _, _| {
        ping_pong(s, Layout::Separate(Side::Nic))
    }),
    case("reader", "two lines, each homed with its reader", |s, _, _| ping_pong(s, Layout::Reader)),
    case("writer", "two lines, each homed with its writer", |s, _, _| ping_pong(s, Layout::Writer)),
    case("together-host", "one line of the host's memory", |s, _, _| {
        ping_pong(s, Layout::Together(Side::Host))
    }),
    case("together-nic", "one line of the NIC's memory", |s, _, _| ping_pong(s, Layout::Together(Side::Nic))),
];

const STREAM: &[Case] = &[
    case("caching", "through the writer's caches, memory of the writer's socket", |s, pairs, mib| {
        stream(s, Path::Cached, pairs, mib)
    }),
    case("nontemporal", "past the writer's caches, into memory of the reader's socket", |s, pairs, mib| {
        stream(s, Path::Streaming, pairs, mib)
    }),
    case("read", "nobody writes: memory of the other socket is read", |s, pairs, mib| {
        stream(s, Path::Read, pairs, mib)
    }),
];

const WRITES: &[Case] = &[
    case("mmio", "registers of the card, mapped write-combining", |s, bytes, _| {
        writes(s, Target::Mmio, bytes)
    }),
    case("wc-dram", "memory, past the caches", |s, bytes, _| writes(s, Target::Combining, bytes)),
    case("wb-dram", "memory, through the caches", |s, bytes, _| writes(s, Target::Cached, bytes)),
];

const STORES: &[Case] =
    &[case("mmio", "a word each into a line of its own of the card's, mapped write-combining", |s, n, _| {
        Ok(vec![("latency_ns", bench::stores(s, n)?.0 as f64 / 1e3)])
    })];

fn latency(server: &Server, holder: Holder, remote: bool, home: Side) -> Result<Fields, Error> {
    Ok(vec![("latency_ns", bench::latency(server, holder, remote, home)?.0 as f64 / 1e3)])
}

fn ping_pong(server: &Server, layout: Layout) -> Result<Fields, Error> {
    let found = bench::ping_pong(server, layout)?;
    Ok(vec![
        ("latency_ns", found.trip.0 as f64 / 1e3),
        ("remote_reads", found.reads),
        ("remote_rfos", found.rfos),
    ])
}

fn stream(server: &Server, path: Path, pairs: u32, mib: u64) -> Result<Fields, Error> {
    let found = bench::stream(server, path, pairs, mib)?;
    Ok(vec![
        ("throughput_gbps", found.gbytes * 8.0),
        ("remote_reads", found.reads),
        ("remote_rfos", found.rfos),
        ("dram_lines", found.dram_lines),
    ])
}

fn writes(server: &Server, target: Target, bytes: u32) -> Result<Fields, Error> {
    Ok(vec![("throughput_gbps", bench::writes(server, target, bytes)? * 8.0)])
}
