//! Fields and buffers as loom objects.

use std::sync::Arc;

use loom::cell::Cell;
use loom::sync::atomic::AtomicU64;

use super::orders::Orders;
use super::parked::Parked;
use crate::{Field, Geometry};

/// The first bytes of a frame that are kept: enough to tell frames apart.
pub(super) const KEPT: usize = 16;

/// A field's words.
pub(super) struct Cells {
    pub(super) field: Field,
    pub(super) instance: u32,
    /// One signal per entry; none in a field of class body.
    pub(super) signals: Vec<AtomicU64>,
    /// The signals as last written, for those who wait.
    pub(super) latest: Vec<std::cell::Cell<u64>>,
    /// The words before the signal, one cell per entry; empty where there are none.
    pub(super) bodies: Vec<Cell<[u64; 8]>>,
}

/// A buffer's bytes and its metadata, each with one owner at a time.
pub(super) struct Payload {
    pub(super) frame: Cell<[u8; KEPT]>,
    pub(super) meta: Cell<()>,
}

/// All of one execution.
pub(super) struct Store {
    pub(super) fields: Vec<Cells>,
    pub(super) pools: Vec<Vec<Payload>>,
    pub(super) orders: Arc<Orders>,
    pub(super) parked: Parked,
}

/// A bound field.
#[derive(Clone, Copy, Debug)]
pub struct CheckedWords<const W: usize> {
    pub(super) field: usize,
}

/// Bound buffers.
#[derive(Clone, Copy, Debug)]
pub struct CheckedBuffers {
    pub(super) pool: usize,
    pub(super) geometry: Geometry,
}
