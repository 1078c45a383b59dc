//! Requests to a key-value store as one port's endless stream: keys drawn as flows are, sent to the
//! partitions of their hashes.

use crate::clock::Clock;
use crate::flows::{Draw, name};
use crate::generate::{address, template};
use crate::sizes::{HEADERS, get_len, unit};
use crate::wire::{Deal, Wire};
use crate::{Arrival, HEAD, Line, Rate, Source, Spec, seed, wire_bytes};
use packet::kv::{self, HEADER, MAX_KEY, Objects, Op, Protocol, Request};
use packet::{PARTITION_PORT, checksum};
use rand_pcg::Pcg64Mcg;
use std::ops::Range;

/// Where the key stands in a frame, and how much of it differs: a number; zeros follow.
const AT: usize = HEADERS as usize + HEADER;
const NUMBER: usize = 8;

pub(crate) struct Requests {
    rng: Pcg64Mcg,
    /// The share of puts.
    puts: f64,
    objects: Objects,
    protocol: Protocol,
    draw: Draw,
    deal: Deal,
    /// Added to key numbers: seeds have other keys.
    salt: u32,
    partitions: u32,
    clock: Clock,
    wire: Wire,
    template: [u8; HEAD],
    /// Keys that are put once each, before there is nothing more; none: they are drawn.
    each: Option<Range<u64>>,
    /// Requests so far.
    id: u32,
    idle: bool,
}

impl Requests {
    /// Of `objects`, with so many percent of puts.
    pub(crate) fn new(
        spec: &Spec,
        (put_percent, objects, protocol): (f64, Objects, Protocol),
        line: Line<'_>,
        rate: Rate,
        seed: u64,
    ) -> Self {
        let pace = line.pace(rate);
        let keys = line.share(spec.flows);
        let mut rng = seed::rng(seed, line.port);
        let clock = Clock::new(spec.arrivals, spec.mean_frame(), pace.unwrap_or_default(), &mut rng);
        Self {
            rng,
            puts: put_percent / 100.0,
            objects,
            protocol,
            draw: Draw::new(spec.draw, keys.max(1)),
            deal: Deal::new(&line),
            salt: seed::salt(seed),
            partitions: spec.partitions.max(1),
            clock,
            wire: Wire::new(line),
            template: template(line.port),
            each: None,
            id: 0,
            idle: pace.is_none() || keys == 0,
        }
    }

    /// A put of each key instead, in no hurry.
    pub(crate) fn puts(spec: &Spec, (objects, protocol): (Objects, Protocol), seed: u64) -> Self {
        let line = Line { port: 0, loads: &[1], gbps: Line::GBPS };
        let each = Some(0..spec.flows);
        Self { each, ..Self::new(spec, (100.0, objects, protocol), line, Rate::Gbps(Line::GBPS), seed) }
    }
}

impl Source for Requests {
    #[inline]
    fn next(&mut self, out: &mut Arrival) -> bool {
        if self.idle {
            return false;
        }
        let rank = match &mut self.each {
            None => self.draw.next(&mut self.rng, out.at),
            Some(each) => {
                let Some(rank) = each.next() else { return false };
                rank
            }
        };
        let put = unit(&mut self.rng) < self.puts;
        let number = self.deal.number(rank as u32);
        let key_len = self.objects.key_len();
        let mut key = [0; MAX_KEY];
        key[..NUMBER].copy_from_slice(&(u64::from(self.salt) + u64::from(number)).to_be_bytes());
        let hash = kv::hash(&key[..key_len.into()]);
        let (op, value_len) = if put { (Op::Put, self.objects.value_len(hash)) } else { (Op::Get, 0) };
        let room = if self.protocol == Protocol::Erpc { self.objects.value_len(hash) } else { value_len };
        let len = get_len(self.objects) + room;
        let due = self.clock.next(wire_bytes(len), &mut self.rng);
        let partition = kv::partition(hash, self.partitions);
        self.id = self.id.wrapping_add(1);

        out.at = self.wire.send(due, len);
        out.len = len;
        out.flow = number.saturating_add(1);
        out.head_len = (AT + NUMBER) as u8;
        out.head = self.template;
        let header = self.protocol.ask(&Request { op, key_len, value_len, id: self.id }, room);
        out.head[AT - HEADER..AT].copy_from_slice(&header);
        out.head[AT..AT + NUMBER].copy_from_slice(&key[..NUMBER]);
        let mut name = name(number.wrapping_add(self.salt));
        name.dport = PARTITION_PORT.wrapping_add(partition as u16);
        let payload = checksum::add(0, &out.head[AT - HEADER..AT + NUMBER]);
        address(&mut out.head, name, len, payload);
        true
    }
}
