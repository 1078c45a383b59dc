//! Memory, rings and threads of a run.

use std::io;
use std::sync::Arc;
use std::thread::{self, JoinHandle};

use apps::{App, Unsent, Worker, echo};
use memory::native::Buffers;
use memory::{Backing, NativeView, Ps, Region, Space};
use nic::reorder::Order;
use nic::{Counters, Port, TxConfig, TxPort};
use packet::{DEFAULT_KEY, Rss, SteerBy};
use rings::pool::{self, CoreCache};
use rings::{AnyHost, AnyTxHost, SizeError, tx};

use crate::LiveError;
use crate::back::Back;
use crate::card::Card;
use crate::client::Client;
use crate::config::{Config, Work};
use crate::core::{Core, Shift, allocate, work};
use crate::flows::Flows;
use crate::ledger::{Ledger, Place};
use crate::shared::Shared;
use crate::tunnel::Tunnels;

/// The view of every thread. The region outlives them all: a thread that hangs cannot be ended, so the
/// region is freed only after all have been joined.
pub(crate) type View = NativeView<'static>;

/// How many frames back reordering is followed. A thread that stands still for a time slice is overtaken by
/// some ten thousand.
const WINDOW: usize = 1 << 16;
/// Buffers that a core keeps for itself.
const CACHE: u32 = 256;
/// The most buffers of a run: 40 GB.
const MOST: u64 = 1 << 24;
/// The most bytes of all buffers.
const MOST_BYTES: u64 = 40_000_000_000;
/// Bytes of the region beside buffers and rings.
const SPARE: usize = 16 << 20;

/// The memory of a run. It stays if it is not ended.
pub(crate) struct Lease {
    region: *mut Region,
    buffers: u32,
    /// Of which a core keeps so many for itself.
    cache: u32,
}

/// Sizes that the interface is built with.
fn ring_sizes(config: &Config) -> impl Iterator<Item = u64> {
    config.interface.params().into_iter().map(|(_, n)| n).filter(|n| *n <= 1 << 20)
}

/// Two numbers of buffers: with fewer than the first a run may stand still, and the second it cannot use up.
/// The card waits for one queue at a time, so what other workers hold must leave enough for every ring.
fn buffer_counts(config: &Config) -> (u64, u64) {
    let workers = u64::from(config.workers);
    let returns = if config.work == Work::Check { 0 } else { u64::from(config.tx_ring) };
    let posted = config.interface.posted_buffers(u32::from(config.workers));
    let least = posted + workers * (config.burst as u64 + returns);
    let waiting = ring_sizes(config).max().unwrap_or(0);
    (least, least + workers * (waiting + 2 * u64::from(CACHE) + 64))
}

/// Buffers of the pool.
///
/// # Errors
/// Those asked for are too few, or too many.
pub(crate) fn pool_size(config: &Config) -> Result<u32, LiveError> {
    let (least, enough) = buffer_counts(config);
    let buffers = if config.buffers == 0 { enough } else { u64::from(config.buffers) };
    let buffers = u32::try_from(buffers).ok().filter(|n| (least..=MOST).contains(&u64::from(*n)));
    let bad = || format!("{} buffers; allowed: {least} to {MOST}", config.buffers.max(1));
    buffers.ok_or_else(|| LiveError::Config(bad()))
}

/// All buffers: those of the pool, and those that an application keeps values in.
fn all_buffers(config: &Config, pool: u32) -> Result<u32, LiveError> {
    let all = u64::from(pool) + config.sizes(pool).pages();
    let bytes = all * u64::from(config.geometry(1).stride);
    let all = u32::try_from(all).ok().filter(|_| bytes <= MOST_BYTES);
    all.ok_or_else(|| {
        let gb = |bytes: u64| bytes / 1_000_000_000;
        let what = format!("{} GB of buffers; allowed: {} GB, so fewer keys", gb(bytes), gb(MOST_BYTES));
        LiveError::Config(what)
    })
}

