//! A memory for one thread: a clock that tests move, and a check of every writer.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::rc::Rc;

use memory::{Buf, Class, Fault, Field, Geometry, LayoutError, Memory, Ps, Side, Space, Touch};
use rings::world::{Setup, World};
use rings::{Interface, tx};

#[derive(Default)]
struct State {
    fields: Vec<(Field, Vec<u64>)>,
    frames: Vec<Vec<u8>>,
    now: Ps,
    /// Stores by field.
    stores: BTreeMap<&'static str, u64>,
}

/// The set-up side, and an agent's view.
#[derive(Clone)]
pub struct Plain {
    state: Rc<RefCell<State>>,
    side: Side,
}

impl Plain {
    pub fn new(side: Side) -> Plain {
        Plain { state: Rc::default(), side }
    }

    pub fn side(&self, side: Side) -> Plain {
        Plain { state: Rc::clone(&self.state), side }
    }

    pub fn advance(&mut self, by: Ps) {
        self.state.borrow_mut().now += by;
    }

    /// Stores to all fields of this name.
    pub fn stores(&self, name: &str) -> u64 {
        self.state.borrow().stores.get(name).copied().unwrap_or(0)
    }

    /// Overwrites a word behind the back of everyone.
    pub fn poke(&self, name: &str, nth: usize, word: usize, value: u64) {
        let mut state = self.state.borrow_mut();
        let field = state.fields.iter_mut().filter(|(f, _)| f.name == name).nth(nth);
        field.expect("no such field").1[word] = value;
    }

    fn at<const W: usize>(&self, id: usize, i: u64) -> usize {
        let state = self.state.borrow();
        (i & (u64::from(state.fields[id].0.len) - 1)) as usize * W
    }

    fn load<const W: usize>(&self, id: usize, i: u64) -> u64 {
        self.state.borrow().fields[id].1[self.at::<W>(id, i) + W - 1]
    }

    fn store<const W: usize>(&self, id: usize, i: u64, entry: [u64; W], allowed: &[Class]) {
        let at = self.at::<W>(id, i);
        let mut state = self.state.borrow_mut();
        let (field, words) = &mut state.fields[id];
        assert!(allowed.contains(&field.class), "{}: not a store for {:?}", field.name, field.class);
        assert!(
            field.writer == self.side || field.writer == Side::Both,
            "{}: written by the {:?}",
            field.name,
            self.side
        );
        words[at..at + W].copy_from_slice(&entry);
        let name = field.name;
        *state.stores.entry(name).or_default() += 1;
    }

    fn rmw<const W: usize>(&self, id: usize, i: u64, f: impl FnOnce(u64) -> u64) -> u64 {
        let at = self.at::<W>(id, i) + W - 1;
        let mut state = self.state.borrow_mut();
        let (field, words) = &mut state.fields[id];
        assert_eq!(field.class, Class::Contended, "{}", field.name);
        let before = words[at];
        words[at] = f(before);
        before
    }
}

impl Space for Plain {
    type Mem = Plain;

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<usize, LayoutError> {
        field.check::<W>()?;
        let mut state = self.state.borrow_mut();
        state.fields.push((*field, vec![0; field.len as usize * W]));
        Ok(state.fields.len() - 1)
    }

    fn buffers(&mut self, g: &Geometry) -> Result<Geometry, LayoutError> {
        g.check()?;
        self.state.borrow_mut().frames = vec![vec![0; g.room as usize]; g.count as usize];
        Ok(*g)
    }

    fn table(&mut self, _name: &'static str, _bytes: u64) -> Result<(), LayoutError> {
        Ok(())
    }
}

impl Memory for Plain {
    type Words<const W: usize> = usize;
    type Buffers = Geometry;
    type Table = ();

