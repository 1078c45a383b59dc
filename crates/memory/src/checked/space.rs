//! Set-up: fields and buffers are bound, then shared between the agents' views.

use std::rc::Rc;
use std::sync::Arc;

use loom::cell::Cell;
use loom::sync::atomic::AtomicU64;

use super::orders::Orders;
use super::parked::Parked;
use super::store::{Cells, CheckedBuffers, CheckedWords, KEPT, Payload, Store};
use super::view::CheckedView;
use crate::{Class, Field, Geometry, LayoutError, Side, Space};

/// A space of one execution: bind everything, then [`share`](CheckedSpace::share) it.
pub struct CheckedSpace {
    store: Store,
}

impl CheckedSpace {
    pub(super) fn new(orders: Arc<Orders>) -> CheckedSpace {
        CheckedSpace {
            store: Store { fields: Vec::new(), pools: Vec::new(), orders, parked: Parked::default() },
        }
    }

    /// Ends the set-up: from here on there are views.
    pub fn share(self) -> Checked {
        // `Rc`: loom's threads are coroutines of one thread. Not loom's own `Arc`, whose count would
        // order what a ring must order itself.
        Checked { store: Rc::new(self.store) }
    }
}

/// A bound space, from which threads take their views.
#[derive(Clone)]
pub struct Checked {
    store: Rc<Store>,
}

impl Checked {
    /// A view of one agent on `side`; [`Side::Both`] for the thread that sets up and counts at the end.
    pub fn view(&self, side: Side) -> CheckedView {
        CheckedView::new(self.store.clone(), side)
    }
}

impl Space for CheckedSpace {
    type Mem = CheckedView;

    fn words<const W: usize>(
        &mut self,
        field: &Field,
        instance: u32,
    ) -> Result<CheckedWords<W>, LayoutError> {
        field.check::<W>()?;
        let len = field.len as usize;
        let signals = if field.class == Class::Body { 0 } else { len };
        let bodies = if field.class == Class::Body || W > 1 { len } else { 0 };
        self.store.fields.push(Cells {
            field: *field,
            instance,
            signals: (0..signals).map(|_| AtomicU64::new(0)).collect(),
            latest: (0..signals).map(|_| std::cell::Cell::new(0)).collect(),
            bodies: (0..bodies).map(|_| Cell::new([0; 8])).collect(),
        });
        Ok(CheckedWords { field: self.store.fields.len() - 1 })
    }

    fn buffers(&mut self, geometry: &Geometry) -> Result<CheckedBuffers, LayoutError> {
        geometry.check()?;
        let payload = |_| Payload { frame: Cell::new([0; KEPT]), meta: Cell::new(()) };
        self.store.pools.push((0..geometry.count).map(payload).collect());
        Ok(CheckedBuffers { pool: self.store.pools.len() - 1, geometry: *geometry })
    }

    fn table(&mut self, _name: &'static str, _bytes: u64) -> Result<(), LayoutError> {
        Ok(())
    }
}
