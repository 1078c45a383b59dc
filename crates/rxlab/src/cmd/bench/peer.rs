//! Who is measured, and how it is run: the ports, lcores and tasks of each process.

use std::path::{Path, PathBuf};

use clap::ValueEnum;
use serde::Serialize;

/// What is measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, ValueEnum)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// One way: one writes and sends, the other receives and reads
    Stream,
    /// There and back, 256 frames in flight
    Loop,
    /// There and back, one frame in flight: the time of a round trip
    Rtt,
    /// TSC cycles of bursts on filled rings: received by one and two lcores; corec and ddring also forwarded
    Cycles,
    /// A full queue that one and two lcores empty together, the application being the bottleneck
    Share,
}

/// What an lcore does with the frames whose cycles are counted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum App {
    /// Nothing: rx_burst alone
    Bare,
    /// Longest-prefix match, headers rewritten, sent on
    L3fwd,
}

impl App {
    /// As tables show it.
    pub(crate) fn name(self) -> &'static str {
        match self {
            App::Bare => "rx_burst",
            App::L3fwd => "l3fwd",
        }
    }
}

/// Through what frames pass.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Via {
    Null,
    Ring,
    Memif {
        zero_copy: bool,
    },
    /// virtio-user in the client, vhost-user in the server.
    Vhost {
        packed: bool,
    },
    /// Our driver with this interface: a NIC that generates or loops.
    Rxlab,
    /// The same where a full ring holds [`SMALL`] frames.
    Small,
    /// The same with a DD-bit ring, of which these are the arguments.
    DdRing(&'static str),
    /// Two ports of our driver, joined.
    RxlabPair,
    /// A ccnic link, by the crate's own calls or by our driver's.
    Channel(Calls),
}

/// Who calls a ccnic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Calls {
    /// The crate's own calls.
    Crate,
    /// Our driver, with copies between mbufs and the link's memory.
    Copy,
    /// Our driver, with mbufs in the link's memory.
    InPlace,
}

/// A way for frames, by name.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer {
    /// As tables and `--only` name it.
    pub name: &'static str,
    via: Via,
    /// One way from server to client, not from client to server.
    back: bool,
}

const fn peer(name: &'static str, via: Via) -> Peer {
    Peer { name, via, back: false }
}

const fn back(name: &'static str, via: Via) -> Peer {
    Peer { name, via, back: true }
}

/// All of them; ratios are against the first.
pub(crate) const PEERS: [Peer; 26] = [
    peer(MEMIF, Via::Memif { zero_copy: false }),
    peer(PRIVRING, Via::Rxlab),
    peer("shring", Via::Rxlab),
    peer(RXBISECT, Via::Rxlab),
    peer("dynamic", Via::Rxlab),
    peer(PRIVRING_SMALL, Via::Small),
    peer("rxbisect-128", Via::Small),
    peer(DDRING, Via::DdRing("ddring")),
    peer("ddring-each", Via::DdRing("ddring,refill=each")),
    peer("ddring-lock", Via::DdRing("ddring,threads=2")),
    peer(COREC, Via::DdRing("corec,threads=2")),
    peer("ccnic", Via::Channel(Calls::Crate)),
    peer("ccnic-copy", Via::Channel(Calls::Copy)),
    peer("ccnic-in-place", Via::Channel(Calls::InPlace)),
    peer("privring-pair", Via::RxlabPair),
    peer("shring-pair", Via::RxlabPair),
    peer("rxbisect-pair", Via::RxlabPair),
    back("memif-back", Via::Memif { zero_copy: false }),
    peer("memif-zc", Via::Memif { zero_copy: true }),
    back("memif-zc-back", Via::Memif { zero_copy: true }),
    peer("vhost-split", Via::Vhost { packed: false }),
    back("vhost-split-back", Via::Vhost { packed: false }),
    peer("vhost-packed", Via::Vhost { packed: true }),
    back("vhost-packed-back", Via::Vhost { packed: true }),
    peer("ring", Via::Ring),
    peer("null", Via::Null),
];

