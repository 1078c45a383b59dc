//! A server as data: `profiles/*.toml`. Every constant carries its origin, every number has a range.

pub mod apps;
mod check;
pub mod constants;
mod declare;
pub mod parts;
mod prefetch;
mod range;
mod ranges;
mod read;
mod spread;
pub mod tables;
mod text;

use std::collections::BTreeMap;
use std::fmt;

use memory::Ps;
use serde::{Deserialize, Serialize};

use rings::WriteBack;

pub use apps::Apps;
pub use constants::{Constants, NicMemory};
pub use declare::{Constant, Declared};
pub use prefetch::AdjacentPrefetch;
pub use range::Range;
pub use ranges::ranges;
pub use spread::Spread;
pub use tables::Tables;

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

/// What becomes of a line that a cache of the other node has when a core loads it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum RemoteReads {
    /// A line of a frame moves to the core. A line of words is shared until it is written, as within a node.
    #[default]
    Frames,
    /// It moves to the core, whatever it holds: no copy stays, and the core's next store needs nobody.
    Move,
    /// A clean copy stays, which the next store has to take away.
    Copy,
}

impl RemoteReads {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "what serde calls")]
    fn is_default(&self) -> bool {
        *self == RemoteReads::default()
    }
}

/// Packet buffers of the driver's pool.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
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
    /// The same with room for frames of `len` bytes. An odd number of lines lies between two, as in DPDK's default.
    #[must_use]
    pub fn holding(self, len: u32) -> BufferLayout {
        if len <= self.room {
            return self;
        }
        let lines = (self.frame_line + len.div_ceil(64)) | 1;
        BufferLayout { stride_lines: lines, room: (lines - self.frame_line) * 64, ..self }
    }

    /// `count` such buffers.
    pub fn geometry(&self, count: u32) -> memory::Geometry {
        let (stride, offset) = (self.stride_lines * 64, self.frame_line * 64);
        memory::Geometry::new(count, stride, offset, self.room)
    }
}

/// Sets of an L1: a page of 4 KiB has a line for each.
pub(crate) const L1_SETS: u32 = 64;

/// Caches.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Caches {
    /// L1 of each core, KiB, of 64 sets: what another core's L1 has comes by `l1_load_lines` and its like; 0 where
    /// L1 and L2 are not told apart.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub l1_kib: u32,
    /// L2 of each core, KiB.
    pub l2_kib: u32,
    /// L2 ways.
    pub l2_ways: u32,
    /// LLC slices.
    pub slices: u32,
    /// Sets of a slice.
    pub sets_per_slice: u32,
    /// LLC ways.
    pub ways: u32,
    /// Ways in which a DMA write may allocate, from way 0 up; 0 where the card writes to DRAM.
    pub ddio_ways: u32,
    /// Ways, from the last down, that hold DMA-written lines which a core has read.
    pub inclusive_ways: u32,
    /// Whether the LLC has all that the L2s have.
    #[serde(default, skip_serializing_if = "is_false")]
    pub llc_inclusive: bool,
    /// LLC replacement.
    pub replacement: Replacement,
    /// Page placement.
    pub placement: Placement,
    /// Slice hash.
    pub slice_hash: SliceHash,
    /// Whose misses to DRAM also fetch the other line of their 128 B pair.
    pub adjacent_prefetch: AdjacentPrefetch,
    /// What a load leaves on the other node.
    #[serde(default, skip_serializing_if = "RemoteReads::is_default")]
    pub remote_reads: RemoteReads,
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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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

/// Window unless told otherwise: `pcie_write_ns`, the way from card to cache (A27).
pub const WINDOW: Ps = Ps::from_ns(300);

/// Pauses of all cores at once: what firmware (an SMI) does even to cores that the operating system leaves
/// alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pause {
    /// From the start of one to that of the next.
    pub every: Ps,
    /// How long the cores stand still.
    pub span: Ps,
}

/// A described server.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
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
    #[serde(default)]
    pub constants: Constants,
    /// Numbers of applications.
    #[serde(default, skip_serializing_if = "declare::is_default")]
    pub apps: Apps,
    /// Tables of the card's classifier, where it has any.
    #[serde(default, skip_serializing_if = "declare::is_default")]
    pub tables: Tables,
    /// Where numbers beside the constants are from, by place, where the profile says.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub origins: BTreeMap<String, String>,
}

/// Every constant that a profile may have.
pub fn declared() -> impl Iterator<Item = &'static Declared> {
    constants::CONSTANTS.iter().chain(apps::APPS).chain(tables::TABLES)
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

const BUILT_IN: [(&str, &str); 8] = [
    ("rxbisect-testbed", include_str!("../../../profiles/rxbisect-testbed.toml")),
    ("ddio-bench", include_str!("../../../profiles/ddio-bench.toml")),
    ("corec-testbed", include_str!("../../../profiles/corec-testbed.toml")),
    ("corec-testbed-x520", include_str!("../../../profiles/corec-testbed-x520.toml")),
    ("nic-testbed-cx5", include_str!("../../../profiles/nic-testbed-cx5.toml")),
    ("icx", include_str!("../../../profiles/icx.toml")),
    ("spr", include_str!("../../../profiles/spr.toml")),
    ("ceio-testbed", include_str!("../../../profiles/ceio-testbed.toml")),
];

