//! A server as data: `profiles/*.toml`. Every constant carries its origin.

use std::fmt;

use memory::Ps;
use serde::{Deserialize, Serialize};

use rings::ddring::WriteBack;

use crate::scenario::Pause;

/// A number of the model with where it comes from: `published: source`, `measured: how`, or
/// `assumed: id` (an entry of docs/assumptions.md).
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constant {
    /// In the unit that the name ends with.
    pub value: f64,
    /// `published: ...`, `measured: ...` or `assumed: ...`.
    pub origin: String,
}

impl Constant {
    /// Whether the profile does not have it: it says nothing about this kind of server.
    pub fn is_absent(&self) -> bool {
        self.origin.is_empty()
    }
}

/// How a full set picks its victim among the allowed ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Replacement {
    /// Uniformly random.
    Random,
    /// Least recently used.
    Lru,
}

/// Where the 2 MB pages of the modelled memory lie.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Placement {
    /// One physical page after the other.
    Contiguous,
    /// Anywhere, drawn from the seed.
    Random,
}

/// How lines of an LLC spread over its slices; within a slice the low address bits choose the set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SliceHash {
    /// Any contiguous stretch evenly.
    Balanced,
    /// Each line by itself, as dice would.
    Random,
}

/// Packet buffers of the driver's pool.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BufferLayout {
    /// Lines from one buffer to the next.
    pub stride_lines: u32,
    /// Line of a buffer in which its frame starts.
    pub frame_line: u32,
    /// Bytes of frame that fit.
    pub room: u32,
}

impl BufferLayout {
    /// `count` such buffers.
    pub fn geometry(&self, count: u32) -> memory::Geometry {
        let (stride, offset) = (self.stride_lines * 64, self.frame_line * 64);
        memory::Geometry { count, stride, offset, room: self.room }
    }
}

/// Sets of an L1: a page of 4 KiB has a line for each.
pub(crate) const L1_SETS: u32 = 64;

/// Caches.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// L1 of each core, KiB, of 64 sets: what another core's L1 has comes by `l1_load_lines` and its like; 0 where
    /// L1 and L2 are not told apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub l1_kib: u32,
    /// L2 of each core, KiB.
    pub l2_kib: u32,
    /// L2 ways, at most 16.
    pub l2_ways: u32,
    /// LLC slices.
    pub slices: u32,
    /// Sets of a slice, a power of two.
    pub sets_per_slice: u32,
    /// LLC ways, at most 16.
    pub ways: u32,
    /// Ways in which a DMA write may allocate, from way 0 up.
    pub ddio_ways: u32,
    /// Ways, from the last down, that hold DMA-written lines which a core has read.
    pub inclusive_ways: u32,
    /// LLC replacement.
    pub replacement: Replacement,
    /// Page placement.
    pub placement: Placement,
    /// Slice hash.
    pub slice_hash: SliceHash,
    /// Whether a core's miss to DRAM also fetches the other line of its 128 B pair.
    pub adjacent_prefetch: bool,
}

/// What plays the network card.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum NicKind {
    /// A device behind PCIe, with DDIO.
    #[default]
    Card,
    /// A core beside those of the applications, with an L2 of its own: a software NIC.
    Core,
}

impl NicKind {
    fn is_card(&self) -> bool {
        *self == NicKind::Card
    }
}

