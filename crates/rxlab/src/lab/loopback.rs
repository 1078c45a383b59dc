//! A loopback over a coherent NIC or a card behind PCIe: its options, and what it reaches.

use clap::Args;
use memory::{Ps, Stores};
use model::bench::loopback::{Accesses, Card, Load, Pool, Setup, accesses, loopback};
use model::profile::{AdjacentPrefetch, Server};
use rings::Choice;
use rings::ccnic::{Back, Homing, Layout, Signal};
use rings::ceio::Kind;
use rings::pool::sides::{Exchange, Fill};

use crate::fail::Fail;
use crate::lab::alone;
use crate::lab::measured::Measured;

/// Frames of a pair that are under way where as many as possible are to come back.
const FULL: u32 = 256;

/// Interfaces and pools that are compared, with the names that options have.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Nic {
    Ccnic,
    E810,
    CardE810,
    CardCx6,
    CardCeio,
}

impl Choice for Nic {
    const ALL: &'static [(&'static str, Nic)] = &[
        ("ccnic", Nic::Ccnic),
        ("e810", Nic::E810),
        ("card-e810", Nic::CardE810),
        ("card-cx6", Nic::CardCx6),
        ("card-ceio", Nic::CardCeio),
    ];
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Owner {
    Shared,
    Host,
}

impl Choice for Owner {
    const ALL: &'static [(&'static str, Owner)] = &[("shared", Owner::Shared), ("host", Owner::Host)];
}

/// A loopback, and how it is measured.
#[derive(Args, Clone, Debug)]
pub(crate) struct Options {
    /// Server profile
    #[arg(long, value_name = "NAME", default_value = "icx")]
    pub server: String,
    /// The interface: ccnic, a card's of today over the same link (e810), or a card itself behind PCIe (of which card-ceio
    /// keeps frames that find no credit)
    #[arg(long, value_name = "ccnic|e810|card-e810|card-cx6|card-ceio", default_value = "ccnic", value_parser = <Nic as Choice>::named)]
    nic: Nic,
    /// Threads of each side [default: the server's cores]
    #[arg(long, value_name = "N")]
    pairs: Option<u32>,
    /// Bytes of a frame
    #[arg(long, value_name = "N", default_value_t = 64)]
    bytes: u16,
    /// Where the signal of an entry is
    #[arg(long, value_name = "inline|register", value_parser = <Signal as Choice>::named)]
    signal: Option<Signal>,
    /// How descriptors lie in lines
    #[arg(long, value_name = "group|pad|pack|dense", value_parser = <Layout as Choice>::named)]
    layout: Option<Layout>,
    /// How an entry comes back to its writer
    #[arg(long, value_name = "clear|credit", value_parser = <Back as Choice>::named)]
    back: Option<Back>,
    /// Whose memory a lane lies in
    #[arg(long, value_name = "writer|reader|host|nic", value_parser = <Homing as Choice>::named)]
    homing: Option<Homing>,
    /// Who takes and gives back buffers
    #[arg(long, value_name = "shared|host", value_parser = <Owner as Choice>::named)]
    pool: Option<Owner>,
    /// Free buffers that a thread keeps; 0 is a pool without stacks
    #[arg(long, value_name = "N")]
    cache: Option<u32>,
    /// How buffers of a shared pool get to the other side
    #[arg(long, value_name = "lanes|queue", value_parser = <Exchange as Choice>::named)]
    exchange: Option<Exchange>,
    /// Their order at first
    #[arg(long, value_name = "apart|sequential", value_parser = <Fill as Choice>::named)]
    fill: Option<Fill>,
    /// A pair's buffers [default: 4096]
    #[arg(long, value_name = "N")]
    buffers: Option<u32>,
    /// Bytes from one buffer to the next, all for frames [default: 128 for frames that fit, else 4096]
    #[arg(long, value_name = "N")]
    stride: Option<u32>,
    /// How frames are written
    #[arg(long, value_name = "cached|streaming", value_parser = <Stores as Choice>::named)]
    stores: Option<Stores>,
    /// Whose misses to DRAM fetch the other line of a pair [default: the profile's]
    #[arg(long, value_name = "off|host|nic|both", value_parser = <AdjacentPrefetch as Choice>::named)]
    prefetch: Option<AdjacentPrefetch>,
    /// What the way to the other socket and back adds to an access, ns [default: the profile's]
    #[arg(long, value_name = "NS")]
    remote_ns: Option<f64>,
    /// What the link carries each way, GB/s [default: the profile's]
    #[arg(long, value_name = "RATE")]
    link_gbytes: Option<f64>,
    /// Frames that are sent together
    #[arg(long, value_name = "N", default_value_t = 32)]
    tx_burst: usize,
    /// Frames that are received together
    #[arg(long, value_name = "N", default_value_t = 32)]
    rx_burst: usize,
    /// Frames up to so many bytes come with their doorbell (card-cx6, card-ceio)
    #[arg(long, value_name = "BYTES", default_value_t = 0)]
    inline: u16,
    /// Credits of card-ceio; with 0 all frames take the slow path
    #[arg(long, value_name = "N", default_value_t = 3000)]
    credits: u32,
    /// What is known of the flows of card-ceio; those that bypass cores take the slow path, and the card drains it by itself
    #[arg(long, value_name = "detected|involved|bypass", default_value = "detected", value_parser = <Kind as Choice>::named)]
    kind: Kind,
    /// Hosts look at each burst which frames are sent
    #[arg(long)]
    completions: bool,
    /// The NIC's threads are cores of the host's node
    #[arg(long)]
    one_node: bool,
    /// Frames of a pair under way [default: as many as there may be]
    #[arg(long, value_name = "N", conflicts_with = "load")]
    in_flight: Option<u32>,
    /// Share of the highest rate that is sent
    #[arg(long, value_name = "SHARE")]
    load: Option<f64>,
    /// Count what crosses the link from one frame of a pair to another, in place of a time
    #[arg(long, value_name = "FROM:TO", conflicts_with = "load")]
    frames: Option<String>,
    /// Simulated before anything counts, us
    #[arg(long, value_name = "US", default_value_t = 500)]
    warm_us: u64,
    /// Simulated while all counts, us
    #[arg(long, value_name = "US", default_value_t = 200)]
    span_us: u64,
    /// One cache set in so many is simulated
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub sampling: u32,
}

