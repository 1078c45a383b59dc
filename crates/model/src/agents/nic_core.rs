//! A core that plays the card: a card's NIC halves, run by one core in turn.
//!
//! It takes frames from its sources as fast as it can, and drops what finds no room, as the driver does.

use memory::{Memory, Ps};
use nic::group::{self, by_queue};
use nic::{Class, Incoming, Port, TxPort};
use rings::{AnyNic, AnyTxNic, Frame, Nic, Outcome};
use traffic::{Arrival, Source};

use super::book::Book;
use super::card::known;
use super::meter::Meter;
use super::plug::Plug;
use crate::engine::view::View;
use crate::machine::layout::Table;

/// Frames taken from a source in one go, as the driver does.
const CHUNK: usize = group::MOST;
/// Sent frames taken off the transmit rings between two chunks.
const SENT: usize = 64;
/// Different frames that a source keeps and cycles over, as the driver does.
pub(crate) const KEPT: u32 = 8192;

/// A source, and where the first bytes of its frames lie, one frame behind the other.
pub(crate) struct Feed {
    source: Box<dyn Source>,
    /// The next frame; none where the source has ended.
    next: Option<Arrival>,
    bytes: Table,
    /// The next frame's number among those kept, and where it starts.
    number: u32,
    at: u64,
}

impl Feed {
    pub(crate) fn new(source: Box<dyn Source>, bytes: Table) -> Feed {
        let mut feed = Feed { source, next: Some(Arrival::EMPTY), bytes, number: 0, at: 0 };
        feed.step();
        feed
    }

    fn step(&mut self) {
        if let Some(next) = &mut self.next
            && !self.source.next(next)
        {
            self.next = None;
        }
    }

    /// When the next frame is there.
    fn due(&self) -> Option<Ps> {
        self.next.as_ref().map(|a| Ps(a.at))
    }

    /// Counts what it has not handed over.
    fn left(&mut self, first: usize, meter: &mut Meter) {
        if let Some(next) = &self.next {
            meter.count(first, next.at, next.len);
            meter.left(first, self.source.as_mut());
        }
    }

    /// The next frame, if it is there by now; the core reads its bytes.
    fn take(&mut self, m: &mut View) -> Option<Arrival> {
        let frame = self.next.as_ref().filter(|a| a.at <= m.now().0)?.clone();
        self.step();
        // What it keeps of a frame are the first bytes: zeros follow.
        let bytes = (frame.bytes().len() as u64).next_multiple_of(64);
        m.stream(self.bytes, self.at, bytes);
        self.number += 1;
        self.at += bytes;
        if self.number == KEPT {
            (self.number, self.at) = (0, 0);
        }
        Some(frame)
    }
}

/// One port of a software NIC.
pub(crate) struct SoftPort {
    pub rx: Port<AnyNic<View>>,
    pub tx: TxPort<View, AnyTxNic<View>>,
    pub plug: Plug,
    pub feed: Feed,
    /// Cycles to parse and hash a frame.
    pub cycles: u32,
    /// The burst under way.
    pub burst: Vec<(Arrival, Class)>,
}

impl SoftPort {
    /// Takes frames and stores them; how many there were.
    fn receive(&mut self, m: &mut View, book: &Book) -> usize {
        self.take(m, book);
        let now = m.now();
        m.set_stamp(now);
        let mut burst = std::mem::take(&mut self.burst);
        let frames: Vec<_> = burst.iter().map(|(a, class)| class.frame(&incoming(a))).collect();
        let queues: Vec<_> = burst.iter().map(|(_, class)| class.queue).collect();
        by_queue(&frames, &queues, |queue, frames| self.store(m, book, queue, frames));
        self.rx.nic_mut().poll(m);
        let taken = burst.len();
        burst.clear();
        self.burst = burst;
        taken
    }

    fn take(&mut self, m: &mut View, book: &Book) {
        while self.burst.len() < CHUNK
            && let Some(frame) = self.feed.take(m)
        {
            m.work(self.cycles);
            self.classify(frame, book);
            m.chain();
        }
    }

    fn classify(&mut self, frame: Arrival, book: &Book) {
        let mut meter = book.meter.borrow_mut();
        meter.offer(self.plug.first, frame.at, frame.len);
        match self.rx.pipeline().admit(&incoming(&frame)) {
            Ok(class) => {
                let class = Class { flow: frame.flow, ..class };
                meter.in_nic += 1;
                self.burst.push((frame, class));
            }
            Err(fate) => meter.fates.count(self.plug.first, fate),
        }
    }

    /// Stores frames of one queue.
    fn store(&mut self, m: &mut View, book: &Book, queue: u16, frames: &[Frame<'_>]) {
        let mut fates = [Outcome::RingFull; CHUNK];
        self.rx.receive_burst(m, queue, frames, &mut fates[..frames.len()]);
        let mut meter = book.meter.borrow_mut();
        meter.in_nic -= frames.len() as u64;
        for fate in &fates[..frames.len()] {
            meter.fates.count(self.plug.first + usize::from(queue), *fate);
        }
    }

    /// Ends frames that applications have sent; how many.
    fn transmit(&mut self, m: &mut View, book: &Book) -> usize {
        for done in 0..SENT {
            let mut sent = None;
            if !self.tx.send(m, |s| sent = Some((s.buf, s.len))) {
                return done;
            }
            if let Some((buf, len)) = sent {
                let took = m.now().saturating_sub(m.stamp(self.plug.buffers, buf));
                book.meter.borrow_mut().send(self.plug.first, len, took.0);
            }
        }
        SENT
    }

    /// When this port has something to do that no other agent's store announces.
    fn due(&mut self, m: &mut View) -> Option<Ps> {
        let notices = self.rx.nic_mut().poll(m);
        notices.into_iter().chain(self.feed.due()).min()
    }
}

/// A frame as the pipeline takes it.
fn incoming(a: &Arrival) -> Incoming<'_> {
    Incoming::whole(known(a), a.len.into())
}

/// Serves all ports until the run is over.
pub(crate) fn serve(m: &mut View, mut ports: Vec<SoftPort>, book: &Book) {
    while !m.stopped() {
        let moved: usize = ports.iter_mut().map(|p| p.receive(m, book) + p.transmit(m, book)).sum();
        if moved > 0 {
            m.chain();
            continue;
        }
        match ports.iter_mut().filter_map(|p| p.due(m)).min() {
            Some(due) => m.pause(due, true),
            None => m.idle(),
        }
    }
    // Cores drain after the card has stopped: it was spawned first.
    for port in &mut ports {
        port.feed.left(port.plug.first, &mut book.meter.borrow_mut());
        port.rx.nic_mut().stop(m);
        book.add(port.rx.nic().counters());
        book.add(vec![("tx_faults", port.tx.faults())]);
    }
}