/// Network card and its slot.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// Name.
    pub name: String,
    /// What it is.
    #[serde(default, skip_serializing_if = "NicKind::is_card")]
    pub kind: NicKind,
    /// Ports in the server, one card each; a core plays all of them.
    pub ports: u32,
    /// Rate of a port, Gbps.
    pub port_gbps: f64,
    /// Smallest ring the device accepts, entries.
    pub min_ring: u32,
    /// Largest ring the device accepts, entries.
    pub max_ring: u32,
    /// Whether it is on the other node than the cores in use and their memory (`--numa remote`).
    #[serde(default, skip_serializing_if = "is_false")]
    pub remote: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_false(b: &bool) -> bool {
    !b
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
fn is_zero(n: &u32) -> bool {
    *n == 0
}

/// The numbers of the model, see docs/assumptions.md.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Constants {
    /// L2 hit.
    pub l2_hit_ns: Constant,
    /// LLC hit.
    pub llc_hit_ns: Constant,
    /// A line from another core's L2.
    pub snoop_ns: Constant,
    /// From one line that a core takes from another, to store into it, to the next at the least; none where the
    /// profile does not say.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub taken_ns: Constant,
    /// DRAM, idle.
    pub dram_idle_ns: Constant,
    /// DRAM under load: `idle + load * u / (1 - u)`.
    pub dram_load_ns: Constant,
    /// Share of the peak bandwidth at which `u` is 1.
    pub dram_usable: Constant,
    /// DRAM peak, GB/s.
    pub dram_peak_gbytes: Constant,
    /// PCIe payload and headers, each way, GB/s.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pcie_gbytes: Constant,
    /// Largest TLP payload, bytes.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pcie_tlp_bytes: Constant,
    /// Header, CRC and framing of a TLP, bytes.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pcie_overhead_bytes: Constant,
    /// From the card to the cache, one way.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pcie_write_ns: Constant,
    /// A DMA read, request to data.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pcie_read_ns: Constant,
    /// A doorbell, core to card.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub doorbell_ns: Constant,
    /// The card's own receive buffer of a port, KiB.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub nic_buffer_kib: Constant,
    /// Frames that the card's pipeline takes in a second, millions, however short they are.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub nic_mpps: Constant,
    /// Descriptors of a row that the card writes back together, where completions go into them; 1 where the
    /// profile does not say.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub write_back_descriptors: Constant,
    /// The shortest time between two write-backs of a ring that do not wait for the rest of the row.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub write_back_us: Constant,
    /// Rate of one transmit queue, Gbps on the wire; 0 where none is slower than its port.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub tx_queue_gbps: Constant,
    /// Cycles of a ring operation in L1.
    pub op_cycles: Constant,
    /// Cycles of an uncontended atomic.
    pub atomic_cycles: Constant,
    /// Base cycles of a frame in L3FWD.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub l3fwd_cycles: Constant,
    /// Base cycles of a frame in LB.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub lb_cycles: Constant,
    /// Base cycles of a frame in NAT.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub nat_cycles: Constant,
    /// Base cycles of a frame in NF.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub nf_cycles: Constant,
    /// Cycles to seal a packet by ESP, beside those of its bytes.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub esp_frame_cycles: Constant,
    /// Cycles to encipher and sign a byte.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub esp_byte_cycles: Constant,
    /// The load generator's share of a measured latency, microseconds.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub generator_us: Constant,
    /// The way to the other socket and back, on top of a local access.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub remote_ns: Constant,
    /// How long all cores stand still now and then, whatever runs on them.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pause_us: Constant,
    /// From one such pause to the next.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pause_every_ms: Constant,
    /// Cycles between two looks of a core that spins on a word, the length of its pause instruction; 0 where
    /// the profile does not say.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub spin_cycles: Constant,
    /// Lines that a STREAM thread of the other socket has under way.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub stream_lines: Constant,
    /// Lines that a PageRank thread of the other socket has under way.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pagerank_lines: Constant,
    /// Lines that a core fetches at a time for loads that do not wait for each other.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub load_lines: Constant,
    /// The same for lines that lie one behind the other, which the processor fetches ahead.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub run_lines: Constant,
    /// Lines that a core fetches at a time for its stores.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub store_lines: Constant,
    /// The same for lines that lie one behind the other.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub store_run_lines: Constant,
    /// As `load_lines`, of lines that the LLC has; this and those that follow as of any other line where the profile
    /// does not say.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub llc_load_lines: Constant,
    /// As `run_lines`, of lines that the LLC has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub llc_run_lines: Constant,
    /// As `store_lines`, of lines that the LLC has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub llc_store_lines: Constant,
    /// As `store_run_lines`, of lines that the LLC has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub llc_store_run_lines: Constant,
    /// As `load_lines`, of lines that another core's L1 has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub l1_load_lines: Constant,
    /// As `run_lines`, of lines that another core's L1 has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub l1_run_lines: Constant,
    /// As `store_lines`, of lines that another core's L1 has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub l1_store_lines: Constant,
    /// As `store_run_lines`, of lines that another core's L1 has.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub l1_store_run_lines: Constant,
    /// Cycles to read all bytes of a line that is here.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub read_line_cycles: Constant,
    /// Cycles to copy a line from one that is here to another.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub copy_line_cycles: Constant,
    /// Cycles of a software NIC to parse and hash a frame.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub classify_cycles: Constant,
    /// Cycles of a receiver for a frame, however short: its buffer's header filled, looked at, and checked before
    /// the buffer is freed; 0 where the profile does not say.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub frame_cycles: Constant,
    /// Cycles to take a buffer from the core's own pool and give it back.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pool_cycles: Constant,
    /// Cycles of a call of the pool, however many buffers it takes.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub pool_call_cycles: Constant,
    /// Cycles of an emulated NIC to move a frame's pointers, beside the words that it touches.
    #[serde(default, skip_serializing_if = "Constant::is_absent")]
    pub emulator_cycles: Constant,
}

