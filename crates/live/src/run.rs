//! Chooses the application, and sums a run up.

use std::collections::BTreeMap;
use std::sync::Arc;

use apps::ipsec::{Cost, Sa};
use apps::kv::{self, Either, Partition, SlabShape, Slabs};
use apps::nf::Numbers;
use apps::table::{HashTable, Shape, Value};
use apps::{App, Cause, Factory, Fate, Parts, Seat, echo};
use memory::Ps;
use memory::native::{Buffers, Table};
use rings::{Nic, Outcome};

use crate::LiveError;
use crate::antagonist::Running;
use crate::card::Card;
use crate::check::Check;
use crate::client::Client;
use crate::config::{Config, Work};
use crate::core::Core;
use crate::ledger::{Faults, Ledger, Place};
use crate::report::{Calls, LiveReport};
use crate::threads::{self, Lease, Threads, View};
use crate::tunnel::Tunnels;
use crate::watch::{self, Ended};

/// The public address of the translation.
const PUBLIC: [u8; 4] = [203, 0, 113, 1];
/// Flows do not expire in a live run.
const TIMEOUT: Ps = Ps::NEVER;

/// Runs `config` to its end and checks what must hold.
///
/// # Errors
/// The configuration or the system does not allow it, nothing moves any more, or a rule is broken.
pub fn run(config: &Config) -> Result<LiveReport, LiveError> {
    config.validate().map_err(LiveError::Config)?;
    config.interface.validate(u32::from(config.workers))?;
    match config.work {
        Work::Check => {
            let check = |worker: u16, places: &Arc<[Place]>, _| {
                let ring = config.interface.ring_of(worker);
                let mixed = config.mixes().then(|| Ledger::mixed(places.clone(), Some(ring)));
                Check { ledger: mixed.unwrap_or_else(|| Ledger::new(config.flows)) }
            };
            run_with(config, check, |check| Some(&mut check.ledger))
        }
        Work::TcpEcho => {
            // Nobody charges cycles. All connections may lead to one worker.
            run_with(config, |worker, _, _| echo::Server::new(config.flows, worker.into(), 0), |_| None)
        }
        Work::App(kind) => {
            let workers = u32::from(config.workers);
            let sizes = config.sizes(threads::pool_size(config)?);
            let factory = Factory::<View, _>::new(kind, Stored, sizes, |_, _| Ok(Table))?;
            let app = |worker: u16, _: &Arc<_>, frames| factory.app(seat(worker.into(), workers), frames);
            run_with(config, app, |_| None)
        }
    }
}

/// A worker of a real run: nobody charges cycles.
fn seat(worker: u32, workers: u32) -> Seat {
    let sealing = Cost::default();
    Seat { core: worker, queue: worker, queues: workers, cycles: 0, sealing, extra_reads: 0, seed: 1 }
}

/// Tables that exist.
struct Stored;

impl Parts<View> for Stored {
    type Flows = HashTable<View>;
    type Store = Either<Partition<View>, Slabs<View>>;

    fn flows(&self, shape: Shape, table: Table, _: fn(u64) -> Value) -> HashTable<View> {
        HashTable::new(shape, table, TIMEOUT)
    }

    fn store(&self, shape: kv::Shape, table: Table) -> Self::Store {
        Either::Copied(Partition::new(shape, table))
    }

    fn slabs(&self, shape: SlabShape, table: Table, frames: Buffers<'static>) -> Self::Store {
        Either::Lying(Slabs::new(shape, table, frames))
    }

    fn numbers(&self) -> Numbers {
        Numbers::real()
    }

    fn sa(&self, core: u32) -> Sa {
        Tunnels::sa(core as u16)
    }

    fn public(&self) -> &[[u8; 4]] {
        &[PUBLIC]
    }
}

fn run_with<A: App<View> + Send + 'static>(
    config: &Config,
    app: impl Fn(u16, &Arc<[Place]>, Buffers<'static>) -> A,
    ledger: fn(&mut A) -> Option<&mut Ledger>,
) -> Result<LiveReport, LiveError> {
    let antagonist = config.antagonist.map(Running::start).transpose()?;
    let (lease, threads) = Threads::start(config, app)?;
    let mut ended = watch::join(threads, config.patience)?;
    let antagonist = antagonist.map(Running::stop);
    let report = LiveReport { antagonist, ..sum_up(config, &lease, &mut ended, ledger) };
    drop(ended);
    // SAFETY: `join` has ended every thread, and what they left behind has just been dropped: no handle
    // into the region is left.
    unsafe { lease.end() };
    match report.holds() {
        Ok(()) => Ok(report),
        Err(what) => Err(LiveError::Broken { what, report: Box::new(report) }),
    }
}

