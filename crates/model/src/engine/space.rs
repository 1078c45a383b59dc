//! The set-up side of a modelled server: what rings and applications allocate through.

use std::cell::RefCell;
use std::rc::Rc;

use memory::{Field, Geometry, LayoutError, Space};

use super::view::View;
use crate::machine::layout::{Layout, PoolId, Served, Table, Words};
use crate::profile::{NicKind, NicMemory};

/// The set-up side of a modelled server; clones share one layout. A card serves the fields unless told
/// otherwise.
#[derive(Clone, Default)]
pub struct ModelSpace {
    layout: Rc<RefCell<Layout>>,
    served: Served,
}

impl ModelSpace {
    /// Nothing allocated.
    pub fn new() -> ModelSpace {
        ModelSpace::default()
    }

    /// The same space; the NIC of the fields allocated through it is of another kind.
    #[must_use]
    pub fn served_by(&self, nic: NicKind) -> ModelSpace {
        ModelSpace { served: Served { nic, ..self.served }, ..self.clone() }
    }

    /// The same space; registers that are allocated through it are behind the slot of `port`, 0 unless told otherwise,
    /// and buffers at home with the NIC are in the memory of that card.
    #[must_use]
    pub fn of_port(&self, port: u32) -> ModelSpace {
        ModelSpace { served: Served { port, ..self.served }, ..self.clone() }
    }

    /// The same space; cards have such memory of their own, or none.
    #[must_use]
    pub fn with_nic_memory(&self, memory: Option<&NicMemory>) -> ModelSpace {
        let memory = memory.map_or(0, |m| (m.gib.value * f64::from(1 << 30)) as u64);
        ModelSpace { served: Served { memory, ..self.served }, ..self.clone() }
    }

    /// What was allocated.
    pub fn finish(self) -> Layout {
        self.layout.borrow().clone()
    }
}

impl Space for ModelSpace {
    type Mem = View;

    fn words<const W: usize>(&mut self, field: &Field, _instance: u32) -> Result<Words<W>, LayoutError> {
        self.layout.borrow_mut().words(field, self.served)
    }

    fn buffers(&mut self, g: &Geometry) -> Result<PoolId, LayoutError> {
        self.layout.borrow_mut().buffers(g, self.served)
    }

    fn table(&mut self, name: &'static str, bytes: u64) -> Result<Table, LayoutError> {
        self.layout.borrow_mut().table(name, bytes)
    }
}