fn failed(e: &model::bench::Error) -> Fail {
    Fail::new(e.to_string())
}

impl Options {
    /// Reads options as a plan has them.
    ///
    /// # Errors
    /// In one line: the option that is not allowed.
    pub(crate) fn parse(words: &[String]) -> Result<Options, Fail> {
        let options: Options = alone::parse(words)?;
        options.check()?;
        Ok(options)
    }

    fn check(&self) -> Result<(), Fail> {
        self.setup()?;
        self.window()?;
        for (flag, us) in [("warm-us", self.warm_us), ("span-us", self.span_us)] {
            if !(1..=1_000_000).contains(&us) {
                return Err(Fail::new(format!("--{flag} {us}: allowed: 1 to 1000000")));
            }
        }
        match self.load {
            Some(load) if !(0.01..=1.0).contains(&load) => {
                Err(Fail::new(format!("--load {load}: allowed: 0.01 to 1")))
            }
            _ => Ok(()),
        }
    }

    /// The profile, with what options change of it.
    fn server(&self) -> Result<Server, Fail> {
        let mut server = Server::by_name(&self.server).map_err(|e| Fail::new(format!("--server: {e}")))?;
        server.caches.adjacent_prefetch = self.prefetch.unwrap_or(server.caches.adjacent_prefetch);
        let link = &mut server.constants.interconnect;
        for (flag, to, given, [least, most]) in [
            ("remote-ns", &mut link.remote_ns, self.remote_ns, [1.0, 2000.0]),
            ("link-gbytes", &mut link.link_gbytes, self.link_gbytes, [0.5, 10_000.0]),
        ] {
            let Some(value) = given else { continue };
            if !(least..=most).contains(&value) {
                return Err(Fail::new(format!("--{flag} {value}: allowed: {least} to {most}")));
            }
            to.value = value;
        }
        Ok(server)
    }