    fn acquire<const W: usize>(&mut self, w: usize, i: u64) -> u64 {
        self.load::<W>(w, i)
    }
    fn relaxed<const W: usize>(&mut self, w: usize, i: u64) -> u64 {
        self.load::<W>(w, i)
    }
    fn release<const W: usize>(&mut self, w: usize, i: u64, signal: u64) {
        let mut entry = self.read::<W>(w, i);
        entry[W - 1] = signal;
        self.store(w, i, entry, &[Class::Signal, Class::Contended]);
    }
    fn publish<const W: usize>(&mut self, w: usize, i: u64, entry: [u64; W]) {
        self.store(w, i, entry, &[Class::Signal]);
    }
    fn read<const W: usize>(&mut self, w: usize, i: u64) -> [u64; W] {
        let at = self.at::<W>(w, i);
        let state = self.state.borrow();
        core::array::from_fn(|k| state.fields[w].1[at + k])
    }
    fn write<const W: usize>(&mut self, w: usize, i: u64, entry: [u64; W]) {
        self.store(w, i, entry, &[Class::Body]);
    }
    fn swap_if<const W: usize>(&mut self, w: usize, i: u64, old: u64, new: u64) -> Result<(), u64> {
        let before = self.rmw::<W>(w, i, |seen| if seen == old { new } else { seen });
        if before == old { Ok(()) } else { Err(before) }
    }
    fn or<const W: usize>(&mut self, w: usize, i: u64, bits: u64) -> u64 {
        self.rmw::<W>(w, i, |v| v | bits)
    }
    fn clear<const W: usize>(&mut self, w: usize, i: u64, bits: u64) -> u64 {
        self.rmw::<W>(w, i, |v| v & !bits)
    }
    fn add<const W: usize>(&mut self, w: usize, i: u64, n: u64) -> u64 {
        self.rmw::<W>(w, i, |v| v.wrapping_add(n))
    }
    fn wait<const W: usize>(&mut self, _w: usize, _i: u64, _seen: u64) {
        panic!("one thread waits for itself: a lock was kept over a call");
    }
    fn idle(&mut self) {}
    fn pause(&mut self, until: Ps, _early: bool) {
        let mut state = self.state.borrow_mut();
        state.now = state.now.max(until);
    }
    fn ring(&mut self, bell: usize, value: u64) {
        self.store(bell, 0, [value], &[Class::Doorbell]);
    }
    fn check(&self, b: Geometry, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw < u64::from(b.count) && len <= b.room { Ok(Buf(raw)) } else { Err(Fault { raw }) }
    }
    fn put(&mut self, _b: Geometry, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let mut state = self.state.borrow_mut();
        let frame = &mut state.frames[buf.0 as usize][off as usize..][..len as usize];
        frame.fill(0);
        frame[..bytes.len()].copy_from_slice(bytes);
    }
    fn get(&mut self, _b: Geometry, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let state = self.state.borrow();
        let frame = &state.frames[buf.0 as usize][off as usize..][..len as usize];
        let n = out.len().min(frame.len());
        out[..n].copy_from_slice(&frame[..n]);
    }
    fn meta(&mut self, _b: Geometry, _buf: Buf, _line: u32, _how: Touch) {}
    fn prefetch(&mut self, _b: Geometry, _buf: Buf, _off: u32) {}
    fn touch(&mut self, _t: (), _off: u64, _how: Touch) {}
    fn now(&mut self) -> Ps {
        self.state.borrow().now
    }
    fn work(&mut self, _cycles: u32) {}
    fn chain(&mut self) {}
}

/// A world with a transmit ring of 16 and no private caches, and its memory.
pub fn world(interface: Interface, queues: u32, buffers: u32) -> (World<Plain>, Plain) {
    let tx = tx::Sizes { ring: 16, complete_every: 4 };
    with(&Setup { interface, queues, tx, buffers, cache: 0 })
}

pub fn with(setup: &Setup) -> (World<Plain>, Plain) {
    let mut space = Plain::new(Side::Both);
    let (nic, host) = (space.side(Side::Nic), space.side(Side::Host));
    let world = World::new(&mut space, setup, nic, |_| host.clone(), Plain::advance).unwrap();
    (world, space)
}

pub fn counter(of: &[(&'static str, u64)], name: &str) -> u64 {
    of.iter().find(|(n, _)| *n == name).unwrap_or_else(|| panic!("no counter {name}")).1
}
