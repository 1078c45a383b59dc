//! Looks at a running program through its telemetry.

use std::thread;
use std::time::{Duration, Instant};

use serde::de::DeserializeOwned;
use serde_json::Value;

use super::dump::{Info, Look, Pool, Port, Program};
use super::process;
use super::socket::Link;
use crate::fail::Fail;

/// Most memory zones that are looked through for the rings of pools.
const ZONES: usize = 512;

/// The rings behind the pools of a program: name of the pool, name of the ring, address in its memory.
type Rings = Vec<(String, String, u64)>;

/// A program that is looked at.
pub(super) struct Watched {
    link: Link,
    rings: Rings,
    start: Instant,
    /// Which commands for rings' sizes it knows.
    tells_entries: bool,
}

impl Watched {
    /// The program behind `link`.
    ///
    /// # Errors
    /// It goes away, or has no ports.
    #[allow(clippy::disallowed_methods, reason = "a running program is looked at over time")]
    pub(super) fn new(link: Link) -> Result<(Watched, Program), Fail> {
        let words = |command| Ok::<_, Fail>(typed::<Vec<String>>(link.ask(command)?));
        let program = Program {
            version: link.greeting.version.clone(),
            pid: link.greeting.pid,
            eal_params: words("/eal/params")?,
            app_params: words("/eal/app_params")?,
        };
        let commands = words("/")?;
        let tells_entries = commands.iter().any(|c| c == "/ethdev/rx_queue");
        if !commands.iter().any(|c| c == "/ethdev/list") {
            let pid = program.pid;
            return Err(Fail::new(format!("process {pid} tells nothing of ports: it has no /ethdev/list")));
        }
        let rings = rings(&link)?;
        Ok((Watched { link, rings, start: Instant::now(), tells_entries }, program))
    }

    /// `count` looks, `every` apart.
    ///
    /// # Errors
    /// The program goes away.
    pub(super) fn looks(&self, count: u32, every: Duration) -> Result<Vec<Look>, Fail> {
        let mut all = vec![self.look()?];
        for _ in 1..count {
            pause(every);
            all.push(self.look()?);
        }
        Ok(all)
    }

    fn look(&self) -> Result<Look, Fail> {
        let mut look = Look { at_s: self.start.elapsed().as_secs_f64(), ..Look::default() };
        for port in typed::<Vec<u16>>(self.link.ask("/ethdev/list")?) {
            look.ports.insert(port, self.port(port)?);
        }
        for name in typed::<Vec<String>>(self.link.ask("/mempool/list")?) {
            look.pools.push(self.pool(&name)?);
        }
        look.threads = process::threads(self.link.greeting.pid);
        Ok(look)
    }

    fn port(&self, port: u16) -> Result<Port, Fail> {
        let ask = |what: &str| self.link.ask(&format!("/ethdev/{what},{port}"));
        let xstats =
            ask("xstats")?.and_then(|v| serde_json::from_value(serde_json::json!({ "xstats": v })).ok());
        let mut found: Port = xstats.unwrap_or_default();
        found.stats = typed(ask("stats")?);
        found.info = typed(ask("info")?);
        found.link = typed(ask("link_status")?);
        found.pcie = process::pcie(&found.info.name);
        if self.tells_entries {
            let Info { nb_rx_queues, nb_tx_queues, .. } = found.info;
            found.rx_entries = self.entries(port, "rx_queue", nb_rx_queues)?;
            found.tx_entries = self.entries(port, "tx_queue", nb_tx_queues)?;
        }
        Ok(found)
    }

    /// Entries of the rings of a port, where the program tells them of all.
    fn entries(&self, port: u16, which: &str, queues: u32) -> Result<Vec<u32>, Fail> {
        let mut all = Vec::new();
        for queue in 0..queues.min(1024) {
            let told = self.link.ask(&format!("/ethdev/{which},{port},{queue}"))?;
            let Some(entries) = told.and_then(|v| v.get("nb_desc")?.as_u64()) else { return Ok(Vec::new()) };
            all.push(entries as u32);
        }
        Ok(all)
    }

    fn pool(&self, name: &str) -> Result<Pool, Fail> {
        let mut pool: Pool = typed(self.link.ask(&format!("/mempool/info,{name}"))?);
        let ring = self.rings.iter().find(|(of, ..)| of == name);
        let pid = self.link.greeting.pid;
        pool.free = ring.and_then(|(_, ring, address)| process::in_ring(pid, *address, ring, pool.size));
        Ok(pool)
    }
}

#[allow(clippy::disallowed_methods, reason = "a running program is looked at over time")]
fn pause(time: Duration) {
    thread::sleep(time);
}

/// An answer in its shape; what is absent or of another shape is empty.
fn typed<T: DeserializeOwned + Default>(answer: Option<Value>) -> T {
    answer.and_then(|value| serde_json::from_value(value).ok()).unwrap_or_default()
}

/// Where the rings of all pools lie. A pool with another handler has none.
fn rings(link: &Link) -> Result<Rings, Fail> {
    let mut found = Vec::new();
    for zone in typed::<Vec<u64>>(link.ask("/eal/memzone_list")?).into_iter().take(ZONES) {
        let Some(told) = link.ask(&format!("/eal/memzone_info,{zone}"))? else { continue };
        let text = |name: &str| told.get(name).and_then(Value::as_str).unwrap_or_default();
        let (Some(ring), Some(address)) =
            (text("Name").strip_prefix("RG_"), text("Address").strip_prefix("0x"))
        else {
            continue;
        };
        // The ring is called as the memory zone is, without its `RG_`; the pool as the ring, without its `MP_`.
        if let (Some(pool), Ok(address)) = (ring.strip_prefix("MP_"), u64::from_str_radix(address, 16)) {
            found.push((pool.into(), ring.into(), address));
        }
    }
    Ok(found)
}
