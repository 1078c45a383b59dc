//! `erpc-kv`: the store behind requests of eRPC ([`packet::kv::erpc`]).
//!
//! A request is handled where it was received, and its answer is built in its place: no message is copied (CEIO, section
//! 6.1). Requests are served one by one, as eRPC runs its handlers: nothing is prefetched.

use memory::Memory;
use packet::kv::Protocol;

use super::{Kv, Store};
use crate::{App, Headers, Packet, Verdict};

/// Cycles of eRPC itself for a request and its answer, beside memory accesses (A160).
pub const RPC: u32 = 204;

/// One core's part of the store, and the end of eRPC before it.
pub struct ErpcKv<S>(Kv<S>);

impl<S> ErpcKv<S> {
    /// Partition `partition` of `partitions`; `cycles` are those of receiving and sending.
    pub fn new(store: S, partition: u32, partitions: u32, cycles: u32) -> ErpcKv<S> {
        let cycles = cycles.saturating_add(RPC);
        ErpcKv(Kv::new(store, partition, partitions, cycles).speaking(Protocol::Erpc))
    }
}

impl<M: Memory, S: Store<M>> App<M> for ErpcKv<S> {
    fn cycles(&self) -> u32 {
        App::<M>::cycles(&self.0)
    }

    #[inline]
    fn frame(&mut self, m: &mut M, packet: &Packet<M>, headers: &mut Headers) -> Verdict {
        self.0.frame(m, packet, headers)
    }

    fn own_buffers(&self) -> u64 {
        App::<M>::own_buffers(&self.0)
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        App::<M>::counters(&self.0)
    }
}
