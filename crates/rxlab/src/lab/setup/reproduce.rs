//! A setup for a shell and for programs: its settings, and the command line that runs it again.

use rings::Interface;
use traffic::Rate;

use super::Ready;
use crate::show::stamp::quoted;

impl Ready {
    /// Every setting in force, by the name of its option.
    pub(crate) fn settings(&self) -> serde_json::Map<String, serde_json::Value> {
        let s = &self.setup;
        // A number is one in JSON too; only the traffic's own rate is a word.
        let rate = match self.rate {
            Rate::Gbps(gbps) => serde_json::json!(gbps),
            Rate::Own => self.rate.to_string().into(),
        };
        let value = serde_json::json!({
            "cores": self.ports.all_cores(),
            "ports": self.ports.count(),
            "emulated": s.emulated,
            "app": s.app,
            "target_reads": s.target_reads,
            "rate": rate,
            "steer": self.steer.name(),
            "numa": s.numa,
            "ddio_ways": self.server.caches.ddio_ways,
            "ring": s.ring,
            "shared_by": s.shared_by,
            "unlock": s.unlock,
            "refill": s.refill,
            "marks": s.marks,
            "ax": s.ax,
            "bx": s.bx,
            "tx_ring": s.tx_ring,
            "pool": s.pool,
            "burst": s.burst,
            "sampling": s.sampling,
            "placements": s.placements,
            "frames": s.frames,
            "limit_ms": s.limit_ms,
            "antagonist": s.antagonist,
            "arrivals": s.arrivals,
            "app_cycles": s.app_cycles,
            "resolution_pct": s.resolution,
            "trial_ms": s.trial_ms,
        });
        let mut map = match value {
            serde_json::Value::Object(map) => map,
            _ => serde_json::Map::new(),
        };
        if self.ports.stated {
            map.insert("port_load".into(), self.ports.load_text().into());
            map.insert("port_cores".into(), self.ports.cores_text().into());
        }
        if let Some(senders) = &s.senders {
            map.insert("senders".into(), senders.clone().into());
        }
        if let Some(hostcc) = s.hostcc {
            map.insert("hostcc".into(), hostcc.into());
        }
        if let Some(bypass) = &s.bypass {
            map.insert("bypass".into(), bypass.clone().into());
        }
        if let Some(room) = s.room {
            map.insert("room".into(), room.into());
        }
        for (name, value) in s.rules.flags() {
            map.insert(name.replace('-', "_"), value.into());
        }
        map
    }

    /// The command line that runs `interface` alone with every parameter and setting in force.
    pub(crate) fn command(&self, interface: &Interface) -> String {
        let s = &self.setup;
        let traffic = match &s.pcap {
            Some(path) => {
                let truncated = if s.allow_truncated { " --allow-truncated" } else { "" };
                format!("--pcap {}{truncated}", quoted(&path.display().to_string()))
            }
            None => format!("--workload {}", quoted(&s.workload)),
        };
        let mut words = vec!["rxlab compare".to_string(), traffic];
        let mut flag = |name: &str, value: &dyn std::fmt::Display| words.push(format!("--{name} {value}"));
        flag("rate", &self.rate);
        flag("steer", &s.steer);
        flag("server", &quoted(&s.server));
        flag("cores", &self.ports.all_cores());
        flag("ports", &self.ports.count());
        if self.ports.stated {
            flag("port-load", &self.ports.load_text());
            flag("port-cores", &self.ports.cores_text());
        }
        if let Some(arrivals) = &s.arrivals {
            flag("arrivals", arrivals);
        }
        flag("app", &s.app);
        if let Some(cycles) = s.app_cycles {
            flag("app-cycles", &cycles);
        }
        if s.target_reads > 0 {
            flag("target-reads", &s.target_reads);
        }
        if self.server.nic.remote {
            flag("numa", &s.numa);
        }
        if self.server.caches.ddio_ways > 0 {
            flag("ddio-ways", &self.server.caches.ddio_ways);
        }
        flag("interfaces", &interface);
        flag("tx-ring", &s.tx_ring);
        if let Some(pool) = s.pool {
            flag("pool", &pool);
        }
        if let Some(room) = s.room {
            flag("room", &room);
        }
        if let Some(antagonist) = &s.antagonist {
            flag("antagonist", antagonist);
        }
        if let Some(senders) = &s.senders {
            flag("senders", senders);
        }
        if let Some(hostcc) = s.hostcc {
            flag("hostcc", &hostcc);
        }
        if let Some(bypass) = &s.bypass {
            flag("bypass", bypass);
        }
        for (name, value) in s.rules.flags() {
            flag(name, &value);
        }
        flag("burst", &s.burst);
        flag("seed", &s.seed);
        flag("sampling", &s.sampling);
        flag("placements", &s.placements);
        if s.frames > 0 {
            flag("frames", &s.frames);
        }
        flag("limit-ms", &s.limit_ms);
        flag("resolution", &s.resolution);
        flag("trial-ms", &s.trial_ms);
        if s.emulated {
            words.push("--emulated".into());
        }
        words.join(" ")
    }
}
