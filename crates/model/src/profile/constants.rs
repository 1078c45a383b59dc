//! The constants of a profile: each with its name, which profiles have it, and what it may be.

use serde::{Deserialize, Serialize};

use super::NicKind::{self, Card, Core};
use super::range::Range;

/// A number of the model with where it comes from: `published: source`, `measured: how`, or
/// `assumed: id` (an entry of docs/assumptions.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(
    deny_unknown_fields,
    expecting = "a number with its origin, such as { value = 12.5, origin = \"measured: how\" }"
)]
pub struct Constant {
    /// In the unit that the name ends with.
    pub value: f64,
    /// `published: ...`, `measured: ...`, `assumed: ...`, `fitted: ...`, or `stated: ...` on a command line.
    pub origin: String,
}

impl Constant {
    /// Whether the profile does not have it: it says nothing about this kind of server.
    pub fn is_absent(&self) -> bool {
        self.origin.is_empty()
    }
}

/// Which profiles have a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Of {
    /// All.
    Any,
    /// Those with this kind of NIC, and no others.
    Only(NicKind),
    /// Those with a card; others may have it.
    Card,
    /// Those with this kind of NIC may have it, no others.
    Some(NicKind),
}

impl Of {
    /// Whether a profile with this kind of NIC has to have it, and whether it may.
    pub(super) fn of(self, kind: NicKind) -> (bool, bool) {
        let needed = self == Of::Any || self == Of::Only(kind) || self == Of::Card && kind.is_card();
        (needed, needed || self == Of::Card || self == Of::Some(kind))
    }
}

/// A constant of a profile and what it may be.
pub(super) struct Row<'a> {
    pub name: &'static str,
    pub constant: &'a Constant,
    pub of: Of,
    pub range: &'static Range,
}