/// What rates are compared with.
pub(crate) const MEMIF: &str = "memif";
/// What cycles are compared with.
const PRIVRING: &str = "privring";
/// The same of small rings.
const PRIVRING_SMALL: &str = "privring-128";
const RXBISECT: &str = "rxbisect";
/// The same of corec: its ring under a single consumer, which refills in bulk.
const DDRING: &str = "ddring";
/// One thread of it is what two are compared with.
const COREC: &str = "corec";

/// Frames that a full ring holds whose cycles are counted. An rxbisect queue to which no other lends its buffers
/// holds no more than its Ax ring, whatever its Bx ring has room for: both kinds must be as full to be compared.
const FULL: u16 = 1024;
/// The same of small rings: the default of `ax`.
const SMALL: u16 = 128;
/// Descriptors of a queue that is emptied, and cycles of the application for each frame.
const DRAIN: u16 = 4096;
pub(crate) const WORK: u32 = 400;

/// One thing to measure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Case {
    pub kind: Kind,
    pub peer: &'static Peer,
    /// Bytes of a frame, without FCS.
    pub size: u16,
    /// Frames of a call.
    pub burst: u16,
    /// Receiving lcores (cycles and share; otherwise 1).
    pub cores: u16,
    /// What is done with the frames (cycles; otherwise bare).
    pub app: App,
}

/// A process of a case.
#[derive(Debug, Default)]
pub(crate) struct Role {
    /// CPUs that it may run on.
    pub cpus: Vec<usize>,
    /// CPU of each task's lcore; the main lcore waits on the first.
    pub lcores: Vec<usize>,
    /// Tasks, as rxbench names them. The first of a role that measures is the one that counts.
    pub tasks: Vec<String>,
    /// Arguments of EAL.
    pub eal: Vec<String>,
    /// The next process needs this socket.
    pub socket: Option<PathBuf>,
    /// An end of the link at this socket, and not rxbench.
    pub end: Option<PathBuf>,
}

/// The processes of a case, in the order in which they start; the last one ends first.
pub(crate) struct Cast {
    pub roles: Vec<Role>,
    /// Whose samples count.
    pub measures: usize,
}

impl Peer {
    /// Whether it is our driver.
    pub(crate) fn ours(&self) -> bool {
        let driver = matches!(self.via, Via::Channel(calls) if calls != Calls::Crate);
        driver || matches!(self.via, Via::Rxlab | Via::Small | Via::DdRing(_) | Via::RxlabPair)
    }
}

impl Case {
    /// Whether it can be measured so; `longest` of all bursts is the one that counts where others matter little.
    pub(crate) fn fits(&self, longest: u16) -> bool {
        let (kind, back) = (self.kind, self.peer.back);
        match self.peer.via {
            Via::Null => kind == Kind::Stream,
            Via::Rxlab => match kind {
                Kind::Cycles => self.app == App::Bare && self.burst == longest,
                _ => kind != Kind::Share,
            },
            Via::Small => kind == Kind::Cycles && self.app == App::Bare && self.burst == longest,
            Via::DdRing(arguments) => match kind {
                Kind::Cycles => self.cores == 1 && self.peer.name != "ddring-lock",
                Kind::Share => self.cores == 1 || arguments.contains("threads"),
                _ => true,
            },
            Via::RxlabPair => kind == Kind::Loop,
            // The split ring's vectorised receive takes nothing where fewer than 4 are asked for.
            Via::Vhost { packed: false } if self.burst < 4 && (back || kind != Kind::Stream) => false,
            // There and back is the same from either side.
            _ => kind == Kind::Stream || !back && matches!(kind, Kind::Loop | Kind::Rtt),
        }
    }

    /// What it is compared with, in all else alike: a peer, and receiving lcores.
    pub(crate) fn base(&self) -> (&'static str, u16) {
        match (self.kind, self.peer.via) {
            (Kind::Share, _) => (COREC, 1),
            (Kind::Cycles, Via::DdRing(_)) => (DDRING, self.cores),
            (Kind::Cycles, Via::Small) => (PRIVRING_SMALL, self.cores),
            (Kind::Cycles, _) => (PRIVRING, self.cores),
            _ => (MEMIF, self.cores),
        }
    }

