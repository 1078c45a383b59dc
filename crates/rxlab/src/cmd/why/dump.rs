//! What a running program told, look by look: what `--record` writes and `--telemetry` reads.
//!
//! The field names of ports and pools are those of DPDK's telemetry. What another version adds is ignored, what this one
//! lacks stays empty.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::Path;

use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

use crate::fail::Fail;

/// Longest file that is read: a minute of looks at a hundred ports is some 30 MB.
const MOST_BYTES: u64 = 256 << 20;
/// Entries of a dictionary in DPDK's telemetry: what a port counts beyond them is left out without a word
/// (RTE_TEL_MAX_DICT_ENTRIES in lib/telemetry/rte_telemetry.h).
pub(super) const DICT_ENTRIES: usize = 256;

/// A program, and looks at it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Dump {
    /// Who it is.
    pub program: Program,
    /// What it told, in order of time.
    pub looks: Vec<Look>,
}

/// A program as its socket introduces it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Program {
    /// `DPDK 22.11.11`.
    pub version: String,
    /// Its process.
    pub pid: u32,
    /// Arguments of EAL, the program's name first.
    pub eal_params: Vec<String>,
    /// Arguments of the program itself.
    pub app_params: Vec<String>,
}

/// All ports, pools and threads at one moment.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Look {
    /// Seconds since the first look.
    pub at_s: f64,
    /// Ports by their number.
    pub ports: BTreeMap<u16, Port>,
    /// Pools of buffers.
    pub pools: Vec<Pool>,
    /// Threads of the process, as the kernel counts them.
    pub threads: Vec<Thread>,
}

/// A port.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Port {
    /// `/ethdev/info`.
    pub info: Info,
    /// `/ethdev/link_status`.
    pub link: Link,
    /// `/ethdev/stats`.
    pub stats: Stats,
    /// `/ethdev/xstats`.
    #[serde(deserialize_with = "counts")]
    pub xstats: BTreeMap<String, u64>,
    /// Entries of each receive ring, where telemetry tells them (`/ethdev/rx_queue`, not in 22.11).
    pub rx_entries: Vec<u32>,
    /// The same of transmit rings.
    pub tx_entries: Vec<u32>,
    /// The card's link to the host, where it has one.
    pub pcie: Option<Pcie>,
}

/// What is set up.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Info {
    /// The device: a PCI address or the name of a virtual one.
    pub name: String,
    /// Receive queues.
    pub nb_rx_queues: u32,
    /// Transmit queues.
    pub nb_tx_queues: u32,
    /// Longest payload of a frame, B.
    pub mtu: u32,
    /// Data room of the shortest buffer of its queues, headroom included, B.
    pub rx_mbuf_size_min: u32,
    /// Whether a frame may take several buffers.
    pub scattered_rx: u32,
    /// Whether it runs.
    pub dev_started: u32,
    /// States of its receive queues: 0 is stopped.
    pub rxq_state: Vec<i64>,
}

/// The link as the driver sees it.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Link {
    /// `UP` or `DOWN`.
    pub status: String,
    /// Mbps; 4294967295 where the driver does not know.
    pub speed: u64,
}

/// The basic counters of a port; those of queues end at the sixteenth.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Stats {
    /// Frames received.
    pub ipackets: u64,
    /// Frames sent.
    pub opackets: u64,
    /// Bytes received.
    pub ibytes: u64,
    /// Bytes sent.
    pub obytes: u64,
    /// Frames that found no posted buffer, or as the driver has it.
    pub imissed: u64,
    /// Frames with an error.
    pub ierrors: u64,
    /// Frames that could not be sent.
    pub oerrors: u64,
    /// Buffers that the pool did not have.
    pub rx_nombuf: u64,
    /// Frames received, by queue.
    pub q_ipackets: Vec<u64>,
    /// Frames sent, by queue.
    pub q_opackets: Vec<u64>,
    /// Frames dropped, by queue, where the driver counts them.
    pub q_errors: Vec<u64>,
}

/// A link of PCI Express, from sysfs.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Pcie {
    /// Transfers a second in force, GT/s.
    pub speed_gts: f64,
    /// What the card could do.
    pub max_speed_gts: f64,
    /// Lanes in force.
    pub width: u32,
    /// Lanes that the card has.
    pub max_width: u32,
}

/// A pool of buffers.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Pool {
    /// Its name.
    pub name: String,
    /// Buffers.
    pub size: u64,
    /// Buffers that an lcore may keep for itself.
    pub cache_size: u64,
    /// Bytes of a buffer with its headers.
    pub elt_size: u64,
    /// Bytes of the pool's own header before each.
    pub header_size: u64,
    /// Buffers that lie in the common part, caches left out, where they can be counted.
    pub free: Option<u64>,
}

/// A thread of the process.
#[derive(Clone, Debug, Default, Deserialize, Serialize)]
#[serde(default)]
pub(super) struct Thread {
    /// Its number.
    pub tid: u32,
    /// Its name.
    pub name: String,
    /// CPUs that it may run on.
    pub cpus: String,
    /// Nanoseconds that it ran.
    pub run_ns: u64,
    /// Nanoseconds that it was ready and waited for a CPU.
    pub wait_ns: u64,
}

/// Counters by name; what is no count is left out.
fn counts<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<String, u64>, D::Error> {
    let all = BTreeMap::<String, Value>::deserialize(from)?;
    Ok(all.into_iter().filter_map(|(name, value)| Some((name, value.as_u64()?))).collect())
}

impl Dump {
    /// Reads what `--record` wrote.
    ///
    /// # Errors
    /// Names the file, and what is wrong with it.
    pub(super) fn read(path: &Path) -> Result<Dump, Fail> {
        let fail = |what: &str| Fail::new(format!("--telemetry {}: {what}", path.display()));
        let file = File::open(path).map_err(|e| fail(&e.to_string()))?;
        let mut text = String::new();
        let read = file.take(MOST_BYTES + 1).read_to_string(&mut text).map_err(|e| fail(&e.to_string()))?;
        if read as u64 > MOST_BYTES {
            return Err(fail("more than 256 MiB; allowed: what rxlab why --record writes"));
        }
        let dump: Dump = serde_json::from_str(&text).map_err(|e| fail(&e.to_string()))?;
        dump.check().map_err(|what| fail(&what))?;
        Ok(dump)
    }

    /// Whether there is anything to compare.
    ///
    /// # Errors
    /// What is missing.
    pub(super) fn check(&self) -> Result<(), String> {
        let (Some(first), Some(last)) = (self.looks.first(), self.looks.last()) else {
            return Err("no looks; expected what rxlab why --record writes".into());
        };
        let ordered = self.looks.windows(2).all(|w| w[1].at_s > w[0].at_s);
        if !ordered || !(last.at_s - first.at_s).is_finite() {
            return Err("looks that are not in order of time (at_s)".into());
        }
        if self.looks.len() < 2 {
            return Err("one look; expected two, to tell what is dropped meanwhile".into());
        }
        Ok(())
    }

    /// The program's name, without its path.
    pub(super) fn name(&self) -> &str {
        let first = self.program.eal_params.first().map_or("", String::as_str);
        first.rsplit('/').next().unwrap_or_default()
    }
}