fn sum_up<A: App<View>>(
    config: &Config,
    lease: &Lease,
    Ended { cores, card }: &mut Ended<A>,
    ledger: fn(&mut A) -> Option<&mut Ledger>,
) -> LiveReport {
    let counted = &card.fates;
    let by_cause: BTreeMap<_, _> = Outcome::ALL
        .into_iter()
        .filter_map(|o| Some((Fate::of(o)?, counted.total(o))))
        .filter(|(_, count)| *count > 0)
        .collect();
    let (dropped, refused) =
        if config.lossless { (BTreeMap::new(), by_cause) } else { (by_cause, BTreeMap::new()) };
    let (checked, faults) = close(config, cores, card, ledger);
    let mut m = lease.region().view();
    let free: u64 = cores.iter().map(|c| c.pool.cached()).sum::<u64>()
        + cores.first().map_or(0, |c| c.pool.shared(&mut m));
    // Of buffers of the applications' own, those that did not come back.
    let kept: u64 = cores.iter().filter_map(|c| Some(c.app.as_ref()?.kept())).sum();
    let seconds = card.took.secs();
    let timed = counted.delivered() - card.loaded;
    LiveReport {
        interface: config.interface.name(),
        params: config.interface.params().into_iter().collect(),
        work: config.work.name(),
        workers: config.workers,
        lossless: config.lossless,
        frame_len: config.frame_len,
        offered: card.offered,
        delivered: counted.delivered(),
        dropped,
        refused,
        received: cores.iter().take(usize::from(config.workers)).map(|c| c.counters.received).collect(),
        app_dropped: app_drops(cores),
        checked,
        faults,
        buffers: u64::from(lease.buffers()),
        buffers_in_use: u64::from(lease.buffers()).abs_diff(free) + kept,
        reordering: card.back.order.iter().flat_map(|o| o.found().named()).collect(),
        counters: named(cores, card),
        antagonist: None,
        calls: card.back.caller.as_ref().map(|caller| Calls::of(config, &caller.found(), seconds)),
        wall_s: seconds,
        mpps: if seconds > 0.0 { timed as f64 / seconds / 1e6 } else { 0.0 },
    }
}

/// Closes every ledger: frames checked, and what was wrong.
fn close<A>(
    config: &Config,
    cores: &mut [Core<View, A>],
    card: &Card<View>,
    ledger: fn(&mut A) -> Option<&mut Ledger>,
) -> (u64, Faults) {
    // Headers were good when they were made.
    let torn: u64 = cores.iter().map(|c| c.counters.app.of(Cause::BadHeader)).sum();
    if let Some(caller) = &card.back.caller {
        let found = caller.found();
        let missing = config.packets.saturating_sub(found.answered) + found.broken;
        return (found.answered, Faults { missing, corrupt: found.corrupt, ..Faults::default() });
    }
    if let Some(client) = &card.back.client {
        let faults = client.faults();
        return (client.answered + torn, Faults { corrupt: faults.corrupt + torn, ..faults });
    }
    let ends = cores.iter_mut().map(|c| c.app.as_mut().and_then(ledger).map(|l| &*l));
    let ends: Vec<(Option<u16>, &Ledger)> = std::iter::once((None, &card.back.ledger))
        .chain((0u16..).map(Some).zip(ends).filter_map(|(queue, end)| Some((queue, end?))))
        .collect();
    let checked: u64 = ends.iter().map(|(_, l)| l.seen).sum();
    let mut faults = if config.mixes() {
        Ledger::unite(ends.iter().map(|(_, l)| *l), card.offered)
    } else {
        let mut faults = Faults::default();
        for (queue, ledger) in ends {
            faults.add(ledger.faults);
            // Frames that a worker should have ended, but did not take for its own, come back as well.
            faults.add(ledger.close(&card.sent, |flow| match queue {
                None => card.returns,
                Some(queue) => card.flows.classes[flow].queue == queue,
            }));
        }
        faults
    };
    faults.corrupt += torn;
    (checked + torn, faults)
}

/// Frames that reached a worker and no further, by cause.
fn app_drops<A>(cores: &[Core<View, A>]) -> BTreeMap<Fate, u64> {
    let mut drops = BTreeMap::new();
    for c in cores {
        // A bad header is a torn frame here: `close` counts it.
        let causes = Cause::ALL.into_iter().filter(|cause| cause.is_drop() && *cause != Cause::BadHeader);
        let app = causes.map(|cause| (Fate::App(Some(cause)), c.counters.app.of(cause)));
        let own = [(Fate::TxFull, c.counters.tx_full), (Fate::Stopped, c.counters.stopped)];
        for (fate, count) in app.chain(own).filter(|(_, count)| *count > 0) {
            *drops.entry(fate).or_insert(0) += count;
        }
    }
    drops
}

/// Counters of the interface's halves, the pool and the card.
fn named<A: App<View>>(cores: &[Core<View, A>], card: &Card<View>) -> BTreeMap<&'static str, u64> {
    let mut sums = BTreeMap::new();
    for (name, count) in cores.iter().flat_map(|c| &c.named) {
        *sums.entry(*name).or_insert(0) += count;
    }
    if card.back.caller.is_some() {
        let own = cores.iter().filter_map(|c| c.app.as_ref()).flat_map(App::counters);
        for (name, count) in own.chain(cores.iter().map(|c| ("made", c.counters.made))) {
            *sums.entry(name).or_insert(0) += count;
        }
    }
    // Both halves of rxbisect count foreign buffers: the card's number is the whole.
    for (name, count) in Nic::<View>::counters(card.port.nic()) {
        sums.insert(name, count);
    }
    sums.insert("card_waits", card.waits);
    sums.extend(card.back.client.iter().flat_map(Client::counters));
    if card.back.tunnels.opened > 0 {
        sums.insert("opened", card.back.tunnels.opened);
    }
    sums.insert("tx_faults", card.back.tx.faults());
    sums
}
