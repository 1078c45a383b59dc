//! What a live run is told.

use apps::Antagonist;
use apps::echo;
use apps::table::Shape;
use memory::{Geometry, LINE, Ps};
use packet::kv::{Objects, Protocol};
use packet::vxlan::BEFORE;
use rings::Interface;
use traffic::{Sizes, Spec};

use crate::tunnel::Tunnels;

/// What the workers do with frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Work {
    /// Read and check each frame, and end it.
    Check,
    /// Run an application, send, and let the card check what comes back.
    App(apps::Kind),
    /// Serve TCP connections, with the card as the client that judges the answers.
    TcpEcho,
}

impl Work {
    /// The name of [`TcpEcho`](Self::TcpEcho).
    pub const TCP_ECHO: &'static str = "tcp-echo";

    /// The name on the command line and in reports.
    pub const fn name(self) -> &'static str {
        match self {
            Work::Check => "check",
            Work::App(kind) => kind.name(),
            Work::TcpEcho => Work::TCP_ECHO,
        }
    }

    /// What requests it answers, if it is a store.
    pub const fn protocol(self) -> Option<Protocol> {
        match self {
            Work::App(kind) => kind.protocol(),
            Work::Check | Work::TcpEcho => None,
        }
    }
}

/// One live run.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The receive interface and its sizes.
    pub interface: Interface,
    /// Worker threads, a queue each; more than cores is fine. At least 1.
    pub workers: u16,
    /// Frames that the card stores; of a TCP server, requests.
    pub packets: u64,
    /// What workers do.
    pub work: Work,
    /// UDP flows, 1 to 2^24. Queues need 32 each to fill a burst. Of a TCP server: connections.
    pub flows: u32,
    /// Bytes of a frame, without FCS: 60 to 2048.
    pub frame_len: u16,
    /// Percent of the RSS indirection table that leads to worker 0; 0 = even.
    pub skew_pct: u8,
    /// Frames that a worker receives at a time.
    pub burst: usize,
    /// The card waits where rings are full, instead of dropping.
    pub lossless: bool,
    /// Transmit descriptors of a queue.
    pub tx_ring: u32,
    /// Buffers; 0 = what the rings, the caches and the bursts can hold.
    pub buffers: u32,
    /// Frames after which a worker leaves its ring to the others that poll it, until they have received as
    /// many; 0: never. The first worker of each ring stays.
    pub shift: u64,
    /// Threads that press on the memory meanwhile.
    pub antagonist: Option<Antagonist>,
    /// What is asked of the key-value store, on top of `packets`: first each key is put once.
    pub requests: Option<Spec>,
    /// Of a TCP server: frames of a million that the wire loses, in each direction.
    pub loss_ppm: u32,
    /// A run that moves nothing for so long is given up.
    pub patience: Ps,
}

impl Config {
    /// A run of `interface` with the defaults: 1 worker, 10^6 frames of 60 B in 1024 flows, checked.
    pub fn new(interface: Interface) -> Config {
        Config {
            interface,
            workers: 1,
            packets: 1_000_000,
            work: Work::Check,
            flows: 1024,
            frame_len: 60,
            skew_pct: 0,
            burst: 32,
            lossless: true,
            tx_ring: 1024,
            buffers: 0,
            shift: 0,
            antagonist: None,
            requests: None,
            loss_ppm: 0,
            patience: Ps::from_us(10_000_000),
        }
    }

    /// # Errors
    /// Names the option of `rxlab live` whose value is not allowed, and what is allowed.
    pub(crate) fn validate(&self) -> Result<(), String> {
        let most = match self.work {
            Work::App(apps::Kind::Ipsec) => Tunnels::LONGEST,
            _ => crate::ROOM - self.before(),
        };
        self.validate_requests()?;
        self.validate_connections()?;
        let flows = if self.work == Work::TcpEcho { echo::MOST_FLOWS.into() } else { 1 << 24 };
        let allowed = [
            ("workers", u64::from(self.workers), 1, 64),
            ("flows", u64::from(self.flows), 1, flows),
            ("packets", self.packets, 1, u64::from(self.flows) << 31),
            ("frame-len", u64::from(self.frame_len), 60, u64::from(most)),
            ("skew", u64::from(self.skew_pct), 0, 100),
            ("burst", self.burst as u64, 1, 512),
            ("antagonist threads", self.antagonist.map_or(0, |a| u64::from(a.threads)), 0, 64),
        ];
        if self.shift > 0 && !self.mixes() {
            let name = self.interface.name();
            return Err(format!("workers of {name} cannot leave: allowed where several poll one ring"));
        }
        match allowed.iter().find(|(_, value, least, most)| value < least || value > most) {
            Some((name, value, least, most)) => Err(format!("{name} is {value}; allowed: {least} to {most}")),
            None => Ok(()),
        }
    }

    /// Whether there are requests where they are needed, and rings by which each reaches its partition.
    fn validate_requests(&self) -> Result<(), String> {
        let asked = match &self.requests {
            Some(Spec { sizes: Sizes::Kv { protocol, .. }, flows, .. }) => Some((*protocol, *flows)),
            _ => None,
        };
        let work = self.work.name();
        match (self.work.protocol(), asked) {
            (Some(protocol), None) => {
                let words = protocol.name();
                Err(format!("{work} answers requests; allowed: with a workload {words}:put=PERCENT"))
            }
            (None, Some(_)) => {
                Err("requests are for a store; allowed: with the applications kv and erpc-kv".into())
            }
            (Some(protocol), Some((other, _))) if protocol != other => Err(format!(
                "{work} does not know requests of {}; allowed: those of {}",
                other.name(),
                protocol.name()
            )),
            (Some(_), Some((_, keys))) if keys > 1 << 24 => {
                Err(format!("the workload has {keys} keys; allowed: 1 to {}", 1 << 24))
            }
            (Some(_), _) if self.mixes() => {
                let name = self.interface.name();
                Err(format!("workers of {name} share rings, and each has a partition of {work} of its own"))
            }
            _ => Ok(()),
        }
    }