/// Which profiles have a constant.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Of {
    /// All.
    Any,
    /// Those with this kind of NIC, and no others.
    Only(NicKind),
    /// Those with a card; others may have it.
    Card,
    /// Those with this kind of NIC may have it, no others.
    Some(NicKind),
}

impl Constants {
    /// The constants that the profile has, by name.
    pub fn all(&self) -> Vec<(&'static str, &Constant)> {
        let present = self.table().into_iter().filter(|(_, c, _)| !c.is_absent());
        present.map(|(name, c, _)| (name, c)).collect()
    }

    fn table(&self) -> [(&'static str, &Constant, Of); 53] {
        use NicKind::{Card, Core};
        [
            ("l2_hit_ns", &self.l2_hit_ns, Of::Any),
            ("llc_hit_ns", &self.llc_hit_ns, Of::Any),
            ("snoop_ns", &self.snoop_ns, Of::Any),
            ("taken_ns", &self.taken_ns, Of::Some(Core)),
            ("dram_idle_ns", &self.dram_idle_ns, Of::Any),
            ("dram_load_ns", &self.dram_load_ns, Of::Any),
            ("dram_usable", &self.dram_usable, Of::Any),
            ("dram_peak_gbytes", &self.dram_peak_gbytes, Of::Any),
            ("pcie_gbytes", &self.pcie_gbytes, Of::Only(Card)),
            ("pcie_tlp_bytes", &self.pcie_tlp_bytes, Of::Only(Card)),
            ("pcie_overhead_bytes", &self.pcie_overhead_bytes, Of::Only(Card)),
            ("pcie_write_ns", &self.pcie_write_ns, Of::Only(Card)),
            ("pcie_read_ns", &self.pcie_read_ns, Of::Only(Card)),
            ("doorbell_ns", &self.doorbell_ns, Of::Only(Card)),
            ("nic_buffer_kib", &self.nic_buffer_kib, Of::Only(Card)),
            ("nic_mpps", &self.nic_mpps, Of::Some(Card)),
            ("write_back_descriptors", &self.write_back_descriptors, Of::Some(Card)),
            ("write_back_us", &self.write_back_us, Of::Some(Card)),
            ("tx_queue_gbps", &self.tx_queue_gbps, Of::Only(Card)),
            ("op_cycles", &self.op_cycles, Of::Any),
            ("atomic_cycles", &self.atomic_cycles, Of::Any),
            ("l3fwd_cycles", &self.l3fwd_cycles, Of::Card),
            ("lb_cycles", &self.lb_cycles, Of::Card),
            ("nat_cycles", &self.nat_cycles, Of::Card),
            ("nf_cycles", &self.nf_cycles, Of::Card),
            ("esp_frame_cycles", &self.esp_frame_cycles, Of::Card),
            ("esp_byte_cycles", &self.esp_byte_cycles, Of::Card),
            ("generator_us", &self.generator_us, Of::Only(Card)),
            ("remote_ns", &self.remote_ns, Of::Card),
            ("pause_us", &self.pause_us, Of::Card),
            ("pause_every_ms", &self.pause_every_ms, Of::Card),
            ("spin_cycles", &self.spin_cycles, Of::Some(Card)),
            ("stream_lines", &self.stream_lines, Of::Card),
            ("pagerank_lines", &self.pagerank_lines, Of::Card),
            ("load_lines", &self.load_lines, Of::Any),
            ("run_lines", &self.run_lines, Of::Only(Core)),
            ("store_lines", &self.store_lines, Of::Only(Core)),
            ("store_run_lines", &self.store_run_lines, Of::Some(Core)),
            ("llc_load_lines", &self.llc_load_lines, Of::Some(Core)),
            ("llc_run_lines", &self.llc_run_lines, Of::Some(Core)),
            ("llc_store_lines", &self.llc_store_lines, Of::Some(Core)),
            ("llc_store_run_lines", &self.llc_store_run_lines, Of::Some(Core)),
            ("l1_load_lines", &self.l1_load_lines, Of::Some(Core)),
            ("l1_run_lines", &self.l1_run_lines, Of::Some(Core)),
            ("l1_store_lines", &self.l1_store_lines, Of::Some(Core)),
            ("l1_store_run_lines", &self.l1_store_run_lines, Of::Some(Core)),
            ("read_line_cycles", &self.read_line_cycles, Of::Only(Core)),
            ("copy_line_cycles", &self.copy_line_cycles, Of::Only(Core)),
            ("classify_cycles", &self.classify_cycles, Of::Only(Core)),
            ("frame_cycles", &self.frame_cycles, Of::Some(Core)),
            ("pool_cycles", &self.pool_cycles, Of::Only(Core)),
            ("pool_call_cycles", &self.pool_call_cycles, Of::Card),
            ("emulator_cycles", &self.emulator_cycles, Of::Card),
        ]
    }
}

/// A described server.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The name on the command line.
    pub name: String,
    /// One line for people.
    pub description: String,
    /// Cores that applications can have, on the socket that the card is attached to; a core that plays
    /// the card comes on top.
    pub cores: u32,
    /// Core clock, GHz.
    pub ghz: f64,
    /// Caches.
    pub caches: Caches,
    /// Buffers.
    pub buffers: BufferLayout,
    /// Card.
    pub nic: Card,
    /// Numbers.
    pub constants: Constants,
}

