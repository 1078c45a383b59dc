//! Where modelled words, buffers and tables lie.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Class, Field, Geometry, LayoutError, Side, Space};

use crate::view::View;

/// Words lie below this line, buffers from it on.
pub(crate) const BUFFERS: u32 = 1 << 18;
/// Buffers lie below this line, tables from it on.
pub(crate) const TABLES: u32 = 1 << 26;
/// Tables lie below this line: tags have 30 bits.
const END: u32 = 1 << 29;
/// Lines of a 2 MB page.
const PAGE: u32 = 1 << 15;
/// Bytes of a frame that are stored.
pub(crate) const KEPT: usize = 128;

/// A bound field.
#[derive(Clone, Copy, Debug)]
pub struct Words<const W: usize> {
    pub(crate) base: u32,
    pub(crate) signal: u32,
    pub(crate) mask: u32,
    pub(crate) class: Class,
    pub(crate) writer: Side,
}

/// A bound application table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    pub(crate) first: u32,
    pub(crate) bytes: u64,
}

/// Bound packet buffers.
#[derive(Clone, Copy, Debug)]
pub struct PoolId {
    pub(crate) index: u32,
    pub(crate) count: u32,
    pub(crate) room: u32,
}

/// A stretch of buffers.
#[derive(Clone, Debug)]
pub(crate) struct Pool {
    pub geometry: Geometry,
    pub first: u32,
    /// The first bytes of each frame.
    pub heads: Vec<[u8; KEPT]>,
    /// Arrival of the frame in each buffer, ps, and the count of DMA-written frames at that time.
    pub stamps: Vec<(u64, u64)>,
}

/// What has been allocated.
#[derive(Clone, Debug, Default)]
pub struct Layout {
    pub(crate) words: u32,
    pub(crate) signals: u32,
    pub(crate) pools: Vec<Pool>,
    buffer_end: u32,
    table_end: u32,
}

/// Ends of the address ranges, in lines.
pub(crate) struct Lines {
    pub all: u32,
    pub shared: u32,
}

impl Layout {
    pub(crate) fn lines(&self) -> Lines {
        Lines { all: self.table_end.max(TABLES), shared: self.buffer_end.max(BUFFERS) }
    }
}

/// The set-up side of a modelled server; clones share one layout.
#[derive(Clone, Default)]
pub struct ModelSpace {
    layout: Rc<RefCell<Layout>>,
}

impl ModelSpace {
    /// Nothing allocated.
    pub fn new() -> ModelSpace {
        ModelSpace::default()
    }

    /// What was allocated.
    pub fn finish(self) -> Layout {
        self.layout.borrow().clone()
    }
}

impl Space for ModelSpace {
    type Mem = View;

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<Words<W>, LayoutError> {
        field.check::<W>()?;
        let mut l = self.layout.borrow_mut();
        let (base, signal) = (l.words, l.signals);
        let words = (field.bytes() / 8) as u32;
        if u64::from(base) + u64::from(words) > u64::from(BUFFERS) * 8 {
            let what = "the model holds 16 MiB of ring words; use fewer queues or smaller rings".to_owned();
            return Err(LayoutError { field: field.name, what });
        }
        l.words += words;
        l.signals += field.len;
        Ok(Words { base, signal, mask: field.len - 1, class: field.class, writer: field.writer })
    }

    fn buffers(&mut self, g: &Geometry) -> Result<PoolId, LayoutError> {
        g.check()?;
        let mut l = self.layout.borrow_mut();
        let first = l.buffer_end.max(BUFFERS).next_multiple_of(PAGE);
        let lines = u64::from(g.count) * u64::from(g.stride) / 64 + 1;
        if u64::from(first) + lines > u64::from(TABLES) || u64::from(g.count) * u64::from(g.stride) > 1 << 31
        {
            let what = format!("{} buffers of {} B exceed the model's 2 GiB", g.count, g.stride);
            return Err(LayoutError { field: "buffers", what });
        }
        l.buffer_end = first + lines as u32;
        let n = g.count as usize;
        let pool = Pool { geometry: *g, first, heads: vec![[0; KEPT]; n], stamps: vec![(0, 0); n] };
        l.pools.push(pool);
        Ok(PoolId { index: l.pools.len() as u32 - 1, count: g.count, room: g.room })
    }

    fn table(&mut self, name: &'static str, bytes: u64) -> Result<Table, LayoutError> {
        let mut l = self.layout.borrow_mut();
        let first = l.table_end.max(TABLES).next_multiple_of(PAGE);
        let lines = bytes.div_ceil(64);
        if u64::from(first) + lines > u64::from(END) {
            return Err(LayoutError { field: name, what: "exceeds the model's 28 GiB of tables".to_owned() });
        }
        l.table_end = first + lines as u32;
        Ok(Table { first, bytes })
    }
}
