//! An agent's view under the checker. A broken contract panics: that is how a checker reports.

use core::panic::Location;
use core::sync::atomic::Ordering;
use std::rc::Rc;

use loom::sync::atomic::AtomicU64;

use super::parked::{Place, Reads};
use super::store::{Cells, CheckedBuffers, CheckedWords, Payload, Store};
use crate::{Buf, Class, Fault, Mapping, Memory, Ps, Side, Touch};

/// How far an agent's clock moves when it found nothing to do, so that deadlines come.
const IDLE: Ps = Ps::from_us(1);

/// One agent's view. Its clock is its own and moves only by [`Memory::idle`], [`Memory::pause`] and
/// [`CheckedView::advance`].
pub struct CheckedView {
    store: Rc<Store>,
    side: Side,
    now: Ps,
    reads: Reads,
}

impl CheckedView {
    pub(super) fn new(store: Rc<Store>, side: Side) -> CheckedView {
        CheckedView { store, side, now: Ps::ZERO, reads: Reads::default() }
    }

    /// Moves this agent's clock.
    pub fn advance(&mut self, by: Ps) {
        self.now += by;
    }

    fn cells<const W: usize>(&self, w: CheckedWords<W>) -> &Cells {
        &self.store.fields[w.field]
    }

    /// Loads the signal of entry `i`.
    fn load<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, order: Ordering) -> u64 {
        let cells = self.cells(w);
        self.may_load(cells);
        assert!(cells.field.class != Class::Body, "{}: body words have no signal", cells.field.name);
        let at = masked(cells, i);
        let value = cells.signals[at].load(order);
        self.reads.add((w.field, at), value);
        value
    }

    /// Stores the signal of entry `i`.
    fn store<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, value: u64, order: Ordering) {
        let cells = self.cells(w);
        let at = masked(cells, i);
        cells.signals[at].store(value, order);
        self.wrote((w.field, at), value);
    }

    /// The signal of a contended entry, to be read and written at once.
    fn contended<const W: usize>(&self, w: CheckedWords<W>, i: u64) -> (&AtomicU64, Place) {
        let cells = self.cells(w);
        self.may_write(cells, &[Class::Contended]);
        let at = masked(cells, i);
        (&cells.signals[at], (w.field, at))
    }

    fn wrote(&mut self, place: Place, value: u64) {
        self.store.fields[place.0].latest[place.1].set(value);
        self.reads.forget(place);
        self.store.parked.wake(place);
    }

    fn park(&self, reads: Reads) {
        let fields = &self.store.fields;
        self.store.parked.wait(reads, |(field, at)| fields[field].latest[at].get());
    }

    fn may_write(&self, cells: &Cells, allowed: &[Class]) {
        let Cells { field, instance, .. } = cells;
        let name = field.name;
        assert!(allowed.contains(&field.class), "{name}[{instance}]: not a call for class {:?}", field.class);
        let writer = field.writer;
        let mine = self.side == Side::Both || writer == Side::Both || writer == self.side;
        assert!(mine, "{name}[{instance}]: written by {:?}, belongs to {writer:?}", self.side);
    }

    fn may_load(&self, cells: &Cells) {
        let Cells { field, instance, .. } = cells;
        let may = field.may_load(self.side);
        assert!(may, "{}[{instance}]: read by {:?}, for {:?}", field.name, self.side, field.reader);
    }

    fn order(&self, call: &'static str, at: &'static Location<'static>) -> Ordering {
        self.store.orders.of(call, at)
    }

    fn payload(&self, b: CheckedBuffers, buf: Buf) -> &Payload {
        let pool = &self.store.pools[b.pool];
        usize::try_from(buf.0)
            .ok()
            .and_then(|index| pool.get(index))
            .unwrap_or_else(|| panic!("{buf:?} is none of {} buffers", pool.len()))
    }
}

fn masked(cells: &Cells, i: u64) -> usize {
    (i & (u64::from(cells.field.len) - 1)) as usize
}

/// The first `W` words of a cell and back.
fn widen<const W: usize>(entry: [u64; W]) -> [u64; 8] {
    core::array::from_fn(|k| entry.get(k).copied().unwrap_or(0))
}

const UNCACHED: Class = Class::Register(Mapping::Uncached);
const COMBINING: Class = Class::Register(Mapping::Combining);
/// What has a signal that one writer stores.
const ONE_WRITER: &[Class] = &[Class::Signal, Class::Contended, UNCACHED, COMBINING];
/// What is published elsewhere.
const BODY: &[Class] = &[Class::Body, UNCACHED, COMBINING];

impl Memory for CheckedView {
    type Words<const W: usize> = CheckedWords<W>;
    type Buffers = CheckedBuffers;
    type Table = ();

    #[track_caller]
    fn acquire<const W: usize>(&mut self, w: CheckedWords<W>, i: u64) -> u64 {
        let order = self.order("acquire", Location::caller());
        self.load(w, i, order)
    }

    fn relaxed<const W: usize>(&mut self, w: CheckedWords<W>, i: u64) -> u64 {
        self.load(w, i, Ordering::Relaxed)
    }

