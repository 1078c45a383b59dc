//! The host behind a flow of RDMA writes, where it takes what they carry for chunks of a file ([`apps::linefs`]): a core
//! that handles each batch once its immediate has completed, and the card's half that sends copies on to a replica.

use apps::linefs::{Chunk, Log, Shape};
use memory::{Class, Field, LayoutError, Mapping, Memory, Side, Space, Touch};

use super::book::Book;
use crate::engine::space::ModelSpace;
use crate::engine::view::View;
use crate::machine::layout::{Table, Words};
use crate::scenario::bypass::{Bypass, PACKET, entry};

/// Bytes of copies that a core's log keeps, and entries: more than any cache has.
const LOG: u64 = 64 << 20;
const ENTRIES: u64 = 4096;

/// Batches whose immediates have completed: the card counts, the core reads.
const COMPLETED: Field = Field {
    name: "files.completed",
    len: 1,
    width: 1,
    class: Class::Signal,
    writer: Side::Nic,
    reader: Side::Host,
    home: Side::Host,
};
/// Batches that the core has copied: it orders the card to send these copies on, and clients may write there again.
const COPIED: Field = Field {
    name: "files.copied",
    len: 1,
    width: 1,
    class: Class::Register(Mapping::Uncached),
    writer: Side::Host,
    reader: Side::Nic,
    home: Side::Host,
};

/// What card and core of a flow share beside its region.
#[derive(Clone, Copy)]
pub(crate) struct Files {
    completed: Words<1>,
    copied: Words<1>,
    log: [Table; 2],
}

impl Files {
    pub(crate) fn new(space: &mut ModelSpace, instance: u32) -> Result<Files, LayoutError> {
        let [name, entries] = Shape::NAMES;
        let [bytes, index] = Shape::new(LOG, ENTRIES).parts();
        Ok(Files {
            completed: space.words(&COMPLETED, instance)?,
            copied: space.words(&COPIED, instance)?,
            log: [space.table(name, bytes)?, space.table(entries, index)?],
        })
    }

    /// The card tells of `batches` in all.
    pub(crate) fn tell(&self, m: &mut View, batches: u64) {
        m.release(self.completed, 0, batches);
    }

    /// Waits until no more than `most` of `written` batches have not been copied; whether the run goes on.
    pub(crate) fn has_room(&self, m: &mut View, written: u64, most: u64) -> bool {
        while written.saturating_sub(m.acquire(self.copied, 0)) > most {
            if m.stopped() {
                return false;
            }
            m.idle();
        }
        true
    }
}

/// The core: takes batches in the order in which they have completed. What the flow writes, and where its immediates complete,
/// are in two tables.
pub(crate) fn work(m: &mut View, flow: Bypass, [data, completions]: [Table; 2], files: Files, book: &Book) {
    let mut log = Log::<View>::declared(Shape::new(LOG, ENTRIES), files.log);
    let (mut done, mut chunks) = (0, 0_u64);
    while !m.stopped() {
        let completed = m.acquire(files.completed, 0);
        if completed == done {
            m.idle();
            continue;
        }
        let at = done % flow.batches() * flow.batch_bytes();
        m.touch(completions, entry(done), Touch::Read);
        for n in 0..u64::from(flow.batch) {
            let at = at + n * u64::from(flow.message);
            let offset = chunks * u64::from(flow.message);
            let chunk = Chunk { file: flow.port, offset, at, len: flow.message };
            // A region is no longer than the log.
            chunks += u64::from(log.append(m, &chunk, data, &[]).is_ok());
        }
        done += 1;
        m.ring(files.copied, done);
        m.chain();
    }
    let bytes = chunks * u64::from(flow.message);
    book.add(vec![("linefs_chunks", chunks), ("linefs_bytes", bytes), ("linefs_batches", done)]);
}

/// The card's half: reads copies as they are ordered and sends them on. Nothing else goes that way over the wire but answers.
pub(crate) fn replicate(m: &mut View, flow: Bypass, files: Files, book: &Book) {
    let (mut done, mut off) = (0, 0);
    let whole = u64::from(flow.message).next_multiple_of(64);
    let bytes = Shape::new(LOG, ENTRIES).parts()[0];
    while !m.stopped() {
        if m.acquire(files.copied, 0) == done {
            m.idle();
            continue;
        }
        for _ in 0..flow.batch {
            // As the log places copies: each in one piece.
            off = if off + whole > bytes { 0 } else { off };
            for packet in 0..flow.packets() {
                let at = off + u64::from(packet) * u64::from(PACKET);
                m.read_remote(files.log[0], at, flow.packet(packet));
                m.chain();
            }
            off += whole;
        }
        done += 1;
    }
    book.add(vec![("linefs_replicated_bytes", done * flow.batch_bytes())]);
}