    fn setup(&self) -> Result<(Server, Setup), Fail> {
        let server = self.server()?;
        let mut setup = match self.nic {
            Nic::Ccnic => Setup::new(self.bytes),
            Nic::E810 => Setup::e810(self.bytes),
            Nic::CardE810 => Setup::card(Card::E810, self.bytes),
            Nic::CardCx6 => Setup::card(Card::Cx6, self.bytes),
            Nic::CardCeio => Setup::card(Card::Ceio { credits: self.credits, kind: self.kind }, self.bytes),
        };
        fn put<T: Copy>(to: &mut T, from: Option<T>) {
            *to = from.unwrap_or(*to);
        }
        put(&mut setup.lanes.signal, self.signal);
        put(&mut setup.lanes.layout, self.layout);
        put(&mut setup.lanes.back, self.back);
        put(&mut setup.lanes.homing, self.homing);
        put(&mut setup.cache, self.cache);
        put(&mut setup.exchange, self.exchange);
        put(&mut setup.fill, self.fill);
        match self.pool {
            Some(Owner::Shared) => setup.pool = Pool::Shared,
            Some(Owner::Host) => setup.pool = Pool::Host,
            None => {}
        }
        if let Some(stride) = self.stride {
            setup.buffers = memory::Geometry::plain(setup.buffers.count, stride);
        } else if u32::from(self.bytes) > setup.buffers.room {
            setup.buffers = server.buffers.holding(self.bytes.into()).geometry(setup.buffers.count);
        }
        put(&mut setup.buffers.count, self.buffers);
        put(&mut setup.buffers.stores, self.stores);
        setup.pairs = self.pairs.unwrap_or(server.cores);
        setup.load = Load::InFlight(self.in_flight.unwrap_or(FULL));
        setup.inline = self.inline;
        (setup.tx_burst, setup.rx_burst) = (self.tx_burst, self.rx_burst);
        (setup.completions, setup.one_node, setup.sampling) =
            (self.completions, self.one_node, self.sampling);
        setup.check(&server).map_err(|e| failed(&e))?;
        Ok((server, setup))
    }

    /// The frames between which crossings count.
    fn window(&self) -> Result<Option<[u64; 2]>, Fail> {
        let Some(text) = &self.frames else { return Ok(None) };
        let ends = text.split_once(':').and_then(|(from, to)| Some([from.parse().ok()?, to.parse().ok()?]));
        match ends {
            Some([from, to]) if from < to && to <= 10_000_000 => Ok(Some([from, to])),
            _ => Err(Fail::new(format!("--frames {text}: allowed: FROM:TO, ascending, up to 10000000"))),
        }
    }

    /// Runs it.
    ///
    /// # Errors
    /// A value that is not allowed.
    fn measure(&self) -> Result<Vec<(&'static str, f64)>, Fail> {
        self.check()?;
        let (server, mut setup) = self.setup()?;
        if let Some([from, to]) = self.window()? {
            return Ok(crossings(accesses(&server, &setup, from, to).map_err(|e| failed(&e))?).to_vec());
        }
        let (warm, span) = (Ps::from_us(self.warm_us), Ps::from_us(self.span_us));
        let run = |setup: &Setup| loopback(&server, setup, warm, span).map_err(|e| failed(&e));
        let mut found = run(&setup)?;
        if let Some(load) = self.load {
            setup.load = Load::Rate(found.mpps * load * 1e6);
            found = run(&setup)?;
        }
        let ns = |at: Ps| at.0 as f64 / 1e3;
        let mut fields = vec![
            ("mpps", found.mpps),
            ("throughput_gbps", found.gbps),
            ("latency_p50_ns", ns(found.median)),
            ("latency_p99_ns", ns(found.p99)),
            ("lost", (found.lost + found.wrong) as f64),
            ("link_pct", found.link[0].max(found.link[1]) * 100.0),
        ];
        fields.extend(crossings(found.accesses));
        Ok(fields)
    }

    /// Runs it; `reproduce` is its command.
    ///
    /// # Errors
    /// A value that is not allowed.
    pub(crate) fn measured(&self, reproduce: String) -> Result<Measured, Fail> {
        Ok(Measured { fields: self.measure()?, reproduce })
    }
}

/// Lines of each side for a frame.
fn crossings([host, nic]: [Accesses; 2]) -> [(&'static str, f64); 6] {
    [
        ("host_reads", host.reads),
        ("host_word_reads", host.words),
        ("host_rfos", host.rfos),
        ("nic_reads", nic.reads),
        ("nic_word_reads", nic.words),
        ("nic_rfos", nic.rfos),
    ]
}
