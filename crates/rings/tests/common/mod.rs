//! A memory for one thread: a clock that tests move, and a check of every writer.
#![allow(dead_code, unreachable_pub, reason = "each test binary uses a part")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod gate;
pub mod lies;
pub mod noting;

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use memory::{Buf, Class, Fault, Field, Geometry, LayoutError, Mapping, Memory, Ps, Side, Space, Touch};
use rings::world::{Setup, World};
use rings::{Interface, tx};

pub use gate::{Access, Gate};

#[derive(Default)]
struct State {
    fields: Vec<(Field, Vec<u64>)>,
    /// The frames of each pool.
    frames: Vec<Vec<Vec<u8>>>,
    now: Ps,
    /// Stores by field.
    stores: BTreeMap<&'static str, u64>,
    /// All of them, where somebody wants them.
    journal: Option<Vec<Store>>,
    /// A field whose compare-and-swap looks at the number modulo so many and no more.
    short: Option<(usize, u64)>,
}

/// Buffers of one stretch.
#[derive(Clone, Copy)]
pub struct Pool {
    id: usize,
    geometry: Geometry,
}

impl Pool {
    /// The first stretch of a space.
    pub const fn first(geometry: Geometry) -> Pool {
        Pool { id: 0, geometry }
    }
}

/// A store that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    /// Who stored.
    pub side: Side,
    /// Where.
    pub field: &'static str,
    /// Which of the fields of this name.
    pub nth: usize,
    /// The entry, masked as memory sees it.
    pub entry: usize,
    /// What the entry holds now.
    pub words: Vec<u64>,
}

/// The set-up side, and an agent's view.
#[derive(Clone)]
pub struct Plain {
    state: Arc<Mutex<State>>,
    side: Side,
    /// What stands in this agent's way.
    pub gate: Option<Arc<Gate>>,
}

impl Plain {
    pub fn new(side: Side) -> Plain {
        Plain { state: Arc::default(), side, gate: None }
    }

    pub fn side(&self, side: Side) -> Plain {
        Plain { state: Arc::clone(&self.state), side, gate: None }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap()
    }

    pub fn advance(&mut self, by: Ps) {
        self.state().now += by;
    }

    /// Stores to all fields of this name, read-modify-writes among them.
    pub fn stores(&self, name: &str) -> u64 {
        self.state().stores.get(name).copied().unwrap_or(0)
    }

    /// Keeps a journal from now on; what it held so far.
    pub fn journal(&self) -> Vec<Store> {
        self.state().journal.replace(Vec::new()).unwrap_or_default()
    }

    /// Overwrites a word behind the back of everyone.
    pub fn poke(&self, name: &str, nth: usize, word: usize, value: u64) {
        let field = self.bound(name, nth);
        self.state().fields[field].1[word] = value;
    }

    /// The `nth` field of this name.
    pub fn bound(&self, name: &str, nth: usize) -> usize {
        let state = self.state();
        let mut fields = state.fields.iter().enumerate().filter(|(_, (f, _))| f.name == name);
        fields.nth(nth).expect("no such field").0
    }

    /// Fields of this name.
    pub fn count(&self, name: &str) -> usize {
        self.state().fields.iter().filter(|(f, _)| f.name == name).count()
    }

    /// From now on a compare-and-swap of this field takes numbers for equal that are so modulo `ring`.
    pub fn shorten(&self, name: &str, ring: u64) {
        let field = self.bound(name, 0);
        self.state().short = Some((field, ring));
    }

    /// This agent is about to access a field; whether it was held.
    fn pass(&self, call: &'static str, id: usize) -> bool {
        let Some(gate) = &self.gate else { return false };
        let field = self.state().fields[id].0.name;
        gate.pass(Access { call, field })
    }

    /// The same for a buffer.
    fn pass_buffer(&self, call: &'static str) {
        if let Some(gate) = &self.gate {
            gate.pass(Access { call, field: "buffers" });
        }
    }

    fn load<const W: usize>(&self, id: usize, i: u64) -> u64 {
        let state = self.state();
        state.may_load(self.side, id);
        state.fields[id].1[state.at(id, i, W) + W - 1]
    }

    fn store<const W: usize>(&self, id: usize, i: u64, entry: [u64; W], allowed: &[Class]) {
        let mut state = self.state();
        let at = state.at(id, i, W);
        let (field, words) = &mut state.fields[id];
        assert!(allowed.contains(&field.class), "{}: not a store for {:?}", field.name, field.class);
        let mine = field.writer == self.side || field.writer == Side::Both;
        assert!(mine, "{}: written by the {:?}", field.name, self.side);
        words[at..at + W].copy_from_slice(&entry);
        state.note(self.side, id, at / W, &entry);
    }

    /// Stores what `f` makes of the signal, if anything; the signal before.
    fn rmw<const W: usize>(&self, id: usize, i: u64, f: impl FnOnce(&State, u64) -> Option<u64>) -> u64 {
        let mut state = self.state();
        let at = state.at(id, i, W) + W - 1;
        assert_eq!(state.fields[id].0.class, Class::Contended, "{}", state.fields[id].0.name);
        let before = state.fields[id].1[at];
        if let Some(now) = f(&state, before) {
            state.fields[id].1[at] = now;
            state.note(self.side, id, at / W, &[now]);
        }
        before
    }
}

impl State {
    /// The first word of entry `i`.
    fn at(&self, id: usize, i: u64, width: usize) -> usize {
        (i & (u64::from(self.fields[id].0.len) - 1)) as usize * width
    }

    fn entry<const W: usize>(&self, id: usize, i: u64) -> [u64; W] {
        let at = self.at(id, i, W);
        core::array::from_fn(|k| self.fields[id].1[at + k])
    }