    #[track_caller]
    fn release<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, signal: u64) {
        let order = self.order("release", Location::caller());
        self.may_write(self.cells(w), ONE_WRITER);
        self.store(w, i, signal, order);
    }

    #[track_caller]
    fn publish<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, entry: [u64; W]) {
        let order = self.order("publish", Location::caller());
        let cells = self.cells(w);
        self.may_write(cells, ONE_WRITER);
        if W > 1 {
            cells.bodies[masked(cells, i)].set(widen(entry));
        }
        self.store(w, i, entry[W - 1], order);
    }

    #[track_caller]
    fn read<const W: usize>(&mut self, w: CheckedWords<W>, i: u64) -> [u64; W] {
        let mut entry = self.body::<W, W>(w, i);
        let cells = self.cells(w);
        if let Some(signal) = cells.signals.get(masked(cells, i)) {
            entry[W - 1] = signal.load(Ordering::Relaxed);
        }
        entry
    }

    #[track_caller]
    fn body<const W: usize, const N: usize>(&mut self, w: CheckedWords<W>, i: u64) -> [u64; N] {
        const { assert!(N <= W, "an entry has no such word") };
        let cells = self.cells(w);
        self.may_load(cells);
        let body = cells.bodies.get(masked(cells, i)).map_or([0; 8], |cell| cell.get());
        core::array::from_fn(|k| body[k])
    }

    #[track_caller]
    fn write<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, entry: [u64; W]) {
        let cells = self.cells(w);
        self.may_write(cells, BODY);
        let at = masked(cells, i);
        if let Some(body) = cells.bodies.get(at) {
            body.set(widen(entry));
        }
        if cells.field.class != Class::Body {
            // When a register's signal shows is the mapping's affair, and it orders nothing.
            self.store(w, i, entry[W - 1], Ordering::Relaxed);
        }
    }

    #[track_caller]
    fn swap_if<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, old: u64, new: u64) -> Result<(), u64> {
        let order = self.order("swap_if", Location::caller());
        let failed = if order == Ordering::Relaxed { order } else { Ordering::Acquire };
        let (word, place) = self.contended(w, i);
        match word.compare_exchange(old, new, order, failed) {
            Ok(_) => {
                self.wrote(place, new);
                Ok(())
            }
            Err(seen) => {
                self.reads.add(place, seen);
                Err(seen)
            }
        }
    }

    #[track_caller]
    fn or<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, bits: u64) -> u64 {
        let order = self.order("or", Location::caller());
        let (word, place) = self.contended(w, i);
        let before = word.fetch_or(bits, order);
        self.wrote(place, before | bits);
        before
    }

    #[track_caller]
    fn clear<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, bits: u64) -> u64 {
        let order = self.order("clear", Location::caller());
        let (word, place) = self.contended(w, i);
        let before = word.fetch_and(!bits, order);
        self.wrote(place, before & !bits);
        before
    }

    #[track_caller]
    fn add<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, n: u64) -> u64 {
        let order = self.order("add", Location::caller());
        let (word, place) = self.contended(w, i);
        let before = word.fetch_add(n, order);
        self.wrote(place, before.wrapping_add(n));
        before
    }

    fn wait<const W: usize>(&mut self, w: CheckedWords<W>, i: u64, seen: u64) {
        let place = (w.field, masked(self.cells(w), i));
        let mut only = Reads::default();
        only.add(place, seen);
        self.park(only);
    }

    fn idle(&mut self) {
        self.now += IDLE;
        let reads = core::mem::take(&mut self.reads);
        self.park(reads);
    }

    fn pause(&mut self, until: Ps, _early: bool) {
        self.now = self.now.max(until);
        loom::thread::yield_now();
    }

    #[track_caller]
    fn ring(&mut self, bell: CheckedWords<1>, value: u64) {
        let order = self.order("ring", Location::caller());
        self.may_write(self.cells(bell), &[UNCACHED]);
        self.store(bell, 0, value, order);
    }

    fn check(&self, b: CheckedBuffers, raw: u64, len: u32) -> Result<Buf, Fault> {
        if raw < u64::from(b.geometry.count) && len <= b.geometry.room {
            Ok(Buf(raw))
        } else {
            Err(Fault { raw })
        }
    }

    #[track_caller]
    fn put(&mut self, b: CheckedBuffers, buf: Buf, off: u32, bytes: &[u8], len: u32) {
        let frame = &self.payload(b, buf).frame;
        let mut kept = frame.get();
        let end = off.saturating_add(len).min(b.geometry.room) as usize;
        let written = kept.iter_mut().take(end).skip(off as usize);
        for (k, byte) in written.enumerate() {
            *byte = bytes.get(k).copied().unwrap_or(0);
        }
        frame.set(kept);
    }

    #[track_caller]
    fn get(&mut self, b: CheckedBuffers, buf: Buf, off: u32, out: &mut [u8], len: u32) {
        let kept = self.payload(b, buf).frame.get();
        let wanted = out.len().min(len as usize);
        for (k, byte) in out[..wanted].iter_mut().enumerate() {
            *byte = kept.get(off as usize + k).copied().unwrap_or(0);
        }
    }

    #[track_caller]
    fn meta(&mut self, b: CheckedBuffers, buf: Buf, _line: u32, how: Touch) {
        let meta = &self.payload(b, buf).meta;
        match how {
            Touch::Read => meta.get(),
            Touch::Write => meta.set(()),
        }
    }

    fn prefetch(&mut self, _b: CheckedBuffers, _buf: Buf, _off: u32) {}

    fn touch(&mut self, _t: (), _off: u64, _how: Touch) {}

    fn now(&mut self) -> Ps {
        self.now
    }

    fn work(&mut self, _cycles: u32) {}

    fn chain(&mut self) {}
}
