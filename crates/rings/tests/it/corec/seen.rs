//! What the NIC sees of those who receive: stores to descriptors and to TAIL. It must be what a single consumer
//! would store (corec §3.4.2).

use std::collections::BTreeSet;

use memory::Side;
use rings::Host;

use super::listing_ring::build;
use super::port::{Build, Port, apart, shared};
use crate::common::{Plain, Store};

const DONE: u64 = 1 << 16;

/// A slot of the ring, as the NIC sees it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Slot {
    /// The host's, and not written since the NIC gave it back.
    Old,
    /// The host's, with an empty buffer.
    Written,
    /// The NIC's.
    Posted,
}

/// A NIC that writes down what it finds wrong.
pub(crate) struct Nic {
    slots: Vec<Slot>,
    /// The address in each slot.
    buffers: Vec<u64>,
    head: u64,
    tail: u64,
    /// Stores to TAIL, and the descriptors that they posted.
    pub(crate) posts: Vec<u64>,
}

impl Nic {
    /// Reads the journal of the first ring from the start of day.
    pub(crate) fn reads(journal: &[Store], ring: u32) -> Result<Nic, String> {
        let ring = ring as usize;
        let (slots, buffers) = (vec![Slot::Old; ring], vec![0; ring]);
        let mut nic = Nic { slots, buffers, head: 0, tail: 0, posts: Vec::new() };
        for store in journal {
            let Store { side, field, nth, entry, words } = store;
            let right = match (*field, side) {
                _ if *nth > 0 => Ok(()),
                ("ddring.descriptor", Side::Nic) => nic.gives_back(*entry, words[1]),
                ("ddring.descriptor", _) => nic.is_given(*entry, words),
                ("ddring.tail", _) => nic.is_told(words[0]),
                _ => Ok(()),
            };
            right.map_err(|what| format!("{what}: {store:?}, head {}, tail {}", nic.head, nic.tail))?;
        }
        Ok(nic)
    }

    /// The NIC stores a frame.
    fn gives_back(&mut self, entry: usize, status: u64) -> Result<(), &'static str> {
        if entry as u64 != self.head % self.slots.len() as u64 || self.slots[entry] != Slot::Posted {
            return Err("the test's NIC is broken");
        }
        self.slots[entry] = Slot::Old;
        self.head += 1;
        if status & DONE == 0 { Err("the test's NIC is broken") } else { Ok(()) }
    }

    /// The host writes a descriptor.
    fn is_given(&mut self, entry: usize, words: &[u64]) -> Result<(), &'static str> {
        match self.slots[entry] {
            Slot::Posted => return Err("a descriptor that is the NIC's"),
            Slot::Written => return Err("a descriptor written twice"),
            Slot::Old if words[1] & DONE != 0 => return Err("an empty descriptor that is done"),
            Slot::Old => self.slots[entry] = Slot::Written,
        }
        self.buffers[entry] = words[0];
        Ok(())
    }

    /// The host moves TAIL.
    fn is_told(&mut self, tail: u64) -> Result<(), &'static str> {
        let ring = self.slots.len() as u64;
        if tail < self.tail {
            return Err("TAIL goes back");
        }
        if tail - self.head > ring {
            return Err("TAIL overtakes the head");
        }
        for i in self.tail..tail {
            let slot = &mut self.slots[(i % ring) as usize];
            if *slot != Slot::Written {
                return Err("TAIL moves past a descriptor that holds nothing new");
            }
            *slot = Slot::Posted;
        }
        self.posts.push(tail - self.tail);
        self.tail = tail;
        let posted = self.buffers.iter().zip(&self.slots).filter(|(_, slot)| **slot == Slot::Posted);
        let buffers: BTreeSet<_> = posted.clone().map(|(buf, _)| buf).collect();
        if buffers.len() == posted.count() { Ok(()) } else { Err("a buffer in two descriptors") }
    }
}

const RING: u32 = 8;

/// Numbers without a pattern (xorshift).
struct Draw(u64);

impl Draw {
    fn below(&mut self, n: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % n
    }
}

/// Threads that sleep anywhere and wake in any order, while frames come.
fn slept<H: Host<Plain> + Send + 'static>(build: Build<H>, threads: u32, seed: u64) -> (Vec<Store>, Port<H>) {
    let mut port = Port::new(build, RING, threads, 4 * RING);
    let mut draw = Draw(seed);
    let mut asleep = Vec::new();
    for _ in 0..60 {
        port.card.offer(draw.below(6) as usize);
        if !port.cores.is_empty() && draw.below(3) > 0 {
            let core = port.cores.swap_remove(draw.below(port.cores.len() as u64) as usize);
            let mut left = draw.below(40);
            let walker = core.walk(1 + draw.below(4) as usize, move |access| {
                left = left.saturating_sub(1);
                left == 0 || access.call == "wait"
            });
            asleep.push(walker);
        } else if !asleep.is_empty() {
            let (core, _) = asleep.swap_remove(draw.below(asleep.len() as u64) as usize).resume();
            port.cores.push(core);
        }
        port.cores.iter_mut().for_each(|core| core.free());
    }
    port.cores.extend(asleep.into_iter().map(|walker| walker.resume().0));
    port.empty();
    (port.plain.journal(), port)
}

#[test]
fn the_nic_sees_one_consumer() {
    let seen = |journal: &[Store]| {
        let nic = Nic::reads(journal, RING).unwrap();
        assert!(nic.posts.iter().sum::<u64>() > 2 * u64::from(RING), "{:?}", nic.posts);
        assert!(!nic.posts.contains(&0), "TAIL is written where it moves: {:?}", nic.posts);
    };
    for seed in 1..=300 {
        let (journal, port) = slept(apart, 1, seed);
        port.finish().unwrap();
        seen(&journal);
        for threads in 1..=4 {
            let (journal, port) = slept(shared, threads, seed);
            port.finish().unwrap();
            seen(&journal);
        }
    }
}

/// The predicate tells one consumer from several: the printed listing is found out, but not where it is alone.
#[test]
fn the_nic_sees_that_the_listing_is_several() {
    let found = |threads, seed| Nic::reads(&slept(build, threads, seed).0, RING).err();
    assert_eq!((1..=100).find_map(|seed| found(1, seed)), None);
    let several: BTreeSet<_> = (1..=100).filter_map(|seed| found(3, seed)).collect();
    let several: BTreeSet<_> = several.iter().filter_map(|what| what.split(':').next()).collect();
    println!("{several:?}");
    assert!(several.contains("a descriptor that is the NIC's"), "{several:?}");
}
