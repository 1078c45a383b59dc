//! The order of forwarded frames, judged where they leave the card (`reorder=1`).
//!
//! The NIC core writes a tag before each frame that it receives, into the mbuf's headroom: the frame's number and its
//! flow. An application that sends the mbuf on brings the tag back; the driver tells which mbufs still have theirs.
//! So frames are known again whatever the application has changed in them.

use core::hash::{BuildHasher, BuildHasherDefault, Hash};
use core::ops::Range;
use std::hash::DefaultHasher;

use memory::Ps;
use nic::Incoming;
use nic::reorder::Order;

use crate::counters::{Counters, add};

/// The flow of a frame without addresses: it is judged with no other.
const NO_FLOW: u64 = 0;

/// What a port knows of the order of its frames.
pub(crate) struct Tags {
    /// A part of each flow's name: frames of several ports may leave through one.
    port: u64,
    /// Frames tagged so far.
    number: u64,
    order: Order,
    counters: &'static Counters,
    /// A received burst, each frame behind its tag.
    copies: Vec<u8>,
}

impl Tags {
    /// Of the port that has these counters.
    pub(crate) fn new(counters: &'static Counters) -> Tags {
        let port = core::ptr::from_ref(counters).addr() as u64;
        Tags { port, number: 0, order: Order::default(), counters, copies: Vec::new() }
    }

    /// Forgets the copies of the last burst.
    pub(super) fn begin(&mut self) {
        self.copies.clear();
    }

    /// Copies a frame behind its tag; where to.
    pub(super) fn tag(&mut self, f: &Incoming<'_>) -> Range<usize> {
        let start = self.copies.len();
        let flow = packet::parse(f.head).tuple(f.head).map_or(NO_FLOW, |tuple| self.name(tuple));
        self.copies.extend_from_slice(&self.number.to_ne_bytes());
        self.copies.extend_from_slice(&flow.to_ne_bytes());
        self.number += 1;
        for piece in core::iter::once(&f.head).chain(f.more()) {
            self.copies.extend_from_slice(piece);
        }
        start..self.copies.len()
    }

    /// The copy of a burst's frame, its tag first.
    pub(super) fn copy(&self, at: Range<usize>) -> &[u8] {
        &self.copies[at]
    }

    /// A frame with this tag leaves from `queue`.
    pub(super) fn leaves(&mut self, queue: u16, tag: &[u8]) {
        let word = |at: usize| tag.get(at..at + 8).and_then(|w| w.try_into().ok()).map(u64::from_ne_bytes);
        let (Some(number), Some(flow)) = (word(0), word(8)) else { return };
        let before = self.order.found().by_flow.reordered;
        self.order.see(number, Some(flow).filter(|flow| *flow != NO_FLOW), Ps::ZERO);
        if let Some(counters) = self.counters.tx.get(usize::from(queue)) {
            add(&counters.reordered, self.order.found().by_flow.reordered - before);
        }
    }

    fn name(&self, tuple: impl Hash) -> u64 {
        BuildHasherDefault::<DefaultHasher>::default().hash_one((self.port, tuple)) | 1
    }
}
