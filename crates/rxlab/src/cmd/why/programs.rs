//! What well-known programs call their settings, and which lcore polls which queue.

use serde::Deserialize;

use super::dump::{Dump, Look, Port, Thread};
use crate::fail::Fail;

/// What a program calls its settings.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct Words {
    names: Vec<String>,
    /// Whether all that it receives is to be sent on.
    forwards: bool,
    /// Modes in which it is not.
    sinks: Vec<String>,
    rx_ring: Option<String>,
    tx_ring: Option<String>,
    rx_default: Option<u32>,
    tx_default: Option<u32>,
    pool: Option<String>,
    cores: Option<String>,
    buffer: Option<String>,
    link: Option<String>,
    #[allow(dead_code, reason = "where the words were read, for readers of the table")]
    source: String,
}

/// A setting that a remedy changes.
#[derive(Clone, Copy, Debug)]
pub(super) enum Setting {
    /// Entries of a receive ring.
    RxRing,
    /// Buffers of the pool.
    Pool,
    /// Queues, each with a core.
    Cores,
    /// Bytes of a frame.
    Buffer,
    /// A port's link.
    Link,
}

/// A program that is looked at.
pub(super) struct Named<'a> {
    dump: &'a Dump,
    words: Words,
    /// Entries that the user told, where nothing else does.
    told: Option<u32>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    program: Vec<Words>,
}

/// Entries of the rings of a port, and where that is known from.
pub(super) struct Entries {
    /// Of each ring.
    pub entries: u32,
    /// By whom.
    pub from: String,
}

impl<'a> Named<'a> {
    /// The program of `dump`; `told` is the size of rings that the user gives.
    ///
    /// # Errors
    /// Never in practice: a test reads the table.
    pub(super) fn new(dump: &'a Dump, told: Option<u32>) -> Result<Named<'a>, Fail> {
        let written: Written = toml::from_str(include_str!("programs.toml"))
            .map_err(|e| Fail::new(format!("the table of programs: {e}")))?;
        let words = written.program.into_iter().find(|w| w.names.iter().any(|n| n == dump.name()));
        Ok(Named { dump, words: words.unwrap_or_default(), told })
    }

    /// The value of the program's option `--name`, in either way to write it.
    fn option(&self, name: &str) -> Option<&str> {
        let words = &self.dump.program.app_params;
        let after = |(i, word): (usize, &'a String)| match word.strip_prefix(name)? {
            "" => words.get(i + 1).map(String::as_str),
            rest => rest.strip_prefix('='),
        };
        words.iter().enumerate().filter_map(after).next_back()
    }

    /// Whether all that it receives is to be sent on, as far as its name and options tell.
    pub(super) fn forwards(&self) -> bool {
        let mode = self.option("--forward-mode").unwrap_or("io");
        self.words.forwards && !self.words.sinks.iter().any(|sink| sink == mode)
    }

    /// Entries of each receive ring of a port.
    pub(super) fn rx_entries(&self, port: &Port) -> Option<Entries> {
        self.entries(&port.rx_entries, self.words.rx_ring.as_deref(), self.words.rx_default, self.told)
    }

    /// The same of transmit rings.
    pub(super) fn tx_entries(&self, port: &Port) -> Option<Entries> {
        self.entries(&port.tx_entries, self.words.tx_ring.as_deref(), self.words.tx_default, None)
    }

    fn entries(
        &self,
        told: &[u32],
        option: Option<&str>,
        usual: Option<u32>,
        by_user: Option<u32>,
    ) -> Option<Entries> {
        let found = |entries, from: &str| Some(Entries { entries, from: from.into() });
        if let Some(entries) = told.iter().max() {
            return found(*entries, "telemetry");
        }
        if let Some(entries) = by_user {
            return found(entries, "--ring");
        }
        // `--rxd={}` and `--rx-queue-size {}` name an option of the program itself.
        let name = option.filter(|o| o.starts_with("--")).and_then(|o| o.split(['=', ' ']).next());
        if let Some((name, entries)) = name.and_then(|n| Some((n, self.option(n)?.parse().ok()?))) {
            return found(entries, name);
        }
        usual.and_then(|entries| found(entries, "the program's default"))
    }

    /// The line that gives `setting` a value.
    pub(super) fn line(&self, setting: Setting, value: u64) -> String {
        let (mine, usual) = match setting {
            Setting::RxRing => (&self.words.rx_ring, "rte_eth_rx_queue_setup() with nb_rx_desc = {}"),
            Setting::Pool => (&self.words.pool, "rte_pktmbuf_pool_create() with n = {}"),
            Setting::Cores => (
                &self.words.cores,
                "rte_eth_dev_configure() with {} receive queues, each on an lcore of its own",
            ),
            Setting::Buffer => (
                &self.words.buffer,
                "rte_pktmbuf_pool_create() with data_room_size of at least {}, or RTE_ETH_RX_OFFLOAD_SCATTER",
            ),
            Setting::Link => (&self.words.link, "rte_eth_dev_set_link_up({}), cable or switch"),
        };
        mine.as_deref().unwrap_or(usual).replace("{}", &value.to_string())
    }

    /// The lcore that polls `queue` of `port`, where the program's options tell.
    pub(super) fn lcore(&self, look: &Look, port: u16, queue: u32) -> Option<u32> {
        if let Some(config) = self.option("--config") {
            return triples(config)
                .into_iter()
                .find(|t| t[0] == u32::from(port) && t[1] == queue)
                .map(|t| t[2]);
        }
        if self.words.names.iter().any(|n| n == "testpmd") {
            return self.stream(look, port, queue);
        }
        None
    }

    /// The lcore of a stream of testpmd: queue by queue over all ports, in runs of the same length, of which the last
    /// ones are longer (setup_fwd_config_of_each_lcore of app/test-pmd/config.c).
    fn stream(&self, look: &Look, port: u16, queue: u32) -> Option<u32> {
        let place = look.ports.keys().position(|p| *p == port)?;
        let queues = look.ports.get(&port)?.info.nb_rx_queues as usize;
        let streams = queues * look.ports.len();
        let workers: Vec<u32> = look.threads.iter().filter_map(worker).collect();
        let asked = self.option("--nb-cores").and_then(|n| n.parse().ok()).unwrap_or(1);
        let lcores = workers.len().min(asked).min(streams);
        let stream = queue as usize * look.ports.len() + place;
        let each = streams.checked_div(lcores)?;
        let shorter = (lcores - streams % lcores) * each;
        let index =
            if stream < shorter { stream / each } else { shorter / each + (stream - shorter) / (each + 1) };
        let mut sorted = workers;
        sorted.sort_unstable();
        sorted.get(index).copied()
    }

    /// The thread of an lcore, at `look`.
    pub(super) fn thread<'b>(&self, look: &'b Look, lcore: u32) -> Option<&'b Thread> {
        let mine = look.threads.iter().find(|t| worker(t) == Some(lcore));
        // The main lcore is the process's first thread.
        mine.or_else(|| look.threads.iter().find(|t| t.tid == self.dump.program.pid))
    }
}