/// The server whose card's memory stands for that of cards without (A117).
const CARD_MEMORY: &str = "ceio-testbed";

impl Server {
    /// Names of the built-in profiles.
    pub fn names() -> impl Iterator<Item = &'static str> {
        BUILT_IN.iter().map(|(name, _)| *name)
    }

    /// A built-in profile, the one in a file whose name ends in `.toml`, or a server of parts.
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
            return Server::of_parts(name);
        };
        Server::parse(text)
    }

    /// A server of parts, for a name that no profile has.
    fn of_parts(name: &str) -> Result<Server, ProfileError> {
        let families = parts::Processor::all()?;
        if families.iter().any(|p| name.starts_with(&p.name)) {
            return parts::Parts::read(name)?.server(name);
        }
        let known: Vec<_> = Server::names().collect();
        let families: Vec<_> = families.iter().map(|p| p.name.as_str()).collect();
        Err(ProfileError(format!(
            "unknown server `{name}`; allowed: {}, a file NAME.toml, or parts {} with a PROCESSOR of {}",
            known.join(", "),
            parts::SYNTAX,
            families.join(", ")
        )))
    }

    /// A profile from its text: constants by component, or in the flat form, `[constants]` with the name of each.
    ///
    /// # Errors
    /// Names the key and what is allowed.
    pub fn parse(text: &str) -> Result<Server, ProfileError> {
        let (server, flat) = read::read(text)?;
        server.validate_as(&flat)?;
        Ok(server)
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
            NicKind::Card => WINDOW.min(Ps((self.constants.pcie.write_ns.value * 1e3) as u64)),
            NicKind::Core => Ps((self.constants.interconnect.snoop_ns.value * 1e3) as u64),
        }
    }

    /// The same of an emulated NIC, from a worker: no other agent sees sooner what it does.
    pub(crate) fn emulator_window(&self) -> Ps {
        let c = &self.constants.interconnect;
        Ps(((c.snoop_ns.value + c.remote_ns.value) * 1e3) as u64)
    }

    /// How the card writes used descriptors back.
    pub fn write_back(&self) -> WriteBack {
        let c = &self.constants.nic;
        let together = (c.write_back_descriptors.value as u32).max(1);
        WriteBack { together, after: Ps((c.write_back_us.value * 1e6) as u64) }
    }

    /// How the cores pause; not at all where the profile does not say.
    pub fn pause(&self) -> Option<Pause> {
        let c = &self.constants.firmware;
        let [every, span] = [c.pause_every_ms.value * 1e9, c.pause_us.value * 1e6].map(|ps| Ps(ps as u64));
        (span.0 > 0 && every > span).then_some(Pause { every, span })
    }

    /// The tables of the card's classifier, if the profile has them.
    pub fn tables(&self) -> Option<&Tables> {
        (!declare::is_default(&self.tables)).then_some(&self.tables)
    }

    /// Memory of a card for frames, if the profile has it.
    pub fn nic_memory(&self) -> Option<&NicMemory> {
        let memory = &self.constants.nic_memory;
        (!declare::is_default(memory)).then_some(memory)
    }

    /// Has the cards keep frames by credits: one without memory for frames gets that of `ceio-testbed`'s card, and each
    /// packet's way to the host passes the card's control.
    ///
    /// # Errors
    /// None: that profile is one of ours.
    pub fn keep_frames(&mut self) -> Result<(), ProfileError> {
        if self.nic_memory().is_none() {
            self.constants.nic_memory = Server::by_name(CARD_MEMORY)?.constants.nic_memory;
        }
        self.constants.pcie.write_ns.value += self.constants.nic_memory.control_ns.value;
        Ok(())
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
        let c = &self.caches;
        [c.slices, c.sets_per_slice, c.ways].into_iter().map(u64::from).product::<u64>() * 64
    }

    /// DDIO capacity, bytes.
    pub fn ddio_bytes(&self) -> u64 {
        self.llc_bytes() / u64::from(self.caches.ways) * u64::from(self.caches.ddio_ways)
    }

    /// Buffers of each of so many ports that DDIO's ways hold together (CEIO §4.1); `None` where a card writes to DRAM.
    pub fn cached_buffers(&self, ports: u32) -> Option<u32> {
        let all = self.ddio_bytes() / u64::from(self.buffers.room);
        u32::try_from(all / u64::from(ports.max(1))).ok().filter(|n| *n > 0)
    }

    /// The constants that the profile has.
    pub fn stated(&self) -> impl Iterator<Item = (&'static Declared, &Constant)> {
        declared().map(|d| (d, (d.get)(self))).filter(|(_, c)| !c.is_absent())
    }

    /// The constants that are assumed or fitted, for the foot of a report.
    pub fn assumed(&self) -> Vec<(&'static str, f64, String)> {
        let open = self.stated().filter(|(_, c)| !c.origin.starts_with("published"));
        open.map(|(d, c)| (d.name, c.value, c.origin.clone())).collect()
    }
}
