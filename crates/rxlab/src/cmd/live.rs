//! `rxlab live`: the same rings between real threads on this machine.

use clap::Args;
use live::{Config, LiveError, LiveReport, Work};
use memory::Ps;
use packet::kv::Protocol;
use rings::Written;
use traffic::{Sizes, Spec};

use crate::fail::Fail;
use crate::lab::interfaces::{self, Asked};
use crate::lab::setup::names::{antagonist, app};
use crate::show::bar;
use crate::show::out;
use crate::show::table::{Table, num, number, words};

mod calls;

/// Options of `live`.
#[derive(Args, Debug)]
#[command(after_help = "\
Examples:
  rxlab live
  rxlab live --interfaces rxbisect --workers 3 --skew 70 --packets 100000000
  rxlab live --app nat --frame-len 1500 --drop --json
  rxlab live --interfaces corec --workers 4 --app l3fwd --shift 100000
  rxlab live --app nf --antagonist stream:2
  rxlab live --app kv --interfaces privring,ccnic --workload kv:put=5,objects=geo,keys=100k,zipf=0.75
  rxlab live --app tcp-echo --interfaces privring,ccnic
  rxlab live --app tcp-echo --workers 1 --flows 16 --packets 2000 --loss 0.5

A software card on one thread, a worker on each of some others; more threads than cores is fine. Every
frame is checked (none lost uncounted, none twice, none torn, none overtaken in its flow), and every
buffer must come back. Where workers share a ring without a queue each (corec, ddring), frames may overtake;
with an application that sends, it is told by how much (RFC 4737, all frames as one stream). Rates are of the wall clock on a busy or idle machine: compare, do not quote.")]
pub(crate) struct Options {
    #[command(flatten)]
    pub what: What,
    /// Interfaces to run, one after the other: privring, shring, rxbisect, dynamic, corec, ddring, ccnic; each with
    /// parameters of its own if need be: shring:ring=1024,unlock=swap
    #[arg(long, value_name = "A,B,..", value_delimiter = ',', default_values = interfaces::DEFAULT)]
    interfaces: Vec<String>,
    /// Write JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// What is run live.
#[derive(Args, Clone, Debug)]
pub(crate) struct What {
    /// Worker threads, a queue each
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub workers: u16,
    /// Frames that the card stores; with tcp-echo requests [default: 10000000; with tcp-echo 1000000]
    #[arg(long, value_name = "N")]
    pub packets: Option<u64>,
    /// What workers do: check (read, check, free), l3fwd, lb, nat, nf, ipsec (and send), udp-echo (send back),
    /// udp-ack (answer with 64 B), vxlan (take off the headers of VXLAN, in which frames come, and send), kv and erpc-kv (answer requests), tcp-echo (send back
    /// 64 B requests on TCP connections, each with one request on its way)
    #[arg(long, value_name = "A", default_value = "check")]
    pub app: String,
    /// Requests for kv: `kv:put=PERCENT`, with `,objects=fixed|ads|geo`, `,keys=N` and `,zipf=S` at will. First each key is put, beside the
    /// frames of --packets [default with --app kv: kv:put=5,objects=ads,keys=100k,zipf=0.75]. For erpc-kv: `erpc:put=PERCENT`, with
    /// `,value=BYTES` [default: erpc:put=50, CEIO's]
    #[arg(long, value_name = "W")]
    pub workload: Option<String>,
    /// Flows; with tcp-echo connections [default: 1024; with tcp-echo 96]
    #[arg(long, value_name = "N")]
    pub flows: Option<u32>,
    /// Percent of the frames that the wire loses, in each direction (tcp-echo)
    #[arg(long, value_name = "PCT", default_value_t = 0.0)]
    pub loss: f64,
    /// Bytes of a frame, without FCS
    #[arg(long, value_name = "BYTES", default_value_t = 60)]
    pub frame_len: u16,
    /// Percent of RSS that leads to worker 0; 0 is even
    #[arg(long, value_name = "PCT", default_value_t = 0)]
    pub skew: u8,
    /// Frames that a worker receives at a time
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub burst: usize,
    /// The card drops where rings are full, instead of waiting
    #[arg(long)]
    pub drop: bool,
    /// Rx ring entries (all but rxbisect)
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub ring: u32,
    /// Workers that share a ring [default: all for shring, dynamic and corec, 1 for ddring]
    #[arg(long, value_name = "N")]
    pub shared_by: Option<u32>,
    /// How a worker of shring and dynamic frees its ring's lock: by a store, or by a swap, as DPDK's spinlock does
    #[arg(long, value_name = "store|swap", default_value = "store")]
    pub unlock: String,
    /// How a worker of ddring takes buffers: one for each frame (each) or for a burst at a time (bulk)
    #[arg(long, value_name = "each|bulk", default_value = "each")]
    pub refill: String,
    /// Batches that workers of corec mark as read: each, as published, or those that wait for others
    #[arg(long, value_name = "each|waiting", default_value = "waiting")]
    pub marks: String,
    /// Frames after which a worker leaves its ring to the others (corec off), until these have received as
    /// many (on again); the first of each ring stays. 0: never
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub shift: u64,
    /// Ax ring entries (rxbisect)
    #[arg(long, value_name = "N", default_value_t = 128)]
    pub ax: u32,
    /// Bx ring entries (rxbisect)
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub bx: u32,
    /// Transmit ring entries
    #[arg(long, value_name = "N", default_value_t = 1024)]
    pub tx_ring: u32,
    /// Buffers; 0 is what rings, caches and bursts can hold
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub pool: u32,
    /// Threads that press on the memory beside it: stream:N (STREAM's triad) or pagerank:N
    #[arg(long, value_name = "WHO:N")]
    pub antagonist: Option<String>,
    /// Seconds without progress after which a run is given up
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub patience: u64,
}

/// Runs it.
///
/// # Errors
/// An option that is not allowed, or a rule that does not hold.
pub(crate) fn run(options: Options) -> Result<(), Fail> {
    let asked = interfaces::list(&options.interfaces)?;
    let labels = interfaces::labels(&asked);
    let configs = asked.iter().map(|one| options.what.config(one)).collect::<Result<Vec<_>, _>>()?;
    let bar = bar::live(configs.len() as u64, "running live");
    let mut reports = Vec::new();
    for config in &configs {
        reports.push(one(config)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    if options.json {
        return out::json_rows(&reports);
    }
    let rows: Vec<(&str, &LiveReport)> = labels.iter().map(String::as_str).zip(&reports).collect();
    let pressed = rows.iter().filter_map(|(label, r)| r.antagonist.as_ref().map(|a| (label, a)));
    let beside: String = pressed
        .map(|(name, a)| {
            format!("beside {name}: {} x {}, {} {}\n", a.threads, a.program, num(a.rate), a.unit)
        })
        .collect();
    out::print(&(table(&rows).text(out::colour()) + &calls::text(&rows) + &beside))
}

/// One run, and all that must hold of it.
///
/// # Errors
/// What was refused or does not hold.
pub(crate) fn one(config: &Config) -> Result<LiveReport, Fail> {
    let name = config.interface.name();
    let report = live::run(config).map_err(|e| match e {
        LiveError::Stalled { seconds, dump } => {
            out::note(&dump);
            Fail::new(format!("{name}: nothing moved for {seconds} s"))
        }
        other => Fail::new(format!("{name}: {other}")),
    })?;
    report.holds().map_err(|e| Fail::new(format!("{name}: {e}")))?;
    Ok(report)
}

impl What {
    /// The run of one interface.
    ///
    /// # Errors
    /// A name or size that is not allowed.
    pub(crate) fn config(&self, written: &Written) -> Result<Config, Fail> {
        let queues = u32::from(self.workers);
        let asked = Asked {
            ring: self.ring,
            ax_bx: [self.ax, self.bx],
            shared_by: self.shared_by,
            unlock: &self.unlock,
            refill: &self.refill,
            marks: &self.marks,
            cached: None,
        };
        let interface = asked.interface(written, queues)?;
        if self.workers == 0 {
            return Err(Fail::new("--workers 0: allowed: 1 to 64"));
        }
        if !(1..=3600).contains(&self.patience) {
            return Err(Fail::new(format!("--patience {}: allowed: 1 to 3600 s", self.patience)));
        }
        interface.validate(queues).map_err(Fail::new)?;
        let work = match self.app.as_str() {
            "check" => Work::Check,
            Work::TCP_ECHO => Work::TcpEcho,
            name => Work::App(app(name, "check, tcp-echo, ")?),
        };
        if !(0.0..=50.0).contains(&self.loss) {
            return Err(Fail::new(format!("--loss {}: allowed: 0 to 50", self.loss)));
        }
        let (packets, flows) = if work == Work::TcpEcho { CALLS } else { FRAMES };
        let requests = self.requests(work)?;
        Ok(Config {
            workers: self.workers,
            packets: self.packets.unwrap_or(packets),
            work,
            flows: self.flows.unwrap_or(flows),
            frame_len: self.frame_len,
            skew_pct: self.skew,
            burst: self.burst,
            lossless: !self.drop,
            tx_ring: self.tx_ring,
            buffers: self.pool,
            shift: self.shift,
            requests,
            loss_ppm: (self.loss * 10_000.0).round() as u32,
            antagonist: self.antagonist.as_deref().map(antagonist).transpose()?,
            patience: Ps::from_us(self.patience * 1_000_000),
            ..Config::new(interface)
        })
    }

    /// What is asked of a store.
    fn requests(&self, work: Work) -> Result<Option<Spec>, Fail> {
        let text = match &self.workload {
            Some(text) => text,
            None => match work.protocol() {
                Some(Protocol::Plain) => REQUESTS,
                Some(Protocol::Erpc) => CALLS_OF_ERPC,
                None => return Ok(None),
            },
        };
        let spec: Spec = text.parse().map_err(|e| Fail::new(format!("--workload: {e}")))?;
        let asked = match spec.sizes {
            Sizes::Kv { protocol, .. } => Some(protocol),
            _ => None,
        };
        if asked.is_none() || asked != work.protocol() {
            let allowed = "kv:put=PERCENT with --app kv, erpc:put=PERCENT with --app erpc-kv";
            return Err(Fail::new(format!("--workload {text}: allowed: {allowed}")));
        }
        Ok(Some(spec))
    }
}

/// Frames and flows unless told otherwise.
const FRAMES: (u64, u32) = (10_000_000, 1024);
/// Requests, and as many connections as CC-NIC's client has (section 5.7).
const CALLS: (u64, u32) = (1_000_000, 96);
/// What is asked of a store unless told otherwise: CC-NIC's (section 5.7), of fewer keys.
const CALLS_OF_ERPC: &str = "erpc:put=50";
/// What is asked of one behind eRPC: CEIO's (section 6.1).
const REQUESTS: &str = "kv:put=5,objects=ads,keys=100k,zipf=0.75";

fn table(rows: &[(&str, &LiveReport)]) -> Table {
    let mut table = Table::new(&[
        words("interface"),
        words("work"),
        number("workers", ""),
        number("frames", "received"),
        number("dropped", ""),
        number("rate", "Mpps"),
        number("foreign", "buffers"),
        number("lock", "waits"),
        number("claims failed", "%"),
        number("reordered", "%"),
        number("distance", "max"),
        number("buffers", "in use"),
        words("received by each worker, %"),
    ]);
    for (label, r) in rows {
        let received: u64 = r.received.iter().sum();
        let share = |n: &u64| format!("{:.1}", *n as f64 / received.max(1) as f64 * 100.0);
        let counter = |name: &str| r.counters.get(name).map_or("-".into(), u64::to_string);
        table.rows.push(vec![
            (*label).into(),
            r.work.into(),
            r.workers.to_string(),
            received.to_string(),
            (r.dropped.values().sum::<u64>() + r.app_dropped.values().sum::<u64>()).to_string(),
            num(r.mpps),
            counter("foreign"),
            counter("lock_waits"),
            failed_claims(r).map_or("-".into(), num),
            r.reordering.get("reordered_pct").map_or("-".into(), |n| num(*n)),
            r.reordering.get("extent_max").map_or("-".into(), |n| num(*n)),
            r.buffers_in_use.to_string(),
            r.received.iter().map(share).collect::<Vec<_>>().join(" "),
        ]);
    }
    table
}

/// Claims of a shared ring that another worker was faster to make, percent of all tried.
fn failed_claims(r: &LiveReport) -> Option<f64> {
    let [made, failed] = ["claims", "failed_claims"].map(|name| r.counters.get(name).copied());
    let (made, failed) = (made?, failed?);
    Some(100.0 * failed as f64 / (made + failed).max(1) as f64)
}
