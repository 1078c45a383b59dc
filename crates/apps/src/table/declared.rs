//! A flow table without storage: the model's.

use memory::{Memory, Ps, Touch};

use super::{Flow, FlowTable, Full, Key, Shape, Value};

/// Touches the lines that a [`super::HashTable`] of the same shape would touch. A flow's entry and
/// value follow from its hash, so equal runs agree; every flow is known but those that a frame opens.
pub struct Declared<M: Memory> {
    shape: Shape,
    table: M::Table,
    value: fn(u64) -> Value,
}

impl<M: Memory> Declared<M> {
    /// A table at the addresses of `table`; `value` makes a flow's state from its hash.
    pub fn new(shape: Shape, table: M::Table, value: fn(u64) -> Value) -> Declared<M> {
        Declared { shape, table, value }
    }

    #[inline(always)]
    fn flow(&self, hash: u64) -> Flow {
        // The hash's high half chose no bucket. So entries are as random as in a table that was filled in the
        // course of time.
        let entry = (((hash >> 32) * u64::from(self.shape.capacity)) >> 32) as u32;
        Flow { entry, value: (self.value)(hash) }
    }
}

impl<M: Memory> FlowTable<M> for Declared<M> {
    #[inline(always)]
    fn find(&mut self, m: &mut M, _: &Key, hash: u64, _: Ps, opens: bool) -> Option<Flow> {
        m.touch(self.table, self.shape.bucket(self.shape.pair(hash)[0]), Touch::Read);
        if opens {
            return None;
        }
        let flow = self.flow(hash);
        m.touch(self.table, self.shape.key(flow.entry), Touch::Read);
        m.touch(self.table, self.shape.state(flow.entry), Touch::Write);
        Some(flow)
    }

    fn taken(&mut self, m: &mut M, _: &Key, hash: u64) -> bool {
        m.touch(self.table, self.shape.bucket(self.shape.pair(hash)[0]), Touch::Read);
        false
    }

    fn insert(&mut self, m: &mut M, _: &Key, hash: u64, value: Value, _: Ps) -> Result<Flow, Full> {
        let flow = Flow { value, ..self.flow(hash) };
        m.touch(self.table, self.shape.bucket(self.shape.pair(hash)[0]), Touch::Write);
        m.touch(self.table, self.shape.key(flow.entry), Touch::Write);
        m.touch(self.table, self.shape.state(flow.entry), Touch::Write);
        Ok(flow)
    }

    fn link(&mut self, _: Flow, _: Flow) {}

    fn remove(&mut self, _: &mut M, _: &Key, _: u64) {}
}