    /// Whether each connection has a worker of its own, where there are any.
    fn validate_connections(&self) -> Result<(), String> {
        let name = self.interface.name();
        match self.work {
            Work::TcpEcho if self.mixes() => {
                Err(format!("workers of {name} share rings, and each has connections of its own"))
            }
            Work::TcpEcho if self.loss_ppm > 500_000 => {
                Err(format!("loss is {} ppm; allowed: 0 to 500000", self.loss_ppm))
            }
            Work::Check | Work::App(_) if self.loss_ppm > 0 => {
                Err(format!("{} repeats nothing; loss is allowed with {}", self.work.name(), Work::TCP_ECHO))
            }
            _ => Ok(()),
        }
    }

    /// What a TCP server is asked.
    pub(crate) fn order(&self) -> echo::Order {
        echo::Order { flows: self.flows, requests: self.packets, loss_ppm: self.loss_ppm, seed: 1 }
    }

    /// Packet buffers: room for the longest frame, an odd number of lines apart.
    pub(crate) fn geometry(&self, count: u32) -> Geometry {
        let usual = Geometry { room: u32::from(crate::ROOM), ..Geometry::dpdk(count) };
        let longest = self.requests.as_ref().and_then(|spec| spec.sizes.longest()).unwrap_or(0);
        if u32::from(longest) <= usual.room {
            return usual;
        }
        let line = LINE as u32;
        let lines = (usual.offset / line + u32::from(longest).div_ceil(line)) | 1;
        Geometry { stride: lines * line, room: lines * line - usual.offset, ..usual }
    }

    /// How large an application's tables are, where the pool has `buffers`.
    pub(crate) fn sizes(&self, buffers: u32) -> apps::Sizes {
        let (objects, keys) = match &self.requests {
            Some(Spec { sizes: Sizes::Kv { objects, .. }, flows, .. }) => (*objects, *flows),
            _ => (Objects::default(), 0),
        };
        // A translated connection takes two entries, and all flows may lead to one worker.
        let flows = Shape::new(self.flows.saturating_mul(2));
        let room = self.geometry(1).room;
        apps::Sizes { flows, keys, objects, cores: u32::from(self.workers), room, buffers }
    }

    /// Whether several workers poll one ring, so that frames of a flow may overtake.
    pub(crate) fn mixes(&self) -> bool {
        (0..self.workers).any(|worker| self.interface.ring_of(worker) != worker)
    }

    /// Bytes before the frames that are sent: those of VXLAN, where workers take them off.
    pub(crate) fn before(&self) -> u16 {
        if self.work == Work::App(apps::Kind::Vxlan) { BEFORE as u16 } else { 0 }
    }

    /// The RSS indirection table: 128 entries, worker 0's share first.
    pub(crate) fn indirection(&self) -> Vec<u16> {
        const ENTRIES: u16 = 128;
        let own = if self.workers < 2 { 0 } else { ENTRIES * u16::from(self.skew_pct.min(100)) / 100 };
        let rest = if own == 0 { 0 } else { 1 };
        let others = (rest..self.workers).cycle();
        std::iter::repeat_n(0, usize::from(own)).chain(others.take(usize::from(ENTRIES - own))).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_follows_the_skew() {
        let base = Config::new(Interface::PrivRing(rings::privring::Sizes::default()));
        let share = |workers, skew_pct, worker| {
            let table = Config { workers, skew_pct, ..base.clone() }.indirection();
            assert_eq!(table.len(), 128);
            table.iter().filter(|w| **w == worker).count()
        };
        assert_eq!([share(1, 0, 0), share(1, 70, 0)], [128, 128]);
        assert_eq!([share(2, 0, 0), share(2, 0, 1)], [64, 64]);
        assert_eq!([share(3, 75, 0), share(3, 75, 1), share(3, 75, 2)], [96, 16, 16]);
        assert_eq!([share(2, 100, 0), share(2, 100, 1)], [128, 0]);
    }

    #[test]
    fn values_out_of_range_are_named() {
        let base = Config::new(Interface::PrivRing(rings::privring::Sizes::default()));
        assert_eq!(base.validate(), Ok(()));
        let short = Config { frame_len: 59, ..base.clone() }.validate().unwrap_err();
        assert_eq!(short, "frame-len is 59; allowed: 60 to 2048");
        assert!(Config { workers: 0, ..base.clone() }.validate().is_err());
        let lost = Config { loss_ppm: 1, ..base.clone() }.validate().unwrap_err();
        assert_eq!(lost, "check repeats nothing; loss is allowed with tcp-echo");
        let echo = Config { work: Work::TcpEcho, ..base };
        assert_eq!(echo.validate(), Ok(()));
        let many = Config { flows: 4097, ..echo.clone() }.validate().unwrap_err();
        assert_eq!(many, "flows is 4097; allowed: 1 to 4096");
        assert!(Config { loss_ppm: 500_001, ..echo.clone() }.validate().is_err());
        let corec = Interface::Corec(rings::corec::Sizes { shared_by: 2, ..Default::default() });
        let shared = Config { interface: corec, workers: 2, ..echo }.validate().unwrap_err();
        assert_eq!(shared, "workers of corec share rings, and each has connections of its own");
    }
}