impl Lease {
    fn new(config: &Config) -> Result<Lease, LiveError> {
        let workers = u32::from(config.workers);
        let (least, _) = buffer_counts(config);
        let buffers = pool_size(config)?;
        let all = all_buffers(config, buffers)?;
        let cache = ((u64::from(buffers) - least) / u64::from(2 * workers)).min(u64::from(CACHE)) as u32;
        let sum: u64 = ring_sizes(config).sum();
        let hosts = config.interface.hosts(workers) as usize;
        let rings = (sum as usize + config.tx_ring as usize + 64) * 64 * hosts;
        let bytes = all as usize * (config.geometry(1).stride as usize + 16) + rings + SPARE;
        let bytes = bytes + config.interface.card_bytes() as usize;
        let region = Box::new(Region::new(bytes, Backing::Pages)?);
        Ok(Lease { region: Box::into_raw(region), buffers, cache })
    }

    pub(crate) fn region(&self) -> &'static Region {
        // SAFETY: `new` made it, and `end` alone frees it, whose caller promises that nothing borrowed
        // from here is left.
        unsafe { &*self.region }
    }

    pub(crate) fn buffers(&self) -> u32 {
        self.buffers
    }

    /// Frees the region.
    ///
    /// # Safety
    /// No thread and no value that holds a handle into the region is left.
    pub(crate) unsafe fn end(self) {
        // SAFETY: `new` got the pointer from a box, and nothing borrows it any more.
        drop(unsafe { Box::from_raw(self.region) });
    }
}

/// A run under way.
pub(crate) struct Threads<A> {
    pub(crate) cores: Vec<JoinHandle<Core<View, A>>>,
    pub(crate) card: JoinHandle<Card<View>>,
    pub(crate) shared: Arc<Shared>,
}

impl<A: App<View> + Send + 'static> Threads<A> {
    /// Builds the rings and starts a thread for the card and for each host half, workers first.
    pub(crate) fn start(
        config: &Config,
        app: impl Fn(u16, &Arc<[Place]>, Buffers<'static>) -> A,
    ) -> Result<(Lease, Threads<A>), LiveError> {
        let lease = Lease::new(config)?;
        let threads = config.interface.hosts(u32::from(config.workers)) + 1;
        let shared = Arc::new(Shared::new(threads as usize));
        let Ends { hosts, txs, pools, places, card } = Ends::build(config, &lease, &shared)?;
        let unsent = if config.lossless { Unsent::Keep } else { Unsent::Drop };
        let mut txs = txs.into_iter();
        let mut cores = Vec::new();
        for (who, (host, pool)) in hosts.into_iter().zip(pools).enumerate() {
            let (m, state) = (card.m.clone(), shared.clone());
            let core = match txs.next() {
                Some(tx) => {
                    let (frames, app) = (card.frames, app(who as u16, &places, card.frames));
                    let worker = Worker::new(host, tx, pool, frames, app, config.burst).with_unsent(unsent);
                    let shift = Shift::new(config, who);
                    spawn(format!("worker {who}"), &shared, move || work(m, worker, who, shift, &state))
                }
                None => spawn(format!("allocator {who}"), &shared, move || allocate(m, host, pool, &state)),
            };
            cores.push(core?);
        }
        let packets = config.packets;
        let card = spawn("card".to_owned(), &shared, move || card.run(packets))?;
        Ok((lease, Threads { cores, card, shared }))
    }
}

/// Both ends of every ring of a run.
struct Ends {
    /// Of each queue, then of each dedicated allocator.
    hosts: Vec<AnyHost<View>>,
    /// Of each queue.
    txs: Vec<AnyTxHost<View>>,
    /// Of each host half.
    pools: Vec<CoreCache<View>>,
    /// Of each flow.
    places: Arc<[Place]>,
    card: Card<View>,
}

