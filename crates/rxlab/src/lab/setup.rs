//! The options that say what is simulated, shared by every command that runs the model.
//!
//! `read` makes a [`Ready`] of a [`Setup`]: it checks every value and reads files. `reproduce` and `notes` say it again,
//! for a shell and for people.

mod bypass;
mod checks;
pub(crate) mod names;
mod notes;
mod read;
mod ready;
mod reproduce;
pub(crate) mod rules;

use std::path::PathBuf;

use clap::Args;
use model::{BURST, SAMPLING, TX_RING};

use crate::fail::Fail;
use crate::lab::alone;

pub(crate) use ready::Ready;
use rules::RuleOptions;

/// Traffic and server.
#[derive(Args, Clone, Debug)]
pub(crate) struct Setup {
    /// Replay a capture: pcap or pcapng, plain, gzip or zstd
    #[arg(long, value_name = "FILE", conflicts_with = "workload", help_heading = "Traffic")]
    pub pcap: Option<PathBuf>,
    /// Take the whole frames of a capture that ends inside a record
    #[arg(long, requires = "pcap")]
    pub allow_truncated: bool,
    // An attribute, because a documentation comment takes the brackets for links.
    #[arg(
        long,
        value_name = "W",
        default_value = "fixed:1500,flows=10M",
        help_heading = "Traffic",
        help = "Generate traffic: SIZES[,flows=N][,zipf=S][,slots=N/US][,arrivals=HOW][,target=WHAT][,tunnel=vxlan]; SIZES: fixed:BYTES (without FCS), \
                rfc2544:BYTES (with FCS: 64, 128, 256, 512, 1024, 1280, 1518), imix, empirical:NAME; HOW: constant, poisson, bursty:FRAMES; WHAT goes to the first core \
                of each port (with --steer port): gbps:GBPS, pct:PERCENT/BYTES (without FCS). slots: N flows at a time, drawn anew every US microseconds; tunnel=vxlan: in VXLAN, 50 B longer. Requests: \
                kv:put=PERCENT[,objects=fixed|ads|geo][,keys=N][,zipf=S][,arrivals=HOW], or in packets of eRPC \
                erpc:put=PERCENT[,value=BYTES] and the same"
    )]
    pub workload: String,
    /// Offered load on the wire, Gbps of all ports together, or `own` for a capture's own timing
    /// [default: 98% of the ports' line rate, at which a backlog still drains]
    #[arg(long, value_name = "own|GBPS", help_heading = "Traffic")]
    pub rate: Option<String>,
    /// When frames arrive, whatever a capture's time stamps or --workload say: constant (paced evenly), poisson,
    /// bursty:FRAMES
    #[arg(long, value_name = "HOW", help_heading = "Traffic")]
    pub arrivals: Option<String>,
    /// What chooses a core: the hash of a flow (rss), or the UDP destination port (port), into which a
    /// generator then writes the core's number
    #[arg(long, value_name = "rss|port", default_value = "rss", help_heading = "Traffic")]
    pub steer: String,
    /// Server profile, see `rxlab profile list`
    #[arg(long, value_name = "NAME", default_value = "rxbisect-testbed", help_heading = "Server")]
    pub server: String,
    /// Cores in use [default: all of the server]
    #[arg(long, value_name = "N", help_heading = "Server")]
    pub cores: Option<u32>,
    /// Ports in use [default: all of the server, but no more than cores]
    #[arg(long, alias = "nics", value_name = "N", help_heading = "Server")]
    pub ports: Option<u32>,
    /// Parts of the traffic of each port, such as 3:1 [default: equal]
    #[arg(long, alias = "nic-load", value_name = "N:M..", help_heading = "Traffic")]
    pub port_load: Option<String>,
    /// Cores of each port, such as 12:4, or `equal` [default: in proportion to --port-load]
    #[arg(long, alias = "nic-cores", value_name = "N:M..|equal", help_heading = "Server")]
    pub port_cores: Option<String>,
    /// A core on the other node plays the NIC of each port: virtual rings over physical ones
    #[arg(long, help_heading = "Server")]
    pub emulated: bool,
    /// Application on every core: l3fwd, lb, nat, nf (random reads and a route), kv (key-value store),
    /// ipsec (gateway: a third of all flows forwarded, a third dropped, a third sealed), udp-echo (sends datagrams back),
    /// udp-ack (answers them with 64 B), vxlan (takes off the headers of VXLAN), erpc-kv (key-value store behind eRPC)
    #[arg(long, value_name = "A", default_value = "lb", help_heading = "Server")]
    pub app: String,
    /// Base cycles of a frame in your own application, in place of the chosen one's, which still looks up what it
    /// looks up (l3fwd, lb, nat, nf, udp-echo, udp-ack, vxlan)
    #[arg(long, value_name = "N", help_heading = "Server")]
    pub app_cycles: Option<u32>,
    /// Random reads of a frame that the first core of each port makes beside those of all (nf)
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Server")]
    pub target_reads: u32,
    /// Node of the cores in use and their memory: the card's (local), or the other one (remote)
    #[arg(long, value_name = "local|remote", default_value = "local", help_heading = "Server")]
    pub numa: String,
    /// LLC ways that DDIO may fill [default: the server's]
    #[arg(long, value_name = "N", help_heading = "Server")]
    pub ddio_ways: Option<u32>,
    /// Rx ring entries: of each core for privring, of each shared ring for shring and corec, of both for dynamic
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = "Sizes")]
    pub ring: u32,
    /// Cores of a port that share a ring [default: all for shring, dynamic and corec, 1 for ddring]
    #[arg(long, value_name = "N", help_heading = "Sizes")]
    pub shared_by: Option<u32>,
    /// How a core of shring and dynamic frees its ring's lock: by a store, or by a swap, as DPDK's spinlock does
    #[arg(long, value_name = "store|swap", default_value = "store", help_heading = "Sizes")]
    pub unlock: String,
    /// How a core of ddring takes buffers: one for each frame (each) or for a burst at a time (bulk)
    #[arg(long, value_name = "each|bulk", default_value = "each", help_heading = "Sizes")]
    pub refill: String,
    /// Batches that threads of corec mark as read: each, as published, or those that wait for others
    #[arg(long, value_name = "each|waiting", default_value = "waiting", help_heading = "Sizes")]
    pub marks: String,
    /// Ax ring entries of each core (rxbisect)
    #[arg(long, value_name = "N", default_value_t = 128, help_heading = "Sizes")]
    pub ax: u32,
    /// Bx ring entries of each core (rxbisect)
    #[arg(long, value_name = "N", default_value_t = 1024, help_heading = "Sizes")]
    pub bx: u32,
    /// Transmit ring entries of each core
    #[arg(long, value_name = "N", default_value_t = TX_RING, help_heading = "Sizes")]
    pub tx_ring: u32,
    /// Buffers of the pool, of all ports together [default: enough for full rings and caches]
    #[arg(long, value_name = "N", help_heading = "Sizes")]
    pub pool: Option<u32>,
    /// Bytes of frame that a buffer holds [default: the server's, more where values need it]
    #[arg(long, value_name = "BYTES", help_heading = "Sizes")]
    pub room: Option<u32>,
    /// Frames in a burst
    #[arg(long, value_name = "N", default_value_t = BURST, help_heading = "Sizes")]
    pub burst: u32,
    /// Threads of the other socket on this one's memory: stream:N or pagerank:N
    #[arg(long, value_name = "WHO:N", help_heading = "Server")]
    pub antagonist: Option<String>,
    /// Hosts that send by windows and answer to drops and marks, in place of --rate: dctcp:SENDERS of each port, one to a core in
    /// turn with --steer port, [+SENDERS..], each with ,from=US ,until=US ,window=FRAMES (to begin with), the first with ,rtt=US
    /// ,mark=KIB|off (off: all are of one host, and no switch marks) ,queue=KIB
    #[arg(long, value_name = "dctcp:N", help_heading = "Traffic")]
    pub senders: Option<String>,
    /// HostCC: the host samples its IIO buffer every US microseconds, and marks what --senders send while it is congested
    #[arg(long, value_name = "US", requires = "senders", help_heading = "Server")]
    pub hostcc: Option<u64>,
    /// RDMA writes that no core receives, on every port: FLOWS:GBPS each on the wire, then in any order
    /// ,message=BYTES ,batch=WRITES ,region=KIB ,to=cache|memory ,credits=keep|give ,from=US ,until=US ,host=none|linefs
    /// (linefs: beside those of --cores, one core for each flow copies what is written to a log and replicates it); more behind +
    #[arg(long, value_name = "FLOWS:GBPS", help_heading = "Traffic")]
    pub bypass: Option<String>,
    #[command(flatten)]
    pub rules: RuleOptions,
    /// Resolution of the search for the no-drop rate, percent of the full load
    #[arg(long, value_name = "PCT", default_value_t = 1.0, help_heading = "Model")]
    pub resolution: f64,
    /// Length of one trial of that search, ms of simulated time
    #[arg(long, value_name = "MS", default_value_t = 20, help_heading = "Model")]
    pub trial_ms: u64,
    /// Seed of traffic, placement and replacement
    #[arg(long, value_name = "S", default_value_t = 1, help_heading = "Model")]
    pub seed: u64,
    /// Simulate one cache set in N, a power of two up to 64; 1 is exact
    #[arg(long, value_name = "N", default_value_t = SAMPLING, help_heading = "Model")]
    pub sampling: u32,
    /// Page placements to run (seeds S, S+1 ..): a result is the middle one, with the range of all
    #[arg(long, value_name = "N", default_value_t = 3, help_heading = "Model")]
    pub placements: u32,
    /// Frames of a run at least; 0: as many as it takes to settle and to measure
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = "Model")]
    pub frames: u64,
    /// Longest warm-up of a run, ms of simulated time
    #[arg(long, value_name = "MS", default_value_t = 400, help_heading = "Model")]
    pub limit_ms: u64,
    /// When runs count, as the command of a result says it [default: when the rates of all have settled]
    #[arg(long, value_name = "NS:NS:N:NS:N", help_heading = "Model")]
    pub window: Option<String>,
}

impl Setup {
    /// Reads options as a command line has them.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Setup, Fail> {
        alone::parse(words)
    }

    /// The option for rings of which a parameter is called `name`, if there is one.
    pub(super) fn ring_of(&self, name: &str) -> Option<u32> {
        match name {
            "ring" => Some(self.ring),
            "ax" => Some(self.ax),
            "bx" => Some(self.bx),
            _ => None,
        }
    }

    /// Gives that option a value.
    pub(super) fn set_ring(&mut self, name: &str, n: u32) {
        match name {
            "ring" => self.ring = n,
            "ax" => self.ax = n,
            "bx" => self.bx = n,
            _ => {}
        }
    }

    /// The files that it reads, as far as its options name any.
    pub(crate) fn inputs(&self) -> Vec<PathBuf> {
        let sizes = self.workload.split(',').next().unwrap_or_default();
        let distribution = sizes.trim().strip_prefix("empirical:").map(PathBuf::from);
        [self.pcap.clone(), Some(PathBuf::from(&self.server)), distribution].into_iter().flatten().collect()
    }
}
