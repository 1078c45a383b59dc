//! A card behind PCIe that sends all frames back (CC-NIC §2, §5.2): what the host's threads use today. It reads
//! descriptors and frames by DMA when a doorbell tells it to, and writes frames and completions.
//!
//! Its halves are an agent each, as those of any card (`agents::card`). What the sending half has read, the receiving
//! half stores once it is there: a round trip for the descriptors and another one for the frame. Many are under way at
//! a time, so round trips cost no throughput. No wire is between them, and no time passes on the card itself (A97).

use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::Rc;

use memory::{Class, Field, Mapping, Memory, Ps, Side, Space};
use rings::{Frame, Nic, Outcome, Spec, TxNic, ceio, ddring, pool, privring, tx};

use super::count::Log;
use super::ends::HostPort;
use super::host;
use super::{Bench, Error, MARK, MOST_BURST, Setup};
use crate::engine::agent::Agent;
use crate::engine::view::View;
use crate::machine::layout::{PoolId, Words};
use crate::profile::{NicKind, Server};

/// Which card.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Card {
    /// Completions of received frames go into the descriptors (Intel's E810).
    E810,
    /// They have a ring of their own, and a burst of one frame goes with its doorbell (§2.3: Nvidia's ConnectX-6).
    Cx6,
    /// As `Cx6`, with memory of its own: frames wait there that find no credit (CEIO, section 4).
    Ceio {
        /// Frames on their way to the host, or unread there; with 0 all take the slow path.
        credits: u32,
        /// What is known of the flows: those that bypass cores take the slow path, and the card drains them by itself.
        kind: ceio::Kind,
    },
}

/// Bytes of a message that a packet carries over Ethernet of 1500 B: RoCE's MTU below it.
const PACKET: u16 = 1024;

/// A frame on the card.
struct Passing {
    /// When its last byte is there.
    there: Ps,
    queue: u16,
    len: u16,
    mark: [u8; MARK],
}

/// What a frame waits for on its way through a card.
struct Way {
    /// A round trip to the host.
    read: Ps,
    /// A burst of one comes with its doorbell, and its frame as well if that has no more than so many bytes.
    inline: Option<u16>,
    /// Where a card's control chooses the way of each packet, those of a message pass it one after the other; the first
    /// does so within its write to the host.
    control: Ps,
}

/// Between the halves of a card.
#[derive(Clone)]
struct Inside {
    frames: Rc<RefCell<VecDeque<Passing>>>,
    /// Frames that went in.
    count: Words<1>,
}

/// A card with a queue for each pair, and the threads of the host.
pub(super) fn plug(
    bench: &mut Bench,
    server: &Server,
    setup: &Setup,
    card: Card,
    log: &Rc<RefCell<Log>>,
) -> Result<(), Error> {
    let ring = setup.lanes.ring;
    let c = &server.constants;
    let ps = |ns: f64| Ps((ns * 1e3) as u64);
    let way = Way { read: ps(c.pcie.read_ns.value), inline: Some(setup.inline), control: Ps::ZERO };
    match card {
        Card::E810 => {
            let sizes = ddring::Sizes { ring, ..ddring::Sizes::default() };
            halves(bench, server, setup, &sizes, Way { inline: None, ..way }, log)
        }
        Card::Cx6 => halves(bench, server, setup, &privring::Sizes { ring }, way, log),
        Card::Ceio { credits, kind } => {
            let sizes = ceio::Sizes { ring, credits, kind, ..ceio::Sizes::default() };
            let way = Way { control: ps(c.nic_memory.control_ns.value), ..way };
            halves(bench, server, setup, &sizes, way, log)
        }
    }
}