/// The struct and its table from one list: a constant without a range does not compile.
macro_rules! constants {
    ($($(#[$doc:meta])+ $name:ident: $of:expr, $range:expr;)+) => {
        /// The numbers of the model, see docs/assumptions.md.
        #[derive(Clone, Debug, Default, Serialize, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct Constants {
            $($(#[$doc])+
            #[serde(default, skip_serializing_if = "Constant::is_absent")]
            pub $name: Constant,)+
        }

        /// What each constant may be, by name.
        pub(super) static RANGES: &[(&str, Range)] = &[$((stringify!($name), $range)),+];

        impl Constants {
            pub(super) fn table(&self) -> Vec<Row<'_>> {
                let constants = [$((&self.$name, $of)),+];
                let rows = RANGES.iter().zip(constants);
                rows.map(|((name, range), (constant, of))| Row { name, constant, of, range }).collect()
            }
        }
    };
}

constants! {
    /// L2 hit.
    l2_hit_ns: Of::Any, Range::real(0.2, 100.0, "ns");
    /// LLC hit.
    llc_hit_ns: Of::Any, Range::real(1.0, 1000.0, "ns");
    /// A line from another core's L2.
    snoop_ns: Of::Any, Range::real(1.0, 5000.0, "ns");
    /// From one line that a core takes from another, to store into it, to the next at the least; none where the
    /// profile does not say.
    taken_ns: Of::Some(Core), Range::real(0.0, 5000.0, "ns");
    /// DRAM, idle.
    dram_idle_ns: Of::Any, Range::real(10.0, 5000.0, "ns");
    /// DRAM under load: `idle + load * u / (1 - u)`.
    dram_load_ns: Of::Any, Range::real(0.0, 5000.0, "ns");
    /// Share of the peak bandwidth at which `u` is 1.
    dram_usable: Of::Any, Range::real(0.05, 1.0, "of the peak");
    /// DRAM peak, GB/s.
    dram_peak_gbytes: Of::Any, Range::real(0.5, 10_000.0, "GB/s");
    /// PCIe payload and headers, each way, GB/s.
    pcie_gbytes: Of::Only(Card), Range::real(0.2, 256.0, "GB/s");
    /// Largest TLP payload, bytes.
    pcie_tlp_bytes: Of::Only(Card), Range::whole(64, 4096, "bytes");
    /// Header, CRC and framing of a TLP, bytes.
    pcie_overhead_bytes: Of::Only(Card), Range::whole(0, 256, "bytes");
    /// From the card to the cache, one way.
    pcie_write_ns: Of::Only(Card), Range::real(10.0, 20_000.0, "ns");
    /// A DMA read, request to data.
    pcie_read_ns: Of::Only(Card), Range::real(10.0, 20_000.0, "ns");
    /// A doorbell, core to card.
    doorbell_ns: Of::Only(Card), Range::real(10.0, 20_000.0, "ns");
    /// The card's own receive buffer of a port, KiB.
    nic_buffer_kib: Of::Only(Card), Range::real(1.0, 262_144.0, "KiB");
    /// Frames that the card's pipeline takes in a second, millions, however short they are.
    nic_mpps: Of::Some(Card), Range::real(0.1, 10_000.0, "million frames/s");
    /// Descriptors of a row that the card writes back together, where completions go into them; 1 where the
    /// profile does not say.
    write_back_descriptors: Of::Some(Card), Range::whole(1, 8, "descriptors");
    /// The shortest time between two write-backs of a ring that do not wait for the rest of the row.
    write_back_us: Of::Some(Card), Range::real(0.0, 10_000.0, "us");
    /// Rate of one transmit queue, Gbps on the wire; 0 where none is slower than its port.
    tx_queue_gbps: Of::Only(Card), Range::real(0.1, 1600.0, "Gbps").or_zero();
    /// Cycles of a ring operation in L1.
    op_cycles: Of::Any, Range::real(0.1, 1000.0, "cycles");
    /// Cycles of an uncontended atomic.
    atomic_cycles: Of::Any, Range::real(0.1, 10_000.0, "cycles");
    /// Base cycles of a frame in L3FWD.
    l3fwd_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
    /// Base cycles of a frame in LB.
    lb_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
    /// Base cycles of a frame in NAT.
    nat_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
    /// Base cycles of a frame in NF.
    nf_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
    /// Cycles to seal a packet by ESP, beside those of its bytes.
    esp_frame_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
    /// Cycles to encipher and sign a byte.
    esp_byte_cycles: Of::Card, Range::real(0.0, 1000.0, "cycles");
    /// The load generator's share of a measured latency, microseconds.
    generator_us: Of::Only(Card), Range::real(0.0, 100_000.0, "us");
    /// The way to the other socket and back, on top of a local access.
    remote_ns: Of::Card, Range::real(0.0, 10_000.0, "ns");
    /// How long all cores stand still now and then, whatever runs on them.
    pause_us: Of::Card, Range::real(0.0, 100_000.0, "us");
    /// From one such pause to the next.
    pause_every_ms: Of::Card, Range::real(0.1, 1e6, "ms");
    /// Cycles between two looks of a core that spins on a word, the length of its pause instruction; 0 where
    /// the profile does not say.
    spin_cycles: Of::Some(Card), Range::real(0.0, 10_000.0, "cycles");
    /// Lines that a STREAM thread of the other socket has under way.
    stream_lines: Of::Card, Range::real(1.0, 1000.0, "lines");
    /// Lines that a PageRank thread of the other socket has under way.
    pagerank_lines: Of::Card, Range::real(1.0, 1000.0, "lines");
    /// Lines that a core fetches at a time for loads that do not wait for each other.
    load_lines: Of::Any, Range::real(1.0, 1e5, "lines");
    /// The same for lines that lie one behind the other, which the processor fetches ahead.
    run_lines: Of::Only(Core), Range::real(1.0, 1e5, "lines");
    /// Lines that a core fetches at a time for its stores.
    store_lines: Of::Only(Core), Range::real(1.0, 1e5, "lines");
    /// The same for lines that lie one behind the other.
    store_run_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `load_lines`, of lines that the LLC has. Where the profile does not have this constant or one of those that
    /// follow, such lines come as all others do.
    llc_load_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `run_lines`, of lines that the LLC has.
    llc_run_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `store_lines`, of lines that the LLC has.
    llc_store_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `store_run_lines`, of lines that the LLC has.
    llc_store_run_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `load_lines`, of lines that another core's L1 has.
    l1_load_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `run_lines`, of lines that another core's L1 has.
    l1_run_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `store_lines`, of lines that another core's L1 has.
    l1_store_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// As `store_run_lines`, of lines that another core's L1 has.
    l1_store_run_lines: Of::Some(Core), Range::real(1.0, 1e5, "lines");
    /// Cycles to read all bytes of a line that is here.
    read_line_cycles: Of::Only(Core), Range::real(0.0, 10_000.0, "cycles");
    /// Cycles to copy a line from one that is here to another.
    copy_line_cycles: Of::Only(Core), Range::real(0.0, 10_000.0, "cycles");
    /// Cycles of a software NIC to parse and hash a frame.
    classify_cycles: Of::Only(Core), Range::real(0.0, 1e6, "cycles");
    /// Cycles of a receiver for a frame, however short: its buffer's header filled, looked at, and checked before
    /// the buffer is freed; 0 where the profile does not say.
    frame_cycles: Of::Some(Core), Range::real(0.0, 1e6, "cycles");
    /// Cycles to take a buffer from the core's own pool and give it back.
    pool_cycles: Of::Only(Core), Range::real(0.0, 1e6, "cycles");
    /// Cycles of a call of the pool, however many buffers it takes.
    pool_call_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
    /// Cycles of an emulated NIC to move a frame's pointers, beside the words that it touches.
    emulator_cycles: Of::Card, Range::real(0.0, 1e6, "cycles");
}

impl Constants {
    /// The constants that the profile has, by name.
    pub fn all(&self) -> Vec<(&'static str, &Constant)> {
        let present = self.table().into_iter().filter(|row| !row.constant.is_absent());
        present.map(|row| (row.name, row.constant)).collect()
    }
}