/// The lcore of a worker thread, by the name that EAL gave it.
pub(super) fn worker(thread: &Thread) -> Option<u32> {
    let names = ["rte-worker-", "lcore-worker-", "dpdk-worker", "lcore-slave-"];
    names.iter().find_map(|n| thread.name.strip_prefix(n)).and_then(|n| n.parse().ok())
}

/// `(0,0,1),(0,1,2)`: port, queue and lcore.
fn triples(config: &str) -> Vec<[u32; 3]> {
    let one = |text: &str| {
        let words: Vec<u32> = text.split(',').filter_map(|w| w.trim().parse().ok()).collect();
        <[u32; 3]>::try_from(words).ok()
    };
    config.split(['(', ')']).filter_map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn dump(name: &str, options: &[&str], workers: &[u32]) -> Dump {
        let mut dump = Dump::default();
        dump.program.eal_params = vec![format!("/usr/bin/{name}")];
        dump.program.app_params = options.iter().map(|o| o.to_string()).collect();
        let mut look = Look::default();
        for port in 0..2 {
            let mut found = Port::default();
            found.info.nb_rx_queues = 3;
            look.ports.insert(port, found);
        }
        look.threads =
            workers.iter().map(|n| Thread { name: format!("rte-worker-{n}"), ..Thread::default() }).collect();
        dump.looks = vec![look];
        dump
    }

    #[test]
    fn options_are_read_in_both_ways() {
        let testpmd = dump("dpdk-testpmd", &["--rxd=256", "--txd", "128", "--nb-cores=4"], &[1, 2, 3, 4]);
        let named = Named::new(&testpmd, None).unwrap();
        let entries = |e: Option<Entries>| e.map(|e| (e.entries, e.from));
        assert_eq!(entries(named.rx_entries(&Port::default())), Some((256, "--rxd".into())));
        assert_eq!(entries(named.tx_entries(&Port::default())), Some((128, "--txd".into())));
        assert!(named.forwards());
        let l3fwd = dump("l3fwd", &["--config=(0,0,1),(0,1,7)"], &[1, 7]);
        let named = Named::new(&l3fwd, None).unwrap();
        assert_eq!(entries(named.rx_entries(&Port::default())), Some((1024, "the program's default".into())));
        assert_eq!(named.lcore(&l3fwd.looks[0], 0, 1), Some(7));
        assert_eq!(named.lcore(&l3fwd.looks[0], 1, 0), None);
    }

    #[test]
    fn streams_of_testpmd_are_dealt_as_it_deals_them() {
        // Six streams on four lcores: 1, 1, 2, 2.
        let testpmd = dump("testpmd", &["--nb-cores=4"], &[4, 3, 2, 1]);
        let named = Named::new(&testpmd, None).unwrap();
        let lcore = |port, queue| named.lcore(&testpmd.looks[0], port, queue);
        let order: Vec<_> =
            (0..3).flat_map(|q| (0..2).map(move |p| (p, q))).map(|(p, q)| lcore(p, q)).collect();
        assert_eq!(order, [1, 2, 3, 3, 4, 4].map(Some));
    }

    #[test]
    fn a_program_that_is_not_known_is_told_of_the_interface() {
        let own = dump("router", &[], &[]);
        let named = Named::new(&own, Some(512)).unwrap();
        assert!(named.line(Setting::RxRing, 256).contains("nb_rx_desc = 256"));
        assert_eq!(named.rx_entries(&Port::default()).map(|e| e.entries), Some(512));
        assert!(!named.forwards());
    }
}