/// A profile that cannot be used.
#[derive(Debug)]
pub struct ProfileError(pub String);

impl fmt::Display for ProfileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for ProfileError {}

const BUILT_IN: [(&str, &str); 4] = [
    ("rxbisect-testbed", include_str!("../../../profiles/rxbisect-testbed.toml")),
    ("ddio-bench", include_str!("../../../profiles/ddio-bench.toml")),
    ("corec-testbed", include_str!("../../../profiles/corec-testbed.toml")),
    ("corec-testbed-x520", include_str!("../../../profiles/corec-testbed-x520.toml")),
];

impl Server {
    /// Names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A built-in profile, or the one in a file whose name ends in `.toml`.
    ///
    /// # Errors
    /// Names the profiles there are, or what is wrong with the file.
    pub fn by_name(name: &str) -> Result<Server, ProfileError> {
        if name.ends_with(".toml") {
            let in_file = |e: String| ProfileError(format!("{name}: {e}"));
            let text = std::fs::read_to_string(name).map_err(|e| in_file(e.to_string()))?;
            return Server::parse(&text).map_err(|e| in_file(e.0));
        }
        let Some((_, text)) = BUILT_IN.iter().find(|(n, _)| *n == name) else {
            let known: Vec<_> = Server::names().collect();
            return Err(ProfileError(format!(
                "unknown server `{name}`; allowed: {}, a file NAME.toml",
                known.join(", ")
            )));
        };
        Server::parse(text)
    }

    /// A profile from its text.
    ///
    /// # Errors
    /// Names the key and what is allowed.
    pub fn parse(text: &str) -> Result<Server, ProfileError> {
        let server: Server = toml::from_str(text).map_err(|e| ProfileError(e.to_string()))?;
        server.validate()?;
        Ok(server)
    }