fn halves<I: Spec>(
    bench: &mut Bench,
    server: &Server,
    setup: &Setup,
    sizes: &I,
    way: Way,
    log: &Rc<RefCell<Log>>,
) -> Result<(), Error>
where
    I::Host<View>: 'static,
    I::Nic<View>: 'static,
{
    let mut space = bench.space.served_by(NicKind::Card).with_nic_memory(server.nic_memory());
    let queues = setup.pairs;
    let count = setup.buffers.count.saturating_mul(queues);
    let buffers = space.buffers(&memory::Geometry { count, ..setup.buffers })?;
    let (hosts, mut nic) = sizes.build(&mut space, queues, buffers)?;
    nic.set_write_back(server.write_back());
    let tx_sizes = tx::Sizes { ring: setup.lanes.ring, ..tx::Sizes::default() };
    let (tx_hosts, tx_nic) = tx::build(&mut space, tx_sizes, queues)?;
    let pools = pool::build(&mut space, count, queues, setup.cache)?;
    let field = Field {
        name: "card.count",
        len: 1,
        width: 1,
        class: Class::Register(Mapping::Uncached),
        writer: Side::Both,
        reader: Side::Nic,
        home: Side::Host,
    };
    let inside = Inside { frames: Rc::default(), count: space.words(&field, 0)? };
    let (to, from, lost) = (inside.clone(), inside, log.clone());
    bench.agents.push((Agent::NicTx(0), Box::new(move |m| send(m, tx_nic, buffers, &way, &to))));
    bench.agents.push((Agent::NicRx(0), Box::new(move |m| receive(m, nic, &from, &lost))));
    for (pair, ((rx, tx), pool)) in (0..).zip(hosts.into_iter().zip(tx_hosts).zip(pools)) {
        let host = host::Host::new(setup, pair, buffers, None, log.clone());
        bench.near(pair, move |m| host.run(m, HostPort { rx, tx, pool }));
    }
    Ok(())
}

/// The half that takes what the host sends.
fn send<T: TxNic<View>>(m: &mut View, mut tx: T, b: PoolId, way: &Way, to: &Inside) {
    let (mut segs, mut count) = (Vec::new(), 0);
    while !m.stopped() {
        let mut taken = 0;
        // Of a burst the card knows all when it has the doorbell.
        while taken < MOST_BURST
            && let Some((queue, descriptors)) = tx.collect(m, &mut segs)
        {
            let mut frame = Passing { there: Ps::ZERO, queue, len: 0, mark: [0; MARK] };
            if let Some(s) = segs.first()
                && let Ok(buf) = m.check(b, s.buf.0, u32::from(s.off) + u32::from(s.len))
            {
                m.get(b, buf, s.off.into(), &mut frame.mark, s.len.into());
                frame.len = s.len;
            }
            tx.sent(m, queue, descriptors);
            let more = u64::from(frame.len.saturating_sub(1) / PACKET);
            frame.there = m.now() + way.read + way.read + Ps(way.control.0 * more);
            to.frames.borrow_mut().push_back(frame);
            taken += 1;
            m.chain();
        }
        if taken == 0 {
            m.idle();
            continue;
        }
        if let Some(frame) = to.frames.borrow_mut().back_mut()
            && let Some(inline) = way.inline
            && taken == 1
        {
            // The descriptor came with the doorbell, or all did.
            let spared = if frame.len <= inline { way.read + way.read } else { way.read };
            frame.there = frame.there.saturating_sub(spared);
        }
        count += taken as u64;
        m.release(to.count, 0, count);
    }
}

/// The half that stores what goes back.
fn receive<N: Nic<View>>(m: &mut View, mut nic: N, from: &Inside, log: &Rc<RefCell<Log>>) {
    let mut outcome = [Outcome::Delivered];
    while !m.stopped() {
        m.acquire(from.count, 0);
        let (now, mut frames) = (m.now(), from.frames.borrow_mut());
        let next = frames.front().map(|frame| frame.there);
        let due = if next.is_some_and(|there| there <= now) { frames.pop_front() } else { None };
        drop(frames);
        match (due, next) {
            (Some(frame), _) => {
                let stored = Frame::new(&frame.mark, frame.len, 0, 0);
                nic.deliver(m, frame.queue, &[stored], &mut outcome);
                if outcome != [Outcome::Delivered] {
                    log.borrow_mut().lost += 1;
                }
                m.chain();
            }
            (None, Some(there)) => m.pause(there, true),
            (None, None) => match nic.poll(m) {
                Some(due) => m.pause(due, true),
                None => m.idle(),
            },
        }
    }
}