    fn may_load(&self, side: Side, id: usize) {
        let field = &self.fields[id].0;
        assert!(field.may_load(side), "{}: read by the {side:?}", field.name);
    }

    fn note(&mut self, side: Side, id: usize, entry: usize, words: &[u64]) {
        let field = self.fields[id].0.name;
        *self.stores.entry(field).or_default() += 1;
        if let Some(journal) = &mut self.journal {
            let nth = self.fields[..id].iter().filter(|(f, _)| f.name == field).count();
            journal.push(Store { side, field, nth, entry, words: words.to_vec() });
        }
    }

    /// Whether a compare-and-swap of field `id` takes `seen` for `old`.
    fn same(&self, id: usize, seen: u64, old: u64) -> bool {
        match self.short {
            Some((field, ring)) if field == id => seen.wrapping_sub(old).is_multiple_of(ring),
            _ => seen == old,
        }
    }
}

impl Space for Plain {
    type Mem = Plain;

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<usize, LayoutError> {
        field.check::<W>()?;
        let mut state = self.state();
        state.fields.push((*field, vec![0; field.len as usize * W]));
        Ok(state.fields.len() - 1)
    }

    fn buffers(&mut self, g: &Geometry) -> Result<Pool, LayoutError> {
        g.check()?;
        let mut state = self.state();
        state.frames.push(vec![vec![0; g.room as usize]; g.count as usize]);
        Ok(Pool { id: state.frames.len() - 1, geometry: *g })
    }

    fn table(&mut self, _name: &'static str, _bytes: u64) -> Result<(), LayoutError> {
        Ok(())
    }
}

impl Memory for Plain {
    type Words<const W: usize> = usize;
    type Buffers = Pool;
    type Table = ();

    fn acquire<const W: usize>(&mut self, w: usize, i: u64) -> u64 {
        self.pass("acquire", w);
        self.load::<W>(w, i)
    }
    fn relaxed<const W: usize>(&mut self, w: usize, i: u64) -> u64 {
        self.pass("relaxed", w);
        self.load::<W>(w, i)
    }
    fn release<const W: usize>(&mut self, w: usize, i: u64, signal: u64) {
        self.pass("release", w);
        let mut entry: [u64; W] = self.state().entry(w, i);
        entry[W - 1] = signal;
        self.store(w, i, entry, &[Class::Signal, Class::Contended]);
    }
    fn publish<const W: usize>(&mut self, w: usize, i: u64, entry: [u64; W]) {
        self.pass("publish", w);
        self.store(w, i, entry, &[Class::Signal]);
    }
    fn read<const W: usize>(&mut self, w: usize, i: u64) -> [u64; W] {
        self.pass("read", w);
        let state = self.state();
        state.may_load(self.side, w);
        state.entry(w, i)
    }
    fn write<const W: usize>(&mut self, w: usize, i: u64, entry: [u64; W]) {
        self.pass("write", w);
        self.store(w, i, entry, &[Class::Body]);
    }
    fn swap_if<const W: usize>(&mut self, w: usize, i: u64, old: u64, new: u64) -> Result<(), u64> {
        self.pass("swap_if", w);
        let mut same = false;
        let seen = self.rmw::<W>(w, i, |state, seen| {
            same = state.same(w, seen, old);
            same.then(|| seen.wrapping_add(new.wrapping_sub(old)))
        });
        if same { Ok(()) } else { Err(seen) }
    }
    fn or<const W: usize>(&mut self, w: usize, i: u64, bits: u64) -> u64 {
        self.pass("or", w);
        self.rmw::<W>(w, i, |_, v| Some(v | bits))
    }
    fn clear<const W: usize>(&mut self, w: usize, i: u64, bits: u64) -> u64 {
        self.pass("clear", w);
        self.rmw::<W>(w, i, |_, v| Some(v & !bits))
    }
    fn add<const W: usize>(&mut self, w: usize, i: u64, n: u64) -> u64 {
        self.pass("add", w);
        self.rmw::<W>(w, i, |_, v| Some(v.wrapping_add(n)))
    }
    fn wait<const W: usize>(&mut self, w: usize, _i: u64, _seen: u64) {
        assert!(self.pass("wait", w), "one thread waits for itself: a lock was kept over a call");
    }
    fn idle(&mut self) {}
    fn pause(&mut self, until: Ps, _early: bool) {
        let mut state = self.state();
        state.now = state.now.max(until);
    }
    fn ring(&mut self, bell: usize, value: u64) {
        self.pass("ring", bell);
        self.store(bell, 0, [value], &[Class::Register(Mapping::Uncached)]);
    }
    fn check(&self, b: Pool, raw: u64, len: u32) -> Result<Buf, Fault> {
        let Geometry { count, room, .. } = b.geometry;
        if raw < u64::from(count) && len <= room { Ok(Buf(raw)) } else { Err(Fault { raw }) }
    }
    fn put(&mut self, b: Pool, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        self.pass_buffer("put");
        let mut state = self.state();
        let frame = &mut state.frames[b.id][buf.0 as usize][off as usize..][..len as usize];
        frame.fill(0);
        frame[..bytes.len()].copy_from_slice(bytes);
    }
    fn get(&mut self, b: Pool, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        self.pass_buffer("get");
        let state = self.state();
        let frame = &state.frames[b.id][buf.0 as usize][off as usize..][..len as usize];
        let n = out.len().min(frame.len());
        out[..n].copy_from_slice(&frame[..n]);
    }
    fn meta(&mut self, _b: Pool, _buf: Buf, _line: u32, _how: Touch) {}
    fn prefetch(&mut self, _b: Pool, _buf: Buf, _off: u32) {}
    fn touch(&mut self, _t: (), _off: u64, _how: Touch) {}
    fn now(&mut self) -> Ps {
        self.state().now
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