    /// # Errors
    /// Names the value that the model cannot run with.
    pub fn validate(&self) -> Result<(), ProfileError> {
        let c = &self.caches;
        let check = |ok: bool, what: &str| {
            if ok { Ok(()) } else { Err(ProfileError(format!("profile `{}`: {what}", self.name))) }
        };
        check((1..=32).contains(&self.cores), "cores must be 1 to 32")?;
        check(self.ghz > 0.0, "ghz must be positive")?;
        check((2..=16).contains(&c.ways), "ways must be 2 to 16")?;
        check((1..=16).contains(&c.l2_ways), "l2_ways must be 1 to 16")?;
        check(c.l1_kib.is_multiple_of(4) && c.l1_kib <= 64, "l1_kib must be 0, or a multiple of 4 up to 64")?;
        check(c.l1_kib == 0 || !self.nic.kind.is_card(), "l1_kib says nothing about this kind of NIC")?;
        let l1_lines =
            self.constants.table().into_iter().any(|(name, c, _)| name.starts_with("l1_") && !c.is_absent());
        check(l1_lines == (c.l1_kib > 0), "l1_kib and l1_load_lines or its like go together")?;
        check((1..=c.ways).contains(&c.ddio_ways), "ddio_ways must be 1 to ways")?;
        check((1..=c.ways).contains(&c.inclusive_ways), "inclusive_ways must be 1 to ways")?;
        check(
            c.sets_per_slice.is_power_of_two() && (1024..=32768).contains(&c.sets_per_slice),
            "sets_per_slice must be a power of two from 1024 to 32768",
        )?;
        check((1..=64).contains(&c.slices), "slices must be 1 to 64")?;
        check(
            self.l2_sets().is_power_of_two() && (1024..=16384).contains(&self.l2_sets()),
            "an L2 must have a power of two of sets (l2_kib * 16 / l2_ways), from 1024 to 16384",
        )?;
        check(self.nic.kind.is_card() || !self.nic.remote, "only a card can be on the other node")?;
        check((1..=4).contains(&self.nic.ports), "ports must be 1 to 4")?;
        check((1..=1024).contains(&self.buffers.stride_lines), "stride_lines must be 1 to 1024")?;
        self.buffers
            .geometry(1)
            .check()
            .map_err(|e| ProfileError(format!("profile `{}`: {e}", self.name)))?;
        for (name, c, of) in self.constants.table() {
            let kind = self.nic.kind;
            let needed = of == Of::Any || of == Of::Only(kind) || of == Of::Card && kind.is_card();
            let allowed = needed || of == Of::Card || of == Of::Some(kind);
            check(!(needed && c.is_absent() && c.value == 0.0), &format!("{name} is missing"))?;
            check(allowed || c.is_absent(), &format!("{name} says nothing about this kind of NIC"))?;
            if !needed && c.is_absent() {
                continue;
            }
            check(c.value.is_finite() && c.value >= 0.0, &format!("{name} must be zero or positive"))?;
            let known = ["published: ", "measured: ", "assumed: ", "fitted: "];
            check(known.iter().any(|p| c.origin.starts_with(p)), &format!("{name} lacks its origin"))?;
        }
        let c = &self.constants;
        let row = &c.write_back_descriptors;
        check(
            row.is_absent() || [1.0, 2.0, 4.0, 8.0].contains(&row.value),
            "write_back_descriptors must be 1, 2, 4 or 8",
        )?;
        let all = c.table();
        let lines = ["load_lines", "run_lines", "store_lines"];
        for (name, c, _) in all.iter().filter(|(name, ..)| lines.iter().any(|end| name.ends_with(end))) {
            check(c.is_absent() || c.value >= 1.0, &format!("{name} must be at least 1"))?;
        }
        Ok(())
    }

    /// The core that plays the card, behind those of the applications.
    pub fn nic_core(&self) -> Option<u32> {
        (self.nic.kind == NicKind::Core).then_some(self.cores)
    }

    /// Cores with an L2: those of applications and the one that plays the card.
    pub fn all_cores(&self) -> u32 {
        self.cores + u32::from(self.nic_core().is_some())
    }

    /// How far one agent may run ahead of another: no other can see sooner what it does. From card to
    /// cache with a card (A27), from one L2 to another between cores.
    pub fn window(&self) -> Ps {
        match self.nic.kind {
            NicKind::Card => crate::scenario::WINDOW,
            NicKind::Core => Ps((self.constants.snoop_ns.value * 1e3) as u64),
        }
    }

    /// How the card writes used descriptors back.
    pub fn write_back(&self) -> WriteBack {
        let c = &self.constants;
        let together = (c.write_back_descriptors.value as u32).max(1);
        WriteBack { together, after: Ps((c.write_back_us.value * 1e6) as u64) }
    }

    /// How the cores pause; not at all where the profile does not say.
    pub fn pause(&self) -> Option<Pause> {
        let c = &self.constants;
        let [every, span] = [c.pause_every_ms.value * 1e9, c.pause_us.value * 1e6].map(|ps| Ps(ps as u64));
        (span.0 > 0 && every > span).then_some(Pause { every, span })
    }

    /// Ways of an L1; none where it is not told from the L2.
    pub(crate) fn l1_ways(&self) -> u32 {
        self.caches.l1_kib * 1024 / 64 / L1_SETS
    }

    /// Sets of an L2.
    pub fn l2_sets(&self) -> u32 {
        self.caches.l2_kib * 1024 / 64 / self.caches.l2_ways
    }

    /// LLC capacity, bytes.
    pub fn llc_bytes(&self) -> u64 {
        u64::from(self.caches.slices * self.caches.sets_per_slice * self.caches.ways) * 64
    }

    /// DDIO capacity, bytes.
    pub fn ddio_bytes(&self) -> u64 {
        self.llc_bytes() / u64::from(self.caches.ways) * u64::from(self.caches.ddio_ways)
    }

    /// The constants that are assumed or fitted, for the foot of a report.
    pub fn assumed(&self) -> Vec<(&'static str, f64, String)> {
        let all = self.constants.all();
        all.into_iter()
            .filter(|(_, c)| !c.origin.starts_with("published"))
            .map(|(n, c)| (n, c.value, c.origin.clone()))
            .collect()
    }
}