impl Ends {
    fn build(config: &Config, lease: &Lease, shared: &Arc<Shared>) -> Result<Ends, LiveError> {
        let (mut space, queues) = (lease.region(), u32::from(config.workers));
        let allocated = config.interface.hosts(queues);
        let geometry = config.geometry(all_buffers(config, lease.buffers)?);
        let frames = space.buffers(&geometry)?;
        let sending = tx::Sizes { ring: config.tx_ring, ..tx::Sizes::default() };
        let rings = rings::build(&mut space, &config.interface, queues, (sending, queues), frames)?;
        let pools = pool::build(&mut space, lease.buffers, allocated, lease.cache)?;

        let table = config.indirection();
        let client = config.requests.as_ref().and_then(|spec| Client::new(spec, config.workers));
        let rss = Rss::new(&DEFAULT_KEY, &table).map_err(|e| LiveError::Config(e.to_string()))?;
        let caller = (config.work == Work::TcpEcho).then(|| echo::Client::new(&config.order()));
        let caller = caller.transpose().map_err(LiveError::Config)?;
        let steer =
            if client.is_some() { SteerBy::Port.over(config.workers) } else { packet::Steer::from(rss) };
        let device = nic::Config { rate_bps: 0, max_frame: geometry.room, ..nic::Config::default() };
        let port = Port::new(rings.nic, steer, device);
        // Requests and connections come in place of flows.
        let count = if client.is_some() || caller.is_some() { 0 } else { config.flows };
        let flows = Flows::new(&port, count, (config.before(), config.frame_len), config.workers)
            .ok_or_else(|| LiveError::Config("the card refuses its own frames".to_owned()))?;
        let places: Arc<[Place]> = flows.places(|q| config.interface.ring_of(q)).into();
        let mixed = config.mixes();
        let ledger = if mixed { Ledger::mixed(places.clone(), None) } else { Ledger::new(config.flows) };
        let order = (mixed && config.work != Work::Check).then(|| Order::new(WINDOW));
        let sealed = config.work == Work::App(apps::Kind::Ipsec);
        let tunnels = if sealed { Tunnels::new(config.workers) } else { Tunnels::default() };
        let head = match config.work {
            Work::App(apps::Kind::Ipsec) => Tunnels::longest(config.frame_len),
            Work::TcpEcho => echo::LONGEST,
            _ => client.as_ref().map_or(nic::HEAD, |client| client.longest().into()),
        };
        let sending = TxConfig { rate_bps: 0, ahead: Ps::ZERO, head };
        let card = Card {
            m: lease.region().view(),
            port,
            back: Back {
                tx: TxPort::new(rings.tx_nic, frames, sending),
                ledger,
                order,
                tunnels,
                client,
                caller,
            },
            frames,
            returns: config.work != Work::Check,
            lossless: config.lossless,
            workers: queues,
            sent: vec![0; config.flows as usize],
            flows,
            offered: 0,
            loaded: 0,
            fates: Counters::new(usize::from(config.workers)),
            waits: 0,
            took: Ps::ZERO,
            shared: shared.clone(),
            who: allocated as usize,
        };
        Ok(Ends { hosts: rings.hosts, txs: rings.tx_hosts, pools, places, card })
    }
}

/// Starts a thread; where that fails, those that run end.
fn spawn<T: Send + 'static>(
    name: String,
    shared: &Shared,
    body: impl FnOnce() -> T + Send + 'static,
) -> io::Result<JoinHandle<T>> {
    thread::Builder::new().name(name).spawn(body).inspect_err(|_| shared.abort())
}

impl From<SizeError> for LiveError {
    fn from(e: SizeError) -> LiveError {
        LiveError::Config(e.to_string())
    }
}

impl From<memory::LayoutError> for LiveError {
    fn from(e: memory::LayoutError) -> LiveError {
        LiveError::Config(e.to_string())
    }
}