    /// Options of rxbench that only this case has.
    pub(crate) fn options(&self) -> Vec<String> {
        match self.kind {
            _ if self.peer.via == Via::Channel(Calls::InPlace) => vec!["--in-place".into()],
            Kind::Cycles if self.peer.name == PRIVRING_SMALL => vec!["--rxd".into(), SMALL.to_string()],
            Kind::Share => {
                let (rxd, work, mbufs) = (DRAIN, WORK, 4 * u32::from(DRAIN));
                format!("--rxd {rxd} --work {work} --mbufs {mbufs}").split(' ').map(String::from).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Its processes on two CPUs; sockets go into `dir`. `channel` is how ccnic links are configured.
    pub(crate) fn cast(&self, cpus: [usize; 2], dir: &Path, channel: &str) -> Cast {
        match self.peer.via {
            Via::Null | Via::Ring => self.in_process(cpus),
            Via::Memif { zero_copy } => {
                let path = dir.join("socket");
                let vdev = |role: &str, more: &str| {
                    let path = path.display();
                    format!("--vdev=net_memif0,role={role},socket={path},socket-abstract=no{more}")
                };
                let client = vdev("client", if zero_copy { ",zero-copy=yes" } else { "" });
                self.two(cpus, vdev("server", ""), client, path)
            }
            Via::Vhost { packed } => {
                let path = dir.join("socket");
                let ring = if packed {
                    "packed_vq=1,mrg_rxbuf=0,in_order=1,vectorized=1"
                } else {
                    "mrg_rxbuf=0,in_order=0,vectorized=1"
                };
                let server = format!("--vdev=net_vhost0,iface={},queues=1", path.display());
                let client = format!(
                    "--vdev=net_virtio_user0,path={},queues=1,queue_size=1024,{ring}",
                    path.display()
                );
                let mut cast = self.two(cpus, server, client, path);
                if packed {
                    // Without it the driver takes its plain path, and does not say so.
                    cast.roles[1].eal.push("--force-max-simd-bitwidth=512".into());
                }
                cast
            }
            Via::Rxlab | Via::Small => self.rxlab(&self.filled(), cpus),
            Via::DdRing(arguments) => self.rxlab(arguments, cpus),
            Via::RxlabPair => self.rxlab_pair(cpus),
            Via::Channel(calls) => self.channel(calls, cpus, dir.join("socket"), channel),
        }
    }

    /// Whether what arrives is what rxbench sent.
    pub(crate) fn brings_ours(&self) -> bool {
        match self.peer.via {
            Via::Null => false,
            Via::Rxlab | Via::Small | Via::DdRing(_) => matches!(self.kind, Kind::Loop | Kind::Rtt),
            _ => true,
        }
    }

    fn in_process(&self, cpus: [usize; 2]) -> Cast {
        let null = self.peer.via == Via::Null;
        let vdevs = if null {
            vec![format!("--vdev=net_null0,size={}", self.size)]
        } else {
            vec!["--vdev=net_ring0".into(), "--vdev=net_ring1".into()]
        };
        let tasks = match self.kind {
            Kind::Loop => ["loop,tx=0,rx=1", "echo,rx=0,tx=1"],
            Kind::Rtt => ["rtt,tx=0,rx=1", "echo,rx=0,tx=1"],
            Kind::Stream | Kind::Cycles | Kind::Share => ["rx", "tx"],
        };
        let tasks = tasks.map(String::from).to_vec();
        one(Role { cpus: cpus.to_vec(), lcores: cpus.to_vec(), tasks, eal: vdevs, ..Role::default() })
    }

    /// Server on the first CPU, client on the second.
    fn two(&self, cpus: [usize; 2], server: String, client: String, socket: PathBuf) -> Cast {
        let (tasks, measures) = match (self.kind, self.peer.back) {
            (Kind::Loop, _) => (["echo", "loop"], 1),
            (Kind::Rtt, _) => (["echo", "rtt"], 1),
            (_, false) => (["rx", "tx"], 0),
            (_, true) => (["tx", "rx"], 1),
        };
        let role = |i: usize, vdev: String| Role {
            cpus: vec![cpus[i]],
            lcores: vec![cpus[i]],
            tasks: vec![tasks[i].into()],
            eal: vec!["--single-file-segments".into(), vdev],
            ..Role::default()
        };
        let server = Role { socket: Some(socket), ..role(0, server) };
        Cast { roles: vec![server, role(1, client)], measures }
    }

    /// The interface and, where its cycles are counted, the size that decides how many frames a full ring holds.
    fn filled(&self) -> String {
        let small = self.peer.via == Via::Small;
        let iface = self.peer.name.split('-').next().unwrap_or_default();
        match self.kind {
            Kind::Cycles if iface == RXBISECT => format!("{iface},ax={}", if small { SMALL } else { FULL }),
            _ => iface.into(),
        }
    }

    /// The application on the first CPU, the NIC core on the second; a second application lcore shares it.
    fn rxlab(&self, iface: &str, cpus: [usize; 2]) -> Cast {
        let source = match self.kind {
            Kind::Stream | Kind::Cycles | Kind::Share => format!("gen:fixed:{}", self.size),
            Kind::Loop | Kind::Rtt => "loop".into(),
        };
        let idle = if self.cores > 1 { "yield" } else { "spin" };
        let nic = match self.kind {
            // It stands still while the lcores work.
            Kind::Share => "nic_service=1".into(),
            _ => format!("nic_cpu={},nic_idle={idle}", cpus[1]),
        };
        let vdev = format!("--vdev=net_rxlab0,iface={iface},source={source},{nic}");
        let task = match (self.kind, self.app) {
            (Kind::Stream, _) => "rx",
            (Kind::Loop, _) => "loop",
            (Kind::Rtt, _) => "rtt",
            (Kind::Cycles, App::Bare) => "rxcycles",
            (Kind::Cycles, App::L3fwd) => "fwdcycles",
            (Kind::Share, _) => "drain",
        };
        let queue = |i: u16| if self.kind == Kind::Share { 0 } else { i };
        let tasks = (0..self.cores).map(|i| format!("{task},queue={}", queue(i))).collect();
        let lcores = (0..usize::from(self.cores)).map(|i| cpus[i % 2]).collect();
        one(Role { cpus: cpus.to_vec(), lcores, tasks, eal: vec![vdev], ..Role::default() })
    }

    fn channel(&self, calls: Calls, cpus: [usize; 2], path: PathBuf, config: &str) -> Cast {
        if calls == Calls::Crate {
            let mut cast = self.two(cpus, String::new(), String::new(), path.clone());
            cast.roles.iter_mut().for_each(|role| role.end = Some(path.clone()));
            return cast;
        }
        let vdev = |role: &str| {
            // DPDK takes a comma for the end of an argument.
            let config = config.replace(',', "+").replace('=', ":");
            let config = if config.is_empty() { config } else { format!(",channel_conf={config}") };
            format!("--vdev=net_rxlab0,iface=ccnic,channel={},channel_role={role}{config}", path.display())
        };
        self.two(cpus, vdev("listen"), vdev("connect"), path)
    }

    fn rxlab_pair(&self, cpus: [usize; 2]) -> Cast {
        let iface = self.peer.name.trim_end_matches("-pair");
        let vdev = |port: usize| {
            let (other, cpu) = (1 - port, cpus[1]);
            format!("--vdev=net_rxlab{port},iface={iface},source=pair:net_rxlab{other},nic_cpu={cpu}")
        };
        let tasks = vec!["loop,tx=0,rx=1".into()];
        let eal = vec![vdev(0), vdev(1)];
        one(Role { cpus: cpus.to_vec(), lcores: vec![cpus[0]], tasks, eal, ..Role::default() })
    }
}

fn one(role: Role) -> Cast {
    Cast { roles: vec![role], measures: 0 }
}
