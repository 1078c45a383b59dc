//! Stores of one core of the host: to a card past the caches, past them to memory, and through them.

use memory::{Buf, Class, Field, Geometry, Mapping, Memory, Ps, Side, Space, Stores};

use super::{Bench, Error, Notes, cost, median};
use crate::engine::view::View;
use crate::machine::layout::Words;
use crate::profile::{NicKind, Server};

/// Lines that are written over and over.
const LINES: u32 = 128;
/// Bytes that are written in all, at least.
const BYTES: u64 = 1 << 20;

/// Where stores go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Registers of a card, mapped write-combining.
    Mmio,
    /// Memory, past the caches.
    Combining,
    /// Memory, through the caches.
    Cached,
}

/// What one core writes, GB/s, with a barrier behind each `bytes`, a whole number of lines.
///
/// # Errors
/// Another number of bytes.
pub fn writes(server: &Server, target: Target, bytes: u32) -> Result<f64, Error> {
    let most = LINES * 64;
    if !(64..=most).contains(&bytes) || !bytes.is_multiple_of(64) {
        return Err(Error::Asked(format!("{bytes} B a barrier; allowed: a multiple of 64 up to {most}")));
    }
    let mut bench = Bench::new(server)?;
    let batch: Box<dyn Fn(&mut View)> = match target {
        Target::Mmio => lines(registers(&mut bench, LINES, Mapping::Combining)?, bytes / 64),
        Target::Cached => lines(words(&mut bench, LINES, Class::Body)?, bytes / 64),
        Target::Combining => {
            let b = bench.space.buffers(&Geometry::plain(1, most).stored(Stores::Streaming))?;
            Box::new(move |m| m.put(b, Buf(0), 0, &[], bytes))
        }
    };
    let batches = BYTES.div_ceil(bytes.into());
    let notes = Notes::new();
    let took = notes.clone();
    bench.near(0, move |m| {
        batch(m); // its lines come
        m.fence();
        took.push(cost(m, |m| {
            (0..batches).for_each(|_| {
                batch(m);
                m.fence();
            });
        }));
    });
    bench.run(server, Ps::ZERO)?;
    let ps: u64 = notes.take().iter().map(|took| took.0).sum();
    Ok((batches * u64::from(bytes)) as f64 * 1e3 / ps as f64)
}

/// A batch of so many lines of `w`.
fn lines(w: Words<8>, lines: u32) -> Box<dyn Fn(&mut View)> {
    Box::new(move |m| (0..lines).for_each(|i| m.write(w, i.into(), [1; 8])))
}

/// What `n` stores to registers of a card take a core, a word each into a line of its own, mapped write-combining.
///
/// # Errors
/// More than 64.
pub fn stores(server: &Server, n: u32) -> Result<Ps, Error> {
    if !(1..=64).contains(&n) {
        return Err(Error::Asked(format!("{n} stores; allowed: 1 to 64")));
    }
    let mut bench = Bench::new(server)?;
    let w: Words<1> = registers(&mut bench, 512, Mapping::Combining)?;
    let notes = Notes::new();
    let took = notes.clone();
    bench.near(0, move |m| {
        took.push(cost(m, |m| (0..n).for_each(|i| m.write(w, u64::from(i) * 8, [1]))));
    });
    bench.run(server, Ps::ZERO)?;
    Ok(median(notes.take()))
}

/// What a core waits for a load of a card's register.
///
/// # Errors
/// A server without a card.
pub fn mmio_read(server: &Server) -> Result<Ps, Error> {
    let mut bench = Bench::new(server)?;
    let w: Words<1> = registers(&mut bench, 1, Mapping::Uncached)?;
    let notes = Notes::new();
    let took = notes.clone();
    bench.near(0, move |m| took.push(cost(m, |m| _ = m.acquire(w, 0))));
    bench.run(server, Ps::ZERO)?;
    Ok(median(notes.take()))
}

/// Registers of the card in the first slot.
fn registers<const W: usize>(
    bench: &mut Bench,
    len: u32,
    mapping: Mapping,
) -> Result<Words<W>, memory::LayoutError> {
    let mut card = bench.space.served_by(NicKind::Card);
    card.words(&field::<W>(len, Class::Register(mapping)), 0)
}

/// Words of the host.
fn words<const W: usize>(bench: &mut Bench, len: u32, class: Class) -> Result<Words<W>, memory::LayoutError> {
    bench.space.words(&field::<W>(len, class), 0)
}

fn field<const W: usize>(len: u32, class: Class) -> Field {
    let (writer, reader, home) = (Side::Host, Side::Both, Side::Host);
    Field { name: "stores", len, width: W as u32, class, writer, reader, home }
}
